//! Tests of builds of data, which are stored as runs: listed, shown with phases and rates, compared
//! and removed.

use serde_json::Value;
use servers::for_tests::{MARIADB, POSTGRES, TestServer};

use crate::home::{Home, at, number};
use crate::real::{Tpcc, tpcc};

const SMALL: [&str; 3] = ["oltp-read-write", "--tables=2", "--table-size=5000"];

/// Returns the ids of all stored runs, oldest first.
fn ids(home: &Home) -> Vec<String> {
    let list = home.call(&["runs", "list", "--output=json"]).good().json();
    let runs = at(&list, "runs").as_array().expect("a list").clone();
    let id = |run: &Value| at(run, "run_id").as_str().expect("a text").to_owned();
    runs.iter().rev().map(id).collect()
}

/// Returns the figures of a run with the prefix `build.`, by name.
pub(crate) fn figures(home: &Home, run: &str) -> Vec<(String, f64)> {
    let shown = home.call(&["runs", "show", run, "--figures", "--output=csv"]).good();
    let rows = shown.out.lines().skip(1).filter(|line| line.starts_with("build."));
    let pair = |line: &str| {
        let mut cells = line.split(',');
        let name = cells.next().expect("a name").to_owned();
        Some((name, cells.next()?.parse().ok()?))
    };
    rows.filter_map(pair).collect()
}

pub(crate) fn figure(all: &[(String, f64)], name: &str) -> f64 {
    let found = all.iter().find(|(known, _)| known == name);
    found.unwrap_or_else(|| panic!("no {name} in {all:?}")).1
}

#[test]
fn a_build_is_kept_as_a_run_listed_shown_compared_and_removed() {
    let home = Home::new();
    let both = ["--load-method=both", "-q", "--label=of=both", "--output=json", "--settle"];
    let built = home.run(&[&["build"], &SMALL[..], &both].concat()).good().json();
    assert_eq!(at(&built, "checksums_equal"), true);
    let runs = ids(&home);
    assert_eq!(at(&built, "run_ids"), &serde_json::json!(runs));
    home.call(&["runs"]).good().says(&["build oltp-read-write by insert", "by bulk", "of=both"]);
    for run in &runs {
        let all = figures(&home, run);
        assert_eq!(figure(&all, "build.rows"), 10_000.0);
        let parts = ["build.load_s", "build.index_s", "build.analyse_s"];
        let sum: f64 = parts.iter().map(|name| figure(&all, name)).sum();
        // Each is rounded to a millisecond.
        assert!(sum <= figure(&all, "build.elapsed_s") + 0.002, "{all:?}");
        assert!(figure(&all, "build.bytes") > 1e6);
        let report = home.json(&["runs", "show", run]);
        assert_eq!(at(&report, "facts.settle_after.log_pages_after"), "0");
    }
    let page = home.call(&["runs", "show", &runs[1]]).good();
    page.says(&[
        "10,000 rows by bulk in",
        "rows/s, with 1 loader",
        "indexes",
        "sbtest1",
        "sbtest2",
    ])
    .says(&[
        "dbdyno build oltp-read-write --target",
        "--table-size 5000",
        "--load-method bulk",
    ]);
    let report = home.call(&["runs", "show", &runs[0], "--output=json"]).good().json();
    assert_eq!(at(&report, "facts.data_build.method"), "insert");
    let compared = home.call(&["compare", &runs[0], &runs[1]]).good();
    compared.says(&["load_method", "build.rows_per_s", "build.load_s", "insert", "bulk"]);
    let of_rows = ["compare", &runs[0], &runs[1], "--figure", "build.rows"];
    home.call(&of_rows).good().says(&["build.rows", "10,000"]);
    home.call(&["runs", "rm", &runs[0]]).good();
    assert_eq!(ids(&home), runs[1..]);
    let plan = home.call(&["runs", "show", &runs[1], "--plan"]).good().out;
    home.write("plan.toml", plan);
    home.call(&["run", "plan.toml"]).code(2).warns(&["the plan of a build", "dbdyno build"]);
}

#[test]
fn nothing_is_kept_of_what_is_not_built_or_not_to_be_kept() {
    let home = Home::new();
    home.run(&[&["build"], &SMALL[..], &["-q", "--no-store"]].concat()).good();
    home.run(&[&["build"], &SMALL[..], &["-q"]].concat()).good().says(&["nothing to build"]);
    assert!(!home.store().exists() || ids(&home).is_empty());
    let labelled = ["-q", "--no-store", "--label=a=b"];
    home.call(&[&["build"], &SMALL[..], &labelled].concat()).code(2);
}

