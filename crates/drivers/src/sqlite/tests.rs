//! Tests of behaviour that only SQLite has: files, locks, and the queue of writers.

use std::sync::{Arc, Mutex};
use std::thread;

use model::{Database, DbErrorKind, FactValue, Request, Row, Target, Value, query};
use rusqlite::Connection;
use tempfile::TempDir;

use super::session::SqliteSession;
use super::{ENTRY, Sqlite, open_sqlite};
use crate::conformance::{Kept, Other, Read, TestSession, Write, block_on, holds, refused};
use crate::embedded::lock;
use crate::{CannotOpen, Opening};

const CREATE: Opening = Opening { create: true, seed: 1 };
const AS_IT_IS: Opening = Opening { create: false, seed: 1 };

fn try_open(url: &str, opening: Opening) -> Result<Arc<Sqlite>, CannotOpen> {
    open_sqlite(&Target::parse(url).expect("a valid URL"), opening).map(Arc::new)
}

fn opened(url: &str) -> Arc<Sqlite> {
    try_open(url, CREATE).unwrap_or_else(|no| panic!("{url}: {no}"))
}

fn any(database: &Arc<Sqlite>) -> Arc<dyn Database> {
    Arc::clone(database) as Arc<dyn Database>
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for a test")
}

fn url(folder: &TempDir, options: &str) -> String {
    format!("sqlite:{}/test.db{options}", folder.path().display())
}

fn database(folder: &TempDir, options: &str) -> Arc<dyn Database> {
    any(&opened(&url(folder, options)))
}

#[test]
fn a_file_holds_the_laws() {
    let folder = folder();
    holds(&|| database(&folder, ""));
}

#[test]
fn a_file_with_a_rollback_journal_holds_the_laws() {
    let folder = folder();
    holds(&|| database(&folder, "?journal=truncate&synchronous=off&busy=handler"));
}

#[test]
fn refused_at_once_holds_the_laws() {
    let folder = folder();
    holds(&|| database(&folder, "?busy=retry"));
}

#[test]
fn memory_holds_the_laws() {
    holds(&|| any(&opened("sqlite::memory:")));
}

#[test]
fn verified_names_the_version_that_is_built_in() {
    let verified = ENTRY.verified.expect("this suite passes");
    assert!(verified.contains(rusqlite::version()), "{verified}, {}", rusqlite::version());
}

#[test]
fn bytes_and_texts_come_back_as_they_went() {
    let folder = folder();
    let mut session = TestSession::connect(&database(&folder, ""), &[(Read, "SELECT ?, ?, ?")]);
    let (bytes, text) = ([0u8, 255, 1, 254].repeat(1 << 18), "ab\0cd".repeat(200_000));
    for _ in 0..2 {
        let values = [Value::Bytes(&bytes), Value::Text(&text), Value::Bytes(&[])];
        let rows = session.call_rows(0, &values);
        assert!(
            rows == [[Kept::Bytes(bytes.clone()), Kept::Text(text.clone()), Kept::Bytes(vec![])]]
        );
    }
}

#[test]
fn sessions_of_one_memory_see_the_same_and_other_memories_do_not() {
    let one = any(&opened("sqlite::memory:"));
    let other = any(&opened("sqlite::memory:"));
    TestSession::connect(&one, &[]).do_all(&["CREATE TABLE t (i)", "INSERT INTO t VALUES (7)"]);
    assert_eq!(TestSession::connect(&one, &[]).int("SELECT i FROM t"), 7);
    refused(TestSession::connect(&other, &[]).text("SELECT i FROM t"), DbErrorKind::Missing);
}

/// Tests that opening a target or connecting to it fails with this kind of error and these words in
/// the message.
fn check_refused(url: &str, opening: Opening, kind: DbErrorKind, words: &str) {
    let no = match try_open(url, opening) {
        Ok(database) => TestSession::try_connect(&any(&database), &[]).err().expect("refused"),
        Err(CannotOpen::Refused(no)) => no,
        Err(CannotOpen::Bad(bad)) => panic!("{bad}"),
    };
    assert_eq!(no.kind, kind, "{no}");
    assert!(no.message.contains(words), "{no}");
}

