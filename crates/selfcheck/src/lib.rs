//! The selfcheck: tests of dbdyno itself, for exactness in virtual time, and for accuracy and cost
//! in real time.
//!
//! Most items run all of dbdyno on the simulated database `sim`. Its service times are random
//! numbers known in advance, so the true values follow from a recursion and not from another
//! measurement. Not here: any real database.

mod calibration;
mod coverage;
mod tcp;

use std::sync::Arc;

use engine::Stop;
use model::{Arrivals, NS_PER_MS, NS_PER_S, Placement};
use serde::Serialize;
use stats::{Histogram, Mm1, Range, Served, kiefer_wolfowitz};

use app::Error;
pub use calibration::{Calibrated, Calibration, calibrate};
pub use coverage::{Probed, Row, coverage, probed};
pub use tcp::{TcpAccuracy, accuracy_over_tcp};

/// The verdict on one item of the selfcheck: good, or one of two kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Good,
    /// A target is missed: dbdyno is correct, but this machine is slow or busy.
    Missed,
    /// A result is wrong, whatever the speed of the machine: dbdyno has a bug.
    Broken,
}

#[derive(Clone, Debug, Serialize)]
pub struct Item {
    /// Id of the item of the selfcheck, which stays the same between versions.
    pub id: &'static str,
    /// Description of what the item of the selfcheck tests.
    pub what: String,
    /// Measured values by name, which ends with the unit.
    pub figures: Vec<(String, f64)>,
    /// Description of the values that the item should have.
    pub target: String,
    pub verdict: Verdict,
}

/// The results of all items of the selfcheck.
#[derive(Clone, Debug, Serialize)]
pub struct SelfCheck {
    pub dbdyno: String,
    pub items: Vec<Item>,
}

impl SelfCheck {
    /// Returns true if no item is broken; missed targets are allowed.
    pub fn is_good(&self) -> bool {
        self.items.iter().all(|item| item.verdict != Verdict::Broken)
    }
}

/// Runs all items of the selfcheck. The item that compares with queueing theory makes a run with
/// each of `seeds`. Calls `shown` with each item as soon as it is done. Returns an error if stopped
/// or a run fails.
pub fn selfcheck(
    seeds: std::ops::RangeInclusive<u64>,
    stop: &Arc<Stop>,
    shown: &mut dyn FnMut(&Item),
) -> Result<SelfCheck, Error> {
    let mut items = Vec::new();
    let mut add = |item: Item| {
        shown(&item);
        items.push(item);
    };
    for servers in [1, 4] {
        add(exactness(servers, Where::Engine)?);
        add(exactness(servers, Where::Sim)?);
    }
    add(closed_form(seeds)?);
    if stop.is_asked() {
        return Err(Error::Interrupted("the selfcheck was interrupted".to_owned()));
    }
    for placement in [Placement::Thread, Placement::Loop] {
        add(accuracy(placement)?);
        add(accuracy_tcp(placement)?);
    }
    add(overhead()?);
    add(start_lag()?);
    add(crossover()?);
    Ok(SelfCheck { dbdyno: app::run::version_of_ours(), items })
}

/// Place where arrivals wait for a server of the simulated database: in dbdyno, with as many
/// clients as servers, or in `sim`, with far more clients.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Engine,
    Sim,
}

/// Creates the settings of a run in virtual time against `servers` servers of `sim` with a mean
/// service time of 2 ms, at a utilization of 0.8.
fn busy(servers: u32, queue_in: Where, seed: u64, measure_ns: u64) -> Calibration {
    Calibration {
        seed,
        sim: format!("servers={servers}&service=exponential:2ms&draws=key"),
        clients: if queue_in == Where::Engine { servers } else { 2000 },
        rate_per_s: Some(400.0 * f64::from(servers)),
        arrivals: Arrivals::Poisson,
        queue: 1_000_000,
        ramp_up_ns: 0,
        measure_ns,
        drain_ns: 3600 * NS_PER_S,
        placement: Placement::Simulated,
    }
}

