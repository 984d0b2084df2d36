//! The plan as decided: complete, with a seed, without defaults left to resolve.
//!
//! Not here: TOML, flags and defaults (plan), which are parsed once into this.

use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    ArrivalRate, DbError, DbErrorKind, Disturbance, NetworkConditions, Placement, Settle, Stored,
    Target, choice,
};

/// The distribution of arrivals in open load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Exponentially distributed gaps, as of independent users.
    Poisson,
    /// Equal gaps between arrivals.
    Uniform,
}

choice!(Arrivals { Poisson = "poisson", Uniform = "uniform" });

/// The reaction to an arrival that finds the queue full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueFull {
    /// The arrival is dropped, and counted.
    Drop,
    /// The run ends at that instant.
    Stop,
}

choice!(QueueFull { Drop = "drop", Stop = "stop" });

/// The name of a load model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadModel {
    /// Name of closed load, [`Load::Closed`].
    Closed,
    /// Name of open load, [`Load::Open`].
    Open,
    /// Load with keying and think times, [`Load::KeyThink`].
    KeyThink,
}

choice!(LoadModel { Closed = "closed", Open = "open", KeyThink = "keythink" });

/// Names of the parameters for pauses between transactions.
const PAUSES: [&str; 2] = ["keying", "thinking"];

/// A load model with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "snake_case")]
pub enum Load {
    /// Closed load: each client starts its next transaction as soon as it has finished one.
    Closed,
    /// Open load: transactions arrive at a rate, independent of the database.
    Open {
        /// Distribution of the arrivals.
        arrivals: Arrivals,
        /// Arrivals per second, over all agents.
        #[serde(rename = "rate_per_s")]
        rate: ArrivalRate,
        /// Limit on arrivals that wait for a free client.
        queue: u64,
        /// Reaction to an arrival at a full queue.
        queue_full: QueueFull,
    },
    /// Each client keys before and thinks after each transaction, as its workload says.
    #[serde(rename = "keythink")]
    KeyThink {
        /// Factor on keying and think times.
        scale: f64,
    },
}

impl Load {
    /// Returns the name of the load model.
    pub fn model(&self) -> LoadModel {
        match self {
            Load::Closed => LoadModel::Closed,
            Load::Open { .. } => LoadModel::Open,
            Load::KeyThink { .. } => LoadModel::KeyThink,
        }
    }

    /// Returns true for a parameter without effect under this load: a pause, unless clients key and
    /// think.
    pub fn ignores(&self, parameter: &str) -> bool {
        !matches!(self, Load::KeyThink { .. }) && PAUSES.contains(&parameter)
    }

    /// Converts a rate in bytes or records to arrivals, if transactions store a known volume.
    pub fn of_transactions(&self, stored: Option<Stored>) -> Load {
        match (self.clone(), stored) {
            (Load::Open { arrivals, rate, queue, queue_full }, Some(stored)) => {
                Load::Open { arrivals, rate: rate.of_transactions(stored), queue, queue_full }
            }
            (load, _) => load,
        }
    }
}

/// The condition on which a group stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCondition {
    /// End of the measured phase.
    Time,
    /// This many transactions of all clients together in the measured phase.
    Transactions(u64),
    /// This many transactions of each client in the measured phase.
    TransactionsPerClient(u64),
}

/// Clients with the same workload and load.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Name of the group in reports.
    pub name: String,
    /// Name of the workload.
    pub workload: String,
    /// Number of clients in all processes.
    pub clients: u32,
    /// Number of separate processes that share the clients; 0 if they run in the main process.
    pub processes: u32,
    /// Load model of each client.
    pub load: Load,
    /// Condition on which the group stops.
    pub stop_condition: StopCondition,
    /// All parameters of the workload as written, as pairs of name and value.
    pub parameters: Vec<(String, String)>,
}

/// Durations of the phases, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases {
    /// Load that is not measured.
    pub ramp_up_ns: u64,
    /// Load that is measured; an upper limit if a count ends the run, and then 0 is no limit.
    pub measure_ns: u64,
    /// Time limit for running transactions to finish.
    pub drain_ns: u64,
}

/// Retries of failed transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Attempts including the first; 1 means no retries.
    pub attempts: u32,
    /// Errors on which to retry.
    pub on: Vec<RetryOn>,
    /// Mean pause before the first retry, in nanoseconds. Doubles with each retry; pauses are drawn
    /// uniformly around the mean.
    pub backoff_ns: u64,
}

impl Retry {
    /// Whether a transaction that failed with this error is retried, if attempts are left.
    pub fn covers(&self, db_error: &DbError) -> bool {
        self.on.iter().any(|on| on.covers(db_error))
    }
}

/// An error on which transactions are retried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetryOn {
    /// All errors of a kind.
    Kind(DbErrorKind),
    /// Errors with this number of the product, or with this SQLSTATE.
    Code(String),
}

