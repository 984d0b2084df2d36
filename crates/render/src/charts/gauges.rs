//! Charts of system and database metrics (gauges), read once per second from machine, generator,
//! server and database. Gauges of the same subject, unit, first word and magnitude share a chart.
//! Gauges that were always 0 have none.

use std::collections::BTreeMap;

use analysis::report::{GaugeReport, Report};
use model::numbers::{capital, significant};

use super::{Axis, Chart, Entry, Of, Point, Scale, Shape, Spot, Trace, slug};

pub(super) const ENTRY: Entry = Entry {
    name: "gauges",
    about: "system and database metrics: machine, generator, server, database",
    spot: Spot::Metrics,
    make: Of::Run(charts),
};

/// Largest number of lines in a chart of gauges, so that they can be distinguished; more gauges are
/// divided over several charts.
const TRACES_MOST: usize = 8;
/// Beginnings of the names of gauges whose charts come first: CPU, disks and memory.
const FIRST: [&str; 3] = ["cpu", "disk_busy", "memory"];
/// Share of another gauge's maximum below which a gauge gets a chart of its own, since its line
/// would look flat in the same chart.
const FLAT: f64 = 0.05;

fn charts(report: &Report) -> Vec<Chart> {
    let shown: Vec<&GaugeReport> = report.gauges.iter().filter(|gauge| most(gauge) > 0.0).collect();
    let families = alike(&shown, |gauge| (&gauge.about, &gauge.unit, words_of(gauge, 1)));
    let families = families.into_iter().flat_map(|family| match family.len() > TRACES_MOST {
        // A large family is divided by its second word too.
        true => alike(&family, |gauge| (&gauge.about, &gauge.unit, words_of(gauge, 2))),
        false => vec![family],
    });
    let mut families: Vec<Vec<&GaugeReport>> = families.flat_map(by_magnitude).collect();
    // The order of subjects is kept.
    let rank = |name: &str| FIRST.iter().position(|first| name.starts_with(first));
    families.sort_by_key(|family| {
        let owner = shown.iter().position(|gauge| gauge.about == family[0].about);
        (owner, rank(&family[0].name).unwrap_or(FIRST.len()))
    });
    numbered(families.iter().flat_map(|family| chart(report, family)).collect())
}

/// Adds numbers, such as `(1 of 3)`, to the titles of charts with equal titles. Such charts show
/// gauges of one group that were divided by magnitude; the chart with the largest values is first.
fn numbered(mut charts: Vec<Chart>) -> Vec<Chart> {
    let titles: Vec<String> = charts.iter().map(|chart| chart.title.clone()).collect();
    for (at, chart) in charts.iter_mut().enumerate() {
        let same =
            |upto: usize| titles[..upto].iter().filter(|title| **title == titles[at]).count();
        let (n_before, n_all) = (same(at), same(titles.len()));
        if n_all > 1 {
            chart.title = format!("{} ({} of {n_all})", chart.title, n_before + 1);
        }
    }
    charts
}

/// Returns the charts of gauges grouped by subject, such as `machine` or `server`, in the order of
/// `charts`.
pub(crate) fn by_subject<'c>(
    report: &'c Report,
    charts: &'c [Chart],
) -> Vec<(&'c str, Vec<&'c Chart>)> {
    let mut all: Vec<(&str, Vec<&Chart>)> = Vec::new();
    let is_of = |about: &str, chart: &Chart| {
        let begins = slug(&format!("{} {about}", ENTRY.name));
        chart.id.strip_prefix(&begins).is_some_and(|rest| rest.starts_with('-'))
    };
    for chart in charts {
        let abouts = report.gauges.iter().map(|gauge| gauge.about.as_str());
        // A name may begin with another one.
        let owner = abouts.filter(|about| is_of(about, chart)).max_by_key(|about| about.len());
        let Some(owner) = owner else { continue };
        match all.iter_mut().find(|(about, _)| *about == owner) {
            Some((_, charts)) => charts.push(chart),
            None => all.push((owner, vec![chart])),
        }
    }
    all
}

/// Returns a gauge's name in words: `disk busy, vda` for `disk_busy/vda`.
fn readable(name: &str) -> String {
    name.replace('_', " ").replace('/', ", ")
}

/// Groups gauges for which `key` gives the same result. Groups are in the order of their first
/// gauges.
fn alike<'g, K: PartialEq>(
    gauges: &[&'g GaugeReport],
    key: impl Fn(&'g GaugeReport) -> K,
) -> Vec<Vec<&'g GaugeReport>> {
    let mut groups: Vec<Vec<&GaugeReport>> = Vec::new();
    for gauge in gauges {
        match groups.iter_mut().find(|group| key(group[0]) == key(gauge)) {
            Some(group) => group.push(gauge),
            None => groups.push(vec![gauge]),
        }
    }
    groups
}

