//! Tests of the workload derived from TPC-C on real servers, in each execution mode: all modes must
//! give the same data and custom metrics, and nothing may be lost when many clients contend for few
//! rows.
//!
//! Each server has a tenth of the rows, which are built once; the changes of a mode are undone
//! before the next. DuckDB is tested here too, since its transactions run at once like those of a
//! server. Not here: SQLite (on_sqlite).

mod common;

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use drivers::Opening;
use model::{
    Call, Database, DbError, DbErrorKind, Done, Place, Placement, Request, RoutineLanguage,
    Session, Sessions, Settings, Statement, StatementId, StatementKind, Target, Traffic, TxContext,
    Value, Workload, query,
};
use servers::Kind;
use servers::for_tests::{
    MARIADB, MARIADB_11_4, MARIADB_11_8, MYSQL_5_6, MYSQL_9_7, POSTGRES, POSTGRES_18, TestServer,
};
use workloads::Make;

use common::{Ticks, block_on, of_client};

const WAYS: [&str; 4] = ["prepared", "text", "batched", "procedures"];
/// Two lists of execution modes: those whose results are compared, and those in which many clients
/// contend for rows.
type Asked = [&'static [&'static str]; 2];
const ALL: Asked = [&WAYS, &WAYS];
/// Execution modes for further versions of a product: each mode is tested once, and the two that
/// differ most are compared.
const HALVES: Asked = [&["batched", "procedures"], &["prepared", "text"]];
/// Number of transactions that one client runs alone, and whose results are compared between modes.
const ALONE: u64 = 100;
/// Number of clients that contend for the same rows.
const CLIENTS: u32 = 32;
/// Number of transactions that each contending client runs.
const EACH: u64 = 12;
/// Number of conflicts in a row after which a test gives up; 32 clients without a livelock meet
/// fewer, even if the transaction in the way gets no CPU for a while.
const ATTEMPTS: u32 = 10_000;

/// Number of checks for a waiting statement after which a test fails; that many take at least a
/// minute.
const LOOKS: u32 = 200_000;

/// Tables that a run of TPC-C changes.
const CHANGED: [&str; 8] =
    ["warehouse", "district", "customer", "history", "stock", "orders", "new_order", "order_line"];

fn workload(mode: &str) -> Arc<dyn Workload> {
    split(mode, 0)
}

/// Builds the TPC-C workload in the given execution mode, with tables in `partitions` partitions.
fn split(mode: &str, partitions: u64) -> Arc<dyn Workload> {
    let partitions = partitions.to_string();
    let written = [
        ("partitions", partitions.as_str()),
        ("warehouses", "2"),
        ("shrink", "10"),
        ("mode", mode),
        ("weights", "3/3/1/1/1"),
        ("rollback_percent", "10"),
        ("remote_line_percent", "20"),
    ];
    let entry = workloads::by_name("tpcc").expect("known");
    let settings = Settings::decide("tpcc", entry.parameters, written).expect("valid");
    (entry.make)(&Make { settings: &settings, seed: 42, data: None, source: None }).expect("valid")
}

/// Numbers of transactions by outcome: committed (by type), rolled back as intended, and rejected
/// by a conflict.
#[derive(Debug, Default)]
struct Tally {
    committed: [i64; 5],
    n_rolled_back: i64,
    n_conflicts: u64,
    /// Sums of the values of custom metrics, by index of the metric.
    measured: Vec<u64>,
    traffic: Traffic,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        for (sum, n) in self.committed.iter_mut().zip(other.committed) {
            *sum += n;
        }
        self.n_rolled_back += other.n_rolled_back;
        self.n_conflicts += other.n_conflicts;
        self.traffic += other.traffic;
        self.measured.resize(other.measured.len().max(self.measured.len()), 0);
        for (sum, n) in self.measured.iter_mut().zip(&other.measured) {
            *sum += n;
        }
    }
}

