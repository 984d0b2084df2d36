//! The collectors of a run: this machine, dbdyno itself, the server if it is local, and the
//! database.
//!
//! Not here: how each of them reads its values.

use std::path::PathBuf;
use std::sync::Arc;

use model::{Database, Fact, Host, MonitorScope};

use crate::collector::{Collector, Make};
use crate::database_counters::DatabaseCounters;
use crate::facts;
use crate::machine::Machine;
use crate::monitor::Monitor;
use crate::process::{Locate, Process};
use crate::process_locator::{ProcessLocator, proxy};
use crate::query_session::{Canceller, Connect};
use crate::replica_lag::{Replica, ReplicaLag};
use crate::round_trips::RoundTrips;
use crate::server_summaries::ServerSummaries;
use crate::session_states::SessionStates;
use crate::tasks::SharedTasks;

/// Selection of what the monitor reads during a run, and functions by which it connects.
pub struct Scope {
    /// Level of monitoring, as chosen by the user.
    pub monitor: MonitorScope,
    /// Threads of this process with their counters, which the report of dbdyno's own CPU usage
    /// reads too.
    pub threads: SharedTasks,
    /// Database under load; `None` if there is none.
    pub database: Option<Arc<dyn Database>>,
    /// Replicas of the database that clients of the load use, whose lag is measured.
    pub replicas: Vec<Replica>,
    /// Function that opens a connection for reading the server's counters.
    pub connect: Connect,
    /// Function that connects in the same way as the clients of the load, for measuring round
    /// trips.
    pub connect_as_client: Connect,
    /// Names of the server's program, by which its process is found if its sockets are hidden.
    pub programs: Vec<String>,
    /// Name of each server that was started for the run, with a function that finds its process.
    /// `None` if the run started no server but uses one that was already running.
    pub servers: Option<Vec<(String, Locate)>>,
    /// Other processes of dbdyno in this run, such as agents: name and process id.
    pub helpers: Vec<(String, u32)>,
    /// Constructors of further collectors, which the caller of the monitor provides.
    pub own: Vec<Make>,
}

/// Starts the monitor with all collectors that `scope` demands. The returned facts say which parts
/// are not read, and why.
pub fn start(scope: Scope) -> (Monitor, Vec<Fact>) {
    let canceller = Canceller::default();
    let mut collectors: Vec<Make> = scope.own;
    let mut facts = Vec::new();
    if scope.monitor == MonitorScope::Off {
        return (Monitor::over(collectors, canceller), facts);
    }
    let threads = scope.threads;
    collectors.push(Box::new(|| Some(Box::new(Machine::default()))));
    collectors.push(Box::new(move || Some(Box::new(Process::generator(threads)))));
    for (about, process) in scope.helpers {
        collectors.push(Box::new(move || Some(Box::new(Process::helper(about, process)))));
    }
    if let Some(database) = scope.database {
        let processes = match scope.servers {
            Some(servers) => servers,
            None => found(database.as_ref(), scope.programs, &mut facts),
        };
        for (about, locate) in processes {
            collectors.push(Box::new(move || Some(Box::new(Process::server(about, locate)))));
        }
        let (all, of_collector) = (scope.monitor == MonitorScope::All, canceller.clone());
        let (connect, connect_as_client) = (scope.connect, scope.connect_as_client);
        let of_counters = Arc::clone(&database);
        collectors.push(Box::new(move || {
            let counters = DatabaseCounters::if_supported(of_counters, connect, all, of_collector)?;
            Some(Box::new(counters) as Box<dyn Collector>)
        }));
        let (of_states, of_collector) = (Arc::clone(&database), canceller.clone());
        collectors.push(Box::new(move || {
            let states = SessionStates::if_supported(of_states, connect, of_collector)?;
            Some(Box::new(states) as Box<dyn Collector>)
        }));
        for replica in scope.replicas {
            let (primary, of_collector) = (Arc::clone(&database), canceller.clone());
            collectors.push(Box::new(move || {
                let lag = ReplicaLag::if_supported(replica, primary, connect, &of_collector)?;
                Some(Box::new(lag) as Box<dyn Collector>)
            }));
        }
        let (of_path, of_collector) = (Arc::clone(&database), canceller.clone());
        collectors.push(Box::new(move || {
            let round_trips = RoundTrips::if_supported(of_path, connect_as_client, of_collector)?;
            Some(Box::new(round_trips) as Box<dyn Collector>)
        }));
        let of_collector = canceller.clone();
        collectors.push(Box::new(move || {
            let summaries = ServerSummaries::if_supported(database, connect, of_collector)?;
            Some(Box::new(summaries) as Box<dyn Collector>)
        }));
    }
    (Monitor::over(collectors, canceller), facts)
}

