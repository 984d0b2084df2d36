//! What is to be thought of a result. Not here: when a finding is raised (analysis).

use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// The result may mislead.
    Warning,
    /// The result is not valid.
    Invalid,
}

impl Severity {
    /// Every severity, the least first.
    pub const ALL: [Severity; 3] = [Severity::Note, Severity::Warning, Severity::Invalid];

    /// Its name in lists, JSON and stores.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Invalid => "invalid",
        }
    }

    /// The severity with this name.
    pub fn by_name(name: &str) -> Option<Severity> {
        Severity::ALL.into_iter().find(|severity| severity.name() == name)
    }
}

/// What is to be thought of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Its stable name, such as `generator_saturated`.
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// A sentence with the figure that raised it and what to do.
    pub text: String,
    /// The first half of it, without what to do; absent where the two halves are not known apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<String>,
}

impl Finding {
    /// A finding whose text is not in halves.
    pub fn new(id: impl Into<String>, severity: Severity, text: impl Into<String>) -> Finding {
        Finding { id: id.into(), severity, text: text.into(), observed: None }
    }
}
