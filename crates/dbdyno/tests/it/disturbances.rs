//! Tests of disturbances of a database during a run: reported, stored, visible in the seconds, and
//! ended with the run.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use servers::for_tests::{MARIADB, MYSQL_9_7, POSTGRES};

use crate::enough::{commits, ended_s, report_once, went_on_after};
use crate::home::{Home, at, number, number_in};
use crate::real::url;

/// Runs a plan until `is_enough` holds for the report so far, then interrupts it; returns its final
/// report.
#[track_caller]
pub(crate) fn report(home: &Home, plan: &str, is_enough: impl Fn(&Value) -> bool) -> Value {
    home.write("plan.toml", plan);
    let run = home.start(&["run", "plan.toml", "--quiet", "--output=json"]);
    report_once(home, run, "enough of the run", is_enough)
}

fn disturbances(report: &Value) -> &Vec<Value> {
    at(report, "disturbances").as_array().expect("a list")
}

/// Finds the disturbance of this name in a report, and asserts its outcome.
pub(crate) fn ended<'a>(report: &'a Value, name: &str, outcome: &str) -> &'a Value {
    let found = disturbances(report).iter().find(|one| one["name"] == name);
    let found = found.unwrap_or_else(|| panic!("no '{name}' in {:#}", report["disturbances"]));
    assert_eq!(found["outcome"], outcome, "{found:#}");
    found
}

fn has_finding(report: &Value, id: &str) -> bool {
    at(report, "findings").as_array().expect("a list").iter().any(|found| found["id"] == id)
}

const SQLITE: &str = r#"
[target]
url = "sqlite:shop.db"
[phases]
ramp_up = "0s"
measure = "1h"
[[group]]
workload = "empty"
clients = 2
load = "open"
rate = 1000
[[at]]
time = "500ms"
name = "two statements"
sql = ["CREATE TABLE big (x INTEGER)", "DROP TABLE big"]
[[at]]
time = "500ms"
name = "wrong"
sql = "DROP TABLE nowhere"
[[at]]
time = "0s"
every = "1s"
until = "3s"
name = "often"
command = "echo $DBDYNO_DATABASE"
[[at]]
time = "1s"
for = "1s"
name = "endless"
command = "echo begun; sleep 1000"
[[at]]
time = "3s"
name = "late"
command = "sleep 1000"
"#;

/// Plan whose simulated network becomes slow for two seconds, with a checkpoint after that, and
/// then slow again until the end. The delay is far longer than any delay of a busy machine.
const NETWORK: &str = r#"
target = "TARGET"
network_delay = "1us"
ramp_up = "0s"
duration = "1h"
[[group]]
workload = "empty"
clients = 32
load = "open"
rate = 100
parameters = { statements = 1 }
[[at]]
time = "1s"
for = "2s"
name = "far"
network_delay = "400ms"
[[at]]
time = "4s"
settle = "checkpoint"
for = "1s"
[[at]]
time = "6s"
network_delay = "400ms"
"#;

/// Name that a disturbance gets if the plan gives it none.
const LAST: &str = "network delay 400ms";

#[test]
fn a_network_gets_slow_and_a_checkpoint_is_made_in_mid_run() {
    for server in [MARIADB.shared(), POSTGRES.shared()] {
        let home = Home::new();
        let plan = NETWORK.replace("TARGET", &url(server));
        let report = report(&home, &plan, |report| ended_s(report, LAST).is_some());
        let far = ended(&report, "far", "done");
        assert_eq!(far["what"], LAST);
        let took = number(far, "ended_s") - number(far, "began_s");
        assert!(took >= 2.0, "{took}");
        assert!(number(far, "during.response_ms.p90") >= 800.0, "{far:#}");
        assert!(number(far, "after.response_ms.min") < 400.0, "{far:#}");
        let checkpoint = disturbances(&report).iter().find(|one| one["name"] == "checkpoint");
        let checkpoint = checkpoint.expect("it was planned");
        assert!(["done", "cut_off"].contains(&checkpoint["outcome"].as_str().expect("a word")));
        let last = ended(&report, LAST, "done");
        assert!(number(last, "began_s") >= 6.0, "{last:#}");
    }
}

