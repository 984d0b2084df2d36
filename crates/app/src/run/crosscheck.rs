//! Steps of a run (run members) that compare the number of commits according to the database and
//! its server with dbdyno's own, and that detect restarts. Not here: reading a server's counter
//! (commit_crosscheck).

use std::sync::Arc;
use std::time::Instant;

use analysis::findings::counts_all_commits;
use engine::Stop;
use model::{Action, Crosscheck, Disturbance, Event, Fact, Plan};
use monitor::wall_clock;

use super::member::{LoadEnded, RunMember, RunUnderWay};
use super::sink::RunSink;
use crate::admin_session::AdminSession;
use crate::error::Error;
use crate::finding::not_made;
use crate::group_target::is_divided;
use crate::interruptible::run_interruptible;
use crate::open::Opened;
use crate::{commit_crosscheck, storage_engine};

/// Query that reads a value in a workload's tables that grows with each commit, and the value
/// itself, for each group; `None` if its workload has no such value.
type OwnCounts = Vec<Option<(Crosscheck, i64)>>;

/// [`RunMember`] that checks dbdyno's number of commits by a value in the workload's tables that
/// grows with each commit, such as a number of rows.
#[derive(Default)]
pub(super) struct OwnCount {
    before: OwnCounts,
}

impl RunMember for OwnCount {
    fn before(&mut self, run: &mut RunUnderWay<'_, '_>) -> Result<(), Error> {
        self.before = counts_in(run.groups, run.stop)?;
        Ok(())
    }

    fn after(&mut self, run: &mut RunUnderWay<'_, '_>, _load: &LoadEnded) {
        match counts_in(run.groups, run.stop) {
            Ok(after) => crosscheck(&self.before, &after, run.sink),
            Err(error) => {
                let text = format!("The database's own count of commits is not known: {error}.");
                run.sink.tell(not_made("crosscheck_not_run", text));
            }
        }
    }

    fn unanswered(&mut self, run: &mut RunUnderWay<'_, '_>, silence: &str) {
        let text =
            format!("Commits, settings and start time were not read after the load: {silence}.");
        run.sink.tell(not_made("crosscheck_not_run", text));
    }
}

/// [`RunMember`] that checks dbdyno's number of commits by the growth of the server's own commit
/// counter during the load.
#[derive(Default)]
pub(super) struct ServerCommits {
    before: Option<i64>,
}

impl RunMember for ServerCommits {
    fn before(&mut self, run: &mut RunUnderWay<'_, '_>) -> Result<(), Error> {
        self.before = commits_before(run.plan, run.groups, run.stop);
        Ok(())
    }

    fn after(&mut self, run: &mut RunUnderWay<'_, '_>, _load: &LoadEnded) {
        compare_commits(run.groups, run.stop, self.before, run.sink);
    }
}

/// [`RunMember`] that reports whether the server was restarted between the beginning and the end of
/// the load, according to its uptime.
#[derive(Default)]
pub(super) struct Restarts {
    began: Option<Instant>,
}

impl RunMember for Restarts {
    fn before(&mut self, _run: &mut RunUnderWay<'_, '_>) -> Result<(), Error> {
        self.began = Some(wall_clock::now());
        Ok(())
    }

    fn after(&mut self, run: &mut RunUnderWay<'_, '_>, _load: &LoadEnded) {
        let fact = self.began.and_then(|began| restarted(run.groups, run.stop, began));
        fact.into_iter().for_each(|fact| run.sink.tell(Event::Fact(fact)));
    }
}

fn counts_in(groups: &[Opened], stop: &Stop) -> Result<OwnCounts, Error> {
    let groups = groups.to_vec();
    run_interruptible(stop, "interrupted while commits were counted", move || count_all(&groups))
}

fn count_all(groups: &[Opened]) -> Result<OwnCounts, Error> {
    let count = |opened: &Opened| -> Result<Option<(Crosscheck, i64)>, Error> {
        let (database, workload) = (opened.database.as_ref(), opened.workload.as_ref());
        let Some(crosscheck) = storage_engine::crosscheck(database, workload) else {
            return Ok(None);
        };
        let number = AdminSession::at(database)?.number(&crosscheck.sql)?;
        Ok(number.map(|number| (crosscheck, number)))
    };
    groups.iter().map(count).collect()
}

