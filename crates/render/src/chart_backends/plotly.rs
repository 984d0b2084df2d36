//! Charts as plotly.js takes them: data and layout. Colours are left to who draws, by names in
//! `meta`, since they go with the theme of the page.
//!
//! plotly.js reads names as a small language of marks (`<b>`, `<a>`): they are escaped.

use model::numbers::exact;
#[cfg(feature = "pages")]
use plotly::Plot;
use serde_json::{Map, Value, json};

use super::axis_scale::{AxisScale, Room, Tick};
use super::decimate::decimate;
use super::ticks::{own_ticks, x_scale, x_ticks};
use super::words::axis_title;
use super::{At, cell_width, colour, is_again, is_line, row_values, stepped};
use crate::charts::{Along, Axis, Chart, Mark, Point, Scale, Shape, Trace};

/// Points drawn of a trace.
const POINTS_MOST: usize = 2_000;

impl Chart {
    /// As plotly.js takes it: `{"data": [...], "layout": {...}}`. Each trace's `meta` names its
    /// colours by the classes of the page's style: `line`, and `area` of one that is filled.
    pub fn to_plotly(&self) -> Value {
        let data: Vec<Value> = self
            .traces
            .iter()
            .zip(decimate(&self.traces, POINTS_MOST))
            .enumerate()
            .flat_map(|(index, (trace, points))| traces(self, index, trace, &points))
            .collect();
        let data = if self.traces.iter().any(is_cells) { vec![heat(self)] } else { data };
        let stripes = self.marks.iter().filter(|mark| mark.is_in_legend()).map(named);
        let data: Vec<Value> = data.into_iter().chain(stripes).collect();
        let (shapes, mut annotations): (Vec<Value>, Vec<Value>) =
            self.marks.iter().map(|mark| marked(self, mark)).unzip();
        if self.is_forest {
            annotations.extend(row_values(self).into_iter().map(row_value));
        }
        let is_over_time = self.x.unit == "s";
        let mut yaxis = axis(&self.y, upright(self));
        if let Some((low, high)) = cut(self) {
            yaxis["range"] = json!([low.log10(), high.log10()]);
        }
        let layout = json!({
            "title": {"text": escaped(&self.title)},
            "xaxis": axis(&self.x, across(self)),
            "yaxis": yaxis,
            "shapes": shapes,
            "annotations": annotations,
            "barmode": "group",
            "hovermode": if is_over_time && !self.traces.iter().any(is_cells) { "x unified" } else { "closest" },
            // Charts over time are zoomed together.
            "meta": {"is_over_time": is_over_time, "rows": self.is_forest.then_some(self.x.categories.len())},
            "showlegend": self.has_legend() && !self.traces.iter().any(is_cells),
            "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0.0},
        });
        let (data, layout) = match self.is_forest {
            false => (json!(data), layout),
            true => {
                (json!(data.into_iter().map(turned).collect::<Vec<Value>>()), turned_layout(layout))
            }
        };
        json!({"id": self.id, "data": data, "layout": layout, "note": self.note})
    }
}

/// The words behind a row of a forest plot.
fn row_value((place, words): (f64, String)) -> Value {
    json!({
        "text": escaped(&words),
        "name": "row",
        "meta": "unit",
        "showarrow": false,
        "font": {"size": 12},
        "xref": "paper",
        "x": 1,
        "xanchor": "left",
        "xshift": 6,
        "yref": "y",
        "y": place,
    })
}

/// A trace with its axes exchanged, as rows of a forest plot.
fn turned(mut trace: Value) -> Value {
    exchange(&mut trace, "x", "y");
    exchange(&mut trace, "error_x", "error_y");
    trace
}

/// The axes exchanged, with names from above to below.
fn turned_layout(mut layout: Value) -> Value {
    exchange(&mut layout, "xaxis", "yaxis");
    if let Some([low, high]) = layout["yaxis"]["range"].as_array().map(Vec::as_slice) {
        layout["yaxis"]["range"] = json!([high, low]);
    }
    layout
}

/// Exchanges the values of two names, as far as there are any.
fn exchange(object: &mut Value, one: &str, other: &str) {
    let Some(map) = object.as_object_mut() else { return };
    let (first, second) = (map.remove(one), map.remove(other));
    map.extend(second.map(|value| (one.to_owned(), value)));
    map.extend(first.map(|value| (other.to_owned(), value)));
}

/// About so many numbers stand along an upright axis of ratios.
const TICKS: usize = 6;
/// For a horizontal axis of so many pixels numbers are chosen: nobody knows yet how wide it is.
const WIDTH: f64 = 600.0;
/// From so many zeros on numbers are reported with `M` and `G`, so that they have room.
const ZEROS_MOST: usize = 7;

