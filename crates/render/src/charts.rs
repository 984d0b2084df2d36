//! Charts as values: data, axes and marks, but not their look. A function per kind of chart makes
//! it from a run, an experiment, a search, a comparison or a history.
//!
//! To add a chart, add a file beside this one and a line in [`ALL`]; it is then in reports, on web
//! pages and in `dbdyno report --chart`. Charts contain all points; the backends thin them. Not
//! here: drawing ([`crate::chart_backends`]).

pub(crate) mod ages;
mod arrivals;
mod builds;
mod clients;
mod curves;
mod distribution;
mod drift;
mod elsewhere;
mod executions;
pub(crate) mod gauges;
mod heat;
mod intervals;
mod kinds;
mod losses;
mod offered;
pub(crate) mod overlays;
mod point_ages;
mod point_times;
mod queue;
mod ratios;
mod response;
mod scalability;
mod search;
mod sides;
mod stability;
mod stalls;
mod statements;
mod throughput;
mod tradeoff;
mod transactions;
mod types;
mod views;

use analysis::Report;
use analysis::figures;
use analysis::report::{DisturbanceReport, Named};
use model::numbers::{self, significant};
use model::suggestion;
use serde::{Deserialize, Serialize};
use study::trials::TrialReport;
use study::{ComparisonReport, ExperimentReport, HistoryReport, SeekReport};

use crate::table::{Align, Cell, Column, Table};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// Name of the chart on the command line and in URLs, such as `throughput`: letters, digits and
    /// `-`, unique on a page. It begins with the name of its [`Entry`].
    pub id: String,
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    /// Set of colours that distinguishes the traces.
    pub palette: Palette,
    /// Series of points (lines, dots, bars or cells), in the order in which they are drawn.
    pub traces: Vec<Trace>,
    /// Stripes and lines behind the traces, such as disturbances.
    pub marks: Vec<Mark>,
    /// Note below the chart, in sentences; null if it has none.
    pub note: Option<String>,
    /// True for a forest plot: the categories of `x` are rows from top to bottom, and values with
    /// intervals go from left to right.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_forest: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    pub title: String,
    /// Unit of the axis's numbers; empty if they have none.
    pub unit: String,
    pub scale: Scale,
    /// Names at the positions 0, 1, 2 and so on, for an axis of names; empty for an axis of
    /// numbers.
    pub categories: Vec<String>,
    /// Range that the axis covers at least, so that charts over the same time are aligned. `None`
    /// if the axis ends where its points end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// True if the axis ends at `range` even if points are beyond it, as after zooming.
    #[serde(skip)]
    pub is_stretch: bool,
}

/// Linear or logarithmic scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Linear scale from the smallest to the largest value.
    #[default]
    Linear,
    /// Linear scale that includes 0.
    FromZero,
    /// A logarithmic scale. Values of 0 or less cannot be shown.
    Log,
}

/// Set of colours that distinguishes the traces of a chart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Palette {
    /// Distinct colours, also for colour-blind people, for traces without an order.
    #[default]
    Different,
    /// Shades by lightness, for traces with an order, such as percentiles or numbers of
    /// clients.
    Ordered,
    /// Colours by verdict, for traces whose name is a verdict: `better` or `meets`, `worse` or
    /// `fails`, or an undecided one.
    Verdicts,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Name of the trace in the legend.
    pub name: String,
    pub shape: Shape,
    /// Points by rising `x`, except for [`Shape::Points`] and [`Shape::Joined`], which may have any
    /// order.
    pub points: Vec<Point>,
    /// Number of another trace's colour, counted from 0, in which this trace is drawn with a broken
    /// line, such as an imported line next to the measured one. `None` if the trace has a colour of
    /// its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<usize>,
    /// Number of the trace's colour, counted from 0, if all charts of a page show traces of this
    /// name in the same colour. `None` if the trace's index in the chart is the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<usize>,
}

