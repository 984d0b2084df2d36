//! The parameters of a plan and of a group: flags, TOML keys, help and docs derive from here.

use model::{Parameter, ParameterKind};

/// One row: where it stands in a plan, and its flag.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its path in TOML, within the plan or within a `[[group]]`.
    pub path: &'static str,
    /// What it takes; its name is that of the flag.
    pub parameter: Parameter,
}

const fn new(
    path: &'static str,
    name: &'static str,
    kind: ParameterKind,
    default: &'static str,
    help: &'static str,
) -> Row {
    Row { path, parameter: Parameter { name, kind, default, help, shapes_data: false } }
}

const ANY_COUNT: ParameterKind = ParameterKind::Count { min: 0, max: u64::MAX };

/// The plan's own parameters.
pub static PLAN: &[Row] = &[
    new("name", "name", ParameterKind::Text, "", "Name of the plan, shown with its runs"),
    new("seed", "seed", ANY_COUNT, "1", "Seed of all randomness: data, inputs and arrivals"),
    new(
        "target.url",
        "target",
        ParameterKind::Text,
        "",
        "Database to measure, as a URL [default: an embedded SQLite file of the workload]",
    ),
    new(
        "placement",
        "placement",
        ParameterKind::Choice(&["auto", "thread", "loop", "simulated"]),
        "auto",
        "How clients run: a thread each, event loops, or virtual time (sim: only)",
    ),
    new(
        "pin",
        "pin",
        ParameterKind::Switch,
        "true",
        "Pin each event loop to a CPU of its own, if there are enough CPUs",
    ),
    new("phases.ramp_up", "ramp_up", ParameterKind::Duration, "2s", "Load before measuring begins"),
    new("phases.measure", "duration", ParameterKind::Duration, "30s", "Load that is measured"),
    new(
        "phases.drain",
        "drain",
        ParameterKind::Duration,
        "10s",
        "Time limit for transactions still running at the end; beyond it they count as unfinished",
    ),
    new(
        "connect.rate",
        "connect_rate",
        ParameterKind::Rate,
        "",
        "New connections per second before the load begins [default: unlimited]",
    ),
    new(
        "connect.at_once",
        "connect_at_once",
        ParameterKind::Count { min: 1, max: 100_000 },
        "32",
        "Connections opened at the same time before the load begins",
    ),
    new(
        "retry.attempts",
        "attempts",
        ParameterKind::Count { min: 1, max: 1000 },
        "10",
        "Attempts per transaction that fails with a retryable error, the first included",
    ),
    new(
        "retry.backoff",
        "backoff",
        ParameterKind::Duration,
        "1ms",
        "Mean pause before the second attempt; doubles with each further attempt",
    ),
    new(
        "retry.on",
        "retry_on",
        ParameterKind::Text,
        "deadlock,lock_timeout,serialization,busy",
        "Database errors to retry, by name",
    ),
    new(
        "recording.histogram_max",
        "histogram_max",
        ParameterKind::Duration,
        "1h",
        "Longest time that histograms record; longer ones are counted as overflow",
    ),
    new(
        "recording.report_interval",
        "report_interval",
        ParameterKind::Duration,
        "10s",
        "Length of the intervals in which the report shows rate, times, waits and errors",
    ),
    new(
        "recording.monitor",
        "monitor",
        ParameterKind::Choice(&["default", "all", "off"]),
        "default",
        "System and database metrics to read once per second: machine, generator, server and the \
         main database counters; all database counters; or nothing",
    ),
    new(
        "experiment.repeat",
        "repeat",
        ParameterKind::Text,
        "1",
        "Trials of each point of an experiment (--vary); alone, repeats a run. Or a stop condition: \
         until=2% or until=decided, with max=20, min=4, figure=p99, min_effect=1%",
    ),
    new(
        "experiment.repeat_restart",
        "repeat_restart",
        ParameterKind::Text,
        "1",
        "Starts of the server, each with the trials of --repeat (managed servers, sqlite, sim); or \
         a stop condition, as --repeat",
    ),
    new(
        "experiment.repeat_rebuild",
        "repeat_rebuild",
        ParameterKind::Text,
        "1",
        "Builds of the data, each with the starts or trials of the other repeats; or a stop \
         condition, as --repeat",
    ),
    new(
        "experiment.order",
        "order",
        ParameterKind::Choice(&["interleaved", "random", "sequential"]),
        "interleaved",
        "Order of trials: all points in turn, random, or one point after the other",
    ),
    new(
        "experiment.data",
        "data",
        ParameterKind::Choice(&["keep", "rebuild", "copy"]),
        "keep",
        "Data policy between trials: keep the data, rebuild them, or restore a copy of the first \
         build (managed servers)",
    ),
    new(
        "experiment.pause",
        "pause",
        ParameterKind::Duration,
        "0s",
        "Pause before each trial except the first",
    ),
    new(
        "experiment.until",
        "wait_until",
        ParameterKind::Text,
        "",
        "Query to repeat before each trial until its first value is true or nonzero",
    ),
    new(
        "experiment.until_at_most",
        "wait_at_most",
        ParameterKind::Duration,
        "2m",
        "Time limit of --wait-until; the trial then runs anyway, with a finding",
    ),
    new(
        "experiment.seek",
        "seek",
        ParameterKind::Text,
        "",
        "Search for the highest value at which the objectives hold: rate=100..5000, clients=1..64",
    ),
    new(
        "experiment.objectives",
        "objective",
        ParameterKind::Text,
        "",
        "Objectives of a search: 'p99<20ms', 'errors<0.1%'; separate several by commas",
    ),
    new(
        "experiment.seek_budget",
        "seek_budget",
        ParameterKind::Duration,
        "10m",
        "Total load time of a search, ramp-ups included; it determines the length of the probes",
    ),
];

