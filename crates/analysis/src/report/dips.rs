//! Dips: stretches of seconds in which throughput fell or response times rose, and what else moved
//! in them.
//!
//! A cause is named by what it took of the clients' time: locks by the sessions that wait for them,
//! a network by how much longer a round trip took, other programs by the CPUs that they had. What
//! moved is held against all stretches of the same length outside of dips: how often it is as high
//! there by chance. Not here: who reads the gauges (monitor).

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

use model::numbers::count;
use model::{Cause, FactValue, NS_PER_MS, NS_PER_S};
use serde::{Deserialize, Serialize};
use stats::{STRETCHES_MIN, Usual, set_apart, stands_out, stands_out_at_load};

use super::{GaugeReport, PerTransaction};
use crate::tally::{SecondFigures, Tally};

/// A second is in a dip if it has fewer commits than the median second by this factor.
const RATE_FACTOR: f64 = 1.25;

/// Where seconds scatter widely, one is in a dip if it has fewer commits than all others by this.
const APART_FACTOR: f64 = 3.0;

/// Commits that are added to those of each second there: without any of a few it is no dip.
const APART_COMMITS: f64 = 3.0;

/// A second is in a dip if its p95 is above that of the median second by this factor.
const TIME_FACTOR: f64 = 1.5;

/// A transaction that takes so long, and longer than the longest of the median second by this
/// factor, makes a dip of the seconds in which it is under way: one client of many may wait for a
/// lock, and commits hardly fall.
const LONG_MS: f64 = 500.0;
const LONG_FACTOR: f64 = 10.0;

/// So many sessions more than usual must wait for locks then.
const LONG_SESSIONS: f64 = 0.5;

/// Where commits fall and something leaps that explains it, seconds are in a dip however others
/// scatter: rows that are read per transaction by this factor, or CPU time of other programs by
/// this share of the machine, in percent.
const LEAP_ROWS: f64 = 10.0;
const LEAP_OTHERS: f64 = 25.0;

/// At most this share of all seconds is in dips for that.
const LEAPS_MAX: f64 = 1.0 / 3.0;

/// While others have the CPUs, any round trip takes somewhat longer: a network must by this factor.
const CROWDED_FACTOR: f64 = 3.0;

/// Otherwise by this factor, or by so many milliseconds: on a machine that is a little busier each
/// is longer by some microseconds.
const PATH_FACTOR: f64 = 1.5;
const PATH_MS: f64 = 0.5;

/// With fewer samples in any second, p95 is not looked at.
const P95_SAMPLES_MIN: u64 = 100;

/// A cause must have taken this share of the clients' time more than usual.
const SHARE_MIN: f64 = 0.1;

/// What moved must lie this many robust standard deviations above the usual.
const SCORE_MIN: f64 = 5.0;

/// Or be higher than in all other stretches, if it took this share of the clients' time more.
const SHARE_LARGE: f64 = 0.5;

/// What is as high by chance more often than this is no cause.
const CHANCE_MAX: f64 = 0.1;

/// Gauges that are listed beside the cause.
const MOVED_MAX: usize = 5;

/// Dips that are listed, those that cost most.
const DIPS_MAX: usize = 20;

/// Rows per transaction that are read, by this factor more than usual, are another plan.
const ROWS_FACTOR: f64 = 3.0;

/// Rows per second that are read, by this factor more than usual, are read by what is slow: a
/// server may report rows a second late, and then they fall on few transactions.
const ALL_ROWS_FACTOR: f64 = 1.5;

/// A server with less than this share of its usual CPU time stands still, if it does not answer.
const LOW: f64 = 0.2;

/// Or if it did not answer for this many milliseconds (the lower number where no other programs
/// have the CPUs), and by this factor longer than usual, while it lacked this share of the CPU time
/// that it usually takes in that time.
const UNANSWERED_MS: f64 = 500.0;
const UNANSWERED_ALONE_MS: f64 = 300.0;
const UNANSWERED_FACTOR: f64 = 20.0;
const UNANSWERED_CPU: f64 = 0.5;
const SESSION_QUERY: &str = "database.session_query";
const ROUND_TRIP: &str = "database.round_trip";

/// Gauges that are derived from others: CPU time of programs other than ours, rows read per second
/// and per transaction, sessions that wait for files, sessions at work for which the server has no
/// thread on a CPU or waiting for one, CPU time of the server, that of generator and server as a
/// share of the machine, and threads of both that wait for a CPU.
const OTHERS: &str = "machine.cpu_others";
const ROWS_READ: &str = "database.rows_read";
const ROWS_READ_EACH: &str = "database.rows_read_per_transaction";
const FILE_WAITS: &str = "database.sessions/io+commit";
const OFF_CPU: &str = "database.sessions/executing_off_cpu";
const SERVER_CPU: &str = "server.cpu";
const OWN_CPU: &str = "own_cpu";
const RUN_DELAY: &str = "run_delay";
const SERVER_DELAY: &str = "server.run_delay";
const EXECUTING: &str = "database.sessions/executing";

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

/// Counters of deadlocks of the products that have one.
const DEADLOCKS: [&str; 2] = ["database.Innodb_deadlocks", "database.database_deadlocks"];

/// Sessions that wait for a lock of a table or index; its name follows.
const LOCK_WAITS: &str = "database.lock_waits/";

/// What is locked is named if this share of those that waited for locks waited for it.
const LOCKED_LEAST: f64 = 0.5;

/// The mean time of a request of a disk; its name follows.
const DISK_LATENCY: &str = "machine.disk_latency/";

/// Gauges that say nothing of a cause when they rise: they follow throughput, or are what a dip is.
const FOLLOW: [&str; 6] = [
    "sessions/idle",
    "cpu_idle",
    "memory_available",
    "database.sessions/client",
    OWN_CPU,
    LOCK_WAITS,
];

/// Gauges of the machine that are listed last among those that moved: traffic of any program.
const OF_OTHERS: [&str; 3] = ["machine.net_", "machine.disk_", OTHERS];

/// A gauge that is usually 0 is listed as if it rose by this factor.
const FROM_NOTHING: f64 = 10.0;

/// A gauge that moved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// Its name as a figure.
    pub gauge: String,
    /// Its unit.
    pub unit: String,
    /// Its median in the seconds outside of dips.
    pub usual: f64,
    /// Its mean within the dip.
    pub then: f64,
}

/// A cause with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CauseSeen {
    /// Which.
    pub cause: Cause,
    /// The gauge that shows it.
    pub shown_by: Moved,
    /// The share of the clients' time that it explains, from 0 to 1.
    pub share: f64,
    /// In what share of the stretches of the same length outside of dips the gauge is as high; the
    /// dip itself counted, so that it is never 0.
    pub chance: f64,
}

