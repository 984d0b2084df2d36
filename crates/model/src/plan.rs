//! The decided plan of a run: every parameter has a value, and there are no defaults left to
//! resolve.
//!
//! Not here: TOML, flags and defaults (plan), which are parsed once into this.

use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    AgentShare, ArrivalRate, DbError, DbErrorKind, Disturbance, NetworkConditions, Placement,
    Settle, Stored, Target, choice,
};

/// Distribution of the gaps between arrivals in open load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Exponentially distributed gaps between arrivals, as between independent users.
    Poisson,
    /// Equal gaps between all arrivals.
    Uniform,
}

choice!(Arrivals { Poisson = "poisson", Uniform = "uniform" });

/// Treatment of an arrival in open load that finds the queue full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueFull {
    /// The arrival is dropped and counted, and the run continues.
    Drop,
    /// The run is stopped when the first arrival finds the queue full.
    Stop,
}

choice!(QueueFull { Drop = "drop", Stop = "stop" });

/// Treatment of the arrivals that still wait in the queue when the measured phase ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueAtEnd {
    /// They are executed in the drain.
    #[default]
    Serve,
    /// They are not executed, and count as unfinished.
    Leave,
}

choice!(QueueAtEnd { Serve = "serve", Leave = "leave" });

/// The load model without its parameters: closed, open or key/think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadModel {
    /// Closed load: each client starts its next transaction as soon as the previous one has ended.
    Closed,
    /// Open load: transactions arrive at a given rate.
    Open,
    /// Key/think load: clients pause before each transaction, as if they typed, and after it, as if
    /// they read.
    KeyThink,
}

choice!(LoadModel { Closed = "closed", Open = "open", KeyThink = "keythink" });

/// Names of the workload parameters that set pauses before and after transactions.
const PAUSES: [&str; 2] = ["keying", "thinking"];

/// A load model with its parameters: the way in which transactions come to the clients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "snake_case")]
pub enum Load {
    /// Closed load: each client starts its next transaction as soon as the previous one has ended.
    Closed,
    /// Open load: transactions arrive at a given rate, however fast the database answers.
    Open {
        /// Distribution of the gaps between arrivals: random (Poisson) or equal.
        arrivals: Arrivals,
        /// Rate of arrivals, constant or changing over time, summed over the clients of all
        /// processes.
        #[serde(rename = "rate_per_s")]
        rate: ArrivalRate,
        /// Limit on the number of arrivals that wait in the queue for a free client. `queue_full`
        /// says what happens to further arrivals.
        queue: u64,
        /// Treatment of an arrival that finds the queue full: drop it, or stop the run.
        queue_full: QueueFull,
        /// Longest wait in the queue, in nanoseconds: an arrival that has waited longer when a
        /// client is free is dropped. `None` if there is no limit, and in older runs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queue_wait_ns: Option<u64>,
        /// Treatment of the arrivals that wait when the measured phase ends; served in older runs.
        #[serde(default, skip_serializing_if = "is_served")]
        queue_at_end: QueueAtEnd,
    },
    /// Key/think load: each client pauses for a keying time before and a think time after each
    /// transaction, as its workload defines.
    #[serde(rename = "keythink")]
    KeyThink {
        /// Factor by which the workload's keying and think times are multiplied; 1 leaves them as
        /// they are.
        scale: f64,
    },
}

fn is_served(queue_at_end: &QueueAtEnd) -> bool {
    *queue_at_end == QueueAtEnd::Serve
}

impl Load {
    /// Returns the load model without its parameters: closed, open or key/think.
    pub fn model(&self) -> LoadModel {
        match self {
            Load::Closed => LoadModel::Closed,
            Load::Open { .. } => LoadModel::Open,
            Load::KeyThink { .. } => LoadModel::KeyThink,
        }
    }

    /// Whether the workload parameter with this name, such as `thinking`, has no effect with this
    /// load: it sets a pause, and only clients in key/think load pause.
    pub fn ignores(&self, parameter: &str) -> bool {
        !matches!(self, Load::KeyThink { .. }) && PAUSES.contains(&parameter)
    }

