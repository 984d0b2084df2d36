//! Dips: consecutive seconds in which throughput fell or response times rose, and the gauges that
//! moved in them.
//!
//! A cause is judged by how much of the clients' time it took: locks by the sessions that wait for
//! them, a network by how much longer round trips took, other programs by the CPU time that they
//! used. A gauge that moved is compared with all stretches of the same length outside of dips, to
//! see how often it is as high by chance. Not here: reading gauges (monitor).

mod causes;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

use model::numbers::count;
use model::{Cause, NS_PER_MS};
use serde::{Deserialize, Serialize};
use stats::{STRETCHES_MIN, Usual, set_apart, stands_out, stands_out_at_load};

use super::{GaugeReport, PerTransaction};
use crate::host::Machine;
use crate::tally::{SecondFigures, Tally};

/// Smallest factor by which a second has fewer commits than the median second to be in a dip.
const RATE_FACTOR: f64 = 1.25;

/// Smallest factor by which the seconds of a dip have fewer commits than all other seconds, if
/// seconds scatter too widely for [`RATE_FACTOR`].
const APART_FACTOR: f64 = 3.0;

/// Number of commits that is added to each second for the comparison by [`APART_FACTOR`], so that a
/// few commits more or less make no dip.
const APART_COMMITS: f64 = 3.0;

/// Smallest factor by which the p95 of a second exceeds that of the median second to be in a dip.
const TIME_FACTOR: f64 = 1.5;

/// Shortest response time, in milliseconds, that makes a dip by itself. One client of many may wait
/// for a lock while commits hardly fall.
const LONG_MS: f64 = 500.0;
/// Smallest factor by which a response time that makes a dip by itself must exceed the longest one
/// of the median second.
const LONG_FACTOR: f64 = 10.0;

/// Smallest rise of the number of sessions in a wait state at which this state is a cause of a dip
/// that a single long transaction makes.
const LONG_SESSIONS: f64 = 0.5;

/// Factor by which rows read per transaction must exceed their usual value to count as a leap. A
/// second with a leap and fewer commits is in a dip, however widely other seconds scatter.
const LEAP_ROWS: f64 = 10.0;
/// Rise of other programs' CPU time above the usual, in percent of the machine's, that counts as a
/// leap.
const LEAP_OTHERS: f64 = 25.0;

/// Largest share of seconds that leaps of gauges may put into dips; if it were more, leaps are
/// ignored.
const LEAPS_MAX: f64 = 1.0 / 3.0;

/// Number of finished transactions that every second of a run must have for its seconds to be
/// compared by p95. In other runs, the p95 of a second puts no second into a dip.
const P95_SAMPLES_MIN: u64 = 100;

/// Smallest share of the clients' time that a cause must explain to be reported for a dip.
const SHARE_MIN: f64 = 0.1;

/// Smallest number of robust standard deviations by which a gauge must exceed its usual value to
/// count as moved.
const SCORE_MIN: f64 = 5.0;

/// Largest probability that a gauge is as high as in the dip by chance, at which it still counts as
/// moved or as evidence of a cause.
const CHANCE_MAX: f64 = 0.1;

/// Largest number of gauges listed as moved in a dip; those that rose less are left out.
const MOVED_MAX: usize = 5;

/// Largest number of dips in a report: those with the largest cost; the others are left out.
const DIPS_MAX: usize = 20;

/// Smallest factor by which rows read per second must exceed their usual value for a rise of rows
/// per transaction to count. A server may report rows a second late; in a dip, these are then
/// divided by few transactions.
const ALL_ROWS_FACTOR: f64 = 1.5;

const SESSION_QUERY: &str = "database.session_query";
const ROUND_TRIP: &str = "database.round_trip";

