//! `dbdyno agents`: the agents that have joined.

use agents::{Fleet, Listed};
use clap::{ArgMatches, Command};
use model::NS_PER_MS;
use serde_json::json;

use super::{hub_flag, hub_folder};
use crate::cli::{Outcome, flags};
use crate::shell::Shell;

pub(super) fn command() -> Command {
    Command::new("agents").about("Lists the agents that have joined the hub").arg(hub_flag())
}

pub(super) fn agents(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let all = Fleet::of_folder(hub_folder(matches, shell)?).list()?;
    match flags::output_of(matches) {
        flags::Output::Json => {
            let agents: Vec<_> = all.iter().map(in_json).collect();
            let page = json!({ "schema": "dbdyno.agents/1", "agents": agents });
            shell.print(&format!("{page:#}\n"))
        }
        _ if all.is_empty() => {
            shell.print("no agent has joined: 'dbdyno hub' prints the line with which one does\n")
        }
        _ => shell.print(&table(&all)),
    }
}

fn in_json(agent: &Listed) -> serde_json::Value {
    json!({
        "name": agent.name,
        "machine": agent.machine,
        "version": agent.version,
        "cpus": agent.n_cpus,
        "load": agent.load,
        "busy_with": agent.busy_with,
        "allows": agent.allows,
        "clock_offset_ns": agent.offset_ns,
        "clock_offset_error_ns": agent.offset_error_ns,
    })
}

fn table(all: &[Listed]) -> String {
    let ms = |ns: f64| ns / NS_PER_MS as f64;
    let row = |agent: &Listed| {
        let (offset, error) = (ms(agent.offset_ns as f64), ms(agent.offset_error_ns as f64));
        [
            agent.name.clone(),
            agent.machine.clone(),
            agent.version.clone(),
            agent.n_cpus.to_string(),
            format!("{:.2}", agent.load),
            format!("{offset:+.2} ± {error:.2} ms"),
            agent.busy_with.clone().unwrap_or_else(|| "free".to_owned()),
            agent.allows.clone(),
        ]
    };
    let head = ["agent", "host", "dbdyno", "CPUs", "load", "clock", "state", "may load"];
    let rows: Vec<[String; 8]> =
        std::iter::once(head.map(str::to_owned)).chain(all.iter().map(row)).collect();
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |row: &[String; 8]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        line.trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}
