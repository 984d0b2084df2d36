//! `oltp-update-index`: updates `k` of a row, which is indexed.
//!
//! Not here: code shared by all `oltp` workloads (`mod.rs`).

use model::{Parameter, Settings};

use super::parameters::{DATA, INDEX_UPDATES, SHARED, join};
use super::script::{Script, Stmt};
use crate::Entry;

pub(crate) static ENTRY: Entry = Entry {
    name: "oltp-update-index",
    data: DATA,
    summary: "sysbench's oltp_update_index: one update of an indexed column",
    parameters: &PARAMETERS,
    roles: &[],
    make: |make| super::make(make, script),
    source: None,
};

static PARAMETERS: [Parameter; 13] = join(&[&SHARED, &INDEX_UPDATES]);

fn script(settings: &Settings) -> Script {
    Script::new(None, &[(Stmt::UpdateIndex, settings.count("index_updates"))])
}