/// A test database with two warehouses.
struct Site {
    database: Arc<dyn Database>,
    desk: Box<dyn Session>,
}

impl Site {
    fn build(target: &Target, partitions: u64) -> Site {
        let opening = Opening { create: true, seed: 42 };
        let database = drivers::open(target, opening).expect("opens");
        let desk = connect(&database, 0, Vec::new());
        let mut site = Site { database, desk };
        let workload = split("prepared", partitions);
        let dialect = *site.database.dialect();
        let population = workload.population().expect("it has data");
        let tables = population.tables();
        for (index, table) in tables.iter().enumerate() {
            site.write(&match population.partitions(index) {
                None => dialect.create_table(table),
                Some((column, count)) => dialect.create_partitioned(table, column, count),
            });
        }
        load(&site.database, workload.as_ref());
        for table in tables {
            for index in &table.indexes {
                site.write(&dialect.create_index(table, index));
            }
            site.write(&match dialect.routines {
                Some(RoutineLanguage::Psm) => format!("ANALYZE TABLE {}", table.name),
                _ => format!("ANALYZE {}", table.name),
            });
        }
        for sql in [
            "CREATE TABLE stock_was AS SELECT s_w_id AS w, s_i_id AS i, s_quantity AS q FROM stock",
            "CREATE INDEX stock_was_key ON stock_was (w, i)",
            "CREATE TABLE customer_was AS SELECT c_w_id AS w, c_d_id AS d, c_id AS c, \
             c_data AS data FROM customer WHERE c_credit = 'BC'",
            "CREATE INDEX customer_was_key ON customer_was (w, d, c)",
        ] {
            site.write(sql);
        }
        site.install();
        site
    }

    fn install(&mut self) {
        let dialect = *self.database.dialect();
        for routine in workload("procedures").routines(&dialect) {
            self.write(&routine.create);
        }
    }

    fn write(&mut self, sql: &str) {
        let request = Request::Text { kind: StatementKind::Write, sql };
        let done = block_on(query(self.desk.as_mut(), request, &mut |_| Ok(())));
        done.unwrap_or_else(|no| panic!("{sql}: {no}"));
    }

    /// Returns the rows of a query as text.
    fn rows(&mut self, sql: &str) -> Vec<String> {
        let request = Request::Text { kind: StatementKind::Read, sql };
        let mut rows = Vec::new();
        let mut visit = |row: &dyn model::Row| {
            let cells: Vec<String> =
                (0..row.width()).map(|column| format!("{:?}", row.value(column))).collect();
            rows.push(cells.join(" "));
            Ok(())
        };
        block_on(query(self.desk.as_mut(), request, &mut visit)).expect("accepted");
        rows
    }

    fn number(&mut self, sql: &str) -> i64 {
        let request = Request::Text { kind: StatementKind::Read, sql };
        let mut number = None;
        let mut visit = |row: &dyn model::Row| {
            number = Some(row.int(0)?);
            Ok(())
        };
        block_on(query(self.desk.as_mut(), request, &mut visit)).expect("accepted");
        number.expect("a row")
    }

    /// Returns checksums of the tables' contents, which the server computes and which do not depend
    /// on the order of rows.
    fn state(&mut self) -> Vec<String> {
        let language = self.database.dialect().routines;
        let sums = CHANGED.iter().flat_map(|table| {
            self.rows(&match language {
                Some(RoutineLanguage::PlPgSql) => format!(
                    "SELECT '{table}', count(*), \
                     sum(hash_record_extended(t, 0)::numeric)::text FROM {table} t"
                ),
                Some(RoutineLanguage::Psm) => format!("CHECKSUM TABLE {table}"),
                None => format!(
                    "SELECT '{table}', count(*), CAST(sum(hash(t)) AS VARCHAR) FROM {table} t"
                ),
            })
        });
        sums.collect()
    }

