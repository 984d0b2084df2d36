//! Tests of jobs and users' actions, as started from web pages.

use super::*;

fn store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(&folder.path().join("runs.sqlite")).expect("a store");
    (folder, store)
}

fn asked(name: &str) -> Job {
    Job {
        kind: JobKind::Run,
        name: name.to_owned(),
        target: "mariadb://bench@db/bench".to_owned(),
        words: vec!["run".to_owned(), "a\nb".to_owned()],
        plan: "seed = 1\n".to_owned(),
        who: "full 127.0.0.1".to_owned(),
    }
}

#[test]
fn a_job_is_kept_from_its_queue_to_its_end() {
    let (_folder, store) = store();
    let number = store.add_job(&asked("tpcc")).expect("it is kept");
    let row = || store.job(number).expect("it is read").expect("it is there");
    assert_eq!((row().job, row().status, row().process), (asked("tpcc"), JobStatus::Queued, None));
    let us = Process::current();
    store.begin_job(number, &us).expect("it is kept");
    assert_eq!((row().status, row().process), (JobStatus::Running, Some(us)));
    store.end_job(number, JobStatus::Failed, Some(2), "no such host").expect("it is kept");
    let ended = row();
    assert_eq!((ended.status, ended.exit_code), (JobStatus::Failed, Some(2)));
    assert_eq!(ended.output, "no such host");
    assert!(ended.ended_unix_ms >= ended.started_unix_ms);
    let later = store.add_job(&asked("record")).expect("it is kept");
    let numbers: Vec<i64> = store.jobs().expect("a list").iter().map(|row| row.number).collect();
    assert_eq!(numbers, [later, number]);
    assert_eq!(store.job(99).expect("it is read"), None);
}

#[test]
fn the_run_of_a_job_is_found_by_its_process() {
    let (_folder, store) = store();
    assert_eq!(store.run_of(&Process::current()).expect("it is read"), None);
    let begun = begun("01970000-0000-7000-8000-000000000001", unix_ms());
    write(&store, &begun, first_events()).expect("written");
    let run = run_of(&begun);
    assert_eq!(store.process_of(&run).expect("it is read"), Process::current());
    assert_eq!(store.run_of(&Process::current()).expect("it is read"), Some(run));
    assert_eq!(store.experiment_of(&Process::current()).expect("it is read"), None);
}

#[test]
fn the_last_actions_are_kept_newest_first() {
    let (_folder, store) = store();
    for what in ["signed in", "started job 1", "stopped job 1"] {
        store.note_action("full 127.0.0.1", what).expect("it is kept");
    }
    let last: Vec<String> =
        store.actions(2).expect("a list").into_iter().map(|action| action.what).collect();
    assert_eq!(last, ["stopped job 1", "started job 1"]);
}
