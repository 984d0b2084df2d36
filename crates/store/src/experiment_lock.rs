//! Lock for running the trials of an experiment, or a search's probes: one process at a time.
//!
//! A lock (table `walk`) is taken in one transaction, and ends when its process releases it or has
//! ended. Not here: the trials (app), and the status of runs whose writer has ended (reader).

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

/// Interval of heartbeats. Several may be missed before the lock counts as lost, and they are too
/// rare to disturb a measurement.
const BEAT_EVERY: Duration = Duration::from_secs(5);

/// State of an experiment as its lock shows it: whether a process runs its trials now, and which
/// process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExperimentLockRow {
    /// Status of the experiment: running while a process runs its trials, otherwise the way in
    /// which they ended.
    pub status: Status,
    /// Time at which the trials were started or resumed, in milliseconds since
    /// 1970-01-01T00:00:00Z.
    pub started_unix_ms: i64,
    /// Id of the process that runs or ran the trials.
    pub pid: u32,
    /// Whether process `pid` is of this boot and this PID namespace, so that this process can see
    /// if it is still alive.
    pub is_near: bool,
}

/// Exclusive right of this process to run an experiment's trials. Dropping the lock without
/// [`ExperimentLock::end`] marks the experiment as interrupted.
#[derive(Debug)]
pub struct ExperimentLock {
    number: i64,
    end: Sender<Status>,
    thread: Option<JoinHandle<Result<(), StoreError>>>,
}

impl Store {
    /// Takes the lock that a process needs to run an experiment's trials. Fails with
    /// [`StoreErrorKind::Taken`] if another living process holds it.
    pub fn lock_experiment(&self, experiment: &Experiment) -> Result<ExperimentLock, StoreError> {
        let path = self.path.clone();
        let connection = schema::open(&path, IfMissing::Refuse)?;
        let number = take(&path, &connection, experiment)?;
        let (end, ended) = channel();
        let thread = Builder::new().name("walk".to_owned()).spawn(move || {
            let ended = beat(&connection, number, &ended);
            ended.map_err(|error| StoreError::from_sqlite(&path, &error))
        });
        let thread = thread.map_err(|error| {
            let message = format!("no thread for the store {}: {error}", self.path.display());
            StoreError::new(StoreErrorKind::Other, message)
        })?;
        Ok(ExperimentLock { number, end, thread: Some(thread) })
    }

    /// Returns true if this process still holds `lock`. Another process may have taken the lock if
    /// this process was paused for so long that its heartbeats were missed, and the other process
    /// cannot see whether this one lives.
    pub fn has(&self, lock: &ExperimentLock) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM walk WHERE number = ?";
        let found = self.connection.query_row(sql, [lock.number], |_| Ok(())).optional();
        found.map(|found| found.is_some()).map_err(|error| self.reader().said(&error))
    }

    /// Returns the state of an experiment from its lock; `None` if its trials were run by an older
    /// dbdyno without locks.
    pub fn experiment_lock_row(
        &self,
        experiment: &Experiment,
    ) -> Result<Option<ExperimentLockRow>, StoreError> {
        row_of(&self.connection, experiment).map_err(|error| self.reader().said(&error))
    }
}

impl ExperimentLock {
    /// Releases the lock, and stores `status` as the final status of the experiment.
    pub fn end(mut self, status: Status) -> Result<(), StoreError> {
        self.close(status)
    }

    fn close(&mut self, status: Status) -> Result<(), StoreError> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        // If the thread has ended, its join has the reason.
        let _ = self.end.send(status);
        thread.join().unwrap_or_else(|_| {
            let message = "the thread of an experiment's heartbeat panicked: please report this";
            Err(StoreError::new(StoreErrorKind::Other, message.to_owned()))
        })
    }
}

impl Drop for ExperimentLock {
    fn drop(&mut self) {
        // An abandoned lock; if this write fails, others notice that the process has ended.
        let _ = self.close(Status::Interrupted);
    }
}

