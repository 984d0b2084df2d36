//! The risk that a database loses acknowledged commits in its current modes, and the facts in which
//! a run stores it.
//!
//! Not here: which modes are risky (drivers), and the judgement (findings).

use crate::{Fact, FactValue};

/// Subject of the facts that tell whether acknowledged commits may be lost.
const ABOUT: &str = "durability";

/// A mode of a database, such as `fsync=off`, in which a commit may be lost although the client was
/// told that it succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRisk {
    /// Name and value of the risky mode, such as `fsync=off` or `engine=myisam`; several modes are
    /// joined by "and".
    pub mode: String,
    /// Failure and the commits that it loses, in words: "a crash may lose the last second of
    /// commits".
    pub loss: String,
}

impl CommitRisk {
    /// Returns the facts about durability to store with a run: whether commits are at risk and, if
    /// so, the mode and the possible loss. `found` is `None` if there is no risk.
    pub fn facts(found: Option<CommitRisk>) -> Vec<Fact> {
        let mut facts = vec![Fact::new(ABOUT, "commits_at_risk", found.is_some())];
        if let Some(CommitRisk { mode, loss }) = found {
            facts.push(Fact::new(ABOUT, "mode", mode));
            facts.push(Fact::new(ABOUT, "loss", loss));
        }
        facts
    }

    /// Adds this risk to the facts of a run, and returns all of them. If the facts contain another
    /// risk already, both risks are stored as one, joined by "and".
    pub fn added_to(self, facts: Vec<Fact>) -> Vec<Fact> {
        let fact = |about: &str, name: &str| {
            let is_it = |fact: &&Fact| fact.about == about && fact.name == name;
            facts.iter().rev().find(is_it).map(|fact| &fact.value)
        };
        let all = match CommitRisk::read(fact) {
            None => self,
            Some(other) => CommitRisk {
                mode: format!("{} and {}", other.mode, self.mode),
                loss: format!("{}, and {}", other.loss, self.loss),
            },
        };
        CommitRisk::replaced(facts, CommitRisk::facts(Some(all)))
    }

    /// Returns the facts of a run without those about durability, followed by `said` in their
    /// place.
    pub fn replaced(facts: Vec<Fact>, said: Vec<Fact>) -> Vec<Fact> {
        facts.into_iter().filter(|fact| fact.about != ABOUT).chain(said).collect()
    }

    /// Reads the risk from the facts of a run, which `fact` looks up by subject and name. `None` if
    /// commits are not at risk, or the facts do not tell.
    pub fn read<'f>(fact: impl Fn(&str, &str) -> Option<&'f FactValue>) -> Option<CommitRisk> {
        let is_at_risk = fact(ABOUT, "commits_at_risk")?.yes_no() == Some(true);
        let words = |name: &str| Some(fact(ABOUT, name)?.to_string());
        is_at_risk.then_some(CommitRisk { mode: words("mode")?, loss: words("loss")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_keeps_is_what_the_driver_found() {
        let check = |found: Option<CommitRisk>| {
            let facts = CommitRisk::facts(found.clone());
            let stored: Vec<Fact> =
                facts.iter().map(|f| Fact::new(&f.about, &f.name, f.value.to_string())).collect();
            let fact = |about: &str, name: &str| {
                let is_it = |fact: &&Fact| fact.about == about && fact.name == name;
                stored.iter().find(is_it).map(|fact| &fact.value)
            };
            assert_eq!(CommitRisk::read(fact), found);
        };
        check(None);
        check(Some(CommitRisk { mode: "fsync=off".to_owned(), loss: "a crash".to_owned() }));
        assert_eq!(CommitRisk::read(|_, _| None), None);
    }

    #[test]
    fn a_second_risk_stands_behind_the_first() {
        let risk = |mode: &str, loss: &str| CommitRisk { mode: mode.into(), loss: loss.into() };
        let check = |found: Option<CommitRisk>, mode: &str, loss: &str| {
            let facts = [CommitRisk::facts(found), vec![Fact::new("os", "name", "Linux")]].concat();
            let facts = risk("engine=heap", "a stop empties the tables").added_to(facts);
            let shown: Vec<String> =
                facts.iter().map(|fact| format!("{} {}", fact.name, fact.value)).collect();
            let expect = [format!("mode {mode}"), format!("loss {loss}")];
            assert_eq!(shown[..2], ["name Linux", "commits_at_risk true"]);
            assert_eq!(shown[2..], expect);
        };
        check(None, "engine=heap", "a stop empties the tables");
        check(
            Some(risk("fsync=off", "a crash may lose commits")),
            "fsync=off and engine=heap",
            "a crash may lose commits, and a stop empties the tables",
        );
    }
}
