//! Records a build of data (creating and loading tables) as a run, so that it can be stored,
//! listed, shown, compared and removed like other runs. Its transactions are chunks of rows; each
//! table is a transaction type.
//!
//! Not here: the build itself (build), and its page (render).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use analysis::Tally;
use engine::Stop;
use model::{
    Choice, Description, ErrorCount, Event, Fact, FactValue, GroupDescription, KindDescription,
    KindIndex, Load, MonitorScope, NS_PER_S, Phase, Phases, Placement, Population, RunId, Second,
    StopCondition, StopReason, Target,
};
use monitor::{Collector, Make, Monitor, Readings, Scope, What, facts};
use stats::{Histogram, Range};
use store::Writer;

use super::description::version_of_ours;
use super::sink::RunSink;
use super::{conclude, facts_of_data, facts_of_database, open_store, with_risks};
use crate::admin_session;
use crate::build::{BuildOptions, BuildPart, Built, Progress, build_logged};
use crate::build_log::{BuildEvent, BuildLog, ChunkDone};
use crate::error::Error;
use crate::managed::Managed;
use crate::open::{Data, OpenTarget, Opened};
use crate::settings_snapshot;
use crate::settle::{Settled, ToSettle, interrupted, settle, settling_at};
use crate::table_list::MANY;
use crate::watcher::Watcher;

/// Subject (`about`) of the facts about a build of data.
const ABOUT: &str = "data_build";

/// A build of data to be done and recorded as a run, with its options.
pub struct DataBuild<'b> {
    pub opened: &'b Opened,
    /// Name of the workload as written on the command line.
    pub workload: &'b str,
    /// Target as written by the user.
    pub target: &'b Target,
    pub options: BuildOptions,
    /// Path of the store. Settling a server needs the restore journal in it, even if no run is
    /// stored.
    pub store: PathBuf,
    /// True if the build is stored as a run.
    pub is_kept: bool,
    /// Labels of the run that records the build: keys and values.
    pub labels: Vec<(String, String)>,
    /// Time limit for settling the database after the build; `None` if it is not settled.
    pub settle: Option<Duration>,
    /// Command line that repeats the build, to be stored with it.
    pub command: String,
}

/// Result of a build, and the run that recorded it.
pub struct DataBuilt {
    pub built: Built,
    /// Result of settling; `None` if it was not requested.
    pub settled: Option<Settled>,
    /// Id of the stored run; `None` if nothing was built or stored.
    pub run: Option<RunId>,
}

