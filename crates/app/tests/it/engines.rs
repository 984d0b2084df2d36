//! Tests of every workload with tables in every storage engine: checks that pass, checks that are
//! left out, interrupted builds, and data without an entry about their engine.
//!
//! Not here: the engine that a workload requests (its own tests), and `record` (record).

use std::sync::Arc;

use app::Error;
use app::build::{BuildOptions, Built, build, checksums, drop_data};
use app::open::{Data, Opened, open, resolve_workload};
use model::{Database, Target};
use servers::Server;
use servers::for_tests::{MARIADB, POSTGRES};

use crate::bench::{ask, database, drive, drive_well, say};
use crate::flaky::{Fate, flaky};

/// Workloads with their clients, transactions and parameters. Without isolation, clients of tpcc
/// could draw the same order number, so it has one client.
type Loads = &'static [(&'static str, (u32, u64), &'static [(&'static str, &'static str)])];

const LOADS: Loads = &[
    ("tpcc", (1, 60), &[("shrink", "10"), ("rollback_percent", "30"), ("mode", "batched")]),
    ("oltp-read-write", (2, 40), &[("table_size", "1000"), ("tables", "2")]),
    ("oltp-insert", (2, 40), &[("table_size", "1000"), ("tables", "2")]),
    ("tpcb", (1, 40), &[]),
    ("arm", (2, 6), &[("buffer_bytes", "16384")]),
    ("events", (2, 30), &[("tables", "2"), ("rows", "20")]),
];

/// Runs these workloads twice in a database of their own. `others` counts the tables that are not
/// in the requested storage engine; there must be none.
fn all_run(server: &Server, engine: &str, loads: Loads, others: &dyn Fn(&Target) -> usize) {
    let target = database(server, &format!("engine_{engine}"));
    for (workload, load, parameters) in loads {
        let parameters = [&[("engine", engine)], *parameters].concat();
        for _run in 0..2 {
            let ran = drive_well(&target, workload, *load, &parameters);
            let notes = &ran.report.notes;
            let is_named = notes.iter().any(|note| note.ends_with(&format!(" engine {engine}.")));
            assert!(is_named, "{workload}: {notes:#?}");
            let mut findings = ran.report.findings.iter();
            let is_said =
                findings.any(|one| one.id == "not_durable" && one.text.contains("engine="));
            assert_eq!(is_said, engine != "rocksdb", "{workload}");
            let has = |words: &str| notes.iter().any(|note| note.contains(words));
            let is_flat = ["myisam", "aria"].contains(&engine);
            assert_eq!(has("no transactions"), is_flat, "{workload}: {notes:#?}");
            assert_eq!(has("Not checked"), is_flat && *workload == "tpcc", "{notes:#?}");
            assert_eq!(has("begins again with empty tables"), engine != "rocksdb");
        }
    }
    assert_eq!(others(&target), 0, "{engine}");
}

#[test]
fn every_workload_runs_in_the_engines_of_mariadb() {
    let server = MARIADB.start_with(&[("plugin_load_add", "ha_rocksdb")]);
    for engine in ["myisam", "aria", "rocksdb"] {
        // The modes of tpcc are run below.
        let loads = if engine == "rocksdb" { &LOADS[1..] } else { LOADS };
        all_run(&server, engine, loads, &|target| {
            let sql = format!(
                "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() \
                 AND TABLE_NAME <> 'dbdyno_meta' AND ENGINE <> '{engine}'"
            );
            ask(target, &sql)
        });
    }
}

