//! Writes one run on a separate thread, so that measuring threads never wait for a disk.
//!
//! [`Writer::send`] encodes the event as the few bytes of its row at once and appends it to a
//! bounded list; it never waits for a disk, and nothing needs merging, since readers add up the
//! parts of a second. Once a second the thread takes the list and commits it, with a heartbeat.
//! Rows that cannot be committed stay, and are tried again. Seconds and output are lost only when
//! [`Options::backlog_bytes`] are waiting; each loss is counted.
//!
//! Not here: checkpoints while a run is measured, unless the log exceeds [`Options::wal_bytes`].

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use model::{Description, Event, Fact, Finding, RunId, Severity, Status};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::error::{StoreError, StoreErrorKind};
use super::process::Process;
use super::schema::{BUSY_TIMEOUT, IfMissing, open};
use super::summary::{RunningSummary, Summary};
use super::wall_clock::unix_ms;
use super::{Store, codec, experiments, reader};

/// Limits and intervals by which a run is written to the store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// Time between two commits; a run that is killed loses the events of at most this time.
    pub commit_every: Duration,
    /// Maximum bytes of rows that wait to be written; events beyond it are lost. At 5 to 8 kB per
    /// second, the default lasts for hours.
    pub backlog_bytes: usize,
    /// Maximum bytes that one transaction writes, so that no other process waits long for the lock
    /// of the store: 4 MB take about 50 ms. More go into further transactions.
    pub transaction_bytes: usize,
    /// Size of the WAL, in bytes, that triggers a checkpoint although a run is being measured. The
    /// default is 12 hours at 25 kB per second.
    pub wal_bytes: u64,
    /// Longest wait of a commit for a lock of another process, after which the commit fails and is
    /// tried again later.
    pub busy_timeout: Duration,
    /// Maximum number of pages of the file, for tests of a full disk; `None` for no limit.
    pub pages_max: Option<u32>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            commit_every: Duration::from_secs(1),
            backlog_bytes: 64 << 20,
            transaction_bytes: 4 << 20,
            wal_bytes: 1 << 30,
            busy_timeout: BUSY_TIMEOUT,
            pages_max: None,
        }
    }
}

/// Longest pause after failed commits; the pause doubles with each failure. A full disk stays full
/// for minutes, and every attempt disturbs the measurement.
const RETRY_EVERY_MAX: Duration = Duration::from_secs(30);

/// Writer of one run into the store. Dropping it without [`Writer::finish`] writes the queued
/// events, and marks the run as interrupted.
#[derive(Debug)]
pub struct Writer {
    run: RunId,
    path: PathBuf,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Result<(), StoreError>>>,
}

impl Store {
    /// Starts a run in the store. `begun` must be its [`Event::Begun`], which is stored on return.
    pub fn writer(&self, begun: &Event) -> Result<Writer, StoreError> {
        self.writer_with(begun, Options::default())
    }

    pub(super) fn writer_with(
        &self,
        begun: &Event,
        options: Options,
    ) -> Result<Writer, StoreError> {
        Writer::begin(&self.path, begun, options)
    }
}

