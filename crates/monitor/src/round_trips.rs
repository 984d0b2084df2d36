//! Round-trip time between clients and server while the load runs: an empty query, ten times a
//! second.
//!
//! Not here: the round-trip time before the load, and the speed of a large reply (app).

use std::sync::Arc;

use model::{Database, Fact, NS_PER_MS};

use crate::collector::Collector;
use crate::query_session::{Canceller, Connect, QuerySession};
use crate::readings::{Readings, What};
use crate::wall_clock;

const LOOKS_PER_SECOND: u32 = 10;

const ROUND_TRIP: What<'_> = What::new(
    "round_trip",
    "ms",
    "The shortest of ten round trips of a query that does nothing, on the path of the clients.",
);

/// Collector that measures the round-trip time to the server on a connection of its own, while the
/// load runs.
pub(crate) struct RoundTrips {
    session: QuerySession,
    sql: &'static str,
    shortest_ns: Option<i64>,
}

impl RoundTrips {
    /// Creates the collector of round-trip times; `None` for a database that is not reached over a
    /// network.
    pub(crate) fn if_supported(
        database: Arc<dyn Database>,
        connect_as_client: Connect,
        canceller: Canceller,
    ) -> Option<RoundTrips> {
        let sql = database.monitoring().round_trip?;
        let session = QuerySession::new(database, connect_as_client, canceller);
        Some(RoundTrips { session, sql, shortest_ns: None })
    }
}

impl Collector for RoundTrips {
    fn about(&self) -> String {
        "database".to_owned()
    }

    fn looks_per_second(&self) -> u32 {
        LOOKS_PER_SECOND
    }

    fn look(&mut self, _at_ns: i64) {
        // Connecting is no round trip.
        if self.session.connect().is_err() {
            return;
        }
        let began = wall_clock::now();
        if self.session.read(self.sql, &mut |_| Ok(())).is_ok() {
            let took_ns = wall_clock::since(began, wall_clock::now());
            self.shortest_ns = Some(self.shortest_ns.map_or(took_ns, |ns| ns.min(took_ns)));
        }
    }

    fn read(&mut self, readings: &mut Readings) {
        self.look(readings.at_ns());
        if let Some(ns) = self.shortest_ns.take() {
            readings.level(ROUND_TRIP, ns as f64 / NS_PER_MS as f64);
        }
    }

    fn facts(&self) -> Vec<Fact> {
        Vec::new()
    }
}
