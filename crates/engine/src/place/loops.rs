//! Many clients on an event loop a core.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::thread;

use model::{Clock, Placement};
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

use super::{Blueprint, Surroundings, Told, connect, guarded};
use crate::clock::LoopClock;
use crate::heartbeat::{self, Heartbeats};
use crate::scheduling::{Granted, pin_thread, prepare_thread};
use crate::seat::Seat;

/// Starts `workers` loops and deals the clients out to them.
pub(crate) fn start(
    blueprints: Vec<Blueprint>,
    workers: usize,
    pin: bool,
    around: &Surroundings,
) -> io::Result<()> {
    let n_loops = workers.clamp(1, blueprints.len().max(1));
    let mut hands: Vec<VecDeque<Blueprint>> = (0..n_loops).map(|_| VecDeque::new()).collect();
    for (index, blueprint) in blueprints.into_iter().enumerate() {
        hands[index % n_loops].push_back(blueprint);
    }
    let n_at_once = (around.door.at_once as usize / n_loops).max(1);
    for (index, hand) in hands.into_iter().enumerate() {
        let around = around.clone();
        let keeps_time = hand.iter().any(|blueprint| blueprint.seating.pacer.keeps_time());
        let heartbeats = around.heartbeats.of_next_loop();
        let builder = thread::Builder::new().name(format!("loop-{index}"));
        builder.spawn(move || {
            let tell = around.tell.clone();
            guarded(&tell, move || {
                around.threads.enter(Some(index as u32));
                let pinned = pin && pin_thread(index, n_loops);
                let granted = Granted { pinned, ..prepare_thread(keeps_time) };
                around.granted.get_or_init(|| granted);
                live(hand, n_at_once, heartbeats, &around)
                    .expect("an event loop needs an epoll and a timer descriptor");
            });
        })?;
    }
    Ok(())
}

fn live(
    hand: VecDeque<Blueprint>,
    n_at_once: usize,
    heartbeats: Arc<Mutex<Heartbeats>>,
    around: &Surroundings,
) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build_local(LocalOptions::default())?;
    let timer = LoopClock::new(around.origin, around.stop.clone())?;
    runtime.spawn_local(Rc::clone(&timer).serve());
    let clock = Rc::clone(&timer) as Rc<dyn Clock>;
    let seats = connect_all(&runtime, hand, n_at_once, timer, around);
    // Nothing else happens on this loop until all clients of the run are here: it may block.
    let Some(load_start_ns) = around.gate.pass() else {
        return Ok(());
    };
    let beating = Arc::clone(&heartbeats);
    runtime.spawn_local(heartbeat::beat(clock, Arc::clone(&around.stop), beating));
    let serving: Vec<_> = seats
        .into_iter()
        .map(|mut seat| {
            let tell = around.tell.clone();
            runtime.spawn_local(async move {
                seat.serve(load_start_ns, Placement::Loop).await;
                let group = seat.group;
                // Nobody listens any more: the run is over anyway.
                let _ = tell.send(Told::Left { group, moments: seat.told() });
                seat
            })
        })
        .collect();
    runtime.block_on(async {
        let mut seats = Vec::new();
        for served in serving {
            match served.await {
                Ok(seat) => seats.push(seat),
                Err(error) => {
                    let why = format!("a client ended without a word: {error}");
                    let _ = around.tell.send(Told::Lost { why });
                }
            }
        }
        heartbeat::end(&heartbeats, around.origin.elapsed_ns(), around.stop.end_ns());
        // All stay connected until nobody of the run has anything to do.
        around.over.pass();
        drop(seats);
    });
    Ok(())
}

fn connect_all(
    runtime: &LocalRuntime,
    hand: VecDeque<Blueprint>,
    n_at_once: usize,
    timer: Rc<LoopClock>,
    around: &Surroundings,
) -> Vec<Seat> {
    let hand = Rc::new(RefCell::new(hand));
    let seats = Rc::new(RefCell::new(Vec::new()));
    let connectors: Vec<_> = (0..n_at_once)
        .map(|_| {
            let (hand, seats) = (Rc::clone(&hand), Rc::clone(&seats));
            let (timer, tell) = (Rc::clone(&timer), around.tell.clone());
            let door = Arc::clone(&around.door);
            runtime.spawn_local(async move {
                loop {
                    let Some(next) = hand.borrow_mut().pop_front() else { return };
                    let clock: Rc<dyn Clock> = Rc::clone(&timer) as Rc<dyn Clock>;
                    let tell = |told| drop(tell.send(told));
                    let seat = connect(next, Placement::Loop, clock, &door, &tell).await;
                    seats.borrow_mut().extend(seat);
                }
            })
        })
        .collect();
    runtime.block_on(async {
        for connector in connectors {
            if let Err(error) = connector.await {
                let why = format!("a client could not be connected: {error}");
                let _ = around.tell.send(Told::Lost { why });
            }
        }
    });
    seats.take()
}
