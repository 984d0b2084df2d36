//! Confidence intervals of figures within their run: of rates and means from the scatter of
//! seconds, of the error rate from the losses in each second, of percentiles from the order of
//! samples in time.
//!
//! Extremes and counts have none. Not here: the error between runs (study).

use model::{Load, NS_PER_S};
use stats::{
    TooFewSlots, binomial_interval, ratio_error, ratio_within_planned_run, ratio_within_run,
    students_t, within_planned_run,
};

use super::below::Below;
use super::stored_bytes::{BYTES_STORED, bytes_stored};
use super::{MEAN_OF_TYPE, PER_TRANSACTION, times_of};
use crate::due::{course, due, stretches};
use crate::report::{
    Block, CustomMetricReport, GaugeReport, Latency, ONE_NUMBER, Report, SecondReport, too_short,
};

const CONFIDENCE: f64 = 0.95;
/// Degrees of freedom of the standard error of a ratio: the number of its batches, less two (for
/// mean and correlation).
const RATIO_FREEDOM: usize = 18;

/// Returns the 95 % CI of a figure within the run, as low and high end; `None` if it is not known.
/// A high end of `None` is infinite: it falls among lost transactions.
pub(crate) fn interval_of(report: &Report, name: &str) -> Option<(f64, Option<f64>)> {
    let Block { tps, tps_ci95, primary_metrics, offered_ms, service_ms, .. } = &report.block;
    let around = |value: f64, half_width: f64| (value - half_width, Some(value + half_width));
    if let Some(primary) = primary_metrics.get(name) {
        return Some(around(primary.value?, primary.half_width?));
    }
    if let Some((primary, bytes)) = bytes_stored(report).filter(|_| name == BYTES_STORED) {
        return Some(around(primary.value? * bytes, primary.half_width? * bytes));
    }
    if let Some(share) = Below::read(name) {
        let (low, high) = share.ok()?.interval(report)?;
        return Some((low, Some(high)));
    }
    let quantile =
        |times: &Latency, name: &str| times.intervals.get(name.strip_suffix("_ms")?).copied();
    if let Some((value, count)) = rate_of(report, name) {
        return Some(around(value, rate(report, count)?.ok()?));
    }
    match name {
        "tps" => Some(around((*tps)?, tps_ci95.as_ref()?.half_width)),
        "errors_percent" => errors(report),
        "service_p99_ms" => quantile(service_ms, "p99_ms"),
        "mean_ms" => quantile(times_of(report), name),
        "service_mean_ms" => quantile(service_ms, "mean_ms"),
        _ => match name.rsplit_once('.') {
            None => quantile(offered_ms, name),
            Some((part, last)) => {
                if let Some(kind) = report.block.transactions.get(part) {
                    return match last {
                        _ if is_time_of_sequence(report, name) => None,
                        "tps" => Some(around(kind.tps?, kind.tps_half_width?)),
                        _ => quantile(&kind.response_ms, last),
                    };
                }
                if let Some(measured) = report.block.custom_metrics.get(part) {
                    return metric(report, measured, last);
                }
                let named = |name: &str| report.gauges.iter().find(|gauge| gauge.figure() == name);
                if let Some(gauge) = name.strip_suffix(PER_TRANSACTION).and_then(named) {
                    let value = gauge.mean? / report.block.tps.filter(|tps| *tps > 0.0)?;
                    return Some(around(value, per_transaction(report, gauge)?.ok()?));
                }
                let gauge = named(name)?;
                Some(around(gauge.mean?, gauge.mean_half_width?))
            }
        },
    }
}

/// Returns true if a figure is the mean time of a transaction type that each client executes a
/// fixed number of times, as a query of an analytic test. It is a result of the run, and not an
/// estimate from a sample.
fn is_time_of_sequence(report: &Report, name: &str) -> bool {
    report.is_sequence() && name.ends_with(MEAN_OF_TYPE)
}

type Count = fn(&SecondReport) -> u64;

