//! Confidence intervals of quantiles of autocorrelated samples.
//!
//! Response times of one run share its queue, its caches and its stalls. Intervals for independent
//! samples (`order_statistics`) contain the truth in only 8 to 70 of 100 runs of a minute of a busy
//! queue. Here a quantile is treated as a mean: the share of samples above it, in each stretch
//! (equal part) of the run. The error of that mean over time (`waves`) is converted back into ranks
//! (Heidelberger and Lewis, Operations Research 32, 185, 1984; Lolos et al., Winter Simulation
//! Conference 2022). The same errors apply to shares of samples below bounds that are chosen later.

use std::fmt;

use crate::course::Course;
use crate::order_statistics::{Ranks, TooFew, rank, samples_needed};
use crate::rate::{SLOTS_MIN, around_ratio};
use crate::waves::{MeanError, OF_TIMES, VALUES_MIN, mean_error_beside};
use crate::{Histogram, students_t};

/// Samples (such as transactions) in one stretch, which is an equal part of a run: the number
/// offered, and the times of those that finished. Unfinished ones count as longer than any time.
#[derive(Clone, Debug, Default)]
pub struct Stretch {
    /// Number of samples offered in the stretch, whether they finished or not.
    pub offered: u64,
    /// Times of the finished samples, in nanoseconds.
    pub finished: Histogram,
}

/// Offered work and response times of the measured phase, by stretch.
#[derive(Clone, Debug, Default)]
pub struct InTime {
    /// Stretches in the order of time. `offered` counts all work, finished or not, except after
    /// [`InTime::finished`].
    pub stretches: Vec<Stretch>,
    /// Length of a stretch (an equal part of the run), in seconds.
    pub width_s: i64,
    /// Effects that the plan may have on the values of stretches; empty if the plan does not change
    /// the load.
    pub course: Course,
}

impl InTime {
    /// Sets the offered work of each stretch to the number of its finished samples, so that
    /// unfinished work does not count.
    pub fn finished(mut self) -> InTime {
        self.stretches.iter_mut().for_each(|stretch| stretch.offered = stretch.finished.count());
        self
    }
}

/// Reason why a quantile has no confidence interval within a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoInterval {
    /// There are too few samples for an interval, even if they were independent.
    TooFew(TooFew),
    /// Too few stretches (equal parts of the run) to estimate the autocorrelation of samples, or
    /// too short a run to show it.
    TooShort {
        /// Number of stretches that an interval needs.
        needed: u64,
        /// Number of stretches that the run has.
        have: u64,
    },
    /// The plan changes the load and does not repeat often enough, so changes of the system cannot
    /// be separated from effects of the plan.
    Planned,
    /// Samples are so strongly autocorrelated that those beyond the quantile come from only a few
    /// episodes, such as long queues.
    TooDependent {
        /// Approximate factor by which the run must be longer for an interval.
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
            NoInterval::Planned => {
                write!(f, "the planned rate changes and does not repeat often enough")
            }
            NoInterval::TooDependent { times_as_long } => {
                write!(f, "samples depend on each other: needs {times_as_long:.0} times the run")
            }
        }
    }
}

impl std::error::Error for NoInterval {}

/// Witness quantiles, at which the autocorrelation is estimated whichever quantiles are requested.
/// Each has the factor by which autocorrelation may be stronger in the tail.
///
/// The error of a share is that of independent samples times a factor. From the median to the tail
/// of a queue this factor grows, and then stays: by 2 to 3 for M/M/1 and M/M/4 at loads of 0.5 to
/// 0.9. Far in the tail it cannot be estimated from the few episodes that there are, and most runs
/// with a small error there lack their worst episode. So the factor is estimated at quantiles with
/// enough samples, and by that estimate the tail must have enough episodes.
const WITNESSES: [(f64, f64); 4] = [(0.5, 3.0), (0.75, 1.7), (0.9, 1.25), (0.95, 1.1)];

