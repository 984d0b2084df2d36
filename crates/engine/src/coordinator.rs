//! Coordinator of a run in this process: connects all clients, starts them at one instant, enters
//! the phases, enforces time limits, and reports events.
//!
//! Not here: transactions (client_loop), and what becomes of the events (store, analysis).

use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use model::{
    ClientMoments, DbError, Event, Fact, KindIndex, NS_PER_MS, NS_PER_S, Phase, Placement,
    Producer, ProducerTask, Second, StopCondition, StopReason,
};
use stats::{Histogram, Range};

use crate::client_loop::{ClientSpec, Common, UnderWay};
use crate::clock::Origin;
use crate::heartbeat::AllHeartbeats;
use crate::job::{GroupJob, Job};
use crate::os_sched::Granted;
use crate::pacer::{Arrivals, Budget, Dropped, Pacer, Pacing, arrivals_of};
use crate::place::simulated::Simulation;
use crate::place::{Barrier, ConnectLimiter, RunContext, WorkerMessage, loops, producers, threads};
use crate::queued::{Queued, with_queues};
use crate::recorder::{GroupShape, Recorder, second_of};
use crate::rejections::Acceptance;
use crate::stop::{AHEAD_NS, NEVER, Stop};
use crate::time_limit::ClientCancels;

/// Interval at which the coordinator checks whether the user has asked to stop the run, in
/// nanoseconds.
const LOOK_NS: u64 = 50 * NS_PER_MS;
/// Delay, in nanoseconds, between the end of a second and the report about that second, so that its
/// last samples are recorded by then.
const SETTLE_NS: u64 = 50 * NS_PER_MS;
/// Time that cancelled transactions have to end, in nanoseconds. Clients whose transactions do not
/// end in this time are abandoned.
const GRACE_NS: u64 = 500 * NS_PER_MS;
/// Longest time to wait after a run until all clients have disconnected, in nanoseconds; then the
/// wait is given up. Ten thousand clients took a quarter of a second.
const PARTING_NS: u64 = 5 * NS_PER_S;
/// Largest number of clients with which a histogram of response times is kept for each client,
/// which takes 2 KiB per client and transaction type. With more clients, none is kept.
const TIMES_OF_CLIENTS_MAX: u32 = 1_000;

/// Reason why the load of a run could not start.
#[derive(Debug)]
pub enum CannotRun {
    /// At least one client could not connect to its database, or not begin on its connection.
    Refused {
        /// Number of clients that could not.
        n_refused: u32,
        /// Number of all clients in this process.
        n_clients: u32,
        /// Error of the first client that failed.
        db_error: DbError,
        /// Whether that client was connected, so that it failed in what its workload does first.
        is_connected: bool,
    },
    /// The operating system refused to create threads or file descriptors for the clients.
    Place(std::io::Error),
    /// The user asked to stop before the load began.
    Interrupted,
}

impl fmt::Display for CannotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CannotRun::Refused { n_refused, n_clients, db_error, is_connected } => {
                let what = if *is_connected { "begin" } else { "connect" };
                write!(f, "{n_refused} of {n_clients} clients could not {what}: {db_error}")
            }
            CannotRun::Place(error) => write!(f, "the clients cannot be started: {error}"),
            CannotRun::Interrupted => f.write_str("interrupted before the load began"),
        }
    }
}

impl std::error::Error for CannotRun {}

/// Lateness, in nanoseconds, of the coordinator's wake-up (due every [`LOOK_NS`]) from which the
/// whole load generator counts as paused: its process or host was suspended, or it had no CPU.
const PAUSE_NS: u64 = 250 * NS_PER_MS;

/// Pauses in which the whole load generator did not run, from the start of the load until the
/// drain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pauses {
    /// Number of pauses of at least 250 ms.
    pub count: u64,
    /// Duration of the longest pause, in nanoseconds.
    pub longest_ns: u64,
    /// Start of the longest pause, in nanoseconds from the start of the measured phase.
    pub longest_at_ns: i64,
}

