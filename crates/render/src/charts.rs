//! Charts as values: what is drawn, without how. One function a chart turns a run, an experiment,
//! a search, a comparison or a history into it.
//!
//! A chart is added by a file beside this one and a line in [`ALL`]: its [`Spot`] places it in the
//! report and on the web's pages, and `dbdyno report --chart` has it. Values are complete: what is
//! too much to draw is thinned by the chart backends. Not here: how a chart looks ([`crate::chart_backends`]).

pub(crate) mod ages;
mod arrivals;
mod builds;
mod clients;
mod curves;
mod distribution;
mod drift;
mod elsewhere;
pub(crate) mod gauges;
mod heat;
mod intervals;
mod kinds;
mod losses;
mod offered;
pub(crate) mod overlays;
mod point_ages;
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
    /// Name on the command line and in addresses: letters, digits and `-`, unique on a page. It
    /// begins with the name of its entry in [`ALL`].
    pub id: String,
    pub title: String,
    /// Horizontal axis, from left to right.
    pub x: Axis,
    /// Vertical axis, from bottom to top.
    pub y: Axis,
    /// The way in which traces are distinguished.
    pub palette: Palette,
    /// Traces; later ones are drawn above earlier ones.
    pub traces: Vec<Trace>,
    /// Marks behind the traces.
    pub marks: Vec<Mark>,
    /// A note for the reader.
    pub note: Option<String>,
    /// True for a forest plot: the names of the `x` axis are one below the other, each with its
    /// values and intervals from left to right.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_forest: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    pub title: String,
    /// Unit of the numbers; empty if they have none.
    pub unit: String,
    /// Scale of the numbers.
    pub scale: Scale,
    /// Names instead of numbers, from 0; empty for an axis of numbers.
    pub categories: Vec<String>,
    /// Range that the axis has at least: charts over the same time are read one below the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// True if the axis ends at its range although points are beyond: it is a section of the whole.
    #[serde(skip)]
    pub is_stretch: bool,
}

/// The scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// A linear scale, from the smallest value on.
    #[default]
    Linear,
    /// A linear scale that includes 0.
    FromZero,
    /// A logarithmic scale; values that are not above 0 have no place.
    Log,
}

/// The way in which traces are distinguished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Palette {
    /// Traces without an order: colours that the colour-blind can distinguish.
    #[default]
    Different,
    /// Traces with an order, such as percentiles or numbers of clients: shades.
    Ordered,
    /// Verdicts, by the names of the traces: better or meets, worse or fails, and others.
    Verdicts,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Name in the legend.
    pub name: String,
    /// The way in which points are drawn.
    pub shape: Shape,
    /// Points, by rising `x` except for [`Shape::Points`] and [`Shape::Joined`].
    pub points: Vec<Point>,
    /// The place of the colour that it shares with another trace, here or in the chart beside it;
    /// it is drawn broken. Null if the colour is its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<usize>,
    /// The place of its colour on all charts of a page, if it is not its own place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<usize>,
}

/// The way in which points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A line from each point to the next; `band` is a filled area.
    Line,
    /// Steps: each value holds until the next; `band` is a filled area.
    Steps,
    /// Separate dots; `band` is a whisker.
    Points,
    /// Dots joined by lines; `band` is a whisker.
    Joined,
    /// Bars from 0; `band` is a whisker.
    Bars,
    /// Areas as high as `band`, each from its place to that of the next; traces are shades.
    Cells,
}

/// A point of a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Place along the horizontal axis.
    pub x: f64,
    /// The value; null for a gap in a line.
    pub y: Option<f64>,
    /// Low and high end of its interval or area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<(f64, f64)>,
    /// Label in its tooltip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// A mark behind the traces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// The axis of `from` and `to`.
    pub along: Along,
    /// The place, or the beginning.
    pub from: f64,
    /// The end; null for a single place.
    pub to: Option<f64>,
    /// Label of the mark; empty if it needs none.
    pub text: String,
}

/// An axis of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Along {
    /// A vertical stripe or line.
    X,
    /// A horizontal stripe or line.
    Y,
}

