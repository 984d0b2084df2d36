//! Collector of cumulative statistics that a server keeps, such as time by statement or by wait
//! event. They are read at the start of the measured phase and at the end of the load, and their
//! growth is reported. Statements and waits are also read in between, so that a page shows the last
//! seconds, and most is known of a server that does not answer at the end.
//!
//! Not here: the list of summaries (drivers).

use std::collections::HashMap;
use std::sync::Arc;

use model::{
    Database, DbError, DbErrorKind, Event, Fact, NS_PER_MS, NS_PER_S, Row, ServerSummary,
    SessionsQuery, SummaryColumn, SummaryColumnKept, SummaryOf, SummaryQuery, SummaryRow, Value,
};

use crate::collector::Collector;
use crate::query_session::{Canceller, Connect, QuerySession, number};
use crate::readings::Readings;
use crate::wall_clock;

/// Limit on the rows of a summary in the report of a run; the others are reported as one sum.
const ROWS_MAX: usize = 40;

/// Limit on the rows in a report of the last seconds, while the load runs; the others are reported
/// as one sum.
pub(crate) const ROWS_SO_FAR: usize = 10;

/// Approximate period of reports of the last seconds while the load runs, in nanoseconds.
pub(crate) const SO_FAR_NS: i64 = 5 * NS_PER_S as i64 - SLACK_NS;

/// Interval, in nanoseconds, for reading the statistics of single sessions. It is about a second,
/// because the statistics of a session are lost when it ends.
const OF_SESSIONS_NS: i64 = NS_PER_S as i64 - SLACK_NS;

/// Number of readings without statistics of single sessions, after which the server is assumed to
/// have none. The first readings are made however long they take, since a short run has no others.
const READINGS_MIN: u32 = 5;

/// Tolerance, in nanoseconds, for a reading that comes early because the one before was late.
const SLACK_NS: i64 = 500 * NS_PER_MS as i64;

/// Minimum ratio between the interval of readings and the time that one reading takes, so that
/// reading takes at most 1/120 of the time while the load runs.
const REST_FACTOR: i64 = 120;

/// Maximum interval in nanoseconds that [`REST_FACTOR`] may demand.
const REST_MAX_NS: i64 = 10 * NS_PER_S as i64;

/// Limit on the characters that are kept of a statement's text.
const LETTERS_MAX: usize = 400;

/// Values of a summary's rows by the key of the row, such as the text of a statement.
type Stood = HashMap<String, Vec<f64>>;

/// Cumulative values of a summary at one reading.
#[derive(Clone)]
struct Stand {
    at_ns: i64,
    stood: Arc<Stood>,
}

/// Collector of summaries: tables of cumulative statistics that a server keeps, such as time by
/// statement or by wait event.
pub(crate) struct ServerSummaries {
    session: QuerySession,
    all: Vec<Summed>,
    facts: Vec<Fact>,
}

/// A summary (a table of cumulative statistics that the server keeps), with the values read so far.
struct Summed {
    query: &'static SummaryQuery,
    /// Statistics that the server keeps for each session; `None` if the summary has no query for
    /// them.
    of_sessions: Option<OfSessions>,
    first: Option<Stand>,
    /// Values at the last reading; `None` before the first.
    last: Option<Stand>,
    /// Values at the last report while the load ran; `None` before the first.
    told: Option<Stand>,
    /// Values at the last reading by which no session had ended since the reading before; `None` if
    /// there is none. The final report has these values if sessions keep statistics, because what a
    /// session did after its last reading is lost when it ends with the load.
    whole: Option<Stand>,
    /// Time of the next reading, in nanoseconds from the start of the measured phase.
    due_ns: i64,
    so_far: Option<ServerSummary>,
    /// Error of the last reading; `None` if that reading succeeded.
    db_error: Option<DbError>,
}

