//! Placement of each client on its own thread, where sockets block and every future is ready when
//! it is polled.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::thread;

use model::{Clock, Placement};

use super::{RunContext, WorkerMessage, connect, guarded};
use crate::client_loop::ClientSpec;
use crate::clock::{ThreadClock, through};
use crate::os_sched::prepare_thread;

/// Stack size of a client thread, in bytes: enough for SQLite's parser and the workloads'
/// transactions. Pages that are never touched cost nothing.
const STACK_BYTES: usize = 1 << 20;

/// Starts a thread for each client. Fails if one of the threads cannot be started.
pub(crate) fn start(specs: Vec<ClientSpec>, context: &RunContext) -> io::Result<()> {
    for spec in specs {
        let context = context.clone();
        let name = format!("client-{}", spec.client);
        let builder = thread::Builder::new().name(name).stack_size(STACK_BYTES);
        builder.spawn(move || {
            let tell = context.tell.clone();
            guarded(&tell, move || live(spec, &context));
        })?;
    }
    Ok(())
}

fn live(spec: ClientSpec, context: &RunContext) {
    context.threads.enter(None);
    let granted = prepare_thread(spec.pacer.keeps_time());
    context.granted.get_or_init(|| granted);
    let clock: Rc<dyn Clock> = Rc::new(ThreadClock::new(context.origin, context.stop.clone()));
    let tell = |shown| drop(context.tell.send(shown));
    // A client must not queue before its turn, or it would keep out others.
    let turn_ns = context.limiter.turn_ns(spec.client);
    block_on(through(clock.as_ref(), turn_ns));
    let within = context.limiter.enter(&context.stop);
    let connecting = connect(spec, Placement::Thread, clock, &context.limiter, &tell);
    let client = block_on(connecting);
    drop(within);
    let Some(mut client) = client else { return };
    if let Some(load_start_ns) = context.start_barrier.wait() {
        block_on(client.serve(load_start_ns, Placement::Thread));
    }
    tell(WorkerMessage::left(&mut client));
    // The client stays connected until every client of the run is done.
    context.end_barrier.wait();
}

/// Runs a future that blocks the thread instead of returning `Pending`, by polling it once. Panics
/// if it returns `Pending`, which is a bug.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a future waited on a thread of its own, where it must block"),
    }
}
