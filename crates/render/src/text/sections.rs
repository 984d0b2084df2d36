//! The sections of the page, in the order in which they are read; an empty one is left out.

use analysis::report::{
    CountsReport, GroupReport, Latency, PerTransaction, Report, Status, TransactionReport,
};
use model::numbers::{self, INFINITE, NONE, count, ms, percent, rate, significant, wrap};
use model::{Load, Severity, Until, format_count};

use crate::document::Validity;
use crate::spark::{marks, sparkline};
use crate::table::{Align, Column, Table};
use crate::terminal::{Emphasis, Style, hanging, labelled, of_validity};

/// Errors shown; the JSON has all of them.
const ERRORS_MOST: usize = 8;

pub(super) fn what_ran(report: &Report, style: &Style) -> Vec<String> {
    lines_of(&ran(report), style)
}

/// Labels and their words in lines.
fn lines_of(told: &[(String, String)], style: &Style) -> Vec<String> {
    told.iter().flat_map(|(label, words)| labelled(label, words, style)).collect()
}

/// What ran: labels and words; a label that goes on is empty.
pub(crate) fn ran(report: &Report) -> Vec<(String, String)> {
    let mut told = Vec::new();
    let mut put = |label: &str, words: &str| told.push((label.to_owned(), words.to_owned()));
    let modes = report.modes.iter().map(|mode| format!(", {mode}"));
    let target = report.target.clone() + &modes.collect::<String>();
    put("target", &target);
    for group in &report.groups {
        let until = match group.until {
            Until::Time => String::new(),
            Until::Transactions(n) => format!(", until {}", count(n, "transaction")),
            Until::TransactionsPerClient(n) => {
                format!(", until {} of each client", count(n, "transaction"))
            }
        };
        let clients = count(group.clients.into(), "client");
        let place = placement(&report.placement, group.clients);
        let load = format!("{clients}{place}, {}{until}", numbers::load(&group.load));
        let label = if report.groups.len() > 1 { &group.name } else { "load" };
        put(label, &load);
        put("", group.closed_form.as_deref().unwrap_or_default());
        put(&group.workload, &group.parameters.pairs(" "));
    }
    let phases = &report.phases;
    let (ramp_up, measured) = (phases.ramp_up_s, report.measured_seconds);
    let planned = if (measured - phases.measure_s).abs() > 0.05 && phases.measure_s > 0.0 {
        format!(" of {}", numbers::seconds(phases.measure_s))
    } else {
        String::new()
    };
    let short = (0.001..1.0).contains(&measured);
    let measured = if short { format!("{measured:.3} s") } else { numbers::seconds(measured) };
    let ramp_up = numbers::seconds(ramp_up);
    let seed = report.seed;
    let phases = format!("{ramp_up} ramp-up, {measured}{planned} measured, seed {seed}");
    put("phases", &phases);
    told
}

fn placement(name: &str, clients: u32) -> &str {
    match (name, clients) {
        ("thread", 1) => " on a thread",
        ("thread", _) => ", a thread each",
        ("loop", 1) => " on an event loop",
        ("loop", _) => " on event loops",
        _ => " in virtual time",
    }
}

pub(super) fn title(words: &str, style: &Style) -> String {
    style.emphasize(Emphasis::Bold, words)
}

pub(super) fn counts(report: &Report, style: &Style) -> Vec<String> {
    counted(report).iter().flat_map(|words| wrap(words, style.width)).collect()
}

