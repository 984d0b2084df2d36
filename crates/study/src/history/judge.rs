//! Judgement of all series of a history together: changes of level, slow falls, and the last build.
//!
//! A level is a range of successive builds whose figure is the same but for noise.

use std::iter;
use std::ops::Range;

use analysis::report::Named;
use model::{Acknowledged, Direction};
use stats::{Build, Held, LatestBuild, Levels, NotDivided, SERIES_MAX, latest_builds, levels};

use super::{
    Change, ERROR, Fall, HistoryRun, Last, NEAR, NOISY_FROM, PointHistory, Question, RECENT,
    Series, matters,
};
use crate::comparison::{between, is_worse};

/// Smallest number of earlier builds from which the variation between builds can be estimated.
const BEFORE_MIN: usize = 3;
/// Smallest number of builds in a series from which on its last one is judged.
pub const JUDGED_FROM: usize = BEFORE_MIN + 1;

/// Judges the series of all points together, so that the error rate holds for all of them as a
/// whole. `bits` returns random numbers, for p-values.
pub(super) fn judged(
    all: Vec<Series<'_>>,
    question: &Question,
    better: Direction,
    bits: &mut dyn FnMut() -> u64,
) -> Vec<PointHistory> {
    let judge = Said { question, better };
    let of_series = |(found, series)| Present::new(series, found, judge.accepted(series));
    let present: Vec<Present<'_, '_>> =
        of_all(&all, bits).into_iter().zip(&all).map(of_series).collect();
    let earlier: Vec<Vec<(usize, stats::ChangePoint)>> = earlier(&all, bits);
    let held: Vec<Held> = present.iter().map(Present::held).collect();
    let last = latest_builds(&held, ERROR);
    let pinned = question.baseline.as_ref().map(|name| {
        let pinned = |present: &Present<'_, '_>| {
            let (_, build) = present.series.finite.iter().find(|(index, _)| {
                let build = &present.series.reports[*index];
                build.build == *name
            })?;
            Some(*build)
        };
        let pinned: Vec<Option<Build>> = present.iter().map(pinned).collect();
        let known = held.iter().zip(&pinned).filter(|(_, pinned)| pinned.is_some());
        let known: Vec<Held> =
            known.map(|(held, pinned)| Held { pinned: *pinned, ..held.clone() }).collect();
        let mut judged = latest_builds(&known, ERROR).into_iter();
        pinned.iter().map(|pinned| pinned.and_then(|_| judged.next()?)).collect::<Vec<_>>()
    });
    let pinned = pinned.unwrap_or_else(|| vec![None; all.len()]);
    let shown = present.iter().zip(earlier).zip(last.into_iter().zip(pinned));
    let mut points: Vec<Judged> = shown
        .map(|((present, earlier), (last, pinned))| judge.point(present, earlier, last, pinned))
        .collect();
    // An acknowledgement without a point may apply to some of the points only.
    let seen: Vec<usize> = points.iter().flat_map(|point| point.seen.clone()).collect();
    points.iter_mut().for_each(|point| point.unseen.retain(|nth| !seen.contains(nth)));
    let all = all.into_iter().zip(points);
    all.map(|(series, point)| point.into_point_history(series, &question.acknowledged)).collect()
}

/// Searches the present series of each point for changes of level. Returns the levels of each
/// series, preceded by the index of the first build that was searched, among the builds with a
/// finite figure.
fn of_all(
    all: &[Series<'_>],
    bits: &mut dyn FnMut() -> u64,
) -> Vec<(usize, Result<Levels, NotDivided>)> {
    let from = |series: &Series<'_>| {
        // Only the last [`SERIES_MAX`] builds are divided into levels.
        series.from().max(series.finite.len().saturating_sub(SERIES_MAX))
    };
    let figures = |series: &Series<'_>| -> Vec<Build> {
        series.finite[from(series)..].iter().map(|(_, build)| *build).collect()
    };
    let figures: Vec<Vec<Build>> = all.iter().map(figures).collect();
    all.iter().map(from).zip(levels(&figures, ERROR, bits)).collect()
}

