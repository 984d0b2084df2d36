//! PostgreSQL's protocol on a signed-in connection: converts requests to messages, and messages to
//! replies.
//!
//! Executing a prepared statement is Bind, Execute and Sync in one write. A batch is sent at once
//! and ends in one Sync, so that outside of a transaction the batch is a transaction of its own.
//! Not here: bulk loads (load), and the start of a connection (sign_in).

use std::sync::Arc;

use model::{
    Call, DbError, DbErrorKind, Reply, Request, RowSource, SentStatement, Statement, StatementId,
    StatementKind, Table, Traffic, TransactionControl, Visit,
};
use postgres_protocol::message::frontend;

use super::Way;
use super::completion::{Status, n_affected, read_status};
use super::db_errors::{garbled, read_error};
use super::load::{Load, Loaded};
use super::messages::{self, Message, SYNC, is_aside, put_query};
use super::row::{Column, DataRow, Fields, Format};
use super::sql::BEGIN;
use super::statements::{Statements, read_columns};
use crate::net::{CancelKey, Input, Protocol, Step, may_commit, may_commit_within};

pub(super) struct Postgres {
    statements: Statements,
    status: Status,
    cancel_key: CancelKey,
    exchange: Exchange,
    /// Statement executions of the current request, in their order.
    flight: Vec<Flown>,
    /// Index in `flight` of the execution that the server is answering.
    at: usize,
    /// Columns of the result set that is being received, for a statement that was sent as text.
    columns: Vec<Column>,
    /// Whether a result set of a statement sent as text is being received.
    is_open: bool,
    fields: Fields,
    n_sets: usize,
    reply: Reply,
    db_error: Option<DbError>,
    /// Error that the caller's visitor of rows has returned; `None` if there is none. The server
    /// continues its work, so later rows are skipped.
    unread: Option<DbError>,
    load: Option<Load>,
    is_committing: bool,
    /// Whether a part of the current request may commit although a later part fails, such as a
    /// procedure or the first of several statements.
    commits_within: bool,
    traffic: Traffic,
}

/// A statement execution of the current request, which was sent to the server.
#[derive(Clone, Copy)]
struct Flown {
    /// Index of the executed statement among the connection's statements.
    index: usize,
    /// Whether this execution also prepares its statement. If it fails, the statement counts as not
    /// prepared.
    asks: bool,
    /// Whether it commits the transaction, and does nothing else.
    commits: bool,
}

/// The kind of the current request, which determines how its replies are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exchange {
    Nothing,
    /// Executions of prepared statements, whose rows arrive in binary format.
    Calls,
    /// SQL sent as text, whose rows arrive in text format.
    Text,
    /// COMMIT sent as text, for a request that only commits.
    Commit,
    /// Preparation of a statement that is not executed.
    Prepare,
}

impl Postgres {
    pub(super) fn new(
        way: Way,
        declared: (Arc<[Statement]>, usize),
        cancel_key: CancelKey,
        status: Status,
    ) -> Postgres {
        Postgres {
            statements: Statements::new(way, declared, process_of(&cancel_key)),
            status,
            cancel_key,
            exchange: Exchange::Nothing,
            flight: Vec::new(),
            at: 0,
            columns: Vec::new(),
            is_open: false,
            fields: Fields::default(),
            n_sets: 0,
            reply: Reply::default(),
            db_error: None,
            unread: None,
            load: None,
            is_committing: false,
            commits_within: false,
            traffic: Traffic::default(),
        }
    }

    #[inline]
    fn begin(&mut self) {
        assert_eq!(self.exchange, Exchange::Nothing, "one request is under way at a time");
        self.flight.clear();
        (self.at, self.n_sets, self.is_open) = (0, 0, false);
        (self.reply, self.db_error, self.unread) = (Reply::default(), None, None);
        (self.is_committing, self.commits_within) = (false, false);
    }

