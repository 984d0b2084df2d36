//! Virtual time, which stands still while any task is ready, and then jumps to the next instant for
//! which a task waits.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use model::{Clock, Signal, Woken};

use crate::stop::{ABORTED, RUNNING, Stop};

/// The virtual time, and the queue of tasks that wait for an instant. If two wait for the same
/// instant, the one with the lower index is first, so that a run is repeatable.
#[derive(Default)]
pub(crate) struct Agenda {
    now_ns: Cell<u64>,
    acting: Cell<u32>,
    waiting: RefCell<BTreeSet<(u64, u32)>>,
}

impl Agenda {
    pub(crate) fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

    /// Sets which task is polled next. Waits that the task begins are entered in the queue under
    /// the index `client`.
    pub(crate) fn act(&self, client: u32) {
        self.acting.set(client);
    }

    /// Returns the next instant in the queue, in nanoseconds, and the index of the task that waits
    /// for it; `None` if no task waits.
    pub(crate) fn next(&self) -> Option<(u64, u32)> {
        self.waiting.borrow().first().copied()
    }

    /// Removes the next task from the queue, advances the time to the instant for which the task
    /// waits, and returns its index; `None` if no task waits.
    pub(crate) fn advance(&self) -> Option<u32> {
        let (instant_ns, client) = self.waiting.borrow_mut().pop_first()?;
        self.go_to(instant_ns);
        Some(client)
    }

    /// Advances the virtual time to `instant_ns`. Does nothing if that instant has passed.
    pub(crate) fn go_to(&self, instant_ns: u64) {
        self.now_ns.set(self.now_ns.get().max(instant_ns));
    }

    /// Removes all waiting tasks from the queue and returns their indexes in order, so that all can
    /// be polled again.
    pub(crate) fn take_all(&self) -> Vec<u32> {
        let all = std::mem::take(&mut *self.waiting.borrow_mut());
        let mut clients: Vec<u32> = all.into_iter().map(|(_, client)| client).collect();
        clients.sort_unstable();
        clients
    }
}

/// Clock of virtual time, shared by all tasks of a simulated run.
pub(crate) struct SimulatedClock {
    agenda: Rc<Agenda>,
    stop: Arc<Stop>,
}

impl SimulatedClock {
    pub(crate) fn new(agenda: Rc<Agenda>, stop: Arc<Stop>) -> SimulatedClock {
        SimulatedClock { agenda, stop }
    }

    fn wait(&self, instant_ns: u64, stopped: bool) -> Poll<Woken> {
        if self.now() >= instant_ns {
            return Poll::Ready(Woken::Due);
        }
        if stopped {
            return Poll::Ready(Woken::Stopped);
        }
        let entry = (instant_ns, self.agenda.acting.get());
        self.agenda.waiting.borrow_mut().insert(entry);
        Poll::Pending
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> u64 {
        self.agenda.now_ns()
    }

    fn poll_until(&self, instant_ns: u64, _context: &mut Context<'_>) -> Poll<Woken> {
        self.wait(instant_ns, self.stop.word() != RUNNING)
    }

    fn poll_signal(&self, signal: &Signal, seen: u64, context: &mut Context<'_>) -> Poll<Woken> {
        self.stop.poll_signal(signal, seen, context)
    }

    fn poll_through(&self, instant_ns: u64, _context: &mut Context<'_>) -> Poll<Woken> {
        self.wait(instant_ns, self.stop.word() == ABORTED)
    }
}
