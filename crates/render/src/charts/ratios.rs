//! Ratios of a comparison with their intervals: right of 1 is more than the baseline.

use analysis::ComparisonReport;
use analysis::comparison::{Judged, PairReport, Verdict};
use analysis::figures::title;
use model::numbers::exact;
use model::short_axis;

use super::{Along, Axis, Chart, Entry, Mark, Of, Palette, Point, Scale, Shape, Trace};
use crate::axis_names::{axes_of, told};

pub(super) const ENTRY: Entry = Entry {
    name: "ratios",
    about: "a comparison's ratios with their intervals",
    of: Of::Comparison(charts),
};

/// The primary figure by point; and all figures where there is one point.
fn charts(report: &ComparisonReport) -> Vec<Chart> {
    let axes = axes_of(report);
    let names = names(report, &axes);
    let mut x = Axis::named("point", names.clone());
    let is_one = report.pairs.iter().all(|pair| pair.points.len() == 1);
    if is_one {
        x.title = "figure".to_owned();
    }
    let y = Axis::of(format!("ratio to {}", report.sides[0].name), "", Scale::Log);
    let what = if is_one { "Figures".to_owned() } else { title(&report.primary) };
    let mut chart = Chart::new("ratios", format!("{what} against the baseline"), x, y);
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
         the verdicts in the labels are."
            .to_owned(),
    );
    chart.palette = Palette::Verdicts;
    for pair in &report.pairs {
        for word in ["better", "worse", "no clear verdict"] {
            let points = judged(pair, &axes).into_iter().filter_map(|(name, judged)| {
                let place = names.iter().position(|known| *known == name)?;
                let ratio = judged.ratio.filter(|_| word_of(judged.verdict) == word)?;
                let label = Some(judged.verdict.name().to_owned());
                let at = Point::at(place as f64, Some(ratio.value));
                Some(Point { band: ratio.interval, label, ..at })
            });
            let name = match report.pairs.len() {
                1 => word.to_owned(),
                _ => format!("{}: {word}", pair.side),
            };
            chart.traces.push(Trace::new(name, Shape::Points, points.collect()));
        }
    }
    chart.if_any()
}

/// What a verdict means to whoever looks for good and bad.
fn word_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Higher
        | Verdict::Lower
        | Verdict::BelowMinEffect
        | Verdict::SizeNotKnown
        | Verdict::NoEvidence
        | Verdict::CannotJudge => "no clear verdict",
    }
}

fn names(report: &ComparisonReport, axes: &[model::Axis]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in report.pairs.iter().flat_map(|pair| judged(pair, axes)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// What is drawn of a pair, each with its name on the axis.
fn judged<'p>(pair: &'p PairReport, axes: &[model::Axis]) -> Vec<(String, &'p Judged)> {
    if let [point] = &pair.points[..] {
        let all = std::iter::once(&point.primary).chain(&point.others);
        return all.map(|judged| (title(&judged.figure), judged)).collect();
    }
    let points = pair.points.iter().map(|point| {
        let words: Vec<String> = told(axes, &point.values)
            .iter()
            .map(|(name, value)| format!("{} {value}", short_axis(name)))
            .collect();
        (words.join(", "), &point.primary)
    });
    points.chain(pair.overall.iter().map(|judged| ("all".to_owned(), judged))).collect()
}
