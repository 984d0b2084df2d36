//! Tests on servers with strict or unusual settings: primary keys in every table, and SQL modes
//! that change the meaning of SQL.

use app::Error;
use servers::for_tests::{MARIADB, MYSQL_9_7, TestServer};

use crate::bench::{database, drive, drive_well};

/// A workload, its parameters, and the name of one of its tables that has no primary key.
type Keyless = (&'static str, &'static [(&'static str, &'static str)], &'static str);
const KEYLESS: [Keyless; 5] = [
    ("tpcc", &[("shrink", "100"), ("mode", "procedures")], "history"),
    ("tpcc", &[("shrink", "100"), ("mode", "batched"), ("partitions", "2")], "history"),
    ("tpcb", &[], "pgbench_history"),
    ("arm", &[("buffer_bytes", "16384"), ("keys", "false")], "arm_measurement"),
    ("record", &[("index", "none"), ("rows", "100")], "record"),
];

/// Asserts that each workload is built, runs and passes its checks if the server demands primary
/// keys.
fn keys_are_added(product: &TestServer, setting: &str, code: i64) {
    let server = product.start_with(&[(setting, "ON")]);
    for (place, (workload, parameters, table)) in KEYLESS.into_iter().enumerate() {
        let target = database(&server, &format!("demanded_{place}"));
        for _run in 0..2 {
            let ran = drive_well(&target, workload, (2, 30), parameters);
            let notes = &ran.report.notes;
            let is_said = notes
                .iter()
                .any(|note| note.starts_with("A key was added to ") && note.contains(table));
            assert!(is_said, "{workload}: {notes:#?}");
        }
    }
    // A table with an auto-increment column cannot have another one.
    let secondary = [("secondary", "true"), ("tables", "1"), ("table_size", "100")];
    let target = database(&server, "demanded_of_a_counter");
    let Err(Error::Failed(why)) = drive(&target, "oltp-read-only", (1, 1), &secondary) else {
        panic!("it has no key")
    };
    let says = |words: &str| why.contains(words);
    assert!(
        says(&format!("error {code}")) && says("without --secondary") && says(setting),
        "{why}"
    );
}

#[test]
fn tables_without_a_key_get_one_where_mariadb_demands_it() {
    keys_are_added(&MARIADB, "innodb_force_primary_key", 1173);
}

#[test]
fn tables_without_a_key_get_one_where_mysql_demands_it() {
    keys_are_added(&MYSQL_9_7, "sql_require_primary_key", 3750);
}

/// Runs workloads in each execution mode on a server with SQL modes that change the meaning of SQL.
fn modes_change_nothing(product: &TestServer, modes: &str) {
    let server = product.start_with(&[("sql_mode", modes)]);
    let name = |workload: &str, mode: &str| format!("modes_{workload}_{mode}").replace('-', "_");
    for mode in ["prepared", "text", "batched", "procedures"] {
        let target = database(&server, &name("tpcc", mode));
        drive_well(&target, "tpcc", (2, 60), &[("shrink", "100"), ("mode", mode)]);
    }
    let others: [(&str, &[(&str, &str)]); 4] = [
        ("tpcb", &[]),
        ("arm", &[("buffer_bytes", "16384")]),
        ("oltp-read-write", &[("table_size", "1000"), ("tables", "1")]),
        ("record", &[("rows", "100")]),
    ];
    for (workload, parameters) in others {
        drive_well(&database(&server, &name(workload, "")), workload, (2, 30), parameters);
    }
}

#[test]
fn the_grammar_of_oracle_changes_no_workload() {
    modes_change_nothing(&MARIADB, "ORACLE,EMPTY_STRING_IS_NULL,SIMULTANEOUS_ASSIGNMENT");
}

#[test]
fn modes_of_values_and_quotes_change_no_workload() {
    let modes = "ANSI,HIGH_NOT_PRECEDENCE,NO_BACKSLASH_ESCAPES,NO_UNSIGNED_SUBTRACTION,\
                 PAD_CHAR_TO_FULL_LENGTH,REAL_AS_FLOAT,STRICT_ALL_TABLES,TIME_TRUNCATE_FRACTIONAL";
    modes_change_nothing(&MYSQL_9_7, modes);
}