impl Pauses {
    /// Counts a pause of the load generator if a wake-up that was due at `due_ns` came 250 ms late
    /// or later, at `woken_ns`. Instants are in nanoseconds of the run's clock.
    fn look(&mut self, due_ns: u64, woken_ns: u64, measure_start_ns: u64) {
        let late_ns = woken_ns.saturating_sub(due_ns);
        if late_ns < PAUSE_NS {
            return;
        }
        self.count += 1;
        if late_ns > self.longest_ns {
            self.longest_ns = late_ns;
            self.longest_at_ns = due_ns as i64 - measure_start_ns as i64;
        }
    }
}

/// Result of a job (a run, or its part in this process): why the load ended, how long it took, and
/// what hindered it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Reason why the load ended: as planned, by the user, by a full queue or by an error.
    pub reason: StopReason,
    /// Duration of the measured phase, in nanoseconds.
    pub measured_ns: u64,
    /// Time from the start of the load to the last reply, in nanoseconds.
    pub elapsed_ns: u64,
    /// Scheduling privileges that the kernel granted to client threads; `None` in virtual time.
    pub granted: Option<Granted>,
    /// Number of clients that were abandoned because they did not end after they were cut off.
    pub n_left_behind: u32,
    /// Pauses in which the whole load generator did not run; none in virtual time.
    pub pauses: Pauses,
    /// Whether clients wait for input from their workloads' producers. Time outside of transactions
    /// is then not the load generator's fault.
    pub waits_for_input: bool,
    /// Number of connections that were closed while their clients were idle, and replaced.
    pub n_idle_losses: u64,
    /// Reason why it is unknown, for at least one connection, how long replies waited in the socket
    /// before they were read (reply lag). `None` if it is known for all connections, and in virtual
    /// time.
    pub no_reply_lag: Option<String>,
}

/// Runs a job (a run, or its part in this process), and calls `events` with each event as it
/// happens. Once all clients have connected, calls `start` with the current instant of the run's
/// clock; `start` returns the instant at which the load begins. Fails if clients cannot connect or
/// be started, or if the user stops the run before the load.
pub fn run(
    job: Job,
    stop: &Arc<Stop>,
    start: &mut dyn FnMut(u64) -> u64,
    events: &mut dyn FnMut(Event),
) -> Result<Ran, CannotRun> {
    match job.placement {
        Placement::Simulated => run_simulated(job, stop, start, events),
        Placement::Thread | Placement::Loop => run_in_time(job, stop, start, events),
    }
}

/// State of a run in progress in this process, kept by its coordinator: the same on threads, on
/// event loops and in virtual time.
struct Coordinator<'a> {
    job: &'a Job,
    stop: Arc<Stop>,
    common: Arc<Common>,
    arrivals: Vec<Option<Arc<Arrivals>>>,
    under_way: Vec<(u16, Arc<UnderWay>)>,
    moments: Vec<Vec<ClientMoments>>,
    connected: Vec<(u32, u32, Histogram)>,
    /// The first error of a client that could not begin, and whether it was connected.
    first_db_error: Option<(DbError, bool)>,
    n_retried: u64,
    first_retried: Option<DbError>,
    n_left: u32,
    lost: Option<String>,
    phase: Phase,
    load_start_ns: u64,
    taken_before: i64,
    /// First second, counted from the start of the measured phase, for which the lengths of the
    /// arrival queues are not read yet.
    queued_before: i64,
    /// Lengths of arrival queues that are not reported yet.
    queued: Vec<Queued>,
    pauses: Pauses,
    events: &'a mut dyn FnMut(Event),
}

