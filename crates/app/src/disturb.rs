//! Disturbances: what is done to the database while it is measured.
//!
//! Each has a thread of its own, which waits for its time beside the load. The engine does not
//! know of them: they learn when the measured phase begins from whoever decides it, and when it
//! is over from its events. Not here: what they did to response times (results).

mod command;
mod nodes;

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use engine::Stop;
use model::{
    Action, Database, Disturbance, DisturbanceTold, Disturbed, Event, Host, Phase, Plan,
    format_duration,
};
use monitor::{Locate, PhaseSignal, Woken, wall_clock};

use self::command::Around;
use crate::admin_session::AdminSession;
use crate::error::Error;
use crate::interruptible::run_interruptible;
use crate::managed::Managed;
use crate::open::OpenTarget;

/// How soon a stop is heard before and after the load.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// What is cut off, and is no work of a server, has so long to end before it is left behind.
const GRACE: Duration = Duration::from_secs(10);

type Server = Arc<Mutex<Managed>>;

enum Said {
    Ready,
    NotReady(String),
    Told(DisturbanceTold),
}

/// All disturbances of a run.
pub(crate) struct Disturbers {
    all: Vec<Disturbance>,
    /// The end of the measured phase, where it is planned.
    end_ns: Option<u64>,
    database: Arc<dyn Database>,
    server: Option<Server>,
    around: Arc<Around>,
    signal: Arc<PhaseSignal>,
    threads: Vec<JoinHandle<()>>,
    hear: Option<Receiver<Said>>,
    under_way: Vec<DisturbanceTold>,
    /// Somebody does not end, or nobody wants to wait for it.
    is_left: bool,
    /// The hosts that clients used at first.
    hosts: Vec<Host>,
    /// Where clients reach each managed server.
    nodes: Arc<Mutex<Vec<Host>>>,
}

impl Disturbers {
    /// Those of `plan`. The server of `open_target` is theirs until [`Disturbers::give_back`].
    pub(crate) fn of(plan: &Plan, open_target: &mut OpenTarget) -> Disturbers {
        let around = Around::of(&plan.target, open_target.server.as_mut());
        let measure_ns = plan.phases.measure_ns;
        Disturbers {
            all: plan.disturbances.clone(),
            end_ns: (measure_ns > 0).then_some(measure_ns),
            database: Arc::clone(&open_target.database),
            nodes: Arc::new(Mutex::new(
                open_target.server.as_ref().map_or(Vec::new(), Managed::hosts),
            )),
            server: open_target.server.take().map(|server| Arc::new(Mutex::new(server))),
            around: Arc::new(around),
            signal: Arc::default(),
            threads: Vec::new(),
            hear: None,
            under_way: Vec::new(),
            is_left: false,
            hosts: open_target.database.hosts().map_or(Vec::new(), |hosts| hosts.list()),
        }
    }