/// Statistics of single sessions, summed by row. Sessions that have ended still contribute.
struct OfSessions {
    query: &'static SessionsQuery,
    /// Values at the last reading, by session; `None` before the first reading.
    before: Option<Stood>,
    /// Growth of the values since the first reading, summed over all sessions, by row.
    grown: Stood,
    /// Number of sessions that ended before their last values were read.
    n_gone: usize,
    /// Value of `n_gone` at the last reading at which no session had ended. Sessions that ended
    /// later may have ended only because the load did.
    n_gone_in_mid_run: usize,
    n_readings: u32,
    /// Number of readings that found statistics of at least one session.
    n_readings_with_any: u32,
    db_error: Option<DbError>,
}

impl OfSessions {
    /// Adds a reading of the statistics of single sessions, as (session, row, values). Returns
    /// whether every session of the reading before still exists.
    fn add(&mut self, now: Vec<(String, String, Vec<f64>)>) -> bool {
        let is_first = self.before.is_none();
        let mut before = self.before.take().unwrap_or_default();
        let mut stood = Stood::new();
        for (of_session, what, values) in now {
            let known = before.remove(&of_session);
            let grown = growth_of(known.as_deref(), &values);
            if !is_first && grown.iter().any(|value| *value > 0.0) {
                add(self.grown.entry(what).or_insert_with(|| vec![0.0; grown.len()]), &grown);
            }
            stood.insert(of_session, values);
        }
        self.n_gone += before.len();
        self.before = Some(stood);
        self.n_readings += 1;
        self.n_readings_with_any +=
            u32::from(self.before.as_ref().is_some_and(|sessions| !sessions.is_empty()));
        let is_whole = before.is_empty();
        if is_whole {
            self.n_gone_in_mid_run = self.n_gone;
        }
        is_whole
    }

    fn counts(&self) -> bool {
        !self.grown.is_empty()
    }

    /// Whether the statistics of single sessions are read each second. This is also done while it
    /// is unknown whether the server has any.
    fn is_followed(&self) -> bool {
        self.counts() || self.may_count()
    }

    fn may_count(&self) -> bool {
        self.db_error.is_none() && self.n_readings < READINGS_MIN
    }
}

impl Summed {
    fn new(query: &'static SummaryQuery) -> Summed {
        let of_sessions = query.of_sessions.as_ref().map(|query| OfSessions {
            query,
            before: None,
            grown: Stood::new(),
            n_gone: 0,
            n_gone_in_mid_run: 0,
            n_readings: 0,
            n_readings_with_any: 0,
            db_error: None,
        });
        Summed {
            query,
            of_sessions,
            first: None,
            last: None,
            told: None,
            whole: None,
            due_ns: i64::MIN,
            so_far: None,
            db_error: None,
        }
    }

    /// Whether the summary is also read while the load runs, and not only at its start and end.
    fn is_followed(&self) -> bool {
        matches!(self.query.of, SummaryOf::Statements | SummaryOf::Waits)
    }

    fn read_if_due(&mut self, session: &mut QuerySession, at_ns: i64) {
        let is_wanted = self.first.is_none() || self.is_followed();
        if !is_wanted || at_ns < self.due_ns || self.db_error.as_ref().is_some_and(is_missing) {
            return;
        }
        let began = wall_clock::now();
        self.read(session, at_ns);
        let took_ns = wall_clock::since(began, wall_clock::now());
        let is_soon = self.of_sessions.as_ref().is_some_and(OfSessions::is_followed);
        let every_ns = if is_soon { OF_SESSIONS_NS } else { SO_FAR_NS };
        let rest_ns = match self.of_sessions.as_ref().is_some_and(OfSessions::may_count) {
            true => 0,
            false => (took_ns * REST_FACTOR).min(REST_MAX_NS),
        };
        self.due_ns = at_ns + every_ns.max(rest_ns);
        self.tell(at_ns);
    }

