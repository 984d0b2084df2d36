//! Tests of the store through its public interface. Here are synthetic runs, helpers and child
//! processes; the tests are in submodules. Not here: tests of single modules.
#![expect(
    clippy::disallowed_methods,
    reason = "child processes learn what to do by a variable, and waited for with a deadline"
)]

mod experiment_lock;
mod files;
mod forever;
mod import_export;
mod jobs;
mod names;
mod processes;
mod replay;
mod trouble;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use model::{
    CheckResult, ClientMoments, ComputedFigure, CpuProfile, CustomMetricDescription,
    CustomMetricKind, CustomMetricSecond, DataPolicy, DbErrorKind, Description, ErrorCount, Event,
    Experiment, Fact, Finding, Gauge, GroupDescription, KindDescription, Load, Order, Phase,
    Phases, Placement, Point, PrimaryMetricDescription, QueryPlan, Readings, Rng, RunId, Second,
    Severity, Status, StopCondition, StopReason, Stream,
};
use rusqlite::Connection;
use stats::{Histogram, Range};
use tempfile::TempDir;

use super::wall_clock::unix_ms;
use super::writer::Options;
use super::*;

// ---- Made-up runs. ----

fn group(workload: &str) -> GroupDescription {
    let kind = |name: &str| KindDescription { name: name.to_owned(), weight: 45 };
    GroupDescription {
        target: None,
        name: "users".to_owned(),
        workload: workload.to_owned(),
        clients: 8,
        processes: 0,
        load: Load::Open {
            arrivals: model::Arrivals::Poisson,
            rate: model::ArrivalRate::Constant(0.1 + 0.2),
            queue: 100,
            queue_full: model::QueueFull::Drop,
            queue_wait_ns: None,
            queue_at_end: model::QueueAtEnd::Serve,
        },
        stop_condition: StopCondition::Transactions(5),
        source: None,
        parameters: vec![("warehouses".to_owned(), "2".to_owned())],
        kinds: vec![kind("new_order"), kind("payment")],
        primary_metrics: vec![PrimaryMetricDescription {
            name: "nopm".to_owned(),
            title: "NOPM".to_owned(),
            kinds: vec![0],
            metric: None,
            per_ns: 60_000_000_000,
            is_computed: false,
            better: None,
        }],
        custom_metrics: vec![CustomMetricDescription {
            name: "lines".to_owned(),
            unit: "rows".to_owned(),
            kind: CustomMetricKind::Counter,
            better: None,
        }],
        notes: vec!["no think time".to_owned()],
        closed_form: None,
        standard: None,
        hot_rows: None,
        sequence: None,
    }
}

fn description(workloads: &[&str], started_unix_ms: i64) -> Description {
    Description {
        name: "a plan".to_owned(),
        seed: u64::MAX,
        target: "sqlite:/tmp/x.db".to_owned(),
        database: "SQLite 3.54.1".to_owned(),
        modes: vec!["journal=wal".to_owned()],
        placement: Placement::Thread,
        phases: Phases { ramp_up_ns: 1, measure_ns: 2, drain_ns: 3 },
        groups: workloads.iter().map(|workload| group(workload)).collect(),
        dbdyno: "0.1.0".to_owned(),
        started_unix_ms,
        trial: None,
        interval_seconds: model::INTERVAL_SECONDS,
        window_seconds: 10,
    }
}

fn begun_with(id: &str, started_unix_ms: i64, workloads: &[&str]) -> Event {
    Event::Begun {
        run: RunId(id.to_owned()),
        plan: "name = 'a plan'\n".to_owned(),
        description: Box::new(description(workloads, started_unix_ms)),
    }
}

pub(super) fn begun(id: &str, started_unix_ms: i64) -> Event {
    begun_with(id, started_unix_ms, &["tpcc"])
}

pub(crate) fn experiment() -> Experiment {
    Experiment {
        id: "0198-exp".to_owned(),
        name: "sweep".to_owned(),
        started_unix_ms: 1_700_000_000_000,
        axes: Vec::new(),
        points: vec![Point { values: Vec::new(), plan: "seed = 7".to_owned() }],
        repeats: 3,
        nesting: model::Nesting::default(),
        stop: None,
        order: Order::Interleaved,
        data: DataPolicy::Keep,
        pause_ns: 0,
        wait_until: None,
        seed: 7,
        walk: model::Walk::Grid,
        labels: Vec::new(),
        reference: None,
    }
}

