//! Tests of the workload `arm`: everything that an application generates is stored, dropped or
//! pending; on every database, by every write method, and when servers and clients die.

use serde_json::Value;
use servers::for_tests::{MARIADB, MYSQL_5_6, MYSQL_9_7, POSTGRES, TestServer};

use crate::enough::{report_once, went_on_after};
use crate::home::{Home, at, number};
use crate::real::{tpcc, url, url_of};

const MIXTURE: &str = "--scenario=simple*3,correlator+metrics=2+contexts=4";

/// Returns a number from the facts of a run in which `arm` accounts for its measurements, such as
/// `dropped`.
fn account(report: &Value, name: &str) -> f64 {
    let text = at(report, "facts.arm")[name].as_str().unwrap_or_else(|| panic!("no {name}"));
    text.parse().unwrap_or_else(|_| panic!("{name} is '{text}'"))
}

/// Asserts that each measurement that `arm` generated is stored, dropped or pending, and that all
/// checks of the data pass.
#[track_caller]
fn nothing_is_lost(report: &Value) {
    let count = |name| account(report, name);
    assert_eq!(
        count("generated"),
        count("stored") + count("dropped") + count("pending"),
        "{report:#}"
    );
    if let Some(checks) = report["checks"]["after"].as_array() {
        assert!(checks.iter().all(|check| check["failed"] == 0), "{checks:#?}");
    }
}

/// Runs `arm` in virtual time; `service` is how long a statement takes.
fn simulated(home: &Home, service: &str, args: &[&str]) -> Value {
    let target = format!("--target=sim:?service=constant:{service}");
    let fixed = ["run", "arm", &target, "--placement=simulated", "--ramp-up=0s"];
    // It may be too short to be valid, which is another exit code.
    let report = home.call(&[&fixed[..], args, &["--output=json"]].concat()).json();
    nothing_is_lost(&report);
    report
}

#[test]
fn a_database_whose_reads_return_rows_without_names_has_no_classes() {
    let home = Home::new();
    let args = ["--measurements=1000", "--duration=60s"];
    let report = simulated(&home, "10ms&rows=3", &args);
    assert_eq!(account(&report, "stored"), 1_000.0);
}

#[test]
fn a_run_ends_when_all_measurements_are_stored_and_repeats_to_the_letter() {
    let home = Home::new();
    let args = ["--measurements=100001", "--clients=3", "--duration=60s", MIXTURE];
    let first = simulated(&home, "10ms", &args);
    assert_eq!(account(&first, "generated"), 100_001.0);
    assert_eq!(account(&first, "stored"), 100_001.0);
    assert_eq!(number(&first, "custom_metrics.measurements.sum"), 100_001.0);
    assert_eq!(number(&first, "custom_metrics.age_at_commit.count"), 100_001.0);
    let again = simulated(&home, "10ms", &args);
    for name in ["tps", "custom_metrics", "response_ms", "measured_seconds"] {
        assert_eq!(first[name], again[name], "{name}");
    }
    assert_eq!(at(&first, "facts.arm"), at(&again, "facts.arm"));
}

