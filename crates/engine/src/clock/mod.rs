//! The clocks of clients on a thread, on an event loop and in virtual time.
//!
//! Except for `app` and the interfaces, only this module reads the time.

mod event_loop;
mod simulated;
mod thread;

use rustix::time::{ClockId, Timespec, clock_gettime};

pub(crate) use event_loop::LoopClock;
pub(crate) use model::{through, until};
pub(crate) use simulated::{Agenda, SimulatedClock};
pub use thread::ThreadClock;

use model::NS_PER_S;

/// The instant that is time 0 of all clocks of a run, as read from the kernel's clocks.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// CLOCK_MONOTONIC at the origin, in nanoseconds.
    monotonic_ns: u64,
    /// CLOCK_REALTIME at the origin, in nanoseconds since 1970.
    unix_ns: u64,
}

impl Origin {
    /// Returns an origin at the current instant. The monotonic clock and the wall clock are read
    /// several times, and the two readings closest to each other are used.
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

    /// Returns the nanoseconds that have passed since the origin.
    pub fn elapsed_ns(self) -> u64 {
        monotonic_ns() - self.monotonic_ns
    }

    /// Returns the time of day at the origin, in nanoseconds since 1970-01-01T00:00:00Z.
    pub fn unix_ns(self) -> u64 {
        self.unix_ns
    }

    /// Converts an instant, in nanoseconds since the origin, to an absolute time of CLOCK_MONOTONIC
    /// for system calls.
    pub(crate) fn timespec(self, instant_ns: u64) -> Timespec {
        let absolute_ns = self.monotonic_ns.saturating_add(instant_ns);
        Timespec {
            tv_sec: (absolute_ns / NS_PER_S) as i64,
            tv_nsec: (absolute_ns % NS_PER_S) as i64,
        }
    }
}

/// Number of times that the monotonic clock and the wall clock are read to find the origin; the two
/// readings closest to each other are used.
const ORIGIN_READINGS: usize = 8;

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * NS_PER_S + now.tv_nsec as u64
}

/// Returns CLOCK_REALTIME in nanoseconds since 1970, with which the kernel timestamps received
/// data. This clock jumps if somebody sets it.
pub(crate) fn unix_ns() -> u64 {
    let now = clock_gettime(ClockId::Realtime);
    u64::try_from(now.tv_sec).unwrap_or(0) * NS_PER_S + now.tv_nsec as u64
}

/// Returns CLOCK_MONOTONIC_COARSE in nanoseconds: the time of the kernel's last tick, 1 to 10 ms
/// ago.
pub(crate) fn coarse_ns() -> u64 {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    now.tv_sec as u64 * NS_PER_S + now.tv_nsec as u64
}

/// Returns the CPU time of the calling thread, in nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as u64 * NS_PER_S + used.tv_nsec as u64
}
