//! A run, from a plan to a report: open, build, check, measure, check again, judge, remember.
//!
//! Everyone who wants to know of it consumes the same events: the tally, the store, the
//! watcher. Not here: how it is shown (dbdyno).

mod agents;
mod checks;
mod computed;
mod crosscheck;
pub mod data_build;
mod database_mark;
mod description;
mod generator_facts;
mod journal;
mod later_indexes;
mod profiling;
mod sink;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use analysis::Tally;
use analysis::report::{Report, Status};
use engine::{ClientThreads, GroupJob, Job, Origin, Ran, SampleHook, Stop};
use model::{
    CommitRisk, DbErrorKind, Description, Event, Fact, Finding, GroupDescription, Identity,
    MonitorScope, NS_PER_MS, Placement, Plan, RunId, Settings, Settle, Settling, Severity,
    StopCondition, StopReason, Target, Trial, format_duration,
};
use monitor::{Monitor, Scope, facts, wall_clock};
use store::{Filter, RunRow, Store, Summary, Writer};

use self::agents::{Agents, share_of};
use self::checks::{check_all, check_before};
use self::crosscheck::{
    OwnCounts, commits_before, compare_commits, counts_in, crosscheck, restarted,
};
use self::database_mark::DatabaseMark;
use self::description::describe;
use self::generator_facts::{facts_of, facts_of_connections, first_arrivals, spread};
use self::journal::{may_have_no_journal, no_journal};
use self::later_indexes::{add_later_indexes, drop_later_indexes};
use self::profiling::Profiling;
use self::sink::RunSink;
use crate::admin_session::{self, AdminSession};
use crate::build::{BuildOptions, Progress, build_interruptible};
use crate::connection_count::ConnectionCount;
use crate::disturb::Disturbers;
use crate::error::Error;
use crate::finding::not_made;
use crate::interruptible::{run_interruptible, run_interruptible_with_progress};
use crate::managed::Managed;
use crate::network::OpenPath;
use crate::open::{
    Data, OpenTarget, Opened, has_all_tables, is_apart_from, no_complete_data, open_target,
    resolve_group, resolve_groups,
};
use crate::place::place_of;
use crate::run_marker::RunMarker;
use crate::settings::{Ended, Momentary, SettingsGuard, lost};
use crate::settings_snapshot::{self, SettingsSnapshot};
use crate::settle::{self, SettlingAt, ToSettle, settle, tables_of};
use crate::watcher::Watcher;
use crate::{admission, build_lock, path_probe, routines, storage_engine};

pub use self::agents::{AGENT, serve_agent};
pub use self::description::version_of_ours;

/// Between the connection of the last client and the beginning of the load.
const LEAD_NS: u64 = 20 * NS_PER_MS;

/// How a run is done, beside its plan.
pub struct RunOptions {
    /// Where it is kept; nowhere if none.
    pub store: Option<PathBuf>,
    /// Whether the data are checked before the load.
    pub check_before: bool,
    /// Whether the data are checked after the load.
    pub check_after: bool,
    /// Whether data that are not there are built.
    pub build: bool,
    /// How they are.
    pub load: BuildOptions,
    /// Sees every sample, for calibration.
    pub sample_hook: Option<SampleHook>,
    /// What it is of an experiment.
    pub trial: Option<Trial>,
    /// What it is labelled with in the store, by key.
    pub labels: Vec<(String, String)>,
    /// What there was before it and is reported with it.
    pub before: Vec<Event>,
}

/// A run that has ended.
pub struct RunResult {
    /// What is to be reported of it.
    pub report: Report,
    /// All that is known of it, for reports with more in them.
    pub tally: Tally,
    /// Whether it counts as done: completed, and nothing found that makes it invalid.
    pub is_good: bool,
    /// Whether somebody interrupted it.
    pub is_interrupted: bool,
}

/// Runs a plan.
pub fn run(
    plan: Plan,
    options: RunOptions,
    stop: &Arc<Stop>,
    watcher: &mut dyn Watcher,
) -> Result<RunResult, Error> {
    is_apart_from(options.store.as_deref(), &plan.target)?;
    // One that cannot be written is known before a target is asked for anything.
    options.store.as_deref().map(Store::check).transpose()?;
    let mut open_target = open_target(&plan.target, plan.seed, options.build, stop, &mut |text| {
        watcher.doing(text);
    })?;
    for text in open_target.sentences() {
        watcher.note(&text);
    }
    if plan.settings.is_empty() {
        return run_at(&mut open_target, plan, options, stop, watcher);
    }
    let Some(store) = &options.store else {
        return Err(no_journal("[server]"));
    };
    let mut guard = SettingsGuard::new(store, "run".to_owned());
    let result = guard.put_interruptible(&open_target.database, &plan, stop).and_then(|set| {
        let options = RunOptions { before: set.into_events(watcher), ..options };
        run_at(&mut open_target, plan, options, stop, watcher)
    });
    let ended = match &result {
        Err(Error::Usage(_)) => Ended::Refused,
        _ => Ended::AfterLoad,
    };
    guard.release(ended, stop).iter().for_each(|note| watcher.note(note));
    result
}

