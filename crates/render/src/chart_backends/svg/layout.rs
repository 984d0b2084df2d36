//! Positions in an SVG of a chart: legend, plot area, ticks and titles of axes.

use crate::chart_backends::axis_scale::{AxisScale, Room, Tick};
use crate::chart_backends::ticks::{self, MARGIN, TEXT};
use crate::chart_backends::words::{axis_title, shortened, width_of};
use crate::chart_backends::{At, Drawn, row_values};
use crate::charts::{Along, Chart, Mark};

/// Height of a line of the legend, in pixels.
const LINE: f64 = 18.0;
/// Distance between two entries of the legend, in pixels.
const BETWEEN: f64 = 14.0;
/// Width of the colour sample before an entry of the legend, in pixels.
const SWATCH: f64 = 21.0;
/// Largest number of lines of the legend. Further entries are left out.
const LEGEND_LINES_MOST: usize = 5;
/// Height of a slanted tick label divided by its length: the sine of its angle.
const SLANT: f64 = 0.62;
/// Largest length of a slanted tick label, in pixels; a longer label is cut.
const SLANTED_MOST: f64 = 110.0;

/// Smallest room for the vertical axis's labels in a chart over time, in pixels, so that charts
/// below each other begin at the same pixel.
const LEFT_OVER_TIME: f64 = 56.0;

/// Unit in the title of a time axis with hours and minutes.
const CLOCK: &str = "h:min";

/// Smallest and largest height of a row of a forest plot, in pixels. The chart is as high as its
/// rows need.
const ROW: (f64, f64) = (17.0, 34.0);
/// Largest share of a forest plot's width that the names of its rows take; longer names are cut.
const NAMES_MOST: f64 = 0.36;
/// Smallest width of a forest plot's plot area, in pixels, that leaves room for values beside the
/// rows.
const PLOT_LEAST: f64 = 200.0;

/// A text in a picture, with its position in pixels.
type Placed = ((f64, f64), String);

/// Positions of all parts of a chart, in pixels.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    /// Entries of the legend, each with its position and name: first traces, then horizontal
    /// stripes.
    pub(super) legend: Vec<Placed>,
    pub(super) x_ticks: Vec<(f64, String)>,
    pub(super) y_ticks: Vec<(f64, String)>,
    /// True if the labels of the horizontal axis are slanted, for lack of room.
    pub(super) is_slanted: bool,
    pub(super) x_title: String,
    pub(super) x_title_at: f64,
    pub(super) y_title: String,
    pub(super) y_title_at: f64,
    /// Values written at the right of a forest plot's rows, each with its vertical position.
    pub(super) row_values: Vec<(f64, String)>,
    pub(super) height: f64,
    is_forest: bool,
    x: AxisScale,
    y: AxisScale,
}

