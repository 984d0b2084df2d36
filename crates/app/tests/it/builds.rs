//! Tests of failures during builds: lost connections, crashed builders, concurrent builds.
//!
//! Not here: rows (workloads), and servers that crash (dbdyno).

use std::sync::Arc;

use app::Error;
use app::build::{BuildOptions, Built, build, checksums, drop_data};
use app::open::{Data, Opened, open, resolve_workload};
use model::{Choice, Database, Secret, Target};
use servers::for_tests::{MARIADB, POSTGRES};

use crate::bench::{ask, database, say};
use crate::flaky::{Fate, flaky};

const ROWS: u64 = 3_000;

fn agreed(database: &Arc<dyn Database>, target: &Target) -> Opened {
    let written = [("table_size", ROWS.to_string().as_str()), ("tables", "2")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    resolve_workload(database, target, "oltp-point-select", &written, 5).expect("agreed")
}

fn build_here(opened: &Opened, seed: Option<u64>) -> Result<Built, Error> {
    let options = BuildOptions { loaders: 2, seed, ..BuildOptions::default() };
    build(opened, options, &|| false, &mut |_| {})
}

/// Builds data with connections that `rule` breaks, and asserts that the data equal those of an
/// undisturbed build.
fn build_broken(target: &Target, rule: impl FnMut(&str) -> Fate + Send + 'static) -> Built {
    let whole = open(target, 1, true).expect("opens");
    let flaky = flaky(&whole, rule);
    let built = build_here(&agreed(&flaky, target), None);
    let built = built.unwrap_or_else(|trouble| panic!("{target}: {trouble}"));
    assert_eq!(built.n_rows, 2 * ROWS, "{target}");
    let opened = agreed(&whole, target);
    assert_eq!(opened.data, Data::Built, "{target}");
    let sums = |opened: &Opened| checksums(opened.database.as_ref(), opened.workload.as_ref());
    let sums_broken = sums(&opened).expect("read");
    drop_data(&opened, false).expect("dropped");
    build_here(&agreed(&whole, target), None).expect("built");
    assert_eq!(sums(&agreed(&whole, target)).expect("read"), sums_broken, "{target}");
    built
}

/// Returns a rule that applies each of these fates once, in this order, to the next statement that
/// contains the word.
fn each_lost_once(words: &'static [(&'static str, Fate)]) -> impl FnMut(&str) -> Fate {
    let mut left = words.iter();
    move |text| match left.as_slice().first() {
        Some((word, fate)) if text.contains(word) => {
            left.next();
            *fate
        }
        _ => Fate::Lives,
    }
}

fn sqlite() -> (tempfile::TempDir, Target) {
    let folder = tempfile::tempdir().expect("made");
    let target = format!("sqlite:{}", folder.path().join("data.db").display());
    (folder, Target::parse(&target).expect("a URL"))
}

#[test]
fn a_connection_that_is_lost_again_while_a_chunk_is_looked_for_ends_no_build() {
    let (_folder, target) = sqlite();
    let rule = each_lost_once(&[
        // The tables, then a chunk whose commit succeeds.
        ("COMMIT", Fate::Lives),
        ("COMMIT", Fate::Lives),
        ("COMMIT", Fate::Lives),
        ("COMMIT", Fate::LostAfter),
        ("SELECT count(*) FROM dbdyno_meta", Fate::LostBefore),
        ("SELECT count(*) FROM dbdyno_meta", Fate::LostAfter),
    ]);
    assert_eq!(build_broken(&target, rule).reconnects, 3);
}

#[test]
fn a_connection_that_is_lost_while_indexes_are_made_ends_no_build() {
    let (_folder, file) = sqlite();
    for target in [
        file,
        database(MARIADB.shared(), "lost_at_indexes"),
        database(POSTGRES.shared(), "lost_at_indexes"),
    ] {
        let rule = each_lost_once(&[
            ("CREATE TABLE sbtest2", Fate::LostAfter),
            ("CREATE INDEX k_1", Fate::LostAfter),
            ("CREATE INDEX k_2", Fate::LostBefore),
            ("UPDATE dbdyno_meta", Fate::LostAfter),
        ]);
        assert_eq!(build_broken(&target, rule).reconnects, 4, "{target}");
    }
}

