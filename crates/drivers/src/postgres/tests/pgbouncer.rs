//! Tests with PgBouncer, which assigns server connections to clients for one transaction at a time,
//! so that a statement prepared on one is unknown on another.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use model::{Database, DbErrorKind, Host, Reply, Request, Target, Value};
use servers::{Kind, Options, Server};
use tempfile::TempDir;

use crate::Opening;
use crate::conformance::{Kept, Read, TestSession, holds, refused};
use crate::postgres::ENTRY;

/// Path of PgBouncer as packaged by Debian. Version 1.18 is common and cannot keep prepared
/// statements, which later versions can.
const PROGRAM: &str = "/usr/sbin/pgbouncer";
/// Port number in the name of PgBouncer's Unix socket. PgBouncer does not listen on TCP.
const PORT: u16 = 6432;

/// PgBouncer with at most two server connections, in front of a PostgreSQL server of its own.
struct Pooler {
    child: Child,
    folder: TempDir,
    server: Server,
}

impl Pooler {
    fn start() -> Pooler {
        Pooler::start_with("")
    }

    /// Starts a PostgreSQL server and PgBouncer. `more` has further settings of PgBouncer, one per
    /// line.
    fn start_with(more: &str) -> Pooler {
        let mut options = Options::default();
        let counted = ("shared_preload_libraries".to_owned(), "pg_stat_statements".to_owned());
        options.settings.push(counted);
        let server = servers::start(Kind::Postgres, &options).unwrap_or_else(|no| panic!("{no}"));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().display();
        let target = server.target();
        let (user, password) = (target.user.expect("a user"), target.password.expect("a password"));
        let users = format!("\"{user}\" \"{}\"\n", password.reveal());
        let settings = format!(
            "[databases]\n* = host=127.0.0.1 port={port} pool_size=2\n[pgbouncer]\n\
             listen_addr =\nlisten_port = {PORT}\nunix_socket_dir = {path}\n\
             auth_type = plain\nauth_file = {path}/users\npool_mode = transaction\n\
             server_login_retry = 3\n{more}",
            port = server.port()
        );
        fs::write(folder.path().join("users"), users).expect("written");
        fs::write(folder.path().join("settings"), settings).expect("written");
        // The pooler does not run as root; its user makes its socket here.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).expect("opened");
        let mut command = Command::new(PROGRAM);
        if rustix::process::geteuid().is_root() {
            command.args(["-u", "nobody"]);
        }
        command.arg(folder.path().join("settings")).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| {
            panic!("{PROGRAM}: {error}; this test needs it: apt-get install pgbouncer")
        });
        let mut said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let is_up = said.by_ref().map_while(Result::ok).any(|line| line.contains("process up"));
        assert!(is_up, "the pooler does not start");
        // The pooler would block if its output were not read.
        std::thread::spawn(move || said.map_while(Result::ok).for_each(drop));
        Pooler { child, folder, server }
    }

    fn open(&self, statements: &str) -> Arc<dyn Database> {
        let database = (ENTRY.open)(&self.target(statements), Opening { create: false, seed: 1 });
        database.unwrap_or_else(|no| panic!("{no}"))
    }

    fn target(&self, statements: &str) -> Target {
        let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let folder = self.folder.path().to_str().expect("UTF-8");
        Target {
            hosts: vec![Host { name: "localhost".to_owned(), port: Some(PORT) }],
            options: vec![option("socket", folder), option("statements", statements)],
            ..self.server.target()
        }
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn behind_a_pooler_unnamed_and_simple_statements_hold_the_laws_and_named_ones_are_refused() {
    let pooler = Pooler::start();
    for way in ["unnamed", "simple"] {
        eprintln!("statements={way}");
        let database = pooler.open(way);
        holds(&|| Arc::clone(&database));
    }
    named_statements_are_refused(&pooler.open("named"));
}

/// Tests that dbdyno spells session settings as the server reports them. PgBouncer sets a setting
/// with another spelling again at each transaction, which halves throughput.
#[test]
fn a_pooler_puts_no_statements_between_our_transactions() {
    let pooler = Pooler::start();
    let direct = (ENTRY.open)(&pooler.server.target(), Opening { create: false, seed: 1 });
    let direct = direct.unwrap_or_else(|no| panic!("{no}"));
    let mut own = TestSession::connect(&direct, &[]);
    own.do_all(&["CREATE EXTENSION pg_stat_statements"]);
    let database = pooler.open("unnamed");
    let mut clients: Vec<TestSession> =
        (0..4).map(|_| TestSession::connect(&database, &[(Read, "SELECT ?::int")])).collect();
    own.do_all(&["SELECT pg_stat_statements_reset()"]);
    for number in 0..200 {
        let client = &mut clients[number % 4];
        client.ask(Request::Begin).expect("begun");
        client.call_rows(0, &[Value::Int(7)]);
        client.ask(Request::Commit).expect("committed");
    }
    let mut counted = |what: &str| {
        let sql = format!(
            "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements \
             WHERE query ILIKE '{what}%'"
        );
        match own.rows(Request::Text { kind: Read, sql: &sql }).expect("counted")[..] {
            [ref row] => match row[..] {
                [Kept::Int(calls)] => calls,
                ref other => panic!("{other:?}"),
            },
            ref other => panic!("{other:?}"),
        }
    };
    assert_eq!(counted("COMMIT"), 200);
    // Each of two server connections is set up with a few settings.
    let n_set = counted("SET");
    assert!(n_set <= 10, "{n_set} SET for 200 transactions");
}

#[test]
fn a_pooler_without_room_is_told_from_a_mistake_in_the_protocol() {
    let pooler = Pooler::start_with("max_client_conn = 3\nquery_wait_timeout = 1\n");
    let database = pooler.open("unnamed");
    // The connection that tried the target may take a moment to end.
    let connect = || loop {
        if let Ok(made) = TestSession::try_connect(&database, &[(Read, "SELECT 1")]) {
            break made;
        }
    };
    let (mut first, mut second, mut third) = (connect(), connect(), connect());
    let fourth = TestSession::try_connect(&database, &[]).map(|_| Reply::default());
    let words = refused(fourth, DbErrorKind::TooManyConnections);
    assert!(words.contains("raise max_client_conn"), "{words}");
    // Both server connections are in use, and the third client waits for one without success.
    first.ask(Request::Begin).expect("begun");
    second.ask(Request::Begin).expect("begun");
    let words = refused(third.call(0, &[]), DbErrorKind::TooManyConnections);
    assert!(words.contains("raise default_pool_size"), "{words}");
    let mut target = pooler.target("unnamed");
    target.options.push(("statement_timeout".to_owned(), "5s".to_owned()));
    let no = (ENTRY.open)(&target, Opening { create: false, seed: 1 });
    let no = no.err().map(|no| no.to_string()).unwrap_or_default();
    assert!(no.contains("ignore_startup_parameters"), "{no}");
}

#[test]
fn what_is_counted_and_set_behind_a_pooler_is_said_to_be_so() {
    let pooler = Pooler::start();
    let is_pooled = |database: &Arc<dyn Database>| {
        let facts = database.facts().expect("facts");
        let pooler = facts.iter().any(|fact| fact.about == "connection" && fact.name == "pooler");
        assert_eq!(pooler, database.monitoring().commit_counter.is_none());
        pooler
    };
    assert!(is_pooled(&pooler.open("unnamed")));
    let direct = (ENTRY.open)(&pooler.server.target(), Opening { create: false, seed: 1 });
    assert!(!is_pooled(&direct.unwrap_or_else(|no| panic!("{no}"))));
}

#[test]
fn a_database_that_is_not_there_is_made_through_a_pooler() {
    let pooler = Pooler::start();
    let mut target = Target { path: "not_there_yet".to_owned(), ..pooler.target("unnamed") };
    // PgBouncer makes the client wait for longer than this limit.
    target.options.push(("connect_timeout".to_owned(), "10s".to_owned()));
    let made = (ENTRY.open)(&target, Opening { create: true, seed: 1 });
    let made = made.unwrap_or_else(|no| panic!("{no}"));
    let mut session = TestSession::connect(&made, &[]);
    let asked = session.rows(Request::Text { kind: Read, sql: "SELECT current_database()" });
    assert_eq!(asked, Ok(vec![vec![Kept::Text("not_there_yet".to_owned())]]));
    let other = Target { path: "never".to_owned(), ..target };
    let missing = (ENTRY.open)(&other, Opening { create: false, seed: 1 });
    let missing = missing.err().map(|no| no.to_string()).unwrap_or_default();
    assert!(missing.contains("CREATE DATABASE"), "{missing}");
}

fn named_statements_are_refused(database: &Arc<dyn Database>) {
    let connect = |sql: &str| TestSession::connect(database, &[(Read, sql)]);
    let mut first = connect("SELECT 1, ?::int");
    let (mut second, mut third) = (connect("SELECT 2, ?::int"), connect("SELECT 3, ?::int"));
    let value = [Value::Int(7)];
    // There are two server connections: the third client holds the one on which the first has
    // prepared its statement.
    second.ask(Request::Begin).expect("begun");
    first.ask(Request::Begin).expect("begun");
    assert_eq!(first.call_rows(0, &value), [[Kept::Int(1), Kept::Int(7)]]);
    first.ask(Request::Commit).expect("committed");
    third.ask(Request::Begin).expect("begun");
    assert_eq!(third.call_rows(0, &value), [[Kept::Int(3), Kept::Int(7)]], "and not another's");
    second.ask(Request::Commit).expect("committed");
    first.ask(Request::Begin).expect("begun");
    let words = refused(first.call(0, &value), DbErrorKind::Missing);
    assert!(words.contains("put ?statements=unnamed into"), "{words}");
    first.ask(Request::Rollback).expect("rolled back");
    assert_eq!(first.call_rows(0, &value), [[Kept::Int(1), Kept::Int(7)]], "prepared again");
    third.ask(Request::Rollback).expect("rolled back");
}
