//! Causes of a dip: for each, the gauge that shows it and the share of the clients' time that it
//! explains.
//!
//! Not here: which seconds are a dip, and what else moved in them.

use std::ops::Range;

use model::{Cause, NS_PER_S};
use stats::Usual;

use super::{
    ALL_ROWS_FACTOR, CHANCE_MAX, CauseSeen, EXECUTING, FILE_WAITS, LEAP_OTHERS, LONG_SESSIONS,
    Moved, OFF_CPU, OTHERS, OWN_CPU, ROUND_TRIP, ROWS_READ, ROWS_READ_EACH, RUN_DELAY, SCORE_MIN,
    SERVER_CPU, SERVER_DELAY, SESSION_QUERY, SHARE_MIN, Series,
};

/// While others have the CPUs, any round trip takes somewhat longer: a network must by this factor.
const CROWDED_FACTOR: f64 = 3.0;

/// Otherwise by this factor, or by so many milliseconds: on a machine that is a little busier each
/// is longer by some microseconds.
const PATH_FACTOR: f64 = 1.5;
const PATH_MS: f64 = 0.5;

/// Or be higher than in all other stretches, if it took this share of the clients' time more.
const SHARE_LARGE: f64 = 0.5;

/// Rows per transaction that are read, by this factor more than usual, are another plan.
const ROWS_FACTOR: f64 = 3.0;

/// A server with less than this share of its usual CPU time stands still, if it does not answer.
const LOW: f64 = 0.2;

/// Or if it did not answer for this many milliseconds (the lower number where no other programs
/// have the CPUs), and by this factor longer than usual, while it lacked this share of the CPU time
/// that it usually takes in that time.
const UNANSWERED_MS: f64 = 500.0;
const UNANSWERED_ALONE_MS: f64 = 300.0;
const UNANSWERED_FACTOR: f64 = 20.0;
const UNANSWERED_CPU: f64 = 0.5;

/// Counters of a database that rise while pages are written back, on any product.
const WRITE_BACK: [&str; 5] = [
    "database.Innodb_buffer_pool_pages_flushed",
    "database.checkpointer_buffers_written",
    "database.bgwriter_buffers_checkpoint",
    "database.checkpointer_num_requested",
    "database.bgwriter_checkpoints_req",
];

/// How long a cluster paused its commits so that a node could follow, and how many nodes it has.
const FLOW_CONTROL: &str = "database.wsrep_flow_control_paused_ns";
const CLUSTER_SIZE: &str = "database.wsrep_cluster_size";

/// The mean time of a request of a disk; its name follows.
const DISK_LATENCY: &str = "machine.disk_latency/";

/// A stretch of seconds in a dip, with the figures that show its causes.
pub(super) struct Stretch<'a> {
    pub series: &'a Series,
    pub within: Range<usize>,
    pub clients: f64,
    /// Commits per second within it, and in the median second.
    pub rate: f64,
    pub usual_rate: f64,
    /// Whether one of its transactions took so long that it stands out.
    pub is_long: bool,
    /// Round trips of a transaction, where they are known.
    pub round_trips: Option<f64>,
}

/// A cause that a gauge shows, before it is held against other stretches.
struct Shown {
    cause: Cause,
    /// The share of the clients' time that it explains, from 0 to 1.
    share: f64,
    by: Moved,
}

impl Shown {
    fn new(cause: Cause, by: Moved, share: f64) -> Shown {
        Shown { cause, share: share.min(1.0), by }
    }
}

