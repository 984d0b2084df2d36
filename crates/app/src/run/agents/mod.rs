//! Runs clients in separate processes (agents): starts the processes, waits until their clients
//! have connected, begins the load everywhere at the same instant, forwards their events, and
//! combines their results with those of this process.
//!
//! Not here: what an agent does (serve), and how clients are divided (`engine::Share`).

mod clock_offset;
mod control;
mod link;
mod message;
mod permissions;
mod pipe;
mod serve;
mod transports;
mod watch;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use engine::{Origin, Ran, Share, Stop};
use model::{
    AgentLoss, Event, Fact, FactValue, Group, Host, NS_PER_MS, NS_PER_S, PathEntrance, Placement,
    Plan, Source, StopReason, Target,
};
use monitor::wall_clock;

use self::message::{AgentEnd, AgentJob, FromAgent, ToAgent, WatchJob, receive, send};
use super::description::source_of;
use super::numbering::Sourced;
use crate::error::Error;

pub use self::clock_offset::ClockOffset;
pub use self::control::restart_by_agent;
pub use self::link::{
    AgentHost, Chosen, Hosts, Incoming, Link, MESSAGE_BYTES_MAX, Outgoing, Peer, Transport,
};
pub use self::permissions::{AllowedControl, Permissions, Work};
pub use self::pipe::{read_framed, start_limited, write_framed};
pub use self::serve::serve as serve_agent;
pub(crate) use self::transports::Processes;
pub use self::transports::add_transport;

/// Hidden subcommand with which dbdyno runs itself as a client process.
pub const AGENT: &str = "client-process";
/// Time that client processes need between the order to start and the start of the load.
const LEAD_NS: u64 = 50 * NS_PER_MS;
/// Interval of checks whether the run must stop, while client processes are awaited.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Number of exchanges in which the clock of a client process is read. The result of the fastest
/// one counts, since it has the smallest error.
const CLOCK_READINGS: usize = 16;
/// Longest wait for a client process to answer with the time of its clock, after which the clock is
/// unknown; only a paused process takes longer.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);
/// Time limit for a client process to report the end of its load, from the end of this process's
/// load and in addition to the duration of the drain. All processes end at about the same time.
const END_WITHIN: Duration = Duration::from_secs(10);

/// Subject of facts about the hosts that agents monitor; their names begin with that of the agent.
pub(super) const MONITORED: &str = "monitor_agents";

/// A message of a client process, with the time at which it arrived by this process's clock.
struct Received {
    process: usize,
    unix_ns: u64,
    /// The message; `None` if the connection to the process has ended.
    message: Option<FromAgent>,
}

struct Agent {
    /// Name of the process for the user, such as `process 2` or `the agent gen1`.
    title: String,
    /// Host of the process; `None` if it is this one.
    host: Option<AgentHost>,
    /// Whether the process monitors its host, and executes no clients.
    is_monitor: bool,
    /// Whether the server is on the host that it monitors.
    has_server: bool,
    /// Whether it has sent all readings of its host.
    has_watched: bool,
    /// Time at which its last message arrived, in nanoseconds since 1970.
    heard_unix_ns: u64,
    peer: Box<dyn Peer>,
    /// Id of the process that an agent on this host has started; else `None`.
    process_id: Option<u32>,
    outgoing: Arc<dyn Outgoing>,
    /// Work of the process as text for the user: its clients in each group, such as `readers 6`.
    work: String,
    first_offset: Option<ClockOffset>,
    last_offset: Option<ClockOffset>,
    has_gone: bool,
    /// Reason why the process could not do its part of the run; `None` if it reported none.
    failure: Option<String>,
    end: Option<AgentEnd>,
}

/// All client processes of a run. Empty if all clients are in dbdyno's own process.
pub(super) struct Agents {
    list: Vec<Agent>,
    received: Receiver<Received>,
    /// Events of client processes that arrived while [`Agents`] waited for another message, and are
    /// not yet passed on.
    early: Vec<Sourced>,
    origin: Origin,
    /// Name of the transport, for reports.
    transport: &'static str,
    /// What happens if a process is lost during the load.
    loss: AgentLoss,
    /// Start of the measured phase, in nanoseconds since 1970; 0 before the order to start.
    measured_unix_ns: u64,
    ramp_up_ns: u64,
    /// Channel to the thread that forwards a stop to the client processes; dropping it ends the
    /// thread. `None` before the order to start.
    _stopper: Option<Sender<()>>,
}

