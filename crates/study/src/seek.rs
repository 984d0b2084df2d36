//! Searches for the highest load at which objectives are met: the judgement of each probe, the
//! place of the next one, and the answer.
//!
//! A probe is one run at a value of the searched parameter, such as a rate. Its score is the share
//! of transactions that take longer than an objective's time, divided by the allowed share; lost
//! transactions count as too long. A probe also has to finish its offered load within the measured
//! window, without a queue that grows. Not here: the execution of probes (app), and pages (render).

mod late;
mod strategy;

use analysis::figures::{Holds, Required};
use analysis::report::{Named, Report};
use model::{Bound, Comparison, Load, Metric, Objective, format_count};
use serde::{Deserialize, Serialize};
use stats::{binomial_interval, students_t};

use crate::environment::Environment;
use crate::shown_figures;
use crate::trials::{counts, is_settled};

pub use late::Late;
pub use strategy::{
    Conclusion, METHOD_OF_SHARES, PlannedProbe, Probe, SHORT_PROBE_SHARE, SearchStrategy,
};

/// Name and version of the JSON schema of [`SeekReport`].
pub const SCHEMA: &str = "dbdyno.seek/1";
/// Number of the present method by which a search chooses and judges its probes (runs). A stored
/// search keeps its method, because that decided where its probes are. Method 1 scored by times;
/// method 2 assumed that the times of a queue are a power of its rate.
pub const METHOD: u32 = 3;
/// Confidence of all intervals of a search.
pub const CONFIDENCE: f64 = 0.90;
/// Smallest share of offered transactions that have to finish within the measured window for the
/// database to keep up, unless an objective sets another one.
const ACHIEVED_LEAST: f64 = 0.99;
/// Largest share of lost transactions with which an objective on the mean time can be met. Lost
/// transactions have no time, so that the mean would be too good.
const LOST_MOST: f64 = 0.01;
/// Half-width of the confidence interval that is assumed for a ratio whose error is not known,
/// because the measured window is too short.
const UNKNOWN_HALF_WIDTH: f64 = 0.5;
/// Degrees of freedom of an error that is estimated from batches of one measured window.
const FREEDOM_WITHIN: usize = 18;

/// The verdict on a probe (one run of a search): whether the search's objectives are met at its
/// load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every objective of the search is met with confidence: the whole confidence interval is
    /// within the bound.
    Meets,
    /// Some objective of the search is missed with confidence: its whole confidence interval is
    /// beyond the bound. Or the run failed for another reason, such as a full queue.
    Fails,
    /// The confidence interval of some objective of the search contains its bound, or a figure is
    /// not known.
    Undecided,
}

impl Verdict {
    /// Returns the name of the verdict as pages show it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Meets => "meets",
            Verdict::Fails => "fails",
            Verdict::Undecided => "undecided",
        }
    }

    /// Returns the verdict for a score that has to be below 0, given half the width of its
    /// confidence interval: `Meets` if the whole interval is below 0, `Fails` if it is above,
    /// otherwise `Undecided`.
    pub fn from_score(score: f64, half_width: f64) -> Verdict {
        match (score + half_width < 0.0, score - half_width > 0.0) {
            (true, _) => Verdict::Meets,
            (_, true) => Verdict::Fails,
            _ => Verdict::Undecided,
        }
    }
}

/// The judgement of a probe (one run of a search) by the objectives of the search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Verdict on the probe by its own confidence intervals, without other probes.
    pub verdict: Verdict,
    /// Natural logarithm of the worst time divided by its bound, negative if all times are within
    /// their bounds. Null if no objective is on a time, or the worst time is not known.
    pub score: Option<f64>,
    /// Half the width of the 90 % confidence interval of `score`; null if not known.
    pub half_width: Option<f64>,
    /// Excess over the bound, as a ratio, for each objective on a time. The next probes and the
    /// answer are computed from these ratios.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beyond: Vec<Beyond>,
    /// True if the run failed for another reason than long times, such as a full queue. Then its
    /// times say nothing about the times at neighbouring values of the searched parameter.
    pub is_broken: bool,
    /// Description of a figure that is not known, such as for lack of samples, so that the probe is
    /// undecided; null if all are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
    /// Descriptions of the objectives that are not met or undecided.
    pub reasons: Vec<String>,
}

