//! Parser of the replies of MySQL and MariaDB: converts packets to rows and outcomes.
//!
//! Not here: the commands that are sent, and the queue of their expected replies.

use model::{DbError, DbErrorKind, Reply, StatementKind, Visit};

use super::super::columns::{COLUMNS_MAX, Columns};
use super::super::db_errors::{db_error, ends_connection, is_answer, is_of_client};
use super::super::packets::{
    Done, END, ERROR, FILE_WANTED, IN_TRANSACTION, MORE_RESULTS, OK, Reader, broken, read_eof,
    read_error, read_ok, read_prepared,
};
use super::super::rows::{Form, Found, find};
use super::{Expected, MySql, Phase, Whose};
use crate::net::{Input, may_commit_within};

/// The action that a received packet requires: reading the next packet, or sending the rows of a
/// bulk load (`File`).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    More,
    File,
}

impl MySql {
    /// Reads packets of the current request's reply and passes rows to `visit`. Returns true once
    /// the reply is complete, and false if more bytes must be received or rows of a load must be
    /// sent.
    #[inline]
    pub(super) fn read(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        visit: Visit<'_>,
    ) -> Result<bool, DbError> {
        loop {
            let Some(expected) = self.expected.front().copied() else {
                if self.held.is_empty() || self.db_error.is_some() {
                    return Ok(true);
                }
                if let Err(no) = self.release(out) {
                    self.refuse_here(no);
                    return Ok(true);
                }
                return Ok(false);
            };
            let Some(framed) = self.framer.next(input)? else { return Ok(false) };
            let parts = self.framer.take_parts();
            let payload = framed.payload(input, &parts);
            let read = self.read_packet(expected, payload, visit);
            if read? == Wanted::File {
                self.load.begin(framed.sequence);
            }
            framed.consume(input);
            if self.load.is_sending() {
                return Ok(false);
            }
        }
    }

    #[inline]
    fn read_packet(
        &mut self,
        expected: Expected,
        payload: &[u8],
        visit: Visit<'_>,
    ) -> Result<Wanted, DbError> {
        let Some(&first) = payload.first() else { return Err(broken("an empty packet")) };
        if first == ERROR {
            self.read_db_error(expected, payload)?;
            return Ok(Wanted::More);
        }
        match self.phase {
            Phase::Header => return self.read_header(expected, payload, first),
            Phase::Rows if first == END && payload.len() < 0xff_ffff => {
                let is_eof = self.agreed.has_column_end;
                let done = if is_eof { read_eof(payload) } else { read_ok(payload) };
                self.finish(expected, done.ok_or_else(|| broken("a truncated end of rows"))?);
            }
            Phase::Rows => self.read_row(expected, payload, visit)?,
            Phase::Columns(n_left) => {
                self.read_column(payload)?;
                self.phase = match (n_left, self.agreed.has_column_end) {
                    (2.., _) => Phase::Columns(n_left - 1),
                    (_, true) => Phase::ColumnsEnd,
                    (_, false) => self.after_columns(expected),
                };
            }
            Phase::ColumnsEnd if first == END => self.phase = self.after_columns(expected),
            Phase::Values(n_left, n_columns) => {
                self.phase = match (n_left, self.agreed.has_column_end) {
                    (2.., _) => Phase::Values(n_left - 1, n_columns),
                    (_, true) => Phase::ValuesEnd(n_columns),
                    (_, false) => self.after_values(n_columns),
                };
            }
            Phase::ValuesEnd(n_columns) if first == END => {
                self.phase = self.after_values(n_columns);
            }
            Phase::ColumnsEnd | Phase::ValuesEnd(_) => return Err(broken("unfinished columns")),
        }
        Ok(Wanted::More)
    }

