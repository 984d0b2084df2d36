//! Comparison of two small sets of runs: by how much the results of the second differ from those of
//! the first, and how significantly.
//!
//! Two tests have to agree. The test of ranks is exact and needs no model of the errors: that of
//! Mann and Whitney (Ann. Math. Stat. 18, 50, 1947), over all ways of dividing the same results,
//! ties included, between two sets; for pairs Wilcoxon's signed ranks (Biometrics Bull. 1, 80,
//! 1945), over all signs. The test of means allows each set its own variance: Welch's (Biometrika
//! 34, 28, 1947), with the fewest degrees of freedom that the variances leave likely; for pairs
//! Student's. The p-value is the larger of both: a few results that vary much often lie outside of
//! many that vary little, which ranks alone take for a difference.
//!
//! The effect is the difference of the means, which readers can compute from the two means. If a
//! result is infinite, it is the median of the differences of all pairs of results, one of each
//! set, or for paired results of the means of all pairs of differences (Hodges and Lehmann, Ann.
//! Math. Stat. 34, 598, 1963). Its interval contains those of both tests, so it excludes zero only
//! if both do. Ranks of three against three are never significant: such sets are judged by means
//! alone, at a fifth of the error rate. Each result must be that of a whole run, since values
//! within a run depend on each other. Not here: which direction is better, or which size of a
//! difference matters.

use statrs::distribution::{ContinuousCDF, FisherSnedecor, StudentsT};

use crate::students_t;

/// Limit on the results of runs in each of the two sets of a [`Comparison`]; more give
/// [`Incomparable::TooMany`]. The exact test of 100 results takes a second and 30 MB.
pub const FIGURES_MAX: usize = 100;
/// Power of tests: the probability with which they find a difference of [`detectable`] size.
pub const POWER: f64 = 0.8;
/// Asymptotic efficiency of rank tests relative to Student's t for normal errors: 3/pi (Hodges and
/// Lehmann, Ann. Math. Stat. 27, 324, 1956).
const EFFICIENCY: f64 = 3.0 / std::f64::consts::PI;

/// Confidence of the bounds on the ratio of two variances, which determine the degrees of freedom.
/// Of 0.75, 0.85, 0.9 and 0.95, this is the lowest that keeps error rates of 5 to 0.25 % (in 22
/// pairs of set sizes and variances); it costs 0.02 of the power of 0.56 with five results per set.
const SPREAD_CONFIDENCE: f64 = 0.9;

/// Smallest number of results per set for a test by means alone: two results may be close by
/// chance.
const BY_MEANS_MIN: usize = 3;
/// Factor on the error rate of a test by means alone. It is stricter than a test by ranks, because
/// it relies on normal errors.
const BY_MEANS_ERROR: f64 = 0.2;

/// Result of comparing two sets of runs, such as the throughputs of two versions: the difference,
/// second minus first, in the unit of the results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Difference of the means, or mean difference of pairs. If a result is infinite, the median of
    /// all differences between results of the two sets (Hodges and Lehmann).
    pub shift: f64,
    /// Confidence interval of the difference `shift`, low and high.
    pub interval: (f64, f64),
    /// Actual confidence of `interval`. It is at least the requested one, because ranks allow only
    /// certain values, and exact if no results are equal.
    pub confidence: f64,
    /// p-value of the test whether the two sets differ, to be compared with 1 minus the requested
    /// confidence. If means alone were tested, it is five times the p-value of that test, at most
    /// 1, because that test has to meet a stricter error rate.
    pub p: f64,
    /// Whether only means were tested, because the two sets have too few results for a test by
    /// ranks.
    pub is_by_means: bool,
}

/// Reason why two sets of results cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomparable {
    /// There are too few results for a test by ranks to be significant.
    TooFew {
        /// Number of results that each set needs if both have the same number; for pairs, the
        /// number of pairs.
        needed: usize,
        /// Number of results in the smaller set, or number of pairs.
        have: usize,
    },
    /// A result is NaN, which has no rank.
    NoNumber,
    /// A set has more than [`FIGURES_MAX`] results.
    TooMany,
}

