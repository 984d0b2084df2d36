//! A limit that a change must not break: for builds that are to fail on a regression.
//!
//! `p99>+5%` is broken when p99 has risen by more than 5 %, and that surely: the end of the
//! interval that lies nearer to no change decides. Not here: exit codes.

use std::fmt;
use std::str::FromStr;

use analysis::figures::{OF_RUN, check_name, direction, find_as_written, short, spellings};
use analysis::report::Named;
use model::numbers::{INFINITE, significant};
use model::{Direction, did_you_mean};
use serde::{Deserialize, Serialize};

use super::{ComparisonReport, Judged, PairReport, PointPair, Ratio, SideReport};

/// A limit on a change, as written: a figure, a direction and a share.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// The figure, as the user wrote it.
    pub figure: String,
    /// True if a rise violates it.
    pub is_rise: bool,
    /// The largest change: 0.05 is 5 %.
    pub by: f64,
}

/// The outcome of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passed {
    /// Passed: the whole interval is within the limit.
    Held,
    /// Failed: the whole interval is beyond the limit.
    Broken,
    /// The interval contains the limit, or there is none.
    Undecided,
}

/// The result of a limit in a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateResult {
    /// The limit, as written.
    pub gate: String,
    /// The worst outcome over all sides and points.
    #[serde(rename = "verdict")]
    pub passed: Passed,
    /// Places and changes for which it is failed or undecided.
    pub at: Vec<String>,
    /// All sides and points at which it was checked.
    pub places: Vec<GatePlace>,
    /// Smallest number of runs of a side at a place: from [`stats::BOUNDS_MIN`] on it can be
    /// decided.
    #[serde(skip)]
    pub runs_least: usize,
    /// The side with the fewest runs.
    #[serde(skip)]
    pub side_least: String,
    /// Reason why it is undecided, if it is.
    #[serde(skip)]
    pub undecided_by: UndecidedBy,
    /// The worst one-sided 95 % bound, over all sides and points: the margin of a limit that
    /// passed. `None` without an interval.
    #[serde(skip)]
    pub worst: Option<Worst>,
    /// The place that needs most runs, if there are too few to detect a change as large as the
    /// limit.
    #[serde(skip)]
    pub too_few: Option<TooFew>,
    /// The limit for the opposite change, if this one fails on a gain.
    #[serde(skip)]
    pub meant: Option<String>,
    /// The figure that was 0 in every run of the baseline, so that any rise is infinite.
    #[serde(skip)]
    pub from_zero: Option<String>,
    /// The limit's own change, as a share.
    #[serde(skip)]
    pub limit: f64,
    /// Number of pairs of runs for these bounds, if runs alternated: the smallest over places.
    #[serde(skip)]
    pub pairs_least: Option<usize>,
}

/// The place with the smallest margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// The one-sided 95 % bound of the ratio.
    pub bound: f64,
    /// The ratio that was measured there.
    pub measured: f64,
}

/// A change as large as the limit takes more runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooFew {
    /// The fewest runs of a side.
    pub runs: usize,
    /// The smallest share that these detect with a power of 80 %.
    pub detectable: f64,
    /// About how many runs a side detect the limit.
    pub needed: u64,
}

/// A limit at one point of a side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GatePlace {
    /// Name of the side.
    pub side: String,
    /// Values of the point, by axis; empty if there is only one.
    pub values: Named<String>,
    #[serde(rename = "verdict")]
    pub passed: Passed,
    /// Full name of the figure.
    pub figure: String,
    /// The side divided by the baseline; null if not known.
    pub ratio: Option<Ratio>,
    /// One-sided 95 % bounds of that ratio: of pairs, if runs alternated.
    pub bounds: Option<(f64, f64)>,
    /// Number of pairs of runs for these bounds; null if runs did not alternate.
    pub pairs: Option<usize>,
    /// The same bounds adjusted for a drift through all runs, which must be within the limit too;
    /// left out if runs alternated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds_beside_drift: Option<(f64, f64)>,
}