impl Judged {
    /// Returns a judgement of a probe with this verdict, and with `beyond`, the excess over the
    /// bound of each objective on a time. It is not broken; other fields are `None` or empty.
    pub fn new(verdict: Verdict, beyond: Vec<Beyond>) -> Judged {
        Judged {
            verdict,
            score: None,
            half_width: None,
            beyond,
            is_broken: false,
            lacks: None,
            reasons: Vec::new(),
        }
    }
}

/// Excess of the transactions of one run over the bound of a search's objective on a time, such as
/// p99 < 20 ms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beyond {
    pub objective: Objective,
    /// For a percentile, the share of offered transactions beyond the bound divided by the share
    /// that the objective allows; for the mean and the maximum, the time divided by its bound. At
    /// 1, the objective is just met.
    pub ratio: f64,
    /// Standard error of the ratio, from batches of the measured window; null if the window is too
    /// short.
    pub error: Option<f64>,
    /// Effective sample size: the number of independent transactions that would give the mean with
    /// the same error as the autocorrelated ones of the window. Null if not known.
    pub independent: Option<f64>,
}

impl Beyond {
    /// Returns the share of transactions that is allowed beyond the bound, such as 0.01 for p99; 0
    /// if the metric is not a percentile.
    pub fn allowed(&self) -> f64 {
        self.objective.metric.allowed_beyond().unwrap_or(0.0)
    }

    /// Returns the standard error that the ratio would have in this window if it were exactly 1,
    /// from the effective sample size. It is the better estimate if hardly any transactions are
    /// late, because late ones cluster. `None` if not known, or the metric is not a percentile.
    pub fn error_at_bound(&self) -> Option<f64> {
        let allowed = self.objective.metric.allowed_beyond()?;
        Some(((1.0 / allowed - 1.0) / self.independent?).sqrt())
    }

    /// Returns true if the measured ratio does not meet the objective, whatever its error. A
    /// percentile whose ratio is exactly 1 meets it; a mean or maximum does only if the objective
    /// is `<=`.
    pub fn is_late(&self) -> bool {
        match self.objective.metric.allowed_beyond() {
            Some(_) => self.ratio > 1.0,
            None => !self.objective.comparison.holds(self.ratio, 1.0),
        }
    }

    /// Returns the verdict on the objective, given half the width of the ratio's confidence
    /// interval; 0 stands for an exact ratio.
    pub fn verdict(&self, half_width: f64) -> Verdict {
        match half_width {
            0.0 if self.is_late() => Verdict::Fails,
            0.0 => Verdict::Meets,
            _ => Verdict::from_score(self.ratio - 1.0, half_width),
        }
    }

    /// Returns half the width of the 90 % confidence interval of the ratio, from this probe alone;
    /// 0.5 if its error is not known.
    pub fn half_width(&self) -> f64 {
        let known = [self.error, self.error_at_bound()].into_iter().flatten();
        let error = known.reduce(f64::max);
        error.map_or(UNKNOWN_HALF_WIDTH, |error| {
            error * students_t(1.0 - (1.0 - CONFIDENCE) / 2.0, FREEDOM_WITHIN)
        })
    }
}

/// The stage of a search in which a probe (one run) is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// First stage of a search: short runs narrow the range of values.
    Bracket,
    /// Second stage of a search: long runs near the boundary, the highest value that meets the
    /// objectives.
    Refine,
    /// Last stage of a search: new long runs at the lower end of the answer's confidence interval
    /// verify that value.
    Confirm,
}

impl Stage {
    /// Returns the name of the stage as pages show it, such as `bracket`.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Bracket => "bracket",
            Stage::Refine => "refine",
            Stage::Confirm => "confirm",
        }
    }
}

