//! Executes a run, from a plan to a report: open, build, check, measure, check again, judge, store.
//!
//! Tally, store and watcher all receive the same events. Not here: output (dbdyno).

mod agents;
mod beside;
mod checks;
mod computed;
mod crosscheck;
pub mod data_build;
mod database_mark;
mod description;
mod generator_facts;
mod instruments;
mod journal;
mod later_indexes;
mod member;
mod members;
mod numbering;
mod options;
mod others;
mod presence;
mod profiling;
mod query_plans;
mod script_reporting;
mod script_reports;
mod settings_after;
mod settling;
mod sink;
mod way_probe;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use analysis::Tally;
use analysis::report::{Report, Status};
use engine::{ClientThreads, GroupJob, Job, Origin, Share, Stop};
use model::{
    CommitRisk, Database, Description, Event, Fact, Finding, Identity, NS_PER_MS, NS_PER_S,
    Placement, Plan, RunId, Settle, Severity, StopCondition, StopReason, format_count,
    format_duration,
};
use monitor::facts;
use stats::OfferedQuantile;
use store::{Store, Summary, Writer};

use self::agents::{Processes, share_of};
use self::beside::Beside;
use self::description::describe;
use self::generator_facts::{first_arrivals, spread};
use self::journal::{may_have_no_journal, no_journal};
use self::member::RunContext;
use self::members::members;
use self::others::other_run;
use self::presence::Presence;
use self::settling::settling_of;
use self::sink::RunSink;
use crate::build::{Progress, build_interruptible};
use crate::disturb::Disturbers;
use crate::error::Error;
use crate::finding::not_made;
use crate::group_target::wait_for_data;
use crate::interruptible::{run_interruptible, run_interruptible_with_progress};
use crate::managed::Managed;
use crate::network::OpenPath;
use crate::open::{
    Data, OpenTarget, Opened, has_all_tables, is_apart_from, no_complete_data, open_target,
    resolve_group, resolve_groups, unused_rows,
};
use crate::script_commands::{hand_host, prepare_managed, script_is_ready};
use crate::settings::{Ended, SettingsGuard};
use crate::settings_snapshot;
use crate::settle::{SettlingAt, tables_of};
use crate::watcher::Watcher;
use crate::{admission, build_lock, routines, storage_engine};

pub(crate) use self::agents::workers;
pub use self::agents::{
    AGENT, AgentHost, AllowedControl, Chosen, ClockOffset, Hosts, Incoming, Link,
    MESSAGE_BYTES_MAX, Outgoing, Peer, Permissions, Transport, Work, add_transport, read_framed,
    restart_by_agent, serve_agent, start_limited, write_framed,
};
pub use self::description::version_of_ours;
pub use self::member::{LoadEnded, RunMember, RunUnderWay};
pub use self::members::{MakeMember, add_members};
pub use self::options::RunOptions;
pub use self::others::is_unused;

/// Time between the last client's connecting and the start of the load, in nanoseconds.
const LEAD_NS: u64 = 20 * NS_PER_MS;

/// A run that has ended, with its report and whether it is valid.
pub struct RunResult {
    pub report: Report,
    /// All aggregated data of the run, for more detailed reports.
    pub tally: Tally,
    /// True if the run was completed without a finding that makes it invalid.
    pub is_good: bool,
    pub is_interrupted: bool,
}

pub fn run(
    plan: Plan,
    options: RunOptions,
    stop: &Arc<Stop>,
    watcher: &mut dyn Watcher,
) -> Result<RunResult, Error> {
    is_apart_from(options.store.as_deref(), &plan.target)?;
    // Fail early if the store cannot be written.
    options.store.as_deref().map(Store::check).transpose()?;
    let mut open_target = open_target(&plan.target, plan.seed, options.build, stop, &mut |text| {
        watcher.doing(text);
    })?;
    for text in open_target.sentences() {
        watcher.note(&text);
    }
    if plan.settings.is_empty() && options.restart.is_none() {
        return run_at(&mut open_target, plan, options, stop, watcher);
    }
    let Some(store) = &options.store else {
        return Err(no_journal(match &options.restart {
            Some(_) => "--restart-command",
            None => "[server]",
        }));
    };
    let mut guard = SettingsGuard::new(store, "run".to_owned(), options.restart.clone());
    let result = guard.put_interruptible(&open_target.database, &plan, stop).and_then(|set| {
        let options = RunOptions { before: set.into_events(watcher), ..options };
        run_at(&mut open_target, plan, options, stop, watcher)
    });
    let ended = match &result {
        Err(Error::Usage(_)) => Ended::Refused,
        _ => Ended::AfterLoad,
    };
    guard.release(ended, stop).iter().for_each(|note| watcher.to_act_on(note));
    result
}

