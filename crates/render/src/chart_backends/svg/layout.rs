//! Where everything stands in an SVG: legend, axes, and the room between.

use crate::chart_backends::axis_scale::{AxisScale, Room, Tick};
use crate::chart_backends::ticks::{self, MARGIN, TEXT};
use crate::chart_backends::words::{axis_title, shortened, width_of};
use crate::chart_backends::{At, Drawn, row_values};
use crate::charts::{Along, Chart, Mark};

/// From one line of the legend to the next.
const LINE: f64 = 18.0;
/// Between two names of the legend.
const BETWEEN: f64 = 14.0;
/// What stands before a name of the legend.
const SWATCH: f64 = 21.0;
/// Lines of the legend; what is beyond is left out.
const LEGEND_LINES_MOST: usize = 5;
/// A slanted label's height for its width, with the sine of its angle.
const SLANT: f64 = 0.62;
/// The widest of slanted labels.
const SLANTED_MOST: f64 = 110.0;

/// Where charts over time begin, unless their numbers are longer.
const LEFT_OVER_TIME: f64 = 56.0;

/// The unit of times in hours and minutes.
const CLOCK: &str = "h:min";

/// The least and the greatest height of a row of a forest plot: the chart grows with its rows.
const ROW: (f64, f64) = (17.0, 34.0);
/// The names of rows have at most this share of the width.
const NAMES_MOST: f64 = 0.36;
/// Values stand in words behind their rows if so much room is left to draw them.
const PLOT_LEAST: f64 = 200.0;

/// Words and where they stand.
type Placed = ((f64, f64), String);

/// Where everything stands, in pixels.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    /// Of each trace that is named, and behind these of each stripe: where, and its name.
    pub(super) legend: Vec<Placed>,
    pub(super) x_ticks: Vec<(f64, String)>,
    pub(super) y_ticks: Vec<(f64, String)>,
    /// Whether the names along the horizontal axis are slanted.
    pub(super) is_slanted: bool,
    pub(super) x_title: String,
    pub(super) x_title_at: f64,
    pub(super) y_title: String,
    pub(super) y_title_at: f64,
    /// Behind the rows of a forest plot: the height of each, and its value in words.
    pub(super) row_values: Vec<(f64, String)>,
    pub(super) height: f64,
    is_forest: bool,
    x: AxisScale,
    y: AxisScale,
}

impl Layout {
    pub(super) fn of(chart: &Chart, drawn: Drawn) -> Layout {
        let (width, height) = (f64::from(drawn.width), f64::from(drawn.height));
        let (legend, legend_end) = legend(chart, width);
        if chart.is_forest {
            return Layout::of_rows(chart, drawn, legend, legend_end);
        }
        let y_title_at = legend_end + 15.0;
        let top = y_title_at + 13.0;
        let n_y = ((height - top - 50.0) / 45.0).round().clamp(2.0, 8.0) as usize;
        let y = AxisScale::of(&chart.y, chart.values(Along::Y), Room::Round, n_y);
        let y_labels = y.ticks(&chart.y, n_y);
        let widest = y_labels.iter().map(|tick| width_of(&tick.label, TEXT)).fold(0.0, f64::max);
        // What happened at once stands below each other.
        let least = if chart.x.unit == "s" { LEFT_OVER_TIME } else { 0.0 };
        let (left, right) = ((widest + 14.0).max(least), width - MARGIN);
        let x = ticks::x_scale(chart, left, right);
        let (x_ticks, is_slanted) = x_ticks(chart, &x, right - left);
        let deepest = x_ticks.iter().map(|(_, label)| width_of(label, TEXT)).fold(0.0, f64::max);
        let below = if is_slanted { deepest * SLANT + 16.0 } else { 22.0 };
        let bottom = height - below - 17.0;
        let y = y.between(bottom, top);
        let y_at = |tick: &Tick| Some((y.place(tick.at)?, tick.label.clone()));
        Layout {
            left,
            right,
            top,
            bottom,
            legend,
            x_ticks,
            y_ticks: y_labels.iter().filter_map(y_at).collect(),
            is_slanted,
            x_title: match ticks::is_clock(chart, &x) {
                true => format!("{} ({CLOCK})", chart.x.title),
                false => axis_title(&chart.x),
            },
            x_title_at: height - 5.0,
            y_title: axis_title(&chart.y),
            y_title_at,
            row_values: Vec::new(),
            height,
            is_forest: false,
            x,
            y,
        }
    }

