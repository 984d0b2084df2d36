//! Who makes the trials of an experiment: one process at a time, or a search's probes.
//!
//! A lock (table `walk`) is taken in one transaction, and is over when its process says so or is
//! gone. Not here: which trials are made (app), and what becomes of runs whose writer has gone
//! (reader).

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use model::{Experiment, Status};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::Store;
use super::error::{StoreError, StoreErrorKind};
use super::process::{Fate, Process};
use super::reader::SILENCE_MS_MAX;
use super::schema::{self, IfMissing};
use super::wall_clock::{unix_ms, utc};

/// The time from one heartbeat to the next: several may be missed before anybody minds, and one
/// that is rare costs a measurement nothing.
const BEAT_EVERY: Duration = Duration::from_secs(5);

/// How it stands with an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExperimentLockRow {
    /// Whether its trials are being made, and how that ended.
    pub status: Status,
    /// When they were begun, or gone on with, in milliseconds since 1970-01-01T00:00:00Z.
    pub started_unix_ms: i64,
    /// The process that makes them, or did.
    pub pid: u32,
    /// Whether that process is one that can be seen from here.
    pub is_near: bool,
}

/// The right to make an experiment's trials: nobody else has it while this lives. Dropped without
/// [`ExperimentLock::end`], it is over as interrupted.
#[derive(Debug)]
pub struct ExperimentLock {
    number: i64,
    end: Sender<Status>,
    thread: Option<JoinHandle<Result<(), StoreError>>>,
}

impl Store {
    /// Takes the lock of an experiment; an error of kind [`StoreErrorKind::Taken`] if a process
    /// that lives has it.
    pub fn lock_experiment(&self, experiment: &Experiment) -> Result<ExperimentLock, StoreError> {
        let path = self.path.clone();
        let connection = schema::open(&path, IfMissing::Refuse)?;
        let number = take(&path, &connection, experiment)?;
        let (end, ended) = channel();
        let thread = Builder::new().name("walk".to_owned()).spawn(move || {
            let ended = beat(&connection, number, &ended);
            ended.map_err(|error| StoreError::of(&path, &error))
        });
        let thread = thread.map_err(|error| {
            let message = format!("no thread for the store {}: {error}", self.path.display());
            StoreError::new(StoreErrorKind::Other, message)
        })?;
        Ok(ExperimentLock { number, end, thread: Some(thread) })
    }

    /// Whether a lock is still whose it was: a process that stood still for long, where others
    /// cannot see whether it lives, may have lost it.
    pub fn has(&self, lock: &ExperimentLock) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM walk WHERE number = ?";
        let found = self.connection.query_row(sql, [lock.number], |_| Ok(())).optional();
        found.map(|found| found.is_some()).map_err(|error| self.reader().said(&error))
    }

    /// How it stands with an experiment; none of one that was made before locks were kept.
    pub fn experiment_lock_row(
        &self,
        experiment: &Experiment,
    ) -> Result<Option<ExperimentLockRow>, StoreError> {
        row_of(&self.connection, experiment).map_err(|error| self.reader().said(&error))
    }
}

impl ExperimentLock {
    /// Gives the lock back, and says how it ended.
    pub fn end(mut self, status: Status) -> Result<(), StoreError> {
        self.close(status)
    }

    fn close(&mut self, status: Status) -> Result<(), StoreError> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        // A thread that is gone already says why when it is joined.
        let _ = self.end.send(status);
        thread.join().unwrap_or_else(|_| {
            let message = "the thread of an experiment's heartbeat panicked: please report this";
            Err(StoreError::new(StoreErrorKind::Other, message.to_owned()))
        })
    }
}

impl Drop for ExperimentLock {
    fn drop(&mut self) {
        // Whoever drops it has given it up; what is not written shows when the process is gone.
        let _ = self.close(Status::Interrupted);
    }
}

