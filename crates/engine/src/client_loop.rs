//! The loop of one client: claims a transaction, draws its inputs, waits until it is due, executes
//! it with retries, and records it.
//!
//! The same code runs on a thread, on an event loop and in virtual time; only its clock and its
//! sessions differ. Not here: the threads and event loops that run it (place), and when
//! transactions are due (pacer).

use std::rc::Rc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use model::numbers::duration;
use model::{
    AfterError, Client, ClientMoments, Clock, Connections, Database, DbError, DbErrorKind, Done,
    Execution, Input, Kind, KindIndex, NS_PER_MS, NS_PER_S, Number, Outcome, Placement, Producer,
    Retry, Rng, Sample, Sessions, Signal, Slot, Statement, StopReason, Stream, Traffic, TxContext,
    Workload, format_duration, raised,
};
use stats::{CoarseHistogram, Moments};

use crate::clock::through;
use crate::job::RecordedAs;
use crate::pacer::{Claim, Pacer};
use crate::recorder::Recorder;
use crate::rejections::{Acceptance, Next, Rejections, is_rejection};
use crate::stop::{AHEAD_NS, NEVER, Stop};
use crate::time_limit::ClientCancels;

/// First and longest pause between a client's attempts to reconnect, in nanoseconds. Each pause is
/// twice the one before, up to the longest.
const RECONNECT_NS: (u64, u64) = (10 * NS_PER_MS, NS_PER_S);
/// Longest time that a client tries to reconnect, in nanoseconds, if no instant ends the load:
/// without this client, a load that ends after its transactions would never end.
const AWAY_NS: u64 = 60 * NS_PER_S;
/// Duration of an idle period, in nanoseconds, after which a client checks that its connection is
/// still open. Servers and proxies close idle connections after seconds at the earliest, and the
/// check takes a microsecond.
const IDLE_NS: u64 = 100 * NS_PER_MS;
/// Number of transactions after which a client on an event loop lets other clients run.
const TURN: u32 = 16;
/// Number of consecutive transactions that take no virtual time, after which a simulated run fails,
/// because virtual time would never advance.
const STILL_MAX: u32 = 100_000;

const CLOSED_WHILE_IDLE: &str = "the connection was closed while its client paused; it was made \
                                 again before the next transaction";

/// The transaction that a client is running, visible to the coordinator, which counts it as
/// unfinished if the client itself cannot. Aligned so that clients on different cores do not share
/// a cache line.
#[repr(align(128))]
pub(crate) struct UnderWay {
    /// Intended start of the running transaction, in nanoseconds of the run's clock; [`NEVER`] if
    /// none is running.
    intended_ns: AtomicU64,
    kind: AtomicU32,
}

impl Default for UnderWay {
    fn default() -> UnderWay {
        UnderWay { intended_ns: AtomicU64::new(NEVER), kind: AtomicU32::new(0) }
    }
}

impl UnderWay {
    fn begin(&self, kind: KindIndex, intended_ns: u64) {
        self.kind.store(u32::from(kind), Ordering::Relaxed);
        self.intended_ns.store(intended_ns, Ordering::Release);
    }

    fn end(&self) {
        self.intended_ns.store(NEVER, Ordering::Release);
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.intended_ns.load(Ordering::Acquire) == NEVER
    }

    /// Returns type and intended start (in nanoseconds) of the running transaction, and removes
    /// them so that it is counted only once; `None` if none is running.
    pub(crate) fn take(&self) -> Option<(KindIndex, u64)> {
        let intended_ns = self.intended_ns.swap(NEVER, Ordering::AcqRel);
        let kind = self.kind.load(Ordering::Relaxed) as KindIndex;
        (intended_ns != NEVER).then_some((kind, intended_ns))
    }
}

pub(crate) struct Common {
    pub(crate) seed: u64,
    pub(crate) retry: Retry,
    pub(crate) stop: Arc<Stop>,
    pub(crate) recorder: Recorder,
    /// Executions of clients whose load is a sequence, each with its group, until the coordinator
    /// takes them.
    pub(crate) executed: Mutex<Vec<(u16, Execution)>>,
}