/// Runs a plan at its target, which has been opened.
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
    // What cannot be is refused before anything is built.
    let groups = resolve_groups(&plan, database, stop)?;
    admission::has_memory(&groups)?;
    admission::agree_on_data(&plan, &groups)?;
    let placement = admission::place(&plan, &groups)?;
    admission::may_be_divided(&plan, &groups, placement)?;
    let file = drivers::file_of(&plan.target).filter(|file| file.exists());
    let marker = file.as_deref().and_then(RunMarker::beside);
    let beside = other_run(&plan, &groups, &options, marker.as_ref())?;
    beside.iter().for_each(|text| watcher.note(text));
    said.extend(beside);
    let settling = settling_of(&plan, open_target, stop)?;
    if options.store.is_none() && open_target.server.is_none() {
        may_have_no_journal(&plan, open_target, settling.as_ref(), stop)?;
    }
    let path = OpenPath::open(plan.network, database)?;
    let groups = prepare(&plan, groups, &options, stop, watcher, &mut said);
    let groups = groups.map_err(|error| open_target.with_end_of_server(error))?;
    for (group, opened) in plan.groups.iter_mut().zip(&groups) {
        let written = opened.settings.written();
        group.parameters = written.map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
    }
    let mut database_facts = facts_of_database(open_target, stop)?;
    admission::statements_fit(&plan, &groups, &database_facts)?;
    database_facts.extend(match &path {
        Some(path) => path.measured(stop)?,
        None => Vec::new(),
    });
    let trial = options.trial.clone();
    let description = Description { trial, ..describe(&plan, &groups, placement, &database_facts) };
    let arrivals = first_arrivals(&plan, &description);
    let (settings, shown) = settings_snapshot::before(open_target, stop);
    let run = RunId(uuid::Uuid::now_v7().to_string());
    let begun = Event::Begun {
        run: run.clone(),
        plan: plan::to_toml(&plan),
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
    let gathered = gather_facts(&plan, &options, database_facts, &groups, open_target);
    for fact in gathered.into_iter().chain(arrivals) {
        sink.tell(Event::Fact(fact));
    }
    shown.into_iter().for_each(|event| sink.tell(event));
    let target = open_target.server.as_ref().map_or(&plan.target, |server| &server.target).clone();
    let is_own_server = open_target.server.is_some();
    let journal = options.store.clone().filter(|_| !is_own_server);
    let settling_at =
        SettlingAt { target: target.clone(), tables: tables_of(&groups), journal: journal.clone() };
    let disturbers = Disturbers::of(&plan, open_target, settling_at, path.as_ref());
    let mut background =
        Background { target, disturbers, settings, path, settling, journal, is_own_server };
    let outcome = measure(&plan, &groups, placement, &options, stop, &mut background, &mut sink);
    open_target.server = background.disturbers.give_back();
    if let Some(how) = open_target.server.as_mut().and_then(Managed::ended) {
        sink.tell(not_made("managed_server_ended", server_ended(&how)));
    }
    conclude(outcome.err(), sink)
}

/// How a server ended: the cause first, and the last lines of its log each on a line of its own.
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

/// Builds what is not there of each group's data, and returns the groups as they are then.
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
        // What was built for one group may be the data of the next.
        if has_built {
            opened = resolve_group(plan, &opened.database, group, stop)?;
        }
        if let Some(why) = opened.workload.refuses_clients(group.clients) {
            return Err(Error::Usage(why));
        }
        has_all_tables(&opened, &plan.target, stop)?;
        if matches!(opened.data, Data::Absent | Data::Unfinished) {
            if !options.build {
                return Err(no_complete_data(&plan.target, &group.workload));
            }
            if !has_built {
                ahead(plan, options, true).iter().for_each(|text| watcher.note(text));
            }
            let shown = |progress: &Progress| watcher.building(progress);
            let built = build_interruptible(&opened, options.load, stop, &mut { shown })?;
            watcher.note(&built.sentence());
            said.push(built.sentence());
            opened = resolve_group(plan, &opened.database, group, stop)?;
            has_built = true;
        }
        has_its_rows(&opened, stop)?;
        let to_install = opened.clone();
        let interrupted = "interrupted while procedures were created";
        let n_made = run_interruptible(stop, interrupted, move || routines::install(&to_install))?;
        if n_made > 0 {
            said.push(format!("created {n_made} procedures in the database"));
        }
        groups.push(opened);
    }
    if !has_built {
        ahead(plan, options, false).iter().for_each(|text| watcher.note(text));
    }
    Ok(groups)
}

