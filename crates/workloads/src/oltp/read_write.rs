//! `oltp-read-write`: the queries of `oltp-read-only`, then updates and the replacement of a row.
//!
//! Not here: code shared by all `oltp` workloads (`mod.rs`).

use model::{Parameter, Settings};

use super::parameters::{DATA, RANGE_SIZE, READS, SHARED, SKIP_TRX, WRITES, join};
use super::script::{Begin, Script};
use crate::Entry;

pub(crate) static ENTRY: Entry = Entry {
    name: "oltp-read-write",
    data: DATA,
    summary: "sysbench's oltp_read_write: 14 reads, then two updates and a row replaced",
    parameters: &PARAMETERS,
    roles: &[],
    make: |make| super::make(make, script),
    source: None,
};

static PARAMETERS: [Parameter; 23] = join(&[&SHARED, &READS, &RANGE_SIZE, &WRITES, &SKIP_TRX]);

fn script(settings: &Settings) -> Script {
    let begin = (!settings.switch("skip_trx")).then_some(Begin::Write);
    let (reads, writes) = (super::read_only::reads(settings), super::write_only::writes(settings));
    Script::new(begin, &[&reads[..], &writes[..]].concat())
}
