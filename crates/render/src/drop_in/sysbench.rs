//! Reports in the format of sysbench 1.0.20.
//!
//! Not here: reports of pgbench (the module above).

use std::fmt::Write as _;

use stats::Histogram;

/// Number of buckets of sysbench's histogram of latencies.
const BUCKETS: f64 = 1024.0;
/// Smallest and largest latency of that histogram, in milliseconds.
const RANGE_MS: (f64, f64) = (0.001, 100_000.0);
/// Columns of the longest bar of the histogram.
const BAR: f64 = 40.0;

/// What the lines before the load say: the words of the command line.
#[derive(Clone, Debug, Default)]
pub struct Beginning {
    pub threads: u32,
    /// Transactions per second; `None` if the load has no rate.
    pub rate: Option<String>,
    /// Seconds between two lines of figures; `None` if there are none.
    pub every_s: Option<u64>,
    /// Seed of the random numbers; `None` if it is the current time.
    pub seed: Option<u64>,
    pub is_debug: bool,
    pub is_validated: bool,
}

/// Returns the line with the version, which parsers look for.
pub fn version_line(version: &str) -> String {
    format!("sysbench 1.0.20 (dbdyno {version}, using bundled LuaJIT)\n\n")
}

/// An option, as pages of help list it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionRow {
    /// The option with the form of its value, such as `--time=N`.
    pub flag: String,
    pub help: String,
    /// Default; `None` if it has none.
    pub default: Option<String>,
}

/// Returns a list of options below a title.
pub fn option_group(title: &str, rows: &[OptionRow]) -> String {
    let width = rows.iter().map(|row| row.flag.chars().count()).max().unwrap_or(0);
    let mut out = format!("{title}\n");
    for OptionRow { flag, help, default } in rows {
        let _ = write!(out, "  {flag:<width$} {help}");
        if let Some(default) = default {
            let _ = write!(out, " [{default}]");
        }
        out.push('\n');
    }
    out
}

/// What sysbench prints before it starts threads.
pub const INITIALIZING: &str = "Initializing worker threads...\n\n";

/// What sysbench prints when the load begins.
pub const STARTED: &str = "Threads started!\n\n";

/// Returns the lines that sysbench prints before it connects.
pub fn beginning(words: &Beginning) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "Running the test with following options:");
    let _ = writeln!(out, "Number of threads: {}", words.threads);
    if let Some(rate) = &words.rate {
        let _ = writeln!(out, "Target transaction rate: {rate}/sec");
    }
    if let Some(every) = words.every_s {
        let _ = writeln!(out, "Report intermediate results every {every} second(s)");
    }
    if words.is_debug {
        out.push_str("Debug mode enabled.\n\n");
    }
    if words.is_validated {
        out.push_str("Validation checks: on.\n\n");
    }
    let _ = match words.seed {
        Some(seed) => writeln!(out, "Initializing random number generator from seed ({seed})."),
        None => writeln!(out, "Initializing random number generator from current time"),
    };
    out.push_str("\n\n");
    out.push_str(INITIALIZING);
    out
}

/// Figures of some seconds, for a line between.
#[derive(Clone, Copy, Debug, Default)]
pub struct Between {
    /// Seconds since the start of the load.
    pub at_s: i64,
    pub threads: u32,
    pub tps: f64,
    /// Statements per second: reads, writes and others.
    pub statements: [f64; 3],
    /// Percentile that the user chose, from 1 to 100, and its latency; 0 for none.
    pub percentile: (u64, f64),
    /// Errors that were ignored, per second.
    pub errors: f64,
    /// Connections that were made again, per second.
    pub reconnects: f64,
    /// Events that wait, and those that run; `None` without a rate.
    pub queue: Option<(u64, u64)>,
}

/// Returns the line of some seconds, or two if the load has a rate.
pub fn between(figures: &Between) -> String {
    let Between { at_s, threads, tps, statements, percentile, errors, reconnects, queue } = figures;
    let [reads, writes, others] = statements;
    let qps = reads + writes + others;
    let (nth, latency) = percentile;
    let mut line = format!(
        "[ {at_s}s ] thds: {threads} tps: {tps:4.2} qps: {qps:4.2} (r/w/o: \
         {reads:4.2}/{writes:4.2}/{others:4.2}) lat (ms,{nth}%): {latency:4.2} err/s: \
         {errors:4.2} reconn/s: {reconnects:4.2}"
    );
    if let Some((waiting, running)) = queue {
        let _ = write!(line, "\n[ {at_s}s ] queue length: {waiting}, concurrency: {running}");
    }
    line
}

/// Figures of the whole run that a report has.
#[derive(Clone, Debug)]
pub struct Figures<'a> {
    /// Latencies of all events, in nanoseconds.
    pub latency: &'a Histogram,
    /// Statements of all events: reads, writes and others.
    pub statements: [u64; 3],
    /// Percentile that the user chose, from 1 to 100; 0 for none.
    pub percentile: u64,
    /// Errors that were ignored.
    pub errors: u64,
    /// Connections that were made again.
    pub reconnects: u64,
    /// Time from the start of the load to its end, in seconds.
    pub seconds: f64,
    /// Events and time in events of each thread, in seconds.
    pub threads: Vec<(u64, f64)>,
    /// Whether the script uses a database.
    pub has_database: bool,
    /// Whether the histogram is printed.
    pub has_histogram: bool,
}

