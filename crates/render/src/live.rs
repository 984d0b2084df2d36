//! The live view of a run, as lines of text. All figures are provisional until the run has drained.
//!
//! Not here: drawing on a terminal (dbdyno).

mod executions;

use std::ops::Range;

use analysis::tally::{GroupTally, Quantiles, Tally};
use model::numbers::{self, NONE, count, cut, significant};
use model::{
    DisturbanceEvent, Disturbed, Load, NS_PER_MS, NS_PER_S, Phase, PrimaryMetricDescription,
    StopCondition, format_count,
};

use super::spark::sparkline;

pub use executions::ended;

/// Number of seconds, up to the latest one, over which live rates are averaged.
const MOMENT_S: i64 = 5;

/// Largest number of disturbances in the live view: the latest.
const DISTURBANCES_SHOWN: usize = 3;

/// Describes a disturbance of a running or stored run in one line: `at 30 s: DROP TABLE big: done
/// in 1.2 s`.
pub fn disturbance(described: &DisturbanceEvent) -> String {
    let seconds = |ns: i64| ns as f64 / NS_PER_S as f64;
    let took = described
        .ended_ns
        .map_or(String::new(), |ended_ns| took(seconds(ended_ns - described.began_ns)));
    let outcome = match &described.outcome {
        Disturbed::Running => "under way".to_owned(),
        Disturbed::Done => format!("done in {took}"),
        Disturbed::Failed { why } => format!("FAILED after {took}: {why}"),
        Disturbed::CutOff { why } => format!("cut off after {took}: {why}"),
        Disturbed::Skipped { why } => format!("not started: {why}"),
    };
    let outcome = outcome.lines().next().unwrap_or_default();
    format!("at {}: {}: {outcome}", numbers::seconds(seconds(described.began_ns)), described.name)
}

/// Formats how long something took, given in seconds: `35.2 ms`, `2.3 s`.
fn took(seconds: f64) -> String {
    match seconds {
        ..1.0 => format!("{} ms", significant(seconds * 1e3, 3)),
        _ => numbers::seconds(seconds),
    }
}

/// Width of the labels at the left of the live view, in columns of the terminal.
const LABEL: usize = 7;

/// Returns the lines of the live view, of at most `width` columns: progress, figures of the last
/// seconds, outcomes so far, commits per second, and disturbances. `now_ns` counts from the
/// beginning of the measured phase, and is negative in the ramp-up.
pub fn lines(tally: &Tally, now_ns: i64, width: usize) -> Vec<String> {
    let mut lines = vec![both_ends(&what(tally), &progress(tally, now_ns), width)];
    let Some(shown) = tally.shown_second(now_ns) else {
        return lines.into_iter().map(|line| cut(&line, width)).collect();
    };
    lines.extend((parts(tally).lines)(tally, shown, width));
    lines.into_iter().map(|line| cut(&line, width)).collect()
}

/// Functions that make the parts of the live view that depend on the kind of load.
struct Parts {
    /// Returns the lines below the progress of the run, with figures up to the second `shown`, for
    /// at most so many columns.
    lines: fn(&Tally, i64, usize) -> Vec<String>,
    /// Returns the figures for the web interface up to the second `shown`, if there is one yet.
    figures: fn(&Tally, Option<i64>) -> Vec<String>,
    /// True if figures of whole intervals mean anything.
    has_intervals: bool,
}

static OF_RATES: Parts =
    Parts { lines: lines_of_rates, figures: figures_of_rates, has_intervals: true };

static OF_SEQUENCE: Parts = Parts {
    lines: |tally, _, _| executions::lines(tally),
    figures: |tally, _| executions::lines(tally),
    has_intervals: false,
};

/// Returns the parts of the live view for the kind of a run's load.
fn parts(tally: &Tally) -> &'static Parts {
    if tally.is_sequence() { &OF_SEQUENCE } else { &OF_RATES }
}

/// Returns true if a run has log lines with figures of whole intervals ([`interval`]), and false if
/// it has a line for each execution ([`ended`]).
pub fn has_intervals(tally: &Tally) -> bool {
    parts(tally).has_intervals
}

