//! Options with which an agent joins a hub. Not here: joining (agent), and starting it elsewhere
//! (manifest).

use std::path::PathBuf;

use agents::{Address, AgentOptions, Token};
use app::Error;
use app::run::{AllowedControl, Permissions};
use clap::{Arg, ArgAction, ArgMatches, Command};
use model::parse_bytes;

use super::own_folder;
use crate::cli::flags;
use crate::shell::Shell;

/// Environment variable with the token, which a process list does not show.
const VARIABLE: &str = "DBDYNO_TOKEN";
/// Bytes of results that an agent keeps while the hub cannot be reached.
const SPOOL: &str = "256MiB";

/// Adds the options with which an agent joins.
pub(super) fn joining(command: Command) -> Command {
    command
        .arg(
            Arg::new("address")
                .required(true)
                .value_name("HUB")
                .help("Address of the hub, such as nats://host:4222"),
        )
        .arg(Arg::new("token").long("token").value_name("TOKEN").help(
            "Token that the hub prints (or put it in DBDYNO_TOKEN); the command line shows *** \
             instead",
        ))
        .arg(
            Arg::new("name")
                .long("name")
                .value_name("NAME")
                .help("Name of the agent [default: this host's name]"),
        )
        .arg(
            Arg::new("allow")
                .long("allow")
                .value_name("HOST[:PORT]|/FILE|scripts|monitor|control")
                .action(ArgAction::Append)
                .help(
                    "Server that runs may load from here, file that they may use, scripts that are \
                     programs (Lua), 'monitor': reading the load of this host and its server, or \
                     'control': restarting the server of this host with other settings; repeat it \
                     for more [default: nothing but sim]",
                ),
        )
        .arg(
            Arg::new("restart_command")
                .long("restart-command")
                .value_name("COMMAND")
                .help("Shell command that restarts the server of this host, for --allow control"),
        )
        .arg(
            Arg::new("settings_file")
                .long("settings-file")
                .value_name("FILE")
                .requires("restart_command")
                .help(
                    "File of this host to which runs may add settings, and which the server reads \
                     last [default: PostgreSQL's postgresql.auto.conf]",
                ),
        )
        .arg(Arg::new("spool").long("spool").value_name("BYTES").default_value(SPOOL).help(
            "Results to keep while the hub cannot be reached; when it is full, the load ends",
        ))
        .arg(
            Arg::new("folder")
                .long("folder")
                .value_name("FOLDER")
                .help("Folder for the agent's key [default: agents in dbdyno's own folder]"),
        )
}

/// Returns the options of an agent from its command line.
pub(super) fn options(matches: &ArgMatches, shell: &Shell) -> Result<AgentOptions, Error> {
    let address = matches.get_one::<String>("address").expect("it is required");
    let token = matches.get_one::<String>("token").cloned().or_else(|| shell.variable(VARIABLE));
    let token = token.map(|token| Token::parse(&token)).transpose();
    let spool = matches.get_one::<String>("spool").expect("it has a default");
    let folder = match matches.get_one::<String>("folder") {
        Some(folder) => PathBuf::from(folder),
        None => own_folder(shell)?.join("agents"),
    };
    Ok(AgentOptions {
        folder,
        hub: Address::parse(address).map_err(Error::Usage)?,
        token: token.map_err(|why| Error::Usage(format!("--token: {why}")))?,
        name: matches.get_one::<String>("name").cloned(),
        permissions: permissions(matches, shell)?,
        spool_bytes: parse_bytes(spool)
            .map_err(|bad| Error::Usage(format!("--spool: {bad}")))?
            .try_into()
            .unwrap_or(usize::MAX),
    })
}

fn permissions(matches: &ArgMatches, shell: &Shell) -> Result<Permissions, Error> {
    let restart = matches.get_one::<String>("restart_command");
    let mut permissions = Permissions::default();
    for word in matches.get_many::<String>("allow").into_iter().flatten() {
        match (word.as_str(), restart) {
            ("control", Some(restart)) => {
                permissions.control = Some(AllowedControl {
                    restart: restart.clone(),
                    file: matches.get_one::<String>("settings_file").map(PathBuf::from),
                    journal: flags::store_to_write(matches, shell)?,
                });
            }
            _ => permissions.allow(word).map_err(|bad| Error::Usage(format!("--allow: {bad}")))?,
        }
    }
    match (restart, &permissions.control) {
        (Some(_), None) => {
            Err(Error::Usage("--restart-command: add --allow control, which uses it".to_owned()))
        }
        _ => Ok(permissions),
    }
}
