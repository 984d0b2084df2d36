//! A blocking database session for unmeasured work: building data, checking them, and reading
//! counters.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use engine::{ThreadClock, block_on};
use model::{
    Call, Cancel, Database, DbError, DbErrorKind, Place, Placement, Reply, Request, Row, RowSource,
    Session, Statement, StatementId, StatementKind, Table, Traffic, Value, Visit,
};
use monitor::{CounterSession, wall_clock};

/// Interval at which [`cut_off`] asks whether it must cancel the running statement.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Longest wait until the server has ended an earlier, closed session, and longest wait for the
/// reply to the final statement of a session.
const ENDING: Duration = Duration::from_secs(1);

/// Connects a session that reads a database's counters while a run is measured.
pub(crate) fn for_counters(database: &dyn Database) -> Result<Box<dyn CounterSession>, DbError> {
    Ok(Box::new(AdminSession::at(database)?))
}

/// Connects a session that measures round trips. It takes the same network path as the clients,
/// which may be simulated.
pub(crate) fn for_round_trips(database: &dyn Database) -> Result<Box<dyn CounterSession>, DbError> {
    // A session with statements counts as a client's.
    let sql = database.monitoring().round_trip.unwrap_or("SELECT 1");
    let statements = Arc::from([Statement::new("round_trip", StatementKind::Read, sql)]);
    let clock = Rc::new(ThreadClock::unstopped());
    let place = Place { placement: Placement::Thread, clock, client: Place::NOBODY };
    let session = block_on(database.connect(place, statements))?;
    Ok(Box::new(AdminSession { session }))
}

impl CounterSession for AdminSession {
    fn read(&mut self, sql: &str, visit: Visit<'_>) -> Result<Reply, DbError> {
        AdminSession::read(self, sql, visit)
    }

    fn canceller(&self) -> Arc<dyn Cancel> {
        self.session.canceller()
    }
}

/// A database session whose calls block the calling thread.
pub(crate) struct AdminSession {
    session: Box<dyn Session>,
}

impl AdminSession {
    pub(crate) fn at(database: &dyn Database) -> Result<AdminSession, DbError> {
        let clock = Rc::new(ThreadClock::unstopped());
        // With several hosts, the first one is writable.
        let place = Place { placement: Placement::Thread, clock, client: 0 };
        let connect = || block_on(database.connect(place.clone(), Arc::from(Vec::new())));
        let mut session = connect();
        let began = wall_clock::now();
        // The server may not have ended our last session yet.
        let is_full = |no: &DbError| no.kind == DbErrorKind::TooManyConnections;
        while session.as_ref().is_err_and(is_full) && began.elapsed() < ENDING {
            thread::park_timeout(LOOK_EVERY);
            session = connect();
        }
        let mut admin = AdminSession { session: session? };
        let n_hosts = database.hosts().map_or(0, |hosts| hosts.list().len());
        if let (2.., Some(sql)) = (n_hosts, database.administration().sees_other_hosts) {
            match admin.write(sql) {
                Err(db_error) if db_error.kind.breaks_session() => return Err(db_error),
                // An unknown variable means that it is no such cluster.
                _ => {}
            }
        }
        admin.lift_limits(database)?;
        Ok(admin)
    }

    /// Lifts limits on time and rows that the server's owner has set for all sessions, such as
    /// `statement_timeout`, because builds and checks take longer and read more.
    fn lift_limits(&mut self, database: &dyn Database) -> Result<(), DbError> {
        for sql in database.administration().house_limits {
            let mut lifts = Vec::new();
            let asked = self.read(sql, &mut |row: &dyn Row| {
                for column in (0..row.width()).filter(|at| !matches!(row.value(*at), Value::Null)) {
                    lifts.push(row.text(column)?.to_owned());
                }
                Ok(())
            });
            let mut lifted = asked.map(drop);
            for lift in &lifts {
                lifted = lifted.and_then(|()| self.write(lift).map(drop));
            }
            match lifted {
                Err(db_error) if db_error.kind.breaks_session() => return Err(db_error),
                // The limit does not exist or cannot be changed; reaching it gives an error.
                _ => {}
            }
        }
        Ok(())
    }

    /// Runs `work` with this session and returns its result. Cancels the running statement as soon
    /// as `is_stopped` returns true.
    pub(crate) fn until<T>(
        &mut self,
        is_stopped: &(dyn Fn() -> bool + Sync),
        work: impl FnOnce(&mut AdminSession) -> T,
    ) -> T {
        cut_off(&*self.session.canceller(), is_stopped, || work(self))
    }

    /// Executes a last statement, such as a clean-up, before the session is closed. Waits at most a
    /// second, and ignores errors.
    pub(crate) fn say_last(&mut self, sql: &str) {
        let began = wall_clock::now();
        // If it is lost, the server notices the end of the session by itself.
        let _ = self.until(&|| began.elapsed() > ENDING, |session| session.write(sql));
    }

