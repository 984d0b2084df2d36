//! Measures what engine and driver cost on top of a bare rusqlite loop. One client runs `tpcc` on
//! SQLite; the loop executes the same statements with the same values on copies of the same file.
//!
//! `cargo run --release -p app --example engine_cost [TRANSACTIONS] [ROUNDS]`. A run through the
//! engine is traced once; then engine and bare loop alternate, each on a fresh copy.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use app::build::{BuildOptions, build};
use app::open::{open, resolve_workload};
use drivers::for_tests::{Interceptor, intercept};
use engine::{GroupJob, Job, Origin, Share, Stop};
use model::{
    Database, DbError, Load, NS_PER_S, Phases, Placement, Recording, Request, Retry, Session,
    StatementId, StopCondition, Target, Value,
};
use rusqlite::Connection;
use rusqlite::types::{Value as Owned, ValueRef};

/// One request that the traced run sent to SQLite.
enum Asked {
    Execute(StatementId, Vec<Owned>),
    Control(&'static str),
}

type Trace = Arc<Mutex<Vec<Asked>>>;

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|word| word.parse::<u64>().ok());
    let n_transactions = arguments.next().unwrap_or(20_000);
    compare(n_transactions, arguments.next().unwrap_or(9));
}

fn compare(n_transactions: u64, n_rounds: u64) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let built = folder.path().join("built.db");
    let target = format!("sqlite:{}", built.display());
    prepare(&target);
    let trace = Trace::default();
    let copy = copy_of(&built, folder.path());
    run_engine(&copy, n_transactions, Some(&trace));
    let trace = std::mem::take(&mut *trace.lock().expect("nobody panicked"));
    let statements = statements(&target);
    println!("{n_transactions} transactions, {} requests", trace.len());
    let (mut engine, mut bare) = (Vec::new(), Vec::new());
    for round in 0..n_rounds {
        let by_engine = |list: &mut Vec<f64>| {
            list.push(run_engine(&copy_of(&built, folder.path()), n_transactions, None));
        };
        let by_hand = |list: &mut Vec<f64>| {
            list.push(run_bare(&copy_of(&built, folder.path()), &statements, &trace));
        };
        if round % 2 == 0 {
            by_engine(&mut engine);
            by_hand(&mut bare);
        } else {
            by_hand(&mut bare);
            by_engine(&mut engine);
        }
    }
    let ratios: Vec<f64> = engine.iter().zip(&bare).map(|(e, b)| e / b).collect();
    let each = |list: &[f64]| median(list) * 1e6 / n_transactions as f64;
    println!("engine  {:8.1} us a transaction (median of {n_rounds})", each(&engine));
    println!("bare    {:8.1} us a transaction", each(&bare));
    let (least, most) = (min(&ratios), -min(&ratios.iter().map(|r| -r).collect::<Vec<_>>()));
    println!("ratio   {:8.3} (median of pairs; {least:.3} to {most:.3})", median(&ratios));
}

fn min(list: &[f64]) -> f64 {
    list.iter().copied().fold(f64::INFINITY, f64::min)
}

