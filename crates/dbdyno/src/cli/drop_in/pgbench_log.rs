//! pgbench's log of transactions (`-l`): a line for each, for a sample of them, or for each
//! interval of seconds. As with pgbench, each thread of the command line has a file of its own.
//!
//! A thread writes the files, so that no client waits for the disk. Not here: the options.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use app::{Error, Recorded, RecordedAs, SampleHook};
use model::{DbErrorKind, NS_PER_US, Outcome, Sample};

/// Number of microseconds in a second.
const US_PER_S: u64 = 1_000_000;

/// What the log has.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogOptions {
    /// Share of the transactions that are logged, above 0 and up to 1.
    pub(super) sampling_rate: f64,
    /// Length of the intervals in seconds; `None` to log each transaction.
    pub(super) every_s: Option<u64>,
    /// Duration of the load in seconds; 0 if its transactions are counted instead.
    pub(super) seconds: u64,
    /// Whether lines have the lag of a schedule.
    pub(super) has_rate: bool,
    /// Whether lines have the number of retries.
    pub(super) has_retries: bool,
    /// Whether failures have their kind.
    pub(super) is_detailed: bool,
}

/// A log that is being written.
pub(super) struct Log {
    writer: JoinHandle<Result<(), Error>>,
}

/// A transaction that has ended or was skipped.
struct Ended {
    sample: Sample,
    client: u32,
    /// Time since 1970 at which it ended, in microseconds.
    ended_us: u64,
    is_skipped: bool,
}

/// The file of a thread.
struct LogFile {
    path: String,
    file: BufWriter<File>,
    lines: Lines,
}

impl LogFile {
    fn create(path: String, options: LogOptions) -> Result<LogFile, Error> {
        let created = File::create(&path).map_err(|error| cannot(&path, &error))?;
        Ok(LogFile { path, file: BufWriter::new(created), lines: Lines::new(options) })
    }

    fn write(&mut self, text: &str) -> Result<(), Error> {
        self.file.write_all(text.as_bytes()).map_err(|error| cannot(&self.path, &error))
    }
}

fn cannot(path: &str, error: &std::io::Error) -> Error {
    Error::Failed(format!("{path}: {error}"))
}

/// Returns the index of the thread that pgbench gives to each client: the first clients belong to
/// the first thread, and no thread has two more than another.
fn threads_of(clients: u64, threads: u64) -> Vec<usize> {
    let threads = threads.clamp(1, clients.max(1));
    let mut all = Vec::new();
    for thread in 0..threads {
        let left = clients - all.len() as u64;
        let n = left.div_ceil(threads - thread) as usize;
        all.resize(all.len() + n, thread as usize);
    }
    all
}

impl Log {
    /// Creates the file `path` for the first of pgbench's threads, and `path.1` and so on for the
    /// others. Returns the log with the function that adds a transaction to it. The log ends when
    /// that function is dropped.
    pub(super) fn begin(
        path: &str,
        (clients, threads): (u64, u64),
        options: LogOptions,
    ) -> Result<(Log, SampleHook), Error> {
        let threads = threads_of(clients, threads);
        let n_files = threads.last().map_or(1, |last| last + 1);
        let path_of = |thread: usize| match thread {
            0 => path.to_owned(),
            thread => format!("{path}.{thread}"),
        };
        let files = (0..n_files).map(|thread| LogFile::create(path_of(thread), options));
        let files: Vec<LogFile> = files.collect::<Result<_, _>>()?;
        let (say, hear): (Sender<Ended>, Receiver<Ended>) = channel();
        // Time since 1970 at which the load began, in microseconds.
        let start_us = Arc::new(OnceLock::new());
        let known_start_us = Arc::clone(&start_us);
        let write = move || write_all(files, &threads, &hear, &known_start_us);
        let writer =
            std::thread::Builder::new().spawn(write).map_err(|error| cannot(path, &error))?;
        let hook = move |recorded: &Recorded<'_>| {
            if recorded.recorded_as == RecordedAs::Retried {
                return;
            }
            let sample = recorded.sample;
            let (finished_us, measure_us) =
                (sample.finished_ns / NS_PER_US, recorded.measure_start_ns / NS_PER_US);
            let now_us = || app::unix_ms().unsigned_abs() * 1000;
            let start_us = *start_us.get_or_init(|| now_us() + measure_us - finished_us);
            // Without a writer, the end reports its error.
            let client = recorded.client;
            let is_skipped = recorded.recorded_as == RecordedAs::Skipped;
            let ended_us = start_us + finished_us - measure_us;
            say.send(Ended { sample: *sample, client, ended_us, is_skipped }).ok();
        };
        Ok((Log { writer }, Arc::new(hook)))
    }

    /// Waits until everything is written.
    pub(super) fn end(self) -> Result<(), Error> {
        self.writer.join().expect("a panic is passed on")
    }
}

