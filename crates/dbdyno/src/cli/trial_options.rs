//! Options of trials of experiments and searches, and the command that resumes them. Not here: the
//! trials.

use app::Error;
use app::build::BuildOptions;
use app::trial_runner::ExperimentOptions;
use app::trials::WalkResult;
use clap::ArgMatches;
use render::list::short_id;

use super::{FAILED, INTERRUPTED, flags, hosts, script_host, server_restart};
use crate::shell::Shell;

/// Returns the sentence for an interrupted experiment. The command that resumes the experiment has
/// a line of its own, so that it can be pasted.
fn interrupted(id: &str) -> String {
    format!("interrupted; resume with:\n  dbdyno experiments resume {}", short_id(id))
}

/// Returns the exit code of an experiment, a search or a tuner, whose report was printed: `good` if
/// it has the result that was asked for. Says how to resume an interrupted one.
pub(super) fn exit_code<R>(result: &WalkResult<R>, id: &str, good: u8, shell: &Shell) -> u8 {
    match (result.is_interrupted, result.is_good) {
        (true, _) => {
            shell.say(&interrupted(id));
            INTERRUPTED
        }
        (false, true) => good,
        (false, false) => FAILED,
    }
}

/// Returns the options for running the trials of an experiment or a search, from the command line:
/// the store, and whether to check and build the data.
pub(crate) fn options(matches: &ArgMatches, shell: &Shell) -> Result<ExperimentOptions, Error> {
    let checks = flags::checks_of(matches);
    Ok(ExperimentOptions {
        store: flags::store_to_write(matches, shell)?,
        check_before: checks.before(),
        check_after: checks.after(),
        build: !matches.get_flag("no_build"),
        load: BuildOptions { method: flags::load_method(matches), ..BuildOptions::default() },
        script_host: script_host::of_flag(matches, shell),
        hosts: hosts::of_flag(matches, shell),
        restart: server_restart::of_flags(matches, shell)?,
    })
}

/// Fails if `--no-store` is given, since the trials of an experiment are always stored.
pub(crate) fn is_kept(matches: &ArgMatches) -> Result<(), Error> {
    match matches.get_flag("no_store") {
        true => Err(Error::Usage(
            "--no-store: the trials of an experiment are kept; name another file with --store"
                .to_owned(),
        )),
        false => Ok(()),
    }
}
