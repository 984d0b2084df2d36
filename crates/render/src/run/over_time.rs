//! The section on the course of a run: charts and a sketch of commits per second, stalls, and
//! figures by report interval.

use analysis::report::{GroupReport, IntervalReport, Report};
use model::Load;
use model::numbers::{self, count, significant};

use super::head;
use crate::charts::{Chart, Spot, in_spot};
use crate::document::{Block, Details, Length, Place, Section, Sketch};
use crate::table::{Align, Cell, Column, Table};

/// Largest number of report intervals in the folded table; the JSON report has all of them.
const FOLDED_MOST: usize = 1_000;

/// Largest number of report intervals in text and Markdown, which show the others as a number.
const SHOWN_MOST: usize = 60;

pub(super) fn section(report: &Report, charts: &[Chart]) -> Section {
    let rates = in_spot(charts, Spot::Rates);
    let times = in_spot(charts, Spot::Times);
    let mut blocks = vec![Block::Charts(interleaved(&rates, &times))];
    if let Some(facts) = steadiness(report) {
        blocks.push(Block::Sketch(sketch(report)));
        blocks.push(Block::paragraphs(facts));
    }
    blocks.extend(intervals(report));
    let section = Section::new("time", "Over time", blocks);
    Section { where_drawn: Place::First, ..section }
}

/// Alternates charts of throughput with charts of response times, so that readers see the same
/// seconds together.
fn interleaved(rates: &[Chart], times: &[Chart]) -> Vec<Chart> {
    let mut all = Vec::new();
    for index in 0..rates.len().max(times.len()) {
        all.extend(rates.get(index).cloned());
        all.extend(times.get(index).cloned());
    }
    all
}

/// Returns the commits in each whole second of the measured phase, summed over all groups.
pub(super) fn per_second(report: &Report) -> Vec<f64> {
    // The report has rows of all seconds, or of none.
    let n = (report.measured_seconds as usize).min(report.seconds.len());
    let mut seconds = vec![0.0; n];
    for row in &report.seconds {
        let index = usize::try_from(row.second).ok();
        if let Some(second) = index.and_then(|index| seconds.get_mut(index)) {
            *second += row.commits as f64;
        }
    }
    seconds
}

/// Returns a sentence that the sketch and the range of TPS leave out an incomplete last second;
/// `None` if all seconds are whole.
pub(super) fn left_out(report: &Report) -> Option<String> {
    let rest_s = report.measured_seconds - per_second(report).len() as f64;
    let is_part = !report.seconds.is_empty() && (0.05..1.0).contains(&rest_s);
    is_part.then(|| format!("without the last {}", numbers::seconds(rest_s)))
}

/// Returns a one-line curve of commits per second, with marks where disturbances began.
fn sketch(report: &Report) -> Sketch {
    let values = per_second(report);
    let whole = count(values.len() as u64, "second");
    let most = numbers::exact(values.iter().copied().fold(0.0, f64::max));
    let begun = report.disturbances.iter().filter(|one| one.outcome != "skipped");
    let marks = begun.map(|one| one.began_s.max(0.0) as usize).collect();
    let rest = left_out(report).map_or_else(String::new, |rest| format!(" ({rest})"));
    Sketch { title: format!("TPS in each of {whole}{rest}, 0 to {most}"), values, marks }
}

/// Describes how steady the commits per second were: minimum, median, maximum, variation, stalls,
/// and how long a run must be for an interval of ±1 %. `None` if no second was measured.
fn steadiness(report: &Report) -> Option<Vec<String>> {
    let steady = &report.block.stability;
    let (slowest, median) = (steady.slowest_second?, steady.median_tps?);
    let most = per_second(report).into_iter().fold(0.0, f64::max);
    let mut facts = vec![
        format!("min {} (at {} s)", numbers::exact(slowest.tps), slowest.second),
        format!("median {}", numbers::exact(median)),
        format!("max {}", numbers::exact(most)),
    ];
    facts.extend(steady.cv.map(|cv| format!("CV {} %", significant(100.0 * cv, 2))));
    facts.extend(stalls(report));
    let refused = report.block.tps_ci95_reason.iter();
    let refused = refused.map(|why| format!("no CI for TPS: {why}")).chain(head::unusable(report));
    let longer = report.block.tps_ci95.as_ref().and_then(|ci95| {
        let needed_s = ci95.seconds_to_1_percent?;
        (needed_s > report.measured_seconds).then(|| {
            let needed = numbers::seconds(numbers::rounded_up(needed_s));
            format!("±1 % of TPS would need a run of at least {needed}")
        })
    });
    Some(std::iter::once(facts.join(", ")).chain(refused).chain(longer).collect())
}

/// Describes number and length of stalls (times without commits); `None` if no second was measured.
pub(super) fn stalls(report: &Report) -> Option<String> {
    let steady = &report.block.stability;
    steady.slowest_second?;
    Some(match steady.stalls {
        0 => "no stall".to_owned(),
        1 => format!("1 stall of {} ms", significant(steady.stalled_ms, 3)),
        n => format!(
            "{} ({} ms in all, the longest {} ms)",
            count(n, "stall"),
            significant(steady.stalled_ms, 3),
            significant(steady.longest_stall_ms, 3)
        ),
    })
}

/// Returns the folded table of report intervals; `None` if all load is closed or there is a single
/// interval.
fn intervals(report: &Report) -> Option<Block> {
    let is_closed = |group: &GroupReport| group.load == Load::Closed;
    if report.intervals.len() < 2 || report.groups.iter().all(is_closed) {
        return None;
    }
    let all = table(&report.intervals);
    let folded = table(&report.intervals[..report.intervals.len().min(FOLDED_MOST)]);
    let rest = "in the JSON; a longer --report-interval makes them fewer";
    let details = Details {
        title: "Intervals".to_owned(),
        blocks: vec![Block::Table(folded)],
        length: Length::Long,
        otherwise: vec![Block::Table(all.shown_max(SHOWN_MOST, rest))],
    };
    Some(Block::Part(String::new(), vec![Block::Details(details)]))
}

fn table(intervals: &[IntervalReport]) -> Table {
    let mut table = Table::new([
        Column::new("seconds", Align::Right),
        Column::new("offered/s", Align::Point),
        Column::new("TPS", Align::Point),
        Column::new("p50 ms", Align::Point).digits(3),
        Column::new("p95", Align::Point).digits(3),
        Column::new("p99", Align::Point).digits(3),
        Column::spare("wait %", Align::Point, 1).tenths(),
        Column::spare("queued", Align::Point, 2).digits(3),
        Column::new("lost", Align::Right),
    ]);
    for interval in intervals {
        table.row([
            Cell::Words(format!("{} to {}", interval.from_s, numbers::exact(interval.to_s))),
            interval.offered_per_second.into(),
            interval.tps.into(),
            interval.p50_ms.into(),
            interval.p95_ms.into(),
            interval.p99_ms.into(),
            interval.wait_percent.into(),
            interval.queue_mean.into(),
            (interval.failed + interval.dropped + interval.unfinished).into(),
        ]);
    }
    table
}
