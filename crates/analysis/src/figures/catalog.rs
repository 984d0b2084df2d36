//! Every figure of a run, by name.
//!
//! The name says what a figure belongs to: without a dot, to the whole run; `new_order.p99_ms` to a
//! transaction type; `rows.per_second` to a custom metric; `server.disk_written` to a gauge. So the
//! name tells in which direction a figure is better, unless the workload declares it. Not here:
//! what is concluded from figures.

use std::collections::BTreeSet;

use model::{Direction, FactValue, Load, did_you_mean};

use super::below::{Below, STEM, listed};
use super::disturbed::{self, RECOVERY};
use super::no_value::why_no_value;
use super::of_type::{OF_TYPE, of_type};
use super::stored_bytes::{BYTES_STORED, bytes_stored};
use super::within::{interval_of, why_alone};
use super::{MEAN_OF_TYPE, PER_TRANSACTION, names_in, times_of};
use crate::gauges::{WHOSE, whose};
use crate::report::{
    CustomMetricReport, GaugeReport, GroupReport, Latency, Named, PrimaryMetricReport, Report,
};

/// Names of custom metrics that count faults (lower is better), for runs too old to store this.
const FAULTS_OF_OLDER_RUNS: [&str; 4] =
    ["deliveries_skipped", "short_deliveries", "missed", "duplicates"];

/// A figure that is defined for whole runs of every workload, such as `tps`.
#[derive(Clone, Copy, Debug)]
pub struct RunFigure {
    pub name: &'static str,
    /// Unit of the figure; empty for a plain number.
    pub unit: &'static str,
    pub direction: Direction,
    pub help: &'static str,
    value: fn(&Report) -> Option<f64>,
}

