//! Tests of all workloads on SQLite in memory, with its real driver; and that what they ask is the
//! same on DuckDB.
//!
//! Not here: tests of inputs and rows without a database, which are beside their code.

mod common;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use drivers::Opening;
use drivers::for_tests::{Interceptor, intercept_session};
use model::{
    Check, Client, Clock, Crosscheck, Database, DbError, DbErrorKind, Done, Number, Place,
    Placement, Request, Session, Sessions, Settings, Statement, StatementKind, Target, TxContext,
    Value, Workload, query,
};
use workloads::Make;

use common::{Ticks, block_on, of_client};

/// An interceptor of requests that rejects one of them as a deadlock, and passes all others on.
struct Refusing {
    /// Number of requests that pass before one is rejected; `None` if none is rejected.
    accepts: Rc<Cell<Option<u32>>>,
    /// SQL that is executed just before the request that would be rejected, which then passes;
    /// `None` if there is none.
    slips_in: Rc<Cell<Option<&'static str>>>,
}

impl Interceptor for Refusing {
    fn start(&mut self, session: &mut dyn Session, request: Request<'_>) -> Result<(), DbError> {
        match self.accepts.get() {
            Some(0) => {
                self.accepts.set(None);
                let Some(sql) = self.slips_in.take() else {
                    return Err(DbError::new(DbErrorKind::Deadlock, "refused on request"));
                };
                let request = Request::Text { kind: StatementKind::Other, sql };
                block_on(query(session, request, &mut |_| Ok(())))?;
            }
            accepts => self.accepts.set(accepts.map(|n| n - 1)),
        }
        session.start(request)
    }
}

/// A workload under test, with a database in memory.
struct Bench {
    database: Arc<dyn Database>,
    workload: Arc<dyn Workload>,
    /// Sessions on the database. The first one is in use; the others keep the database in memory,
    /// or are used later.
    sessions: Vec<Sessions>,
    accepts: Rc<Cell<Option<u32>>>,
    slips_in: Rc<Cell<Option<&'static str>>>,
    clock: Ticks,
    measured: Vec<(u16, u64)>,
}

impl Bench {
    fn new(name: &str, written: &[(&str, &str)]) -> Bench {
        Bench::on(&Target::parse("sqlite::memory:").expect("valid"), name, written)
    }

    fn on(target: &Target, name: &str, written: &[(&str, &str)]) -> Bench {
        let entry = workloads::by_name(name).expect("known");
        let settings =
            Settings::decide(name, entry.parameters, written.iter().copied()).expect("valid");
        let make = Make { settings: &settings, seed: 42, data: None, source: None };
        let workload = (entry.make)(&make).expect("valid");
        let opening = Opening { create: true, seed: 42 };
        let database = drivers::open(target, opening).expect("opens");
        let clock = Rc::new(Ticks::default());
        let place = Place { placement: Placement::Thread, clock, client: 0 };
        let mut bench = Bench {
            database,
            workload,
            sessions: Vec::new(),
            accepts: Rc::default(),
            slips_in: Rc::default(),
            clock: Ticks::default(),
            measured: Vec::new(),
        };
        bench.create(place.clone());
        let statements = bench.workload.statements(bench.database.dialect());
        bench.connect(place, statements);
        bench
    }

    fn connect(&mut self, place: Place, statements: Vec<Statement>) {
        let session = block_on(self.database.connect(place, statements.into())).expect("connects");
        let (accepts, slips_in) = (Rc::clone(&self.accepts), Rc::clone(&self.slips_in));
        let session = intercept_session(session, Refusing { accepts, slips_in });
        self.sessions.insert(0, Sessions::single(session));
    }

    /// Creates the tables and inserts their initial rows. The session stays open, since the
    /// database in memory would disappear with it.
    fn create(&mut self, place: Place) {
        self.connect(place, Vec::new());
        let workload = Arc::clone(&self.workload);
        let Some(population) = workload.population() else {
            return;
        };
        let dialect = *self.database.dialect();
        for (index, table) in population.tables().iter().enumerate() {
            self.text(&dialect.create_table(table));
            for chunk in 0..population.n_chunks(index) {
                self.ask(Request::Begin);
                let mut rows = population.rows(index, chunk);
                let loaded = model::load(self.sessions[0].own(), table, rows.as_mut());
                assert!(block_on(loaded).expect("loads").n_affected > 0);
                self.ask(Request::Commit);
            }
            for index in &table.indexes {
                self.text(&dialect.create_index(table, index));
            }
            for sql in (self.database.administration().after_load)(table) {
                self.text(&sql);
            }
        }
    }

