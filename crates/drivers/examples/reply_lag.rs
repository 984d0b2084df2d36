//! Measures the CPU time per query that the measurement of reply lags costs. A reply lag is the
//! time that a reply waits in its socket before the client reads it.
//!
//!     cargo run --release -p drivers --example point -- URL       (makes the table)
//!     cargo run --release -p drivers --example reply_lag -- URL [CLIENTS] [PAIRS]
//!
//! Each client is a thread with two sessions, one that measures and one that does not. It queries
//! on each in turn, 1,000 queries at a time; the session that was second begins the next pair. The
//! result is the ratio of the CPU times of a pair (of the thread, with the kernel's work for it).
//! With `control` as the last argument no session measures, and the ratio shows the error of the
//! method. With `stamps`, no session measures, but in one moment of each pair another socket makes
//! the kernel timestamp all data that come to this machine.

mod shared;
#[path = "../src/net/timestamping.rs"]
mod timestamping;

use std::net::UdpSocket;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{env, io, thread};

use drivers::Opening;
use model::{
    Call, Database, DbError, Place, Placement, ReplyLags, Request, Rng, Session, Statement,
    StatementId, StatementKind, Stream, Target, Value,
};
use rustix::time::{ClockId, clock_gettime};
use stats::{Histogram, median};

use shared::{StillClock, block_on};
use timestamping::set_timestamping;

const N_ROWS: i64 = 100_000;
const QUERIES: u32 = 1_000;
/// Number of pairs at the start that are discarded as warm-up.
const WARM_UP: usize = 5;
/// Time for which packet timestamps stay on, or off, before they are switched.
const MOMENT: Duration = Duration::from_millis(100);

/// A receiver of reply lags that reads the same clocks as the engine does, and records the lags
/// into a histogram behind a lock.
struct Lags(Arc<Mutex<Histogram>>);

impl ReplyLags for Lags {
    fn since_ns(&self, arrived_unix_ns: u64) -> Option<u64> {
        let now_ns = read_ns(ClockId::Realtime);
        let monotonic_ns = read_ns(ClockId::Monotonic);
        (monotonic_ns > 0).then(|| now_ns.saturating_sub(arrived_unix_ns))
    }

    fn coarse_ns(&self) -> u64 {
        read_ns(ClockId::MonotonicCoarse)
    }

