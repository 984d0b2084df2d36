//! dbdyno with workloads that are not delivered: a folder of its own and a line in the list below
//! are all that one takes. Not here: anything that is to be measured.

mod postings;
mod questions;
mod steps;

use std::process::ExitCode;

use workloads::Added;

/// What is listed behind the delivered workloads, and in which languages others are written.
static ADDED: Added =
    Added { workloads: &[&postings::ENTRY, &questions::ENTRY], languages: &[&steps::LANGUAGE] };

fn main() -> ExitCode {
    dbdyno::main_with(ADDED)
}
