//! `--require`: tests limits on a run, or on each point of an experiment.

use analysis::figures::{Holds, Required, RequiredResult};
use analysis::report::Report;
use app::error::Error;
use clap::{Arg, ArgAction, ArgMatches};
use model::{JudgedLimit, LimitOutcome};
use render::as_json;
use render::document::{Document, Tone, Verdict};
use render::terminal::PAGE_WIDTH;
use serde::Serialize;
use study::ExperimentReport;
use study::trials::{counts, is_settled, why_not_as_observed};

use super::flags::{self, Output};
use super::last_line::{self, LET_PASS};
use super::{DONE, FAILED, Outcome, UNDECIDED, print_document};
use crate::shell::Shell;

/// Name of the option that sets a limit.
pub(crate) const OPTION: &str = "require";

pub(crate) fn flags() -> [Arg; 2] {
    let undecided = flags::undecided(
        "Whether limits pass or fail whose interval includes the bound, or that have too few \
         samples [default: fail]",
    );
    [
        Arg::new("require")
            .long("require")
            .action(ArgAction::Append)
            .value_name("LIMIT")
            .help("Exit with code 1 if this limit is broken, with 3 if it is undecided: \"p99<300ms\", \"tps>1000\""),
        undecided.requires("require"),
    ]
}

/// Limits that the user sets with `--require`, such as `p99_ms<300`, and whether undecided ones
/// fail.
pub(crate) struct Requirements {
    /// The limits, in the order in which the command line has them.
    pub(crate) limits: Vec<Required>,
    fails_undecided: bool,
}

impl Requirements {
    /// Returns the limits as they are written.
    pub(crate) fn words(&self) -> Vec<String> {
        self.limits.iter().map(ToString::to_string).collect()
    }
}

/// Parses the limits of `--require`, and `--undecided`.
pub(crate) fn asked(matches: &ArgMatches) -> Result<Requirements, Error> {
    let all = matches.get_many::<String>("require").into_iter().flatten();
    let parsed = |text: &String| {
        text.parse::<Required>().map_err(|why| Error::Usage(format!("--require: {why}")))
    };
    let limits = all.map(parsed).collect::<Result<Vec<Required>, Error>>()?;
    Ok(Requirements { limits, fails_undecided: flags::fails_undecided(matches) })
}

/// Results of testing the `--require` limits on a run, or on the points of an experiment
/// (combinations of varied values).
#[derive(Debug)]
pub(crate) struct RequiredResults {
    /// True if a limit that is undecided makes the command fail.
    fails_undecided: bool,
    /// Results of the limits, each with the point of the experiment as text, such as `clients=8`;
    /// the text is empty for a run.
    found: Vec<(String, RequiredResult)>,
    /// Reasons why limits could not be tested, or why the run does not count. Each makes the
    /// command fail.
    lost: Vec<String>,
    /// First of the reasons in `lost` that is about a figure that no run has; `None` if there is
    /// none.
    unknown: Option<String>,
}

/// Tests the `--require` limits on a run. If there are any, an invalid or incomplete run makes the
/// command fail too.
pub(crate) fn of_run(required: &Requirements, report: &Report) -> RequiredResults {
    let mut results = RequiredResults::from_requirements(required);
    // A full queue may end a run as planned, but does not make its other faults good.
    let is_invalid =
        report.findings.iter().any(|finding| finding.severity == model::Severity::Invalid);
    let is_lost = is_invalid || !counts(report) && !is_settled(report);
    if !required.limits.is_empty() && is_lost {
        let why = why_not_as_observed(report);
        results.lost.push(format!("the run does not count: {}", why.trim_end_matches('.')));
    }
    for limit in &required.limits {
        results.put(String::new(), limit.of_run(report));
    }
    results
}

impl RequiredResults {
    pub(crate) fn from_requirements(required: &Requirements) -> RequiredResults {
        let fails_undecided = required.fails_undecided;
        RequiredResults { fails_undecided, found: Vec::new(), lost: Vec::new(), unknown: None }
    }

    /// Tests a limit on each point (combination of varied values) of an experiment. The report must
    /// have the limit's figure.
    pub(crate) fn add_points(&mut self, limit: &Required, report: &ExperimentReport) {
        for point in &report.points {
            if let (true, Some(why)) = (point.runs.is_empty(), &point.why_none_counts) {
                let why = format!("{limit}: no run counts: {why}");
                self.put(point.values.pairs(", "), Err(why));
                continue;
            }
            let held = limit.of_point(&point.figures, &point.samples_needed, &report.units);
            self.put(point.values.pairs(", "), held);
        }
    }

    /// Records that a limit cannot be tested because no run has its figure; `why` is the sentence
    /// for the user.
    pub(crate) fn add_lost(&mut self, why: String) {
        self.unknown.get_or_insert_with(|| why.clone());
        self.lost.push(why);
    }

    /// Returns the results, or an error if a limit names a figure that no stored run has.
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

    /// Returns true if the limits let the command succeed: all are kept, or are undecided and
    /// `--undecided pass` is given.
    fn is_met(&self) -> bool {
        self.exit_code() == DONE
    }

