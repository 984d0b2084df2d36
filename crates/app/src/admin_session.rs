//! A session for work that is not measured: building, checking, reading what the data say.

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

/// How soon a long statement hears that somebody asked to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long a server may take to end a session that we have left.
const ENDING: Duration = Duration::from_secs(1);

/// A session by which a database's counters are read beside a run.
pub(crate) fn for_counters(database: &dyn Database) -> Result<Box<dyn CounterSession>, DbError> {
    Ok(Box::new(AdminSession::at(database)?))
}

/// The same on the path of the clients: through a simulated network, where the plan has one.
pub(crate) fn for_round_trips(database: &dyn Database) -> Result<Box<dyn CounterSession>, DbError> {
    // Whoever knows statements beforehand is a client.
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

/// One connection on this thread.
pub(crate) struct AdminSession {
    session: Box<dyn Session>,
}

impl AdminSession {
    pub(crate) fn at(database: &dyn Database) -> Result<AdminSession, DbError> {
        let clock = Rc::new(ThreadClock::unstopped());
        // Where there are several hosts, the first is the one to be written to.
        let place = Place { placement: Placement::Thread, clock, client: 0 };
        let connect = || block_on(database.connect(place.clone(), Arc::from(Vec::new())));
        let mut session = connect();
        let began = wall_clock::now();
        // Our own last session may not have ended there yet.
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
                // Whoever does not know the word is no such cluster.
                _ => {}
            }
        }
        admin.lift_limits(database)?;
        Ok(admin)
    }

    /// Lifts what the server's owner allows a session of an application: building and checking
    /// data take longer and read more.
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
                // It has no such limit, or it keeps it, and says so when it is reached.
                _ => {}
            }
        }
        Ok(())
    }

    /// Does `work`, whose statement is cut off as soon as `is_stopped` says so.
    pub(crate) fn until<T>(
        &mut self,
        is_stopped: &(dyn Fn() -> bool + Sync),
        work: impl FnOnce(&mut AdminSession) -> T,
    ) -> T {
        cut_off(&*self.session.canceller(), is_stopped, || work(self))
    }

    /// Says something for the last time, and waits a moment at most for the answer.
    pub(crate) fn say_last(&mut self, sql: &str) {
        let began = wall_clock::now();
        // A server that does not hear it finds out by itself that the session has ended.
        let _ = self.until(&|| began.elapsed() > ENDING, |session| session.write(sql));
    }

    /// Whether the server has closed it while nothing was asked.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.session.has_ended()
    }

    /// What it has moved so far.
    pub(crate) fn traffic(&self) -> Traffic {
        self.session.traffic()
    }

    /// Asks, and drops what rows come.
    pub(crate) fn ask(&mut self, request: Request<'_>) -> Result<Reply, DbError> {
        block_on(model::query(self.session.as_mut(), request, &mut |_| Ok(())))
    }

    /// Does `work` in one transaction, all of it or nothing.
    pub(crate) fn whole(
        &mut self,
        work: &mut dyn FnMut(&mut AdminSession) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        self.ask(Request::Begin)?;
        let done = work(self).and_then(|()| self.ask(Request::Commit).map(drop));
        if done.as_ref().is_err_and(|no| !no.kind.breaks_session()) {
            // The database error that matters is the first one.
            let _ = self.ask(Request::Rollback);
        }
        done
    }

    /// A statement as text that changes something.
    pub(crate) fn write(&mut self, sql: &str) -> Result<Reply, DbError> {
        self.ask(Request::Text { kind: StatementKind::Other, sql })
    }

    /// A query as text; `visit` sees its rows.
    pub(crate) fn read(&mut self, sql: &str, visit: Visit<'_>) -> Result<Reply, DbError> {
        let request = Request::Text { kind: StatementKind::Read, sql };
        let asked = block_on(model::query(self.session.as_mut(), request, visit));
        // What the database refuses it names itself; what we do not understand it cannot.
        asked.map_err(|no| match no.kind {
            DbErrorKind::Shape => no.during(format_args!("'{sql}'")),
            _ => no,
        })
    }

    /// The only number that a query returns; none for null.
    pub(crate) fn number(&mut self, sql: &str) -> Result<Option<i64>, DbError> {
        let mut number = None;
        self.read(sql, &mut |row: &dyn Row| {
            number = row.optional_int(0)?;
            Ok(())
        })?;
        Ok(number)
    }

    /// A counter of the server's: the last column of a query's rows, as numbers or as text, in sum.
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

    /// Whether `table` is there.
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

/// Does `work`; what a session has under way is cut off as soon as `is_stopped` says so.
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
        let sql = "SELECT CAST(@@max_statement_time + @@idle_transaction_timeout + \
                   10 * @@sql_big_selects AS SIGNED)";
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