/// A client that is executing transactions, with its connections, clock and results.
pub(crate) struct ClientLoop {
    pub(crate) client: u32,
    pub(crate) group: u16,
    pub(crate) kinds: Arc<[Kind]>,
    pub(crate) user: Box<dyn Client>,
    pub(crate) sessions: Sessions,
    pub(crate) cancels: Arc<ClientCancels>,
    pub(crate) pacer: Pacer,
    pub(crate) clock: Rc<dyn Clock>,
    pub(crate) common: Arc<Common>,
    pub(crate) under_way: Arc<UnderWay>,
    pub(crate) workload: Arc<dyn Workload>,
    /// Count, extremes and sums of the response times of transactions that were due after the
    /// ramp-up, and how many of them failed, by transaction type.
    pub(crate) moments: Vec<(Moments, u64)>,
    /// Coarse histograms of the response times that are summed up in `moments`, by transaction
    /// type; empty if the run keeps no histogram per client.
    times: Vec<CoarseHistogram>,
    /// Executions of transactions that were due in the measured phase; `None` unless the load is a
    /// sequence.
    has_sequence: bool,
    nth_in_group: u32,
    /// Signal that the workload's producer raises when it may have generated more input for
    /// clients; `None` if the workload has no producer.
    for_input: Option<Arc<Signal>>,
    measured: Vec<(u16, u64)>,
    /// Traffic of the sessions up to the end of what `counted` has.
    sent: Traffic,
    /// Traffic of the attempts of the running transaction, as the workload counts it.
    counted: Traffic,
    database: Arc<dyn Database>,
    acceptance: Arc<Acceptance>,
    rejections: Rejections,
    /// Whether the server rejects this client's transactions, so that the next one needs another
    /// connection.
    leaves: bool,
    connections: Connections,
    /// Whether the connection is broken and not yet replaced.
    is_broken: bool,
    /// Whether the sessions were cancelled because a transaction exceeded its time limit, so that
    /// they must be replaced.
    is_cancelled: bool,
    /// Instant since which the connection is idle, in nanoseconds of the run's clock.
    idle_since_ns: u64,
    /// Pause before the next attempt to reconnect, in nanoseconds; 0 after a successful
    /// transaction.
    reconnect_ns: u64,
}

/// Properties of a client that are known before it starts. The thread or event loop that runs the
/// client creates its [`ClientLoop`] from them.
pub(crate) struct ClientSpec {
    pub(crate) database: Arc<dyn Database>,
    pub(crate) statements: Arc<[Statement]>,
    pub(crate) client: u32,
    pub(crate) group: u16,
    /// Index of the client in its group, from 0.
    pub(crate) nth_in_group: u32,
    pub(crate) kinds: Arc<[Kind]>,
    pub(crate) workload: Arc<dyn Workload>,
    pub(crate) pacer: Pacer,
    pub(crate) common: Arc<Common>,
    pub(crate) under_way: Arc<UnderWay>,
    /// Record of which transaction types the server has accepted so far, shared by all clients of
    /// the group. By this record a client decides whether rejections end the run.
    pub(crate) acceptance: Arc<Acceptance>,
    /// Whether each client keeps its own histogram of response times.
    pub(crate) keeps_times: bool,
    pub(crate) connections: Connections,
}