/// Shape in which the points of a trace are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A line from point to point. `band` is a filled area.
    Line,
    /// Steps, in which each value holds until the next point. `band` is a filled area.
    Steps,
    /// Separate dots, not joined by a line. `band` is an error bar.
    Points,
    /// Dots joined by lines. `band` is an error bar.
    Joined,
    /// Bars from 0. `band` is an error bar.
    Bars,
    /// Cells of a heat map. Each is as high as `band` and as wide as the distance between
    /// neighbouring `x`; each trace is a shade.
    Cells,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Position along the horizontal axis: a number, or the index of a name in
    /// [`Axis::categories`].
    pub x: f64,
    /// Value on the vertical axis; null for a gap in a line.
    pub y: Option<f64>,
    /// Low and high end of the value's interval, area or cell; null if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<(f64, f64)>,
    /// Text in the tooltip of the point; null if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// A stripe or line behind the traces, such as a disturbance or a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Axis along which the positions `from` and `to` are measured.
    pub along: Along,
    /// Position of a line, or beginning of a stripe.
    pub from: f64,
    /// End of a stripe; null for a line.
    pub to: Option<f64>,
    /// Text shown at the mark; may be empty.
    pub text: String,
}

/// Axis of a chart along which the position of a mark (stripe or line) is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Along {
    /// Horizontal axis: the mark is a vertical stripe or line.
    X,
    /// Vertical axis: the mark is a horizontal stripe or line.
    Y,
}

/// Function that returns the charts of one kind. Each variant takes another kind of report, such as
/// that of a run.
#[derive(Clone, Copy)]
pub enum Of {
    Run(fn(&Report) -> Vec<Chart>),
    /// Returns charts of an experiment from its report and the reports of its trials.
    Experiment(fn(&ExperimentReport, &[TrialReport]) -> Vec<Chart>),
    Seek(fn(&SeekReport) -> Vec<Chart>),
    Comparison(fn(&ComparisonReport) -> Vec<Chart>),
    History(fn(&HistoryReport) -> Vec<Chart>),
}

/// Place on a page where certain charts are shown. Each [`Entry`] of charts has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// Section on the course of a run over time: place for charts of rates and counts per second.
    Rates,
    /// Section on the course of a run over time: place for charts of response times, which
    /// alternate with those of [`Spot::Rates`].
    Times,
    /// Section on a run's latency, as a place for charts.
    Latency,
    /// Section on a run's transaction types, or on the tables of a build of data, as a place for
    /// charts.
    Types,
    /// Section on a run's transaction types: place for charts of percentiles by type, above those
    /// of [`Spot::Types`].
    Kinds,
    /// Section on a run's transactions: place for charts of the ages of records when readers first
    /// read them.
    Ages,
    /// Section on a run's single clients, as a place for charts.
    Clients,
    /// Section on a run's metrics: place for charts of statements, above those of gauges.
    Statements,
    /// Section on a run's metrics: place for charts of gauges, grouped by subject, such as
    /// `machine`.
    Metrics,
    /// Section on an experiment's curves: place for charts of figures over a varied parameter.
    Curves,
    /// Section on the ages of records at each point (combination of varied parameters) of an
    /// experiment, as a place for charts.
    PointAges,
    /// Section on the time of each transaction of a fixed sequence, of an experiment or a
    /// comparison: place for charts, above the tables.
    Executions,
    /// Section on the course of an experiment's trials over time, as a place for charts.
    Stability,
    /// Page of a search: place for charts of figures of its probes (runs) over the searched
    /// parameter.
    Search,
    /// Result of a comparison: place for charts of ratios to the baseline, above the tables.
    Ratios,
    /// Section on a comparison's curves: place for charts of figures over a varied parameter, with
    /// a line for each compared set of runs.
    Sides,
    /// Page of a history: place for charts of a figure over the builds.
    Builds,
}