/// All figures of whole runs that every workload has, in the order in which lists show them.
pub static OF_RUN: &[RunFigure] = &[
    rate("nopm", "1/min", "new orders per minute (TPC-C)", |r| r.block.nopm),
    rate("tpm", "1/min", "transactions per minute (TPC-C)", |r| r.block.tpm),
    rate("tps", "1/s", "commits per second", |r| r.block.tps),
    rate("qps", "1/s", "statements per second: reads, writes and others", |r| r.block.qps),
    rate("reads", "1/s", "reading statements per second", |r| r.block.reads_per_second),
    rate("writes", "1/s", "writing statements per second", |r| r.block.writes_per_second),
    rate("others", "1/s", "other statements per second (BEGIN, COMMIT, ROLLBACK)", |r| {
        r.block.others_per_second
    }),
    rate("operations", "1/s", "reads and writes per second, without other statements", |r| {
        Some(r.block.reads_per_second? + r.block.writes_per_second?)
    }),
    rate("rows_per_s", "rows/s", "rows per second that statements read or changed", |r| {
        r.block.rows_per_second
    }),
    rate("bytes_per_s", "B/s", "bytes per second sent and received by clients", |r| {
        r.block.bytes_per_second
    }),
    cost("p50_ms", "ms", "median response time of all offered transactions", |r| offered(r, "p50")),
    cost("p90_ms", "ms", "90th percentile of these response times", |r| offered(r, "p90")),
    cost("p95_ms", "ms", "95th percentile of these response times", |r| offered(r, "p95")),
    cost("p99_ms", "ms", "99th percentile of these response times", |r| offered(r, "p99")),
    cost("p999_ms", "ms", "99.9th percentile of these response times", |r| offered(r, "p999")),
    cost("mean_ms", "ms", "mean of these response times", |r| offered(r, "mean")),
    cost("max_ms", "ms", "longest of these response times", |r| offered(r, "max")),
    cost("service_mean_ms", "ms", "mean service time of finished transactions", |r| {
        r.block.service_ms.mean
    }),
    cost("service_p99_ms", "ms", "99th percentile of the service time", |r| r.block.service_ms.p99),
    cost("wait_percent", "%", "share of the response time spent waiting (open load)", wait_percent),
    cost("errors_percent", "%", "share of offered transactions that failed or were dropped", |r| {
        Some(r.block.counts.lost_percent())
    }),
    cost("unfinished", "", "transactions not finished at the end of the run", |r| {
        Some(r.block.counts.unfinished as f64)
    }),
    cost("retried", "", "attempts beyond the first", |r| Some(r.block.counts.retried as f64)),
    cost("cv_percent", "%", "coefficient of variation of the commits per second", |r| {
        Some(r.block.stability.cv? * 100.0)
    }),
    cost("stalls", "", "number of stalls: 200 ms or more with hardly any commit", |r| {
        Some(r.block.stability.stalls as f64)
    }),
    cost("longest_stall_ms", "ms", "longest stall", |r| Some(r.block.stability.longest_stall_ms)),
    cost("round_trips_per_transaction", "", "round trips per transaction", |r| {
        r.block.per_transaction.round_trips
    }),
    cost("statements_per_transaction", "", "statements per transaction", |r| {
        r.block.per_transaction.statements
    }),
    cost("bytes_per_transaction", "B", "bytes sent and received per transaction", |r| {
        r.block.per_transaction.bytes
    }),
    cost("rows_per_transaction", "", "rows read or changed per transaction", |r| {
        r.block.per_transaction.rows
    }),
    cost(
        "client_cpu_us",
        "us",
        "CPU time of the generator per statement, without that of a producer",
        |r| r.client?.cpu_us_per_query,
    ),
    cost("client_memory_bytes", "B", "peak memory of the generator", |r| {
        Some(r.client?.max_rss_bytes as f64)
    }),
    cost("connect_p99_ms", "ms", "99th percentile of the time to connect", |r| {
        r.block.connect_ms.times.p99
    }),
    cost("lag_p99_us", "us", "99th percentile of the delay caused by the generator", |r| {
        r.block.lag_us.p99
    }),
    cost(
        "reply_lag_p99_us",
        "us",
        "99th percentile of the time that replies lay unread in the \
                                    client's socket",
        |r| r.block.reply_lag_us.p99,
    ),
    rate("build.rows_per_s", "1/s", "rows per second of a build, indexes included", |r| {
        Some(of_build(r, "rows")? / of_build(r, "elapsed_s")?)
    }),
    rate("build.bytes_per_s", "B/s", "bytes of values per second of a build", |r| {
        Some(of_build(r, "value_bytes")? / of_build(r, "elapsed_s")?)
    }),
    count("build.rows", "", "rows that a build added", |r| of_build(r, "rows")),
    count("build.bytes", "B", "bytes of the values of these rows", |r| of_build(r, "value_bytes")),
    cost("build.elapsed_s", "s", "time of a build", |r| of_build(r, "elapsed_s")),
    cost("build.load_s", "s", "of it, until all rows were there", |r| of_build(r, "load_s")),
    cost("build.index_s", "s", "of it, for secondary indexes", |r| of_build(r, "index_s")),
    cost("build.analyse_s", "s", "of it, for statistics of the tables", |r| {
        of_build(r, "analyse_s")
    }),
];

/// Name patterns of figures of parts of a run, such as `TYPE.tps`, for help texts.
pub static OF_PARTS: &[PartFigure] = &[
    part(
        "below_TIME",
        "%",
        "share of offered transactions answered in less than this time: \
                             below_20ms",
    ),
    part("TYPE.below_TIME", "%", "this share for one transaction type: new_order.below_5s"),
    part("METRIC.below_BOUND", "%", "share of a custom metric's records below a bound"),
    part("TYPE.tps", "1/s", "commits per second of one transaction type: new_order.tps"),
    part(
        "TYPE.p50_ms",
        "ms",
        "median response time of the type; also p90_ms, p95_ms, p99_ms, \
                               mean_ms",
    ),
    part("TYPE.errors_percent", "%", "share of failed and dropped transactions of the type"),
    part("TYPE.round_trips", "", "round trips per transaction of this type"),
    part(
        "METRIC.per_second",
        "",
        "sum of a custom metric per second, such as rows.per_second; of one that counts what went \
         wrong, such as duplicates.per_second, lower is better",
    ),
    part("METRIC.mean", "", "mean of a custom metric's records; also p50, p90, p99, max"),
    part("METRIC.p99_ms", "ms", "for a custom metric that is a time; also mean_ms, p50_ms, p90_ms"),
    part(
        "machine.GAUGE",
        "",
        "mean of a system or database metric (gauge) over the measured \
                               phase: machine.cpu_user",
    ),
    part(
        "server.GAUGE.max",
        "",
        "largest reading of a gauge; also of machine, generator and \
                                  database",
    ),
    part(
        "disturbance.NAME.during.p99_ms",
        "ms",
        "99th percentile during a disturbance of this name, with _ for blanks; also p50_ms, p95_ms \
         and tps, and before and after; of one that is repeated the mean over its times",
    ),
    part(
        "disturbance.NAME.recovery_s",
        "s",
        "time from the beginning of a disturbance until commits were back at 90 % of before; 0 \
         where they did not fall",
    ),
    part(
        "server.GAUGE_per_transaction",
        "",
        "a gauge's rate divided by TPS, such as bytes written \
                                              per transaction",
    ),
];

