//! What settling reached: its steps, the work that is left, and their facts and sentences.
//!
//! Not here: how the steps are executed (settle).

use model::{Event, Fact, FactValue, format_count, numbers};

use super::{level_name, not_settled, shown, shown_time};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settled {
    /// Total duration of all settling steps in seconds.
    pub seconds: f64,
    /// Commits of the server while it was settled; `None` if it does not count them.
    pub commits: Option<u64>,
    /// Bytes that the server wrote while it was settled; `None` if it does not count them.
    pub written_bytes: Option<u64>,
    /// Settling steps that were tried, in order.
    pub steps: Vec<StepDone>,
    /// Work that is left after settling, or that was not possible.
    pub incomplete: Vec<Incomplete>,
    /// True if the user stopped the settling; `incomplete` says so too.
    pub is_interrupted: bool,
}

/// Work that is left after settling, or that was not possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incomplete {
    /// Work that is left or was not possible, and why: a sentence without full stop.
    pub why: String,
    /// Advice to the user: a sentence; empty if there is none.
    pub advice: String,
    /// Remaining work in a few words, such as `history list 1,068`.
    pub left: String,
}

impl Incomplete {
    pub(super) fn new(left: String, why: String, advice: &str) -> Incomplete {
        Incomplete { left, why, advice: advice.to_owned() }
    }

    /// Returns the reason and the advice as text.
    pub fn sentence(&self) -> String {
        format!("{}. {}", self.why, self.advice).trim_end().to_owned()
    }
}

/// A settling step that was tried, with its duration and the amounts of work before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct StepDone {
    pub name: &'static str,
    pub seconds: f64,
    /// Name of the amount of work that the step reduces (such as the length of the history list),
    /// and its values before and after; `None` if the step has none.
    pub level: Option<(&'static str, i64, i64)>,
}

impl Settled {
    pub fn is_at_rest(&self) -> bool {
        self.incomplete.is_empty()
    }

    /// Returns the remaining work of each kind in a few words, each once.
    pub fn left(&self) -> Vec<&str> {
        let mut left: Vec<&str> = Vec::new();
        for rest in self.incomplete.iter().map(|one| one.left.as_str()) {
            if !left.contains(&rest) {
                left.push(rest);
            }
        }
        left
    }

    /// Returns a sentence for the user that describes the result.
    pub fn sentence(&self) -> String {
        let took = shown_time(self.seconds);
        let first = match self.is_at_rest() {
            true => format!("settled in {took}"),
            false => format!("not settled within {took}: {}", self.left().join(", ")),
        };
        let mut parts = vec![first];
        for step in &self.steps {
            let level = step.level.map(|(name, before, after)| {
                let name = level_name(name);
                format!(" ({name} {} to {})", shown(before), shown(after))
            });
            let took = shown_time(step.seconds);
            parts.push(format!(
                "{} {took}{}",
                step.name.replace('_', " "),
                level.unwrap_or_default()
            ));
        }
        if let Some(bytes) = self.written_bytes {
            parts.push(format!("{} written", numbers::bytes(bytes)));
        }
        if let Some(commits) = self.commits {
            parts.push(format!("{} commits", format_count(commits)));
        }
        match self.is_at_rest() {
            true => parts.join(", "),
            false => format!("{}; {}", parts[0], parts[1..].join(", ")),
        }
    }

    /// Returns the result as facts with subject `about`, and a finding if work is left. `when` is a
    /// phrase such as `before the load`.
    pub(crate) fn events(&self, about: &str, when: &str) -> Vec<Event> {
        let mut facts = vec![("took_s".to_owned(), FactValue::seconds(self.seconds, 3))];
        facts.extend(self.commits.map(|n| ("commits".to_owned(), n.into())));
        let bytes = self.written_bytes.map(FactValue::Bytes);
        facts.extend(bytes.map(|bytes| ("written_bytes".to_owned(), bytes)));
        for step in &self.steps {
            let seconds = FactValue::seconds(step.seconds, 3);
            facts.push((format!("{}_took_s", step.name), seconds));
            if let Some((name, before, after)) = step.level {
                facts.push((format!("{name}_before"), before.into()));
                facts.push((format!("{name}_after"), after.into()));
            }
        }
        let facts = facts.into_iter();
        let mut events: Vec<Event> =
            facts.map(|(name, value)| Event::Fact(Fact::new(about, &name, value))).collect();
        if !self.incomplete.is_empty() {
            let sentences: Vec<String> = self.incomplete.iter().map(Incomplete::sentence).collect();
            events.push(not_settled(when, &sentences.join(" ")));
        }
        events
    }
}
