//! Reproducible random numbers: each is a function of seed, stream and number.
//!
//! The generator is xoshiro256++. It will not be replaced, so that a seed gives the same data in
//! later versions. Not here: distributions of time (stats).

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The purpose for which random numbers are drawn. Numbers for different purposes are independent
/// of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Random numbers for the rows of the table with this index, when the data are built.
    Data(u16),
    /// Random numbers for constants that are drawn once for the data or the run, such as TPC-C's
    /// C-Load.
    Constants,
    /// Random numbers for the inputs of the transactions of the client with this index, in closed
    /// and key/think load.
    Client(u32),
    /// Random numbers for the inputs of the transactions that arrive at the group with this index,
    /// in open load.
    Arrivals(u16),
    /// Random numbers for the arrival times of the transactions of the group with this index, in
    /// open load.
    Schedule(u16),
    /// Random numbers for the think times of the client with this index.
    Thinking(u32),
    /// Random numbers for the order of transaction types, for a client or for the arrivals of a
    /// group (see [`Number::deck`](crate::Number::deck)).
    Deck(u32),
    /// Random numbers for service times and injected failures of the simulated database `sim`.
    Sim,
    /// Random numbers for the pauses before retries of the client with this index.
    Backoff(u32),
    /// Random numbers for the order of the trials of an experiment, and for statistics.
    Order,
    /// Random numbers for the items that the producer's task with this index generates.
    Producer(u32),
}

impl Stream {
    fn key(self) -> u64 {
        let (family, member) = match self {
            Stream::Data(table) => (1, u32::from(table)),
            Stream::Constants => (2, 0),
            Stream::Client(client) => (3, client),
            Stream::Arrivals(group) => (4, u32::from(group)),
            Stream::Schedule(group) => (5, u32::from(group)),
            Stream::Thinking(client) => (6, client),
            Stream::Deck(deck) => (7, deck),
            Stream::Sim => (8, 0),
            Stream::Backoff(client) => (9, client),
            Stream::Order => (10, 0),
            Stream::Producer(task) => (11, task),
        };
        family << 32 | u64::from(member)
    }
}

/// A generator of random numbers for one purpose and one item, such as the inputs of one
/// transaction.
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// Creates the generator for one item of a stream, such as transaction `number` of a client.
    /// The same arguments always give the same random numbers.
    pub fn new(seed: u64, stream: Stream, number: u64) -> Rng {
        let mixed = mix(mix(mix(seed) ^ stream.key()) ^ number);
        Rng(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// Returns the next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a uniformly distributed number in `low..=high`, without bias (Lemire, "Fast random
    /// integer generation in an interval", 2019). Panics if the range is empty.
    pub fn uniform(&mut self, low: i64, high: i64) -> i64 {
        assert!(low <= high, "an empty range {low}..={high}");
        let width = (high.wrapping_sub(low) as u64).wrapping_add(1);
        if width == 0 {
            return self.bits() as i64;
        }
        let mut wide = u128::from(self.bits()) * u128::from(width);
        if (wide as u64) < width {
            let threshold = width.wrapping_neg() % width;
            while (wide as u64) < threshold {
                wide = u128::from(self.bits()) * u128::from(width);
            }
        }
        low.wrapping_add((wide >> 64) as i64)
    }

    /// Returns `true` with probability `numerator / denominator`.
    pub fn chance(&mut self, numerator: i64, denominator: i64) -> bool {
        self.uniform(1, denominator) <= numerator
    }

    /// Shuffles the items in place (Fisher and Yates, as in Knuth 3.4.2 P).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = self.uniform(0, last as i64) as usize;
            items.swap(last, chosen);
        }
    }
}

/// Mixes the bits of `value` by the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014),
/// so that neighbouring seeds, streams and numbers give unrelated results.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_stream_and_number_throw_the_same() {
        let drawn = |seed, number| Rng::new(seed, Stream::Client(3), number).bits();
        assert_eq!(drawn(7, 1), drawn(7, 1));
        assert_ne!(drawn(7, 1), drawn(7, 2));
        assert_ne!(drawn(7, 1), drawn(8, 1));
    }

    #[test]
    fn the_throw_of_a_seed_never_changes() {
        // Frozen, because later versions must build the same data from the same seed.
        assert_eq!(Rng::new(1, Stream::Data(0), 0).bits(), 7_227_677_790_905_676_127);
    }

    #[test]
    fn uniform_reaches_both_ends_and_nothing_else() {
        let mut rng = Rng::new(1, Stream::Constants, 0);
        let mut seen = [0u32; 3];
        for _ in 0..3000 {
            seen[(rng.uniform(-1, 1) + 1) as usize] += 1;
        }
        assert!(seen.iter().all(|n| (800..1200).contains(n)), "{seen:?}");
        assert_eq!(rng.uniform(5, 5), 5);
        rng.uniform(i64::MIN, i64::MAX);
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..100).collect();
        Rng::new(1, Stream::Constants, 1).shuffle(&mut items);
        assert_ne!(items[..5], [0, 1, 2, 3, 4]);
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<u32>>());
    }
}
