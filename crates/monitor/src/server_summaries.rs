//! What a server sums up by itself: read when the measured phase begins and when the load is over;
//! what is kept is by how much it grew.
//!
//! Not here: which summaries there are (drivers).

use std::collections::HashMap;
use std::sync::Arc;

use model::{
    Database, DbErrorKind, Event, Fact, Row, ServerSummary, SummaryColumnKept, SummaryOf,
    SummaryQuery, SummaryRow, Value,
};

use crate::collector::Collector;
use crate::query_session::{Canceller, Connect, QuerySession, number};
use crate::readings::Readings;

/// Rows that are kept of a summary.
const ROWS_MAX: usize = 40;

/// Of a statement, so many letters are kept.
const LETTERS_MAX: usize = 400;

/// What each row stood at, by what it is of.
type Stood = HashMap<String, Vec<f64>>;

/// The summaries of a server.
pub(crate) struct ServerSummaries {
    session: QuerySession,
    queries: &'static [SummaryQuery],
    /// When they were read first, and what they stood at; none for those that cannot be read.
    first: Option<(i64, Vec<Option<Stood>>)>,
    facts: Vec<Fact>,
}

impl ServerSummaries {
    /// None where a database sums up nothing.
    pub(crate) fn of(
        database: Arc<dyn Database>,
        connect: Connect,
        canceller: Canceller,
    ) -> Option<ServerSummaries> {
        let queries = database.monitoring().summaries;
        let session = QuerySession::new(database, connect, canceller);
        (!queries.is_empty()).then_some(ServerSummaries {
            session,
            queries,
            first: None,
            facts: Vec::new(),
        })
    }

    /// Reports how to fill a summary, unless the reason why it could not be read is reported.
    fn say_why(&mut self, query: &SummaryQuery, how: &str) {
        let is_told = self.facts.iter().any(|fact| fact.name == query.source);
        // What a product does not have at all is nothing to tell.
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
            // Who may not ask learns what fills it in general.
            let _ = self.session.read(query.why_empty, &mut visit);
        }
        let remedy = told.unwrap_or_else(|| query.remedy.to_owned());
        self.facts.push(Fact::new("monitor", query.source, format!("{how}. {remedy}")));
    }

    fn stand(&mut self) -> Vec<Option<Stood>> {
        let mut all = Vec::new();
        for query in self.queries {
            let mut stood = Stood::new();
            let mut visit = |row: &dyn Row| {
                let what = shortened(row.text(0)?);
                let values = stood.entry(what).or_insert_with(|| vec![0.0; query.columns.len()]);
                for (place, column) in query.columns.iter().enumerate() {
                    let value = number(&row.value(place + 1)).unwrap_or(0.0);
                    values[place] += value * column.scale;
                }
                Ok(())
            };
            let read = self.session.read(query.sql, &mut visit);
            let not_read = |why: &str| Fact::new("monitor", query.source, why.to_owned());
            match read {
                Ok(()) => all.push(Some(stood)),
                Err(db_error) => {
                    // What a product or version has not is nothing to tell, but for what it could
                    // have.
                    let is_missing = db_error.kind == DbErrorKind::Missing;
                    if !is_missing {
                        self.facts.push(not_read(&format!("not read: {db_error}")));
                    }
                    all.push(None);
                }
            }
        }
        all
    }
}

/// Whether all statements only begin and end transactions.
fn has_control_alone(summary: &ServerSummary) -> bool {
    const CONTROL: [&str; 4] = ["BEGIN", "START TRANSACTION", "COMMIT", "ROLLBACK"];
    let is_control = |row: &SummaryRow| CONTROL.iter().any(|word| row.what.starts_with(word));
    summary.rows.iter().all(is_control)
}

