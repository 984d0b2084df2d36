//! Tests of clients in separate processes: they do the same as clients of one process, start
//! together, end with the run in any case, and their clocks are compared.

use std::path::Path;

use serde_json::Value;
use servers::for_tests::{MARIADB, MYSQL_5_6, POSTGRES, TestServer};

use crate::home::{Home, at, look_into, number, number_in};
use crate::journey::nothing_is_lost;
use crate::real::url_of;
use crate::waiting::{Started, eventually};

const FAILED: i32 = 1;
const INTERRUPTED: i32 = 130;

/// Returns the numbers of all clients that ran transactions, as the store has them.
fn clients(report: &Value, home: &Home) -> Vec<u64> {
    let run = report["run_id"].as_str().expect("a run");
    let whole = home.json(&["runs", "show", run, "--per-client"]);
    let list = at(&whole, "per_client").as_array().expect("a list");
    list.iter().map(|client| client["client"].as_u64().expect("a number")).collect()
}

/// Returns the offset of the clock of a client process and its error, in seconds.
fn offset(report: &Value, process: u32, when: &str) -> (f64, f64) {
    let seconds = |name: &str| {
        let name = format!("facts.processes.process_{process}_clock_offset_{when}{name}_s");
        at(report, &name).as_str().expect("a text").parse::<f64>().expect("a number")
    };
    (seconds(""), seconds("_error"))
}

#[test]
fn arrivals_and_clients_are_divided_and_none_is_lost_or_twice() {
    let args = ["run", "oltp-point-select", "--table-size=100", "--rate=200", "--clients=5"];
    let more = ["--arrivals=uniform", "--ramp-up=1s", "--duration=3s", "--output=json"];
    let run = |processes: &str| {
        let home = Home::new();
        let report = home.run(&[&args[..], &more, &[processes]].concat()).json();
        nothing_is_lost(&report);
        let clients = clients(&report, &home);
        (report, clients)
    };
    let (whole, of_one) = run("--processes=0");
    let (divided, of_three) = run("--processes=3");
    for name in ["counts.offered", "ramp_up_counts.offered"] {
        assert_eq!(number(&divided, name), number(&whole, name), "{name}");
    }
    assert_eq!(of_three, of_one);
    assert_eq!(of_three, [0, 1, 2, 3, 4]);
    assert_eq!(at(&divided, "groups.0.processes"), 3);
    assert_eq!(number(&divided, "connect_ms.count"), 5.0);
    assert!(!at(&whole, "facts").as_object().expect("facts").contains_key("processes"));
    for (process, clients) in [(1, 2), (2, 2), (3, 1)] {
        let fact = format!("facts.processes.process_{process}_clients");
        assert_eq!(at(&divided, &fact), &Value::from(format!("oltp-point-select {clients}")));
    }
}

#[test]
fn a_count_of_transactions_is_divided_and_reached_exactly() {
    let home = Home::new();
    let args = ["run", "oltp-point-select", "--table-size=100", "--clients=5", "--ramp-up=0s"];
    let more = ["--processes=3", "--output=json"];
    for (count, rest, finished) in [
        ("--transactions=1001", &[][..], 1001.0),
        ("--transactions=40 per client", &[], 200.0),
        ("--transactions=100", &["--load=open", "--rate=2000"], 100.0),
    ] {
        let report = home.run(&[&args[..], &more, &[count], rest].concat()).json();
        nothing_is_lost(&report);
        assert_eq!(number(&report, "counts.finished"), finished, "{count}");
        // The measured phase ends with the last process, whose clients have done some work.
        let (seconds, rate) = (number(&report, "measured_seconds"), number(&report, "tps"));
        assert!(seconds > 1e-4, "{seconds}");
        assert!((rate * seconds - finished).abs() < 0.01 * finished, "{rate} {seconds}");
    }
}

#[test]
fn a_full_queue_of_one_process_stops_all() {
    let home = Home::new();
    let args = ["run", "oltp-point-select", "--table-size=100", "--clients=4", "--processes=2"];
    let load = ["--load=open", "--rate=10000000", "--queue=10", "--queue-full=stop"];
    let more = ["--ramp-up=0s", "--duration=1h", "--output=json"];
    let report = home.run(&[&args[..], &load, &more].concat()).json();
    nothing_is_lost(&report);
    assert_eq!(report["status"], "queue_full");
}

