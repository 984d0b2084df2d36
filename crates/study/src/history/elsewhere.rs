//! Series of imported figures, which are shown beside the series of runs and judged apart from
//! them. Not here: the judgement (judge).

use analysis::figures::{Figure, figure, spellings};
use analysis::report::Named;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use model::{Imported, ImportedValue};

use super::Question;
use super::order::Dated;
use super::series::{Known, Series};

/// A build of an imported file, with its values of one figure.
pub(super) struct Build<'i> {
    name: &'i str,
    values: Vec<&'i ImportedValue>,
    /// Earliest time of the build in the file, by which builds are ordered; `None` if the file has
    /// no times.
    first: Option<Timestamp>,
}

impl Dated for Build<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn first(&self) -> Option<(Timestamp, &str)> {
        self.first.map(|time| (time, ""))
    }
}

/// Returns the name of the requested figure as imported files spell it, or of their first figure if
/// none is requested; `None` if no file has it.
pub(super) fn primary(question: &Question) -> Option<String> {
    let all = || question.imported.iter().flat_map(Imported::figures);
    match &question.judge.primary {
        None => all().next().map(str::to_owned),
        Some(asked) => spellings(asked.trim()).into_iter().find(|name| all().any(|f| f == name)),
    }
}

/// Returns the builds of an imported file, in the order of the file. Returns an error if the file
/// lacks the column `by` or the figure.
pub(super) fn builds<'i>(
    imported: &'i Imported,
    by: &str,
    primary: &str,
) -> Result<Vec<Build<'i>>, String> {
    let name = &imported.name;
    let Some(column) = imported.column(by) else {
        let columns = match &imported.columns[..] {
            [] => "no column but its figures".to_owned(),
            columns => columns.join(", "),
        };
        return Err(format!("the imported {name} has no column {by}: it has {columns} (--by)"));
    };
    let mut builds: Vec<Build<'i>> = Vec::new();
    for value in imported.values.iter().filter(|value| value.figure == primary) {
        let build = &value.at[column];
        let at = builds.iter().position(|known| known.name == build).unwrap_or_else(|| {
            builds.push(Build { name: build, values: Vec::new(), first: None });
            builds.len() - 1
        });
        let known = &mut builds[at];
        known.values.push(value);
        let times = [known.first, value.time.as_deref().and_then(instant)];
        known.first = times.into_iter().flatten().min();
    }
    if builds.is_empty() {
        let figures = imported.figures().join(", ");
        return Err(format!("the imported {name} has no {primary}: it has {figures} (--figure)"));
    }
    Ok(builds)
}

/// Returns the time of an imported value, which is in UTC; `None` if it is none.
fn instant(text: &str) -> Option<Timestamp> {
    Offset::UTC.to_timestamp(text.parse::<DateTime>().ok()?).ok()
}

/// Returns the distinct points of an imported file, in the order of the file. A point is given by
/// the values of all columns except the one with the builds.
pub(super) fn points(imported: &Imported, by: &str, builds: &[&Build<'_>]) -> Vec<Named<String>> {
    let mut points: Vec<Named<String>> = Vec::new();
    for value in builds.iter().flat_map(|build| &build.values) {
        let point = point(imported, by, value);
        if !points.contains(&point) {
            points.push(point);
        }
    }
    // In the order of the file, whatever the order of its builds is.
    let place = |point: &Named<String>| {
        imported.values.iter().position(|value| self::point(imported, by, value) == *point)
    };
    points.sort_by_cached_key(place);
    points
}

fn point(imported: &Imported, by: &str, value: &ImportedValue) -> Named<String> {
    let all = imported.columns.iter().zip(&value.at).filter(|(column, _)| *column != by);
    Named(all.map(|(column, at)| (column.clone(), at.clone())).collect())
}

/// Creates a series for each point of an imported file at which some build has the figure.
pub(super) fn series<'s>(
    imported: &'s Imported,
    by: &str,
    builds: &[&'s Build<'s>],
    points: &'s [Named<String>],
) -> Vec<Series<'s>> {
    let series_at = |values: &'s Named<String>| {
        let known = |build: &&'s Build<'s>| {
            let here = build.values.iter().filter(|value| point(imported, by, value) == *values);
            let here: Vec<&ImportedValue> = here.copied().collect();
            let figures: Vec<f64> = here.iter().map(|value| value.value).collect();
            let (figure, of_build) = (given(&here)?, judged_as(&here));
            Some(Known { build: build.name, runs: Vec::new(), figure, figures, of_build })
        };
        let names: Vec<&str> = builds.iter().map(|build| build.name).collect();
        Series::known(values, builds.iter().filter_map(known).collect(), &names)
    };
    points.iter().filter_map(series_at).collect()
}

/// Returns the mean and error of the values that a file has for one build; `None` without values. A
/// single value keeps the error and count that the file gives for it.
fn given(values: &[&ImportedValue]) -> Option<Figure> {
    let all: Vec<f64> = values.iter().map(|value| value.value).collect();
    let of_values = figure(&all)?;
    Some(match values {
        [one] => {
            let count = one.count.unwrap_or(of_values.count);
            Figure { half_width: one.half_width, count, ..of_values }
        }
        _ => of_values,
    })
}

