//! Changes of level in a series with one value per build (version) of the measured software.
//!
//! Binary segmentation by circles (A. B. Olshen, E. S. Venkatraman, R. Lucito and M. Wigler,
//! Biostatistics 5, 557, 2004): within a part of the series, it finds the range of builds that
//! differs most from the rest. The range may be in the middle, so that a change which was undone
//! later is found. The parts before, within and after this range are searched in the same way.
//! Finally each change must be significant on its own, between its neighbouring changes.
//!
//! A division is compared with simulated series without a change: the residuals of the series
//! around its levels, in random order, with the autocorrelation of the series. Outliers are clamped
//! to a few standard deviations, so that a single one does not count as a level. For evidence
//! beyond that of the random orders, the p-value comes from an exponential tail fitted to them,
//! since that of a likelihood ratio is exponential. Not here: which values form a series, whether
//! more is better, and the comparison of the last build alone (latest_build).

use std::ops::Range;

use crate::comparison::hommel;
use crate::mean::students_t_tail;
use crate::series::{Build, middle, noisier_from, spread, variance_of_steps, weights};

/// Smallest number of builds in a series that is searched for changes of level. In a shorter
/// series, only the last build is compared with the others.
pub const SERIES_MIN: usize = 10;
/// Largest number of builds in a series that is searched for changes of level. A longer series
/// gives [`NotDivided`].
pub const SERIES_MAX: usize = 1000;
/// Smallest number of builds that can form a level of their own.
const PART_MIN: usize = 3;
/// Largest number of builds between two changes of level that one step of the search finds
/// together. Changes farther apart are found one after the other.
const STRETCH_MAX: usize = 60;
/// Number of random orders of the residuals with which the evidence for a change of level is
/// compared (permutation test).
const ORDERS: usize = 999;
/// Number of random orders with at least as much evidence at which the permutation test stops
/// early, because the change of level is not significant.
const ORDERS_AS_GOOD: usize = 15;
/// Share of the random orders, those with the most evidence for a change of level, to which an
/// exponential tail is fitted for small p-values.
const TAIL: f64 = 0.1;
/// Limit on the distance of a build from its level, in standard deviations. Builds farther away are
/// clamped to it.
const FAR: f64 = 4.0;
/// Limit on a residual, in standard deviations, for the estimate of autocorrelation. Larger
/// residuals are clamped to it.
const NEAR: f64 = 3.0;
/// Upper limit on the autocorrelation of residuals; larger estimates are clamped to it.
const CORRELATION_MAX: f64 = 0.9;
/// Evidence (log likelihood ratio) above which a possible change of level is removed from the
/// residuals before the significance tests. It is lower than that of any significant change, so
/// that changes of level are not taken for noise.
const LIBERAL: f64 = 6.0;
/// Smallest number of series from which a common autocorrelation is estimated. With fewer, each
/// series has only its own.
const TOGETHER_MIN: usize = 5;
/// Normal score above which the estimated autocorrelation of a single series is significant;
/// otherwise 0 is used.
const BELIEVED: f64 = 2.3;

/// A change of level in a series of builds, as found by [`levels`], such as a regression that came
/// with one build.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// Index in the series of the first build at the new level.
    pub at: usize,
    /// Mean of the builds before the change, from the previous change (or the start of the series)
    /// on.
    pub before: f64,
    /// Mean of the builds after the change, up to the next change (or the end of the series).
    pub after: f64,
    /// p-value of the change: the probability of one at least as clear in a series without changes.
    pub p: f64,
}

/// Error for a series that is not searched for changes of level: it is shorter than [`SERIES_MIN`],
/// longer than [`SERIES_MAX`], or contains a value that is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotDivided;

/// Levels of a series of builds, which are ranges with a constant mean, and the changes between
/// them. [`levels`] finds them.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// Changes of level, in the order of the builds in the series.
    pub changes: Vec<ChangePoint>,
    /// Error rate at which the changes of this series were tested: the requested one, or a stricter
    /// one if several series are searched together.
    pub error: f64,
    /// Mean and total weight of the builds at each level, in the order of the series.
    means: Vec<(f64, f64)>,
    /// Variance of a build with weight 1 around its level, and the degrees of freedom of this
    /// variance.
    variance: (f64, f64),
}

