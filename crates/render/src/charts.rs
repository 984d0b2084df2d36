//! Charts as values: what is drawn, without how. One function a chart turns a run, an experiment,
//! a search, a comparison or a history into it.
//!
//! A chart is added by a file beside this one and a line in [`ALL`]; it then stands in the report,
//! on the web's pages and behind `dbdyno report --chart`. Values are complete: what is too much to
//! draw is thinned by the chart backends. Not here: how a chart looks ([`crate::chart_backends`]).

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

use analysis::figures;
use analysis::report::{DisturbanceReport, Named};
use analysis::trials::TrialReport;
use analysis::{ComparisonReport, ExperimentReport, HistoryReport, Report, SeekReport};
use model::numbers::{self, significant};
use model::suggestion;
use serde::{Deserialize, Serialize};

use crate::table::{Align, Cell, Column, Table};

/// A chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// Its name on the command line and in addresses: letters, digits and `-`, of one page each
    /// once. It begins with the name of its line in [`ALL`].
    pub id: String,
    /// What it shows.
    pub title: String,
    /// From left to right.
    pub x: Axis,
    /// From below to above.
    pub y: Axis,
    /// How its traces are distinguished.
    pub palette: Palette,
    /// What is drawn, the first below the others.
    pub traces: Vec<Trace>,
    /// What is marked behind the traces.
    pub marks: Vec<Mark>,
    /// What a reader must know of it.
    pub note: Option<String>,
    /// Whether it is a forest plot: the names of the `x` axis stand one below the other, each with
    /// its values and intervals from left to right.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_forest: bool,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What is along it.
    pub title: String,
    /// The unit of its numbers; empty where they have none.
    pub unit: String,
    /// How numbers stand along it.
    pub scale: Scale,
    /// Names instead of numbers: 0 is the first. Empty of an axis of numbers.
    pub categories: Vec<String>,
    /// From where to where it goes at least: charts of the same stretch of time are read one
    /// below the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// Whether it ends at its range although points lie beyond: a stretch of it is looked at.
    #[serde(skip)]
    pub is_stretch: bool,
}

/// How numbers stand along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Equal distances, from as little as there is.
    #[default]
    Linear,
    /// Equal distances, and zero is on it.
    FromZero,
    /// Equal ratios; what is not above zero has no place.
    Log,
}

/// How traces are distinguished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Palette {
    /// They have no order: colours that the colour-blind can tell.
    #[default]
    Different,
    /// They have one, such as percentiles, or numbers of clients: shades.
    Ordered,
    /// They are verdicts, by their names: better or meets, worse or fails, and others.
    Verdicts,
}

/// A series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Its name in the legend.
    pub name: String,
    /// How its points are drawn.
    pub shape: Shape,
    /// Its points, by rising `x` but for [`Shape::Points`] and [`Shape::Joined`].
    pub points: Vec<Point>,
    /// The place of the colour that it shares with another trace, here or in the chart beside; it
    /// is drawn broken. Null where its own place says its colour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<usize>,
    /// The place of its colour, which it has on all charts of a page, where that is not its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<usize>,
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A line from one to the next, its `band` a filled area.
    Line,
    /// Each holds until the next one, its `band` a filled area.
    Steps,
    /// Each for itself, its `band` a whisker.
    Points,
    /// Each for itself and joined to the next by a line, its `band` a whisker.
    Joined,
    /// Each a bar from zero, its `band` a whisker.
    Bars,
    /// Each an area as high as its `band`, from its place to that of the next; traces are shades.
    Cells,
}

/// A point of a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Where along the horizontal axis.
    pub x: f64,
    /// Its value; null where there is none, which is a gap in a line.
    pub y: Option<f64>,
    /// The low and the high end of what belongs to it: an interval, or what lies between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<(f64, f64)>,
    /// What it is called where it is pointed at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// Something marked behind the traces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Which axis `from` and `to` are of.
    pub along: Along,
    /// Where it is, or begins.
    pub from: f64,
    /// Where it ends; null of a single place.
    pub to: Option<f64>,
    /// What it is; empty where that is plain.
    pub text: String,
}