    fn ask(&mut self, request: Request<'_>) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        let mut visit = |row: &dyn model::Row| {
            let cell = |column| match row.value(column) {
                Value::Int(value) => format!("{}={value}", row.name(column)),
                Value::Null => format!("{}=null", row.name(column)),
                Value::Text(text) => text.to_owned(),
                other => panic!("{other:?}"),
            };
            rows.push((0..row.width()).map(cell).collect());
            Ok(())
        };
        block_on(query(self.sessions[0].own(), request, &mut visit)).expect("accepted");
        rows
    }

    fn text(&mut self, sql: &str) -> Vec<Vec<String>> {
        self.ask(Request::Text { kind: StatementKind::Other, sql })
    }

    /// Returns the number that is the result of a query.
    fn number(&mut self, sql: &str) -> i64 {
        let rows = self.text(&format!("SELECT CAST(({sql}) AS TEXT)"));
        rows[0][0].parse().expect("a number")
    }

    fn checks(&self) -> Vec<Check> {
        self.workload.checks(self.database.dialect())
    }

    /// Returns the rows that violate consistency checks: the short name of the check, and the first
    /// three columns.
    fn broken(&mut self) -> Vec<(&'static str, String)> {
        let mut broken = Vec::new();
        for check in self.checks() {
            for row in self.text(&check.sql) {
                broken.push((check.id, row[..row.len().min(3)].join(" ")));
            }
        }
        broken
    }

    /// Runs one transaction, and returns the index of its type and its outcome.
    fn transact(
        &mut self,
        client: &mut dyn Client,
        number: Number,
    ) -> (u16, Result<Done, DbError>) {
        let kind = client.inputs(number);
        assert_eq!(kind, self.workload.kind_of(number));
        (kind, self.again(client))
    }

    /// Runs another attempt of the last transaction with the same inputs.
    fn again(&mut self, client: &mut dyn Client) -> Result<Done, DbError> {
        let mut context = TxContext {
            sessions: &mut self.sessions[0],
            clock: &self.clock,
            dialect: self.database.dialect(),
            intended_ns: self.clock.now(),
            measured: &mut self.measured,
        };
        block_on(client.converse(&mut context))
    }

    fn measured(&self, metric: &str) -> i64 {
        let place =
            self.workload.custom_metrics().iter().position(|declared| declared.name == metric);
        let place = place.expect("declared") as u16;
        self.measured
            .iter()
            .filter(|(index, _)| *index == place)
            .map(|(_, value)| *value as i64)
            .sum()
    }
}

#[test]
fn all_thirteen_conditions_hold_before_and_after_a_mixed_run() {
    let parameters = [
        ("warehouses", "2"),
        ("weights", "1/1/1/1/1"),
        ("rollback_percent", "10"),
        ("remote_line_percent", "20"),
    ];
    let mut bench = Bench::new("tpcc", &parameters);
    assert_eq!(bench.checks().len(), 13);
    assert_eq!(bench.broken(), []);
    let Crosscheck { sql: crosscheck, kind: counted, .. } =
        bench.workload.crosscheck(bench.database.dialect()).expect("declared");
    let orders_before = bench.number(&crosscheck);
    let (mut committed, mut rolled_back) = ([0i64; 5], [0i64; 5]);
    for client in 0..3u32 {
        let mut user = bench.workload.client(client);
        for nth in 0..100 {
            let (kind, done) = bench.transact(user.as_mut(), of_client(client, nth));
            match done.expect("nobody refuses") {
                Done::Committed => committed[kind as usize] += 1,
                Done::RolledBack => rolled_back[kind as usize] += 1,
                Done::Over => panic!("only scripts end before their run"),
            }
        }
    }
    assert_eq!(committed.iter().sum::<i64>() + rolled_back[0], 300);
    assert!(rolled_back[0] > 0 && rolled_back[1..] == [0; 4], "{rolled_back:?}");
    assert_eq!(bench.broken(), []);
    assert_eq!(bench.number(&crosscheck) - orders_before, committed[counted as usize]);
    every_update_is_there(&mut bench, committed);
}

