//! Tests that the same seed gives the same data and, in virtual time, the same run; and that
//! results agree with theory.
//!
//! Not here: the recursion sample by sample (`dbdyno selfcheck`).

use serde_json::Value;

use crate::home::{Home, SMALL, at, number};
use crate::journey::nothing_is_lost;

#[test]
fn the_same_seed_builds_the_same_data_and_another_one_others() {
    let home = Home::new();
    let sums = |seed: &str, file: &str| {
        let (seed, target) = (format!("--seed={seed}"), format!("--target=sqlite:{file}"));
        home.run(&["build", "tpcc", SMALL, "--quiet", &seed, &target]).good();
        let checked = home.json(&["check", "tpcc", "--checksums", "--quiet", &target]);
        let checks = at(&checked, "checks").as_array().unwrap();
        assert!(checks.iter().all(|check| check["n_failed"] == 0), "{checks:#?}");
        at(&checked, "checksums").as_array().unwrap().clone()
    };
    let (first, again, other) = (sums("7", "a.db"), sums("7", "b.db"), sums("8", "c.db"));
    assert_eq!(first.len(), 9);
    assert_eq!(first, again);
    for (a, b) in first.iter().zip(&other) {
        assert_eq!(a["table"], b["table"]);
        // New orders are fixed, not random (clause 4.3.3.1).
        let is_given = a["table"] == "new_order";
        assert_eq!(a["checksum"] == b["checksum"], is_given, "{}", a["table"]);
    }
}

/// Runs the workload `empty` in virtual time; returns the report.
fn simulated(home: &Home, target: &str, args: &[&str]) -> Value {
    let target = format!("--target=sim:?{target}");
    let fixed = ["run", "empty", &target, "--placement=simulated", "--no-store", "--quiet"];
    let report = home.report_with_code(0, &[&fixed[..], args].concat());
    nothing_is_lost(&report);
    report
}

#[test]
fn a_simulated_run_is_the_same_whenever_it_is_run() {
    let home = Home::new();
    let run = |seed: &str| {
        let target = "servers=2&service=exponential:3ms&fail=0.01:deadlock/0.001:connection_lost";
        let args = ["--load=open", "--rate=500", "--clients=4", "--duration=20s", seed];
        let mut report = simulated(&home, target, &args);
        // Remove only what depends on the machine and the time.
        for of_now in ["run_id", "started", "facts", "client"] {
            assert!(report.as_object_mut().unwrap().remove(of_now).is_some(), "{of_now}");
        }
        report
    };
    let (first, again, other) = (run("--seed=3"), run("--seed=3"), run("--seed=4"));
    assert!(number(&first, "counts.retried") > 0.0, "nothing failed, so nothing is shown by it");
    assert_eq!(first, again);
    assert_ne!(first["response_ms"], other["response_ms"]);
}

/// Output of dbdyno 0.1.0 for two simulated runs. Its means per transaction are replaced by those
/// of transactions that ended in the window, which 0.1.0 mixed with those intended in it.
const FIGURES: &str = include_str!("../../tests-data/figures-of-sim.json");

#[test]
fn the_same_seed_gives_the_figures_of_before() {
    let home = Home::new();
    let before: Value = serde_json::from_str(FIGURES).expect("it is JSON");
    let target = "servers=2&service=exponential:3ms&fail=0.01:deadlock/0.001:connection_lost";
    let fixed = ["--ramp-up=1s", "--duration=4s", "--seed=3", "--per-client"];
    let closed = ["--load=closed", "--clients=3"];
    let open = ["--load=open", "--rate=700", "--clients=4", "--queue=50"];
    for (name, load) in [("closed", &closed[..]), ("open", &open[..])] {
        let report = simulated(&home, target, &[&fixed[..], load].concat());
        has_all_of(&report, at(&before, name), name);
    }
}