/// The numbers along the horizontal axis, where they are not left to plotly.js: what was varied,
/// and ratios, of which it would name digits alone, 5 where 0.5 stands.
fn across(chart: &Chart) -> Option<Vec<Tick>> {
    if chart.x.scale != Scale::Log && own_ticks(chart).is_none() {
        return None;
    }
    let ticks = x_ticks(chart, &x_scale(chart, 0.0, WIDTH), WIDTH);
    Some(ticks.into_iter().map(|(_, tick)| tick).collect())
}

/// The same of the upright one.
fn upright(chart: &Chart) -> Option<Vec<Tick>> {
    (chart.y.scale == Scale::Log).then(|| y_scale(chart).ticks(&chart.y, TICKS))
}

fn y_scale(chart: &Chart) -> AxisScale {
    AxisScale::of(&chart.y, chart.values(Along::Y), Room::Round, TICKS)
}

/// The ends of an upright axis of ratios that an interval reaches beyond.
fn cut(chart: &Chart) -> Option<(f64, f64)> {
    if chart.y.scale != Scale::Log {
        return None;
    }
    let ends = y_scale(chart).ends();
    let whiskers = chart.traces.iter().filter(|trace| !is_line(trace));
    let mut bands = whiskers.flat_map(|trace| &trace.points).filter_map(|point| point.band);
    bands.any(|(low, _)| low < ends.0).then_some(ends)
}

fn axis(axis: &Axis, ticks: Option<Vec<Tick>>) -> Value {
    let title = escaped(&axis_title(axis));
    let mut shown = json!({
        "title": {"text": title},
        "automargin": true,
        "separatethousands": true,
        "exponentformat": "SI",
        "minexponent": ZEROS_MOST,
        "hoverformat": ",.4~r",
    });
    if axis.unit == "s" {
        // Where a time is pointed at, it has its unit.
        shown["ticksuffix"] = json!(" s");
        shown["showticksuffix"] = json!("last");
    }
    if !axis.categories.is_empty() {
        let names: Vec<String> = axis.categories.iter().map(|name| escaped(name)).collect();
        let places: Vec<usize> = (0..names.len()).collect();
        // By numbers, since two may have the same name.
        shown["tickmode"] = json!("array");
        shown["tickvals"] = json!(places);
        shown["ticktext"] = json!(names);
        shown["range"] = json!([-0.5, names.len() as f64 - 0.5]);
        return shown;
    }
    if let Some((from, to)) = axis.range.filter(|_| axis.scale == Scale::Linear) {
        shown["range"] = json!([from, to]);
    }
    match axis.scale {
        Scale::Log => shown["type"] = json!("log"),
        Scale::FromZero => shown["rangemode"] = json!("tozero"),
        Scale::Linear => {}
    }
    if let Some(ticks) = ticks {
        let (at, labels): (Vec<f64>, Vec<String>) =
            ticks.into_iter().map(|tick| (tick.at, tick.label)).unzip();
        shown["tickmode"] = json!("array");
        shown["tickvals"] = json!(at);
        shown["ticktext"] = json!(labels);
    }
    shown
}

/// A trace; before it its area, where it has one.
fn traces(chart: &Chart, index: usize, trace: &Trace, points: &[&Point]) -> Vec<Value> {
    let color = colour(chart, index);
    let aside = chart.aside(index);
    let shape = if trace.shape == Shape::Steps { "hv" } else { "linear" };
    let dash = if is_again(chart, index) { "dash" } else { "solid" };
    let name = escaped(&trace.name);
    let mut shown = json!({
        "type": if trace.shape == Shape::Bars { "bar" } else { "scatter" },
        "name": name,
        "legendgroup": index.to_string(),
        "x": across_points(chart, aside, points),
        "y": points.iter().map(|point| point.y).collect::<Vec<Option<f64>>>(),
        "meta": {"line": format!("l-{color}")},
    });
    if trace.shape != Shape::Bars {
        shown["mode"] = json!(match trace.shape {
            Shape::Points => "markers",
            Shape::Joined => "lines+markers",
            _ => "lines",
        });
        shown["connectgaps"] = json!(false);
        shown["line"] = json!({"shape": shape, "dash": dash, "width": 1.6});
    }
    if points.iter().any(|point| point.label.is_some()) {
        let labels = points.iter().map(|point| point.label.as_deref().map(escaped));
        shown["text"] = json!(labels.collect::<Vec<Option<String>>>());
    }
    if aside != 0.0 {
        let place = |point: &&Point| match chart.x.categories.is_empty() {
            true => exact(point.x),
            false => escaped(&chart.x.name_of(point.x)),
        };
        shown["customdata"] = json!(points.iter().map(place).collect::<Vec<String>>());
    }
    let place = match aside == 0.0 {
        true if chart.is_forest => "%{y}",
        true => "%{x}",
        false => "%{customdata}",
    };
    shown["hovertemplate"] =
        json!(pointed_at(chart, place, points.iter().any(|point| point.label.is_some())));
    let has_bands = points.iter().any(|point| point.band.is_some());
    if !has_bands {
        return vec![shown];
    }
    if !is_line(trace) {
        let lowest = cut(chart).map_or(f64::NEG_INFINITY, |(low, _)| low);
        shown["error_y"] = whiskers(points, lowest);
        return vec![shown];
    }
    vec![filled(&shown, &area(chart, trace.shape, points), &color), shown]
}