    /// Returns the exit code of a command with these limits whose runs are valid: that of a failure
    /// if a limit is broken or has no figure, else [`UNDECIDED`] if one is that and must not be.
    pub(crate) fn exit_code(&self) -> u8 {
        let has = |is: fn(Holds) -> bool| self.found.iter().any(|(_, result)| is(result.holds));
        match () {
            () if !self.lost.is_empty() || has(Holds::is_broken) => FAILED,
            () if self.fails_undecided && has(|holds| holds == Holds::Undecided) => UNDECIDED,
            () => DONE,
        }
    }

    fn fails(&self, holds: Holds) -> bool {
        holds.is_broken() || self.fails_undecided && holds == Holds::Undecided
    }

    /// Prints the last line of a command with limits that ends with `code`, unless the code has
    /// another reason than the limits.
    pub(crate) fn end(&self, code: u8, matches: &ArgMatches, shell: &Shell) {
        if self.is_asked() && code == self.exit_code() {
            last_line::print(code, self.has_undecided(), matches, shell);
        }
    }

    fn has_undecided(&self) -> bool {
        self.found.iter().any(|(_, result)| result.holds == Holds::Undecided)
    }

    /// Prints one line per limit: on stdout if the output is text, on stderr for JSON or CSV if a
    /// limit fails.
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

    /// Prints, with `--quiet` and output as text or for GitHub, only the results of the limits or,
    /// without limits, the shortest form of a report. Otherwise prints nothing and returns `None`.
    pub(crate) fn print_if_quiet(
        &self,
        shortest: impl FnOnce() -> Document,
        matches: &ArgMatches,
        shell: &Shell,
    ) -> Option<Outcome> {
        let is_quiet = matches.try_get_one("quiet").ok().flatten() == Some(&true);
        let output = flags::output_of(matches);
        (is_quiet && matches!(output, Output::Text | Output::Github)).then(|| {
            self.print(matches, shell)?;
            let page = match self.is_asked() {
                true if output == Output::Text => return Ok(DONE),
                true => Document { verdicts: self.verdicts(), ..Document::default() },
                false => shortest(),
            };
            print_document(&page, PAGE_WIDTH, matches, shell)
        })
    }

    /// Puts the results of the limits before a page: printed as lines and a blank line if the
    /// output is text, else inserted as the first verdicts of the page.
    pub(crate) fn put_before(
        &self,
        page: &mut Document,
        matches: &ArgMatches,
        shell: &Shell,
    ) -> Result<(), Error> {
        self.print(matches, shell)?;
        if flags::output_of(matches) != Output::Text {
            page.verdicts.splice(0..0, self.verdicts());
        } else if self.is_asked() {
            shell.print("\n")?;
        }
        Ok(())
    }

    fn verdicts(&self) -> Vec<Verdict> {
        let tone_of = |holds: Holds| match holds {
            _ if self.fails(holds) => Tone::Bad,
            Holds::Undecided => Tone::Warning,
            _ => Tone::Good,
        };
        let found = self
            .found
            .iter()
            .map(|(place, result)| (tone_of(result.holds), self.line(place, result)));
        let lost = self.lost.iter().map(|why| (Tone::Bad, lost_line(why)));
        let to_verdict = |(tone, line): (Tone, String)| Verdict {
            tone,
            word: "Limit".to_owned(),
            headline: line.into(),
            details: Vec::new(),
        };
        found.chain(lost).map(to_verdict).collect()
    }

    /// Returns the outcomes of the limits, as they are stored with a run or an experiment.
    pub(crate) fn judged(&self) -> Vec<JudgedLimit> {
        let found = self.found.iter().map(|(place, result)| {
            let outcome = match result.holds {
                holds if holds.is_broken() => LimitOutcome::Failed,
                Holds::Undecided => LimitOutcome::Undecided,
                _ => LimitOutcome::Passed,
            };
            (outcome, at_place(place, result))
        });
        let lost = self.lost.iter().map(|why| (LimitOutcome::Failed, lost_line(why)));
        let judged = |(outcome, text)| JudgedLimit { option: OPTION.to_owned(), outcome, text };
        found.chain(lost).map(judged).collect()
    }

    /// Returns true if the user has set any limit.
    pub(crate) fn is_asked(&self) -> bool {
        !self.found.is_empty() || !self.lost.is_empty()
    }

    /// Returns the text of a limit's result, which says if it is undecided and may pass.
    fn line(&self, place: &str, result: &RequiredResult) -> String {
        match result.holds {
            Holds::Undecided if !self.fails_undecided => at_place(place, result) + LET_PASS,
            _ => at_place(place, result),
        }
    }

    /// Returns the lines with the result of each limit.
    fn lines(&self) -> impl Iterator<Item = String> {
        let found = self.found.iter().map(|(place, result)| self.line(place, result));
        found.chain(self.lost.iter().map(|why| lost_line(why)))
    }

    /// Returns the report as JSON, with the results under `required` if there are limits.
    pub(crate) fn json(&self, report: &impl Serialize) -> String {
        let found = self.found.iter().map(|(point, result)| AtPoint { point, result }).collect();
        let required = RequiredJson { results: found, not_held: &self.lost };
        as_json(&WithRequired { report, required: self.is_asked().then_some(required) })
    }
}

/// Tells the user if the outcome of limits could not be stored, which changes nothing else.
pub(crate) fn tell_lost(put: Result<(), Error>, shell: &Shell) {
    if let Err(error) = put {
        shell.say(&format!("dbdyno: the outcome of the limits is not stored: {error}"));
    }
}

/// Returns the text of a limit's result, after the name of its point, such as `clients=8`, if there
/// is one.
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
