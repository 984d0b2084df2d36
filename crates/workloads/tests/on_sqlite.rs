//! The workloads on a real database: SQLite in memory, through the driver that everybody uses.
//!
//! Not here: the pure laws of inputs and rows, which stand beside their code.

mod common;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use drivers::Opening;
use model::{
    Cancel, Check, Client, Database, Dice, Done, Number, Place, Placement, Refusal, RefusalKind,
    Reply, Request, RowSource, Session, Settings, Statement, StatementId, StatementKind, Stream,
    Table, Target, Traffic, Value, Visit, Workload, World, query,
};
use workloads::Make;

use common::{Ticks, block_on, of_client};

/// A session that refuses one request as a deadlock, and is otherwise the one within.
struct Refusing {
    within: Box<dyn Session>,
    /// How many requests are still accepted; none refused where absent.
    accepts: Rc<Cell<Option<u32>>>,
}

impl Session for Refusing {
    fn start(&mut self, request: Request<'_>) -> Result<(), Refusal> {
        match self.accepts.get() {
            Some(0) => {
                self.accepts.set(None);
                return Err(Refusal::new(RefusalKind::Deadlock, "refused on request"));
            }
            accepts => self.accepts.set(accepts.map(|n| n - 1)),
        }
        self.within.start(request)
    }

    fn poll_reply(
        &mut self,
        context: &mut Context<'_>,
        visit: Visit<'_>,
    ) -> Poll<Result<Reply, Refusal>> {
        self.within.poll_reply(context, visit)
    }

    fn poll_load(
        &mut self,
        context: &mut Context<'_>,
        table: &Table,
        source: &mut dyn RowSource,
    ) -> Poll<Result<Reply, Refusal>> {
        self.within.poll_load(context, table, source)
    }

    fn prepare(&mut self, statement: Statement) -> Result<StatementId, Refusal> {
        self.within.prepare(statement)
    }

    fn poll_reconnect(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Refusal>> {
        self.within.poll_reconnect(context)
    }

    fn traffic(&self) -> Traffic {
        self.within.traffic()
    }

    fn canceller(&self) -> Arc<dyn Cancel> {
        self.within.canceller()
    }
}

/// A workload and a database in memory.
struct Bench {
    database: Arc<dyn Database>,
    workload: Arc<dyn Workload>,
    sessions: Vec<Box<dyn Session>>,
    accepts: Rc<Cell<Option<u32>>>,
    clock: Ticks,
    measured: Vec<(u16, u64)>,
}

impl Bench {
    fn new(name: &str, written: &[(&str, &str)]) -> Bench {
        let entry = workloads::by_name(name).expect("known");
        let settings =
            Settings::decide(name, entry.parameters, written.iter().copied()).expect("valid");
        let make = Make { settings: &settings, seed: 42, data: None };
        let workload = (entry.make)(&make).expect("valid");
        let target = Target::parse("sqlite::memory:").expect("valid");
        let opening = Opening { create: true, seed: 42 };
        let database = drivers::open(&target, opening).expect("opens");
        let clock = Rc::new(Ticks::default());
        let place = Place { placement: Placement::Thread, clock, client: 0 };
        let mut bench = Bench {
            database,
            workload,
            sessions: Vec::new(),
            accepts: Rc::default(),
            clock: Ticks::default(),
            measured: Vec::new(),
        };
        bench.create(place.clone());
        let statements = bench.workload.statements(bench.database.dialect());
        bench.connect(place, statements);
        bench
    }

    fn connect(&mut self, place: Place, statements: Vec<Statement>) {
        let within = block_on(self.database.connect(place, statements.into())).expect("connects");
        let accepts = Rc::clone(&self.accepts);
        self.sessions.insert(0, Box::new(Refusing { within, accepts }));
    }

    /// Makes and fills the tables. The session that does it stays, so that the memory does.
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
                let loaded = model::load(self.sessions[0].as_mut(), table, rows.as_mut());
                assert!(block_on(loaded).expect("loads").n_affected > 0);
                self.ask(Request::Commit);
            }
            for index in &table.indexes {
                self.text(&dialect.create_index(table, index));
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
        block_on(query(self.sessions[0].as_mut(), request, &mut visit)).expect("accepted");
        rows
    }

    fn text(&mut self, sql: &str) -> Vec<Vec<String>> {
        self.ask(Request::Text { kind: StatementKind::Other, sql })
    }

    /// The only number that a query returns.
    fn number(&mut self, sql: &str) -> i64 {
        let rows = self.text(&format!("SELECT CAST(({sql}) AS TEXT)"));
        rows[0][0].parse().expect("a number")
    }

    fn checks(&self) -> Vec<Check> {
        self.workload.checks(self.database.dialect())
    }

    /// The rows that break a condition: its short name, and their first three columns.
    fn broken(&mut self) -> Vec<(&'static str, String)> {
        let mut broken = Vec::new();
        for check in self.checks() {
            for row in self.text(&check.sql) {
                broken.push((check.id, row[..row.len().min(3)].join(" ")));
            }
        }
        broken
    }

