//! Charts as pictures: SVG for pages, print and files, and PNG.
//!
//! Colours are CSS classes, whose rules are in `templates/chart-*.css`: eight colours that
//! colour-blind people can distinguish (M. Okabe and K. Ito, "Color Universal Design", 2008), and
//! eight shades in order of lightness. Not here: the data of a chart ([`crate::charts`]).

mod axis_scale;
mod decimate;
#[cfg(feature = "pictures")]
mod png;
mod svg;
mod ticks;
mod words;

use axis_scale::{AxisScale, Room};
use model::numbers::significant;

use crate::charts::{Along, Chart, Mark, Palette, Point, Scale, Shape, Trace};

/// Size and colour theme with which a chart is drawn as SVG or PNG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Width of the picture, in CSS pixels.
    pub width: u32,
    /// Height of the picture, in CSS pixels.
    pub height: u32,
    pub theme: Theme,
}

impl Drawn {
    /// Size of a chart on a page for screens.
    pub const WIDE: Drawn = Drawn { width: 680, height: 340, theme: Theme::Auto };
    /// Size of each of several charts that are as wide as the page and stacked, such as those over
    /// the same time.
    pub const LOW: Drawn = Drawn { width: 1360, height: 230, theme: Theme::Auto };
    /// Size of a chart on a phone.
    pub const NARROW: Drawn = Drawn { width: 368, height: 300, theme: Theme::Auto };
    /// Size of a chart in a file of its own.
    pub const ALONE: Drawn = Drawn { width: 960, height: 480, theme: Theme::Auto };
}

/// Colour theme of a chart's SVG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Light theme: dark text on white.
    Light,
    /// Dark theme: light text on black.
    Dark,
    /// Light or dark, as the reader's system prefers (`prefers-color-scheme`).
    Auto,
    /// Theme of the page that contains the SVG: the page has the CSS rules, and the SVG has none.
    OfPage,
}

/// Largest number of points per trace that a page contains as data for its scripts, which show
/// values interactively; longer traces are thinned.
const POINTS_SHOWN: usize = 2_000;

/// Limit for intervals on a logarithmic value axis: the axis ends at the lowest value divided by
/// this number, even if an interval reaches lower. Otherwise an interval that ends near 0 would
/// take nearly all of the axis.
const WHISKER_MOST: f64 = 3.0;
/// Sentence that a chart's caption has if an interval ends beyond the axis, which an arrow head
/// marks.
const BEYOND: &str = "An arrow head: the interval goes on beyond the axis.";
/// Number of ticks to which the ends of a value axis are rounded where only its end values are
/// needed, and no ticks are drawn.
const TICKS: usize = 5;
/// Horizontal distance, in pixels, between the dots of neighbouring traces that have the same
/// position on an axis of names.
const APART: f64 = 7.0;
/// Distances for dots of several traces with intervals at the same x value, in pixels: between
/// neighbours, and at most from the first to the last.
const WHISKERS_APART: (f64, f64) = (6.0, 24.0);

impl Chart {
    /// Returns a copy of the chart with at most `POINTS_SHOWN` (2,000) points per trace, or twice
    /// as many for traces with equal x values, to keep pages small. Each stretch of the axis keeps
    /// its lowest and highest point.
    pub fn thinned(&self) -> Chart {
        let kept = decimate::decimate(&self.traces, POINTS_SHOWN);
        let thin = |(trace, points): (&Trace, Vec<&Point>)| Trace {
            points: points.into_iter().cloned().collect(),
            ..trace.clone()
        };
        Chart { traces: self.traces.iter().zip(kept).map(thin).collect(), ..self.clone() }
    }

