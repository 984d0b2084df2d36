//! A run, from a plan to a report: open, build, check, measure, check again, judge, remember.
//!
//! Everyone who wants to know of it consumes the same events: the tally, the store, the
//! watcher. Not here: how it is shown (dbdyno).

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{ClientThreads, GroupJob, Job, Ran, Share, Stop, Tap};
use model::{
    Around, Check, CheckResult, Database, Deed, Description, Disturbance, Event, Fact, Finding,
    GroupDescription, HeadlineDescription, KindDescription, Load, MeasureDescription, NS_PER_MS,
    NS_PER_S, Phase, Placement, Plan, RunId, Severity, StopReason, Trial, Workload,
};
use monitor::{Monitor, Scope, SharedTasks, Usage, Watch, facts, wall_clock};
use results::Tally;
use results::render::figures::{count, fixed};
use results::report::{Report, Status};
use results::store::{self, Store, Summary, Writer};

use crate::build::{BuildOptions, Progress, build_heard};
use crate::census::Census;
use crate::client_threads::{ThreadUse, ThreadWatch};
use crate::desk::{self, Desk, is_full};
use crate::disturb::Disturbers;
use crate::heard::{heard, quietly};
use crate::in_force::{self, InForce};
use crate::managed::Managed;
use crate::open::{Data, Opened, Site, agree_for, arrive, has_all_tables, is_apart_from};
use crate::settings::{Hold, lost};
use crate::{Trouble, alone, check, commits, room, routines};

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
    pub tap: Option<Tap>,
    /// What it is of an experiment.
    pub trial: Option<Trial>,
    /// What it is labelled with in the store, by key.
    pub labels: Vec<(String, String)>,
    /// What there was before it and is told with it.
    pub before: Vec<Event>,
}

/// Somebody who looks on.
pub trait Watcher {
    /// Something happened; `tally` has it already.
    fn event(&mut self, event: &Event, tally: &Tally);
    /// Data are being built.
    fn building(&mut self, progress: &Progress);
    /// Something to be said now.
    fn note(&mut self, text: &str);
    /// What is being done at this moment, worth showing while it lasts.
    fn doing(&mut self, text: &str);
}

/// A run that has ended.
pub struct RunResult {
    /// What is to be told of it.
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
) -> Result<RunResult, Trouble> {
    is_apart_from(options.store.as_deref(), &plan.target)?;
    let mut site = arrive(&plan.target, plan.seed, options.build, stop, &mut |text| {
        watcher.doing(text);
    })?;
    for text in site.sentences() {
        watcher.note(&text);
    }
    if plan.settings.is_empty() {
        return run_at(&mut site, plan, options, stop, watcher);
    }
    let Some(store) = &options.store else {
        return Err(Trouble::Usage(
            "settings of a server are changed with a journal in the store, so that they can be \
             set back after a crash: leave out --no-store, or the settings"
                .to_owned(),
        ));
    };
    let mut hold = Hold::new(store, "run".to_owned());
    let result = hold.put_heard(&site.database, &plan, stop).and_then(|set| {
        let options = RunOptions { before: set.told(watcher), ..options };
        run_at(&mut site, plan, options, stop, watcher)
    });
    hold.release(stop).iter().for_each(|note| watcher.note(note));
    result
}

/// Runs a plan at its target, which has been opened.
pub(crate) fn run_at(
    site: &mut Site,
    mut plan: Plan,
    options: RunOptions,
    stop: &Arc<Stop>,
    watcher: &mut dyn Watcher,
) -> Result<RunResult, Trouble> {
    room::has_descriptors(&plan)?;
    let mut said: Vec<String> = site.sentences();
    let database = &site.database;
    // What cannot be is refused before anything is built.
    let placement = room::place_at(site, &plan, stop)?;
    if let Some(path) = &options.store {
        Store::open(path).map_err(store_trouble)?;
    }
    let groups = prepare(&plan, database, &options, stop, watcher, &mut said);
    let groups = groups.map_err(|trouble| site.told(trouble))?;
    for (group, opened) in plan.groups.iter_mut().zip(&groups) {
        let written = opened.settings.written();
        group.parameters = written.map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
    }
    let database_facts = facts_of_database(site, stop)?;
    let trial = options.trial.clone();
    let description = Description { trial, ..describe(&plan, &groups, placement, &database_facts) };
    let (in_force, told) = in_force::before(site, stop);
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
    let mut recount = Recount::new(writer, watcher);
    recount.tell(begun);
    for text in said {
        recount.tell(Event::Output { text });
    }
    for event in &options.before {
        recount.tell(event.clone());
    }
    for fact in gather_facts(&plan, &options, database_facts, &groups, site) {
        recount.tell(Event::Fact(fact));
    }
    told.into_iter().for_each(|event| recount.tell(event));
    let mut beside = Beside { disturbers: Disturbers::of(&plan, site), in_force };
    let outcome = measure(&plan, &groups, placement, &options, stop, &mut beside, &mut recount);
    site.server = beside.disturbers.give_back();
    if let Some(how) = site.server.as_mut().and_then(Managed::ended) {
        let text = format!("The managed server {how}");
        recount.tell(not_made("managed_server_ended", text));
    }
    conclude(outcome, recount)
}

