//! Export and import of runs. An exported file is itself a store with these runs, so the same code
//! reads both.
//!
//! Events are copied byte by byte. A received file is not trusted: before anything is imported, its
//! checksum is verified, it is copied to another file, its schema must be exactly ours, and every
//! run must be readable. The restore journal is never exported or imported: it contains commands
//! for servers. Not here: other formats (`interval_log`, render).

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf, absolute};

use files::Unfinished;
use model::{RunId, Status};
use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params,
};

use super::checksum;
use super::error::{StoreError, StoreErrorKind};
use super::schema;
use super::{ExperimentFilter, Filter, Store};

/// Maximum number of characters in the id of an imported run; a file with a longer id is rejected.
/// A UUID has 36.
const ID_CHARACTERS_MAX: usize = 64;

/// Permissions of exported files: names and settings of databases are private.
const MODE: u32 = 0o600;

/// Function that reads a run of a received file, and describes what makes it implausible; `None` if
/// it could come from dbdyno. The caller provides it, since the store does not know the meaning of
/// events and reports.
pub type RunCheck = fn(&Store, &RunId) -> Result<Option<String>, StoreError>;

/// Runs found by an import of a received file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Runs that the import added to the store, oldest first.
    pub new: Vec<RunId>,
    /// Runs that this store had already; the import leaves them unchanged.
    pub known: Vec<RunId>,
    /// Number of acknowledged changes of histories that the import added to the store.
    pub acknowledged: u64,
    /// Number of pinned baselines of histories that the import added to the store.
    pub baselines: u64,
}

impl Store {
    /// Writes the ended runs `runs`, with their labels and experiments, to a new store at `path`.
    /// Replaces an earlier export there, but no other file.
    pub fn export_to(&self, path: &Path, runs: &[RunId]) -> Result<(), StoreError> {
        let is_replaced = path.exists();
        if is_replaced && !schema::is_exported(path) {
            return Err(exists_already(path));
        }
        for run in runs {
            self.has_ended(run)?;
        }
        let failed = |error: io::Error| match error.kind() {
            ErrorKind::AlreadyExists => exists_already(path),
            _ => StoreError::of_new(path, &error),
        };
        let new = Unfinished::beside(path, MODE).map_err(failed)?;
        self.write_copy(new.path(), runs).map_err(|error| error.at(new.path(), path))?;
        if is_replaced { new.replace(path) } else { new.create(path) }.map_err(failed)
    }

    /// Checks a file received from someone else. Fails if it is damaged, or is neither an export
    /// nor a store. Does not read its runs.
    pub fn check_sent(path: &Path) -> Result<(), StoreError> {
        is_no_folder(path)?;
        sent(path).map(drop)
    }

    fn has_ended(&self, run: &RunId) -> Result<(), StoreError> {
        match self.row(run)?.map(|row| row.status) {
            Some(Status::Running) => {
                let message = format!("the run {run} is still running: wait for its end");
                Err(StoreError::new(StoreErrorKind::UnderWay, message))
            }
            Some(_) => Ok(()),
            None => self.reader().number(run).map(drop),
        }
    }

