//! `oltp-read-only`: selects rows by id, and by four kinds of range queries.
//!
//! Not here: code shared by all `oltp` workloads (`mod.rs`).

use model::{Parameter, Settings};

use super::parameters::{DATA, RANGE_SIZE, READS, SHARED, SKIP_TRX, join};
use super::script::{Begin, Script, Stmt};
use crate::Entry;

pub(crate) static ENTRY: Entry = Entry {
    name: "oltp-read-only",
    data: DATA,
    summary: "sysbench's oltp_read_only: ten rows by id, four ranges",
    parameters: &PARAMETERS,
    roles: &[],
    make: |make| super::make(make, script),
    source: None,
};

static PARAMETERS: [Parameter; 20] = join(&[&SHARED, &READS, &RANGE_SIZE, &SKIP_TRX]);

/// Returns the types of read queries in a transaction, each with its number of repetitions. That of
/// range queries is 0 if the parameter `range_selects` is off.
pub(super) fn reads(settings: &Settings) -> [(Stmt, u64); 5] {
    let ranges = |name| if settings.switch("range_selects") { settings.count(name) } else { 0 };
    [
        (Stmt::Point, settings.count("point_selects")),
        (Stmt::SimpleRange, ranges("simple_ranges")),
        (Stmt::SumRange, ranges("sum_ranges")),
        (Stmt::OrderRange, ranges("order_ranges")),
        (Stmt::DistinctRange, ranges("distinct_ranges")),
    ]
}

fn script(settings: &Settings) -> Script {
    let begin = (!settings.switch("skip_trx")).then_some(Begin::Plain);
    Script::new(begin, &reads(settings))
}