    /// Returns the rows that violate a consistency check, as text.
    fn broken(&mut self) -> Vec<String> {
        let checks = workload("prepared").checks(self.database.dialect());
        assert_eq!(checks.len(), 13);
        let broken = checks.iter().flat_map(|check| {
            let rows = self.rows(&check.sql);
            rows.into_iter().map(|row| format!("{}: {row}", check.id))
        });
        broken.collect()
    }

    /// Undoes all changes, so that the tables contain the data as they were built.
    fn undo(&mut self) {
        for sql in [
            "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) SELECT o_id, o_d_id, o_w_id \
             FROM orders WHERE o_id BETWEEN 211 AND 300 AND o_carrier_id IS NOT NULL",
            "DELETE FROM new_order WHERE no_o_id > 300",
            "DELETE FROM orders WHERE o_id > 300",
            "UPDATE orders SET o_carrier_id = NULL WHERE o_id > 210 AND o_carrier_id IS NOT NULL",
            "DELETE FROM order_line WHERE ol_o_id > 300",
            "UPDATE order_line SET ol_delivery_d = NULL \
             WHERE ol_o_id > 210 AND ol_delivery_d IS NOT NULL",
            "DELETE FROM history WHERE h_date > (SELECT MAX(c_since) FROM customer)",
            "UPDATE warehouse SET w_ytd = 30000.00",
            "UPDATE district SET d_ytd = 3000.00, d_next_o_id = 301",
            "UPDATE stock SET s_ytd = 0, s_order_cnt = 0, s_remote_cnt = 0, s_quantity = \
             (SELECT q FROM stock_was WHERE w = s_w_id AND i = s_i_id) WHERE s_order_cnt > 0",
            "UPDATE customer SET c_data = \
             (SELECT data FROM customer_was WHERE w = c_w_id AND d = c_d_id AND c = c_id) \
             WHERE c_payment_cnt > 1 AND c_credit = 'BC'",
            "UPDATE customer SET c_balance = -10.00, c_ytd_payment = 10.00, c_payment_cnt = 1, \
             c_delivery_cnt = 0 WHERE c_payment_cnt > 1 OR c_delivery_cnt > 0",
        ] {
            self.write(sql);
        }
    }
}

fn connect(
    database: &Arc<dyn Database>,
    client: u32,
    statements: Vec<Statement>,
) -> Box<dyn Session> {
    let place = Place { placement: Placement::Thread, clock: Rc::new(Ticks::default()), client };
    block_on(database.connect(place, statements.into())).expect("connects")
}

/// Inserts the initial rows into all tables, with two sessions.
fn load(database: &Arc<dyn Database>, workload: &dyn Workload) {
    let population = workload.population().expect("it has data");
    let tables = population.tables();
    let chunks = (0..tables.len())
        .flat_map(|table| (0..population.n_chunks(table)).map(move |chunk| (table, chunk)));
    let chunks: Vec<(usize, u64)> = chunks.collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for client in 0..2 {
            let (chunks, next) = (&chunks, &next);
            scope.spawn(move || {
                let mut session = connect(database, client, Vec::new());
                let session = session.as_mut();
                while let Some(&(table, chunk)) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut rows = population.rows(table, chunk);
                    block_on(query(session, Request::Begin, &mut |_| Ok(()))).expect("begun");
                    let loaded = model::load(session, &tables[table], rows.as_mut());
                    assert!(block_on(loaded).expect("loads").n_affected > 0);
                    block_on(query(session, Request::Commit, &mut |_| Ok(()))).expect("committed");
                }
            });
        }
    });
}

