//! `compare` and `history`: which runs of the store make a side or a build, and what these have
//! shown against each other.
//!
//! A side is written as the runs of a label (`build=1.2`), an experiment, or runs with commas
//! between. Points of an experiment are its axes' values; other runs have the points that their
//! clients, workloads, rates and ways of calling make, as far as these differ. Not here: the
//! judgement (results).

use model::{Dice, Load, RunId, Stream, short_axis};
use results::comparison::{Judge, Side, SidePoint};
use results::experiment::{Trialled, counts};
use results::report::{Field, Named, Report};
use results::store::{Filter, Status, Store, StoreError, StoreErrorKind};
use results::{ComparisonReport, HistoryReport};

use crate::Trouble;
use crate::experiment::{Kept, Trials, kept_report_but, trials};
use crate::run::store_trouble;

/// What is held against what.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// Sides as written, the baseline first.
    Sides(Vec<String>),
    /// The values of one axis of one experiment, the first of them the baseline.
    Axis {
        /// The experiment, by name.
        experiment: String,
        /// The axis.
        axis: String,
    },
}

/// Holds sides against each other.
pub fn compare(store: &Store, asked: &Asked, judge: &Judge) -> Result<ComparisonReport, Trouble> {
    let mut damaged = Vec::new();
    let sides = match asked {
        Asked::Sides(names) => sides(store, names, &mut damaged)?,
        Asked::Axis { experiment, axis } => by_axis(store, experiment, axis, &mut damaged)?,
    };
    let held = ComparisonReport::new(&sides, judge).map_err(Trouble::Usage)?;
    Ok(ComparisonReport { damaged, ..held })
}

/// The history of a label's values.
pub fn history(store: &Store, key: &str, judge: &Judge) -> Result<HistoryReport, Trouble> {
    let figures = [&Report::AT_LENGTH[..], &Report::SET_UP].concat();
    let mut damaged = Vec::new();
    let builds = labelled(store, key, None, &figures, &mut damaged)?;
    let mut dice = Dice::new(1, Stream::Order, u64::MAX);
    let told = HistoryReport::new(key, &placed(builds), judge, &mut || dice.bits());
    told.map(|told| HistoryReport { damaged, ..told }).map_err(Trouble::Usage)
}

/// The runs of a label by its values, or of one value, as they were made: the oldest first. One
/// that was killed has no report; one that goes on does not count. Reports come with some of their
/// fields empty.
fn labelled(
    store: &Store,
    key: &str,
    value: Option<&str>,
    emptied: &[Field],
    damaged: &mut Vec<String>,
) -> Result<Vec<Found>, Trouble> {
    let label = Some((key.to_owned(), value.map(str::to_owned)));
    let mut rows = store.list(&Filter { label, ..Filter::default() }).map_err(store_trouble)?;
    rows.retain(|row| row.status != Status::Running);
    let mut all: Vec<(String, Vec<Report>, usize)> = Vec::new();
    for row in rows.iter().rev() {
        let value = row.labels.iter().find(|(name, _)| name == key).map(|(_, value)| value);
        let value = value.expect("the label was asked for");
        if !all.iter().any(|(name, ..)| name == value) {
            all.push((value.clone(), Vec::new(), 0));
        }
        let of = all.iter_mut().find(|(name, ..)| name == value);
        let (_, reports, n_lost) = of.expect("it was put there");
        match kept_report_but(store, &row.run, emptied)? {
            Kept::Report(report) => reports.push(*report),
            Kept::Not => *n_lost += 1,
            Kept::Damaged => {
                *n_lost += 1;
                damaged.push(row.run.0.clone());
            }
        }
    }
    if all.is_empty() {
        let (label, example) = match value {
            Some(value) => (format!("{key}={value}"), format!("{key}={value}")),
            None => (key.to_owned(), format!("{key}=1.2")),
        };
        return Err(Trouble::Usage(format!(
            "no run has the label {label}: 'dbdyno runs list' shows labels, 'dbdyno runs label RUN \
             {example}' sets one"
        )));
    }
    Ok(all.into_iter().map(|(name, reports, n_lost)| Found::Runs(name, reports, n_lost)).collect())
}