#[test]
fn what_was_done_is_reported_with_what_it_did_and_kept() {
    let home = Home::new();
    let has_begun = |report: &Value| {
        let all = report["disturbances"].as_array();
        let late = all.and_then(|all| all.iter().find(|one| one["name"] == "late"));
        late.is_some() && ended_s(report, "endless").is_some_and(|s| commits(report, s, 1e9) > 0.0)
    };
    let report = report(&home, SQLITE, has_begun);
    let two = ended(&report, "two statements", "done");
    assert!(number(two, "began_s") >= 0.5, "{two:#}");
    assert_eq!(two["what"], "CREATE TABLE big (x INTEGER) (and 1 more)");
    let wrong = ended(&report, "wrong", "failed");
    assert!(wrong["why"].to_string().contains("nowhere"), "{wrong:#}");
    assert!(has_finding(&report, "disturbance_failed"));
    let often = disturbances(&report).iter().filter(|one| one["name"] == "often");
    let often: Vec<(&Value, &Value)> = often.map(|one| (&one["nth"], &one["output"])).collect();
    assert_eq!(often.len(), 3);
    assert!(often.iter().all(|(_, output)| *output == "shop.db"), "{often:?}");
    let endless = ended(&report, "endless", "cut_off");
    assert_eq!(
        (&endless["output"], &endless["why"]),
        (&"begun".into(), &"it reached its time limit of 1s".into())
    );
    let took = number(endless, "ended_s") - number(endless, "began_s");
    assert!((1.0..1000.0).contains(&took), "{took}");
    let late = ended(&report, "late", "cut_off");
    let took = number(late, "ended_s") - number(late, "began_s");
    assert!(took < 1000.0, "{late:#}");
    assert!(has_finding(&report, "disturbance_cut_off") && has_finding(&report, "disturbed"));
    assert!(number(endless, "during.counts.offered") > 0.0, "{endless:#}");
    assert!(number(endless, "during.response_ms.p50") > 0.0, "{endless:#}");

    let kept = home.json(&["runs", "show", "last", "--full"]);
    assert_eq!(kept["disturbances"], report["disturbances"]);
    let page = home.run(&["runs", "show", "last", "--full"]).good();
    page.says(&["▲", "two statements", "FAILED", "during", "p99 ms ", "no CI for p50 and p99 ("]);
    let plan = home.run(&["runs", "show", "last", "--plan"]).good().out;
    assert!(plan.contains("[[at]]") && plan.contains("every = \"1s\""), "{plan}");
    home.write("again.toml", plan);
    home.run(&["run", "again.toml", "--duration=4s", "--quiet"]).good();
}

#[test]
fn a_disturbance_ends_with_the_run_that_is_interrupted() {
    let home = Home::new();
    let marked = "sleep 1000 # a disturbance that ends with its run";
    let group = "[[group]]\nworkload = \"empty\"\nclients = 1\n";
    let phases = "[phases]\nramp_up = \"0s\"\nmeasure = \"1h\"\n";
    let plan = format!(
        "{phases}{group}[[at]]\ntime = \"100ms\"\ncommand = \"{marked}\"\n\
         [[at]]\ntime = \"50min\"\nsql = \"SELECT 1\"\n"
    );
    home.write("plan.toml", plan);
    let args = ["run", "plan.toml", "--target=sqlite:shop.db", "--output=json"];
    let mut run = home.start(&args);
    let (store, sql) = (home.store(), "SELECT count(*) FROM event WHERE kind = 'disturbance'");
    run.wait_until("a disturbance in the store", |_| number_in(&store, sql) >= Some(1));
    run.interrupt();
    let ran = run.end().code(130);
    let report = ran.json();
    assert_eq!(disturbances(&report)[0]["outcome"], "cut_off", "{:#}", report["disturbances"]);
    assert_eq!(disturbances(&report)[1]["outcome"], "skipped", "{:#}", report["disturbances"]);
    let processes = fs::read_dir("/proc").expect("it is there");
    let lines = processes.filter_map(|one| fs::read(one.ok()?.path().join("cmdline")).ok());
    let left = lines.filter(|line| String::from_utf8_lossy(line).contains("sleep 1000 # a dist"));
    assert_eq!(left.count(), 0, "the command outlives its run");
}

