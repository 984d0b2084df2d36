//! `oltp-complex`: the transaction of sysbench 0.4 (`--test=oltp`, its mode `complex`), which has
//! one write more than that of 1.0: the row that is replaced is updated first.
//!
//! Not here: code shared by all `oltp` workloads (`mod.rs`).

use model::{Parameter, Settings};

use super::parameters::{
    DATA, INDEX_UPDATES, NON_INDEX_UPDATES, RANGE_SIZE, READS, SHARED, SKIP_TRX, join,
};
use super::script::{Begin, Script, Stmt};
use crate::Entry;

pub(crate) static ENTRY: Entry = Entry {
    name: "oltp-complex",
    data: DATA,
    summary: "sysbench 0.4's oltp: 14 reads, three updates and a row replaced",
    parameters: &PARAMETERS,
    roles: &[],
    make: |make| super::make(make, script),
    source: None,
};

static PARAMETERS: [Parameter; 22] =
    join(&[&SHARED, &READS, &RANGE_SIZE, &INDEX_UPDATES, &NON_INDEX_UPDATES, &SKIP_TRX]);

fn script(settings: &Settings) -> Script {
    let begin = (!settings.switch("skip_trx")).then_some(Begin::Write);
    let reads = super::read_only::reads(settings);
    let writes = [
        (Stmt::UpdateIndex, settings.count("index_updates")),
        (Stmt::UpdateNonIndex, settings.count("non_index_updates")),
        (Stmt::UpdateDeleteInsert, 1),
    ];
    Script::new(begin, &[&reads[..], &writes[..]].concat())
}
