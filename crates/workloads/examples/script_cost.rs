//! Measures what a script of sysbench costs beside its database: CPU time of each event on sessions
//! that answer at once, with one row to each request.
//!
//! `cargo run --release -p workloads --example script_cost [SCRIPT] [CLIENTS] [EVENTS]`. The
//! clients run their events in turn, as those of an event loop do.

use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use drivers::Opening;
use model::{
    Cancel, Client, Clock, Connecting, Connector, DbError, Number, Reply, Request, Row, RowSource,
    Session, Sessions, Settings, Source, Statement, StatementId, Table, Target, Traffic, TxContext,
    Value, Visit, Woken,
};
use workloads::Make;

/// A clock that stands still.
struct Still;

impl Clock for Still {
    fn now(&self) -> u64 {
        0
    }

    fn poll_until(&self, _instant_ns: u64, _context: &mut Context<'_>) -> Poll<Woken> {
        Poll::Ready(Woken::Due)
    }

    fn poll_through(&self, _instant_ns: u64, _context: &mut Context<'_>) -> Poll<Woken> {
        Poll::Ready(Woken::Due)
    }
}

/// A session that answers at once.
struct Instantly {
    text: String,
    n_prepared: u32,
}

struct One<'t>(&'t str);

impl Row for One<'_> {
    fn width(&self) -> usize {
        1
    }

    fn value(&self, _column: usize) -> Value<'_> {
        Value::Text(self.0)
    }
}

struct Nothing;

impl Cancel for Nothing {
    fn cancel(&self) {}
}

impl Session for Instantly {
    fn start(&mut self, _request: Request<'_>) -> Result<(), DbError> {
        Ok(())
    }

    fn poll_reply(
        &mut self,
        _context: &mut Context<'_>,
        visit: Visit<'_>,
    ) -> Poll<Result<Reply, DbError>> {
        visit(&One(&self.text))?;
        Poll::Ready(Ok(Reply::default()))
    }

    fn poll_load(
        &mut self,
        _context: &mut Context<'_>,
        _table: &Table,
        _source: &mut dyn RowSource,
    ) -> Poll<Result<Reply, DbError>> {
        Poll::Ready(Ok(Reply::default()))
    }

    fn prepare(&mut self, _statement: Statement) -> Result<StatementId, DbError> {
        self.n_prepared += 1;
        Ok(StatementId(self.n_prepared as _))
    }

    fn poll_reconnect(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), DbError>> {
        Poll::Ready(Ok(()))
    }

    fn traffic(&self) -> Traffic {
        Traffic::default()
    }

    fn canceller(&self) -> Arc<dyn Cancel> {
        Arc::new(Nothing)
    }
}

struct Makes;

impl Connector for Makes {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async { Ok(session()) })
    }
}

fn session() -> Box<dyn Session> {
    Box::new(Instantly { text: "x".repeat(119), n_prepared: 0 })
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("these sessions never wait"),
    }
}

/// Returns the CPU time of this thread so far, in nanoseconds.
fn cpu_ns() -> f64 {
    let said = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells");
    said.split(' ').next().and_then(|word| word.parse().ok()).expect("it begins with CPU time")
}

fn main() {
    let mut words = std::env::args().skip(1);
    let script = words.next().unwrap_or("/usr/share/sysbench/oltp_point_select.lua".to_owned());
    let n_clients = words.next().and_then(|word| word.parse().ok()).unwrap_or(1);
    let n_events: u64 = words.next().and_then(|word| word.parse().ok()).unwrap_or(1_000_000);
    let text = std::fs::read_to_string(&script).expect("a script");
    let entry = workloads::read_with_modules(Source::new(&script, &text), |path| {
        std::fs::read_to_string(path).ok()
    });
    let entry = entry.expect("a valid script");
    let settings = Settings::decide(entry.name, entry.parameters, []).expect("defaults are valid");
    let make = Make { settings: &settings, seed: 42, data: None, source: entry.source };
    let workload = (entry.make)(&make).expect("a valid script");
    let target = Target::parse("sqlite::memory:").expect("valid");
    let database = drivers::open(&target, Opening { create: true, seed: 42 }).expect("it opens");
    let clock: Rc<dyn Clock> = Rc::new(Still);
    let mut clients: Vec<(Box<dyn Client>, Sessions)> = (0..n_clients)
        .map(|nth| (workload.client(nth), Sessions::new(session(), Box::new(Makes))))
        .collect();
    let mut measured = Vec::new();
    let mut context = |sessions: &mut Sessions, work: &mut dyn FnMut(&mut TxContext<'_>)| {
        work(&mut TxContext {
            sessions,
            clock: clock.as_ref(),
            intended_ns: 0,
            dialect: database.dialect(),
            measured: &mut measured,
        });
    };
    for (client, sessions) in &mut clients {
        context(sessions, &mut |context| {
            block_on(client.begin(context).expect("scripts begin")).expect("it begins");
        });
    }
    let mut run = |n_events: u64| {
        let before_ns = cpu_ns();
        for nth in 0..n_events {
            let n = (nth % clients.len() as u64) as usize;
            let (client, sessions) = &mut clients[n];
            context(sessions, &mut |context| {
                client.inputs(Number::OfClient { client: n as u32, nth });
                block_on(client.converse(context)).expect("it succeeds");
            });
        }
        (cpu_ns() - before_ns) / n_events as f64
    };
    run(n_events / 10);
    let each: Vec<String> = (0..5).map(|_| format!("{:.0}", run(n_events / 5))).collect();
    println!("{n_clients} clients: {} ns an event", each.join(" "));
}
