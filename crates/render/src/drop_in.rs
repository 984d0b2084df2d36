//! Reports in the format of other programs, for the parsers that people have written for them:
//! pgbench's report and its progress lines.
//!
//! Not here: what these programs do not report, which `runs show` prints of the same run.

pub mod sysbench;

use std::fmt::Write as _;

use analysis::report::Report;

/// Kinds of errors after which pgbench may execute a transaction again.
pub const RETRIED: [&str; 2] = ["serialization", "deadlock"];

/// What pgbench's report says beyond the figures: the words of its command line.
#[derive(Clone, Debug, Default)]
pub struct PgbenchWords {
    /// Version line, such as `pgbench (dbdyno 0.1.0)`.
    pub version: String,
    /// Scripts in the order of the transaction types: title and weight.
    pub scripts: Vec<(String, u64)>,
    pub scale: i64,
    /// Query mode: `simple`, `extended` or `prepared`.
    pub mode: String,
    pub threads: u32,
    /// Largest number of tries of a transaction; 0 if there is no limit.
    pub tries: u32,
    /// Transactions per client; `None` if the time ends the run.
    pub transactions: Option<u64>,
    /// Duration of the run in seconds, if the time ends it.
    pub seconds: u64,
    /// Whether failures are reported by their causes.
    pub is_detailed: bool,
    /// Whether the mean and deviation of the latency are measured, as with `--progress` and
    /// `--rate`.
    pub is_measured: bool,
    /// Mean and longest lag of the schedule in milliseconds; `None` if the load has no rate.
    /// pgbench calls both the wait for a client and its own lateness lag.
    pub lag_ms: Option<(f64, f64)>,
    /// Time from the start of the load to its last reply, in seconds.
    pub elapsed_s: f64,
    /// Failures and retries of all transactions.
    pub losses: Losses,
    /// Failures and retries of each script.
    pub losses_of_scripts: Vec<Losses>,
    /// Commands of each script; empty if the report has no latencies of commands.
    pub commands: Vec<Vec<CommandWords>>,
    /// Whether each transaction opens a connection.
    pub connects_each: bool,
    /// Latency limit in milliseconds, and how many transactions took longer.
    pub late: Option<(f64, u64)>,
}

/// A command of a script.
#[derive(Clone, Debug, Default)]
pub struct CommandWords {
    /// First line of its text.
    pub first_line: String,
    /// Custom metric of its times.
    pub metric: String,
    /// Transactions that failed at it.
    pub failures: u64,
    /// Executions of transactions that were tried again after an error at it.
    pub retries: u64,
}

/// Transactions that failed or were tried again. Those whose error ended their client are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Losses {
    /// Failures by the kinds of [`RETRIED`].
    pub failed: [u64; 2],
    /// Transactions that were tried again, and how often all of them were.
    pub retried: (u64, u64),
}

impl Losses {
    fn failures(&self) -> u64 {
        self.failed.iter().sum()
    }
}

