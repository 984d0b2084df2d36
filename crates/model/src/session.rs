//! A conversation with a database, object-safe: start a request, poll its reply, visit its rows.
//!
//! Not here: how bytes move (drivers), and what is said (workloads).

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
    /// Which statement.
    pub statement: StatementId,
    /// Its values, in order.
    pub values: &'a [Value<'a>],
}

impl Call<'_> {
    /// Begins a transaction, commits it: a [control](StatementId::is_control) of a batch.
    pub const fn control(statement: StatementId) -> Call<'static> {
        Call { statement, values: &[] }
    }
}

/// What is asked of a database.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// A declared (or run-time prepared) statement with typed values.
    Execute(Call<'a>),
    /// A statement as text, one or several result sets.
    Text {
        /// How it is counted.
        kind: StatementKind,
        /// The text, complete.
        sql: &'a str,
    },
    /// Several calls in one flight, in order; the first database error ends it. This is the only
    /// way in which a conversation has more than one statement under way. The first may be
    /// [`StatementId::BEGIN`] or [`StatementId::BEGIN_READ_ONLY`], the last
    /// [`StatementId::COMMIT`]; a driver takes another round trip for a COMMIT that must not be
    /// carried out after a database error, where its database would.
    Batch(&'a [Call<'a>]),
    /// Begins a transaction that may write.
    Begin,
    /// Begins a transaction that only reads.
    BeginReadOnly,
    /// Begins a transaction that does not say whether it will write, by a bare `BEGIN`. Where a
    /// database takes its lock by that word (SQLite), it begins as one that only reads.
    BeginPlain,
    /// Commits. A connection lost meanwhile is [`DbErrorKind::UnknownCommit`].
    Commit,
    /// Rolls back.
    Rollback,
}

impl Request<'_> {
    /// Its statements, where `of_call` knows that of a call, and a transaction begins so.
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
                let of = |call: &Call<'_>| match call.statement {
                    StatementId::BEGIN => Some(SentStatement::text(begin.writes)),
                    StatementId::BEGIN_READ_ONLY => Some(SentStatement::text(begin.reads)),
                    StatementId::COMMIT => Some(SentStatement::text("COMMIT")),
                    _ => of_call(call),
                };
                calls.iter().filter_map(of).collect()
            }
            Request::Begin => one(begin.writes),
            Request::BeginReadOnly => one(begin.reads),
            Request::BeginPlain => one(begin.plain),
            Request::Commit => one("COMMIT"),
            Request::Rollback => one("ROLLBACK"),
        }
    }
}

/// What came of a request, rows apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Rows visited, over all result sets.
    pub n_rows: u64,
    /// Rows changed, as the database says.
    pub n_affected: u64,
}

/// What a session has moved since it exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Statements that read.
    pub reads: u64,
    /// Statements that write.
    pub writes: u64,
    /// Other statements: BEGIN, COMMIT, DDL.
    pub others: u64,
    /// Times that a request went out and its answer was waited for.
    pub round_trips: u64,
    /// Bytes written to the connection, 0 where there is none.
    pub bytes_out: u64,
    /// Bytes read from the connection, 0 where there is none.
    pub bytes_in: u64,
    /// Rows that came back or were changed, as the database says; 0 in runs of before it was kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rows: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Traffic {
    /// Statements of every kind.
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

    /// Counts the rows of a reply.
    #[inline]
    pub fn count_rows(&mut self, reply: Reply) {
        self.rows += reply.n_rows + reply.n_affected;
    }

    /// Bytes in both directions.
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

/// Sees each row of a reply where it lies. Its database error ends the reply.
pub type Visit<'v> = &'v mut dyn FnMut(&dyn Row) -> Result<(), DbError>;

/// Ends what a session is doing, from another thread, for good.
pub trait Cancel: Send + Sync {
    /// Interrupts the statement under way and every later one.
    fn cancel(&self);
}

