//! Arrival times of an open-load group: one sequence that follows from the seed and is the same in
//! all processes.
//!
//! Random gaps between arrivals are drawn in blocks, block k from seed and k alone, so that any
//! process can compute any block; each process takes the arrivals of its share. Not here: serving
//! them.

use model::{ArrivalRate, Arrivals, NS_PER_S, Rng, Stream};
use stats::Intensity;

use crate::share::Share;

const BLOCK: usize = 1024;

/// Arrival times of an open-load group, computed in blocks. This process serves a share of the
/// arrivals.
pub struct Schedule {
    seed: u64,
    group: u16,
    arrivals: Arrivals,
    pace: Pace,
    share: Share,
    origin_ns: u64,
    block: Vec<u64>,
    block_number: u64,
    /// Number of arrivals that this process has already taken.
    n_taken: u64,
    /// Number of this process's next arrival among the arrivals of all processes.
    next_nth: u64,
}

/// Conversion of random draws into arrival times, for a constant or a changing rate.
enum Pace {
    /// Constant rate: mean gap between arrivals, and the last arrival of the block that was
    /// computed before, both in nanoseconds.
    Constant { gap_ns: f64, before_ns: u64 },
    /// Changing rate: the rate over time, its ramp-up, and the number of arrivals expected (the
    /// integral of the rate) up to the last arrival of the block that was computed before.
    Changing { intensity: Intensity, lead: Lead, before: f64 },
}

/// Ramp-up before a changing rate: its length in seconds, and the initial rate, which is constant
/// during the ramp-up.
#[derive(Clone, Copy)]
struct Lead {
    seconds: f64,
    per_s: f64,
}

impl Schedule {
    /// Creates the arrival schedule of `group` at this rate, from which this process takes the
    /// arrivals of `share`. The schedule begins at instant 0; a changing rate starts to change
    /// `ramp_up_ns` later.
    pub fn new(
        seed: u64,
        group: u16,
        arrivals: Arrivals,
        rate: &ArrivalRate,
        ramp_up_ns: u64,
        share: Share,
    ) -> Schedule {
        let pace = match rate {
            ArrivalRate::Constant(per_s) => {
                Pace::Constant { gap_ns: NS_PER_S as f64 / per_s, before_ns: 0 }
            }
            changing => {
                let seconds = ramp_up_ns as f64 / NS_PER_S as f64;
                let lead = Lead { seconds, per_s: changing.first_per_s() };
                Pace::Changing { intensity: changing.intensity(), lead, before: 0.0 }
            }
        };
        let next_nth = share.number(0);
        let mut schedule = Schedule {
            seed,
            group,
            arrivals,
            pace,
            share,
            origin_ns: 0,
            block: Vec::with_capacity(BLOCK),
            block_number: 0,
            n_taken: 0,
            next_nth,
        };
        schedule.draw_block();
        schedule.skip_to_block();
        schedule
    }

    /// Moves the whole arrival schedule so that it begins at `origin_ns`.
    pub fn begin(&mut self, origin_ns: u64) {
        self.origin_ns = origin_ns;
    }

    /// Returns this process's next arrival: its number among the arrivals of all processes, and its
    /// instant in nanoseconds.
    pub fn peek(&self) -> (u64, u64) {
        let place = (self.next_nth % BLOCK as u64) as usize;
        (self.next_nth, self.origin_ns.saturating_add(self.block[place]))
    }

    /// Moves on to this process's next arrival.
    pub fn advance(&mut self) {
        self.n_taken += 1;
        self.next_nth = self.share.number(self.n_taken);
        self.skip_to_block();
    }

    fn skip_to_block(&mut self) {
        while self.next_nth / BLOCK as u64 > self.block_number {
            self.block_number += 1;
            self.draw_block();
        }
    }

    fn draw_block(&mut self) {
        self.block.clear();
        let first = self.block_number * BLOCK as u64;
        let mut rng = Rng::new(self.seed, Stream::Schedule(self.group), self.block_number);
        let is_uniform = self.arrivals == Arrivals::Uniform;
        for nth in first..first + BLOCK as u64 {
            let instant_ns = match &mut self.pace {
                Pace::Constant { gap_ns, .. } if is_uniform => {
                    ((nth + 1) as f64 * *gap_ns).round() as u64
                }
                Pace::Constant { gap_ns, before_ns } => {
                    let further_ns = stats::exponential_ns(rng.bits(), *gap_ns);
                    *before_ns = before_ns.saturating_add(further_ns);
                    *before_ns
                }
                Pace::Changing { intensity, lead, before } => {
                    *before = match is_uniform {
                        true => (nth + 1) as f64,
                        false => *before + stats::exponential(rng.bits()),
                    };
                    lead.instant_ns(intensity, *before)
                }
            };
            self.block.push(instant_ns);
        }
    }
}

