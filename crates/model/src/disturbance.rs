//! What is done to a database while it is measured, and what came of it.
//!
//! Not here: who does it (app), and what it did to response times (analysis).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Host, NetworkConditions, format_duration};

/// What is done to a managed server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum ServerAction {
    /// It is stopped in its own way, and started again.
    Restart,
    /// It is killed, as by a crash.
    Kill,
    /// It is frozen, and goes on after so long.
    Pause {
        /// How long, in nanoseconds.
        for_ns: u64,
    },
    /// It is stopped in its own way.
    Stop,
    /// It is started, after a kill or a stop.
    Start,
}

impl ServerAction {
    /// As it is written in a plan.
    pub fn written(self) -> String {
        match self {
            ServerAction::Restart => "restart".to_owned(),
            ServerAction::Kill => "kill".to_owned(),
            ServerAction::Pause { for_ns } => format!("pause {}", format_duration(for_ns)),
            ServerAction::Stop => "stop".to_owned(),
            ServerAction::Start => "start".to_owned(),
        }
    }
}

/// What a disturbance does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Statements, one after the other, on a connection of their own.
    Sql(Vec<String>),
    /// A command of the generator's machine, for its shell.
    Command(String),
    /// Something done to a managed server.
    Server(ServerAction),
    /// The same done to one node of a managed cluster.
    Node {
        /// Which, from 1.
        node: u32,
        /// What.
        action: ServerAction,
    },
    /// A further node joins a managed cluster; then it is one of the target's hosts.
    Join,
    /// A change of the list of hosts that clients use.
    Hosts {
        /// What becomes of it.
        change: HostsChange,
        /// Of which.
        which: Which,
    },
    /// A step of settling, by its name: a checkpoint.
    Settle(String),
    /// Other conditions of the simulated network, for as long as the limit says.
    Network(NetworkConditions),
}

/// What becomes of a host on the list that clients use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostsChange {
    /// It gets its share of the clients.
    Add,
    /// Its clients go to the others.
    Remove,
}

impl HostsChange {
    /// As it is written in a plan.
    pub fn written(self) -> &'static str {
        match self {
            HostsChange::Add => "add",
            HostsChange::Remove => "remove",
        }
    }
}

/// A host, by its name or as a node of a managed cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// By its name.
    Host(Host),
    /// As a node, from 1.
    Node(u32),
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Which::Host(host) => host.fmt(f),
            Which::Node(node) => write!(f, "node {node}"),
        }
    }
}

/// The most letters of what is done that are reported; the plan has all of them.
const TOLD_LETTERS: usize = 60;

impl Action {
    /// Whether a managed server has to do with it.
    pub fn is_of_server(&self) -> bool {
        matches!(self, Action::Server(_) | Action::Node { .. } | Action::Join)
    }

    /// What is done, in one short line.
    pub fn summary(&self) -> String {
        let (first, more) = match self {
            Action::Sql(statements) => {
                (statements.first().map_or("", String::as_str), statements.len().saturating_sub(1))
            }
            Action::Command(command) => (command.as_str(), 0),
            Action::Server(action) => return format!("server {}", action.written()),
            Action::Node { node, action } => return format!("node {node} {}", action.written()),
            Action::Join => return "a node joins".to_owned(),
            Action::Settle(step) => return step.replace('_', " "),
            Action::Network(conditions) => {
                let limit = conditions.bandwidth_in_words().map(|words| format!(", {words}"));
                let delay = format_duration(conditions.delay_ns);
                return format!("network delay {delay}{}", limit.unwrap_or_default());
            }
            Action::Hosts { change, which } => {
                return format!("hosts {} {which}", change.written());
            }
        };
        let line = first.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut shown: String = line.chars().take(TOLD_LETTERS).collect();
        if shown.len() < line.len() {
            shown.push('…');
        }
        match more {
            0 => shown,
            more => format!("{shown} (and {more} more)"),
        }
    }
}

/// Something that is done in mid-run. Times count from the beginning of the measured phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disturbance {
    /// Its name.
    pub name: String,
    /// When it is done, in nanoseconds.
    pub at_ns: u64,
    /// When it is done again and again: every so many nanoseconds.
    pub every_ns: Option<u64>,
    /// From here on it is not begun any more, and cut off if it is under way; in nanoseconds.
    pub until_ns: Option<u64>,
    /// It is cut off when it has taken so long, in nanoseconds.
    pub limit_ns: Option<u64>,
    /// What is done.
    pub action: Action,
}

