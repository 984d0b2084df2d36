//! Tests of the `record` workload on real databases: every index policy and storage engine, and its
//! counts.
//!
//! Not here: the statements of a transaction (the workloads' own tests).

use app::Error;
use app::run::RunResult;
use model::Target;
use servers::Server;
use servers::for_tests::{
    MARIADB, MARIADB_11_4, MARIADB_11_8, MYSQL_5_6, MYSQL_9_7, POSTGRES, POSTGRES_18,
};

use crate::bench::{ask, database, drive, drive_plan, drive_well};

/// Parameters of transactions that are a single statement.
const ALONE: &[(&str, &str)] = &[];
/// Parameters of transactions with several statements, of which the last has fewer rows.
const SEVERAL: &[(&str, &str)] =
    &[("records_per_commit", "5"), ("rows_per_statement", "2"), ("tables", "3")];

#[test]
fn records_are_kept_with_every_index_policy_on_sqlite() {
    let folder = tempfile::tempdir().expect("a folder");
    every_policy(&[ALONE, SEVERAL], &|name| {
        let url = format!("sqlite:{}/{name}.db?synchronous=off", folder.path().display());
        Target::parse(&url).expect("a target")
    });
}

#[test]
fn records_are_kept_with_every_index_policy_on_mariadb() {
    every_policy(&[ALONE, SEVERAL], &|name| database(MARIADB.shared(), name));
}

#[test]
fn records_are_kept_with_every_index_policy_on_postgresql() {
    every_policy(&[ALONE, SEVERAL], &|name| database(POSTGRES.shared(), name));
}

#[test]
fn records_are_kept_with_every_index_policy_on_the_other_servers() {
    for server in [&MARIADB_11_4, &MARIADB_11_8, &MYSQL_5_6, &MYSQL_9_7, &POSTGRES_18] {
        let server = server.start();
        every_policy(&[SEVERAL], &|name| database(&server, name));
    }
}

/// Makes two runs on the same data for each index policy, which begin with built records. All
/// checks must pass, and the database must count the committed rows.
fn every_policy(commits: &[&[(&str, &str)]], target: &dyn Fn(&str) -> Target) {
    for (place, commit) in commits.iter().enumerate() {
        for index in ["none", "key", "secondary", "afterwards"] {
            let target = target(&format!("record_{index}_{place}"));
            let parameters = [&[("index", index), ("rows", "100")], *commit].concat();
            for _run in 0..2 {
                let ran = drive_well(&target, "record", (4, 60), &parameters);
                assert!(ran.report.crosschecks[0].matches, "{:?}", ran.report.crosschecks);
                assert_eq!(ran.report.crosschecks[0].change, 60);
                assert_eq!(overall(&ran).is_some(), index == "afterwards", "{target}");
            }
        }
    }
}

/// Returns the seconds for adding indexes, the seconds for load and indexes together, and the
/// records per second over the latter; `None` if the run added no indexes.
fn overall(ran: &RunResult) -> Option<[f64; 3]> {
    let number = |name| ran.tally.fact("indexes", name)?.to_string().parse::<f64>().ok();
    let [add, all] = ["add_s", "load_and_add_s"].map(number);
    Some([add?, all?, number("records_per_s_overall")?])
}

#[test]
fn indexes_added_after_the_load_are_timed_within_the_whole_and_dropped() {
    let target = database(MARIADB.shared(), "record_later");
    let parameters = [("index", "afterwards"), ("records_per_commit", "100"), ("rows", "2000")];
    let n_indexes = || ask(&target, "SHOW INDEX FROM record1");
    for run in 0..2 {
        let ran = drive_well(&target, "record", (2, 20), &parameters);
        let [add, all, per_s] = overall(&ran).expect("told");
        assert!(add > 0.0 && all > add, "{add} of {all}");
        // The seconds are rounded to milliseconds.
        assert!((per_s * all - 2_000.0).abs() <= per_s * 0.000_6, "{per_s} for {all}");
        assert_eq!(n_indexes(), 0, "run {run}");
    }
    // Left by a run that was killed before it dropped them.
    ask(&target, "CREATE INDEX record1_column1 ON record1 (column1)");
    drive_well(&target, "record", (2, 20), &parameters);
    assert_eq!(n_indexes(), 0);
}

#[test]
fn a_run_whose_indexes_are_refused_is_invalid_and_leaves_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}/refused.db?synchronous=off", folder.path().display());
    let target = Target::parse(&url).expect("a target");
    let parameters = [("index", "afterwards"), ("rows", "100")];
    drive_well(&target, "record", (1, 20), &parameters);
    // Tables and indexes share a name space: the second index cannot be created.
    ask(&target, "CREATE TABLE record1_column1 (a INT)");
    let ran = drive(&target, "record", (1, 20), &parameters).expect("it runs");
    let finding = ran.report.findings.iter().find(|one| one.id == "indexes_not_added");
    let text = &finding.expect("there is one").text;
    assert!(text.contains("record1_column1"), "{text}");
    assert!(!ran.is_good && overall(&ran).is_none());
    assert_eq!(ask(&target, "SELECT 1 FROM sqlite_master WHERE name = 'record1_id'"), 0);
}