/// The reason why a limit is undecided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UndecidedBy {
    /// The runs vary too much, or are too few.
    #[default]
    Noise,
    /// The figure has certainly changed in the direction of the limit, by about as much.
    Near,
    /// Runs did not alternate, and a drift may explain the change.
    Drift,
    /// Runs did not alternate, and a drift may hide a change beyond the limit.
    HiddenByDrift,
    /// Only one side has runs at a point.
    OneSide,
    /// Some runs have too few samples for the figure.
    Samples,
    /// One side has many more invalid runs than the other.
    LostRuns,
    /// The sides had different loads.
    Load,
    /// Some runs have not ended.
    Running,
}

impl GateResult {
    /// Makes the result of a limit before any check.
    fn new(gate: &Gate) -> GateResult {
        GateResult {
            gate: gate.to_string(),
            passed: Passed::Held,
            at: Vec::new(),
            places: Vec::new(),
            runs_least: usize::MAX,
            side_least: String::new(),
            meant: None,
            from_zero: None,
            undecided_by: UndecidedBy::Noise,
            worst: None,
            too_few: None,
            limit: gate.by,
            pairs_least: None,
        }
    }

    /// Adds a place where the limit does not hold. A failed limit stays failed, even if it is
    /// undecided at other places.
    fn put(&mut self, passed: Passed, at: String, undecided_by: UndecidedBy) {
        match (self.passed, passed) {
            (_, Passed::Held) | (Passed::Broken, Passed::Undecided) => return,
            (Passed::Undecided, Passed::Broken) => self.at.clear(),
            _ => {}
        }
        self.passed = passed;
        self.at.push(at);
        if undecided_by != UndecidedBy::Noise {
            self.undecided_by = undecided_by;
        }
    }

    /// Returns true if a side has so few runs at a place that no limit can be decided there.
    pub fn has_too_few_runs(&self) -> bool {
        self.runs_least < stats::BOUNDS_MIN
    }
}

impl FromStr for Gate {
    type Err = String;

    fn from_str(text: &str) -> Result<Gate, String> {
        let no =
            |why: &str| format!("'{text}' is not a limit: {why}; write \"p99>+5%\" or \"tps<-3%\"");
        let at = text.find(['<', '>']).ok_or_else(|| no("it has neither < nor >"))?;
        if text[at..].contains(',') {
            return Err(no("it has a comma: give each limit on its own"));
        }
        let (name, rest) = text.split_at(at);
        let is_rise = rest.starts_with('>');
        let figure = name.trim();
        check_name(figure).map_err(|why| no(&why))?;
        // <= and >= mean the same as < and >: no measured ratio equals the bound.
        let bound = rest[1..].trim_start_matches('=');
        let number = bound.trim().strip_suffix('%').ok_or_else(|| {
            no("it ends without %, and a change is in percent (--require of 'dbdyno run' limits \
                the value itself)")
        })?;
        let percent = number.trim().parse().ok().filter(|percent: &f64| percent.is_finite());
        let by = percent.ok_or_else(|| no("its percentage is not a number"))? / 100.0;
        if !is_rise && by <= -1.0 {
            return Err(no("nothing can fall by more than 100 %"));
        }
        let gate = Gate { figure: figure.to_owned(), is_rise, by };
        let fits = if is_rise { by >= 0.0 } else { by <= 0.0 };
        if !fits {
            let names = spellings(&gate.figure);
            let known = names.iter().find(|name| OF_RUN.iter().any(|of| of.name == **name));
            // Which way is better is known of figures of dbdyno alone.
            let meant = known.and_then(|known| gate.on_losses(direction(known)));
            let meant = meant.map_or_else(
                || "write \"p99>+5%\" or \"tps<-3%\"".to_owned(),
                |meant| format!("did you mean '{meant}'?"),
            );
            return Err(format!(
                "'{text}' is not a limit: a rise is written with > and +, a fall with < and -; \
                 {meant}"
            ));
        }
        Ok(gate)
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, sign) = (short(&self.figure), if self.is_rise { ">" } else { "<" });
        write!(f, "{name}{sign}{:+}%", self.by * 100.0)
    }
}