/// Returns rates, response times, outcomes and disturbances as lines.
fn lines_of_rates(tally: &Tally, shown: i64, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let all: Vec<usize> = (0..tally.groups.len()).collect();
    let room = width.saturating_sub(LABEL);
    let (rates, times) = (rates(tally, &all, shown), moment(tally, &all, shown));
    lines.extend(labelled("now", beside_or_below(&rates, &times, room)));
    lines.extend(groups(tally, shown, width));
    // During the ramp-up nothing is measured yet.
    let outcomes = (shown >= 0).then(|| outcomes(tally, tally.waiting(shown).unwrap_or(0)));
    let total: Vec<String> = outcomes.into_iter().chain(commonest_error(tally)).collect();
    lines.extend(labelled("total", (!total.is_empty()).then(|| total.join("; "))));
    lines.extend(labelled("TPS", [history(tally, shown, room)]));
    let first = tally.disturbances.len().saturating_sub(DISTURBANCES_SHOWN);
    lines.extend(tally.disturbances[first..].iter().map(disturbance));
    lines
}

fn figures_of_rates(tally: &Tally, shown: Option<i64>) -> Vec<String> {
    let all: Vec<usize> = (0..tally.groups.len()).collect();
    let figures = shown.map(|shown| vec![rates(tally, &all, shown), moment(tally, &all, shown)]);
    figures.unwrap_or_default()
}

/// Puts a label before the first of `lines`, and as many blanks before the others.
fn labelled(label: &str, lines: impl IntoIterator<Item = String>) -> Vec<String> {
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    labels.zip(lines).map(|(label, line)| format!("{label:<LABEL$}{line}")).collect()
}

/// Returns a line for each group with its rates and response times; none if there is a single
/// group.
fn groups(tally: &Tally, shown: i64, width: usize) -> Vec<String> {
    let n = tally.groups.len();
    let name = |group: usize| match tally.name_of(group) {
        name if name.is_empty() => format!("group {}", group + 1),
        name => name,
    };
    let widest = (0..n).map(|group| name(group).chars().count()).max().unwrap_or(0);
    let line = |group: usize| {
        let (rates, times) = (rates(tally, &[group], shown), moment(tally, &[group], shown));
        let mut lines = beside_or_below(&rates, &times, width.saturating_sub(widest + 4));
        for (nth, line) in lines.iter_mut().enumerate() {
            let name = if nth == 0 { name(group) } else { String::new() };
            *line = format!("  {name:<widest$}  {line}");
        }
        lines
    };
    (0..n).filter(|_| n > 1).flat_map(line).collect()
}

fn moment(tally: &Tally, groups: &[usize], shown: i64) -> String {
    let figures = tally.second_of(groups, shown);
    // The rates beside it are over more seconds.
    times(figures.quantiles, figures.max_ns)
        .unwrap_or_else(|| "nothing finished in the last second yet".to_owned())
}

/// State of a run in progress, for the web interface, up to its last whole second.
pub struct Now {
    /// Phase with its elapsed and remaining time: `measuring, 37 s of 45 s, 8 s left`.
    pub progress: String,
    /// Completed share of ramp-up and measured phase, from 0 to 1; `None` before the first second,
    /// or if the length is not known.
    pub done: Option<f64>,
    /// Rates of the last seconds and response times of the last one, as text; empty before the
    /// first second.
    pub figures: Vec<String>,
}

/// Returns the state of a run in progress for the web interface, from the counts so far.
pub fn now(tally: &Tally) -> Now {
    let newest = tally.newest();
    let length = tally
        .description
        .as_ref()
        .map(|described| (described.phases.ramp_up_ns as f64, described.phases.measure_ns as f64));
    // The latest second may be incomplete. Before the first, the whole run remains.
    let begin_ns = length.map_or(0.0, |(ramp_up, _)| -ramp_up) as i64;
    let now_ns = newest.map_or(begin_ns, |second| second * NS_PER_S as i64);
    let shown = newest.and_then(|_| tally.shown_second(now_ns));
    let done = length.filter(|(_, measure)| newest.is_some() && *measure > 0.0);
    let done = done.map(|(ramp_up, measure)| (now_ns as f64 + ramp_up) / (ramp_up + measure));
    Now {
        progress: progress(tally, now_ns),
        done: done.map(|done| done.clamp(0.0, 1.0)),
        figures: (parts(tally).figures)(tally, shown),
    }
}

