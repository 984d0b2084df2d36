//! Coverage of confidence intervals and error rates of verdicts, on models whose true values are
//! known.
//!
//! Where a closed form exists, the whole tool runs queues in virtual time, and the intervals are
//! those of its reports. For other models, the functions of reports judge random times. Decisions
//! over several runs use the same functions on random figures, and searches on random times of
//! queues. `Row` has the result for one model.

mod drawn;
mod row;
mod searches;
mod times;

use std::sync::Arc;

use analysis::report::Report;
use engine::Stop;
use model::{Arrivals, NS_PER_MS, NS_PER_S, Placement};
use stats::Mmc;

pub use row::Row;
pub use searches::{Probed, probed};

use self::row::{WHOLE_RUNS, add_held};
use crate::calibration::{Calibration, calibrate};
use app::Error;

/// Arrival rate of the simulated queues, in arrivals per second.
const RATE_PER_S: f64 = 400.0;

/// Queues to simulate: number of servers, and utilization from 0 to 1.
const QUEUES: [(u32, f64); 4] = [(1, 0.5), (1, 0.8), (1, 0.9), (4, 0.8)];

/// Percentiles of a report that are compared with the true ones: name, and share of transactions
/// below.
const QUANTILES: [(&str, f64); 4] = [("p50", 0.50), ("p90", 0.90), ("p95", 0.95), ("p99", 0.99)];

/// Lengths of runs, in seconds, that are tested in addition to the given ones, for models that take
/// little time.
const SHORT_S: [u32; 2] = [10, 30];

/// Number of times that a test on random numbers is repeated for each requested run, because it
/// takes less time than a whole run.
const DRAWN: u32 = 20;

/// Largest number of simulated searches per queue, even if more runs are requested, since each
/// takes ten minutes of virtual time.
const SEARCHES_MAX: u32 = 100;

/// Tests on models with known true values how often confidence intervals contain the true value,
/// and how often verdicts are wrong, with `runs` runs of each length in seconds. Calls `show` with
/// each row of the result as soon as it is done. Returns an error if stopped or a run fails.
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
    for length_s in SHORT_S.iter().filter(|short| !lengths_s.contains(short)) {
        times::steady(*length_s, runs).into_iter().for_each(&mut add);
    }
    for length_s in lengths_s {
        for (servers, load) in QUEUES {
            queue(servers, load, *length_s, runs, stop)?.into_iter().for_each(&mut add);
        }
        add(drawn::slow_component(*length_s, runs));
        times::steady(*length_s, runs).into_iter().for_each(&mut add);
        times::plans(*length_s, runs).into_iter().for_each(&mut add);
        times::planned_queues(*length_s, runs).into_iter().for_each(&mut add);
        times::queues(*length_s, runs).into_iter().for_each(&mut add);
    }
    drawn::comparisons(DRAWN * runs).into_iter().for_each(&mut add);
    drawn::sequences(DRAWN * runs).into_iter().for_each(&mut add);
    drawn::laws(runs).into_iter().for_each(&mut add);
    add(drawn::designs(DRAWN * runs));
    drawn::histories(runs).into_iter().for_each(&mut add);
    searches::rows(runs.min(SEARCHES_MAX), stop)?.into_iter().for_each(&mut add);
    Ok(rows)
}

/// Tests how often the intervals of TPS, mean and percentiles in the reports of an M/M/c queue
/// contain the true values.
fn queue(
    servers: u32,
    load: f64,
    length_s: u32,
    runs: u32,
    stop: &Arc<Stop>,
) -> Result<Vec<Row>, Error> {
    let service_ns_mean = f64::from(servers) * load * 1e9 / RATE_PER_S;
    let truth = Mmc { arrivals_per_s: RATE_PER_S, service_ns_mean, servers };
    let mut counts = [(0, 0); 2 + QUANTILES.len()];
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
        let [of_tps, of_mean, of_quantiles @ ..] = &mut counts;
        add_held(of_tps, tps_interval(&report), RATE_PER_S);
        let interval = |name: &str| {
            let (low, high) = report.block.response_ms.intervals.get(name)?;
            Some((*low, (*high)?))
        };
        add_held(of_mean, interval("mean"), truth.response_ns_mean() / NS_PER_MS as f64);
        for ((name, q), count) in QUANTILES.iter().zip(of_quantiles) {
            add_held(count, interval(name), truth.response_ns_quantile(*q) / NS_PER_MS as f64);
        }
    }
    let model = format!("M/M/{servers}, load {load}, {length_s} s");
    let names = ["TPS", "mean"].into_iter().chain(QUANTILES.iter().map(|(name, _)| *name));
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