    #[inline]
    fn start_calls(&mut self, calls: &[Call<'_>], out: &mut Vec<u8>) -> Result<(), DbError> {
        let mut counted = Traffic::default();
        let mut n_texts = 0;
        let (mut begins, mut commits) = (false, false);
        for call in calls {
            let id = self.statements.resolve(call.statement)?;
            counted.count(self.statements.kind(id)?);
            n_texts += usize::from(self.statements.is_text(id));
            commits |= call.statement == StatementId::COMMIT;
            begins |= call.statement.is_control() && call.statement != StatementId::COMMIT;
        }
        if n_texts == calls.len() {
            self.put_calls_as_text(calls, out)?;
        } else {
            self.put_calls(calls, out).inspect_err(|_| self.ground())?;
        }
        // A statement outside of a transaction commits by itself.
        let is_alone = self.status == b'I' && !begins;
        self.is_committing = commits || is_alone && counted.queries() > counted.reads;
        self.traffic += counted;
        Ok(())
    }

    #[inline]
    fn put_calls(&mut self, calls: &[Call<'_>], out: &mut Vec<u8>) -> Result<(), DbError> {
        for call in calls {
            let call = &Call { statement: self.statements.resolve(call.statement)?, ..*call };
            // Noted before its preparation is written, so that an error finds it.
            let index = call.statement.index();
            let commits = self.statements.is_commit(index);
            self.flight.push(Flown { index, asks: true, commits });
            let Self { statements, flight, .. } = self;
            let is_needed = |index| flight.iter().any(|flown| flown.index == index);
            let asks = match statements.is_text(call.statement) {
                true => statements.put_parsed(call, out, is_needed).map(|()| true)?,
                false => statements.put_call(call, out, is_needed)?,
            };
            self.flight.last_mut().expect("it was just noted").asks = asks;
        }
        if !calls.is_empty() {
            out.extend_from_slice(SYNC);
            self.exchange = Exchange::Calls;
        }
        Ok(())
    }

    fn put_calls_as_text(&mut self, calls: &[Call<'_>], out: &mut Vec<u8>) -> Result<(), DbError> {
        let mut refused = None;
        put_query(out, |out| {
            for (index, call) in calls.iter().enumerate() {
                if index > 0 {
                    out.push(b';');
                }
                let put = self.statements.resolve(call.statement).and_then(|statement| {
                    let call = Call { statement, ..*call };
                    let index = statement.index();
                    let commits = self.statements.is_commit(index);
                    self.flight.push(Flown { index, asks: false, commits });
                    // Nothing of a statement sent as text is needed later.
                    self.statements.put_text(&call, out, |_| false)
                });
                if let Err(no) = put {
                    refused.get_or_insert(no);
                }
            }
        })?;
        if let Some(no) = refused {
            return Err(no);
        }
        if calls.is_empty() {
            out.clear();
        } else {
            self.exchange = Exchange::Text;
        }
        Ok(())
    }

    /// Executes a prepared statement that begins or ends a transaction.
    fn start_control(
        &mut self,
        control: TransactionControl,
        statement: StatementId,
        out: &mut Vec<u8>,
    ) -> Result<(), DbError> {
        self.start_calls(&[Call::control(statement)], out)?;
        self.is_committing = control == TransactionControl::Commit;
        for flown in &mut self.flight {
            flown.commits = self.is_committing;
        }
        Ok(())
    }

    /// Has the server prepare a statement, unless it has done that or executes it as text.
    fn start_prepare(&mut self, statement: StatementId, out: &mut Vec<u8>) -> Result<(), DbError> {
        self.statements.kind(statement)?;
        let index = statement.index();
        if self.statements.put_preparation(statement, out)? {
            self.flight.push(Flown { index, asks: true, commits: false });
            out.extend_from_slice(SYNC);
            self.exchange = Exchange::Prepare;
        }
        Ok(())
    }

    /// After an error, marks statements as not prepared if their preparation was sent with this
    /// request and not answered.
    #[cold]
    fn ground(&mut self) {
        for flown in &self.flight[self.at.min(self.flight.len())..] {
            if flown.asks {
                self.statements.give_up(flown.index);
            }
        }
    }

    fn start_text(
        &mut self,
        exchange: Exchange,
        sql: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), DbError> {
        put_query(out, |out| out.extend_from_slice(sql.as_bytes()))?;
        self.exchange = exchange;
        Ok(())
    }

    /// Handles one message of the server. A row is passed to `visit`. Returns the result of the
    /// request if this was its last message, otherwise `None`.
    #[inline]
    fn take(
        &mut self,
        message: Message<'_>,
        out: &mut Vec<u8>,
        visit: Visit<'_>,
    ) -> Result<Option<Result<Reply, DbError>>, DbError> {
        match message.tag {
            b'D' => self.take_row(message.body(), visit)?,
            b'C' => self.take_complete(message.body())?,
            b'Z' => return self.take_ready(message.body()).map(Some),
            b'2' if self.exchange == Exchange::Calls => {}
            tag if is_aside(tag) => {}
            _ => self.take_rare(message, out)?,
        }
        Ok(None)
    }

    #[cold]
    fn take_rare(&mut self, message: Message<'_>, out: &mut Vec<u8>) -> Result<(), DbError> {
        let is_calls = matches!(self.exchange, Exchange::Calls | Exchange::Prepare);
        match message.tag {
            b'E' => self.take_error(message)?,
            b'1' | b'3' if is_calls => {}
            b't' if is_calls => self.statements.learn_parameters(self.current()?, message)?,
            b'T' if is_calls => self.statements.learn_columns(self.current()?, Some(message))?,
            b'n' if is_calls => self.statements.learn_columns(self.current()?, None)?,
            b'T' => {
                self.columns.clear();
                read_columns(message, &mut self.columns)?;
                self.is_open = true;
            }
            // An empty statement.
            b'I' => self.at += 1,
            // Rows of a COPY sent as text, which have no column format.
            b'H' | b'd' | b'c' => {}
            // The server waits for rows, which only a bulk load has.
            b'G' => {
                let words = "dbdyno sends no rows for a COPY FROM STDIN in a statement";
                messages::put(out, |buffer| frontend::copy_fail(words, buffer))?;
                if is_calls {
                    // The server ignores everything that was sent while it waited for rows.
                    out.extend_from_slice(SYNC);
                }
            }
            tag => {
                return Err(garbled(&format_args!("unexpected message '{}'", tag.escape_ascii())));
            }
        }
        Ok(())
    }

    /// Returns the index of the statement whose execution the server is answering. Fails if all
    /// executions are answered.
    #[inline]
    fn current(&self) -> Result<usize, DbError> {
        let flown = self.flight.get(self.at);
        flown.map(|flown| flown.index).ok_or_else(|| garbled(&"more replies than requests"))
    }

    #[inline]
    fn take_row(&mut self, body: &[u8], visit: Visit<'_>) -> Result<(), DbError> {
        let (columns, format) = match self.exchange {
            Exchange::Calls => (&self.statements.get(self.current()?).columns, Format::Binary),
            _ if self.is_open => (&self.columns, Format::Text),
            _ => return Err(garbled(&"a row without a description of its columns")),
        };
        if self.unread.is_some() {
            return Ok(());
        }
        self.fields.find(body, columns, format)?;
        let (fields, result_set) = (&self.fields, self.n_sets);
        self.reply.n_rows += 1;
        if let Err(no) = visit(&DataRow { body, fields, columns, format, result_set }) {
            self.unread = Some(match self.flight.get(self.at) {
                Some(flown) => no.during(self.statements.name(flown.index)),
                None => no,
            });
        }
        Ok(())
    }

    #[inline]
    fn take_complete(&mut self, body: &[u8]) -> Result<(), DbError> {
        let had_rows = match self.exchange {
            Exchange::Calls => self.statements.get(self.current()?).has_rows,
            _ => std::mem::take(&mut self.is_open),
        };
        self.n_sets += usize::from(had_rows);
        let flown = self.flight.get(self.at);
        self.at += 1;
        self.reply.n_affected += n_affected(body);
        let commits = self.exchange == Exchange::Commit || flown.is_some_and(|flown| flown.commits);
        if commits && body.starts_with(b"ROLLBACK") {
            let message = "nothing was committed: an earlier statement of this transaction failed, \
                           and the server has rolled it back";
            self.db_error.get_or_insert(DbError::new(DbErrorKind::Other, message));
        }
        Ok(())
    }

    #[cold]
    fn take_error(&mut self, message: Message<'_>) -> Result<(), DbError> {
        let error = read_error(message.whole)?;
        let mut no = error.db_error;
        let current = self.flight.get(self.at).map(|flown| flown.index);
        if let Some(index) = current {
            no = no.during(self.statements.name(index));
            self.commits_within |= may_commit_within(&self.statements.statement(index).sql);
            // The server does not know the statement, or the statement's result columns have
            // changed.
            if matches!(no.sqlstate.as_str(), "26000" | "0A000") {
                self.statements.forget(index);
            }
        }
        self.ground();
        if error.is_fatal {
            // The server's reply to an incomplete statement: nothing was committed. A pooler that
            // lost its server cannot know that.
            let is_answer = no.kind == DbErrorKind::TooManyConnections
                || !no.sqlstate.starts_with("08")
                    && !self.commits_within
                    && self.at < self.flight.len().max(1);
            self.is_committing &= !is_answer;
            if !no.kind.breaks_session() {
                no.kind = DbErrorKind::ConnectionLost;
            }
            return Err(no);
        }
        self.db_error.get_or_insert(no);
        Ok(())
    }

    #[inline]
    fn take_ready(&mut self, body: &[u8]) -> Result<Result<Reply, DbError>, DbError> {
        self.status = read_status(body)?;
        let result = match (self.unread.take(), self.db_error.take()) {
            (Some(no), None) if self.is_committing => Err(no.of_committed()),
            (Some(no), _) | (None, Some(no)) => Err(no),
            (None, None) if self.at < self.n_answers_least() => {
                return Err(garbled(&"fewer replies than requests"));
            }
            (None, None) => Ok(self.reply),
        };
        self.exchange = Exchange::Nothing;
        self.is_committing = false;
        Ok(result)
    }

    /// Returns the smallest number of statements that the server must have answered when the
    /// request ends: all that are prepared, but only one for SQL sent as text, which may contain
    /// empty statements, and none that is only prepared.
    #[inline]
    fn n_answers_least(&self) -> usize {
        match self.exchange {
            Exchange::Calls => self.flight.len(),
            Exchange::Prepare => 0,
            _ => 1,
        }
    }

    #[inline]
    fn read(
        &mut self,
        bytes: &[u8],
        n_read: &mut usize,
        out: &mut Vec<u8>,
        visit: Visit<'_>,
    ) -> Result<Step<Result<Reply, DbError>>, DbError> {
        while let Some(message) = Message::first(&bytes[*n_read..])? {
            *n_read += message.whole.len();
            if let Some(result) = self.take(message, out, &mut *visit)? {
                return Ok(Step::Done(result));
            }
        }
        Ok(Step::More)
    }
}

impl Protocol for Postgres {
    #[inline]
    fn start(&mut self, request: Request<'_>, out: &mut Vec<u8>) -> Result<(), DbError> {
        self.begin();
        let (exchange, sql) = match request {
            Request::Execute(call) => return self.start_calls(&[call], out),
            Request::Batch(calls) => return self.start_calls(calls, out),
            Request::Prepare(statement) => return self.start_prepare(statement, out),
            Request::ExecuteControl(control, statement) => {
                return self.start_control(control, statement, out);
            }
            Request::Text { kind, sql } => {
                self.start_text(Exchange::Text, sql, out)?;
                self.is_committing = self.status == b'I' && may_commit(kind, sql);
                self.commits_within = may_commit_within(sql);
                self.traffic.count(kind);
                return Ok(());
            }
            Request::Begin => (Exchange::Text, BEGIN.writes),
            Request::BeginPlain => (Exchange::Text, BEGIN.plain),
            Request::BeginReadOnly => (Exchange::Text, BEGIN.reads),
            Request::Commit => (Exchange::Commit, "COMMIT"),
            Request::Rollback => (Exchange::Text, "ROLLBACK"),
        };
        self.start_text(exchange, sql, out)?;
        self.is_committing = exchange == Exchange::Commit;
        self.traffic.count(StatementKind::Other);
        Ok(())
    }

    #[inline]
    fn advance(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        visit: Visit<'_>,
    ) -> Result<Step<Result<Reply, DbError>>, DbError> {
        if self.exchange == Exchange::Nothing {
            // A batch without calls.
            return Ok(Step::Done(Ok(Reply::default())));
        }
        let mut n_read = 0;
        let step = self.read(input.bytes(), &mut n_read, out, visit);
        input.consume(n_read);
        step
    }

    fn start_load(&mut self, table: &Table, out: &mut Vec<u8>) -> Result<(), DbError> {
        self.begin();
        self.load = Some(Load::start(table, out)?);
        self.is_committing = self.status == b'I';
        self.traffic.count(StatementKind::Write);
        Ok(())
    }

    fn advance_load(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        source: &mut dyn RowSource,
    ) -> Result<Step<Result<Reply, DbError>>, DbError> {
        let load = self.load.as_mut().expect("a load was started");
        let mut n_read = 0;
        let step = load.advance(input.bytes(), &mut n_read, out, source);
        input.consume(n_read);
        Ok(match step? {
            Step::Done(Loaded { status, result }) => {
                (self.status, self.load, self.is_committing) = (status, None, false);
                Step::Done(result)
            }
            Step::More => Step::More,
            Step::Send => Step::Send,
            Step::StartTls => unreachable!("a load never begins TLS"),
        })
    }

    fn prepare(&mut self, statement: Statement) -> Result<StatementId, DbError> {
        self.statements.add(statement)
    }

    fn close(&mut self, statement: StatementId) {
        self.statements.close(statement.index());
    }

    fn sent(&mut self, request: Request<'_>) -> Vec<SentStatement> {
        request.statements(&BEGIN, &mut |call| self.statements.sent(call))
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }

    fn is_committing(&self) -> bool {
        self.is_committing
    }

    fn n_unanswered(&self) -> usize {
        // A flight ends in one Sync, which is one command to a pooler.
        usize::from(self.exchange != Exchange::Nothing)
    }

    fn cancel_key(&self) -> CancelKey {
        self.cancel_key.clone()
    }

    fn say_goodbye(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"X\0\0\0\x04");
    }
}

/// Returns the process ID in a cancel key, which identifies the server's process. A connection
/// pooler sends a random one instead; 0 if the key has none.
fn process_of(cancel_key: &CancelKey) -> i32 {
    match cancel_key {
        CancelKey::Secret(process, _) => *process,
        CancelKey::KillQuery(_) => 0,
    }
}