impl Spot {
    /// Returns true if charts at this spot are of many transactions of a type. A fixed sequence has
    /// none of them: each second has another transaction, and a type a single time.
    fn needs_many(self) -> bool {
        match self {
            Spot::Rates | Spot::Times | Spot::Latency | Spot::Kinds => true,
            Spot::Types
            | Spot::Clients
            | Spot::Ages
            | Spot::Statements
            | Spot::Metrics
            | Spot::Curves
            | Spot::PointAges
            | Spot::Executions
            | Spot::Stability
            | Spot::Search
            | Spot::Ratios
            | Spot::Sides
            | Spot::Builds => false,
        }
    }
}

/// A kind of chart, such as throughput over time: its name, spot and maker. [`ALL`] lists them.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Name of the kind of chart, such as `throughput`, with which the ids of its charts begin.
    pub name: &'static str,
    pub about: &'static str,
    pub spot: Spot,
    /// Function that returns the charts of this kind from a report; it returns none if the report
    /// lacks the data.
    pub make: Of,
}

/// All kinds of charts, in the order in which a page shows their charts.
pub const ALL: &[Entry] = &[
    throughput::ENTRY,
    types::ENTRY,
    response::ENTRY,
    heat::ENTRY,
    distribution::ENTRY,
    intervals::ENTRY,
    offered::ENTRY,
    arrivals::ENTRY,
    queue::ENTRY,
    losses::ENTRY,
    stalls::ENTRY,
    kinds::ENTRY,
    executions::ENTRY,
    ages::ENTRY,
    clients::ENTRY,
    statements::ENTRY,
    gauges::ENTRY,
    curves::ENTRY,
    point_ages::ENTRY,
    point_times::ENTRY,
    tradeoff::ENTRY,
    scalability::ENTRY,
    stability::ENTRY,
    drift::ENTRY,
    search::ENTRY,
    ratios::ENTRY,
    transactions::ENTRY,
    sides::ENTRY,
    builds::ENTRY,
];

/// Largest number of traces that [`Chart::summary`] describes, and of marks that it names. Further
/// traces are shown as a number, and further marks are left out.
const SUMMED_MOST: usize = 4;

/// Column titles of the table of a chart's data, on pages and in CSV.
const TITLES: [&str; 6] = ["trace", "x", "value", "low", "high", "label"];

/// Ratio of largest to smallest number from which an axis is logarithmic, so that small numbers
/// remain distinguishable. It holds for times and for the values of a varied parameter.
const FAR_APART: f64 = 20.0;

/// Returns all charts for which the report of a run has the data.
pub fn of_run(report: &Report) -> Vec<Chart> {
    let is_sequence = report.is_sequence();
    let to_charts = |entry: &Entry| match entry.make {
        _ if is_sequence && entry.spot.needs_many() => Vec::new(),
        Of::Run(make) => make(report),
        _ => Vec::new(),
    };
    distinct(ALL.iter().flat_map(to_charts).collect())
}

/// Returns all charts for which the report of an experiment has the data. If `trials` is empty,
/// charts that need the reports of trials are left out.
pub fn of_experiment(report: &ExperimentReport, trials: &[TrialReport]) -> Vec<Chart> {
    let to_charts = |entry: &Entry| match entry.make {
        Of::Experiment(make) => make(report, trials),
        _ => Vec::new(),
    };
    distinct(ALL.iter().flat_map(to_charts).collect())
}

