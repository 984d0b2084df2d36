//! A session of SQLite: one connection, which executes the requests of a client.
//!
//! The values of a prepared statement are bound in `start`, and the statement runs in `poll_reply`,
//! so that nothing is copied and `start` never waits. Other requests (first use of a statement, a
//! batch, text) are copied in `start`, since preparing a statement reads the schema and may have to
//! queue for the database. A statement sent as text is never prepared: it is compiled at each
//! execution, with its values as literals.

use std::sync::Arc;
use std::task::{Context, Poll};

use model::{
    Call, Cancel, DbError, DbErrorKind, Reply, Request, RowSource, Sent, SentStatement, Session,
    Statement, StatementId, StatementKind, Table, Traffic, TransactionControl, Visit,
};
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::{Batch, Connection};

use super::cancel::Handle;
use super::db_errors::db_error;
use super::literals::put_literal;
use super::monitoring::Turns;
use super::opening::{Shared, open_connection};
use super::sql::{BEGIN, DIALECT};
use super::statements::{Connected, Prepared, Ready};
use super::values::{Given, owned};
use super::write_permit::WritePermit;
use crate::embedded::statements::Statements;
use crate::embedded::{Control, cancelled};

/// Start of the error message if a database in memory is full.
const FULL_MEMORY: &str = "an in-memory database holds at most 2 GiB: use a file";

pub(super) struct SqliteSession {
    // Fields are dropped in this order: the connection is closed before the turn is returned.
    connected: Connected,
    permit: WritePermit,
    pub(super) handle: Arc<Handle>,
    shared: Arc<Shared>,
    statements: Statements,
    /// Index of the prepared statement that runs next, with its values already bound; `None` if the
    /// request is of another kind.
    bound: Option<usize>,
    /// Request that was started and has not run yet, other than a prepared statement with bound
    /// values.
    under_way: UnderWay,
    turns: Turns,
    traffic: Traffic,
}

/// A request that was started and has not run yet, other than a prepared statement with bound
/// values.
enum UnderWay {
    Nothing,
    Calls(Vec<Copied>),
    Text { kind: StatementKind, sql: String },
    Control(Control),
}

/// A statement to be executed, with copies of its values, since the caller's values may be gone by
/// then.
struct Copied {
    index: usize,
    what: What,
}

enum What {
    /// Values to be bound to a prepared statement.
    Values(Vec<rusqlite::types::Value>),
    /// SQL text of a statement, with its values as literals.
    Text(String),
    /// BEGIN or COMMIT, as a part of a batch.
    Control(Control),
}

impl SqliteSession {
    /// Opens a connection to the database of `shared`, and creates a session that can execute the
    /// statements `declared`.
    pub(super) fn connect(
        shared: Arc<Shared>,
        declared: Arc<[Statement]>,
    ) -> Result<SqliteSession, DbError> {
        let handle = Arc::new(Handle::default());
        Ok(SqliteSession {
            connected: connect(&shared, &handle, declared.len())?,
            permit: WritePermit::new(Arc::clone(&shared), Arc::clone(&handle)),
            handle,
            shared,
            statements: Statements::new(declared, put_literal),
            bound: None,
            under_way: UnderWay::Nothing,
            turns: Turns::default(),
            traffic: Traffic::default(),
        })
    }

    /// Starts a request to execute one statement: binds its values if it is already prepared,
    /// otherwise copies them for later.
    fn start_call(&mut self, call: Call<'_>) -> Result<(), DbError> {
        let index = call.statement.index();
        let bound = self.connected.with_dependent_mut(|_, prepared| {
            let ready = prepared.ready.used(index)?;
            self.traffic.count(ready.kind);
            Some(ready.bind(call.values.iter().map(Given)))
        });
        match bound {
            Some(Ok(())) => self.bound = Some(index),
            Some(Err(no)) => return Err(self.name(no, index)),
            None => self.under_way = UnderWay::Calls(vec![self.copy(&call)?]),
        }
        Ok(())
    }