impl Writer {
    /// Inserts the row of a run and starts its writing thread. The row is committed on return.
    pub(super) fn begin(
        path: &Path,
        begun: &Event,
        options: Options,
    ) -> Result<Writer, StoreError> {
        let Event::Begun { run, plan, description } = begun else {
            let message = "a run is written from its beginning on: no Begun was given".to_owned();
            return Err(StoreError::new(StoreErrorKind::Other, message));
        };
        let connection = open(path, IfMissing::Create)?;
        let said = |error: rusqlite::Error| StoreError::from_sqlite(path, &error);
        connection.busy_timeout(options.busy_timeout).map_err(said)?;
        if let Some(pages) = options.pages_max {
            connection.pragma_update(None, "max_page_count", pages).map_err(said)?;
        }
        let begin = connection.unchecked_transaction().map_err(said)?;
        let number = insert_run(path, &begin, run, plan, description)?;
        begin.commit().map_err(said)?;
        let log_bytes_max = options.wal_bytes;
        let file =
            RunFile { path: path.to_owned(), connection, run: number, options, log_bytes_max };
        let shared = Arc::new(Shared {
            queue: Mutex::new(WriterQueue {
                so_far: RunningSummary::from_description(description),
                ..WriterQueue::default()
            }),
            wake: Condvar::new(),
            backlog_bytes: options.backlog_bytes,
        });
        let thread = std::thread::Builder::new().name("store".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || write(file, &shared)
        });
        let thread = thread.map_err(|error| no_thread(path, &error))?;
        let (run, path) = (run.clone(), path.to_owned());
        Ok(Writer { run, path, shared, thread: Some(thread) })
    }

    /// Returns the path of the store's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Queues an event of the run for the thread that writes it. Takes 0.1 to 0.3 ms for an event
    /// with the results of a second, and never waits for the disk. Ignores `Begun`, which is stored
    /// already.
    pub fn send(&self, event: Event) {
        if matches!(event, Event::Begun { .. }) {
            return;
        }
        if let Event::Second(second) = &event {
            self.shared.queue().so_far.add(second);
        }
        match Body::from_event(event) {
            Ok(body) => self.shared.append(body),
            Err(why) => {
                let message = format!("an event has no stored form ({why}): please report this");
                self.shared.lose(StoreError::new(StoreErrorKind::Other, message));
            }
        }
    }

    /// Describes the present problem with writing the run, in a sentence, for a finding while the
    /// run continues; `None` if there is none.
    pub fn trouble(&self) -> Option<String> {
        if self.thread.as_ref().is_some_and(JoinHandle::is_finished) {
            return Some(
                "the thread that writes the store ended unexpectedly: please report this"
                    .to_owned(),
            );
        }
        let queue = self.shared.queue();
        let error = queue.trouble.as_ref()?;
        let shown = format!("the store {} could not be written", self.path.display());
        let waiting = queue.n_waiting();
        Some(match queue.n_lost {
            0 => format!("{shown}; {waiting} events wait in memory: {error}"),
            lost => format!("{shown}; {lost} events are lost, {waiting} wait in memory: {error}"),
        })
    }

    /// Writes the queued events and the end of the run, and flushes them to the disk.
    ///
    /// Fails with a description of what is missing from the store; the end is written all the same,
    /// if possible.
    pub fn finish(
        mut self,
        report_json: Option<String>,
        status: Status,
        summary: Summary,
    ) -> Result<(), StoreError> {
        self.close(Close::Finish(Box::new(End { report_json, status, summary })))
    }

    fn close(&mut self, close: Close) -> Result<(), StoreError> {
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        self.shared.queue().close = Some(close);
        self.shared.wake.notify_one();
        thread.join().unwrap_or_else(|_| {
            let message = "the thread that writes the store panicked: please report this";
            Err(StoreError::new(StoreErrorKind::Other, message.to_owned()))
        })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // A dropped writer means an abandoned run; there is no caller to report to.
        let _ = self.close(Close::Abandon);
    }
}

/// Returns the real time, because commits wait for disks. The clock of a run may be simulated.
#[expect(clippy::disallowed_methods, reason = "commits wait for seconds as the disk lives them")]
fn now() -> Instant {
    Instant::now()
}

/// Last message of a run to its writing thread: whether and how the run ended.
#[derive(Debug)]
enum Close {
    Finish(Box<End>),
    Abandon,
}

#[derive(Debug)]
struct End {
    report_json: Option<String>,
    status: Status,
    summary: Summary,
}

/// State shared by the threads that send events and the thread that writes them.
#[derive(Debug)]
struct Shared {
    queue: Mutex<WriterQueue>,
    wake: Condvar,
    backlog_bytes: usize,
}

