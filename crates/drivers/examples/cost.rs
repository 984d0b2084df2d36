//! Measures the cost of the SQLite driver: the same statements through a session and in a bare
//! rusqlite loop.
//!
//! Run it with `cargo run --release -p drivers --example cost -- /tmp/cost.db`. Rounds of both are
//! interleaved, and their fast rounds are compared.

mod shared;

use std::hint::black_box;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use drivers::Opening;
use model::{
    Call, Place, Placement, Request, Row, Session, Statement, StatementId, StatementKind, Target,
    Value, query,
};
use rusqlite::{Connection, params};

use shared::{StillClock, block_on};

const N_ROWS: i64 = 100_000;
const SELECT: &str = "SELECT v, filler FROM cost WHERE id = ?";
const UPDATE: &str = "UPDATE cost SET v = v + ? WHERE id = ?";

#[expect(clippy::disallowed_methods, reason = "this measures a real machine")]
fn time_ns(n: i64, mut f: impl FnMut(i64)) -> f64 {
    let begun = Instant::now();
    for index in 0..n {
        // Spread over the table, so that pages are looked up.
        f(index * 7919 % N_ROWS);
    }
    begun.elapsed().as_nanos() as f64 / n as f64
}

fn ask(session: &mut dyn Session, request: Request<'_>) {
    block_on(query(session, request, &mut |_| Ok(()))).expect("it answers");
}

fn select(session: &mut dyn Session, id: i64) {
    let call = Call { statement: StatementId(0), values: &[Value::Int(id)] };
    let mut v = 0;
    let visit = &mut |row: &dyn Row| {
        v = row.int(0)?;
        black_box(row.text(1)?);
        Ok(())
    };
    block_on(query(session, Request::Execute(call), visit)).expect("it reads");
    black_box(v);
}

fn update(session: &mut dyn Session, id: i64) {
    let values = [Value::Int(1), Value::Int(id)];
    ask(session, Request::Execute(Call { statement: StatementId(1), values: &values }));
}

struct Bare<'c> {
    select: rusqlite::Statement<'c>,
    update: rusqlite::Statement<'c>,
    begin: rusqlite::Statement<'c>,
    commit: rusqlite::Statement<'c>,
}

impl Bare<'_> {
    fn select(&mut self, id: i64) {
        let mut rows = self.select.query([id]).expect("it reads");
        while let Some(row) = rows.next().expect("it reads") {
            black_box(row.get_ref_unwrap(0).as_i64().expect("a number"));
            black_box(row.get_ref_unwrap(1).as_str().expect("text"));
        }
    }

    fn update(&mut self, id: i64) {
        black_box(self.update.execute(params![1, id]).expect("it writes"));
    }
}

fn connect(target: &str) -> Box<dyn Session> {
    let target = Target::parse(target).expect("a valid URL");
    let opening = Opening { create: true, seed: 1 };
    let database = drivers::open(&target, opening).expect("it opens");
    let placement = Placement::Thread;
    let place = Place { placement, clock: Rc::new(StillClock(placement)), client: 0 };
    let statement = |kind, sql: &str| Statement::new("cost", kind, sql.to_owned());
    let statements: Arc<[Statement]> =
        Arc::new([statement(StatementKind::Read, SELECT), statement(StatementKind::Write, UPDATE)]);
    let session = block_on(database.connect(place, statements)).expect("it connects");
    std::mem::forget(database);
    session
}

fn build(session: &mut dyn Session) {
    let text = |sql| Request::Text { kind: StatementKind::Other, sql };
    ask(session, text("DROP TABLE IF EXISTS cost"));
    ask(session, text("CREATE TABLE cost (id INTEGER PRIMARY KEY, v INTEGER, filler CHAR(100))"));
    let sql = format!(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {})
         INSERT INTO cost SELECT i, 0, printf('%0100d', i) FROM n",
        N_ROWS - 1
    );
    ask(session, text(&sql));
}