/// A probe (one run) in the report of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeReport {
    /// Value of the searched parameter, such as a rate or a number of clients.
    pub at: f64,
    /// Length of the probe's measured phase, in seconds.
    pub measure_s: f64,
    pub stage: Stage,
    /// Id of the run that is the probe.
    pub run: String,
    /// Verdict on the probe, with the error that is known from the variation between probes. If
    /// that is not known, the verdict from the probe alone.
    pub verdict: Verdict,
    /// Judgement from this probe alone, without the variation between probes.
    pub judged: Judged,
    /// Figures of the run by name. A percentile that lies among lost transactions is null, since
    /// its time would be infinite.
    pub figures: Named<Option<f64>>,
    /// Reasons why response times in `figures` are null, such as too few samples, by figure name.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub reasons: Named<String>,
    /// Number of samples that each response time without a value needs, by figure name.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub samples_needed: Named<u64>,
}

/// Answer of a search: the highest value of the searched parameter at which the objectives are met.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Answer {
    /// The value at which the curve of times crosses the objective's bound, with a 90 % confidence
    /// interval.
    Found {
        /// The highest value of the searched parameter at which the objectives are met.
        value: f64,
        /// Lower end of the answer's 90 % confidence interval.
        low: f64,
        /// Upper end of the answer's 90 % confidence interval.
        high: f64,
    },
    /// Result for an abrupt failure: the objectives are met at one value and not at the next higher
    /// one, without a curve between them.
    Between {
        /// The highest value of the searched parameter at which the objectives were met.
        low: f64,
        /// The lowest value of the searched parameter at which the objectives were not met.
        high: f64,
    },
    /// No answer, because times are close to their bound and do not discernibly depend on the
    /// value.
    Flat {
        /// The lowest searched value at which a long probe was made.
        low: f64,
        /// The highest searched value at which a long probe was made.
        high: f64,
    },
    /// No answer, because probes are too short for the autocorrelation of response times.
    TooShort {
        /// The lowest searched value at which a long probe was made.
        low: f64,
        /// The highest searched value at which a long probe was made.
        high: f64,
    },
    /// The objectives are not met even at the lowest value of the range.
    LowestFails { value: f64 },
    /// The objectives are met even at the highest value of the range.
    HighestMeets { value: f64 },
    /// Unknown answer, because the search has not yet made all of its probes.
    Unfinished,
}

impl Answer {
    /// Returns the value of the searched parameter to run with: the lower end of the answer, at
    /// which the objectives are met. `None` if the answer has no such value.
    pub fn recommended(self) -> Option<f64> {
        match self {
            Answer::Found { low, .. } | Answer::Between { low, .. } => Some(low),
            Answer::HighestMeets { value } => Some(value),
            Answer::Flat { .. } | Answer::TooShort { .. } => None,
            Answer::LowestFails { .. } | Answer::Unfinished => None,
        }
    }
}

/// A point of a search's curve: the means of all probes at one value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Value of the searched parameter, such as a rate.
    pub at: f64,
    pub probes: u64,
    /// Means of the figures over the probes, by name; null if some probe lacks the figure.
    pub figures: Named<Option<f64>>,
}

/// The report of a search: its probes, the answer and the value to run with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeekReport {
    /// Name of the schema, [`SCHEMA`].
    pub schema: String,
    /// Id of the experiment that stores the search.
    pub id: String,
    pub name: String,
    /// Start of the search, in milliseconds since 1970-01-01T00:00:00Z.
    pub started_unix_ms: i64,
    /// Status of the experiment, such as still running; null if not known.
    #[serde(default)]
    pub status: Option<model::Status>,
    /// The searched parameter, its range, and the objectives.
    pub seek: model::Seek,
    pub answer: Answer,
    /// Workload, database, load and machine of the probes; null as long as no probe has ended.
    pub scene: Option<Environment>,
    /// Confidence of the interval in the answer, as a share such as 0.9.
    pub confidence: f64,
    /// The value to run with: the lower end of the answer, at which confirming probes were made.
    /// Null if there is none.
    #[serde(default)]
    pub recommended: Option<f64>,
    /// True if the confirming probes show that the objectives are met at the recommended value (or,
    /// if even the lowest value fails, that they are not met there). False if they do not show
    /// this, and null before these probes were made.
    pub confirmed: Option<bool>,
    /// Standard deviation between long probes, in stored searches by method 1; null for later
    /// methods.
    pub residual: Option<f64>,
    /// Growth of times in percent when the searched value grows by one percent, in stored searches
    /// by method 1; null for later methods.
    pub elasticity: Option<f64>,
    /// Standard deviation of a long probe's [ratio](Beyond::ratio) at the objective's bound; null
    /// if not known.
    #[serde(default)]
    pub noise: Option<f64>,
    /// Growth of the [ratio](Beyond::ratio) in percent, at the answer, when the searched value
    /// grows by one percent; null if not known.
    #[serde(default)]
    pub steepness: Option<f64>,
    /// All probes (runs) of the search, in the order of time.
    pub probes: Vec<ProbeReport>,
    /// Mean figures of the probes at each value of the sought parameter that was tried, from the
    /// lowest value.
    pub curve: Vec<CurvePoint>,
}