#[derive(Debug, Default)]
struct WriterQueue {
    /// Rows that the writing thread has not taken yet.
    rows: Vec<Row>,
    /// Number of rows that the writing thread has taken but not committed.
    n_taken: usize,
    /// Bytes of all rows that are not committed yet.
    bytes: usize,
    /// Position of the last event in the run, its `seq` in the tables.
    seq: i64,
    n_lost: u64,
    so_far: RunningSummary,
    trouble: Option<StoreError>,
    close: Option<Close>,
}

impl WriterQueue {
    fn n_waiting(&self) -> usize {
        self.rows.len() + self.n_taken
    }
}

impl Shared {
    /// Locks the queue. It is consistent even if a thread panicked while it held the lock.
    fn queue(&self) -> MutexGuard<'_, WriterQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append(&self, body: Body) {
        let mut queue = self.queue();
        queue.seq += 1;
        let row = Row { seq: queue.seq, body };
        if queue.bytes + row.bytes() > self.backlog_bytes && row.body.may_be_lost() {
            queue.n_lost += 1;
            queue.trouble.get_or_insert_with(overrun);
            return;
        }
        queue.bytes += row.bytes();
        queue.rows.push(row);
    }

    fn lose(&self, why: StoreError) {
        let mut queue = self.queue();
        queue.seq += 1;
        queue.n_lost += 1;
        queue.trouble = Some(why);
    }

    /// Moves queued rows to `batch`, once `instant` has come or the end of the run is requested.
    /// Returns the request for the end; `None` while the run goes on.
    fn take(&self, batch: &mut Vec<Row>, instant: Instant) -> Option<Close> {
        let mut queue = self.queue();
        while queue.close.is_none() {
            let left = instant.saturating_duration_since(now());
            if left.is_zero() {
                break;
            }
            let woken = self.wake.wait_timeout(queue, left);
            queue = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        batch.append(&mut queue.rows);
        queue.n_taken = batch.len();
        queue.close.take()
    }

    /// Updates the counts after a commit of a batch: `bytes` were committed, and `n_left` rows were
    /// not. Keeps an error in `result` for [`Writer::trouble`].
    fn settle(&self, bytes: usize, n_left: usize, result: &Result<(), StoreError>) {
        let mut queue = self.queue();
        queue.bytes = queue.bytes.saturating_sub(bytes);
        queue.n_taken = n_left;
        match result {
            Err(error) => queue.trouble = Some(error.clone()),
            // No problem remains once all rows are written, unless rows were lost.
            Ok(()) if queue.n_lost == 0 => queue.trouble = None,
            Ok(()) => {}
        }
    }
}

