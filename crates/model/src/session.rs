//! The interface of a session, a connection to a database: start a request, poll its reply, visit
//! the rows.
//!
//! Not here: transport (drivers), and the statements (workloads).

use std::future::{Future, poll_fn};
use std::ops::{AddAssign, Sub};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use serde::{Deserialize, Serialize};

use crate::{
    BeginSql, DbError, DbErrorKind, Row, RowSource, SentStatement, Statement, StatementId,
    StatementKind, Table, Value,
};

/// One execution of a statement, with the values of its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Statement to execute, one that was declared on connecting or prepared later.
    pub statement: StatementId,
    /// Values of the statement's parameters, in the order of its placeholders.
    pub values: &'a [Value<'a>],
}

impl Call<'_> {
    /// Creates a call that begins or ends a transaction, without values: in a batch (see
    /// [`StatementId::is_control`]), or of a prepared statement ([`Request::ExecuteControl`]).
    pub const fn control(statement: StatementId) -> Call<'static> {
        Call { statement, values: &[] }
    }
}

/// A request that a session sends to its database, such as the execution of a statement.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// Executes a statement that was declared on connecting or prepared later.
    Execute(Call<'a>),
    /// Executes SQL text, which may return several result sets.
    Text {
        /// Class of the statement: read, write or other, by which it is counted.
        kind: StatementKind,
        /// Complete text of the statement, with its values.
        sql: &'a str,
    },
    /// Executes several calls that are sent together, in order and until the first error. Only a
    /// batch can have several statements in flight. The first call may be
    /// [`StatementId::BEGIN`] or [`StatementId::BEGIN_READ_ONLY`], and the last
    /// [`StatementId::COMMIT`]. If a database would commit despite an earlier error, the driver
    /// sends COMMIT in a round trip of its own.
    Batch(&'a [Call<'a>]),
    /// Begins a transaction that may write.
    Begin,
    /// Begins a read-only transaction.
    BeginReadOnly,
    /// Begins a transaction by a bare `BEGIN`, without an access mode. In SQLite the transaction is
    /// read-only at first (`BEGIN DEFERRED`), so that it takes no write lock yet.
    BeginPlain,
    /// Commits the transaction. If the connection breaks meanwhile, the error is
    /// [`DbErrorKind::UnknownCommit`].
    Commit,
    /// Rolls back the current transaction.
    Rollback,
    /// Makes the server prepare a statement now, and not when it is first executed. The error is
    /// [`DbErrorKind::Unsupported`] if the server cannot prepare such a statement. Embedded
    /// databases have prepared it already.
    Prepare(StatementId),
    /// Begins or ends a transaction by executing a prepared statement that does nothing else.
    ExecuteControl(TransactionControl, StatementId),
}

/// What a statement does that begins or ends a transaction and has no other effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionControl {
    /// Begins a transaction that may write.
    Begin,
    /// Commits the transaction that is open.
    Commit,
    /// Rolls back the transaction that is open.
    Rollback,
}

impl TransactionControl {
    /// Returns what a text does, if that is all it does: `BEGIN`, `COMMIT` or `ROLLBACK` alone.
    pub fn of(sql: &str) -> Option<TransactionControl> {
        let word = sql.trim().trim_end_matches(';').trim_end();
        match () {
            () if word.eq_ignore_ascii_case("begin") => Some(TransactionControl::Begin),
            () if word.eq_ignore_ascii_case("commit") => Some(TransactionControl::Commit),
            () if word.eq_ignore_ascii_case("rollback") => Some(TransactionControl::Rollback),
            () => None,
        }
    }

    /// Returns the request that does the same by text: by a bare `BEGIN`.
    pub fn as_text(self) -> Request<'static> {
        match self {
            TransactionControl::Begin => Request::BeginPlain,
            TransactionControl::Commit => Request::Commit,
            TransactionControl::Rollback => Request::Rollback,
        }
    }
}

