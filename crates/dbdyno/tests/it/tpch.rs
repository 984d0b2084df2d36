//! `tpch` on SQLite and DuckDB from end to end: its build, its answers, and the query stream of a
//! power run.
//!
//! Not here: answers on servers (tests of `workloads`).

use std::rc::Rc;

use drivers::Opening;
use engine::{ThreadClock, block_on};
use model::{Place, Placement, Request, Session, StatementKind, Target, query};
use serde_json::Value;
use servers::for_tests::{MARIADB, MYSQL_9_7, POSTGRES};

use crate::home::{Home, number, number_in};
use crate::real::url_of;
use crate::waiting::{Started, eventually};

#[test]
fn answers_are_compared_and_a_power_run_has_each_query_once() {
    let home = Home::new();
    home.call(&["build", "tpch", "--scale=0.01", "-q"]).good().says(&["built 86,806 rows"]);
    let checked = home.call(&["check", "tpch", "-q"]).good();
    checked.says(&["5 of 5 checks pass", "22 of 22 answers are right"]);
    let statistics = "SELECT count(*) FROM sqlite_stat1 WHERE tbl = 'lineitem'";
    assert!(number_in(&home.database("tpch"), statistics) >= Some(2), "none of its indexes");
    let report = home.json(&["run", "tpch", "--test=queries"]);
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
    let report = home.json(&["run", "tpch", "--test=queries", "--transactions=23"]);
    let figure = &report["primary_metrics"]["query_geomean_s"];
    assert_eq!(figure["value"], Value::Null);
    assert_eq!(figure["reason"], "q14 was executed 2 times instead of once");
}

/// Returns a primary metric of a report; `None` if it has no value.
fn figure(report: &Value, name: &str) -> Option<f64> {
    report["primary_metrics"][name]["value"].as_f64()
}

#[test]
fn a_run_of_both_tests_has_their_composite_and_each_execution() {
    let home = Home::new();
    home.call(&["build", "tpch", "--scale=0.01", "-q"]).good();
    let report = home.json(&["run", "tpch", "--test=both", "--streams=3"]);
    let executions = report["executions"].as_array().expect("a list");
    assert_eq!(executions.len(), 24 + 3 * 22 + 6);
    let of = |client: u64| executions.iter().filter(move |one| one["client"] == client);
    let time = |one: &Value| {
        let [started, took] = ["started_s", "took_s"].map(|name| number(one, name));
        (started, started + took)
    };
    let last_of_power = of(0).map(|one| time(one).0).fold(0.0, f64::max);
    let others = || (1..5).flat_map(of).map(time);
    let began = others().map(|(began, _)| began).fold(f64::INFINITY, f64::min);
    let ended = others().map(|(_, ended)| ended).fold(0.0, f64::max);
    // Its end is the begin of the others, up to the wake-up of threads.
    assert!(last_of_power <= began, "{last_of_power} and {began}");
    // The figures, from the stored times.
    let throughput = 3.0 * 22.0 * 3600.0 * 0.01 / (ended - began);
    let queries = || of(0).filter(|one| one["transaction"].as_str() < Some("r"));
    let longest = queries().map(|one| number(one, "took_s")).fold(0.0, f64::max);
    let raised: f64 = queries().map(|one| number(one, "took_s").max(longest / 1e3).ln()).sum();
    let refresh = of(0).filter(|one| one["transaction"].as_str() > Some("r"));
    let logs = raised + refresh.map(|one| number(one, "took_s").ln()).sum::<f64>();
    let power = 3600.0 * 0.01 / (logs / 24.0).exp();
    let expect = [
        ("power_at_size", power),
        ("throughput_at_size", throughput),
        ("qphh_at_size", (power * throughput).sqrt()),
    ];
    for (name, expect) in expect {
        let found = figure(&report, name).expect("a value");
        assert!((found / expect - 1.0).abs() < 1e-6, "{name}: {found} and {expect}");
    }
    // Four sets were used, so answers are known no more.
    let checked = home.call(&["check", "tpch", "-q"]).good();
    checked.says(&["5 of 5 checks pass", "answers not compared: refresh functions have changed"]);
    let gate = home.call(&["run", "tpch", "--require=power_at_size<1"]).code(1);
    gate.says(&["FAILED"]);
}

