//! A session of the simulated database, which computes when a reply is due and waits until then.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use model::{
    BeginSql, Call, Cancel, Clock, DbError, DbErrorKind, Reply, Request, Row, RowSource,
    SentStatement, Session, Statement, StatementId, StatementKind, Table, Traffic,
    TransactionControl, Value, Visit, Woken,
};

use super::{Decided, Served};

/// SQL that begins a transaction, in standard SQL. The simulated database never parses it, but
/// shows it to users.
const BEGIN: BeginSql = BeginSql {
    writes: "START TRANSACTION",
    reads: "START TRANSACTION READ ONLY",
    plain: "START TRANSACTION",
};

pub(super) struct SimSession {
    decided: Arc<Decided>,
    clock: Rc<dyn Clock>,
    declared: Arc<[Statement]>,
    /// Statements that were added at run time. Their numbers follow those of the statements
    /// declared when the session was connected.
    late: Vec<Statement>,
    cancelled: Arc<Flag>,
    traffic: Traffic,
    step: Step,
    /// Statements of the current batch that are not served yet, in reverse order.
    to_come: Vec<ToCome>,
    reply: Reply,
    n_result_sets: usize,
    broken: bool,
    /// Time at which the reconnect in progress completes, in nanoseconds on the run's clock; `None`
    /// if there is none.
    reconnected_ns: Option<u64>,
}

/// A statement of a batch that is not served yet.
#[derive(Clone, Copy)]
enum ToCome {
    /// A statement of this kind. Its first value, if that is an integer, selects the random draw
    /// with the option `draws=key`.
    Statement(StatementKind, Option<i64>),
    Control {
        commits: bool,
    },
}

/// The simulated statement that is being served, with its completion.
#[derive(Clone, Copy)]
struct Step {
    served: Served,
    kind: StatementKind,
    commits: bool,
}

const NOTHING: Step = Step { served: Served::AT_ONCE, kind: StatementKind::Other, commits: false };

/// Flag that a session was cancelled, which is never reset. Setting it does not wake a session that
/// waits on the clock; the engine aborts such waits.
#[derive(Default)]
struct Flag(AtomicBool);

