//! `dbdyno` without arguments: suggests first steps for this machine. Not here: the steps
//! themselves.

use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use app::open::data_folder;
use clap::ArgMatches;
use drivers::LocalServer;
use render::Document;
use render::document::{Block, Span, Text};
use render::terminal::PAGE_WIDTH;
use store::{Filter, Store};

use super::{Outcome, flags};
use crate::shell::Shell;

/// Time limit for connecting to a server on this machine by TCP, after which its sockets are tried.
const PATIENCE: Duration = Duration::from_millis(200);

/// Databases, data and settings found on this machine. The suggested first steps depend on them.
#[derive(Clone, Debug, Default, PartialEq)]
struct OnThisMachine {
    /// Servers that accept connections: kind of server, scheme of its URL, and address or socket.
    listening: Vec<(&'static str, &'static str, String)>,
    /// Installed servers: name of the program, and name of the server as a `managed:` target.
    installed: Vec<(&'static str, &'static str)>,
    /// Workloads with data in dbdyno's own folder.
    built: Vec<String>,
    /// Newest stored run: name, database and time of its start; `None` if there is none.
    last_run: Option<String>,
    /// Default target that the user has set (`dbdyno config`); `None` if there is none.
    target: Option<String>,
}

pub(crate) fn first_steps(matches: &ArgMatches, shell: &Shell) -> Outcome {
    shell.print_page(&page(&look_around(matches, shell)), &shell.style(PAGE_WIDTH))
}

fn look_around(matches: &ArgMatches, shell: &Shell) -> OnThisMachine {
    let mut found = OnThisMachine {
        built: built(shell),
        last_run: last_run(matches, shell),
        target: shell.setting("target").map(str::to_owned),
        ..OnThisMachine::default()
    };
    // Tests must not depend on their machine.
    if shell.is_process() {
        for entry in drivers::all() {
            let Some(server) = &entry.local_server else { continue };
            let scheme = entry.schemes[0];
            found.listening.extend(place(server).map(|at| (server.title, scheme, at)));
            let program = server.programs.iter().find(|program| is_installed(program, shell));
            found.installed.extend(program.map(|program| (*program, scheme)));
        }
    }
    found
}

/// Returns the address or socket at which a server on this machine accepts connections; `None` if
/// it accepts none.
fn place(server: &LocalServer) -> Option<String> {
    let address = SocketAddr::from(([127, 0, 0, 1], server.port));
    if TcpStream::connect_timeout(&address, PATIENCE).is_ok() {
        return Some(address.to_string());
    }
    let socket = server.sockets.iter().find(|socket| UnixStream::connect(socket).is_ok())?;
    Some((*socket).to_owned())
}

fn is_installed(program: &str, shell: &Shell) -> bool {
    let path = shell.variable("PATH").unwrap_or_default();
    path.split(':').chain(["/usr/sbin"]).any(|folder| Path::new(folder).join(program).is_file())
}

