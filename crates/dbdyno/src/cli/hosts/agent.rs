//! `dbdyno agent`: this host takes part in runs of others.

use agents::Agent;
use clap::{ArgMatches, Command};

use super::joining::{joining, options};
use super::manifest;
use crate::cli::signals::end_on_signals;
use crate::cli::{DONE, Outcome};
use crate::shell::Shell;

pub(super) fn command() -> Command {
    Command::new("agent")
        .about("Lets this host take part in runs of other hosts")
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

pub(super) fn agent(matches: &ArgMatches, shell: &Shell) -> Outcome {
    match matches.subcommand() {
        Some(("join", matches)) => join(matches, shell),
        Some(("check", matches)) => check(matches, shell),
        Some(("manifest", matches)) => manifest::manifest(matches, shell),
        _ => unreachable!("a subcommand is required"),
    }
}

fn join(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let options = options(matches, shell)?;
    let stop = end_on_signals(
        "the agent leaves the hub; a run that it takes part in fails, or is marked (--agent-loss)",
        shell,
    );
    let (hub, allows) = (options.hub.clone(), options.permissions.to_string());
    let agent = Agent::join(options)?;
    shell.print(&format!("{} has joined {hub}; it allows runs: {allows}\n", agent.name()))?;
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
    let monitor = match permissions.monitor {
        true => "yes: CPU, memory, disks, network, and the server at a target's port",
        false => "no",
    };
    let control = permissions.control.as_ref().map_or("no".to_owned(), |control| {
        let file = control.file.as_ref().map_or_else(
            || "the file that the server writes itself".to_owned(),
            |file| file.display().to_string(),
        );
        format!("yes: adds settings to {file}, and runs '{}'", control.restart)
    });
    shell.print(&format!(
        "connects to       {} (not tried now; it opens no port)\n\
         joins             {found}\n\
         keeps its key in  {folder}\n\
         loads servers     {servers}\n\
         uses files        {}\n\
         executes scripts  {scripts}\n\
         is monitored      {monitor}\n\
         restarts servers  {control}\n\
         starts programs   itself, once for each run, as this user; no others\n\
         keeps results of  {} while the hub cannot be reached\n",
        options.hub,
        list(files, "none"),
        matches.get_one::<String>("spool").map_or("", String::as_str),
    ))
}
