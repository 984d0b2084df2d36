//! Where CPU time went in one side of a run: sampled stacks with counts.
//!
//! Not here: who samples them (monitor), and how they are drawn (render).

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::choice;

/// Whose stacks were sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileSide {
    /// The processes of the server on this machine.
    Server,
    /// The processes of dbdyno that have clients.
    Generator,
}

choice!(ProfileSide {
    Server = "server",
    Generator = "generator",
});

/// Separates the frames of a folded stack, from the thread's name to the function that ran.
pub const FRAME_SEPARATOR: char = ';';

/// At the end of the name of a function of the kernel.
pub const KERNEL_FRAME: &str = "_[k]";

/// The stacks of one side, sampled while they were on a CPU in the measured phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuProfile {
    /// Whose.
    pub side: ProfileSide,
    /// What was sampled: `cpu-clock` or `cycles`.
    pub event: String,
    /// Samples per second of a busy CPU.
    pub frequency_hz: u32,
    /// All samples.
    pub samples: u64,
    /// Folded stacks and the samples of each, in the order of their text.
    pub stacks: Vec<(String, u64)>,
    /// Stacks that were left out because they were the rarest of too many.
    pub stacks_cut: u64,
    /// Their samples.
    pub samples_cut: u64,
    /// CPU time of the process that recorded, in nanoseconds.
    pub recording_cpu_ns: u64,
    /// CPU time of the process that named the functions after the load, in nanoseconds.
    pub naming_cpu_ns: u64,
}

/// Functions that are listed of a side.
const FUNCTIONS_MAX: usize = 10;

/// The CPU profile of one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuProfileReport {
    /// Whose.
    pub side: ProfileSide,
    /// What was sampled: `cpu-clock` or `cycles`.
    pub event: String,
    /// Samples per second of a busy CPU.
    pub frequency_hz: u32,
    /// All samples.
    pub samples: u64,
    /// Different stacks that were kept.
    pub n_stacks: u64,
    /// Stacks that were left out because they were the rarest of too many.
    pub stacks_cut: u64,
    /// Their samples.
    pub samples_cut: u64,
    /// CPU time of `perf` while it recorded, in seconds.
    pub recording_cpu_s: f64,
    /// CPU time of `perf` after the load, to name the functions, in seconds.
    pub naming_cpu_s: f64,
    /// The functions with most samples of their own, the first ten.
    pub top_functions: Vec<TopFunction>,
    /// All stacks that were kept, with their samples: not in JSON, since they are longer than the
    /// rest of a report.
    #[serde(skip)]
    pub stacks: Vec<(String, u64)>,
}

/// A function with its shares of all samples of its side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopFunction {
    /// Its name; with `_[k]` behind it, it is one of the kernel.
    pub function: String,
    /// Samples in which it ran itself, in percent.
    pub self_percent: f64,
    /// Samples in which it, or a function that it called, ran, in percent.
    pub total_percent: f64,
}

impl CpuProfileReport {
    /// A profile as a report has it.
    pub fn of(profile: &CpuProfile) -> CpuProfileReport {
        let seconds = |ns: u64| ns as f64 / crate::NS_PER_S as f64;
        CpuProfileReport {
            side: profile.side,
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

    /// Gives reports their stacks again, which they are kept without.
    pub fn fill(reports: &mut [CpuProfileReport], profiles: Vec<CpuProfile>) {
        for profile in profiles {
            let of_side = |report: &&mut CpuProfileReport| report.side == profile.side;
            if let Some(report) = reports.iter_mut().find(of_side) {
                report.stacks = profile.stacks;
            }
        }
    }
}

/// The functions with most samples of their own. A function that calls itself counts once in a
/// stack; the name of the thread, which begins each stack, is no function.
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