impl Comparison {
    /// Compares two sets of results by ranks and by means, with an interval of at least the
    /// confidence `confidence`, which must be between 1/2 and 1. The difference is significant if
    /// `p` is below `1 - confidence`. Results may be infinite: they have ranks, and the difference
    /// of two equal infinities is 0. Fails for NaN, and for too few or too many results.
    pub fn new(first: &[f64], second: &[f64], confidence: f64) -> Result<Comparison, Incomparable> {
        assert!(confidence > 0.5 && confidence < 1.0, "a confidence lies between 1/2 and 1");
        if first.iter().chain(second).any(|figure| figure.is_nan()) {
            return Err(Incomparable::NoNumber);
        }
        let (n, m) = (first.len(), second.len());
        if n.max(m) > FIGURES_MAX {
            return Err(Incomparable::TooMany);
        }
        let chances = untied(n, m);
        let cut = cut(&chances, (1.0 - confidence) / 2.0);
        let mut all: Vec<f64> =
            first.iter().flat_map(|a| second.iter().map(move |b| difference(*a, *b))).collect();
        all.sort_by(f64::total_cmp);
        let is_finite = first.iter().chain(second).all(|figure| figure.is_finite());
        let Some((cut, tail)) = cut else {
            let have = n.min(m);
            return match is_finite && have >= BY_MEANS_MIN {
                true => Ok(Comparison::by_means(&Means::new(first, second), confidence)),
                false => Err(Incomparable::TooFew { needed: needed(1.0 - confidence), have }),
            };
        };
        let means =
            if is_finite { Means::new(first, second) } else { Means::of_ranks(first, second) };
        let p = p_value(first, second).max(means.p());
        let of_means = is_finite.then(|| (means.shift, means.interval(confidence)));
        Ok(Comparison::agreed(&all, (cut, tail), p, of_means))
    }

    /// Compares pairs of results by their differences, second minus first. Such pairs come from
    /// repeats in which both systems are measured one after the other, so that a drift over the
    /// repeats cancels out. Fails for NaN, for fewer than [`pairs_needed`] and for more than
    /// [`FIGURES_MAX`] pairs.
    pub fn of_pairs(differences: &[f64], confidence: f64) -> Result<Comparison, Incomparable> {
        assert!(confidence > 0.5 && confidence < 1.0, "a confidence lies between 1/2 and 1");
        if differences.iter().any(|difference| difference.is_nan()) {
            return Err(Incomparable::NoNumber);
        }
        let n = differences.len();
        if n > FIGURES_MAX {
            return Err(Incomparable::TooMany);
        }
        let ranks: Vec<usize> = (1..=n).collect();
        let Some((cut, tail)) = cut(&signed(&ranks), (1.0 - confidence) / 2.0) else {
            return Err(Incomparable::TooFew { needed: pairs_needed(1.0 - confidence), have: n });
        };
        let mut all: Vec<f64> = Vec::with_capacity(n * (n + 1) / 2);
        for (index, a) in differences.iter().enumerate() {
            let mean = |b: &f64| if a == b { *a } else { f64::midpoint(*a, *b) };
            // Two infinite differences with opposite signs cancel out, so nothing is known.
            let known = |mean: f64| if mean.is_nan() { 0.0 } else { mean };
            all.extend(differences[index..].iter().map(|b| known(mean(b))));
        }
        all.sort_by(f64::total_cmp);
        let is_finite = all.iter().all(|one| one.is_finite());
        let means = Means::of_one(&if is_finite {
            differences.to_vec()
        } else {
            signed_ranks(differences)
        });
        let p = signs_p_value(differences).max(means.p());
        let of_means = is_finite.then(|| (means.shift, means.interval(confidence)));
        Ok(Comparison::agreed(&all, (cut, tail), p, of_means))
    }