    /// One transaction; its kind and how it ended.
    fn transact(
        &mut self,
        client: &mut dyn Client,
        number: Number,
    ) -> (u16, Result<Done, Refusal>) {
        let kind = client.inputs(number);
        assert_eq!(kind, self.workload.kind_of(number));
        (kind, self.again(client))
    }

    /// Another attempt.
    fn again(&mut self, client: &mut dyn Client) -> Result<Done, Refusal> {
        let mut world = World {
            sessions: &mut self.sessions,
            clock: &self.clock,
            dice: Dice::new(1, Stream::Sim, 0),
            measured: &mut self.measured,
        };
        block_on(client.converse(&mut world))
    }

    fn measured(&self, measure: &str) -> i64 {
        let place = self.workload.measures().iter().position(|of| of.name == measure);
        let place = place.expect("declared") as u16;
        self.measured.iter().filter(|(of, _)| *of == place).map(|(_, value)| *value as i64).sum()
    }
}

#[test]
fn all_twelve_conditions_hold_before_and_after_a_mixed_run() {
    let parameters = [
        ("warehouses", "2"),
        ("weights", "1/1/1/1/1"),
        ("rollback_percent", "10"),
        ("remote_line_percent", "20"),
    ];
    let mut bench = Bench::new("tpcc", &parameters);
    assert_eq!(bench.checks().len(), 12);
    assert_eq!(bench.broken(), []);
    let (crosscheck, counted) =
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
            }
        }
    }
    assert_eq!(committed.iter().sum::<i64>() + rolled_back[0], 300);
    assert!(rolled_back[0] > 0 && rolled_back[1..] == [0; 4], "{rolled_back:?}");
    assert_eq!(bench.broken(), []);
    assert_eq!(bench.number(&crosscheck) - orders_before, committed[counted as usize]);
    every_update_is_there(&mut bench, committed);
}

/// Every counter that the specification lets grow has grown by what was committed.
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

/// Damage, and every row that must be named for it.
const DAMAGES: [(&str, &[(&str, &str)]); 15] = [
    (
        "UPDATE warehouse SET w_ytd = w_ytd + 1",
        &[("3.3.2.1", "w_id=1 w_ytd=30000001"), ("3.3.2.8", "w_id=1 w_ytd=30000001")],
    ),
    (
        "UPDATE district SET d_ytd = d_ytd + 1 WHERE d_id = 3",
        &[("3.3.2.1", "w_id=1 "), ("3.3.2.9", "d_w_id=1 d_id=3 ")],
    ),
    (
        "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 3",
        &[("3.3.2.2", "d_w_id=1 d_id=3 d_next_o_id=3002")],
    ),
    (
        "DELETE FROM new_order WHERE no_d_id = 4 AND no_o_id = 2500",
        &[
            ("3.3.2.3", "no_w_id=1 no_d_id=4 "),
            ("3.3.2.5", "o_w_id=1 o_d_id=4 o_id=2500"),
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
        "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (2100, 6, 1)",
        &[("3.3.2.5", "o_w_id=1 o_d_id=6 o_id=2100"), ("3.3.2.11", "d_w_id=1 d_id=6 ")],
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
];

#[test]
fn each_condition_names_exactly_the_damaged_rows() {
    let mut bench = Bench::new("tpcc", &[]);
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
    assert_eq!(seen.len(), 12, "every condition has been broken");
    assert_eq!(bench.broken(), []);
    refused_transactions_leave_nothing(&mut bench);
    skipped_districts_are_counted(&mut bench);
}

/// Refuses each request of each kind in turn: nothing may be left behind, nothing be measured,
/// and the next attempt must be whole.
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
            let Err(refusal) = done else {
                bench.accepts.set(None);
                break;
            };
            n_refused += 1;
            assert_eq!(refusal.kind, RefusalKind::Deadlock);
            assert_eq!(bench.number(state), before, "kind {kind} after {accepted} requests");
            assert_eq!(bench.measured, []);
        }
        bench.measured.clear();
    }
    assert!(n_refused > 100, "{n_refused}");
    assert_eq!(bench.broken(), []);
    assert_eq!(bench.number("SELECT SUM(d_next_o_id) FROM district"), 30_011);
}

/// A delivery goes on where a district has nothing to deliver (clause 2.7.4.2).
fn skipped_districts_are_counted(bench: &mut Bench) {
    bench.text("DELETE FROM new_order WHERE no_d_id IN (2, 9)");
    let mut user = bench.workload.client(0);
    let is_delivery = |nth: &u64| bench.workload.kind_of(of_client(0, *nth)) == 3;
    let nth = (0..).find(is_delivery).expect("it has a card");
    let (_, done) = bench.transact(user.as_mut(), of_client(0, nth));
    assert_eq!(done, Ok(Done::Committed));
    assert_eq!(bench.measured("deliveries_skipped"), 2);
    assert_eq!(bench.measured("orders_delivered"), 8);
}

#[test]
fn the_empty_workload_asks_as_often_as_it_is_told() {
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