/// Returns the true start and end of the service of each transaction that arrives in the measured
/// phase of `plan`, in a queue with this number of servers and exponential service times with the
/// mean `mean_ns`. Panics for closed load.
pub fn truth(plan: &Calibration, servers: usize, mean_ns: f64) -> Vec<Served> {
    let arrivals = plan.arrivals_ns();
    let service = drivers::SimService::Exponential(mean_ns);
    let draw = |n| drivers::service_draw_ns(plan.seed, &service, n as u64);
    let services: Vec<u64> = (0..arrivals.len()).map(draw).collect();
    kiefer_wolfowitz(&arrivals, &services, servers)
}

fn exactness(servers: u32, queue_in: Where) -> Result<Item, Error> {
    let plan = busy(servers, queue_in, 1, 60 * NS_PER_S);
    let truth = truth(&plan, servers as usize, 2e6);
    let ran = calibrate(&plan, true)?;
    let differs = |(nth, served): (usize, &Served)| match ran.samples.get(&(nth as u64)) {
        None => true,
        Some(sample) => {
            let starts = queue_in == Where::Sim || sample.started_ns == served.start_ns;
            !starts || sample.finished_ns != served.finish_ns
        }
    };
    let n_differ = truth.iter().enumerate().filter(|(n, s)| differs((*n, s))).count();
    let is_whole = ran.samples.len() == truth.len();
    let place = if queue_in == Where::Engine { "the engine" } else { "sim" };
    Ok(Item {
        id: match (servers, queue_in) {
            (1, Where::Engine) => "exact_m_m_1_engine",
            (1, Where::Sim) => "exact_m_m_1_sim",
            (_, Where::Engine) => "exact_m_m_4_engine",
            (_, Where::Sim) => "exact_m_m_4_sim",
        },
        what: format!(
            "M/M/{servers} in virtual time, queue in {place}: every sample against the recursion"
        ),
        figures: vec![
            ("samples".to_owned(), truth.len() as f64),
            ("samples_that_differ".to_owned(), n_differ as f64),
        ],
        target: "none differs by a nanosecond".to_owned(),
        verdict: if n_differ == 0 && is_whole { Verdict::Good } else { Verdict::Broken },
    })
}

