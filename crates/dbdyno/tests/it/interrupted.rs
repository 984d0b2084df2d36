//! Tests of stopping dbdyno, orderly or not: a report of what was measured, a readable store,
//! consistent data, builds that resume.
//!
//! Not here: a database that goes away.

use std::time::Duration;

use rusqlite::Connection;
use serde_json::Value;
use servers::for_tests::{MARIADB, POSTGRES};

use crate::home::{Home, at, number, number_in};
use crate::journey::nothing_is_lost;
use crate::outage::wait_for_seconds;
use crate::password::{on_a_terminal, read_until};
use crate::real::url;
use crate::waiting::Started;

const FAILED: i32 = 1;
const INTERRUPTED: i32 = 130;

/// Target whose clients use almost no CPU time: a simulated database that takes 5 ms for each
/// statement.
const SLOW: &str = "--target=sim:?service=constant:5ms";

const LONG: [&str; 6] =
    ["run", "tpcc", "--rate=50", "--duration=600s", "--ramp-up=0s", "--check=off"];

/// Waits until `count` chunks of the data are built, while more remain.
fn wait_for_chunks(home: &Home, build: &mut Started, count: i64) {
    let sql = "SELECT count(*) FROM dbdyno_meta WHERE name LIKE 'done.%'";
    let file = home.database("tpcc");
    build.wait_until("chunks in the database", |_| number_in(&file, sql) >= Some(count));
}

fn checksums(home: &Home) -> Value {
    let checked = home.json(&["check", "tpcc", "--checksums", "--quiet"]);
    at(&checked, "checksums").clone()
}

#[test]
fn an_interrupted_run_reports_what_it_measured() {
    let home = Home::new();
    home.put_tpcc();
    let mut run = home.start(&[&LONG[..], &["--output=json"]].concat());
    wait_for_seconds(&home, &mut run, 1);
    run.interrupt();
    let ran =
        run.end().code(INTERRUPTED).warns(&["interrupted: stopping after the work in progress"]);
    let report = ran.json();
    assert_eq!(report["status"], "interrupted");
    let measured = number(&report, "measured_seconds");
    assert!((1.0..600.0).contains(&measured), "{measured} s");
    let count = |name: &str| number(&report, &format!("counts.{name}"));
    let ended = count("finished") + count("failed") + count("dropped") + count("unfinished");
    assert_eq!(count("offered"), ended);
    assert!(count("committed") > 0.0);
    let of_findings = at(&report, "findings").as_array().unwrap();
    assert!(of_findings.iter().any(|finding| finding["id"] == "interrupted"), "{of_findings:#?}");
    home.run(&["runs", "list"]).good().says(&["interrupted"]);
    let kept = home.json(&["runs", "show", "last", "--full"]);
    assert_eq!(kept, report);
    home.run(&["check", "tpcc"]).good().says(&["13 of 13 checks pass"]);
}

/// Cuts off a transaction of each client, of which the 99th percentile consists.
#[test]
fn a_closed_run_is_not_called_overloaded_by_what_its_interruption_cut_off() {
    let home = Home::new();
    let clients = ["run", "empty", SLOW, "--clients=40", "--duration=600s", "--ramp-up=0s"];
    let mut run = home.start(&[&clients[..], &["--drain=0s", "--output=json"]].concat());
    wait_for_seconds(&home, &mut run, 4);
    run.interrupt();
    let report = run.end().code(INTERRUPTED).json();
    let counts = ["offered", "unfinished"].map(|name| number(&report, &format!("counts.{name}")));
    let [offered, unfinished] = counts;
    assert!(unfinished > offered / 100.0 && unfinished <= 40.0, "{counts:?}");
    let findings = at(&report, "findings").as_array().expect("a list");
    let found = findings.iter().find(|finding| finding["id"] == "unfinished").expect("a finding");
    assert_eq!(found["severity"], "note", "{found}");
    let list = home.run(&["runs", "list"]).good();
    assert!(list.out.contains("interrupted") && !list.out.contains("overloaded"), "{}", list.out);
}

const INSERTS: [&str; 7] = [
    "run",
    "oltp-insert",
    "--tables=1",
    "--table-size=10",
    "--ramp-up=0s",
    "--rate=50",
    "--check=off",
];

