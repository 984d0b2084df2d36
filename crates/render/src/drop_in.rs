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
    /// Whether the load has a rate, so that the schedule's lag is reported.
    pub has_rate: bool,
    /// Number of clients that an error has ended. pgbench does not count their last transactions as
    /// failed.
    pub n_aborted: u64,
    /// For each script, its commands with the names of the custom metrics of their times; empty if
    /// the report has no latencies of commands.
    pub commands: Vec<Vec<(String, String)>>,
    /// Whether each transaction opens a connection.
    pub connects_each: bool,
    /// Latency limit in milliseconds, and how many transactions took longer.
    pub late: Option<(f64, u64)>,
}

/// Returns a run's report as pgbench prints it.
pub fn pgbench(report: &Report, words: &PgbenchWords) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    let counts = &report.block.counts;
    let processed = processed(report, words.has_rate && words.transactions.is_none());
    let failed = counts.failed.saturating_sub(words.n_aborted);
    let all = (counts.finished + failed) as f64;
    let percent = |n: u64| if all > 0.0 { 100.0 * n as f64 / all } else { 0.0 };
    setting(report, words, &mut line);
    if counts.finished + failed + counts.dropped == 0 {
        // pgbench's report ends here, since nothing else would have a meaning.
        return out;
    }
    line(format!("number of failed transactions: {failed} ({:.3}%)", percent(failed)));
    if words.is_detailed {
        for kind in RETRIED {
            let of = report.block.errors.iter().filter(|error| error.kind == kind);
            // Each error that ended no transaction was retried.
            let n = of.map(|error| error.count).sum::<u64>().min(failed);
            line(format!("number of {kind} failures: {n} ({:.3}%)", percent(n)));
        }
    }
    if words.tries != 1 {
        retries(counts.retried, counts.finished + failed, "", &mut line);
    }
    if counts.dropped > 0 {
        line(format!(
            "number of transactions skipped: {} ({:.3}%)",
            counts.dropped,
            100.0 * counts.dropped as f64 / counts.offered.max(1) as f64
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
    line(format!("latency average = {:.3} ms", times.mean.unwrap_or(0.0)));
    if words.is_measured {
        line(format!("latency stddev = {:.3} ms", times.sd.unwrap_or(0.0)));
    }
    if words.has_rate {
        // pgbench calls both the wait for a client and its own lateness lag.
        let wait = &report.block.wait_ms;
        let (mean, max) = (wait.mean.unwrap_or(0.0), wait.max.unwrap_or(0.0));
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
    let tps = processed as f64 / report.measured_seconds.max(f64::MIN_POSITIVE);
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

/// Returns the number of transactions that ended in the measured time. With a rate that the
/// database does not reach, many end later, which these programs do not count; otherwise only those
/// that were running at the end do, and count.
fn processed(report: &Report, has_rate: bool) -> u64 {
    let finished = report.block.counts.finished;
    let in_time = report.block.tps.map(|tps| (tps * report.measured_seconds).round() as u64);
    in_time.filter(|_| has_rate).map_or(finished, |in_time| in_time.min(finished))
}

/// Writes what was asked for, and how many transactions were processed.
fn setting(report: &Report, words: &PgbenchWords, line: &mut dyn FnMut(String)) {
    let processed = processed(report, words.has_rate && words.transactions.is_none());
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

/// Writes how often transactions were tried again. How many transactions these were is known only
/// if there is at most one retry.
fn retries(n: u64, all: u64, bullet: &str, line: &mut dyn FnMut(String)) {
    if n <= 1 {
        let percent = 100.0 * n as f64 / all.max(1) as f64;
        line(format!("{bullet}number of transactions retried: {n} ({percent:.3}%)"));
    }
    line(format!("{bullet}total number of retries: {n}"));
}

/// Writes the mean latency of each command of a script, if the user wants them. Failures and
/// retries of single commands are not recorded: where there are none, they are 0, and `-`
/// otherwise.
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
    let counts = &report.block.counts;
    let failed = counts.failed.saturating_sub(words.n_aborted);
    let shown = |n: u64| if n == 0 { "0" } else { "-" };
    for (metric, first_line) in commands {
        let mean_ns = report.block.custom_metrics.get(metric).and_then(|metric| metric.mean);
        let mut text = format!("   {:11.3}  ", mean_ns.unwrap_or(0.0) / 1e6);
        let _ = write!(text, "{:>10} ", shown(failed));
        if is_retried {
            let _ = write!(text, "{:>10} ", shown(counts.retried));
        }
        line(text + first_line);
    }
}

/// Returns the figures of each script, if there are several.
fn per_script(report: &Report, words: &PgbenchWords) -> String {
    let mut out = String::new();
    let total: u64 = words.scripts.iter().map(|(_, weight)| weight).sum();
    let counts = &report.block.counts;
    let all = (counts.finished + counts.failed).max(1) as f64;
    let figures = report.block.transactions.iter().map(|(_, figures)| figures);
    for (nth, ((title, weight), figures)) in words.scripts.iter().zip(figures).enumerate() {
        let n = figures.finished;
        let rate = n as f64 / report.measured_seconds.max(f64::MIN_POSITIVE);
        let share = 100.0 * *weight as f64 / total.max(1) as f64;
        let times = &figures.response_ms;
        let mut line = |text: String| {
            out.push_str(&text);
            out.push('\n');
        };
        line(format!("SQL script {}: {title}", nth + 1));
        line(format!(" - weight: {weight} (targets {share:.1}% of total)"));
        let failed = figures.failed;
        let of_script = n + failed;
        line(format!(
            " - {of_script} transactions ({:.1}% of total)",
            100.0 * of_script as f64 / all
        ));
        if of_script > 0 {
            line(format!(" - number of transactions actually processed: {n} (tps = {rate:.6})"));
            let percent = 100.0 * failed as f64 / of_script as f64;
            line(format!(" - number of failed transactions: {failed} ({percent:.3}%)"));
            // By script, causes of failures are not recorded.
            if words.is_detailed && failed == 0 {
                for kind in RETRIED {
                    line(format!(" - number of {kind} failures: 0 (0.000%)"));
                }
            }
            if words.tries != 1 {
                retries(figures.retried, of_script, " - ", &mut line);
            }
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
    /// Mean wait in milliseconds, and the transactions that were skipped; `None` without a rate.
    pub rate: Option<(f64, u64)>,
}

/// Returns a progress line as pgbench prints it on stderr.
pub fn pgbench_progress(progress: &Progress, has_time_stamps: bool) -> String {
    let Progress { at_s, tps, mean_ms, sd_ms, failed, rate } = progress;
    let at = match has_time_stamps {
        true => format!("{at_s:.6} s"),
        false => format!("{at_s:.1} s"),
    };
    let mut line = format!(
        "progress: {at}, {tps:.1} tps, lat {mean_ms:.3} ms stddev {sd_ms:.3}, {failed} failed"
    );
    if let Some((lag_ms, skipped)) = rate {
        let _ = write!(line, ", lag {lag_ms:.3} ms");
        if *skipped > 0 {
            let _ = write!(line, ", {skipped} skipped");
        }
    }
    line
}