    /// Returns the kind of horizontal axis that scripts of a page read: `time`, `numbers`, `names`,
    /// or `rows` for a forest plot.
    pub(crate) fn axis(&self) -> &'static str {
        match (self.is_forest, self.x.categories.is_empty(), self.x.unit.as_str()) {
            (true, ..) => "rows",
            (false, false, _) => "names",
            (false, true, "s") => "time",
            (false, true, _) => "numbers",
        }
    }

    /// Returns true if the chart needs a legend: it has several traces, or a mark that only the
    /// legend names. A single trace needs none, because the chart's title names it.
    fn has_legend(&self) -> bool {
        self.traces.len() > 1 || self.marks.iter().any(Mark::is_in_legend)
    }

    /// Returns all numbers for which an axis must have room: for the horizontal axis (`X`) the x
    /// values, for the vertical axis (`Y`) the values, ends of intervals and horizontal marks, and
    /// for both the range that the axis covers at least.
    fn values(&self, along: Along) -> impl Iterator<Item = f64> {
        let lowest = match along {
            Along::Y => self.lowest_whisker(),
            Along::X => f64::NEG_INFINITY,
        };
        let numbers_at = move |trace: &Trace, point: &Point| match along {
            Along::X => [Some(point.x).filter(|_| !self.x.is_stretch), None, None],
            Along::Y => {
                let low = point.band.map(|band| band.0);
                let low = if is_line(trace) { low } else { low.map(|low| low.max(lowest)) };
                [point.y, low, point.band.map(|band| band.1)]
            }
        };
        let values = self.traces.iter().flat_map(move |trace| {
            trace.points.iter().flat_map(move |point| numbers_at(trace, point)).flatten()
        });
        let axis = if along == Along::X { &self.x } else { &self.y };
        let range = axis.range.into_iter().flat_map(|(from, to)| [from, to]);
        let levels = self.marks.iter().filter(move |mark| along == Along::Y && mark.along == along);
        let levels = levels.flat_map(|mark| [mark.from, mark.to.unwrap_or(mark.from)]);
        values.chain(range).chain(levels)
    }

    /// Returns the sentence that explains arrow heads, if some interval ends beyond the axis and so
    /// is drawn with one; else `None`.
    pub(crate) fn beyond(&self) -> Option<&'static str> {
        let room = if self.is_forest { Room::Dots } else { Room::Round };
        let y = AxisScale::for_axis(&self.y, self.values(Along::Y), room, TICKS);
        let whiskered = self
            .traces
            .iter()
            .filter(|trace| matches!(trace.shape, Shape::Points | Shape::Joined | Shape::Bars));
        let drawn = whiskered.flat_map(|trace| &trace.points).filter(|point| point.y.is_some());
        let mut ends = drawn.filter_map(|point| point.band).flat_map(|(low, high)| [low, high]);
        ends.any(|end| y.is_beyond(end)).then_some(BEYOND)
    }

    /// Returns the text below the chart: its note, and the sentence that explains arrow heads if it
    /// has any. `None` if there is neither.
    #[cfg(any(test, feature = "pages"))]
    pub(crate) fn caption(&self) -> Option<String> {
        let all: Vec<&str> = self.note.as_deref().into_iter().chain(self.beyond()).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// Returns the lowest value that an interval may reach on the vertical axis: a third of the
    /// chart's lowest value if the axis is logarithmic, minus infinity if it is linear.
    fn lowest_whisker(&self) -> f64 {
        if self.y.scale != Scale::Log {
            return f64::NEG_INFINITY;
        }
        let values = self.traces.iter().flat_map(|trace| &trace.points).filter_map(|point| point.y);
        values.filter(|y| *y > 0.0).fold(f64::INFINITY, f64::min) / WHISKER_MOST
    }

    /// Returns by how many pixels the dots of the trace at `index` are moved to the right, or to
    /// the left if negative, so that dots of several traces at the same x value do not overlap.
    fn aside(&self, index: usize) -> f64 {
        let has_names = !self.x.categories.is_empty();
        let stands_aside = |trace: &Trace| match trace.shape {
            // In a forest plot each trace has a row of its own.
            Shape::Points if has_names => !self.is_forest,
            Shape::Points | Shape::Joined => trace.points.iter().any(|point| point.band.is_some()),
            Shape::Line | Shape::Steps | Shape::Bars | Shape::Cells => false,
        };
        if !stands_aside(&self.traces[index]) {
            return 0.0;
        }
        let n_before = self.traces[..index].iter().filter(|trace| stands_aside(trace)).count();
        let n_gaps = self.traces.iter().filter(|trace| stands_aside(trace)).count() - 1;
        let apart = match has_names {
            true => APART,
            false => WHISKERS_APART.0.min(WHISKERS_APART.1 / n_gaps.max(1) as f64),
        };
        (n_before as f64 - n_gaps as f64 / 2.0) * apart
    }
}