/// An axis of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Along {
    /// An upright stripe or line.
    X,
    /// A level one.
    Y,
}

/// What makes charts of what.
#[derive(Clone, Copy)]
pub enum Of {
    /// Of a run.
    Run(fn(&Report) -> Vec<Chart>),
    /// Of an experiment and the reports of its trials.
    Experiment(fn(&ExperimentReport, &[TrialReport]) -> Vec<Chart>),
    /// Of a search.
    Seek(fn(&SeekReport) -> Vec<Chart>),
    /// Of a comparison.
    Comparison(fn(&ComparisonReport) -> Vec<Chart>),
    /// Of a history.
    History(fn(&HistoryReport) -> Vec<Chart>),
}

/// A chart that can be made.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name: the ids of its charts begin with it.
    pub name: &'static str,
    /// What it shows, for lists.
    pub about: &'static str,
    /// What makes it. Where there is nothing to show it makes none.
    pub of: Of,
}

/// Every chart, in the order of the page.
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

/// So many traces and marks are in a summary.
const SUMMED_MOST: usize = 4;

/// What stands in the columns of a chart's table.
const TITLES: [&str; 6] = ["trace", "x", "value", "low", "high", "label"];

/// How many times larger the longest of some times is than the shortest, where a linear axis
/// would lay the short ones on each other.
const FAR_APART: f64 = 20.0;

/// The charts of a run.
pub fn of_run(report: &Report) -> Vec<Chart> {
    let of = |entry: &Entry| match entry.of {
        Of::Run(make) => make(report),
        _ => Vec::new(),
    };
    distinct(ALL.iter().flat_map(of).collect())
}

/// The charts of an experiment; without trials those that need them are left out.
pub fn of_experiment(report: &ExperimentReport, trials: &[TrialReport]) -> Vec<Chart> {
    let of = |entry: &Entry| match entry.of {
        Of::Experiment(make) => make(report, trials),
        _ => Vec::new(),
    };
    distinct(ALL.iter().flat_map(of).collect())
}

