//! Tests of servers that crash and return, or have a full disk: no transaction is lost, and no
//! client ends silently.

use rustix::process::{Pid, Signal, kill_process};
use servers::for_tests::{MARIADB, MYSQL_9_7, POSTGRES, TestServer};
use servers::{Kind, Server};

use crate::home::{Home, at, number, number_in};
use crate::journey::nothing_is_lost;
use crate::real::{tpcc, url};
use crate::waiting::Started;

pub(crate) fn wait_for_seconds(home: &Home, run: &mut Started, count: i64) {
    let (store, sql) = (home.store(), "SELECT count(*) FROM second");
    run.wait_until("seconds in the store", |_| number_in(&store, sql) >= Some(count));
}

fn n_seconds(home: &Home) -> i64 {
    number_in(&home.store(), "SELECT count(DISTINCT second) FROM second").unwrap_or(0)
}

/// Kills a server during a run, waits a second, starts it again, and checks the run.
pub(crate) fn crash(server: &mut Server, workload: &str, args: &[&str]) {
    let home = Home::new();
    let target = format!("--target={}", url(server));
    let fixed = ["run", workload, &target, "--ramp-up=0s", "--check=after", "--output=json"];
    let mut run = home.start(&[&fixed[..], args, &["--quiet"]].concat());
    wait_for_seconds(&home, &mut run, 2);
    server.kill().expect("killed");
    let n = n_seconds(&home);
    run.wait_until("an outage in the store", |_| n_seconds(&home) >= n + 3);
    server.restart().expect("it recovers");
    let ran = run.end();
    let report = ran.json();
    assert_eq!(report["status"], "completed", "{}", ran.err);
    nothing_is_lost(&report);

    let seconds = at(&report, "seconds").as_array().expect("a list");
    let commits: Vec<f64> = seconds.iter().map(|second| number(second, "commits")).collect();
    let first = commits.iter().position(|n| *n == 0.0);
    let first = first.unwrap_or_else(|| panic!("no outage is seen: {commits:?}\n{report:#}"));
    assert!(first > 0 && commits[first..].iter().any(|n| *n > 0.0), "{commits:?}");
    let errors = at(&report, "errors").to_string();
    assert!(errors.contains("connection_lost"), "{errors}");

    let (change, committed) = (number(&report, "crosschecks.0.change"), "crosschecks.0.committed");
    let (committed, unknown) =
        (number(&report, committed), number(&report, "crosschecks.0.unknown"));
    assert!(
        (committed..=committed + unknown).contains(&change),
        "{change}: {committed}, {unknown}"
    );
    let held = at(&report, "checks.after").as_array().expect("a list");
    assert_eq!(held.len(), if workload == "tpcc" { 13 } else { 4 });
    assert!(held.iter().all(|check| check["failed"] == 0), "{held:#?}");
    let per_client = at(&report, "per_client").as_array().expect("a list");
    assert_eq!(per_client.len(), 8, "a client ended");
}

/// Flags of a run with eight clients at a low rate, which leaves the machine to other tests. The
/// run ends with the last of its transactions, however long the outage is.
pub(crate) const RUN: [&str; 5] =
    ["--clients=8", "--rate=60", "--transactions=900", "--duration=1h", "--per-client"];

/// Crashes a server with durable commits, on the shared data of tpcc.
fn crash_durable(server: &TestServer) {
    let mut data = tpcc(server);
    let server = &mut data.as_mut().expect("it is built").server;
    let (name, value) = match server.kind() {
        Kind::Postgres => ("fsync", "on"),
        Kind::MariaDb | Kind::MySql => ("innodb_flush_log_at_trx_commit", "1"),
    };
    server.set(name, value).expect("a setting");
    server.restart().expect("it starts again");
    crash(server, "tpcc", &RUN);
}

#[test]
fn a_run_outlives_a_crash_of_mariadb_and_every_commit_is_there() {
    crash_durable(&MARIADB);
}

#[test]
fn a_run_outlives_a_crash_of_postgres_and_every_commit_is_there() {
    crash_durable(&POSTGRES);
}

#[test]
fn a_run_outlives_a_crash_of_mysql_and_every_commit_is_there() {
    let durable = [("innodb_flush_log_at_trx_commit", "1")];
    crash(&mut MYSQL_9_7.start_with(&durable), "tpcb", &RUN);
}

#[test]
fn clients_on_event_loops_outlive_a_crash_too() {
    crash(&mut MARIADB.start(), "tpcb", &[&RUN[..], &["--placement=loop"]].concat());
}