/// Runs the first `n` transactions of the client with the index `client`, and returns their
/// outcomes.
fn work(database: &Arc<dyn Database>, workload: &dyn Workload, client: u32, n: u64) -> Tally {
    let statements = workload.statements(database.dialect());
    let mut sessions = Sessions::single(connect(database, client, statements));
    let signed_in = sessions.traffic();
    let clock = Ticks::default();
    let mut user = workload.client(client);
    let mut tally =
        Tally { measured: vec![0; workload.custom_metrics().len()], ..Tally::default() };
    for nth in 0..n {
        let kind = user.inputs(of_client(client, nth));
        let mut attempt = || {
            let mut measured = Vec::new();
            let mut context = TxContext {
                sessions: &mut sessions,
                clock: &clock,
                dialect: database.dialect(),
                intended_ns: 0,
                measured: &mut measured,
            };
            block_on(user.converse(&mut context)).map(|done| (done, measured))
        };
        let (done, measured) = again(&mut tally.n_conflicts, &mut attempt);
        match done {
            Done::Committed => tally.committed[usize::from(kind)] += 1,
            Done::RolledBack => tally.n_rolled_back += 1,
            Done::Over => panic!("only scripts end before their run"),
        }
        for (metric, value) in measured {
            tally.measured[usize::from(metric)] += value;
        }
    }
    tally.traffic = sessions.traffic() - signed_in;
    tally
}

/// Repeats an attempt while it ends in a conflict, and adds the number of conflicts to
/// `n_conflicts`.
fn again<T>(n_conflicts: &mut u64, attempt: &mut dyn FnMut() -> Result<T, DbError>) -> T {
    for _ in 0..ATTEMPTS {
        match attempt() {
            Ok(done) => return done,
            Err(no) if no.kind.is_conflict() => {
                *n_conflicts += 1;
                // A database that does not wait for the other transaction would meet it again.
                thread::yield_now();
            }
            Err(no) => panic!("{no:?}"),
        }
    }
    panic!("{ATTEMPTS} conflicts in a row");
}

/// Tests that all execution modes give the same data and the same custom metrics.
fn every_way_does_the_same(site: &mut Site, modes: &[&str]) {
    let loaded = site.state();
    let mut first: Option<(Vec<String>, Tally)> = None;
    for &mode in modes {
        let tally = work(&site.database, workload(mode).as_ref(), 0, ALONE);
        let state = site.state();
        assert_ne!(state, loaded);
        assert!(tally.n_rolled_back > 0 && tally.committed.iter().all(|n| *n > 0), "{tally:?}");
        assert_eq!(tally.n_conflicts, 0, "a client alone has nobody to wait for");
        if mode == "procedures" {
            // Some servers prepare each of the five calls in a round trip of its own.
            let n_prepared = tally.traffic.round_trips - ALONE;
            assert!(n_prepared == 0 || n_prepared == 5, "{:?}", tally.traffic);
        }
        if mode == "batched" {
            assert!(tally.traffic.round_trips < 4 * ALONE, "{:?}", tally.traffic);
        }
        site.undo();
        if let Some((state_first, tally_first)) = &first {
            assert_eq!(&state, state_first, "{mode}");
            assert_eq!(tally.measured, tally_first.measured, "{mode}");
            assert_eq!(tally.committed, tally_first.committed, "{mode}");
        } else {
            assert_eq!(site.state(), loaded, "what was done is undone");
            first = Some((state, tally));
        }
    }
}

/// Tests many clients that contend for two warehouses. Each commit must be stored once, and all
/// consistency checks must pass. They run once at the end, since no mode repairs violations of
/// another.
fn nothing_is_lost_where_many_fight(site: &mut Site, modes: &[&str], what: &str) {
    for &mode in modes {
        let before = counts(site);
        let workload = workload(mode);
        let mut tally = Tally::default();
        thread::scope(|scope| {
            let (database, workload) = (&site.database, workload.as_ref());
            let clients = (0..CLIENTS)
                .map(|client| scope.spawn(move || work(database, workload, client, EACH)));
            let clients: Vec<_> = clients.collect();
            for client in clients {
                tally.add(&client.join().expect("a client ends well"));
            }
        });
        println!("{what}, {mode}: {} conflicts", tally.n_conflicts);
        let after = counts(site);
        let [orders, payments, _, _, _] = tally.committed;
        let delivered = tally.measured[3] as i64;
        let grown: Vec<i64> =
            after.iter().zip(before).map(|(after, before)| after - before).collect();
        assert_eq!(grown, [orders, payments, payments, delivered, -delivered + orders], "{mode}");
    }
    assert_eq!(site.broken(), [""; 0], "{what}, {modes:?}");
}