/// Formats the figures of some seconds as a log line, which begins with the time at their end: `[
/// 10 s ] 452 TPS  ...`.
pub fn interval(tally: &Tally, seconds: Range<i64>) -> String {
    let all: Vec<usize> = (0..tally.groups.len()).collect();
    let span = tally.span(seconds.clone());
    let length = tally.length_s(&seconds);
    let rate = |n: u64| significant(n as f64 / length, 4);
    let mut parts = vec![rates_in(tally, &all, seconds.clone())];
    let n_queries = tally.traffic(seconds.clone()).queries();
    parts.extend((n_queries > 0).then(|| format!("{} QPS", rate(n_queries))));
    parts.extend(times(Quantiles::from_histogram(&span.response), span.response.max()));
    let waiting = tally.waiting(seconds.end - 1).unwrap_or(0);
    parts.push(format!("{} failed", format_count(span.counts.failed)));
    for (n, word) in [(span.counts.dropped, "dropped"), (waiting, "waiting")] {
        parts.extend((n > 0).then(|| format!("{} {word}", format_count(n))));
    }
    if all.len() > 1 {
        let to_text = |group: &usize| {
            format!("{} {}", tally.name_of(*group), rates_in(tally, &[*group], seconds.clone()))
        };
        parts.push(format!("({})", all.iter().map(to_text).collect::<Vec<_>>().join(", ")));
    }
    let end = match seconds.start as f64 + length {
        end if end > 0.0 && seconds.end > 0 => numbers::seconds(end),
        _ => format!("{} s", seconds.end),
    };
    let ramp_up_ns = tally.description.as_ref().map_or(0, |described| described.phases.ramp_up_ns);
    let since_begin = ramp_up_ns as f64 / NS_PER_S as f64 + seconds.end as f64;
    let at = match seconds.start < 0 && since_begin > 0.0 {
        true => format!("ramp-up {}", numbers::seconds(since_begin)),
        false => format!("{end:>4}"),
    };
    format!("[ {at} ] {}", parts.join("  "))
}

/// Formats the phase of a run as a log line before there are figures, such as `connecting, 12 so
/// far`.
pub fn beginning(tally: &Tally, now_ns: i64) -> String {
    progress(tally, now_ns)
}

/// Describes what runs: workload, database, clients and load. Each further text is shorter, for a
/// narrower line; all have the number of clients.
fn what(tally: &Tally) -> [String; 4] {
    let Some(described) = &tally.description else { return Default::default() };
    let workloads: Vec<&str> =
        described.groups.iter().map(|group| group.workload.as_str()).collect();
    let workloads = workloads.join(" + ");
    let clients: u32 = described.groups.iter().map(|group| group.clients).sum();
    let load = match described.groups.first().map(|group| &group.load) {
        _ if described.groups.len() > 1 => String::new(),
        Some(Load::Open { rate, .. }) => format!(", {}", numbers::arrival_rate(rate)),
        Some(load) => format!(", {}", numbers::load(load)),
        None => String::new(),
    };
    let clients = count(clients.into(), "client");
    let on_database = format!("{workloads} on {}, {clients}", described.database);
    [format!("{on_database}{load}"), on_database, format!("{workloads}, {clients}"), clients]
}

