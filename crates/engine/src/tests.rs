//! Tests of the engine on a simulated database of which every service time is known.

mod new_connections;
mod outages;
mod several_sessions;
mod time_limits;

use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use model::{
    ArrivalRate, Arrivals, Call, Cancel, Client, Clock, Connect, Connecting, Connections,
    Conversation, Counts, Database, DbError, DbErrorKind, Dialect, Done, Event, Fact, Identity,
    Kind, KindIndex, Load, NS_PER_MS, NS_PER_S, Number, Phases, Place, Placement, Places, Product,
    QueueAtEnd, QueueFull, Recording, Reply, ReplyLags, Request, Retry, RetryOn, RowSource, Sample,
    Second, Session, Statement, StatementId, StopCondition, StopReason, Table, Traffic, TxContext,
    Value, Visit, Woken, Workload,
};
use stats::{kiefer_wolfowitz, kiefer_wolfowitz_bounded};

use crate::clock::unix_ns;
use crate::{
    ClientThreads, GroupJob, Job, Origin, Ran, Recorded, RecordedAs, SampleHook, Schedule, Share,
    Stop, run,
};

/// A simulated database that answers each statement after a known time, or with an error. The
/// functions in the fields decide this by the number of the statement, `nth`.
struct Fake {
    service_ns: fn(u64) -> u64,
    /// Time for which statement `nth` keeps the thread busy when it is sent, in nanoseconds.
    blocks_ns: fn(u64) -> u64,
    refuses: fn(nth: u64, attempt: u32) -> Option<DbErrorKind>,
    /// Period of an outage, in nanoseconds: replies that are due in it become errors about a lost
    /// connection, and no new connection is accepted.
    outage_ns: Range<u64>,
    /// Period in which the server is read-only, in nanoseconds: replies that are due in it become
    /// errors of the kind `ReadOnly`, while connections are still accepted.
    read_only_ns: Range<u64>,
    /// Time after which the server closes an idle connection, in nanoseconds.
    idle_limit_ns: u64,
    /// Time that a reconnect takes, in nanoseconds.
    connect_ns: u64,
    present: Arc<Present>,
}

/// Counts in a simulated database, by which tests check that all clients are connected before the
/// first request: open sessions, the lowest number of open sessions at any request, and requests.
struct Present {
    now: AtomicU32,
    least: AtomicU32,
    asked: AtomicU32,
}

impl Fake {
    fn new(
        service_ns: fn(u64) -> u64,
        refuses: fn(nth: u64, attempt: u32) -> Option<DbErrorKind>,
    ) -> Fake {
        let [now, least, asked] = [0, u32::MAX, 0].map(AtomicU32::new);
        let present = Present { now, least, asked };
        let present = Arc::new(present);
        Fake {
            service_ns,
            blocks_ns: |_| 0,
            refuses,
            outage_ns: 0..0,
            read_only_ns: 0..0,
            idle_limit_ns: u64::MAX,
            connect_ns: 0,
            present,
        }
    }
}

struct FakeSession {
    present: Arc<Present>,
    clock: Rc<dyn Clock>,
    service_ns: fn(u64) -> u64,
    blocks_ns: fn(u64) -> u64,
    reply_lags: Option<Rc<dyn ReplyLags>>,
    refuses: fn(u64, u32) -> Option<DbErrorKind>,
    outage_ns: Range<u64>,
    read_only_ns: Range<u64>,
    idle_limit_ns: u64,
    idle_since_ns: u64,
    connect_ns: u64,
    /// Instant at which the reconnect that is in progress ends, in nanoseconds.
    connected_ns: Option<u64>,
    is_connected: bool,
    until_ns: u64,
    asked: (u64, u32),
    traffic: Traffic,
}

struct Nobody;

impl Cancel for Nobody {
    fn cancel(&self) {}
}

impl Database for Fake {
    fn product(&self) -> &Product {
        static PRODUCT: Product = Product {
            dialect: Dialect { name: "fake", type_name: |_| String::new(), ..Dialect::PLAIN },
            ..Product::PLAIN
        };
        &PRODUCT
    }

    fn places(&self) -> Places {
        Places::ALL
    }

    fn connect<'a>(&'a self, place: Place, _statements: Arc<[Statement]>) -> Connecting<'a> {
        Box::pin(async move {
            self.present.now.fetch_add(1, Ordering::SeqCst);
            let session: Box<dyn Session> = Box::new(FakeSession {
                present: Arc::clone(&self.present),
                clock: place.clock,
                service_ns: self.service_ns,
                blocks_ns: self.blocks_ns,
                reply_lags: None,
                refuses: self.refuses,
                outage_ns: self.outage_ns.clone(),
                read_only_ns: self.read_only_ns.clone(),
                idle_limit_ns: self.idle_limit_ns,
                idle_since_ns: 0,
                connect_ns: self.connect_ns,
                connected_ns: None,
                is_connected: true,
                until_ns: 0,
                asked: (u64::MAX, 0),
                traffic: Traffic::default(),
            });
            Ok(session)
        })
    }

    fn facts(&self) -> Result<Vec<Fact>, DbError> {
        Ok(Vec::new())
    }
}

