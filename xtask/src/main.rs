//! Chores of dbdyno: `cargo xtask tidy | test | ci | docs | coverage | servers | peers`.
//!
//! Here: what a machine can check of the house's rules, and the one command that checks
//! everything. Not here: anything that dbdyno itself does.

mod cargo;
mod chores;
mod fetch;
mod peers;
mod suite;
mod tidy;
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <chore>

  tidy      check the rules of the house that a machine can check
  test      everything that must hold: format, lints, tidy, tests, generated docs
  ci        the same as test
  docs      write the generated docs again
  coverage  how often intervals hold, over many runs, into docs/measuring.md (half an hour)
  servers   fetch the servers for tests that Debian has not (with its npm and maven)

  peers     sysbench, pgbench and dbdyno side by side on private servers
            [--rounds N] [--seconds N] [--only TEXT] [--placements thread,loop,auto]
            [--clients N,N] [--bare] [--dbdyno PROGRAM,PROGRAM] | --list";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = root();
    let done = match arguments[..] {
        ["tidy"] => chores::tidy(&root),
        ["test" | "ci"] => chores::everything(&root),
        ["docs"] => chores::docs(&root),
        ["coverage"] => chores::coverage(&root),
        ["servers"] => fetch::fetch(),
        ["peers", "--list"] => {
            peers::list();
            Ok(true)
        }
        ["peers", ref options @ ..] => peers::run(&root, options),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask lies in the workspace").to_owned()
}

#[cfg(test)]
mod tests {
    use crate::tidy::{Trouble, check};
    use crate::tree::Tree;

    #[test]
    fn tidy_is_clean() {
        let tree = Tree::read(&super::root()).expect("the workspace can be read");
        let failures: Vec<String> = check(&tree).failures.iter().map(Trouble::to_string).collect();
        assert!(failures.is_empty(), "\n{}\n", failures.join("\n"));
    }
}