    fn record(&self, lag_ns: u64) {
        if read_ns(ClockId::Monotonic) > 0 {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).record(lag_ns);
        }
    }

    fn record_late(&self, lag_ns: u64) {
        self.record(lag_ns);
    }

    fn unavailable(&self, why: &str) {
        eprintln!("no reply lag: {why}");
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some(url) = arguments.first() else {
        eprintln!("say which server: reply_lag URL [CLIENTS] [PAIRS] [control|stamps]");
        return ExitCode::SUCCESS;
    };
    let number = |index: usize, usual: usize| {
        arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    let (clients, pairs) = (number(1, 2), number(2, 200));
    let measured = match arguments.get(3).map(String::as_str) {
        Some("stamps") => measure_stamps(url, clients, pairs),
        word => measure(url, clients, pairs, word != Some("control")),
    };
    match measured {
        Ok(text) => {
            println!("{text}");
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
    n_clients: usize,
    n_pairs: usize,
    is_measured: bool,
) -> Result<String, String> {
    let target = Target::parse(url).map_err(|bad| bad.to_string())?;
    let opening = Opening { create: true, seed: 1 };
    let database = drivers::open(&target, opening).map_err(|no| no.to_string())?;
    let lags = Arc::new(Mutex::new(Histogram::default()));
    let pairs: Vec<[f64; 2]> = thread::scope(|scope| {
        let serve = |client| {
            let database = &database;
            let lags = is_measured.then(|| Arc::clone(&lags));
            scope.spawn(move || serve(database, client as u32, n_pairs, lags))
        };
        let clients: Vec<_> = (0..n_clients).map(serve).collect();
        let served = clients.into_iter().map(|client| client.join().expect("no panic"));
        served.collect::<Result<Vec<_>, DbError>>().map(|all| all.concat())
    })
    .map_err(|no| no.to_string())?;
    let lags = lags.lock().unwrap_or_else(PoisonError::into_inner);
    let longest_us = lags.max() / 1_000;
    let line = compared(&pairs)?;
    Ok(format!("{n_clients} clients, {line}; {} lags, the longest {longest_us} us", lags.count()))
}

fn compared(pairs: &[[f64; 2]]) -> Result<String, String> {
    let each = |side: usize| pairs.iter().map(|pair| pair[side]).collect::<Vec<f64>>();
    let ratios: Vec<f64> = pairs.iter().map(|pair| pair[1] / pair[0]).collect();
    let middle = |values: &[f64]| median(values, 0.95).map_or(f64::NAN, |found| found.value);
    let ratio = median(&ratios, 0.95).ok_or("no pairs")?;
    let (low, high) = ratio.interval.map_err(|_| "too few pairs for an interval")?;
    Ok(format!(
        "{} pairs: {:.3} us of CPU a query without, {:.3} with; ratio of a pair {:.4} ({low:.4} \
         to {high:.4})",
        pairs.len(),
        middle(&each(0)),
        middle(&each(1)),
        ratio.value,
    ))
}

fn measure_stamps(url: &str, n_clients: usize, n_pairs: usize) -> Result<String, String> {
    let target = Target::parse(url).map_err(|bad| bad.to_string())?;
    let opening = Opening { create: true, seed: 1 };
    let database = drivers::open(&target, opening).map_err(|no| no.to_string())?;
    let other = UdpSocket::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let asked: Vec<AtomicU64> = (0..n_clients).map(|_| AtomicU64::new(0)).collect();
    let stop = AtomicBool::new(false);
    let pairs = thread::scope(|scope| {
        for (client, asked) in asked.iter().enumerate() {
            let (database, stop) = (&database, &stop);
            scope.spawn(move || {
                let mut session = connect(database, client as u32).expect("a session");
                let mut rng = Rng::new(1, Stream::Backoff(client as u32), 0);
                while !stop.load(Ordering::Relaxed) {
                    ask(session.as_mut(), &mut rng).expect("a reply");
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let cost_us = |is_stamping: bool| -> io::Result<f64> {
            let wanted = if is_stamping { libc::SOF_TIMESTAMPING_RX_SOFTWARE } else { 0 };
            set_timestamping(&other, wanted)?;
            // Queries that are in progress, or during which the kernel patches its code, count for
            // neither mode.
            thread::park_timeout(MOMENT / 4);
            let read = || {
                let n: u64 = asked.iter().map(|one| one.load(Ordering::Relaxed)).sum();
                (read_ns(ClockId::ProcessCPUTime), n)
            };
            let (cpu_before_ns, n_before) = read();
            thread::park_timeout(MOMENT);
            let (cpu_ns, n) = read();
            Ok((cpu_ns - cpu_before_ns) as f64 / 1e3 / (n - n_before).max(1) as f64)
        };
        let mut pair = |index: usize| -> io::Result<[f64; 2]> {
            let mut us = [0.0; 2];
            for turn in 0..2 {
                let is_stamping = (index + turn) % 2 == 1;
                us[usize::from(is_stamping)] = cost_us(is_stamping)?;
            }
            Ok(us)
        };
        let pairs: io::Result<Vec<_>> = (0..n_pairs + WARM_UP).map(&mut pair).collect();
        stop.store(true, Ordering::Relaxed);
        pairs
    })
    .map_err(|error| error.to_string())?;
    Ok(format!("{n_clients} clients, stamps of all, {}", compared(&pairs[WARM_UP..])?))
}

/// Runs a client. Returns for each pair of measurements the CPU time per query in microseconds:
/// without and with measuring reply lags.
fn serve(
    database: &Arc<dyn Database>,
    client: u32,
    n_pairs: usize,
    lags: Option<Arc<Mutex<Histogram>>>,
) -> Result<Vec<[f64; 2]>, DbError> {
    let mut sessions = [connect(database, client)?, connect(database, client)?];
    if let Some(lags) = lags {
        sessions[1].measure_reply_lag(Rc::new(Lags(lags)));
    }
    let mut rng = Rng::new(1, Stream::Backoff(client), 0);
    let mut pairs = Vec::new();
    for pair in 0..n_pairs + WARM_UP {
        let mut us = [0.0; 2];
        for turn in 0..2 {
            let which = (pair + turn) % 2;
            let before_ns = read_ns(ClockId::ThreadCPUTime);
            for _ in 0..QUERIES {
                ask(sessions[which].as_mut(), &mut rng)?;
            }
            let spent_ns = read_ns(ClockId::ThreadCPUTime) - before_ns;
            us[which] = spent_ns as f64 / 1e3 / f64::from(QUERIES);
        }
        if pair >= WARM_UP {
            pairs.push(us);
        }
    }
    Ok(pairs)
}

fn ask(session: &mut dyn Session, rng: &mut Rng) -> Result<(), DbError> {
    let id = 1 + (rng.bits() % N_ROWS as u64) as i64;
    let call = Call { statement: StatementId(0), values: &[Value::Int(id)] };
    let read = &mut |row: &dyn model::Row| row.text(0).map(drop);
    block_on(model::query(session, Request::Execute(call), read)).map(drop)
}

fn connect(database: &Arc<dyn Database>, client: u32) -> Result<Box<dyn Session>, DbError> {
    let sql = database.dialect().sql("SELECT c FROM dbdyno_point WHERE id = ?");
    let statement = Statement::new("point", StatementKind::Read, sql);
    let placement = Placement::Thread;
    let place = Place { placement, clock: Rc::new(StillClock(placement)), client };
    block_on(database.connect(place, Arc::from([statement])))
}

fn read_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