impl ClientLoop {
    pub(crate) fn new(
        spec: ClientSpec,
        sessions: Sessions,
        cancels: Arc<ClientCancels>,
        clock: Rc<dyn Clock>,
    ) -> ClientLoop {
        let n_kinds = spec.kinds.len();
        let for_input = spec.workload.producer().map(Producer::for_clients);
        let has_sequence = spec.workload.sequence().is_some();
        ClientLoop {
            client: spec.client,
            group: spec.group,
            kinds: spec.kinds,
            user: spec.workload.client_of_group(spec.client, spec.nth_in_group),
            sessions,
            cancels,
            pacer: spec.pacer,
            clock,
            common: spec.common,
            under_way: spec.under_way,
            workload: spec.workload,
            moments: vec![(Moments::default(), 0); n_kinds],
            times: vec![CoarseHistogram::default(); if spec.keeps_times { n_kinds } else { 0 }],
            has_sequence,
            nth_in_group: spec.nth_in_group,
            for_input,
            measured: Vec::with_capacity(8),
            sent: Traffic::default(),
            counted: Traffic::default(),
            database: spec.database,
            acceptance: spec.acceptance,
            rejections: Rejections::default(),
            leaves: false,
            connections: spec.connections,
            is_broken: false,
            is_cancelled: false,
            idle_since_ns: 0,
            reconnect_ns: 0,
        }
    }

    /// Returns the workload's client with the context of what it is asked to do next.
    fn in_context(&mut self, intended_ns: u64) -> (&mut dyn Client, TxContext<'_>) {
        let context = TxContext {
            sessions: &mut self.sessions,
            clock: self.clock.as_ref(),
            dialect: self.database.dialect(),
            intended_ns,
            measured: &mut self.measured,
        };
        (self.user.as_mut(), context)
    }

    /// Lets the workload's client prepare its new connection, for workloads that need that. Fails
    /// if the database returns an error.
    pub(crate) async fn begin(&mut self) -> Result<(), DbError> {
        self.measured.clear();
        let (user, mut context) = self.in_context(self.clock.now());
        match user.begin(&mut context) {
            Some(beginning) => beginning.await,
            None => Ok(()),
        }
    }

    /// Executes transactions from `load_start_ns` until the load is over. If the run is cut off,
    /// the coordinator counts the transaction that was still running as unfinished.
    pub(crate) async fn serve(&mut self, load_start_ns: u64, placement: Placement) {
        self.pacer.begin(load_start_ns, self.workload.as_ref());
        through(self.clock.as_ref(), load_start_ns).await;
        self.idle_since_ns = load_start_ns;
        self.disconnect();
        let mut turn = 0;
        let mut still = 0;
        while let Some((kind, slot, started_ns)) = self.next().await {
            self.under_way.begin(kind, slot.intended_ns);
            if started_ns == NEVER {
                return;
            }
            (self.sent, self.counted) = (self.sessions.traffic(), Traffic::default());
            let Some((outcome, retries)) = self.attempt(kind, slot).await else {
                self.under_way.end();
                self.common.stop.client_is_over();
                break;
            };
            let finished_ns = self.clock.now();
            if self.common.stop.is_aborted() && is_cut_off(outcome) {
                return;
            }
            self.count_traffic();
            let traffic = self.counted;
            let sample = Sample { kind, slot, started_ns, finished_ns, outcome, retries, traffic };
            self.record(&sample);
            if matches!(outcome, Outcome::Failed(_) | Outcome::Unknown)
                && self.user.after_error() == Some(AfterError::EndClient)
            {
                self.common.stop.client_is_over();
                break;
            }
            self.idle_since_ns = finished_ns;
            let leaves = std::mem::take(&mut self.leaves);
            self.is_broken = is_lost(outcome) || leaves || self.is_cancelled;
            self.disconnect();
            self.pacer.finished(kind, slot, finished_ns);
            turn += 1;
            match placement {
                Placement::Loop if turn % TURN == 0 => event_loop::yield_now().await,
                Placement::Simulated => {
                    still = if finished_ns > started_ns { 0 } else { still + 1 };
                    self.refuse_to_stand_still(still, finished_ns);
                }
                Placement::Thread | Placement::Loop => {}
            }
        }
        self.count_dropped();
        self.end().await;
    }

    /// Counts what was sent since the last call, as the workload counts it, and returns it.
    fn count_traffic(&mut self) -> Traffic {
        let sent = self.sessions.traffic();
        let counted = self.user.counted(sent - self.sent);
        self.sent = sent;
        self.counted += counted;
        counted
    }