#[test]
fn where_pools_are_empty_the_application_waits_or_drops_as_asked() {
    let home = Home::new();
    let args = ["--application-rate=100000", "--buffer-pool=3", "--duration=20s"];
    let blocked = simulated(&home, "50ms", &args);
    assert_eq!(account(&blocked, "dropped"), 0.0);
    assert!(account(&blocked, "application_blocked_percent") > 50.0, "{blocked:#}");
    assert!(account(&blocked, "waits_for_buffers") > 1.0);
    assert!(account(&blocked, "waits_for_transactions") > 1.0);
    // All pending measurements are in pools, which are bounded.
    let per_buffer = number(&blocked, "custom_metrics.measurements.mean");
    assert!(account(&blocked, "pending") <= 2048.0 + 3.0 * per_buffer);

    let dropped = simulated(&home, "50ms", &[&args[..], &["--pool-empty=drop"]].concat());
    assert_eq!(account(&dropped, "application_blocked_percent"), 0.0);
    assert!((account(&dropped, "generated") - 2e6).abs() < 100.0);
    assert!(account(&dropped, "dropped") > 1e6);
    let of_dropped = |report: &Value| {
        let findings = at(report, "findings").as_array().expect("a list").clone();
        findings.into_iter().find(|finding| finding["id"] == "dropped_measurements")
    };
    assert_eq!(of_dropped(&blocked), None);
    let found = of_dropped(&dropped).expect("most were dropped");
    assert_eq!(found["severity"], "warning");
    let text = found["text"].as_str().expect("words");
    let [n_dropped, all] = ["dropped", "generated"].map(|name| account(&dropped, name));
    let share = format!("measurements were dropped ({:.1} %)", 100.0 * n_dropped / all);
    assert!(
        text.starts_with(&format!("{},", (n_dropped / 1e6).floor())) && text.contains(&share),
        "{text}"
    );

    // A database that keeps up stores everything.
    let args =
        ["--application-rate=10000", "--duration=20s", "--clients=4", "--buffer-bytes=20000"];
    let kept_up = simulated(&home, "1ms", &args);
    assert!((account(&kept_up, "generated") - 2e5).abs() < 10.0);
    assert!(account(&kept_up, "application_blocked_percent") < 0.1);
    let rate = number(&kept_up, "custom_metrics.measurements.sum") / 20.0;
    assert!((9_900.0..=10_000.0).contains(&rate), "{rate}");
}

#[test]
fn a_pool_of_metrics_may_be_what_is_lacking() {
    let home = Home::new();
    let args = ["--scenario=metrics=7", "--metric-pool=14", "--measurements=50000"];
    let report = simulated(&home, "5ms", &[&args[..], &["--buffer-pool=2"]].concat());
    assert_eq!(account(&report, "stored"), 50_000.0);
    assert!(account(&report, "waits_for_metrics") > 1.0);
    assert_eq!(account(&report, "waits_for_transactions"), 0.0);
}

/// Runs `arm` in real time until `n` measurements are stored.
fn stored(home: &Home, target: &str, n: u32, args: &[&str]) -> Value {
    let target = format!("--target={target}");
    let measurements = format!("--measurements={n}");
    let fixed = ["run", "arm", &target, &measurements, MIXTURE, "--failed-percent=5"];
    let more = ["--clients=3", "--ramp-up=0s", "--application-threads=2", "--check=both"];
    // It may be too short to be valid, which is another exit code.
    let report = home.call(&[&fixed[..], &more, args, &["--output=json"]].concat()).json();
    nothing_is_lost(&report);
    assert_eq!(account(&report, "stored"), f64::from(n), "{args:?}");
    report
}

#[test]
fn every_layout_and_way_of_writing_stores_what_was_generated_on_sqlite() {
    let home = Home::new();
    for contexts in ["rows", "columns", "json"] {
        for keys in ["true", "false"] {
            let target = format!("sqlite:{}/{contexts}-{keys}.db", home.folder().display());
            let data = [format!("--contexts={contexts}"), format!("--keys={keys}")];
            for write in ["insert", "row", "bulk"] {
                // Ids of a run continue after those of the earlier one.
                let write = format!("--write={write}");
                stored(&home, &target, 2_000, &[&*data[0], &*data[1], &*write]);
            }
        }
    }
}

