//! Tests that a workload's stored routines are installed once, before a run, and dropped with the
//! data.

use std::sync::Arc;
use std::thread;

use app::Error;
use app::build::{BuildOptions, build, drop_data};
use app::open::{Data, Opened, open, resolve_workload};
use app::routines::install;
use model::{Database, Target};
use servers::for_tests::{MARIADB, MYSQL_5_6, MYSQL_9_7, POSTGRES, POSTGRES_18};

use crate::bench::{database, say};

fn agreed(
    database: &Arc<dyn Database>,
    target: &Target,
    written: &[(&str, &str)],
) -> Result<Opened, Error> {
    let written: Vec<(String, String)> =
        written.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    resolve_workload(database, target, "tpcc", &written, 1)
}

#[test]
fn what_a_database_cannot_do_is_refused_before_anything_is_built() {
    let target = Target::parse("sqlite::memory:").expect("a URL");
    let database = open(&target, 1, true).expect("it opens");
    let check = |written, expect: &str| match agreed(&database, &target, written) {
        Err(Error::Usage(why)) => assert!(why.contains(expect), "{why}"),
        other => panic!("{:?}", other.map(|opened| opened.data)),
    };
    check(&[("mode", "procedures")], "no stored procedures");
    check(&[("partitions", "4")], "does not support them");
    assert_eq!(agreed(&database, &target, &[]).map(|opened| opened.data), Ok(Data::Absent));
}

fn procedures(database: &Arc<dyn Database>, target: &Target) -> Opened {
    agreed(database, target, &[("mode", "procedures")]).expect("agreed")
}

#[test]
fn routines_are_made_once_and_dropped_with_the_data() {
    let target = POSTGRES_18.shared().target();
    let database = open(&target, 1, true).expect("it opens");
    let plain = agreed(&database, &target, &[]).expect("agreed");
    assert_eq!(install(&plain), Ok(0), "nobody calls any");
    assert_eq!(install(&procedures(&database, &target)), Ok(5));
    assert_eq!(install(&procedures(&database, &target)), Ok(0), "they are there without data too");
    let built = build(
        &plain,
        BuildOptions { loaders: 2, ..BuildOptions::default() },
        &|| false,
        &mut |_| {},
    );
    assert!(built.is_ok_and(|built| built.n_rows > 400_000));
    assert_eq!(install(&procedures(&database, &target)), Ok(0), "they are there");
    let built = agreed(&database, &target, &[]).expect("agreed");
    assert_eq!(drop_data(&built, false).map(|dropped| dropped.len()), Ok(9));
    let again = agreed(&database, &target, &[]).map(|opened| opened.data);
    assert_eq!(again, Ok(Data::Absent));
    assert_eq!(install(&procedures(&database, &target)), Ok(5), "they went with the data");
}

#[test]
fn routines_that_are_gone_or_others_are_made_anew_and_by_one_of_many() {
    let servers = [&MARIADB, &MYSQL_5_6, &MYSQL_9_7, &POSTGRES];
    for server in servers.map(servers::for_tests::TestServer::shared) {
        let target = database(server, "routines");
        let database = open(&target, 1, true).expect("it opens");
        let opened = procedures(&database, &target);
        let n_made = thread::scope(|scope| {
            let installs: Vec<_> = (0..4).map(|_| scope.spawn(|| install(&opened))).collect();
            let n_made = installs.into_iter().map(|made| made.join().expect("no panic"));
            n_made.map(|made| made.unwrap_or_else(|no| panic!("{target}: {no}"))).sum::<usize>()
        });
        assert_eq!(n_made, 5, "{target}");
        let routines = opened.workload.routines(database.dialect());
        say(&target, &routines[1].drop);
        // Written by another version of dbdyno.
        say(&target, &routines[2].drop);
        say(&target, &routines[2].create.replace(&routines[2].mark, "dbdyno 0"));
        assert_eq!(install(&opened), Ok(2), "{target}");
        assert_eq!(install(&opened), Ok(0), "{target}");
    }
}