/// Derived gauge: CPU time of other programs than generator and server, in percent of the machine.
const OTHERS: &str = "machine.cpu_others";
/// Derived gauge: rows read per second.
const ROWS_READ: &str = "database.rows_read";
/// Derived gauge: rows read per transaction.
const ROWS_READ_EACH: &str = "database.rows_read_per_transaction";
/// Derived gauge: number of sessions that wait for data files or commit (log).
const FILE_WAITS: &str = "database.sessions/io+commit";
/// Derived gauge: number of sessions that execute without a thread on, or waiting for, a CPU.
const OFF_CPU: &str = "database.sessions/executing_off_cpu";
/// Derived gauge: CPU time of the server, in percent of one CPU.
const SERVER_CPU: &str = "server.cpu";
/// Derived gauge: CPU time of generator and server, in percent of the machine.
const OWN_CPU: &str = "own_cpu";
/// Derived gauge: number of threads of generator and server that wait for a CPU.
const RUN_DELAY: &str = "run_delay";
/// Gauge of the time for which the server's threads wait for a CPU, in milliseconds per second.
const SERVER_DELAY: &str = "server.run_delay";
const EXECUTING: &str = "database.sessions/executing";

/// Names of the gauges with the server's own counts of deadlocks, for the products that count them.
const DEADLOCKS: [&str; 2] = ["database.Innodb_deadlocks", "database.database_deadlocks"];

/// Start of the names of gauges that count sessions waiting for a lock of one table or index, whose
/// name follows.
const LOCK_WAITS: &str = "database.lock_waits/";

/// Smallest share of the sessions waiting for locks that must wait for one table or index for a dip
/// to name it.
const LOCKED_LEAST: f64 = 0.5;

/// Parts of names of gauges whose rise says nothing about a cause: they follow throughput, or are
/// consequences of the dip.
const FOLLOW: [&str; 6] = [
    "sessions/idle",
    "cpu_idle",
    "memory_available",
    "database.sessions/client",
    OWN_CPU,
    LOCK_WAITS,
];

/// Starts of names of the machine's gauges that any program may move; they are listed last among
/// those that moved.
const OF_OTHERS: [&str; 3] = ["machine.net_", "machine.disk_", OTHERS];

/// Factor by which a gauge counts as risen when gauges are ordered by their rise, if its usual
/// value is 0.
const FROM_NOTHING: f64 = 10.0;

/// A gauge whose mean within a dip differs from its usual value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// Name of the gauge as a figure, such as `server.cpu_user`.
    pub gauge: String,
    pub unit: String,
    /// Median of the gauge in the seconds outside of dips.
    pub usual: f64,
    /// Mean of the gauge within the dip.
    pub then: f64,
}

/// A detected cause of a dip, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CauseSeen {
    pub cause: Cause,
    /// The gauge that is the evidence for the cause.
    pub shown_by: Moved,
    /// Share of the clients' time that the cause explains, from 0 to 1.
    pub share: f64,
    /// Probability that the gauge is as high by chance: the share of stretches of seconds, as long
    /// as the dip, in which the gauge was as high as in the dip. The dip counts as one of these
    /// stretches, so that the share is never 0.
    pub chance: f64,
}

