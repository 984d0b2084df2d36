//! Compares the results of a workload's queries in two databases, on every column.
//!
//! Rows are compared as sets, so rows that tie may come in any order. Not here: known answers
//! (check), and what the queries are (workloads).

use std::cmp::Ordering;
use std::sync::Arc;

use engine::Stop;
use model::{AnswerRow, CheckResult, ComparedQuery, Database, DbError, Row, Workload};

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
            [Ok(here), Ok(there)] => differences([here, there], ours.ratio_share),
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
    let (mut rows, mut n_rows) = (Vec::new(), 0);
    let mut visit = |row: &dyn Row| {
        n_rows += 1;
        if n_rows <= ROWS_MAX {
            rows.push((query.read)(row)?);
        }
        Ok(())
    };
    let asked = session.until(is_stopped, |session| session.read(&query.sql, &mut visit));
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
        let text = |row: &AnswerRow| row.exact.trim_end_matches('|').to_owned();
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

fn are_near(here: &[f64], there: &[f64], share: f64) -> bool {
    let is_near = |(one, other): (&f64, &f64)| (one - other).abs() <= share * other.abs();
    here.len() == there.len() && here.iter().zip(there).all(is_near)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(exact: &str, ratios: &[f64]) -> AnswerRow {
        AnswerRow { exact: exact.to_owned(), ratios: ratios.to_vec() }
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
}