/// An agent that monitors its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Monitored<'a> {
    /// Number of its process in the run.
    pub(super) process: u32,
    /// Name of the agent.
    pub(super) name: &'a str,
    /// Whether its host is this one.
    pub(super) is_here: bool,
    /// Whether the server is on its host.
    pub(super) has_server: bool,
}

/// Arguments for starting the client processes of a run.
pub(super) struct Start<'a> {
    pub(super) plan: &'a Plan,
    /// Target to connect to; of a `managed:` target, that of the started server.
    pub(super) target: &'a Target,
    pub(super) processes: &'a Processes,
    /// Number of statements that each session keeps prepared at most.
    pub(super) statements_kept: usize,
    pub(super) entrance: Option<PathEntrance>,
    pub(super) placement: Placement,
    pub(super) origin: Origin,
    /// Addresses of the server, for the agents that monitor it.
    pub(super) server_hosts: Vec<Host>,
    /// Names of the server's program.
    pub(super) programs: Vec<String>,
}

/// Returns the password of the server of each group's clients, if it is not the run's target.
fn group_passwords(plan: &Plan) -> Vec<Option<String>> {
    let password = |group: &Group| group.target_beside(&plan.target)?.password;
    let groups = plan.groups.iter().map(password);
    groups.map(|password| password.map(|secret| secret.reveal().to_owned())).collect()
}

/// Returns the number of client processes that a plan needs: the largest of all groups.
pub(super) fn n_processes(plan: &Plan) -> u32 {
    plan.groups.iter().map(|group| group.processes).max().unwrap_or(0)
}

/// Returns the number of cores for each process of a run, which is its number of event loops: the
/// cores of this machine divided by the processes with clients, including this one if it has any.
/// An agent has all cores of its host.
pub(crate) fn workers(plan: &Plan) -> usize {
    let cores = thread::available_parallelism().map_or(1, |n| n.get());
    if !plan.agents.is_empty() {
        return cores;
    }
    let has_own = plan.groups.iter().any(|group| group.processes == 0);
    (cores / (n_processes(plan) as usize + usize::from(has_own)).max(1)).max(1)
}

impl Agents {
    /// Starts the client processes, and waits until all their clients have connected. Fails if a
    /// process cannot do that, or the user asks to stop.
    pub(super) fn start(arguments: &Start<'_>, stop: &Arc<Stop>) -> Result<Agents, Error> {
        let (plan, processes) = (arguments.plan, arguments.processes);
        let (sender, received) = channel();
        let mut agents = Agents {
            list: Vec::new(),
            received,
            early: Vec::new(),
            origin: arguments.origin,
            transport: processes.transport().name(),
            loss: plan.agent_loss,
            measured_unix_ns: 0,
            ramp_up_ns: plan.phases.ramp_up_ns,
            _stopper: None,
        };
        for process in 1..=n_processes(plan) {
            let job = ToAgent::Job(Box::new(job_for(arguments, process)));
            let host = processes.hosts.get(process as usize - 1).cloned();
            let work = clients_of(plan, process);
            let connected = processes.transport().start(process);
            agents.add((job, work), host, connected, (&sender, stop))?;
        }
        stop.await_others(agents.list.len() as u32);
        for (number, host) in (1..).zip(&processes.monitors) {
            let job = ToAgent::Watch(WatchJob {
                hosts: arguments.server_hosts.clone(),
                programs: arguments.programs.clone(),
                ramp_up_ns: plan.phases.ramp_up_ns,
            });
            let connected = processes.start_monitor(number);
            let work = "monitor".to_owned();
            agents.add((job, work), Some(host.clone()), connected, (&sender, stop))?;
        }
        agents.await_connected(&plan_for_agents(plan), stop)?;
        Ok(agents)
    }

