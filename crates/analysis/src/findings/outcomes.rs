//! Findings on how transactions ended: failures, retries, unknown outcomes and runs without any
//! commit.

use model::{CUT_OFF_AT, ErrorCount, Severity, Traffic};

use super::{FindingText, View, count, percent, percent_text};

/// Share of failed transactions, in percent, below which the finding on them is only a note.
const FAILED_PERCENT_NOTED: f64 = 0.1;

/// Share of failed transactions, in percent, from which the run is invalid, since it did not
/// measure its workload.
const FAILED_PERCENT_MAX: f64 = 50.0;

enum Ending {
    NothingFinished { offered: u64, failed: u64 },
    StillRunning { offered: u64, at: Option<String> },
    NoneWithin { finished: u64 },
    NoStatements { finished: u64 },
    Failed { failed: u64, offered: u64, most: Option<ErrorCount> },
    Unknown { unknown: u64 },
    Retried { retried: u64, offered: u64 },
    Ignored { ignored: u64, offered: u64, finished: u64, most: Option<ErrorCount> },
}

impl Ending {
    fn text(self) -> FindingText {
        match self {
            Ending::NothingFinished { offered, failed } => FindingText {
                id: "nothing_finished",
                severity: Severity::Invalid,
                text: format!(
                    "Nothing finished: {} offered, {} failed.",
                    count(offered, "transaction"),
                    model::format_count(failed)
                ),
            },
            Ending::StillRunning { offered, at } => still_running(offered, at),
            Ending::NoStatements { finished } => FindingText {
                id: "no_statements",
                severity: Severity::Invalid,
                text: format!(
                    "{} finished, and the script sent no statement: the database had nothing to do.",
                    count(finished, "transaction")
                ),
            },
            Ending::NoneWithin { finished } => FindingText {
                id: "nothing_finished",
                severity: Severity::Invalid,
                text: format!(
                    "Nothing finished within the measured phase: {} that began in it finished \
                     after it, so there is no rate. Measure longer.",
                    count(finished, "transaction")
                ),
            },
            Ending::Failed { failed, offered, most } => FindingText {
                id: "failed",
                severity: match percent(failed, offered) {
                    ..FAILED_PERCENT_NOTED => Severity::Note,
                    ..FAILED_PERCENT_MAX => Severity::Warning,
                    _ => Severity::Invalid,
                },
                text: format!(
                    "{} of {} failed ({}){}.",
                    model::format_count(failed),
                    count(offered, "transaction"),
                    percent_text(percent(failed, offered)),
                    most.map(|most| format!(", mostly {}", most.kind.name())).unwrap_or_default()
                ),
            },
            Ending::Unknown { unknown } => FindingText {
                id: "unknown_commits",
                severity: Severity::Warning,
                text: format!(
                    "The outcome of {} is unknown: the connection broke meanwhile, or they were \
                     cancelled at the end of the drain.",
                    count(unknown, "commit")
                ),
            },
            Ending::Retried { retried, offered } => FindingText {
                id: "retried",
                severity: Severity::Note,
                text: format!(
                    "{} after conflicts, for {}.",
                    count(retried, "further attempt"),
                    count(offered, "transaction"),
                ),
            },
            Ending::Ignored { ignored, finished, most, .. } if ignored == finished => {
                only_errors(ignored, most)
            }
            Ending::Ignored { ignored, offered, most, .. } => {
                errors_ignored(ignored, offered, most)
            }
        }
    }
}

fn errors_ignored(ignored: u64, offered: u64, most: Option<ErrorCount>) -> FindingText {
    FindingText {
        id: "errors_ignored",
        severity: Severity::Note,
        text: format!(
            "{} of {} ended with an error that the plan ignores{}: they count as finished, with \
             their response times, but not as commits.",
            model::format_count(ignored),
            count(offered, "transaction"),
            most.map(|most| format!(" (most often {})", most.kind.name())).unwrap_or_default()
        ),
    }
}

/// Returns the finding that nothing but errors finished.
fn only_errors(ignored: u64, most: Option<ErrorCount>) -> FindingText {
    FindingText {
        id: "errors_ignored",
        severity: Severity::Invalid,
        text: format!(
            "Nothing was executed: all that finished, {}, ended with an error that the plan \
             ignores{}.",
            count(ignored, "transaction"),
            most.map(|most| format!(": {}", most.message)).unwrap_or_default()
        ),
    }
}