/// Consecutive seconds with low throughput or long response times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dip {
    pub from_s: i64,
    /// The second after the last one of the dip.
    pub to_s: i64,
    /// Commits per second within the dip, relative to the median second; null if the plan changes
    /// the rate.
    pub rate_ratio: Option<f64>,
    /// Highest p95 of the dip's seconds, relative to the median second; null if seconds have too
    /// few samples.
    pub p95_ratio: Option<f64>,
    /// Detected causes: a stopped server first, then the cause that explains most of the clients'
    /// time.
    pub causes: Vec<CauseSeen>,
    /// Gauges that rose within the dip: those of the database first, then by how much they rose.
    pub moved: Vec<Moved>,
    /// Number of stretches of seconds outside of dips, each as long as this dip, with which its
    /// gauges are compared; the smallest over all gauges that moved. `None` in older reports.
    #[serde(default)]
    pub n_stretches: Option<usize>,
    /// Number of deadlocks that the server counted within the dip.
    #[serde(default, skip_serializing_if = "is_none")]
    pub deadlocks: u64,
    /// Table or index for whose locks most of the sessions waiting for locks waited; absent if none
    /// stands out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locked: Option<String>,
    /// Longest response time of a transaction in the dip, if it stands out; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_ms: Option<f64>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Dip {
    /// Returns the dip's seconds in words: `12`, or `12 to 14`.
    pub fn seconds(&self) -> String {
        match self.to_s - self.from_s {
            1 => self.from_s.to_string(),
            _ => format!("{} to {}", self.from_s, self.to_s - 1),
        }
    }

    /// Returns the cost of the dip in seconds: its length times the share of usual throughput that
    /// was lost, or times the share of response time beyond the usual, whichever is larger. If a
    /// single long transaction stands out, this share is at least 0.1.
    pub fn cost_s(&self) -> f64 {
        let of_time = 1.0 - 1.0 / self.p95_ratio.unwrap_or(1.0).max(1.0);
        let lost = self.rate_ratio.map_or(0.0, |ratio| 1.0 - ratio);
        // A single long transaction costs this share of throughput at least.
        let of_one = if self.longest_ms.is_some() { SHARE_MIN } else { 0.0 };
        lost.max(of_time).max(of_one) * (self.to_s - self.from_s) as f64
    }

    /// Describes one of the dip's causes with details: `sessions waited for locks on
    /// warehouse.PRIMARY, with 2 deadlocks`.
    pub fn words(&self, cause: Cause) -> String {
        let mut words = cause.words().to_owned();
        if cause == Cause::Locks {
            words.extend(self.locked.iter().map(|what| format!(" on {what}")));
            let n = (self.deadlocks > 0).then(|| count(self.deadlocks, "deadlock"));
            words.extend(n.map(|n| format!(", with {n}")));
        }
        words
    }

    /// Returns the number of seconds by which the run is too short to detect causes of the dip,
    /// which is compared with stretches of other seconds; 0 if the run is long enough.
    pub fn seconds_lacking(&self) -> usize {
        self.n_stretches.map_or(0, |n| STRETCHES_MIN.saturating_sub(n))
    }
}

/// The machine of the server: that of the generator, or another one that an agent monitored.
struct MachineOfServer {
    /// Start of the names of its gauges, such as `machine.`.
    gauges: String,
    processors: Option<f64>,
    has_generator: bool,
}

/// Gauges of a run, with a value for each second.
struct Series {
    /// For each second of the measured phase, true if the second is in a dip.
    is_dip: Vec<bool>,
    /// Unit and values of each gauge, by its name as a figure. The value of a second without a
    /// reading is NaN.
    all: BTreeMap<String, (String, Vec<f64>)>,
    machine: MachineOfServer,
}

/// Returns the dips of a run, in the order of time: at most [`DIPS_MAX`], those with the largest
/// cost. A fixed sequence has none, since each second has another transaction.
pub(super) fn dips(
    tally: &Tally,
    gauges: &[GaugeReport],
    per_transaction: &PerTransaction,
) -> Vec<Dip> {
    if tally.is_sequence() {
        return Vec::new();
    }
    let transactions = Transactions::from_tally(tally);
    let is_dip = transactions.stand_out(tally);
    let machine = Machine::of_server(tally);
    let machine = MachineOfServer {
        gauges: format!("{}.", machine.about("machine")),
        processors: machine.processors(tally),
        has_generator: machine == Machine::OURS,
    };
    let commits = &transactions.commits;
    let mut series = Series::new(gauges, &tally.whole_seconds(), is_dip, commits, machine);
    if !transactions.is_planned {
        series.mark_leaps(commits);
    }
    let of_stretch =
        |within: Range<usize>| transactions.dip(&series, within, per_transaction.round_trips);
    let mut all: Vec<Dip> = series.stretches().into_iter().map(of_stretch).collect();
    all.sort_by(|a, b| b.cost_s().total_cmp(&a.cost_s()));
    all.truncate(DIPS_MAX);
    all.sort_by_key(|dip| dip.from_s);
    all
}

/// Figures of transactions in each second.
struct Transactions {
    /// True if the plan changes the rate of the load: a fall of commits then says nothing.
    is_planned: bool,
    clients: f64,
    commits: Vec<f64>,
    usual_rate: f64,
    /// The p95 response time of each second, in milliseconds; `None` if any second has too few
    /// samples.
    p95_ms: Option<Vec<f64>>,
    /// Longest response time of each second, in milliseconds; `None` where it does not stand out.
    longest_ms: Vec<Option<f64>>,
}

