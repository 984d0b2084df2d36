//! Findings on the data and the server's counters: failed consistency checks, counts of commits
//! that differ, restarts, and data of unknown origin or smaller than standard.

use model::numbers::{bytes, seconds, thousands};
use model::{CheckResult, FactValue, Finding, HotRows, NO_TRANSACTIONS, SMALLER_DATA, Severity};

use super::{FindingText, count};
use crate::host;
use crate::tally::{Crosscheck, GroupTally, Tally};

enum Data {
    ChecksFailed {
        id: &'static str,
        when: &'static str,
        first: CheckResult,
        failed: u64,
        n_checks: u64,
    },
    Undelivered {
        check: Crosscheck,
    },
    Miscounted {
        check: Crosscheck,
    },
    Shared {
        check: Crosscheck,
        others: String,
    },
    CountedFewer {
        counter: String,
        change: i64,
        committed: u64,
    },
    Restarted {
        counter: String,
        change: i64,
        committed: i64,
    },
    RestartedAsItSays {
        ago_s: f64,
    },
    Unknown,
    Smaller {
        note: String,
    },
    FewHotRows {
        hot: HotRows,
        clients: u32,
    },
}

impl Data {
    fn text(self) -> FindingText {
        let (id, severity) = self.id();
        FindingText { id, severity, text: self.sentence() }
    }

    fn id(&self) -> (&'static str, Severity) {
        match self {
            Data::ChecksFailed { id, .. } => (id, Severity::Invalid),
            Data::Miscounted { .. } => ("crosscheck_mismatch", Severity::Invalid),
            Data::Shared { .. } => ("crosscheck_shared", Severity::Note),
            Data::Undelivered { .. } => ("commits_not_delivered", Severity::Note),
            Data::CountedFewer { .. } => ("server_commit_count_low", Severity::Warning),
            Data::Restarted { .. } | Data::RestartedAsItSays { .. } => {
                ("server_restarted", Severity::Warning)
            }
            Data::Unknown => ("data_unknown", Severity::Note),
            Data::Smaller { .. } => ("data_smaller", Severity::Note),
            Data::FewHotRows { .. } => ("few_hot_rows", Severity::Note),
        }
    }

    fn sentence(self) -> String {
        match self {
            Data::ChecksFailed { when, first, failed, n_checks, .. } => format!(
                "{failed} of {} of the data failed {when} the load; first {} ({}): {}{}.",
                count(n_checks, "check"),
                first.id,
                first.title,
                count(first.n_failed, "row"),
                first.examples.first().map(|row| format!(", {row}")).unwrap_or_default()
            ),
            Data::Miscounted { check } => format!(
                "dbdyno counted {} and {} unknown, but the database's own count changed by {}.{}",
                count(check.committed, "commit"),
                model::format_count(check.unknown),
                signed(check.change),
                match check.change {
                    ..0 => " Rows were removed meanwhile, by other than this run.",
                    _ => "",
                }
            ),
            Data::Shared { check, others } => format!(
                "Another run of dbdyno ({others}) used this database meanwhile: its own count of \
                 commits changed by {}, of which {} were this run's, and is not compared.",
                signed(check.change),
                model::format_count(check.committed)
            ),
            Data::CountedFewer { counter, change, committed } => format!(
                "The server's own {counter} grew by {} while dbdyno counted {}.",
                signed(change),
                count(committed, "commit")
            ),
            Data::Undelivered { check } => format!(
                "The database's own count changed by {}, of which {} are in the figures: an agent \
                 that was lost had committed the rest, and not delivered it.",
                signed(check.change),
                model::format_count(check.committed)
            ),
            Data::Restarted { counter, change: ..0, .. } => format!(
                "The server's own {counter} decreased: the server was restarted during the run."
            ),
            Data::Restarted { counter, change, committed } => format!(
                "The server's own {counter} grew by {} while dbdyno counted {} commits, and \
                 connections broke: the server was restarted during the run.",
                signed(change),
                signed(committed)
            ),
            Data::RestartedAsItSays { ago_s } => format!(
                "After the load, the server's uptime was {}: it was restarted during the run.",
                seconds(ago_s)
            ),
            Data::Unknown => "The data have no table dbdyno_meta, which records how dbdyno built \
                              them: their seed is not known, and their scale is read off the \
                              tables or taken from the options."
                .to_owned(),
            Data::Smaller { note } => note,
            Data::FewHotRows { hot: HotRows { rows, what }, clients } => format!(
                "Every transaction of {} updates one of {} of {what}: clients wait for each other's \
                 commits, and the locks of these rows limit throughput.",
                count(u64::from(clients), "client"),
                count(rows, "row"),
            ),
        }
    }
}

