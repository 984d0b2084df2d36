//! Findings that only the maker of a run can have. Not here: those that follow from what was
//! measured (analysis).

use model::{Event, Finding, Severity};

/// What was asked for and could not be done makes the result invalid.
pub(crate) fn not_made(id: &str, text: String) -> Event {
    Event::Finding(Finding::new(id, Severity::Invalid, text))
}