impl Levels {
    /// Returns the index of the level that contains the build with index `at`.
    fn level_of(&self, at: usize) -> usize {
        self.changes.iter().filter(|change| change.at <= at).count()
    }

    /// Returns the mean of the level that contains the build with index `at`.
    pub fn mean_at(&self, at: usize) -> f64 {
        self.means[self.level_of(at)].0
    }

    /// Returns the p-value of the difference between the levels of the builds with these indexes
    /// (Student's t); 1 if both builds are at the same level.
    pub fn p_between(&self, one: usize, other: usize) -> f64 {
        let (one, other) = (self.level_of(one), self.level_of(other));
        if one == other {
            return 1.0;
        }
        let ((a, of_a), (b, of_b)) = (self.means[one], self.means[other]);
        let error = (self.variance.0 * (1.0 / of_a + 1.0 / of_b)).sqrt();
        if error == 0.0 {
            0.0
        } else {
            2.0 * students_t_tail((a - b).abs() / error, self.variance.1)
        }
    }
}

/// Finds the changes of level in several series of builds, and returns one result per series.
/// `error` limits the probability that any change is reported, in any series, if there is none.
/// `bits` returns 64 random bits per call, which affect the p-values only. A series that cannot be
/// searched gives [`NotDivided`].
pub fn levels(
    all: &[Vec<Build>],
    error: f64,
    bits: &mut dyn FnMut() -> u64,
) -> Vec<Result<Levels, NotDivided>> {
    let mut searched: Vec<Option<Searched>> =
        all.iter().map(|series| Searched::from_series(series)).collect();
    let mut steps: Vec<f64> =
        searched.iter().flatten().map(Searched::correlation_by_steps).collect();
    if steps.len() >= TOGETHER_MIN {
        let together = middle(&mut steps).clamp(0.0, CORRELATION_MAX);
        searched.iter_mut().flatten().for_each(|one| {
            one.correlation = one.correlation.max(together);
        });
    }
    let mut p_values = Vec::new();
    for one in searched.iter().flatten() {
        p_values.push(one.p_of(&(0..one.series.len()), Family::Stretches, bits));
    }
    let mut corrected = hommel(&p_values).into_iter().zip(p_values);
    let mut found = Vec::new();
    for one in searched {
        let Some(one) = one else {
            found.push(Err(NotDivided));
            continue;
        };
        let (corrected, p) = corrected.next().expect("each has its p-value");
        // The correction for all series, applied to the error instead of the p-value.
        let own_error = error * p / corrected;
        let cuts = if corrected < error { one.cuts(own_error, bits) } else { Vec::new() };
        found.push(Ok(one.levels(&cuts, own_error)));
    }
    found
}

/// A set of ways to divide a part of a series in two. Within the set, the division with the most
/// evidence is looked for.
#[derive(Clone, Copy, PartialEq)]
enum Family {
    /// Divisions into a range of consecutive builds within the part, and the rest of the part: one
    /// or two changes of level.
    Stretches,
    /// Divisions into the beginning of the part, and the rest of the part: one change of level.
    Beginnings,
}

/// Division of a part of a series into a range of builds (`from..to`, counted from the start of the
/// part) and the rest, which has another mean.
#[derive(Clone, Copy)]
struct Division {
    from: usize,
    to: usize,
    /// Approximate log likelihood ratio of this division against a constant level of the whole
    /// part.
    evidence: f64,
}

/// State of the search for changes in one series.
struct Searched<'s> {
    series: &'s [Build],
    weights: Vec<f64>,
    /// Residuals of the builds around their levels, scaled as if every build had weight 1.
    noise: Vec<f64>,
    /// Autocorrelation of the residuals at lag 1.
    correlation: f64,
    /// Limit on the distance of a build of weight 1 from its level, to which larger distances are
    /// clamped; 0 for no limit.
    most: f64,
}