/// Executes a plan at a target that is already open. The caller must have set the server settings
/// that the plan asks for.
pub(crate) fn run_at(
    open_target: &mut OpenTarget,
    mut plan: Plan,
    options: RunOptions,
    stop: &Arc<Stop>,
    watcher: &mut dyn Watcher,
) -> Result<RunResult, Error> {
    admission::has_descriptors(&plan)?;
    let mut said: Vec<String> = open_target.sentences();
    let database = &open_target.database;
    let (groups, placement) = admit(&plan, database, stop)?;
    let processes = Processes::choose(&plan, options.hosts.as_deref())?;
    let presence = Presence::begin(&plan, &groups, stop)?;
    let beside = other_run(&plan, &groups, &options, &presence)?;
    beside.iter().for_each(|text| watcher.note(text));
    said.extend(beside);
    let settling = settling_of(&plan, open_target, stop)?;
    if options.store.is_none() && open_target.server.is_none() {
        may_have_no_journal(&plan, open_target, settling.as_ref(), stop)?;
    }
    let path = OpenPath::open(plan.network, database)?;
    let groups = prepare(&plan, groups, &options, stop, watcher, &mut said);
    let groups = groups.map_err(|error| open_target.with_end_of_server(error))?;
    wait_for_data(&plan, &groups, stop, &mut |text| watcher.doing(text))?;
    write_parameters(&mut plan, &groups);
    let mut database_facts = facts_of_database(open_target, stop)?;
    let kept = keep_statements(&plan, &groups, &database_facts)?;
    kept.note.iter().for_each(|text| watcher.note(text));
    said.extend(kept.note);
    let of_path = path.as_ref().map(|path| path.measured(stop)).transpose()?;
    database_facts.extend(of_path.into_iter().flatten());
    let described = describe(&plan, &groups, placement, &database_facts);
    let description = Description { trial: options.trial.clone(), ..described };
    let arrivals = first_arrivals(&plan, &description);
    let (settings, shown) = settings_snapshot::before(open_target, stop);
    let mut sink = begin_record(&plan, description, &options, said, watcher)?;
    let gathered = gather_facts(&plan, &options, database_facts, &groups, open_target);
    let gathered = gathered.into_iter().chain(arrivals).map(Event::Fact);
    gathered.chain(shown).for_each(|event| sink.tell(event));
    let target = open_target.server.as_ref().map_or(&plan.target, |server| &server.target).clone();
    let is_own_server = open_target.server.is_some();
    let journal = options.store.clone().filter(|_| !is_own_server);
    let settling_at =
        SettlingAt { target: target.clone(), tables: tables_of(&groups), journal: journal.clone() };
    let mut disturbers = Disturbers::from_plan(&plan, open_target, settling_at, path.as_ref());
    let mut under_way = RunUnderWay {
        plan: &plan,
        groups: &groups,
        placement,
        options: &options,
        stop,
        context: &RunContext {
            processes,
            target,
            settings,
            settling,
            journal,
            is_own_server,
            presence,
            statements_kept: kept.most,
        },
        sink: &mut sink,
    };
    let outcome = measure(&mut under_way, &mut disturbers, path);
    open_target.server = disturbers.give_back();
    if let Some(how) = open_target.server.as_mut().and_then(Managed::ended) {
        sink.tell(not_made("managed_server_ended", server_ended(&how)));
    }
    conclude(outcome.err(), sink)
}

/// Limits the prepared statements of each client's session to its share of the server's limit.
/// Returns the limit, with a note for the user if it is less than the client needs.
fn keep_statements(
    plan: &Plan,
    groups: &[Opened],
    facts: &[Fact],
) -> Result<admission::StatementsKept, Error> {
    let kept = admission::statements_kept(plan, groups, facts)?;
    groups.iter().for_each(|opened| opened.of_clients().keep_statements(kept.most));
    Ok(kept)
}

