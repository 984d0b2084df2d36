//! A session of DuckDB: one connection, which executes the requests of a client.
//!
//! The values of a prepared statement are bound in `start`, and the statement runs in `poll_reply`.
//! Other requests (first use of a statement, a batch, text) are copied in `start`. Rows are read
//! chunk by chunk while DuckDB makes them, so a large answer is never kept as a whole.

use std::sync::Arc;
use std::task::{Context, Poll};

use model::{
    Call, Cancel, DbError, DbErrorKind, Reply, Request, Row, RowSource, Sent, SentStatement,
    Session, Statement, StatementId, StatementKind, Table, Traffic, TransactionControl, Value,
    Visit,
};

use super::cancel::Handle;
use super::db_errors::{db_error, is_outside_of_transaction};
use super::ffi::{Answer, Answered, Chunk, Connection, Prepared, Stored};
use super::literals::put_literal;
use super::opening::Shared;
use super::sql::BEGIN;
use crate::embedded::statements::Statements;
use crate::embedded::values::Owned;
use crate::embedded::{Control, cancelled, wrong_number};
use crate::kept::{KEPT_MOST, Kept};

pub(super) struct DuckdbSession {
    connected: Connected,
    handle: Arc<Handle>,
    shared: Arc<Shared>,
    statements: Statements,
    under_way: UnderWay,
    traffic: Traffic,
}

/// A connection with its prepared statements.
struct Connected {
    /// Prepared statements by number, each from its first use on, since its tables may not exist
    /// earlier.
    prepared: Kept<Prepared>,
    controls: [Prepared; 4],
    connection: Connection,
}

/// A request that was started and has not run yet.
enum UnderWay {
    Nothing,
    /// A prepared statement, by its index, with its values already bound.
    Bound(usize),
    Calls(Vec<Copied>),
    Text(String),
    Control(Control),
}

/// A statement to be executed, with copies of its values.
struct Copied {
    index: usize,
    what: What,
}

enum What {
    Values(Vec<Owned>),
    /// SQL text of a statement, with its values as literals.
    Text(String),
    /// BEGIN or COMMIT, as a part of a batch.
    Control(Control),
}

/// The current row of an answer, which is valid until the next row is read.
struct Visited<'a> {
    answer: &'a Answer,
    chunk: &'a Chunk,
    row: usize,
    result_set: usize,
}

impl Row for Visited<'_> {
    fn width(&self) -> usize {
        self.chunk.n_columns()
    }

    #[inline]
    fn value(&self, column: usize) -> Value<'_> {
        self.chunk.value(column, self.row)
    }

    fn result_set(&self) -> usize {
        self.result_set
    }

    fn name(&self, column: usize) -> &str {
        self.answer.name(column)
    }
}

impl Connected {
    fn new(shared: &Shared, handle: &Handle, n_statements: usize) -> Result<Connected, DbError> {
        let connection = shared.connect()?;
        handle.watch(connection.interrupter());
        let prepare = |sql| connection.prepare(sql).map_err(db_error);
        Ok(Connected {
            prepared: Kept::new(n_statements, KEPT_MOST),
            controls: [
                prepare(BEGIN.writes)?,
                prepare(BEGIN.reads)?,
                prepare("COMMIT")?,
                prepare("ROLLBACK")?,
            ],
            connection,
        })
    }

    /// Returns the prepared statement at `index`, and prepares it at its first use.
    fn ready(&mut self, index: usize, sql: &str) -> Result<&mut Prepared, DbError> {
        if self.prepared.used(index).is_none() {
            let prepared = self.connection.prepare(sql).map_err(db_error)?;
            drop(self.prepared.put(index, prepared, |_| false));
        }
        Ok(&mut self.prepared[index])
    }

    fn control(&mut self, control: Control) -> &mut Prepared {
        &mut self.controls[match control {
            Control::Begin => 0,
            Control::BeginReadOnly => 1,
            Control::Commit => 2,
            Control::Rollback => 3,
        }]
    }

