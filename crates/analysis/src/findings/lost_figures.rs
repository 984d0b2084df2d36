//! Finding on figures of a fixed sequence that have no value, because what they are computed of
//! failed or did not end.

use model::Severity;

use super::{FindingText, View};
use crate::figures::title_without_number;

/// Returns the finding on the figures of a group without a value. If transactions of the sequence
/// failed, the run did not measure what it is for; if none did, it was ended early.
pub(super) fn look(view: &View<'_>) -> Option<FindingText> {
    let described = view.described.filter(|described| described.sequence.is_some())?;
    let of_group = view
        .tally
        .computed
        .iter()
        .filter(|(group, figure)| usize::from(*group) == view.index && figure.value.is_none());
    let mut reasons: Vec<&str> = Vec::new();
    let mut titles: Vec<&str> = Vec::new();
    for (_, figure) in of_group {
        let metric = described.primary_metrics.iter().find(|metric| metric.name == figure.name);
        titles.extend(metric.map(|metric| title_without_number(&metric.title)));
        let reason = figure.reason.as_deref().filter(|reason| !reasons.contains(reason));
        reasons.extend(reason);
    }
    if titles.is_empty() {
        return None;
    }
    let have = if titles.len() == 1 { "has" } else { "have" };
    Some(FindingText {
        id: "no_figure",
        severity: match view.sum.counts.failed {
            0 => Severity::Warning,
            _ => Severity::Invalid,
        },
        text: format!("{} {have} no value: {}.", titles.join(", "), reasons.join("; ")),
    })
}