/// Describes a run's phase and the time that is left: `measuring, 37 s of 45 s, 8 s left`. `now_ns`
/// counts from the beginning of the measured phase.
fn progress(tally: &Tally, now_ns: i64) -> String {
    let (Some(described), Some((phase, _))) = (&tally.description, tally.phases.last()) else {
        return "starting".to_owned();
    };
    let measure_ns = i64::try_from(described.phases.measure_ns).unwrap_or(i64::MAX);
    match phase {
        _ if tally.ended.is_some() => "ended".to_owned(),
        Phase::Connect => {
            let connected: u32 = tally.groups.iter().map(|group| group.connected).sum();
            format!("connecting, {} so far", format_count(connected.into()))
        }
        Phase::Drain => "draining".to_owned(),
        _ if now_ns < 0 => format!("ramp-up, {} to go", duration(-now_ns)),
        _ if measure_ns > 0 && now_ns >= measure_ns => "draining".to_owned(),
        _ => format!("measuring, {}", measuring(tally, now_ns, measure_ns)),
    }
}

fn measuring(tally: &Tally, now_ns: i64, measure_ns: i64) -> String {
    let described = tally.description(0);
    let wanted = described.and_then(|described| match described.stop_condition {
        StopCondition::Transactions(n) => Some(n),
        StopCondition::TransactionsPerClient(n) => Some(n * u64::from(described.clients)),
        StopCondition::Sequence => described.sequence,
        StopCondition::Time => None,
    });
    let ended: u64 = tally.groups.iter().map(|group| group.measured.counts().finished()).sum();
    match wanted {
        Some(wanted) => {
            let left = wanted.saturating_sub(ended) as f64 / (ended as f64 / now_ns as f64);
            let left = if left.is_finite() { duration(left as i64) } else { NONE.to_owned() };
            let (ended, wanted) = (format_count(ended), format_count(wanted));
            format!("{ended} of {wanted} transactions, {left} left")
        }
        None if measure_ns == 0 => format!("{} measured", duration(now_ns)),
        None => {
            let left = duration(measure_ns - now_ns);
            let planned = numbers::seconds(measure_ns as f64 / NS_PER_S as f64);
            format!("{} of {planned}, {left} left", duration(now_ns))
        }
    }
}

/// Formats a duration, rounded to seconds: `37 s`, `1h30m`. A negative one is 0.
fn duration(ns: i64) -> String {
    numbers::seconds((ns.max(0) as f64 / NS_PER_S as f64).round())
}

/// Formats the rates of `groups` over the last [`MOMENT_S`] seconds up to second `shown`.
fn rates(tally: &Tally, groups: &[usize], shown: i64) -> String {
    let (first, _) = tally.commits_until(shown);
    let from = (shown + 1 - MOMENT_S).max(if shown >= 0 { 0 } else { first });
    rates_in(tally, groups, from..shown + 1)
}

/// Formats the rates of `groups` in these seconds: TPS, and the first primary metric if it can
/// already be counted.
fn rates_in(tally: &Tally, groups: &[usize], seconds: Range<i64>) -> String {
    let length = tally.length_s(&seconds);
    let commits: u64 = tally.commits_per_second(groups, seconds.clone()).iter().sum();
    let mut parts = vec![format!("{} TPS", significant(commits as f64 / length, 3))];
    // A metric of several workloads would look like that of one of them: it is shown with the
    // groups.
    let is_of_one = |name: &str| {
        let has = |group: &&usize| {
            let described = tally.description(**group);
            described
                .is_some_and(|run| run.primary_metrics.iter().any(|metric| metric.name == name))
        };
        let workload =
            |group: &usize| tally.description(*group).map(|described| &described.workload);
        let mut all = groups.iter().filter(has).map(workload);
        all.next().is_none_or(|first| all.all(|other| other == first))
    };
    let names = tally.primary_metrics(groups).into_iter();
    // Only the first primary metric: others, such as TPM, are TPS in another unit.
    let is_computed =
        |name: &str| tally.with_primary_metric(groups, name).any(|(_, metric)| metric.is_computed);
    let is_shown = |name: &str| seconds.end > 0 && is_of_one(name) && !is_computed(name);
    let first = names.filter(|(name, _)| is_shown(name)).take(1);
    for (name, title) in first {
        let of_group = |(group, primary): (&GroupTally, &PrimaryMetricDescription)| {
            let counted: u64 = group.counted_per_second(primary, seconds.clone()).iter().sum();
            counted as f64 * primary.per_ns as f64
        };
        let counted: f64 = tally.with_primary_metric(groups, name).map(of_group).sum();
        let value = counted / (length * NS_PER_S as f64);
        parts.push(format!("{} {title}", significant(value, 3)));
    }
    parts.join("  ")
}

