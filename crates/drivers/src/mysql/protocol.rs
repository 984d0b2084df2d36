//! The MySQL protocol of a signed-in connection: converts requests to packets, and packets to
//! replies.
//!
//! Commands whose replies are awaited are in a queue, so that several can be sent at once. Not
//! here: sign-in, sockets, and the encoding of values.

mod replies;

use std::collections::VecDeque;
use std::sync::Arc;

use model::{
    Call, DbError, DbErrorKind, Reply, Request, RowSource, Sent, SentStatement, Statement,
    StatementId, StatementKind, Table, Traffic, TransactionControl, Visit,
};

use super::columns::Columns;
use super::load::{Load, LoadStep};
use super::packets::{
    ERROR, Framer, HEADER_BYTES, IN_TRANSACTION, NO_BACKSLASH_ESCAPES, put_command,
};
use super::rows::Place;
use super::sql::BEGIN;
use super::statements::{COM_QUERY, DeclaredOrOwn, PreparedStatement, put_close, set_id};
use super::values::Escapes;
use crate::kept::Kept;
use crate::net::{CancelKey, Input, Protocol, Step, may_commit, may_commit_within};

const COM_QUIT: u8 = 0x01;

/// Properties of a connection after its sign-in: connection ID, the capabilities that client and
/// server agreed on, and the server's status flags.
#[derive(Clone, Copy, Debug)]
pub(super) struct Agreed {
    pub(super) connection_id: u64,
    /// Whether the server sends an EOF packet after column definitions, because
    /// `CLIENT_DEPRECATE_EOF` was not agreed on.
    pub(super) has_column_end: bool,
    /// Whether the server omits the column definitions of a prepared statement if they are
    /// unchanged (`MARIADB_CLIENT_CACHE_METADATA`).
    pub(super) leaves_out_columns: bool,
    /// Whether client and server both allow LOAD DATA LOCAL.
    pub(super) can_load: bool,
    /// Status flags in the server's last reply, such as whether a transaction is open.
    pub(super) status: u16,
}

/// A command that was sent and whose reply is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// A command that dbdyno adds on its own, such as `SET autocommit=0`. Its reply is not passed
    /// to the caller.
    Quiet,
    /// COM_STMT_PREPARE of the statement with this index among the connection's statements.
    Prepare(usize),
    /// Execution of the statement with this index among the connection's statements.
    Call(usize),
    Text,
    /// LOAD DATA LOCAL, the statement of a bulk load.
    Load,
    /// SHOW WARNINGS, which dbdyno sends after a bulk load with warnings.
    Warnings,
}

/// The type of packet that the server sends next within a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Header,
    /// Column definitions of a result, with the number of those still to come.
    Columns(u16),
    ColumnsEnd,
    Rows,
    /// Parameter definitions of a prepared statement, with the number of those still to come, and
    /// the number of column definitions after them.
    Values(u16, u16),
    ValuesEnd(u16),
}

/// The owner of the column definitions in a reply: a prepared statement, or only this reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// The prepared statement with this index. It keeps the definitions for later results.
    Statement(usize),
    /// No statement keeps the definitions: the reply is that of a statement sent as text, for which
    /// the server sends them each time.
    Nobody,
}

/// An encoded execution of a statement that is not sent yet. Its bytes are a part of the buffer
/// `held_bytes`.
struct Held {
    place: usize,
    n_values: usize,
    start: usize,
    end: usize,
}

