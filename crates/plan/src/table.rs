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
        "Where clients live: a thread each, event loops, or virtual time (sim: only)",
    ),
    new(
        "pin",
        "pin",
        ParameterKind::Switch,
        "true",
        "Each event loop stays on a CPU of its own, if there are as many as may be used",
    ),
    new("phases.ramp_up", "ramp_up", ParameterKind::Duration, "2s", "Load before measuring begins"),
    new("phases.measure", "duration", ParameterKind::Duration, "30s", "Load that is measured"),
    new(
        "phases.drain",
        "drain",
        ParameterKind::Duration,
        "10s",
        "How long what is under way at the end may take, before it counts as unfinished",
    ),
    new(
        "connect.rate",
        "connect_rate",
        ParameterKind::Rate,
        "",
        "New connections a second before the load begins [default: as fast as they are made]",
    ),
    new(
        "connect.at_once",
        "connect_at_once",
        ParameterKind::Count { min: 1, max: 100_000 },
        "32",
        "Connections being made at the same time before the load begins",
    ),
    new(
        "retry.attempts",
        "attempts",
        ParameterKind::Count { min: 1, max: 1000 },
        "10",
        "Attempts a transaction has when it is refused for a conflict, the first included",
    ),
    new(
        "retry.backoff",
        "backoff",
        ParameterKind::Duration,
        "1ms",
        "Mean pause before the second attempt; it doubles with each further one",
    ),
    new(
        "retry.on",
        "retry_on",
        ParameterKind::Text,
        "deadlock,lock_timeout,serialization,busy",
        "Refusals that are tried again, by name",
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
        "Trials of each point of an experiment (--vary); alone, repeats a run. Or until when: \
         until=2% or until=decided, with max=20, min=4, figure=p99, min_effect=1%",
    ),
    new(
        "experiment.repeat_restart",
        "repeat_restart",
        ParameterKind::Text,
        "1",
        "Starts of the server, each with as many trials as repeat says (managed servers, sqlite, \
         sim); or until when, as repeat",
    ),
    new(
        "experiment.repeat_rebuild",
        "repeat_rebuild",
        ParameterKind::Text,
        "1",
        "Builds of the data, each with as many starts or trials as the other repeats say; or until \
         when, as repeat",
    ),
    new(
        "experiment.order",
        "order",
        ParameterKind::Choice(&["interleaved", "random", "sequential"]),
        "interleaved",
        "Order of trials: all points in turn, in a drawn order, or one point after the other",
    ),
    new(
        "experiment.data",
        "data",
        ParameterKind::Choice(&["keep", "rebuild", "copy"]),
        "keep",
        "What becomes of the data before each trial: they stay, are built anew, or are put back \
         from a copy of the first ones (managed servers)",
    ),
    new(
        "experiment.pause",
        "pause",
        ParameterKind::Duration,
        "0s",
        "Pause before each trial but the first",
    ),
    new(
        "experiment.until",
        "wait_until",
        ParameterKind::Text,
        "",
        "A query that is asked before each trial until its first value is true or not 0",
    ),
    new(
        "experiment.until_at_most",
        "wait_at_most",
        ParameterKind::Duration,
        "2m",
        "How long that is waited for; the trial is made then all the same, with a finding",
    ),
    new(
        "experiment.seek",
        "seek",
        ParameterKind::Text,
        "",
        "Seek the highest value at which the objectives hold: rate=100..5000, clients=1..64",
    ),
    new(
        "experiment.objectives",
        "objective",
        ParameterKind::Text,
        "",
        "What must hold of what is sought: 'p99<20ms', 'errors<0.1%'; several with a comma between",
    ),
    new(
        "experiment.seek_budget",
        "seek_budget",
        ParameterKind::Duration,
        "10m",
        "Load of a search in all, ramp-ups included; measured phases are as long as it allows",
    ),
];

/// The parameters of each group.
pub static GROUP: &[Row] = &[
    new("name", "group", ParameterKind::Text, "", "Name of the group [default: its workload]"),
    new("workload", "workload", ParameterKind::Text, "", "What its clients do"),
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
        "How load is offered: again at once, at a rate, or after keying and thinking",
    ),
    new(
        "load.rate",
        "rate",
        ParameterKind::ArrivalRate,
        "",
        "Transactions offered a second in open load: 500, 30000/min, 'ramp 100 to 3000 over 60s', \
         'sine 1000 swing 500 every 60s', 'steps 500 for 30s, 2000', or 'file rates.csv' with \
         lines of second and rate",
    ),
    new(
        "load.arrivals",
        "arrivals",
        ParameterKind::Choice(&["poisson", "uniform"]),
        "poisson",
        "Gaps between arrivals in open load: exponential, or all equal",
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
        "What an arrival does that finds the queue full: it is dropped and counted, or ends the run",
    ),
    new(
        "load.scale",
        "keythink_scale",
        ParameterKind::Number { min: 0.000_001, max: 1000.0 },
        "1",
        "All keying and thinking times are multiplied by this in keythink load",
    ),
    new(
        "until",
        "transactions",
        ParameterKind::Text,
        "",
        "Measure until this many transactions were offered, instead of for a time \
         ('1000 per client' counts each client's own)",
    ),
];

/// The keys of each disturbance. None has a flag.
pub static AT: &[Row] = &[
    new(
        "time",
        "time",
        ParameterKind::Duration,
        "",
        "When it is done, counted from the beginning of the measured phase",
    ),
    new("name", "name", ParameterKind::Text, "", "Its name [default: what is done]"),
    new(
        "sql",
        "sql",
        ParameterKind::Text,
        "",
        "A statement, or a list of them, on a connection of its own",
    ),
    new(
        "command",
        "command",
        ParameterKind::Text,
        "",
        "A command for the shell (sh -c) of the generator's machine",
    ),
    new(
        "server",
        "server",
        ParameterKind::Text,
        "",
        "What is done to a managed server: restart, kill, 'pause 5s', stop or start; a cluster: join",
    ),
    new(
        "node",
        "node",
        ParameterKind::Count { min: 1, max: 64 },
        "",
        "Which node of a managed cluster is meant, from 1 in the order in which they came",
    ),
    new(
        "hosts",
        "hosts",
        ParameterKind::Text,
        "",
        "What becomes of the hosts that clients use: 'add db3:3307' or 'remove db1' (with node: \
         add or remove)",
    ),
    new("for", "for", ParameterKind::Duration, "", "It is cut off when it has taken so long"),
    new("every", "every", ParameterKind::Duration, "", "It is done again and again, so often"),
    new(
        "until",
        "until",
        ParameterKind::Duration,
        "",
        "It is not begun any more from here on, and cut off if it is under way",
    ),
];

/// The row with this path.
pub fn row(table: &'static [Row], path: &str) -> Option<&'static Row> {
    table.iter().find(|row| row.path == path)
}