/// Returns those of `charts` that a page shows at `spot`.
pub(crate) fn in_spot(charts: &[Chart], spot: Spot) -> Vec<Chart> {
    let begins_with = |chart: &Chart, name: &str| {
        chart.id.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let is_there = |chart: &&Chart| {
        ALL.iter().any(|entry| entry.spot == spot && begins_with(chart, entry.name))
    };
    charts.iter().filter(is_there).cloned().collect()
}

/// Returns the chart whose id is `name`. `Err` is a message to the user that suggests similar ids,
/// or else the first ones.
pub fn chart_named<'c>(charts: &'c [Chart], name: &str) -> Result<&'c Chart, String> {
    const SHOWN_MOST: usize = 6;
    const WORD_LEAST: usize = 3;
    if let Some(chart) = charts.iter().find(|chart| chart.id == name) {
        return Ok(chart);
    }
    let known: Vec<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
    if known.is_empty() {
        return Err("there is no chart here".to_owned());
    }
    let has_word = |id: &&str| name.len() >= WORD_LEAST && id.contains(name);
    let mut near: Vec<&str> = suggestion(name, known.iter().copied()).into_iter().collect();
    near.extend(
        known.iter().copied().filter(has_word).filter(|id| !near.contains(id)).collect::<Vec<_>>(),
    );
    let is_near = !near.is_empty();
    let shown = if is_near { near } else { known.clone() };
    let rest = known.len() - shown.len().min(SHOWN_MOST);
    let shown = shown[..shown.len().min(SHOWN_MOST)].join(", ");
    let more = match rest {
        0 => String::new(),
        n => format!(", or one of {n} others"),
    };
    Err(match is_near {
        true => format!("did you mean {shown}{more}?"),
        false => format!("choose one of {shown}{more}"),
    })
}

/// Returns all charts for which the report of a search has the data.
pub fn of_seek(report: &SeekReport) -> Vec<Chart> {
    let to_charts = |entry: &Entry| match entry.make {
        Of::Seek(make) => make(report),
        _ => Vec::new(),
    };
    distinct(ALL.iter().flat_map(to_charts).collect())
}

/// Returns all charts for which the report of a comparison has the data.
pub fn of_comparison(report: &ComparisonReport) -> Vec<Chart> {
    let to_charts = |entry: &Entry| match entry.make {
        Of::Comparison(make) => make(report),
        _ => Vec::new(),
    };
    distinct(ALL.iter().flat_map(to_charts).collect())
}

/// Returns charts that overlay one run of each compared set of runs (side of the comparison):
/// throughput and p99 over time, and distributions of response times. `runs` has for each side its
/// name and the report of the run with the side's median of the primary figure.
pub fn of_median_runs(report: &ComparisonReport, runs: &[(String, Report)]) -> Vec<Chart> {
    // Fixed sequences have no course over time and no percentiles.
    match runs.iter().any(|(_, run)| run.is_sequence()) {
        true => Vec::new(),
        false => distinct(overlays::charts(report, runs)),
    }
}

/// Returns all charts for which the report of a history has the data.
pub fn of_history(report: &HistoryReport) -> Vec<Chart> {
    let to_charts = |entry: &Entry| match entry.make {
        Of::History(make) => make(report),
        _ => Vec::new(),
    };
    distinct(ALL.iter().flat_map(to_charts).collect())
}

/// Makes chart ids unique: a repeated one gets a number at its end, such as `-2`. Group names that
/// differ only in punctuation would otherwise give equal ids.
fn distinct(mut charts: Vec<Chart>) -> Vec<Chart> {
    for index in 1..charts.len() {
        let (before, rest) = charts.split_at_mut(index);
        let wanted = rest[0].id.clone();
        let mut n = 1;
        while before.iter().any(|chart| chart.id == rest[0].id) {
            n += 1;
            rest[0].id = format!("{wanted}-{n}");
        }
    }
    charts
}

/// Converts a name to a part of a chart id: `p99 (ms)` becomes `p99-ms`.
fn slug(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<String> =
        words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
    words.join("-")
}

/// Unit of a percentile axis, whose value N means that one transaction in N takes longer: 100 is
/// p99.
pub(crate) const ONE_IN: &str = "N";

impl Chart {
    /// Creates a chart without traces, marks and note, which are added later.
    fn new(id: impl Into<String>, title: impl Into<String>, x: Axis, y: Axis) -> Chart {
        Chart {
            id: id.into(),
            title: title.into(),
            x,
            y,
            palette: Palette::Different,
            traces: Vec::new(),
            marks: Vec::new(),
            note: None,
            is_forest: false,
        }
    }

