//! A rate of arrivals that changes over time, and the arrival times that follow from it.
//!
//! Arrivals at a changing rate are those at a constant rate of one with a stretched time: the n-th
//! comes when the integral of the rate reaches the time of the n-th arrival at the constant rate
//! (Çinlar, "Introduction to Stochastic Processes", 1975, chapter 4.7). So one sequence of draws
//! serves every rate, and the number of arrivals is exact. Not here: the draws.

/// Rate of arrivals over time, linear between knots. After the last knot the rate is constant, or
/// repeats from the first knot on.
#[derive(Clone, Debug, PartialEq)]
pub struct Intensity {
    /// Knots in the order of time, the first at time 0. Two knots at the same time are a step of
    /// the rate.
    knots: Vec<Knot>,
    repeats: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Knot {
    at: f64,
    rate: f64,
    /// Integral of the rate from time 0 up to this knot.
    area: f64,
}

impl Intensity {
    /// Creates a rate from points (time, rate per unit of time), which repeats after the last one
    /// if `repeats`. `None` unless times start at 0 and do not decrease, rates are not negative,
    /// and a repeating rate has a length and an integral above 0.
    pub fn new(points: &[(f64, f64)], repeats: bool) -> Option<Intensity> {
        let (first, last) = (points.first()?, points.last()?);
        let is_sound = |&(at, rate): &(f64, f64)| {
            at.is_finite() && rate.is_finite() && at >= 0.0 && rate >= 0.0
        };
        let is_ordered = points.windows(2).all(|pair| pair[0].0 <= pair[1].0);
        if first.0 != 0.0 || !is_ordered || !points.iter().all(is_sound) {
            return None;
        }
        let mut knots = vec![Knot { at: 0.0, rate: first.1, area: 0.0 }];
        for &(at, rate) in &points[1..] {
            let before = knots[knots.len() - 1];
            let area = before.area + (at - before.at) * (before.rate + rate) / 2.0;
            knots.push(Knot { at, rate, area });
        }
        let has_area = knots[knots.len() - 1].area > 0.0;
        (!repeats || (last.0 > 0.0 && has_area)).then_some(Intensity { knots, repeats })
    }

    /// Returns the rate at time `at`; at a step, the rate after it.
    pub fn rate(&self, at: f64) -> f64 {
        let last = self.last();
        let at = if self.repeats { at % last.at } else { at };
        let next = self.knots.partition_point(|knot| knot.at <= at);
        match (self.knots.get(next.wrapping_sub(1)), self.knots.get(next)) {
            (Some(from), Some(to)) => {
                from.rate + (to.rate - from.rate) * (at - from.at) / (to.at - from.at)
            }
            _ => last.rate,
        }
    }

    /// Returns the expected number of events from time 0 to `until`: the integral of the rate.
    pub fn expected(&self, until: f64) -> f64 {
        let last = self.last();
        let rounds = if self.repeats { (until / last.at).floor() } else { 0.0 };
        let at = until - rounds * last.at;
        let next = self.knots.partition_point(|knot| knot.at <= at);
        let from = self.knots[next.saturating_sub(1)];
        rounds * last.area + from.area + (at - from.at) * (from.rate + self.rate(at)) / 2.0
    }

    /// Returns the time at which the expected number of events since 0 reaches `expected`; infinite
    /// if it never does.
    pub fn reached(&self, expected: f64) -> f64 {
        let last = self.last();
        let rounds = if self.repeats { (expected / last.area).floor() } else { 0.0 };
        let left = expected - rounds * last.area;
        let next = self.knots.partition_point(|knot| knot.area <= left);
        let from = self.knots[next.saturating_sub(1)];
        let slope = match self.knots.get(next) {
            Some(to) if to.at > from.at => (to.rate - from.rate) / (to.at - from.at),
            _ => 0.0,
        };
        // The root of `rate t + slope t^2 / 2 = area` in the form that does not cancel.
        let area = left - from.area;
        let root = (from.rate * from.rate + 2.0 * slope * area).max(0.0).sqrt();
        let further = if area > 0.0 { 2.0 * area / (from.rate + root) } else { 0.0 };
        rounds * last.at + from.at + further
    }

    fn last(&self) -> Knot {
        self.knots[self.knots.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
    }

    #[test]
    fn a_constant_rate_is_a_straight_line() {
        let constant = Intensity::new(&[(0.0, 4.0)], false).unwrap();
        assert_eq!(constant.expected(2.5), 10.0);
        assert_eq!(constant.reached(10.0), 2.5);
        assert_eq!(constant.rate(1e9), 4.0);
    }

    #[test]
    fn a_step_changes_the_rate_at_once() {
        let steps = Intensity::new(&[(0.0, 1.0), (10.0, 1.0), (10.0, 5.0)], false).unwrap();
        assert_eq!((steps.rate(9.9), steps.rate(10.0)), (1.0, 5.0));
        assert_eq!(steps.expected(12.0), 20.0);
        assert_eq!(steps.reached(20.0), 12.0);
    }

    #[test]
    fn a_ramp_reaches_its_area_by_the_square_root() {
        let ramp = Intensity::new(&[(0.0, 0.0), (10.0, 10.0)], false).unwrap();
        assert!(near(ramp.reached(12.5), 5.0));
        assert!(near(ramp.expected(20.0), 150.0));
    }

    #[test]
    fn nothing_comes_any_more_where_the_rate_stays_zero() {
        let ends = Intensity::new(&[(0.0, 2.0), (5.0, 2.0), (5.0, 0.0)], false).unwrap();
        assert_eq!(ends.reached(9.0), 4.5);
        assert_eq!(ends.reached(11.0), f64::INFINITY);
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        let none: &[&[(f64, f64)]] =
            &[&[], &[(1.0, 1.0)], &[(0.0, -1.0)], &[(0.0, 1.0), (2.0, 1.0), (1.0, 1.0)]];
        assert!(none.iter().all(|points| Intensity::new(points, false).is_none()));
        assert!(Intensity::new(&[(0.0, 1.0)], true).is_none());
        assert!(Intensity::new(&[(0.0, 0.0), (1.0, 0.0)], true).is_none());
    }

    proptest! {
        #[test]
        fn instants_and_expectations_are_each_others_inverse(
            gaps in prop::collection::vec((0.0..20.0f64, 0.001..50.0f64), 1..12),
            repeats: bool,
            until in 0.0..500.0f64,
        ) {
            let mut at = 0.0;
            let points: Vec<(f64, f64)> = gaps
                .iter()
                .enumerate()
                .map(|(n, &(gap, rate))| {
                    at += if n == 0 { 0.0 } else { gap + 0.01 };
                    (at, rate)
                })
                .collect();
            let repeats = repeats && points.len() > 1;
            let intensity = Intensity::new(&points, repeats).unwrap();
            let expected = intensity.expected(until);
            prop_assert!((intensity.reached(expected) - until).abs() < 1e-6 * until.max(1.0));
            prop_assert!(intensity.expected(until + 1.0) > expected);
        }
    }
}