/// Asserts that `now` has all that `before` has. Additional fields are no difference.
#[track_caller]
fn has_all_of(now: &Value, before: &Value, path: &str) {
    match before {
        Value::Object(fields) => {
            for (name, before) in fields {
                has_all_of(&now[name], before, &format!("{path}.{name}"));
            }
        }
        Value::Array(values) => {
            assert_eq!(now.as_array().map(Vec::len), Some(values.len()), "{path}: {now}");
            for (index, before) in values.iter().enumerate() {
                has_all_of(&now[index], before, &format!("{path}.{index}"));
            }
        }
        before => assert_eq!(now, before, "{path}"),
    }
}

#[test]
fn the_mean_response_time_of_an_mm1_queue_is_that_of_theory() {
    let home = Home::new();
    // 700 arrivals per second at a server with 1,000: 1 / (1000 - 700) s.
    let theory_ms = 1e3 / (1000.0 - 700.0);
    let mean_ms = |seed: u64| {
        let seed = format!("--seed={seed}");
        let args = ["--load=open", "--rate=700", "--ramp-up=1s", "--duration=20s", &seed];
        let args = [&args[..], &["--clients=1", "--queue=1000000"]].concat();
        let report = simulated(&home, "servers=1&service=exponential:1ms", &args);
        assert_eq!(number(&report, "counts.dropped"), 0.0);
        number(&report, "response_ms.mean")
    };
    let means: Vec<f64> = (1..=20).map(mean_ms).collect();
    let n = means.len() as f64;
    let mean = means.iter().sum::<f64>() / n;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let standard_error = (variance / n).sqrt();
    assert!(standard_error < 0.05 * theory_ms, "{standard_error} ms would prove nothing");
    let off = (mean - theory_ms).abs() / standard_error;
    assert!(off < 3.0, "{mean} ms is {off:.1} standard errors from {theory_ms}: {means:?}");
}

#[test]
fn an_overload_ends_with_its_losses_counted_and_shown() {
    let home = Home::new();
    // Four clients at 10 ms reach 400 per second.
    let args = ["--load=open", "--rate=1000", "--queue=200", "--clients=4", "--duration=10s"];
    let report = simulated(&home, "servers=4&service=constant:10ms", &args);
    let count = |name: &str| number(&report, &format!("counts.{name}"));
    let dropped = count("dropped") / count("offered");
    assert!((0.55..0.65).contains(&dropped), "{dropped} of all were dropped");
    let offered = at(&report, "offered_ms");
    assert_eq!(offered["p99"], Value::Null);
    assert!(!at(offered, "reasons.p99").as_str().unwrap().is_empty());
    let infinite = at(offered, "infinite").as_array().unwrap();
    assert!(infinite.iter().any(|name| name == "p99"), "{offered}");
    assert!(number(&report, "response_ms.p99") > 400.0, "those who were served had to wait");
    assert!(number(&report, "service_ms.p99") < 11.0, "but not for the database");
    assert!((number(&report, "tps") - 400.0).abs() < 2.0);
    let findings = at(&report, "findings").as_array().unwrap();
    assert!(findings.iter().any(|f| f["id"] == "dropped_arrivals"), "{findings:#?}");
}

#[test]
fn stretches_of_any_length_tell_the_share_of_waiting() {
    let home = Home::new();
    let load = ["--load=open", "--rate=1500", "--clients=4", "--ramp-up=2s", "--duration=30s"];
    let stretches = |interval: &str| {
        let shown = simulated(
            &home,
            "service=exponential:2ms&servers=4",
            &[&load[..], &[interval]].concat(),
        );
        at(&shown, "intervals").as_array().unwrap().clone()
    };
    let waits = |intervals: &[Value]| -> Vec<f64> {
        intervals.iter().map(|interval| number(interval, "wait_percent")).collect()
    };
    let ten = waits(&stretches("--report-interval=10s"));
    for (interval, count) in [
        ("--report-interval=1s", 30),
        ("--report-interval=4s", 8),
        ("--report-interval=5s", 6),
        ("--report-interval=15s", 2),
    ] {
        let found = waits(&stretches(interval));
        assert_eq!(found.len(), count, "{interval}");
        // The same transactions wait, whatever the report interval.
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
        assert!((mean(&found) - mean(&ten)).abs() < 4.0, "{interval}: {found:?} and {ten:?}");
    }
}