/// Creates the workloads of all groups and chooses the placement. Fails if the run is impossible,
/// before anything is built.
fn admit(
    plan: &Plan,
    database: &Arc<dyn Database>,
    stop: &Stop,
) -> Result<(Vec<Opened>, Placement), Error> {
    if plan.agents.is_empty() {
        admission::has_io_uring(plan)?;
    }
    let groups = resolve_groups(plan, database, stop)?;
    admission::has_memory(&groups)?;
    admission::agree_on_data(plan, &groups)?;
    let placement = admission::place(plan, &groups)?;
    admission::may_be_divided(plan, &groups)?;
    Ok((groups, placement))
}

/// Replaces the parameters of each group in the plan by those that its workload was created with,
/// which may come from existing data.
fn write_parameters(plan: &mut Plan, groups: &[Opened]) {
    for (group, opened) in plan.groups.iter_mut().zip(groups) {
        let written = opened.settings.written();
        group.parameters = written.map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
    }
}

/// Creates the run in the store, if there is one, and records its first event and what happened
/// before it (`said`, and `before` of the options).
fn begin_record<'w>(
    plan: &Plan,
    description: Description,
    options: &RunOptions,
    said: Vec<String>,
    watcher: &'w mut dyn Watcher,
) -> Result<RunSink<'w>, Error> {
    let run = RunId(uuid::Uuid::now_v7().to_string());
    let begun = Event::Begun {
        run: run.clone(),
        plan: plan::to_toml(plan),
        description: Box::new(description),
    };
    let writer = match &options.store {
        Some(path) => Some(open_store(path, &begun, &run, &options.labels)?),
        None => None,
    };
    let mut sink = RunSink::new(writer, watcher);
    sink.tell(begun);
    for text in said {
        sink.tell(Event::Output { text });
    }
    for event in &options.before {
        sink.tell(event.clone());
    }
    Ok(sink)
}

/// Returns a text on how the managed server ended: first the cause, then the last lines of its log,
/// one per line.
fn server_ended(how: &str) -> String {
    const LINES_MOST: usize = 3;
    let (cause, log) = how.split_once(servers::END_OF_LOG).unwrap_or((how, ""));
    let lines: Vec<&str> = log.lines().collect();
    let last = &lines[lines.len().saturating_sub(LINES_MOST)..];
    let cause = format!("The managed server {cause}.");
    match last.is_empty() {
        true => cause,
        false => format!("{cause}\nThe end of its log:\n{}", last.join("\n")),
    }
}

fn open_store(
    path: &Path,
    begun: &Event,
    run: &RunId,
    labels: &[(String, String)],
) -> Result<Writer, Error> {
    let store = Store::open(path)?;
    let writer = store.writer(begun)?;
    for (key, value) in labels {
        store.label(run, key, value)?;
    }
    Ok(writer)
}

fn facts_of_database(open_target: &OpenTarget, stop: &Stop) -> Result<Vec<Fact>, Error> {
    let database = Arc::clone(&open_target.database);
    let asked =
        run_interruptible(stop, "interrupted before the run began", move || Ok(database.facts()?));
    let mut facts = asked?;
    facts.extend(open_target.server.iter().flat_map(Managed::facts));
    Ok(facts)
}