    /// Tells the hook of an attempt that has failed and is retried.
    fn tell_retried(&mut self, kind: KindIndex, slot: Slot, error: DbErrorKind, retries: u32) {
        if !self.common.recorder.has_hook() {
            return;
        }
        let (started_ns, finished_ns) = (slot.claimed_ns, self.clock.now());
        let (outcome, traffic) = (Outcome::Failed(error), self.count_traffic());
        let sample = Sample { kind, slot, started_ns, finished_ns, outcome, retries, traffic };
        self.common.recorder.tell(self.client, &sample, RecordedAs::Retried);
    }

    /// Lets the workload's client end its work on its connection, if it has one. An error is
    /// counted.
    async fn end(&mut self) {
        let has_connection = !self.is_broken && !self.connects_each();
        if !has_connection || self.common.stop.is_aborted() {
            return;
        }
        let (user, mut context) = self.in_context(self.clock.now());
        let ended = match user.end(&mut context) {
            Some(ending) => ending.await,
            None => Ok(()),
        };
        if let Err(db_error) = ended {
            self.count_error(&db_error, None);
        }
    }

    /// Claims the next transaction and waits until it is due; reconnects first if necessary.
    /// Returns its type, its number and intended start (the slot), and its actual start. `None`
    /// when the load is over.
    async fn next(&mut self) -> Option<(KindIndex, Slot, u64)> {
        // In closed load, a transaction is due once its client is connected.
        let (stop, now_ns) = (&self.common.stop, self.clock.now());
        let is_due = !self.pacer.keeps_time() && !stop.has_reason() && now_ns < stop.end_ns();
        if self.connects_each() && is_due {
            self.connect_anew().await;
        }
        let must_connect = self.must_connect();
        // A client without a connection must not claim a shared arrival.
        if must_connect && !self.pacer.has_own() && !self.reconnect().await {
            return None;
        }
        let mut claim = self.pacer.claim(self.clock.as_ref())?;
        self.count_dropped();
        let kind = self.user.inputs(claim.number);
        if must_connect && self.pacer.has_own() {
            // The client's own transaction is due whether it is connected or not.
            let intended_ns = self.pacer.expect(&claim, kind, &self.kinds)?;
            self.under_way.begin(kind, intended_ns);
            if !self.reconnect().await {
                self.leave_unfinished(claim, kind, intended_ns);
                return None;
            }
            claim = self.pacer.reconnected(claim, intended_ns, self.clock.now());
        }
        if !self.await_input().await {
            self.under_way.end();
            return None;
        }
        let clock = self.clock.as_ref();
        let due = self.pacer.wait(claim, kind, &self.kinds, clock).await;
        let Some((slot, started_ns)) = due else {
            self.under_way.end();
            return None;
        };
        if started_ns == NEVER {
            return Some((kind, slot, NEVER));
        }
        if self.connects_each() && self.pacer.keeps_time() && !must_connect {
            self.under_way.begin(kind, slot.intended_ns);
            self.connect_anew().await;
            if !self.is_broken {
                // The transaction waits for its connection, which is no lag of the generator.
                let now_ns = self.clock.now();
                return Some((kind, Slot { claimed_ns: now_ns, ..slot }, now_ns));
            }
            return self.begin_anew(claim, kind, slot).await;
        }
        if self.has_ended(started_ns) {
            self.under_way.begin(kind, slot.intended_ns);
            let recorder = &self.common.recorder;
            let lost = DbError::new(DbErrorKind::ConnectionLost, CLOSED_WHILE_IDLE);
            recorder.record_error(self.client, self.group, self.clock.now(), &lost);
            recorder.note_idle_loss();
            self.is_broken = true;
            return self.begin_anew(claim, kind, slot).await;
        }
        Some((kind, slot, started_ns))
    }

    fn connects_each(&self) -> bool {
        self.connections == Connections::PerTransaction
    }

