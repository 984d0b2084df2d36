//! A connection to a database, object-safe: start a request, poll its reply, visit its rows.
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

/// One statement with its values.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The statement to execute.
    pub statement: StatementId,
    /// Values of its parameters, in order.
    pub values: &'a [Value<'a>],
}

impl Call<'_> {
    /// Makes a call that begins or commits a transaction: a [control](StatementId::is_control) of a
    /// batch.
    pub const fn control(statement: StatementId) -> Call<'static> {
        Call { statement, values: &[] }
    }
}

/// A request to a database.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// A declared (or run-time prepared) statement with typed values.
    Execute(Call<'a>),
    /// A statement as text, with one or several result sets.
    Text {
        /// Classification of the statement for counting.
        kind: StatementKind,
        /// The complete text, values included.
        sql: &'a str,
    },
    /// Several calls sent together, executed in order until the first error. This is the only way
    /// to have more than one statement in flight. The first call may be [`StatementId::BEGIN`] or
    /// [`StatementId::BEGIN_READ_ONLY`], the last [`StatementId::COMMIT`]; if the database would
    /// commit despite an error, the driver sends COMMIT in another round trip.
    Batch(&'a [Call<'a>]),
    /// Begins a transaction that may write.
    Begin,
    /// Begins a read-only transaction.
    BeginReadOnly,
    /// Begins a transaction by a bare `BEGIN`, without an access mode. If a database takes its
    /// write lock by that word (SQLite), the transaction begins as a read-only one.
    BeginPlain,
    /// Commits. A connection lost meanwhile is [`DbErrorKind::UnknownCommit`].
    Commit,
    /// Rolls back the current transaction.
    Rollback,
}

impl Request<'_> {
    /// Returns the statements of this request; `of_call` looks up a call, `begin` has the dialect's
    /// words.
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
        }
    }
}

/// The result of a request, without its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Rows visited, over all result sets.
    pub n_rows: u64,
    /// Rows changed, as the database reports.
    pub n_affected: u64,
}

/// Traffic of a session since it was opened, or of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Number of reading statements.
    pub reads: u64,
    /// Number of writing statements.
    pub writes: u64,
    /// Number of other statements: BEGIN, COMMIT, DDL.
    pub others: u64,
    /// Number of times that a request was sent and its reply awaited.
    pub round_trips: u64,
    /// Bytes written to the connection; 0 without a connection.
    pub bytes_out: u64,
    /// Bytes read from the connection; 0 without a connection.
    pub bytes_in: u64,
    /// Rows returned or changed, as the database reports; 0 in older runs, which did not keep it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rows: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Traffic {
    /// Returns the number of statements of all kinds.
    pub fn queries(&self) -> u64 {
        self.reads + self.writes + self.others
    }

    /// Counts one statement of `kind`.
    pub fn count(&mut self, kind: StatementKind) {
        match kind {
            StatementKind::Read => self.reads += 1,
            StatementKind::Write => self.writes += 1,
            StatementKind::Other => self.others += 1,
        }
    }

    /// Adds the rows of a reply, returned and changed.
    #[inline]
    pub fn count_rows(&mut self, reply: Reply) {
        self.rows += reply.n_rows + reply.n_affected;
    }

    /// Returns the bytes in both directions.
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
        }
    }
}

/// Callback for each row of a reply, in place. An error ends the reply.
pub type Visit<'v> = &'v mut dyn FnMut(&dyn Row) -> Result<(), DbError>;

/// Cancellation of a session's work from another thread, permanently.
pub trait Cancel: Send + Sync {
    /// Interrupts the running statement and every later one.
    fn cancel(&self);
}

