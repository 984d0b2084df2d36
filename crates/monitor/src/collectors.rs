//! The collectors of a run: this machine, dbdyno itself, the server if it is local, and the
//! database.
//!
//! Not here: how each of them reads its values.

use std::sync::Arc;

use model::{Database, Fact, MonitorScope};

use crate::collector::{Collector, Make};
use crate::database_counters::DatabaseCounters;
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
            None => found(database.as_ref(), &mut facts),
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
fn found(database: &dyn Database, facts: &mut Vec<Fact>) -> Vec<(String, Locate)> {
    match database.hosts().map(|hosts| ProcessLocator::for_hosts(&hosts.list())) {
        None => Vec::new(),
        Some(ProcessLocator::Elsewhere) => {
            let text = "not read: the server is not known to run on this machine";
            facts.push(Fact::new("monitor", "server", text));
            Vec::new()
        }
        Some(locator) => {
            if let Some(name) = locator.process().and_then(proxy) {
                let text = format!("not read: a proxy ({name}) listens there, not the server");
                facts.push(Fact::new("monitor", "server", text));
                return Vec::new();
            }
            let locate: Locate = Box::new(move || locator.process());
            vec![("server".to_owned(), locate)]
        }
    }
}