/// Returns the value of a rate of the whole run, such as `qps`, and the function that returns what
/// it counts in a second; `None` for other figures.
fn rate_of(report: &Report, name: &str) -> Option<(f64, Count)> {
    let block = &report.block;
    let (value, count): (Option<f64>, Count) = match name {
        "qps" => (block.qps, |row| row.reads + row.writes + row.others),
        "reads" => (block.reads_per_second, |row| row.reads),
        "writes" => (block.writes_per_second, |row| row.writes),
        "others" => (block.others_per_second, |row| row.others),
        "operations" => {
            let both = block.reads_per_second.zip(block.writes_per_second);
            (both.map(|(reads, writes)| reads + writes), |row| row.reads + row.writes)
        }
        "rows_per_s" => (block.rows_per_second, |row| row.rows),
        "bytes_per_s" => (block.bytes_per_second, |row| row.bytes),
        _ => return None,
    };
    Some((value?, count))
}

/// Returns the 95 % CI of a figure of a custom metric, as low and high end; times are in
/// milliseconds. `None` if it is not known.
fn metric(
    report: &Report,
    measured: &CustomMetricReport,
    name: &str,
) -> Option<(f64, Option<f64>)> {
    let around = |value: f64, half_width: f64| (value - half_width, Some(value + half_width));
    let (low, high) = match name.strip_suffix("_ms").unwrap_or(name) {
        "per_second" => {
            around(measured.sum as f64 / report.measured_seconds, measured.per_second_half_width?)
        }
        "mean" => around(measured.mean?, measured.mean_half_width?),
        quantile => *measured.intervals.get(quantile)?,
    };
    let scale = if measured.unit == "ns" { 1e6 } else { 1.0 };
    Some((low / scale, high.map(|high| high / scale)))
}

/// Returns the reason why a figure has no confidence interval within the run: the one in the
/// report, or else that a run has only one number of the figure.
pub(crate) fn why_alone(report: &Report, name: &str) -> String {
    why_no_interval(report, name).unwrap_or_else(|| ONE_NUMBER.to_owned())
}

/// Returns the reason that the report gives for why a figure has no confidence interval within the
/// run; `None` if it gives none.
pub(crate) fn why_no_interval(report: &Report, name: &str) -> Option<String> {
    let block = &report.block;
    if let Some(share) = Below::read(name) {
        return share.ok()?.why_no_interval(report);
    }
    if let Some(primary) = block.primary_metrics.get(name) {
        return primary.reason.clone();
    }
    if let Some((primary, _)) = bytes_stored(report).filter(|_| name == BYTES_STORED) {
        return primary.reason.clone();
    }
    if let Some((_, count)) = rate_of(report, name) {
        return rate(report, count)?.err().map(too_slow);
    }
    let quantile = |times: &Latency, name: &str| {
        times.interval_reasons.get(name.strip_suffix("_ms")?).cloned()
    };
    match (name, name.rsplit_once('.')) {
        ("tps", _) => block.tps_ci95_reason.clone(),
        ("service_p99_ms", _) => quantile(&block.service_ms, "p99_ms"),
        ("mean_ms", _) => quantile(times_of(report), name),
        ("service_mean_ms", _) => quantile(&block.service_ms, "mean_ms"),
        (_, None) => quantile(&block.offered_ms, name),
        (_, Some((part, last))) => {
            if let Some(kind) = block.transactions.get(part) {
                if is_time_of_sequence(report, name) {
                    return Some(ONE_NUMBER.to_owned());
                }
                return quantile(&kind.response_ms, last);
            }
            if let Some(measured) = block.custom_metrics.get(part) {
                let last = last.strip_suffix("_ms").unwrap_or(last);
                return measured.interval_reasons.get(last).cloned();
            }
            let named = |name: &str| report.gauges.iter().find(|gauge| gauge.figure() == name);
            match name.strip_suffix(PER_TRANSACTION).and_then(named) {
                Some(gauge) => per_transaction(report, gauge)?.err().map(too_slow),
                None => named(name)?.reason.clone(),
            }
        }
    }
}

fn too_slow(few: TooFewSlots) -> String {
    too_short("it varies", few, NS_PER_S)
}

