//! Jobs: dbdyno commands that pages start, as separate processes. By default one runs at a time.
//!
//! The process of a job is dbdyno with a plan on its standard input, in its own process group, so
//! it continues when the page is closed and when the service ends. Until it has ended, its output
//! goes to a file beside the store; then the last part is stored. A password is passed in its
//! environment, which only its user can read. Not here: requesting jobs (`new_run`), and pages of
//! jobs (`job_pages`).

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::Builder;

use app::Error;
use app::place::place_of;
use axum::http::StatusCode;
use model::{Status, Target};
use store::{Fate, Job, JobRow, JobStatus, Process, Store, StoreError};

use super::http_error::HttpError;
use super::passwords::JobPassword;
use super::pidfile::beside;
use super::{JobContext, processes};
use crate::shell::Shell;

/// Maximum bytes of a job's output that are stored: the last ones, enough for a report and the last
/// errors.
const OUTPUT_BYTES_MAX: u64 = 32 * 1024;
/// Maximum number of queued jobs; a further one is rejected.
const WAITING_MAX: usize = 100;
/// Exit code of a dbdyno process that was stopped by Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Jobs of the web service. A separate thread starts and ends them; this value sends messages to
/// that thread.
pub(super) struct Jobs {
    to_runner: Sender<Message>,
}

/// Job to start, with its password, which is not stored.
pub(super) struct NewJob {
    pub(super) job: Job,
    pub(super) password: Option<JobPassword>,
}

enum Message {
    Start(Box<NewJob>, SyncSender<Result<i64, HttpError>>),
    Stop(i64, SyncSender<Result<(), HttpError>>),
    Ended(i64, Option<ExitStatus>),
}

impl Jobs {
    /// Starts the thread that manages the jobs of a store, including those of an earlier service.
    pub(super) fn begin(
        store: &Path,
        job_context: &JobContext,
        shell: &Shell,
    ) -> Result<Jobs, Error> {
        let (to_runner, messages) = channel();
        let runner = Runner {
            store: store.to_owned(),
            job_context: job_context.clone(),
            shell: shell.clone(),
            waiting: VecDeque::new(),
            running: Vec::new(),
            to_self: to_runner.clone(),
        };
        // Started before the service lowers its priority, so that jobs have the normal one.
        let thread = Builder::new().name("jobs".to_owned()).spawn(move || runner.run(&messages));
        thread.map_err(|error| Error::Failed(format!("no thread for jobs: {error}")))?;
        Ok(Jobs { to_runner })
    }

    /// Queues a job and returns its number.
    pub(super) fn start(&self, asked: NewJob) -> Result<i64, HttpError> {
        self.answered(|answer| Message::Start(Box::new(asked), answer))
    }

    /// Removes the job with this number from the queue, or stops its process like Ctrl-C.
    pub(super) fn stop(&self, number: i64) -> Result<(), HttpError> {
        self.answered(|answer| Message::Stop(number, answer))
    }

    fn answered<T>(
        &self,
        message: impl FnOnce(SyncSender<Result<T, HttpError>>) -> Message,
    ) -> Result<T, HttpError> {
        let (answer, answered) = sync_channel(1);
        let gone = || HttpError::failed("the thread of jobs has ended: restart 'dbdyno web'");
        self.to_runner.send(message(answer)).map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())?
    }
}

struct Waiting {
    number: i64,
    /// Database on which the job works, and which no other job may use at the same time; `None` if
    /// only this job can use it.
    place: Option<String>,
    asked: NewJob,
}

struct Running {
    number: i64,
    place: Option<String>,
    process: Process,
    is_stopped: bool,
    password: Option<JobPassword>,
}

struct Runner {
    store: PathBuf,
    job_context: JobContext,
    shell: Shell,
    waiting: VecDeque<Waiting>,
    running: Vec<Running>,
    to_self: Sender<Message>,
}

impl Runner {
    fn run(mut self, messages: &Receiver<Message>) {
        self.logged(|runner| runner.take_over());
        self.logged(Runner::begin_next);
        for message in messages {
            match message {
                Message::Start(asked, answer) => {
                    // The client may be gone.
                    let _ = answer.send(self.queue(*asked));
                }
                Message::Stop(number, answer) => {
                    let _ = answer.send(self.stop(number));
                }
                Message::Ended(number, status) => self.logged(|runner| runner.end(number, status)),
            }
            self.logged(Runner::begin_next);
        }
    }

