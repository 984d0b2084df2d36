//! The clocks that the process of a network path reads.

use rustix::time::{ClockId, Timespec, clock_gettime};

pub(crate) const NS_PER_S: u64 = 1_000_000_000;

/// Returns the current time of CLOCK_MONOTONIC, in nanoseconds.
pub(crate) fn now_ns() -> u64 {
    ns(clock_gettime(ClockId::Monotonic))
}

/// Returns the CPU time that this process has used so far, in nanoseconds.
pub(crate) fn cpu_ns() -> u64 {
    ns(clock_gettime(ClockId::ProcessCPUTime))
}

/// Converts an instant in nanoseconds to the kernel's format of seconds and nanoseconds.
pub(crate) fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / NS_PER_S) as i64, tv_nsec: (ns % NS_PER_S) as i64 }
}

fn ns(time: Timespec) -> u64 {
    time.tv_sec as u64 * NS_PER_S + time.tv_nsec as u64
}