pub(super) struct MySql {
    agreed: Agreed,
    as_text: bool,
    declared: Arc<[Statement]>,
    /// Statements that were added later, whose numbers follow those of the declared ones.
    late: Vec<Arc<Statement>>,
    /// The statements that are prepared, or are to be.
    known: Kept<PreparedStatement>,
    /// The server's IDs of statements that are closed with the next request, because they are not
    /// kept or not used any more.
    to_close: Vec<u32>,
    framer: Framer,
    expected: VecDeque<Expected>,
    phase: Phase,
    whose: Whose,
    columns: Columns,
    places: Vec<Place>,
    /// Encoded executions of a batch that are not sent yet: their statements are still being
    /// prepared, or each must wait for the reply to the one before.
    held: VecDeque<Held>,
    held_bytes: Vec<u8>,
    in_turn: bool,
    /// Whether the last execution in `held` is a COMMIT that may be sent only after all others
    /// have succeeded.
    commits_apart: bool,
    /// Indexes of the statements that begin a transaction, begin a read-only one, and commit
    /// within a batch; `None` before the first use of each.
    controls: [Option<usize>; 3],
    reply: Reply,
    db_error: Option<DbError>,
    /// Whether the error in `db_error` comes from the caller's visitor of rows and not from the
    /// server, which then continues its work.
    is_unread: bool,
    /// Whether the server has certainly committed a part of the current request.
    has_committed: bool,
    /// Number of results with rows that the server has sent for the current request.
    n_sets: usize,
    n_sets_of_call: usize,
    is_committing: bool,
    /// Whether a part of the current request, sent as text, may commit although a later part fails,
    /// such as a procedure or the first of several statements.
    commits_within: bool,
    /// Whether dbdyno has switched autocommit off, so that none of the statements that it sends
    /// together commits by itself.
    is_autocommit_off: bool,
    /// Whether only a rollback is allowed next, because a statement of a batch failed and the
    /// server also executed the statements after it.
    is_doomed: bool,
    /// Whether the current transaction contains a statement that may change data.
    has_written: bool,
    load: Load,
    traffic: Traffic,
}

impl MySql {
    pub(super) fn new(
        agreed: Agreed,
        as_text: bool,
        packet_bytes_max: usize,
        (declared, n_kept): (&Arc<[Statement]>, usize),
    ) -> MySql {
        MySql {
            agreed,
            as_text,
            declared: Arc::clone(declared),
            late: Vec::new(),
            known: Kept::new(declared.len(), n_kept),
            to_close: Vec::new(),
            framer: Framer::new(packet_bytes_max),
            expected: VecDeque::new(),
            phase: Phase::Header,
            whose: Whose::Nobody,
            columns: Columns::default(),
            places: Vec::new(),
            held: VecDeque::new(),
            held_bytes: Vec::new(),
            in_turn: false,
            commits_apart: false,
            controls: [None; 3],
            reply: Reply::default(),
            db_error: None,
            is_unread: false,
            has_committed: false,
            n_sets: 0,
            n_sets_of_call: 0,
            is_committing: false,
            commits_within: false,
            is_autocommit_off: false,
            is_doomed: false,
            has_written: false,
            load: Load::default(),
            traffic: Traffic::default(),
        }
    }

    /// Whether the server has asked for the rows of a bulk load, and not all are written yet.
    pub(super) fn is_sending(&self) -> bool {
        self.load.is_sending()
    }

    fn is_in_transaction(&self) -> bool {
        self.agreed.status & IN_TRANSACTION != 0
    }

    fn escapes(&self) -> Escapes {
        if self.agreed.status & NO_BACKSLASH_ESCAPES != 0 {
            Escapes::Doubled
        } else {
            Escapes::Backslash
        }
    }

    #[inline]
    fn begin(&mut self) {
        assert!(self.expected.is_empty(), "one request is under way at a time");
        self.reply = Reply::default();
        self.db_error = None;
        (self.is_unread, self.has_committed) = (false, false);
        self.n_sets = 0;
        self.is_committing = false;
        self.held.clear();
        self.held_bytes.clear();
    }

    /// Prepares for a new statement: switches autocommit on again outside of a transaction.
    /// `writes` says that the statement may change data. Fails if the transaction must be rolled
    /// back first.
    #[inline]
    fn precede(&mut self, writes: bool, out: &mut Vec<u8>) -> Result<(), DbError> {
        if self.is_doomed {
            return Err(doomed());
        }
        self.has_written = writes || self.has_written && self.is_in_transaction();
        if !self.is_in_transaction() {
            self.is_committing = writes;
            if self.is_autocommit_off {
                self.put_quiet(out, "SET autocommit=1");
                self.is_autocommit_off = false;
            }
        }
        Ok(())
    }

    /// Writes a command that dbdyno adds on its own, such as `SET autocommit=0`. Traffic counters
    /// include its bytes but do not count it as a statement.
    fn put_quiet(&mut self, out: &mut Vec<u8>, sql: &str) {
        put_command(out, COM_QUERY, sql.as_bytes());
        self.expected.push_back(Expected::Quiet);
    }

    fn put_text(&mut self, out: &mut Vec<u8>, kind: StatementKind, sql: &str) {
        self.traffic.count(kind);
        self.commits_within = may_commit_within(sql);
        put_command(out, COM_QUERY, sql.as_bytes());
        self.expected.push_back(Expected::Text);
    }