    /// Disconnects a client that connects before each transaction.
    fn disconnect(&mut self) {
        if self.connects_each() && !self.is_broken {
            self.sessions.close_further();
            self.sessions.own().disconnect();
        }
    }

    /// Connects once before a transaction, and records the time that it took. If that fails, the
    /// error is counted, and the connection is broken, as after any loss. Does nothing if it is
    /// broken already, since a lost connection is replaced with pauses between the attempts.
    async fn connect_anew(&mut self) {
        if self.is_broken {
            return;
        }
        // Selects the host that is now assigned to the client.
        self.sessions.own().should_move();
        let began_ns = self.clock.now();
        match self.connect_again().await {
            Ok(()) => {
                let now_ns = self.clock.now();
                self.idle_since_ns = now_ns;
                let recorder = &self.common.recorder;
                recorder.record_connect(self.client, self.group, began_ns, now_ns);
            }
            Err(db_error) => {
                self.is_broken = true;
                self.count_error(&db_error, None);
            }
        }
    }

    /// Whether the server or a proxy has closed the connection while it was idle. Checked only
    /// after at least 100 ms of idleness; false before.
    fn has_ended(&mut self, now_ns: u64) -> bool {
        now_ns.saturating_sub(self.idle_since_ns) >= IDLE_NS && self.sessions.own().has_ended()
    }

    /// Reconnects, and then starts the claimed transaction, which was already due. `None` if there
    /// is no connection before the measured window ends.
    async fn begin_anew(
        &mut self,
        claim: Claim,
        kind: KindIndex,
        slot: Slot,
    ) -> Option<(KindIndex, Slot, u64)> {
        if !self.reconnect().await {
            // A claimed arrival is counted as unfinished by the coordinator.
            if self.pacer.has_own() {
                self.leave_unfinished(claim, kind, slot.intended_ns);
            }
            return None;
        }
        let now_ns = self.clock.now();
        self.pacer.reconnected(claim, slot.intended_ns, now_ns);
        Some((kind, Slot { claimed_ns: now_ns, ..slot }, now_ns))
    }

    /// Waits for input from the workload's producer, if it has one. Returns false if there will be
    /// none before the load is over. The wait is not part of the transaction.
    async fn await_input(&mut self) -> bool {
        let Some(signal) = &self.for_input else { return true };
        let stop = &self.common.stop;
        loop {
            let seen = signal.count();
            match self.user.take_input() {
                Input::Ready => return true,
                Input::Over => return false,
                Input::Later => {}
            }
            if stop.is_over(self.clock.now()) {
                return false;
            }
            raised(self.clock.as_ref(), signal, seen).await;
        }
    }

    /// Counts as unfinished those transactions that this client could not start before the end of
    /// the measured window, because it was disconnected. Their unknown duration counts as 0.
    fn leave_unfinished(&mut self, mut claim: Claim, mut kind: KindIndex, mut intended_ns: u64) {
        self.under_way.end();
        let now_ns = self.clock.now();
        let common = Arc::clone(&self.common);
        while intended_ns < common.stop.end_ns() {
            common.recorder.record_unfinished(self.group, kind, intended_ns, now_ns);
            let slot = Slot { number: claim.number, intended_ns, claimed_ns: intended_ns };
            self.pacer.finished(kind, slot, intended_ns);
            let Some(next) = self.pacer.claim(self.clock.as_ref()) else { return };
            claim = next;
            kind = self.user.inputs(claim.number);
            // Without pauses, the client waits for its first transaction and starts no others.
            match self.pacer.expect(&claim, kind, &self.kinds) {
                Some(next_ns) if next_ns > intended_ns => intended_ns = next_ns,
                _ => return,
            }
        }
    }

