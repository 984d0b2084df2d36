//! Execution of one transaction outside of a run, with a record of each request, its reply and its
//! time.
//!
//! The transaction is the same one that a run measures. Not here: a load, retries, a recorder.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;

use model::{
    Cancel, Client, Clock, Database, DbError, Done, Exchange, Input, KindIndex, Number, Place,
    Placement, Producer, ProducerContext, ProducerTask, Reply, ReplyLags, Request, Row, RowSource,
    Sent, SentStatement, Session, Sessions, Statement, StatementId, Table, TraceOutcome, Traffic,
    TransactionControl, TransactionTrace, TxContext, Visit, Workload, raised, shown_value,
};

use crate::clock::{Origin, ThreadClock, thread_cpu_ns};
use crate::place::threads::block_on;
use crate::stop::Stop;

/// Limit on the rows of a reply that are kept in a trace; further rows are only counted.
const ROWS_MAX: usize = 10;
/// Limit on the transactions that are looked at to find one of the requested type; if none is
/// found, the trace fails. The rarest type of a workload has a share of 1/1000.
const NUMBERS_MAX: u64 = 100_000;

/// Parameters for tracing a transaction: workload, database, transaction type and number.
pub struct Traced {
    /// Workload of the traced transaction.
    pub workload: Arc<dyn Workload>,
    /// Database to which the traced client connects.
    pub database: Arc<dyn Database>,
    /// Index of the transaction type in the workload, from 0.
    pub kind: KindIndex,
    /// Index, from 0, of the first transaction of the client that may be traced: the traced one is
    /// the next from there that has the requested type. Its inputs are drawn from the seed and its
    /// index.
    pub number: u64,
    /// Number of transactions of the same type, with higher indexes, that are executed before the
    /// traced one on the same connection.
    pub warm_up: u32,
}

/// Reason why a transaction could not be traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CannotTrace {
    /// No transaction of the requested type was found, since its share in the mix is too small or
    /// 0.
    NotInMix,
    /// The workload's producer generated no input, so that the client has nothing to send.
    NothingToSend,
    /// The database returned this error when the client connected.
    Refused(DbError),
}

/// Executes one transaction on the calling thread and returns its trace, also if the transaction
/// failed. Fails if no transaction can be executed.
pub fn trace(traced: &Traced) -> Result<TransactionTrace, CannotTrace> {
    let stop = Arc::new(Stop::default());
    let origin = Origin::now();
    let Some(producer) = traced.workload.producer() else {
        return converse(traced, ThreadClock::new(origin, stop));
    };
    thread::scope(|scope| {
        let _ended = Ended(Arc::clone(&stop));
        stop.watch_signal(producer.for_clients());
        stop.watch_signal(producer.for_tasks());
        for task in producer.begin() {
            let clock = ThreadClock::new(origin, Arc::clone(&stop));
            let stop = Arc::clone(&stop);
            scope.spawn(move || produce(task, &clock, &stop));
        }
        converse(traced, ThreadClock::new(origin, Arc::clone(&stop)))
    })
}

