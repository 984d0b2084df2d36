//! Runs the load, and everything that works at the same time: client processes, disturbances, the
//! monitor and the profiler.
//!
//! Not here: steps before and after the load (member).

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use analysis::Tally;
use engine::{Job, Origin, Ran, Recorded, SampleHook};
use model::{
    DbErrorKind, Event, EventLoopChoice, Fact, FactValue, Host, MonitorScope, Placement, StopReason,
};
use monitor::{Monitor, Scope, is_no_server, wall_clock};

use super::agents::{self, Agents, MONITORED, Monitored};
use super::generator_facts::{facts_of, facts_of_connections};
use super::member::RunUnderWay;
use super::numbering::Numbering;
use super::profiling::Profiling;
use super::script_reports::Reports;
use super::{LEAD_NS, computed, job_of};
use crate::admin_session;
use crate::connection_count::ConnectionCount;
use crate::disturb::Disturbers;
use crate::error::Error;
use crate::group_target::{is_divided, replicas};
use crate::network::OpenPath;
use crate::open::Opened;
use crate::script_commands::build_first;
use crate::script_error::{ScriptError, ScriptStep};

/// The load of a run, with client processes, monitor and profiler. All of these are started, and
/// the load waits for [`Beside::drive`].
pub(super) struct Beside<'b> {
    job: Job,
    agents: Agents,
    disturbers: &'b mut Disturbers,
    monitor: Monitor,
    profiling: Profiling,
}

/// A load that has ended, but whose end is not yet reported.
pub(super) struct Driven {
    pub(super) ran: Ran,
    agents: Agents,
    profiling: Profiling,
}