/// A name pattern for figures of parts of a run, such as transaction types or gauges.
#[derive(Clone, Copy, Debug)]
pub struct PartFigure {
    /// Pattern of the name, with the part in capitals: `TYPE.tps`.
    pub name: &'static str,
    /// Unit of the figure; empty for a plain number, or if it depends on the part.
    pub unit: &'static str,
    pub help: &'static str,
}

const fn part(name: Text, unit: Text, help: Text) -> PartFigure {
    PartFigure { name, unit, help }
}

type Text = &'static str;
type ValueOf = fn(&Report) -> Option<f64>;

const fn rate(name: Text, unit: Text, help: Text, value: ValueOf) -> RunFigure {
    RunFigure { name, unit, direction: Direction::Higher, help, value }
}

const fn cost(name: Text, unit: Text, help: Text, value: ValueOf) -> RunFigure {
    RunFigure { name, unit, direction: Direction::Lower, help, value }
}

const fn count(name: Text, unit: Text, help: Text, value: ValueOf) -> RunFigure {
    RunFigure { name, unit, direction: Direction::Neither, help, value }
}

/// Returns a stored fact about the build of the data (creating and loading the tables) as a number,
/// such as `build.rows`; `None` if the run has no such fact.
fn of_build(report: &Report, name: &str) -> Option<f64> {
    number_of(report.of_build(name)?)
}

/// A figure of one run, with its value and error.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedFigure {
    pub name: String,
    /// Unit of the figure; empty for a plain number.
    pub unit: String,
    /// Value of the figure; infinite if a quantile falls among lost transactions.
    pub value: f64,
    /// Half the width of the 95 % CI within the run; `None` if it is not known.
    pub half_width: Option<f64>,
    /// Reason why `half_width` is `None`.
    pub reason: Option<String>,
}

/// Returns all figures that a run has, in the order in which lists show them. Of the shares below
/// bounds, it has those at bounds of 1, 2 and 5 times powers of ten.
pub fn all_of(report: &Report) -> Vec<NamedFigure> {
    let mut all = Vec::new();
    let mut put = |name: String, unit: &str, value: Option<f64>| {
        if let Some(value) = value.filter(|value| !value.is_nan()) {
            let half_width = half_width(report, &name);
            let reason = half_width.is_none().then(|| why_alone(report, &name));
            all.push(NamedFigure { name, unit: unit.to_owned(), value, half_width, reason });
        }
    };
    for figure in OF_RUN {
        put(figure.name.to_owned(), figure.unit, (figure.value)(report));
    }
    for (name, primary) in report.block.primary_metrics.iter() {
        if of_run(name).is_none() {
            put(name.to_owned(), unit_of_primary(primary), primary.value);
        }
    }
    put(
        BYTES_STORED.to_owned(),
        "B/s",
        bytes_stored(report).and_then(|(primary, bytes)| Some(primary.value? * bytes)),
    );
    for (name, percent) in listed(&report.block.shares, true) {
        put(name, "%", Some(percent));
    }
    for (kind, of_kind) in report.block.transactions.iter() {
        for (name, unit, value) in OF_TYPE {
            put(format!("{kind}.{name}"), unit, value(of_kind));
        }
    }
    for (metric, measured) in report.block.custom_metrics.iter() {
        for (name, unit, value) in of_metric(report, measured) {
            put(format!("{metric}.{name}"), &unit, value);
        }
        for (name, percent) in listed(&measured.shares, measured.unit == "ns") {
            put(format!("{metric}.{name}"), "%", Some(percent));
        }
    }
    for (name, value) in disturbed::all(report) {
        put(name.clone(), unit(&name), Some(value));
    }
    for about in SETTLINGS {
        for (fact, value) in report.facts.get(about).into_iter().flat_map(|facts| facts.iter()) {
            put(format!("{about}.{fact}"), settling_unit(fact), number_of(value));
        }
    }
    for gauge in &report.gauges {
        let name = gauge.figure();
        for (suffix, unit, value) in OF_GAUGE {
            put(format!("{name}{suffix}"), unit(&gauge.unit), value(report, gauge));
        }
    }
    all
}