fn median(list: &[f64]) -> f64 {
    let mut sorted = list.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn prepare(url: &str) {
    let target = Target::parse(url).expect("our own URL");
    let database = open(&target, 1, true).expect("a new file");
    let opened = resolve_workload(&database, &target, "tpcc", &[], 1).expect("an empty file");
    build(&opened, BuildOptions { loaders: 1, ..BuildOptions::default() }, &|| false, &mut |_| {})
        .expect("a build");
    // Move the WAL into the file before it is copied.
    let connection = Connection::open(&target.path).expect("our own file");
    let truncate = "PRAGMA wal_checkpoint(TRUNCATE)";
    connection.query_row(truncate, (), |_| Ok(())).expect("nobody else has it open");
}

fn copy_of(built: &Path, folder: &Path) -> PathBuf {
    let copy = folder.join("copy.db");
    for tail in ["", "-wal", "-shm"] {
        // The file may not exist.
        let _ = fs::remove_file(format!("{}{tail}", copy.display()));
    }
    fs::copy(built, &copy).expect("space for a copy");
    copy
}

fn statements(url: &str) -> Vec<String> {
    let target = Target::parse(url).expect("our own URL");
    let database = open(&target, 1, false).expect("our own file");
    let opened = resolve_workload(&database, &target, "tpcc", &[], 1).expect("our own data");
    opened.workload.statements(database.dialect()).into_iter().map(|s| s.sql).collect()
}

/// Runs `n_transactions` with one client of the engine, and returns the seconds that they took.
/// Appends each request to `trace`, if there is one.
fn run_engine(file: &Path, n_transactions: u64, trace: Option<&Trace>) -> f64 {
    let target = Target::parse(&format!("sqlite:{}", file.display())).expect("our own URL");
    let database = open(&target, 1, false).expect("our own file");
    let opened = resolve_workload(&database, &target, "tpcc", &[], 1).expect("our own data");
    let statements = opened.workload.statements(database.dialect()).into();
    let database: Arc<dyn Database> = match trace {
        Some(trace) => {
            let trace = Arc::clone(trace);
            intercept(&database, move || Tracer(Arc::clone(&trace)))
        }
        None => database,
    };
    let group = GroupJob {
        name: "empty".to_owned(),
        workload: opened.workload,
        database,
        statements,
        first_client: 0,
        clients: 1,
        share: Some(Share::whole()),
        load: Load::Closed,
        connections: model::Connections::Kept,
        stop_condition: StopCondition::Transactions(n_transactions),
    };
    let job = Job {
        seed: 1,
        phases: Phases { ramp_up_ns: 0, measure_ns: 0, drain_ns: NS_PER_S },
        groups: vec![group],
        placement: Placement::Thread,
        retry: Retry { ignored: Vec::new(), attempts: 1, on: Vec::new(), backoff_ns: 0 },
        connect: model::Connect::default(),
        recording: Recording { histogram_max_ns: 3600 * NS_PER_S, window_seconds: 10 },
        origin: Origin::now(),
        event_loop: model::EventLoopChoice::Auto,
        pin: false,
        workers: 1,
        threads: engine::ClientThreads::default(),
        sample_hook: None,
    };
    let stop = Arc::new(Stop::default());
    let ran = engine::run(job, &stop, &mut |now_ns| now_ns, &mut |_| {}).expect("a run");
    ran.elapsed_ns as f64 / 1e9
}

/// Repeats the traced requests in a plain rusqlite loop, and returns the seconds that they took.
fn run_bare(file: &Path, statements: &[String], trace: &[Asked]) -> f64 {
    let connection = Connection::open(file).expect("our own file");
    connection.pragma_update(None, "journal_mode", "wal").expect("a writable file");
    connection.pragma_update(None, "synchronous", "normal").expect("a writable file");
    let prepare = |sql: &str| connection.prepare(sql).expect("our own statements");
    let mut prepared: Vec<_> = statements.iter().map(|sql| prepare(sql)).collect();
    let mut controls: Vec<(&str, rusqlite::Statement<'_>)> =
        ["BEGIN IMMEDIATE", "BEGIN", "COMMIT", "ROLLBACK"].map(|sql| (sql, prepare(sql))).into();
    let mut n_read = 0u64;
    #[expect(clippy::disallowed_methods, reason = "this is the comparison's own watch")]
    let began = Instant::now();
    for asked in trace {
        match asked {
            Asked::Control(sql) => {
                let found = controls.iter_mut().find(|(name, _)| name == sql);
                let (_, statement) = found.expect("all controls are prepared");
                statement.raw_execute().expect("it worked when it was traced");
            }
            Asked::Execute(id, values) => {
                let statement = &mut prepared[id.index()];
                for (index, value) in values.iter().enumerate() {
                    statement.raw_bind_parameter(index + 1, value).expect("a traced value");
                }
                let width = statement.column_count();
                let mut rows = statement.raw_query();
                while let Some(row) = rows.next().expect("it worked when it was traced") {
                    for column in 0..width {
                        let value = row.get_ref(column).expect("within the width");
                        n_read += u64::from(!matches!(value, ValueRef::Null));
                    }
                }
            }
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    assert!(n_read > 0, "the traced reads must return rows");
    seconds
}

/// Interceptor that records each request before the session executes it.
struct Tracer(Trace);

impl Interceptor for Tracer {
    fn start(&mut self, session: &mut dyn Session, request: Request<'_>) -> Result<(), DbError> {
        let asked = match request {
            Request::Execute(call) => {
                Asked::Execute(call.statement, call.values.iter().map(owned).collect())
            }
            Request::Begin => Asked::Control("BEGIN IMMEDIATE"),
            Request::BeginReadOnly | Request::BeginPlain => Asked::Control("BEGIN"),
            Request::Commit => Asked::Control("COMMIT"),
            Request::Rollback => Asked::Control("ROLLBACK"),
            _ => panic!("tpcc on SQLite asks row by row"),
        };
        self.0.lock().expect("nobody panicked").push(asked);
        session.start(request)
    }
}

fn owned(value: &Value<'_>) -> Owned {
    match value {
        Value::Null => Owned::Null,
        Value::Int(number) => Owned::Integer(*number),
        Value::Float(number) => Owned::Real(*number),
        Value::Decimal { unscaled, .. } => Owned::Integer(*unscaled),
        Value::Text(text) => Owned::Text((*text).to_owned()),
        Value::Bytes(bytes) => Owned::Blob(bytes.to_vec()),
        Value::Timestamp(us) => Owned::Integer(*us),
        Value::Date(days) => Owned::Integer(i64::from(*days)),
    }
}

#[test]
fn the_comparison_still_works() {
    compare(50, 1);
}
