//! Permission for a session to run a statement: the session is not cancelled, its transaction is
//! not read-only if the statement writes, and the queue has granted access.
//!
//! Access is taken before SQLite is called, and given back when SQLite has left the transaction,
//! for whatever reason. Not here: the queue.

use std::sync::Arc;

use model::{DbError, DbErrorKind};
use rusqlite::Connection;

use super::cancel::Handle;
use super::opening::{Busy, Shared};
use super::queue::Turn;
use crate::embedded::cancelled;

/// A session's access to the database, as granted by the queue, and the state of its transaction.
/// Both decide whether a statement may run.
pub(super) struct WritePermit {
    shared: Arc<Shared>,
    handle: Arc<Handle>,
    held: Option<Turn>,
    /// Whether statements that only read may run without queueing for access.
    reads_freely: bool,
    /// Whether the session is in a transaction, so that it already has access to the database.
    in_transaction: bool,
    /// Whether the session's open transaction is read-only.
    read_only: bool,
}

impl WritePermit {
    pub(super) fn new(shared: Arc<Shared>, handle: Arc<Handle>) -> WritePermit {
        let queues = shared.options.busy == Busy::Queue;
        let reads_freely = !(queues && shared.location.is_memory());
        let (held, in_transaction, read_only) = (None, false, false);
        WritePermit { shared, handle, held, reads_freely, in_transaction, read_only }
    }

    /// Waits in the queue until a statement may run; `writes` says that the statement may change
    /// data. Fails if the session is cancelled, or if the statement writes in a read-only
    /// transaction.
    #[inline]
    pub(super) fn acquire(&mut self, connection: &Connection, writes: bool) -> Result<(), DbError> {
        let is_free = match writes {
            true => self.in_transaction && !self.read_only,
            false => self.in_transaction || self.reads_freely,
        };
        match is_free && !self.handle.is_cancelled() {
            true => Ok(()),
            false => self.queue_up(connection, writes),
        }
    }

    fn queue_up(&mut self, connection: &Connection, writes: bool) -> Result<(), DbError> {
        if self.handle.is_cancelled() {
            return Err(cancelled());
        }
        if writes && self.read_only {
            let message = "a read-only transaction cannot write";
            return Err(DbError::new(DbErrorKind::ReadOnly, message));
        }
        match self.turn_needed(writes) {
            Some(turn) if self.held != Some(turn) && self.held != Some(Turn::Exclusive) => {
                self.take(connection, turn)
            }
            _ => Ok(()),
        }
    }

    fn turn_needed(&self, writes: bool) -> Option<Turn> {
        if self.shared.options.busy != Busy::Queue {
            return None;
        }
        match writes {
            true => Some(Turn::Exclusive),
            false if self.reads_freely => None,
            false => Some(Turn::Shared),
        }
    }

    fn take(&mut self, connection: &Connection, turn: Turn) -> Result<(), DbError> {
        if self.held.is_some() {
            if !connection.is_autocommit() {
                let message = "a transaction that began by reading cannot write while others read: \
                               begin it as a writing transaction";
                return Err(DbError::new(DbErrorKind::Busy, message));
            }
            self.give_back();
        }
        if !self.shared.queue.enter(turn, &self.handle) {
            return Err(cancelled());
        }
        self.held = Some(turn);
        Ok(())
    }

    /// Stores that a request has begun a transaction, which is read-only if `read_only` is set.
    pub(super) fn begin(&mut self, read_only: bool) {
        (self.in_transaction, self.read_only) = (true, read_only);
    }

    /// Gives back the session's access to the database after a statement, unless a transaction is
    /// open.
    #[inline]
    pub(super) fn settle_statement(&mut self, connection: &Connection) {
        if !self.in_transaction && self.held.is_some() {
            self.settle(connection);
        }
    }

    /// Gives back the session's access to the database after any request, unless a transaction is
    /// still open.
    pub(super) fn settle(&mut self, connection: &Connection) {
        if connection.is_autocommit() {
            (self.in_transaction, self.read_only) = (false, false);
            self.give_back();
        }
    }

    fn give_back(&mut self) {
        if let Some(turn) = self.held.take() {
            self.shared.queue.leave(turn);
        }
    }
}

impl Drop for WritePermit {
    fn drop(&mut self) {
        self.give_back();
    }
}