/// Splits the name of a quotient, as in `a.p50 / b.p50`, into two figures; `None` for other names.
fn quotient(name: &str) -> Option<(&str, &str)> {
    name.split_once(" / ").map(|(left, right)| (left.trim(), right.trim()))
}

/// Name `rate` in a limit such as `rate>2MB/s`. The unit of the bound then tells which figure is
/// meant: here `bytes`.
pub(super) const RATE: &str = "rate";

/// Returns each way to split `name` at one slash into the names of two figures, since users may
/// write a quotient without spaces: `tps/qps`.
pub fn quotients(name: &str) -> impl Iterator<Item = (&str, &str)> + Clone {
    name.match_indices('/').map(|(at, _)| (name[..at].trim(), name[at + 1..].trim()))
}

/// Returns a run's figure by its full name, such as `p99_ms`; `None` if the run does not have it.
pub fn value_of(report: &Report, name: &str) -> Option<f64> {
    if let Some((left, right)) = quotient(name) {
        let (left, right) = (value_of(report, left)?, value_of(report, right)?);
        return Some(left / right).filter(|value| value.is_finite());
    }
    if let Some(figure) = of_run(name) {
        return (figure.value)(report);
    }
    if let Some(share) = Below::read(name) {
        return share.ok()?.value(report);
    }
    let found = match name.rsplit_once('.') {
        None => report.block.primary_metrics.get(name).and_then(|primary| primary.value),
        Some(_) => {
            let of_part = of_type(report, name).or_else(|| metric(report, name));
            let of_part = of_part.or_else(|| {
                let (primary, bytes) = bytes_stored(report).filter(|_| name == BYTES_STORED)?;
                Some(primary.value? * bytes)
            });
            let of_part = of_part.or_else(|| disturbed::value(report, name));
            of_part.or_else(|| gauge(report, name)).or_else(|| settling(report, name))
        }
    };
    found.filter(|value| !value.is_nan())
}

/// Returns the unit of a figure if its name tells it; empty for a plain number, or if the unit
/// depends on the run.
pub fn unit(name: &str) -> &'static str {
    if quotient(name).is_some() {
        return "";
    }
    if let Some(figure) = of_run(name) {
        return figure.unit;
    }
    if let Some(Ok(_)) = Below::read(name) {
        return "%";
    }
    let (about, last) = name.rsplit_once('.').unwrap_or(("", ""));
    if SETTLINGS.contains(&about) || about.starts_with(disturbed::PREFIX) && last == RECOVERY {
        return settling_unit(last);
    }
    OF_TYPE.iter().find(|(name, ..)| *name == last).map_or("", |(_, unit, _)| unit)
}

/// Returns the unit of a primary metric: its title if that is a unit such as `MB/s`, else no text.
fn unit_of_primary(primary: &PrimaryMetricReport) -> &str {
    Some(primary.title.as_str()).filter(|title| title.contains('/')).unwrap_or_default()
}

/// Returns the unit that a primary metric, or a figure of a custom metric or a gauge, has in a run;
/// `None` if the run does not have the figure.
fn unit_in(report: &Report, name: &str) -> Option<String> {
    if let Some(primary) = report.block.primary_metrics.get(name) {
        return primary.value.map(|_| unit_of_primary(primary).to_owned());
    }
    if let Some((primary, _)) = bytes_stored(report).filter(|_| name == BYTES_STORED) {
        return primary.value.map(|_| "B/s".to_owned());
    }
    let of_measure = || {
        let (metric, last) = name.rsplit_once('.')?;
        let figures = of_metric(report, report.block.custom_metrics.get(metric)?);
        let found = figures.into_iter().find(|(name, ..)| *name == last)?;
        found.2.map(|_| found.1)
    };
    let of_gauge = || {
        let (gauge, unit, value) = gauge_of(report, name)?;
        value(report, gauge).map(|_| unit(&gauge.unit).to_owned())
    };
    of_measure().or_else(of_gauge)
}

