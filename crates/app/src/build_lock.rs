//! Locks that let only one process at a time build data, drop data or install routines in a
//! database, or run on tables without `dbdyno_meta`; and reconnecting to a server that restarts
//! during a build.
//!
//! A lock is held by a database session and ends with it, so a crashed process does not block
//! others. Not here: the work under the lock, and SQLite, whose builds exclude each other by their
//! chunk marks.

use std::thread;
use std::time::Duration;

use model::{Database, DatabaseLock, DbError};
use monitor::wall_clock;

use crate::admin_session::AdminSession;
use crate::error::Error;

/// Longest wait of a build, a drop or a run for its lock of the database: a server takes a moment
/// to notice that the process of an earlier build has ended.
pub(crate) const A_MOMENT: Duration = Duration::from_secs(3);
/// Longest wait for the lock to install routines, after which the installation fails: other
/// processes install the same ones, and finish soon.
pub(crate) const A_WHILE: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Number of reconnection attempts after a lost connection: about half a minute with pauses up to
/// the maximum of `PAUSES`, enough for a server to recover from a crash.
const RECONNECTS: u32 = 35;
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// Lock of a database that a session of this process holds; drop releases it.
pub(crate) struct HeldLock {
    /// Session that holds the lock; `None` if the database has no such locks, or once the lock was
    /// given back.
    session: Option<AdminSession>,
    /// Statement that releases the lock.
    release: String,
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl HeldLock {
    fn give_back(&mut self) {
        if let Some(mut session) = self.session.take() {
            session.say_last(&self.release);
        }
    }

    /// Takes the lock of builds: the exclusive right to build or drop data. Fails if another
    /// process has it for longer than `patience`.
    pub(crate) fn of_build(
        database: &dyn Database,
        patience: Duration,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<HeldLock, Error> {
        let lock = database.administration().build_lock;
        HeldLock::take(database, (lock, ""), patience, is_stopped)?.ok_or_else(|| {
            Error::Failed(
                "another dbdyno process builds or drops data in this database: retry when it has \
                 ended"
                    .to_owned(),
            )
        })
    }

    /// Takes the lock of runs, which a run holds while it uses tables without `dbdyno_meta`. `None`
    /// if another process has it for longer than three seconds.
    pub(crate) fn of_run(
        database: &dyn Database,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<HeldLock>, Error> {
        let lock = database.administration().run_lock;
        HeldLock::take(database, (lock, ""), A_MOMENT, is_stopped)
    }

    /// Takes the lock of the tables of `workload`, which a run holds if no other may write into
    /// them. `None` if another process has it for longer than three seconds.
    pub(crate) fn of_tables(
        database: &dyn Database,
        workload: &str,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<HeldLock>, Error> {
        let lock = database.administration().alone_lock;
        HeldLock::take(database, (lock, workload), A_MOMENT, is_stopped)
    }

    /// Takes the lock `lock` of a database, in whose statements the name of a workload may be left
    /// open; `None` if another process has it for longer than `patience`. On a database without
    /// such locks, returns one that excludes nobody.
    fn take(
        database: &dyn Database,
        (lock, workload): (DatabaseLock, &str),
        patience: Duration,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<HeldLock>, Error> {
        let named = |sql: &str| sql.replace("{workload}", workload);
        let mut held = HeldLock { session: None, release: named(lock.release) };
        let Some((ask, first)) = lock.take.split_last() else {
            return Ok(Some(held));
        };
        let ask = &named(ask);
        let session = held.session.insert(AdminSession::at(database)?);
        for sql in first {
            session.write(sql)?;
        }
        let began = wall_clock::now();
        loop {
            match session.number(ask) {
                Ok(Some(0)) => {}
                Ok(Some(_)) => return Ok(Some(held)),
                // Some clusters and proxies have no such locks; chunk marks still prevent duplicate
                // rows.
                Ok(None) => {
                    held.give_back();
                    return Ok(Some(held));
                }
                Err(db_error) if !db_error.kind.breaks_session() => {
                    held.give_back();
                    return Ok(Some(held));
                }
                Err(db_error) => return Err(db_error.into()),
            }
            if is_stopped() {
                return Err(Error::Interrupted("interrupted while waiting".to_owned()));
            }
            if began.elapsed() > patience {
                return Ok(None);
            }
            thread::park_timeout(LOOK_EVERY);
        }
    }

    /// Opens a session for the work under the lock. If the server allows only one session, closes
    /// the lock's own session first, since then no other process can build either; the returned
    /// flag is true in that case.
    pub(crate) fn session_beside(
        &mut self,
        database: &dyn Database,
    ) -> Result<(AdminSession, bool), DbError> {
        match AdminSession::at(database) {
            Err(no) if no.kind.breaks_session() && self.answers() => {
                self.give_back();
                let why = "the server allows one session and refuses a second one";
                let session = AdminSession::at(database);
                session.map(|session| (session, true)).map_err(|_| no.during(why))
            }
            session => session.map(|session| (session, false)),
        }
    }

    /// Returns true if the session that holds the lock exists and still answers.
    fn answers(&mut self) -> bool {
        self.session.as_mut().is_some_and(|session| session.number("SELECT 1").is_ok())
    }

    /// Takes the lock of builds again if the connection of the session that held it was lost. Fails
    /// if another process has the lock for longer than three seconds.
    pub(crate) fn renew(
        &mut self,
        database: &dyn Database,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), Error> {
        if let Some(session) = &mut self.session
            && session.number("SELECT 1").is_err()
        {
            *self = HeldLock::of_build(database, A_MOMENT, is_stopped)?;
        }
        Ok(())
    }
}

/// Waits as long as the server refuses connections with the error that it is recovering. Calls
/// `tell` once, with the server's message. Returns the error if the server does not answer at all,
/// else `None`: any other error ends the wait and is ignored, since the next connection attempt
/// will meet it again.
pub(crate) fn wait_while_recovering(
    database: &dyn Database,
    is_stopped: &(dyn Fn() -> bool + Sync),
    tell: &mut dyn FnMut(&String),
) -> Option<DbError> {
    let is_recovering = database.administration().is_recovering;
    let mut is_reported = false;
    while let Err(no) = AdminSession::at(database) {
        if !is_recovering(&no) || is_stopped() {
            return Some(no).filter(DbError::is_silence);
        }
        if !std::mem::replace(&mut is_reported, true) {
            tell(&no.message);
        }
        thread::park_timeout(LOOK_EVERY);
    }
    None
}

/// Connects to a server that may restart during a build. If the connection is lost at the first
/// attempt, calls `lost` and tries again; but fails at once if `is_kept` is false, since the data
/// then do not survive a restart.
pub(crate) fn connect_within<T>(
    is_kept: bool,
    is_stopped: &(dyn Fn() -> bool + Sync),
    connect: &mut dyn FnMut() -> Result<T, DbError>,
    lost: impl FnOnce(),
) -> Result<T, DbError> {
    match connect() {
        Err(db_error) if db_error.kind.breaks_session() && is_kept => {
            lost();
            connect_again(db_error, is_stopped, connect)
        }
        connected => connected,
    }
}

/// Tries to connect again, with growing pauses, until the server accepts or about half a minute has
/// passed. `lost` is the error that broke the connection; if all attempts fail, that error or a
/// later one is returned.
pub(crate) fn connect_again<T>(
    lost: DbError,
    is_stopped: &(dyn Fn() -> bool + Sync),
    connect: &mut dyn FnMut() -> Result<T, DbError>,
) -> Result<T, DbError> {
    let mut pause = PAUSES.0;
    let mut last = lost;
    for _ in 0..RECONNECTS {
        if is_stopped() {
            return Err(last);
        }
        match connect() {
            Ok(connected) => return Ok(connected),
            Err(db_error) if db_error.kind.breaks_session() => last = db_error,
            Err(db_error) => return Err(db_error),
        }
        thread::park_timeout(pause);
        pause = (pause * 2).min(PAUSES.1);
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use model::{
        Administration, Connecting, DbErrorKind, Fact, Place, Places, Product, Statement, Target,
    };

    use super::*;
    use crate::open::open;

    /// A database that refuses the first `left` connections with the error `sqlstate`, and counts
    /// them.
    struct Recovers {
        inner: Arc<dyn Database>,
        product: Product,
        n_refused: AtomicU32,
        left: AtomicU32,
        sqlstate: &'static str,
    }

    impl Database for Recovers {
        fn product(&self) -> &Product {
            &self.product
        }

        fn places(&self) -> Places {
            self.inner.places()
        }

        fn connect<'a>(&'a self, place: Place, statements: Arc<[Statement]>) -> Connecting<'a> {
            let is_up = |left: u32| left.checked_sub(1);
            match self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_up) {
                Err(_) => self.inner.connect(place, statements),
                Ok(_) => {
                    self.n_refused.fetch_add(1, Ordering::Relaxed);
                    let sqlstate = self.sqlstate.to_owned();
                    let no = DbError::new(DbErrorKind::ConnectionLost, "not yet");
                    Box::pin(async move { Err(DbError { sqlstate, ..no }) })
                }
            }
        }

        fn facts(&self) -> Result<Vec<Fact>, DbError> {
            self.inner.facts()
        }
    }

    #[test]
    fn a_server_that_says_nothing_is_asked_once() {
        let target = Target::parse("sqlite::memory:").expect("a target");
        let inner = open(&target, 1, true).expect("opens");
        let product = *inner.product();
        let (n_refused, left) = (AtomicU32::new(0), AtomicU32::new(5));
        let sqlstate = DbError::silence("").sqlstate;
        let silent = Recovers { inner, product, n_refused, left, sqlstate: sqlstate.leak() };
        let waited = wait_while_recovering(&silent, &|| false, &mut |_| {});
        assert!(waited.is_some_and(|no| no.is_silence()));
        assert_eq!(silent.n_refused.into_inner(), 1);
    }

    #[test]
    fn a_server_is_waited_for_as_long_as_it_says_that_it_recovers() {
        let check = |sqlstate, is_stopped: bool, n_refused: u32| {
            let target = Target::parse("sqlite::memory:").expect("a target");
            let inner = open(&target, 1, true).expect("opens");
            let postgres = drivers::all().find(|entry| entry.name == "postgres");
            let is_recovering = postgres.expect("it is there").product.administration.is_recovering;
            let administration = Administration { is_recovering, ..*inner.administration() };
            let product = Product { administration, ..*inner.product() };
            let (refused, left) = (AtomicU32::new(0), AtomicU32::new(5));
            let recovers = Recovers { inner, product, n_refused: refused, left, sqlstate };
            let mut n_reported = 0;
            wait_while_recovering(&recovers, &|| is_stopped, &mut |_| n_reported += 1);
            assert_eq!(n_reported, u32::from(n_refused > 1));
            assert_eq!(recovers.n_refused.into_inner(), n_refused, "{sqlstate} {is_stopped}");
        };
        check("57P03", false, 5);
        check("57P03", true, 1);
        check("57P01", false, 1);
    }
}
