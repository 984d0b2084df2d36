//! The agents of a hub, as runs and lists see them.
//!
//! Not here: an agent's own side (agent).

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use app::Error;
use app::run::{
    AgentHost, Chosen, ClockOffset, Hosts, Link, Peer, Permissions, Transport, Work,
    version_of_ours,
};
use model::AgentShare;
use monitor::wall_clock;
use store::Process;

use crate::broker::{Broker, Connect, Listener};
use crate::conversation::{Conversation, Received, Sent};
use crate::credentials::{self, Credentials};
use crate::desk::{Answered, Desk};
use crate::hub::run_file;
use crate::messages::{Here, Opening, encode};
use crate::random_word;
use crate::subjects::{HERE, from_agent, from_all, to_agent};
use crate::this_host;
use crate::tls::{Shown, client_config};

/// Longest wait for the answers of agents in a list.
const LIST_WITHIN: Duration = Duration::from_millis(1000);
/// Longest wait for agents that are not there.
const THERE_WITHIN: Duration = Duration::from_secs(4);
/// Longest wait for agents that are busy; those of a run that was killed are free within ten
/// seconds.
const FREE_WITHIN: Duration = Duration::from_secs(15);
/// Largest number of bytes that wait for an agent.
const UNACKED_BYTES_MAX: usize = 64 << 20;

/// The agents of the hub in a folder. It connects when it is needed, and stays connected.
pub struct Fleet {
    folder: PathBuf,
    connection: Mutex<Option<Connection>>,
}

#[derive(Clone)]
struct Connection {
    broker: Broker,
    desk: Arc<Desk>,
    /// Word that the subjects of this connection's conversations begin with.
    word: String,
}

/// An agent in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    pub name: String,
    /// Name of its host.
    pub machine: String,
    /// Version of dbdyno that the agent has.
    pub version: String,
    /// Number of CPUs that it may use.
    pub n_cpus: u32,
    /// Mean number of runnable processes on its host over the last minute.
    pub load: f64,
    /// Description of its present work; `None` if it is free.
    pub busy_with: Option<String>,
    /// Servers, files and scripts that it allows.
    pub allows: String,
    /// Offset of its clock from that of this host.
    pub offset: ClockOffset,
}

impl Fleet {
    /// Returns the agents of the hub whose keys are in this folder. Nothing is opened yet.
    pub fn of_folder(folder: PathBuf) -> Fleet {
        Fleet { folder, connection: Mutex::new(None) }
    }

    /// Returns all agents that answer within a second, by name.
    ///
    /// # Errors
    ///
    /// No hub in the folder, or one that does not answer.
    pub fn list(&self) -> Result<Vec<Listed>, Error> {
        let Connection { broker, desk, .. } = self.connection()?;
        let answered = desk.ask(&broker, LIST_WITHIN, &|_| false);
        let mut all: Vec<Listed> = answered.into_values().map(listed).collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(all)
    }

    fn connection(&self) -> Result<Connection, Error> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = connection.as_ref() {
            return Ok(connection.clone());
        }
        let made = connect(&self.folder)?;
        Ok(connection.insert(made).clone())
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        let connection = self.connection.get_mut().unwrap_or_else(PoisonError::into_inner);
        connection.iter().for_each(|connection| connection.broker.close());
    }
}

fn connect(folder: &Path) -> Result<Connection, Error> {
    let path = run_file(folder);
    if !path.exists() {
        return Err(Error::Usage(format!(
            "there is no hub in {}: start one with 'dbdyno hub', or name the folder of another one \
             with --hub",
            folder.display()
        )));
    }
    let credentials: Credentials = credentials::read(&path).map_err(Error::Usage)?;
    let address = credentials.address().map_err(Error::Usage)?;
    let broken = || Error::Usage(format!("{} was changed by hand", path.display()));
    let (authority, seed, certificate) = credentials.secrets().ok_or_else(broken)?;
    let desk = Arc::new(Desk::default());
    // Subjects of this connection's own, so that agents notice when it is closed.
    let word = random_word();
    let connect = Connect {
        address: address.clone(),
        tls: client_config(authority, Shown::new(certificate, &seed)),
        name: format!("run {}", std::process::id()),
        subjects: vec![from_all(HERE), from_all(&format!("{word}.*"))],
    };
    let broker = Broker::connect(connect, Arc::clone(&desk) as Arc<dyn Listener>);
    let broker = broker.map_err(|why| {
        Error::Unreachable(format!("the hub cannot be reached ({why}): is 'dbdyno hub' running?"))
    })?;
    Ok(Connection { broker, desk, word })
}

