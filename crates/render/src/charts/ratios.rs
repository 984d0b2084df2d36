//! Forest plots of a comparison's ratios with their intervals. Ratios above 1 mean more than the
//! baseline.

use analysis::figures::title;
use model::numbers::exact;
use model::short_axis;
use study::ComparisonReport;
use study::comparison::{Judged, PairReport, Verdict};

use super::{Along, Axis, Chart, Entry, Mark, Of, Palette, Point, Scale, Shape, Spot, Trace};
use crate::axis_names::{axes_of, told};

pub(super) const ENTRY: Entry = Entry {
    name: "ratios",
    about: "a comparison's ratios with their intervals",
    spot: Spot::Ratios,
    make: Of::Comparison(charts),
};

/// Returns a chart of the primary figure's ratio to the baseline at each point (combination of
/// varied parameters), and one of the ratios of all figures over all points. If there is a single
/// point, it is one chart of all figures there.
fn charts(report: &ComparisonReport) -> Vec<Chart> {
    let axes = axes_of(report);
    if report.pairs.iter().all(|pair| pair.points.len() == 1) {
        let rows = of_pairs(report, |pair| {
            let point = pair.points.iter();
            point.flat_map(|point| of_figures(&point.primary, &point.others)).collect()
        });
        return chart(report, "ratios", ("Figures", "figure"), &rows);
    }
    let primary = of_pairs(report, |pair| of_points(pair, &axes));
    let mut charts = chart(report, "ratios", (&title(&report.primary), "point"), &primary);
    let figures = of_pairs(report, |pair| {
        let overall = pair.overall.iter();
        overall.flat_map(|overall| of_figures(overall, &pair.overall_others)).collect()
    });
    let what = ("Figures over all points", "figure");
    charts.extend(chart(report, "ratios-figures", what, &figures));
    charts
}

/// Name of the row of a forest plot for all points (combinations of varied parameters) together.
const ALL_POINTS: &str = "all";

/// A row of a forest plot: its name, and the figure whose ratio to the baseline it shows.
type Row<'r> = (String, &'r Judged);

/// Returns a forest plot with a row for each named row in `sides`, the compared sets of runs; with
/// several sides, the rows of equal name are next to each other, one per side. `what` begins the
/// title, and `along` is the title of the axis of rows.
fn chart(
    report: &ComparisonReport,
    id: &str,
    (what, along): (&str, &str),
    sides: &[(&str, Vec<Row<'_>>)],
) -> Vec<Chart> {
    let rows = sides.iter().flat_map(|(side, rows)| rows.iter().map(move |row| (*side, row)));
    let mut rows: Vec<(&str, &Row<'_>)> = rows.collect();
    let mut names: Vec<&str> = Vec::new();
    for (_, (name, _)) in &rows {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    rows.sort_by_key(|(_, (name, _))| names.iter().position(|known| known == name));
    let row_name = |(side, (name, _)): &(&str, &Row<'_>)| match sides.len() {
        1 => name.clone(),
        _ => format!("{name}: {side}"),
    };
    let names: Vec<String> = rows.iter().map(row_name).collect();
    let x = Axis::named(along, names);
    let y = Axis::new(format!("ratio to {}", report.sides[0].name), "", Scale::Log);
    let mut chart = Chart::new(id, format!("{what} against the baseline"), x, y);
    chart.is_forest = true;
    chart.palette = Palette::Verdicts;
    chart.marks.push(Mark::level(1.0, ""));
    let min_effect = 1.0 + report.min_effect;
    chart.marks.push(Mark {
        along: Along::Y,
        from: 1.0 / min_effect,
        to: Some(min_effect),
        text: format!("within ±{} %: too small to matter", exact(100.0 * report.min_effect)),
    });
    chart.note = Some(
        "Lower times and higher rates are better. Intervals are not corrected for multiple tests; \
         the verdicts are."
            .to_owned(),
    );
    for word in ["better", "worse", "another verdict"] {
        let points = rows.iter().enumerate().filter_map(|(place, (_, (_, judged)))| {
            let ratio = judged.ratio.filter(|_| word_of(judged.verdict) == word)?;
            let label = Some(judged.verdict.name().to_owned());
            let at = Point::at(place as f64, Some(ratio.value));
            Some(Point { band: ratio.interval, label, ..at })
        });
        chart.traces.push(Trace::new(word, Shape::Points, points.collect()));
    }
    chart.if_any()
}

/// Returns the name of the trace that shows ratios with a verdict: `better`, `worse` or `another
/// verdict`.
fn word_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Higher
        | Verdict::Lower
        | Verdict::TooSmallToMatter
        | Verdict::DiffersSizeNotKnown
        | Verdict::DiffersOrTheMachineDrifted
        | Verdict::NoEvidence
        | Verdict::CannotBeJudged => "another verdict",
    }
}

fn of_pairs<'r>(
    report: &'r ComparisonReport,
    rows: impl Fn(&'r PairReport) -> Vec<Row<'r>>,
) -> Vec<(&'r str, Vec<Row<'r>>)> {
    report.pairs.iter().map(|pair| (pair.side.as_str(), rows(pair))).collect()
}

/// Returns a row of a forest plot for the first figure and for each of the others.
fn of_figures<'r>(first: &'r Judged, others: &'r [Judged]) -> Vec<Row<'r>> {
    let all = std::iter::once(first).chain(others);
    all.map(|judged| (title(&judged.figure), judged)).collect()
}

/// Returns a row of a forest plot for the primary figure at each point (combination of varied
/// parameters), and one over all points.
fn of_points<'p>(pair: &'p PairReport, axes: &[model::Axis]) -> Vec<Row<'p>> {
    let points = pair.points.iter().map(|point| {
        let words: Vec<String> = told(axes, &point.values)
            .iter()
            .map(|(name, value)| format!("{} {value}", short_axis(name)))
            .collect();
        (words.join(", "), &point.primary)
    });
    points.chain(pair.overall.iter().map(|judged| (ALL_POINTS.to_owned(), judged))).collect()
}
