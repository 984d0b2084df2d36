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
pub struct Origin {
    /// In nanoseconds of CLOCK_MONOTONIC.
    monotonic_ns: u64,
    /// In nanoseconds of CLOCK_REALTIME.
    unix_ns: u64,
}

impl Origin {
    /// This instant. Whoever is interrupted between its two readings reads both again.
    pub fn now() -> Origin {
        let readings = (0..ORIGIN_READINGS).map(|_| {
            let before_ns = monotonic_ns();
            let unix_ns = unix_ns();
            let took_ns = monotonic_ns() - before_ns;
            (took_ns, Origin { monotonic_ns: before_ns + took_ns / 2, unix_ns })
        });
        let closest = readings.min_by_key(|(took_ns, _)| *took_ns);
        closest.expect("there is more than one reading").1
    }

    /// Nanoseconds since the origin.
    pub fn elapsed_ns(self) -> u64 {
        monotonic_ns() - self.monotonic_ns
    }

    /// The time of day that it was, in nanoseconds since 1970.
    pub fn unix_ns(self) -> u64 {
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

/// Of so many readings of both clocks, the one in which they lie closest is taken.
const ORIGIN_READINGS: usize = 8;

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
