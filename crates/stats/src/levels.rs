//! Components of variance of results that are repeated at several levels: between runs of one
//! server start, between starts, between builds of the data.
//!
//! A nested design with random effects (T. Kalibera and R. Jones, "Rigorous benchmarking in
//! reasonable time", ISMM 2013): a result is the mean, plus what a build, a restart and a run add,
//! each with a variance of its own. The components are those of the analysis of variance, which are
//! unbiased even if trials were lost (C. R. Henderson, Biometrics 9, 226, 1953, method 1). Results
//! are divided by the mean of their point (configuration), so that points can be pooled. Not here:
//! what a restart is, and the cost of a repeat.

use crate::{POWER, students_t};

/// Number of levels at which a measurement is repeated: runs within a restart of the server,
/// restarts within a build of the data, and builds.
pub const LEVELS: usize = 3;
/// Limit on the number of repeats of a level, within one unit of the next higher level, that is
/// tried in the search for a design; more hardly add information.
const WITHIN_MOST: usize = 20;
/// Limit on the number of repeats of the highest level that is tried in the search for a design.
const UNITS_MOST: usize = 1_000;

/// Result of one run, with the build of the data and the restart of the server in which it was
/// measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nested {
    /// Index of the build of the data in which the run was made.
    pub build: u32,
    /// Index of the server's restart within the build of the data.
    pub restart: u32,
    /// Result of the run, in any unit.
    pub figure: f64,
}

/// Variance that one level of repeats (runs, restarts or builds) adds to results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Component {
    /// Variance as a squared share of the mean: 0.0001 is a standard deviation of 1 %. 0 if the
    /// estimate is negative.
    pub variance: f64,
    /// Degrees of freedom of the variance: number of repeats of this level, minus the first one
    /// within each unit of the next higher level.
    pub freedom: usize,
    /// Whether the estimate of the variance is negative, because the lower levels alone explain the
    /// variation.
    pub is_negative: bool,
}

/// Variance components from the lowest level up: runs, restarts, builds. `None` for a level that is
/// not repeated.
pub type Components = [Option<Component>; LEVELS];

/// Estimates the variance components of nested results, pooled over points (measured
/// configurations). Each element of `points` has the results of one point; a point with fewer than
/// two results, or with a mean of 0, is skipped.
pub fn components(points: &[Vec<Nested>]) -> Components {
    // Sums of squares and, by level, the coefficients of the components in their expectations.
    let mut squares = [0.0; LEVELS];
    let mut coefficients = [[0.0; LEVELS]; LEVELS];
    let mut freedom = [0; LEVELS];
    for point in points {
        let mean = point.iter().map(|one| one.figure).sum::<f64>() / point.len() as f64;
        if point.len() < 2 || mean == 0.0 || !mean.is_finite() {
            continue;
        }
        let tree: [Vec<Vec<f64>>; LEVELS + 1] =
            std::array::from_fn(|level| units(point, level, mean));
        for level in 0..LEVELS {
            squares[level] += between(&tree[level]) - between(&tree[level + 1]);
            freedom[level] += tree[level].len() - tree[level + 1].len();
            let of_level = coefficients[level].iter_mut().enumerate().take(level + 1);
            of_level.for_each(|(lower, coefficient)| {
                *coefficient +=
                    shared(point, lower, level, mean) - shared(point, lower, level + 1, mean);
            });
        }
    }
    let mut found: Components = [None; LEVELS];
    let mut solved = [0.0; LEVELS];
    for level in 0..LEVELS {
        if freedom[level] == 0 {
            continue;
        }
        let below: f64 = (0..level).map(|lower| coefficients[level][lower] * solved[lower]).sum();
        let variance = (squares[level] - below) / coefficients[level][level];
        solved[level] = variance;
        found[level] = Some(Component {
            variance: variance.max(0.0),
            freedom: freedom[level],
            is_negative: variance < 0.0,
        });
    }
    found
}

/// Groups the results of a point, divided by its mean, by the units of a level: 0 for runs, 1 for
/// restarts, 2 for builds, 3 for the whole point.
fn units(point: &[Nested], level: usize, mean: f64) -> Vec<Vec<f64>> {
    let mut sorted: Vec<(usize, &Nested)> = point.iter().enumerate().collect();
    sorted.sort_by_key(|(index, one)| (one.build, one.restart, *index));
    let is_same = |a: &(usize, &Nested), b: &(usize, &Nested)| match level {
        0 => false,
        1 => (a.1.build, a.1.restart) == (b.1.build, b.1.restart),
        2 => a.1.build == b.1.build,
        _ => true,
    };
    let shares_of =
        |unit: &[(usize, &Nested)]| unit.iter().map(|(_, one)| one.figure / mean).collect();
    sorted.chunk_by(is_same).map(shares_of).collect()
}

/// Returns the uncorrected sum of squares between units: the squared sum of each unit divided by
/// its size, summed over units.
fn between(units: &[Vec<f64>]) -> f64 {
    units.iter().map(|unit| unit.iter().sum::<f64>().powi(2) / unit.len() as f64).sum()
}