/// Returns the half-width of the 95 % CI of a gauge's amount per transaction, from the scatter of
/// seconds. An `Err` says that there are too few seconds; `None` if the report was read without
/// figures of seconds.
fn per_transaction(report: &Report, gauge: &GaugeReport) -> Option<Result<f64, TooFewSlots>> {
    let commits = seconds(report, |row| row.commits as f64, |a, b| a + b);
    let slot = |(second, value): &(i64, f64)| {
        let n = usize::try_from(*second).ok().and_then(|second| commits.get(second))?;
        Some((*value, *n))
    };
    let slots: Vec<(f64, f64)> = gauge.points.iter().filter_map(slot).collect();
    let (width_s, n) = stretches(commits.len());
    let loads: Vec<&Load> = report.groups.iter().map(|group| &group.load).collect();
    let course = course(&loads, 0, width_s, n);
    let error = || match course.is_empty() {
        true => ratio_within_run(&slots),
        false => {
            // Seconds keep their places, including those without a reading.
            let mut in_place = vec![(0.0, 0.0); commits.len()];
            for (second, value) in &gauge.points {
                let place = usize::try_from(*second).unwrap_or(usize::MAX);
                if let Some(slot) = in_place.get_mut(place) {
                    *slot = (*value, commits[place]);
                }
            }
            ratio_within_planned_run(&in_place, &course)
        }
    };
    (!report.seconds.is_empty()).then(error)
}

/// Sums a value over all groups, for each whole second of the measured window. `add` adds two
/// values.
fn seconds<T: Copy + Default>(
    report: &Report,
    value: impl Fn(&SecondReport) -> T,
    add: impl Fn(T, T) -> T,
) -> Vec<T> {
    // The report has rows of all seconds, or of none.
    let n = (report.measured_seconds as usize).min(report.seconds.len());
    let mut all = vec![T::default(); n];
    for row in &report.seconds {
        let place = usize::try_from(row.second).ok().and_then(|second| all.get_mut(second));
        if let Some(sum) = place {
            *sum = add(*sum, value(row));
        }
    }
    all
}

/// Returns the half-width of the 95 % CI of a rate, from the scatter of seconds. An `Err` says that
/// there are too few seconds; `None` if the report was read without figures of seconds.
fn rate(report: &Report, count: Count) -> Option<Result<f64, TooFewSlots>> {
    let counts = seconds(report, count, |a, b| a + b);
    let loads: Vec<&Load> = report.groups.iter().map(|group| &group.load).collect();
    let due = due(&loads, &loads, NS_PER_S, counts.len());
    let rate = || within_planned_run(&counts, NS_PER_S, due.as_ref()).half_width;
    (!report.seconds.is_empty()).then(rate)
}

/// Returns the 95 % CI of the share of failed and dropped transactions, in percent. It comes from
/// the scatter of seconds, and is at least as wide as for independent losses. `None` if it is not
/// known.
fn errors(report: &Report) -> Option<(f64, Option<f64>)> {
    let counts = &report.block.counts;
    let lost = counts.failed + counts.dropped;
    if report.seconds.is_empty() || counts.offered == 0 {
        return None;
    }
    let lost_and_offered =
        |row: &SecondReport| ((row.failed + row.dropped) as f64, row.offered as f64);
    let series = seconds(report, lost_and_offered, |a, b| (a.0 + b.0, a.1 + b.1));
    let half_width = students_t(0.975, RATIO_FREEDOM) * ratio_error(&series)?;
    let share = lost as f64 / counts.offered as f64;
    let (low, high) = binomial_interval(lost, counts.offered, CONFIDENCE);
    let (low, high) = (low.min(share - half_width).max(0.0), high.max(share + half_width).min(1.0));
    Some((low * 100.0, Some(high * 100.0)))
}

#[cfg(test)]
mod tests {
    use model::{Event, Gauge, Readings};

    use super::*;
    use crate::figures::value_of;
    use crate::fixtures::{Made, subjects};