impl Gate {
    /// Returns the limit of about the same size that fails if the figure gets worse; `None` for a
    /// figure without a better direction.
    fn on_losses(&self, better: Direction) -> Option<Gate> {
        let is_rise = match better {
            Direction::Lower => true,
            Direction::Higher => false,
            Direction::Neither => return None,
        };
        let by = match is_rise {
            true => self.by.abs(),
            // Nothing falls by 100 %: the fall that undoes such a rise.
            false if self.by >= 1.0 => 1.0 / (1.0 + self.by) - 1.0,
            false => -self.by.abs(),
        };
        Some(Gate { figure: self.figure.clone(), is_rise, by })
    }

    /// Checks the limit at every side and point that has the figure. An `Err` says that none has
    /// it: such a limit could never fail.
    pub fn hold(&self, report: &ComparisonReport) -> Result<GateResult, String> {
        let mut found = GateResult::new(self);
        for pair in &report.pairs {
            for point in &pair.points {
                if let Some(judged) = figure_at(point, &self.figure) {
                    self.hold_at(report, (pair, point), judged, &mut found);
                }
            }
            beside_the_figures(report, pair, &mut found);
        }
        match found.places.is_empty() {
            true => Err(format!(
                "{self} can never be broken: no run that is compared has that figure{}",
                self.why_none(report)
            )),
            false => Ok(found),
        }
    }

    /// Checks the limit at one point of a side.
    fn hold_at(
        &self,
        report: &ComparisonReport,
        (pair, point): (&PairReport, &PointPair),
        judged: &Judged,
        found: &mut GateResult,
    ) {
        let whole = Gate { figure: judged.figure.clone(), ..self.clone() };
        let meant = whole.on_losses(judged.better);
        found.meant = meant.filter(|meant| meant.is_rise != self.is_rise).map(|of| of.to_string());
        let n_runs = judged.of_runs.iter().map(Vec::len).min().unwrap_or(0);
        // More runs would not have the figure either.
        if n_runs < found.runs_least && !judged.is_lacking {
            found.runs_least = n_runs;
            let is_base = judged.of_runs[0].len() == n_runs;
            let base = report.sides.first().map(|side| &side.name);
            let side = base.filter(|_| is_base).unwrap_or(&pair.side);
            found.side_least.clone_from(side);
        }
        let (passed, undecided_by) = self.passed(judged);
        found.places.push(GatePlace {
            side: pair.side.clone(),
            values: point.values.clone(),
            passed,
            figure: judged.figure.clone(),
            ratio: judged.ratio,
            bounds: judged.bounds,
            pairs: judged.n_pairs,
            bounds_beside_drift: judged.bounds_beside_drift(),
        });
        found.worst = self.worse(found.worst, judged);
        if is_from_zero(judged) {
            found.from_zero = Some(short(&judged.figure).to_owned());
        }
        let too_few = self.too_few(judged, n_runs);
        found.too_few = found.too_few.into_iter().chain(too_few).max_by_key(|few| few.needed);
        found.pairs_least = found.pairs_least.into_iter().chain(judged.n_pairs).min();
        let place = place_words(&pair.side, &point.values);
        let mut at = match (changed(judged), &judged.why) {
            (Some(changed), _) => format!("{changed} at {place}"),
            (None, Some(why)) => format!("at {place}, {why}"),
            (None, None) => format!("at {place}"),
        };
        if undecided_by == UndecidedBy::HiddenByDrift
            && let Some(bounds) = judged.bounds_beside_drift()
        {
            at.push_str(&format!(
                ", beside a drift at worst {} %",
                percent_of(self.end_of(bounds))
            ));
        }
        found.put(passed, at, undecided_by);
    }

    /// Says why no run has its figure: it takes more transactions, or the name is unknown.
    fn why_none(&self, report: &ComparisonReport) -> String {
        if spellings(&self.figure).iter().any(|name| OF_RUN.iter().any(|of| of.name == *name)) {
            return "; it takes more transactions, or another workload: run longer, or name another \
                    figure"
                .to_owned();
        }
        let points = report.pairs.iter().flat_map(|pair| &pair.points);
        let had = points.flat_map(|at| std::iter::once(&at.primary).chain(&at.others));
        let names = had.map(|judged| judged.figure.as_str()).chain(OF_RUN.iter().map(|of| of.name));
        did_you_mean(&self.figure, names.map(short))
    }