    /// Runs the prepared statement at `index` with the values that are already bound, and passes
    /// its rows to `visit`. This is the hot path.
    #[inline]
    fn run_bound(&mut self, index: usize, visit: Visit<'_>) -> Result<Reply, DbError> {
        let Self { connected, permit, .. } = self;
        let (kind, result) = connected.with_dependent_mut(|connection, prepared| {
            let ready = prepared.at(index);
            let passed = permit.acquire(connection, ready.writes);
            (ready.kind, passed.and_then(|()| ready.run(connection, 0, visit)))
        });
        match result {
            Ok(reply) if kind != StatementKind::Other => {
                self.permit.settle_statement(self.connected.borrow_owner());
                Ok(reply)
            }
            result => {
                self.settle();
                result.map_err(|no| self.explain(self.name(no, index)))
            }
        }
    }

    #[cold]
    fn name(&self, no: DbError, index: usize) -> DbError {
        no.during(self.statements.get(index).name)
    }

    fn copy(&mut self, call: &Call<'_>) -> Result<Copied, DbError> {
        let index = call.statement.index();
        if call.statement.is_control() {
            self.traffic.count(StatementKind::Other);
            return Ok(Copied {
                index,
                what: What::Control(Control::from_statement(call.statement)),
            });
        }
        let statement = self.statements.of_call(call)?;
        let (kind, sent) = (statement.kind, statement.sent);
        let what = match sent {
            Sent::Prepared => What::Values(call.values.iter().map(owned).collect()),
            Sent::Text => What::Text(self.statements.text(index, call.values)?),
        };
        self.traffic.count(kind);
        Ok(Copied { index, what })
    }

    fn carry_out(&mut self, under_way: UnderWay, visit: Visit<'_>) -> Result<Reply, DbError> {
        let Self { connected, permit, statements, .. } = self;
        connected.with_dependent_mut(|connection, prepared| match under_way {
            UnderWay::Nothing => panic!("a reply is polled, but no request was started"),
            UnderWay::Calls(calls) => {
                run_calls(connection, prepared, permit, &calls, statements, visit)
            }
            UnderWay::Text { kind, sql } => run_text(connection, permit, kind, &sql, visit),
            UnderWay::Control(control) => run_control(connection, prepared, permit, control),
        })
    }

    /// Ends a request: rolls back if the session was cancelled, and lets the next session in the
    /// queue use the database unless a transaction is open.
    fn settle(&mut self) {
        if self.handle.is_cancelled() {
            self.roll_back();
        }
        self.permit.settle(self.connected.borrow_owner());
    }

    /// Rolls back the open transaction, if there is one, instead of waiting until the connection is
    /// closed.
    fn roll_back(&mut self) {
        self.connected.with_dependent_mut(|connection, prepared| {
            if !connection.is_autocommit() {
                // If it fails, closing the connection ends the transaction.
                let _ = prepared.rollback.raw_execute();
            }
        });
    }

    fn prepare_late(&mut self, statement: Statement) -> Result<StatementId, DbError> {
        let number = self.statements.next()?;
        let Self { connected, permit, .. } = self;
        connected.with_dependent_mut(|connection, prepared| {
            let ready = match statement.sent {
                Sent::Text => None,
                Sent::Prepared => {
                    permit.acquire(connection, false)?;
                    Some(Ready::new(connection, statement.kind, &statement.sql)?)
                }
            };
            let index = prepared.ready.n_known();
            prepared.ready.add();
            drop(ready.map(|ready| prepared.ready.put(index, ready, |_| false)));
            Ok(())
        })?;
        self.statements.add(statement);
        Ok(number)
    }