fn is_cells(trace: &Trace) -> bool {
    trace.shape == Shape::Cells
}

/// The shades of a heat map as one trace: edges of columns and rows, and the shade of each area.
fn heat(chart: &Chart) -> Value {
    let cells = || chart.traces.iter().filter(|trace| is_cells(trace)).enumerate();
    let points = || cells().flat_map(|(level, trace)| trace.points.iter().map(move |p| (level, p)));
    let width = cell_width(chart);
    let edges = |all: Vec<f64>| {
        let mut all = all;
        all.sort_by(f64::total_cmp);
        all.dedup_by(|a, b| (*a - *b).abs() <= 1e-9 * b.abs());
        all
    };
    let x = edges(points().flat_map(|(_, at)| [at.x, at.x + width]).collect());
    let bands = points().filter_map(|(_, at)| at.band);
    let y = edges(bands.flat_map(|(low, high)| [low, high]).collect());
    let n = (x.len().saturating_sub(1), y.len().saturating_sub(1));
    let mut shades = vec![vec![None::<usize>; n.0]; n.1];
    let mut words = vec![vec![String::new(); n.0]; n.1];
    for (level, point) in points() {
        let Some((low, _)) = point.band else { continue };
        let column = x.partition_point(|edge| *edge < point.x - 1e-9);
        let row = y.partition_point(|edge| *edge < low * (1.0 - 1e-9));
        if row < n.1 && column < n.0 {
            shades[row][column] = Some(level + 1);
            words[row][column] = point.label.clone().unwrap_or_default();
        }
    }
    json!({
        "type": "heatmap",
        "name": "",
        "x": x,
        "y": y,
        "z": shades,
        "text": words,
        "zmin": 0,
        "zmax": chart.traces.len(),
        "showscale": false,
        "hoverongaps": false,
        "hovertemplate": "%{x} s, %{y:,.3~r} ms: %{text}",
        "meta": {"heat": "l-0"},
    })
}

/// Where points stand from left to right: so many pixels right of their places.
fn across_points(chart: &Chart, aside: f64, points: &[&Point]) -> Vec<f64> {
    if aside == 0.0 {
        return points.iter().map(|point| point.x).collect();
    }
    let scale = x_scale(chart, 0.0, WIDTH);
    let x = |point: &&Point| scale.place(point.x).map_or(point.x, |at| scale.at(at + aside));
    points.iter().map(x).collect()
}

/// What is reported of a point that is pointed at: its value with its unit; the place too where it
/// does not stand above all values of that place.
fn pointed_at(chart: &Chart, place: &str, has_labels: bool) -> String {
    let unit = |axis: &Axis| match axis.unit.is_empty() {
        true => String::new(),
        // Braces would begin a name.
        false => format!(" {}", escaped(&axis.unit).replace(['{', '}'], "")),
    };
    let along = if chart.is_forest { 'x' } else { 'y' };
    let value = format!("%{{{along}:,.4~r}}{}", unit(&chart.y));
    let place = match chart.x.unit == "s" {
        true => String::new(),
        false => format!("{place}{}: ", unit(&chart.x)),
    };
    let label = if has_labels { "<br>%{text}" } else { "" };
    format!("{place}{value}{label}")
}

