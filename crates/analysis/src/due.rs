//! Number of transactions that a plan schedules over time, if it changes the arrival rate. A rise
//! or fall of throughput that follows the plan counts neither as error nor as drift, and the
//! database is not blamed for it.
//!
//! Not here: statistics that allow for planned changes (stats), and judgements (findings).

use model::{ArrivalRate, Load, NS_PER_S};
use stats::{Course, Due, STRETCHES_MAX};

/// Returns true if the plan changes the arrival rate of a load over time, such as by a ramp or
/// sine; false for closed and key/think load.
pub(crate) fn changes(load: &Load) -> bool {
    match load {
        Load::Open { rate, .. } => rate.changes(),
        Load::Closed | Load::KeyThink { .. } => false,
    }
}

/// Returns the number of transactions that the arrival rates of the groups with these `loads` plan
/// for each of `n` slots of `slot_ns` nanoseconds from the start of the measured phase; `None` if
/// no rate changes over time. A load without such a rate, such as a closed one, is taken to rise
/// and fall with the rates in `all`, the loads of all groups.
pub(crate) fn due(loads: &[&Load], all: &[&Load], slot_ns: u64, n: usize) -> Option<Due> {
    let rate = |load: &&Load| match load {
        Load::Open { rate, .. } => Some(rate.clone()),
        Load::Closed | Load::KeyThink { .. } => None,
    };
    let is_counted =
        |rate: &ArrivalRate| !matches!(rate, ArrivalRate::Bytes(_) | ArrivalRate::Records(_));
    let own: Option<Vec<ArrivalRate>> = loads.iter().map(rate).collect();
    let own = own.filter(|rates| rates.iter().all(is_counted));
    let (rates, beside_others) = match own {
        Some(rates) => (rates, false),
        None => (all.iter().filter_map(rate).filter(is_counted).collect(), true),
    };
    if !rates.iter().any(ArrivalRate::changes) {
        return None;
    }
    let mut per_slot = vec![0.0; n];
    for rate in &rates {
        let intensity = rate.intensity();
        let until =
            |slot: usize| intensity.expected(slot as f64 * slot_ns as f64 / NS_PER_S as f64);
        let mut before = 0.0;
        for (slot, due) in per_slot.iter_mut().enumerate() {
            let now = until(slot + 1);
            *due += now - before;
            before = now;
        }
    }
    Some(Due { per_slot, waiting: 0.0, beside_others })
}

/// Approximate number of points in time, over a whole series, at which planned rates are evaluated
/// to find a period with which they repeat.
const SLOTS: usize = 1_600;

/// Divides the first `n_seconds` of a series into at most [`STRETCHES_MAX`] intervals, so that the
/// planned course of its rates has few values. Returns the length of an interval in seconds, and
/// the number of intervals.
pub(crate) fn stretches(n_seconds: usize) -> (i64, usize) {
    let width_s = n_seconds.div_ceil(STRETCHES_MAX).max(1);
    (width_s as i64, n_seconds.div_ceil(width_s))
}

/// Returns the planned course of the changing arrival rates among `loads`, so that measurements
/// which follow it are not taken for a change of the database. The course has `n` intervals of
/// `width_s` seconds each, from second `from_s` of the measured phase on. Empty if every arrival
/// rate is constant.
pub(crate) fn course(loads: &[&Load], from_s: i64, width_s: i64, n: usize) -> Course {
    let changing = loads.iter().filter_map(|load| match load {
        Load::Open { rate, .. } if rate.changes() => Some(rate.intensity()),
        Load::Open { .. } | Load::Closed | Load::KeyThink { .. } => None,
    });
    let each = SLOTS.checked_div(n).unwrap_or(0).max(1);
    let at = |slot: usize| from_s as f64 + slot as f64 * width_s as f64 / each as f64;
    let rates: Vec<Vec<f64>> = changing
        .map(|rate| {
            let until: Vec<f64> = (0..=n * each).map(|slot| rate.expected(at(slot))).collect();
            until.windows(2).map(|pair| pair[1] - pair[0]).collect()
        })
        .collect();
    Course::from_rates(&rates, n)
}

#[cfg(test)]
mod tests {
    use model::{Arrivals, QueueAtEnd, QueueFull};

    use super::*;

    fn open(rate: &str) -> Load {
        let rate = rate.parse().expect("a rate");
        Load::Open {
            arrivals: Arrivals::Poisson,
            rate,
            queue: 10,
            queue_full: QueueFull::Drop,
            queue_wait_ns: None,
            queue_at_end: QueueAtEnd::Serve,
        }
    }

    #[test]
    fn a_course_is_that_of_the_rates_that_change() {
        let (steady, sine) = (open("100"), open("sine 100 swing 50 every 20s"));
        assert!(course(&[&steady, &Load::Closed], 0, 1, 60).is_empty());
        let minute = |loads: &[&Load], from_s: i64| course(loads, from_s, 1, 60);
        let both = minute(&[&steady, &sine, &Load::Closed], 0);
        assert!(!both.is_empty() && both.n_stretches() == 60);
        assert_eq!(both, minute(&[&sine], 0));
        // Another part of a plan has another course.
        let ramp = open("ramp 0 to 90 over 30s");
        assert_ne!(minute(&[&ramp], 0), minute(&[&ramp], 20));
        assert!(minute(&[&ramp], 30).is_empty() && minute(&[&ramp], 0).n_stretches() == 60);
        assert_eq!((stretches(60), stretches(81), stretches(0)), ((1, 60), (2, 41), (1, 0)));
    }

    #[test]
    fn only_a_plan_that_changes_has_something_due() {
        let (steady, ramp) = (open("100"), open("ramp 0 to 200 over 10s"));
        let per_slot = |loads: &[&Load], all: &[&Load]| {
            due(loads, all, NS_PER_S, 12).map(|due| (due.per_slot, due.beside_others))
        };
        assert_eq!(per_slot(&[&steady], &[&steady, &ramp]), None);
        assert_eq!(per_slot(&[&Load::Closed], &[&Load::Closed]), None);
        let (due, beside_others) = per_slot(&[&ramp], &[&ramp]).expect("it changes");
        assert_eq!((due[0], due[9], due[11], beside_others), (10.0, 190.0, 200.0, false));
        let both = per_slot(&[&steady, &ramp], &[&steady, &ramp]).expect("it changes");
        assert_eq!((both.0[0], both.1), (110.0, false));
        // A closed load slows down with the others.
        let closed = per_slot(&[&Load::Closed], &[&Load::Closed, &ramp]).expect("others change");
        assert_eq!((closed.0[0], closed.1), (10.0, true));
        let in_bytes = open("1MB/s");
        assert!(!changes(&in_bytes) && changes(&ramp) && !changes(&Load::Closed));
        assert!(per_slot(&[&in_bytes, &ramp], &[&in_bytes, &ramp]).expect("it changes").1);
    }
}