    /// Adds a process that was started, and gives it its job.
    fn add(
        &mut self,
        (job, work): (ToAgent, String),
        host: Option<AgentHost>,
        connected: io::Result<(Link, Box<dyn Peer>)>,
        (sender, stop): (&Sender<Received>, &Arc<Stop>),
    ) -> Result<(), Error> {
        let process = self.list.len() as u32 + 1;
        let title = match &host {
            Some(host) => format!("the agent {}", host.name),
            None => format!("process {process}"),
        };
        let listener = Listener {
            process,
            title,
            is_monitor: matches!(job, ToAgent::Watch(_)),
            origin: self.origin,
            sender: sender.clone(),
            stop: Arc::clone(stop),
            loss: self.loss,
        };
        let begun = connected
            .and_then(|(link, peer)| Agent::begin(&job, (work, host), link, peer, listener));
        let failed =
            |error| Error::Failed(format!("a process for the clients cannot be started: {error}"));
        self.list.push(begun.map_err(failed)?);
        Ok(())
    }

    /// Returns the agents that monitor their hosts.
    pub(super) fn monitored(&self) -> impl Iterator<Item = Monitored<'_>> {
        let numbered = (1_u32..).zip(&self.list).filter(|(_, agent)| agent.is_monitor);
        numbered.filter_map(|(process, agent)| {
            let AgentHost { name, is_here, .. } = agent.host.as_ref()?;
            Some(Monitored { process, name, is_here: *is_here, has_server: agent.has_server })
        })
    }

    /// Waits until the clients of all processes have connected. Fails if a process executes another
    /// plan than `plan`.
    fn await_connected(&mut self, plan: &str, stop: &Stop) -> Result<(), Error> {
        let mut n_connected = 0;
        while n_connected < self.list.len() {
            match self.received.recv_timeout(LOOK_EVERY) {
                Ok(Received {
                    message: Some(FromAgent::Connected { plan: theirs, process_id }),
                    process,
                    ..
                }) => {
                    let agent = &mut self.list[process];
                    if theirs != plan {
                        let title = &agent.title;
                        return Err(Error::Failed(format!(
                            "{title} understands the plan differently: are both programs the same?"
                        )));
                    }
                    let is_visible = agent.host.as_ref().is_some_and(|host| host.shares_processes);
                    agent.process_id = is_visible.then_some(process_id);
                    n_connected += 1;
                }
                Ok(Received {
                    process, message: Some(FromAgent::Watches { has_server }), ..
                }) => {
                    self.list[process].has_server = has_server;
                    n_connected += 1;
                }
                Ok(received) => {
                    let process = received.process;
                    let event = self.take(received);
                    self.early.extend(event);
                    let agent = &mut self.list[process];
                    if agent.has_gone {
                        return Err(Error::Failed(agent.how_it_ended()));
                    }
                }
                Err(_) if stop.is_asked() => {
                    let why = "interrupted while clients in other processes connected";
                    return Err(Error::Interrupted(why.to_owned()));
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the processes that execute clients.
    fn loads(&self) -> impl Iterator<Item = &Agent> {
        self.list.iter().filter(|agent| !agent.is_monitor)
    }

    /// Returns the largest number of event loops in a process of the run.
    pub(super) fn loops_each(&self, plan: &Plan) -> u32 {
        let of_hosts = self.loads().filter_map(|agent| Some(agent.host.as_ref()?.n_cpus)).max();
        of_hosts.unwrap_or(workers(plan) as u32)
    }

    /// Returns the number (from 1) and process id of each client process that runs on this machine.
    pub(super) fn processes(&self) -> Vec<(u32, u32)> {
        let numbered = (1..).zip(self.loads());
        let id = |agent: &Agent| agent.peer.process_id().or(agent.process_id);
        numbered.filter_map(|(number, agent)| Some((number, id(agent)?))).collect()
    }

    /// Measures the offset of each client process's clock before the load. Returns how long before
    /// the start of the load the order to start must be sent, in nanoseconds; 0 without client
    /// processes.
    pub(super) fn read_clocks(&mut self) -> u64 {
        let mut longest_ns = 0;
        for process in 0..self.list.len() {
            let began_ns = self.unix_ns();
            self.list[process].first_offset = self.offset_of(process);
            longest_ns = longest_ns.max(self.unix_ns() - began_ns);
        }
        match self.list.is_empty() {
            true => 0,
            // No exchange took longer than all of them.
            false => LEAD_NS + longest_ns,
        }
    }

    /// Orders all client processes to start the load at `load_start_ns`, in nanoseconds after the
    /// origin of this process's clock. From then on, a stop of the run is forwarded to them.
    pub(super) fn begin(&mut self, load_start_ns: u64, stop: &Arc<Stop>) {
        if self.list.is_empty() {
            return;
        }
        let here_ns = self.origin.unix_ns() + load_start_ns;
        self.measured_unix_ns = here_ns + self.ramp_up_ns;
        for process in 0..self.list.len() {
            let offset = self.list[process].first_offset;
            let unix_ns = offset.map_or(here_ns, |offset| offset.there(here_ns));
            // On one host there is one clock, which the comparison would only blur.
            let host = self.list[process].host.as_ref();
            let is_elsewhere = host.is_some_and(|host| !host.is_here);
            let offset = offset.filter(|_| is_elsewhere);
            let ahead_ns = offset.map_or(0, |offset| offset.ns);
            self.list[process].order(&ToAgent::Start { unix_ns, ahead_ns });
        }
        let all: Vec<_> = self.loads().map(|agent| Arc::clone(&agent.outgoing)).collect();
        let (stopper, ends) = channel();
        let stop = Arc::clone(stop);
        let pass_on = move || {
            let mut passed = 0;
            while ends.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                let must_end = stop.has_failed() || stop.is_queue_full();
                let asked = stop.asked().max(u32::from(must_end));
                for _ in passed..asked {
                    all.iter().for_each(|outgoing| order(outgoing.as_ref(), &ToAgent::Stop));
                }
                passed = passed.max(asked);
            }
        };
        // Without this thread, the processes end with the run anyway.
        drop(thread::Builder::new().name("stopper".to_owned()).spawn(pass_on));
        self._stopper = Some(stopper);
    }

    /// Calls `tell` with each event of the client processes that has arrived since the last call,
    /// without waiting.
    pub(super) fn follow(&mut self, tell: &mut dyn FnMut(Sourced)) {
        self.early.drain(..).for_each(&mut *tell);
        while let Ok(received) = self.received.try_recv() {
            self.take(received).into_iter().for_each(&mut *tell);
        }
    }

    /// Waits until the load of all client processes has ended, or a time limit (ten seconds and
    /// `drain_ns`) is reached. Passes their events to `tell` meanwhile. Measures the clock offsets
    /// again.
    pub(super) fn end(&mut self, drain_ns: u64, stop: &Stop, tell: &mut dyn FnMut(Sourced)) {
        let began = wall_clock::now();
        let limit = END_WITHIN + Duration::from_nanos(drain_ns);
        let is_done = |agent: &Agent| agent.has_gone || agent.end.is_some();
        while !self.loads().all(is_done) && began.elapsed() < limit {
            if let Ok(received) = self.received.recv_timeout(LOOK_EVERY) {
                self.take(received).into_iter().for_each(&mut *tell);
            }
            if stop.asked() > 1 && began.elapsed() > END_WITHIN / 10 {
                break;
            }
        }
        self.end_monitors(tell);
        self.follow(tell);
        for process in 0..self.list.len() {
            if self.list[process].end.is_some() || self.list[process].has_watched {
                self.list[process].last_offset = self.offset_of(process);
            }
        }
    }

    /// Ends the processes that monitor their hosts, and waits for their last readings.
    fn end_monitors(&mut self, tell: &mut dyn FnMut(Sourced)) {
        let began = wall_clock::now();
        let monitors = self.list.iter().filter(|agent| agent.is_monitor);
        monitors.for_each(|agent| agent.order(&ToAgent::Stop));
        let reads = |agent: &Agent| agent.is_monitor && !agent.has_gone && !agent.has_watched;
        while self.list.iter().any(reads) && began.elapsed() < END_WITHIN {
            if let Ok(received) = self.received.recv_timeout(LOOK_EVERY) {
                self.take(received).into_iter().for_each(&mut *tell);
            }
        }
    }

    /// Combines the result of this process's load with those of the client processes. A process
    /// that has not reported its end makes the run failed, unless the plan lets it go on without.
    pub(super) fn joined(&mut self, ours: Ran) -> Ran {
        let mut ran = ours;
        let is_marked = self.loss == AgentLoss::Mark;
        let goes_on = is_marked && self.list.iter().any(|agent| agent.end.is_some());
        if !goes_on
            && self.loads().all(|agent| agent.end.is_none())
            && let Some(heard_ns) = self.loads().map(|agent| agent.heard_unix_ns).max()
        {
            // Nobody knows more of the load than what was heard.
            ran.measured_ns = heard_ns.saturating_sub(self.measured_unix_ns);
        }
        for agent in self.list.iter_mut().filter(|agent| !agent.is_monitor) {
            let Some(end) = &agent.end else {
                if !goes_on {
                    ran.reason = StopReason::failed(agent.how_it_ended());
                }
                continue;
            };
            ran.elapsed_ns = ran.elapsed_ns.max(end.elapsed_ns);
            ran.n_left_behind += end.n_left_behind;
            let (count, longest_ns, longest_at_ns) = end.pauses;
            ran.pauses.count += count;
            if longest_ns > ran.pauses.longest_ns {
                (ran.pauses.longest_ns, ran.pauses.longest_at_ns) = (longest_ns, longest_at_ns);
            }
            ran.waits_for_input |= end.waits_for_input;
            ran.n_idle_losses += end.n_idle_losses;
            ran.no_reply_lag = ran.no_reply_lag.or_else(|| end.no_reply_lag.clone());
            // A process that was stopped because another one failed counts as interrupted.
            let rank = |reason: &StopReason| match reason {
                StopReason::Completed => 0,
                StopReason::Interrupted | StopReason::QueueFull => 1,
                StopReason::Failed { .. } => 2,
            };
            if rank(&end.reason) > rank(&ran.reason) {
                ran.reason = end.reason.clone();
            }
        }
        ran
    }

    /// Returns the number (from 1) and result of each client process that has reported its end.
    pub(super) fn ends(&self) -> impl Iterator<Item = (u32, &AgentEnd)> {
        let numbered = (1_u32..).zip(&self.list);
        numbered.filter_map(|(process, agent)| Some((process, agent.end.as_ref()?)))
    }

    /// Returns facts about each process: its work, clock offsets, CPU time and memory.
    pub(super) fn facts(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        if self.loads().next().is_some() {
            facts.push(Fact::new("processes", "transport", self.transport));
        }
        for (process, agent) in (1..).zip(&self.list) {
            let (about, named) = match (&agent.host, agent.is_monitor) {
                (Some(host), true) => (MONITORED, host.name.clone()),
                _ => ("processes", format!("process_{process}")),
            };
            let facts_of = agent.facts().into_iter();
            facts.extend(
                facts_of.map(|(name, value)| Fact::new(about, &format!("{named}_{name}"), value)),
            );
        }
        facts
    }

    /// Handles a message of a client process. Returns the event if the message is one, else `None`.
    fn take(&mut self, received: Received) -> Option<Sourced> {
        let agent = &mut self.list[received.process];
        if received.message.is_some() {
            agent.heard_unix_ns = received.unix_ns;
        }
        match received.message {
            Some(FromAgent::Event(event)) => {
                return Some(Sourced { process: received.process as u32 + 1, event });
            }
            Some(FromAgent::Ended(end)) => agent.end = Some(*end),
            Some(FromAgent::Watched) => agent.has_watched = true,
            // Late answers are ignored; a full queue was noticed on arrival.
            Some(
                FromAgent::Connected { .. }
                | FromAgent::Watches { .. }
                | FromAgent::Clock { .. }
                | FromAgent::QueueFull
                | FromAgent::Controls { .. }
                | FromAgent::Done,
            ) => {}
            Some(FromAgent::Failed { why }) => {
                agent.failure = Some(why);
                return self.lost(received.process);
            }
            None => return self.lost(received.process),
        }
        None
    }

    /// Notes that a process does not take part any more. Returns the fact that says so, if the run
    /// goes on without it.
    fn lost(&mut self, process: usize) -> Option<Sourced> {
        let agent = &mut self.list[process];
        let is_first = !std::mem::replace(&mut agent.has_gone, true);
        let is_marked = match agent.is_monitor {
            true => !agent.has_watched,
            false => agent.end.is_none() && self.loss == AgentLoss::Mark,
        };
        if !is_first || !is_marked || self.measured_unix_ns == 0 {
            return None;
        }
        let heard_ns = agent.heard_unix_ns as f64 - self.measured_unix_ns as f64;
        let lost = format!("{:.1} s, {}", heard_ns / NS_PER_S as f64, agent.how_it_ended());
        let fact = match (&agent.host, agent.is_monitor) {
            (Some(host), true) => Fact::new(MONITORED, &format!("{}_lost_at", host.name), lost),
            _ => Fact::new("processes", &format!("process_{}_lost_at", process + 1), lost),
        };
        Some(Sourced { process: 0, event: Event::Fact(fact) })
    }

    /// Measures the offset of a client process's clock by the fastest of several exchanges; `None`
    /// if the process does not answer.
    fn offset_of(&mut self, process: usize) -> Option<ClockOffset> {
        let mut best: Option<ClockOffset> = None;
        for _ in 0..CLOCK_READINGS {
            let sent_ns = self.unix_ns();
            self.list[process].order(&ToAgent::ReadClock);
            let Some((answer_ns, came_ns)) = self.await_clock(process) else { break };
            let offset = ClockOffset::of_exchange(sent_ns, answer_ns, came_ns);
            if best.is_none_or(|best| offset.error_ns < best.error_ns) {
                best = Some(offset);
            }
        }
        best
    }

    /// Waits for a client process's answer with the time of its clock. Returns the time in the
    /// answer and that of its arrival by this process's clock; `None` if the answer takes more than
    /// a second.
    fn await_clock(&mut self, process: usize) -> Option<(u64, u64)> {
        while !self.list[process].has_gone {
            let received = self.received.recv_timeout(ANSWER_WITHIN).ok()?;
            match received.message {
                Some(FromAgent::Clock { unix_ns }) if received.process == process => {
                    return Some((unix_ns, received.unix_ns));
                }
                _ => {
                    let event = self.take(received);
                    self.early.extend(event);
                }
            }
        }
        None
    }

    fn unix_ns(&self) -> u64 {
        self.origin.unix_ns() + self.origin.elapsed_ns()
    }
}

impl Agent {
    /// Gives a process its job, and listens to it on a thread.
    fn begin(
        job: &ToAgent,
        (work, host): (String, Option<AgentHost>),
        link: Link,
        peer: Box<dyn Peer>,
        listener: Listener,
    ) -> io::Result<Agent> {
        let Link { incoming, outgoing } = link;
        let heard = listener.clone();
        // If the process has ended already, its link shows that.
        let _ = send(outgoing.as_ref(), job);
        thread::Builder::new()
            .name(format!("agent-{}", listener.process))
            .spawn(move || heard.listen(incoming))?;
        Ok(Agent {
            title: listener.title,
            host,
            is_monitor: listener.is_monitor,
            has_server: false,
            has_watched: false,
            heard_unix_ns: 0,
            peer,
            process_id: None,
            outgoing,
            work,
            first_offset: None,
            last_offset: None,
            has_gone: false,
            failure: None,
            end: None,
        })
    }

    fn order(&self, message: &ToAgent) {
        order(self.outgoing.as_ref(), message);
    }

    /// Returns facts about the process, by name.
    fn facts(&self) -> Vec<(String, FactValue)> {
        let seconds = |ns: f64| FactValue::seconds(ns / NS_PER_S as f64, 7);
        let mut facts = Vec::new();
        let mut fact = |name: &str, value: FactValue| facts.push((name.to_owned(), value));
        if !self.is_monitor {
            fact("clients", self.work.as_str().into());
        }
        if let Some(host) = &self.host {
            fact("agent", host.name.as_str().into());
            fact("machine", host.machine.as_str().into());
            fact("cpus", u64::from(host.n_cpus).into());
            fact("is_here", FactValue::YesNo(host.is_here));
        }
        for (name, offset) in [("first", self.first_offset), ("last", self.last_offset)] {
            let Some(offset) = offset else { continue };
            fact(&format!("clock_offset_{name}_s"), seconds(offset.ns as f64));
            fact(&format!("clock_offset_{name}_error_s"), seconds(offset.error_ns as f64));
        }
        if let Some(end) = &self.end {
            fact("start_margin_s", seconds(end.start_margin_ns as f64));
            fact("cpu_s", seconds(end.cpu_ns as f64));
            fact("max_rss_bytes", FactValue::Bytes(end.max_rss_bytes));
        }
        facts
    }

    fn how_it_ended(&mut self) -> String {
        let (title, work) = (&self.title, &self.work);
        if let Some(why) = &self.failure {
            return format!("{title} ({work}): {why}");
        }
        match self.peer.how_it_ended(self.has_gone) {
            Some(how) => format!("{title} ({work}) ended during the run: {how}"),
            None => format!("{title} ({work}) no longer answers"),
        }
    }
}

/// Sends a message to a client process and ignores errors, since the end of a process is noticed by
/// its connection.
fn order(to: &dyn Outgoing, message: &ToAgent) {
    let _ = send(to, message);
}

/// Receives the messages of a client process, on a thread of its own.
#[derive(Clone)]
struct Listener {
    process: u32,
    title: String,
    is_monitor: bool,
    origin: Origin,
    sender: Sender<Received>,
    stop: Arc<Stop>,
    loss: AgentLoss,
}

impl Listener {
    /// Forwards messages until the connection ends. Tells the run's stop at once if the process
    /// fails, ends, or its queue is full.
    fn listen(self, mut incoming: Box<dyn Incoming>) {
        let mut has_ended = false;
        loop {
            let message: Option<FromAgent> = receive(incoming.as_mut());
            let unix_ns = self.origin.unix_ns() + self.origin.elapsed_ns();
            match &message {
                Some(FromAgent::Failed { why }) => self.lost(why.clone(), &mut has_ended),
                Some(FromAgent::QueueFull) => {
                    self.stop.other_queue_is_full(self.origin.elapsed_ns());
                }
                Some(FromAgent::Ended(end)) => {
                    has_ended = true;
                    self.stop.other_has_ended(end.measured_ns);
                    if let StopReason::Failed { why, .. } = &end.reason {
                        self.stop.fail(why.clone());
                    }
                }
                None => {
                    let why = format!("{} ended during the run", self.title);
                    self.lost(why, &mut has_ended);
                }
                _ => {}
            }
            let is_last = message.is_none();
            let received = Received { process: self.process as usize - 1, unix_ns, message };
            if self.sender.send(received).is_err() || is_last {
                return;
            }
        }
    }

    /// Fails the run, or lets it go on without this process, if its load has not ended.
    fn lost(&self, why: String, has_ended: &mut bool) {
        match (std::mem::replace(has_ended, true), self.loss) {
            // Without its readings the load goes on.
            _ if self.is_monitor => {}
            (true, _) => {}
            (false, AgentLoss::Fail) => self.stop.fail(why),
            (false, AgentLoss::Mark) => self.stop.other_has_ended(0),
        }
    }
}

/// Returns the part of the run that a client process executes.
fn job_for(arguments: &Start<'_>, process: u32) -> AgentJob {
    let (plan, target) = (arguments.plan, arguments.target);
    AgentJob {
        plan: plan_for_agents(plan),
        target: target.to_string(),
        password: target.password.as_ref().map(|secret| secret.reveal().to_owned()),
        group_passwords: group_passwords(plan),
        sources: sources_of(plan),
        entrance: arguments.entrance.map(|entrance| (entrance.port, entrance.token)),
        statements_kept: arguments.statements_kept,
        process,
        placement: arguments.placement,
    }
}

/// Returns the plan as TOML for client processes, without disturbances and server settings.
fn plan_for_agents(plan: &Plan) -> String {
    plan::to_toml(&Plan { disturbances: Vec::new(), settings: Vec::new(), ..plan.clone() })
}

/// Returns the contents of the workload files that a plan names, each once.
fn sources_of(plan: &Plan) -> Vec<Source> {
    let sources = plan.groups.iter().filter_map(|group| source_of(&group.workload));
    let mut all: Vec<Source> = Vec::new();
    for source in sources {
        if !all.contains(source) {
            all.push(source.clone());
        }
    }
    all
}

/// Returns the part of a group's clients that runs in a process; `None` if none do. Process 0 is
/// dbdyno itself; each agent of the plan is one process.
pub(super) fn share_of(plan: &Plan, group: &Group, process: u32) -> Option<Share> {
    match process.checked_sub(1) {
        None => (group.processes == 0).then(Share::whole),
        Some(index) => {
            let weights: Vec<u32> = match plan.agents.as_slice() {
                [] => vec![1; group.processes as usize],
                agents => agents.iter().map(|agent| agent.share).collect(),
            };
            Share::by_weight(&weights).into_iter().nth(index as usize)
        }
    }
}

fn clients_of(plan: &Plan, process: u32) -> String {
    let part = |group: &Group| {
        let share = share_of(plan, group, process)?;
        Some(format!("{} {}", group.name, share.below(group.clients).count()))
    };
    plan.groups.iter().filter_map(part).collect::<Vec<_>>().join(", ")
}
