//! The placements of clients: a thread for each client, event loops, or virtual time.
//!
//! Each placement connects its clients, waits at the start barrier until all clients of the run
//! have connected, serves them, and reports to the coordinator. Not here: phases and limits
//! (coordinator), and transactions (client_loop).

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
    ClientMoments, Clock, Connect, Connecting, Connector, Database, DbError, NS_PER_MS, NS_PER_S,
    Place, Placement, ReplyLags, Session, Sessions, Statement,
};
use rustix::thread::futex;

use crate::client_loop::{ClientLoop, ClientSpec};
use crate::clock::{Origin, through};
use crate::heartbeat::AllHeartbeats;
use crate::os_sched::Granted;
use crate::reply_lag::ClientReplyLags;
use crate::stop::Stop;
use crate::threads::ClientThreads;
use crate::time_limit::ClientCancels;

/// Message about a client that the thread or event loop which runs it sends to the coordinator.
pub(crate) enum WorkerMessage {
    /// The client has opened a database session, which the coordinator can cancel from now on.
    Signed {
        cancels: Arc<ClientCancels>,
    },
    /// The client has connected and prepared its connection, and is ready for the load.
    Connected {
        group: u16,
        took_ns: u64,
    },
    /// The client has failed to connect, and will try again.
    Retried {
        db_error: DbError,
    },
    /// The client has failed to connect, or to prepare its connection.
    Refused {
        group: u16,
        db_error: DbError,
        is_connected: bool,
    },
    Left {
        group: u16,
        moments: Vec<ClientMoments>,
    },
    /// The client's code has panicked, which is a bug in dbdyno.
    Lost {
        why: String,
    },
}

impl WorkerMessage {
    /// Returns the message that a client has ended its load, with its results.
    fn left(client: &mut ClientLoop) -> WorkerMessage {
        WorkerMessage::Left { group: client.group, moments: client.moments() }
    }
}

/// State that all threads or event loops with clients of a run share.
#[derive(Clone)]
pub(crate) struct RunContext {
    pub(crate) origin: Origin,
    pub(crate) stop: Arc<Stop>,
    pub(crate) start_barrier: Arc<Barrier>,
    /// Barrier at which clients wait at the end, still connected, until the run is over.
    pub(crate) end_barrier: Arc<Barrier>,
    pub(crate) tell: Sender<WorkerMessage>,
    pub(crate) granted: Arc<OnceLock<Granted>>,
    pub(crate) limiter: Arc<ConnectLimiter>,
    pub(crate) threads: ClientThreads,
    pub(crate) heartbeats: AllHeartbeats,
}

/// Limit on a client's attempts to connect before the load. If the last one fails, the run cannot
/// begin.
const CONNECT_ATTEMPTS: u32 = 5;
/// Pause before a client's second attempt to connect, in nanoseconds. Each further pause is twice
/// the one before.
const CONNECT_PAUSE_NS: u64 = 50 * NS_PER_MS;
/// Interval at which a client that is not yet allowed to connect checks whether the run is cut off.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Limiter of the rate and of the number of simultaneous attempts with which clients connect before
/// the load.
pub(crate) struct ConnectLimiter {
    /// Time between the first connection attempts of one client and the next, in nanoseconds; 0 if
    /// the rate is not limited.
    interval_ns: u64,
    first_client: u32,
    pub(crate) at_once: u32,
    n_within: Mutex<u32>,
    has_left: Condvar,
    /// Whether a client has failed to connect after its last attempt. The run then cannot begin,
    /// and no client tries again.
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

    /// Blocks the thread until another connection attempt is allowed, or the run is cut off.
    /// Returns the permission for the attempt.
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

/// Permission for one attempt to connect. It is dropped when the attempt has ended.
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

/// A barrier at which all clients wait: before the load until all have connected, and after it
/// until the run is over.
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

    /// Blocks until the barrier is opened or abandoned. Returns the start of the load, in
    /// nanoseconds of the run's clock, or `None` if the barrier was abandoned.
    pub(crate) fn wait(&self) -> Option<u64> {
        loop {
            match self.word.load(Ordering::SeqCst) {
                CLOSED => {
                    let flags = futex::Flags::PRIVATE;
                    // The word is checked again however the wait ends.
                    let _ = futex::wait(&self.word, flags, CLOSED, None);
                }
                OPEN => return Some(self.load_start_ns.load(Ordering::SeqCst)),
                _ => return None,
            }
        }
    }
}

/// Connects a client once the limits on connecting allow it, and lets the client prepare its
/// connection. Retries if the server is full or down, and reports the outcome to the coordinator.
/// `None` if the client could not connect.
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
                    let (sessions, cancels) = sessions(&spec, place, session, tell);
                    let further = Arc::clone(&cancels);
                    let mut client = ClientLoop::new(spec, sessions, cancels, clock);
                    client.user.canceller().into_iter().for_each(|cancel| further.add(cancel));
                    if let Err(db_error) = client.begin().await {
                        tell(WorkerMessage::Refused { group, db_error, is_connected: true });
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
            tell(WorkerMessage::Refused { group, db_error, is_connected: false });
            return None;
        }
        tell(WorkerMessage::Retried { db_error });
        let pause_ns = CONNECT_PAUSE_NS << (attempt - 1);
        attempt += 1;
        through(clock.as_ref(), clock.now() + pause_ns).await;
    }
}

/// Creates the set of sessions for a client that has just connected, and the handle that cancels
/// the client and so all of them. How long replies wait in their sockets (reply lag) is measured
/// for each.
fn sessions(
    spec: &ClientSpec,
    place: Place,
    mut own: Box<dyn Session>,
    tell: &dyn Fn(WorkerMessage),
) -> (Sessions, Arc<ClientCancels>) {
    let cancels = Arc::new(ClientCancels::new(place.placement == Placement::Simulated));
    // In virtual time there are no sockets.
    let lags: Option<Rc<dyn ReplyLags>> = (place.placement != Placement::Simulated).then(|| {
        let (clock, common) = (Rc::clone(&place.clock), Arc::clone(&spec.common));
        let lags: Rc<dyn ReplyLags> =
            Rc::new(ClientReplyLags::new(spec.client, spec.group, clock, common));
        lags
    });
    take_in(own.as_mut(), lags.as_ref(), &cancels);
    tell(WorkerMessage::Signed { cancels: Arc::clone(&cancels) });
    let (database, statements) = (Arc::clone(&spec.database), Arc::clone(&spec.statements));
    let connector =
        ClientConnector { database, place, statements, lags, cancels: Arc::clone(&cancels) };
    (Sessions::new(own, Box::new(connector)), cancels)
}

/// Starts to measure how long replies of this session wait in the socket (reply lag), and adds the
/// session to those that are cancelled together with the client.
fn take_in(session: &mut dyn Session, lags: Option<&Rc<dyn ReplyLags>>, cancels: &ClientCancels) {
    if let Some(lags) = lags {
        session.measure_reply_lag(Rc::clone(lags));
    }
    cancels.add(session.canceller());
}

/// Connector for further sessions of one client, which are measured and cancelled like the client's
/// first session.
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

/// Runs a client's code, and reports a panic to the coordinator as [`WorkerMessage::Lost`].
pub(crate) fn guarded(tell: &Sender<WorkerMessage>, work: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
        let why = words.unwrap_or("a client ended without a word").to_owned();
        // If the receiver is gone, the run is over.
        let _ = tell.send(WorkerMessage::Lost { why });
    }
}