#[test]
fn a_query_is_a_figure_by_its_mere_name() {
    let home = Home::new();
    home.call(&["build", "tpch", "--scale=0.01", "-q"]).good();
    let run = |label: &str, more: &[&str]| {
        let args = ["run", "tpch", "--test=queries", "--substitution=validation", "--label", label];
        home.call(&[&args, more].concat())
    };
    let ran = run("build=1", &["--require=q9<1h", "--require=q9 / q1<1000"]).good();
    ran.says(&["passed q9<1h", "passed q9 / q1<1000"]);
    run("build=2", &["--require=q9<1us"]).code(1).says(&["FAILED", "q9<1us"]);
    let slip = run("build=3", &["--require=q23<1s"]).code(2);
    assert!(slip.err.contains("no figure q23 (did you mean 'q2"), "{slip:?}");
    home.call(&["runs", "show", "last", "--require=Q9<1h"]).good();
    let slip = home.call(&["runs", "show", "last", "--require=q99<1h"]).code(2);
    assert!(slip.err.contains("the figure q99 (did you mean 'q"), "{slip:?}");
    let compared = ["compare", "build=1", "build=2"];
    let named = home.call(&[&compared[..], &["--figure=q9"]].concat()).good();
    named.says(&["q9.mean ms"]);
    home.call(&[&compared[..], &["--fail-if=q9>1000000%"]].concat());
    let history = home.call(&["history", "--by=build", "--figure=q9"]).good();
    history.says(&["q9.mean"]);
    let listed = home.call(&["runs", "list", "--where=q9<1h", "--sort=-q9"]).good();
    assert_eq!(listed.out.matches("tpch").count(), 2, "{listed:?}");
}

#[test]
fn a_comparison_has_composites_and_each_query_instead_of_rates() {
    let home = Home::new();
    home.call(&["build", "tpch", "--scale=0.01", "-q"]).good();
    let vary = "--vary=substitution=validation,drawn";
    home.call(&["run", "tpch", "--test=queries", vary, "--repeat=3", "-q"]).good();
    let shown = home.call(&["experiments", "show", "last"]).good();
    assert!(!shown.out.contains("TPS") && !shown.out.contains("p50"), "{}", shown.out);
    shown.says(&["query_geomean_s", "query_mean_s"]);
    let compared = home.call(&["compare", "last", "--section=executions"]).good();
    compared.says(&["change (95 % CI)", "q22"]);
    let compared = home.call(&["compare", "last"]).good();
    assert!(!compared.out.contains("TPS") && !compared.out.contains("p50"), "{}", compared.out);
    compared.says(&["query_mean_s", "executed"]);
    let compared = home.json(&["compare", "last"]);
    let queries = compared["pairs"][0]["executions"].as_array().expect("a list");
    assert_eq!(queries.len(), 22);
    for query in queries {
        assert!(number(query, "ratio") > 0.0 && query["interval"].is_array(), "{query:#}");
    }
}

