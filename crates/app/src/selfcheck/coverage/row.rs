//! One row of the coverage table. Not here: what is tried.

use serde::Serialize;

/// What rows are made of.
pub(super) const WHOLE_RUNS: &str = "whole runs";
pub(super) const DRAWN_FIGURES: &str = "drawn figures";

/// One claim on one model.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What is claimed.
    pub what: String,
    /// Of which model, and over how long.
    pub model: String,
    /// What the figures are: of runs of the whole tool in virtual time, or drawn.
    pub made: &'static str,
    /// The share that is claimed: of intervals those that hold the truth, of verdicts the wrong
    /// ones.
    pub nominal: f64,
    /// How many were tried.
    pub runs: u32,
    /// How many of them had an interval or a verdict at all.
    pub given: u32,
    /// How many of these held the truth, or were wrong.
    pub counted: u32,
    /// What the share should be.
    pub target: &'static str,
    /// Whether it is that.
    pub is_met: bool,
    /// Whether it is that, within two standard errors of so many tries.
    pub is_good: bool,
}

impl Row {
    /// The share of those given that held the truth, or were wrong; none of none.
    pub fn share(&self) -> Option<f64> {
        (self.given > 0).then(|| f64::from(self.counted) / f64::from(self.given))
    }

    /// A row of figures that are drawn, of a share that is to be at least so much.
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

    /// The row of an interval at 95 %: 92 to 98 % hold, or 90 % of the rest where most have none.
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

    /// The row of a verdict that is wrong in at most `most`.
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

/// Counts an interval that is given, and one that holds the truth.
pub(super) fn add_held((given, held): &mut (u32, u32), interval: Option<(f64, f64)>, truth: f64) {
    if let Some((low, high)) = interval {
        *given += 1;
        *held += u32::from(low <= truth && truth <= high);
    }
}