    /// Begins or ends a transaction. A rollback without a transaction is no error.
    fn run_control(&mut self, control: Control, handle: &Handle) -> Result<Reply, DbError> {
        let ended = run(self.control(control), handle, &mut 0, &mut |_| Ok(()));
        match ended {
            Err(no) if control == Control::Rollback && is_outside_of_transaction(&no) => {
                Ok(Reply::default())
            }
            ended => ended.map(|_| Reply::default()),
        }
    }
}

/// Binds values to all parameters of a statement.
fn bind<'v>(
    prepared: &mut Prepared,
    values: impl ExactSizeIterator<Item = Value<'v>>,
) -> Result<(), DbError> {
    if values.len() != prepared.n_parameters() {
        return Err(wrong_number(prepared.n_parameters(), values.len()));
    }
    for (index, value) in values.enumerate() {
        prepared.bind(index, &value).map_err(db_error)?;
    }
    Ok(())
}

/// Executes a statement with the values that were bound last, and passes its rows to `visit`.
/// `n_result_sets` counts statements with rows.
fn run(
    prepared: &mut Prepared,
    handle: &Handle,
    n_result_sets: &mut usize,
    visit: Visit<'_>,
) -> Result<Reply, DbError> {
    let pending = prepared.start().map_err(db_error)?;
    // An interrupt before the start was lost, but not the flag; a later one is not lost.
    if handle.is_cancelled() {
        return Err(cancelled());
    }
    let mut answer = pending.execute().map_err(db_error)?;
    let (answered, result_set) = (answer.answered(), *n_result_sets);
    if answered == Answered::Rows {
        is_readable(&answer)?;
        *n_result_sets += 1;
    }
    let mut reply = Reply::default();
    while let Some(chunk) = answer.fetch().map_err(db_error)? {
        if handle.is_cancelled() {
            return Err(cancelled());
        }
        match answered {
            Answered::Rows => {
                for row in 0..chunk.n_rows() {
                    reply.n_rows += 1;
                    visit(&Visited { answer: &answer, chunk: &chunk, row, result_set })?;
                }
            }
            Answered::Changed if chunk.n_rows() > 0 => {
                if let Value::Int(n) = chunk.value(0, 0) {
                    reply.n_affected += u64::try_from(n).unwrap_or_default();
                }
            }
            Answered::Changed | Answered::Nothing => {}
        }
    }
    Ok(reply)
}

/// Executes a statement that has no parameters, outside of any session.
pub(super) fn read_all(prepared: &mut Prepared, visit: Visit<'_>) -> Result<Reply, DbError> {
    run(prepared, &Handle::default(), &mut 0, visit)
}

/// Fails if a column of an answer has a type that the driver cannot read, such as a list.
fn is_readable(answer: &Answer) -> Result<(), DbError> {
    let unreadable = |stored: &Stored| matches!(stored, Stored::Other(_));
    let Some(column) = answer.columns().iter().position(unreadable) else { return Ok(()) };
    let message = format!(
        "column '{}' of the result has a type that dbdyno does not read: cast it to VARCHAR",
        answer.name(column)
    );
    Err(DbError::new(DbErrorKind::Unsupported, message))
}

impl DuckdbSession {
    /// Opens a connection to the database of `shared`, and makes a session that can execute the
    /// statements `declared`.
    pub(super) fn connect(
        shared: Arc<Shared>,
        declared: Arc<[Statement]>,
    ) -> Result<DuckdbSession, DbError> {
        let handle = Arc::new(Handle::default());
        Ok(DuckdbSession {
            connected: Connected::new(&shared, &handle, declared.len())?,
            handle,
            shared,
            statements: Statements::new(declared, put_literal),
            under_way: UnderWay::Nothing,
            traffic: Traffic::default(),
        })
    }

    /// Starts a request to execute one statement: binds its values if it is already prepared,
    /// otherwise copies them for later.
    fn start_call(&mut self, call: Call<'_>) -> Result<(), DbError> {
        let index = call.statement.index();
        let Some(prepared) = self.connected.prepared.used(index) else {
            self.under_way = UnderWay::Calls(vec![self.copy(&call)?]);
            return Ok(());
        };
        let statement = self.statements.get(index);
        self.traffic.count(statement.kind);
        bind(prepared, call.values.iter().copied()).map_err(|no| no.during(statement.name))?;
        self.under_way = UnderWay::Bound(index);
        Ok(())
    }