impl Drop for FakeSession {
    fn drop(&mut self) {
        self.present.now.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Session for FakeSession {
    fn start(&mut self, request: Request<'_>) -> Result<(), DbError> {
        let Request::Execute(Call { values: [Value::Int(nth)], .. }) = request else {
            return Err(DbError::new(DbErrorKind::Unsupported, "only numbered statements"));
        };
        self.present.least.fetch_min(self.present.now.load(Ordering::SeqCst), Ordering::SeqCst);
        self.present.asked.fetch_add(1, Ordering::SeqCst);
        assert!(self.is_connected, "a statement needs a connection");
        let nth = *nth as u64;
        let attempt = if self.asked.0 == nth { self.asked.1 + 1 } else { 0 };
        self.asked = (nth, attempt);
        let blocked_until_ns = self.clock.now() + (self.blocks_ns)(nth);
        while self.clock.now() < blocked_until_ns {
            std::hint::spin_loop();
        }
        self.until_ns = self.clock.now() + (self.service_ns)(nth);
        if self.has_ended() {
            return Err(DbError::new(DbErrorKind::ConnectionLost, "it was closed"));
        }
        self.traffic.reads += 1;
        self.traffic.round_trips += 1;
        Ok(())
    }

    fn poll_reply(
        &mut self,
        context: &mut Context<'_>,
        _visit: Visit<'_>,
    ) -> Poll<Result<Reply, DbError>> {
        match self.clock.poll_through(self.until_ns, context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Woken::Stopped) => {
                Poll::Ready(Err(DbError::new(DbErrorKind::Cancelled, "cut off")))
            }
            Poll::Ready(Woken::Due) if self.outage_ns.contains(&self.until_ns) => {
                Poll::Ready(Err(DbError::new(DbErrorKind::ConnectionLost, "an outage")))
            }
            Poll::Ready(Woken::Due) if self.read_only_ns.contains(&self.until_ns) => {
                Poll::Ready(Err(DbError::new(DbErrorKind::ReadOnly, "a standby")))
            }
            Poll::Ready(Woken::Due) => {
                self.idle_since_ns = self.until_ns;
                if let Some(lags) = &self.reply_lags {
                    let late_ns = self.clock.now() - self.until_ns;
                    let lag_ns = lags.since_ns(unix_ns() - late_ns);
                    lag_ns.into_iter().for_each(|lag_ns| lags.record(lag_ns));
                }
                Poll::Ready(match (self.refuses)(self.asked.0, self.asked.1) {
                    Some(kind) => Err(DbError::new(kind, "as told")),
                    None => Ok(Reply::default()),
                })
            }
        }
    }

    fn poll_load(
        &mut self,
        _: &mut Context<'_>,
        _: &Table,
        _: &mut dyn RowSource,
    ) -> Poll<Result<Reply, DbError>> {
        Poll::Ready(Err(<dyn Session>::unsupported("load")))
    }

    fn prepare(&mut self, _: Statement) -> Result<StatementId, DbError> {
        Err(<dyn Session>::unsupported("prepare"))
    }

    fn poll_reconnect(&mut self, context: &mut Context<'_>) -> Poll<Result<(), DbError>> {
        let until_ns = *self.connected_ns.get_or_insert(self.clock.now() + self.connect_ns);
        match self.clock.poll_through(until_ns, context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(_) => self.connected_ns = None,
        }
        let is_down = self.outage_ns.contains(&self.clock.now());
        let lost = DbError::new(DbErrorKind::ConnectionLost, "an outage");
        self.idle_since_ns = self.clock.now();
        self.is_connected = !is_down;
        Poll::Ready(if is_down { Err(lost) } else { Ok(()) })
    }

    fn disconnect(&mut self) {
        self.is_connected = false;
    }

    fn has_ended(&mut self) -> bool {
        self.clock.now().saturating_sub(self.idle_since_ns) >= self.idle_limit_ns
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }

    fn canceller(&self) -> Arc<dyn Cancel> {
        Arc::new(Nobody)
    }

    fn measure_reply_lag(&mut self, lags: Rc<dyn ReplyLags>) {
        self.reply_lags = Some(lags);
    }
}

/// A workload whose transactions are alternately of two types. Each transaction sends one statement
/// with the number of the transaction. Records the inputs that were drawn.
struct Asks {
    kinds: Vec<Kind>,
    kind_of: fn(Number) -> KindIndex,
    /// Longest time of a transaction of type 0, in nanoseconds; `None` if it has no limit.
    limit_ns: Option<u64>,
    drawn: Arc<Mutex<Vec<(u64, u64)>>>,
}

impl Asks {
    fn new(keying_ns: u64, thinking_ns: u64) -> Asks {
        let kind = |name| Kind { name, weight: 1, keying_ns, thinking_ns };
        let kind_of = |number: Number| (number.nth() % 2) as KindIndex;
        Asks {
            kinds: vec![kind("even"), kind("odd")],
            kind_of,
            limit_ns: None,
            drawn: Arc::default(),
        }
    }

    /// Creates a workload of three transaction types at random, with keying and think times as
    /// different as those of TPC-C.
    fn as_users_do(kind_of: fn(Number) -> KindIndex) -> Asks {
        let kind = |name, weight, keying_s: u64, thinking_s: u64| Kind {
            name,
            weight,
            keying_ns: keying_s * NS_PER_S,
            thinking_ns: thinking_s * NS_PER_S,
        };
        let kinds =
            vec![kind("long", 40, 18, 12), kind("short", 40, 3, 12), kind("rare", 20, 2, 5)];
        Asks { kinds, kind_of, limit_ns: None, drawn: Arc::default() }
    }
}

impl Workload for Asks {
    fn identity(&self) -> Identity {
        Identity::default()
    }

    fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    fn statements(&self, _: &Dialect) -> Vec<Statement> {
        Vec::new()
    }

    fn places(&self) -> Places {
        Places::ALL
    }

    fn time_limit_ns(&self, kind: KindIndex) -> Option<u64> {
        self.limit_ns.filter(|_| kind == 0)
    }

    fn kind_of(&self, number: Number) -> KindIndex {
        (self.kind_of)(number)
    }

