//! Marks a database as used by a run, so that runs with another store or on other machines notice
//! that both commit there: in a row of `dbdyno_meta`, or, if the database is a file, in a separate
//! file in the same folder. The mark is no lock: a killed run leaves it, and it counts until the
//! planned end of that run's load.
//!
//! Not here: tables without `dbdyno_meta` (presence), and runs in the same store (others).

use std::sync::Arc;
use std::time::Duration;

use model::{Database, Event, Fact, NS_PER_MS, Plan};
use monitor::wall_clock;

use super::member::{LoadEnded, RunMember, RunUnderWay};
use super::others::runs_meanwhile;
use super::presence::counts_commits;
use crate::admin_session::AdminSession;
use crate::error::Error;
use crate::interruptible::run_interruptible;
use crate::meta;

/// Assumed duration of a load that ends after a number of transactions, from which the planned end
/// in the run's mark in the database is computed.
const WITHOUT_END: Duration = Duration::from_secs(3600);
/// Time added to the planned end in a run's mark in the database, for checks and counts before and
/// after the load and for clocks that differ.
const AROUND: Duration = Duration::from_secs(60);
/// Time for which a run's mark stays in the database after the end of the run; later, another run
/// removes it.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// [`RunMember`] (step of a run) that leaves a mark in the database for other runs before the load,
/// and reports after it which other runs used the database in the meantime.
#[derive(Default)]
pub(super) struct Mark {
    /// Beginning of this run according to its mark in the database, in milliseconds since 1970;
    /// `None` without a mark.
    began_ms: Option<u64>,
}

impl RunMember for Mark {
    fn before(&mut self, run: &mut RunUnderWay<'_, '_>) -> Result<(), Error> {
        let began_ms = wall_clock::unix_ms() as u64;
        let until_ms = began_ms + load_ms(run.plan) + AROUND.as_millis() as u64;
        // No run should fail for lack of a mark.
        let marked = exchange(run, Span { began_ms, until_ms }).ok().flatten();
        self.began_ms = marked.map(|_| began_ms);
        Ok(())
    }

    fn not_begun(&mut self, run: &mut RunUnderWay<'_, '_>) {
        // The planned end would make later runs take this one for another that commits.
        if let Some(began_ms) = self.began_ms {
            let until_ms = wall_clock::unix_ms() as u64;
            let _ = exchange(run, Span { began_ms, until_ms });
        }
    }

    fn after(&mut self, run: &mut RunUnderWay<'_, '_>, _load: &LoadEnded) {
        let marked = self.began_ms.and_then(|began_ms| others_since(run, began_ms));
        let others = runs_meanwhile(run.plan, run.options, &run.sink.tally).or(marked);
        others.into_iter().for_each(|fact| run.sink.tell(Event::Fact(fact)));
    }
}

/// Time during which a run uses a database, in milliseconds since 1970. While the run goes on, the
/// end is the planned one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    began_ms: u64,
    until_ms: u64,
}

impl Span {
    fn read(text: &str) -> Option<Span> {
        let (began_ms, until_ms) = text.split_once(' ')?;
        Some(Span { began_ms: began_ms.parse().ok()?, until_ms: until_ms.parse().ok()? })
    }

    fn text(self) -> String {
        format!("{} {}", self.began_ms, self.until_ms)
    }
}

/// Writes the actual end of this run into its mark in the database. Returns a fact with the other
/// runs that overlapped with it; `None` if there were none.
fn others_since(run: &RunUnderWay<'_, '_>, began_ms: u64) -> Option<Fact> {
    let until_ms = wall_clock::unix_ms() as u64;
    let all = exchange(run, Span { began_ms, until_ms }).ok().flatten().unwrap_or_default();
    let ours = id_of(run);
    let is_other = |(name, span): &(String, Span)| {
        *name != ours && span.until_ms >= began_ms && span.began_ms <= until_ms
    };
    let others: Vec<String> = all.into_iter().filter(is_other).map(|(run, _)| run).collect();
    (!others.is_empty()).then(|| Fact::new("commits", "runs_meanwhile", others.join("; ")))
}

fn id_of(run: &RunUnderWay<'_, '_>) -> String {
    run.sink.tally.run.as_ref().map_or_else(String::new, |run| run.0.clone())
}

/// Writes this run's mark into the database, in place of an earlier one, and reads those of all
/// runs. `None` if there is no place for marks, or no workload counts its commits in its tables.
fn exchange(run: &RunUnderWay<'_, '_>, span: Span) -> Result<Option<Vec<(String, Span)>>, Error> {
    let Some(opened) = run.groups.iter().find(|opened| counts_commits(opened)) else {
        return Ok(None);
    };
    let (name, value) = (id_of(run), span.text());
    if let Some(marker) = &run.context.presence.marker {
        let all = marker.exchange(&name, &value).map_err(|no| Error::Failed(no.to_string()))?;
        return Ok(Some(spans(all)));
    }
    if opened.database.administration().is_in_process {
        return Ok(None);
    }
    let database = Arc::clone(&opened.database);
    let interrupted = "interrupted while other runs were looked for";
    let all = run_interruptible(run.stop, interrupted, move || {
        exchange_in(database.as_ref(), &name, &value, span)
    });
    all.map(Some)
}

/// Writes the mark `value` of the run `name` into `dbdyno_meta`, reads those of all runs, and
/// removes those that ended a week or longer before `span` begins.
fn exchange_in(
    database: &dyn Database,
    name: &str,
    value: &str,
    span: Span,
) -> Result<Vec<(String, Span)>, Error> {
    let mut session = AdminSession::at(database)?;
    meta::mark_run(&mut session, name, value)?;
    let all = spans(meta::marked_runs(&mut session)?);
    for (name, old) in &all {
        if old.until_ms + (KEPT.as_millis() as u64) < span.began_ms {
            meta::unmark_run(&mut session, name)?;
        }
    }
    Ok(all)
}

/// Parses the texts of runs' marks in the database; a text that is not readable is left out.
fn spans(all: Vec<(String, String)>) -> Vec<(String, Span)> {
    let read = |(run, value): (String, String)| Some((run, Span::read(&value)?));
    all.into_iter().filter_map(read).collect()
}

/// Returns the planned duration of the load with ramp-up and drain, in milliseconds.
fn load_ms(plan: &Plan) -> u64 {
    let phases = &plan.phases;
    match phases.measure_ns {
        0 => WITHOUT_END.as_millis() as u64,
        measure_ns => (phases.ramp_up_ns + measure_ns + phases.drain_ns) / NS_PER_MS,
    }
}
