//! The clock interface of everything that waits. Not here: any clock; the engine has three.

use std::future::poll_fn;
use std::task::{Context, Poll};

use crate::{NS_PER_S, Signal};

/// The time of day at the origin of virtual time: 2024-01-01T00:00:00Z.
pub const VIRTUAL_ORIGIN_UNIX_NS: u64 = 1_704_067_200 * NS_PER_S;

/// The reason why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// The instant has passed, or the signal was raised.
    Due,
    /// The run is stopping; the instant may lie ahead.
    Stopped,
}

/// The time of a run, in nanoseconds since an origin that all its clients share.
pub trait Clock {
    /// Returns nanoseconds since the origin. Never goes backwards.
    fn now(&self) -> u64;

    /// Returns the time of day at the origin, in nanoseconds since 1970-01-01T00:00:00Z. Added to
    /// [`now`](Clock::now), it gives a time that other processes can compare and that never jumps.
    /// Constant in virtual time.
    fn origin_unix_ns(&self) -> u64 {
        VIRTUAL_ORIGIN_UNIX_NS
    }

    /// Waits until `instant_ns`. Blocks on a thread, returns `Pending` on a loop.
    ///
    /// Returns [`Woken::Stopped`] early once the run stops.
    fn poll_until(&self, instant_ns: u64, context: &mut Context<'_>) -> Poll<Woken>;

    /// Waits until a signal was raised more often than `seen` times. Blocks on a thread, returns
    /// `Pending` on a loop; woken with [`Woken::Stopped`] once the run stops.
    fn poll_signal(&self, signal: &Signal, seen: u64, context: &mut Context<'_>) -> Poll<Woken> {
        signal.poll(seen, context).map(|()| Woken::Due)
    }

    /// Waits until `instant_ns`, also while the run drains. Returns [`Woken::Stopped`] early only
    /// when running transactions are cut off.
    fn poll_through(&self, instant_ns: u64, context: &mut Context<'_>) -> Poll<Woken>;
}

/// Waits until an instant, or until the run stops.
pub async fn until(clock: &dyn Clock, instant_ns: u64) -> Woken {
    poll_fn(|context| clock.poll_until(instant_ns, context)).await
}

/// Waits until an instant, or until running transactions are cut off after the drain.
pub async fn through(clock: &dyn Clock, instant_ns: u64) -> Woken {
    poll_fn(|context| clock.poll_through(instant_ns, context)).await
}

/// Waits until a signal was raised more often than `seen` times, or until the run stops.
pub async fn raised(clock: &dyn Clock, signal: &Signal, seen: u64) -> Woken {
    poll_fn(|context| clock.poll_signal(signal, seen, context)).await
}
