//! The program `dbdyno`; all of it is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    dbdyno::main_with(Default::default())
}
