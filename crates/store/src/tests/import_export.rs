//! Tests of export and import of runs.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;

use analysis::{Report, Tally};
use model::Trial;

use super::*;

const CHECK: crate::RunCheck = |store, run| {
    store.events(run, &mut |_| ())?;
    let json = store.report_json(run)?;
    Ok(json.and_then(|json| Report::check_json(&json).err()))
};

/// Function that checks received runs as [`CHECK`] does, and that no other user can read the copy
/// that is checked, nor its log.
const CHECK_PRIVATE: crate::RunCheck = |store, run| {
    let folder = fs::read_dir(store.path().parent().expect("a folder")).expect("a folder");
    for file in folder.map(|file| file.expect("a file")) {
        let mode = file.metadata().expect("a file").permissions().mode();
        let name = file.file_name();
        assert!(!name.to_string_lossy().contains(".new") || mode & 0o077 == 0, "{name:?} {mode:o}");
    }
    CHECK(store, run)
};

/// Makes a store with two runs, of which one is a trial and has a label.
fn full_store() -> (TempDir, Store, [RunId; 2]) {
    let (folder, store) = new_store();
    store.add_experiment(&experiment()).expect("an experiment");
    let mut trial = begun("0197-aaaa", 1_700_000_000_000);
    let Event::Begun { description, .. } = &mut trial else { panic!("a beginning") };
    let values = vec![("clients".to_owned(), "8".to_owned())];
    let (point, repeat) = (0, 2);
    description.trial = Some(Trial { experiment: "0198-exp".to_owned(), point, repeat, values });
    write_with_report(&store, &trial, every_event());
    let other = begun("0197-bbbb", 1_700_000_100_000);
    write_with_report(&store, &other, vec![Event::Second(second_of(0, 100))]);
    let runs = [run_of(&trial), run_of(&other)];
    store.label(&runs[0], "build", "1.2").expect("a label");
    (folder, store, runs)
}

/// Writes a run as [`write`] does, but with a readable report, made from the first event.
fn write_with_report(store: &Store, begun: &Event, events: Vec<Event>) {
    let mut tally = Tally::new();
    tally.add(begun);
    let writer = store.writer_with(begun, at_the_end()).expect("a writer");
    events.into_iter().for_each(|event| writer.send(event));
    let json = serde_json::to_string(&Report::from_tally(&tally)).expect("a report is JSON");
    let summary = Summary { tps: Some(17.5), ..Summary::default() };
    writer.finish(Some(json), Status::Completed, summary).expect("written");
}

fn message(result: Result<Imported, StoreError>) -> String {
    result.expect_err("it is refused").message
}

#[test]
fn what_comes_in_is_what_went_out() {
    let (folder, store, runs) = full_store();
    let file = folder.path().join("two.dbdyno");
    store.export_to(&file, &runs).expect("room");
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode(&file), 0o600, "runs are private");
    for end in ["-wal", "-shm", "-journal"] {
        let beside = folder.path().join(format!("two.dbdyno{end}"));
        assert!(!beside.exists(), "one file is enough: {}", beside.display());
    }
    let (other_folder, other) = new_store();
    let imported = other.import(&file, CHECK_PRIVATE).expect("a file of ours");
    assert_eq!((&imported.new[..], imported.known.len()), (&runs[..], 0));
    for run in &runs {
        assert_eq!(replay(&other, run), replay(&store, run));
        assert_eq!(other.report_json(run).expect("a run"), store.report_json(run).expect("a run"));
        assert_eq!(other.plan(run).expect("a run"), store.plan(run).expect("a run"));
    }
    let all = Filter::default();
    assert_eq!(other.list(&all).expect("a list"), store.list(&all).expect("a list"));
    let trials = |store: &Store| store.trials(&experiment()).expect("trials");
    assert_eq!(trials(&other), trials(&store));
    assert_eq!(
        other.experiments(&ExperimentFilter::default()).expect("experiments"),
        [experiment()]
    );
    let left = fs::read_dir(other_folder.path().join("down")).expect("a folder");
    let left: Vec<String> =
        left.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned()).collect();
    assert!(left.iter().all(|name| !name.contains("import")), "{left:?}");
}

