//! dbdyno with workloads that are not delivered: a folder of its own and a line in the list below
//! are all that one takes. Not here: anything that is to be measured.

mod postings;
mod questions;

use std::process::ExitCode;

use workloads::Entry;

/// What is listed behind the delivered workloads.
static ADDED: &[&Entry] = &[&postings::ENTRY, &questions::ENTRY];

fn main() -> ExitCode {
    dbdyno::main_with(ADDED)
}