#[test]
fn transactions_fail_and_are_aborted_as_often_as_asked() {
    let home = Home::new();
    let target = format!("sqlite:{}/a.db", home.folder().display());
    stored(&home, &target, 20_000, &["--aborted-percent=10", "--diagnostic-bytes=20"]);
    let shop = rusqlite::Connection::open(home.path("a.db")).expect("a file");
    let by_status = "SELECT status, COUNT(*), COUNT(diagnostic), MIN(LENGTH(diagnostic)) \
                     FROM arm_measurement GROUP BY status ORDER BY status";
    let mut statement = shop.prepare(by_status).expect("valid");
    let rows = statement.query_map([], |row| {
        Ok((row.get(0)?, row.get::<_, f64>(1)?, row.get::<_, f64>(2)?, row.get(3)?))
    });
    let rows: Vec<(i64, f64, f64, Option<i64>)> =
        rows.expect("rows").collect::<Result<_, _>>().expect("rows");
    let statuses: Vec<i64> = rows.iter().map(|row| row.0).collect();
    assert_eq!(statuses, [0, 1, 2]);
    // Within six standard deviations.
    assert!((rows[1].1 - 2_000.0).abs() < 6.0 * 42.5, "{rows:?}");
    assert!((rows[2].1 - 1_000.0).abs() < 6.0 * 31.0, "{rows:?}");
    let details: Vec<(f64, Option<i64>)> = rows.iter().map(|row| (row.2, row.3)).collect();
    assert_eq!(details, [(0.0, None), (0.0, None), (rows[2].1, Some(20))]);
}

#[test]
fn a_value_that_was_changed_fails_the_checks_in_every_layout() {
    let home = Home::new();
    let changed = |value: &str| format!("'Z' || SUBSTR({value}, 2)");
    let json = r#"REPLACE(contexts, 'context_4":"', 'context_4":"Z')"#;
    for (contexts, (table, column, changed)) in [
        ("rows", ("arm_context", "value", changed("value"))),
        ("columns", ("arm_measurement", "context_4", changed("context_4"))),
        ("json", ("arm_measurement", "contexts", json.to_owned())),
    ] {
        let target = format!("sqlite:{}/{contexts}.db", home.folder().display());
        stored(&home, &target, 500, &[&*format!("--contexts={contexts}")]);
        let check = format!("--target={target}");
        home.call(&["check", "arm", &check]).good().says(&["4 of 4"]);
        let shop = rusqlite::Connection::open(home.path(&format!("{contexts}.db"))).expect("there");
        for (table, column, changed) in [
            (table, column, changed.as_str()),
            ("arm_metric", "value", "value + 1"),
            ("arm_measurement", "start_ns", "start_ns - 1"),
            ("arm_measurement", "status", "status + 1"),
            ("arm_measurement", "parent_correlator", "parent_correlator + 1"),
            ("arm_measurement", "diagnostic", "'none'"),
        ] {
            let one = format!("(SELECT MIN(rowid) FROM {table} WHERE {column} IS NOT NULL)");
            let [before, at]: [rusqlite::types::Value; 2] = [column, "rowid"].map(|what| {
                let asked = format!("SELECT {what} FROM {table} WHERE rowid = {one}");
                shop.query_row(&asked, [], |row| row.get(0)).expect("there is one")
            });
            let change = format!("UPDATE {table} SET {column} = {changed} WHERE rowid = ?");
            assert_eq!(shop.execute(&change, [&at]).expect("valid"), 1);
            home.call(&["check", "arm", &check]).code(1).says(&["3 of 4"]);
            let back = format!("UPDATE {table} SET {column} = ? WHERE rowid = ?");
            shop.execute(&back, [&before, &at]).expect("valid");
        }
        home.call(&["check", "arm", &check]).good().says(&["4 of 4"]);
    }
}

/// Plan of two groups with the workload `arm`, each with its own application.
const TWO: &str = r#"
ramp_up = "0s"
[[group]]
name = "one"
workload = "arm"
clients = 2
parameters = { scenario = "simple", measurements = 3000, buffer_bytes = 5000 }
[[group]]
name = "two"
workload = "arm"
clients = 2
parameters = { scenario = "metrics,simple", measurements = 2000, buffer_bytes = 5000 }
"#;