#[test]
fn a_run_comes_in_once_and_an_export_has_just_the_runs_that_were_asked_for() {
    let (folder, store, runs) = full_store();
    let file = folder.path().join("one.dbdyno");
    store.export_to(&file, &runs[1..]).expect("room");
    let (_folder, other) = new_store();
    assert_eq!(other.import(&file, CHECK).expect("a file of ours").new, runs[1..]);
    assert!(other.experiments(&ExperimentFilter::default()).expect("experiments").is_empty());
    other.label(&runs[1], "mine", "yes").expect("a label");
    // A whole store is imported the same way, even while it is open.
    let imported = other.import(store.path(), CHECK).expect("a store");
    assert_eq!((&imported.new[..], &imported.known[..]), (&runs[..1], &runs[1..]));
    assert_eq!(other.labels(&runs[1]).expect("a run"), [("mine".to_owned(), "yes".to_owned())]);
    assert_eq!(other.trials(&experiment()).expect("trials").len(), 1);
}

#[test]
fn decisions_on_histories_come_with_runs_that_are_known_too() {
    let (_folder, store, runs) = full_store();
    store.label(&runs[1], "build", "1.2").expect("a label");
    let (_other_folder, other) = new_store();
    let first = other.import(store.path(), CHECK_PRIVATE).expect("a store");
    assert_eq!((first.new.len(), first.acknowledged, first.baselines), (runs.len(), 0, 0));
    let change = model::Acknowledged {
        build: "1.2".to_owned(),
        point: String::new(),
        reason: "checksums are on".to_owned(),
        size: None,
    };
    store.acknowledge("build", &change).expect("room");
    store.pin_baseline("build", Some("1.2")).expect("room");
    let second = other.import(store.path(), CHECK_PRIVATE).expect("a store");
    assert_eq!((second.new.len(), second.acknowledged, second.baselines), (0, 1, 1));
    assert_eq!(other.acknowledged("build").expect("it is read"), [change]);
    assert_eq!(other.baseline("build").expect("it is read"), Some("1.2".to_owned()));
    // Its own decisions stay.
    let third = other.import(store.path(), CHECK_PRIVATE).expect("a store");
    assert_eq!((third.acknowledged, third.baselines), (0, 0));
}

#[test]
fn a_run_under_way_neither_leaves_nor_comes_and_one_of_a_dead_process_comes_in_as_interrupted() {
    let (folder, store, _) = full_store();
    let begun = begun("0197-cccc", 1);
    let writer = store.writer_with(&begun, quick()).expect("a writer");
    let file = folder.path().join("x.dbdyno");
    let run = run_of(&begun);
    let error = store.export_to(&file, std::slice::from_ref(&run)).expect_err("it runs");
    assert_eq!(error.kind, StoreErrorKind::UnderWay);
    assert!(error.message.contains("is still running"), "{error}");
    assert!(!file.exists());
    let (_folder, other) = new_store();
    let error = other.import(store.path(), CHECK).expect_err("it runs");
    let (kind, path) = (error.kind, store.path().display().to_string());
    assert_eq!(kind, StoreErrorKind::UnderWay);
    let is_reported = |word: &str| error.message.contains(word);
    assert!(is_reported("is still running: wait for its end") && is_reported(&path), "{error}");
    assert!(other.list(&Filter::default()).expect("a list").is_empty());
    drop(writer);
    // As if it was on another machine, and silent for a minute.
    let silent = "UPDATE run SET heartbeat_unix_ms = heartbeat_unix_ms - 60000, boot_id = ''
                  WHERE status = 'running'";
    raw(&store).execute(silent, ()).expect("a store");
    other.import(store.path(), CHECK).expect("a store");
    let filter = Filter { run: Some(run), ..Filter::default() };
    assert_eq!(other.list(&filter).expect("a list")[0].status, Status::Interrupted);
}

