//! The client process (agent): connects its clients, starts their load at the ordered instant, and
//! reports its events. It exits when its connection to the run ends, so none is left if dbdyno is
//! killed.
//!
//! Not here: starting a client process (agents).

use std::io;
use std::process::exit;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use analysis::Tally;
use engine::{Job, Origin, Stop};
use model::{
    Event, NS_PER_MS, PathEntrance, Phase, Placement, Plan, Secret, Target, format_duration,
};

use super::super::job_of;
use super::super::sink::RunSink;
use super::control::control;
use super::link::{Incoming, Link};
use super::message::{AgentEnd, AgentJob, FromAgent, Output, ToAgent, receive};
use super::permissions::{LIMITED, Permissions};
use super::plan_for_agents;
use super::transports::transport_named;
use super::watch::watch;
use crate::admission;
use crate::build::Progress;
use crate::error::Error;
use crate::open::{open, resolve_groups};
use crate::watcher::Watcher;

/// Watcher that sends the events of this process's load to the run.
struct Forward {
    output: Output,
    stop: Arc<Stop>,
}

impl Watcher for Forward {
    fn event(&mut self, event: &Event, _tally: &Tally) {
        match event {
            // Sent at once, because the other processes stop too.
            Event::Phase { phase: Phase::Drain, .. } if self.stop.is_queue_full() => {
                self.output.send(&FromAgent::QueueFull);
            }
            // The run reports phases and the end itself.
            Event::Phase { .. } | Event::Ended { .. } => {}
            event => self.output.send(&FromAgent::Event(event.clone())),
        }
    }

    fn building(&mut self, _progress: &Progress) {}

    fn note(&mut self, _text: &str) {}

    fn doing(&mut self, _text: &str) {}
}

/// Largest delay of the order to start, in nanoseconds: a process that gets it later would begin
/// later than the others.
const LATE_NS: i64 = 10 * NS_PER_MS as i64;

/// Runs this program as a client process until the load and the connection have ended. `words`
/// follow the hidden subcommand: the name of the transport, and what it needs.
pub fn serve(words: &[String]) -> io::Result<()> {
    let known = words.split_first().and_then(|(name, rest)| Some((transport_named(name)?, rest)));
    let unknown = || io::Error::other("a client process is started by dbdyno alone");
    let (transport, rest) = known.ok_or_else(unknown)?;
    let Link { mut incoming, outgoing } = transport.join(rest)?;
    let no_job = || io::Error::other("a client process begins with its job");
    let permissions: Option<Permissions> = match rest.iter().any(|word| word == LIMITED) {
        true => Some(receive(incoming.as_mut()).ok_or_else(no_job)?),
        false => None,
    };
    let (output, origin) = (Output(outgoing), Origin::now());
    let job = match receive(incoming.as_mut()) {
        Some(ToAgent::Job(job)) => job,
        Some(ToAgent::Watch(job)) => {
            return watch(job, permissions.as_ref(), origin, incoming, &output);
        }
        Some(ToAgent::Control(job)) => {
            control(&job, permissions.as_ref(), incoming, &output);
            return Ok(());
        }
        _ => return Err(no_job()),
    };
    let stop = Arc::new(Stop::default());
    let (begin, begins) = channel();
    let orders = {
        let (output, stop) = (output.clone(), Arc::clone(&stop));
        let named = thread::Builder::new().name("orders".to_owned());
        named.spawn(move || obey(incoming, origin, &output, &stop, &begin))?
    };
    let last = match run(&job, permissions.as_ref(), origin, &stop, &output, &begins) {
        Ok(end) => FromAgent::Ended(Box::new(end)),
        Err(error) => FromAgent::Failed { why: error.to_string() },
    };
    output.send(&last);
    // Questions for the clock are answered until the connection ends.
    let _ = orders.join();
    Ok(())
}

/// Handles the messages that the run sends to this client process until the connection ends, and
/// then exits the process.
fn obey(
    mut incoming: Box<dyn Incoming>,
    origin: Origin,
    output: &Output,
    stop: &Stop,
    begin: &Sender<u64>,
) {
    while let Some(order) = receive(incoming.as_mut()) {
        match order {
            ToAgent::ReadClock => output.send_clock(origin),
            ToAgent::Start { unix_ns, ahead_ns } => {
                stop.set_clock_ahead(ahead_ns);
                let _ = begin.send(unix_ns);
            }
            ToAgent::Stop => stop.ask(),
            _ => break,
        }
    }
    // dbdyno has ended or continues without us.
    exit(0);
}

