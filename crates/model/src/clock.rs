//! The clock interface of all code that waits during a run. Not here: any clock; the engine has
//! three.

use std::future::poll_fn;
use std::task::{Context, Poll};

use crate::{NS_PER_S, Signal};

/// Time of day at the origin of virtual time: 2024-01-01T00:00:00Z, in Unix nanoseconds.
pub const VIRTUAL_ORIGIN_UNIX_NS: u64 = 1_704_067_200 * NS_PER_S;

/// The reason why a wait on a [`Clock`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// The awaited instant has come, or the awaited signal has been raised.
    Due,
    /// The run is stopping, so the wait ended early: the awaited instant may not have come, or the
    /// signal not been raised.
    Stopped,
}

/// The time of a run, in nanoseconds since an origin that all clients of the process share.
pub trait Clock {
    /// Returns the nanoseconds since the clock's origin, which all clients of the process share.
    /// Never goes backwards.
    fn now(&self) -> u64;

    /// Returns the time of day at the clock's origin, in nanoseconds since 1970-01-01T00:00:00Z.
    /// Added to [`now`](Clock::now), it is a time that other processes can compare and that never
    /// jumps. It is a constant in virtual time.
    fn origin_unix_ns(&self) -> u64 {
        VIRTUAL_ORIGIN_UNIX_NS
    }

    /// Waits until the instant `instant_ns`, in nanoseconds since the clock's origin, or returns
    /// [`Woken::Stopped`] as soon as the run stops. Blocks if the client has a thread of its own;
    /// otherwise returns `Pending`, and the task is polled again when the wait is over.
    fn poll_until(&self, instant_ns: u64, context: &mut Context<'_>) -> Poll<Woken>;

    /// Waits until the signal's count differs from `seen`, the count that the caller read last, or
    /// returns [`Woken::Stopped`] as soon as the run stops. Blocks if the client has a thread of
    /// its own; otherwise returns `Pending`, and the task is polled again when the wait is over.
    fn poll_signal(&self, signal: &Signal, seen: u64, context: &mut Context<'_>) -> Poll<Woken> {
        signal.poll(seen, context).map(|()| Woken::Due)
    }

    /// Waits until the instant `instant_ns`, in nanoseconds since the clock's origin, even if the
    /// run stops meanwhile, because transactions that are running then may still finish. Returns
    /// [`Woken::Stopped`] early only when dbdyno cancels the transactions that are still running.
    fn poll_through(&self, instant_ns: u64, context: &mut Context<'_>) -> Poll<Woken>;
}

/// Waits until an instant, in nanoseconds since the clock's origin, or until the run stops: the
/// async form of [`Clock::poll_until`].
pub async fn until(clock: &dyn Clock, instant_ns: u64) -> Woken {
    poll_fn(|context| clock.poll_until(instant_ns, context)).await
}

/// Waits until an instant, in nanoseconds since the clock's origin, even if the run stops; ends
/// early only if running transactions are cancelled. The async form of [`Clock::poll_through`].
pub async fn through(clock: &dyn Clock, instant_ns: u64) -> Woken {
    poll_fn(|context| clock.poll_through(instant_ns, context)).await
}

/// Waits until the signal's count differs from `seen`, the count that the caller read last, or
/// until the run stops: the async form of [`Clock::poll_signal`].
pub async fn raised(clock: &dyn Clock, signal: &Signal, seen: u64) -> Woken {
    poll_fn(|context| clock.poll_signal(signal, seen, context)).await
}
