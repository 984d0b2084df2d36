//! Parts of a run's pages for load whose figures are rates and percentiles: headline, tiles, and
//! lines of the first page.
//!
//! Not here: fixed sequences of transactions (sequence), and the sections on latency, transactions
//! and the course over time (latency, transactions, over_time).

use analysis::report::{Report, SecondReport};
use model::numbers::{self, NONE, significant};

use super::{head, over_time, transactions, why};
use crate::document::{Block, Quantity, Section, Text, Tile, Uncertainty, Value};
use crate::first_page::WITH_FULL;
use crate::spark::sparkline;

/// Largest length of a server's error message on a run's first page, in characters; a longer one is
/// cut.
const MESSAGE_LETTERS_MOST: usize = 80;

/// Width of the sparkline of throughput, in columns, so that its range fits on the same line.
const CURVE_WIDTH: usize = 30;

/// Adds the run's rates and a response time to the beginning of its headline.
pub(super) fn headline(start: Text, report: &Report) -> Text {
    time(rates(start, report).and(", "), report)
}

/// Adds the run's rates to a headline: the workload's primary metrics and, in brackets, TPS;
/// without primary metrics, TPS and QPS. If no figure of the headline has a confidence interval,
/// the mark after the response time stands for all.
fn rates(mut text: Text, report: &Report) -> Text {
    let rates = head::known(report);
    let is_bare = report.block.tps_ci95.is_none()
        && rates.iter().all(|(_, metric)| metric.half_width.is_none())
        && head::lacks_interval(&head::of_all_offered(report, "p99"));
    let within = format!(" {}", head::WITHIN);
    let marks = [within.as_str(), if is_bare { "" } else { head::NO_CI }];
    if rates.is_empty() {
        text = head::tps(text, report, marks);
        return match report.block.qps {
            Some(qps) => text.and(", ").and(Quantity::number(qps, 4, "QPS")),
            None => text,
        };
    }
    for (index, (value, metric)) in rates.into_iter().enumerate() {
        let comma = if index > 0 { ", " } else { "" };
        text = text.and(comma).and(head::known_words(value, metric, marks[1]));
    }
    head::tps(text.and(" ("), report, marks).and(")")
}

/// Adds a response time to the headline: the p99 over all offered transactions, or the maximum if
/// they are too few for a p99.
fn time(text: Text, report: &Report) -> Text {
    let p99 = head::of_all_offered(report, "p99");
    match (p99.value, report.block.response_ms.max) {
        (Value::Unknown, None) => text.and("nothing finished"),
        (Value::Unknown, Some(max)) => text.and("max ").and(Quantity::number(max, 3, "ms")),
        (Value::Infinite, _) => {
            text.and("p99 ").and(without_error(p99)).and(format!(" ({})", head::lost(report)))
        }
        _ if head::lacks_interval(&p99) => text.and("p99 ").and(p99).and(head::NO_CI),
        _ => text.and("p99 ").and(without_error(p99)),
    }
}

fn without_error(quantity: Quantity) -> Quantity {
    Quantity { error: Uncertainty::Unknown, ..quantity }
}

/// Returns the tiles of a run: primary metrics, TPS, quantiles of response time, and errors.
pub(super) fn tiles(report: &Report) -> Vec<Tile> {
    let block = &report.block;
    let mut tiles: Vec<Tile> =
        head::known(report).into_iter().map(head::of_primary_metric).collect();
    let mut tps = head::rate_tile("TPS", head::rate_of(block, ""));
    if let Some(offered) = head::offered(report) {
        let comma = if tps.note.is_empty() { "" } else { "; " };
        tps.note.push_str(&format!("{comma}{} offered", offered.value()));
    }
    tiles.push(Tile { trend: head::over_time(report, &|row| Some(row.tps)), ..tps });
    tiles.extend([
        of_quantile(report, "p50", &|row| row.p50_ms),
        of_quantile(report, "p95", &|row| row.p95_ms),
        of_quantile(report, "p99", &|row| row.p99_ms),
    ]);
    let max = block.response_ms.max.map_or(Value::Unknown, Value::Known);
    let max = Quantity { value: max, error: Uncertainty::Unknown, unit: "ms", digits: 3 };
    let max = in_tile(max);
    let trend = head::over_time(report, &|row| row.max_ms);
    tiles.push(Tile { name: "longest".to_owned(), value: max, trend, ..Tile::default() });
    tiles.push(head::errors_tile(report));
    tiles
}

/// Returns the tile of a quantile of response time over all offered transactions, with its
/// confidence interval, if any. `per_second` returns the quantile of a single second, for the small
/// curve.
fn of_quantile(
    report: &Report,
    field: &str,
    per_second: &dyn Fn(&SecondReport) -> Option<f64>,
) -> Tile {
    let value = head::of_all_offered(report, field);
    let note = match (value.value, value.error) {
        (Value::Infinite, _) => head::lost(report),
        (Value::Known(_) | Value::AtLeast(_), Uncertainty::Unknown)
            if report.block.offered_ms.interval_reasons.get(field).is_some() =>
        {
            "no CI".to_owned()
        }
        _ => String::new(),
    };
    // Seconds only have the times of finished transactions, which are finite even if the quantile
    // is infinite.
    let trend = match value.value {
        Value::Infinite => Vec::new(),
        _ => head::over_time(report, per_second),
    };
    Tile { name: field.to_owned(), value: in_tile(value), note, trend }
}

