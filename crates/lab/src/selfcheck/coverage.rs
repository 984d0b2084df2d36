//! How often intervals and verdicts hold what they claim, on models whose truth is known.
//!
//! Intervals within a run are those that a report prints: the whole tool runs queues in virtual
//! time. Decisions over several runs are made by the same functions that the reports call, on
//! figures that are drawn. Not here: the searches, whose study takes hours (`examples/seek.rs`).

use std::sync::Arc;

use engine::Stop;
use model::{Arrivals, Dice, NS_PER_MS, NS_PER_S, Placement, Stream};
use results::report::Report;
use serde::Serialize;
use stats::{Build, Comparison, Held, Mmc, newcomers, precise, within_run};

use super::{Calibration, calibrate};
use crate::Trouble;

/// Arrivals a second of the queues.
const RATE_PER_S: f64 = 400.0;

/// The queues: servers and load.
const QUEUES: [(u32, f64); 4] = [(1, 0.5), (1, 0.8), (1, 0.9), (4, 0.8)];

/// The quantiles of a report that are held against the truth.
const QUANTILES: [(&str, f64); 3] = [("p50", 0.50), ("p90", 0.90), ("p99", 0.99)];

/// Figures that are drawn are cheap: so many times as many of them as runs.
const DRAWN: u32 = 20;

/// One claim on one model.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What is claimed.
    pub what: String,
    /// Of which model, and over how long.
    pub model: String,
    /// The share that is claimed: of intervals those that hold the truth, of verdicts the wrong
    /// ones.
    pub nominal: f64,
    /// How many were tried.
    pub runs: u32,
    /// How many of them had an interval or a verdict at all.
    pub given: u32,
    /// How many of these held the truth, or were wrong.
    pub counted: u32,
    /// What the share should be.
    pub target: &'static str,
    /// Whether it is that, within two standard errors of so many tries.
    pub is_good: bool,
}

impl Row {
    /// The share of those given that held the truth, or were wrong; none of none.
    pub fn share(&self) -> Option<f64> {
        (self.given > 0).then(|| f64::from(self.counted) / f64::from(self.given))
    }

    /// The row of an interval at 95 %: 92 to 98 % hold, or 90 % of the rest where most have none.
    fn of_interval(what: &str, model: &str, (runs, given, held): (u32, u32, u32)) -> Row {
        let is_rare = 2 * given < runs;
        let (least, most) = if is_rare { (0.90, 1.0) } else { (0.92, 0.98) };
        let share = f64::from(held) / f64::from(given.max(1));
        let slack = |p: f64| 2.0 * (p * (1.0 - p) / f64::from(given.max(1))).sqrt();
        let is_within = share >= least - slack(least) && share <= most + slack(most);
        Row {
            what: what.to_owned(),
            model: model.to_owned(),
            nominal: 0.95,
            runs,
            given,
            counted: held,
            target: if is_rare { "at least 90 % of the few given" } else { "92 to 98 % hold" },
            is_good: given == 0 || is_within,
        }
    }

    /// The row of a verdict that is wrong in at most `most`.
    fn of_errors(what: &str, model: &str, most: f64, target: &'static str, n: (u32, u32)) -> Row {
        let (runs, wrong) = n;
        let slack = 2.0 * (most * (1.0 - most) / f64::from(runs)).sqrt();
        Row {
            what: what.to_owned(),
            model: model.to_owned(),
            nominal: most,
            runs,
            given: runs,
            counted: wrong,
            target,
            is_good: f64::from(wrong) <= f64::from(runs) * (most + slack),
        }
    }
}

/// Nominal against held shares: so many runs of each model, of each of these lengths in seconds.
/// `show` hears each row as it comes.
pub fn coverage(
    runs: u32,
    lengths_s: &[u32],
    stop: &Arc<Stop>,
    show: &mut dyn FnMut(&Row),
) -> Result<Vec<Row>, Trouble> {
    let mut rows = Vec::new();
    let mut add = |row: Row| {
        show(&row);
        rows.push(row);
    };
    for length_s in lengths_s {
        for (servers, load) in QUEUES {
            queue(servers, load, *length_s, runs, stop)?.into_iter().for_each(&mut add);
        }
        add(slow_component(*length_s, runs));
    }
    add(equal_sides(DRAWN * runs));
    add(repeated_until(DRAWN * runs));
    add(unchanged_builds(runs));
    Ok(rows)
}

/// The rows of M/M/c: TPS and quantiles of what the tool reports of it.
fn queue(
    servers: u32,
    load: f64,
    length_s: u32,
    runs: u32,
    stop: &Arc<Stop>,
) -> Result<Vec<Row>, Trouble> {
    let service_ns_mean = f64::from(servers) * load * 1e9 / RATE_PER_S;
    let truth = Mmc { arrivals_per_s: RATE_PER_S, service_ns_mean, servers };
    let mut counts = [(0, 0); 1 + QUANTILES.len()];
    for seed in 1..=u64::from(runs) {
        if stop.is_asked() {
            return Err(Trouble::Interrupted("the selfcheck was interrupted".to_owned()));
        }
        let plan = Calibration {
            seed,
            sim: format!("servers={servers}&service=exponential:{service_ns_mean:.0}ns"),
            clients: servers,
            rate_per_s: Some(RATE_PER_S),
            arrivals: Arrivals::Poisson,
            queue: 1_000_000,
            ramp_up_ns: 10 * NS_PER_S,
            measure_ns: u64::from(length_s) * NS_PER_S,
            drain_ns: 3600 * NS_PER_S,
            placement: Placement::Simulated,
        };
        let report = calibrate(&plan, false)?.report;
        let (of_tps, of_quantiles) = counts.split_first_mut().expect("one and more");
        add_held(of_tps, tps_interval(&report), RATE_PER_S);
        for ((name, q), count) in QUANTILES.iter().zip(of_quantiles) {
            let interval = report.block.response_ms.intervals.get(name);
            let interval = interval.and_then(|(low, high)| Some((*low, (*high)?)));
            add_held(count, interval, truth.response_ns_quantile(*q) / NS_PER_MS as f64);
        }
    }
    let model = format!("M/M/{servers}, load {load}, {length_s} s");
    let names = std::iter::once("TPS").chain(QUANTILES.iter().map(|(name, _)| *name));
    let row = |(name, (given, held)): (&str, (u32, u32))| {
        Row::of_interval(&format!("interval of {name}"), &model, (runs, given, held))
    };
    Ok(names.zip(counts).map(row).collect())
}