/// Compares the mean p99 of M/M/1 over all seeds with the closed form ln 100 / (mu - lambda), in
/// standard errors.
fn closed_form(seeds: std::ops::RangeInclusive<u64>) -> Result<Item, Error> {
    let model = Mm1 { arrivals_per_s: 400.0, service_ns_mean: 2e6 };
    let expected_ms = model.response_ns_quantile(0.99) / 1e6;
    let mut p99s = Vec::new();
    for seed in seeds {
        let ran = calibrate(&busy(1, Where::Engine, seed, 300 * NS_PER_S), false)?;
        p99s.extend(ran.report.block.response_ms.p99);
    }
    let n = p99s.len() as f64;
    let mean = p99s.iter().sum::<f64>() / n;
    let variance = p99s.iter().map(|p| (p - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    let error = (variance / n).sqrt();
    let off = (mean - expected_ms).abs() / error;
    Ok(Item {
        id: "closed_form_m_m_1",
        what: format!("p99 of M/M/1 over {n} seeds against ln 100 / (mu - lambda)"),
        figures: vec![
            ("expected_p99_ms".to_owned(), expected_ms),
            ("mean_p99_ms".to_owned(), mean),
            ("standard_errors_off".to_owned(), off),
        ],
        target: "at most 3 standard errors off".to_owned(),
        verdict: if n > 1.0 && off <= 3.0 { Verdict::Good } else { Verdict::Broken },
    })
}

/// Compares response times that dbdyno measures in real time with those that a queueing recursion
/// computes for the same arrivals and service times.
fn accuracy(placement: Placement) -> Result<Item, Error> {
    let plan = Calibration {
        seed: 1,
        sim: "servers=4&service=exponential:2ms&draws=key".to_owned(),
        clients: 64,
        rate_per_s: Some(1000.0),
        arrivals: Arrivals::Poisson,
        queue: 10_000,
        ramp_up_ns: 0,
        measure_ns: 5 * NS_PER_S,
        drain_ns: 5 * NS_PER_S,
        placement,
    };
    let (arrivals, truth) = (plan.arrivals_ns(), truth(&plan, 4, 2e6));
    let ran = calibrate(&plan, true)?;
    let mut errors = Histogram::new(Range::default());
    for (nth, sample) in &ran.samples {
        let served = truth[*nth as usize];
        let expected_ns = served.finish_ns - arrivals[*nth as usize];
        errors.record(sample.response_ns().abs_diff(expected_ns));
    }
    let is_whole = ran.samples.len() == truth.len();
    let us = |ns: Option<u64>| ns.unwrap_or(0) as f64 / 1e3;
    Ok(Item {
        id: if placement == Placement::Loop { "accuracy_loop" } else { "accuracy" },
        what: format!(
            "|measured - recursion| of response times in real time, 1,000 arrivals/s, 64 clients \
             on {}",
            places(placement)
        ),
        figures: vec![
            ("samples".to_owned(), errors.count() as f64),
            ("error_p50_us".to_owned(), us(errors.quantile(0.5))),
            ("error_p99_us".to_owned(), us(errors.quantile(0.99))),
            ("error_max_us".to_owned(), us(Some(errors.max()))),
        ],
        target: "every arrival measured; p99 at most 1 ms on an idle machine".to_owned(),
        verdict: match (is_whole, us(errors.quantile(0.99))) {
            (false, _) => Verdict::Broken,
            (true, p99) if p99 > 1000.0 => Verdict::Missed,
            _ => Verdict::Good,
        },
    })
}

fn places(placement: Placement) -> &'static str {
    if placement == Placement::Loop { "event loops" } else { "threads" }
}

/// Compares, over TCP, the times at which clients received replies with the times at which a
/// scripted server wrote them.
fn accuracy_tcp(placement: Placement) -> Result<Item, Error> {
    let TcpAccuracy { n_arrivals, n_measured, errors, n_too_early, reply_lag } =
        accuracy_over_tcp(placement, 5 * NS_PER_S)?;
    let us = |ns: Option<u64>| ns.unwrap_or(0) as f64 / 1e3;
    let p99_us = us(errors.quantile(0.99));
    Ok(Item {
        id: match placement {
            Placement::Loop => "accuracy_tcp_loop",
            Placement::Thread | Placement::Simulated => "accuracy_tcp_thread",
        },
        what: format!(
            "time from a scripted server's write of a reply until it is recorded, over TCP, 1,000 \
             arrivals/s, 64 clients on {}",
            places(placement)
        ),
        figures: vec![
            ("samples".to_owned(), errors.count() as f64),
            ("error_p50_us".to_owned(), us(errors.quantile(0.5))),
            ("error_p99_us".to_owned(), p99_us),
            ("error_max_us".to_owned(), us(Some(errors.max()))),
            ("reply_lag_samples".to_owned(), reply_lag.count() as f64),
            ("reply_lag_p50_us".to_owned(), us(reply_lag.quantile(0.5))),
            ("reply_lag_p99_us".to_owned(), us(reply_lag.quantile(0.99))),
        ],
        target: "every arrival measured, no reply before it was written; p99 at most 1 ms on an \
                 idle machine"
            .to_owned(),
        verdict: match n_measured == n_arrivals && n_too_early == 0 {
            false => Verdict::Broken,
            true if p99_us > 1000.0 => Verdict::Missed,
            true => Verdict::Good,
        },
    })
}

fn overhead() -> Result<Item, Error> {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get()) as u32;
    let ran = calibrate(&flood(cores, "servers=0&service=constant:0s", 3 * NS_PER_S), false)?;
    let count = ran.report.block.counts.finished as f64;
    let cpu_ns = ran.report.client.as_ref().map_or(0.0, |client| client.cpu_seconds * 1e9);
    let cpu_each_ns = cpu_ns / count.max(1.0);
    let wall_each_ns = 3e9 * f64::from(cores) / count.max(1.0);
    Ok(Item {
        id: "overhead",
        what: format!(
            "one transaction of `empty` with one statement, recording included, {cores} clients"
        ),
        figures: vec![
            ("transactions".to_owned(), count),
            ("cpu_ns_per_transaction".to_owned(), cpu_each_ns),
            ("core_ns_per_transaction".to_owned(), wall_each_ns),
        ],
        target: "at most 500 ns of a core".to_owned(),
        verdict: match () {
            () if count < 1.0 => Verdict::Broken,
            () if cpu_each_ns > 500.0 => Verdict::Missed,
            () => Verdict::Good,
        },
    })
}