/// Returns a run's report as pgbench prints it.
pub fn pgbench(report: &Report, words: &PgbenchWords) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    let counts = &report.block.counts;
    let processed = counts.finished;
    let failed = words.losses.failures();
    let all = (counts.finished + failed + counts.dropped) as f64;
    let percent = |n: u64| if all > 0.0 { 100.0 * n as f64 / all } else { 0.0 };
    setting(report, words, &mut line);
    if counts.finished + failed + counts.dropped == 0 {
        // pgbench's report ends here, since nothing else would have a meaning.
        return out;
    }
    losses(words, &words.losses, all, "", &mut line);
    if counts.finished + counts.dropped == 0 {
        return out;
    }
    if words.lag_ms.is_some() && words.late.is_some() {
        line(format!(
            "number of transactions skipped: {} ({:.3}%)",
            counts.dropped,
            percent(counts.dropped)
        ));
    }
    if let Some((limit, late)) = words.late {
        line(format!(
            "number of transactions above the {limit:.1} ms latency limit: {late}/{processed} \
             ({:.3}%)",
            100.0 * late as f64 / processed.max(1) as f64
        ));
    }
    let times = &report.block.response_ms;
    let mean_ms = times.mean.unwrap_or(0.0);
    match words.is_measured {
        true => {
            line(format!("latency average = {mean_ms:.3} ms"));
            line(format!("latency stddev = {:.3} ms", times.sd.unwrap_or(0.0)));
        }
        // pgbench then divides the time of all clients by the number of their transactions.
        false if failed > 0 => {
            let mean_ms = 1e3 * words.elapsed_s * f64::from(report.clients) / all;
            line(format!("latency average = {mean_ms:.3} ms (including failures)"));
        }
        false => line(format!("latency average = {mean_ms:.3} ms")),
    }
    if let Some((mean, max)) = words.lag_ms {
        line(format!("rate limit schedule lag: avg {mean:.3} (max {max:.3}) ms"));
    }
    rate(report, words, processed, &mut line);
    match words.scripts.len() {
        1 => commands(report, words, 0, "", &mut line),
        _ => out.push_str(&per_script(report, words)),
    }
    out
}

/// Writes the time of connections, and the rate.
fn rate(report: &Report, words: &PgbenchWords, processed: u64, line: &mut dyn FnMut(String)) {
    let tps = processed as f64 / words.elapsed_s.max(f64::MIN_POSITIVE);
    match words.connects_each {
        true => {
            let times = report.block.new_connections_ms.as_ref();
            let mean_ms = times.and_then(|times| times.mean).unwrap_or(0.0);
            line(format!("average connection time = {mean_ms:.3} ms"));
            line(format!("tps = {tps:.6} (including reconnection times)"));
        }
        false => {
            let connect = report.block.connect_ms.times.max.unwrap_or(0.0);
            line(format!("initial connection time = {connect:.3} ms"));
            line(format!("tps = {tps:.6} (without initial connection time)"));
        }
    }
}

/// Writes what was asked for, and how many transactions were processed.
fn setting(report: &Report, words: &PgbenchWords, line: &mut dyn FnMut(String)) {
    let processed = report.block.counts.finished;
    let title = match words.scripts.as_slice() {
        [(title, _)] => title.as_str(),
        _ => "multiple scripts",
    };
    line(format!("transaction type: {title}"));
    line(format!("scaling factor: {}", words.scale));
    line(format!("query mode: {}", words.mode));
    line(format!("number of clients: {}", report.clients));
    line(format!("number of threads: {}", words.threads));
    if words.tries > 0 {
        line(format!("maximum number of tries: {}", words.tries));
    }
    match words.transactions {
        Some(n) => {
            line(format!("number of transactions per client: {n}"));
            let asked = n * u64::from(report.clients);
            line(format!("number of transactions actually processed: {processed}/{asked}"));
        }
        None => {
            line(format!("duration: {} s", words.seconds));
            line(format!("number of transactions actually processed: {processed}"));
        }
    }
}

/// Writes how many of `all` transactions failed, and how often they were tried again.
fn losses(
    words: &PgbenchWords,
    losses: &Losses,
    all: f64,
    bullet: &str,
    line: &mut dyn FnMut(String),
) {
    let mut counted = |what: &str, n: u64| {
        let percent = if all > 0.0 { 100.0 * n as f64 / all } else { 0.0 };
        line(format!("{bullet}number of {what}: {n} ({percent:.3}%)"));
    };
    counted("failed transactions", losses.failures());
    if words.is_detailed {
        for (kind, n) in RETRIED.iter().zip(losses.failed) {
            counted(&format!("{kind} failures"), n);
        }
    }
    if words.tries != 1 {
        counted("transactions retried", losses.retried.0);
        line(format!("{bullet}total number of retries: {}", losses.retried.1));
    }
}

