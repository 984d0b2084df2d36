//! Share of a run's transactions that are beyond the times of objectives, added up second by
//! second.
//!
//! A share is a mean and thus linear, so its error follows from batches of seconds even if
//! transactions are autocorrelated. Lost and unfinished transactions are beyond every time; in the
//! mean and the maximum, unfinished ones count with their age. Not here: the verdict (seek).

use std::collections::BTreeMap;

use model::{Bound, Comparison, KindSecond, Metric, NS_PER_MS, Objective, Second};
use stats::ratio_error;

use super::Beyond;

/// Largest number of batches into which a window is divided for the error of its maximum.
const BATCHES: usize = 20;
/// Smallest number of batches with a maximum from which the error of the maximum is estimated.
const BATCHES_MIN: usize = 8;

/// Transactions beyond the bounds of objectives on times, counted by second of the run.
#[derive(Clone, Debug)]
pub struct Late {
    objectives: Vec<(Objective, u64)>,
    seconds: BTreeMap<i64, OfSecond>,
}

/// Transactions that were intended to start in one second, of all groups and types together.
#[derive(Clone, Debug, Default)]
struct OfSecond {
    offered: f64,
    /// Number of the second's transactions that are beyond the bound of each objective.
    beyond: Vec<f64>,
    /// Number of transactions whose time is known: those in the sums `sum_ms` and `sum_ms_sq`.
    timed: f64,
    sum_ms: f64,
    sum_ms_sq: f64,
    max_ns: u64,
}

impl Late {
    /// Creates empty counts for these objectives. Objectives that are not on a time are left out.
    pub fn new(objectives: &[Objective]) -> Late {
        let with_bound = |objective: &Objective| match objective.bound {
            Bound::Time(ns) => Some((*objective, ns)),
            Bound::Share(_) | Bound::Written(_) => None,
        };
        Late {
            objectives: objectives.iter().filter_map(with_bound).collect(),
            seconds: BTreeMap::new(),
        }
    }

    /// Adds the transactions of a second of the run, or a part of them. Seconds of the ramp-up are
    /// ignored.
    pub fn add(&mut self, second: &Second) {
        if second.second < 0 {
            return;
        }
        let sums = self.seconds.entry(second.second).or_default();
        sums.beyond.resize(self.objectives.len(), 0.0);
        for kind in &second.kinds {
            sums.offered += kind.counts.offered() as f64;
            for (beyond, (objective, bound_ns)) in sums.beyond.iter_mut().zip(&self.objectives) {
                *beyond += beyond_in(kind, objective.comparison, *bound_ns) as f64;
            }
            for times in [&kind.response, &kind.unfinished].into_iter().flatten() {
                let (n, mean_ms) = (times.count() as f64, times.mean() / NS_PER_MS as f64);
                if n > 0.0 {
                    sums.timed += n;
                    sums.sum_ms += n * mean_ms;
                    let sd_ms = if n > 1.0 { times.sd() / NS_PER_MS as f64 } else { 0.0 };
                    sums.sum_ms_sq += n * mean_ms * mean_ms + (n - 1.0) * sd_ms * sd_ms;
                    sums.max_ns = sums.max_ns.max(times.max());
                }
            }
        }
    }

    /// Returns the mean or the maximum time in milliseconds. Unfinished transactions count with
    /// their age, and lost ones have no time. `None` for other metrics, or if no time is known.
    pub(super) fn time_ms(&self, metric: Metric) -> Option<f64> {
        let sum =
            |value_of: &dyn Fn(&OfSecond) -> f64| self.seconds.values().map(value_of).sum::<f64>();
        let timed = sum(&|second| second.timed);
        match metric {
            Metric::Mean if timed > 0.0 => Some(sum(&|second| second.sum_ms) / timed),
            Metric::Max if timed > 0.0 => {
                let longest = self.seconds.values().map(|second| second.max_ns).max();
                longest.map(|ns| ns as f64 / NS_PER_MS as f64)
            }
            _ => None,
        }
    }

    /// Returns the excess over the bound of an objective on a time, with its error; `None` if
    /// nothing was offered, or the objective was not given to `new`.
    pub fn beyond(&self, objective: &Objective) -> Option<Beyond> {
        let index = self.objectives.iter().position(|(known, _)| known == objective)?;
        let bound_ms = self.objectives[index].1 as f64 / NS_PER_MS as f64;
        let series = |value_of: &dyn Fn(&OfSecond) -> (f64, f64)| -> Vec<(f64, f64)> {
            self.seconds.values().map(value_of).collect()
        };
        let (ratio, error) = match objective.metric {
            Metric::Max => {
                let ratio = self.time_ms(Metric::Max)? / bound_ms;
                (ratio, self.error_of_longest().map(|error| error * ratio))
            }
            Metric::Mean => {
                let times = series(&|second| (second.sum_ms / bound_ms, second.timed));
                (self.time_ms(Metric::Mean)? / bound_ms, ratio_error(&times))
            }
            metric => {
                let allowed = metric.allowed_beyond()?;
                let shares = series(&|second| (second.beyond[index] / allowed, second.offered));
                let (beyond, offered) = sum(&shares);
                if offered <= 0.0 {
                    return None;
                }
                (beyond / offered, ratio_error(&shares))
            }
        };
        Some(Beyond { objective: *objective, ratio, error, independent: self.independent() })
    }