fn write_all(
    mut files: Vec<LogFile>,
    threads: &[usize],
    hear: &Receiver<Ended>,
    start_us: &OnceLock<u64>,
) -> Result<(), Error> {
    let mut last_us = 0;
    for ended in hear {
        let start_us = *start_us.get().expect("it was known before the first transaction");
        last_us = last_us.max(ended.ended_us);
        let file = &mut files[threads[ended.client as usize % threads.len()]];
        let text = file.lines.add(&ended, start_us);
        file.write(&text)?;
    }
    for mut file in files {
        if let Some(start_us) = start_us.get() {
            let text = file.lines.end(*start_us, last_us);
            file.write(&text)?;
        }
        file.file.flush().map_err(|error| cannot(&file.path, &error))?;
    }
    Ok(())
}

/// Makes the lines of a log, one transaction after the other.
struct Lines {
    options: LogOptions,
    /// Number of transactions of each client so far.
    of_clients: BTreeMap<u32, u64>,
    n_seen: u64,
    interval: Option<Interval>,
}

impl Lines {
    fn new(options: LogOptions) -> Lines {
        Lines { options, of_clients: BTreeMap::new(), n_seen: 0, interval: None }
    }

    /// Returns what a transaction adds to the file of a load that began at `start_us`.
    fn add(&mut self, ended: &Ended, start_us: u64) -> String {
        let Some(every_s) = self.options.every_s else { return self.line(ended) };
        let options = self.options;
        let out = self.intervals_before(ended.ended_us, start_us, every_s);
        let current = self.interval.get_or_insert_with(|| Interval::new(start_us / US_PER_S));
        match ended.is_skipped {
            true => current.skipped += 1,
            false => current.add(&ended.sample, &options),
        }
        out
    }

    /// Returns the last lines of a load that began at `start_us`, and whose last transaction ended
    /// at `last_us`. As with pgbench, an interval that was not over has none, since it would look
    /// like one with a lower rate.
    fn end(&mut self, start_us: u64, last_us: u64) -> String {
        let Some(every_s) = self.options.every_s else { return String::new() };
        let end_us = last_us.max(start_us + self.options.seconds * US_PER_S);
        self.intervals_before(end_us, start_us, every_s)
    }

    fn line(&mut self, ended: &Ended) -> String {
        let Ended { sample, client, ended_us, is_skipped } = ended;
        // pgbench counts them from 1.
        let nth = self.of_clients.entry(*client).or_default();
        *nth += 1;
        let nth = *nth;
        self.n_seen += 1;
        // Evenly, so that every share is met: 0.25 takes each fourth.
        let share = |n: u64| (n as f64 * self.options.sampling_rate) as u64;
        if share(self.n_seen) == share(self.n_seen - 1) {
            return String::new();
        }
        let (script, s, us) = (sample.kind, ended_us / US_PER_S, ended_us % US_PER_S);
        let time = match failure(sample.outcome, self.options.is_detailed) {
            _ if *is_skipped => "skipped".to_owned(),
            Some(kind) => kind.to_owned(),
            None => (sample.response_ns() / NS_PER_US).to_string(),
        };
        let mut line = format!("{client} {nth} {time} {script} {s} {us}");
        if self.options.has_rate {
            let lag_ns = if *is_skipped { 0 } else { lag_ns(sample) };
            line += &format!(" {}", lag_ns / NS_PER_US);
        }
        if self.options.has_retries {
            line += &format!(" {}", sample.retries);
        }
        line + "\n"
    }

    /// Returns the lines of the intervals that are over at `now_us`, also of those without a
    /// transaction. The first begins with the second in which the load began.
    fn intervals_before(&mut self, now_us: u64, start_us: u64, every_s: u64) -> String {
        let mut out = String::new();
        let current = self.interval.get_or_insert_with(|| Interval::new(start_us / US_PER_S));
        while now_us / US_PER_S >= current.start_s + every_s {
            out += &current.line();
            *current = Interval::new(current.start_s + every_s);
        }
        out
    }
}

/// Returns the word for a failed transaction; `None` for one that finished.
fn failure(outcome: Outcome, is_detailed: bool) -> Option<&'static str> {
    match outcome {
        Outcome::Committed | Outcome::RolledBack | Outcome::Ignored(_) => None,
        _ if !is_detailed => Some("failed"),
        Outcome::Failed(DbErrorKind::Serialization) => Some("serialization"),
        Outcome::Failed(DbErrorKind::Deadlock) => Some("deadlock"),
        Outcome::Failed(_) | Outcome::Unknown => Some("other"),
    }
}

/// Returns the delay from the intended start to the first request, in nanoseconds.
fn lag_ns(sample: &Sample) -> u64 {
    sample.wait_ns() + sample.lag_ns()
}

/// Sums of an interval, in microseconds.
#[derive(Default)]
struct Interval {
    start_s: u64,
    count: u64,
    latency: Moments,
    lag: Moments,
    skipped: u64,
    retried: u64,
    retries: u64,
    serialization: u64,
    deadlock: u64,
}

#[derive(Default)]
struct Moments {
    sum: f64,
    sum_of_squares: f64,
    min: f64,
    max: f64,
}

