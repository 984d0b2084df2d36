//! The state word of a run, which wakes all waiting code when the run stops, and the measured
//! window.
//!
//! Threads sleep on the word itself (a futex with an absolute deadline); event loops sleep on a
//! timer that is made to expire when the word changes. Not here: decisions to stop (coordinator,
//! app).

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use model::{NS_PER_MS, Signal, StopReason, Woken};
use rustix::thread::futex;
use rustix::time::{Itimerspec, TimerfdTimerFlags, Timespec, timerfd_settime};

/// Value of a run's state word while the run goes on.
pub(crate) const RUNNING: u32 = 0;
/// Value of a run's state word when no new transactions may begin.
pub(crate) const DRAINING: u32 = 1;
/// Value of a run's state word when running transactions are cut off.
pub(crate) const ABORTED: u32 = 2;

/// Time from the decision to end the load early to the end itself, in nanoseconds, so that waiting
/// clients learn of the end in advance.
pub(crate) const AHEAD_NS: u64 = NS_PER_MS;

/// Value for an instant that is not known yet, or never comes.
pub(crate) const NEVER: u64 = u64::MAX;

/// Handle to stop a run from any thread; it also has the measured window of the run.
pub struct Stop {
    word: AtomicU32,
    /// Number of times that the user has asked to stop. The coordinator reads it and acts on it.
    asked: Arc<AtomicU32>,
    /// Whether any code has seen the user's request to stop.
    is_heard: Arc<AtomicBool>,
    measure_start_ns: AtomicU64,
    end_ns: AtomicU64,
    reason: Mutex<Option<StopReason>>,
    has_reason: AtomicBool,
    /// Reason why the load cannot continue, upon which the coordinator ends the run as failed;
    /// `None` if there is none.
    failure: Mutex<Option<String>>,
    timers: Mutex<Vec<Arc<OwnedFd>>>,
    /// Signals for which clients and producers wait, raised when the run stops.
    signals: Mutex<Vec<Arc<Signal>>>,
    /// Number of other processes of the run whose load is not over.
    n_others: AtomicU32,
    /// Longest measured phase of the other processes, in nanoseconds.
    others_measured_ns: AtomicU64,
    /// Number of clients that have ended their work before the load was over.
    n_over: AtomicU32,
    /// Time by which the clock of this host is ahead of that of the run's host, in nanoseconds.
    clock_ahead_ns: AtomicI64,
}

impl Default for Stop {
    fn default() -> Stop {
        Stop {
            word: AtomicU32::new(RUNNING),
            asked: Arc::default(),
            is_heard: Arc::default(),
            measure_start_ns: AtomicU64::new(NEVER),
            end_ns: AtomicU64::new(NEVER),
            reason: Mutex::new(None),
            has_reason: AtomicBool::new(false),
            failure: Mutex::new(None),
            timers: Mutex::new(Vec::new()),
            signals: Mutex::new(Vec::new()),
            n_others: AtomicU32::new(0),
            others_measured_ns: AtomicU64::new(0),
            n_over: AtomicU32::new(0),
            clock_ahead_ns: AtomicI64::new(0),
        }
    }
}

impl Stop {
    /// Creates the `Stop` of another run that follows. A request of the user to stop counts for
    /// that run as well as for this one.
    pub fn of_next(&self) -> Stop {
        let (asked, is_heard) = (Arc::clone(&self.asked), Arc::clone(&self.is_heard));
        Stop { asked, is_heard, ..Stop::default() }
    }

