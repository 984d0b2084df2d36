//! Figures of disturbances: `disturbance.drop.during.p99_ms`, `disturbance.drop.recovery_s`.
//!
//! If a disturbance is repeated, they are means over its repetitions. Not here: the windows of
//! seconds around a disturbance (report).

use crate::report::{DisturbanceReport, Report, WindowReport};

/// First part of the names of figures of a run's planned disturbances.
pub(super) const PREFIX: &str = "disturbance.";

/// Last part of the name of a figure: seconds from the start of a disturbance until commits were
/// back at 90 % of the earlier rate.
pub(super) const RECOVERY: &str = "recovery_s";

type OfWindow = fn(&WindowReport) -> Option<f64>;
type Windows = fn(&DisturbanceReport) -> Option<&WindowReport>;

/// Time ranges of a disturbance that have figures, by the word that stands for each in a figure's
/// name: `before`, `during` and `after`.
const WINDOWS: [(&str, Windows); 3] = [
    ("before", |one| one.before.as_ref()),
    ("during", |one| one.during.as_ref()),
    ("after", |one| one.after.as_ref()),
];

/// Figures of the seconds before, during or after a disturbance, by the last part of their names.
const OF_WINDOW: [(&str, OfWindow); 4] = [
    ("p50_ms", |window| window.response_ms.p50),
    ("p95_ms", |window| window.response_ms.p95),
    ("p99_ms", |window| window.response_ms.p99),
    ("tps", |window| window.tps),
];

/// Returns a disturbance's name as names of figures contain it: `lost_node` for `lost node!`. `_`
/// stands for each character except ASCII letters, digits and `-`, and is dropped at both ends.
pub fn name_of_disturbance(name: &str) -> String {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let kept: String = name.chars().map(|c| if is_kept(c) { c } else { '_' }).collect();
    kept.trim_matches('_').to_owned()
}

/// Returns the names of the disturbances that took place, each once, in chronological order.
pub fn disturbances_of(report: &Report) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for one in report.disturbances.iter().filter(|one| one.outcome != "skipped") {
        if !names.contains(&one.name.as_str()) {
            names.push(&one.name);
        }
    }
    names
}

/// Returns all figures of a run's disturbances, by name.
pub(super) fn all(report: &Report) -> Vec<(String, f64)> {
    let of_one = |name: &str| {
        let name = name_of_disturbance(name);
        let of_window = |(window, _): &(&str, Windows)| {
            OF_WINDOW.map(|(last, _)| format!("{PREFIX}{name}.{window}.{last}"))
        };
        let mut names: Vec<String> = WINDOWS.iter().flat_map(of_window).collect();
        names.push(format!("{PREFIX}{name}.{RECOVERY}"));
        names
    };
    let names = disturbances_of(report).into_iter().flat_map(of_one);
    names.filter_map(|name| Some((name.clone(), value(report, &name)?))).collect()
}

/// Returns the value of a disturbance's figure by its full name, such as
/// `disturbance.drop.during.p99_ms`; `None` if the run does not have it. A recovery time is
/// infinite if the rate of commits did not recover within the run.
pub(super) fn value(report: &Report, figure: &str) -> Option<f64> {
    let (rest, last) = figure.strip_prefix(PREFIX)?.rsplit_once('.')?;
    let mean_of = |name: &str, to_value: &dyn Fn(&DisturbanceReport) -> Option<f64>| {
        let is_it = |one: &&DisturbanceReport| {
            one.outcome != "skipped" && name_of_disturbance(&one.name) == name
        };
        let values: Vec<f64> =
            report.disturbances.iter().filter(is_it).filter_map(to_value).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    if last == RECOVERY {
        return mean_of(rest, &recovery);
    }
    let (name, window) = rest.rsplit_once('.')?;
    let window = WINDOWS.iter().find(|(known, _)| *known == window)?.1;
    let of_window = OF_WINDOW.iter().find(|(known, _)| *known == last)?.1;
    mean_of(name, &|one| of_window(window(one)?))
}

/// Returns the recovery time in seconds: 0 if commits did not fall, infinite if they did not
/// recover, `None` if there was nothing to compare with.
fn recovery(one: &DisturbanceReport) -> Option<f64> {
    match (one.fell?, one.recovery_s) {
        (false, _) => Some(0.0),
        (true, Some(back_s)) => Some(back_s),
        (true, None) => Some(f64::INFINITY),
    }
}

#[cfg(test)]
mod tests {
    use model::Disturbed;

    use super::*;
    use model::Direction;

    use crate::figures::{direction, resolve, unit, value_of};
    use crate::fixtures::Made;

    fn disturbed() -> Report {
        let mut made = Made::closed();
        made.disturbance(20_000, Some(22_000), Disturbed::Done);
        Report::from_tally(&made.tally())
    }

    #[test]
    fn each_window_of_a_disturbance_has_figures_that_are_found_by_name() {
        let report = disturbed();
        let all = all(&report);
        assert_eq!(all.len(), 13, "{all:?}");
        for (name, expect) in &all {
            assert_eq!(value_of(&report, name), Some(*expect), "{name}");
        }
        let during = report.disturbances[0].during.as_ref().expect("it has seconds");
        assert_eq!(value(&report, "disturbance.drop.during.p99_ms"), during.response_ms.p99);
        let found = resolve("disturbance.drop.during.p99", [&report].into_iter());
        assert_eq!(found.as_deref(), Ok("disturbance.drop.during.p99_ms"));
        for (name, expect, way) in [
            ("disturbance.drop.during.p99_ms", "ms", Direction::Lower),
            ("disturbance.drop.after.tps", "1/s", Direction::Higher),
            ("disturbance.drop.recovery_s", "s", Direction::Lower),
        ] {
            assert_eq!((unit(name), direction(name)), (expect, way), "{name}");
        }
        assert_eq!(value(&report, "disturbance.other.during.p99_ms"), None);
    }

    #[test]
    fn a_disturbance_without_a_fall_has_no_time_to_recover_and_one_that_stays_down_has_no_end() {
        let mut report = disturbed();
        let recovery_of = |report: &Report| value(report, "disturbance.a_node_is_lost.recovery_s");
        report.disturbances[0].name = "a node is lost".to_owned();
        (report.disturbances[0].fell, report.disturbances[0].recovery_s) = (Some(false), None);
        assert_eq!(recovery_of(&report), Some(0.0));
        report.disturbances[0].fell = Some(true);
        assert_eq!(recovery_of(&report), Some(f64::INFINITY));
        // With two values, it is the mean.
        let again = report.disturbances[0].clone();
        report.disturbances[0].recovery_s = Some(3.0);
        report.disturbances.push(again);
        report.disturbances[1].recovery_s = Some(5.0);
        assert_eq!(recovery_of(&report), Some(4.0));
    }
}