fn open_store(
    path: &Path,
    begun: &Event,
    run: &RunId,
    labels: &[(String, String)],
) -> Result<Writer, Trouble> {
    let store = Store::open(path).map_err(store_trouble)?;
    let writer = store.writer(begun).map_err(store_trouble)?;
    for (key, value) in labels {
        store.label(run, key, value).map_err(store_trouble)?;
    }
    Ok(writer)
}

pub(crate) fn store_trouble(error: store::StoreError) -> Trouble {
    if error.kind == store::StoreErrorKind::Taken {
        return Trouble::Usage(error.to_string());
    }
    Trouble::Failed(format!("{error}; name another with --store, or run with --no-store"))
}

fn facts_of_database(site: &Site, stop: &Stop) -> Result<Vec<Fact>, Trouble> {
    let database = Arc::clone(&site.database);
    let asked = quietly(stop, "interrupted before the run began", move || Ok(database.facts()?));
    let mut facts = asked?;
    facts.extend(site.server.iter().flat_map(Managed::facts));
    Ok(facts)
}

/// Agrees with the database on each group's workload, and builds what is not there.
pub(crate) fn prepare(
    plan: &Plan,
    database: &Arc<dyn Database>,
    options: &RunOptions,
    stop: &Arc<Stop>,
    watcher: &mut dyn Watcher,
    said: &mut Vec<String>,
) -> Result<Vec<Opened>, Trouble> {
    let mut groups = Vec::new();
    for group in &plan.groups {
        let mut opened = agree_for(plan, database, group, stop)?;
        has_all_tables(&opened, &plan.target, stop)?;
        if matches!(opened.data, Data::Absent | Data::Unfinished) {
            if !options.build {
                return Err(Trouble::Failed(format!(
                    "{} has no complete data of {}: build it with dbdyno build {} --target '{}'",
                    plan.target, group.workload, group.workload, plan.target
                )));
            }
            let told = |progress: &Progress| watcher.building(progress);
            let built = build_heard(&opened, options.load, stop, &mut { told })?;
            watcher.note(&built.sentence());
            said.push(built.sentence());
            opened = agree_for(plan, database, group, stop)?;
        }
        let to_install = opened.clone();
        let interrupted = "interrupted while routines were put into the database";
        let n_made = quietly(stop, interrupted, move || routines::install(&to_install))?;
        if n_made > 0 {
            said.push(format!("put {n_made} routines into the database"));
        }
        groups.push(opened);
    }
    Ok(groups)
}

fn describe(
    plan: &Plan,
    groups: &[Opened],
    placement: Placement,
    database: &[Fact],
) -> Description {
    let value =
        |name: &str| database.iter().find(|fact| fact.name == name).map(|fact| fact.value.clone());
    let product = value("product").unwrap_or_else(|| plan.target.scheme.clone());
    let version = value("version").map(|version| format!(" {version}")).unwrap_or_default();
    let modes = database.iter().filter(|fact| fact.about == "mode");
    let told = plan.groups.iter().zip(groups);
    Description {
        name: plan.name.clone(),
        seed: plan.seed,
        target: plan.target.to_string(),
        database: format!("{product}{version}"),
        modes: modes.map(|fact| format!("{}={}", fact.name, fact.value)).collect(),
        placement,
        phases: plan.phases,
        groups: told.map(|(group, opened)| describe_group(group, opened)).collect(),
        dbdyno: version_of_ours(),
        started_unix_ms: wall_clock::unix_ms(),
        trial: None,
        probe_seconds: plan.probe_seconds,
        window_seconds: plan.recording.window_seconds,
    }
}

/// `0.1.0`, or `0.1.0 (debug build)`.
pub fn version_of_ours() -> String {
    let debug = if cfg!(debug_assertions) { " (debug build)" } else { "" };
    format!("{}{debug}", env!("CARGO_PKG_VERSION"))
}

