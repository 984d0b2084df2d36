//! Stands in for completions and manual pages if dbdyno is built without the feature `terminal`.

use clap::{ArgMatches, Command};

use super::{Outcome, USAGE};
use crate::shell::Shell;

pub(crate) fn commands() -> [Command; 0] {
    []
}

pub(crate) fn completions(_: &ArgMatches, _: Command, _: &Shell) -> Outcome {
    Ok(USAGE)
}

pub(crate) fn man(_: &ArgMatches, _: Command, _: &Shell) -> Outcome {
    Ok(USAGE)
}
