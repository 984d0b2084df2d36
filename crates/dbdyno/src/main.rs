//! dbdyno puts a database on the dyno: builds its data, drives its load, measures honestly.
//!
//! The faces of the lab: here the command line. They decide nothing.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