fn histogram(n: u64, mean_ns: f64, number: u64) -> Option<Histogram> {
    let mut rng = Rng::new(7, Stream::Sim, number);
    let mut histogram = Histogram::new(Range::default());
    for _ in 0..n {
        histogram.record(stats::exponential_ns(rng.bits(), mean_ns));
    }
    Some(histogram)
}

/// Makes a second of a run with five transaction types in the shares of TPC-C, `per_s` transactions
/// in all.
fn second_of(second: i64, per_s: u64) -> Second {
    let mut made = Second::new(0, second);
    for (kind, share) in [45, 43, 4, 4, 4].into_iter().enumerate() {
        let n = per_s * share / 100;
        let part = made.kind(kind as u16);
        part.counts.committed = n;
        part.commits = n;
        part.traffic.round_trips = n * 30;
        part.response = histogram(n, 2e6 * (kind + 1) as f64, second.unsigned_abs() * 5 + share);
    }
    made.commits_tenths = [per_s as u32 / 10; 10];
    made
}

pub(super) fn closed_second(second: i64) -> Second {
    let mut made = second_of(second, 1000);
    if second == Second::window_of(second) {
        made.lag = histogram(10_000, 3e4, 1);
    }
    made
}

/// Makes a second of a run in open load, with custom metrics, and with service and wait times in
/// every tenth second.
pub(super) fn open_second(second: i64) -> Second {
    let mut made = second_of(second, 5000);
    if second == Second::window_of(second) {
        made.lag = histogram(50_000, 3e4, 1);
        for (kind, n) in [22_500, 21_500, 2_000, 2_000, 2_000].into_iter().enumerate() {
            made.kind(kind as u16).service = histogram(n, 1e6, n);
            made.kind(kind as u16).wait = histogram(n, 1e6, n + 1);
        }
    }
    made.custom_metrics.push(CustomMetricSecond {
        metric: 0,
        count: 5000,
        sum: 50_000,
        histogram: None,
    });
    made
}

/// Makes a second of a run in which every field has a value.
fn full_second(second: i64) -> Second {
    let mut made = Second::new(1, second);
    let kind = made.kind(3);
    kind.counts.committed = u64::from(u32::MAX) * 9;
    kind.counts.unknown = 1;
    kind.carried = 2;
    kind.traffic.bytes_in = 1 << 40;
    kind.response = histogram(30, 1e6, 1);
    kind.failures = histogram(3, 1e3, 2);
    kind.unfinished = histogram(2, 1e9, 3);
    kind.service = histogram(4, 1e6, 4);
    kind.wait = histogram(1, 1e6, 5);
    made.lag = histogram(5, 1e4, 6);
    made.commits_tenths = [0, 1, 2, 3, 4, 5, 6, 7, 8, u32::MAX];
    let histogram = histogram(3, 1e2, 7);
    made.custom_metrics.push(CustomMetricSecond { metric: 0, count: 3, sum: 9, histogram });
    made.errors.push(ErrorCount {
        ignored: 0,
        kind: DbErrorKind::Deadlock,
        code: -1213,
        sqlstate: String::new(),
        message: "Deadlock found; \u{201c}try\u{201d} again".to_owned(),
        count: 3,
    });
    made
}

fn finding(severity: Severity) -> Event {
    let text = "too few samples".to_owned();
    Event::Finding(Finding::new("few", severity, text))
}

fn output(text: &str) -> Event {
    Event::Output { text: text.to_owned() }
}

/// Makes one event of every kind that the first version of the store had, except for the first
/// event of a run.
fn first_events() -> Vec<Event> {
    let is_later = |event: &Event| {
        matches!(
            event,
            Event::CpuProfile(_)
                | Event::SummarySoFar(_)
                | Event::Computed { .. }
                | Event::QueryPlans { .. }
        )
    };
    every_event().into_iter().filter(|event| !is_later(event)).collect()
}

