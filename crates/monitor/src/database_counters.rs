//! A database's own counters, read on a separate connection.
//!
//! Counters that cannot be read are reported once and are no error. After a lost connection the
//! collector connects again, and the seconds in between have no values. Not here: the list of
//! counters (drivers).

use std::collections::HashMap;
use std::sync::Arc;

use model::{Counters, Database, DbError, DbErrorKind, Fact, Reading, Row, Value};

use crate::collector::Collector;
use crate::query_session::{Canceller, Connect, QuerySession, number};
use crate::readings::{Readings, What};

/// Collector that reads a database's own counters, such as `Innodb_rows_read`, by SQL.
pub(crate) struct DatabaseCounters {
    database: Arc<dyn Database>,
    by: Counters,
    /// Rank of each counter that the driver has chosen, by the counter's name in lower case.
    /// Reports sort counters by rank.
    places: HashMap<String, usize>,
    session: QuerySession,
    /// Queries for counters that this server supports and permits.
    queries: Vec<String>,
    /// First reason why counters could not be read, in a sentence; `None` if all were read, apart
    /// from views that this version of the server does not have.
    why: Option<String>,
}

impl DatabaseCounters {
    /// Creates the collector for the counters chosen by the driver or, if `all` is set, for all
    /// counters of the server. `None` if the database has no counters.
    pub(crate) fn if_supported(
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
        let session = QuerySession::new(Arc::clone(&database), connect, canceller);
        Some(DatabaseCounters { database, by, places, session, queries, why: None })
    }

    /// Returns the rank by which counter `name` is sorted: counters chosen by the driver have its
    /// order, and all others the rank `usize::MAX`.
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

    /// Queries the server's counters and returns their names and values. A query that the server
    /// rejects is dropped; one that failed because the connection broke is sent again next time.
    fn ask(&mut self) -> Result<Vec<(String, f64)>, DbError> {
        self.session.connect()?;
        let mut shown = Vec::new();
        let mut left = Vec::new();
        for sql in std::mem::take(&mut self.queries) {
            if !self.session.is_connected() {
                left.push(sql);
                continue;
            }
            let mut visit = |row: &dyn Row| {
                if let (Value::Text(name), Some(value)) = (row.value(0), number(&row.value(1))) {
                    shown.push((name.to_owned(), value));
                }
                Ok(())
            };
            match self.session.read(&sql, &mut visit) {
                Ok(_) => left.push(sql),
                Err(db_error) if db_error.kind.breaks_session() => left.push(sql),
                // The view belongs to another version.
                Err(db_error) if db_error.kind == DbErrorKind::Missing => {}
                Err(db_error) => {
                    self.why.get_or_insert_with(|| db_error.to_string());
                }
            }
        }
        self.queries = left;
        Ok(shown)
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
                // Use the time of the answer, not of the query.
                readings.again();
                shown.sort_by_key(|(name, _)| self.place(name));
                shown.iter().for_each(|(name, value)| self.put(name, *value, readings));
            }
            // An unreachable server has its own finding; for one that rejects us, this is the only
            // report.
            Err(db_error) => {
                self.why.get_or_insert_with(|| db_error.to_string());
            }
        }
    }

    fn facts(&self) -> Vec<Fact> {
        let to_fact =
            |why: &String| Fact::new("monitor", "database", format!("not all read: {why}"));
        self.why.iter().map(to_fact).collect()
    }
}