/// Returns the mean and variation of the logarithms of a build's values, by which the build is
/// judged. A single value that is the mean of several runs with an error stands for these runs;
/// otherwise each value counts as a run.
fn judged_as(values: &[&ImportedValue]) -> stats::Build {
    if let [ImportedValue { value, count: Some(count @ 2..), half_width: Some(half), .. }] = values
    {
        return stats::Build::summarized(value.ln(), *count as usize, half / value);
    }
    let logarithms: Vec<f64> = values.iter().map(|one| one.value.ln()).collect();
    stats::Build::from_figures(&logarithms)
}

#[cfg(test)]
mod tests {
    use model::{Rng, Stream};

    use super::super::{HistoryReport, PointHistory};
    use super::*;
    use crate::comparison::{Judge, Side};
    use crate::fixtures::sides;
    use crate::matrix::Matrices;

    /// Makes an imported file of `tps` from builds, numbers of clients and values.
    fn imported(columns: [&str; 2], values: &[(&str, &str, f64)]) -> Imported {
        let value = |(build, clients, value): &(&str, &str, f64)| ImportedValue {
            at: vec![(*build).to_owned(), (*clients).to_owned()],
            figure: "tps".to_owned(),
            value: *value,
            unit: String::new(),
            half_width: None,
            count: None,
            time: None,
        };
        let values = values.iter().map(value).collect();
        let columns = columns.map(str::to_owned).to_vec();
        Imported { name: "theirs".to_owned(), source: "a page".to_owned(), columns, values }
    }

    fn question(imported: Vec<Imported>) -> Question {
        let judge = Judge { primary: None, min_effect: 0.02, also: Vec::new() };
        Question { imported, ..Question::new("build", judge) }
    }

    fn history(question: &Question, builds: &[Side]) -> Result<HistoryReport, String> {
        let mut rng = Rng::new(1, Stream::Order, 0);
        HistoryReport::new(question, builds, &mut || rng.bits())
    }

    /// Makes eight builds of one level with some noise, and a last build with this value.
    fn with_last(last: f64) -> Vec<(String, f64)> {
        let noise = [0.3, -0.7, 0.9, -0.2, -0.4, 0.6, 0.1, -0.1];
        let build = |(n, noise): (usize, f64)| (format!("1.{n}"), 1000.0 * (1.0 + 0.01 * noise));
        let all = noise.into_iter().enumerate().map(build);
        all.chain([("1.9".to_owned(), last)]).collect()
    }

    fn ours(last: f64) -> Vec<Side> {
        let side = |(name, tps): (String, f64)| sides::side(&name, &[("8", &[tps], 0)]);
        with_last(last).into_iter().map(side).collect()
    }

    #[test]
    fn imported_figures_alone_have_a_series_for_each_point_in_the_order_of_versions() {
        let all = imported(
            ["build", "clients"],
            &[("1.10", "8", 90.0), ("1.9", "8", 80.0), ("1.9", "1", 10.0), ("1.9", "8", 20.0)],
        );
        let shown = history(&question(vec![all]), &[]).expect("they have figures");
        assert_eq!((shown.figure.as_str(), shown.imported[0].source.as_str()), ("tps", "a page"));
        let names: Vec<String> = shown.points.iter().map(PointHistory::name).collect();
        assert_eq!(names, ["clients=8 (imported: theirs)", "clients=1 (imported: theirs)"]);
        let builds: Vec<(&str, f64, u64)> = shown.points[0]
            .builds
            .iter()
            .map(|build| (build.build.as_str(), build.value.round(), build.figure.count))
            .collect();
        // The geometric mean of several values of a build.
        assert_eq!(builds, [("1.9", 40.0, 2), ("1.10", 90.0, 1)]);
    }

    #[test]
    fn what_was_measured_elsewhere_changes_no_verdict_on_our_runs() {
        let alone = history(&question(Vec::new()), &ours(1000.0)).expect("they have runs");
        let worse = with_last(500.0);
        let worse: Vec<_> = worse.iter().map(|(name, tps)| (name.as_str(), "8", *tps)).collect();
        let beside = question(vec![imported(["build", "clients"], &worse)]);
        let shown = history(&beside, &ours(1000.0)).expect("they have runs");
        assert_eq!((alone.points.len(), shown.points.len()), (1, 2));
        assert_eq!(shown.points[0], alone.points[0], "it has no interval of theirs");
        assert!(!shown.points[0].has_regressed && shown.points[1].has_regressed);
        assert_eq!(shown.points[1].imported.as_deref(), Some("theirs"));
        assert_eq!(shown.false_alarms.share, 2.0 * alone.false_alarms.share);
        // An acknowledgement for runs does not apply to imported figures.
        let accepted = model::Acknowledged {
            build: "1.9".to_owned(),
            point: String::new(),
            reason: "slower codec".to_owned(),
            size: None,
        };
        let accepts = Question { acknowledged: vec![accepted], ..beside };
        let shown = history(&accepts, &ours(500.0)).expect("they have runs");
        assert!(!shown.points[0].has_regressed && shown.points[1].has_regressed);
    }