/// Shortest run with a confidence interval, in seconds. A shorter one shows too little of what
/// changes within seconds: in runs of 10 s of a busy queue with some long services, intervals of
/// the p50 contain the truth in 70 %, and in still fewer if only those runs have an interval whose
/// samples seem hardly autocorrelated (`docs/explanation/intervals.md`).
const LENGTH_S_MIN: i64 = 20;

/// Smallest number of independent episodes (such as long queues) beyond a quantile for a confidence
/// interval.
const EPISODES_MIN: f64 = 5.0;

/// Smallest number of independent episodes for an interval of a quantile up to the median. It is
/// lower than [`EPISODES_MIN`]: if runs with few, long episodes had no interval, only runs that
/// lack the longest episodes would have one, and these intervals contain the truth less often than
/// a wide one.
const EPISODES_MIN_MIDDLE: f64 = 2.0;
/// Number of independent episodes, such as long queues, below which the ends of an interval are
/// widened, for a quantile up to the median.
const EPISODES_ENOUGH_MIDDLE: f64 = 24.0;
const MIDDLE: f64 = 0.5;

/// Number of episodes (such as long queues) beyond a quantile above which its error is estimated
/// from their scatter alone. With fewer, the error predicted from the witness quantiles counts too.
const EPISODES_ENOUGH: f64 = 16.0;

/// Returns the ranks of the ends of confidence intervals of several quantiles, in the order of
/// `quantiles`. Effects of the plan do not count as error.
///
/// By simulation (`cargo xtask coverage`), intervals at 95 % contain the truth in 92 to 98 % of
/// runs of queues, of loads with a slow component and of loads that stall. If the stretches cover
/// too short a time for that, the result is mostly [`NoInterval`].
pub fn dependent_ranks(
    in_time: &InTime,
    quantiles: &[f64],
    confidence: f64,
) -> Vec<Result<Ranks, NoInterval>> {
    let series = Shares::new(in_time, confidence);
    let (witnesses, of_quantiles) = series.with_witnesses(quantiles);
    let is_told = series.is_told();
    let ranks =
        |(q, error): (&f64, &Option<ShareError>)| series.ranks(*q, *error, &witnesses, is_told);
    quantiles.iter().zip(&of_quantiles).map(ranks).collect()
}

/// Returns the confidence interval of the mean of finished samples, low and high, in their unit.
///
/// The error is that of the sums of stretches. A few long episodes make up most of the mean of a
/// busy queue, and runs that lack one have a low mean with a small error. So the number of episodes
/// beyond the p90 decides how far that error is trusted: with few, the upper end is widened; with
/// fewer than two, there is no interval.
pub fn dependent_mean(in_time: &InTime, confidence: f64) -> Result<(f64, f64), NoInterval> {
    let series = Shares::new(in_time, confidence);
    let finished =
        |stretch: &Stretch| (stretch.finished.sum() as f64, stretch.finished.count() as f64);
    let slots: Vec<(f64, f64)> = in_time.stretches.iter().map(finished).collect();
    let (sum, count) = slots.iter().fold((0.0, 0.0), |all, slot| (all.0 + slot.0, all.1 + slot.1));
    if count == 0.0 {
        return Err(NoInterval::TooFew(TooFew { needed: 1, have: 0 }));
    }
    let mean = sum / count;
    let ends = series.ends_of_mean(mean, &around_ratio(&slots))?;
    Ok((mean - ends.below, mean + ends.above))
}

/// Overdispersion of a share of samples: the ratio of its variance to the variance for independent
/// samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dispersion {
    /// Share of samples below some bound, from 0 to 1.
    pub share: f64,
    /// Ratio of the variance of the share to that for independent samples; 1 if samples are
    /// independent.
    pub factor: f64,
}

