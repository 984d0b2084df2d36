//! Runs that a comparison leaves out, because they are not valid or have not ended, in words.
//!
//! Not here: which runs these are (app).

use analysis::report::Named;
use model::numbers::{count, list};
use serde::{Deserialize, Serialize};

use super::ComparisonReport;

/// A run that a comparison leaves out, with the reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotCounted {
    pub run: String,
    /// Values of the varied parameters in the run, by parameter; null if not known.
    pub values: Option<Named<String>>,
    pub why: String,
}

/// Describes the runs that a comparison leaves out of the side `name`, such as `2 of 5 runs of new
/// do not count: overloaded (2)`; `None` if all are valid.
pub(crate) fn lost_words(name: &str, lost: &[NotCounted], n_counted: usize) -> Option<String> {
    let verb = if lost.len() == 1 { "does" } else { "do" };
    let (n, all) = (lost.len(), count((lost.len() + n_counted) as u64, "run"));
    let whys = whys_in_words(lost);
    (n > 0).then(|| format!("{n} of {all} of {name} {verb} not count: {whys}"))
}

/// Lists the reasons why runs are left out, with numbers of runs: `failed, overloaded (3)`.
pub(crate) fn whys_in_words(lost: &[NotCounted]) -> String {
    in_words(&whys(lost))
}

impl ComparisonReport {
    /// Says which sides have runs in progress: `old and new are still being measured (01a1ffb6)`,
    /// where both are of one experiment. Empty if every run has ended.
    pub fn running_words(&self) -> Vec<String> {
        let mut found: Vec<(&[String], Vec<String>)> = Vec::new();
        for side in &self.sides {
            match found.iter_mut().find(|(running, _)| *running == side.running) {
                Some((_, names)) => names.push(side.name.clone()),
                None => found.push((&side.running, vec![side.name.clone()])),
            }
        }
        let words = |(running, names): (&[String], Vec<String>)| running_words(&names, running);
        found.into_iter().filter_map(words).collect()
    }
}

/// Says that runs of sides with these names are in progress; `None` if there are none.
pub(super) fn running_words(names: &[String], running: &[String]) -> Option<String> {
    let more = match running.len() {
        0 => return None,
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    let (verb, names) = (if names.len() > 1 { "are" } else { "is" }, list(names));
    Some(format!("{names} {verb} still being measured ({}{more})", running[0]))
}

/// Lists reasons with their counts, such as `failed, overloaded (3)`; a count of 1 is not written.
pub(super) fn in_words(whys: &Named<u64>) -> String {
    let to_words = |(why, n): (&str, &u64)| {
        if *n == 1 { why.to_owned() } else { format!("{why} ({n})") }
    };
    whys.iter().map(to_words).collect::<Vec<_>>().join(", ")
}

/// Counts the runs that a comparison leaves out for each reason.
pub(super) fn whys(runs: &[NotCounted]) -> Named<u64> {
    let mut by_why = Named::default();
    runs.iter().for_each(|run| by_why.count(&run.why, 1));
    by_why
}
