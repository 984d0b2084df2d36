//! How far a replica is behind the server that it copies: the time from a position in the log of
//! that server until the replica has applied it.
//!
//! Nothing is written to either server. Not here: the queries (drivers), and which replicas clients
//! use (app).

use std::sync::Arc;
use std::time::{Duration, Instant};

use model::{Database, Fact, NS_PER_MS, ReplicaPosition, Value};

use crate::collector::Collector;
use crate::query_session::{Canceller, Connect, QuerySession, number};
use crate::readings::{Readings, What};
use crate::wall_clock;

/// Time within a second for which a reading waits until the replica has applied a position; then
/// the next reading goes on with the same position.
const WITHIN: Duration = Duration::from_millis(900);
/// Shortest and longest pause between two questions to the replica, in milliseconds. In between,
/// the pause is a tenth of the lag so far, which bounds the error.
const PAUSE_MS: (u64, u64) = (1, 50);

const LAG: What<'_> = What::new(
    "lag",
    "ms",
    "The time from a position in the log of the plan's target until the replica has applied it, \
     with the round trips to ask both; measured once a second. While the replica has not applied \
     it, the time so far.",
);

/// Replica whose lag is measured: its subject in gauges, and its database.
pub type Replica = (String, Arc<dyn Database>);

/// Collector that measures the lag of one replica, on a connection of its own to each of the two
/// servers.
pub(crate) struct ReplicaLag {
    about: String,
    primary: QuerySession,
    replica: QuerySession,
    queries: &'static [ReplicaPosition],
    /// Queries that both servers answer; `None` until a position was read.
    chosen: Option<ReplicaPosition>,
    /// Position that the replica has not applied yet, and the instant before it was read.
    awaited: Option<(Instant, String)>,
    /// Why the lag was not measured; `None` as long as it is.
    trouble: Option<String>,
    has_measured: bool,
}

impl ReplicaLag {
    /// Creates the collector of a replica's lag; `None` if the database has no such queries.
    pub(crate) fn if_supported(
        replica: Replica,
        primary: Arc<dyn Database>,
        connect: Connect,
        canceller: &Canceller,
    ) -> Option<ReplicaLag> {
        let (about, replica) = replica;
        let queries = primary.monitoring().replica_positions;
        (!queries.is_empty()).then(|| ReplicaLag {
            about,
            primary: QuerySession::new(primary, connect, canceller.clone()),
            replica: QuerySession::new(replica, connect, canceller.clone()),
            queries,
            chosen: None,
            awaited: None,
            trouble: None,
            has_measured: false,
        })
    }

    /// Reads the present position of the primary's log; `None` if it keeps none.
    fn position(&mut self) -> Option<String> {
        let candidates = match self.chosen {
            Some(chosen) => vec![chosen],
            None => self.queries.to_vec(),
        };
        for queries in candidates {
            let mut position = None;
            let asked = self.primary.read(queries.written, &mut |row| {
                if row.value(0) != Value::Null {
                    position = Some(row.text(0)?.to_owned());
                }
                Ok(())
            });
            match (asked, position.filter(|position| !position.is_empty())) {
                (Ok(()), Some(position)) => {
                    self.chosen = Some(queries);
                    return Some(position);
                }
                (Ok(()), None) => {
                    self.trouble = Some(
                        "the plan's target keeps no position that its replicas report: switch on \
                         its binary log with GTIDs"
                            .to_owned(),
                    );
                }
                (Err(db_error), _) => self.trouble = Some(db_error.to_string()),
            }
        }
        None
    }

    /// Asks the replica whether it has applied a position; `None` if it cannot tell.
    fn has_applied(&mut self, position: &str) -> Option<bool> {
        // A position has digits and punctuation; anything else would not be one.
        let quoted = position.replace('\'', "");
        let sql = self.chosen?.applied.replace("{position}", &quoted);
        let mut said = None;
        let asked = self.replica.read(&sql, &mut |row| {
            said = number(&row.value(0));
            Ok(())
        });
        if let Err(db_error) = asked {
            self.trouble = Some(db_error.to_string());
            return None;
        }
        if said.is_none() {
            self.trouble =
                Some("the server is no replica that reports what it has applied".to_owned());
        }
        said.map(|number| number != 0.0)
    }
}

impl Collector for ReplicaLag {
    fn about(&self) -> String {
        self.about.clone()
    }

    fn read(&mut self, readings: &mut Readings) {
        let began = wall_clock::now();
        let (since, position) = match self.awaited.take() {
            Some(awaited) => awaited,
            None => match self.position() {
                Some(position) => (began, position),
                None => return,
            },
        };
        let (least_ms, most_ms) = PAUSE_MS;
        loop {
            let Some(is_applied) = self.has_applied(&position) else { return };
            let lag = since.elapsed();
            if is_applied || began.elapsed() >= WITHIN {
                readings.level(LAG, lag.as_nanos() as f64 / NS_PER_MS as f64);
                self.has_measured = true;
                self.awaited = (!is_applied).then_some((since, position));
                return;
            }
            wall_clock::rest_ms((lag.as_millis() as u64 / 10).clamp(least_ms, most_ms));
        }
    }

    fn facts(&self) -> Vec<Fact> {
        let trouble = self.trouble.as_ref().filter(|_| !self.has_measured);
        let why = trouble.map(|why| format!("not read: {why}"));
        why.map(|why| Fact::new("monitor", &format!("{}_lag", self.about), why))
            .into_iter()
            .collect()
    }
}