/// A connection to a database. It stays on the worker that made it.
pub trait Session {
    /// Starts a request without waiting. Only one request may be in flight. Fails if the request is
    /// rejected before it is sent.
    fn start(&mut self, request: Request<'_>) -> Result<(), DbError>;

    /// Drives the request in flight until its reply is complete; `visit` sees the rows. Blocks on a
    /// thread. Fails with the error of the database or of `visit`.
    fn poll_reply(
        &mut self,
        context: &mut Context<'_>,
        visit: Visit<'_>,
    ) -> Poll<Result<Reply, DbError>>;

    /// Loads rows into a table by the database's fastest method, within the current transaction.
    /// Rows are pulled from `source`; at most a chunk is buffered.
    fn poll_load(
        &mut self,
        context: &mut Context<'_>,
        table: &Table,
        source: &mut dyn RowSource,
    ) -> Poll<Result<Reply, DbError>>;

    /// Prepares a statement at run time. The identifier is valid until the session reconnects.
    fn prepare(&mut self, statement: Statement) -> Result<StatementId, DbError>;

    /// Connects again, after an error that [breaks the session](DbErrorKind::breaks_session) or to
    /// move to another host.
    fn poll_reconnect(&mut self, context: &mut Context<'_>) -> Poll<Result<(), DbError>>;

    /// Whether the session must reconnect before the next transaction, because another host is now
    /// assigned to it. Called between transactions; true at most once for each change.
    fn should_move(&mut self) -> bool {
        false
    }

    /// Whether the other side has closed the idle connection, so that the next request would be
    /// lost. Called between transactions; never waits.
    fn has_ended(&mut self) -> bool {
        false
    }

    /// Chooses another host, if there are several, because the current one rejects requests. Called
    /// before [`Session::poll_reconnect`].
    fn leave_host(&mut self) {}

    /// Returns the traffic so far.
    fn traffic(&self) -> Traffic;

    /// Returns a handle with which another thread can cancel the running statement. The session
    /// keeps a reference as long as it lives.
    fn canceller(&self) -> Arc<dyn Cancel>;

    /// Returns the statements of a request as the session would send them now; empty if not
    /// supported.
    fn sent(&mut self, _request: Request<'_>) -> Vec<SentStatement> {
        Vec::new()
    }

    /// Starts to measure how long replies wait in the socket before they are read, for a sample of
    /// round trips, across reconnects. A session that cannot measure this reports the reason to
    /// `lags`.
    fn measure_reply_lag(&mut self, lags: Rc<dyn ReplyLags>) {
        lags.unavailable("the database is not reached through a socket");
    }
}

/// Receiver of reply lags: the time that replies wait in a session's socket before they are read.
/// The kernel stamps received data with real time, so the lag is measured by that clock.
pub trait ReplyLags {
    /// Returns the nanoseconds from `arrived_unix_ns`, an instant of `CLOCK_REALTIME`, to now;
    /// `None` if that clock was set meanwhile.
    fn since_ns(&self, arrived_unix_ns: u64) -> Option<u64>;

    /// Returns nanoseconds since a fixed instant, as of the last tick of the kernel's clock, which
    /// is cheaper to read than the exact time.
    fn coarse_ns(&self) -> u64;

    /// Records the reply lag of one sampled round trip.
    fn record(&self, lag_ns: u64);

    /// Records the reply lag of any round trip with a late reply, to a few milliseconds.
    fn record_late(&self, lag_ns: u64);

    /// Reports that this connection has no reply lags, and why.
    fn unavailable(&self, why: &str);
}

/// Executes a statement and discards its rows.
pub async fn execute(
    session: &mut dyn Session,
    statement: StatementId,
    values: &[Value<'_>],
) -> Result<Reply, DbError> {
    query(session, Request::Execute(Call { statement, values }), &mut |_| Ok(())).await
}

/// Sends a request and visits the rows of its reply.
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

/// Executes a statement that returns one integer; `None` if it is null, or there is no row.
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

/// Loads rows into a table; see [`Session::poll_load`].
pub async fn load(
    session: &mut dyn Session,
    table: &Table,
    source: &mut dyn RowSource,
) -> Result<Reply, DbError> {
    poll_fn(|context| session.poll_load(context, table, source)).await
}

/// Connects again; see [`Session::poll_reconnect`].
pub async fn reconnect(session: &mut dyn Session) -> Result<(), DbError> {
    poll_fn(|context| session.poll_reconnect(context)).await
}

impl dyn Session + '_ {
    /// Makes the error of a driver that cannot do `what`.
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
    }
}
