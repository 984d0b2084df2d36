//! Tests of settling before and after a load, by command and after a build: background work is
//! completed, settings are restored, and impossible steps are reported.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use servers::Server;
use servers::for_tests::{
    MARIADB, MARIADB_11_4, MARIADB_11_8, MYSQL_5_6, MYSQL_9_7, POSTGRES, POSTGRES_18, TestServer,
};

use crate::home::{Home, at};
use crate::real::url;
use crate::settings::ask;
use crate::waiting::eventually;

const SMALL: [&str; 3] = ["--tables=1", "--table-size=2000", "--clients=2"];

/// Returns the fact of a run that is a number, by its name.
fn fact(report: &Value, name: &str) -> i64 {
    let text = at(report, &format!("facts.{name}")).as_str().expect("a text");
    text.parse().unwrap_or_else(|_| panic!("{name} is {text}"))
}

/// Runs writes for a second, with settling before and after; returns the report.
fn settled_run(home: &Home, target: &str) -> Value {
    let args = ["run", "oltp-write-only", target, "--settle=both", "--duration=1s"];
    let more = ["--rate=300", "--ramp-up=0s", "--check=off", "--output=json"];
    home.run(&[&args[..], &SMALL, &more].concat()).json()
}

/// Returns the values on the server of the settings that settling changes.
fn innodb(server: &Server) -> String {
    let select = |name: &str| format!("SELECT CAST(@@GLOBAL.{name} AS CHAR)");
    let names = ["innodb_purge_batch_size", "innodb_io_capacity", "innodb_io_capacity_max"];
    let more = ["innodb_max_dirty_pages_pct", "innodb_max_dirty_pages_pct_lwm"];
    let all = names.into_iter().chain(more).chain(["innodb_lru_scan_depth"]);
    let is_new = server.version().starts_with("9.");
    let all = all.chain(is_new.then_some("innodb_purge_rseg_truncate_frequency"));
    all.map(|name| ask(server, &[&select(name)])).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn innodb_rests(server: &'static TestServer) {
    let server = server.start();
    let (home, before) = (Home::new(), innodb(&server));
    let report = settled_run(&home, &format!("--target={}", url(&server)));
    for when in ["settle_before", "settle_after"] {
        assert_eq!(fact(&report, &format!("{when}.dirty_pages_after")), 0, "{when}");
        // MySQL 5.6 keeps purged transactions in the list while it is idle.
        let n_left = fact(&report, &format!("{when}.history_list_after"));
        let is_old = server.version().starts_with("5.6.");
        assert!(n_left == 0 || is_old, "{when}: {n_left}");
    }
    let findings = at(&report, "findings").to_string();
    assert!(!findings.contains("not_settled"), "{findings}");
    // The default of MySQL 5.6; later ones depend on the number of processors.
    let is_advised = findings.contains("innodb_purge_threads is 1 (advised: 4)");
    let is_old = server.version().starts_with("5.6.");
    let may_be_advised = server.target().scheme == "mysql";
    assert!(is_advised == is_old || is_advised && may_be_advised, "{findings}");
    // The build and the load leave background work; MySQL does it by itself after a second of
    // idling, so the amount depends on when settling starts.
    if server.target().scheme == "mariadb" {
        assert!(fact(&report, "settle_before.dirty_pages_before") > 0);
        assert!(fact(&report, "settle_after.dirty_pages_before") > 0);
        assert!(fact(&report, "settle_after.written_bytes") > 0);
    }
    assert_eq!(innodb(&server), before, "all settings are set back");
    home.run(&["restore", "--dry-run"]).good();
    let page = home.run(&["runs", "show", "last", "--full"]).good();
    page.says(&["settled", "before the load in", "after the load in", "dirty pages"]);
    assert!(fact(&report, "settle_after.commits_per_s_after") <= 100);
    by_hand_says_that_nothing_is_left(&home, &server);
    let figure = "settle_after.dirty_pages_after";
    home.run(&["runs", "show", "last", "--figures"]).good().says(&[figure]);
}

/// Settles a database by command, and checks that the steps add up to the whole, and no work is
/// left.
#[track_caller]
fn by_hand_says_that_nothing_is_left(home: &Home, server: &Server) {
    let target = format!("--target={}", url(server));
    let args = ["settle", "oltp-write-only", &target, "--settle-limit=15m", "--output=json"];
    let shown = home.run(&args).good().json();
    let steps = at(&shown, "steps").as_array().expect("a list");
    let names: Vec<&str> = steps.iter().filter_map(|step| step["name"].as_str()).collect();
    assert_eq!(names, ["wait", "purge", "checkpoint"]);
    let sum: f64 = steps.iter().filter_map(|step| step["seconds"].as_f64()).sum();
    let all = at(&shown, "seconds").as_f64().expect("a number");
    assert!((all - sum).abs() < 1e-6, "{shown}");
    assert_eq!(at(&shown, "left").to_string(), "[]", "{shown}");
}

#[test]
fn mariadb_is_purged_and_written_back_and_its_settings_are_set_back() {
    innodb_rests(&MARIADB);
    innodb_rests(&MARIADB_11_4);
    innodb_rests(&MARIADB_11_8);
}

#[test]
fn mysql_5_6_is_purged_and_written_back() {
    innodb_rests(&MYSQL_5_6);
}

#[test]
fn mysql_9_7_is_purged_and_written_back() {
    innodb_rests(&MYSQL_9_7);
}

#[test]
fn postgres_is_vacuumed_and_checkpointed() {
    for server in [&POSTGRES, &POSTGRES_18] {
        let server = server.start();
        let home = Home::new();
        let report = settled_run(&home, &format!("--target={}", url(&server)));
        assert_eq!(fact(&report, "settle_after.dead_rows_after"), 0);
        assert_eq!(fact(&report, "settle_after.autovacuum_workers_after"), 0);
        assert!(fact(&report, "settle_after.written_bytes") > 0);
        let since = "SELECT (pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn) < 1048576)::text \
                     FROM pg_control_checkpoint()";
        assert_eq!(ask(&server, &[since]), "true", "a checkpoint was the last that it did");
    }
}

#[test]
fn sqlite_is_checkpointed_by_a_run_after_a_build_and_by_hand() {
    let home = Home::new();
    let target = format!("--target=sqlite:{}", home.path("x.db").display());
    let args = ["build", "oltp-write-only", &target, "--settle", "--output=json"];
    let built = home.run(&[&args[..], &SMALL[..2]].concat()).json();
    assert_eq!(at(&built, "settled.incomplete"), &Value::Array(Vec::new()));
    let report = settled_run(&home, &target);
    assert_eq!(fact(&report, "settle_after.log_pages_after"), 0);
    let shown = home.json(&["settle", "oltp-write-only", &target]);
    let steps = at(&shown, "steps").as_array().expect("a list");
    let names: Vec<&str> = steps.iter().filter_map(|step| step["name"].as_str()).collect();
    assert_eq!(names, ["optimize", "checkpoint"]);
    home.run(&["settle", "oltp-write-only", &target]).good().says(&["settled in", "log pages"]);
}

#[test]
fn a_server_that_dies_while_it_settles_is_reported_by_the_command() {
    let HeldUp { mut server, home, target, snapshot } = HeldUp::new();
    let mut settling = home.start(&["settle", "oltp-write-only", &target, "--settle-limit=1h"]);
    settling.wait_until("settings are raised", |_| {
        ask(&server, &["SELECT CAST(@@GLOBAL.innodb_purge_threads AS CHAR)"]) == "32"
    });
    server.kill().expect("it is ours");
    drop(snapshot);
    // Before its hour is over, and with settings to restore when the server is back.
    settling.end().code(1).warns(&["dbdyno restore"]);
    server.restart().expect("it starts again");
    home.run(&["restore", &target]).good();
    home.run(&["restore", "--dry-run"]).good();
}

#[test]
fn a_server_that_falls_silent_while_it_settles_is_given_up_after_the_limit() {
    let HeldUp { server, home, target, snapshot } = HeldUp::new();
    let mut settling = home.start(&["settle", "oltp-write-only", &target, "--settle-limit=10s"]);
    settling.wait_until("settings are raised", |_| {
        ask(&server, &["SELECT CAST(@@GLOBAL.innodb_purge_threads AS CHAR)"]) == "32"
    });
    let process = server.process_id().expect("it is there");
    let process = Pid::from_raw(process.cast_signed()).expect("a number");
    kill_process(process, Signal::STOP).expect("it is ours");
    let ended = settling.end();
    kill_process(process, Signal::CONT).expect("it is ours");
    let words = "the server does not answer: its last words are 10s after the time limit \
                 (--settle-limit) of 10s; check its log and its host";
    ended.code(1).warns(&[words, "dbdyno restore"]);
    drop(snapshot);
    home.run(&["restore", &target]).good();
}

/// Server whose purge is blocked by the snapshot of another session, so that settling lasts until
/// its time limit.
struct HeldUp {
    server: Server,
    home: Home,
    target: String,
    snapshot: Box<dyn model::Session>,
}

impl HeldUp {
    fn new() -> HeldUp {
        let (server, home) = (MARIADB.start(), Home::new());
        let target = format!("--target={}", url(&server));
        let build = ["build", "oltp-write-only", &target, "--quiet"];
        home.run(&[&build[..], &SMALL[..2]].concat()).good();
        let mut snapshot = crate::settings::session(&server);
        for sql in ["START TRANSACTION WITH CONSISTENT SNAPSHOT", "SELECT COUNT(*) FROM sbtest1"] {
            crate::settings::say(snapshot.as_mut(), sql);
        }
        ask(&server, &["UPDATE sbtest1 SET k = k + 1"]);
        HeldUp { server, home, target, snapshot }
    }

    fn threads(&self) -> String {
        ask(&self.server, &["SELECT CAST(@@GLOBAL.innodb_purge_threads AS CHAR)"])
    }
}

#[test]
fn what_is_not_reached_in_time_is_reported_and_settings_are_set_back() {
    let mut blocked = HeldUp::new();
    let before = (blocked.threads(), innodb(&blocked.server));
    let args = ["settle", "oltp-write-only", &blocked.target, "--settle-limit=2s"];
    let shown = blocked.home.run(&args).code(1);
    let shown = shown.says(&["not settled within ", ": history list ", "; wait "]);
    shown.says(&["not at rest: The purge was not done within the limit of 2s. Allow more time"]);
    let run = ["run", "oltp-write-only", &blocked.target, "--settle=before", "--settle-limit=1s"];
    let more = ["--duration=1s", "--ramp-up=0s", "--check=off", "--output=json"];
    let report = blocked.home.run(&[&run[..], &SMALL, &more].concat()).json();
    let findings = at(&report, "findings").to_string();
    assert!(findings.contains("not_settled") && findings.contains("limit of 1s"), "{findings}");
    assert!(fact(&report, "settle_before.history_list_after") > 0);
    assert_eq!((blocked.threads(), innodb(&blocked.server)), before);
    crate::settings::say(blocked.snapshot.as_mut(), "COMMIT");
    blocked.home.run(&args[..3]).good().says(&["to 0"]);
}

#[test]
fn an_interrupted_settling_after_a_load_is_recorded_and_settings_are_set_back() {
    let blocked = HeldUp::new();
    let before = (blocked.threads(), innodb(&blocked.server));
    let run = ["run", "oltp-write-only", &blocked.target, "--settle=after", "--duration=1s"];
    let more = ["--ramp-up=0s", "--check=off", "--output=json"];
    let mut run = blocked.home.start(&[&run[..], &SMALL, &more].concat());
    run.wait_until("settings are raised", |_| blocked.threads() == "32");
    run.interrupt();
    let report =
        run.end().code(130).warns(&["interrupted: stopping after the work in progress"]).json();
    assert!(fact(&report, "settle_after.history_list_after") > 0);
    let findings = at(&report, "findings").to_string();
    let observed = "Not at rest after the load: It was interrupted before it was done";
    assert!(findings.contains("not_settled") && findings.contains(observed), "{findings}");
    assert_eq!((blocked.threads(), innodb(&blocked.server)), before);
}

/// Checks tables in which few pages have dead rows, since a plain VACUUM skips the indexes of such
/// tables.
#[test]
fn postgres_has_no_dead_rows_also_where_few_pages_have_any() {
    let (server, home) = (POSTGRES.start(), Home::new());
    let target = format!("--target={}", url(&server));
    let build = ["build", "oltp-write-only", &target, "--quiet", "--tables=1"];
    home.run(&[&build[..], &["--table-size=50000"]].concat()).good();
    ask(&server, &["UPDATE sbtest1 SET c = c WHERE id <= 20"]);
    home.run(&["settle", "oltp-write-only", &target]).good().says(&["dead rows", "to 0)"]);
}

/// Ends a transaction that holds dead rows after the first vacuum.
#[test]
fn postgres_is_vacuumed_again_when_what_held_dead_rows_has_ended() {
    let (server, home) = (POSTGRES.start(), Home::new());
    let target = format!("--target={}", url(&server));
    let build = ["build", "oltp-write-only", &target, "--quiet"];
    home.run(&[&build[..], &SMALL[..2]].concat()).good();
    let mut snapshot = crate::settings::session(&server);
    for sql in ["BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM sbtest1"] {
        crate::settings::say(snapshot.as_mut(), sql);
    }
    ask(&server, &["UPDATE sbtest1 SET c = c"]);
    // Fewer commits than those of sessions that settling waits for.
    let vacuums = "SELECT vacuum_count::text FROM pg_sleep(0.2), pg_stat_user_tables \
                   WHERE relname = 'sbtest1'";
    let before = ask(&server, &[vacuums]);
    let mut settling = home.start(&["settle", "oltp-write-only", &target]);
    settling.wait_until("the table is vacuumed", |_| ask(&server, &[vacuums]) != before);
    crate::settings::say(snapshot.as_mut(), "COMMIT");
    settling.end().good().says(&["dead rows", "to 0)"]);
}

#[test]
fn settings_of_a_settling_that_was_killed_are_restored() {
    let blocked = HeldUp::new();
    let before = (blocked.threads(), innodb(&blocked.server));
    let mut settling = blocked.home.start(&["settle", "oltp-write-only", &blocked.target]);
    settling.wait_until("settings are raised", |_| blocked.threads() == "32");
    settling.kill();
    settling.end();
    assert_eq!(blocked.threads(), "32");
    blocked.home.run(&["restore", &blocked.target]).good();
    assert_eq!((blocked.threads(), innodb(&blocked.server)), before);
}

/// Checks that a run without a store changes no server settings, since changed settings would be
/// unknown after a crash.
#[test]
fn a_run_that_is_not_stored_changes_no_settings_of_a_server_that_outlives_it() {
    let (server, home) = (MARIADB.shared(), Home::new());
    let target = format!("--target={}", url(server));
    let run = |target: &str, more: &[&str]| {
        let args = ["run", "empty", target, "--no-store", "--duration=1s", "--ramp-up=0s", "-q"];
        home.run(&[&args[..], more].concat())
    };
    for flag in ["--settle=before", "--instruments=on"] {
        let refused = run(&target, &[flag]).code(2);
        let (name, _) = flag.split_once('=').expect("a value");
        refused.warns(&[name, "a journal in the store", "without --no-store"]).is_a_sentence();
    }
    let at = "duration = '2s'\n[[group]]\nworkload = 'empty'\n[[at]]\ntime = '1s'\nsettle = ";
    home.write("at.toml", format!("target = '{}'\n{at}'checkpoint'\n", url(server)));
    let refused = home.run(&["run", "at.toml", "--no-store", "--quiet"]).code(2);
    refused.warns(&["settle in [[at]]", "a journal in the store"]).is_a_sentence();
    run("--target=managed:mariadb", &["--settle=before", "--instruments=on"]).good();
    let postgres = format!("--target={}", url(POSTGRES.shared()));
    run(&postgres, &["--settle=before"]).good();
}

/// Checks settling while other sessions write by statements outside of transactions, whose commits
/// MariaDB and MySQL do not count.
#[test]
fn statements_of_others_outside_of_transactions_are_waited_for() {
    for server in [&MARIADB, &MARIADB_11_4, &MARIADB_11_8, &MYSQL_5_6] {
        let (server, home) = (server.start(), Home::new());
        let target = format!("--target={}", url(&server));
        let build = ["build", "oltp-write-only", &target, "--quiet"];
        home.run(&[&build[..], &SMALL[..2]].concat()).good();
        // A hundred in a round trip: enough to count on any machine.
        let busy = "CREATE PROCEDURE busy() BEGIN DECLARE i INT DEFAULT 0; WHILE i < 100 DO \
                    UPDATE sbtest1 SET k = k + 1 WHERE id = 1; SET i = i + 1; END WHILE; END";
        ask(&server, &["SET GLOBAL innodb_flush_log_at_trx_commit = 0", busy]);
        let is_over = AtomicBool::new(false);
        let shown = thread::scope(|scope| {
            scope.spawn(|| {
                let mut writer = crate::settings::session(&server);
                while !is_over.load(Ordering::Relaxed) {
                    crate::settings::say(writer.as_mut(), "CALL busy()");
                }
            });
            let args = ["settle", "oltp-write-only", &target, "--settle-limit=1s"];
            let more = ["--output=json"];
            let ran = home.run(&[&args[..], &more].concat());
            is_over.store(true, Ordering::Relaxed);
            ran.code(1).json()
        });
        let why = at(&shown, "incomplete").to_string();
        assert!(why.contains("commits/s of other sessions"), "{shown}");
        assert!(at(&shown, "commits").as_u64().is_some_and(|n| n > 0), "{shown}");
    }
}

/// Settles tables of another owner: VACUUM only warns, and the tables' dead rows stay.
#[test]
fn postgres_tables_of_somebody_else_are_not_vacuumed_and_it_says_so() {
    for (server, is_new) in [(&POSTGRES, false), (&POSTGRES_18, true)] {
        let (server, home) = (server.start(), Home::new());
        let target = format!("--target={}", url(&server));
        let build = ["build", "oltp-write-only", &target, "--quiet"];
        home.run(&[&build[..], &SMALL[..2]].concat()).good();
        let own = server.target();
        let user = own.user.clone().expect("a user");
        let password = own.password.as_ref().map_or("", model::Secret::reveal).to_owned();
        ask(
            &server,
            &[
                "CREATE USER plain PASSWORD 'secret'",
                "GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA public TO plain",
                "UPDATE sbtest1 SET c = c",
            ],
        );
        // A session publishes its statistics at its end, or a moment later.
        let dead = "SELECT (n_dead_tup > 0)::text FROM pg_stat_user_tables \
                    WHERE relname = 'sbtest1'";
        assert!(eventually(|| ask(&server, &[dead]) == "true"));
        let plain = url(&server).replacen(&format!("//{user}"), "//plain", 1);
        let plain = format!("--target={}", plain.replacen(&password, "secret", 1));
        let shown = home.run(&["settle", "oltp-write-only", &plain, "--quiet"]).code(1);
        let words = "The vacuum passed over sbtest1. VACUUM needs the owner of the tables";
        let shown = shown.says(&[words]);
        assert!(!shown.out.contains("Open transactions"), "{}", shown.out);
        if is_new {
            ask(&server, &["GRANT pg_maintain TO plain", "GRANT pg_checkpoint TO plain"]);
            home.run(&["settle", "oltp-write-only", &plain, "--quiet"]).good();
        }
        home.run(&["settle", "oltp-write-only", &target, "--quiet"]).good();
    }
}

/// Settles as a user who may write, but neither change settings nor run a checkpoint.
#[test]
fn without_the_privileges_it_is_settled_in_part_and_says_so() {
    let (server, home) = (MARIADB.start(), Home::new());
    let name = server.target().path.trim_start_matches('/').to_owned();
    let grant = format!("GRANT ALL ON {name}.* TO plain");
    ask(&server, &["CREATE USER plain IDENTIFIED BY 'secret'", &grant]);
    let own = server.target();
    let user = own.user.clone().expect("a user");
    let plain = url(&server).replacen(&format!("//{user}"), "//plain", 1);
    let password = own.password.as_ref().map_or("", model::Secret::reveal).to_owned();
    let target = format!("--target={}", plain.replacen(&password, "secret", 1));
    let build = ["build", "oltp-write-only", &target, "--quiet"];
    home.run(&[&build[..], &SMALL[..2]].concat()).good();
    let shown = home.run(&["settle", "oltp-write-only", &target]).code(1);
    let words = ["cannot change settings", "sign in as a user with the privilege"];
    let shown = shown.says(&words).says(&["not settled within", "dirty pages"]);
    // Work that needs the privilege is not awaited, and no transaction causes dirty pages.
    assert!(!shown.out.contains("stayed at"), "{}", shown.out);
    assert!(!shown.out.contains("Open transactions"), "{}", shown.out);
}