    fn client(&self, _client: u32) -> Box<dyn Client> {
        Box::new(Asking { nth: 0, drew: 0, kind_of: self.kind_of, drawn: Arc::clone(&self.drawn) })
    }
}

struct Asking {
    nth: u64,
    drew: u64,
    kind_of: fn(Number) -> KindIndex,
    drawn: Arc<Mutex<Vec<(u64, u64)>>>,
}

impl Client for Asking {
    fn inputs(&mut self, number: Number) -> KindIndex {
        self.nth = number.nth();
        self.drew = number.rng(7).bits();
        (self.kind_of)(number)
    }

    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a> {
        Box::pin(async move {
            self.drawn.lock().expect("no panics here").push((self.nth, self.drew));
            let values = [Value::Int(self.nth as i64)];
            model::execute(context.session(), StatementId(0), &values).await?;
            Ok(Done::Committed)
        })
    }
}

fn no(_: u64, _: u32) -> Option<DbErrorKind> {
    None
}

fn job(load: Load, clients: u32, measure_ns: u64, service_ns: fn(u64) -> u64) -> Job {
    Job {
        seed: 7,
        phases: Phases { ramp_up_ns: 0, measure_ns, drain_ns: 100 * NS_PER_S },
        groups: vec![GroupJob {
            name: "fake".to_owned(),
            workload: Arc::new(Asks::new(0, 0)),
            database: Arc::new(Fake::new(service_ns, no)),
            statements: Arc::from(Vec::new()),
            first_client: 0,
            clients,
            share: Some(Share::whole()),
            load,
            connections: Connections::Kept,
            stop_condition: StopCondition::Time,
        }],
        placement: Placement::Simulated,
        retry: Retry {
            ignored: Vec::new(),
            attempts: 3,
            on: vec![RetryOn::Kind(DbErrorKind::Deadlock)],
            backoff_ns: NS_PER_MS,
        },
        connect: Connect::default(),
        recording: Recording { histogram_max_ns: 3600 * NS_PER_S, window_seconds: 10 },
        origin: Origin::now(),
        event_loop: model::EventLoopChoice::Auto,
        pin: false,
        workers: 2,
        threads: ClientThreads::default(),
        sample_hook: None,
    }
}

fn open(rate_per_s: f64, queue: u64) -> Load {
    let rate = ArrivalRate::Constant(rate_per_s);
    Load::Open {
        arrivals: Arrivals::Poisson,
        rate,
        queue,
        queue_full: QueueFull::Drop,
        queue_wait_ns: None,
        queue_at_end: QueueAtEnd::Serve,
    }
}

/// Result and events of a run that a test has executed, with the sums of its counts.
struct WorkerMessage {
    ran: Ran,
    events: Vec<Event>,
    ramp_up: Counts,
    measured: Counts,
    commits: u64,
    carried_in: u64,
    samples: Vec<Sample>,
    /// Waits of the arrivals that were dropped because they had waited too long, in nanoseconds.
    skipped_ns: Vec<u64>,
}

fn tell(job: Job) -> WorkerMessage {
    tell_until(job, &Arc::new(Stop::default()), &mut |_| {})
}

fn tell_until(mut job: Job, stop: &Arc<Stop>, also: &mut dyn FnMut(&Event)) -> WorkerMessage {
    let samples: Arc<Mutex<Vec<Sample>>> = Arc::default();
    let skipped_ns: Arc<Mutex<Vec<u64>>> = Arc::default();
    let (kept, skip) = (Arc::clone(&samples), Arc::clone(&skipped_ns));
    let sample_hook: SampleHook =
        Arc::new(move |recorded: &Recorded<'_>| match recorded.recorded_as {
            RecordedAs::Skipped => {
                skip.lock().expect("no panics here").push(recorded.sample.wait_ns());
            }
            RecordedAs::Ended => kept.lock().expect("no panics here").push(*recorded.sample),
            RecordedAs::Retried => {}
        });
    job.sample_hook = Some(sample_hook);
    let mut events = Vec::new();
    let ran = run(job, stop, &mut |now_ns| now_ns, &mut |event| {
        also(&event);
        events.push(event);
    });
    let ran = ran.expect("the made-up database accepts everyone");
    let (mut ramp_up, mut measured) = (Counts::default(), Counts::default());
    let (mut commits, mut carried_in) = (0, 0);
    for event in &events {
        let Event::Second(second) = event else { continue };
        if second.second < 0 {
            ramp_up.add(&second.counts());
            carried_in += second.kinds.iter().map(|kind| kind.carried).sum::<u64>();
        } else {
            measured.add(&second.counts());
            commits += second.kinds.iter().map(|kind| kind.commits).sum::<u64>();
        }
    }
    let samples = std::mem::take(&mut *samples.lock().expect("no panics here"));
    let skipped_ns = std::mem::take(&mut *skipped_ns.lock().expect("no panics here"));
    WorkerMessage { ran, events, ramp_up, measured, commits, carried_in, samples, skipped_ns }
}

fn arrivals(rate_per_s: f64, until_ns: u64) -> Vec<u64> {
    let rate = ArrivalRate::Constant(rate_per_s);
    let mut schedule = Schedule::new(7, 0, Arrivals::Poisson, &rate, 0, Share::whole());
    let mut list = Vec::new();
    while schedule.peek().1 < until_ns {
        list.push(schedule.peek().1);
        schedule.advance();
    }
    list
}

fn two_ms(_: u64) -> u64 {
    2 * NS_PER_MS
}

/// Returns a service time from 0.1 ms to 6.4 ms that varies irregularly with the statement's
/// number, in nanoseconds.
fn scattered(nth: u64) -> u64 {
    (nth.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) * 100_000 + 100_000
}

#[test]
fn the_queue_of_the_engine_is_the_recursion_to_the_nanosecond() {
    for clients in [1, 3] {
        let rate = 250.0 * f64::from(clients);
        let shown = tell(job(open(rate, 1 << 20), clients, 20 * NS_PER_S, scattered));
        let arrivals = arrivals(rate, 20 * NS_PER_S);
        let services: Vec<u64> = (0..arrivals.len() as u64).map(scattered).collect();
        let truth = kiefer_wolfowitz(&arrivals, &services, clients as usize);
        assert_eq!(shown.samples.len(), truth.len());
        for sample in &shown.samples {
            let nth = sample.slot.number.nth() as usize;
            let served = (sample.started_ns, sample.finished_ns);
            assert_eq!(served, (truth[nth].start_ns, truth[nth].finish_ns), "arrival {nth}");
            assert_eq!(sample.slot.intended_ns, arrivals[nth]);
        }
    }
}

#[test]
fn an_arrival_that_finds_the_queue_full_is_dropped_and_counted() {
    for queue in [0, 1, 5] {
        let shown = tell(job(open(900.0, queue), 2, 20 * NS_PER_S, scattered));
        let arrivals = arrivals(900.0, 20 * NS_PER_S);
        let services: Vec<u64> = (0..arrivals.len() as u64).map(scattered).collect();
        let truth = kiefer_wolfowitz_bounded(&arrivals, &services, 2, queue as usize);
        let dropped = truth.iter().filter(|served| served.is_none()).count() as u64;
        assert!(dropped > 100, "the case must drop");
        assert_eq!(shown.measured.dropped, dropped, "queue {queue}");
        assert_eq!(shown.measured.offered(), arrivals.len() as u64);
        for sample in &shown.samples {
            let nth = sample.slot.number.nth() as usize;
            let served = truth[nth].expect("what was served was not dropped");
            assert_eq!(sample.finished_ns, served.finish_ns);
        }
    }
}

