//! dbdyno with workloads, a database, a member of runs and a transport that are not delivered: a
//! folder of its own and a line in the list below are all that one takes. Not here: anything that
//! is to be measured.

mod hinted;
mod marked;
mod postings;
mod questions;
mod sockets;
mod steps;

use std::process::ExitCode;

use dbdyno::Added;

/// What is listed behind what is delivered.
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
