//! Intervals of quantiles of samples that follow each other in time and depend on each other.
//!
//! Response times of one run share its queue, its caches and its stalls. Order statistics as if
//! they were independent (`order_statistics`) hold the truth in 8 to 70 of 100 minutes of a busy
//! queue. Here a quantile is a mean: the share of samples above it, stretch by stretch, whose
//! error is that of a mean in time (`waves`), and is turned back into ranks (Heidelberger and
//! Lewis, Operations Research 32, 185, 1984; Lolos et al., Winter Simulation Conference 2022).
//! The same errors say how sure a share is, of samples below a bound that nobody has named yet.

use std::fmt;

use crate::order_statistics::{Ranks, TooFew, rank, samples_needed};
use crate::rate::{SLOTS_MIN, around_ratio};
use crate::waves::{MeanError, VALUES_MIN, mean_error};
use crate::{Histogram, students_t};

/// What was offered in one stretch of time, and the times of what finished of it. What did not
/// finish counts as longer than any time. Stretches are equal in length and consecutive.
#[derive(Clone, Debug, Default)]
pub struct Stretch {
    /// How many were offered.
    pub offered: u64,
    /// The times of those that finished.
    pub finished: Histogram,
}

/// Why a quantile has no interval within a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoInterval {
    /// There are too few samples, even if they were independent.
    TooFew(TooFew),
    /// There are too few stretches to see how they depend on each other.
    TooShort {
        /// So many are needed.
        needed: u64,
        /// So many there are.
        have: u64,
    },
    /// Neighbours resemble each other so much that the samples beyond the quantile are a few
    /// episodes, or all in one.
    TooDependent {
        /// About so many times as long a run has an interval.
        times_as_long: f64,
    },
}

impl fmt::Display for NoInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoInterval::TooFew(few) => few.fmt(f),
            NoInterval::TooShort { needed, have } => {
                write!(f, "run too short: needs {needed} intervals, has {have}")
            }
            NoInterval::TooDependent { times_as_long } => {
                write!(f, "samples depend on each other: needs {times_as_long:.0} times the run")
            }
        }
    }
}

impl std::error::Error for NoInterval {}

/// The quantiles that tell how strongly samples depend on each other, whichever is asked for, and
/// by how much more those of the tail depend than these do.
///
/// The error of a share is that of independent samples times a factor. Along the quantiles of a
/// queue it grows, and then stays: by 2 to 3 from the median to the tail of M/M/1 and M/M/4 at
/// loads of 0.5 to 0.9. Far out it cannot be estimated from the few episodes that there are, and
/// most runs that look safe there are those whose worst episode is missing. So it is taken from
/// quantiles of which there are enough samples, and the tail must have enough of them by that.
const WITNESSES: [(f64, f64); 4] = [(0.5, 3.0), (0.75, 1.7), (0.9, 1.25), (0.95, 1.1)];

/// With fewer independent episodes beyond a quantile there is no interval.
const EPISODES_MIN: f64 = 5.0;

/// The same up to the median, of which as many samples lie on either side: there a wide interval
/// holds more often than one that only some runs have. Where a run is a few episodes long, to
/// withhold it from those with the fewest would leave it to those that lack the longest.
const EPISODES_MIN_MIDDLE: f64 = 2.0;
const MIDDLE: f64 = 0.5;

/// From so many on, their own scatter says how sure the quantile is; with fewer the witnesses have
/// a say as well.
const EPISODES_ENOUGH: f64 = 16.0;

/// Intervals of some quantiles of the same stretches, in the order of `quantiles`.
///
/// By simulation (`cargo xtask coverage`) intervals at 95 % hold the truth in 92 to 98 % of runs of
/// queues, of loads with a slow component and of loads that stall; where a window is too short for
/// that, most runs have none.
pub fn dependent_ranks(
    stretches: &[Stretch],
    quantiles: &[f64],
    confidence: f64,
) -> Vec<Result<Ranks, NoInterval>> {
    let series = Shares::of(stretches, confidence);
    let (witnesses, of_quantiles) = series.with_witnesses(quantiles);
    let ranks = |(q, error): (&f64, &Option<ShareError>)| {
        series.ranks(*q, error.map(|of| of.error), &witnesses)
    };
    quantiles.iter().zip(&of_quantiles).map(ranks).collect()
}