/// How long it takes in all, as far as that is known before; nothing of a trial, whose experiment
/// has said so, and of what ends with a count.
fn ahead(plan: &Plan, options: &RunOptions, builds: bool) -> Option<String> {
    let is_timed = plan.groups.iter().all(|group| group.stop_condition == StopCondition::Time);
    if options.trial.is_some() || !is_timed || plan.phases.measure_ns == 0 {
        return None;
    }
    let [ramp_up, measure] = [plan.phases.ramp_up_ns, plan.phases.measure_ns].map(format_duration);
    let all = format_duration(plan.phases.ramp_up_ns + plan.phases.measure_ns);
    let has = |is: bool, what: &'static str| is.then_some(what);
    let more = [
        has(builds, "build"),
        has(plan.settle != Settle::Off, "settling"),
        has(options.check_before || options.check_after, "checks"),
    ];
    let more: Vec<&str> = more.into_iter().flatten().collect();
    let more =
        if more.is_empty() { String::new() } else { format!(", plus {}", more.join(" and ")) };
    Some(format!("takes {all} ({ramp_up} ramp-up, {measure} measured){more}"))
}

/// Refuses data that were built, and that a crash of the server has emptied.
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

/// What is known of the data that dbdyno builds; of several workloads each by its name.
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
        let of = |name: &str| match all.len() {
            1 => name.to_owned(),
            _ => format!("{workload}.{name}"),
        };
        let each = identity.scale.iter().chain(&identity.constants);
        facts.push(Fact::new("data", &of("seed"), identity.seed));
        facts.extend(each.map(|(name, value)| Fact::new("data", &of(name), value)));
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

/// Other runs of this database that go on.
fn running_at(store: &Store, target: &Target) -> Result<Vec<RunRow>, Error> {
    let filter = Filter { status: Some(model::Status::Running), ..Filter::default() };
    runs_at(store, target, &filter)
}

/// Refuses to take the data away from a run that goes on: one of this store, or of any where the
/// database is a file.
pub fn is_unused(store: &Path, target: &Target) -> Result<(), Error> {
    // Where there is no store, or none that can be read, no run of it is known.
    let store = Store::open_existing(store).ok();
    let others = store.map(|store| running_at(&store, target)).transpose()?.unwrap_or_default();
    let file = drivers::file_of(target).filter(|file| file.exists());
    let marker = file.as_deref().and_then(RunMarker::beside);
    let which = match others.first() {
        Some(RunRow { name, run, .. }) => format!(" ({name}, {run})"),
        None if marker.is_some_and(|marker| !marker.is_alone()) => String::new(),
        None => return Ok(()),
    };
    let why = "wait for it, or stop it, and drop its data then";
    Err(Error::Failed(format!("a run{which} uses {target} now: {why}")))
}

/// The runs of a filter that use this database.
fn runs_at(store: &Store, target: &Target, filter: &Filter) -> Result<Vec<RunRow>, Error> {
    let Some(place) = place_of(&target.to_string()) else { return Ok(Vec::new()) };
    let is_here = |row: &RunRow| place_of(&row.target).as_deref() == Some(&place);
    Ok(store.list(filter)?.into_iter().filter(is_here).collect())
}

/// What is said of another run at this database, if there is one; refuses to run beside one where
/// two cannot.
fn other_run(
    plan: &Plan,
    groups: &[Opened],
    options: &RunOptions,
    marker: Option<&RunMarker>,
) -> Result<Option<String>, Error> {
    let mut other = None;
    if let Some(path) = &options.store {
        let store = Store::open(path)?;
        let others = running_at(&store, &plan.target)?;
        refuse_beside(&store, &others, plan, groups)?;
        other = others.first().map(|other| format!("{}, {}", other.name, other.run));
    }
    let is_marked = marker.is_some_and(|marker| !marker.is_alone());
    let other = other.or_else(|| is_marked.then(|| "kept in another store, or in none".to_owned()));
    Ok(other.map(|other| running_beside(&other)))
}