    /// Compares two sets by means alone, because they are too small for ranks.
    fn by_means(means: &Means, confidence: f64) -> Comparison {
        let error = BY_MEANS_ERROR * (1.0 - confidence);
        Comparison {
            shift: means.shift,
            interval: means.interval(1.0 - error),
            confidence: 1.0 - error,
            p: (means.p() / BY_MEANS_ERROR).min(1.0),
            is_by_means: true,
        }
    }

    /// Combines the results of the tests by ranks and by means into one; the interval covers both
    /// intervals. The interval by ranks ends at `cut` from either end of the sorted differences
    /// `all`, with a probability of `tail` beyond each end. `of_means` is the difference of means
    /// with its interval; `None` if results are infinite.
    fn agreed(
        all: &[f64],
        (cut, tail): (usize, f64),
        p: f64,
        of_means: Option<(f64, (f64, f64))>,
    ) -> Comparison {
        let last = all.len() - 1;
        let of_ranks = (all[cut], all[last - cut]);
        let (shift, of_means) = of_means.unwrap_or_else(|| (middle(all), of_ranks));
        Comparison {
            shift,
            interval: (of_means.0.min(of_ranks.0), of_means.1.max(of_ranks.1)),
            confidence: 1.0 - 2.0 * tail,
            p,
            is_by_means: false,
        }
    }
}

/// Returns one-sided bounds of the difference of two means (Welch), lower and upper: the true
/// difference lies beyond each with a probability of at most 1 − `confidence`. `None` if a result
/// is not finite, or a set has fewer than [`BOUNDS_MIN`].
pub fn bounds(first: &[f64], second: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let is_known = |side: &[f64]| side.len() >= BOUNDS_MIN && side.iter().all(|x| x.is_finite());
    let means = (is_known(first) && is_known(second)).then(|| Means::new(first, second))?;
    Some(means.interval(2.0 * confidence - 1.0))
}

/// Returns one-sided bounds of the mean of the differences of pairs (Student), lower and upper: the
/// true mean lies beyond each with a probability of at most 1 − `confidence`. `None` if a
/// difference is not finite, or there are fewer than [`BOUNDS_MIN`].
pub fn bounds_of_pairs(differences: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let is_known = differences.len() >= BOUNDS_MIN && differences.iter().all(|x| x.is_finite());
    is_known.then(|| Means::of_one(differences).interval(2.0 * confidence - 1.0))
}

/// Returns the confidence interval of the ratio of two sums of means, second divided by first, each
/// given by its sets of results: Student's t of the logarithms of both sums (delta method), so the
/// interval contains the ratio. `None` if a set has fewer than [`BOUNDS_MIN`] results, a result is
/// not finite, or a sum is not positive.
pub fn ratio_of_means(first: &[&[f64]], second: &[&[f64]], confidence: f64) -> Option<(f64, f64)> {
    let is_known =
        |set: &&[f64]| set.len() >= BOUNDS_MIN && set.iter().all(|result| result.is_finite());
    if first.is_empty() || !first.iter().chain(second).all(is_known) {
        return None;
    }
    // Sum, relative variance, and its square divided by the degrees of freedom (Satterthwaite).
    let sum = |sets: &[&[f64]]| {
        let all: Vec<(f64, f64)> = sets.iter().map(|set| moments(set)).collect();
        let sum: f64 = all.iter().map(|(mean, _)| mean).sum();
        let parts = all.iter().zip(sets).map(|((_, variance), set)| {
            let part = variance / set.len() as f64 / (sum * sum);
            (part, part * part / (set.len() as f64 - 1.0))
        });
        parts.fold((sum, 0.0, 0.0), |all, part| (all.0, all.1 + part.0, all.2 + part.1))
    };
    let (a, b) = (sum(first), sum(second));
    let (variance, squares) = (a.1 + b.1, a.2 + b.2);
    if !(a.0 > 0.0 && b.0 > 0.0 && variance.is_finite()) {
        return None;
    }
    let freedom = if squares > 0.0 { (variance * variance / squares).max(1.0) } else { 1.0 };
    let means = Means { shift: (b.0 / a.0).ln(), error: variance.sqrt(), freedom };
    let (low, high) = means.interval(confidence);
    Some((low.exp(), high.exp()))
}