/// Returns the units of figures whose names do not tell them, such as gauges, as the first of
/// `reports` with the figure has them. Figures without a unit are left out.
pub fn units_in<'n, 'r>(
    names: impl Iterator<Item = &'n str>,
    reports: impl Iterator<Item = &'r Report> + Clone,
) -> Named<String> {
    let named = |name: &'n str| {
        let unit = reports.clone().find_map(|report| unit_in(report, name))?;
        Some((name.to_owned(), unit)).filter(|(_, unit)| !unit.is_empty())
    };
    Named(names.filter(|name| unit(name).is_empty()).filter_map(named).collect())
}

/// Returns true if a primary metric's name ends as that of a time, so that lower is better.
fn is_time_of_primary(name: &str) -> bool {
    let is_rate = name.ends_with("_per_s");
    !is_rate && ["_s", "_ms", "_us"].iter().any(|end| name.ends_with(end))
}

/// Returns whether higher or lower values of a figure are better: as the workload of one of
/// `reports` declares, else by the figure's name.
pub fn direction_in<'r>(name: &str, reports: impl IntoIterator<Item = &'r Report>) -> Direction {
    reports.into_iter().find_map(|report| declared(report, name)).unwrap_or_else(|| direction(name))
}

/// Returns whether a primary or custom metric is better high or low, as the run's workload declares
/// it; `None` if it does not.
fn declared(report: &Report, name: &str) -> Option<Direction> {
    if let Some(primary) = report.block.primary_metrics.get(name) {
        return primary.better;
    }
    let (metric, last) = name.rsplit_once('.')?;
    let better = report.block.custom_metrics.get(metric)?.better?;
    // A share below a bound.
    Some(if last.starts_with(STEM) { better.opposite() } else { better })
}

/// Returns whether higher or lower values of a figure are better, judged by its name alone.
pub fn direction(name: &str) -> Direction {
    if quotient(name).is_some() {
        return Direction::Neither;
    }
    if let Some(figure) = of_run(name) {
        return figure.direction;
    }
    let Some((part, last)) = name.rsplit_once('.') else {
        return if is_time_of_primary(name) { Direction::Lower } else { Direction::Higher };
    };
    let is_gauge = WHOSE.contains(&whose(part.split('.').next().unwrap_or(part)));
    match last {
        _ if is_gauge => Direction::Neither,
        _ if last.starts_with(STEM) => Direction::Higher,
        _ if FAULTS_OF_OLDER_RUNS.contains(&part.rsplit('.').next().unwrap_or(part)) => {
            Direction::Lower
        }
        "tps" | "per_second" => Direction::Higher,
        "errors_percent" | "round_trips" => Direction::Lower,
        _ if last.ends_with("_ms") || last == RECOVERY => Direction::Lower,
        _ => Direction::Neither,
    }
}

/// Returns the full name of the figure that a user calls `name`, such as `p99_ms` for `p99`. Users
/// may leave out units, `per_second`, `mean_ms`, and the group if only one has the figure. An `Err`
/// says why none of `reports` has such a figure, and names similar ones.
pub fn resolve<'r>(
    name: &str,
    reports: impl Iterator<Item = &'r Report> + Clone,
) -> Result<String, String> {
    let asked = name.trim();
    if let Some((left, right)) = quotient(asked) {
        return Ok(format!("{} / {}", resolve(left, reports.clone())?, resolve(right, reports)?));
    }
    if let Some(Err(why)) = Below::read(asked) {
        return Err(why);
    }
    let candidates = spellings(asked);
    // By `bytes`, users more likely mean those that one group stores than those of all clients.
    for name in &candidates {
        if reports.clone().any(|report| value_of(report, name).is_some()) {
            return Ok(name.clone());
        }
        if let Some(found) = in_one_group(name, reports.clone())? {
            return Ok(found);
        }
    }
    let both = |(left, right)| {
        let left = resolve(left, reports.clone()).ok()?;
        Some(format!("{left} / {}", resolve(right, reports.clone()).ok()?))
    };
    if let Some(found) = quotients(asked).find_map(both) {
        return Ok(found);
    }
    // A figure is also known if none of these runs has it but any run may, or if it has no value.
    let is_known = |name: &&String| {
        let lacks = |report: &Report| {
            samples_lacking(report, name).is_some() || why_no_value(report, name).is_some()
        };
        of_run(name).is_some() || reports.clone().any(lacks)
    };
    if let Some(known) = candidates.iter().find(is_known) {
        return Ok(known.clone());
    }
    if let Some(other) = other_quantile(asked) {
        return Err(other);
    }
    let names = names_in(reports);
    let near = did_you_mean(asked, names.iter().map(String::as_str));
    Err(format!(
        "no run here has the figure {asked}{near} ('dbdyno runs show RUN --figures' lists those of a run)"
    ))
}

