//! An experiment's points over time, a line for each: whether they are steady, and which is best.

use model::short_axis;

use super::probes::steps;
use super::{Axis, Chart, Entry, Of, Palette, Scale, Shape, Trace, figure_axis};
use crate::ExperimentReport;
use crate::experiment::{Trialled, counts};
use crate::report::{Named, ProbeReport};

pub(super) const ENTRY: Entry = Entry {
    name: "stability",
    about: "p95, p99 and TPS of an experiment's points over time",
    of: Of::Experiment(charts),
};

/// More lines are not told apart.
const LINES_MOST: usize = 12;

type Figure = fn(&ProbeReport) -> Option<f64>;

/// Of each point its first trial that counts.
fn charts(report: &ExperimentReport, trials: &[Trialled]) -> Vec<Chart> {
    let first = |point: usize| {
        let of = trials.iter().filter(|trial| trial.point as usize == point);
        let counted = of.filter(|trial| counts(&trial.report));
        counted.min_by_key(|trial| trial.repeat)
    };
    let all: Vec<(String, &[ProbeReport])> = report
        .points
        .iter()
        .enumerate()
        .filter_map(|(index, point)| Some((name(&point.values), &first(index)?.report.probes[..])))
        .filter(|(_, probes)| probes.len() > 1)
        .collect();
    let figures: [(&str, Figure); 3] = [
        ("p95_ms", |probe| probe.p95_ms),
        ("p99_ms", |probe| probe.p99_ms),
        ("tps", |probe| Some(probe.tps)),
    ];
    let of = |(figure, of): &(&str, Figure)| chart(&all, figure, *of);
    figures.iter().flat_map(of).collect()
}

fn name(values: &Named<String>) -> String {
    let words: Vec<String> =
        values.iter().map(|(name, value)| format!("{} {value}", short_axis(name))).collect();
    if words.is_empty() { "all".to_owned() } else { words.join(", ") }
}

fn chart(all: &[(String, &[ProbeReport])], figure: &str, of: Figure) -> Vec<Chart> {
    let values = all.iter().flat_map(|(_, probes)| probes.iter().filter_map(of));
    let scale = if figure == "tps" { Scale::FromZero } else { Scale::of_times(values) };
    let x = Axis::of("time in the measured phase", "s", Scale::Linear);
    let id = format!("stability-{}", figure.trim_end_matches("_ms"));
    let title = format!("{} over time", crate::render::title(figure));
    let mut chart = Chart::new(id, title, x, figure_axis(figure, scale));
    chart.palette = Palette::Ordered;
    let line = |(name, probes): &(String, &[ProbeReport])| {
        Trace::new(name.clone(), Shape::Steps, steps(probes, &of))
    };
    chart.traces = all.iter().take(LINES_MOST).map(line).collect();
    let shown = match all.len() > LINES_MOST {
        true => format!("the first {LINES_MOST} of {} points", all.len()),
        false => "each point".to_owned(),
    };
    chart.note = Some(format!("The first trial of {shown}, in probes."));
    chart.if_any()
}