/// Others are looked for among so many of the newest runs.
const RUNS_LOOKED_AT: usize = 100;

/// Which other runs used this database while this one did, also those that began later.
fn runs_meanwhile(plan: &Plan, options: &RunOptions, tally: &Tally) -> Option<Fact> {
    let store = Store::open_existing(options.store.as_ref()?).ok()?;
    let began = tally.description.as_ref()?.started_unix_ms;
    let is_other = |row: &RunRow| {
        let has_ended = row.ended_unix_ms.is_some_and(|ended| ended < began)
            || row.ended_unix_ms.is_none() && row.status != model::Status::Running;
        !has_ended && tally.run.as_ref() != Some(&row.run)
    };
    let newest = Filter { limit: Some(RUNS_LOOKED_AT), ..Filter::default() };
    let here = runs_at(&store, &plan.target, &newest).ok()?.into_iter();
    let others: Vec<String> =
        here.filter(is_other).map(|row| format!("{}, {}", row.name, row.run)).collect();
    (!others.is_empty()).then(|| Fact::new("commits", "runs_meanwhile", others.join("; ")))
}

/// What is said of another run: the database counts commits of both, and each slows the other down.
fn running_beside(other: &str) -> String {
    format!(
        "Another run ({other}) uses this database now: both are slower, and the database's own \
         count of commits will not match. Wait for it, or stop it."
    )
}

/// Refuses to write into tables that another run writes into, where two cannot.
fn refuse_beside(
    store: &Store,
    others: &[RunRow],
    plan: &Plan,
    groups: &[Opened],
) -> Result<(), Error> {
    let are_alone = |opened: &&Opened| opened.workload.needs_tables_alone();
    let ours = groups.iter().filter(are_alone).map(|opened| opened.workload.identity().workload);
    let ours: Vec<String> = ours.collect();
    for other in others {
        let Ok(Event::Begun { description, .. }) = store.begun(&other.run) else { continue };
        // A build measures nothing; it keeps others out by itself.
        let is_load = description.phases.measure_ns > 0;
        let theirs = description.groups.iter().filter(|_| is_load).filter_map(alone_in);
        if let Some(workload) = theirs.into_iter().find(|theirs| ours.contains(theirs)) {
            return Err(Error::Failed(format!(
                "another run ({}, {}) writes into the tables of {workload} in {} now, and two \
                 cannot: wait for it, stop it, or use another database",
                other.name, other.run, plan.target
            )));
        }
    }
    Ok(())
}

/// Whose tables a group of another run must have alone; none where it need not, and where this
/// version does not know.
fn alone_in(group: &GroupDescription) -> Option<String> {
    let entry = workloads::by_name(&group.workload).ok()?;
    let written = group.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let settings = Settings::decide(entry.name, entry.parameters, written).ok()?;
    let workload = entry.made(&settings, 0, None).ok()?;
    workload.needs_tables_alone().then(|| workload.identity().workload)
}

/// The facts of a database, with what the storage engines of the data mean for commits.
fn with_risks(database: Vec<Fact>, groups: &[Opened]) -> Vec<Fact> {
    let of = |of: &Opened| storage_engine::used(of.database.dialect(), of.workload.as_ref());
    let used: Vec<&str> = groups.iter().filter_map(of).collect();
    let database = match groups.first() {
        Some(first) => storage_engine::durability(database, first.database.as_ref(), &used),
        None => database,
    };
    let of = |of: &Opened| storage_engine::risk(of.database.dialect(), of.workload.as_ref());
    let mut risks: Vec<CommitRisk> = Vec::new();
    for risk in groups.iter().filter_map(of) {
        if !risks.contains(&risk) {
            risks.push(risk);
        }
    }
    risks.into_iter().fold(database, |facts, risk| risk.added_to(facts))
}

/// What is done and read beside the load.
struct Background {
    /// Where the database is, also one whose server we started.
    target: Target,
    disturbers: Disturbers,
    settings: Option<SettingsSnapshot>,
    path: Option<OpenPath>,
    /// How the database is brought to rest, if that is asked for.
    settling: Option<Settling>,
    /// The store with the restore journal; none of a server that ends with us.
    journal: Option<PathBuf>,
    /// Whether the server ends with us.
    is_own_server: bool,
}