/// A stretch of seconds that stands out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dip {
    /// Its first second.
    pub from_s: i64,
    /// The second after its last.
    pub to_s: i64,
    /// Commits per second within it, over those of the median second; null in load whose rate is
    /// planned.
    pub rate_ratio: Option<f64>,
    /// The highest p95 of its seconds, over that of the median second; null where seconds have too
    /// few samples.
    pub p95_ratio: Option<f64>,
    /// What it comes from, what explains most first; empty where nothing is known to.
    pub causes: Vec<CauseSeen>,
    /// What else rose: gauges of the database first, by how much.
    pub moved: Vec<Moved>,
    /// Stretches of its length outside of dips, the fewest for what moved: to compare it with. Old
    /// reports do not say it.
    #[serde(default)]
    pub n_stretches: Option<usize>,
    /// Deadlocks that the server counted in it.
    #[serde(default, skip_serializing_if = "is_none")]
    pub deadlocks: u64,
    /// The table or index whose lock most sessions waited for that waited for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locked: Option<String>,
    /// The longest response time of its transactions, where it stands out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_ms: Option<f64>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Dip {
    /// Its seconds: `12`, or `12 to 14`.
    pub fn seconds(&self) -> String {
        match self.to_s - self.from_s {
            1 => self.from_s.to_string(),
            _ => format!("{} to {}", self.from_s, self.to_s - 1),
        }
    }

    /// What it cost, in seconds: of the usual throughput, or of the time that transactions took
    /// beyond the usual, where commits were made up for or their rate is planned.
    pub fn cost_s(&self) -> f64 {
        let of_time = 1.0 - 1.0 / self.p95_ratio.unwrap_or(1.0).max(1.0);
        let lost = self.rate_ratio.map_or(0.0, |ratio| 1.0 - ratio);
        // Of one client at least.
        let of_one = if self.longest_ms.is_some() { SHARE_MIN } else { 0.0 };
        lost.max(of_time).max(of_one) * (self.to_s - self.from_s) as f64
    }

    /// A cause in words: `sessions waited for locks on warehouse.PRIMARY, with 2 deadlocks`.
    pub fn words(&self, cause: Cause) -> String {
        let mut words = cause.words().to_owned();
        if cause == Cause::Locks {
            words.extend(self.locked.iter().map(|what| format!(" on {what}")));
            let n = (self.deadlocks > 0).then(|| count(self.deadlocks, "deadlock"));
            words.extend(n.map(|n| format!(", with {n}")));
        }
        words
    }

    /// By how many seconds a run would have to be longer, so that there is enough to compare it
    /// with: without that, nothing is known of what moved.
    pub fn seconds_lacking(&self) -> usize {
        self.n_stretches.map_or(0, |n| STRETCHES_MIN.saturating_sub(n))
    }
}

/// Gauges by second, by name.
struct Series {
    /// Whether a second lies in a dip.
    is_dip: Vec<bool>,
    all: BTreeMap<String, (String, Vec<f64>)>,
}

/// All dips of a run, in the order of time.
pub(super) fn dips(
    tally: &Tally,
    gauges: &[GaugeReport],
    per_transaction: &PerTransaction,
) -> Vec<Dip> {
    let seconds = tally.whole_seconds();
    let groups: Vec<usize> = (0..tally.groups.len()).collect();
    let commits = tally.commits_per_second(&groups, seconds.clone());
    let is_planned = tally.is_planned_to_change();
    let figures: Vec<_> = seconds.clone().map(|second| tally.second(second)).collect();
    let fewest = figures.iter().map(|of| of.counts.finished()).min().unwrap_or(0);
    let p95_ms: Option<Vec<f64>> = (fewest >= P95_SAMPLES_MIN).then(|| {
        let of = |of: &SecondFigures| of.quantiles.map(|q| q.p95_ns as f64);
        figures.iter().map(|second| of(second).unwrap_or(f64::NAN) / NS_PER_MS as f64).collect()
    });
    let mut is_dip = vec![false; commits.len()];
    if !is_planned {
        // A second without any commit counts as one with half of one.
        let per_commit: Vec<f64> = commits.iter().map(|&n| 1.0 / (n as f64).max(0.5)).collect();
        let fell = stands_out(&per_commit, RATE_FACTOR);
        let apart: Vec<f64> = commits.iter().map(|&n| 1.0 / (n as f64 + APART_COMMITS)).collect();
        let apart = set_apart(&apart, APART_FACTOR);
        fell.into_iter().chain(apart).for_each(|at| is_dip[at] = true);
    }
    if let Some(times) = &p95_ms {
        let slow = match tally.borne() {
            Some(borne) => stands_out_at_load(times, &borne, TIME_FACTOR)
                .into_iter()
                .map(|(at, _)| at)
                .collect(),
            None => stands_out(times, TIME_FACTOR),
        };
        slow.into_iter().for_each(|at| is_dip[at] = true);
    }
    let longest = longest_ms(&figures);
    for (at, ms) in longest.iter().enumerate().filter_map(|(at, ms)| Some((at, (*ms)?))) {
        let seconds = at..(at + (ms / 1e3).round().max(1.0) as usize).min(is_dip.len());
        is_dip[seconds].fill(true);
    }
    let of_commits: Vec<f64> = commits.iter().map(|&n| n as f64).collect();
    let processors = tally.fact("cpu", "logical").and_then(FactValue::count).filter(|n| *n > 0);
    let processors = processors.map(|n| n as f64);
    let mut series = Series::of(gauges, &seconds, is_dip, &of_commits, processors);
    if !is_planned {
        series.mark_leaps(&of_commits);
    }
    let no_dips = vec![false; of_commits.len()];
    let of_all = |values| Usual::of(values, &no_dips);
    let usual_rate = of_all(&of_commits).median();
    let usual_p95 = p95_ms.as_deref().map(|times| of_all(times).median());
    let clients =
        f64::from(tally.description.as_ref().map_or(0, |described| {
            described.groups.iter().map(|group| group.clients).sum::<u32>()
        }));
    let dip = |within: Range<usize>| {
        // What was caught up within it does not make up for what fell.
        let fallen = of_commits[within.clone()].iter().map(|n| n.min(usual_rate));
        let rate = fallen.sum::<f64>() / within.len() as f64;
        let worst =
            |times: &Vec<f64>| times[within.clone()].iter().fold(f64::NAN, |a, b| a.max(*b));
        let p95_ratio = p95_ms.as_ref().zip(usual_p95).map(|(times, usual)| worst(times) / usual);
        let longest_ms = longest[within.clone()].iter().copied().flatten().reduce(f64::max);
        let rates = [rate, usual_rate];
        Dip {
            from_s: within.start as i64,
            to_s: within.end as i64,
            rate_ratio: (!is_planned).then_some(rate / usual_rate).filter(|r| r.is_finite()),
            p95_ratio: p95_ratio.filter(|ratio| ratio.is_finite()),
            causes: series.causes(&within, clients, rates, longest_ms.is_some(), per_transaction),
            moved: series.moved(&within),
            n_stretches: Some(series.n_stretches(&within)),
            deadlocks: series.deadlocks(&within),
            locked: series.locked(&within),
            longest_ms,
        }
    };
    let mut all: Vec<Dip> = series.stretches().into_iter().map(dip).collect();
    all.sort_by(|a, b| b.cost_s().total_cmp(&a.cost_s()));
    all.truncate(DIPS_MAX);
    all.sort_by_key(|dip| dip.from_s);
    all
}

