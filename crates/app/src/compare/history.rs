//! Histories of many runs. Each run is read once: its [digest](store::Digest) has its figures and
//! the number of its setup, and one report of each setup is in memory. Not here: the judgement
//! (study).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use analysis::figures::value_of;
use analysis::report::{Named, Report};
use jiff::Timestamp;
use model::{ReportField, Rng, RunId, Stream};
use serde::{Deserialize, Serialize};
use store::{Digest, RunRow, Store};
use study::HistoryReport;
use study::comparison::{NotCounted, Side, SidePoint};
use study::condition::{Condition, points_of_builds};
use study::history::{HistoryRun, Question, figures_of, setup_of};
use study::trials::{counts, why_not_in_short};

use super::{DAMAGED, Labelled, Lost, ended_and_running, has_label, is_label, not_counted};
use crate::error::Error;
use crate::stored_report::{Kept, kept_report, row_of};

/// Version of [`RunDigest`], of the figures in it and of the meaning of setups. Increase it with
/// each change of one of them: digests of other versions are made again.
const DIGEST_VERSION: u32 = 1;

/// Number of digests that are stored at once, so that few are in memory.
const STORED_AT_ONCE: usize = 500;

/// Fields that no history needs, which are left empty in the reports that it reads.
const EMPTIED: &[ReportField] = &Report::SERIES;

/// What differs between runs of one setup, as [`Digest::body`] has it as JSON.
#[derive(Serialize, Deserialize)]
struct RunDigest {
    started: Timestamp,
    seed: u64,
    measured_seconds: f64,
    /// Reason why the run does not count; `None` for a valid run.
    #[serde(skip_serializing_if = "Option::is_none")]
    invalid: Option<String>,
    /// Values of the figures of the whole run, in the order of their names, which all runs of a
    /// setup have in common; `None` for infinity.
    values: Vec<Option<f64>>,
}

impl RunDigest {
    fn from_report(report: &Report) -> RunDigest {
        RunDigest {
            started: report.started,
            seed: report.seed,
            measured_seconds: report.measured_seconds,
            invalid: (!counts(report)).then(|| why_not_in_short(report)),
            values: figures_of(report).into_values().map(Some).collect::<Vec<_>>(),
        }
    }
}

/// A report that stands for all runs of its setup, with the names of their figures.
struct Like {
    report: Report,
    names: Vec<String>,
}

/// A run of a history, with no more than its figures in memory.
struct StoredRun<'s> {
    store: &'s Store,
    id: String,
    digest: RunDigest,
    like: Rc<Like>,
    /// The figure that was asked for last and is not in the digest, with its value.
    read: RefCell<Option<(String, Option<f64>)>>,
}

impl HistoryRun for StoredRun<'_> {
    fn run_id(&self) -> &str {
        &self.id
    }

    fn started(&self) -> Timestamp {
        self.digest.started
    }

    fn seed(&self) -> u64 {
        self.digest.seed
    }

    fn measured_seconds(&self) -> f64 {
        self.digest.measured_seconds
    }

    fn value(&self, name: &str) -> Option<f64> {
        if let Ok(at) = self.like.names.binary_search_by(|known| known.as_str().cmp(name)) {
            return Some(self.digest.values[at].unwrap_or(f64::INFINITY));
        }
        let mut read = self.read.borrow_mut();
        if let Some((_, value)) = read.as_ref().filter(|(known, _)| known == name) {
            return *value;
        }
        let report = report_of(self.store, &self.id);
        let value = report.and_then(|report| value_of(&report, name));
        *read = Some((name.to_owned(), value));
        value
    }

    fn like(&self) -> &Report {
        &self.like.report
    }

    fn own_report(&self) -> Option<&Report> {
        None
    }
}

/// Returns the report of a run for a history; `None` if it cannot be read.
fn report_of(store: &Store, run: &str) -> Option<Report> {
    let row = row_of(store, &RunId(run.to_owned())).ok()?;
    match kept_report(store, &row, EMPTIED) {
        Ok(Kept::Report(report)) => Some(*report),
        _ => None,
    }
}