/// Tests that each column that TPC-C's specification increases has grown by the committed
/// transactions.
fn every_update_is_there(bench: &mut Bench, committed: [i64; 5]) {
    let [_, payments, _, deliveries, _] = committed;
    let lines = bench.number("SELECT COUNT(*) FROM order_line WHERE ol_o_id > 3000");
    assert_eq!(bench.measured("order_lines"), lines);
    assert!((1..lines / 10).contains(&bench.measured("brand_lines")));
    assert_eq!(bench.number("SELECT SUM(s_order_cnt) FROM stock"), lines);
    let sold = bench.number("SELECT SUM(ol_quantity) FROM order_line WHERE ol_o_id > 3000");
    assert_eq!(bench.number("SELECT SUM(s_ytd) FROM stock"), sold);
    let remote = "SELECT COUNT(*) FROM order_line WHERE ol_supply_w_id <> ol_w_id";
    let remote = bench.number(remote);
    assert!(remote > 0);
    assert_eq!(bench.number("SELECT SUM(s_remote_cnt) FROM stock"), remote);
    assert_eq!(bench.number("SELECT MIN(s_quantity) FROM stock"), 10);
    assert_eq!(bench.number("SELECT SUM(c_payment_cnt) FROM customer"), 60_000 + payments);
    assert_eq!(bench.number("SELECT COUNT(*) FROM history"), 60_000 + payments);
    let delivered = bench.number("SELECT SUM(c_delivery_cnt) FROM customer");
    assert_eq!(delivered, deliveries * 10);
    assert_eq!(bench.measured("orders_delivered"), delivered);
    assert_eq!(bench.measured("deliveries_skipped"), 0);
    let bad = "FROM customer WHERE c_data LIKE c_id || ' ' || c_d_id || ' ' || c_w_id || ' %|%'";
    let n_bad = bench.number(&format!("SELECT COUNT(*) {bad}"));
    assert!((1..=payments / 3).contains(&n_bad), "{n_bad} of {payments}");
    assert_eq!(bench.number(&format!("SELECT COUNT(*) {bad} AND c_credit <> 'BC'")), 0);
    assert_eq!(bench.number("SELECT MAX(LENGTH(c_data)) FROM customer"), 500);
    let wrong = "SELECT COUNT(*) FROM order_line JOIN item ON i_id = ol_i_id \
         WHERE ol_o_id > 3000 AND ol_amount <> ol_quantity * i_price";
    assert_eq!(bench.number(wrong), 0);
    let late = "SELECT COUNT(*) FROM orders WHERE o_entry_d >= 1704067200000000";
    assert_eq!(bench.number(late), committed[0]);
}

/// Statements that corrupt the data, each with the violations that the consistency checks must
/// report.
const DAMAGES: [(&str, &[(&str, &str)]); 17] = [
    (
        "UPDATE warehouse SET w_ytd = w_ytd + 1",
        &[("3.3.2.1", "w_id=1 w_ytd=3000001"), ("3.3.2.8", "w_id=1 w_ytd=3000001")],
    ),
    (
        "UPDATE district SET d_ytd = d_ytd + 1 WHERE d_id = 3",
        &[("3.3.2.1", "w_id=1 "), ("3.3.2.9", "d_w_id=1 d_id=3 ")],
    ),
    (
        "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 3",
        &[("3.3.2.2", "d_w_id=1 d_id=3 d_next_o_id=302")],
    ),
    (
        "DELETE FROM new_order WHERE no_d_id = 4 AND no_o_id = 250",
        &[
            ("3.3.2.3", "no_w_id=1 no_d_id=4 "),
            ("3.3.2.5", "o_w_id=1 o_d_id=4 o_id=250"),
            ("3.3.2.11", "d_w_id=1 d_id=4 "),
        ],
    ),
    (
        "INSERT INTO order_line SELECT 5000, 5, 1, 1, 1, 1, NULL, 5, 1, 'x'",
        &[("3.3.2.4", "d_w_id=1 d_id=5 ")],
    ),
    (
        "UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_d_id = 5 AND o_id = 7",
        &[("3.3.2.4", "d_w_id=1 d_id=5 "), ("3.3.2.6", "o_w_id=1 o_d_id=5 o_id=7")],
    ),
    (
        "UPDATE orders SET o_ol_cnt = o_ol_cnt + o_id * 2 - 15 WHERE o_d_id = 5 AND o_id IN (7, 8)",
        &[("3.3.2.6", "o_w_id=1 o_d_id=5 o_id=7"), ("3.3.2.6", "o_w_id=1 o_d_id=5 o_id=8")],
    ),
    (
        "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (210, 6, 1)",
        &[("3.3.2.5", "o_w_id=1 o_d_id=6 o_id=210"), ("3.3.2.11", "d_w_id=1 d_id=6 ")],
    ),
    (
        "UPDATE order_line SET ol_delivery_d = NULL \
         WHERE ol_d_id = 2 AND ol_o_id = 10 AND ol_number = 1",
        &[("3.3.2.7", "ol_w_id=1 ol_d_id=2 ol_o_id=10")],
    ),
    (
        "UPDATE history SET h_w_id = 2 WHERE h_d_id = 7 AND h_c_id = 9",
        &[("3.3.2.8", "w_id=1 "), ("3.3.2.9", "d_w_id=1 d_id=7 ")],
    ),
    (
        "UPDATE history SET h_d_id = 8 WHERE h_d_id = 7 AND h_c_id = 9",
        &[("3.3.2.9", "d_w_id=1 d_id=7 "), ("3.3.2.9", "d_w_id=1 d_id=8 ")],
    ),
    (
        "UPDATE history SET h_c_id = 10 WHERE h_d_id = 7 AND h_c_id = 9",
        &[("3.3.2.10", "c_w_id=1 c_d_id=7 c_id=10"), ("3.3.2.10", "c_w_id=1 c_d_id=7 c_id=9")],
    ),
    (
        "UPDATE customer SET c_balance = c_balance + 1 WHERE c_d_id = 9 AND c_id = 4",
        &[("3.3.2.10", "c_w_id=1 c_d_id=9 c_id=4"), ("3.3.2.12", "c_w_id=1 c_d_id=9 c_id=4")],
    ),
    (
        "UPDATE customer SET c_delivery_cnt = 1 WHERE c_d_id = 9 AND c_id = 4",
        &[("3.3.2.11", "d_w_id=1 d_id=9 ")],
    ),
    (
        "UPDATE customer SET c_ytd_payment = c_ytd_payment + 1 WHERE c_d_id = 9 AND c_id = 4",
        &[("3.3.2.12", "c_w_id=1 c_d_id=9 c_id=4")],
    ),
    ("DELETE FROM stock WHERE s_i_id = 7", &[("4.3.3.1", "w_id=1 n_stock=9999 n_items=10000")]),
    ("DELETE FROM item WHERE i_id > 9000", &[("4.3.3.1", "w_id=1 n_stock=10000 n_items=9000")]),
];