fn describe_group(group: &model::Group, opened: &Opened) -> GroupDescription {
    let workload = opened.workload.as_ref();
    let kind =
        |kind: &model::Kind| KindDescription { name: kind.name.to_owned(), weight: kind.weight };
    let headline = |headline: model::Headline| HeadlineDescription {
        name: headline.name.to_owned(),
        title: headline.title.to_owned(),
        kinds: headline.kinds,
        per_ns: headline.per_ns,
    };
    let measure = |measure: &model::Measure| MeasureDescription {
        name: measure.name.to_owned(),
        unit: measure.unit.to_owned(),
        kind: measure.kind,
    };
    GroupDescription {
        name: group.name.clone(),
        workload: group.workload.clone(),
        clients: group.clients,
        load: group.load.clone(),
        until: group.until,
        parameters: group.parameters.clone(),
        kinds: workload.kinds().iter().map(kind).collect(),
        headlines: workload.headlines().into_iter().map(headline).collect(),
        measures: workload.measures().iter().map(measure).collect(),
        declarations: workload.declarations(),
        closed_form: closed_form(&group.load, group.clients, workload),
        standard: workload.standard(),
    }
}

/// What rate keying and thinking alone allow: with shares p, a client does one transaction in
/// sum(p (keying + thinking)), so its rate of a kind is p of that kind over this time, less what
/// is rolled back by design.
fn closed_form(load: &Load, clients: u32, workload: &dyn Workload) -> Option<String> {
    let Load::KeyThink { scale } = load else {
        return None;
    };
    let kinds = workload.kinds();
    let weights: u64 = kinds.iter().map(|kind| kind.weight).sum();
    let share = |kind: &model::Kind| kind.weight as f64 / weights as f64;
    let pause = |kind: &model::Kind| (kind.keying_ns + kind.thinking_ns) as f64 * scale;
    let cycle_ns: f64 = kinds.iter().map(|kind| share(kind) * pause(kind)).sum();
    if cycle_ns <= 0.0 {
        return None;
    }
    let headline = workload.headlines().into_iter().next();
    let committed =
        |kind: u16| share(&kinds[usize::from(kind)]) * (1.0 - workload.rolled_back_share(kind));
    let all = 0..kinds.len() as u16;
    let (title, of, per_ns) = match &headline {
        Some(headline) if headline.kinds.is_empty() => {
            (headline.title, all.collect(), headline.per_ns)
        }
        Some(headline) => (headline.title, headline.kinds.clone(), headline.per_ns),
        None => ("TPS", all.collect::<Vec<u16>>(), NS_PER_S),
    };
    let share_of: f64 = of.into_iter().map(committed).sum();
    let each = per_ns as f64 / cycle_ns * share_of;
    let cap = workload.rate_cap().map_or(String::new(), |cap| format!("; {cap}"));
    let all = fixed(each * f64::from(clients), 1);
    let each = fixed(each, 2);
    let clients = count(clients.into(), "client");
    Some(format!(
        "keying and thinking alone allow {each} {title} per client on average, {all} for \
         {clients}; less than that shows response time or loss{cap}"
    ))
}

fn gather_facts(
    plan: &Plan,
    options: &RunOptions,
    database: Vec<Fact>,
    groups: &[Opened],
    site: &Site,
) -> Vec<Fact> {
    let file = PathBuf::from(&plan.target.path);
    let mut paths: Vec<&Path> = Vec::new();
    if let Some(server) = &site.server {
        paths.push(server.folder());
    } else if plan.target.hosts.is_empty() && file.exists() {
        paths.push(&file);
    }
    paths.extend(options.store.as_deref());
    let mut facts = facts::machine(&paths);
    facts.extend(database);
    facts.extend(spread(plan, site.database.as_ref()));
    if groups.iter().any(|opened| opened.data == Data::Unmarked) {
        facts.push(Fact::new("data", "meta", "absent"));
    }
    for opened in groups.iter().filter(|opened| opened.data == Data::Built) {
        let identity = opened.workload.identity();
        facts.push(Fact::new("data", "seed", identity.seed));
        let scale: Vec<String> = identity.scale.iter().map(|(n, v)| format!("{n} {v}")).collect();
        facts.push(Fact::new("data", "size", scale.join(", ")));
        for (name, value) in identity.scale.iter().chain(&identity.constants) {
            facts.push(Fact::new("data", name, value));
        }
    }
    facts
}

/// Everyone who wants to know, and the cost of the measured phase.
struct Recount<'w> {
    tally: Tally,
    writer: Option<Writer>,
    watcher: &'w mut dyn Watcher,
    /// Our own threads, which a collector reads too.
    threads: SharedTasks,
    /// That collector reads them every second.
    are_read: bool,
    watch: Option<Watch>,
    measured: Option<Usage>,
    /// Those of them on which clients live.
    client_threads: ClientThreads,
    thread_watch: Option<ThreadWatch>,
    thread_use: ThreadUse,
}

/// What is done and read beside the load.
struct Beside {
    disturbers: Disturbers,
    in_force: Option<InForce>,
}