/// The longest response time of each second, where it stands out.
fn longest_ms(figures: &[SecondFigures]) -> Vec<Option<f64>> {
    let all: Vec<f64> = figures.iter().map(|of| of.max_ns as f64 / NS_PER_MS as f64).collect();
    let usual = Usual::of(&all, &vec![false; all.len()]).median();
    let least = LONG_MS.max(LONG_FACTOR * usual);
    all.into_iter().map(|ms| (ms >= least).then_some(ms)).collect()
}

impl Series {
    /// Marks seconds in which commits fell and something leapt that explains it.
    fn mark_leaps(&mut self, commits: &[f64]) {
        let usual = |values: &[f64]| Usual::of(values, &self.is_dip).median();
        let leaps = |name: &str, far: &dyn Fn(f64, f64) -> bool| {
            let values = self.values(name).unwrap_or_default();
            let usual = usual(values);
            values.iter().map(|value| far(*value, usual)).collect::<Vec<bool>>()
        };
        let each = leaps(ROWS_READ_EACH, &|rows, usual| rows > LEAP_ROWS * usual.max(1.0));
        let all = leaps(ROWS_READ, &|rows, usual| rows > ALL_ROWS_FACTOR * usual);
        let others = leaps(OTHERS, &|percent, usual| percent > usual + LEAP_OTHERS);
        let has = |of: &[bool], at: usize| of.get(at).copied().unwrap_or(false);
        let low = usual(commits) / RATE_FACTOR;
        let explained = |at: &usize| {
            commits[*at] < low && (has(&each, *at) && has(&all, *at) || has(&others, *at))
        };
        let found: Vec<usize> = (0..commits.len()).filter(explained).collect();
        if found.len() as f64 <= LEAPS_MAX * commits.len() as f64 {
            found.into_iter().for_each(|at| self.is_dip[at] = true);
        }
    }

    fn of(
        gauges: &[GaugeReport],
        seconds: &Range<i64>,
        is_dip: Vec<bool>,
        commits: &[f64],
        processors: Option<f64>,
    ) -> Series {
        let mut all = BTreeMap::new();
        for gauge in gauges {
            let mut values = vec![f64::NAN; is_dip.len()];
            let name = gauge.figure();
            for (second, value) in gauge.points.iter().filter(|(s, _)| seconds.contains(s)) {
                // A reading that came late shares its second with the next: of these the longest.
                let before = values[*second as usize];
                let is_longest = name == SESSION_QUERY;
                values[*second as usize] = if is_longest { value.max(before) } else { *value };
            }
            all.insert(name, (gauge.unit.clone(), values));
        }
        let mut series = Series { is_dip, all };
        series.derive(commits, processors);
        series
    }