    fn start_transaction(&mut self, sql: &str, out: &mut Vec<u8>) -> Result<(), DbError> {
        self.precede_control(TransactionControl::Begin)?;
        self.put_text(out, StatementKind::Other, sql);
        Ok(())
    }

    /// Does what precedes a statement that begins or ends a transaction.
    fn precede_control(&mut self, control: TransactionControl) -> Result<(), DbError> {
        match control {
            TransactionControl::Rollback => self.is_doomed = false,
            _ if self.is_doomed => return Err(doomed()),
            TransactionControl::Begin => self.has_written = false,
            TransactionControl::Commit => self.is_committing = true,
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
        self.precede_control(control)?;
        self.place_of(statement)?;
        self.hold(&Call::control(statement))?;
        (self.in_turn, self.commits_apart) = (false, false);
        self.send_held(out)
    }

    /// Has the server prepare a statement, unless it has done that.
    fn start_prepare(&mut self, statement: StatementId, out: &mut Vec<u8>) -> Result<(), DbError> {
        let place = self.place_of(statement)?;
        self.put_prepare(place, out);
        Ok(())
    }

    /// Returns the index of a statement, which is kept from now on, at least as long as it is part
    /// of a request.
    #[inline]
    fn place_of(&mut self, statement: StatementId) -> Result<usize, DbError> {
        let place = statement.index();
        match self.known.used(place) {
            Some(_) => Ok(place),
            None => self.keep(place),
        }
    }

    #[cold]
    fn keep(&mut self, place: usize) -> Result<usize, DbError> {
        let statement = match self.declared.get(place) {
            Some(_) => DeclaredOrOwn::Declared(Arc::clone(&self.declared), place),
            None => match self.late.get(place - self.declared.len()) {
                Some(own) => DeclaredOrOwn::Own(Arc::clone(own)),
                None => return Err(self.unknown(place)),
            },
        };
        let Self { known, held, to_close, as_text, .. } = self;
        let is_held = |place| held.iter().any(|held| held.place == place);
        if let Some(left) = known.put(place, PreparedStatement::new(statement, *as_text), is_held) {
            to_close.extend(left.ids());
        }
        Ok(place)
    }

    fn unknown(&self, place: usize) -> DbError {
        let message = format!(
            "this session has {} statements and no number {place}; statements prepared at run time \
             are lost when their connection ends",
            self.known.n_known()
        );
        DbError::new(DbErrorKind::Missing, message)
    }

    /// Returns the index of a statement among the connection's statements. An ID that means BEGIN
    /// or COMMIT within a batch gets a statement at its first use.
    fn resolve(&mut self, statement: StatementId) -> Result<usize, DbError> {
        if !statement.is_control() {
            return self.place_of(statement);
        }
        let control = (u32::MAX - statement.0) as usize;
        if let Some(place) = self.controls[control] {
            return self.place_of(StatementId(place as u32));
        }
        let sql = [BEGIN.writes, BEGIN.reads, "COMMIT"][control];
        let ours = Statement::new(sql, StatementKind::Other, sql);
        let statement = self.prepare(Statement { sent: Sent::Text, ..ours })?;
        self.controls[control] = Some(statement.index());
        self.place_of(statement)
    }

    /// Writes one execution of a statement. This is the hot path for a prepared statement; any
    /// other goes through [`MySql::start_calls`].
    #[inline]
    fn start_call(&mut self, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), DbError> {
        let place = self.place_of(call.statement)?;
        if self.known[place].id.is_none() {
            return self.start_calls(std::slice::from_ref(call), out);
        }
        let known = &self.known[place];
        let kind = known.kind;
        known.check_count(call.values.len())?;
        self.precede(kind != StatementKind::Read, out)?;
        self.known[place].put_execute(out, call.values)?;
        self.traffic.count(kind);
        self.expected.push_back(Expected::Call(place));
        Ok(())
    }

    /// Encodes the executions of a batch and writes them. If some of their statements are not
    /// prepared yet, writes only the commands that prepare these statements.
    fn start_calls(&mut self, calls: &[Call<'_>], out: &mut Vec<u8>) -> Result<(), DbError> {
        let (mut writes, mut begins, mut commits) = (false, false, false);
        for call in calls {
            let place = self.resolve(call.statement)?;
            match call.statement {
                StatementId::COMMIT => commits = true,
                StatementId::BEGIN | StatementId::BEGIN_READ_ONLY => begins = true,
                _ => writes |= self.known[place].kind != StatementKind::Read,
            }
        }
        match begins {
            true if self.is_doomed => return Err(doomed()),
            true => self.has_written = writes,
            false => self.precede(writes, out)?,
        }
        // The first error must end the batch. But after an error that ends the transaction (a
        // deadlock), the statements behind it would each commit by themselves, as they always do
        // outside of a transaction, and a COMMIT after any error would commit what came before it.
        let is_flight = calls.len() > 1 && writes;
        self.in_turn = is_flight && !begins && !self.is_in_transaction();
        self.commits_apart = calls.len() > 1 && commits && self.has_written;
        if is_flight && !self.in_turn && !self.is_autocommit_off {
            self.put_quiet(out, "SET autocommit=0");
            self.is_autocommit_off = true;
        }
        for call in calls {
            self.hold(call)?;
        }
        self.send_held(out)
    }

    /// Writes the executions in `held`, or only the commands that prepare their statements.
    fn send_held(&mut self, out: &mut Vec<u8>) -> Result<(), DbError> {
        for nth in 0..self.held.len() {
            self.put_prepare(self.held[nth].place, out);
        }
        if !self.expected.iter().any(|expected| matches!(expected, Expected::Prepare(_))) {
            self.release(out)?;
        }
        Ok(())
    }

    fn hold(&mut self, call: &Call<'_>) -> Result<(), DbError> {
        let place = self.resolve(call.statement)?;
        let start = self.held_bytes.len();
        let escapes = self.escapes();
        let known = &mut self.known[place];
        match known.is_text {
            true => known.put_text(&mut self.held_bytes, call.values, escapes)?,
            false => known.put_execute(&mut self.held_bytes, call.values)?,
        }
        let end = self.held_bytes.len();
        self.held.push_back(Held { place, n_values: call.values.len(), start, end });
        Ok(())
    }

    /// Writes the command that prepares the statement at `place`, unless it is prepared, sent as
    /// text or being prepared.
    fn put_prepare(&mut self, place: usize, out: &mut Vec<u8>) {
        let asked = Expected::Prepare(place);
        let known = &mut self.known[place];
        if !known.is_text && known.id.is_none() && !self.expected.contains(&asked) {
            known.put_prepare(out);
            self.expected.push_back(asked);
        }
    }

    /// Writes the commands that close statements, in front of the request that begins at `start`.
    #[cold]
    fn put_closes(&mut self, start: usize, out: &mut Vec<u8>) {
        let mut closes = Vec::new();
        self.to_close.drain(..).for_each(|id| put_close(&mut closes, id));
        out.splice(start..start, closes);
    }

    /// Writes executions that were held back: all except a COMMIT that must wait for the others,
    /// or only the next one if each must wait for the previous reply.
    fn release(&mut self, out: &mut Vec<u8>) -> Result<(), DbError> {
        let n_now = match self.held.len() {
            _ if self.in_turn => 1,
            n @ 2.. if self.commits_apart => n - 1,
            n => n,
        };
        for held in self.held.iter().take(n_now) {
            let known = &self.known[held.place];
            if !known.is_text {
                known.check_count(held.n_values)?;
            }
        }
        for held in self.held.drain(..n_now.min(self.held.len())) {
            if let Some(id) = self.known[held.place].id {
                set_id(&mut self.held_bytes, held.start, id);
            }
            out.extend_from_slice(&self.held_bytes[held.start..held.end]);
            self.traffic.count(self.known[held.place].kind);
            self.expected.push_back(Expected::Call(held.place));
            self.is_committing |= self.controls[2] == Some(held.place);
        }
        Ok(())
    }
}

impl Protocol for MySql {
    #[inline]
    fn start(&mut self, request: Request<'_>, out: &mut Vec<u8>) -> Result<(), DbError> {
        self.begin();
        let (start, was_autocommit_off) = (out.len(), self.is_autocommit_off);
        let result = match request {
            Request::Execute(call) => self.start_call(&call, out),
            Request::Batch(calls) => self.start_calls(calls, out),
            Request::Text { kind, sql } => {
                let writes = kind != StatementKind::Read;
                self.precede(writes, out).map(|()| {
                    self.is_committing &= may_commit(kind, sql);
                    self.put_text(out, kind, sql);
                })
            }
            Request::Begin => self.start_transaction(BEGIN.writes, out),
            Request::BeginReadOnly => self.start_transaction(BEGIN.reads, out),
            Request::BeginPlain => self.start_transaction(BEGIN.plain, out),
            Request::Commit => self
                .precede_control(TransactionControl::Commit)
                .map(|()| self.put_text(out, StatementKind::Other, "COMMIT")),
            Request::Rollback => self
                .precede_control(TransactionControl::Rollback)
                .map(|()| self.put_text(out, StatementKind::Other, "ROLLBACK")),
            Request::Prepare(statement) => self.start_prepare(statement, out),
            Request::ExecuteControl(control, statement) => {
                self.start_control(control, statement, out)
            }
        };
        if result.is_err() {
            // Nothing of the request is sent.
            self.expected.clear();
            self.drop_held();
            self.is_autocommit_off = was_autocommit_off;
        } else if !self.to_close.is_empty() {
            self.put_closes(start, out);
        }
        result
    }

    #[inline]
    fn advance(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        visit: Visit<'_>,
    ) -> Result<Step<Result<Reply, DbError>>, DbError> {
        match self.read(input, out, visit)? {
            true => Ok(Step::Done(self.outcome())),
            false => Ok(Step::More),
        }
    }

    fn start_load(&mut self, table: &Table, out: &mut Vec<u8>) -> Result<(), DbError> {
        self.begin();
        if !self.agreed.can_load {
            let message = "LOAD DATA LOCAL is disabled, by local_infile=false in the target's URL \
                           or by the server: enable it (SET GLOBAL local_infile = 1), or load with \
                           INSERTs (--load-method insert)";
            return Err(DbError::new(DbErrorKind::Unsupported, message));
        }
        self.precede(true, out)?;
        self.traffic.count(StatementKind::Write);
        put_command(out, COM_QUERY, self.load.start(table).as_bytes());
        self.expected.push_back(Expected::Load);
        Ok(())
    }

    fn advance_load(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        source: &mut dyn RowSource,
    ) -> Result<Step<Result<Reply, DbError>>, DbError> {
        loop {
            // A server that closes the connection before it has read all rows has sent the reason
            // first.
            let is_refused = input.bytes().get(HEADER_BYTES) == Some(&ERROR);
            let mut is_answered =
                self.load.is_sending() && is_refused && self.read(input, out, &mut |_| Ok(()))?;
            if self.load.is_sending() && !is_answered {
                match self.load.send(out, source)? {
                    LoadStep::Chunk => return Ok(Step::Send),
                    LoadStep::Last => {}
                }
            }
            is_answered = is_answered || self.read(input, out, &mut |_| Ok(()))?;
            if !is_answered {
                if self.load.is_sending() {
                    continue;
                }
                return Ok(Step::More);
            }
            // With LOCAL, errors are only warnings.
            if self.db_error.is_none() && self.load.must_ask() {
                put_command(out, COM_QUERY, b"SHOW WARNINGS LIMIT 64");
                self.expected.push_back(Expected::Warnings);
                continue;
            }
            let result = self.outcome().and_then(|_| self.load.outcome());
            return Ok(Step::Done(result.map_err(|no| self.load.name(no))));
        }
    }

    fn prepare(&mut self, statement: Statement) -> Result<StatementId, DbError> {
        let id = StatementId::numbered(self.known.n_known())?;
        self.late.push(Arc::new(statement));
        self.known.add();
        Ok(id)
    }

    fn close(&mut self, statement: StatementId) {
        if let Some(known) = self.known.used(statement.index()) {
            self.to_close.extend(known.ids());
            known.closed();
        }
    }

    fn sent(&mut self, request: Request<'_>) -> Vec<SentStatement> {
        let escapes = self.escapes();
        request.statements(&BEGIN, &mut |call| {
            let place = self.place_of(call.statement).ok()?;
            Some(self.known[place].sent(call.values, escapes))
        })
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }

    fn is_committing(&self) -> bool {
        self.is_committing
    }

    fn n_unanswered(&self) -> usize {
        self.expected.len()
    }

    fn cancel_key(&self) -> CancelKey {
        CancelKey::KillQuery(self.agreed.connection_id)
    }

    fn say_goodbye(&mut self, out: &mut Vec<u8>) {
        self.put_closes(out.len(), out);
        put_command(out, COM_QUIT, b"");
    }
}

#[cold]
fn doomed() -> DbError {
    let message = "the transaction must be rolled back: a statement of a batch failed, but the \
                   server executed those after it";
    DbError::new(DbErrorKind::Other, message)
}