#[test]
fn a_file_that_cannot_be_a_database_is_refused_with_its_reason() {
    let folder = folder();
    let path = folder.path().display();
    let at = |name: &str| format!("sqlite:{path}/{name}");
    std::fs::write(folder.path().join("text.db"), "no database at all. ".repeat(1000))
        .expect("written");
    check_refused(&at("text.db"), CREATE, DbErrorKind::Corrupt, "text.db: it is not an SQLite");
    check_refused(&at("none.db"), AS_IT_IS, DbErrorKind::Missing, "there is no database at");
    check_refused(&at("none.db?mode=ro"), CREATE, DbErrorKind::Missing, "there is no database at");
    let check_bad = |name: &str, words: &str| match try_open(&at(name), CREATE) {
        Err(CannotOpen::Bad(bad)) => assert!(bad.to_string().contains(words), "{name}: {bad}"),
        _ => panic!("{name} is no place for a file"),
    };
    check_bad("no/file.db", "does not exist: create it");
    check_bad("text.db/file.db", "is not a directory");
    check_bad("", "is a directory");
    assert!(!folder.path().join("none.db").exists(), "nothing was made");
}

#[test]
fn a_url_that_cannot_be_right_is_reported_with_its_remedy() {
    let check = |url: &str, words: &str| match try_open(url, CREATE) {
        Err(CannotOpen::Bad(bad)) => assert!(bad.to_string().contains(words), "{url}: {bad}"),
        _ => panic!("{url} must be bad"),
    };
    check("sqlite:", "name a file");
    check("sqlite://host/file.db", "no host");
    check("sqlite:a.db?jurnal=wal", "did you mean 'journal'?");
    check("sqlite:a.db?page_size=1000", "power of two");
    check("sqlite::memory:?journal=wal", "journal=memory");
    check("sqlite::memory:?mode=ro", "would be empty");
}

#[test]
fn a_database_opened_read_only_cannot_be_written() {
    let folder = folder();
    TestSession::connect(&database(&folder, ""), &[]).do_all(&["CREATE TABLE t (i)"]);
    let read_only = any(&try_open(&url(&folder, "?mode=ro"), AS_IT_IS).expect("it is there"));
    let mut session = TestSession::connect(&read_only, &[(Write, "INSERT INTO t VALUES (1)")]);
    refused(session.call(0, &[]), DbErrorKind::ReadOnly);
    session.ask(Request::Begin).expect("SQLite begins a transaction that reads");
    refused(session.call(0, &[]), DbErrorKind::ReadOnly);
    session.ask(Request::Rollback).expect("rolled back");
    assert_eq!(session.int("SELECT count(*) FROM t"), 0);
}

#[test]
fn a_full_database_is_reported_as_a_full_disk() {
    let folder = folder();
    let database = database(&folder, "");
    let mut session =
        TestSession::connect(&database, &[(Write, "INSERT INTO t VALUES (zeroblob(?))")]);
    session.do_all(&["CREATE TABLE t (b)", "PRAGMA max_page_count = 10"]);
    session.ask(Request::Begin).expect("begun");
    let words = refused(session.call(0, &[Value::Int(1 << 20)]), DbErrorKind::DiskFull);
    assert!(words.contains("test.db"), "{words}");
    // SQLite has rolled back, and the session has returned its access to the queue.
    session.ask(Request::Rollback).expect("nothing is left to roll back");
    let mut other = TestSession::connect(&database, &[]);
    other.ask(Request::Begin).expect("it is the other's turn");
    other.ask(Request::Commit).expect("committed");
}

#[test]
fn a_lock_of_another_process_is_reported_and_not_waited_for_for_ever() {
    let folder = folder();
    for options in ["?busy_timeout=20ms", "?busy_timeout=20ms&journal=delete", "?busy=retry"] {
        let path = folder.path().join("test.db");
        let _ = std::fs::remove_file(&path);
        let database = database(&folder, options);
        let mut session = TestSession::connect(&database, &[]);
        session.do_all(&["CREATE TABLE t (i)"]);
        let foreign = Connection::open(&path).expect("it opens");
        foreign.execute_batch("BEGIN EXCLUSIVE").expect("it locks");
        refused(session.ask(Request::Begin), DbErrorKind::Busy);
        foreign.execute_batch("COMMIT").expect("it lets go");
        session.ask(Request::Begin).expect("it is free");
        session.ask(Request::Commit).expect("committed");
    }
}

#[test]
fn connecting_to_a_locked_database_is_refused_with_its_reason() {
    let folder = folder();
    let path = folder.path().join("test.db");
    let foreign = Connection::open(&path).expect("it opens");
    foreign.execute_batch("CREATE TABLE t (i); BEGIN EXCLUSIVE").expect("it locks");
    let options = "?busy_timeout=10ms";
    check_refused(
        &url(&folder, options),
        AS_IT_IS,
        DbErrorKind::Busy,
        "another process has locked it",
    );
}