/// Smallest number of results per set for [`bounds`]: two results may be close by chance.
pub const BOUNDS_MIN: usize = 3;

/// Returns the median of sorted values, which may be infinite.
fn middle(sorted: &[f64]) -> f64 {
    let last = sorted.len() - 1;
    let (low, high) = (sorted[last / 2], sorted[last.div_ceil(2)]);
    if low == high { low } else { f64::midpoint(low, high) }
}

/// Returns `b - a`, or 0 if both are the same infinity.
pub fn difference(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { b - a }
}

/// Difference of two means, with its standard error and degrees of freedom.
#[derive(Clone, Copy, Debug)]
struct Means {
    shift: f64,
    error: f64,
    freedom: f64,
}

impl Means {
    /// Compares the means of two sets with separate variances (Welch).
    ///
    /// Welch's degrees of freedom are those of the observed variances. If the set that varies more
    /// has few results that happen to be close, they are too many just when the error is too small:
    /// at an error rate of 0.25 %, as corrections for many comparisons require, three or four such
    /// results against twenty differ significantly two to four times too often. So the ratio of the
    /// variances is varied by [`SPREAD_CONFIDENCE`] of Fisher's F in both directions, and the
    /// smallest degrees of freedom apply.
    fn new(first: &[f64], second: &[f64]) -> Means {
        let (a, b) = (moments(first), moments(second));
        let [v, w] = [a.1 / first.len() as f64, b.1 / second.len() as f64];
        let below = [first, second].map(|side| (side.len() as f64 - 1.0).max(1.0));
        let of_ratio = |more: f64| {
            let (v, w) = (more * v, w);
            let freedom = (v + w).powi(2) / (v * v / below[0] + w * w / below[1]);
            if freedom.is_nan() { 1.0 } else { freedom.max(1.0) }
        };
        let away = FisherSnedecor::new(below[0], below[1]);
        let away = away.map_or([1.0, 1.0], |f| {
            [f.inverse_cdf(SPREAD_CONFIDENCE), f.inverse_cdf(1.0 - SPREAD_CONFIDENCE)]
        });
        let freedom =
            away.map(|away| of_ratio(1.0 / away)).into_iter().fold(of_ratio(1.0), f64::min);
        Means { shift: b.0 - a.0, error: (v + w).sqrt(), freedom }
    }

    /// Compares two sets by the means of the ranks that their results have among all results.
    /// Infinite results have ranks, too.
    fn of_ranks(first: &[f64], second: &[f64]) -> Means {
        let rank = |x: &f64| {
            let all = || first.iter().chain(second);
            let (below, same) =
                (all().filter(|y| *y < x).count(), all().filter(|y| *y == x).count());
            below as f64 + (same as f64 + 1.0) / 2.0
        };
        let ranks = |side: &[f64]| side.iter().map(rank).collect::<Vec<f64>>();
        Means::new(&ranks(first), &ranks(second))
    }

    /// Tests whether the mean of the differences of pairs is 0 (Student).
    fn of_one(differences: &[f64]) -> Means {
        let n = differences.len() as f64;
        let (mean, variance) = moments(differences);
        Means { shift: mean, error: (variance / n).sqrt(), freedom: (n - 1.0).max(1.0) }
    }