/// Searches the earlier series of each point, on other machines or with other settings, for changes
/// of level, which raise no alarm. Each change comes with its index among the builds with a finite
/// figure.
fn earlier(
    all: &[Series<'_>],
    bits: &mut dyn FnMut() -> u64,
) -> Vec<Vec<(usize, stats::ChangePoint)>> {
    let mut places: Vec<(usize, usize)> = Vec::new();
    let mut figures: Vec<Vec<Build>> = Vec::new();
    for (point, series) in all.iter().enumerate() {
        let mut ends: Vec<usize> = series.starts.iter().map(|start| start.at).collect();
        ends.retain(|at| *at > 0);
        let mut from = 0;
        for end in ends {
            let n_before = series.finite.iter().filter(|(index, _)| *index < end).count();
            places.push((point, from));
            figures.push(series.finite[from..n_before].iter().map(|(_, one)| *one).collect());
            from = n_before;
        }
    }
    let mut found: Vec<Vec<(usize, stats::ChangePoint)>> = all.iter().map(|_| Vec::new()).collect();
    for ((point, from), levels) in places.into_iter().zip(levels(&figures, ERROR, bits)) {
        let changes = levels.map(|levels| levels.changes).unwrap_or_default();
        found[point].extend(changes.into_iter().map(|change| (from + change.at, change)));
    }
    found
}

/// The present series of a point: the builds since the machine or settings last changed.
struct Present<'a, 's> {
    series: &'a Series<'s>,
    /// Index, among the builds with a finite figure, of the first build that was searched for
    /// changes of level, and the levels that were found.
    found: (usize, Result<Levels, NotDivided>),
    accepted: Vec<Accepted>,
    /// Indices, in the user's list of acknowledgements, of those whose change is visible in the
    /// series.
    visible: Vec<usize>,
    /// Beginnings of the levels (ranges of builds with the same figure but for noise), in order:
    /// changes that were found, and acknowledged changes that are visible.
    begun: Vec<Begun>,
    /// Builds with which the last build is compared, as a range of indices among the builds with a
    /// finite figure.
    reference: Range<usize>,
}

/// The beginning of a level: of successive builds whose figure is the same but for noise.
#[derive(Clone, Copy, Debug)]
struct Begun {
    /// Index of the first build at this level, among the builds with a finite figure.
    at: usize,
    /// True if the user acknowledged the change to this level. Then the last build is compared with
    /// this level, however few builds it has.
    is_acknowledged: bool,
    /// True if the level has too few builds to be found, and is known only from its
    /// acknowledgement.
    is_only_acknowledged: bool,
}

impl<'a, 's> Present<'a, 's> {
    fn new(
        series: &'a Series<'s>,
        found: (usize, Result<Levels, NotDivided>),
        accepted: Vec<Accepted>,
    ) -> Present<'a, 's> {
        let (visible, begun) = (Vec::new(), Vec::new());
        let mut present = Present { series, found, accepted, visible, begun, reference: 0..0 };
        let visible = present.accepted.iter().filter(|one| present.is_visible(one));
        present.visible = visible.map(|one| one.nth).collect();
        present.begun = present.levels_begun();
        present.reference = present.reference();
        present
    }

    /// Returns the data by which the last build is judged: its figure, the builds with which it is
    /// compared, and those of earlier levels.
    fn held(&self) -> Held {
        let builds = |range: Range<usize>| -> Vec<Build> {
            self.series.finite[range].iter().map(|(_, build)| *build).collect()
        };
        let earlier = self.begun.windows(2).filter(|two| two[1].at <= self.reference.start);
        let earlier = earlier.map(|two| builds(two[0].at..two[1].at)).collect();
        let before = builds(self.reference.clone());
        Held { before, earlier, last: self.series.newest, pinned: None }
    }

    /// Returns the changes of level that were found: the index of each among the builds with a
    /// finite figure, and the ratio of the new level to the old one.
    fn found_changes(&self) -> Vec<(usize, f64)> {
        let (from, levels) = &self.found;
        let changes = levels.as_ref().map(|levels| &levels.changes[..]).unwrap_or_default();
        let ratio = |change: &stats::ChangePoint| (change.after - change.before).exp();
        changes.iter().map(|change| (from + change.at, ratio(change))).collect()
    }

    /// Returns the first build of each level, in the order of the builds.
    fn levels_begun(&self) -> Vec<Begun> {
        let end = self.series.finite_before_last();
        let found = self.found_changes();
        let of_found = |&(at, ratio): &(usize, f64)| {
            let covering = self.accepted.iter().filter(|one| one.covers(ratio));
            let places = covering.filter_map(|one| self.place_in_figures(one));
            let acknowledged = places.filter(|place| place.abs_diff(at) <= NEAR).max();
            // The place that was acknowledged is more exact than one found among few builds.
            let exact = acknowledged.filter(|place| *place < end).unwrap_or(at);
            Begun {
                at: exact.max(at),
                is_acknowledged: acknowledged.is_some(),
                is_only_acknowledged: false,
            }
        };
        let of_acknowledged = |one: &Accepted| {
            let at = self.place_in_figures(one)?;
            let is_found = found.iter().any(|(known, _)| known.abs_diff(at) <= NEAR);
            let is_new = !is_found && self.visible.contains(&one.nth);
            is_new.then_some(Begun { at, is_acknowledged: true, is_only_acknowledged: true })
        };
        let (from, _) = self.found;
        let first = Begun { at: from, is_acknowledged: false, is_only_acknowledged: false };
        let acknowledged = self.accepted.iter().filter_map(of_acknowledged);
        let mut begun: Vec<Begun> =
            iter::once(first).chain(found.iter().map(of_found)).chain(acknowledged).collect();
        begun.sort_by_key(|level| level.at);
        begun.dedup_by_key(|level| level.at);
        begun
    }

    /// Returns the index of an acknowledged build among the builds with a finite figure; `None` if
    /// it is not in the present series.
    fn place_in_figures(&self, one: &Accepted) -> Option<usize> {
        self.place(one.index).map(|place| self.found.0 + place)
    }

    /// Returns true if an acknowledged change shows in the series: its build is outside of the
    /// expected range of the builds before it at the same level, and all later builds stay nearer
    /// to it than to those before.
    fn is_visible(&self, one: &Accepted) -> bool {
        let Some(at) = self.place_in_figures(one) else { return false };
        let figures = &self.series.finite;
        let changes = self.found_changes();
        let mut starts = changes.iter().map(|(start, _)| *start);
        let from = starts.clone().rfind(|start| *start <= at).unwrap_or(self.found.0);
        let next = starts.find(|start| *start > at);
        let before: Vec<Build> = figures[from..at].iter().map(|(_, build)| *build).collect();
        let (_, changed) = figures[at];
        let held = Held { before, earlier: Vec::new(), last: changed, pinned: None };
        let [Some(first)] = latest_builds(&[held], ERROR)[..] else { return false };
        let change = changed.mean - first.before;
        // The last one may have changed again.
        let to = next.unwrap_or(self.series.finite_before_last()).max(at);
        let mut since = figures[at..to].iter();
        first.is_outside && since.all(|(_, build)| (build.mean - first.before) / change > 0.5)
    }

    /// Returns the builds with which the last build is compared, as indices among the builds with a
    /// finite figure: the others at the level of the last build. If these are too few, and the user
    /// has not acknowledged that level, returns the builds of the level before.
    fn reference(&self) -> Range<usize> {
        let end = self.series.finite_before_last();
        let n_before = self.begun.partition_point(|level| level.at < end);
        match self.begun[..n_before] {
            [.., before, level] if !level.is_acknowledged && level.at + BEFORE_MIN > end => {
                before.at..level.at
            }
            [.., level] => level.at..end,
            [] => end..end,
        }
    }

    /// Returns true if the last build is compared with builds of an earlier level than its own.
    fn is_of_former_level(&self) -> bool {
        self.begun.last().is_some_and(|level| level.at > self.reference.start)
    }

    /// Returns the acknowledged build that begins the level with which the last build is compared,
    /// if only its acknowledgement shows that level; `None` otherwise.
    fn acknowledged_since(&self) -> Option<String> {
        let level = self.begun.iter().find(|level| level.at == self.reference.start)?;
        let (index, _) = self.series.finite.get(level.at)?;
        level.is_only_acknowledged.then(|| self.series.reports[*index].build.clone())
    }

    /// Returns the first of the latest builds that vary more than the builds before them, if the
    /// last build is compared with these latest ones alone; `None` otherwise.
    fn varies_more_since(&self, last: &LatestBuild) -> Option<String> {
        let at = self.reference.end.checked_sub(last.varies_more_for?)?;
        let (index, _) = self.series.finite.get(at)?;
        Some(self.series.reports[*index].build.clone())
    }

    /// Returns the position of a build in the present series, given its index in the series of the
    /// point; `None` if it is earlier or has no finite figure.
    fn place(&self, index: usize) -> Option<usize> {
        let (from, _) = self.found;
        self.series.finite[from..].iter().position(|(known, _)| *known == index)
    }
}

/// The judgement of the series at one point, before it is joined with the builds to a
/// [`PointHistory`].
struct Judged {
    changes: Option<Vec<Change>>,
    fall: Option<Fall>,
    last: Option<Last>,
    baseline: Option<Last>,
    has_regressed: bool,
    /// Indices, in the user's list of acknowledgements, of those whose change the series shows.
    seen: Vec<usize>,
    /// Indices, in the user's list of acknowledgements, of those that name a build of the series,
    /// but whose change it does not show.
    unseen: Vec<usize>,
}

impl Judged {
    fn into_point_history(self, series: Series<'_>, acknowledged: &[Acknowledged]) -> PointHistory {
        let from = series.starts.last().map_or(0, |start| start.at);
        PointHistory {
            is_one_seed: is_one_seed(&series.builds[from..]),
            values: series.values.clone(),
            told: Named::default(),
            imported: None,
            builds: series.reports,
            starts: series.starts,
            changes: self.changes,
            fall: self.fall,
            last: self.last,
            baseline: self.baseline,
            lacks: series.lacks,
            lost: series.lost,
            has_regressed: self.has_regressed,
            unseen: self.unseen.iter().map(|nth| acknowledged[*nth].clone()).collect(),
        }
    }
}

/// Returns true if a simulated database drew the same random numbers for several runs, because all
/// have the same seed.
fn is_one_seed(builds: &[(&str, Vec<&dyn HistoryRun>)]) -> bool {
    let runs = || builds.iter().flat_map(|(_, runs)| runs.iter());
    let first = runs().next().map(|run| run.seed());
    let is_drawn = |run: &&dyn HistoryRun| run.like().is_drawn() && Some(run.seed()) == first;
    runs().nth(1).is_some() && runs().all(is_drawn)
}

struct Accepted {
    /// Index of the acknowledgement in the user's request, from 0.
    nth: usize,
    index: usize,
    reason: String,
    size: Option<f64>,
}

/// Largest ratio of the size of a change to the size that the user acknowledged at which both count
/// as the same change, since the acknowledged one was estimated from few builds. A size is the
/// absolute logarithm of the ratio of two levels.
pub const SIZE_MOST: f64 = 1.5;

impl Accepted {
    /// Returns true if this acknowledgement applies to a change by `ratio`, that is, if the change
    /// is not much larger than the one that the user acknowledged.
    fn covers(&self, ratio: f64) -> bool {
        self.size.is_none_or(|size| ratio.ln().abs() <= SIZE_MOST * size)
    }
}

/// Divides the acknowledgements of a series into those whose change it shows and the others, each
/// given by its index in the user's list. A last build outside of its expected range counts as a
/// change. If the series could not be divided into levels, both lists are empty.
fn seen(
    present: &Present<'_, '_>,
    changes: Option<&[Change]>,
    last: Option<&Last>,
) -> (Vec<usize>, Vec<usize>) {
    let Some(changes) = changes else { return (Vec::new(), Vec::new()) };
    let newest = last.filter(|last| last.is_outside).map(|_| present.series.reports.len() - 1);
    let is_seen = |one: &&Accepted| {
        let mut at = changes.iter().map(|change| change.at).chain(newest);
        present.visible.contains(&one.nth) || at.any(|at| at.abs_diff(one.index) <= NEAR)
    };
    let (seen, unseen): (Vec<&Accepted>, Vec<&Accepted>) =
        present.accepted.iter().partition(is_seen);
    let numbers = |all: Vec<&Accepted>| all.into_iter().map(|one| one.nth).collect();
    (numbers(seen), numbers(unseen))
}

/// Rules by which the points of a history are judged: the user's options, and whether higher or
/// lower is better.
struct Said<'q> {
    question: &'q Question,
    better: Direction,
}

