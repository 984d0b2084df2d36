//! CPU profile of one side of a run: sampled stacks with counts.
//!
//! Not here: sampling (monitor), and drawing (render).

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::choice;

/// The processes whose stacks were sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileSide {
    /// Processes of the server on this machine.
    Server,
    /// Processes of dbdyno that run clients.
    Generator,
}

choice!(ProfileSide {
    Server = "server",
    Generator = "generator",
});

/// Separator between the frames of a folded stack, from the thread's name to the function that ran.
pub const FRAME_SEPARATOR: char = ';';

/// Suffix of the names of kernel functions.
pub const KERNEL_FRAME: &str = "_[k]";

/// Stacks of one side, sampled on CPU during the measured phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuProfile {
    /// Side whose processes were sampled.
    pub side: ProfileSide,
    /// The whole machine was recorded, which costs the load less than recording single processes.
    pub is_system_wide: bool,
    /// Sampled event: `cpu-clock` or `cycles`.
    pub event: String,
    /// Samples per second of a busy CPU.
    pub frequency_hz: u32,
    /// Number of samples, including those of cut stacks.
    pub samples: u64,
    /// Folded stacks with the samples of each, sorted by text.
    pub stacks: Vec<(String, u64)>,
    /// Number of stacks left out: the rarest, beyond the limit.
    pub stacks_cut: u64,
    /// Samples in the stacks left out.
    pub samples_cut: u64,
    /// CPU time of the recording process, in nanoseconds.
    pub recording_cpu_ns: u64,
    /// CPU time of the process that resolved function names after the load, in nanoseconds.
    pub naming_cpu_ns: u64,
}

/// Number of functions listed per side.
const FUNCTIONS_MAX: usize = 10;

/// Summary of a [`CpuProfile`], as reports contain it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuProfileReport {
    /// Side whose processes were sampled.
    pub side: ProfileSide,
    /// The whole machine was recorded, which costs the load less than recording single processes.
    pub is_system_wide: bool,
    /// Sampled event: `cpu-clock` or `cycles`.
    pub event: String,
    /// Samples per second of a busy CPU.
    pub frequency_hz: u32,
    /// Number of samples, including those of cut stacks.
    pub samples: u64,
    /// Number of distinct stacks kept.
    pub n_stacks: u64,
    /// Number of stacks left out: the rarest, beyond the limit.
    pub stacks_cut: u64,
    /// Samples in the stacks left out.
    pub samples_cut: u64,
    /// CPU time of `perf` while it recorded, in seconds.
    pub recording_cpu_s: f64,
    /// CPU time of `perf` to resolve function names after the load, in seconds.
    pub naming_cpu_s: f64,
    /// The ten functions with the most samples of their own.
    pub top_functions: Vec<TopFunction>,
    /// Stacks with their samples. Not in JSON, where they would be longer than the rest of the
    /// report.
    #[serde(skip)]
    pub stacks: Vec<(String, u64)>,
}

/// A function with its shares of all samples of its side, in percent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopFunction {
    /// Name; kernel functions end in `_[k]`.
    pub function: String,
    /// Share of samples in which the function itself ran.
    pub self_percent: f64,
    /// Share of samples in which the function or one of its callees ran.
    pub total_percent: f64,
}

impl CpuProfileReport {
    /// Summarizes a profile for reports: counts, times in seconds, and the top functions.
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

    /// Restores the stacks of stored reports, which are kept without them.
    pub fn fill(reports: &mut [CpuProfileReport], profiles: Vec<CpuProfile>) {
        for profile in profiles {
            let of_side = |report: &&mut CpuProfileReport| report.side == profile.side;
            if let Some(report) = reports.iter_mut().find(of_side) {
                report.stacks = profile.stacks;
            }
        }
    }
}

/// Returns the functions with the most samples of their own. A recursive function counts once per
/// stack; the thread name at the start of each stack is not a function.
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
            .map(|of| (of.function.as_str(), of.self_percent, of.total_percent))
            .collect();
        // Half of all samples are in stacks that were left out.
        let expected = [("send_[k]", 25.0, 25.0), ("work", 15.0, 15.0), ("main", 5.0, 45.0)];
        assert_eq!(shown, expected);
        assert_eq!(top_functions(&[], 0), []);
        let many: Vec<(String, u64)> = (0..30).map(|n| (format!("a;f{n}"), n + 1)).collect();
        assert_eq!(top_functions(&many, 1000).len(), FUNCTIONS_MAX);
    }
}