/// Judges one run of a search by the search's objectives. `late` must contain all seconds of the
/// run.
pub fn judge(report: &Report, objectives: &[Objective], late: &Late) -> Judged {
    let mut judged = Judged::new(Verdict::Meets, Vec::new());
    if is_settled(report) {
        judged.breaks("the queue was full, and the run stopped".to_owned());
        return judged;
    }
    if !counts(report) {
        judged.breaks("it does not count as a run".to_owned());
    }
    for objective in objectives {
        judged.look(report, objective, late);
    }
    // A probe with late transactions fails for that reason already: it is scored.
    if !judged.is_late() {
        judged.look_at_queue(report, objectives);
    }
    judged
}

impl Judged {
    /// Returns true if some measured time does not meet its objective, whatever its error.
    pub fn is_late(&self) -> bool {
        self.beyond.iter().any(Beyond::is_late)
    }

    fn breaks(&mut self, why: String) {
        self.verdict = Verdict::Fails;
        self.is_broken = true;
        self.reasons.push(why);
    }

    fn look_at_queue(&mut self, report: &Report, objectives: &[Objective]) {
        let is_open = matches!(report.load, Some(Load::Open { .. }));
        if is_open && !objectives.iter().any(|objective| objective.metric == Metric::Achieved) {
            let bound = Bound::Share(ACHIEVED_LEAST);
            self.look_at_achieved(report, Comparison::AtLeast, bound);
        }
        if report.findings.iter().any(|finding| finding.id == "queue_grew") {
            self.breaks("the queue grew over the window".to_owned());
        }
    }

    fn look(&mut self, report: &Report, objective: &Objective, late: &Late) {
        match objective.bound {
            Bound::Share(bound) if objective.metric == Metric::Errors => {
                self.look_at_errors(report, objective, bound);
            }
            Bound::Share(_) => {
                self.look_at_achieved(report, objective.comparison, objective.bound);
            }
            Bound::Time(bound_ns) => self.look_at_time(report, objective, bound_ns, late),
            Bound::Written(_) => self.look_at_figure(report, objective),
        }
    }

    /// Judges an objective on any figure of a report, such as a limit on errors, by the figure's
    /// confidence interval, as `--require` does.
    fn look_at_figure(&mut self, report: &Report, objective: &Objective) {
        let Some(required) = Required::of_objective(objective) else { return };
        let result = match required.of_run(report) {
            Ok(result) => result,
            Err(why) => {
                self.lacks = Some(why);
                return self.undecide();
            }
        };
        match result.holds {
            Holds::Surely | Holds::Within => {}
            Holds::SurelyNot | Holds::Beyond => self.breaks(result.to_string()),
            Holds::Undecided => {
                self.reasons.push(result.to_string());
                self.undecide();
            }
        }
    }

    fn look_at_achieved(&mut self, report: &Report, comparison: Comparison, bound: Bound) {
        let Bound::Share(bound) = bound else { return };
        match achieved(report) {
            Some(share) if comparison.holds(share + under_way(report), bound) => {}
            Some(share) => self.breaks(format!("achieved {:.2} %", share * 100.0)),
            None => self.breaks("nothing was offered".to_owned()),
        }
    }