#[test]
fn what_is_offered_is_finished_or_failed_or_dropped_or_unfinished() {
    fn refuses(nth: u64, _: u32) -> Option<DbErrorKind> {
        (nth % 7 == 3).then_some(DbErrorKind::Duplicate)
    }
    let mut job = job(open(1500.0, 300), 2, 3 * NS_PER_S, two_ms);
    job.phases.ramp_up_ns = 1_300 * NS_PER_MS;
    job.phases.drain_ns = 50 * NS_PER_MS;
    let database = Fake::new(two_ms, refuses);
    job.groups[0].database = Arc::new(database);
    let shown = tell(job);
    let end_ns = 4_300 * NS_PER_MS;
    let all = arrivals(1500.0, end_ns);
    let before = all.iter().filter(|ns| **ns < 1_300 * NS_PER_MS).count() as u64;
    assert_eq!(shown.ramp_up.offered(), before);
    assert_eq!(shown.measured.offered(), all.len() as u64 - before);
    let counts = shown.measured;
    assert!(counts.failed > 0 && counts.dropped > 0 && counts.unfinished > 250, "{counts:?}");
    assert!(shown.carried_in > 250, "the ramp-up left its queue behind");

    // Each transaction sends one statement, whenever it was intended.
    let (mut ended, mut reads) = (0, 0);
    for event in &shown.events {
        let Event::Second(part) = event else { continue };
        for kind in part.kinds.iter().filter(|_| part.second >= 0) {
            (ended, reads) = (ended + kind.ended, reads + kind.traffic.reads);
        }
    }
    let in_window = |sample: &&Sample| (1_300 * NS_PER_MS..end_ns).contains(&sample.finished_ns);
    assert_eq!(ended, shown.samples.iter().filter(in_window).count() as u64);
    assert_eq!(reads, ended);
}

#[test]
fn rates_count_commits_that_finish_within_the_window() {
    fn half_second(_: u64) -> u64 {
        NS_PER_S / 2 + 1
    }
    let shown = tell(job(Load::Closed, 3, 2 * NS_PER_S, half_second));
    assert_eq!((shown.measured.committed, shown.commits), (12, 9));
    assert_eq!(shown.ran.measured_ns, 2 * NS_PER_S);
    assert_eq!(shown.ran.elapsed_ns, 2 * NS_PER_S + 4);
}

#[test]
fn a_count_of_transactions_ends_with_the_last_of_them() {
    let mut limited = job(Load::Closed, 4, 0, two_ms);
    limited.groups[0].stop_condition = StopCondition::Transactions(1001);
    let shown = tell(limited);
    assert_eq!((shown.measured.offered(), shown.commits), (1001, 1001));
    assert_eq!(shown.ran.measured_ns, 251 * 2 * NS_PER_MS + 1);

    let mut each = job(Load::Closed, 4, 0, two_ms);
    each.groups[0].stop_condition = StopCondition::TransactionsPerClient(10);
    assert_eq!(tell(each).measured.offered(), 40);

    let mut open_load = job(open(500.0, 10), 4, 0, two_ms);
    open_load.phases.ramp_up_ns = NS_PER_S;
    open_load.groups[0].stop_condition = StopCondition::Transactions(100);
    assert_eq!(tell(open_load).measured.offered(), 100);
}

#[test]
fn a_count_that_was_not_reached_leaves_the_window_as_long_as_it_was() {
    fn stalls(nth: u64) -> u64 {
        if nth < 500 { 2 * NS_PER_MS } else { 60 * NS_PER_S }
    }
    let mut job = job(Load::Closed, 1, 10 * NS_PER_S, stalls);
    job.groups[0].stop_condition = StopCondition::Transactions(100_000);
    job.phases.drain_ns = NS_PER_S;
    let shown = tell(job);
    assert_eq!((shown.commits, shown.measured.unfinished), (500, 1));
    assert_eq!(shown.ran.measured_ns, 10 * NS_PER_S, "the stall is part of the window");
}

#[test]
fn the_last_commit_of_a_count_lies_within_its_window() {
    fn a_second(_: u64) -> u64 {
        NS_PER_S
    }
    let mut job = job(Load::Closed, 1, 0, a_second);
    job.groups[0].stop_condition = StopCondition::Transactions(1);
    let shown = tell(job);
    assert_eq!((shown.commits, shown.ran.measured_ns), (1, NS_PER_S + 1));
}

#[test]
fn every_attempt_has_the_same_rng_and_the_latency_spans_them_all() {
    fn refuses(nth: u64, attempt: u32) -> Option<DbErrorKind> {
        (nth.is_multiple_of(2) && attempt < 2).then_some(DbErrorKind::Deadlock)
    }
    let asks = Asks::new(0, 0);
    let drawn = Arc::clone(&asks.drawn);
    let mut job = job(Load::Closed, 1, 0, two_ms);
    job.groups[0].stop_condition = StopCondition::Transactions(2);
    job.groups[0].database = Arc::new(Fake::new(two_ms, refuses));
    job.groups[0].workload = Arc::new(asks);
    let shown = tell(job);
    let drawn = drawn.lock().expect("no panics here").clone();
    assert_eq!(drawn.iter().map(|(nth, _)| *nth).collect::<Vec<_>>(), [0, 0, 0, 1]);
    assert!(drawn[0] == drawn[1] && drawn[1] == drawn[2] && drawn[2].1 != drawn[3].1);
    assert_eq!((shown.measured.retried, shown.measured.committed), (2, 2));
    let first = shown.samples[0];
    // Three services and two pauses of 0.5 to 1.5 ms and 1 to 3 ms.
    assert!((7_500_000..=10_500_000).contains(&first.service_ns()), "{first:?}");
    let errors = shown.events.iter().filter_map(|event| match event {
        Event::Second(second) => Some(second.errors.iter().map(|e| e.count).sum::<u64>()),
        _ => None,
    });
    assert_eq!(errors.sum::<u64>(), 2);
}

