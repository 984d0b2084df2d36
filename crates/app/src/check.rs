//! Runs a workload's consistency checks, which are queries that return the rows which violate a
//! rule, and compares results of its queries with known answers.

use std::fmt::Write as _;
use std::sync::Arc;

use engine::Stop;
use model::{Answer, CheckResult, ColumnType, Database, DbError, Row, Value, Workload};

use crate::admin_session::AdminSession;
use crate::error::Error;
use crate::interruptible::run_interruptible_with_progress;
use crate::storage_engine;

/// Largest number of violating rows that the result of a check keeps as examples. The result also
/// has the number of all violating rows.
const EXAMPLES: usize = 5;

/// Runs the consistency checks of `workload`, except those that cannot pass in the storage engine
/// of the tables, and returns a result for each. `doing` receives the id and title of a check
/// before it runs.
pub fn check(
    database: &dyn Database,
    workload: &dyn Workload,
    is_stopped: &(dyn Fn() -> bool + Sync),
    doing: &mut dyn FnMut(&str),
) -> Result<Vec<CheckResult>, Error> {
    let checks = storage_engine::checks(database, workload);
    let mut results = Vec::new();
    if checks.is_empty() {
        return Ok(results);
    }
    let mut session = AdminSession::at(database)?;
    for check in checks {
        doing(&format!("{} {}", check.id, check.title));
        let mut result = CheckResult {
            id: check.id.to_owned(),
            title: check.title.to_string(),
            n_failed: 0,
            examples: Vec::new(),
        };
        let mut visit = |row: &dyn Row| {
            result.n_failed += 1;
            if result.examples.len() < EXAMPLES {
                result.examples.push(name_row(row));
            }
            Ok(())
        };
        let asked = session.until(is_stopped, |session| session.read(&check.sql, &mut visit));
        if is_stopped() {
            let why = "interrupted while the data were checked".to_owned();
            return Err(Error::Interrupted(why));
        }
        asked.map_err(|db_error: DbError| db_error.during(format!("check {}", check.id)))?;
        results.push(result);
    }
    Ok(results)
}

/// Runs the consistency checks as [`check`] does, but returns early with `Error::Interrupted` when
/// a stop is requested.
pub fn check_interruptible(
    database: &Arc<dyn Database>,
    workload: &Arc<dyn Workload>,
    stop: &Arc<Stop>,
    doing: &mut dyn FnMut(&str),
) -> Result<Vec<CheckResult>, Error> {
    interruptible(database, workload, stop, doing, ("while the data were checked", check))
}

/// Function that compares the data of a workload with what they should be: [`check`] or
/// [`answers`].
type Comparison = fn(
    &dyn Database,
    &dyn Workload,
    &(dyn Fn() -> bool + Sync),
    &mut dyn FnMut(&str),
) -> Result<Vec<CheckResult>, Error>;

/// Runs a comparison in a thread of its own. When a stop is requested, returns early with
/// `Error::Interrupted`, whose text is `interrupted` and `during`.
fn interruptible(
    database: &Arc<dyn Database>,
    workload: &Arc<dyn Workload>,
    stop: &Arc<Stop>,
    doing: &mut dyn FnMut(&str),
    (during, compare): (&str, Comparison),
) -> Result<Vec<CheckResult>, Error> {
    let (database, workload) = (Arc::clone(database), Arc::clone(workload));
    let word = Arc::clone(stop);
    run_interruptible_with_progress(
        stop,
        &format!("interrupted {during}"),
        &mut |title: &String| doing(title),
        move |tell| {
            compare(database.as_ref(), workload.as_ref(), &|| word.is_asked(), &mut |title| {
                tell(&title.to_owned());
            })
        },
    )
}