fn run(
    agent_job: &AgentJob,
    permissions: Option<&Permissions>,
    origin: Origin,
    stop: &Arc<Stop>,
    output: &Output,
    begins: &Receiver<u64>,
) -> Result<AgentEnd, Error> {
    let (plan, agreed) = plan_of(agent_job, permissions)?;
    admission::has_descriptors(&plan)?;
    admission::has_io_uring(&plan)?;
    let database = open(&plan.target, plan.seed, false)?;
    if let Some((port, token)) = agent_job.entrance {
        database.enter_through(Some(PathEntrance { port, token }));
    }
    let groups = resolve_groups(&plan, &database, stop)?;
    for (group, opened) in plan.groups.iter().zip(&groups) {
        // The run has asked before; here scripts learn the number of all clients.
        opened.workload.refuses_clients(group.clients);
        opened.of_clients().keep_statements(agent_job.statements_kept);
    }
    let mut forward = Forward { output: output.clone(), stop: Arc::clone(stop) };
    let mut sink = RunSink::new(None, &mut forward);
    let job = Job {
        // Several processes would all pin to the first CPUs.
        pin: false,
        threads: sink.client_threads.clone(),
        ..job_of(&plan, &groups, agent_job.placement, agent_job.process, origin)
    };
    let mut start_margin_ns = 0;
    let mut start = |_| {
        let process_id = std::process::id();
        output.send(&FromAgent::Connected { plan: agreed.clone(), process_id });
        match begins.recv() {
            Ok(unix_ns) => {
                let start_ns = unix_ns.saturating_sub(origin.unix_ns());
                start_margin_ns = start_ns as i64 - origin.elapsed_ns() as i64;
                if start_margin_ns < -LATE_NS && agent_job.placement != Placement::Simulated {
                    let late = format_duration(start_margin_ns.unsigned_abs());
                    stop.fail(format!("the order to start came {late} too late"));
                }
                start_ns
            }
            // The connection has ended, and this process ends with it.
            Err(_) => exit(0),
        }
    };
    let ran = engine::run(job, stop, &mut start, &mut |event| sink.tell(event));
    let ran = ran.map_err(Error::failed)?;
    sink.take_usage();
    let usage = sink.measured.unwrap_or_default();
    Ok(AgentEnd {
        reason: ran.reason,
        measured_ns: ran.measured_ns,
        elapsed_ns: ran.elapsed_ns,
        start_margin_ns,
        n_left_behind: ran.n_left_behind,
        pauses: (ran.pauses.count, ran.pauses.longest_ns, ran.pauses.longest_at_ns),
        waits_for_input: ran.waits_for_input,
        n_idle_losses: ran.n_idle_losses,
        no_reply_lag: ran.no_reply_lag,
        cpu_ns: usage.cpu_ns,
        max_rss_bytes: usage.max_rss_bytes.unwrap_or(0),
        thread_use: sink.thread_use,
    })
}

/// Decides the plan of a job. With permissions, everything that they do not allow is refused before
/// a script is executed, a file read or a target opened. Returns the plan with the target to
/// connect to, and the text of the plan as it was understood.
fn plan_of(
    agent_job: &AgentJob,
    permissions: Option<&Permissions>,
) -> Result<(Plan, String), Error> {
    if let Some(permissions) = permissions {
        permissions.check_sources(&agent_job.sources)?;
    }
    for source in &agent_job.sources {
        workloads::read(source.clone())?;
    }
    let draft = plan::read_toml("the plan of the run", &agent_job.plan)?;
    if let Some(permissions) = permissions {
        permissions.check_draft(&draft)?;
    }
    let plan = plan::decide(&draft, &|_| Err("the plan names its target".to_owned()))?;
    let agreed = plan_for_agents(&plan);
    let target = Target::parse(&agent_job.target).map_err(|bad| Error::Usage(bad.to_string()))?;
    let password = agent_job.password.as_ref().map(Secret::new);
    let mut plan = Plan { target: Target { password, ..target }, ..plan };
    for (group, password) in plan.groups.iter_mut().zip(&agent_job.group_passwords) {
        if let Some(target) = &mut group.target {
            target.password = password.as_ref().map(Secret::new);
        }
    }
    if let Some(permissions) = permissions {
        permissions.check_targets(&plan, !agent_job.sources.is_empty())?;
    }
    Ok((plan, agreed))
}