#[test]
fn a_database_error_that_does_not_heal_ends_the_run_with_its_reason() {
    fn refuses(_: u64, _: u32) -> Option<DbErrorKind> {
        Some(DbErrorKind::Missing)
    }
    let mut job = job(Load::Closed, 2, 100 * NS_PER_S, two_ms);
    job.groups[0].database = Arc::new(Fake::new(two_ms, refuses));
    let shown = tell(job);
    assert!(matches!(&shown.ran.reason, StopReason::Failed { why, .. } if why.contains("as told")));
    assert!(shown.ran.measured_ns < NS_PER_S);
}

#[test]
fn who_loses_each_new_connection_at_once_waits_before_the_next() {
    fn refuses(nth: u64, _: u32) -> Option<DbErrorKind> {
        (nth < 12).then_some(DbErrorKind::ConnectionLost)
    }
    let mut job = job(Load::Closed, 1, 10 * NS_PER_S, two_ms);
    job.groups[0].database = Arc::new(Fake::new(two_ms, refuses));
    let shown = tell(job);
    let started: Vec<u64> = shown.samples.iter().take(14).map(|one| one.started_ns).collect();
    let apart: Vec<u64> = started.windows(2).map(|pair| (pair[1] - pair[0]) / NS_PER_MS).collect();
    // The first attempt to reconnect is made at once, the second after 10 ms, and pauses double up
    // to a second.
    assert_eq!(apart, [2, 12, 22, 42, 82, 162, 322, 642, 1002, 1002, 1002, 1002, 2]);
}

#[test]
fn an_ignored_error_is_counted_and_its_transaction_finishes_without_a_retry() {
    let refuses = |nth: u64, _| match nth % 4 {
        0 => Some(DbErrorKind::Duplicate),
        1 => Some(DbErrorKind::Deadlock),
        _ => None,
    };
    let mut job = job(Load::Closed, 1, 3600 * NS_PER_S, two_ms);
    job.groups[0].database = Arc::new(Fake::new(two_ms, refuses));
    job.groups[0].stop_condition = StopCondition::Transactions(100);
    job.retry.ignored = vec![RetryOn::Kind(DbErrorKind::Duplicate)];
    job.retry.attempts = 1;
    let shown = tell(job);
    let Counts { committed, ignored, failed, .. } = shown.measured;
    assert_eq!((committed, ignored, failed, shown.commits), (50, 25, 25, 50));
    assert_eq!((shown.measured.finished(), shown.measured.offered()), (75, 100));
    let all = shown
        .samples
        .iter()
        .filter(|sample| sample.outcome == model::Outcome::Ignored(DbErrorKind::Duplicate));
    assert!(all.clone().count() == 25 && all.clone().all(|sample| sample.retries == 0));
    let of_second = |event: &Event| match event {
        Event::Second(second) => second.errors.clone(),
        _ => Vec::new(),
    };
    let errors: Vec<_> = shown.events.iter().flat_map(of_second).collect();
    let sum = |kind| -> (u64, u64) {
        let of_kind = errors.iter().filter(|error| error.kind == kind);
        of_kind.fold((0, 0), |sum, error| (sum.0 + error.count, sum.1 + error.ignored))
    };
    assert_eq!(sum(DbErrorKind::Duplicate), (25, 25));
    assert_eq!(sum(DbErrorKind::Deadlock), (25, 0));
}

#[test]
fn two_simulated_runs_tell_the_same_events() {
    let run_events = || {
        let mut job = job(open(700.0, 20), 2, 12 * NS_PER_S, scattered);
        job.phases.ramp_up_ns = 2 * NS_PER_S;
        tell(job).events
    };
    assert_eq!(run_events(), run_events());
}

#[test]
fn keying_and_thinking_give_the_rate_of_their_closed_form() {
    let mut job = job(Load::KeyThink { scale: 0.5 }, 200, 400 * NS_PER_S, two_ms);
    job.groups[0].workload = Arc::new(Asks::new(2 * NS_PER_S, 3 * NS_PER_S));
    job.phases.ramp_up_ns = 20 * NS_PER_S;
    let shown = tell(job);
    // The truncated exponential's mean is short of 3 s by a factor of 1 - e^-10.
    let cycle_s = 0.5 * (2.0 + 3.0 * (1.0 - (-10f64).exp())) + 0.002;
    let expected = 200.0 / cycle_s;
    let measured = shown.commits as f64 / 400.0;
    assert!((measured / expected - 1.0).abs() < 0.01, "{measured} of {expected}");
    assert!(shown.samples.iter().all(|sample| sample.lag_ns() == 0 && sample.wait_ns() == 0));
}

#[test]
fn key_think_load_has_its_rate_of_each_kind_from_the_first_second_on() {
    // Transaction types are drawn independently, and then from a deck of five that is never
    // shuffled.
    has_its_rate_from_the_first_second_on(|number| [0, 0, 1, 1, 2][bits_of(number) % 5]);
    has_its_rate_from_the_first_second_on(|number| [0, 0, 1, 1, 2][number.nth() as usize % 5]);
}

fn bits_of(number: Number) -> usize {
    number.rng(1).bits() as usize
}

fn has_its_rate_from_the_first_second_on(kind_of: fn(Number) -> KindIndex) {
    let (clients, n_tenths, tenth_s) = (20_000, 10, 4);
    let mut job = job(Load::KeyThink { scale: 1.0 }, clients, 40 * NS_PER_S, two_ms);
    let users = Asks::as_users_do(kind_of);
    let kinds = users.kinds.clone();
    job.groups[0].workload = Arc::new(users);
    let shown = tell(job);
    let mut counts = [[0u32; 3]; 10];
    for sample in &shown.samples {
        let tenth = sample.slot.intended_ns / (tenth_s * NS_PER_S);
        counts[tenth as usize][usize::from(sample.kind)] += 1;
    }
    let pause_s = |kind: &Kind| (kind.keying_ns + kind.thinking_ns) as f64 / 1e9;
    let cycle_s: f64 =
        kinds.iter().map(|kind| kind.weight as f64 / 100.0 * pause_s(kind)).sum::<f64>() + 0.002;
    let per_tenth = f64::from(clients) / cycle_s * tenth_s as f64;
    let mut chi_square = 0.0;
    for counts in counts {
        for (count, kind) in counts.iter().zip(&kinds) {
            let expected = per_tenth * kind.weight as f64 / 100.0;
            chi_square += (f64::from(*count) - expected).powi(2) / expected;
        }
    }
    // Pauses vary less than exponential ones, so counts vary less than Poisson's, for which 30
    // cells stay below 59.7 in 999 of 1,000 cases.
    assert!(chi_square < 59.7, "{chi_square} over {n_tenths} tenths: {counts:?}");
}

