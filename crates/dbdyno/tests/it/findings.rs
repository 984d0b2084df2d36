//! Tests that real runs raise the right findings, and no others: with all of dbdyno, on simulated
//! databases in virtual and in real time and on SQLite.
//!
//! Not here: findings of servers and their crashes (outage, nodes, settings), and of disturbances
//! (disturbances).

use std::collections::BTreeSet;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::Value;

use crate::enough::report_once;
use crate::home::{Home, at, number};
use crate::outage::wait_for_seconds;

/// Ids of findings that every run of these tests has, since it is a debug build and the load is
/// closed.
const ALWAYS: [&str; 2] = ["closed_load", "debug_build"];

/// Arguments of a run of a minute in virtual time, on a simulated database of four servers with 2
/// ms each.
const PLAIN: [&str; 6] = [
    "run",
    "empty",
    "--target=sim:?service=exponential:2ms&servers=4",
    "--placement=simulated",
    "--duration=60s",
    "--clients=8",
];

/// Runs dbdyno with these flags, which override those of [`PLAIN`]; returns the report.
fn report(home: &Home, flags: &[&str]) -> Value {
    let is_given = |word: &&str| {
        let key = |word: &str| word.split_once('=').map(|(key, _)| key.to_owned());
        key(word).is_some_and(|name| flags.iter().any(|flag| key(flag).as_ref() == Some(&name)))
    };
    let mut args: Vec<&str> = PLAIN.into_iter().filter(|word| !is_given(word)).collect();
    args.extend(flags);
    args.extend(["--quiet", "--output=json"]);
    home.run(&args).json()
}

fn ids(report: &Value) -> BTreeSet<&str> {
    let findings = at(report, "findings").as_array().expect("a list");
    findings.iter().map(|finding| finding["id"].as_str().expect("an id")).collect()
}

/// Asserts that a run with these flags raises exactly these findings and those in [`ALWAYS`].
#[track_caller]
fn raises(home: &Home, flags: &[&str], expect: &[&str]) {
    let report = report(home, flags);
    let is_open = flags.contains(&"--load=open");
    let always = ALWAYS.iter().filter(|id| !is_open || **id != "closed_load");
    let expect: BTreeSet<&str> = always.chain(expect).copied().collect();
    assert_eq!(ids(&report), expect, "{flags:?}: {:#}", at(&report, "findings"));
}

#[test]
fn a_plain_run_raises_nothing_but_how_it_was_built_and_loaded() {
    raises(&Home::new(), &[], &[]);
}

#[test]
fn a_generator_that_stands_still_says_so_and_when() {
    let home = Home::new();
    let target = "--target=sim:?service=constant:1ms";
    let args = ["run", "empty", target, "--duration=1h", "--ramp-up=0s", "--clients=1"];
    let mut run = home.start(&[&args[..], &["--output=json"]].concat());
    run.wait_until("the load", |said| said.contains("0 s of 1h"));
    run.pause(Duration::from_millis(900));
    let report = report_once(&home, run, "a second after it", |report| {
        report["seconds"].as_array().is_some_and(|seconds| seconds.len() > 2)
    });
    let findings = at(&report, "findings").as_array().expect("a list");
    let found = findings.iter().find(|one| one["id"] == "generator_paused");
    let text = found.and_then(|one| one["text"].as_str()).unwrap_or_else(|| panic!("{report:#}"));
    // A busy machine may pause it more often.
    assert!(text.contains("was paused ") && text.contains("; the longest pause took "), "{text}");
    let at_s: f64 =
        at(&report, "facts.client.longest_pause_at_s").as_str().expect("text").parse().expect("s");
    // The pause may have begun before the first transaction, or another one was longer.
    assert!(at_s < number(&report, "measured_seconds"), "{text}");
}

#[test]
fn a_p99_among_what_was_lost_is_above_all_others_in_lists() {
    let home = Home::new();
    let fast = ["--name=fast", "--load=open", "--rate=100", "--duration=10s"];
    let lossy = ["--name=lossy", "--load=open", "--rate=4000", "--queue=10", "--duration=10s"];
    report(&home, &fast);
    report(&home, &lossy);
    let listed = home.run(&["runs", "list", "--where", "p99>1h", "--output=csv"]).good().out;
    assert!(listed.contains(",lossy,") && listed.contains(",inf,"), "{listed}");
    assert!(!listed.contains(",fast,"), "{listed}");
    let all = home.json(&["runs", "list", "--sort=-p99"]);
    let first = &at(&all, "runs")[0];
    assert_eq!((&first["name"], &first["p99_is_infinite"]), (&"lossy".into(), &true.into()));
    home.run(&["runs", "list"]).good().says(&["∞"]);
}

