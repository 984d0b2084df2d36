//! System and database metrics (gauges) of a run, read once per second: the readings of each, and
//! its figures over the measured window.
//!
//! Not here: reading them (monitor), and drawing them (render).

use model::{Gauge, NS_PER_S, Readings};
use serde::{Deserialize, Serialize};
use stats::{Due, mean_within_planned_run};

use super::times::too_short;
use crate::gauges::{WHOSE, points, whose};
use crate::tally::Tally;

/// A gauge (system or database metric), with its readings and figures over a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GaugeReport {
    /// Subject: `machine`, `generator`, `server` or `database`. If an agent read it, the host's
    /// name is before it, as in `db7/machine`.
    pub about: String,
    /// Name of the gauge without its subject, such as `cpu_user`.
    pub name: String,
    pub unit: String,
    pub help: String,
    /// Mean of the readings in the measured window; null if there are none.
    pub mean: Option<f64>,
    /// Half the width of the 95 % CI of `mean` within this run; null with a `reason`, and in older
    /// runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_half_width: Option<f64>,
    /// Reason why `mean` has no confidence interval; absent if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// Readings, as pairs of second and value; seconds of the ramp-up are negative, and seconds
    /// without a reading are missing. Empty in a report that is stored beside the run's events,
    /// which have all readings.
    #[serde(default)]
    pub points: Vec<(i64, f64)>,
}

impl GaugeReport {
    /// Returns the name of the figure that is the gauge's mean, such as `server.disk_written`.
    pub fn figure(&self) -> String {
        format!("{}.{}", self.about, self.name)
    }

    /// Returns true if the gauge is the kernel's count of a process's writes. These go to the page
    /// cache, and may be many times more than reaches the disks.
    pub fn is_of_cached_writes(&self) -> bool {
        let about = self.about.rsplit('/').next().unwrap_or(&self.about);
        about != "machine" && self.name == "disk_written"
    }
}

/// Returns all gauges that were read at least once: those of the machine first, then generator,
/// server and database, each in the order of declaration.
pub(super) fn gauges(tally: &Tally) -> Vec<GaugeReport> {
    let measured = tally.seconds();
    let groups: Vec<usize> = (0..tally.groups.len()).collect();
    let due = tally.due(&groups, NS_PER_S, measured.clone().count());
    let mut reports = Vec::new();
    for (gauge, points) in tally.gauges.iter().zip(points(&tally.gauges, &tally.readings)) {
        if points.is_empty() {
            continue;
        }
        let within = points.iter().filter(|(second, _)| measured.contains(second));
        let within: Vec<f64> = within.map(|(_, value)| *value).collect();
        let due = due.as_ref().map(|due| {
            let seconds = points.iter().filter(|(second, _)| measured.contains(second));
            let per_slot = seconds.map(|(second, _)| due.per_slot[*second as usize]).collect();
            Due { per_slot, beside_others: true, ..*due }
        });
        let error = mean_within_planned_run(&within, due.as_ref());
        let reason = |few| too_short("it varies", few, NS_PER_S);
        reports.push(GaugeReport {
            about: gauge.about.clone(),
            name: gauge.name.clone(),
            unit: gauge.unit.clone(),
            help: gauge.help.clone(),
            mean: (!within.is_empty()).then(|| within.iter().sum::<f64>() / within.len() as f64),
            mean_half_width: error.ok(),
            reason: error.err().map(reason),
            min: within.iter().copied().reduce(f64::min),
            max: within.iter().copied().reduce(f64::max),
            points,
        });
    }
    reports.sort_by_key(|report| rank(&report.about));
    reports
}

/// Returns the position of a gauge's subject in the order in which reports show them, whatever its
/// host.
fn rank(about: &str) -> usize {
    let whose = whose(about);
    WHOSE.iter().position(|known| *known == whose).unwrap_or(WHOSE.len())
}

/// Restores the readings of gauges, which stored reports lack, from the run's events.
pub(super) fn fill(reports: &mut [GaugeReport], gauges: &[Gauge], readings: &[Readings]) {
    for (gauge, points) in gauges.iter().zip(points(gauges, readings)) {
        let is_it =
            |report: &&mut GaugeReport| report.about == gauge.about && report.name == gauge.name;
        if let Some(report) = reports.iter_mut().find(is_it) {
            report.points = points;
        }
    }
}