/// Checks that several clients may change the same rows. At this engine's default isolation level,
/// a row that has changed since the transaction began is a conflict, which is retried.
#[test]
fn rocksdb_has_transactions_for_clients_and_procedures_of_tpcc_and_loses_no_update() {
    // InnoDB's settings do not apply to these tables.
    let server = MARIADB.start_with(&[
        ("plugin_load_add", "ha_rocksdb"),
        ("innodb_flush_log_at_trx_commit", "0"),
        ("rocksdb_flush_log_at_trx_commit", "2"),
    ]);
    let target = database(&server, "rocksdb_modes");
    for mode in ["prepared", "procedures"] {
        let parameters = [("mode", mode), ("rollback_percent", "20")];
        let parameters = [&[("engine", "rocksdb"), ("shrink", "10")], &parameters[..]].concat();
        let ran = drive(&target, "tpcc", (3, 90), &parameters).expect("runs");
        let crosscheck = &ran.report.crosschecks[0];
        assert!(crosscheck.matches && crosscheck.change > 0, "{mode}: {crosscheck:?}");
        let checks = &ran.report.checks.after;
        assert_eq!(checks.as_ref().map(Vec::len), Some(13), "{mode}");
        let failed = checks.iter().flatten().filter(|check| check.failed > 0).count();
        assert_eq!(failed, 0, "{mode}: {checks:#?}");
        assert!(ran.report.block.counts.rolled_back > 0, "{mode}");
        let risk = ran.report.findings.iter().find(|one| one.id == "not_durable");
        let named = "rocksdb_flush_log_at_trx_commit=2: a loss of power may lose the last second";
        assert!(risk.is_some_and(|risk| risk.text.starts_with(named)), "{mode}: {risk:?}");
    }
}

#[test]
fn every_workload_runs_in_unlogged_tables_which_a_crash_empties() {
    let mut server = POSTGRES.start();
    all_run(&server, "unlogged", LOADS, &|target| {
        ask(
            target,
            "SELECT 1 FROM pg_class WHERE relnamespace = current_schema()::regnamespace \
             AND relkind = 'r' AND relname <> 'dbdyno_meta' AND relpersistence <> 'u'",
        )
    });
    server.kill().expect("killed");
    server.restart().expect("it starts again");
    let target = Target { path: "engine_unlogged".to_owned(), ..server.target() };
    for (workload, load, parameters) in &LOADS[..4] {
        // The engine is that of the existing data, although the parameter is not given.
        let Err(Error::Failed(why)) = drive(&target, workload, *load, parameters) else {
            panic!("{workload} runs on empty tables")
        };
        assert!(why.contains("is empty, as a crash of the server leaves"), "{workload}: {why}");
        assert!(why.ends_with("drop the data and build them again"), "{workload}: {why}");
    }
}

const ROWS: u64 = 3_000;