#[test]
fn the_restore_journal_stays_at_home() {
    let (folder, store, runs) = full_store();
    let sql = "INSERT INTO changed_setting VALUES ('db', 'x', '', '', 1, 1, '{}')";
    raw(&store).execute(sql, ()).expect("a row");
    let file = folder.path().join("x.dbdyno");
    store.export_to(&file, &runs).expect("room");
    let (_folder, other) = new_store();
    other.import(&file, CHECK).expect("a file of ours");
    other.import(store.path(), CHECK).expect("a store");
    for path in [file.as_path(), other.path()] {
        let connection = Connection::open(path).expect("a store");
        let count = "SELECT count(*) FROM changed_setting";
        let n: i64 = connection.query_row(count, (), |row| row.get(0)).expect("a count");
        assert_eq!(n, 0, "{}", path.display());
    }
}

#[test]
fn an_export_overwrites_nothing_and_an_unknown_run_leaves_no_file() {
    let (folder, store, runs) = full_store();
    let error = store.export_to(store.path(), &runs).expect_err("it is there");
    assert!(error.message.contains("exists already"), "{error}");
    let file = folder.path().join("x.dbdyno");
    let unknown = [RunId("0000-none".to_owned())];
    let error = store.export_to(&file, &unknown).expect_err("there is none");
    assert!(error.message.contains("no run 0000-none") && !file.exists(), "{error}");
    assert!(message(store.import(store.path(), CHECK)).contains("is this store itself"));
    assert!(message(store.import(&file, CHECK)).contains("there is no file"));
    assert!(message(store.import(folder.path(), CHECK)).contains("is a folder: name a file in it"));
}

#[test]
fn what_is_not_ours_newer_or_damaged_is_refused_and_nothing_of_it_is_taken() {
    let (folder, store, _) = full_store();
    let (_folder, other) = new_store();
    let file = folder.path().join("x.dbdyno");
    let check = |damage: &dyn Fn(&Path), expect: &str| {
        copy_store(&store, &file);
        damage(&file);
        let error = message(other.import(&file, CHECK));
        assert!(error.contains(expect) && error.contains("x.dbdyno"), "{error}");
        assert!(!error.contains("import"), "{error}");
        // The advice is for a received file.
        let is_sent_again = error.contains("have it sent again, or exported again");
        assert!(!error.contains("is damaged") || is_sent_again, "{error}");
        assert!(other.list(&Filter::default()).expect("a list").is_empty());
    };
    let sql = |sql: &'static str| {
        move |path: &Path| {
            let connection = Connection::open(path).expect("a file");
            connection.execute_batch(sql).expect(sql);
        }
    };
    check(&|path| fs::write(path, "hello").expect("a file"), "not a store of dbdyno");
    check(&|path| fs::write(path, "").expect("a file"), "is empty");
    check(&sql("PRAGMA application_id = 1"), "not a store of dbdyno");
    check(&sql("PRAGMA user_version = 99"), "has version 99");
    check(&sql("CREATE TABLE guest (x)"), "its tables are not those of a store");
    let view = "ALTER TABLE run RENAME TO of_run; CREATE VIEW run AS SELECT * FROM of_run";
    check(&sql(view), "its tables are not those of a store");
    let trigger = "CREATE TRIGGER guest AFTER INSERT ON run BEGIN DELETE FROM run; END";
    check(&sql(trigger), "its tables are not those of a store");
    check(&sql("UPDATE run SET id = 'a' || char(27) || '[2J' WHERE number = 1"), "an invalid id");
    check(&sql("UPDATE run SET report = '{}'"), "is damaged");
    check(&sql("UPDATE run SET description = '{}'"), "is damaged");
    check(&sql("UPDATE run SET status = 'flying'"), "the status 'flying'");
    check(&sql("UPDATE second SET body = x'00'"), "is damaged");
    check(&sql("UPDATE experiment SET body = '[]'"), "is damaged");
    let half = |path: &Path| {
        let bytes = fs::read(path).expect("a file");
        fs::write(path, &bytes[..bytes.len() / 2]).expect("a file");
    };
    check(&half, "x.dbdyno");
}