/// What became of what was offered, in sentences.
pub(crate) fn counted(report: &Report) -> Vec<String> {
    let counts = &report.block.counts;
    let CountsReport { offered, finished, failed, dropped, unfinished, .. } = *counts;
    let parts = [
        (finished, "finished"),
        (failed, "failed"),
        (dropped, "dropped"),
        (unfinished, "unfinished"),
    ];
    let sum: Vec<String> = parts.map(|(n, word)| format!("{} {word}", format_count(n))).into();
    let offered = count(offered, "transaction");
    let mut told = vec![format!("{offered} offered = {}", sum.join(" + "))];
    let mut more = vec![format!("{} committed", format_count(counts.committed))];
    if counts.rolled_back > 0 {
        more.push(format!("{} rolled back by design", format_count(counts.rolled_back)));
    }
    if counts.unknown > 0 {
        more.push(format!("{} unknown among the failed", format_count(counts.unknown)));
    }
    if counts.retried > 0 {
        more.push(count(counts.retried, "further attempt"));
    }
    if counts.backlog_at_start > 0 {
        let longest = report.block.backlog_at_start_max_ms.map(|longest_ms| {
            format!(" (the longest took {})", numbers::duration((longest_ms * 1e6) as u64))
        });
        let backlog = format_count(counts.backlog_at_start);
        more.push(format!("{backlog} in the backlog at start{}", longest.unwrap_or_default()));
    }
    told.push(more.join(", "));
    let block = &report.block;
    if let Some(qps) = block.qps.filter(|qps| *qps > 0.0) {
        let of = [block.reads_per_second, block.writes_per_second, block.others_per_second];
        let [reads, writes, others] = of.map(rate);
        let qps = significant(qps, 4);
        told.push(format!("{qps} QPS = {reads} reads + {writes} writes + {others} others"));
        told.extend(per_transaction(&block.per_transaction));
    }
    told
}

/// `per transaction: 25 round trips, 12 reads + 11 writes + 2 others`.
fn per_transaction(of: &PerTransaction) -> Option<String> {
    let mean = |mean: f64| significant(mean, 3);
    let [trips, reads, writes, others] =
        [of.round_trips?, of.reads?, of.writes?, of.others?].map(mean);
    let statements = format!("{reads} reads + {writes} writes + {others} others");
    Some(format!("per transaction: {trips} round trips, {statements}"))
}

/// Quantiles in tables: field and title.
const SHOWN: [(&str, &str); 5] =
    [("p50", "p50"), ("p90", "p90"), ("p95", "p95"), ("p99", "p99"), ("p999", "p99.9")];

/// Too few, as a rule, for quantiles that anybody asks for.
const FAILED: &str = "of the failed";

pub(super) fn latency(report: &Report, style: &Style) -> Vec<String> {
    let (table, words) = times(report);
    let mut lines = headed(&table, style);
    lines.extend(words.iter().flat_map(|words| wrap(words, style.width)));
    lines
}

/// A table's lines, the first as a title.
fn headed(table: &Table, style: &Style) -> Vec<String> {
    let mut lines = table.lines(style.width);
    lines[0] = title(&lines[0], style);
    lines
}

/// Times as a table, and what is to be known of them.
pub(crate) fn times(report: &Report) -> (Table, Vec<String>) {
    let block = &report.block;
    let counts = &block.counts;
    let waits = block.wait_ms.note.is_none();
    let lost = counts.offered > counts.finished;
    let rows = [
        ("response", &block.response_ms, true),
        ("  service", &block.service_ms, waits),
        ("  wait", &block.wait_ms, waits),
        ("of all offered", &block.offered_ms, lost),
        (FAILED, &block.failed_ms, counts.failed > 0),
    ];
    let rows: Vec<(&str, &Latency)> =
        rows.into_iter().filter(|(_, _, shown)| *shown).map(|(name, of, _)| (name, of)).collect();
    let mut columns =
        vec![Column::new("latency in ms", Align::Left), Column::new("count", Align::Right)];
    columns.push(Column::spare("mean", Align::Point, 2));
    columns.extend(SHOWN.map(|(field, title)| {
        let spare = u8::from(field == "p90");
        Column::spare(title, Align::Point, spare)
    }));
    columns.push(Column::new("max", Align::Point));
    let mut table = Table::new(columns);
    for (name, of) in &rows {
        let mut cells = vec![(*name).to_owned(), format_count(of.count), ms(of.mean)];
        cells.extend(SHOWN.map(|(field, _)| quantile(of, field)));
        cells.push(ms(of.max));
        table.row(cells);
    }
    let of_all = Some(&block.offered_ms).filter(|_| lost).and_then(intervals);
    let of_all = of_all.map(|intervals| format!("the same of all offered: {intervals}"));
    let mut words: Vec<String> = intervals(&block.response_ms)
        .map(|intervals| format!("95 % intervals within this run: {intervals}"))
        .into_iter()
        .chain(of_all)
        .chain(without_interval(&block.response_ms))
        .collect();
    for (name, of) in rows.iter().filter(|(name, _)| *name != FAILED) {
        let reasons = reasons(name.trim(), of).into_iter();
        words.extend(reasons.filter(|reason| !words.contains(reason)).collect::<Vec<_>>());
    }
    words.extend(service_split(report));
    (table, words)
}