/// Runs the queries before and after an index of `lineitem` is dropped; expects that the change of
/// a plan is seen where the other plans stay.
fn check_plans(target: &str, drop_index: &str) {
    let home = Home::new();
    let flags = [&format!("--target={target}"), "--check=off"];
    home.call(&["build", "tpch", "--scale=0.01", "-q", flags[0]]).good();
    let run = |label: &str| {
        let args = ["run", "tpch", "--test=queries", "--label", label, "--output=json"];
        home.call(&[&args[..], &flags].concat()).json()
    };
    let first = run("index=with");
    let plans = first["query_plans"].as_array().expect("a list");
    assert_eq!(plans.len(), 22, "{target}");
    let plan = |name: &str| {
        let found = plans.iter().find(|one| one["transaction"] == name).expect("there");
        found["plan"].as_str().expect("text").to_owned()
    };
    assert!((1..=22).all(|query| !plan(&format!("q{query}")).is_empty()), "{target}");
    let same = run("index=same");
    assert_eq!(same["query_plans"], first["query_plans"], "{target}");
    execute(session(target).as_mut(), StatementKind::Other, drop_index);
    run("index=without");
    let shown = home.call(&["runs", "show", "last", "--section=transactions"]).good();
    shown.says(&["Plan of q9"]);
    let compare = |side: &str| {
        let compared = home.call(&["compare", "index=with", side, "--output=json"]).json();
        let queries = compared["pairs"][0]["executions"].as_array().expect("a list").clone();
        queries.iter().filter(|one| one["plan_changed"] == true).count()
    };
    assert_eq!(compare("index=same"), 0, "{target}");
    assert!((1..22).contains(&compare("index=without")), "{target}");
    let compared = home.call(&["compare", "index=with", "index=without"]).good();
    assert!(compared.out.contains("plan of q") || compared.out.contains("plans of q"));
}

#[test]
fn plans_are_kept_and_a_change_of_them_is_seen() {
    let home = Home::new();
    let file = format!("sqlite:{}", home.path("x.db").display());
    check_plans(&file, "DROP INDEX lineitem_part_supplier");
    let postgres = url_of(POSTGRES.shared(), "plans");
    check_plans(&postgres, "DROP INDEX lineitem_part_supplier");
    for server in [MARIADB.shared(), MYSQL_9_7.shared()] {
        check_plans(&url_of(server, "plans"), "DROP INDEX lineitem_part_supplier ON lineitem");
    }
    let library = servers::for_tests::fetched("duckdb-1.5/libduckdb.so");
    let target =
        format!("duckdb:{}?library={}", home.path("x.duckdb").display(), library.display());
    let flag = format!("--target={target}");
    home.call(&["build", "tpch", "--scale=0.01", "-q", &flag]).good();
    let report = home.json(&["run", "tpch", "--test=queries", &flag]);
    let plans = report["query_plans"].as_array().expect("a list");
    let is_plan = |one: &Value| one["plan"].as_str().is_some_and(|plan| plan.contains("SCAN"));
    assert_eq!(plans.iter().filter(|one| is_plan(one)).count(), 22);
}

#[test]
fn a_failed_query_voids_the_figures_and_is_named() {
    let home = Home::new();
    home.call(&["build", "tpch", "--scale=0.01", "-q"]).good();
    let database = rusqlite::Connection::open(home.database("tpch")).expect("a database");
    // Q20 and others read it, the checks only count its rows.
    let sql = "ALTER TABLE partsupp RENAME COLUMN ps_availqty TO other";
    database.execute_batch(sql).expect("changed");
    let ran = home.call(&["run", "tpch", "--test=queries"]);
    ran.says(&["no value", "q11 failed, q20 failed", "FAILED"]);
}

#[test]
fn a_file_of_duckdb_is_built_checked_run_and_dropped() {
    let home = Home::new();
    let library = servers::for_tests::fetched("duckdb-1.5/libduckdb.so");
    let (file, library) = (home.path("x.duckdb"), library.display());
    let target = format!("--target=duckdb:{}?library={library}", file.display());
    let built = home.call(&["build", "tpch", "--scale=0.01", "-q", &target]).good();
    built.says(&["built 86,806 rows"]);
    let checked = home.call(&["check", "tpch", "-q", &target]).good();
    checked.says(&["5 of 5 checks pass", "22 of 22 answers are right"]);
    let report = home.json(&["run", "tpch", "--test=both", &target]);
    assert!(number(&report, "primary_metrics.qphh_at_size.value") > 0.0, "{report:#}");
    home.call(&["drop", "tpch", &target]).good();
    assert!(file.exists());
}

