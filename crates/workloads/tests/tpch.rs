//! Tests of `tpch` on SQLite and on real servers at the smallest scale factor: the answers of all
//! queries, whatever the keys, and wrong rows that are planted.
//!
//! Not here: rates and times of queries, and drawn parameters (substitution).
#![cfg(feature = "tpchgen")]

mod common;

use std::rc::Rc;
use std::sync::Arc;

use drivers::Opening;
use model::{
    Database, Place, Placement, Request, Session, Sessions, Settings, StatementKind, Target,
    TxContext, Value, Workload, query,
};
use servers::for_tests::{MARIADB, MYSQL_9_7, POSTGRES, POSTGRES_18, TestServer};
use workloads::Make;

use common::{Ticks, block_on, of_client};

/// A database with the rows of the smallest scale factor.
struct Site {
    database: Arc<dyn Database>,
    session: Box<dyn Session>,
    workload: Arc<dyn Workload>,
}

/// Returns `tpch` at the smallest scale factor over data that dbdyno has built.
fn workload(keys: &str, test: &str) -> Arc<dyn Workload> {
    let entry = workloads::by_name("tpch").expect("known");
    let written = [("scale", "0.01"), ("keys", keys), ("test", test)];
    let settings = Settings::decide("tpch", entry.parameters, written).expect("valid");
    let make = |data| {
        let make = Make { settings: &settings, seed: 42, data, source: None };
        (entry.make)(&make).expect("valid")
    };
    make(Some(&make(None).identity()))
}

impl Site {
    fn build(target: &Target, keys: &str) -> Site {
        let workload = workload(keys, "queries");
        let database = drivers::open(target, Opening { create: true, seed: 42 }).expect("opens");
        let clock = Rc::new(Ticks::default());
        let place = Place { placement: Placement::Thread, clock, client: 0 };
        let statements = workload.statements(database.dialect());
        let connecting = database.connect(place, statements.into());
        let session = block_on(connecting).expect("connects");
        let mut site = Site { database, session, workload };
        site.load();
        site
    }

    fn load(&mut self) {
        let (workload, database) = (Arc::clone(&self.workload), Arc::clone(&self.database));
        let population = workload.population().expect("it has data");
        let dialect = database.dialect();
        for (index, table) in population.tables().iter().enumerate() {
            self.write(&dialect.create_table(table));
            self.ask(Request::Begin);
            for chunk in 0..population.n_chunks(index) {
                let mut rows = population.rows(index, chunk);
                let loaded = model::load(self.session.as_mut(), table, rows.as_mut());
                assert!(block_on(loaded).expect("loads").n_affected > 0);
            }
            self.ask(Request::Commit);
            for index in &table.indexes {
                self.write(&dialect.create_index(table, index));
            }
            for sql in (database.administration().after_load)(table) {
                self.write(&sql);
            }
        }
    }

    fn ask(&mut self, request: Request<'_>) {
        let asked = block_on(query(self.session.as_mut(), request, &mut |_| Ok(())));
        asked.unwrap_or_else(|no| panic!("{request:?}: {no}"));
    }

    fn write(&mut self, sql: &str) {
        self.ask(Request::Text { kind: StatementKind::Write, sql });
    }

    /// Returns the queries whose results differ from the known answers, with the differences.
    fn wrong(&mut self) -> Vec<(&'static str, String)> {
        let answers = self.workload.answers(self.database.dialect());
        assert_eq!(answers.len(), 22);
        let mut wrong = Vec::new();
        for mut answer in answers {
            let request = Request::Text { kind: StatementKind::Read, sql: &answer.sql };
            let mut take = |row: &dyn model::Row| answer.judge.take(row);
            let asked = block_on(query(self.session.as_mut(), request, &mut take));
            asked.unwrap_or_else(|no| panic!("{}: {no}", answer.id));
            let differences = answer.judge.differences();
            if !differences.is_empty() {
                wrong.push((answer.id, differences.join("; ")));
            }
        }
        wrong
    }

    /// Returns the violations of consistency checks, as id and first column.
    fn broken(&mut self) -> Vec<String> {
        let mut broken = Vec::new();
        for check in self.workload.checks(self.database.dialect()) {
            let request = Request::Text { kind: StatementKind::Read, sql: &check.sql };
            let mut visit = |row: &dyn model::Row| {
                broken.push(format!("{} {:?}", check.id, row.value(0)));
                Ok(())
            };
            block_on(query(self.session.as_mut(), request, &mut visit)).expect("accepted");
        }
        broken
    }