fn still_running(offered: u64, at: Option<String>) -> FindingText {
    let all = match offered {
        1 => "the only transaction was".to_owned(),
        offered => format!("all {} were", count(offered, "transaction")),
    };
    let at = at.map(|at| format!(", at {at}")).unwrap_or_default();
    FindingText {
        id: "still_running",
        severity: Severity::Invalid,
        text: format!("Nothing finished: {all} still running at the end{at}."),
    }
}

pub(super) fn look(view: &View) -> Vec<FindingText> {
    let counts = &view.sum.counts;
    let (offered, failed) = (counts.offered(), counts.failed);
    let (unknown, retried, ignored) = (counts.unknown, counts.retried, counts.ignored);
    let errors = &view.group.measured.errors;
    let most = commonest_cause(errors, retried);
    let most_ignored = errors.iter().filter(|error| error.ignored > 0);
    let most_ignored = most_ignored.max_by_key(|error| error.ignored).cloned();
    let all = [
        nothing_finished(view),
        no_statements(view),
        (failed > 0).then_some(Ending::Failed { failed, offered, most }),
        (unknown > 0).then_some(Ending::Unknown { unknown }),
        (retried > 0).then_some(Ending::Retried { retried, offered }),
        (ignored > 0).then_some(Ending::Ignored {
            ignored,
            offered,
            finished: counts.finished(),
            most: most_ignored,
        }),
    ];
    all.into_iter().flatten().map(Ending::text).collect()
}

/// Returns the most frequent error, without ignored ones and the conflicts that retries overcame;
/// `None` if there is none.
fn commonest_cause(errors: &[ErrorCount], retried: u64) -> Option<ErrorCount> {
    let mut overcome = retried;
    let mut last = errors.to_vec();
    last.iter_mut().for_each(|error| error.count -= error.ignored.min(error.count));
    for error in last.iter_mut().filter(|error| error.kind.is_conflict()) {
        let share = error.count.min(overcome);
        error.count -= share;
        overcome -= share;
    }
    last.into_iter().filter(|error| error.count > 0).max_by_key(|error| error.count)
}

/// Returns a finding if no transaction of a run finished, or no commit came within the measured
/// phase; `None` otherwise, and for a run in progress, which may still finish something.
fn nothing_finished(view: &View) -> Option<Ending> {
    let counts = &view.sum.counts;
    let (offered, failed) = (counts.offered(), counts.failed);
    let tally = view.tally;
    if tally.ended.is_none() || super::is_over_early(tally) || super::is_failed(tally) {
        return None;
    }
    if counts.finished() == 0 && counts.unfinished > 0 && counts.unfinished == offered {
        let fact = view.described.and_then(|of| view.tally.fact_of_group(of, CUT_OFF_AT));
        return Some(Ending::StillRunning { offered, at: fact.map(ToString::to_string) });
    }
    if counts.finished() == 0 {
        return Some(Ending::NothingFinished { offered, failed });
    }
    // If other groups have a rate, one group may be busy with long transactions.
    let all: Vec<usize> = (0..view.tally.groups.len()).collect();
    let commits = || view.tally.commits_per_second(&all, view.tally.seconds());
    let is_none = view.index == 0 && counts.committed > 0 && commits().iter().all(|n| *n == 0);
    is_none.then_some(Ending::NoneWithin { finished: counts.finished() })
}

/// Returns a finding if the transactions of a script finished without sending any statement; `None`
/// otherwise.
fn no_statements(view: &View) -> Option<Ending> {
    let is_script = view.described.is_some_and(|described| described.source.is_some());
    let finished = view.sum.counts.finished();
    if !is_script || finished == 0 || view.tally.ended.is_none() {
        return None;
    }
    let mut sent = Traffic::default();
    let phases = [&view.group.ramp_up, &view.group.measured];
    phases.iter().flat_map(|second| &second.kinds).for_each(|kind| sent += kind.traffic);
    (sent.queries() == 0).then_some(Ending::NoStatements { finished })
}