    /// Creates a chart over the time of a run, with marks for ramp-up, disturbances and dips.
    fn of_time(id: impl Into<String>, title: impl Into<String>, y: Axis, report: &Report) -> Chart {
        let first = report.seconds.iter().map(|row| row.second).min().unwrap_or(0).min(0) as f64;
        let axis = Axis::new("time in the measured phase", "s", Scale::Linear);
        let is_long = report.measured_seconds > first;
        let x = Axis { range: is_long.then_some((first, report.measured_seconds)), ..axis };
        Chart { marks: happened(report), ..Chart::new(id, title, x, y) }
    }

    /// Adds a point to the trace with the name `line`, or with the name `only` if `line` is empty.
    /// The trace is created if the chart does not have it yet.
    fn join(&mut self, line: &str, only: &str, point: Point) {
        let name = if line.is_empty() { only } else { line };
        match self.traces.iter_mut().find(|trace| trace.name == name) {
            Some(trace) => trace.points.push(point),
            None => self.traces.push(Trace::new(name, Shape::Joined, vec![point])),
        }
    }

    /// Returns true if the chart shows `figure` over a parameter that an experiment varies, or over
    /// the points (combinations of varied parameters) of a comparison.
    pub fn is_over_axis_of(&self, figure: &str) -> bool {
        let is_of = |name: &str| self.id.starts_with(name);
        (is_of("curves-") || is_of("sides-")) && self.id.ends_with(&format!("-{}", slug(figure)))
    }

    /// Returns the chart as a list of one, without the traces that have no value. The list is empty
    /// if no trace is left.
    fn if_any(mut self) -> Vec<Chart> {
        self.traces.retain(|trace| trace.points.iter().any(|point| point.y.is_some()));
        if self.traces.is_empty() { Vec::new() } else { vec![self] }
    }

    /// Describes the chart in a few sentences, for screen readers.
    pub fn summary(&self) -> String {
        let titled = |axis: &Axis| match axis.unit.is_empty() {
            true => axis.title.clone(),
            false => format!("{} ({})", axis.title, numbers::unit(&axis.unit)),
        };
        let mut text = format!("{}: {} over {}.", self.title, titled(&self.y), titled(&self.x));
        let is_cells = |trace: &&Trace| trace.shape == Shape::Cells;
        let cells = self.traces.iter().filter(is_cells).flat_map(|trace| &trace.points);
        let bands = cells.filter_map(|point| point.band);
        if let Some((low, high)) = ends(bands.flat_map(|(low, high)| [low, high])) {
            text += &format!(" {} to {}.", significant(low, 3), significant(high, 3));
            return text;
        }
        for trace in self.traces.iter().take(SUMMED_MOST) {
            let values = || trace.points.iter().filter_map(|point| point.y);
            if let Some(((low, high), last)) = ends(values()).zip(values().next_back()) {
                let bands = trace.points.iter().filter_map(|point| point.band);
                let band = ends(bands.flat_map(|(low, high)| [low, high]));
                let rounded = |value| significant(value, 3);
                if let Some(band) = band.filter(|_| low == high) {
                    let (from, to) = (rounded(band.0), rounded(band.1));
                    text += &format!(" {}: {} ({from} to {to}).", trace.name, rounded(low));
                    continue;
                }
                let [low, high, last] = [low, high, last].map(rounded);
                text += &format!(" {}: {low} to {high}, last {last}.", trace.name);
            }
        }
        let others = self.traces.len().saturating_sub(SUMMED_MOST);
        if others > 0 {
            text += &format!(" {} more.", others);
        }
        let marks = self.marks.iter().filter(|mark| !mark.text.is_empty());
        let marks: Vec<&str> = marks.map(|mark| mark.text.as_str()).take(SUMMED_MOST).collect();
        if !marks.is_empty() {
            text += &format!(" Marked: {}.", marks.join(", "));
        }
        if let Some(beyond) = self.beyond() {
            text += &format!(" {beyond}");
        }
        text
    }