/// `service 1.90 ms on average: server and network 1.80 ms, generator 0.10 ms (reply lag, ...)`.
fn service_split(report: &Report) -> Option<String> {
    let (lag, split) = (&report.block.reply_lag_us, report.block.reply_lag_us.service?);
    let [mean, server, generator] =
        [split.mean_ms, split.server_and_network_ms, split.generator_ms]
            .map(|ms| significant(ms, 3));
    Some(format!(
        "service {mean} ms on average: server and network {server} ms, generator {generator} ms \
         (reply lag, n = {})",
        format_count(lag.count)
    ))
}

/// A quantile, its lower bound, infinity, or nothing.
pub(crate) fn quantile(of: &Latency, field: &str) -> String {
    if let Some(value) = of.get(field) {
        return significant(value, 3);
    }
    if let Some(value) = of.at_least.get(field) {
        return format!("≥ {}", significant(*value, 3));
    }
    if of.is_infinite(field) { INFINITE.to_owned() } else { NONE.to_owned() }
}

/// An interval of a quantile; its upper end is infinite where it is among what was lost.
pub(crate) fn interval((low, high): (f64, Option<f64>)) -> String {
    let high = high.map_or_else(|| INFINITE.to_owned(), |high| significant(high, 3));
    format!("{} to {high}", significant(low, 3))
}

/// A quantile of all that was offered, as headlines have it, with its unit: where nothing was
/// lost, it is that of what finished; where too much was, it is infinite, and how much that was
/// stands second. Nothing where there are too few to tell.
pub(crate) fn of_all_offered(report: &Report, field: &str) -> Option<(String, String)> {
    let (counts, offered) = (&report.block.counts, &report.block.offered_ms);
    let value = quantile(offered, field);
    match value.as_str() {
        NONE => None,
        INFINITE => {
            let lost = 100.0 * (counts.failed + counts.dropped) as f64 / counts.offered as f64;
            Some((value, format!("{} % lost", significant(lost, 2))))
        }
        _ => Some((format!("{value} ms"), String::new())),
    }
}

/// The intervals of some quantiles of a distribution.
fn intervals(of: &Latency) -> Option<String> {
    let known = SHOWN.iter().filter(|(field, _)| matches!(*field, "p50" | "p99" | "p999"));
    let known = known.filter_map(|(field, title)| {
        Some(format!("{title} {}", interval(*of.intervals.get(field)?)))
    });
    let known: Vec<String> = known.collect();
    (!known.is_empty()).then(|| known.join(", "))
}

/// Why quantiles that are known have no interval, those with the same reason together.
fn without_interval(of: &Latency) -> Vec<String> {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for (field, title) in SHOWN {
        let Some(reason) = of.interval_reasons.get(field) else { continue };
        match by_reason.iter_mut().find(|(known, _)| known == reason) {
            Some((_, titles)) => titles.push(title),
            None => by_reason.push((reason, vec![title])),
        }
    }
    let line = |(reason, titles): (&str, Vec<&str>)| {
        format!("no interval of {}: {reason}", titles.join(", "))
    };
    by_reason.into_iter().map(line).collect()
}