impl Moments {
    fn add(&mut self, us: f64, is_first: bool) {
        self.sum += us;
        self.sum_of_squares += us * us;
        self.min = if is_first { us } else { self.min.min(us) };
        self.max = self.max.max(us);
    }

    fn words(&self) -> String {
        let Moments { sum, sum_of_squares, min, max } = self;
        format!("{sum:.0} {sum_of_squares:.0} {min:.0} {max:.0}")
    }
}

impl Interval {
    fn new(start_s: u64) -> Interval {
        Interval { start_s, ..Interval::default() }
    }

    fn add(&mut self, sample: &Sample, options: &LogOptions) {
        self.retried += u64::from(sample.retries > 0);
        self.retries += u64::from(sample.retries);
        // pgbench counts and measures those that succeeded.
        match (sample.outcome, options.is_detailed) {
            (Outcome::Failed(DbErrorKind::Serialization), true) => self.serialization += 1,
            (Outcome::Failed(DbErrorKind::Deadlock), true) => self.deadlock += 1,
            (Outcome::Failed(_) | Outcome::Unknown, _) => {}
            _ => {
                let is_first = self.count == 0;
                self.count += 1;
                let us = |ns: u64| ns as f64 / NS_PER_US as f64;
                self.latency.add(us(sample.response_ns()), is_first);
                if options.has_rate {
                    self.lag.add(us(lag_ns(sample)), is_first);
                }
            }
        }
    }

    fn line(&self) -> String {
        let Interval { start_s, count, skipped, retried, retries, serialization, deadlock, .. } =
            self;
        let (latency, lag) = (self.latency.words(), self.lag.words());
        format!(
            "{start_s} {count} {latency} {lag} {skipped} {retried} {retries} {serialization} \
             {deadlock}\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use model::{NS_PER_MS, NS_PER_S, Number, Slot, Traffic};

    use super::*;

    fn sample(client: u32, nth: u64, outcome: Outcome) -> Sample {
        let begin = nth * NS_PER_S;
        Sample {
            kind: 1,
            slot: Slot {
                number: Number::OfClient { client, nth },
                intended_ns: begin,
                claimed_ns: begin,
            },
            started_ns: begin + 5 * NS_PER_US,
            finished_ns: begin + 2 * NS_PER_MS,
            outcome,
            retries: 2,
            traffic: Traffic::default(),
        }
    }

    fn lines(options: LogOptions) -> String {
        let mut lines = Lines::new(options);
        let failed = Outcome::Failed(DbErrorKind::Deadlock);
        let all = [(0, Outcome::Committed), (1, failed), (3, Outcome::Committed)];
        let add = |(nth, outcome)| {
            let (sample, ended_us) = (sample(7, nth, outcome), (100 + nth) * US_PER_S + 9);
            lines.add(&Ended { sample, client: 7, ended_us, is_skipped: false }, 98_700_000)
        };
        let text: String = all.map(add).concat();
        text + &lines.end(98_700_000, 103_000_009)
    }

    const PLAIN: LogOptions = LogOptions {
        sampling_rate: 1.0,
        every_s: None,
        seconds: 0,
        has_rate: false,
        has_retries: false,
        is_detailed: false,
    };

    #[test]
    fn lines_are_those_of_pgbench() {
        assert_eq!(lines(PLAIN), "7 1 2000 1 100 9\n7 2 failed 1 101 9\n7 3 2000 1 103 9\n");
        let options = LogOptions {
            sampling_rate: 0.5,
            has_rate: true,
            has_retries: true,
            is_detailed: true,
            ..PLAIN
        };
        assert_eq!(lines(options), "7 2 deadlock 1 101 9 5 2\n");
        // Intervals begin with the second in which the load began, 98; the last is not over.
        let options = LogOptions { every_s: Some(2), ..PLAIN };
        assert_eq!(
            lines(options),
            "98 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n\
             100 1 2000 4000000 2000 2000 0 0 0 0 0 2 4 0 0\n"
        );
        let options = LogOptions { has_rate: true, is_detailed: true, seconds: 6, ..options };
        assert_eq!(
            lines(options),
            "98 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n\
             100 1 2000 4000000 2000 2000 5 25 5 5 0 2 4 0 1\n\
             102 1 2000 4000000 2000 2000 5 25 5 5 0 1 2 0 0\n"
        );
        let mut lines = Lines::new(LogOptions { has_rate: true, ..PLAIN });
        let sample = sample(7, 1, Outcome::RolledBack);
        let skipped = Ended { sample, client: 7, ended_us: 100_000_009, is_skipped: true };
        assert_eq!(lines.add(&skipped, 98_700_000), "7 1 skipped 1 100 9 0\n");
    }
    #[test]
    fn clients_are_divided_among_threads_as_in_pgbench() {
        assert_eq!(threads_of(3, 2), [0, 0, 1]);
        assert_eq!(threads_of(5, 3), [0, 0, 1, 1, 2]);
        assert_eq!(threads_of(2, 9), [0, 1]);
        assert_eq!(threads_of(1, 1), [0]);
    }
}