impl<'s> Searched<'s> {
    fn from_series(series: &'s [Build]) -> Option<Searched<'s>> {
        let is_fit = (SERIES_MIN..=SERIES_MAX).contains(&series.len())
            && series.iter().all(|build| build.mean.is_finite());
        if !is_fit {
            return None;
        }
        let weights = weights(series);
        let mut found =
            Searched { series, weights, noise: Vec::new(), correlation: 0.0, most: 0.0 };
        // Until the noise is known, the steps between builds give the distance at which to clamp.
        found.most = FAR * found.variance_of_steps(1).sqrt();
        let mut cuts = found.take_levels_away();
        if let Some(noisier) = noisier_from(&found.noise) {
            // Builds that vary more say less about their level.
            found.weights[noisier.at..].iter_mut().for_each(|weight| *weight /= noisier.times);
            let mean = found.weights.iter().sum::<f64>() / series.len() as f64;
            found.weights.iter_mut().for_each(|weight| *weight /= mean);
            cuts = found.take_levels_away();
        }
        found.correlation = found.correlation_alone(cuts.len() + 1);
        Some(found)
    }

    /// Finds possible changes of level and returns their indexes. Sets `noise` and `most` from the
    /// residuals around the levels between them.
    fn take_levels_away(&mut self) -> Vec<usize> {
        let cuts = self.free_cuts();
        self.noise = self.noise(&cuts);
        self.most = FAR * spread(self.noise.iter().map(|one| one.abs()).collect());
        cuts
    }

    /// Estimates the autocorrelation from the differences between builds one and two places apart,
    /// which occasional changes of level hardly affect. For a first-order autoregression with
    /// variance v and coefficient r, their variances are 2 v (1 - r) and 2 v (1 - r^2).
    fn correlation_by_steps(&self) -> f64 {
        let (next, second) = (self.variance_of_steps(1), self.variance_of_steps(2));
        if next > 0.0 { second / next - 1.0 } else { 0.0 }
    }

    /// Returns half the mean square of the differences between builds that are `by` positions
    /// apart, scaled as if every build had weight 1.
    fn variance_of_steps(&self, by: usize) -> f64 {
        let steps = (by..self.series.len()).map(|at| {
            let weight = (self.weights[at].min(self.weights[at - by])).sqrt();
            weight * (self.series[at].mean - self.series[at - by].mean)
        });
        variance_of_steps(steps.collect()) / 2.0
    }

    /// Returns the autocorrelation of the residuals of this series alone; 0 if it is not
    /// significant.
    fn correlation_alone(&self, n_levels: usize) -> f64 {
        let n = self.noise.len() as f64;
        let most = NEAR * spread(self.noise.iter().map(|one| one.abs()).collect());
        let noise: Vec<f64> = self.noise.iter().map(|one| one.clamp(-most, most)).collect();
        let square: f64 = noise.iter().map(|one| one * one).sum();
        let product: f64 = noise.windows(2).map(|two| two[0] * two[1]).sum();
        // Subtracting a mean also removes some of the autocorrelation.
        let correlation = product / square + n_levels as f64 / n;
        if correlation * n.sqrt() > BELIEVED { correlation.min(CORRELATION_MAX) } else { 0.0 }
    }

    fn free_cuts(&self) -> Vec<usize> {
        let mut cuts = Vec::new();
        self.divide_freely(0..self.series.len(), &mut cuts);
        cuts.sort_unstable();
        cuts
    }

    /// Returns the residuals of all builds around the means of the parts between `cuts`, scaled as
    /// if all builds had weight 1.
    fn noise(&self, cuts: &[usize]) -> Vec<f64> {
        let mut noise = Vec::new();
        for part in parts(cuts, self.series.len()) {
            let (mean, _) = self.mean(&part);
            let n = part.len() as f64;
            // Undoes the shrinkage by subtracting a mean of n values.
            let factor = (n / (n - 1.0)).sqrt();
            noise.extend(
                part.map(|at| factor * self.weights[at].sqrt() * (self.series[at].mean - mean)),
            );
        }
        noise
    }

    /// Divides a part of the series, and then its pieces, wherever the evidence for a change of
    /// level exceeds [`LIBERAL`], and adds the indexes of these changes to `cuts`.
    fn divide_freely(&self, part: Range<usize>, cuts: &mut Vec<usize>) {
        let found = self.best(&part, Family::Stretches);
        let Some(found) = found.filter(|found| found.evidence > LIBERAL) else { return };
        for piece in pieces_of(&part, &found) {
            if piece.start > part.start {
                cuts.push(piece.start);
            }
            self.divide_freely(piece, cuts);
        }
    }

    /// Returns the weighted mean of the builds in a part of the series, and their total weight.
    /// Builds far from the median of the part are clamped.
    fn mean(&self, part: &Range<usize>) -> (f64, f64) {
        let mut all: Vec<f64> = self.series[part.clone()].iter().map(|build| build.mean).collect();
        let middle = middle(&mut all);
        let weight: f64 = self.weights[part.clone()].iter().sum();
        let away = part.clone().map(|at| self.weights[at] * self.near(at, middle));
        (middle + away.sum::<f64>() / weight, weight)
    }

    /// Returns the difference of the build with index `at` from a level, clamped to
    /// [`Searched::most`].
    fn near(&self, at: usize, level: f64) -> f64 {
        let most = if self.most > 0.0 { self.most } else { f64::INFINITY };
        let most = most / self.weights[at].sqrt();
        (self.series[at].mean - level).clamp(-most, most)
    }

    /// Returns the division of a part of the series with the most evidence, among those of
    /// `family`; `None` if the part has too few builds, or all are equal.
    fn best(&self, part: &Range<usize>, family: Family) -> Option<Division> {
        let figures: Vec<f64> = self.series[part.clone()].iter().map(|build| build.mean).collect();
        let outside = self.noise.iter().enumerate().filter(|(at, _)| !part.contains(at));
        let beside = self.beside(outside.map(|(_, noise)| noise));
        best(&figures, &self.weights[part.clone()], family, self.most, beside)
    }

    /// Sums up the residuals of builds outside of the part that is being divided. They improve the
    /// estimate of the variance.
    fn beside<'n>(&self, noise: impl Iterator<Item = &'n f64>) -> Beside {
        noise.fold(Beside::default(), |sum, noise| Beside {
            squares: sum.squares + noise.clamp(-self.most, self.most).powi(2),
            count: sum.count + 1,
        })
    }

