//! Collector of the states of a database's sessions, such as executing or waiting for a lock,
//! sampled ten times a second.
//!
//! A slow server is sampled less often, so that the queries take less than 1 % of a CPU, but at
//! least about once a second.
//!
//! Not here: the states (model), and the queries for them (drivers).

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{
    Choice, Database, Event, Fact, Finding, NS_PER_MS, Row, ServerSummary, SessionState, Severity,
    SummaryColumnKept, SummaryOf, SummaryRow,
};

use crate::collector::Collector;
use crate::query_session::{Canceller, Connect, QuerySession, number};
use crate::readings::{Readings, What};
use crate::server_summaries::{ROWS_SO_FAR, SO_FAR_NS};
use crate::wall_clock;

const LOOKS_PER_SECOND: u32 = 10;

/// Minimum ratio between the interval of samples and the time that one sample takes, so that
/// sampling takes at most 1/120 of the time.
const REST_FACTOR: i64 = 120;

/// Maximum interval in nanoseconds that [`REST_FACTOR`] may demand, for at least one sample per
/// second.
const REST_MAX_NS: i64 = 900 * NS_PER_MS as i64;

/// Limit on the rows in a summary of session states, which has the most frequent ones; the others
/// are reported as one sum.
const ROWS_MAX: usize = 60;

/// Limit on the tables and indexes for which a gauge shows how many sessions wait for their locks;
/// those found later have no gauge.
const LOCKS_MAX: usize = 60;

/// Number of sessions in each state, summed over the samples of a period. The key is the state and
/// the server's own name for it.
#[derive(Default)]
struct Seen {
    by_state: BTreeMap<(SessionState, String), f64>,
    n_seen: u32,
    from_ns: Option<i64>,
}

impl Seen {
    fn add(&mut self, at_ns: i64, rows: &[(SessionState, String, f64)]) {
        self.from_ns.get_or_insert(at_ns);
        self.n_seen += 1;
        for (state, event, count) in rows {
            *self.by_state.entry((*state, event.clone())).or_default() += count;
        }
    }

    /// Returns the number of samples that should have been taken from `from_ns` to `to_ns`; never
    /// less than the number taken.
    fn n_due(&self, from_ns: i64, to_ns: i64) -> u32 {
        let each_ns = model::NS_PER_S as i64 / i64::from(LOOKS_PER_SECOND);
        u32::try_from((to_ns - from_ns) / each_ns).unwrap_or(0).max(self.n_seen)
    }

    /// Returns a summary of session states from the first sample to `to_ns`, with at most
    /// `rows_max` rows and the sum of the others; `None` without samples. `n_due` samples should
    /// have been taken.
    fn summary(self, to_ns: i64, n_due: u32, rows_max: usize) -> Option<ServerSummary> {
        let from_ns = self.from_ns?;
        let seconds = (to_ns - from_ns) as f64 / model::NS_PER_S as f64;
        let each = seconds / f64::from(self.n_seen);
        let mut seen: Vec<_> = self.by_state.into_iter().collect();
        seen.sort_by(|a, b| b.1.total_cmp(&a.1));
        let others: f64 = seen.iter().skip(rows_max).map(|(_, count)| count).sum();
        let row = |state, what, count: f64| SummaryRow { state, what, values: vec![count * each] };
        let rows = seen.into_iter().take(rows_max);
        let rows = rows.map(|((state, event), n)| row(Some(state.name().to_owned()), event, n));
        Some(ServerSummary {
            of: SummaryOf::Samples,
            source: ServerSummary::source_of_samples(self.n_seen, n_due),
            from_ns,
            to_ns,
            columns: vec![SummaryColumnKept { name: "time".to_owned(), unit: "s".to_owned() }],
            rows: rows.collect(),
            others: (others > 0.0).then(|| row(None, String::new(), others)),
        })
    }
}