    /// Returns the worse of a known bound and of the worst ratio within a figure's bounds.
    fn worse(&self, known: Option<Worst>, judged: &Judged) -> Option<Worst> {
        let ratio = judged.ratio;
        let interval = ratio.and_then(|ratio| ratio.interval);
        let ends = judged.bounds.into_iter().chain(interval).map(|bounds| self.end_of(bounds));
        // Of interval and one-sided bound, [`Gate::passed`] uses the one nearer to no change.
        let (end, pick): (Option<f64>, fn(f64, f64) -> f64) = match self.is_rise {
            true => (ends.reduce(f64::min), f64::max),
            false => (ends.reduce(f64::max), f64::min),
        };
        // Adjusted for a drift, it may be worse.
        let beside = judged.bounds_beside_drift().map(|bounds| self.end_of(bounds));
        let end = end.map(|end| beside.map_or(end, |beside| pick(end, beside)));
        let here = end.zip(ratio).map(|(bound, ratio)| Worst { bound, measured: ratio.value });
        match (known, here) {
            (Some(known), Some(here)) if pick(known.bound, here.bound) == known.bound => {
                Some(known)
            }
            (known, here) => here.or(known),
        }
    }

    /// Returns how many runs detect a change as large as the limit, if these are too few: the error
    /// falls with the root of the number of runs.
    fn too_few(&self, judged: &Judged, runs: usize) -> Option<TooFew> {
        let detectable = judged.detectable?;
        let times = ((1.0 + detectable).ln() / (1.0 + self.by).ln()).powi(2);
        let needed = (times * runs as f64).ceil();
        let is_more = times > 1.0 && needed.is_finite();
        is_more.then_some(TooFew { runs, detectable, needed: needed as u64 })
    }

    /// Returns true if the figure has certainly changed in the direction of the limit.
    fn is_near(&self, judged: &Judged) -> bool {
        let interval = judged.ratio.and_then(|ratio| ratio.interval);
        interval.is_some_and(|(low, high)| if self.is_rise { low > 1.0 } else { high < 1.0 })
    }

    /// Returns the end of an interval with which a limit is compared.
    fn end_of(&self, (least, most): (f64, f64)) -> f64 {
        if self.is_rise { most } else { least }
    }

    /// Returns the outcome of a limit. It fails if the whole interval of the ratio is beyond it. It
    /// passes if the interval or the one-sided bound is within it, which is a test of
    /// non-inferiority at 5 %; if runs did not alternate, so must the bound adjusted for a drift.
    fn passed(&self, judged: &Judged) -> (Passed, UndecidedBy) {
        let limit = 1.0 + self.by;
        let Some((low, high)) = judged.ratio.and_then(|ratio| ratio.interval) else {
            let is_lacking = judged.is_lacking;
            let why = if is_lacking { UndecidedBy::Samples } else { UndecidedBy::Noise };
            return (Passed::Undecided, why);
        };
        let is_within = |bounds: (f64, f64)| match self.is_rise {
            true => self.end_of(bounds) <= limit,
            false => self.end_of(bounds) >= limit,
        };
        let is_broken = if self.is_rise { low > limit } else { high < limit };
        let holds = is_within((low, high)) || judged.bounds.is_some_and(is_within);
        let holds_beside_drift = judged.bounds_beside_drift().is_none_or(is_within);
        match (is_broken, holds) {
            (true, _) if judged.may_be_drift() => (Passed::Undecided, UndecidedBy::Drift),
            (true, _) => (Passed::Broken, UndecidedBy::default()),
            (_, true) if holds_beside_drift => (Passed::Held, UndecidedBy::default()),
            (_, true) => (Passed::Undecided, UndecidedBy::HiddenByDrift),
            _ if self.is_near(judged) => (Passed::Undecided, UndecidedBy::Near),
            _ => (Passed::Undecided, UndecidedBy::Noise),
        }
    }
}