    fn record(&mut self, sample: &Sample) {
        let measured: &[(u16, u64)] = match sample.outcome {
            Outcome::Committed | Outcome::RolledBack => &self.measured,
            Outcome::Ignored(_) | Outcome::Failed(_) | Outcome::Unknown => &[],
        };
        self.common.recorder.record(self.client, self.group, sample, measured);
        self.under_way.end();
        if sample.slot.intended_ns < self.common.stop.measure_start_ns() {
            return;
        }
        let start_ns = self.common.stop.measure_start_ns() as i64;
        if self.has_sequence {
            let execution = Execution {
                client: self.nth_in_group,
                kind: sample.kind,
                started_ns: sample.started_ns as i64 - start_ns,
                ended_ns: sample.finished_ns as i64 - start_ns,
                is_finished: matches!(sample.outcome, Outcome::Committed | Outcome::RolledBack),
                error: match sample.outcome {
                    Outcome::Ignored(kind) | Outcome::Failed(kind) => Some(kind),
                    Outcome::Unknown => Some(DbErrorKind::UnknownCommit),
                    Outcome::Committed | Outcome::RolledBack => None,
                },
            };
            let executed = self.common.executed.lock();
            executed.unwrap_or_else(PoisonError::into_inner).push((self.group, execution));
        }
        let (moments, failed) = &mut self.moments[usize::from(sample.kind)];
        match sample.outcome {
            Outcome::Committed | Outcome::RolledBack | Outcome::Ignored(_) => {
                let response_ns = sample.response_ns();
                moments.record(response_ns);
                if let Some(times) = self.times.get_mut(usize::from(sample.kind)) {
                    times.record(response_ns);
                }
            }
            Outcome::Failed(_) | Outcome::Unknown => *failed += 1,
        }
    }

    /// Executes the transaction that was claimed as `slot`, and retries it as the run's retry
    /// policy or the client says, each time with the same inputs. Returns the outcome and the
    /// number of retries; `None` if the client has ended its work instead.
    async fn attempt(&mut self, kind: KindIndex, slot: Slot) -> Option<(Outcome, u32)> {
        let Slot { number, intended_ns, .. } = slot;
        let limit = self.workload.time_limit_ns(kind).map(|limit_ns| {
            (limit_ns, Arc::clone(&self.cancels), Rc::clone(&self.clock), Arc::clone(&self.kinds))
        });
        let mut retries = 0;
        loop {
            self.measured.clear();
            let (user, mut context) = self.in_context(intended_ns);
            let conversation = user.converse(&mut context);
            let said = match &limit {
                None => conversation.await,
                Some((limit_ns, cancels, clock, kinds)) => {
                    let until_ns = clock.now() + limit_ns;
                    let ended = cancels.within(until_ns, clock.as_ref(), conversation).await;
                    self.is_cancelled = ended.is_none();
                    let name = kinds[usize::from(kind)].name;
                    ended.unwrap_or_else(|| Err(DbError::timed_out(name, &duration(*limit_ns))))
                }
            };
            let db_error = match said {
                Ok(done) => {
                    self.acceptance.accept(kind);
                    self.rejections.clear();
                    self.leaves = false;
                    return outcome_of(done).map(|outcome| (outcome, retries));
                }
                Err(db_error) => db_error,
            };
            if self.common.retry.ignores(&db_error) {
                let (recorder, now_ns) = (&self.common.recorder, self.clock.now());
                recorder.record_ignored_error(self.client, self.group, now_ns, &db_error);
                self.rejections.clear();
                return Some((Outcome::Ignored(db_error.kind), retries));
            }
            self.count_error(&db_error, Some(kind));
            if !self.goes_again(&db_error, retries) {
                return Some((outcome_of_db_error(db_error.kind), retries));
            }
            retries += 1;
            self.tell_retried(kind, slot, db_error.kind, retries);
            self.back_off(number, retries).await;
        }
    }

