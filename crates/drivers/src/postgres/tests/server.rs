//! On a real server, as a superuser who may make tables: `DBDYNO_TEST_POSTGRES_URL`.
//!
//! Passwords are tried where there are users `md5user`, `scramuser`, `plainuser` and `tlsuser`
//! with the passwords below, and lines in `pg_hba.conf` that ask for them.

use std::sync::{Arc, Barrier};
use std::thread;

use model::{Call, Database, RefusalKind, Request, Secret, StatementId, Target, Value, reconnect};

use crate::Opening;
use crate::conformance::{Kept, OnLoops, Read, Speaker, Write, block_on, holds, refused};
use crate::postgres::ENTRY;

const OPENING: Opening = Opening { create: false, seed: 1 };

fn opened(target: &Target) -> Arc<dyn Database> {
    (ENTRY.open)(target, OPENING).unwrap_or_else(|no| panic!("{target}: {no}"))
}

/// The server's target with more options, or nothing (said loudly) where there is no server.
#[expect(clippy::disallowed_methods, reason = "a server for tests is named from outside")]
fn target(options: &[(&str, &str)]) -> Option<Target> {
    const NAME: &str = "DBDYNO_TEST_POSTGRES_URL";
    let Ok(url) = std::env::var(NAME) else {
        eprintln!("SKIPPED: {NAME} names no server");
        return None;
    };
    let mut target = Target::parse(&url).expect(NAME);
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    target.options.extend(options.iter().map(own));
    Some(target)
}

fn database(options: &[(&str, &str)]) -> Option<Arc<dyn Database>> {
    target(options).map(|target| opened(&target))
}

#[test]
fn named_statements_hold_the_laws() {
    if let Some(database) = database(&[]) {
        holds(&|| Arc::clone(&database));
    }
}

#[test]
fn clients_on_event_loops_hold_the_laws() {
    if let Some(database) = database(&[]) {
        let database: Arc<dyn Database> = Arc::new(OnLoops(database));
        holds(&|| Arc::clone(&database));
    }
}

