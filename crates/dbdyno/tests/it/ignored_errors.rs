//! Tests of errors that a plan ignores (`--ignore-errors`), by the numbers of real servers.

use serde_json::Value;
use servers::for_tests::{MARIADB, POSTGRES};

use crate::home::{Home, at, number};
use crate::real::url;
use crate::settings::ask;

/// Inserts the same key twenty times; returns the report.
fn twice(home: &Home, target: &str, table: &str, more: &[&str]) -> Value {
    let sql = format!("INSERT INTO {table} VALUES (1)");
    let args = ["run", "--sql", &sql, "--target", target, "--clients=2", "--transactions=20"];
    let args = [&args[..], &["--ramp-up=0s", "--output=json"], more].concat();
    let ran = home.run(&args);
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err))
}

#[track_caller]
fn a_duplicate_key_is_ignored(target: &str, table: &str, code: &str) {
    let home = Home::new();
    let ignore = format!("--ignore-errors={code}");
    let report = twice(&home, target, table, &[&ignore]);
    let count = |name: &str| number(&report, &format!("counts.{name}"));
    assert_eq!((count("offered"), count("finished"), count("failed")), (20.0, 20.0, 0.0));
    assert_eq!((count("committed"), count("ignored")), (0.0, 20.0));
    assert_eq!(number(&report, "errors.0.ignored"), 20.0);
    assert_eq!(at(&report, "errors.0.kind"), "duplicate");
    assert!(at(&report, "findings").to_string().contains("errors_ignored"));
    let plan = at(&report, "plan").as_str().expect("a plan");
    assert!(plan.contains(&format!("ignore_errors = [\"{code}\"]")), "{plan}");
    let page = home.run(&["runs", "show", "last", "--full"]).good();
    page.says(&["20 with an ignored error"]);
    // Without the option they have failed.
    let report = twice(&home, target, table, &["--ignore-errors=1213,40001"]);
    assert!(number(&report, "counts.failed") > 0.0);
}

#[test]
fn a_duplicate_key_is_ignored_by_the_number_of_mariadb() {
    let server = MARIADB.shared();
    ask(server, &["CREATE TABLE ignored_once (id INT PRIMARY KEY)"]);
    ask(server, &["INSERT INTO ignored_once VALUES (1)"]);
    a_duplicate_key_is_ignored(&url(server), "ignored_once", "1062");
}

#[test]
fn a_duplicate_key_is_ignored_by_the_sqlstate_of_postgres() {
    let server = POSTGRES.shared();
    ask(server, &["CREATE TABLE ignored_once (id INT PRIMARY KEY)"]);
    ask(server, &["INSERT INTO ignored_once VALUES (1)"]);
    a_duplicate_key_is_ignored(&url(server), "ignored_once", "23505");
}

#[test]
fn an_error_that_cannot_be_ignored_is_said() {
    let home = Home::new();
    let refused = |value: &str, why: &str| {
        let option = format!("--ignore-errors={value}");
        home.call(&["run", "empty", "--target=sim:", &option]).code(2).warns(&[why]);
    };
    refused("connection_lost", "'connection_lost' ends the session: it cannot be ignored");
    refused("duplikate", "there is no database error 'duplikate'");
}