#[test]
fn a_queue_that_may_not_fill_ends_the_run_as_asked() {
    let home = Home::new();
    let args = ["run", "empty", "--target=sim:?service=constant:10ms", "--placement=simulated"];
    let load = ["--load=open", "--rate=1000", "--queue=200", "--queue-full=stop", "--clients=1"];
    let ran = home.run(&[&args[..], &load, &["--duration=10s", "--output=json"]].concat());
    // The queue is full in the ramp-up: nothing was measured, which is not valid.
    let report = ran.code(1).json();
    assert_eq!(report["status"], "queue_full");
    assert_eq!(number(&report, "measured_seconds"), 0.0);
    nothing_is_lost(&report);
    let findings = at(&report, "findings").as_array().unwrap();
    let invalid: Vec<&Value> = findings.iter().filter(|f| f["severity"] == "invalid").collect();
    assert_eq!(invalid.len(), 1, "{findings:#?}");
    let text = invalid[0]["text"].as_str().unwrap();
    for words in ["full during the ramp-up", "nothing was measured", "Lower the rate"] {
        assert!(text.contains(words), "{text}");
    }
    home.run(&["runs", "show", "last", "--full"])
        .says(&["queue full before anything was measured"]);
}

#[test]
fn a_transaction_moves_as_much_in_overload_as_elsewhere() {
    let home = Home::new();
    let load = ["--load=open", "--rate=2000", "--clients=1", "--ramp-up=1s", "--duration=4s"];
    let report = simulated(&home, "servers=1&service=constant:5ms", &load);
    // The ramp-up leaves a queue that is not empty when the window ends.
    assert!(number(&report, "counts.unfinished") + number(&report, "counts.dropped") > 1000.0);
    assert_eq!(number(&report, "per_transaction.round_trips"), 1.0);
    assert_eq!(number(&report, "transactions.empty.round_trips"), 1.0);
}

#[test]
fn a_standstill_shows_in_every_arrival_that_it_delayed() {
    let home = Home::new();
    let load = ["--load=open", "--arrivals=uniform", "--rate=100", "--clients=4"];
    let args = [&load[..], &["--ramp-up=0s", "--duration=10s"]].concat();
    let target = "servers=1&service=constant:1ms&stall_at=3s&stall=1s";
    let report = simulated(&home, target, &args);
    assert_eq!(number(&report, "counts.finished"), number(&report, "counts.offered"));

    // All that arrived in second 3 waited for its end, and then for those before them.
    let second = at(&report, "seconds.3");
    assert_eq!(second["second"], 3);
    let offered = number(second, "offered");
    assert!((99.0..=101.0).contains(&offered), "{second}");
    assert!((500.0..700.0).contains(&number(second, "p50_ms")), "{second}");
    assert!((990.0..1010.0).contains(&number(second, "max_ms")), "{second}");
    let quiet_ms = 1.0;
    let response_ms = number(&report, "response_ms.mean") * number(&report, "response_ms.count");
    let others_ms = (number(&report, "response_ms.count") - offered) * quiet_ms;
    // 10 ms apart, so they wait for at least 1000, 990, ... 10 ms.
    let waited_ms: f64 = (1..100).map(|n| f64::from(n) * 10.0).sum();
    let seen_ms = response_ms - others_ms;
    assert!(seen_ms > waited_ms, "{seen_ms} ms of {waited_ms} ms were seen");

    // A client that times only its own calls would see one slow call each, and fast ones otherwise.
    let service_ms = number(&report, "transactions.empty.total_ms");
    let plain_ms = number(&report, "transactions.empty.calls") * quiet_ms;
    assert!(service_ms - plain_ms < 4.0 * 1010.0 + 4.0 * 100.0, "{service_ms} ms");
    assert!(number(&report, "service_ms.max") > 950.0);
    assert!(number(&report, "service_ms.p99") < 5.0, "more than one a client was slow");
    assert!(number(&report, "response_ms.p95") > 300.0);
}
