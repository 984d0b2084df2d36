//! A connection together with its prepared statements, which live as long as the connection.
//!
//! Statements are found by number and not by text, since rusqlite's cache hashes and copies the
//! text each time. Not here: when a statement may run (write_permit).

use model::{DbError, Reply, StatementKind, Visit};
use rusqlite::{Connection, PrepFlags, ToSql};

use super::db_errors::db_error;
use super::sql::BEGIN;
use super::values::Visited;
use crate::embedded::wrong_number;
use crate::kept::{KEPT_MOST, Kept};

self_cell::self_cell!(
    /// A connection with its prepared statements, which borrow the connection.
    pub(super) struct Connected {
        owner: Connection,
        #[covariant]
        dependent: Prepared,
    }
);

pub(super) struct Prepared<'c> {
    pub(super) begin: rusqlite::Statement<'c>,
    pub(super) begin_read_only: rusqlite::Statement<'c>,
    pub(super) commit: rusqlite::Statement<'c>,
    pub(super) rollback: rusqlite::Statement<'c>,
    /// Prepared statements by number, each from its first use on, since its tables may not exist
    /// earlier.
    pub(super) ready: Kept<Ready<'c>>,
}

impl<'c> Prepared<'c> {
    /// Prepares the statements that begin and end transactions, and makes slots for the
    /// `n_statements` that the session may execute.
    pub(super) fn new(
        connection: &'c Connection,
        n_statements: usize,
    ) -> Result<Prepared<'c>, DbError> {
        let prepare = |sql| prepare(connection, sql);
        Ok(Prepared {
            begin: prepare(BEGIN.writes)?,
            begin_read_only: prepare(BEGIN.reads)?,
            commit: prepare("COMMIT")?,
            rollback: prepare("ROLLBACK")?,
            ready: Kept::new(n_statements, KEPT_MOST),
        })
    }

    /// Returns the prepared statement at `index`. Panics if it is not prepared yet.
    pub(super) fn at(&mut self, index: usize) -> &mut Ready<'c> {
        &mut self.ready[index]
    }
}

fn prepare<'c>(connection: &'c Connection, sql: &str) -> Result<rusqlite::Statement<'c>, DbError> {
    let flags = PrepFlags::SQLITE_PREPARE_PERSISTENT;
    connection.prepare_with_flags(sql, flags).map_err(db_error)
}

/// A prepared statement, and whether it writes or returns rows.
pub(super) struct Ready<'c> {
    statement: rusqlite::Statement<'c>,
    /// Kind (such as read or write) with which the statement was declared and is counted.
    pub(super) kind: StatementKind,
    /// Whether the statement may change the database, as SQLite derives from its SQL, whatever its
    /// declared kind is.
    pub(super) writes: bool,
    pub(super) has_rows: bool,
    n_values: usize,
}

impl<'c> Ready<'c> {
    /// Prepares a statement for repeated use.
    pub(super) fn new(
        connection: &'c Connection,
        kind: StatementKind,
        sql: &str,
    ) -> Result<Ready<'c>, DbError> {
        Ok(Ready::from_statement(prepare(connection, sql)?, kind))
    }

    /// Prepares a statement for a single use.
    pub(super) fn once(
        connection: &'c Connection,
        kind: StatementKind,
        sql: &str,
    ) -> Result<Ready<'c>, DbError> {
        let flags = PrepFlags::default();
        Ok(Ready::from_statement(
            connection.prepare_with_flags(sql, flags).map_err(db_error)?,
            kind,
        ))
    }

    /// Creates a [`Ready`] from a statement that SQLite has prepared.
    pub(super) fn from_statement(
        statement: rusqlite::Statement<'c>,
        kind: StatementKind,
    ) -> Ready<'c> {
        Ready {
            kind,
            writes: !statement.readonly(),
            has_rows: statement.column_count() > 0,
            n_values: statement.parameter_count(),
            statement,
        }
    }

    /// Binds values to all placeholders of the statement. Fails if the number of values is wrong.
    #[inline]
    pub(super) fn bind<T: ToSql>(
        &mut self,
        values: impl ExactSizeIterator<Item = T>,
    ) -> Result<(), DbError> {
        if values.len() != self.n_values {
            return Err(wrong_number(self.n_values, values.len()));
        }
        for (index, value) in values.enumerate() {
            self.statement.raw_bind_parameter(index + 1, value).map_err(db_error)?;
        }
        Ok(())
    }

    /// Runs the statement to its end with the values that were bound last, and passes its rows to
    /// `visit`.
    #[inline]
    pub(super) fn run(
        &mut self,
        connection: &Connection,
        result_set: usize,
        visit: Visit<'_>,
    ) -> Result<Reply, DbError> {
        let mut reply = Reply::default();
        let mut rows = self.statement.raw_query();
        while let Some(row) = rows.next().map_err(db_error)? {
            reply.n_rows += 1;
            visit(&Visited { row, result_set })?;
        }
        drop(rows);
        if self.kind == StatementKind::Write && self.writes {
            reply.n_affected = connection.changes();
        }
        Ok(reply)
    }
}
