//! Collects the stored runs for `compare` (sides: sets of runs) and `history` (many builds). Not
//! here: the judgement (study).
//!
//! A side is a label (`build=1.2`), an experiment, or a list of runs separated by commas. Sides are
//! compared at points: values of varied parameters, or conditions of other runs (study).

mod accepted;
mod history;
mod rule;

use std::collections::BTreeSet;

use analysis::figures::short;
use analysis::report::{Named, Report};
use model::{Experiment, ReportField, RunId, Status, did_you_mean, short_axis};
use plan::varied_to_toml;
use render::for_shell;
use render::list::short_id;
use store::{Filter, LAST, RunRow, Store, StoreErrorKind, utc};
use study::comparison::{Judge, MIN_EFFECT, NotCounted, Side, SidePoint};
use study::condition::{Condition, Mixed, Points, points_of_sides};
use study::matrix::Matrices;
use study::trials::{TrialReport, counts, why_not_in_short};
use study::{ComparisonReport, ExperimentReport, HistoryReport};

pub use self::accepted::{acknowledge, pin_baseline, unacknowledge};
pub use self::history::history;
use crate::error::Error;
use crate::stored_report::{Kept, kept_report, row_of};
use crate::trials::{Trials, status, trials};

/// Sides of a comparison (named sets of runs), as the user requested them.
#[derive(Clone, Debug, PartialEq)]
pub enum CompareBy {
    /// Labels, experiments or lists of runs as the user wrote them, the baseline first.
    Sides(Vec<String>),
    /// One set of runs per value of an experiment's varied parameter; the first is the baseline.
    Axis {
        /// Name or id of the experiment.
        experiment: String,
        axis: String,
    },
}

/// Compares the sides (sets of runs), figure by figure. Fails with `Error::Failed` if all runs of a
/// side are invalid, and with `Error::Usage` if a side is unknown or cannot be compared.
pub fn compare(store: &Store, asked: &CompareBy, judge: &Judge) -> Result<ComparisonReport, Error> {
    let mut damaged = Vec::new();
    let asked = &by_its_axis(store, asked)?;
    let sides = match asked {
        CompareBy::Sides(names) => sides(store, names, &mut damaged)?,
        CompareBy::Axis { experiment, axis } => by_axis(store, experiment, axis, &mut damaged)?,
    };
    // A side without any valid run is a failed side, not a usage error.
    let is_lost = |side: &Side| {
        let is_tried = !side.not_counted.is_empty() || !side.running.is_empty();
        is_tried && side.points.iter().all(|point| point.reports.is_empty())
    };
    let refused = if sides.iter().any(is_lost) { Error::Failed } else { Error::Usage };
    let held = ComparisonReport::new(&sides, judge).map_err(refused)?;
    let (repeats, by_rule) = (rule::repeats(store, asked), rule::found(store, asked));
    let command = Some(command(store, asked, judge));
    Ok(ComparisonReport { damaged, repeats, by_rule, command, ..held })
}

/// Largest number of values of a varied parameter that are compared; more are drawn as a curve.
const VALUES_MOST: usize = 3;

/// Compares the values of the only parameter that an experiment varies. `None` if trials are
/// missing, the parameter does not have two or three values, or the experiment has another kind of
/// answer: that of a search or a stop rule, or the highest rate with which the database kept up.
pub(crate) fn sides_of_axis(
    store: &Store,
    experiment: &Experiment,
    report: &ExperimentReport,
) -> Option<ComparisonReport> {
    let [axis] = experiment.axes.as_slice() else { return None };
    // A rate and a search have answers of their own, and so have repeats that ended by a rule: a
    // comparison would have a higher error rate than it claims.
    let has_own_answer =
        report.rate.is_some() || !experiment.walk.is_grid() || report.stop_condition.is_some();
    let are_sides = (2..=VALUES_MOST).contains(&axis.values.len());
    if render::is_unfinished(report) || has_own_answer || !are_sides {
        return None;
    }
    let by = CompareBy::Axis { experiment: report.id.clone(), axis: axis.name.clone() };
    let judge = Judge::asked(Some(&report.primary), None).ok()?;
    // An experiment with too few results has no sides yet.
    compare(store, &by, &judge).ok()
}

