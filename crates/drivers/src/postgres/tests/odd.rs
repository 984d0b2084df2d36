//! Tests of the PostgreSQL driver with unusual server settings, and with users who have few
//! privileges. The driver must do what is possible, and report what is not, with the remedy.

use std::thread;

use model::{DbError, DbErrorKind, Reply, Request, Target, reconnect};
use servers::Kind;
use servers::for_tests::{POSTGRES, POSTGRES_18};

use crate::conformance::{TestSession, Write, block_on, holds, refused};
use crate::on_servers::{Killing, Site, cannot_open, keeps, load_odd, opened, signed_in_as};
use crate::{Opening, open};

keeps! {
    laws [
        what_a_user_may_not_do_is_reported_with_its_remedy,
        a_session_that_may_only_read_says_why,
        a_database_that_is_missing_is_made_once,
        a_statement_that_was_sent_and_never_answered_may_be_committed,
        a_session_that_is_ended_while_it_is_idle_knows_it,
    ];
    on postgres: POSTGRES, postgres_18: POSTGRES_18;
    named Kind::Postgres;
}

/// Creates a user with the privileges that the statements `sql` grant. Returns the target of the
/// database of the test `law` with this user.
fn user(site: &Site, law: &str, name: &str, sql: &[&str]) -> Target {
    let mut admin = TestSession::connect(&site.open(law, &[]), &[]);
    let there = format!("SELECT count(*) FROM pg_roles WHERE rolname = '{name}'");
    if admin.int(&there) > 0 {
        admin.do_all(&[&format!("DROP OWNED BY {name}"), &format!("DROP ROLE {name}")]);
    }
    admin.do_all(&[&format!("CREATE ROLE {name} LOGIN PASSWORD 'x'")]);
    admin.do_all(sql);
    signed_in_as(site.target_of(law), name)
}

const MAKE: [&str; 2] = ["DROP TABLE IF EXISTS law_odd", "CREATE TABLE law_odd (id int)"];

fn what_a_user_may_not_do_is_reported_with_its_remedy(site: &Site) {
    let rights = [&MAKE[..], &["GRANT SELECT ON law_odd TO law_rights"]].concat();
    let target = user(site, "rights", "law_rights", &rights);
    let database = opened(&target);
    let insert = "INSERT INTO law_odd VALUES (1)";
    let mut session = TestSession::connect(&database, &[(Write, insert)]);
    assert_eq!(session.int("SELECT count(*) FROM law_odd"), 0);
    let check = |result: Result<Reply, DbError>, remedy: &str| {
        let words = refused(result, DbErrorKind::Denied);
        assert!(words.contains(remedy), "{words}");
    };
    check(session.call(0, &[]), "GRANT");
    check(session.text("CREATE TABLE public.law_more (a int)"), "GRANT CREATE ON SCHEMA");
    check(load_odd(&database), "GRANT");
    let nowhere = Target { path: "law_never".to_owned(), ..target };
    match open(&nowhere, Opening { create: true, seed: 1 }) {
        Err(no) => assert!(no.to_string().contains("CREATEDB"), "{no}"),
        Ok(_) => panic!("it may make no database"),
    }
}

fn a_session_that_may_only_read_says_why(site: &Site) {
    let target = user(site, "only", "law_only", &MAKE);
    let mut admin = TestSession::connect(&site.open("only", &[]), &[]);
    admin.do_all(&["ALTER ROLE law_only SET default_transaction_read_only = on"]);
    admin.do_all(&["GRANT ALL ON law_odd TO law_only"]);
    let database = opened(&target);
    let insert = "INSERT INTO law_odd VALUES (1)";
    let mut session = TestSession::connect(&database, &[(Write, insert)]);
    let words = refused(session.call(0, &[]), DbErrorKind::ReadOnly);
    assert!(words.contains("default_transaction_read_only"), "{words}");
    session.ask(Request::Begin).expect("begun");
    refused(session.call(0, &[]), DbErrorKind::ReadOnly);
    session.ask(Request::Rollback).expect("rolled back");
    refused(load_odd(&database), DbErrorKind::ReadOnly);
}

