//! Handles with which the sessions of a client are cancelled: at the end of a run, or because one
//! of its transactions has exceeded its time limit.
//!
//! Not here: when the coordinator looks for exceeded limits (coordinator), and new sessions in
//! place of cancelled ones (client_loop).

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use model::{Cancel, Clock, Conversation, DbError, Done};

use crate::stop::NEVER;

/// Handle that cancels all sessions of a client, including those that it opens later, and ends
/// transactions that exceed their time limit.
pub(crate) struct ClientCancels {
    held: Mutex<Held>,
    /// Whether the client runs in virtual time, where no other thread can watch it.
    is_virtual: bool,
}

struct Held {
    is_cancelled: bool,
    sessions: Vec<Arc<dyn Cancel>>,
    /// Instant at which the running transaction exceeds its limit, in nanoseconds of the run's
    /// clock; [`NEVER`] if it has none.
    limit_ns: u64,
    /// Whether the running transaction was cancelled because it exceeded its limit.
    has_expired: bool,
}

impl ClientCancels {
    pub(crate) fn new(is_virtual: bool) -> ClientCancels {
        let (is_cancelled, sessions) = (false, Vec::new());
        let held = Held { is_cancelled, sessions, limit_ns: NEVER, has_expired: false };
        ClientCancels { held: Mutex::new(held), is_virtual }
    }

    pub(crate) fn add(&self, cancel: Arc<dyn Cancel>) {
        let mut held = self.lock();
        if held.is_cancelled {
            cancel.cancel();
        }
        // Closed sessions are removed, so the list does not grow however often a client opens new
        // ones.
        held.sessions.retain(|other| Arc::strong_count(other) > 1);
        held.sessions.push(cancel);
    }

    /// Cancels all sessions of the client, also those that it opens later.
    pub(crate) fn cancel(&self) {
        let mut held = self.lock();
        held.is_cancelled = true;
        held.sessions.iter().for_each(|cancel| cancel.cancel());
    }

    /// Cancels the sessions of the client if its transaction has exceeded its limit at `now_ns`.
    /// Returns the instant at which the running transaction will exceed it; [`NEVER`] if it cannot.
    pub(crate) fn expire(&self, now_ns: u64) -> u64 {
        let mut held = self.lock();
        if held.limit_ns > now_ns {
            return held.limit_ns;
        }
        held.limit_ns = NEVER;
        held.has_expired = true;
        held.sessions.iter().for_each(|cancel| cancel.cancel());
        NEVER
    }

    /// Executes a transaction that is cancelled when it exceeds the limit at `limit_ns`, in
    /// nanoseconds of the run's clock. `None` if it was cancelled: its sessions cannot be used any
    /// more.
    pub(crate) async fn within(
        &self,
        limit_ns: u64,
        clock: &dyn Clock,
        mut conversation: Conversation<'_>,
    ) -> Option<Result<Done, DbError>> {
        if self.is_virtual {
            return poll_fn(|context| match conversation.as_mut().poll(context) {
                Poll::Ready(said) => Poll::Ready(Some(said)),
                Poll::Pending => clock.poll_through(limit_ns, context).map(|_| None),
            })
            .await;
        }
        self.lock().limit_ns = limit_ns;
        let said = conversation.await;
        let mut held = self.lock();
        held.limit_ns = NEVER;
        (!std::mem::take(&mut held.has_expired)).then_some(said)
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