/// Checks the stored data of a build on a server: the length of its phases, and its settling. Rates
/// over time and counters of the server need a longer build (see `loads`).
#[track_caller]
fn a_build_has_metrics(server: &'static TestServer) {
    let data = tpcc(server);
    let Tpcc { store, built, .. } = data.as_ref().expect("it is built");
    let home = Home::new();
    home.put_store(store);
    let run = at(built, "run_id").as_str().expect("it is kept").to_owned();
    let all = figures(&home, &run);
    let seconds = number(built, "seconds");
    assert!((figure(&all, "build.elapsed_s") - seconds).abs() < 0.01);
    assert!(figure(&all, "build.analyse_s") > 0.0, "{all:?}");
    let page = home.call(&["runs", "show", &run]).good();
    page.says(&["insert with 4 loaders", "settled", "order_line", "statistics"]);
    let report = home.call(&["runs", "show", &run, "--output=json"]).good().json();
    assert!(at(&report, "facts.settle_after.took_s").is_string());
    assert_eq!(at(&report, "status"), "completed");
}

#[test]
fn a_build_on_mariadb_has_metrics() {
    a_build_has_metrics(&MARIADB);
}

#[test]
fn a_build_on_postgres_has_metrics() {
    a_build_has_metrics(&POSTGRES);
}

/// Builds tables alone, changes one, and fills them; then fills tables of the user's own.
#[track_caller]
fn tables_and_rows_are_built_apart(home: &Home, target: &str, ask: &dyn Fn(&str) -> String) {
    let target = format!("--target={target}");
    let build =
        |more: &[&str]| home.run(&[&["build"], &SMALL[..], &[&target, "-q"], more].concat());
    build(&["--data-only"]).code(1).warns(&["there are none: create them, or build with"]);
    build(&["--tables-only"]).good().says(&["created the tables without rows in "]);
    assert_eq!(ask("SELECT concat(count(*), '') FROM sbtest1"), "0");
    let run = home.run(&["run", SMALL[0], &target, "--no-build", "--duration=1s"]);
    run.code(1).warns(&["has no complete data of oltp"]);
    ask("ALTER TABLE sbtest2 ADD COLUMN own INT");
    build(&[]).good().says(&["10,000 added in "]);
    assert_eq!(ask("SELECT concat(count(*), '') FROM sbtest2 WHERE own IS NULL"), "5000");
    home.run(&["check", SMALL[0], &target]).good();
    home.run(&["drop", SMALL[0], &target]).good();
    // Tables of the user's own, one of them with a column too many and another index.
    for table in ["sbtest1", "sbtest2"] {
        ask(&format!(
            "CREATE TABLE {table} (id INT NOT NULL PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT \
             NULL, pad CHAR(60) NOT NULL, own INT)"
        ));
    }
    ask("CREATE INDEX mine ON sbtest1 (k, id)");
    build(&[]).code(1).warns(&["fill empty tables with --data-only"]);
    ask("INSERT INTO sbtest2 (id, k, c, pad) VALUES (7, 1, 'a', 'b')");
    build(&["--data-only"]).code(1).warns(&["the table sbtest2 has rows already"]);
    ask("DELETE FROM sbtest2");
    build(&["--data-only"]).good().says(&["built 10,000 rows"]);
    home.run(&["check", SMALL[0], &target]).good();
    // No index is there but the user's.
    let run = home.run(&["run", SMALL[0], &target, "--transactions=20", "--ramp-up=0s"]);
    run.says(&["0 of 20 failed", "checks passed"]);
    home.run(&["drop", SMALL[0], &target]).good();
    ask("CREATE TABLE sbtest1 (id INT NOT NULL PRIMARY KEY, k INT NOT NULL)");
    build(&["--data-only"]).code(1).warns(&["sbtest"]);
    ask("DROP TABLE sbtest1");
}

#[test]
fn tables_and_rows_are_built_apart_on_sqlite() {
    let home = Home::new();
    let file = home.path("own.db");
    let ask = |sql: &str| {
        let connection = rusqlite::Connection::open(&file).expect("a database");
        let first = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
        match sql.starts_with("SELECT") {
            true => connection.query_row(sql, (), first).expect("a number"),
            false => connection.execute_batch(sql).map(|()| String::new()).expect("it is done"),
        }
    };
    tables_and_rows_are_built_apart(&home, &format!("sqlite:{}", file.display()), &ask);
}

#[test]
fn tables_and_rows_are_built_apart_on_the_servers() {
    for server in [&MARIADB, &POSTGRES] {
        let server = server.start();
        let ask = |sql: &str| crate::settings::ask(&server, &[sql]);
        tables_and_rows_are_built_apart(&Home::new(), &crate::real::url(&server), &ask);
    }
}