impl Background {
    /// Brings the database to rest; what a run keeps of that begins with `about`, and says `when`
    /// it was.
    fn settle(
        &self,
        [about, when]: [&str; 2],
        plan: &Plan,
        groups: &[Opened],
        stop: &Stop,
        sink: &mut RunSink<'_>,
    ) -> Result<(), Error> {
        let (Some(settling), Some(first)) = (&self.settling, groups.first()) else { return Ok(()) };
        let of = ToSettle {
            database: first.database.as_ref(),
            target: &self.target,
            tables: tables_of(groups),
            journal: self.journal.as_deref(),
            limit: Duration::from_nanos(plan.settle_limit_ns),
        };
        let settled = settle(&of, settling, stop, sink.watcher)?;
        sink.note(settled.sentence());
        settled.events(about, when).into_iter().for_each(|event| sink.tell(event));
        if settled.is_interrupted { Err(settle::interrupted()) } else { Ok(()) }
    }

    /// Makes the server count what it does not count by itself, until what this returns ends. A
    /// setting that cannot be set is reported.
    fn switch_on(
        &self,
        groups: &[Opened],
        sink: &mut RunSink<'_>,
    ) -> Result<Option<Momentary>, Error> {
        let Some(first) = groups.first() else { return Ok(None) };
        let instruments = first.database.monitoring().instruments;
        if instruments.is_empty() {
            let name = first.database.dialect().name;
            sink.note(format!("instruments: {name} counts nothing more than it does by itself"));
            return Ok(None);
        }
        let (database, journal) = (first.database.as_ref(), self.journal.as_deref());
        let own = database.monitoring().instruments_of_own;
        if self.is_own_server
            && !own.is_empty()
            && let Err(db_error) = AdminSession::at(database)?.write(own)
        {
            sink.note(format!("instruments: {db_error}"));
        }
        let mut settings = Momentary::at(database, &self.target, journal)?;
        let mut on = Vec::new();
        for (name, value) in instruments {
            match settings.set(name, value, "run") {
                Ok(true) => on.push(*name),
                Ok(false) => {}
                Err(error) => sink.note(format!("instruments: {error}")),
            }
        }
        sink.tell(Event::Fact(Fact::new("monitor", "instruments", on.join(", "))));
        Ok(Some(settings))
    }
}

/// How the database is brought to rest, if the plan asks for that.
fn settling_of(
    plan: &Plan,
    open_target: &OpenTarget,
    stop: &Stop,
) -> Result<Option<Settling>, Error> {
    if plan.settle == Settle::Off {
        return Ok(None);
    }
    settling_at(open_target, stop).map(Some)
}

/// How it would be.
fn settling_at(open_target: &OpenTarget, stop: &Stop) -> Result<Settling, Error> {
    let database = Arc::clone(&open_target.database);
    let interrupted = "interrupted before the run began";
    run_interruptible(stop, interrupted, move || {
        settle::settling_of(database.as_ref(), &database.facts()?)
    })
}

