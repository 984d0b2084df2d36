//! Finds the subject of a report page in the store by name: a run, an experiment, a search, a
//! comparison or a history.
//!
//! Not here: the page's layout (render), and its destination (dbdyno).

use analysis::report::{Options, Report};
use model::{Experiment, Imported, RunId};
use render::Document;
use render::charts::{
    Chart, of_comparison, of_experiment, of_history, of_median_runs, of_run, of_seek,
};
use serde::Serialize;
use store::Store;
use study::comparison::{GateResult, Judge};
use study::matrix::Matrices;
use study::trials::TrialReport;
use study::{ComparisonReport, ExperimentReport, HistoryReport, SeekReport, TuneReport};

use crate::compare::{CompareBy, compare, sides_of_axis};
use crate::error::Error;
use crate::experiment::{AskedTables, matrices, report_by};
use crate::stored_report::{stored_report, with_latency_heat};
use crate::trials::trial_reports;

/// Largest number of compared sets of runs whose median runs are drawn in one chart; the others are
/// left out.
const SIDES_MOST: usize = 6;

/// Subject of a report page, with all data that the page shows.
#[derive(Clone, Debug)]
pub enum ReportSource {
    Run(Box<Report>),
    Experiment(Box<ExperimentSource>),
    Seek(Box<SeekReport>),
    Tune(Box<TuneReport>),
    /// A comparison, the verdicts on its limits, and the name and median run of each compared set
    /// of runs (at most six).
    Comparison(Box<ComparisonReport>, Vec<GateResult>, Vec<(String, Report)>),
    History(Box<HistoryReport>),
}

/// An experiment, with everything that its page needs from the store.
#[derive(Clone, Debug)]
pub struct ExperimentSource {
    /// Report of the experiment: its points (combinations of varied values) with their figures, and
    /// the curve over a varied parameter if there is one.
    pub report: ExperimentReport,
    /// Reports of the ended trials, oldest first.
    pub trials: Vec<TrialReport>,
    /// Comparison of the values of the experiment's only varied parameter; `None` unless it has two
    /// or three values.
    pub sides: Option<ComparisonReport>,
    /// Tables that the user requested with `--rows` and `--columns`; `None` if there are none.
    pub tables: Option<Matrices>,
}

/// An experiment in JSON, for other programs.
#[derive(Clone, Debug, Serialize)]
pub struct ExperimentJson<'s> {
    #[serde(flatten)]
    report: &'s ExperimentReport,
    /// Headlines of the verdicts on the experiment's page, as plain text.
    verdicts: Vec<String>,
    /// Comparison of the values of the experiment's only varied parameter; `None` unless it has two
    /// or three values.
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<&'s ComparisonReport>,
}

impl ExperimentSource {
    /// Reads from the store everything that the page of an experiment needs in addition to
    /// `report`.
    pub fn read(
        store: &Store,
        experiment: &Experiment,
        report: ExperimentReport,
    ) -> Result<ExperimentSource, Error> {
        let sides = sides_of_axis(store, experiment, &report);
        let trials = trial_reports(store, experiment)?;
        Ok(ExperimentSource { report, trials, sides, tables: None })
    }

    /// Returns the experiment in JSON form, with the verdicts of its page.
    pub fn json(&self) -> ExperimentJson<'_> {
        let sides = self.sides.as_ref();
        let verdicts = render::experiment_verdicts(&self.report, &self.trials, sides);
        let verdicts = verdicts.iter().map(|verdict| verdict.headline.plain()).collect();
        ExperimentJson { report: &self.report, verdicts, comparison: self.sides.as_ref() }
    }

    /// Returns the page of the experiment as a document, independent of the output format.
    pub fn document(&self) -> Document {
        let mut page = render::experiment(&self.report, &self.trials, self.sides.as_ref());
        if let Some(tables) = &self.tables {
            // The user's tables replace the default ones.
            page.sections.retain(|section| section.id != "matrix");
            page.sections.push(render::matrix_section(tables));
        }
        page
    }
}

impl ReportSource {
    /// Finds the subject of a page. A single name is an experiment or else a run; several names are
    /// the sets of runs of a comparison.
    pub fn named(store: &Store, names: &[String], judge: &Judge) -> Result<ReportSource, Error> {
        let [name] = names else {
            let sides = CompareBy::Sides(names.to_vec());
            let report = compare(store, &sides, judge)?;
            return ReportSource::of_comparison(store, report, Vec::new());
        };
        if name.contains(['=', ',']) {
            return Err(Error::Usage(format!(
                "{name} is one side of a comparison: add another one, such as a label (build=1.3)"
            )));
        }
        if let Ok(experiment) = store.experiment_or_run(name) {
            return ReportSource::of_experiment(store, &experiment, judge.primary.as_deref());
        }
        let run = store.find(name)?;
        let report = stored_report(store, &run, Options { per_client: true })?;
        Ok(ReportSource::Run(Box::new(with_latency_heat(store, &run, report)?)))
    }

