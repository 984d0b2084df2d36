//! Compares the results of a workload's queries in two databases, on every column.
//!
//! Rows are compared as sets, so rows that tie may come in any order. Of a query with a limit, rows
//! that tie with the last one may be any of the tied rows (TPC-H, clause 2.1.3.5). Not here: known
//! answers (check), and what the queries are (workloads).

use std::cmp::Ordering;
use std::sync::Arc;

use engine::Stop;
use model::{AnswerRow, CheckResult, ComparedQuery, CutOff, Database, DbError, Row, Workload};

use crate::admin_session::AdminSession;
use crate::error::Error;
use crate::interruptible::run_interruptible_with_progress;
use crate::open::Opened;

/// Largest number of differences of a query that are listed. The result also has their number.
const EXAMPLES: usize = 5;

/// Largest number of rows of a result, which are kept in memory to be sorted. The queries of
/// analytic tests return far fewer.
const ROWS_MAX: usize = 1_000_000;

/// A database with a workload whose parameters fit its data.
type Side = (Arc<dyn Database>, Arc<dyn Workload>);

/// Executes the queries of a workload in two databases, and returns a result for each with the
/// differences as examples. The error of a query counts as a difference. `doing` receives the id
/// and title of a query before it is executed. Fails if the databases have data of different sizes,
/// or if the workload has no queries to compare.
pub fn compare_answers(
    [ours, theirs]: [&Opened; 2],
    stop: &Arc<Stop>,
    doing: &mut dyn FnMut(&str),
) -> Result<Vec<CheckResult>, Error> {
    is_of_one_size([ours, theirs])?;
    let side = |opened: &Opened| (Arc::clone(&opened.database), Arc::clone(&opened.workload));
    let sides = [side(ours), side(theirs)];
    let word = Arc::clone(stop);
    run_interruptible_with_progress(
        stop,
        "interrupted while answers were compared",
        &mut |title: &String| doing(title),
        move |tell| compared(&sides, &|| word.is_asked(), &mut |title| tell(&title.to_owned())),
    )
}

/// Fails if a table has different numbers of rows in the two databases. The numbers are those that
/// follow from the parameters of each database's data.
fn is_of_one_size([ours, theirs]: [&Opened; 2]) -> Result<(), Error> {
    let rows = |opened: &Opened| {
        let population = opened.workload.population()?;
        let tables = 0..population.tables().len();
        Some(tables.map(|table| population.n_rows(table)).collect::<Vec<u64>>())
    };
    let scale = |opened: &Opened| {
        let scale = opened.workload.identity().scale;
        scale.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    };
    let scales = [ours, theirs].map(scale);
    match rows(ours) == rows(theirs) {
        true => Ok(()),
        false => Err(Error::Failed(format!(
            "the databases have data of different sizes ({}; {}), so their answers differ: compare \
             data of one scale",
            scales[0], scales[1]
        ))),
    }
}

fn compared(
    sides: &[Side; 2],
    is_stopped: &(dyn Fn() -> bool + Sync),
    doing: &mut dyn FnMut(&str),
) -> Result<Vec<CheckResult>, Error> {
    let [ours, theirs] = sides
        .each_ref()
        .map(|(database, workload)| workload.compared(database.dialect()).into_iter());
    if ours.len() == 0 {
        let why = "this workload has no queries whose answers are compared: leave out --against";
        return Err(Error::Usage(why.to_owned()));
    }
    let mut sessions =
        [AdminSession::at(sides[0].0.as_ref())?, AdminSession::at(sides[1].0.as_ref())?];
    let mut results = Vec::new();
    for (ours, theirs) in ours.zip(theirs) {
        doing(&format!("answer {} {}", ours.id, ours.title));
        let [here, there] = &mut sessions;
        let rows = [answer(here, &ours, is_stopped)?, answer(there, &theirs, is_stopped)?];
        let differences = match rows {
            [Ok(here), Ok(there)] => {
                let rows = [here, there];
                let share = ours.ratio_share;
                match tie_at_limit(&rows, ours.limit.as_ref()) {
                    Some(key) if !differences(rows.clone(), share).is_empty() => {
                        let all = [
                            tied(&mut sessions[0], &ours, &key, is_stopped)?,
                            tied(&mut sessions[1], &theirs, &key, is_stopped)?,
                        ];
                        differences_beside_tie(rows, all, &key, share)
                    }
                    _ => differences(rows, share),
                }
            }
            [here, there] => {
                let named = |name: &str, side: Result<Vec<AnswerRow>, DbError>| {
                    side.err().map(|error| format!("{name}: {error}"))
                };
                named("here", here).into_iter().chain(named("there", there)).collect()
            }
        };
        results.push(CheckResult {
            id: ours.id.to_owned(),
            title: ours.title.into_owned(),
            n_failed: differences.len() as u64,
            examples: differences.into_iter().take(EXAMPLES).collect(),
        });
    }
    Ok(results)
}

