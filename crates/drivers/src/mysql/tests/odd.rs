//! Tests of the MySQL driver with unusual server settings, and with users who have few privileges.
//! The driver must do what is possible, and report what is not, with the remedy.

use model::{DbError, DbErrorKind, Reply, Request, Target};
use servers::Kind;
use servers::for_tests::{MARIADB, MARIADB_11_4, MARIADB_11_8, MYSQL_5_6, MYSQL_9_7};

use crate::conformance::{Read, TestSession, Write, holds, refused};
use crate::on_servers::{Site, cannot_open, keeps, load_odd, opened, signed_in_as};

keeps! {
    laws [what_a_user_may_not_do_is_reported_with_its_remedy];
    on mariadb: MARIADB, mariadb_11_4: MARIADB_11_4, mariadb_11_8: MARIADB_11_8,
        mysql_5_6: MYSQL_5_6, mysql_9_7: MYSQL_9_7;
    named Kind::MariaDb, Kind::MySql;
}

/// Creates a user whose only privilege on the database of the test `law` is `more` (`RIGHT` or
/// `RIGHT|OPTION`). Returns the target of that database with this user.
fn user(site: &Site, law: &str, name: &str, more: &str) -> Target {
    let mut session = TestSession::connect(&site.open(law, &[]), &[]);
    for host in ["127.0.0.1", "localhost"] {
        // MySQL 5.6 has no IF EXISTS here.
        let _ = session.text(&format!("DROP USER '{name}'@'{host}'"));
        session.do_all(&[&format!("CREATE USER '{name}'@'{host}' IDENTIFIED BY 'x'")]);
        if !more.is_empty() {
            let database = site.target_of(law).path;
            let (right, option) = more.split_once('|').unwrap_or((more, ""));
            let to = format!("{database}.* TO '{name}'@'{host}' {option}");
            session.do_all(&[&format!("GRANT {right} ON {to}")]);
        }
    }
    signed_in_as(site.target_of(law), name)
}

const MAKE: [&str; 2] =
    ["DROP TABLE IF EXISTS law_odd", "CREATE TABLE law_odd (id INT PRIMARY KEY) ENGINE=InnoDB"];

fn what_a_user_may_not_do_is_reported_with_its_remedy(site: &Site) {
    let target = user(site, "rights", "law_rights", "");
    let (kind, words) = cannot_open(&target);
    assert_eq!(kind, DbErrorKind::Denied, "{words}");
    assert!(words.contains("GRANT"), "{words}");
    let target = user(site, "rights", "law_rights", "SELECT");
    TestSession::connect(&site.open("rights", &[]), &[]).do_all(&MAKE);
    let database = opened(&target);
    let insert = "INSERT INTO law_odd VALUES (1)";
    let mut session = TestSession::connect(&database, &[(Write, insert)]);
    assert_eq!(session.int("SELECT count(*) FROM law_odd"), 0);
    let check = |result: Result<Reply, DbError>| {
        let words = refused(result, DbErrorKind::Denied);
        assert!(words.contains("GRANT") && words.contains("law_rights"), "{words}");
    };
    check(session.call(0, &[]));
    check(session.text("CREATE TABLE law_more (a INT)"));
    check(session.text("DROP TABLE law_odd"));
    check(load_odd(&database));
}

#[test]
fn what_the_server_refuses_before_it_closes_the_connection_is_not_committed() {
    let server = MARIADB.start_with(&[("max_allowed_packet", "16K")]);
    let database = opened(&server.target());
    let mut session = TestSession::connect(&database, &[]);
    session.do_all(&["CREATE TABLE law_long (c LONGTEXT)"]);
    let no = session.text(&format!("INSERT INTO law_long VALUES ('{}')", "x".repeat(40_000)));
    let words = refused(no, DbErrorKind::ConnectionLost);
    assert!(words.contains("raise max_allowed_packet"), "{words}");
    assert!(!words.contains("COMMIT"), "{words}");
}

