//! Virtual time: it stands while any task is ready, and then jumps to the next instant.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use model::{Clock, Signal, Woken};

use crate::stop::{ABORTED, RUNNING, Stop};

/// The queue of waiting tasks. Ties in time are broken by the index, so that a run is repeatable.
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

    /// Sets the task that is polled next, under which its waits are entered.
    pub(crate) fn act(&self, client: u32) {
        self.acting.set(client);
    }

    /// Returns time and index of the next entry, if there is one.
    pub(crate) fn next(&self) -> Option<(u64, u32)> {
        self.waiting.borrow().first().copied()
    }

    /// Takes the next entry and advances to its time.
    pub(crate) fn advance(&self) -> Option<u32> {
        let (instant_ns, client) = self.waiting.borrow_mut().pop_first()?;
        self.go_to(instant_ns);
        Some(client)
    }

    /// Advances to `instant_ns`, never backwards.
    pub(crate) fn go_to(&self, instant_ns: u64) {
        self.now_ns.set(self.now_ns.get().max(instant_ns));
    }

    /// Takes all waiting tasks, in order of their indexes, to be polled again.
    pub(crate) fn take_all(&self) -> Vec<u32> {
        let all = std::mem::take(&mut *self.waiting.borrow_mut());
        let mut clients: Vec<u32> = all.into_iter().map(|(_, client)| client).collect();
        clients.sort_unstable();
        clients
    }
}

/// The clock of all tasks in a simulation.
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