/// The load, with its checks around it.
fn measure(
    plan: &Plan,
    groups: &[Opened],
    placement: Placement,
    options: &RunOptions,
    stop: &Arc<Stop>,
    background: &mut Background,
    sink: &mut RunSink<'_>,
) -> Result<Ran, Error> {
    if options.check_before {
        check_before(groups, stop, sink)?;
    }
    background.disturbers.prepare(stop)?;
    drop_later_indexes(groups, stop)?;
    let settling = background.settling.as_ref();
    let advice = settling.and_then(|settling| settle::not_advised(settling, &sink.tally.settings));
    advice.into_iter().for_each(|event| sink.tell(event));
    if plan.settle.is_before() {
        background.settle(["settle_before", "before the load"], plan, groups, stop, sink)?;
    }
    let instruments = match plan.instruments && placement != Placement::Simulated {
        true => background.switch_on(groups, sink)?,
        false => None,
    };
    if plan.monitor != MonitorScope::Off && placement != Placement::Simulated {
        let probed = groups.first().map(|first| path_probe::probe(&first.database, stop));
        probed.into_iter().flatten().for_each(|fact| sink.tell(Event::Fact(fact)));
    }
    let run = sink.tally.run.as_ref().map_or("", |run| &run.0);
    let mark = DatabaseMark::begin(plan, groups, run, stop);
    let before = counts_in(groups, stop)?;
    let commits_before = commits_before(plan, groups, stop);
    let began = wall_clock::now();
    let origin = Origin::now();
    let mut agents = Agents::start(
        &agents::Start {
            plan,
            target: &background.target,
            entrance: background.path.as_ref().map(OpenPath::entrance),
            placement,
            origin,
        },
        stop,
    )?;
    let job = Job {
        threads: sink.client_threads.clone(),
        sample_hook: options.sample_hook.clone(),
        ..job_of(plan, groups, placement, 0, origin)
    };
    let (monitor, facts) = monitor::start(Scope {
        // In virtual time there is nothing of this machine.
        monitor: if placement == Placement::Simulated { MonitorScope::Off } else { plan.monitor },
        threads: sink.threads.clone(),
        database: groups.first().map(|opened| Arc::clone(&opened.database)),
        connect: admin_session::for_counters,
        connect_as_client: admin_session::for_round_trips,
        servers: background.disturbers.processes(),
        helpers: helpers(&agents, background.path.as_ref()),
        own: Vec::new(),
    });
    sink.are_read = monitor.has_collectors();
    facts.into_iter().for_each(|fact| sink.tell(Event::Fact(fact)));
    let first = groups.first().map(|opened| opened.database.as_ref());
    let servers = background.disturbers.processes();
    let mut profiling = Profiling::start(plan, placement, first, servers, agents.processes());
    let beside = Beside { agents: &mut agents, disturbers: &mut background.disturbers, monitor };
    let ran = drive(job, stop, beside, &mut profiling, sink)?;
    let left = instruments.map(|mut settings| settings.end()).unwrap_or_default();
    left.into_iter().for_each(|note| sink.note(note));
    sink.take_usage();
    let mut usage = sink.measured.unwrap_or_default();
    for (first_loop, end) in agents.ends() {
        usage.cpu_ns += end.cpu_ns;
        usage.max_rss_bytes = usage.max_rss_bytes.map(|ours| ours + end.max_rss_bytes);
        sink.thread_use.add(first_loop, &end.thread_use);
    }
    agents.facts().into_iter().for_each(|fact| sink.tell(Event::Fact(fact)));
    drop(agents);
    sink.tell(Event::Ended {
        reason: ran.reason.clone(),
        measured_ns: ran.measured_ns,
        elapsed_ns: ran.elapsed_ns,
        cpu_ns: usage.cpu_ns,
        max_rss_bytes: usage.max_rss_bytes.unwrap_or(0),
    });
    computed::compute(groups, sink);
    for fact in facts_of(&ran, &usage, &sink.thread_use, &sink.tally) {
        sink.tell(Event::Fact(fact));
    }
    let shown = background.path.take().map(OpenPath::close).unwrap_or_default();
    shown.into_iter().for_each(|fact| sink.tell(Event::Fact(fact)));
    let silence = wait_while_recovering(groups, stop, sink);
    match &silence {
        None => {
            let commits = commits_before;
            let around = Around { ran: &ran, mark, counts: before, commits, began };
            look_again(plan, groups, options, around, stop, background, sink);
        }
        // Each further question would be waited for as long.
        Some(silence) => leave_unasked(options, silence, sink),
    }
    profiling.end(&ran.reason, stop, sink);
    if plan.settle.is_after() && ran.reason == StopReason::Completed && silence.is_none() {
        match background.settle(["settle_after", "after the load"], plan, groups, stop, sink) {
            Err(Error::Interrupted(why)) => sink.note(why),
            Err(error) => sink.tell(settle::not_done("after the load", &error)),
            Ok(()) => {}
        }
    }
    Ok(ran)
}

/// The load, what was counted before it, and when that began.
struct Around<'a> {
    ran: &'a Ran,
    mark: Option<DatabaseMark>,
    counts: OwnCounts,
    commits: Option<i64>,
    began: Instant,
}

