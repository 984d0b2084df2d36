//! Stands in for hubs and agents if dbdyno is built without the feature `agents`: there are no
//! commands, and a plan that names agents is refused.

use std::sync::Arc;

use app::run::Hosts;
use app::settings::ServerRestart;
use clap::{Arg, ArgMatches, Command};

use super::Outcome;
use crate::shell::Shell;

pub(super) fn commands() -> [Command; 0] {
    []
}

pub(super) fn flags() -> [Arg; 0] {
    []
}

pub(super) fn of_flag(_: &ArgMatches, _: &Shell) -> Option<Arc<dyn Hosts>> {
    None
}

pub(super) fn restart(_: &ArgMatches, _: &Shell) -> Option<ServerRestart> {
    None
}

pub(super) fn restart_by(_: &str, _: &ArgMatches, _: &Shell) -> Option<ServerRestart> {
    None
}

pub(super) fn hub_flags() -> [Arg; 0] {
    []
}

pub(super) fn dispatch(_: &str, _: &ArgMatches, _: &Shell) -> Option<Outcome> {
    None
}
