//! Charts as SVG. Equal charts give equal text. Names from plans and servers are escaped.
//!
//! No element has a clip path or an id, so a page can contain any number of charts. For the script
//! of interactive pages (`templates/chart.js`), `data-` attributes of the root have the position of
//! the plot area and the values at its edges, and each trace and each legend entry is a group.

mod layout;

use layout::Layout;
use model::numbers::{exact, significant};

use super::decimate::decimate;
use super::words::{escaped, fitted, width_of};
use super::{At, DARK, Drawn, LIGHT, Theme, colour, is_again, shade, stepped};
use crate::charts::{Along, Axis, Chart, Mark, Point, Scale, Shape, Trace};

/// Largest number of dots in a chart for which each dot has a tooltip; with more dots, none has
/// one.
const TOLD_MOST: usize = 300;
/// Largest number of points drawn per pixel of the plot's width; longer traces are thinned.
const POINTS_PER_PIXEL: f64 = 2.0;
/// Number of rows in which labels of vertical marks are placed so that they do not overlap.
const MARK_ROWS: usize = 3;

impl Chart {
    /// Draws the chart as SVG text with title, legend, axes and a description for screen readers.
    pub fn to_svg(&self, drawn: Drawn) -> String {
        let layout = Layout::for_chart(self, drawn);
        let mut svg = Svg { text: String::new(), chart: self, layout: &layout };
        svg.open(drawn);
        svg.legend();
        svg.axes();
        let mut rows = [f64::NEG_INFINITY; MARK_ROWS];
        self.marks.iter().for_each(|mark| svg.mark(mark));
        let most = ((layout.right - layout.left) * POINTS_PER_PIXEL) as usize;
        let thinned = decimate(&self.traces, most.max(1));
        for (index, (trace, points)) in self.traces.iter().zip(&thinned).enumerate() {
            svg.trace(index, trace, points);
        }
        self.marks.iter().for_each(|mark| svg.say(mark, &mut rows));
        svg.text.push_str("</svg>\n");
        svg.text
    }
}

/// Font size for which the title's width is estimated, in pixels: more than its real size, because
/// bold letters are wider.
const TITLE_SIZE: f64 = 18.0;

struct Svg<'c> {
    text: String,
    chart: &'c Chart,
    layout: &'c Layout,
}