    /// Converts an arrival rate in bytes or records per second to arrivals per second, if each
    /// transaction stores the volume `stored`. Returns the load unchanged if there is no volume, or
    /// if it is not open load.
    pub fn of_transactions(&self, stored: Option<Stored>) -> Load {
        match (self.clone(), stored) {
            (mut load @ Load::Open { .. }, Some(stored)) => {
                if let Load::Open { rate, .. } = &mut load {
                    *rate = rate.of_transactions(stored);
                }
                load
            }
            (load, _) => load,
        }
    }
}

/// The condition that ends the load of a group in the measured phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCondition {
    /// Ends the load when the planned time of the measured phase is over.
    Time,
    /// Ends the load when the clients of the group together have been offered this many
    /// transactions in the measured phase.
    Transactions(u64),
    /// Ends the load when each client of the group has been offered this many transactions in the
    /// measured phase.
    TransactionsPerClient(u64),
    /// Ends the load when each client of the group has been offered the last transaction of its
    /// sequence; see [`Workload::sequence`](crate::Workload::sequence).
    Sequence,
}

/// When the clients of a group connect to the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Connections {
    /// Each client connects once, before the load, and keeps its connection.
    #[default]
    Kept,
    /// Each client connects before each transaction, and disconnects after it.
    PerTransaction,
}

choice!(Connections { Kept = "once", PerTransaction = "transaction" });

/// What happens to a run if one of its agents is lost during the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgentLoss {
    /// The run ends early, as failed.
    #[default]
    Fail,
    /// The other agents go on. The run says which agent is missing from when on.
    Mark,
}

choice!(AgentLoss { Fail = "fail", Mark = "mark" });

/// A group of clients with the same workload and the same load.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Name of the group in reports.
    pub name: String,
    /// Name of the workload that the clients of the group execute.
    pub workload: String,
    /// Text of the workload's script, if the plan itself has it; `None` if the workload is compiled
    /// in, or its name is the path of a file.
    pub script: Option<String>,
    /// Server of the clients of the group, as the user wrote it, if it is not the plan's target but
    /// another host of the same data, such as a replica; see [`Group::target_beside`].
    pub target: Option<Target>,
    /// Number of clients of the group, over all its processes.
    pub clients: u32,
    /// Number of separate client processes among which the clients are divided; 0 if they run in
    /// the main process.
    pub processes: u32,
    /// Load model of the group with its parameters, the same for all its clients.
    pub load: Load,
    /// Whether each client keeps one connection, or makes one for each transaction.
    pub connections: Connections,
    /// Condition that ends the load of the group: a time or a number of transactions.
    pub stop_condition: StopCondition,
    /// Parameters of the workload as the user would write them, as pairs of name and value.
    pub parameters: Vec<(String, String)>,
}

impl Plan {
    /// Returns the target of the plan, and those of groups that have another one.
    pub fn targets(&self) -> impl Iterator<Item = Target> {
        let beside = self.groups.iter().filter_map(|group| group.target_beside(&self.target));
        std::iter::once(self.target.clone()).chain(beside)
    }
}

impl Group {
    /// Returns the server of the group's clients if it is not the plan's target, `main`. User,
    /// password and database that its URL does not name are those of `main`; the password only for
    /// the same user.
    pub fn target_beside(&self, main: &Target) -> Option<Target> {
        let mut target = self.target.clone()?;
        if target.user.is_none() {
            target.user.clone_from(&main.user);
        }
        if target.password.is_none() && target.user == main.user {
            target.password.clone_from(&main.password);
        }
        if target.path.is_empty() {
            target.path.clone_from(&main.path);
        }
        Some(target)
    }
}

/// Planned durations of the phases of a run, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases {
    /// Length of the ramp-up, whose load is not measured, in nanoseconds.
    pub ramp_up_ns: u64,
    /// Length of the measured phase, in nanoseconds. If a number of transactions ends the load,
    /// this is only an upper limit, and 0 means no limit.
    pub measure_ns: u64,
    /// Time limit for running and queued transactions to finish after the measured phase (the
    /// drain), in nanoseconds.
    pub drain_ns: u64,
}

/// Rules for transactions that end with an error: which errors are ignored, and which transactions
/// are retried, how often and after which pauses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Errors with which a transaction counts as finished.
    pub ignored: Vec<RetryOn>,
    /// Limit on the attempts of a transaction, including the first; 1 means no retries.
    pub attempts: u32,
    /// Errors after which a failed transaction is retried.
    pub on: Vec<RetryOn>,
    /// Mean of the pause before the first retry, in nanoseconds; it doubles with each further
    /// retry. Each pause is drawn uniformly from half to one and a half times the mean.
    pub backoff_ns: u64,
}