    fn copy(&mut self, call: &Call<'_>) -> Result<Copied, DbError> {
        let index = call.statement.index();
        if call.statement.is_control() {
            self.traffic.count(StatementKind::Other);
            let what = What::Control(Control::from_statement(call.statement));
            return Ok(Copied { index, what });
        }
        let statement = self.statements.of_call(call)?;
        let (kind, sent) = (statement.kind, statement.sent);
        let what = match sent {
            Sent::Prepared => What::Values(call.values.iter().map(Owned::of).collect()),
            Sent::Text => What::Text(self.statements.text(index, call.values)?),
        };
        self.traffic.count(kind);
        Ok(Copied { index, what })
    }

    fn carry_out(&mut self, under_way: UnderWay, visit: Visit<'_>) -> Result<Reply, DbError> {
        if self.handle.is_cancelled() {
            return Err(cancelled());
        }
        match under_way {
            UnderWay::Nothing => panic!("a reply is polled, but no request was started"),
            UnderWay::Bound(index) => {
                let statement = self.statements.get(index);
                let prepared = self.connected.ready(index, &statement.sql)?;
                run(prepared, &self.handle, &mut 0, visit).map_err(|no| no.during(statement.name))
            }
            UnderWay::Calls(calls) => self.run_calls(&calls, visit),
            UnderWay::Text(sql) => {
                run_text(&self.connected.connection, &self.handle, &sql, &mut 0, visit)
            }
            UnderWay::Control(control) => self.connected.run_control(control, &self.handle),
        }
    }

    fn run_calls(&mut self, calls: &[Copied], visit: Visit<'_>) -> Result<Reply, DbError> {
        let Self { connected, handle, statements, .. } = self;
        let (mut total, mut n_result_sets) = (Reply::default(), 0);
        for Copied { index, what } in calls {
            let mut run_one = || match what {
                What::Control(control) => connected.run_control(*control, handle),
                What::Text(sql) => {
                    run_text(&connected.connection, handle, sql, &mut n_result_sets, visit)
                }
                What::Values(values) => {
                    let prepared = connected.ready(*index, &statements.get(*index).sql)?;
                    bind(prepared, values.iter().map(Owned::value))?;
                    run(prepared, handle, &mut n_result_sets, visit)
                }
            };
            let reply = match what {
                What::Control(_) => run_one()?,
                _ => run_one().map_err(|no| no.during(statements.get(*index).name))?,
            };
            total.n_rows += reply.n_rows;
            total.n_affected += reply.n_affected;
        }
        Ok(total)
    }

    /// Completes a request: rolls back if the session was cancelled, and adds what the session
    /// knows to an error.
    fn settle(&mut self, result: Result<Reply, DbError>) -> Result<Reply, DbError> {
        if self.handle.is_cancelled() {
            // If it fails, closing the connection ends the transaction.
            let _ = run(
                self.connected.control(Control::Rollback),
                &Handle::default(),
                &mut 0,
                &mut |_| Ok(()),
            );
            return result.map_err(|_| cancelled());
        }
        let reply = result.map_err(|no| match no.kind {
            DbErrorKind::DiskFull => no.during(self.shared.location.words_when_full("no space")),
            _ => no,
        })?;
        self.traffic.count_rows(reply);
        Ok(reply)
    }

    fn load(&mut self, table: &Table, source: &mut dyn RowSource) -> Result<Reply, DbError> {
        if self.handle.is_cancelled() {
            return Err(cancelled());
        }
        let name = |no: DbError| no.during(format_args!("loading {}", table.name));
        let failed = |message| name(db_error(message));
        let mut appender = self.connected.connection.append(&table.name).map_err(failed)?;
        let (mut n_affected, mut refused) = (0, None);
        while source.next(&mut |row| {
            refused = appender.chunk().push(row).err();
            n_affected += 1;
        }) {
            if let Some(no) = refused.take() {
                return Err(name(no));
            }
            if appender.chunk().is_full() {
                appender.append().map_err(failed)?;
                if self.handle.is_cancelled() {
                    return Err(cancelled());
                }
            }
        }
        appender.finish().map_err(failed)?;
        Ok(Reply { n_rows: 0, n_affected })
    }