/// A function that makes charts.
#[derive(Clone, Copy)]
pub enum Of {
    /// Makes charts of a run.
    Run(fn(&Report) -> Vec<Chart>),
    /// Makes charts of an experiment and the reports of its trials.
    Experiment(fn(&ExperimentReport, &[TrialReport]) -> Vec<Chart>),
    /// Makes charts of a search.
    Seek(fn(&SeekReport) -> Vec<Chart>),
    /// Makes charts of a comparison.
    Comparison(fn(&ComparisonReport) -> Vec<Chart>),
    /// Makes charts of a history.
    History(fn(&HistoryReport) -> Vec<Chart>),
}

/// A spot on a page where charts are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// A run over time: rates and counts per second.
    Rates,
    /// A run over time: response times, between those of rates.
    Times,
    /// Latency of a run.
    Latency,
    /// Transaction types of a run, or of a build.
    Types,
    /// Ages of the records that a run's readers read.
    Ages,
    /// Clients of a run.
    Clients,
    /// Statements of a run, above its metrics.
    Statements,
    /// Metrics of a run, by subject.
    Metrics,
    /// Curves of an experiment over an axis.
    Curves,
    /// Ages of records by points of an experiment.
    PointAges,
    /// Trials of an experiment over time.
    Stability,
    /// Probes of a search.
    Search,
    /// Ratios of a comparison, above its tables.
    Ratios,
    /// Sides of a comparison over an axis.
    Sides,
    /// Builds of a history.
    Builds,
}

/// An entry of the list of charts.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The name: ids of its charts begin with it.
    pub name: &'static str,
    pub about: &'static str,
    pub spot: Spot,
    /// Function that makes the charts; without data it makes none.
    pub of: Of,
}

/// All charts, in the order of the page.
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
    ages::ENTRY,
    clients::ENTRY,
    statements::ENTRY,
    gauges::ENTRY,
    curves::ENTRY,
    point_ages::ENTRY,
    tradeoff::ENTRY,
    scalability::ENTRY,
    stability::ENTRY,
    drift::ENTRY,
    search::ENTRY,
    ratios::ENTRY,
    sides::ENTRY,
    builds::ENTRY,
];

/// Largest number of traces and of marks in a summary.
const SUMMED_MOST: usize = 4;

/// Columns of a chart's table.
const TITLES: [&str; 6] = ["trace", "x", "value", "low", "high", "label"];

/// Ratio of the longest to the shortest time from which an axis is logarithmic: on a linear one the
/// short times would overlap.
const FAR_APART: f64 = 20.0;

/// Returns the charts of a run.
pub fn of_run(report: &Report) -> Vec<Chart> {
    let of = |entry: &Entry| match entry.of {
        Of::Run(make) => make(report),
        _ => Vec::new(),
    };
    distinct(ALL.iter().flat_map(of).collect())
}

/// Returns the charts of an experiment. Without trials, charts that need them are left out.
pub fn of_experiment(report: &ExperimentReport, trials: &[TrialReport]) -> Vec<Chart> {
    let of = |entry: &Entry| match entry.of {
        Of::Experiment(make) => make(report, trials),
        _ => Vec::new(),
    };
    distinct(ALL.iter().flat_map(of).collect())
}

