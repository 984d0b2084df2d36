//! Charts of a search's probes (runs) over the searched parameter: response times with their bound,
//! and the share of allowed violations, with the answer.

use analysis::report::Named;
use model::numbers::count;
use model::{Bound, Metric, Objective, short_axis};
use study::SeekReport;
use study::seek::{Answer, Verdict};

use super::{Axis, Chart, Entry, Mark, Of, Palette, Point, Scale, Shape, Spot, Trace, figure_axis};

pub(super) const ENTRY: Entry = Entry {
    name: "sought",
    about: "a search's probes over its axis, with objective and answer",
    spot: Spot::Search,
    make: Of::Seek(charts),
};

fn charts(report: &SeekReport) -> Vec<Chart> {
    let mut all: Vec<Chart> = report
        .seek
        .objectives
        .iter()
        .filter_map(|objective| match objective.bound {
            Bound::Time(ns) => Some((objective.metric, ns as f64 / 1e6)),
            Bound::Share(_) | Bound::Written(_) => None,
        })
        .flat_map(|(metric, bound_ms)| chart(report, metric, bound_ms))
        .collect();
    all.dedup_by(|a, b| a.id == b.id);
    all.extend(report.seek.objectives.iter().flat_map(|objective| used(report, objective)));
    all
}

/// Largest ratio that is drawn, of requests beyond an objective's bound to the number allowed.
/// Probes with more would flatten the others; the chart's note says how many are left out.
const USED_SHOWN_MAX: f64 = 4.0;

/// Returns a chart of how many requests of each probe (run of a search) exceeded an objective's
/// bound, in percent of those allowed, by which probes are judged. Empty for an objective that is
/// not on a percentile, since only percentiles allow a share.
fn used(report: &SeekReport, objective: &Objective) -> Vec<Chart> {
    if objective.metric.allowed_beyond().is_none() {
        return Vec::new();
    }
    let (axis, name) = (&report.seek.axis, objective.metric.name());
    let places: Vec<f64> = report.probes.iter().map(|probe| probe.at).collect();
    let unit = if model::is_arrival_rate(axis) { "1/s" } else { "" };
    let x = Axis::new(short_axis(axis), unit, Scale::of_varied(&places));
    let y = Axis::new("requests beyond the bound", "% of those allowed", Scale::FromZero);
    let title = format!("Requests beyond {objective} over {}", short_axis(axis));
    let mut chart = Chart::new(format!("sought-{name}-used"), title, x, y);
    chart.palette = Palette::Verdicts;
    let mut n_beyond = 0;
    for verdict in [Verdict::Meets, Verdict::Undecided, Verdict::Fails] {
        let mut points = Vec::new();
        for probe in report.probes.iter().filter(|probe| probe.verdict == verdict) {
            let excess = probe.judged.beyond.iter().find(|beyond| beyond.objective == *objective);
            let Some(excess) = excess else { continue };
            if excess.ratio > USED_SHOWN_MAX {
                n_beyond += 1;
                continue;
            }
            let percent = |ratio: f64| 100.0 * ratio.max(0.0);
            let half = excess.half_width();
            let band = Some((percent(excess.ratio - half), percent(excess.ratio + half)));
            let label = Some(probe.stage.name().to_owned());
            points.push(Point { label, band, ..Point::at(probe.at, Some(percent(excess.ratio))) });
        }
        chart.traces.push(Trace::new(verdict.name(), Shape::Points, points));
    }
    chart.marks.push(Mark::level(100.0, "allowed"));
    let beyond = match n_beyond {
        0 => String::new(),
        n => format!(
            " Left out: {} with more than {USED_SHOWN_MAX} times as many as allowed.",
            count(n, "probe")
        ),
    };
    chart.note = Some(format!("Bars: 90 % interval of each probe alone.{beyond}"));
    chart.if_any()
}

fn chart(report: &SeekReport, metric: Metric, bound_ms: f64) -> Vec<Chart> {
    let figure = format!("{}_ms", metric.name());
    let value = |probe: &study::seek::ProbeReport| probe.figures.get(&figure).copied().flatten();
    let scale = Scale::of_times(report.probes.iter().filter_map(value).chain([bound_ms]));
    let axis = &report.seek.axis;
    let places: Vec<f64> = report.probes.iter().map(|probe| probe.at).collect();
    let x = Axis::new(
        short_axis(axis),
        if model::is_arrival_rate(axis) { "1/s" } else { "" },
        Scale::of_varied(&places),
    );
    let title = format!("{} over {}", metric.name(), short_axis(axis));
    let id = format!("sought-{}", metric.name());
    let mut chart = Chart::new(id, title, x, figure_axis(&figure, &Named::default(), scale));
    chart.palette = Palette::Verdicts;
    let mean = report.curve.iter().map(|at| (at.at, at.figures.get(&figure).copied().flatten()));
    let mean = mean.map(|(at, value)| Point::at(at, value)).collect();
    chart.traces.push(Trace::new("mean of probes", Shape::Line, mean));
    for verdict in [Verdict::Meets, Verdict::Undecided, Verdict::Fails] {
        let here = report.probes.iter().filter(|probe| probe.verdict == verdict);
        let points = here.map(|probe| {
            let label = Some(probe.stage.name().to_owned());
            let band = value(probe).and_then(|ms| interval(probe, ms, bound_ms));
            Point { label, band, ..Point::at(probe.at, value(probe)) }
        });
        chart.traces.push(Trace::new(verdict.name(), Shape::Points, points.collect()));
    }
    let bound = format!("{} {}", metric.name(), model::format_duration((bound_ms * 1e6) as u64));
    chart.marks.push(Mark::level(bound_ms, bound));
    let answer = match report.answer {
        Answer::Found { low, high, .. } => Some((low, high, "answer, 90 % interval")),
        Answer::Between { low, high } => Some((low, high, "between")),
        _ => None,
    };
    let stretch = |(low, high, text)| Mark::stretch(low, Some(high), text);
    chart.marks.extend(answer.map(stretch));
    let has_bands = chart.traces.iter().any(|trace| trace.points.iter().any(|p| p.band.is_some()));
    chart.note = has_bands.then(|| "Bars: 90 % interval within each probe.".to_owned());
    chart.if_any()
}

/// Returns the 90 % interval of a probe's time `ms`, in milliseconds, from the error of the probe's
/// score. `None` if the score is not ln(`ms` / `bound_ms`), as when the probe did worse on another
/// objective, or if its error is not known.
fn interval(probe: &study::seek::ProbeReport, ms: f64, bound_ms: f64) -> Option<(f64, f64)> {
    const SAME: f64 = 1e-6;
    let (score, half_width) = probe.judged.score.zip(probe.judged.half_width)?;
    let is_of_this = ((ms / bound_ms).ln() - score).abs() < SAME;
    is_of_this.then(|| (ms * (-half_width).exp(), ms * half_width.exp()))
}
