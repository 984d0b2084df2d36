//! Reports in the format of other programs, for the parsers that people have written for them:
//! pgbench's report and its progress lines.
//!
//! Not here: what these programs do not report, which `runs show` prints of the same run.

pub mod sysbench;

use std::fmt::Write as _;

use analysis::report::Report;

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
    let processed = counts.finished;
    let all = (counts.finished + counts.failed) as f64;
    let percent = |n: u64| if all > 0.0 { 100.0 * n as f64 / all } else { 0.0 };
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
    line(format!(
        "number of failed transactions: {} ({:.3}%)",
        counts.failed,
        percent(counts.failed)
    ));
    if words.is_detailed {
        for (title, kinds) in [
            ("serialization failures", &["serialization"][..]),
            ("deadlock failures", &["deadlock"][..]),
        ] {
            let of = report.block.errors.iter().filter(|error| kinds.contains(&&*error.kind));
            // Each error that ended no transaction was retried.
            let n = of.map(|error| error.count).sum::<u64>().min(counts.failed);
            line(format!("number of {title}: {n} ({:.3}%)", percent(n)));
        }
    }
    if words.tries != 1 {
        let retried = counts.retried;
        line(format!("total number of retries: {retried}"));
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
    let connect = report.block.connect_ms.times.max.unwrap_or(0.0);
    line(format!("initial connection time = {connect:.3} ms"));
    let tps = processed as f64 / report.measured_seconds.max(f64::MIN_POSITIVE);
    line(format!("tps = {tps:.6} (without initial connection time)"));
    if words.scripts.len() > 1 {
        out.push_str(&per_script(report, words));
    }
    out
}

/// Returns the figures of each script, if there are several.
fn per_script(report: &Report, words: &PgbenchWords) -> String {
    let mut out = String::new();
    let total: u64 = words.scripts.iter().map(|(_, weight)| weight).sum();
    let processed = report.block.counts.finished.max(1) as f64;
    let figures = report.block.transactions.iter().map(|(_, figures)| figures);
    for (nth, ((title, weight), figures)) in words.scripts.iter().zip(figures).enumerate() {
        let n = figures.finished;
        let rate = n as f64 / report.measured_seconds.max(f64::MIN_POSITIVE);
        let share = 100.0 * *weight as f64 / total.max(1) as f64;
        let times = &figures.response_ms;
        let _ = writeln!(out, "SQL script {}: {title}", nth + 1);
        let _ = writeln!(out, " - weight: {weight} (targets {share:.1}% of total)");
        let _ = writeln!(
            out,
            " - {n} transactions ({:.1}% of total, tps = {rate:.6})",
            100.0 * n as f64 / processed
        );
        let failed = figures.failed;
        let _ = writeln!(
            out,
            " - number of failed transactions: {failed} ({:.3}%)",
            100.0 * failed as f64 / (n + failed).max(1) as f64
        );
        let _ = writeln!(out, " - latency average = {:.3} ms", times.mean.unwrap_or(0.0));
        let _ = writeln!(out, " - latency stddev = {:.3} ms", times.sd.unwrap_or(0.0));
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
