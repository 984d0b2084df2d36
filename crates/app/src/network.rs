//! A run's path to the server: opened before its clients connect, measured, and closed when the
//! load is over.
//!
//! Not here: the path itself (network_path), and how a connection goes through it (drivers).

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

/// The word with which our program is started as a path.
pub const NETWORK_PATH: &str = "network-path";
/// Our program, as whoever is about to start it again finds it.
pub(crate) const OURSELVES: &str = "/proc/self/exe";
/// Round trips of which the median is reported.
const ROUND_TRIPS: usize = 5;
/// A query that costs a server next to nothing.
const EMPTY_QUERY: &str = "SELECT 1";

/// The path itself, which a disturbance may change.
#[derive(Clone)]
pub(crate) struct SharedPath(Arc<Mutex<NetworkPath>>);

impl SharedPath {
    fn lock(&self) -> MutexGuard<'_, NetworkPath> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on its conditions are these.
    pub(crate) fn change(&self, conditions: NetworkConditions) -> std::io::Result<()> {
        self.lock().change(conditions)
    }
}

/// A path that clients of a database go through. They go directly again when it is dropped.
pub(crate) struct OpenPath {
    path: SharedPath,
    conditions: NetworkConditions,
    database: Arc<dyn Database>,
}

impl OpenPath {
    /// Opens the path that is asked for; none if clients are to connect directly.
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

    /// What is asked of it, and how long an empty query takes through it and directly.
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

    /// Where clients enter it.
    pub(crate) fn entrance(&self) -> PathEntrance {
        self.path.lock().entrance()
    }

    /// For whoever changes it.
    pub(crate) fn share(&self) -> SharedPath {
        self.path.clone()
    }

    /// The number of its process.
    pub(crate) fn process(&self) -> u32 {
        self.path.lock().process()
    }

    /// What it has done. One that has ended before says nothing.
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

/// To a microsecond.
fn seconds(ns: u64) -> FactValue {
    FactValue::seconds(ns as f64 / NS_PER_S as f64, 6)
}

/// The median time of an empty query of a client, which is connected for it.
fn round_trip_ns(database: &dyn Database) -> Result<u64, DbError> {
    let clock = Rc::new(ThreadClock::unstopped());
    let place = Place { placement: Placement::Thread, clock: Rc::clone(&clock) as _, client: 0 };
    // Whoever knows a statement is a client.
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
