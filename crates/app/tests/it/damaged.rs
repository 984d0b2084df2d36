//! Tests of foreign runs: with any number changed, they are rejected or shown, and never use more
//! resources than a run of dbdyno.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use analysis::Report;
use analysis::fixtures::Made;
use app::stored_report::{check_run, stored_report};
use ciborium::value::Value as Cbor;
use model::{
    CpuProfile, DataPolicy, Event, Experiment, Nesting, Order, Point, ProfileSide, RunId, Status,
    Trial,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, params};
use serde_json::Value as Json;
use store::{ExperimentFilter, Filter, Store, Summary};
use tempfile::TempDir;

/// Replacements for a number in a store: limits of types, and values just outside of those that
/// dbdyno accepts.
const NUMBERS: [i128; 16] = [
    i64::MIN as i128,
    -(1 << 53),
    i32::MIN as i128,
    -100_000,
    -1,
    0,
    1,
    1_000,
    100_000,
    i32::MAX as i128,
    u32::MAX as i128,
    1 << 53,
    1 << 62,
    i64::MAX as i128,
    u64::MAX as i128,
    u16::MAX as i128,
];
const FLOATS: [f64; 6] = [-1e300, -1e18, -1.0, 1e9, 1e18, 1e300];

/// A number to change in a store, to damage it: its position among all numbers, and its new value.
#[derive(Clone, Debug)]
struct Damage {
    table: usize,
    row: usize,
    column: usize,
    leaf: usize,
    number: usize,
    is_float: bool,
}

fn damage() -> impl Strategy<Value = Damage> {
    let places = (any::<usize>(), any::<usize>(), any::<usize>(), any::<usize>());
    (places, 0..NUMBERS.len(), any::<bool>()).prop_map(
        |((table, row, column, leaf), number, is_float)| Damage {
            table,
            row,
            column,
            leaf,
            number,
            is_float,
        },
    )
}

/// A store with three runs: a trial with its report, an interrupted run, and one with open load.
static BASE: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("base.sqlite");
    let store = Store::open(&path).expect("room");
    store.add_experiment(&experiment()).expect("room");
    let write = |mut made: Made, id: &str, has_report: bool, is_trial: bool| {
        made.gauges(&[("database", "rows"), ("machine", "cpu_user")], &|second, _| second as f64);
        made.disturbance(20_000, Some(22_000), model::Disturbed::Done);
        made.fact("client", "measured_from_unix_ms", "1700000000000");
        made.more.push(Event::CpuProfile(profile()));
        if is_trial {
            let (point, repeat, values) = (0, 1, Vec::new());
            let experiment = "0198-exp".to_owned();
            made.description.trial = Some(Trial { experiment, point, repeat, values });
        }
        let mut events = made.events();
        let Event::Begun { run, .. } = &mut events[0] else { panic!("a beginning") };
        *run = RunId(id.to_owned());
        let writer = store.writer(&events[0]).expect("room");
        events.drain(..).skip(1).for_each(|event| writer.send(event));
        let json =
            serde_json::to_string(&Report::from_tally(&made.tally())).expect("numbers and words");
        let (status, json) = match has_report {
            true => (Status::Completed, Some(json)),
            false => (Status::Interrupted, None),
        };
        writer.finish(json, status, Summary::default()).expect("room");
    };
    write(Made::closed(), "0197-aaaa", true, true);
    write(Made::interrupted(), "0197-bbbb", false, false);
    write(Made::open_overloaded(), "0197-cccc", true, false);
    drop(store);
    // Close the WAL, since one file is copied.
    let whole = Connection::open(&path).expect("a store");
    whole.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(())).expect("a pragma");
    (folder, path)
});