#[track_caller]
fn groups_have_what_is_their_own(home: &Home, target: &str) {
    home.write("two.toml", TWO);
    let args = ["run", "two.toml", target, "--check=both", "--output=json"];
    for _ in 0..2 {
        let report = home.call(&args).json();
        let held = at(&report, "checks.after").as_array().expect("a list");
        assert!(held.iter().all(|check| check["failed"] == 0), "{held:#?}");
        for (group, n) in [("one", 3_000.0), ("two", 2_000.0)] {
            assert_eq!(account(&report, &format!("{group}.stored")), n);
            assert_eq!(account(&report, &format!("{group}.generated")), n);
        }
    }
}

#[test]
fn two_groups_store_beside_each_other_and_a_class_keeps_its_number() {
    let home = Home::new();
    groups_have_what_is_their_own(
        &home,
        &format!("--target=sqlite:{}/a.db", home.folder().display()),
    );
    let shop = rusqlite::Connection::open(home.path("a.db")).expect("a file");
    let asked = "SELECT COUNT(DISTINCT class), SUM(measurements) FROM arm_buffer WHERE class >= 0";
    let found = shop.query_row(asked, [], |row| Ok((row.get(0)?, row.get(1)?)));
    assert_eq!(found.expect("there"), (2, 10_000));
    let asked = "SELECT COUNT(DISTINCT class) FROM arm_buffer WHERE class_name = 'simple'";
    assert_eq!(shop.query_row(asked, [], |row| row.get(0)), Ok(1));
}

#[test]
fn two_groups_store_beside_each_other_on_servers() {
    for server in [&MARIADB, &POSTGRES] {
        let target = format!("--target={}", url_of(server.shared(), "two"));
        groups_have_what_is_their_own(&Home::new(), &target);
    }
}

#[test]
fn a_run_that_stores_less_than_was_asked_for_says_so() {
    let home = Home::new();
    let finding = |args: &[&str], id: &str, words: &str| {
        let report = simulated(&home, "100ms", args);
        let findings = at(&report, "findings").as_array().expect("a list");
        let found = findings.iter().find(|finding| finding["id"] == id);
        let found = found.unwrap_or_else(|| panic!("no {id}: {findings:#?}"));
        assert!(found["text"].as_str().is_some_and(|text| text.contains(words)), "{found}");
    };
    let short = ["--measurements=10M", "--duration=2s"];
    finding(&short, "measurements_short", "of 10,000,000 measurements stored");
    let few = ["--application-rate=10", "--duration=2s"];
    finding(&few, "no_buffer_filled", "Give less --buffer-bytes");
}

#[track_caller]
fn stored_on(server: &TestServer) {
    let home = Home::new();
    let target = url_of(server.shared(), "arm");
    for (write, placement) in [("insert", "thread"), ("bulk", "loop"), ("row", "loop")] {
        let args = [format!("--write={write}"), format!("--placement={placement}")];
        let report = stored(&home, &target, 2_000, &[&*args[0], &*args[1]]);
        assert!(number(&report, "custom_metrics.rows.sum") > 0.0);
    }
}

#[test]
fn every_way_of_writing_stores_what_was_generated_on_mariadb() {
    stored_on(&MARIADB);
}

#[test]
fn every_way_of_writing_stores_what_was_generated_on_mysql_5_6() {
    stored_on(&MYSQL_5_6);
}

#[test]
fn every_way_of_writing_stores_what_was_generated_on_mysql_9_7() {
    stored_on(&MYSQL_9_7);
}

#[test]
fn every_way_of_writing_stores_what_was_generated_on_postgres() {
    stored_on(&POSTGRES);
}

