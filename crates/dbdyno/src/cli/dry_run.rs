//! `dbdyno run --dry-run`: checks a plan without a connection, and prints what it would do.
//!
//! Not here: the checks (app).

use app::build::BuildOptions;
use app::dry_run::{Intended, dry_run};
use app::run::RunOptions;
use clap::{Arg, ArgAction, ArgMatches};
use model::Target;
use render::DryRun;
use render::terminal::PAGE_WIDTH;

use super::own_folder::{own_target, target_unnamed};
use super::{Outcome, STDIN, flags, hosts, print_document, script_host};
use crate::shell::Shell;

/// Name of the flag.
const DRY: &str = "dry_run";

pub(super) fn flag() -> Arg {
    Arg::new(DRY)
        .long("dry-run")
        .action(ArgAction::SetTrue)
        .help("Check the plan without connecting, print what it would do, and execute nothing")
}

/// Whether the plan is only to be checked.
pub(super) fn is_asked(matches: &ArgMatches) -> bool {
    // Commands that resume stored plans do not have the flag.
    matches.try_get_one::<bool>(DRY).ok().flatten().copied().unwrap_or(false)
}

/// Returns the target of a plan that names none. If the plan is only to be checked, creates no
/// folder for it.
pub(super) fn default_target(
    workload: &str,
    matches: &ArgMatches,
    shell: &Shell,
) -> Result<Target, String> {
    match is_asked(matches) {
        true => target_unnamed(workload, shell),
        false => own_target(workload, shell),
    }
}

/// Checks what was intended, and prints what it would do.
pub(super) fn print(
    intended: &Intended<'_>,
    limits: Vec<String>,
    matches: &ArgMatches,
    shell: &Shell,
) -> Outcome {
    let store = match flags::is_unstored(matches, shell)? {
        true => None,
        false => Some(flags::store_path(matches, shell)?),
    };
    let options = RunOptions {
        build: !matches.get_flag("no_build"),
        load: BuildOptions { method: flags::load_method(matches), ..BuildOptions::default() },
        script_host: script_host::of_flag(matches, shell),
        hosts: hosts::of_flag(matches, shell),
        ..RunOptions::on_data_as_they_are(store)
    };
    let dry = dry_run(intended, &options)?;
    let what = matches.get_one::<String>("what").filter(|what| what.ends_with(".toml"));
    let files = what.filter(|what| *what != STDIN).cloned().into_iter().chain(dry.files);
    let dry = DryRun { limits, files: files.collect(), ..dry };
    match flags::is_json(matches) {
        true => shell.print(&format!("{:#}\n", render::dry_run_json(&dry))),
        false => print_document(&render::dry_run(&dry), PAGE_WIDTH, matches, shell),
    }
}
