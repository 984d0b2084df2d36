//! dbdyno puts a database on the dyno: builds its data, drives its load, measures honestly.
//!
//! The interfaces of `app`: the command line and the web's pages. They decide nothing.

mod asked_host;
mod cli;
mod lists;
mod stderr;
mod web;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