/// Collector that samples the state of each session of a server, such as executing or waiting for a
/// lock.
pub(crate) struct SessionStates {
    states: QuerySession,
    /// Queries for session states that have not failed yet, the most detailed one first. The first
    /// one is used.
    queries: &'static [&'static str],
    /// Number of sessions in each state, summed over the samples since the last reading.
    now: [f64; SessionState::ALL.len()],
    n_now: u32,
    /// Number of sessions that waited for a lock on each table or index, summed over the samples
    /// since the last reading. A table or index that was found once stays in the map, with 0.
    locked: BTreeMap<String, f64>,
    /// Longest time that a sample took since the last reading, in nanoseconds.
    longest_ns: i64,
    /// States of the sessions in all samples of the measured phase.
    seen: Seen,
    /// States of the sessions in the samples since the last report that was made while the load
    /// ran.
    seen_since: Seen,
    /// Time of the last sample in the measured phase, in nanoseconds from the start of that phase.
    last_ns: i64,
    /// Time of the next sample, in nanoseconds from the start of the measured phase.
    due_ns: i64,
    why: Option<String>,
}

impl SessionStates {
    /// Creates the collector of session states; `None` if the database has no query for them.
    pub(crate) fn if_supported(
        database: Arc<dyn Database>,
        connect: Connect,
        canceller: Canceller,
    ) -> Option<SessionStates> {
        let sampling = database.monitoring().session_states?;
        Some(SessionStates {
            states: QuerySession::new(database, connect, canceller),
            queries: sampling.queries,
            now: Default::default(),
            n_now: 0,
            longest_ns: 0,
            locked: BTreeMap::new(),
            seen: Seen::default(),
            seen_since: Seen::default(),
            last_ns: 0,
            due_ns: i64::MIN,
            why: None,
        })
    }

    fn sample(&mut self, at_ns: i64) {
        if at_ns < self.due_ns {
            return;
        }
        let began = wall_clock::now();
        self.ask_states(at_ns);
        let took_ns = wall_clock::since(began, wall_clock::now());
        self.longest_ns = self.longest_ns.max(took_ns);
        self.due_ns = at_ns + (took_ns * REST_FACTOR).min(REST_MAX_NS);
    }

    fn ask_states(&mut self, at_ns: i64) {
        while let Some(sql) = self.queries.first() {
            let mut rows: Vec<(SessionState, String, f64)> = Vec::new();
            let mut visit = |row: &dyn Row| {
                let state = SessionState::by_name(row.text(0)?);
                if let (Some(state), Some(count)) = (state, number(&row.value(2))) {
                    rows.push((state, row.text(1)?.to_owned(), count));
                }
                Ok(())
            };
            match self.states.read(sql, &mut visit) {
                Ok(()) => return self.add(at_ns, rows),
                Err(db_error) if db_error.kind.breaks_session() => return,
                // Another version, or a user without the privilege: try the next, simpler query.
                Err(db_error) => {
                    self.queries = &self.queries[1..];
                    self.why = Some(db_error.to_string());
                }
            }
        }
    }

    fn add(&mut self, at_ns: i64, rows: Vec<(SessionState, String, f64)>) {
        self.n_now += 1;
        if at_ns >= 0 {
            self.seen.add(at_ns, &rows);
            self.seen_since.add(at_ns, &rows);
            self.last_ns = at_ns;
        }
        for (state, event, count) in rows {
            self.now[state as usize] += count;
            let locked = what_is_locked(&event).filter(|_| state == SessionState::Lock);
            if let Some(what) = locked {
                self.add_lock(what, count);
            }
        }
    }

    fn add_lock(&mut self, what: &str, count: f64) {
        let is_known = self.locked.contains_key(what);
        if is_known || self.locked.len() < LOCKS_MAX {
            *self.locked.entry(what.to_owned()).or_default() += count;
        }
    }
}

/// Returns the table or index in a server's name for a lock wait, such as `warehouse` in
/// `Lock/tuple on warehouse`; `None` if the name contains none.
fn what_is_locked(event: &str) -> Option<&str> {
    let locked = event.rsplit_once(" on ").map_or(event, |(_, table)| table);
    (!locked.is_empty() && !locked.contains([' ', '/'])).then_some(locked)
}

/// Returns a finding if fewer than half of the samples that were due were taken, otherwise `None`.
fn few_samples(n_seen: u32, n_due: u32) -> Option<Event> {
    (2 * u64::from(n_seen) < u64::from(n_due)).then(|| {
        let observed = format!("The server's sessions were sampled {n_seen} of {n_due} times.");
        Event::Finding(Finding::from_catalog("few_session_samples", Severity::Note, observed))
    })
}

