//! Tests, on real servers, of behaviour that only MySQL and MariaDB have.

use std::sync::{Arc, mpsc};
use std::thread;

use model::{
    Call, Column, ColumnType, Database, DbErrorKind, Host, Reply, Request, RowSource, Secret,
    StatementId, Table, Value, reconnect,
};
use servers::Kind;
use servers::for_tests::{MARIADB, MARIADB_11_4, MARIADB_11_8, MYSQL_5_6, MYSQL_9_7};

use crate::conformance::as_transaction::a_text_is_reported_as_it_ended;
use crate::conformance::{Kept, Other, Read, TestSession, Write, block_on, refused};
use crate::on_servers::{
    Killing, Site, cannot_open, keeps, opened, signed_in_as, too_many_are_reported_so, with,
};

keeps! {
    laws [
        what_is_wrong_with_a_target_is_reported_with_its_remedy,
        a_user_with_too_many_connections_is_reported_so,
        a_session_that_is_ended_while_it_is_idle_knows_it,
        a_server_that_is_gone_in_mid_query_leaves_no_doubt_but_of_commits,
        packets_of_more_than_16_mib_go_out_and_come_back,
        a_statement_has_its_time,
        a_procedure_may_have_several_result_sets,
        a_batch_that_is_refused_is_never_committed_in_part,
        a_flight_of_more_than_any_buffer_comes_through,
        conflicts_are_reported_by_their_kind,
        facts_tell_version_and_modes,
        loads_can_be_switched_off,
        statements_are_prepared_once_a_session,
        sessions_have_the_isolation_and_the_settings_of_the_target,
        a_text_that_nobody_reads_is_reported_as_it_ended,
    ];
    on mariadb: MARIADB, mariadb_11_4: MARIADB_11_4, mariadb_11_8: MARIADB_11_8,
        mysql_5_6: MYSQL_5_6, mysql_9_7: MYSQL_9_7;
    named Kind::MariaDb, Kind::MySql;
}

fn what_is_wrong_with_a_target_is_reported_with_its_remedy(site: &Site) {
    let target = site.target();
    let wrong = model::Target { password: Some(Secret::new("hunter2")), ..target.clone() };
    let (kind, words) = cannot_open(&wrong);
    assert_eq!(kind, DbErrorKind::Denied, "{words}");
    assert!(words.contains("check user and password") && !words.contains("hunter2"), "{words}");
    let (kind, words) = cannot_open(&site.target_of("no_such"));
    assert_eq!(kind, DbErrorKind::Missing, "{words}");
    assert!(words.contains("CREATE DATABASE"), "{words}");
    let at = |name: &str| {
        let hosts = vec![Host { name: name.to_owned(), port: Some(1) }];
        cannot_open(&model::Target { hosts, options: Vec::new(), ..target.clone() })
    };
    let (kind, words) = at("127.0.0.1");
    assert_eq!(kind, DbErrorKind::ConnectionLost, "{words}");
    assert!(
        words.starts_with("127.0.0.1:1: ") && words.contains("check that the server is running"),
        "{words}"
    );
    let (_, words) = at("no-such-host.invalid");
    assert!(words.contains("cannot resolve"), "{words}");
    let (kind, words) = cannot_open(&with(target.clone(), &[("socket", "/nowhere/x.sock")]));
    assert_eq!(kind, DbErrorKind::ConnectionLost, "{words}");
    assert!(words.contains("this socket does not exist"), "{words}");
}

fn a_user_with_too_many_connections_is_reported_so(site: &Site) {
    let database = site.open("few", &[]);
    let mut session = TestSession::connect(&database, &[]);
    for host in ["127.0.0.1", "localhost"] {
        let user = format!("'law_few'@'{host}'");
        // MySQL 5.6 has no IF NOT EXISTS here.
        let _ = session.text(&format!("CREATE USER {user} IDENTIFIED BY 'x'"));
        let few = "WITH MAX_USER_CONNECTIONS 1";
        // MySQL from 8.0 on knows the first statement, MySQL 5.6 the second.
        if session.text(&format!("ALTER USER {user} {few}")).is_err() {
            session.do_all(&[&format!("GRANT USAGE ON *.* TO {user} {few}")]);
        }
        session.do_all(&[&format!("GRANT ALL ON *.* TO {user}")]);
    }
    too_many_are_reported_so(&signed_in_as(site.target_of("few"), "law_few"));
}