    fn look_at_errors(&mut self, report: &Report, objective: &Objective, bound: f64) {
        let counts = &report.block.counts;
        let (lost, offered) = (counts.failed + counts.dropped, counts.offered);
        let (low, high) = binomial_interval(lost, offered, CONFIDENCE);
        let percent = lost as f64 / offered.max(1) as f64 * 100.0;
        let holds = |share: f64| objective.comparison.holds(share, bound);
        match (holds(lost as f64 / offered.max(1) as f64), holds(low), holds(high)) {
            (false, false, _) => self.breaks(format!("errors {percent:.3} %")),
            // No late transaction among few says nothing about so small a bound.
            (true, _, true) => {}
            _ => {
                let offered = format_count(offered);
                self.reasons.push(format!("errors {percent:.3} % of {offered}"));
                self.undecide();
            }
        }
    }

    fn look_at_time(&mut self, report: &Report, objective: &Objective, bound_ns: u64, late: &Late) {
        let (metric, name) = (objective.metric, objective.metric.name());
        if let Some(why) = lost_to(report, metric) {
            return self.breaks(why);
        }
        let Some(beyond) = late.beyond(objective) else {
            self.lacks = Some(format!("{name} no samples"));
            return self.undecide();
        };
        let times = &report.block.offered_ms;
        let value = if metric == Metric::Mean { times.mean } else { times.get(name) };
        let value = value.or_else(|| late.time_ms(metric));
        if value.is_none() && !times.is_among_lost(name) {
            let why = times.reasons.get(name).map_or("not known", String::as_str);
            self.lacks = Some(format!("{name} {why}"));
            return self.undecide();
        }
        let half_width = beyond.half_width();
        let shown = value.map_or("among what was lost".to_owned(), |ms| format!("{ms:.3} ms"));
        let shown = format!("{name} {shown}{}", in_percent(&beyond, half_width));
        match beyond.verdict(half_width) {
            Verdict::Meets => {}
            Verdict::Fails => {
                self.verdict = Verdict::Fails;
                self.reasons.push(shown);
            }
            Verdict::Undecided => {
                self.reasons.push(shown);
                self.undecide();
            }
        }
        self.beyond.push(beyond);
        let score = value.map(|value| (value * 1e6 / bound_ns as f64).ln());
        if let Some(score) = score.filter(|score| self.score.is_none_or(|worst| *score > worst)) {
            self.score = Some(score);
            let interval = times.intervals.get(name).filter(|(low, _)| *low > 0.0);
            let ends = interval.and_then(|(low, high)| Some((*low, (*high)?)));
            // The report has 95 %, and this is 90 %.
            let narrower = students_t(0.95, 1000) / students_t(0.975, 1000);
            self.half_width = ends.map(|(low, high)| (high / low).ln() / 2.0 * narrower);
        }
    }

    fn undecide(&mut self) {
        if self.verdict == Verdict::Meets {
            self.verdict = Verdict::Undecided;
        }
    }
}

/// Returns the reason why an objective on the mean or the maximum fails: more than 1 % of the
/// transactions (for the maximum, any) were lost, and these have no time. `None` for other metrics,
/// or if fewer were lost.
fn lost_to(report: &Report, metric: Metric) -> Option<String> {
    let counts = &report.block.counts;
    let lost = counts.failed + counts.dropped;
    let most = match metric {
        Metric::Mean => LOST_MOST * counts.offered as f64,
        Metric::Max => 0.0,
        _ => return None,
    };
    let (lost_of, offered) = (format_count(lost), format_count(counts.offered));
    let name = metric.name();
    (lost as f64 > most).then(|| format!("{name} infinite: {lost_of} of {offered} were lost"))
}

/// Describes the share of transactions beyond a percentile's bound with its error, or, for the mean
/// and the maximum, the relative error.
fn in_percent(beyond: &Beyond, half_width: f64) -> String {
    let allowed = beyond.allowed() * 100.0;
    match allowed > 0.0 {
        true => format!(
            ", {:.3} % ± {:.3} % beyond {} where {allowed} % may be",
            beyond.ratio * allowed,
            half_width * allowed,
            beyond.objective
        ),
        false => format!(" ± {:.0} %", half_width / beyond.ratio.max(1e-9) * 100.0),
    }
}