impl Retry {
    /// Whether a transaction that failed with this error is to be retried, as long as attempts are
    /// left.
    pub fn covers(&self, db_error: &DbError) -> bool {
        self.on.iter().any(|on| on.covers(db_error))
    }

    /// Whether a transaction that ended with this error counts as finished.
    pub fn ignores(&self, db_error: &DbError) -> bool {
        self.ignored.iter().any(|ignored| ignored.covers(db_error))
    }
}

/// Errors after which a transaction is retried, or which are ignored: all of one kind, or all with
/// one code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetryOn {
    /// Every error of this kind, such as a deadlock.
    Kind(DbErrorKind),
    /// Every error with this error number of the database product, or with this SQLSTATE.
    Code(String),
}

impl RetryOn {
    /// Reads an error number of up to six digits, or an SQLSTATE of five capitals and digits;
    /// `None` for anything else.
    pub fn by_code(word: &str) -> Option<RetryOn> {
        let is_number = word.len() <= 6 && word.bytes().all(|byte| byte.is_ascii_digit());
        let of_state = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
        let is_state = word.len() == 5 && word.bytes().all(of_state);
        (!word.is_empty() && (is_number || is_state)).then(|| RetryOn::Code(word.to_owned()))
    }

    /// Returns the name of the error kind, such as `deadlock`, or the code, as users write it in a
    /// plan.
    pub fn name(&self) -> &str {
        match self {
            RetryOn::Kind(kind) => kind.name(),
            RetryOn::Code(code) => code,
        }
    }

    /// Whether this is the kind or the code of an error. An error that breaks the session has no
    /// code.
    pub fn covers(&self, db_error: &DbError) -> bool {
        match self {
            RetryOn::Kind(kind) => *kind == db_error.kind,
            // An error that breaks the session is neither retried nor ignored by its code.
            RetryOn::Code(_) if db_error.kind.breaks_session() => false,
            RetryOn::Code(code) => *code == db_error.sqlstate || code.parse() == Ok(db_error.code),
        }
    }
}

/// Range and resolution of the histograms that a run records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Upper end of the range of the histograms, in nanoseconds. Longer times are counted as
    /// overflow.
    pub histogram_max_ns: u64,
    /// Length, in seconds, of the windows of time by which the run records histograms of service
    /// time, wait and lag: one histogram of each kind per window.
    pub window_seconds: u32,
}

/// Limits on the pace at which clients connect before the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Connect {
    /// Limit on new connections per second, over all clients; `None` for no limit.
    pub rate_per_s: Option<f64>,
    /// Limit on the number of connection attempts at the same time. With event loops it is divided
    /// among the loops, but each loop may make at least one attempt at a time.
    pub at_once: u32,
}

impl Default for Connect {
    /// Returns the default: no limit on the rate, and 32 attempts at the same time, since servers
    /// often limit pending connections to 50 or 100.
    fn default() -> Connect {
        Connect { rate_per_s: None, at_once: 32 }
    }
}

/// Where clients run, as the user chose: the placement itself, or automatic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacementChoice {
    /// The placement that dbdyno chooses by the load, the number of clients, and what workload and
    /// driver support.
    Auto,
    /// The placement that the user has chosen.
    Fixed(Placement),
}

choice!(PlacementChoice {
    Auto = "auto",
    Fixed(Placement::Thread) = "thread",
    Fixed(Placement::Loop) = "loop",
    Fixed(Placement::Simulated) = "simulated",
});

/// Interface of the kernel by which event loops wait for their sockets, as the user chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventLoopChoice {
    /// What dbdyno chooses: `io_uring` for many clients if the kernel permits it, else `epoll`.
    #[default]
    Auto,
    /// `epoll`: a system call for each request and each reply.
    Epoll,
    /// `io_uring`: requests and replies of several clients share a system call.
    IoUring,
}

choice!(EventLoopChoice { Auto = "auto", Epoll = "epoll", IoUring = "io_uring" });

/// Which system and database metrics are read once per second during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MonitorScope {
    /// Reads no metrics at all.
    Off,
    /// Metrics of machine, generator and server, and the database counters that the driver selects.
    #[default]
    Default,
    /// Reads the same metrics as by default, and all other counters that the database has.
    All,
}