/// Opens data whose tables have no key, so that only the number of rows reveals duplicates.
fn agreed(database: &Arc<dyn Database>, target: &Target, engine: &str) -> Opened {
    let written = [("rows", "3000"), ("tables", "2"), ("index", "none"), ("engine", engine)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    resolve_workload(database, target, "record", &written, 5).expect("agreed")
}

fn build_here(opened: &Opened) -> Result<Built, Error> {
    let options = BuildOptions { loaders: 2, ..BuildOptions::default() };
    build(opened, options, &|| false, &mut |_| {})
}

/// Checks a build whose connection is lost when the rows of a chunk exist, and the mark of the
/// chunk does not.
#[test]
fn a_build_that_was_interrupted_begins_again_where_an_engine_does_not_keep_its_marks() {
    for (server, engine, is_resumed) in [
        (MARIADB.shared(), "innodb", true),
        (MARIADB.shared(), "myisam", false),
        (MARIADB.shared(), "aria", false),
        (POSTGRES.shared(), "unlogged", false),
    ] {
        let target = database(server, &format!("interrupted_{engine}"));
        let whole = open(&target, 1, true).expect("opens");
        let (mut n_begun, mut is_lost) = (0, false);
        let broken = flaky(&whole, move |text| {
            n_begun += u32::from(text == "BEGIN" || text == "LOAD");
            let fate = text == "COMMIT" && n_begun > 2 && !is_lost;
            is_lost |= fate;
            if fate { Fate::LostBefore } else { Fate::Lives }
        });
        let ended = build_here(&agreed(&broken, &target, engine));
        if is_resumed {
            assert_eq!(ended.map(|built| (built.n_rows, built.was_dropped)), Ok((2 * ROWS, false)));
        } else {
            let Err(Error::Failed(why)) = ended else { panic!("{engine}: {ended:?}") };
            assert!(why.ends_with("the same command begins again with empty tables"), "{why}");
            let opened = agreed(&whole, &target, engine);
            assert_eq!(opened.data, Data::Unfinished, "{engine}");
            let built = build_here(&opened).expect("built");
            assert_eq!((built.n_rows, built.was_dropped), (2 * ROWS, true), "{engine}");
            assert_eq!(built.n_rows_before, 0, "{engine}");
            let said = built.sentence();
            assert!(said.starts_with("dropped the tables of an interrupted build; "), "{said}");
        }
        let sums = |opened: &Opened| {
            checksums(opened.database.as_ref(), opened.workload.as_ref()).expect("read")
        };
        let opened = agreed(&whole, &target, engine);
        assert_eq!(opened.data, Data::Built, "{engine}");
        let of_broken = sums(&opened);
        drop_data(&opened, false).expect("dropped");
        build_here(&agreed(&whole, &target, engine)).expect("built");
        assert_eq!(sums(&agreed(&whole, &target, engine)), of_broken, "{engine}");
    }
}

/// Returns the storage engine that is assumed for a workload's tables, or the error.
fn engine_of(target: &Target, workload: &str, written: &[(&str, &str)]) -> Result<String, Error> {
    let database = open(target, 1, false).expect("opens");
    let written = written.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let written: Vec<(String, String)> = written.collect();
    let opened = resolve_workload(&database, target, workload, &written, 5)?;
    Ok(opened.settings.text("engine").to_owned())
}

#[test]
fn data_from_before_the_parameter_are_in_the_engine_of_their_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}/old.db?synchronous=off", folder.path().display());
    let file = Target::parse(&url).expect("a target");
    for target in [file, database(MARIADB.shared(), "engine_old")] {
        drive_well(&target, "tpcb", (1, 5), &[]);
        let is_sqlite = target.scheme == "sqlite";
        for is_old in [false, true] {
            if is_old {
                say(&target, "DELETE FROM dbdyno_meta WHERE name = 'scale.engine'");
            }
            drive_well(&target, "tpcb", (1, 5), &[]);
            drive_well(&target, "tpcb", (1, 5), &[("engine", "default")]);
            let Err(Error::Usage(why)) = engine_of(&target, "tpcb", &[("engine", "myisam")]) else {
                panic!("{target} is no MyISAM")
            };
            let expect = match is_sqlite {
                true => "sqlite has no choice of storage engines",
                false => "was built with engine default, not myisam: leave engine out",
            };
            assert!(why.contains(expect), "{why}");
        }
    }
}

/// Tests tables as sysbench and pgbench leave them, without an entry in `dbdyno_meta`.
#[test]
fn tables_that_somebody_else_built_are_in_the_engine_that_they_are_in() {
    let check = |server: &Server, engine: &str, found: &str, other: &str| {
        let target = database(server, &format!("theirs_{engine}"));
        for (workload, size) in
            [("oltp-read-only", ("table_size", "100")), ("tpcb", ("scale", "1"))]
        {
            drive_well(&target, workload, (1, 5), &[size, ("engine", engine)]);
        }
        say(&target, "DROP TABLE dbdyno_meta");
        for workload in ["oltp-read-only", "tpcb"] {
            let engine = |written: &[(&str, &str)]| engine_of(&target, workload, written);
            assert_eq!(engine(&[]), Ok(found.to_owned()), "{workload}");
            assert_eq!(engine(&[("engine", found)]), Ok(found.to_owned()), "{workload}");
            if !other.is_empty() {
                let Err(Error::Usage(why)) = engine(&[("engine", other)]) else {
                    panic!("{workload}")
                };
                assert!(why.contains(&format!(", not {other}: leave out --engine")), "{why}");
            }
            drive_well(&target, workload, (1, 5), &[]);
        }
    };
    check(MARIADB.shared(), "myisam", "myisam", "innodb");
    check(MARIADB.shared(), "default", "innodb", "aria");
    check(POSTGRES.shared(), "unlogged", "unlogged", "");
    check(POSTGRES.shared(), "default", "default", "unlogged");
}