/// Runs two runs with separate stores, like two machines, so that only the database reveals the
/// runs to each other: a long run, and within it a short one. Returns the reports of both, the
/// short one first.
fn beside_each_other(target: &str, more: &[&str]) -> [Value; 2] {
    let (here, there) = (Home::new(), Home::new());
    let run = [&INSERTS[..], &[target, "--output=json"]].concat();
    let mut long = here.start(&[&run[..], &["--duration=1h"]].concat());
    wait_for_seconds(&here, &mut long, 1);
    let short = there.run(&[&run[..], &["--duration=2s"], more].concat()).json();
    long.interrupt();
    let long = long.end().code(INTERRUPTED).json();
    let alone = there.run(&[&run[..], &["--duration=1s"], more].concat()).json();
    let [change, committed] = ["change", "committed"].map(|name| format!("crosschecks.0.{name}"));
    assert_eq!(number(&alone, &change), number(&alone, &committed), "now it is alone");
    [short, long]
}

/// Asserts that a run was compared with the database's count only if it matches, and otherwise
/// names the other run as the cause.
#[track_caller]
fn knows_of_the_other(report: &Value) {
    let (change, committed) = ("crosschecks.0.change", "crosschecks.0.committed");
    let is_more = number(report, change) > number(report, committed);
    let findings = at(report, "findings").as_array().expect("a list");
    let has = |id: &str| findings.iter().any(|finding| finding["id"] == id);
    assert!(!has("crosscheck_mismatch"), "{findings:#?}");
    assert_eq!(has("crosscheck_shared"), is_more, "{findings:#?}");
}

#[test]
fn two_runs_from_two_machines_do_not_call_each_other_invalid() {
    let server = MARIADB.start();
    let both = beside_each_other(&format!("--target={}", url(&server)), &[]);
    both.iter().for_each(knows_of_the_other);
}

#[test]
fn two_runs_on_one_file_do_not_call_each_other_invalid() {
    for more in [&[][..], &["--no-store"]] {
        let home = Home::new();
        let target = format!("--target=sqlite:{}", home.path("shared.db").display());
        let both = beside_each_other(&target, more);
        both.iter().for_each(knows_of_the_other);
        // The long run commits all the time.
        assert!(both[0].to_string().contains("crosscheck_shared"), "{}", both[0]["findings"]);
    }
}

/// Checks runs on tables without `dbdyno_meta`, such as those of sysbench, in which a run cannot
/// leave a mark.
#[test]
fn a_second_run_on_tables_of_others_is_refused_before_its_load() {
    for server in [MARIADB.start(), POSTGRES.start()] {
        let (here, there) = (Home::new(), Home::new());
        let target = format!("--target={}", url(&server));
        let build = ["build", INSERTS[1], INSERTS[2], INSERTS[3], &target, "-q", "--no-store"];
        here.run(&build).good();
        crate::settings::ask(&server, &["DROP TABLE dbdyno_meta"]);
        let run = [&INSERTS[..], &[&target, "--output=json"]].concat();
        let mut long = here.start(&[&run[..], &["--duration=1h"]].concat());
        wait_for_seconds(&here, &mut long, 1);
        let short = [&run[..], &["--duration=1s"]].concat();
        let why = ["another run of dbdyno commits into the tables of oltp in ", "wait for it"];
        there.run(&short).code(FAILED).warns(&why);
        long.interrupt();
        let report = long.end().code(INTERRUPTED).json();
        let findings = at(&report, "findings").to_string();
        assert!(!findings.contains("crosscheck_mismatch"), "{findings}");
        // One after the other, each with the lock of its own.
        let repeats = there.run(&[&short[..], &["--repeat=2"]].concat());
        repeats.good();
    }
}

#[test]
fn a_run_beside_another_one_on_its_database_says_so_at_the_start() {
    let home = Home::new();
    home.put_tpcc();
    let mut run = home.start(&LONG);
    wait_for_seconds(&home, &mut run, 1);
    let short = ["run", "tpcc", "--rate=50", "--duration=1s", "--ramp-up=0s", "--check=off"];
    home.run(&short).warns(&["Another run (tpcc, ", ") uses this database now"]);
    // With any store of the other run.
    let unseen = "Another run (kept in another store, or in none) uses this database now";
    home.run(&[&short[..], &["--no-store"]].concat()).warns(&[unseen]);
    run.interrupt();
    run.end().code(INTERRUPTED);
    let mark = home.database("tpcc").with_extension("db-dbdyno-run");
    assert!(!mark.exists(), "{}", mark.display());
}