fn every_event() -> Vec<Event> {
    let moments = ClientMoments {
        client: 3,
        kind: 1,
        count: 4,
        failed: 1,
        min_ns: 5,
        max_ns: 6,
        sum_ns: 7,
        sum_sq_ns2: 0.1 + 0.2,
        times: vec![(7, 3), (511, 1)],
    };
    let check = CheckResult {
        id: "3.3.2.1".to_owned(),
        title: "sums agree".to_owned(),
        n_failed: 1,
        examples: vec!["w_id 1".to_owned()],
    };
    vec![
        Event::Fact(Fact::new("cpu", "model", "a'b\"c")),
        Event::Fact(Fact::new("memory", "bytes", 1_u64 << 40)),
        Event::Checked { after: false, results: vec![check] },
        Event::Phase { phase: Phase::Connect, at_ns: -7_000_000_000 },
        Event::Connected { group: 0, connected: 8, failed: 0, times: histogram(8, 1e6, 9) },
        Event::Connected { group: 1, connected: 0, failed: 1, times: None },
        Event::Phase { phase: Phase::RampUp, at_ns: -5_000_000_000 },
        Event::Second(full_second(-5)),
        Event::Phase { phase: Phase::Measure, at_ns: 0 },
        Event::Second(full_second(0)),
        Event::Second(Second::new(0, 0)),
        output("half time"),
        Event::SummarySoFar(model::ServerSummary {
            of: model::SummaryOf::Waits,
            source: "waits".to_owned(),
            from_ns: 5_000_000_001,
            to_ns: 10_000_000_002,
            columns: vec![model::SummaryColumnKept {
                name: "time".to_owned(),
                unit: "s".to_owned(),
            }],
            rows: vec![model::SummaryRow {
                state: None,
                what: "io".to_owned(),
                values: vec![0.25],
            }],
            others: None,
        }),
        Event::Second(full_second(0)),
        Event::Second(full_second(1)),
        Event::Phase { phase: Phase::Drain, at_ns: 60_000_000_000 },
        Event::Clients { group: 0, moments: vec![moments] },
        Event::Clients { group: 1, moments: Vec::new() },
        Event::Ended {
            reason: StopReason::failed("no client was left"),
            measured_ns: 60_000_000_000,
            elapsed_ns: 66_000_000_001,
            cpu_ns: 5,
            max_rss_bytes: 6,
        },
        Event::Checked { after: true, results: Vec::new() },
        Event::CpuProfile(CpuProfile {
            side: model::ProfileSide::Server,
            is_system_wide: true,
            event: "cpu-clock".to_owned(),
            frequency_hz: 99,
            samples: 12,
            stacks: vec![("server;main;read_[k]".to_owned(), 9), ("server;main".to_owned(), 2)],
            stacks_cut: 1,
            samples_cut: 1,
            recording_cpu_ns: 5,
            naming_cpu_ns: 6,
        }),
        Event::Crosschecked { group: 0, kind: 1, change: -3, committed: 4, unknown: 5 },
        Event::QueryPlans {
            group: 0,
            plans: vec![QueryPlan {
                kind: 1,
                plan: "Seq Scan on lineitem".to_owned(),
                executed: "Seq Scan on lineitem (actual rows=7)".to_owned(),
            }],
        },
        Event::Computed {
            group: 0,
            figures: vec![
                ComputedFigure::new("power", Ok(1.5)),
                ComputedFigure::new("throughput", Err("a stream has failed".to_owned())),
            ],
        },
        finding(Severity::Note),
        finding(Severity::Invalid),
    ]
}

// ---- Helpers. ----

/// Prints measured figures, which `cargo test -- --nocapture` shows.
pub(super) fn figures(text: &str) {
    println!("{text}");
}

/// Makes options by which a writer commits often, so that tests need not wait for a second.
fn quick() -> Options {
    Options {
        commit_every: Duration::from_millis(5),
        busy_timeout: Duration::from_millis(1),
        ..Options::default()
    }
}

/// Makes options by which a writer commits only on request.
fn at_the_end() -> Options {
    Options { commit_every: Duration::from_secs(3600), ..quick() }
}

fn new_store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(&folder.path().join("down/runs.sqlite")).expect("a store");
    (folder, store)
}

fn run_of(begun: &Event) -> RunId {
    let Event::Begun { run, .. } = begun else { panic!("not a beginning") };
    run.clone()
}

fn replay(store: &Store, run: &RunId) -> Vec<Event> {
    let mut events = Vec::new();
    store.events(run, &mut |event| events.push(event)).expect("a replay");
    events
}

fn seconds(events: &[Event]) -> Vec<&Second> {
    let mut seconds = Vec::new();
    for event in events {
        if let Event::Second(second) = event {
            seconds.push(second);
        }
    }
    seconds
}

fn write(store: &Store, begun: &Event, events: Vec<Event>) -> Result<(), StoreError> {
    let writer = store.writer_with(begun, at_the_end())?;
    events.into_iter().for_each(|event| writer.send(event));
    let (name, title) = ("nopm".to_owned(), "NOPM".to_owned());
    let primary = Some(PrimaryFigure { name, title, value: f64::NAN });
    let summary = Summary { tps: Some(17.5), primary, p99_ns: Some(1_234_567) };
    writer.finish(Some("{\"report\": 1}".to_owned()), Status::Completed, summary)
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(900);
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::yield_now();
    }
}