/// Builds the missing data of each group and installs missing stored routines. Returns the groups
/// with the workloads for the new data. Sentences for the record are added to `said`.
pub(crate) fn prepare(
    plan: &Plan,
    resolved: Vec<Opened>,
    options: &RunOptions,
    stop: &Arc<Stop>,
    watcher: &mut dyn Watcher,
    said: &mut Vec<String>,
) -> Result<Vec<Opened>, Error> {
    let (mut groups, mut has_built) = (Vec::new(), false);
    for (group, mut opened) in plan.groups.iter().zip(resolved) {
        // Data that were built for one group may be those of the next.
        if has_built {
            opened = resolve_group(plan, &opened.database, group, stop)?;
        }
        if let Some(why) = opened.workload.refuses_clients(group.clients) {
            return Err(Error::Usage(why));
        }
        hand_host(&opened, options.script_host.as_ref())?;
        has_all_tables(&opened, &plan.target, stop)?;
        if let Some(note) = unused_rows(&opened, stop)?.filter(|note| !said.contains(note)) {
            watcher.note(&note);
            said.push(note);
        }
        if matches!(opened.data, Data::Absent | Data::Unfinished) {
            if !options.build {
                return Err(no_complete_data(&plan.target, &group.workload));
            }
            if !has_built {
                let rows = rows_to_build(&opened);
                ahead(plan, options, Some(&rows)).iter().for_each(|text| watcher.note(text));
            }
            let show = |progress: &Progress| watcher.building(progress);
            let built = build_interruptible(&opened, options.load, stop, &mut { show })?;
            watcher.note(&built.sentence());
            said.push(built.sentence());
            opened = resolve_group(plan, &opened.database, group, stop)?;
            has_built = true;
        }
        has_its_rows(&opened, stop)?;
        if options.build
            && let Some(done) = prepare_managed(&opened, group.clients, stop)?
        {
            let sentence = done.sentence(&group.workload);
            watcher.note(&sentence);
            said.push(sentence);
        }
        if let Some(note) = script_is_ready(&opened, stop)?.filter(|note| !said.contains(note)) {
            watcher.note(&note);
            said.push(note);
        }
        let to_install = opened.clone();
        let interrupted = "interrupted while procedures were created";
        let n_made = run_interruptible(stop, interrupted, move || routines::install(&to_install))?;
        if n_made > 0 {
            said.push(format!("created {n_made} procedures in the database"));
        }
        groups.push(opened);
    }
    if !has_built {
        ahead(plan, options, None).iter().for_each(|text| watcher.note(text));
    }
    Ok(groups)
}

/// Slowest and fastest usual pace of a bulk build, in rows per second, over the workloads and the
/// databases here on disks of laptops and servers.
const USUAL_ROWS_PER_S: [u64; 2] = [100_000, 600_000];

/// Describes the data that are built before the load and how long that usually takes; its progress
/// then tells the time left: `the build of about 6,000,000 rows (usually 10s to 1m)`.
fn rows_to_build(opened: &Opened) -> String {
    let population = opened.workload.population();
    let n_rows: u64 = population.map_or(0, |population| {
        (0..population.tables().len()).map(|table| population.n_rows(table)).sum()
    });
    let what = if opened.data == Data::Unfinished { "the rest of the build" } else { "the build" };
    let usual = usual_time(n_rows).filter(|_| opened.data != Data::Unfinished);
    format!("{what} of about {} rows{}", format_count(n_rows), usual.unwrap_or_default())
}

/// Says how long the build of this many rows usually takes; `None` if less than a second.
fn usual_time(n_rows: u64) -> Option<String> {
    let [longest, shortest] = USUAL_ROWS_PER_S.map(|pace| n_rows / pace);
    let [shortest, longest] = [shortest, longest].map(|s| format_duration(whole(s) * NS_PER_S));
    (n_rows >= USUAL_ROWS_PER_S[1]).then(|| format!(" (usually {shortest} to {longest})"))
}

/// Rounds a duration in seconds up: to whole minutes if it is ten minutes or longer, to tens of
/// seconds if it is a minute or longer.
fn whole(seconds: u64) -> u64 {
    match seconds {
        0..60 => seconds,
        60..600 => seconds.next_multiple_of(10),
        _ => seconds.next_multiple_of(60),
    }
}

/// Says how long the run takes at least. `None` for a trial, whose experiment has said that, and
/// for a run that ends after a number of transactions. `build` describes what is built first.
fn ahead(plan: &Plan, options: &RunOptions, build: Option<&str>) -> Option<String> {
    let is_timed = plan.groups.iter().all(|group| group.stop_condition == StopCondition::Time);
    if options.trial.is_some() || !is_timed || plan.phases.measure_ns == 0 {
        return None;
    }
    let [ramp_up, measure] = [plan.phases.ramp_up_ns, plan.phases.measure_ns].map(format_duration);
    let all = format_duration(plan.phases.ramp_up_ns + plan.phases.measure_ns);
    let has = |is: bool, what: &'static str| is.then_some(what);
    let more = [
        build,
        has(plan.settle != Settle::Off, "settling"),
        has(options.check_before || options.check_after, "checks"),
    ];
    let more: Vec<&str> = more.into_iter().flatten().collect();
    let more =
        if more.is_empty() { String::new() } else { format!(", plus {}", more.join(" and ")) };
    Some(format!("takes {all} ({ramp_up} ramp-up, {measure} measured){more}"))
}