/// Number of milliseconds from which a tile shows a time in seconds instead.
const TILE_MS_MOST: f64 = 10_000.0;

/// Converts a time in milliseconds to seconds if it is too long for a tile.
fn in_tile(time: Quantity) -> Quantity {
    let in_seconds = |ms: f64| ms / 1e3;
    let value = match time.value {
        Value::Known(ms) if ms >= TILE_MS_MOST => Value::Known(in_seconds(ms)),
        Value::AtLeast(ms) if ms >= TILE_MS_MOST => Value::AtLeast(in_seconds(ms)),
        Value::Known(_) | Value::AtLeast(_) | Value::Unknown | Value::Infinite => return time,
    };
    let error = match time.error {
        Uncertainty::Unknown => Uncertainty::Unknown,
        Uncertainty::HalfWidth(half) => Uncertainty::HalfWidth(in_seconds(half)),
        Uncertainty::Interval(low, high) => {
            Uncertainty::Interval(in_seconds(low), high.map(in_seconds))
        }
    };
    Quantity { value, error, unit: "s", ..time }
}

/// Returns the labelled lines of a run's first page with throughput, latency, errors and commits
/// per second.
pub(super) fn figures(report: &Report) -> Vec<(&'static str, String)> {
    vec![
        ("throughput", throughput(report)),
        ("latency", times(report)),
        ("errors", errors(report)),
        ("per second", per_second(report)),
        ("connecting", why::connecting(report).unwrap_or_default()),
    ]
}

/// Describes throughput with its error: `2,471 TPS ± 320, 64,100 NOPM`. The second rate is the
/// primary metric, or else QPS.
fn throughput(report: &Report) -> String {
    let mut parts = vec![head::tps(Text::default(), report, ["", head::NO_CI]).plain()];
    match (head::known(report).first(), report.block.qps) {
        (Some((value, metric)), _) => parts.push(head::known_words(*value, metric, head::NO_CI)),
        (None, Some(qps)) if qps > 0.0 => parts.push(format!("{} QPS", significant(qps, 4))),
        _ => {}
    }
    parts.join(", ")
}

/// Largest number of reasons for missing confidence intervals that a run's first page lists; if
/// there are more, it says that `--full` shows them.
const REASONS_MOST: usize = 2;

/// Quantiles of response time in the line on latency of a run's first page.
const QUANTILES: [&str; 3] = ["p50", "p95", "p99"];

/// Describes response times: `p50 0.672, p95 8.95, p99 17.2 (15.9 to 19.0), max 132 ms`. Only p99
/// has its confidence interval, for lack of room; quantiles without one are marked.
fn times(report: &Report) -> String {
    let known = QUANTILES.map(|field| (field, head::of_all_offered(report, field)));
    let known = || known.iter().filter(|(_, quantity)| quantity.value != Value::Unknown);
    // If no figure has an interval, a single mark at the end stands for all.
    let has_none = known().all(|(_, quantity)| head::lacks_interval(quantity));
    let to_words = |(field, quantity): &(&str, Quantity)| {
        let quantity = Quantity { unit: "", ..*quantity };
        let interval = match quantity.error() {
            words if *field == "p99" && !words.is_empty() => format!(" ({words})"),
            _ if !has_none && head::lacks_interval(&quantity) => head::NO_CI.to_owned(),
            _ => String::new(),
        };
        format!("{field} {}{interval}", quantity.value())
    };
    let mut parts: Vec<String> = known().map(to_words).collect();
    let mark = if has_none && !parts.is_empty() { head::NO_CI } else { "" };
    let max = report.block.response_ms.max;
    parts.extend(max.map(|max| format!("max {} ms{mark}", significant(max, 3))));
    if parts.is_empty() { "nothing finished".to_owned() } else { parts.join(", ") }
}