/// Returns the history of a label: the figures of each build, with acknowledged changes. The newest
/// builds are compared with the baseline of `question`, or else with the pinned build.
pub fn history(store: &Store, question: &Question) -> Result<HistoryReport, Error> {
    is_label(&question.by)?;
    let mut damaged = Vec::new();
    let (ended, running) = match question.imported.is_empty() || has_label(store, &question.by)? {
        true => ended_and_running(store, &question.by)?,
        false => (Vec::new(), Vec::new()),
    };
    if ended.is_empty() && !running.is_empty() {
        return Err(Error::Usage(format!(
            "no run with the label {} has ended: {} still running",
            question.by,
            match running.len() {
                1 => "one is".to_owned(),
                n => format!("{n} are"),
            }
        )));
    }
    let builds = Builds::read(store, ended, &mut damaged)?;
    let mut rng = Rng::new(1, Stream::Order, u64::MAX);
    let mut question = question.clone();
    if question.baseline.is_none() && !builds.0.is_empty() {
        question.baseline = store.baseline(&question.by)?;
    }
    question.acknowledged = store.acknowledged(&question.by)?;
    let sides = builds.of_load(question.judge.primary.as_deref()).into_sides();
    let mut shown =
        HistoryReport::new(&question, &sides, &mut || rng.bits()).map_err(Error::Usage)?;
    shown
        .compare_changes(&mut |runs| runs.iter().filter_map(|run| report_of(store, run)).collect());
    shown.damaged = damaged;
    for Labelled { value, .. } in running {
        if !shown.running.contains(&value) {
            shown.running.push(value);
        }
    }
    Ok(shown)
}

/// Returns the builds of a label, with runs that have ended, for a history of any figure of whole
/// runs.
pub(super) fn ended_builds<'s>(
    store: &'s Store,
    key: &str,
) -> Result<Vec<Side<impl HistoryRun + use<'s>>>, Error> {
    let (ended, _) = ended_and_running(store, key)?;
    Ok(Builds::read(store, ended, &mut Vec::new())?.into_sides())
}

/// A build: its name, its runs, and those without a readable report.
struct Build<'s> {
    name: String,
    runs: Vec<StoredRun<'s>>,
    lost: Lost,
}

/// The builds of a history, in the order of their first runs.
struct Builds<'s>(Vec<Build<'s>>);

impl<'s> Builds<'s> {
    /// Groups runs by their value of the label. Runs whose report is damaged are added to
    /// `damaged`.
    fn read(
        store: &'s Store,
        runs: Vec<Labelled>,
        damaged: &mut Vec<String>,
    ) -> Result<Builds<'s>, Error> {
        let mut digests = Digests::of_store(store)?;
        let mut all: Vec<Build<'s>> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for Labelled { value, row } in runs {
            let at = *places.entry(value.clone()).or_insert_with(|| {
                all.push(Build { name: value, runs: Vec::new(), lost: Lost::default() });
                all.len() - 1
            });
            let build = &mut all[at];
            match digests.run(&row)? {
                Read::Run(run) => build.runs.push(run),
                Read::Not => build.lost.put(&row),
                Read::Damaged => {
                    build.lost.not_counted.push(not_counted(&row.run.0, DAMAGED));
                    damaged.push(row.run.0);
                }
            }
        }
        digests.keep();
        Ok(Builds(all))
    }

    /// Removes runs that only built data from a history that also has runs with load. Keeps them if
    /// `figure` is a figure of builds (`build.*`).
    fn of_load(mut self, figure: Option<&str>) -> Builds<'s> {
        let is_of_build = figure.is_some_and(|name| name.starts_with("build."));
        let has_load =
            self.0.iter().flat_map(|build| &build.runs).any(|run| !run.like().is_build());
        if is_of_build || !has_load {
            return self;
        }
        self.0.retain_mut(|build| {
            build.runs.retain(|run| !run.like().is_build());
            !build.runs.is_empty() || build.lost.len() > 0
        });
        self
    }

    /// Assigns the runs of each build to points of the history: groups of runs with equal
    /// conditions.
    fn into_sides(self) -> Vec<Side<StoredRun<'s>>> {
        // Runs of one setup have one condition.
        let mut known: BTreeMap<*const Like, Condition> = BTreeMap::new();
        for run in self.0.iter().flat_map(|build| &build.runs) {
            let condition = || Condition::from_report(run.like()).of_points();
            known.entry(Rc::as_ptr(&run.like)).or_insert_with(condition);
        }
        let conditions_of = |build: &Build<'_>| {
            let valid = build.runs.iter().filter(|run| run.digest.invalid.is_none());
            let mut setups: Vec<*const Like> = valid.map(|run| Rc::as_ptr(&run.like)).collect();
            if setups.is_empty() {
                setups = build.runs.iter().map(|run| Rc::as_ptr(&run.like)).collect();
            }
            setups.sort();
            setups.dedup();
            setups.iter().map(|setup| known[setup].clone()).collect::<Vec<Condition>>()
        };
        let conditions: Vec<Vec<Condition>> = self.0.iter().map(conditions_of).collect();
        let points = points_of_builds(&conditions);
        let values: BTreeMap<*const Like, Named<String>> =
            known.iter().map(|(setup, condition)| (*setup, points.at(condition))).collect();
        self.0.into_iter().map(|build| side_of(build, &values)).collect()
    }
}

