//! Ticks of a chart's horizontal axis: their positions and labels.

use model::numbers::exact;

use super::axis_scale::{AxisScale, Room, Tick};
use super::is_lines;
use super::words::width_of;
use crate::charts::{Along, Chart, ONE_IN, Scale, Shape};

/// Font size of tick labels, in pixels.
pub(super) const TEXT: f64 = 12.0;
/// Margin to the right of the plot area, in pixels.
pub(super) const MARGIN: f64 = 16.0;
/// Largest number of distinct values of a varied parameter, such as clients, up to which each value
/// has a tick of its own.
const OWN_TICKS_MOST: usize = 16;
/// Approximate distance between the ticks of a chart's horizontal axis, in pixels.
const APART: f64 = 80.0;

/// Length of a time axis, in seconds, from which its labels have hours and minutes.
const CLOCK_FROM: f64 = 1_200.0;

/// Returns true if the horizontal axis is long enough for labels in hours and minutes.
pub(super) fn is_clock(chart: &Chart, x: &AxisScale) -> bool {
    let (low, high) = x.ends();
    chart.x.unit == "s" && chart.x.scale == Scale::Linear && high - low >= CLOCK_FROM
}

/// Formats seconds as hours and minutes: `1:30` for 5,400.
fn clock(seconds: f64) -> String {
    let minutes = (seconds.abs() / 60.0).round() as u64;
    let sign = if seconds < 0.0 { "-" } else { "" };
    format!("{sign}{}:{:02}", minutes / 60, minutes % 60)
}

/// Creates the scale of the horizontal axis between the pixels `left` and `right`.
pub(super) fn x_scale(chart: &Chart, left: f64, right: f64) -> AxisScale {
    let room = if is_lines(chart) { Room::Tight } else { Room::Dots };
    AxisScale::for_axis(&chart.x, chart.values(Along::X), room, 6).between(left, right)
}

/// Returns the ticks of the horizontal axis whose labels do not overlap, each with its pixel. The
/// plot is `width` pixels wide.
pub(super) fn x_ticks(chart: &Chart, x: &AxisScale, width: f64) -> Vec<(f64, Tick)> {
    let n = (width / APART).round().clamp(3.0, 12.0) as usize;
    let ticks = percentiles(chart).or_else(|| own_ticks(chart));
    let ticks = ticks.unwrap_or_else(|| x.ticks(&chart.x, n));
    let in_words = |tick: Tick| match is_clock(chart, x) {
        true => Tick { label: clock(tick.at), ..tick },
        false => tick,
    };
    let ticks = ticks.into_iter().map(in_words);
    let mut placed: Vec<(f64, Tick)> = Vec::new();
    let (mut end, edge) = (f64::NEG_INFINITY, x.end() + MARGIN);
    for tick in ticks {
        let Some(at) = x.place(tick.at) else { continue };
        // Percentiles and varied values may be outside of a section of a chart.
        if x.within(tick.at).is_none_or(|within| (within - at).abs() > 0.5) {
            continue;
        }
        let half = width_of(&tick.label, TEXT) / 2.0;
        if at - half >= end + 6.0 && at + half <= edge {
            end = at + half;
            placed.push((at, tick));
        }
    }
    placed
}

/// Returns ticks at the usual percentiles; `None` unless the axis has the unit [`ONE_IN`].
fn percentiles(chart: &Chart) -> Option<Vec<Tick>> {
    let named = |(at, name): &(f64, &str)| Tick { at: *at, label: (*name).to_owned() };
    let all = [
        (2.0, "p50"),
        (10.0, "p90"),
        (100.0, "p99"),
        (1e3, "p99.9"),
        (1e4, "p99.99"),
        (1e5, "p99.999"),
        (1e6, "p99.9999"),
    ];
    (chart.x.unit == ONE_IN).then(|| all.iter().map(named).collect())
}

/// Returns a tick for each measured value of a varied parameter: if 64 and 128 clients were
/// measured, a tick at 100 would not help. `None` for axes of names or time, axes that begin at 0,
/// and more than [`OWN_TICKS_MOST`] values.
pub(super) fn own_ticks(chart: &Chart) -> Option<Vec<Tick>> {
    let is_varied = |shape: Shape| matches!(shape, Shape::Joined | Shape::Points);
    let traces = chart.traces.iter().filter(|trace| is_varied(trace.shape));
    let is_named = !chart.x.categories.is_empty();
    if is_named || chart.x.unit == "s" || chart.x.scale == Scale::FromZero {
        return None;
    }
    let mut places: Vec<f64> =
        traces.flat_map(|trace| &trace.points).map(|point| point.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let tick = |at: &f64| Tick { at: *at, label: exact(*at) };
    let are_few = (1..=OWN_TICKS_MOST).contains(&places.len());
    are_few.then(|| places.iter().map(tick).collect())
}
