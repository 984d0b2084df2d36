//! Tests that a generator which limits the rate is detected, with a real server on a CPU of its own
//! if the machine has two.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::Value;
use servers::Server;
use servers::for_tests::POSTGRES;

use crate::enough::report_once;
use crate::home::{Home, at, number};
use crate::outage::wait_for_seconds;
use crate::real::url;
use crate::waiting::Started;

/// Returns the first and last CPU that these tests may use: one for the generator, one for the
/// server. They are equal if there is only one.
fn cpus() -> (usize, usize) {
    let allowed = sched_getaffinity(None).expect("it can be asked");
    let mut all = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
    let first = all.next().expect("we run on one");
    (first, all.next_back().unwrap_or(first))
}

fn set_of(cpu: usize) -> CpuSet {
    let mut set = CpuSet::new();
    set.set(cpu);
    set
}

/// Starts a server whose sessions all run on one CPU; returns it with its URL.
fn pinned() -> (Server, String) {
    let server = POSTGRES.start();
    let id = server.process_id().and_then(|id| Pid::from_raw(id as i32)).expect("it runs");
    // Later processes of the server inherit the CPU.
    sched_setaffinity(Some(id), &set_of(cpus().1)).expect("it is allowed");
    let target = format!("--target={}", url(&server));
    (server, target)
}

/// Starts a run of some seconds on the generator's CPU.
fn start(home: &Home, load: &[&str], target: &str, placement: &str) -> Started {
    start_for("3s", home, load, target, placement)
}

fn start_for(duration: &str, home: &Home, load: &[&str], target: &str, placement: &str) -> Started {
    let mut command = home.command("taskset");
    command.args(["--cpu-list", &cpus().0.to_string(), env!("CARGO_BIN_EXE_dbdyno"), "run"]);
    command.args(load).args([target, "--placement", placement, "--output=json"]);
    command.args(["--clients=16", "--ramp-up=500ms", "--duration", duration, "--check=off"]);
    Started::new(command)
}

const POINT_SELECTS: [&str; 3] = ["oltp-point-select", "--tables=1", "--table-size=1000"];
/// Flags of a load whose queries take a second, far longer than a thread of the generator waits for
/// a CPU.
const SLOW: [&str; 4] =
    ["oltp-point-select", "--tables=1", "--table-size=1000", "--network-delay=500ms"];

/// Returns the text of the finding `generator_saturated` in a report; empty if there is none.
fn saturated(report: &Value) -> &str {
    finding(report, "generator_saturated").and_then(|one| one["text"].as_str()).unwrap_or_default()
}

fn finding<'r>(report: &'r Value, id: &str) -> Option<&'r Value> {
    let findings = at(report, "findings").as_array().expect("a list");
    findings.iter().find(|finding| finding["id"] == id)
}

/// Threads that keep the generator's CPU busy until this value is dropped.
struct Burners {
    are_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Burners {
    fn start(n_threads: usize) -> Burners {
        let are_over = Arc::new(AtomicBool::new(false));
        let (cpu, _) = cpus();
        let burn = |_| {
            let are_over = Arc::clone(&are_over);
            thread::spawn(move || {
                sched_setaffinity(None, &set_of(cpu)).expect("it is allowed");
                while !are_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        let threads = (0..n_threads).map(burn).collect();
        Burners { are_over, threads }
    }
}

impl Drop for Burners {
    fn drop(&mut self) {
        self.are_over.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| thread.join().expect("nothing went wrong"));
    }
}

#[test]
fn a_generator_that_shares_its_cpu_beside_a_fast_server_is_found() {
    let (_server, target) = pinned();
    for placement in ["loop", "thread"] {
        let home = Home::new();
        let run = start_for("1h", &home, &POINT_SELECTS, &target, placement);
        let burners = Burners::start(8);
        // A few seconds contain too few spells of stamped replies to meet a wait.
        let report = report_once(&home, run, "a generator that waits", |report| {
            let percent = report["reply_lag_us"]["service"]["generator_percent"].as_f64();
            !saturated(report).is_empty() && percent.is_some_and(|percent| percent > 10.0)
        });
        // For threads, the kernel counts the wait of all of them, which is known at the end.
        if placement == "thread" {
            let percent = at(&report, "facts.client.run_delay_share_percent").as_str();
            let percent: f64 = percent.and_then(|percent| percent.parse().ok()).expect("a number");
            assert!(percent > 10.0, "{percent} % of the service time");
        }
        drop(burners);
    }
}

#[test]
fn a_generator_that_was_stopped_is_found_with_its_reply_lag() {
    let (_server, target) = pinned();
    for placement in ["loop", "thread"] {
        let home = Home::new();
        let mut run = start(&home, &POINT_SELECTS, &target, placement);
        wait_for_seconds(&home, &mut run, 2);
        // Long enough for the server to reply meanwhile, even if its CPU is busy.
        run.pause(Duration::from_secs(1));
        let report = run.end().json();
        let longest_us = number(&report, "reply_lag_us.max");
        assert!(longest_us >= 45_000.0, "{placement}: {:#}", report["reply_lag_us"]);
        assert!(number(&report, "reply_lag_us.late") > 0.0);
        // A longer pause is reported as such.
        let is_found =
            !saturated(&report).is_empty() || finding(&report, "generator_paused").is_some();
        assert!(is_found, "{placement}: {:#}", report["findings"]);
    }
}

#[test]
fn an_idle_generator_is_not_found() {
    let (_server, target) = pinned();
    let home = Home::new();
    let report = start(&home, &SLOW, &target, "thread").end().json();
    // If other programs take the CPU, the counters show it and the finding is right.
    let waited = at(&report, "facts.client.run_delay_share_percent").as_str();
    let waited: f64 = waited.and_then(|percent| percent.parse().ok()).expect("a number");
    // Few replies give no share.
    let lag = at(&report, "reply_lag_us");
    let lain = lag["service"]["generator_percent"].as_f64().unwrap_or(0.0);
    let longest_us = lag["max"].as_f64().unwrap_or(0.0);
    let is_late = longest_us / 1e3 > number(&report, "service_ms.p50");
    let is_in_the_way = waited > 10.0 || lain > 10.0 || is_late;
    assert_eq!(!saturated(&report).is_empty(), is_in_the_way, "{:#}", report["facts"]["client"]);
    // A loop wakes often; if others use its CPU, its wait for that is reported.
    let report = start(&home, &SLOW, &target, "loop").end().json();
    let percents = at(&report, "facts.client.loop_busy_percent").to_string();
    let percents = percents.split(|c: char| !c.is_ascii_digit() && c != '.');
    let busiest = percents.filter_map(|text| text.parse().ok()).fold(0.0, f64::max);
    assert_eq!(saturated(&report).contains("was busy for"), busiest > 90.0, "{busiest}");
}
