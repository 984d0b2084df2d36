//! Tests with the data of several workloads in one database.
//!
//! Not here: their rows (workloads).

use app::Error;
use app::build::{BuildOptions, build, drop_data};
use app::open::{Data, Opened, open, resolve_workload};
use model::Target;
use servers::for_tests::{MARIADB, POSTGRES};

use crate::bench::{ask, database, drive_plan, drive_well, say};

const SMALL: [(&str, &str); 2] = [("tables", "2"), ("table_size", "300")];

fn agreed(target: &Target, workload: &str) -> Result<Opened, Error> {
    let database = open(target, 1, true).expect("opens");
    let small = SMALL.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let parameters = match workload {
        "tpcb" => &[],
        "oltp-bulk-insert" => &small[..1],
        _ => &small[..],
    };
    resolve_workload(&database, target, workload, parameters, 5)
}

fn state(target: &Target, workload: &str) -> Data {
    agreed(target, workload).expect("agreed").data
}

/// Builds the data of three workloads in one database, runs each workload, and drops each one
/// alone.
fn three_live_together(target: &Target) {
    drive_well(target, "oltp-point-select", (2, 20), &SMALL);
    assert_eq!(state(target, "tpcb"), Data::Absent);
    drive_well(target, "tpcb", (2, 20), &[]);
    let Err(Error::Failed(why)) = agreed(target, "oltp-bulk-insert") else {
        panic!("sbtest1 is another workload's")
    };
    assert!(why.contains("holds data of oltp, and oltp-bulk-insert needs tables"), "{why}");
    assert!(why.contains("(sbtest1, sbtest2)") && why.contains("dbdyno drop oltp-"), "{why}");
    // One run of both, each group on its own data, with checks afterwards.
    let both = "[phases]\nramp_up = \"0s\"\nmeasure = \"300s\"\n[[group]]\nname = \"a\"\n\
                workload = \"tpcb\"\nclients = 2\nuntil = \"20 transactions\"\n[[group]]\n\
                name = \"b\"\nworkload = \"oltp-read-only\"\nclients = 2\n\
                until = \"20 transactions\"\n";
    let ran = drive_plan(target, both, None).expect("both are built");
    assert_eq!(ran.report.block.counts.finished, 40);
    // Dropping one keeps the others: the first and the later ones.
    drop_data(&agreed(target, "oltp-read-only").expect("agreed"), false).expect("dropped");
    let states = ["tpcb", "oltp-read-only", "oltp-bulk-insert"].map(|one| state(target, one));
    assert_eq!(states, [Data::Built, Data::Absent, Data::Absent]);
    drive_well(target, "oltp-bulk-insert", (2, 4), &[("tables", "2"), ("bulk_rows", "50")]);
    drive_well(target, "tpcb", (2, 20), &[]);
    drop_data(&agreed(target, "tpcb").expect("agreed"), false).expect("dropped");
    assert_eq!(state(target, "oltp-bulk-insert"), Data::Built);
    assert_eq!(ask(target, "SELECT name FROM dbdyno_meta WHERE name LIKE '%pgbench%'"), 0);
    drop_data(&agreed(target, "oltp-bulk-insert").expect("agreed"), false).expect("dropped");
    say(target, "CREATE TABLE dbdyno_meta (x INTEGER)");
}

#[test]
fn workloads_whose_tables_do_not_clash_live_in_one_database_on_sqlite() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}/all.db?synchronous=off", folder.path().display());
    three_live_together(&Target::parse(&url).expect("a URL"));
}

#[test]
fn workloads_whose_tables_do_not_clash_live_in_one_database_on_mariadb_and_postgresql() {
    three_live_together(&database(MARIADB.shared(), "several"));
    three_live_together(&database(POSTGRES.shared(), "several"));
}

#[test]
fn a_build_that_was_interrupted_goes_on_beside_other_data() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}/all.db?synchronous=off", folder.path().display());
    let target = Target::parse(&url).expect("a URL");
    let built = |workload: &str| {
        let opened = agreed(&target, workload).expect("agreed");
        build(&opened, BuildOptions::default(), &|| false, &mut |_| {}).expect("built")
    };
    built("tpcb");
    built("oltp-read-only");
    say(&target, "DELETE FROM dbdyno_meta WHERE name = 'done.sbtest2.0'");
    say(&target, "DELETE FROM sbtest2");
    say(&target, "UPDATE dbdyno_meta SET value = 'building' WHERE name = 'oltp/state'");
    assert_eq!(state(&target, "tpcb"), Data::Built);
    assert_eq!(state(&target, "oltp-read-only"), Data::Unfinished);
    assert_eq!(built("oltp-read-only").n_rows, 300);
    assert_eq!(state(&target, "oltp-read-only"), Data::Built);
}