fn listed(answered: Answered) -> Listed {
    let Answered { here, offset } = answered;
    Listed {
        name: here.name,
        machine: here.machine,
        version: here.version,
        n_cpus: here.n_cpus,
        load: here.load,
        busy_with: here.busy_with,
        allows: here.permissions.to_string(),
        offset,
    }
}

impl Hosts for Fleet {
    fn choose(
        &self,
        agents: &[AgentShare],
        may_load: &dyn Fn(&Permissions) -> Result<(), Error>,
    ) -> Result<Chosen, Error> {
        let connection = self.connection()?;
        let began = wall_clock::now();
        let is_enough = |there: &BTreeMap<u32, Answered>| match pick(agents, there, may_load) {
            Ok(_) => true,
            Err(NotHad { is_busy, .. }) => !is_busy && began.elapsed() >= THERE_WITHIN,
        };
        let there = connection.desk.ask(&connection.broker, FREE_WITHIN, &is_enough);
        let places =
            pick(agents, &there, may_load).map_err(|not_had| Error::Failed(not_had.why))?;
        Ok(chosen(connection, &places, &there, Work::Clients))
    }

    fn choose_named(&self, names: &[String], work: Work) -> Result<Chosen, Error> {
        let connection = self.connection()?;
        let began = wall_clock::now();
        let is_enough = |there: &BTreeMap<u32, Answered>| {
            pick_named(names, work, there).is_ok() || began.elapsed() >= THERE_WITHIN
        };
        let there = connection.desk.ask(&connection.broker, FREE_WITHIN, &is_enough);
        let places = pick_named(names, work, &there).map_err(Error::Failed)?;
        Ok(chosen(connection, &places, &there, work))
    }
}

/// Returns the hosts of the agents at these places, with a transport that starts processes for
/// `work` on them.
fn chosen(
    connection: Connection,
    places: &[u32],
    there: &BTreeMap<u32, Answered>,
    work: Work,
) -> Chosen {
    let Connection { broker, desk, word } = connection;
    let hosts = hosts_at(places, there);
    let seats = places.iter().zip(&hosts);
    let seats = seats.map(|(place, host)| (*place, host.name.clone())).collect();
    let transport = Box::new(OverBroker { broker, desk, word, seats, work });
    Chosen { hosts, transport }
}

/// Describes the hosts of the agents at these places.
fn hosts_at(places: &[u32], there: &BTreeMap<u32, Answered>) -> Vec<AgentHost> {
    let ours = Process::current();
    let hosts = places.iter().filter_map(|place| there.get(place));
    let hosts = hosts.map(|Answered { here, .. }| {
        let is_here = here.process.boot_id == ours.boot_id;
        let namespace = &here.process.pid_namespace;
        AgentHost {
            name: here.name.clone(),
            machine: here.machine.clone(),
            n_cpus: here.n_cpus,
            is_here,
            shares_processes: is_here && *namespace == ours.pid_namespace && !namespace.is_empty(),
        }
    });
    hosts.collect()
}

/// Finds the places of the agents with these names. Fails with the reason for the first one whose
/// permissions exclude `work`, or that is missing or of another version.
fn pick_named(
    names: &[String],
    work: Work,
    there: &BTreeMap<u32, Answered>,
) -> Result<Vec<u32>, String> {
    let by_name = by_name(there);
    let place = |name: &String| {
        let place = place_of(name, &by_name)?;
        let here = &there[&place].here;
        has_our_version(here)?;
        let allowed = here.permissions.check_work(work);
        allowed.map(|()| place).map_err(|refused| format!("{name}: {refused}"))
    };
    names.iter().map(place).collect()
}