#[test]
fn where_a_server_does_not_understand_bulk_loads_rows_are_inserted_and_it_is_said() {
    let (_folder, file) = sqlite();
    for target in
        [file, database(MARIADB.shared(), "no_bulk"), database(POSTGRES.shared(), "no_bulk")]
    {
        let rule = |text: &str| if text == "LOAD" { Fate::Refused } else { Fate::Lives };
        let built = build_broken(&target, rule);
        assert_eq!(Choice::name(built.method), "insert", "{target}");
        let said = built.sentence();
        for word in ["by insert", "does not understand bulk loads", "near 'CHARACTER SET'"] {
            assert!(said.contains(word), "{target}: {said}");
        }
    }
}

#[test]
fn a_server_with_one_session_for_us_is_built_in_by_one() {
    let (mariadb, postgres) = (MARIADB.shared(), POSTGRES.shared());
    for (server, words, theirs_now) in [
        (
            mariadb,
            [
                "CREATE USER single@'%' IDENTIFIED BY 'one' WITH MAX_USER_CONNECTIONS 1",
                "GRANT ALL ON one_session.* TO single@'%'",
            ],
            "SELECT id FROM information_schema.processlist WHERE user = 'single'",
        ),
        (
            postgres,
            [
                "CREATE ROLE single LOGIN PASSWORD 'one' CONNECTION LIMIT 1",
                "ALTER DATABASE one_session OWNER TO single",
            ],
            "SELECT pid FROM pg_stat_activity WHERE usename = 'single'",
        ),
    ] {
        let admin = database(server, "one_session");
        words.iter().for_each(|sql| say(&admin, sql));
        let password = Some(Secret::new("one"));
        let target = Target { user: Some("single".to_owned()), password, ..admin.clone() };
        let theirs = open(&target, 1, true).expect("opens");
        let built = build_here(&agreed(&theirs, &target), None);
        let built = built.unwrap_or_else(|trouble| panic!("{target}: {trouble}"));
        assert_eq!((built.n_rows, built.loaders), (2 * ROWS, 1), "{target}");
        // A server ends a session a moment after its client has closed it.
        let wait_until_gone = || {
            while ask(&admin, theirs_now) > 0 {
                std::thread::park_timeout(std::time::Duration::from_millis(5));
            }
        };
        let sums = |at: &Target| {
            wait_until_gone();
            let opened = agreed(&open(at, 1, false).expect("opens"), at);
            assert_eq!(opened.data, Data::Built, "{at}");
            checksums(opened.database.as_ref(), opened.workload.as_ref()).expect("read")
        };
        let of_one = sums(&target);
        wait_until_gone();
        let again = agreed(&theirs, &target);
        assert_eq!(drop_data(&again, false).map(|dropped| dropped.len()), Ok(2), "{target}");
        let whole = open(&admin, 1, false).expect("opens");
        build_here(&agreed(&whole, &admin), None).expect("built");
        assert_eq!(sums(&admin), of_one, "{target}");
    }
}

#[test]
fn an_index_whose_builder_crashed_before_it_was_marked_counts_as_made() {
    let target = database(MARIADB.shared(), "unmarked_index");
    let whole = open(&target, 1, true).expect("opens");
    build_here(&agreed(&whole, &target), None).expect("built");
    say(&target, "DELETE FROM dbdyno_meta WHERE name LIKE 'done.%.index.%'");
    say(&target, "UPDATE dbdyno_meta SET value = 'building' WHERE name = 'state'");
    assert_eq!(build_here(&agreed(&whole, &target), None).map(|built| built.n_rows), Ok(0));
    assert_eq!(agreed(&whole, &target).data, Data::Built);
}