#[test]
fn records_are_kept_in_every_storage_engine_that_the_server_has() {
    let target = |server: &Server, engine: &str| database(server, &format!("record_{engine}"));
    let parameters = |engine| [("engine", engine), ("rows", "50")];
    let is_made_in = |target: &Target, engine: &str| {
        let sql = format!(
            "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() \
             AND TABLE_NAME = 'record1' AND ENGINE = '{engine}'"
        );
        assert_eq!(ask(target, &sql), 1, "{target} {engine}");
    };
    for engine in ["innodb", "myisam", "aria"] {
        let target = target(MARIADB.shared(), engine);
        let ran = drive_well(&target, "record", (4, 40), &parameters(engine));
        is_made_in(&target, engine);
        let mut texts = ran.report.findings.iter().map(|finding| &finding.text);
        let is_said = texts.any(|text| text.contains(&format!("engine={engine}: ")));
        assert_eq!(is_said, engine != "innodb", "{engine} loses rows whatever is flushed");
    }
    let server = MYSQL_5_6.start();
    let there = target(&server, "myisam");
    drive_well(&there, "record", (4, 40), &parameters("myisam"));
    is_made_in(&there, "myisam");
    let lacks = target(&server, "aria");
    let Err(Error::Usage(why)) = drive(&lacks, "record", (1, 1), &parameters("aria")) else {
        panic!("MySQL has no Aria")
    };
    let start = "the server has no storage engine aria: choose one that it has (";
    assert!(why.starts_with(start) && why.contains("(innodb, myisam)"), "{why}");
    // Nothing is left behind: the same database accepts another engine.
    drive_well(&lacks, "record", (1, 5), &parameters("innodb"));
}

#[test]
fn unlogged_tables_are_empty_after_a_crash_and_a_finding_says_so() {
    let mut server = POSTGRES.start();
    let target = database(&server, "unlogged");
    let parameters = [("engine", "unlogged"), ("rows", "50"), ("tables", "2")];
    let is_said = |ran: &RunResult, workload: &str| {
        let finding = ran.report.findings.iter().find(|one| one.id == "not_durable");
        let text = &finding.unwrap_or_else(|| panic!("{workload}: no finding")).text;
        // The text about servers of tests, which do not flush, comes first.
        let says_how = text.contains("a crash of the server empties the tables.");
        assert!(text.contains("engine=unlogged: ") && says_how, "{text}");
    };
    let unlogged = |name: &str| {
        let sql = format!(
            "SELECT 1 FROM pg_class \
             WHERE relname ~ '^{name}[0-9]+$' AND relkind = 'r' AND relpersistence = 'u'"
        );
        ask(&target, &sql)
    };
    is_said(&drive_well(&target, "record", (4, 40), &parameters), "record");
    let all = "SELECT 1 FROM record1 UNION ALL SELECT 1 FROM record2";
    assert_eq!((unlogged("record"), ask(&target, all)), (2, 140));
    let events = [("engine", "unlogged"), ("tables", "3")];
    is_said(&drive_well(&target, "events", (3, 30), &events), "events");
    assert_eq!((unlogged("event"), unlogged("event_age")), (3, 1));

    let lacks = database(&server, "innodb");
    let Err(Error::Usage(why)) = drive(&lacks, "record", (1, 1), &[("engine", "innodb")]) else {
        panic!("PostgreSQL has no InnoDB")
    };
    assert!(why.ends_with("on postgres: choose unlogged, or leave out --engine"), "{why}");

    server.kill().expect("killed");
    server.restart().expect("it starts again");
    let target = Target { path: target.path, ..server.target() };
    assert_eq!(ask(&target, all), 0);
    // The 50 built records are lost too, and no run starts on the rest.
    let Err(Error::Failed(why)) = drive(&target, "record", (4, 40), &parameters) else {
        panic!("it runs on tables that lost their records")
    };
    assert!(why.starts_with("the table record1 is empty, as a crash of the server"), "{why}");
}

/// Checks the rates of a run in virtual time: two clients that wait a millisecond for each of two
/// statements of ten records, and for BEGIN and COMMIT, insert 10,000 records per second.
#[test]
fn records_and_their_bytes_are_the_rates_of_a_run() {
    let url = "sim:?service=constant:1ms&servers=2&transaction_control=statement";
    let target = Target::parse(url).expect("a target");
    for index in ["none", "key", "afterwards"] {
        let plan = format!(
            "ramp_up = \"1s\"\nduration = \"20s\"\nplacement = \"simulated\"\n[[group]]\n\
             workload = \"record\"\nclients = 2\nparameters = {{ records_per_commit = 20, \
             rows_per_statement = 10, record_size = 250, index = \"{index}\" }}\n"
        );
        let ran = drive_plan(&target, &plan, None).expect("runs");
        let primary_metrics = &ran.report.block.primary_metrics;
        let value =
            |name| primary_metrics.get(name).and_then(|metric| metric.value).expect("known");
        assert_eq!((value("records_per_s"), value("mb_per_s")), (10_000.0, 2.5), "{index}");
        assert!(overall(&ran).is_none(), "there is nothing to be indexed");
    }
}
