//! `oltp-delete`: deletes a row by its id, if the row still exists.
//!
//! Not here: code shared by all `oltp` workloads (`mod.rs`).

use model::{Parameter, Settings};

use super::parameters::{DATA, SHARED, join};
use super::script::{Script, Stmt};
use crate::Entry;

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