#[test]
fn who_reads_before_another_writes_gets_a_serialization_failure() {
    let folder = folder();
    let database = database(&folder, "");
    let mut one = TestSession::connect(&database, &[]);
    one.do_all(&["CREATE TABLE t (i)", "BEGIN", "SELECT * FROM t"]);
    TestSession::connect(&database, &[]).do_all(&["INSERT INTO t VALUES (1)"]);
    refused(one.text("INSERT INTO t VALUES (2)"), DbErrorKind::Serialization);
    one.ask(Request::Rollback).expect("rolled back");
    one.text("INSERT INTO t VALUES (2)").expect("now it may");
}

#[test]
fn the_page_size_holds_for_a_new_database_and_is_not_ignored_for_an_old_one() {
    let folder = folder();
    let new = database(&folder, "?page_size=8192");
    TestSession::connect(&new, &[]).do_all(&["CREATE TABLE t (i)"]);
    let has = |name: &str, value: &str| {
        let facts = new.facts().expect("facts");
        let fact = facts.iter().find(|fact| fact.name == name).expect(name);
        assert_eq!(fact.value, value, "{name}");
    };
    has("page_size_bytes", "8192");
    has("journal_mode", "wal");
    has("synchronous", "normal");
    has("cache_size_bytes", "2048000");
    has("cache", "page cache of each session 1.95 MiB");
    has("wal_autocheckpoint_pages", "1000");
    has("threadsafe", "1");
    let other = url(&folder, "?page_size=4096");
    check_refused(&other, AS_IT_IS, DbErrorKind::Unsupported, "8192 bytes, not 4096");
}

#[test]
fn the_facts_of_memory_say_so() {
    let facts = opened("sqlite::memory:?cache_size=1MiB").facts().expect("facts");
    let value = |name: &str| facts.iter().find(|fact| fact.name == name).map(|fact| &fact.value);
    assert_eq!(value("path").and_then(FactValue::text), Some(":memory:"));
    assert_eq!(value("journal_mode").and_then(FactValue::text), Some("memory"));
    assert_eq!(value("cache_size_bytes"), Some(&FactValue::Bytes(1 << 20)));
    assert_eq!(value("busy").and_then(FactValue::text), Some("queue"));
}

/// Begins transactions in `n` threads while another session writes; each thread starts once the
/// previous one waits. Returns the thread numbers in the order in which the transactions began.
fn begin_in_line(database: &Arc<Sqlite>, n: usize) -> Vec<usize> {
    let mut first = TestSession::connect(&any(database), &[]);
    first.ask(Request::Begin).expect("begun");
    let order = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for name in 0..n {
            let (order, any) = (&order, any(database));
            scope.spawn(move || {
                let mut session = TestSession::connect(&any, &[]);
                session.ask(Request::Begin).expect("begun");
                lock(order).push(name);
                session.ask(Request::Commit).expect("committed");
            });
            while database.shared.queue.n_waiting() == name {
                thread::yield_now();
            }
        }
        first.ask(Request::Commit).expect("committed");
    });
    order.into_inner().expect("no panic")
}

#[test]
fn writers_take_turns_in_the_order_of_asking() {
    let folder = folder();
    assert_eq!(begin_in_line(&opened(&url(&folder, "")), 12), (0..12).collect::<Vec<usize>>());
}

#[test]
fn a_single_write_waits_for_its_turn_and_a_read_of_a_file_does_not() {
    let folder = folder();
    let database = opened(&url(&folder, ""));
    let mut first = TestSession::connect(&any(&database), &[]);
    first.do_all(&["CREATE TABLE t (i)"]);
    first.ask(Request::Begin).expect("begun");
    first.do_all(&["INSERT INTO t VALUES (1)"]);
    thread::scope(|scope| {
        let any = any(&database);
        let second = scope.spawn(move || {
            let mut session = TestSession::connect(&any, &[(Write, "UPDATE t SET i = i + 1")]);
            assert_eq!(session.int("SELECT count(*) FROM t"), 0, "it sees what is committed");
            session.call(0, &[]).expect("updated").n_affected
        });
        while database.shared.queue.n_waiting() == 0 {
            thread::yield_now();
        }
        first.ask(Request::Commit).expect("committed");
        assert_eq!(second.join().expect("no panic"), 1);
    });
}

#[test]
fn a_reader_of_memory_waits_for_the_writer_and_is_not_refused() {
    let database = opened("sqlite::memory:");
    let mut first = TestSession::connect(&any(&database), &[]);
    first.do_all(&["CREATE TABLE t (i)"]);
    let mut second = TestSession::connect(&any(&database), &[]);
    first.ask(Request::BeginReadOnly).expect("begun");
    assert_eq!(second.int("SELECT count(*) FROM t"), 0, "readers read side by side");
    first.ask(Request::Commit).expect("ended");
    drop(second);
    first.ask(Request::Begin).expect("begun");
    first.do_all(&["INSERT INTO t VALUES (1)"]);
    thread::scope(|scope| {
        let any = any(&database);
        let reader =
            scope.spawn(move || TestSession::connect(&any, &[]).int("SELECT count(*) FROM t"));
        while database.shared.queue.n_waiting() == 0 {
            thread::yield_now();
        }
        first.ask(Request::Commit).expect("committed");
        assert_eq!(reader.join().expect("no panic"), 1);
    });
}

