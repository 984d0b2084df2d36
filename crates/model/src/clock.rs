//! What a clock is to everyone who waits. Not here: any clock; the engine has three.

use std::future::poll_fn;
use std::task::{Context, Poll};

use crate::{NS_PER_S, Signal};

/// The time of day at the origin of virtual time: 2024-01-01T00:00:00Z.
pub const VIRTUAL_ORIGIN_UNIX_NS: u64 = 1_704_067_200 * NS_PER_S;

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// The instant has come.
    Due,
    /// The run is being stopped; the instant may lie ahead.
    Stopped,
}

/// The time of a run, in nanoseconds since an origin that all its clients share.
pub trait Clock {
    /// Nanoseconds since the origin. Never goes backwards.
    fn now(&self) -> u64;

    /// The time of day at the origin, in nanoseconds since 1970-01-01T00:00:00Z. An instant counted
    /// from it is a time that other processes understand, and that never jumps. In virtual time it
    /// is always the same.
    fn origin_unix_ns(&self) -> u64 {
        VIRTUAL_ORIGIN_UNIX_NS
    }

    /// Waits for `instant_ns`. Blocks on a thread, returns `Pending` on a loop.
    ///
    /// Whoever waits is woken early, with [`Woken::Stopped`], once the run stops.
    fn poll_until(&self, instant_ns: u64, context: &mut Context<'_>) -> Poll<Woken>;

    /// Waits until a signal was raised more often than `seen` times. Blocks on a thread, returns
    /// `Pending` on a loop; woken with [`Woken::Stopped`] once the run stops.
    fn poll_signal(&self, signal: &Signal, seen: u64, context: &mut Context<'_>) -> Poll<Woken> {
        signal.poll(seen, context).map(|()| Woken::Due)
    }

    /// Waits for `instant_ns` also while the run drains; woken early, with [`Woken::Stopped`],
    /// only when what is under way is cut off.
    fn poll_through(&self, instant_ns: u64, context: &mut Context<'_>) -> Poll<Woken>;
}

/// Waits for an instant, or for the run to stop.
pub async fn until(clock: &dyn Clock, instant_ns: u64) -> Woken {
    poll_fn(|context| clock.poll_until(instant_ns, context)).await
}

/// Waits for an instant, or for the run to be cut off.
pub async fn through(clock: &dyn Clock, instant_ns: u64) -> Woken {
    poll_fn(|context| clock.poll_through(instant_ns, context)).await
}

/// Waits until a signal was raised more often than `seen` times, or for the run to stop.
pub async fn raised(clock: &dyn Clock, signal: &Signal, seen: u64) -> Woken {
    poll_fn(|context| clock.poll_signal(signal, seen, context)).await
}