/// Fails if a server crash has emptied tables of complete data, as it does in some storage engines.
fn has_its_rows(opened: &Opened, stop: &Stop) -> Result<(), Error> {
    let (database, workload) = (Arc::clone(&opened.database), Arc::clone(&opened.workload));
    let may_be_emptied = storage_engine::may_be_emptied(database.dialect(), workload.as_ref());
    if opened.data != Data::Built || !may_be_emptied {
        return Ok(());
    }
    run_interruptible(stop, "interrupted while the data were inspected", move || {
        storage_engine::has_its_rows(database.as_ref(), workload.as_ref())
    })
}

fn gather_facts(
    plan: &Plan,
    options: &RunOptions,
    database: Vec<Fact>,
    groups: &[Opened],
    open_target: &OpenTarget,
) -> Vec<Fact> {
    let file = drivers::file_of(&plan.target);
    let mut paths: Vec<&Path> = Vec::new();
    if let Some(server) = &open_target.server {
        paths.push(server.folder());
    }
    paths.extend(file.as_deref().filter(|file| file.exists()));
    paths.extend(options.store.as_deref());
    let mut facts = facts::machine(&paths);
    facts.extend(with_risks(database, groups));
    facts.extend(spread(plan, open_target.database.as_ref()));
    if groups.iter().any(|opened| opened.data == Data::Unmarked) {
        facts.push(Fact::new("data", "meta", "absent"));
    }
    facts.extend(facts_of_data(groups));
    facts
}

/// Returns facts about the data that dbdyno built: seed, scale and size. With several workloads,
/// names begin with the workload.
fn facts_of_data(groups: &[Opened]) -> Vec<Fact> {
    let built = groups.iter().filter(|opened| opened.data == Data::Built);
    let all: BTreeMap<String, Identity> = built
        .map(|opened| opened.workload.identity())
        .map(|identity| (identity.workload.clone(), identity))
        .collect();
    let size_of = |identity: &Identity| {
        let scale = identity.scale.iter().map(|(name, value)| format!("{name} {value}"));
        scale.collect::<Vec<_>>().join(", ")
    };
    let mut facts = Vec::new();
    for (workload, identity) in &all {
        let fact_name = |name: &str| match all.len() {
            1 => name.to_owned(),
            _ => format!("{workload}.{name}"),
        };
        let each = identity.scale.iter().chain(&identity.constants);
        facts.push(Fact::new("data", &fact_name("seed"), identity.seed));
        facts.extend(each.map(|(name, value)| Fact::new("data", &fact_name(name), value)));
    }
    let sizes: Vec<String> = all
        .iter()
        .map(|(workload, identity)| match all.len() {
            1 => size_of(identity),
            _ => format!("{workload}: {}", size_of(identity)),
        })
        .collect();
    facts.extend((!sizes.is_empty()).then(|| Fact::new("data", "size", sizes.join("; "))));
    facts
}

/// Adds to the facts of a database what the tables' storage engines mean for the durability of
/// commits.
fn with_risks(database: Vec<Fact>, groups: &[Opened]) -> Vec<Fact> {
    let engine =
        |opened: &Opened| storage_engine::used(opened.database.dialect(), opened.workload.as_ref());
    let used: Vec<&str> = groups.iter().filter_map(engine).collect();
    let database = match groups.first() {
        Some(first) => storage_engine::durability(database, first.database.as_ref(), &used),
        None => database,
    };
    let engine_risk =
        |opened: &Opened| storage_engine::risk(opened.database.dialect(), opened.workload.as_ref());
    let mut risks: Vec<CommitRisk> = Vec::new();
    for risk in groups.iter().filter_map(engine_risk) {
        if !risks.contains(&risk) {
            risks.push(risk);
        }
    }
    risks.into_iter().fold(database, |facts, risk| risk.added_to(facts))
}