    /// Returns the subject of a page about a comparison, with the verdicts on its limits. Reads the
    /// median run of each compared set for the charts.
    pub fn of_comparison(
        store: &Store,
        report: ComparisonReport,
        gates: Vec<GateResult>,
    ) -> Result<ReportSource, Error> {
        let mut runs = Vec::new();
        for side in report.sides.iter().take(SIDES_MOST) {
            let Some(drawn) = &side.median_run else { continue };
            let report = stored_report(store, &RunId(drawn.run.clone()), Options::default())?;
            runs.push((side.name.clone(), report));
        }
        Ok(ReportSource::Comparison(Box::new(report), gates, runs))
    }

    /// Returns the subject of a page about a stored experiment, search or tuner. An experiment is
    /// judged by `figure`, or by its primary metric if that is `None`.
    pub fn of_experiment(
        store: &Store,
        experiment: &Experiment,
        figure: Option<&str>,
    ) -> Result<ReportSource, Error> {
        let report = match experiment.walk {
            model::Walk::Grid => report_by(store, experiment, figure)?,
            model::Walk::Seek(_) => {
                let report = crate::seek::report(store, experiment)?;
                return Ok(ReportSource::Seek(Box::new(report)));
            }
            model::Walk::Tune(_) => {
                let report = crate::tune::report(store, experiment)?;
                return Ok(ReportSource::Tune(Box::new(report)));
            }
        };
        let source = ExperimentSource::read(store, experiment, report)?;
        Ok(ReportSource::Experiment(Box::new(source)))
    }

    /// Adds the requested tables to an experiment. Fails if tables are requested for another
    /// subject.
    pub fn with_tables(
        mut self,
        store: &Store,
        figure: Option<&str>,
        asked: AskedTables<'_>,
    ) -> Result<ReportSource, Error> {
        match &mut self {
            _ if !asked.is_any() => {}
            ReportSource::Experiment(source) => {
                let experiment = store.find_experiment(&source.report.id)?;
                source.tables = Some(matrices(store, &experiment, figure, asked)?);
            }
            _ => {
                let why = "--rows, --columns and --relative-to make a table of an experiment: name \
                           one";
                return Err(Error::Usage(why.to_owned()));
            }
        }
        Ok(self)
    }

    /// Adds imported figures to the charts of an experiment or a comparison. Fails for other
    /// subjects, and if no chart shows any of the figures.
    pub fn with_imported(mut self, imported: Vec<Imported>) -> Result<ReportSource, Error> {
        let Some(first) = imported.first() else { return Ok(self) };
        let name = &first.name;
        match &mut self {
            ReportSource::Experiment(source) => source.report.imported.extend(imported.clone()),
            ReportSource::Comparison(report, ..) => report.imported.clone_from(&imported),
            ReportSource::Run(_)
            | ReportSource::Seek(_)
            | ReportSource::Tune(_)
            | ReportSource::History(_) => {
                return Err(Error::Usage(format!(
                    "the imported figures {name} can be shown only with an experiment, a \
                     comparison or a history: name one of these"
                )));
            }
        }
        let charts = self.charts();
        for import in &imported {
            let is_shown = |figure: &&str| charts.iter().any(|chart| chart.is_over_axis_of(figure));
            if !import.figures().iter().any(is_shown) {
                return Err(Error::Usage(format!(
                    "no chart here shows the figure {1} of the imported {0}: select it with \
                     --figure",
                    import.name,
                    import.figures().join(" or ")
                )));
            }
        }
        Ok(self)
    }

    /// Returns the name of the subject, for the title of a page.
    pub fn title(&self) -> String {
        match self {
            ReportSource::Run(report) if report.name.is_empty() => report.run_id.clone(),
            ReportSource::Run(report) => report.name.clone(),
            ReportSource::Experiment(source) => source.report.name.clone(),
            ReportSource::Seek(report) => report.name.clone(),
            ReportSource::Tune(report) => report.name.clone(),
            ReportSource::Comparison(report, ..) => render::comparison_title(report),
            ReportSource::History(report) => format!("history by {}", report.by),
        }
    }

    pub fn charts(&self) -> Vec<Chart> {
        match self {
            ReportSource::Run(report) => of_run(report),
            ReportSource::Experiment(source) => of_experiment(&source.report, &source.trials),
            ReportSource::Seek(report) => of_seek(report),
            ReportSource::Tune(_) => Vec::new(),
            ReportSource::Comparison(report, _, runs) => {
                of_comparison(report).into_iter().chain(of_median_runs(report, runs)).collect()
            }
            ReportSource::History(report) => of_history(report),
        }
    }

    pub fn document(&self) -> Document {
        match self {
            ReportSource::Run(report) => render::run(report),
            ReportSource::Experiment(source) => source.document(),
            ReportSource::Seek(report) => render::seek(report),
            ReportSource::Tune(report) => render::tune(report),
            ReportSource::Comparison(report, gates, runs) => {
                render::comparison_of_runs(report, gates, runs)
            }
            ReportSource::History(report) => render::history(report),
        }
    }
}