/// Takes the lock of an experiment, and returns the lock's number. Check and insert are one
/// transaction, so that two processes cannot both succeed.
fn take(path: &Path, connection: &Connection, experiment: &Experiment) -> Result<i64, StoreError> {
    let said = |error: rusqlite::Error| StoreError::from_sqlite(path, &error);
    let behavior = TransactionBehavior::Immediate;
    let all = Transaction::new_unchecked(connection, behavior).map_err(said)?;
    let row = row_of(&all, experiment).map_err(said)?;
    if let Some(row) = row.filter(|row| row.status == Status::Running) {
        return Err(taken(experiment, &row));
    }
    let us = Process::current();
    let insert = || -> rusqlite::Result<usize> {
        let sql = "DELETE FROM walk
                   WHERE experiment = (SELECT number FROM experiment WHERE id = ?)";
        all.execute(sql, [&experiment.id])?;
        let sql = "INSERT INTO walk (experiment, started_unix_ms, heartbeat_unix_ms, status,
                                     boot_id, pid_namespace, pid, pid_start_time)
                   SELECT number, ?2, ?2, ?3, ?4, ?5, ?6, ?7 FROM experiment WHERE id = ?1";
        let start = us.start_column();
        let running = Status::Running.name();
        let (boot, namespace) = (&us.boot_id, &us.pid_namespace);
        all.execute(sql, params![experiment.id, unix_ms(), running, boot, namespace, us.pid, start])
    };
    if insert().map_err(said)? == 0 {
        let message = format!("the store {} has no experiment {}", path.display(), experiment.id);
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

/// Returns true if no living process runs trials of `experiment`, so that its lock can be taken.
pub(super) fn is_free(connection: &Connection, experiment: &Experiment) -> rusqlite::Result<bool> {
    Ok(row_of(connection, experiment)?.is_none_or(|row| row.status != Status::Running))
}

/// Returns the numbers, in the table `experiment`, of the experiments whose trials are being run by
/// a process that is alive.
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

fn row_of(
    connection: &Connection,
    experiment: &Experiment,
) -> rusqlite::Result<Option<ExperimentLockRow>> {
    let sql = "SELECT started_unix_ms, heartbeat_unix_ms, status, boot_id, pid_namespace, pid,
                      pid_start_time
               FROM walk WHERE experiment = (SELECT number FROM experiment WHERE id = ?)";
    let here = Process::current();
    connection.query_row(sql, [&experiment.id], |row| lock_row(row, &here)).optional()
}

fn lock_row(row: &Row<'_>, here: &Process) -> rusqlite::Result<ExperimentLockRow> {
    let name: String = row.get("status")?;
    let process = Process::from_row(row)?;
    let heartbeat_ms: i64 = row.get("heartbeat_unix_ms")?;
    let is_silent = unix_ms().saturating_sub(heartbeat_ms) > SILENCE_MS_MAX;
    let is_near = process.boot_id == here.boot_id && process.pid_namespace == here.pid_namespace;
    let is_gone = match process.fate(here) {
        // A paused process has no heartbeat, and continues later.
        Fate::Alive => false,
        Fate::Gone if is_near => true,
        // The process may live on another machine.
        Fate::Gone | Fate::Unknown => is_silent,
    };
    // An unknown status of a newer version means ended: only one name means running.
    let stored = Status::by_name(&name).unwrap_or(Status::Interrupted);
    let is_interrupted = stored == Status::Running && is_gone;
    Ok(ExperimentLockRow {
        status: if is_interrupted { Status::Interrupted } else { stored },
        started_unix_ms: row.get("started_unix_ms")?,
        pid: process.pid,
        is_near,
    })
}

/// Runs the thread that keeps lock `number`: writes heartbeats until `ended` delivers a final
/// status, and stores that status.
fn beat(connection: &Connection, number: i64, ended: &Receiver<Status>) -> rusqlite::Result<()> {
    let status = loop {
        match ended.recv_timeout(BEAT_EVERY) {
            Ok(status) => break status,
            Err(RecvTimeoutError::Timeout) => {
                // A failed heartbeat is followed by others.
                let sql = "UPDATE walk SET heartbeat_unix_ms = ? WHERE number = ?";
                let _ = connection.execute(sql, params![unix_ms(), number]);
            }
            Err(RecvTimeoutError::Disconnected) => break Status::Interrupted,
        }
    };
    let sql = "UPDATE walk SET heartbeat_unix_ms = ?, status = ? WHERE number = ?";
    connection.execute(sql, params![unix_ms(), status.name(), number]).map(drop)
}
