//! Jobs: processes started from a page, and actions of users there.
//!
//! A job has its plan, the arguments of its command and the last lines of its output, but never a
//! password. Not here: starting and stopping jobs (dbdyno's web).

use model::{Choice, Experiment, RunId, choice};
use rusqlite::{OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::error::{StoreError, StoreErrorKind};
use super::process::Process;
use super::wall_clock::unix_ms;
use super::{Store, codec};

/// Maximum number of ended jobs that are kept; the oldest are removed first. Their runs stay.
const JOBS_MAX: i64 = 1000;
/// Maximum number of users' actions that are kept; the oldest are removed first.
const ACTIONS_MAX: i64 = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobKind {
    Build,
    Check,
    Drop,
    /// Job that executes a plan as one run.
    Run,
    /// Job that executes a plan with axes or repeats, as an experiment.
    Experiment,
    /// Job that searches for the highest value, such as a rate, at which objectives hold.
    Seek,
    /// Job that runs the remaining trials of an experiment or a search.
    Resume,
}

choice!(JobKind {
    Build = "build",
    Check = "check",
    Drop = "drop",
    Run = "run",
    Experiment = "experiment",
    Seek = "seek",
    Resume = "resume",
});

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobStatus {
    /// The job waits for other jobs to end.
    Queued,
    Running,
    /// The job's process ended with exit code 0.
    Done,
    /// The job's process ended with another exit code, or was killed.
    Failed,
    /// A user stopped the job.
    Stopped,
    /// The job ended, or could not start, while no dbdyno watched it, so its result is unknown.
    Lost,
}

choice!(JobStatus {
    Queued = "queued",
    Running = "running",
    Done = "done",
    Failed = "failed",
    Stopped = "stopped",
    Lost = "lost",
});

/// A process of dbdyno that a user requested on a web page, such as a run or a build of data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub kind: JobKind,
    /// Name shown for the job, in one line: the workload, or the name of the plan.
    pub name: String,
    /// URL of the database under test, without a password.
    pub target: String,
    /// Arguments of the job's process, without the program's name.
    pub words: Vec<String>,
    /// Plan that the job's process reads from its standard input.
    pub plan: String,
    /// Name of the user who requested the job.
    pub who: String,
}

/// A job as stored, with its status, times and result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRow {
    /// Number by which the job is identified; it is never reused.
    pub number: i64,
    pub job: Job,
    pub status: JobStatus,
    /// Time at which the user requested the job, in milliseconds since 1970-01-01T00:00:00Z.
    pub queued_unix_ms: i64,
    /// Time at which the job's process started, in milliseconds since 1970-01-01T00:00:00Z; `None`
    /// before it.
    pub started_unix_ms: Option<i64>,
    /// Time at which the job's process ended, in milliseconds since 1970-01-01T00:00:00Z; `None`
    /// before it.
    pub ended_unix_ms: Option<i64>,
    /// Exit code of the job's process; `None` if it has not ended, if a signal ended it, or if no
    /// dbdyno was running to see its end.
    pub exit_code: Option<i32>,
    /// Last lines of the job's output; empty until it ends.
    pub output: String,
    /// Process that executes the job; `None` before it starts.
    pub process: Option<Process>,
}

/// An action of a user on a web page, such as the start of a job, which the store keeps as a record
/// of who did what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionRow {
    /// Time of the action, in milliseconds since 1970-01-01T00:00:00Z.
    pub at_unix_ms: i64,
    /// Name of the user who acted on the web page.
    pub who: String,
    /// Description of the user's action, in a sentence.
    pub what: String,
}

const COLUMNS: &str = "number, kind, name, target, words, plan, who, status, queued_unix_ms,
    started_unix_ms, ended_unix_ms, exit_code, output, boot_id, pid_namespace, pid, pid_start_time";