/// Runs the load, and all members of the run (steps before and after the load).
fn measure(
    run: &mut RunUnderWay<'_, '_>,
    disturbers: &mut Disturbers,
    path: Option<OpenPath>,
) -> Result<(), Error> {
    let mut members = members();
    disturbers.prepare(run.stop)?;
    members.iter_mut().try_for_each(|member| member.before(run))?;
    let begun = Beside::start(run, disturbers, path.as_ref()).and_then(|load| load.drive(run));
    let driven = begun.inspect_err(|_| members.iter_mut().for_each(|one| one.not_begun(run)))?;
    let load = LoadEnded::from_ran(&driven.ran);
    members.iter_mut().for_each(|member| member.ended(run, &load));
    let profiling = driven.report(run);
    let path_facts = path.map(OpenPath::close).unwrap_or_default();
    path_facts.into_iter().for_each(|fact| run.sink.tell(Event::Fact(fact)));
    let silence = wait_while_recovering(run.groups, run.stop, run.sink);
    members.iter_mut().for_each(|member| match &silence {
        None => member.after(run, &load),
        Some(silence) => member.unanswered(run, silence),
    });
    profiling.end(&load.reason, run.stop, run.sink);
    if silence.is_none() {
        members.iter_mut().for_each(|member| member.last(run, &load));
    }
    Ok(())
}

/// Waits until the server accepts connections again after the load, since recovery after a kill may
/// take longer than the connect timeout. Returns the error if the server does not answer at all,
/// else `None`.
fn wait_while_recovering(
    groups: &[Opened],
    stop: &Arc<Stop>,
    sink: &mut RunSink<'_>,
) -> Option<String> {
    let opened = groups.first()?;
    let (database, word) = (Arc::clone(&opened.database), Arc::clone(stop));
    let mut hear = |why: &String| sink.watcher.doing(&format!("the server recovers: {why}"));
    // The next connection attempt reports a problem of the server, or an interruption.
    let interrupted = "interrupted while the server recovered";
    let waited = run_interruptible_with_progress(stop, interrupted, &mut hear, move |tell| {
        let is_stopped = || word.is_asked();
        Ok(build_lock::wait_while_recovering(database.as_ref(), &is_stopped, tell))
    });
    waited.ok().flatten().map(|no| no.to_string())
}

/// Creates the engine's job for a process of the run. Process 0 is dbdyno itself.
fn job_of(
    plan: &Plan,
    groups: &[Opened],
    placement: Placement,
    process: u32,
    origin: Origin,
) -> Job {
    let mut first_client = 0;
    let mut jobs = Vec::new();
    for (group, opened) in plan.groups.iter().zip(groups) {
        let statements = opened.workload.statements(opened.database.dialect());
        let share = share_of(plan, group, process);
        jobs.push(GroupJob {
            name: group.name.clone(),
            workload: Arc::clone(&opened.workload),
            database: Arc::clone(opened.of_clients()),
            statements: statements.into(),
            first_client,
            clients: group.clients,
            load: group.load.of_transactions(opened.workload.transaction_stores()),
            connections: group.connections,
            stop_condition: part_of(group.stop_condition, share.as_ref()),
            share,
        });
        first_client += group.clients;
    }
    Job {
        seed: plan.seed,
        phases: plan.phases,
        groups: jobs,
        placement,
        retry: plan.retry.clone(),
        connect: plan.connect,
        recording: plan.recording,
        origin,
        event_loop: plan.event_loop,
        pin: plan.pin,
        workers: agents::workers(plan),
        threads: ClientThreads::default(),
        sample_hook: None,
    }
}

/// Returns a process's part of a stop condition: its share, if the run ends after a number of
/// transactions.
fn part_of(of_run: StopCondition, share: Option<&Share>) -> StopCondition {
    match (of_run, share) {
        (StopCondition::Transactions(count), Some(share)) => {
            StopCondition::Transactions(share.count_below(count))
        }
        (of_run, _) => of_run,
    }
}

