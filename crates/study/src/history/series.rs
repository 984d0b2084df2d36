//! The series of a history: the builds of each point, before they are judged.

use analysis::figures::{Figure, figure};
use analysis::report::{Named, Report};
use stats::Build;

use super::environment::{self, Start};
use super::{BuildReport, HistoryRun, LeftOut, OF_LAST, RECENT, lacks, lost};
use crate::comparison::{Difference, Side};

/// The builds of a history at one point (combination of varied parameters), with all data that is
/// needed to judge them.
pub(super) struct Series<'s> {
    pub(super) values: &'s Named<String>,
    /// Names of the builds, each with its runs.
    pub(super) builds: Vec<(&'s str, Vec<&'s dyn HistoryRun>)>,
    pub(super) reports: Vec<BuildReport>,
    /// Builds with a finite figure, each with its index in the field `reports`, and the mean and
    /// variation of the logarithms of the figures of its runs.
    pub(super) finite: Vec<(usize, Build)>,
    /// Mean and variation of the logarithms of the last build's figures, even if they are infinite.
    pub(super) newest: Build,
    pub(super) starts: Vec<Start>,
    pub(super) lacks: Option<LeftOut>,
    pub(super) lost: String,
    /// True if the last build of this series is among the last ten builds of the history. A series
    /// that ends earlier raises no alarm.
    pub(super) is_recent: bool,
}

/// A build with its values of the figure at one point, from which a series is made.
pub(super) struct Known<'s> {
    pub(super) build: &'s str,
    pub(super) runs: Vec<&'s dyn HistoryRun>,
    /// Values of the figure in the runs of the build.
    pub(super) figures: Vec<f64>,
    /// Mean and error of the values in `figures`.
    pub(super) figure: Figure,
    /// Mean and variation of the logarithms of the values in `figures`.
    pub(super) of_build: Build,
}

impl<'s> Series<'s> {
    /// Creates the series of the point with these values, from the builds whose runs have the
    /// figure there; `None` if no build has it.
    pub(super) fn from_sides<R: HistoryRun>(
        values: &'s Named<String>,
        all: &[&'s Side<R>],
        primary: &str,
    ) -> Option<Series<'s>> {
        let at = |build: &&'s Side<R>| {
            let point = build.points.iter().find(|point| point.values == *values)?;
            let runs = point.reports.iter().map(|run| run as &dyn HistoryRun).collect::<Vec<_>>();
            let figures: Vec<f64> = runs.iter().filter_map(|run| run.value(primary)).collect();
            let is_known = !figures.is_empty() && figures.iter().all(|value| !value.is_nan());
            let figure = figure(&figures).filter(|_| is_known)?;
            let logarithms: Vec<f64> = figures.iter().map(|value| value.ln()).collect();
            let of_build = Build::from_figures(&logarithms);
            Some(Known { build: &build.name, runs, figures, figure, of_build })
        };
        let names: Vec<&str> = all.iter().map(|build| build.name.as_str()).collect();
        let series = Series::known(values, all.iter().filter_map(at).collect(), &names)?;
        let last = series.builds.last()?.0;
        let lost = all.iter().find(|build| build.name == last).map(|build| lost(build, values));
        let lacks = lacks(last, all.last());
        Some(Series { lacks, lost: lost.unwrap_or_default(), ..series })
    }

    /// Creates the series of the point with these values, from its builds. `all` are the names of
    /// the builds of all points, in order. `None` if the point has no builds.
    pub(super) fn known(
        values: &'s Named<String>,
        known: Vec<Known<'s>>,
        all: &[&str],
    ) -> Option<Series<'s>> {
        let first = |known: &Known<'s>| Some((known.build, known.runs.first()?.like()));
        let first_runs: Vec<(&str, &Report)> = known.iter().filter_map(first).collect();
        let starts = environment::starts(&first_runs);
        let (mut reports, mut finite): (Vec<BuildReport>, Vec<_>) = (Vec::new(), Vec::new());
        let mut newest = None;
        for (index, current) in known.iter().enumerate() {
            let of_build = current.of_build;
            if of_build.mean.is_finite() {
                finite.push((index, of_build));
            }
            newest = Some(of_build);
            // A single value is kept exactly; a mean would round its last digit.
            let value = match current.figures[..] {
                [one] => one,
                _ => of_build.mean.exp(),
            };
            let start = starts.iter().map(|start| start.at).rfind(|at| *at <= index).unwrap_or(0);
            let before = &reports[start.max(index.saturating_sub(OF_LAST - 1))..];
            let sum = before.iter().map(|build| build.value).sum::<f64>() + value;
            reports.push(BuildReport {
                build: current.build.to_owned(),
                runs: current.runs.iter().map(|run| run.run_id().to_owned()).collect(),
                figure: current.figure,
                value,
                mean_of_ten: sum / (before.len() + 1) as f64,
            });
        }
        let last = known.last()?.build;
        let from_end = all.iter().rev().position(|build| *build == last)?;
        let builds = known.into_iter().map(|known| (known.build, known.runs)).collect();
        let (is_recent, lacks, lost) = (from_end < RECENT, None, String::new());
        let newest = newest?;
        Some(Series { values, builds, reports, finite, newest, starts, lacks, lost, is_recent })
    }

    /// Returns the index, among the builds with a finite figure, at which the present series
    /// begins; earlier builds had another machine or other settings.
    pub(super) fn from(&self) -> usize {
        let start = self.starts.last().map_or(0, |start| start.at);
        self.finite.iter().position(|(index, _)| *index >= start).unwrap_or(self.finite.len())
    }

    pub(super) fn finite_before_last(&self) -> usize {
        self.finite.len() - usize::from(self.newest.mean.is_finite())
    }
}

/// Marks series of a history that go on where those of another point ended, as after a parameter
/// was changed for good. Such a series gets a [`Start`] at its first build, which lists the
/// parameters that differ from the most similar point whose builds are all older.
pub(super) fn follow<R>(all: &mut [Series<'_>], builds: &[&Side<R>]) {
    let place = |name: &str| builds.iter().position(|build| build.name == name);
    let ends: Vec<(Option<usize>, Option<usize>, Named<String>)> = all
        .iter()
        .map(|series| {
            let end =
                |one: Option<&(&str, Vec<&dyn HistoryRun>)>| one.and_then(|(name, _)| place(name));
            (end(series.builds.first()), end(series.builds.last()), series.values.clone())
        })
        .collect();
    for (series, (first, _, values)) in all.iter_mut().zip(&ends) {
        let before = ends.iter().filter(|(_, last, _)| last < first);
        let differing = |other: &Named<String>| -> Vec<Difference> {
            let pairs = values.iter().zip(other.iter()).filter(|(a, b)| a != b);
            let one =
                |((name, after), (_, before)): ((&str, &String), (&str, &String))| Difference {
                    about: "plan".to_owned(),
                    name: name.to_owned(),
                    values: vec![Some(before.clone()), Some(after.clone())],
                };
            pairs.map(one).collect()
        };
        let nearest = before
            .map(|(_, last, other)| (differing(other), *last))
            .min_by_key(|(changed, last)| (changed.len(), std::cmp::Reverse(*last)));
        if let (Some((changed, _)), Some((name, _))) = (nearest, series.builds.first()) {
            series.starts.insert(0, Start { build: (*name).to_owned(), at: 0, changed });
        }
    }
}