impl Transactions {
    fn from_tally(tally: &Tally) -> Transactions {
        let seconds = tally.whole_seconds();
        let groups: Vec<usize> = (0..tally.groups.len()).collect();
        let commits = tally.commits_per_second(&groups, seconds.clone());
        let commits: Vec<f64> = commits.iter().map(|&n| n as f64).collect();
        let figures: Vec<_> = seconds.map(|second| tally.second(second)).collect();
        let described = tally.description.iter().flat_map(|described| &described.groups);
        Transactions {
            is_planned: tally.is_planned_to_change(),
            clients: f64::from(described.map(|group| group.clients).sum::<u32>()),
            usual_rate: median(&commits),
            commits,
            p95_ms: p95_ms(&figures),
            longest_ms: longest_ms(&figures),
        }
    }

    /// Returns for each second whether it is in a dip, because its commits or response times stand
    /// out, whatever the gauges show.
    fn stand_out(&self, tally: &Tally) -> Vec<bool> {
        let mut is_dip = vec![false; self.commits.len()];
        let mut mark = |seconds: Vec<usize>| seconds.into_iter().for_each(|at| is_dip[at] = true);
        if !self.is_planned {
            mark(self.fell());
        }
        mark(self.slow(tally));
        let longest = self.longest_ms.iter().enumerate();
        for (at, ms) in longest.filter_map(|(at, ms)| Some((at, (*ms)?))) {
            let seconds = at..(at + (ms / 1e3).round().max(1.0) as usize).min(is_dip.len());
            is_dip[seconds].fill(true);
        }
        is_dip
    }

    /// Returns the indexes of seconds in which commits fell, counted from the start of the measured
    /// phase.
    fn fell(&self) -> Vec<usize> {
        // A second without any commit counts as half a commit.
        let per_commit: Vec<f64> = self.commits.iter().map(|n| 1.0 / n.max(0.5)).collect();
        let apart: Vec<f64> = self.commits.iter().map(|n| 1.0 / (n + APART_COMMITS)).collect();
        let mut seconds = stands_out(&per_commit, RATE_FACTOR);
        seconds.extend(set_apart(&apart, APART_FACTOR));
        seconds
    }

    /// Returns the indexes of seconds in which p95 rose, counted from the start of the measured
    /// phase; empty if any second has too few samples.
    fn slow(&self, tally: &Tally) -> Vec<usize> {
        let Some(times) = &self.p95_ms else { return Vec::new() };
        match tally.borne() {
            Some(borne) => stands_out_at_load(times, &borne, TIME_FACTOR)
                .into_iter()
                .map(|(at, _)| at)
                .collect(),
            None => stands_out(times, TIME_FACTOR),
        }
    }

    /// Describes the stretch of seconds `within` as a dip. `round_trips` is the number of round
    /// trips per transaction in this stretch.
    fn dip(&self, series: &Series, within: Range<usize>, round_trips: Option<f64>) -> Dip {
        // Commits that caught up within the dip do not make up for its fall.
        let fallen = self.commits[within.clone()].iter().map(|n| n.min(self.usual_rate));
        let rate = fallen.sum::<f64>() / within.len() as f64;
        let rate_ratio = (!self.is_planned).then_some(rate / self.usual_rate);
        let p95_ratio = self.p95_ms.as_ref().map(|times| {
            let worst = times[within.clone()].iter().fold(f64::NAN, |a, b| a.max(*b));
            worst / median(times)
        });
        let longest_ms = self.longest_ms[within.clone()].iter().copied().flatten().reduce(f64::max);
        let stretch = causes::Stretch {
            series,
            within: within.clone(),
            clients: self.clients,
            rate,
            usual_rate: self.usual_rate,
            is_long: longest_ms.is_some(),
            round_trips,
        };
        Dip {
            from_s: within.start as i64,
            to_s: within.end as i64,
            rate_ratio: rate_ratio.filter(|ratio| ratio.is_finite()),
            p95_ratio: p95_ratio.filter(|ratio| ratio.is_finite()),
            causes: stretch.causes(),
            moved: series.moved(&within),
            n_stretches: Some(series.n_stretches(&within)),
            deadlocks: series.deadlocks(&within),
            locked: series.locked(&within),
            longest_ms,
        }
    }
}