    #[test]
    fn a_build_that_is_the_mean_of_several_runs_weighs_as_these() {
        let mut rng = Rng::new(5, Stream::Order, 1);
        let mut noise = || (0..12).map(|_| rng.bits() as f64 / u64::MAX as f64).sum::<f64>() - 6.0;
        let (mut known, mut unknown) = (0, 0);
        for _ in 0..100 {
            // Runs scatter by 5 %; all builds except the last are means of five.
            let mut build_of = |n: u32| {
                let runs: Vec<f64> = (0..n).map(|_| 1000.0 * (1.0 + 0.05 * noise())).collect();
                stats::Build::from_figures(&runs)
            };
            let mut builds: Vec<(String, stats::Build)> =
                (0..20).map(|n| (format!("1.{n}"), build_of(5))).collect();
            builds.push(("1.90".to_owned(), build_of(1)));
            let value = |has_error: bool, (name, build): &(String, stats::Build)| ImportedValue {
                at: vec![name.clone(), "8".to_owned()],
                figure: "tps".to_owned(),
                value: build.mean,
                unit: String::new(),
                // Student's t with four degrees of freedom.
                half_width: (has_error && build.count > 1)
                    .then(|| 2.776 * (build.squares / 4.0 / 5.0).sqrt()),
                count: Some(build.count as u64),
                time: None,
            };
            let fails = |has_error: bool| {
                let mut all = imported(["build", "clients"], &[]);
                all.values = builds.iter().map(|build| value(has_error, build)).collect();
                history(&question(vec![all]), &[]).expect("they have figures").has_regressed()
            };
            known += u32::from(fails(true));
            unknown += u32::from(fails(false));
        }
        assert!(known <= 3, "{known} of 100");
        assert!(unknown > known, "{unknown} of 100");
    }

    #[test]
    fn figures_and_columns_that_are_not_there_are_named() {
        let error_of = |question: &Question, sides: &[Side]| match history(question, sides) {
            Ok(shown) => panic!("{shown:?}"),
            Err(why) => why,
        };
        let all = imported(["version", "clients"], &[("1.9", "8", 1.0)]);
        let why = error_of(&question(vec![all.clone()]), &[]);
        assert_eq!(why, "the imported theirs has no column build: it has version, clients (--by)");
        let by_version = Question { by: "version".to_owned(), ..question(vec![all]) };
        assert!(history(&by_version, &[]).is_ok());
        let judge = Judge { primary: Some("p99".to_owned()), ..by_version.judge.clone() };
        let asked = Question { judge, ..by_version };
        assert_eq!(error_of(&asked, &[]), "no imported figure is called p99: choose one of tps");
        let baseline = question(vec![imported(["build", "clients"], &[("1.9", "8", 1.0)])]);
        let baseline = Question { baseline: Some("1.7".to_owned()), ..baseline };
        assert!(error_of(&baseline, &[]).contains("1.7"));
    }

    #[test]
    fn a_table_has_the_mean_of_the_last_ten_builds_of_each_series() {
        let mut values: Vec<(String, &str, f64)> = Vec::new();
        for n in 0..12 {
            // The first two belong to an earlier series.
            let first = if n < 2 { 1000.0 } else { 0.0 };
            values.push((format!("1.{n}"), "1", 10.0 + f64::from(n % 2) + first));
            values.push((format!("1.{n}"), "8", 20.0 + f64::from(n % 2) + first));
            values.push((format!("1.{n}"), "16", 20.1 + f64::from(n % 2) + first));
        }
        let values: Vec<_> = values.iter().map(|(b, c, v)| (b.as_str(), *c, *v)).collect();
        let shown = history(&question(vec![imported(["build", "clients"], &values)]), &[]);
        let shown = shown.expect("they have figures");
        let all = Matrices::of_history(&shown, "clients", None).expect("clients differ");
        let cells: Vec<_> = all.tables[0].cells.iter().map(|row| row[0].expect("known")).collect();
        let means: Vec<f64> = cells.iter().map(|cell| cell.mean).collect();
        assert!((means[0] - 10.5).abs() < 1e-9 && (means[2] - 20.6).abs() < 1e-9, "{means:?}");
        assert!(cells.iter().all(|cell| cell.count == 10 && cell.half_width.is_some()));
        let line = &all.tables[0].lines[0];
        assert_eq!((line.best, line.smallest), (Some(2), Some(1)));
        assert_eq!(all.builds.as_ref().map(|builds| builds.last), Some(10));
        assert!(Matrices::of_history(&shown, "writers", None).is_err());
        // Runs and imported figures are separate.
        let mut both = history(&question(Vec::new()), &ours(1000.0)).expect("they have runs");
        both.points.extend(shown.points);
        let both = Matrices::of_history(&both, "clients", None).expect("clients differ");
        assert_eq!(
            both.columns.map(|axis| axis.values),
            Some(vec!["runs".into(), "theirs".into()])
        );
    }
}