/// Returns a run's report as sysbench prints it.
pub fn report(figures: &Figures<'_>) -> String {
    let mut out = String::new();
    let latency = figures.latency;
    if figures.has_histogram {
        histogram(latency, &mut out);
    }
    let events = latency.count();
    let queries: u64 = figures.statements.iter().sum();
    // A script that uses no database has no such figures.
    if figures.has_database || queries + figures.errors > 0 {
        statements(figures, events, &mut out);
    }
    let _ = writeln!(out, "\nGeneral statistics:");
    let _ = writeln!(out, "    total time:                          {:.4}s", figures.seconds);
    let _ = writeln!(out, "    total number of events:              {events}");
    let in_ms = |ns: f64| ns / 1e6;
    let _ = writeln!(out, "\nLatency (ms):");
    let times = [
        ("min:".to_owned(), in_ms(latency.min() as f64)),
        // Of nothing there is no mean.
        ("avg:".to_owned(), if latency.is_empty() { 0.0 } else { in_ms(latency.mean()) }),
        ("max:".to_owned(), in_ms(latency.max() as f64)),
        (
            format!("{}th percentile:", figures.percentile),
            in_ms(latency.quantile(figures.percentile as f64 / 100.0).unwrap_or(0) as f64),
        ),
        ("sum:".to_owned(), in_ms(latency.sum() as f64)),
    ];
    for (nth, (label, ms)) in times.iter().enumerate() {
        match (nth, figures.percentile) {
            (3, 0) => {
                let _ = writeln!(out, "         percentile stats:               disabled");
            }
            _ => {
                let _ = writeln!(out, "         {label:<16}{ms:>28.2}");
            }
        }
    }
    let (events_mean, events_sd) = spread(figures.threads.iter().map(|(n, _)| *n as f64));
    let (time_mean, time_sd) = spread(figures.threads.iter().map(|(_, seconds)| *seconds));
    let _ = writeln!(out, "\nThreads fairness:");
    let _ = writeln!(out, "    events (avg/stddev):           {events_mean:.4}/{events_sd:.2}");
    let _ = writeln!(out, "    execution time (avg/stddev):   {time_mean:.4}/{time_sd:.2}\n");
    out
}

/// Appends how many statements there were.
fn statements(figures: &Figures<'_>, events: u64, out: &mut String) {
    let [reads, writes, others] = figures.statements;
    let queries = reads + writes + others;
    let seconds = figures.seconds.max(f64::MIN_POSITIVE);
    let counted = |label: &str, n: u64, width: usize| {
        format!("    {label:<width$}{n:<6} ({:.2} per sec.)\n", n as f64 / seconds)
    };
    let _ = writeln!(out, "SQL statistics:\n    queries performed:");
    for (label, n) in
        [("read:", reads), ("write:", writes), ("other:", others), ("total:", queries)]
    {
        let _ = writeln!(out, "        {label:<33}{n}");
    }
    *out += &counted("transactions:", events, 37);
    *out += &counted("queries:", queries, 37);
    *out += &counted("ignored errors:", figures.errors, 37);
    *out += &counted("reconnects:", figures.reconnects, 37);
}

/// Returns mean and standard deviation of all values; zero if there are none.
fn spread(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = values.clone().count().max(1) as f64;
    let mean = values.clone().sum::<f64>() / n;
    let variance = values.map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.sqrt())
}

/// Appends the histogram of latencies in sysbench's buckets, whose bounds grow by 1.8 %.
fn histogram(latency: &Histogram, out: &mut String) {
    let (low, high) = RANGE_MS;
    let scale = (BUCKETS - 1.0) / (high.ln() - low.ln());
    let mut buckets: Vec<(i64, u64)> = Vec::new();
    for (ns, n) in latency.recorded() {
        let ms = (ns as f64 / 1e6).clamp(low, high);
        let bucket = ((ms.ln() - low.ln()) * scale + 0.5).floor() as i64;
        match buckets.last_mut() {
            Some((last, sum)) if *last == bucket => *sum += n,
            _ => buckets.push((bucket, n)),
        }
    }
    out.push_str("Latency histogram (values are in milliseconds)\n");
    out.push_str("       value  ------------- distribution ------------- count\n");
    let most = buckets.iter().map(|(_, n)| *n).max().unwrap_or(1) as f64;
    for (bucket, n) in buckets {
        let value = (bucket as f64 / scale + low.ln()).exp();
        let bar = "*".repeat((n as f64 / most * BAR + 0.5).floor() as usize);
        let _ = writeln!(out, "{value:12.3} |{bar:<40} {n}");
    }
    out.push_str(" \n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_seconds_has_sysbench_s_labels() {
        let figures = Between {
            at_s: 2,
            threads: 4,
            tps: 99.0,
            statements: [1386.0, 396.0, 198.0],
            percentile: (95, 12.3),
            queue: Some((3, 4)),
            ..Between::default()
        };
        let expect = "[ 2s ] thds: 4 tps: 99.00 qps: 1980.00 (r/w/o: 1386.00/396.00/198.00) lat \
                      (ms,95%): 12.30 err/s: 0.00 reconn/s: 0.00\n[ 2s ] queue length: 3, \
                      concurrency: 4";
        assert_eq!(between(&figures), expect);
    }
}