impl RetryOn {
    /// Reads a number of up to six digits or a SQLSTATE of five capitals and digits; `None` for
    /// anything else.
    pub fn by_code(word: &str) -> Option<RetryOn> {
        let is_number = word.len() <= 6 && word.bytes().all(|byte| byte.is_ascii_digit());
        let of_state = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
        let is_state = word.len() == 5 && word.bytes().all(of_state);
        (!word.is_empty() && (is_number || is_state)).then(|| RetryOn::Code(word.to_owned()))
    }

    /// Returns the name of the kind, or the code.
    pub fn name(&self) -> &str {
        match self {
            RetryOn::Kind(kind) => kind.name(),
            RetryOn::Code(code) => code,
        }
    }

    fn covers(&self, db_error: &DbError) -> bool {
        match self {
            RetryOn::Kind(kind) => *kind == db_error.kind,
            // Whatever its number is, it ends the session.
            RetryOn::Code(_) if db_error.kind.breaks_session() => false,
            RetryOn::Code(code) => *code == db_error.sqlstate || code.parse() == Ok(db_error.code),
        }
    }
}

/// Range and resolution of the recorded histograms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Upper end of the histograms' range, in nanoseconds; longer times are counted as overflow.
    pub histogram_max_ns: u64,
    /// Length of the windows of service, wait and lag, in seconds.
    pub window_seconds: u32,
}

/// Pace of connecting before the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Connect {
    /// New connections per second over all clients; `None` for no limit.
    pub rate_per_s: Option<f64>,
    /// Limit on simultaneous connection attempts; on event loops at least one per loop.
    pub at_once: u32,
}

impl Default for Connect {
    /// Below a server's default backlog of pending connections, which is 50 to 100.
    fn default() -> Connect {
        Connect { rate_per_s: None, at_once: 32 }
    }
}

/// The choice of the clients' placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacementChoice {
    /// Chosen by `app`, from the capabilities of workload and driver and the number of clients.
    Auto,
    /// Chosen by the user.
    Fixed(Placement),
}

choice!(PlacementChoice {
    Auto = "auto",
    Fixed(Placement::Thread) = "thread",
    Fixed(Placement::Loop) = "loop",
    Fixed(Placement::Simulated) = "simulated",
});

/// The system and database metrics that are read once per second during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MonitorScope {
    /// Reads no metrics at all.
    Off,
    /// Machine, generator, server, and the database counters that the driver selects.
    #[default]
    Default,
    /// The default and all counters of the database.
    All,
}

choice!(
    MonitorScope { Default = "default", All = "all", Off = "off" }
    formerly { "chosen" = Default, "none" = Off }
);

/// A plan as decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of the plan in reports.
    pub name: String,
    /// Seed of all random draws.
    pub seed: u64,
    /// The database to measure. Stored without its password.
    pub target: Target,
    /// Settings that SQL changes on the server for the run, as written, in order. Those of a
    /// managed server are options of its target instead.
    pub settings: Vec<(String, String)>,
    /// Durations of the phases.
    pub phases: Phases,
    /// Groups of clients, by index.
    pub groups: Vec<Group>,
    /// Placement of the clients.
    pub placement: PlacementChoice,
    /// Each event loop is pinned to a CPU, if there are enough CPUs.
    pub pin: bool,
    /// Pace of connecting before the load.
    pub connect: Connect,
    /// Simulated network between clients and server.
    pub network: NetworkConditions,
    /// Retries of failed transactions.
    pub retry: Retry,
    /// Range and resolution of the recorded histograms.
    pub recording: Recording,
    /// Length of the report's intervals, in seconds.
    pub interval_seconds: u32,
    /// The metrics to read.
    pub monitor: MonitorScope,
    /// The server's optional instruments are switched on during the run.
    pub instruments: bool,
    /// Stacks of server and generator are sampled in the measured phase.
    pub cpu_profile: bool,
    /// Times at which the database is settled.
    pub settle: Settle,
    /// Time limit of each settling, in nanoseconds.
    pub settle_limit_ns: u64,
    /// Disturbances during the run.
    pub disturbances: Vec<Disturbance>,
}

/// Reads the parameters of a group, with former names replaced by today's.
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
        let of = |kind, code, sqlstate: &str| {
            let sqlstate = sqlstate.to_owned();
            DbError { code, sqlstate, ..DbError::new(kind, "no") }
        };
        let conflict = of(DbErrorKind::Other, 3101, "40000");
        let covers = |word: &str, db_error: &DbError| {
            RetryOn::by_code(word).expect("a number or a SQLSTATE").covers(db_error)
        };
        assert!(covers("3101", &conflict) && covers("40000", &conflict));
        assert!(!covers("1205", &conflict) && !covers("40001", &conflict));
        assert!(RetryOn::Kind(DbErrorKind::Other).covers(&conflict));
        // SQLite and others have no SQLSTATE, and errors of ours have no number.
        assert!(!covers("3101", &DbError::new(DbErrorKind::Other, "no")));
        assert!(!covers("3101", &of(DbErrorKind::ConnectionLost, 3101, "40000")));
        for word in ["", "1234567", "4000", "4000a", "40 00", "-1", "deadlock"] {
            let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
            assert_eq!(RetryOn::by_code(word).is_some(), is_number && word.len() < 7, "{word}");
        }
    }
}