#[test]
fn a_run_is_long_enough_and_warmed_up_or_says_so() {
    let home = Home::new();
    raises(&home, &["--duration=9s"], &["short"]);
    raises(&home, &["--duration=500ms"], &["too_short"]);
    raises(&home, &["--ramp-up=0s"], &["no_ramp_up"]);
    let slow = "--target=sim:?service=exponential:2ms&servers=4&connect=3s";
    raises(&home, &[slow, "--ramp-up=1s"], &["short_ramp_up"]);
    raises(&home, &[slow, "--ramp-up=4s"], &[]);
    let rare = "--target=sim:?service=exponential:500ms&servers=4";
    raises(&home, &[rare], &["few_samples"]);
}

#[test]
fn a_run_that_is_not_steady_says_so() {
    let home = Home::new();
    let sim = |option: &str| format!("--target=sim:?service=exponential:2ms&servers=4&{option}");
    raises(&home, &[&sim("slowing=12")], &["drifting"]);
    raises(&home, &[&sim("slowing=2")], &[]);
    raises(&home, &[&sim("stall_at=30s&stall=300ms")], &["stalled"]);
    raises(&home, &[&sim("stall_at=30s&stall=20s")], &["stalled", "uneven"]);
}

#[test]
fn arrivals_that_cannot_be_taken_are_told_apart_from_a_queue_that_is_too_small() {
    let home = Home::new();
    let open = |rate: &'static str, more: &[&'static str], expect: &[&str]| {
        let flags = [&["--load=open", "--clients=4", rate], more].concat();
        raises(&home, &flags, expect);
    };
    open("--rate=1000", &[], &[]);
    open("--rate=1400", &["--queue=2"], &["dropped_arrivals", "queue_too_small"]);
    let late = ["dropped_arrivals", "backlog_at_start"];
    open("--rate=3000", &["--queue=500", "--ramp-up=10s"], &late);
    let grows = ["backlog_at_start", "queue_grew", "unfinished"];
    open("--rate=3000", &["--queue=100000", "--drain=1s"], &grows);
    // A long drain does not hide it.
    open("--rate=2100", &["--queue=100000", "--drain=1h"], &["backlog_at_start", "queue_grew"]);
    // A late step of the rate lets a queue grow too.
    let late = "--rate=steps 1000 for 46s, 2600";
    open(late, &["--queue=100000", "--drain=1h"], &["queue_grew"]);
    // Too late, or in too short a window, to show growth: it is a backlog.
    let late = "--rate=steps 1000 for 57s, 2600";
    open(late, &["--queue=100000", "--drain=1h"], &["queue_at_end"]);
    let short = ["--queue=100000", "--drain=1h", "--duration=5s", "--ramp-up=0s"];
    open("--rate=2600", &short, &["queue_at_end", "short", "no_ramp_up"]);
    let stopped = ["--queue=100", "--queue-full=stop", "--duration=20s", "--ramp-up=0s"];
    let flags = [&["--load=open", "--clients=4", "--rate=3000"][..], &stopped].concat();
    let report = report(&home, &flags);
    assert!(ids(&report).contains("queue_full"), "{:#}", at(&report, "findings"));
}

#[test]
fn failures_are_reported_by_their_share() {
    let home = Home::new();
    let sim = "--target=sim:?service=exponential:2ms&servers=4";
    let failing = |fail: &str| format!("{sim}&fail={fail}");
    raises(&home, &[&failing("0.05:deadlock")], &["retried"]);
    raises(&home, &[&failing("0.05:missing")], &["failed"]);
    let all = report(&home, &[&failing("1:missing")]);
    // What follows from the error is not said again.
    assert!(ids(&all).contains("run_failed") && !ids(&all).contains("nothing_finished"));
    let severity = |fail: &str| {
        let report = report(&home, &[&failing(fail)]);
        let findings = at(&report, "findings").as_array().expect("a list").clone();
        let failed = findings.into_iter().find(|finding| finding["id"] == "failed");
        failed.expect("it failed")["severity"].as_str().expect("a word").to_owned()
    };
    assert_eq!(severity("0.0005:missing"), "note");
    assert_eq!(severity("0.05:missing"), "warning");
}

#[test]
fn times_beyond_what_histograms_tell_apart_are_reported() {
    let home = Home::new();
    let slow = "--target=sim:?service=exponential:500ms&servers=4";
    raises(&home, &[slow, "--histogram-max=1s"], &["overflow", "few_samples"]);
    raises(&home, &[slow, "--histogram-max=1h"], &["few_samples"]);
}