/// Formats a side with its point: `new clients=8`.
fn place_words(side: &str, values: &Named<String>) -> String {
    format!("{side} {}", values.pairs(" ")).trim_end().to_owned()
}

/// Formats a change with its interval: `-4.8 % (95 % CI -6.1 to -3.4 %)`, or `from 0 to 0.31`, if
/// the baseline is 0 in every run.
fn changed(judged: &Judged) -> Option<String> {
    let ratio = judged.ratio?;
    if is_from_zero(judged)
        && let Some(side) = judged.side
    {
        return Some(format!("from 0 to {}", significant(side.mean, 3)));
    }
    let interval = ratio.interval.map(|(low, high)| {
        let confidence = significant(100.0 * ratio.confidence.unwrap_or(0.95), 3);
        let confidence = confidence.trim_end_matches('0').trim_end_matches('.');
        format!(" ({confidence} % CI {} to {} %)", percent_of(low), percent_of(high))
    });
    Some(format!("{} %{}", percent_of(ratio.value), interval.unwrap_or_default()))
}

/// Returns true if the figure was 0 in every run of the baseline, so that no percentage says how
/// much it rose.
fn is_from_zero(judged: &Judged) -> bool {
    let is_zero = judged.baseline.is_some_and(|base| base.mean == 0.0);
    is_zero && judged.ratio.is_some_and(|ratio| ratio.value.is_infinite())
}

/// Formats a ratio as a change in percent: `-4.8`.
pub(crate) fn percent_of(ratio: f64) -> String {
    match ratio.is_finite() {
        true => format!("{:+.1}", 100.0 * (ratio - 1.0)),
        false => INFINITE.to_owned(),
    }
}

/// Share of lost runs above which a side has failed.
const LOST_MOST: f64 = 0.5;

/// Adds what decides a limit besides the figure: invalid runs and runs in progress, points that
/// only one side has, and another load.
fn beside_the_figures(report: &ComparisonReport, pair: &PairReport, found: &mut GateResult) {
    for lost in pair.lost() {
        let at = format!("no valid run at {}", place_words(&pair.side, &lost.values));
        found.put(Passed::Broken, at, UndecidedBy::Noise);
    }
    // The remaining runs say nothing about the excluded ones; if most are excluded, the side has
    // failed.
    if let Some(side) = report.unevenly_lost(pair) {
        let has_lost_most = side.name == pair.side && side.lost_share() > LOST_MOST;
        let passed = if has_lost_most { Passed::Broken } else { Passed::Undecided };
        found.put(passed, side.lost_words(), UndecidedBy::LostRuns);
    }
    // The effect of a different load cannot be separated from that of the change.
    let load = report.load_differs(pair);
    if !load.is_empty() && found.passed == Passed::Held {
        let at = format!("{} differs in {}", pair.side, load_words(&load));
        found.put(Passed::Undecided, at, UndecidedBy::Load);
    }
    // If only one side has a valid run, the other may be broken there.
    for point in &pair.points_unpaired {
        let at = format!("only {} has valid runs at {}", point.side, point.values.pairs(" "));
        found.put(Passed::Undecided, at, UndecidedBy::OneSide);
    }
    let base = report.sides.first();
    let both = base.into_iter().chain(report.sides.iter().filter(|side| side.name == pair.side));
    for words in both.filter_map(SideReport::running_words) {
        // The baseline is part of every pair.
        if !found.at.contains(&words) {
            found.put(Passed::Undecided, words, UndecidedBy::Running);
        }
    }
}

/// Describes a difference of load: `clients (8, baseline 4)`.
fn load_words(load: &[(String, [String; 2])]) -> String {
    let words = load.iter().map(|(name, [base, side])| format!("{name} ({side}, baseline {base})"));
    words.collect::<Vec<_>>().join(", ")
}

fn figure_at<'p>(point: &'p PointPair, name: &str) -> Option<&'p Judged> {
    let all = || std::iter::once(&point.primary).chain(&point.others).chain(&point.lacking);
    let found = find_as_written(name, all().map(|judged| judged.figure.as_str()))?;
    all().find(|judged| judged.figure == found)
}