/// Opens a session at a database, as an administrator does.
pub(crate) fn session(target: &str) -> Box<dyn Session> {
    let target = Target::parse(target).expect("valid");
    let database = drivers::open(&target, Opening { create: false, seed: 1 }).expect("opens");
    let clock = Rc::new(ThreadClock::unstopped());
    let place = Place { placement: Placement::Thread, clock, client: Place::NOBODY };
    block_on(database.connect(place, Vec::new().into())).expect("connects")
}

pub(crate) fn execute(session: &mut dyn Session, kind: StatementKind, sql: &str) -> u64 {
    let said = block_on(query(session, Request::Text { kind, sql }, &mut |_| Ok(())));
    said.unwrap_or_else(|no| panic!("{sql}: {no}")).n_rows
}

/// Puts a view in the place of a small table, of which a column takes longer to read than anybody
/// waits. Q2 is the second query of stream 0, and the first one that reads the column.
pub(crate) fn plant_endless_query(target: &str) {
    let mut session = session(target);
    for sql in [
        "ALTER TABLE region RENAME TO region_kept",
        "CREATE VIEW region AS SELECT r_regionkey, r_comment, CASE WHEN (SELECT COUNT(*) FROM \
         lineitem a, lineitem b, lineitem c WHERE (a.l_partkey * b.l_suppkey + c.l_partkey) % \
         1000003 = 1) = 0 THEN r_name ELSE '' END AS r_name FROM region_kept",
    ] {
        execute(session.as_mut(), StatementKind::Other, sql);
    }
}

/// Runs the first three queries of stream 0, of which the second never ends by itself; expects that
/// it is cancelled and named, and that the third one is executed.
fn check_query_timeout(target: &str, flags: &[&str]) {
    let home = Home::new();
    let target_flag = format!("--target={target}");
    home.call(&["build", "tpch", "--scale=0.01", "-q", &target_flag]).good();
    plant_endless_query(target);
    // A check may read the column too, although it needs only the number of rows.
    let flags = [&["--check=off", "--test=queries", "--transactions=3", &target_flag], flags];
    let ran = ["run", "tpch", "--query-timeout=1s", "--output=json"];
    let report = home.call(&[&ran[..], &flags.concat()].concat()).json();
    let executions = report["executions"].as_array().expect("a list");
    let ends: Vec<(&Value, bool, &Value)> = executions
        .iter()
        .map(|one| (&one["transaction"], one["is_finished"] == true, &one["error"]))
        .collect();
    let timeout = Value::from("timeout");
    let [q14, q2, q9] = ["q14", "q2", "q9"].map(Value::from);
    let none = &Value::Null;
    let expect = [(&q14, true, none), (&q2, false, &timeout), (&q9, true, none)];
    assert_eq!(ends, expect, "{target}");
    let reason = report["primary_metrics"]["query_geomean_s"]["reason"].as_str();
    assert_eq!(reason, Some("q1 did not end, q2 timed out after 1 s, q3 did not end and 17 more"));
}

#[test]
fn a_query_that_exceeds_its_limit_is_cancelled_and_the_next_one_is_executed() {
    let home = Home::new();
    check_query_timeout(&format!("sqlite:{}", home.path("x.db").display()), &[]);
    let library = servers::for_tests::fetched("duckdb-1.5/libduckdb.so");
    let file = home.path("x.duckdb");
    check_query_timeout(&format!("duckdb:{}?library={}", file.display(), library.display()), &[]);
}