    /// Runs `work`, and logs its error on the shell.
    fn logged(&mut self, work: impl FnOnce(&mut Runner) -> Result<(), StoreError>) {
        if let Err(error) = work(self) {
            self.shell.say(&format!("dbdyno: jobs: {error}"));
        }
    }

    fn open(&self) -> Result<Store, StoreError> {
        Store::open_existing(&self.store)
    }

    /// Takes over the jobs of an earlier service. Running ones are watched. Queued ones are queued
    /// again, unless they may have had a password, which is lost.
    fn take_over(&mut self) -> Result<(), StoreError> {
        let store = self.open()?;
        let here = Process::current();
        for row in store.jobs()?.into_iter().rev() {
            match (row.status, row.process) {
                (JobStatus::Queued, _) if asks_for_password(&row.job.target) => {
                    let why = "The service ended before it began, and with it the password that \
                               was typed: start it again.";
                    store.end_job(row.number, JobStatus::Lost, None, why)?;
                }
                (JobStatus::Queued, _) => {
                    let (number, place) = (row.number, place_of(&row.job.target));
                    let asked = NewJob { job: row.job, password: None };
                    self.waiting.push_back(Waiting { number, place, asked });
                }
                (JobStatus::Running, Some(process)) => {
                    let is_alive = process.fate(&here) == Fate::Alive;
                    let place = place_of(&row.job.target);
                    let number = row.number;
                    let (is_stopped, password) = (false, None);
                    self.running.push(Running { number, place, process, is_stopped, password });
                    match is_alive {
                        true => self.watch_stranger(number),
                        false => self.end(number, None)?,
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn queue(&mut self, asked: NewJob) -> Result<i64, HttpError> {
        if self.waiting.len() >= WAITING_MAX {
            let text = format!("{WAITING_MAX} jobs wait already: stop some, or wait");
            return Err(HttpError::new(StatusCode::TOO_MANY_REQUESTS, text));
        }
        let number = self.open()?.add_job(&asked.job)?;
        let place = place_of(&asked.job.target);
        self.waiting.push_back(Waiting { number, place, asked });
        Ok(number)
    }

    fn stop(&mut self, number: i64) -> Result<(), HttpError> {
        if let Some(index) = self.waiting.iter().position(|job| job.number == number) {
            self.waiting.remove(index);
            let why = "It was stopped before it began.";
            return Ok(self.open()?.end_job(number, JobStatus::Stopped, None, why)?);
        }
        if let Some(job) = self.running.iter_mut().find(|job| job.number == number) {
            job.is_stopped = true;
            return interrupted(&job.process);
        }
        Err(HttpError::new(
            StatusCode::CONFLICT,
            format!("job {number} is not running: there is nothing to stop"),
        ))
    }

    /// Starts the queued jobs that may run now.
    fn begin_next(&mut self) -> Result<(), StoreError> {
        loop {
            let waiting = self.waiting.iter().map(|job| job.place.as_deref());
            let running: Vec<_> = self.running.iter().map(|job| job.place.as_deref()).collect();
            let Some(index) = next(waiting, &running, self.job_context.jobs) else { return Ok(()) };
            let Some(job) = self.waiting.remove(index) else { return Ok(()) };
            self.begin(job)?;
        }
    }

    fn begin(&mut self, waiting: Waiting) -> Result<(), StoreError> {
        let Waiting { number, place, asked } = waiting;
        let store = self.open()?;
        let mut child = match self.spawned(number, &asked) {
            Ok(child) => child,
            Err(error) => {
                let why = format!("It cannot be started: {error}");
                return store.end_job(number, JobStatus::Failed, None, &why);
            }
        };
        let process = Process::of_pid(child.id());
        store.begin_job(number, &process)?;
        let (is_stopped, password) = (false, asked.password);
        self.running.push(Running { number, place, process, is_stopped, password });
        let (to_runner, plan) = (self.to_self.clone(), asked.job.plan);
        let watch = move || {
            if let Some(mut input) = child.stdin.take() {
                // If the process has ended already, its output has the reason.
                let _ = input.write_all(plan.as_bytes());
            }
            let status = child.wait().ok();
            let _ = to_runner.send(Message::Ended(number, status));
        };
        if let Err(error) = Builder::new().name(format!("job {number}")).spawn(watch) {
            self.shell.say(&format!("dbdyno: job {number} is not watched: {error}"));
        }
        Ok(())
    }

    fn spawned(&self, number: i64, asked: &NewJob) -> io::Result<Child> {
        let path = log_path(&self.store, number);
        let log = OpenOptions::new().append(true).create(true).mode(0o600).open(&path)?;
        let mut command = Command::new(&self.job_context.program);
        command.args(&asked.job.words).arg("--store").arg(&self.store);
        for name in self.job_context.hidden {
            command.env_remove(name);
        }
        if let Some(password) = &asked.password {
            command.env(self.job_context.password, password.secret.reveal());
        }
        command.stdin(Stdio::piped()).stdout(log.try_clone()?).stderr(log);
        // Ctrl-C at the service's terminal must not reach its jobs.
        command.process_group(0).spawn()
    }

    /// Waits on a new thread for the end of the process of job `number`, which an earlier service
    /// has started.
    fn watch_stranger(&self, number: i64) {
        let process = self.running.iter().find(|job| job.number == number);
        let Some(process) = process.map(|job| job.process.clone()) else { return };
        let to_runner = self.to_self.clone();
        let watch = move || {
            if let Ok(Some(handle)) = processes::hold(&process) {
                // Without a limit it returns when the process has ended.
                let _ = processes::has_ended(&handle, None);
            }
            let _ = to_runner.send(Message::Ended(number, None));
        };
        if let Err(error) = Builder::new().name(format!("job {number}")).spawn(watch) {
            self.shell.say(&format!("dbdyno: job {number} is not watched: {error}"));
        }
    }

    fn end(&mut self, number: i64, exit: Option<ExitStatus>) -> Result<(), StoreError> {
        let Some(index) = self.running.iter().position(|job| job.number == number) else {
            return Ok(());
        };
        let job = self.running.remove(index);
        let store = self.open()?;
        let code = exit.and_then(|exit| exit.code());
        let mut output = output_of(&self.store, number);
        if let Some(signal) = exit.and_then(|exit| exit.signal()) {
            output += &format!("\nIts process was ended by signal {signal}.\n");
        }
        let status = match exit {
            Some(_) => status_of(code, job.is_stopped),
            None => status_by_run(&store, &job.process)?,
        };
        if exit.is_none() && status == JobStatus::Failed {
            output += "\nIts process ended, or was killed, under another service.\n";
        }
        if status == JobStatus::Failed && store.run_of(&job.process)?.is_none() {
            // The job failed before its load: the password may be wrong.
            if job.password.is_some_and(JobPassword::forget) {
                output += "\nThe password that was typed for it is forgotten: type it again.\n";
            }
        }
        store.end_job(number, status, code, &output)?;
        // Numbers are unique, so a remaining file is never overwritten.
        let _ = fs::remove_file(log_path(&self.store, number));
        Ok(())
    }
}

/// Returns true if a target may need a password: if it is a server that dbdyno does not start
/// itself. A file needs none.
fn asks_for_password(url: &str) -> bool {
    Target::parse(url).is_ok_and(|target| target.is_server())
}

/// Returns the index in `waiting` of the next job to start; `None` if none may start now, or
/// `jobs_max` jobs are running. `waiting` and `running` have the database of each job, `None` if no
/// other job can use it. Jobs start in order, but a job whose database is in use has to wait, since
/// two jobs on one database never run at the same time.
fn next<'a>(
    waiting: impl Iterator<Item = Option<&'a str>>,
    running: &[Option<&str>],
    jobs_max: usize,
) -> Option<usize> {
    if running.len() >= jobs_max {
        return None;
    }
    let mut waiting = waiting;
    waiting.position(|place| place.is_none() || !running.contains(&place))
}

/// Returns the final status of a job whose end this service has seen. `code` is the exit code,
/// `None` if a signal ended the job; `is_stopped` says that a user has stopped it.
fn status_of(code: Option<i32>, is_stopped: bool) -> JobStatus {
    match code {
        Some(0) => JobStatus::Done,
        Some(INTERRUPTED) => JobStatus::Stopped,
        _ if is_stopped => JobStatus::Stopped,
        _ => JobStatus::Failed,
    }
}

/// Returns the final status of a job whose end this service has not seen, from the status of its
/// stored run. `Lost` if the job has no run, or the run still counts as running.
fn status_by_run(store: &Store, process: &Process) -> Result<JobStatus, StoreError> {
    let run = store.run_of(process)?;
    let row = run.map(|run| store.row(&run)).transpose()?.flatten();
    Ok(match row.map(|row| (row.status, row.ended_unix_ms)) {
        Some((Status::Completed, _)) => JobStatus::Done,
        // A killed run has no end.
        Some((Status::Failed, _) | (Status::Interrupted, None)) => JobStatus::Failed,
        Some((Status::Interrupted, Some(_))) => JobStatus::Stopped,
        Some((Status::Running, _)) | None => JobStatus::Lost,
    })
}

/// Stops a process like Ctrl-C. Fails if it has ended, or is not on this machine.
pub(super) fn interrupted(process: &Process) -> Result<(), HttpError> {
    match processes::interrupt(process) {
        Ok(true) => Ok(()),
        Ok(false) => Err(HttpError::new(
            StatusCode::CONFLICT,
            "its process has ended, or is not on this machine: there is nothing to stop",
        )),
        Err(error) => Err(HttpError::failed(format!(
            "process {} cannot be interrupted: {error}",
            process.pid
        ))),
    }
}

fn log_path(store: &Path, number: i64) -> PathBuf {
    beside(store, &format!("job-{number}.log"))
}

/// Returns the last part of a job's output: from the store if the job has ended, else from its
/// file.
pub(super) fn words_of(store: &Path, row: &JobRow) -> String {
    match row.ended_unix_ms {
        Some(_) => row.output.clone(),
        None => output_of(store, row.number),
    }
}

fn output_of(store: &Path, number: i64) -> String {
    // A job that has not started, or whose file is gone, has no output.
    read_tail(&log_path(store, number)).unwrap_or_default()
}

/// Reads the last [`OUTPUT_BYTES_MAX`] bytes of a file, from the start of a line.
fn read_tail(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let from = file.metadata()?.len().saturating_sub(OUTPUT_BYTES_MAX);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(match (from, text.split_once('\n')) {
        (1.., Some((_, rest))) => format!("…\n{rest}"),
        _ => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_begin_in_order_and_never_two_on_one_target() {
        let check = |waiting: &[&str], running: &[&str], jobs_max, expect: Option<usize>| {
            let targets = |names: &[&str]| -> Vec<Option<String>> {
                names.iter().map(|name| (!name.is_empty()).then(|| (*name).to_owned())).collect()
            };
            let (waiting, running) = (targets(waiting), targets(running));
            let running: Vec<Option<&str>> = running.iter().map(Option::as_deref).collect();
            let found = next(waiting.iter().map(Option::as_deref), &running, jobs_max);
            assert_eq!(found, expect);
        };
        check(&[], &[], 1, None);
        check(&["a", "b"], &[], 1, Some(0));
        check(&["a", "b"], &["c"], 1, None);
        check(&["a", "b"], &["a"], 2, Some(1));
        check(&["a", "a"], &["a"], 9, None);
        // Each of these has its own server.
        check(&["a", ""], &["a", ""], 9, Some(1));
    }

    #[test]
    fn a_job_ends_as_its_process_does() {
        assert_eq!(status_of(Some(0), false), JobStatus::Done);
        assert_eq!(status_of(Some(1), false), JobStatus::Failed);
        assert_eq!(status_of(Some(130), false), JobStatus::Stopped);
        assert_eq!(status_of(None, false), JobStatus::Failed);
        assert_eq!(status_of(None, true), JobStatus::Stopped);
        // The job had ended before it was asked to stop.
        assert_eq!(status_of(Some(0), true), JobStatus::Done);
    }

    #[test]
    fn of_a_long_log_the_last_lines_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "one\ntwo\n").unwrap();
        assert_eq!(read_tail(&path).unwrap(), "one\ntwo\n");
        fs::write(&path, "a line\n".repeat(10_000)).unwrap();
        let tail = read_tail(&path).unwrap();
        assert!(tail.starts_with("…\na line\n") && tail.len() as u64 <= OUTPUT_BYTES_MAX + 4);
    }
}