impl<'b> Beside<'b> {
    /// Starts client processes, monitor and profiler; the load itself waits for [`Beside::drive`].
    pub(super) fn start(
        run: &mut RunUnderWay<'_, '_>,
        disturbers: &'b mut Disturbers,
        path: Option<&OpenPath>,
    ) -> Result<Beside<'b>, Error> {
        let (plan, placement) = (run.plan, run.placement);
        let origin = Origin::now();
        let start = agents::Start {
            plan,
            target: &run.context.target,
            processes: &run.context.processes,
            statements_kept: run.context.statements_kept,
            entrance: path.map(OpenPath::entrance),
            placement,
            origin,
            server_hosts: server_hosts(run),
            programs: drivers::programs_of(&run.context.target),
        };
        let agents = Agents::start(&start, run.stop)?;
        run.sink.numbering = Numbering::new(agents.loops_each(plan));
        let job = job_of(plan, run.groups, placement, 0, origin);
        let job = Job {
            event_loop: match job.event_loop {
                EventLoopChoice::Auto => run.options.event_loop,
                chosen => chosen,
            },
            threads: run.sink.client_threads.clone(),
            sample_hook: both(
                run.options.sample_hook.clone(),
                run.sink.reports.as_ref().and_then(Reports::hook),
            ),
            ..job
        };
        let replicas = replicas(plan, run.groups);
        for (name, url, _) in &replicas {
            run.sink.tell(Event::Fact(Fact::new(name, "target", url)));
        }
        let replicas = replicas.into_iter().map(|(name, _, database)| (name, database)).collect();
        let (monitor, facts) = monitor::start(Scope {
            // A run in virtual time has no metrics of this machine.
            monitor: if run.is_simulated() { MonitorScope::Off } else { plan.monitor },
            threads: run.sink.threads.clone(),
            database: run.database().map(Arc::clone),
            replicas,
            connect: admin_session::for_counters,
            connect_as_client: admin_session::for_round_trips,
            programs: drivers::programs_of(&run.context.target),
            servers: disturbers.processes(),
            helpers: helpers(&agents, path),
            own: Vec::new(),
        });
        run.sink.are_read = monitor.has_collectors();
        let has_own_server = !facts.iter().any(is_no_server);
        let facts = name_monitored(&agents, has_own_server, facts, run);
        facts.into_iter().for_each(|fact| run.sink.tell(Event::Fact(fact)));
        let database = run.database().map(|database| database.as_ref());
        let processes = agents.processes().into_iter().map(|(_, process)| process).collect();
        let servers = disturbers.processes();
        let profiling = Profiling::start(plan, placement, database, servers, processes);
        Ok(Beside { job, agents, disturbers, monitor, profiling })
    }

    /// Runs the load until it has ended in all processes, and passes all events to the run's sink.
    /// Fails if the load could not start.
    pub(super) fn drive(self, run: &mut RunUnderWay<'_, '_>) -> Result<Driven, Error> {
        let (stop, sink) = (run.stop, &mut *run.sink);
        let Beside { job, agents, disturbers, mut monitor, mut profiling } = self;
        let own_lead_ns = if job.placement == Placement::Simulated { 0 } else { LEAD_NS };
        let (phases, origin) = (job.phases, job.origin);
        let agents = RefCell::new(agents);
        let database = run.groups.first().map(|opened| Arc::clone(&opened.database));
        let limit =
            database.as_ref().and_then(|database| database.administration().connection_limit);
        let (begin, begin_to_look) = (disturbers.begin(), monitor.begin());
        let (mut connected_ns, mut connection_count) = (0, None);
        let counted = database.as_ref().filter(|_| !is_divided(run.groups));
        let measured_from_unix_ms = Cell::new(None);
        let mut start = |now_ns| {
            connected_ns = now_ns;
            let lead_ns = own_lead_ns + agents.borrow_mut().read_clocks();
            let now_ns = if agents.borrow().is_empty() { now_ns } else { origin.elapsed_ns() };
            let until_measured = Duration::from_nanos(lead_ns + phases.ramp_up_ns);
            let until_measured_ms = until_measured.as_millis() as i64;
            measured_from_unix_ms.set(Some(wall_clock::unix_ms() + until_measured_ms));
            let until_midst = until_measured + Duration::from_nanos(phases.measure_ns / 2);
            connection_count =
                counted.and_then(|database| ConnectionCount::begin(database, until_midst));
            begin(until_measured);
            begin_to_look(until_measured);
            agents.borrow_mut().begin(now_ns + lead_ns, stop);
            now_ns + lead_ns
        };
        let ran = engine::run(job, stop, &mut start, &mut |event| {
            agents.borrow_mut().follow(&mut |reported| sink.tell_from(reported));
            disturbers.follow(&event, &mut |shown| sink.tell(shown));
            monitor.follow(&mut |shown| sink.tell(shown));
            profiling.follow(&event);
            sink.tell(event);
            // Reported at once, so that a killed run has it too.
            if let Some(ms) = measured_from_unix_ms.take() {
                sink.tell(Event::Fact(Fact::new("client", "measured_from_unix_ms", ms)));
            }
        });
        let mut agents = agents.into_inner();
        let ran = ran.map(|ran| {
            agents.end(phases.drain_ns, stop, &mut |reported| sink.tell_from(reported));
            agents.joined(ran)
        });
        for fact in monitor.end(&mut |shown| sink.tell(shown)) {
            sink.tell(Event::Fact(fact));
        }
        disturbers.end(stop, &mut |shown| sink.tell(shown));
        for fact in facts_of_connections(connected_ns, connection_count, &sink.tally) {
            sink.tell(Event::Fact(fact));
        }
        let ran = ran.map_err(|error| match error {
            engine::CannotRun::Interrupted => Error::Interrupted(error.to_string()),
            error => could_not_run(error, limit, run.groups, &sink.tally),
        })?;
        Ok(Driven { ran, agents, profiling })
    }
}

impl Driven {
    /// Reports the end of the load, the CPU time and memory that the generator needed, and what
    /// workloads compute. Ends all client processes. Returns the recordings of the profiler.
    pub(super) fn report(self, run: &mut RunUnderWay<'_, '_>) -> Profiling {
        let Driven { ran, agents, profiling } = self;
        let sink = &mut *run.sink;
        sink.take_usage();
        let mut usage = sink.measured.unwrap_or_default();
        for (process, end) in agents.ends() {
            usage.cpu_ns += end.cpu_ns;
            usage.max_rss_bytes = usage.max_rss_bytes.map(|ours| ours + end.max_rss_bytes);
            sink.thread_use.add(sink.numbering.first_loop(process), &end.thread_use);
        }
        agents.facts().into_iter().for_each(|fact| sink.tell(Event::Fact(fact)));
        drop(agents);
        sink.tell(Event::Ended {
            reason: with_build_first(&ran.reason, run.groups, &sink.tally),
            measured_ns: ran.measured_ns,
            elapsed_ns: ran.elapsed_ns,
            cpu_ns: usage.cpu_ns,
            max_rss_bytes: usage.max_rss_bytes.unwrap_or(0),
        });
        computed::compute(run.groups, sink);
        computed::tell_cut_off(run.groups, sink);
        for fact in facts_of(&ran, &usage, &sink.thread_use, &sink.tally) {
            sink.tell(Event::Fact(fact));
        }
        profiling
    }
}