/// Returns the numbers of orders, payments of customers, payments in the history, deliveries, and
/// undelivered orders.
fn counts(site: &mut Site) -> [i64; 5] {
    [
        "SELECT SUM(d_next_o_id) FROM district",
        "SELECT SUM(c_payment_cnt) FROM customer",
        "SELECT COUNT(*) FROM history",
        "SELECT SUM(c_delivery_cnt) FROM customer",
        "SELECT COUNT(*) FROM new_order",
    ]
    .map(|sql| site.number(sql))
}

/// Tests a batch of several statements and a COMMIT in which one statement is rejected: nothing may
/// be committed.
fn nothing_is_committed_behind_a_no(site: &mut Site) {
    let sql = "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, 1, 1)";
    let sql = site.database.dialect().sql(sql);
    let insert = vec![Statement::new("insert", StatementKind::Write, sql)];
    let mut session = connect(&site.database, 0, insert);
    let [begin, commit] = [StatementId::BEGIN, StatementId::COMMIT].map(Call::control);
    let values = [Value::Int(9_000)];
    let insert = Call { statement: StatementId(0), values: &values };
    for _ in 0..2 {
        let request = Request::Batch(&[begin, insert, insert, commit]);
        let no = block_on(query(session.as_mut(), request, &mut |_| Ok(())));
        assert_eq!(no.expect_err("twice the same").kind, DbErrorKind::Duplicate);
        let done = block_on(query(session.as_mut(), Request::Rollback, &mut |_| Ok(())));
        done.expect("rolled back");
        assert_eq!(site.number("SELECT COUNT(*) FROM new_order WHERE no_o_id = 9000"), 0);
    }
}

/// Tests that statements find their rows by keys and indexes, both single rows and lists, whatever
/// the planner's statistics are.
fn no_statement_reads_a_whole_table(site: &mut Site) {
    let dialect = *site.database.dialect();
    let statements = workload("batched").statements(&dialect);
    let of_rows =
        |sql: &str| ["SELECT", "UPDATE", "DELETE"].iter().any(|verb| sql.starts_with(verb));
    let mut n_explained = 0;
    for statement in statements.iter().filter(|statement| of_rows(&statement.sql)) {
        let sql = with_ones(&statement.sql);
        let plan = site.rows(&format!("EXPLAIN {sql}"));
        n_explained += 1;
        for step in plan {
            // The planner reads tables of a few rows as a whole.
            let small = ["warehouse", "district"].iter().any(|table| step.contains(table));
            let is_whole = match dialect.routines {
                Some(RoutineLanguage::PlPgSql) => step.contains("Seq Scan"),
                _ => step.contains("\"ALL\"") || step.contains("\"index\""),
            };
            assert!(small || !is_whole, "{}: {step}\n{sql}", statement.name);
        }
    }
    assert!(n_explained > 50, "{n_explained}");
}

/// Replaces each placeholder of a statement by a literal.
fn with_ones(sql: &str) -> String {
    let mut text = String::new();
    let mut rest = sql;
    while let Some(at) = rest.find(['?', '$']) {
        text += &rest[..at];
        text += "'1'";
        rest = rest[at + 1..].trim_start_matches(|digit: char| digit.is_ascii_digit());
    }
    // This is the only date among the values.
    (text + rest).replace("ol_delivery_d = '1'", "ol_delivery_d = NULL")
}