/// Returns the charts of these whose entry names this spot.
pub(crate) fn in_spot(charts: &[Chart], spot: Spot) -> Vec<Chart> {
    let begins_with = |chart: &Chart, name: &str| {
        chart.id.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let is_there = |chart: &&Chart| {
        ALL.iter().any(|entry| entry.spot == spot && begins_with(chart, entry.name))
    };
    charts.iter().filter(is_there).cloned().collect()
}

/// Returns the chart of this name. An `Err` lists similar ones, or the first ones.
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

/// Returns the charts of a search.
pub fn of_seek(report: &SeekReport) -> Vec<Chart> {
    let of = |entry: &Entry| match entry.of {
        Of::Seek(make) => make(report),
        _ => Vec::new(),
    };
    distinct(ALL.iter().flat_map(of).collect())
}

/// Returns the charts of a comparison.
pub fn of_comparison(report: &ComparisonReport) -> Vec<Chart> {
    let of = |entry: &Entry| match entry.of {
        Of::Comparison(make) => make(report),
        _ => Vec::new(),
    };
    distinct(ALL.iter().flat_map(of).collect())
}

/// Returns charts of the median runs of a comparison's sides over each other: over time, and
/// distributions of response times.
pub fn of_median_runs(report: &ComparisonReport, runs: &[(String, Report)]) -> Vec<Chart> {
    distinct(overlays::charts(report, runs))
}

/// Returns the charts of a history.
pub fn of_history(report: &HistoryReport) -> Vec<Chart> {
    let of = |entry: &Entry| match entry.of {
        Of::History(make) => make(report),
        _ => Vec::new(),
    };
    distinct(ALL.iter().flat_map(of).collect())
}

/// Makes ids unique: names of groups may differ only in characters that ids do not have.
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

/// Converts a name to a part of an id: lower case, digits, and `-` for all else.
fn slug(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<String> =
        words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
    words.join("-")
}

/// Unit of an axis of N where one in N is beyond: 100 is p99.
pub(crate) const ONE_IN: &str = "N";

impl Chart {
    /// Makes a chart without traces.
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

    /// Makes a chart over time, with marks for the events of the run.
    fn of_time(id: impl Into<String>, title: impl Into<String>, y: Axis, of: &Report) -> Chart {
        let first = of.seconds.iter().map(|row| row.second).min().unwrap_or(0).min(0) as f64;
        let axis = Axis::new("time in the measured phase", "s", Scale::Linear);
        let is_long = of.measured_seconds > first;
        let x = Axis { range: is_long.then_some((first, of.measured_seconds)), ..axis };
        Chart { marks: happened(of), ..Chart::new(id, title, x, y) }
    }

    /// Adds a point to the line of this name, which is made if needed; without a name, to `only`.
    fn join(&mut self, line: &str, only: &str, point: Point) {
        let name = if line.is_empty() { only } else { line };
        match self.traces.iter_mut().find(|trace| trace.name == name) {
            Some(trace) => trace.points.push(point),
            None => self.traces.push(Trace::new(name, Shape::Joined, vec![point])),
        }
    }

    /// Returns true if the chart shows a figure over an axis of an experiment or the points of a
    /// comparison.
    pub fn is_over_axis_of(&self, figure: &str) -> bool {
        let is_of = |name: &str| self.id.starts_with(name);
        (is_of("curves-") || is_of("sides-")) && self.id.ends_with(&format!("-{}", slug(figure)))
    }

    /// Returns the chart, if any of its traces has a value.
    fn if_any(mut self) -> Vec<Chart> {
        self.traces.retain(|trace| trace.points.iter().any(|point| point.y.is_some()));
        if self.traces.is_empty() { Vec::new() } else { vec![self] }
    }

    /// Describes the chart in a few sentences, for readers who cannot see it.
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
                let of = |value| significant(value, 3);
                if let Some(band) = band.filter(|_| low == high) {
                    let (from, to) = (of(band.0), of(band.1));
                    text += &format!(" {}: {} ({from} to {to}).", trace.name, of(low));
                    continue;
                }
                let [low, high, last] = [low, high, last].map(of);
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

    /// Returns all data as titles and rows, one for each trace and point.
    pub fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let rows = self.rows().map(Vec::from).collect();
        (TITLES.map(str::to_owned).to_vec(), rows)
    }

    /// Returns the data as a table for a page, with at most `most` rows.
    pub fn rows_shown(&self, most: usize) -> Table {
        let column = |title: &'static str| match title {
            "trace" | "label" => Column::new(title, Align::Left),
            title => Column::new(title, Align::Right),
        };
        let rows = self.rows().map(|row| row.into_iter().map(Cell::from).collect());
        let all = Table::filled("chart", "", TITLES.map(column), rows.collect());
        all.shown_max(most, "rows in the CSV")
    }

    /// Returns the data as CSV (RFC 4180).
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
        let of =
            move |trace: &Trace| trace.points.iter().map(|p| row(trace, p)).collect::<Vec<_>>();
        self.traces.iter().flat_map(of)
    }
}