#[test]
fn a_server_of_other_habits_keeps_all_laws() {
    let mut odd = MARIADB.start();
    let habits = [
        ("sql_mode", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,STRICT_ALL_TABLES"),
        ("autocommit", "0"),
        ("completion_type", "CHAIN"),
        ("character_set_server", "latin1"),
        ("default_time_zone", "-03:30"),
        ("innodb_snapshot_isolation", "1"),
        ("lc_messages", "de_DE"),
        ("transaction_isolation", "SERIALIZABLE"),
    ];
    for (name, value) in habits {
        odd.set(name, value).expect("a setting");
    }
    odd.restart().unwrap_or_else(|error| panic!("{error}"));
    let site = Site::at(&odd);
    let mut session = TestSession::connect(&site.open("odd", &[]), &[]);
    let words = refused(session.text("SELEKT"), DbErrorKind::Other);
    assert!(words.contains("Fehler"), "it speaks another language: {words}");
    for way in ["binary", "text"] {
        eprintln!("statements={way}");
        holds(&|| site.open("odd", &[("statements", way)]));
    }
}

#[test]
fn a_server_that_gives_little_is_reported_with_its_remedy() {
    let server = MARIADB.start_with(&[("local_infile", "0"), ("read_only", "0")]);
    let site = Site::at(&server);
    let database = site.open("little", &[]);
    let mut admin = TestSession::connect(&database, &[]);
    admin.do_all(&MAKE);
    let words = refused(load_odd(&database), DbErrorKind::Unsupported);
    assert!(words.contains("SET GLOBAL local_infile = 1"), "{words}");
    // Superusers may write on a read-only server.
    let target = user(&site, "little", "law_little", "ALL");
    let database = opened(&target);
    admin.do_all(&["SET GLOBAL read_only = 1"]);
    let mut session = TestSession::connect(&database, &[(Write, "INSERT INTO law_odd VALUES (1)")]);
    let words = refused(session.call(0, &[]), DbErrorKind::ReadOnly);
    assert!(words.contains("SET GLOBAL read_only = 0"), "{words}");
    admin.do_all(&["SET GLOBAL read_only = 0", "SET GLOBAL tx_read_only = 1"]);
    let mut session = TestSession::connect(&database, &[(Write, "INSERT INTO law_odd VALUES (1)")]);
    let words = refused(session.call(0, &[]), DbErrorKind::ReadOnly);
    assert!(words.contains("transaction_read_only"), "{words}");
    admin.do_all(&["SET GLOBAL tx_read_only = 0"]);
    // Ten is the least that MariaDB accepts; one more connection is reserved for a superuser.
    admin.do_all(&["SET GLOBAL max_connections = 10"]);
    let mut held = vec![session];
    let no = loop {
        match TestSession::try_connect(&database, &[]) {
            Ok(session) => held.push(session),
            Err(no) => break no,
        }
        assert!(held.len() < 20, "they are counted");
    };
    assert_eq!((no.kind, no.code), (DbErrorKind::TooManyConnections, 1040), "{no}");
    assert!(no.message.contains("use fewer clients, or raise max_connections"), "{no}");
}

#[test]
fn a_server_whose_tables_were_read_before_refuses_under_snapshot_isolation() {
    for product in [&MARIADB, &MARIADB_11_4, &MARIADB_11_8] {
        let database = Site::shared(product).open("snapshot", &[]);
        let update = "UPDATE law_odd SET id = id + 10";
        let mut one = TestSession::connect(&database, &[(Write, update)]);
        let mut two = TestSession::connect(&database, &[(Write, update), (Read, "SELECT 1")]);
        one.do_all(&MAKE);
        one.do_all(&["INSERT INTO law_odd VALUES (1)"]);
        two.do_all(&["SET innodb_snapshot_isolation = 1"]);
        two.ask(Request::Begin).expect("begun");
        assert_eq!(two.int("SELECT id FROM law_odd"), 1);
        one.call(0, &[]).expect("updated");
        refused(two.call(0, &[]), DbErrorKind::Serialization);
        two.ask(Request::Rollback).expect("rolled back");
        two.call(0, &[]).expect("with a new snapshot");
        assert_eq!(one.int("SELECT id FROM law_odd"), 21);
    }
}
