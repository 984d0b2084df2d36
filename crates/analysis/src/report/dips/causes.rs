//! Causes of a dip: for each, the gauge that shows it, and the share of the clients' time that it
//! explains.
//!
//! Not here: which seconds are a dip, and which other gauges moved (dips).

use std::ops::Range;

use model::{Cause, NS_PER_S};
use stats::Usual;

use super::{
    ALL_ROWS_FACTOR, CHANCE_MAX, CauseSeen, EXECUTING, FILE_WAITS, LEAP_OTHERS, LONG_SESSIONS,
    Moved, OFF_CPU, OTHERS, OWN_CPU, ROUND_TRIP, ROWS_READ, ROWS_READ_EACH, RUN_DELAY, SCORE_MIN,
    SERVER_CPU, SERVER_DELAY, SESSION_QUERY, SHARE_MIN, Series,
};

/// Smallest factor by which round trips must take longer to blame the network while other programs
/// use the CPUs, which slows all round trips.
const CROWDED_FACTOR: f64 = 3.0;

/// Smallest factor by which round trips must take longer to blame the network while other programs
/// do not use the CPUs. A slightly busier machine adds some microseconds.
const PATH_FACTOR: f64 = 1.5;
/// Time by which round trips must take longer to blame the network, in milliseconds, if they do not
/// by [`PATH_FACTOR`].
const PATH_MS: f64 = 0.5;

/// Share of the clients' time from which waits for locks, latches or network are a cause of a dip
/// although their gauge varies widely, if it is higher than in all other stretches of this length.
const SHARE_LARGE: f64 = 0.5;

/// Smallest factor by which rows read per transaction must rise to indicate another query plan.
const ROWS_FACTOR: f64 = 3.0;

/// Share of the server's usual CPU time below which a server that does not answer counts as
/// stopped.
const LOW: f64 = 0.2;

/// Time without an answer, in milliseconds, from which the server counts as paused while other
/// programs use the CPUs.
const UNANSWERED_MS: f64 = 500.0;
/// Time without an answer, in milliseconds, from which the server counts as paused while other
/// programs do not use the CPUs.
const UNANSWERED_ALONE_MS: f64 = 300.0;
/// Smallest factor by which the time without an answer must exceed the usual one for a paused
/// server.
const UNANSWERED_FACTOR: f64 = 20.0;
/// Share of its usual CPU time that a paused server must lack in the time without an answer.
const UNANSWERED_CPU: f64 = 0.5;

/// Counters that rise while a database writes dirty pages back, for any product.
const WRITE_BACK: [&str; 5] = [
    "database.Innodb_buffer_pool_pages_flushed",
    "database.checkpointer_buffers_written",
    "database.bgwriter_buffers_checkpoint",
    "database.checkpointer_num_requested",
    "database.bgwriter_checkpoints_req",
];

/// Gauge of the time for which a Galera cluster paused its commits so that a node could catch up,
/// in nanoseconds per second.
const FLOW_CONTROL: &str = "database.wsrep_flow_control_paused_ns";
/// Gauge of the number of nodes in a Galera cluster.
const CLUSTER_SIZE: &str = "database.wsrep_cluster_size";

/// Start of the names of the machine's gauges for the mean time of a request to a disk, whose name
/// follows.
const DISK_LATENCY: &str = "disk_latency/";

/// A stretch of seconds in a dip, with the figures that show its causes.
pub(super) struct Stretch<'a> {
    pub series: &'a Series,
    pub within: Range<usize>,
    pub clients: f64,
    /// Commits per second within the stretch. A second with more commits than the median second
    /// counts like the median second.
    pub rate: f64,
    /// Commits per second in the median second of the run.
    pub usual_rate: f64,
    /// True if a transaction in the stretch took so long that it stands out.
    pub is_long: bool,
    /// Round trips per transaction; `None` if not known.
    pub round_trips: Option<f64>,
}

/// A possible cause that a gauge shows, before the gauge is compared with other stretches.
struct Shown {
    cause: Cause,
    /// Share of the clients' time that the cause explains, from 0 to 1.
    share: f64,
    by: Moved,
}

impl Shown {
    fn new(cause: Cause, by: Moved, share: f64) -> Shown {
        Shown { cause, share: share.min(1.0), by }
    }
}