/// Charts whose ids begin with one of these names.
pub(crate) fn named(charts: &[Chart], names: &[&str]) -> Vec<Chart> {
    let is_of = |chart: &Chart, name: &str| {
        chart.id.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let is_named = |chart: &&Chart| names.iter().any(|name| is_of(chart, name));
    charts.iter().filter(is_named).cloned().collect()
}

/// The chart of this name, or which there are: those that it may be meant by, or the first ones.
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

/// The charts of a search.
pub fn of_seek(report: &SeekReport) -> Vec<Chart> {
    let of = |entry: &Entry| match entry.of {
        Of::Seek(make) => make(report),
        _ => Vec::new(),
    };
    distinct(ALL.iter().flat_map(of).collect())
}

/// The charts of a comparison.
pub fn of_comparison(report: &ComparisonReport) -> Vec<Chart> {
    let of = |entry: &Entry| match entry.of {
        Of::Comparison(make) => make(report),
        _ => Vec::new(),
    };
    distinct(ALL.iter().flat_map(of).collect())
}

/// The median run of each side of a comparison over each other: over time, and how long
/// transactions took.
pub fn of_median_runs(report: &ComparisonReport, runs: &[(String, Report)]) -> Vec<Chart> {
    distinct(overlays::charts(report, runs))
}

/// The charts of a history.
pub fn of_history(report: &HistoryReport) -> Vec<Chart> {
    let of = |entry: &Entry| match entry.of {
        Of::History(make) => make(report),
        _ => Vec::new(),
    };
    distinct(ALL.iter().flat_map(of).collect())
}

/// The same charts, each with an id of its own: names of groups may differ by letters alone that
/// ids do not have.
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

/// A name as a part of an id: small letters, digits, and `-` for what lies between.
fn slug(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<String> =
        words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
    words.join("-")
}

/// The unit of an axis on which one in so many lies beyond: 100 is p99.
pub(crate) const ONE_IN: &str = "N";

impl Chart {
    /// A chart without traces.
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

    /// The same with what happened during the run marked on its axis of time.
    fn of_time(id: impl Into<String>, title: impl Into<String>, y: Axis, of: &Report) -> Chart {
        let first = of.seconds.iter().map(|row| row.second).min().unwrap_or(0).min(0) as f64;
        let axis = Axis::of("time in the measured phase", "s", Scale::Linear);
        let is_long = of.measured_seconds > first;
        let x = Axis { range: is_long.then_some((first, of.measured_seconds)), ..axis };
        Chart { marks: happened(of), ..Chart::new(id, title, x, y) }
    }

    /// Adds a point to the line of this name, which is made where there is none; where lines need
    /// no name, to `only`.
    fn join(&mut self, line: &str, only: &str, point: Point) {
        let name = if line.is_empty() { only } else { line };
        match self.traces.iter_mut().find(|trace| trace.name == name) {
            Some(trace) => trace.points.push(point),
            None => self.traces.push(Trace::new(name, Shape::Joined, vec![point])),
        }
    }

    /// Whether it shows a figure over an axis of an experiment or the points of a comparison.
    pub fn is_over_axis_of(&self, figure: &str) -> bool {
        let is_of = |name: &str| self.id.starts_with(name);
        (is_of("curves-") || is_of("sides-")) && self.id.ends_with(&format!("-{}", slug(figure)))
    }

    /// The chart, if any of its traces has a value to show.
    fn if_any(mut self) -> Vec<Chart> {
        self.traces.retain(|trace| trace.points.iter().any(|point| point.y.is_some()));
        if self.traces.is_empty() { Vec::new() } else { vec![self] }
    }

    /// The chart in a few sentences, for whoever does not see it.
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

    /// Its data as titles and rows: one of each trace and point. All of it, nothing is thinned.
    pub fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let rows = self.rows().map(Vec::from).collect();
        (TITLES.map(str::to_owned).to_vec(), rows)
    }

    /// The same for a page, up to so many rows.
    pub fn rows_shown(&self, most: usize) -> Table {
        let column = |title: &'static str| match title {
            "trace" | "label" => Column::new(title, Align::Left),
            title => Column::new(title, Align::Right),
        };
        let rows = self.rows().map(|row| row.into_iter().map(Cell::from).collect());
        let all = Table::filled("chart", "", TITLES.map(column), rows.collect());
        all.shown_max(most, "rows in the CSV")
    }

    /// The same as text (RFC 4180).
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

/// The smallest and the largest of some numbers.
fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.map(|value| (value, value)).reduce(|(low, high), (a, b)| (low.min(a), high.max(b)))
}

/// What a stretch is called that is not measured.
const RAMP_UP: &str = "ramp-up";

/// The ramp-up, the disturbances and the dips of a run.
fn happened(report: &Report) -> Vec<Mark> {
    let first = report.seconds.iter().map(|row| row.second).min().unwrap_or(0);
    let ramp_up = Mark::stretch(first as f64, Some(0.0), RAMP_UP);
    let ramp_up = (first < 0).then_some(ramp_up);
    // What is known to have a cause is found again beside it.
    let known = report.dips.iter().filter_map(|dip| Some((dip, dip.causes.first()?)));
    let dips = known.map(|(dip, seen)| {
        Mark::stretch(dip.from_s as f64, Some(dip.to_s as f64), seen.cause.in_short())
    });
    ramp_up.into_iter().chain(disturbed(report)).chain(dips).collect()
}

/// The disturbances of a run.
fn disturbed(report: &Report) -> Vec<Mark> {
    let begun = report.disturbances.iter().filter(|one| one.outcome != "skipped");
    let stretch = |one: &DisturbanceReport| {
        let ended_s = one.ended_s.unwrap_or(report.measured_seconds);
        Mark::stretch(one.began_s, Some(ended_s), one.name.clone())
    };
    begun.map(stretch).collect()
}

