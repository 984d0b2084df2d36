//! `oltp-write-only`: two updates and the replacement of a row.
//!
//! Not here: code shared by all `oltp` workloads (`mod.rs`).

use model::{Parameter, Settings};

use super::parameters::{DATA, SHARED, SKIP_TRX, WRITES, join};
use super::script::{Begin, Script, Stmt};
use crate::Entry;

pub(crate) static ENTRY: Entry = Entry {
    name: "oltp-write-only",
    data: DATA,
    summary: "sysbench's oltp_write_only: two updates and a row replaced",
    parameters: &PARAMETERS,
    roles: &[],
    make: |make| super::make(make, script),
    source: None,
};

static PARAMETERS: [Parameter; 16] = join(&[&SHARED, &WRITES, &SKIP_TRX]);

/// Returns the types of write queries in a transaction, each with its number of repetitions.
pub(super) fn writes(settings: &Settings) -> [(Stmt, u64); 3] {
    [
        (Stmt::UpdateIndex, settings.count("index_updates")),
        (Stmt::UpdateNonIndex, settings.count("non_index_updates")),
        (Stmt::DeleteInsert, settings.count("delete_inserts")),
    ]
}

fn script(settings: &Settings) -> Script {
    let begin = (!settings.switch("skip_trx")).then_some(Begin::Write);
    Script::new(begin, &writes(settings))
}