impl Collector for SessionStates {
    fn about(&self) -> String {
        "database".to_owned()
    }

    fn looks_per_second(&self) -> u32 {
        LOOKS_PER_SECOND
    }

    fn look(&mut self, at_ns: i64) {
        self.sample(at_ns);
    }

    fn read(&mut self, readings: &mut Readings) {
        self.sample(readings.at_ns());
        if self.n_now > 0 {
            for state in SessionState::ALL {
                let mean = self.now[*state as usize] / f64::from(self.n_now);
                readings.level_of(What::new("sessions", "", state.help()), state.name(), mean);
            }
            let help = "Longest time that the server took to say what its sessions do.";
            let longest_ms = self.longest_ns as f64 / NS_PER_MS as f64;
            readings.level(What::new("session_query", "ms", help), longest_ms);
            let help = "Sessions waiting for a lock of this table or index.";
            for (what, sum) in &mut self.locked {
                let mean = std::mem::take(sum) / f64::from(self.n_now);
                readings.level_of(What::new("lock_waits", "", help), what, mean);
            }
        }
        (self.now, self.n_now, self.longest_ns) = (Default::default(), 0, 0);
    }

    fn so_far(&mut self) -> Vec<Event> {
        let from_ns = self.seen_since.from_ns.unwrap_or(self.last_ns);
        if self.last_ns - from_ns < SO_FAR_NS {
            return Vec::new();
        }
        let seen = std::mem::take(&mut self.seen_since);
        let n_due = seen.n_due(from_ns, self.last_ns);
        seen.summary(self.last_ns, n_due, ROWS_SO_FAR)
            .map(Event::SummarySoFar)
            .into_iter()
            .collect()
    }

    fn end(&mut self, at_ns: i64) -> Vec<Event> {
        let seen = std::mem::take(&mut self.seen);
        let (n_seen, n_due) = (seen.n_seen, seen.n_due(0, at_ns));
        let Some(summary) = seen.summary(at_ns, n_due, ROWS_MAX) else { return Vec::new() };
        [Event::Summary(summary)].into_iter().chain(few_samples(n_seen, n_due)).collect()
    }

    fn facts(&self) -> Vec<Fact> {
        let to_fact = |why: &String| {
            let text = match self.queries {
                [] => format!("not read: {why}"),
                _ => format!("not all read: {why}"),
            };
            Fact::new("monitor", "sessions", text)
        };
        self.why.iter().map(to_fact).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_locked_is_the_table_or_index() {
        assert_eq!(what_is_locked("Lock/tuple on warehouse"), Some("warehouse"));
        assert_eq!(what_is_locked("warehouse.PRIMARY"), Some("warehouse.PRIMARY"));
        for unnamed in ["Waiting for table metadata lock", "Lock/transactionid", ""] {
            assert_eq!(what_is_locked(unnamed), None);
        }
    }

    #[test]
    fn what_was_seen_lasts_as_long_as_the_samples_of_it() {
        let mut seen = Seen::default();
        for at_ns in [0, 1_000_000_000] {
            let rows = [(SessionState::Lock, "t".to_owned(), 2.0)];
            seen.add(at_ns, &rows);
        }
        assert_eq!(seen.n_due(0, 2_000_000_000), 20);
        let summary = seen.summary(2_000_000_000, 20, 10).expect("two samples");
        assert_eq!(summary.source, "sessions, 2 of 20 samples");
        assert_eq!(summary.samples(), Some(2));
        assert_eq!((&*summary.rows[0].what, summary.total("time")), ("t", Some(4.0)));
        assert_eq!(Seen::default().summary(1, 1, 10), None);
    }

    #[test]
    fn fewer_than_half_of_the_samples_that_were_due_are_a_note() {
        assert_eq!(few_samples(50, 100), None);
        let Some(Event::Finding(note)) = few_samples(20, 100) else { panic!("no note") };
        assert_eq!((&*note.id, note.severity), ("few_session_samples", Severity::Note));
        assert!(note.text.starts_with("The server's sessions were sampled 20 of 100 times."));
    }
}
