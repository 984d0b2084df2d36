//! dbdyno measures databases: it builds the data, generates the load, and measures honestly.
//!
//! The interfaces of `app`: command line and web pages. They make no decisions. A program with its
//! own workloads calls [`main_with`].

#[cfg(feature = "pages")]
mod asked_host;
mod cli;
mod lists;
mod outcome;
mod settings;
mod shell;
#[cfg(feature = "pages")]
mod web;

use std::process::ExitCode;

use app::run::{MakeMember, Transport};

pub use crate::cli::run;
pub use crate::shell::Shell;

/// Extensions of a program that links dbdyno, listed after the built-in ones.
#[derive(Clone, Copy, Default)]
pub struct Added {
    /// Workloads, and languages in which workloads are written.
    pub workloads: workloads::Added,
    /// Databases, each with the schemes of its URLs.
    pub drivers: &'static [&'static drivers::Entry],
    /// Activities of a run beside its load.
    pub members: &'static [MakeMember],
    /// Transport to client processes, which also starts them; `None` for pipes.
    pub transport: Option<&'static dyn Transport>,
}

/// Runs the command line, with `added` after the built-in workloads.
pub fn main_with(added: Added) -> ExitCode {
    workloads::add(added.workloads);
    drivers::add(added.drivers);
    app::run::add_members(added.members);
    added.transport.into_iter().for_each(app::run::add_transport);
    cli::main()
}
