//! Tests of every installed product and version: the server starts with dbdyno's defaults, answers
//! over TCP and its socket, rejects other users, and leaves nothing behind.

use std::time::Duration;

use model::Secret;
use servers::for_tests::{
    MARIADB, MARIADB_11_4, MARIADB_11_8, MYSQL_5_6, MYSQL_9_7, POSTGRES, POSTGRES_18, TestServer,
};
use servers::{Kind, Options, Server};

use crate::client::{answer, ask, parent, run};
use crate::waiting::ends_within;

fn check(product: &TestServer, (name, value): (&str, &str)) {
    let parent = parent();
    let settings = vec![(name.to_owned(), value.to_owned())];
    let folder = Some(parent.path().to_owned());
    let options = Options { folder, settings, ..product.options() };
    let server = servers::start(product.kind, &options).unwrap_or_else(|error| panic!("{error}"));
    assert!(server.version().starts_with(product.version), "{}", server.version());
    both_ways_lead_to_it(&server);
    nobody_else_signs_in(&server);
    settings_are_in_force(&server, name, value);
    let (pid, dir) = (server.process_id().expect("running"), server.folder().to_owned());
    let secret = server.target().password.expect("a password");
    let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).expect("running");
    assert!(line.contains(name) && !line.contains(secret.reveal()), "{line}");
    server.stop().unwrap_or_else(|error| panic!("{error}"));
    assert!(ends_within(pid, Duration::ZERO) && !dir.exists());
    assert_eq!(parent.path().read_dir().expect("a folder").count(), 0);
}

fn both_ways_lead_to_it(server: &Server) {
    for target in [server.target(), server.socket_target()] {
        let asked = |sql: &str| answer(run(server.kind(), &target, sql));
        asked("CREATE TABLE t (i int)");
        asked("INSERT INTO t VALUES (41)");
        assert_eq!(asked("SELECT i + 1 FROM t"), "42");
        asked("DROP TABLE t");
        // The user has all privileges.
        asked("CREATE DATABASE another");
        asked("DROP DATABASE another");
    }
}

fn nobody_else_signs_in(server: &Server) {
    for target in [server.target(), server.socket_target()] {
        for (user, password) in [("dbdyno", "guess"), ("root", ""), ("postgres", ""), ("x", "")] {
            let mut target = target.clone();
            target.user = Some(user.to_owned());
            target.password = Some(Secret::new(password));
            let output = run(server.kind(), &target, "SELECT 1");
            assert!(!output.status.success(), "{user} signed in");
        }
    }
}

fn settings_are_in_force(server: &Server, name: &str, value: &str) {
    let value_of = |name: &str| match server.kind() {
        Kind::Postgres => ask(server, &format!("SHOW {name}")),
        _ => ask(server, &format!("SELECT @@{name}")),
    };
    assert_eq!(value_of(name), value);
    assert_eq!(value_of("max_connections"), "2000");
    match server.kind() {
        Kind::Postgres => assert_eq!(value_of("shared_buffers"), "1GB"),
        _ => {
            assert_eq!(value_of("innodb_buffer_pool_size"), "1073741824");
            assert_eq!(value_of("local_infile"), "1");
            if !server.version().starts_with("9.") {
                assert_eq!(value_of("have_ssl"), "DISABLED");
            }
            assert_eq!(value_of("skip_name_resolve"), "1");
            assert_eq!(value_of("max_allowed_packet"), "1073741824");
        }
    }
}

#[test]
fn debian_s_mariadb_lives_and_leaves_nothing() {
    check(&MARIADB, ("innodb_page_size", "8192"));
}

#[test]
fn debian_s_postgres_lives_and_leaves_nothing() {
    check(&POSTGRES, ("work_mem", "7MB"));
}

#[test]
fn mariadb_11_8_lives_and_leaves_nothing() {
    check(&MARIADB_11_8, ("innodb_flush_log_at_trx_commit", "2"));
}

#[test]
fn mariadb_11_4_lives_and_leaves_nothing() {
    check(&MARIADB_11_4, ("innodb_flush_log_at_trx_commit", "2"));
}

#[test]
fn mysql_5_6_lives_and_leaves_nothing() {
    check(&MYSQL_5_6, ("innodb_flush_log_at_trx_commit", "2"));
}

#[test]
fn mysql_9_7_lives_and_leaves_nothing() {
    check(&MYSQL_9_7, ("max_prepared_stmt_count", "0"));
}

#[test]
fn postgres_18_lives_and_leaves_nothing() {
    check(&POSTGRES_18, ("work_mem", "7MB"));
}
