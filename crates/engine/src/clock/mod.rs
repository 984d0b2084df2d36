//! The three clocks: a thread's, an event loop's and the simulation's.
//!
//! The only place, with `app` and the interfaces, that reads the time.

mod event_loop;
mod simulated;
mod thread;

use rustix::time::{ClockId, Timespec, clock_gettime};

pub(crate) use event_loop::LoopClock;
pub(crate) use model::{through, until};
pub(crate) use simulated::{Agenda, SimulatedClock};
pub use thread::ThreadClock;

use model::NS_PER_S;

/// The instant that a run's clocks count from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// In nanoseconds of CLOCK_MONOTONIC.
    monotonic_ns: u64,
    /// In nanoseconds of CLOCK_REALTIME.
    unix_ns: u64,
}

impl Origin {
    pub(crate) fn now() -> Origin {
        Origin { monotonic_ns: monotonic_ns(), unix_ns: unix_ns() }
    }

    /// Nanoseconds since the origin.
    pub(crate) fn elapsed_ns(self) -> u64 {
        monotonic_ns() - self.monotonic_ns
    }

    /// The time of day that it was.
    pub(crate) fn unix_ns(self) -> u64 {
        self.unix_ns
    }

    /// The instant as the kernel wants it.
    pub(crate) fn timespec(self, instant_ns: u64) -> Timespec {
        let absolute_ns = self.monotonic_ns.saturating_add(instant_ns);
        Timespec {
            tv_sec: (absolute_ns / NS_PER_S) as i64,
            tv_nsec: (absolute_ns % NS_PER_S) as i64,
        }
    }
}

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * NS_PER_S + now.tv_nsec as u64
}

/// The real time of the day, with which the kernel stamps what it receives: nanoseconds of
/// CLOCK_REALTIME. It may be set, and jump.
pub(crate) fn unix_ns() -> u64 {
    let now = clock_gettime(ClockId::Realtime);
    u64::try_from(now.tv_sec).unwrap_or(0) * NS_PER_S + now.tv_nsec as u64
}

/// Nanoseconds of CLOCK_MONOTONIC_COARSE: as of the kernel's last tick, 1 to 10 ms ago.
pub(crate) fn coarse_ns() -> u64 {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    now.tv_sec as u64 * NS_PER_S + now.tv_nsec as u64
}

/// CPU time that the calling thread has used, in nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as u64 * NS_PER_S + used.tv_nsec as u64
}