/// The parameters of each group.
pub static GROUP: &[Row] = &[
    new("name", "group", ParameterKind::Text, "", "Name of the group [default: its workload]"),
    new("workload", "workload", ParameterKind::Text, "", "Workload of its clients"),
    new(
        "clients",
        "clients",
        ParameterKind::Count { min: 1, max: 1_000_000 },
        "4",
        "Simulated users",
    ),
    new(
        "load.model",
        "load",
        ParameterKind::Choice(&["closed", "open", "keythink"]),
        "closed",
        "Load model: next transaction at once, at a rate, or after keying and think times",
    ),
    new(
        "load.rate",
        "rate",
        ParameterKind::ArrivalRate,
        "",
        "Transactions offered per second in open load: 500, 30000/min, 'ramp 100 to 3000 over 60s', \
         'sine 1000 swing 500 every 60s', 'steps 500 for 30s, 2000', or 'file rates.csv' with \
         lines of second and rate",
    ),
    new(
        "load.arrivals",
        "arrivals",
        ParameterKind::Choice(&["poisson", "uniform"]),
        "poisson",
        "Time between arrivals in open load: exponentially distributed, or constant",
    ),
    new(
        "load.queue",
        "queue",
        ParameterKind::Count { min: 0, max: 100_000_000 },
        "10000",
        "Arrivals that may wait for a free client in open load",
    ),
    new(
        "load.queue_full",
        "queue_full",
        ParameterKind::Choice(&["drop", "stop"]),
        "drop",
        "Action when the queue is full: drop and count the arrival, or stop the run",
    ),
    new(
        "load.scale",
        "keythink_scale",
        ParameterKind::Number { min: 0.000_001, max: 1000.0 },
        "1",
        "Factor for all keying and think times in keythink load",
    ),
    new(
        "until",
        "transactions",
        ParameterKind::Text,
        "",
        "Measure until this many transactions were offered, instead of for a duration \
         ('1000 per client' counts per client)",
    ),
];

/// The keys of each disturbance. None has a flag.
pub static AT: &[Row] = &[
    new(
        "time",
        "time",
        ParameterKind::Duration,
        "",
        "Start time, counted from the beginning of the measured phase",
    ),
    new("name", "name", ParameterKind::Text, "", "Name [default: its action]"),
    new(
        "sql",
        "sql",
        ParameterKind::Text,
        "",
        "A statement, or a list of them, on a separate connection",
    ),
    new(
        "command",
        "command",
        ParameterKind::Text,
        "",
        "A shell command (sh -c) on the generator's machine",
    ),
    new(
        "server",
        "server",
        ParameterKind::Text,
        "",
        "Action on a managed server: restart, kill, 'pause 5s', stop or start; a cluster: join",
    ),
    new(
        "node",
        "node",
        ParameterKind::Count { min: 1, max: 64 },
        "",
        "Node of a managed cluster, numbered from 1 in the order in which they joined",
    ),
    new(
        "hosts",
        "hosts",
        ParameterKind::Text,
        "",
        "Change of the hosts that clients use: 'add db3:3307' or 'remove db1' (with node: add or \
         remove)",
    ),
    new("for", "for", ParameterKind::Duration, "", "Time limit, after which it is cut off"),
    new("every", "every", ParameterKind::Duration, "", "Repeat interval"),
    new(
        "until",
        "until",
        ParameterKind::Duration,
        "",
        "End time: not repeated after it, and cut off if still running",
    ),
];

/// The row with this path.
pub fn row(table: &'static [Row], path: &str) -> Option<&'static Row> {
    table.iter().find(|row| row.path == path)
}
