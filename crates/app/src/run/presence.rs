//! Announces to runs with another store, or on other machines, that this run uses the database: by
//! a file in the folder of a database file, or by a lock of the server if the tables have no
//! `dbdyno_meta` to hold a mark, or if only one run may write into them. Both end with the process.
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
    /// Workload whose tables only one run at a time may write, and another run writes; `None` if
    /// there is no such run.
    pub(super) not_alone_in: Option<String>,
    _locks: Vec<LockThread>,
    _alone: Vec<RunMarker>,
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
        let mut presence = Presence {
            marker,
            locked_out_of: None,
            not_alone_in: None,
            _locks: Vec::new(),
            _alone: Vec::new(),
        };
        let unmarked = |opened: &&Opened| opened.data == Data::Unmarked && counts_commits(opened);
        if let Some(opened) = groups.iter().find(unmarked) {
            let has_locks = !opened.database.administration().run_lock.take.is_empty();
            if has_locks && !presence.takes(&opened.database, RunLock::OfRuns, stop)? {
                presence.locked_out_of = Some(opened.workload.identity().workload);
            }
        }
        let mut seen: Vec<String> = Vec::new();
        for opened in groups.iter().filter(|opened| opened.workload.needs_tables_alone()) {
            let workload = opened.workload.identity().workload;
            if seen.contains(&workload) {
                continue;
            }
            seen.push(workload.clone());
            let mark = file.as_deref().and_then(|file| RunMarker::of_tables(file, &workload));
            let is_marked = mark.as_ref().is_some_and(|mark| !mark.is_alone());
            presence._alone.extend(mark);
            let has_locks = !opened.database.administration().alone_lock.take.is_empty();
            let lock = RunLock::OfTables(workload.clone());
            if is_marked || (has_locks && !presence.takes(&opened.database, lock, stop)?) {
                presence.not_alone_in = Some(workload);
            }
        }
        Ok(presence)
    }

    /// Takes a lock of the server; returns false if another run has it.
    fn takes(
        &mut self,
        database: &Arc<dyn Database>,
        lock: RunLock,
        stop: &Arc<Stop>,
    ) -> Result<bool, Error> {
        let (database, word) = (Arc::clone(database), Arc::clone(stop));
        let taken = run_interruptible(stop, "interrupted before the run began", move || {
            LockThread::begin(database, lock, word)
        });
        match taken {
            Ok(Some(lock)) => self._locks.push(lock),
            Ok(None) => return Ok(false),
            Err(error @ Error::Interrupted(_)) => return Err(error),
            Err(_) => {}
        }
        Ok(true)
    }
}

/// Which lock of the server a run holds.
enum RunLock {
    /// Lock of runs that use tables without `dbdyno_meta`.
    OfRuns,
    /// Lock of the tables of this workload, into which only one run may write.
    OfTables(String),
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
    /// Takes a lock of the server, unless clients connect through a pooler: the session would keep
    /// one of its few connections. `None` if another run has the lock.
    fn begin(
        database: Arc<dyn Database>,
        lock: RunLock,
        stop: Arc<Stop>,
    ) -> Result<Option<LockThread>, Error> {
        let (tell, heard) = channel();
        let (goes_on, is_over) = channel::<()>();
        let spawned = thread::Builder::new().name("run lock".to_owned()).spawn(move || {
            let (database, is_stopped) = (database.as_ref(), || stop.is_asked());
            let taken = match &lock {
                _ if is_pooled(database) => Ok(None),
                RunLock::OfRuns => HeldLock::of_run(database, &is_stopped).map(Some),
                RunLock::OfTables(workload) => {
                    HeldLock::of_tables(database, workload, &is_stopped).map(Some)
                }
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
