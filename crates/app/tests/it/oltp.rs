//! Tests of the workloads of sysbench and pgbench on real databases, each also on tables that the
//! other program built.
//!
//! Not here: the statements of a transaction (the workloads' own tests).

use std::process::Command;

use app::Error;
use app::run::RunResult;
use model::{Secret, Target};
use servers::Kind;
use servers::for_tests::{
    MARIADB, MARIADB_11_4, MARIADB_11_8, MYSQL_5_6, MYSQL_9_7, POSTGRES, POSTGRES_18, TestServer,
};

use crate::bench::{database, drive, drive_well, refused_by_checks, say};

/// Workloads that share the tables of sysbench; the one that removes rows is last.
const MEMBERS: [&str; 11] = [
    "oltp-point-select",
    "oltp-read-only",
    "oltp-read-write",
    "oltp-complex",
    "oltp-write-only",
    "oltp-update-index",
    "oltp-update-non-index",
    "oltp-random-points",
    "oltp-random-ranges",
    "oltp-insert",
    "oltp-delete",
];

const SIZE: [(&str, &str); 2] = [("tables", "2"), ("table_size", "1000")];

#[test]
fn every_member_finishes_with_eight_clients_on_mariadb() {
    every_member_finishes(&database(MARIADB.shared(), "members"), &[8]);
    bulk_inserts(&database(MARIADB.shared(), "bulk"));
}

#[test]
fn every_member_finishes_with_eight_clients_on_postgresql() {
    every_member_finishes(&database(POSTGRES.shared(), "members"), &[8]);
    bulk_inserts(&database(POSTGRES.shared(), "bulk"));
}

#[test]
fn a_build_that_goes_on_makes_tables_anew_that_were_dropped_meanwhile() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}/dropped.db", folder.path().display());
    let target = Target::parse(&url).expect("a target");
    drive_well(&target, "oltp-point-select", (1, 1), &SIZE);
    // An interrupted drop leaves them in this state, too.
    say(&target, "UPDATE dbdyno_meta SET value = 'building' WHERE name = 'state'");
    say(&target, "DROP TABLE sbtest2");
    // All rows of both tables are counted afterwards.
    drive_well(&target, "oltp-point-select", (1, 1), &SIZE);
}

#[test]
fn every_member_finishes_with_one_client_and_with_eight_on_sqlite() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| {
        let url = format!("sqlite:{}/{name}.db?synchronous=off", folder.path().display());
        Target::parse(&url).expect("a target")
    };
    every_member_finishes(&file("members"), &[1, 8]);
    bulk_inserts(&file("bulk"));
    drive_well(&file("tpcb"), "tpcb", (8, 100), &[]);
    let Err(Error::Failed(why)) = drive(&file("members"), "oltp-bulk-insert", (1, 1), &[]) else {
        panic!("these are other data")
    };
    // Data of a family are dropped by the name of a member.
    assert!(why.contains("holds data of oltp,") && why.contains("drop oltp-read-only"), "{why}");
    assert!(why.contains("tables of the same names (sbtest1, sbtest2)"), "{why}");
}

#[test]
fn every_member_finishes_with_eight_clients_on_the_other_servers() {
    for server in [&MARIADB_11_4, &MARIADB_11_8, &MYSQL_5_6, &MYSQL_9_7, &POSTGRES_18] {
        let server = server.start();
        every_member_finishes(&database(&server, "members"), &[8]);
        bulk_inserts(&database(&server, "bulk"));
        drive_well(&database(&server, "tpcb"), "tpcb", (8, 80), &[]);
    }
}

/// Checks that orders can be delivered while others are entered, so that a delivery meets orders
/// that were entered after it began.
#[test]
fn deliveries_of_new_orders_find_them_whole() {
    let target = database(MARIADB.shared(), "drained");
    let load = [("shrink", "100"), ("weights", "5/0/0/5/0"), ("rollback_percent", "0")];
    for mode in ["prepared", "batched", "procedures"] {
        let written = [&load[..], &[("mode", mode)]].concat();
        let ran = drive_well(&target, "tpcc", (8, 400), &written);
        let skipped = ran.report.block.custom_metrics.get("deliveries_skipped");
        assert!(skipped.is_some_and(|metric| metric.count > 0), "{mode}: no queue ran empty");
    }
}