/// Returns the coefficient that the component of level `lower` has in the expectation of
/// [`between`] for `level`: for each unit, the sum of the squared sizes of its lower units divided
/// by its own size, summed over units.
fn shared(point: &[Nested], lower: usize, level: usize, mean: f64) -> f64 {
    let sizes = |level| units(point, level, mean).into_iter().map(|unit| unit.len());
    let mut lowers = sizes(lower);
    let squares_within = |size: usize| {
        let (mut left, mut sum) = (size, 0.0);
        while left > 0 {
            let within = lowers.next().expect("lower units fill the higher ones");
            left -= within;
            sum += (within * within) as f64;
        }
        sum / size as f64
    };
    sizes(level).map(squares_within).sum()
}

/// Number of repeats per level: runs per restart, restarts per build, and builds; 1 for a level
/// that is not repeated.
pub type Design = [usize; LEVELS];

/// Returns the variance that the mean of a point has with this design, as a squared share of the
/// mean.
fn variance_of(found: &Components, design: Design) -> f64 {
    let mut units = 1.0;
    let mut sum = 0.0;
    for level in (0..LEVELS).rev() {
        units *= design[level] as f64;
        sum += found[level].map_or(0.0, |component| component.variance) / units;
    }
    sum
}

/// Returns the cost of a design for one point, where `costs` are those of a run, a restart and a
/// build, each in addition to the repeats within it.
pub fn cost_of(design: Design, costs: [f64; LEVELS]) -> f64 {
    let [runs, restarts, builds] = design.map(|n| n as f64);
    builds * (costs[2] + restarts * (costs[1] + runs * costs[0]))
}