#[test]
fn key_think_load_without_pauses_ends_with_its_window() {
    let mut job = job(Load::KeyThink { scale: 1.0 }, 5, NS_PER_S, two_ms);
    job.phases.drain_ns = 3600 * NS_PER_S;
    let shown = tell(job);
    assert_eq!((shown.measured.offered(), shown.measured.unfinished), (2500, 0));
    assert!(shown.samples.iter().all(|sample| sample.wait_ns() == 0));
}

/// Returns the seconds of a run, each with the length of the arrival queue at its end.
fn queues(shown: &WorkerMessage) -> Vec<(i64, u64)> {
    let queue = |event: &Event| match event {
        Event::Second(part) => part.waiting.map(|waiting| (part.second, waiting)),
        _ => None,
    };
    shown.events.iter().filter_map(queue).collect()
}

/// Load of 1,000 arrivals per second, of which one client executes 500.
fn twice_the_capacity(queue_wait_ns: Option<u64>, queue_at_end: QueueAtEnd) -> Load {
    Load::Open {
        arrivals: Arrivals::Uniform,
        rate: ArrivalRate::Constant(1000.0),
        queue: 1 << 20,
        queue_full: QueueFull::Drop,
        queue_wait_ns,
        queue_at_end,
    }
}

#[test]
fn a_queue_that_is_left_ends_with_the_measured_phase() {
    let shown = tell(job(twice_the_capacity(None, QueueAtEnd::Leave), 1, 3 * NS_PER_S, two_ms));
    let last_ns = shown.samples.iter().map(|sample| sample.finished_ns).max();
    assert!(last_ns.is_some_and(|ns| ns <= 3_004 * NS_PER_MS), "{last_ns:?}");
    let counts = shown.measured;
    assert!(counts.committed.abs_diff(1500) <= 1, "{counts:?}");
    assert_eq!(counts.committed + counts.unfinished, counts.offered());
    assert!(counts.offered().abs_diff(3000) <= 1, "{counts:?}");
    let served = job(twice_the_capacity(None, QueueAtEnd::Serve), 1, 3 * NS_PER_S, two_ms);
    assert_eq!(tell(served).measured.unfinished, 0);
}

#[test]
fn an_arrival_that_has_waited_too_long_is_dropped_when_a_client_is_free() {
    let wait_ns = 10 * NS_PER_MS;
    let load = twice_the_capacity(Some(wait_ns), QueueAtEnd::Leave);
    let shown = tell(job(load, 1, 3 * NS_PER_S, two_ms));
    assert!(shown.samples.iter().all(|sample| sample.wait_ns() <= wait_ns));
    let Counts { committed, dropped, unfinished, .. } = shown.measured;
    assert!(committed.abs_diff(1500) <= 1 && dropped.abs_diff(1490) <= 10, "{:?}", shown.measured);
    assert!(unfinished <= 11, "{:?}", shown.measured);
    assert_eq!(shown.skipped_ns.len() as u64, dropped);
    assert!(shown.skipped_ns.iter().all(|ns| *ns > wait_ns), "{:?}", shown.skipped_ns);
}

#[test]
fn what_runs_at_the_end_of_a_second_is_reported_with_the_queue() {
    let shown = tell(job(twice_the_capacity(None, QueueAtEnd::Leave), 1, 3 * NS_PER_S, two_ms));
    let running = |event: &Event| match event {
        Event::Second(part) => part.running,
        _ => None,
    };
    let all: Vec<u64> = shown.events.iter().filter_map(running).collect();
    assert_eq!(all, [1, 1, 1]);
}

#[test]
fn the_queue_is_reported_at_the_end_of_each_second_of_the_load() {
    let load = |queue| Load::Open {
        arrivals: Arrivals::Uniform,
        rate: ArrivalRate::Constant(1000.0),
        queue,
        queue_full: QueueFull::Drop,
        queue_wait_ns: None,
        queue_at_end: QueueAtEnd::Serve,
    };
    let run_of = |queue| {
        let mut job = job(load(queue), 1, 3 * NS_PER_S, two_ms);
        job.phases.ramp_up_ns = 2 * NS_PER_S;
        tell(job)
    };
    // A client executes 500 of the 1,000 arrivals per second, so half of them wait.
    let shown = queues(&run_of(1 << 20));
    let seconds: Vec<i64> = shown.iter().map(|(second, _)| *second).collect();
    assert_eq!(seconds, [-2, -1, 0, 1, 2]);
    for (nth, (_, waiting)) in shown.iter().enumerate() {
        assert!(waiting.abs_diff((nth as u64 + 1) * 500) <= 1, "{shown:?}");
    }
    // The queue never exceeds its limit, and an arrival without room in it is counted once.
    let shown = run_of(10);
    let all = queues(&shown);
    assert!(all.len() == 5 && all.iter().all(|(_, waiting)| (9..=10).contains(waiting)), "{all:?}");
    let offered = shown.measured.offered() + shown.ramp_up.offered();
    assert_eq!(offered, 4999, "{:?}", shown.measured);
    // In a closed load there is no queue.
    assert_eq!(queues(&tell(job(Load::Closed, 1, NS_PER_S, two_ms))), []);
}

#[test]
fn a_queue_that_may_not_be_full_ends_the_run() {
    let load = Load::Open {
        arrivals: Arrivals::Uniform,
        rate: ArrivalRate::Constant(1000.0),
        queue: 10,
        queue_full: QueueFull::Stop,
        queue_wait_ns: None,
        queue_at_end: QueueAtEnd::Serve,
    };
    let shown = tell(job(load, 1, 60 * NS_PER_S, two_ms));
    assert_eq!(shown.ran.reason, StopReason::QueueFull);
    assert_eq!(shown.measured.dropped, 1);
    assert_eq!(shown.measured.offered(), shown.measured.committed + 1);
}