impl Svg<'_> {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn open(&mut self, drawn: Drawn) {
        let Drawn { width, theme, .. } = drawn;
        let height = px(self.layout.height);
        let title = escaped(&fitted(&self.chart.title, TITLE_SIZE, f64::from(drawn.width) - 8.0));
        let summary = escaped(&self.chart.summary());
        let space = match theme {
            Theme::OfPage => "",
            _ => "xmlns=\"http://www.w3.org/2000/svg\" ",
        };
        self.put(&format!(
            "<svg {space}class=\"dc\" role=\"img\" aria-label=\"{summary}\" \
             viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\"{}>",
            self.place()
        ));
        let style = match theme {
            Theme::OfPage => String::new(),
            Theme::Light => LIGHT.to_owned(),
            Theme::Dark => format!("{LIGHT}{DARK}"),
            Theme::Auto => format!("{LIGHT}@media (prefers-color-scheme: dark){{{DARK}}}\n"),
        };
        if !style.is_empty() {
            self.put(&format!("<style>{style}</style>"));
            self.put(&format!("<rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>"));
        }
        self.put(&format!("<text class=\"title\" x=\"4\" y=\"17\">{title}</text>"));
    }

    /// Returns the `data-` attributes that scripts read: pixels of the plot area's edges, values at
    /// the edges (`from` and `to` at the left and right, `low` and `high` at the bottom and top),
    /// and kind of the axes.
    fn place(&self) -> String {
        let Layout { left, right, top, bottom, .. } = *self.layout;
        let pixels = [("left", left), ("right", right), ("top", top), ("bottom", bottom)];
        let mut text: String =
            pixels.iter().map(|(name, at)| format!(" data-{name}=\"{}\"", px(*at))).collect();
        let [across, upright] = self.layout.ends();
        let ends = [("from", across.0), ("to", across.1), ("low", upright.0), ("high", upright.1)];
        text.extend(ends.map(|(name, value)| format!(" data-{name}=\"{value}\"")));
        text + &format!(" data-axis=\"{}\" data-log=\"{}\"", self.chart.axis(), self.log())
    }

    /// Returns letters for the axes of the picture that are logarithmic: `x`, `y`, `xy` or nothing.
    fn log(&self) -> &'static str {
        let is_log = |axis: &Axis| axis.scale == Scale::Log && axis.categories.is_empty();
        match (is_log(&self.chart.x), is_log(&self.chart.y), self.chart.is_forest) {
            (false, false, _) => "",
            (true, true, _) => "xy",
            (true, false, false) | (false, true, true) => "x",
            (false, true, false) | (true, false, true) => "y",
        }
    }

    fn legend(&mut self) {
        for (index, (at, name)) in self.layout.legend.clone().into_iter().enumerate() {
            let color = colour(self.chart, index);
            let (x, y) = (at.0, at.1);
            let swatch = match self.chart.traces.get(index).map(|trace| trace.shape) {
                None => {
                    let (x, y) = (px(x), px(y - 9.0));
                    format!("<rect class=\"mark\" x=\"{x}\" y=\"{y}\" width=\"16\" height=\"10\"/>")
                }
                Some(Shape::Line | Shape::Steps) => {
                    let again = if is_again(self.chart, index) { " again" } else { "" };
                    let (to, y) = (px(x + 16.0), px(y - 4.0));
                    format!("<path class=\"line l-{color}{again}\" d=\"M{} {y}H{to}\"/>", px(x))
                }
                Some(shape @ (Shape::Points | Shape::Joined)) => {
                    let is_broken = shape == Shape::Joined && is_again(self.chart, index);
                    let line = match is_broken {
                        true => {
                            let (from, to, y) = (px(x), px(x + 16.0), px(y - 4.0));
                            format!("<path class=\"line l-{color} again\" d=\"M{from} {y}H{to}\"/>")
                        }
                        false => String::new(),
                    };
                    let (x, y) = (px(x + 8.0), px(y - 4.0));
                    format!("{line}<circle class=\"d-{color}\" cx=\"{x}\" cy=\"{y}\" r=\"3.5\"/>")
                }
                Some(Shape::Cells) => {
                    let (x, y) = (px(x + 3.0), px(y - 9.0));
                    let shade = format!("fill-opacity=\"{:.2}\"", shade(self.chart, index));
                    let size = "width=\"10\" height=\"10\"";
                    format!("<rect class=\"d-0\" {shade} x=\"{x}\" y=\"{y}\" {size}/>")
                }
                Some(Shape::Bars) => {
                    let (x, y) = (px(x + 3.0), px(y - 9.0));
                    let size = "width=\"10\" height=\"10\"";
                    format!("<rect class=\"d-{color}\" x=\"{x}\" y=\"{y}\" {size}/>")
                }
            };
            let (x, y) = (px(x + 21.0), px(y));
            // A stripe has no trace to hide.
            let attribute = match index < self.chart.traces.len() {
                true => format!(" data-trace=\"{index}\""),
                false => String::new(),
            };
            let text = format!("<text x=\"{x}\" y=\"{y}\">{}</text>", escaped(&name));
            self.put(&format!("<g class=\"key\"{attribute}>{swatch}{text}</g>"));
        }
    }

    fn axes(&mut self) {
        let Layout { left, right, top, bottom, .. } = *self.layout;
        let unit = escaped(&self.layout.y_title);
        self.put(&format!(
            "<text class=\"unit\" x=\"4\" y=\"{}\">{unit}</text>",
            px(self.layout.y_title_at)
        ));
        for (y, label) in self.layout.y_ticks.clone() {
            let (x, below, label) = (px(left - 6.0), px(y + 4.0), escaped(&label));
            self.put(&format!(
                "<path class=\"grid\" d=\"M{} {}H{}\"/><text x=\"{x}\" y=\"{below}\" \
                 text-anchor=\"end\">{label}</text>",
                px(left),
                px(y),
                px(right)
            ));
        }
        for (y, words) in self.layout.row_values.clone() {
            let (x, below, words) = (px(right + 10.0), px(y + 4.0), escaped(&words));
            self.put(&format!("<text x=\"{x}\" y=\"{below}\">{words}</text>"));
        }
        let axis = format!("M{} {}H{}", px(left), px(bottom), px(right));
        self.put(&format!("<path class=\"axis\" d=\"{axis}\"/>"));
        self.put("<g class=\"ticks\">");
        for (x, label) in self.layout.x_ticks.clone() {
            let label = escaped(&label);
            if self.chart.is_forest {
                let line = format!("M{} {}V{}", px(x), px(top), px(bottom));
                self.put(&format!("<path class=\"grid\" d=\"{line}\"/>"));
            }
            let tick = format!("<path class=\"axis\" d=\"M{} {}v4\"/>", px(x), px(bottom));
            let y = bottom + 17.0;
            let text = match self.layout.is_slanted {
                false => format!("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">", px(x), px(y)),
                true => {
                    let (x, y) = (px(x + 4.0), px(bottom + 14.0));
                    let turned = format!("transform=\"rotate(-38 {x} {y})\"");
                    format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\" {turned}>")
                }
            };
            self.put(&format!("{tick}{text}{label}</text>"));
        }
        self.put("</g>");
        let (x, y) = (px(right), px(self.layout.x_title_at));
        let title = escaped(&self.layout.x_title);
        self.put(&format!(
            "<text class=\"unit\" x=\"{x}\" y=\"{y}\" text-anchor=\"end\">{title}</text>"
        ));
    }

    /// Draws a mark as a stripe or a line behind the traces.
    fn mark(&mut self, mark: &Mark) {
        let Layout { left, right, top, bottom, .. } = *self.layout;
        let Some((from, to)) = self.layout.stretch(mark) else { return };
        let title = escaped(&mark.text);
        let stripe = |x: f64, y: f64, width: f64, height: f64| {
            let at = format!("x=\"{}\" y=\"{}\"", px(x), px(y));
            // A disturbance of no length must be visible too.
            let size = [width, height].map(|side| px(side.max(1.5)));
            let class = if mark.is_ramp_up() { "before" } else { "mark" };
            format!("rect class=\"{class}\" {at} width=\"{}\" height=\"{}\"", size[0], size[1])
        };
        let shape = match (self.layout.direction(mark), mark.to) {
            (Along::X, Some(_)) => stripe(from, top, to - from, bottom - top),
            (Along::Y, Some(_)) => stripe(left, to.min(from), right - left, (from - to).abs()),
            (Along::X, None) => {
                format!("path class=\"rule\" d=\"M{} {}V{}\"", px(from), px(top), px(bottom))
            }
            (Along::Y, None) => {
                format!("path class=\"rule\" d=\"M{} {}H{}\"", px(left), px(from), px(right))
            }
        };
        let name = shape.split(' ').next().unwrap_or_default().to_owned();
        self.put(&format!("<{shape}><title>{title}</title></{name}>"));
    }

    /// Draws the label of a mark. `rows` has the right end of the last label in each row; a label
    /// without room in any row is left out.
    fn say(&mut self, mark: &Mark, rows: &mut [f64; MARK_ROWS]) {
        let Layout { left, right, top, .. } = *self.layout;
        let is_said = !mark.text.is_empty() && !mark.is_in_legend();
        let Some((from, to)) = self.layout.stretch(mark).filter(|_| is_said) else {
            return;
        };
        let width = width_of(&mark.text, 11.0);
        let (x, y) = match self.layout.direction(mark) {
            Along::X => {
                let x = (from + 3.0).min(right - width).max(left + 2.0);
                let Some(row) = rows.iter().position(|end| *end + 6.0 <= x) else { return };
                rows[row] = x + width;
                (x, top + 12.0 + 13.0 * row as f64)
            }
            Along::Y => (right - width - 2.0, to.min(from) - 3.0),
        };
        let (x, y, words) = (px(x), px(y), escaped(&mark.text));
        self.put(&format!("<text class=\"said\" x=\"{x}\" y=\"{y}\">{words}</text>"));
    }

    fn trace(&mut self, index: usize, trace: &Trace, points: &[&Point]) {
        self.put(&format!("<g class=\"trace\" data-trace=\"{index}\">"));
        match trace.shape {
            Shape::Line | Shape::Steps => self.line(index, trace, points),
            Shape::Joined => {
                self.joined(index, points);
                self.dots(index, trace, points);
                self.labels(trace, points);
            }
            Shape::Points => self.dots(index, trace, points),
            Shape::Bars => self.bars(index, trace, points),
            Shape::Cells => self.cells(index, trace),
        }
        self.put("</g>");
    }

    /// Draws a line, and the filled area of its intervals, if it has any. Both are broken at gaps;
    /// a single value between two gaps is drawn as a dot.
    fn line(&mut self, index: usize, trace: &Trace, points: &[&Point]) {
        let color = colour(self.chart, index);
        let again = if is_again(self.chart, index) { " again" } else { "" };
        let is_steps = trace.shape == Shape::Steps;
        let along = |value: &dyn Fn(&Point) -> Option<f64>| -> Vec<Vec<At>> {
            let at =
                |point: &&Point| Some((self.layout.x(point.x)?, self.layout.y(value(point)?)?));
            let pieces = pieces(points.iter().map(at)).into_iter();
            let drawn = pieces.map(|piece| if is_steps { stepped(piece) } else { piece });
            let seen = drawn.map(|piece| clipped(&piece, self.layout.left, self.layout.right));
            seen.filter(|piece| !piece.is_empty()).collect()
        };
        // Edges need both ends: a low end of 0 on a logarithmic axis is drawn at the axis.
        let low = along(&|point| point.band.map(|band| band.0));
        let high = along(&|point| point.band.map(|band| band.1));
        let mut lines: Vec<String> = Vec::new();
        for (low, high) in low.iter().zip(&high) {
            let back: Vec<At> = low.iter().rev().copied().collect();
            let around = [&high[..], &back[..]].concat();
            lines.push(format!("<path class=\"area a-{color}\" d=\"{}Z\"/>", path(&around)));
        }
        let title = escaped(&trace.name);
        for piece in along(&|point| point.y) {
            lines.push(match &piece[..] {
                [(x, y)] => {
                    let (x, y) = (px(*x), px(*y));
                    format!("<circle class=\"d-{color}\" cx=\"{x}\" cy=\"{y}\" r=\"2\"/>")
                }
                _ => format!(
                    "<path class=\"line l-{color}{again}\" d=\"{}\"><title>{title}</title></path>",
                    path(&piece)
                ),
            });
        }
        lines.iter().for_each(|line| self.put(line));
    }

    fn joined(&mut self, index: usize, points: &[&Point]) {
        let color = colour(self.chart, index);
        let again = if is_again(self.chart, index) { " again" } else { "" };
        let aside = self.chart.aside(index);
        let at = |point: &&Point| self.layout.at(point.x, aside, point.y?);
        for piece in pieces(points.iter().map(at)) {
            let path = path(&piece);
            self.put(&format!("<path class=\"line l-{color}{again}\" d=\"{path}\"/>"));
        }
    }

    fn dots(&mut self, index: usize, trace: &Trace, points: &[&Point]) {
        let color = colour(self.chart, index);
        let aside = self.chart.aside(index);
        let n_all: usize = self.chart.traces.iter().map(|trace| trace.points.len()).sum();
        for point in points {
            let at = |value| self.layout.at(point.x, aside, value);
            let Some((x, y)) = point.y.and_then(at) else { continue };
            self.whisker(&color, aside, point);
            let title = match n_all <= TOLD_MOST {
                true => format!("<title>{}</title>", escaped(&self.tooltip(trace, point))),
                false => String::new(),
            };
            let (x, y) = (px(x), px(y));
            let dot = format!("circle class=\"d-{color}\" cx=\"{x}\" cy=\"{y}\" r=\"3.5\"");
            self.put(&format!("<{dot}>{title}</circle>"));
        }
    }

    /// Draws the labels of a trace's points beside their dots, if it is the chart's only trace and
    /// its dots are joined. Labels that would overlap earlier ones are left out.
    fn labels(&mut self, trace: &Trace, points: &[&Point]) {
        if trace.shape != Shape::Joined || self.chart.traces.len() != 1 {
            return;
        }
        let mut taken: Vec<(f64, f64, f64)> = Vec::new();
        for point in points {
            let Some(label) = &point.label else { continue };
            let at = point.y.and_then(|y| Some((self.layout.x(point.x)?, self.layout.y(y)?)));
            let Some((x, y)) = at else { continue };
            let width = width_of(label, 11.0);
            let is_right = x + 6.0 + width <= self.layout.right + 10.0;
            let (left, y) = (if is_right { x + 6.0 } else { x - 6.0 - width }, y - 5.0);
            let meets = |(from, to, at): &(f64, f64, f64)| {
                left < to + 3.0 && left + width > from - 3.0 && (y - at).abs() < 12.0
            };
            if taken.iter().any(meets) {
                continue;
            }
            taken.push((left, left + width, y));
            let (x, y, label) = (px(left), px(y), escaped(label));
            self.put(&format!("<text class=\"said\" x=\"{x}\" y=\"{y}\">{label}</text>"));
        }
    }

    fn whisker(&mut self, color: &str, aside: f64, point: &Point) {
        let Some((low, high)) = point.band else { return };
        let at = |value, beside: f64| self.layout.at(point.x, aside + beside, value);
        let line = |from: Option<At>, to: Option<At>| Some(path(&[from?, to?]));
        let end = |value| match self.layout.is_beyond(value) {
            true => at(value, 0.0).map(|end| self.arrow_head(end, value < high)),
            false => line(at(value, -3.0), at(value, 3.0)),
        };
        let all: [Option<String>; 3] = [line(at(low, 0.0), at(high, 0.0)), end(low), end(high)];
        if let [Some(whole), Some(low), Some(high)] = all {
            let class = format!("whisker l-{color}");
            self.put(&format!("<path class=\"{class}\" d=\"{whole}{low}{high}\"/>"));
        }
    }

    /// Returns the path of the arrow head for an interval that continues beyond the axis.
    fn arrow_head(&self, (x, y): At, is_low: bool) -> String {
        const BACK: f64 = 6.0;
        const ASIDE: f64 = 4.0;
        // Low values are at the left of a forest plot, and at the bottom elsewhere.
        let back = if is_low { BACK } else { -BACK };
        let wing = |aside: f64| match self.chart.is_forest {
            true => (x + back, y + aside),
            false => (x + aside, y - back),
        };
        path(&[wing(-ASIDE), (x, y), wing(ASIDE)])
    }

    fn bars(&mut self, index: usize, trace: &Trace, points: &[&Point]) {
        let color = colour(self.chart, index);
        let bars = self.chart.traces.iter().filter(|trace| trace.shape == Shape::Bars);
        let n_bars = bars.count().max(1) as f64;
        let n_before = self.chart.traces[..index].iter();
        let nth = n_before.filter(|trace| trace.shape == Shape::Bars).count() as f64;
        let n_slots = self.chart.x.categories.len().max(points.len()).max(1) as f64;
        let slot = (self.layout.right - self.layout.left) / n_slots * 0.7;
        let width = (slot / n_bars).min(60.0);
        for point in points {
            let (Some(x), Some(value)) = (self.layout.x(point.x), point.y) else { continue };
            let Some(y) = self.layout.y(value) else { continue };
            let aside = (nth - n_bars / 2.0) * width;
            let x = x + aside;
            let height = (self.layout.bottom - y).max(0.0);
            let title = escaped(&self.tooltip(trace, point));
            let (at, y) = (px(x), px(y));
            let size = format!("width=\"{}\" height=\"{}\"", px(width * 0.92), px(height));
            self.put(&format!(
                "<rect class=\"d-{color}\" x=\"{at}\" y=\"{y}\" {size}><title>{title}</title></rect>"
            ));
            self.whisker(&color, aside + width * 0.46, point);
        }
    }

    /// Draws all cells of one shade of a heat map as a single path, because there are thousands.
    fn cells(&mut self, index: usize, trace: &Trace) {
        let width = self.chart.cell_width();
        let mut path = String::new();
        for point in &trace.points {
            let Some((low, high)) = point.band else { continue };
            let (Some(low), Some(high)) = (self.layout.y(low), self.layout.y(high)) else {
                continue;
            };
            let end = self.layout.x_within(point.x + width);
            let (Some(from), Some(end)) = (self.layout.x_within(point.x), end) else { continue };
            path += &format!("M{} {}H{}V{}H{}z", px(from), px(low), px(end), px(high), px(from));
        }
        let (shade, title) = (shade(self.chart, index), escaped(&trace.name));
        self.put(&format!(
            "<path class=\"d-0\" fill-opacity=\"{shade:.2}\" d=\"{path}\"><title>{title}</title></path>"
        ));
    }

    fn tooltip(&self, trace: &Trace, point: &Point) -> String {
        let place = match self.chart.x.categories.is_empty() {
            true => format!("{} {}", self.chart.x.title, exact(point.x)),
            false => self.chart.x.name_of(point.x),
        };
        let unit = &self.chart.y.unit;
        let value = point.y.map_or_else(String::new, |y| format!(": {} {unit}", significant(y, 4)));
        let band = point.band.map_or_else(String::new, |(low, high)| {
            format!(" ({} to {})", significant(low, 4), significant(high, 4))
        });
        let label = point.label.as_ref().map_or_else(String::new, |label| format!(", {label}"));
        format!("{}, {place}{}{band}{label}", trace.name, value.trim_end())
    }
}

