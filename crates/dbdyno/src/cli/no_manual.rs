//! Without the feature `terminal` there are neither completions nor manual pages.

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
