//! `--require`: limits that a run, or each point of an experiment, must keep.

use analysis::ExperimentReport;
use analysis::figures::{Required, RequiredResult};
use analysis::report::Report;
use app::error::Error;
use clap::{Arg, ArgAction, ArgMatches};
use render::as_json;
use serde::Serialize;

use super::flags::{self, Output};

pub(crate) fn flag() -> Arg {
    Arg::new("require").long("require").action(ArgAction::Append).value_name("LIMIT").help(
        "Exit with code 1 if this limit does not hold: \"p99<300ms\", \"tps>1000\"; it passes \
             where the interval includes the bound",
    )
}

/// The limits that are asked for.
pub(crate) fn asked(matches: &ArgMatches) -> Result<Vec<Required>, Error> {
    let all = matches.get_many::<String>("require").into_iter().flatten();
    let parsed = |text: &String| {
        text.parse::<Required>().map_err(|why| Error::Usage(format!("--require: {why}")))
    };
    all.map(parsed).collect()
}

/// What came of limits.
#[derive(Debug, Default)]
pub(crate) struct RequiredResults {
    /// Each with where it was held, which is empty for a run.
    found: Vec<(String, RequiredResult)>,
    /// Why limits could not be held.
    lost: Vec<String>,
    /// The first of these where no run has such a figure at all.
    unknown: Option<String>,
}

/// Holds limits against a run.
pub(crate) fn of_run(required: &[Required], report: &Report) -> RequiredResults {
    let mut results = RequiredResults::default();
    for limit in required {
        results.put(String::new(), limit.of_run(report));
    }
    results
}

impl RequiredResults {
    /// Holds a limit against each point of an experiment, whose report shows its figure.
    pub(crate) fn add_points(&mut self, limit: &Required, report: &ExperimentReport) {
        for point in &report.points {
            let held = limit.of_point(&point.figures, &point.samples_needed, &report.units);
            self.put(point.values.pairs(", "), held);
        }
    }

    /// A limit on a figure that no run has.
    pub(crate) fn add_lost(&mut self, why: String) {
        self.unknown.get_or_insert_with(|| why.clone());
        self.lost.push(why);
    }

    /// Refuses a limit on a figure that runs which are stored do not have.
    pub(crate) fn all_known(self) -> Result<RequiredResults, Error> {
        match &self.unknown {
            Some(why) => Err(Error::Usage(format!("--require: {why}"))),
            None => Ok(self),
        }
    }

    fn put(&mut self, place: String, result: Result<RequiredResult, String>) {
        match result {
            Ok(result) => self.found.push((place, result)),
            Err(why) if place.is_empty() => self.add_lost(why),
            Err(why) => self.lost.push(format!("{place}: {why}")),
        }
    }

    /// Whether no limit is broken.
    pub(crate) fn is_met(&self) -> bool {
        self.lost.is_empty() && self.found.iter().all(|(_, result)| !result.holds.is_broken())
    }

    /// One line a limit; nothing where the output is JSON or CSV.
    pub(crate) fn text(&self, matches: &ArgMatches) -> String {
        if matches!(flags::output_of(matches), Output::Json | Output::Csv) {
            return String::new();
        }
        let line = |(place, result): &(String, RequiredResult)| match place.is_empty() {
            true => format!("{result}\n"),
            false => format!("{place}: {result}\n"),
        };
        let lost = self.lost.iter().map(|why| format!("required: {why}\n"));
        self.found.iter().map(line).chain(lost).collect()
    }

    /// A report as JSON, with the limits where there are any.
    pub(crate) fn json(&self, report: &impl Serialize) -> String {
        let found = self.found.iter().map(|(point, result)| AtPoint { point, result }).collect();
        let required = RequiredJson { results: found, not_held: &self.lost };
        let is_asked = !self.found.is_empty() || !self.lost.is_empty();
        as_json(&WithRequired { report, required: is_asked.then_some(required) })
    }
}

#[derive(Serialize)]
struct WithRequired<'r, R> {
    #[serde(flatten)]
    report: &'r R,
    #[serde(skip_serializing_if = "Option::is_none")]
    required: Option<RequiredJson<'r>>,
}

#[derive(Serialize)]
struct RequiredJson<'r> {
    results: Vec<AtPoint<'r>>,
    not_held: &'r [String],
}

#[derive(Serialize)]
struct AtPoint<'r> {
    point: &'r str,
    #[serde(flatten)]
    result: &'r RequiredResult,
}