fn flood(clients: u32, sim: &str, measure_ns: u64) -> Calibration {
    Calibration {
        seed: 1,
        sim: sim.to_owned(),
        clients,
        rate_per_s: None,
        arrivals: Arrivals::Poisson,
        queue: 0,
        ramp_up_ns: 0,
        measure_ns,
        drain_ns: NS_PER_S,
        placement: Placement::Thread,
    }
}

fn start_lag() -> Result<Item, Error> {
    let plan = Calibration {
        rate_per_s: Some(5000.0),
        queue: 100_000,
        ..flood(32, "servers=0&service=constant:0s", 4 * NS_PER_S)
    };
    let ran = calibrate(&plan, false)?;
    let counts = &ran.report.block.counts;
    let is_whole = counts.offered == plan.arrivals_ns().len() as u64;
    let lag = &ran.report.block.lag_us;
    let p99 = lag.p99.unwrap_or(0.0);
    Ok(Item {
        id: "start_lag",
        what: "start delay of the generator at 5,000 arrivals/s with 32 clients".to_owned(),
        figures: vec![
            ("arrivals".to_owned(), counts.offered as f64),
            ("lag_p50_us".to_owned(), lag.p50.unwrap_or(0.0)),
            ("lag_p99_us".to_owned(), p99),
            ("lag_max_us".to_owned(), lag.max.unwrap_or(0.0)),
        ],
        target: "every arrival offered; p99 at most 100 us on an idle machine".to_owned(),
        verdict: match is_whole {
            false => Verdict::Broken,
            true if p99 > 100.0 => Verdict::Missed,
            true => Verdict::Good,
        },
    })
}

/// Measures the CPU time per transaction on threads and on event loops, and reports the first of
/// four numbers of clients at which loops need less. Each client waits 1 to 51 ms for a reply,
/// longer with more clients.
fn crossover() -> Result<Item, Error> {
    let mut figures = Vec::new();
    let mut crossover = None;
    for clients in [16u32, 64, 256, 1024] {
        let wait_ms = (u64::from(clients) / 20).max(1);
        let sim = format!("servers=0&service=constant:{wait_ms}ms");
        let mut cost = |placement: Placement, name: &str| -> Result<f64, Error> {
            let plan = Calibration { placement, ..flood(clients, &sim, 700 * NS_PER_MS) };
            let ran = calibrate(&plan, false)?;
            let count = ran.report.block.counts.finished.max(1) as f64;
            let cpu_us = ran.report.client.as_ref().map_or(0.0, |c| c.cpu_seconds * 1e6);
            figures.push((format!("{name}_{clients}_cpu_us"), cpu_us / count));
            Ok(cpu_us / count)
        };
        let threads = cost(Placement::Thread, "thread")?;
        let loops = cost(Placement::Loop, "loop")?;
        if loops < threads && crossover.is_none() {
            crossover = Some(clients);
        }
    }
    if let Some(clients) = crossover {
        figures.push(("crossover_clients".to_owned(), f64::from(clients)));
    }
    Ok(Item {
        id: "placement_crossover",
        what: "CPU per transaction of waiting clients, a thread each against event loops"
            .to_owned(),
        figures,
        target: "for information: `auto` takes loops for more closed clients than cores (256 if \
                 the server has a thread for each), and for more than 512 clients of other loads"
            .to_owned(),
        verdict: Verdict::Good,
    })
}