/// A run with its point.
struct Placed {
    values: Named<String>,
    report: Report,
}

/// A side before its points are known.
enum Found {
    Experiment(String, Vec<Placed>),
    /// With how many runs besides that have no report.
    Runs(String, Vec<Report>, usize),
}

fn sides(store: &Store, names: &[String], damaged: &mut Vec<String>) -> Result<Vec<Side>, Trouble> {
    let found = names.iter().map(|name| side(store, name, damaged));
    let found = found.collect::<Result<Vec<Found>, Trouble>>()?;
    for (index, one) in found.iter().enumerate() {
        for (before, name) in found[..index].iter().zip(names) {
            let theirs = before.runs();
            if let Some(run) = one.runs().into_iter().find(|run| theirs.contains(run)) {
                return Err(Trouble::Usage(format!(
                    "{name} and {} share the run {run}: nothing is compared with itself",
                    names[index]
                )));
            }
        }
    }
    Ok(placed(found))
}

impl Found {
    fn reports(&self) -> Vec<&Report> {
        match self {
            Found::Experiment(_, placed) => placed.iter().map(|at| &at.report).collect(),
            Found::Runs(_, reports, _) => reports.iter().collect(),
        }
    }

    fn runs(&self) -> Vec<&String> {
        self.reports().into_iter().map(|report| &report.run_id).collect()
    }
}

/// A name that means nothing is a mistake of who wrote it, and not of the store.
fn not_found(error: StoreError) -> Trouble {
    match error.kind {
        StoreErrorKind::UnknownRun | StoreErrorKind::AmbiguousRun => {
            Trouble::Usage(error.to_string())
        }
        _ => store_trouble(error),
    }
}

/// Sides with their runs at their points.
fn placed(found: Vec<Found>) -> Vec<Side> {
    let is_alone = found.iter().all(|side| matches!(side, Found::Experiment(..)));
    // Where any side is of single runs, all are told apart by what runs themselves say.
    let telling = if is_alone { Vec::new() } else { telling(&found) };
    let place = |report: Report| {
        let marks = marks(&report);
        let values = telling.iter().map(|index| marks[*index].clone());
        let values = Named(values.map(|(name, value)| (name.to_owned(), value)).collect());
        Placed { values, report }
    };
    let side_of = |side| match side {
        Found::Experiment(name, placed) if is_alone => gather(name, placed, 0),
        Found::Experiment(name, placed) => {
            gather(name, placed.into_iter().map(|placed| place(placed.report)).collect(), 0)
        }
        Found::Runs(name, runs, n_lost) => {
            gather(name, runs.into_iter().map(place).collect(), n_lost)
        }
    };
    found.into_iter().map(side_of).collect()
}

