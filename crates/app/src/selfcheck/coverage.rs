//! How often intervals and verdicts hold what they claim, on models whose truth is known.
//!
//! Intervals within a run are those that a report prints: the whole tool runs queues in virtual
//! time. Decisions over several runs are made by the same functions that the reports call, on
//! figures that are drawn, and searches on the times of queues that are drawn.

mod drawn;
mod searches;

use std::sync::Arc;

use engine::Stop;
use model::{Arrivals, NS_PER_MS, NS_PER_S, Placement};
use results::report::Report;
use serde::Serialize;
use stats::Mmc;

pub use searches::{Probed, probed};

use super::{Calibration, calibrate};
use crate::error::Error;

/// Arrivals a second of the queues.
const RATE_PER_S: f64 = 400.0;

/// The queues: servers and load.
const QUEUES: [(u32, f64); 4] = [(1, 0.5), (1, 0.8), (1, 0.9), (4, 0.8)];

/// The quantiles of a report that are held against the truth.
const QUANTILES: [(&str, f64); 3] = [("p50", 0.50), ("p90", 0.90), ("p99", 0.99)];

/// What rows are made of.
const WHOLE_RUNS: &str = "whole runs";
const DRAWN_FIGURES: &str = "drawn figures";

/// Figures that are drawn are cheap: so many times as many of them as runs.
const DRAWN: u32 = 20;

/// A search takes ten minutes of virtual time, so there are at most so many of a queue.
const SEARCHES_MAX: u32 = 100;

/// One claim on one model.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What is claimed.
    pub what: String,
    /// Of which model, and over how long.
    pub model: String,
    /// What the figures are: of runs of the whole tool in virtual time, or drawn.
    pub made: &'static str,
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

    /// A row of figures that are drawn, of a share that is to be at least so much.
    fn at_least(
        what: &str,
        model: &str,
        (nominal, least, target): (f64, f64, &'static str),
        (runs, given, counted): (u32, u32, u32),
    ) -> Row {
        let slack = 2.0 * (least * (1.0 - least) / f64::from(given.max(1))).sqrt();
        Row {
            what: what.to_owned(),
            model: model.to_owned(),
            made: DRAWN_FIGURES,
            nominal,
            runs,
            given,
            counted,
            target,
            is_good: f64::from(counted) >= f64::from(given) * (least - slack),
        }
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
            made: DRAWN_FIGURES,
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
            made: DRAWN_FIGURES,
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
) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    let mut add = |row: Row| {
        show(&row);
        rows.push(row);
    };
    for length_s in lengths_s {
        for (servers, load) in QUEUES {
            queue(servers, load, *length_s, runs, stop)?.into_iter().for_each(&mut add);
        }
        add(drawn::slow_component(*length_s, runs));
    }
    drawn::comparisons(DRAWN * runs).into_iter().for_each(&mut add);
    drawn::sequences(DRAWN * runs).into_iter().for_each(&mut add);
    drawn::laws(runs).into_iter().for_each(&mut add);
    add(drawn::designs(DRAWN * runs));
    drawn::histories(runs).into_iter().for_each(&mut add);
    searches::rows(runs.min(SEARCHES_MAX), stop)?.into_iter().for_each(&mut add);
    Ok(rows)
}

/// The rows of M/M/c: TPS and quantiles of what the tool reports of it.
fn queue(
    servers: u32,
    load: f64,
    length_s: u32,
    runs: u32,
    stop: &Arc<Stop>,
) -> Result<Vec<Row>, Error> {
    let service_ns_mean = f64::from(servers) * load * 1e9 / RATE_PER_S;
    let truth = Mmc { arrivals_per_s: RATE_PER_S, service_ns_mean, servers };
    let mut counts = [(0, 0); 1 + QUANTILES.len()];
    for seed in 1..=u64::from(runs) {
        if stop.is_asked() {
            return Err(Error::Interrupted("the selfcheck was interrupted".to_owned()));
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
        let row = Row::of_interval(&format!("interval of {name}"), &model, (runs, given, held));
        Row { made: WHOLE_RUNS, ..row }
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