const KILLING: Killing = Killing {
    number: "SELECT connection_id()",
    under_way: "SELECT count(*) FROM information_schema.processlist WHERE info IS NOT NULL AND \
                command IN ('Query', 'Execute') AND id = ",
    kill: "KILL ",
    end: "",
};

fn a_session_that_is_ended_while_it_is_idle_knows_it(site: &Site) {
    KILLING.while_idle(&site.open("idle", &[]));
}

fn a_server_that_is_gone_in_mid_query_leaves_no_doubt_but_of_commits(site: &Site) {
    let database = site.open("gone", &[]);
    let mut session = TestSession::connect(&database, &[]);
    session.do_all(&["DROP TABLE IF EXISTS law_gone", "CREATE TABLE law_gone (v INT)"]);
    session.do_all(&["INSERT INTO law_gone VALUES (1)"]);
    let kind = KILLING.during(&database, "SELECT SLEEP(100)", false);
    assert_eq!(kind, DbErrorKind::ConnectionLost);
    let kind = KILLING.during(&database, "UPDATE law_gone SET v = SLEEP(100)", true);
    assert_eq!(kind, DbErrorKind::UnknownCommit, "nobody knows whether it was committed");
}

/// Tests that packets of more than 16 MiB, which are sent in parts, work in both directions.
pub(super) fn packets_of_more_than_16_mib(database: &Arc<dyn Database>) {
    const N: usize = 17 << 20;
    TestSession::connect(database, &[]).do_all(&["SET GLOBAL max_allowed_packet = 67108864"]);
    let mut session = TestSession::connect(database, &[(Read, "SELECT ?")]);
    let text = "abcdefg\u{e9}".repeat(N / 9);
    let rows = session.call_rows(0, &[Value::Text(&text)]);
    assert!(rows == [[Kept::Text(text)]]);
    let sql = format!("SELECT LENGTH('{}')", "x".repeat(N));
    assert_eq!(session.int(&sql), N as i64);
}

/// Source of 450,500 rows that differ only in their number, enough for a load of 300 packets.
struct Same(i64);