const UNFINISHED: &str = "unfinished work counts its age when the run was over";

/// Why quantiles of a row have no number, those with the same reason together. Too few samples
/// are too few for all rows.
fn reasons(name: &str, of: &Latency) -> Vec<String> {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for (field, title) in SHOWN {
        let Some(reason) = of.reasons.get(field) else { continue };
        // A bound stands in the table; what it comes from is the same for all.
        let reason = if of.at_least.get(field).is_some() { UNFINISHED } else { reason.as_str() };
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, titles)) => titles.push(title),
            None => by_reason.push((reason, vec![title])),
        }
    }
    let line = |(reason, titles): (&str, Vec<&str>)| {
        let titles = titles.join(", ");
        match reason.strip_prefix("infinite: ") {
            Some(why) => format!("∞ {why}"),
            None if reason == UNFINISHED => format!("≥ {reason}"),
            None if reason.starts_with("n too small") => format!("{titles}: {reason}"),
            None => format!("{titles} {name}: {reason}"),
        }
    };
    by_reason.into_iter().map(line).collect()
}

pub(super) fn transactions(report: &Report, style: &Style) -> Vec<String> {
    let Some(table) = by_kind(report) else { return Vec::new() };
    let mut lines = headed(&table, style);
    let mut kinds = report.block.transactions.iter();
    if kinds.any(|(_, of)| of.calls > 0 && of.response_ms.p99.is_none()) {
        lines.push(FEW.to_owned());
    }
    lines
}

/// Why a percentile of a kind is missing.
pub(crate) const FEW: &str = "– too few samples for a 95 % interval";

/// The kinds of transactions as a table.
pub(crate) fn by_kind(report: &Report) -> Option<Table> {
    let kinds = || report.block.transactions.iter().filter(|(_, of)| of.calls + of.dropped > 0);
    kinds().next()?;
    let mut table = Table::new([
        Column::new("transaction", Align::Left),
        Column::new("calls", Align::Right),
        Column::new("failed", Align::Right),
        Column::spare("retried", Align::Right, 3),
        Column::new("TPS", Align::Point),
        Column::new("% of time", Align::Point),
        Column::spare("trips", Align::Point, 4),
        Column::new("p50 ms", Align::Point),
        Column::spare("p95", Align::Point, 2),
        Column::new("p99", Align::Point),
        Column::new("max", Align::Point),
    ]);
    for (name, of) in kinds() {
        let TransactionReport { calls, failed, retried, .. } = *of;
        let response = &of.response_ms;
        table.row([
            name.to_owned(),
            format_count(calls),
            format_count(failed),
            format_count(retried),
            rate(of.tps),
            percent(of.ratio_percent),
            of.round_trips
                .filter(|trips| *trips > 0.0)
                .map_or(NONE.to_owned(), |trips| significant(trips, 3)),
            quantile(response, "p50"),
            quantile(response, "p95"),
            quantile(response, "p99"),
            ms(response.max),
        ]);
    }
    Some(table)
}

/// Each group beside the others, where there are several.
pub(super) fn groups(report: &Report, style: &Style) -> Vec<String> {
    by_group(report).map_or_else(Vec::new, |table| headed(&table, style))
}