#[test]
fn each_condition_names_exactly_the_damaged_rows() {
    let mut bench = Bench::new("tpcc", &[("shrink", "10")]);
    let mut seen = BTreeSet::new();
    for (damage, expect) in DAMAGES {
        bench.ask(Request::Begin);
        bench.text(damage);
        let mut broken = bench.broken();
        bench.ask(Request::Rollback);
        broken.sort_by_key(|(id, row)| (id.len(), *id, row.clone()));
        assert_eq!(broken.len(), expect.len(), "{damage}: {broken:?}");
        for ((id, row), (expect_id, expect_row)) in broken.iter().zip(expect) {
            assert_eq!(id, expect_id, "{damage}: {broken:?}");
            assert!(row.starts_with(expect_row), "{damage}: {row}, expected {expect_row}");
            seen.insert(*id);
        }
    }
    assert_eq!(seen.len(), 13, "every condition has been broken");
    assert_eq!(bench.broken(), []);
    refused_transactions_leave_nothing(&mut bench);
    skipped_districts_are_counted(&mut bench);
}

/// Rejects each request of each transaction type in turn, and checks that nothing is left behind or
/// counted, and that the next attempt is complete.
fn refused_transactions_leave_nothing(bench: &mut Bench) {
    let state = "SELECT SUM(w_ytd) + (SELECT SUM(d_ytd) + SUM(d_next_o_id) FROM district) \
         + (SELECT SUM(c_balance) FROM customer) + (SELECT SUM(s_ytd) FROM stock) \
         + (SELECT COUNT(*) FROM history) + (SELECT COUNT(*) FROM new_order) FROM warehouse";
    let mut user = bench.workload.client(0);
    let mut n_refused = 0;
    for kind in 0..5 {
        let is_kind = |nth: &u64| bench.workload.kind_of(of_client(0, *nth)) == kind;
        let nth = (0..).find(is_kind).expect("every kind has a card");
        let number = of_client(0, nth);
        let before = bench.number(state);
        for accepted in 0.. {
            bench.accepts.set(Some(accepted));
            let (_, done) = bench.transact(user.as_mut(), number);
            let Err(db_error) = done else {
                bench.accepts.set(None);
                break;
            };
            n_refused += 1;
            assert_eq!(db_error.kind, DbErrorKind::Deadlock);
            assert_eq!(bench.number(state), before, "kind {kind} after {accepted} requests");
            assert_eq!(bench.measured, []);
        }
        bench.measured.clear();
    }
    assert!(n_refused > 100, "{n_refused}");
    assert_eq!(bench.broken(), []);
    assert_eq!(bench.number("SELECT SUM(d_next_o_id) FROM district"), 3_011);
}