    fn p(&self) -> f64 {
        let t = (self.shift / self.error).abs();
        match StudentsT::new(0.0, 1.0, self.freedom) {
            _ if self.shift == 0.0 => 1.0,
            _ if self.error == 0.0 => 0.0,
            Ok(distribution) if t.is_finite() => 2.0 * distribution.sf(t),
            _ => 1.0,
        }
    }

    fn interval(&self, confidence: f64) -> (f64, f64) {
        let distribution = StudentsT::new(0.0, 1.0, self.freedom);
        let t = distribution.map_or(0.0, |t| t.inverse_cdf(1.0 - (1.0 - confidence) / 2.0));
        (self.shift - t * self.error, self.shift + t * self.error)
    }
}

/// Returns mean and sample variance; the mean is NaN if there are no values.
fn moments(figures: &[f64]) -> (f64, f64) {
    // Sums of equal figures are rounded, but their variance is exactly 0.
    if figures.windows(2).all(|two| two[0] == two[1]) {
        return (figures.first().copied().unwrap_or(f64::NAN), 0.0);
    }
    let n = figures.len() as f64;
    let mean = figures.iter().sum::<f64>() / n;
    let squares = figures.iter().map(|figure| (figure - mean).powi(2)).sum::<f64>();
    (mean, squares / (n - 1.0).max(1.0))
}

/// Returns p-values corrected for multiple tests, in the given order (G. Hommel, Biometrika 75,
/// 383, 1988: the closed test of Simes). Hypotheses whose corrected p-value is below an error rate
/// may be rejected together: the probability of any false rejection is at most that rate if the
/// tests are independent or positively dependent. No corrected value is above that of Holm; if all
/// are small, none is raised.
pub fn hommel(p_values: &[f64]) -> Vec<f64> {
    let n = p_values.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let sorted: Vec<f64> = order.iter().map(|&index| p_values[index]).collect();
    let simes = |part: &[f64], from: usize, size: usize| {
        let ranked = part.iter().zip(from..);
        ranked.map(|(p, rank)| size as f64 * p / rank as f64).fold(1.0, f64::min)
    };
    let mut corrected = vec![simes(&sorted, 1, n); n];
    for size in (2..n).rev() {
        // The smallest hypothesis of `size` that may hold one of the first ones has the largest
        // p-values of all beside it.
        let (first, rest) = sorted.split_at(n - size + 1);
        let least = simes(rest, 2, size);
        let of_rest = least.min(size as f64 * first[n - size]);
        for (place, p) in corrected.iter_mut().enumerate() {
            let here = sorted[place];
            let of_size = if place <= n - size { least.min(size as f64 * here) } else { of_rest };
            *p = p.max(of_size);
        }
    }
    let mut given = vec![1.0; n];
    for (place, index) in order.into_iter().enumerate() {
        given[index] = corrected[place].max(sorted[place]).min(1.0);
    }
    given
}

/// Returns the smallest number of results per set with which a test by ranks can be significant at
/// the error rate `error`.
pub fn needed(error: f64) -> usize {
    let mut orders = 1.0;
    (1..=FIGURES_MAX)
        .find(|&n| {
            // C(2n, n) from C(2n - 2, n - 1).
            orders *= (2 * n) as f64 * (2 * n - 1) as f64 / (n * n) as f64;
            2.0 / orders <= error * (1.0 + 1e-9)
        })
        .unwrap_or(FIGURES_MAX)
}

/// Returns the probability of each value of Mann and Whitney's U, from 0 to nm, if the two sets do
/// not differ and no results are equal (by their recursion). U is the number of pairs, one result
/// of each set, in which the first set has the larger one.
fn untied(n: usize, m: usize) -> Vec<f64> {
    // chances[j] is the distribution for i figures on the first side and j on the second.
    let mut chances: Vec<Vec<f64>> = vec![vec![1.0]; m + 1];
    for i in 1..=n {
        let mut next = vec![vec![1.0]];
        for j in 1..=m {
            let share = i as f64 / (i + j) as f64;
            let mut here = vec![0.0; i * j + 1];
            // The largest of all is of the first side, above j others; or of the second.
            for (u, chance) in chances[j].iter().enumerate() {
                here[u + j] += share * chance;
            }
            for (u, chance) in next[j - 1].iter().enumerate() {
                here[u] += (1.0 - share) * chance;
            }
            next.push(here);
        }
        chances = next;
    }
    chances.swap_remove(m)
}