    /// Connects again, as a client of a test with refresh functions.
    fn connect(&mut self, test: &str) {
        self.workload = workload("foreign-keys", test);
        let clock = Rc::new(Ticks::default());
        let place = Place { placement: Placement::Thread, clock, client: 0 };
        let statements = self.workload.statements(self.database.dialect());
        let connecting = self.database.connect(place, statements.into());
        self.session = block_on(connecting).expect("connects");
    }

    /// Lets a new client begin and execute the first `n` transactions of its sequence, or all.
    fn execute(&mut self, n: usize) {
        let workload = Arc::clone(&self.workload);
        let placeholder = block_on(self.database.connect(
            Place { placement: Placement::Thread, clock: Rc::new(Ticks::default()), client: 0 },
            Vec::new().into(),
        ));
        let session = std::mem::replace(&mut self.session, placeholder.expect("connects"));
        let mut sessions = Sessions::single(session);
        let mut client = workload.client(0);
        let length = workload.sequence().expect("a sequence")[0];
        let dialect = self.database.dialect();
        let clock = Ticks::default();
        let mut measured = Vec::new();
        let mut context = TxContext {
            sessions: &mut sessions,
            clock: &clock,
            dialect,
            intended_ns: 0,
            measured: &mut measured,
        };
        if let Some(beginning) = client.begin(&mut context) {
            block_on(beginning).expect("begins");
        }
        for nth in (0..length).take(n) {
            let kind = client.inputs(of_client(0, nth));
            let done = block_on(client.converse(&mut context));
            done.unwrap_or_else(|no| panic!("transaction {nth} of type {kind}: {no}"));
        }
    }

    /// Returns the whole numbers in the only row that a query returns.
    fn numbers<const N: usize>(&mut self, sql: &str) -> [i64; N] {
        let mut numbers = [0; N];
        let request = Request::Text { kind: StatementKind::Read, sql };
        let mut visit = |row: &dyn model::Row| {
            for (column, number) in numbers.iter_mut().enumerate() {
                *number = match row.value(column) {
                    Value::Decimal { unscaled, scale: 0 } => unscaled,
                    _ => row.int(column)?,
                };
            }
            Ok(())
        };
        let asked = block_on(query(self.session.as_mut(), request, &mut visit));
        asked.unwrap_or_else(|no| panic!("{sql}: {no}"));
        numbers
    }

    /// Returns sums over the rows of ORDERS and LINEITEM, and the refresh sets that were used.
    fn state(&mut self) -> ([i64; 3], [i64; 4], [i64; 2]) {
        let orders = self.numbers("SELECT COUNT(*), SUM(o_orderkey), SUM(o_custkey) FROM orders");
        let lines = self.numbers(
            "SELECT COUNT(*), SUM(l_orderkey), SUM(l_partkey), SUM(l_linenumber) FROM lineitem",
        );
        (orders, lines, self.numbers("SELECT inserted, deleted FROM tpch_refresh"))
    }
}

fn in_memory() -> Target {
    Target::parse("sqlite::memory:").expect("valid")
}

#[test]
fn answers_are_the_same_whatever_the_keys() {
    for keys in ["keys", "foreign-keys"] {
        let mut site = Site::build(&in_memory(), keys);
        assert_eq!(site.broken(), [""; 0], "{keys}");
        assert_eq!(site.wrong(), [], "{keys}");
    }
}

#[test]
fn answers_are_right_on_duckdb_whatever_the_keys() {
    for keys in ["none", "keys", "foreign-keys"] {
        let mut site = Site::build(&common::duckdb_in_memory(), keys);
        assert_eq!(site.broken(), [""; 0], "{keys}");
        assert_eq!(site.wrong(), [], "{keys}");
        refresh_functions_change_what_they_should(&mut site);
    }
}

