//! Findings about the making of a run. Not here: those that follow from measurements (analysis).

use model::{Event, Finding, Severity};

/// Finding that makes a run invalid because a requested step could not be done.
pub(crate) fn not_made(id: &str, text: String) -> Event {
    Event::Finding(Finding::new(id, Severity::Invalid, text))
}