/// Returns the largest value of a test statistic whose lower tail is at most `tail`, and the
/// probability of that tail, given the probability of each value from 0 on; `None` if even the
/// probability of 0 exceeds `tail`.
fn cut(chances: &[f64], tail: f64) -> Option<(usize, f64)> {
    let mut sum = 0.0;
    let mut found = None;
    for (u, chance) in chances.iter().enumerate() {
        sum += chance;
        if sum > tail * (1.0 + 1e-9) {
            break;
        }
        found = Some((u, sum));
    }
    found
}

/// Returns the exact two-sided p-value of the rank test: over all ways of dividing these results
/// between two sets, the probability of a rank sum as far from its mean as the observed one. Ranks
/// are doubled, so that those of ties are integers.
fn p_value(first: &[f64], second: &[f64]) -> f64 {
    let n = first.len();
    let mut all: Vec<(f64, bool)> = first
        .iter()
        .map(|figure| (*figure, true))
        .chain(second.iter().map(|figure| (*figure, false)))
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut ranks = Vec::with_capacity(all.len());
    let mut observed = 0;
    for tied in all.chunk_by(|a, b| a.0 == b.0) {
        // Ranks from..=to have the mean (from + to) / 2.
        let doubled = 2 * ranks.len() + tied.len() + 1;
        observed += doubled * tied.iter().filter(|(_, is_first)| *is_first).count();
        ranks.extend(std::iter::repeat_n(doubled, tied.len()));
    }
    // chances[k][s] is the probability that k values in the first set have doubled ranks with the
    // sum s.
    let highest: usize = ranks.iter().sum();
    let mut chances = vec![vec![0.0; highest + 1]; n + 1];
    chances[0][0] = 1.0;
    let mut reached = 0;
    for (dealt, &rank) in ranks.iter().enumerate() {
        reached += rank;
        for k in (1..=n.min(dealt + 1)).rev() {
            let (fewer, here) = chances.split_at_mut(k);
            for sum in (rank..=reached).rev() {
                here[0][sum] += fewer[k - 1][sum - rank];
            }
        }
        // Kept near 1, however many ways there are.
        if dealt % 64 == 63 {
            chances.iter_mut().flatten().for_each(|ways| *ways *= 0.5_f64.powi(64));
        }
    }
    let mean = (n * (all.len() + 1)) as f64;
    let far = (observed as f64 - mean).abs() - 1e-6;
    let (mut beyond, mut whole) = (0.0, 0.0);
    for (sum, ways) in chances[n].iter().enumerate() {
        whole += ways;
        if (sum as f64 - mean).abs() >= far {
            beyond += ways;
        }
    }
    (beyond / whole).min(1.0)
}

/// Returns the smallest number of pairs with which differences of equal sign are significant at the
/// error rate `error`.
pub fn pairs_needed(error: f64) -> usize {
    let is_enough = |n: &usize| 2.0 * 0.5_f64.powi(*n as i32) <= error * (1.0 + 1e-9);
    (1..=FIGURES_MAX).find(is_enough).unwrap_or(FIGURES_MAX)
}

/// Returns the probability of each sum of positive ranks, from 0 up, if the sign of every rank is
/// random.
fn signed(ranks: &[usize]) -> Vec<f64> {
    let mut chances = vec![1.0];
    for &rank in ranks {
        let mut next = vec![0.0; chances.len() + rank];
        for (sum, chance) in chances.iter().enumerate() {
            next[sum] += chance / 2.0;
            next[sum + rank] += chance / 2.0;
        }
        chances = next;
    }
    chances
}

