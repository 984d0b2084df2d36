//! Counts of all records in a run, by table and by reader. Not here: rates and distributions of the
//! measured phase, which the engine keeps.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::{BucketCounts, Fact, NS_PER_MS, format_count};

use super::parameters::NAME;

/// Upper bounds, exclusive and in milliseconds, of the buckets in which ages of records are
/// counted.
const BOUNDS_MS: [u64; 12] = [1, 3, 10, 20, 40, 100, 200, 300, 500, 1_000, 3_000, 10_000];

/// Numbers of records that one reader has read, missed or read twice, over the whole run.
#[derive(Clone, Debug, Default)]
struct OfReader {
    table: usize,
    read: u64,
    missed: u64,
    duplicates: u64,
    last: i64,
    /// Number of records by age: one count for each bound in [`BOUNDS_MS`], and one for all greater
    /// ages.
    ages: [u64; BOUNDS_MS.len() + 1],
}

#[derive(Default)]
struct State {
    /// Number of records that writers have committed to each table, and the last sequence number,
    /// by index of the table.
    written: BTreeMap<usize, (u64, i64)>,
    readers: BTreeMap<u32, OfReader>,
    /// Number of this run in the result tables; `None` until a reader asks for it.
    run: Option<i64>,
}

#[derive(Default)]
pub(super) struct Account(Mutex<State>);

impl Account {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resets all counts at the start of a run.
    pub(super) fn begin(&self) {
        *self.state() = State::default();
    }

    /// Returns the number of this run in the result tables: the time of the first call, which a
    /// reader makes, in nanoseconds since 1970.
    pub(super) fn run(&self, now_unix_ns: i64) -> i64 {
        *self.state().run.get_or_insert(now_unix_ns)
    }

    /// Adds `n_records` records that a writer has committed to a table. `last` is the highest
    /// sequence number among them.
    pub(super) fn wrote(&self, table: usize, n_records: u64, last: i64) {
        let mut state = self.state();
        let (count, newest) = state.written.entry(table).or_default();
        *count += n_records;
        *newest = last;
    }

    /// Adds the results of a reader's transaction on a table: the ages, in nanoseconds, of the
    /// records that were new to the reader, and the counts in `noted`.
    pub(super) fn read(&self, reader: u32, table: usize, ages: &[u64], noted: Noted) {
        let mut state = self.state();
        let totals = state.readers.entry(reader).or_default();
        totals.table = table;
        totals.read += ages.len() as u64;
        totals.missed += noted.missed;
        totals.duplicates += noted.duplicates;
        totals.last = noted.last;
        for age_ns in ages {
            let bucket = BOUNDS_MS.iter().position(|bound| *age_ns < bound * NS_PER_MS);
            totals.ages[bucket.unwrap_or(BOUNDS_MS.len())] += 1;
        }
    }

    /// Returns facts for the report: the records written to each table, and the records that each
    /// reader has read, missed and read twice.
    pub(super) fn facts(&self) -> Vec<Fact> {
        let state = self.state();
        let mut facts = Vec::new();
        for (table, (count, last)) in &state.written {
            let number = table + 1;
            facts.push(Fact::new(NAME, &format!("table_{number}_written"), *count));
            facts.push(Fact::new(NAME, &format!("table_{number}_newest_number"), *last as u64));
        }
        for (reader, totals) in &state.readers {
            facts.push(Fact::new(NAME, &format!("reader_{reader}"), totals.sentence()));
            if totals.read > 0 {
                facts.push(Fact::new(NAME, &format!("reader_{reader}_ages_ms"), totals.ages()));
            }
        }
        facts
    }
}

/// Numbers of missed and repeated records that a reader has found in a transaction, and how far it
/// has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Noted {
    pub(super) missed: u64,
    pub(super) duplicates: u64,
    /// Highest sequence number that the reader has read in its table.
    pub(super) last: i64,
}

impl OfReader {
    fn sentence(&self) -> String {
        let OfReader { table, read, missed, duplicates, last, .. } = self;
        let [read, missed, duplicates] = [read, missed, duplicates].map(|n| format_count(*n));
        let (number, last) = (table + 1, format_count(*last as u64));
        format!(
            "table {number}: {read} read first, {missed} missed, {duplicates} duplicates, newest \
             number {last}"
        )
    }

    fn ages(&self) -> BucketCounts {
        let [below @ .., beyond] = &self.ages;
        BucketCounts::new(BOUNDS_MS.into_iter().zip(below.iter().copied()), *beyond)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_counted_by_bounds_for_each_reader() {
        let account = Account::default();
        let ages: Vec<u64> = [0, 39, 40, 99, 299, 300, 20_000].map(|ms| ms * NS_PER_MS).to_vec();
        account.read(7, 1, &ages, Noted { missed: 2, duplicates: 5, last: 3_030 });
        account.read(7, 1, &[], Noted { missed: 0, duplicates: 1, last: 3_030 });
        account.wrote(1, 10, 3_030);
        let facts: Vec<String> =
            account.facts().iter().map(|fact| format!("{}: {}", fact.name, fact.value)).collect();
        assert_eq!(
            facts,
            [
                "table_2_written: 10",
                "table_2_newest_number: 3030",
                "reader_7: table 2: 7 read first, 2 missed, 6 duplicates, newest number 3,030",
                "reader_7_ages_ms: <1: 1, <3: 0, <10: 0, <20: 0, <40: 1, <100: 2, <200: 0, \
                 <300: 1, <500: 1, <1000: 0, <3000: 0, <10000: 0, >=10000: 1",
            ]
        );
    }
}
