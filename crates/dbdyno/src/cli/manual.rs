//! `dbdyno completions` and `dbdyno man`, generated from the commands. Not here: the commands.

use app::Error;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell as CompletedShell;
use clap_mangen::Man;

use super::{Outcome, flags};
use crate::outcome::MEANINGS;
use crate::shell::Shell;

pub(crate) fn commands() -> [Command; 2] {
    [
        Command::new("completions").about("Prints completions for a shell").arg(
            Arg::new("shell")
                .required(true)
                .value_name("SHELL")
                .value_parser(value_parser!(CompletedShell))
                .help("bash, zsh, fish, elvish or powershell")
                .hide_possible_values(true),
        ),
        Command::new("man").about("Prints the manual page of dbdyno, or of one command").arg(
            Arg::new("command")
                .num_args(0..)
                .value_name("COMMAND")
                .help("Command, such as run, or runs list"),
        ),
    ]
}

/// Names of commands that have the options of a workload; `true` if a command also has the options
/// that do not shape the data.
const OF_WORKLOADS: [(&str, bool); 7] = [
    ("run", true),
    ("tune", true),
    ("show", true),
    ("build", false),
    ("check", false),
    ("drop", false),
    ("datagen", false),
];

/// Adds the names of all workloads and their options to a command, for help texts in which the
/// workload is not known yet. With `also_of_load`, these include options that do not shape data.
fn with_workloads(mut command: Command, also_of_load: bool) -> Command {
    let names: Vec<&str> = workloads::all().map(|entry| entry.name).collect();
    let positional: Vec<_> = command.get_positionals().map(|arg| arg.get_id().clone()).collect();
    for id in positional {
        let names = PossibleValuesParser::new(names.clone());
        command = command.mut_arg(id, |arg| arg.value_parser(names));
    }
    for parameter in workloads::all().flat_map(|entry| entry.parameters) {
        let is_there = command.get_arguments().any(|arg| arg.get_id() == parameter.name);
        if !is_there && (also_of_load || parameter.shapes_data) {
            command = command.arg(flags::flag(parameter, "Workload"));
        }
    }
    command
}

/// Prints the completions for a shell, with the options of all workloads.
pub(crate) fn completions(matches: &ArgMatches, mut all: Command, shell: &Shell) -> Outcome {
    let completed = *matches.get_one::<CompletedShell>("shell").expect("clap requires it");
    for (name, also_of_load) in OF_WORKLOADS {
        all = all.mut_subcommand(name, |command| with_workloads(command, also_of_load));
    }
    let mut script = Vec::new();
    clap_complete::generate(completed, &mut all, "dbdyno", &mut script);
    shell.print_bytes(&script)
}

/// Prints the manual page of the program or of one command, in the language of man(7).
pub(crate) fn man(matches: &ArgMatches, mut all: Command, shell: &Shell) -> Outcome {
    all.build();
    let mut at = &all;
    for name in matches.get_many::<String>("command").into_iter().flatten() {
        at = at.find_subcommand(name).ok_or_else(|| {
            Error::Usage(format!("there is no command '{name}': see 'dbdyno --help'"))
        })?;
    }
    // Names of manual pages have dashes: dbdyno-runs-list(1).
    let name = at.get_bin_name().unwrap_or("dbdyno").replace(' ', "-");
    let mut page = Vec::new();
    let written = Man::new(at.clone().name(name)).render(&mut page);
    written.map_err(|error| Error::Failed(format!("the page cannot be made: {error}")))?;
    page.extend(exit_status().into_bytes());
    shell.print_bytes(&page)
}

/// Returns the section of a manual page on exit codes, which are the same for all commands.
fn exit_status() -> String {
    let of_code = |(code, meaning): &(u8, &str)| {
        format!(".TP\n\\fB{code}\\fR\n{}\n", meaning.replace('-', "\\-"))
    };
    let all: String = MEANINGS.iter().map(of_code).collect();
    format!(".SH \"EXIT STATUS\"\n{all}")
}