#[test]
fn a_server_without_room_for_all_clients_is_reported_with_its_limit() {
    for (test, setting) in [(&MARIADB, "max_connections"), (&POSTGRES, "max_connections")] {
        let server = test.start_with(&[(setting, "20")]);
        let home = Home::new();
        let target = format!("--target={}", url(&server));
        for placement in ["--placement=thread", "--placement=loop"] {
            let args = ["run", "empty", &target, "--clients=60", placement, "--quiet"];
            let ran = home.run(&args).code(1);
            let shown = ["of 60 clients could not connect", "max_connections", "is 20"];
            ran.warns(&shown).is_a_sentence();
        }
    }
}

#[test]
fn clients_connect_at_the_rate_that_is_asked_for() {
    let home = Home::new();
    let target = format!("--target={}", url(POSTGRES.shared()));
    let began = crate::waiting::now();
    let args = ["run", "empty", &target, "--clients=21", "--connect-rate=20/s"];
    let more = ["--duration=1s", "--ramp-up=0s", "--full", "--connect-at-once=3"];
    home.run(&[&args[..], &more].concat()).good().says(&["21 connected"]);
    assert!(began.elapsed().as_secs_f64() > 2.0, "{:?}", began.elapsed());
}

#[test]
fn connections_that_the_server_closes_during_pauses_cost_no_transaction() {
    let server = MARIADB.start_with(&[("wait_timeout", "2")]);
    let home = Home::new();
    // A pause of 5 s precedes each transaction but the first, and often that one too.
    let plan = format!(
        "target = \"{}\"\nramp_up = \"0s\"\nduration = \"7s\"\n[[group]]\nworkload = \"empty\"\n\
         clients = 3\nload = \"keythink\"\nparameters = {{ keying = \"5s\", thinking = \"0s\" }}\n\
         [[at]]\ntime = \"5s\"\nname = \"asked late\"\nsql = \"SELECT 1\"\n",
        url(&server)
    );
    let plan = home.write("plan.toml", plan);
    let report = home.report_with_code(0, &["run", &plan, "--quiet"]);
    nothing_is_lost(&report);
    assert_eq!(number(&report, "counts.failed"), 0.0, "{:#}", at(&report, "errors"));
    let findings = at(&report, "findings").as_array().expect("a list");
    let closed = findings.iter().find(|finding| finding["id"] == "idle_connections_closed");
    let closed = closed.unwrap_or_else(|| panic!("{findings:#?}"));
    let text = closed["text"].as_str().expect("a text");
    assert!(text.contains("by the server (wait_timeout=2), or a proxy"), "{text}");
    let asked = &at(&report, "disturbances").as_array().expect("a list")[0];
    assert_eq!(asked["outcome"], "done", "{asked:#}");
}

#[test]
fn more_statements_than_the_server_keeps_are_refused_before_the_load() {
    let server = MARIADB.start_with(&[("max_prepared_stmt_count", "30")]);
    let home = Home::new();
    let target = format!("--target={}", url(&server));
    let data = ["oltp-point-select", "--tables=4", "--table-size=10", "--quiet", "--check=off"];
    let run = |more: &[&str]| home.run(&[&["run"], &data[..], &[&target], more].concat());
    let words = ["prepare up to 40 statements", "keeps 30 (max_prepared_stmt_count)"];
    run(&["--clients=10"]).code(2).warns(&words).is_a_sentence();
    run(&["--clients=7", "--duration=1s", "--ramp-up=0s"]).good();
    let as_text = format!("{target}?statements=text");
    let args = [&["run"], &data[..], &[&as_text, "--clients=10", "--duration=1s"]].concat();
    home.run(&args).good();
}

#[test]
fn a_server_that_is_frozen_is_not_asked_again_and_again_after_the_load() {
    let server = MARIADB.start();
    let home = Home::new();
    let target = format!("--target={}?connect_timeout=1s", url(&server));
    let mut run = home.start(&[
        "run",
        "oltp-insert",
        "--tables=1",
        "--table-size=10",
        &target,
        "--clients=2",
        "--rate=20",
        "--duration=4s",
        "--ramp-up=0s",
        "--drain=0s",
        "--output=json",
    ]);
    wait_for_seconds(&home, &mut run, 1);
    let process = server.process_id().expect("it is there");
    let process = Pid::from_raw(process.cast_signed()).expect("a number");
    kill_process(process, Signal::STOP).expect("it is ours");
    let report = run.end().json();
    kill_process(process, Signal::CONT).expect("it is ours");
    let findings = at(&report, "findings").as_array().expect("a list");
    for (id, words) in [
        ("crosscheck_not_run", "Commits, settings and start time were not read after the load"),
        ("checks_not_run", "The data could not be checked after the load"),
    ] {
        let all: Vec<_> = findings.iter().filter(|finding| finding["id"] == id).collect();
        let [one] = &all[..] else { panic!("{id}: {findings:#?}") };
        let text = one["text"].as_str().expect("a text");
        assert!(text.contains(words) && text.contains("does not answer in time"), "{text}");
    }
}