impl RowSource for Same {
    fn next(&mut self, emit: &mut dyn FnMut(&[Value<'_>])) -> bool {
        self.0 += 1;
        let name = "the same thirty letters and more";
        (0..500).for_each(|n| emit(&[Value::Int(self.0 * 500 + n), Value::Text(name)]));
        self.0 < 900
    }
}

/// Tests a bulk load over a compressed connection, with more packets than there are sequence
/// numbers (256).
pub(super) fn loads_are_small_on_the_wire(database: &Arc<dyn Database>) {
    let column = |name, column_type| Column { name, of: column_type, nullable: false };
    let columns = vec![column("id", ColumnType::Int), column("c", ColumnType::VarChar(40))];
    let table =
        Table { name: "law_small".into(), columns, primary_key: vec!["id"], indexes: vec![] };
    let mut session = TestSession::connect(database, &[]);
    session.do_all(&["DROP TABLE IF EXISTS law_small"]);
    session.do_all(&[&database.dialect().create_table(&table)]);
    let before = session.0.traffic();
    let reply = block_on(model::load(&mut *session.0, &table, &mut Same(-1))).expect("loaded");
    let n_bytes = (session.0.traffic() - before).bytes_out;
    assert_eq!(reply.n_affected, 901 * 500);
    assert!(n_bytes < 450_000 * 10, "{n_bytes} bytes went out for rows of 38 or more");
    assert_eq!(session.int("SELECT count(*) FROM law_small"), 450_500);
    session.do_all(&["DROP TABLE law_small"]);
}

fn packets_of_more_than_16_mib_go_out_and_come_back(site: &Site) {
    packets_of_more_than_16_mib(&site.open("large", &[]));
    let small = site.open("large", &[("max_packet", "1MiB")]);
    let mut session = TestSession::connect(&small, &[]);
    let no = session.text("SELECT REPEAT('x', 2000000)");
    let words = refused(no, DbErrorKind::ConnectionLost);
    assert!(words.contains("raise max_packet"), "{words}");
}

fn a_statement_has_its_time(site: &Site) {
    site.open("time", &[]);
    let target = with(site.target_of("time"), &[("statement_timeout", "50ms")]);
    if site.fact("version").starts_with("5.") {
        let (_, words) = cannot_open(&target);
        assert!(words.contains("too old for statement_timeout"), "{words}");
        return;
    }
    let sql = "SELECT count(*) FROM information_schema.columns a, information_schema.columns b, \
               information_schema.columns c";
    let mut session = TestSession::connect(&opened(&target), &[(Read, sql)]);
    refused(session.call(0, &[]), DbErrorKind::Timeout);
    assert_eq!(session.int("SELECT 1"), 1, "the connection is in order");
}

fn a_procedure_may_have_several_result_sets(site: &Site) {
    let database = site.open("procedure", &[]);
    let mut session = TestSession::connect(&database, &[(Write, "CALL law_sets(?)")]);
    let body = "BEGIN SELECT n, 'a'; SELECT 1 FROM DUAL WHERE 1 = 0; SELECT 'b' AS c, n + 1; END";
    let create = format!("CREATE PROCEDURE law_sets(n INT) {body}");
    session.do_all(&["DROP PROCEDURE IF EXISTS law_sets", &create]);
    for n in 0..3 {
        let mut got = Vec::new();
        let call = Call { statement: StatementId(0), values: &[Value::Int(n)] };
        let visit = &mut |row: &dyn model::Row| {
            got.push((row.result_set(), row.name(0).to_owned(), row.width()));
            Ok(())
        };
        block_on(model::query(&mut *session.0, Request::Execute(call), visit)).expect("called");
        assert_eq!(got, [(0, "n".to_owned(), 2), (2, "c".to_owned(), 2)]);
    }
}

fn a_batch_that_is_refused_is_never_committed_in_part(site: &Site) {
    let database = site.open("batch", &[]);
    let insert = "INSERT INTO law_part VALUES (?)";
    let mut session = TestSession::connect(&database, &[(Write, insert)]);
    let columns = "(id INT PRIMARY KEY) ENGINE=InnoDB";
    session.do_all(&["DROP TABLE IF EXISTS law_part", &format!("CREATE TABLE law_part {columns}")]);
    let values = [1, 1, 2].map(|id| [Value::Int(id)]);
    let calls = [0, 1, 2].map(|n| Call { statement: StatementId(0), values: &values[n] });
    // The server has executed the calls after the rejected one, so only a rollback is allowed next.
    session.ask(Request::Begin).expect("begun");
    refused(session.ask(Request::Batch(&calls)), DbErrorKind::Duplicate);
    refused(session.ask(Request::Commit), DbErrorKind::Other);
    refused(session.text("SELECT 1"), DbErrorKind::Other);
    session.ask(Request::Rollback).expect("rolled back");
    assert_eq!(session.int("SELECT count(*) FROM law_part"), 0);
    // Outside of a transaction each call is one of its own, and the first error is the last reply.
    refused(session.ask(Request::Batch(&calls)), DbErrorKind::Duplicate);
    let mut other = TestSession::connect(&database, &[]);
    assert_eq!(other.int("SELECT sum(id) FROM law_part"), 1);
    // Autocommit is on again.
    session.call(0, &[Value::Int(9)]).expect("inserted");
    assert_eq!(other.int("SELECT sum(id) FROM law_part"), 10);
    session.ask(Request::Begin).expect("begun");
    let (two, three) = ([Value::Int(2)], [Value::Int(3)]);
    let call = |values| Call { statement: StatementId(0), values };
    let reply = session.ask(Request::Batch(&[call(&two), call(&three)])).expect("inserted");
    assert_eq!(reply, Reply { n_rows: 0, n_affected: 2 });
    session.ask(Request::Commit).expect("committed");
    assert_eq!(other.int("SELECT sum(id) FROM law_part"), 15);
    // If a read is rejected, the COMMIT after it is held back if the transaction has written
    // before. Statements that are held back are not counted.
    let two_rows = "SELECT (SELECT 1 UNION SELECT 2)";
    let mut session = TestSession::connect(&database, &[(Write, insert), (Read, two_rows)]);
    session.ask(Request::Begin).expect("begun");
    session.call(0, &[Value::Int(100)]).expect("inserted");
    let before = session.0.traffic();
    let read = Call { statement: StatementId(1), values: &[] };
    let batch = [read, Call::control(StatementId::COMMIT)];
    refused(session.ask(Request::Batch(&batch)), DbErrorKind::Other);
    let moved = session.0.traffic() - before;
    assert_eq!((moved.reads, moved.others), (1, 0));
    session.ask(Request::Rollback).expect("rolled back");
    assert_eq!(other.int("SELECT sum(id) FROM law_part"), 15);
}

fn a_flight_of_more_than_any_buffer_comes_through(site: &Site) {
    let database = site.open("flight", &[]);
    let mut session = TestSession::connect(&database, &[(Read, "SELECT ?, ?")]);
    // 4 MB are sent and 4 MB received: a client that only wrote would wait forever.
    let text = "x".repeat(1000);
    let values = [Value::Text(&text), Value::Int(1)];
    let calls = vec![Call { statement: StatementId(0), values: &values }; 4000];
    let reply = session.ask(Request::Batch(&calls)).expect("read");
    assert_eq!(reply.n_rows, 4000);
    let before = session.0.traffic();
    session.ask(Request::Batch(&calls[..10])).expect("read");
    assert_eq!((session.0.traffic() - before).round_trips, 1);
}

fn conflicts_are_reported_by_their_kind(site: &Site) {
    let database = site.open("conflict", &[]);
    let update = "UPDATE law_conflict SET v = v + 1 WHERE id = ?";
    let mut one = TestSession::connect(&database, &[(Write, update)]);
    let columns = "(id INT PRIMARY KEY, v INT) ENGINE=InnoDB";
    one.do_all(&[
        "DROP TABLE IF EXISTS law_conflict",
        &format!("CREATE TABLE law_conflict {columns}"),
        "INSERT INTO law_conflict VALUES (1, 0), (2, 0)",
        "SET innodb_lock_wait_timeout = 20",
    ]);
    let mut two = TestSession::connect(&database, &[(Write, update)]);
    two.do_all(&["SET innodb_lock_wait_timeout = 1"]);
    for (session, id) in [(&mut one, 1), (&mut two, 2)] {
        session.ask(Request::Begin).expect("begun");
        session.call(0, &[Value::Int(id)]).expect("updated");
    }
    refused(two.call(0, &[Value::Int(1)]), DbErrorKind::LockTimeout);
    two.do_all(&["SET innodb_lock_wait_timeout = 20"]);
    let database = &database;
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        // A session cannot leave its thread, so this one is made again on the other thread.
        two.ask(Request::Rollback).expect("rolled back");
        let other = scope.spawn(move || {
            let mut two = TestSession::connect(database, &[(Write, update)]);
            two.ask(Request::Begin).expect("begun");
            two.call(0, &[Value::Int(2)]).expect("updated");
            sender.send(()).expect("somebody listens");
            two.call(0, &[Value::Int(1)])
        });
        receiver.recv().expect("it has its row");
        let here = one.call(0, &[Value::Int(2)]);
        if here.is_err() {
            one.ask(Request::Rollback).expect("rolled back");
        } else {
            one.ask(Request::Commit).expect("committed");
        }
        let there = other.join().expect("no panic");
        let no =
            [here, there].into_iter().find_map(Result::err).expect("one of them is the victim");
        assert_eq!(no.kind, DbErrorKind::Deadlock, "{no}");
    });
}