impl DataBuild<'_> {
    /// Builds the data, settles the database if that is requested, and stores both as a run.
    pub fn make(
        &self,
        open_target: &mut OpenTarget,
        stop: &Arc<Stop>,
        watcher: &mut dyn Watcher,
    ) -> Result<DataBuilt, Error> {
        let log = Arc::new(BuildLog::begin());
        let is_to_build = match (self.opened.data, self.options.part) {
            // Without rows there is nothing to measure.
            (_, BuildPart::Tables) => false,
            (Data::Unmarked, BuildPart::Rows) => true,
            (data, _) => matches!(data, Data::Absent | Data::Unfinished),
        };
        if !self.is_kept || !is_to_build {
            let show = &mut |far: &Progress| watcher.building(far);
            let built = build_logged(self.opened, self.options, &log, stop, show);
            let built = built.map_err(|error| open_target.with_end_of_server(error))?;
            let settled = self.settled(open_target, stop, watcher)?;
            return Ok(DataBuilt { built, settled, run: None });
        }
        let run = RunId(uuid::Uuid::now_v7().to_string());
        let (begun, facts) = self.begun(&run, open_target, stop)?;
        let (settings, shown) = settings_snapshot::before(open_target, stop);
        let writer: Writer = open_store(&self.store, &begun, &run, &self.labels)?;
        let mut hidden = OnlyWords(watcher);
        let mut sink = RunSink::new(Some(writer), &mut hidden);
        sink.tell(begun);
        facts.into_iter().for_each(|fact| sink.tell(Event::Fact(fact)));
        shown.into_iter().for_each(|event| sink.tell(event));
        let built = self.measure(open_target, stop, &mut sink);
        let database = Some(&self.opened.database);
        let changed = settings_snapshot::changed(database, settings.as_ref(), stop, &sink.tally);
        changed.into_iter().for_each(|fact| sink.tell(Event::Fact(fact)));
        let settled = built.as_ref().ok().map(|_| self.settled(open_target, stop, sink.watcher));
        if let Some(Ok(Some(settled))) = &settled {
            settled
                .events("settle_after", "after the build")
                .into_iter()
                .for_each(|event| sink.tell(event));
        }
        if let Ok(built) = &built {
            sink.tell(Event::Output { text: built.sentence() });
        }
        let (built, failure) = match built {
            Ok(built) => (Some(built), None),
            Err(error) => (None, Some(error)),
        };
        conclude(failure, sink)?;
        let built = built.expect("a build without a failure is there");
        let settled = settled.transpose()?.flatten();
        if settled.as_ref().is_some_and(|settled| settled.is_interrupted) {
            return Err(interrupted());
        }
        Ok(DataBuilt { built, settled, run: Some(run) })
    }

    fn settled(
        &self,
        open_target: &OpenTarget,
        stop: &Stop,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<Settled>, Error> {
        let Some(limit) = self.settle else { return Ok(None) };
        let to_settle = ToSettle::new(open_target, self.target, self.opened, &self.store, limit);
        settle(&to_settle, &settling_at(&to_settle)?, stop, watcher).map(Some)
    }

    /// Returns the first event of the run, and the facts that are known before the build.
    fn begun(
        &self,
        run: &RunId,
        open_target: &OpenTarget,
        stop: &Stop,
    ) -> Result<(Event, Vec<Fact>), Error> {
        let database = facts_of_database(open_target, stop)?;
        let description = self.describe(&database);
        let begun = Event::Begun {
            run: run.clone(),
            plan: self.plan(),
            description: Box::new(description),
        };
        let file = drivers::file_of(self.target);
        let folder = open_target.server.as_ref().map(Managed::folder);
        let file = file.as_deref().filter(|file| file.exists());
        let paths: Vec<_> = folder.into_iter().chain(file).chain([self.store.as_path()]).collect();
        let mut all = facts::machine(&paths);
        all.extend(with_risks(database, std::slice::from_ref(self.opened)));
        all.extend(facts_of_data(std::slice::from_ref(self.opened)));
        let fact = |name: &str, value: FactValue| Fact::new(ABOUT, name, value);
        all.extend([
            fact("method", self.options.method_name().into()),
            fact("loaders", self.n_loaders().into()),
            fact("command", self.command.as_str().into()),
        ]);
        Ok((begun, all))
    }

    fn n_loaders(&self) -> u64 {
        crate::build::n_loaders(self.opened, self.options) as u64
    }

    /// Returns the parameters of the workload that decide what the data look like, with their
    /// values.
    fn scale(&self) -> Vec<(&'static str, &str)> {
        let parameters =
            workloads::by_name(self.workload).map_or(&[][..], |entry| entry.parameters);
        let shapes = |name: &str| parameters.iter().any(|row| row.name == name && row.shapes_data);
        self.opened.settings.written().filter(|(name, _)| shapes(name)).collect()
    }

    /// Returns the options of the build as TOML, which are stored in place of a plan.
    fn plan(&self) -> String {
        // A JSON string is also a TOML string.
        let text = |text: &str| serde_json::Value::from(text).to_string();
        let mut plan = format!(
            "# A build of data: {}\n\ntarget = {}\nseed = {}\n\n[build]\nworkload = {}\n\
             load_method = {}\nloaders = {}\n",
            self.command,
            text(&self.target.to_string()),
            self.opened.workload.identity().seed,
            text(self.workload),
            text(self.options.method_name()),
            self.n_loaders(),
        );
        plan += "\n[build.parameters]\n";
        for (name, value) in self.scale() {
            plan += &format!("{name} = {}\n", text(value));
        }
        plan
    }

    fn describe(&self, database: &[Fact]) -> Description {
        let value = |name: &str| {
            let found = database.iter().find(|fact| fact.name == name);
            found.map(|fact| fact.value.to_string())
        };
        let product = value("product").unwrap_or_else(|| self.target.scheme.clone());
        let version = value("version").map(|version| format!(" {version}")).unwrap_or_default();
        let modes = database.iter().filter(|fact| fact.about == "mode");
        let population = self.opened.workload.population().expect("it has data to build");
        let n_chunks = (0..population.tables().len()).map(|table| population.n_chunks(table)).sum();
        let parameters = self.scale().into_iter().map(|(k, v)| (k.to_owned(), v.to_owned()));
        let group = GroupDescription {
            target: None,
            name: "build".to_owned(),
            workload: self.workload.to_owned(),
            clients: u32::try_from(self.n_loaders()).unwrap_or(u32::MAX),
            processes: 0,
            load: Load::Closed,
            stop_condition: StopCondition::Transactions(n_chunks),
            source: None,
            parameters: parameters.collect(),
            kinds: kinds(population),
            primary_metrics: Vec::new(),
            custom_metrics: Vec::new(),
            notes: Vec::new(),
            closed_form: None,
            standard: None,
            hot_rows: None,
            sequence: None,
        };
        Description {
            name: format!("build {} by {}", self.workload, self.options.method_name()),
            seed: self.opened.workload.identity().seed,
            target: self.target.to_string(),
            database: format!("{product}{version}"),
            modes: modes.map(|fact| format!("{}={}", fact.name, fact.value)).collect(),
            placement: Placement::Thread,
            phases: Phases { ramp_up_ns: 0, measure_ns: 0, drain_ns: 0 },
            groups: vec![group],
            dbdyno: version_of_ours(),
            started_unix_ms: monitor::wall_clock::unix_ms(),
            trial: None,
            interval_seconds: model::INTERVAL_SECONDS,
            window_seconds: model::window_seconds(model::INTERVAL_SECONDS),
        }
    }

    /// Builds the data while the monitor reads metrics every second, and reports both to `sink`.
    fn measure(
        &self,
        open_target: &mut OpenTarget,
        stop: &Arc<Stop>,
        sink: &mut RunSink<'_>,
    ) -> Result<Built, Error> {
        let log = Arc::new(BuildLog::begin());
        let n_tables =
            self.opened.workload.population().map_or(0, |population| population.tables().len());
        let (mut monitor, told) = self.monitor(&log, open_target, sink);
        told.into_iter().for_each(|fact| sink.tell(Event::Fact(fact)));
        sink.tell(Event::Phase { phase: Phase::Measure, at_ns: 0 });
        monitor.begin()(Duration::ZERO);
        let built = build_logged(self.opened, self.options, &log, stop, &mut |far| {
            monitor.follow(&mut |event| sink.tell(event));
            seconds(&log, n_tables).into_iter().for_each(|second| sink.tell(Event::Second(second)));
            sink.watcher.building(far);
        });
        let elapsed_ns = log.now_ns();
        sink.take_usage();
        let told = monitor.end(&mut |event| sink.tell(event));
        told.into_iter().for_each(|fact| sink.tell(Event::Fact(fact)));
        seconds(&log, n_tables).into_iter().for_each(|second| sink.tell(Event::Second(second)));
        let built = built.map_err(|error| open_target.with_end_of_server(error))?;
        let usage = sink.measured.unwrap_or_default();
        sink.tell(Event::Ended {
            reason: StopReason::Completed,
            measured_ns: elapsed_ns,
            elapsed_ns,
            cpu_ns: usage.cpu_ns,
            max_rss_bytes: usage.max_rss_bytes.unwrap_or(0),
        });
        facts_of(&built, &log).into_iter().for_each(|fact| sink.tell(Event::Fact(fact)));
        Ok(built)
    }

    fn monitor(
        &self,
        log: &Arc<BuildLog>,
        open_target: &OpenTarget,
        sink: &mut RunSink<'_>,
    ) -> (Monitor, Vec<Fact>) {
        let counters = BuildCounters(Arc::clone(log));
        let own: Make = Box::new(move || Some(Box::new(counters)));
        let (monitor, facts) = monitor::start(Scope {
            replicas: Vec::new(),
            monitor: MonitorScope::Default,
            threads: sink.threads.clone(),
            database: Some(Arc::clone(&self.opened.database)),
            connect: admin_session::for_counters,
            connect_as_client: admin_session::for_round_trips,
            programs: drivers::programs_of(self.target),
            servers: open_target.server.as_ref().map(Managed::locate),
            helpers: Vec::new(),
            own: vec![own],
        });
        sink.are_read = monitor.has_collectors();
        (monitor, facts)
    }
}