/// Replaces a request for a single experiment by one for the values of its only varied parameter;
/// returns other requests unchanged. Fails for a single run, or without exactly one parameter.
pub fn by_its_axis(store: &Store, asked: &CompareBy) -> Result<CompareBy, Error> {
    let CompareBy::Sides(names) = asked else { return Ok(asked.clone()) };
    let [name] = names.as_slice() else { return Ok(asked.clone()) };
    let experiment = match store.experiment_or_run(name) {
        Ok(experiment) => experiment,
        Err(_) if store.find(name).is_ok() => return Err(one_run(store, name)),
        // A label names neither an experiment nor a run.
        Err(_) => return Ok(asked.clone()),
    };
    match experiment.axes.as_slice() {
        [axis] => Ok(CompareBy::Axis { experiment: name.clone(), axis: axis.name.clone() }),
        [] => Err(Error::Usage(format!(
            "{name} is the experiment {}, which varies nothing: 'dbdyno experiments show {name}' \
             has its figures; to compare it, name a second side, or an experiment with an axis \
             ('dbdyno experiments' lists them)",
            experiment.id
        ))),
        axes => {
            let names: Vec<&str> = axes.iter().map(|axis| short_axis(&axis.name)).collect();
            Err(Error::Usage(format!(
                "{name} varies {}: say which of them makes the sides, with --by {}",
                names.join(" and "),
                names[0]
            )))
        }
    }
}

/// Returns the error for a comparison that names only a single run.
fn one_run(store: &Store, name: &str) -> Error {
    let run = store.find(name).map_or(name.to_owned(), |run| short_id(&run.0).to_owned());
    Error::Usage(format!(
        "{name} is the single run {run}: name the other side too ('dbdyno compare RUN {name}'), or \
         an experiment ('dbdyno experiments' lists them)"
    ))
}

/// Returns the command line of this comparison, with `last` replaced by the id that it means now.
fn command(store: &Store, asked: &CompareBy, judge: &Judge) -> String {
    let mut words: Vec<String> = vec!["dbdyno".to_owned(), "compare".to_owned()];
    let last = || match store.experiment_or_run(LAST) {
        Ok(experiment) => experiment.id,
        Err(_) => store.find(LAST).map_or(LAST.to_owned(), |run| run.0),
    };
    match asked {
        CompareBy::Sides(names) => {
            let lasting = |name: &String| if name == LAST { last() } else { name.clone() };
            words.extend(names.iter().map(lasting));
        }
        CompareBy::Axis { experiment, axis } => {
            let found = store.experiment_or_run(experiment).map(|found| found.id);
            let experiment = found.unwrap_or_else(|_| experiment.clone());
            words.extend([experiment, "--by".to_owned(), axis.clone()]);
        }
    }
    if let Some(figure) = &judge.primary {
        words.extend(["--figure".to_owned(), short(figure).to_owned()]);
    }
    if judge.min_effect != MIN_EFFECT {
        words.extend(["--min-effect".to_owned(), format!("{}%", judge.min_effect * 100.0)]);
    }
    words.iter().map(|word| for_shell(word)).collect::<Vec<_>>().join(" ")
}

/// Returns the newest builds of a history as tables, with one property of runs as rows and perhaps
/// another as columns. `None` if no rows are requested.
pub fn history_tables(
    report: &HistoryReport,
    rows: Option<&str>,
    columns: Option<&str>,
) -> Result<Option<Matrices>, Error> {
    match (rows, columns) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(Error::Usage("columns: name the rows too".to_owned())),
        (Some(rows), columns) => {
            Matrices::of_history(report, rows, columns).map(Some).map_err(Error::Usage)
        }
    }
}

fn is_label(key: &str) -> Result<(), Error> {
    if key.trim().is_empty() {
        let why = "'' is not a label: name the one whose values are the builds, such as build";
        return Err(Error::Usage(why.to_owned()));
    }
    Ok(())
}

/// Returns true if any run in the store has the label `key`.
fn has_label(store: &Store, key: &str) -> Result<bool, Error> {
    let label = Some((key.to_owned(), None));
    Ok(!store.list(&Filter { label, ..Filter::default() })?.is_empty())
}

/// Length of the date at the beginning of a time stamp such as `2026-11-24 20:43:10`.
const DATE_LETTERS: usize = 10;