impl Cancel for Flag {
    fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl SimSession {
    pub(super) fn new(
        decided: Arc<Decided>,
        clock: Rc<dyn Clock>,
        declared: Arc<[Statement]>,
    ) -> SimSession {
        SimSession {
            decided,
            clock,
            declared,
            late: Vec::new(),
            cancelled: Arc::default(),
            traffic: Traffic::default(),
            step: NOTHING,
            to_come: Vec::new(),
            reply: Reply::default(),
            n_result_sets: 0,
            broken: false,
            reconnected_ns: None,
        }
    }

    fn kind(&self, statement: StatementId) -> Result<StatementKind, DbError> {
        let index = statement.index();
        let known = match self.declared.get(index) {
            Some(statement) => Some(statement),
            None => self.late.get(index - self.declared.len()),
        };
        known.map(|statement| statement.kind).ok_or_else(|| {
            let message = format!("this session does not know statement {index}");
            DbError::new(DbErrorKind::Missing, message)
        })
    }

    fn serve(&self, kind: StatementKind, key: Option<i64>) -> Step {
        Step { served: self.decided.serve(&*self.clock, key), kind, commits: false }
    }

    /// Serves BEGIN, COMMIT (if `commits` is set) or ROLLBACK. These take no time unless the option
    /// `transaction_control` says otherwise.
    fn control(&self, commits: bool) -> Step {
        let step = match self.decided.control_is_served {
            true => self.serve(StatementKind::Other, None),
            false => NOTHING,
        };
        Step { commits, ..step }
    }

    fn begin_batch(&mut self, calls: &[Call<'_>]) -> Result<Step, DbError> {
        for call in calls.iter().rev() {
            let (kind, to_come) = if call.statement.is_control() {
                let commits = call.statement == StatementId::COMMIT;
                (StatementKind::Other, ToCome::Control { commits })
            } else {
                let kind = self.kind(call.statement)?;
                (kind, ToCome::Statement(kind, key(call.values)))
            };
            self.traffic.count(kind);
            self.to_come.push(to_come);
        }
        Ok(self.next_of_batch().unwrap_or(NOTHING))
    }

    fn next_of_batch(&mut self) -> Option<Step> {
        self.to_come.pop().map(|to_come| match to_come {
            ToCome::Statement(kind, key) => self.serve(kind, key),
            ToCome::Control { commits } => self.control(commits),
        })
    }

    fn wait(&self, context: &mut Context<'_>, instant_ns: u64) -> Poll<Result<(), DbError>> {
        if self.cancelled.0.load(Ordering::Acquire) {
            return Poll::Ready(Err(cancelled()));
        }
        if instant_ns == Served::AT_ONCE.completion_ns {
            return Poll::Ready(Ok(()));
        }
        Poll::Ready(match ready!(self.clock.poll_through(instant_ns, context)) {
            Woken::Due => Ok(()),
            Woken::Stopped => Err(cancelled()),
        })
    }

    /// Completes the current statement. Returns the error that was drawn for the statement, if any;
    /// otherwise counts its changed row, or passes its rows to `visit`.
    fn answer(&mut self, visit: &mut Visit<'_>) -> Result<(), DbError> {
        if let Some(kind) = self.step.served.failure {
            let kind = match kind {
                kind if kind.breaks_session() && self.step.commits => DbErrorKind::UnknownCommit,
                kind => kind,
            };
            self.broken = kind.breaks_session();
            return Err(DbError::new(kind, "the simulated database was asked to fail"));
        }
        match self.step.kind {
            StatementKind::Read => {
                let result_set = self.n_result_sets;
                self.n_result_sets += 1;
                for number in 0..self.decided.n_rows {
                    self.reply.n_rows += 1;
                    visit(&SimRow { number: number as i64, result_set })?;
                }
            }
            StatementKind::Write => self.reply.n_affected += 1,
            StatementKind::Other => {}
        }
        Ok(())
    }
}

impl Session for SimSession {
    fn start(&mut self, request: Request<'_>) -> Result<(), DbError> {
        self.traffic.round_trips += 1;
        if self.broken {
            let message = "the simulated connection is lost and must be reopened";
            return Err(DbError::new(DbErrorKind::ConnectionLost, message));
        }
        self.to_come.clear();
        self.reply = Reply::default();
        self.n_result_sets = 0;
        self.step = match request {
            Request::Execute(call) => {
                let kind = self.kind(call.statement)?;
                self.traffic.count(kind);
                self.serve(kind, key(call.values))
            }
            Request::Text { kind, .. } => {
                self.traffic.count(kind);
                self.serve(kind, None)
            }
            Request::Batch(calls) => self.begin_batch(calls)?,
            Request::Begin
            | Request::BeginReadOnly
            | Request::BeginPlain
            | Request::Rollback
            | Request::Commit
            | Request::ExecuteControl(..) => {
                self.traffic.count(StatementKind::Other);
                self.control(matches!(
                    request,
                    Request::Commit | Request::ExecuteControl(TransactionControl::Commit, _)
                ))
            }
            Request::Prepare(_) => NOTHING,
        };
        Ok(())
    }

    fn poll_reply(
        &mut self,
        context: &mut Context<'_>,
        mut visit: Visit<'_>,
    ) -> Poll<Result<Reply, DbError>> {
        loop {
            ready!(self.wait(context, self.step.served.completion_ns))?;
            self.answer(&mut visit)?;
            match self.next_of_batch() {
                Some(step) => self.step = step,
                None => {
                    self.traffic.count_rows(self.reply);
                    return Poll::Ready(Ok(self.reply));
                }
            }
        }
    }

    /// Simulates a bulk load: takes all rows from the source and discards them, without waiting.
    fn poll_load(
        &mut self,
        _context: &mut Context<'_>,
        _table: &Table,
        source: &mut dyn RowSource,
    ) -> Poll<Result<Reply, DbError>> {
        self.traffic.round_trips += 1;
        self.traffic.count(StatementKind::Write);
        let mut n_affected = 0;
        while source.next(&mut |_| n_affected += 1) {}
        let reply = Reply { n_rows: 0, n_affected };
        self.traffic.count_rows(reply);
        Poll::Ready(Ok(reply))
    }

    fn prepare(&mut self, statement: Statement) -> Result<StatementId, DbError> {
        let number = StatementId::numbered(self.declared.len() + self.late.len())?;
        self.late.push(statement);
        Ok(number)
    }

    fn poll_reconnect(&mut self, context: &mut Context<'_>) -> Poll<Result<(), DbError>> {
        let connect_ns = self.decided.connect_ns;
        let clock = &self.clock;
        let instant_ns = *self.reconnected_ns.get_or_insert_with(|| clock.now() + connect_ns);
        let waited = ready!(self.wait(context, instant_ns));
        self.reconnected_ns = None;
        self.late.clear();
        self.broken &= waited.is_err();
        Poll::Ready(waited)
    }

    fn sent(&mut self, request: Request<'_>) -> Vec<SentStatement> {
        request.statements(&BEGIN, &mut |call| {
            let index = call.statement.index();
            let mut all = self.declared.iter().chain(&self.late);
            let Statement { name, sql, .. } = all.nth(index)?;
            Some(SentStatement::prepared(name, sql, call.values))
        })
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }

    fn canceller(&self) -> Arc<dyn Cancel> {
        Arc::clone(&self.cancelled) as Arc<dyn Cancel>
    }
}

/// Returns a statement's first value if it is an integer, otherwise `None`. With the option
/// `draws=key` it selects the statement's random draw.
fn key(values: &[Value<'_>]) -> Option<i64> {
    match values.first() {
        Some(Value::Int(key)) => Some(*key),
        _ => None,
    }
}

pub(super) fn cancelled() -> DbError {
    DbError::new(DbErrorKind::Cancelled, "cancelled")
}

/// A simulated row. Its first column is the index of the row in the result, from 0; any further
/// column is null.
struct SimRow {
    number: i64,
    result_set: usize,
}

impl Row for SimRow {
    fn width(&self) -> usize {
        1
    }

    fn value(&self, column: usize) -> Value<'_> {
        // A workload may expect columns of tables that a simulated database does not have.
        if column == 0 { Value::Int(self.number) } else { Value::Null }
    }

    fn result_set(&self) -> usize {
        self.result_set
    }

    fn name(&self, _column: usize) -> &str {
        "number"
    }
}
