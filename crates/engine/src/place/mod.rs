//! Where clients live: a thread each, event loops, or virtual time.
//!
//! Each place connects its clients, waits at the gate until all have, serves, and tells the
//! conductor. Not here: phases and limits (conduct), and what a client does (seat).

pub(crate) mod loops;
pub(crate) mod simulated;
pub(crate) mod threads;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};

use model::{Cancel, ClientMoments, Clock, Database, Place, Placement, Refusal, Statement};
use rustix::thread::futex;

use crate::clock::Origin;
use crate::scheduling::Granted;
use crate::seat::{Seat, Seating};
use crate::stop::Stop;

/// A client that has not been brought to its place yet.
pub(crate) struct Blueprint {
    pub(crate) seating: Seating,
    pub(crate) database: Arc<dyn Database>,
    pub(crate) statements: Arc<[Statement]>,
}

/// What a place tells the conductor.
pub(crate) enum Told {
    Connected {
        group: u16,
        took_ns: u64,
        cancel: Arc<dyn Cancel>,
    },
    Refused {
        group: u16,
        refusal: Refusal,
    },
    Left {
        group: u16,
        moments: Vec<ClientMoments>,
    },
    /// A client died of a mistake of ours.
    Lost {
        why: String,
    },
}

/// What all places of a run share.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) origin: Origin,
    pub(crate) stop: Arc<Stop>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) tell: Sender<Told>,
    pub(crate) granted: Arc<OnceLock<Granted>>,
}

const CLOSED: u32 = 0;
const OPEN: u32 = 1;
const ABANDONED: u32 = 2;

/// Where clients wait until all have connected.
#[derive(Default)]
pub(crate) struct Gate {
    word: AtomicU32,
    load_start_ns: AtomicU64,
}

impl Gate {
    pub(crate) fn open(&self, load_start_ns: u64) {
        self.load_start_ns.store(load_start_ns, Ordering::SeqCst);
        self.turn(OPEN);
    }

    pub(crate) fn abandon(&self) {
        self.turn(ABANDONED);
    }

    fn turn(&self, word: u32) {
        self.word.store(word, Ordering::SeqCst);
        let _ = futex::wake(&self.word, futex::Flags::PRIVATE, i32::MAX as u32);
    }

    /// Blocks until the gate is turned; the instant at which the load begins, if it does.
    pub(crate) fn pass(&self) -> Option<u64> {
        loop {
            match self.word.load(Ordering::SeqCst) {
                CLOSED => {
                    let flags = futex::Flags::PRIVATE;
                    // However the wait ends, the word is looked at again.
                    let _ = futex::wait(&self.word, flags, CLOSED, None);
                }
                OPEN => return Some(self.load_start_ns.load(Ordering::SeqCst)),
                _ => return None,
            }
        }
    }
}

/// Connects a client. Tells how it went; none if it was refused.
pub(crate) async fn connect(
    blueprint: Blueprint,
    placement: Placement,
    clock: Rc<dyn Clock>,
    tell: &dyn Fn(Told),
) -> Option<Seat> {
    let Blueprint { seating, database, statements } = blueprint;
    let group = seating.group;
    let began_ns = clock.now();
    let place = Place { placement, clock: Rc::clone(&clock), client: seating.client };
    match database.connect(place, statements).await {
        Ok(session) => {
            let took_ns = clock.now() - began_ns;
            tell(Told::Connected { group, took_ns, cancel: session.canceller() });
            Some(Seat::new(seating, session, clock))
        }
        Err(refusal) => {
            tell(Told::Refused { group, refusal });
            None
        }
    }
}

/// Runs a client's code; its panic is told, never lost.
pub(crate) fn guarded(tell: &Sender<Told>, work: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
        let why = words.unwrap_or("a client ended without a word").to_owned();
        // Nobody listens any more: the run is over anyway.
        let _ = tell.send(Told::Lost { why });
    }
}
