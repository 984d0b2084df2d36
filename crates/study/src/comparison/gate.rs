//! Gates: limits on the change of a figure from a baseline, for pipelines that have to fail on a
//! regression.
//!
//! `p99>+5%` fails when p99 has risen by more than 5 % with confidence: both ends of the confidence
//! interval are beyond the limit. Not here: exit codes.

use std::fmt;
use std::str::FromStr;

use analysis::figures::{OF_RUN, check_name, direction, find_as_written, short, spellings, title};
use analysis::report::Named;
use model::numbers::{INFINITE, in_percent, significant};
use model::{Direction, did_you_mean};
use serde::{Deserialize, Serialize};

use super::{CONFIDENCE, ComparisonReport, Judged, PairReport, PointPair, Ratio, SideReport};
use crate::repeats::ENDED_BY_RESULTS;

/// A limit on the change of a figure from the baseline, such as `p99>+5%`.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// Name of the figure, as the user wrote it.
    pub figure: String,
    /// True if the limit is on a rise of the figure, false if it is on a fall.
    pub is_rise: bool,
    /// True if a change of exactly `by` breaks the limit too, as written with `>=` or `<=`.
    is_inclusive: bool,
    /// The largest allowed change as a share, negative for a fall: 0.05 is 5 %.
    pub by: f64,
}

/// The outcome of a gate, that is of a limit on the change of a figure from a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passed {
    /// The change of the figure is within the limit, with confidence.
    Held,
    /// The whole confidence interval of the change is beyond the limit.
    Broken,
    /// The confidence interval of the change contains the limit, or there is no interval.
    Undecided,
}

/// The result of a gate (a limit on the change of a figure) over all sides and points of a
/// comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateResult {
    /// The limit as text, such as `p99>+5%`.
    pub gate: String,
    /// The worst outcome of the limit over all sides and points of the comparison.
    #[serde(rename = "verdict")]
    pub passed: Passed,
    /// Descriptions of the sides and points of the comparison at which the limit failed, with the
    /// change; if it failed at none, of those at which it is undecided.
    pub at: Vec<String>,
    /// Outcome of the limit for each compared side and point (combination of varied parameters)
    /// that has the figure.
    pub places: Vec<GatePlace>,
    /// Smallest number of runs that a side of the comparison has at any point. A limit cannot be
    /// decided with fewer than [`stats::BOUNDS_MIN`].
    #[serde(skip)]
    pub runs_least: usize,
    /// Name of the side of the comparison that has the number of runs in `runs_least`.
    #[serde(skip)]
    pub side_least: String,
    /// Reason why the limit is undecided; has no meaning for another outcome.
    #[serde(skip)]
    pub undecided_by: UndecidedBy,
    /// The one-sided 95 % confidence bound nearest to the limit or farthest beyond it, over all
    /// sides and points of the comparison, which shows the margin of a limit that passed; `None` if
    /// there is no interval.
    #[serde(skip)]
    pub worst: Option<Worst>,
    /// Numbers of runs, present and needed, at the side and point of the comparison that need the
    /// most to decide the limit; `None` if all have enough.
    #[serde(skip)]
    pub too_few: Option<TooFew>,
    /// Number of repeats after which the limit would be decided if the change stayed as measured,
    /// at the side and point that need the most; `None` if it is decided, or this is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_after: Option<u64>,
    /// Outcome that the limit would have after `decided_after` repeats. [`Passed::Undecided`] if
    /// the change is so close to the limit that more repeats may not decide it.
    #[serde(skip)]
    pub decided_as: Option<Passed>,
    /// The opposite limit, such as `tps<-3%` for `tps>+3%`, which the user may have meant, if the
    /// present one fails when the figure gets better; `None` otherwise.
    #[serde(skip)]
    pub meant: Option<String>,
    /// Short name of the figure, if it was 0 in every run of the baseline, so that any rise is
    /// infinite; `None` otherwise.
    #[serde(skip)]
    pub from_zero: Option<String>,
    /// The allowed change as a share, negative for a limit on a fall: 0.05 is 5 %.
    #[serde(skip)]
    pub limit: f64,
    /// Smallest number of pairs of runs at any side and point of the comparison; `None` if the runs
    /// are not paired.
    #[serde(skip)]
    pub pairs_least: Option<usize>,
    /// True if the comparison's own confidence intervals are computed from the same pairs of runs.
    #[serde(skip)]
    pub are_ratios_paired: bool,
}