    /// Reads the summary from the server. If that fails, the values of earlier readings stay.
    fn read(&mut self, session: &mut QuerySession, at_ns: i64) {
        let mut stood = Stood::new();
        let n_columns = self.query.columns.len();
        let mut visit = |row: &dyn Row| {
            let what = shortened(row.text(0)?);
            let sums = stood.entry(what).or_insert_with(|| vec![0.0; n_columns]);
            add(sums, &values(self.query, row, 1));
            Ok(())
        };
        self.db_error = session.read(self.query.sql, &mut visit).err();
        if self.db_error.is_some() {
            return;
        }
        let is_whole = self.read_sessions(session);
        self.stands(at_ns, stood, is_whole);
    }

    /// Stores the server's values plus those of single sessions as the last reading. `is_whole`
    /// says that no session has ended since the reading before.
    fn stands(&mut self, at_ns: i64, mut stood: Stood, is_whole: bool) {
        for (what, grown) in self.of_sessions.iter().flat_map(|sessions| &sessions.grown) {
            add(stood.entry(what.clone()).or_insert_with(|| vec![0.0; grown.len()]), grown);
        }
        let stand = Stand { at_ns, stood: Arc::new(stood) };
        if self.first.is_none() {
            (self.first, self.told) = (Some(stand.clone()), Some(stand.clone()));
        }
        if is_whole {
            self.whole = Some(stand.clone());
        }
        self.last = Some(stand);
    }

    /// Reads the statistics of single sessions. Returns whether every session of the reading before
    /// still exists.
    fn read_sessions(&mut self, session: &mut QuerySession) -> bool {
        let Some(of_sessions) = &mut self.of_sessions else { return true };
        let is_lasting = |error: &DbError| !error.kind.breaks_session();
        if of_sessions.db_error.as_ref().is_some_and(is_lasting) {
            return true;
        }
        let mut now = Vec::new();
        let mut visit = |row: &dyn Row| {
            let of_session = row.text(0)?.to_owned();
            now.push((of_session, shortened(row.text(1)?), values(self.query, row, 2)));
            Ok(())
        };
        of_sessions.db_error = session.read(of_sessions.query.sql, &mut visit).err();
        match of_sessions.db_error {
            None => of_sessions.add(now),
            Some(_) => false,
        }
    }

    /// Prepares a report of the growth since the last report, if that was made at least
    /// [`SO_FAR_NS`] ago.
    fn tell(&mut self, at_ns: i64) {
        let (Some(told), Some(last)) = (&self.told, &self.last) else { return };
        if self.is_followed() && at_ns - told.at_ns >= SO_FAR_NS && last.at_ns == at_ns {
            self.so_far = Some(kept(self.query, told, last, ROWS_SO_FAR));
            self.told = Some(last.clone());
        }
    }

    /// Returns the growth of the summary over the load, and adds facts about what could not be
    /// read. `None` if there are fewer than two readings.
    fn end(&self, facts: &mut Vec<Fact>) -> Option<ServerSummary> {
        let mut say = |source: &str, text: String| {
            facts.push(Fact::new("monitor", source, text));
        };
        let first = self.first.as_ref();
        let is_later = |stand: &&Stand| first.is_some_and(|first| stand.at_ns > first.at_ns);
        let of_sessions = self.of_sessions.as_ref();
        // Sessions that count end with the load: what they did after the last reading is unknown.
        let counts_sessions = of_sessions.is_some_and(OfSessions::counts);
        let whole = self.whole.as_ref().filter(|_| counts_sessions).filter(is_later);
        let last = whole.or(self.last.as_ref()).filter(is_later);
        let summary = first.zip(last).map(|(first, last)| kept(self.query, first, last, ROWS_MAX));
        match (&self.db_error, &summary) {
            // A summary that a product or version lacks is not reported, unless it could be
            // enabled.
            (Some(error), _) if is_missing(error) => {}
            (Some(error), None) => say(self.query.source, format!("not read: {error}")),
            (Some(error), Some(read)) => {
                let seconds = read.to_ns as f64 / NS_PER_S as f64;
                say(self.query.source, format!("not read after {seconds:.1} s: {error}"));
            }
            (None, None) => {
                let why = "not read: the server did not answer twice in the measured phase; run \
                           longer";
                say(self.query.source, why.to_owned());
            }
            (None, Some(_)) => {}
        }
        let Some(sessions) = of_sessions else { return summary };
        if let Some(error) = sessions.db_error.as_ref().filter(|error| !is_missing(error)) {
            say(sessions.query.source, format!("not read: {error}"));
        }
        let n_gone = if whole.is_some() { sessions.n_gone_in_mid_run } else { sessions.n_gone };
        let n_while_there = sessions.n_readings_with_any;
        if !counts_sessions && n_gone > 0 && n_while_there < 2 {
            let text = format!("not read: {n_gone} ended before they were read twice; run longer");
            say(sessions.query.source, text);
        }
        if counts_sessions && n_gone > 0 {
            let text = format!(
                "{n_gone} ended in mid-run: what each did after it was read last is not counted"
            );
            say(sessions.query.source, text);
        }
        summary
    }
}