impl<'a> Coordinator<'a> {
    fn new(job: &'a Job, stop: &Arc<Stop>, events: &'a mut dyn FnMut(Event)) -> Coordinator<'a> {
        let shape = |group: &GroupJob| {
            let workload = &group.workload;
            GroupShape::new(workload.kinds().len(), workload.custom_metrics(), &group.load)
        };
        let shapes: Vec<GroupShape> = job.groups.iter().map(shape).collect();
        let n_clients: usize = job.groups.iter().map(|group| group.our_clients().count()).sum();
        let n_shards = job.workers.min(n_clients);
        let (recording, sample_hook) = (job.recording, job.sample_hook.clone());
        let recorder = Recorder::new(&shapes, n_shards, recording, Arc::clone(stop), sample_hook);
        let (seed, retry) = (job.seed, job.retry.clone());
        let common = Arc::new(Common {
            seed,
            retry,
            stop: Arc::clone(stop),
            recorder,
            executed: Mutex::default(),
        });
        let none = || (0, 0, Histogram::new(Range { highest_ns: recording.histogram_max_ns }));
        Coordinator {
            job,
            stop: Arc::clone(stop),
            common,
            arrivals: Vec::new(),
            under_way: Vec::new(),
            moments: vec![Vec::new(); job.groups.len()],
            connected: job.groups.iter().map(|_| none()).collect(),
            first_db_error: None,
            n_retried: 0,
            first_retried: None,
            n_left: 0,
            lost: None,
            phase: Phase::Connect,
            load_start_ns: 0,
            taken_before: i64::MIN,
            queued_before: 0,
            queued: Vec::new(),
            pauses: Pauses::default(),
            events,
        }
    }

    /// Returns the [`ClientSpec`] of each client. The start of the load is not known yet, so
    /// arrivals are counted from instant 0 until [`Coordinator::begin`] moves them.
    fn specs(&mut self) -> Vec<ClientSpec> {
        let mut specs = Vec::new();
        let keeps_times = self.n_clients() <= TIMES_OF_CLIENTS_MAX;
        for (index, group) in self.job.groups.iter().enumerate() {
            let (index, seed) = (index as u16, self.job.seed);
            let arrivals = arrivals_of(index, group, self.job, &self.stop);
            let shared = match group.stop_condition {
                StopCondition::Transactions(count) => Some(Arc::new(Budget::new(count))),
                StopCondition::Time
                | StopCondition::TransactionsPerClient(_)
                | StopCondition::Sequence => None,
            };
            let sequence = group.workload.sequence().unwrap_or_default();
            let kinds: Arc<[_]> = group.workload.kinds().into();
            let acceptance = Arc::new(Acceptance::new(kinds.len()));
            for client in group.our_clients() {
                let budget = match group.stop_condition {
                    StopCondition::TransactionsPerClient(count) => {
                        Some(Arc::new(Budget::new(count)))
                    }
                    StopCondition::Sequence => {
                        let nth = (client - group.first_client) as usize;
                        let count = sequence.get(nth).copied().unwrap_or(0);
                        Some(Arc::new(Budget::new(count)))
                    }
                    StopCondition::Transactions(_) | StopCondition::Time => shared.clone(),
                };
                let arrivals = arrivals.as_ref();
                let pacing = Pacing { load: &group.load, arrivals, seed, budget };
                let under_way = Arc::new(UnderWay::default());
                self.under_way.push((index, Arc::clone(&under_way)));
                specs.push(ClientSpec {
                    database: Arc::clone(&group.database),
                    statements: Arc::clone(&group.statements),
                    client,
                    group: index,
                    nth_in_group: client - group.first_client,
                    kinds: Arc::clone(&kinds),
                    workload: Arc::clone(&group.workload),
                    pacer: Pacer::new(client, pacing, Arc::clone(&self.stop)),
                    common: Arc::clone(&self.common),
                    under_way,
                    acceptance: Arc::clone(&acceptance),
                    keeps_times,
                    connections: group.connections,
                });
            }
            self.arrivals.push(arrivals);
        }
        specs
    }

    fn n_clients(&self) -> u32 {
        self.job.groups.iter().map(|group| group.our_clients().count() as u32).sum()
    }

    /// Whether transactions of any type have a time limit.
    fn has_limits(&self) -> bool {
        let is_limited = |group: &GroupJob| {
            let n_kinds = group.workload.kinds().len() as KindIndex;
            (0..n_kinds).any(|kind| group.workload.time_limit_ns(kind).is_some())
        };
        self.job.groups.iter().any(is_limited)
    }

    fn receive(&mut self, shown: WorkerMessage) -> Option<Arc<ClientCancels>> {
        match shown {
            WorkerMessage::Signed { cancels } => return Some(cancels),
            WorkerMessage::Connected { group, took_ns } => {
                let (connected, _, times) = &mut self.connected[usize::from(group)];
                *connected += 1;
                times.record(took_ns);
            }
            WorkerMessage::Retried { db_error } => {
                self.n_retried += 1;
                self.first_retried.get_or_insert(db_error);
            }
            WorkerMessage::Refused { group, db_error, is_connected } => {
                self.connected[usize::from(group)].1 += 1;
                self.first_db_error.get_or_insert((db_error, is_connected));
            }
            WorkerMessage::Left { group, moments } => {
                self.n_left += 1;
                self.moments[usize::from(group)].extend(moments);
            }
            WorkerMessage::Lost { why } => {
                self.n_left += 1;
                self.lost.get_or_insert(why);
            }
        }
        None
    }

    /// Returns the number of clients that have either connected or failed to connect.
    fn n_answered(&self) -> u32 {
        self.connected.iter().map(|(connected, failed, _)| connected + failed).sum()
    }

    /// Reports how many clients of each group are connected. Fails if any client could not connect.
    fn report_connected(&mut self) -> Result<(), CannotRun> {
        for (group, (connected, failed, times)) in self.connected.iter().enumerate() {
            (self.events)(Event::Connected {
                group: group as u16,
                connected: *connected,
                failed: *failed,
                times: Some(times.clone()),
            });
        }
        if let Some(db_error) = self.first_retried.take() {
            let why = db_error.to_string();
            let retried = Fact::new("client", "connects_retried", self.n_retried);
            (self.events)(Event::Fact(retried));
            (self.events)(Event::Fact(Fact::new("client", "connects_retried_why", why)));
        }
        let n_refused = self.connected.iter().map(|(_, failed, _)| failed).sum();
        match self.first_db_error.take() {
            Some((db_error, is_connected)) => {
                let n_clients = self.n_clients();
                Err(CannotRun::Refused { n_refused, n_clients, db_error, is_connected })
            }
            None => Ok(()),
        }
    }

    /// Begins the load at `load_start_ns`: sets the measured window and the start of arrivals, and
    /// enters the first phase.
    fn begin(&mut self, load_start_ns: u64) {
        let phases = self.job.phases;
        let measure_start_ns = load_start_ns + phases.ramp_up_ns;
        let is_limited = self.is_timed() || phases.measure_ns > 0;
        let end_ns = if is_limited { measure_start_ns + phases.measure_ns } else { NEVER };
        self.load_start_ns = load_start_ns;
        for arrivals in self.arrivals.iter().flatten() {
            arrivals.begin(load_start_ns);
        }
        self.stop.set_window(measure_start_ns, end_ns);
        self.queued_before = second_of(load_start_ns, measure_start_ns);
        let has_ramp_up = phases.ramp_up_ns > 0;
        self.enter(if has_ramp_up { Phase::RampUp } else { Phase::Measure }, load_start_ns);
    }

    fn enter(&mut self, phase: Phase, at_ns: u64) {
        self.phase = phase;
        let at_ns = at_ns as i64 - self.stop.measure_start_ns() as i64;
        (self.events)(Event::Phase { phase, at_ns });
    }

    /// Enters the phase of the run that contains `now_ns`, and reports the seconds that are over.
    fn tick(&mut self, now_ns: u64) {
        let (measure_start_ns, end_ns) = (self.stop.measure_start_ns(), self.stop.end_ns());
        if self.phase == Phase::RampUp && now_ns >= measure_start_ns && end_ns > measure_start_ns {
            self.enter(Phase::Measure, measure_start_ns);
        }
        if self.phase < Phase::Drain && now_ns >= end_ns {
            self.enter(Phase::Drain, end_ns);
            // Tasks that wait for a signal now check whether the load is over.
            self.stop.raise_signals();
        }
        self.report_executions();
        self.read_queues(now_ns);
        let before = second_of(now_ns.saturating_sub(SETTLE_NS), measure_start_ns);
        if before > self.taken_before {
            self.taken_before = before;
            let parts = self.common.recorder.take(before);
            let begin = second_of(self.load_start_ns, measure_start_ns);
            let end = second_of(end_ns.min(now_ns), measure_start_ns);
            if parts.is_empty() && (begin..end).contains(&(before - 1)) {
                // A second in which nothing happened is reported too, so that a stall is seen.
                (self.events)(Event::Second(Second::new(0, before - 1)));
            }
            for second in with_queues(parts, self.queued.extract_if(.., |one| one.second < before))
            {
                (self.events)(Event::Second(second));
            }
        }
    }

    /// Reads, once per second of the load, how many arrivals wait in the queue of each open-load
    /// group.
    fn read_queues(&mut self, now_ns: u64) {
        let before = second_of(now_ns.min(self.stop.end_ns()), self.stop.measure_start_ns());
        if before <= self.queued_before {
            return;
        }
        self.queued_before = before;
        for (group, arrivals) in self.arrivals.iter().enumerate() {
            let Some(arrivals) = arrivals else { continue };
            let mut dropped = Vec::new();
            let waiting = arrivals.waiting(now_ns, &mut dropped);
            let running = self.n_running(group as u16);
            self.queued.push(Queued { group: group as u16, second: before - 1, waiting, running });
            self.record_dropped(group as u16, &dropped);
        }
    }

    /// Returns the number of transactions that clients of a group execute.
    fn n_running(&self, group: u16) -> u64 {
        let of_group = self.under_way.iter().filter(|(index, _)| *index == group);
        of_group.filter(|(_, under_way)| !under_way.is_idle()).count() as u64
    }

    /// Returns the instant at which running transactions are cut off: the end of the drain.
    fn cut_off_ns(&self) -> u64 {
        self.stop.end_ns().saturating_add(self.job.phases.drain_ns)
    }

    /// Whether a time limit ends the run, unless all clients have ended their work before.
    fn is_timed(&self) -> bool {
        let is_limited = |group: &GroupJob| {
            group.workload.producer().is_some_and(|producer| producer.is_limited())
        };
        let is_timed =
            |group: &GroupJob| group.stop_condition == StopCondition::Time && !is_limited(group);
        self.stop.n_over() < self.n_clients() && self.job.groups.iter().any(is_timed)
    }

    /// Returns the tasks that generate input for clients (producers), of all workloads. A stop of
    /// the run wakes them by their signals.
    fn produce(&self) -> Vec<Box<dyn ProducerTask>> {
        let mut tasks = Vec::new();
        for producer in self.producers() {
            tasks.extend(producer.begin());
            self.stop.watch_signal(producer.for_clients());
            self.stop.watch_signal(producer.for_tasks());
        }
        tasks
    }

    fn producers(&self) -> impl Iterator<Item = &dyn Producer> {
        self.named_producers().map(|(_, producer)| producer)
    }

    fn named_producers(&self) -> impl Iterator<Item = (&str, &dyn Producer)> {
        let ours = self.job.groups.iter().filter(|group| group.share.is_some());
        ours.filter_map(|group| Some((group.name.as_str(), group.workload.producer()?)))
    }

    /// Reports the facts and findings of all workloads' producers. If several groups have the same
    /// fact, the group's name is put in front.
    fn report_producers(&mut self) {
        let accounts: Vec<(&str, Vec<Fact>)> =
            self.named_producers().map(|(group, producer)| (group, producer.account())).collect();
        let is_told = |facts: &[Fact], fact: &Fact| {
            facts.iter().any(|other| (&other.about, &other.name) == (&fact.about, &fact.name))
        };
        let mut events = Vec::new();
        for (group, facts) in &accounts {
            for fact in facts {
                let n_told = accounts.iter().filter(|(_, facts)| is_told(facts, fact)).count();
                let name = match n_told {
                    1 => fact.name.clone(),
                    _ => format!("{group}.{}", fact.name),
                };
                events.push(Event::Fact(Fact { name, ..fact.clone() }));
            }
        }
        events.extend(self.producers().flat_map(Producer::findings).map(Event::Finding));
        events.into_iter().for_each(|event| (self.events)(event));
    }

    /// Whether the load ended because the planned number of transactions was reached, and not by a
    /// time limit, a user or a failure.
    fn has_reached_its_count(&self) -> bool {
        let is_whole = self.n_left == self.n_clients() && self.lost.is_none();
        let is_idle = self.under_way.iter().all(|(_, under_way)| under_way.is_idle());
        let ends_by_count = !self.is_timed() && !self.stop.awaits_others();
        ends_by_count && self.stop.reason().is_none() && is_whole && is_idle
    }

    /// Whether the run must continue until the measured window ends, although all clients have
    /// ended: if the run has a time limit, since its last arrival may be long before the end, or if
    /// other processes still have load.
    fn awaits_end(&self, now_ns: u64) -> bool {
        let is_awaited = self.is_timed() || self.stop.awaits_others();
        is_awaited && self.lost.is_none() && now_ns < self.stop.end_ns()
    }

    /// Reports how late the heartbeats of each event loop were (timers that fire every 10 ms).
    fn report_heartbeats(&mut self, heartbeats: &AllHeartbeats, now_ns: u64) {
        let (start_ns, end_ns) = (self.stop.measure_start_ns(), self.stop.end_ns());
        for (index, of_loop) in heartbeats.read(now_ns, end_ns).into_iter().enumerate() {
            if of_loop.lag.is_empty() {
                continue;
            }
            (self.events)(Event::Heartbeats {
                loop_index: index as u32,
                most_delayed_at_ns: of_loop.most_delayed_due_ns as i64 - start_ns as i64,
                lag: Some(of_loop.lag),
            });
        }
    }

    /// Reports the executions of sequences that have ended since the last call.
    fn report_executions(&mut self) {
        let executed = self.common.executed.lock();
        let executed = std::mem::take(&mut *executed.unwrap_or_else(PoisonError::into_inner));
        for (group, execution) in executed {
            (self.events)(Event::Executions { group, executions: vec![execution] });
        }
    }

    /// Counts unfinished transactions, closes the recorder, and reports all remaining events.
    /// Returns the result of the run in this process.
    fn finish(&mut self, now_ns: u64, granted: Option<Granted>) -> Ran {
        let last_ns = self.common.recorder.last_finish_ns();
        let start_ns = self.stop.measure_start_ns();
        if self.has_reached_its_count() {
            // The last commit must lie within the measured window, which excludes its end.
            let end_ns = last_ns.max(start_ns) + 1;
            self.stop.set_window(start_ns, end_ns.max(start_ns + self.stop.others_measured_ns()));
        }
        self.tick(now_ns);
        self.count_unfinished(now_ns);
        for second in with_queues(self.common.recorder.close(), self.queued.drain(..)) {
            (self.events)(Event::Second(second));
        }
        for (group, mut moments) in std::mem::take(&mut self.moments).into_iter().enumerate() {
            moments.sort_by_key(|moment| (moment.client, moment.kind));
            (self.events)(Event::Clients { group: group as u16, moments });
        }
        self.report_executions();
        let n_left_behind = self.n_clients() - self.n_left;
        let reason = match (self.lost.take(), self.stop.reason()) {
            (Some(why), _) => StopReason::failed(why),
            (None, Some(reason)) => reason,
            (None, None) => StopReason::Completed,
        };
        let end_ns = self.stop.end_ns().min(now_ns + 1);
        Ran {
            reason,
            measured_ns: end_ns.saturating_sub(self.stop.measure_start_ns()),
            elapsed_ns: last_ns.max(self.load_start_ns) - self.load_start_ns,
            granted,
            n_left_behind,
            pauses: self.pauses,
            waits_for_input: self.producers().next().is_some(),
            n_idle_losses: self.common.recorder.n_idle_losses(),
            no_reply_lag: self.common.recorder.no_reply_lag(),
        }
    }

    fn count_unfinished(&mut self, now_ns: u64) {
        let recorder = &self.common.recorder;
        for (group, under_way) in &self.under_way {
            // A transaction that was not due before the end was never offered.
            let is_offered = |&(_, intended_ns): &(_, u64)| intended_ns < self.stop.end_ns();
            if let Some((kind, intended_ns)) = under_way.take().filter(is_offered) {
                recorder.record_unfinished(*group, kind, intended_ns, now_ns);
            }
        }
        for (group, arrivals) in self.arrivals.iter().enumerate() {
            let Some(arrivals) = arrivals else { continue };
            let group = group as u16;
            let (waiting, dropped) = arrivals.leftovers(now_ns);
            for (nth, intended_ns) in waiting {
                let kind = self.kind_of(group, nth);
                recorder.record_unfinished(group, kind, intended_ns, now_ns);
            }
            self.record_dropped(group, &dropped);
        }
    }

    fn record_dropped(&self, group: u16, dropped: &[Dropped]) {
        for dropped in dropped {
            let kind = self.kind_of(group, dropped.nth);
            self.common.recorder.record_dropped(0, group, kind, dropped.intended_ns);
        }
    }

    fn kind_of(&self, group: u16, nth: u64) -> KindIndex {
        let workload = &self.job.groups[usize::from(group)].workload;
        workload.kind_of(model::Number::Arrival { group, nth })
    }
}