/// Wrong rows, each with the queries whose answers it changes.
const DAMAGES: [(&str, &[&str]); 11] = [
    (
        "UPDATE lineitem SET l_extendedprice = l_extendedprice + 1 WHERE l_orderkey = 1",
        &["q1", "q9"],
    ),
    (
        "UPDATE lineitem SET l_extendedprice = l_extendedprice + 1",
        &["q1", "q3", "q5", "q6", "q7", "q9", "q10", "q15", "q19"],
    ),
    ("UPDATE supplier SET s_acctbal = s_acctbal + 1", &["q2"]),
    ("UPDATE partsupp SET ps_supplycost = ps_supplycost + 1", &["q9", "q11"]),
    ("UPDATE orders SET o_totalprice = o_totalprice + 1", &["q18"]),
    ("UPDATE customer SET c_acctbal = c_acctbal + 1", &["q10", "q22"]),
    ("DELETE FROM orders WHERE o_orderkey % 100 = 1", &["q4", "q5", "q9", "q12", "q13"]),
    ("DELETE FROM supplier WHERE s_suppkey = 33", &["q7", "q9", "q11"]),
    ("DELETE FROM part WHERE p_type LIKE 'PROMO%'", &["q9", "q14", "q16"]),
    ("UPDATE lineitem SET l_receiptdate = l_commitdate", &["q4", "q12", "q21"]),
    ("UPDATE partsupp SET ps_availqty = 0", &["q11", "q20"]),
];

#[test]
fn wrong_rows_are_found_by_the_queries_that_read_them() {
    let mut site = Site::build(&in_memory(), "foreign-keys");
    for (damage, expect) in DAMAGES {
        site.ask(Request::Begin);
        site.write(damage);
        let wrong: Vec<&str> = site.wrong().into_iter().map(|(id, _)| id).collect();
        site.ask(Request::Rollback);
        assert_eq!(wrong, expect, "{damage}");
    }
    assert_eq!(site.wrong(), []);
}

/// Checks all answers on a server, and executes the query stream there.
fn answers_are_right_on(server: &TestServer) {
    let server = server.start();
    let mut site = Site::build(&server.target(), "foreign-keys");
    assert_eq!(site.broken(), [""; 0]);
    assert_eq!(site.wrong(), []);
    refresh_functions_change_what_they_should(&mut site);
}

/// Sums over ORDERS and LINEITEM before a refresh function, after RF1 of the first set, and after
/// its RF2. Those of SQLite.
const BEFORE: ([i64; 3], [i64; 4]) =
    ([15_000, 449_872_500, 11_331_746], [60_175, 1_802_759_573, 60_337_552, 180_782]);

/// Executes RF1, the queries and RF2, with an interruption after the first RF1.
fn refresh_functions_change_what_they_should(site: &mut Site) {
    let (orders, lines, sets) = site.state();
    assert_eq!((orders, lines, sets), (BEFORE.0, BEFORE.1, [0, 0]));
    // The set has 15 orders, whose keys are by 8 larger than those of the first 15.
    let first = "SELECT COUNT(*), SUM(o_orderkey) FROM orders WHERE o_orderkey < 40";
    let [n_orders, sum] = site.numbers(first);
    assert_eq!(n_orders, 15);
    site.connect("power");
    site.execute(1);
    let (orders, lines, sets) = site.state();
    assert_eq!(orders[..2], [BEFORE.0[0] + 15, BEFORE.0[1] + sum + 15 * 8]);
    assert_eq!(sets, [1, 0]);
    assert!((15..=105).contains(&(lines[0] - BEFORE.1[0])), "{lines:?}");
    let broken = site.broken();
    assert!(broken.len() == 1 && broken[0].starts_with("refresh"), "{broken:?}");
    // The next client deletes the set that was left, and then executes all of its sequence.
    site.connect("power");
    site.execute(usize::MAX);
    let (orders, lines, sets) = site.state();
    assert_eq!((orders, lines, sets), (AFTER.0, AFTER.1, [2, 2]));
    assert_eq!(site.broken(), [""; 0]);
}

/// Sums over ORDERS and LINEITEM after two sets, each of 15 orders whose keys are by 8 larger than
/// those of the deleted ones. The others are those of SQLite.
const AFTER: ([i64; 3], [i64; 4]) =
    ([15_000, 449_872_740, 11_331_774], [60_176, 1_802_760_298, 60_358_816, 180_784]);

#[test]
fn refresh_functions_change_what_they_should_on_sqlite() {
    refresh_functions_change_what_they_should(&mut Site::build(&in_memory(), "foreign-keys"));
}

#[test]
fn answers_are_right_on_mariadb() {
    answers_are_right_on(&MARIADB);
}

#[test]
fn answers_are_right_on_mysql_9_7() {
    answers_are_right_on(&MYSQL_9_7);
}

#[test]
fn answers_are_right_on_postgres() {
    answers_are_right_on(&POSTGRES);
}

#[test]
fn answers_are_right_on_postgres_18() {
    answers_are_right_on(&POSTGRES_18);
}