/// The groups as a table.
pub(crate) fn by_group(report: &Report) -> Option<Table> {
    let blocks = report.groups.iter().filter_map(|group| Some((group, group.block.as_ref()?)));
    let blocks: Vec<_> = blocks.collect();
    if blocks.is_empty() {
        return None;
    }
    let mut table = Table::new([
        Column::new("group", Align::Left),
        Column::spare("workload", Align::Left, 1),
        Column::new("clients", Align::Right),
        Column::new("offered", Align::Right),
        Column::new("failed", Align::Right),
        Column::new("TPS", Align::Point),
        Column::new("p50 ms", Align::Point),
        Column::new("p99", Align::Point),
        Column::new("max", Align::Point),
    ]);
    for (group, block) in blocks {
        table.row([
            group.name.clone(),
            group.workload.clone(),
            format_count(group.clients.into()),
            format_count(block.counts.offered),
            format_count(block.counts.failed),
            rate(block.tps),
            quantile(&block.response_ms, "p50"),
            quantile(&block.response_ms, "p99"),
            ms(block.response_ms.max),
        ]);
    }
    Some(table)
}

/// Commits in each whole second of the measured window, all groups together.
fn per_second(report: &Report) -> Vec<f64> {
    let n = report.measured_seconds as usize;
    let mut seconds = vec![0.0; n];
    for row in &report.seconds {
        let index = usize::try_from(row.second).ok();
        if let Some(second) = index.and_then(|index| seconds.get_mut(index)) {
            *second += row.commits as f64;
        }
    }
    seconds
}

pub(super) fn over_time(report: &Report, style: &Style) -> Vec<String> {
    let Some(facts) = steadiness(report) else { return Vec::new() };
    let seconds = per_second(report);
    let most = seconds.iter().copied().fold(0.0, f64::max);
    let whole = count(seconds.len() as u64, "second");
    let most = numbers::exact(most);
    let narrow = seconds.len() > style.width;
    let worst = if narrow { ", each block the worst of its seconds" } else { "" };
    let words = format!("commits in each of {whole}, from 0 to {most}{worst}");
    let mut lines = vec![title(&words, style)];
    lines.push(sparkline(&seconds, style.width));
    let begun = report.disturbances.iter().filter(|one| one.outcome != "skipped");
    let begun: Vec<usize> = begun.map(|one| one.began_s.max(0.0) as usize).collect();
    if !begun.is_empty() {
        lines.push(marks(&begun, seconds.len(), style.width));
    }
    lines.extend(facts.iter().flat_map(|words| wrap(words, style.width)));
    lines
}

/// How steady commits were, in sentences.
pub(crate) fn steadiness(report: &Report) -> Option<Vec<String>> {
    let steady = &report.block.stability;
    let (slowest, median) = (steady.slowest_second?, steady.median_tps?);
    let most = per_second(report).into_iter().fold(0.0, f64::max);
    let mut facts = vec![
        format!("min {} (second {})", numbers::exact(slowest.tps), slowest.second),
        format!("median {}", numbers::exact(median)),
        format!("max {}", numbers::exact(most)),
    ];
    facts.extend(steady.cv.map(|cv| format!("CV {} %", significant(100.0 * cv, 2))));
    facts.push(match steady.stalls {
        0 => "no stall".to_owned(),
        n => format!(
            "{} ({} ms in all, the longest {} ms)",
            count(n, "stall"),
            significant(steady.stalled_ms, 3),
            significant(steady.longest_stall_ms, 3)
        ),
    });
    let refused = report.block.tps_ci95_reason.iter();
    let refused = refused.map(|why| format!("TPS has no ±: {why}"));
    let longer = report.block.tps_ci95.as_ref().and_then(|ci95| {
        let needed_s = ci95.seconds_to_1_percent?;
        (needed_s > report.measured_seconds).then(|| {
            let needed = numbers::seconds(numbers::rounded_up(needed_s));
            format!("TPS to ±1 % takes about {needed}")
        })
    });
    Some(std::iter::once(facts.join(", ")).chain(refused).chain(longer).collect())
}

/// Stretches that a page shows; the JSON has all of them.
const INTERVALS_MOST: usize = 60;