fn every_member_finishes(target: &Target, clients: &[u32]) {
    for member in MEMBERS {
        for clients in clients {
            drive_well(target, member, (*clients, 80), &SIZE);
        }
    }
}

fn bulk_inserts(target: &Target) {
    let parameters = [("tables", "8"), ("bulk_rows", "500")];
    let ran = drive_well(target, "oltp-bulk-insert", (8, 24), &parameters);
    let rows = ran.report.block.custom_metrics.0.iter().find(|(name, _)| name == "rows");
    assert_eq!(rows.expect("declared").1.sum, 24 * 500);
}

/// Checks tables with an index on `id` instead of a primary key, and ids that clients assign.
#[test]
fn tables_without_a_primary_key_or_a_counter_are_used_as_others_are() {
    let own = [("secondary", "true"), ("auto_inc", "true"), ("table_size", "500")];
    let given = [("auto_inc", "false"), ("table_size", "500")];
    for server in [&MARIADB, &POSTGRES] {
        for (name, parameters) in [("indexed", &own[..]), ("own_ids", &given[..])] {
            let target = database(server.shared(), name);
            for _run in 0..2 {
                drive_well(&target, "oltp-insert", (8, 80), parameters);
            }
            // Without a key two clients could insert the same id.
            drive_well(&target, "oltp-write-only", (1, 20), parameters);
        }
    }
}

/// Runs sysbench on a database, and returns its output.
fn sysbench(kind: Kind, target: &Target, words: &[&str]) -> String {
    let driver = if kind == Kind::Postgres { "pgsql" } else { "mysql" };
    let option = |name: &str, value: &str| format!("--{driver}-{name}={value}");
    let port = target.hosts[0].port.expect("a port").to_string();
    let password = target.password.as_ref().map_or("", Secret::reveal);
    let mut command = Command::new("sysbench");
    command
        .arg(format!("--db-driver={driver}"))
        .arg(option("host", "127.0.0.1"))
        .arg(option("port", &port))
        .arg(option("user", target.user.as_deref().expect("a user")))
        .arg(option("password", password))
        .arg(option("db", &target.path))
        .args(["--tables=2", "--table-size=1000", "--threads=1", "--events=40", "--time=60"])
        .args(words);
    let output = command.output();
    let output = output.expect("sysbench starts: install the Debian package 'sysbench'");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "sysbench {words:?} says: {said}{errors}");
    said
}

/// Returns the number after `label` in a report of sysbench.
fn shown(report: &str, label: &str) -> u64 {
    let line = report.lines().find(|line| line.trim_start().starts_with(label));
    let line = line.unwrap_or_else(|| panic!("'{label}' is missing in {report}"));
    let number = line.split_whitespace().nth(1).expect("a number");
    number.parse().expect("a whole number")
}

/// Returns reads, writes and other statements per transaction, as counted by sysbench.
fn queries_of(report: &str) -> [f64; 3] {
    let transactions = shown(report, "transactions:") as f64;
    ["read:", "write:", "other:"].map(|label| shown(report, label) as f64 / transactions)
}

/// Returns reads, writes and other statements per transaction, as counted by dbdyno.
fn queries_of_ours(ran: &RunResult) -> [f64; 3] {
    let mut sums = [0; 3];
    for second in &ran.report.seconds {
        sums[0] += second.reads;
        sums[1] += second.writes;
        sums[2] += second.others;
    }
    sums.map(|sum| sum as f64 / ran.report.block.counts.finished as f64)
}

#[test]
fn sysbench_and_dbdyno_use_each_others_tables_and_count_the_same_queries() {
    for server in [&MARIADB, &POSTGRES] {
        sysbench_runs_on_ours(server);
        we_run_on_those_of_sysbench(server);
    }
}

fn sysbench_runs_on_ours(server: &TestServer) {
    let target = database(server.shared(), "for_sysbench");
    drive_well(&target, "oltp-point-select", (1, 10), &SIZE);
    let say = |script: &str, words: &[&str]| {
        sysbench(server.kind, &target, &[&[script, "run"], words].concat())
    };
    let report = say("oltp_read_write", &["--rand-type=uniform"]);
    let [reads, writes, others] = queries_of(&report);
    assert!(reads == 14.0 && writes <= 4.0 && others >= 2.0, "{report}");
    assert_eq!(reads + writes + others, 20.0);
    for script in [
        "oltp_read_only",
        "oltp_write_only",
        "oltp_point_select",
        "oltp_update_index",
        "oltp_update_non_index",
        "oltp_insert",
    ] {
        say(script, &[]);
    }
    say("select_random_points", &["--tables=1"]);
    say("select_random_ranges", &["--tables=1"]);
    // sysbench's transactions keep our checks valid, and its inserts continue after our rows.
    let ran = drive_well(&target, "oltp-read-write", (1, 10), &[]);
    assert_eq!(queries_of_ours(&ran), [14.0, 4.0, 2.0]);
    say("oltp_delete", &[]);
}