    /// Asks the run to end: the first call drains it, the second cuts off running transactions. May
    /// be called in a handler of a process signal.
    pub fn ask(&self) {
        self.asked.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns how often [`Stop::ask`] was called, and marks the request as seen.
    pub fn asked(&self) -> u32 {
        let asked = self.asked.load(Ordering::SeqCst);
        if asked > 0 {
            self.is_heard.store(true, Ordering::SeqCst);
        }
        asked
    }

    /// Whether any code has seen the request to stop. Code that is blocked in a system call has
    /// not.
    pub fn is_heard(&self) -> bool {
        self.is_heard.load(Ordering::SeqCst)
    }

    /// Whether the user has asked the run to end. Marks the request as seen.
    pub fn is_asked(&self) -> bool {
        self.asked() > 0
    }

    /// Ends the run because its load cannot continue, for a reason outside of this process. Only
    /// the first reason is kept.
    pub fn fail(&self, why: String) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    /// Keeps a run that ends after a number of transactions going until [`Stop::other_has_ended`]
    /// was called for each of `n_others` other processes of the run.
    pub fn await_others(&self, n_others: u32) {
        self.n_others.store(n_others, Ordering::SeqCst);
    }

    /// Records that the load of another client process of the run is over, and how long its
    /// measured phase was, in nanoseconds.
    pub fn other_has_ended(&self, measured_ns: u64) {
        self.others_measured_ns.fetch_max(measured_ns, Ordering::SeqCst);
        let less = |n_others: u32| n_others.checked_sub(1);
        // Does nothing if the run waits for no other process.
        let _ = self.n_others.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
    }

    /// Makes the clocks of clients tell the time of day of another host, whose clock this one is
    /// ahead of by `ahead_ns` nanoseconds. Instants of the run do not change.
    pub fn set_clock_ahead(&self, ahead_ns: i64) {
        self.clock_ahead_ns.store(ahead_ns, Ordering::Release);
    }

    /// Converts a time of day by this host's clock into that by the clock of the run's host, both
    /// in nanoseconds since 1970.
    pub(crate) fn common_unix_ns(&self, unix_ns: u64) -> u64 {
        unix_ns.saturating_add_signed(-self.clock_ahead_ns.load(Ordering::Acquire))
    }

    pub(crate) fn awaits_others(&self) -> bool {
        self.n_others.load(Ordering::SeqCst) > 0
    }

    pub(crate) fn others_measured_ns(&self) -> u64 {
        self.others_measured_ns.load(Ordering::SeqCst)
    }

    /// Ends the run just after `now_ns`, because the arrival queue of another client process is
    /// full.
    pub fn other_queue_is_full(&self, now_ns: u64) {
        self.drain(|| now_ns + AHEAD_NS, StopReason::QueueFull);
    }

    /// Whether the run ends early because an arrival queue is full.
    pub fn is_queue_full(&self) -> bool {
        self.reason() == Some(StopReason::QueueFull)
    }

    /// Whether [`Stop::fail`] was called, so that the run ends as failed.
    pub fn has_failed(&self) -> bool {
        self.failure().is_some()
    }

    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn word(&self) -> u32 {
        self.word.load(Ordering::Acquire)
    }

    pub(crate) fn futex(&self) -> &AtomicU32 {
        &self.word
    }

    /// Counts a client that has ended its work before the load is over.
    pub(crate) fn client_is_over(&self) {
        self.n_over.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns how many clients have ended their work before the load was over.
    pub(crate) fn n_over(&self) -> u32 {
        self.n_over.load(Ordering::Acquire)
    }

    /// Whether the load is over at `now_ns`, so that no new transactions may begin.
    pub(crate) fn is_over(&self, now_ns: u64) -> bool {
        self.word() != RUNNING || now_ns >= self.end_ns()
    }

    pub(crate) fn is_aborted(&self) -> bool {
        self.word() == ABORTED
    }

    pub(crate) fn set_window(&self, measure_start_ns: u64, end_ns: u64) {
        self.measure_start_ns.store(measure_start_ns, Ordering::SeqCst);
        self.end_ns.fetch_min(end_ns, Ordering::SeqCst);
    }

    pub(crate) fn measure_start_ns(&self) -> u64 {
        self.measure_start_ns.load(Ordering::Relaxed)
    }

    /// Returns the end of the measured window, in nanoseconds of the run's clock. [`NEVER`] in a
    /// run that ends after a number of transactions, until that number is reached.
    pub(crate) fn end_ns(&self) -> u64 {
        self.end_ns.load(Ordering::Relaxed)
    }

    /// Begins the drain, with `reason` as the reason of the end unless there is one already. The
    /// measured window ends at `end_ns` if it has not ended before.
    ///
    /// The order of steps matters, because this thread may lose its CPU between any two of them. A
    /// closed-load client reads the clock and then `has_reason`; therefore `end_ns` reads the clock
    /// only after the reason is set, so that no such client starts after the end. A client that
    /// waits for an instant reads the end once the change of the state word wakes it, so that word
    /// is set last.
    pub(crate) fn drain(&self, end_ns: impl FnOnce() -> u64, reason: StopReason) {
        let mut first = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none() {
            *first = Some(reason);
            self.has_reason.store(true, Ordering::SeqCst);
            self.end_ns.fetch_min(end_ns(), Ordering::SeqCst);
        }
        drop(first);
        self.raise(DRAINING);
    }

    /// Cuts off running transactions and wakes all waiting code.
    pub(crate) fn abort(&self) {
        self.raise(ABORTED);
    }

    pub(crate) fn has_reason(&self) -> bool {
        self.has_reason.load(Ordering::Acquire)
    }

    /// Returns the reason why the load ended early; `None` if it did not.
    pub(crate) fn reason(&self) -> Option<StopReason> {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds the timer of an event loop. The timer expires at once when the run begins to drain or
    /// is cut off, which wakes the loop.
    pub(crate) fn watch(&self, timer: Arc<OwnedFd>) {
        self.timers.lock().unwrap_or_else(PoisonError::into_inner).push(timer);
    }

    /// Adds a signal for which clients or producers wait. The signal is raised when the run begins
    /// to drain or is cut off.
    pub(crate) fn watch_signal(&self, signal: Arc<Signal>) {
        self.signals.lock().unwrap_or_else(PoisonError::into_inner).push(signal);
    }

    /// Raises all signals, so that waiting clients and producers check whether the load is over.
    pub(crate) fn raise_signals(&self) {
        for signal in self.signals.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            signal.raise();
        }
    }

    /// Returns why a wait for a signal ended: [`Woken::Stopped`] if the run stops, otherwise
    /// [`Woken::Due`], because the signal was raised.
    pub(crate) fn woken(&self) -> Woken {
        if self.word() == RUNNING { Woken::Due } else { Woken::Stopped }
    }

    /// Polls, on an event loop or in virtual time, until the count of `signal` differs from `seen`.
    /// Ready with [`Woken::Stopped`] if the run drains or is cut off, now or during the wait.
    pub(crate) fn poll_signal(
        &self,
        signal: &Signal,
        seen: u64,
        context: &mut Context<'_>,
    ) -> Poll<Woken> {
        if self.word() != RUNNING {
            return Poll::Ready(Woken::Stopped);
        }
        signal.poll(seen, context).map(|()| self.woken())
    }

    fn raise(&self, level: u32) {
        self.word.fetch_max(level, Ordering::SeqCst);
        // A failure is harmless, since sleepers wake at their deadlines anyway.
        let _ = futex::wake(&self.word, futex::Flags::PRIVATE, i32::MAX as u32);
        for timer in self.timers.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            fire(timer);
        }
        self.raise_signals();
    }
}

/// Makes a timer of the kernel expire at once.
fn fire(timer: &OwnedFd) {
    let soon = Itimerspec {
        it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
        it_value: Timespec { tv_sec: 0, tv_nsec: 1 },
    };
    let _ = timerfd_settime(timer.as_fd(), TimerfdTimerFlags::empty(), &soon);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_read_after_the_reason_is_set_and_before_the_word_wakes_anybody() {
        let stop = Stop::default();
        stop.set_window(0, 100);
        let end_ns = || {
            assert!(stop.has_reason(), "a closed client may still start after this instant");
            assert_eq!((stop.word(), stop.end_ns()), (RUNNING, 100), "woken before the end is set");
            42
        };
        stop.drain(end_ns, StopReason::Interrupted);
        assert_eq!((stop.end_ns(), stop.reason()), (42, Some(StopReason::Interrupted)));
        assert!(stop.is_over(7));
        // The reason of the first drain, and its end of the window, remain.
        stop.drain(|| 9, StopReason::QueueFull);
        assert_eq!((stop.end_ns(), stop.reason()), (42, Some(StopReason::Interrupted)));
    }

    #[test]
    fn a_request_is_heard_when_somebody_has_seen_it() {
        let stop = Stop::default();
        assert!(!stop.is_asked() && !stop.is_heard());
        stop.ask();
        assert!(!stop.is_heard(), "nobody has looked since");
        assert!(stop.of_next().is_asked());
        assert!(stop.is_heard(), "those of the next run look at the same");
    }
}
