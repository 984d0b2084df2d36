//! Findings that a use case raises when it cannot do a step of a run. Not here: findings that
//! follow from measurements (analysis).

use model::{Event, Finding, Severity};

/// Returns the event of a finding that makes the run invalid, because a requested step could not be
/// done.
pub(crate) fn not_made(id: &str, text: String) -> Event {
    Event::Finding(Finding::new(id, Severity::Invalid, text))
}
