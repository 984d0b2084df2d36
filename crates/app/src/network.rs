//! The simulated network path between clients and server: opened before the clients of a run
//! connect, measured, and closed after the load.
//!
//! Not here: the path itself (network_path), and connecting through it (drivers).

use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{Stop, ThreadClock, block_on};
use model::{
    Clock, Database, DbError, Fact, FactValue, NS_PER_S, NetworkConditions, PathEntrance, Place,
    Placement, Request, Sent, Statement, StatementKind,
};
use network_path::NetworkPath;

use crate::error::Error;
use crate::interruptible::run_interruptible;

/// Hidden subcommand with which dbdyno starts itself as the proxy that simulates a network between
/// clients and server.
pub const NETWORK_PATH: &str = "network-path";
/// Path of this program's executable, which remains valid if the file is replaced.
pub(crate) const OURSELVES: &str = "/proc/self/exe";
/// Number of round trips that are timed; their median is the result.
const ROUND_TRIPS: usize = 5;
/// Query that costs the server almost nothing.
const EMPTY_QUERY: &str = "SELECT 1";

/// Handle of the simulated network between clients and server, shared with disturbances that may
/// change its delay and bandwidth.
#[derive(Clone)]
pub(crate) struct SharedPath(Arc<Mutex<NetworkPath>>);

impl SharedPath {
    fn lock(&self) -> MutexGuard<'_, NetworkPath> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn change(&self, conditions: NetworkConditions) -> std::io::Result<()> {
        self.lock().change(conditions)
    }
}

/// A running proxy that simulates a network for the clients of `database`. Drop makes clients
/// connect directly again.
pub(crate) struct OpenPath {
    path: SharedPath,
    conditions: NetworkConditions,
    database: Arc<dyn Database>,
}

impl OpenPath {
    /// Starts the proxy that simulates a network, and makes clients of `database` connect through
    /// it. `None` if `conditions` have no delay and no limit of bandwidth. Fails if clients do not
    /// connect over a network.
    pub(crate) fn open(
        conditions: NetworkConditions,
        database: &Arc<dyn Database>,
    ) -> Result<Option<OpenPath>, Error> {
        if conditions.is_direct() {
            return Ok(None);
        }
        let failed = |error| Error::Failed(format!("the network path cannot be started: {error}"));
        let path = NetworkPath::start(Path::new(OURSELVES), NETWORK_PATH, conditions);
        let path = path.map_err(failed)?;
        let path = SharedPath(Arc::new(Mutex::new(path)));
        let open = OpenPath { path, conditions, database: Arc::clone(database) };
        match database.enter_through(Some(open.entrance())) {
            true => Ok(Some(open)),
            false => Err(Error::Usage(
                "network_delay and network_bandwidth: clients do not connect to this target over \
                 a network: leave them out"
                    .to_owned(),
            )),
        }
    }

    /// Measures the round-trip time of an empty query with and without the simulated network.
    /// Returns both times, and the simulated conditions, as facts.
    pub(crate) fn measured(&self, stop: &Stop) -> Result<Vec<Fact>, Error> {
        let (entrance, database) = (self.entrance(), Arc::clone(&self.database));
        let interrupted = "interrupted while the network path was measured";
        let [direct_ns, ns] = run_interruptible(stop, interrupted, move || {
            database.enter_through(None);
            let direct_ns = round_trip_ns(database.as_ref());
            database.enter_through(Some(entrance));
            Ok([direct_ns?, round_trip_ns(database.as_ref())?])
        })?;
        let fact = |name, value| Fact::new("network_path", name, value);
        let mut facts = vec![fact("delay_s", seconds(self.conditions.delay_ns))];
        let bandwidth = self.conditions.bandwidth_in_words();
        facts.extend(bandwidth.map(|words| fact("bandwidth", words.into())));
        facts.push(fact("round_trip_s", seconds(ns)));
        facts.push(fact("round_trip_direct_s", seconds(direct_ns)));
        Ok(facts)
    }

    /// Returns the address of the proxy that simulates the network, and the secret that clients
    /// send to it.
    pub(crate) fn entrance(&self) -> PathEntrance {
        self.path.lock().entrance()
    }

    /// Returns a handle with which a disturbance can change delay and bandwidth of the simulated
    /// network.
    pub(crate) fn share(&self) -> SharedPath {
        self.path.clone()
    }

    /// Returns the id of the process that simulates the network.
    pub(crate) fn process(&self) -> u32 {
        self.path.lock().process()
    }

    /// Ends the simulated network. Returns facts about its traffic, its lateness and its CPU time;
    /// or a single fact with the error, if its process ended by itself before.
    pub(crate) fn close(self) -> Vec<Fact> {
        let fact = |name, value| Fact::new("network_path", name, value);
        let report = self.path.lock().report();
        match report {
            Ok(report) => vec![
                fact("to_servers_bytes", FactValue::Bytes(report.bytes_to_servers)),
                fact("to_clients_bytes", FactValue::Bytes(report.bytes_to_clients)),
                fact("late_mean_s", seconds(report.late_ns_mean)),
                fact("late_max_s", seconds(report.late_ns_max)),
                fact("cpu_s", seconds(report.cpu_ns)),
            ],
            Err(error) => vec![fact("ended", error.to_string().into())],
        }
    }
}

impl Drop for OpenPath {
    fn drop(&mut self) {
        self.database.enter_through(None);
    }
}

/// Converts nanoseconds into seconds, rounded to a microsecond.
fn seconds(ns: u64) -> FactValue {
    FactValue::seconds(ns as f64 / NS_PER_S as f64, 6)
}

/// Connects as a client does, and returns the median time of an empty query in nanoseconds.
fn round_trip_ns(database: &dyn Database) -> Result<u64, DbError> {
    let clock = Rc::new(ThreadClock::unstopped());
    let place = Place { placement: Placement::Thread, clock: Rc::clone(&clock) as _, client: 0 };
    // A session with statements counts as a client's.
    let statement = Statement {
        sent: Sent::Text,
        ..Statement::new("empty query", StatementKind::Read, EMPTY_QUERY)
    };
    let mut session = block_on(database.connect(place, Arc::from([statement])))?;
    let mut times = [0; ROUND_TRIPS];
    for time in &mut times {
        let before_ns = clock.now();
        let request = Request::Text { kind: StatementKind::Read, sql: EMPTY_QUERY };
        block_on(model::query(session.as_mut(), request, &mut |_| Ok(())))?;
        *time = clock.now() - before_ns;
    }
    times.sort_unstable();
    Ok(times[ROUND_TRIPS / 2])
}