fn facts_tell_version_and_modes(site: &Site) {
    let facts = site.open("facts", &[]).facts().expect("facts");
    let value = |about: &str, name: &str| {
        let fact = facts.iter().find(|fact| fact.about == about && fact.name == name);
        fact.unwrap_or_else(|| panic!("{about}/{name} in {facts:?}")).value.to_string()
    };
    assert!(["MariaDB", "MySQL"].contains(&value("database", "product").as_str()));
    let version = value("database", "version");
    assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{version}");
    assert!(!version.starts_with("5.5.5"), "{version}");
    assert!(!value("mode", "innodb_flush_log_at_trx_commit").is_empty());
    assert!(!value("database", "max_connections").is_empty());
    assert!(facts.iter().any(|fact| fact.about == "mode" && fact.name.ends_with("_isolation")));
    assert_eq!(value("isolation", "level"), "repeatable read");
    let memory = value("server_memory", "cache");
    assert!(memory.starts_with("InnoDB buffer pool ") && memory.ends_with("iB"), "{memory}");
    assert!(!value("connection", "tls").is_empty());
}

fn loads_can_be_switched_off(site: &Site) {
    let database = site.open("off", &[("local_infile", "false")]);
    let mut session = TestSession::connect(&database, &[(Other, "SELECT 1")]);
    let table =
        model::Table { name: "x".into(), columns: vec![], primary_key: vec![], indexes: vec![] };
    struct None;
    impl model::RowSource for None {
        fn next(&mut self, _emit: &mut dyn FnMut(&[Value<'_>])) -> bool {
            false
        }
    }
    let no = block_on(model::load(&mut *session.0, &table, &mut None));
    let words = refused(no, DbErrorKind::Unsupported);
    assert!(words.contains("--load-method insert"), "{words}");
    let no = session.text("LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE x");
    assert!(no.is_err());
}

fn sessions_have_the_isolation_and_the_settings_of_the_target(site: &Site) {
    site.open("sessions", &[]);
    let options = [("isolation", "read-committed"), ("session", "lock_wait_timeout=7")];
    let database = opened(&with(site.target_of("sessions"), &options));
    let mut session = TestSession::connect(&database, &[]);
    let mut shown = |names: &str| {
        let sql = format!("SHOW SESSION VARIABLES WHERE Variable_name IN ({names})");
        let rows = session.rows(Request::Text { kind: Read, sql: &sql }).expect("variables");
        rows[0][1].clone()
    };
    let level = shown("'tx_isolation', 'transaction_isolation'");
    assert_eq!(level, Kept::Text("READ-COMMITTED".to_owned()));
    assert_eq!(shown("'lock_wait_timeout'"), Kept::Text("7".to_owned()));
}

fn statements_are_prepared_once_a_session(site: &Site) {
    let database = site.open("once", &[]);
    // MySQL prepares a bare `SELECT ?` again, without being asked, when its value is a number.
    let statements = [(Read, "SELECT CAST(? AS SIGNED)"), (Read, "SELECT 2")];
    let mut session = TestSession::connect(&database, &statements);
    let prepared = |session: &mut TestSession| {
        let sql = "SHOW SESSION STATUS LIKE 'Com_stmt_prepare'";
        let rows = session.rows(Request::Text { kind: Read, sql }).expect("a counter");
        rows[0][1].clone()
    };
    let count = |n: u32| Kept::Text(n.to_string());
    assert_eq!(prepared(&mut session), count(0), "not before it is used");
    for n in 0..10 {
        assert_eq!(session.call_rows(0, &[Value::Int(n)]), [[Kept::Int(n)]]);
        session.call_rows(1, &[]);
    }
    assert_eq!(prepared(&mut session), count(2));
    block_on(reconnect(&mut *session.0)).expect("made again");
    session.call_rows(1, &[]);
    assert_eq!(prepared(&mut session), count(1));
}

fn a_text_that_nobody_reads_is_reported_as_it_ended(site: &Site) {
    a_text_is_reported_as_it_ended(&site.open("unread", &[]));
}
