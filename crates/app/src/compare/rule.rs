//! Experiments whose repeats are not independent or not fixed in number, in a comparison.
//!
//! Not here: the rules that end repeats (study).

use store::Store;
use study::repeats::not_fixed;

use super::CompareBy;
use crate::experiment;

/// Returns warnings about experiments whose repeats are not independent or not fixed in number.
pub(super) fn repeats(store: &Store, asked: &CompareBy) -> Vec<String> {
    let names = match asked {
        CompareBy::Sides(names) => &names[..],
        CompareBy::Axis { experiment, .. } => std::slice::from_ref(experiment),
    };
    let found = names.iter().filter_map(|name| store.experiment_or_run(name).ok());
    let mut all: Vec<String> = found.filter_map(|experiment| not_fixed(&experiment)).collect();
    all.dedup();
    all
}

/// Returns what the stop rule of an experiment says about its two sides, whose interval holds
/// although the results decided the number of repeats. `None` without a rule, or with more sides.
pub(super) fn found(store: &Store, asked: &CompareBy) -> Option<String> {
    let CompareBy::Axis { experiment: name, .. } = asked else { return None };
    let experiment = store.experiment_or_run(name).ok().filter(|found| found.stop.is_some())?;
    render::found_by_rule(&experiment::report(store, &experiment).ok()?)
}