#[track_caller]
fn outlives_a_crash(server: &TestServer, setting: (&str, &str)) {
    let home = Home::new();
    let mut server = server.start_with(&[setting]);
    let target = format!("--target={}", url(&server));
    let args = ["run", "arm", &target, MIXTURE, "--clients=4", "--ramp-up=0s", "--duration=1h"];
    let rate = ["--application-rate=1500", "--buffer-bytes=5000"];
    // The run ends with the last measurement, independent of the length of the outage.
    let more = ["--measurements=20000", "--quiet", "--output=json"];
    let mut run = home.start(&[&args[..], &rate, &more].concat());
    crate::outage::wait_for_seconds(&home, &mut run, 3);
    server.kill().expect("killed");
    server.restart().expect("it recovers");
    let ran = run.end();
    let report = ran.json();
    assert_eq!(report["status"], "completed", "{}", ran.err);
    nothing_is_lost(&report);
    assert_eq!(account(&report, "dropped"), 0.0);
    let held = at(&report, "checks.after").as_array().expect("a list");
    assert!(held.len() == 4 && held.iter().all(|check| check["failed"] == 0), "{held:#?}");
    let errors = at(&report, "errors").to_string();
    assert!(errors.contains("connection_lost"), "{errors}");
}

#[test]
fn no_buffer_is_lost_or_half_stored_when_mariadb_crashes() {
    outlives_a_crash(&MARIADB, ("innodb_flush_log_at_trx_commit", "1"));
}

#[test]
fn no_buffer_is_lost_or_half_stored_when_postgres_crashes() {
    outlives_a_crash(&POSTGRES, ("fsync", "on"));
}

#[test]
fn a_killed_application_leaves_no_buffer_half_stored() {
    let home = Home::new();
    let server = MARIADB.start();
    let target = format!("--target={}", url(&server));
    let args = ["run", "arm", &target, MIXTURE, "--clients=4", "--duration=1h", "--quiet"];
    let rate = ["--application-rate=5000", "--buffer-bytes=5000"];
    let mut run = home.start(&[&args[..], &rate].concat());
    crate::outage::wait_for_seconds(&home, &mut run, 3);
    run.kill();
    home.call(&["check", "arm", &target]).good().says(&["4 of 4"]);
}

/// Checks a run whose committed buffers are deleted meanwhile. The tables agree with each other, so
/// only dbdyno's own count reveals that buffers are missing.
#[test]
fn committed_buffers_that_are_gone_make_a_run_invalid() {
    let home = Home::new();
    let first = "(SELECT MIN(last_id) FROM arm_buffer WHERE measurements > 0)";
    let plan = format!(
        "[target]\nurl = \"{}\"\n[phases]\nramp_up = \"0s\"\nmeasure = \"3s\"\n\
         [[group]]\nworkload = \"arm\"\nclients = 1\nparameters = {{ \
         application_rate = 5000, buffer_bytes = 5000 }}\n\
         [[at]]\ntime = \"1s\"\nsql = \"DELETE FROM arm_measurement WHERE id <= {first}\"\n\
         [[at]]\ntime = \"2s\"\nsql = \"DELETE FROM arm_buffer WHERE measurements > 0 \
         AND last_id = {first}\"\n",
        format_args!("sqlite:{}", home.path("arm.db").display())
    );
    home.write("gone.toml", &plan);
    let report = home.call(&["run", "gone.toml", "--output=json"]).code(1).json();
    nothing_is_lost(&report);
    let ids: Vec<&str> = at(&report, "findings")
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["id"].as_str())
        .collect();
    assert!(ids.contains(&"crosscheck_mismatch"), "{ids:?}");
}

