//! How many connections the server itself counts while the load runs, beside how many are ours.
//!
//! The two differ where a proxy or pooler stands between. Who counts has a thread and, once all
//! clients are there, a connection of its own, which the server counts too. Not here: what is to
//! be thought of it.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use model::{ConnectionCounter, Database, Fact};

use crate::admin_session::AdminSession;

/// A server that does not say it within this time after the load is not waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// A count that is under way.
pub(crate) struct ConnectionCount {
    counted: Receiver<Fact>,
    /// Dropped when the load is over.
    goes_on: Sender<()>,
}

impl ConnectionCount {
    /// Counts now, and again after `until_midst`. Nothing where the server has no such count; it
    /// does without where it does not let us look.
    pub(crate) fn begin(
        database: &Arc<dyn Database>,
        until_midst: Duration,
    ) -> Option<ConnectionCount> {
        let counter = database.monitoring().connection_counter?;
        let database = Arc::clone(database);
        let (tell, counted) = channel();
        let (goes_on, is_over) = channel::<()>();
        let counting = thread::Builder::new().name("connections".to_owned());
        let spawned = counting.spawn(move || {
            let Ok(mut session) = AdminSession::at(database.as_ref()) else { return };
            // Nobody hears it any more if the run was given up.
            let _ = tell.send(Fact::new("connections", "server_counter", counter.name));
            count(&mut session, counter, "server_at_start", &tell);
            if is_over.recv_timeout(until_midst) == Err(RecvTimeoutError::Timeout) {
                count(&mut session, counter, "server_under_load", &tell);
            }
        });
        spawned.is_ok().then_some(ConnectionCount { counted, goes_on })
    }

    /// The load is over: what was counted, as facts.
    pub(crate) fn end(self) -> Vec<Fact> {
        drop(self.goes_on);
        let mut facts = Vec::new();
        while let Ok(fact) = self.counted.recv_timeout(PATIENCE) {
            facts.push(fact);
        }
        facts
    }
}

fn count(session: &mut AdminSession, counter: ConnectionCounter, name: &str, tell: &Sender<Fact>) {
    if let Ok(Some(count)) = session.counted(counter.sql) {
        let _ = tell.send(Fact::new("connections", name, count));
    }
}