#[test]
fn a_disturbance_tidies_up_and_ends_when_its_run_is_killed() {
    let home = Home::new();
    home.run_other("mkfifo", &["last-words"]).good();
    let command = "trap 'echo tidied >last-words; exit' TERM; sleep 1000 & echo >begun; wait";
    home.write(
        "plan.toml",
        format!(
            "[phases]\nramp_up = \"0s\"\nmeasure = \"1h\"\n\
             [[group]]\nworkload = \"empty\"\nclients = 1\n\
             [[at]]\ntime = \"100ms\"\ncommand = \"{command}\"\n"
        ),
    );
    let mut run = home.start(&["run", "plan.toml", "--target=sqlite:shop.db", "--no-store"]);
    run.wait_until("a disturbance", |_| home.path("begun").exists());
    run.kill();
    home.run_other("cat", &["last-words"]).good().says(&["tidied"]);
}

/// Makes a plan with a private server, small tables and these disturbances.
fn managed(url: &str, at: &[(&str, &str)]) -> String {
    let at = at.iter().map(|(time, action)| {
        format!("[[at]]\ntime = \"{time}\"\nname = \"{action}\"\nserver = \"{action}\"\n")
    });
    format!(
        "[target]\nurl = \"{url}\"\n[phases]\nramp_up = \"0s\"\nmeasure = \"1h\"\n\
         [[group]]\nworkload = \"oltp-read-write\"\nclients = 4\n\
         load = \"open\"\nrate = 100\narrivals = \"uniform\"\n\
         parameters = {{ tables = 1, table_size = 1000 }}\n{}",
        at.collect::<String>()
    )
}

/// Returns the URL of a private MySQL 9.7, whose programs are not in PATH.
pub(crate) fn mysql_9_7(settings: &str) -> String {
    let bin = MYSQL_9_7.options().bin.expect("it is in a folder of its own");
    format!("managed:mysql?bin={}&{settings}", bin.display())
}

const SMALL_AND_DURABLE: &str = "innodb_buffer_pool_size=64M&innodb_flush_log_at_trx_commit=1";

#[track_caller]
fn a_kill_and_a_start_are_seen_in_the_seconds(url: &str) {
    let home = Home::new();
    let plan = managed(url, &[("3s", "kill"), ("5s", "start")]);
    let report = report(&home, &plan, |report| went_on_after(report, "start"));
    let (kill, start) = (ended(&report, "kill", "done"), ended(&report, "start", "done"));
    let (killed_s, started_s) = (number(kill, "ended_s"), number(start, "began_s"));
    assert!(commits(&report, 0.0, 3.0) > 0.0);
    assert_eq!(commits(&report, killed_s, started_s), 0.0);
    assert!(commits(&report, number(start, "ended_s"), f64::INFINITY) > 0.0);
    assert_eq!(kill["fell"], true, "{kill:#}");
    // Rounded to a second: it may have recovered in the second of its start.
    assert!(kill["recovery_s"].is_null() || number(kill, "recovery_s") > 1.9, "{kill:#}");
    assert!(at(&report, "errors").to_string().contains("connection_lost"));
    assert!(!has_finding(&report, "managed_server_ended"));
}

#[test]
fn a_kill_and_a_start_of_mariadb_are_seen_in_the_seconds() {
    let url = format!("managed:mariadb?{SMALL_AND_DURABLE}");
    a_kill_and_a_start_are_seen_in_the_seconds(&url);
}

#[test]
fn a_kill_and_a_start_of_mysql_are_seen_in_the_seconds() {
    a_kill_and_a_start_are_seen_in_the_seconds(&mysql_9_7(SMALL_AND_DURABLE));
}

#[track_caller]
fn a_server_is_paused_and_restarted(url: &str) {
    let home = Home::new();
    let deeds = [("2s", "pause 1500ms"), ("5s", "restart")];
    // On a new connection: the old one was lost with the restart.
    let after = "[[at]]\ntime = \"6s\"\nevery = \"5s\"\nname = \"after it\"\nsql = \"SELECT 1\"\n";
    let plan = managed(url, &deeds) + after;
    let first = report(&home, &plan, |report| {
        let all = report["disturbances"].as_array().expect("a list");
        let is_done = |one: &Value| one["name"] == "after it" && one["outcome"] == "done";
        all.iter().any(is_done) && went_on_after(report, "restart")
    });
    let (report, restart) = (&first, ended(&first, "restart", "done"));
    assert!(commits(report, 0.0, 5.0) > 0.0);
    assert!(number(restart, "ended_s") > 5.0, "{restart:#}");
    let pause = ended(report, "pause 1500ms", "done");
    let took = number(pause, "ended_s") - number(pause, "began_s");
    assert!(took >= 1.5, "{pause:#}");
    assert!(number(pause, "during.response_ms.max") > 1000.0, "{pause:#}");
}

