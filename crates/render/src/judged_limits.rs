//! Outcomes of limits (gates) that are stored with a run or an experiment, on its page.
//!
//! Not here: limits that are judged now (comparison, and the command line).

use model::{JudgedLimit, LimitOutcome};

use crate::document::{Tone, Verdict};

/// Returns a verdict for each limit, in words that were stored with its outcome.
pub(crate) fn verdicts(limits: &[JudgedLimit]) -> impl Iterator<Item = Verdict> {
    limits.iter().map(|limit| {
        let tone = match limit.outcome {
            LimitOutcome::Passed => Tone::Good,
            LimitOutcome::Failed => Tone::Bad,
            LimitOutcome::Undecided => Tone::Warning,
        };
        let headline = limit.text.clone().into();
        Verdict { tone, word: "Limit".to_owned(), headline, details: Vec::new() }
    })
}
