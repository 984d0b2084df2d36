//! `tpch` where it cannot run: one sentence says what is wrong. Not here: wrong
//! parameters (tpch).

use model::StatementKind;
use servers::for_tests::POSTGRES;

use crate::home::{Home, number_in};
use crate::real::url_of;
use crate::tpch::{execute, plant_endless_query, session};

const BUILD: [&str; 4] = ["build", "tpch", "--scale=0.01", "-q"];

#[test]
fn a_file_of_duckdb_that_another_process_has_open_is_refused() {
    let home = Home::new();
    let library = servers::for_tests::fetched("duckdb-1.5/libduckdb.so");
    let file = home.path("x.duckdb");
    let target = format!("duckdb:{}?library={}", file.display(), library.display());
    let flag = format!("--target={target}");
    home.run(&[&BUILD[..], &[&flag]].concat()).good();
    plant_endless_query(&target);
    let args = ["run", "tpch", "--test=queries", "--check=off", "-q", &flag];
    let mut run = home.start(&args);
    let begun = "SELECT count(*) FROM run";
    run.wait_until("the run in the store", |_| number_in(&home.store(), begun) >= Some(2));
    let refused = home.run(&["check", "tpch", "-q", &flag]).code(1);
    refused.warns(&["x.duckdb", "only one process may open it at a time"]).is_a_sentence();
    run.kill();
    run.end();
}

#[test]
fn tables_that_are_missing_or_of_somebody_else_are_named() {
    let home = Home::new();
    let target = url_of(POSTGRES.shared(), "refused");
    let flag = format!("--target={target}");
    home.run(&[&BUILD[..], &[&flag]].concat()).good();
    let change = |sql: &str| {
        execute(session(&target).as_mut(), StatementKind::Other, sql);
    };
    let refused = |args: &[&str], words: &[&str]| {
        home.run(&[args, &["-q", &flag]].concat()).code(1).warns(words).is_a_sentence();
    };
    change("ALTER TABLE region RENAME TO elsewhere");
    for command in ["run", "check", "build"] {
        refused(&[command, "tpch"], &["region"]);
    }
    change("ALTER TABLE elsewhere RENAME TO region");
    change("ALTER DATABASE refused SET statement_timeout = '1ms'");
    let ran = home.run(&["run", "tpch", "--test=queries", "-q", &flag]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let said = [&ran.out[..], &ran.err].concat();
    assert!(said.contains("statement timeout"), "{ran:?}");
    change("ALTER DATABASE refused RESET statement_timeout");
    home.run(&["drop", "tpch", "-q", &flag]).good();
    change("CREATE TABLE orders (id integer PRIMARY KEY)");
    refused(&["build", "tpch", "--scale=0.01"], &["did not build"]);
    refused(&["run", "tpch", "--scale=0.01"], &["did not build"]);
}

#[test]
fn tables_of_another_schema_are_not_taken_for_ours() {
    let home = Home::new();
    let target = url_of(POSTGRES.shared(), "hidden");
    let flag = format!("--target={target}");
    home.run(&["build", "tpcb", "-q", &flag]).good();
    let change = |sql: &str| {
        execute(session(&target).as_mut(), StatementKind::Other, sql);
    };
    change("CREATE SCHEMA other");
    change("CREATE TABLE other.pgbench_tellers AS SELECT 42 AS id");
    change("ALTER DATABASE hidden SET search_path = other, public");
    for command in ["drop", "check", "build", "run"] {
        let words = ["other.pgbench_tellers", "public.pgbench_tellers", "search_path"];
        home.run(&[command, "tpcb", "-q", &flag]).code(1).warns(&words).is_a_sentence();
    }
    change("ALTER DATABASE hidden RESET search_path");
    home.run(&["drop", "tpcb", "-q", &flag]).good();
    // Only ours are gone.
    change("DROP TABLE other.pgbench_tellers");
}