choice!(
    MonitorScope { Default = "default", All = "all", Off = "off" }
    formerly { "chosen" = Default, "none" = Off }
);

/// Plan of a run, in which every parameter has its final value.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of the plan in reports.
    pub name: String,
    /// Seed of all random numbers of the run.
    pub seed: u64,
    /// The database to measure. A stored plan does not contain its password.
    pub target: Target,
    /// Server settings that dbdyno changes by SQL for the run, as pairs of name and value, in the
    /// order given. Settings of a managed server are options of its target instead.
    pub settings: Vec<(String, String)>,
    /// Planned durations of ramp-up, measured phase and drain.
    pub phases: Phases,
    /// Groups of clients, in the order of their indexes.
    pub groups: Vec<Group>,
    /// Hosts among which the clients of all groups are divided, by their agents; empty if the
    /// clients run on this host. Each agent is one of the processes of each group.
    pub agents: Vec<AgentShare>,
    /// What happens to the run if an agent is lost during the load.
    pub agent_loss: AgentLoss,
    /// Names of agents whose hosts are monitored during the run, such as the server's host. They
    /// execute no clients.
    pub monitor_agents: Vec<String>,
    /// Where clients run: on threads, on event loops, in virtual time, or where dbdyno chooses.
    pub placement: PlacementChoice,
    /// Interface of the kernel by which event loops wait; without effect on other placements.
    pub event_loop: EventLoopChoice,
    /// Whether each event loop is pinned to a CPU of its own, if there are enough CPUs.
    pub pin: bool,
    /// Limits on the pace at which clients connect before the load.
    pub connect: Connect,
    /// Delay and bandwidth of the simulated network between clients and server.
    pub network: NetworkConditions,
    /// Rules for the retry of failed transactions.
    pub retry: Retry,
    /// Range and resolution of the histograms that the run records.
    pub recording: Recording,
    /// Length of the intervals for which the report has response time percentiles, in seconds.
    pub interval_seconds: u32,
    /// Which system and database metrics are read once per second during the run.
    pub monitor: MonitorScope,
    /// Whether optional counters and instruments of the server are switched on for the run
    /// (`--instruments`).
    pub instruments: bool,
    /// Whether call stacks of server and generator are sampled in the measured phase
    /// (`--cpu-profile`).
    pub cpu_profile: bool,
    /// Whether the database is settled before or after the load. To settle means to make the server
    /// finish background work, such as a checkpoint.
    pub settle: Settle,
    /// Time limit for making the server finish its background work, before the load and again after
    /// it, in nanoseconds.
    pub settle_limit_ns: u64,
    /// Disturbances, such as killing the server, that the run executes.
    pub disturbances: Vec<Disturbance>,
}

/// Deserializes the parameters of a workload from a stored plan, and replaces names that earlier
/// versions of dbdyno used by those of today.
pub(crate) fn todays_parameters<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<(String, String)>, D::Error> {
    let mut parameters = Vec::<(String, String)>::deserialize(from)?;
    for (name, _) in &mut parameters {
        if name == "calls" {
            "mode".clone_into(name);
        }
    }
    Ok(parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_tried_again_is_named_by_kind_number_or_sqlstate() {
        let failed_with = |kind, code, sqlstate: &str| {
            let sqlstate = sqlstate.to_owned();
            DbError { code, sqlstate, ..DbError::new(kind, "no") }
        };
        let conflict = failed_with(DbErrorKind::Other, 3101, "40000");
        let covers = |word: &str, db_error: &DbError| {
            RetryOn::by_code(word).expect("a number or a SQLSTATE").covers(db_error)
        };
        assert!(covers("3101", &conflict) && covers("40000", &conflict));
        assert!(!covers("1205", &conflict) && !covers("40001", &conflict));
        assert!(RetryOn::Kind(DbErrorKind::Other).covers(&conflict));
        // SQLite and others have no SQLSTATE, and errors raised by dbdyno have no number.
        assert!(!covers("3101", &DbError::new(DbErrorKind::Other, "no")));
        assert!(!covers("3101", &failed_with(DbErrorKind::ConnectionLost, 3101, "40000")));
        for word in ["", "1234567", "4000", "4000a", "40 00", "-1", "deadlock"] {
            let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
            assert_eq!(RetryOn::by_code(word).is_some(), is_number && word.len() < 7, "{word}");
        }
    }
}