    /// Returns the p-value of that division of a part which has the most evidence, by comparison
    /// with random orders of the residuals; 1 if there is no division.
    fn p_of(&self, part: &Range<usize>, family: Family, bits: &mut dyn FnMut() -> u64) -> f64 {
        let Some(found) = self.best(part, family) else { return 1.0 };
        let weights = &self.weights[part.clone()];
        let mut noise = self.noise.clone();
        let mut made = vec![0.0; part.len()];
        let mut evidence = Vec::with_capacity(ORDERS);
        let mut n_as_good = 0;
        for n_orders in 1..=ORDERS {
            deal(&mut noise, part.len(), bits);
            let mut before = 0.0;
            for (at, figure) in made.iter_mut().enumerate() {
                // A first-order autoregression, whose first value also depends on earlier ones.
                let new = (1.0 - self.correlation.powi(2)).sqrt() * noise[at];
                before = if at == 0 { noise[0] } else { self.correlation * before + new };
                *figure = before / weights[at].sqrt();
            }
            let beside = self.beside(noise[part.len()..].iter());
            let of_made = best(&made, weights, family, self.most, beside);
            let of_made = of_made.map_or(0.0, |other| other.evidence);
            evidence.push(of_made);
            n_as_good += usize::from(of_made >= found.evidence);
            if n_as_good == ORDERS_AS_GOOD {
                return n_as_good as f64 / n_orders as f64;
            }
        }
        beyond(&mut evidence, found.evidence)
    }

