//! dbdyno with a workload that is not delivered: its own folder and the list below are all that it
//! takes. Not here: anything that is to be measured.

mod postings;

use std::process::ExitCode;

use workloads::Entry;

/// What is listed behind the delivered workloads.
static ADDED: &[&Entry] = &[&postings::ENTRY];

fn main() -> ExitCode {
    dbdyno::main_with(ADDED)
}