    fn write_copy(&self, path: &Path, runs: &[RunId]) -> Result<(), StoreError> {
        schema::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let said = |error: rusqlite::Error| StoreError::from_sqlite(path, &error);
        let beside = Beside::attach(&self.connection, path)?;
        let copy = || -> rusqlite::Result<()> {
            let all = self.connection.unchecked_transaction()?;
            let tables = Tables::read(&all)?;
            for run in runs {
                tables.copy(&all, "main", "beside", run)?;
                let own = number(&all, "main", &run.0)?;
                for decided in [ACKNOWLEDGED, BASELINE] {
                    copy_decisions(&all, "main", "beside", own, decided)?;
                }
            }
            all.commit()
        };
        let copied = copy();
        beside.detach()?;
        copied.map_err(said)?;
        // Close the WAL, so that there is a single file to send.
        let alone = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE);
        let alone = alone.map_err(said)?;
        alone.pragma_update(None, "application_id", schema::FILE_ID).map_err(said)?;
        alone.query_row("PRAGMA journal_mode=DELETE", (), |_| Ok(())).map_err(said)?;
        alone.close().map_err(|(_, error)| said(error))?;
        checksum::put(path).map_err(|error| StoreError::of_folder(path, path, &error))
    }

    /// Imports all runs of the store or export at `path` that this store lacks, with their labels
    /// and experiments. Rejects the whole file if `check` objects to a run, if any other part is
    /// invalid, or if a run has not ended.
    pub fn import(&self, path: &Path, check: RunCheck) -> Result<Imported, StoreError> {
        if !path.exists() {
            let message = format!("there is no file {}", path.display());
            return Err(StoreError::new(StoreErrorKind::Missing, message));
        }
        is_no_folder(path)?;
        let same = fs::canonicalize(path).ok() == fs::canonicalize(&self.path).ok();
        if same {
            let message = format!("{} is this store itself: name another file", path.display());
            return Err(StoreError::new(StoreErrorKind::ItsOwn, message));
        }
        let aside = Aside::copy(path, &self.path)?;
        let imported = aside.looked_at(self, check).and_then(|runs| self.take(&aside, &runs));
        imported.map_err(|error| aside.of_their_file(error))
    }

    fn take(&self, aside: &Aside, runs: &[RunId]) -> Result<Imported, StoreError> {
        let beside = Beside::attach(&self.connection, aside.copy.path())?;
        let mut imported = Imported::default();
        let mut take = || -> rusqlite::Result<()> {
            let tables = Tables::read(&self.connection)?;
            for run in runs {
                // One transaction per run, so that a measuring process does not wait long.
                let behavior = TransactionBehavior::Immediate;
                let all = Transaction::new_unchecked(&self.connection, behavior)?;
                match number(&all, "main", &run.0)? {
                    Some(_) => imported.known.push(run.clone()),
                    None => {
                        tables.copy(&all, "beside", "main", run)?;
                        imported.new.push(run.clone());
                    }
                }
                // Users may have decided on a run since it was imported.
                let theirs = number(&all, "beside", &run.0)?;
                imported.acknowledged +=
                    copy_decisions(&all, "beside", "main", theirs, ACKNOWLEDGED)?;
                imported.baselines += copy_decisions(&all, "beside", "main", theirs, BASELINE)?;
                all.commit()?;
            }
            Ok(())
        };
        let taken = take();
        beside.detach()?;
        taken.map_err(|error| self.reader().said(&error))?;
        Ok(imported)
    }
}

/// Fails if a received file is a folder.
fn is_no_folder(path: &Path) -> Result<(), StoreError> {
    match path.is_dir() {
        true => {
            let message = format!("{} is a folder: name a file in it", path.display());
            Err(StoreError::new(StoreErrorKind::NotAStore, message))
        }
        false => Ok(()),
    }
}

fn exists_already(path: &Path) -> StoreError {
    let message = format!(
        "{} exists already, and is no file that was exported: name another file",
        path.display()
    );
    StoreError::new(StoreErrorKind::Other, message)
}

/// A connection to a store to which another store is attached under the schema name `beside`.
struct Beside<'a> {
    connection: &'a Connection,
    path: PathBuf,
}

impl<'a> Beside<'a> {
    fn attach(connection: &'a Connection, path: &Path) -> Result<Beside<'a>, StoreError> {
        // SQLite could interpret a relative name in another way.
        let path = absolute(path).unwrap_or_else(|_| path.to_owned());
        let Some(name) = path.to_str() else {
            let message = format!("the file name {} is not valid UTF-8: rename it", path.display());
            return Err(StoreError::new(StoreErrorKind::Other, message));
        };
        let attached = connection.execute("ATTACH DATABASE ? AS beside", [name]);
        attached.map_err(|error| StoreError::from_sqlite(&path, &error))?;
        Ok(Beside { connection, path })
    }

    fn detach(self) -> Result<(), StoreError> {
        let detached = self.connection.execute_batch("DETACH DATABASE beside");
        detached.map_err(|error| StoreError::from_sqlite(&self.path, &error))
    }
}

/// Returns the number, in its table `run`, of the run `id` in the store attached as `name`; `None`
/// if it has no such run.
fn number(connection: &Connection, name: &str, id: &str) -> rusqlite::Result<Option<i64>> {
    let sql = format!("SELECT number FROM {name}.run WHERE id = ?");
    connection.query_row(&sql, [id], |row| row.get(0)).optional()
}

/// Names of the tables and columns that contain the data of a run; both stores of a copy have the
/// same.
struct Tables {
    /// Columns of the table `run` except `number`.
    run: Vec<String>,
    /// Tables other than `run` that have rows of a run, each with its columns except the column
    /// `run`.
    parts: Vec<(String, Vec<String>)>,
}

impl Tables {
    fn read(connection: &Connection) -> rusqlite::Result<Tables> {
        let sql = "SELECT name FROM main.sqlite_schema
                   WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name";
        let mut select = connection.prepare(sql)?;
        let names = select.query_map((), |row| row.get(0))?;
        let mut tables = Tables { run: Vec::new(), parts: Vec::new() };
        for name in names.collect::<rusqlite::Result<Vec<String>>>()? {
            let mut columns = columns(connection, &name)?;
            if name == "run" {
                columns.retain(|column| column != "number");
                tables.run = columns;
            } else if name != "trial" && columns.iter().any(|column| column == "run") {
                // The number of an experiment differs between stores.
                columns.retain(|column| column != "run");
                tables.parts.push((name, columns));
            }
        }
        Ok(tables)
    }