fn tps_interval(report: &Report) -> Option<(f64, f64)> {
    let (tps, ci95) = (report.block.tps?, report.block.tps_ci95.as_ref()?);
    Some((tps - ci95.half_width, tps + ci95.half_width))
}

fn add_held((given, held): &mut (u32, u32), interval: Option<(f64, f64)>, truth: f64) {
    if let Some((low, high)) = interval {
        *given += 1;
        *held += u32::from(low <= truth && truth <= high);
    }
}

/// Draws, one after the other, by a seed.
struct Draws(Dice);

impl Draws {
    fn new(seed: u32) -> Draws {
        Draws(Dice::new(u64::from(seed), Stream::Constants, 0))
    }

    fn normal(&mut self) -> f64 {
        stats::normal(&mut || self.0.bits())
    }

    fn normals(&mut self, n: usize, mean: f64, sd: f64) -> Vec<f64> {
        (0..n).map(|_| mean + sd * self.normal()).collect()
    }
}

/// 200 commits a second, of whose variance in tenths 5 % comes and goes within 5 s.
fn slow_component(length_s: u32, runs: u32) -> Row {
    const PER_SLOT: f64 = 20.0;
    const SLOT_NS: u64 = 100 * NS_PER_MS;
    let (spread, phi) = ((0.05 / 0.95 / PER_SLOT).sqrt(), (-0.1_f64 / 5.0).exp());
    let mut counts = (0, 0);
    for seed in 1..=runs {
        let mut draws = Draws::new(seed);
        let mut level = draws.normal();
        let mut slots = Vec::new();
        let mut left = stats::exponential(draws.0.bits());
        for _ in 0..10 * length_s {
            let mut due = PER_SLOT * (1.0 + spread * level).max(0.0);
            let mut count = 0;
            while left <= due {
                due -= left;
                left = stats::exponential(draws.0.bits());
                count += 1;
            }
            left -= due;
            slots.push(count);
            level = phi * level + (1.0 - phi * phi).sqrt() * draws.normal();
        }
        let rate = within_run(&slots, SLOT_NS);
        let interval = rate.half_width.ok().map(|half| (rate.per_s - half, rate.per_s + half));
        add_held(&mut counts, interval, 10.0 * PER_SLOT);
    }
    let model = format!("slow component, 5 % of the variance, 5 s; {length_s} s");
    Row::of_interval("interval of TPS", &model, (runs, counts.0, counts.1))
}

/// Two equal sides of five runs each.
fn equal_sides(runs: u32) -> Row {
    let is_wrong = |seed: &u32| {
        let mut draws = Draws::new(*seed);
        let sides = [draws.normals(5, 0.0, 0.02), draws.normals(5, 0.0, 0.02)];
        Comparison::of(&sides[0], &sides[1], 0.95).is_ok_and(|found| found.p < 0.05)
    };
    let wrong = (1..=runs).filter(is_wrong).count() as u32;
    let model = "two equal sides of 5 runs, 2 % noise";
    Row::of_errors("a difference is seen", model, 0.05, "at most 5 %", (runs, wrong))
}

/// Runs repeated until the interval is ±2 %, at most thirty.
fn repeated_until(runs: u32) -> Row {
    let mut counts = (0, 0);
    for seed in 1..=runs {
        let figures = Draws::new(seed).normals(30, 100.0, 2.5);
        let stops = |n: &usize| {
            let half = precise(&figures[..*n]).and_then(|mean| mean.half_width);
            *n == figures.len() || half.is_some_and(|half| half <= 2.0)
        };
        let n = (stats::FIGURES_MIN..=figures.len()).find(stops).expect("it stops at the last");
        let mean = precise(&figures[..n]).expect("four figures and more");
        let interval = mean.half_width.map(|half| (mean.value - half, mean.value + half));
        add_held(&mut counts, interval, 100.0);
    }
    let model = "runs with 2.5 % noise, repeated until ±2 %";
    Row::of_interval("interval at the stop", model, (runs, counts.0, counts.1))
}

/// Forty points of twenty builds of three runs each, and none has changed.
fn unchanged_builds(runs: u32) -> Row {
    let is_wrong = |seed: &u32| {
        let mut draws = Draws::new(*seed);
        let mut build = || {
            let of_build = 0.01 * draws.normal();
            Build::of(&draws.normals(3, of_build, 0.01))
        };
        let mut series = || Held {
            before: (0..20).map(|_| build()).collect(),
            earlier: Vec::new(),
            last: build(),
            pinned: None,
        };
        let all: Vec<Held> = (0..40).map(|_| series()).collect();
        newcomers(&all, results::history::ERROR).into_iter().flatten().any(|found| found.is_outside)
    };
    let wrong = (1..=runs).filter(is_wrong).count() as u32;
    let model = "last of 21 builds, 40 points, nothing changed";
    Row::of_errors("an alarm is raised", model, 0.02, "at most 2 %", (runs, wrong))
}