/// Reads the server's commit counter before the load. `None` if it cannot be read, if a disturbance
/// adds or removes servers, or if clients use several, since each server counts by itself.
fn commits_before(plan: &Plan, groups: &[Opened], stop: &Stop) -> Option<i64> {
    let moves = |one: &Disturbance| matches!(one.action, Action::Join | Action::Hosts { .. });
    let is_apart = plan.disturbances.iter().any(moves) || is_divided(groups);
    if is_apart { None } else { commits_counted(groups, stop, None) }
}

/// Reads the server's commit counter; `None` if it cannot be read. With `load`, the counter's value
/// before the load and dbdyno's number of commits, waits at most two seconds until the counter has
/// grown by that number.
fn commits_counted(groups: &[Opened], stop: &Stop, load: Option<(i64, u64)>) -> Option<i64> {
    let database = Arc::clone(&groups.first()?.database);
    let interrupted = "interrupted while commits were counted";
    let counted = run_interruptible(stop, interrupted, move || match load {
        None => commit_crosscheck::read(database.as_ref()),
        Some((before, ours)) => {
            commit_crosscheck::read_settled(database.as_ref(), Some(before), ours)
        }
    });
    counted.ok().flatten()
}

fn compare_commits(groups: &[Opened], stop: &Stop, before: Option<i64>, sink: &mut RunSink<'_>) {
    let counter = groups.first().and_then(|opened| opened.database.monitoring().commit_counter);
    let (Some(counter), Some(before)) = (counter, before) else { return };
    let ours = commit_crosscheck::ours(&sink.tally);
    // Do not wait for commits that the counter does not count.
    let may_come = counts_all_commits(&sink.tally, counter.counts_single_statements);
    let awaited = if may_come { ours.0 } else { 0 };
    if let Some(after) = commits_counted(groups, stop, Some((before, awaited))) {
        for fact in commit_crosscheck::facts(counter, after - before, ours) {
            sink.tell(Event::Fact(fact));
        }
    }
}

/// Returns a fact if the server reports that it was restarted since `began`; `None` if it was not,
/// or if that cannot be read.
fn restarted(groups: &[Opened], stop: &Stop, began: Instant) -> Option<Fact> {
    let database = Arc::clone(&groups.first()?.database);
    let interrupted = "interrupted while the server's start time was read";
    let restarted = run_interruptible(stop, interrupted, move || {
        commit_crosscheck::restarted(database.as_ref(), began)
    });
    restarted.ok().flatten()
}

/// Reports by how many commits the values in the workloads' tables have grown, together with
/// dbdyno's number of commits. Groups that share a value are added up, and reported with the first
/// of them.
fn crosscheck(before: &OwnCounts, after: &OwnCounts, sink: &mut RunSink<'_>) {
    for (first, counts) in before.iter().zip(after).enumerate() {
        let (Some((query, was)), Some((_, is))) = counts else { continue };
        let shares = |group: &usize| {
            before[*group].as_ref().is_some_and(|(other, _)| other.sql == query.sql)
        };
        let sharing: Vec<usize> = (0..before.len()).filter(shares).collect();
        if sharing[0] != first {
            continue;
        }
        let kind = query.kind;
        let (mut committed, mut unknown) = (0, 0);
        for group in sharing {
            let tally = &sink.tally.groups[group];
            for part in tally.phases_of_kind(kind) {
                committed += part.counts.committed;
                unknown += part.counts.unknown;
            }
        }
        let change = commits_in(is - was, query.per_commit as i64, committed as i64);
        sink.tell(Event::Crosschecked { group: first as u16, kind, change, committed, unknown });
    }
}

/// Returns the number of commits that make a value grow by `growth`, if each adds `per_commit`. If
/// a part of a commit remains, the result differs from `committed` by at least one, so that it
/// never passes as complete.
fn commits_in(growth: i64, per_commit: i64, committed: i64) -> i64 {
    let whole = growth.div_euclid(per_commit);
    let is_whole = growth.rem_euclid(per_commit) == 0;
    if is_whole || whole < committed { whole } else { whole + 1 }
}

#[cfg(test)]
mod tests {
    use super::commits_in;

    #[test]
    fn a_part_of_a_commit_never_passes_for_the_whole() {
        assert_eq!(commits_in(12, 1, 7), 12);
        assert_eq!(commits_in(70, 10, 7), 7);
        assert_eq!(commits_in(69, 10, 7), 6);
        assert_eq!(commits_in(71, 10, 7), 8);
        assert_eq!(commits_in(-1, 10, 0), -1);
    }
}
