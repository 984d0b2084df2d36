//! Fewer points that look like all of them: the first, the last, the lowest and the highest of
//! each stretch (M4: Jugel and others, Proc. VLDB Endow. 7, 797, 2014), with the ends of their
//! bands and a gap if there is one. The worst second is never hidden.

use crate::charts::Point;

/// A stretch is drawn by so many points at most.
const OF_STRETCH: usize = 7;

/// At most `most` of the points, in their order; all of them if they are no more.
pub(super) fn thin(points: &[Point], most: usize) -> Vec<&Point> {
    if points.len() <= most {
        return points.iter().collect();
    }
    let n_stretches = (most / OF_STRETCH).max(1);
    let stretch = |index: usize| {
        let edge = |index: usize| index * points.len() / n_stretches;
        telling(&points[edge(index)..edge(index + 1)])
    };
    (0..n_stretches).flat_map(stretch).collect()
}

/// The points of a stretch that say all that an eye can see of it.
fn telling(stretch: &[Point]) -> Vec<&Point> {
    let value = |point: &Point| point.y;
    let low = |point: &Point| point.band.map(|band| band.0);
    let high = |point: &Point| point.band.map(|band| band.1);
    let mut kept = vec![
        Some(0),
        Some(stretch.len() - 1),
        stretch.iter().position(|point| point.y.is_none()),
        lowest(stretch, &value, 1.0),
        lowest(stretch, &value, -1.0),
        lowest(stretch, &low, 1.0),
        lowest(stretch, &high, -1.0),
    ];
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().flatten().map(|index| &stretch[index]).collect()
}

/// Where a value is lowest; with a `sign` of -1 where it is highest.
fn lowest(stretch: &[Point], of: &dyn Fn(&Point) -> Option<f64>, sign: f64) -> Option<usize> {
    let known = stretch.iter().enumerate().filter_map(|(i, point)| Some((i, sign * of(point)?)));
    known.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Dice, Stream};

    fn drawn(n_points: usize, seed: u64) -> Vec<Point> {
        let mut dice = Dice::new(seed, Stream::Order, 0);
        let mut unit = || dice.bits() as f64 / u64::MAX as f64;
        let point = |x: usize| {
            let y = (unit() > 0.01).then(|| unit().powi(9) * 1e4);
            Point { x: x as f64, y, band: y.map(|y| (y * unit(), y * 2.0)), label: None }
        };
        (0..n_points).map(point).collect()
    }

    #[test]
    fn the_worst_of_every_stretch_is_kept_and_little_else() {
        for (n_points, most) in [(1_500, 1_000), (3_600, 1_000), (86_400, 600), (500, 7)] {
            let all = drawn(n_points, n_points as u64);
            let kept = thin(&all, most);
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
        let all = drawn(1_000, 5);
        assert_eq!(thin(&all, 1_000), all.iter().collect::<Vec<_>>());
        assert_eq!(thin(&[], 10), Vec::<&Point>::new());
    }
}
