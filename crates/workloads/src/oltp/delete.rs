//! `oltp-delete`: a row is deleted, if it is still there.
//!
//! Not here: everything that the family shares (`mod.rs`).

use model::{Parameter, Settings};

use super::parameters::{DATA, SHARED, join};
use super::script::{Script, Stmt};
use crate::Entry;

/// The workload in the list.
pub(crate) static ENTRY: Entry = Entry {
    name: "oltp-delete",
    data: DATA,
    summary: "sysbench's oltp_delete: one row deleted, if it is still there",
    parameters: &PARAMETERS,
    roles: &[],
    make: |make| super::make(make, script),
    source: None,
};

static PARAMETERS: [Parameter; 12] = join(&[&SHARED]);

fn script(_settings: &Settings) -> Script {
    Script::new(None, &[(Stmt::Delete, 1)])
}