fn is_missing(error: &DbError) -> bool {
    error.kind == DbErrorKind::Missing
}

/// Returns the values of a result's row from the column with index `from` on, scaled to the units
/// of the summary's columns; 0 for a value that is not a number.
fn values(query: &SummaryQuery, row: &dyn Row, from: usize) -> Vec<f64> {
    let value = |(place, column): (usize, &SummaryColumn)| {
        number(&row.value(place)).unwrap_or(0.0) * column.scale
    };
    (from..).zip(query.columns).map(value).collect()
}

fn add(sums: &mut [f64], values: &[f64]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}

impl ServerSummaries {
    /// Creates the collector of summaries; `None` if the database has none.
    pub(crate) fn if_supported(
        database: Arc<dyn Database>,
        connect: Connect,
        canceller: Canceller,
    ) -> Option<ServerSummaries> {
        let queries = database.monitoring().summaries;
        let session = QuerySession::new(database, connect, canceller);
        (!queries.is_empty()).then(|| ServerSummaries {
            session,
            all: queries.iter().map(Summed::new).collect(),
            facts: Vec::new(),
        })
    }

    /// Adds a fact that a summary is incomplete: why (`how`), and the remedy. Adds none if there is
    /// such a fact already, or no remedy is known.
    fn say_why(&mut self, query: &SummaryQuery, how: &str) {
        let is_told = self.facts.iter().any(|fact| fact.name == query.source);
        // A summary that a product does not have at all is not reported.
        if is_told || query.remedy.is_empty() || (how == "missing" && query.why_empty.is_empty()) {
            return;
        }
        let mut told = None;
        if !query.why_empty.is_empty() {
            let mut visit = |row: &dyn Row| {
                if row.value(0) != Value::Null {
                    told = Some(row.text(0)?.to_owned());
                }
                Ok(())
            };
            // Without the right to query it, report how it is filled in general.
            let _ = self.session.read(query.why_empty, &mut visit);
        }
        let remedy = told.unwrap_or_else(|| query.remedy.to_owned());
        self.facts.push(Fact::new("monitor", query.source, format!("{how}. {remedy}")));
    }
}

/// Whether all statements in a summary only begin or end transactions.
fn has_control_alone(summary: &ServerSummary) -> bool {
    const CONTROL: [&str; 4] = ["BEGIN", "START TRANSACTION", "COMMIT", "ROLLBACK"];
    let is_control = |row: &SummaryRow| CONTROL.iter().any(|word| row.what.starts_with(word));
    summary.rows.iter().all(is_control)
}