    /// Returns the significant changes of level at this error rate, in order: the index of the
    /// first build after each, and its p-value.
    fn cuts(&self, error: f64, bits: &mut dyn FnMut() -> u64) -> Vec<(usize, f64)> {
        let mut cuts = Vec::new();
        let whole = 0..self.series.len();
        self.divide(whole, error, true, bits, &mut cuts);
        cuts.sort_unstable();
        self.shown_alone(cuts, error, bits)
    }

    fn divide(
        &self,
        part: Range<usize>,
        error: f64,
        is_shown: bool,
        bits: &mut dyn FnMut() -> u64,
        cuts: &mut Vec<usize>,
    ) {
        let Some(found) = self.best(&part, Family::Stretches) else { return };
        if !is_shown && self.p_of(&part, Family::Stretches, bits) >= error {
            return;
        }
        for piece in pieces_of(&part, &found) {
            if piece.start > part.start {
                cuts.push(piece.start);
            }
            self.divide(piece, error, false, bits, cuts);
        }
    }

    /// Removes the changes of level that are not significant between their neighbouring changes,
    /// the least significant one first, and tests the rest again. Returns the remaining ones with
    /// their p-values.
    fn shown_alone(
        &self,
        mut cuts: Vec<usize>,
        error: f64,
        bits: &mut dyn FnMut() -> u64,
    ) -> Vec<(usize, f64)> {
        let mut known: Vec<((usize, usize, usize), f64)> = Vec::new();
        loop {
            let mut shown = Vec::new();
            for index in 0..cuts.len() {
                let from = index.checked_sub(1).map_or(0, |before| cuts[before]);
                let to = cuts.get(index + 1).copied().unwrap_or(self.series.len());
                let place = (from, cuts[index], to);
                let before = known.iter().find(|(known, _)| *known == place).map(|(_, p)| *p);
                let p = before.unwrap_or_else(|| self.p_of(&(from..to), Family::Beginnings, bits));
                known.push((place, p));
                cuts[index] = self.moved(place);
                shown.push((cuts[index], p));
            }
            let least = shown.iter().enumerate().max_by(|a, b| a.1.1.total_cmp(&b.1.1));
            match least {
                Some((index, (_, p))) if *p >= error => cuts.remove(index),
                _ => return shown,
            };
        }
    }

    /// Returns the index to which a change of level at `at`, between the neighbouring changes
    /// `from` and `to`, is moved: that with the least sum of squared distances of builds from the
    /// medians before and after it. A distance counts at most as that between the two medians, so
    /// that an outlier does not move the change.
    fn moved(&self, (from, at, to): (usize, usize, usize)) -> usize {
        let all: Vec<f64> = self.series[from..to].iter().map(|build| build.mean).collect();
        let (mut left, mut right) = (all[..at - from].to_vec(), all[at - from..].to_vec());
        let (left, right) = (middle(&mut left), middle(&mut right));
        // By how much better each build fits to the level on the right; the sum is least where the
        // left level ends.
        let most = (left - right).powi(2);
        let better_right = |index: usize| {
            let to = |level: f64| (all[index] - level).powi(2).min(most);
            self.weights[from + index] * (to(left) - to(right))
        };
        let (mut sum, mut least) = (0.0, (f64::INFINITY, at));
        for index in 0..=all.len() - PART_MIN {
            if index >= PART_MIN && sum < least.0 {
                least = (sum, from + index);
            }
            sum += better_right(index);
        }
        least.1
    }