fn only(store: &Store) -> RunRow {
    let mut rows = store.list(&Filter::default()).expect("a list");
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0)
}

fn raw(store: &Store) -> Connection {
    Connection::open(store.path()).expect("a connection")
}

// ---- Child processes: this test binary, told what to do by a variable. ----

const CHILD: &str = "DBDYNO_TEST_STORE_CHILD";

fn child_command(task: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command
        .args(["--exact", "tests::the_child_of_other_tests", "--nocapture"])
        .env(CHILD, format!("{task} {}", path.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

/// Reads the output of a child process until it contains `word`.
fn hear(child: &mut Child, word: &str) -> String {
    let mut heard = String::new();
    let mut lines = BufReader::new(child.stdout.as_mut().expect("a pipe"));
    while !heard.contains(word) {
        let n = lines.read_line(&mut heard).expect("text");
        assert!(n > 0, "the child ended before it said '{word}': {heard}");
    }
    heard
}

fn say(word: &str) {
    println!("\n{word}");
    std::io::stdout().flush().expect("a pipe");
}

#[test]
fn the_child_of_other_tests() {
    let Ok(shown) = std::env::var(CHILD) else { return };
    let (task, path) = shown.split_once(' ').expect("a task and a path");
    let path = Path::new(path);
    match task {
        "hang" => child_that_hangs(path),
        "walk" => child_that_walks(path),
        "export" => {
            let store = Store::open_existing(path).expect("a store");
            let run = only(&store).run;
            store.export_to(&exported_beside(path), &[run]).expect("it is not killed");
        }
        "open" => match Store::open(path) {
            Ok(_) => say("opened: well"),
            Err(error) => say(&format!("opened: {:?}, {error}", error.kind)),
        },
        "read" => match Store::open_existing(path) {
            Ok(store) => {
                let runs = store.list(&Filter::default()).expect("a list");
                let n_events = replay(&store, &runs[0].run).len();
                let labelled = store.label(&runs[0].run, "build", "1").map_err(|bad| bad.kind);
                let to = std::env::temp_dir().join(format!("dbdyno-{}.dbdyno", std::process::id()));
                let exported = store.export_to(&to, &[]).map_err(|bad| bad.to_string());
                fs::remove_file(to).expect("it was exported");
                let n_runs = runs.len();
                say(&format!(
                    "opened: {n_runs} runs, {n_events} events, {labelled:?} {exported:?}"
                ));
            }
            Err(error) => say(&format!("opened: {:?}, {error}", error.kind)),
        },
        id => {
            let store = Store::open(path).expect("a store");
            let options = Options { commit_every: Duration::from_millis(1), ..Options::default() };
            let writer = store.writer_with(&begun(id, 1), options).expect("a writer");
            say("begun");
            std::io::stdin().read_exact(&mut [0]).expect("a word");
            (0..200).for_each(|n| writer.send(Event::Second(second_of(n, 100))));
            writer.finish(None, Status::Completed, Summary::default()).expect("all is written");
            say("finished");
        }
    }
}

/// Returns the path to which the child process exports the run of the store at `path`.
fn exported_beside(path: &Path) -> PathBuf {
    path.with_file_name("sent.dbdyno")
}

fn child_that_hangs(path: &Path) {
    let store = Store::open(path).expect("a store");
    let begun = begun("0197-killed", 1);
    let writer = store.writer_with(&begun, quick()).expect("a writer");
    (0..100).for_each(|n| writer.send(Event::Second(full_second(n))));
    until("100 seconds are committed", || replay(&store, writer.run()).len() == 101);
    (100..102).for_each(|n| writer.send(Event::Second(full_second(n))));
    say("written");
    let _ = std::io::stdin().read(&mut [0]);
}

fn child_that_walks(path: &Path) {
    let store = Store::open(path).expect("a store");
    say("ready");
    std::io::stdin().read_exact(&mut [0]).expect("a word");
    match store.lock_experiment(&experiment()) {
        Ok(walk) => {
            say("walk: taken");
            let _ = std::io::stdin().read(&mut [0]);
            walk.end(Status::Completed).expect("there is room");
        }
        Err(error) => say(&format!("walk: {:?}, {error}", error.kind)),
    }
}