/// Returns advice on the quantiles that runs keep, if `name` is that of another one, such as `p75`
/// or `new_order.p42`; `None` for other names.
pub fn other_quantile(name: &str) -> Option<String> {
    let last = name.rsplit('.').next().unwrap_or(name);
    let digits = last.strip_suffix("_ms").unwrap_or(last).strip_prefix(['p', 'P'])?;
    let is_kept = ["50", "90", "95", "99", "999"].contains(&digits);
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let is_quantile = is_number && !is_kept;
    is_quantile.then(|| {
        format!("there is no figure {name}: a run keeps p50, p90, p95, p99 and p999 of its times, and p50, p90 and p99 of custom metrics")
    })
}

/// Returns the number of samples that the quantile `name`, such as `p99_ms`, requires. `None` if
/// the run has enough of them, or no figure of this name.
pub fn samples_lacking(report: &Report, name: &str) -> Option<u64> {
    let block = &report.block;
    let needed = |times: &Latency, name: &str| times.samples_needed(name.strip_suffix("_ms")?);
    let Some((part, last)) = name.rsplit_once('.') else {
        return match name {
            "service_p99_ms" => needed(&block.service_ms, "p99_ms"),
            _ => needed(times_of(report), name),
        };
    };
    if let Some(kind) = block.transactions.get(part) {
        let is_named = OF_TYPE.iter().any(|(name, ..)| *name == last);
        return needed(&kind.response_ms, last).filter(|_| is_named);
    }
    let measured = block.custom_metrics.get(part)?;
    let q = last.strip_suffix("_ms").unwrap_or(last);
    let is_named = of_metric(report, measured).into_iter().any(|(name, ..)| name == last);
    let is_lacking = is_named && measured.reasons.get(q).is_some();
    Latency { count: measured.count, ..Latency::default() }.samples_needed(q).filter(|_| is_lacking)
}

/// Completes a figure's name by its group, if only one group has the figure: `writers.lines.mean`
/// for `lines.mean`. `None` if no group has it; an `Err` lists the full names if several have it.
fn in_one_group<'r>(
    name: &str,
    reports: impl Iterator<Item = &'r Report> + Clone,
) -> Result<Option<String>, String> {
    let mut found = BTreeSet::new();
    for report in reports {
        let full_name = |group: &GroupReport| format!("{}.{name}", group.name);
        let all = report.groups.iter().map(full_name);
        let has = |name: &String| {
            value_of(report, name).is_some() || samples_lacking(report, name).is_some()
        };
        found.extend(all.filter(has));
    }
    if found.len() > 1 {
        let all: Vec<String> = found.into_iter().collect();
        return Err(format!("several groups have {name}: name one of {}", all.join(", ")));
    }
    Ok(found.pop_first())
}

/// Returns the one of `names` that a user means by `written`, such as `p99_ms` by `p99`; `None` if
/// there is none. The group may be left out if only one group has the figure.
pub fn find_as_written<'n>(
    written: &str,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Option<&'n str> {
    let written = written.trim();
    let is_meant = |own: &&'n str| {
        let is =
            |written: &str, own: &'n str| find_as_written(written, [own].into_iter()).is_some();
        quotient(own).is_some_and(|(left, right)| {
            let mut as_written = quotients(written);
            as_written.any(|(written_of, written_to)| is(written_of, left) && is(written_to, right))
        })
    };
    if let Some(found) = names.clone().find(is_meant) {
        return Some(found);
    }
    let of_group = |name: &String| {
        let end = format!(".{name}");
        let mut all = names.clone().filter(|own| own.ends_with(&end));
        all.next().filter(|found| all.all(|other| other == *found))
    };
    let meant = |name: &String| names.clone().find(|own| own == name).or_else(|| of_group(name));
    spellings(written).iter().find_map(meant)
}