/// Name of a property that every run has, and the function that reads its value.
type OfRun = (&'static str, fn(&RunRow) -> String);

/// Properties that serve as labels of every run, if no run has a label of that name: the day (UTC),
/// product and version of the database, the version of dbdyno.
const OF_EVERY_RUN: [OfRun; 3] = [
    ("day", |row| utc(row.started_unix_ms).chars().take(DATE_LETTERS).collect()),
    ("database", |row| row.database.clone()),
    ("dbdyno", |row| row.dbdyno.clone()),
];

/// A stored run, with the run's value of the label by which runs are grouped.
struct Labelled {
    value: String,
    row: RunRow,
}

impl Labelled {
    /// Returns runs with the label `key`, or one value of it, oldest first. Fails if no run has it.
    fn find(store: &Store, key: &str, value: Option<&str>) -> Result<Vec<Labelled>, Error> {
        let label = Some((key.to_owned(), value.map(str::to_owned)));
        let mut rows = store.list(&Filter { label, ..Filter::default() })?;
        let own = OF_EVERY_RUN.iter().find(|(name, _)| *name == key && rows.is_empty());
        if own.is_some() {
            rows = store.list(&Filter::default())?;
        }
        let value_of = |row: &RunRow| match own {
            Some((_, read)) => read(row),
            None => {
                let found = row.labels.iter().find(|(name, _)| name == key);
                found.map(|(_, value)| value.clone()).expect("the label was asked for")
            }
        };
        let labelled = rows.into_iter().rev().map(|row| Labelled { value: value_of(&row), row });
        let all: Vec<Labelled> =
            labelled.filter(|one| value.is_none_or(|value| value == one.value)).collect();
        if all.is_empty() { Err(no_run_with(store, key, value)?) } else { Ok(all) }
    }
}

/// Returns the runs with a label: those that have ended, and those that are still running.
fn ended_and_running(store: &Store, key: &str) -> Result<(Vec<Labelled>, Vec<Labelled>), Error> {
    let all = Labelled::find(store, key, None)?.into_iter();
    Ok(all.partition(|one| one.row.status != Status::Running))
}

/// Returns `key=value` of the first label that has this value; `None` if none has it.
fn label_of(store: &Store, value: &str) -> Result<Option<String>, Error> {
    let all = store.list(&Filter::default())?;
    let found = all.iter().flat_map(|row| &row.labels).find(|(_, known)| known == value);
    Ok(found.map(|(key, value)| format!("{key}={value}")))
}

/// Largest number of labels or values that an error message lists; `...` stands for the others.
const NAMED_MOST: usize = 8;

/// Returns the error that no run has the label `key` (or this value of it), with a suggestion and
/// the labels or values that exist.
fn no_run_with(store: &Store, key: &str, value: Option<&str>) -> Result<Error, Error> {
    // Only a history accepts all values of a label.
    let (label, example, by_day) = match value {
        Some(value) => (format!("{key}={value}"), format!("{key}={value}"), ""),
        None => (key.to_owned(), format!("{key}=1.2"), ": '--by day' shows those of each day"),
    };
    let all = store.list(&Filter::default())?;
    let to_text = |(key, known): &(String, String)| match value {
        Some(_) => format!("{key}={known}"),
        None => key.clone(),
    };
    let known: BTreeSet<String> = all.iter().flat_map(|row| &row.labels).map(to_text).collect();
    let near = did_you_mean(&label, known.iter().map(String::as_str));
    let labels = || all.iter().flat_map(|row| &row.labels);
    let is_known = value.is_some() && labels().any(|(name, _)| name == key);
    let others: BTreeSet<&str> = match is_known {
        true => labels().filter(|(name, _)| name == key).map(|(_, value)| value.as_str()).collect(),
        false => labels().map(|(name, _)| name.as_str()).collect(),
    };
    let most: Vec<&str> = others.iter().rev().take(NAMED_MOST).copied().collect();
    let more = if others.len() > most.len() { ", ..." } else { "" };
    let most = most.join(", ") + more;
    let there = match (is_known, most.is_empty()) {
        (_, true) => String::new(),
        (true, false) => format!("; values of {key} are {most}"),
        (false, false) => format!("; labels are {most}"),
    };
    Ok(Error::Usage(format!(
        "no run has the label {label}{near}{there}: 'dbdyno runs list' shows labels, 'dbdyno runs \
         label RUN {example}' sets one; every run has day, database and dbdyno (its \
         version){by_day}"
    )))
}

/// Groups runs by their value of the label, in the order of the values' first runs, and reads their
/// reports without the fields in `emptied`. Runs whose report is damaged are added to `damaged`.
fn labelled(
    store: &Store,
    runs: Vec<Labelled>,
    emptied: &[ReportField],
    damaged: &mut Vec<String>,
) -> Result<Vec<Found>, Error> {
    let mut all: Vec<(String, Vec<Report>, Lost)> = Vec::new();
    for Labelled { value, row } in runs {
        let at = all.iter().position(|(name, ..)| *name == value).unwrap_or_else(|| {
            all.push((value, Vec::new(), Lost::default()));
            all.len() - 1
        });
        let (_, reports, lost) = &mut all[at];
        match kept_report(store, &row, emptied)? {
            Kept::Report(report) => reports.push(*report),
            Kept::Not => lost.put(&row),
            Kept::Damaged(_) => {
                lost.not_counted.push(not_counted(&row.run.0, DAMAGED));
                damaged.push(row.run.0);
            }
        }
    }
    Ok(all.into_iter().map(|(name, reports, lost)| Found::Runs(name, reports, lost)).collect())
}

const DAMAGED: &str = "its report is damaged";

fn not_counted(run: &str, why: &str) -> NotCounted {
    NotCounted { run: run.to_owned(), values: None, why: why.to_owned() }
}

/// A run's report, with the point (values of varied parameters) and the repeat of the run.
struct Placed {
    values: Named<String>,
    repeat: Option<u32>,
    report: Report,
}

/// Runs of a comparison's side or a history's build, not yet assigned to points (conditions).
enum Found {
    /// An experiment: name, plan as TOML, trials, and its id if trials are still running.
    Experiment(String, Option<String>, Vec<Placed>, Vec<String>),
    /// Runs by label or list: the name of this set, their reports, and the runs without a report.
    Runs(String, Vec<Report>, Lost),
}

/// Runs of a compared set that have no readable report.
#[derive(Default)]
struct Lost {
    /// Runs that ended without a readable report, with the reason.
    not_counted: Vec<NotCounted>,
    /// Ids of runs that are still in progress.
    running: Vec<String>,
}

impl Lost {
    /// Adds a run without a report: one that is still running, was killed, or failed.
    fn put(&mut self, row: &RunRow) {
        let why = match row.status {
            Status::Running => return self.running.push(row.run.0.clone()),
            Status::Interrupted => "killed, without a report".to_owned(),
            status => format!("{}, without a report", status.name()),
        };
        self.not_counted.push(not_counted(&row.run.0, &why));
    }

    fn len(&self) -> usize {
        self.not_counted.len() + self.running.len()
    }
}

fn sides(store: &Store, names: &[String], damaged: &mut Vec<String>) -> Result<Vec<Side>, Error> {
    let found = names.iter().map(|name| side(store, name, damaged));
    let mut found = found.collect::<Result<Vec<Found>, Error>>()?;
    for (index, one) in found.iter().enumerate() {
        for (before, name) in found[..index].iter().zip(names) {
            let theirs = before.runs();
            if let Some(run) = one.runs().into_iter().find(|run| theirs.contains(run)) {
                return Err(Error::Usage(format!(
                    "{name} and {} share the run {run}: a run cannot be compared with itself",
                    names[index]
                )));
            }
        }
    }
    if found.iter().any(Found::is_list) {
        name_lists(store, &mut found)?;
    }
    sides_placed(found)
}

/// Shortens the names of compared sets that are lists of runs. The new name is a label that all
/// runs of the list share and no other set has, or else one run and the number of the others.
fn name_lists(store: &Store, found: &mut [Found]) -> Result<(), Error> {
    let mut labels: Vec<Vec<(String, String)>> = Vec::new();
    for one in found.iter() {
        let mut common: Option<Vec<(String, String)>> = None;
        for run in one.runs() {
            let row = store.row(&RunId(run.clone()))?;
            let of_run = row.map(|row| row.labels).unwrap_or_default();
            common = Some(match common {
                Some(known) => known.into_iter().filter(|one| of_run.contains(one)).collect(),
                None => of_run,
            });
        }
        labels.push(common.unwrap_or_default());
    }
    let mut names: Vec<String> = Vec::new();
    for (index, one) in found.iter().enumerate() {
        let is_elsewhere = |label: &(String, String)| {
            let others = labels.iter().enumerate().filter(|(other, _)| *other != index);
            others.into_iter().any(|(_, known)| known.contains(label))
        };
        names.push(match one {
            Found::Runs(name, reports, lost) if one.is_list() => {
                let n_runs = reports.len() + lost.len();
                match labels[index].iter().find(|label| !is_elsewhere(label)) {
                    Some(label) => labelled_name(store, label, n_runs)?,
                    None => format!(
                        "{} and {} more",
                        short_id(name.split(',').next().unwrap_or(name)),
                        n_runs - 1
                    ),
                }
            }
            Found::Runs(name, ..) | Found::Experiment(name, ..) => name.clone(),
        });
    }
    for index in 0..found.len() {
        // Two sides must not get the same name.
        let is_alone = names.iter().filter(|name| **name == names[index]).count() == 1;
        if let Found::Runs(name, ..) = &mut found[index]
            && is_alone
        {
            name.clone_from(&names[index]);
        }
    }
    Ok(())
}

/// Returns the name of `n_runs` runs with a label: `build=1.3`, or `build=1.3 (2 of 3 runs)`.
fn labelled_name(
    store: &Store,
    (key, value): &(String, String),
    n_runs: usize,
) -> Result<String, Error> {
    let label = Some((key.clone(), Some(value.clone())));
    let rows = store.list(&Filter { label, ..Filter::default() })?;
    Ok(match rows.len() {
        n if n == n_runs => format!("{key}={value}"),
        n => format!("{key}={value} ({n_runs} of {n} runs)"),
    })
}

impl Found {
    /// Returns true if this set of runs was named as a list of several runs, separated by commas.
    fn is_list(&self) -> bool {
        matches!(self, Found::Runs(name, ..) if name.contains(','))
    }

    fn name(&self) -> &str {
        match self {
            Found::Experiment(name, ..) | Found::Runs(name, ..) => name,
        }
    }

    fn reports(&self) -> Vec<&Report> {
        match self {
            Found::Experiment(_, _, placed, _) => placed.iter().map(|at| &at.report).collect(),
            Found::Runs(_, reports, _) => reports.iter().collect(),
        }
    }

    fn runs(&self) -> Vec<&String> {
        self.reports().into_iter().map(|report| &report.run_id).collect()
    }
}

/// Assigns the runs of each side to points (groups of runs): by the values of varied parameters if
/// all sides are experiments with points in common, else by the conditions of the runs.
fn sides_placed(found: Vec<Found>) -> Result<Vec<Side>, Error> {
    if have_points_in_common(&found) {
        let side = |found: Found| match found {
            Found::Experiment(name, plan, runs, running) => {
                gather(Side { plan, running, ..Side::named(name) }, runs)
            }
            Found::Runs(..) => unreachable!("all are experiments"),
        };
        return Ok(found.into_iter().map(side).collect());
    }
    let points =
        points_of_sides(&conditions(&found, |all| all)).map_err(|mixed| refused(&found, &mixed))?;
    Ok(found.into_iter().map(|side| placed(side, &points)).collect())
}

/// Returns true if all sides are experiments that share some point (varied values) with the first.
fn have_points_in_common(found: &[Found]) -> bool {
    let mut values = found.iter().map(|side| match side {
        Found::Experiment(_, _, runs, _) => Some(runs.iter().map(|run| &run.values).collect()),
        Found::Runs(..) => None,
    });
    let Some(Some(first)) = values.next() else { return false };
    let first: Vec<&Named<String>> = first;
    values.all(|other| other.is_some_and(|other| other.iter().any(|at| first.contains(at))))
}

/// Returns the conditions (reduced by `kept`) of the valid runs of each compared set, or of all its
/// runs if none is valid.
fn conditions(found: &[Found], kept: fn(Condition) -> Condition) -> Vec<Vec<Condition>> {
    let side_conditions = |side: &Found| {
        let all = side.reports();
        let counted: Vec<&Report> = all.iter().copied().filter(|run| counts(run)).collect();
        let runs = if counted.is_empty() { all } else { counted };
        runs.into_iter().map(|run| kept(Condition::from_report(run))).collect()
    };
    found.iter().map(side_conditions).collect()
}

fn refused(found: &[Found], mixed: &Mixed) -> Error {
    let (side, name) = (found[mixed.side].name(), &mixed.name);
    let values = mixed.values.join(", ");
    Error::Usage(format!(
        "{side} has runs of {name} {values}, and another side has none of these: compare runs of \
         one {name} per side, by their ids separated by commas or with separate labels"
    ))
}

fn placed(found: Found, points: &Points) -> Side {
    let place = |report: Report| {
        let values = points.at(&Condition::from_report(&report));
        Placed { values, repeat: None, report }
    };
    match found {
        Found::Experiment(name, plan, runs, running) => {
            let runs = runs.into_iter().map(|run| place(run.report)).collect();
            gather(Side { plan, running, ..Side::named(name) }, runs)
        }
        Found::Runs(name, runs, Lost { not_counted, running }) => {
            let plan = plan_of_all(&runs);
            let is_unnamed = !name.contains('=');
            let side = Side { plan, not_counted, running, is_unnamed, ..Side::named(name) };
            gather(side, runs.into_iter().map(place).collect())
        }
    }
}

/// Returns the plan (TOML) that all runs share except for the seed; `None` if there is none.
fn plan_of_all(runs: &[Report]) -> Option<String> {
    let first = runs.first()?;
    let but_seed = |report: &Report| {
        let lines = report.plan.lines().filter(|line| !line.starts_with("seed = "));
        lines.map(str::to_owned).collect::<Vec<String>>()
    };
    let is_same = runs.iter().all(|report| but_seed(report) == but_seed(first));
    is_same.then(|| first.plan.clone())
}

/// Adds each valid run to the point (combination of varied values) of the compared set that it has
/// the values of, and each invalid run to the runs of the set that do not count.
fn gather(mut side: Side, placed: Vec<Placed>) -> Side {
    for Placed { values, repeat, report } in placed {
        if !counts(&report) {
            let why = why_not_in_short(&report);
            side.not_counted.push(NotCounted { run: report.run_id, values: Some(values), why });
            continue;
        }
        let at = side.points.iter().position(|point| point.values == values);
        let at = at.unwrap_or_else(|| {
            side.points.push(SidePoint { values, reports: Vec::new(), repeats: Vec::new() });
            side.points.len() - 1
        });
        let point = &mut side.points[at];
        point.repeats.push(repeat.unwrap_or(point.reports.len() as u32));
        point.reports.push(report);
    }
    side
}

/// Finds the runs that the user named as a side: by a label, an experiment, or a list of runs.
fn side(store: &Store, name: &str, damaged: &mut Vec<String>) -> Result<Found, Error> {
    if let Some(label) = name.split_once('=') {
        return side_of_label(store, name, label, damaged);
    }
    // An experiment takes precedence over a run of the same name.
    if !name.contains(',')
        && let Ok(experiment) = store.experiment_or_run(name)
    {
        return side_of_experiment(store, name, &experiment, damaged);
    }
    side_of_runs(store, name, damaged)
}

fn side_of_label(
    store: &Store,
    name: &str,
    (key, value): (&str, &str),
    damaged: &mut Vec<String>,
) -> Result<Found, Error> {
    if key.is_empty() || value.is_empty() {
        let why = format!("{name} is not a label: write KEY=VALUE, such as build=1.2");
        return Err(Error::Usage(why));
    }
    let runs = Labelled::find(store, key, Some(value))?;
    let mut found = labelled(store, runs, &Report::SERIES, damaged)?;
    let Found::Runs(_, reports, lost) = found.swap_remove(0) else {
        unreachable!("a label has runs");
    };
    Ok(Found::Runs(name.to_owned(), reports, lost))
}

fn side_of_experiment(
    store: &Store,
    name: &str,
    experiment: &Experiment,
    damaged: &mut Vec<String>,
) -> Result<Found, Error> {
    if !experiment.walk.is_grid() {
        return Err(Error::Usage(format!(
            "{name} is a search, whose probes have different values: compare runs of it"
        )));
    }
    let Trials { ended, damaged: lost } = trials(store, experiment)?;
    damaged.extend(lost);
    let running = still_made(store, experiment, &ended)?;
    let short = format!("{} ({name})", experiment.name);
    let place = |trial: TrialReport| Placed {
        values: Named(experiment.trial((trial.point, trial.repeat)).values),
        repeat: Some(trial.repeat),
        report: trial.report,
    };
    let placed = ended.into_iter().map(place).collect();
    Ok(Found::Experiment(short, varied_to_toml(experiment), placed, running))
}

fn side_of_runs(store: &Store, name: &str, damaged: &mut Vec<String>) -> Result<Found, Error> {
    let runs =
        name.split(',').map(|run| run_named(store, run)).collect::<Result<Vec<RunId>, Error>>()?;
    let twice = (1..runs.len()).find(|&index| runs[..index].contains(&runs[index]));
    if let Some(index) = twice {
        return Err(Error::Usage(format!("{name}: the run {} is named twice", runs[index])));
    }
    let (mut reports, mut lost) = (Vec::new(), Lost::default());
    for run in &runs {
        let row = row_of(store, run)?;
        match kept_report(store, &row, &Report::SERIES)? {
            Kept::Report(report) => reports.push(*report),
            Kept::Not if runs.len() > 1 => lost.put(&row),
            Kept::Not => {
                let is_running = row.status == Status::Running;
                let why = if is_running { "has not ended" } else { "was killed" };
                return Err(Error::Usage(format!("the run {run} {why}, and so has no report")));
            }
            Kept::Damaged(_) if runs.len() == 1 => {
                return Err(Error::Usage(format!(
                    "the report of run {run} is damaged: 'dbdyno runs rm {run}' removes it"
                )));
            }
            Kept::Damaged(_) => {
                lost.not_counted.push(not_counted(&run.0, DAMAGED));
                damaged.push(run.0.clone());
            }
        }
    }
    Ok(Found::Runs(name.to_owned(), reports, lost))
}

/// Finds a run by name or id. If `run` is the value of a label instead, the error names that label.
fn run_named(store: &Store, run: &str) -> Result<RunId, Error> {
    match store.find(run) {
        Ok(run) => Ok(run),
        Err(error) if error.kind == StoreErrorKind::UnknownRun => match label_of(store, run)? {
            None => Err(Error::from(error)),
            Some(label) => Err(Error::Usage(format!(
                "no run is called '{run}': runs with that label are {label}"
            ))),
        },
        Err(error) => Err(Error::from(error)),
    }
}

/// Returns the id of the experiment if its trials are still being run, else an empty list.
fn still_made(
    store: &Store,
    experiment: &Experiment,
    ended: &[TrialReport],
) -> Result<Vec<String>, Error> {
    let made: BTreeSet<(u32, u32)> =
        ended.iter().map(|trial| (trial.point, trial.repeat)).collect();
    let is_left = made.len() < experiment.points.len() * experiment.repeats as usize;
    let is_made = is_left && status(store, experiment)? == Some(Status::Running);
    Ok(if is_made { vec![experiment.id.clone()] } else { Vec::new() })
}

fn by_axis(
    store: &Store,
    name: &str,
    axis: &str,
    damaged: &mut Vec<String>,
) -> Result<Vec<Side>, Error> {
    let experiment = match store.experiment_or_run(name) {
        Err(_) if name == LAST && store.find(LAST).is_ok() => return Err(one_run(store, name)),
        found => found?,
    };
    if !experiment.walk.is_grid() {
        return Err(Error::Usage(format!(
            "{name} is a search, which has no axis to compare: name two of its runs"
        )));
    }
    let known: Vec<&str> = experiment.axes.iter().map(|axis| axis.name.as_str()).collect();
    let matches = |known: &str| known == axis || short_axis(known) == axis;
    let Some(index) = known.iter().position(|known| matches(known)) else {
        return Err(Error::Usage(format!(
            "--by {axis}: the experiment varies {}",
            if known.is_empty() { "nothing".to_owned() } else { known.join(", ") }
        )));
    };
    let all = &experiment.axes[index].values;
    let mut placed_of: Vec<Vec<Placed>> = all.iter().map(|_| Vec::new()).collect();
    let Trials { ended, damaged: lost } = trials(store, &experiment)?;
    damaged.extend(lost);
    let running = still_made(store, &experiment, &ended)?;
    for trial in ended {
        let mut values = experiment.trial((trial.point, trial.repeat)).values;
        let (_, value) = values.remove(index);
        let side = all.iter().position(|known| *known == value);
        let repeat = Some(trial.repeat);
        let placed = Placed { values: Named(values), repeat, report: trial.report };
        placed_of[side.expect("a point has values of its axes")].push(placed);
    }
    // A value is ambiguous without its axis.
    let short = short_axis(&experiment.axes[index].name);
    let plan = varied_to_toml(&experiment);
    let side = |(value, placed): (&String, Vec<Placed>)| {
        let (plan, running) = (plan.clone(), running.clone());
        gather(Side { plan, running, ..Side::named(format!("{short}={value}")) }, placed)
    };
    Ok(all.iter().zip(placed_of).map(side).collect())
}