/// Judges the run, stores its report and closes the store. A run that failed midway is stored as
/// failed, and `failure` is returned.
fn conclude(failure: Option<Error>, mut sink: RunSink<'_>) -> Result<RunResult, Error> {
    if let Some(failure) = &failure {
        sink.tell(Event::Output { text: failure.to_string() });
        let reason = match failure {
            Error::Interrupted(_) => StopReason::Interrupted,
            failure => StopReason::failed(failure.to_string()),
        };
        let (measured_ns, elapsed_ns, cpu_ns, max_rss_bytes) = (0, 0, 0, 0);
        sink.tell(Event::Ended { reason, measured_ns, elapsed_ns, cpu_ns, max_rss_bytes });
    }
    let mut report = Report::from_tally(&sink.tally);
    let store_failure = sink.writer.as_ref().and_then(|writer| {
        let is_gone = !writer.path().exists();
        let gone = || format!("{} was removed meanwhile", writer.path().display());
        writer.trouble().or_else(|| is_gone.then(gone))
    });
    let is_reported = store_failure.is_some();
    if let Some(why) = store_failure {
        report = report.with_finding(not_written(why));
    }
    for finding in &report.findings {
        if !sink.tally.findings.contains(finding) {
            sink.tell(Event::Finding(finding.clone()));
        }
    }
    if let Some(writer) = sink.writer.take() {
        let (status, summary) = kept(&report);
        let json = serde_json::to_string(&report.clone().without_points()).ok();
        if let Err(error) = writer.finish(json, status, summary) {
            sink.watcher.to_act_on(&format!("the store could not be written: {error}"));
            // The failure occurred at the last write.
            if !is_reported {
                let finding = not_written(error.to_string());
                sink.tell(Event::Finding(finding.clone()));
                report = report.with_finding(finding);
            }
        }
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    let reason = sink.tally.ended.as_ref().map(|ended| &ended.reason);
    let is_valid = report.findings.iter().all(|finding| finding.severity < Severity::Invalid);
    let is_done = matches!(reason, Some(StopReason::Completed | StopReason::QueueFull));
    sink.watcher.concluded(&report, &sink.tally);
    if let Some(reports) = sink.reports.take() {
        reports.end(sink.watcher);
    }
    Ok(RunResult {
        is_good: is_valid && is_done,
        is_interrupted: matches!(reason, Some(StopReason::Interrupted)),
        report,
        tally: sink.tally,
    })
}

fn not_written(why: String) -> Finding {
    let text = format!("The store could not be written: {why}. This report is complete.");
    Finding::new("store_not_written", Severity::Warning, text)
}

/// Returns the status under which a run is stored, and the figures that lists show of it.
fn kept(report: &Report) -> (model::Status, Summary) {
    let status = match report.status {
        Status::Completed | Status::QueueFull => model::Status::Completed,
        Status::Interrupted => model::Status::Interrupted,
        Status::Running | Status::Failed => model::Status::Failed,
    };
    if report.is_build() {
        // Chunks of rows are no transactions that a list could rank.
        return (status, Summary::default());
    }
    let ns = |ms: f64| (ms * NS_PER_MS as f64) as u64;
    let block = &report.block;
    // The percentile over offered transactions, because dropped or unfinished ones must not improve
    // the result.
    let p99 = match &block.offered_ms {
        times if times.is_infinite("p99") => OfferedQuantile::Infinite,
        times => match (times.p99, times.at_least.get("p99")) {
            (Some(p99), _) => OfferedQuantile::Exact(ns(p99)),
            (None, Some(least)) => OfferedQuantile::AtLeast(ns(*least)),
            (None, None) => OfferedQuantile::Empty,
        },
    };
    let p99_ns = store::listed_ns(p99, block.counts.unfinished, report.clients.into());
    let primary = block.primary_metrics.0.first().and_then(|(name, figure)| {
        let (name, title) = (name.clone(), figure.title.clone());
        Some(store::PrimaryFigure { name, title, value: figure.value? })
    });
    // A fixed sequence of different transactions has no rate that a list could rank.
    let tps = block.tps.filter(|_| !report.is_sequence());
    (status, Summary { tps, primary, p99_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_ended_names_its_cause_before_the_last_lines_of_its_log() {
        let log = (1..=15).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n");
        let text = server_ended(&format!("was ended by signal 9{}{log}", servers::END_OF_LOG));
        let expect = "The managed server was ended by signal 9.\nThe end of its log:\nline 13\n\
                      line 14\nline 15";
        assert_eq!(text, expect);
        assert_eq!(server_ended("is not running"), "The managed server is not running.");
    }

    #[test]
    fn the_usual_time_of_a_build_is_rounded_and_left_out_where_it_is_short() {
        let check = |n_rows, expect: Option<&str>| {
            assert_eq!(usual_time(n_rows).as_deref(), expect, "{n_rows}");
        };
        check(599_999, None);
        check(600_000, Some(" (usually 1s to 6s)"));
        check(50_000_000, Some(" (usually 1m30s to 8m20s)"));
        check(600_000_000, Some(" (usually 17m to 1h40m)"));
    }
}