/// Returns the transactions that finished within the measured window, as a share of those offered
/// in it; `None` if the throughput is not known or nothing was offered.
pub(crate) fn achieved(report: &Report) -> Option<f64> {
    let counts = &report.block.counts;
    let tps = report.block.tps?;
    let committed = tps * report.measured_seconds;
    let by_design = counts.finished as f64 / counts.committed.max(1) as f64;
    (counts.offered > 0).then(|| committed * by_design / counts.offered as f64)
}

/// Returns the number of clients as a share of the offered transactions: each client may still have
/// a transaction in progress at the end of the measured window.
fn under_way(report: &Report) -> f64 {
    f64::from(report.clients) / report.block.counts.offered.max(1) as f64
}

/// Returns true if at least 99 % of the offered transactions finished within the measured window,
/// or may have been in progress at its end: one for each client.
pub(crate) fn keeps_up(report: &Report) -> bool {
    achieved(report).is_some_and(|share| share + under_way(report) >= ACHIEVED_LEAST)
}

/// Returns the figures of a probe that the curves of a search show, by name.
pub fn figures(report: &Report) -> Named<Option<f64>> {
    let (block, times) = (&report.block, &report.block.offered_ms);
    let counts = &block.counts;
    let all = [
        ("tps", block.tps),
        ("mean_ms", times.mean),
        ("p50_ms", times.p50),
        ("p95_ms", times.p95),
        ("p99_ms", times.p99),
        ("achieved_percent", achieved(report).map(|share| share * 100.0)),
        ("errors_percent", Some(counts.lost_percent())),
        ("offered", Some(counts.offered as f64)),
    ];
    Named(all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Returns the reasons why response times of a probe are not known, such as too few samples, by the
/// names of their figures.
pub fn reasons(report: &Report) -> Named<String> {
    shown_figures::reasons(&report.block.offered_ms)
}

/// Returns the number of samples that each unknown response time of a run needs, by the name of its
/// figure.
pub fn samples_needed(report: &Report) -> Named<u64> {
    shown_figures::samples_needed(&report.block.offered_ms)
}

/// Returns the means of the figures over all probes at each searched value, in rising order of
/// values.
pub fn curve(probes: &[ProbeReport]) -> Vec<CurvePoint> {
    let mut values: Vec<f64> = probes.iter().map(|probe| probe.at).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let point = |at: f64| {
        let here: Vec<&ProbeReport> = probes.iter().filter(|probe| probe.at == at).collect();
        let mean = |name: &str| {
            let all = here.iter().map(|probe| probe.figures.get(name).copied().flatten());
            all.sum::<Option<f64>>().map(|sum| sum / here.len() as f64)
        };
        let names = here[0].figures.0.iter().map(|(name, _)| name.clone());
        let figures = Named(names.map(|name| (name.clone(), mean(&name))).collect());
        CurvePoint { at, probes: here.len() as u64, figures }
    };
    values.into_iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::fixtures::Made;

    fn judged(made: &Made, objectives: &[&str]) -> Judged {
        let read = |text: &&str| text.parse::<Objective>().unwrap();
        let objectives: Vec<Objective> = objectives.iter().map(read).collect();
        let mut late = Late::new(&objectives);
        made.seconds.iter().for_each(|second| late.add(second));
        judge(&Report::from_tally(&made.tally()), &objectives, &late)
    }

    #[test]
    fn a_probe_whose_work_is_lost_is_broken() {
        let judged = judged(&Made::open_overloaded(), &["p99<20ms", "errors<0.1%"]);
        assert_eq!((judged.verdict, judged.is_broken, judged.score), (Verdict::Fails, true, None));
        let all = judged.reasons.join("; ");
        for word in ["p99 among what was lost", "errors 18.333 %"] {
            assert!(all.contains(word), "{all}");
        }
    }

    #[test]
    fn a_probe_that_is_late_is_scored_and_not_broken_for_it() {
        let judged = judged(&Made::open_overloaded(), &["p99<20ms"]);
        assert_eq!((judged.verdict, judged.is_broken), (Verdict::Fails, false));
        assert!(judged.beyond[0].ratio > 50.0, "{judged:?}");
    }

    #[test]
    fn a_probe_whose_queue_was_full_fails_for_that_alone() {
        let mut made = Made::open_overloaded();
        (made.reason, made.measured_ns) = (Some(model::StopReason::QueueFull), 0);
        let judged = judged(&made, &["p99<20ms"]);
        assert_eq!(
            (judged.verdict, judged.is_broken, &judged.lacks),
            (Verdict::Fails, true, &None)
        );
        assert_eq!(judged.reasons, ["the queue was full, and the run stopped"]);
    }

    #[test]
    fn a_probe_meets_fails_or_cannot_tell_by_its_interval() {
        let made = Made::closed();
        let p99 = Report::from_tally(&made.tally()).block.offered_ms.p99.unwrap();
        let check = |factor: f64, verdict: Verdict| {
            let objective = format!("p99<{}us", (p99 * factor * 1e3) as u64);
            let judged = judged(&made, &[&objective]);
            assert_eq!(judged.verdict, verdict, "{judged:?}");
            let score = judged.score.unwrap();
            assert!((score + factor.ln()).abs() < 0.01, "{score}");
        };
        check(2.0, Verdict::Meets);
        check(1.0, Verdict::Undecided);
        check(0.5, Verdict::Fails);
    }

    #[test]
    fn any_figure_of_a_run_may_be_an_objective() {
        let made = Made::closed();
        let report = Report::from_tally(&made.tally());
        let tps = report.block.tps.expect("it committed");
        let check = |objective: String, verdict: Verdict, is_broken: bool| {
            let judged = judged(&made, &[&objective]);
            assert_eq!((judged.verdict, judged.is_broken), (verdict, is_broken), "{judged:?}");
        };
        check(format!("tps>{}", tps / 2.0), Verdict::Meets, false);
        check(format!("tps>{}", tps * 2.0), Verdict::Fails, true);
        check(format!("tps>{tps}"), Verdict::Undecided, false);
        check("retried<1000".to_owned(), Verdict::Meets, false);
        let unknown = judged(&made, &["moons<3"]);
        assert_eq!(unknown.verdict, Verdict::Undecided);
        assert!(unknown.lacks.expect("it says so").contains("moons"));
    }

    /// Judges an objective on transactions that all take exactly 20 ms.
    fn constant(objective: &str) -> (Verdict, bool) {
        let mut made = Made::closed();
        for kind in made.seconds.iter_mut().flat_map(|second| &mut second.kinds) {
            (kind.unfinished, kind.counts.unfinished, kind.counts.failed) = (None, 0, 0);
            let Some(response) = &mut kind.response else { continue };
            let n = response.count();
            response.clear();
            response.record_n(20_000_000, n);
        }
        let objective = objective.parse().expect("an objective");
        let mut late = Late::new(&[objective]);
        made.seconds.iter().for_each(|second| late.add(second));
        let beyond = late.beyond(&objective).expect("there are requests");
        (beyond.verdict(beyond.half_width()), beyond.is_late())
    }

    #[test]
    fn a_time_at_its_bound_is_at_most_it_and_not_below_it() {
        for metric in ["p50", "p99", "mean", "max"] {
            let check = |rest: &str, expect: (Verdict, bool)| {
                let (verdict, is_late) = constant(&format!("{metric}{rest}"));
                assert_eq!(is_late, expect.1, "{metric}{rest}");
                // A few seconds do not show how much the maximum varies.
                if metric != "max" {
                    assert_eq!(verdict, expect.0, "{metric}{rest}");
                }
            };
            check("<20ms", (Verdict::Fails, true));
            check("<=20ms", (Verdict::Meets, false));
            check("<20.1ms", (Verdict::Meets, false));
            check("<=19.9ms", (Verdict::Fails, true));
        }
    }

    #[test]
    fn the_time_that_is_worst_against_its_bound_is_the_score() {
        let made = Made::closed();
        let alone = judged(&made, &["p99<1ms"]).score;
        assert_eq!(judged(&made, &["p50<1h", "p99<1ms", "mean<1h"]).score, alone);
    }
}