/// The run in stretches, where users arrive at a rate or think.
pub(super) fn by_interval(report: &Report, style: &Style) -> Vec<String> {
    let Some(table) = stretches(report, INTERVALS_MOST) else { return Vec::new() };
    let mut lines = headed(&table, style);
    if report.intervals.len() > INTERVALS_MOST {
        let more = report.intervals.len() - INTERVALS_MOST;
        lines.push(format!(
            "and {more} more in the JSON; a longer --report-interval makes them fewer"
        ));
    }
    lines
}

/// The first stretches as a table, where users arrive at a rate or think.
pub(crate) fn stretches(report: &Report, most: usize) -> Option<Table> {
    let is_closed = |group: &GroupReport| group.load == Load::Closed;
    if report.intervals.len() < 2 || report.groups.iter().all(is_closed) {
        return None;
    }
    let mut table = Table::new([
        Column::new("seconds", Align::Right),
        Column::new("offered/s", Align::Point),
        Column::new("TPS", Align::Point),
        Column::new("p50 ms", Align::Point),
        Column::new("p95", Align::Point),
        Column::new("p99", Align::Point),
        Column::spare("wait %", Align::Point, 1),
        Column::spare("queued", Align::Point, 2),
        Column::new("lost", Align::Right),
    ]);
    for interval in report.intervals.iter().take(most) {
        let number = |value: Option<f64>| value.map_or(NONE.to_owned(), |v| significant(v, 3));
        table.row([
            format!("{} to {}", interval.from_s, numbers::exact(interval.to_s)),
            rate(Some(interval.offered_per_second)),
            rate(Some(interval.tps)),
            ms(interval.p50_ms),
            ms(interval.p95_ms),
            ms(interval.p99_ms),
            percent(interval.wait_percent),
            number(interval.queue_mean),
            format_count(interval.failed + interval.dropped + interval.unfinished),
        ]);
    }
    Some(table)
}

pub(super) fn measures(report: &Report, style: &Style) -> Vec<String> {
    measured(report).map_or_else(Vec::new, |table| headed(&table, style))
}

/// The workload's own measures as a table.
pub(crate) fn measured(report: &Report) -> Option<Table> {
    let measures = || report.block.measures.iter().filter(|(_, of)| of.count > 0);
    measures().next()?;
    let mut table = Table::new([
        Column::new("measure", Align::Left),
        Column::new("unit", Align::Left),
        Column::new("count", Align::Right),
        Column::new("sum", Align::Right),
        Column::new("mean", Align::Point),
        Column::new("p50", Align::Point),
        Column::new("p99", Align::Point),
        Column::new("max", Align::Point),
    ]);
    for (name, of) in measures() {
        table.row([
            name.to_owned(),
            of.unit.clone(),
            format_count(of.count),
            format_count(of.sum),
            ms(of.mean),
            ms(of.p50),
            ms(of.p99),
            ms(of.max),
        ]);
    }
    Some(table)
}

pub(super) fn errors(report: &Report, style: &Style) -> Vec<String> {
    let errors = &report.block.errors;
    if errors.is_empty() {
        return Vec::new();
    }
    let words = "errors, those of attempts that were tried again among them";
    let mut lines = vec![title(words, style)];
    for error in errors.iter().take(ERRORS_MOST) {
        let code = if error.code == 0 { String::new() } else { format!(" {}", error.code) };
        let label = format!("{:>9}  ", format_count(error.count));
        let words = format!("{}{code}: {}", error.kind, error.message);
        lines.extend(hanging(&label, &words, label.len(), style.width));
    }
    if errors.len() > ERRORS_MOST {
        lines.push(format!("{:>9}  more kinds", errors.len() - ERRORS_MOST));
    }
    lines
}

/// Checks, the generator, connecting: a line each.
pub(super) fn rest(report: &Report, style: &Style) -> Vec<String> {
    lines_of(&besides(report), style)
}