/// The confidence bound with the smallest margin to a limit on a change, over all sides and points
/// of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// One-sided 95 % confidence bound of the ratio of compared side to baseline.
    pub bound: f64,
    /// The measured ratio of compared side to baseline, at the point where `bound` is.
    pub measured: f64,
}

/// Number of runs that is too small to decide a limit, with the number needed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooFew {
    /// Number of pairs of runs or, if they are not paired, of runs of the baseline or of the
    /// compared side, whichever has fewer.
    pub runs: usize,
    /// True if `runs` are pairs of runs of the same repeat.
    pub are_pairs: bool,
    /// The smallest limit, as a share, that these runs would pass with a probability of 80 % if
    /// nothing had changed.
    pub detectable: f64,
    /// Approximate number of repeats after which the limit would pass with this probability if
    /// nothing had changed; `None` above 1,000.
    pub needed: Option<u64>,
}

/// Largest number of repeats that is computed for an undecided limit.
const NEEDED_MOST: usize = 1_000;

/// Scatter of a figure's change, from which the error after other numbers of repeats follows.
struct Scatter {
    /// Number of pairs of runs, or of runs of the smaller side.
    n: usize,
    are_pairs: bool,
    /// Standard error of the logarithm of the ratio times the square root of `n`.
    deviation: f64,
}

impl Scatter {
    /// Returns the scatter by which the one-sided bounds of a figure were computed; `None` without
    /// such bounds.
    fn of(judged: &Judged) -> Option<Scatter> {
        let (low, high) = judged.bounds?;
        let n_runs = judged.of_runs.iter().map(Vec::len).min().unwrap_or(0);
        let n = judged.pairs.map_or(n_runs, |pairs| pairs.n as usize);
        let mut found = Scatter { n, are_pairs: judged.pairs.is_some(), deviation: 0.0 };
        let t = stats::students_t(CONFIDENCE, found.freedom(n));
        found.deviation = (high / low).ln() / 2.0 / t * (n as f64).sqrt();
        found.deviation.is_finite().then_some(found)
    }

    /// Returns the degrees of freedom of `n` repeats.
    fn freedom(&self, n: usize) -> usize {
        if self.are_pairs { n - 1 } else { 2 * (n - 1) }
    }

    /// Returns half the width of an interval after `n` repeats, in logarithms, whose end has the
    /// probability `below`; with `power`, the change that the end reaches with this probability.
    fn reach(&self, n: usize, below: f64, power: Option<f64>) -> f64 {
        let freedom = self.freedom(n);
        let t = |below| stats::students_t(below, freedom);
        (t(below) + power.map_or(0.0, t)) * self.deviation / (n as f64).sqrt()
    }

    /// Returns the number of repeats from which on [`Scatter::reach`] is at most `most`; `None`
    /// above [`NEEDED_MOST`].
    fn needed(&self, most: f64, below: f64, power: Option<f64>) -> Option<u64> {
        let is_enough = |n: &usize| self.reach(*n, below, power) <= most;
        (self.n + 1..=NEEDED_MOST).find(is_enough).map(|n| n as u64)
    }
}

/// The outcome of a limit on a change, for one compared side at one point (combination of varied
/// parameters).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GatePlace {
    pub side: String,
    /// Values of the varied parameters at the point, by parameter; empty if there is only one
    /// point.
    pub values: Named<String>,
    #[serde(rename = "verdict")]
    pub passed: Passed,
    /// Full name of the figure, such as `p99_ms`.
    pub figure: String,
    /// The compared side divided by the baseline, with its confidence interval; null if not known.
    pub ratio: Option<Ratio>,
    /// Lower and upper one-sided 95 % confidence bound of the ratio; null if not known. If runs
    /// alternated, it is computed from pairs.
    pub bounds: Option<(f64, f64)>,
    /// Number of pairs of runs from which the bounds are computed; null if the runs are not paired.
    pub pairs: Option<usize>,
    /// Lower and upper one-sided 95 % confidence bound of the ratio, adjusted for a drift of the
    /// machine, which have to be within the limit too; absent if the runs alternated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds_beside_drift: Option<(f64, f64)>,
}