    fn levels(&self, cuts: &[(usize, f64)], error: f64) -> Levels {
        let places: Vec<usize> = cuts.iter().map(|(at, _)| *at).collect();
        let all: Vec<Range<usize>> = parts(&places, self.series.len()).collect();
        let means: Vec<(f64, f64)> = all.iter().map(|part| self.mean(part)).collect();
        let changes = cuts.iter().enumerate().map(|(index, &(at, p))| ChangePoint {
            at,
            before: means[index].0,
            after: means[index + 1].0,
            p,
        });
        let square = |(part, (mean, _)): (&Range<usize>, &(f64, f64))| {
            let square_at = |at: usize| self.weights[at] * self.near(at, *mean).powi(2);
            part.clone().map(square_at).sum::<f64>()
        };
        let squares: f64 = all.iter().zip(&means).map(square).sum();
        let freedom = (self.series.len() - all.len()) as f64;
        // Means of neighbours that rise and fall together vary by more.
        let together = (1.0 + self.correlation) / (1.0 - self.correlation);
        let variance = (squares / freedom * together, freedom);
        Levels { changes: changes.collect(), error, means, variance }
    }
}

/// Returns the ranges of indexes into which `cuts` divide a series of `n` builds.
fn parts(cuts: &[usize], n: usize) -> impl Iterator<Item = Range<usize>> {
    let ends: Vec<usize> = cuts.iter().copied().chain([n]).collect();
    let starts: Vec<usize> = std::iter::once(0).chain(cuts.iter().copied()).collect();
    starts.into_iter().zip(ends).map(|(from, to)| from..to)
}

/// Returns the non-empty pieces into which a division cuts a part of a series: before, within and
/// after its range.
fn pieces_of(part: &Range<usize>, found: &Division) -> impl Iterator<Item = Range<usize>> {
    let (from, to) = (part.start + found.from, part.start + found.to);
    let pieces = [part.start..from, from..to, to..part.end];
    pieces.into_iter().filter(|piece| !piece.is_empty())
}

/// Returns the p-value of the evidence `found` for a change of level, given the evidence in random
/// orders: the share of orders with at least as much evidence or, if few have, the value of an
/// exponential tail fitted to them.
fn beyond(orders: &mut [f64], found: f64) -> f64 {
    orders.sort_by(f64::total_cmp);
    let n_tail = (TAIL * orders.len() as f64) as usize;
    let from = orders[orders.len() - n_tail - 1];
    let n_as_good = orders.iter().filter(|other| **other >= found).count();
    if found <= from {
        return (n_as_good + 1) as f64 / (orders.len() + 1) as f64;
    }
    let tail = &orders[orders.len() - n_tail..];
    let mean = tail.iter().map(|other| other - from).sum::<f64>() / n_tail as f64;
    // If all orders of the tail have equal evidence, none would have more.
    let p = if mean > 0.0 { TAIL * (-(found - from) / mean).exp() } else { 0.0 };
    p.max(f64::MIN_POSITIVE)
}

/// Sum of squares and number of residuals outside of the part of a series that is being divided.
#[derive(Clone, Copy, Default)]
struct Beside {
    squares: f64,
    count: usize,
}

/// Returns the division of `figures` (values of builds) with the most evidence; `None` if there are
/// too few values or all are equal. Values farther than `most` from their median are clamped to it.
/// `beside` sums up residuals outside of the divided part, which improve the estimate of the
/// variance.
fn best(
    figures: &[f64],
    weights: &[f64],
    family: Family,
    most: f64,
    beside: Beside,
) -> Option<Division> {
    let n = figures.len();
    if n < 2 * PART_MIN {
        return None;
    }
    let middle = middle(&mut figures.to_vec());
    // Sums up to each figure: of weights, and of weighted figures.
    let (mut weight, mut sum) = (vec![0.0; n + 1], vec![0.0; n + 1]);
    let mut squares = 0.0;
    for at in 0..n {
        let most = if most > 0.0 { most / weights[at].sqrt() } else { f64::INFINITY };
        let figure = (figures[at] - middle).clamp(-most, most);
        weight[at + 1] = weight[at] + weights[at];
        sum[at + 1] = sum[at] + weights[at] * figure;
        squares += weights[at] * figure.powi(2);
    }
    let (all, total) = (weight[n], sum[n]);
    squares += beside.squares - total * total / all;
    let mut found = (0.0, 0, 0);
    let last_start = if family == Family::Beginnings { 0 } else { n - PART_MIN };
    for from in (0..=last_start).filter(|from| !(1..PART_MIN).contains(from)) {
        let longest = if from == 0 { n - PART_MIN } else { n.min(from + STRETCH_MAX) };
        for to in from + PART_MIN..=longest {
            if to != n && n - to < PART_MIN {
                continue;
            }
            let (w, s) = (weight[to] - weight[from], sum[to] - sum[from]);
            let apart = (s - total * w / all).powi(2) * all / (w * (all - w));
            if apart > found.0 {
                found = (apart, from, to);
            }
        }
    }
    let (apart, from, to) = found;
    // Nothing is left if the division explains all of the variation.
    let left = ((squares - apart) / squares).max(1e-12);
    let evidence = -((n + beside.count) as f64 - 2.0) / 2.0 * left.ln();
    (apart > 0.0 && squares > 0.0).then_some(Division { from, to, evidence })
}