#[test]
fn a_file_of_which_any_bit_is_another_is_refused() {
    let (folder, store, runs) = full_store();
    let (_folder, other) = new_store();
    let file = folder.path().join("x.dbdyno");
    store.export_to(&file, &runs).expect("room");
    let whole = fs::read(&file).expect("a file");
    let check = |bytes: &[u8], what: &str| {
        fs::write(&file, bytes).expect("a file");
        let imported = other.import(&file, CHECK);
        let error = imported.expect_err(what).message;
        assert!(error.contains("x.dbdyno"), "{what}: {error}");
        Store::open_existing(&file).map(drop).expect_err(what);
    };
    // One flipped bit at every position of the header and of the checksum, and at a hundred in
    // between.
    let header = (0..100 * 8).step_by(3);
    let checksum = ((whole.len() - 79) * 8..whole.len() * 8).step_by(9);
    let between = (0..whole.len() * 8).step_by(whole.len() * 8 / 100 + 1);
    for bit in header.chain(checksum).chain(between) {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        check(&bytes, &format!("bit {bit}"));
    }
    for length in [15, 512, 4_096, whole.len() / 2, whole.len() - 79, whole.len() - 1] {
        check(&whole[..length], &format!("{length} bytes"));
    }
    check(&[&whole[..], b"\n"].concat(), "a byte more");
    assert!(other.list(&Filter::default()).expect("a list").is_empty());
    fs::write(&file, &whole).expect("a file");
    assert_eq!(other.import(&file, CHECK).expect("it is whole").new, runs);
}

#[test]
fn a_file_between_stores_becomes_a_store_when_it_is_opened_as_one() {
    let (folder, store, runs) = full_store();
    let file = folder.path().join("x.dbdyno");
    store.export_to(&file, &runs).expect("room");
    let opened = Store::open_existing(&file).expect("a store");
    opened.label(&runs[0], "seen", "yes").expect("a label");
    write_with_report(&opened, &begun("0197-dddd", 1), every_event());
    let (_folder, other) = new_store();
    assert_eq!(other.import(&file, CHECK).expect("a store").new.len(), 3);
    assert_eq!(other.labels(&runs[0]).expect("a run").len(), 2);
}

#[test]
fn a_file_without_a_seal_is_refused_with_what_to_do() {
    let (folder, store, _) = full_store();
    let file = folder.path().join("old.dbdyno");
    copy_store(&store, &file);
    let old = Connection::open(&file).expect("a file");
    old.query_row("PRAGMA journal_mode=DELETE", (), |_| Ok(())).expect("alone");
    drop(old);
    let (_folder, other) = new_store();
    let error = message(other.import(&file, CHECK));
    assert!(error.contains("old.dbdyno has no checksum") && error.contains("again"), "{error}");
}

/// Copies the whole file of a store, which, unlike an export, has no checksum.
fn copy_store(store: &Store, to: &Path) {
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{end}", to.display()));
    }
    raw(store).execute("VACUUM INTO ?", [to.to_str()]).expect("room");
    let copy = Connection::open(to).expect("a file");
    copy.query_row("PRAGMA journal_mode=WAL", (), |_| Ok(())).expect("a store");
}