    #[test]
    fn rates_shares_and_percentiles_have_intervals_around_their_values() {
        let report = subjects::closed();
        let kind = report.block.transactions.iter().next().expect("one").0;
        let of_type = ["tps", "p50_ms", "mean_ms"].map(|name| format!("{kind}.{name}"));
        let names = ["tps", "qps", "reads", "p50_ms", "errors_percent", "service_p99_ms"];
        let names = names.into_iter().chain(["operations", "service_mean_ms"]);
        for name in
            names.chain(of_type.iter().map(String::as_str)).chain(["rows_per_s", "bytes_per_s"])
        {
            let value = value_of(&report, name).expect(name);
            let (low, high) = interval_of(&report, name).expect(name);
            let high = high.unwrap_or(f64::INFINITY);
            assert!(low <= value && value <= high && low < high, "{name}: {low} {value} {high}");
        }
        let rate = report.gauges.iter().find(|gauge| gauge.unit.ends_with("/s")).expect("one");
        let rate = &*format!("{}{PER_TRANSACTION}", rate.figure());
        for name in ["machine.cpu_user", "below_20ms", "delivery.below_50ms", rate] {
            let (value, found) = (value_of(&report, name), interval_of(&report, name));
            let ((low, high), value) = found.zip(value).expect(name);
            assert!(low < value && Some(value) < high, "{name}: {low} {value} {high:?}");
        }
        // A metric with one record per commit has a rate as certain as that of commits.
        let (low, high) = interval_of(&report, "lines.per_second").expect("it is recorded");
        let value = value_of(&report, "lines.per_second").expect("it is recorded");
        assert!(low < value && Some(value) < high, "{low} {value} {high:?}");
        assert!(interval_of(&report, "lines.mean").is_some());
        assert!(interval_of(&report, "lines.p50").is_some_and(|(low, high)| Some(low) <= high));
        for name in ["stalls", "machine.cpu_user.max", "client_cpu_us"] {
            assert_eq!(interval_of(&report, name), None, "{name}");
        }
    }

    #[test]
    fn what_has_no_interval_says_why() {
        let mut made = Made::closed();
        let gauge = Gauge {
            about: "server".to_owned(),
            name: "memory".to_owned(),
            unit: "B".to_owned(),
            help: String::new(),
        };
        made.more.push(Event::Gauges { gauges: vec![gauge] });
        for second in 0..60 {
            let values = vec![(0, 1e6 + 1e4 * second as f64)];
            made.more.push(Event::Readings(Readings { second, values }));
        }
        let grown = Report::from_tally(&made.tally());
        let mut short = Made::closed();
        short.measured_ns = 5 * NS_PER_S;
        short.seconds.retain(|second| second.second < 5);
        let short = Report::from_tally(&short.tally());
        let check = |report: &Report, name: &str, expect: &str| {
            assert_eq!(interval_of(report, name), None, "{name}");
            let why = why_alone(report, name);
            assert!(why.starts_with(expect), "{name}: {why}");
        };
        check(&grown, "server.memory", "it varies too slowly for a run of 60.0 s");
        for name in ["below_20ms", "new_order.below_50ms", "lines.p50", "p50_ms", "mean_ms"] {
            check(
                &short,
                name,
                "the run is too short: times are kept per second, and a CI needs 20 s",
            );
        }
        for name in ["lines.per_second", "lines.mean"] {
            check(&short, name, "it varies too slowly for a run of 5.0 s");
        }
        check(&grown, "server.memory.max", ONE_NUMBER);
        check(&grown, "stalls", ONE_NUMBER);
        for name in ["reads", "rows_per_s"] {
            check(&short, name, "it varies too slowly for a run of 5.0 s");
        }
    }

    #[test]
    fn errors_that_come_in_spells_are_less_certain_than_scattered_ones() {
        let width = |lost: fn(i64) -> u64| {
            let mut report = subjects::closed();
            report.measured_seconds = 60.0;
            let row = report.seconds[0].clone();
            let second = |second: i64| SecondReport {
                second,
                offered: 100,
                failed: lost(second),
                dropped: 0,
                ..row.clone()
            };
            report.seconds = (0..60).map(second).collect();
            let counts = &mut report.block.counts;
            (counts.offered, counts.dropped) = (6_000, 0);
            counts.failed = report.seconds.iter().map(|row| row.failed).sum();
            let (low, high) = interval_of(&report, "errors_percent").expect("a minute");
            high.expect("it is finite") - low
        };
        let none = width(|_| 0);
        assert!(none > 0.0 && none < 0.1, "{none}");
        let [scattered, spells] =
            [width(|second| (second % 2) as u64 * 2), width(|second| (second / 20 % 2) as u64 * 3)];
        assert!(spells > 2.0 * scattered, "{spells} {scattered}");
    }

    #[test]
    fn without_its_seconds_a_report_tells_no_error_of_them() {
        let mut report = subjects::closed();
        report.seconds = Vec::new();
        assert_eq!(["reads", "errors_percent"].map(|name| interval_of(&report, name)), [None; 2]);
        assert!(interval_of(&report, "tps").is_some());
    }
}