/// Returns the names of the workloads whose SQLite files are in dbdyno's own folder, sorted.
fn built(shell: &Shell) -> Vec<String> {
    let Some(folder) = data_folder(&|name| shell.variable(name)) else { return Vec::new() };
    let Ok(files) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = files.flatten().filter_map(|file| {
        let name = file.file_name().into_string().ok()?;
        let data = name.strip_suffix(".db")?;
        workloads::all().find(|entry| entry.data == data).map(|entry| entry.name.to_owned())
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn last_run(matches: &ArgMatches, shell: &Shell) -> Option<String> {
    let path = flags::store_path(matches, shell).ok().filter(|path| path.exists())?;
    let filter = Filter { limit: Some(1), ..Filter::default() };
    let runs = Store::open_existing(&path).ok()?.list(&filter).ok()?;
    let run = runs.first()?;
    Some(format!("{} on {}, {} UTC", run.name, run.database, store::utc(run.started_unix_ms)))
}

/// Creates the page with the first commands that are suggested to a user, the most useful one
/// first.
fn page(found: &OnThisMachine) -> Document {
    let mut steps: Vec<(String, Vec<String>)> = Vec::new();
    if let Some(target) = &found.target {
        let what = format!("On {target}, which 'dbdyno config' names");
        steps.push((what, vec!["dbdyno run tpcc --ask-password".to_owned()]));
    }
    if !found.built.is_empty() {
        let commands = found.built.iter().map(|name| format!("dbdyno run {name}")).collect();
        steps.push(("Data are there already".to_owned(), commands));
    } else if found.target.is_none() {
        let what = "A first result in a minute, on an embedded SQLite file".to_owned();
        steps.push((what, vec!["dbdyno run tpcc".to_owned()]));
    }
    for (name, scheme, place) in &found.listening {
        let url = match place.starts_with('/') {
            true => format!("'{scheme}://USER@localhost/bench?socket={place}'"),
            false => format!("{scheme}://USER@{place}/bench"),
        };
        let command = format!("dbdyno run tpcc --target {url} --ask-password");
        steps.push((format!("{name} listens at {place}"), vec![command]));
    }
    for (program, scheme) in &found.installed {
        let what = format!("{program} is installed: on a private server, removed afterwards");
        steps.push((what, vec![format!("dbdyno run tpcc --target managed:{scheme}")]));
    }
    if let Some(run) = &found.last_run {
        let commands = ["dbdyno runs show last", "dbdyno runs", "dbdyno web"].map(str::to_owned);
        steps.push((format!("Runs are stored; the last is {run}"), commands.to_vec()));
    }
    let mut page = Document::new("dbdyno", "dbdyno");
    let what = "dbdyno builds data, drives load on a database, and measures. What to do first:";
    page.section("what", "", vec![Block::paragraphs([what])]);
    for (what, commands) in steps {
        let lines: Vec<String> = commands.iter().map(|line| format!("  {line}")).collect();
        let blocks =
            vec![Block::paragraphs([format!("{what}:")]), Block::Verbatim(lines.join("\n"))];
        page.section("step", "", blocks);
    }
    let code = |command: &str| Span::Code(command.to_owned());
    let more = Text::from("All commands: ").and(code("dbdyno --help"));
    let more = more.and(". Options of a workload: ").and(code("dbdyno run tpcc --help")).and(".");
    page.section("more", "", vec![Block::paragraphs([more])]);
    page
}

#[cfg(test)]
mod tests {
    use render::terminal::text;

    use super::*;

    #[test]
    fn what_is_there_comes_first() {
        let printed = |found: &OnThisMachine| text(&page(found), &render::Style::default());
        insta::assert_snapshot!(printed(&OnThisMachine::default()), @r"
        dbdyno builds data, drives load on a database, and measures. What to do first:

        A first result in a minute, on an embedded SQLite file:
          dbdyno run tpcc

        All commands: dbdyno --help. Options of a workload: dbdyno run tpcc --help.
        ");
        let found = OnThisMachine {
            listening: vec![
                ("MariaDB or MySQL", "mariadb", "127.0.0.1:3306".to_owned()),
                ("PostgreSQL", "postgres", "/run/postgresql/.s.PGSQL.5432".to_owned()),
            ],
            installed: vec![("mariadbd", "mariadb")],
            built: vec!["tpcc".to_owned()],
            last_run: Some("tpcc on SQLite 3.54.1, 2026-11-24 17:14:53 UTC".to_owned()),
            target: Some("mariadb://bench@db/bench".to_owned()),
        };
        insta::assert_snapshot!(printed(&found), @r"
        dbdyno builds data, drives load on a database, and measures. What to do first:

        On mariadb://bench@db/bench, which 'dbdyno config' names:
          dbdyno run tpcc --ask-password

        Data are there already:
          dbdyno run tpcc

        MariaDB or MySQL listens at 127.0.0.1:3306:
          dbdyno run tpcc --target mariadb://USER@127.0.0.1:3306/bench --ask-password

        PostgreSQL listens at /run/postgresql/.s.PGSQL.5432:
          dbdyno run tpcc --target 'postgres://USER@localhost/bench?socket=/run/postgresql/.s.PGSQL.5432' --ask-password

        mariadbd is installed: on a private server, removed afterwards:
          dbdyno run tpcc --target managed:mariadb

        Runs are stored; the last is tpcc on SQLite 3.54.1, 2026-11-24 17:14:53 UTC:
          dbdyno runs show last
          dbdyno runs
          dbdyno web

        All commands: dbdyno --help. Options of a workload: dbdyno run tpcc --help.
        ");
    }
}
