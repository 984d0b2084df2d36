//! Heat map of latency over time: how many transactions took how long. It shows two groups of
//! latencies, such as cache hits and misses, which a percentile hides.

use analysis::report::Report;
use model::numbers::count;
use model::{HeatCell, format_count};

use super::{Axis, Chart, Entry, Of, Palette, Point, Scale, Shape, Spot, Trace};

pub(super) const ENTRY: Entry = Entry {
    name: "heat",
    about: "how many transactions took how long, over time",
    spot: Spot::Times,
    make: Of::Run(charts),
};

/// Number of shades in a heat map of response times. The shade of a cell stands for its count, on a
/// logarithmic scale up to the largest count.
const LEVELS: u32 = 6;

fn charts(report: &Report) -> Vec<Chart> {
    let cells: Vec<HeatCell> = report.latency_heat.iter().flat_map(|heat| heat.cells()).collect();
    let Some(most) = cells.iter().map(|cell| cell.count).max() else { return Vec::new() };
    let axis = Axis::new("response time", "ms", Scale::Log);
    let mut chart = Chart::of_time("heat", "Latency heat map", axis, report);
    chart.palette = Palette::Ordered;
    let length = count(cells[0].every_s as u64, "second");
    chart.note = Some(format!(
        "Finished transactions by the time for which they were intended, in intervals of {length}; \
         darker means more."
    ));
    // Shades are logarithmic, so that one slow transaction in a thousand is visible.
    let bound = |level: u32| (most as f64).powf(f64::from(level) / f64::from(LEVELS));
    for level in 0..LEVELS {
        let first = if level == 0 { 1 } else { bound(level).floor() as u64 + 1 };
        let is_last = level + 1 == LEVELS;
        let last = if is_last { most } else { bound(level + 1).floor() as u64 };
        let is_of = |cell: &&HeatCell| (first..=last).contains(&cell.count);
        let points: Vec<Point> = cells.iter().filter(is_of).map(point).collect();
        let name = match first == last {
            true => format_count(first),
            false => format!("{} to {}", format_count(first), format_count(last)),
        };
        // The first entry of the legend has the unit.
        let unit = if chart.traces.is_empty() { " transactions" } else { "" };
        let name = name + unit;
        if !points.is_empty() {
            chart.traces.push(Trace::new(name, Shape::Cells, points));
        }
    }
    chart.if_any()
}

fn point(cell: &HeatCell) -> Point {
    Point {
        x: cell.from_s as f64,
        y: Some((cell.low_ms * cell.high_ms).sqrt()),
        band: Some((cell.low_ms, cell.high_ms)),
        label: Some(count(cell.count, "transaction")),
    }
}