/// Runs the first Delivery transaction of a client.
fn deliver(bench: &mut Bench) -> Result<Done, DbError> {
    let mut user = bench.workload.client(0);
    let is_delivery = |nth: &u64| bench.workload.kind_of(of_client(0, *nth)) == 3;
    let nth = (0..).find(is_delivery).expect("it has a card");
    bench.transact(user.as_mut(), of_client(0, nth)).1
}

#[test]
fn a_batched_delivery_of_what_is_delivered_already_is_a_conflict_and_changes_nothing() {
    let mut bench = Bench::new("tpcc", &[("mode", "batched"), ("shrink", "10")]);
    // Runs between the first flight, which reads the oldest orders, and the second.
    for sql in [
        "DELETE FROM new_order WHERE no_d_id = 3",
        "DELETE FROM orders WHERE o_d_id = 7 AND o_id = 211",
    ] {
        bench.accepts.set(Some(1));
        bench.slips_in.set(Some(sql));
        let db_error = deliver(&mut bench).expect_err("a row is gone");
        assert_eq!(db_error.kind, DbErrorKind::Serialization, "{sql}: {db_error}");
        assert_eq!(bench.measured, [], "{sql}");
        assert_eq!(bench.broken(), [], "{sql}");
    }
    assert_eq!(deliver(&mut bench), Ok(Done::Committed));
    assert_eq!(bench.measured("orders_delivered"), 10);
}

/// Tests that a Delivery continues if a district has no order to deliver (clause 2.7.4.2).
fn skipped_districts_are_counted(bench: &mut Bench) {
    bench.text("DELETE FROM new_order WHERE no_d_id IN (2, 9)");
    assert_eq!(deliver(bench), Ok(Done::Committed));
    assert_eq!(bench.measured("deliveries_skipped"), 2);
    assert_eq!(bench.measured("orders_delivered"), 8);
}

#[test]
fn the_empty_workload_asks_as_often_as_it_is_reported() {
    for n_statements in [0u64, 1, 7] {
        let mut bench = Bench::new("empty", &[("statements", &n_statements.to_string())]);
        let mut user = bench.workload.client(0);
        let before = bench.sessions[0].traffic();
        let (kind, done) = bench.transact(user.as_mut(), of_client(0, 5));
        assert_eq!((kind, done), (0, Ok(Done::Committed)));
        let moved = bench.sessions[0].traffic() - before;
        assert_eq!((moved.reads, moved.queries()), (n_statements, n_statements));
    }
}

/// A workload with parameters that make it small; the numbers of reads, writes and other statements
/// per transaction; and the number of additional reads in a client's first transaction.
type Small = (&'static str, &'static [(&'static str, &'static str)], [u64; 3], u64);

const SMALL: &[Small] = &[
    ("oltp-read-only", &[("tables", "3"), ("table_size", "500")], [14, 0, 2], 0),
    ("oltp-read-only", &[("skip_trx", "true"), ("table_size", "500")], [14, 0, 0], 0),
    ("oltp-read-only", &[("range_selects", "false"), ("table_size", "500")], [10, 0, 2], 0),
    ("oltp-read-write", &[("tables", "3"), ("table_size", "500")], [14, 4, 2], 0),
    ("oltp-read-write", &[("secondary", "true"), ("table_size", "500")], [14, 4, 2], 0),
    ("oltp-complex", &[("tables", "3"), ("table_size", "500")], [14, 5, 2], 0),
    ("oltp-complex", &[("skip_trx", "true"), ("table_size", "500")], [14, 5, 0], 0),
    ("oltp-write-only", &[("delete_inserts", "2"), ("table_size", "500")], [0, 6, 2], 0),
    ("oltp-point-select", &[("rand_type", "pareto"), ("table_size", "500")], [1, 0, 0], 0),
    ("oltp-update-index", &[("rand_type", "zipfian"), ("table_size", "500")], [0, 1, 0], 0),
    ("oltp-update-non-index", &[("non_index_updates", "1"), ("table_size", "500")], [0, 1, 0], 0),
    ("oltp-insert", &[("tables", "2"), ("table_size", "500")], [0, 1, 0], 0),
    ("oltp-insert", &[("secondary", "true"), ("table_size", "500")], [0, 1, 0], 0),
    ("oltp-insert", &[("auto_inc", "false"), ("table_size", "500")], [0, 1, 0], 1),
    ("oltp-delete", &[("rand_type", "uniform"), ("table_size", "500")], [0, 1, 0], 0),
    ("oltp-bulk-insert", &[("tables", "3"), ("bulk_rows", "7")], [0, 1, 0], 1),
    ("oltp-random-points", &[("segments", "3"), ("table_size", "500")], [1, 0, 0], 0),
    ("oltp-random-ranges", &[("delta", "9"), ("table_size", "500")], [1, 0, 0], 0),
    ("tpcb", &[("scale", "1")], [1, 4, 2], 0),
    ("tpch", &[("scale", "0.01"), ("test", "queries")], [1, 0, 0], 0),
    ("record", &[], [0, 1, 0], 0),
    ("record", &[("index", "secondary"), ("rows", "30"), ("tables", "2")], [0, 1, 0], 0),
    ("record", &[("records_per_commit", "5"), ("rows_per_statement", "2")], [0, 3, 2], 0),
    ("record", &[("index", "none"), ("rows", "30"), ("tables", "2")], [0, 1, 0], 1),
    ("record", &[("index", "afterwards"), ("records_per_commit", "3")], [0, 3, 2], 1),
    ("events", &[("rows", "30"), ("index", "column1")], [0, 1, 0], 1),
    ("events", &[("records_per_insert", "5")], [0, 1, 0], 1),
];