/// An event as a row of the table that stores events of its kind.
#[derive(Debug)]
struct Row {
    seq: i64,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Fact(Fact),
    Event { kind: &'static str, json: String },
    Second { group: u16, second: i64, blob: Vec<u8> },
    Clients { group: u16, blob: Vec<u8> },
    Around { kind: &'static str, blob: Vec<u8> },
    Finding(Finding),
}

impl Body {
    fn from_event(event: Event) -> Result<Body, String> {
        if let Some(kind) = codec::kind_of(&event) {
            return Ok(Body::Event { kind, json: codec::to_json(&event)? });
        }
        Ok(match event {
            Event::Fact(fact) => Body::Fact(fact),
            Event::Finding(finding) => Body::Finding(finding),
            Event::Second(second) => Body::Second {
                group: second.group,
                second: second.second,
                blob: codec::to_blob(&second)?,
            },
            Event::Clients { group, moments } => {
                Body::Clients { group, blob: codec::to_blob(&moments)? }
            }
            Event::Readings(readings) => {
                Body::Around { kind: codec::READINGS, blob: codec::to_blob(&readings)? }
            }
            Event::Settings { settings } => {
                Body::Around { kind: codec::SETTINGS, blob: codec::to_blob(&settings)? }
            }
            Event::SummarySoFar(summary) => {
                Body::Around { kind: codec::SUMMARY_SO_FAR, blob: codec::to_blob(&summary)? }
            }
            Event::CpuProfile(profile) => {
                Body::Around { kind: codec::CPU_PROFILE, blob: codec::to_blob(&profile)? }
            }
            other => return Err(format!("{other:?}")),
        })
    }

    /// Returns true if the event may be dropped when too many rows wait, because events of its kind
    /// occur often. Single events are small, and always kept.
    fn may_be_lost(&self) -> bool {
        matches!(
            self,
            Body::Second { .. }
                | Body::Around { kind: codec::READINGS | codec::SUMMARY_SO_FAR, .. }
                | Body::Event { kind: "output", .. }
        )
    }
}

impl Row {
    fn bytes(&self) -> usize {
        size_of::<Row>()
            + match &self.body {
                Body::Fact(fact) => {
                    fact.about.len() + fact.name.len() + fact.value.to_string().len()
                }
                Body::Event { json, .. } => json.len(),
                Body::Second { blob, .. }
                | Body::Clients { blob, .. }
                | Body::Around { blob, .. } => blob.len(),
                Body::Finding(finding) => finding.id.len() + finding.text.len(),
            }
    }

    fn insert(&self, to: &Connection, run: i64) -> rusqlite::Result<usize> {
        let seq = self.seq;
        match &self.body {
            Body::Fact(fact) => {
                let sql = "INSERT INTO fact VALUES (?, ?, ?, ?, ?)";
                let values = params![run, seq, fact.about, fact.name, fact.value.to_string()];
                to.prepare_cached(sql)?.execute(values)
            }
            Body::Event { kind, json } => to
                .prepare_cached("INSERT INTO event VALUES (?, ?, ?, ?)")?
                .execute(params![run, seq, kind, json]),
            Body::Second { group, second, blob } => to
                .prepare_cached("INSERT INTO second VALUES (?, ?, ?, ?, ?, ?)")?
                .execute(params![run, seq, group, second, codec::CBOR_DEFLATED, blob]),
            Body::Clients { group, blob } => to
                .prepare_cached("INSERT INTO client VALUES (?, ?, ?, ?, ?)")?
                .execute(params![run, seq, group, codec::CBOR_DEFLATED, blob]),
            Body::Around { kind, blob } => to
                .prepare_cached("INSERT INTO around VALUES (?, ?, ?, ?, ?)")?
                .execute(params![run, seq, kind, codec::CBOR_DEFLATED, blob]),
            Body::Finding(finding) => {
                let severity = finding.severity.name();
                to.prepare_cached("INSERT INTO finding VALUES (?, ?, ?, ?, ?)")?.execute(params![
                    run,
                    seq,
                    finding.id,
                    severity,
                    finding.text
                ])
            }
        }
    }
}

/// Runs the writing thread: commits once a second until the end of the run.
fn write(mut file: RunFile, shared: &Shared) -> Result<(), StoreError> {
    let mut batch = Vec::new();
    let mut pause = file.options.commit_every;
    loop {
        let close = shared.take(&mut batch, now() + pause);
        let result = file.commit_all(&mut batch, shared);
        match close {
            Some(Close::Finish(end)) => return file.end(&end, result, &mut batch, shared),
            Some(Close::Abandon) => return result,
            None if result.is_ok() => {
                file.bound_log(shared);
                pause = file.options.commit_every;
            }
            None => pause = (pause * 2).min(RETRY_EVERY_MAX),
        }
    }
}

/// The writing thread's connection to the store's file.
struct RunFile {
    path: PathBuf,
    connection: Connection,
    run: i64,
    options: Options,
    /// Size of the WAL, in bytes, that triggers the next checkpoint.
    log_bytes_max: u64,
}

impl RunFile {
    /// Commits the batch, a heartbeat and the summary so far. Rows that fail stay in the batch.
    fn commit_all(&mut self, batch: &mut Vec<Row>, shared: &Shared) -> Result<(), StoreError> {
        loop {
            let mut bytes = 0;
            let fits = |row: &&Row| {
                bytes += row.bytes();
                bytes <= self.options.transaction_bytes
            };
            let n = batch.iter().take_while(fits).count().max(1).min(batch.len());
            let bytes = batch[..n].iter().map(Row::bytes).sum();
            let (figures, measured_ns) = {
                let so_far = &shared.queue().so_far;
                (so_far.summary(), so_far.measured_ns())
            };
            let result = self.commit(&batch[..n], &figures, measured_ns);
            let result = result.map_err(|error| StoreError::from_sqlite(&self.path, &error));
            if result.is_err() {
                shared.settle(0, batch.len(), &result);
                return result;
            }
            batch.drain(..n);
            shared.settle(bytes, batch.len(), &result);
            if batch.is_empty() {
                return Ok(());
            }
        }
    }

    fn commit(
        &self,
        rows: &[Row],
        figures: &Summary,
        measured_ns: Option<i64>,
    ) -> rusqlite::Result<()> {
        let all = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        for row in rows {
            row.insert(&all, self.run)?;
        }
        let sql = "UPDATE run SET heartbeat_unix_ms = ?, tps = ?, primary_name = ?,
             primary_title = ?, primary_value = ?, p99_ns = ?, measured_ns = ? WHERE number = ?";
        let primary = figures.primary.as_ref();
        all.prepare_cached(sql)?.execute(params![
            unix_ms(),
            figures.tps,
            primary.map(|figure| &figure.name),
            primary.map(|figure| &figure.title),
            primary.map(|figure| figure.value),
            figures.p99_ns.and_then(|p99| i64::try_from(p99).ok()),
            measured_ns,
            self.run
        ])?;
        all.commit()
    }

    /// Runs a checkpoint if the WAL has grown too long, and adds a line about it to the run's
    /// output. If a reader prevents the checkpoint, tries again when the WAL has grown by as much
    /// again.
    fn bound_log(&mut self, shared: &Shared) {
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        // Metadata are read without opening it: see `schema::look`.
        let bytes = std::fs::metadata(log).map_or(0, |log| log.len());
        if bytes <= self.options.wal_bytes {
            self.log_bytes_max = self.options.wal_bytes;
        } else if bytes > self.log_bytes_max && self.checkpoint("PASSIVE").is_ok() {
            self.log_bytes_max = bytes + self.options.wal_bytes;
            let text = "the store's log was checkpointed during the run".to_owned();
            // An output can always be encoded as JSON.
            if let Ok(body) = Body::from_event(Event::Output { text }) {
                shared.append(body);
            }
        }
    }

    fn checkpoint(&self, mode: &str) -> rusqlite::Result<()> {
        self.connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), (), |_| Ok(()))
    }