/// Writes the mean latency, failures and retries of each command of a script, if the user wants
/// them.
fn commands(
    report: &Report,
    words: &PgbenchWords,
    nth: usize,
    bullet: &str,
    line: &mut dyn FnMut(String),
) {
    let Some(commands) = words.commands.get(nth) else { return };
    let is_retried = words.tries != 1;
    let counted = if is_retried { ", failures and retries" } else { " and failures" };
    line(format!("{bullet}statement latencies in milliseconds{counted}:"));
    for command in commands {
        let metric = report.block.custom_metrics.get(&command.metric);
        let mean_ns = metric.and_then(|metric| metric.mean);
        let mut text = format!("   {:11.3}  ", mean_ns.unwrap_or(0.0) / 1e6);
        let _ = write!(text, "{:>10} ", command.failures);
        if is_retried {
            let _ = write!(text, "{:>10} ", command.retries);
        }
        line(text + &command.first_line);
    }
}

/// Returns the figures of each script, if there are several.
fn per_script(report: &Report, words: &PgbenchWords) -> String {
    let mut out = String::new();
    let total: u64 = words.scripts.iter().map(|(_, weight)| weight).sum();
    let all = report.block.counts.finished.max(1) as f64;
    let figures = report.block.transactions.iter().map(|(_, figures)| figures);
    let none = Losses::default();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    for (nth, ((title, weight), figures)) in words.scripts.iter().zip(figures).enumerate() {
        let n = figures.finished;
        let rate = n as f64 / words.elapsed_s.max(f64::MIN_POSITIVE);
        let share = 100.0 * *weight as f64 / total.max(1) as f64;
        line(format!("SQL script {}: {title}", nth + 1));
        line(format!(" - weight: {weight} (targets {share:.1}% of total)"));
        let of_all = 100.0 * n as f64 / all;
        line(format!(" - {n} transactions ({of_all:.1}% of total, tps = {rate:.6})"));
        let of_script = words.losses_of_scripts.get(nth).unwrap_or(&none);
        losses(words, of_script, (n + of_script.failures()) as f64, " - ", &mut line);
        if n > 0 {
            let times = &figures.response_ms;
            line(format!(" - latency average = {:.3} ms", times.mean.unwrap_or(0.0)));
            line(format!(" - latency stddev = {:.3} ms", times.sd.unwrap_or(0.0)));
        }
        commands(report, words, nth, " - ", &mut line);
    }
    out
}

/// Figures of some seconds, for a progress line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Time since the start of the load, in seconds, or since 1970 if the user wants time stamps.
    pub at_s: f64,
    /// Transactions that ended, per second.
    pub tps: f64,
    pub mean_ms: f64,
    pub sd_ms: f64,
    pub failed: u64,
    /// Mean lag of the schedule in milliseconds; `None` without a rate.
    pub lag_ms: Option<f64>,
    /// Transactions that were skipped; `None` unless late ones are.
    pub skipped: Option<u64>,
    /// Transactions that were retried, and their retries; `None` unless they are.
    pub retried: Option<(u64, u64)>,
}

/// Returns a progress line as pgbench prints it on stderr.
pub fn pgbench_progress(progress: &Progress, has_time_stamps: bool) -> String {
    let Progress { at_s, tps, mean_ms, sd_ms, failed, lag_ms, skipped, retried } = progress;
    let at = match has_time_stamps {
        true => format!("{at_s:.3} s"),
        false => format!("{at_s:.1} s"),
    };
    let mut line = format!(
        "progress: {at}, {tps:.1} tps, lat {mean_ms:.3} ms stddev {sd_ms:.3}, {failed} failed"
    );
    if let Some(lag_ms) = lag_ms {
        let _ = write!(line, ", lag {lag_ms:.3} ms");
    }
    if let Some(skipped) = skipped {
        let _ = write!(line, ", {skipped} skipped");
    }
    if let Some((retried, retries)) = retried {
        let _ = write!(line, ", {retried} retried, {retries} retries");
    }
    line
}
