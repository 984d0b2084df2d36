//! Reads the server's own count of connections during the load, for comparison with dbdyno's number
//! of clients.
//!
//! The two differ if there is a proxy or pooler in between. Reading uses its own thread and, once
//! all clients are connected, its own connection, which the server counts too. Not here: the
//! evaluation.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use model::{ConnectionCounter, Database, Fact};

use crate::admin_session::AdminSession;

/// Longest wait for the server's answer to the query for its count of connections, once the load is
/// over; without an answer, there is no count.
const PATIENCE: Duration = Duration::from_secs(5);

/// A thread that counts the server's connections while the load runs.
pub(crate) struct ConnectionCount {
    counted: Receiver<Fact>,
    /// Channel that is dropped when the load is over, which makes the thread end.
    goes_on: Sender<()>,
}

impl ConnectionCount {
    /// Starts a thread that reads the server's count of connections at once, and again after
    /// `until_midst` if the load still runs then. `None` if the server has no such counter. If the
    /// user may not read it, [`ConnectionCount::end`] returns no counts.
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
            // Fails if the run was abandoned.
            let _ = tell.send(Fact::new("connections", "server_counter", counter.name));
            count(&mut session, counter, "server_at_start", &tell);
            if is_over.recv_timeout(until_midst) == Err(RecvTimeoutError::Timeout) {
                count(&mut session, counter, "server_under_load", &tell);
            }
        });
        spawned.is_ok().then_some(ConnectionCount { counted, goes_on })
    }

    /// Ends the thread, and returns the numbers of connections that it read as facts.
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
