//! Deviations of counts from the counts that a plan leads to. Counts that vary because the plan
//! changes the rate of the load are not errors of their mean.
//!
//! Arrivals follow the plan like a fluid: each time slot processes the work that is due and the
//! work that waits, up to the capacity of the system. The capacity, and the share of arrivals that
//! is counted, are fitted by least squares. Not here: the error of the deviations (`rate`).

/// Work that a plan makes due in each time slot, such as the arrivals of open load.
#[derive(Clone, Debug, PartialEq)]
pub struct Due {
    /// Amount of work due in each time slot, in any unit.
    pub per_slot: Vec<f64>,
    /// Amount of work that was waiting when the first slot began, in the same unit as `per_slot`.
    pub waiting: f64,
    /// Whether other work shares the system, and gets a smaller part of its capacity while this
    /// work is due. Counts are then fitted as a constant plus a multiple of the amount due.
    pub beside_others: bool,
}

impl Due {
    /// Returns the work due in a range of slots, as if nothing waited at their start.
    pub fn within(&self, slots: std::ops::Range<usize>) -> Due {
        let end = slots.end.min(self.per_slot.len());
        let per_slot = self.per_slot[slots.start.min(end)..end].to_vec();
        Due { per_slot, waiting: 0.0, ..*self }
    }
}

/// Approximate number of values to which a longer series is summed up before the capacity of the
/// system is fitted.
const VALUES_KEPT: usize = 1_600;

/// Number of capacities of the system that the fit tries: evenly spaced in logarithms, and then as
/// many again around the best one.
const CAPACITIES: usize = 24;

/// Returns by how much the work counted in each slot deviates from the work that the plan makes
/// due, after fitting the capacity of the system. The result covers the slots that both have, and
/// sums to 0.
pub fn around_due(counts: &[f64], due: &Due) -> Vec<f64> {
    let n = counts.len().min(due.per_slot.len());
    let (counts, per_slot) = (&counts[..n], &due.per_slot[..n]);
    let follows = match due.beside_others {
        true => per_slot.to_vec(),
        false => fluid(per_slot, due.waiting, capacity(counts, per_slot, due.waiting)),
    };
    let (scale, constant) = match due.beside_others {
        true => line(counts, &follows),
        false => (multiple(counts, &follows), 0.0),
    };
    let left = counts.iter().zip(&follows).map(|(count, due)| count - scale * due - constant);
    let left: Vec<f64> = left.collect();
    let mean = left.iter().sum::<f64>() / n as f64;
    left.into_iter().map(|deviation| deviation - mean).collect()
}

/// Returns the amount of work processed in each slot, if `waiting` waits at the start and a slot
/// can process at most `most`.
fn fluid(due: &[f64], waiting: f64, most: f64) -> Vec<f64> {
    let mut waits = waiting;
    let mut done = |due: &f64| {
        let all = waits + due;
        let done = all.min(most);
        waits = all - done;
        done
    };
    due.iter().map(&mut done).collect()
}

/// Returns the capacity per slot that fits the counts best (least squares); infinite if no capacity
/// fits significantly better than an unlimited one.
fn capacity(counts: &[f64], due: &[f64], waiting: f64) -> f64 {
    let width = counts.len().div_ceil(VALUES_KEPT).max(1);
    let sums =
        |values: &[f64]| values.chunks(width).map(|chunk| chunk.iter().sum()).collect::<Vec<f64>>();
    let (counts, due) = (sums(counts), sums(due));
    let left = |most: f64| {
        let done = fluid(&due, waiting, most);
        let scale = multiple(&counts, &done);
        counts.iter().zip(&done).map(|(count, done)| (count - scale * done).powi(2)).sum::<f64>()
    };
    let highest = due.iter().copied().fold(0.0, f64::max);
    let mean = due.iter().sum::<f64>() / due.len().max(1) as f64;
    let best = |low: f64, high: f64| {
        let step = (high / low).ln() / CAPACITIES as f64;
        let all = (0..=CAPACITIES).map(|index| low * (step * index as f64).exp());
        all.map(|most| (left(most), most)).min_by(|a, b| a.0.total_cmp(&b.0))
    };
    // A plan is not made for a capacity of less than a tenth of its mean.
    let Some((_, near)) = (mean > 0.0).then(|| best(0.1 * mean, highest)).flatten() else {
        return f64::INFINITY;
    };
    let step = (highest / (0.1 * mean)).powf(1.0 / CAPACITIES as f64);
    match best(near / step, near * step) {
        // A further fitted parameter must reduce the squares by more than chance.
        Some((squares, most)) if squares < left(f64::INFINITY) * (1.0 - 4.0 / due.len() as f64) => {
            most / width as f64
        }
        _ => f64::INFINITY,
    }
}