/// The area of a band: around each stretch without gaps, from left to right at its high ends and
/// back at its low ones, with a gap behind it. What plotly.js fills between two lines goes wrong
/// where these have gaps.
fn area(chart: &Chart, shape: Shape, points: &[&Point]) -> (Vec<Option<f64>>, Vec<Option<f64>>) {
    // Zero has no place among ratios, and would be a gap.
    let lowest = match chart.y.scale {
        Scale::Log => chart.values(Along::Y).filter(|y| *y > 0.0).fold(f64::INFINITY, f64::min),
        Scale::FromZero | Scale::Linear => f64::NEG_INFINITY,
    };
    let around = |piece: &[&Point]| {
        let edge = |of: &dyn Fn((f64, f64)) -> f64| -> Vec<At> {
            let at = |point: &&Point| Some((point.x, of(point.band?).max(lowest)));
            let edge = piece.iter().filter_map(at).collect();
            if shape == Shape::Steps { stepped(edge) } else { edge }
        };
        let back = edge(&|band| band.0).into_iter().rev();
        let closed = edge(&|band| band.1).into_iter().chain(back);
        closed.map(|(x, y)| (Some(x), Some(y))).chain([(None, None)]).collect::<Vec<_>>()
    };
    let pieces = points.split(|point| point.band.is_none()).filter(|piece| !piece.is_empty());
    pieces.flat_map(around).unzip()
}

/// An area as a trace of its own, before the one that it belongs to.
fn filled(of: &Value, around: &(Vec<Option<f64>>, Vec<Option<f64>>), color: &str) -> Value {
    json!({
        "type": "scatter",
        "name": of["name"],
        "legendgroup": of["legendgroup"],
        "x": around.0,
        "y": around.1,
        "mode": "lines",
        "line": {"shape": "linear", "width": 0},
        "meta": {"area": format!("l-{color}")},
        "fill": "toself",
        "showlegend": false,
        "hoverinfo": "skip",
    })
}

/// Intervals, which end where the axis does.
fn whiskers(points: &[&Point], lowest: f64) -> Value {
    let reach = |of: &dyn Fn(f64, (f64, f64)) -> f64| -> Vec<Option<f64>> {
        points.iter().map(|point| Some(of(point.y?, point.band?))).collect()
    };
    json!({
        "type": "data",
        "symmetric": false,
        "array": reach(&|y, band| band.1 - y),
        "arrayminus": reach(&|y, band| y - band.0.max(lowest)),
    })
}

/// A mark as a shape, and its words. Words on an axis of ratios stand by logarithms.
fn marked(chart: &Chart, mark: &Mark) -> (Value, Value) {
    let axis = if mark.along == Along::X { &chart.x } else { &chart.y };
    let is_upright = (mark.along == Along::X) != chart.is_forest;
    let (along, across) = if is_upright { ("x", "y") } else { ("y", "x") };
    let to = mark.to.unwrap_or(mark.from);
    let mut shape: Map<String, Value> = Map::new();
    let mut put = |name: &str, value: Value| shape.insert(name.to_owned(), value);
    put("type", json!(if mark.to.is_some() { "rect" } else { "line" }));
    if mark.is_ramp_up() {
        put("name", json!("before"));
    }
    // Above the grid, which has a line of its own at a round number.
    put("layer", json!("between"));
    // A stripe has an edge, so that a thin one is seen.
    put(
        "line",
        match mark.to {
            Some(_) => json!({"width": 1.5, "dash": "solid"}),
            None => json!({"width": 1.5, "dash": "dot"}),
        },
    );
    put(&format!("{along}ref"), json!(along));
    put(&format!("{across}ref"), json!("paper"));
    put(&format!("{along}0"), json!(mark.from));
    put(&format!("{along}1"), json!(to));
    put(&format!("{across}0"), json!(0));
    put(&format!("{across}1"), json!(1));
    let at = if axis.scale == Scale::Log { to.log10() } else { mark.from };
    let mut words = json!({
        "text": if mark.is_in_legend() { String::new() } else { escaped(&mark.text) },
        "showarrow": false,
        "font": {"size": 11},
        "xanchor": "left",
        "yanchor": if is_upright { "top" } else { "bottom" },
    });
    words[format!("{along}ref")] = json!(along);
    words[format!("{across}ref")] = json!("paper");
    words[along] = json!(at);
    words[across] = json!(if is_upright { 1 } else { 0 });
    (Value::Object(shape), words)
}

/// A stripe as a name in the legend, by a trace without points.
fn named(mark: &Mark) -> Value {
    json!({
        "type": "scatter",
        "name": escaped(&mark.text),
        "x": [null],
        "y": [null],
        "mode": "markers",
        "marker": {"symbol": "square", "size": 12},
        "meta": {"mark": "mark"},
        "hoverinfo": "skip",
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The library plotly.js and nothing else, as carried by the `plotly` crate (MIT).
#[cfg(feature = "pages")]
pub fn plotly_js() -> String {
    let sources = Plot::offline_js_sources();
    // The crate gives elements, that of the library first; another is for formulas.
    let begin = sources.find('>').map_or(0, |at| at + 1);
    let end = sources.find("</script>").unwrap_or(sources.len());
    sources[begin..end].to_owned()
}
