//! `dbdyno datagen`: writes a workload's rows as flat files, and prints commands that load them.

use std::path::Path;
use std::sync::Arc;

use app::Error;
use app::datagen::{LoadCommands, Written, write_files};
use app::watcher::Watcher;
use clap::{Arg, ArgMatches, Command};
use model::{FileFormat, Settings, Workload, format_count};
use serde_json::{Value, json};

use super::live::Live;
use super::run::add_parameters;
use super::signals::stop_on_signals;
use super::{Outcome, flags, named, workload_argument};
use crate::shell::Shell;

pub(crate) fn command(words: &[String]) -> Result<Command, Error> {
    let what = named(words, "datagen");
    let command = Command::new("datagen")
        .about("Writes a workload's rows as flat files, with load commands")
        .arg(workload_argument())
        .arg(
            Arg::new("output_dir")
                .long("output-dir")
                .value_name("DIR")
                .required(true)
                .help("Folder for the files; created if it does not exist"),
        )
        .arg(
            Arg::new("format")
                .long("format")
                .value_name("tsv|csv|tbl")
                .value_parser(["tsv", "csv", "tbl"])
                .hide_possible_values(true)
                .default_value("tsv")
                .help(
                    "tsv is what LOAD DATA and COPY read by default; csv has a header; tbl ends \
                     each value with |, as generators of TPC do",
                ),
        )
        .arg(flags::seed())
        .arg(flags::quiet("Show no progress"));
    add_parameters(command, what.as_deref(), &|parameter| parameter.shapes_data)
}

pub(crate) fn datagen(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let workload = workload_of(matches)?;
    let folder = matches.get_one::<String>("output_dir").expect("clap requires it");
    let format = match matches.get_one::<String>("format").map(String::as_str) {
        Some("csv") => FileFormat::Csv,
        Some("tbl") => FileFormat::Tbl,
        _ => FileFormat::Tsv,
    };
    let stop = stop_on_signals(shell);
    let mut live = Live::new(shell, flags::is_quiet(matches, shell));
    let written = write_files(&workload, Path::new(folder), format, &stop, &mut |far| {
        live.building(far);
    });
    live.end();
    let written = written?;
    shell.print(&if flags::is_json(matches) { json_of(&written) } else { text_of(&written) })
}

fn workload_of(matches: &ArgMatches) -> Result<Arc<dyn Workload>, Error> {
    let name = matches.get_one::<String>("workload").expect("clap requires it");
    let entry = workloads::by_name(name)?;
    let seed = flags::number(matches, "seed")?;
    let given = flags::given(matches, entry.parameters.iter().map(|row| row.name));
    let settings = Settings::decide(entry.name, entry.parameters, given)?;
    Ok(entry.made(&settings, seed, None)?)
}

fn json_of(written: &Written) -> String {
    let file = |file: &app::datagen::WrittenFile| json!({"table": file.table, "path": file.path, "rows": file.n_rows, "bytes": file.n_bytes});
    let load = |LoadCommands { database, schema, commands, .. }: &LoadCommands| {
        (database.to_string(), json!({"schema": schema, "commands": commands}))
    };
    let value = json!({
        "format": written.format.name(),
        "seconds": written.seconds,
        "files": written.files.iter().map(file).collect::<Vec<Value>>(),
        "load": written.load_commands.iter().map(load).collect::<serde_json::Map<_, _>>(),
    });
    format!("{value:#}\n")
}

fn text_of(written: &Written) -> String {
    let mut text = String::new();
    for file in &written.files {
        let (rows, mib) = (format_count(file.n_rows), file.n_bytes as f64 / (1 << 20) as f64);
        text += &format!(
            "{:<14} {rows:>14} rows {mib:>10.1} MiB  {}\n",
            file.table,
            file.path.display()
        );
    }
    text += &format!("written in {:.1} s\n", written.seconds);
    for LoadCommands { introduction, commands, .. } in &written.load_commands {
        text += &format!("\n{introduction}:\n{}\n", commands.join("\n"));
    }
    text
}