/// Returns the factor of `due` that fits the counts best (least squares).
fn multiple(counts: &[f64], due: &[f64]) -> f64 {
    let products: f64 = counts.iter().zip(due).map(|(count, due)| count * due).sum();
    let squares: f64 = due.iter().map(|due| due * due).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

/// Returns the factor of `due` and the constant that together fit the counts best (least squares).
fn line(counts: &[f64], due: &[f64]) -> (f64, f64) {
    let n = counts.len() as f64;
    let (mean, mean_due) = (counts.iter().sum::<f64>() / n, due.iter().sum::<f64>() / n);
    let around: Vec<f64> = due.iter().map(|due| due - mean_due).collect();
    let scale = multiple(counts, &around);
    (scale, mean - scale * mean_due)
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::{exponential, within_planned_run, within_run};

    const SLOT_NS: u64 = 100_000_000;
    const SLOTS: usize = 600;

    /// Simulates commits per slot for random arrivals that follow a plan. At most `most` per slot
    /// are processed; the others wait.
    fn commits(random: &mut Xoshiro256PlusPlus, due: &[f64], most: u64) -> Vec<u64> {
        let mut left = exponential(random.next_u64());
        let mut waits = 0;
        let mut slot = |due: &f64| {
            let mut due = *due;
            while left <= due {
                due -= left;
                left = exponential(random.next_u64());
                waits += 1;
            }
            left -= due;
            let done = most.min(waits);
            waits -= done;
            done
        };
        due.iter().map(&mut slot).collect()
    }

    /// Simulates 200 runs. Returns the share of the runs whose confidence interval contains the
    /// true rate, and the median width of the intervals, as a multiple of the width that the true
    /// error gives.
    fn coverage(plan: impl Fn(f64) -> f64, most: u64, beside: fn(usize) -> u64) -> (f64, f64) {
        let per_slot: Vec<f64> = (0..SLOTS).map(|slot| plan(slot as f64 / 10.0 + 0.05)).collect();
        let beside_others = beside(0) > 0;
        let due = Due { per_slot, waiting: 0.0, beside_others };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(19);
        let runs: Vec<(f64, f64)> = (0..200)
            .map(|_| {
                let mut counts = commits(&mut random, &due.per_slot, most);
                counts.iter_mut().enumerate().for_each(|(slot, n)| *n += beside(slot));
                let rate = within_planned_run(&counts, SLOT_NS, Some(&due));
                assert_eq!(rate.slots_to_1_percent, None);
                (rate.per_s, rate.half_width.expect("long enough"))
            })
            .collect();
        let n = runs.len() as f64;
        let truth = runs.iter().map(|run| run.0).sum::<f64>() / n;
        let sd = (runs.iter().map(|run| (run.0 - truth).powi(2)).sum::<f64>() / n).sqrt();
        let held = runs.iter().filter(|run| (run.0 - truth).abs() <= run.1).count() as f64 / n;
        let mut widths: Vec<f64> = runs.iter().map(|run| run.1 / (1.96 * sd)).collect();
        widths.sort_by(f64::total_cmp);
        (held, widths[runs.len() / 2])
    }

    #[test]
    fn what_the_plan_changes_is_no_error() {
        let turn = |at: f64| (at / 20.0 * std::f64::consts::TAU).sin();
        let sine = move |at: f64| 120.0 + 50.0 * turn(at);
        let ramp = |at: f64| 20.0 + 160.0 * at / 60.0;
        let steps = |at: f64| if at < 20.0 { 30.0 } else { 90.0 };
        let bursts = |at: f64| if at % 10.0 < 8.0 { 40.0 } else { 220.0 };
        let none = |_| 0;
        let found = [
            coverage(sine, u64::MAX, none),
            coverage(ramp, u64::MAX, none),
            coverage(steps, u64::MAX, none),
            coverage(bursts, u64::MAX, none),
            // Arrivals above the capacity wait until there is room, or to the end.
            coverage(bursts, 200, none),
            coverage(sine, 140, none),
            // Others take turns: what they have more is of their own making.
            coverage(sine, u64::MAX, |slot| 60 + (slot % 3) as u64),
        ];
        for (index, (held, width)) in found.into_iter().enumerate() {
            let is_good = (0.90..=1.0).contains(&held) && (0.7..2.0).contains(&width);
            assert!(is_good, "{index}: {held} {width}");
        }
        // Without the plan, the sine is an error of a thousand seconds.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(23);
        let due: Vec<f64> = (0..SLOTS).map(|slot| sine(slot as f64 / 10.0)).collect();
        let counts = commits(&mut random, &due, u64::MAX);
        let due = Due { per_slot: due, waiting: 0.0, beside_others: false };
        let half = |rate: crate::Rate| rate.half_width.expect("long enough");
        let [with, without] = [
            half(within_planned_run(&counts, SLOT_NS, Some(&due))),
            half(within_run(&counts, SLOT_NS)),
        ];
        assert!(without > 8.0 * with, "{with} {without}");
    }

    #[test]
    fn a_load_that_cannot_follow_is_its_own_level() {
        let due = Due { per_slot: vec![40.0, 90.0, 120.0], waiting: 10.0, beside_others: false };
        assert_eq!(fluid(&due.per_slot, due.waiting, 60.0), [50.0, 60.0, 60.0]);
        let growing = (0..40).map(|slot| 40.0 + f64::from(slot)).collect();
        let growing = Due { per_slot: growing, waiting: 500.0, beside_others: false };
        let flat = around_due(&[30.0; 40], &growing);
        assert!(flat.iter().all(|left| left.abs() < 1e-6), "{flat:?}");
        assert_eq!(due.within(1..9).per_slot, [90.0, 120.0]);
        assert_eq!(around_due(&[], &due), []);
        let nothing = Due { per_slot: vec![0.0; 3], waiting: 0.0, beside_others: false };
        assert_eq!(around_due(&[1.0, 2.0, 3.0], &nothing), [-1.0, 0.0, 1.0]);
    }
}