impl Said<'_> {
    fn point(
        &self,
        present: &Present<'_, '_>,
        earlier: Vec<(usize, stats::ChangePoint)>,
        last: Option<LatestBuild>,
        pinned: Option<LatestBuild>,
    ) -> Judged {
        let (from, levels) = &present.found;
        let accepted = &present.accepted;
        let found: Option<Vec<Change>> = levels.as_ref().ok().map(|levels| {
            let now = levels.changes.iter().map(|change| (from + change.at, *change));
            let all = earlier.iter().copied().chain(now);
            all.map(|(at, change)| self.change(present.series, at, &change, accepted)).collect()
        });
        let newest = present.series.newest;
        let known = last;
        let mut last = known.map(|known| self.last(&known, newest.mean));
        if let Some(last) = &mut last {
            last.is_of_former_level = present.is_of_former_level();
            last.varies_more_since = known.and_then(|known| present.varies_more_since(&known));
            last.acknowledged_since = present.acknowledged_since();
            last.acknowledged = self.accepts_last(present.series, last, accepted);
        }
        let baseline = pinned.map(|pinned| self.last(&pinned, newest.mean));
        let fall = levels.as_ref().ok().and_then(|levels| self.fall(present, levels, accepted));
        let is_alarm = fall.is_some()
            || last.as_ref().is_some_and(Last::is_alarm)
            || baseline.as_ref().is_some_and(Last::is_alarm);
        let has_regressed = is_alarm && present.series.is_recent;
        let (seen, unseen) = seen(present, found.as_deref(), last.as_ref());
        let min_effect = self.question.judge.min_effect;
        let matters = |change: &Change| matters(change.ratio, min_effect);
        let changes = found.map(|found| found.into_iter().filter(matters).collect());
        Judged { changes, fall, last, baseline, has_regressed, seen, unseen }
    }

    /// Returns the acknowledgements that apply to the point of a series and name one of its builds.
    fn accepted(&self, series: &Series<'_>) -> Vec<Accepted> {
        let at = series.values.pairs(" ");
        let is_here = |one: &Acknowledged| one.point.is_empty() || one.point == at;
        let index = |(nth, one): (usize, &Acknowledged)| {
            let index = series.reports.iter().position(|build| build.build == one.build)?;
            Some(Accepted { nth, index, reason: one.reason.clone(), size: one.size })
        };
        let all = self.question.acknowledged.iter().enumerate();
        all.filter(|(_, one)| is_here(one)).filter_map(index).collect()
    }

    fn change(
        &self,
        series: &Series<'_>,
        at: usize,
        found: &stats::ChangePoint,
        accepted: &[Accepted],
    ) -> Change {
        let ratio = (found.after - found.before).exp();
        let at = series.finite[at].0;
        let own = |index: usize| series.builds[index].1.iter().map(|run| run.own_report());
        let changed = match at {
            0 => Vec::new(),
            // Reports that must be read first are compared later, by `compare_changes`.
            at => match (own(at - 1).collect(), own(at).collect()) {
                (Some(before), Some(after)) => between(&[before, after]),
                _ => Vec::new(),
            },
        };
        Change {
            build: series.reports[at].build.clone(),
            at,
            before: found.before.exp(),
            after: found.after.exp(),
            ratio,
            is_worse: is_worse(self.better, ratio),
            p: found.p,
            changed,
            acknowledged: accepted
                .iter()
                .find(|one| one.index.abs_diff(at) <= NEAR && one.covers(ratio))
                .map(|one| one.reason.clone()),
        }
    }

    /// Returns the slow fall of a series: the present level compared with that of ten builds ago,
    /// or of the last acknowledged build if that is newer. `None` if the level has not become
    /// worse.
    fn fall(
        &self,
        present: &Present<'_, '_>,
        levels: &Levels,
        accepted: &[Accepted],
    ) -> Option<Fall> {
        let (from, _) = present.found;
        let n_builds = present.series.finite.len() - from;
        let now = n_builds - 1;
        // The beginning of the acknowledged level, perhaps a little later; nowhere if the level
        // that began there changed by far more than was acknowledged.
        let begun = |one: &Accepted| {
            let at = present.place(one.index)?;
            let near = levels.changes.iter().filter(|change| (at..=at + NEAR).contains(&change.at));
            match near.max_by_key(|change| change.at) {
                Some(change) => {
                    one.covers((change.after - change.before).exp()).then_some(change.at)
                }
                None => Some(at),
            }
        };
        let accepted = accepted.iter().filter_map(begun).max().unwrap_or(0);
        let ago = now.saturating_sub(RECENT).max(accepted);
        let ratio = (levels.mean_at(now) - levels.mean_at(ago)).exp();
        let p = levels.p_between(ago, now);
        let is_fall = p < levels.error
            && is_worse(self.better, ratio)
            && matters(ratio, self.question.judge.min_effect);
        is_fall.then(|| Fall {
            since: present.series.reports[present.series.finite[from + ago].0].build.clone(),
            before: levels.mean_at(ago).exp(),
            now: levels.mean_at(now).exp(),
            ratio,
            p,
        })
    }

    /// Returns the comparison of the last build with `known`, which has the mean of earlier builds
    /// or the pinned build, and the range expected from them. `newest` is the last build's figure;
    /// it and the numbers in `known` are logarithms.
    fn last(&self, known: &LatestBuild, newest: f64) -> Last {
        let min_effect = self.question.judge.min_effect;
        let ratio = (newest - known.before).exp();
        // A rise of times, a fall of rates.
        let worst =
            if self.better == Direction::Lower { known.expected.1 } else { known.expected.0 };
        let seen_from = (worst - known.before).exp_m1().abs().max(min_effect);
        Last {
            before: known.before.exp(),
            expected: (known.expected.0.exp(), known.expected.1.exp()),
            ratio,
            is_outside: known.is_outside && matters(ratio, min_effect),
            is_worse: is_worse(self.better, ratio),
            seen_from,
            is_noisy: seen_from > NOISY_FROM.max(min_effect),
            is_of_former_level: false,
            varies_more_since: None,
            acknowledged_since: None,
            acknowledged: None,
        }
    }

    /// Returns the reason that the user gave for accepting the last build: it is acknowledged
    /// itself, or follows an acknowledged build within two builds and is not noticeably worse than
    /// that one. `None` if it is not accepted.
    fn accepts_last(
        &self,
        series: &Series<'_>,
        last: &Last,
        accepted: &[Accepted],
    ) -> Option<String> {
        if last.acknowledged_since.is_some() {
            return None;
        }
        let newest = series.reports.len() - 1;
        let one = accepted.iter().max_by_key(|one| one.index)?;
        let value = series.reports[one.index].value;
        let ratio = series.newest.mean.exp() / value;
        let is_more = one.size.is_some_and(|size| ratio.ln().abs() > (SIZE_MOST - 1.0) * size);
        let is_no_worse =
            !is_worse(self.better, ratio) || !(matters(ratio, last.seen_from) || is_more);
        (newest - one.index <= NEAR && (newest == one.index || is_no_worse))
            .then(|| one.reason.clone())
    }
}