    /// Writes the end of the run after the last batch, whose result is `written`. If the batch or
    /// the end cannot be written, seconds and output are dropped first, then the report. Fails with
    /// a description of what is missing.
    fn end(
        &mut self,
        end: &End,
        written: Result<(), StoreError>,
        batch: &mut Vec<Row>,
        shared: &Shared,
    ) -> Result<(), StoreError> {
        let mut n_lost = shared.queue().n_lost;
        let mut trouble = shared.queue().trouble.clone();
        if let Err(error) = written {
            let n_before = batch.len();
            batch.retain(|row| !row.body.may_be_lost());
            n_lost += (n_before - batch.len()) as u64;
            // Rows that fail stay in the batch, and count as lost.
            let _ = self.commit_all(batch, shared);
            n_lost += batch.len() as u64;
            trouble = Some(error);
        }
        let mut missing = format!("{n_lost} of its events");
        let mut ended = self.write_end(end, end.report_json.as_deref(), n_lost);
        if let (Err(error), true) = (&ended, end.report_json.is_some()) {
            trouble.get_or_insert_with(|| StoreError::from_sqlite(&self.path, error));
            missing.push_str(" and its report");
            ended = self.write_end(end, None, n_lost);
        }
        self.tidy_log();
        if let Err(error) = ended {
            trouble.get_or_insert_with(|| StoreError::from_sqlite(&self.path, &error));
            missing.push_str(" and its end");
        } else if n_lost == 0 && trouble.is_none() {
            return Ok(());
        }
        let error = trouble.unwrap_or_else(overrun);
        let message = format!("the run is stored without {missing}: {error}");
        Err(StoreError::new(error.kind, message))
    }