/// A statement in one line.
fn shortened(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(LETTERS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// By how much each row grew. One that fell was begun again.
fn growth(before: &Stood, now: Stood) -> Vec<(String, Vec<f64>)> {
    let grown = |(what, now): (String, Vec<f64>)| {
        let before = before.get(&what);
        let is_anew = before.is_some_and(|before| now.iter().zip(before).any(|(n, b)| n < b));
        let values: Vec<f64> = match before.filter(|_| !is_anew) {
            Some(before) => now.iter().zip(before).map(|(now, before)| now - before).collect(),
            None => now,
        };
        values.iter().any(|value| *value > 0.0).then_some((what, values))
    };
    now.into_iter().filter_map(grown).collect()
}

/// What is kept of a summary; none where nothing grew.
fn kept(
    query: &SummaryQuery,
    mut grown: Vec<(String, Vec<f64>)>,
    [from_ns, to_ns]: [i64; 2],
) -> Option<ServerSummary> {
    let by = query.columns.iter().position(|column| column.name == "time").unwrap_or(0);
    grown.sort_by(|a, b| b.1[by].total_cmp(&a.1[by]).then_with(|| a.0.cmp(&b.0)));
    let left = grown.split_off(grown.len().min(ROWS_MAX));
    let mut others = vec![0.0; query.columns.len()];
    for (_, values) in &left {
        others.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
    let row = |what, values| SummaryRow { state: None, what, values };
    let column = |column: &model::SummaryColumn| SummaryColumnKept {
        name: column.name.to_owned(),
        unit: column.unit.to_owned(),
    };
    (!grown.is_empty()).then(|| ServerSummary {
        of: query.of,
        source: query.source.to_owned(),
        from_ns,
        to_ns,
        columns: query.columns.iter().map(column).collect(),
        rows: grown.into_iter().map(|(what, values)| row(what, values)).collect(),
        others: (!left.is_empty()).then(|| row(String::new(), others)),
    })
}

impl Collector for ServerSummaries {
    fn about(&self) -> String {
        "database".to_owned()
    }

    fn read(&mut self, readings: &mut Readings) {
        if self.first.is_none() && readings.at_ns() >= 0 {
            let stood = self.stand();
            self.first = Some((readings.at_ns(), stood));
        }
    }

    fn end(&mut self, at_ns: i64) -> Vec<Event> {
        let Some((from_ns, before)) = self.first.take() else { return Vec::new() };
        self.facts.clear();
        let now = self.stand();
        let mut events = Vec::new();
        for ((query, before), now) in self.queries.iter().zip(before).zip(now) {
            let (Some(before), Some(now)) = (before, now) else {
                self.say_why(query, "missing");
                continue;
            };
            let summary = kept(query, growth(&before, now), [from_ns, at_ns]);
            match &summary {
                None => self.say_why(query, "empty"),
                Some(of) if query.of == SummaryOf::Statements && has_control_alone(of) => {
                    self.say_why(query, "without the statements of transactions");
                }
                Some(_) => {}
            }
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
    use model::SummaryColumn;

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
        why_empty: "",
    };

    fn stood(rows: &[(&str, f64, f64)]) -> Stood {
        rows.iter().map(|(what, count, time)| ((*what).to_owned(), vec![*count, *time])).collect()
    }

    #[test]
    fn what_grew_most_in_time_comes_first_and_what_was_begun_anew_counts_whole() {
        let before = stood(&[("a", 10.0, 1.0), ("b", 5.0, 5.0), ("same", 3.0, 3.0)]);
        let now =
            stood(&[("a", 30.0, 2.0), ("b", 2.0, 0.5), ("same", 3.0, 3.0), ("new", 1.0, 9.0)]);
        let summary = kept(&QUERY, growth(&before, now), [0, 2_000_000_000]).expect("it grew");
        let rows: Vec<(&str, &[f64])> =
            summary.rows.iter().map(|row| (row.what.as_str(), row.values.as_slice())).collect();
        let expected: [(&str, &[f64]); 3] =
            [("new", &[1.0, 9.0]), ("a", &[20.0, 1.0]), ("b", &[2.0, 0.5])];
        assert_eq!(rows, expected);
        assert_eq!((summary.total("time"), summary.seconds()), (Some(10.5), 2.0));
        assert_eq!(summary.others, None);
        assert_eq!(kept(&QUERY, Vec::new(), [0, 1]), None);
    }

    #[test]
    fn what_is_left_out_is_summed_up() {
        let many: Vec<(String, Vec<f64>)> =
            (0..ROWS_MAX + 2).map(|n| (format!("{n:03}"), vec![1.0, n as f64])).collect();
        let summary = kept(&QUERY, many, [0, 1]).expect("it grew");
        assert_eq!(summary.rows.len(), ROWS_MAX);
        assert_eq!(summary.others.map(|row| row.values), Some(vec![2.0, 1.0]));
    }

    #[test]
    fn a_list_of_commits_alone_has_no_statement_of_a_transaction() {
        let of = |statements: &[&str]| {
            let rows: Vec<(&str, f64, f64)> = statements.iter().map(|of| (*of, 1.0, 1.0)).collect();
            let grown = stood(&rows).into_iter().collect();
            has_control_alone(&kept(&QUERY, grown, [0, 1]).expect("it grew"))
        };
        assert!(of(&["COMMIT", "START TRANSACTION"]));
        assert!(!of(&["COMMIT", "SELECT a FROM b"]));
    }

    #[test]
    fn a_statement_is_kept_in_one_line() {
        assert_eq!(shortened("SELECT\n  1\tFROM  t"), "SELECT 1 FROM t");
        let long = "é".repeat(LETTERS_MAX + 1);
        assert_eq!(shortened(&long).chars().count(), LETTERS_MAX + 1);
    }
}