/// Returns the rows of a query's result, or the error of the query.
fn answer(
    session: &mut AdminSession,
    query: &ComparedQuery,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Result<Vec<AnswerRow>, DbError>, Error> {
    answer_to(session, query, &query.sql, &|_| true, is_stopped)
}

/// Returns those rows of the result of `sql`, which has the columns of `query`, for which
/// `is_wanted` returns true; or the error of the query.
fn answer_to(
    session: &mut AdminSession,
    query: &ComparedQuery,
    sql: &str,
    is_wanted: &dyn Fn(&AnswerRow) -> bool,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Result<Vec<AnswerRow>, DbError>, Error> {
    let (mut rows, mut n_rows) = (Vec::new(), 0);
    let mut visit = |row: &dyn Row| {
        let row = (query.read)(row)?;
        if is_wanted(&row) {
            n_rows += 1;
            if n_rows <= ROWS_MAX {
                rows.push(row);
            }
        }
        Ok(())
    };
    let asked = session.until(is_stopped, |session| session.read(sql, &mut visit));
    if is_stopped() {
        return Err(Error::Interrupted("interrupted while answers were compared".to_owned()));
    }
    match asked {
        Ok(_) if n_rows > ROWS_MAX => Err(Error::Failed(format!(
            "query {} returns {n_rows} rows; at most {ROWS_MAX} are compared",
            query.id
        ))),
        Ok(_) => Ok(Ok(rows)),
        Err(lost) if lost.kind.breaks_session() => {
            Err(lost.during(format!("query {}", query.id)).into())
        }
        Err(refused) => Ok(Err(refused)),
    }
}

/// Returns the sort key of the last row of both results, in the order in which they were returned,
/// if both have as many rows as the limit allows and the same key there: other rows may tie with
/// it. `None` otherwise.
fn tie_at_limit(rows: &[Vec<AnswerRow>; 2], limit: Option<&CutOff>) -> Option<String> {
    let limit = limit?;
    let [here, there] =
        rows.each_ref().map(|rows| rows.last().filter(|_| rows.len() == limit.rows));
    let (here, there) = (here?, there?);
    (here.sort_key == there.sort_key).then(|| here.sort_key.clone())
}

/// Returns all rows of a query, without its limit, that have the sort key `key`. If the database
/// refuses the query there are none, so that each tied row of its result counts as a difference.
fn tied(
    session: &mut AdminSession,
    query: &ComparedQuery,
    key: &str,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<AnswerRow>, Error> {
    let Some(limit) = &query.limit else { return Ok(Vec::new()) };
    let rows = answer_to(session, query, &limit.sql_of_all, &|row| row.sort_key == key, is_stopped);
    Ok(rows?.unwrap_or_default())
}

/// Returns the differences between two results whose last rows tie at the limit, with the sort key
/// `key`: those of all other rows, tied rows of which `all` has none in the same database, and
/// differences between `all`, which has the rows of both databases that tie.
fn differences_beside_tie(
    rows: [Vec<AnswerRow>; 2],
    all: [Vec<AnswerRow>; 2],
    key: &str,
    share: f64,
) -> Vec<String> {
    let is_before = |row: &AnswerRow| row.sort_key != key;
    let [(here, at_here), (there, at_there)] =
        rows.map(|rows| rows.into_iter().partition::<Vec<AnswerRow>, _>(is_before));
    let mut found = differences([here, there], share);
    let of_sides = [("here", at_here, &all[0]), ("there", at_there, &all[1])];
    for (side, at, all) in of_sides {
        let is_missing = |row: &&AnswerRow| !all.contains(row);
        let missing = at.iter().filter(is_missing);
        found.extend(missing.map(|row| format!("{side} only with the limit: {}", text(row))));
    }
    let among = differences(all, share).into_iter();
    found.extend(among.map(|words| format!("of the rows that tie at the limit, {words}")));
    found
}

/// Returns the differences between two results in words: rows that only one of them has, and ratios
/// that differ by more than `share`.
fn differences([mut here, mut there]: [Vec<AnswerRow>; 2], share: f64) -> Vec<String> {
    let order = |one: &AnswerRow, other: &AnswerRow| {
        let ratios = one.ratios.iter().zip(&other.ratios);
        let mut ratios = ratios.map(|(one, other)| one.total_cmp(other));
        let by_ratios = ratios.find(|order| order.is_ne()).unwrap_or(Ordering::Equal);
        one.exact.cmp(&other.exact).then(by_ratios)
    };
    here.sort_by(order);
    there.sort_by(order);
    let mut all = Vec::new();
    let (mut here, mut there) = (here.into_iter().peekable(), there.into_iter().peekable());
    loop {
        let order = match (here.peek(), there.peek()) {
            (None, None) => return all,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(one), Some(other)) => one.exact.cmp(&other.exact),
        };
        let ours = here.next_if(|_| order.is_le());
        let theirs = there.next_if(|_| order.is_ge());
        match (&ours, &theirs) {
            (Some(one), Some(other)) if are_near(&one.ratios, &other.ratios, share) => {}
            (Some(one), Some(other)) => all.push(format!(
                "ratios {:?} here and {:?} there, in the row {}",
                one.ratios,
                other.ratios,
                text(one)
            )),
            (Some(one), None) => all.push(format!("only here: {}", text(one))),
            (None, Some(other)) => all.push(format!("only there: {}", text(other))),
            (None, None) => return all,
        }
    }
}

fn text(row: &AnswerRow) -> &str {
    row.exact.trim_end_matches('|')
}

fn are_near(here: &[f64], there: &[f64], share: f64) -> bool {
    let is_near = |(one, other): (&f64, &f64)| (one - other).abs() <= share * other.abs();
    here.len() == there.len() && here.iter().zip(there).all(is_near)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(exact: &str, ratios: &[f64]) -> AnswerRow {
        AnswerRow { exact: exact.to_owned(), ratios: ratios.to_vec(), sort_key: String::new() }
    }

    fn check(here: &[AnswerRow], there: &[AnswerRow], expect: &[&str]) {
        assert_eq!(differences([here.to_vec(), there.to_vec()], 0.01), expect);
    }

    #[test]
    fn rows_are_compared_as_sets_and_ratios_up_to_their_rounding() {
        let (a, b) = (row("a|1|", &[1.0]), row("b|2|", &[200.0]));
        check(&[a.clone(), b.clone()], &[b.clone(), a.clone()], &[]);
        check(&[row("a|1|", &[1.009])], std::slice::from_ref(&a), &[]);
        let far = row("a|1|", &[1.02]);
        check(
            &[far],
            std::slice::from_ref(&a),
            &["ratios [1.02] here and [1.0] there, in the row a|1"],
        );
        // A tie has its row as often in both.
        let expect = ["only here: a|1"];
        check(&[a.clone(), a.clone(), b.clone()], &[a.clone(), b.clone()], &expect);
        let expect = ["only here: a|1", "only there: a|2"];
        check(&[a, b.clone()], &[row("a|2|", &[1.0]), b], &expect);
        check(&[], &[], &[]);
    }

    /// Rows of a query with a limit, each of its text and sort key.
    fn sorted(rows: &[(&str, &str)]) -> Vec<AnswerRow> {
        let to_row = |(text, key): &(&str, &str)| AnswerRow {
            sort_key: (*key).to_owned(),
            ..row(text, &[])
        };
        rows.iter().map(to_row).collect()
    }

    #[test]
    fn rows_that_tie_at_the_limit_may_be_any_of_those_that_tie() {
        let limit = CutOff { rows: 3, sql_of_all: String::new() };
        let here = sorted(&[("a", "9"), ("b", "8"), ("c", "7")]);
        let there = sorted(&[("a", "9"), ("b", "8"), ("d", "7")]);
        let key = tie_at_limit(&[here.clone(), there.clone()], Some(&limit));
        assert_eq!(key.as_deref(), Some("7"));
        let check = |here: &[AnswerRow], there: &[AnswerRow], all: [&[(&str, &str)]; 2]| {
            let rows = [here.to_vec(), there.to_vec()];
            differences_beside_tie(rows, all.map(sorted), "7", 0.01)
        };
        let tied = [("c", "7"), ("d", "7")];
        assert_eq!(check(&here, &there, [&tied, &[("d", "7"), ("c", "7")]]), [""; 0]);
        // A tie that one database has not.
        let missing = ["of the rows that tie at the limit, only here: c"];
        assert_eq!(check(&here, &there, [&tied, &[("d", "7")]]), missing);
        // A row that the database itself does not return without the limit.
        let wrong = sorted(&[("a", "9"), ("b", "8"), ("e", "7")]);
        let expect = ["there only with the limit: e"];
        assert_eq!(check(&here, &wrong, [&tied, &tied]), expect);
        // Rows before the tie have no choice.
        let before = sorted(&[("x", "9"), ("b", "8"), ("d", "7")]);
        assert_eq!(check(&here, &before, [&tied, &tied]), ["only here: a", "only there: x"]);
    }

    #[test]
    fn only_full_results_with_equal_ends_tie_at_the_limit() {
        let limit = CutOff { rows: 2, sql_of_all: String::new() };
        let tie = |here: &[(&str, &str)], there: &[(&str, &str)], limit: Option<&CutOff>| {
            tie_at_limit(&[sorted(here), sorted(there)], limit)
        };
        let (full, short) = ([("a", "9"), ("b", "8")], [("a", "9")]);
        assert_eq!(tie(&full, &full, Some(&limit)).as_deref(), Some("8"));
        // A row that is missing is a difference, and no tie.
        assert_eq!(tie(&full, &short, Some(&limit)), None);
        assert_eq!(tie(&full, &[("a", "9"), ("c", "7")], Some(&limit)), None);
        assert_eq!(tie(&full, &full, None), None);
        assert_eq!(tie(&[], &[], Some(&limit)), None);
    }
}
