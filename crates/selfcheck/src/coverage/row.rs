//! A row of the coverage table. Not here: the models.

use serde::Serialize;

/// Origin of a row: whole runs in virtual time.
pub(super) const WHOLE_RUNS: &str = "whole runs";
pub(super) const DRAWN_FIGURES: &str = "drawn figures";

/// A claim on a model.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The claim, in words.
    pub what: String,
    /// Model, and length of the runs.
    pub model: String,
    /// Origin of the figures: whole runs in virtual time, or random.
    pub made: &'static str,
    /// Claimed share: of intervals that contain the truth, or of wrong verdicts.
    pub nominal: f64,
    pub runs: u32,
    /// Number of tries that gave an interval or a verdict.
    pub given: u32,
    /// Number of those that contained the truth, or were wrong.
    pub counted: u32,
    /// Target of the share, in words.
    pub target: &'static str,
    /// Whether the share meets the target.
    pub is_met: bool,
    /// Whether the share meets the target within two standard errors.
    pub is_good: bool,
}

impl Row {
    /// Share of the given ones that contained the truth, or were wrong; `None` if none was given.
    pub fn share(&self) -> Option<f64> {
        (self.given > 0).then(|| f64::from(self.counted) / f64::from(self.given))
    }

    /// Row of random figures whose share must be at least `least`.
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

    /// Row of an interval at 95 %: 92 to 98 % must contain the truth, or 90 % if most tries have
    /// none.
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

    /// Row of a verdict that may be wrong in at most `most` of the tries.
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

/// Counts an interval, and whether it contains the truth.
pub(super) fn add_held((given, held): &mut (u32, u32), interval: Option<(f64, f64)>, truth: f64) {
    if let Some((low, high)) = interval {
        *given += 1;
        *held += u32::from(low <= truth && truth <= high);
    }
}
