//! Tells on which machine the database runs, and which processes of a run share a machine: the
//! generator's, or one that an agent monitored.
//!
//! Not here: what that means for a result (environment, others_cpu).

use model::{FactValue, Target};

use crate::gauges::whose;
use crate::tally::Tally;

/// Subject of facts about the machines that agents monitored.
pub(crate) const MONITORED: &str = "monitor_agents";

/// Location of a database that runs on the same machine as the generator.
pub(crate) enum Place {
    /// The database runs in the generator's own process.
    WithinUs,
    /// The database runs on the generator's machine, in a process of its own.
    ThisHost,
}

/// A machine whose CPU, memory and disks were read during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Machine<'t> {
    /// Name of the agent that monitored it; `None` for the generator's machine.
    agent: Option<&'t str>,
}

impl<'t> Machine<'t> {
    /// The machine of the generator, on which dbdyno ran.
    pub(crate) const OURS: Machine<'static> = Machine { agent: None };

    /// Returns the machines on which clients or the server of the run were, and whose load was read
    /// to the end: that of the generator, unless all clients are elsewhere, and those that agents
    /// monitored.
    pub(crate) fn all(tally: &'t Tally) -> impl Iterator<Item = Machine<'t>> {
        let ours = Some(Machine::OURS).filter(|_| !are_all_elsewhere(tally));
        let server = Machine::of_server_elsewhere(tally);
        let has_part =
            move |machine: &Machine<'t>| Some(*machine) == server || machine.has_clients(tally);
        let is_whole = |machine: &Machine<'t>| {
            let lost = format!("{}_lost_at", machine.title());
            tally.fact(MONITORED, &lost).is_none()
        };
        ours.into_iter().chain(Machine::monitored(tally).filter(has_part).filter(is_whole))
    }

    /// Returns the machines that agents monitored, without that of the generator.
    pub(crate) fn monitored(tally: &'t Tally) -> impl Iterator<Item = Machine<'t>> {
        let names = tally.facts.iter().filter(|fact| fact.about == MONITORED);
        let elsewhere = names.filter(|fact| fact.value.yes_no() == Some(false));
        let names = elsewhere.filter_map(|fact| fact.name.strip_suffix("_is_here"));
        names.map(|name| Machine { agent: Some(name) })
    }

    /// Returns the machine of the server, if it was read and is not that of the generator.
    pub(crate) fn of_server_elsewhere(tally: &'t Tally) -> Option<Machine<'t>> {
        let agent = tally.fact(MONITORED, "server")?.to_string();
        Machine::monitored(tally).find(|machine| machine.agent == Some(&agent))
    }

    /// Returns the machine of the server: that of the generator, unless an agent monitored another.
    pub(crate) fn of_server(tally: &'t Tally) -> Machine<'t> {
        Machine::of_server_elsewhere(tally).unwrap_or(Machine::OURS)
    }

    /// Returns the subject of gauges or facts of this machine: `db1/machine` for `machine`.
    pub(crate) fn about(self, subject: &str) -> String {
        self.agent.map_or_else(|| subject.to_owned(), |agent| format!("{agent}/{subject}"))
    }

    /// Returns its name for the user: `this machine`, or that of its agent.
    pub(crate) fn title(self) -> &'t str {
        self.agent.unwrap_or("this machine")
    }

    /// Returns its number of processors; `None` if it is not known.
    pub(crate) fn processors(self, tally: &Tally) -> Option<f64> {
        let logical = tally.fact(&self.about("cpu"), "logical").and_then(FactValue::count);
        logical.filter(|n| *n > 0).map(|n| n as f64)
    }

    /// Whether the process whose gauges have the subject `about` ran on this machine.
    pub(crate) fn has_process(self, tally: &Tally, about: &str) -> bool {
        let elsewhere = Machine::of_server_elsewhere(tally);
        let is_servers = elsewhere == Some(self) && about == "server";
        match self.agent {
            Some(_) => is_servers || about == self.about("server"),
            None if about == "server" => elsewhere.is_none(),
            None if whose(about) == "server" => {
                Machine::monitored(tally).all(|machine| about != machine.about("server"))
            }
            None => whose(about) == "generator",
        }
    }

    /// Whether clients of the run were executed on this machine.
    pub(crate) fn has_clients(self, tally: &Tally) -> bool {
        let agent = |process: u32| tally.fact("processes", &format!("process_{process}_agent"));
        self.agent.is_none_or(|name| (1..).map_while(agent).any(|agent| *agent == *name))
    }
}

/// Returns when and how an agent that executes clients was lost while the run went on; `None` if
/// none was.
pub(crate) fn lost_agent(tally: &Tally) -> Option<&FactValue> {
    let fact =
        |process: u32, name: &str| tally.fact("processes", &format!("process_{process}_{name}"));
    let mut processes = (1..).take_while(|process| fact(*process, "clients").is_some());
    processes.find_map(|process| fact(process, "lost_at"))
}

/// Whether the server's host is that of some clients, which an agent there executed.
pub(crate) fn has_clients_beside_server(tally: &Tally) -> bool {
    Machine::of_server_elsewhere(tally).is_some_and(|machine| machine.has_clients(tally))
}

/// Returns where a run's database is on the generator's machine; `None` if it is on another
/// machine, or simulated.
pub(crate) fn place(tally: &Tally) -> Option<Place> {
    let is_simulated = tally.fact("database", "seed").is_some();
    // An agent on this machine has found the server, whatever the target calls it.
    let is_found = tally.fact(MONITORED, "server_is_here").and_then(FactValue::yes_no);
    let place = place_of(&tally.description.as_ref()?.target, is_simulated)
        .or_else(|| is_found.filter(|is_here| *is_here).map(|_| Place::ThisHost))?;
    // With all clients on other hosts, the generator is not on that of the server.
    match place {
        Place::ThisHost if are_all_elsewhere(tally) => None,
        place => Some(place),
    }
}

/// Whether agents on other hosts execute all clients.
fn are_all_elsewhere(tally: &Tally) -> bool {
    let fact = |process: u32| tally.fact("processes", &format!("process_{process}_is_here"));
    let mut all = (1..).map_while(fact).peekable();
    all.peek().is_some() && all.all(|is_here| is_here.yes_no() == Some(false))
}

/// Returns true if the database at a target runs in the generator's own process, as SQLite does;
/// false for a simulated one.
pub(crate) fn is_embedded(target: &str, is_simulated: bool) -> bool {
    matches!(place_of(target, is_simulated), Some(Place::WithinUs))
}

/// Returns where the database at a target URL is on this machine; `None` if it is on another
/// machine, or simulated.
fn place_of(target: &str, is_simulated: bool) -> Option<Place> {
    let target = Target::parse(target).ok()?;
    let is_path = |name: &str| name.starts_with('/');
    let socket = ["socket", "host"].iter().any(|option| target.option(option).is_some_and(is_path));
    match target.hosts.as_slice() {
        // A simulated database has no place.
        _ if is_simulated => None,
        _ if target.scheme == "managed" || socket => Some(Place::ThisHost),
        [] => Some(Place::WithinUs),
        hosts if hosts.iter().any(|host| host.is_here() || is_path(&host.name)) => {
            Some(Place::ThisHost)
        }
        _ => None,
    }
}
