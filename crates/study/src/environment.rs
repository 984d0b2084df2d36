//! What was measured, on what and when: for one who sees nothing of it but the comparison.
//!
//! Not here: what differs between the sides (differences), and how it is reported (render).

use analysis::report::Report;
use model::{Load, Placement, numbers};
use serde::{Deserialize, Serialize};

/// The environment that runs have in common; if they differ, with all their values. Lists have each
/// value once, in the order of the sides. A list is empty if nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    pub workloads: Vec<String>,
    /// Products, each with its version.
    pub databases: Vec<String>,
    /// Amount of data, by parameters of the workload.
    pub data: Vec<String>,
    /// Loads offered, in words.
    pub loads: Vec<String>,
    /// Smallest and largest number of clients.
    pub clients: (u32, u32),
    /// Placements of clients: `thread`, `loop`, or `simulated`, which runs in virtual time.
    pub placements: Vec<String>,
    /// Number of valid runs of all sides.
    pub runs: u64,
    /// Shortest and longest measured phase, in seconds.
    pub measured_s: (f64, f64),
    /// Shortest and longest ramp-up, in seconds.
    pub ramp_up_s: (f64, f64),
    /// Start of the first run and of the last: RFC 3339, UTC.
    pub begun: (String, String),
    /// Processors and memory of the generator's machines.
    pub machines: Vec<String>,
    /// Operating systems of these machines, with their kernels.
    pub systems: Vec<String>,
    /// Versions of dbdyno that made the runs.
    pub dbdyno: Vec<String>,
    /// Modes that all runs have, such as how a commit is made durable.
    pub modes: Vec<String>,
    /// Disclaimers that belong beside every figure of the runs, such as "not a TPC-C result".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

impl Environment {
    /// Returns the environment of these runs.
    pub fn from_reports(all: &[&Report]) -> Environment {
        let clients = all.iter().map(|report| report.clients);
        let begun = || all.iter().map(|report| report.started.as_str());
        let begun = (begun().min().unwrap_or_default(), begun().max().unwrap_or_default());
        Environment {
            workloads: each(all, |report| Some(report.workload.clone())),
            databases: each(all, |report| Some(report.database.clone())),
            data: each(all, |report| Some(report.fact("data", "size")?.to_string())),
            loads: each(all, |report| report.load.as_ref().map(load)),
            clients: (clients.clone().min().unwrap_or(0), clients.max().unwrap_or(0)),
            placements: each(all, |report| Some(report.placement.clone())),
            runs: all.len() as u64,
            measured_s: range(all, |report| report.measured_seconds),
            ramp_up_s: range(all, |report| report.phases.ramp_up_s),
            begun: (begun.0.to_owned(), begun.1.to_owned()),
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

    /// Returns true if any of the runs was made in virtual time.
    pub fn has_virtual_time(&self) -> bool {
        let simulated = Placement::Simulated.name();
        self.placements.iter().any(|place| place == simulated)
    }
}

/// Returns the modes that all of these runs have in common, such as `synchronous=full`.
pub(crate) fn common_modes(all: &[&Report]) -> Vec<String> {
    let is_common = |mode: &&String| all.iter().all(|report| report.modes.contains(mode));
    let modes = all.first().into_iter().flat_map(|report| &report.modes);
    modes.filter(is_common).cloned().collect()
}

/// Describes a load: of an open one only the rate, since the plans have the rest.
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

/// Returns each known value once.
pub(crate) fn each(all: &[&Report], value: impl Fn(&Report) -> Option<String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for value in all.iter().filter_map(|report| value(report)) {
        if !value.is_empty() && !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// Returns the smallest and the largest value.
fn range(all: &[&Report], value: impl Fn(&Report) -> f64) -> (f64, f64) {
    let (none, values) =
        ((f64::INFINITY, f64::NEG_INFINITY), all.iter().map(|report| value(report)));
    values.fold(none, |(low, high), value| (low.min(value), high.max(value)))
}
