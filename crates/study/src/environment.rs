//! Summary of what was measured, on which systems, and when, for readers who see only a comparison,
//! history or search.
//!
//! Not here: the differences between the sides of a comparison (differences), and pages (render).

use analysis::report::Report;
use jiff::Timestamp;
use model::{Load, Placement, numbers};
use serde::{Deserialize, Serialize};

/// Workloads, databases, loads and machines of a set of runs. A list has each distinct value once,
/// in the order of the runs; it is empty if nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    pub workloads: Vec<String>,
    /// Database products, each with its version.
    pub databases: Vec<String>,
    /// Memory in which the servers cache data, such as `shared_buffers 128MB`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server_memory: Vec<String>,
    /// Sizes of the data, in parameters of the workload such as `warehouses`.
    pub data: Vec<String>,
    /// Offered loads in words. For open load this is only the arrival rate, such as `200
    /// arrivals/s`, without the size of the queue.
    pub loads: Vec<String>,
    /// Smallest and largest number of clients of a run.
    pub clients: (u32, u32),
    /// Ways in which clients were run: `thread` (a thread for each), `loop` (on event loops), or
    /// `simulated` (in virtual time).
    pub placements: Vec<String>,
    /// Number of valid runs that are summarized.
    pub runs: u64,
    /// Shortest and longest measured phase of a run, in seconds.
    pub measured_s: (f64, f64),
    /// Shortest and longest ramp-up of a run, in seconds.
    pub ramp_up_s: (f64, f64),
    /// Start times of the first and of the last run; null without a run.
    pub begun: Option<(Timestamp, Timestamp)>,
    /// Usual time from the start of a run to the start of the next one, in seconds, which includes
    /// builds, starts of servers, checks and pauses; null with fewer than two runs. It is the time
    /// of a trial if the runs are those of one experiment.
    #[serde(default, skip)]
    pub usual_gap_s: Option<f64>,
    /// CPUs and memory of the machines on which dbdyno generated the load.
    pub machines: Vec<String>,
    /// Operating systems of the load generator's machines, with their kernels.
    pub systems: Vec<String>,
    /// Versions of dbdyno that made the runs.
    pub dbdyno: Vec<String>,
    /// Database modes that all runs have in common, such as `synchronous=full`.
    pub modes: Vec<String>,
    /// Disclaimers that belong beside every figure of these runs, such as "not a TPC-C result".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

impl Environment {
    pub fn from_reports(all: &[&Report]) -> Environment {
        let clients = all.iter().map(|report| report.clients);
        let begun = || all.iter().map(|report| report.started);
        Environment {
            workloads: each(all, |report| Some(report.workload.clone())),
            databases: each(all, |report| Some(report.database.clone())),
            server_memory: each(all, |report| {
                Some(report.fact("server_memory", "cache")?.to_string())
            }),
            data: each(all, |report| Some(report.fact("data", "size")?.to_string())),
            loads: each(all, |report| report.load.as_ref().map(load)),
            clients: (clients.clone().min().unwrap_or(0), clients.max().unwrap_or(0)),
            placements: each(all, |report| Some(report.placement.clone())),
            runs: all.len() as u64,
            measured_s: range(all, |report| report.measured_seconds),
            ramp_up_s: range(all, |report| report.phases.ramp_up_s),
            begun: begun().min().zip(begun().max()),
            usual_gap_s: usual_gap_s(begun()),
            machines: each(all, machine),
            systems: each(all, |report| {
                let kernel = report.fact("os", "kernel_release")?;
                Some(format!("{}, kernel {kernel}", report.fact("os", "name")?))
            }),
            dbdyno: each(all, |report| Some(report.dbdyno.clone())),
            modes: common_modes(all),
            notices: each(all, |report| report.notice().map(str::to_owned)),
        }
    }

    /// Returns true if any of the runs was made in virtual time, against a simulated database.
    pub fn has_virtual_time(&self) -> bool {
        let simulated = Placement::Simulated.name();
        self.placements.iter().any(|place| place == simulated)
    }
}

/// Returns the median time from the start of a run to the start of the next one, in seconds; `None`
/// with fewer than two runs.
pub(crate) fn usual_gap_s(begun: impl Iterator<Item = Timestamp>) -> Option<f64> {
    let mut begun: Vec<Timestamp> = begun.collect();
    begun.sort();
    let gaps = begun.windows(2).map(|pair| pair[1].duration_since(pair[0]).as_secs_f64());
    let mut gaps: Vec<f64> = gaps.collect();
    // An experiment that was resumed has one long gap, which the median leaves out.
    gaps.sort_by(f64::total_cmp);
    gaps.get(gaps.len() / 2).copied()
}

/// Returns the database modes that all of these runs have in common, such as `synchronous=full`.
pub(crate) fn common_modes(all: &[&Report]) -> Vec<String> {
    let is_common = |mode: &&String| all.iter().all(|report| report.modes.contains(mode));
    let modes = all.first().into_iter().flat_map(|report| &report.modes);
    modes.filter(is_common).cloned().collect()
}

/// Describes a load in words. For open load this is the arrival rate alone, without the size of the
/// queue.
fn load(load: &Load) -> String {
    match load {
        Load::Open { rate, .. } => format!("open, {}", numbers::arrival_rate(rate)),
        load => numbers::load(load),
    }
}

fn machine(report: &Report) -> Option<String> {
    let processors = report.fact("cpu", "logical")?.count()?;
    let memory = report.fact("memory", "total_bytes")?.bytes()?;
    let processors = numbers::count(processors, "logical CPU");
    let (model, memory) = (report.fact("cpu", "model")?, numbers::bytes(memory));
    Some(format!("{processors} ({model}), {memory} of memory"))
}

/// Returns each distinct value of the reports once, in their order. Unknown and empty values are
/// left out.
pub(crate) fn each(all: &[&Report], value: impl Fn(&Report) -> Option<String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for value in all.iter().filter_map(|report| value(report)) {
        if !value.is_empty() && !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// Returns the smallest and the largest value over all reports; without reports, plus and minus
/// infinity.
fn range(all: &[&Report], value: impl Fn(&Report) -> f64) -> (f64, f64) {
    let (none, values) =
        ((f64::INFINITY, f64::NEG_INFINITY), all.iter().map(|report| value(report)));
    values.fold(none, |(low, high), value| (low.min(value), high.max(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_time_of_a_trial_leaves_out_the_pause_of_a_resumed_experiment() {
        let run = |minute: u32, second: u32| {
            let mut report = analysis::fixtures::subjects::closed();
            report.started =
                format!("2026-11-28T02:{minute:02}:{second:02}Z").parse().expect("a time");
            report
        };
        // Runs are in the order of their points.
        let all = [run(0, 0), run(40, 0), run(0, 12), run(40, 13), run(0, 23)];
        let begun = || all.iter().map(|report| report.started);
        assert_eq!(usual_gap_s(begun()), Some(13.0));
        assert_eq!(usual_gap_s(begun().take(1)), None);
    }
}
