//! How the trials of experiments and searches are done, as the command line says. Not here: which.

use app::Error;
use app::build::BuildOptions;
use app::trial_runner::ExperimentOptions;
use clap::ArgMatches;

use super::flags;
use crate::shell::Shell;

/// How an experiment is done, as the command line says.
pub(crate) fn options(matches: &ArgMatches, shell: &Shell) -> Result<ExperimentOptions, Error> {
    let checks = flags::checks_of(matches);
    Ok(ExperimentOptions {
        store: flags::store_to_write(matches, shell)?,
        check_before: checks.before(),
        check_after: checks.after(),
        build: !matches.get_flag("no_build"),
        load: BuildOptions { method: flags::load_method(matches), ..BuildOptions::default() },
    })
}

/// Refuses an experiment whose trials are not kept.
pub(crate) fn is_kept(matches: &ArgMatches) -> Result<(), Error> {
    match matches.get_flag("no_store") {
        true => Err(Error::Usage(
            "--no-store: the trials of an experiment are kept; name another file with --store"
                .to_owned(),
        )),
        false => Ok(()),
    }
}