/// The interval of the mean of what finished, in the values' unit.
///
/// Its error is that of the sums of stretches. Few long episodes make most of the mean of a busy
/// queue, and runs that lack one have a low mean and a small error of it. So the episodes beyond
/// the p90 say how sure that error is: few of them widen the upper end, and fewer than two are a
/// reason.
pub fn dependent_mean(stretches: &[Stretch], confidence: f64) -> Result<(f64, f64), NoInterval> {
    let series = Shares::of(stretches, confidence);
    let finished =
        |stretch: &Stretch| (stretch.finished.sum() as f64, stretch.finished.count() as f64);
    let slots: Vec<(f64, f64)> = stretches.iter().map(finished).collect();
    let (sum, count) = slots.iter().fold((0.0, 0.0), |all, slot| (all.0 + slot.0, all.1 + slot.1));
    if count == 0.0 {
        return Err(NoInterval::TooFew(TooFew { needed: 1, have: 0 }));
    }
    let mean = sum / count;
    let ends = series.ends_of_mean(mean, &around_ratio(&slots))?;
    Ok((mean - ends.below, mean + ends.above))
}

/// By how many times the variance of a share exceeds that of independent samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dispersion {
    /// The share of samples below some bound.
    pub share: f64,
    /// By how many times; 1 of independent samples.
    pub factor: f64,
}

/// At which shares the dispersion is seen.
const SHARES: [f64; 9] = [0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/// How dispersed shares of samples below bounds are, from a share of nothing to one of all, rising.
/// Of a share between two of them the larger factor holds: bounds may be named later.
///
/// Where fewer than five independent episodes lie beyond a bound, their scatter says nothing; there
/// the tail is as dispersed as the witnesses expect.
pub fn share_dispersions(
    stretches: &[Stretch],
    confidence: f64,
) -> Result<Vec<Dispersion>, NoInterval> {
    let series = Shares::of(stretches, confidence);
    if series.n == 0 {
        return Err(NoInterval::TooFew(TooFew { needed: 1, have: 0 }));
    }
    if stretches.len() < VALUES_MIN {
        let have = stretches.len() as u64;
        return Err(NoInterval::TooShort { needed: VALUES_MIN as u64, have });
    }
    let (witnesses, errors) = series.with_witnesses(&SHARES);
    let dispersion = |of: &ShareError| {
        let share = 1.0 - of.above;
        let is_between = of.above > 0.0 && share > 0.0;
        let widened = is_between.then(|| series.widened(share, of.error, &witnesses))?;
        (widened.episodes >= EPISODES_MIN).then(|| {
            let error = MeanError { half_width: widened.ends.above, ..of.error };
            Dispersion { share, factor: series.factor(share, &error) }
        })
    };
    let mut seen: Vec<Dispersion> = errors.iter().flatten().filter_map(dispersion).collect();
    seen.sort_by(|a, b| a.share.total_cmp(&b.share));
    let tail = witnesses.iter().map(|(_, factor)| *factor).fold(1.0, f64::max);
    // Where nothing scatters, equal samples say nothing of a tail.
    let (first, last) = match &seen[..] {
        [] => (1.0, 1.0),
        [first, ..] => (first.factor, seen[seen.len() - 1].factor.max(tail)),
    };
    seen.insert(0, Dispersion { share: 0.0, factor: first });
    seen.push(Dispersion { share: 1.0, factor: last });
    Ok(seen)
}

/// The dispersion of a share that need not be among them: the larger one of its neighbours.
pub fn dispersion_at(all: &[Dispersion], share: f64) -> f64 {
    let below = all.iter().rev().find(|of| of.share <= share);
    let above = all.iter().find(|of| of.share >= share);
    below.into_iter().chain(above).map(|of| of.factor).fold(1.0, f64::max)
}

/// With fewer than [`EPISODES_ENOUGH`], those that lack their worst episode are more among the runs
/// that have an interval than among all, so its upper end is widened by this power of what is
/// missing.
const LUCK: f64 = 0.5;

/// The skewness of a sum of one episode, if their sizes are exponential and they come at random;
/// that of `n` is this over the root of `n`.
const SKEW_OF_EPISODE: f64 = 1.5;

/// The lower end comes nearer by at most this share of its distance.
const NEARER_MAX: f64 = 0.3;

/// A mean is made of its tail: with fewer episodes than this beyond the p90 it has no interval, and
/// with fewer than so many its upper end is widened by the root of what is missing.
const MEAN_EPISODES_MIN: f64 = 2.0;
const MEAN_EPISODES_ENOUGH: f64 = 16.0;
const MEAN_TAIL: f64 = 0.9;

/// Degrees of freedom from which on an error counts as known.
const LARGE: usize = 60;

/// The samples of all stretches.
struct Shares<'a> {
    stretches: &'a [Stretch],
    all: Histogram,
    n: u64,
    confidence: f64,
}