fn we_run_on_those_of_sysbench(server: &TestServer) {
    let target = database(server.shared(), "by_sysbench");
    sysbench(server.kind, &target, &["oltp_read_write", "prepare"]);
    // The number and size of the tables are detected.
    let ran = drive_well(&target, "oltp-read-only", (4, 40), &[]);
    let parameter = |name: &str| ran.report.groups[0].parameters.get(name).cloned();
    assert_eq!(parameter("tables").as_deref(), Some("2"));
    assert_eq!(parameter("table_size").as_deref(), Some("1000"));
    for member in MEMBERS {
        let ran = drive_well(&target, member, (4, 40), &SIZE);
        let is_reported = ran.report.findings.iter().any(|finding| finding.id == "data_unknown");
        assert!(is_reported, "{member}: nobody knows how these data were built");
    }
    let larger = [("tables", "2"), ("table_size", "5000")];
    let why = refused_by_checks(&target, "oltp-point-select", &larger).to_string();
    assert!(why.contains("inconsistent") && why.contains("sbtest2"), "{why}");
    sysbench(server.kind, &target, &["oltp_read_write", "cleanup"]);
    let counted_by_nobody = ["oltp_read_write", "prepare", "--auto_inc=off"];
    sysbench(server.kind, &target, &counted_by_nobody);
    let given = [SIZE[0], SIZE[1], ("auto_inc", "false")];
    for _run in 0..2 {
        drive_well(&target, "oltp-insert", (4, 40), &given);
    }
}

/// Runs pgbench on a database, and returns its output.
fn pgbench(target: &Target, words: &[&str]) -> String {
    let port = target.hosts[0].port.expect("a port").to_string();
    let password = target.password.as_ref().map_or("", Secret::reveal);
    let mut command = Command::new("pgbench");
    command.env("PGPASSWORD", password).args(["-h", "127.0.0.1", "-p", &port, "-U"]);
    command.arg(target.user.as_deref().expect("a user")).args(words).arg(&target.path);
    let output = command.output();
    let output = output.expect("pgbench starts: install the Debian package 'postgresql'");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "pgbench {words:?} says: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn pgbench_and_dbdyno_use_each_others_tables() {
    let ours = database(POSTGRES.shared(), "for_pgbench");
    for clients in [1, 8] {
        let ran = drive_well(&ours, "tpcb", (clients, 80), &[]);
        assert_eq!(queries_of_ours(&ran), [1.0, 4.0, 2.0]);
    }
    let report = pgbench(&ours, &["-n", "-c", "2", "-t", "40", "-M", "prepared"]);
    assert!(report.contains("number of transactions actually processed: 80/80"), "{report}");
    // All balances and the history add up, and include the transactions of both programs.
    drive_well(&ours, "tpcb", (2, 20), &[]);
    say(
        &ours,
        "DO $$ BEGIN IF (SELECT COUNT(*) FROM pgbench_history) <> 260 THEN \
         RAISE 'the history has another number of rows'; END IF; END $$",
    );
    let theirs = database(POSTGRES.shared(), "by_pgbench");
    pgbench(&theirs, &["-i", "-q", "-s", "2"]);
    pgbench(&theirs, &["-c", "2", "-t", "10"]);
    let ran = drive_well(&theirs, "tpcb", (8, 80), &[]);
    let scale = ran.report.groups[0].parameters.get("scale");
    assert_eq!(scale.map(String::as_str), Some("2"));
    assert!(ran.report.findings.iter().any(|finding| finding.id == "data_unknown"));
}

#[test]
fn pgbenchs_transaction_runs_on_mariadb() {
    let target = database(MARIADB.shared(), "tpcb");
    for clients in [1, 8] {
        drive_well(&target, "tpcb", (clients, 80), &[]);
    }
}
