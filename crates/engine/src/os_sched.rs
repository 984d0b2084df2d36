//! Asks the kernel's scheduler to wake client threads in time, and reports what it granted.
//!
//! The timer of a sleeping thread may be late by its slack (50 µs by default), and a woken thread
//! waits for its turn on a CPU, which a short scheduling slice makes sooner. The kernel may deny
//! both; whether it did is stored as a fact of the run.

use std::num::NonZeroU64;

use model::NS_PER_MS;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Scheduling privileges that the kernel granted to a client thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    /// Whether a timer slack of 1 ns was set.
    pub timer_slack: bool,
    /// Whether a scheduling slice of 0.1 ms was set (`sched_setattr(2)`, Linux 6.12 and later);
    /// `None` if none was requested, because no client waits for an instant.
    pub short_slice: Option<bool>,
    /// Whether the thread of an event loop was pinned to a CPU.
    pub pinned: bool,
    /// Name of the kernel's interface by which the event loop waits; `None` on threads.
    pub event_loop: Option<&'static str>,
}

const SLICE_NS: u64 = NS_PER_MS / 10;

/// Asks the kernel for exact timers and, with `keeps_time`, for a short scheduling slice of the
/// calling thread. `keeps_time` is false in closed load, which has no due times: there a short
/// slice would only let the server preempt a client that is about to send.
pub(crate) fn prepare_thread(keeps_time: bool) -> Granted {
    let slack = NonZeroU64::new(1).expect("one is not zero");
    Granted {
        timer_slack: rustix::thread::set_current_timer_slack(Some(slack)).is_ok(),
        short_slice: keeps_time.then(ask_for_short_slice),
        pinned: false,
        event_loop: None,
    }
}

/// Pins the calling thread to one CPU, the `index`-th of those that this process may use, if there
/// are exactly `n_threads` of them. Returns whether it did. A server thread on the same machine
/// that this thread wakes then runs on the same CPU, which saves an interrupt of another CPU per
/// query.
pub(crate) fn pin_thread(index: usize, n_threads: usize) -> bool {
    let Ok(allowed) = sched_getaffinity(None) else { return false };
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect();
    if cpus.len() != n_threads {
        return false;
    }
    let mut own = CpuSet::new();
    own.set(cpus[index]);
    sched_setaffinity(None, &own).is_ok()
}

/// `struct sched_attr` of `sched_setattr(2)`, its first version.
#[repr(C)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

#[allow(unsafe_code)]
fn ask_for_short_slice() -> bool {
    let attributes = Attributes {
        size: size_of::<Attributes>() as u32,
        policy: 0,
        flags: 0,
        nice: 0,
        priority: 0,
        runtime: SLICE_NS,
        deadline: 0,
        period: 0,
    };
    // SAFETY: the kernel reads `size` bytes of a struct that lives through the call; thread 0 is
    // the caller, and no memory of ours is written.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    result == 0
}