/// Returns the cheapest design that detects a relative `difference` between two points, at 5 %
/// significance and with probability [`POWER`]. `costs` are those of a run, a restart and a build.
/// `None` if too many repeats would be needed, or no component is known.
///
/// Below the highest repeated level, all numbers of repeats up to a limit are tried. The number at
/// the highest level follows from Student's t.
pub fn design_for(found: &Components, costs: [f64; LEVELS], difference: f64) -> Option<Design> {
    let top = (0..LEVELS).rev().find(|&level| found[level].is_some())?;
    let shift = difference.ln_1p();
    let is_enough = |design: Design| {
        let freedom = 2 * (design[top] - 1);
        let t = students_t(0.975, freedom) + students_t(POWER, freedom);
        t * (2.0 * variance_of(found, design)).sqrt() <= shift
    };
    let most = |level: usize| match found[level] {
        Some(_) if level < top => WITHIN_MOST,
        _ => 1,
    };
    let within =
        (1..=most(0)).flat_map(|runs| (1..=most(1)).map(move |restarts| [runs, restarts, 1]));
    let designs = within.filter_map(|mut design| {
        let at = |n: usize| {
            let mut design = design;
            design[top] = n;
            design
        };
        // More of the highest level are never less sure.
        let (mut low, mut high) = (2, UNITS_MOST);
        while low < high {
            let middle = low.midpoint(high);
            if is_enough(at(middle)) { high = middle } else { low = middle + 1 }
        }
        design[top] = low;
        is_enough(design).then_some(design)
    });
    designs.min_by(|a, b| cost_of(*a, costs).total_cmp(&cost_of(*b, costs)))
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::draw::normal;

    /// Draws the results of a point with this design, where `sd` has the standard deviations of
    /// runs, restarts and builds. The last `n_lost` runs are missing.
    fn drawn(
        design: Design,
        sd: [f64; LEVELS],
        n_lost: usize,
        random: &mut Xoshiro256PlusPlus,
    ) -> Vec<Nested> {
        let mut draw = |sd: f64| sd * normal(&mut || random.next_u64());
        let mut all = Vec::new();
        for build in 0..design[2] {
            let of_build = draw(sd[2]);
            for restart in 0..design[1] {
                let of_restart = draw(sd[1]);
                for _ in 0..design[0] {
                    let figure = 1_000.0 * (1.0 + of_build + of_restart + draw(sd[0]));
                    all.push(Nested { build: build as u32, restart: restart as u32, figure });
                }
            }
        }
        all.truncate(all.len() - n_lost);
        all
    }

    fn mean_variances(design: Design, sd: [f64; LEVELS], n_lost: usize) -> [f64; LEVELS] {
        let mut sums = [0.0; LEVELS];
        let n = 2_000;
        for seed in 0..n {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let found = components(&[drawn(design, sd, n_lost, &mut random)]);
            for (sum, component) in sums.iter_mut().zip(found) {
                let component = component.expect("every level is repeated");
                *sum += component.variance;
                // A negative component is reported as such and counts as 0.
                assert!(!component.is_negative || component.variance == 0.0);
            }
        }
        sums.map(|sum| sum / n as f64)
    }

    #[test]
    fn components_are_those_of_a_textbook() {
        // Two builds of two restarts of two runs: mean 100, deviations 1 of builds, 2 of restarts,
        // 0.5 of runs, all balanced.
        let mut all = Vec::new();
        for (build, b) in [(0, 1.0), (1, -1.0)] {
            for (restart, s) in [(0, 2.0), (1, -2.0)] {
                for r in [0.5, -0.5] {
                    all.push(Nested { build, restart, figure: 100.0 + b + s + r });
                }
            }
        }
        let [run, restart, build] =
            components(&[all]).map(|component| component.expect("repeated"));
        // Mean squares in percent: runs 8 × 0.25 / 4, restarts 8 × 4 / 2, builds 8 × 1 / 1.
        let near = |found: f64, percent: f64| (found * 1e4 - percent).abs() < 1e-9;
        assert!(near(run.variance, 0.5), "{run:?}");
        assert!(near(restart.variance, (16.0 - 0.5) / 2.0), "{restart:?}");
        assert_eq!((run.freedom, restart.freedom, build.freedom), (4, 2, 1));
        assert!(build.is_negative && build.variance == 0.0, "(8 - 16) / 4: {build:?}");
    }

    #[test]
    fn components_are_unbiased_with_lost_trials_too() {
        // Deviations of builds are so large that none is cut at 0.
        let sd = [0.01, 0.03, 0.10];
        for n_lost in [0, 3] {
            let found = mean_variances([3, 4, 5], sd, n_lost);
            for (found, sd) in found.iter().zip(sd) {
                let share = found / (sd * sd);
                assert!((share - 1.0).abs() < 0.06, "{share} of {sd}, {n_lost} lost");
            }
        }
    }

    #[test]
    fn a_level_that_is_not_repeated_has_no_component() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let found = components(&[drawn([5, 1, 1], [0.01, 0.0, 0.0], 0, &mut random)]);
        assert!(found[0].is_some() && found[1].is_none() && found[2].is_none(), "{found:?}");
        assert_eq!(components(&[]), [None; LEVELS]);
        assert_eq!(
            components(&[vec![Nested { build: 0, restart: 0, figure: 1.0 }]]),
            [None; LEVELS]
        );
    }

    #[test]
    fn a_design_finds_the_difference_that_it_is_for() {
        let known = |variance| Some(Component { variance, freedom: 10, is_negative: false });
        let sd = [0.01, 0.02, 0.0];
        let found = [known(sd[0] * sd[0]), known(sd[1] * sd[1]), None];
        let design = design_for(&found, [60.0, 10.0, 0.0], 0.03).expect("few are enough");
        // √(10 / 60 × 1 / 4) < 1 run of each restart.
        assert_eq!((design[0], design[2]), (1, 1));
        let mut n_found = 0;
        for seed in 0..1_000 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut side = |factor: f64| -> Vec<f64> {
                let all = drawn(design, sd, 0, &mut random);
                all.iter().map(|one| (one.figure * factor).ln()).collect()
            };
            let [one, two] =
                [side(1.0), side(1.03)].map(|figures| crate::mean(&figures, 0.95).expect("some"));
            let error = ((one.sd.powi(2) + two.sd.powi(2)) / design[1] as f64).sqrt();
            let t = students_t(0.975, 2 * (design[1] - 1));
            n_found += u32::from((two.value - one.value) / error > t);
        }
        // Four of five, or more by what a whole number of restarts adds.
        assert!((770..=900).contains(&n_found), "{n_found} with {design:?}");
    }

    #[test]
    fn cheap_runs_of_a_dear_restart_are_repeated() {
        let known = |variance| Some(Component { variance, freedom: 10, is_negative: false });
        let found = [known(4e-4), known(1e-4), None];
        let design = design_for(&found, [10.0, 160.0, 0.0], 0.02).expect("few are enough");
        // √(160 / 10 × 4) = 8, for whole numbers of restarts.
        assert!((7..=10).contains(&design[0]), "{design:?}");
        assert_eq!(design_for(&[None; LEVELS], [1.0; 3], 0.02), None);
        // Builds right above runs.
        let builds = design_for(&[known(4e-4), None, known(1e-4)], [10.0, 0.0, 160.0], 0.02);
        let builds = builds.expect("few are enough");
        assert!((7..=10).contains(&builds[0]) && builds[1] == 1, "{builds:?}");
    }

    #[test]
    fn no_more_is_spent_where_a_higher_level_adds_nothing() {
        let known = |variance| Some(Component { variance, freedom: 4, is_negative: true });
        let found = [known(0.013f64.powi(2)), known(0.0), None];
        let costs = [5.0, 2.0, 0.0];
        let design = design_for(&found, costs, 0.05).expect("few are enough");
        // Three single runs: (2.776 + 0.941) √(2 / 3) 1.3 % = 3.9 %, below ln 1.05.
        assert!(cost_of(design, costs) <= cost_of([1, 3, 1], costs), "{design:?}");
    }
}