impl Request<'_> {
    /// Describes, for display, the statements that the request sends. `begin` has the statements
    /// with which the database begins a transaction; `of_call` describes one call, or returns
    /// `None` to leave it out.
    pub fn statements(
        self,
        begin: &BeginSql,
        of_call: &mut dyn FnMut(&Call<'_>) -> Option<SentStatement>,
    ) -> Vec<SentStatement> {
        let one = |sql: &str| vec![SentStatement::text(sql)];
        match self {
            Request::Execute(call) => of_call(&call).into_iter().collect(),
            Request::Text { sql, .. } => one(sql),
            Request::Batch(calls) => {
                let to_sent = |call: &Call<'_>| match call.statement {
                    StatementId::BEGIN => Some(SentStatement::text(begin.writes)),
                    StatementId::BEGIN_READ_ONLY => Some(SentStatement::text(begin.reads)),
                    StatementId::COMMIT => Some(SentStatement::text("COMMIT")),
                    _ => of_call(call),
                };
                calls.iter().filter_map(to_sent).collect()
            }
            Request::Begin => one(begin.writes),
            Request::BeginReadOnly => one(begin.reads),
            Request::BeginPlain => one(begin.plain),
            Request::Commit => one("COMMIT"),
            Request::Rollback => one("ROLLBACK"),
            Request::Prepare(_) => Vec::new(),
            Request::ExecuteControl(_, statement) => {
                of_call(&Call::control(statement)).into_iter().collect()
            }
        }
    }
}

/// Row counts of the reply to a request; the rows themselves go to a [`Visit`] callback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Number of rows that the reply contained, over all its result sets.
    pub n_rows: u64,
    /// Number of rows that the request changed, as the database reports it.
    pub n_affected: u64,
}

/// Statements, round trips, bytes and rows of a session since it was opened, or of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Number of executed statements that only read.
    pub reads: u64,
    /// Number of executed statements that write.
    pub writes: u64,
    /// Number of other executed statements, such as BEGIN, COMMIT and DDL.
    pub others: u64,
    /// Number of round trips: a request was sent and its reply awaited.
    pub round_trips: u64,
    /// Bytes written to the socket; 0 if the database is not reached through a socket.
    pub bytes_out: u64,
    /// Bytes read from the socket; 0 if the database is not reached through a socket.
    pub bytes_in: u64,
    /// Number of rows returned or changed, as the database reports it; 0 in older runs, which did
    /// not store it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rows: u64,
    /// Number of statements that the database refused; known only of clients that count their
    /// statements themselves ([`Client::counted`](crate::Client::counted)).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refused: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Traffic {
    /// Returns the number of statements of all kinds: reads, writes and others.
    pub fn queries(&self) -> u64 {
        self.reads + self.writes + self.others
    }

    /// Adds one to the number of statements of class `kind`.
    pub fn count(&mut self, kind: StatementKind) {
        match kind {
            StatementKind::Read => self.reads += 1,
            StatementKind::Write => self.writes += 1,
            StatementKind::Other => self.others += 1,
        }
    }

    /// Adds the rows that a reply returned and changed to the number of rows.
    #[inline]
    pub fn count_rows(&mut self, reply: Reply) {
        self.rows += reply.n_rows + reply.n_affected;
    }

    /// Returns the number of bytes sent and received together.
    pub fn bytes(&self) -> u64 {
        self.bytes_out + self.bytes_in
    }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.others += other.others;
        self.round_trips += other.round_trips;
        self.bytes_out += other.bytes_out;
        self.bytes_in += other.bytes_in;
        self.rows += other.rows;
        self.refused += other.refused;
    }
}

impl Sub for Traffic {
    type Output = Traffic;

    fn sub(self, before: Traffic) -> Traffic {
        Traffic {
            reads: self.reads - before.reads,
            writes: self.writes - before.writes,
            others: self.others - before.others,
            round_trips: self.round_trips - before.round_trips,
            bytes_out: self.bytes_out - before.bytes_out,
            bytes_in: self.bytes_in - before.bytes_in,
            rows: self.rows - before.rows,
            refused: self.refused - before.refused,
        }
    }
}

/// Callback that gets each row of a reply, without a copy. If the callback fails, reading the reply
/// ends with its error.
pub type Visit<'v> = &'v mut dyn FnMut(&dyn Row) -> Result<(), DbError>;

/// A handle with which another thread cancels the work of a session, which cannot be undone.
pub trait Cancel: Send + Sync {
    /// Interrupts the session's running statement, and makes every later statement fail too.
    fn cancel(&self);
}