/// The reason why a limit on the change of a figure is undecided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UndecidedBy {
    /// The runs vary too much, or there are too few of them.
    #[default]
    Noise,
    /// The figure has changed in the direction of the limit, with confidence, and the limit lies
    /// within the confidence interval of the change.
    Near,
    /// The change is beyond the limit, but the runs did not alternate, and a drift may explain it.
    Drift,
    /// The change is within the limit, but the runs did not alternate, and a drift of the machine
    /// may hide a larger change.
    HiddenByDrift,
    /// At some point (combination of varied parameters), only the baseline or only the compared
    /// side has valid runs.
    OneSide,
    /// Some runs have too few samples for the figure.
    Samples,
    /// The baseline or the compared side has a much larger share of invalid runs than the other.
    LostRuns,
    /// Baseline and compared side had different loads, so the change may have been caused by the
    /// load.
    Load,
    /// Some runs of the baseline or of the compared side are still in progress.
    Running,
    /// A stop rule ended the runs by their results, so that limits are passed or broken by chance
    /// more often than the confidence says.
    Results,
}

impl GateResult {
    /// Creates the result of a limit on a change before its first check; without checks it counts
    /// as passed.
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
            decided_after: None,
            decided_as: None,
            limit: gate.by,
            pairs_least: None,
            are_ratios_paired: false,
        }
    }

    /// Adds the outcome of the limit at one side and point of the comparison, described by `at`.
    /// The first failure removes all undecided outcomes from the list, and undecided ones after a
    /// failure are not added.
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

    /// Returns true if a side of the comparison has fewer runs at some point than any limit needs
    /// to be decided.
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
        let (is_inclusive, bound) = match rest[1..].strip_prefix('=') {
            Some(bound) => (true, bound),
            None => (false, &rest[1..]),
        };
        let number = bound.trim().strip_suffix('%').ok_or_else(|| {
            no("it ends without %, and a change is in percent (--require of 'dbdyno run' limits \
                the value itself)")
        })?;
        let percent = number.trim().parse().ok().filter(|percent: &f64| percent.is_finite());
        let by = percent.ok_or_else(|| no("its percentage is not a number"))? / 100.0;
        if !is_rise && by <= -1.0 {
            return Err(no("nothing can fall by more than 100 %"));
        }
        let gate = Gate { figure: figure.to_owned(), is_rise, is_inclusive, by };
        let fits = if is_rise { by >= 0.0 } else { by <= 0.0 };
        if !fits {
            let names = spellings(&gate.figure);
            let known = names.iter().find(|name| OF_RUN.iter().any(|row| row.name == **name));
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
        let equals = if self.is_inclusive { "=" } else { "" };
        write!(f, "{name}{sign}{equals}{:+}%", in_percent(self.by))
    }
}