/// Returns the full names that a user may mean by `name`, the likeliest first: `p99_ms` for `p99`.
pub fn spellings(name: &str) -> Vec<String> {
    if let Some(Ok(share)) = Below::read(name) {
        return vec![share.to_string()];
    }
    let lower = name.to_lowercase();
    let units = ["_ms", "_percent", ".per_second", "_per_s", MEAN_OF_TYPE];
    let units = units.map(|unit| format!("{lower}{unit}"));
    let mut all = vec![name.to_owned(), lower.clone()];
    all.extend(units);
    // Other tools call the traffic with disks so: io.written.
    all.extend(lower.strip_prefix("io.").map(|rest| format!("machine.disk_{rest}")));
    all.extend((lower == RATE).then(|| "tps".to_owned()));
    // A quantile of a custom metric may be written as in a table's head: age_p90.
    if let Some((metric, quantile)) = lower.rsplit_once('_')
        && matches!(quantile, "p50" | "p90" | "p99" | "mean" | "max")
    {
        all.extend([format!("{metric}.{quantile}_ms"), format!("{metric}.{quantile}")]);
    }
    all
}

/// Returns the full name of the figure that a user calls `name`, without looking at a run: `p99_ms`
/// for `p99`. Names that only a run can confirm, such as those of gauges and types, are returned
/// unchanged. `None` if it cannot be a figure; an `Err` says why a share below a bound is invalid.
pub fn known(name: &str) -> Result<Option<String>, String> {
    if let Some((left, right)) = quotient(name) {
        let both = known(left)?.zip(known(right)?);
        return Ok(both.map(|(left, right)| format!("{left} / {right}")));
    }
    if let Some(share) = Below::read(name) {
        return share.map(|share| Some(share.to_string()));
    }
    let found = spellings(name.trim()).into_iter().find(|name| of_run(name).is_some());
    let short = name.trim().to_lowercase();
    if found.as_ref().is_some_and(|found| found.strip_suffix("_per_s") == Some(&short)) {
        return Ok(Some(name.trim().to_owned()));
    }
    let both = |(left, right)| Some(format!("{} / {}", known(left).ok()??, known(right).ok()??));
    let found = found.or_else(|| quotients(name).find_map(both));
    let is_rate = |name: &str| name.ends_with("_per_s");
    let is_part = || check_name(name).is_ok() && (name.contains('.') || is_rate(name.trim()));
    Ok(found.or_else(|| is_part().then(|| name.trim().to_owned())))
}

/// Returns the names of all figures of whole runs as users write them, such as `tps` and `p99`.
pub fn names_of_run() -> Vec<&'static str> {
    OF_RUN.iter().map(|figure| short(figure.name)).collect()
}

/// Returns the name of a figure as users write it: `p99` for `p99_ms`.
pub fn short(name: &str) -> &str {
    name.strip_suffix("_ms").unwrap_or(name)
}

/// Checks that `name` has the form of a figure's name. An `Err` says what a name may be.
pub fn check_name(name: &str) -> Result<(), String> {
    if let Some((left, right)) = quotient(name) {
        return check_name(left).and(check_name(right));
    }
    if let Some(share) = Below::read(name) {
        return share.map(drop);
    }
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "._-/ ".contains(c);
    match !name.trim().is_empty() && name.chars().all(is_letter) {
        true => Ok(()),
        false => Err("name a figure, such as tps, p99 or reads".to_owned()),
    }
}

/// Returns the help text of a figure of whole runs, such as `tps`; `None` for other figures.
pub fn meaning(name: &str) -> Option<&'static str> {
    of_run(name).map(|figure| figure.help)
}

fn of_run(name: &str) -> Option<&'static RunFigure> {
    OF_RUN.iter().find(|figure| figure.name == name)
}

/// Returns the mean, maximum or a quantile of all offered transactions' response times, in ms;
/// infinite if it is among lost ones, `None` if it is not known.
fn offered(report: &Report, name: &str) -> Option<f64> {
    let times = times_of(report);
    let value = match name {
        "mean" => times.mean,
        "max" => times.max,
        quantile => times.get(quantile),
    };
    value.or_else(|| times.is_among_lost(name).then_some(f64::INFINITY))
}

fn wait_percent(report: &Report) -> Option<f64> {
    let block = &report.block;
    let is_open = matches!(report.load, Some(Load::Open { .. }));
    let wait = block.wait_ms.mean.zip(block.response_ms.mean).filter(|_| is_open);
    wait.map(|(wait, response)| wait / response * 100.0)
}