impl Stretch<'_> {
    /// What it comes from, what explains most of the clients' time first.
    pub(super) fn causes(&self) -> Vec<CauseSeen> {
        let locks = self.sessions(Cause::Locks, "database.sessions/lock");
        let latches = self.sessions(Cause::Latches, "database.sessions/latch");
        let shown = [locks, latches, self.other_cpu_load()].into_iter().flatten();
        let shown = shown.chain(self.storage()).chain(self.network()).chain(self.rows_read());
        let mut causes: Vec<CauseSeen> = shown.filter_map(|shown| self.if_clear(shown)).collect();
        // A disk may be shown in two ways.
        causes.dedup_by_key(|seen| seen.cause);
        causes.extend(self.stopped().or_else(|| self.unanswered()));
        // Who waits while the server stands still waits for that.
        let is_last = |seen: &CauseSeen| seen.cause != Cause::ServerStopped;
        causes.sort_by(|a, b| is_last(a).cmp(&is_last(b)).then(b.share.total_cmp(&a.share)));
        causes
    }

    /// What is shown, where it explains enough and is not as high elsewhere.
    fn if_clear(&self, Shown { cause, share, by }: Shown) -> Option<CauseSeen> {
        let length = self.within.len();
        let chance = self.series.chance(&by, length).unwrap_or(1.0);
        // What shows these is what they take, and no sign of something else that takes it.
        let is_direct = matches!(cause, Cause::Locks | Cause::Latches | Cause::Network);
        // One client of many that stands for long is what is looked for.
        let few = if self.is_long { LONG_SESSIONS / self.clients.max(1.0) } else { f64::INFINITY };
        let is_large = is_direct && share >= SHARE_LARGE.min(few);
        let is_far =
            self.series.score(&by) >= SCORE_MIN || is_large && self.series.is_highest(&by, length);
        let is_clear = share >= SHARE_MIN.min(few) && chance <= CHANCE_MAX && is_far;
        is_clear.then_some(CauseSeen { cause, shown_by: by, share, chance })
    }

    /// How a gauge stands within it, if it was read there and outside.
    fn beside(&self, name: &str) -> Option<Moved> {
        self.series.beside(name, &self.within)
    }

    /// A gauge that is higher within it than usual.
    fn rise(&self, name: &str) -> Option<Moved> {
        self.beside(name).filter(|moved| moved.then > moved.usual)
    }

    /// Of a number of sessions, the share of all clients.
    fn share_of_clients(&self, moved: &Moved) -> f64 {
        (moved.then - moved.usual) / self.clients.max(1.0)
    }

    /// The share of all clients by which a number of sessions rose; 0 where it did not.
    fn risen_share(&self, name: &str) -> f64 {
        self.rise(name).map_or(0.0, |moved| self.share_of_clients(&moved))
    }

    /// The share of transactions that were lost.
    fn lost(&self) -> f64 {
        1.0 - self.rate / self.usual_rate
    }

    /// By how much more of the machine's CPU time other programs had, in percent.
    fn crowd(&self) -> f64 {
        self.beside(OTHERS).map_or(0.0, |others| others.then - others.usual)
    }

    /// A cause that more sessions in one state show, which explains their share of the clients.
    fn sessions(&self, cause: Cause, state: &str) -> Option<Shown> {
        let waits = self.rise(state)?;
        let share = self.share_of_clients(&waits);
        Some(Shown::new(cause, waits, share))
    }

    /// The one of several gauges that stands out most.
    fn clearest(&self, all: impl Iterator<Item = Moved>) -> Option<Moved> {
        all.max_by(|a, b| self.series.score(a).total_cmp(&self.series.score(b)))
    }

    fn other_cpu_load(&self) -> Option<Shown> {
        let others = self.rise(OTHERS)?;
        let share = self.taken_by_others(&others);
        Some(Shown::new(Cause::OtherCpuLoad, others, share))
    }

    /// The share of the clients' time that other programs took with CPUs: as far as more of our
    /// threads waited for one. Where ours wait for CPUs all the time, no more of them wait, and it
    /// is the CPU time that ours lost to others; at most the share of transactions that were lost.
    fn taken_by_others(&self, others: &Moved) -> f64 {
        let Some(delay) = self.beside(RUN_DELAY) else { return 0.0 };
        let of_delay = self.share_of_clients(&delay);
        let own = self.beside(OWN_CPU).filter(|own| own.usual > 0.0);
        let own = own.filter(|_| delay.then >= SHARE_MIN * self.clients);
        let of_time = own
            .map_or(0.0, |own| (own.usual - own.then).min(others.then - others.usual) / own.usual);
        of_delay.max(of_time.min(self.lost()))
    }

    /// What holds up sessions that wait for files: other nodes, pages that are written back, or
    /// else the disk.
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

    /// The share of the clients' time in which sessions waited for files. Not every server says
    /// that a session waits for a file: it is at work without a CPU.
    fn file_wait_share(&self) -> f64 {
        self.risen_share(FILE_WAITS).max(self.risen_share(OFF_CPU))
    }

    /// What a commit waits for of other nodes looks like a wait for the log.
    fn replication(&self, paused: Option<Moved>, paused_share: f64) -> Option<Shown> {
        let share = self.file_wait_share().max(paused_share);
        let by = self.rise(FILE_WAITS).or(paused)?;
        Some(Shown::new(Cause::Replication, by, share))
    }

    fn checkpoint(&self) -> Option<Shown> {
        let written_back = WRITE_BACK.iter().filter_map(|name| self.rise(name));
        let clear = written_back.filter(|moved| self.series.score(moved) >= SCORE_MIN);
        let by = self.clearest(clear)?;
        // Whoever writes back takes CPU time from the sessions too.
        let of_delay = self.risen_share(SERVER_DELAY) / 1e3;
        // Or statements write pages back themselves, to have free ones.
        let of_work = self.risen_share(EXECUTING);
        let share = self.file_wait_share().max(of_delay.max(of_work).min(self.lost()));
        Some(Shown::new(Cause::Checkpoint, by, share))
    }

    /// Sessions that wait for files, and a disk whose requests take longer.
    fn disk(&self) -> Vec<Shown> {
        let disks = self.series.all.keys().filter(|name| name.starts_with(DISK_LATENCY));
        let slowest = self.clearest(disks.filter_map(|name| self.rise(name)));
        let slow = slowest.map(|by| Shown::new(Cause::Disk, by, self.risen_share(OFF_CPU)));
        self.sessions(Cause::Disk, FILE_WAITS).into_iter().chain(slow).collect()
    }

    /// Every round trip of a client was longer.
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
        // A second that commits next to nothing has many rows for each, without reading more.
        rises(ROWS_READ, ALL_ROWS_FACTOR)?;
        let by = rises(ROWS_READ_EACH, ROWS_FACTOR)?;
        // Who waits for a few statements that read much is not executing: at least that is lost
        // by which transactions take longer.
        let share = self.risen_share(EXECUTING).max(self.lost());
        Some(Shown::new(Cause::RowsRead, by, share))
    }

    /// Whether a level is another one right after it than right before it.
    fn has_changed(&self, name: &str) -> bool {
        let Some(values) = self.series.values(name) else { return false };
        let mut before = values[..self.within.start].iter().rev().filter(|value| value.is_finite());
        let mut after = values[self.within.end..].iter().filter(|value| value.is_finite());
        before.next().zip(after.next()).is_some_and(|(before, after)| before != after)
    }

    /// Whether the server had no CPU time where it usually has some, and did not answer.
    fn stopped(&self) -> Option<CauseSeen> {
        let values = self.series.values(SERVER_CPU)?;
        let usual = Usual::of(values, &self.series.is_dip).median();
        let (states, trips) = (self.series.values(EXECUTING)?, self.series.values(ROUND_TRIP));
        // A server that answers anything does not stand still.
        let answers = |at: usize| states[at].is_finite() || trips.is_some_and(|of| of[at] > 0.0);
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

    /// Whether the server did not answer for some part of a second, and took no CPU time
    /// meanwhile: a stop that is too short to empty a whole second.
    fn unanswered(&self) -> Option<CauseSeen> {
        let (cpu, answers) = (self.series.values(SERVER_CPU)?, self.series.values(SESSION_QUERY)?);
        // What was not read counts as nothing.
        let then = answers[self.within.clone()].iter().copied().fold(0.0, f64::max);
        let shown_by = Moved { then, ..self.beside(SESSION_QUERY)? };
        let usual_cpu = self.beside(SERVER_CPU)?.usual;
        let missing: f64 = cpu[self.within.clone()].iter().map(|n| (usual_cpu - n).max(0.0)).sum();
        // Beside others who have the CPUs, any answer takes longer.
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
