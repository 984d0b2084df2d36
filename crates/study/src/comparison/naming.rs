//! Short names that distinguish the sides of a comparison, and the description of the varied
//! parameters by which two sides have no point in common.

use std::collections::BTreeSet;

use model::numbers::cut;

use super::differences::telling;
use super::{ComparisonReport, Side};

/// Largest number of differences in the name of a side of a comparison; fewer are used if they make
/// the names of all sides distinct.
const NAMED_BY: usize = 2;
/// Largest number of characters of a value in the name of a side of a comparison; a longer value is
/// cut.
const VALUE_MAX: usize = 30;

impl ComparisonReport {
    /// Renames each side of the comparison whose name is only a run's id by its differences from
    /// the others, such as `clients=8`: by as few as make the names of all sides distinct.
    pub(super) fn with_names(mut self, sides: &[Side]) -> ComparisonReport {
        let name = |index: usize, traits: usize| {
            let against = index.max(1);
            let shown = telling(&self.differences, against);
            let shown = shown.into_iter().take(traits).map(|(name, values)| {
                let value = cut(&values[usize::from(index > 0)], VALUE_MAX);
                if name == "database" { value } else { format!("{name}={value}") }
            });
            shown.collect::<Vec<String>>().join(", ")
        };
        let by = |traits: usize| -> Vec<String> {
            (0..sides.len()).map(|index| name(index, traits)).collect()
        };
        let are_apart = |names: &Vec<String>| {
            names.iter().enumerate().all(|(at, name)| !names[..at].contains(name))
        };
        let names = (1..NAMED_BY).map(by).find(are_apart).unwrap_or_else(|| by(NAMED_BY));
        for (index, side) in sides.iter().enumerate() {
            let is_alone = names.iter().filter(|name| **name == names[index]).count() == 1;
            if side.is_unnamed && is_alone && !names[index].is_empty() {
                self.rename(index, &names[index]);
            }
        }
        self
    }

    fn rename(&mut self, index: usize, name: &str) {
        let before = std::mem::replace(&mut self.sides[index].name, name.to_owned());
        let of_pairs = self.pairs.iter_mut().flat_map(|pair| {
            let unpaired = pair.points_unpaired.iter_mut().map(|point| &mut point.side);
            std::iter::once(&mut pair.side).chain(unpaired)
        });
        let of_mixed = self.mixed.iter_mut().map(|mixed| &mut mixed.side);
        of_pairs.chain(of_mixed).filter(|side| **side == before).for_each(|side| {
            name.clone_into(side);
        });
    }
}

/// Largest number of varied parameters that the error names which says that two sides of a
/// comparison have no point in common; the others are shown as a number, such as `and 2 more`.
const AXES_TOLD: usize = 4;
/// Largest number of values per varied parameter in the error that two sides of a comparison have
/// no point in common; `...` stands for the others.
const VALUES_TOLD: usize = 3;
const VALUE_TOLD: usize = 30;

/// Returns the end of the error that two sides of a comparison have no point in common: the varied
/// parameters in which they differ, with their values. Parameters without a common value are named
/// alone, if there are any.
pub(super) fn apart(base: &Side, other: &Side) -> String {
    let values = |side: &Side, axis: &str| -> BTreeSet<String> {
        side.points.iter().filter_map(|point| point.values.get(axis).cloned()).collect()
    };
    let mut axes: Vec<&String> = Vec::new();
    for (axis, _) in base.points.iter().chain(&other.points).flat_map(|point| &point.values.0) {
        if !axes.contains(&axis) {
            axes.push(axis);
        }
    }
    let is_apart = |axis: &&&String| values(base, axis).is_disjoint(&values(other, axis));
    let disjoint: Vec<&String> = axes.iter().filter(is_apart).copied().collect();
    let told = if disjoint.is_empty() { axes } else { disjoint };
    let few = |all: BTreeSet<String>| {
        let cut = |value: &String| match value.char_indices().nth(VALUE_TOLD) {
            Some((end, _)) => format!("{}...", &value[..end]),
            None => value.clone(),
        };
        let shown: Vec<String> = all.iter().take(VALUES_TOLD).map(cut).collect();
        let more = if all.len() > VALUES_TOLD { ", ..." } else { "" };
        format!("{}{more}", shown.join(", "))
    };
    let shown = told.iter().take(AXES_TOLD).map(|axis| {
        format!("{axis} ({} and {})", few(values(base, axis)), few(values(other, axis)))
    });
    let more = told.len().saturating_sub(AXES_TOLD);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    match told.is_empty() {
        true => String::new(),
        false => format!("; they differ in {}{more}", shown.collect::<Vec<_>>().join(", ")),
    }
}