/// Subjects of facts about settling, the wait for background work of the database.
const SETTLINGS: [&str; 2] = ["settle_before", "settle_after"];

/// Returns a fact about settling (`settle_before.took_s`) as a number; `None` if there is none.
fn settling(report: &Report, name: &str) -> Option<f64> {
    let (about, fact) = name.split_once('.').filter(|(about, _)| SETTLINGS.contains(about))?;
    number_of(report.fact(about, fact)?)
}

fn settling_unit(fact: &str) -> &'static str {
    match fact.rsplit_once('_') {
        Some((_, "s")) => "s",
        Some((_, "bytes")) => "B",
        _ => "",
    }
}

/// Converts a fact's value to a number, durations to seconds; `None` for text and other values.
fn number_of(value: &FactValue) -> Option<f64> {
    let integer = value.integer().map(|n| n as f64);
    integer.or_else(|| value.as_seconds()).or_else(|| value.bytes().map(|n| n as f64))
}

fn half_width(report: &Report, name: &str) -> Option<f64> {
    let (low, high) = interval_of(report, name)?;
    Some((high? - low) / 2.0)
}

type OfMetric = (Text, String, Option<f64>);

/// Returns the figures of a custom metric, as name, unit and value: its rate (for times there is
/// none), and mean, quantiles and maximum of its records. Times are in milliseconds.
fn of_metric(report: &Report, metric: &CustomMetricReport) -> Vec<OfMetric> {
    let per_second =
        (report.measured_seconds > 0.0).then(|| metric.sum as f64 / report.measured_seconds);
    let is_time = metric.unit == "ns";
    let ms = |value: Option<f64>| value.map(|ns| ns / 1e6);
    let mut all = Vec::new();
    match is_time {
        true => {
            all.push(("mean_ms", "ms".to_owned(), ms(metric.mean)));
            all.push(("p50_ms", "ms".to_owned(), ms(metric.p50)));
            all.push(("p90_ms", "ms".to_owned(), ms(metric.p90)));
            all.push(("p99_ms", "ms".to_owned(), ms(metric.p99)));
            all.push(("max_ms", "ms".to_owned(), ms(metric.max)));
        }
        false => {
            all.push(("per_second", format!("{}/s", metric.unit), per_second));
            all.push(("mean", metric.unit.clone(), metric.mean));
            all.push(("p50", metric.unit.clone(), metric.p50));
            all.push(("p90", metric.unit.clone(), metric.p90));
            all.push(("p99", metric.unit.clone(), metric.p99));
            all.push(("max", metric.unit.clone(), metric.max));
        }
    }
    all
}

fn metric(report: &Report, name: &str) -> Option<f64> {
    let (metric, last) = name.rsplit_once('.')?;
    let measured = report.block.custom_metrics.get(metric)?;
    of_metric(report, measured).into_iter().find(|(name, ..)| *name == last)?.2
}

type OfGauge = fn(&Report, &GaugeReport) -> Option<f64>;
type UnitOf = fn(&str) -> &str;

/// Figures of a gauge: the suffix of the name, and functions for unit and value.
const OF_GAUGE: [(&str, UnitOf, OfGauge); 3] = [
    ("", |unit| unit, |_, gauge| gauge.mean),
    (".max", |unit| unit, |_, gauge| gauge.max),
    (
        PER_TRANSACTION,
        |unit| unit.strip_suffix("/s").map_or("", |counted| counted.trim_start_matches('1')),
        |report, gauge| {
            let per_second = gauge.mean.filter(|_| gauge.unit.ends_with("/s"))?;
            let tps = report.block.tps.filter(|tps| *tps > 0.0)?;
            Some(per_second / tps)
        },
    ),
];

fn gauge(report: &Report, name: &str) -> Option<f64> {
    let (gauge, _, value) = gauge_of(report, name)?;
    value(report, gauge)
}

/// Finds a figure's gauge, and functions for the figure's unit and value; `None` without a gauge.
fn gauge_of<'r>(report: &'r Report, name: &str) -> Option<(&'r GaugeReport, UnitOf, OfGauge)> {
    report.gauges.iter().find_map(|gauge| {
        let rest = name.strip_prefix(&*gauge.figure())?;
        let (_, unit, value) = OF_GAUGE.iter().find(|(suffix, ..)| *suffix == rest)?;
        Some((gauge, *unit, *value))
    })
}

#[cfg(test)]
mod tests;
