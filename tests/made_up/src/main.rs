//! dbdyno with added workloads, a database, a run member and a transport, as a program that links
//! it may have. Each takes a folder of its own and a line in the list below. Not here: anything
//! that is to be measured.

mod hinted;
mod marked;
mod postings;
mod questions;
mod sockets;
mod steps;

use std::process::ExitCode;

use dbdyno::Added;

/// Items that are added to those of dbdyno, and follow them in lists.
static ADDED: Added = Added {
    workloads: workloads::Added {
        workloads: &[&postings::ENTRY, &questions::ENTRY],
        languages: &[&steps::LANGUAGE],
    },
    drivers: &[&hinted::ENTRY],
    members: &[|| Box::<marked::Marked>::default()],
    transport: Some(&sockets::SOCKETS),
};

fn main() -> ExitCode {
    dbdyno::main_with(ADDED)
}