/// Shares of samples at which the overdispersion is estimated.
const SHARES: [f64; 9] = [0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/// Returns the overdispersions of shares of samples below bounds, for shares rising from 0 to 1.
/// Bounds need not be known yet: [`dispersion_at`] finds the factor for any share in between. Fails
/// if there are no samples or too few stretches, or if effects of the plan hide changes of the
/// system.
///
/// If fewer than five independent episodes lie beyond a bound, their scatter is not used: the tail
/// is taken to be as dispersed as the witness quantiles predict.
pub fn share_dispersions(in_time: &InTime, confidence: f64) -> Result<Vec<Dispersion>, NoInterval> {
    let series = Shares::new(in_time, confidence);
    if series.n == 0 {
        return Err(NoInterval::TooFew(TooFew { needed: 1, have: 0 }));
    }
    series.is_long(VALUES_MIN as u64)?;
    if !series.is_told() {
        return Err(NoInterval::Planned);
    }
    let (witnesses, errors) = series.with_witnesses(&SHARES);
    let dispersion = |tail: &ShareError| {
        let share = 1.0 - tail.above;
        let is_between = tail.above > 0.0 && share > 0.0;
        let widened = is_between.then(|| series.widened(share, tail.error, &witnesses))?;
        (widened.episodes >= EPISODES_MIN).then(|| {
            let error = MeanError { half_width: widened.ends.above, ..tail.error };
            Dispersion { share, factor: series.factor(share, &error) }
        })
    };
    let mut seen: Vec<Dispersion> = errors.iter().flatten().filter_map(dispersion).collect();
    seen.sort_by(|a, b| a.share.total_cmp(&b.share));
    let tail = witnesses.iter().map(|(_, factor)| *factor).fold(1.0, f64::max);
    // Without scatter, equal samples contain no information on the tail.
    let (first, last) = match &seen[..] {
        [] => (1.0, 1.0),
        [first, ..] => (first.factor, seen[seen.len() - 1].factor.max(tail)),
    };
    seen.insert(0, Dispersion { share: 0.0, factor: first });
    seen.push(Dispersion { share: 1.0, factor: last });
    Ok(seen)
}

/// Returns the overdispersion factor at any share: the larger factor of the two neighbours in
/// `all`, at least 1.
pub fn dispersion_at(all: &[Dispersion], share: f64) -> f64 {
    let below = all.iter().rev().find(|known| known.share <= share);
    let above = all.iter().find(|known| known.share >= share);
    below.into_iter().chain(above).map(|known| known.factor).fold(1.0, f64::max)
}

/// Exponent for widening the upper end of an interval if there are fewer than [`EPISODES_ENOUGH`]
/// episodes: by the factor ([`EPISODES_ENOUGH`] / episodes) to this power. Runs that lack their
/// worst episode are more frequent among runs with an interval than among all.
const LUCK: f64 = 0.5;

/// Factor on the number of episodes if the plan changes the load: the tail is then in the busy
/// parts of the run, about which the witness quantiles say less.
const PLANNED: f64 = 0.5;
/// Smallest effective number of stretches (equal parts of a run) that must contain samples of the
/// tail, if the plan changes the load. With fewer there is no interval.
const STRETCHES_BEYOND_MIN: f64 = 6.0;

/// Skewness of a sum over one episode, if sizes are exponential and times random. For `n` episodes,
/// the skewness is this divided by the root of `n`.
const SKEW_OF_EPISODE: f64 = 1.5;

/// Largest share by which skewness shortens the distance between an estimate and the lower end of
/// its confidence interval.
const NEARER_MAX: f64 = 0.3;

/// Smallest number of episodes (times with samples beyond the p90) for a confidence interval of a
/// mean, which depends on its tail. With fewer there is none.
const MEAN_EPISODES_MIN: f64 = 2.0;
/// Number of episodes beyond the p90 below which the upper end of the interval of a mean is
/// widened, by the root of (this number / episodes).
const MEAN_EPISODES_ENOUGH: f64 = 16.0;
const MEAN_TAIL: f64 = 0.9;

/// Degrees of freedom from which a standard error counts as exactly known.
const LARGE: usize = 60;

/// Samples of all stretches of a run, from which the errors of quantiles and means are estimated.
struct Shares<'a> {
    stretches: &'a [Stretch],
    width_s: i64,
    course: &'a Course,
    all: Histogram,
    n: u64,
    confidence: f64,
}

