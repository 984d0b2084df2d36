//! `dbdyno translate`: makes a plan of a file of another benchmark program.
//!
//! Not here: the translation (plan), and scripts that dbdyno runs as they are.

use app::Error;
use clap::{Arg, ArgMatches, Command};
use plan::translate::{Environment, translate as translated};
use serde_json::json;

use super::scripts::PLAN_BYTES_MAX;
use super::{Outcome, STDIN, flags};
use crate::shell::Shell;

pub(crate) fn command() -> Command {
    Command::new("translate")
        .about("Makes a plan of a HammerDB script or a BenchBase file")
        .long_about(
            "Makes a plan of a script of HammerDB's command line, in Tcl or Python, or of a \
             configuration of BenchBase, and prints it. Comments above it say what was \
             translated, and what has no counterpart. Nothing is executed.",
        )
        .arg(
            Arg::new("file")
                .required(true)
                .value_name("FILE")
                .help("Script or configuration; - reads standard input"),
        )
}

pub(crate) fn translate(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let name = matches.get_one::<String>("file").expect("clap requires it");
    let unread =
        |why: &dyn std::fmt::Display| Error::Usage(format!("{name} cannot be read: {why}"));
    let text = match name.as_str() {
        STDIN => shell.read(PLAN_BYTES_MAX).map_err(|error| unread(&error))?,
        file => files::read_text(file, PLAN_BYTES_MAX).map_err(|error| unread(&error))?,
    };
    let name = if name == STDIN { "stdin" } else { name };
    let environment = Environment {
        variable: &|name| shell.variable(name),
        cpus: std::thread::available_parallelism().map_or(1, |n| n.get()),
    };
    let translation = translated(name, &text, &environment)?;
    if flags::is_json(matches) {
        let value = json!({
            "kind": translation.kind.what(),
            "plan": translation.to_toml(),
            "left_out": translation.n_left_out,
        });
        return shell.print(&format!("{value:#}\n"));
    }
    if translation.n_left_out > 0 {
        let n = translation.n_left_out;
        shell.say(&format!("dbdyno: without a counterpart: {n}, listed above the plan"));
    }
    shell.print(&translation.to_toml())
}