#[test]
fn a_run_that_needs_its_tables_alone_is_refused_beside_another_one() {
    let of_events = ["--writers=1", "--readers=0"];
    for (workload, more) in [("events", &of_events[..]), ("record", &["--clients=1"])] {
        let home = Home::new();
        let long = ["run", workload, "--rate=50", "--duration=600s", "--ramp-up=0s", "--check=off"];
        let mut run = home.start(&[&long[..], more].concat());
        wait_for_seconds(&home, &mut run, 1);
        let short = ["run", workload, "--rate=50", "--duration=1s", "--ramp-up=0s", "--check=both"];
        let short = [&short[..], more].concat();
        let why = format!("writes into the tables of {workload} in sqlite:");
        let named = format!("another run ({workload}, ");
        home.run(&short).code(FAILED).warns(&[&named, &why, "now, and two cannot: wait for it"]);
        // Readers do not conflict.
        if workload == "events" {
            let readers = "ramp_up = \"0s\"\nduration = \"1s\"\n[[group]]\nworkload = \"events\"\n\
                           clients = 1\nparameters = { role = \"reader\", tables = 1, \
                           results = false }\n";
            home.write("readers.toml", readers);
            let target = format!("--target=sqlite:{}", home.database("events").display());
            home.run(&["run", "readers.toml", &target, "--check=off"])
                .warns(&["Another run (events, ", ") uses this database now"]);
        }
        run.interrupt();
        run.end().code(INTERRUPTED);
        let report = home.run(&[&short[..], &["--output=json"]].concat()).json();
        let held = at(&report, "checks.after").as_array().expect("a list");
        assert!(held.iter().all(|check| check["failed"] == 0), "{held:#?}");
    }
}

#[test]
fn a_closed_terminal_interrupts_a_run_and_the_report_is_kept() {
    let home = Home::new();
    // These tests may run under nohup themselves.
    let mut command = home.command("env");
    command.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_dbdyno")]);
    command.args(["run", "empty", SLOW, "--duration=600s", "--ramp-up=0s"]);
    let mut run = Started::new(command);
    wait_for_seconds(&home, &mut run, 1);
    run.hang_up();
    run.end().code(INTERRUPTED).warns(&["the terminal is gone (SIGHUP): stopping"]);
    home.run(&["runs", "list", "--status=interrupted"]).good().says(&["empty"]);
}

#[test]
fn under_nohup_a_closed_terminal_does_not_end_a_run() {
    let home = Home::new();
    let mut command = home.command("nohup");
    command.arg(env!("CARGO_BIN_EXE_dbdyno"));
    command.args(["run", "empty", SLOW, "--duration=3s", "--ramp-up=0s"]);
    let mut run = Started::new(command);
    wait_for_seconds(&home, &mut run, 1);
    run.hang_up();
    let ran = run.end().good();
    assert!(!ran.err.contains("interrupted"), "{}", ran.err);
    home.run(&["runs", "list", "--status=completed"]).good().says(&["empty"]);

    // Other signals still end it.
    let mut command = home.command("nohup");
    command.arg(env!("CARGO_BIN_EXE_dbdyno"));
    command.args(["run", "empty", SLOW, "--duration=600s", "--ramp-up=0s"]);
    let mut run = Started::new(command);
    run.wait_until("the load", |said| said.contains("of 10m"));
    run.hang_up();
    run.interrupt();
    run.end().code(INTERRUPTED);
}

#[test]
fn a_run_whose_terminal_is_gone_goes_on_to_its_end() {
    let home = Home::new();
    let words = ["run", "empty", SLOW, "--duration=3s", "--ramp-up=0s"];
    let (mut ours, _, theirs) = on_a_terminal(&home, &words);
    let mut command = home.dbdyno(&words);
    command.stdout(theirs.try_clone().unwrap()).stderr(theirs);
    let mut run = Started::as_it_is(command);
    read_until(&mut ours, "of 3 s");
    wait_for_seconds(&home, &mut run, 1);
    drop(ours);
    run.end().code(0);
    home.run(&["runs", "list", "--status=completed"]).good().says(&["empty"]);
}

