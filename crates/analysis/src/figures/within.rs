//! The error of a figure within its run, where the run shows it: of rates by their seconds, of
//! shares by what was lost in them, of percentiles by the order in which samples came.
//!
//! Custom metrics and gauges have none: of a metric no seconds are kept, and a gauge is a reading.
//! Not here: the error between runs.

use model::NS_PER_S;
use stats::{binomial_interval, ratio_error, students_t, within_run};

use crate::report::{Block, Latency, Report, SecondReport};

const CONFIDENCE: f64 = 0.95;
/// Batches of a ratio's error, less the two that mean and correlation take.
const RATIO_FREEDOM: usize = 18;

/// The 95 % interval of a figure within the run, where it is known; an upper end among lost work
/// is none.
pub(crate) fn interval_of(report: &Report, name: &str) -> Option<(f64, Option<f64>)> {
    let Block { tps, tps_ci95, headlines, offered_ms, service_ms, .. } = &report.block;
    let around = |value: f64, half_width: f64| (value - half_width, Some(value + half_width));
    if let Some(headline) = headlines.get(name) {
        return Some(around(headline.value?, headline.half_width?));
    }
    let quantile = |of: &Latency, name: &str| of.intervals.get(name.strip_suffix("_ms")?).copied();
    match name {
        "tps" => Some(around((*tps)?, tps_ci95.as_ref()?.half_width)),
        "qps" => rate(report, report.block.qps?, |row| row.reads + row.writes + row.others),
        "reads" => rate(report, report.block.reads_per_second?, |row| row.reads),
        "writes" => rate(report, report.block.writes_per_second?, |row| row.writes),
        "others" => rate(report, report.block.others_per_second?, |row| row.others),
        "errors_percent" => errors(report),
        "service_p99_ms" => quantile(service_ms, "p99_ms"),
        _ => match name.rsplit_once('.') {
            None => quantile(offered_ms, name),
            Some((kind, name)) => {
                let of = report.block.transactions.get(kind)?;
                match name {
                    "tps" => Some(around(of.tps?, of.tps_half_width?)),
                    _ => quantile(&of.response_ms, name),
                }
            }
        },
    }
}

/// What the groups have told of each whole second of the measured window.
fn seconds<T: Copy + Default>(
    report: &Report,
    of: impl Fn(&SecondReport) -> T,
    add: impl Fn(T, T) -> T,
) -> Vec<T> {
    let mut all = vec![T::default(); report.measured_seconds as usize];
    for row in &report.seconds {
        let place = usize::try_from(row.second).ok().and_then(|second| all.get_mut(second));
        if let Some(sum) = place {
            *sum = add(*sum, of(row));
        }
    }
    all
}

/// A rate around its value, with the error of its seconds.
fn rate(
    report: &Report,
    value: f64,
    count: impl Fn(&SecondReport) -> u64,
) -> Option<(f64, Option<f64>)> {
    let counts = seconds(report, count, |a, b| a + b);
    let half_width = within_run(&counts, NS_PER_S).half_width.ok()?;
    // Reports of which the seconds were left out tell nothing of them.
    let is_told = !report.seconds.is_empty();
    is_told.then_some((value - half_width, Some(value + half_width)))
}

/// The share of lost transactions: as far as seconds with their losses scatter, and at least as far
/// as it is known of independent ones.
fn errors(report: &Report) -> Option<(f64, Option<f64>)> {
    let counts = &report.block.counts;
    let lost = counts.failed + counts.dropped;
    if report.seconds.is_empty() || counts.offered == 0 {
        return None;
    }
    let of = |row: &SecondReport| ((row.failed + row.dropped) as f64, row.offered as f64);
    let series = seconds(report, of, |a, b| (a.0 + b.0, a.1 + b.1));
    let half_width = students_t(0.975, RATIO_FREEDOM) * ratio_error(&series)?;
    let share = lost as f64 / counts.offered as f64;
    let (low, high) = binomial_interval(lost, counts.offered, CONFIDENCE);
    let (low, high) = (low.min(share - half_width).max(0.0), high.max(share + half_width).min(1.0));
    Some((low * 100.0, Some(high * 100.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::value_of;
    use crate::fixtures::subjects;

    #[test]
    fn rates_shares_and_percentiles_have_intervals_around_their_values() {
        let report = subjects::closed();
        let kind = report.block.transactions.iter().next().expect("one").0;
        let of_type = ["tps", "p50_ms"].map(|name| format!("{kind}.{name}"));
        let names = ["tps", "qps", "reads", "p50_ms", "errors_percent", "service_p99_ms"];
        for name in names.into_iter().chain(of_type.iter().map(String::as_str)) {
            let value = value_of(&report, name).expect(name);
            let (low, high) = interval_of(&report, name).expect(name);
            let high = high.unwrap_or(f64::INFINITY);
            assert!(low <= value && value <= high && low < high, "{name}: {low} {value} {high}");
        }
        for name in ["stalls", "machine.cpu_user", "client_cpu_us"] {
            assert_eq!(interval_of(&report, name), None, "{name}");
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