/// Returns the median of all seconds, including those in dips.
fn median(values: &[f64]) -> f64 {
    Usual::new(values, &vec![false; values.len()]).median()
}

/// Returns the p95 of each second in milliseconds; `None` if any second has too few samples.
fn p95_ms(figures: &[SecondFigures]) -> Option<Vec<f64>> {
    let fewest = figures.iter().map(|second| second.counts.finished()).min().unwrap_or(0);
    let to_ms = |second: &SecondFigures| {
        second.quantiles.map_or(f64::NAN, |q| q.p95_ns as f64) / NS_PER_MS as f64
    };
    (fewest >= P95_SAMPLES_MIN).then(|| figures.iter().map(to_ms).collect())
}

/// Returns the longest response time of each second in milliseconds; `None` where it does not stand
/// out.
fn longest_ms(figures: &[SecondFigures]) -> Vec<Option<f64>> {
    let all: Vec<f64> =
        figures.iter().map(|second| second.max_ns as f64 / NS_PER_MS as f64).collect();
    let least = LONG_MS.max(LONG_FACTOR * median(&all));
    all.into_iter().map(|ms| (ms >= least).then_some(ms)).collect()
}

impl Series {
    /// Marks seconds in which commits fell while a gauge leapt that explains it: rows read per
    /// transaction, or the CPU time of other programs.
    fn mark_leaps(&mut self, commits: &[f64]) {
        let usual = |values: &[f64]| Usual::new(values, &self.is_dip).median();
        let leaps = |name: &str, far: &dyn Fn(f64, f64) -> bool| {
            let values = self.values(name).unwrap_or_default();
            let usual = usual(values);
            values.iter().map(|value| far(*value, usual)).collect::<Vec<bool>>()
        };
        let each = leaps(ROWS_READ_EACH, &|rows, usual| rows > LEAP_ROWS * usual.max(1.0));
        let all = leaps(ROWS_READ, &|rows, usual| rows > ALL_ROWS_FACTOR * usual);
        let others = leaps(OTHERS, &|percent, usual| percent > usual + LEAP_OTHERS);
        let has = |leapt: &[bool], at: usize| leapt.get(at).copied().unwrap_or(false);
        let low = usual(commits) / RATE_FACTOR;
        let explained = |at: &usize| {
            commits[*at] < low && (has(&each, *at) && has(&all, *at) || has(&others, *at))
        };
        let found: Vec<usize> = (0..commits.len()).filter(explained).collect();
        if found.len() as f64 <= LEAPS_MAX * commits.len() as f64 {
            found.into_iter().for_each(|at| self.is_dip[at] = true);
        }
    }

    fn new(
        gauges: &[GaugeReport],
        seconds: &Range<i64>,
        is_dip: Vec<bool>,
        commits: &[f64],
        machine: MachineOfServer,
    ) -> Series {
        let mut all = BTreeMap::new();
        for gauge in gauges {
            let mut values = vec![f64::NAN; is_dip.len()];
            let name = gauge.figure();
            for (second, value) in gauge.points.iter().filter(|(s, _)| seconds.contains(s)) {
                // A late reading may fall in the same second as the next; of query times the
                // longest counts.
                let before = values[*second as usize];
                let is_longest = name == SESSION_QUERY;
                values[*second as usize] = if is_longest { value.max(before) } else { *value };
            }
            all.insert(name, (gauge.unit.clone(), values));
        }
        let mut series = Series { is_dip, all, machine };
        series.derive(commits);
        series
    }