#[test]
fn a_postgres_is_paused_and_restarted() {
    a_server_is_paused_and_restarted("managed:postgres?fsync=off&shared_buffers=64MB");
}

#[test]
fn a_mysql_is_paused_and_restarted() {
    a_server_is_paused_and_restarted(&mysql_9_7(SMALL_AND_DURABLE));
}

#[test]
fn a_postgres_that_a_plan_has_stopped_is_started_again_after_the_load() {
    let home = Home::new();
    let plan = managed("managed:postgres?fsync=off&shared_buffers=64MB", &[("2s", "stop")]);
    // A client may see the last replies late.
    let n_seconds = |report: &Value| report["seconds"].as_array().map_or(0, Vec::len) as f64;
    let is_seen = |report: &Value| {
        let n_seconds = n_seconds(report);
        let is_after = ended_s(report, "stop").is_some_and(|ended_s| n_seconds > ended_s + 2.0);
        is_after && commits(report, n_seconds - 2.0, f64::INFINITY) == 0.0
    };
    let report = report(&home, &plan, is_seen);
    ended(&report, "stop", "done");
    assert!(number(&report, "counts.offered") > 0.0);
    // The plan does not start it again, but the data are checked.
    assert!(at(&report, "output").to_string().contains("started again after the load"));
    assert!(!has_finding(&report, "checks_not_run"), "{:#}", report["findings"]);
}

/// Returns the path of the folder with the examples.
pub(crate) fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Returns the text of an example plan in which these words are replaced.
pub(crate) fn example(name: &str, words: &[(&str, &str)]) -> String {
    let mut plan = fs::read_to_string(examples().join(name)).expect("an example");
    for (from, to) in words {
        assert!(plan.contains(from), "{name} has no {from}");
        plan = plan.replace(from, to);
    }
    plan
}

const SMALL: [(&str, &str); 3] = [
    ("ramp_up = \"10s\"", "ramp_up = \"0s\""),
    ("duration = \"90s\"", "duration = \"1h\""),
    ("innodb_buffer_pool_size=256M", "innodb_buffer_pool_size=64M"),
];

#[test]
fn the_example_that_drops_a_table_runs() {
    let words = [
        ("time = \"15s\"", "time = \"1s\""),
        ("time = \"60s\"", "time = \"4s\""),
        ("2000000", "20000"),
    ];
    let plan = example("drop-table.toml", &[&SMALL[..], &words].concat());
    let report = report(&Home::new(), &plan, |report| went_on_after(report, "drop big"));
    assert_eq!(ended(&report, "make big", "done")["output"], "20,000 rows affected");
    assert!(at(&report, "load").to_string().contains("open"), "users arrive at a rate");
    let drop = ended(&report, "drop big", "done");
    assert!(number(drop, "before.tps") > 0.0, "{drop:#}");
}

#[test]
fn the_example_that_makes_backups_runs() {
    let words = [
        ("time = \"20s\"", "time = \"1s\""),
        ("time = \"55s\"", "time = \"5s\""),
        ("table_size = 100000", "table_size = 1000"),
    ];
    let plan = example("backup.toml", &[&SMALL[..], &words].concat());
    let report = report(&Home::new(), &plan, |report| went_on_after(report, "backup to nowhere"));
    for name in ["backup to disk", "backup to nowhere"] {
        let backup = ended(&report, name, "done");
        let said = backup["output"].as_str().expect("a text");
        assert!(said.contains("completed OK!"), "{said}");
    }
    assert!(!report.to_string().contains("MYSQL_PWD=\"s"), "a password is shown");
}

#[test]
fn the_example_that_dumps_runs() {
    let words = [
        ("time = \"20s\"", "time = \"1s\""),
        ("time = \"55s\"", "time = \"4s\""),
        ("table_size = 100000", "table_size = 1000"),
    ];
    let plan = example("dump.toml", &[&SMALL[..], &words].concat());
    let report = report(&Home::new(), &plan, |report| went_on_after(report, "dump that locks"));
    ended(&report, "dump of a snapshot", "done");
    ended(&report, "dump that locks", "done");
    assert!(!report.to_string().contains("MYSQL_PWD=\"s"), "a password is shown");
}