#[test]
fn of_two_builds_at_once_one_is_told_of_the_other() {
    for server in [MARIADB.shared(), POSTGRES.shared()] {
        let target = database(server, "two_builds");
        let whole = open(&target, 1, true).expect("opens");
        let first = agreed(&whole, &target);
        let mut seconds = Vec::new();
        let built = build(&first, BuildOptions::default(), &|| false, &mut |_| {
            if seconds.is_empty() {
                let again = agreed(&whole, &target);
                seconds.push(build_here(&again, None));
                seconds.push(drop_data(&again, false).map(|_| unreachable!("it is held")));
            }
        });
        assert_eq!(built.map(|built| built.n_rows), Ok(2 * ROWS));
        assert_eq!(seconds.len(), 2);
        for second in seconds {
            let Err(Error::Failed(why)) = second else { panic!("{second:?}") };
            assert!(why.starts_with("another dbdyno process builds or drops"), "{why}");
        }
        let Err(Error::Failed(why)) = build_here(&first, None) else { panic!("it is stale") };
        assert!(why.contains("in the meantime"), "{why}");
    }
}

#[test]
fn where_a_database_has_no_locks_the_slower_of_two_builds_is_told_of_the_other() {
    let (_folder, target) = sqlite();
    let whole = open(&target, 1, true).expect("opens");
    let (other, at, mut n_begun) = (Arc::clone(&whole), target.clone(), 0);
    let slow = flaky(&whole, move |text| {
        n_begun += u32::from(text == "BEGIN");
        // The marks of the build and two tables exist, and a chunk is next.
        if n_begun == 4 && text == "BEGIN" {
            build_here(&agreed(&other, &at), None).expect("the other is not disturbed");
        }
        Fate::Lives
    });
    let Err(Error::Failed(why)) = build_here(&agreed(&slow, &target), None) else {
        panic!("nobody told it")
    };
    assert!(why.contains("another dbdyno process builds the same data"), "{why}");
    assert_eq!(agreed(&whole, &target).data, Data::Built);
}

#[test]
fn a_build_goes_on_with_the_seed_that_it_was_begun_with_alone() {
    let (_folder, target) = sqlite();
    let whole = open(&target, 1, true).expect("opens");
    let interrupted =
        build(&agreed(&whole, &target), BuildOptions::default(), &|| true, &mut |_| {});
    assert!(matches!(interrupted, Err(Error::Interrupted(_))), "{interrupted:?}");
    let opened = agreed(&whole, &target);
    assert_eq!(opened.data, Data::Unfinished);
    let no = build_here(&opened, Some(6)).expect_err("of seed 5");
    let expect = "the data were begun with seed 5, not 6; omit the seed";
    assert!(matches!(&no, Error::Failed(why) if why.starts_with(expect)), "{no}");
    assert_eq!(build_here(&opened, Some(5)).map(|built| built.n_rows), Ok(2 * ROWS));
    build_here(&agreed(&whole, &target), Some(6)).expect_err("they are built of seed 5");
    build_here(&agreed(&whole, &target), None).expect("nothing to do");
}

#[test]
fn tables_of_others_are_left_alone_and_the_ways_to_use_them_are_named() {
    let (folder, target) = sqlite();
    let database = open(&target, 1, true).expect("opens");
    let table = "CREATE TABLE sbtest1 (id INTEGER PRIMARY KEY, k, c, pad)";
    rusqlite::Connection::open(&target.path)
        .and_then(|file| file.execute_batch(table))
        .expect(table);
    let resolved = resolve_workload(&database, &target, "oltp-point-select", &[], 5);
    let opened = resolved.expect("it is empty");
    assert_eq!(opened.data, Data::Unmarked);
    let no = build_here(&opened, None).expect_err("it is refused").to_string();
    let words = "dbdyno did not build the existing tables (sbtest1; no dbdyno_meta), so it builds \
                 nothing here: name another database with --target, fill empty tables with \
                 --data-only, or load the rows of 'dbdyno datagen oltp-read-only' into them and \
                 begin with 'dbdyno run'";
    assert_eq!(no, words);
    assert_eq!(ask(&target, "SELECT id FROM sbtest1"), 0);
    drop(folder);
}
