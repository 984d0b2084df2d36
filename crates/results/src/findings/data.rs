//! Findings on the data: do they hold what they must, and as much as we think?

use model::{CheckResult, Severity};

use super::{Words, count};
use crate::tally::{Crosscheck, Tally};

enum Data {
    ChecksFailed { id: &'static str, when: &'static str, first: CheckResult, failed: u64, of: u64 },
    Miscounted(Crosscheck),
    Unknown,
}

impl Data {
    fn words(self) -> Words {
        match self {
            Data::ChecksFailed { id, when, first, failed, of } => Words {
                id,
                severity: Severity::Invalid,
                text: format!(
                    "{failed} of {} of the data failed {when} the load; first {} ({}): {}{}.",
                    count(of, "check"),
                    first.id,
                    first.title,
                    count(first.n_failed, "row"),
                    first.examples.first().map(|row| format!(", {row}")).unwrap_or_default()
                ),
                advice: "Build the data anew. If they break again under load, transactions are \
                         not isolated or not atomic.",
            },
            Data::Miscounted(check) => Words {
                id: "crosscheck_mismatch",
                severity: Severity::Invalid,
                text: format!(
                    "We counted {} and {} unknown, but the database's own count changed by {}.",
                    count(check.committed, "commit"),
                    model::format_count(check.unknown),
                    check.change
                ),
                advice: "Commits were lost or not ours: make sure that nobody else used the \
                         database, and look at its log.",
            },
            Data::Unknown => Words {
                id: "data_unknown",
                severity: Severity::Note,
                text: "The data have no dbdyno_meta table: nobody knows how they were built, with \
                       which scale and seed."
                    .to_owned(),
                advice: "Compare only with runs on the same data, or build them with dbdyno.",
            },
        }
    }
}

pub(super) fn look(tally: &Tally) -> Vec<Words> {
    let mut all = Vec::new();
    all.extend(failed("checks_failed_before", "before", tally.checked_before.as_deref()));
    all.extend(failed("checks_failed", "after", tally.checked_after.as_deref()));
    let mismatches = tally.crosschecks.iter().filter(|check| !check.matches());
    all.extend(mismatches.copied().map(Data::Miscounted));
    if tally.fact("data", "meta") == Some("absent") {
        all.push(Data::Unknown);
    }
    all.into_iter().map(Data::words).collect()
}

fn failed(id: &'static str, when: &'static str, results: Option<&[CheckResult]>) -> Option<Data> {
    let results = results?;
    let mut broken = results.iter().filter(|check| check.n_failed > 0);
    let first = broken.next()?.clone();
    let failed = 1 + broken.count() as u64;
    Some(Data::ChecksFailed { id, when, first, failed, of: results.len() as u64 })
}