#[test]
fn every_workload_asks_what_it_says_and_keeps_its_conditions() {
    every_workload_keeps_its_conditions_on(&Target::parse("sqlite::memory:").expect("valid"));
}

#[test]
fn every_workload_asks_the_same_on_duckdb_and_keeps_its_conditions() {
    every_workload_keeps_its_conditions_on(&common::duckdb_in_memory());
}

fn every_workload_keeps_its_conditions_on(target: &Target) {
    for (name, written, [reads, writes, others], first) in SMALL {
        let mut bench = Bench::on(target, name, written);
        assert_eq!(bench.broken(), [], "{name} before");
        let crosscheck = bench.workload.crosscheck(bench.database.dialect());
        let count =
            |bench: &mut Bench| crosscheck.as_ref().map_or(0, |check| bench.number(&check.sql));
        let counted_before = count(&mut bench);
        for client in 0..3u32 {
            let mut user = bench.workload.client(client);
            for nth in 0..20 {
                let before = bench.sessions[0].traffic();
                let (_, done) = bench.transact(user.as_mut(), of_client(client, nth));
                assert_eq!(done, Ok(Done::Committed), "{name}");
                let moved = bench.sessions[0].traffic() - before;
                let more = if nth == 0 { *first } else { 0 };
                let n_reads = moved.reads;
                // Tables are drawn: the first access to the second table may come later.
                assert!((*reads..=reads + first).contains(&n_reads), "{name}: {n_reads}");
                assert!(n_reads >= reads + more, "{name}: {n_reads}");
                assert_eq!((moved.writes, moved.others), (*writes, *others), "{name}");
            }
        }
        assert_eq!(bench.broken(), [], "{name} after");
        if let Some(crosscheck) = &crosscheck {
            let grown = 60 * crosscheck.per_commit as i64;
            assert_eq!(count(&mut bench) - counted_before, grown, "{name}");
        }
        if *name == "oltp-bulk-insert" {
            assert_eq!(bench.measured("rows"), 7 * 60);
            assert_eq!(bench.number("SELECT MAX(id) FROM sbtest3"), 7 * 20);
        }
    }
    let tested: BTreeSet<&str> = SMALL.iter().map(|(name, ..)| *name).collect();
    let all: BTreeSet<&str> = workloads::ALL.iter().map(|entry| entry.name).collect();
    let rest: Vec<&&str> = all.difference(&tested).collect();
    assert_eq!(rest, [&"arm", &"empty", &"tpcc"], "each is tested here or has a test of its own");
}

/// Tests two clients in each of two runs: no id may be assigned twice.
#[test]
fn ids_that_clients_give_never_collide_over_runs() {
    let mut bench = Bench::new("oltp-insert", &[("auto_inc", "false"), ("table_size", "10")]);
    for _run in 0..2 {
        for client in [0, 1] {
            let mut user = bench.workload.client(client);
            for nth in 0..5 {
                let (_, done) = bench.transact(user.as_mut(), of_client(client, nth));
                assert_eq!(done, Ok(Done::Committed));
            }
        }
    }
    // These tables are not marked as built by dbdyno, so ids have to fit those of sysbench.
    assert_eq!(bench.number("SELECT COUNT(*) FROM sbtest1 WHERE id < 0"), 20);
    let last_of_first = "SELECT MAX(id) + (1 << 31) - (1 << 21) FROM sbtest1 WHERE id < 0";
    assert_eq!(bench.number(last_of_first), 9);
}

