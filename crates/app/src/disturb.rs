//! Runs the disturbances of a plan: actions on the database or its server while the load is
//! measured, such as SQL, a command, a kill or a limit.
//!
//! Each disturbance has its own thread, which waits for its time while the load runs. The engine
//! does not know disturbances: the caller reports the start of the measured phase with the function
//! that `Disturbers::begin` returns, and `Disturbers::follow` sees its end in the engine's events.
//! Not here: the effect on rates and response times (analysis).

mod command;
mod limit;
mod nodes;
mod settle;
mod worker;

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use engine::Stop;
use model::{
    Database, Disturbance, DisturbanceEvent, Disturbed, Event, Host, NetworkConditions, Phase, Plan,
};
use monitor::{Locate, PhaseSignal, wall_clock};

use self::command::CommandEnvironment;
use self::worker::{Message, Server, Worker};
use crate::error::Error;
use crate::interruptible::run_unless_asked_twice;
use crate::managed::{Managed, name_in_monitor};
use crate::network::{OpenPath, SharedPath};
use crate::open::OpenTarget;
use crate::settle::SettlingAt;

/// Interval at which [`Disturbers::prepare`] and [`Disturbers::end`] check whether the user asked
/// to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Time that a cut-off action has to end before it is abandoned; actions on a server are awaited
/// for longer.
const GRACE: Duration = Duration::from_secs(10);
/// After the user asked to stop, time that a server restart has to finish before it is abandoned.
const RESTART_PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Disturbers {
    all: Vec<Disturbance>,
    /// Planned end of the measured phase, in nanoseconds after its start; `None` if no duration is
    /// planned.
    end_ns: Option<u64>,
    database: Arc<dyn Database>,
    server: Option<Server>,
    environment: Arc<CommandEnvironment>,
    settling: Arc<SettlingAt>,
    path: Option<(SharedPath, NetworkConditions)>,
    signal: Arc<PhaseSignal>,
    threads: Vec<JoinHandle<()>>,
    hear: Option<Receiver<Message>>,
    under_way: Vec<DisturbanceEvent>,
    /// True if a thread of a disturbance was abandoned while its action was still running.
    is_left: bool,
    /// Hosts that clients used before the load. They are used again after the load, since
    /// disturbances may add or remove hosts.
    hosts: Vec<Host>,
    /// Address of each managed server, which changes when one is restarted.
    nodes: Arc<Mutex<Vec<Host>>>,
}

impl Disturbers {
    /// Takes the disturbances of `plan`, and takes the managed server out of `open_target`, to be
    /// returned by [`Disturbers::give_back`].
    pub(crate) fn from_plan(
        plan: &Plan,
        open_target: &mut OpenTarget,
        settling: SettlingAt,
        path: Option<&OpenPath>,
    ) -> Disturbers {
        let environment = CommandEnvironment::for_target(&plan.target, open_target.server.as_mut());
        let measure_ns = plan.phases.measure_ns;
        Disturbers {
            all: plan.disturbances.clone(),
            end_ns: (measure_ns > 0).then_some(measure_ns),
            database: Arc::clone(&open_target.database),
            nodes: Arc::new(Mutex::new(
                open_target.server.as_ref().map_or(Vec::new(), Managed::hosts),
            )),
            server: open_target.server.take().map(|server| Arc::new(Mutex::new(Some(server)))),
            environment: Arc::new(environment),
            settling: Arc::new(settling),
            path: path.map(|path| (path.share(), plan.network)),
            signal: Arc::default(),
            threads: Vec::new(),
            hear: None,
            under_way: Vec::new(),
            is_left: false,
            hosts: open_target.database.hosts().map_or(Vec::new(), |hosts| hosts.list()),
        }
    }

