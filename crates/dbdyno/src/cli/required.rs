//! `--require`: limits that a run, or each point of an experiment, must keep.

use analysis::ExperimentReport;
use analysis::figures::{Holds, Required, RequiredResult};
use analysis::report::Report;
use analysis::trials::{counts, is_settled, why_not_in_short};
use app::error::Error;
use clap::{Arg, ArgAction, ArgMatches};
use render::as_json;
use render::document::{Document, Tone, Verdict};
use serde::Serialize;

use super::flags::{self, Output};
use crate::shell::Shell;

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

/// Holds limits against a run. One that does not count keeps none, whatever its figures are.
pub(crate) fn of_run(required: &[Required], report: &Report) -> RequiredResults {
    let mut results = RequiredResults::default();
    if !required.is_empty() && !counts(report) && !is_settled(report) {
        let why = why_not_in_short(report);
        results.lost.push(format!("the run does not count: {why}"));
    }
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

    /// Prints them, where there is no page that begins with them: before a text, and for programs
    /// that read JSON or CSV beside it, where one is broken.
    pub(crate) fn print(&self, matches: &ArgMatches, shell: &Shell) -> Result<(), Error> {
        match flags::output_of(matches) {
            Output::Text => {
                let lines = self.lines().map(|line| line + "\n");
                shell.print(&lines.collect::<String>()).map(|_| ())
            }
            Output::Json | Output::Csv if !self.is_met() => {
                self.lines().for_each(|line| shell.say(&line));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The same as the first verdicts of a page that is no text.
    pub(crate) fn put_into(&self, page: &mut Document, matches: &ArgMatches) {
        if flags::output_of(matches) == Output::Text {
            return;
        }
        let of = |(place, result): &(String, RequiredResult)| {
            let tone = match result.holds {
                holds if holds.is_broken() => Tone::Bad,
                Holds::Undecided => Tone::Warning,
                _ => Tone::Good,
            };
            (tone, at_place(place, result))
        };
        let lost = self.lost.iter().map(|why| (Tone::Bad, lost_line(why)));
        let all = self.found.iter().map(of).chain(lost).map(|(tone, line)| Verdict {
            tone,
            word: "Limit".to_owned(),
            headline: line.into(),
            details: Vec::new(),
        });
        page.verdicts.splice(0..0, all);
    }

    /// Whether any is asked for.
    pub(crate) fn is_asked(&self) -> bool {
        !self.found.is_empty() || !self.lost.is_empty()
    }

    /// One line a limit.
    fn lines(&self) -> impl Iterator<Item = String> {
        let found = self.found.iter().map(|(place, result)| at_place(place, result));
        found.chain(self.lost.iter().map(|why| lost_line(why)))
    }

    /// A report as JSON, with the limits where there are any.
    pub(crate) fn json(&self, report: &impl Serialize) -> String {
        let found = self.found.iter().map(|(point, result)| AtPoint { point, result }).collect();
        let required = RequiredJson { results: found, not_held: &self.lost };
        as_json(&WithRequired { report, required: self.is_asked().then_some(required) })
    }
}

/// What came of a limit, and where that is, unless it is of a run.
fn at_place(place: &str, result: &RequiredResult) -> String {
    if place.is_empty() { result.to_string() } else { format!("{place}: {result}") }
}

fn lost_line(why: &str) -> String {
    format!("FAILED: {why}")
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