/// Tests two writers of one table in two runs, with a rejected statement: every record number must
/// be assigned exactly once.
#[test]
fn writers_number_their_records_over_runs_and_db_errors() {
    let written = [("index", "none"), ("records_per_commit", "4"), ("rows_per_statement", "3")];
    let mut bench = Bench::new("record", &written);
    for _run in 0..2 {
        for client in [0, 1] {
            let mut user = bench.workload.client(client);
            for nth in 0..5 {
                // Rejects the second INSERT of the third transaction: BEGIN and the first INSERT
                // pass.
                bench.accepts.set((nth == 2).then_some(2));
                let (_, done) = bench.transact(user.as_mut(), of_client(client, nth));
                assert_eq!(done.is_ok(), nth != 2, "{done:?}");
            }
        }
    }
    assert_eq!(bench.broken(), []);
    for client in [1i64, 2] {
        let own = format!("FROM record1 WHERE recordID >> 40 = {client}");
        assert_eq!(bench.number(&format!("SELECT COUNT(*) {own}")), 2 * 4 * 4);
        let last = bench.number(&format!("SELECT MAX(recordID) {own}"));
        assert_eq!(last, (client << 40) + 2 * 4 * 4 - 1);
    }
}

#[test]
fn each_writer_has_a_table_and_stamps_its_records_with_the_time_of_the_run() {
    let mut bench = Bench::new("record", &[("tables", "2"), ("record_size", "64")]);
    for client in 0..3 {
        let mut user = bench.workload.client(client);
        let (_, done) = bench.transact(user.as_mut(), of_client(client, 0));
        assert_eq!(done, Ok(Done::Committed));
    }
    // With two tables, client 3 shares the first one.
    assert_eq!(bench.number("SELECT COUNT(*) FROM record1"), 2);
    assert_eq!(bench.number("SELECT COUNT(*) FROM record2"), 1);
    let from = "SELECT MIN(stamped) - 1704067200000000 FROM record1";
    let first = bench.number(from);
    assert!((0..1_000_000).contains(&first), "{first}");
    assert!(bench.number("SELECT MAX(stamped) - MIN(stamped) FROM record1") > 0);
    assert_eq!(bench.number("SELECT MIN(LENGTH(payload)) FROM record2"), 44);
}

/// Tests a reader and the writer of one table, on separate sessions. Time advances each time the
/// clock is read.
#[test]
fn a_reader_ages_each_record_once_and_counts_what_its_window_lacks() {
    let writers = [("tables", "1"), ("record_size", "40")];
    let mut bench = Bench::new("events", &writers);
    let entry = workloads::by_name("events").expect("known");
    let written = [&writers[..], &[("role", "reader"), ("window", "4")]].concat();
    let settings = Settings::decide("events", entry.parameters, written).expect("valid");
    let readers = (entry.make)(&Make { settings: &settings, seed: 42, data: None, source: None })
        .expect("valid");
    let clock = Rc::new(Ticks::default());
    let place = Place { placement: Placement::Thread, clock, client: 1 };
    bench.connect(place, readers.statements(bench.database.dialect()));
    let (mut writer, mut reader) = (bench.workload.client(0), readers.client(1));
    let mut nth = 0;
    let mut write = |bench: &mut Bench, count: u32| {
        bench.sessions.swap(0, 1);
        for _ in 0..count {
            nth += 1;
            let (_, done) = bench.transact(writer.as_mut(), of_client(0, nth));
            assert_eq!(done, Ok(Done::Committed));
        }
        bench.sessions.swap(0, 1);
        bench.measured.clear();
    };
    // Number of new records, missed records and duplicates of a read; ages are in the order of
    // records.
    let mut read = |bench: &mut Bench, expect: (usize, u64, u64), accepts: Option<u32>| {
        bench.accepts.set(accepts);
        let (_, done) = bench.transact(reader.as_mut(), of_client(1, 0));
        assert_eq!(done.is_ok(), accepts.is_none(), "{done:?}");
        if done.is_err() {
            bench.measured.clear();
            return Vec::new();
        }
        let values = |name: &str| {
            let mut metrics = readers.custom_metrics().iter();
            let place = metrics.position(|metric| metric.name == name).expect("declared");
            let all = bench.measured.iter().filter(move |(index, _)| usize::from(*index) == place);
            all.map(|(_, value)| *value).collect::<Vec<u64>>()
        };
        let sum = |name: &str| values(name).iter().sum::<u64>();
        let mut ages = values("age");
        ages.sort_unstable();
        assert_eq!((ages.len(), sum("missed"), sum("duplicates")), expect);
        bench.measured.clear();
        ages
    };
    write(&mut bench, 3);
    read(&mut bench, (0, 0, 0), None);
    write(&mut bench, 2);
    let ages = read(&mut bench, (2, 0, 2), None);
    // Each transaction begins with a reading of the clock, and a read takes two more.
    assert_eq!(ages, [3_000_000, 4_000_000]);
    read(&mut bench, (0, 0, 4), None);
    write(&mut bench, 6);
    // SELECT and BEGIN pass, and the INSERT of results is rejected: they are written with the next
    // read.
    read(&mut bench, (0, 0, 0), Some(2));
    write(&mut bench, 1);
    let ages = read(&mut bench, (5, 2, 3), None);
    // Ages of the rejected transaction keep the time of its read.
    assert_eq!(ages, [3_000_000, 3_000_000, 4_000_000, 5_000_000, 6_000_000]);
    assert_eq!(bench.broken(), []);
    assert_eq!(bench.number("SELECT COUNT(*) FROM event_age1"), 7);
    assert_eq!(bench.number("SELECT SUM(missed) FROM event_read1"), 2);
    // Duplicates of the read without new records are reported with the next one that has some.
    assert_eq!(bench.number("SELECT SUM(duplicates) FROM event_read1"), 2 + 4 + 3);
    let lacked = "SELECT MIN(sequence) * 100 + MAX(sequence) FROM event1 WHERE sequence > 3 \
                  AND sequence NOT IN (SELECT sequence FROM event_age1)";
    assert_eq!(bench.number(lacked), 607);
}

