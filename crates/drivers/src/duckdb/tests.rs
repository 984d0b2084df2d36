//! Tests of behaviour that only DuckDB has: its library, files, conflicts and types.

use std::path::Path;
use std::sync::Arc;

use model::{Database, DbErrorKind, FactValue, Request, Target, Value};
use tempfile::TempDir;

use super::ffi::Library;
use super::library::cannot_load;
use super::{ENTRY, check};
use crate::conformance::{Kept, Read, TestSession, Write, holds, refused};
use crate::on_servers::{cannot_open, fact, opened, with};
use crate::{CannotOpen, Opening};

/// Path of the library in the folder of the test servers.
const LIBRARY: &str = "duckdb-1.5/libduckdb.so";

fn target(url: &str) -> Target {
    let library = servers::for_tests::fetched(LIBRARY);
    let target = Target::parse(url).expect("a valid URL");
    with(target, &[("library", &library.to_string_lossy())])
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for a test")
}

fn in_folder(folder: &TempDir, options: &str) -> Target {
    target(&format!("duckdb:{}/test.duckdb{options}", folder.path().display()))
}

fn database(folder: &TempDir, options: &str) -> Arc<dyn Database> {
    opened(&in_folder(folder, options))
}

fn memory() -> Arc<dyn Database> {
    opened(&target("duckdb::memory:"))
}

#[test]
fn a_file_holds_the_laws() {
    let folder = folder();
    holds(&|| database(&folder, ""));
}

#[test]
fn memory_holds_the_laws() {
    holds(&memory);
}

#[test]
fn verified_names_the_version_of_the_tests() {
    let verified = ENTRY.verified.expect("this suite passes");
    let facts = memory().facts().expect("facts");
    assert_eq!(verified, format!("DuckDB {}", fact(&facts, "version")));
}