#[test]
fn a_second_interrupt_cuts_off_what_never_ends_and_keeps_the_report() {
    let home = Home::new();
    // A statement takes a day, and the drain would wait half as long: a run that ends has cancelled
    // it.
    let target = "--target=sim:?service=constant:86400s";
    let mut run = home.start(&[
        "run",
        "empty",
        target,
        "--duration=600s",
        "--ramp-up=0s",
        "--drain=43200s",
        "--report-interval=2s",
        "--output=json",
    ]);
    wait_for_seconds(&home, &mut run, 0);
    // By then all clients have sent a request, on a busy machine too.
    run.wait_until("the load", |said| said.contains("[  2 s ]"));
    run.interrupt();
    run.wait_until("the first is heard", |said| said.contains("again to cancel it"));
    run.interrupt();
    let report = run.end().code(INTERRUPTED).json();
    assert_eq!(report["status"], "interrupted");
    assert_eq!(number(&report, "counts.finished"), 0.0);
    assert_eq!(number(&report, "counts.offered"), 4.0);
    home.run(&["runs", "list", "--status=interrupted"]).good().says(&["empty"]);
}

#[test]
fn a_database_that_somebody_holds_does_not_hold_us() {
    let home = Home::new();
    home.put_tpcc();
    // Both would wait for a day.
    let file = home.database("tpcc");
    let target = format!("--target=sqlite:{}?busy_timeout=86400s", file.display());
    let waits = ["run", "tpcc", &target, "--ramp-up=0s", "--drain=86400s"];
    let weights = ["--weights=1/1/0/0/0", "--duration=600s", "--check=after", "--output=json"];
    let mut run = home.start(&[&waits[..], &weights].concat());
    wait_for_seconds(&home, &mut run, 1);
    let holder = Connection::open(home.database("tpcc")).unwrap();
    holder.busy_timeout(Duration::from_secs(30)).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    run.interrupt();
    run.wait_until("the first is heard", |said| said.contains("again to cancel it"));
    run.interrupt();
    let report = run.end().code(INTERRUPTED).json();
    assert_eq!(report["status"], "interrupted");
    nothing_is_lost(&report);
    let count = |name: &str| number(&report, &format!("counts.{name}"));
    assert!((1.0..=4.0).contains(&(count("unfinished") + count("failed"))), "{}", report["counts"]);
    holder.execute_batch("ROLLBACK").unwrap();
    home.run(&["check", "tpcc"]).good().says(&["13 of 13 checks pass"]);
}

#[test]
fn a_killed_run_is_kept_but_for_its_last_moments_and_its_data_are_whole() {
    let home = Home::new();
    home.put_tpcc();
    let mut run = home.start(&LONG);
    wait_for_seconds(&home, &mut run, 3);
    home.run(&["runs", "list", "--status=running"]).good().says(&["tpcc"]);
    home.run(&["runs", "rm", "last"]).code(2).warns(&["is running: stop it first"]);
    let waits = ["is still running: wait for its end"];
    home.run(&["runs", "export", "last", "-o", "half.dbdyno"]).code(2).warns(&waits);
    let so_far = home.run(&["runs", "export", "last", "-o", "so-far.json"]).good();
    so_far.warns(&["goes on: its figures are those so far"]);
    let store = home.store().display().to_string();
    Home::new().run(&["runs", "import", &store]).code(2).warns(&waits);
    let sql = "SELECT count(DISTINCT second) FROM second";
    let n_stored = number_in(&home.store(), sql).expect("there are some");
    run.kill();
    assert_eq!(run.end().code, None);

    let listed = home.json(&["runs", "list"]);
    assert_eq!(at(&listed, "runs.0.status"), "interrupted");
    assert_eq!(at(&listed, "runs.0.worst_finding"), "warning");
    let killed = home.json(&["runs", "list", "--where=finding=killed and validity=warning"]);
    assert_eq!(killed, listed);
    let report = home.json(&["runs", "show", "last", "--full"]);
    assert_eq!(report["status"], "interrupted");
    let seconds = at(&report, "seconds").as_array().unwrap();
    assert!(seconds.len() as i64 >= n_stored, "{} of {n_stored}", seconds.len());
    for (index, second) in seconds.iter().enumerate() {
        assert_eq!(second["second"], index, "a second is missing");
    }
    assert!(number(&report, "counts.committed") > 0.0);
    let plan = home.run(&["runs", "show", "last", "--plan"]).good();
    home.write("again.toml", plan.out);

    home.run(&["check", "tpcc"]).good().says(&["13 of 13 checks pass"]);
    let again = home.json(&["run", "again.toml", "--duration=1s", "--quiet"]);
    assert_eq!(again["status"], "completed");
    let ids = home.json(&["runs", "list"]);
    assert_eq!(at(&ids, "runs").as_array().unwrap().len(), 2);
    let killed = report["run_id"].as_str().unwrap();
    home.run(&["runs", "rm", killed]).good();
}