    /// Adds gauges that are computed from others, such as CPU time of other programs. `commits` has
    /// the commits of each second.
    fn derive(&mut self, commits: &[f64]) {
        let machine = &self.machine;
        let get = |name: &str| self.all.get(name).map(|(_, values)| values.clone());
        let sum = |names: &[&str]| {
            let known: Vec<Vec<f64>> = names.iter().filter_map(|name| get(name)).collect();
            let first = known.first()?.len();
            Some(
                (0..first)
                    .map(|at| known.iter().map(|values| values[at]).sum())
                    .collect::<Vec<f64>>(),
            )
        };
        let mut derived: Vec<(&str, &str, Vec<f64>)> = Vec::new();
        let of_cpu = ["cpu_user", "cpu_nice", "cpu_system"];
        let of_cpu = of_cpu.map(|name| format!("{}{name}", machine.gauges));
        let of_machine = sum(&of_cpu.each_ref().map(String::as_str));
        let steal = get(&format!("{}cpu_steal", machine.gauges));
        let all_ours =
            ["server.cpu_user", "server.cpu_system", "generator.cpu_user", "generator.cpu_system"];
        let ours = sum(if machine.has_generator { &all_ours } else { &all_ours[..2] });
        // For a process 100 % is one CPU, for the machine all of them.
        if let (Some(used), Some(ours), Some(processors)) = (of_machine, ours, machine.processors) {
            let others = used.iter().zip(&ours).enumerate().map(|(at, (used, ours))| {
                let steal = steal.as_ref().map_or(0.0, |steal| steal[at]);
                (used + steal - ours / processors).max(0.0)
            });
            let others = others.collect();
            derived.push((OTHERS, "%", others));
            derived.push((OWN_CPU, "%", ours.iter().map(|percent| percent / processors).collect()));
        }
        let rows = sum(&[
            "database.Handler_read_key",
            "database.Handler_read_next",
            "database.Handler_read_rnd_next",
        ]);
        let rows = rows.or_else(|| get("database.database_tup_returned"));
        if let Some(rows) = rows {
            let each = rows.iter().zip(commits).map(|(rows, n)| rows / n.max(1.0)).collect();
            derived.push((ROWS_READ, "1/s", rows));
            derived.push((ROWS_READ_EACH, "", each));
        }
        let waits = sum(&["database.sessions/io", "database.sessions/commit"]);
        if let Some(waits) = waits {
            derived.push((FILE_WAITS, "", waits));
        }
        if let Some(cpu) = sum(&["server.cpu_user", "server.cpu_system"]) {
            let at_work = sum(&[EXECUTING, "database.sessions/io", "database.sessions/commit"]);
            let delay = get(SERVER_DELAY);
            let off_cpu = at_work.iter().flatten().zip(&cpu).enumerate().map(|(at, (n, cpu))| {
                let ready = delay.as_ref().map_or(0.0, |ms| ms[at] / 1e3);
                (n - cpu / 100.0 - ready).max(0.0)
            });
            derived.push((OFF_CPU, "", off_cpu.collect()));
            derived.push((SERVER_CPU, "%", cpu));
        }
        if let Some(delay) = sum(&["generator.run_delay", SERVER_DELAY]) {
            derived.push((RUN_DELAY, "", delay.iter().map(|ms| ms / 1e3).collect()));
        }
        for (name, unit, values) in derived.into_iter().filter(|(.., values)| !values.is_empty()) {
            self.all.insert(name.to_owned(), (unit.to_owned(), values));
        }
    }

    fn values(&self, name: &str) -> Option<&[f64]> {
        self.all.get(name).map(|(_, values)| values.as_slice())
    }

    /// Returns the stretches of consecutive seconds marked as in a dip. A single unmarked second
    /// between two marked ones belongs to the stretch.
    fn stretches(&self) -> Vec<Range<usize>> {
        let bad: Vec<usize> = (0..self.is_dip.len()).filter(|at| self.is_dip[*at]).collect();
        let stretches = bad.chunk_by(|a, b| b - a <= 2);
        stretches.map(|stretch| stretch[0]..stretch[stretch.len() - 1] + 1).collect()
    }

    /// Compares a gauge's mean within a stretch with its usual value; `None` unless the gauge was
    /// read both within the stretch and outside of dips.
    fn beside(&self, name: &str, within: &Range<usize>) -> Option<Moved> {
        let (unit, values) = self.all.get(name)?;
        let series = Usual::new(values, &self.is_dip);
        let (usual, then) = (series.median(), series.mean_within(within.clone()));
        let moved = Moved { gauge: name.to_owned(), unit: unit.clone(), usual, then };
        (usual.is_finite() && then.is_finite()).then_some(moved)
    }

    /// Returns the number of robust standard deviations by which a gauge in a dip exceeds its usual
    /// value; 0 if it was not read.
    fn score(&self, moved: &Moved) -> f64 {
        let to_score = |values| Usual::new(values, &self.is_dip).score(moved.then);
        self.values(&moved.gauge).map_or(0.0, to_score)
    }