#[test]
fn readers_in_two_processes_see_the_records_of_a_third_with_one_clock() {
    let home = Home::new();
    let args = ["run", "events", "--writers=3", "--readers=6", "--processes=2"];
    let more = ["--reader-hosts=2", "--rate=200kB/s", "--read-interval=20ms", "--duration=3s"];
    let last = ["--ramp-up=0s", "--output=json"];
    let report = home.run(&[&args[..], &more, &last].concat()).json();
    nothing_is_lost(&report);
    assert_eq!(at(&report, "groups.0.processes"), 0);
    assert_eq!(at(&report, "groups.1.processes"), 2);
    for process in [1, 2] {
        for when in ["first", "last"] {
            let (ahead, error) = offset(&report, process, when);
            // One machine has one clock: the rest is the origin of each process.
            assert!(ahead.abs() < error + 50e-6, "{process} {when}: {ahead} ± {error}");
            assert!(error > 0.0 && error.is_finite(), "{process} {when}: {ahead} ± {error}");
        }
    }
    let held = at(&report, "checks.after").as_array().expect("a list");
    assert!(held.iter().all(|check| check["failed"] == 0), "{held:#?}");
    // Each process has a set of result tables, and its readers use all tables of records.
    let database = look_into(&home.database("events")).expect("it is there");
    let mut read_in_all = 0;
    for host in [1, 2] {
        let number = |sql: &str| {
            let sql = format!("SELECT {sql}{host}");
            database.query_row(&sql, [], |row| row.get::<_, i64>(0)).expect("a number")
        };
        assert_eq!(number("COUNT(DISTINCT reader) FROM event_read"), 3);
        assert_eq!(number("COUNT(DISTINCT source) FROM event_read"), 3);
        // One process is one run of readers.
        assert_eq!(number("COUNT(DISTINCT run) FROM event_read"), 1);
        assert!(number("MIN(read_ns - stamped_ns) FROM event_age") > 0);
        read_in_all += number("COUNT(*) FROM event_age");
    }
    assert!(read_in_all > 0, "{read_in_all}");
    assert_eq!(at(&report, "custom_metrics")["readers.age"]["count"].as_i64(), Some(read_in_all));
    home.run(&["runs", "show", "last", "--full"]).good().says(&[
        "6 clients, a thread each, in 2 separate processes",
        "clock ahead by",
        "readers 3",
        " ± ",
    ]);
}

#[track_caller]
fn divided_on(server: &TestServer) {
    let home = Home::new();
    let target = format!("--target={}", url_of(server.shared(), "divided"));
    let args = ["run", "tpcb", &target, "--rate=60", "--duration=2s", "--ramp-up=0s"];
    for placement in ["--placement=thread", "--placement=loop"] {
        let more = ["--clients=6", "--processes=2", placement, "--output=json"];
        let report = home.run(&[&args[..], &more].concat()).json();
        nothing_is_lost(&report);
        assert!(number(&report, "counts.committed") > 0.0);
        assert_eq!(clients(&report, &home).len(), 6);
        let counted = at(&report, "crosschecks").as_array().expect("a list");
        assert!(counted.iter().all(|one| one["matches"] == true), "{counted:#?}");
        let held = at(&report, "checks.after").as_array().expect("a list");
        assert!(held.iter().all(|check| check["failed"] == 0), "{held:#?}");
    }
}

#[test]
fn clients_of_mariadb_are_divided_among_processes() {
    divided_on(&MARIADB);
}

#[test]
fn clients_of_mysql_5_6_are_divided_among_processes() {
    divided_on(&MYSQL_5_6);
}

#[test]
fn clients_of_postgres_are_divided_among_processes() {
    divided_on(&POSTGRES);
}

/// Starts a long run with two client processes, and waits until some of its seconds are stored.
fn long_run(home: &Home) -> Started {
    let args = ["run", "oltp-point-select", "--table-size=100", "--clients=4", "--processes=2"];
    let more = ["--rate=100", "--ramp-up=0s", "--duration=1h", "--output=json"];
    let mut run = home.start(&[&args[..], &more].concat());
    let (store, sql) = (home.store(), "SELECT count(*) FROM second");
    run.wait_until("seconds in the store", |_| number_in(&store, sql) >= Some(2));
    run
}

fn is_there(pid: u32) -> bool {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    Path::new(&format!("/proc/{pid}")).exists() && !words.is_empty()
}

#[test]
fn an_interrupt_ends_all_processes_and_what_they_did_is_counted() {
    let home = Home::new();
    let run = long_run(&home);
    let pids = run.children("client-process");
    assert_eq!(pids.len(), 2);
    run.interrupt();
    let report = run.end().code(INTERRUPTED).json();
    nothing_is_lost(&report);
    assert_eq!(report["status"], "interrupted");
    assert!(number(&report, "counts.committed") > 0.0);
    assert!(number(&report, "measured_seconds") < 3600.0);
    assert!(!pids.into_iter().any(is_there));
}

#[test]
fn a_process_that_is_killed_fails_the_run_and_what_was_measured_is_kept() {
    let home = Home::new();
    let run = long_run(&home);
    let killed = run.children("client-process");
    assert_eq!(killed.len(), 2);
    run.kill_children("client-process");
    let report = run.end().code(FAILED).json();
    assert_eq!(report["status"], "failed");
    assert!(number(&report, "counts.committed") > 0.0);
    let why = at(&report, "findings").to_string();
    assert!(why.contains("(oltp-point-select 2) ended during the run: signal: 9"), "{why}");
}

#[test]
fn processes_end_with_the_run_that_is_killed() {
    let home = Home::new();
    let mut run = long_run(&home);
    let pids = run.children("client-process");
    run.wait_until("both live", |_| pids.iter().all(|pid| is_there(*pid)));
    run.kill();
    let _ = run.end();
    let gone = eventually(|| !pids.iter().any(|pid| is_there(*pid)));
    assert!(gone, "they outlive the run");
}
