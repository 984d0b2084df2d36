//! Marks a database as used by a run, in a row of `dbdyno_meta`, so that runs on other machines
//! notice that both commit there. The mark is no lock: a killed run leaves it, and it counts until
//! the planned end of that run's load.
//!
//! Not here: databases that are files (run_marker), and runs in the same store (others).

use std::sync::Arc;
use std::time::Duration;

use engine::Stop;
use model::{Database, Event, Fact, NS_PER_MS, Plan};
use monitor::wall_clock;

use super::member::{LoadEnded, RunMember, RunUnderWay};
use super::others::runs_meanwhile;
use crate::admin_session::AdminSession;
use crate::error::Error;
use crate::interruptible::run_interruptible;
use crate::meta;
use crate::open::Opened;
use crate::storage_engine;

/// Assumed duration of a load that ends after a number of transactions.
const WITHOUT_END: Duration = Duration::from_secs(3600);
/// Time added to the planned end of a run, for checks and counts around the load and for different
/// clocks.
const AROUND: Duration = Duration::from_secs(60);
/// Time for which a run's mark stays in the database after the end of the run.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// [`RunMember`] that leaves a mark in the database for other runs before the load, and reports
/// after it which other runs used the database in the meantime.
#[derive(Default)]
pub(super) struct Mark {
    mark: Option<DatabaseMark>,
}

impl RunMember for Mark {
    fn before(&mut self, run: &mut RunUnderWay<'_, '_>) -> Result<(), Error> {
        let id = run.sink.tally.run.as_ref().map_or("", |run| &run.0);
        self.mark = DatabaseMark::begin(run.plan, run.groups, id, run.stop);
        Ok(())
    }

    fn after(&mut self, run: &mut RunUnderWay<'_, '_>, _load: &LoadEnded) {
        let marked = self.mark.take().and_then(|mark| mark.end(run.stop));
        let others = runs_meanwhile(run.plan, run.options, &run.sink.tally).or(marked);
        others.into_iter().for_each(|fact| run.sink.tell(Event::Fact(fact)));
    }
}

/// Mark of this run in the database, set before the first count of commits and ended after the
/// last.
struct DatabaseMark {
    database: Arc<dyn Database>,
    run: String,
    began_ms: u64,
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

impl DatabaseMark {
    /// Leaves this run's mark in the database if a workload counts commits in its tables, which
    /// other runs would change too. `None` if no workload does, or the mark cannot be written,
    /// since no run should fail for lack of a mark.
    fn begin(plan: &Plan, groups: &[Opened], run: &str, stop: &Stop) -> Option<DatabaseMark> {
        let is_counted = |opened: &Opened| {
            storage_engine::crosscheck(opened.database.as_ref(), opened.workload.as_ref()).is_some()
        };
        let opened = groups.iter().find(|opened| is_counted(opened))?;
        if opened.database.administration().is_in_process {
            return None;
        }
        let began_ms = wall_clock::unix_ms() as u64;
        let until_ms = began_ms + load_ms(plan) + AROUND.as_millis() as u64;
        let database = Arc::clone(&opened.database);
        let mark = DatabaseMark { database: Arc::clone(&database), run: run.to_owned(), began_ms };
        let (run, value) = (mark.run.clone(), Span { began_ms, until_ms }.text());
        let marked = run_interruptible(stop, "interrupted before the run began", move || {
            let mut session = AdminSession::at(database.as_ref())?;
            for (name, span) in spans(&mut session)? {
                if span.until_ms + (KEPT.as_millis() as u64) < began_ms {
                    meta::unmark_run(&mut session, &name)?;
                }
            }
            Ok(meta::mark_run(&mut session, &run, &value)?)
        });
        marked.ok().map(|()| mark)
    }

    /// Writes the actual end of this run into its mark. Returns a fact with the other runs that
    /// overlapped with it; `None` if there were none.
    fn end(self, stop: &Stop) -> Option<Fact> {
        let others = run_interruptible(stop, "interrupted while runs were looked for", move || {
            let mut session = AdminSession::at(self.database.as_ref())?;
            let until_ms = wall_clock::unix_ms() as u64;
            let value = Span { began_ms: self.began_ms, until_ms }.text();
            meta::mark_run(&mut session, &self.run, &value)?;
            let all = spans(&mut session)?;
            let is_other = |(run, span): &(String, Span)| {
                *run != self.run && span.until_ms >= self.began_ms && span.began_ms <= until_ms
            };
            Ok(all.into_iter().filter(is_other).map(|(run, _)| run).collect::<Vec<_>>())
        });
        let others = others.unwrap_or_default();
        (!others.is_empty()).then(|| Fact::new("commits", "runs_meanwhile", others.join("; ")))
    }
}

fn spans(session: &mut AdminSession) -> Result<Vec<(String, Span)>, Error> {
    let all = meta::marked_runs(session)?.into_iter();
    Ok(all.filter_map(|(run, value)| Some((run, Span::read(&value)?))).collect())
}

/// Planned duration of the load with ramp-up and drain, in milliseconds.
fn load_ms(plan: &Plan) -> u64 {
    let phases = &plan.phases;
    match phases.measure_ns {
        0 => WITHOUT_END.as_millis() as u64,
        measure_ns => (phases.ramp_up_ns + measure_ns + phases.drain_ns) / NS_PER_MS,
    }
}
