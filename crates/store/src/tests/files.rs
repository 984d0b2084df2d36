//! Tests of store files that are missing, foreign, or damaged.

use super::*;

fn refused(path: &Path) -> StoreError {
    let error = Store::open(path).expect_err("no store");
    assert!(error.message.contains(&path.display().to_string()), "{error}");
    assert_eq!(Store::open_existing(path).expect_err("no store").kind, error.kind);
    error
}

#[test]
fn a_new_store_is_its_users_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs.sqlite");
    drop(Store::open(&path).expect("a store"));
    let mode = fs::metadata(&path).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_is_no_store_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    assert_eq!(refused(folder.path()).kind, StoreErrorKind::NotAStore);

    let words = "not a database at all\n".repeat(100);
    fs::write(at("words"), &words).expect("a file");
    assert_eq!(refused(&at("words")).kind, StoreErrorKind::NotAStore);
    assert_eq!(fs::read_to_string(at("words")).expect("a file"), words);

    let foreign = Connection::open(at("a ?#% b.db")).expect("a database");
    foreign.execute_batch("PRAGMA journal_mode=WAL; CREATE TABLE mine (x)").expect("a table");
    drop(foreign);
    let before = fs::read(at("a ?#% b.db")).expect("a file");
    let error = refused(&at("a ?#% b.db"));
    assert_eq!(error.kind, StoreErrorKind::NotAStore);
    assert!(error.message.contains("not a store of dbdyno"), "{error}");
    assert_eq!(fs::read(at("a ?#% b.db")).expect("a file"), before);

    let missing = Store::open_existing(&at("none")).expect_err("no store");
    assert_eq!(missing.kind, StoreErrorKind::Missing);
    assert!(!at("none").exists());
    fs::write(at("empty"), "").expect("a file");
    Store::open(&at("empty")).expect("an empty file becomes a store");
    Store::open_existing(&at("empty")).expect("and is one");
}

#[test]
fn a_store_of_a_newer_version_is_refused() {
    let (_folder, store) = new_store();
    let connection = raw(&store);
    connection.pragma_update(None, "user_version", 99).expect("a version");
    let error = refused(store.path());
    assert_eq!(error.kind, StoreErrorKind::Newer { found: 99, known: schema::VERSION });
    assert!(error.message.contains("use a newer dbdyno"), "{error}");
    connection.pragma_update(None, "user_version", -5).expect("a version");
    let error = refused(store.path());
    assert_eq!(error.kind, StoreErrorKind::Corrupt);
    let words = "has version -5, which no dbdyno writes: restore it from a copy";
    assert!(error.message.contains(words), "{error}");
}

#[test]
fn an_event_of_a_newer_version_is_reported_and_not_passed_over() {
    let (_folder, store) = new_store();
    let begun = begun("0197-aaaa", 1);
    write(&store, &begun, every_event()).expect("written");
    raw(&store).execute("UPDATE event SET kind = 'moved' WHERE seq = 4", ()).expect("an event");
    let error = store.events(&run_of(&begun), &mut |_| ()).expect_err("it is unknown");
    assert!(matches!(error.kind, StoreErrorKind::Newer { .. }), "{error}");
    assert!(error.message.contains("'moved'"), "{error}");
}

#[test]
fn a_damaged_store_is_called_damaged() {
    let (_folder, store) = new_store();
    let begun = begun("0197-aaaa", 1);
    let events = (0..500).map(|n| Event::Second(full_second(n))).collect();
    write(&store, &begun, events).expect("written");
    let path = store.path().to_owned();
    drop(store);
    let whole = fs::read(&path).expect("a file");

    let mut damaged = whole.clone();
    let middle = whole.len() / 2;
    damaged[middle..].fill(0xa5);
    fs::write(&path, &damaged).expect("a file");
    let store = Store::open(&path).expect("its beginning is whole");
    let error = store.events(&run_of(&begun), &mut |_| ()).expect_err("it is damaged");
    assert_eq!(error.kind, StoreErrorKind::Corrupt, "{error}");
    drop(store);

    let mut damaged = whole.clone();
    damaged[100..4096].fill(0xa5);
    fs::write(&path, &damaged).expect("a file");
    assert_eq!(refused(&path).kind, StoreErrorKind::Corrupt);

    fs::write(&path, &whole[..middle]).expect("a file");
    let cut = Store::open(&path).and_then(|store| store.events(&run_of(&begun), &mut |_| ()));
    assert_eq!(cut.expect_err("it is cut off").kind, StoreErrorKind::Corrupt);
}

/// Returns the output of a child process that performs a task at a path. Root may write anywhere,
/// so the child runs as the user nobody; `None` if that user may not run this test program.
#[cfg(unix)]
fn as_nobody(task: &str, path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::process::CommandExt;
    let mut command = child_command(task, path);
    if fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0) {
        command.uid(65_534).gid(65_534);
    }
    let Ok(mut child) = command.spawn() else {
        println!("SKIPPED: nobody may run this binary where it lies");
        return None;
    };
    let heard = hear(&mut child, "opened: ");
    child.wait().expect("it has ended");
    Some(heard)
}

#[cfg(unix)]
fn mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("our own folder");
}

#[cfg(unix)]
#[test]
fn a_folder_that_may_only_be_read_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs.sqlite");
    drop(Store::open(&path).expect("a store"));
    mode(&path, 0o444);
    mode(folder.path(), 0o555);
    for path in [path, folder.path().join("new.sqlite"), folder.path().join("deep/new.sqlite")] {
        let Some(heard) = as_nobody("open", &path) else { break };
        assert!(heard.contains("opened: ReadOnly"), "{}: {heard}", path.display());
    }
    mode(folder.path(), 0o755);
}

#[cfg(unix)]
#[test]
fn a_store_that_may_only_be_read_is_read_and_not_written_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(&folder.path().join("runs.sqlite")).expect("a store");
    write(&store, &begun("0197-aaaa", 1), every_event()).expect("written");
    let n_events = every_event().len() + 1;
    let path = store.path().to_owned();
    let said = |what: &str, runs: u32| {
        mode(&path, 0o444);
        mode(folder.path(), 0o555);
        let heard = as_nobody("read", &path);
        mode(folder.path(), 0o755);
        mode(&path, 0o644);
        let all = format!("opened: {runs} runs, {n_events} events, Err(ReadOnly) Ok(())");
        assert!(heard.as_ref().is_none_or(|heard| heard.contains(&all)), "{what}: {heard:?}");
    };
    // Data in the WAL of another process are visible.
    said("open elsewhere", 1);
    write(&store, &begun("0197-bbbb", 2), every_event()).expect("written");
    said("written since", 2);
    let (log, index) =
        (folder.path().join("runs.sqlite-wal"), folder.path().join("runs.sqlite-shm"));
    store.label(&model::RunId("0197-bbbb".to_owned()), "build", "2").expect("a label");
    let kept = fs::read(&log).expect("a log");
    assert!(!kept.is_empty());
    drop(store);
    said("closed", 2);
    // A WAL without its index may contain more.
    assert!(!log.exists() && !index.exists());
    fs::write(&log, kept).expect("a log");
    mode(folder.path(), 0o555);
    let heard = as_nobody("read", &path);
    mode(folder.path(), 0o755);
    let is_reported = |heard: &String| heard.contains("opened: ReadOnly, the log ");
    assert!(heard.as_ref().is_none_or(is_reported), "{heard:?}");
}
