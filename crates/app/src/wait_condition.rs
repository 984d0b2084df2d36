//! Waits for a condition before a trial (`--wait-until`): a query that is repeated until it returns
//! true.
//!
//! Not here: when to wait (trial_runner).

use std::sync::Arc;
use std::time::Duration;

use engine::Stop;
use model::{
    Condition, Database, Event, Finding, NS_PER_MS, Row, Severity, Value, format_duration,
    put_decimal, shown_value,
};
use monitor::wall_clock;

use crate::admin_session::AdminSession;
use crate::error::Error;
use crate::interruptible::run_interruptible_with_progress;
use crate::watcher::Watcher;

/// Interval between two executions of the query, in milliseconds.
const ASKED_EVERY_MS: u64 = 200;

/// Executes the condition's query until it returns true, or the time limit is reached. Returns what
/// happened as events for the run: a note, or a finding that the condition was not met.
pub(crate) fn wait_until(
    condition: &Condition,
    database: &Arc<dyn Database>,
    stop: &Stop,
    watcher: &mut dyn Watcher,
) -> Result<Vec<Event>, Error> {
    let (asked, database) = (condition.clone(), Arc::clone(database));
    let at_most = Duration::from_nanos(condition.at_most_ns);
    let mut hear = |shown: &String| watcher.doing(shown);
    let interrupted = "interrupted while waiting for a condition";
    let waited = run_interruptible_with_progress(stop, interrupted, &mut hear, move |tell| {
        let mut session = AdminSession::at(database.as_ref())?;
        let began = wall_clock::now();
        loop {
            let said = first_value(&mut session, &asked.sql)?;
            let took = began.elapsed();
            if said.as_deref().is_some_and(is_true) || took >= at_most {
                return Ok((said, took));
            }
            let said = said.as_deref().unwrap_or("nothing");
            tell(&format!("waiting until {} (now: {said})", asked.sql));
            wall_clock::rest_ms(ASKED_EVERY_MS);
        }
    });
    let (said, took) = waited?;
    let took = format_duration(took.as_millis() as u64 * NS_PER_MS);
    let sql = &condition.sql;
    if said.as_deref().is_some_and(is_true) {
        return Ok(vec![Event::Output { text: format!("waited {took} until {sql}") }]);
    }
    let said = said.unwrap_or_else(|| "nothing".to_owned());
    let text = format!(
        "The trial began after {took} of waiting although the condition was not \
                        met: {sql} returned {said}."
    );
    watcher.note(&text);
    let id = "condition_not_met";
    Ok(vec![Event::Finding(Finding::from_catalog(id, Severity::Warning, text))])
}

/// Executes a query and returns the first value of its first row as text; `None` for NULL or
/// without rows.
fn first_value(session: &mut AdminSession, sql: &str) -> Result<Option<String>, Error> {
    let mut first = None;
    let mut is_first = true;
    let asked = session.read(sql, &mut |row: &dyn Row| {
        if std::mem::take(&mut is_first) && row.width() > 0 {
            first = match row.value(0) {
                Value::Null => None,
                Value::Int(value) | Value::Timestamp(value) => Some(value.to_string()),
                Value::Date(_) => Some(shown_value(&row.value(0)).trim_matches('\'').to_owned()),
                Value::Float(value) => Some(value.to_string()),
                Value::Decimal { unscaled, scale } => {
                    let mut digits = Vec::new();
                    put_decimal(&mut digits, unscaled, scale);
                    Some(String::from_utf8_lossy(&digits).into_owned())
                }
                Value::Text(_) | Value::Bytes(_) => Some(row.text(0)?.to_owned()),
            };
        }
        Ok(())
    });
    match asked {
        Ok(_) => Ok(first),
        Err(db_error) if db_error.kind.breaks_session() => Err(db_error.into()),
        Err(db_error) => Err(Error::Usage(format!("--wait-until: {db_error}"))),
    }
}

/// Returns true if a value that the condition's query returns means true: `t`, `true`, `yes`, `on`,
/// or a number other than 0.
fn is_true(said: &str) -> bool {
    let said = said.trim().to_ascii_lowercase();
    let is_number = said.parse::<f64>().is_ok_and(|number| number != 0.0);
    is_number || matches!(said.as_str(), "t" | "true" | "yes" | "on")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_is_a_word_of_truth_or_a_number_but_zero() {
        for said in ["t", "TRUE", "on", "yes", "1", "-3", "0.5"] {
            assert!(is_true(said), "{said}");
        }
        for said in ["f", "0", "0.0", "", "off", "Sleep"] {
            assert!(!is_true(said), "{said}");
        }
    }
}