/// Splits a row of points at gaps (`None`) into pieces, each drawn as an unbroken line.
fn pieces(points: impl Iterator<Item = Option<At>>) -> Vec<Vec<At>> {
    let mut pieces: Vec<Vec<At>> = vec![Vec::new()];
    for point in points {
        match (point, pieces.last_mut()) {
            (Some(at), Some(last)) => last.push(at),
            _ => pieces.push(Vec::new()),
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Returns the part of a line between the pixels `left` and `right`. Where the line crosses one of
/// them, a point with interpolated y is added.
fn clipped(points: &[At], left: f64, right: f64) -> Vec<At> {
    // Less than the precision of the output.
    const SLACK: f64 = 0.01;
    let mut kept = Vec::new();
    for (index, (x, y)) in points.iter().copied().enumerate() {
        if let Some((x0, y0)) = index.checked_sub(1).map(|before| points[before]) {
            let cut = |at: f64| (at, y0 + (y - y0) * (at - x0) / (x - x0));
            kept.extend([left, right].into_iter().filter(|at| x0 < *at && *at < x).map(cut));
        }
        if (left - SLACK..=right + SLACK).contains(&x) {
            kept.push((x, y));
        }
    }
    kept
}

fn path(points: &[At]) -> String {
    let point = |(index, (x, y)): (usize, &At)| {
        format!("{}{} {}", if index == 0 { "M" } else { "L" }, px(*x), px(*y))
    };
    points.iter().enumerate().map(point).collect()
}

/// Formats a number of pixels, rounded to a tenth.
fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
