//! Disturbances that a plan makes during a run, such as killing the server, and their outcomes.
//!
//! Not here: their execution (app), and their effect on response times (analysis).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Host, NetworkConditions, format_duration};

/// An action on a managed server, that is, a server that dbdyno itself started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum ServerAction {
    /// Shuts the server down cleanly, and then starts it again.
    Restart,
    /// Kills the server's process, as a crash would.
    Kill,
    /// Suspends the server's process, and resumes it after a time.
    Pause {
        /// Duration for which the server's process is suspended, in nanoseconds.
        for_ns: u64,
    },
    /// Shuts the server down cleanly, and leaves it so until a later `Start`.
    Stop,
    /// Starts the server after it was killed or stopped.
    Start,
}

impl ServerAction {
    /// Returns the action in the form in which users write it in a plan, such as `restart`.
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

/// The action that a disturbance executes during a run, such as SQL or killing the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// SQL statements, executed one after the other on a connection that no client uses.
    Sql(Vec<String>),
    /// A shell command, executed on the machine where dbdyno's main process runs.
    Command(String),
    /// An action on the managed server, if it is a single server and not a cluster.
    Server(ServerAction),
    /// An action on one node of a managed cluster.
    Node {
        /// Number of the cluster node, counted from 1.
        node: u32,
        /// Action to execute on the cluster node, such as a restart.
        action: ServerAction,
    },
    /// Starts a new node of a managed cluster and adds it to the hosts that clients use.
    Join,
    /// Adds a host to those over which clients are spread, or removes one.
    Hosts {
        /// Change of the host: added to those that clients use, or removed from them.
        change: HostsChange,
        /// Host that is added or removed, by name or as the number of a cluster node.
        which: Which,
    },
    /// Makes the server finish one kind of background work: executes the settling step with this
    /// name, such as `checkpoint`.
    Settle(String),
    /// Changes delay and bandwidth of the simulated network between clients and server until the
    /// disturbance's time limit; without a limit, for the rest of the run.
    Network(NetworkConditions),
}

/// A change of the hosts over which clients are spread: add or remove one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostsChange {
    /// Adds the host, which gets its share of the clients.
    Add,
    /// Removes the host, whose clients move to the other hosts.
    Remove,
}

impl HostsChange {
    /// Returns the change in the form in which users write it in a plan, such as `add`.
    pub fn written(self) -> &'static str {
        match self {
            HostsChange::Add => "add",
            HostsChange::Remove => "remove",
        }
    }
}

/// A host that clients use, given by its name or as the number of a cluster node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// A host by name or address, with a port if it is not the default.
    Host(Host),
    /// A node of the managed cluster, counted from 1.
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

/// Limit on the length of a statement or command in a report, in characters. Longer ones are
/// shortened; the plan keeps the full text.
const TOLD_LETTERS: usize = 60;

impl Action {
    /// Whether the action controls a managed server or a node of a managed cluster, for example
    /// restarts or kills it.
    pub fn is_of_server(&self) -> bool {
        matches!(self, Action::Server(_) | Action::Node { .. } | Action::Join)
    }

    /// Describes the action of a disturbance in one short line for reports.
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

/// A planned action during a run, once or repeatedly. Its times count from the start of the
/// measured phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disturbance {
    /// Name that the user gave to the disturbance.
    pub name: String,
    /// Time of the first execution, in nanoseconds from the start of the measured phase.
    pub at_ns: u64,
    /// Time between the starts of two executions, in nanoseconds; `None` if the disturbance is
    /// executed only once.
    pub every_ns: Option<u64>,
    /// End of the disturbance, in nanoseconds from the start of the measured phase: no execution
    /// starts after it, and a running one is cut off. `None` if only the end of the load ends it.
    pub until_ns: Option<u64>,
    /// Time limit of one execution, in nanoseconds, after which it is cut off; `None` for no limit.
    pub limit_ns: Option<u64>,
    /// Action that each execution of the disturbance performs.
    pub action: Action,
}

impl Disturbance {
    /// Returns when execution `nth` of the disturbance, counted from 0, is due, in nanoseconds from
    /// the start of the measured phase. `None` if the disturbance is not repeated that often.
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

    /// Returns the number of executions that are due before `end_ns`, in nanoseconds from the start
    /// of the measured phase.
    pub fn times_before(&self, end_ns: u64) -> u64 {
        let end_ns = self.until_ns.unwrap_or(u64::MAX).min(end_ns);
        match (end_ns.checked_sub(self.at_ns), self.every_ns) {
            (None | Some(0), _) => 0,
            (Some(_), None) => 1,
            (Some(left_ns), Some(every_ns)) => left_ns.div_ceil(every_ns.max(1)),
        }
    }
}

/// The outcome of one execution of a disturbance, such as a restart of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Disturbed {
    /// The execution of the disturbance has started and not ended yet.
    Running,
    /// The execution of the disturbance has ended without an error.
    Done,
    /// The execution of the disturbance has failed, although parts of its action may have had an
    /// effect.
    Failed {
        /// Error message of the failed action, or another reason for the failure.
        why: String,
    },
    /// The execution of the disturbance was cut off by a time limit.
    CutOff {
        /// Description of the time limit that cut the execution off.
        why: String,
    },
    /// The execution of the disturbance was not started, because the previous one was still running
    /// or the load had ended.
    Skipped {
        /// Reason why the execution was not started, such as that the previous one still ran.
        why: String,
    },
}

/// Report on one execution of a disturbance, sent when it starts and again when it ends; only once
/// if it was skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisturbanceEvent {
    /// Index of the disturbance in the plan, from 0.
    pub index: u16,
    /// Index of this execution of the disturbance, from 0.
    pub nth: u32,
    /// Name of the disturbance in the plan.
    pub name: String,
    /// Description of the disturbance's action in one short line.
    pub what: String,
    /// Start of the execution, in nanoseconds from the start of the measured phase; its due time if
    /// it was not started.
    pub began_ns: i64,
    /// End of the execution, in nanoseconds from the start of the measured phase; `None` while it
    /// runs, and if it was skipped.
    pub ended_ns: Option<i64>,
    /// Outcome of the execution so far; [`Disturbed::Running`] in the first event.
    #[serde(flatten)]
    pub outcome: Disturbed,
    /// Last 4 KiB of the shell command's output, or the number of rows that the SQL changed, such
    /// as `3 rows affected`; empty if there was none.
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
