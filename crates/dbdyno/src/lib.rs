//! dbdyno measures databases: it builds the data, generates the load, and measures honestly.
//!
//! The interfaces of `app`: the command line and the web pages. They make no decisions. A program
//! with its own workloads calls [`main_with`].

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

use workloads::Added;

pub use crate::cli::run;
pub use crate::shell::Shell;

/// Does what the command line says, with `added` behind what is delivered.
pub fn main_with(added: Added) -> ExitCode {
    workloads::add(added);
    cli::main()
}