/// The share of samples above a value, and its error.
#[derive(Clone, Copy, Debug)]
struct ShareError {
    above: f64,
    error: MeanError,
}

/// How far an estimate lies from the two ends of its interval.
#[derive(Clone, Copy, Debug)]
struct Ends {
    below: f64,
    above: f64,
}

impl Ends {
    /// Those of a sum that is skewed: both lie higher. Its error is smaller in the runs in which
    /// the sum is (Johnson, Journal of the American Statistical Association 73, 536, 1978; Hall,
    /// Journal of the Royal Statistical Society B 54, 221, 1992).
    fn of_skewed(half_width: f64, skew: f64, z: f64) -> Ends {
        let shift = skew.clamp(0.0, 1.0) * (2.0 * z * z + 1.0) / (6.0 * z);
        Ends {
            below: half_width * (1.0 - shift.min(NEARER_MAX)),
            above: half_width * (1.0 + shift),
        }
    }
}

/// An error that knows of the tail's few episodes.
struct Widened {
    /// The distances from the share to its ends: of fewer samples beyond, and of more.
    ends: Ends,
    /// So many independent samples lie beyond.
    episodes: f64,
}

impl Shares<'_> {
    fn of(stretches: &[Stretch], confidence: f64) -> Shares<'_> {
        assert!(confidence > 0.0 && confidence < 1.0, "a confidence lies between 0 and 1");
        let mut all = Histogram::default();
        for stretch in stretches {
            match all.is_empty() {
                // The first one brings the range, beyond which values are overflow.
                true => all.clone_from(&stretch.finished),
                false => all.add(&stretch.finished),
            }
        }
        let n = stretches.iter().map(|stretch| stretch.offered).sum();
        Shares { stretches, all, n, confidence }
    }

    /// What the witnesses expect of the tail, and the errors of the shares above some quantiles.
    fn with_witnesses(&self, quantiles: &[f64]) -> (Vec<(f64, f64)>, Vec<Option<ShareError>>) {
        let at = WITNESSES.iter().map(|(q, _)| *q).chain(quantiles.iter().copied());
        let mut of_witnesses = match self.n {
            0 => vec![None; at.count()],
            _ => self.errors(&at.collect::<Vec<f64>>()),
        };
        let of_quantiles = of_witnesses.split_off(WITNESSES.len());
        let witness = |((q, more), error): (&(f64, f64), &Option<ShareError>)| {
            Some((*q, self.factor(*q, &error.as_ref()?.error) * more))
        };
        (WITNESSES.iter().zip(&of_witnesses).filter_map(witness).collect(), of_quantiles)
    }

    /// The ends of the interval of a mean, by what each stretch has more or less of it.
    fn ends_of_mean(&self, mean: f64, around: &[f64]) -> Result<Ends, NoInterval> {
        let have = self.stretches.len() as u64;
        let needed = SLOTS_MIN;
        let error = mean_error(around, self.confidence).filter(|_| have >= needed);
        let error = error.ok_or(NoInterval::TooShort { needed, have })?;
        if error.half_width == 0.0 {
            return Ok(Ends { below: 0.0, above: 0.0 });
        }
        let (witnesses, tail) = self.with_witnesses(&[MEAN_TAIL]);
        let tail = tail[0].ok_or(NoInterval::TooShort { needed, have })?;
        let episodes = self.widened(MEAN_TAIL, tail.error, &witnesses).episodes;
        // As many episodes as make such an error, if the whole mean were of them.
        let own = (mean * self.z() / error.half_width).powi(2);
        let lacking = (MEAN_EPISODES_MIN / episodes).max(EPISODES_MIN / own);
        if lacking > 1.0 {
            return Err(NoInterval::TooDependent { times_as_long: (1.5 * lacking).max(2.0) });
        }
        let skew = error.skew.max(SKEW_OF_EPISODE / episodes.sqrt());
        let ends = Ends::of_skewed(error.half_width, skew, self.z());
        let missing = (MEAN_EPISODES_ENOUGH / episodes).max(1.0).sqrt();
        Ok(Ends { above: ends.above * missing, ..ends })
    }

    /// By how much the variance of the share above a quantile exceeds that of independent samples;
    /// by half the interval, so that an error of which little is known counts as larger.
    fn factor(&self, q: f64, error: &MeanError) -> f64 {
        ((error.half_width / self.z()).powi(2) * self.n as f64 / (q * (1.0 - q))).max(1.0)
    }

    /// The errors of the shares of samples above quantiles, from what each stretch has more or
    /// less of them than its number of samples makes expect.
    fn errors(&self, quantiles: &[f64]) -> Vec<Option<ShareError>> {
        let value = |q: &f64| self.all.value_at_rank(rank(*q, self.n)).unwrap_or(u64::MAX);
        let values: Vec<u64> = quantiles.iter().map(value).collect();
        let counts: Vec<Vec<u64>> =
            self.stretches.iter().map(|stretch| counts_above(stretch, &values)).collect();
        let n = self.n as f64;
        let per_stretch = n / self.stretches.len() as f64;
        let error = |index: usize| {
            let of = |counts: &Vec<u64>| counts[index] as f64;
            let above = counts.iter().map(of).sum::<f64>() / n;
            let excess = |(counts, stretch): (&Vec<u64>, &Stretch)| {
                (of(counts) - above * stretch.offered as f64) / per_stretch
            };
            let series: Vec<f64> = counts.iter().zip(self.stretches).map(excess).collect();
            Some(ShareError { above, error: mean_error(&series, self.confidence)? })
        };
        (0..values.len()).map(error).collect()
    }

    fn ranks(
        &self,
        q: f64,
        error: Option<MeanError>,
        witnesses: &[(f64, f64)],
    ) -> Result<Ranks, NoInterval> {
        let needed = samples_needed(q, (1.0 - self.confidence) / 2.0);
        if self.n < needed {
            return Err(NoInterval::TooFew(TooFew { needed, have: self.n }));
        }
        let have = self.stretches.len() as u64;
        let needed = VALUES_MIN as u64;
        let error = error.ok_or(NoInterval::TooShort { needed, have })?;
        let Widened { ends, episodes } = self.widened(q, error, witnesses);
        let least = if q <= MIDDLE { EPISODES_MIN_MIDDLE } else { EPISODES_MIN };
        if episodes < least {
            let times_as_long = (1.5 * least / episodes).max(2.0);
            return Err(NoInterval::TooDependent { times_as_long });
        }
        self.around(q, ends)
    }

    /// The error of the share beyond `q`, widened by what the witnesses expect where few episodes
    /// lie there.
    fn widened(&self, q: f64, error: MeanError, witnesses: &[(f64, f64)]) -> Widened {
        let own = self.factor(q, &error);
        // What a witness expects of the tail, brought back to where the quantile lies.
        let more = WITNESSES.iter().find(|(at, _)| *at >= q).map_or(1.0, |(_, more)| *more);
        let inner = witnesses.iter().filter(|(at, _)| *at <= q);
        let factor = inner.map(|(_, factor)| factor / more).fold(own, f64::max);
        let episodes = self.n as f64 * q.min(1.0 - q) / factor;
        let weight = (episodes / EPISODES_MIN).ln() / (EPISODES_ENOUGH / EPISODES_MIN).ln();
        let wider = (factor / own).powf(0.5 * (1.0 - weight.clamp(0.0, 1.0)));
        let luck = (EPISODES_ENOUGH / episodes).max(1.0).powf(LUCK);
        let skew = SKEW_OF_EPISODE / episodes.sqrt();
        let ends = Ends::of_skewed(error.half_width * wider, skew, self.z());
        // Up to the median, a run may lack calm episodes as well as busy ones.
        let below = if q <= MIDDLE { ends.below * luck } else { ends.below };
        Widened { ends: Ends { below, above: ends.above * luck }, episodes }
    }

    /// The ranks of the ends around a quantile.
    ///
    /// The upper end is the value of which as many samples lie beyond as an unlucky run has of the
    /// share that truly does. It has fewer episodes than the quantile, so that its error is
    /// smaller, by the root of how many of them there are. The lower end may be the least sample:
    /// then nothing is known of it.
    fn around(&self, q: f64, ends: Ends) -> Result<Ranks, NoInterval> {
        let (n, beyond) = (self.n as f64, 1.0 - q);
        // The share x of what is beyond that solves x + error sqrt(x) = 1.
        let error = ends.above / beyond;
        let root = ((error * error + 4.0).sqrt() - error) / 2.0;
        let low = (n * (q - ends.below)).floor().max(1.0);
        let high = (n * (1.0 - beyond * root * root)).ceil() + 1.0;
        if high > n {
            let times_as_long = (ends.above / beyond.min(q)).powi(2).max(2.0);
            return Err(NoInterval::TooDependent { times_as_long });
        }
        Ok(Ranks { low: low as u64, high: high as u64 })
    }

    /// The distance of the ends from an estimate whose error is known, in standard errors.
    fn z(&self) -> f64 {
        students_t(1.0 - (1.0 - self.confidence) / 2.0, LARGE)
    }
}

