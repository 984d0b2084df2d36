//! What is to be done, as decided: complete, seeded, nothing left to guess.
//!
//! Not here: TOML, flags and defaults (plan), which parse once into this.

use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    ArrivalRate, DbError, DbErrorKind, Disturbance, NetworkConditions, Placement, Settle, Stored,
    Target, choice,
};

/// The order in which arrivals come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Exponential gaps: independent users.
    Poisson,
    /// Equal gaps.
    Uniform,
}

choice!(Arrivals { Poisson = "poisson", Uniform = "uniform" });

/// What happens when an arrival finds the queue full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueFull {
    /// It is dropped, and counted.
    Drop,
    /// The run ends there.
    Stop,
}

choice!(QueueFull { Drop = "drop", Stop = "stop" });

/// The name of a way to offer load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadModel {
    /// [`Load::Closed`]
    Closed,
    /// [`Load::Open`]
    Open,
    /// [`Load::KeyThink`]
    KeyThink,
}

choice!(LoadModel { Closed = "closed", Open = "open", KeyThink = "keythink" });

/// How load is offered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "snake_case")]
pub enum Load {
    /// Each client begins again as soon as it has finished.
    Closed,
    /// Transactions arrive at a rate, whatever becomes of them.
    Open {
        /// In which order.
        arrivals: Arrivals,
        /// How many a second, over all agents.
        #[serde(rename = "rate_per_s")]
        rate: ArrivalRate,
        /// How many may wait for a free client.
        queue: u64,
        /// What happens to the next one.
        queue_full: QueueFull,
    },
    /// Each client keys and thinks between transactions, as its workload says.
    #[serde(rename = "keythink")]
    KeyThink {
        /// All times are multiplied by this.
        scale: f64,
    },
}

impl Load {
    /// Its name.
    pub fn model(&self) -> LoadModel {
        match self {
            Load::Closed => LoadModel::Closed,
            Load::Open { .. } => LoadModel::Open,
            Load::KeyThink { .. } => LoadModel::KeyThink,
        }
    }

    /// The same with a rate in arrivals, where a transaction stores so much.
    pub fn of_transactions(&self, stored: Option<Stored>) -> Load {
        match (self.clone(), stored) {
            (Load::Open { arrivals, rate, queue, queue_full }, Some(stored)) => {
                Load::Open { arrivals, rate: rate.of_transactions(stored), queue, queue_full }
            }
            (load, _) => load,
        }
    }
}

/// When a group is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCondition {
    /// At the end of the measured phase.
    Time,
    /// After this many transactions in the measured phase, all clients together.
    Transactions(u64),
    /// After this many of each client in the measured phase.
    TransactionsPerClient(u64),
}

/// Clients that do the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Which workload.
    pub workload: String,
    /// How many clients.
    pub clients: u32,
    /// Among how many processes of their own they are divided; 0 if they live in dbdyno's own.
    pub processes: u32,
    /// How load is offered.
    pub load: Load,
    /// When it is done.
    pub stop_condition: StopCondition,
    /// The workload's parameters as written, every one of them.
    pub parameters: Vec<(String, String)>,
}

/// How long each phase lasts, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases {
    /// Load that is not measured.
    pub ramp_up_ns: u64,
    /// Load that is measured; the limit where a count decides, none if zero then.
    pub measure_ns: u64,
    /// How long what is under way may take to end.
    pub drain_ns: u64,
}

/// When a refused transaction is tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Attempts in all, the first included; 1 means never again.
    pub attempts: u32,
    /// Which database errors are tried again.
    pub on: Vec<RetryOn>,
    /// The mean pause before the next attempt, doubled each time; drawn uniformly around it.
    pub backoff_ns: u64,
}

impl Retry {
    /// Whether a transaction that failed with this error is tried again, if attempts are left.
    pub fn covers(&self, db_error: &DbError) -> bool {
        self.on.iter().any(|on| on.covers(db_error))
    }
}

/// Database errors that are tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetryOn {
    /// All of a kind.
    Kind(DbErrorKind),
    /// Those with this number of the product's, or with this SQLSTATE.
    Code(String),
}

impl RetryOn {
    /// A number of up to six digits or a SQLSTATE of five capitals and digits; none of anything
    /// else.
    pub fn by_code(word: &str) -> Option<RetryOn> {
        let is_number = word.len() <= 6 && word.bytes().all(|byte| byte.is_ascii_digit());
        let of_state = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
        let is_state = word.len() == 5 && word.bytes().all(of_state);
        (!word.is_empty() && (is_number || is_state)).then(|| RetryOn::Code(word.to_owned()))
    }

    /// The name of the kind, or the code.
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

/// How samples are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The longest time that histograms distinguish; longer ones are counted as overflow.
    pub histogram_max_ns: u64,
    /// How many seconds each window of service, wait and lag has.
    pub window_seconds: u32,
}

/// How clients connect before the load begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Connect {
    /// New connections a second, over all clients; none is as fast as they are made.
    pub rate_per_s: Option<f64>,
    /// Connections being made at the same time; on event loops at least one each.
    pub at_once: u32,
}

impl Default for Connect {
    /// A server's backlog of connections that nobody has answered yet is 50 to 100 by default.
    fn default() -> Connect {
        Connect { rate_per_s: None, at_once: 32 }
    }
}

/// Who decides where clients live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacementChoice {
    /// `app`, from what workload and driver can live in and the number of clients.
    Auto,
    /// The user.
    Fixed(Placement),
}

choice!(PlacementChoice {
    Auto = "auto",
    Fixed(Placement::Thread) = "thread",
    Fixed(Placement::Loop) = "loop",
    Fixed(Placement::Simulated) = "simulated",
});

/// Which system and database metrics are read once per second during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MonitorScope {
    /// None at all.
    Off,
    /// Machine, generator, server, and the database counters that the driver selects.
    #[default]
    Default,
    /// As the default, with all counters of the database.
    All,
}

choice!(
    MonitorScope { Default = "default", All = "all", Off = "off" }
    formerly { "chosen" = Default, "none" = Off }
);

/// A plan as decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// All randomness comes from this.
    pub seed: u64,
    /// The database to measure. Stored without its password.
    pub target: Target,
    /// Settings of its server that SQL sets for the run, as written, in order; those of a managed
    /// server are options of its target.
    pub settings: Vec<(String, String)>,
    /// How long.
    pub phases: Phases,
    /// Who.
    pub groups: Vec<Group>,
    /// Where.
    pub placement: PlacementChoice,
    /// Each event loop stays on a CPU of its own, where there is one for each.
    pub pin: bool,
    /// Connecting.
    pub connect: Connect,
    /// The way to the server.
    pub network: NetworkConditions,
    /// Trying again.
    pub retry: Retry,
    /// Keeping samples.
    pub recording: Recording,
    /// How many seconds each stretch of the report has.
    pub interval_seconds: u32,
    /// Which system and database metrics are read.
    pub monitor: MonitorScope,
    /// Whether the server counts, while the run lasts, what it does not count by itself.
    pub instruments: bool,
    /// Whether stacks of server and generator are sampled in the measured phase.
    pub cpu_profile: bool,
    /// When the database is brought to rest.
    pub settle: Settle,
    /// How long that may take, each time.
    pub settle_limit_ns: u64,
    /// What is done to the database meanwhile.
    pub disturbances: Vec<Disturbance>,
}

/// The parameters of a group under today's names, whenever they were stored.
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