/// Checks, the generator, connecting: labels and words.
pub(crate) fn besides(report: &Report) -> Vec<(String, String)> {
    let mut told =
        vec![("checks".to_owned(), checks(report)), ("generator".to_owned(), generator(report))];
    let connect = &report.block.connect_ms;
    if connect.times.count + connect.failed > 0 {
        let mean = connect.times.mean.map(|mean| format!(", mean {} ms", significant(mean, 3)));
        let most = connect.times.max.map(|max| format!(", max {} ms", significant(max, 3)));
        let failed = (connect.failed > 0).then(|| format!(", {} failed", connect.failed));
        let connected = format!("{} connected", format_count(connect.times.count));
        let parts = [Some(connected), mean, most, failed];
        let counted = server_connections(report).map(|words| format!("; {words}"));
        let words: String = parts.into_iter().chain([counted]).flatten().collect();
        told.push(("sessions".to_owned(), words));
    }
    for disclosure in &report.disclosures {
        let words = format!("{}. {}", disclosure.summary(), disclosure.note);
        told.push(("standard".to_owned(), words));
    }
    told
}

/// How many connections the server itself counts; some of them are those who ask.
fn server_connections(report: &Report) -> Option<String> {
    let facts = report.facts.get("connections")?;
    let number = |name: &str| Some(format_count(facts.get(name)?.count()?));
    let counts = [("server_at_start", "at the start"), ("server_under_load", "under load")];
    let told = counts.iter().filter_map(|(name, when)| Some(format!("{} {when}", number(name)?)));
    let told: Vec<String> = told.collect();
    let counter = facts.get("server_counter")?;
    (!told.is_empty()).then(|| format!("the server counts {} ({counter})", told.join(" and ")))
}

/// The server's own counter beside our commits, and why the two may differ.
fn server_commits(report: &Report) -> Option<String> {
    let facts = report.facts.get("commits")?;
    let number = |name: &str| facts.get(name)?.integer();
    let (change, ours) = (number("server_change")?, number("ours")?);
    let counter = facts.get("server_counter")?;
    let told = |n: i64| format_count(n.unsigned_abs());
    let says_so = report.facts.get("server").is_some_and(|of| of.contains_key("restarted_ago_s"));
    let is_found = report.findings.iter().any(|finding| finding.id == "server_restarted");
    if (says_so || is_found) && change < ours {
        return Some(format!("{counter} of the server lost count: it was started anew"));
    }
    if !report.disturbances.is_empty() && change < ours {
        return Some(format!("{counter} of the server lost count in the plan's disturbances"));
    }
    if change < 0 {
        return Some(format!("{counter} of the server went back: it was started anew"));
    }
    let why = match change - ours {
        0 => String::new(),
        1.. => "; it counts what others and our own checks commit too".to_owned(),
        _ if facts.get("counts_single_statements").is_some_and(|is| is.yes_no() == Some(false)) => {
            "; it does not count statements outside of transactions".to_owned()
        }
        _ => ", which is fewer".to_owned(),
    };
    Some(format!(
        "{counter} of the server grew by {} while we committed {}{why}",
        told(change),
        told(ours)
    ))
}

fn checks(report: &Report) -> String {
    let mut parts = Vec::new();
    let checks = [(&report.checks.before, "before the load"), (&report.checks.after, "after it")];
    for (results, when) in checks {
        let Some(results) = results else { continue };
        let held = results.iter().filter(|check| check.failed == 0).count();
        parts.push(format!("{held} of {} hold {when}", results.len()));
    }
    for check in &report.crosschecks {
        let (change, kind) = (check.change, &check.transaction);
        let ours = format_count(check.committed);
        parts.push(if check.matches {
            format!("the database counts {ours} commits of {kind}, as we do")
        } else {
            format!("the database counts {change} commits of {kind}, we {ours}")
        });
    }
    parts.extend(server_commits(report));
    parts.join("; ")
}

