//! The section on disturbances: a sentence for each, and a table of the time before, during and
//! after it.

use analysis::report::{DisturbanceReport, Latency, Report, WindowReport};
use model::numbers::{self, count, significant};

use super::latency::with_interval;
use crate::document::{Block, Details, Length, Place, Quantity, Section};
use crate::table::{Align, Cell, Column, Table};

/// Largest number of disturbances on a page that are shown without unfolding; the others are
/// folded.
const SHOWN_MOST: usize = 8;

/// Percentiles of response time in the table of a disturbance.
const QUANTILES: [&str; 2] = ["p50", "p99"];

/// Largest number of lines of a disturbance's output in text and Markdown: its last lines.
const OUTPUT_LINES_MOST: usize = 3;

pub(super) fn section(report: &Report) -> Section {
    let all = &report.disturbances;
    let (shown, others) = all.split_at(all.len().min(SHOWN_MOST));
    let mut blocks: Vec<Block> = shown.iter().flat_map(of_one).collect();
    if !others.is_empty() {
        let more = count(others.len() as u64, "more disturbance");
        blocks.push(Block::Details(Details {
            title: more.clone(),
            blocks: others.iter().flat_map(of_one).collect(),
            length: Length::Short,
            otherwise: vec![Block::paragraphs([format!("and {more}: see the JSON")])],
        }));
    }
    Section {
        note: "windows around each; failures and times of 'during' include transactions intended \
               up to 1 s earlier"
            .to_owned(),
        where_drawn: Place::First,
        ..Section::new("disturbances", "Disturbances", blocks)
    }
}

fn of_one(one: &DisturbanceReport) -> Vec<Block> {
    let mut blocks = vec![Block::paragraphs([sentence(one)])];
    if !one.output.is_empty() {
        let lines: Vec<&str> = one.output.lines().collect();
        let last = &lines[lines.len().saturating_sub(OUTPUT_LINES_MOST)..];
        let last: Vec<String> = last.iter().map(|line| format!("  > {line}")).collect();
        blocks.push(Block::Details(Details {
            title: "Its output".to_owned(),
            blocks: vec![Block::Verbatim(one.output.clone())],
            length: Length::Short,
            otherwise: vec![Block::Verbatim(last.join("\n"))],
        }));
    }
    blocks.extend(table(one).map(Block::Table));
    blocks.extend(without_interval(one));
    blocks
}

/// Describes a disturbance and its effect: `at 30 s: DROP TABLE big: done in 1.2 s; TPS fell below
/// 90 % of the rate before, and was back there 3 s after the start`.
pub(super) fn sentence(one: &DisturbanceReport) -> String {
    let mut text = format!("at {}: {}", numbers::seconds(one.began_s), one.name);
    if one.name != one.what {
        text += &format!(" ({})", one.what);
    }
    let took = one.ended_s.map(|ended_s| seconds(ended_s - one.began_s));
    let why = || one.why.as_deref().unwrap_or_default();
    text += &match (one.outcome.as_str(), took) {
        ("done", Some(took)) => format!(": done in {took}"),
        ("failed", Some(took)) => format!(": FAILED after {took}: {}", why()),
        ("cut_off", Some(took)) => format!(": cut off after {took}: {}", why()),
        ("skipped", _) => return text + &format!(": not started: {}", why()),
        _ => ": running".to_owned(),
    };
    text += &match (one.fell, one.recovery_s) {
        (Some(true), Some(back)) => format!(
            "; TPS fell below 90 % of the rate before, and was back there {} after the start",
            numbers::seconds(back)
        ),
        (Some(true), None) => {
            "; TPS fell below 90 % of the rate before, and did not return to it within the \
             run"
            .to_owned()
        }
        (Some(false), _) => {
            "; no second had significantly fewer commits than the seconds before".to_owned()
        }
        // Here the reason why the recovery is not known.
        (None, _) => match one.recovery_s_reason.as_deref() {
            Some(why) => format!("; {why}"),
            None => String::new(),
        },
    };
    if !one.overlaps.is_empty() {
        text += &format!("; overlaps with: {}", one.overlaps.join(", "));
    }
    text
}

fn seconds(value: f64) -> String {
    match value {
        ..1.0 => format!("{} ms", significant(value * 1e3, 3)),
        _ => numbers::seconds(value),
    }
}

/// Returns the table of figures before, during and after a disturbance; `None` if none are known.
fn table(one: &DisturbanceReport) -> Option<Table> {
    let windows = [("before", &one.before), ("during", &one.during), ("after", &one.after)];
    if windows.iter().all(|(_, window)| window.is_none()) {
        return None;
    }
    let mut table = Table::new([
        Column::new("", Align::Left),
        Column::new("seconds", Align::Right),
        Column::new("offered", Align::Right),
        Column::spare("failed", Align::Right, 1),
        Column::new("TPS", Align::Right),
        Column::new(quantile_title(one, "p50"), Align::Right),
        Column::new(quantile_title(one, "p99"), Align::Right),
        Column::spare("max", Align::Right, 2).digits(3),
    ]);
    for (name, window) in windows {
        let name = format!("  {name}");
        match window {
            Some(window) => table.row(row(name, window)),
            None => {
                let nothing = vec![Cell::None; 7];
                table.row([vec![Cell::Words(name)], nothing].concat());
            }
        }
    }
    Some(table)
}