/// Returns facts about a finished build of data: rows, bytes, durations, method.
fn facts_of(built: &Built, log: &BuildLog) -> Vec<Fact> {
    let seconds = |seconds: f64| FactValue::seconds(seconds, 3);
    let index_seconds = built.index_seconds - built.analyse_seconds;
    let mut all: Vec<(&str, FactValue)> = vec![
        ("rows", built.n_rows.into()),
        ("value_bytes", FactValue::Bytes(log.bytes())),
        ("elapsed_s", seconds(built.seconds)),
        ("load_s", seconds(built.seconds - built.index_seconds)),
        ("index_s", seconds(index_seconds)),
        ("analyse_s", seconds(built.analyse_seconds)),
        ("method_used", built.method.name().into()),
        ("reconnects", built.reconnects.into()),
    ];
    if built.n_rows_before > 0 {
        all.push(("rows_before", built.n_rows_before.into()));
    }
    all.extend(built.bulk_refused.as_deref().map(|why| ("bulk_refused", why.into())));
    all.into_iter().map(|(name, value)| Fact::new(ABOUT, name, value)).collect()
}

/// Converts what loaders have logged since the last call into one `Second` for each second
/// concerned.
fn seconds(log: &BuildLog, n_tables: usize) -> Vec<Second> {
    let mut all: BTreeMap<u64, Second> = BTreeMap::new();
    for event in log.take() {
        match event {
            BuildEvent::Chunk(chunk) => add_chunk(&mut all, &chunk, kind_of(chunk.table, n_tables)),
            BuildEvent::Refused(at_ns, db_error) => {
                let error = ErrorCount::one(&db_error);
                ErrorCount::add_to(&mut second_of(&mut all, at_ns).errors, &error);
            }
        }
    }
    all.into_values().collect()
}

