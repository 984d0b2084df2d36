//! Gauges of machine, process and database that changed between two sides of a comparison; the
//! clearest change comes first.
//!
//! Nothing is judged here, because many gauges are compared and some always differ. Not here:
//! settings and facts (differences).

use std::collections::BTreeMap;

use analysis::report::{GaugeReport, Report};
use serde::{Deserialize, Serialize};

use super::SidePoint;

/// Largest number of changed gauges that a comparison lists; those that changed less clearly are
/// left out.
const SHOWN: usize = 12;
/// Smallest change of a gauge's mean, as a share, that a comparison reports.
const LEAST: f64 = 0.05;
/// Smallest assumed variation between runs, as a share. Without it, a tiny change of a nearly
/// constant gauge would come first.
const SPREAD_LEAST: f64 = 0.05;
/// Share of a gauge's largest value below which a mean of the gauge counts as 0.
const NOTHING: f64 = 1e-3;

/// A gauge, such as the server's disk writes, whose mean differs between baseline and compared
/// side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GaugeChange {
    /// Name of the gauge as a figure, such as `server.disk_written`.
    pub name: String,
    pub unit: String,
    /// Mean of the gauge over the baseline's runs, at the points (combinations of varied
    /// parameters) that both sides of the comparison have.
    pub baseline: f64,
    /// Mean of the gauge over the compared side's runs, at the points that both sides have.
    pub side: f64,
    /// The compared side's mean divided by the baseline's; null if the baseline's is 0 or almost 0.
    pub ratio: Option<f64>,
}

/// Unit of each gauge by its name, and the means of the gauge in single runs, listed by point
/// (combination of varied parameters) and there by baseline and compared side.
type Values = BTreeMap<String, (String, Vec<[Vec<f64>; 2]>)>;

/// Returns the gauges that differ most between two sides of a comparison, given their common points
/// as pairs. The change that is largest relative to the variation between runs of a side comes
/// first.
pub(super) fn most_changed(both: &[(&SidePoint, &SidePoint)]) -> Vec<GaugeChange> {
    let mut all = Values::new();
    for (at, (base, side)) in both.iter().enumerate() {
        for (which, point) in [base, side].into_iter().enumerate() {
            point.reports.iter().for_each(|report| add(&mut all, report, (at, which), both.len()));
        }
    }
    let mut found: Vec<(f64, GaugeChange)> =
        all.into_iter().filter_map(|(name, (unit, values))| change(name, unit, &values)).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().take(SHOWN).map(|(_, change)| change).collect()
}

fn add(all: &mut Values, report: &Report, (at, which): (usize, usize), n_points: usize) {
    let is_one_disk = |gauge: &GaugeReport| {
        let of_all = gauge.name.split_once('/').map(|(all, _)| all);
        let same = |other: &&GaugeReport| {
            other.about == gauge.about && Some(&*other.name) == of_all && other.mean == gauge.mean
        };
        report.gauges.iter().any(|other| same(&other))
    };
    let told = report.gauges.iter().filter(|gauge| !gauge.is_of_cached_writes());
    for gauge in told.filter(|gauge| !is_one_disk(gauge)) {
        let Some(mean) = gauge.mean.filter(|mean| mean.is_finite()) else { continue };
        let none = || (gauge.unit.clone(), vec![Default::default(); n_points]);
        all.entry(gauge.figure()).or_insert_with(none).1[at][which].push(mean);
    }
}

/// Returns the change of a gauge between baseline and compared side, preceded by its size relative
/// to the variation between runs; `None` if the change is too small, or a side lacks the gauge at
/// some point.
fn change(name: String, unit: String, values: &[[Vec<f64>; 2]]) -> Option<(f64, GaugeChange)> {
    if values.iter().flatten().any(Vec::is_empty) {
        return None;
    }
    let most = values.iter().flatten().flatten().fold(0.0_f64, |most, value| most.max(value.abs()));
    let logarithm = |value: &f64| (value.abs() + NOTHING * most).ln();
    let (mut shifts, mut squares, mut freedom) = (Vec::new(), 0.0, 0);
    for of_point in values {
        let [base, side] = of_point.each_ref().map(|all| {
            let all: Vec<f64> = all.iter().map(logarithm).collect();
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            squares += all.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
            freedom += all.len() - 1;
            mean
        });
        shifts.push(side - base);
    }
    let shift = shifts.iter().sum::<f64>() / shifts.len() as f64;
    if most == 0.0 || shift.abs() < LEAST.ln_1p() {
        return None;
    }
    let spread = if freedom > 0 { (squares / freedom as f64).sqrt() } else { 0.0 };
    let mean = |which: usize| {
        let all = values
            .iter()
            .map(|of_point| of_point[which].iter().sum::<f64>() / of_point[which].len() as f64);
        all.sum::<f64>() / values.len() as f64
    };
    let (baseline, side) = (mean(0), mean(1));
    let ratio = (baseline.abs() > NOTHING * most).then(|| side / baseline);
    let change = GaugeChange { name, unit, baseline, side, ratio };
    Some((shift.abs() / spread.max(SPREAD_LEAST), change))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::sides::{self, side};
    use analysis::report::GaugeReport;

    fn gauge(name: &str, mean: f64) -> GaugeReport {
        sides::gauge("server", name, "1/s", mean)
    }

    #[test]
    fn the_clearest_change_comes_first_and_what_varies_anyhow_last() {
        let point = |minute: usize, gauges_of: &dyn Fn(usize) -> Vec<GaugeReport>| {
            let mut point = side("x", &[("8", &[1e3, 1e3, 1e3], minute)]).points.remove(0);
            for (nth, report) in point.reports.iter_mut().enumerate() {
                report.gauges = gauges_of(nth);
            }
            point
        };
        let noisy = [50.0, 200.0, 800.0];
        let base = point(0, &|nth| {
            vec![gauge("steady", 100.0), gauge("noisy", noisy[nth]), gauge("same", 7.0)]
        });
        let other = point(1, &|nth| {
            vec![
                gauge("steady", 150.0 + nth as f64),
                gauge("noisy", 2.0 * noisy[2 - nth]),
                gauge("same", 7.1),
                gauge("new", 1.0),
            ]
        });
        let found = most_changed(&[(&base, &other)]);
        let names: Vec<&str> = found.iter().map(|change| change.name.as_str()).collect();
        assert_eq!(names, ["server.steady", "server.noisy"]);
        assert!(found[0].ratio.is_some_and(|ratio| (ratio - 1.51).abs() < 1e-9), "{found:?}");
        assert_eq!(most_changed(&[]), []);
    }

    #[test]
    fn what_was_nothing_has_no_ratio() {
        let found = change("x".to_owned(), String::new(), &[[vec![0.0, 0.0], vec![5.0, 5.0]]]);
        let (_, found) = found.expect("it changed");
        assert_eq!((found.ratio, found.side), (None, 5.0));
        let noise = change("x".to_owned(), String::new(), &[[vec![1e-15], vec![0.7]]]);
        assert_eq!(noise.expect("it changed").1.ratio, None);
        assert_eq!(change("x".to_owned(), String::new(), &[[vec![0.0], vec![0.0]]]), None);
    }
}