fn signed_count(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Formats a count that may be negative, with separators between thousands.
fn signed(n: i64) -> String {
    thousands(&n.to_string())
}

pub(super) fn look(tally: &Tally) -> Vec<Finding> {
    let mut all = Vec::new();
    all.extend(failed("checks_failed_before", "before", tally.checked_before.as_deref()));
    all.extend(failed("checks_failed", "after", tally.checked_after.as_deref()));
    let mismatches = tally.crosschecks.iter().filter(|check| !check.matches());
    let others = tally.fact("commits", "runs_meanwhile").map(|others| others.to_string());
    let has_lost_agent = host::lost_agent(tally).is_some();
    let miscounted = |check: Crosscheck| match &others {
        _ if has_lost_agent && check.change >= signed_count(check.committed) => {
            Data::Undelivered { check }
        }
        // Other clients can only add to the count: if it is too low, commits were lost.
        Some(others) if check.change >= signed_count(check.committed) => {
            Data::Shared { check, others: others.clone() }
        }
        _ => Data::Miscounted { check },
    };
    all.extend(mismatches.copied().map(miscounted));
    all.extend(restarted(tally).or_else(|| counted_fewer(tally)));
    if tally.fact("data", "meta").is_some_and(|meta| *meta == "absent") {
        all.push(Data::Unknown);
    }
    let smaller = notes(tally).find(|note| note.starts_with(SMALLER_DATA));
    all.extend(smaller.map(|note| Data::Smaller { note: note.clone() }));
    all.extend(few_hot_rows(tally));
    let advice = |data: &Data| {
        let advice = match data {
            Data::ChecksFailed { id: "checks_failed", .. } => OF_PARTS,
            Data::Miscounted { .. } => PARTS_COUNT,
            _ => return None,
        };
        Some(advice).filter(|_| has_no_transactions(tally))
    };
    let finding = |data: Data| {
        let advice = advice(&data);
        data.text().advised(None, advice)
    };
    all.into_iter().map(finding).collect()
}

/// Largest size of a database on the machine where it runs, as a share of that machine's memory, at
/// which its files are assumed to stay in the operating system's cache.
const CACHED_SHARE: f64 = 0.5;

/// Returns the finding that all data fit in the database's cache, or in the memory of its machine,
/// so that a busy disk shows writes and no reads; `None` if they do not, or it is not known.
pub(crate) fn data_in_memory(tally: &Tally) -> Option<Finding> {
    let fact = |about: &str, name: &str| tally.fact(about, name)?.bytes();
    let data = fact("database", "size_bytes").filter(|size| *size > 0)?;
    let cache = fact("server_memory", "cache_bytes").filter(|cache| data <= *cache);
    let is_here = host::place(tally).is_some();
    let memory = fact("memory", "total_bytes").filter(|_| is_here);
    let memory = memory.filter(|memory| data as f64 <= CACHED_SHARE * *memory as f64);
    let place = match (cache, memory) {
        (Some(cache), _) => format!("the database's cache ({})", bytes(cache)),
        (None, Some(memory)) => format!("the memory of this machine ({})", bytes(memory)),
        (None, None) => return None,
    };
    let text = format!(
        "All data ({}) fit in {place}: what the disk did was to write, and reads came from memory.",
        bytes(data)
    );
    let (id, severity) = ("data_in_memory", Severity::Note);
    Some(FindingText { id, severity, text }.finding(None))
}

/// Returns a finding if every transaction of a group updates one of a few rows, and the group has
/// more clients than there are such rows.
fn few_hot_rows(tally: &Tally) -> Option<Data> {
    let mut groups = tally.groups.iter().enumerate().filter_map(|(at, _)| tally.description(at));
    groups.find_map(|group| {
        let (hot, clients) = (group.hot_rows.clone()?, group.clients);
        (u64::from(clients) > hot.rows).then_some(Data::FewHotRows { hot, clients })
    })
}

/// Advice on failed checks, instead of the catalog's, if the storage engine has no transactions.
const OF_PARTS: &str = "The storage engine has no transactions: parts of transactions that failed \
                        stay, and concurrent ones mix. Rebuild the data, and find out why \
                        transactions failed.";
/// Advice on counts of commits that differ, instead of the catalog's, if the storage engine has no
/// transactions.
const PARTS_COUNT: &str = "The storage engine has no transactions: parts of transactions that \
                           failed stay and are counted. If none failed, make sure that nothing \
                           else uses the database.";

fn has_no_transactions(tally: &Tally) -> bool {
    notes(tally).any(|note| note.starts_with(NO_TRANSACTIONS))
}

/// Returns the notes of the workloads of all groups, such as deviations from their standards.
fn notes(tally: &Tally) -> impl Iterator<Item = &String> {
    let groups = tally.description.iter().flat_map(|description| &description.groups);
    groups.flat_map(|group| &group.notes)
}

/// Returns a finding if the server restarted although the plan has no disturbance: its uptime shows
/// it, or its counter of commits began again. `None` otherwise.
fn restarted(tally: &Tally) -> Option<Data> {
    let says = tally.fact("server", "restarted_ago_s").and_then(FactValue::as_seconds);
    if let Some(ago_s) = says.filter(|_| tally.disturbances.is_empty()) {
        return Some(Data::RestartedAsItSays { ago_s });
    }
    let (counter, change, committed) = counted(tally)?;
    // Some servers have the counter but never count: one that does not move is no evidence.
    let is_fewer = change < committed && change != 0;
    let is_lost = is_fewer && counts_all(tally) && has_broken(tally);
    let is_restart = (change < 0 || is_lost) && tally.disturbances.is_empty();
    is_restart.then_some(Data::Restarted { counter, change, committed })
}

/// Returns a finding if the server counted fewer commits than the generator, although it counts
/// every commit and no connection broke; `None` otherwise.
fn counted_fewer(tally: &Tally) -> Option<Data> {
    let (counter, change, committed) = counted(tally)?;
    let is_fewer = change < committed && counts_all(tally) && !has_broken(tally);
    let committed = u64::try_from(committed).ok()?;
    is_fewer.then_some(Data::CountedFewer { counter, change, committed })
}

/// Returns the name of the server's counter of commits, its growth during the run, and the number
/// of commits of this run; `None` if the counter was not read.
fn counted(tally: &Tally) -> Option<(String, i64, i64)> {
    let fact = |name: &str| tally.fact("commits", name);
    let number = |name: &str| fact(name)?.integer();
    Some((fact("server_counter")?.to_string(), number("server_change")?, number("ours")?))
}

fn counts_all(tally: &Tally) -> bool {
    let counts_single = tally.fact("commits", "counts_single_statements");
    counts_all_commits(tally, counts_single.and_then(FactValue::yes_no) == Some(true))
}

/// Returns true if the server's counter includes every commit of the run. `counts_single` says
/// whether it includes statements outside of transactions. Transaction types that never send COMMIT
/// consist of such statements.
pub fn counts_all_commits(tally: &Tally, counts_single: bool) -> bool {
    let says_commit = |group: &GroupTally| {
        let kinds = [&group.measured, &group.ramp_up].into_iter().flat_map(|phase| &phase.kinds);
        kinds.map(|kind| kind.kind).all(|kind| {
            let phases = || group.phases_of_kind(kind);
            let others: u64 = phases().map(|kind| kind.traffic.others).sum();
            others >= phases().map(|kind| kind.counts.committed).sum()
        })
    };
    counts_single || tally.groups.iter().all(says_commit)
}

/// Returns true if any connection broke during the run.
fn has_broken(tally: &Tally) -> bool {
    let mut phases = tally.groups.iter().flat_map(|group| [&group.measured, &group.ramp_up]);
    phases.any(|phase| phase.errors.iter().any(|error| error.kind.breaks_session()))
}

fn failed(id: &'static str, when: &'static str, results: Option<&[CheckResult]>) -> Option<Data> {
    let results = results?;
    let mut broken = results.iter().filter(|check| check.n_failed > 0);
    let first = broken.next()?.clone();
    let failed = 1 + broken.count() as u64;
    Some(Data::ChecksFailed { id, when, first, failed, n_checks: results.len() as u64 })
}