/// Share of samples above a value, with the error of this share.
#[derive(Clone, Copy, Debug)]
struct ShareError {
    above: f64,
    error: MeanError,
    /// Effective number of stretches that contain samples above the value.
    stretches: f64,
}

/// Distances between an estimate and the lower and upper ends of its confidence interval.
#[derive(Clone, Copy, Debug)]
struct Ends {
    below: f64,
    above: f64,
}

impl Ends {
    /// Returns the ends of the interval of a positively skewed sum, both shifted upwards, because
    /// runs with a small sum also have a small estimated error (Johnson, Journal of the American
    /// Statistical Association 73, 536, 1978; Hall, Journal of the Royal Statistical Society B 54,
    /// 221, 1992).
    fn of_skewed(half_width: f64, skew: f64, z: f64) -> Ends {
        let shift = skew.clamp(0.0, 1.0) * (2.0 * z * z + 1.0) / (6.0 * z);
        Ends {
            below: half_width * (1.0 - shift.min(NEARER_MAX)),
            above: half_width * (1.0 + shift),
        }
    }
}

/// Error of the share of samples beyond a quantile, widened if the tail has few independent
/// episodes.
struct Widened {
    /// Distances of the ends of the interval from the quantile, as shares of the samples.
    ends: Ends,
    /// Number of independent episodes, such as long queues, beyond the quantile.
    episodes: f64,
}