    fn read_header(
        &mut self,
        expected: Expected,
        payload: &[u8],
        first: u8,
    ) -> Result<Wanted, DbError> {
        match (expected, first) {
            (Expected::Prepare(place), OK) => self.read_prepared(place, payload)?,
            (Expected::Prepare(_), _) => return Err(broken("an unexpected reply to PREPARE")),
            (_, OK) => {
                let done = read_ok(payload).ok_or_else(|| broken("a truncated OK packet"))?;
                self.finish(expected, done);
            }
            (Expected::Load, FILE_WANTED) if !self.load.is_ended() => return Ok(Wanted::File),
            (_, FILE_WANTED) => return Err(file_wanted()),
            (Expected::Quiet | Expected::Load, _) => return Err(broken("unexpected rows")),
            _ => self.read_width(expected, payload)?,
        }
        Ok(Wanted::More)
    }

    /// Reads the first packet of a result with rows, which contains the number of columns and
    /// whether their definitions follow.
    #[inline]
    fn read_width(&mut self, expected: Expected, payload: &[u8]) -> Result<(), DbError> {
        let mut reader = Reader(payload);
        let n_columns = reader.length().filter(|n| (1..=COLUMNS_MAX).contains(n));
        let n_columns = n_columns.ok_or_else(|| broken("an invalid number of columns"))?;
        let follow = !self.agreed.leaves_out_columns || reader.u8() != Some(0);
        self.whose = match expected {
            // Results of a procedure differ from each other.
            Expected::Call(place) if self.n_sets_of_call == 0 && !self.known[place].is_text => {
                Whose::Statement(place)
            }
            _ => Whose::Nobody,
        };
        self.n_sets_of_call += 1;
        if follow {
            self.columns_of_whose().clear();
            self.phase = Phase::Columns(n_columns as u16);
        } else {
            if self.columns_of_whose().list.len() as u64 != n_columns {
                return Err(broken("column definitions are missing that were never sent"));
            }
            self.phase = Phase::Rows;
        }
        Ok(())
    }

    fn columns_of_whose(&mut self) -> &mut Columns {
        match self.whose {
            Whose::Statement(place) => &mut self.known[place].columns,
            Whose::Nobody => &mut self.columns,
        }
    }

    fn read_column(&mut self, payload: &[u8]) -> Result<(), DbError> {
        self.columns_of_whose().add(payload).ok_or_else(|| broken("a truncated column definition"))
    }

    fn read_prepared(&mut self, place: usize, payload: &[u8]) -> Result<(), DbError> {
        let header =
            read_prepared(payload).ok_or_else(|| broken("a truncated reply to PREPARE"))?;
        self.known[place].prepared(header.id, header.n_values);
        self.whose = Whose::Statement(place);
        self.phase = match header.n_values {
            0 => self.after_values(header.n_columns),
            n_values => Phase::Values(n_values, header.n_columns),
        };
        Ok(())
    }

    /// Returns the kind of packet that follows the parameter definitions of a prepared statement:
    /// its `n_columns` column definitions or, if there are none, the next reply.
    fn after_values(&mut self, n_columns: u16) -> Phase {
        match n_columns {
            0 => self.end_prepare(),
            n_columns => Phase::Columns(n_columns),
        }
    }

    fn after_columns(&mut self, expected: Expected) -> Phase {
        match expected {
            Expected::Prepare(_) => self.end_prepare(),
            _ => Phase::Rows,
        }
    }

    fn end_prepare(&mut self) -> Phase {
        self.expected.pop_front();
        Phase::Header
    }

    #[inline]
    fn read_row(
        &mut self,
        expected: Expected,
        payload: &[u8],
        visit: Visit<'_>,
    ) -> Result<(), DbError> {
        let form = match expected {
            Expected::Call(place) if !self.known[place].is_text => Form::Binary,
            _ => Form::Text,
        };
        let columns = match self.whose {
            Whose::Statement(place) => &self.known[place].columns,
            Whose::Nobody => &self.columns,
        };
        find(payload, &columns.list, form, &mut self.places)
            .ok_or_else(|| broken("a row does not match its columns"))?;
        let (places, result_set) = (&self.places, self.n_sets);
        let row = Found { payload, columns, places, form, result_set };
        if expected == Expected::Warnings {
            if let Some(no) = self.load.read_warning(&row) {
                self.db_error.get_or_insert(no);
            }
        } else if self.db_error.is_none() {
            self.reply.n_rows += 1;
            if let Err(mut no) = visit(&row) {
                if let Expected::Call(place) = expected {
                    no = no.during(self.known[place].statement.name);
                }
                (self.db_error, self.is_unread) = (Some(no), true);
            }
        }
        Ok(())
    }