fn experiment() -> Experiment {
    Experiment {
        id: "0198-exp".to_owned(),
        name: "sweep".to_owned(),
        started_unix_ms: 1_700_000_000_000,
        axes: Vec::new(),
        points: vec![Point { values: Vec::new(), plan: "seed = 7".to_owned() }],
        repeats: 3,
        nesting: Nesting { restarts: Some(3), rebuilds: None },
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

fn profile() -> CpuProfile {
    CpuProfile {
        side: ProfileSide::Server,
        is_system_wide: false,
        event: "cycles".to_owned(),
        frequency_hz: 99,
        samples: 10,
        stacks: vec![("a;b".to_owned(), 7), ("a;c".to_owned(), 3)],
        stacks_cut: 0,
        samples_cut: 0,
        recording_cpu_ns: 1,
        naming_cpu_ns: 2,
    }
}

impl Damage {
    /// Changes the number in the store at `path`, and describes the change; `None` if there is no
    /// such number, or the schema does not allow it.
    fn done_to(&self, path: &Path) -> Option<String> {
        const TABLES: [&str; 9] =
            ["run", "second", "event", "client", "around", "trial", "experiment", "fact", "walk"];
        let table = TABLES[self.table % TABLES.len()];
        let store = Connection::open(path).expect("a store");
        store.pragma_update(None, "foreign_keys", false).expect("a pragma");
        let all = format!("SELECT * FROM {table}");
        let mut select = store.prepare(&all).expect("a table");
        let names: Vec<String> = select.column_names().map(str::to_owned).collect();
        let column = self.column % names.len();
        let read = |row: &rusqlite::Row<'_>| -> rusqlite::Result<(Sql, Vec<Sql>)> {
            let keys = (0..names.len()).map(|at| row.get(at)).collect::<Result<_, _>>()?;
            Ok((row.get(column)?, keys))
        };
        let rows = select.query_map((), read).expect("rows");
        let rows: Vec<(Sql, Vec<Sql>)> = rows.collect::<Result<_, _>>().expect("rows");
        let row = rows.get(self.row % rows.len().max(1))?;
        let (old, keys) = row;
        let new = self.changed(old)?;
        // The key of a table is its first column, or its first two.
        let key = if matches!(table, "run" | "trial" | "experiment" | "walk") { 1 } else { 2 };
        let same: Vec<String> =
            (0..key).map(|at| format!("\"{}\" = ?{}", names[at], at + 2)).collect();
        let sql =
            format!("UPDATE {table} SET \"{}\" = ?1 WHERE {}", names[column], same.join(" AND "));
        let done = match key {
            1 => store.execute(&sql, params![new, keys[0]]),
            _ => store.execute(&sql, params![new, keys[0], keys[1]]),
        };
        // The schema does not allow the change.
        done.ok()?;
        Some(format!("{table}.{}: {self:?}", names[column]))
    }

    fn number(&self) -> i128 {
        NUMBERS[self.number]
    }

    fn float(&self) -> f64 {
        FLOATS[self.number % FLOATS.len()]
    }

    fn changed(&self, old: &Sql) -> Option<Sql> {
        match old {
            Sql::Integer(_) => Some(Sql::Integer(i64::try_from(self.number()).unwrap_or(-1))),
            Sql::Real(_) => Some(Sql::Real(self.float())),
            Sql::Null => None,
            Sql::Text(text) => {
                let mut json: Json = serde_json::from_str(text).ok()?;
                self.in_json(&mut json)?;
                Some(Sql::Text(json.to_string()))
            }
            Sql::Blob(blob) => {
                let mut plain = Vec::new();
                let mut inflated = flate2::read::DeflateDecoder::new(blob.as_slice());
                std::io::Read::read_to_end(&mut inflated, &mut plain).ok()?;
                let mut cbor: Cbor = ciborium::from_reader(plain.as_slice()).ok()?;
                self.in_cbor(&mut cbor)?;
                let mut plain = Vec::new();
                ciborium::into_writer(&cbor, &mut plain).ok()?;
                let level = flate2::Compression::fast();
                let mut deflated = flate2::write::DeflateEncoder::new(Vec::new(), level);
                std::io::Write::write_all(&mut deflated, &plain).ok()?;
                Some(Sql::Blob(deflated.finish().ok()?))
            }
        }
    }

    fn in_json(&self, json: &mut Json) -> Option<()> {
        fn leaves<'a>(value: &'a mut Json, all: &mut Vec<&'a mut Json>) {
            match value {
                Json::Number(_) => all.push(value),
                Json::Array(list) => list.iter_mut().for_each(|value| leaves(value, all)),
                Json::Object(map) => map.values_mut().for_each(|value| leaves(value, all)),
                _ => {}
            }
        }
        let mut all = Vec::new();
        leaves(json, &mut all);
        let n = all.len();
        let leaf = all.into_iter().nth(self.leaf % n.max(1))?;
        let number = self.number();
        *leaf = match (self.is_float && leaf.is_f64(), u64::try_from(number)) {
            (true, _) => Json::from(self.float()),
            (false, Ok(number)) => Json::from(number),
            (false, Err(_)) => Json::from(i64::try_from(number).unwrap_or(-1)),
        };
        Some(())
    }

    fn in_cbor(&self, cbor: &mut Cbor) -> Option<()> {
        fn leaves<'a>(value: &'a mut Cbor, all: &mut Vec<&'a mut Cbor>) {
            match value {
                Cbor::Integer(_) | Cbor::Float(_) => all.push(value),
                Cbor::Array(list) => list.iter_mut().for_each(|value| leaves(value, all)),
                Cbor::Map(map) => map.iter_mut().for_each(|(_, value)| leaves(value, all)),
                _ => {}
            }
        }
        let mut all = Vec::new();
        leaves(cbor, &mut all);
        let n = all.len();
        let leaf = all.into_iter().nth(self.leaf % n.max(1))?;
        *leaf = match leaf {
            Cbor::Float(_) => Cbor::Float(self.float()),
            _ => Cbor::Integer(ciborium::value::Integer::try_from(self.number()).ok()?),
        };
        Some(())
    }
}