    /// Starts a thread for each disturbance, and waits until all have made the connections that
    /// they need. Fails if one cannot, or if a stop is requested.
    pub(crate) fn prepare(&mut self, stop: &Stop) -> Result<(), Error> {
        let (tell, hear) = channel();
        for (index, disturbance) in (0..).zip(&self.all) {
            let worker = Worker {
                index,
                disturbance: disturbance.clone(),
                end_ns: self.end_ns,
                database: Arc::clone(&self.database),
                server: self.server.clone(),
                nodes: Arc::clone(&self.nodes),
                environment: Arc::clone(&self.environment),
                settling: Arc::clone(&self.settling),
                path: self.path.clone(),
                signal: Arc::clone(&self.signal),
                tell: tell.clone(),
            };
            let named = thread::Builder::new().name("disturbance".to_owned());
            let spawned =
                named.spawn(move || worker.work()).map_err(|error| Error::no_thread(&error))?;
            self.threads.push(spawned);
        }
        drop(tell);
        let mut n_ready = 0;
        while n_ready < self.all.len() {
            match hear.recv_timeout(LOOK_EVERY) {
                Ok(Message::Ready) => n_ready += 1,
                Ok(Message::NotReady(why)) => return Err(Error::Failed(why)),
                Ok(Message::Disturbed(_)) => {
                    unreachable!("disturbances begin after the load begins")
                }
                Err(RecvTimeoutError::Timeout) if stop.is_asked() => {
                    self.is_left = true;
                    let why = "interrupted while the disturbances connected";
                    return Err(Error::Interrupted(why.to_owned()));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.hear = Some(hear);
        Ok(())
    }

    /// Returns, for the monitor, the name of each managed server and a function that finds its
    /// process id. The function returns `None` while a disturbance acts on the servers or the
    /// process does not run. The whole result is `None` without a managed server.
    pub(crate) fn processes(&self) -> Option<Vec<(String, Locate)>> {
        let server = self.server.as_ref()?;
        let n_nodes =
            server.lock().unwrap_or_else(PoisonError::into_inner).as_mut()?.processes().len();
        let locator = |index: usize| {
            // A locator must not keep the server alive.
            let server = Arc::downgrade(server);
            let locate: Locate = Box::new(move || {
                let server = server.upgrade()?;
                let processes = server.try_lock().ok()?.as_mut()?.processes();
                processes.get(index).copied()?
            });
            (name_in_monitor(index, n_nodes), locate)
        };
        Some((0..n_nodes).map(locator).collect())
    }

    /// Returns a function that starts the schedule of all disturbances. Call it once, with the time
    /// left until the measured phase begins; the times of disturbances are counted from that
    /// moment.
    pub(crate) fn begin(&self) -> impl Fn(Duration) + use<> {
        let signal = Arc::clone(&self.signal);
        move |ahead| signal.begin(wall_clock::now() + ahead)
    }

    /// Must be called with each event of the load, to learn when the measured phase ends. Passes
    /// what disturbances did since the last call to `tell`, as `Event::Disturbance`.
    pub(crate) fn follow(&mut self, event: &Event, tell: &mut dyn FnMut(Event)) {
        if matches!(event, Event::Phase { phase: Phase::Drain, .. }) {
            self.signal.end();
        }
        while let Some(Ok(said)) = self.hear.as_ref().map(Receiver::try_recv) {
            self.report(said, tell);
        }
    }

    fn report(&mut self, said: Message, tell: &mut dyn FnMut(Event)) {
        let Message::Disturbed(event) = said else { return };
        self.under_way.retain(|other| (other.index, other.nth) != (event.index, event.nth));
        if event.outcome == Disturbed::Running {
            self.under_way.push(event.clone());
        }
        tell(Event::Disturbance(event));
    }

    /// Ends all disturbances after the load. Cuts off running actions, but awaits actions on a
    /// server unless the user asks twice to stop. Starts servers again that a disturbance left
    /// stopped, so that the data can be checked.
    pub(crate) fn end(&mut self, stop: &Stop, tell: &mut dyn FnMut(Event)) {
        self.signal.end();
        let began = wall_clock::now();
        let is_quick = self.all.iter().all(|one| !one.action.is_of_server());
        while let Some(hear) = &self.hear {
            match hear.recv_timeout(LOOK_EVERY) {
                Ok(said) => self.report(said, tell),
                Err(RecvTimeoutError::Timeout) => {
                    self.is_left = stop.asked() > 1 || (is_quick && began.elapsed() > GRACE);
                    if self.is_left {
                        break;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.hear = None;
        for mut left in std::mem::take(&mut self.under_way) {
            let why = "it did not end when it was cut off, and was abandoned".to_owned();
            left.outcome = Disturbed::CutOff { why };
            left.ended_ns = Some(self.signal.now_ns());
            tell(Event::Disturbance(left));
        }
        self.join();
        if !self.is_left && self.signal.n_server_actions() > 0 {
            self.start_again(stop, tell);
        }
        if let Some(hosts) = self.database.hosts() {
            nodes::restore(hosts, &self.hosts);
        }
    }

    fn join(&mut self) {
        for thread in self.threads.drain(..).filter(|_| !self.is_left) {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    }

    fn start_again(&mut self, stop: &Stop, tell: &mut dyn FnMut(Event)) {
        let Some(mut server) = self.take_server() else { return };
        let what = match server.control().is_cluster() {
            true => "the cluster was restored to its state before the load",
            false => "the server was started again after the load",
        };
        let interrupted = "interrupted while the server was started again";
        // The load often ends because the user asked to stop.
        let started = run_unless_asked_twice(stop, RESTART_PATIENCE, interrupted, move || {
            let started = server.control().restore();
            Ok((server, started))
        });
        let text = match &started {
            Ok((_, Ok(true))) => Some(what.to_owned()),
            Ok((_, Ok(false))) => None,
            Ok((_, Err(error))) => Some(format!("the server could not be started again: {error}")),
            Err(error) => Some(error.to_string()),
        };
        self.server = started.ok().map(|(server, _)| Arc::new(Mutex::new(Some(server))));
        if let Some(text) = text {
            tell(Event::Output { text });
        }
    }

    fn take_server(&mut self) -> Option<Managed> {
        let server = self.server.take()?;
        // The monitor locks the server only while it looks up its processes. An abandoned worker
        // may keep the lock for ever, so nothing waits for it.
        let mut held = match server.try_lock() {
            Err(TryLockError::WouldBlock) if self.is_left => return None,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Ok(held) => held,
            Err(TryLockError::WouldBlock) => server.lock().unwrap_or_else(PoisonError::into_inner),
        };
        held.take()
    }

    /// Ends the threads of the disturbances and returns the managed server; `None` if there was
    /// none or an abandoned thread still uses it.
    pub(crate) fn give_back(mut self) -> Option<Managed> {
        self.signal.end();
        self.join();
        self.take_server()
    }
}
