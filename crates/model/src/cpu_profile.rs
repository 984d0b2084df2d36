//! Where CPU time went in one side of a run: sampled stacks with counts.
//!
//! Not here: who samples them (monitor), what is read from them (analysis), how they are drawn
//! (render).

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