/// Overloads the generator in real time. In virtual time no run has this finding, and on a busy
/// machine every generator waits for CPUs.
#[test]
fn a_generator_that_is_the_bottleneck_says_so() {
    let home = Home::new();
    // A database that replies at once, so that all time is the generator's own, and many times more
    // threads than CPUs.
    let clients = 16 * std::thread::available_parallelism().map_or(1, |n| n.get());
    let clients = format!("--clients={clients}");
    let real = ["--placement=thread", "--duration=2s", "--ramp-up=500ms", "--target=sim:"];
    let found = report(&home, &[&real[..], &[&clients]].concat());
    let is_reported = |id: &str| ids(&found).contains(id);
    let is_found = is_reported("generator_saturated") || is_reported("client_time_outside");
    assert!(is_found, "{:#}", at(&found, "findings"));
}

/// Pauses the generator while arrivals come due. The first of them find all clients idle, and start
/// late.
#[test]
fn a_generator_that_is_late_says_so() {
    let home = Home::new();
    let target = "--target=sim:?servers=0";
    let open = ["run", "empty", target, "--load=open", "--rate=100", "--arrivals=uniform"];
    let more = ["--clients=100", "--duration=1h", "--ramp-up=0s", "--placement=thread"];
    let mut run = home.start(&[&open[..], &more, &["--output=json"]].concat());
    // By then all clients wait for arrivals that they have claimed.
    wait_for_seconds(&home, &mut run, 2);
    run.pause(Duration::from_millis(900));
    let report = report_once(&home, run, "enough samples for a p99", |report| {
        number(report, "counts.finished") >= 500.0
    });
    assert!(ids(&report).contains("generator_lag"), "{:#}", at(&report, "findings"));
    assert!(number(&report, "lag_us.max") >= 500_000.0, "{:#}", at(&report, "lag_us"));
}

#[test]
fn an_embedded_database_and_what_it_may_lose_are_reported() {
    let home = Home::new();
    let sqlite = |options: &str| {
        let target = format!("--target=sqlite:{}{options}", home.path("own.db").display());
        let args = ["run", "oltp-point-select", "--table-size=100", "--duration=1s", &target];
        home.run(&[&args[..], &["--rate=100", "--quiet", "--output=json"]].concat()).json()
    };
    let durable = sqlite("?synchronous=full");
    assert!(ids(&durable).contains("same_host") && !ids(&durable).contains("not_durable"));
    assert!(ids(&sqlite("?synchronous=off")).contains("not_durable"));
    let data = Connection::open(home.path("own.db")).expect("a database");
    data.execute("DROP TABLE dbdyno_meta", ()).expect("a table");
    drop(data);
    assert!(!ids(&durable).contains("data_unknown"));
    assert!(ids(&sqlite("?synchronous=full")).contains("data_unknown"));
}

#[test]
fn an_experiment_whose_points_did_not_take_turns_says_so() {
    let home = Home::new();
    let walk = |order: &str| {
        let order = format!("--order={order}");
        let args = [&PLAIN[..5], &["--vary=clients=2,4", "--repeat=2", "--quiet", &order]].concat();
        let short = |arg| if arg == "--duration=60s" { "--duration=2s" } else { arg };
        home.json(&args.into_iter().map(short).collect::<Vec<&str>>())
    };
    let blocked = walk("sequential");
    assert_eq!(at(&blocked, "findings.0.id"), "points_not_interleaved");
    assert_eq!(number(&blocked, "trials_done"), 4.0);
    assert_eq!(at(&walk("interleaved"), "findings").as_array().map(Vec::len), Some(0));
}

#[test]
fn the_list_of_findings_is_what_reports_say() {
    let home = Home::new();
    let listed = home.json(&["list", "findings"]);
    let listed = listed.as_array().expect("a list");
    let report = report(&home, &["--duration=9s"]);
    for finding in at(&report, "findings").as_array().expect("a list") {
        let entry = listed.iter().find(|known| known["id"] == finding["id"]);
        let entry = entry.unwrap_or_else(|| panic!("{finding} is not listed"));
        assert!(entry["severity"].as_array().expect("a list").contains(&finding["severity"]));
        let (text, advice) = (finding["text"].as_str(), entry["advice"].as_str());
        assert!(text.expect("text").ends_with(advice.expect("advice")), "{finding}");
    }
    let page = home.run(&["list", "findings", "--output=markdown"]).good();
    page.says(&["# Findings", "| `stalled` |"]);
    home.run(&["list", "findings"]).good().says(&["queue_too_small"]);
}