impl Disturbance {
    /// When it is due for the `nth` time, counted from 0; none if it is not.
    pub fn due_ns(&self, nth: u32) -> Option<u64> {
        let due_ns = match (nth, self.every_ns) {
            (0, _) => self.at_ns,
            (nth, Some(every_ns)) => {
                every_ns.checked_mul(nth.into()).and_then(|after| after.checked_add(self.at_ns))?
            }
            (_, None) => return None,
        };
        self.until_ns.is_none_or(|until_ns| due_ns < until_ns).then_some(due_ns)
    }

    /// How often it is due before `end_ns`.
    pub fn times_before(&self, end_ns: u64) -> u64 {
        let end_ns = self.until_ns.unwrap_or(u64::MAX).min(end_ns);
        match (end_ns.checked_sub(self.at_ns), self.every_ns) {
            (None | Some(0), _) => 0,
            (Some(_), None) => 1,
            (Some(left_ns), Some(every_ns)) => left_ns.div_ceil(every_ns.max(1)),
        }
    }
}

/// What came of a disturbance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Disturbed {
    /// It is under way.
    Running,
    /// It was done.
    Done,
    /// It was not, or not all of it.
    Failed {
        /// Why.
        why: String,
    },
    /// It was cut off before it had ended.
    CutOff {
        /// By what.
        why: String,
    },
    /// It was never begun.
    Skipped {
        /// Why.
        why: String,
    },
}

/// What a run reports of a disturbance: when it begins, and again when it has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisturbanceEvent {
    /// Which of the plan's, from 0.
    pub index: u16,
    /// Which time it is done, from 0.
    pub nth: u32,
    /// Its name.
    pub name: String,
    /// What is done, in one short line.
    pub what: String,
    /// When it began, in nanoseconds from the beginning of the measured phase; when it was due, if
    /// it was skipped.
    pub began_ns: i64,
    /// When it ended; none while it is under way.
    pub ended_ns: Option<i64>,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Disturbed,
    /// The last of what it said.
    pub output: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NS_PER_S;

    #[test]
    fn a_repeated_disturbance_is_due_until_its_end() {
        let mut one = Disturbance {
            name: "x".to_owned(),
            at_ns: 5 * NS_PER_S,
            every_ns: None,
            until_ns: None,
            limit_ns: None,
            action: Action::Server(ServerAction::Restart),
        };
        assert_eq!((one.due_ns(0), one.due_ns(1)), (Some(5 * NS_PER_S), None));
        assert_eq!((one.times_before(5 * NS_PER_S), one.times_before(60 * NS_PER_S)), (0, 1));
        one.every_ns = Some(10 * NS_PER_S);
        assert_eq!(one.due_ns(2), Some(25 * NS_PER_S));
        assert_eq!(one.times_before(25 * NS_PER_S), 2);
        one.until_ns = Some(25 * NS_PER_S);
        assert_eq!((one.due_ns(1), one.due_ns(2)), (Some(15 * NS_PER_S), None));
        assert_eq!(one.times_before(60 * NS_PER_S), 2);
    }

    #[test]
    fn what_is_done_is_reported_in_one_short_line() {
        let check = |action: Action, expect: &str| assert_eq!(action.summary(), expect);
        check(Action::Sql(vec!["DROP  TABLE\n big".to_owned()]), "DROP TABLE big");
        let kill = Action::Node { node: 2, action: ServerAction::Kill };
        check(kill, "node 2 kill");
        let which = Which::Host(Host { name: "db3".to_owned(), port: Some(7) });
        check(Action::Hosts { change: HostsChange::Add, which }, "hosts add db3:7");
        let two = vec!["CREATE TABLE a (x INT)".to_owned(), "DROP TABLE a".to_owned()];
        check(Action::Sql(two), "CREATE TABLE a (x INT) (and 1 more)");
        check(Action::Settle("write_back".to_owned()), "write back");
        let mut network = NetworkConditions { delay_ns: 5_000_000, bytes_per_s: None };
        check(Action::Network(network), "network delay 5ms");
        network.bytes_per_s = Some(10_000_000);
        check(Action::Network(network), "network delay 5ms, 10 MB/s");
        check(Action::Server(ServerAction::Pause { for_ns: 5 * NS_PER_S }), "server pause 5s");
        assert_eq!(Action::Command("x ".repeat(90)).summary().chars().count(), TOLD_LETTERS + 1);
    }
}