    /// Whether a transaction that failed after `retries` retries is executed again. Ends the run if
    /// the client says so.
    fn goes_again(&self, db_error: &DbError, retries: u32) -> bool {
        let Common { retry, stop, .. } = self.common.as_ref();
        let is_running = stop.word() == crate::stop::RUNNING;
        match self.user.after_error() {
            None => {
                let is_covered = retry.covers(db_error) && retries + 1 < retry.attempts;
                is_running && is_covered && !self.is_cancelled
            }
            // The event may never succeed, and the load must end.
            Some(AfterError::Again) => is_running && !stop.is_over(self.clock.now()),
            Some(AfterError::EndRun) if is_running => {
                let (why, remedy) = (db_error.message.clone(), None);
                let reason = StopReason::Failed { why, is_of_workload: true, remedy };
                stop.drain(|| self.clock.now() + AHEAD_NS, reason);
                false
            }
            Some(AfterError::EndRun | AfterError::EndClient) => false,
        }
    }

    /// Pauses before a retry. The mean of the pause doubles with each retry; the pause is drawn
    /// uniformly from half to one and a half times the mean.
    async fn back_off(&mut self, number: Number, retries: u32) {
        let mean_ns = self.common.retry.backoff_ns << (retries - 1).min(10);
        if mean_ns == 0 {
            return;
        }
        let nth = number.nth().wrapping_mul(1 << 8).wrapping_add(u64::from(retries));
        let mut rng = Rng::new(self.common.seed, Stream::Backoff(self.client), nth);
        let pause_ns = mean_ns / 2 + (mean_ns as f64 * stats::unit(rng.bits())) as u64;
        through(self.clock.as_ref(), self.clock.now() + pause_ns).await;
    }

    /// Records a database error of a transaction of type `kind`, or of an attempt to connect
    /// (`None`). If the server keeps rejecting the client, makes it reconnect to another host, or
    /// ends the run.
    fn count_error(&mut self, db_error: &DbError, kind: Option<KindIndex>) {
        let now_ns = self.clock.now();
        let stop = &self.common.stop;
        if db_error.kind == DbErrorKind::Cancelled && stop.is_aborted() {
            return;
        }
        self.common.recorder.record_error(self.client, self.group, now_ns, db_error);
        if !is_rejection(db_error.kind) {
            return self.rejections.clear();
        }
        let n_hosts = self.database.hosts().map_or(1, |hosts| hosts.list().len());
        match self.rejections.note(db_error.kind, kind, &self.acceptance, n_hosts, now_ns) {
            // A client that is rejected while it connects tries again anyway.
            Next::Leave if kind.is_some() && !self.leaves => {
                self.leaves = true;
                self.sessions.own().leave_host();
            }
            Next::Stay | Next::Leave => {}
            Next::GiveUp => {
                let why = format!("every attempt is refused: {db_error}");
                stop.drain(|| self.clock.now() + AHEAD_NS, StopReason::failed(why));
            }
        }
    }

    /// Whether the client must reconnect before its next transaction, because the connection is
    /// broken or the client was assigned to another host.
    fn must_connect(&mut self) -> bool {
        if !self.is_broken {
            self.reconnect_ns = 0;
        }
        // A client to which another host is assigned moves between two transactions.
        self.is_broken || (!self.connects_each() && self.sessions.own().should_move())
    }

    /// Tries to reconnect, with pauses, until it succeeds or the measured window ends. Returns
    /// whether there is a connection.
    async fn reconnect(&mut self) -> bool {
        let stop = Arc::clone(&self.common.stop);
        let is_open = |now_ns| stop.word() == crate::stop::RUNNING && now_ns < stop.end_ns();
        let lost_ns = self.clock.now();
        while is_open(self.clock.now()) {
            // A connection that breaks at its first transaction does not reset the pause.
            if self.reconnect_ns > 0 {
                let until_ns = (self.clock.now() + self.reconnect_ns).min(stop.end_ns());
                crate::clock::until(self.clock.as_ref(), until_ns).await;
                if !is_open(self.clock.now()) {
                    break;
                }
            }
            self.reconnect_ns = (self.reconnect_ns * 2).clamp(RECONNECT_NS.0, RECONNECT_NS.1);
            match self.connect_again().await {
                Ok(()) => {
                    self.is_broken = false;
                    self.idle_since_ns = self.clock.now();
                    return true;
                }
                Err(db_error) => {
                    self.is_broken = true;
                    self.count_error(&db_error, None);
                    let away_ns = self.clock.now() - lost_ns;
                    if stop.end_ns() == NEVER && away_ns >= AWAY_NS {
                        let why = format!(
                            "the load ends only after its transactions, and a client could not \
                             reconnect for {}: {db_error}",
                            format_duration(AWAY_NS)
                        );
                        let now_ns = || self.clock.now() + AHEAD_NS;
                        stop.drain(now_ns, StopReason::failed(why));
                    }
                }
            }
        }
        !self.is_broken
    }