    /// Writes the end of the run into its row, and flushes the file to the disk.
    fn write_end(&self, end: &End, report: Option<&str>, n_lost: u64) -> rusqlite::Result<()> {
        self.connection.pragma_update(None, "synchronous", "FULL")?;
        let all = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        let finite = |figure: Option<f64>| figure.filter(|figure| figure.is_finite());
        let primary = end.summary.primary.as_ref().filter(|figure| figure.value.is_finite());
        let now = unix_ms();
        let changed = all.execute(
            "UPDATE run SET status = ?2, ended_unix_ms = ?3, heartbeat_unix_ms = ?3, tps = ?4,
                 primary_name = ?5, primary_title = ?6, primary_value = ?7, p99_ns = ?8,
                 measured_ns = ?9, worst_finding = ?10, events_lost = ?11, report = ?12
             WHERE number = ?1",
            params![
                self.run,
                end.status.name(),
                now,
                finite(end.summary.tps),
                primary.map(|figure| &figure.name),
                primary.map(|figure| &figure.title),
                primary.map(|figure| figure.value),
                end.summary.p99_ns.and_then(|p99| i64::try_from(p99).ok()),
                measured_ns(&all, self.run)?,
                worst_finding(&all, self.run)?,
                i64::try_from(n_lost).unwrap_or(i64::MAX),
                report,
            ],
        )?;
        if changed != 1 {
            return Err(rusqlite::Error::StatementChangedRows(changed));
        }
        all.commit()
    }

    /// Runs a checkpoint of the WAL, unless another run is being measured. If it fails, nothing is
    /// lost, since a later checkpoint moves the same pages.
    fn tidy_log(&self) {
        if matches!(reader::any_alive(&self.connection), Ok(false)) {
            let _ = self.checkpoint("TRUNCATE");
        }
    }
}

/// Returns the error that too many rows were waiting, although no write has failed.
fn overrun() -> StoreError {
    let message = "its disk is too slow: name a file on a faster one".to_owned();
    StoreError::new(StoreErrorKind::Other, message)
}

fn insert_run(
    path: &Path,
    connection: &Connection,
    run: &RunId,
    plan: &str,
    description: &Description,
) -> Result<i64, StoreError> {
    let json = codec::to_json(description)
        .map_err(|why| StoreError::new(StoreErrorKind::Other, format!("{run}: {why}")))?;
    let clients: u64 = description.groups.iter().map(|group| u64::from(group.clients)).sum();
    let process = Process::current();
    let inserted = connection.execute(
        r#"INSERT INTO run (id, started_unix_ms, heartbeat_unix_ms, status, boot_id,
               pid_namespace, pid, pid_start_time, name, workload, target, "database", clients,
               dbdyno, plan, description)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"#,
        params![
            run.0,
            description.started_unix_ms,
            unix_ms(),
            Status::Running.name(),
            process.boot_id,
            process.pid_namespace,
            process.pid,
            process.start_column(),
            description.name,
            description.workloads().join("+"),
            description.target,
            description.database,
            i64::try_from(clients).unwrap_or(i64::MAX),
            description.dbdyno,
            plan,
            json,
        ],
    );
    match inserted {
        Ok(_) => {
            let number = connection.last_insert_rowid();
            if let Some(trial) = &description.trial {
                let bound = experiments::bind(connection, number, trial);
                bound.map_err(|error| StoreError::from_sqlite(path, &error))?;
            }
            Ok(number)
        }
        Err(error) if is_constraint(&error) => {
            let message =
                format!("the store {} already has a run {run}: please report this", path.display());
            Err(StoreError::new(StoreErrorKind::Other, message))
        }
        Err(error) => Err(StoreError::from_sqlite(path, &error)),
    }
}

fn is_constraint(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
}

