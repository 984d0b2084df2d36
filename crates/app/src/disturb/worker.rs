//! The thread of a disturbance: it waits for each of its times, runs the action, and reports it.
//! Not here: actions on servers (nodes), and running a command (command).

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use model::{
    Action, Database, Disturbance, DisturbanceEvent, Disturbed, Host, NetworkConditions,
    SettlingStep, format_duration,
};
use monitor::{PhaseSignal, Woken, wall_clock};

use super::command::{self, CommandEnvironment};
use super::limit::Limit;
use crate::admin_session::AdminSession;
use crate::managed::Managed;
use crate::network::SharedPath;
use crate::settle::SettlingAt;

/// The managed server, shared by all disturbances; `None` inside once it was given back.
pub(super) type Server = Arc<Mutex<Option<Managed>>>;

/// Outcome of a disturbance's action, and a text about it for the report, such as the output of a
/// command, an error, or `moving clients: 8`.
pub(super) type Came = (Disturbed, String);

pub(super) fn failed(why: impl Into<String>) -> Came {
    (Disturbed::Failed { why: why.into() }, String::new())
}

pub(super) enum Message {
    Ready,
    NotReady(String),
    Disturbed(DisturbanceEvent),
}

/// A disturbance with all that its thread needs.
pub(super) struct Worker {
    pub(super) index: u16,
    pub(super) disturbance: Disturbance,
    pub(super) end_ns: Option<u64>,
    pub(super) database: Arc<dyn Database>,
    pub(super) server: Option<Server>,
    pub(super) nodes: Arc<Mutex<Vec<Host>>>,
    pub(super) environment: Arc<CommandEnvironment>,
    pub(super) settling: Arc<SettlingAt>,
    /// The simulated network, and the conditions of the plan to which it returns after a temporary
    /// change; `None` without a simulated network.
    pub(super) path: Option<(SharedPath, NetworkConditions)>,
    pub(super) signal: Arc<PhaseSignal>,
    pub(super) tell: Sender<Message>,
}

/// A disturbance's connection to the database, with the number of server actions that had begun or
/// ended when it was made. If that number has grown since, the connection may be broken.
struct Line {
    session: AdminSession,
    n_server_actions: u32,
}

impl Worker {
    /// Runs the thread of a disturbance: connects if the action is SQL, reports that it is ready,
    /// and runs the action each time that it is due until the load is over.
    pub(super) fn work(self) {
        let (mut line, mut step) = (None, None);
        if let Action::Settle(name) = &self.disturbance.action {
            match self.settling.step(self.database.as_ref(), name) {
                Ok(found) => step = Some(found),
                Err(why) => {
                    let why = format!("the disturbance '{}': {why}", self.disturbance.name);
                    return self.say(Message::NotReady(why));
                }
            }
        }
        if matches!(self.disturbance.action, Action::Sql(_)) {
            match self.connect() {
                Ok(made) => line = Some(made),
                Err(why) => {
                    let why = format!("the disturbance '{}' {why}", self.disturbance.name);
                    return self.say(Message::NotReady(why));
                }
            }
        }
        self.say(Message::Ready);
        let Some(start) = self.signal.wait_for_start() else { return self.skip_rest(0) };
        let mut ended_ns = i64::MIN;
        for nth in 0.. {
            let Some(due_ns) = self.disturbance.due_ns(nth) else { return };
            if self.end_ns.is_some_and(|end_ns| due_ns >= end_ns) {
                return;
            }
            if ended_ns > due_ns as i64 {
                self.skip(nth, due_ns, "its previous execution was still running");
                continue;
            }
            let due = start + Duration::from_nanos(due_ns);
            if self.signal.wait(Some(due), &|| false) == Woken::Over {
                return self.skip_rest(nth);
            }
            ended_ns = self.once(nth, start, &mut line, step);
        }
    }

    /// Runs the action of the disturbance for the `nth` time, counted from 0, and reports start and
    /// end. Returns when it ended, in nanoseconds after `start`, the beginning of the measured
    /// phase.
    fn once(
        &self,
        nth: u32,
        start: Instant,
        line: &mut Option<Line>,
        step: Option<&SettlingStep>,
    ) -> i64 {
        let began = wall_clock::now();
        let mut event = DisturbanceEvent {
            index: self.index,
            nth,
            name: self.disturbance.name.clone(),
            what: self.disturbance.action.summary(),
            began_ns: wall_clock::since(start, began),
            ended_ns: None,
            outcome: Disturbed::Running,
            output: String::new(),
        };
        self.say(Message::Disturbed(event.clone()));
        let limit = self.limit(start, began);
        let (outcome, output) = match &self.disturbance.action {
            Action::Sql(statements) => self.speak(statements, line, &limit),
            Action::Command(command) => {
                command::run(command, &self.environment, &self.signal, &limit)
            }
            Action::Server(action) => self.handle(&|managed| self.act(managed, 1, *action)),
            Action::Node { node, action } => {
                self.handle(&|managed| self.act(managed, *node, *action))
            }
            Action::Join => self.handle(&|managed| self.join(managed)),
            Action::Hosts { change, which } => self.change_hosts(*change, which),
            Action::Settle(_) => self.settle(step, &limit),
            Action::Network(conditions) => self.change_network(*conditions, &limit),
        };
        let ended_ns = wall_clock::since(start, wall_clock::now());
        event.ended_ns = Some(ended_ns);
        event.outcome = outcome;
        event.output = output;
        self.say(Message::Disturbed(event));
        ended_ns
    }

