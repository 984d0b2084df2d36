//! Tests of run names, labels, digests and removal of runs.

use std::collections::BTreeMap;

use super::*;

#[test]
fn a_run_is_found_by_either_end_of_its_id() {
    let (_folder, store) = new_store();
    let none = store.find("last").expect_err("there is none");
    assert!(none.message.contains("no run yet"), "{none}");
    for (id, started) in [("01970a-1111", 1), ("01970a-2222", 3), ("01970b-2223", 2)] {
        write(&store, &begun(id, started), Vec::new()).expect("written");
    }
    let check = |name: &str, expect: Result<&str, &str>| match (store.find(name), expect) {
        (Ok(run), Ok(id)) => assert_eq!(run.0, id, "{name}"),
        (Err(error), Err(words)) => assert!(error.message.contains(words), "{name}: {error}"),
        (got, expect) => panic!("{name}: {got:?}, expected {expect:?}"),
    };
    check("last", Ok("01970a-2222"));
    check("01970a-2222", Ok("01970a-2222"));
    check("01970B", Ok("01970b-2223"));
    check("1111", Ok("01970a-1111"));
    check("01970a", Err("may be any of 2 runs (01970a-2222, 01970a-1111)"));
    check("0197%", Err("is called '0197%'"));
    check("019", Err("too short"));
    check("", Err("too short"));
    check("feed", Err("no run in"));
}

#[test]
fn a_run_is_found_by_a_name_that_no_other_has() {
    let (_folder, store) = new_store();
    write(&store, &begun("01970a-1111", 1), Vec::new()).expect("written");
    assert_eq!(store.find(" a plan ").expect("named so").0, "01970a-1111");
    assert!(store.find("A plan").is_err());
    write(&store, &begun("01970a-2222", 2), Vec::new()).expect("written");
    let error = store.find("a plan").expect_err("two are named so");
    let why = "2 runs are named 'a plan' (01970a-2222, 01970a-1111): give the end of an id";
    assert_eq!((error.kind, error.message.as_str()), (StoreErrorKind::AmbiguousRun, why));
}

#[test]
fn labels_are_kept_replaced_and_filtered_by() {
    let (_folder, store) = new_store();
    for (id, started, workload) in [("0197-a", 1, "tpcc"), ("0197-b", 2, "arm")] {
        write(&store, &begun_with(id, started, &[workload, "oltp"]), Vec::new()).expect("written");
    }
    let [a, b] = ["0197-a", "0197-b"].map(|id| RunId(id.to_owned()));
    store.label(&a, "host", "left").expect("a run");
    store.label(&a, "host", "right").expect("a run");
    store.label(&b, "host", "left").expect("a run");
    store.label(&b, "note", "it's").expect("a run");
    let host = |value: &str| ("host".to_owned(), value.to_owned());
    assert_eq!(store.labels(&a).expect("a run"), [host("right")]);
    let check = |filter: Filter, expect: &[&str]| {
        let rows = store.list(&filter).expect("a list");
        let ids: Vec<&str> = rows.iter().map(|row| row.run.0.as_str()).collect();
        assert_eq!(ids, expect, "{filter:?}");
    };
    let label = |key: &str, value: Option<&str>| {
        let label = Some((key.to_owned(), value.map(str::to_owned)));
        Filter { label, ..Filter::default() }
    };
    let workload = |name: &str| Filter { workload: Some(name.to_owned()), ..Filter::default() };
    check(Filter::default(), &["0197-b", "0197-a"]);
    check(Filter { limit: Some(1), ..Filter::default() }, &["0197-b"]);
    check(label("host", None), &["0197-b", "0197-a"]);
    check(label("host", Some("right")), &["0197-a"]);
    check(label("note", Some("it's")), &["0197-b"]);
    check(workload("tpcc"), &["0197-a"]);
    check(workload("oltp"), &["0197-b", "0197-a"]);
    check(workload("tpc"), &[]);
    check(Filter { status: Some(Status::Running), ..Filter::default() }, &[]);
    assert_eq!(store.unlabel(&b, "note"), Ok(true));
    assert_eq!(store.unlabel(&b, "note"), Ok(false));
    let error = store.label(&RunId("0197-c".to_owned()), "host", "x").expect_err("no run");
    assert_eq!(error.kind, StoreErrorKind::UnknownRun);
}

#[test]
fn removed_runs_leave_nothing_and_the_file_shrinks() {
    let (_folder, store) = new_store();
    let keep = begun("0197-keep", 1);
    write(&store, &keep, every_event()).expect("written");
    let size = || fs::metadata(store.path()).expect("a file").len();
    let before = size();
    let large = begun("0197-large", 2);
    let mut events = every_event();
    events.extend((0..100).map(|n| Event::Second(full_second(n))));
    events.extend((0..1000).map(|_| output(&"words ".repeat(200))));
    write(&store, &large, events).expect("written");
    store.label(&run_of(&large), "host", "left").expect("a run");
    let full = size();
    assert!(full > before + 1_000_000, "{before} {full}");

    let unknown = store.remove(&[run_of(&large), RunId("0197-none".to_owned())]);
    assert_eq!(unknown.expect_err("one is unknown").kind, StoreErrorKind::UnknownRun);
    assert_eq!(store.list(&Filter::default()).expect("a list").len(), 2);
    store.remove(&[run_of(&large)]).expect("removed");
    let after = size();
    assert!(after <= before + 64 * 1024, "{before} {full} {after}");
    for table in ["fact", "event", "second", "client", "finding", "label"] {
        let sql = format!("SELECT count(*) FROM {table} WHERE run <> 1");
        let n: i64 = raw(&store).query_row(&sql, (), |row| row.get(0)).expect("a table");
        assert_eq!(n, 0, "{table}");
    }
    assert_eq!(replay(&store, &run_of(&keep))[1..], every_event());
}

#[test]
fn digests_are_kept_with_their_runs_and_not_while_a_run_is_measured() {
    let (_folder, store) = new_store();
    for (id, started) in [("0197-a", 1), ("0197-b", 2)] {
        write(&store, &begun(id, started), Vec::new()).expect("written");
    }
    let digest = |setup| Digest { setup, body: format!("body {setup}") };
    let [a, b] = ["0197-a", "0197-b"].map(|id| RunId(id.to_owned()));
    let all = BTreeMap::from([(a.clone(), digest(u64::MAX)), (b.clone(), digest(7))]);
    let known = |version: u32| {
        let mut known = BTreeMap::new();
        let mut put = |run, digest| drop(known.insert(run, digest));
        store.digests(version, &mut put).expect("read");
        known
    };
    assert!(store.put_digests(3, &all).expect("written"));
    assert_eq!(known(3), all);
    assert_eq!(known(4), BTreeMap::new(), "another dbdyno made them");
    // Another report has another digest.
    raw(&store).execute("UPDATE run SET report = '{' WHERE id = ?", [&a.0]).expect("changed");
    assert_eq!(known(3), BTreeMap::from([(b.clone(), digest(7))]));
    store.remove(&[b]).expect("removed");
    assert_eq!(known(3), BTreeMap::new());
    let writer = store.writer_with(&begun("0197-c", 3), at_the_end()).expect("a run");
    assert!(!store.put_digests(3, &BTreeMap::from([(a, digest(1))])).expect("a store"));
    drop(writer);
}
