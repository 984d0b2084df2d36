//! The clock of an event loop: one kernel timer for all tasks of the loop that wait for an instant.
//!
//! With `io_uring` that is the timer of the loop. With `epoll` it is a descriptor, which the loop
//! watches like any other. The descriptor also wakes the loop when the run stops.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use event_loop::{Timer, Watched};
use model::{Clock, Signal, Woken};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use super::Origin;
use crate::stop::{ABORTED, NEVER, RUNNING, Stop};

/// Clock of real time for all tasks on one event loop.
pub(crate) struct LoopClock {
    origin: Origin,
    stop: Arc<Stop>,
    timer: Arc<OwnedFd>,
    /// Timer of the loop, in place of the descriptor; `None` if it has none.
    loop_timer: Option<Timer>,
    /// Wakers of waiting tasks, by the instant for which they wait and by order of registration.
    waiting: RefCell<BTreeMap<(u64, u64), Waker>>,
    registered: Cell<u64>,
    armed_ns: Cell<u64>,
}

impl LoopClock {
    /// Creates the clock of this thread's event loop. Fails if the kernel refuses a timer.
    pub(crate) fn new(origin: Origin, stop: Arc<Stop>) -> io::Result<Rc<LoopClock>> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = Arc::new(timerfd_create(TimerfdClockId::Monotonic, flags)?);
        stop.watch(Arc::clone(&timer));
        Ok(Rc::new(LoopClock {
            origin,
            stop,
            timer,
            loop_timer: Timer::of_this_loop(),
            waiting: RefCell::default(),
            registered: Cell::new(0),
            armed_ns: Cell::new(NEVER),
        }))
    }

    /// Wakes waiting tasks when their instants have come or the run is stopped. Spawned once per
    /// loop; returns only if the timer cannot be watched.
    pub(crate) async fn serve(self: Rc<Self>) -> io::Result<()> {
        let watched = Watched::new(Arc::clone(&self.timer))?;
        let mut seen = RUNNING;
        loop {
            let word = self.stop.word();
            if word != seen {
                seen = word;
                self.wake_before(NEVER);
            }
            self.wake_before(self.now());
            self.arm();
            // Without this check, a change of the stop word before the timer was set would be
            // missed.
            if self.stop.word() != seen {
                continue;
            }
            poll_fn(|context| {
                let expired = |timer: &Timer| timer.poll_expired(context);
                match self.loop_timer.as_ref().map_or(Poll::Pending, expired) {
                    Poll::Ready(()) => Poll::Ready(()),
                    Poll::Pending => {
                        watched.poll_readable(context).map(|()| self.take_expiration(&watched))
                    }
                }
            })
            .await;
            self.armed_ns.set(NEVER);
        }
    }

    /// Takes the expiration of the descriptor, so that it is not readable any more.
    fn take_expiration(&self, watched: &Watched) {
        let mut expirations = [0u8; 8];
        // A failed read is no error: the timer was set again in the meantime.
        let _ = rustix::io::read(self.timer.as_fd(), &mut expirations);
        watched.clear_readable();
    }

    fn wake_before(&self, instant_ns: u64) {
        loop {
            let due = {
                let mut waiting = self.waiting.borrow_mut();
                match waiting.first_entry() {
                    Some(first) if first.key().0 <= instant_ns => first.remove(),
                    _ => return,
                }
            };
            due.wake();
        }
    }

    fn arm(&self) {
        let first = self.waiting.borrow().first_key_value().map(|(key, _)| key.0);
        if let Some(instant_ns) = first {
            self.set_timer(instant_ns);
        }
    }

    fn set_timer(&self, instant_ns: u64) {
        if instant_ns >= self.armed_ns.get() {
            return;
        }
        self.armed_ns.set(instant_ns);
        let at = self.origin.timespec(instant_ns);
        if let Some(timer) = &self.loop_timer {
            timer.set(at);
            return;
        }
        let value = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: at };
        timerfd_settime(self.timer.as_fd(), TimerfdTimerFlags::ABSTIME, &value)
            .expect("an instant after the origin is a valid time");
    }

    fn wait(&self, instant_ns: u64, stopped: bool, context: &mut Context<'_>) -> Poll<Woken> {
        if self.now() >= instant_ns {
            return Poll::Ready(Woken::Due);
        }
        if stopped {
            return Poll::Ready(Woken::Stopped);
        }
        let number = self.registered.get();
        self.registered.set(number + 1);
        self.waiting.borrow_mut().insert((instant_ns, number), context.waker().clone());
        self.set_timer(instant_ns);
        Poll::Pending
    }
}

impl Clock for LoopClock {
    fn now(&self) -> u64 {
        self.origin.elapsed_ns()
    }

    fn origin_unix_ns(&self) -> u64 {
        self.stop.common_unix_ns(self.origin.unix_ns())
    }

    fn poll_until(&self, instant_ns: u64, context: &mut Context<'_>) -> Poll<Woken> {
        self.wait(instant_ns, self.stop.word() != RUNNING, context)
    }

    fn poll_signal(&self, signal: &Signal, seen: u64, context: &mut Context<'_>) -> Poll<Woken> {
        self.stop.poll_signal(signal, seen, context)
    }

    fn poll_through(&self, instant_ns: u64, context: &mut Context<'_>) -> Poll<Woken> {
        self.wait(instant_ns, self.stop.word() == ABORTED, context)
    }
}