/// Returns the smallest and the largest number.
fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.map(|value| (value, value)).reduce(|(low, high), (a, b)| (low.min(a), high.max(b)))
}

/// Label of the mark for time that is not measured.
const RAMP_UP: &str = "ramp-up";

/// Returns marks for the ramp-up, the disturbances and the dips of a run.
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

/// Returns marks for the disturbances of a run.
fn disturbed(report: &Report) -> Vec<Mark> {
    let begun = report.disturbances.iter().filter(|one| one.outcome != "skipped");
    let stretch = |one: &DisturbanceReport| {
        let ended_s = one.ended_s.unwrap_or(report.measured_seconds);
        Mark::stretch(one.began_s, Some(ended_s), one.name.clone())
    };
    begun.map(stretch).collect()
}

/// Returns marks for the disturbances of several runs. One that is at the same time in all of them
/// is marked once, from its first beginning to its last end.
fn disturbed_in_all<'r>(reports: impl Iterator<Item = &'r Report>) -> Vec<Mark> {
    let mut found: Vec<Mark> = Vec::new();
    for report in reports {
        let mut seen: Vec<String> = Vec::new();
        for mark in disturbed(report) {
            // The nth of a name corresponds to the nth in every run.
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

/// Figures of the response time, without their unit.
const RESPONSE_TIMES: [&str; 7] = ["p50", "p90", "p95", "p99", "p999", "mean", "max"];

/// Returns the axis of a figure: its title and unit. `units` has the unit if the name does not.
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
    /// Returns the scale on which times can be distinguished: from 0, or logarithmic if they are
    /// far apart.
    fn of_times(times: impl IntoIterator<Item = f64>) -> Scale {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for time in times.into_iter().filter(|time| *time > 0.0) {
            (low, high) = (low.min(time), high.max(time));
        }
        if high > low * FAR_APART { Scale::Log } else { Scale::FromZero }
    }

    /// Returns the scale for a varied axis: numbers of clients often double.
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
    /// Makes a point without interval and label.
    fn at(x: f64, y: Option<f64>) -> Point {
        Point { x, y: y.filter(|y| y.is_finite()), ..Point::default() }
    }
}

impl Mark {
    /// Returns true if the mark is named in the legend: a horizontal stripe may have no free place
    /// for a label.
    pub(crate) fn is_in_legend(&self) -> bool {
        self.along == Along::Y && self.to.is_some() && !self.text.is_empty()
    }

    /// Returns true if the mark is the ramp-up.
    pub(crate) fn is_ramp_up(&self) -> bool {
        self.text == RAMP_UP
    }

    /// Makes a mark along the horizontal axis.
    fn stretch(from: f64, to: Option<f64>, text: impl Into<String>) -> Mark {
        Mark { along: Along::X, from, to, text: text.into() }
    }

    /// Makes a horizontal line.
    fn level(at: f64, text: impl Into<String>) -> Mark {
        Mark { along: Along::Y, from: at, to: None, text: text.into() }
    }
}

impl Axis {
    /// Makes an axis of numbers.
    fn new(title: impl Into<String>, unit: impl Into<String>, scale: Scale) -> Axis {
        Axis { title: title.into(), unit: unit.into(), scale, ..Axis::default() }
    }

    /// Makes an axis of names.
    fn named(title: impl Into<String>, categories: Vec<String>) -> Axis {
        Axis { categories, ..Axis::new(title, "", Scale::Linear) }
    }

    /// Returns the name of a place on the axis: its name, or its number.
    pub fn name_of(&self, at: f64) -> String {
        let is_category = at >= 0.0 && at.fract() == 0.0;
        let name = is_category.then(|| self.categories.get(at as usize)).flatten();
        name.cloned().unwrap_or_else(|| at.to_string())
    }
}

#[cfg(test)]
mod tests;
