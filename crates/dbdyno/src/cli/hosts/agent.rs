//! `dbdyno agent`: this host takes part in runs of others.

use std::path::PathBuf;

use agents::{Address, Agent, AgentOptions, Token};
use app::Error;
use app::run::Permissions;
use clap::{Arg, ArgAction, ArgMatches, Command};
use model::parse_bytes;

use super::{manifest, own_folder};
use crate::cli::signals::stop_on_signals;
use crate::cli::{DONE, Outcome};
use crate::shell::Shell;

/// Environment variable with the token, which a process list does not show.
const VARIABLE: &str = "DBDYNO_TOKEN";
/// Bytes of results that an agent keeps while the hub cannot be reached.
const SPOOL: &str = "256MiB";

pub(super) fn command() -> Command {
    Command::new("agent")
        .about("Lets this host take part in runs: it executes clients of other hosts' runs")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(joining(
            Command::new("join")
                .about("Joins a hub, and executes clients of runs until Ctrl-C")
                .after_help(
                    "The agent only dials out, and does nothing that --allow does not name. It needs \
                     the token once; for 24 hours it joins again without it, and it renews its \
                     certificate while it runs.",
                ),
        ))
        .subcommand(joining(
            Command::new("check").about("Shows what 'agent join' would do and allow, without it"),
        ))
        .subcommand(manifest::command())
}

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
                .value_name("HOST[:PORT]|/FILE|scripts")
                .action(ArgAction::Append)
                .help(
                    "Server that runs may load from here, file that they may use, or scripts that \
                     are programs (Lua); repeat it for more [default: nothing but sim]",
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

pub(super) fn agent(matches: &ArgMatches, shell: &Shell) -> Outcome {
    match matches.subcommand() {
        Some(("join", matches)) => join(matches, shell),
        Some(("check", matches)) => check(matches, shell),
        Some(("manifest", matches)) => manifest::manifest(matches, shell),
        _ => unreachable!("a subcommand is required"),
    }
}

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
        permissions: permissions(matches)?,
        spool_bytes: parse_bytes(spool)
            .map_err(|bad| Error::Usage(format!("--spool: {bad}")))?
            .try_into()
            .unwrap_or(usize::MAX),
    })
}

fn permissions(matches: &ArgMatches) -> Result<Permissions, Error> {
    let mut permissions = Permissions::default();
    for word in matches.get_many::<String>("allow").into_iter().flatten() {
        permissions.allow(word).map_err(|bad| Error::Usage(format!("--allow: {bad}")))?;
    }
    Ok(permissions)
}

fn join(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let options = options(matches, shell)?;
    let stop = stop_on_signals(shell);
    let (hub, allows) = (options.hub.clone(), options.permissions.to_string());
    let agent = Agent::join(options)?;
    shell.print(&format!(
        "{} has joined {hub}; runs may load from here: {allows}\n",
        agent.name()
    ))?;
    agent.serve(&|| stop.is_asked(), &mut |sentence| shell.say(sentence));
    Ok(DONE)
}

fn check(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let options = options(matches, shell)?;
    let (found, folder) = (agents::inspect(&options), options.folder.display());
    let permissions = &options.permissions;
    let list = |all: Vec<String>, none: &str| match all.is_empty() {
        true => none.to_owned(),
        false => all.join(", "),
    };
    let servers = list(permissions.hosts.iter().map(ToString::to_string).collect(), "none");
    let files = permissions.files.iter().map(|path| path.display().to_string()).collect();
    let scripts = if permissions.scripts { "yes, as this user" } else { "no" };
    shell.print(&format!(
        "connects to       {} (it opens no port)\n\
         joins             {found}\n\
         keeps its key in  {folder}\n\
         loads servers     {servers}\n\
         uses files        {}\n\
         executes scripts  {scripts}\n\
         starts programs   itself, once for each run, as this user; no others\n\
         keeps results of  {} while the hub cannot be reached\n",
        options.hub,
        list(files, "none"),
        matches.get_one::<String>("spool").map_or(SPOOL, String::as_str),
    ))
}