/// Guard that, when it is dropped, stops the tasks of the workload's producer.
struct Ended(Arc<Stop>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn produce(mut task: Box<dyn ProducerTask>, clock: &ThreadClock, stop: &Stop) {
    let is_over = || stop.is_over(clock.now());
    let (cpu_ns, is_virtual) = (&thread_cpu_ns, false);
    block_on(task.produce(&ProducerContext { clock, cpu_ns, is_over: &is_over, is_virtual }));
}

fn converse(traced: &Traced, clock: ThreadClock) -> Result<TransactionTrace, CannotTrace> {
    let (workload, database) = (traced.workload.as_ref(), traced.database.as_ref());
    let is_of_kind = |nth: &u64| workload.kind_of(number_of(*nth)) == traced.kind;
    let last = traced.number.saturating_add(NUMBERS_MAX);
    let mut numbers = (traced.number..last).filter(is_of_kind);
    let number = numbers.next().ok_or(CannotTrace::NotInMix)?;
    let clock: Rc<dyn Clock> = Rc::new(clock);
    let place = Place { placement: Placement::Thread, clock: Rc::clone(&clock), client: 0 };
    let statements: Arc<[Statement]> = workload.statements(database.dialect()).into();
    let session = block_on(database.connect(place, statements)).map_err(CannotTrace::Refused)?;
    let exchanges: Rc<RefCell<Vec<Exchange>>> = Rc::default();
    let n_withheld: Rc<Cell<u32>> = Rc::default();
    // What a client does when it begins is not committed either.
    let mut kinds = 0..workload.kinds().len() as KindIndex;
    let withholds = kinds.any(|kind| workload.is_shown_without_commit(kind));
    let observed = ObservedSession {
        session,
        n_withheld: withholds.then(|| Rc::clone(&n_withheld)),
        clock: Rc::clone(&clock),
        exchanges: Rc::clone(&exchanges),
        begun: None,
        called: HashSet::new(),
        seen: Seen::default(),
    };
    let mut conversation = Conversation {
        traced,
        client: workload.client(0),
        sessions: Sessions::single(Box::new(observed)),
        clock: Rc::clone(&clock),
    };
    conversation.prepare().map_err(CannotTrace::Refused)?;
    for number in numbers.take(traced.warm_up as usize) {
        // An error here recurs in the traced transaction, which reports it.
        conversation.begin(number)?;
        if conversation.converse().is_err_and(|no| no.kind.breaks_session()) {
            let _ = block_on(model::reconnect(conversation.sessions.own()));
        }
        if n_withheld.take() > 0 {
            // The client takes its transaction as committed.
            conversation.prepare().map_err(CannotTrace::Refused)?;
        }
    }
    exchanges.borrow_mut().clear();
    n_withheld.take();
    conversation.begin(number)?;
    let started_ns = clock.now();
    let outcome = conversation.converse();
    let elapsed_ns = clock.now() - started_ns;
    let mut exchanges = exchanges.take();
    let mut traffic = Traffic::default();
    for exchange in &mut exchanges {
        exchange.started_ns = exchange.started_ns.saturating_sub(started_ns);
        traffic += exchange.traffic;
    }
    let transaction = workload.kinds()[usize::from(traced.kind)].name.to_owned();
    let outcome = match outcome {
        Ok(Done::Committed) if n_withheld.get() > 0 => TraceOutcome::RolledBack,
        Ok(Done::Committed | Done::Over) => TraceOutcome::Committed,
        Ok(Done::RolledBack) => TraceOutcome::RolledBack,
        Err(db_error) => TraceOutcome::Failed(db_error.to_string()),
    };
    Ok(TransactionTrace { transaction, number, outcome, elapsed_ns, traffic, exchanges })
}

/// Returns the number of the transaction with index `nth`, from 0, of the first client in a closed
/// load.
fn number_of(nth: u64) -> Number {
    Number::OfClient { client: 0, nth }
}

/// The client of a traced transaction, with its connection and clock.
struct Conversation<'t> {
    traced: &'t Traced,
    client: Box<dyn Client>,
    sessions: Sessions,
    clock: Rc<dyn Clock>,
}

impl Conversation<'_> {
    /// Draws the inputs of transaction `nth`, and waits for input from the workload's producer.
    /// Fails if no input will come.
    fn begin(&mut self, nth: u64) -> Result<(), CannotTrace> {
        let kind = self.client.inputs(number_of(nth));
        assert_eq!(kind, self.traced.kind, "a workload draws what kind_of says");
        self.await_input()
    }

    /// Lets the client prepare its new connection, as in a run.
    fn prepare(&mut self) -> Result<(), DbError> {
        self.with_context(|client, context| client.begin(context).map_or(Ok(()), block_on))
    }

    fn converse(&mut self) -> Result<Done, DbError> {
        self.with_context(|client, context| block_on(client.converse(context)))
    }

    fn with_context<T>(&mut self, act: impl FnOnce(&mut dyn Client, &mut TxContext<'_>) -> T) -> T {
        let mut measured = Vec::new();
        let mut context = TxContext {
            sessions: &mut self.sessions,
            clock: self.clock.as_ref(),
            dialect: self.traced.database.dialect(),
            intended_ns: self.clock.now(),
            measured: &mut measured,
        };
        act(self.client.as_mut(), &mut context)
    }

    /// Waits until the workload's producer, if there is one, has input for the client. Fails if no
    /// input will come.
    fn await_input(&mut self) -> Result<(), CannotTrace> {
        let signal = self.traced.workload.producer().map(Producer::for_clients);
        loop {
            let seen = signal.as_ref().map_or(0, |signal| signal.count());
            match (self.client.take_input(), &signal) {
                (Input::Ready, _) => return Ok(()),
                (Input::Over, _) | (Input::Later, None) => return Err(CannotTrace::NothingToSend),
                (Input::Later, Some(signal)) => {
                    block_on(raised(self.clock.as_ref(), signal, seen));
                }
            }
        }
    }
}

/// First rows of a reply with their column names, as kept for the trace.
#[derive(Default)]
struct Seen {
    rows: Vec<Vec<String>>,
    columns: Vec<String>,
}

