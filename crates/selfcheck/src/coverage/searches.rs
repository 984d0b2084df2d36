//! Rows of the coverage table for searches on queues with random times, whose boundary (highest
//! rate that meets the objective) is known in closed form.

use std::sync::Arc;

use engine::Stop;
use model::{NS_PER_S, Objective, Rng, Second, Stream};
use stats::{Mmc, exponential, kiefer_wolfowitz};
use study::seek::{Answer, Judged, Late, METHOD, PlannedProbe, Probe, SearchStrategy, Verdict};

use super::row::Row;
use app::Error;

/// Number of servers of the simulated queue, which can serve 400 requests per second. The objective
/// is the p99 that the queue has at one of the utilizations in [`LOADS`].
const SERVERS: u32 = 4;
const SERVICE_NS: f64 = 1e7;
const LOADS: [f64; 2] = [0.85, 0.90];

/// Time budget of each search in nanoseconds: the default of dbdyno.
const BUDGET_NS: u64 = 600 * NS_PER_S;
const RAMP_UP_NS: u64 = 2 * NS_PER_S;

/// Requests of one probe (run of a search), made by a simulation of a queue outside of dbdyno.
#[derive(Clone, Debug)]
pub struct Probed {
    /// Arrival and response time of each request in nanoseconds, in the order of arrival.
    pub requests: Vec<(u64, u64)>,
    /// Duration of the ramp-up, in nanoseconds.
    pub ramp_up_ns: u64,
    /// Duration of the probe including its ramp-up, in nanoseconds.
    pub length_ns: u64,
    /// Number of servers of the queue, and so the number of requests that may be in progress at the
    /// end of the probe.
    pub servers: u32,
}

/// Judges simulated requests as a search judges a probe, by an objective on a time.
pub fn probed(probe: &Probed, objective: Objective) -> Judged {
    let mut seconds: Vec<Second> = Vec::new();
    let (mut offered, mut done) = (0.0, 0.0);
    for (arrival_ns, response_ns) in &probe.requests {
        let Some(since_ns) = arrival_ns.checked_sub(probe.ramp_up_ns) else { continue };
        let index = (since_ns / NS_PER_S) as usize;
        while seconds.len() <= index {
            seconds.push(Second::new(0, seconds.len() as i64));
        }
        let kind = seconds[index].kind(0);
        kind.counts.committed += 1;
        kind.response.get_or_insert_default().record(*response_ns);
        offered += 1.0;
        done += f64::from(arrival_ns + response_ns <= probe.length_ns);
    }
    let mut late = Late::new(&[objective]);
    seconds.iter().for_each(|second| late.add(second));
    let beyond = late.beyond(&objective).expect("requests");
    // Running requests at the end are not late.
    let is_broken = done + f64::from(probe.servers) < 0.99 * offered && beyond.ratio <= 1.0;
    let verdict = if is_broken { Verdict::Fails } else { Verdict::Undecided };
    Judged { is_broken, ..Judged::new(verdict, vec![beyond]) }
}

fn draw(planned: &PlannedProbe, seed: u64) -> Probed {
    let mut rng = Rng::new(seed, Stream::Order, 1);
    let length_ns = RAMP_UP_NS + planned.measure_ns;
    let (mut arrivals, mut services, mut now_ns) = (Vec::new(), Vec::new(), 0.0);
    while now_ns < length_ns as f64 {
        now_ns += exponential(rng.bits()) * 1e9 / planned.at;
        arrivals.push(now_ns as u64);
        services.push((SERVICE_NS * exponential(rng.bits())) as u64);
    }
    let served = kiefer_wolfowitz(&arrivals, &services, SERVERS as usize);
    let request =
        |(arrival, served): (&u64, &stats::Served)| (*arrival, served.finish_ns - arrival);
    let requests = arrivals.iter().zip(&served).map(request).collect();
    Probed { requests, ramp_up_ns: RAMP_UP_NS, length_ns, servers: SERVERS }
}

/// Runs `runs` searches of each queue, and tests whether their intervals contain the true boundary
/// and whether confirmed values exceed it.
pub(super) fn rows(runs: u32, stop: &Arc<Stop>) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for load in LOADS {
        let truth = load * f64::from(SERVERS) * 1e9 / SERVICE_NS;
        let known = Mmc { arrivals_per_s: truth, service_ns_mean: SERVICE_NS, servers: SERVERS };
        let bound_ns = known.response_ns_quantile(0.99) as u64;
        let objective: Objective = format!("p99<{bound_ns}ns").parse().expect("an objective");
        let course = SearchStrategy {
            low: truth / 7.0,
            high: truth * 3.0,
            is_whole: false,
            budget_ns: BUDGET_NS,
            ramp_up_ns: RAMP_UP_NS,
            method: METHOD,
        };
        let (mut given, mut held, mut confirmed, mut above) = (0, 0, 0, 0);
        for seed in 1..=u64::from(runs) {
            if stop.is_asked() {
                return Err(Error::Interrupted("the selfcheck was interrupted".to_owned()));
            }
            let mut probes: Vec<Probe> = Vec::new();
            while let Some(planned) = course.next(&probes) {
                let seed = Rng::new(seed, Stream::Order, probes.len() as u64).bits();
                let judged = probed(&draw(&planned, seed), objective);
                probes.push(Probe { planned, judged });
            }
            let found = course.conclude(&probes);
            if let Answer::Found { low, high, .. } = found.answer {
                given += 1;
                held += u32::from(low <= truth && truth <= high);
            }
            if found.confirmed == Some(true) {
                confirmed += 1;
                above += u32::from(found.answer.recommended().is_some_and(|value| value > truth));
            }
        }
        let model = format!("search of p99, M/M/{SERVERS}, boundary at load {load}, 600 s");
        let target = (0.9, 0.9, "at least 90 %");
        rows.push(Row::at_least("interval of the boundary", &model, target, (runs, given, held)));
        let wrong = "the confirmed value lies above";
        rows.push(Row::of_errors(wrong, &model, 0.05, "at most 5 %", (confirmed, above)));
    }
    Ok(rows)
}
