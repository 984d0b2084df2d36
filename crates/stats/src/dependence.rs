//! Intervals of quantiles of samples that follow each other in time and depend on each other.
//!
//! Response times of one run share its queue, its caches and its stalls. Order statistics as if
//! they were independent (`order_statistics`) hold the truth in 8 to 70 of 100 minutes of a busy
//! queue. Here a quantile is a mean: the share of samples above it, stretch by stretch, whose
//! error is that of a mean in time (`waves`), and is turned back into ranks (Heidelberger and
//! Lewis, Operations Research 32, 185, 1984; Lolos et al., Winter Simulation Conference 2022).

use std::fmt;

use crate::order_statistics::{Ranks, TooFew, rank, samples_needed};
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
                write!(f, "run too short: needs {needed} stretches, has {have}")
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
const EPISODES_MIN: f64 = 6.0;

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
    let series = Shares { stretches, n, confidence };
    let at: Vec<f64> = WITNESSES.iter().map(|(q, _)| *q).chain(quantiles.iter().copied()).collect();
    let errors = if n == 0 { vec![None; at.len()] } else { series.errors(&all, &at) };
    let (of_witnesses, of_quantiles) = errors.split_at(WITNESSES.len());
    let witnesses: Vec<(f64, f64)> = WITNESSES
        .iter()
        .zip(of_witnesses)
        .filter_map(|((q, more), error)| Some((*q, series.factor(*q, error.as_ref()?) * more)))
        .collect();
    let ranks = |(q, error): (&f64, &Option<MeanError>)| series.ranks(*q, *error, &witnesses);
    quantiles.iter().zip(of_quantiles).map(ranks).collect()
}

/// With fewer, those that lack their worst episode are more among the runs that have an interval
/// than among all, so it is widened by the power of [`LUCK`] of what is missing.
const EPISODES_LUCKY: f64 = 12.0;
const LUCK: f64 = 0.3;

/// Degrees of freedom from which on an error counts as known.
const LARGE: usize = 60;

/// The samples of all stretches.
struct Shares<'a> {
    stretches: &'a [Stretch],
    n: u64,
    confidence: f64,
}

impl Shares<'_> {
    /// By how much the variance of the share above a quantile exceeds that of independent samples;
    /// by half the interval, so that an error of which little is known counts as larger.
    fn factor(&self, q: f64, error: &MeanError) -> f64 {
        let z = students_t(1.0 - (1.0 - self.confidence) / 2.0, LARGE);
        ((error.half_width / z).powi(2) * self.n as f64 / (q * (1.0 - q))).max(1.0)
    }

    /// The errors of the shares of samples above quantiles of `all`, from what each stretch has
    /// more or less of them than its number of samples makes expect.
    fn errors(&self, all: &Histogram, quantiles: &[f64]) -> Vec<Option<MeanError>> {
        let value = |q: &f64| all.value_at_rank(rank(*q, self.n)).unwrap_or(u64::MAX);
        let values: Vec<u64> = quantiles.iter().map(value).collect();
        let counts: Vec<Vec<u64>> =
            self.stretches.iter().map(|stretch| counts_above(stretch, &values)).collect();
        let n = self.n as f64;
        let per_stretch = n / self.stretches.len() as f64;
        let error = |index: usize| {
            let above = |counts: &Vec<u64>| counts[index] as f64;
            let share = counts.iter().map(above).sum::<f64>() / n;
            let excess = |(counts, stretch): (&Vec<u64>, &Stretch)| {
                (above(counts) - share * stretch.offered as f64) / per_stretch
            };
            let series: Vec<f64> = counts.iter().zip(self.stretches).map(excess).collect();
            mean_error(&series, self.confidence)
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
        let own = self.factor(q, &error);
        // What a witness expects of the tail, brought back to where the quantile lies.
        let more = WITNESSES.iter().find(|(at, _)| *at >= q).map_or(1.0, |(_, more)| *more);
        let inner = witnesses.iter().filter(|(at, _)| *at <= q);
        let factor = inner.map(|(_, factor)| factor / more).fold(own, f64::max);
        let episodes = self.n as f64 * q.min(1.0 - q) / factor;
        if episodes < EPISODES_MIN {
            let times_as_long = (1.5 * EPISODES_MIN / episodes).max(2.0);
            return Err(NoInterval::TooDependent { times_as_long });
        }
        let weight = (episodes / EPISODES_MIN).ln() / (EPISODES_ENOUGH / EPISODES_MIN).ln();
        let wider = (factor / own).powf(0.5 * (1.0 - weight.clamp(0.0, 1.0)));
        let luck = (EPISODES_LUCKY / episodes).max(1.0).powf(LUCK);
        self.around(q, error.half_width * wider * luck)
    }

    fn around(&self, q: f64, half_width: f64) -> Result<Ranks, NoInterval> {
        let n = self.n as f64;
        let (low, high) = ((n * (q - half_width)).floor(), (n * (q + half_width)).ceil() + 1.0);
        if low < 1.0 || high > n {
            let times_as_long = (half_width / (1.0 - q).min(q)).powi(2).max(2.0);
            return Err(NoInterval::TooDependent { times_as_long });
        }
        Ok(Ranks { low: low as u64, high: high as u64 })
    }
}

/// How many of a stretch lie above each of some values; what did not finish lies above all.
fn counts_above(stretch: &Stretch, values: &[u64]) -> Vec<u64> {
    let mut below = vec![0; values.len()];
    for (value, n) in stretch.finished.recorded() {
        let of_values = below.iter_mut().zip(values);
        of_values.filter(|(_, limit)| value <= **limit).for_each(|(below, _)| *below += n);
    }
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
        let range = Range { highest_ns: 10 * SECOND_NS };
        let empty = Stretch { offered: 0, finished: Histogram::new(range) };
        let mut seconds = vec![empty; usize::try_from(n).expect("a few")];
        for (came_ns, of) in arrivals.iter().zip(&served).filter(|(came, _)| **came >= warm_ns) {
            let second = &mut seconds[((came_ns - warm_ns) / SECOND_NS) as usize];
            second.offered += 1;
            second.finished.record(of.finish_ns - came_ns);
        }
        seconds
    }

    fn values(stretches: &[Stretch], ranks: Ranks) -> (u64, u64) {
        let mut all = Histogram::new(Range { highest_ns: 10 * SECOND_NS });
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
                let truth = (-(1.0 - quantiles[index]).ln() / rate_beyond * 1e9) as u64;
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
        (0..400).for_each(|_| one[30].finished.record(5 * SECOND_NS));
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