/// A connection to a database, which stays on the thread that made it.
pub trait Session {
    /// Starts a request without waiting for its reply. Only one request may be in flight. Fails if
    /// the request is rejected before it is sent.
    fn start(&mut self, request: Request<'_>) -> Result<(), DbError>;

    /// Waits for the complete reply to the request in flight and passes its rows to `visit`. Blocks
    /// if the client has a thread of its own; otherwise returns `Pending` until the reply is
    /// complete. Fails with the error of the database or of `visit`.
    fn poll_reply(
        &mut self,
        context: &mut Context<'_>,
        visit: Visit<'_>,
    ) -> Poll<Result<Reply, DbError>>;

    /// Loads the rows of `source` into a table by the fastest method of the database, within the
    /// current transaction, without holding all rows in memory.
    fn poll_load(
        &mut self,
        context: &mut Context<'_>,
        table: &Table,
        source: &mut dyn RowSource,
    ) -> Poll<Result<Reply, DbError>>;

    /// Prepares a statement that was not declared on connecting. Its identifier is valid until the
    /// session reconnects. Fails if there are too many statements, or the connection is broken.
    fn prepare(&mut self, statement: Statement) -> Result<StatementId, DbError>;

    /// Closes a prepared statement on the server, with the next request or at the end of the
    /// session. Never waits. The statement may be executed again, and is then prepared
    /// again. A session that need not tell the database does nothing.
    fn close(&mut self, _statement: StatementId) {}

    /// Reconnects, either after an error that [breaks the session](DbErrorKind::breaks_session), or
    /// to move to another host.
    fn poll_reconnect(&mut self, context: &mut Context<'_>) -> Poll<Result<(), DbError>>;

    /// Disconnects from the database. The session must reconnect before its next request. Called
    /// between transactions; never waits. A session that need not tell the database does nothing,
    /// and is closed by [`Session::poll_reconnect`].
    fn disconnect(&mut self) {}

    /// Whether the session must reconnect before the next transaction, because its client was
    /// assigned to another host. Called between transactions; returns true only once for each
    /// assignment.
    fn should_move(&mut self) -> bool {
        false
    }

    /// Whether the server has closed the idle connection, so that the next request would fail.
    /// Called between transactions; never waits.
    fn has_ended(&mut self) -> bool {
        false
    }

    /// Makes the next [`Session::poll_reconnect`] use another host, if there is one, because the
    /// current host rejects requests.
    fn leave_host(&mut self) {}

    /// Returns statements, round trips, bytes and rows of the session since it was opened.
    fn traffic(&self) -> Traffic;

    /// Returns a handle with which another thread can cancel the running statement. The session
    /// keeps a reference to the handle as long as it lives.
    fn canceller(&self) -> Arc<dyn Cancel>;

    /// Describes the statements that a request would send now, for display; empty if the driver
    /// does not support this.
    fn sent(&mut self, _request: Request<'_>) -> Vec<SentStatement> {
        Vec::new()
    }

    /// Starts to measure how long replies wait in the socket before they are read, for a sample of
    /// the round trips; continues after a reconnect. The results, or the reason why this cannot be
    /// measured, go to `lags`.
    fn measure_reply_lag(&mut self, lags: Rc<dyn ReplyLags>) {
        lags.unavailable("the database is not reached through a socket");
    }
}

/// Receiver of reply lags. A reply lag is the time that a reply waits in the socket before it is
/// read. The kernel timestamps received data by `CLOCK_REALTIME`, so the lag is measured on that
/// clock.
pub trait ReplyLags {
    /// Returns the nanoseconds from `arrived_unix_ns`, an instant of `CLOCK_REALTIME`, until now;
    /// `None` if that clock was changed meanwhile.
    fn since_ns(&self, arrived_unix_ns: u64) -> Option<u64>;

    /// Returns the nanoseconds since a fixed instant, as of the last tick of the kernel's clock,
    /// which is cheaper to read than the exact time.
    fn coarse_ns(&self) -> u64;

    /// Records the reply lag of a sampled round trip, in nanoseconds.
    fn record(&self, lag_ns: u64);

    /// Records the lag of a late reply, in nanoseconds and exact to a few milliseconds. Called for
    /// all round trips, not only sampled ones.
    fn record_late(&self, lag_ns: u64);

    /// Reports that reply lags cannot be measured on this connection, with the reason.
    fn unavailable(&self, why: &str);
}

/// Executes a statement and discards the rows that it returns. Fails with the error of the
/// database.
pub async fn execute(
    session: &mut dyn Session,
    statement: StatementId,
    values: &[Value<'_>],
) -> Result<Reply, DbError> {
    query(session, Request::Execute(Call { statement, values }), &mut |_| Ok(())).await
}

/// Sends a request, waits for the reply, and passes its rows to `visit`. Fails with the error of
/// the database or of `visit`.
pub fn query<'s>(
    session: &'s mut dyn Session,
    request: Request<'_>,
    visit: Visit<'s>,
) -> impl Future<Output = Result<Reply, DbError>> + use<'s> {
    let mut started = Some(session.start(request));
    poll_fn(move |context| match started.take() {
        Some(Err(db_error)) => Poll::Ready(Err(db_error)),
        _ => session.poll_reply(context, visit),
    })
}

/// Executes a statement that returns one integer; `None` if the integer is null, or no row is
/// returned. Fails with the error of the database, or if the first column is not an integer.
pub async fn query_number(
    session: &mut dyn Session,
    statement: StatementId,
    values: &[Value<'_>],
) -> Result<Option<i64>, DbError> {
    let mut number = None;
    query(session, Request::Execute(Call { statement, values }), &mut |row: &dyn Row| {
        number = row.optional_int(0)?;
        Ok(())
    })
    .await?;
    Ok(number)
}

/// Loads rows into a table: the async form of [`Session::poll_load`].
pub async fn load(
    session: &mut dyn Session,
    table: &Table,
    source: &mut dyn RowSource,
) -> Result<Reply, DbError> {
    poll_fn(|context| session.poll_load(context, table, source)).await
}

/// Reconnects a session: the async form of [`Session::poll_reconnect`].
pub async fn reconnect(session: &mut dyn Session) -> Result<(), DbError> {
    poll_fn(|context| session.poll_reconnect(context)).await
}

impl dyn Session + '_ {
    /// Creates the error of a driver that does not support an operation. `what` completes the
    /// sentence "this driver cannot", such as `prepare statements`.
    pub fn unsupported(what: &str) -> DbError {
        DbError::new(DbErrorKind::Unsupported, format!("this driver cannot {what}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: BeginSql = BeginSql { writes: "W", reads: "R", plain: "P" };

    #[test]
    fn each_statement_of_a_request_is_told_in_order() {
        let sql = |request: Request<'_>| -> Vec<String> {
            let of_call = |call: &Call<'_>| {
                Some(SentStatement::prepared("x", &format!("s{}", call.statement.0), call.values))
            };
            let all = request.statements(&BEGIN, &mut { of_call });
            all.into_iter().map(|one| one.sql).collect()
        };
        let call = Call { statement: StatementId(3), values: &[] };
        assert_eq!(sql(Request::Execute(call)), ["s3"]);
        let [begin, commit] = [StatementId::BEGIN, StatementId::COMMIT].map(Call::control);
        assert_eq!(sql(Request::Batch(&[begin, call, call, commit])), ["W", "s3", "s3", "COMMIT"]);
        assert_eq!(sql(Request::BeginReadOnly), ["R"]);
        assert_eq!(sql(Request::BeginPlain), ["P"]);
        assert_eq!(sql(Request::Rollback), ["ROLLBACK"]);
        let commit = Request::ExecuteControl(TransactionControl::Commit, StatementId(4));
        assert_eq!(sql(commit), ["s4"]);
        assert!(sql(Request::Prepare(StatementId(4))).is_empty());
    }

    #[test]
    fn transactions_are_begun_and_ended_by_texts_of_one_word() {
        let check = |sql: &str, expect: Option<TransactionControl>| {
            assert_eq!(TransactionControl::of(sql), expect, "{sql}");
        };
        check("begin", Some(TransactionControl::Begin));
        check(" COMMIT ; ", Some(TransactionControl::Commit));
        check("ROLLBACK", Some(TransactionControl::Rollback));
        check("BEGIN; SELECT 1", None);
        check("COMMIT WORK", None);
    }
}