/// Which marks differ between any of the runs.
fn telling(found: &[Found]) -> Vec<usize> {
    let all: Vec<Vec<(&'static str, String)>> =
        found.iter().flat_map(Found::reports).map(marks).collect();
    let tells = |index: &usize| all.windows(2).any(|two| two[0][*index] != two[1][*index]);
    (0..MARKS).filter(tells).collect()
}

const MARKS: usize = 4;

/// What makes a point of a single run.
fn marks(report: &Report) -> Vec<(&'static str, String)> {
    let rate = match &report.load {
        Some(Load::Open { rate, .. }) => rate.to_string(),
        _ => String::new(),
    };
    let calls = report.groups.first().and_then(|group| group.parameters.get("calls"));
    vec![
        ("workload", report.workload.clone()),
        ("clients", report.clients.to_string()),
        ("rate", rate),
        ("calls", calls.cloned().unwrap_or_default()),
    ]
}

/// The runs that count by their points, in the order in which these first occur.
fn gather(name: String, placed: Vec<Placed>, n_lost: usize) -> Side {
    let mut side = Side { name, points: Vec::new(), runs_not_counted: n_lost as u64 };
    for Placed { values, report } in placed {
        if !counts(&report) {
            side.runs_not_counted += 1;
            continue;
        }
        match side.points.iter_mut().find(|point| point.values == values) {
            Some(point) => point.reports.push(report),
            None => side.points.push(SidePoint { values, reports: vec![report] }),
        }
    }
    side
}

fn side(store: &Store, name: &str, damaged: &mut Vec<String>) -> Result<Found, Trouble> {
    if let Some((key, value)) = name.split_once('=') {
        let mut found = labelled(store, key, Some(value), &Report::AT_LENGTH, damaged)?;
        let Found::Runs(_, reports, n_lost) = found.swap_remove(0) else {
            unreachable!("a label has runs");
        };
        return Ok(Found::Runs(name.to_owned(), reports, n_lost));
    }
    // One that is of a run and of an experiment alike is taken for the experiment.
    let is_one = name != "last" && !name.contains(',');
    if is_one && let Ok(experiment) = store.find_experiment(name) {
        let Trials { ended, damaged: lost } = trials(store, &experiment)?;
        damaged.extend(lost);
        let short = format!("{} ({name})", experiment.name);
        let place = |trial: Trialled| Placed {
            values: Named(experiment.trial((trial.point, trial.repeat)).values),
            report: trial.report,
        };
        return Ok(Found::Experiment(short, ended.into_iter().map(place).collect()));
    }
    let runs = name.split(',').map(|run| store.find(run).map_err(not_found));
    let runs = runs.collect::<Result<Vec<RunId>, Trouble>>()?;
    let twice = (1..runs.len()).find(|&index| runs[..index].contains(&runs[index]));
    if let Some(index) = twice {
        return Err(Trouble::Usage(format!("{name}: the run {} stands twice", runs[index])));
    }
    let mut reports = Vec::new();
    for run in &runs {
        match kept_report_but(store, run, &Report::AT_LENGTH)? {
            Kept::Report(report) => reports.push(*report),
            Kept::Not => {
                let text = format!("the run {run} has not ended, and so has no report");
                return Err(Trouble::Usage(text));
            }
            Kept::Damaged if runs.len() == 1 => {
                return Err(Trouble::Usage(format!(
                    "the report of run {run} is damaged: 'dbdyno runs rm {run}' removes it"
                )));
            }
            Kept::Damaged => damaged.push(run.0.clone()),
        }
    }
    let n_lost = runs.len() - reports.len();
    Ok(Found::Runs(name.to_owned(), reports, n_lost))
}

fn by_axis(
    store: &Store,
    name: &str,
    axis: &str,
    damaged: &mut Vec<String>,
) -> Result<Vec<Side>, Trouble> {
    let experiment = store.find_experiment(name).map_err(not_found)?;
    let known: Vec<&str> = experiment.axes.iter().map(|axis| axis.name.as_str()).collect();
    let matches = |known: &str| known == axis || short_axis(known) == axis;
    let Some(index) = known.iter().position(|known| matches(known)) else {
        return Err(Trouble::Usage(format!(
            "--by {axis}: the experiment varies {}",
            if known.is_empty() { "nothing".to_owned() } else { known.join(", ") }
        )));
    };
    let all = &experiment.axes[index].values;
    let mut placed_of: Vec<Vec<Placed>> = all.iter().map(|_| Vec::new()).collect();
    let Trials { ended, damaged: lost } = trials(store, &experiment)?;
    damaged.extend(lost);
    for trial in ended {
        let mut values = experiment.trial((trial.point, trial.repeat)).values;
        let (_, value) = values.remove(index);
        let side = all.iter().position(|known| *known == value);
        let placed = Placed { values: Named(values), report: trial.report };
        placed_of[side.expect("a point has values of its axes")].push(placed);
    }
    // A value alone does not tell what it is of.
    let short = short_axis(&experiment.axes[index].name);
    let side =
        |(value, placed): (&String, Vec<Placed>)| gather(format!("{short}={value}"), placed, 0);
    Ok(all.iter().zip(placed_of).map(side).collect())
}