/// Puts a statement's text into one line, and cuts it after [`LETTERS_MAX`] characters, with `…` in
/// place of the rest.
fn shortened(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(LETTERS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Returns the growth of each value since an earlier reading. The growth is counted from 0 if there
/// was none, or if any value fell, since all were reset then.
fn growth_of(before: Option<&[f64]>, now: &[f64]) -> Vec<f64> {
    match before.filter(|before| now.iter().zip(*before).all(|(now, before)| now >= before)) {
        Some(before) => now.iter().zip(before).map(|(now, before)| now - before).collect(),
        None => now.to_vec(),
    }
}

/// Returns, for each row of a summary in which a value grew, the key of the row and the growth of
/// all its values.
fn growth(before: &Stood, now: &Stood) -> Vec<(String, Vec<f64>)> {
    let grown = |(what, now): (&String, &Vec<f64>)| {
        let values = growth_of(before.get(what).map(Vec::as_slice), now);
        values.iter().any(|value| *value > 0.0).then(|| (what.clone(), values))
    };
    now.iter().filter_map(grown).collect()
}

/// Returns the growth of a summary between two readings: the `rows_max` rows whose time grew most,
/// and the sum of the others.
fn kept(query: &SummaryQuery, before: &Stand, now: &Stand, rows_max: usize) -> ServerSummary {
    let mut grown = growth(&before.stood, &now.stood);
    let by = query.columns.iter().position(|column| column.name == "time").unwrap_or(0);
    grown.sort_by(|a, b| b.1[by].total_cmp(&a.1[by]).then_with(|| a.0.cmp(&b.0)));
    let left = grown.split_off(grown.len().min(rows_max));
    let mut others = vec![0.0; query.columns.len()];
    for (_, values) in &left {
        others.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
    let row = |what, values| SummaryRow { state: None, what, values };
    let column = |column: &model::SummaryColumn| SummaryColumnKept {
        name: column.name.to_owned(),
        unit: column.unit.to_owned(),
    };
    ServerSummary {
        of: query.of,
        source: query.source.to_owned(),
        from_ns: before.at_ns,
        to_ns: now.at_ns,
        columns: query.columns.iter().map(column).collect(),
        rows: grown.into_iter().map(|(what, values)| row(what, values)).collect(),
        others: (!left.is_empty()).then(|| row(String::new(), others)),
    }
}

impl Collector for ServerSummaries {
    fn about(&self) -> String {
        "database".to_owned()
    }

    fn read(&mut self, readings: &mut Readings) {
        if readings.at_ns() >= 0 {
            for summed in &mut self.all {
                summed.read_if_due(&mut self.session, readings.at_ns());
            }
        }
    }

    fn so_far(&mut self) -> Vec<Event> {
        let told = self.all.iter_mut().filter_map(|summed| summed.so_far.take());
        told.map(Event::SummarySoFar).collect()
    }

    fn end(&mut self, at_ns: i64) -> Vec<Event> {
        let mut events = Vec::new();
        for index in 0..self.all.len() {
            if at_ns < 0 {
                break;
            }
            let summed = &mut self.all[index];
            if !summed.db_error.as_ref().is_some_and(is_missing) {
                summed.read(&mut self.session, at_ns);
            }
            let (query, summary) = (summed.query, summed.end(&mut self.facts));
            match &summary {
                None => self.say_why(query, "missing"),
                Some(grown) if grown.rows.is_empty() => self.say_why(query, "empty"),
                Some(grown) if query.of == SummaryOf::Statements && has_control_alone(grown) => {
                    self.say_why(query, "without the statements of transactions");
                }
                Some(_) => {}
            }
            let summary = summary.filter(|summary| !summary.rows.is_empty());
            events.extend(summary.map(Event::Summary));
        }
        events
    }

    fn facts(&self) -> Vec<Fact> {
        self.facts.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: SummaryQuery = SummaryQuery {
        of: SummaryOf::Waits,
        source: "view",
        sql: "",
        columns: &[
            SummaryColumn { name: "count", unit: "", scale: 1.0 },
            SummaryColumn { name: "time", unit: "s", scale: 1e-12 },
        ],
        remedy: "",
        of_sessions: None,
        why_empty: "",
    };

    fn stood(rows: &[(&str, f64, f64)]) -> Stood {
        rows.iter().map(|(what, count, time)| ((*what).to_owned(), vec![*count, *time])).collect()
    }

    fn stand(at_ns: i64, rows: &[(&str, f64, f64)]) -> Stand {
        Stand { at_ns, stood: Arc::new(stood(rows)) }
    }

    #[test]
    fn what_grew_most_in_time_comes_first_and_what_was_begun_anew_counts_whole() {
        let before = stand(0, &[("a", 10.0, 1.0), ("b", 5.0, 5.0), ("same", 3.0, 3.0)]);
        let now = stand(
            2_000_000_000,
            &[("a", 30.0, 2.0), ("b", 2.0, 0.5), ("same", 3.0, 3.0), ("new", 1.0, 9.0)],
        );
        let summary = kept(&QUERY, &before, &now, ROWS_MAX);
        let rows: Vec<(&str, &[f64])> =
            summary.rows.iter().map(|row| (row.what.as_str(), row.values.as_slice())).collect();
        let expected: [(&str, &[f64]); 3] =
            [("new", &[1.0, 9.0]), ("a", &[20.0, 1.0]), ("b", &[2.0, 0.5])];
        assert_eq!(rows, expected);
        assert_eq!((summary.total("time"), summary.seconds()), (Some(10.5), 2.0));
        assert_eq!(summary.others, None);
        assert_eq!(kept(&QUERY, &now, &now, ROWS_MAX).rows, []);
    }

    const OF_SESSIONS: SummaryQuery =
        SummaryQuery { of_sessions: Some(SessionsQuery { source: "sessions", sql: "" }), ..QUERY };

    /// Makes a summary with readings at these times (in nanoseconds), each with these statistics of
    /// single sessions.
    fn read(readings: &[(i64, &[(&str, f64)])]) -> Summed {
        let mut summed = Summed::new(&OF_SESSIONS);
        for (at_ns, sessions) in readings {
            let of_sessions = summed.of_sessions.as_mut().expect("it has some");
            let row = |(session, count): &(&str, f64)| {
                ((*session).to_owned(), "SELECT a".to_owned(), vec![*count, *count])
            };
            let is_whole = of_sessions.add(sessions.iter().map(row).collect());
            summed.stands(*at_ns, Stood::new(), is_whole);
        }
        summed
    }

    #[test]
    fn what_sessions_summed_up_is_of_the_time_until_they_end() {
        let mut facts = Vec::new();
        let s = NS_PER_S as i64;
        let all = read(&[
            (0, &[("1.1", 10.0)]),
            (s, &[("1.1", 12.0), ("2.1", 3.0)]),
            (2 * s, &[("1.1", 20.0), ("2.1", 5.0)]),
            // The load is over.
            (3 * s, &[("2.1", 6.0)]),
            (4 * s, &[]),
        ]);
        let summary = all.end(&mut facts).expect("it was read");
        assert_eq!((summary.total("count"), summary.to_ns), (Some(15.0), 2 * s));
        assert_eq!(facts, []);
    }

    #[test]
    fn what_sessions_did_that_ended_in_mid_run_is_kept_and_what_is_missing_is_reported() {
        let mut facts = Vec::new();
        let all = read(&[
            (0, &[("1.1", 10.0)]),
            (1, &[("1.1", 15.0)]),
            (2, &[("3.1", 4.0)]),
            (3, &[("3.1", 5.0)]),
            (4, &[]),
        ]);
        let summary = all.end(&mut facts).expect("it was read");
        assert_eq!((summary.total("count"), summary.to_ns), (Some(10.0), 3));
        let text = "1 ended in mid-run: what each did after it was read last is not counted";
        assert_eq!(facts, [Fact::new("monitor", "sessions", text)]);
    }

    #[test]
    fn sessions_that_ended_before_they_were_read_twice_are_reported() {
        let reasons = |readings: &[(i64, &[(&str, f64)])]| {
            let mut facts = Vec::new();
            read(readings).end(&mut facts);
            facts.iter().map(|fact| fact.value.to_string()).collect::<Vec<_>>()
        };
        let why = "not read: 1 ended before they were read twice; run longer";
        assert_eq!(reasons(&[(0, &[("1.1", 0.0)]), (3, &[])]), [why]);
        // A server that does not count per session.
        assert_eq!(reasons(&[(0, &[("1.1", 0.0)]), (1, &[("1.1", 0.0)]), (3, &[])]), [""; 0]);
    }

    #[test]
    fn a_server_that_does_not_answer_at_the_end_has_told_what_it_told_before_and_that_is_said() {
        let read = |n_readings: usize| {
            let mut summed = Summed::new(&QUERY);
            for at_ns in [0, 5].into_iter().take(n_readings) {
                summed.stands(at_ns, stood(&[("a", at_ns as f64, 0.0)]), true);
            }
            summed.db_error = Some(DbError::new(DbErrorKind::Cancelled, "cut off"));
            let mut facts = Vec::new();
            let summary = summed.end(&mut facts);
            (summary.and_then(|summary| summary.total("count")), facts[0].value.to_string())
        };
        assert_eq!(read(2), (Some(5.0), "not read after 0.0 s: cut off".to_owned()));
        assert_eq!(read(1), (None, "not read: cut off".to_owned()));
        assert_eq!(read(0), (None, "not read: cut off".to_owned()));
        let mut facts = Vec::new();
        assert_eq!(Summed::new(&QUERY).end(&mut facts), None);
        assert!(facts[0].value.to_string().contains("run longer"), "{facts:?}");
    }

    #[test]
    fn statements_and_waits_of_the_last_seconds_are_told_while_the_load_runs() {
        let mut summed = Summed::new(&QUERY);
        let s = NS_PER_S as i64;
        let mut told = Vec::new();
        for (at_ns, count) in [(0, 7.0), (2 * s, 8.0), (5 * s, 9.0), (10 * s, 13.0)] {
            summed.stands(at_ns, stood(&[("a", count, 0.0)]), true);
            summed.tell(at_ns);
            told.extend(
                summed.so_far.take().map(|summary| (summary.total("count"), summary.seconds())),
            );
        }
        assert_eq!(told, [(Some(2.0), 5.0), (Some(4.0), 5.0)]);
    }

    #[test]
    fn what_is_left_out_is_summed_up() {
        let many: Stood =
            (0..ROWS_MAX + 2).map(|n| (format!("{n:03}"), vec![1.0, n as f64])).collect();
        let now = Stand { at_ns: 1, stood: Arc::new(many) };
        let summary = kept(&QUERY, &stand(0, &[]), &now, ROWS_MAX);
        assert_eq!(summary.rows.len(), ROWS_MAX);
        assert_eq!(summary.others.map(|row| row.values), Some(vec![2.0, 1.0]));
    }

    #[test]
    fn a_list_of_commits_alone_has_no_statement_of_a_transaction() {
        let is_control_alone = |statements: &[&str]| {
            let rows: Vec<(&str, f64, f64)> =
                statements.iter().map(|text| (*text, 1.0, 1.0)).collect();
            has_control_alone(&kept(&QUERY, &stand(0, &[]), &stand(1, &rows), ROWS_MAX))
        };
        assert!(is_control_alone(&["COMMIT", "START TRANSACTION"]));
        assert!(!is_control_alone(&["COMMIT", "SELECT a FROM b"]));
    }

    #[test]
    fn a_statement_is_kept_in_one_line() {
        assert_eq!(shortened("SELECT\n  1\tFROM  t"), "SELECT 1 FROM t");
        let long = "é".repeat(LETTERS_MAX + 1);
        assert_eq!(shortened(&long).chars().count(), LETTERS_MAX + 1);
    }
}
