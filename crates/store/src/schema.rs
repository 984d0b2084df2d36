//! Schema of a store file, and how a file is opened and migrated. Not here: reading and writing
//! runs.
//!
//! Every event has a `seq`, its position in the run's stream; a gap is a lost event. Migrations
//! only add; what version 1 wrote remains readable.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::Duration;

use files::Unfinished;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::checksum;
use super::error::{StoreError, StoreErrorKind};
use super::query::VERSIONS;

/// Application id of a store, "dbdy", at offset 68 of the file, by which SQLite and the command
/// `file` recognize it.
pub(super) const APPLICATION_ID: i32 = 0x6462_6479;

/// Application id of an exported file with a checksum, "dbde". The file becomes a store when it is
/// opened as one. The ids of a store and of an export differ in three bits, so that no single
/// flipped bit turns one into the other.
pub(super) const FILE_ID: i32 = 0x6462_6465;

/// Longest wait for a lock of another process, after which an access to the store fails. It is far
/// longer than any transaction of dbdyno, and short enough for a user.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum size of the WAL after a checkpoint, in bytes.
const WAL_KEPT_BYTES: i64 = 1 << 20;

/// SQL that converts a store from each format version to the next; the first creates the tables.
const MIGRATIONS: [&str; 12] = [
    VERSION_1, VERSION_2, VERSION_3, VERSION_4, VERSION_5, VERSION_6, VERSION_7, VERSION_8,
    VERSION_9, VERSION_10, VERSION_11, VERSION_12,
];

