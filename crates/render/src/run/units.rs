//! The section that explains units and terms of a run's page, such as TPS, as far as the page uses
//! them.
//!
//! Not here: other terms (the glossary in docs).

use analysis::figures::meaning;
use analysis::report::Report;

use crate::document::{Block, Section};

/// Returns the section; `rates` are the rates that the page shows, each with its title.
pub(super) fn section(report: &Report, rates: &[(&str, &'static str)]) -> Section {
    let block = &report.block;
    let has_qps = block.qps.is_some_and(|qps| qps > 0.0);
    let has_sessions = block.connect_ms.times.count + block.connect_ms.failed > 0;
    let mut all = vec![("clients", "simulated users, each with one transaction at a time")];
    all.extend(has_sessions.then_some(("sessions", "connections of clients to the database")));
    let shown = rates.iter().filter(|(name, _)| *name != "qps" || has_qps);
    all.extend(shown.filter_map(|(name, title)| Some((*title, meaning(name)?))));
    let known = block.primary_metrics.iter();
    all.extend(known.filter_map(|(name, metric)| Some((metric.title.as_str(), meaning(name)?))));
    Section::new("units", "Units", vec![Block::pairs(all)])
}