    fn limit(&self, start: Instant, began: Instant) -> Limit {
        let disturbance = &self.disturbance;
        let until = disturbance.until_ns.map(|ns| start + Duration::from_nanos(ns));
        let limit = disturbance.limit_ns.map(|ns| (began + Duration::from_nanos(ns), ns));
        match (until, limit) {
            (Some(until), limit) if limit.is_none_or(|(at, _)| until <= at) => {
                Limit { at: Some(until), why: "its end time (until) was reached".to_owned() }
            }
            (_, Some((at, ns))) => {
                let why = format!("it reached its time limit of {}", format_duration(ns));
                Limit { at: Some(at), why }
            }
            _ => Limit { at: None, why: String::new() },
        }
    }

    fn connect(&self) -> Result<Line, String> {
        let n_server_actions = self.signal.n_server_actions();
        let session = AdminSession::at(self.database.as_ref());
        let session = session.map_err(|db_error| format!("could not connect: {db_error}"))?;
        Ok(Line { session, n_server_actions })
    }

    /// Executes SQL statements. Connects again first if a server action may have broken the
    /// connection, or if the server closed it while idle.
    fn speak(&self, statements: &[String], line: &mut Option<Line>, limit: &Limit) -> Came {
        let n_server_actions = self.signal.n_server_actions();
        let kept = line.take().filter(|line| line.n_server_actions == n_server_actions);
        let kept = kept.and_then(|mut line| (!line.session.has_ended()).then_some(line));
        let mut made = match kept.map_or_else(|| self.connect(), Ok) {
            Ok(made) => made,
            Err(why) => return failed(why),
        };
        let mut n_affected = 0;
        for (nth, sql) in (1..).zip(statements) {
            let is_cut = || self.signal.is_over() || limit.has_come();
            match made.session.until(&is_cut, |session| session.write(sql)) {
                Ok(reply) => n_affected += reply.n_affected,
                // A session whose statement was cut off is unusable.
                Err(_) if is_cut() => return (limit.cut_off(), String::new()),
                Err(db_error) => {
                    if !db_error.kind.breaks_session() {
                        *line = Some(made);
                    }
                    let which = match statements.len() {
                        1 => String::new(),
                        n => format!("statement {nth} of {n}: "),
                    };
                    return (
                        Disturbed::Failed { why: format!("{which}{db_error}") },
                        String::new(),
                    );
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

    /// Changes the conditions of the simulated network, and restores them at the limit; without a
    /// limit, the change is permanent.
    fn change_network(&self, conditions: NetworkConditions, limit: &Limit) -> Came {
        let Some((path, before)) = &self.path else {
            return failed("there is no simulated network");
        };
        let changed = path.change(conditions).and_then(|()| {
            if limit.at.is_some() {
                self.signal.wait(limit.at, &|| false);
                path.change(*before)?;
            }
            Ok(())
        });
        match changed {
            Ok(()) => (Disturbed::Done, String::new()),
            Err(error) => failed(error.to_string()),
        }
    }

    fn skip(&self, nth: u32, due_ns: u64, why: &str) {
        self.say(Message::Disturbed(DisturbanceEvent {
            index: self.index,
            nth,
            name: self.disturbance.name.clone(),
            what: self.disturbance.action.summary(),
            began_ns: due_ns as i64,
            ended_ns: None,
            outcome: Disturbed::Skipped { why: why.to_owned() },
            output: String::new(),
        }));
    }

    /// Reports that the `nth` execution (from 0) of a repeated action, and all later ones, were
    /// skipped because the load ended before they were due.
    fn skip_rest(&self, nth: u32) {
        let Some(due_ns) = self.disturbance.due_ns(nth) else { return };
        // The number of repetitions is unknown without a planned end.
        let is_planned = nth == 0 || self.end_ns.is_some();
        if is_planned {
            let times = self.end_ns.map_or(1, |end_ns| self.disturbance.times_before(end_ns));
            let more = times.saturating_sub(u64::from(nth) + 1);
            let later = if more > 0 {
                format!(
                    ", and {more} more times in the same \
                                       way"
                )
            } else {
                String::new()
            };
            self.skip(nth, due_ns, &format!("the load was over before{later}"));
        }
    }

    fn say(&self, said: Message) {
        // The receiver may be gone.
        let _ = self.tell.send(said);
    }
}