    /// Returns true if the server has closed the session while it was idle.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.session.has_ended()
    }

    /// Returns the number of statements, round trips and bytes of this session since it was opened.
    pub(crate) fn traffic(&self) -> Traffic {
        self.session.traffic()
    }

    /// Executes a request on this session and ignores the rows that it returns.
    pub(crate) fn ask(&mut self, request: Request<'_>) -> Result<Reply, DbError> {
        block_on(model::query(self.session.as_mut(), request, &mut |_| Ok(())))
    }

    /// Runs `work` in one transaction of this session, which is rolled back if `work` or the commit
    /// fails.
    pub(crate) fn whole(
        &mut self,
        work: &mut dyn FnMut(&mut AdminSession) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        self.ask(Request::Begin)?;
        let done = work(self).and_then(|()| self.ask(Request::Commit).map(drop));
        if done.as_ref().is_err_and(|no| !no.kind.breaks_session()) {
            // Report the first error.
            let _ = self.ask(Request::Rollback);
        }
        done
    }

    /// Executes a statement for its effect, such as DDL, and ignores the rows that it returns.
    pub(crate) fn write(&mut self, sql: &str) -> Result<Reply, DbError> {
        self.ask(Request::Text { kind: StatementKind::Other, sql })
    }

    /// Executes a query, and calls `visit` for each row.
    pub(crate) fn read(&mut self, sql: &str, visit: Visit<'_>) -> Result<Reply, DbError> {
        let request = Request::Text { kind: StatementKind::Read, sql };
        let asked = block_on(model::query(self.session.as_mut(), request, visit));
        // A database names its errors itself; a reply of an unexpected shape needs the query's
        // text.
        asked.map_err(|no| match no.kind {
            DbErrorKind::Shape => no.during(format_args!("'{sql}'")),
            _ => no,
        })
    }

    /// Executes a query and returns the integer in the first column of its last row; `None` for
    /// NULL or without rows. Fails if the value is no integer.
    pub(crate) fn number(&mut self, sql: &str) -> Result<Option<i64>, DbError> {
        let mut number = None;
        self.read(sql, &mut |row: &dyn Row| {
            number = row.optional_int(0)?;
            Ok(())
        })?;
        Ok(number)
    }

    /// Reads a counter of the server: the sum of the last column over all rows of a query. Values
    /// may be integers or text; those that are not numbers are skipped. `None` if no row has a
    /// number.
    pub(crate) fn counted(&mut self, sql: &str) -> Result<Option<i64>, DbError> {
        let mut count: Option<i64> = None;
        self.read(sql, &mut |row: &dyn Row| {
            let column = row.width().saturating_sub(1);
            let of_row = match row.optional_int(column) {
                Ok(count) => count,
                Err(_) => row.text(column)?.parse().ok(),
            };
            count = of_row.map(|n: i64| n.saturating_add(count.unwrap_or(0))).or(count);
            Ok(())
        })?;
        Ok(count)
    }

    /// Returns true if `table` can be queried, and false if it does not exist. Fails if the query
    /// has another error.
    pub(crate) fn has_table(&mut self, table: &str) -> Result<bool, DbError> {
        match self.read(&format!("SELECT 1 FROM {table} WHERE 1 = 0"), &mut |_| Ok(())) {
            Ok(_) => Ok(true),
            Err(db_error) if db_error.kind == DbErrorKind::Missing => Ok(false),
            Err(db_error) => Err(db_error),
        }
    }

    pub(crate) fn prepare(&mut self, sql: String) -> Result<StatementId, DbError> {
        let statement = Statement::new("load", StatementKind::Write, sql);
        self.session.prepare(statement)
    }

    pub(crate) fn execute(
        &mut self,
        statement: StatementId,
        values: &[Value<'_>],
    ) -> Result<Reply, DbError> {
        self.ask(Request::Execute(Call { statement, values }))
    }

    pub(crate) fn load(
        &mut self,
        table: &Table,
        source: &mut dyn RowSource,
    ) -> Result<Reply, DbError> {
        block_on(model::load(self.session.as_mut(), table, source))
    }
}

/// Runs `work` on this thread, while another thread polls `is_stopped` and cancels the current
/// request of `session` as soon as it returns true.
pub(crate) fn cut_off<T>(
    session: &dyn Cancel,
    is_stopped: &(dyn Fn() -> bool + Sync),
    work: impl FnOnce() -> T,
) -> T {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watching = scope.spawn(|| {
            while !is_done.load(Ordering::Acquire) {
                if is_stopped() {
                    return session.cancel();
                }
                thread::park_timeout(LOOK_EVERY);
            }
        });
        let result = work();
        is_done.store(true, Ordering::Release);
        watching.thread().unpark();
        result
    })
}

#[cfg(test)]
mod tests {
    use model::Target;
    use servers::Server;
    use servers::for_tests::{MARIADB, MYSQL_9_7, POSTGRES};

    use super::*;

    fn session(server: &Server) -> AdminSession {
        let target: Target = server.target();
        let database = crate::open::open(&target, 1, false).expect("it opens");
        AdminSession::at(database.as_ref()).expect("it lets us in")
    }

    #[test]
    fn limits_of_the_house_are_lifted_from_sessions_that_are_not_measured() {
        let check = |server: Server, sql: &str, expect: i64| {
            assert_eq!(session(&server).number(sql), Ok(Some(expect)), "{sql}");
        };
        let limits = [("max_statement_time", "3600"), ("idle_transaction_timeout", "3600")];
        let server = MARIADB.start_with(&[&limits[..], &[("max_join_size", "1000")]].concat());
        session(&server).write("SET GLOBAL sql_safe_updates = 1").expect("set");
        let sql = "SELECT CAST(@@max_statement_time + @@idle_transaction_timeout + \
                   @@sql_safe_updates + 10 * @@sql_big_selects AS SIGNED)";
        check(server, sql, 10);
        let server = MYSQL_9_7.start();
        let limits = "SET GLOBAL max_execution_time = 3600000, GLOBAL sql_select_limit = 10";
        session(&server).write(limits).expect("set");
        let sql = "SELECT CAST(@@max_execution_time + (@@sql_select_limit < 1000) AS SIGNED)";
        check(server, sql, 0);
        let limits = [
            ("statement_timeout", "1h"),
            ("lock_timeout", "1h"),
            ("idle_in_transaction_session_timeout", "1h"),
        ];
        let sql = "SELECT count(*) FROM pg_settings WHERE setting <> '0' AND name IN \
                   ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')";
        check(POSTGRES.start_with(&limits), sql, 0);
    }
}
