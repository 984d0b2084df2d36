//! Placements of clients: a thread each, event loops, or virtual time.
//!
//! Each placement connects its clients, waits at the start barrier until all have, serves, and
//! reports to the coordinator. Not here: phases and limits (coordinator), and transactions
//! (client_loop).

pub(crate) mod loops;
pub(crate) mod producers;
pub(crate) mod simulated;
pub(crate) mod threads;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use model::{
    Cancel, ClientMoments, Clock, Connect, Connecting, Connector, Database, DbError, NS_PER_MS,
    NS_PER_S, Place, Placement, ReplyLags, Session, Sessions, Statement,
};
use rustix::thread::futex;

use crate::client_loop::{ClientLoop, ClientSpec};
use crate::clock::{Origin, through};
use crate::heartbeat::AllHeartbeats;
use crate::os_sched::Granted;
use crate::reply_lag::ClientReplyLags;
use crate::stop::Stop;
use crate::threads::ClientThreads;

/// Message from a worker to the coordinator.
pub(crate) enum WorkerMessage {
    /// A client has a session, which can be cancelled from now on.
    Signed {
        cancel: Arc<dyn Cancel>,
    },
    /// A client is ready for the load.
    Connected {
        group: u16,
        took_ns: u64,
    },
    /// A connection attempt failed; another one will follow.
    Retried {
        db_error: DbError,
    },
    Refused {
        group: u16,
        db_error: DbError,
    },
    Left {
        group: u16,
        moments: Vec<ClientMoments>,
    },
    /// A client ended by a panic, which is a bug.
    Lost {
        why: String,
    },
}

/// State shared by all workers of a run.
#[derive(Clone)]
pub(crate) struct RunContext {
    pub(crate) origin: Origin,
    pub(crate) stop: Arc<Stop>,
    pub(crate) start_barrier: Arc<Barrier>,
    /// Barrier at which clients wait, still connected, until the run is over.
    pub(crate) end_barrier: Arc<Barrier>,
    pub(crate) tell: Sender<WorkerMessage>,
    pub(crate) granted: Arc<OnceLock<Granted>>,
    pub(crate) limiter: Arc<ConnectLimiter>,
    pub(crate) threads: ClientThreads,
    pub(crate) heartbeats: AllHeartbeats,
}

/// Limit on attempts of a client to connect before the load.
const CONNECT_ATTEMPTS: u32 = 5;
/// Pause before the second attempt; it doubles with each further one.
const CONNECT_PAUSE_NS: u64 = 50 * NS_PER_MS;
/// Interval at which a client that waits for its turn checks for the end of the run.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Limits pace and number of simultaneous connection attempts.
pub(crate) struct ConnectLimiter {
    /// Time between the turns of two clients, in nanoseconds; 0 for none.
    interval_ns: u64,
    first_client: u32,
    pub(crate) at_once: u32,
    n_within: Mutex<u32>,
    has_left: Condvar,
    /// A client finally failed to connect, so the run cannot begin: no client retries.
    is_shut: AtomicBool,
}

impl ConnectLimiter {
    pub(crate) fn new(connect: Connect, first_client: u32) -> ConnectLimiter {
        let interval_ns = connect.rate_per_s.map_or(0, |rate| (NS_PER_S as f64 / rate) as u64);
        ConnectLimiter {
            interval_ns,
            first_client,
            at_once: connect.at_once,
            n_within: Mutex::new(0),
            has_left: Condvar::new(),
            is_shut: AtomicBool::new(false),
        }
    }

    /// Waits, blocking the thread, until there is room for another attempt.
    pub(crate) fn enter(&self, stop: &Stop) -> Within<'_> {
        let mut n_within = self.n_within.lock().unwrap_or_else(PoisonError::into_inner);
        while *n_within >= self.at_once && !stop.is_aborted() {
            let waited = self.has_left.wait_timeout(n_within, LOOK_EVERY);
            n_within = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *n_within += 1;
        Within(self)
    }

    fn turn_ns(&self, client: u32) -> u64 {
        self.interval_ns.saturating_mul(u64::from(client - self.first_client))
    }
}

/// Permission for a connection attempt; dropped when it has ended.
pub(crate) struct Within<'a>(&'a ConnectLimiter);

impl Drop for Within<'_> {
    fn drop(&mut self) {
        *self.0.n_within.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.has_left.notify_one();
    }
}

const CLOSED: u32 = 0;
const OPEN: u32 = 1;
const ABANDONED: u32 = 2;

/// A barrier for all clients: until all have connected, or until all are done.
#[derive(Default)]
pub(crate) struct Barrier {
    word: AtomicU32,
    load_start_ns: AtomicU64,
}

impl Barrier {
    pub(crate) fn open(&self, load_start_ns: u64) {
        self.load_start_ns.store(load_start_ns, Ordering::SeqCst);
        self.set(OPEN);
    }

    pub(crate) fn abandon(&self) {
        self.set(ABANDONED);
    }

    fn set(&self, word: u32) {
        self.word.store(word, Ordering::SeqCst);
        let _ = futex::wake(&self.word, futex::Flags::PRIVATE, i32::MAX as u32);
    }

