//! `tpch` on SQLite from end to end: its build, its answers, and the query stream of a power run.
//!
//! Not here: answers on servers (tests of `workloads`).

use serde_json::Value;

use crate::home::{Home, number};

#[test]
fn answers_are_compared_and_a_power_run_has_each_query_once() {
    let home = Home::new();
    home.call(&["build", "tpch", "--scale=0.01", "-q"]).good().says(&["built 86,805 rows"]);
    let checked = home.call(&["check", "tpch", "-q"]).good();
    checked.says(&["3 of 3 checks pass", "22 of 22 answers are right"]);
    let report = home.json(&["run", "tpch"]);
    let group = &report["groups"][0];
    assert_eq!([&group["clients"], &group["sequence"]], [&Value::from(1), &Value::from(22)]);
    for query in 1..=22 {
        let count = number(&report, &format!("transactions.q{query}.finished"));
        assert_eq!(count, 1.0, "q{query}");
    }
    assert!(number(&report, "primary_metrics.query_geomean_s.value") > 0.0, "{report:#}");
    // Neither steadiness nor percentiles are judged by 22 transactions.
    let findings = report["findings"].as_array().expect("a list");
    let of_seconds = ["count_too_small", "drift", "few_samples", "no_ramp_up", "short", "uneven"];
    let is_of_seconds = |finding: &&Value| of_seconds.iter().any(|id| finding["id"] == **id);
    assert_eq!(findings.iter().find(is_of_seconds), None);
    // More queries than one stream has are no power run.
    let report = home.json(&["run", "tpch", "--transactions=23"]);
    let figure = &report["primary_metrics"]["query_geomean_s"];
    assert_eq!(figure["value"], Value::Null);
    assert_eq!(figure["reason"], "q14 was executed 2 times instead of once");
}

#[test]
fn a_wrong_row_fails_the_check_and_names_the_query() {
    let home = Home::new();
    home.call(&["build", "tpch", "--scale=0.01", "-q"]).good();
    let database = rusqlite::Connection::open(home.database("tpch")).expect("a database");
    let sql = "UPDATE customer SET c_acctbal = c_acctbal + 1";
    database.execute(sql, []).expect("updated");
    let checked = home.call(&["check", "tpch", "-q"]).code(1);
    checked.says(&["FAILED  q22", "20 of 22 answers are right"]);
}

#[test]
fn what_is_not_there_yet_is_refused_with_the_remedy() {
    let home = Home::new();
    let target = format!("--target=sqlite:{}", home.database("tpch").display());
    let check = |args: &[&str], expect: &str| {
        let ran = home.call(&[args, &[&target]].concat());
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.err.contains(expect), "{ran:?}");
    };
    check(&["build", "tpch", "--scale=0"], "0 is too small: it must be at least 0.01");
    check(&["build", "tpch", "--scale=0.001"], "0.001 is too small: it must be at least 0.01");
    check(&["run", "tpch", "--rate=5"], "tpch executes one query after the other");
    check(&["run", "tpch", "--scale=0.01", "--clients=2"], "give --clients 1");
}
