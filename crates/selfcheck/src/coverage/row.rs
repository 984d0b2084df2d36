//! A row of the table of coverage, which has the result of one test of a statistical claim. Not
//! here: the models.

use serde::Serialize;

/// Source of a row's figures, in words: whole runs of dbdyno in virtual time.
pub(super) const WHOLE_RUNS: &str = "whole runs";
pub(super) const DRAWN_FIGURES: &str = "drawn figures";

/// A statistical claim, tested on a model whose true values are known.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The claim in words, such as `interval of TPS`.
    pub what: String,
    /// The model and the length of its runs, in words.
    pub model: String,
    /// Source of the row's figures in words: whole runs in virtual time, or random numbers.
    pub made: &'static str,
    /// Claimed share of intervals that contain the true value, or of wrong verdicts.
    pub nominal: f64,
    pub runs: u32,
    /// Number of runs that gave an interval or a verdict.
    pub given: u32,
    /// Number of intervals that contained the true value, or of verdicts that were wrong.
    pub counted: u32,
    /// Target for the observed share in words, such as `at most 5 %`.
    pub target: &'static str,
    /// True if the observed share meets the target.
    pub is_met: bool,
    /// True if the observed share meets the target within two standard errors.
    pub is_good: bool,
}

impl Row {
    /// Returns the share of given intervals that contained the true value, or of given verdicts
    /// that were wrong; `None` if none was given.
    pub fn share(&self) -> Option<f64> {
        (self.given > 0).then(|| f64::from(self.counted) / f64::from(self.given))
    }

    /// Creates a row about random numbers, in which at least the share `least` should be counted.
    /// The last tuple has the fields `runs`, `given` and `counted`.
    pub(super) fn at_least(
        what: &str,
        model: &str,
        (nominal, least, target): (f64, f64, &'static str),
        (runs, given, counted): (u32, u32, u32),
    ) -> Row {
        let slack = 2.0 * (least * (1.0 - least) / f64::from(given.max(1))).sqrt();
        Row {
            what: what.to_owned(),
            model: model.to_owned(),
            made: DRAWN_FIGURES,
            nominal,
            runs,
            given,
            counted,
            target,
            is_met: f64::from(counted) >= f64::from(given) * least,
            is_good: f64::from(counted) >= f64::from(given) * (least - slack),
        }
    }

    /// Creates a row about a 95 % interval: 92 to 98 % of the intervals should contain the true
    /// value, or at least 90 % if fewer than half of the runs have one.
    pub(super) fn of_interval(
        what: &str,
        model: &str,
        (runs, given, held): (u32, u32, u32),
    ) -> Row {
        let is_rare = 2 * given < runs;
        let (least, most) = if is_rare { (0.90, 1.0) } else { (0.92, 0.98) };
        let share = f64::from(held) / f64::from(given.max(1));
        let slack = |p: f64| 2.0 * (p * (1.0 - p) / f64::from(given.max(1))).sqrt();
        let is_within = share >= least - slack(least) && share <= most + slack(most);
        Row {
            what: what.to_owned(),
            model: model.to_owned(),
            made: DRAWN_FIGURES,
            nominal: 0.95,
            runs,
            given,
            counted: held,
            target: if is_rare { "at least 90 % of the few given" } else { "92 to 98 % hold" },
            is_met: given == 0 || (least..=most).contains(&share),
            is_good: given == 0 || is_within,
        }
    }

    /// Creates a row about a verdict that may be wrong in at most the share `most` of the runs. `n`
    /// is the number of runs, and that of wrong verdicts.
    pub(super) fn of_errors(
        what: &str,
        model: &str,
        most: f64,
        target: &'static str,
        n: (u32, u32),
    ) -> Row {
        let (runs, wrong) = n;
        let slack = 2.0 * (most * (1.0 - most) / f64::from(runs.max(1))).sqrt();
        Row {
            what: what.to_owned(),
            model: model.to_owned(),
            made: DRAWN_FIGURES,
            nominal: most,
            runs,
            given: runs,
            counted: wrong,
            target,
            is_met: f64::from(wrong) <= f64::from(runs) * most,
            is_good: f64::from(wrong) <= f64::from(runs) * (most + slack),
        }
    }
}

/// Adds 1 to `given` if there is an interval, and 1 to `held` if the interval contains the true
/// value `truth`.
pub(super) fn add_held((given, held): &mut (u32, u32), interval: Option<(f64, f64)>, truth: f64) {
    if let Some((low, high)) = interval {
        *given += 1;
        *held += u32::from(low <= truth && truth <= high);
    }
}
