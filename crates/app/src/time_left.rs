//! Estimates the remaining time of an experiment from the planned durations of its trials and the
//! extra time that past trials took. Not here: its presentation (the interfaces).

/// Estimated remaining time of an experiment, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeLeft {
    /// Sum of the planned durations only, because the extra time for starts, builds and checks is
    /// not known yet.
    AtLeast(u64),
    /// Planned durations, plus the extra time that past trials took on average.
    About(u64),
}

/// Extra time of each past trial of an experiment beyond its planned duration, for starting
/// servers, building and checking data, and connecting.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    beyond_ns: Vec<i64>,
}

impl Pace {
    /// Records how long a trial took (`spent_ns`), and its planned duration.
    pub(crate) fn took(&mut self, spent_ns: u64, planned_ns: u64) {
        self.beyond_ns.push(spent_ns as i64 - planned_ns as i64);
    }

    /// Estimates the remaining time from the planned durations of the trials to come, including
    /// pauses. A duration is `None` if a condition ends the trial; then the result is `None` until
    /// a first trial has ended.
    pub(crate) fn left(&self, planned_ns: impl Iterator<Item = Option<u64>>) -> Option<TimeLeft> {
        let all: Vec<Option<u64>> = planned_ns.collect();
        let planned: u64 = all.iter().flatten().sum();
        let Some(beyond_ns) = self.mean_beyond_ns() else {
            return all.iter().all(Option::is_some).then_some(TimeLeft::AtLeast(planned));
        };
        let beyond_ns = beyond_ns.saturating_mul(all.len() as i64);
        Some(TimeLeft::About(planned.saturating_add_signed(beyond_ns)))
    }

    /// Returns the mean extra time of a trial in nanoseconds; `None` before the first trial. The
    /// first trial, which started servers and built data, does not count once there are others.
    fn mean_beyond_ns(&self) -> Option<i64> {
        let later = match &self.beyond_ns[..] {
            [_, later @ ..] if !later.is_empty() => later,
            all => all,
        };
        let sum: i64 = later.iter().sum();
        (!later.is_empty()).then(|| sum / later.len() as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn the_time_left_of_equal_trials_only_falls_after_the_first() {
        let mut pace = Pace::default();
        let n_trials = 10;
        let left = |pace: &Pace, n: usize| pace.left(std::iter::repeat_n(Some(30 * S), n));
        assert_eq!(left(&pace, n_trials), Some(TimeLeft::AtLeast(300 * S)));
        // The first trial builds the data, and the others differ by some tenths of a second.
        let mut before = u64::MAX;
        for nth in 0..n_trials - 1 {
            let beyond = if nth == 0 { 60 * S } else { 4 * S + (nth as u64 % 3) * S / 5 };
            pace.took(30 * S + beyond, 30 * S);
            let Some(TimeLeft::About(ns)) = left(&pace, n_trials - 1 - nth) else {
                panic!("a trial was made")
            };
            assert!(ns < before, "{nth}: {ns} after {before}");
            before = ns;
        }
        assert!((34 * S..35 * S).contains(&before), "{before}");
    }

    #[test]
    fn trials_of_several_lengths_take_what_is_planned_of_each() {
        let mut pace = Pace::default();
        pace.took(12 * S, 10 * S);
        pace.took(12 * S, 10 * S);
        let left = pace.left([Some(10 * S), Some(100 * S)].into_iter());
        assert_eq!(left, Some(TimeLeft::About(114 * S)));
        // A trial that a rule ended early took less than planned.
        pace.took(4 * S, 10 * S);
        assert_eq!(pace.left([Some(10 * S)].into_iter()), Some(TimeLeft::About(8 * S)));
    }

    #[test]
    fn trials_without_a_length_take_what_those_before_took() {
        let mut pace = Pace::default();
        assert_eq!(pace.left([None, None].into_iter()), None);
        pace.took(20 * S, 0);
        assert_eq!(pace.left([None, None].into_iter()), Some(TimeLeft::About(40 * S)));
    }
}