/// Looks at the data, the settings and the counts after the load.
fn look_again(
    plan: &Plan,
    groups: &[Opened],
    options: &RunOptions,
    around: Around<'_>,
    stop: &Arc<Stop>,
    background: &Background,
    sink: &mut RunSink<'_>,
) {
    let ran = around.ran;
    if ran.reason == StopReason::Completed {
        add_later_indexes(groups, ran, stop, sink);
    }
    let database = groups.first().map(|opened| &opened.database);
    let changed =
        settings_snapshot::changed(database, background.settings.as_ref(), stop, &sink.tally);
    let changed = changed.into_iter().map(Event::Fact);
    let lost = groups.first().and_then(|of| lost(plan, &of.database, stop, &sink.tally));
    changed.chain(lost).for_each(|event| sink.tell(event));
    let after = counts_in(groups, stop);
    let marked = around.mark.and_then(|mark| mark.end(stop));
    let others = runs_meanwhile(plan, options, &sink.tally).or(marked);
    others.into_iter().for_each(|fact| sink.tell(Event::Fact(fact)));
    match after {
        Ok(after) => crosscheck(&around.counts, &after, sink),
        Err(error) => {
            let text = format!("The database's own count of commits is not known: {error}.");
            sink.tell(not_made("crosscheck_not_run", text));
        }
    }
    compare_commits(groups, stop, around.commits, sink);
    restarted(groups, stop, around.began).into_iter().for_each(|fact| sink.tell(Event::Fact(fact)));
    // Who interrupts a run does not want to wait for more.
    if options.check_after && matches!(ran.reason, StopReason::Completed | StopReason::QueueFull) {
        match check_all(groups, stop, sink) {
            Ok(results) if results.is_empty() => {}
            Ok(results) => sink.tell(Event::Checked { after: true, results }),
            Err(Error::Interrupted(why)) => sink.note(why),
            Err(error) => {
                let text = format!("The data could not be checked after the load: {error}.");
                sink.tell(not_made("checks_not_run", text));
            }
        }
    }
}

/// The server says nothing any more, so nothing is asked.
fn leave_unasked(options: &RunOptions, silence: &str, sink: &mut RunSink<'_>) {
    let text = format!("Commits, settings and start time were not read after the load: {silence}.");
    sink.tell(not_made("crosscheck_not_run", text));
    if options.check_after {
        let text = format!("The data could not be checked after the load: {silence}.");
        sink.tell(not_made("checks_not_run", text));
    }
}

/// What is asked after the load is asked of a server that lets us in: one that was killed may
/// recover for longer than anybody waits who connects.
/// Returns what is wrong with a server that says nothing at all.
fn wait_while_recovering(
    groups: &[Opened],
    stop: &Arc<Stop>,
    sink: &mut RunSink<'_>,
) -> Option<String> {
    let opened = groups.first()?;
    let (database, word) = (Arc::clone(&opened.database), Arc::clone(stop));
    let mut hear = |why: &String| sink.watcher.doing(&format!("the server recovers: {why}"));
    // Whoever asks next says what is wrong with the server, or that it was interrupted.
    let interrupted = "interrupted while the server recovered";
    let waited = run_interruptible_with_progress(stop, interrupted, &mut hear, move |tell| {
        let is_stopped = || word.is_asked();
        Ok(build_lock::wait_while_recovering(database.as_ref(), &is_stopped, tell))
    });
    waited.ok().flatten().map(|no| no.to_string())
}

/// Our processes beside this one, by what they are called where the machine is monitored.
fn helpers(agents: &Agents, path: Option<&OpenPath>) -> Vec<(String, u32)> {
    let of_clients = (1..).zip(agents.processes());
    let of_clients = of_clients
        .map(|(number, process): (u32, u32)| (format!("process {number}/generator"), process));
    let of_path = path.map(|path| ("network/generator".to_owned(), path.process()));
    of_clients.chain(of_path).collect()
}

/// What works while the load runs.
struct Beside<'b> {
    agents: &'b mut Agents,
    disturbers: &'b mut Disturbers,
    monitor: Monitor,
}