    fn load(&mut self, table: &Table, source: &mut dyn RowSource) -> Result<Reply, DbError> {
        let Self { connected, permit, handle, .. } = self;
        connected.with_dependent_mut(|connection, _| {
            permit.acquire(connection, true)?;
            let sql = DIALECT.insert(table);
            let mut insert = Ready::new(connection, StatementKind::Write, &sql)?;
            let mut n_affected = 0;
            let mut refused = None;
            loop {
                let more = source.next(&mut |row| {
                    let bound = insert.bind(row.iter().map(Given));
                    match bound.and_then(|()| insert.run(connection, 0, &mut |_| Ok(()))) {
                        Ok(reply) => n_affected += reply.n_affected,
                        Err(no) => refused = Some(no),
                    }
                });
                if let Some(no) = refused {
                    return Err(no.during(format_args!("loading {}", table.name)));
                }
                if handle.is_cancelled() {
                    return Err(cancelled());
                }
                if !more {
                    return Ok(Reply { n_rows: 0, n_affected });
                }
            }
        })
    }

    fn reconnect(&mut self) -> Result<(), DbError> {
        if self.handle.is_cancelled() {
            return Err(cancelled());
        }
        (self.bound, self.under_way) = (None, UnderWay::Nothing);
        self.roll_back();
        self.permit.settle(self.connected.borrow_owner());
        let n_declared = self.statements.n_declared();
        self.connected = connect(&self.shared, &self.handle, n_declared)?;
        self.permit.settle(self.connected.borrow_owner());
        self.statements.forget_late();
        Ok(())
    }

    /// Completes an error with what the session knows: replaces it if the session was cancelled,
    /// and adds the database's location if it has no space left.
    fn explain(&self, no: DbError) -> DbError {
        match no.kind {
            // A cancelled wait for another process's lock.
            DbErrorKind::Busy if self.handle.is_cancelled() => cancelled(),
            DbErrorKind::DiskFull => no.during(self.shared.location.words_when_full(FULL_MEMORY)),
            _ => no,
        }
    }
}