/// Divides gauges of one group into charts by magnitude, so that no line is flat because of a much
/// higher one and no chart has too many lines. Percentages stay together.
fn by_magnitude(family: Vec<&GaugeReport>) -> Vec<Vec<&GaugeReport>> {
    if family[0].unit == "%" && family.len() <= TRACES_MOST {
        return vec![family];
    }
    let mut sorted = family;
    sorted.sort_by(|a, b| most(b).total_cmp(&most(a)));
    let mut groups: Vec<Vec<&GaugeReport>> = Vec::new();
    for gauge in sorted {
        let fits = |group: &Vec<&GaugeReport>| {
            group.len() < TRACES_MOST && most(gauge) > FLAT * most(group[0])
        };
        match groups.last_mut().filter(|group| fits(group)) {
            Some(group) => group.push(gauge),
            None => groups.push(vec![gauge]),
        }
    }
    groups
}

/// Returns the first `count` words of a gauge's name: with 1, `cpu` for both `cpu_user` and
/// `cpu/3`.
fn words_of(gauge: &GaugeReport, count: usize) -> Vec<&str> {
    gauge.name.split(['_', '/']).take(count).collect()
}

fn chart(report: &Report, family: &[&GaugeReport]) -> Vec<Chart> {
    let first = family[0];
    let shared = |count: usize| family.iter().all(|g| words_of(g, count) == words_of(first, count));
    let n_shared = (1..8).take_while(|count| shared(*count)).last().unwrap_or(1);
    let name = match family.len() {
        1 => readable(&first.name),
        _ => words_of(first, n_shared).join(" "),
    };
    let id = format!("gauges {} {name} {}", first.about, first.unit.replace('%', "percent"));
    let title = format!("{}: {name}", capital(&first.about));
    let most = family.iter().map(|gauge| most(gauge)).fold(0.0, f64::max);
    let (unit, per) = fitting(&first.unit, most);
    let title = match family.len() > 1 && !unit.is_empty() {
        true => format!("{title}, {unit}"),
        false => title,
    };
    let axis = Axis::new(name, unit, Scale::FromZero);
    let mut chart = Chart::of_time(slug(&id), title, axis, report);
    chart.note = Some(first.help.clone()).filter(|help| family.len() == 1 && !help.is_empty());
    let trace = |gauge: &&GaugeReport| {
        Trace::new(readable(&gauge.name), Shape::Line, points(&gauge.points, per))
    };
    chart.traces = match is_stacked(family) {
        true => stacked(family),
        false => family.iter().map(trace).collect(),
    };
    chart.if_any()
}

/// Returns true if the gauges are shares of CPU time, which are stacked.
fn is_stacked(family: &[&GaugeReport]) -> bool {
    let is_part = |gauge: &&GaugeReport| gauge.unit == "%" && gauge.name.starts_with("cpu_");
    family.len() > 1 && family.iter().all(is_part)
}

/// Stacks shares of CPU time as areas, so that the upper edge is their sum. Idle time is left out.
fn stacked(family: &[&GaugeReport]) -> Vec<Trace> {
    let mut sums: BTreeMap<i64, f64> = BTreeMap::new();
    let mut trace = |gauge: &&GaugeReport| {
        let mut upper = points(&gauge.points, 1.0);
        for point in &mut upper {
            let Some(own) = point.y else { continue };
            let sum = sums.entry(point.x as i64).or_default();
            let low = *sum;
            *sum += own;
            point.y = Some(*sum);
            point.band = Some((low, *sum));
            point.label = Some(format!("{} % of it {}", significant(own, 3), gauge.name));
        }
        Trace::new(readable(&gauge.name), Shape::Line, upper)
    };
    family.iter().filter(|gauge| gauge.name != "cpu_idle").map(&mut trace).collect()
}

fn most(gauge: &GaugeReport) -> f64 {
    gauge.points.iter().map(|(_, value)| value.abs()).fold(0.0, f64::max)
}

/// Returns the unit in which values up to `most` are shown, such as `MiB/s` for `B/s`, and by how
/// much values in `unit` are divided for it. Only units of bytes change.
fn fitting(unit: &str, most: f64) -> (String, f64) {
    let Some(rest) = unit.strip_prefix('B').filter(|rest| rest.is_empty() || *rest == "/s") else {
        return (unit.to_owned(), 1.0);
    };
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)].map(|(name, bits)| (name, 1_u64 << bits));
    let found = units.into_iter().find(|(_, per)| most >= *per as f64);
    let (name, per) = found.unwrap_or(("B", 1));
    (format!("{name}{rest}"), per as f64)
}

/// Converts a gauge's readings (second and value) to points, with values divided by `per`. A second
/// without a reading is a gap.
fn points(read: &[(i64, f64)], per: f64) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::with_capacity(read.len());
    let mut before = None;
    for (second, value) in read {
        if before.is_some_and(|before| *second > before + 1) {
            points.push(Point::at((*second - 1) as f64, None));
        }
        points.push(Point::at(*second as f64, Some(*value / per)));
        before = Some(*second);
    }
    points
}