impl Store {
    /// Stores a job with the status [`JobStatus::Queued`], and returns its number. Removes the
    /// oldest ended jobs if there are too many.
    pub fn add_job(&self, job: &Job) -> Result<i64, StoreError> {
        let words = codec::to_json(&job.words)
            .map_err(|why| StoreError::new(StoreErrorKind::Other, format!("job: {why}")))?;
        let added = || -> rusqlite::Result<i64> {
            let behavior = TransactionBehavior::Immediate;
            let all = Transaction::new_unchecked(&self.connection, behavior)?;
            let sql =
                "INSERT INTO job (kind, name, target, words, plan, who, status, queued_unix_ms)
                       VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
            let Job { kind, name, target, plan, who, .. } = job;
            let queued = JobStatus::Queued.name();
            let row = params![kind.name(), name, target, words, plan, who, queued, unix_ms()];
            all.execute(sql, row)?;
            let number = all.last_insert_rowid();
            let sql = "DELETE FROM job WHERE number <= ? AND status NOT IN ('queued', 'running')";
            all.execute(sql, [number - JOBS_MAX])?;
            all.commit()?;
            Ok(number)
        };
        added().map_err(|error| self.reader().said(&error))
    }

    /// Marks job `number` as running in `process`, with the present time as its start.
    pub fn begin_job(&self, number: i64, process: &Process) -> Result<(), StoreError> {
        let sql = "UPDATE job SET status = ?, started_unix_ms = ?, boot_id = ?, pid_namespace = ?,
                                  pid = ?, pid_start_time = ? WHERE number = ?";
        let start = process.start_column();
        let Process { boot_id, pid_namespace, pid, .. } = process;
        let running = JobStatus::Running.name();
        let row = params![running, unix_ms(), boot_id, pid_namespace, pid, start, number];
        self.connection.execute(sql, row).map(drop).map_err(|error| self.reader().said(&error))
    }

    /// Stores the final status of a job, its exit code, and the last lines of its output.
    pub fn end_job(
        &self,
        number: i64,
        status: JobStatus,
        exit_code: Option<i32>,
        output: &str,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE job SET status = ?, ended_unix_ms = ?, exit_code = ?, output = ?
                   WHERE number = ?";
        let row = params![status.name(), unix_ms(), exit_code, output, number];
        self.connection.execute(sql, row).map(drop).map_err(|error| self.reader().said(&error))
    }

    /// Returns all stored jobs, newest first.
    pub fn jobs(&self) -> Result<Vec<JobRow>, StoreError> {
        let read = || -> rusqlite::Result<Vec<JobRow>> {
            let sql = format!("SELECT {COLUMNS} FROM job ORDER BY number DESC");
            let mut select = self.connection.prepare(&sql)?;
            select.query_map((), row_of)?.collect()
        };
        read().map_err(|error| self.reader().said(&error))
    }

