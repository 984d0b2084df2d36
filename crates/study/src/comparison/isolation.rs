//! Isolation levels of compared sets of runs: if they differ, a gain in speed may be one of weaker
//! guarantees. Not here: the levels, which drivers report.

use analysis::report::Report;

/// Returns a sentence on the isolation levels of two sides of a comparison, such as `Not equally
/// isolated: old at read committed, new at repeatable read.` `None` if they are the same or not
/// known.
pub(super) fn unequal<'r, R>(sides: [(&'r str, R); 2]) -> Option<String>
where
    R: IntoIterator<Item = &'r Report>,
{
    let [base, side] = sides.map(|(name, reports)| Some((name, level(reports)?)));
    let ((base, base_level), (side, side_level)) = (base?, side?);
    (base_level != side_level)
        .then(|| format!("Not equally isolated: {base} at {base_level}, {side} at {side_level}."))
}

/// Returns the isolation level of all these runs; `None` if they differ or one is not known.
fn level<'r>(reports: impl IntoIterator<Item = &'r Report>) -> Option<String> {
    let mut all = reports.into_iter().map(|run| run.fact("isolation", "level"));
    let first = all.next()??;
    all.all(|level| level == Some(first)).then(|| first.to_string())
}

#[cfg(test)]
mod tests {
    use crate::comparison::{ComparisonReport, Judge};
    use crate::fixtures::sides::{self, FIVE};

    /// Returns the sentences on durability and isolation for two sides of a comparison with these
    /// products and isolation levels; both keep all commits in a crash.
    fn sentences(both: [(&str, Option<&str>); 2]) -> [Option<String>; 2] {
        let made = both.map(|(product, level)| {
            let mut side = sides::side(product, &[("8", &FIVE, 0)]);
            for report in &mut side.points[0].reports {
                let mut tell = |about: &str, name: &str, value: model::FactValue| {
                    let facts = report.facts.entry(about.to_owned()).or_default();
                    facts.insert(name.to_owned(), value);
                };
                tell("database", "product", product.into());
                tell("durability", "commits_at_risk", false.into());
                level.into_iter().for_each(|level| tell("isolation", "level", level.into()));
            }
            side
        });
        let judge = Judge { primary: None, min_effect: 0.01, also: Vec::new() };
        let report = ComparisonReport::new(&made, &judge).expect("both have runs");
        [report.pairs[0].durability.clone(), report.pairs[0].isolation.clone()]
    }

    #[test]
    fn two_products_say_whether_they_promise_the_same() {
        let (weak, strong) = (Some("read committed"), Some("repeatable read"));
        let equal = "Equally durable: with both, a crash loses no acknowledged commit.";
        let uneven = "Not equally isolated: MariaDB at repeatable read, PostgreSQL at read \
                      committed.";
        let found = sentences([("MariaDB", strong), ("PostgreSQL", weak)]);
        assert_eq!(found.each_ref().map(Option::as_deref), [Some(equal), Some(uneven)]);
        let found = sentences([("MariaDB", strong), ("PostgreSQL", strong)]);
        assert_eq!(found.each_ref().map(Option::as_deref), [Some(equal), None]);
        // An older run has no level.
        let found = sentences([("MariaDB", strong), ("MariaDB", None)]);
        assert_eq!(found, [None, None]);
    }
}
