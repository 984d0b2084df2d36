//! Charts of the arrivals of open load: the first ones one by one, and, at a constant rate, a
//! histogram of arrivals per second compared with the distribution for independent users (Poisson).
//!
//! Not here: arrivals over time (offered).

use analysis::report::{GroupReport, Report};
use model::numbers::significant;
use model::{ArrivalRate, Arrivals, FactValue, Load};

use super::{Axis, Chart, Entry, Of, Point, Scale, Shape, Spot, Trace, slug};

pub(super) const ENTRY: Entry = Entry {
    name: "arrivals",
    about: "the first arrivals of open load, and at a steady rate seconds by their number",
    spot: Spot::Rates,
    make: Of::Run(charts),
};

/// Smallest number of whole measured seconds for which a histogram of arrivals per second is drawn;
/// a shorter run has none.
const LEAST: usize = 10;
/// Number of standard deviations on either side of the mean that a histogram covers at least: all
/// but about 20 seconds of a year.
const FAR: f64 = 5.0;
/// Largest rate, in arrivals per second, for which a histogram is drawn. At higher rates the
/// standard deviation is below 0.1 % of the mean, too little to see.
const RATE_MOST: f64 = 1e6;
/// Largest number of bins of a histogram. A histogram that would need more, as from a damaged
/// report, is not drawn.
const BINS_MAX: u64 = 1000;

fn charts(report: &Report) -> Vec<Chart> {
    first(report).into_iter().chain(over_seconds(report)).collect()
}

/// Returns a chart for each group with open load: its first arrivals, compared with arrivals at
/// equal distances.
fn first(report: &Report) -> Vec<Chart> {
    let of_group = |group: &GroupReport| {
        let Load::Open { rate, .. } = &group.load else { return Vec::new() };
        let arrived = report.facts.get("arrivals");
        let arrived = arrived.and_then(|facts| facts.get(&format!("{}_first_s", group.name)));
        let instants = arrived.map_or(&[][..], FactValue::all).iter();
        let instants: Vec<f64> = instants.filter_map(FactValue::as_seconds).collect();
        let Some(last) = instants.last() else { return Vec::new() };
        let (scale, unit) = if *last < 1.0 { (1e3, "ms") } else { (1.0, "s") };
        let gap = scale / rate.first_per_s();
        let points = |at: &dyn Fn(usize) -> f64| {
            (1..=instants.len()).map(|nth| Point::at(at(nth), Some(nth as f64))).collect()
        };
        let is_one = report.groups.len() == 1;
        let (id, suffix) = match is_one {
            true => ("arrivals-first".to_owned(), String::new()),
            false => (format!("arrivals-first-{}", slug(&group.name)), format!(": {}", group.name)),
        };
        let x = Axis::new("since the beginning of the load", unit, Scale::FromZero);
        let y = Axis::new("arrival", "", Scale::FromZero);
        let mut chart =
            Chart::new(id, format!("The first {} arrivals{suffix}", instants.len()), x, y);
        let equal = format!("equal gaps of the mean, {} {unit}", significant(gap, 3));
        chart.traces = vec![
            Trace::new(equal, Shape::Line, points(&|nth| nth as f64 * gap)),
            Trace::new("arrivals", Shape::Points, points(&|nth| instants[nth - 1] * scale)),
        ];
        chart.note = Some("As they were due, whenever a client was free for them.".to_owned());
        chart.if_any()
    };
    report.groups.iter().flat_map(of_group).collect()
}

/// Returns the histogram of arrivals per second, if the only group has open load at a constant
/// rate.
fn over_seconds(report: &Report) -> Vec<Chart> {
    let [group] = &report.groups[..] else { return Vec::new() };
    let Load::Open { arrivals, rate: ArrivalRate::Constant(rate), .. } = &group.load else {
        return Vec::new();
    };
    let is_whole = |second: i64| second >= 0 && (second + 1) as f64 <= report.measured_seconds;
    let rows = report.seconds.iter().filter(|row| is_whole(row.second));
    let counts: Vec<u64> = rows.map(|row| row.offered).collect();
    if counts.len() < LEAST || *rate > RATE_MOST {
        return Vec::new();
    }
    let width = (rate.sqrt() / 2.0).round().max(1.0) as u64;
    let least = (rate - FAR * rate.sqrt()).max(0.0) as u64;
    let least = counts.iter().copied().fold(least, u64::min);
    let most = counts.iter().copied().fold((rate + FAR * rate.sqrt()) as u64, u64::max);
    if (most - least) / width > BINS_MAX {
        return Vec::new();
    }
    let bins: Vec<(u64, u64)> =
        (least / width..=most / width).map(|bin| (bin * width, (bin + 1) * width)).collect();
    let at = |(from, to): &(u64, u64)| (from + to - 1) as f64 / 2.0;
    let seconds = |bin: &(u64, u64)| {
        let n = counts.iter().filter(|count| (bin.0..bin.1).contains(count)).count();
        Point::at(at(bin), Some(n as f64))
    };
    let title = match width {
        1 => "arrivals in a second".to_owned(),
        n => format!("arrivals per second, in bins of {n}"),
    };
    let x = Axis::new(title, "", Scale::Linear);
    let mut chart =
        Chart::new("arrivals", "Arrivals", x, Axis::new("seconds", "", Scale::FromZero));
    chart.traces = vec![Trace::new("seconds", Shape::Bars, bins.iter().map(seconds).collect())];
    if *arrivals == Arrivals::Poisson {
        let chances = poisson(*rate, bins.last().map_or(0, |bin| bin.1));
        let expected = |bin: &(u64, u64)| {
            let chance: f64 = chances[bin.0 as usize..bin.1 as usize].iter().sum();
            Point::at(at(bin), Some(chance * counts.len() as f64))
        };
        let name = format!("independent users, {} per second", significant(*rate, 4));
        let points = bins.iter().map(expected).collect();
        chart.traces.push(Trace::new(name, Shape::Line, points));
    }
    chart.note = Some("The whole seconds of the measured phase by their arrivals.".to_owned());
    chart.if_any()
}