    /// Blocks until the barrier is opened or abandoned; returns the start of the load, or `None` if
    /// abandoned.
    pub(crate) fn wait(&self) -> Option<u64> {
        loop {
            match self.word.load(Ordering::SeqCst) {
                CLOSED => {
                    let flags = futex::Flags::PRIVATE;
                    // However the wait ends, the word is checked again.
                    let _ = futex::wait(&self.word, flags, CLOSED, None);
                }
                OPEN => return Some(self.load_start_ns.load(Ordering::SeqCst)),
                _ => return None,
            }
        }
    }
}

/// Connects a client at its turn, with retries if the session could not be opened, and reports the
/// outcome. `None` if it failed.
pub(crate) async fn connect(
    spec: ClientSpec,
    placement: Placement,
    clock: Rc<dyn Clock>,
    limiter: &ConnectLimiter,
    tell: &dyn Fn(WorkerMessage),
) -> Option<ClientLoop> {
    let group = spec.group;
    through(clock.as_ref(), limiter.turn_ns(spec.client)).await;
    let began_ns = clock.now();
    let place = Place { placement, clock: Rc::clone(&clock), client: spec.client };
    let mut attempt = 1;
    loop {
        let db_error =
            match spec.database.connect(place.clone(), Arc::clone(&spec.statements)).await {
                Ok(session) => {
                    let took_ns = clock.now() - began_ns;
                    let sessions = sessions(&spec, place, session, tell);
                    let mut client = ClientLoop::new(spec, sessions, clock);
                    if let Err(db_error) = client.begin().await {
                        tell(WorkerMessage::Refused { group, db_error });
                        return None;
                    }
                    tell(WorkerMessage::Connected { group, took_ns });
                    return Some(client);
                }
                Err(db_error) => db_error,
            };
        let is_shut = limiter.is_shut.load(Ordering::Relaxed);
        if !db_error.kind.breaks_session() || attempt == CONNECT_ATTEMPTS || is_shut {
            limiter.is_shut.store(true, Ordering::Relaxed);
            tell(WorkerMessage::Refused { group, db_error });
            return None;
        }
        tell(WorkerMessage::Retried { db_error });
        let pause_ns = CONNECT_PAUSE_NS << (attempt - 1);
        attempt += 1;
        through(clock.as_ref(), clock.now() + pause_ns).await;
    }
}

/// Returns the sessions of a connected client. All are cancelled together, and their replies are
/// measured alike.
fn sessions(
    spec: &ClientSpec,
    place: Place,
    mut own: Box<dyn Session>,
    tell: &dyn Fn(WorkerMessage),
) -> Sessions {
    let cancels = Arc::new(ClientCancels::default());
    // Virtual time has no sockets.
    let lags: Option<Rc<dyn ReplyLags>> = (place.placement != Placement::Simulated).then(|| {
        let (clock, common) = (Rc::clone(&place.clock), Arc::clone(&spec.common));
        let lags: Rc<dyn ReplyLags> =
            Rc::new(ClientReplyLags::new(spec.client, spec.group, clock, common));
        lags
    });
    take_in(own.as_mut(), lags.as_ref(), &cancels);
    tell(WorkerMessage::Signed { cancel: Arc::clone(&cancels) as Arc<dyn Cancel> });
    let (database, statements) = (Arc::clone(&spec.database), Arc::clone(&spec.statements));
    Sessions::new(own, Box::new(ClientConnector { database, place, statements, lags, cancels }))
}

/// Registers a session of a client for measurement and cancellation.
fn take_in(session: &mut dyn Session, lags: Option<&Rc<dyn ReplyLags>>, cancels: &ClientCancels) {
    if let Some(lags) = lags {
        session.measure_reply_lag(Rc::clone(lags));
    }
    cancels.add(session.canceller());
}

/// Opens further sessions of one client.
struct ClientConnector {
    database: Arc<dyn Database>,
    place: Place,
    statements: Arc<[Statement]>,
    lags: Option<Rc<dyn ReplyLags>>,
    cancels: Arc<ClientCancels>,
}

impl Connector for ClientConnector {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async move {
            let connecting =
                self.database.connect(self.place.clone(), Arc::clone(&self.statements));
            let mut session = connecting.await?;
            take_in(session.as_mut(), self.lags.as_ref(), &self.cancels);
            Ok(session)
        })
    }
}

/// Cancels all sessions of a client, including those that it opens afterwards.
#[derive(Default)]
struct ClientCancels(Mutex<(bool, Vec<Arc<dyn Cancel>>)>);

impl ClientCancels {
    fn add(&self, cancel: Arc<dyn Cancel>) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.0 {
            cancel.cancel();
        }
        // Sessions that are closed are removed, however often a client opens new ones.
        held.1.retain(|other| Arc::strong_count(other) > 1);
        held.1.push(cancel);
    }
}

impl Cancel for ClientCancels {
    fn cancel(&self) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.0 = true;
        held.1.iter().for_each(|cancel| cancel.cancel());
    }
}

/// Runs a client's code; a panic is reported to the coordinator.
pub(crate) fn guarded(tell: &Sender<WorkerMessage>, work: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
        let why = words.unwrap_or("a client ended without a word").to_owned();
        // If the receiver is gone, the run is over.
        let _ = tell.send(WorkerMessage::Lost { why });
    }
}