/// Moves `n` randomly chosen values to the front of `figures`, in random order (shuffle of R. A.
/// Fisher and F. Yates; D. E. Knuth, "The Art of Computer Programming" 2, 3.4.2, P).
fn deal(figures: &mut [f64], n: usize, bits: &mut dyn FnMut() -> u64) {
    for at in 0..n {
        let left = (figures.len() - at) as u128;
        let other = at + ((u128::from(bits()) * left) >> 64) as usize;
        figures.swap(at, other);
    }
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::draw::normal;

    const ERROR: f64 = 0.005;

    /// Makes `n` builds of one run each, with values around 7 and noise of 2 %. The builds in
    /// `lower` are 8 % lower.
    fn builds(n: usize, lower: Range<usize>, bits: &mut dyn FnMut() -> u64) -> Vec<Build> {
        let level = |at: usize| if lower.contains(&at) { 7.0 + (0.92_f64).ln() } else { 7.0 };
        (0..n).map(|at| Build::from_figures(&[level(at) + 0.02 * normal(bits)])).collect()
    }

    fn found(series: &[Build], bits: &mut dyn FnMut() -> u64) -> Levels {
        levels(&[series.to_vec()], ERROR, bits).swap_remove(0).expect("long enough")
    }

    fn places(levels: &Levels) -> Vec<usize> {
        levels.changes.iter().map(|change| change.at).collect()
    }

    #[test]
    fn a_shift_of_four_deviations_is_placed_and_none_is_made_up() {
        let mut source = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut bits = || source.next_u64();
        let (mut placed, mut alarms, rounds) = (0, 0, 100);
        for _ in 0..rounds {
            let shifted = found(&builds(60, 30..60, &mut bits), &mut bits);
            placed += u32::from(shifted.changes.iter().any(|change| change.at.abs_diff(30) <= 1));
            alarms +=
                u32::from(!found(&builds(60, 60..60, &mut bits), &mut bits).changes.is_empty());
        }
        assert!(placed >= 97, "{placed} of {rounds}");
        assert!(alarms <= 2, "{alarms} of {rounds}");
    }

    #[test]
    fn what_was_mended_is_found_wherever_it_was() {
        let mut source = Xoshiro256PlusPlus::seed_from_u64(2);
        let mut bits = || source.next_u64();
        for (bump, least) in
            [(0..5, 57), (27..32, 57), (50..55, 57), (55..60, 57), (20..23, 52), (40..48, 57)]
        {
            let is_placed = |levels: &Levels| {
                let at = |edge: usize| places(levels).iter().any(|at| at.abs_diff(edge) <= 1);
                (bump.start == 0 || at(bump.start)) && (bump.end == 60 || at(bump.end))
            };
            let one = |_| found(&builds(60, bump.clone(), &mut bits), &mut bits);
            let n = (0..60).map(one).filter(is_placed).count();
            assert!(n >= least, "{n} of 60 at {bump:?}");
        }
    }

    #[test]
    fn a_fall_that_is_mended_in_part_is_still_a_fall() {
        let mut source = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut bits = || source.next_u64();
        for round in 0..60 {
            let level =
                |at: usize| [1000.0, 800.0, 880.0][usize::from(at >= 30) + usize::from(at >= 35)];
            let one = |at| Build::from_figures(&[f64::ln(level(at)) + 0.01 * normal(&mut bits)]);
            let series: Vec<Build> = (0..40).map(one).collect();
            let levels = found(&series, &mut bits);
            assert!(places(&levels).contains(&30), "{round}");
            assert!(levels.mean_at(39) < levels.mean_at(29) - 0.1, "{round}: {levels:?}");
            assert!(levels.p_between(29, 39) < 1e-6 && levels.p_between(3, 7) == 1.0);
        }
    }

    #[test]
    fn of_forty_series_none_is_divided_that_has_one_level() {
        let mut source = Xoshiro256PlusPlus::seed_from_u64(4);
        let mut bits = || source.next_u64();
        let mut is_reported = |correlation: f64| {
            let mut series = || -> Vec<Build> {
                let mut before = normal(&mut bits);
                let mut next = || {
                    let new = (1.0 - correlation * correlation).sqrt() * normal(&mut bits);
                    before = correlation * before + new;
                    Build::from_figures(&[before])
                };
                (0..40).map(|_| next()).collect()
            };
            let all: Vec<Vec<Build>> = (0..40).map(|_| series()).collect();
            let found = levels(&all, ERROR, &mut bits);
            found.into_iter().flatten().any(|levels| !levels.changes.is_empty())
        };
        let n = (0..50).filter(|_| is_reported(0.0)).count();
        assert!(n <= 2, "{n} of 50");
        // Neighbours that depend on each other are no levels.
        let n = (0..50).filter(|_| is_reported(0.4)).count();
        assert!(n <= 2, "{n} of 50");
    }

    #[test]
    fn a_build_far_off_is_no_level_and_hides_none() {
        let mut source = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut bits = || source.next_u64();
        let mut n = 0;
        for _ in 0..50 {
            let mut series = builds(60, 30..60, &mut bits);
            series[12].mean -= 2.0;
            let levels = found(&series, &mut bits);
            n += u32::from(levels.changes.len() == 1 && places(&levels)[0].abs_diff(30) <= 2);
        }
        assert!(n >= 48, "{n} of 50");
    }

    #[test]
    fn levels_are_reported_between_their_changes() {
        let level = |at: usize| [10.0, 20.0, 15.0][at / 10] + 0.1 * (at % 3) as f64;
        let series: Vec<Build> = (0..30).map(|at| Build::from_figures(&[level(at)])).collect();
        let mut source = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut bits = || source.next_u64();
        let levels = found(&series, &mut bits);
        assert_eq!(places(&levels), [10, 20]);
        let [first, second] = levels.changes[..] else { panic!("{levels:?}") };
        assert!((first.before - 10.09).abs() < 0.02 && (second.after - 15.1).abs() < 0.02);
        // Builds without variance have one level, or clear changes.
        let same = |at: usize| Build::from_figures(&[if at < 12 { 7.0 } else { 6.0 }]);
        assert_eq!(places(&found(&(0..30).map(same).collect::<Vec<_>>(), &mut bits)), [12]);
        assert!(places(&found(&[Build::from_figures(&[7.0]); 30], &mut bits)).is_empty());
    }

    #[test]
    fn what_is_short_or_no_number_is_not_divided() {
        let searched = |series: Vec<Build>| levels(&[series], ERROR, &mut || 0).pop();
        assert_eq!(
            searched(vec![Build::from_figures(&[1.0]); SERIES_MIN - 1]),
            Some(Err(NotDivided))
        );
        let mut holed = vec![Build::from_figures(&[1.0]); 30];
        holed[7].mean = f64::NAN;
        assert_eq!(searched(holed), Some(Err(NotDivided)));
    }
}