    fn prepare_late(&mut self, statement: Statement) -> Result<StatementId, DbError> {
        let number = self.statements.next()?;
        if statement.sent == Sent::Prepared {
            let prepared = self.connected.connection.prepare(&statement.sql).map_err(db_error)?;
            self.connected.prepared.add();
            drop(self.connected.prepared.put(number.index(), prepared, |_| false));
        } else {
            self.connected.prepared.add();
        }
        self.statements.add(statement);
        Ok(number)
    }
}

/// Executes the statements of an SQL text one after the other, and passes their rows to `visit`.
fn run_text(
    connection: &Connection,
    handle: &Handle,
    sql: &str,
    n_result_sets: &mut usize,
    visit: Visit<'_>,
) -> Result<Reply, DbError> {
    let extracted = connection.extract(sql).map_err(db_error)?;
    let mut total = Reply::default();
    for index in 0..extracted.n_statements() {
        let mut prepared = extracted.prepare(index).map_err(db_error)?;
        let reply = run(&mut prepared, handle, n_result_sets, visit)?;
        total.n_rows += reply.n_rows;
        total.n_affected += reply.n_affected;
    }
    Ok(total)
}

impl Session for DuckdbSession {
    fn start(&mut self, request: Request<'_>) -> Result<(), DbError> {
        self.traffic.round_trips += 1;
        self.under_way = UnderWay::Nothing;
        let control = match request {
            Request::Execute(call) => return self.start_call(call),
            Request::Batch(calls) => {
                let copies: Result<_, DbError> = calls.iter().map(|call| self.copy(call)).collect();
                self.under_way = UnderWay::Calls(copies?);
                return Ok(());
            }
            Request::Text { kind, sql } => {
                self.traffic.count(kind);
                self.under_way = UnderWay::Text(sql.to_owned());
                return Ok(());
            }
            Request::Prepare(_) => {
                self.under_way = UnderWay::Calls(Vec::new());
                return Ok(());
            }
            Request::Begin
            | Request::BeginPlain
            | Request::ExecuteControl(TransactionControl::Begin, _) => Control::Begin,
            Request::BeginReadOnly => Control::BeginReadOnly,
            Request::Commit | Request::ExecuteControl(TransactionControl::Commit, _) => {
                Control::Commit
            }
            Request::Rollback | Request::ExecuteControl(TransactionControl::Rollback, _) => {
                Control::Rollback
            }
        };
        self.traffic.count(StatementKind::Other);
        self.under_way = UnderWay::Control(control);
        Ok(())
    }

    fn poll_reply(
        &mut self,
        _context: &mut Context<'_>,
        visit: Visit<'_>,
    ) -> Poll<Result<Reply, DbError>> {
        let under_way = std::mem::replace(&mut self.under_way, UnderWay::Nothing);
        let result = self.carry_out(under_way, visit);
        Poll::Ready(self.settle(result))
    }

    fn poll_load(
        &mut self,
        _context: &mut Context<'_>,
        table: &Table,
        source: &mut dyn RowSource,
    ) -> Poll<Result<Reply, DbError>> {
        self.traffic.round_trips += 1;
        self.traffic.count(StatementKind::Write);
        let result = self.load(table, source);
        Poll::Ready(self.settle(result))
    }

    fn prepare(&mut self, statement: Statement) -> Result<StatementId, DbError> {
        let name = statement.name;
        self.prepare_late(statement).map_err(|no| no.during(name))
    }

    fn poll_reconnect(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), DbError>> {
        if self.handle.is_cancelled() {
            return Poll::Ready(Err(cancelled()));
        }
        self.under_way = UnderWay::Nothing;
        let n_declared = self.statements.n_declared();
        let connected = Connected::new(&self.shared, &self.handle, n_declared);
        Poll::Ready(connected.map(|connected| {
            self.connected = connected;
            self.statements.forget_late();
        }))
    }

    fn sent(&mut self, request: Request<'_>) -> Vec<SentStatement> {
        self.statements.sent(request, &BEGIN)
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }

    fn canceller(&self) -> Arc<dyn Cancel> {
        Arc::clone(&self.handle) as Arc<dyn Cancel>
    }
}