/// Returns names and places of all agents, by name.
fn by_name(there: &BTreeMap<u32, Answered>) -> Vec<(&str, u32)> {
    let named = there.iter().map(|(place, answered)| (answered.here.name.as_str(), *place));
    let mut by_name: Vec<(&str, u32)> = named.collect();
    by_name.sort_unstable();
    by_name
}

fn place_of(name: &str, by_name: &[(&str, u32)]) -> Result<u32, String> {
    let found = by_name.iter().find(|(known, _)| *known == name);
    found.map(|(_, place)| *place).ok_or_else(|| {
        format!(
            "the agent {name} does not answer: start it with 'dbdyno agent join' ({})",
            known(by_name)
        )
    })
}

fn has_our_version(here: &Here) -> Result<(), String> {
    let (ours, theirs, name) = (version_of_ours(), &here.version, &here.name);
    match *theirs == ours {
        true => Ok(()),
        false => Err(format!(
            "the agent {name} has dbdyno {theirs}, and this is {ours}: install the same on both"
        )),
    }
}

/// Why the agents of a run cannot be had now.
#[derive(Debug, PartialEq, Eq)]
struct NotHad {
    why: String,
    /// Whether they are there, and busy.
    is_busy: bool,
}

impl NotHad {
    fn now(why: String) -> NotHad {
        NotHad { why, is_busy: false }
    }
}

/// Chooses a place for each agent of a run: named ones first. Fails with the reason for the first
/// one that cannot be had.
fn pick(
    agents: &[AgentShare],
    there: &BTreeMap<u32, Answered>,
    may_load: &dyn Fn(&Permissions) -> Result<(), Error>,
) -> Result<Vec<u32>, NotHad> {
    let is_usable = |Answered { here, .. }: &Answered| {
        here.busy_with.is_none()
            && has_our_version(here).is_ok()
            && may_load(&here.permissions).is_ok()
    };
    let by_name = by_name(there);
    let mut taken = Vec::new();
    for name in agents.iter().filter_map(|agent| agent.name.as_deref()) {
        let place = place_of(name, &by_name).map_err(NotHad::now)?;
        let here = &there[&place].here;
        if let Some(what) = &here.busy_with {
            let why = format!("the agent {name} is busy with {what}");
            return Err(NotHad { why, is_busy: true });
        }
        has_our_version(here).map_err(NotHad::now)?;
        may_load(&here.permissions)
            .map_err(|refused| NotHad::now(format!("the agent {name}: {refused}")))?;
        taken.push(place);
    }
    let mut named = taken.clone().into_iter();
    let n_any = agents.iter().filter(|agent| agent.name.is_none()).count();
    let free = by_name.iter().filter(|(_, place)| !taken.contains(place));
    let free: Vec<u32> =
        free.filter(|(_, place)| is_usable(&there[place])).map(|(_, place)| *place).collect();
    if free.len() < n_any {
        let refused = by_name.iter().filter(|(_, place)| !taken.contains(place));
        let mut refused = refused.filter_map(|(name, place)| {
            let refused = may_load(&there[place].here.permissions).err()?;
            Some(format!("the agent {name}: {refused}"))
        });
        let n_others = by_name.len() - taken.len() - free.len();
        let others = match n_others {
            0 => String::new(),
            n_others => {
                format!(
                    ", {n_others} more are busy, may not load the target or are of another version"
                )
            }
        };
        let remedy = refused.next().unwrap_or_else(|| "'dbdyno agents' lists them".to_owned());
        let why = format!(
            "{n_any} agents are asked for, and {} are free{others} ({}): {remedy}",
            free.len(),
            known(&by_name)
        );
        let is_busy = there.values().any(|answered| answered.here.busy_with.is_some());
        return Err(NotHad { why, is_busy });
    }
    let mut any = free.into_iter();
    let place = |agent: &AgentShare| match agent.name {
        Some(_) => named.next(),
        None => any.next(),
    };
    Ok(agents.iter().filter_map(place).collect())
}