/// How many of a stretch lie above each of some values; what did not finish lies above all.
fn counts_above(stretch: &Stretch, values: &[u64]) -> Vec<u64> {
    let below = stretch.finished.counts_at_or_below(values);
    below.into_iter().map(|below| stretch.offered.saturating_sub(below)).collect()
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::Range;

    const SECOND_NS: u64 = 1_000_000_000;
    const RATE_PER_S: f64 = 400.0;

    /// Histograms are of microseconds, up to ten seconds: that is much less to add up and to count
    /// than nanoseconds up to an hour.
    const UNIT_NS: u64 = 1_000;
    const RANGE: Range = Range { highest_ns: 10 * SECOND_NS / UNIT_NS };

    /// The seconds of M/M/c, begun long before them, at a load and with 400 arrivals a second.
    fn queue(random: &mut Xoshiro256PlusPlus, servers: usize, load: f64, n: u64) -> Vec<Stretch> {
        let warm_ns = 20 * SECOND_NS;
        let mut next = |mean_ns| crate::exponential_ns(random.next_u64(), mean_ns);
        let (mut arrivals, mut now) = (Vec::new(), 0);
        while now < warm_ns + n * SECOND_NS {
            now += next(1e9 / RATE_PER_S);
            arrivals.push(now);
        }
        arrivals.pop();
        let mean_ns = servers as f64 * load * 1e9 / RATE_PER_S;
        let services: Vec<u64> = arrivals.iter().map(|_| next(mean_ns)).collect();
        let served = crate::kiefer_wolfowitz(&arrivals, &services, servers);
        let empty = Stretch { offered: 0, finished: Histogram::new(RANGE) };
        let mut seconds = vec![empty; usize::try_from(n).expect("a few")];
        for (came_ns, of) in arrivals.iter().zip(&served).filter(|(came, _)| **came >= warm_ns) {
            let second = &mut seconds[((came_ns - warm_ns) / SECOND_NS) as usize];
            second.offered += 1;
            second.finished.record((of.finish_ns - came_ns) / UNIT_NS);
        }
        seconds
    }

    fn values(stretches: &[Stretch], ranks: Ranks) -> (u64, u64) {
        let mut all = Histogram::new(RANGE);
        stretches.iter().for_each(|stretch| all.add(&stretch.finished));
        let value = |rank| all.value_at_rank(rank).expect("a rank in 1..=n");
        (value(ranks.low), value(ranks.high))
    }

    /// Of many runs of M/M/1: the shares that were given an interval, and of these the shares that
    /// held the truth, for p50, p90 and p99.
    fn coverage(load: f64, n_seconds: u64, trials: u32) -> [(f64, f64); 3] {
        let quantiles = [0.5, 0.9, 0.99];
        let mut random = Xoshiro256PlusPlus::seed_from_u64(21);
        let (mut given, mut held) = ([0_u32; 3], [0_u32; 3]);
        for _ in 0..trials {
            let seconds = queue(&mut random, 1, load, n_seconds);
            for (index, ranks) in dependent_ranks(&seconds, &quantiles, 0.95).iter().enumerate() {
                let Ok(ranks) = ranks else { continue };
                let (low, high) = values(&seconds, *ranks);
                let rate_beyond = RATE_PER_S / load - RATE_PER_S;
                let truth = (-(1.0 - quantiles[index]).ln() / rate_beyond * 1e6) as u64;
                given[index] += 1;
                held[index] += u32::from(low <= truth && truth <= high);
            }
        }
        let share = |of: u32, all: u32| f64::from(of) / f64::from(all.max(1));
        [0, 1, 2].map(|index| (share(given[index], trials), share(held[index], given[index])))
    }

    #[test]
    fn intervals_of_a_queue_hold_the_truth_or_are_withheld() {
        for (load, n_seconds) in [(0.5, 60), (0.8, 120)] {
            for (given, held) in coverage(load, n_seconds, 80) {
                // Two standard errors of 80 trials below 92 %.
                let is_good = given < 0.5 || held >= 0.86;
                assert!(is_good, "{load} {n_seconds} s: given {given}, held {held}");
            }
        }
        let [p50, p90, p99] = coverage(0.5, 60, 40);
        assert!(p50.0 == 1.0 && p90.0 == 1.0 && p99.0 > 0.6, "{p50:?} {p90:?} {p99:?}");
        assert!(coverage(0.9, 60, 20)[2].0 < 0.1, "one minute of a busy queue has no p99");
    }

    /// Of many series of seconds: how often the intervals of the shares below some bounds hold the
    /// truth, which long runs tell.
    fn share_coverage(
        mut seconds: impl FnMut(&mut Xoshiro256PlusPlus) -> Vec<Stretch>,
        bounds: &[(u64, f64)],
        trials: u32,
    ) -> Vec<f64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(77);
        let mut held = vec![0_u32; bounds.len()];
        for _ in 0..trials {
            let seconds = seconds(&mut random);
            let factors = share_dispersions(&seconds, 0.95).expect("long enough");
            let n: u64 = seconds.iter().map(|second| second.offered).sum();
            for ((bound, truth), held) in bounds.iter().zip(&mut held) {
                let below: u64 = seconds.iter().map(|s| s.finished.count_below(*bound)).sum();
                let share = below as f64 / n as f64;
                let factor = dispersion_at(&factors, share);
                let (low, high) = crate::share_interval(share, n as f64 / factor, 0.95);
                *held += u32::from(low <= *truth && *truth <= high);
            }
        }
        held.into_iter().map(|held| f64::from(held) / f64::from(trials)).collect()
    }

    #[test]
    fn shares_below_bounds_of_a_queue_are_held_as_often_as_they_say() {
        // M/M/1: the time in the system is exponential with what the server has to spare.
        for (load, n_seconds, least) in [(0.5, 60, 0.9), (0.8, 240, 0.88)] {
            let spare = RATE_PER_S / load - RATE_PER_S;
            let bound = |share: f64| ((-(1.0 - share).ln() / spare * 1e6) as u64, share);
            let bounds = [0.1, 0.4, 0.8, 0.97, 0.995].map(bound);
            let held = share_coverage(|random| queue(random, 1, load, n_seconds), &bounds, 100);
            assert!(held.iter().all(|held| *held >= least), "{load}: {held:?}");
        }
    }

    /// Means of response times, in microseconds, that follow a shot noise: each shot lifts them by
    /// a half on average, and fades with a time constant of `tau` seconds. Nothing was tuned on it.
    fn swinging(random: &mut Xoshiro256PlusPlus, n: usize, tau: f64) -> Vec<f64> {
        let fade = (-1.0 / tau).exp();
        let mut level = 0.0;
        let mut next = || {
            let shots = f64::from(u8::from(crate::unit(random.next_u64()) < 0.2));
            level = level * fade + shots * crate::exponential(random.next_u64());
            10e3 * (1.0 + 0.5 * level)
        };
        (0..n + 100).map(|_| next()).skip(100).collect()
    }

    #[test]
    fn shares_below_bounds_that_swing_with_a_slow_level_are_held() {
        for (tau, n_seconds) in [(1.0, 80), (3.0, 80), (5.0, 80)] {
            let long = swinging(&mut Xoshiro256PlusPlus::seed_from_u64(8), 400_000, tau);
            // Times of a second are exponential.
            let truth = |bound: u64| {
                let below = long.iter().map(|mean| -(-(bound as f64) / mean).exp_m1());
                (bound, below.sum::<f64>() / long.len() as f64)
            };
            let bounds = [2_000, 10_000, 40_000, 100_000].map(truth);
            let seconds = |random: &mut Xoshiro256PlusPlus| -> Vec<Stretch> {
                let means = swinging(random, n_seconds, tau);
                let mut second = |mean: f64| {
                    let mut finished = Histogram::new(RANGE);
                    for _ in 0..100 {
                        finished.record(crate::exponential_ns(random.next_u64(), mean));
                    }
                    Stretch { offered: 100, finished }
                };
                means.into_iter().map(&mut second).collect()
            };
            let held = share_coverage(seconds, &bounds, 150);
            assert!(held.iter().all(|held| *held >= 0.9), "{tau}: {bounds:?} {held:?}");
        }
    }

    /// Seconds in which short transactions share four servers with a few long ones, begun long
    /// before them: 800 a second of 2 ms, and 12 of 120 ms.
    fn mixture(random: &mut Xoshiro256PlusPlus, n: u64) -> Vec<Stretch> {
        let warm_ns = 20 * SECOND_NS;
        let until_ns = warm_ns + n * SECOND_NS;
        let mut all: Vec<(u64, u64)> = Vec::new();
        for (rate, steps) in [(800.0, 1), (12.0, 60)] {
            let mut next = |mean_ns| crate::exponential_ns(random.next_u64(), mean_ns);
            let mut now = next(1e9 / rate);
            while now < until_ns {
                all.push((now, (0..steps).map(|_| next(2e6)).sum()));
                now += next(1e9 / rate);
            }
        }
        of_four_servers(all, warm_ns, n)
    }

    /// Seconds of four servers at a load of 0.93, with 140 arrivals a second whose service times
    /// are lognormal (σ 1.5), begun long before them.
    fn heavy_tailed(random: &mut Xoshiro256PlusPlus, n: u64) -> Vec<Stretch> {
        let warm_ns = 100 * SECOND_NS;
        let (mut all, mut now): (Vec<(u64, u64)>, u64) = (Vec::new(), 0);
        while now < warm_ns + n * SECOND_NS {
            let normal = crate::normal(&mut || random.next_u64());
            all.push((now, (4.0 * 0.93 / 140.0 * 1e9 * (1.5 * normal - 1.125).exp()) as u64));
            now += crate::exponential_ns(random.next_u64(), 1e9 / 140.0);
        }
        of_four_servers(all, warm_ns, n)
    }

    fn of_four_servers(mut all: Vec<(u64, u64)>, warm_ns: u64, n: u64) -> Vec<Stretch> {
        all.sort_unstable();
        let (arrivals, services): (Vec<u64>, Vec<u64>) = all.into_iter().unzip();
        let served = crate::kiefer_wolfowitz(&arrivals, &services, 4);
        let empty = Stretch { offered: 0, finished: Histogram::new(RANGE) };
        let mut seconds = vec![empty; usize::try_from(n).expect("a few")];
        for (came_ns, of) in arrivals.iter().zip(&served).filter(|(came, _)| **came >= warm_ns) {
            let second = &mut seconds[((came_ns - warm_ns) / SECOND_NS) as usize];
            second.offered += 1;
            second.finished.record((of.finish_ns - came_ns) / UNIT_NS);
        }
        seconds
    }

    #[test]
    fn upper_ends_hold_where_a_few_long_transactions_share_the_servers() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(12);
        let runs: Vec<Vec<Stretch>> = (0..120).map(|_| mixture(&mut random, 60)).collect();
        let mut all = Histogram::new(RANGE);
        runs.iter().flatten().for_each(|second| all.add(&second.finished));
        let quantiles = [0.5, 0.9, 0.95];
        let (mut given, mut too_low) = ([0; 4], [0; 4]);
        for seconds in &runs {
            let ranks = dependent_ranks(seconds, &quantiles, 0.95);
            for (index, ranks) in ranks.into_iter().enumerate() {
                let truth = all.quantile(quantiles[index]).expect("samples");
                let Ok(ranks) = ranks else { continue };
                given[index] += 1;
                too_low[index] += u32::from(values(seconds, ranks).1 < truth);
            }
            if let Ok((_, high)) = dependent_mean(seconds, 0.95) {
                given[3] += 1;
                too_low[3] += u32::from(high < all.mean());
            }
        }
        for (given, too_low) in given.into_iter().zip(too_low) {
            // Two standard errors above 5 %.
            let most = 0.05 + 2.0 * (0.05 * 0.95 / f64::from(given)).sqrt();
            assert!(f64::from(too_low) <= most * f64::from(given), "{too_low} of {given}");
        }
        assert!(given[0] == 120 && given[1] > 40 && given[3] > 100, "{given:?}");
    }

    #[test]
    fn medians_of_a_queue_that_takes_as_long_as_the_run_are_wide_and_not_those_of_calm_runs() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(15);
        let runs: Vec<Vec<Stretch>> = (0..150).map(|_| heavy_tailed(&mut random, 60)).collect();
        let mut all = Histogram::new(RANGE);
        runs.iter().flatten().for_each(|second| all.add(&second.finished));
        let truth = all.quantile(0.5).expect("samples");
        let interval = |seconds: &Vec<Stretch>| {
            let ranks = dependent_ranks(seconds, &[0.5], 0.95)[0].ok()?;
            Some(values(seconds, ranks))
        };
        let given: Vec<(u64, u64)> = runs.iter().filter_map(interval).collect();
        let held = given.iter().filter(|(low, high)| *low <= truth && truth <= *high).count();
        let held = held as f64 / given.len() as f64;
        // Two standard errors of 150 below 92 %.
        assert!(given.len() >= 135 && held >= 0.875, "{} {held}", given.len());
    }

    #[test]
    fn a_calm_run_of_a_heavy_tailed_queue_has_no_mean() {
        // One long transaction holds up a second: what is rare makes the mean.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(13);
        let mut seconds = queue(&mut random, 1, 0.5, 60);
        assert!(dependent_mean(&seconds, 0.95).is_ok());
        let far_ns = 9 * SECOND_NS / UNIT_NS;
        (0..1_000).for_each(|_| seconds[20].finished.record(far_ns));
        (0..2_000).for_each(|_| seconds[40].finished.record(far_ns));
        let found = dependent_mean(&seconds, 0.95);
        assert!(matches!(found, Err(NoInterval::TooDependent { .. })), "{found:?}");
        let found = dependent_mean(&seconds[..15], 0.95);
        assert_eq!(found, Err(NoInterval::TooShort { needed: 16, have: 15 }));
        assert!(matches!(dependent_mean(&[], 0.95), Err(NoInterval::TooFew(_))));
        let mut equal = Histogram::new(RANGE);
        equal.record_n(7, 3);
        let equal = vec![Stretch { offered: 3, finished: equal }; 20];
        assert_eq!(dependent_mean(&equal, 0.95), Ok((7.0, 7.0)));
    }

    #[test]
    fn shares_of_which_nothing_scatters_are_those_of_independent_samples() {
        let mut finished = Histogram::default();
        finished.record_n(20_000_000, 50);
        let seconds = vec![Stretch { offered: 50, finished }; 30];
        let factors = share_dispersions(&seconds, 0.95).expect("long enough");
        assert!(factors.iter().all(|of| of.factor == 1.0), "{factors:?}");
        assert_eq!((dispersion_at(&factors, 0.0), dispersion_at(&factors, 1.0)), (1.0, 1.0));
        assert_eq!(
            share_dispersions(&seconds[..9], 0.95),
            Err(NoInterval::TooShort { needed: 10, have: 9 })
        );
        assert!(matches!(share_dispersions(&[], 0.95), Err(NoInterval::TooFew(_))));
    }

    #[test]
    fn what_is_missing_for_an_interval_is_named() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let minute = queue(&mut random, 1, 0.5, 60);
        let of = |seconds: usize, q| dependent_ranks(&minute[..seconds], &[q], 0.95)[0];
        assert_eq!(of(9, 0.5), Err(NoInterval::TooShort { needed: 10, have: 9 }));
        assert!(matches!(of(60, 0.99999), Err(NoInterval::TooFew(_))));
        assert!(of(10, 0.5).is_ok() && of(60, 0.9).is_ok());
        assert!(matches!(
            dependent_ranks(&[], &[0.5], 0.95)[0],
            Err(NoInterval::TooFew(TooFew { have: 0, .. }))
        ));
        // A minute's samples beyond the quantile in one second of it.
        let mut one = minute;
        (0..400).for_each(|_| one[30].finished.record(5 * SECOND_NS / UNIT_NS));
        one[30].offered += 400;
        let found = dependent_ranks(&one, &[0.99], 0.95)[0];
        assert!(matches!(found, Err(NoInterval::TooDependent { .. })), "{found:?}");
    }

    #[test]
    fn what_was_lost_lies_above_every_time() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut seconds = queue(&mut random, 1, 0.5, 60);
        let without = dependent_ranks(&seconds, &[0.9], 0.95)[0].expect("enough");
        seconds.iter_mut().for_each(|second| second.offered += second.offered / 50);
        let with = dependent_ranks(&seconds, &[0.9], 0.95)[0].expect("enough");
        assert!(with.low > without.low && with.high > without.high, "{without:?} {with:?}");
    }
}
