//! Findings on the samples: too few for a percentile, beyond the range of histograms, or lost.

use model::{NS_PER_S, Severity};
use stats::{Histogram, enough};

use super::{FindingText, View, count};

enum Samples {
    TooFew { have: u64, needed: u64, quantile: &'static str },
    Overflow { overflow: u64, highest_ns: u64 },
    BooksDisagree { what: &'static str, counted: u64, timed: u64 },
}

impl Samples {
    fn text(self) -> FindingText {
        match self {
            Samples::TooFew { have, needed, quantile } => FindingText {
                id: "few_samples",
                severity: Severity::Note,
                text: format!(
                    "{} are too few for {quantile}, which needs {}.",
                    count(have, "finished transaction"),
                    model::format_count(needed)
                ),
            },
            Samples::Overflow { overflow, highest_ns } => FindingText {
                id: "overflow",
                severity: Severity::Warning,
                text: format!(
                    "{} took longer than the {} that histograms record; percentiles among them \
                     are given as the maximum.",
                    count(overflow, "transaction"),
                    super::duration(highest_ns)
                ),
            },
            Samples::BooksDisagree { what, counted, timed } => FindingText {
                id: "internal_count_mismatch",
                severity: Severity::Invalid,
                text: format!(
                    "{} {what} transactions were counted, but {} were timed: samples were lost or \
                     counted twice.",
                    model::format_count(counted),
                    model::format_count(timed)
                ),
            },
        }
    }
}

pub(super) fn look(view: &View) -> Vec<FindingText> {
    books(view).into_iter().chain(overflow(view)).map(Samples::text).collect()
}

/// Returns a finding if there are too few samples for p99 or p99.9, on the lower one of these.
/// `None` if there are enough or none, and below 1 s.
pub(super) fn too_few(view: &View) -> Option<FindingText> {
    let response = &view.sum.response;
    if response.is_empty() || view.tally.measured_ns() < NS_PER_S {
        return None;
    }
    let refused = [("p99", 0.99), ("p99.9", 0.999)].into_iter().find_map(|(quantile, q)| {
        let few = enough(response.count(), q, 0.95).err()?;
        Some((quantile, few))
    });
    let (quantile, few) = refused?;
    Some(Samples::TooFew { have: few.have, needed: few.needed, quantile }.text())
}

fn overflow(view: &View) -> Option<Samples> {
    let overflow = view.sum.response.overflow();
    let highest_ns = view.sum.response.range().highest_ns;
    (overflow > 0).then_some(Samples::Overflow { overflow, highest_ns })
}

/// Returns a finding for each pair of a count and a histogram that should have the same number of
/// transactions, but do not. The engine keeps the counts and the histograms separately.
fn books(view: &View) -> Vec<Samples> {
    let sum = &view.sum;
    let books: [(&'static str, u64, &Histogram); 3] = [
        ("finished", sum.counts.finished(), &sum.response),
        ("failed", sum.counts.failed, &sum.failures),
        ("unfinished", sum.counts.unfinished, &sum.unfinished),
    ];
    let wrong = books.into_iter().filter(|(_, counted, times)| *counted != times.count());
    wrong
        .map(|(what, counted, times)| Samples::BooksDisagree {
            what,
            counted,
            timed: times.count(),
        })
        .collect()
}