#[test]
fn a_first_call_costs_one_round_trip_and_later_ones_are_binary() {
    let Some(database) = database(&[]) else { return };
    let types = "int2, $2::int4, $3::int8, $4::numeric, $5::text, $6::bytea, $7::float8, \
                 $8::timestamptz, $9::bool, $10::bpchar, $11::timestamp, $12::float4";
    let sql = format!("SELECT $1::{types}");
    let mut speaker = Speaker::connect(&database, &[(Read, &sql)]);
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
        let before = speaker.0.traffic();
        all.push(speaker.call_rows(0, &values));
        assert_eq!((speaker.0.traffic() - before).round_trips, 1);
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

#[test]
fn a_commit_of_a_failed_transaction_is_no_commit() {
    let Some(database) = database(&[]) else { return };
    let mut speaker = Speaker::connect(&database, &[]);
    speaker.ask(Request::Begin).expect("begun");
    refused(speaker.text("SELECT * FROM nowhere_at_all"), RefusalKind::Missing);
    refused(speaker.text("SELECT 1"), RefusalKind::Other);
    let words = refused(speaker.ask(Request::Commit), RefusalKind::Other);
    assert!(words.contains("nothing was committed"), "{words}");
    speaker.ask(Request::Rollback).expect("nothing to do");
    speaker.ask(Request::Begin).expect("begun");
    refused(speaker.text("SELECT * FROM nowhere_at_all"), RefusalKind::Missing);
    speaker.ask(Request::Rollback).expect("rolled back");
    assert_eq!(speaker.int("SELECT 1"), 1);
}

#[test]
fn unnamed_and_simple_statements_hold_the_laws() {
    for way in ["unnamed", "simple"] {
        if let Some(database) = database(&[("statements", way)]) {
            eprintln!("statements={way}");
            holds(&|| Arc::clone(&database));
        }
    }
}

#[test]
fn tables_that_changed_are_prepared_again() {
    let Some(database) = database(&[]) else { return };
    let mut speaker = Speaker::connect(&database, &[(Read, "SELECT * FROM again")]);
    speaker.do_all(&["DROP TABLE IF EXISTS again", "CREATE TABLE again (a int)"]);
    speaker.call(0, &[]).expect("it reads");
    speaker.do_all(&["DROP TABLE again", "CREATE TABLE again (a text, b int)"]);
    speaker.call(0, &[]).expect_err("the result has another form");
    speaker.call(0, &[]).expect("prepared again");
    speaker.do_all(&["DEALLOCATE ALL"]);
    refused(speaker.call(0, &[]), RefusalKind::Missing);
    speaker.call(0, &[]).expect("prepared again");
    speaker.do_all(&["DROP TABLE again"]);
}

#[test]
fn rows_of_more_than_16_mib_go_both_ways() {
    let Some(database) = database(&[]) else { return };
    let mut speaker = Speaker::connect(&database, &[(Read, "SELECT $1::text, $2::bytea")]);
    let (text, bytes) = ("ż".repeat(9 << 20), vec![0xff; 17 << 20]);
    for _ in 0..2 {
        let rows = speaker.call_rows(0, &[Value::Text(&text), Value::Bytes(&bytes)]);
        assert!(rows == [[Kept::Text(text.clone()), Kept::Bytes(bytes.clone())]]);
    }
}

#[test]
fn a_batch_longer_than_all_buffers_goes_through() {
    let Some(database) = database(&[]) else { return };
    let mut speaker = Speaker::connect(&database, &[(Read, "SELECT $1::text")]);
    let text = "x".repeat(10_000);
    let values = [Value::Text(&text)];
    let call = Call { statement: StatementId(0), values: &values };
    let reply = speaker.ask(Request::Batch(&vec![call; 2_000])).expect("20 MB each way");
    assert_eq!(reply.n_rows, 2_000);
}

#[test]
fn a_time_limit_of_the_server_is_told_as_such() {
    let Some(database) = database(&[]) else { return };
    let mut speaker = Speaker::connect(&database, &[]);
    speaker.do_all(&["SET statement_timeout = 20"]);
    refused(speaker.text("SELECT pg_sleep(10)"), RefusalKind::Timeout);
    speaker.do_all(&["SET statement_timeout = 0", "SELECT 1"]);
}

#[test]
fn a_session_that_the_server_ends_is_lost_and_can_be_made_anew() {
    let Some(database) = database(&[]) else { return };
    let kill = "SELECT pg_terminate_backend($1)";
    let mut other = Speaker::connect(&database, &[(Read, kill)]);
    let sql = "INSERT INTO ended VALUES (1)";
    let mut speaker = Speaker::connect(&database, &[(Write, sql)]);
    speaker.do_all(&["DROP TABLE IF EXISTS ended", "CREATE TABLE ended (a int)"]);
    speaker.call(0, &[]).expect("inserted");
    for request in [Request::Begin, Request::Commit] {
        speaker.ask(Request::Begin).expect("begun");
        let process = speaker.int("SELECT pg_backend_pid()");
        other.call(0, &[Value::Int(process)]).expect("ended");
        let gone = format!("SELECT count(*) FROM pg_stat_activity WHERE pid = {process}");
        while other.int(&gone) > 0 {}
        // What was not even sent is not committed; what was sent may be.
        let no = speaker.ask(request).expect_err("it is gone");
        assert!(no.kind.breaks_session(), "{no:?}");
        refused(speaker.ask(Request::Rollback), RefusalKind::ConnectionLost);
        block_on(reconnect(&mut *speaker.0)).expect("made anew");
    }
    speaker.call(0, &[]).expect("declared statements are known");
    speaker.do_all(&["DROP TABLE ended"]);
}

#[test]
fn facts_name_version_and_modes() {
    let Some(database) = database(&[]) else { return };
    let facts = database.facts().expect("it answers");
    let of = |about: &str, name: &str| {
        let found = facts.iter().find(|fact| fact.about == about && fact.name == name);
        found.unwrap_or_else(|| panic!("{about} {name}: {facts:?}")).value.clone()
    };
    assert_eq!(of("database", "product"), "PostgreSQL");
    assert!(of("database", "version").starts_with(|c: char| c.is_ascii_digit()));
    assert!(["on", "off"].contains(&of("mode", "fsync").as_str()));
    assert_eq!(of("mode", "default_transaction_isolation"), "read committed");
    assert_eq!(of("mode", "statements"), "named");
    assert!(of("database", "shared_buffers").ends_with("MB"));
}

/// The server's administrator has made users with these passwords (see the driver's notes).
#[test]
fn users_sign_in_with_passwords() {
    let users = [("md5user", "md5 päss"), ("scramuser", "scräm"), ("plainuser", "plain")];
    for (user, password) in users {
        let Some(mut target) = target(&[]) else { return };
        let Some(admin) = database(&[]) else { return };
        let mut admin = Speaker::connect(&admin, &[]);
        let there = format!("SELECT count(*) FROM pg_roles WHERE rolname = '{user}'");
        if admin.int(&there) == 0 {
            eprintln!("SKIPPED: the server has no user '{user}'");
            continue;
        }
        target.user = Some(user.to_owned());
        target.password = Some(Secret::new(password));
        let speaker = &mut Speaker::connect(&opened(&target), &[]);
        assert_eq!(speaker.int("SELECT 1"), 1);
        for (password, words) in [(Some("wrong"), "check user"), (None, "give one")] {
            target.password = password.map(Secret::new);
            let no = Speaker::try_connect(&opened(&target), &[]).map(|_| ());
            let got = refused(no, RefusalKind::Denied);
            assert!(got.contains(words) && !got.contains("wrong"), "{got}");
        }
    }
}

/// Where the server listens on a port with TLS, and has the user `tlsuser` for `hostssl`.
#[test]
fn tls_is_used_as_it_is_asked_for() {
    let (Some(admin), Some(mut target)) = (database(&[]), target(&[])) else { return };
    let mut admin = Speaker::connect(&admin, &[]);
    let there = "SELECT count(*) FROM pg_roles, pg_settings
        WHERE rolname = 'tlsuser' AND name = 'ssl' AND setting = 'on'";
    if admin.int(there) == 0 {
        eprintln!("SKIPPED: the server has no TLS, or no user 'tlsuser'");
        return;
    }
    let port = admin.int("SELECT setting::int FROM pg_settings WHERE name = 'port'");
    target.hosts = vec![model::Host { name: "127.0.0.1".to_owned(), port: Some(port as u16) }];
    target.user = Some("tlsuser".to_owned());
    target.password = Some(Secret::new("tls"));
    let mut connect = |mode: &str| {
        target.options = vec![("tls".to_owned(), mode.to_owned())];
        Speaker::try_connect(&opened(&target), &[])
    };
    let sql = "SELECT count(*) FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl";
    for mode in ["prefer", "require"] {
        assert_eq!(connect(mode).expect(mode).int(sql), 1, "{mode}");
    }
    let words = refused(connect("disable").map(|_| ()), RefusalKind::Denied);
    assert!(words.contains("pg_hba.conf"), "{words}");
    refused(connect("verify-full").map(|_| ()), RefusalKind::Denied);
}

#[test]
fn what_is_wrong_with_a_target_is_told_with_its_remedy() {
    let check = |change: &dyn Fn(&mut Target), kind: RefusalKind, words: &str| {
        let Some(mut target) = target(&[]) else { return };
        change(&mut target);
        let got = refused(Speaker::try_connect(&opened(&target), &[]).map(|_| ()), kind);
        assert!(got.contains(words), "{got}");
    };
    let nowhere = |target: &mut Target| target.path = "nowhere".to_owned();
    check(&nowhere, RefusalKind::Missing, "CREATE DATABASE");
    let nobody = |target: &mut Target| target.user = Some("nobody_at_all".to_owned());
    check(&nobody, RefusalKind::Denied, "pg_hba.conf");
    let elsewhere = |target: &mut Target| {
        target.options = vec![("tls".to_owned(), "disable".to_owned())];
        target.hosts = vec![model::Host { name: "127.0.0.1".to_owned(), port: Some(1) }];
    };
    check(&elsewhere, RefusalKind::ConnectionLost, "nothing listens there");
    let no_socket = |target: &mut Target| {
        target.options = vec![("socket".to_owned(), "/nowhere".to_owned())];
    };
    check(&no_socket, RefusalKind::ConnectionLost, "no such socket");
}

#[test]
fn a_target_without_a_user_is_not_opened() {
    for url in ["postgres://host/database", "postgresql:///database"] {
        let target = Target::parse(url).expect("valid");
        let no = (ENTRY.open)(&target, OPENING).map(|_| ()).expect_err("nobody");
        assert!(no.to_string().contains("name a user"), "{no}");
    }
}

/// Where there is the user `scramuser`, who is no superuser: those are always let in.
#[test]
fn too_many_connections_are_told_with_their_remedy() {
    let (Some(database), Some(mut target)) = (database(&[]), target(&[])) else { return };
    let mut admin = Speaker::connect(&database, &[]);
    if admin.int("SELECT count(*) FROM pg_roles WHERE rolname = 'scramuser'") == 0 {
        eprintln!("SKIPPED: the server has no user 'scramuser'");
        return;
    }
    let again = "DROP DATABASE IF EXISTS dbdyno_few WITH (FORCE)";
    admin.do_all(&[again, "CREATE DATABASE dbdyno_few CONNECTION LIMIT 1"]);
    target.path = "dbdyno_few".to_owned();
    target.user = Some("scramuser".to_owned());
    target.password = Some(Secret::new("scräm"));
    let opened = opened(&target);
    let first = Speaker::connect(&opened, &[]);
    let second = Speaker::try_connect(&opened, &[]).map(|_| ());
    let words = refused(second, RefusalKind::ConnectionLost);
    assert!(words.contains("fewer clients"), "{words}");
    drop(first);
    admin.do_all(&[again]);
}

#[test]
fn conflicts_are_told_by_their_kind() {
    let Some(database) = database(&[]) else { return };
    let update = "UPDATE conflicts SET v = v + 1 WHERE id = $1";
    let (one, two) = ([Value::Int(1)], [Value::Int(2)]);
    let mut first = Speaker::connect(&database, &[(Write, update)]);
    let mut second = Speaker::connect(&database, &[(Write, update)]);
    let make = "CREATE TABLE conflicts (id int PRIMARY KEY, v int)";
    let fill = "INSERT INTO conflicts VALUES (1, 0), (2, 0)";
    first.do_all(&["DROP TABLE IF EXISTS conflicts", make, fill]);
    second.do_all(&["SET lock_timeout = '20ms'"]);
    first.ask(Request::Begin).expect("begun");
    first.call(0, &one).expect("locked");
    refused(second.call(0, &one), RefusalKind::LockTimeout);
    second.do_all(&["SET lock_timeout = 0"]);
    second.ask(Request::Begin).expect("begun");
    second.do_all(&["SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"]);
    second.int("SELECT v FROM conflicts WHERE id = 1");
    first.ask(Request::Commit).expect("committed");
    refused(second.call(0, &one), RefusalKind::Serialization);
    second.ask(Request::Rollback).expect("rolled back");
    // Each has what the other one wants.
    let both_have_one = Barrier::new(2);
    let cross = |speaker: &mut Speaker, has: &[Value<'_>], wants: &[Value<'_>]| {
        speaker.ask(Request::Begin).expect("begun");
        speaker.call(0, has).expect("locked");
        both_have_one.wait();
        let outcome = speaker.call(0, wants);
        speaker.ask(Request::Rollback).expect("rolled back");
        outcome.err().map(|no| no.kind)
    };
    let victims = thread::scope(|scope| {
        let other = scope.spawn(|| {
            let mut other = Speaker::connect(&database, &[(Write, update)]);
            cross(&mut other, &two, &one)
        });
        [cross(&mut first, &one, &two), other.join().expect("no panic")]
    });
    let victims: Vec<RefusalKind> = victims.into_iter().flatten().collect();
    assert_eq!(victims, [RefusalKind::Deadlock]);
    first.do_all(&["DROP TABLE conflicts"]);
}