/// Formats response times in milliseconds; `None` if no transaction has finished.
fn times(quantiles: Option<Quantiles>, max_ns: u64) -> Option<String> {
    let ms = |ns: u64| significant(ns as f64 / NS_PER_MS as f64, 3);
    let Quantiles { p50_ns, p95_ns, p99_ns } = quantiles?;
    let (p50, p95, p99, max) = (ms(p50_ns), ms(p95_ns), ms(p99_ns), ms(max_ns));
    Some(format!("p50 {p50}  p95 {p95}  p99 {p99}  max {max} ms"))
}

fn outcomes(tally: &Tally, waiting: u64) -> String {
    let mut sum = model::Counts::default();
    tally.groups.iter().for_each(|group| sum.add(&group.measured.counts()));
    let parts = [
        (sum.finished(), "finished", true),
        (sum.failed, "failed", true),
        (sum.dropped, "dropped", sum.dropped > 0),
        (sum.retried, "retried", sum.retried > 0),
        (waiting, "waiting", waiting > 0),
    ];
    let shown = parts.into_iter().filter(|(_, _, shown)| *shown);
    let parts: Vec<String> =
        shown.map(|(n, word, _)| format!("{} {word}", format_count(n))).collect();
    parts.join(", ")
}

/// Draws commits per second as a sparkline, whose bars begin at 0, with its maximum. A `|`
/// separates ramp-up and measured phase: `▆▆▆██|██▇██ peak 473, measured from |`.
fn history(tally: &Tally, shown: i64, width: usize) -> String {
    let (first, commits) = tally.commits_until(shown);
    let most = commits.iter().copied().max().unwrap_or(0);
    let mut scale = format!(" peak {}", format_count(most));
    if first < 0 && shown >= 0 {
        scale.push_str(", measured from |");
    }
    let room = width.saturating_sub(scale.chars().count());
    let (width, scale) = if room < BARS_LEAST { (width, String::new()) } else { (room, scale) };
    bars(first, &commits, width) + &scale
}

/// Smallest number of bars next to which the sparkline's scale is printed; with room for fewer, the
/// scale is left out.
const BARS_LEAST: usize = 10;

fn bars(first: i64, commits: &[u64], width: usize) -> String {
    let values: Vec<f64> = commits.iter().map(|&n| n as f64).collect();
    let ramp_up = usize::try_from(-first).unwrap_or(0).min(values.len());
    if ramp_up == 0 || ramp_up == values.len() {
        return sparkline(&values, width);
    }
    // A single sparkline, so that both parts have one scale; the separator takes one column.
    let line: Vec<char> = sparkline(&values, width.saturating_sub(1)).chars().collect();
    let bar = ramp_up * line.len() / values.len();
    let (before, after) = line.split_at(bar);
    before.iter().chain(&['|']).chain(after).collect()
}

fn commonest_error(tally: &Tally) -> Option<String> {
    let phases = tally.groups.iter().flat_map(|group| [&group.ramp_up, &group.measured]);
    let error = phases.flat_map(|phase| &phase.errors).max_by_key(|error| error.count)?;
    let (n, kind) = (format_count(error.count), error.kind.name());
    Some(format!("{n} × {kind}: {}", error.message))
}

/// Joins two texts in one line, or in two if one would be too wide.
fn beside_or_below(left: &str, right: &str, width: usize) -> Vec<String> {
    let line = format!("{left}   {right}");
    match line.chars().count() <= width {
        true => vec![line],
        false => vec![left.to_owned(), right.to_owned()],
    }
}

/// Smallest width, in columns, of the left text in a line with a text at either end; if there is
/// less room, the left text is left out.
const LEFT_LEAST: usize = 8;

