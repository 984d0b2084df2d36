//! What a translation found, as keys of a plan with their values, and the plan made of it.
//!
//! Not here: where the values come from.

use std::collections::BTreeMap;

use super::keys::Key;
use super::notes::{Notes, short};
use crate::draft::{Draft, GroupDraft, VaryDraft};
use crate::written::{From, Written};

/// Keys that shape the data, which are then built for each value.
const OF_DATA: [Key; 3] =
    [Key::Parameter("warehouses"), Key::Parameter("scale"), Key::Parameter("engine")];

/// Values of one run.
pub(super) type Settings = BTreeMap<Key, String>;

/// Makes a plan of the runs of a script: values that differ between runs are varied.
pub(super) fn draft_of(runs: &[Settings], notes: &mut Notes) -> Draft {
    let mut draft = Draft::default();
    let Some(first) = runs.first() else { return draft };
    let differing = differing(runs);
    let axes = axes_of(runs, &differing, notes);
    let mut group = GroupDraft::default();
    for (key, value) in first.iter().filter(|(key, _)| !axes.contains(key)) {
        let written = Written::new(value.as_str(), From::Default);
        match *key {
            Key::Plan(name) => drop(draft.values.insert(name, written)),
            Key::Group(name) => drop(group.values.insert(name, written)),
            Key::Experiment(name) => drop(draft.experiment.insert(name, written)),
            Key::Parameter(name) => group.parameters.push((name.to_owned(), written)),
            Key::Server(name) => draft.server.push((name.to_owned(), written)),
        }
    }
    draft.groups.push(group);
    if axes.iter().any(|key| OF_DATA.contains(key)) {
        draft.experiment.insert("data", Written::new("rebuild", From::Default));
    }
    let mut n_points = 1;
    for key in axes {
        let values = distinct(runs, key);
        n_points *= values.len();
        draft.vary.push(VaryDraft { name: key.axis(), values, from: From::Default });
    }
    // A script that repeats itself repeats each of its points.
    if runs.len() > n_points && !draft.experiment.contains_key("repeat") {
        let repeat = runs.len().div_ceil(n_points);
        let what = format!("{} runs", runs.len());
        notes.became(0, &what, Key::Experiment("repeat"), &repeat.to_string());
        draft.experiment.insert("repeat", Written::new(repeat.to_string(), From::Default));
    }
    draft
}

/// Returns the keys whose values differ between runs.
fn differing(runs: &[Settings]) -> Vec<Key> {
    let mut keys: Vec<Key> = runs.iter().flat_map(|run| run.keys().copied()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.retain(|key| runs.iter().any(|run| run.get(key) != runs[0].get(key)));
    keys
}

/// Returns the keys to vary. If keys differ together, so that not each combination of values
/// occurs, only one of them is varied, and a note says so.
fn axes_of(runs: &[Settings], differing: &[Key], notes: &mut Notes) -> Vec<Key> {
    let points = |keys: &[Key]| -> Vec<Vec<Option<&String>>> {
        let mut points: Vec<Vec<Option<&String>>> =
            runs.iter().map(|run| keys.iter().map(|key| run.get(key)).collect()).collect();
        points.sort_unstable();
        points.dedup();
        points
    };
    let mut axes: Vec<Key> = Vec::new();
    // Numbers of clients are what scripts vary most often.
    let mut order = differing.to_vec();
    order.sort_by_key(|key| !matches!(key, Key::Group("clients") | Key::Parameter("streams")));
    for key in order {
        let values = distinct(runs, key);
        let is_complete = runs.iter().all(|run| run.contains_key(&key));
        let n_before = points(&axes).len();
        let with = [axes.as_slice(), &[key]].concat();
        if is_complete && points(&with).len() == n_before * values.len() {
            axes.push(key);
            continue;
        }
        let why = match is_complete {
            true => "changes together with another value: the plan has the first one",
            false => "is not set in each run: the plan has the first one",
        };
        let all: Vec<String> = values.iter().map(|value| short(value)).collect();
        notes.left_out(0, &format!("{} = {}", key.axis(), all.join(", ")), why);
        notes.take_back(key, values.first().map_or("", String::as_str), why);
    }
    axes
}

/// Returns the values of a key in the order in which they occur.
fn distinct(runs: &[Settings], key: Key) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for value in runs.iter().filter_map(|run| run.get(&key)) {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    values
}