    /// Returns the share of stretches of `length` seconds outside of dips in which a gauge is as
    /// high as in the dip; `None` if there are too few stretches.
    fn chance(&self, moved: &Moved, length: usize) -> Option<f64> {
        Usual::new(self.values(&moved.gauge)?, &self.is_dip).chance(moved.then, length)
    }

    /// Returns the number of stretches outside of dips that are as long as `within`, the smallest
    /// over the gauges that rose.
    fn n_stretches(&self, within: &Range<usize>) -> usize {
        let n_of = |values: &[f64]| Usual::new(values, &self.is_dip).means(within.len()).len();
        let moved = self.rose(within).map(|moved| self.values(&moved.gauge).map_or(0, n_of));
        moved.chain([n_of(&vec![0.0; self.is_dip.len()])]).min().unwrap_or(0)
    }

    /// Returns true if a gauge is higher than in every stretch of `length` seconds outside of dips.
    fn is_highest(&self, moved: &Moved, length: usize) -> bool {
        let is_above = |values| Usual::new(values, &self.is_dip).is_highest(moved.then, length);
        self.values(&moved.gauge).is_some_and(is_above)
    }

    /// Returns the number of deadlocks within a stretch of seconds. The second after it is
    /// included, since a server may report deadlocks late.
    fn deadlocks(&self, within: &Range<usize>) -> u64 {
        let count_within = |values: &[f64]| {
            let seconds = &values[within.start..(within.end + 1).min(values.len())];
            seconds.iter().filter(|n| n.is_finite()).sum::<f64>().round() as u64
        };
        DEADLOCKS.iter().filter_map(|name| self.values(name)).map(count_within).sum()
    }

    /// Returns the table or index for which most of the sessions that waited for locks within a
    /// stretch of seconds waited; `None` if no table or index has at least half of them.
    fn locked(&self, within: &Range<usize>) -> Option<String> {
        let sum = |values: &[f64]| values[within.clone()].iter().map(|n| n.max(0.0)).sum::<f64>();
        let all = sum(self.values("database.sessions/lock")?);
        let to_object = |(name, (_, values)): (&String, &(String, Vec<f64>))| {
            Some((name.strip_prefix(LOCK_WAITS)?.to_owned(), sum(values)))
        };
        let most = self.all.iter().filter_map(to_object).max_by(|a, b| a.1.total_cmp(&b.1))?;
        (most.1 > 0.0 && most.1 >= LOCKED_LEAST * all).then_some(most.0)
    }

    /// Returns the gauges that rose clearly within a stretch of seconds, without those that merely
    /// follow throughput.
    fn rose(&self, within: &Range<usize>) -> impl Iterator<Item = Moved> {
        let is_consequence = |name: &str| FOLLOW.iter().any(|part| name.contains(part));
        let names = self.all.keys().filter(move |name| !is_consequence(name));
        let moved = names.filter_map(|name| self.beside(name, within));
        moved.filter(|moved| self.score(moved) >= SCORE_MIN)
    }

    /// Returns the gauges that rose within a stretch of seconds and seldom elsewhere, at most
    /// [`MOVED_MAX`]: those of the database first, those that any program may move last, and
    /// otherwise by how much they rose.
    fn moved(&self, within: &Range<usize>) -> Vec<Moved> {
        let chance = |moved: &Moved| self.chance(moved, within.len()).unwrap_or(1.0);
        let rank = |moved: &Moved| {
            let is_own = moved.gauge.starts_with("database.");
            let is_of_others = OF_OTHERS.iter().any(|prefix| moved.gauge.starts_with(prefix));
            let factor = if moved.usual > 0.0 { moved.then / moved.usual } else { FROM_NOTHING };
            (!is_own, is_of_others, -factor)
        };
        let is_rare = |moved: &Moved| chance(moved) <= CHANCE_MAX;
        let mut rose: Vec<Moved> = self.rose(within).filter(is_rare).collect();
        rose.sort_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap_or(Ordering::Equal));
        rose.truncate(MOVED_MAX);
        rose
    }
}

#[cfg(test)]
mod tests;
