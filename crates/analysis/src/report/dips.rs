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
mod tests;