fn generator(report: &Report) -> String {
    let mut parts = Vec::new();
    if let Some(client) = &report.client {
        let each = client.cpu_us_per_query.map(|us| format!(", {} µs a query", significant(us, 3)));
        let cpu = significant(client.cpu_seconds, 3);
        parts.push(format!("{cpu} s of CPU{}", each.unwrap_or_default()));
        parts.push(format!("{} of memory", numbers::bytes(client.max_rss_bytes)));
        if client.bytes_in + client.bytes_out > 0 {
            let (out, back) = (numbers::bytes(client.bytes_out), numbers::bytes(client.bytes_in));
            parts.push(format!("{out} out and {back} in"));
        }
    }
    let lag = &report.block.lag_us;
    if lag.max.is_some_and(|max| max > 0.0) {
        let [p50, p99, max] = [lag.p50, lag.p99, lag.max].map(ms);
        parts.push(format!("lag p50 {p50}, p99 {p99}, max {max} µs"));
    }
    let lag = &report.block.reply_lag_us;
    if lag.count > 0 {
        let [p50, p99, max] = [lag.p50, lag.p99, lag.max].map(ms);
        parts.push(format!("reply lag p50 {p50}, p99 {p99}, max {max} µs"));
    }
    if lag.late > 0 {
        let noun = if lag.late == 1 { "reply" } else { "replies" };
        parts.push(format!("{} {noun} lay for 10 ms or longer", format_count(lag.late)));
    }
    parts.extend(loops(report));
    parts.join("; ")
}

/// `loops busy 41, 39 %, at most 1.2 ms late`.
fn loops(report: &Report) -> Option<String> {
    let late = report.loops.iter().filter_map(|of_loop| of_loop.heartbeat_lag_us.max);
    let late = late.max_by(f64::total_cmp)?;
    let busy = report.facts.get("client").and_then(|facts| facts.get("loop_busy_percent"));
    let busy = busy.map(|busy| format!(" busy {busy} %,")).unwrap_or_default();
    Some(format!("event loops{busy} at most {} ms late", significant(late / 1e3, 2)))
}

/// Whether the result is valid, in a sentence.
pub(crate) fn verdict(report: &Report) -> String {
    let n = |severity| report.findings.iter().filter(|f| f.severity == severity).count() as u64;
    match (n(Severity::Invalid), n(Severity::Warning)) {
        (0, _) if report.measured_seconds == 0.0 => match report.status {
            Status::Running => "Nothing was measured yet.".to_owned(),
            _ => "Nothing was measured.".to_owned(),
        },
        (0, 0) if report.findings.is_empty() => "Yes. No problem was found.".to_owned(),
        (0, 0) => "Yes. No problem was found. Notes:".to_owned(),
        (0, warnings) => format!("With care: {}.", count(warnings, "warning")),
        _ => "No.".to_owned(),
    }
}

pub(super) fn findings(report: &Report, style: &Style) -> Vec<String> {
    of_validity(&Validity::of(verdict(report), &report.findings), style)
}

/// To the second, which is enough for people.
pub(crate) fn begun(started: &str) -> String {
    match (started.get(..10), started.get(11..19)) {
        (Some(date), Some(time)) => format!("{date} {time} UTC"),
        _ => started.to_owned(),
    }
}

/// The run, and the first declaration, which is the one that the law asks for.
pub(super) fn footer(report: &Report, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    let declarations = &report.declarations;
    lines.extend(declarations.iter().take(1).flat_map(|first| wrap(first, style.width)));
    if declarations.len() > 1 {
        let more = count(declarations.len() as u64 - 1, "further disclosure");
        lines.push(format!("{more} of what differs: see the JSON."));
    }
    let run_id = &report.run_id;
    let version = format!("{}, dbdyno {}", report.name, report.dbdyno);
    let begun = begun(&report.started);
    lines.extend(labelled("run", &format!("{run_id}, {version}, begun {begun}"), style));
    let repeat = format!("dbdyno runs show {run_id} --plan > plan.toml; dbdyno run plan.toml");
    lines.extend(labelled("repeat", &repeat, style));
    lines
}