    /// Copies the rows of a run in all tables from the attached store `from` to `to`, with its
    /// experiment and what users decided on its histories.
    fn copy(&self, all: &Connection, from: &str, to: &str, run: &RunId) -> rusqlite::Result<()> {
        let columns = quoted(&self.run);
        let sql = format!(
            "INSERT INTO {to}.run ({columns}) SELECT {columns} FROM {from}.run WHERE id = ?"
        );
        if all.execute(&sql, [&run.0])? != 1 {
            return Err(rusqlite::Error::QueryReturnedNoRows);
        }
        // No process writes it here, whatever its status was elsewhere.
        let sql = format!("UPDATE {to}.run SET status = ? WHERE id = ? AND status = ?");
        let (running, ended) = (Status::Running.name(), Status::Interrupted.name());
        all.execute(&sql, [ended, &run.0, running])?;
        let old = number(all, from, &run.0)?;
        let new = number(all, to, &run.0)?;
        for (table, columns) in &self.parts {
            let columns = quoted(columns);
            let sql = format!(
                "INSERT INTO {to}.{table} (run, {columns})
                 SELECT ?, {columns} FROM {from}.{table} WHERE run = ?"
            );
            all.execute(&sql, params![new, old])?;
        }
        copy_trial(all, from, to, (old, new))
    }
}

/// Copies what users have decided on the histories of a run's labels from the table `table`:
/// [`ACKNOWLEDGED`] or [`BASELINE`]. Decisions that the target store has already stay. Returns how
/// many were added.
fn copy_decisions(
    all: &Connection,
    from: &str,
    to: &str,
    old: Option<i64>,
    table: &str,
) -> rusqlite::Result<u64> {
    let sql = format!(
        "INSERT OR IGNORE INTO {to}.{table}
         SELECT of.* FROM {from}.{table} AS of
         JOIN {from}.label ON label.key = of.label AND label.value = of.build
         WHERE label.run = ?"
    );
    all.execute(&sql, [old]).map(|n| n as u64)
}

/// Name of the table with the acknowledged changes of histories.
const ACKNOWLEDGED: &str = "acknowledged";
/// Name of the table with the pinned baselines of histories.
const BASELINE: &str = "baseline";

/// Adds a copied run to its experiment in the target store. Copies the experiment with its status
/// unless the target has it.
fn copy_trial(
    all: &Connection,
    from: &str,
    to: &str,
    (old, new): (Option<i64>, Option<i64>),
) -> rusqlite::Result<()> {
    let sql = format!(
        "INSERT INTO {to}.experiment (id, started_unix_ms, name, body)
         SELECT id, started_unix_ms, name, body FROM {from}.experiment
         WHERE number = (SELECT experiment FROM {from}.trial WHERE run = ?)
           AND id NOT IN (SELECT id FROM {to}.experiment)"
    );
    all.execute(&sql, [old])?;
    let sql = format!(
        "INSERT INTO {to}.trial (run, experiment, point, repeat)
         SELECT ?, mine.number, trial.point, trial.repeat
         FROM {from}.trial AS trial
         JOIN {from}.experiment AS theirs ON theirs.number = trial.experiment
         JOIN {to}.experiment AS mine ON mine.id = theirs.id
         WHERE trial.run = ?"
    );
    all.execute(&sql, params![new, old])?;
    let sql = format!(
        "INSERT OR IGNORE INTO {to}.experiment_limits
         SELECT mine.experiment, limits.option, limits.body
         FROM {to}.trial AS mine, {from}.trial AS theirs
         JOIN {from}.experiment_limits AS limits ON limits.experiment = theirs.experiment
         WHERE mine.run = ? AND theirs.run = ?"
    );
    all.execute(&sql, params![new, old])?;
    // No process continues it here, whatever its status was elsewhere.
    let sql = format!(
        "INSERT INTO {to}.walk (experiment, started_unix_ms, heartbeat_unix_ms, status, boot_id,
                                pid_namespace, pid, pid_start_time)
         SELECT mine.experiment, walk.started_unix_ms, walk.heartbeat_unix_ms,
                CASE walk.status WHEN ?2 THEN ?3 ELSE walk.status END, walk.boot_id,
                walk.pid_namespace, walk.pid, walk.pid_start_time
         FROM {to}.trial AS mine, {from}.trial AS theirs
         JOIN {from}.walk AS walk ON walk.experiment = theirs.experiment
         WHERE mine.run = ?1 AND theirs.run = ?4
           AND mine.experiment NOT IN (SELECT experiment FROM {to}.walk)"
    );
    let (running, ended) = (Status::Running.name(), Status::Interrupted.name());
    all.execute(&sql, params![new, running, ended, old]).map(drop)
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut select = connection.prepare("SELECT name FROM pragma_table_info(?)")?;
    let names = select.query_map([table], |row| row.get(0))?;
    names.collect()
}

