//! What a database counts itself, on a connection of its own.
//!
//! What cannot be read is told once and is no error. A server that goes away leaves a gap, and is
//! connected to again. Not here: which numbers there are (drivers).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::{
    Cancel, Counters, Database, Fact, Reading, Refusal, RefusalKind, Reply, Row, Value, Visit,
};

use crate::collector::Collector;
use crate::readings::{Readings, What};

/// A connection by which a collector asks, on the thread that made it.
pub trait CounterSession {
    /// A query as text; `visit` sees its rows.
    fn read(&mut self, sql: &str, visit: Visit<'_>) -> Result<Reply, Refusal>;

    /// Cuts off what it asks, from another thread.
    fn canceller(&self) -> Arc<dyn Cancel>;
}

/// Connects to a database: how that is done is whoever's drivers these are to know.
pub type Connect = fn(&dyn Database) -> Result<Box<dyn CounterSession>, Refusal>;

/// Lets another thread cut off a query that does not end.
#[derive(Clone, Default)]
pub struct Canceller(Arc<Mutex<Held>>);

#[derive(Default)]
struct Held {
    session: Option<Arc<dyn Cancel>>,
    is_over: bool,
}

impl Canceller {
    fn hold(&self, session: Option<Arc<dyn Cancel>>) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_over {
            session.iter().for_each(|session| session.cancel());
        }
        held.session = session;
    }

    /// Ends what is under way, and whatever comes.
    pub fn cut_off(&self) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.is_over = true;
        held.session.iter().for_each(|session| session.cancel());
    }
}

/// A database's counters.
pub(crate) struct DatabaseCounters {
    database: Arc<dyn Database>,
    by: Counters,
    /// Where each chosen one stands among them, by its name in small letters.
    places: HashMap<String, usize>,
    canceller: Canceller,
    connect: Connect,
    session: Option<Box<dyn CounterSession>>,
    /// Those that this server knows and lets us read.
    queries: Vec<String>,
    /// Why something is not read: the first reason.
    why: Option<String>,
}

impl DatabaseCounters {
    /// The chosen counters, or all of them; none where the database has none.
    pub(crate) fn of(
        database: Arc<dyn Database>,
        connect: Connect,
        all: bool,
        canceller: Canceller,
    ) -> Option<DatabaseCounters> {
        let by = database.monitoring().counters?;
        let chosen: Vec<&str> = by.chosen.iter().map(|counter| counter.name).collect();
        let names = if all { &[] } else { chosen.as_slice() };
        let queries = (by.ask)(names);
        let places = chosen.iter().map(|name| name.to_ascii_lowercase()).zip(0..).collect();
        let (session, why) = (None, None);
        Some(DatabaseCounters { database, by, places, canceller, connect, session, queries, why })
    }

    /// The chosen ones in their order, then the others.
    fn place(&self, name: &str) -> usize {
        self.places.get(&name.to_ascii_lowercase()).copied().unwrap_or(usize::MAX)
    }

    fn put(&self, name: &str, value: f64, readings: &mut Readings) {
        let (reading, what) = match self.by.chosen.get(self.place(name)) {
            Some(counter) => (counter.reading, What::new(counter.name, counter.unit, counter.help)),
            None => {
                let (reading, unit) = (self.by.reading)(name);
                (reading, What::new(name, unit, "As the database's manual has it."))
            }
        };
        match reading {
            Reading::Total => readings.total(what, value),
            Reading::Level => readings.level(what, value),
        }
    }

    fn connect(&mut self) -> Result<(), Refusal> {
        if self.session.is_none() {
            let session = (self.connect)(self.database.as_ref())?;
            self.canceller.hold(Some(session.canceller()));
            self.session = Some(session);
        }
        Ok(())
    }

    /// What the queries tell; the ones that the server does not take are asked no more.
    fn ask(&mut self) -> Result<Vec<(String, f64)>, Refusal> {
        self.connect()?;
        let mut shown = Vec::new();
        let mut left = Vec::new();
        for sql in std::mem::take(&mut self.queries) {
            let Some(session) = self.session.as_mut() else {
                left.push(sql);
                continue;
            };
            let mut visit = |row: &dyn Row| {
                if let (Value::Text(name), Some(value)) = (row.value(0), number(&row.value(1))) {
                    shown.push((name.to_owned(), value));
                }
                Ok(())
            };
            match session.read(&sql, &mut visit) {
                Ok(_) => left.push(sql),
                Err(refusal) if refusal.kind.breaks_session() => {
                    left.push(sql);
                    self.session = None;
                    self.canceller.hold(None);
                }
                // A view of another version.
                Err(refusal) if refusal.kind == RefusalKind::Missing => {}
                Err(refusal) => {
                    self.why.get_or_insert_with(|| refusal.to_string());
                }
            }
        }
        self.queries = left;
        Ok(shown)
    }
}

/// A number, however it is told.
fn number(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Decimal { unscaled, scale } => {
            Some(*unscaled as f64 / 10_f64.powi(i32::from(*scale)))
        }
        Value::Text(text) => text.trim().parse().ok(),
        Value::Null | Value::Bytes(_) | Value::Timestamp(_) => None,
    }
}

impl Collector for DatabaseCounters {
    fn about(&self) -> String {
        "database".to_owned()
    }

    fn read(&mut self, readings: &mut Readings) {
        for (name, value) in self.database.counted() {
            self.put(name, value, readings);
        }
        if self.queries.is_empty() {
            return;
        }
        match self.ask() {
            Ok(mut shown) => {
                // The time of the answer, not of the question.
                readings.again();
                shown.sort_by_key(|(name, _)| self.place(name));
                shown.iter().for_each(|(name, value)| self.put(name, *value, readings));
            }
            // Of a server that is not there another finding tells; of one that does not let us
            // in, this is all that there is.
            Err(refusal) => {
                self.why.get_or_insert_with(|| refusal.to_string());
            }
        }
    }

    fn facts(&self) -> Vec<Fact> {
        let shown = |why: &String| Fact::new("monitor", "database", format!("not all read: {why}"));
        self.why.iter().map(shown).collect()
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
        let (early, late) = (Arc::new(Cut::default()), Arc::new(Cut::default()));
        canceller.hold(Some(Arc::clone(&early) as Arc<dyn Cancel>));
        canceller.cut_off();
        canceller.hold(Some(Arc::clone(&late) as Arc<dyn Cancel>));
        assert_eq!((*early.0.lock().unwrap(), *late.0.lock().unwrap()), (1, 1));
    }
}