    /// Returns all points as column titles and rows of text: trace, x, value, low and high end of
    /// the interval, and label.
    pub fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let rows = self.rows().map(Vec::from).collect();
        (TITLES.map(str::to_owned).to_vec(), rows)
    }

    /// Returns all points as a table; text and Markdown show at most `most` of its rows.
    pub fn rows_shown(&self, most: usize) -> Table {
        let column = |title: &'static str| match title {
            "trace" | "label" => Column::new(title, Align::Left),
            title => Column::new(title, Align::Right),
        };
        let rows = self.rows().map(|row| row.into_iter().map(Cell::from).collect());
        let all = Table::filled("chart", "", TITLES.map(column), rows.collect());
        all.shown_max(most, "rows in the CSV")
    }

    /// Returns all points as CSV (RFC 4180), one row per point of each trace.
    pub fn to_csv(&self) -> String {
        crate::csv_rows::of_arrays(TITLES, self.rows())
    }

    fn rows(&self) -> impl Iterator<Item = [String; 6]> {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let row = move |trace: &Trace, point: &Point| {
            [
                trace.name.clone(),
                self.x.name_of(point.x),
                number(point.y),
                number(point.band.map(|band| band.0)),
                number(point.band.map(|band| band.1)),
                point.label.clone().unwrap_or_default(),
            ]
        };
        let to_rows =
            move |trace: &Trace| trace.points.iter().map(|p| row(trace, p)).collect::<Vec<_>>();
        self.traces.iter().flat_map(to_rows)
    }
}

/// Returns the smallest and the largest value; `None` if there are no values.
fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.map(|value| (value, value)).reduce(|(low, high), (a, b)| (low.min(a), high.max(b)))
}

/// Label of the chart mark that covers the ramp-up.
const RAMP_UP: &str = "ramp-up";

/// Returns chart marks for events of a run: its ramp-up, disturbances, and dips of throughput with
/// a known cause.
fn happened(report: &Report) -> Vec<Mark> {
    let first = report.seconds.iter().map(|row| row.second).min().unwrap_or(0);
    let ramp_up = Mark::stretch(first as f64, Some(0.0), RAMP_UP);
    let ramp_up = (first < 0).then_some(ramp_up);
    // Dips with a known cause are marked, so that readers find them beside it.
    let known = report.dips.iter().filter_map(|dip| Some((dip, dip.causes.first()?)));
    let dips = known.map(|(dip, seen)| {
        Mark::stretch(dip.from_s as f64, Some(dip.to_s as f64), seen.cause.in_short())
    });
    ramp_up.into_iter().chain(disturbed(report)).chain(dips).collect()
}

/// Returns chart marks for the disturbances of a run, without those that did not take place.
fn disturbed(report: &Report) -> Vec<Mark> {
    let begun = report.disturbances.iter().filter(|one| one.outcome != "skipped");
    let stretch = |one: &DisturbanceReport| {
        let ended_s = one.ended_s.unwrap_or(report.measured_seconds);
        Mark::stretch(one.began_s, Some(ended_s), one.name.clone())
    };
    begun.map(stretch).collect()
}

/// Returns chart marks for the disturbances of several runs. The nth disturbance of a name is
/// marked once for all runs, from its earliest beginning to its latest end.
fn disturbed_in_all<'r>(reports: impl Iterator<Item = &'r Report>) -> Vec<Mark> {
    let mut found: Vec<Mark> = Vec::new();
    for report in reports {
        let mut seen: Vec<String> = Vec::new();
        for mark in disturbed(report) {
            // The nth disturbance of a name corresponds to the nth in every other run.
            let nth = seen.iter().filter(|known| **known == mark.text).count();
            let same = found.iter_mut().filter(|known| known.text == mark.text).nth(nth);
            seen.push(mark.text.clone());
            match same {
                Some(known) => {
                    known.from = known.from.min(mark.from);
                    known.to = known.to.zip(mark.to).map(|(a, b)| a.max(b));
                }
                None => found.push(mark),
            }
        }
    }
    found
}