/// Returns twice the rank of each non-zero difference by absolute value, so that the mean ranks of
/// ties are integers.
fn doubled_ranks(differences: &[f64]) -> Vec<usize> {
    let sizes = || differences.iter().map(|one| one.abs()).filter(|size| *size > 0.0);
    let rank = |size: f64| {
        let below = sizes().filter(|other| *other < size).count();
        let same = sizes().filter(|other| *other == size).count();
        2 * below + same + 1
    };
    sizes().map(rank).collect()
}

/// Returns the rank of each difference by absolute value, with the sign of the difference; 0 for a
/// difference of 0.
fn signed_ranks(differences: &[f64]) -> Vec<f64> {
    let mut ranks = doubled_ranks(differences).into_iter();
    let signed_rank = |one: &f64| match *one == 0.0 {
        true => 0.0,
        false => one.signum() * ranks.next().expect("one for each") as f64 / 2.0,
    };
    differences.iter().map(signed_rank).collect()
}

/// Returns the exact two-sided p-value of Wilcoxon's signed ranks, over all signs of these
/// differences.
fn signs_p_value(differences: &[f64]) -> f64 {
    let ranks = doubled_ranks(differences);
    let signs = differences.iter().filter(|one| **one != 0.0);
    let observed: usize =
        ranks.iter().zip(signs).filter(|(_, one)| **one > 0.0).map(|(rank, _)| rank).sum();
    let mean = ranks.iter().sum::<usize>() as f64 / 2.0;
    let far = (observed as f64 - mean).abs() - 1e-6;
    let is_as_far = |sum: usize| (sum as f64 - mean).abs() >= far;
    let chances = signed(&ranks).into_iter().enumerate();
    chances.filter(|(sum, _)| is_as_far(*sum)).map(|(_, chance)| chance).sum::<f64>().min(1.0)
}

/// Returns the smallest difference that tests at the error rate `error` find with probability
/// [`POWER`], given the observed variances and assuming normal results: that of Welch's t, widened
/// by the efficiency of ranks. `None` if there are too few or too many results for ranks, or a
/// result is not finite.
pub fn detectable(first: &[f64], second: &[f64], error: f64) -> Option<f64> {
    let (n, m) = (first.len(), second.len());
    if n.max(m) > FIGURES_MAX || !first.iter().chain(second).all(|figure| figure.is_finite()) {
        return None;
    }
    let (_, tail) = cut(&untied(n, m), error / 2.0)?;
    found_from(&Means::new(first, second), tail)
}

/// Returns the smallest difference that tests find, as [`detectable`] does, for sets that are
/// compared by means alone ([`Comparison::is_by_means`]).
pub fn detectable_by_means(first: &[f64], second: &[f64], error: f64) -> Option<f64> {
    found_from(&Means::new(first, second), BY_MEANS_ERROR * error / 2.0)
}

/// Returns the smallest mean difference of pairs that tests at the error rate `error` find with
/// probability [`POWER`], as [`detectable`] does for two sets.
pub fn detectable_of_pairs(differences: &[f64], error: f64) -> Option<f64> {
    let n = differences.len();
    if n > FIGURES_MAX || !differences.iter().all(|one| one.is_finite()) {
        return None;
    }
    let (_, tail) = cut(&signed(&(1..=n).collect::<Vec<usize>>()), error / 2.0)?;
    found_from(&Means::of_one(differences), tail)
}

fn found_from(means: &Means, tail: f64) -> Option<f64> {
    let freedom = means.freedom.round() as usize;
    let t = students_t(1.0 - tail, freedom) + students_t(POWER, freedom);
    let shift = t * means.error / EFFICIENCY.sqrt();
    Some(shift).filter(|shift| shift.is_finite())
}

#[cfg(test)]
mod tests;