    /// That of a forest plot: names from above to below, values from left to right.
    fn of_rows(chart: &Chart, drawn: Drawn, legend: Vec<Placed>, legend_end: f64) -> Layout {
        let (width, names) = (f64::from(drawn.width), &chart.x.categories);
        let y_title_at = legend_end + 15.0;
        let top = y_title_at + 6.0;
        let below = 22.0 + 17.0;
        let rows = |height: f64| top + height * names.len() as f64 + below;
        let height = f64::from(drawn.height).min(rows(ROW.1)).max(rows(ROW.0)).ceil();
        let bottom = height - below;
        let x = AxisScale::of(&chart.x, std::iter::empty(), Room::Dots, 1).between(top, bottom);
        let widest = |words: &mut dyn Iterator<Item = f64>| words.fold(0.0, f64::max);
        let named = widest(&mut names.iter().map(|name| width_of(name, TEXT)));
        let left = (named + 1.0).min(NAMES_MOST * width) + 14.0;
        let values = row_values(chart);
        let said = widest(&mut values.iter().map(|(_, words)| width_of(words, TEXT)));
        let has_words = !values.is_empty() && width - MARGIN - left - said - 10.0 >= PLOT_LEAST;
        let right = width - MARGIN - if has_words { said + 10.0 } else { 0.0 };
        let n = ((right - left) / 60.0).round().clamp(2.0, 10.0) as usize;
        let y = AxisScale::of(&chart.y, chart.values(Along::Y), Room::Dots, n).between(left, right);
        let ticks = y.ticks(&chart.y, n).into_iter();
        let x_ticks = ticks.filter_map(|tick| Some((y.place(tick.at)?, tick.label)));
        let row = |(at, name): (usize, &String)| {
            Some((x.place(at as f64)?, shortened(name, TEXT, left - 14.0)))
        };
        let values = values.into_iter().filter(|_| has_words);
        Layout {
            left,
            right,
            top,
            bottom,
            legend,
            x_ticks: x_ticks.collect(),
            y_ticks: names.iter().enumerate().filter_map(row).collect(),
            is_slanted: false,
            x_title: axis_title(&chart.y),
            x_title_at: height - 5.0,
            y_title: axis_title(&chart.x),
            y_title_at,
            row_values: values.filter_map(|(at, words)| Some((x.place(at)?, words))).collect(),
            height,
            is_forest: true,
            x,
            y,
        }
    }

    /// Where a value stands, so many pixels beside its place.
    pub(super) fn at(&self, place: f64, aside: f64, value: f64) -> Option<At> {
        let (along, across) = (self.x(place)? + aside, self.y(value)?);
        Some(if self.is_forest { (across, along) } else { (along, across) })
    }

    /// In which direction of the picture a mark stands.
    pub(super) fn direction(&self, mark: &Mark) -> Along {
        match (self.is_forest, mark.along) {
            (false, along) => along,
            (true, Along::X) => Along::Y,
            (true, Along::Y) => Along::X,
        }
    }

    /// What is at the left and the right end of the plot area, and below and above.
    pub(super) fn ends(&self) -> [(f64, f64); 2] {
        match self.is_forest {
            false => [self.x.ends(), self.y.ends()],
            // Names go from above to below.
            true => [self.y.ends(), (self.x.ends().1, self.x.ends().0)],
        }
    }

    pub(super) fn x(&self, value: f64) -> Option<f64> {
        self.x.place(value)
    }

    /// What lies beyond an end stands at it: the last area of a heat map.
    pub(super) fn x_within(&self, value: f64) -> Option<f64> {
        self.x.within(value)
    }

    /// What lies beyond an end stands at it: the low end of an interval among ratios.
    pub(super) fn y(&self, value: f64) -> Option<f64> {
        self.y.within(value)
    }

    /// Whether a value lies beyond the axis, at whose end it is drawn.
    pub(super) fn is_beyond(&self, value: f64) -> bool {
        self.y.is_beyond(value)
    }

    /// From where to where a mark is, if it is in sight.
    pub(super) fn stretch(&self, mark: &Mark) -> Option<(f64, f64)> {
        let scale = if mark.along == Along::X { &self.x } else { &self.y };
        let to = mark.to.unwrap_or(mark.from);
        let in_sight = scale.has(mark.from) || scale.has(to) || (scale.is_within(mark.from, to));
        in_sight.then(|| Some((scale.within(mark.from)?, scale.within(to)?))).flatten()
    }
}

/// The names of traces in lines, and where these end.
fn legend(chart: &Chart, width: f64) -> (Vec<Placed>, f64) {
    let mut places = Vec::new();
    if !chart.has_legend() {
        return (places, 17.0);
    }
    let (mut x, mut y) = (4.0, 17.0 + LINE);
    let last = 17.0 + LINE * LEGEND_LINES_MOST as f64;
    let stripes = chart.marks.iter().filter(|mark| mark.is_in_legend()).map(|mark| &mark.text);
    for name in chart.traces.iter().map(|trace| &trace.name).chain(stripes) {
        let name = shortened(name, TEXT, width - SWATCH - 8.0);
        let length = SWATCH + width_of(&name, TEXT);
        if x > 4.0 && x + length > width - 4.0 {
            (x, y) = (4.0, y + LINE);
        }
        if y > last {
            return (places, last);
        }
        places.push(((x, y), name));
        x += length + BETWEEN;
    }
    (places, y)
}

/// The labels of the horizontal axis that do not meet, and whether they are slanted.
fn x_ticks(chart: &Chart, x: &AxisScale, width: f64) -> (Vec<(f64, String)>, bool) {
    let named = chart.x.categories.iter().enumerate();
    let named: Vec<(f64, String)> =
        named.filter_map(|(index, name)| Some((x.place(index as f64)?, name.clone()))).collect();
    if !named.is_empty() {
        let slot = width / named.len() as f64;
        let fits = named.iter().all(|(_, name)| width_of(name, TEXT) + 8.0 <= slot);
        if fits {
            return (named, false);
        }
        let every = (20.0 / slot).ceil().max(1.0) as usize;
        let short = |(at, name): (f64, String)| {
            // A slanted label reaches to the left of its place.
            (at, shortened(&name, TEXT, SLANTED_MOST.min(at / 0.79)))
        };
        return (named.into_iter().step_by(every).map(short).collect(), true);
    }
    let ticks = ticks::x_ticks(chart, x, width);
    (ticks.into_iter().map(|(at, tick)| (at, tick.label)).collect(), false)
}
