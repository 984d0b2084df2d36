//! Compares the growth of the server's own commit counter with the number of commits that dbdyno
//! counted in the same load.
//!
//! The server also counts commits of other sessions and the statements that read the counter, and
//! PostgreSQL updates it a little late. So its count may be higher than ours, but never lower.

use std::thread;
use std::time::{Duration, Instant};

use analysis::Tally;
use model::{CommitCounter, Database, Fact, FactValue};
use monitor::wall_clock;

use crate::admin_session::AdminSession;
use crate::error::Error;

/// Tolerance when the server's uptime is compared with the duration of the run: the server counts
/// as restarted only if its uptime is shorter by more than this.
const APART: Duration = Duration::from_secs(2);

/// Longest wait for the server's commit counter to include all commits, after which its last value
/// counts: sessions report theirs when they end, and a server may publish them a second later.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Reads the server's commit counter; `None` if the server has no such counter, or the user has no
/// privilege to read it.
pub(crate) fn read(database: &dyn Database) -> Result<Option<i64>, Error> {
    let Some(counter) = database.monitoring().commit_counter else { return Ok(None) };
    let mut session = AdminSession::at(database)?;
    // Without the privilege, the count is left out.
    Ok(session.counted(counter.sql).unwrap_or(None))
}

/// Returns a fact if the server was restarted since `began`, according to its reported uptime;
/// `None` if not, or if it reports no uptime. The commit counter alone would not show that, since
/// it may survive a restart.
pub(crate) fn restarted(database: &dyn Database, began: Instant) -> Result<Option<Fact>, Error> {
    let Some(sql) = database.monitoring().started_ago else { return Ok(None) };
    let mut session = AdminSession::at(database)?;
    let mut ago = || -> Option<u64> { session.counted(sql).ok()??.try_into().ok() };
    let is_since = |seconds: &u64| Duration::from_secs(*seconds) + APART < began.elapsed();
    let Some(first) = ago().filter(is_since) else { return Ok(None) };
    // Some servers with the same protocol report an uptime of 0 always, which proves nothing.
    let asked = wall_clock::now();
    while asked.elapsed() < PATIENCE {
        thread::park_timeout(LOOK_EVERY);
        if ago() != Some(first) {
            return Ok(Some(Fact::new(
                "server",
                "restarted_ago_s",
                FactValue::seconds(first as f64, 0),
            )));
        }
    }
    Ok(None)
}

/// Reads the server's commit counter until it has grown by `ours` (dbdyno's number of commits) from
/// `before`, or two seconds are over. Returns the last value; `None` if it cannot be read.
pub(crate) fn read_settled(
    database: &dyn Database,
    before: Option<i64>,
    ours: u64,
) -> Result<Option<i64>, Error> {
    let began = wall_clock::now();
    loop {
        let after = read(database)?;
        let is_enough = match (before, after) {
            (Some(before), Some(after)) => after.saturating_sub(before) >= ours as i64,
            _ => true,
        };
        if is_enough || began.elapsed() > PATIENCE {
            return Ok(after);
        }
        thread::park_timeout(LOOK_EVERY);
    }
}

/// Returns dbdyno's number of commits and its number of transactions with unknown outcome, both
/// including ramp-up and drain.
pub(crate) fn ours(tally: &Tally) -> (u64, u64) {
    let (mut committed, mut unknown) = (0, 0);
    let described = tally.description.iter().flat_map(|description| &description.groups);
    for (group, described) in tally.groups.iter().zip(described) {
        for kind in 0..described.kinds.len() as u16 {
            for part in group.phases_of_kind(kind) {
                committed += part.counts.committed;
                unknown += part.counts.unknown;
            }
        }
    }
    (committed, unknown)
}

/// Returns facts with the number of commits counted by the server (`change`, the growth of its
/// counter) and that counted by dbdyno: certain ones and those with unknown outcome.
pub(crate) fn facts(
    counter: CommitCounter,
    change: i64,
    (committed, unknown): (u64, u64),
) -> Vec<Fact> {
    vec![
        Fact::new("commits", "server_counter", counter.name),
        Fact::new("commits", "server_change", change),
        Fact::new("commits", "ours", committed),
        Fact::new("commits", "ours_unknown", unknown),
        Fact::new("commits", "counts_single_statements", counter.counts_single_statements),
    ]
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::{Connecting, DbError, Monitoring, Place, Places, Product, Statement, Target};

    use super::*;
    use crate::open::open;

    /// A made-up database whose `product` defines the query for the server's uptime.
    struct Says {
        inner: Arc<dyn Database>,
        product: Product,
    }

    impl Database for Says {
        fn product(&self) -> &Product {
            &self.product
        }

        fn places(&self) -> Places {
            self.inner.places()
        }

        fn connect<'a>(&'a self, place: Place, statements: Arc<[Statement]>) -> Connecting<'a> {
            self.inner.connect(place, statements)
        }

        fn facts(&self) -> Result<Vec<Fact>, DbError> {
            self.inner.facts()
        }
    }

    #[test]
    fn a_start_that_never_moves_is_no_restart() {
        let target = Target::parse("sqlite::memory:").expect("a target");
        let inner = open(&target, 1, true).expect("opens");
        let began =
            wall_clock::now().checked_sub(Duration::from_secs(60)).expect("the machine is up");
        let check = |sql: &'static str, expect: bool| {
            let monitoring = Monitoring { started_ago: Some(sql), ..*inner.monitoring() };
            let product = Product { monitoring, ..*inner.product() };
            let says = Says { inner: Arc::clone(&inner), product };
            let fact = restarted(&says, began).expect("asked");
            assert_eq!(fact.is_some(), expect, "{sql}: {fact:?}");
        };
        check("SELECT 0", false);
        check("SELECT 5", false);
        check("SELECT 70", false);
        // A random uptime, as if time passed.
        check("SELECT abs(random()) % 50", true);
    }
}