    /// Adds the gauges that are derived from others.
    fn derive(&mut self, commits: &[f64], processors: Option<f64>) {
        let get = |name: &str| self.all.get(name).map(|(_, values)| values.clone());
        let sum = |names: &[&str]| {
            let known: Vec<Vec<f64>> = names.iter().filter_map(|name| get(name)).collect();
            let first = known.first()?.len();
            Some((0..first).map(|at| known.iter().map(|of| of[at]).sum()).collect::<Vec<f64>>())
        };
        let mut derived: Vec<(&str, &str, Vec<f64>)> = Vec::new();
        let of_machine = sum(&["machine.cpu_user", "machine.cpu_nice", "machine.cpu_system"]);
        let steal = get("machine.cpu_steal");
        let ours = sum(&[
            "generator.cpu_user",
            "generator.cpu_system",
            "server.cpu_user",
            "server.cpu_system",
        ]);
        // Of a process 100 % is one CPU, of the machine all of them.
        if let (Some(machine), Some(ours), Some(processors)) = (of_machine, ours, processors) {
            let others = machine.iter().zip(&ours).enumerate().map(|(at, (machine, ours))| {
                let steal = steal.as_ref().map_or(0.0, |steal| steal[at]);
                (machine + steal - ours / processors).max(0.0)
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
        for (name, unit, values) in derived.into_iter().filter(|(.., of)| !of.is_empty()) {
            self.all.insert(name.to_owned(), (unit.to_owned(), values));
        }
    }

    fn values(&self, name: &str) -> Option<&[f64]> {
        self.all.get(name).map(|(_, values)| values.as_slice())
    }

    /// Stretches of seconds that are in dips; a good second between two bad ones is one of them.
    fn stretches(&self) -> Vec<Range<usize>> {
        let bad: Vec<usize> = (0..self.is_dip.len()).filter(|at| self.is_dip[*at]).collect();
        let stretches = bad.chunk_by(|a, b| b - a <= 2);
        stretches.map(|of| of[0]..of[of.len() - 1] + 1).collect()
    }

    /// How a gauge stands within a stretch, if it was read there and outside.
    fn beside(&self, name: &str, within: &Range<usize>) -> Option<Moved> {
        let (unit, values) = self.all.get(name)?;
        let of = Usual::of(values, &self.is_dip);
        let (usual, then) = (of.median(), of.mean_within(within.clone()));
        let moved = Moved { gauge: name.to_owned(), unit: unit.clone(), usual, then };
        (usual.is_finite() && then.is_finite()).then_some(moved)
    }

    /// By how many robust standard deviations a gauge lies above the usual.
    fn score(&self, moved: &Moved) -> f64 {
        let of = |values| Usual::of(values, &self.is_dip).score(moved.then);
        self.values(&moved.gauge).map_or(0.0, of)
    }

    /// In what share of the stretches of this length outside of dips a gauge is as high.
    fn chance(&self, moved: &Moved, length: usize) -> Option<f64> {
        Usual::of(self.values(&moved.gauge)?, &self.is_dip).chance(moved.then, length)
    }

    /// How many stretches there are to compare one with, the fewest for what moved.
    fn n_stretches(&self, within: &Range<usize>) -> usize {
        let n_of = |values: &[f64]| Usual::of(values, &self.is_dip).means(within.len()).len();
        let moved = self.rose(within).map(|moved| self.values(&moved.gauge).map_or(0, n_of));
        moved.chain([n_of(&vec![0.0; self.is_dip.len()])]).min().unwrap_or(0)
    }

    /// Whether a gauge is higher than in all stretches of this length outside of dips.
    fn is_highest(&self, moved: &Moved, length: usize) -> bool {
        let of = |values| Usual::of(values, &self.is_dip).is_highest(moved.then, length);
        self.values(&moved.gauge).is_some_and(of)
    }

    /// What a stretch comes from, what explains most of the clients' time first.
    fn causes(
        &self,
        within: &Range<usize>,
        clients: f64,
        [rate, usual_rate]: [f64; 2],
        is_long: bool,
        per_transaction: &PerTransaction,
    ) -> Vec<CauseSeen> {
        let rise = |name: &str| {
            let moved = self.beside(name, within)?;
            (moved.then > moved.usual).then_some(moved)
        };
        // Of a number of sessions, the share of all clients.
        let of_clients = |moved: &Moved| (moved.then - moved.usual) / clients.max(1.0);
        let mut seen: Vec<(Cause, f64, Moved)> = Vec::new();
        let mut add = |cause, moved: Option<Moved>, share: &dyn Fn(&Moved) -> f64| {
            seen.extend(moved.map(|moved| (cause, share(&moved).min(1.0), moved)));
        };
        add(Cause::Locks, rise("database.sessions/lock"), &of_clients);
        add(Cause::Latches, rise("database.sessions/latch"), &of_clients);
        let lost = 1.0 - rate / usual_rate;
        let of_cpus = |others: &Moved| self.taken_by_others(others, within, clients, lost);
        add(Cause::OtherCpuLoad, rise(OTHERS), &of_cpus);
        let written_back = WRITE_BACK.iter().filter_map(|name| rise(name));
        let written_back = written_back.filter(|moved| self.score(moved) >= SCORE_MIN);
        let by_score = |a: &Moved, b: &Moved| self.score(a).total_cmp(&self.score(b));
        let file_waits = rise(FILE_WAITS);
        let of_files = file_waits.as_ref().map_or(0.0, of_clients);
        // Not every server says that a session waits for a file: it is at work without a CPU.
        let of_off_cpu = rise(OFF_CPU).as_ref().map_or(0.0, of_clients);
        let slow_disks = self.all.keys().filter(|name| name.starts_with(DISK_LATENCY));
        let slow_disk = slow_disks.filter_map(|name| rise(name)).max_by(by_score);
        let paused = rise(FLOW_CONTROL);
        let of_paused = paused.as_ref().map_or(0.0, |of| (of.then - of.usual) / NS_PER_S as f64);
        // What a commit waits for of other nodes looks like a wait for the log.
        let is_of_cluster = of_paused >= SHARE_MIN || self.has_changed(CLUSTER_SIZE, within);
        match written_back.max_by(by_score) {
            _ if is_of_cluster => {
                let share = of_files.max(of_off_cpu).max(of_paused);
                add(Cause::Replication, file_waits.or(paused), &|_| share);
            }
            Some(moved) => {
                // Whoever writes back takes CPU time from the sessions too.
                let of_delay = rise(SERVER_DELAY).as_ref().map_or(0.0, of_clients) / 1e3;
                // Or statements write pages back themselves, to have free ones.
                let of_work = rise(EXECUTING).as_ref().map_or(0.0, of_clients);
                let share = of_files.max(of_off_cpu).max(of_delay.max(of_work).min(lost));
                add(Cause::Checkpoint, Some(moved), &|_| share);
            }
            None => {
                add(Cause::Disk, file_waits, &of_clients);
                add(Cause::Disk, slow_disk, &|_| of_off_cpu);
            }
        }
        // Every round trip of a client was longer by that much.
        let round_trips = per_transaction.round_trips.unwrap_or(0.0) * rate;
        let crowd = rise(OTHERS).map_or(0.0, |others| others.then - others.usual);
        let of_path = |moved: &Moved| {
            let factor = if crowd > LEAP_OTHERS { CROWDED_FACTOR } else { PATH_FACTOR };
            let is_far = moved.then >= factor * moved.usual
                || crowd <= LEAP_OTHERS && moved.then - moved.usual >= PATH_MS;
            if !is_far {
                return 0.0;
            }
            let longer_s = (moved.then - moved.usual) / 1e3;
            longer_s * round_trips.max(1.0) / clients.max(1.0)
        };
        add(Cause::Network, rise(ROUND_TRIP), &of_path);
        // A second that commits next to nothing has many rows for each, without reading more.
        let rows = rise(ROWS_READ_EACH).filter(|moved| moved.then > ROWS_FACTOR * moved.usual);
        let all_rows = rise(ROWS_READ);
        let rows =
            rows.filter(|_| all_rows.is_some_and(|all| all.then > ALL_ROWS_FACTOR * all.usual));
        let executing = rise(EXECUTING);
        let of_rows = executing.as_ref().map_or(0.0, of_clients);
        // Who waits for a few statements that read much is not executing: at least that is lost
        // by which transactions take longer.
        add(Cause::RowsRead, rows, &|_| of_rows.max(lost));
        let mut causes: Vec<CauseSeen> = Vec::new();
        for (cause, share, shown_by) in seen {
            let chance = self.chance(&shown_by, within.len()).unwrap_or(1.0);
            // What shows these is what they take, and no sign of something else that takes it.
            let is_direct = matches!(cause, Cause::Locks | Cause::Latches | Cause::Network);
            // One client of many that stands for long is what is looked for.
            let few = if is_long { LONG_SESSIONS / clients.max(1.0) } else { f64::INFINITY };
            let is_large = is_direct && share >= SHARE_LARGE.min(few);
            let is_far = self.score(&shown_by) >= SCORE_MIN
                || is_large && self.is_highest(&shown_by, within.len());
            let is_clear = share >= SHARE_MIN.min(few) && chance <= CHANCE_MAX && is_far;
            causes.extend(is_clear.then_some(CauseSeen { cause, shown_by, share, chance }));
        }
        // A disk may be shown in two ways.
        causes.dedup_by_key(|seen| seen.cause);
        causes.extend(self.stopped(within).or_else(|| self.unanswered(within)));
        // Who waits while the server stands still waits for that.
        let is_last = |of: &CauseSeen| of.cause != Cause::ServerStopped;
        causes.sort_by(|a, b| is_last(a).cmp(&is_last(b)).then(b.share.total_cmp(&a.share)));
        causes
    }

    /// Whether a level is another one right after a stretch than right before it.
    fn has_changed(&self, name: &str, within: &Range<usize>) -> bool {
        let Some(values) = self.values(name) else { return false };
        let mut before = values[..within.start].iter().rev().filter(|value| value.is_finite());
        let mut after = values[within.end..].iter().filter(|value| value.is_finite());
        before.next().zip(after.next()).is_some_and(|(before, after)| before != after)
    }

    /// The share of the clients' time that other programs took with CPUs: as far as more of our
    /// threads waited for one. Where ours wait for CPUs all the time, no more of them wait, and it
    /// is the CPU time that ours lost to others; at most the share of transactions that were lost.
    fn taken_by_others(
        &self,
        others: &Moved,
        within: &Range<usize>,
        clients: f64,
        lost: f64,
    ) -> f64 {
        let Some(delay) = self.beside(RUN_DELAY, within) else { return 0.0 };
        let of_delay = (delay.then - delay.usual) / clients.max(1.0);
        let own = self.beside(OWN_CPU, within).filter(|own| own.usual > 0.0);
        let own = own.filter(|_| delay.then >= SHARE_MIN * clients);
        let of_time = own
            .map_or(0.0, |own| (own.usual - own.then).min(others.then - others.usual) / own.usual);
        of_delay.max(of_time.min(lost))
    }

    /// Deadlocks within a stretch; a server may report them a second late.
    fn deadlocks(&self, within: &Range<usize>) -> u64 {
        let of = |values: &[f64]| {
            let seconds = &values[within.start..(within.end + 1).min(values.len())];
            seconds.iter().filter(|n| n.is_finite()).sum::<f64>().round() as u64
        };
        DEADLOCKS.iter().filter_map(|name| self.values(name)).map(of).sum()
    }

    /// What most of those waited for who waited for locks within a stretch.
    fn locked(&self, within: &Range<usize>) -> Option<String> {
        let sum = |of: &[f64]| of[within.clone()].iter().map(|n| n.max(0.0)).sum::<f64>();
        let all = sum(self.values("database.sessions/lock")?);
        let of = |(name, (_, values)): (&String, &(String, Vec<f64>))| {
            Some((name.strip_prefix(LOCK_WAITS)?.to_owned(), sum(values)))
        };
        let most = self.all.iter().filter_map(of).max_by(|a, b| a.1.total_cmp(&b.1))?;
        (most.1 > 0.0 && most.1 >= LOCKED_LEAST * all).then_some(most.0)
    }

    /// Whether the server had no CPU time where it usually has some, and did not answer.
    fn stopped(&self, within: &Range<usize>) -> Option<CauseSeen> {
        let values = self.values(SERVER_CPU)?;
        let usual = Usual::of(values, &self.is_dip).median();
        let (states, trips) = (self.values(EXECUTING)?, self.values(ROUND_TRIP));
        // A server that answers anything does not stand still.
        let answers = |at: usize| states[at].is_finite() || trips.is_some_and(|of| of[at] > 0.0);
        let is_low = |at: &usize| values[*at] < LOW * usual && !answers(*at);
        let lows = within.clone().filter(is_low).count();
        let outside: Vec<usize> = (0..values.len()).filter(|at| !self.is_dip[*at]).collect();
        let as_low = outside.iter().filter(|at| is_low(at)).count();
        let chance = (as_low + 1) as f64 / (outside.len() + 1) as f64;
        let is_clear = lows > 0 && usual > 1.0 && chance <= CHANCE_MAX;
        is_clear.then(|| CauseSeen {
            cause: Cause::ServerStopped,
            shown_by: self.beside(SERVER_CPU, within).unwrap_or_else(|| Moved {
                gauge: SERVER_CPU.to_owned(),
                unit: "%".to_owned(),
                usual,
                then: 0.0,
            }),
            share: lows as f64 / within.len() as f64,
            chance,
        })
    }

    /// Whether the server did not answer for some part of a second, and took no CPU time
    /// meanwhile: a stop that is too short to empty a whole second.
    fn unanswered(&self, within: &Range<usize>) -> Option<CauseSeen> {
        let (cpu, answers) = (self.values(SERVER_CPU)?, self.values(SESSION_QUERY)?);
        // What was not read counts as nothing.
        let then = answers[within.clone()].iter().copied().fold(0.0, f64::max);
        let shown_by = Moved { then, ..self.beside(SESSION_QUERY, within)? };
        let usual_cpu = self.beside(SERVER_CPU, within)?.usual;
        let missing: f64 = cpu[within.clone()].iter().map(|n| (usual_cpu - n).max(0.0)).sum();
        // Beside others who have the CPUs, any answer takes longer.
        let crowd = self.beside(OTHERS, within).map_or(0.0, |of| of.then - of.usual);
        let least_ms = if crowd > LEAP_OTHERS { UNANSWERED_MS } else { UNANSWERED_ALONE_MS };
        let is_long = then >= least_ms && then >= UNANSWERED_FACTOR * shown_by.usual;
        let is_idle = usual_cpu > 1.0 && missing >= UNANSWERED_CPU * usual_cpu * then / 1e3;
        let chance = self.chance(&shown_by, 1).unwrap_or(1.0);
        let (cause, share) = (Cause::ServerStopped, (then / 1e3 / within.len() as f64).min(1.0));
        let is_clear = is_long && is_idle && chance <= CHANCE_MAX;
        is_clear.then_some(CauseSeen { cause, shown_by, share, chance })
    }

    /// What rose clearly within a stretch.
    fn rose(&self, within: &Range<usize>) -> impl Iterator<Item = Moved> {
        let is_consequence = |name: &str| FOLLOW.iter().any(|of| name.contains(of));
        let names = self.all.keys().filter(move |name| !is_consequence(name));
        let moved = names.filter_map(|name| self.beside(name, within));
        moved.filter(|moved| self.score(moved) >= SCORE_MIN)
    }

    /// What rose within a stretch and not elsewhere, by how much; what others may have done last.
    fn moved(&self, within: &Range<usize>) -> Vec<Moved> {
        let chance = |moved: &Moved| self.chance(moved, within.len()).unwrap_or(1.0);
        let rank = |moved: &Moved| {
            let is_own = moved.gauge.starts_with("database.");
            let is_of_others = OF_OTHERS.iter().any(|of| moved.gauge.starts_with(of));
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
mod tests {
    use super::*;
    use crate::fixtures::{Draw, Made};
    use crate::report::Report;

    /// The second in which the closed run has a dip.
    const DIP: i64 = 42;

    /// The closed run with these gauges: what each is, its value, and its value in the dip.
    fn with(gauges: &[(&str, &str, f64, f64)]) -> Vec<Dip> {
        let mut made = Made::closed();
        let names: Vec<(&str, &str)> = gauges.iter().map(|of| (of.0, of.1)).collect();
        made.gauges(&names, &|second, at| match gauges[at] {
            (.., then) if second == DIP => then,
            // Something of a scatter, so that there is a spread.
            (.., usual, _) => usual * (1.0 + (second % 5) as f64 / 100.0),
        });
        made.fact("cpu", "logical", "2");
        Report::of(&made.tally()).dips
    }

    fn causes(gauges: &[(&str, &str, f64, f64)]) -> Vec<Cause> {
        let dips = with(gauges);
        assert_eq!(dips.len(), 1, "{dips:?}");
        assert_eq!((dips[0].from_s, dips[0].to_s), (DIP, DIP + 1));
        dips[0].causes.iter().map(|seen| seen.cause).collect()
    }

    const LOCK: (&str, &str, f64, f64) = ("database", "sessions/lock", 0.2, 5.0);
    const QUIET: (&str, &str, f64, f64) = ("database", "sessions/executing", 1.0, 1.0);

    #[test]
    fn a_dip_without_gauges_has_no_cause_and_tells_how_deep_it_is() {
        let dips = with(&[]);
        let ratio = dips[0].rate_ratio.expect("closed load has a rate of its own");
        assert!((0.6..0.75).contains(&ratio), "{ratio}");
        assert_eq!((dips[0].causes.as_slice(), dips[0].moved.as_slice()), (&[][..], &[][..]));
    }

    #[test]
    fn what_takes_most_of_the_clients_time_is_named_first() {
        assert_eq!(causes(&[LOCK, QUIET]), [Cause::Locks]);
        let less = ("database", "sessions/latch", 0.1, 2.0);
        assert_eq!(causes(&[less, LOCK]), [Cause::Locks, Cause::Latches]);
        let more = ("database", "sessions/latch", 0.1, 7.0);
        assert_eq!(causes(&[more, LOCK]), [Cause::Latches, Cause::Locks]);
    }

    #[test]
    fn what_most_sessions_waited_for_is_named_with_a_lock() {
        let on = |name, then| ("database", name, 0.0, then);
        let [stock, warehouse] =
            [("lock_waits/stock.PRIMARY", 1.0), ("lock_waits/warehouse.PRIMARY", 4.0)];
        let words = |gauges: &[(&str, &str, f64, f64)]| {
            let dips = with(gauges);
            let is_listed = |moved: &Moved| moved.gauge.starts_with(LOCK_WAITS);
            assert!(!dips[0].moved.iter().any(is_listed), "it is named already");
            dips[0].words(dips[0].causes[0].cause)
        };
        let both = [LOCK, on(stock.0, stock.1), on(warehouse.0, warehouse.1)];
        assert_eq!(words(&both), "sessions waited for locks on warehouse.PRIMARY");
        // Most waited for something that the server does not name.
        assert_eq!(words(&both[..2]), "sessions waited for locks");
        assert_eq!(words(&[LOCK]), "sessions waited for locks");
    }

    /// A gauge: about, name, and its value in a second.
    type Gauged<'g> = (&'g str, &'g str, &'g dyn Fn(i64) -> f64);

    /// The closed run with so many commits in each second, a transaction of this second that takes
    /// long, and gauges.
    fn minute(
        commits: &dyn Fn(i64) -> u64,
        long: Option<(i64, u64)>,
        gauges: &[Gauged],
    ) -> Vec<Dip> {
        let mut made = Made::closed();
        for second in made.seconds.iter_mut().filter(|of| of.second >= 0) {
            let n = commits(second.second);
            second.commits_tenths = [(n / 10) as u32; 10];
            second.kinds.iter_mut().for_each(|kind| kind.commits = 0);
            second.kinds[0].commits = n;
            let long = long.filter(|(at, _)| *at == second.second);
            if let (Some((_, ns)), Some(times)) = (long, &mut second.kinds[0].response) {
                times.record_n(ns, 1);
            }
        }
        let names: Vec<(&str, &str)> = gauges.iter().map(|of| (of.0, of.1)).collect();
        let scatter = |second: i64| 1.0 + (second % 5) as f64 / 99.0;
        made.gauges(&names, &|second, at| gauges[at].2(second) * scatter(second));
        made.fact("cpu", "logical", "2");
        Report::of(&made.tally()).dips
    }

    #[test]
    fn one_client_that_waits_long_for_a_lock_is_found_where_commits_hardly_fall() {
        let lock = |second: i64| if (20..22).contains(&second) { 0.9 } else { 0.1 };
        let gauges: [Gauged; 1] = [("database", "sessions/lock", &lock)];
        let dips = minute(&|_| 200, Some((20, 2_000_000_000)), &gauges);
        assert_eq!(dips.len(), 1, "{dips:?}");
        assert_eq!((dips[0].from_s, dips[0].to_s), (20, 22));
        assert!(dips[0].longest_ms.is_some_and(|ms| ms > 1_900.0), "{dips:?}");
        let causes: Vec<Cause> = dips[0].causes.iter().map(|seen| seen.cause).collect();
        assert_eq!(causes, [Cause::Locks]);
        // No lock, no cause; and no transaction that takes long, no dip.
        let none: [Gauged; 1] = [("database", "sessions/lock", &|_| 0.1)];
        assert_eq!(minute(&|_| 200, Some((20, 2_000_000_000)), &none)[0].causes, []);
        assert_eq!(minute(&|_| 200, None, &gauges), []);
    }

    #[test]
    fn commits_that_wait_while_a_cluster_changes_or_pauses_wait_for_its_nodes() {
        let commits = |second: i64| if (20..23).contains(&second) { 5 } else { 200 };
        let leaps = |usual: f64, then: f64| {
            move |second: i64| if (20..23).contains(&second) { then } else { usual }
        };
        let first = |gauges: &[Gauged]| minute(&commits, None, gauges)[0].causes[0].cause;
        let waits = leaps(0.5, 7.0);
        let waits: Gauged = ("database", "sessions/commit", &waits);
        let flushed = leaps(10.0, 5_000.0);
        let flushed: Gauged = ("database", "Innodb_buffer_pool_pages_flushed", &flushed);
        assert_eq!(first(&[waits]), Cause::Disk);
        assert_eq!(first(&[waits, flushed]), Cause::Checkpoint);
        // The helper scatters values: a size of nothing is left as it is.
        let lost = |second: i64| if second < 21 { 3.0 } else { 0.0 };
        let lost: Gauged = ("database", "wsrep_cluster_size", &lost);
        assert_eq!(first(&[waits, lost]), Cause::Replication);
        assert_eq!(first(&[waits, flushed, lost]), Cause::Replication);
        let paused = leaps(1e6, 8e8);
        let paused: Gauged = ("database", "wsrep_flow_control_paused_ns", &paused);
        assert_eq!(first(&[waits, paused]), Cause::Replication);
        let quiet: Gauged = ("database", "wsrep_flow_control_paused_ns", &|_| 1e6);
        assert_eq!(first(&[waits, quiet]), Cause::Disk);
    }

    #[test]
    fn what_leaps_while_commits_fall_makes_a_dip_among_seconds_that_scatter() {
        // From 120 to 300 commits/s, and 100 where something leaps.
        let commits = |second: i64| match second {
            20..23 => 100,
            _ => 120 + 20 * (second as u64 * 7 % 10),
        };
        let leaps = |usual: f64, then: f64| {
            move |second: i64| if (20..23).contains(&second) { then } else { usual }
        };
        let rows = leaps(100.0, 1e7);
        let work: Gauged = ("database", "sessions/executing", &leaps(1.0, 3.0));
        let rows: [Gauged; 2] = [("database", "database_tup_returned", &rows), work];
        let dips = minute(&commits, None, &rows);
        assert_eq!((dips.len(), dips[0].from_s, dips[0].to_s), (1, 20, 23), "{dips:?}");
        assert_eq!(dips[0].causes[0].cause, Cause::RowsRead);
        assert_eq!(minute(&commits, None, &[work]), []);
    }

    #[test]
    fn a_round_trip_that_takes_longer_while_others_have_the_cpus_is_no_network() {
        let network = ("database", "round_trip", 0.112, 0.171);
        let others = ("machine", "cpu_user", 30.0, 95.0);
        let ours = ("server", "cpu_user", 50.0, 40.0);
        let delay = ("server", "run_delay", 100.0, 1_500.0);
        let server = ("generator", "cpu_user", 10.0, 8.0);
        assert!(!causes(&[network, others, ours, server, delay]).contains(&Cause::Network));
        let far = ("database", "round_trip", 0.112, 40.0);
        assert!(causes(&[far, others, ours, server, delay]).contains(&Cause::Network));
    }

    #[test]
    fn a_stop_that_is_shorter_than_a_second_is_named_before_what_it_makes_wait() {
        // Half a second of a usual CPU time of 80 %.
        let [answer, cpu] =
            [("database", "session_query", 3.0, 950.0), ("server", "cpu_user", 80.0, 40.0)];
        let first = |gauges: &[(&str, &str, f64, f64)]| causes(gauges).first().copied();
        assert_eq!(first(&[LOCK, answer, cpu]), Some(Cause::ServerStopped));
        // It answers late, and works on; or it answers.
        let busy = ("server", "cpu_user", 80.0, 80.0);
        assert_eq!(first(&[LOCK, answer, busy]), Some(Cause::Locks));
        let soon = ("database", "session_query", 3.0, 60.0);
        assert_eq!(first(&[LOCK, soon, cpu]), Some(Cause::Locks));
    }

    #[test]
    fn deadlocks_are_reported_with_the_locks_that_they_make() {
        let quiet = ("database", "database_deadlocks", 0.0, 0.0);
        let words = |gauges: &[(&str, &str, f64, f64)]| {
            let dips = with(gauges);
            dips[0].words(dips[0].causes[0].cause)
        };
        assert_eq!(words(&[LOCK, quiet]), "sessions waited for locks");
        let found = ("database", "database_deadlocks", 0.0, 2.0);
        assert_eq!(words(&[LOCK, found]), "sessions waited for locks, with 2 deadlocks");
        let latches = ("database", "sessions/latch", 0.1, 7.0);
        assert_eq!(words(&[latches, found]), Cause::Latches.words());
    }

    #[test]
    fn files_are_waited_for_because_of_a_checkpoint_or_not() {
        let waits = ("database", "sessions/commit", 0.5, 5.0);
        assert_eq!(causes(&[waits, ("database", "sessions/io", 0.0, 0.0)]), [Cause::Disk]);
        let flushed = ("database", "Innodb_buffer_pool_pages_flushed", 20.0, 9_000.0);
        assert_eq!(causes(&[waits, flushed]), [Cause::Checkpoint]);
    }

    #[test]
    fn a_checkpoint_that_takes_cpu_time_from_the_sessions_is_named() {
        let written = ("database", "bgwriter_buffers_checkpoint", 0.0, 134_214.0);
        let waits = [("database", "sessions/commit", 0.2, 0.5), QUIET];
        let delay = ("server", "run_delay", 750.0, 2_750.0);
        assert_eq!(causes(&[written, waits[0], waits[1], delay]), [Cause::Checkpoint]);
        let none = ("server", "run_delay", 750.0, 750.0);
        assert_eq!(causes(&[written, waits[0], waits[1], none]), []);
        let at_work = ("database", "sessions/executing", 1.0, 3.0);
        assert_eq!(causes(&[written, waits[0], at_work, none]), [Cause::Checkpoint]);
        let no_pages = ("database", "bgwriter_buffers_checkpoint", 0.0, 0.0);
        assert_eq!(causes(&[no_pages, waits[0], waits[1], delay]), []);
    }

    #[test]
    fn a_slow_disk_is_named_where_a_server_does_not_say_that_it_waits_for_files() {
        let executing = ("database", "sessions/executing", 1.0, 7.0);
        let io = ("database", "sessions/io", 0.0, 0.0);
        let commit = ("database", "sessions/commit", 0.0, 0.0);
        let cpu = ("server", "cpu_user", 80.0, 10.0);
        let disk = ("machine", "disk_latency/vda", 3.0, 90.0);
        assert_eq!(causes(&[executing, io, commit, cpu, disk]), [Cause::Disk]);
        let flushed = ("database", "Innodb_buffer_pool_pages_flushed", 20.0, 9_000.0);
        assert_eq!(causes(&[executing, io, commit, cpu, disk, flushed]), [Cause::Checkpoint]);
        // All of them have a CPU, or wait for one.
        let delay = ("server", "run_delay", 100.0, 5_000.0);
        let busy = ("server", "cpu_user", 80.0, 200.0);
        assert_eq!(causes(&[executing, io, commit, busy, delay, disk]), []);
        let quick = ("machine", "disk_latency/vda", 3.0, 3.0);
        assert_eq!(causes(&[executing, io, commit, cpu, quick]), []);
    }

    #[test]
    fn other_programs_matter_as_far_as_ours_waited_for_a_cpu() {
        let machine = ("machine", "cpu_user", 50.0, 98.0);
        let ours = ("generator", "cpu_user", 40.0, 20.0);
        let server = ("server", "cpu_user", 60.0, 30.0);
        assert_eq!(causes(&[machine, ours, server]), [], "nobody waited");
        let delay = ("server", "run_delay", 100.0, 4_000.0);
        assert_eq!(causes(&[machine, ours, server, delay]), [Cause::OtherCpuLoad]);
        // With CPUs that are always busy, the others' take all that ours lose, and no more wait.
        let always = ("server", "run_delay", 2_000.0, 2_000.0);
        assert_eq!(causes(&[machine, ours, server, always]), [Cause::OtherCpuLoad]);
        let as_usual = [("generator", "cpu_user", 40.0, 40.0), ("server", "cpu_user", 60.0, 60.0)];
        assert_eq!(causes(&[machine, as_usual[0], as_usual[1], always]), [], "nothing was lost");
    }

    #[test]
    fn rows_and_round_trips_are_told_by_how_many_there_are_of_each_transaction() {
        let rows = ("database", "Handler_read_rnd_next", 4_000.0, 900_000.0);
        let executing = ("database", "sessions/executing", 1.0, 7.0);
        assert_eq!(causes(&[rows, executing]), [Cause::RowsRead]);
        // Twice as many are no other plan.
        let rows = ("database", "Handler_read_rnd_next", 4_000.0, 5_000.0);
        assert_eq!(causes(&[rows, executing]), []);
        // Nor are as many rows as always, of transactions that do not end.
        let rows = ("database", "Handler_read_rnd_next", 4_000.0, 20.0);
        assert_eq!(causes(&[rows, executing]), []);
        // Nor are a few more per second, however few transactions they fall on.
        assert_eq!(
            causes(&[("database", "Handler_read_rnd_next", 4_000.0, 5_500.0), executing]),
            []
        );
        // Some microseconds more are those of a busier machine.
        assert_eq!(causes(&[("database", "round_trip", 0.113, 0.134)]), []);
        assert_eq!(causes(&[("database", "round_trip", 0.1, 5.0)]), [Cause::Network]);
    }

    #[test]
    fn a_server_without_cpu_time_stands_still_if_it_does_not_answer() {
        let cpu = ("server", "cpu_user", 80.0, 1.0);
        assert_eq!(
            causes(&[cpu, ("database", "sessions/executing", 1.0, f64::NAN)]),
            [Cause::ServerStopped]
        );
        assert_eq!(causes(&[cpu, QUIET]), [], "it may have nothing to do");
    }

    /// The dips of the closed run with these gauges, by second; what is not finite was not read.
    fn dips_of(gauges: &[(&str, &str)], value: &dyn Fn(i64, usize) -> f64) -> Vec<Dip> {
        let mut made = Made::closed();
        made.gauges(gauges, value);
        Report::of(&made.tally()).dips
    }

    #[test]
    fn with_too_few_seconds_to_compare_with_nothing_is_known() {
        let of = |from: i64| {
            let value = |second, _| match second {
                DIP => 5.0,
                second if second < from => f64::NAN,
                _ => 0.2,
            };
            let dips = dips_of(&[("database", "sessions/lock")], &value);
            (
                dips[0].n_stretches,
                dips[0].seconds_lacking() > 0,
                dips[0].causes.len(),
                dips[0].moved.len(),
            )
        };
        assert_eq!(of(51), (Some(9), false, 1, 1));
        assert_eq!(of(52), (Some(8), true, 0, 0));
    }

    #[test]
    fn what_takes_half_of_the_clients_time_is_named_where_the_usual_varies() {
        // Five robust standard deviations above 2 are more than all clients.
        let of = |then: f64, highest: f64| {
            let value = |second: i64, _| match second {
                DIP => then,
                7 => highest,
                _ => [0.0, 2.0, 4.0][second as usize % 3],
            };
            let dips = dips_of(&[("database", "sessions/lock")], &value);
            dips[0].causes.iter().map(|seen| seen.cause).collect::<Vec<_>>()
        };
        assert_eq!(of(8.0, 5.0), [Cause::Locks]);
        assert_eq!(of(8.0, 8.0), [], "it is as high elsewhere");
        assert_eq!(of(5.5, 5.0), [], "it takes less than half");
    }

    #[test]
    fn rows_of_a_few_transactions_are_named_and_listed_before_traffic_of_others() {
        let gauges = [
            ("database", "Handler_read_next"),
            ("machine", "net_in/eth0"),
            ("database", "sessions/executing"),
            ("database", "Innodb_row_lock_waits"),
        ];
        let value = |second: i64, at: usize| {
            let [usual, then] = [[4e3, 9e4], [1e2, 9e5], [1.0, 1.0], [2.0, 9.0]][at];
            if second == DIP { then } else { usual * (1.0 + (second % 5) as f64 / 100.0) }
        };
        let dips = dips_of(&gauges, &value);
        assert_eq!(dips[0].causes[0].cause, Cause::RowsRead);
        let longer = 1.0 - dips[0].rate_ratio.expect("a rate");
        assert!((dips[0].causes[0].share - longer).abs() < 0.05, "{dips:?}");
        let names: Vec<&str> = dips[0].moved.iter().map(|moved| moved.gauge.as_str()).collect();
        let rows = [ROWS_READ_EACH, "database.Handler_read_next", ROWS_READ];
        assert_eq!(names[..3], rows);
        assert_eq!(names[3..], ["database.Innodb_row_lock_waits", "machine.net_in/eth0"]);
    }

    /// Sessions are sampled some times per second: eight clients that wait for a lock for a part of
    /// the time, also in a dip that comes from something else.
    #[test]
    fn locks_that_are_waited_for_as_always_are_seldom_a_cause() {
        let mut draw = Draw(5);
        let per_transaction = PerTransaction::default();
        for waiting in [10, 30, 50] {
            let mut sampled = || {
                let waits = (0..5 * 8).filter(|_| draw.next(100) < waiting).count();
                waits as f64 / 5.0
            };
            let n_named = (0..1_000).filter(|_| {
                let drawn: Vec<f64> = (0..20).map(|_| sampled()).collect();
                let gauge = ("database.sessions/lock".to_owned(), (String::new(), drawn));
                let is_dip = (0..20).map(|second| second == 12).collect();
                let series = Series { is_dip, all: [gauge].into() };
                !series.causes(&(12..13), 8.0, [1.0, 2.0], false, &per_transaction).is_empty()
            });
            let n_named = n_named.count();
            assert!(n_named <= 10, "{n_named} of 1,000, waiting for {waiting} % of the time");
        }
    }

    #[test]
    fn what_is_as_high_at_other_times_is_no_cause() {
        let value = |second: i64, _| if second % 6 == 0 { 5.0 } else { 0.2 };
        let dips = dips_of(&[("database", "sessions/lock")], &value);
        assert_eq!((dips.len(), dips[0].causes.as_slice()), (1, &[][..]));
    }
}
