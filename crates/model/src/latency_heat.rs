//! Counts of transactions by response time and second, from which a heat map is drawn.
//!
//! Response times are divided into ten steps per power of ten. A column covers one second at first
//! and more in longer runs, so that the number of columns stays limited. Not here: percentiles,
//! which need finer steps (`stats`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Second;

/// Limit on the number of columns of the heat map. If a run needs more, each column is made to
/// cover twice as many seconds.
const COLUMNS_MAX: usize = 240;
/// Number of buckets of response time for each power of ten.
const STEPS: f64 = 10.0;

/// Data of a heat map of response times: numbers of finished transactions by response time and by
/// the time of their intended start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyHeat {
    every_s: i64,
    /// Numbers of transactions by column and bucket. The column is the intended start in seconds,
    /// divided by `every_s`; bucket `n` begins at a response time of `10^(n/10)` nanoseconds.
    counts: BTreeMap<i64, BTreeMap<i16, u64>>,
}

/// A cell of the heat map: transactions of similar response time at about the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatCell {
    /// Start of the time span that the cell covers, in seconds from the start of the measured
    /// phase.
    pub from_s: i64,
    /// Length of the time span that the cell covers, in seconds.
    pub every_s: i64,
    /// Lower bound of the cell's response times, in milliseconds, inclusive.
    pub low_ms: f64,
    /// Upper bound of the cell's response times, in milliseconds, exclusive.
    pub high_ms: f64,
    /// Number of finished transactions in the time span and range of response times of the cell.
    pub count: u64,
}

impl Default for LatencyHeat {
    fn default() -> LatencyHeat {
        LatencyHeat { every_s: 1, counts: BTreeMap::new() }
    }
}

impl LatencyHeat {
    /// Adds the response times of one second of any group. If the heat map has too many columns
    /// then, each column is made to cover twice as many seconds.
    pub fn add(&mut self, second: &Second) {
        let times = second.kinds.iter().filter_map(|kind| kind.response.as_ref());
        for (ns, n) in times.flat_map(|times| times.recorded()) {
            let stretch = self.counts.entry(second.second.div_euclid(self.every_s)).or_default();
            *stretch.entry(step(ns)).or_default() += n;
        }
        while self.counts.len() > COLUMNS_MAX {
            self.halve();
        }
    }

    /// Checks data that were read from a store or an import. Fails if they cannot come from a run
    /// that starts and ends within `seconds_max` seconds of the measured phase's start.
    pub fn check(&self, seconds_max: i64) -> Result<(), String> {
        let is_within = |stretch: &i64| {
            stretch.checked_mul(self.every_s).is_some_and(|at| at.abs() <= seconds_max)
        };
        let is_step = |step: &i16| (0..=200).contains(step);
        match (1..=seconds_max).contains(&self.every_s)
            && self.counts.keys().all(is_within)
            && self.counts.values().all(|column| column.keys().all(is_step))
        {
            true => Ok(()),
            false => Err("a latency heat map that is none".to_owned()),
        }
    }

    /// Whether the heat map is empty, because no transaction was counted.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Makes each column cover twice as many seconds, which halves the number of columns.
    fn halve(&mut self) {
        self.every_s *= 2;
        for (stretch, counts) in std::mem::take(&mut self.counts) {
            let longer = self.counts.entry(stretch.div_euclid(2)).or_default();
            counts.into_iter().for_each(|(step, n)| *longer.entry(step).or_default() += n);
        }
    }

    /// Returns the cells of the heat map that contain at least one transaction.
    pub fn cells(&self) -> impl Iterator<Item = HeatCell> + '_ {
        let ms = |step: i16| 10_f64.powf(f64::from(step) / STEPS) / 1e6;
        self.counts.iter().flat_map(move |(stretch, counts)| {
            counts.iter().map(move |(step, count)| HeatCell {
                from_s: stretch * self.every_s,
                every_s: self.every_s,
                low_ms: ms(*step),
                high_ms: ms(step + 1),
                count: *count,
            })
        })
    }
}

fn step(ns: u64) -> i16 {
    ((ns.max(1) as f64).log10() * STEPS).floor() as i16
}

#[cfg(test)]
mod tests {
    use stats::Histogram;

    use super::*;
    use crate::KindSecond;

    fn second(second: i64, times_ns: &[u64]) -> Second {
        let mut response = Histogram::default();
        times_ns.iter().for_each(|ns| response.record(*ns));
        let kind = KindSecond { response: Some(response), ..KindSecond::new(0) };
        Second { kinds: vec![kind], ..Second::new(0, second) }
    }

    #[test]
    fn no_transaction_is_lost_and_each_stands_where_it_belongs() {
        let mut heat = LatencyHeat::default();
        for at in -5..1_000 {
            heat.add(&second(at, &[1_500_000, 150_000_000]));
        }
        let cells: Vec<HeatCell> = heat.cells().collect();
        assert_eq!(cells.iter().map(|cell| cell.count).sum::<u64>(), 2 * 1_005);
        let columns: std::collections::BTreeSet<i64> =
            cells.iter().map(|cell| cell.from_s).collect();
        assert!(columns.len() <= COLUMNS_MAX, "{}", columns.len());
        for cell in cells {
            let has = |ms: f64| cell.low_ms <= ms * 1.01 && ms < cell.high_ms * 1.01;
            assert!(has(1.5) || has(150.0), "{cell:?}");
            assert!(cell.from_s >= -8 && cell.from_s < 1_000, "{cell:?}");
        }
    }

    #[test]
    fn parts_of_a_second_add_up() {
        let mut heat = LatencyHeat::default();
        heat.add(&second(3, &[1_000_000]));
        heat.add(&second(3, &[1_000_000, 1_000_000]));
        let cells: Vec<(i64, u64)> = heat.cells().map(|cell| (cell.from_s, cell.count)).collect();
        assert_eq!(cells, [(3, 3)]);
    }
}