#[test]
fn a_cancelled_session_stops_waiting_for_its_turn_at_once() {
    let folder = folder();
    let database = opened(&url(&folder, ""));
    let mut first = TestSession::connect(&any(&database), &[]);
    first.ask(Request::Begin).expect("begun");
    thread::scope(|scope| {
        let (sender, receiver) = std::sync::mpsc::channel();
        let any = any(&database);
        let second = scope.spawn(move || {
            let mut session = TestSession::connect(&any, &[]);
            sender.send(session.0.canceller()).expect("somebody listens");
            refused(session.ask(Request::Begin), DbErrorKind::Cancelled);
        });
        let hand = receiver.recv().expect("a hand");
        while database.shared.queue.n_waiting() == 0 {
            thread::yield_now();
        }
        hand.cancel();
        second.join().expect("no panic");
    });
    assert_eq!(database.shared.queue.n_waiting(), 0);
}

#[test]
fn a_cancelled_session_stops_waiting_for_another_process_at_once() {
    let folder = folder();
    let database = database(&folder, "?busy_timeout=86400s");
    let mut session = TestSession::connect(&database, &[]);
    let foreign = Connection::open(folder.path().join("test.db")).expect("it opens");
    foreign.execute_batch("BEGIN IMMEDIATE").expect("it locks");
    let hand = session.0.canceller();
    // If the cancel failed, this would wait for a day.
    thread::scope(|scope| {
        scope.spawn(move || hand.cancel());
        refused(session.ask(Request::Begin), DbErrorKind::Cancelled);
    });
}

#[test]
fn a_cancel_ends_a_statement_even_where_its_interrupt_is_lost() {
    let folder = folder();
    let database = opened(&url(&folder, ""));
    let mut session =
        SqliteSession::connect(Arc::clone(&database.shared), Arc::new([])).expect("connected");
    let handle = Arc::clone(&session.handle);
    // The first row comes at once; the second takes longer than any test waits.
    let sql = "SELECT 1 UNION ALL SELECT count(*) FROM
        (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n)";
    let visit = &mut |_: &dyn Row| {
        handle.cancel_without_interrupt();
        Ok(())
    };
    let request = Request::Text { kind: Read, sql };
    refused(block_on(query(&mut session, request, visit)), DbErrorKind::Cancelled);
}

#[test]
fn a_cancelled_session_lets_go_of_what_it_holds() {
    let folder = folder();
    let database = database(&folder, "");
    let mut one = TestSession::connect(&database, &[]);
    one.do_all(&["CREATE TABLE t (i)"]);
    one.ask(Request::Begin).expect("begun");
    one.do_all(&["INSERT INTO t VALUES (1)"]);
    one.0.canceller().cancel();
    refused(one.text("INSERT INTO t VALUES (2)"), DbErrorKind::Cancelled);
    let mut other = TestSession::connect(&database, &[]);
    other.ask(Request::Begin).expect("it is the other's turn");
    assert_eq!(other.int("SELECT count(*) FROM t"), 0);
}

#[test]
fn busy_is_refused_at_once_where_that_is_asked_for() {
    let folder = folder();
    for url in ["sqlite::memory:?busy=retry".to_owned(), url(&folder, "?busy=retry")] {
        let database = any(&opened(&url));
        let (mut one, mut two) =
            (TestSession::connect(&database, &[]), TestSession::connect(&database, &[]));
        one.ask(Request::Begin).expect("begun");
        refused(two.ask(Request::Begin), DbErrorKind::Busy);
        one.ask(Request::Rollback).expect("rolled back");
        two.ask(Request::Begin).expect("it is free");
    }
}

#[test]
fn ddl_is_seen_by_statements_that_are_ready() {
    let folder = folder();
    let database = database(&folder, "");
    let select = (Read, "SELECT * FROM t");
    let mut session =
        TestSession::connect(&database, &[select, (Other, "ALTER TABLE t ADD COLUMN b")]);
    session.do_all(&["CREATE TABLE t (a)", "INSERT INTO t VALUES (1)"]);
    assert_eq!(session.call_rows(0, &[]), [[Kept::Int(1)]]);
    session.call(1, &[]).expect("altered");
    assert_eq!(session.call_rows(0, &[]), [[Kept::Int(1), Kept::Null]]);
}