/// The load itself, with what is done and counted beside it.
fn drive(
    job: Job,
    stop: &Arc<Stop>,
    beside: Beside<'_>,
    profiling: &mut Profiling,
    sink: &mut RunSink<'_>,
) -> Result<Ran, Error> {
    let Beside { agents, disturbers, mut monitor } = beside;
    let lead_ns = match job.placement {
        Placement::Simulated => 0,
        _ if agents.is_empty() => LEAD_NS,
        _ => LEAD_NS + agents::LEAD_NS,
    };
    let phases = job.phases;
    let agents = RefCell::new(agents);
    let database = job.groups.first().map(|group| Arc::clone(&group.database));
    let limit = database.as_ref().and_then(|of| of.administration().connection_limit);
    let (begin, begin_to_look) = (disturbers.begin(), monitor.begin());
    let (mut connected_ns, mut connection_count) = (0, None);
    let measured_from_unix_ms = Cell::new(None);
    let mut start = |now_ns| {
        connected_ns = now_ns;
        let until_measured = Duration::from_nanos(lead_ns + phases.ramp_up_ns);
        let until_measured_ms = until_measured.as_millis() as i64;
        measured_from_unix_ms.set(Some(wall_clock::unix_ms() + until_measured_ms));
        let until_midst = until_measured + Duration::from_nanos(phases.measure_ns / 2);
        connection_count =
            database.as_ref().and_then(|database| ConnectionCount::begin(database, until_midst));
        begin(until_measured);
        begin_to_look(until_measured);
        agents.borrow_mut().begin(now_ns + lead_ns, stop);
        now_ns + lead_ns
    };
    let ran = engine::run(job, stop, &mut start, &mut |event| {
        agents.borrow_mut().follow(&mut |reported| sink.tell(reported));
        disturbers.follow(&event, &mut |shown| sink.tell(shown));
        monitor.follow(&mut |shown| sink.tell(shown));
        profiling.follow(&event);
        sink.tell(event);
        // Also whoever is killed in mid-run has said when it was.
        if let Some(ms) = measured_from_unix_ms.take() {
            sink.tell(Event::Fact(Fact::new("client", "measured_from_unix_ms", ms)));
        }
    });
    let agents = agents.into_inner();
    let ran = ran.map(|ran| {
        agents.end(phases.drain_ns, stop, &mut |reported| sink.tell(reported));
        agents.joined(ran)
    });
    for fact in monitor.end(&mut |shown| sink.tell(shown)) {
        sink.tell(Event::Fact(fact));
    }
    disturbers.end(stop, &mut |shown| sink.tell(shown));
    for fact in facts_of_connections(connected_ns, connection_count, &sink.tally) {
        sink.tell(Event::Fact(fact));
    }
    ran.map_err(|error| match error {
        engine::CannotRun::Interrupted => Error::Interrupted(error.to_string()),
        error => could_not_run(error, limit, &sink.tally),
    })
}

/// Why there was no load, with what the server allows where that is the reason.
fn could_not_run(error: engine::CannotRun, limit: Option<&str>, tally: &Tally) -> Error {
    let is_full = matches!(&error, engine::CannotRun::Refused { db_error, .. }
        if db_error.kind == DbErrorKind::TooManyConnections);
    // Of a pooler's own limit the server says nothing.
    let is_pooled = tally.fact("connection", "pooler").is_some();
    let limit = limit.filter(|_| is_full && !is_pooled);
    match limit.and_then(|name| Some((name, tally.fact("database", name)?))) {
        Some((name, limit)) => Error::Failed(format!("{error}; its {name} is {limit}")),
        None => Error::failed(error),
    }
}

/// What a process has to do in a run; 0 is ours.
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
        jobs.push(GroupJob {
            name: group.name.clone(),
            workload: Arc::clone(&opened.workload),
            database: Arc::clone(&opened.database),
            statements: statements.into(),
            first_client,
            clients: group.clients,
            share: share_of(group, process),
            load: group.load.of_transactions(opened.workload.transaction_stores()),
            stop_condition: group.stop_condition,
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
        pin: plan.pin,
        workers: agents::workers(plan),
        threads: ClientThreads::default(),
        sample_hook: None,
    }
}

/// Judges, reports, and closes the store; a run that failed midway is kept as such.
fn conclude(failure: Option<Error>, mut sink: RunSink<'_>) -> Result<RunResult, Error> {
    if let Some(failure) = &failure {
        sink.tell(Event::Output { text: failure.to_string() });
        let reason = match failure {
            Error::Interrupted(_) => StopReason::Interrupted,
            Error::Usage(why) | Error::Failed(why) => StopReason::Failed { why: why.clone() },
        };
        let (measured_ns, elapsed_ns, cpu_ns, max_rss_bytes) = (0, 0, 0, 0);
        sink.tell(Event::Ended { reason, measured_ns, elapsed_ns, cpu_ns, max_rss_bytes });
    }
    let mut report = Report::of(&sink.tally);
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
            sink.watcher.note(&format!("the store could not be written: {error}"));
            // It came to light at the end, as the last of it was written.
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

/// How a run is kept: its status, and the figures by which it is listed.
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
    // The offered one: what was dropped or never ended must not make a run look good.
    let is_infinite = block.offered_ms.is_among_lost("p99");
    let p99_ns = block.offered_ms.p99.map(ns).or(is_infinite.then_some(store::INFINITE_NS));
    let primary = block.primary_metrics.0.first().and_then(|(name, of)| {
        let (name, title) = (name.clone(), of.title.clone());
        Some(store::PrimaryFigure { name, title, value: of.value? })
    });
    (status, Summary { tps: block.tps, primary, p99_ns })
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
}