#[test]
fn threads_and_loops_offer_the_same_work() {
    for placement in [Placement::Thread, Placement::Loop] {
        let mut job = job(open(2000.0, 1 << 20), 8, NS_PER_S, two_ms);
        job.placement = placement;
        let shown = tell(job);
        let expected = arrivals(2000.0, NS_PER_S).len() as u64;
        assert_eq!(shown.measured.offered(), expected, "{placement:?}");
        assert_eq!(shown.measured.committed, expected);
        assert_eq!(shown.ran.measured_ns, NS_PER_S);
    }
}

#[test]
fn clients_stay_connected_until_all_are_done_and_have_hung_up_when_the_run_is_over() {
    for placement in [Placement::Thread, Placement::Loop] {
        let mut job = job(Load::KeyThink { scale: 1.0 }, 40, NS_PER_S / 2, two_ms);
        job.placement = placement;
        job.groups[0].workload = Arc::new(Asks::new(100 * NS_PER_MS, 300 * NS_PER_MS));
        let database = Arc::new(Fake::new(two_ms, no));
        let present = Arc::clone(&database.present);
        job.groups[0].database = database;
        let shown = tell(job);
        assert!(shown.commits > 0);
        assert_eq!(present.least.load(Ordering::SeqCst), 40, "{placement:?}");
        assert_eq!(present.now.load(Ordering::SeqCst), 0, "{placement:?}");
    }
}

#[test]
fn asking_once_drains_and_asking_twice_cuts_off() {
    fn a_day(_: u64) -> u64 {
        24 * 3600 * NS_PER_S
    }
    for placement in [Placement::Thread, Placement::Loop] {
        let mut job = job(Load::Closed, 4, 3600 * NS_PER_S, a_day);
        job.placement = placement;
        let database = Arc::new(Fake::new(a_day, no));
        let present = Arc::clone(&database.present);
        job.groups[0].database = database;
        let stop = Arc::new(Stop::default());
        let asked = Arc::clone(&stop);
        let asks = std::thread::spawn(move || {
            // All four clients have sent their statements.
            while present.asked.load(Ordering::SeqCst) < 4 {
                std::thread::yield_now();
            }
            asked.ask();
            asked.ask();
        });
        let shown = tell_until(job, &stop, &mut |_| ());
        asks.join().expect("it only asks");
        assert_eq!(shown.ran.reason, StopReason::Interrupted);
        assert_eq!((shown.measured.offered(), shown.measured.unfinished), (4, 4), "{placement:?}");
        assert!(shown.ran.measured_ns < 3600 * NS_PER_S);
        assert_eq!(shown.ran.n_left_behind, 0);
    }
}

#[test]
fn sleepers_are_woken_when_the_run_is_stopped() {
    for placement in [Placement::Thread, Placement::Loop] {
        let mut job = job(Load::KeyThink { scale: 1.0 }, 16, 3600 * NS_PER_S, two_ms);
        job.groups[0].workload = Arc::new(Asks::new(1000 * NS_PER_S, 0));
        job.placement = placement;
        let stop = Arc::new(Stop::default());
        let asked = Arc::clone(&stop);
        let shown = tell_until(job, &stop, &mut |event| {
            if let Event::Phase { phase: model::Phase::Measure, .. } = event {
                asked.ask();
            }
        });
        assert_eq!(shown.ran.reason, StopReason::Interrupted);
        assert!(shown.ran.measured_ns < 3600 * NS_PER_S, "{placement:?}");
        assert_eq!(shown.measured.unfinished, 0);
    }
}

#[test]
fn late_samples_belong_to_the_second_in_which_they_were_intended() {
    fn late(nth: u64) -> u64 {
        if nth == 5 { 7 * NS_PER_S } else { NS_PER_MS }
    }
    let load = Load::Open {
        arrivals: Arrivals::Uniform,
        rate: ArrivalRate::Constant(4.0),
        queue: 10,
        queue_full: QueueFull::Drop,
        queue_wait_ns: None,
        queue_at_end: QueueAtEnd::Serve,
    };
    let shown = tell(job(load, 2, 10 * NS_PER_S, late));
    let mut seconds: Vec<Second> = (0..10).map(|second| Second::new(0, second)).collect();
    for event in &shown.events {
        if let Event::Second(part) = event {
            seconds[part.second as usize].add(part);
        }
    }
    // Arrivals at 0.25, 0.5, 0.75 | 1.0 ...: the sixth comes at 1.5 s and ends at 8.5 s.
    assert_eq!(seconds[1].counts().committed, 4);
    let slowest = seconds[1].kinds.iter().filter_map(|k| k.response.as_ref()).map(|h| h.max());
    assert_eq!(slowest.max(), Some(7 * NS_PER_S));
    let commits: Vec<u64> =
        seconds.iter().map(|s| s.kinds.iter().map(|k| k.commits).sum()).collect();
    assert_eq!(commits, [3, 3, 4, 4, 4, 4, 4, 4, 5, 4]);
}

/// A database that refuses its first connections and accepts later ones.
struct Shy {
    refused: std::sync::atomic::AtomicU32,
    n_refused_most: u32,
    kind: DbErrorKind,
    inner: Fake,
}

impl Shy {
    fn new(n_refused_most: u32, kind: DbErrorKind) -> Shy {
        let inner = Fake::new(two_ms, no);
        Shy { refused: Default::default(), n_refused_most, kind, inner }
    }
}

impl Database for Shy {
    fn product(&self) -> &Product {
        self.inner.product()
    }

    fn places(&self) -> Places {
        Places::ALL
    }

    fn connect<'a>(&'a self, place: Place, statements: Arc<[Statement]>) -> Connecting<'a> {
        use std::sync::atomic::Ordering::SeqCst;
        if self.refused.load(SeqCst) < self.n_refused_most {
            self.refused.fetch_add(1, SeqCst);
            let db_error = DbError::new(self.kind, "not now");
            return Box::pin(async move { Err(db_error) });
        }
        self.inner.connect(place, statements)
    }

    fn facts(&self) -> Result<Vec<Fact>, DbError> {
        Ok(Vec::new())
    }
}

fn connect_with(database: Shy, connect: Connect) -> (Result<Ran, String>, Vec<Event>, u64) {
    let mut job = job(Load::Closed, 10, NS_PER_S, two_ms);
    job.groups[0].database = Arc::new(database);
    job.connect = connect;
    let stop = Arc::new(Stop::default());
    let (mut events, mut connected_ns) = (Vec::new(), 0);
    let mut start = |now_ns| {
        connected_ns = now_ns;
        now_ns
    };
    let ran = run(job, &stop, &mut start, &mut |event| events.push(event));
    (ran.map_err(|error| error.to_string()), events, connected_ns)
}

