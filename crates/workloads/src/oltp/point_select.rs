//! `oltp-point-select`: selects one row by its id, in a transaction of its own.
//!
//! Not here: code shared by all `oltp` workloads (`mod.rs`).

use model::{Parameter, Settings};

use super::parameters::{DATA, SHARED, join};
use super::script::{Script, Stmt};
use crate::Entry;

pub(crate) static ENTRY: Entry = Entry {
    name: "oltp-point-select",
    data: DATA,
    summary: "sysbench's oltp_point_select: one row by its id",
    parameters: &PARAMETERS,
    roles: &[],
    make: |make| super::make(make, script),
    source: None,
};

static PARAMETERS: [Parameter; 12] = join(&[&SHARED]);

fn script(_settings: &Settings) -> Script {
    Script::new(None, &[(Stmt::Point, 1)])
}