impl Session for SqliteSession {
    fn start(&mut self, request: Request<'_>) -> Result<(), DbError> {
        self.traffic.round_trips += 1;
        self.bound = None;
        let control = match request {
            Request::Execute(call) => return self.start_call(call),
            Request::Batch(calls) => {
                let copies: Result<_, DbError> = calls.iter().map(|call| self.copy(call)).collect();
                self.under_way = UnderWay::Calls(copies?);
                return Ok(());
            }
            Request::Text { kind, sql } => {
                self.traffic.count(kind);
                self.under_way = UnderWay::Text { kind, sql: sql.to_owned() };
                return Ok(());
            }
            Request::Prepare(_) => {
                self.under_way = UnderWay::Calls(Vec::new());
                return Ok(());
            }
            Request::Begin | Request::ExecuteControl(TransactionControl::Begin, _) => {
                Control::Begin
            }
            Request::BeginReadOnly | Request::BeginPlain => Control::BeginReadOnly,
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
        self.turns.count(&self.shared.caches, self.connected.borrow_owner());
        if let Some(index) = self.bound.take() {
            let result = self.run_bound(index, visit);
            return Poll::Ready(result.inspect(|reply| self.traffic.count_rows(*reply)));
        }
        let under_way = std::mem::replace(&mut self.under_way, UnderWay::Nothing);
        let result = self.carry_out(under_way, visit);
        self.settle();
        let result = result.inspect(|reply| self.traffic.count_rows(*reply));
        Poll::Ready(result.map_err(|no| self.explain(no)))
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
        self.settle();
        let result = result.inspect(|reply| self.traffic.count_rows(*reply));
        Poll::Ready(result.map_err(|no| self.explain(no)))
    }

    fn prepare(&mut self, statement: Statement) -> Result<StatementId, DbError> {
        let name = statement.name;
        let result = self.prepare_late(statement);
        self.settle();
        result.map_err(|no| no.during(name))
    }

    fn poll_reconnect(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), DbError>> {
        Poll::Ready(self.reconnect())
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

impl Drop for SqliteSession {
    fn drop(&mut self) {
        self.roll_back();
    }
}

fn connect(
    shared: &Shared,
    handle: &Arc<Handle>,
    n_statements: usize,
) -> Result<Connected, DbError> {
    let connection = open_connection(shared, handle)?;
    Connected::try_new(connection, |connection| Prepared::new(connection, n_statements))
}

fn run_calls<'c>(
    connection: &'c Connection,
    prepared: &mut Prepared<'c>,
    permit: &mut WritePermit,
    calls: &[Copied],
    statements: &Statements,
    visit: Visit<'_>,
) -> Result<Reply, DbError> {
    let mut total = Reply::default();
    let mut result_set = 0;
    for call in calls {
        if let What::Control(control) = call.what {
            run_control(connection, prepared, permit, control)?;
            continue;
        }
        let statement = statements.get(call.index);
        let mut run = || {
            let mut compiled;
            let ready = match &call.what {
                What::Text(sql) => {
                    permit.acquire(connection, false)?;
                    compiled = Ready::once(connection, statement.kind, sql)?;
                    &mut compiled
                }
                What::Values(values) => {
                    if prepared.ready.used(call.index).is_none() {
                        permit.acquire(connection, false)?;
                        let ready = Ready::new(connection, statement.kind, &statement.sql)?;
                        drop(prepared.ready.put(call.index, ready, |_| false));
                    }
                    let ready = prepared.at(call.index);
                    ready.bind(values.iter())?;
                    ready
                }
                What::Control(_) => unreachable!("it was carried out before"),
            };
            permit.acquire(connection, ready.writes)?;
            let reply = ready.run(connection, result_set, visit)?;
            result_set += usize::from(ready.has_rows);
            Ok(reply)
        };
        let reply = run().map_err(|no: DbError| no.during(statement.name))?;
        total.n_rows += reply.n_rows;
        total.n_affected += reply.n_affected;
    }
    Ok(total)
}

/// Executes the statements of an SQL text one after the other, and passes their rows to `visit`.
/// Each statement that returns rows counts as a result set.
fn run_text(
    connection: &Connection,
    permit: &mut WritePermit,
    kind: StatementKind,
    sql: &str,
    visit: Visit<'_>,
) -> Result<Reply, DbError> {
    permit.acquire(connection, false)?;
    let mut total = Reply::default();
    let mut result_set = 0;
    let mut batch = Batch::new(connection, sql);
    while let Some(statement) = batch.next().map_err(db_error)? {
        let mut ready = Ready::from_statement(statement, kind);
        permit.acquire(connection, ready.writes)?;
        let n_changes = connection.total_changes();
        let reply = ready.run(connection, result_set, visit)?;
        result_set += usize::from(ready.has_rows);
        total.n_rows += reply.n_rows;
        // DDL leaves the count of changed rows of the previous statement.
        if connection.total_changes() != n_changes {
            total.n_affected += reply.n_affected;
        }
    }
    Ok(total)
}

fn run_control(
    connection: &Connection,
    prepared: &mut Prepared<'_>,
    permit: &mut WritePermit,
    control: Control,
) -> Result<Reply, DbError> {
    let statement = match control {
        Control::Begin => {
            permit.acquire(connection, true)?;
            &mut prepared.begin
        }
        Control::BeginReadOnly => {
            permit.acquire(connection, false)?;
            &mut prepared.begin_read_only
        }
        Control::Commit => {
            permit.acquire(connection, false)?;
            &mut prepared.commit
        }
        Control::Rollback => {
            permit.acquire(connection, false)?;
            if connection.is_autocommit() {
                // SQLite has rolled back by itself (disk full, interrupt): nothing is left.
                return Ok(Reply::default());
            }
            &mut prepared.rollback
        }
    };
    statement.raw_execute().map_err(db_error)?;
    match control {
        Control::Begin => permit.begin(false),
        Control::BeginReadOnly => permit.begin(true),
        Control::Commit | Control::Rollback => {}
    }
    Ok(Reply::default())
}