    /// Starts them: each is connected when this returns.
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
                around: Arc::clone(&self.around),
                signal: Arc::clone(&self.signal),
                tell: tell.clone(),
            };
            let named = thread::Builder::new().name("disturbance".to_owned());
            let spawned = named.spawn(move || worker.work()).map_err(Error::failed)?;
            self.threads.push(spawned);
        }
        drop(tell);
        let mut n_ready = 0;
        while n_ready < self.all.len() {
            match hear.recv_timeout(LOOK_EVERY) {
                Ok(Said::Ready) => n_ready += 1,
                Ok(Said::NotReady(why)) => return Err(Error::Failed(why)),
                Ok(Said::Told(_)) => unreachable!("nothing is done before the load begins"),
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

    /// The first process of each server of ours, wherever it is at the time, by what it is called;
    /// while one is started or ended there is none to be seen. None if there is no such server.
    pub(crate) fn processes(&self) -> Option<Vec<(String, Locate)>> {
        let server = self.server.as_ref()?;
        let n_nodes = server.lock().unwrap_or_else(PoisonError::into_inner).processes().len();
        let of = |index: usize| {
            // Whoever looks does not keep the server.
            let server = Arc::downgrade(server);
            let locate: Locate = Box::new(move || {
                let server = server.upgrade()?;
                let processes = server.try_lock().ok()?.processes();
                processes.get(index).copied()?
            });
            let about = match n_nodes {
                1 => "server".to_owned(),
                _ => format!("node {}/server", index + 1),
            };
            (about, locate)
        };
        Some((0..n_nodes).map(of).collect())
    }

    /// Says how long from now the measured phase begins.
    pub(crate) fn begin(&self) -> impl Fn(Duration) + use<> {
        let signal = Arc::clone(&self.signal);
        move |ahead| signal.begin(wall_clock::now() + ahead)
    }

    /// Hears of the load, and tells what was done meanwhile.
    pub(crate) fn follow(&mut self, event: &Event, tell: &mut dyn FnMut(Event)) {
        if matches!(event, Event::Phase { phase: Phase::Drain, .. }) {
            self.signal.end();
        }
        while let Some(Ok(said)) = self.hear.as_ref().map(Receiver::try_recv) {
            self.run_interruptible_with_progress(said, tell);
        }
    }

    fn run_interruptible_with_progress(&mut self, said: Said, tell: &mut dyn FnMut(Event)) {
        let Said::Told(told) = said else { return };
        self.under_way.retain(|other| (other.index, other.nth) != (told.index, told.nth));
        if told.outcome == Disturbed::Running {
            self.under_way.push(told.clone());
        }
        tell(Event::Disturbance(told));
    }

    /// The load is over: what is under way is cut off, but for work of a server, which is waited
    /// for unless somebody asks twice to stop. A server that was left stopped is started again,
    /// so that the data can be looked at.
    pub(crate) fn end(&mut self, stop: &Stop, tell: &mut dyn FnMut(Event)) {
        self.signal.end();
        let began = wall_clock::now();
        let is_quick = self.all.iter().all(|one| !one.action.is_of_server());
        while let Some(hear) = &self.hear {
            match hear.recv_timeout(LOOK_EVERY) {
                Ok(said) => self.run_interruptible_with_progress(said, tell),
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
            let why = "it did not end when it was cut off, and was left behind".to_owned();
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
        let what = match server.cluster().is_galera() {
            true => "the cluster was made what it was before the load",
            false => "the server was started again after the load",
        };
        let interrupted = "interrupted while the server was started again";
        let started = run_interruptible(stop, interrupted, move || {
            let started = server.cluster().restore();
            Ok((server, started))
        });
        let text = match &started {
            Ok((_, Ok(true))) => Some(what.to_owned()),
            Ok((_, Ok(false))) => None,
            Ok((_, Err(error))) => Some(format!("the server could not be started again: {error}")),
            Err(error) => Some(error.to_string()),
        };
        self.server = started.ok().map(|(server, _)| Arc::new(Mutex::new(server)));
        if let Some(text) = text {
            tell(Event::Output { text });
        }
    }

    fn take_server(&mut self) -> Option<Managed> {
        let server = Arc::try_unwrap(self.server.take()?).ok()?;
        Some(server.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// The server; none if somebody who was left behind still works on it.
    pub(crate) fn give_back(mut self) -> Option<Managed> {
        self.signal.end();
        self.join();
        self.take_server()
    }
}

/// One disturbance on its thread.
struct Worker {
    index: u16,
    disturbance: Disturbance,
    end_ns: Option<u64>,
    database: Arc<dyn Database>,
    server: Option<Server>,
    nodes: Arc<Mutex<Vec<Host>>>,
    around: Arc<Around>,
    signal: Arc<PhaseSignal>,
    tell: Sender<Said>,
}

/// A connection, and how often the server had been disturbed when it was made.
struct Line {
    session: AdminSession,
    n_server_actions: u32,
}

impl Worker {
    fn work(self) {
        let mut line = None;
        if matches!(self.disturbance.action, Action::Sql(_)) {
            match self.connect() {
                Ok(made) => line = Some(made),
                Err(why) => {
                    let why = format!("the disturbance '{}' {why}", self.disturbance.name);
                    return self.say(Said::NotReady(why));
                }
            }
        }
        self.say(Said::Ready);
        let Some(start) = self.signal.wait_for_start() else { return self.skip_rest(0) };
        let mut ended_ns = i64::MIN;
        for nth in 0.. {
            let Some(due_ns) = self.disturbance.due_ns(nth) else { return };
            if self.end_ns.is_some_and(|end_ns| due_ns >= end_ns) {
                return;
            }
            if ended_ns > due_ns as i64 {
                self.skip(nth, due_ns, "it was still under way from the time before");
                continue;
            }
            let due = start + Duration::from_nanos(due_ns);
            if self.signal.wait(Some(due), &|| false) == Woken::Over {
                return self.skip_rest(nth);
            }
            ended_ns = self.once(nth, start, &mut line);
        }
    }

    /// Does it once; tells when it ended.
    fn once(&self, nth: u32, start: Instant, line: &mut Option<Line>) -> i64 {
        let began = wall_clock::now();
        let mut told = DisturbanceTold {
            index: self.index,
            nth,
            name: self.disturbance.name.clone(),
            what: self.disturbance.action.told(),
            began_ns: wall_clock::since(start, began),
            ended_ns: None,
            outcome: Disturbed::Running,
            output: String::new(),
        };
        self.say(Said::Told(told.clone()));
        let limit = self.limit(start, began);
        let (outcome, output) = match &self.disturbance.action {
            Action::Sql(statements) => self.speak(statements, line, &limit),
            Action::Command(command) => command::run(command, &self.around, &self.signal, &limit),
            Action::Server(action) => self.handle(&|managed| self.act(managed, 1, *action)),
            Action::Node { node, action } => {
                self.handle(&|managed| self.act(managed, *node, *action))
            }
            Action::Join => self.handle(&|managed| self.join(managed)),
            Action::Hosts { change, which } => self.change_hosts(*change, which),
        };
        let ended_ns = wall_clock::since(start, wall_clock::now());
        told.ended_ns = Some(ended_ns);
        told.outcome = outcome;
        told.output = output;
        self.say(Said::Told(told));
        ended_ns
    }

    fn limit(&self, start: Instant, began: Instant) -> Limit {
        let of = &self.disturbance;
        let until = of.until_ns.map(|ns| start + Duration::from_nanos(ns));
        let limit = of.limit_ns.map(|ns| (began + Duration::from_nanos(ns), ns));
        match (until, limit) {
            (Some(until), limit) if limit.is_none_or(|(at, _)| until <= at) => {
                Limit { at: Some(until), why: "its until had come".to_owned() }
            }
            (_, Some((at, ns))) => {
                let why = format!("it had taken its {}", format_duration(ns));
                Limit { at: Some(at), why }
            }
            _ => Limit { at: None, why: String::new() },
        }
    }

    fn connect(&self) -> Result<Line, String> {
        let n_server_actions = self.signal.n_server_actions();
        let session = AdminSession::at(self.database.as_ref());
        let session = session.map_err(|refusal| format!("could not connect: {refusal}"))?;
        Ok(Line { session, n_server_actions })
    }

    /// Says the statements. A connection that a server's end has broken is made anew before.
    fn speak(
        &self,
        statements: &[String],
        line: &mut Option<Line>,
        limit: &Limit,
    ) -> (Disturbed, String) {
        let n_server_actions = self.signal.n_server_actions();
        let kept = line.take().filter(|line| line.n_server_actions == n_server_actions);
        let mut made = match kept.map_or_else(|| self.connect(), Ok) {
            Ok(made) => made,
            Err(why) => return (Disturbed::Failed { why }, String::new()),
        };
        let mut n_affected = 0;
        for (nth, sql) in (1..).zip(statements) {
            let is_cut = || self.signal.is_over() || limit.has_come();
            match made.session.until(&is_cut, |session| session.write(sql)) {
                Ok(reply) => n_affected += reply.n_affected,
                // A session that was cut off is of no more use.
                Err(_) if is_cut() => return (limit.cut_off(), String::new()),
                Err(refusal) => {
                    if !refusal.kind.breaks_session() {
                        *line = Some(made);
                    }
                    let which = match statements.len() {
                        1 => String::new(),
                        n => format!("statement {nth} of {n}: "),
                    };
                    return (Disturbed::Failed { why: format!("{which}{refusal}") }, String::new());
                }
            }
        }
        *line = Some(made);
        let output = match n_affected {
            0 => String::new(),
            n => format!("{} rows affected", model::format_count(n)),
        };
        (Disturbed::Done, output)
    }

    fn skip(&self, nth: u32, due_ns: u64, why: &str) {
        self.say(Said::Told(DisturbanceTold {
            index: self.index,
            nth,
            name: self.disturbance.name.clone(),
            what: self.disturbance.action.told(),
            began_ns: due_ns as i64,
            ended_ns: None,
            outcome: Disturbed::Skipped { why: why.to_owned() },
            output: String::new(),
        }));
    }

    /// The load ended earlier than planned: this time and all later ones are not made.
    fn skip_rest(&self, nth: u32) {
        let Some(due_ns) = self.disturbance.due_ns(nth) else { return };
        // Of a repetition without an end nobody knows how often it would have been done.
        let is_planned = nth == 0 || self.end_ns.is_some();
        if is_planned {
            let times = self.end_ns.map_or(1, |end_ns| self.disturbance.times_before(end_ns));
            let more = times.saturating_sub(u64::from(nth) + 1);
            let later =
                if more > 0 { format!(", and so {more} more times") } else { String::new() };
            self.skip(nth, due_ns, &format!("the load was over before{later}"));
        }
    }

    fn say(&self, said: Said) {
        // Whoever has left hears nothing any more.
        let _ = self.tell.send(said);
    }
}

/// When a disturbance is cut off by its own words.
struct Limit {
    at: Option<Instant>,
    why: String,
}

impl Limit {
    fn has_come(&self) -> bool {
        self.at.is_some_and(|at| wall_clock::now() >= at)
    }

    fn cut_off(&self) -> Disturbed {
        match self.has_come() {
            true => Disturbed::CutOff { why: self.why.clone() },
            false => cut_off_by_end(),
        }
    }
}

fn cut_off_by_end() -> Disturbed {
    Disturbed::CutOff { why: "the load was over".to_owned() }
}