/// Renders every run and experiment in an imported store, as the command line does.
fn show_all(store: &Store) {
    for row in store.list(&Filter::default()).expect("it was imported") {
        render::run_list(std::slice::from_ref(&row), &|_| render::Errors::default());
        let options = analysis::report::Options { per_client: true };
        let report = stored_report(store, &row.run, options).expect("it was imported");
        let page = render::run(&report);
        render::terminal::text(&page, &render::Style::default());
        render::markdown::markdown(&page);
        render::as_json(&report);
        for chart in render::charts::of_run(&report) {
            chart.between(0.0, 1.0).turned().to_svg(render::chart_backends::Drawn::WIDE);
            chart.to_csv();
            chart.summary();
            chart.to_svg(render::chart_backends::Drawn::WIDE);
        }
        render::seconds_csv(&[report]);
        store::interval_log(store, &row.run).expect("it was imported");
        app::stored_report::rates_over_time(store, &row.run).expect("it was imported");
        let tally = app::stored_report::stored_tally(store, &row.run).expect("it was imported");
        tally.commits_until(tally.seconds().end);
    }
    for experiment in store.experiments(&ExperimentFilter::default()).expect("it was imported") {
        let report = app::experiment::report(store, &experiment).expect("it was imported");
        let trials = app::trials::trial_reports(store, &experiment).expect("it was imported");
        let page = render::experiment(&report, &trials, None);
        render::terminal::text(&page, &render::Style::default());
        experiment.order();
    }
}

fn import_damaged(damage: &Damage) {
    let folder = tempfile::tempdir().expect("a folder");
    let theirs = folder.path().join("theirs.sqlite");
    fs::copy(&BASE.1, &theirs).expect("room");
    let Some(what) = damage.done_to(&theirs) else { return };
    let ours = Store::open(&folder.path().join("ours.sqlite")).expect("room");
    match ours.import(&theirs, check_run) {
        Ok(_) => {
            println!("shown: {what}");
            show_all(&ours);
        }
        Err(error) => println!("refused: {what}: {error}"),
    }
}

#[test]
fn an_undamaged_store_is_imported_and_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let ours = Store::open(&folder.path().join("ours.sqlite")).expect("room");
    assert_eq!(ours.import(&BASE.1, check_run).expect("nothing is wrong").new.len(), 3);
    show_all(&ours);
}

/// Default number of random cases with which a property is tested.
const USUAL_CASES: u32 = 256;

/// Returns a configuration with few cases, always the same ones, since each renders pages of three
/// runs; `PROPTEST_CASES` overrides the number.
fn some_cases() -> ProptestConfig {
    let all = ProptestConfig::default();
    match all.cases {
        USUAL_CASES => ProptestConfig { cases: 25, rng_seed: RngSeed::Fixed(25), ..all },
        _ => all,
    }
}

proptest! {
    #![proptest_config(some_cases())]

    #[test]
    fn a_store_of_which_any_number_is_another_is_refused_or_shown(
        damage in damage()
    ) {
        import_damaged(&damage);
    }
}
