//! dbdyno measures databases: it builds data, drives load, measures, and keeps every run.
//!
//! This crate has the interfaces of `app`: the command line and the web pages. They decide no plan,
//! figure or finding. A program with its own workloads calls [`main_with`].

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

/// Extensions that a program which links dbdyno adds. They come after the built-in ones in every
/// list.
#[derive(Clone, Copy, Default)]
pub struct Added {
    /// Workloads to add, and languages in which workload files are written.
    pub workloads: workloads::Added,
    /// Drivers of databases, each with the schemes of its URLs.
    pub drivers: &'static [&'static drivers::Entry],
    /// Steps of a run (run members) to add, which act before and after its load.
    pub members: &'static [MakeMember],
    /// Transport that starts client processes and carries their messages; `None` for the built-in
    /// pipes.
    pub transport: Option<&'static dyn Transport>,
}

/// Runs dbdyno with the command line of this process and the extensions `added`.
pub fn main_with(added: Added) -> ExitCode {
    workloads::add(added.workloads);
    drivers::add(added.drivers);
    #[expect(clippy::disallowed_methods, reason = "drivers get the environment from here")]
    drivers::read_environment(|name| std::env::var_os(name));
    app::run::add_members(added.members);
    added.transport.into_iter().for_each(app::run::add_transport);
    cli::main()
}
