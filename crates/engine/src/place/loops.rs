//! Placement of clients on event loops: many clients on each loop, and one loop per core.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::thread;

use event_loop::{Backend, EventLoop};
use model::{Choice, Clock, EventLoopChoice, Placement};

use super::{RunContext, WorkerMessage, connect, guarded};
use crate::client_loop::ClientLoop;
use crate::client_loop::ClientSpec;
use crate::clock::LoopClock;
use crate::heartbeat::{self, Heartbeats};
use crate::job::Job;
use crate::os_sched::{Granted, pin_thread, prepare_thread};

/// Checks whether the kernel lets this process use `io_uring` on event loops. Fails with the
/// kernel's error.
pub fn probe_io_uring() -> io::Result<()> {
    Backend::IoUring.probe()
}

/// Fewest clients of an event loop with which `auto` takes `io_uring`. With 32 and 128 clients of a
/// loop it saved 8 to 16 % of the generator's CPU time, with 4 and 8 nothing that was certain
/// (docs/explanation/placement.md).
const RING_FROM_CLIENTS: usize = 32;

/// Returns what `auto` takes for event loops with `n_clients` in all: `io_uring` if they are many
/// and the kernel lets this process use it.
pub fn event_loop_for(n_clients: usize, n_loops: usize) -> EventLoopChoice {
    let is_many = n_clients >= RING_FROM_CLIENTS * n_loops.max(1);
    match is_many && probe_io_uring().is_ok() {
        true => EventLoopChoice::IoUring,
        false => EventLoopChoice::Epoll,
    }
}

/// Starts as many event loops as the job has workers, each on its own thread, and distributes the
/// clients over them in turn. Fails if a thread cannot be started, or if the kernel forbids the
/// interface that was chosen.
pub(crate) fn start(specs: Vec<ClientSpec>, job: &Job, context: &RunContext) -> io::Result<()> {
    let pin = job.pin;
    let n_loops = job.workers.clamp(1, specs.len().max(1));
    let chosen = match job.event_loop {
        EventLoopChoice::Auto => event_loop_for(specs.len(), n_loops),
        chosen => chosen,
    };
    let backend = match chosen {
        EventLoopChoice::IoUring => Backend::IoUring,
        EventLoopChoice::Auto | EventLoopChoice::Epoll => Backend::Epoll,
    };
    backend.probe()?;
    let mut hands: Vec<VecDeque<ClientSpec>> = (0..n_loops).map(|_| VecDeque::new()).collect();
    for (index, spec) in specs.into_iter().enumerate() {
        hands[index % n_loops].push_back(spec);
    }
    let n_at_once = (context.limiter.at_once as usize / n_loops).max(1);
    for (index, hand) in hands.into_iter().enumerate() {
        let context = context.clone();
        let keeps_time = hand.iter().any(|spec| spec.pacer.keeps_time());
        let heartbeats = context.heartbeats.of_next_loop();
        let builder = thread::Builder::new().name(format!("loop-{index}"));
        builder.spawn(move || {
            let tell = context.tell.clone();
            guarded(&tell, move || {
                context.threads.enter(Some(index as u32));
                let pinned = pin && pin_thread(index, n_loops);
                let granted = Granted {
                    pinned,
                    event_loop: Some(chosen.name()),
                    ..prepare_thread(keeps_time)
                };
                context.granted.get_or_init(|| granted);
                live(hand, n_at_once, backend, heartbeats, &context)
                    .expect("an event loop needs descriptors to wait with, and a timer");
            });
        })?;
    }
    Ok(())
}

fn live(
    hand: VecDeque<ClientSpec>,
    n_at_once: usize,
    backend: Backend,
    heartbeats: Arc<Mutex<Heartbeats>>,
    context: &RunContext,
) -> io::Result<()> {
    let event_loop = EventLoop::new(backend)?;
    let timer = LoopClock::new(context.origin, context.stop.clone())?;
    drop(event_loop.spawn(Rc::clone(&timer).serve()));
    let clock = Rc::clone(&timer) as Rc<dyn Clock>;
    let clients = connect_all(&event_loop, hand, n_at_once, timer, context);
    // The loop has nothing else to do until all clients of the run are connected, so it may block.
    let Some(load_start_ns) = context.start_barrier.wait() else {
        return Ok(());
    };
    let beating = Arc::clone(&heartbeats);
    drop(event_loop.spawn(heartbeat::beat(clock, Arc::clone(&context.stop), beating)));
    let serving: Vec<_> = clients
        .into_iter()
        .map(|mut client| {
            let tell = context.tell.clone();
            event_loop.spawn(async move {
                client.serve(load_start_ns, Placement::Loop).await;
                // If the receiver is gone, the run is over.
                let _ = tell.send(WorkerMessage::left(&mut client));
                client
            })
        })
        .collect();
    event_loop.block_on(async {
        let mut clients = Vec::new();
        for served in serving {
            match served.await {
                Ok(client_loop) => clients.push(client_loop),
                Err(error) => {
                    let why = format!("a client ended unexpectedly: {error}");
                    let _ = context.tell.send(WorkerMessage::Lost { why });
                }
            }
        }
        heartbeat::end(&heartbeats, context.origin.elapsed_ns(), context.stop.end_ns());
        // All clients stay connected until every client of the run is done.
        context.end_barrier.wait();
        drop(clients);
    });
    Ok(())
}

fn connect_all(
    event_loop: &EventLoop,
    hand: VecDeque<ClientSpec>,
    n_at_once: usize,
    timer: Rc<LoopClock>,
    context: &RunContext,
) -> Vec<ClientLoop> {
    let hand = Rc::new(RefCell::new(hand));
    let clients = Rc::new(RefCell::new(Vec::new()));
    let connectors: Vec<_> = (0..n_at_once)
        .map(|_| {
            let (hand, clients) = (Rc::clone(&hand), Rc::clone(&clients));
            let (timer, tell) = (Rc::clone(&timer), context.tell.clone());
            let limiter = Arc::clone(&context.limiter);
            event_loop.spawn(async move {
                loop {
                    let Some(next) = hand.borrow_mut().pop_front() else { return };
                    let clock: Rc<dyn Clock> = Rc::clone(&timer) as Rc<dyn Clock>;
                    let tell = |shown| drop(tell.send(shown));
                    let client = connect(next, Placement::Loop, clock, &limiter, &tell).await;
                    clients.borrow_mut().extend(client);
                }
            })
        })
        .collect();
    event_loop.block_on(async {
        for connector in connectors {
            if let Err(error) = connector.await {
                let why = format!("a client could not be connected: {error}");
                let _ = context.tell.send(WorkerMessage::Lost { why });
            }
        }
    });
    clients.take()
}
