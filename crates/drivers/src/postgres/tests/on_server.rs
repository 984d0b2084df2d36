//! Tests, on real servers, of behaviour that only PostgreSQL has.

use std::sync::Barrier;
use std::thread;

use model::{Call, DbErrorKind, Host, Request, Secret, StatementId, Target, Value, reconnect};
use servers::Kind;
use servers::for_tests::{POSTGRES, POSTGRES_18};

use crate::Opening;
use crate::conformance::as_transaction::a_text_is_reported_as_it_ended;
use crate::conformance::{Kept, Read, TestSession, Write, block_on, refused};
use crate::on_servers::{
    Site, cannot_open, keeps, opened, signed_in_as, too_many_are_reported_so, with,
};
use crate::postgres::ENTRY;

keeps! {
    laws [
        a_first_call_costs_one_round_trip_and_later_ones_are_binary,
        a_commit_of_a_failed_transaction_is_no_commit,
        tables_that_changed_are_prepared_again,
        rows_of_more_than_16_mib_go_both_ways,
        a_batch_longer_than_all_buffers_goes_through,
        a_time_limit_of_the_server_is_reported_as_such,
        a_session_that_the_server_ends_is_lost_and_can_be_made_anew,
        facts_name_version_and_modes,
        what_is_wrong_with_a_target_is_reported_with_its_remedy,
        too_many_connections_are_reported_with_their_remedy,
        conflicts_are_reported_by_their_kind,
        a_text_that_nobody_reads_is_reported_as_it_ended,
        a_statement_has_its_time_and_a_row_its_size,
        sessions_have_the_isolation_and_the_settings_of_the_target,
    ];
    on postgres: POSTGRES, postgres_18: POSTGRES_18;
    named Kind::Postgres;
}