impl<'a> Shares<'a> {
    fn new(in_time: &'a InTime, confidence: f64) -> Shares<'a> {
        assert!(confidence > 0.0 && confidence < 1.0, "a confidence lies between 0 and 1");
        let InTime { stretches, width_s, course } = in_time;
        let mut all = Histogram::default();
        for stretch in stretches {
            match all.is_empty() {
                // The first one brings the range, beyond which values are overflow.
                true => all.clone_from(&stretch.finished),
                false => all.add(&stretch.finished),
            }
        }
        let n = stretches.iter().map(|stretch| stretch.offered).sum();
        Shares { stretches, width_s: *width_s, course, all, n, confidence }
    }

    /// Returns two results: the dispersion factors that the witness quantiles predict for the tail,
    /// as (witness quantile, factor), and the errors of the shares of samples above `quantiles`.
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

    /// Returns the ends of the confidence interval of a mean, given the deviations of the stretches
    /// from that mean. Fails if the run is too short, or has too few episodes of long times, or if
    /// effects of the plan hide changes of the system.
    fn ends_of_mean(&self, mean: f64, around: &[f64]) -> Result<Ends, NoInterval> {
        self.is_long(SLOTS_MIN)?;
        let error = mean_error_beside(around, self.course, &OF_TIMES, self.confidence);
        let error = error.filter(|_| self.is_told()).ok_or(NoInterval::Planned)?;
        if error.half_width == 0.0 {
            return Ok(Ends { below: 0.0, above: 0.0 });
        }
        let (witnesses, tail) = self.with_witnesses(&[MEAN_TAIL]);
        let tail = tail[0].ok_or(NoInterval::Planned)?;
        self.is_spread(&tail)?;
        let episodes = self.widened(MEAN_TAIL, tail.error, &witnesses).episodes;
        // As many episodes as make such an error, if the whole mean were of them.
        let own = (mean * self.z() / error.half_width).powi(2);
        let lacking = (MEAN_EPISODES_MIN / episodes).max(EPISODES_MIN / own);
        if lacking > 1.0 {
            return Err(NoInterval::TooDependent { times_as_long: (1.5 * lacking).max(2.0) });
        }
        let skew = error.skew.max(SKEW_OF_EPISODE / episodes.sqrt());
        let ends = self.ends(error.half_width, skew);
        let missing = (MEAN_EPISODES_ENOUGH / episodes).max(1.0).sqrt();
        Ok(Ends { above: ends.above * missing, ..ends })
    }

    /// Returns the ends of the confidence interval of a skewed sum. If the plan changes the load,
    /// skewness does not reduce the distance of the lower end, because the number of long times
    /// does not depend on chance alone.
    fn ends(&self, half_width: f64, skew: f64) -> Ends {
        let ends = Ends::of_skewed(half_width, skew, self.z());
        if self.course.is_empty() { ends } else { Ends { below: half_width, ..ends } }
    }

    /// Checks that there are at least `stretches_min` stretches, and that together they are long
    /// enough to show how samples depend on each other. Fails otherwise.
    fn is_long(&self, stretches_min: u64) -> Result<(), NoInterval> {
        let in_length = LENGTH_S_MIN.unsigned_abs().div_ceil(self.width_s.max(1).unsigned_abs());
        let (needed, have) = (stretches_min.max(in_length), self.stretches.len() as u64);
        if have < needed { Err(NoInterval::TooShort { needed, have }) } else { Ok(()) }
    }

    /// Whether changes of the system can be distinguished from the effects of a plan that changes
    /// the load.
    fn is_told(&self) -> bool {
        self.course.is_empty()
            || self.excesses(&[MIDDLE]).iter().all(|(_, series)| self.course.is_told(series))
    }

    /// Checks that enough stretches contain samples above a value (`tail`) if the plan changes the
    /// load. Otherwise fails: such samples come from a few episodes, even if there are many.
    fn is_spread(&self, tail: &ShareError) -> Result<(), NoInterval> {
        match self.course.is_empty() || tail.stretches >= STRETCHES_BEYOND_MIN {
            true => Ok(()),
            false => {
                let times_as_long = (1.5 * STRETCHES_BEYOND_MIN / tail.stretches).max(2.0);
                Err(NoInterval::TooDependent { times_as_long })
            }
        }
    }

    /// Returns the overdispersion factor of the share above quantile `q`, at least 1: its variance
    /// relative to that for independent samples. The variance is taken from half the interval, so
    /// that an uncertain error counts as larger.
    fn factor(&self, q: f64, error: &MeanError) -> f64 {
        ((error.half_width / self.z()).powi(2) * self.n as f64 / (q * (1.0 - q))).max(1.0)
    }

    /// Returns the errors of the shares of samples above quantiles; `None` for one if the effects
    /// of the plan leave too little to estimate it.
    fn errors(&self, quantiles: &[f64]) -> Vec<Option<ShareError>> {
        let error = |(counts, series): (Vec<u64>, Vec<f64>)| {
            let error = mean_error_beside(&series, self.course, &OF_TIMES, self.confidence)?;
            let sum: f64 = counts.iter().map(|n| *n as f64).sum();
            let squares: f64 = counts.iter().map(|n| (*n as f64).powi(2)).sum();
            let stretches = if squares > 0.0 { sum * sum / squares } else { 0.0 };
            Some(ShareError { above: sum / self.n as f64, error, stretches })
        };
        self.excesses(quantiles).into_iter().map(error).collect()
    }

    /// Returns for each quantile the number of samples above it in each stretch, and by how much
    /// that exceeds the expected number, as a share of the mean number of samples in a stretch.
    fn excesses(&self, quantiles: &[f64]) -> Vec<(Vec<u64>, Vec<f64>)> {
        let value = |q: &f64| self.all.value_at_rank(rank(*q, self.n)).unwrap_or(u64::MAX);
        let values: Vec<u64> = quantiles.iter().map(value).collect();
        let counts: Vec<Vec<u64>> =
            self.stretches.iter().map(|stretch| counts_above(stretch, &values)).collect();
        let n = self.n as f64;
        let per_stretch = n / self.stretches.len() as f64;
        let excess = |index: usize| {
            let counts: Vec<u64> = counts.iter().map(|counts| counts[index]).collect();
            let above = counts.iter().map(|n| *n as f64).sum::<f64>() / n;
            let excess = |(count, stretch): (&u64, &Stretch)| {
                (*count as f64 - above * stretch.offered as f64) / per_stretch
            };
            let series = counts.iter().zip(self.stretches).map(excess).collect();
            (counts, series)
        };
        (0..values.len()).map(excess).collect()
    }

    fn ranks(
        &self,
        q: f64,
        error: Option<ShareError>,
        witnesses: &[(f64, f64)],
        is_told: bool,
    ) -> Result<Ranks, NoInterval> {
        let needed = samples_needed(q, (1.0 - self.confidence) / 2.0);
        if self.n < needed {
            return Err(NoInterval::TooFew(TooFew { needed, have: self.n }));
        }
        self.is_long(VALUES_MIN as u64)?;
        let share = error.filter(|_| is_told).ok_or(NoInterval::Planned)?;
        self.is_spread(&share)?;
        let Widened { ends, episodes } = self.widened(q, share.error, witnesses);
        let least = if q <= MIDDLE { EPISODES_MIN_MIDDLE } else { EPISODES_MIN };
        if episodes < least {
            let times_as_long = (1.5 * least / episodes).max(2.0);
            return Err(NoInterval::TooDependent { times_as_long });
        }
        self.around(q, ends)
    }

    /// Returns the error of the share of samples beyond `q`. If there are few episodes, it is
    /// widened to what the witness quantiles predict.
    fn widened(&self, q: f64, error: MeanError, witnesses: &[(f64, f64)]) -> Widened {
        let own = self.factor(q, &error);
        // The factor that a witness quantile predicts for the tail, converted to where the quantile
        // lies.
        let more = WITNESSES.iter().find(|(at, _)| *at >= q).map_or(1.0, |(_, more)| *more);
        let inner = witnesses.iter().filter(|(at, _)| *at <= q);
        let factor = inner.map(|(_, factor)| factor / more).fold(own, f64::max);
        let episodes = self.n as f64 * q.min(1.0 - q) / factor;
        let weight = (episodes / EPISODES_MIN).ln() / (EPISODES_ENOUGH / EPISODES_MIN).ln();
        let wider = (factor / own).powf(0.5 * (1.0 - weight.clamp(0.0, 1.0)));
        let worth = if self.course.is_empty() { episodes } else { episodes * PLANNED };
        let enough = if q <= MIDDLE { EPISODES_ENOUGH_MIDDLE } else { EPISODES_ENOUGH };
        let luck = (enough / worth).max(1.0).powf(LUCK);
        let ends = self.ends(error.half_width * wider, SKEW_OF_EPISODE / worth.sqrt());
        // Up to the median, a run may lack calm episodes as well as busy ones.
        let below = if q <= MIDDLE { ends.below * luck } else { ends.below };
        Widened { ends: Ends { below, above: ends.above * luck }, episodes }
    }

    /// Returns the ranks of the ends of the interval around a quantile. Fails if the upper end is
    /// above the largest sample.
    ///
    /// At the upper end, as many samples lie beyond as an unlucky run has beyond the true quantile.
    /// Since these are fewer than beyond the estimated quantile, the error is smaller there, by the
    /// root of the ratio. A lower end at the smallest sample means that nothing is known of it.
    fn around(&self, q: f64, ends: Ends) -> Result<Ranks, NoInterval> {
        let (n, beyond) = (self.n as f64, 1.0 - q);
        // The share x of the samples beyond q that solves x + error sqrt(x) = 1.
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

    /// Returns the number of standard errors between an estimate and the ends of its confidence
    /// interval, if the error is exactly known.
    fn z(&self) -> f64 {
        students_t(1.0 - (1.0 - self.confidence) / 2.0, LARGE)
    }
}

/// Returns the number of samples of a stretch above each of `values`. Unfinished work counts as
/// above all values.
fn counts_above(stretch: &Stretch, values: &[u64]) -> Vec<u64> {
    let below = stretch.finished.counts_at_or_below(values);
    below.into_iter().map(|below| stretch.offered.saturating_sub(below)).collect()
}

#[cfg(test)]
mod tests;
