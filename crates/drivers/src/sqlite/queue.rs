//! A fair queue of the sessions that write to an SQLite database in this process: first come, first
//! served.
//!
//! SQLite admits one writer and lets the others poll, so that chance decides which is next. Here a
//! session waits until it is granted access (its turn), is woken individually, and grants access to
//! the next one. Readers queue only where SQLite allows no reads beside a writer (a database in
//! memory), and may then read together. Not here: the use of the access, and other processes (the
//! busy handler waits for them).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::cancel::Handle;
use crate::embedded::lock;

/// The access to the database for which a session queues: shared or exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Access to read, which several sessions may have at the same time.
    Shared,
    /// Access to write, while no other session reads or writes.
    Exclusive,
}

#[derive(Default)]
pub(super) struct Queue(Mutex<State>);

#[derive(Default)]
struct State {
    n_readers: usize,
    has_writer: bool,
    /// Sessions in the queue, in order of arrival, with the access that each wants. A session is in
    /// the queue at most once.
    waiting: VecDeque<(Turn, Arc<Handle>)>,
}

impl Queue {
    /// Queues the session, and blocks it until it has the access `turn` to the database. Returns
    /// false if it was cancelled instead.
    pub(super) fn enter(&self, turn: Turn, session: &Arc<Handle>) -> bool {
        let mut state = lock(&self.0);
        if state.waiting.is_empty() && state.admits(turn) {
            state.admit(turn);
            return true;
        }
        session.expect_turn();
        state.waiting.push_back((turn, Arc::clone(session)));
        drop(state);
        if session.wait_for_turn() {
            return true;
        }
        self.abandon(turn, session);
        false
    }

    pub(super) fn leave(&self, turn: Turn) {
        lock(&self.0).leave(turn);
    }

    /// Removes a cancelled session from the queue. If the session was granted access in the
    /// meantime, gives that access back, so that other sessions can have it.
    fn abandon(&self, turn: Turn, session: &Arc<Handle>) {
        let mut state = lock(&self.0);
        let place = state.waiting.iter().position(|(_, waiter)| Arc::ptr_eq(waiter, session));
        match place {
            Some(place) => {
                state.waiting.remove(place);
                state.hand_over();
            }
            None => state.leave(turn),
        }
    }

    /// Returns the number of sessions that wait in the queue, for tests.
    #[cfg(test)]
    pub(super) fn n_waiting(&self) -> usize {
        lock(&self.0).waiting.len()
    }
}

impl State {
    fn admits(&self, turn: Turn) -> bool {
        !self.has_writer && (turn == Turn::Shared || self.n_readers == 0)
    }

    fn admit(&mut self, turn: Turn) {
        assert!(self.admits(turn), "a turn is only given where it is free");
        match turn {
            Turn::Shared => self.n_readers += 1,
            Turn::Exclusive => self.has_writer = true,
        }
    }

    fn leave(&mut self, turn: Turn) {
        match turn {
            Turn::Shared => self.n_readers -= 1,
            Turn::Exclusive => self.has_writer = false,
        }
        self.hand_over();
    }

    /// Grants access to the sessions that have waited longest, if the database is free: to one
    /// writer, or to all readers ahead of the next writer.
    fn hand_over(&mut self) {
        while let Some((turn, _)) = self.waiting.front()
            && self.admits(*turn)
        {
            let (turn, session) = self.waiting.pop_front().expect("the front was there");
            self.admit(turn);
            session.grant_turn();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread::{JoinHandle, yield_now};

    use model::Cancel;

    use super::*;

    struct Scene {
        queue: Arc<Queue>,
        order: Arc<Mutex<Vec<usize>>>,
        threads: Vec<JoinHandle<()>>,
    }

    impl Scene {
        fn new() -> Scene {
            Scene { queue: Arc::default(), order: Arc::default(), threads: Vec::new() }
        }

        /// Starts a thread whose session queues for the access `turn`. Returns the session once it
        /// waits.
        fn wait_in_line(&mut self, name: usize, turn: Turn) -> Arc<Handle> {
            let session = Arc::new(Handle::default());
            let (queue, order) = (Arc::clone(&self.queue), Arc::clone(&self.order));
            let handle = Arc::clone(&session);
            let n_before = self.queue.n_waiting();
            self.threads.push(std::thread::spawn(move || {
                if queue.enter(turn, &handle) {
                    lock(&order).push(name);
                    queue.leave(turn);
                }
            }));
            while self.queue.n_waiting() == n_before {
                yield_now();
            }
            session
        }

        fn order(self) -> Vec<usize> {
            for thread in self.threads {
                thread.join().expect("no panic");
            }
            lock(&self.order).clone()
        }
    }

    #[test]
    fn turns_are_given_in_the_order_of_asking() {
        let mut scene = Scene::new();
        assert!(scene.queue.enter(Turn::Exclusive, &Arc::default()));
        for name in 0..20 {
            scene.wait_in_line(name, Turn::Exclusive);
        }
        scene.queue.leave(Turn::Exclusive);
        assert_eq!(scene.order(), (0..20).collect::<Vec<usize>>());
    }

    #[test]
    fn a_reader_does_not_overtake_a_waiting_writer() {
        let mut scene = Scene::new();
        assert!(scene.queue.enter(Turn::Shared, &Arc::default()));
        scene.wait_in_line(1, Turn::Exclusive);
        scene.wait_in_line(2, Turn::Shared);
        scene.queue.leave(Turn::Shared);
        assert_eq!(scene.order(), [1, 2]);
    }

    #[test]
    fn who_is_cancelled_leaves_the_line_at_once() {
        let mut scene = Scene::new();
        assert!(scene.queue.enter(Turn::Shared, &Arc::default()));
        let writer = scene.wait_in_line(1, Turn::Exclusive);
        scene.wait_in_line(2, Turn::Shared);
        writer.cancel();
        assert_eq!(scene.order(), [2], "the reader behind it goes on");
    }
}