fn run_in_time(
    job: Job,
    stop: &Arc<Stop>,
    start: &mut dyn FnMut(u64) -> u64,
    events: &mut dyn FnMut(Event),
) -> Result<Ran, CannotRun> {
    let mut coordinator = Coordinator::new(&job, stop, events);
    coordinator.enter(Phase::Connect, 0);
    let (tell, hear) = channel();
    let context = RunContext {
        origin: job.origin,
        stop: Arc::clone(stop),
        start_barrier: Arc::new(Barrier::default()),
        end_barrier: Arc::new(Barrier::default()),
        tell,
        granted: Arc::new(OnceLock::new()),
        limiter: Arc::new(limiter_of(&job)),
        threads: job.threads.clone(),
        heartbeats: AllHeartbeats::default(),
    };
    let specs = coordinator.specs();
    let started = match job.placement {
        Placement::Loop => loops::start(specs, &job, &context),
        _ => threads::start(specs, &context),
    };
    let admitted = started.map_err(CannotRun::Place).and_then(|()| admit(&mut coordinator, &hear));
    let cancels = match admitted {
        Ok(cancels) => cancels,
        Err(error) => {
            context.start_barrier.abandon();
            // Clients that wait for their turn to connect stop waiting.
            stop.abort();
            return Err(error);
        }
    };
    let load_start_ns = start(context.origin.elapsed_ns());
    coordinator.begin(load_start_ns);
    let producing = producers::start(coordinator.produce(), load_start_ns, &context);
    context.start_barrier.open(load_start_ns);
    let producing = match producing {
        Ok(producing) => producing,
        Err(error) => {
            stop.abort();
            return Err(CannotRun::Place(error));
        }
    };
    oversee(&mut coordinator, context.origin, &hear, &cancels);
    producing.end(stop);
    coordinator.report_producers();
    let now_ns = context.origin.elapsed_ns();
    coordinator.report_heartbeats(&context.heartbeats, now_ns);
    let ran = coordinator.finish(now_ns, context.granted.get().copied());
    context.end_barrier.open(now_ns);
    let origin = context.origin;
    drop(context);
    if ran.n_left_behind == 0 {
        await_parting(&hear, origin);
    }
    Ok(ran)
}