/// Lists the reasons why figures of the first page have no confidence interval, each once with its
/// figures.
fn without_interval(report: &Report) -> Vec<String> {
    let block = &report.block;
    let tps = block.tps_ci95_reason.as_deref().filter(|_| block.tps_ci95.is_none());
    let mut all: Vec<(&str, &str)> = tps.map(|why| ("TPS", why)).into_iter().collect();
    all.extend(QUANTILES.into_iter().filter_map(|field| {
        let lacks = head::lacks_interval(&head::of_all_offered(report, field));
        Some((field, block.offered_ms.interval_reasons.get(field).filter(|_| lacks)?.as_str()))
    }));
    let known = head::known(report);
    let first =
        known.first().map(|(_, metric)| *metric).filter(|metric| metric.half_width.is_none());
    all.extend(first.and_then(|metric| Some((metric.title.as_str(), metric.reason.as_deref()?))));
    let mut reasons: Vec<&str> = Vec::new();
    for (_, why) in &all {
        if !reasons.contains(why) {
            reasons.push(why);
        }
    }
    let line = |why: &str| {
        let names: Vec<&str> = all.iter().filter(|one| one.1 == why).map(|one| one.0).collect();
        format!("no CI of {}: {why}", names.join(", "))
    };
    let more = (reasons.len() > REASONS_MOST).then(|| format!("more reasons {WITH_FULL}"));
    let unusable = head::unusable(report).into_iter();
    unusable.chain(reasons.into_iter().take(REASONS_MOST).map(line)).chain(more).collect()
}

/// Counts failed, retried, dropped, unfinished and unknown transactions, and names the most
/// frequent error.
fn errors(report: &Report) -> String {
    let mut parts = transactions::outcomes(&report.block.counts);
    let most = report.block.errors.iter().max_by_key(|error| error.count);
    // Intended rollbacks are left out if an error needs the room.
    parts.extend(most.is_none().then(|| transactions::rolled_back(report)).flatten());
    let most = most.map(|error| {
        format!(
            "; most often {}: {}",
            error.kind,
            numbers::cut(&error.message, MESSAGE_LETTERS_MOST)
        )
    });
    parts.join(", ") + &most.unwrap_or_default()
}

/// Draws commits per second as a sparkline, with their range and the stalls; empty if no second was
/// measured.
fn per_second(report: &Report) -> String {
    let values = over_time::per_second(report);
    let Some(stalls) = over_time::stalls(report) else { return String::new() };
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    let curve = sparkline(&values, CURVE_WIDTH);
    let rest = over_time::left_out(report).map_or_else(String::new, |rest| format!("; {rest}"));
    format!("{curve}  {} to {} TPS, {stalls}{rest}", numbers::exact(low), numbers::exact(high))
}

/// Returns the table of groups for a run's first page or, with a single group, of transaction
/// types; empty if there is only one of these.
pub(super) fn types_shortly(report: &Report, shown_most: usize) -> Section {
    let table = transactions::by_type_shortly(report, shown_most);
    let n_groups = report.groups.len();
    let mut blocks = Vec::new();
    if n_groups > 1 {
        let table = transactions::by_group_shortly(report);
        blocks.push(Block::Table(table.shown_max(shown_most, WITH_FULL)));
    } else if table.rows.len() > 1 {
        blocks.push(Block::Table(table.shown_max(shown_most, WITH_FULL)));
    }
    Section::new("transactions", "Transactions", blocks)
}

/// Returns remarks on the figures of the first page: what errors are, and why some figures have
/// none.
pub(super) fn remarks(report: &Report) -> Vec<String> {
    let short = has_short_type(report).then(|| format!("{NONE}: too few samples"));
    what_errors_are(report).into_iter().chain(without_interval(report)).chain(short).collect()
}

/// Says what the errors in the lines on throughput and latency are; `None` if there are none.
fn what_errors_are(report: &Report) -> Option<String> {
    let has =
        |mark: &str| [throughput(report), times(report)].iter().any(|line| line.contains(mark));
    let marks = match (has("±"), has(" to ")) {
        (true, true) => "± and (a to b) are 95 % CIs",
        (true, false) => "± is a 95 % CI",
        (false, true) => "(a to b) is a 95 % CI",
        (false, false) => return None,
    };
    Some(format!("{marks} within this run{}", independent(report)))
}

/// Says how few independent parts the measured phase has, if the interval of throughput is clearly
/// wider than the seconds show because neighbouring ones are alike: `; TPS varies slowly, so 30 s
/// tell as much as 7.0 independent seconds: measure longer`. Empty if they are about as many.
fn independent(report: &Report) -> String {
    let n_seconds = report.measured_seconds;
    let effective =
        report.block.tps_ci95.as_ref().map(|interval| interval.n_effective / SLOTS_PER_S);
    let seen = |seconds: &f64| report.block.tps.is_some() && *seconds < n_seconds / 2.0;
    effective.filter(seen).map_or_else(String::new, |seconds| match seconds < 2.0 {
        true => {
            "; TPS drifted during the whole run, so ± is a rough guide: measure longer".to_owned()
        }
        false => format!(
            "; TPS varies slowly, so {} tell as much as {} independent seconds: measure longer",
            numbers::seconds(n_seconds),
            numbers::significant(seconds, 2)
        ),
    })
}

/// Number of slots per second in which commits are counted for the interval of throughput.
const SLOTS_PER_S: f64 = 10.0;

/// Returns true if the first page shows transaction types, and one of them has too few samples for
/// its p99.
fn has_short_type(report: &Report) -> bool {
    let is_shown = report.groups.len() <= 1 && report.block.transactions.0.len() > 1;
    is_shown && transactions::has_short_type(report)
}
