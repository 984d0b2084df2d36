//! A collector's connection to a database: opened on demand, opened again after a failure, and
//! cancelled from another thread if a query hangs.
//!
//! Not here: the queries.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{Cancel, Database, DbError, Reply, Value, Visit};

/// A connection with which a collector queries a server's counters. It stays on the thread that
/// opened it.
pub trait CounterSession {
    /// Runs the query `sql` as text, and passes each row of its result to `visit`.
    fn read(&mut self, sql: &str, visit: Visit<'_>) -> Result<Reply, DbError>;

    /// Returns a handle with which another thread can cancel the running query.
    fn canceller(&self) -> Arc<dyn Cancel>;
}

/// Function that opens a connection to a database for a collector. The caller of the monitor
/// provides it, since this crate knows no drivers.
pub type Connect = fn(&dyn Database) -> Result<Box<dyn CounterSession>, DbError>;

/// Cancels the queries of all collectors from another thread when they hang at the end of a run.
#[derive(Clone, Default)]
pub struct Canceller(Arc<Mutex<Held>>);

#[derive(Default)]
struct Held {
    sessions: Vec<Option<Arc<dyn Cancel>>>,
    is_over: bool,
}

impl Canceller {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a slot for the handle that cancels another session's queries, and returns its
    /// index.
    fn place(&self) -> usize {
        let mut held = self.held();
        held.sessions.push(None);
        held.sessions.len() - 1
    }

    fn hold(&self, place: usize, session: Option<Arc<dyn Cancel>>) {
        let mut held = self.held();
        if held.is_over {
            session.iter().for_each(|session| session.cancel());
        }
        held.sessions[place] = session;
    }

    /// Cancels the running queries of all collectors, and those of sessions that connect later.
    pub fn cut_off(&self) {
        let mut held = self.held();
        held.is_over = true;
        held.sessions.iter().flatten().for_each(|session| session.cancel());
    }
}

/// A collector's connection to a database, which is opened again after it broke.
pub(crate) struct QuerySession {
    database: Arc<dyn Database>,
    connect: Connect,
    canceller: Canceller,
    place: usize,
    session: Option<Box<dyn CounterSession>>,
}

impl QuerySession {
    /// Creates a session that is not connected yet.
    pub(crate) fn new(
        database: Arc<dyn Database>,
        connect: Connect,
        canceller: Canceller,
    ) -> QuerySession {
        let place = canceller.place();
        QuerySession { database, connect, canceller, place, session: None }
    }

    /// Connects to the database, unless the session is already connected.
    pub(crate) fn connect(&mut self) -> Result<(), DbError> {
        if self.session.is_none() {
            let session = (self.connect)(self.database.as_ref())?;
            self.canceller.hold(self.place, Some(session.canceller()));
            self.session = Some(session);
        }
        Ok(())
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.session.is_some()
    }

    /// Runs the query `sql` as text, and passes each row of its result to `visit`. Connects first
    /// if there is no connection.
    pub(crate) fn read(&mut self, sql: &str, visit: Visit<'_>) -> Result<(), DbError> {
        self.connect()?;
        let Some(session) = self.session.as_mut() else { return Ok(()) };
        let read = session.read(sql, visit).map(drop);
        if read.as_ref().is_err_and(|db_error| db_error.kind.breaks_session()) {
            self.session = None;
            self.canceller.hold(self.place, None);
        }
        read
    }
}

/// Converts a numeric database value of any type to a float; `None` if it is not a number.
pub(crate) fn number(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Decimal { unscaled, scale } => {
            Some(*unscaled as f64 / 10_f64.powi(i32::from(*scale)))
        }
        Value::Text(text) => text.trim().parse().ok(),
        Value::Null | Value::Bytes(_) | Value::Timestamp(_) | Value::Date(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_however_it_is_reported() {
        let check = |value: Value<'_>, expect| assert_eq!(number(&value), expect);
        check(Value::Int(7), Some(7.0));
        check(Value::Float(0.5), Some(0.5));
        check(Value::Text(" 12.5 "), Some(12.5));
        check(Value::Decimal { unscaled: 125, scale: 1 }, Some(12.5));
        check(Value::Text("ON"), None);
        check(Value::Text(""), None);
        check(Value::Null, None);
    }

    #[test]
    fn a_session_that_comes_too_late_is_cut_off_at_once() {
        #[derive(Default)]
        struct Cut(Mutex<u32>);
        impl Cancel for Cut {
            fn cancel(&self) {
                *self.0.lock().unwrap() += 1;
            }
        }
        let canceller = Canceller::default();
        let places = [canceller.place(), canceller.place()];
        let (early, late) = (Arc::new(Cut::default()), Arc::new(Cut::default()));
        canceller.hold(places[0], Some(Arc::clone(&early) as Arc<dyn Cancel>));
        canceller.cut_off();
        canceller.hold(places[1], Some(Arc::clone(&late) as Arc<dyn Cancel>));
        assert_eq!((*early.0.lock().unwrap(), *late.0.lock().unwrap()), (1, 1));
    }
}
