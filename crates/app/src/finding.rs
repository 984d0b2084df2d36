//! Findings that a use case raises when it cannot do a step of a run. Not here: findings that
//! follow from measurements (analysis).

use model::{Event, Finding, Severity};

/// Returns an event with a finding that makes the run invalid, because a step that the user
/// requested could not be done. `id` is that of the finding, `text` says what failed.
pub(crate) fn not_made(id: &str, text: String) -> Event {
    Event::Finding(Finding::with_advice(id, Severity::Invalid, text, ""))
}
