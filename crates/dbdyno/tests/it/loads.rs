//! Tests of data on real servers: every load method and database gives the same rows, also after a
//! failed load.

use std::sync::OnceLock;

use serde_json::Value;
use servers::Server;
use servers::for_tests::{MARIADB, POSTGRES, TestServer};

use crate::builds::{figure, figures};
use crate::home::{Home, SMALL, at, number};
use crate::real::{checksums_of_tpcc, tpcc, url_of};

fn target(server: &Server, database: &str) -> String {
    format!("--target={}", url_of(server, database))
}

/// Returns the checksums of the tables that `Home::put_tpcc` copies.
fn of_small_data() -> Value {
    let home = Home::new();
    home.put_tpcc();
    checksums_of_tpcc(&home, &[])
}

/// Returns the checksums of a whole warehouse, whose load is long enough to be interrupted. They
/// are computed once per process.
fn of_a_warehouse() -> &'static Value {
    static EXPECTED: OnceLock<Value> = OnceLock::new();
    EXPECTED.get_or_init(|| {
        let home = Home::new();
        home.run(&["build", "tpcc"]).good();
        checksums_of_tpcc(&home, &[])
    })
}

/// Compares the rows of all databases and load methods. MariaDB by INSERT and PostgreSQL in bulk
/// are tested below, where they crash during the load.
#[test]
fn one_seed_gives_the_same_rows_on_every_database_by_either_method() {
    let home = Home::new();
    let target = target(MARIADB.shared(), "by_bulk");
    let built = home.json(&["build", "tpcc", SMALL, &target, "--load-method=bulk", "--quiet"]);
    assert_eq!(at(&built, "method"), "bulk");
    let expected = of_small_data();
    assert_eq!(checksums_of_tpcc(&home, &[&target]), expected);
    let postgres = tpcc(&POSTGRES);
    let postgres = postgres.as_ref().expect("it is built");
    assert_eq!(at(&postgres.built, "method"), "insert");
    assert_eq!(number(&postgres.built, "rows"), number(&built, "rows"));
    assert_eq!(postgres.checksums, expected);
}

#[test]
fn both_methods_are_timed_one_after_the_other_on_new_tables() {
    let home = Home::new();
    for server in [&MARIADB, &POSTGRES] {
        let target = target(server.shared(), "by_either_method");
        let small = ["build", "oltp-read-write", &target, "--tables=4", "--table-size=5000"];
        let args = [&small[..], &["--load-method=both", "--quiet"]].concat();
        let both = home.json(&args);
        assert_eq!(at(&both, "checksums_equal"), true, "{both:#}");
        assert_eq!(number(&both, "insert.rows"), 20_000.0);
        assert_eq!(number(&both, "insert.rows"), number(&both, "bulk.rows"));
        assert!(number(&both, "insert_to_bulk") > 0.0);
        assert_eq!(
            (at(&both, "insert.method"), at(&both, "bulk.loaders")),
            (&Value::from("insert"), &Value::from(4))
        );
        let again = home.run(&args).code(1);
        again.warns(&["the tables must not exist yet: drop them first"]).is_a_sentence();
    }
}

/// Crashes a server during a load, and checks that the build goes on.
fn crash(test: &TestServer, method: &str) {
    let home = Home::new();
    let mut server = test.start();
    let target = target(&server, "crashed");
    let mut build = home.start(&["build", "tpcc", &target, method, "--output=json"]);
    build.wait_until("a table", |said| said.contains("building "));
    server.kill().expect("killed");
    server.restart().expect("it recovers");
    let built = build.end().good().json();
    assert!(number(&built, "reconnects") >= 1.0, "{built:#}");
    let run = at(&built, "run_id").as_str().expect("it is kept");
    assert!(figure(&figures(&home, run), "build.rows_loaded.max") > 0.0);
    home.run(&["runs", "show", run]).good().says(&["database"]);
    assert_eq!(&checksums_of_tpcc(&home, &[&target]), of_a_warehouse());
    home.run(&["drop", "tpcc", &target]).good().says(&["dropped"]);
}

#[test]
fn a_load_goes_on_when_mariadb_crashes_and_no_row_is_lost_or_twice() {
    crash(&MARIADB, "--load-method=insert");
}

#[test]
fn a_load_goes_on_when_postgres_crashes_and_no_row_is_lost_or_twice() {
    crash(&POSTGRES, "--load-method=bulk");
}

#[test]
fn a_run_tells_how_it_built_its_data() {
    let home = Home::new();
    let target = "--target=managed:postgres?fsync=off&shared_buffers=64MB&max_connections=50";
    let args = ["run", "tpcb", target, "--load-method=insert", "--duration=1s", "--ramp-up=0s"];
    let ran = home.run(&[&args[..], &["--rate=50"]].concat()).good();
    let ran = ran.warns(&["rows/s) by insert with 4 loaders"]);
    ran.says(&[
        "4 of 4 checks passed before and after the load",
        "managed:postgres?fsync=off",
        "fsync=off",
    ]);
}