impl<'w> Recount<'w> {
    fn new(writer: Option<Writer>, watcher: &'w mut dyn Watcher) -> Recount<'w> {
        Recount {
            tally: Tally::new(),
            writer,
            watcher,
            threads: SharedTasks::default(),
            are_read: false,
            watch: None,
            measured: None,
            client_threads: ClientThreads::default(),
            thread_watch: None,
            thread_use: ThreadUse::default(),
        }
    }

    fn tell(&mut self, event: Event) {
        match &event {
            Event::Phase { phase: Phase::RampUp | Phase::Measure, .. } => {
                self.watch = Some(Watch::over(&self.threads));
                self.thread_watch = Some(ThreadWatch::begin(&self.threads, &self.client_threads));
            }
            Event::Phase { phase: Phase::Drain, .. } => self.take_usage(),
            // What a thread did is known only while it lives, so somebody looks every second.
            Event::Second(_) if self.measured.is_none() && !self.are_read => {
                monitor::look(&self.threads);
            }
            _ => {}
        }
        self.tally.add(&event);
        self.watcher.event(&event, &self.tally);
        if let Some(writer) = &self.writer {
            writer.send(event);
        }
    }

    fn take_usage(&mut self) {
        if self.measured.is_none() {
            self.measured = self.watch.as_mut().map(Watch::read);
            let used = self.thread_watch.as_ref().map(|watch| watch.read(&self.threads));
            self.thread_use = used.unwrap_or_default();
        }
    }

    fn note(&mut self, text: String) {
        self.watcher.note(&text);
        self.tell(Event::Output { text });
    }
}

/// The load, with its checks around it.
fn measure(
    plan: &Plan,
    groups: &[Opened],
    placement: Placement,
    options: &RunOptions,
    stop: &Arc<Stop>,
    beside: &mut Beside,
    recount: &mut Recount<'_>,
) -> Result<Ran, Trouble> {
    if options.check_before {
        check_before(groups, stop, recount)?;
    }
    beside.disturbers.prepare(stop)?;
    let before = counts_in(groups, stop)?;
    let commits_before = commits_before(plan, groups, stop);
    let began = wall_clock::now();
    let threads = recount.client_threads.clone();
    let job = Job { threads, ..job_of(plan, groups, placement, options) };
    let (monitor, facts) = monitor::start(Scope {
        // In virtual time there is nothing of this machine.
        around: if placement == Placement::Simulated { Around::None } else { plan.around },
        threads: recount.threads.clone(),
        database: groups.first().map(|opened| Arc::clone(&opened.database)),
        connect: desk::for_counters,
        processes: beside.disturbers.processes(),
    });
    recount.are_read = monitor.has_collectors();
    facts.into_iter().for_each(|fact| recount.tell(Event::Fact(fact)));
    let ran = drive(job, stop, &mut beside.disturbers, monitor, recount)?;
    recount.take_usage();
    let usage = recount.measured.unwrap_or_default();
    recount.tell(Event::Ended {
        reason: ran.reason.clone(),
        measured_ns: ran.measured_ns,
        elapsed_ns: ran.elapsed_ns,
        cpu_ns: usage.cpu_ns,
        max_rss_bytes: usage.max_rss_bytes.unwrap_or(0),
    });
    for fact in facts_of(&ran, &usage, &recount.thread_use, &recount.tally) {
        recount.tell(Event::Fact(fact));
    }
    wait_while_recovering(groups, stop, recount);
    let database = groups.first().map(|opened| &opened.database);
    let changed = in_force::changed(database, beside.in_force.as_ref(), stop, &recount.tally);
    let changed = changed.into_iter().map(Event::Fact);
    let lost = groups.first().and_then(|of| lost(plan, &of.database, stop, &recount.tally));
    changed.chain(lost).for_each(|event| recount.tell(event));
    let after = counts_in(groups, stop);
    match (before, after) {
        (before, Ok(after)) => crosscheck(&before, &after, recount),
        (_, Err(error)) => {
            let text = format!("The database's own count of commits is not known: {error}.");
            recount.tell(not_made("crosscheck_not_made", text));
        }
    }
    compare_commits(groups, stop, commits_before, recount);
    restarted(groups, stop, began).into_iter().for_each(|fact| recount.tell(Event::Fact(fact)));
    // Who interrupts a run does not want to wait for more.
    if options.check_after && matches!(ran.reason, StopReason::Completed | StopReason::QueueFull) {
        match check_all(groups, stop, recount) {
            Ok(results) if results.is_empty() => {}
            Ok(results) => recount.tell(Event::Checked { after: true, results }),
            Err(Trouble::Interrupted(why)) => recount.note(why),
            Err(error) => {
                let text = format!("The data could not be checked after the load: {error}.");
                recount.tell(not_made("checks_not_made", text));
            }
        }
    }
    Ok(ran)
}

/// What is asked after the load is asked of a server that lets us in: one that was killed may
/// recover for longer than anybody waits who connects.
fn wait_while_recovering(groups: &[Opened], stop: &Arc<Stop>, recount: &mut Recount<'_>) {
    let Some(opened) = groups.first() else { return };
    let (database, word) = (Arc::clone(&opened.database), Arc::clone(stop));
    let mut hear = |why: &String| recount.watcher.doing(&format!("the server recovers: {why}"));
    // Whoever asks next says what is wrong with the server, or that it was interrupted.
    let _ = heard(stop, "interrupted while the server recovered", &mut hear, move |tell| {
        alone::wait_while_recovering(database.as_ref(), &|| word.is_asked(), tell);
        Ok(())
    });
}

/// The load itself, with what is done and counted beside it.
fn drive(
    job: Job,
    stop: &Arc<Stop>,
    disturbers: &mut Disturbers,
    mut monitor: Monitor,
    recount: &mut Recount<'_>,
) -> Result<Ran, Trouble> {
    let lead_ns = if job.placement == Placement::Simulated { 0 } else { LEAD_NS };
    let phases = job.phases;
    let database = job.groups.first().map(|group| Arc::clone(&group.database));
    let (begin, begin_to_look) = (disturbers.begin(), monitor.begin());
    let (mut connected_ns, mut census) = (0, None);
    let measured_from_unix_ms = Cell::new(None);
    let mut start = |now_ns| {
        connected_ns = now_ns;
        let until_measured = Duration::from_nanos(lead_ns + phases.ramp_up_ns);
        let until_measured_ms = until_measured.as_millis() as i64;
        measured_from_unix_ms.set(Some(wall_clock::unix_ms() + until_measured_ms));
        let until_midst = until_measured + Duration::from_nanos(phases.measure_ns / 2);
        census = database.as_ref().and_then(|database| Census::begin(database, until_midst));
        begin(until_measured);
        begin_to_look(until_measured);
        now_ns + lead_ns
    };
    let ran = engine::run(job, stop, &mut start, &mut |event| {
        disturbers.follow(&event, &mut |told| recount.tell(told));
        monitor.follow(&mut |told| recount.tell(told));
        recount.tell(event);
        // Also whoever is killed in mid-run has said when it was.
        if let Some(ms) = measured_from_unix_ms.take() {
            recount.tell(Event::Fact(Fact::new("client", "measured_from_unix_ms", ms)));
        }
    });
    for fact in monitor.end(&mut |told| recount.tell(told)) {
        recount.tell(Event::Fact(fact));
    }
    disturbers.end(stop, &mut |told| recount.tell(told));
    for fact in facts_of_connections(connected_ns, census, &recount.tally) {
        recount.tell(Event::Fact(fact));
    }
    ran.map_err(|error| match error {
        engine::CannotRun::Interrupted => Trouble::Interrupted(error.to_string()),
        error => could_not_run(error, &recount.tally),
    })
}

/// Data that are not consistent before a run are a reason not to begin it.
fn check_before(
    groups: &[Opened],
    stop: &Arc<Stop>,
    recount: &mut Recount<'_>,
) -> Result<(), Trouble> {
    let results = check_all(groups, stop, recount)?;
    let failed: Vec<String> = results.iter().filter(|r| r.n_failed > 0).map(say).collect();
    if !results.is_empty() {
        recount.tell(Event::Checked { after: false, results });
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(Trouble::Failed(format!(
        "the data are not consistent before the run, so it was not begun (--check off runs all \
         the same){}:\n{}",
        sizes_to_be_said(groups),
        failed.join("\n")
    )))
}

/// Tables that somebody else built may be of another size than we take them for.
fn sizes_to_be_said(groups: &[Opened]) -> String {
    let Some(opened) = groups.iter().find(|opened| opened.data == Data::Unmarked) else {
        return String::new();
    };
    let shaping = opened.workload.identity().scale;
    let flags: Vec<String> = shaping
        .iter()
        .map(|(name, value)| format!("--{} {value}", name.replace('_', "-")))
        .collect();
    format!(
        "; dbdyno did not build these tables and takes them for {} (say their true size)",
        flags.join(" ")
    )
}

/// Why there was no load, with what the server allows where that is the reason.
fn could_not_run(error: engine::CannotRun, tally: &Tally) -> Trouble {
    let is_full = matches!(&error, engine::CannotRun::Refused { refusal, .. } if is_full(refusal));
    match tally.fact("database", "max_connections").filter(|_| is_full) {
        Some(limit) => Trouble::Failed(format!("{error}; its max_connections is {limit}")),
        None => Trouble::failed(error),
    }
}

/// How many clients each of several hosts has at first: they are dealt out in turn.
fn spread(plan: &Plan, database: &dyn Database) -> Option<Fact> {
    let hosts = database.hosts()?.list();
    let clients: u32 = plan.groups.iter().map(|group| group.clients).sum();
    let (n, all) = (hosts.len() as u32, hosts.iter().zip(0..));
    let told = all.map(|(host, index): (_, u32)| {
        format!("{host} {}", clients / n + u32::from(index < clients % n))
    });
    let told: Vec<String> = told.collect();
    (n > 1).then(|| Fact::new("connection", "clients_per_host", told.join(", ")))
}

fn say(result: &CheckResult) -> String {
    let CheckResult { id, title, n_failed, examples } = result;
    let rows = if *n_failed == 1 { "row" } else { "rows" };
    format!("  check {id} ({title}) fails in {n_failed} {rows}: {}", examples.join("; "))
}

/// Each check once, however many groups ask for it.
fn check_all(
    groups: &[Opened],
    stop: &Arc<Stop>,
    recount: &mut Recount<'_>,
) -> Result<Vec<CheckResult>, Trouble> {
    let mut results = Vec::new();
    let mut seen: Vec<Vec<Check>> = Vec::new();
    for opened in groups {
        let checks = opened.workload.checks(opened.database.dialect());
        if seen.contains(&checks) {
            continue;
        }
        seen.push(checks);
        let (database, workload) = (&opened.database, &opened.workload);
        results.extend(check::check_heard(database, workload, stop, &mut |title| {
            recount.watcher.doing(&format!("checking {title}"));
        })?);
    }
    Ok(results)
}

/// The database's own counts: per group with a cross-check, its kind and the count.
type OwnCounts = Vec<Option<(u16, i64)>>;

fn counts_in(groups: &[Opened], stop: &Stop) -> Result<OwnCounts, Trouble> {
    let groups = groups.to_vec();
    quietly(stop, "interrupted while commits were counted", move || count_all(&groups))
}

fn count_all(groups: &[Opened]) -> Result<OwnCounts, Trouble> {
    let count = |opened: &Opened| -> Result<Option<(u16, i64)>, Trouble> {
        let Some((sql, kind)) = opened.workload.crosscheck(opened.database.dialect()) else {
            return Ok(None);
        };
        let number = Desk::at(opened.database.as_ref())?.number(&sql)?;
        Ok(number.map(|number| (kind, number)))
    };
    groups.iter().map(count).collect()
}

/// The server's own counter before the load; none where servers come and go, which count each for
/// itself.
fn commits_before(plan: &Plan, groups: &[Opened], stop: &Stop) -> Option<i64> {
    let moves = |one: &Disturbance| matches!(one.deed, Deed::Join | Deed::Hosts { .. });
    if plan.disturbances.iter().any(moves) { None } else { commits_counted(groups, stop, None) }
}

/// The server's own counter of commits; what cannot be read is left out. With `load` it is waited
/// for until it has grown by so much from so much.
fn commits_counted(groups: &[Opened], stop: &Stop, load: Option<(i64, u64)>) -> Option<i64> {
    let database = Arc::clone(&groups.first()?.database);
    let interrupted = "interrupted while commits were counted";
    let counted = quietly(stop, interrupted, move || match load {
        None => commits::read(database.as_ref()),
        Some((before, ours)) => commits::read_settled(database.as_ref(), Some(before), ours),
    });
    counted.ok().flatten()
}

fn compare_commits(groups: &[Opened], stop: &Stop, before: Option<i64>, recount: &mut Recount<'_>) {
    let counter = groups.first().and_then(|opened| opened.database.dialect().commit_counter);
    let (Some(counter), Some(before)) = (counter, before) else { return };
    let ours = commits::ours(&recount.tally);
    if let Some(after) = commits_counted(groups, stop, Some((before, ours.0))) {
        for fact in commits::facts(counter, after - before, ours) {
            recount.tell(Event::Fact(fact));
        }
    }
}

/// Whether the server was started anew since `began`, if it says so.
fn restarted(groups: &[Opened], stop: &Stop, began: Instant) -> Option<Fact> {
    let database = Arc::clone(&groups.first()?.database);
    let interrupted = "interrupted while the server was asked for its start";
    let told = quietly(stop, interrupted, move || commits::restarted(database.as_ref(), began));
    told.ok().flatten()
}

/// Groups with the same count share it, so the first of them stands for all.
fn crosscheck(before: &OwnCounts, after: &OwnCounts, recount: &mut Recount<'_>) {
    let first = before.iter().zip(after).position(|(b, a)| b.is_some() && a.is_some());
    let Some(first) = first else { return };
    let (Some((kind, was)), Some((_, is))) = (before[first], after[first]) else { return };
    let (mut committed, mut unknown) = (0, 0);
    for (group, _) in before.iter().enumerate().filter(|(_, count)| count.is_some()) {
        let tally = &recount.tally.groups[group];
        for part in [tally.kind(kind), tally.ramp_up_kind(kind)].into_iter().flatten() {
            committed += part.counts.committed;
            unknown += part.counts.unknown;
        }
    }
    let change = is - was;
    recount.tell(Event::Crosschecked { group: first as u16, kind, change, committed, unknown });
}

fn job_of(plan: &Plan, groups: &[Opened], placement: Placement, options: &RunOptions) -> Job {
    let mut first_client = 0;
    let mut jobs = Vec::new();
    for (group, opened) in plan.groups.iter().zip(groups) {
        let statements = opened.workload.statements(opened.database.dialect());
        jobs.push(GroupJob {
            workload: Arc::clone(&opened.workload),
            database: Arc::clone(&opened.database),
            statements: statements.into(),
            first_client,
            clients: group.clients,
            load: group.load.clone(),
            until: group.until,
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
        share: Share::WHOLE,
        pin: plan.pin,
        workers: std::thread::available_parallelism().map_or(1, |n| n.get()),
        threads: ClientThreads::default(),
        tap: options.tap.clone(),
    }
}

/// What became known of the generator while it ran.
fn facts_of(ran: &Ran, usage: &Usage, thread_use: &ThreadUse, tally: &Tally) -> Vec<Fact> {
    let mut list = Vec::new();
    let told = tally.description.as_ref();
    if told.is_some_and(|told| told.placement == Placement::Simulated) {
        // Nothing of this machine is in virtual time.
        return list;
    }
    if ran.pauses.count > 0 {
        let seconds = |ns: f64| format!("{:.3}", ns / NS_PER_S as f64);
        let longest_s = seconds(ran.pauses.longest_ns as f64);
        list.push(Fact::new("client", "pauses", ran.pauses.count));
        list.push(Fact::new("client", "longest_pause_s", longest_s));
        let at_s = seconds(ran.pauses.longest_at_ns as f64);
        list.push(Fact::new("client", "longest_pause_at_s", at_s));
    }
    if let Some(granted) = ran.granted {
        list.push(Fact::new("client", "timer_slack_1ns", granted.timer_slack));
        if let Some(is_granted) = granted.short_slice {
            list.push(Fact::new("client", "scheduling_slice_100us", is_granted));
        }
        list.push(Fact::new("client", "loops_pinned", granted.pinned));
    }
    if ran.n_left_behind > 0 {
        list.push(Fact::new("client", "left_behind", ran.n_left_behind));
    }
    list.extend(thread_use.facts());
    let share = run_delay_share_percent(thread_use, tally);
    let share = share.map(|share| format!("{share:.2}"));
    list.extend(share.map(|share| Fact::new("client", "run_delay_share_percent", share)));
    if let Some(why) = &ran.no_reply_lag {
        list.push(Fact::new("client", "no_reply_lag", why));
    }
    if let Some(percent) = tally.outside_percent() {
        list.push(Fact::new("client", "outside_percent", format!("{percent:.2}")));
    }
    if let Some(steal) = usage.steal_share {
        list.push(Fact::new("machine", "steal_percent", format!("{:.2}", steal * 100.0)));
    }
    if let Some(busy) = usage.system_busy_share {
        list.push(Fact::new("machine", "busy_percent", format!("{:.1}", busy * 100.0)));
    }
    list
}

/// For how much of the service time clients' own threads were ready and had no CPU, in percent.
/// Where they sleep until a transaction is due, being woken late is lag and no service: as much is
/// taken off, so that this is a lower bound. None where clients live on event loops.
fn run_delay_share_percent(thread_use: &ThreadUse, tally: &Tally) -> Option<f64> {
    let run_delay_ns = thread_use.run_delay_ns()? as f64;
    let groups: Vec<usize> = (0..tally.groups.len()).collect();
    let service_ns = results::Sum::of(tally, &groups).service.sum() as f64;
    let lags = tally.groups.iter().filter_map(|group| group.measured.lag.as_ref());
    let lag_ns: f64 = lags.map(|lag| lag.sum() as f64).sum();
    let share = (run_delay_ns - lag_ns).max(0.0) / service_ns;
    (service_ns > 0.0).then(|| share.min(1.0) * 100.0)
}

/// How long all clients took to connect, and how many connections there were then on either side.
fn facts_of_connections(connected_ns: u64, census: Option<Census>, tally: &Tally) -> Vec<Fact> {
    let counted = census.map(Census::end).unwrap_or_default();
    let mut facts = Vec::new();
    if connected_ns > 0 {
        let seconds = connected_ns as f64 / NS_PER_S as f64;
        facts.push(Fact::new("client", "connecting_s", format!("{seconds:.3}")));
    }
    if !counted.is_empty() {
        let ours: u32 = tally.groups.iter().map(|group| group.connected).sum();
        facts.push(Fact::new("connections", "ours", ours));
    }
    facts.extend(counted);
    facts
}

/// Judges, reports, and closes the store; a run that failed midway is kept as such.
fn conclude(outcome: Result<Ran, Trouble>, mut recount: Recount<'_>) -> Result<RunResult, Trouble> {
    let trouble = outcome.err();
    if let Some(trouble) = &trouble {
        recount.tell(Event::Output { text: trouble.to_string() });
        let reason = match trouble {
            Trouble::Interrupted(_) => StopReason::Interrupted,
            Trouble::Usage(why) | Trouble::Failed(why) => StopReason::Failed { why: why.clone() },
        };
        let (measured_ns, elapsed_ns, cpu_ns, max_rss_bytes) = (0, 0, 0, 0);
        recount.tell(Event::Ended { reason, measured_ns, elapsed_ns, cpu_ns, max_rss_bytes });
    }
    let mut found = results::findings::judge(&recount.tally);
    let trouble_of_store = recount.writer.as_ref().and_then(|writer| {
        let is_gone = !writer.path().exists();
        let gone = || format!("{} was removed meanwhile", writer.path().display());
        writer.trouble().or_else(|| is_gone.then(gone))
    });
    let is_told = trouble_of_store.is_some();
    found.extend(trouble_of_store.map(not_written));
    for finding in found {
        recount.tell(Event::Finding(finding));
    }
    let mut report = Report::of(&recount.tally);
    if let Some(writer) = recount.writer.take() {
        let (status, summary) = kept(&report);
        let json = serde_json::to_string(&report.clone().without_points()).ok();
        if let Err(error) = writer.finish(json, status, summary) {
            recount.watcher.note(&format!("the store could not be written: {error}"));
            // It came to light at the end, as the last of it was written.
            if !is_told {
                recount.tell(Event::Finding(not_written(error.to_string())));
                report = Report::of(&recount.tally);
            }
        }
    }
    if let Some(trouble) = trouble {
        return Err(trouble);
    }
    let reason = recount.tally.ended.as_ref().map(|ended| &ended.reason);
    let is_valid = report.findings.iter().all(|finding| finding.severity < Severity::Invalid);
    let is_done = matches!(reason, Some(StopReason::Completed | StopReason::QueueFull));
    Ok(RunResult {
        is_good: is_valid && is_done,
        is_interrupted: matches!(reason, Some(StopReason::Interrupted)),
        report,
        tally: recount.tally,
    })
}

/// What was asked for and could not be done makes the result invalid.
pub(crate) fn not_made(id: &str, text: String) -> Event {
    Event::Finding(Finding { id: id.to_owned(), severity: Severity::Invalid, text })
}

fn not_written(why: String) -> Finding {
    let text = format!("The store could not be written: {why}. This report is complete.");
    Finding { id: "store_not_written".to_owned(), severity: Severity::Warning, text }
}

/// How a run is kept: its status, and the figures by which it is listed.
fn kept(report: &Report) -> (store::Status, Summary) {
    let status = match report.status {
        Status::Completed | Status::QueueFull => store::Status::Completed,
        Status::Interrupted => store::Status::Interrupted,
        Status::Running | Status::Failed => store::Status::Failed,
    };
    let ns = |ms: f64| (ms * NS_PER_MS as f64) as u64;
    let block = &report.block;
    // The offered one: what was dropped or never ended must not make a run look good.
    let is_infinite = block.offered_ms.is_among_lost("p99");
    let p99_ns = block.offered_ms.p99.map(ns).or(is_infinite.then_some(store::INFINITE_NS));
    (status, Summary { tps: block.tps, nopm: block.nopm, p99_ns })
}

#[cfg(test)]
mod tests {
    use model::Settings;

    use super::*;

    #[test]
    fn what_is_rolled_back_by_design_is_in_no_rate_that_key_think_load_allows() {
        let entry = workloads::by_name("tpcc").expect("it is in the list");
        let check = |written: &[(&str, &str)], expect: &str| {
            let settings = Settings::decide("tpcc", entry.parameters, written.iter().copied());
            let settings = settings.expect("valid");
            let make = workloads::Make { settings: &settings, seed: 1, data: None };
            let workload = (entry.make)(&make).expect("valid");
            let told = closed_form(&Load::KeyThink { scale: 1.0 }, 10_000, workload.as_ref());
            let told = told.expect("there are pauses");
            assert!(told.contains(expect), "{told}");
        };
        check(&[], "12,479.0 for 10,000 clients");
        check(&[("rollback_percent", "0")], "12,605.0 for 10,000 clients");
    }
}