fn quoted(columns: &[String]) -> String {
    let columns: Vec<String> = columns.iter().map(|column| format!("\"{column}\"")).collect();
    columns.join(", ")
}

/// Copy of a received file, which is checked before anything is imported. Dropping it deletes the
/// copy.
struct Aside {
    theirs: PathBuf,
    copy: Unfinished,
}

impl Aside {
    /// Copies the file at `theirs` into the folder of the store at `ours`. The copy is a consistent
    /// snapshot, even if the file has a WAL or is being written.
    fn copy(theirs: &Path, ours: &Path) -> Result<Aside, StoreError> {
        let file = sent(theirs)?;
        let copy = Unfinished::beside(ours, MODE);
        let copy = copy.map_err(|error| StoreError::of_new(ours, &error))?;
        let aside = Aside { theirs: theirs.to_owned(), copy };
        let to = aside.copy.path().to_str().unwrap_or_default();
        let copied = copy_whole(&file, to);
        copied.map_err(|error| StoreError::from_sqlite(theirs, &error).of_sent(theirs))?;
        Ok(aside)
    }

    /// Checks the copy and each run in it by `check`, and returns its runs, oldest first. Fails if
    /// a run has not ended or is implausible.
    fn looked_at(&self, ours: &Store, check: RunCheck) -> Result<Vec<RunId>, StoreError> {
        let theirs = Store::open_existing(self.copy.path())?;
        if layout(&theirs)? != layout(ours)? {
            let why = "its tables are not those of a store";
            return Err(StoreError::damaged(self.copy.path(), why));
        }
        let mut rows = theirs.list(&Filter::default())?;
        rows.reverse();
        for row in &rows {
            if row.status == Status::Running {
                let (run, path) = (&row.run, self.copy.path().display());
                let message = format!("the run {run} in {path} is still running: wait for its end");
                return Err(StoreError::new(StoreErrorKind::UnderWay, message));
            }
            self.is_whole(&theirs, &row.run, check)?;
        }
        for experiment in theirs.experiments(&ExperimentFilter::default())? {
            theirs.trials(&experiment)?;
        }
        Ok(rows.into_iter().map(|row| row.run).collect())
    }

    fn is_whole(&self, theirs: &Store, run: &RunId, check: RunCheck) -> Result<(), StoreError> {
        let damaged =
            |why: String| StoreError::damaged(self.copy.path(), format!("run {run}: {why}"));
        let is_id = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        if run.0.len() > ID_CHARACTERS_MAX || !run.0.chars().all(is_id) {
            return Err(StoreError::damaged(self.copy.path(), "a run has an invalid id"));
        }
        match check(theirs, run)? {
            Some(why) => Err(damaged(why)),
            None => Ok(()),
        }
    }

    /// Replaces the path of the copy in an error by that of the received file.
    fn of_their_file(&self, error: StoreError) -> StoreError {
        error.at(self.copy.path(), &self.theirs).of_sent(&self.theirs)
    }
}

/// Opens a file that was received from someone else. Fails if it is damaged.
fn sent(path: &Path) -> Result<Connection, StoreError> {
    schema::is_ours(path).map_err(|error| error.of_sent(path))?;
    let file = schema::readable(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .map_err(|error| error.of_sent(path))?;
    let checked = file.query_row("PRAGMA quick_check(1)", (), |row| row.get(0));
    let checked: String =
        checked.map_err(|error| StoreError::from_sqlite(path, &error).of_sent(path))?;
    match checked.as_str() {
        "ok" => Ok(file),
        why => Err(StoreError::damaged_file(path, why)),
    }
}

/// Copies an opened file by VACUUM to a new store at the path `to`.
fn copy_whole(theirs: &Connection, to: &str) -> rusqlite::Result<()> {
    theirs.execute("VACUUM INTO ?", [to])?;
    // The checksum was verified, and is not in the copy.
    schema::make_store(&Connection::open_with_flags(to, OpenFlags::SQLITE_OPEN_READ_WRITE)?)
}

/// Returns the schema of a store: type, name and SQL of each object.
fn layout(store: &Store) -> Result<Vec<(String, String, String)>, StoreError> {
    let read = || -> rusqlite::Result<Vec<(String, String, String)>> {
        let sql = "SELECT type, name, coalesce(sql, '') FROM main.sqlite_schema
                   WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name";
        let mut select = store.connection.prepare(sql)?;
        let rows = select.query_map((), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        rows.collect()
    };
    read().map_err(|error| store.reader().said(&error))
}