impl Lead {
    /// Returns the instant at which the integral of the rate reaches `arrived` arrivals, in
    /// nanoseconds; `u64::MAX` if it never does.
    fn instant_ns(self, intensity: &Intensity, arrived: f64) -> u64 {
        let led = self.seconds * self.per_s;
        let at_s = match arrived < led {
            true => arrived / self.per_s,
            false => self.seconds + intensity.reached(arrived - led),
        };
        (at_s * NS_PER_S as f64).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule_of(arrivals: Arrivals, rate: &str, ramp_up_s: u64, share: Share) -> Schedule {
        Schedule::new(7, 0, arrivals, &rate.parse().unwrap(), ramp_up_s * NS_PER_S, share)
    }

    /// Returns the number of arrivals before each of these seconds, for tests.
    fn counts(mut schedule: Schedule, seconds: &[u64]) -> Vec<u64> {
        let mut count = |second: &u64| {
            while schedule.peek().1 < second * NS_PER_S {
                schedule.advance();
            }
            schedule.peek().0
        };
        seconds.iter().map(&mut count).collect()
    }

    fn instants(share: Share, n: usize) -> Vec<(u64, u64)> {
        let mut schedule = schedule_of(Arrivals::Poisson, "1000", 0, share);
        schedule.begin(50);
        let mut list = Vec::new();
        for _ in 0..n {
            list.push(schedule.peek());
            schedule.advance();
        }
        list
    }

    #[test]
    fn the_agents_arrivals_together_are_those_of_one() {
        let whole = instants(Share::whole(), 6000);
        let mut parts: Vec<_> =
            Share::by_weight(&[1; 3]).into_iter().flat_map(|share| instants(share, 2000)).collect();
        parts.sort_unstable();
        assert_eq!(whole, parts);
    }

    #[test]
    fn poisson_arrivals_have_their_rate_and_spread() {
        let list = instants(Share::whole(), 100_000);
        let gaps: Vec<f64> = list.windows(2).map(|w| (w[1].1 - w[0].1) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.02, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.03);
    }

    #[test]
    fn uniform_arrivals_never_drift() {
        let mut schedule = schedule_of(Arrivals::Uniform, "3", 0, Share::whole());
        for _ in 0..2_999_999 {
            schedule.advance();
        }
        assert_eq!(schedule.peek(), (2_999_999, 1_000_000 * NS_PER_S));
    }

    #[test]
    fn uniform_arrivals_follow_the_area_below_a_changing_rate() {
        let count_before = |rate, ramp_up_s, seconds: &[u64]| {
            counts(schedule_of(Arrivals::Uniform, rate, ramp_up_s, Share::whole()), seconds)
        };
        // One arrival is at exactly this instant, and so not before it.
        assert_eq!(count_before("steps 100 for 10s, 300", 0, &[10, 20]), [999, 3999]);
        assert_eq!(count_before("ramp 0 to 200 over 10s", 0, &[5, 10, 11]), [249, 999, 1199]);
        assert_eq!(count_before("steps 100 for 10s, 300", 5, &[5, 15, 16]), [499, 1499, 1799]);
    }

    #[test]
    fn poisson_arrivals_at_a_changing_rate_are_as_many_as_expected() {
        let count_before =
            |rate| counts(schedule_of(Arrivals::Poisson, rate, 0, Share::whole()), &[50, 100]);
        let near = |count: u64, expected: f64| {
            let off = (count as f64 - expected) / expected.sqrt();
            assert!(off.abs() < 4.0, "{count} of {expected}");
        };
        let sine = count_before("sine 1000 swing 900 every 100s");
        near(sine[0], 50_000.0 + 900.0 * 100.0 / std::f64::consts::PI);
        near(sine[1], 100_000.0);
        let ramp = count_before("ramp 0 to 2000 over 100s");
        near(ramp[0], 25_000.0);
        near(ramp[1], 100_000.0);
    }

    #[test]
    fn agents_share_a_changing_rate_as_they_share_a_constant_one() {
        let draw = |share, n: usize| {
            let mut schedule =
                schedule_of(Arrivals::Poisson, "sine 500 swing 400 every 1s", 0, share);
            let mut next = || {
                let next = schedule.peek();
                schedule.advance();
                next
            };
            (0..n).map(|_| next()).collect::<Vec<_>>()
        };
        let shares = Share::by_weight(&[1, 5]).into_iter().zip([500, 2500]);
        let mut parts: Vec<_> = shares.flat_map(|(share, n)| draw(share, n)).collect();
        parts.sort_unstable();
        assert_eq!(draw(Share::whole(), 3000), parts);
    }
}
