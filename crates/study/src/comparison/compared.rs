//! The points at which the sides of a comparison are compared, and the runs at them.
//!
//! Not here: points of runs (condition), and pairs of runs (pairs).

use std::collections::BTreeSet;

use analysis::figures::title;

use super::{Side, SidePoint, has_figure, reports};

/// Returns the sides of a comparison without the points that are not compared: points that the
/// baseline lacks, or that it alone has.
pub(super) fn compared(sides: &[Side]) -> Vec<Side> {
    let has = |side: &Side, at: &SidePoint| side.points.iter().any(|p| p.values == at.values);
    let only_compared = |(index, side): (usize, &Side)| {
        let is_compared = |at: &SidePoint| match index {
            0 => sides.iter().skip(1).any(|other| has(other, at)),
            _ => has(&sides[0], at),
        };
        let mut side = side.clone();
        side.points.retain(is_compared);
        side
    };
    sides.iter().enumerate().map(only_compared).collect()
}

/// Returns the points of a side that all compared sides have, so that other points do not look like
/// a difference between sides. If there are none, returns all points of the side.
pub(super) fn shared<'s>(sides: &'s [Side], side: &'s Side) -> impl Iterator<Item = &'s SidePoint> {
    let has = |side: &Side, at: &SidePoint| side.points.iter().any(|p| p.values == at.values);
    let is_shared = move |at: &SidePoint| sides.iter().all(|other| has(other, at));
    let is_any = side.points.iter().any(is_shared);
    side.points.iter().filter(move |at| !is_any || is_shared(at))
}

/// Returns the reason why sides that ran different workloads cannot be compared by a figure that
/// only one of them has; `None` if they share a workload.
fn unlike_workloads(sides: &[Side]) -> Option<String> {
    let of_side =
        |side| -> BTreeSet<&str> { reports(side).map(|report| report.workload.as_str()).collect() };
    let all: Vec<BTreeSet<&str>> = sides.iter().map(of_side).collect();
    let other = all.iter().skip(1).find(|other| other.is_disjoint(&all[0]))?;
    let names: Vec<&str> = all[0].iter().chain(other).copied().collect();
    Some(format!(
        "these are different workloads ({}): a transaction is not the same work, so their rates \
         and times cannot be compared",
        names.join(", ")
    ))
}

/// Returns an error if a side has no run with the figure `primary`: the workloads differ, or the
/// runs are too short for it.
pub(super) fn have_figure(sides: &[Side], primary: &str) -> Result<(), String> {
    let Some(side) = sides.iter().find(|side| !has_figure(side, primary)) else { return Ok(()) };
    if let Some(words) = unlike_workloads(sides) {
        return Err(words);
    }
    let (side, figure) = (&side.name, title(primary));
    let is_in_all = |name: &&str| sides.iter().all(|side| has_figure(side, name));
    let other = Some("tps").filter(is_in_all).unwrap_or("p50");
    Err(format!(
        "the runs of {side} have no {figure}: their workload does not have it, or too few \
         transactions finished; name another figure, such as --figure {other}"
    ))
}
