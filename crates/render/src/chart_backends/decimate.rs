//! Reduction of traces to the points that determine how they look: first, last, lowest and highest
//! point of each stretch (M4: Jugel and others, Proc. VLDB Endow. 7, 797, 2014), the extremes of
//! the band, and a gap. The worst second is never hidden.
//!
//! Traces with equal x values keep the points at the same x values. Otherwise, of two lines drawn
//! through different seconds, the wrong one might look higher.

use std::collections::BTreeSet;

use crate::charts::{Point, Trace};

/// Largest number of points that a trace keeps of one stretch of the axis: the first, the last, the
/// first gap, the lowest and highest value, and the lowest and highest end of an interval.
const OF_STRETCH: usize = 7;
/// Factor by which traces with equal x values may exceed the limit of points, because each also
/// keeps the points at the x values of the others' extremes.
const TOGETHER: usize = 2;

/// Returns the points of each trace to draw, in order. A trace with at most `most` points keeps
/// all. A longer one keeps at most `most`, or [`TOGETHER`] times as many if other traces have the
/// same x values.
pub(super) fn decimate(traces: &[Trace], most: usize) -> Vec<Vec<&Point>> {
    let mut kept: Vec<Option<Vec<&Point>>> = vec![None; traces.len()];
    for index in 0..traces.len() {
        if kept[index].is_some() {
            continue;
        }
        let is_kin = |other: &usize| has_places_of(&traces[*other], &traces[index]);
        let kin: Vec<usize> = (index..traces.len()).filter(is_kin).collect();
        let all: Vec<&[Point]> = kin.iter().map(|member| &traces[*member].points[..]).collect();
        let places = places(&all, most);
        for member in kin {
            kept[member] = Some(places.iter().map(|at| &traces[member].points[*at]).collect());
        }
    }
    kept.into_iter().map(Option::unwrap_or_default).collect()
}

fn has_places_of(one: &Trace, other: &Trace) -> bool {
    one.points.len() == other.points.len()
        && one.points.iter().zip(&other.points).all(|(one, other)| one.x == other.x)
}

/// Returns the indices of the points to draw, the same for all traces in `all`, which have equal x
/// values. Up to `most` points per trace, all are drawn.
fn places(all: &[&[Point]], most: usize) -> Vec<usize> {
    let n_points = all[0].len();
    if n_points <= most {
        return (0..n_points).collect();
    }
    let most = if all.len() > 1 { most * TOGETHER } else { most };
    let n_stretches = (most / (OF_STRETCH * all.len())).max(1);
    let stretch = |index: usize| {
        let edge = |index: usize| index * n_points / n_stretches;
        let within = edge(index)..edge(index + 1);
        let telling = |points: &&[Point]| telling(&points[within.clone()]);
        let shown: BTreeSet<usize> = all.iter().flat_map(telling).collect();
        shown.into_iter().map(move |at| within.start + at)
    };
    (0..n_stretches).flat_map(stretch).collect()
}

/// Returns the indices of the points that determine how a stretch of a trace looks: first, last,
/// lowest and highest value, lowest and highest end of an interval, and first gap.
fn telling(stretch: &[Point]) -> Vec<usize> {
    let value = |point: &Point| point.y;
    let low = |point: &Point| point.band.map(|band| band.0);
    let high = |point: &Point| point.band.map(|band| band.1);
    let kept = [
        Some(0),
        Some(stretch.len() - 1),
        stretch.iter().position(|point| point.y.is_none()),
        lowest(stretch, &value, 1.0),
        lowest(stretch, &value, -1.0),
        lowest(stretch, &low, 1.0),
        lowest(stretch, &high, -1.0),
    ];
    kept.into_iter().flatten().collect()
}

/// Returns the index of the point with the lowest value, or with the highest if `sign` is -1;
/// `None` if no point has a value.
fn lowest(stretch: &[Point], value: &dyn Fn(&Point) -> Option<f64>, sign: f64) -> Option<usize> {
    let known = stretch.iter().enumerate().filter_map(|(i, point)| Some((i, sign * value(point)?)));
    known.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use model::{Rng, Stream};

    use super::*;
    use crate::charts::Shape;

    fn trace(points: Vec<Point>) -> Trace {
        Trace { name: String::new(), shape: Shape::Line, points, shares: None, place: None }
    }

    fn drawn(n_points: usize, seed: u64) -> Vec<Point> {
        let mut rng = Rng::new(seed, Stream::Order, 0);
        let mut unit = || rng.bits() as f64 / u64::MAX as f64;
        let point = |x: usize| {
            let y = (unit() > 0.01).then(|| unit().powi(9) * 1e4);
            Point { x: x as f64, y, band: y.map(|y| (y * unit(), y * 2.0)), label: None }
        };
        (0..n_points).map(point).collect()
    }

    #[test]
    fn the_worst_of_every_stretch_is_kept_and_little_else() {
        for (n_points, most) in [(1_500, 1_000), (3_600, 1_000), (86_400, 600), (500, 7)] {
            let traces = [trace(drawn(n_points, n_points as u64))];
            let (all, kept) = (&traces[0].points, decimate(&traces, most).remove(0));
            assert!(kept.len() <= most, "{} of at most {most}", kept.len());
            assert!(kept.windows(2).all(|two| two[0].x < two[1].x), "in their order");
            assert!(kept.iter().all(|point| all[point.x as usize] == **point), "none made up");
            let n_stretches = most / OF_STRETCH;
            for index in 0..n_stretches {
                let edge = |index: usize| index * n_points / n_stretches;
                let within = edge(index) as f64..edge(index + 1) as f64;
                let most_of = |points: &mut dyn Iterator<Item = &Point>, sign: f64| {
                    let values = points.filter(|p| within.contains(&p.x)).filter_map(|p| p.y);
                    values.map(|y| sign * y).fold(f64::NEG_INFINITY, f64::max)
                };
                for sign in [1.0, -1.0] {
                    let of_all = most_of(&mut all.iter(), sign);
                    let of_kept = most_of(&mut kept.iter().copied(), sign);
                    assert_eq!(of_all.to_bits(), of_kept.to_bits(), "stretch {index}");
                }
                let is_gap = |point: &Point| within.contains(&point.x) && point.y.is_none();
                let of_kept = kept.iter().any(|point| is_gap(point));
                assert_eq!(all.iter().any(is_gap), of_kept, "stretch {index}");
            }
        }
    }

    #[test]
    fn what_is_not_too_much_is_drawn_as_it_is() {
        let traces = [trace(drawn(1_000, 5)), trace(Vec::new())];
        let kept = decimate(&traces, 1_000);
        assert_eq!(kept, [traces[0].points.iter().collect::<Vec<_>>(), Vec::new()]);
    }

    #[test]
    fn traces_with_the_same_places_keep_the_same_ones() {
        let short = trace(drawn(2, 3));
        let traces = [trace(drawn(9_000, 1)), short, trace(drawn(9_000, 2))];
        let kept = decimate(&traces, 700);
        let places = |index: usize| kept[index].iter().map(|point| point.x).collect::<Vec<f64>>();
        assert_eq!(places(0), places(2));
        assert!(places(0).len() <= 700 * TOGETHER && places(1).len() == 2);
        for (trace, kept) in traces.iter().zip(&kept) {
            let most = |all: &mut dyn Iterator<Item = &Point>| {
                all.filter_map(|point| point.y).fold(f64::NEG_INFINITY, f64::max)
            };
            let of_all = most(&mut trace.points.iter());
            assert_eq!(of_all.to_bits(), most(&mut kept.iter().copied()).to_bits());
        }
    }
}