/// Sorts the runs of a build into points, given the values of each setup.
fn side_of<'s>(
    build: Build<'s>,
    values: &BTreeMap<*const Like, Named<String>>,
) -> Side<StoredRun<'s>> {
    let Lost { not_counted, running } = build.lost;
    let mut side = Side { not_counted, running, ..Side::named(build.name) };
    for mut run in build.runs {
        let values = &values[&Rc::as_ptr(&run.like)];
        if let Some(why) = run.digest.invalid.take() {
            side.not_counted.push(NotCounted { run: run.id, values: Some(values.clone()), why });
            continue;
        }
        let at = side.points.iter().position(|point| point.values == *values);
        let at = at.unwrap_or_else(|| {
            let (reports, repeats) = (Vec::new(), Vec::new());
            side.points.push(SidePoint { values: values.clone(), reports, repeats });
            side.points.len() - 1
        });
        let point = &mut side.points[at];
        point.repeats.push(point.reports.len() as u32);
        point.reports.push(run);
    }
    side
}

/// A stored run, as a history reads it.
enum Read<'s> {
    Run(StoredRun<'s>),
    /// The run has no report: it was killed, or failed before its load.
    Not,
    /// The report of the run is damaged.
    Damaged,
}

/// The digests of a store, and those that it lacks so far.
struct Digests<'s> {
    store: &'s Store,
    known: BTreeMap<RunId, (u64, RunDigest)>,
    new: BTreeMap<RunId, Digest>,
    likes: BTreeMap<u64, Rc<Like>>,
}

impl<'s> Digests<'s> {
    fn of_store(store: &'s Store) -> Result<Digests<'s>, Error> {
        let mut known = BTreeMap::new();
        store.digests(DIGEST_VERSION, &mut |run, Digest { setup, body }| {
            // One that cannot be read is made again.
            if let Ok(digest) = serde_json::from_str::<RunDigest>(&body) {
                known.insert(run, (setup, digest));
            }
        })?;
        Ok(Digests { store, known, new: BTreeMap::new(), likes: BTreeMap::new() })
    }

    /// Returns a run from its digest, or from its report if it has none.
    fn run(&mut self, row: &RunRow) -> Result<Read<'s>, Error> {
        let known = self.known.remove(&row.run);
        let is_known = known.is_some();
        if let Some((setup, digest)) = known
            && let Some(like) = self.likes.get(&setup)
            && like.names.len() == digest.values.len()
        {
            return Ok(Read::Run(self.stored(row, digest, Rc::clone(like))));
        }
        let report = match kept_report(self.store, row, EMPTIED)? {
            Kept::Report(report) => *report,
            Kept::Not => return Ok(Read::Not),
            Kept::Damaged(_) => return Ok(Read::Damaged),
        };
        let (setup, digest) = (setup_of(&report), RunDigest::from_report(&report));
        // A digest is read again if its setup has no report yet.
        if let (false, Ok(body)) = (is_known, serde_json::to_string(&digest)) {
            self.new.insert(row.run.clone(), Digest { setup, body });
        }
        if self.new.len() >= STORED_AT_ONCE {
            self.keep();
        }
        let like = match self.likes.get(&setup) {
            Some(like) => Rc::clone(like),
            None => {
                let names = figures_of(&report).into_keys().collect();
                let like = Rc::new(Like { report, names });
                self.likes.insert(setup, Rc::clone(&like));
                like
            }
        };
        Ok(Read::Run(self.stored(row, digest, like)))
    }

    fn stored(&self, row: &RunRow, digest: RunDigest, like: Rc<Like>) -> StoredRun<'s> {
        let (store, id) = (self.store, row.run.0.clone());
        StoredRun { store, id, digest, like, read: RefCell::new(None) }
    }

    /// Stores the new digests. A store that cannot be written now keeps none, and the next history
    /// makes them again.
    fn keep(&mut self) {
        let _ = self.store.put_digests(DIGEST_VERSION, &self.new);
        self.new.clear();
    }
}