/// SQL of format version 1: tables of runs and their events. `number` identifies the run in all
/// other tables, and is never reused. Small columns come first, so that a list reads no overflow
/// pages.
const VERSION_1: &str = r#"
CREATE TABLE run (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    started_unix_ms INTEGER NOT NULL,
    ended_unix_ms INTEGER,
    heartbeat_unix_ms INTEGER NOT NULL,
    status TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    pid_namespace TEXT NOT NULL,
    pid INTEGER NOT NULL,
    pid_start_time INTEGER NOT NULL,
    name TEXT NOT NULL,
    workload TEXT NOT NULL,
    target TEXT NOT NULL,
    "database" TEXT NOT NULL,
    clients INTEGER NOT NULL,
    tps REAL,
    nopm REAL,
    p99_ns INTEGER,
    measured_ns INTEGER,
    worst_finding TEXT,
    events_lost INTEGER NOT NULL DEFAULT 0,
    dbdyno TEXT NOT NULL,
    plan TEXT NOT NULL,
    description TEXT NOT NULL,
    report TEXT
) STRICT;
CREATE INDEX run_by_start ON run (started_unix_ms);
CREATE TABLE fact (
    run INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    about TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE event (
    run INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE second (
    run INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    "group" INTEGER NOT NULL,
    second INTEGER NOT NULL,
    format INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE client (
    run INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    "group" INTEGER NOT NULL,
    format INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE finding (
    run INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    severity TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE label (
    run INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;
"#;

/// SQL of format version 2: tables of experiments and trials. A trial is bound to its experiment in
/// the transaction that starts its run.
const VERSION_2: &str = r#"
CREATE TABLE experiment (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    started_unix_ms INTEGER NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE TABLE trial (
    run INTEGER PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE,
    experiment INTEGER NOT NULL REFERENCES experiment (number) ON DELETE CASCADE,
    point INTEGER NOT NULL,
    repeat INTEGER NOT NULL
) STRICT;
CREATE INDEX trial_by_experiment ON trial (experiment);
"#;

/// SQL of format version 3: the restore journal, with a row for each server setting that is changed
/// and must be restored; the row is removed when the setting is restored. `boot_id` to
/// `pid_start_time` identify the process that must restore it.
const VERSION_3: &str = r#"
CREATE TABLE changed_setting (
    server TEXT NOT NULL,
    name TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    pid_namespace TEXT NOT NULL,
    pid INTEGER NOT NULL,
    pid_start_time INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (server, name)
) STRICT, WITHOUT ROWID;
"#;

/// SQL of format version 4: table of events such as readings of gauges and profiles. `kind` is the
/// kind of event, `body` the encoded event.
const VERSION_4: &str = r#"
CREATE TABLE around (
    run INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    format INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
"#;

/// SQL of format version 5: the table `walk` of locks for running the trials of an experiment. The
/// number of a lock is never reused, so that a process notices that it has lost its lock.
const VERSION_5: &str = r#"
CREATE TABLE walk (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    experiment INTEGER NOT NULL UNIQUE REFERENCES experiment (number) ON DELETE CASCADE,
    started_unix_ms INTEGER NOT NULL,
    heartbeat_unix_ms INTEGER NOT NULL,
    status TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    pid_namespace TEXT NOT NULL,
    pid INTEGER NOT NULL,
    pid_start_time INTEGER NOT NULL
) STRICT;
"#;

/// SQL of format version 6: users' decisions about histories, which are accepted changes of a
/// metric's level (with an empty `point` if all points of the experiment are meant), and the builds
/// with which the newest ones are compared.
const VERSION_6: &str = r#"
CREATE TABLE acknowledged (
    label TEXT NOT NULL,
    build TEXT NOT NULL,
    point TEXT NOT NULL,
    reason TEXT NOT NULL,
    since_unix_ms INTEGER NOT NULL,
    PRIMARY KEY (label, build, point)
) STRICT, WITHOUT ROWID;
CREATE TABLE baseline (
    label TEXT PRIMARY KEY,
    build TEXT NOT NULL,
    since_unix_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"#;

/// SQL of format version 7: figures measured by other programs, by name. They are not in `run`, so
/// that no list, count or comparison of runs includes them. `body` is `model::Imported` as JSON.
const VERSION_7: &str = r#"
CREATE TABLE imported (
    name TEXT PRIMARY KEY,
    since_unix_ms INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
"#;

/// SQL of format version 8: jobs that were started from web pages, and actions of users there.
/// `boot_id` to `pid_start_time` identify the process of a job once it has started; `words` are its
/// arguments, as JSON.
const VERSION_8: &str = r#"
CREATE TABLE job (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    target TEXT NOT NULL,
    words TEXT NOT NULL,
    plan TEXT NOT NULL,
    who TEXT NOT NULL,
    status TEXT NOT NULL,
    queued_unix_ms INTEGER NOT NULL,
    started_unix_ms INTEGER,
    ended_unix_ms INTEGER,
    exit_code INTEGER,
    output TEXT NOT NULL DEFAULT '',
    boot_id TEXT NOT NULL DEFAULT '',
    pid_namespace TEXT NOT NULL DEFAULT '',
    pid INTEGER NOT NULL DEFAULT 0,
    pid_start_time INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE action (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at_unix_ms INTEGER NOT NULL,
    who TEXT NOT NULL,
    what TEXT NOT NULL
) STRICT;
CREATE INDEX run_by_process ON run (pid, pid_start_time);
"#;

/// SQL of format version 9: adds the size of an accepted change of a metric's level, as in
/// `model::Acknowledged`.
const VERSION_9: &str = "ALTER TABLE acknowledged ADD COLUMN size REAL;";

/// SQL of format version 10: adds the primary metric of a run, for any workload. It replaces the
/// column `nopm`, which is no longer written.
const VERSION_10: &str = r#"
ALTER TABLE run ADD COLUMN primary_name TEXT;
ALTER TABLE run ADD COLUMN primary_title TEXT;
ALTER TABLE run ADD COLUMN primary_value REAL;
UPDATE run SET primary_name = 'nopm', primary_title = 'NOPM', primary_value = nopm
WHERE nopm IS NOT NULL;
"#;

/// SQL of format version 11: digests of reports for histories, which are derived and may be
/// missing, and outcomes of limits. No column of a digest is called `run`, so that it is not
/// exported. `report_bytes` is the length of the report, by which a damaged one is noticed.
const VERSION_11: &str = r#"
CREATE TABLE digest (
    number INTEGER PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    setup INTEGER NOT NULL,
    body TEXT NOT NULL,
    report_bytes INTEGER NOT NULL
) STRICT;
CREATE TABLE run_limits (
    run INTEGER PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE,
    body TEXT NOT NULL
) STRICT;
CREATE TABLE experiment_limits (
    experiment INTEGER NOT NULL REFERENCES experiment (number) ON DELETE CASCADE,
    option TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (experiment, option)
) STRICT, WITHOUT ROWID;
"#;

/// SQL of format version 12: settings files of servers in the restore journal, as
/// `model::ChangedFile`, with the process that will restore each.
const VERSION_12: &str = r#"
CREATE TABLE changed_file (
    server TEXT NOT NULL,
    path TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    pid_namespace TEXT NOT NULL,
    pid INTEGER NOT NULL,
    pid_start_time INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (server, path)
) STRICT, WITHOUT ROWID;
"#;

/// Newest version of the format that this program knows.
pub(super) const VERSION: u32 = MIGRATIONS.len() as u32;

/// Behaviour if the store to be opened does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IfMissing {
    /// Creates the store's file and its folder, if they do not exist.
    Create,
    /// Returns an error, and creates nothing, if the store does not exist.
    Refuse,
}

/// Opens the store at `path` for writing, migrates it to the newest version, and configures the
/// connection.
pub(super) fn open(path: &Path, if_missing: IfMissing) -> Result<Connection, StoreError> {
    if path.is_dir() {
        let message = format!("{} is a folder: name a file in it", path.display());
        return Err(StoreError::new(StoreErrorKind::NotAStore, message));
    }
    if path.exists() {
        refuse_special(path)?;
        look(path)?;
    } else if if_missing == IfMissing::Create {
        create(path)?;
    } else {
        let message = format!("there is no store {}: the first run creates it", path.display());
        return Err(StoreError::new(StoreErrorKind::Missing, message));
    }
    connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

/// Opens an existing store at `path`. If it cannot be written, it is opened read-only, and writes
/// fail.
pub(super) fn open_to_read(path: &Path) -> Result<Connection, StoreError> {
    match open(path, IfMissing::Refuse) {
        Err(error) if is_unwritable(error.kind) => as_it_is(path),
        opened => opened,
    }
}

/// Returns true if opening failed only because nothing can be written at or beside the store, so
/// that it may still be readable.
fn is_unwritable(kind: StoreErrorKind) -> bool {
    matches!(kind, StoreErrorKind::ReadOnly | StoreErrorKind::DiskFull)
}

fn as_it_is(path: &Path) -> Result<Connection, StoreError> {
    // Attached files, such as an export, are opened with the same rights.
    let connection = readable(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let said = |error: rusqlite::Error| StoreError::from_sqlite(path, &error);
    match owner(&connection).map_err(said)? {
        Owner::Store => {}
        Owner::File => checksum::check(path)?,
        Owner::Somebody => return Err(foreign(path)),
        Owner::Nobody => return Err(empty(path)),
    }
    let found = version(&connection).map_err(said)?;
    if found > VERSION {
        return Err(StoreError::newer(path, found, VERSION));
    }
    if found < VERSION {
        return Err(StoreError::older(path, found, VERSION));
    }
    known_to(&connection).map_err(said)?;
    Ok(connection)
}

pub(super) fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let opened = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX);
    let connection = opened.map_err(|error| StoreError::from_sqlite(path, &error))?;
    migrate(path, &connection)?;
    known_to(&connection).map_err(|error| StoreError::from_sqlite(path, &error))?;
    Ok(connection)
}

/// Registers with a connection the collation that compares labels as versions.
fn known_to(connection: &Connection) -> rusqlite::Result<()> {
    connection.create_collation(VERSIONS, libversion::version_compare2)
}

/// Creates the folder of a store, but not the folders above: if a disk is not mounted, runs would
/// go to another disk.
fn make_folder(folder: &Path) -> std::io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made,
    }
}

/// Creates a store under another name, and links it to `path` when it is complete, so that no
/// process sees half of one. If another process was quicker, its file becomes the store.
fn create(path: &Path) -> Result<(), StoreError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        make_folder(folder).map_err(|error| StoreError::of_folder(path, folder, &error))?;
    }
    // Names and settings of databases are private.
    let new = Unfinished::beside(path, 0o600).map_err(|error| StoreError::of_new(path, &error))?;
    let made = connect(new.path(), OpenFlags::SQLITE_OPEN_READ_WRITE).map(drop);
    made.map_err(|error| error.at(new.path(), path))?;
    match new.create(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(StoreError::of_new(path, &error))
        }
        _ => Ok(()),
    }
}

/// Fails if a file is neither a store nor an export of dbdyno. The file is not changed.
///
/// The header is read through SQLite and not through `std::fs`: closing a descriptor would drop all
/// locks that this process holds on the file (fcntl(2)), including a running writer's. During a
/// checkpoint of another process the header may be inconsistent, so [`migrate`] reports damage,
/// under a lock.
fn look(path: &Path) -> Result<(), StoreError> {
    match immutable(path)
        .and_then(|file| owner(&file).map_err(|e| StoreError::from_sqlite(path, &e)))
    {
        Ok(Owner::Somebody) => Err(foreign(path)),
        Ok(Owner::Nobody | Owner::Store | Owner::File) => Ok(()),
        Err(error) if error.kind == StoreErrorKind::Corrupt => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns true if the file at `path` is a store or an export of dbdyno, of any version; false if
/// it cannot be read. The file is not changed.
pub fn holds_runs(path: &Path) -> bool {
    matches!(owner_of(path), Some(Owner::Store | Owner::File))
}

/// Returns true if the file at `path` is an undamaged export, as
/// [`Store::export_to`](crate::Store::export_to) writes it.
pub fn is_exported(path: &Path) -> bool {
    matches!(owner_of(path), Some(Owner::File)) && is_ours(path).is_ok()
}

fn owner_of(path: &Path) -> Option<Owner> {
    owner(&immutable(path).ok()?).ok()
}

/// Fails if a file is neither a store of a known version nor an undamaged export. The file is not
/// changed.
pub(super) fn is_ours(path: &Path) -> Result<(), StoreError> {
    let file = immutable(path)?;
    let said = |error: rusqlite::Error| StoreError::from_sqlite(path, &error);
    match owner(&file).map_err(said)? {
        Owner::File => checksum::check(path)?,
        Owner::Store if is_alone(path) => {
            let message = format!(
                "{} has no checksum: an earlier dbdyno exported it; export it again with this one",
                path.display()
            );
            return Err(StoreError::new(StoreErrorKind::NotAStore, message));
        }
        Owner::Store => {}
        Owner::Somebody => return Err(foreign(path)),
        Owner::Nobody => return Err(empty(path)),
    }
    let found = version(&file).map_err(said)?;
    match found > VERSION {
        true => Err(StoreError::newer(path, found, VERSION)),
        false => Ok(()),
    }
}

/// Opens a file to read it including its WAL, even if the file cannot be written.
///
/// In a read-only folder, a WAL is readable only if its index exists (sqlite.org/wal.html, section
/// 5). Without a WAL no process writes to the file, so it is opened as immutable.
pub(super) fn readable(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = distrusted(path, Connection::open_with_flags(path, flags))?;
    let Err(error) = version(&connection) else { return Ok(connection) };
    let error = StoreError::from_sqlite(path, &error);
    match (error.kind, has_log(path)) {
        (StoreErrorKind::ReadOnly, true) => Err(StoreError::of_log(path)),
        (kind, false) if is_unwritable(kind) => unchanging(path, flags),
        _ => Err(error),
    }
}

/// Returns true if a store has a WAL that is not empty.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// Fails for a pipe, at which SQLite would wait for a writer, and for a device.
pub(super) fn refuse_special(path: &Path) -> Result<(), StoreError> {
    files::refuse_special(path).map_err(|_| {
        let message = format!("{} is a pipe or a device: name another file", path.display());
        StoreError::new(StoreErrorKind::NotAStore, message)
    })
}

/// Opens a file as immutable: takes no locks, creates no files, ignores the WAL.
fn immutable(path: &Path) -> Result<Connection, StoreError> {
    refuse_special(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    unchanging(path, flags)
}

fn unchanging(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let flags = flags | OpenFlags::SQLITE_OPEN_URI;
    distrusted(path, Connection::open_with_flags(immutable_uri(path), flags))
}

/// Configures an opened connection to a file that may come from someone else, so that the file's
/// schema cannot do harm.
fn distrusted(path: &Path, opened: rusqlite::Result<Connection>) -> Result<Connection, StoreError> {
    let said = |error: rusqlite::Error| StoreError::from_sqlite(path, &error);
    let connection = opened.map_err(said)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(said)?;
    connection.pragma_update(None, "trusted_schema", false).map_err(said)?;
    connection.pragma_update(None, "cell_size_check", true).map_err(said)?;
    Ok(connection)
}

/// Program that wrote an SQLite file, by its application id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// No program: the file is empty.
    Nobody,
    /// The file is a store of dbdyno, as runs are written to.
    Store,
    /// The file is an export of dbdyno, a single file that ends with a checksum.
    File,
    Somebody,
}

fn owner(connection: &Connection) -> rusqlite::Result<Owner> {
    let id: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let n_pages: u32 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    Ok(match (id, n_pages) {
        (APPLICATION_ID, _) => Owner::Store,
        (FILE_ID, _) => Owner::File,
        (_, 0) => Owner::Nobody,
        _ => Owner::Somebody,
    })
}

/// Returns true if a file is not in WAL mode, by the write version in its header
/// (sqlite.org/fileformat.html, section 1.3.3). Every store is in WAL mode.
fn is_alone(path: &Path) -> bool {
    const ROLLBACK: u8 = 1;
    let mut header = [0; 19];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut header));
    read.is_ok() && header[18] == ROLLBACK
}

fn empty(path: &Path) -> StoreError {
    let message = format!("{} is empty: name another file", path.display());
    StoreError::new(StoreErrorKind::NotAStore, message)
}

fn foreign(path: &Path) -> StoreError {
    let message = format!(
        "{} is an SQLite database, but not a store of dbdyno: name another file",
        path.display()
    );
    StoreError::new(StoreErrorKind::NotAStore, message)
}

/// Returns the URI by which SQLite opens the file as immutable (sqlite.org/uri.html, section 3.1).
fn immutable_uri(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => {
                uri.push(char::from(*byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

fn migrate(path: &Path, connection: &Connection) -> Result<(), StoreError> {
    let said = |error: rusqlite::Error| StoreError::from_sqlite(path, &error);
    connection.busy_timeout(BUSY_TIMEOUT).map_err(said)?;
    let owner = owner(connection).map_err(said)?;
    if owner == Owner::Somebody {
        return Err(foreign(path));
    }
    if owner == Owner::File {
        checksum::check(path)?;
        make_store(connection).map_err(said)?;
    }
    prepare(connection).map_err(said)?;
    let found = version(connection).map_err(said)?;
    if found > VERSION {
        return Err(StoreError::newer(path, found, VERSION));
    }
    if found < VERSION {
        add_what_is_new(connection).map_err(said)?;
    }
    let mode = write_ahead(connection).map_err(said)?;
    if mode != "wal" {
        let message = format!(
            "the store {} cannot use WAL mode there (its mode is {mode}): name a file on a local \
             disk",
            path.display()
        );
        return Err(StoreError::new(StoreErrorKind::Other, message));
    }
    Ok(())
}

/// Turns an export into a store, which may be written.
pub(super) fn make_store(file: &Connection) -> rusqlite::Result<()> {
    file.pragma_update(None, "application_id", APPLICATION_ID)
}

/// Configures a connection to a store. `auto_vacuum` takes effect only before the first table is
/// created.
///
/// With `synchronous=NORMAL`, a commit is not flushed to the disk. A killed process loses nothing
/// that it has committed; a power failure may lose the commits since the last checkpoint, but never
/// the file. Checkpoints are explicit only, so that none disturbs a measured run.
fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "journal_size_limit", WAL_KEPT_BYTES)
}

/// Returns the version of a file's format. SQLite stores it as a signed number; a negative one was
/// never used, and counts as a newer version.
fn version(connection: &Connection) -> rusqlite::Result<u32> {
    let kept: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(kept.cast_unsigned())
}

/// Runs the migrations that follow the file's version. If two processes do so at once, the second
/// finds nothing to do.
fn add_what_is_new(connection: &Connection) -> rusqlite::Result<()> {
    let all = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let found = version(&all)? as usize;
    for step in MIGRATIONS.iter().skip(found) {
        all.execute_batch(step)?;
    }
    all.pragma_update(None, "application_id", APPLICATION_ID)?;
    all.pragma_update(None, "user_version", VERSION.max(found as u32))?;
    all.commit()
}

/// Switches a store to WAL mode, and returns the journal mode that SQLite granted.
fn write_ahead(connection: &Connection) -> rusqlite::Result<String> {
    connection.query_row("PRAGMA journal_mode=WAL", (), |row| row.get(0))
}