/// Returns the texts beside the rows of a forest plot, each with the x value of its row: the value
/// and label of the row's point. Empty if any row has several values.
fn row_values(chart: &Chart) -> Vec<(f64, String)> {
    let points = chart.traces.iter().flat_map(|trace| &trace.points);
    let mut values: Vec<(f64, String)> = Vec::new();
    for point in points {
        let Some(value) = point.y else { continue };
        if values.iter().any(|(at, _)| *at == point.x) {
            return Vec::new();
        }
        let label = point.label.as_deref().unwrap_or_default();
        let words = format!("{} {label}", significant(value, 3));
        values.push((point.x, words.trim_end().to_owned()));
    }
    values
}

fn is_line(trace: &Trace) -> bool {
    matches!(trace.shape, Shape::Line | Shape::Steps)
}

/// CSS rules of charts, with the colours of the light theme.
const LIGHT: &str = include_str!("../templates/chart-light.css");
/// CSS rules that come after [`LIGHT`] and replace its colours by those of the dark theme.
const DARK: &str = include_str!("../templates/chart-dark.css");

/// Number of distinct trace colours. Further traces reuse them, with broken lines.
const COLOURS: usize = 8;

/// Returns the end of the CSS class names for the colour of the trace at `index`: `2` stands for
/// `l-2` (lines), `a-2` (areas) and `d-2` (dots).
fn colour(chart: &Chart, index: usize) -> String {
    match chart.palette {
        Palette::Different => (place(chart, index) % COLOURS).to_string(),
        Palette::Verdicts => match chart.traces.get(index).map(|trace| trace.name.as_str()) {
            Some("better" | "meets") => "2".to_owned(),
            Some("worse" | "fails") => "1".to_owned(),
            Some("another verdict" | "undecided") => "6".to_owned(),
            _ => "0".to_owned(),
        },
        Palette::Ordered => {
            let last = chart.traces.len().saturating_sub(1).max(1);
            format!("s{}", index * (COLOURS - 1) / last)
        }
    }
}

/// Returns the colour number of the trace at `index`: that of the trace whose colour it shares, or
/// the one fixed for all charts of the page, or else `index`.
fn place(chart: &Chart, index: usize) -> usize {
    let fixed_place = |trace: &Trace| trace.shares.or(trace.place);
    chart.traces.get(index).and_then(fixed_place).unwrap_or(index)
}

/// Returns the opacity (0.15 to 1) of the heat map cells in the trace at `index`; later traces are
/// darker.
fn shade(chart: &Chart, index: usize) -> f64 {
    let n = chart.traces.len().max(2) as f64;
    0.15 + 0.85 * index as f64 / (n - 1.0)
}

/// Returns true if the line of the trace at `index` is drawn broken, because another trace has the
/// same colour.
fn is_again(chart: &Chart, index: usize) -> bool {
    let is_shared = chart.traces.get(index).is_some_and(|trace| trace.shares.is_some());
    let is_again = is_shared || place(chart, index) / COLOURS % 2 == 1;
    chart.palette == Palette::Different && is_again
}

/// Returns true if the plot needs no margin at its left and right, because all traces are lines or
/// the horizontal axis has a fixed range.
fn is_lines(chart: &Chart) -> bool {
    chart.x.range.is_some() || chart.traces.iter().all(is_line)
}

/// A position in the picture, in pixels from the left and from the top.
type At = (f64, f64);

/// Returns the corners of the line with which [`Shape::Steps`] is drawn: each value holds until the
/// x value of the next point.
fn stepped(points: Vec<At>) -> Vec<At> {
    let corners = points.windows(2).flat_map(|two| [two[0], (two[1].0, two[0].1)]);
    corners.chain(points.last().copied()).collect()
}

#[cfg(test)]
mod tests;
