//! Subject of a page: a run, an experiment, a search, a comparison or a history of the store, found
//! by name.
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
use study::{ComparisonReport, ExperimentReport, HistoryReport, SeekReport};

use crate::compare::{CompareBy, compare, sides_of_axis};
use crate::error::Error;
use crate::experiment::{AskedTables, matrices, report_by};
use crate::stored_report::{stored_report, with_latency_heat};
use crate::trials::trial_reports;

/// Most runs that are drawn over each other.
const SIDES_MOST: usize = 6;

/// Subject of a page.
#[derive(Clone, Debug)]
pub enum ReportSource {
    Run(Box<Report>),
    Experiment(Box<ExperimentSource>),
    Seek(Box<SeekReport>),
    /// A comparison, its limits with verdicts, and the first run of each side.
    Comparison(Box<ComparisonReport>, Vec<GateResult>, Vec<(String, Report)>),
    History(Box<HistoryReport>),
}

/// An experiment, with everything that its page needs of the store.
#[derive(Clone, Debug)]
pub struct ExperimentSource {
    /// Points with their figures, and the curve over the axis.
    pub report: ExperimentReport,
    /// Ended trials, oldest first.
    pub trials: Vec<TrialReport>,
    /// Comparison of the values of the only axis, if there are two or three.
    pub sides: Option<ComparisonReport>,
    /// Tables of `--rows` and `--columns`, if given.
    pub tables: Option<Matrices>,
}

/// An experiment as programs read it.
#[derive(Clone, Debug, Serialize)]
pub struct ExperimentJson<'s> {
    #[serde(flatten)]
    report: &'s ExperimentReport,
    /// First sentences of its page.
    verdicts: Vec<String>,
    /// Comparison of the values of the only axis, if there are two or three.
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<&'s ComparisonReport>,
}

impl ExperimentSource {
    /// Reads the data of an experiment's page from the store.
    pub fn read(
        store: &Store,
        experiment: &Experiment,
        report: ExperimentReport,
    ) -> Result<ExperimentSource, Error> {
        let sides = sides_of_axis(store, experiment, &report);
        let trials = trial_reports(store, experiment)?;
        Ok(ExperimentSource { report, trials, sides, tables: None })
    }

    /// The experiment as programs read it, with the verdicts of its page.
    pub fn json(&self) -> ExperimentJson<'_> {
        let sides = self.sides.as_ref();
        let verdicts = render::experiment_verdicts(&self.report, &self.trials, sides);
        let verdicts = verdicts.iter().map(|verdict| verdict.headline.plain()).collect();
        ExperimentJson { report: &self.report, verdicts, comparison: self.sides.as_ref() }
    }

    /// Page of the experiment.
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
    /// Finds the subject by name, an experiment before a run; several names are a comparison.
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

    /// A comparison with its limits.
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

    /// An experiment, judged by `figure` or its primary metric; or a search.
    pub fn of_experiment(
        store: &Store,
        experiment: &Experiment,
        figure: Option<&str>,
    ) -> Result<ReportSource, Error> {
        if !experiment.walk.is_grid() {
            let report = crate::seek::report(store, experiment)?;
            return Ok(ReportSource::Seek(Box::new(report)));
        }
        let report = report_by(store, experiment, figure)?;
        let source = ExperimentSource::read(store, experiment, report)?;
        Ok(ReportSource::Experiment(Box::new(source)))
    }

    /// Adds tables to an experiment; other subjects have none.
    pub fn with_tables(
        mut self,
        store: &Store,
        figure: Option<&str>,
        asked: AskedTables<'_>,
    ) -> Result<ReportSource, Error> {
        match &mut self {
            _ if !asked.is_any() => {}
            ReportSource::Experiment(of) => {
                let experiment = store.find_experiment(&of.report.id)?;
                of.tables = Some(matrices(store, &experiment, figure, asked)?);
            }
            _ => {
                let why = "--rows, --columns and --relative-to make a table of an experiment: name \
                           one";
                return Err(Error::Usage(why.to_owned()));
            }
        }
        Ok(self)
    }

    /// Adds imported figures to the charts. Fails if the subject has no such charts, or none of
    /// them shows the figures.
    pub fn with_imported(mut self, imported: Vec<Imported>) -> Result<ReportSource, Error> {
        let Some(first) = imported.first() else { return Ok(self) };
        let name = &first.name;
        match &mut self {
            ReportSource::Experiment(of) => of.report.imported.extend(imported.clone()),
            ReportSource::Comparison(report, ..) => report.imported.clone_from(&imported),
            ReportSource::Run(_) | ReportSource::Seek(_) | ReportSource::History(_) => {
                return Err(Error::Usage(format!(
                    "the imported figures {name} can be shown only with an experiment, a \
                     comparison or a history: name one of these"
                )));
            }
        }
        let charts = self.charts();
        for of in &imported {
            let is_shown = |figure: &&str| charts.iter().any(|chart| chart.is_over_axis_of(figure));
            if !of.figures().iter().any(is_shown) {
                return Err(Error::Usage(format!(
                    "no chart here shows the figure {1} of the imported {0}: select it with \
                     --figure",
                    of.name,
                    of.figures().join(" or ")
                )));
            }
        }
        Ok(self)
    }

    /// Name for the title of a page.
    pub fn title(&self) -> String {
        match self {
            ReportSource::Run(report) if report.name.is_empty() => report.run_id.clone(),
            ReportSource::Run(report) => report.name.clone(),
            ReportSource::Experiment(of) => of.report.name.clone(),
            ReportSource::Seek(report) => report.name.clone(),
            ReportSource::Comparison(report, ..) => render::comparison_title(report),
            ReportSource::History(report) => format!("history by {}", report.by),
        }
    }

    pub fn charts(&self) -> Vec<Chart> {
        match self {
            ReportSource::Run(report) => of_run(report),
            ReportSource::Experiment(of) => of_experiment(&of.report, &of.trials),
            ReportSource::Seek(report) => of_seek(report),
            ReportSource::Comparison(report, _, runs) => {
                of_comparison(report).into_iter().chain(of_median_runs(report, runs)).collect()
            }
            ReportSource::History(report) => of_history(report),
        }
    }

    pub fn document(&self) -> Document {
        match self {
            ReportSource::Run(report) => render::run(report),
            ReportSource::Experiment(of) => of.document(),
            ReportSource::Seek(report) => render::seek(report),
            ReportSource::Comparison(report, gates, runs) => {
                render::comparison_of_runs(report, gates, runs)
            }
            ReportSource::History(report) => render::history(report),
        }
    }
}