/// Returns the length of the measured phase in nanoseconds, from the run's last event `ended`;
/// `None` if it has no such event.
fn measured_ns(connection: &Connection, run: i64) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT body ->> 'measured_ns' FROM event
               WHERE run = ? AND kind = 'ended' ORDER BY seq DESC LIMIT 1";
    Ok(connection.query_row(sql, [run], |row| row.get(0)).optional()?.flatten())
}

fn worst_finding(connection: &Connection, run: i64) -> rusqlite::Result<Option<&'static str>> {
    let mut select = connection.prepare("SELECT DISTINCT severity FROM finding WHERE run = ?")?;
    let names = select.query_map([run], |row| row.get::<_, String>(0))?;
    let mut worst: Option<Severity> = None;
    for name in names {
        worst = worst.max(Severity::by_name(&name?));
    }
    Ok(worst.map(Severity::name))
}

/// Returns the error that the thread of a store cannot be started. Names the limit to raise, which
/// the system's message does not.
fn no_thread(path: &Path, error: &io::Error) -> StoreError {
    let message = format!(
        "no thread for the store {} ({error}): raise the limit of processes and threads (ulimit -u)",
        path.display()
    );
    StoreError::new(StoreErrorKind::Other, message)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{begun, closed_second, figures, open_second};
    use super::*;

    /// Number of seconds of the run that the test writes: an hour in an optimized build.
    const SECONDS: u64 = if cfg!(debug_assertions) { 200 } else { 3600 };

    #[test]
    fn a_thread_that_cannot_be_started_names_the_limit() {
        let error = no_thread(Path::new("a.sqlite"), &io::ErrorKind::WouldBlock.into());
        assert!(error.message.contains("a.sqlite") && error.message.contains("(ulimit -u)"));
    }

    /// Measures the cost of storing a long run: a commit for every second, as in real time, but
    /// without waiting.
    #[test]
    fn a_second_of_five_kinds_takes_few_bytes_and_little_time() {
        let measure = |what: &str, second_at: fn(i64) -> model::Second, bytes_max: u64| {
            let made: Vec<model::Second> = (0..20).map(second_at).collect();
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("runs.sqlite");
            let connection = open(&path, IfMissing::Create).expect("a store");
            let Event::Begun { run, plan, description } = begun("0197-hour", 1) else {
                panic!("begun");
            };
            let number = insert_run(&path, &connection, &run, &plan, &description);
            let options = Options::default();
            let run = number.expect("a run");
            let log_bytes_max = options.wal_bytes;
            let mut file = RunFile { path: path.clone(), connection, run, options, log_bytes_max };
            let shared = Shared {
                queue: Mutex::new(WriterQueue::default()),
                wake: Condvar::new(),
                backlog_bytes: options.backlog_bytes,
            };
            let (mut encoding, mut committing) = (Duration::ZERO, Duration::ZERO);
            for second in 0..SECONDS as usize {
                let event = Event::Second(made[second % made.len()].clone());
                let begin = now();
                shared.append(Body::from_event(event).expect("a blob"));
                encoding += begin.elapsed();
                let begin = now();
                let mut batch = Vec::new();
                shared.take(&mut batch, begin);
                file.commit_all(&mut batch, &shared).expect("room");
                committing += begin.elapsed();
            }
            let log = std::fs::metadata(folder.path().join("runs.sqlite-wal")).expect("a log");
            let log = log.len() / SECONDS;
            file.checkpoint("TRUNCATE").expect("nobody else");
            let file = std::fs::metadata(&path).expect("a file").len() / SECONDS;
            figures(&format!(
                "{what}: {file} B/s in the file, {log} B/s in the log, a second takes {:?} to \
                 encode and {:?} to commit",
                encoding / SECONDS as u32,
                committing / SECONDS as u32
            ));
            assert!(file < bytes_max, "{what}: {file} bytes a second");
        };
        measure("closed, 1000/s", closed_second, 8_000);
        measure("open, 5000/s", open_second, 25_000);
    }
}