/// Names of response-time figures, without their unit.
const RESPONSE_TIMES: [&str; 7] = ["p50", "p90", "p95", "p99", "p999", "mean", "max"];

/// Returns a vertical axis for the figure called `name`, with title and unit. The unit is that in
/// `units`, or else the one that the name implies.
fn figure_axis(name: &str, units: &Named<String>, scale: Scale) -> Axis {
    let unit = units.get(name).map_or(figures::unit(name), String::as_str);
    match name {
        "nopm" => Axis::new("NOPM", "new orders/min", scale),
        "tps" => Axis::new("TPS", "commits/s", scale),
        "unfinished" => Axis::new("unfinished", "transactions", scale),
        other => {
            let name = figures::name_in_words(other);
            let title = match RESPONSE_TIMES.contains(&name.as_str()) {
                true => format!("response time, {name}"),
                false => name,
            };
            Axis::new(title, unit, scale)
        }
    }
}

impl Scale {
    /// Returns the scale for times: linear from 0, or logarithmic if the longest is more than
    /// [`FAR_APART`] times the shortest.
    fn of_times(times: impl IntoIterator<Item = f64>) -> Scale {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for time in times.into_iter().filter(|time| *time > 0.0) {
            (low, high) = (low.min(time), high.max(time));
        }
        if high > low * FAR_APART { Scale::Log } else { Scale::FromZero }
    }

    /// Returns the scale for a varied parameter: logarithmic if the values are far apart, as
    /// numbers of clients that double are.
    fn of_varied(values: &[f64]) -> Scale {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(0.0, f64::max);
        if low > 0.0 && high >= low * FAR_APART { Scale::Log } else { Scale::Linear }
    }
}

impl Trace {
    fn new(name: impl Into<String>, shape: Shape, points: Vec<Point>) -> Trace {
        Trace { name: name.into(), shape, points, shares: None, place: None }
    }
}

impl Point {
    /// Creates a point without interval and label. A value that is not finite becomes a gap.
    fn at(x: f64, y: Option<f64>) -> Point {
        Point { x, y: y.filter(|y| y.is_finite()), ..Point::default() }
    }
}

impl Mark {
    /// Returns true if the mark is named in the legend. Only horizontal stripes are, because they
    /// may have no room for a label.
    pub(crate) fn is_in_legend(&self) -> bool {
        self.along == Along::Y && self.to.is_some() && !self.text.is_empty()
    }

    pub(crate) fn is_ramp_up(&self) -> bool {
        self.text == RAMP_UP
    }

    /// Creates a vertical stripe behind a chart's traces, or a vertical line if `to` is `None`.
    fn stretch(from: f64, to: Option<f64>, text: impl Into<String>) -> Mark {
        Mark { along: Along::X, from, to, text: text.into() }
    }

    /// Creates a horizontal line behind a chart's traces, with a label.
    fn level(at: f64, text: impl Into<String>) -> Mark {
        Mark { along: Along::Y, from: at, to: None, text: text.into() }
    }
}

impl Axis {
    /// Creates an axis of numbers.
    fn new(title: impl Into<String>, unit: impl Into<String>, scale: Scale) -> Axis {
        Axis { title: title.into(), unit: unit.into(), scale, ..Axis::default() }
    }

    /// Creates an axis of names.
    fn named(title: impl Into<String>, categories: Vec<String>) -> Axis {
        Axis { categories, ..Axis::new(title, "", Scale::Linear) }
    }

    /// Returns the name at position `at` of an axis of names; the number `at` as text if there is
    /// none.
    pub fn name_of(&self, at: f64) -> String {
        let is_category = at >= 0.0 && at.fract() == 0.0;
        let name = is_category.then(|| self.categories.get(at as usize)).flatten();
        name.cloned().unwrap_or_else(|| at.to_string())
    }
}

#[cfg(test)]
mod tests;