/// Puts two texts at both ends of a line. The left one is the first of `lefts` for which there is
/// room, or else the last, cut.
fn both_ends(lefts: &[String; 4], right: &str, width: usize) -> String {
    let room = width.saturating_sub(right.chars().count() + 2);
    if room < LEFT_LEAST {
        return right.to_owned();
    }
    let left = lefts.iter().find(|left| left.chars().count() <= room).unwrap_or(&lefts[3]);
    let left = cut(left, room);
    let gap = width.saturating_sub(left.chars().count() + right.chars().count());
    format!("{left}{}{right}", " ".repeat(gap.max(2)))
}

#[cfg(test)]
mod tests {
    use analysis::fixtures::Made;
    use analysis::tally::Sum;
    use model::Event;

    use super::*;

    fn at(made: &Made, now_s: f64, phase: Phase) -> Tally {
        let mut tally = Tally::new();
        for event in made.events() {
            match &event {
                Event::Second(second) if second.second as f64 + 1.0 > now_s => {}
                _ => tally.add(&event),
            }
        }
        tally.add(&Event::Phase { phase, at_ns: 0 });
        tally
    }

    fn ns(seconds: f64) -> i64 {
        (seconds * 1e9) as i64
    }

    #[test]
    fn a_run_is_watched_in_a_few_lines() {
        let tally = at(&Made::running(), 23.4, Phase::Measure);
        insta::assert_snapshot!(lines(&tally, ns(23.4), 90).join("\n"), @r"
        tpcc on SQLite 3.54.1, 8 clients, closed                measuring, 23 s of 60 s, 37 s left
        now    450 TPS  11,892 NOPM   p50 13.5  p95 52.8  p99 69.6  max 83.4 ms
        total  10,486 finished, 2 failed, 115 retried; 5 × busy: database is locked
        TPS    ▆▆▆██|███████████████████████ peak 470, measured from |
        ");
    }

    #[test]
    fn before_the_first_second_all_of_the_ramp_up_is_still_to_come() {
        let mut made = Made::running();
        made.seconds.clear();
        let now = now(&at(&made, 0.0, Phase::RampUp));
        assert_eq!((now.progress.as_str(), now.done), ("ramp-up, 5 s to go", None));
        assert_eq!(now.figures, Vec::<String>::new());
    }

    #[test]
    fn a_second_without_response_times_does_not_deny_the_rates_of_those_before() {
        let mut made = Made::running();
        made.seconds.retain(|second| second.second < 22);
        let tally = at(&made, 23.9, Phase::Measure);
        let line = lines(&tally, ns(24.9), 100).join("\n");
        assert!(line.contains(" TPS ") && !line.contains("  0 TPS"), "{line}");
        assert!(line.contains("nothing finished in the last second yet"), "{line}");
    }

    #[test]
    fn the_ramp_up_has_rates_but_no_headline() {
        let tally = at(&Made::running(), -1.7, Phase::RampUp);
        insta::assert_snapshot!(lines(&tally, ns(-1.7), 90).join("\n"), @r"
        tpcc on SQLite 3.54.1, 8 clients, closed                                ramp-up, 2 s to go
        now    299 TPS   p50 12.8  p95 51.1  p99 75.2  max 96.0 ms
        TPS    ███ peak 300
        ");
    }

    #[test]
    fn before_the_first_second_there_is_only_progress() {
        let mut made = Made::running();
        made.seconds.clear();
        let mut tally = made.tally();
        tally.add(&Event::Phase { phase: Phase::Connect, at_ns: 0 });
        let one = "tpcc on SQLite 3.54.1, 8 clients, closed          connecting, 8 so far";
        assert_eq!(lines(&tally, ns(-5.0), 70), [one]);
        assert_eq!(beginning(&tally, ns(-5.0)), "connecting, 8 so far");
        assert_eq!(lines(&Tally::new(), 0, 80).len(), 1);
    }

    fn two_groups() -> Made {
        let mut made = Made::running();
        let mut readers = made.description.groups[0].clone();
        made.description.groups[0].name = "writers".to_owned();
        readers.name = "readers".to_owned();
        made.description.groups.push(readers);
        let more: Vec<_> =
            made.seconds.iter().map(|s| model::Second { group: 1, ..s.clone() }).collect();
        made.seconds.extend(more);
        made
    }

    #[test]
    fn a_log_has_a_line_for_each_interval() {
        let tally = at(&Made::running(), 18.5, Phase::Measure);
        insta::assert_snapshot!(interval(&tally, 0..10), @"[ 10 s ] 452 TPS  12,180 NOPM  11,363 QPS  p50 13.2  p95 50.8  p99 85.1  max 215 ms  0 failed");
        insta::assert_snapshot!(interval(&tally, 17..18), @"[ 18 s ] 466 TPS  12,060 NOPM  11,650 QPS  p50 13.9  p95 45.6  p99 81.4  max 199 ms  2 failed");
        insta::assert_snapshot!(interval(&tally, -3..0), @r"
        [ ramp-up 5 s ] 398 TPS  9,975 QPS  p50 12.7  p95 53.1  p99 86.0  max 156 ms  0 failed
        ");
        let tally = at(&Made::open_overloaded(), 30.5, Phase::Measure);
        let line = interval(&tally, 29..30);
        assert!(line.contains("100 dropped") && line.contains(" waiting"), "{line}");
        let two = two_groups().tally();
        insta::assert_snapshot!(interval(&two, 0..10), @"[ 10 s ] 905 TPS  24,360 NOPM  22,725 QPS  p50 13.2  p95 50.8  p99 85.1  max 215 ms  0 failed  (writers 452 TPS  12,180 NOPM, readers 452 TPS  12,180 NOPM)");
    }

    #[test]
    fn groups_are_named_with_figures_of_their_own() {
        let tally = at(&two_groups(), 9.4, Phase::Measure);
        insta::assert_snapshot!(lines(&tally, ns(9.4), 100).join("\n"), @r"
        tpcc + tpcc on SQLite 3.54.1, 16 clients                           measuring, 9 s of 60 s, 51 s left
        now    905 TPS  24,120 NOPM   p50 12.4  p95 54.0  p99 114  max 163 ms
          writers  453 TPS  12,060 NOPM   p50 12.4  p95 54.0  p99 114  max 163 ms
          readers  453 TPS  12,060 NOPM   p50 12.4  p95 54.0  p99 114  max 163 ms
        total  8,146 finished, 0 failed, 90 retried
        TPS    ▆▆▆██|█████████ peak 938, measured from |
        ");
    }

    #[test]
    fn a_narrow_terminal_loses_no_figure() {
        let tally = at(&Made::running(), 23.4, Phase::Measure);
        insta::assert_snapshot!(lines(&tally, ns(23.4), 60).join("\n"), @r"
        tpcc, 8 clients           measuring, 23 s of 60 s, 37 s left
        now    450 TPS  11,892 NOPM
               p50 13.5  p95 52.8  p99 69.6  max 83.4 ms
        total  10,486 finished, 2 failed, 115 retried; 5 × busy: da…
        TPS    ▆▆▆█|██████████████████████ peak 470, measured from |
        ");
    }

    #[test]
    fn no_line_is_wider_than_asked() {
        let tally = at(&Made::running(), 23.4, Phase::Measure);
        let narrow = &lines(&tally, ns(23.4), 50)[0];
        assert_eq!(narrow, "8 clients       measuring, 23 s of 60 s, 37 s left");
        for width in [20, 40, 80] {
            let widths = lines(&tally, ns(23.4), width);
            assert!(widths.iter().all(|line| line.chars().count() <= width), "{widths:?}");
        }
    }

    #[test]
    fn time_left_of_a_counted_run_follows_from_its_pace() {
        let mut made = Made::running();
        made.description.groups[0].stop_condition = StopCondition::Transactions(100_000);
        let tally = at(&made, 23.0, Phase::Measure);
        assert!(
            progress(&tally, ns(23.0)).contains(" of 100,000 transactions, 3m"),
            "{}",
            progress(&tally, ns(23.0))
        );
        let sum = Sum::from_tally(&tally, &[0]);
        let counted = format!("measuring, {}", format_count(sum.counts.finished()));
        assert!(progress(&tally, ns(23.0)).starts_with(&counted));
    }
}
