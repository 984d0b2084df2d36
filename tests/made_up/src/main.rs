//! dbdyno with added workloads, a database, a member of runs and a transport, as a program that
//! links the library may have them. Each takes a folder of its own and a line in the list below.
//! Not here: anything that is to be measured.

mod hinted;
mod marked;
mod postings;
mod questions;
mod sockets;
mod steps;

use std::process::ExitCode;

use dbdyno::Added;

/// Workloads, databases and the like that this program adds to those of dbdyno; lists show them
/// after dbdyno's own.
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
