//! Percentiles of all that was offered in stretches of some seconds: whether it is steady.

use analysis::report::{ProbeReport, Report};

use super::{Axis, Chart, Entry, Of, Palette, Point, Scale, Shape, Trace};

pub(super) const ENTRY: Entry = Entry {
    name: "probes",
    about: "p50, p95 and p99 of all offered work in stretches of some seconds",
    of: Of::Run(charts),
};

/// Fewer stretches are no series.
const LEAST: usize = 3;

fn charts(report: &Report) -> Vec<Chart> {
    let probes = &report.probes;
    if probes.len() < LEAST {
        return Vec::new();
    }
    let all = probes.iter().flat_map(|probe| [probe.p50_ms, probe.p99_ms]).flatten();
    let axis = Axis::of("response time", "ms", Scale::of_times(all));
    let mut chart = Chart::of_time("probes", "Response times in probes", axis, report);
    chart.palette = Palette::Ordered;
    let length = model::numbers::seconds(probes[0].to_s - probes[0].from_s);
    let gap = |probe: &&ProbeReport| probe.p99_ms.is_none();
    let lost = |probe: &ProbeReport| probe.failed + probe.dropped + probe.unfinished > 0;
    let why = match probes.iter().filter(gap).all(lost) {
        true => "a gap is where so much was lost that the percentile is infinite",
        false => "a gap is where nothing finished, or times are no longer kept",
    };
    chart.note = Some(format!("Of all that was offered in each {length}; {why}."));
    chart.traces = vec![
        Trace::new("p99", Shape::Steps, steps(probes, &|probe| probe.p99_ms)),
        Trace::new("p95", Shape::Steps, steps(probes, &|probe| probe.p95_ms)),
        Trace::new("p50", Shape::Steps, steps(probes, &|probe| probe.p50_ms)),
    ];
    chart.if_any()
}

/// A value from the beginning of each stretch to its end.
pub(super) fn steps(
    probes: &[ProbeReport],
    of: &dyn Fn(&ProbeReport) -> Option<f64>,
) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::with_capacity(probes.len() + 1);
    let mut held: Option<Point> = None;
    for probe in probes {
        let begins = Point::at(probe.from_s, of(probe));
        // What is held until a gap is seen to its end.
        points.extend(held.take().filter(|end| end.y.is_some() && begins.y.is_none()));
        held = Some(Point::at(probe.to_s, begins.y));
        points.push(begins);
    }
    points.extend(held);
    points
}