fn a_database_that_is_missing_is_made_once(site: &Site) {
    let mut admin = TestSession::connect(&site.open("makes", &[]), &[]);
    let target = site.target_of("made \"again\"");
    let name = target.path.replace('"', "\"\"");
    admin.do_all(&[&format!("DROP DATABASE IF EXISTS \"{name}\"")]);
    let (kind, words) = cannot_open(&target);
    assert_eq!(kind, DbErrorKind::Missing, "{words}");
    // Several clients may create the database at once.
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| TestSession::connect(&opened(&target), &[]).int("SELECT 1"));
        }
    });
}

const KILLING: Killing = Killing {
    number: "SELECT pg_backend_pid()",
    under_way: "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND pid = ",
    kill: "SELECT pg_terminate_backend(",
    end: ")",
};

fn a_session_that_is_ended_while_it_is_idle_knows_it(site: &Site) {
    KILLING.while_idle(&site.open("idle", &[]));
}

fn a_statement_that_was_sent_and_never_answered_may_be_committed(site: &Site) {
    let database = site.open("gone", &[]);
    let mut session = TestSession::connect(&database, &[]);
    session.do_all(&MAKE);
    let body = "CREATE OR REPLACE PROCEDURE law_waits() LANGUAGE plpgsql AS \
                $$ BEGIN INSERT INTO law_odd VALUES (2); PERFORM pg_sleep(100); END $$";
    session.do_all(&["INSERT INTO law_odd VALUES (1)", body]);
    let check = |sql: &str, writes: bool, expect: DbErrorKind| {
        assert_eq!(KILLING.during(&database, sql, writes), expect, "{sql}");
    };
    check("SELECT pg_sleep(100)", false, DbErrorKind::ConnectionLost);
    let update = "UPDATE law_odd SET id = 3 FROM (SELECT pg_sleep(100)) AS waits";
    // The server says that it ends before the statement is done.
    check(update, true, DbErrorKind::ConnectionLost);
    // A procedure may commit a part by itself.
    check("CALL law_waits()", true, DbErrorKind::UnknownCommit);
    assert_eq!(session.int("SELECT sum(id) FROM law_odd"), 1);
}

#[test]
fn a_server_of_other_habits_holds_all_laws() {
    let odd = POSTGRES.start_with(&[
        ("bytea_output", "escape"),
        ("datestyle", "German"),
        ("default_transaction_isolation", "serializable"),
        ("intervalstyle", "iso_8601"),
        ("standard_conforming_strings", "off"),
        ("escape_string_warning", "off"),
        ("backslash_quote", "off"),
        ("synchronize_seqscans", "off"),
        ("timezone", "Asia/Kathmandu"),
        ("default_transaction_deferrable", "on"),
    ]);
    let site = Site::at(&odd);
    for way in ["named", "simple"] {
        eprintln!("statements={way}");
        holds(&|| site.open("odd", &[("statements", way)]));
    }
}

#[test]
fn a_server_without_room_or_gone_in_mid_statement_is_reported_so() {
    let mut server = POSTGRES.start_with(&[("max_connections", "5")]);
    let site = Site::at(&server);
    let target = user(&site, "room", "law_room", &MAKE);
    let database = opened(&target);
    let mut held = Vec::new();
    let no = loop {
        match TestSession::try_connect(&database, &[]) {
            Ok(session) => held.push(session),
            Err(no) => break no,
        }
        assert!(held.len() < 6, "they are counted");
    };
    assert_eq!((no.kind, no.sqlstate.as_str()), (DbErrorKind::TooManyConnections, "53300"), "{no}");
    assert!(no.message.contains("raise max_connections"), "{no}");
    server.kill().expect("killed");
    let mut session = held.pop().expect("there was room for one");
    let no = session.text("SELECT 1").expect_err("it is gone");
    assert!(no.kind.breaks_session(), "{no}");
    let words = refused(block_on(reconnect(&mut *session.0)), DbErrorKind::ConnectionLost);
    assert!(words.contains("check that the server is running"), "{words}");
}
