//! Tests of concurrent readers and writers of a store, and of killed ones.

use super::*;

#[test]
fn a_killed_process_leaves_all_that_was_committed() {
    let (_folder, store) = new_store();
    let mut child = child_command("hang", store.path()).spawn().expect("a child");
    hear(&mut child, "written");
    assert_eq!(only(&store).status, Status::Running);
    let error = store.remove(&[only(&store).run]).expect_err("it runs");
    assert_eq!(error.kind, StoreErrorKind::UnderWay);
    child.kill().expect("it lives");
    until("it shows as interrupted", || only(&store).status == Status::Interrupted);
    child.wait().expect("it has ended");

    let again = Store::open_existing(store.path()).expect("a store");
    let row = only(&again);
    assert_eq!((row.status, row.ended_unix_ms), (Status::Interrupted, None));
    assert_eq!(again.report_json(&row.run).expect("a run"), None);
    let events = replay(&again, &row.run);
    let seconds = seconds(&events);
    assert!((100..=102).contains(&seconds.len()), "{}", seconds.len());
    for (n, second) in seconds.into_iter().enumerate() {
        assert_eq!(second, &full_second(n as i64));
    }
    let sound = "PRAGMA integrity_check";
    let sound: String = raw(&again).query_row(sound, (), |row| row.get(0)).expect("a check");
    assert_eq!(sound, "ok");
}

#[test]
fn two_processes_write_two_runs_at_once_and_a_third_reads() {
    let (_folder, store) = new_store();
    let ids = ["0197-one", "0197-two"];
    let spawn = |id: &&str| child_command(id, store.path()).spawn().expect("a child");
    let mut children: Vec<Child> = ids.iter().map(spawn).collect();
    children.iter_mut().for_each(|child| drop(hear(child, "begun")));
    for child in &mut children {
        child.stdin.as_mut().expect("a pipe").write_all(b"!").expect("a listener");
    }
    until("both have finished", || {
        let rows = store.list(&Filter::default()).expect("a reader is never shut out");
        rows.iter().filter(|row| row.status == Status::Completed).count() == 2
    });
    for mut child in children {
        hear(&mut child, "finished");
        assert!(child.wait().expect("it has ended").success());
    }
    for id in ids {
        let events = replay(&store, &RunId(id.to_owned()));
        let expected: Vec<Second> = (0..200).map(|n| second_of(n, 100)).collect();
        assert!(seconds(&events).into_iter().eq(expected.iter()), "{id}");
    }
}

#[test]
fn two_processes_make_one_store() {
    let folder = tempfile::tempdir().expect("a folder");
    for round in 0..20 {
        let path = folder.path().join(format!("{round}/runs.sqlite"));
        let spawn = |_| child_command("open", &path).spawn().expect("a child");
        let children: Vec<Child> = (0..4).map(spawn).collect();
        for mut child in children {
            let heard = hear(&mut child, "opened: ");
            assert!(heard.contains("opened: well"), "{heard}");
            child.wait().expect("it has ended");
        }
    }
}

/// Checks that opening a store again keeps the writer's locks. Closing any descriptor of a file
/// drops all locks that the process holds on it: another process that takes itself for the last
/// could then remove the writer's WAL.
#[cfg(target_os = "linux")]
#[test]
fn opening_a_store_again_takes_no_locks_from_its_writer() {
    use std::os::unix::fs::MetadataExt;
    let (_folder, store) = new_store();
    let writer = store.writer_with(&begun("0197-aaaa", 1), at_the_end()).expect("a writer");
    let inode = format!(":{} ", fs::metadata(store.path()).expect("a file").ino());
    let locks = || {
        let all = fs::read_to_string("/proc/locks").expect("Linux has it");
        all.lines().filter(|lock| lock.contains(&inode)).count()
    };
    assert!(locks() > 0, "a writer holds a lock");
    drop(Store::open(store.path()).expect("a store"));
    assert!(locks() > 0, "a writer has lost its lock");
    drop(writer);
}

#[test]
fn a_writer_that_is_not_heard_of_is_interrupted() {
    let (_folder, store) = new_store();
    let writer = store.writer_with(&begun("0197-aaaa", 1), at_the_end()).expect("a writer");
    assert_eq!(only(&store).status, Status::Running);
    let age = |ms: i64| {
        let sql = "UPDATE run SET heartbeat_unix_ms = ?";
        raw(&store).execute(sql, [unix_ms() - ms]).expect("a run");
    };
    age(20_000);
    assert_eq!(only(&store).status, Status::Running);
    age(31_000);
    assert_eq!(only(&store).status, Status::Interrupted);
    age(0);
    raw(&store).execute("UPDATE run SET boot_id = 'another'", ()).expect("a run");
    assert_eq!(only(&store).status, Status::Interrupted);
    drop(writer);
}

#[test]
fn a_writer_that_is_dropped_writes_what_it_has() {
    let (_folder, store) = new_store();
    let begun = begun("0197-aaaa", 1);
    let writer = store.writer_with(&begun, at_the_end()).expect("a writer");
    writer.send(Event::Second(full_second(1)));
    drop(writer);
    assert_eq!(replay(&store, &run_of(&begun)).len(), 2);
    assert_eq!(only(&store).ended_unix_ms, None);
}
