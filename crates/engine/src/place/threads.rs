//! A thread a client: sockets block, futures are always ready.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::thread;

use model::{Clock, Placement};

use super::{Blueprint, Surroundings, Told, connect, guarded};
use crate::clock::{ThreadClock, through};
use crate::scheduling::prepare_thread;

/// Enough for SQLite's parser and our conversations; untouched pages cost nothing.
const STACK_BYTES: usize = 1 << 20;

/// Starts a thread for each client.
pub(crate) fn start(blueprints: Vec<Blueprint>, around: &Surroundings) -> io::Result<()> {
    for blueprint in blueprints {
        let around = around.clone();
        let name = format!("client-{}", blueprint.seating.client);
        let builder = thread::Builder::new().name(name).stack_size(STACK_BYTES);
        builder.spawn(move || {
            let tell = around.tell.clone();
            guarded(&tell, move || live(blueprint, &around));
        })?;
    }
    Ok(())
}

fn live(blueprint: Blueprint, around: &Surroundings) {
    around.threads.enter(None);
    let granted = prepare_thread(blueprint.seating.pacer.keeps_time());
    around.granted.get_or_init(|| granted);
    let clock: Rc<dyn Clock> = Rc::new(ThreadClock::new(around.origin, around.stop.clone()));
    let tell = |told| drop(around.tell.send(told));
    // Whoever stood at the door before its turn would keep out those whose turn it is.
    let turn_ns = around.door.turn_ns(blueprint.seating.client);
    block_on(through(clock.as_ref(), turn_ns));
    let within = around.door.enter(&around.stop);
    let connecting = connect(blueprint, Placement::Thread, clock, &around.door, &tell);
    let seat = block_on(connecting);
    drop(within);
    let Some(mut seat) = seat else { return };
    if let Some(load_start_ns) = around.gate.pass() {
        block_on(seat.serve(load_start_ns, Placement::Thread));
    }
    let group = seat.group;
    tell(Told::Left { group, moments: seat.told() });
    // It stays connected until nobody of the run has anything to do.
    around.over.pass();
}

/// Polls once: on a thread everything blocks instead of waiting. Pending is our mistake.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a future waited on a thread of its own, where it must block"),
    }
}