    /// Handles the packet that ends a result successfully. The reply ends too unless the server
    /// announces further results.
    #[inline]
    fn finish(&mut self, expected: Expected, done: Done) {
        if self.phase == Phase::Rows {
            self.n_sets += 1;
        }
        self.agreed.status = done.status;
        self.phase = Phase::Header;
        match expected {
            Expected::Quiet | Expected::Warnings => {}
            Expected::Load => self.load.finish(done),
            _ if self.db_error.is_none() => self.reply.n_affected += done.n_affected,
            _ => {}
        }
        if done.status & MORE_RESULTS == 0 {
            if self.is_committing && done.status & IN_TRANSACTION == 0 {
                self.has_committed |= self.is_change(expected);
            }
            self.expected.pop_front();
            self.n_sets_of_call = 0;
        }
    }

    #[cold]
    fn read_db_error(&mut self, expected: Expected, payload: &[u8]) -> Result<(), DbError> {
        let error = read_error(payload).ok_or_else(|| broken("a truncated error packet"))?;
        let code = error.code;
        let mut no = db_error(error);
        if let Expected::Prepare(place) | Expected::Call(place) = expected {
            let known = &mut self.known[place];
            no = no.during(known.statement.name);
            // The server does not know the statement's number, or does not know it any more.
            known.doubt(matches!(code, 1243 | 1615 | 2030));
        }
        if ends_connection(code) {
            let may_be_there = self.may_commit_within(expected) && code != 1153;
            self.is_committing &= may_be_there || !is_answer(&no);
            return Err(no);
        }
        // A proxy has lost its own connection to the server.
        if is_of_client(code) {
            return Err(no);
        }
        self.expected.pop_front();
        self.phase = Phase::Header;
        self.n_sets_of_call = 0;
        let is_call = |expected: &&Expected| matches!(expected, Expected::Call(_));
        if self.is_autocommit_off {
            let mut calls = self.expected.iter().filter(is_call);
            self.is_doomed |= calls.any(|call| self.is_change(*call));
        }
        if expected == Expected::Load {
            self.load.stop();
        }
        self.refuse_here(no);
        Ok(())
    }

    /// Whether the command `expected` may have committed a part of its work although a later part
    /// failed, such as in a procedure or a text of several statements.
    fn may_commit_within(&self, expected: Expected) -> bool {
        match expected {
            Expected::Call(place) => may_commit_within(&self.known[place].statement.sql),
            Expected::Text => self.commits_within,
            _ => false,
        }
    }

    fn refuse_here(&mut self, no: DbError) {
        self.drop_held();
        self.db_error.get_or_insert(no);
    }

    /// Drops the executions of a batch that are not sent yet. The parameter types in them never
    /// reach the server, so they are marked to be sent again.
    pub(super) fn drop_held(&mut self) {
        for held in self.held.drain(..) {
            self.known[held.place].doubt(false);
        }
    }

    pub(super) fn outcome(&mut self) -> Result<Reply, DbError> {
        self.is_committing = false;
        match self.db_error.take() {
            Some(no) if self.is_unread && self.has_committed => Err(no.of_committed()),
            Some(no) => Err(no),
            None => Ok(self.reply),
        }
    }

    /// Whether the command `expected`, whose reply is being read, may change data.
    fn is_change(&self, expected: Expected) -> bool {
        match expected {
            Expected::Call(place) => self.known[place].kind != StatementKind::Read,
            Expected::Text | Expected::Load => true,
            Expected::Quiet | Expected::Prepare(_) | Expected::Warnings => false,
        }
    }
}

#[cold]
fn file_wanted() -> DbError {
    let message = "the server requested a file of this machine; none is sent, and the connection \
                   is closed";
    DbError::new(DbErrorKind::Denied, message)
}