/// Corrupts the data, and tests that the consistency checks report the violations.
#[test]
fn each_condition_of_counts_and_balances_is_reported() {
    let check = |name, written: &[(&str, &str)], damage: &str, expect: &[&str]| {
        let mut bench = Bench::new(name, written);
        bench.text(damage);
        let broken = bench.broken();
        let ids: Vec<&str> = broken.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, expect, "{damage}: {broken:?}");
    };
    let small = &[("table_size", "50")];
    let deleted = "DELETE FROM sbtest1 WHERE id = 3";
    check("oltp-read-only", small, deleted, &["rows"]);
    check("oltp-insert", small, deleted, &["rows"]);
    check("oltp-delete", small, deleted, &[]);
    let keyed = &[("rows", "5")];
    let without = &[("rows", "5"), ("index", "none")];
    let deleted = "DELETE FROM record1 WHERE recordID = 3";
    check("record", keyed, deleted, &["rows"]);
    check("record", without, deleted, &["numbers", "rows"]);
    check("record", keyed, "UPDATE record1 SET payload = '' WHERE recordID = 2", &["size"]);
    let events = &[("rows", "5"), ("tables", "1")];
    check("events", events, "DELETE FROM event1 WHERE recordID = 3", &["numbers"]);
    check("events", events, "UPDATE event1 SET payload = '' WHERE recordID = 2", &["size"]);
    let age = "INSERT INTO event_age1 VALUES (1, 7, 1, 3, 3, 5, 9, 4)";
    check("events", events, age, &["ages"]);
    let read = "INSERT INTO event_read1 VALUES (1, 7, 1, 0, 9, 2, 4, 1, 0)";
    check("events", events, read, &["accounting"]);
    let renumbered = "UPDATE record1 SET recordID = recordID - 5";
    check("record", keyed, renumbered, &["numbers", "rows"]);
    let doubled = "UPDATE record1 SET recordID = 4 WHERE recordID = 5";
    check("record", without, doubled, &["numbers"]);
    let small_bulk = &[("tables", "2")];
    check("oltp-bulk-insert", small_bulk, "INSERT INTO sbtest2 VALUES (2, 2)", &["rows"]);
    for (damage, expect) in [
        ("UPDATE pgbench_tellers SET tbalance = 5 WHERE tid = 3", "tellers"),
        ("UPDATE pgbench_accounts SET abalance = 5 WHERE aid = 3", "accounts"),
        ("DELETE FROM pgbench_accounts WHERE aid = 3", "rows"),
    ] {
        check("tpcb", &[], damage, &[expect]);
    }
}

/// Tests that a duplicate key is reported as a serialization error, which the engine retries, if
/// another client has inserted the row again after it was deleted.
#[test]
fn a_row_that_another_client_put_back_first_is_a_conflict() {
    let mut bench = Bench::new("oltp-write-only", &[("table_size", "1")]);
    bench.text(
        "CREATE TRIGGER again AFTER DELETE ON sbtest1 BEGIN \
         INSERT INTO sbtest1 VALUES (old.id, 1, 'c', 'pad'); END",
    );
    let mut user = bench.workload.client(0);
    let (_, done) = bench.transact(user.as_mut(), of_client(0, 0));
    assert_eq!(done.expect_err("a duplicate").kind, DbErrorKind::Serialization);
    assert_eq!(bench.broken(), [], "it was rolled back");
}