    /// Reconnects once, and lets the workload's client prepare the connection. Fails with the error
    /// of the database.
    async fn connect_again(&mut self) -> Result<(), DbError> {
        self.sessions.close_further();
        match self.is_cancelled {
            true => self.sessions.replace().await?,
            false => model::reconnect(self.sessions.own()).await?,
        }
        self.is_cancelled = false;
        self.begin().await
    }

    fn count_dropped(&mut self) {
        for dropped in self.pacer.dropped.drain(..) {
            let number = Number::Arrival { group: self.group, nth: dropped.nth };
            let kind = self.workload.kind_of(number);
            let recorder = &self.common.recorder;
            recorder.record_dropped(self.client, self.group, kind, dropped.intended_ns);
            if dropped.is_late {
                let now_ns = self.clock.now();
                recorder.tell_skipped(self.client, kind, dropped.intended_ns, number, now_ns);
            }
        }
    }

    /// Ends a run in virtual time as failed if `still`, the number of transactions in a row that
    /// took no time, reaches [`STILL_MAX`], because time would stay at `now_ns` forever.
    fn refuse_to_stand_still(&self, still: u32, now_ns: u64) {
        if still >= STILL_MAX {
            let why = "virtual time does not advance: transactions take no time, so the load never \
                       ends; give the simulated database a service time \
                       (sim:?service=constant:1ms)";
            self.common.stop.drain(|| now_ns, StopReason::failed(why));
        }
    }

    /// Returns, for each transaction type, count, extremes, sums and histogram of the response
    /// times of this client's transactions that were due in the measured phase.
    pub(crate) fn moments(&self) -> Vec<ClientMoments> {
        let to_moments = |(kind, (moments, failed)): (usize, &(Moments, u64))| ClientMoments {
            client: self.client,
            kind: kind as KindIndex,
            count: moments.count,
            failed: *failed,
            min_ns: moments.min,
            max_ns: moments.max,
            sum_ns: u64::try_from(moments.sum).unwrap_or(u64::MAX),
            sum_sq_ns2: moments.sum_sq as f64,
            times: self.times.get(kind).map_or_else(Vec::new, CoarseHistogram::counts),
        };
        self.moments.iter().enumerate().map(to_moments).collect()
    }
}

fn outcome_of(done: Done) -> Option<Outcome> {
    match done {
        Done::Committed => Some(Outcome::Committed),
        Done::RolledBack => Some(Outcome::RolledBack),
        Done::Over => None,
    }
}

fn outcome_of_db_error(kind: DbErrorKind) -> Outcome {
    match kind {
        DbErrorKind::UnknownCommit => Outcome::Unknown,
        other => Outcome::Failed(other),
    }
}

/// Whether the connection is broken after a transaction with this outcome.
fn is_lost(outcome: Outcome) -> bool {
    match outcome {
        Outcome::Unknown => true,
        Outcome::Failed(kind) => kind.breaks_session(),
        Outcome::Committed | Outcome::RolledBack | Outcome::Ignored(_) => false,
    }
}

/// Whether a transaction may have this outcome only because the run was cut off. Such a transaction
/// counts as unfinished.
fn is_cut_off(outcome: Outcome) -> bool {
    use DbErrorKind::{Cancelled, ConnectionLost, TooManyConnections};
    matches!(outcome, Outcome::Failed(Cancelled | ConnectionLost | TooManyConnections))
}
