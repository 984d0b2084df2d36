//! `dbdyno agents`: the agents that have joined.

use agents::{Fleet, Listed};
use clap::{ArgMatches, Command};
use model::NS_PER_MS;
use model::numbers::fixed;
use render::document::Document;
use render::terminal::LIST_WIDTH;
use render::{Align, Column, Table};
use serde_json::json;

use super::{hub_flag, hub_folder};
use crate::cli::{Outcome, flags, print_document};
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
        _ => print_document(&Document::from(vec![table(&all)]), LIST_WIDTH, matches, shell),
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
        "clock_offset_ns": agent.offset.ns,
        "clock_offset_error_ns": agent.offset.error_ns,
    })
}

fn table(all: &[Listed]) -> Table {
    let columns = [
        Column::new("agent", Align::Left).head(),
        Column::new("host", Align::Left),
        Column::new("dbdyno", Align::Left),
        Column::new("CPUs", Align::Right),
        Column::new("load", Align::Right),
        Column::new("clock", Align::Right),
        Column::new("state", Align::Left),
        Column::sentences("allows"),
    ];
    let row = |agent: &Listed| {
        let ms = |ns: f64| fixed(ns / NS_PER_MS as f64, 2);
        let clock =
            format!("{} ± {} ms", ms(agent.offset.ns as f64), ms(agent.offset.error_ns as f64));
        vec![
            agent.name.as_str().into(),
            agent.machine.as_str().into(),
            agent.version.as_str().into(),
            agent.n_cpus.to_string().as_str().into(),
            fixed(agent.load, 2).as_str().into(),
            clock.as_str().into(),
            agent.busy_with.as_deref().unwrap_or("free").into(),
            agent.allows.as_str().into(),
        ]
    };
    Table::filled("agents", "", columns, all.iter().map(row).collect())
}
