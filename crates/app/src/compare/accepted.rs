//! Stores what users decide about a history: acknowledging a change at a build, and pinning a build
//! as the baseline.

use std::collections::BTreeSet;

use model::{Rng, Stream};
use store::Store;
use study::HistoryReport;
use study::comparison::{FIGURES, Judge};
use study::history::{Acknowledged, Order, PointHistory, Question};

use super::history::ended_builds;
use super::{Labelled, is_label, no_run_with};
use crate::error::Error;

/// Fails if no run has the value `build` of the label `key`.
fn is_build(store: &Store, key: &str, build: &str) -> Result<(), Error> {
    is_label(key)?;
    let all = Labelled::find(store, key, None)?;
    match all.iter().any(|one| one.value == build) {
        false => Err(no_run_with(store, key, Some(build))?),
        true => Ok(()),
    }
}

/// Acknowledges a change in the history of the label `key`, so that it is not reported again: the
/// level of this build and of later ones is accepted. Fails if no change begins at the build or
/// within two builds of it. Returns what was stored: the build at which the change begins, and the
/// full name of its point (conditions of runs, such as `clients=8`).
pub fn acknowledge(
    store: &Store,
    key: &str,
    order: Option<&Order>,
    asked: &Acknowledged,
) -> Result<Acknowledged, Error> {
    is_build(store, key, &asked.build)?;
    let found = change_meant(store, key, order, asked)?;
    store.acknowledge(key, &found)?;
    Ok(found)
}

/// Finds the change that the user means by a build and a point (conditions of runs, such as
/// `clients=8`; may be empty). The returned size is that of the figure that changed most. Fails if
/// there is no change at the build or within two builds of it.
fn change_meant(
    store: &Store,
    key: &str,
    order: Option<&Order>,
    change: &Acknowledged,
) -> Result<Acknowledged, Error> {
    let builds = ended_builds(store, key)?;
    let mut known: Vec<String> = Vec::new();
    // A figure only has the points whose runs have that figure.
    let (mut points, mut is_point) = (BTreeSet::new(), false);
    let mut found: Option<Acknowledged> = None;
    let figures = [None].into_iter().chain(FIGURES.map(|figure| Some(figure.to_owned())));
    for primary in figures {
        // Any change may be acknowledged, even one that matters only with a smaller min_effect.
        let judge = Judge { primary, min_effect: 0.0, also: Vec::new() };
        let question = Question { order: order.cloned(), ..Question::new(key, judge) };
        let mut rng = Rng::new(1, Stream::Order, u64::MAX);
        let Ok(shown) = HistoryReport::new(&question, &builds, &mut || rng.bits()) else {
            continue;
        };
        let names = || shown.points.iter().map(PointHistory::name).zip(shown.point_names());
        let point = match names().find(|(a, b)| [a, b].contains(&&change.point)) {
            Some((_, whole)) => whole,
            None if change.point.is_empty() => String::new(),
            None => {
                points.extend(names().map(|(short, _)| short));
                continue;
            }
        };
        is_point = true;
        if let Some((build, size)) = shown.change_at(&change.build, &point) {
            let known = found.as_ref().and_then(|found| found.size).unwrap_or(0.0);
            let size = Some(known.max(size));
            let build = found.map_or(build, |found| found.build);
            found = Some(Acknowledged { build, point, size, reason: change.reason.clone() });
            continue;
        }
        let new: Vec<String> = shown.changed(&point).into_iter().map(str::to_owned).collect();
        known.extend(new.into_iter().filter(|build| !known.contains(build)).collect::<Vec<_>>());
    }
    if let Some(found) = found {
        return Ok(found);
    }
    if !is_point && !points.is_empty() {
        let points = points.into_iter().collect::<Vec<String>>().join(", ");
        return Err(Error::Usage(format!("no point is {}: points are {points}", change.point)));
    }
    let known = match &known[..] {
        [] => "no build has one".to_owned(),
        all => format!("{} {} one", all.join(", "), if all.len() == 1 { "has" } else { "have" }),
    };
    Err(Error::Usage(format!("{} has no change to acknowledge: {known}", change.build)))
}

/// Removes the acknowledgement of a change at a build and point; the build may be up to two builds
/// away from the change. Returns the build whose acknowledgement is removed; fails if there is
/// none.
pub fn unacknowledge(
    store: &Store,
    key: &str,
    order: Option<&Order>,
    asked: &Acknowledged,
) -> Result<String, Error> {
    let Acknowledged { build, point, .. } = asked;
    if store.unacknowledge(key, build, point)? {
        return Ok(build.clone());
    }
    let meant = is_build(store, key, build).and_then(|()| change_meant(store, key, order, asked));
    if let Ok(meant) = meant
        && store.unacknowledge(key, &meant.build, &meant.point)?
    {
        return Ok(meant.build);
    }
    let known = store.acknowledged(key)?;
    let known: Vec<String> = known.into_iter().map(|one| with_point(&one)).collect();
    let known = match known.is_empty() {
        true => "nothing is".to_owned(),
        false => format!("acknowledged are: {}", known.join(", ")),
    };
    Err(Error::Usage(format!("{} is not acknowledged; {known}", with_point(asked))))
}

/// Returns the name of an acknowledged change: its build and, if it has one, its point (conditions
/// of runs), such as `1.7 clients=8`.
fn with_point(one: &Acknowledged) -> String {
    format!("{} {}", one.build, one.point).trim_end().to_owned()
}

/// Pins the build with which the newest builds of a history are compared; `None` unpins it.
pub fn pin_baseline(store: &Store, key: &str, build: Option<&str>) -> Result<(), Error> {
    if let Some(build) = build {
        is_build(store, key, build)?;
    }
    store.pin_baseline(key, build).map_err(Error::from)
}
