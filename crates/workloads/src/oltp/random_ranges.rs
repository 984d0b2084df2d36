//! `oltp-random-ranges`: counts the rows in many ranges of `k`.
//!
//! Not here: code shared by all `oltp` workloads (`mod.rs`).

use model::{Parameter, Settings};

use super::parameters::{DATA, RANDOM_RANGES, SHARED, join};
use super::script::{Script, Stmt};
use crate::Entry;

pub(crate) static ENTRY: Entry = Entry {
    name: "oltp-random-ranges",
    data: DATA,
    summary: "sysbench's select_random_ranges: counts the rows in many ranges of k",
    parameters: &PARAMETERS,
    roles: &[],
    make: |make| super::make(make, script),
    source: None,
};

static PARAMETERS: [Parameter; 15] = join(&[&SHARED, &RANDOM_RANGES]);

fn script(settings: &Settings) -> Script {
    let n = settings.count("number_of_ranges") as usize;
    let delta = settings.count("delta") as i64;
    Script::new(None, &[(Stmt::RandomRanges { n, delta }, 1)])
}
