//! dbdyno as it is delivered. Not here: anything else.

use std::process::ExitCode;

fn main() -> ExitCode {
    dbdyno::main_with(&[])
}