/// Executes the queries of `workload` that have known answers, and returns a result for each, with
/// the differences as examples. The error of a query counts as a difference. `doing` receives the
/// id and title of a query before it is executed.
fn answers(
    database: &dyn Database,
    workload: &dyn Workload,
    is_stopped: &(dyn Fn() -> bool + Sync),
    doing: &mut dyn FnMut(&str),
) -> Result<Vec<CheckResult>, Error> {
    let answers = workload.answers(database.dialect());
    let mut results = Vec::new();
    if answers.is_empty() {
        return Ok(results);
    }
    let mut session = AdminSession::at(database)?;
    for Answer { id, title, sql, mut judge } in answers {
        doing(&format!("answer {id} {title}"));
        let mut visit = |row: &dyn Row| judge.take(row);
        let asked = session.until(is_stopped, |session| session.read(&sql, &mut visit));
        if is_stopped() {
            let why = "interrupted while answers were compared".to_owned();
            return Err(Error::Interrupted(why));
        }
        let differences = match asked {
            Ok(_) => judge.differences(),
            Err(lost) if lost.kind.breaks_session() => {
                return Err(lost.during(format!("query {id}")).into());
            }
            Err(db_error) => vec![db_error.to_string()],
        };
        results.push(CheckResult {
            id: id.to_owned(),
            title: title.into_owned(),
            n_failed: differences.len() as u64,
            examples: differences,
        });
    }
    Ok(results)
}

/// Result of comparing the answers of a workload's queries with known ones.
#[derive(Debug)]
pub enum Answers {
    /// The answers were compared, with a result for each query; empty if the workload has no known
    /// answers for these data.
    Compared(Vec<CheckResult>),
    /// The answers were not compared, for this reason.
    NotCompared(&'static str),
}

/// Compares results of the workload's queries with known answers; empty if no query has one.
/// Returns early with `Error::Interrupted` when a stop is requested.
pub fn answers_interruptible(
    database: &Arc<dyn Database>,
    workload: &Arc<dyn Workload>,
    stop: &Arc<Stop>,
    doing: &mut dyn FnMut(&str),
) -> Result<Answers, Error> {
    if let Some(why) = workload.answers_unknown() {
        return Ok(Answers::NotCompared(why));
    }
    if let Some((sql, why)) = workload.answers_changed() {
        let mut has_changed = false;
        AdminSession::at(database.as_ref())?.read(&sql, &mut |_: &dyn Row| {
            has_changed = true;
            Ok(())
        })?;
        if has_changed {
            return Ok(Answers::NotCompared(why));
        }
    }
    let during = "while answers were compared";
    interruptible(database, workload, stop, doing, (during, answers)).map(Answers::Compared)
}

/// Formats a row of a query's result as `w_id=1, w_ytd=30`.
fn name_row(row: &dyn Row) -> String {
    let mut text = String::new();
    for column in 0..row.width() {
        let comma = if column > 0 { ", " } else { "" };
        let _ = write!(text, "{comma}{}=", row.name(column));
        describe(row.value(column), &mut text);
    }
    text
}

/// Appends all values of a row to `text`, in the same form for every database.
pub(crate) fn describe_row(
    row: &dyn Row,
    columns: &[ColumnType],
    text: &mut String,
) -> Result<(), DbError> {
    for (column, column_type) in columns.iter().enumerate() {
        match (row.value(column), column_type) {
            (Value::Null, _) => describe(Value::Null, text),
            (_, ColumnType::Decimal { scale, .. }) => {
                describe(Value::Int(row.decimal(column, *scale)?), text);
            }
            // Some databases pad a CHAR value with blanks to the length of its column.
            (Value::Text(words), ColumnType::Char(_)) => text.push_str(words.trim_end_matches(' ')),
            (value, _) => describe(value, text),
        }
        text.push('|');
    }
    Ok(())
}

fn describe(value: Value<'_>, text: &mut String) {
    let _ = match value {
        Value::Null => write!(text, "null"),
        Value::Int(number) => write!(text, "{number}"),
        Value::Float(number) => write!(text, "{number}"),
        Value::Decimal { unscaled, .. } => write!(text, "{unscaled}"),
        Value::Text(words) => write!(text, "{words}"),
        Value::Bytes(bytes) => write!(text, "{bytes:02x?}"),
        Value::Timestamp(us) => write!(text, "{us}"),
        Value::Date(days) => write!(text, "{days}"),
    };
}
