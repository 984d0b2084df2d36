//! Commands for other hosts: the hub, its agents, and their list.
//!
//! Not here: what hub and agents do (agents).

mod agent;
mod hub;
mod joining;
mod list;
mod manifest;

use std::path::PathBuf;
use std::sync::Arc;

use agents::Fleet;
use app::Error;
use app::open::data_folder;
use app::run::{Hosts, restart_by_agent};
use app::settings::ServerRestart;
use clap::{Arg, ArgMatches, Command};

use super::Outcome;
use crate::shell::Shell;

/// Name of the flag for the folder of a hub.
const HUB: &str = "hub";
/// Name of the flag for the agent that restarts the server.
const CONTROL: &str = "control_agent";

pub(super) fn commands() -> [Command; 3] {
    [hub::command(), agent::command(), list::command()]
}

/// Returns the flags of commands that run clients on other hosts.
pub(super) fn flags() -> [Arg; 2] {
    let control = Arg::new(CONTROL)
        .long("control-agent")
        .value_name("NAME")
        .conflicts_with("restart_command")
        .help_heading("Servers of your own")
        .help(
            "Agent on the server's host that restarts the server, for settings (server.NAME) that \
             it takes only at its start ('dbdyno agent join --allow control')",
        );
    [hub_flag().help_heading("Clients and load"), control]
}

/// Returns how the agent that a command line names restarts servers; `None` without one.
pub(super) fn restart(matches: &ArgMatches, shell: &Shell) -> Option<ServerRestart> {
    let name = matches.try_get_one::<String>(CONTROL).ok().flatten()?;
    restart_by(name, matches, shell)
}

/// Returns how the agent with this name restarts servers; `None` if no hub is known.
pub(super) fn restart_by(name: &str, matches: &ArgMatches, shell: &Shell) -> Option<ServerRestart> {
    Some(restart_by_agent(name.to_owned(), of_flag(matches, shell)?))
}

/// Returns the flag of commands that only reach agents.
pub(super) fn hub_flags() -> [Arg; 1] {
    [hub_flag()]
}

fn hub_flag() -> Arg {
    Arg::new(HUB).long(HUB).value_name("FOLDER").help(
        "Folder with the keys of the hub whose agents are used [default: that of 'dbdyno hub']",
    )
}

/// Returns the hosts of the hub that a command line names, or of the hub of this user.
pub(super) fn of_flag(matches: &ArgMatches, shell: &Shell) -> Option<Arc<dyn Hosts>> {
    hub_folder(matches, shell).ok().map(|folder| Arc::new(Fleet::of_folder(folder)) as _)
}

/// Runs the command with this name; `None` if it is none of these.
pub(super) fn dispatch(name: &str, matches: &ArgMatches, shell: &Shell) -> Option<Outcome> {
    match name {
        "hub" => Some(hub::hub(matches, shell)),
        "agent" => Some(agent::agent(matches, shell)),
        "agents" => Some(list::agents(matches, shell)),
        _ => None,
    }
}

fn hub_folder(matches: &ArgMatches, shell: &Shell) -> Result<PathBuf, Error> {
    // Commands that resume stored plans do not have the flag.
    match matches.try_get_one::<String>(HUB).ok().flatten() {
        Some(folder) => Ok(PathBuf::from(folder)),
        None => own_folder(shell).map(|folder| folder.join("hub")),
    }
}

fn own_folder(shell: &Shell) -> Result<PathBuf, Error> {
    data_folder(&|name| shell.variable(name)).ok_or_else(|| {
        Error::Usage(
            "neither XDG_DATA_HOME nor HOME is set: name a folder with --hub or --folder"
                .to_owned(),
        )
    })
}
