//! Changed views of a chart: a part of its horizontal axis, or a logarithmic instead of a linear
//! value axis.
//!
//! Not here: zooming by a reader (the script of pages).

use super::{Axis, Chart, Point, Scale, Shape, Trace};

impl Chart {
    /// Returns the chart zoomed to the x values `from` to `to`. A line keeps one point beyond each
    /// end, so that it reaches the edge of the plot. A chart over names, or with `from` not below
    /// `to`, is returned whole.
    pub fn between(&self, from: f64, to: f64) -> Chart {
        if !self.x.categories.is_empty() || from >= to {
            return self.clone();
        }
        let width = self.cell_width();
        let kept = |trace: &Trace| -> Vec<Point> {
            let begin = match trace.shape {
                Shape::Line | Shape::Steps => return around(&trace.points, from, to).to_vec(),
                Shape::Cells => from - width,
                Shape::Points | Shape::Joined | Shape::Bars => from,
            };
            let is_within = |point: &&Point| point.x >= begin && point.x <= to;
            trace.points.iter().filter(is_within).cloned().collect()
        };
        // A trace without points stays, since colours depend on places.
        let cut = |trace: &Trace| Trace { points: kept(trace), ..trace.clone() };
        // Zero may be far away.
        let scale = match self.x.scale {
            Scale::FromZero => Scale::Linear,
            scale => scale,
        };
        Chart {
            x: Axis { scale, range: Some((from, to)), is_stretch: true, ..self.x.clone() },
            traces: self.traces.iter().map(cut).collect(),
            ..self.clone()
        }
    }

    /// Returns the width of a heat map's cells: the smallest distance between two x values, or 1 if
    /// there is none.
    pub(crate) fn cell_width(&self) -> f64 {
        let cells = self.traces.iter().filter(|trace| trace.shape == Shape::Cells);
        let mut places: Vec<f64> = cells.flat_map(|trace| &trace.points).map(|at| at.x).collect();
        places.sort_by(f64::total_cmp);
        let gaps = places.windows(2).map(|two| two[1] - two[0]).filter(|gap| *gap > 0.0);
        let least = gaps.fold(f64::INFINITY, f64::min);
        if least.is_finite() { least } else { 1.0 }
    }

    /// Returns the chart with the other kind of value axis: logarithmic instead of linear, or
    /// linear from 0 instead of logarithmic.
    pub fn turned(&self) -> Chart {
        let scale = match self.y.scale {
            Scale::Log => Scale::FromZero,
            Scale::Linear | Scale::FromZero => Scale::Log,
        };
        Chart { y: Axis { scale, ..self.y.clone() }, ..self.clone() }
    }
}

/// Returns the points of a line between two x values, with the next point beyond each; empty if no
/// part of the line is between them.
fn around(points: &[Point], from: f64, to: f64) -> &[Point] {
    let first = points.partition_point(|point| point.x < from);
    let end = points.partition_point(|point| point.x <= to);
    let (first, end) = (first.saturating_sub(1), (end + 1).min(points.len()));
    let kept = &points[first..end];
    let is_beyond = |point: &Point| point.x < from || point.x > to;
    let is_across = kept.first().zip(kept.last()).is_some_and(|(a, b)| a.x < from && b.x > to);
    if is_across || !kept.iter().all(is_beyond) { kept } else { &[] }
}

#[cfg(test)]
mod tests {
    use analysis::fixtures::subjects;
    use study::fixtures::studies;

    use super::*;
    use crate::chart_backends::Drawn;
    use crate::charts::{of_comparison, of_run};

    #[test]
    fn a_stretch_has_the_points_within_and_the_next_ones_and_an_axis_that_ends_there() {
        let charts = of_run(&subjects::closed());
        let whole = charts.iter().find(|chart| chart.id == "throughput").expect("it is made");
        let seen = whole.between(2.0, 5.0);
        assert_eq!((seen.x.range, seen.traces.len()), (Some((2.0, 5.0)), whole.traces.len()));
        let places = |chart: &Chart| -> Vec<f64> {
            chart.traces[0].points.iter().map(|point| point.x).collect()
        };
        let (kept, all) = (places(&seen), places(whole));
        let within: Vec<f64> = all.into_iter().filter(|x| (2.0..=5.0).contains(x)).collect();
        assert!(!within.is_empty() && kept[1..kept.len() - 1] == within, "{kept:?}");
        assert!(kept[0] < 2.0 && kept[kept.len() - 1] > 5.0, "{kept:?}");
        assert!(places(&whole.between(-90.0, -80.0)).is_empty());
        // Nothing else has changed, and the original is the same.
        assert_eq!((&seen.marks, &seen.y, &seen.title), (&whole.marks, &whole.y, &whole.title));
        // An axis that begins at 0 need not do so in a section of it.
        let mut from_zero = whole.clone();
        from_zero.x.scale = Scale::FromZero;
        assert_eq!(from_zero.between(2.0, 5.0).x.scale, Scale::Linear);
        // A section without a length is ignored.
        assert_eq!(whole.between(5.0, 5.0), *whole);
    }

    #[test]
    fn a_line_of_two_points_is_seen_wherever_one_looks_and_dots_only_where_they_are() {
        let charts = of_run(&subjects::closed());
        let mut chart = charts.into_iter().find(|chart| chart.id == "throughput").expect("made");
        let point = |x: f64| Point { x, y: Some(1.0), ..Point::default() };
        chart.traces.truncate(1);
        chart.traces[0].points = vec![point(0.0), point(60.0)];
        for (shape, expect) in [(Shape::Line, 2), (Shape::Steps, 2), (Shape::Points, 0)] {
            chart.traces[0].shape = shape;
            assert_eq!(chart.between(20.0, 30.0).traces[0].points.len(), expect, "{shape:?}");
        }
        chart.traces[0].shape = Shape::Line;
        let svg = chart.between(20.0, 30.0).to_svg(Drawn::WIDE);
        let root = roxmltree::Document::parse(&svg).unwrap();
        let attribute =
            |name: &str| root.root_element().attribute(name).expect("it is there").to_owned();
        let line = root.descendants().find(|node| node.attribute("class") == Some("line l-0"));
        let path = line.and_then(|node| node.attribute("d")).expect("a line");
        // From the left end of the plot area to the right one.
        assert!(path.starts_with(&format!("M{} ", attribute("data-left"))), "{path}");
        assert!(path.contains(&format!("L{} ", attribute("data-right"))), "{path}");
    }

    #[test]
    fn names_are_not_cut() {
        let charts = of_comparison(&studies::comparison());
        let ratios = charts.iter().find(|chart| chart.id == "ratios").expect("it is made");
        assert_eq!(ratios.between(0.0, 1.0), *ratios);
    }

    #[test]
    fn values_by_distances_stand_by_ratios_and_back() {
        let charts = of_comparison(&studies::comparison());
        let ratios = charts.iter().find(|chart| chart.id == "ratios").expect("it is made");
        assert_eq!(ratios.y.scale, Scale::Log);
        let turned = ratios.turned();
        assert_eq!((turned.y.scale, &turned.x), (Scale::FromZero, &ratios.x));
        assert_eq!(turned.turned(), *ratios);
    }
}