#[test]
fn a_killed_build_goes_on_to_the_same_data() {
    let home = Home::new();
    let mut build = home.start(&["build", "tpcc"]);
    wait_for_chunks(&home, &mut build, 1);
    build.kill();
    build.end();
    let file = home.database("tpcc");
    let state = "SELECT count(*) FROM dbdyno_meta WHERE name = 'state' AND value = 'building'";
    assert_eq!(number_in(&file, state), Some(1), "it was killed too late");
    let shown = "has no complete data of tpcc: build them with dbdyno build tpcc";
    home.run(&["check", "tpcc"]).code(1).warns(&[shown]);
    home.run(&["run", "tpcc", "--no-build"]).code(1).warns(&["no complete data of tpcc"]);
    let words = "resumed an interrupted build";
    home.run(&["build", "tpcc"]).good().says(&[words]);
    home.run(&["build", "tpcc"]).good().says(&["nothing to build"]);

    let whole = Home::new();
    whole.run(&["build", "tpcc"]).good();
    assert_eq!(checksums(&home), checksums(&whole));
}

#[test]
fn an_interrupted_build_says_how_to_go_on() {
    let home = Home::new();
    let mut build = home.start(&["build", "tpcc"]);
    wait_for_chunks(&home, &mut build, 1);
    build.interrupt();
    let ran = build.end().code(INTERRUPTED);
    ran.warns(&["dbdyno: the build was interrupted; the same command resumes it"]);
    // A run resumes it too, and is valid like any other.
    let ran = home.run(&["run", "tpcc", "--duration=1s", "--ramp-up=0s"]).good();
    ran.warns(&["resumed an interrupted build"])
        .says(&["13 of 13 checks passed before and after the load"]);
}

#[test]
fn an_experiment_that_is_interrupted_in_its_last_trial_names_no_best_point() {
    let home = Home::new();
    let target = "--target=sim:?service=constant:1ms";
    let args = ["run", "empty", target, "--ramp-up=0s", "--vary=duration=1s,60s"];
    let mut run = home.start(&args);
    run.wait_until("the last trial", |said| said.contains("trial 2 of 2"));
    run.interrupt();
    let ran = run.end().code(INTERRUPTED).says(&["interrupted after 1 of 2 trials; no best point"]);
    assert!(!ran.out.contains("Valid") && !ran.out.contains("most TPS"), "{}", ran.out);
    let shown = home.run(&["experiments", "show", "last"]).good();
    let shown = shown.says(&["interrupted after 1 of 2 trials; no best point"]);
    assert!(!shown.out.contains("Valid") && !shown.out.contains("most TPS"), "{}", shown.out);
    // The command to resume it is a line of its own, whole even on a narrow terminal.
    let is_resume = |line: &str| line.trim_start().starts_with("dbdyno experiments resume ");
    assert!(shown.out.lines().any(is_resume), "{}", shown.out);
    assert!(ran.err.lines().any(is_resume), "{}", ran.err);
}

#[test]
fn interrupted_repeats_keep_what_finished_and_say_what_it_took() {
    let signals: [fn(&Started); 2] = [Started::interrupt, Started::terminate];
    for signal in signals {
        let home = Home::new();
        let target = "--target=sim:?service=exponential:2ms&servers=4&spread=3";
        let words = ["run", "empty", target, "--clients=8", "--ramp-up=0s", "--duration=1s"];
        let mut run = home.start(&[&words[..], &["--repeat=until=2%,max=40"]].concat());
        run.wait_until("a third repeat", |said| said.contains("trial 3 of"));
        signal(&run);
        let ran = run.end().code(INTERRUPTED);
        let ran = ran.warns(&["interrupted; resume with:\n  dbdyno experiments resume "]);
        let spent = ["Repeats: 2 of at most 40, ", "s of load and starts (until=2%,min=4,max=40)"];
        ran.says(&spent).says(&["Not precise enough"]);
        let completed = "SELECT count(*) FROM run WHERE status = 'completed'";
        assert_eq!(number_in(&home.store(), completed), Some(2));
        let kept = home.json(&["experiments", "show", "last"]);
        assert_eq!(
            (number(&kept, "trials_done"), number(&kept, "stop_condition.repeats")),
            (2.0, 2.0)
        );
        assert_eq!(
            (at(&kept, "stop_condition.is_reached"), at(&kept, "status")),
            (&Value::from(false), &Value::from("interrupted"),)
        );
        assert!(number(&kept, "stop_condition.spent_s") >= 2.0, "{kept:#}");
    }
}