    pub fn job(&self, number: i64) -> Result<Option<JobRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM job WHERE number = ?");
        let read = self.connection.query_row(&sql, [number], row_of).optional();
        read.map_err(|error| self.reader().said(&error))
    }

    /// Returns the newest run that `process`, such as that of a job, has written; `None` if it has
    /// written none.
    pub fn run_of(&self, process: &Process) -> Result<Option<RunId>, StoreError> {
        let sql = "SELECT id FROM run WHERE pid = ? AND pid_start_time = ? AND boot_id = ?
                   ORDER BY number DESC LIMIT 1";
        self.of_process(sql, process).map(|id| id.map(RunId))
    }

    /// Returns the id of the experiment whose trials `process`, such as that of a job, has run;
    /// `None` if it has run none.
    pub fn experiment_of(&self, process: &Process) -> Result<Option<String>, StoreError> {
        let sql = "SELECT experiment.id FROM run
                   JOIN trial ON trial.run = run.number
                   JOIN experiment ON experiment.number = trial.experiment
                   WHERE pid = ? AND pid_start_time = ? AND boot_id = ? LIMIT 1";
        self.of_process(sql, process)
    }

    fn of_process(&self, sql: &str, process: &Process) -> Result<Option<String>, StoreError> {
        let start = process.start_column();
        let found = params![process.pid, start, process.boot_id];
        let read = self.connection.query_row(sql, found, |row| row.get(0)).optional();
        read.map_err(|error| self.reader().said(&error))
    }

    /// Returns the process that writes or wrote a run.
    pub fn process_of(&self, run: &RunId) -> Result<Process, StoreError> {
        let sql = "SELECT boot_id, pid_namespace, pid, pid_start_time FROM run WHERE id = ?";
        let read = self.connection.query_row(sql, [&run.0], Process::from_row);
        read.map_err(|error| self.reader().said(&error))
    }

    /// Returns the process that runs or ran the trials of an experiment; `None` if it was not
    /// stored, because they were last run by an older dbdyno.
    pub fn process_of_experiment(
        &self,
        experiment: &Experiment,
    ) -> Result<Option<Process>, StoreError> {
        let sql = "SELECT boot_id, pid_namespace, pid, pid_start_time FROM walk
                   WHERE experiment = (SELECT number FROM experiment WHERE id = ?)";
        let read = self.connection.query_row(sql, [&experiment.id], Process::from_row).optional();
        read.map_err(|error| self.reader().said(&error))
    }

    /// Stores that the user `who` did `what`, a sentence, at the present time. Removes the oldest
    /// actions if there are too many.
    pub fn note_action(&self, who: &str, what: &str) -> Result<(), StoreError> {
        let noted = || -> rusqlite::Result<()> {
            let sql = "INSERT INTO action (at_unix_ms, who, what) VALUES (?, ?, ?)";
            self.connection.execute(sql, params![unix_ms(), who, what])?;
            let last = self.connection.last_insert_rowid();
            self.connection
                .execute("DELETE FROM action WHERE number <= ?", [last - ACTIONS_MAX])
                .map(drop)
        };
        noted().map_err(|error| self.reader().said(&error))
    }

    /// Returns at most `limit` stored actions of users on web pages, newest first.
    pub fn actions(&self, limit: u32) -> Result<Vec<ActionRow>, StoreError> {
        let read = || -> rusqlite::Result<Vec<ActionRow>> {
            let sql = "SELECT at_unix_ms, who, what FROM action ORDER BY number DESC LIMIT ?";
            let mut select = self.connection.prepare(sql)?;
            let rows = select.query_map([limit], |row| {
                let (at_unix_ms, who, what) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok(ActionRow { at_unix_ms, who, what })
            })?;
            rows.collect()
        };
        read().map_err(|error| self.reader().said(&error))
    }
}

fn row_of(row: &Row<'_>) -> rusqlite::Result<JobRow> {
    let (kind, status, words): (String, String, String) =
        (row.get("kind")?, row.get("status")?, row.get("words")?);
    let started_unix_ms: Option<i64> = row.get("started_unix_ms")?;
    Ok(JobRow {
        number: row.get("number")?,
        job: Job {
            // Unknown kinds and states of newer versions become the plainest known ones.
            kind: JobKind::by_name(&kind).unwrap_or(JobKind::Run),
            name: row.get("name")?,
            target: row.get("target")?,
            // An unreadable command was written by a newer version, and is not started again.
            words: codec::from_json(&words).unwrap_or_default(),
            plan: row.get("plan")?,
            who: row.get("who")?,
        },
        status: JobStatus::by_name(&status).unwrap_or(JobStatus::Lost),
        queued_unix_ms: row.get("queued_unix_ms")?,
        started_unix_ms,
        ended_unix_ms: row.get("ended_unix_ms")?,
        exit_code: row.get("exit_code")?,
        output: row.get("output")?,
        process: started_unix_ms.map(|_| Process::from_row(row)).transpose()?,
    })
}
