//! Tests of the lock that a process holds to run an experiment's trials.

use super::*;

fn status(store: &Store) -> Option<Status> {
    store.experiment_lock_row(&experiment()).expect("a store").map(|row| row.status)
}

fn store_of_one() -> (TempDir, Store) {
    let (folder, store) = new_store();
    store.add_experiment(&experiment()).expect("an experiment");
    (folder, store)
}

/// Starts a process that takes the lock of an experiment when it receives a letter.
fn walker(store: &Store) -> Child {
    let mut child = child_command("walk", store.path()).spawn().expect("a child");
    hear(&mut child, "ready");
    child
}

fn tell(child: &mut Child) {
    child.stdin.as_mut().expect("a pipe").write_all(b"!").expect("a listener");
}

#[test]
fn of_many_at_once_one_has_the_walk_and_the_others_are_reported_who() {
    let (_folder, store) = store_of_one();
    let mut children: Vec<Child> = (0..6).map(|_| walker(&store)).collect();
    children.iter_mut().for_each(tell);
    let said: Vec<String> = children.iter_mut().map(|child| hear(child, "walk: ")).collect();
    let has = |said: &String| said.contains("walk: taken");
    let winner = said.iter().position(has).expect("one has it");
    let pid = children[winner].id();
    for (nth, said) in said.iter().enumerate().filter(|(nth, _)| *nth != winner) {
        let shown =
            format!("walk: Taken, experiment 0198-exp is being run by process {pid} (since 20");
        assert!(said.contains(&shown), "{nth}: {said}");
    }
    assert_eq!(status(&store), Some(Status::Running));
    tell(&mut children[winner]);
    for mut child in children {
        assert!(child.wait().expect("it has ended").success());
    }
    assert_eq!(status(&store), Some(Status::Completed));
}

#[test]
fn a_walk_is_free_again_when_its_process_is_gone() {
    let (_folder, store) = store_of_one();
    let mut child = walker(&store);
    tell(&mut child);
    hear(&mut child, "walk: taken");
    let error = store.lock_experiment(&experiment()).expect_err("it is taken");
    assert_eq!(error.kind, StoreErrorKind::Taken);
    child.kill().expect("it lives");
    child.wait().expect("it has ended");
    assert_eq!(status(&store), Some(Status::Interrupted));
    let walk = store.lock_experiment(&experiment()).expect("nobody has it");
    assert_eq!(status(&store), Some(Status::Running));
    walk.end(Status::Failed).expect("there is room");
    assert_eq!(status(&store), Some(Status::Failed));
    drop(store.lock_experiment(&experiment()).expect("nobody has it"));
    assert_eq!(status(&store), Some(Status::Interrupted), "whoever drops it has not ended it");
}

#[test]
fn one_process_has_no_walk_twice() {
    let (_folder, store) = store_of_one();
    let walk = store.lock_experiment(&experiment()).expect("nobody has it");
    let again = Store::open_existing(store.path()).expect("a store");
    let error = again.lock_experiment(&experiment()).expect_err("it is taken");
    assert_eq!(error.kind, StoreErrorKind::Taken);
    assert!(store.has(&walk).expect("a store"));
}

#[test]
fn a_process_that_cannot_be_seen_has_its_walk_while_it_is_heard_of() {
    let (_folder, store) = store_of_one();
    let walk = store.lock_experiment(&experiment()).expect("nobody has it");
    let change = |what: &str, silent_ms: i64| {
        let sql = format!("UPDATE walk SET {what}, heartbeat_unix_ms = ?");
        raw(&store).execute(&sql, [unix_ms() - silent_ms]).expect("a walk");
        status(&store).expect("a walk")
    };
    for elsewhere in ["pid_namespace = 'pid:[1]'", "boot_id = 'another'", "boot_id = ''"] {
        assert_eq!(change(elsewhere, 20_000), Status::Running, "{elsewhere}");
        let error = store.lock_experiment(&experiment()).expect_err("it is taken");
        assert!(error.message.contains("of another machine or container"), "{error}");
        assert_eq!(change(elsewhere, 31_000), Status::Interrupted, "{elsewhere}");
        let us = Process::current();
        raw(&store)
            .execute(
                "UPDATE walk SET boot_id = ?, pid_namespace = ?",
                [us.boot_id, us.pid_namespace],
            )
            .expect("a walk");
    }
    // A process that is seen to be alive may be without heartbeats for any time.
    assert_eq!(change("status = 'running'", 1_000_000), Status::Running);
    assert_eq!(change("pid_start_time = pid_start_time + 1", 0), Status::Interrupted);
    let other = store.lock_experiment(&experiment()).expect("nobody has it");
    assert!(!store.has(&walk).expect("a store"), "it was lost");
    walk.end(Status::Completed).expect("there is room");
    assert_eq!(status(&store), Some(Status::Running), "what was lost ends nothing");
    assert!(store.has(&other).expect("a store"));
}

#[test]
fn an_experiment_under_way_is_not_removed() {
    let (_folder, store) = store_of_one();
    let walk = store.lock_experiment(&experiment()).expect("nobody has it");
    let error = store.remove_experiment(&experiment()).expect_err("it is under way");
    assert_eq!(error.kind, StoreErrorKind::UnderWay);
    walk.end(Status::Completed).expect("there is room");
    store.remove_experiment(&experiment()).expect("it has ended");
    let error = store.lock_experiment(&experiment()).expect_err("there is none");
    assert_eq!(error.kind, StoreErrorKind::UnknownRun);
}

#[test]
fn what_comes_from_another_store_is_not_under_way_here() {
    let (folder, store) = store_of_one();
    let mut begun = begun("0197-aaaa", 1_700_000_000_000);
    let Event::Begun { description, .. } = &mut begun else { panic!("a beginning") };
    let experiment = experiment();
    description.trial = Some(experiment.trial((0, 0)));
    write(&store, &begun, Vec::new()).expect("written");
    let walk = store.lock_experiment(&experiment).expect("nobody has it");
    let file = folder.path().join("one.dbdyno");
    let theirs = &[run_of(&begun)];
    store.export_to(&file, theirs).expect("room");
    let copy = Store::open_existing(&file).expect("a store");
    assert_eq!(status(&copy), Some(Status::Interrupted));
    assert_eq!(copy.trials(&experiment).expect("trials").len(), 1);
    drop(walk);
}