/// Tests that the outcome of a transaction is unknown if its connection is killed while it waits
/// for a locked row.
fn a_killed_connection_leaves_in_doubt_what_may_be_committed(site: &mut Site) {
    // A routine commits inside the call, except in PostgreSQL: there, an unanswered call was not
    // committed.
    let expect = if is_postgres(&site.database) {
        DbErrorKind::ConnectionLost
    } else {
        DbErrorKind::UnknownCommit
    };
    let (no, grown) = killed_while_it_waits(site, |database, tell| {
        let workload = workload("procedures");
        let statements = workload.statements(database.dialect());
        let mut sessions = Sessions::single(connect(database, 0, statements));
        tell.send(own_id(database, sessions.own())).expect("heard");
        let mut user = workload.client(0);
        let is_payment = |nth: &u64| workload.kind_of(of_client(0, *nth)) == 1;
        user.inputs(of_client(0, (0..).find(is_payment).expect("there is one")));
        let (clock, mut measured) = (Ticks::default(), Vec::new());
        let sessions = &mut sessions;
        let clock: &dyn model::Clock = &clock;
        let (dialect, measured) = (database.dialect(), &mut measured);
        let mut context = TxContext { sessions, clock, dialect, intended_ns: 0, measured };
        block_on(user.converse(&mut context)).expect_err("it is killed")
    });
    assert_eq!((no.kind, grown), (expect, 0), "{no}");
    // A COMMIT that is queued on the server behind the waiting statement is not executed. To
    // MariaDB and MySQL the COMMIT is sent later.
    let (no, grown) = killed_while_it_waits(site, |database, tell| {
        let sql = "UPDATE warehouse SET w_ytd = w_ytd + 1";
        let pays = vec![Statement::new("all are paid", StatementKind::Write, sql)];
        let mut session = connect(database, 0, pays);
        tell.send(own_id(database, session.as_mut())).expect("heard");
        let ends = [StatementId::BEGIN, StatementId(0), StatementId::COMMIT].map(Call::control);
        let mut nothing = |_: &dyn model::Row| Ok(());
        let asked = query(session.as_mut(), Request::Batch(&ends), &mut nothing);
        block_on(asked).expect_err("it is killed")
    });
    assert_eq!((no.kind, grown), (DbErrorKind::ConnectionLost, 0), "{no}");
}

fn is_postgres(database: &Arc<dyn Database>) -> bool {
    database.dialect().routines == Some(RoutineLanguage::PlPgSql)
}

fn own_id(database: &Arc<dyn Database>, session: &mut dyn Session) -> i64 {
    let sql = match is_postgres(database) {
        true => "SELECT pg_backend_pid()",
        false => "SELECT CONNECTION_ID()",
    };
    let mut id = 0;
    let request = Request::Text { kind: StatementKind::Read, sql };
    let mut visit = |row: &dyn model::Row| row.int(0).map(|own| id = own);
    block_on(query(session, request, &mut visit)).expect("accepted");
    id
}

/// Locks the warehouses' rows, waits until `work` waits for these locks, and kills the connection
/// of `work`. Returns its error, and the increase of the warehouses' payments.
fn killed_while_it_waits(
    site: &mut Site,
    work: fn(&Arc<dyn Database>, &Sender<i64>) -> DbError,
) -> (DbError, i64) {
    let paid = "SELECT CAST(SUM(w_ytd) AS DECIMAL(20, 0)) FROM warehouse";
    let before = site.number(paid);
    let (tell, shown) = channel();
    let database = Arc::clone(&site.database);
    let desk = connect(&database, 1, Vec::new());
    let mut killer = Site { database: Arc::clone(&database), desk };
    site.write("BEGIN");
    site.write("UPDATE warehouse SET w_ytd = w_ytd");
    let no = thread::scope(|scope| {
        let victim = scope.spawn(|| work(&database, &tell));
        let id = shown.recv().expect("its number");
        let (waits, kill) = if is_postgres(&database) {
            let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' \
                         AND pid = ";
            (waits, format!("SELECT pg_terminate_backend({id})"))
        } else {
            let waits = "SELECT COUNT(*) FROM information_schema.PROCESSLIST \
                         WHERE INFO LIKE 'UPDATE warehouse%' AND ID = ";
            (waits, format!("KILL {id}"))
        };
        let waits = format!("{waits}{id}");
        assert!((0..LOOKS).any(|_| killer.number(&waits) == 1), "it never waits");
        killer.write(&kill);
        victim.join().expect("no panic")
    });
    site.write("ROLLBACK");
    (no, site.number(paid) - before)
}