    /// Returns the effective sample size: the number of independent transactions that would give
    /// the mean time with the same error as these autocorrelated ones. `None` if not known.
    fn independent(&self) -> Option<f64> {
        let times: Vec<(f64, f64)> =
            self.seconds.values().map(|second| (second.sum_ms, second.timed)).collect();
        let (sum_ms, timed) = sum(&times);
        let squares = self.seconds.values().map(|second| second.sum_ms_sq).sum::<f64>();
        let variance = squares / timed - (sum_ms / timed).powi(2);
        let error = ratio_error(&times)?;
        let independent = (variance / (error * error)).min(timed);
        (independent.is_finite() && independent > 0.0).then_some(independent)
    }

    /// Returns the standard error of the logarithm of the longest response time, from the variation
    /// between the longest times of batches of seconds; `None` if there are too few batches. It is
    /// right for exponential tails, whose maximum varies alike in short and long runs, and too
    /// small for heavier ones (E. J. Gumbel, Statistics of Extremes, 1958).
    fn error_of_longest(&self) -> Option<f64> {
        let all: Vec<u64> = self.seconds.values().map(|second| second.max_ns).collect();
        let n = all.len().min(BATCHES);
        let batch = |index: usize| all[index * all.len() / n..(index + 1) * all.len() / n].iter();
        let longest = (0..n).filter_map(|index| batch(index).max().copied());
        let logs: Vec<f64> = longest.filter(|ns| *ns > 0).map(|ns| (ns as f64).ln()).collect();
        (logs.len() >= BATCHES_MIN).then(|| stats::mean(&logs, 0.9).map(|mean| mean.sd))?
    }
}

fn sum(series: &[(f64, f64)]) -> (f64, f64) {
    series.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// Returns the number of transactions of a type beyond a time: those that took longer, were lost,
/// or are unfinished. Those that took exactly as long count too if times have to be below it.
fn beyond_in(kind: &KindSecond, comparison: Comparison, bound_ns: u64) -> u64 {
    let slow = kind.response.as_ref().map_or(0, |response| {
        let in_time = match comparison {
            Comparison::Below => response.count_below(bound_ns),
            _ => response.count_at_or_below(bound_ns),
        };
        response.count() - in_time.min(response.count())
    });
    slow + kind.counts.failed + kind.counts.dropped + kind.counts.unfinished
}

#[cfg(test)]
mod tests {
    use model::{Rng, Stream};
    use stats::Histogram;

    use super::*;

    /// Returns the excess over a bound of one second for the longest transaction of 40 seconds with
    /// 100 random times each.
    fn longest(seed: u64, draw_ms: fn(f64) -> f64) -> Beyond {
        let objective: Objective = "max<1s".parse().expect("an objective");
        let mut late = Late::new(&[objective]);
        let mut rng = Rng::new(seed, Stream::Order, 0);
        for index in 0..40 {
            let mut second = Second::new(0, index);
            let mut times = Histogram::default();
            for _ in 0..100 {
                times.record((draw_ms(1.0 - stats::unit(rng.bits())) * 1e6) as u64);
            }
            let part = second.kind(0);
            (part.counts.committed, part.response) = (times.count(), Some(times));
            late.add(&second);
        }
        late.beyond(&objective).expect("there are requests")
    }

    #[test]
    fn the_error_of_the_longest_time_is_that_of_longest_times() {
        let exponential: fn(f64) -> f64 = |u| -10.0 * u.ln();
        // Tails that fall like the fourth power: their maximum varies more.
        let heavy: fn(f64) -> f64 = |u| 10.0 * u.powf(-0.25);
        let check = |draw_ms: fn(f64) -> f64| {
            let all: Vec<Beyond> = (0..200).map(|seed| longest(seed, draw_ms)).collect();
            let logs: Vec<f64> = all.iter().map(|one| one.ratio.ln()).collect();
            let true_sd = stats::mean(&logs, 0.9).expect("some").sd;
            let said = |one: &Beyond| one.error.expect("there are batches") / one.ratio;
            let said = all.iter().map(said).sum::<f64>() / all.len() as f64;
            assert!((0.8..2.0).contains(&(said / true_sd)), "said {said}, true {true_sd}");
            let median = stats::median(&logs, 0.9).expect("some").value.exp();
            let holds = |one: &&Beyond| (one.ratio - median).abs() <= one.half_width();
            let held = all.iter().filter(holds).count();
            assert!(held >= 170, "{held} of 200");
            said
        };
        assert!(check(heavy) > 1.15 * check(exponential));
    }
}