/// Returns the transaction types of a build: one for each table, or one for all tables if there are
/// many, since the recorder keeps a histogram of each.
fn kinds(population: &dyn Population) -> Vec<KindDescription> {
    let tables = population.tables();
    let mut kinds: Vec<KindDescription> = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        let weight = population.n_chunks(index);
        match kinds.get_mut(usize::from(kind_of(index, tables.len()))) {
            Some(all) => {
                all.name = format!("{} to {}", tables[0].name, table.name);
                all.weight += weight;
            }
            None => kinds.push(KindDescription { name: table.name.to_string(), weight }),
        }
    }
    kinds
}

/// Returns the transaction type of the chunks of a table, which is one of `n_tables`.
fn kind_of(table: usize, n_tables: usize) -> KindIndex {
    if n_tables >= MANY { 0 } else { table as KindIndex }
}

fn second_of(all: &mut BTreeMap<u64, Second>, at_ns: u64) -> &mut Second {
    let second = at_ns / NS_PER_S;
    all.entry(second).or_insert_with(|| Second::new(0, second as i64))
}

/// Adds a chunk to the seconds of the build's run: its response time to the second in which it
/// started, its commit to the second in which it ended.
fn add_chunk(all: &mut BTreeMap<u64, Second>, chunk: &ChunkDone, kind: KindIndex) {
    let begun = second_of(all, chunk.started_ns).kind(kind);
    begun.counts.committed += 1;
    begun.counts.retried += u64::from(chunk.retries);
    let response = begun.response.get_or_insert_with(|| Histogram::new(Range::default()));
    response.record(chunk.finished_ns - chunk.started_ns);
    let ended = second_of(all, chunk.finished_ns);
    ended.commits_tenths[(chunk.finished_ns % NS_PER_S / (NS_PER_S / 10)) as usize] += 1;
    let ended = ended.kind(kind);
    ended.commits += 1;
    ended.ended += 1;
    ended.traffic += chunk.traffic;
}

/// Collector that reports rows and bytes per second of a build.
struct BuildCounters(Arc<BuildLog>);

impl Collector for BuildCounters {
    fn about(&self) -> String {
        "build".to_owned()
    }

    fn read(&mut self, readings: &mut Readings) {
        const ROWS: What<'_> = What::new("rows_loaded", "1/s", "Rows sent to the database.");
        const BYTES: What<'_> = What::new("bytes_loaded", "B/s", "Bytes of their values.");
        readings.total(ROWS, self.0.rows() as f64);
        readings.total(BYTES, self.0.bytes() as f64);
    }

    fn facts(&self) -> Vec<Fact> {
        Vec::new()
    }
}

/// A watcher that forwards messages and build progress, but not the events of the run, so that no
/// load is drawn.
struct OnlyWords<'w>(&'w mut dyn Watcher);

impl Watcher for OnlyWords<'_> {
    fn event(&mut self, _event: &Event, _tally: &Tally) {}

    fn building(&mut self, progress: &Progress) {
        self.0.building(progress);
    }

    fn note(&mut self, text: &str) {
        self.0.note(text);
    }

    fn doing(&mut self, text: &str) {
        self.0.doing(text);
    }
}
