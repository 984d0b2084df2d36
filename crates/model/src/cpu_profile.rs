//! CPU profile of the server's or the generator's processes: sampled call stacks with counts.
//!
//! Not here: sampling (monitor), and drawing (render).

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::choice;

/// The processes whose call stacks a CPU profile contains: those of the database server or of
/// dbdyno.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileSide {
    /// The profile contains processes of the database server on this machine.
    Server,
    /// The profile contains processes of dbdyno that run clients.
    Generator,
}

choice!(ProfileSide {
    Server = "server",
    Generator = "generator",
});

/// Separator between the frames of a folded stack, which begins with the thread's name and
/// continues with functions, from the outermost to the one that was running.
pub const FRAME_SEPARATOR: char = ';';

/// Suffix that marks the name of a kernel function.
pub const KERNEL_FRAME: &str = "_[k]";

/// A CPU profile: call stacks of the server's or of dbdyno's own processes, sampled in the measured
/// phase while they used a CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuProfile {
    /// Group of processes whose call stacks were sampled: server or generator.
    pub side: ProfileSide,
    /// Whether all processes of the machine were recorded and the others discarded afterwards,
    /// which slows down the load less than recording single processes.
    pub is_system_wide: bool,
    /// Event of `perf` by which samples were taken: `cpu-clock` or `cycles`.
    pub event: String,
    /// Sampling frequency: samples per second of CPU time.
    pub frequency_hz: u32,
    /// Number of samples in the profile, including those of stacks that were left out.
    pub samples: u64,
    /// Folded call stacks, such as `mysqld;main;read`, each with its number of samples, sorted by
    /// text.
    pub stacks: Vec<(String, u64)>,
    /// Number of distinct stacks that were left out, the rarest ones, because a profile keeps at
    /// most 5,000 stacks and 4 MiB of their text.
    pub stacks_cut: u64,
    /// Number of samples in the stacks that were left out.
    pub samples_cut: u64,
    /// CPU time of the recording process (`perf`), in nanoseconds.
    pub recording_cpu_ns: u64,
    /// CPU time of the process that resolved function names after the load, in nanoseconds.
    pub naming_cpu_ns: u64,
}

/// Limit on the number of functions that the report of a run lists for a CPU profile: those that
/// were running in the most samples. The other functions appear only in the call stacks.
const FUNCTIONS_MAX: usize = 10;

/// Summary of a [`CpuProfile`] in the report of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuProfileReport {
    /// Group of processes whose call stacks were sampled: server or generator.
    pub side: ProfileSide,
    /// Whether all processes of the machine were recorded and the others discarded afterwards,
    /// which slows down the load less than recording single processes.
    pub is_system_wide: bool,
    /// Event of `perf` by which samples were taken: `cpu-clock` or `cycles`.
    pub event: String,
    /// Sampling frequency: samples per second of CPU time.
    pub frequency_hz: u32,
    /// Number of samples, including those of stacks that were left out.
    pub samples: u64,
    /// Number of distinct stacks that the profile kept, not counting those left out.
    pub n_stacks: u64,
    /// Number of distinct stacks that were left out, the rarest ones, because a profile keeps at
    /// most 5,000 stacks and 4 MiB of their text.
    pub stacks_cut: u64,
    /// Number of samples in the stacks that were left out.
    pub samples_cut: u64,
    /// CPU time of `perf` while it recorded, in seconds.
    pub recording_cpu_s: f64,
    /// CPU time of `perf` to resolve function names after the load, in seconds.
    pub naming_cpu_s: f64,
    /// Functions that were running in the most samples, at most ten, in descending order.
    pub top_functions: Vec<TopFunction>,
    /// Folded call stacks, each with its number of samples. Not in the JSON report, where they
    /// would be longer than everything else; [`CpuProfileReport::fill`] restores them.
    #[serde(skip)]
    pub stacks: Vec<(String, u64)>,
}

