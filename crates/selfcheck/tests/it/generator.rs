//! Tests that findings tell whether the load generator or the server limits the rate, on threads
//! and event loops.

use analysis::report::Report;
use model::{Arrivals, FactValue, NS_PER_MS, NS_PER_S, Placement};
use selfcheck::{Calibration, calibrate};

/// Runs 1.2 seconds of closed load against a simulated server, in real time.
fn ran(placement: Placement, clients: u32, sim: &str) -> Report {
    let plan = Calibration {
        seed: 1,
        sim: sim.to_owned(),
        clients,
        rate_per_s: None,
        arrivals: Arrivals::Poisson,
        queue: 0,
        ramp_up_ns: 0,
        measure_ns: 1_200 * NS_PER_MS,
        drain_ns: 5 * NS_PER_S,
        placement,
    };
    calibrate(&plan, false).expect("a run on this machine").report
}

fn fact<'r>(report: &'r Report, name: &str) -> Option<&'r FactValue> {
    report.facts.get("client")?.get(name)
}

/// Returns the text of the finding that the generator is saturated; empty if there is none.
fn saturated(report: &Report) -> &str {
    let found = report.findings.iter().find(|finding| finding.id == "generator_saturated");
    found.map_or("", |finding| finding.text.as_str())
}

/// Options of a simulated server that replies at once, so that clients only wait for the load
/// generator.
const FAST: &str = "servers=0&service=constant:0s";
/// Options of a simulated server that takes 200 ms per request, one at a time, so that each client
/// waits for seconds, far longer than for a CPU.
const SLOW: &str = "servers=1&service=constant:200ms";

/// Returns the largest percentage among the values of a fact.
fn largest(report: &Report, name: &str) -> f64 {
    let all = fact(report, name).expect("it is known").all();
    all.iter().filter_map(FactValue::as_percent).fold(0.0, f64::max)
}

#[test]
fn a_loop_that_limits_the_rate_is_saturated_and_one_that_waits_for_a_server_is_not() {
    let fast = ran(Placement::Loop, 16, FAST);
    assert!(saturated(&fast).contains("was busy for"), "{:?}", fast.facts.get("client"));
    assert_eq!(fact(&fast, "run_delay_share_percent"), None);
    let slow = ran(Placement::Loop, 16, SLOW);
    // A loop wakes often; if others use its CPU, its wait for that is reported.
    let is_busy = largest(&slow, "loop_busy_percent") > 90.0;
    let is_reported = saturated(&slow).contains("was busy for");
    assert_eq!(is_reported, is_busy, "{:?}", slow.facts.get("client"));
    assert!(largest(&slow, "loop_busy_percent") < largest(&fast, "loop_busy_percent"));
    for report in [&fast, &slow] {
        let n_loops = fact(report, "loop_busy_percent").expect("it is known").all().len();
        assert_eq!(report.loops.len(), n_loops);
        assert!(report.loops.iter().all(|of_loop| of_loop.heartbeat_lag_us.count > 0));
    }
}

#[test]
fn threads_that_limit_the_rate_are_saturated_and_those_that_wait_for_a_server_are_not() {
    // Many times more clients than CPUs.
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get()) as u32;
    let fast = ran(Placement::Thread, 8 * cpus, FAST);
    assert!(saturated(&fast).contains("waited for a CPU"), "{:?}", fast.facts.get("client"));
    let slow = ran(Placement::Thread, 16, SLOW);
    assert_eq!(saturated(&slow), "", "{:?}", slow.facts.get("client"));
    for report in [&fast, &slow] {
        assert!(report.loops.is_empty() && fact(report, "loop_busy_percent").is_none());
        assert!(fact(report, "thread_busy_percent").is_some());
        let lag = &report.block.reply_lag_us;
        assert_eq!(lag.count, 0);
        let why = lag.reasons.get("count").map(String::as_str);
        assert_eq!(why, Some("the database is not reached through a socket"));
    }
}