fn a_first_call_costs_one_round_trip_and_later_ones_are_binary(site: &Site) {
    let database = site.open("a_first_call_costs_o", &[]);
    let types = "int2, $2::int4, $3::int8, $4::numeric, $5::text, $6::bytea, $7::float8, \
                 $8::timestamptz, $9::bool, $10::bpchar, $11::timestamp, $12::float4";
    let sql = format!("SELECT $1::{types}");
    let mut session = TestSession::connect(&database, &[(Read, &sql)]);
    let values = [
        Value::Int(-3),
        Value::Int(70_000),
        Value::Int(i64::MIN),
        Value::Decimal { unscaled: -123_456_789, scale: 4 },
        Value::Text("a'b\\ż"),
        Value::Bytes(&[0, 1, 255]),
        Value::Float(1e-300),
        Value::Timestamp(-62_135_596_800_000_001),
        Value::Int(1),
        Value::Text("ab  "),
        Value::Timestamp(1_893_456_000_123_456),
        Value::Float(0.5),
    ];
    let mut all = Vec::new();
    for _ in 0..3 {
        let before = session.0.traffic();
        all.push(session.call_rows(0, &values));
        assert_eq!((session.0.traffic() - before).round_trips, 1);
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(all[1], all[2]);
    let expect = [
        Kept::Int(-3),
        Kept::Int(70_000),
        Kept::Int(i64::MIN),
        Kept::Int(-123_456_789),
        Kept::Text("a'b\\ż".to_owned()),
        Kept::Bytes(vec![0, 1, 255]),
        Kept::Float(1e-300),
        Kept::Int(-62_135_596_800_000_001),
        Kept::Int(1),
        Kept::Text("ab  ".to_owned()),
        Kept::Int(1_893_456_000_123_456),
        Kept::Float(0.5),
    ];
    assert_eq!(all[0], [expect]);
}

fn a_commit_of_a_failed_transaction_is_no_commit(site: &Site) {
    let database = site.open("a_commit_of_a_failed", &[]);
    let mut session = TestSession::connect(&database, &[]);
    session.ask(Request::Begin).expect("begun");
    refused(session.text("SELECT * FROM nowhere_at_all"), DbErrorKind::Missing);
    refused(session.text("SELECT 1"), DbErrorKind::Other);
    let words = refused(session.ask(Request::Commit), DbErrorKind::Other);
    assert!(words.contains("nothing was committed"), "{words}");
    session.ask(Request::Rollback).expect("nothing to do");
    session.ask(Request::Begin).expect("begun");
    refused(session.text("SELECT * FROM nowhere_at_all"), DbErrorKind::Missing);
    session.ask(Request::Rollback).expect("rolled back");
    assert_eq!(session.int("SELECT 1"), 1);
}

fn tables_that_changed_are_prepared_again(site: &Site) {
    let database = site.open("tables_that_changed", &[]);
    let mut session = TestSession::connect(&database, &[(Read, "SELECT * FROM again")]);
    session.do_all(&["DROP TABLE IF EXISTS again", "CREATE TABLE again (a int)"]);
    session.call(0, &[]).expect("it reads");
    session.do_all(&["DROP TABLE again", "CREATE TABLE again (a text, b int)"]);
    session.call(0, &[]).expect_err("the result has another form");
    session.call(0, &[]).expect("prepared again");
    session.do_all(&["DEALLOCATE ALL"]);
    refused(session.call(0, &[]), DbErrorKind::Missing);
    session.call(0, &[]).expect("prepared again");
    session.do_all(&["DROP TABLE again"]);
}

fn rows_of_more_than_16_mib_go_both_ways(site: &Site) {
    let database = site.open("rows_of_more_than_16", &[]);
    let mut session = TestSession::connect(&database, &[(Read, "SELECT $1::text, $2::bytea")]);
    let (text, bytes) = ("ż".repeat(9 << 20), vec![0xff; 17 << 20]);
    for _ in 0..2 {
        let rows = session.call_rows(0, &[Value::Text(&text), Value::Bytes(&bytes)]);
        assert!(rows == [[Kept::Text(text.clone()), Kept::Bytes(bytes.clone())]]);
    }
}

fn a_batch_longer_than_all_buffers_goes_through(site: &Site) {
    let database = site.open("a_batch_longer_than", &[]);
    let mut session = TestSession::connect(&database, &[(Read, "SELECT $1::text")]);
    let text = "x".repeat(10_000);
    let values = [Value::Text(&text)];
    let call = Call { statement: StatementId(0), values: &values };
    let reply = session.ask(Request::Batch(&vec![call; 2_000])).expect("20 MB each way");
    assert_eq!(reply.n_rows, 2_000);
}

fn a_time_limit_of_the_server_is_reported_as_such(site: &Site) {
    let database = site.open("a_time_limit_of_the", &[]);
    let mut session = TestSession::connect(&database, &[]);
    session.do_all(&["SET statement_timeout = 20"]);
    refused(session.text("SELECT pg_sleep(10)"), DbErrorKind::Timeout);
    session.do_all(&["SET statement_timeout = 0", "SELECT 1"]);
}

fn a_session_that_the_server_ends_is_lost_and_can_be_made_anew(site: &Site) {
    let database = site.open("a_session_that_the_s", &[]);
    let kill = "SELECT pg_terminate_backend($1)";
    let mut other = TestSession::connect(&database, &[(Read, kill)]);
    let sql = "INSERT INTO ended VALUES (1)";
    let mut session = TestSession::connect(&database, &[(Write, sql)]);
    session.do_all(&["DROP TABLE IF EXISTS ended", "CREATE TABLE ended (a int)"]);
    session.call(0, &[]).expect("inserted");
    for request in [Request::Begin, Request::Commit] {
        session.ask(Request::Begin).expect("begun");
        let process = session.int("SELECT pg_backend_pid()");
        other.call(0, &[Value::Int(process)]).expect("ended");
        let gone = format!("SELECT count(*) FROM pg_stat_activity WHERE pid = {process}");
        while other.int(&gone) > 0 {}
        // A commit that was never sent is not committed; a commit that was sent may be.
        let no = session.ask(request).expect_err("it is gone");
        assert!(no.kind.breaks_session(), "{no:?}");
        refused(session.ask(Request::Rollback), DbErrorKind::ConnectionLost);
        block_on(reconnect(&mut *session.0)).expect("made again");
    }
    session.call(0, &[]).expect("declared statements are known");
    session.do_all(&["DROP TABLE ended"]);
}

fn facts_name_version_and_modes(site: &Site) {
    let database = site.open("facts_name_version_a", &[]);
    let facts = database.facts().expect("it answers");
    let value_of = |about: &str, name: &str| {
        let found = facts.iter().find(|fact| fact.about == about && fact.name == name);
        found.unwrap_or_else(|| panic!("{about} {name}: {facts:?}")).value.to_string()
    };
    assert_eq!(value_of("database", "product"), "PostgreSQL");
    assert!(value_of("database", "version").starts_with(|c: char| c.is_ascii_digit()));
    assert!(["on", "off"].contains(&value_of("mode", "fsync").as_str()));
    assert_eq!(value_of("mode", "default_transaction_isolation"), "read committed");
    assert_eq!(value_of("isolation", "level"), "read committed");
    assert_eq!(value_of("mode", "statements"), "named");
    let shared_buffers = value_of("database", "shared_buffers");
    assert!(shared_buffers.ends_with("MB"));
    assert_eq!(value_of("server_memory", "cache"), format!("shared_buffers {shared_buffers}"));
}

fn what_is_wrong_with_a_target_is_reported_with_its_remedy(site: &Site) {
    let target = site.target();
    let check = |target: &Target, kind: DbErrorKind, expect: &str| {
        let (got, words) = cannot_open(target);
        assert_eq!(got, kind, "{words}");
        assert!(words.contains(expect) && !words.contains("hunter2"), "{words}");
    };
    check(&site.target_of("no_such"), DbErrorKind::Missing, "CREATE DATABASE");
    let wrong = Target { password: Some(Secret::new("hunter2")), ..target.clone() };
    check(&wrong, DbErrorKind::Denied, "check user and password");
    let none = Target { password: None, ..target.clone() };
    check(&none, DbErrorKind::Denied, "use --ask-password, --password-file");
    let hosts = vec![Host { name: "127.0.0.1".to_owned(), port: Some(1) }];
    let elsewhere = Target { hosts, options: Vec::new(), ..target.clone() };
    check(&elsewhere, DbErrorKind::ConnectionLost, "nothing listens there");
    let no_socket = with(target.clone(), &[("socket", "/nowhere")]);
    check(&no_socket, DbErrorKind::ConnectionLost, "this socket does not exist");
}

#[test]
fn a_target_without_a_user_is_not_opened() {
    for url in ["postgres://host/database", "postgresql:///database"] {
        let target = Target::parse(url).expect("valid");
        let no = (ENTRY.open)(&target, Opening { create: false, seed: 1 })
            .map(|_| ())
            .expect_err("nobody");
        assert!(no.to_string().contains("name a user"), "{no}");
    }
}

fn too_many_connections_are_reported_with_their_remedy(site: &Site) {
    let database = site.open("few", &[]);
    let mut admin = TestSession::connect(&database, &[]);
    // Superusers may always connect.
    admin.do_all(&[
        "DROP ROLE IF EXISTS law_few",
        "CREATE ROLE law_few LOGIN PASSWORD 'x' CONNECTION LIMIT 1",
    ]);
    too_many_are_reported_so(&signed_in_as(site.target_of("few"), "law_few"));
}

fn conflicts_are_reported_by_their_kind(site: &Site) {
    let database = site.open("conflicts_are_told_b", &[]);
    let update = "UPDATE conflicts SET v = v + 1 WHERE id = $1";
    let (one, two) = ([Value::Int(1)], [Value::Int(2)]);
    let mut first = TestSession::connect(&database, &[(Write, update)]);
    let mut second = TestSession::connect(&database, &[(Write, update)]);
    let make = "CREATE TABLE conflicts (id int PRIMARY KEY, v int)";
    let fill = "INSERT INTO conflicts VALUES (1, 0), (2, 0)";
    first.do_all(&["DROP TABLE IF EXISTS conflicts", make, fill]);
    second.do_all(&["SET lock_timeout = '20ms'"]);
    first.ask(Request::Begin).expect("begun");
    first.call(0, &one).expect("locked");
    refused(second.call(0, &one), DbErrorKind::LockTimeout);
    second.do_all(&["SET lock_timeout = 0"]);
    second.ask(Request::Begin).expect("begun");
    second.do_all(&["SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"]);
    second.int("SELECT v FROM conflicts WHERE id = 1");
    first.ask(Request::Commit).expect("committed");
    refused(second.call(0, &one), DbErrorKind::Serialization);
    second.ask(Request::Rollback).expect("rolled back");
    // Each transaction waits for a row that the other has locked.
    let both_have_one = Barrier::new(2);
    let cross = |session: &mut TestSession, has: &[Value<'_>], wants: &[Value<'_>]| {
        session.ask(Request::Begin).expect("begun");
        session.call(0, has).expect("locked");
        both_have_one.wait();
        let outcome = session.call(0, wants);
        session.ask(Request::Rollback).expect("rolled back");
        outcome.err().map(|no| no.kind)
    };
    let victims = thread::scope(|scope| {
        let other = scope.spawn(|| {
            let mut other = TestSession::connect(&database, &[(Write, update)]);
            cross(&mut other, &two, &one)
        });
        [cross(&mut first, &one, &two), other.join().expect("no panic")]
    });
    let victims: Vec<DbErrorKind> = victims.into_iter().flatten().collect();
    assert_eq!(victims, [DbErrorKind::Deadlock]);
    first.do_all(&["DROP TABLE conflicts"]);
}

fn a_text_that_nobody_reads_is_reported_as_it_ended(site: &Site) {
    a_text_is_reported_as_it_ended(&site.open("unread", &[]));
}

fn sessions_have_the_isolation_and_the_settings_of_the_target(site: &Site) {
    site.open("sessions", &[]);
    let options =
        [("isolation", "repeatable-read"), ("session", "work_mem=3MB;search_path=app,public")];
    let database = opened(&with(site.target_of("sessions"), &options));
    let mut session = TestSession::connect(&database, &[]);
    let mut shown = |name: &str| {
        let sql = format!("SELECT current_setting('{name}')");
        let rows = session.rows(Request::Text { kind: Read, sql: &sql }).expect("a setting");
        rows[0][0].clone()
    };
    assert_eq!(shown("transaction_isolation"), Kept::Text("repeatable read".to_owned()));
    assert_eq!(shown("work_mem"), Kept::Text("3MB".to_owned()));
    assert_eq!(shown("search_path"), Kept::Text("app,public".to_owned()));
}

fn a_statement_has_its_time_and_a_row_its_size(site: &Site) {
    site.open("limits", &[]);
    let limits = [("statement_timeout", "50ms"), ("max_packet", "64KiB")];
    let database = opened(&with(site.target_of("limits"), &limits));
    let mut session = TestSession::connect(&database, &[(Read, "SELECT pg_sleep(100)")]);
    refused(session.call(0, &[]), DbErrorKind::Timeout);
    assert_eq!(session.int("SELECT 1"), 1, "the connection is in order");
    session.text("SELECT repeat('x', 65000)").expect("it fits");
    let request = Request::Text { kind: Read, sql: "SELECT repeat('x', 66000)" };
    let words = refused(session.ask(request), DbErrorKind::ConnectionLost);
    assert!(words.contains("max_packet"), "{words}");
}
