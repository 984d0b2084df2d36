//! Findings: judgements about a result. Not here: the rules that raise them (analysis).

use serde::{Deserialize, Serialize};

use crate::finding_catalog::catalog_entry;

/// Severity of a finding: how far it affects the validity of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// A finding that is worth knowing; the result is valid.
    Note,
    /// A finding that warns that the result, although valid, may mislead.
    Warning,
    /// A finding that makes the result invalid, so that it must not be used.
    Invalid,
}

impl Severity {
    /// Every severity: note, warning and invalid, the mildest first.
    pub const ALL: [Severity; 3] = [Severity::Note, Severity::Warning, Severity::Invalid];

    /// Returns the name of the severity in lists, in JSON and in the store, such as `warning`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Invalid => "invalid",
        }
    }

    /// Returns the severity with this name; `None` if there is none.
    pub fn by_name(name: &str) -> Option<Severity> {
        Severity::ALL.into_iter().find(|severity| severity.name() == name)
    }
}

/// A judgement about the result of a run, such as a problem with its validity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Identifier of the kind of finding, which never changes, such as `generator_saturated`.
    pub id: String,
    /// Severity of the finding in this run; it may differ from run to run.
    pub severity: Severity,
    /// Text for the user: the observation with its numbers, and advice.
    pub text: String,
    /// First part of `text`, the observation without the advice; `None` if the text is not divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<String>,
}

impl Finding {
    /// Creates a finding whose text is not divided into observation and advice.
    pub fn new(id: impl Into<String>, severity: Severity, text: impl Into<String>) -> Finding {
        Finding { id: id.into(), severity, text: text.into(), observed: None }
    }

    /// Creates a finding whose text is what was observed, in sentences, followed by advice, which
    /// may be empty. Reports on several runs show the observation with a range for each number.
    pub fn with_advice(id: &str, severity: Severity, observed: String, advice: &str) -> Finding {
        let text = format!("{observed} {advice}").trim_end().to_owned();
        Finding { observed: Some(observed), ..Finding::new(id, severity, text) }
    }

    /// Creates a finding whose text is what was observed, in sentences, followed by the advice that
    /// the catalog has for this kind of finding.
    ///
    /// # Panics
    ///
    /// If the catalog has no finding `id`.
    pub fn from_catalog(id: &str, severity: Severity, observed: String) -> Finding {
        let known = catalog_entry(id).expect("each finding that is raised is in the catalog");
        Finding::with_advice(id, severity, observed, known.advice)
    }
}
