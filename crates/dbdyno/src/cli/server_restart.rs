//! Flags for restarting a server that dbdyno did not start, with other settings.
//!
//! A restart is a command, so it comes only from a command line, never from a plan or a page. Not
//! here: the restart itself (app).

use std::path::PathBuf;

use app::Error;
use app::settings::ServerRestart;
use clap::{Arg, ArgMatches};

use super::hosts;
use crate::shell::Shell;

const COMMAND: &str = "restart_command";
const FILE: &str = "settings_file";

/// Returns the flags of commands that may change settings of a server.
pub(super) fn flags() -> [Arg; 2] {
    let flag = |name: &'static str, long: &'static str| {
        Arg::new(name).long(long).help_heading("Servers of your own")
    };
    [
        flag(COMMAND, "restart-command").value_name("COMMAND").help(
            "Shell command that restarts the target's server, on this host, for settings \
             (server.NAME) that it takes only at its start; both are put back at the end",
        ),
        flag(FILE, "settings-file").value_name("FILE").requires(COMMAND).help(
            "File to which such settings are added, and which the server reads last [default: \
             PostgreSQL's postgresql.auto.conf; MariaDB and MySQL need one, such as \
             /etc/mysql/conf.d/zz-dbdyno.cnf]",
        ),
    ]
}

/// Returns how the command line lets servers be restarted; `None` if it does not.
pub(super) fn of_flags(
    matches: &ArgMatches,
    shell: &Shell,
) -> Result<Option<ServerRestart>, Error> {
    let text = |name: &str| matches.try_get_one::<String>(name).ok().flatten().cloned();
    match text(COMMAND) {
        Some(command) if command.trim().is_empty() => {
            Err(Error::Usage("--restart-command: the command is empty".to_owned()))
        }
        Some(command) => Ok(Some(ServerRestart::here(command, text(FILE).map(PathBuf::from)))),
        None => Ok(hosts::restart(matches, shell)),
    }
}
