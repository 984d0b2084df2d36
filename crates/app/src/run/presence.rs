//! Announces to runs with another store, or on other machines, that this run uses the database: by
//! a file in the folder of a database file, or by a lock of the server if the tables have no
//! `dbdyno_meta` to hold a mark. Both end with the process.
//!
//! Not here: marks in `dbdyno_meta` (database_mark), and runs in the same store (others).

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use engine::Stop;
use model::{Database, Plan};

use crate::build_lock::HeldLock;
use crate::error::Error;
use crate::interruptible::run_interruptible;
use crate::open::{Data, Opened};
use crate::run_marker::RunMarker;
use crate::storage_engine;

/// Mark or lock by which other runs notice this run, from its admission to its end.
pub(super) struct Presence {
    /// Mark in the folder of the database file; `None` for a server, or if the mark cannot be
    /// created.
    pub(super) marker: Option<RunMarker>,
    /// Workload whose tables another run is using; that run holds the server's lock. `None` if no
    /// such run was found.
    pub(super) locked_out_of: Option<String>,
    _lock: Option<LockThread>,
}

impl Presence {
    /// Marks the database as used. A mark or lock that fails is left out, since no run should fail
    /// for lack of one.
    pub(super) fn begin(
        plan: &Plan,
        groups: &[Opened],
        stop: &Arc<Stop>,
    ) -> Result<Presence, Error> {
        let file = drivers::file_of(&plan.target).filter(|file| file.exists());
        let marker = file.as_deref().and_then(RunMarker::beside);
        let unmarked = |opened: &&Opened| opened.data == Data::Unmarked && counts_commits(opened);
        let mut presence = Presence { marker, locked_out_of: None, _lock: None };
        let Some(opened) = groups.iter().find(unmarked) else { return Ok(presence) };
        if opened.database.administration().run_lock.take.is_empty() {
            return Ok(presence);
        }
        let (database, word) = (Arc::clone(&opened.database), Arc::clone(stop));
        let taken = run_interruptible(stop, "interrupted before the run began", move || {
            LockThread::begin(database, word)
        });
        match taken {
            Ok(Some(lock)) => presence._lock = Some(lock),
            Ok(None) => presence.locked_out_of = Some(opened.workload.identity().workload),
            Err(error @ Error::Interrupted(_)) => return Err(error),
            Err(_) => {}
        }
        Ok(presence)
    }
}

/// Returns true if a workload counts its commits in its tables, where commits of other runs would
/// be counted too.
pub(super) fn counts_commits(opened: &Opened) -> bool {
    storage_engine::crosscheck(opened.database.as_ref(), opened.workload.as_ref()).is_some()
}

/// Thread with the session that holds the server's lock; drop releases the lock.
struct LockThread {
    /// Channel that is dropped when the run is over, which makes the thread release the lock;
    /// `None` from then on.
    goes_on: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LockThread {
    /// Takes the server's lock for runs that use tables without `dbdyno_meta`, unless clients
    /// connect through a pooler: the session would keep one of its few connections. `None` if
    /// another run has the lock.
    fn begin(database: Arc<dyn Database>, stop: Arc<Stop>) -> Result<Option<LockThread>, Error> {
        let (tell, heard) = channel();
        let (goes_on, is_over) = channel::<()>();
        let spawned = thread::Builder::new().name("run lock".to_owned()).spawn(move || {
            let taken = match is_pooled(database.as_ref()) {
                true => Ok(None),
                false => HeldLock::of_run(database.as_ref(), &|| stop.is_asked()).map(Some),
            };
            let (answer, held) = match taken {
                Ok(Some(None)) => (Ok(false), None),
                Ok(held) => (Ok(true), held.flatten()),
                Err(error) => (Err(error), None),
            };
            // The run may have been abandoned meanwhile.
            let _ = tell.send(answer);
            let _ = is_over.recv();
            drop(held);
        });
        let thread = Some(spawned.map_err(|error| Error::no_thread(&error))?);
        let lock = LockThread { goes_on: Some(goes_on), thread };
        match heard.recv() {
            Ok(Ok(is_ours)) => Ok(is_ours.then_some(lock)),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(Error::Failed("the thread with the lock has ended".to_owned())),
        }
    }
}

impl Drop for LockThread {
    fn drop(&mut self) {
        drop(self.goes_on.take());
        // The next trial asks for the lock at once. A panic there has been reported already.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn is_pooled(database: &dyn Database) -> bool {
    let facts = database.facts().unwrap_or_default();
    facts.iter().any(|fact| fact.about == "connection" && fact.name == "pooler")
}