#[test]
fn a_store_of_the_first_version_is_imported() {
    let (folder, store) = new_store();
    let begun = begun("0197-aaaa", 1);
    write_with_report(&store, &begun, first_events());
    let file = folder.path().join("old.dbdyno");
    copy_store(&store, &file);
    let old = Connection::open(&file).expect("a file");
    let first = ["run", "fact", "event", "second", "client", "finding", "label"];
    let later = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'
                 ORDER BY rootpage DESC";
    let mut select = old.prepare(later).expect("a store");
    let names = select.query_map((), |row| row.get::<_, String>(0)).expect("tables");
    let names: Vec<String> = names.collect::<Result<_, _>>().expect("names");
    drop(select);
    for name in names.iter().filter(|name| !first.contains(&name.as_str())) {
        old.execute_batch(&format!("DROP TABLE {name}")).expect("a store");
    }
    for column in ["primary_name", "primary_title", "primary_value"] {
        old.execute_batch(&format!("ALTER TABLE run DROP COLUMN {column}")).expect("a store");
    }
    old.execute_batch("UPDATE run SET nopm = 54000; DROP INDEX run_by_process").expect("a store");
    old.execute_batch("PRAGMA user_version = 1").expect("a store");
    drop(old);
    let (_folder, other) = new_store();
    other.import(&file, CHECK).expect("an old file of ours");
    assert_eq!(replay(&other, &run_of(&begun)), replay(&store, &run_of(&begun)));
    // The figure in the old column is read under its name.
    let value = 54_000.0;
    let primary = PrimaryFigure { name: "nopm".to_owned(), title: "NOPM".to_owned(), value };
    assert_eq!(only(&other).primary, Some(primary));
    let old = Connection::open(&file).expect("a file");
    let version: u32 = old.pragma_query_value(None, "user_version", |row| row.get(0)).expect("one");
    assert_eq!(version, 1, "the file itself is left as it was");
}

#[test]
fn seconds_are_handed_out_in_the_order_of_time_each_once() {
    let (_folder, store) = new_store();
    let begun = begun("0197-aaaa", 1);
    let mut of_group_1 = second_of(1, 5);
    of_group_1.group = 1;
    let parts = [second_of(2, 10), second_of(1, 20), of_group_1.clone(), second_of(2, 30)];
    write(&store, &begun, parts.iter().cloned().map(Event::Second).collect()).expect("written");
    let mut seconds = Vec::new();
    store.seconds(&run_of(&begun), &mut |second| seconds.push(second)).expect("a run");
    let mut sum = second_of(2, 10);
    sum.add(&second_of(2, 30));
    assert_eq!(seconds, [second_of(1, 20), of_group_1, sum]);
}

/// Checks that an interrupted export leaves no file: the kernel kills the process when it writes
/// beyond a limit, in the middle of the export.
#[test]
fn a_process_that_is_killed_during_an_export_leaves_nothing_under_the_files_name() {
    let (folder, store) = new_store();
    let seconds = (0..400).map(|n| Event::Second(full_second(n))).collect();
    let begun = begun("0197-aaaa", 1);
    write(&store, &begun, seconds).expect("written");
    let command = child_command("export", store.path());
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -c 0; ulimit -f 128; exec \"$0\" \"$@\""]);
    limited.arg(command.get_program()).args(command.get_args());
    limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let killed = limited.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("a shell");
    let size_exceeded = rustix::process::Signal::XFSZ.as_raw();
    assert_eq!(killed.signal(), Some(size_exceeded), "{killed}");
    let file = exported_beside(store.path());
    let left = || {
        let all = fs::read_dir(file.parent().expect("a folder")).expect("a folder");
        let names =
            all.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned());
        names.filter(|name| name.contains("sent.dbdyno-")).collect::<Vec<_>>()
    };
    assert!(!file.exists() && !left().is_empty(), "{:?}", left());
    // The next export takes the name, and removes what was left.
    store.export_to(&file, &[run_of(&begun)]).expect("room");
    assert_eq!(left(), [""; 0]);
    drop(folder);
}