impl Layout {
    pub(super) fn for_chart(chart: &Chart, drawn: Drawn) -> Layout {
        let (width, height) = (f64::from(drawn.width), f64::from(drawn.height));
        let (legend, legend_end) = legend(chart, width);
        if chart.is_forest {
            return Layout::of_rows(chart, drawn, legend, legend_end);
        }
        let y_title_at = legend_end + 15.0;
        let top = y_title_at + 13.0;
        let n_y = ((height - top - 50.0) / 45.0).round().clamp(2.0, 8.0) as usize;
        let y = AxisScale::for_axis(&chart.y, chart.values(Along::Y), Room::Round, n_y);
        let y_labels = y.ticks(&chart.y, n_y);
        let widest = y_labels.iter().map(|tick| width_of(&tick.label, TEXT)).fold(0.0, f64::max);
        // Charts over the same time are read one below the other.
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

    /// Returns the layout of a forest plot, whose names are listed from top to bottom and whose
    /// values go from left to right.
    fn of_rows(chart: &Chart, drawn: Drawn, legend: Vec<Placed>, legend_end: f64) -> Layout {
        let (width, names) = (f64::from(drawn.width), &chart.x.categories);
        let y_title_at = legend_end + 15.0;
        let top = y_title_at + 6.0;
        let below = 22.0 + 17.0;
        let rows = |height: f64| top + height * names.len() as f64 + below;
        let height = f64::from(drawn.height).min(rows(ROW.1)).max(rows(ROW.0)).ceil();
        let bottom = height - below;
        let x =
            AxisScale::for_axis(&chart.x, std::iter::empty(), Room::Dots, 1).between(top, bottom);
        let widest = |words: &mut dyn Iterator<Item = f64>| words.fold(0.0, f64::max);
        let named = widest(&mut names.iter().map(|name| width_of(name, TEXT)));
        let left = (named + 1.0).min(NAMES_MOST * width) + 14.0;
        let values = row_values(chart);
        let said = widest(&mut values.iter().map(|(_, words)| width_of(words, TEXT)));
        let has_words = !values.is_empty() && width - MARGIN - left - said - 10.0 >= PLOT_LEAST;
        let right = width - MARGIN - if has_words { said + 10.0 } else { 0.0 };
        let n = ((right - left) / 60.0).round().clamp(2.0, 10.0) as usize;
        let y = AxisScale::for_axis(&chart.y, chart.values(Along::Y), Room::Dots, n)
            .between(left, right);
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

    /// Returns the pixel position of a point with x value `place` and y value `value`, moved by
    /// `aside` pixels along the x axis; `None` if one of them is outside its axis.
    pub(super) fn at(&self, place: f64, aside: f64, value: f64) -> Option<At> {
        let (along, across) = (self.x(place)? + aside, self.y(value)?);
        Some(if self.is_forest { (across, along) } else { (along, across) })
    }

    /// Returns the axis of the picture along which a mark's positions are measured. In a forest
    /// plot, whose axes are exchanged, it is the other axis than that of the mark.
    pub(super) fn direction(&self, mark: &Mark) -> Along {
        match (self.is_forest, mark.along) {
            (false, along) => along,
            (true, Along::X) => Along::Y,
            (true, Along::Y) => Along::X,
        }
    }

    /// Returns the axis numbers at the edges of the plot area: those at its left and right, and
    /// those at its bottom and top.
    pub(super) fn ends(&self) -> [(f64, f64); 2] {
        match self.is_forest {
            false => [self.x.ends(), self.y.ends()],
            // Names go from top to bottom.
            true => [self.y.ends(), (self.x.ends().1, self.x.ends().0)],
        }
    }

    pub(super) fn x(&self, value: f64) -> Option<f64> {
        self.x.place(value)
    }

    /// Returns the horizontal pixel of a value. A value beyond the axis gets the pixel of the
    /// axis's end, so that the last cell of a heat map reaches the edge. `None` only if the axis's
    /// ends have no pixel.
    pub(super) fn x_within(&self, value: f64) -> Option<f64> {
        self.x.within(value)
    }

    /// Returns the vertical pixel of a value. A value beyond the axis gets the pixel of the axis's
    /// end, such as the low end of an interval on a logarithmic axis. `None` only if the axis's
    /// ends have no pixel.
    pub(super) fn y(&self, value: f64) -> Option<f64> {
        self.y.within(value)
    }

    /// Returns true if a value is outside of the value axis, so that it is drawn at the axis's end.
    pub(super) fn is_beyond(&self, value: f64) -> bool {
        self.y.is_beyond(value)
    }

    /// Returns the pixels of both ends of a mark along its axis, cut at the axis's ends; for a line
    /// both are equal. `None` if the mark is outside of the axis.
    pub(super) fn stretch(&self, mark: &Mark) -> Option<(f64, f64)> {
        let scale = if mark.along == Along::X { &self.x } else { &self.y };
        let to = mark.to.unwrap_or(mark.from);
        let in_sight = scale.has(mark.from) || scale.has(to) || (scale.is_within(mark.from, to));
        in_sight.then(|| Some((scale.within(mark.from)?, scale.within(to)?))).flatten()
    }
}

/// Returns the entries of the legend with their positions, and the vertical pixel of its last line.
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

/// Returns the labels of the horizontal axis with their pixels, without overlap, and true if they
/// are slanted.
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