fn has_fact(events: &[Event], name: &str, value: &str) -> bool {
    let is = |fact: &Fact| fact.name == name && fact.value == value;
    events.iter().any(|event| matches!(event, Event::Fact(fact) if is(fact)))
}

#[test]
fn a_connection_that_is_refused_is_made_again_and_that_is_reported() {
    let shy = Shy::new(7, DbErrorKind::ConnectionLost);
    let (ran, events, _) = connect_with(shy, Connect::default());
    assert_eq!(ran.expect("all connect").reason, StopReason::Completed);
    assert!(has_fact(&events, "connects_retried", "7"));
    assert!(has_fact(&events, "connects_retried_why", "not now"));
    let all = |event: &Event| matches!(event, Event::Connected { connected: 10, failed: 0, .. });
    assert!(events.iter().any(all));
}

#[test]
fn a_run_does_not_begin_with_fewer_clients_than_were_asked_for() {
    let shy = Shy::new(u32::MAX, DbErrorKind::ConnectionLost);
    let (ran, _, _) = connect_with(shy, Connect::default());
    assert_eq!(ran.expect_err("nobody connects"), "10 of 10 clients could not connect: not now");
    // Errors that no further attempt can heal are not retried.
    let shy = Shy::new(1, DbErrorKind::Denied);
    let (ran, events, _) = connect_with(shy, Connect::default());
    assert_eq!(ran.expect_err("one is refused"), "1 of 10 clients could not connect: not now");
    assert!(!events.iter().any(|event| matches!(event, Event::Fact(_))));
}

#[test]
fn clients_connect_at_their_rate() {
    let connect = Connect { rate_per_s: Some(3.0), at_once: 1 };
    let (ran, _, connected_ns) = connect_with(Shy::new(0, DbErrorKind::Other), connect);
    assert_eq!(ran.expect("all connect").reason, StopReason::Completed);
    assert_eq!(connected_ns, 9 * (NS_PER_S / 3));
}

/// Runs a closed load with eight clients, each of which blocks its thread once for 50 ms.
fn blocked_for_50_ms(placement: Placement) -> WorkerMessage {
    let mut job = job(Load::Closed, 8, 60 * NS_PER_S, |_| NS_PER_MS);
    let blocks = |nth: u64| if nth == 100 { 50 * NS_PER_MS } else { 0 };
    let database = Fake { blocks_ns: blocks, ..Fake::new(|_| NS_PER_MS, no) };
    job.groups[0].database = Arc::new(database);
    job.groups[0].stop_condition = StopCondition::TransactionsPerClient(150);
    job.placement = placement;
    job.workers = 1;
    tell(job)
}

fn reply_lag(shown: &WorkerMessage) -> stats::Histogram {
    let mut sum = stats::Histogram::default();
    for event in &shown.events {
        let Event::Second(Second { reply_lag: Some(lag), .. }) = event else { continue };
        sum.add(lag);
    }
    sum
}

#[test]
fn a_loop_that_is_blocked_shows_in_its_heartbeat_and_in_the_reply_lag() {
    let began = crate::Origin::now();
    let shown = blocked_for_50_ms(Placement::Loop);
    let whole_ns = began.elapsed_ns();
    let mut heartbeats = shown.events.iter().filter_map(|event| match event {
        Event::Heartbeats { loop_index, most_delayed_at_ns, lag } => {
            Some((*loop_index, *most_delayed_at_ns, lag.as_ref()?))
        }
        _ => None,
    });
    let (loop_index, most_delayed_at_ns, lag) = heartbeats.next().expect("one loop");
    assert!(loop_index == 0 && heartbeats.next().is_none());
    // Eight clients block the loop in turn; the first heartbeat that each delays is due within 10
    // ms.
    let ms = lag.max() / NS_PER_MS;
    assert!(ms >= 40, "{ms} ms");
    assert!(
        most_delayed_at_ns >= 0 && most_delayed_at_ns < shown.ran.measured_ns as i64,
        "{most_delayed_at_ns}"
    );
    // Every heartbeat counts, whether the loop noticed it or missed it. The loop continues with
    // heartbeats until it learns, at an unknown time, that the count was reached.
    let due = |within_ns: u64| within_ns / (10 * NS_PER_MS);
    let (least, most) = (due(shown.ran.measured_ns), due(whole_ns) + 1);
    assert!((least..=most).contains(&lag.count()), "{} of {least} to {most}", lag.count());
    // Replies to the other clients waited in their sockets meanwhile.
    let replies = reply_lag(&shown);
    assert_eq!(replies.count(), 150 * 8);
    assert!(replies.max() >= 40 * NS_PER_MS, "{} ns", replies.max());
}

#[test]
fn threads_have_no_heartbeat_and_block_nobody_else() {
    let shown = blocked_for_50_ms(Placement::Thread);
    assert!(!shown.events.iter().any(|event| matches!(event, Event::Heartbeats { .. })));
    assert_eq!(reply_lag(&shown).count(), 150 * 8);
    assert_eq!(shown.ran.no_reply_lag, None);
}

#[test]
fn virtual_time_has_no_reply_lag() {
    let shown = tell(job(Load::Closed, 4, NS_PER_S, two_ms));
    assert!(reply_lag(&shown).is_empty());
}

#[test]
fn client_threads_are_those_of_the_run() {
    for (placement, loops) in [
        (Placement::Loop, vec![Some(0), Some(1)]),
        (Placement::Thread, vec![None; 4]),
        (Placement::Simulated, vec![]),
    ] {
        let mut job = job(Load::Closed, 4, 20 * NS_PER_MS, |_| NS_PER_MS);
        job.placement = placement;
        let threads = job.threads.clone();
        tell(job);
        let list = threads.list();
        let indices: Vec<Option<u32>> = list.iter().map(|thread| thread.loop_index).collect();
        assert_eq!(indices, loops);
        let numbers: std::collections::BTreeSet<u32> =
            list.iter().map(|thread| thread.thread).collect();
        assert_eq!(numbers.len(), list.len());
    }
}
