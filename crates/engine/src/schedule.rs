//! The instants of arrivals in open load: one seeded stream, the same for everyone.
//!
//! Gaps are drawn in blocks, block k from (seed, k) alone, so that any process can compute any
//! block; agent i of n takes the arrivals that are i modulo n. Not here: who serves them.

use model::{Arrivals, Dice, NS_PER_S, Stream};

use crate::job::Share;

const BLOCK: usize = 1024;

/// Arrivals in order, from the beginning of the load.
pub struct Schedule {
    seed: u64,
    group: u16,
    arrivals: Arrivals,
    gap_ns: f64,
    share: Share,
    origin_ns: u64,
    block: Vec<u64>,
    block_number: u64,
    /// The instant of the last arrival of the block before.
    block_base_ns: u64,
    next_nth: u64,
}

impl Schedule {
    /// The arrivals of `group` at `rate_per_s`, of which `share` is ours; they begin at
    /// `origin_ns` of the run's clock.
    pub fn new(
        seed: u64,
        group: u16,
        arrivals: Arrivals,
        rate_per_s: f64,
        share: Share,
        origin_ns: u64,
    ) -> Schedule {
        let mut schedule = Schedule {
            seed,
            group,
            arrivals,
            gap_ns: NS_PER_S as f64 / rate_per_s,
            share,
            origin_ns,
            block: Vec::with_capacity(BLOCK),
            block_number: 0,
            block_base_ns: 0,
            next_nth: u64::from(share.index),
        };
        schedule.draw_block();
        schedule.skip_to_block();
        schedule
    }

    /// Moves all arrivals, so that they begin at `origin_ns`.
    pub fn begin(&mut self, origin_ns: u64) {
        self.origin_ns = origin_ns;
    }

    /// The next arrival that is ours: its number over all agents, and its instant.
    pub fn peek(&self) -> (u64, u64) {
        let place = (self.next_nth % BLOCK as u64) as usize;
        (self.next_nth, self.origin_ns.saturating_add(self.block[place]))
    }

    /// Goes on to the one after.
    pub fn advance(&mut self) {
        self.next_nth += u64::from(self.share.of);
        self.skip_to_block();
    }

    fn skip_to_block(&mut self) {
        while self.next_nth / BLOCK as u64 > self.block_number {
            self.block_base_ns = self.block[BLOCK - 1];
            self.block_number += 1;
            self.draw_block();
        }
    }

    fn draw_block(&mut self) {
        self.block.clear();
        let first = self.block_number * BLOCK as u64;
        match self.arrivals {
            Arrivals::Uniform => {
                let instant = |nth: u64| ((nth + 1) as f64 * self.gap_ns).round() as u64;
                self.block.extend((first..first + BLOCK as u64).map(instant));
            }
            Arrivals::Poisson => {
                let stream = Stream::Schedule(self.group);
                let mut dice = Dice::new(self.seed, stream, self.block_number);
                let mut instant_ns = self.block_base_ns;
                for _ in 0..BLOCK {
                    let gap_ns = stats::exponential_ns(dice.bits(), self.gap_ns);
                    instant_ns = instant_ns.saturating_add(gap_ns);
                    self.block.push(instant_ns);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instants(share: Share, n: usize) -> Vec<(u64, u64)> {
        let mut schedule = Schedule::new(7, 0, Arrivals::Poisson, 1000.0, share, 50);
        let mut list = Vec::new();
        for _ in 0..n {
            list.push(schedule.peek());
            schedule.advance();
        }
        list
    }

    #[test]
    fn the_agents_arrivals_together_are_those_of_one() {
        let whole = instants(Share::WHOLE, 6000);
        let mut parts: Vec<_> =
            (0..3).flat_map(|index| instants(Share { index, of: 3 }, 2000)).collect();
        parts.sort_unstable();
        assert_eq!(whole, parts);
    }

    #[test]
    fn poisson_arrivals_have_their_rate_and_spread() {
        let list = instants(Share::WHOLE, 100_000);
        let gaps: Vec<f64> = list.windows(2).map(|w| (w[1].1 - w[0].1) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.02, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.03);
    }

    #[test]
    fn uniform_arrivals_never_drift() {
        let mut schedule = Schedule::new(7, 0, Arrivals::Uniform, 3.0, Share::WHOLE, 0);
        for _ in 0..2_999_999 {
            schedule.advance();
        }
        assert_eq!(schedule.peek(), (2_999_999, 1_000_000 * NS_PER_S));
    }
}
