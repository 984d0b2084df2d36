//! Durability of compared sets of runs: which of them may lose acknowledged commits in a crash
//! while others keep them, so that a gain in speed is shown with its price. Not here: which modes
//! lose commits (drivers).

use analysis::report::Report;
use model::CommitRisk;

use super::{ComparisonReport, Side, isolation, reports};
use crate::trials::TrialReport;

/// Largest number of sides of a comparison that the sentence on unequal durability names one by
/// one; of more, it names the first and the number of the others.
const NAMED_MOST: usize = 3;

/// Durability of the commits in the runs of one side of a comparison. Sides of equal durability are
/// named together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Commits {
    /// A crash may lose commits. `loss` describes which ones; `is_in_all` is false if some runs of
    /// this side of the comparison keep them or lose others.
    AtRisk {
        loss: String,
        is_in_all: bool,
    },
    Kept,
    NotKnown,
}

/// Returns a sentence on which sides may lose commits in a crash that others keep, given the name
/// and the reports of each. `None` if all have the same durability, or none is known to lose
/// commits.
fn unequal<'r, R>(sides: impl IntoIterator<Item = (&'r str, R)>) -> Option<String>
where
    R: IntoIterator<Item = &'r Report>,
{
    let mut alike: Vec<(Commits, Vec<&str>)> = Vec::new();
    for (name, reports) in sides {
        let found = commits(reports);
        match alike.iter_mut().find(|(known, _)| *known == found) {
            Some((_, names)) => names.push(name),
            None => alike.push((found, vec![name])),
        }
    }
    alike.sort();
    let is_at_risk =
        |(durability, _): &&(Commits, Vec<&str>)| matches!(durability, Commits::AtRisk { .. });
    let n_losses = alike.iter().filter(is_at_risk).count();
    if n_losses == 0 || alike.len() < 2 {
        return None;
    }
    let clauses = alike.iter().map(|(durability, names)| clause(durability, names, n_losses));
    Some(format!("Not equally durable: {}.", clauses.collect::<Vec<_>>().join("; ")))
}

impl ComparisonReport {
    /// Adds to each pair of baseline and compared side the sentences on durability and isolation,
    /// with the names that the report shows.
    pub(super) fn with_guarantees(mut self, sides: &[Side]) -> ComparisonReport {
        for (at, pair) in self.pairs.iter_mut().enumerate() {
            let both = [0, at + 1].map(|at| (&*self.sides[at].name, reports(&sides[at])));
            pair.durability = compared(both);
            let both = [0, at + 1].map(|at| (&*self.sides[at].name, reports(&sides[at])));
            pair.isolation = isolation::unequal(both);
        }
        self
    }
}

/// Returns a sentence on the durability of two sides of a comparison: which one may lose commits in
/// a crash that the other keeps, or, for different database products, that neither is known to lose
/// any. `None` for sides of one product with the same durability, or if it is not known.
fn compared<'r, R>(sides: [(&'r str, R); 2]) -> Option<String>
where
    R: IntoIterator<Item = &'r Report>,
{
    let both = sides.map(|(name, reports)| (name, reports.into_iter().collect::<Vec<_>>()));
    let product = |all: &[&Report]| Some(all.first()?.fact("database", "product")?.to_string());
    let products = both.each_ref().map(|(_, all)| product(all));
    let are_kept = both.iter().all(|(_, all)| commits(all.iter().copied()) == Commits::Kept);
    let is_equal = are_kept && products[0] != products[1];
    let equal = || "Equally durable: with both, a crash loses no acknowledged commit.".to_owned();
    unequal(both).or_else(|| is_equal.then(equal))
}

/// Returns a sentence on which values of a varied parameter may lose commits in a crash that other
/// values keep, for the first parameter with such a difference; `None` if there is none. `axis`
/// takes the index of a point (from 0), and returns its values, one for each varied parameter.
pub fn unequally_durable(
    trials: &[TrialReport],
    axis: impl Fn(u32) -> Vec<String>,
) -> Option<String> {
    let n_axes = axis(trials.first()?.point).len();
    (0..n_axes).find_map(|at| {
        let mut values: Vec<(String, Vec<&Report>)> = Vec::new();
        for trial in trials {
            let value = axis(trial.point).swap_remove(at);
            match values.iter_mut().find(|(known, _)| *known == value) {
                Some((_, reports)) => reports.push(&trial.report),
                None => values.push((value, vec![&trial.report])),
            }
        }
        unequal(values.iter().map(|(value, runs)| (value.as_str(), runs.iter().copied())))
    })
}

fn commits<'r>(reports: impl IntoIterator<Item = &'r Report>) -> Commits {
    let of_run = |report: &Report| match CommitRisk::read(|about, name| report.fact(about, name)) {
        Some(CommitRisk { loss, .. }) => Commits::AtRisk { loss, is_in_all: true },
        None if report.fact("durability", "commits_at_risk").is_some() => Commits::Kept,
        None => Commits::NotKnown,
    };
    let mut all: Vec<Commits> = reports.into_iter().map(of_run).collect();
    all.sort();
    all.dedup();
    let is_in_all = all.len() < 2;
    match all.into_iter().next() {
        Some(Commits::AtRisk { loss, .. }) => Commits::AtRisk { loss, is_in_all },
        // A run with unknown durability leaves the side undecided.
        Some(Commits::Kept) if is_in_all => Commits::Kept,
        _ => Commits::NotKnown,
    }
}

/// Describes what a crash does to the commits of the named sides of a comparison, such as `with
/// off, a crash may lose the last commits`. `n_losses` is the number of clauses of the sentence
/// that tell of a loss.
fn clause(durability: &Commits, names: &[&str], n_losses: usize) -> String {
    let names = match names.len() > NAMED_MOST {
        true => format!("{} and {} others", names[0], names.len() - 1),
        false => names.join(" and "),
    };
    match durability {
        Commits::AtRisk { loss, is_in_all: true } => format!("with {names}, {loss}"),
        Commits::AtRisk { loss, .. } => format!("in some runs of {names}, {loss}"),
        Commits::Kept if n_losses == 1 => format!("with {names}, it does not"),
        Commits::Kept => format!("with {names}, none of this is known to happen"),
        Commits::NotKnown => format!("with {names}, that is not known"),
    }
}