/// Returns the Poisson probabilities of 0 to `n` - 1 arrivals with mean `rate`.
fn poisson(rate: f64, n: u64) -> Vec<f64> {
    let mut logarithm = -rate;
    let chance = |k: u64| {
        if k > 0 {
            logarithm += rate.ln() - (k as f64).ln();
        }
        logarithm.exp()
    };
    (0..n).map(chance).collect()
}

#[cfg(test)]
mod tests {
    use analysis::fixtures::subjects;

    use super::*;

    #[test]
    fn every_whole_second_is_in_a_bar_and_as_many_are_expected() {
        let mut report = subjects::open();
        let chart = over_seconds(&report).swap_remove(0);
        let sum = |trace: &Trace| trace.points.iter().filter_map(|point| point.y).sum::<f64>();
        assert_eq!(sum(&chart.traces[0]), 60.0);
        assert!((sum(&chart.traces[1]) - 60.0).abs() < 0.001, "{:?}", chart.traces[1]);
        // The seconds of the ramp-up and an incomplete last one are left out.
        report.measured_seconds = 59.5;
        assert_eq!(sum(&over_seconds(&report)[0].traces[0]), 59.0);
        report.measured_seconds = 9.5;
        assert_eq!(over_seconds(&report), []);
        // Equal gaps are not compared with chance, and other loads have no arrivals.
        let uniform = Load::Open {
            arrivals: Arrivals::Uniform,
            rate: ArrivalRate::Constant(500.0),
            queue: 10,
            queue_full: model::QueueFull::Drop,
            queue_wait_ns: None,
            queue_at_end: model::QueueAtEnd::Serve,
        };
        (report.measured_seconds, report.groups[0].load) = (60.0, uniform);
        assert_eq!(over_seconds(&report)[0].traces.len(), 1);
        assert_eq!(charts(&subjects::closed()), []);
    }

    #[test]
    fn the_first_arrivals_stand_beside_equal_gaps() {
        let mut report = subjects::open();
        assert_eq!(first(&report), [], "runs of before have no such fact");
        let rate = ArrivalRate::Constant(2.0);
        let (arrivals, queue_full) = (Arrivals::Poisson, model::QueueFull::Drop);
        report.groups[0].load = Load::Open {
            arrivals,
            rate,
            queue: 10,
            queue_full,
            queue_wait_ns: None,
            queue_at_end: model::QueueAtEnd::Serve,
        };
        let name = format!("{}_first_s", report.groups[0].name);
        let read = |text: &str| FactValue::read(&name, text.to_owned());
        let with = |text: &str| std::collections::BTreeMap::from([(name.clone(), read(text))]);
        report.facts.insert("arrivals".to_owned(), with("0.610000, 1.040000, 2.590000"));
        let chart = charts(&report).swap_remove(0);
        assert_eq!(
            (chart.id.as_str(), chart.title.as_str()),
            ("arrivals-first", "The first 3 arrivals")
        );
        let [equal, arrived] = &chart.traces[..] else { panic!("{chart:?}") };
        let at = |trace: &Trace| trace.points.iter().map(|point| point.x).collect::<Vec<f64>>();
        assert_eq!((at(equal), at(arrived)), (vec![0.5, 1.0, 1.5], vec![0.61, 1.04, 2.59]));
        assert_eq!(equal.name, "equal gaps of the mean, 0.500 s");
        // At a high rate they are in milliseconds.
        report.facts.insert("arrivals".to_owned(), with("0.000610, 0.001040"));
        assert_eq!(first(&report)[0].x.unit, "ms");
    }

    #[test]
    fn chances_of_arrivals_are_those_of_poisson() {
        let chances = poisson(2.0, 40);
        assert!((chances[0] - (-2.0_f64).exp()).abs() < 1e-15);
        assert!((chances[3] - 8.0 / 6.0 * (-2.0_f64).exp()).abs() < 1e-15);
        assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // Far from 0 the first probabilities are nearly 0, and the sum is 1.
        assert!((poisson(3000.0, 4000).iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}