/// Runs 1,000 measurements per second against a server that is paused for four seconds, until
/// something is committed after that.
#[track_caller]
fn paused(server: &str, pool_empty: &str) -> Value {
    let home = Home::new();
    let plan = format!(
        "[target]\nurl = \"{server}\"\n[phases]\nramp_up = \"0s\"\n\
         measure = \"1h\"\n[[group]]\nworkload = \"arm\"\nclients = 4\nparameters = {{ \
         application_rate = 1000, buffer_bytes = 1000, buffer_pool = 4, \
         transaction_pool = 50, pool_empty = \"{pool_empty}\" }}\n\
         [[at]]\ntime = \"2s\"\nname = \"still\"\nserver = \"pause 4s\"\n"
    );
    home.write("paused.toml", &plan);
    let words = ["run", "paused.toml", "--quiet", "--output=json"];
    let report = report_once(&home, home.start(&words), "commits after the pause", |report| {
        went_on_after(report, "still")
    });
    nothing_is_lost(&report);
    // The oldest measurement waited from the first one of the pause, which a busy machine may take
    // late.
    let age_ms = number(&report, "custom_metrics.age_at_commit.max") / 1e6;
    assert!(age_ms > 2_000.0, "{age_ms}");
    report
}

/// Asserts that the application waits or drops measurements, as it is set to, when its pool is
/// full. The server is paused, so the pools are full within 0.1 s; a busy machine may leave the
/// application half of the four seconds.
#[track_caller]
fn waits_or_drops(server: &str) {
    let blocked = paused(server, "block");
    assert_eq!(account(&blocked, "dropped"), 0.0);
    let percent = account(&blocked, "application_blocked_percent");
    let blocked_s = percent / 100.0 * number(&blocked, "measured_seconds");
    assert!(blocked_s > 2.0, "{blocked_s} s: {:#}", blocked["facts"]["arm"]);
    let dropped = paused(server, "drop");
    assert_eq!(account(&dropped, "application_blocked_percent"), 0.0);
    assert!(account(&dropped, "dropped") > 2_000.0, "{:#}", dropped["facts"]["arm"]);
}

#[test]
fn while_mariadb_stands_still_the_application_waits_or_drops_as_asked() {
    waits_or_drops("managed:mariadb?innodb_buffer_pool_size=64M");
}

#[test]
fn while_postgres_stands_still_the_application_waits_or_drops_as_asked() {
    waits_or_drops("managed:postgres?shared_buffers=64MB");
}

#[test]
fn workloads_side_by_side_are_each_held_against_their_own_tables() {
    let home = Home::new();
    let group = |name: &str, workload: &str, rest: &str| {
        format!("[[group]]\nname = \"{name}\"\nworkload = \"{workload}\"\nclients = 2\n{rest}\n")
    };
    let of_events = |rest: &str| format!("parameters = {{ {rest}, tables = 2 }}");
    let writer = of_events("role = \"writer\"");
    let open = format!("load = \"open\"\nrate = \"50kB/s\"\n{writer}");
    let reader = of_events("role = \"reader\", read_interval = \"20ms\"");
    let groups = [
        group("arm", "arm", "parameters = { application_rate = 2000, buffer_bytes = 20000 }"),
        group("writers", "events", &open),
        group("readers", "events", &reader),
        group("shop", "tpcc", "load = \"open\"\nrate = 40\nparameters = { warehouses = 1 }"),
    ];
    let data = tpcc(&MARIADB);
    let target = data.as_ref().expect("it is built").url();
    let start = format!("target = \"{target}\"\nramp_up = \"0s\"\nduration = \"3s\"\n");
    home.write("side-by-side.toml", format!("{start}{}", groups.concat()));
    let report = home.call(&["run", "side-by-side.toml", "--quiet", "--output=json"]).json();
    nothing_is_lost(&report);
    let crosschecks = at(&report, "crosschecks").as_array().expect("a list");
    assert_eq!(crosschecks.len(), 3, "{crosschecks:#?}");
    let findings = at(&report, "findings").as_array().expect("a list");
    assert!(
        findings.iter().all(|one| {
            one["id"] != "crosscheck_mismatch" && one["id"] != "server_commit_count_low"
        }),
        "{findings:#?}"
    );
    for metric in ["arm.measurements", "writers.records", "readers.records_read"] {
        assert!(number(at(&report, "custom_metrics").get(metric).expect("made"), "sum") > 0.0);
    }
    assert!(number(&report, "primary_metrics.nopm.value") > 0.0);
}