/// One connection. Lives and dies on the worker that made it.
pub trait Session {
    /// Hands over a request. Nothing waits here, and one request is under way at a time.
    fn start(&mut self, request: Request<'_>) -> Result<(), DbError>;

    /// Drives the request under way; `visit` sees the rows. Blocks on a thread.
    fn poll_reply(
        &mut self,
        context: &mut Context<'_>,
        visit: Visit<'_>,
    ) -> Poll<Result<Reply, DbError>>;

    /// Loads rows into a table as fast as this database takes them, inside the transaction
    /// under way. Rows are pulled from `source`; nothing is buffered beyond a chunk.
    fn poll_load(
        &mut self,
        context: &mut Context<'_>,
        table: &Table,
        source: &mut dyn RowSource,
    ) -> Poll<Result<Reply, DbError>>;

    /// Prepares a statement at run time; it is valid for this session until it reconnects.
    fn prepare(&mut self, statement: Statement) -> Result<StatementId, DbError>;

    /// Makes the connection again after [`DbErrorKind::breaks_session`].
    fn poll_reconnect(&mut self, context: &mut Context<'_>) -> Poll<Result<(), DbError>>;

    /// Whether it is to be made again before the next transaction, since another host is its own
    /// now. Asked between transactions; true at most once for each change.
    fn should_move(&mut self) -> bool {
        false
    }

    /// Whether the other side has closed the connection while nothing was under way, so that the
    /// next request would be lost. Asked between transactions; it never waits.
    fn has_ended(&mut self) -> bool {
        false
    }

    /// Its host refuses what it was asked: it is to be made again at another one, where there are
    /// several. Asked before [`Session::poll_reconnect`].
    fn leave_host(&mut self) {}

    /// What it has moved so far.
    fn traffic(&self) -> Traffic;

    /// A hand on this session for another thread: ends what is under way. The session holds it too,
    /// for as long as it lives.
    fn canceller(&self) -> Arc<dyn Cancel>;

    /// The statements of a request as it would send them now. Nothing where it cannot say.
    fn sent(&mut self, _request: Request<'_>) -> Vec<SentStatement> {
        Vec::new()
    }

    /// From now on measures how long replies lie in its socket before it reads them, of a sample
    /// of its round trips, through reconnects too. Whoever cannot says why.
    fn measure_reply_lag(&mut self, lags: Rc<dyn ReplyLags>) {
        lags.unavailable("the database is not reached through a socket");
    }
}

/// Takes in how long replies lay in a session's socket before the session read them. The kernel
/// stamps what it receives with the real time of the day, so the lag is measured against that.
pub trait ReplyLags {
    /// How long ago something came: `arrived_unix_ns` is in nanoseconds of `CLOCK_REALTIME`, and
    /// the end is now. None where that clock was set meanwhile.
    fn since_ns(&self, arrived_unix_ns: u64) -> Option<u64>;

    /// The time since some instant as of the last tick of the kernel's clock, which costs less to
    /// read than the time itself.
    fn coarse_ns(&self) -> u64;

    /// Records the reply lag of one round trip of the sample.
    fn record(&self, lag_ns: u64);

    /// Records the reply lag of any round trip whose reply lay long, to a few milliseconds.
    fn record_late(&self, lag_ns: u64);

    /// There is nothing to record on this connection, for this reason.
    fn unavailable(&self, why: &str);
}

/// Asks, and drops what rows come.
pub async fn execute(
    session: &mut dyn Session,
    statement: StatementId,
    values: &[Value<'_>],
) -> Result<Reply, DbError> {
    query(session, Request::Execute(Call { statement, values }), &mut |_| Ok(())).await
}

/// Asks, and visits the rows.
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

/// Asks for one whole number; none where it is null, or there is no row.
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

/// Loads rows; see [`Session::poll_load`].
pub async fn load(
    session: &mut dyn Session,
    table: &Table,
    source: &mut dyn RowSource,
) -> Result<Reply, DbError> {
    poll_fn(|context| session.poll_load(context, table, source)).await
}

/// Makes the connection again.
pub async fn reconnect(session: &mut dyn Session) -> Result<(), DbError> {
    poll_fn(|context| session.poll_reconnect(context)).await
}

impl dyn Session + '_ {
    /// The database error of a driver that cannot do `what`.
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
