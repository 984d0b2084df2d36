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
    TxContext, Workload, query,
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

impl Site {
    fn build(target: &Target, keys: &str) -> Site {
        let entry = workloads::by_name("tpch").expect("known");
        let written = [("scale", "0.01"), ("keys", keys), ("test", "queries")];
        let settings = Settings::decide("tpch", entry.parameters, written).expect("valid");
        let make = Make { settings: &settings, seed: 42, data: None, source: None };
        let workload = (entry.make)(&make).expect("valid");
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

    /// Executes the query stream of a power run with drawn parameters.
    fn run_stream(self) {
        let mut sessions = Sessions::single(self.session);
        let mut client = self.workload.client(0);
        for nth in 0..22 {
            let kind = client.inputs(of_client(0, nth));
            let mut measured = Vec::new();
            let mut context = TxContext {
                sessions: &mut sessions,
                clock: &Ticks::default(),
                dialect: self.database.dialect(),
                intended_ns: 0,
                measured: &mut measured,
            };
            let done = block_on(client.converse(&mut context));
            done.unwrap_or_else(|no| panic!("q{}: {no}", kind + 1));
        }
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
    site.run_stream();
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