/// Adds to the reason why a load failed how to build the tables that its script misses.
fn with_build_first(reason: &StopReason, groups: &[Opened], tally: &Tally) -> StopReason {
    let misses = |index: usize| {
        let seconds = tally.groups.get(index).into_iter();
        let mut errors = seconds
            .flat_map(|group| [&group.ramp_up, &group.measured])
            .flat_map(|second| &second.errors);
        errors.any(|error| error.kind == DbErrorKind::Missing)
    };
    let mut missed = groups.iter().enumerate().filter(|(index, _)| misses(*index));
    let mut reason = reason.clone();
    if let StopReason::Failed { remedy, .. } = &mut reason {
        *remedy = missed.find_map(|(_, opened)| build_first(opened));
    }
    reason
}

/// Returns a function that passes each sample to both.
fn both(one: Option<SampleHook>, other: Option<SampleHook>) -> Option<SampleHook> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Arc::new(move |recorded: &Recorded<'_>| {
            one(recorded);
            other(recorded);
        })),
        (one, other) => one.or(other),
    }
}

/// Gives the hosts that agents monitor their names in the run. The server's host is one of them, if
/// the server is found there alone. Returns the facts of the monitor without those that this makes
/// untrue, and with those about the hosts.
fn name_monitored(
    agents: &Agents,
    has_own_server: bool,
    mut facts: Vec<Fact>,
    run: &mut RunUnderWay<'_, '_>,
) -> Vec<Fact> {
    for monitored in agents.monitored() {
        run.sink.numbering.name_monitored(monitored.process, monitored.name);
    }
    let mut with_server = agents.monitored().filter(|monitored| monitored.has_server);
    let first = with_server.next().filter(|_| with_server.next().is_none() && !has_own_server);
    if let Some(Monitored { process, name, is_here, .. }) = first {
        run.sink.numbering.set_process_of_server(process);
        facts.retain(|fact| !is_no_server(fact));
        facts.push(Fact::new(MONITORED, "server", name));
        facts.push(Fact::new(MONITORED, "server_is_here", FactValue::YesNo(is_here)));
    }
    if agents.monitored().next().is_some_and(|_| !has_own_server)
        && !agents.monitored().any(|monitored| monitored.has_server)
    {
        let hosts = agents.monitored().map(|monitored| monitored.name).collect::<Vec<_>>();
        run.note(format!(
            "monitor_agents: no server listens at the target's port on the host of {}, so its \
             process is not read",
            hosts.join(", ")
        ));
    }
    facts
}

/// Returns the addresses of the server; none for a database without a server.
fn server_hosts(run: &RunUnderWay<'_, '_>) -> Vec<Host> {
    let hosts = run.database().and_then(|database| Some(database.hosts()?.list()));
    hosts.unwrap_or_default()
}

/// Returns names and ids of dbdyno's other processes for the monitor: client processes and the
/// network path.
fn helpers(agents: &Agents, path: Option<&OpenPath>) -> Vec<(String, u32)> {
    let of_clients = agents.processes().into_iter();
    let of_clients =
        of_clients.map(|(number, process)| (format!("process {number}/generator"), process));
    let of_path = path.map(|path| ("network/generator".to_owned(), path.process()));
    of_clients.chain(of_path).collect()
}

/// Returns the error for a load that did not start. Adds the server's limit of connections (the
/// fact called `limit`) if the server refused a client because of it, and how to build the tables
/// that a script misses.
fn could_not_run(
    error: engine::CannotRun,
    limit: Option<&str>,
    groups: &[Opened],
    tally: &Tally,
) -> Error {
    if let engine::CannotRun::Refused { n_refused, n_clients, db_error, is_connected: true } =
        &error
        && groups.iter().any(|opened| opened.workload.script().is_some())
    {
        let (step, error) =
            (ScriptStep::Clients { n_failed: *n_refused, n_clients: *n_clients }, db_error.clone());
        let is_missing = error.kind == DbErrorKind::Missing;
        let remedy = groups.iter().filter(|_| is_missing).find_map(build_first);
        return ScriptError { step, error, remedy }.into();
    }
    let is_full = matches!(&error, engine::CannotRun::Refused { db_error, .. }
        if db_error.kind == DbErrorKind::TooManyConnections);
    // The server does not know a pooler's own limit.
    let is_pooled = tally.fact("connection", "pooler").is_some();
    let limit = limit.filter(|_| is_full && !is_pooled);
    match limit.and_then(|name| Some((name, tally.fact("database", name)?))) {
        Some((name, limit)) => Error::Failed(format!("{error}; its {name} is {limit}")),
        None => Error::failed(error),
    }
}