/// Server settings for tests, which keep all data and temporary tables in memory. Flushes to disk
/// are off, since the tests do not depend on durability.
fn roomy(kind: Kind) -> &'static [(&'static str, &'static str)] {
    match kind {
        Kind::Postgres => &[
            ("shared_buffers", "512MB"),
            ("work_mem", "64MB"),
            ("synchronous_commit", "off"),
            ("full_page_writes", "off"),
        ],
        Kind::MariaDb | Kind::MySql => &[
            ("innodb_buffer_pool_size", "512M"),
            ("loose_innodb_log_file_size", "128M"),
            ("loose_innodb_redo_log_capacity", "256M"),
            ("innodb_flush_log_at_trx_commit", "0"),
            ("innodb_doublewrite", "0"),
            ("tmp_table_size", "256M"),
            ("max_heap_table_size", "256M"),
        ],
    }
}

/// Runs all tests of this file on a server of one product, with tables in this many partitions.
fn laws_hold_on(
    server: &TestServer,
    partitions: u64,
    [compared, fighting]: Asked,
) -> (servers::Server, Site) {
    let server = server.start_with(roomy(server.kind));
    let mut site = Site::build(&server.target(), partitions);
    assert_eq!(site.broken(), [""; 0]);
    no_statement_reads_a_whole_table(&mut site);
    nothing_is_committed_behind_a_no(&mut site);
    a_killed_connection_leaves_in_doubt_what_may_be_committed(&mut site);
    every_way_does_the_same(&mut site, compared);
    nothing_is_lost_where_many_fight(&mut site, fighting, server.version());
    (server, site)
}

#[test]
fn all_ways_are_one_workload_on_mariadb() {
    let (_server, mut site) = laws_hold_on(&MARIADB, 0, ALL);
    site.write("SET GLOBAL innodb_snapshot_isolation = ON");
    let modes = ["batched", "procedures"];
    nothing_is_lost_where_many_fight(&mut site, &modes, "MariaDB with snapshot isolation");
}

#[test]
fn all_ways_are_one_workload_on_mariadb_11_8() {
    laws_hold_on(&MARIADB_11_8, 0, HALVES);
}

#[test]
fn all_ways_are_one_workload_on_mariadb_11_4_in_parts() {
    laws_hold_on(&MARIADB_11_4, 2, HALVES);
}

#[test]
fn all_ways_are_one_workload_on_mysql_5_6() {
    laws_hold_on(&MYSQL_5_6, 0, HALVES);
}

#[test]
fn all_ways_are_one_workload_on_mysql_9_7_in_parts() {
    laws_hold_on(&MYSQL_9_7, 2, HALVES);
}

#[test]
fn all_ways_are_one_workload_on_postgres() {
    laws_hold_on(&POSTGRES, 0, ALL);
}

#[test]
fn all_ways_are_one_workload_on_postgres_18_in_parts() {
    laws_hold_on(&POSTGRES_18, 2, HALVES);
}

#[test]
fn all_ways_are_one_workload_on_duckdb() {
    let mut site = Site::build(&common::duckdb_in_memory(), 0);
    assert_eq!(site.broken(), [""; 0]);
    nothing_is_committed_behind_a_no(&mut site);
    every_way_does_the_same(&mut site, &["prepared", "text", "batched"]);
    nothing_is_lost_where_many_fight(&mut site, &["prepared", "batched"], "DuckDB");
}