/// Waits until all clients have disconnected, so that the next run does not exceed the server's
/// limit on connections. Gives up after five seconds.
fn await_parting(hear: &Receiver<WorkerMessage>, origin: Origin) {
    let end_ns = origin.elapsed_ns() + PARTING_NS;
    let left = || Duration::from_nanos(end_ns.saturating_sub(origin.elapsed_ns()));
    // Late messages are ignored; the last client to end closes the channel.
    while !left().is_zero() && hear.recv_timeout(left()).is_ok() {}
}

fn limiter_of(job: &Job) -> ConnectLimiter {
    let first = job.groups.iter().map(|group| group.first_client).min();
    ConnectLimiter::new(job.connect, first.unwrap_or(0))
}

/// Waits until every client has connected, and returns handles with which the requests of each
/// client can be cancelled. Fails if a client cannot connect, or the user stops the run.
fn admit(
    coordinator: &mut Coordinator<'_>,
    hear: &Receiver<WorkerMessage>,
) -> Result<Vec<Arc<ClientCancels>>, CannotRun> {
    let mut cancels = Vec::new();
    while coordinator.n_answered() < coordinator.n_clients() && coordinator.lost.is_none() {
        if coordinator.stop.asked() > 0 {
            return Err(CannotRun::Interrupted);
        }
        match hear.recv_timeout(Duration::from_nanos(LOOK_NS)) {
            Ok(shown) => cancels.extend(coordinator.receive(shown)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    if let Some(why) = coordinator.lost.take() {
        return Err(CannotRun::Place(std::io::Error::other(why)));
    }
    coordinator.report_connected()?;
    Ok(cancels)
}

/// Receives messages from clients, reports seconds and enforces time limits, until all clients have
/// ended or must be abandoned.
fn oversee(
    coordinator: &mut Coordinator<'_>,
    origin: Origin,
    hear: &Receiver<WorkerMessage>,
    cancels: &[Arc<ClientCancels>],
) {
    let mut asked = 0;
    let mut leave_at_ns = NEVER;
    let limited = if coordinator.has_limits() { cancels } else { &[] };
    let start_ns = coordinator.stop.measure_start_ns();
    // Reports at the beginning of the load must take negligible time.
    coordinator.pauses.look(coordinator.load_start_ns + LOOK_NS, origin.elapsed_ns(), start_ns);
    while coordinator.n_left < coordinator.n_clients()
        || coordinator.awaits_end(origin.elapsed_ns())
    {
        let now_ns = origin.elapsed_ns();
        let limit_ns = limited.iter().map(|cancels| cancels.expire(now_ns)).min();
        let look_ns = (now_ns / LOOK_NS + 1) * LOOK_NS;
        let look_ns = look_ns.min(limit_ns.unwrap_or(NEVER)) - now_ns;
        let heard = hear.recv_timeout(Duration::from_nanos(look_ns));
        if coordinator.phase < Phase::Drain {
            coordinator.pauses.look(now_ns + look_ns, origin.elapsed_ns(), start_ns);
        }
        match heard {
            Ok(shown) => drop(coordinator.receive(shown)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        while let Ok(shown) = hear.try_recv() {
            coordinator.receive(shown);
        }
        let now_ns = origin.elapsed_ns();
        coordinator.tick(now_ns);
        if coordinator.stop.asked() > asked {
            asked = coordinator.stop.asked();
            coordinator.stop.drain(|| origin.elapsed_ns() + AHEAD_NS, StopReason::Interrupted);
        }
        if let Some(why) = coordinator.lost.clone().or_else(|| coordinator.stop.failure()) {
            coordinator.stop.drain(|| origin.elapsed_ns() + AHEAD_NS, StopReason::failed(why));
        }
        if leave_at_ns == NEVER && (now_ns >= coordinator.cut_off_ns() || asked > 1) {
            coordinator.stop.abort();
            cancels.iter().for_each(|cancel| cancel.cancel());
            leave_at_ns = now_ns + GRACE_NS;
        }
        if now_ns >= leave_at_ns {
            return;
        }
    }
}

fn run_simulated(
    job: Job,
    stop: &Arc<Stop>,
    start: &mut dyn FnMut(u64) -> u64,
    events: &mut dyn FnMut(Event),
) -> Result<Ran, CannotRun> {
    let mut coordinator = Coordinator::new(&job, stop, events);
    coordinator.enter(Phase::Connect, 0);
    let simulation = Simulation::new(Arc::clone(stop));
    let (tell, hear) = channel();
    let tell = |shown| drop(tell.send(shown));
    let clients = simulation.connect(coordinator.specs(), &limiter_of(&job), &tell);
    for shown in hear.try_iter() {
        coordinator.receive(shown);
    }
    coordinator.report_connected()?;
    coordinator.begin(start(simulation.now_ns()));
    let load_start_ns = coordinator.load_start_ns;
    let mut next_tick_ns = load_start_ns;
    let producing = coordinator.produce();
    simulation.serve(clients, producing, load_start_ns, &tell, &mut |ahead_ns| {
        if coordinator.stop.asked() > 0 {
            coordinator.stop.drain(|| simulation.now_ns(), StopReason::Interrupted);
        }
        if ahead_ns >= next_tick_ns {
            let to_ns = ahead_ns.min(coordinator.cut_off_ns());
            coordinator.tick(to_ns);
            next_tick_ns = to_ns / NS_PER_S * NS_PER_S + NS_PER_S;
        }
        Some(coordinator.cut_off_ns())
    });
    for shown in hear.try_iter() {
        coordinator.receive(shown);
    }
    coordinator.report_producers();
    let end_ns = coordinator.stop.end_ns();
    let now_ns = simulation.now_ns();
    Ok(coordinator.finish(if end_ns == NEVER { now_ns } else { now_ns.max(end_ns) }, None))
}
