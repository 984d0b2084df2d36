//! Measures the client's cost of a point select: queries per second, and client CPU time per query.
//!
//!     cargo run --release -p drivers --example point -- URL [CLIENTS] [SECONDS] [PLACEMENT]
//!
//! Clients are threads (`thread`), or run on two event loops (`epoll` or `io_uring`), as the engine
//! places them. The table has 100,000 rows, and is created if it does not exist. `strace -c -f`
//! shows that a query takes two system calls, and less than one with io_uring. Not here:
//! percentiles, loads, anything that the engine does.

mod shared;

use std::env;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use drivers::Opening;
use event_loop::{Backend, EventLoop};
use model::{
    Call, Column, ColumnType, Database, DbError, Place, Placement, Request, Rng, RowSource,
    Session, Statement, StatementId, StatementKind, Stream, Table, Target, Value,
};

use shared::{StillClock, block_on};

const N_ROWS: i64 = 100_000;
/// Number of event loops, as many as `pgbench -j 2` has threads.
const N_LOOPS: u64 = 2;
const NAME: &str = "dbdyno_point";

struct Rows(i64);

impl RowSource for Rows {
    fn next(&mut self, emit: &mut dyn FnMut(&[Value<'_>])) -> bool {
        self.0 += 1;
        if self.0 > N_ROWS {
            return false;
        }
        emit(&[Value::Int(self.0), Value::Text("a text of about thirty letters")]);
        true
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some(url) = arguments.first() else {
        eprintln!("say which server: point URL [CLIENTS] [SECONDS]");
        return ExitCode::SUCCESS;
    };
    let number = |index: usize, usual: u64| {
        arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    let backend = match arguments.get(3).map(String::as_str) {
        Some("epoll") => Some(Backend::Epoll),
        Some("io_uring") => Some(Backend::IoUring),
        _ => None,
    };
    match measure(url, number(1, 8), Duration::from_secs(number(2, 3)), backend) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn measure(
    url: &str,
    n_clients: u64,
    time: Duration,
    backend: Option<Backend>,
) -> Result<String, String> {
    let target = Target::parse(url).map_err(|bad| bad.to_string())?;
    let opening = Opening { create: true, seed: 1 };
    let database = drivers::open(&target, opening).map_err(|no| no.to_string())?;
    make_table(&database).map_err(|no| no.to_string())?;
    let stop = Arc::new(AtomicBool::new(false));
    let began = instant();
    let before_ns = cpu_ns();
    let n_queries: u64 = thread::scope(|scope| {
        let (database, stop) = (&database, &stop);
        let clients: Vec<_> = match backend {
            Some(backend) => (0..N_LOOPS)
                .map(|number| {
                    scope.spawn(move || serve_many(database, backend, number, n_clients, stop))
                })
                .collect(),
            None => (0..n_clients as u32)
                .map(|client| scope.spawn(move || serve_one(database, client, stop)))
                .collect(),
        };
        // The main thread has nothing else to do.
        thread::park_timeout(time);
        stop.store(true, Ordering::SeqCst);
        let counted: Result<Vec<u64>, DbError> =
            clients.into_iter().map(|client| client.join().expect("no panic")).collect();
        counted.map(|counted| counted.iter().sum())
    })
    .map_err(|no| no.to_string())?;
    let (wall, cpu_ns) = (began.elapsed(), cpu_ns() - before_ns);
    let per_s = n_queries as f64 / wall.as_secs_f64();
    let us = cpu_ns as f64 / 1_000.0 / n_queries as f64;
    Ok(format!("{n_clients} clients: {n_queries} queries, {per_s:.0}/s, {us:.2} us of CPU each"))
}

fn make_table(database: &Arc<dyn Database>) -> Result<(), DbError> {
    let column = |name, column_type| Column { name, of: column_type, nullable: false };
    let table = Table {
        name: NAME.into(),
        columns: vec![column("id", ColumnType::Int), column("c", ColumnType::Char(120))],
        primary_key: vec!["id"],
        indexes: Vec::new(),
    };
    let mut session = block_on(connect(database, Placement::Thread, 0, Arc::from([])))?;
    let count = format!("SELECT count(*) FROM {NAME}");
    let mut n_rows = 0;
    let counted = ask(session.as_mut(), &count, &mut |row| {
        n_rows = row.int(0)?;
        Ok(())
    });
    if counted.is_ok() && n_rows == N_ROWS {
        return Ok(());
    }
    ask(session.as_mut(), &format!("DROP TABLE IF EXISTS {NAME}"), &mut |_| Ok(()))?;
    ask(session.as_mut(), &database.dialect().create_table(&table), &mut |_| Ok(()))?;
    block_on(model::load(session.as_mut(), &table, &mut Rows(0)))?;
    Ok(())
}

/// Runs a client that blocks this thread while it waits for the server. Returns its number of
/// queries.
fn serve_one(
    database: &Arc<dyn Database>,
    client: u32,
    stop: &Arc<AtomicBool>,
) -> Result<u64, DbError> {
    block_on(serve(Arc::clone(database), Placement::Thread, client, Arc::clone(stop)))
}

/// Runs every second client, from `number` on, on an event loop of this thread. Returns their
/// number of queries.
fn serve_many(
    database: &Arc<dyn Database>,
    backend: Backend,
    number: u64,
    n_clients: u64,
    stop: &Arc<AtomicBool>,
) -> Result<u64, DbError> {
    let event_loop = EventLoop::new(backend).expect("a loop");
    let serve = |client| {
        let (database, stop) = (Arc::clone(database), Arc::clone(stop));
        event_loop.spawn(serve(database, Placement::Loop, client as u32, stop))
    };
    let clients: Vec<_> = (number..n_clients).step_by(N_LOOPS as usize).map(serve).collect();
    event_loop.block_on(async {
        let mut n_queries = 0;
        for client in clients {
            n_queries += client.await.expect("no panic")?;
        }
        Ok(n_queries)
    })
}

async fn serve(
    database: Arc<dyn Database>,
    placement: Placement,
    client: u32,
    stop: Arc<AtomicBool>,
) -> Result<u64, DbError> {
    let sql = database.dialect().sql(&format!("SELECT c FROM {NAME} WHERE id = ?"));
    let statement = Statement::new("point", StatementKind::Read, sql);
    let mut session = connect(&database, placement, client, Arc::from([statement])).await?;
    let mut rng = Rng::new(1, Stream::Backoff(client), 0);
    let mut n_queries = 0;
    while !stop.load(Ordering::Relaxed) {
        let id = 1 + (rng.bits() % N_ROWS as u64) as i64;
        let call = Call { statement: StatementId(0), values: &[Value::Int(id)] };
        let mut n_letters = 0;
        let request = Request::Execute(call);
        model::query(session.as_mut(), request, &mut |row| {
            n_letters = row.text(0)?.len();
            Ok(())
        })
        .await?;
        assert!(n_letters >= 30, "the row is there");
        n_queries += 1;
    }
    Ok(n_queries)
}

async fn connect(
    database: &Arc<dyn Database>,
    placement: Placement,
    client: u32,
    statements: Arc<[Statement]>,
) -> Result<Box<dyn Session>, DbError> {
    let clock = Rc::new(StillClock(placement));
    database.connect(Place { placement, clock, client }, statements).await
}

fn ask(session: &mut dyn Session, sql: &str, visit: model::Visit<'_>) -> Result<(), DbError> {
    let request = Request::Text { kind: StatementKind::Other, sql };
    block_on(model::query(session, request, visit)).map(drop)
}

/// Returns the CPU time of all threads of this process so far, in nanoseconds.
fn cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[expect(clippy::disallowed_methods, reason = "a measurement of its own, outside of any run")]
fn instant() -> Instant {
    Instant::now()
}