/// Who looks at the lock and takes it does both in one transaction: of two, one finds the other.
fn take(path: &Path, connection: &Connection, of: &Experiment) -> Result<i64, StoreError> {
    let said = |error: rusqlite::Error| StoreError::of(path, &error);
    let behavior = TransactionBehavior::Immediate;
    let all = Transaction::new_unchecked(connection, behavior).map_err(said)?;
    let row = row_of(&all, of).map_err(said)?;
    if let Some(row) = row.filter(|row| row.status == Status::Running) {
        return Err(taken(of, &row));
    }
    let us = Process::current();
    let insert = || -> rusqlite::Result<usize> {
        let sql = "DELETE FROM walk
                   WHERE experiment = (SELECT number FROM experiment WHERE id = ?)";
        all.execute(sql, [&of.id])?;
        let sql = "INSERT INTO walk (experiment, started_unix_ms, heartbeat_unix_ms, status,
                                     boot_id, pid_namespace, pid, pid_start_time)
                   SELECT number, ?2, ?2, ?3, ?4, ?5, ?6, ?7 FROM experiment WHERE id = ?1";
        let start = us.start_column();
        let running = Status::Running.name();
        let (boot, namespace) = (&us.boot_id, &us.pid_namespace);
        all.execute(sql, params![of.id, unix_ms(), running, boot, namespace, us.pid, start])
    };
    if insert().map_err(said)? == 0 {
        let message = format!("the store {} has no experiment {}", path.display(), of.id);
        return Err(StoreError::new(StoreErrorKind::UnknownRun, message));
    }
    let number = all.last_insert_rowid();
    all.commit().map_err(said)?;
    Ok(number)
}

fn taken(experiment: &Experiment, row: &ExperimentLockRow) -> StoreError {
    let elsewhere = if row.is_near { "" } else { " of another machine or container" };
    let (id, pid, since) = (&experiment.id, row.pid, utc(row.started_unix_ms));
    let message = format!(
        "experiment {id} is being run by process {pid}{elsewhere} (since {since} UTC); wait for \
         it or end it"
    );
    StoreError::new(StoreErrorKind::Taken, message)
}

/// Whether nobody makes trials of an experiment.
pub(super) fn is_free(connection: &Connection, of: &Experiment) -> rusqlite::Result<bool> {
    Ok(row_of(connection, of)?.is_none_or(|row| row.status != Status::Running))
}

/// The numbers of the experiments whose trials are being made.
pub(super) fn alive(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    let here = Process::current();
    let mut select = connection.prepare("SELECT * FROM walk WHERE status = 'running'")?;
    let mut rows = select.query(())?;
    let mut alive = Vec::new();
    while let Some(row) = rows.next()? {
        if lock_row(row, &here)?.status == Status::Running {
            alive.push(row.get("experiment")?);
        }
    }
    Ok(alive)
}

fn row_of(connection: &Connection, of: &Experiment) -> rusqlite::Result<Option<ExperimentLockRow>> {
    let sql = "SELECT started_unix_ms, heartbeat_unix_ms, status, boot_id, pid_namespace, pid,
                      pid_start_time
               FROM walk WHERE experiment = (SELECT number FROM experiment WHERE id = ?)";
    let here = Process::current();
    connection.query_row(sql, [&of.id], |row| lock_row(row, &here)).optional()
}

fn lock_row(row: &Row<'_>, here: &Process) -> rusqlite::Result<ExperimentLockRow> {
    let name: String = row.get("status")?;
    let process = Process::of(row)?;
    let heartbeat_ms: i64 = row.get("heartbeat_unix_ms")?;
    let is_silent = unix_ms().saturating_sub(heartbeat_ms) > SILENCE_MS_MAX;
    let is_near = process.boot_id == here.boot_id && process.pid_namespace == here.pid_namespace;
    let is_gone = match process.fate(here) {
        // One that was stopped for a while says nothing, and goes on when it is woken.
        Fate::Alive => false,
        Fate::Gone if is_near => true,
        // It may live on another machine.
        Fate::Gone | Fate::Unknown => is_silent,
    };
    // A status of the future is of one that has ended: what runs has one name.
    let stored = Status::by_name(&name).unwrap_or(Status::Interrupted);
    let is_interrupted = stored == Status::Running && is_gone;
    Ok(ExperimentLockRow {
        status: if is_interrupted { Status::Interrupted } else { stored },
        started_unix_ms: row.get("started_unix_ms")?,
        pid: process.pid,
        is_near,
    })
}

/// The thread: a heartbeat now and then, and the end.
fn beat(connection: &Connection, number: i64, ended: &Receiver<Status>) -> rusqlite::Result<()> {
    let status = loop {
        match ended.recv_timeout(BEAT_EVERY) {
            Ok(status) => break status,
            Err(RecvTimeoutError::Timeout) => {
                // One that cannot be written is followed by others.
                let sql = "UPDATE walk SET heartbeat_unix_ms = ? WHERE number = ?";
                let _ = connection.execute(sql, params![unix_ms(), number]);
            }
            Err(RecvTimeoutError::Disconnected) => break Status::Interrupted,
        }
    };
    let sql = "UPDATE walk SET heartbeat_unix_ms = ?, status = ? WHERE number = ?";
    connection.execute(sql, params![unix_ms(), status.name(), number]).map(drop)
}