impl Seen {
    fn add(&mut self, row: &dyn Row) {
        if self.rows.len() >= ROWS_MAX {
            return;
        }
        let columns = 0..row.width();
        if self.rows.is_empty() && columns.clone().any(|column| !row.name(column).is_empty()) {
            self.columns = columns.clone().map(|column| row.name(column).to_owned()).collect();
        }
        self.rows.push(columns.map(|column| shown_value(&row.value(column))).collect());
    }
}

/// A session that records each request with its reply and time, for a trace.
struct ObservedSession {
    session: Box<dyn Session>,
    /// Number of commits in place of which the session rolled back; `None` if it commits.
    n_withheld: Option<Rc<Cell<u32>>>,
    clock: Rc<dyn Clock>,
    exchanges: Rc<RefCell<Vec<Exchange>>>,
    /// The request that is being executed, with the session's traffic before it; `None` between
    /// requests.
    begun: Option<(Exchange, Traffic)>,
    /// SQL texts of the prepared statements that were already executed on this connection.
    called: HashSet<String>,
    /// The part of the current reply that the trace keeps.
    seen: Seen,
}

impl ObservedSession {
    fn begin(&mut self, statements: Vec<SentStatement>) {
        let before = self.session.traffic();
        let started_ns = self.clock.now();
        self.begun = Some((Exchange { statements, started_ns, ..Exchange::default() }, before));
    }

    fn end(&mut self, result: &Result<Reply, DbError>, seen: Seen) {
        let Some((mut exchange, before)) = self.begun.take() else { return };
        exchange.elapsed_ns = self.clock.now() - exchange.started_ns;
        exchange.traffic = self.session.traffic() - before;
        (exchange.first_rows, exchange.columns) = (seen.rows, seen.columns);
        match result {
            Ok(reply) => (exchange.rows, exchange.affected) = (reply.n_rows, reply.n_affected),
            Err(db_error) => exchange.error = Some(db_error.to_string()),
        }
        self.exchanges.borrow_mut().push(exchange);
    }
}

impl Session for ObservedSession {
    fn start(&mut self, request: Request<'_>) -> Result<(), DbError> {
        let request = match (&self.n_withheld, request) {
            (
                Some(n_withheld),
                Request::Commit | Request::ExecuteControl(TransactionControl::Commit, _),
            ) => {
                n_withheld.update(|n| n + 1);
                Request::Rollback
            }
            (_, request) => request,
        };
        let mut statements = self.session.sent(request);
        for statement in statements.iter_mut().filter(|one| one.sent == Sent::Prepared) {
            statement.is_first_call = self.called.insert(statement.sql.clone());
        }
        self.begin(statements);
        let started = self.session.start(request);
        if let Err(db_error) = &started {
            self.end(&Err(db_error.clone()), Seen::default());
        }
        started
    }

    fn poll_reply(
        &mut self,
        context: &mut Context<'_>,
        visit: Visit<'_>,
    ) -> Poll<Result<Reply, DbError>> {
        let mut seen = std::mem::take(&mut self.seen);
        let polled = self.session.poll_reply(context, &mut |row: &dyn Row| {
            seen.add(row);
            visit(row)
        });
        match &polled {
            Poll::Ready(result) => self.end(result, seen),
            Poll::Pending => self.seen = seen,
        }
        polled
    }

    fn poll_load(
        &mut self,
        context: &mut Context<'_>,
        table: &Table,
        source: &mut dyn RowSource,
    ) -> Poll<Result<Reply, DbError>> {
        self.session.poll_load(context, table, source)
    }

    fn prepare(&mut self, statement: Statement) -> Result<StatementId, DbError> {
        self.session.prepare(statement)
    }

    fn close(&mut self, statement: StatementId) {
        self.session.close(statement);
    }

    fn poll_reconnect(&mut self, context: &mut Context<'_>) -> Poll<Result<(), DbError>> {
        self.session.poll_reconnect(context)
    }

    fn should_move(&mut self) -> bool {
        self.session.should_move()
    }

    fn has_ended(&mut self) -> bool {
        self.session.has_ended()
    }

    fn leave_host(&mut self) {
        self.session.leave_host();
    }

    fn sent(&mut self, request: Request<'_>) -> Vec<SentStatement> {
        self.session.sent(request)
    }

    fn traffic(&self) -> Traffic {
        self.session.traffic()
    }

    fn canceller(&self) -> Arc<dyn Cancel> {
        self.session.canceller()
    }

    fn measure_reply_lag(&mut self, lags: Rc<dyn ReplyLags>) {
        self.session.measure_reply_lag(lags);
    }
}