/// Returns the first decile of the times, which is used instead of the mean because other programs
/// on the machine can only lengthen a round.
fn fast(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 10]
}

/// Runs rounds of the bare rusqlite loop and of a dbdyno session in turn, and prints the first
/// decile of the times of each.
fn compare(
    n_rounds: usize,
    name: &str,
    mut bare: impl FnMut() -> f64,
    mut ours: impl FnMut() -> f64,
) {
    let (mut theirs_ns, mut ours_ns) = (Vec::new(), Vec::new());
    for round in 0..n_rounds {
        if round % 2 == 0 {
            theirs_ns.push(bare());
            ours_ns.push(ours());
        } else {
            ours_ns.push(ours());
            theirs_ns.push(bare());
        }
    }
    let (bare, ours) = (fast(&mut theirs_ns), fast(&mut ours_ns));
    let more = (ours / bare - 1.0) * 100.0;
    println!("{name:40} bare {bare:8.0} ns   driver {ours:8.0} ns   {more:+6.1} %");
}

fn main() {
    let path = std::env::args().nth(1).unwrap_or_else(|| "/tmp/dbdyno-cost.db".to_owned());
    run(&path, 201);
}

#[test]
fn the_example_runs() {
    let folder = tempfile::tempdir().expect("a folder for a test");
    run(folder.path().join("cost.db").to_str().expect("UTF-8"), 2);
}

fn run(path: &str, n_rounds: usize) {
    let mut session = connect(&format!("sqlite:{path}?cache_size=64MiB"));
    build(&mut *session);
    let connection = Connection::open(path).expect("it opens");
    let pragmas = "PRAGMA synchronous=normal; PRAGMA cache_size=-65536";
    connection.execute_batch(pragmas).expect("it sets");
    let prepare = |sql| connection.prepare(sql).expect("it prepares");
    let mut bare = Bare {
        select: prepare(SELECT),
        update: prepare(UPDATE),
        begin: prepare("BEGIN IMMEDIATE"),
        commit: prepare("COMMIT"),
    };
    let n = 1_000;
    let (b, s) = (&mut bare, &mut session);
    compare(
        n_rounds,
        "point select, on its own",
        || time_ns(n, |id| b.select(id)),
        || time_ns(n, |id| select(&mut **s, id)),
    );
    compare(
        n_rounds,
        "point select, in a transaction",
        || {
            b.begin.execute([]).expect("begun");
            let ns = time_ns(n, |id| b.select(id));
            b.commit.execute([]).expect("committed");
            ns
        },
        || {
            ask(&mut **s, Request::Begin);
            let ns = time_ns(n, |id| select(&mut **s, id));
            ask(&mut **s, Request::Commit);
            ns
        },
    );
    compare(
        n_rounds,
        "update, on its own",
        || time_ns(n / 10, |id| b.update(id)),
        || time_ns(n / 10, |id| update(&mut **s, id)),
    );
    compare(
        n_rounds,
        "update, in a transaction of 100",
        || time_ns(n / 200, |id| transaction(id, b)),
        || {
            time_ns(n / 200, |id| {
                ask(&mut **s, Request::Begin);
                (0..100).for_each(|k| update(&mut **s, (id + k) % N_ROWS));
                ask(&mut **s, Request::Commit);
            })
        },
    );
    simulated(n_rounds);
}

fn transaction(id: i64, bare: &mut Bare<'_>) {
    bare.begin.execute([]).expect("begun");
    (0..100).for_each(|k| bare.update((id + k) % N_ROWS));
    bare.commit.execute([]).expect("committed");
}

fn simulated(n_rounds: usize) {
    for url in ["sim:?servers=0", "sim:?servers=1", "sim:?rows=1", "sim:?service=exponential:2ns"] {
        let mut session = connect(url);
        let mut rounds: Vec<f64> =
            (0..n_rounds).map(|_| time_ns(1_000, |id| update(&mut *session, id))).collect();
        println!("{url:40} {:29} driver {:8.1} ns", "", fast(&mut rounds));
    }
}