/// Returns a function that finds the process of a server that dbdyno did not start. Empty for a
/// database that runs inside this process, and for a server on another machine or behind a proxy;
/// the latter two are reported in `facts`.
fn found(
    database: &dyn Database,
    programs: Vec<String>,
    facts: &mut Vec<Fact>,
) -> Vec<(String, Locate)> {
    let Some(hosts) = database.hosts() else { return Vec::new() };
    let found = match ProcessLocator::for_hosts(&hosts.list()) {
        ProcessLocator::Elsewhere => {
            let why = "the server is not known to run on this machine (an agent on its host can \
                       read it: --monitor-agents)";
            Err(why.to_owned())
        }
        locator => locate(locator, programs),
    };
    server_or_why_not(found, facts)
}

/// Whether a fact of the monitor says that no process of a server is read.
pub fn is_no_server(fact: &Fact) -> bool {
    (fact.about.as_str(), fact.name.as_str()) == ("monitor", "server")
}

/// Returns the server with the function that finds its process. Without one, adds the fact that
/// says why it is not read.
fn server_or_why_not(
    found: Result<Locate, String>,
    facts: &mut Vec<Fact>,
) -> Vec<(String, Locate)> {
    match found {
        Ok(locate) => vec![("server".to_owned(), locate)],
        Err(why) => {
            facts.push(Fact::new("monitor", "server", format!("not read: {why}")));
            Vec::new()
        }
    }
}

/// Returns a function that finds the process at a location, or the reason why there is none to
/// read.
fn locate(locator: ProcessLocator, programs: Vec<String>) -> Result<Locate, String> {
    match locator.process(&programs).and_then(proxy) {
        Some(name) => Err(format!("a proxy ({name}) listens there, not the server")),
        None => Ok(Box::new(move || locator.process(&programs))),
    }
}

/// Starts the monitor of this host alone, for a run on another one: the machine, and the process of
/// the server at one of these addresses, which is named by one of these programs. The returned
/// facts describe the machine, and say which parts are not read, and why.
pub fn start_for_other_host(hosts: &[Host], programs: Vec<String>) -> (Monitor, Vec<Fact>) {
    let found = match ProcessLocator::on_this_host(hosts) {
        ProcessLocator::Elsewhere => Err("no server listens at the target's port here".to_owned()),
        locator => locate(locator, programs),
    };
    let mut unread = Vec::new();
    let mut servers = server_or_why_not(found, &mut unread);
    let folder = servers.iter_mut().find_map(|(_, locate)| working_folder(locate()?));
    let mut facts = facts::machine(&folder.as_deref().into_iter().collect::<Vec<_>>());
    facts.retain(|fact| fact.about != "build");
    facts.extend(unread);
    let mut collectors: Vec<Make> = vec![Box::new(|| Some(Box::new(Machine::default())))];
    for (about, locate) in servers {
        collectors.push(Box::new(move || Some(Box::new(Process::server(about, locate)))));
    }
    (Monitor::over(collectors, Canceller::default()), facts)
}

/// Returns the folder in which a process works, which is that of a server's data; `None` if this
/// user may not see it.
fn working_folder(process: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{process}/cwd")).ok().filter(|folder| folder.exists())
}