/// A function in a CPU profile, with its shares of all samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopFunction {
    /// Name of the function; those of the kernel end in `_[k]`.
    pub function: String,
    /// Percentage of all samples of the profile in which the function itself was running.
    pub self_percent: f64,
    /// Percentage of all samples of the profile in which the function, or one that it had called,
    /// was running.
    pub total_percent: f64,
}

impl CpuProfileReport {
    /// Summarizes a CPU profile for the report of a run, with the functions that used most CPU
    /// time.
    pub fn from_profile(profile: &CpuProfile) -> CpuProfileReport {
        let seconds = |ns: u64| ns as f64 / crate::NS_PER_S as f64;
        CpuProfileReport {
            side: profile.side,
            is_system_wide: profile.is_system_wide,
            event: profile.event.clone(),
            frequency_hz: profile.frequency_hz,
            samples: profile.samples,
            n_stacks: profile.stacks.len() as u64,
            stacks_cut: profile.stacks_cut,
            samples_cut: profile.samples_cut,
            recording_cpu_s: seconds(profile.recording_cpu_ns),
            naming_cpu_s: seconds(profile.naming_cpu_ns),
            top_functions: top_functions(&profile.stacks, profile.samples),
            stacks: profile.stacks.clone(),
        }
    }

    /// Copies the stacks of `profiles` into the reports of the same side (server or generator).
    /// Needed because the store keeps reports without stacks.
    pub fn fill(reports: &mut [CpuProfileReport], profiles: Vec<CpuProfile>) {
        for profile in profiles {
            let of_side = |report: &&mut CpuProfileReport| report.side == profile.side;
            if let Some(report) = reports.iter_mut().find(of_side) {
                report.stacks = profile.stacks;
            }
        }
    }
}

/// Returns at most ten functions, those that were running in the most samples. A function that
/// occurs several times in a stack counts once. The first frame of a stack is ignored, since it is
/// the thread's name.
fn top_functions(stacks: &[(String, u64)], samples: u64) -> Vec<TopFunction> {
    let mut counts: HashMap<&str, (u64, u64)> = HashMap::new();
    for (stack, count) in stacks {
        let frames: Vec<&str> = stack.split(FRAME_SEPARATOR).skip(1).collect();
        if let Some(last) = frames.last() {
            counts.entry(last).or_default().0 += count;
        }
        for function in frames.iter().copied().collect::<HashSet<&str>>() {
            counts.entry(function).or_default().1 += count;
        }
    }
    let mut all: Vec<(&str, (u64, u64))> = counts.into_iter().collect();
    all.sort_by(|(a, (a_self, a_total)), (b, (b_self, b_total))| {
        b_self.cmp(a_self).then(b_total.cmp(a_total)).then(a.cmp(b))
    });
    let percent = |count: u64| 100.0 * count as f64 / samples.max(1) as f64;
    let shown = all.into_iter().filter(|(_, (own, _))| *own > 0).take(FUNCTIONS_MAX);
    shown
        .map(|(function, (own, total))| TopFunction {
            function: function.to_owned(),
            self_percent: percent(own),
            total_percent: percent(total),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_samples_of_their_own_and_of_all_they_call() {
        let stacks = [
            ("client;main;send_[k]", 5),
            ("client;main;work;main;work", 3),
            ("client;main", 1),
            ("idle", 1),
        ];
        let stacks: Vec<(String, u64)> =
            stacks.iter().map(|(stack, count)| ((*stack).to_owned(), *count)).collect();
        let top = top_functions(&stacks, 20);
        let shown: Vec<(&str, f64, f64)> = top
            .iter()
            .map(|entry| (entry.function.as_str(), entry.self_percent, entry.total_percent))
            .collect();
        // Half of all samples are in stacks that were left out.
        let expected = [("send_[k]", 25.0, 25.0), ("work", 15.0, 15.0), ("main", 5.0, 45.0)];
        assert_eq!(shown, expected);
        assert_eq!(top_functions(&[], 0), []);
        let many: Vec<(String, u64)> = (0..30).map(|n| (format!("a;f{n}"), n + 1)).collect();
        assert_eq!(top_functions(&many, 1000).len(), FUNCTIONS_MAX);
    }
}