impl Stretch<'_> {
    /// Returns the detected causes, the one that explains most of the clients' time first, but a
    /// stopped server before all others.
    pub(super) fn causes(&self) -> Vec<CauseSeen> {
        let locks = self.sessions(Cause::Locks, "database.sessions/lock");
        let latches = self.sessions(Cause::Latches, "database.sessions/latch");
        let shown = [locks, latches, self.other_cpu_load()].into_iter().flatten();
        let shown = shown.chain(self.storage()).chain(self.network()).chain(self.rows_read());
        let mut causes: Vec<CauseSeen> = shown.filter_map(|shown| self.if_clear(shown)).collect();
        // Two gauges may show the disk as the cause.
        causes.dedup_by_key(|seen| seen.cause);
        causes.extend(self.stopped().or_else(|| self.unanswered()));
        // Sessions that wait while the server has stopped wait because of that.
        let is_last = |seen: &CauseSeen| seen.cause != Cause::ServerStopped;
        causes.sort_by(|a, b| is_last(a).cmp(&is_last(b)).then(b.share.total_cmp(&a.share)));
        causes
    }

    /// Returns a possible cause of the dip if it explains enough of the clients' time and its gauge
    /// is seldom as high in other stretches of seconds; `None` otherwise.
    fn if_clear(&self, Shown { cause, share, by }: Shown) -> Option<CauseSeen> {
        let length = self.within.len();
        let chance = self.series.chance(&by, length).unwrap_or(1.0);
        // These gauges measure the time itself, and are not signs of something else that takes it.
        let is_direct = matches!(cause, Cause::Locks | Cause::Latches | Cause::Network);
        // A single client of many that hangs for long is enough here.
        let few = if self.is_long { LONG_SESSIONS / self.clients.max(1.0) } else { f64::INFINITY };
        let is_large = is_direct && share >= SHARE_LARGE.min(few);
        let is_far =
            self.series.score(&by) >= SCORE_MIN || is_large && self.series.is_highest(&by, length);
        let is_clear = share >= SHARE_MIN.min(few) && chance <= CHANCE_MAX && is_far;
        is_clear.then_some(CauseSeen { cause, shown_by: by, share, chance })
    }

    /// Compares a gauge's mean within the dip with its usual value; `None` unless the gauge was
    /// read both within the dip and outside of dips.
    fn beside(&self, name: &str) -> Option<Moved> {
        self.series.beside(name, &self.within)
    }

    /// Compares a gauge's mean within the dip with its usual value; `None` unless the mean is
    /// higher.
    fn rise(&self, name: &str) -> Option<Moved> {
        self.beside(name).filter(|moved| moved.then > moved.usual)
    }

    /// Returns by how much a gauge that counts sessions rose, divided by the number of clients.
    fn share_of_clients(&self, moved: &Moved) -> f64 {
        (moved.then - moved.usual) / self.clients.max(1.0)
    }

    /// Returns by how much the session count in the gauge `name` rose, divided by the number of
    /// clients; 0 if it did not rise.
    fn risen_share(&self, name: &str) -> f64 {
        self.rise(name).map_or(0.0, |moved| self.share_of_clients(&moved))
    }

    /// Returns the share of the usual rate of commits that was lost in the dip, from 0 to 1.
    fn lost(&self) -> f64 {
        1.0 - self.rate / self.usual_rate
    }

    /// Returns by how much the CPU time of other programs rose, in percent of the machine; 0 if it
    /// is not known.
    fn crowd(&self) -> f64 {
        self.beside(OTHERS).map_or(0.0, |others| others.then - others.usual)
    }

    /// Returns the cause `cause`, shown by a rise of the number of sessions in the state `state`;
    /// `None` if that number did not rise.
    fn sessions(&self, cause: Cause, state: &str) -> Option<Shown> {
        let waits = self.rise(state)?;
        let share = self.share_of_clients(&waits);
        Some(Shown::new(cause, waits, share))
    }

    /// Returns the gauge that exceeds its usual value by the most robust standard deviations;
    /// `None` if `all` is empty.
    fn clearest(&self, all: impl Iterator<Item = Moved>) -> Option<Moved> {
        all.max_by(|a, b| self.series.score(a).total_cmp(&self.series.score(b)))
    }

    fn other_cpu_load(&self) -> Option<Shown> {
        let others = self.rise(OTHERS)?;
        let share = self.taken_by_others(&others);
        Some(Shown::new(Cause::OtherCpuLoad, others, share))
    }

    /// Returns the share of the clients' time that other programs took by using CPUs: the rise of
    /// the generator's and server's threads that wait for a CPU. If some of these always wait, it
    /// may also be the CPU time that they lost to other programs, up to the share of lost
    /// transactions.
    fn taken_by_others(&self, others: &Moved) -> f64 {
        let Some(delay) = self.beside(RUN_DELAY) else { return 0.0 };
        let of_delay = self.share_of_clients(&delay);
        let own = self.beside(OWN_CPU).filter(|own| own.usual > 0.0);
        let own = own.filter(|_| delay.then >= SHARE_MIN * self.clients);
        let of_time = own
            .map_or(0.0, |own| (own.usual - own.then).min(others.then - others.usual) / own.usual);
        of_delay.max(of_time.min(self.lost()))
    }

    /// Returns the possible causes of sessions waiting for files: replication to other nodes,
    /// write-back of dirty pages, or the disk. Empty if no gauge shows any.
    fn storage(&self) -> Vec<Shown> {
        let paused = self.rise(FLOW_CONTROL);
        let paused_share =
            paused.as_ref().map_or(0.0, |moved| (moved.then - moved.usual) / NS_PER_S as f64);
        if paused_share >= SHARE_MIN || self.has_changed(CLUSTER_SIZE) {
            return self.replication(paused, paused_share).into_iter().collect();
        }
        match self.checkpoint() {
            Some(checkpoint) => vec![checkpoint],
            None => self.disk(),
        }
    }

    /// Returns the share of the clients' time for which sessions waited for files. If the server
    /// does not report such waits, its sessions count as executing without a CPU.
    fn file_wait_share(&self) -> f64 {
        self.risen_share(FILE_WAITS).max(self.risen_share(OFF_CPU))
    }

    /// Returns replication to other nodes as a possible cause: a commit that waits for other nodes
    /// looks like a wait for the log. `paused` is the gauge of flow control, and `paused_share` the
    /// share of time that it explains. `None` if neither gauge rose.
    fn replication(&self, paused: Option<Moved>, paused_share: f64) -> Option<Shown> {
        let share = self.file_wait_share().max(paused_share);
        let by = self.rise(FILE_WAITS).or(paused)?;
        Some(Shown::new(Cause::Replication, by, share))
    }

    fn checkpoint(&self) -> Option<Shown> {
        let written_back = WRITE_BACK.iter().filter_map(|name| self.rise(name));
        let clear = written_back.filter(|moved| self.series.score(moved) >= SCORE_MIN);
        let by = self.clearest(clear)?;
        // Writing back also takes CPU time from the sessions.
        let of_delay = self.risen_share(SERVER_DELAY) / 1e3;
        // Statements may also write pages back themselves, to have free ones.
        let of_work = self.risen_share(EXECUTING);
        let share = self.file_wait_share().max(of_delay.max(of_work).min(self.lost()));
        Some(Shown::new(Cause::Checkpoint, by, share))
    }

    /// Returns the disk as a possible cause, once for each sign of it: sessions wait for files, or
    /// requests to a disk take longer.
    fn disk(&self) -> Vec<Shown> {
        let latency = format!("{}{DISK_LATENCY}", self.series.machine.gauges);
        let disks = self.series.all.keys().filter(|name| name.starts_with(&latency));
        let slowest = self.clearest(disks.filter_map(|name| self.rise(name)));
        let slow = slowest.map(|by| Shown::new(Cause::Disk, by, self.risen_share(OFF_CPU)));
        self.sessions(Cause::Disk, FILE_WAITS).into_iter().chain(slow).collect()
    }

    /// Returns the network as a possible cause, if every round trip between client and server took
    /// longer; `None` otherwise.
    fn network(&self) -> Option<Shown> {
        let trip = self.rise(ROUND_TRIP)?;
        let is_crowded = self.crowd() > LEAP_OTHERS;
        let factor = if is_crowded { CROWDED_FACTOR } else { PATH_FACTOR };
        let is_far =
            trip.then >= factor * trip.usual || !is_crowded && trip.then - trip.usual >= PATH_MS;
        let round_trips_per_s = self.round_trips.unwrap_or(0.0) * self.rate;
        let longer_s = (trip.then - trip.usual) / 1e3;
        let share = longer_s * round_trips_per_s.max(1.0) / self.clients.max(1.0);
        is_far.then(|| Shown::new(Cause::Network, trip, share))
    }

    fn rows_read(&self) -> Option<Shown> {
        let rises = |name: &str, factor: f64| {
            self.rise(name).filter(|moved| moved.then > factor * moved.usual)
        };
        // A second with hardly any commits has many rows for each, without reading more.
        rises(ROWS_READ, ALL_ROWS_FACTOR)?;
        let by = rises(ROWS_READ_EACH, ROWS_FACTOR)?;
        // Clients that wait for a few statements with many rows are not executing: at least the
        // lost share counts.
        let share = self.risen_share(EXECUTING).max(self.lost());
        Some(Shown::new(Cause::RowsRead, by, share))
    }

    /// Returns true if a gauge that is a level, such as a number of nodes, differs between the
    /// readings right before and right after the stretch.
    fn has_changed(&self, name: &str) -> bool {
        let Some(values) = self.series.values(name) else { return false };
        let mut before = values[..self.within.start].iter().rev().filter(|value| value.is_finite());
        let mut after = values[self.within.end..].iter().filter(|value| value.is_finite());
        before.next().zip(after.next()).is_some_and(|(before, after)| before != after)
    }

    /// Returns a stopped server as the cause, if it did not answer and had almost no CPU time,
    /// although it usually has some; `None` otherwise.
    fn stopped(&self) -> Option<CauseSeen> {
        let values = self.series.values(SERVER_CPU)?;
        let usual = Usual::new(values, &self.series.is_dip).median();
        let (states, trips) = (self.series.values(EXECUTING)?, self.series.values(ROUND_TRIP));
        // A server that answers anything has not stopped.
        let answers = |at: usize| states[at].is_finite() || trips.is_some_and(|ms| ms[at] > 0.0);
        let is_low = |at: &usize| values[*at] < LOW * usual && !answers(*at);
        let lows = self.within.clone().filter(is_low).count();
        let outside: Vec<usize> = (0..values.len()).filter(|at| !self.series.is_dip[*at]).collect();
        let as_low = outside.iter().filter(|at| is_low(at)).count();
        let chance = (as_low + 1) as f64 / (outside.len() + 1) as f64;
        let is_clear = lows > 0 && usual > 1.0 && chance <= CHANCE_MAX;
        is_clear.then(|| CauseSeen {
            cause: Cause::ServerStopped,
            shown_by: self.beside(SERVER_CPU).unwrap_or_else(|| Moved {
                gauge: SERVER_CPU.to_owned(),
                unit: "%".to_owned(),
                usual,
                then: 0.0,
            }),
            share: lows as f64 / self.within.len() as f64,
            chance,
        })
    }

    /// Returns a stopped server as the cause, if it did not answer for a part of a second and used
    /// no CPU time meanwhile: a stop too short to empty a whole second. `None` otherwise.
    fn unanswered(&self) -> Option<CauseSeen> {
        let (cpu, answers) = (self.series.values(SERVER_CPU)?, self.series.values(SESSION_QUERY)?);
        // A missing reading counts as 0.
        let then = answers[self.within.clone()].iter().copied().fold(0.0, f64::max);
        let shown_by = Moved { then, ..self.beside(SESSION_QUERY)? };
        let usual_cpu = self.beside(SERVER_CPU)?.usual;
        let missing: f64 = cpu[self.within.clone()].iter().map(|n| (usual_cpu - n).max(0.0)).sum();
        // While other programs use the CPUs, any answer takes longer.
        let least_ms = if self.crowd() > LEAP_OTHERS { UNANSWERED_MS } else { UNANSWERED_ALONE_MS };
        let is_long = then >= least_ms && then >= UNANSWERED_FACTOR * shown_by.usual;
        let is_idle = usual_cpu > 1.0 && missing >= UNANSWERED_CPU * usual_cpu * then / 1e3;
        let chance = self.series.chance(&shown_by, 1).unwrap_or(1.0);
        let (cause, share) =
            (Cause::ServerStopped, (then / 1e3 / self.within.len() as f64).min(1.0));
        let is_clear = is_long && is_idle && chance <= CHANCE_MAX;
        is_clear.then_some(CauseSeen { cause, shown_by, share, chance })
    }
}
