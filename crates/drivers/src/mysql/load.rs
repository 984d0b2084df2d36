//! Bulk loads into MySQL and MariaDB with LOAD DATA LOCAL, from memory: the server requests a
//! file, and gets the rows of a [`RowSource`].
//!
//! With LOCAL the server turns errors into warnings (a duplicate is skipped, a value that does not
//! fit is changed), since it cannot stop the sender. Here every warning is an error. Not here:
//! when a load may begin (the protocol).

use std::borrow::Cow;

use model::{DbError, DbErrorKind, Reply, Row, RowSource, Table, Value};

use super::db_errors::db_error;
use super::packets::{Done, ServerError, put_packet};
use super::values::put_field;
use crate::net::FLIGHT_BYTES;

/// State of one bulk load by LOAD DATA LOCAL, from its statement to its result.
#[derive(Default)]
pub(super) struct Load {
    table: Cow<'static, str>,
    state: State,
    sequence: u8,
    n_sent: u64,
    n_affected: u64,
    n_warnings: u16,
    has_asked: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// No load is in progress, or the server has not yet asked for the rows.
    #[default]
    Waiting,
    Sending,
    Ended,
}

/// State of a bulk load after [`Load::send`] has written rows.
pub(super) enum LoadStep {
    /// More rows follow, which the next call of [`Load::send`] writes.
    Chunk,
    /// All rows of the load are written, and after them the empty packet that ends the file.
    Last,
}

impl Load {
    /// Starts a bulk load into `table`, and returns the LOAD DATA LOCAL statement to be sent.
    pub(super) fn start(&mut self, table: &Table) -> String {
        *self = Load { table: table.name.clone(), ..Load::default() };
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        // A tab, a backslash, a newline: as numbers, which mean the same in every sql_mode.
        format!(
            "LOAD DATA LOCAL INFILE 'dbdyno' INTO TABLE {} CHARACTER SET utf8mb4 \
             FIELDS TERMINATED BY 0x09 ESCAPED BY 0x5c LINES TERMINATED BY 0x0a ({})",
            table.name,
            columns.join(", ")
        )
    }

    /// Starts sending rows, because the server has asked for the rows of the load, in a packet with
    /// the number `sequence`. The packets with rows continue from this number.
    pub(super) fn begin(&mut self, sequence: u8) {
        self.state = State::Sending;
        self.sequence = sequence.wrapping_add(1);
    }

    /// Whether rows of the load must be sent: the server has asked for them, and some are not
    /// written yet.
    #[inline]
    pub(super) fn is_sending(&self) -> bool {
        self.state == State::Sending
    }

    /// Whether no more rows must be sent: all were written, or the server has rejected the load.
    pub(super) fn is_ended(&self) -> bool {
        self.state == State::Ended
    }

    /// Ends the load without sending more rows, because the server has rejected it.
    pub(super) fn stop(&mut self) {
        self.state = State::Ended;
    }

    /// Appends packets with the next rows of `source` to `out`, until `out` has [`FLIGHT_BYTES`] or
    /// more. Fails if a value cannot be written as text.
    pub(super) fn send(
        &mut self,
        out: &mut Vec<u8>,
        source: &mut dyn RowSource,
    ) -> Result<LoadStep, DbError> {
        if out.len() >= FLIGHT_BYTES {
            return Ok(LoadStep::Chunk);
        }
        let mut has_more = true;
        let mut refused = None;
        let n_before = self.n_sent;
        put_packet(out, self.sequence, |out| {
            while has_more && refused.is_none() && out.len() < FLIGHT_BYTES {
                has_more = source.next(&mut |row| match put_line(out, row) {
                    Ok(()) => self.n_sent += 1,
                    Err(no) => refused = Some(no),
                });
            }
        });
        self.sequence = self.sequence.wrapping_add(1);
        if let Some(no) = refused {
            return Err(self.name(no));
        }
        if has_more {
            return Ok(LoadStep::Chunk);
        }
        // An empty packet ends the file; if no row was left, it is written already.
        if self.n_sent > n_before {
            put_packet(out, self.sequence, |_| {});
        }
        self.state = State::Ended;
        Ok(LoadStep::Last)
    }

    /// Stores the numbers of inserted rows and of warnings from the OK packet that ends the load.
    pub(super) fn finish(&mut self, done: Done) {
        self.state = State::Ended;
        (self.n_affected, self.n_warnings) = (done.n_affected, done.n_warnings);
    }

    /// Whether SHOW WARNINGS must now be sent, because the server reported warnings or inserted
    /// fewer rows than were sent. Returns true at most once per load.
    pub(super) fn must_ask(&mut self) -> bool {
        let has_doubts = self.n_warnings > 0 || self.n_affected != self.n_sent;
        has_doubts && !std::mem::replace(&mut self.has_asked, true)
    }

    /// Converts a row of SHOW WARNINGS to the error with which the load fails. `None` if the row is
    /// malformed, or is only a note and all rows were inserted.
    pub(super) fn read_warning(&self, row: &dyn Row) -> Option<DbError> {
        let [Value::Text(level), Value::Int(code), Value::Text(message)] =
            [row.value(0), row.value(1), row.value(2)]
        else {
            return None;
        };
        if level == "Note" && self.n_affected == self.n_sent {
            return None;
        }
        let code = u16::try_from(code).unwrap_or(0);
        let (sqlstate, message) = (String::new(), message.to_owned());
        Some(db_error(ServerError { code, sqlstate, message }))
    }

    /// Returns the number of loaded rows, after warnings were checked. Fails if the server
    /// inserted fewer rows than were sent.
    pub(super) fn outcome(&self) -> Result<Reply, DbError> {
        if self.n_affected == self.n_sent {
            return Ok(Reply { n_rows: 0, n_affected: self.n_affected });
        }
        // Servers before MySQL 5.7 do not warn when they skip a duplicate.
        let message = format!(
            "{} rows were sent, {} were inserted: the keys of the others already exist",
            self.n_sent, self.n_affected
        );
        Err(DbError::new(DbErrorKind::Duplicate, message))
    }

    /// Adds the name of the loaded table to the message of an error.
    pub(super) fn name(&self, no: DbError) -> DbError {
        no.during(format_args!("loading {}", self.table))
    }
}

fn put_line(out: &mut Vec<u8>, row: &[Value<'_>]) -> Result<(), DbError> {
    for (index, value) in row.iter().enumerate() {
        if index > 0 {
            out.push(b'\t');
        }
        put_field(out, value)?;
    }
    out.push(b'\n');
    Ok(())
}
