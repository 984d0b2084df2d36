//! A workload's routines come into the database before a run, once, and go with the data.

use std::sync::Arc;

use lab::Trouble;
use lab::build::{BuildOptions, build, drop_data, install_routines};
use lab::open::{Data, Opened, agree_on, open};
use model::{Database, Target};
use servers::for_tests::POSTGRES_18;

fn agreed(
    database: &Arc<dyn Database>,
    target: &Target,
    written: &[(&str, &str)],
) -> Result<Opened, Trouble> {
    let written: Vec<(String, String)> =
        written.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    agree_on(database, target, "tpcc", &written, 1)
}

#[test]
fn what_a_database_cannot_do_is_refused_before_anything_is_built() {
    let target = Target::parse("sqlite::memory:").expect("a URL");
    let database = open(&target, 1, true).expect("it opens");
    let check = |written, expect: &str| match agreed(&database, &target, written) {
        Err(Trouble::Usage(why)) => assert!(why.contains(expect), "{why}"),
        other => panic!("{:?}", other.map(|opened| opened.data)),
    };
    check(&[("calls", "procedures")], "no routines");
    check(&[("partitions", "4")], "cannot split tables");
    assert_eq!(agreed(&database, &target, &[]).map(|opened| opened.data), Ok(Data::Absent));
}

#[test]
fn routines_are_made_once_and_dropped_with_the_data() {
    let target = POSTGRES_18.shared().target();
    let database = open(&target, 1, true).expect("it opens");
    let with_routines = || agreed(&database, &target, &[("calls", "procedures")]).expect("agreed");
    let plain = agreed(&database, &target, &[]).expect("agreed");
    assert_eq!(install_routines(&plain), Ok(0), "nobody calls any");
    assert_eq!(install_routines(&with_routines()), Ok(5));
    assert_eq!(install_routines(&with_routines()), Ok(5), "without data nobody knows");
    let built = build(&plain, BuildOptions { loaders: 2 }, &|| false, &mut |_| {});
    assert!(built.is_ok_and(|built| built.n_rows > 400_000));
    assert_eq!(install_routines(&with_routines()), Ok(5));
    assert_eq!(install_routines(&with_routines()), Ok(0), "they are there");
    let built = agreed(&database, &target, &[]).expect("agreed");
    assert_eq!(drop_data(&built, false).map(|dropped| dropped.len()), Ok(9));
    let again = agreed(&database, &target, &[]).map(|opened| opened.data);
    assert_eq!(again, Ok(Data::Absent));
}
