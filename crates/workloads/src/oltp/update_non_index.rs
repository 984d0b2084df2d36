//! `oltp-update-non-index`: updates `c` of a row, which has no index.
//!
//! Not here: code shared by all `oltp` workloads (`mod.rs`).

use model::{Parameter, Settings};

use super::parameters::{DATA, NON_INDEX_UPDATES, SHARED, join};
use super::script::{Script, Stmt};
use crate::Entry;

pub(crate) static ENTRY: Entry = Entry {
    name: "oltp-update-non-index",
    data: DATA,
    summary: "sysbench's oltp_update_non_index: one update of a column without index",
    parameters: &PARAMETERS,
    roles: &[],
    make: |make| super::make(make, script),
    source: None,
};

static PARAMETERS: [Parameter; 13] = join(&[&SHARED, &NON_INDEX_UPDATES]);

fn script(settings: &Settings) -> Script {
    Script::new(None, &[(Stmt::UpdateNonIndex, settings.count("non_index_updates"))])
}