#[test]
fn a_library_that_is_not_there_is_reported_with_its_remedy() {
    let path = Path::new("/nowhere/libduckdb.so");
    let error = Library::load(path).err().expect("it is not there");
    let said = cannot_load(path, &error).to_string();
    for words in ["/nowhere/libduckdb.so", "duckdb.org", "npm", "Debian", "DBDYNO_DUCKDB"] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn a_library_that_is_not_duckdb_is_reported() {
    let path = Path::new("libm.so.6");
    let error = Library::load(path).err().expect("it is no DuckDB");
    let said = cannot_load(path, &error).to_string();
    assert!(said.contains("duckdb_library_version"), "{said}");
}

#[test]
fn a_url_that_cannot_be_right_is_reported_with_its_remedy() {
    let check = |url: &str, words: &str| {
        let bad = check(&Target::parse(url).expect("a URL")).expect_err("it is bad").to_string();
        assert!(bad.contains(words), "{url}: {bad}");
    };
    check("duckdb:", "name a file: duckdb:/path/file.db");
    check("duckdb://host/file.db", "duckdb has no host");
    check("duckdb:a.db?thread=4", "did you mean 'threads'?");
    check("duckdb:a.db?threads=0", "too small");
    check("duckdb::memory:?mode=ro", "would be empty");
}

#[test]
fn a_file_that_cannot_be_a_database_is_refused_with_its_reason() {
    let folder = folder();
    let path = folder.path().display();
    let check = |name: &str, kind: DbErrorKind, words: &str| {
        let (found, said) = cannot_open(&target(&format!("duckdb:{path}/{name}")));
        assert_eq!(found, kind, "{said}");
        assert!(said.contains(words), "{said}");
    };
    let text = "no database at all. ".repeat(1000);
    std::fs::write(folder.path().join("text.db"), text).expect("written");
    let sqlite = rusqlite::Connection::open(folder.path().join("sqlite.db")).expect("it opens");
    sqlite.execute_batch("CREATE TABLE t (i)").expect("created");
    check("text.db", DbErrorKind::Corrupt, "text.db: it is not a DuckDB database");
    check("sqlite.db", DbErrorKind::Corrupt, "sqlite.db: it is not a DuckDB database");
    check("none.db", DbErrorKind::Missing, "there is no database at");
    check("no/file.db", DbErrorKind::Missing, "there is no database at");
    let opening = Opening { create: false, seed: 1 };
    match crate::open(&target(&format!("duckdb:{path}/")), opening) {
        Err(CannotOpen::Bad(bad)) => assert!(bad.to_string().contains("is a directory"), "{bad}"),
        _ => panic!("a directory is no place for a file"),
    }
}

#[test]
fn targets_of_one_file_share_the_database() {
    let folder = folder();
    let (one, other) = (database(&folder, ""), database(&folder, ""));
    let mut first = TestSession::connect(&one, &[]);
    first.do_all(&["CREATE TABLE t (i INTEGER)", "INSERT INTO t VALUES (7)"]);
    let mut second = TestSession::connect(&other, &[]);
    assert_eq!(second.int("SELECT i FROM t"), 7);
    let (kind, said) = cannot_open(&in_folder(&folder, "?threads=1"));
    assert_eq!(kind, DbErrorKind::Busy, "{said}");
    assert!(said.contains("with other options"), "{said}");
    drop((one, other, first));
    // Its session keeps it open.
    assert_eq!(second.int("SELECT i FROM t"), 7);
    drop(second);
    let again = database(&folder, "?threads=1");
    assert_eq!(fact(&again.facts().expect("facts"), "threads"), "1");
    assert_eq!(TestSession::connect(&again, &[]).int("SELECT i FROM t"), 7);
}

#[test]
fn a_database_opened_read_only_cannot_be_written() {
    let folder = folder();
    TestSession::connect(&database(&folder, ""), &[]).do_all(&["CREATE TABLE t (i INTEGER)"]);
    let read_only = database(&folder, "?mode=ro");
    let mut session = TestSession::connect(&read_only, &[(Write, "INSERT INTO t VALUES (1)")]);
    refused(session.call(0, &[]), DbErrorKind::ReadOnly);
    assert_eq!(session.int("SELECT count(*) FROM t"), 0);
}

#[test]
fn the_second_of_two_changes_is_a_conflict() {
    let database = memory();
    let [mut one, mut other] = [(); 2].map(|()| TestSession::connect(&database, &[]));
    one.do_all(&["CREATE TABLE t (i INTEGER PRIMARY KEY, v INTEGER)"]);
    one.do_all(&["INSERT INTO t VALUES (1, 1), (2, 2)"]);
    for sql in ["UPDATE t SET v = v + 1 WHERE i = 1", "DELETE FROM t WHERE i = 2"] {
        one.ask(Request::Begin).expect("begun");
        other.ask(Request::Begin).expect("begun");
        one.do_all(&[sql]);
        refused(other.text(sql), DbErrorKind::Serialization);
        // The transaction is over, but for its rollback.
        other.text("SELECT 1").expect_err("aborted");
        other.ask(Request::Rollback).expect("rolled back");
        one.ask(Request::Commit).expect("committed");
    }
    // A key that two transactions insert is found at the commit of the second.
    for session in [&mut one, &mut other] {
        session.ask(Request::Begin).expect("begun");
        session.do_all(&["INSERT INTO t VALUES (3, 3)"]);
    }
    one.ask(Request::Commit).expect("committed");
    refused(other.ask(Request::Commit), DbErrorKind::Duplicate);
    other.ask(Request::Rollback).expect("there is nothing left to roll back");
    assert_eq!(one.int("SELECT count(*) FROM t"), 2);
}

#[test]
fn numbers_of_every_width_are_read() {
    let mut session = TestSession::connect(&memory(), &[]);
    let mut check = |sql: &str, expect: Kept| {
        let sql = format!("SELECT {sql}");
        let rows = session.rows(Request::Text { kind: Read, sql: &sql }).expect("it reads");
        assert_eq!(rows, [[expect]], "{sql}");
    };
    check("TRUE", Kept::Int(1));
    check("CAST(-128 AS TINYINT)", Kept::Int(-128));
    check("CAST(255 AS UTINYINT)", Kept::Int(255));
    check("CAST(65535 AS USMALLINT)", Kept::Int(65_535));
    check("CAST(4294967295 AS UINTEGER)", Kept::Int(4_294_967_295));
    check("CAST(9223372036854775807 AS UBIGINT)", Kept::Int(i64::MAX));
    check("sum(i) FROM range(5) r(i)", Kept::Int(10));
    check("CAST(1 AS UHUGEINT)", Kept::Int(1));
    check("CAST('1e30' AS HUGEINT)", Kept::Float(1e30));
    check("CAST(1.5 AS FLOAT)", Kept::Float(1.5));
    check("CAST(-1.25 AS DECIMAL(4, 2))", Kept::Int(-125));
    check("CAST(-1.25 AS DECIMAL(9, 2))", Kept::Int(-125));
    check("CAST(-1.25 AS DECIMAL(18, 2))", Kept::Int(-125));
    check("CAST(-1.25 AS DECIMAL(38, 2))", Kept::Int(-125));
    check("TIMESTAMP_S '1970-01-01 00:00:01'", Kept::Int(1_000_000));
    check("TIMESTAMP_MS '1970-01-01 00:00:01'", Kept::Int(1_000_000));
    check("TIMESTAMP_NS '1970-01-01 00:00:01'", Kept::Int(1_000_000));
    check("NULL", Kept::Null);
    let words = refused(session.text("SELECT [1, 2] AS both"), DbErrorKind::Unsupported);
    assert!(words.contains("column 'both'") && words.contains("VARCHAR"), "{words}");
}

#[test]
fn more_rows_than_a_chunk_are_visited_in_order() {
    let mut session = TestSession::connect(&memory(), &[]);
    let sql = "SELECT i, CASE WHEN i % 3 > 0 THEN 'a text that is long enough: ' || i END \
               FROM range(5000) r(i) ORDER BY i";
    let rows = session.rows(Request::Text { kind: Read, sql }).expect("it reads");
    assert_eq!(rows.len(), 5000);
    for (i, row) in rows.into_iter().enumerate() {
        let text = match i % 3 {
            0 => Kept::Null,
            _ => Kept::Text(format!("a text that is long enough: {i}")),
        };
        assert_eq!(row, [Kept::Int(i as i64), text]);
    }
}

#[test]
fn values_are_bound_whatever_the_type_of_the_parameter() {
    let database = memory();
    let insert = "INSERT INTO t VALUES (?, ?, ?)";
    let mut session = TestSession::connect(&database, &[(Write, insert), (Read, "SELECT ?")]);
    session.do_all(&["CREATE TABLE t (n INTEGER, money DECIMAL(12, 2), x DOUBLE)"]);
    let rows = [
        [Value::Int(1), Value::Int(5), Value::Int(2)],
        [Value::Null, Value::Decimal { unscaled: 15, scale: 1 }, Value::Float(0.5)],
        [Value::Int(2), Value::cents(-1), Value::cents(150)],
    ];
    for row in rows {
        session.call(0, &row).expect("inserted");
    }
    let all = "SELECT n, money, x FROM t ORDER BY x";
    let found = session.rows(Request::Text { kind: Read, sql: all }).expect("it reads");
    let row = |n: Kept, cents: i64, x: f64| [n, Kept::Int(cents), Kept::Float(x)];
    let expect =
        [row(Kept::Null, 150, 0.5), row(Kept::Int(2), -1, 1.5), row(Kept::Int(1), 500, 2.0)];
    assert_eq!(found, expect);
    let too_large = [Value::Int(i64::MAX), Value::Null, Value::Null];
    session.call(0, &too_large).expect_err("no INTEGER");
    for (value, expect) in
        [(Value::Int(7), Kept::Int(7)), (Value::Text("x"), Kept::Text("x".into()))]
    {
        assert_eq!(session.call_rows(1, &[value]), [[expect]]);
    }
}

#[test]
fn facts_name_version_file_and_settings() {
    let folder = folder();
    let options = "?memory_limit=512MiB&checkpoint_threshold=32MiB&threads=1";
    let facts = database(&folder, options).facts().expect("facts");
    let check = |name: &str, expect: &str| assert_eq!(fact(&facts, name), expect, "{name}");
    check("product", "DuckDB");
    check("path", &folder.path().join("test.duckdb").to_string_lossy());
    check("mode", "rw");
    check("level", "snapshot");
    check("threads", "1");
    check("memory_limit", "512.0 MiB");
    check("checkpoint_threshold", "32.0 MiB");
    let of_memory = memory().facts().expect("facts");
    let path = of_memory.iter().find(|fact| fact.name == "path").map(|fact| &fact.value);
    assert_eq!(path.and_then(FactValue::text), Some(":memory:"));
}