#[test]
fn a_query_that_exceeds_its_limit_is_cancelled_on_the_server() {
    let active_on_mysql = "SELECT id FROM information_schema.processlist WHERE db = 'timeout' AND \
                           command <> 'Sleep' AND info LIKE '%p_mfgr%' AND id <> CONNECTION_ID()";
    let active_on_postgres = "SELECT pid FROM pg_stat_activity WHERE datname = 'timeout' AND \
                              state = 'active' AND pid <> pg_backend_pid()";
    let servers = [
        (MARIADB.shared(), active_on_mysql, "--placement=thread"),
        (MYSQL_9_7.shared(), active_on_mysql, "--placement=thread"),
        (POSTGRES.shared(), active_on_postgres, "--placement=loop"),
    ];
    for (server, active, placement) in servers {
        let target = url_of(server, "timeout");
        check_query_timeout(&target, &[placement]);
        let mut session = session(&target);
        let is_idle = || execute(session.as_mut(), StatementKind::Read, active) == 0;
        assert!(eventually(is_idle), "{target}");
    }
}

#[test]
fn a_missing_library_of_duckdb_is_bad_input_with_its_remedy() {
    let home = Home::new();
    let file = home.path("x.duckdb");
    let target = format!("--target=duckdb:{}?library=/nowhere/libduckdb.so", file.display());
    // In a process of its own, since this one may have loaded the library of another test.
    let ran = home.run(&["run", "tpch", &target]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("/nowhere/libduckdb.so cannot be loaded"), "{ran:?}");
    assert!(ran.err.contains("@duckdb/node-bindings-linux-x64"), "{ran:?}");
    assert!(!file.exists(), "nothing was made");
}

#[test]
fn without_a_target_the_embedded_database_that_suits_analytics_is_chosen_and_named() {
    let home = Home::new();
    let run = |library: &str| {
        let mut command = home.dbdyno(&["run", "tpch", "--test=queries", "--scale=0.01"]);
        command.env("DBDYNO_DUCKDB", library);
        Started::new(command).end()
    };
    let none = run("/nowhere/libduckdb.so");
    assert_eq!(none.code, Some(0), "{none:?}");
    assert!(none.err.contains("tpch on SQLite: DuckDB's library is not found"), "{none:?}");
    assert!(home.path("data/dbdyno/tpch.db").exists());
    let library = servers::for_tests::fetched("duckdb-1.5/libduckdb.so");
    let library = library.to_str().expect("a path");
    let found = run(library);
    assert_eq!(found.code, Some(0), "{found:?}");
    let expect = format!("tpch on DuckDB, which suits analytics: its library is {library}");
    assert!(found.err.contains(&expect), "{found:?}");
    assert!(home.path("data/dbdyno/tpch.duckdb").exists());
    // Transactions stay on SQLite, without a word.
    let mut other = home.dbdyno(&["build", "tpcc", "--shrink=10"]);
    other.env("DBDYNO_DUCKDB", library);
    let other = Started::new(other).end();
    assert!(other.code == Some(0) && !other.err.contains("DuckDB"), "{other:?}");
    assert!(home.path("data/dbdyno/tpcc.db").exists());
}