/// Returns the figures of the times before, during and after a disturbance, as far as they are
/// known.
fn windows_of(one: &DisturbanceReport) -> impl Iterator<Item = &WindowReport> {
    [&one.before, &one.during, &one.after].into_iter().flatten()
}

/// Returns the column title of the percentile `name`: `p99 ms`, or `p99 ms (95 %)` if some row has
/// a confidence interval.
fn quantile_title(one: &DisturbanceReport, name: &str) -> String {
    let is_known = windows_of(one).any(|window| window.response_ms.intervals.get(name).is_some());
    let interval = if is_known { " (95 %)" } else { "" };
    format!("{name} ms{interval}")
}

/// Lists why percentiles before, during or after a disturbance have no confidence interval, each
/// reason once; `None` if no interval is missing.
fn without_interval(one: &DisturbanceReport) -> Option<Block> {
    let windows = [("before", &one.before), ("during", &one.during), ("after", &one.after)];
    let mut found: Vec<(String, &str, Vec<&str>)> = Vec::new();
    for (name, window) in windows {
        let Some(Latency { interval_reasons, .. }) =
            window.as_ref().map(|window| &window.response_ms)
        else {
            continue;
        };
        let Some(reason) = QUANTILES.iter().find_map(|field| interval_reasons.get(field)) else {
            continue;
        };
        let has = |field: &&&str| interval_reasons.get(field) == Some(reason);
        let quantiles = QUANTILES.iter().filter(has).copied().collect::<Vec<_>>().join(" and ");
        match found.iter_mut().find(|known| (&known.0, known.1) == (&quantiles, reason)) {
            Some((.., names)) => names.push(name),
            None => found.push((quantiles, reason, vec![name])),
        }
    }
    let line = |(quantiles, reason, names): (String, &str, Vec<&str>)| {
        format!("no CI for {quantiles} ({}): {reason}", names.join(", "))
    };
    let lines: Vec<String> = found.into_iter().map(line).collect();
    (!lines.is_empty()).then(|| Block::paragraphs(lines))
}

fn tps(window: &WindowReport) -> Quantity {
    let half_width = window.tps_ci95.as_ref().map(|ci95| ci95.half_width);
    Quantity::rate(window.tps, half_width)
}

fn row(name: String, window: &WindowReport) -> Vec<Cell> {
    let tps = tps(window);
    vec![
        Cell::Words(name),
        Cell::Words(format!("{} to {}", window.from_s, window.to_s)),
        window.offered.unwrap_or(window.counts.offered).into(),
        window.counts.failed.into(),
        Cell::said(tps.to_string(), window.tps),
        quantile(&window.response_ms, "p50"),
        quantile(&window.response_ms, "p99"),
        window.response_ms.max.into(),
    ]
}

fn quantile(latency: &Latency, name: &str) -> Cell {
    Cell::said(with_interval(latency, name).to_string(), latency.get(name))
}

#[cfg(test)]
mod tests {
    use analysis::fixtures::Made;
    use model::Disturbed;

    use super::*;
    use crate::terminal::{Style, text};

    fn page(report: &Report) -> String {
        let sections = vec![section(report)];
        text(&crate::Document { sections, ..crate::Document::default() }, &Style::default())
    }

    #[test]
    fn a_disturbance_is_a_line_and_three_rows() {
        let mut made = Made::closed();
        made.disturbance(42_000, Some(42_300), Disturbed::Done);
        let page = page(&Report::from_tally(&made.tally()));
        assert!(!page.contains("(95 %)"), "no window is long enough: {page}");
        insta::assert_snapshot!(page, @r"
        Disturbances: windows around each; failures and times of 'during' include transactions intended
        up to 1 s earlier
        at 42 s: drop (DROP TABLE big): done in 300 ms; TPS fell below 90 % of the rate before, and was
        back there 1 s after the start
                   seconds  offered  failed       TPS  p50 ms  p99 ms  max
          before  36 to 41    2,311       0  460 ± 26    13.6    93.0  366
          during  42 to 43      310       0     307.0    13.4    86.1  130
          after   43 to 48    2,296       0  457 ± 34    14.0    92.4  177
        no CI for p50 and p99 (before, during, after): the run is too short: times are kept per second,
        and a CI needs 20 s
        ");
        assert!(page.lines().all(|line| line.chars().count() <= Style::default().width));
    }

    #[test]
    fn a_window_whose_error_exceeds_its_rate_has_no_usable_interval() {
        let mut made = Made::closed();
        made.disturbance(42_000, Some(42_300), Disturbed::Done);
        let mut report = Report::from_tally(&made.tally());
        let after = report.disturbances[0].after.as_mut().expect("there is a window");
        after.tps_ci95.as_mut().expect("it has a CI").half_width = 600.0;
        let page = page(&report);
        assert!(page.contains(" 460 ± 26 "), "{page}");
        assert!(page.contains(" 457 (no usable CI) ") && !page.contains("(0 to"), "{page}");
    }

    #[test]
    fn windows_that_are_long_enough_have_intervals() {
        let mut made = Made::closed();
        // A minute has room for 21 s of it, and for less before and after.
        made.disturbance(20_000, Some(41_000), Disturbed::Done);
        let page = page(&Report::from_tally(&made.tally()));
        assert!(page.contains("p50 ms (95 %)") && page.contains(" to 14."), "{page}");
        assert!(page.contains("no CI for p50 and p99 (before, after)"), "{page}");
    }
}