/// The disturbances of several runs: one that is at the same time in all of them is marked once,
/// from its first beginning to its last end.
fn disturbed_in_all<'r>(reports: impl Iterator<Item = &'r Report>) -> Vec<Mark> {
    let mut found: Vec<Mark> = Vec::new();
    for report in reports {
        let mut seen: Vec<String> = Vec::new();
        for mark in disturbed(report) {
            // The nth of a name is the nth in every run.
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

/// The figures of the response time, without their unit.
const RESPONSE_TIMES: [&str; 7] = ["p50", "p90", "p95", "p99", "p999", "mean", "max"];

/// A figure's axis: what it is and its unit, which `units` have where its name does not tell it.
fn figure_axis(name: &str, units: &Named<String>, scale: Scale) -> Axis {
    let unit = units.get(name).map_or(figures::unit(name), String::as_str);
    match name {
        "nopm" => Axis::of("NOPM", "new orders/min", scale),
        "tps" => Axis::of("TPS", "commits/s", scale),
        "unfinished" => Axis::of("unfinished", "transactions", scale),
        other => {
            let name = figures::name_in_words(other);
            let title = match RESPONSE_TIMES.contains(&name.as_str()) {
                true => format!("response time, {name}"),
                false => name,
            };
            Axis::of(title, unit, scale)
        }
    }
}

impl Scale {
    /// The one on which times are distinguished: from zero, or by ratios where they lie far apart.
    fn of_times(times: impl IntoIterator<Item = f64>) -> Scale {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for time in times.into_iter().filter(|time| *time > 0.0) {
            (low, high) = (low.min(time), high.max(time));
        }
        if high > low * FAR_APART { Scale::Log } else { Scale::FromZero }
    }

    /// The one for the values of an axis that was varied: numbers of clients go by doubling.
    fn of_varied(values: &[f64]) -> Scale {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(0.0, f64::max);
        if low > 0.0 && high >= low * FAR_APART { Scale::Log } else { Scale::Linear }
    }
}

impl Trace {
    /// A trace.
    fn new(name: impl Into<String>, shape: Shape, points: Vec<Point>) -> Trace {
        Trace { name: name.into(), shape, points, shares: None, place: None }
    }
}

impl Point {
    /// A point without more.
    fn at(x: f64, y: Option<f64>) -> Point {
        Point { x, y: y.filter(|y| y.is_finite()), ..Point::default() }
    }
}

impl Mark {
    /// Whether it is named in the legend: beside a level stripe no place is free for sure.
    pub(crate) fn is_in_legend(&self) -> bool {
        self.along == Along::Y && self.to.is_some() && !self.text.is_empty()
    }

    /// Whether it is what is not measured: of other things nobody looks there.
    pub(crate) fn is_ramp_up(&self) -> bool {
        self.text == RAMP_UP
    }

    /// A stretch of the horizontal axis.
    fn stretch(from: f64, to: Option<f64>, text: impl Into<String>) -> Mark {
        Mark { along: Along::X, from, to, text: text.into() }
    }

    /// A level line.
    fn level(at: f64, text: impl Into<String>) -> Mark {
        Mark { along: Along::Y, from: at, to: None, text: text.into() }
    }
}

impl Axis {
    /// An axis of numbers.
    fn of(title: impl Into<String>, unit: impl Into<String>, scale: Scale) -> Axis {
        Axis { title: title.into(), unit: unit.into(), scale, ..Axis::default() }
    }

    /// An axis of names.
    fn named(title: impl Into<String>, categories: Vec<String>) -> Axis {
        Axis { categories, ..Axis::of(title, "", Scale::Linear) }
    }

    /// A place along it as people call it: its name, or its number.
    pub fn name_of(&self, at: f64) -> String {
        let is_category = at >= 0.0 && at.fract() == 0.0;
        let name = is_category.then(|| self.categories.get(at as usize)).flatten();
        name.cloned().unwrap_or_else(|| at.to_string())
    }
}

#[cfg(test)]
mod tests;