fn known(by_name: &[(&str, u32)]) -> String {
    match by_name {
        [] => "no agent answers".to_owned(),
        all => {
            let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
            format!("there are {}", names.join(", "))
        }
    }
}

/// Starts client processes by the agents at these places, and carries their messages.
struct OverBroker {
    broker: Broker,
    desk: Arc<Desk>,
    word: String,
    seats: Vec<(u32, String)>,
    /// Task of the processes: to run clients, to monitor the host, or to control a server.
    work: Work,
}

impl Transport for OverBroker {
    fn name(&self) -> &'static str {
        "agents"
    }

    fn start(&self, number: u32) -> io::Result<(Link, Box<dyn Peer>)> {
        let seat = self.seats.get(number as usize - 1);
        let (place, name) = seat.ok_or_else(|| io::Error::other("no agent was chosen for it"))?;
        let word = format!("{}.{}", self.word, random_word());
        let conversation = Conversation::new(
            self.broker.clone(),
            (to_agent(*place, &word), Some(from_agent(*place, &word))),
            format!("the agent {name}"),
            UNACKED_BYTES_MAX,
        );
        self.desk.attend(*place, word, &conversation);
        let asked_by = format!("a run on {}", this_host::name());
        let opening = Opening { version: version_of_ours(), asked_by, work: self.work };
        conversation.send(&encode(&opening))?;
        let link = Link {
            incoming: Box::new(Received(Arc::clone(&conversation))),
            outgoing: Arc::new(Sent(Arc::clone(&conversation))),
        };
        Ok((link, Box::new(Elsewhere(conversation))))
    }

    fn join(&self, _words: &[String]) -> io::Result<Link> {
        Err(io::Error::other("an agent starts its client processes by itself"))
    }
}

/// A client process that an agent has started.
struct Elsewhere(Arc<Conversation>);

impl Peer for Elsewhere {
    fn process_id(&self) -> Option<u32> {
        None
    }

    fn how_it_ended(&mut self, _has_closed: bool) -> Option<String> {
        self.0.why_ended()
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        self.0.end("the run has ended");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Here;

    fn there(all: &[(u32, &str, Option<&str>, &str)]) -> BTreeMap<u32, Answered> {
        let answered = |(place, name, busy, version): &(u32, &str, Option<&str>, &str)| {
            let here = Here {
                asked_unix_ns: 0,
                unix_ns: 0,
                name: (*name).to_owned(),
                machine: "host".to_owned(),
                process: Process::current(),
                version: (*version).to_owned(),
                n_cpus: 2,
                load: 0.0,
                busy_with: busy.map(str::to_owned),
                permissions: Permissions::default(),
            };
            (*place, Answered { here, offset: ClockOffset::of_exchange(0, 0, 0) })
        };
        all.iter().map(answered).collect()
    }

    #[test]
    fn named_agents_are_taken_first_and_busy_or_other_ones_never() {
        let ours = &version_of_ours();
        let there = there(&[
            (3, "c", None, ours),
            (1, "a", None, ours),
            (2, "b", Some("a run"), ours),
            (4, "d", None, "0.0.1"),
        ]);
        let picked = |text: &str| {
            pick(&AgentShare::parse_list(text).unwrap(), &there, &|_| Ok(())).map_err(
                |NotHad { why, .. }| {
                    assert!(!why.ends_with('.'), "{why}");
                    why
                },
            )
        };
        assert_eq!(picked("2"), Ok(vec![1, 3]));
        assert_eq!(picked("c,a=3"), Ok(vec![3, 1]));
        for (text, why) in [
            ("3", "3 agents are asked for, and 2 are free, 2 more are busy, may not load"),
            ("b", "the agent b is busy with a run"),
            ("d", "has dbdyno 0.0.1"),
            ("e", "does not answer"),
        ] {
            assert!(picked(text).unwrap_err().contains(why), "{text}: {:?}", picked(text));
        }
    }
}
