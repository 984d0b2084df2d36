//! `oltp-random-points`: selects the rows of many values of `k`.
//!
//! Not here: code shared by all `oltp` workloads (`mod.rs`).

use model::{Parameter, Settings};

use super::parameters::{DATA, RANDOM_POINTS, SHARED, join};
use super::script::{Script, Stmt};
use crate::Entry;

pub(crate) static ENTRY: Entry = Entry {
    name: "oltp-random-points",
    data: DATA,
    summary: "sysbench's select_random_points: the rows of many values of k",
    parameters: &PARAMETERS,
    roles: &[],
    make: |make| super::make(make, script),
    source: None,
};

static PARAMETERS: [Parameter; 14] = join(&[&SHARED, &RANDOM_POINTS]);

fn script(settings: &Settings) -> Script {
    let n = settings.count("random_points") as usize;
    Script::new(None, &[(Stmt::RandomPoints { n }, 1)])
}