/// Compares the answers at a scale without known ones in a database with those in an embedded one
/// over the same rows; then with a wrong row in each table, and expects the queries that read it.
#[test]
fn answers_of_two_databases_are_compared_and_a_planted_row_is_found() {
    let home = Home::new();
    home.call(&["build", "tpch", "--scale=0.02", "-q"]).good();
    let library = servers::for_tests::fetched("duckdb-1.5/libduckdb.so");
    let memory = format!("--against=duckdb::memory:?library={}", library.display());
    let equal = home.call(&["check", "tpch", "-q", &memory]).good();
    equal.says(&["answers not compared", "22 of 22 answers are equal in both databases"]);
    let other = home.path("other.db");
    let (target, against) = ("--target=sqlite:", "--against=sqlite:");
    let of = |flag: &str| format!("{flag}{}", other.display());
    home.call(&["build", "tpch", "--scale=0.02", "-q", &of(target)]).good();
    home.call(&["check", "tpch", "-q", &of(against)]).good().says(&["22 of 22"]);
    let database = rusqlite::Connection::open(&other).expect("a database");
    let check = |sql: &str, expect: &[&str]| {
        database.execute_batch("SAVEPOINT whole").expect("begun");
        assert!(database.execute(sql, []).expect("changed") > 0, "{sql}");
        database.execute_batch("RELEASE whole").expect("committed");
        let report = home.call(&["check", "tpch", "-q", "--output=json", &of(against)]);
        let answers = report.json()["answers_against"].as_array().expect("a list").clone();
        let wrong = answers.iter().filter(|one| one["n_failed"] != 0);
        let wrong: Vec<&str> = wrong.map(|one| one["id"].as_str().expect("an id")).collect();
        for id in expect {
            assert!(wrong.contains(id), "{sql}: {id} is not in {wrong:?}");
        }
    };
    // A cent of a line that is shipped early, which Q1 alone is sure to read.
    check(
        "UPDATE lineitem SET l_extendedprice = l_extendedprice + 1 WHERE rowid = \
         (SELECT rowid FROM lineitem WHERE l_shipdate < 9000 LIMIT 1)",
        &["q1"],
    );
    // A customer fewer: one count.
    check("DELETE FROM customer WHERE c_custkey = 1", &["q13"]);
    check("UPDATE supplier SET s_phone = 'other'", &["q2", "q15"]);
    // A tie that is missing: one of the rows that are equal to another.
    check(
        "UPDATE part SET p_size = 49, p_brand = 'Brand#14', p_type = 'SMALL ANODIZED NICKEL' \
         WHERE p_partkey <= 20",
        &["q16"],
    );
    check("UPDATE orders SET o_orderpriority = '9-NONE'", &["q4", "q12"]);
    check("UPDATE nation SET n_name = 'ELSEWHERE' WHERE n_name = 'FRANCE'", &["q7", "q9"]);
    let differs = home.call(&["check", "tpch", "-q", &of(against)]).code(1);
    differs.says(&["DIFFERS q7", "only here: FRANCE|GERMANY"]);
}

#[test]
fn what_cannot_be_compared_is_refused_in_a_sentence() {
    let home = Home::new();
    home.call(&["build", "tpch", "--scale=0.01", "-q"]).good();
    let small = format!("sqlite:{}", home.path("small.db").display());
    let target = format!("--target={small}");
    home.call(&["build", "tpch", "--scale=0.02", "-q", &target]).good();
    let check = |args: &[&str], code: i32, expect: &str| {
        let ran = home.call(&[&["check"], args, &["-q"]].concat());
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(ran.err.contains(expect), "{ran:?}");
    };
    let against = format!("--against={small}");
    check(&["tpch", &against], 1, "data of different sizes (scale=0.01");
    check(&["tpch", "--against=nowhere:x"], 2, "--against: there is no driver for 'nowhere:'");
    check(&["tpch", "--against=managed:mariadb"], 2, "--against: a managed server begins empty");
    let missing = format!("--against=sqlite:{}", home.path("none.db").display());
    check(&["tpch", &missing], 1, "none.db");
    home.call(&["build", "tpcc", "--shrink=10", "-q"]).good();
    let none = "no queries whose answers are compared";
    check(&["tpcc", "--against=sqlite::memory:"], 2, none);
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
    let nearest = "the nearest that work are 0.0119 and 0.0121";
    check(&["build", "tpch", "--scale=0.012"], nearest);
    check(&["run", "tpch", "--rate=5"], "tpch executes one query after the other");
    check(&["run", "tpch", "--scale=0.01", "--clients=2"], "this test of tpch has 1 client");
    check(&["run", "tpch", "--test=throughput", "--streams=100"], "streams: 100 is too large");
    check(&["run", "tpch", "--ramp-up=1s"], "a ramp-up would take some of them: leave it out");
}