impl Gate {
    /// Returns a limit of about the same size that fails if the figure gets worse, such as
    /// `tps<-3%` for `tps>+3%`; `None` for a figure of which neither direction is better.
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
        Some(Gate { figure: self.figure.clone(), is_rise, by, is_inclusive: self.is_inclusive })
    }

    /// Checks the limit at every side and point of a comparison that has the figure. Returns an
    /// error if none has it, because such a limit could never fail.
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
            true => Err(self.why_none(report)),
            false => Ok(found),
        }
    }

    /// Checks the limit for one side of the comparison at one point, and adds the outcome to
    /// `found`.
    fn hold_at(
        &self,
        report: &ComparisonReport,
        (pair, point): (&PairReport, &PointPair),
        judged: &Judged,
        found: &mut GateResult,
    ) {
        let whole = Gate { figure: judged.figure.clone(), ..self.clone() };
        let meant = whole.on_losses(judged.better);
        found.meant =
            meant.filter(|meant| meant.is_rise != self.is_rise).map(|other| other.to_string());
        let n_runs = judged.of_runs.iter().map(Vec::len).min().unwrap_or(0);
        // More runs would not have the figure either.
        if n_runs < found.runs_least && !judged.is_lacking {
            found.runs_least = n_runs;
            let is_base = judged.of_runs[0].len() == n_runs;
            let base = report.sides.first().map(|side| &side.name);
            let side = base.filter(|_| is_base).unwrap_or(&pair.side);
            found.side_least.clone_from(side);
        }
        let n_pairs = judged.pairs.map(|pairs| pairs.n as usize);
        let (passed, undecided_by) = self.passed(judged);
        found.places.push(GatePlace {
            side: pair.side.clone(),
            values: point.values.clone(),
            passed,
            figure: judged.figure.clone(),
            ratio: judged.ratio,
            bounds: judged.bounds,
            pairs: n_pairs,
            bounds_beside_drift: judged.bounds_beside_drift(),
        });
        found.worst = self.worse(found.worst, judged);
        if is_from_zero(judged) {
            found.from_zero = Some(short(&judged.figure).to_owned());
        }
        self.add_needed(judged, passed, found);
        found.pairs_least = found.pairs_least.into_iter().chain(n_pairs).min();
        found.are_ratios_paired |= judged.is_within_repeats;
        let place = place_words(&pair.side, &point.values);
        let limit = 1.0 + self.by;
        let mut at = match (changed(judged, limit), &judged.why) {
            (Some(changed), _) => format!("{changed} at {place}"),
            (None, Some(why)) => format!("at {place}, {why}"),
            (None, None) => format!("at {place}"),
        };
        if undecided_by == UndecidedBy::HiddenByDrift
            && let Some(bounds) = judged.bounds_beside_drift()
        {
            at.push_str(&format!(
                ", one-sided 95 % bound beside a drift {} %",
                percent_beside(self.end_of(bounds), limit)
            ));
        }
        // The bound by which it is judged, if the pairs give another one than the interval.
        if passed == Passed::Undecided
            && undecided_by != UndecidedBy::HiddenByDrift
            && !judged.is_within_repeats
            && let Some((n, bounds)) = n_pairs.zip(judged.bounds)
        {
            at.push_str(&format!(
                ", one-sided 95 % bound of its {n} pairs {} %",
                percent_beside(self.end_of(bounds), limit)
            ));
        }
        found.put(passed, at, undecided_by);
    }

    /// Adds to `found` how many repeats a limit with the outcome `passed` needs for this figure.
    fn add_needed(&self, judged: &Judged, passed: Passed, found: &mut GateResult) {
        let too_few = self.too_few(judged);
        let most = |few: &TooFew| few.needed.unwrap_or(u64::MAX);
        found.too_few = found.too_few.into_iter().chain(too_few).max_by_key(most);
        if passed == Passed::Undecided {
            let after = self.decided_after(judged);
            let most = |after: &(u64, Passed)| after.0;
            let known = found.decided_after.zip(found.decided_as);
            let decided = known.into_iter().chain(after).max_by_key(most);
            (found.decided_after, found.decided_as) = decided.unzip();
        }
    }

    /// Returns an error message that says why no run has the figure: its name is unknown, or these
    /// runs cannot have it. A figure that only takes a longer run leaves the limit undecided.
    fn why_none(&self, report: &ComparisonReport) -> String {
        let name = &self.figure;
        if spellings(name).iter().any(|name| OF_RUN.iter().any(|row| row.name == *name)) {
            return format!(
                "{self} can never be broken: no run that is compared has {name}, however long; it \
                 is a figure of another workload or setup ('dbdyno runs show RUN --figures' lists \
                 what a run has)"
            );
        }
        let points = report.pairs.iter().flat_map(|pair| &pair.points);
        let had = points.flat_map(|at| std::iter::once(&at.primary).chain(&at.others));
        let names =
            had.map(|judged| judged.figure.as_str()).chain(OF_RUN.iter().map(|row| row.name));
        let meant = did_you_mean(name, names.map(short));
        format!(
            "{self}: there is no figure '{name}'{meant}; 'dbdyno list figures' lists those of every \
             run, 'dbdyno runs show RUN --figures' all of one"
        )
    }

    /// Returns the confidence bound with the smaller margin to this limit: `known`, from sides and
    /// points checked before, or the bound of `judged`. `None` if there is neither.
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

    /// Returns how many repeats would decide the limit if nothing had changed, by the runs or pairs
    /// of runs by which it is judged; `None` if there are enough, or the scatter is not known.
    fn too_few(&self, judged: &Judged) -> Option<TooFew> {
        let scatter = Scatter::of(judged)?;
        let reach = scatter.reach(scatter.n, CONFIDENCE, Some(stats::POWER));
        let limit = (1.0 + self.by).ln().abs();
        (reach > limit).then(|| TooFew {
            runs: scatter.n,
            are_pairs: scatter.are_pairs,
            detectable: if self.is_rise { reach.exp_m1() } else { -(-reach).exp_m1() },
            needed: scatter.needed(limit, CONFIDENCE, Some(stats::POWER)),
        })
    }

    /// Returns after how many repeats the limit would be decided if the change stayed as measured,
    /// and its outcome then: it passes by a one-sided bound, and fails by an interval of two sides.
    /// The outcome is undecided if the change is nearer to the limit than its standard error.
    /// `None` if the number is not known.
    fn decided_after(&self, judged: &Judged) -> Option<(u64, Passed)> {
        let ratio = judged.ratio?.value;
        let distance = (ratio / (1.0 + self.by)).ln().abs();
        let is_beyond = (ratio > 1.0 + self.by) == self.is_rise;
        let below = if is_beyond { 1.0 - (1.0 - CONFIDENCE) / 2.0 } else { CONFIDENCE };
        let scatter = Scatter::of(judged)?;
        let outcome = match is_beyond {
            _ if distance < scatter.deviation / (scatter.n as f64).sqrt() => Passed::Undecided,
            true => Passed::Broken,
            false => Passed::Held,
        };
        Some((scatter.needed(distance, below, None)?, outcome))
    }

    /// Returns true if the figure has changed in the direction of the limit with confidence: its
    /// whole interval is above 1 for a limit on a rise, below 1 for one on a fall.
    fn is_near(&self, judged: &Judged) -> bool {
        let interval = judged.ratio.and_then(|ratio| ratio.interval);
        interval.is_some_and(|(low, high)| if self.is_rise { low > 1.0 } else { high < 1.0 })
    }

    /// Returns the end of a confidence interval of the ratio that is nearer to breaking this limit:
    /// the upper end for a limit on a rise, the lower end for a limit on a fall.
    fn end_of(&self, (least, most): (f64, f64)) -> f64 {
        if self.is_rise { most } else { least }
    }

    /// Returns the outcome of the limit for a figure, with the reason if it is undecided. It fails
    /// if the whole confidence interval of the ratio is beyond the limit. It passes if the interval
    /// or the one-sided bound is within the limit, which is a test of non-inferiority at 5 %. If
    /// runs did not alternate, the bound adjusted for a drift has to be within it too.
    fn passed(&self, judged: &Judged) -> (Passed, UndecidedBy) {
        let limit = 1.0 + self.by;
        let Some((low, high)) = judged.ratio.and_then(|ratio| ratio.interval) else {
            let is_lacking = judged.is_lacking;
            let why = if is_lacking { UndecidedBy::Samples } else { UndecidedBy::Noise };
            return (Passed::Undecided, why);
        };
        let is_beyond = |ratio: f64| match self.is_rise {
            _ if ratio == limit => self.is_inclusive,
            true => ratio > limit,
            false => ratio < limit,
        };
        let is_within = |bounds: (f64, f64)| !is_beyond(self.end_of(bounds));
        let is_broken = is_beyond(if self.is_rise { low } else { high });
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

/// Formats the name of a side of a comparison with the values of a point, such as `new clients=8`.
fn place_words(side: &str, values: &Named<String>) -> String {
    format!("{side} {}", values.pairs(" ")).trim_end().to_owned()
}

/// Formats the change of a figure with its confidence interval, such as
/// `-4.8 % (95 % CI -6.1 to -3.4 %)`, or `from 0 to 0.31` if the baseline is 0 in every run. `None`
/// without a ratio. A change close to the ratio `limit` has more digits.
fn changed(judged: &Judged, limit: f64) -> Option<String> {
    let ratio = judged.ratio?;
    if is_from_zero(judged)
        && let Some(side) = judged.side
    {
        // That of the page, where a figure is 0 in some run.
        let shown = judged.centers[1].unwrap_or(side.mean);
        let unit = match title(&judged.figure).rsplit_once(' ') {
            Some((_, unit @ ("%" | "ms"))) => format!(" {unit}"),
            _ => String::new(),
        };
        return Some(format!("from 0 to {}{unit}", significant(shown, 4)));
    }
    let interval = ratio.interval.map(|(low, high)| {
        let confidence = significant(100.0 * ratio.confidence.unwrap_or(0.95), 3);
        let confidence = confidence.trim_end_matches('0').trim_end_matches('.');
        let [low, high] = [low, high].map(|end| percent_beside(end, limit));
        format!(" ({confidence} % CI {low} to {high} %)")
    });
    let change = percent_beside(ratio.value, limit);
    Some(format!("{change} %{}", interval.unwrap_or_default()))
}

/// Returns true if the figure was 0 in every run of the baseline but not in the compared side's, so
/// that its rise has no percentage.
fn is_from_zero(judged: &Judged) -> bool {
    let is_zero = judged.baseline.is_some_and(|base| base.mean == 0.0);
    is_zero && judged.ratio.is_some_and(|ratio| ratio.value.is_infinite())
}

/// Formats a ratio as a change in percent, as [`percent_of`] does, with more digits if it would
/// otherwise look equal to the ratio `limit`, from which it differs.
fn percent_beside(ratio: f64, limit: f64) -> String {
    if !ratio.is_finite() || ratio == limit {
        return percent_of(ratio);
    }
    let (change, limit) = (100.0 * (ratio - 1.0), 100.0 * (limit - 1.0));
    let digits = |n: &usize| format!("{change:.n$}") != format!("{limit:.n$}");
    let enough = (1..=DIGITS_MOST).find(digits).unwrap_or(1);
    format!("{change:+.enough$}")
}

/// Largest number of decimals with which a change is printed beside a limit from which it differs.
const DIGITS_MOST: usize = 6;

/// Formats a ratio as a change in percent, such as `-4.8` for 0.952.
pub(crate) fn percent_of(ratio: f64) -> String {
    match ratio.is_finite() {
        true => format!("{:+.1}", 100.0 * (ratio - 1.0)),
        false => INFINITE.to_owned(),
    }
}

/// Share of invalid runs above which a compared side fails every limit, if the baseline has a far
/// smaller share.
const LOST_MOST: f64 = 0.5;

/// Adds to `found` the outcomes that do not depend on the figure: invalid runs, runs in progress,
/// points that only the baseline or only the compared side has, and different loads.
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
    if !load.is_empty() {
        let at = format!("{} differs in {}", pair.side, load_words(&load));
        match found.passed {
            Passed::Held => found.put(Passed::Undecided, at, UndecidedBy::Load),
            // The other load may be why the limit is broken.
            Passed::Broken => found.at.push(at),
            Passed::Undecided => {}
        }
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
    let is_ended_by_results =
        report.repeats.iter().any(|words| words.starts_with(ENDED_BY_RESULTS));
    if is_ended_by_results && pair.lost().next().is_none() {
        found.passed = Passed::Undecided;
        found.at = vec!["the results decided the number of repeats".to_owned()];
        found.undecided_by = UndecidedBy::Results;
    }
}

/// Lists load parameters with the compared side's value and the baseline's, such as `clients (8,
/// baseline 4)`.
fn load_words(load: &[(String, [String; 2])]) -> String {
    let words = load.iter().map(|(name, [base, side])| format!("{name} ({side}, baseline {base})"));
    words.collect::<Vec<_>>().join(", ")
}

fn figure_at<'p>(point: &'p PointPair, name: &str) -> Option<&'p Judged> {
    let all = || std::iter::once(&point.primary).chain(&point.others).chain(&point.lacking);
    let found = find_as_written(name, all().map(|judged| judged.figure.as_str()))?;
    all().find(|judged| judged.figure == found)
}
