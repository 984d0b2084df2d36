//! Development tasks of dbdyno: `cargo xtask tidy | test | docs | dist | coverage | setup | servers
//! | peers`.
//!
//! Here: mechanical checks of the project's rules, and the command that checks everything. Not
//! here: functions of dbdyno itself.

mod cargo;
mod chores;
mod dist;
mod fetch;
mod peers;
mod setup;
mod suite;
mod tidy;
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::suite::Which;

const USAGE: &str = "\
usage: cargo xtask <chore>

  tidy      check the rules of the house that a machine can check
  test      everything that must hold: format, lints, tidy, tests, generated docs; first it
            installs the packages that tests need (as root on Debian), and fetches servers
            [--quick] only tests that need no server, no process and no browser
            [--stress] those in real time, three times: on one core, beside ten spinning
            processes, and at the lowest priority (an hour)
  docs      write the generated docs again
  dist      build what is delivered into target/packages: a tarball, a package for Debian, the
            files of a container image (with buildah the image too); each is tried
            [--profile NAME]
  coverage  how often intervals hold, over many runs, into docs/explanation/intervals.md (half an hour)
  setup     install and fetch what the tests need
  servers   of that, fetch the servers for tests that this Debian has not (npm, maven, apt)

  peers     sysbench, pgbench and dbdyno side by side on private servers
            [--rounds N] [--seconds N] [--only TEXT] [--placements thread,loop,auto]
            [--clients N,N] [--bare] [--dbdyno PROGRAM,PROGRAM] | --list";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = root();
    let done = match arguments[..] {
        ["tidy"] => chores::tidy(&root),
        ["test"] => chores::everything(&root, Which::All),
        ["test", "--quick"] => chores::everything(&root, Which::Quick),
        ["test", "--stress"] => chores::stress(&root),
        ["docs"] => chores::docs(&root),
        ["dist"] => dist::run(&root, "dist"),
        ["dist", "--profile", profile] => dist::run(&root, profile),
        ["coverage"] => chores::coverage(&root),
        ["setup"] => setup::set_up(),
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

/// Returns the folder of the workspace.
fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask lies in the workspace").to_owned()
}
