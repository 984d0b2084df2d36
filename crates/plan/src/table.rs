//! Declarations of all parameters of plan, group, disturbance and experiment, each at one place.
//!
//! A declaration has the name (the TOML key; the flag has `-` for `_`), the form of its values, the
//! default, the help text, and a function that reads the value from a decided plan. Flag, key,
//! parsing, printing, help and docs derive from it. Not here: parsing itself (form), and conflicts
//! between parameters (decide, at, seek_plan, vary).

use model::{
    Action, AgentLoss, Arrivals, Connections, DataPolicy, Disturbance, EventLoopChoice, Experiment,
    Group, Load, LoadModel, MonitorScope, Order, Parameter, PlacementChoice, Plan, QueueAtEnd,
    QueueFull, Settle, StopCondition, TuneGoal, TuneStrategy, Which,
};
use toml::{Table, Value};

use crate::bad_plan::BadPlan;
use crate::form::{
    AgentNames, Agents, ByteRate, Count, Duration, DurationWithin, Factor, Few, Form,
    IgnoredErrors, Name, Objectives, Optional, PositiveDuration, Rate, RateOverTime, Retried,
    Seconds, Statements, Switch, Text, Transactions, Url, exact,
};
use crate::repeat_rule::{Repeats, level_of};
use crate::seek_range::{Range, range_of};
use crate::written::{Given, Values, given};

/// Default of `settle_limit` (10 minutes), in nanoseconds.
const SETTLE_LIMIT_NS: u64 = 600 * model::NS_PER_S;
/// Keyword of the action in a disturbance's `server` key by which a new node joins a cluster.
pub(crate) const JOIN: &str = "join";
/// Keys of a `[[group]]` in a plan file without a flag of the same meaning: the flags `--name` and
/// `--target` are of the whole plan, the workload is an argument, and a script has its own flags.
const WITHOUT_FLAG: [&str; 4] = ["name", "workload", "script", "target"];

/// Values of a parameter that a plan from a web page may have (see module `page`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnPage {
    /// Any value is allowed, because none can name a file or start a program.
    AnyValue,
    /// Only values for which the module `page` has a rule are allowed; without a rule, none is.
    Checked,
}

/// A declared parameter, and the function that returns its value in a decided plan or part (`T`)
/// for TOML.
#[derive(Clone, Copy, Debug)]
pub struct Row<T: 'static> {
    /// Name, kind of values, default and help of the parameter.
    pub parameter: Parameter,
    pub(crate) on_page: OnPage,
    print: fn(&T) -> Option<Value>,
}

/// Returns the parameters of a group that are flags: all but its name and workload.
pub fn group_flags() -> impl Iterator<Item = &'static Parameter> {
    let rows = GROUP.iter().map(|row| &row.parameter);
    rows.filter(|row| !WITHOUT_FLAG.contains(&row.name))
}

/// Returns the parameter in `rows` with this name, which may be spelled as a flag or as a key;
/// `None` if there is none.
pub(crate) fn find<T>(rows: &'static [Row<T>], name: &str) -> Option<&'static Parameter> {
    let name = name.replace('-', "_");
    rows.iter().map(|row| &row.parameter).find(|row| row.name == name)
}

/// Returns the TOML table of a decided plan or a part of it, such as a group, with the parameters
/// in `rows`.
pub(crate) fn printed<T>(rows: &[Row<T>], decided: &T) -> Table {
    let pair = |row: &Row<T>| Some((row.parameter.name.to_owned(), (row.print)(decided)?));
    rows.iter().filter_map(pair).collect()
}

/// Expands to the TOML key of a field: the name of the field, or the given key if that is a Rust
/// keyword.
macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

/// Declares the parameters of a plan or of a part of it, such as a group: a static table of them,
/// and a struct of their parsed values.
///
/// Each declaration is `field: Form = "default", OnPage, "help", |decided| value;`. The closure
/// returns the value in a decided plan or part, to be printed. If the value is an `Option`, `None`
/// is not printed.
macro_rules! parameters {
    (
        $(#[$about_table:meta])* $visibility:vis static $table:ident;
        $(#[$about_values:meta])* struct $values:ident;
        of $decided:ty;
        $($field:ident $(as $key:literal)?: $form:ty = $default:literal, $on_page:ident, $help:expr,
            $print:expr;)*
    ) => {
        $(#[$about_table])*
        $visibility static $table: &[Row<$decided>] = &[$(Row {
            parameter: Parameter::option(
                key!($field $($key)?),
                <$form as Form>::KIND,
                $default,
                $help,
            ),
            on_page: OnPage::$on_page,
            print: |decided| {
                let value: fn(&$decided) -> _ = $print;
                let value: Option<<$form as Form>::Value> = value(decided).into();
                <$form as Form>::print(&value?)
            },
        }),*];

        $(#[$about_values])*
        pub(crate) struct $values {
            $(pub(crate) $field: Given<<$form as Form>::Value>,)*
        }

        impl $values {
            /// Parses each parameter that is written, and takes the default of each other
            /// parameter.
            pub(crate) fn read(values: &Values) -> Result<$values, BadPlan> {
                Ok($values {
                    $($field: given::<$form>(values, key!($field $($key)?), $default)?,)*
                })
            }
        }
    };
}

parameters! {
    /// Declarations of the parameters at the top of a plan, such as `duration`.
    pub static PLAN;
    /// Parsed values of the parameters at the top of a plan.
    struct PlanValues;
    of Plan;

    name: Optional<Name> = "", AnyValue, "Name of the plan, shown with its runs",
        |plan| Some(plan.name.clone());
    seed: Count<0, { u64::MAX }> = "1", AnyValue, "Random seed of data, inputs and arrivals",
        |plan| plan.seed;
    target: Optional<Url> = "", Checked,
        "Database to measure, as a URL (schemes: dbdyno list targets; their options: dbdyno list \
         parameters) [default: an embedded database file of the workload]",
        |plan| Some(plan.target.clone());
    placement: PlacementChoice = "auto", AnyValue,
        "How clients run: a thread each, event loops, or virtual time (sim: only)",
        |plan| plan.placement;
    agents: Optional<Agents> = "", AnyValue,
        "Other hosts on which the clients run: a number of agents that have joined the hub, or names \
         with shares, such as gen1,gen2=3 (docs/how-to/several-hosts.md)",
        |plan| (!plan.agents.is_empty()).then(|| Some(plan.agents.clone()));
    agent_loss: AgentLoss = "fail", AnyValue,
        "If an agent is lost during the load: the run fails, or is marked and goes on without it",
        |plan| (plan.agent_loss != AgentLoss::default()).then_some(plan.agent_loss);
    monitor_agents: Optional<AgentNames> = "", AnyValue,
        "Agents whose hosts are monitored too, such as that of the server: CPU, memory, disks, and \
         the server's process (docs/how-to/several-hosts.md)",
        |plan| (!plan.monitor_agents.is_empty()).then(|| Some(plan.monitor_agents.clone()));
    event_loop: EventLoopChoice = "auto", AnyValue,
        "How event loops wait for the server: epoll, or io_uring (Linux 6.1 or newer), with which \
         requests of several clients share a system call",
        |plan| plan.event_loop;
    pin: Switch = "true", AnyValue, "Pin each event loop to its own CPU, if there are enough CPUs",
        |plan| plan.pin;
    ramp_up: Duration = "2s", AnyValue, "Warm-up time before the measured phase",
        |plan| plan.phases.ramp_up_ns;
    duration: Duration = "30s", AnyValue, "Length of the measured phase",
        |plan| (plan.phases.measure_ns > 0).then_some(plan.phases.measure_ns);
    drain: Duration = "10s", AnyValue,
        "Time limit for transactions still running at the end; after it they count as unfinished",
        |plan| plan.phases.drain_ns;
    connect_rate: Optional<Rate> = "", AnyValue,
        "New connections per second before the load begins [default: unlimited]",
        |plan| plan.connect.rate_per_s;
    connect_at_once: Few<1, 100_000> = "32", AnyValue,
        "Maximum number of connections being opened at the same time before the load begins",
        |plan| plan.connect.at_once;
    network_delay: DurationWithin<0, 10> = "0s", AnyValue,
        "Delay added between clients and server, in each direction: a round trip gains twice as \
         much",
        |plan| (plan.network.delay_ns > 0).then_some(plan.network.delay_ns);
    network_bandwidth: Optional<ByteRate> = "", AnyValue,
        "Bandwidth limit between clients and server, in each direction, shared by all clients: \
         10MB/s, 1GiB/s [default: unlimited]",
        |plan| plan.network.bytes_per_s;
    retry_attempts: Few<1, 1000> = "10", AnyValue,
        "Attempts per transaction that fails with a retryable error, the first included",
        |plan| plan.retry.attempts;
    retry_backoff: Duration = "1ms", AnyValue,
        "Mean pause before the second attempt; doubles with each further attempt",
        |plan| plan.retry.backoff_ns;
    retry_on: Retried = "deadlock,lock_timeout,serialization,busy", AnyValue,
        "Database errors to retry, by name, by the server's number or by SQLSTATE",
        |plan| plan.retry.on.clone();
    ignore_errors: Optional<IgnoredErrors> = "", AnyValue,
        "Database errors with which a transaction counts as finished, not as failed, by name, number \
         or SQLSTATE: 1062,23505, or all of them: all; the report counts them apart",
        |plan| (!plan.retry.ignored.is_empty()).then(|| Some(plan.retry.ignored.clone()));
    histogram_max: DurationWithin<1, { 48 * 3600 }> = "1h", AnyValue,
        "Largest latency that is recorded; larger ones are counted as overflow",
        |plan| plan.recording.histogram_max_ns;
    report_interval: Seconds = "10s", AnyValue,
        "Interval of the report's table of rates, times, waits and errors, and of the lines that are \
         printed during the run where there is no terminal",
        |plan| plan.interval_seconds;
    monitor: MonitorScope = "default", AnyValue,
        "System and database metrics to read once per second: default reads the machine, the \
         generator, the server and the main database counters; all reads every database counter; \
         off reads nothing",
        |plan| plan.monitor;
    instruments: Switch = "off", AnyValue,
        "Switch on extra server counters during the run, such as waits and rows by table; they are \
         restored afterwards (docs/explanation/why.md)",
        |plan| plan.instruments;
    cpu_profile: Switch = "off", AnyValue,
        "Sample the stacks of server and dbdyno during the measured phase with Linux perf, for CPU \
         flame graphs (docs/explanation/why.md)",
        |plan| plan.cpu_profile.then_some(true);
    settle: Settle = "off", AnyValue,
        "Bring the database to rest before the load, after it, or both: purge or vacuum, write \
         dirty pages, checkpoint (docs/reference/settling.md)",
        |plan| (plan.settle != Settle::Off).then_some(plan.settle);
    settle_limit: PositiveDuration = "10m", AnyValue,
        "Time limit of each settling; the run then goes on anyway, with a finding",
        |plan| {
            let is_said = plan.settle != Settle::Off || plan.settle_limit_ns != SETTLE_LIMIT_NS;
            is_said.then_some(plan.settle_limit_ns)
        };
}

parameters! {
    /// Declarations of the parameters of each group of clients; all but the name and the workload
    /// are also flags.
    pub static GROUP;
    /// Parsed values of a group's parameters.
    struct GroupValues;
    of Group;

    name: Optional<Name> = "", AnyValue, "Name of the group [default: its workload]",
        |group| Some(group.name.clone());
    workload: Optional<Text> = "", Checked, "Workload of its clients", |group| Some(group.workload.clone());
    script: Optional<Text> = "", Checked,
        "Script of its transactions, in SQL with pgbench's meta-commands, instead of a workload",
        |group| Some(group.script.clone());
    target: Optional<Url> = "", Checked,
        "Server of its clients, if it is another host of the same data, such as a replica; data are \
         built and checked at the plan's target (docs/reference/plan.md)",
        |group| Some(group.target.clone());
    clients: Few<1, 1_000_000> = "4", AnyValue, "Simulated users", |group| group.clients;
    processes: Few<0, 64> = "0", AnyValue,
        "Extra processes on this machine to distribute the clients over; 0: dbdyno's own process \
         runs them",
        |group| (group.processes > 0).then_some(group.processes);
    load: LoadModel = "closed", AnyValue,
        "Load model: next transaction at once, at a rate, or after keying and think times",
        |group| group.load.model();
    rate: Optional<RateOverTime> = "", Checked,
        "Transactions offered per second in open load: 500, 30k/min, 'ramp 100 to 3000 over \
         60s', 'sine 1000 swing 500 every 60s', 'steps 500 for 30s, 2000', or 'file rates.csv' \
         with lines of second and rate",
        |group| match &group.load {
            Load::Open { rate, .. } => Some(Some(rate.clone())),
            _ => None,
        };
    arrivals: Arrivals = "poisson", AnyValue,
        "Time between arrivals in open load: exponentially distributed, or constant",
        |group| match group.load {
            Load::Open { arrivals, .. } => Some(arrivals),
            _ => None,
        };
    queue: Count<0, 100_000_000> = "10000", AnyValue,
        "Arrivals that may wait for a free client in open load",
        |group| match group.load {
            Load::Open { queue, .. } => Some(queue),
            _ => None,
        };
    queue_full: QueueFull = "drop", AnyValue,
        "Action when the queue is full: drop and count the arrival, or stop the run",
        |group| match group.load {
            Load::Open { queue_full, .. } => Some(queue_full),
            _ => None,
        };
    queue_wait: Optional<Duration> = "", AnyValue,
        "Longest wait in the queue: an arrival that has waited longer when a client is free is \
         dropped and counted [default: unlimited]",
        |group| match group.load {
            Load::Open { queue_wait_ns, .. } => queue_wait_ns.map(Some),
            _ => None,
        };
    queue_at_end: QueueAtEnd = "serve", AnyValue,
        "Arrivals that wait at the end of the measured phase: serve them in the drain, or leave \
         them, so that they count as unfinished",
        |group| match group.load {
            Load::Open { queue_at_end, .. } => {
                (queue_at_end != QueueAtEnd::default()).then_some(queue_at_end)
            }
            _ => None,
        };
    keythink_scale: Factor = "1", AnyValue, "Factor for all keying and think times in keythink load",
        |group| match group.load {
            Load::KeyThink { scale } => Some(scale),
            _ => None,
        };
    connect: Connections = "once", AnyValue,
        "Connect once, before the load, or before each transaction: the time to connect is measured \
         apart (docs/reference/plan.md)",
        |group| (group.connections != Connections::Kept).then_some(group.connections);
    transactions: Optional<Transactions> = "", AnyValue,
        "Measure until this many transactions were offered, instead of for a duration \
         ('1000 per client' counts per client)",
        |group| (group.stop_condition != StopCondition::Time).then_some(Some(group.stop_condition));
}

parameters! {
    /// Declarations of the parameters of an experiment, each of them also a flag.
    pub static EXPERIMENT;
    /// Parsed values of an experiment's parameters.
    struct ExperimentValues;
    of Experiment;

    repeat: Repeats = "1", AnyValue,
        "Runs of each combination of the varied values (--vary), or repeats of a single run. Or \
         repeat until the error is small (until=2%) or it is known which value is better \
         (until=decided); also with max=20, min=4, figure=p99, min_effect=1%",
        |experiment| level_of(experiment, model::Level::Run);
    repeat_restart: Repeats = "1", AnyValue,
        "Server starts, with --repeat runs after each (managed servers and databases in this \
         process); or until=... as in --repeat",
        |experiment| level_of(experiment, model::Level::Restart);
    repeat_rebuild: Repeats = "1", AnyValue,
        "Data builds, with --repeat-restart starts or --repeat runs on each; or until=... as in \
         --repeat",
        |experiment| level_of(experiment, model::Level::Rebuild);
    order: Order = "interleaved", AnyValue,
        "Order of runs: rounds over all combinations of values (interleaved), rounds in random \
         order, or all runs of one combination after the other (sequential)",
        |experiment| experiment.order;
    data: DataPolicy = "keep", AnyValue,
        "Data before each run: keep them as they are, rebuild them, or restore a copy of the first \
         build (managed servers)",
        |experiment| experiment.data;
    pause: Duration = "0s", AnyValue, "Pause before each run except the first",
        |experiment| experiment.pause_ns;
    wait_until: Optional<Text> = "", Checked,
        "Query to repeat before each run until its first value is true or nonzero",
        |experiment| experiment.wait_until.as_ref().map(|wait| Some(wait.sql.clone()));
    wait_at_most: Duration = "2m", AnyValue,
        "Time limit of --wait-until; the run then begins anyway, and reports it",
        |experiment| experiment.wait_until.as_ref().map(|wait| wait.at_most_ns);
    reference: Optional<Text> = "", Checked,
        "CSV file of figures measured elsewhere, shown beside the results (docs/reference/history.md); \
         a plan names it from its own folder",
        |experiment| experiment.reference.as_ref().map(|reference| Some(reference.file.clone()));
    seek: Optional<Range> = "", AnyValue,
        "Search this range for the highest value at which the objectives hold: rate=100..5000, \
         clients=1..64",
        |experiment| experiment.walk.seek().map(|seek| Some(range_of(seek)));
    objective: Optional<Objectives> = "", AnyValue,
        "Objectives of a search: 'p99<20ms', 'errors<0.1%'; separate several by commas",
        |experiment| experiment.walk.seek().map(|seek| Some(seek.objectives.clone()));
    seek_budget: Duration = "10m", AnyValue,
        "Total load time of a search, ramp-ups included; the search divides it into runs (probes)",
        |experiment| experiment.walk.seek().map(|seek| seek.budget_ns);
    maximize: Optional<Text> = "", AnyValue,
        "Tune: find the values of the varied parameters (--vary) with the highest figure, such as \
         tps or nopm (docs/reference/tune.md)",
        |experiment| goal_of(experiment, TuneGoal::Maximize);
    minimize: Optional<Text> = "", AnyValue,
        "Tune: find the values of the varied parameters (--vary) with the lowest figure, such as p99",
        |experiment| goal_of(experiment, TuneGoal::Minimize);
    limits: Optional<Text> = "", AnyValue,
        "Limits that the best values of a tuner have to keep: 'p99<50ms'; separate several by \
         commas",
        |experiment| {
            let limits = experiment.walk.tune().map(|tune| tune.limits.join(", "));
            limits.map(|limits| (!limits.is_empty()).then_some(limits))
        };
    trials: Few<1, 100_000> = "60", AnyValue,
        "Runs of a tuner in all, with those that confirm the best values",
        |experiment| experiment.walk.tune().map(|tune| tune.n_trials);
    confirm_pairs: Few<6, 1_000> = "6", AnyValue,
        "Pairs of runs in which a tuner compares the best values with the defaults",
        |experiment| experiment.walk.tune().map(|tune| tune.n_pairs);
    strategy: TuneStrategy = "halving", AnyValue,
        "How a tuner chooses values: the better half of an even choice, and more like it (halving), \
         always more like the good ones (model), an even choice (sobol), at random, or all (grid)",
        |experiment| experiment.walk.tune().map(|tune| tune.strategy);
}

/// Returns the figure of a tuner that looks for high or low values, as asked.
fn goal_of(experiment: &Experiment, goal: TuneGoal) -> Option<Option<String>> {
    let tune = experiment.walk.tune().filter(|tune| tune.goal == goal)?;
    Some(Some(tune.figure.clone()))
}

parameters! {
    /// Declarations of the parameters of each disturbance (`[[at]]`), none of them a flag.
    pub static AT;
    /// Parsed values of a disturbance's parameters.
    struct AtValues;
    of Disturbance;

    time: Optional<Duration> = "", AnyValue, "Start time, counted from the beginning of the measured phase",
        |at| Some(at.at_ns);
    name: Optional<Name> = "", AnyValue, "Name [default: its action]", |at| Some(at.name.clone());
    sql: Optional<Statements> = "", Checked, "A statement, or a list of them, on a separate connection",
        |at| match &at.action {
            Action::Sql(statements) => Some(Some(statements.clone())),
            _ => None,
        };
    command: Optional<Text> = "", Checked, "A shell command (sh -c) on the generator's machine",
        |at| match &at.action {
            Action::Command(command) => Some(Some(command.clone())),
            _ => None,
        };
    server: Optional<Text> = "", AnyValue,
        "Action on a managed server: restart, kill, 'pause 5s', stop or start; a cluster: join",
        |at| match at.action {
            Action::Server(action) | Action::Node { action, .. } => Some(Some(written(action))),
            Action::Join => Some(Some(JOIN.to_owned())),
            _ => None,
        };
    node: Optional<Few<1, 64>> = "", AnyValue,
        "Number of the node of a managed cluster, from 1 in order of joining",
        |at| match at.action {
            Action::Node { node, .. } | Action::Hosts { which: Which::Node(node), .. } => {
                Some(Some(node))
            }
            _ => None,
        };
    hosts: Optional<Text> = "", AnyValue,
        "Change of the hosts that clients use: 'add db3:3307' or 'remove db1' (with node: add or \
         remove)",
        |at| match &at.action {
            Action::Hosts { change, which: Which::Node(_) } => {
                Some(Some(change.written().to_owned()))
            }
            Action::Hosts { change, which } => Some(Some(format!("{} {which}", change.written()))),
            _ => None,
        };
    settle: Optional<Text> = "", AnyValue,
        "A step of settling, such as checkpoint (docs/reference/settling.md)",
        |at| match &at.action {
            Action::Settle(step) => Some(Some(step.clone())),
            _ => None,
        };
    network_delay: Optional<DurationWithin<0, 10>> = "", AnyValue,
        "Another delay of the simulated network of the run",
        |at| match &at.action {
            Action::Network(conditions) => Some(Some(conditions.delay_ns)),
            _ => None,
        };
    network_bandwidth: Optional<ByteRate> = "", AnyValue,
        "Another bandwidth of the simulated network of the run",
        |at| match &at.action {
            Action::Network(conditions) => conditions.bytes_per_s.map(Some),
            _ => None,
        };
    limit as "for": Optional<PositiveDuration> = "", AnyValue,
        "Time limit; an action still running after it is cut off. Of the network: how long, then as \
         before [default: until the end]",
        |at| Some(at.limit_ns);
    every: Optional<PositiveDuration> = "", AnyValue, "Repeat interval", |at| Some(at.every_ns);
    until: Optional<Duration> = "", AnyValue, "End time: not repeated after it, and cut off if still running",
        |at| Some(at.until_ns);
}

/// Formats an action on a server so that it parses to the same action, with the exact length of a
/// pause.
fn written(action: model::ServerAction) -> String {
    match action {
        model::ServerAction::Pause { for_ns } => format!("pause {}", exact(for_ns)),
        action => action.written(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written::{From, Written};

    /// Stands for a decided plan, from which this test's parameters are printed.
    struct Made {
        depth: u32,
    }

    parameters! {
        /// Parameters that are declared only for this test.
        static MADE;
        /// Parsed values of this test's parameters.
        struct MadeValues;
        of Made;

        depth as "tree_depth": Few<1, 9> = "2", AnyValue, "How deep", |made| made.depth;
    }

    #[test]
    fn a_declaration_alone_is_flag_key_help_reading_and_printing() {
        let row = &MADE[0].parameter;
        assert_eq!((row.name, row.flag().as_str()), ("tree_depth", "tree-depth"));
        assert_eq!((row.default, row.help, row.placeholder().as_str()), ("2", "How deep", "N"));
        let read = |text: Option<&str>| {
            let from = From::Flag(row.flag());
            let written = text.map(|text| (row.name, Written::new(text, from)));
            MadeValues::read(&written.into_iter().collect())
        };
        assert_eq!(read(None).map(|values| values.depth.value), Ok(2));
        let depth = read(Some("7")).expect("it is in its range").depth.value;
        assert_eq!(printed(MADE, &Made { depth }).to_string(), "tree_depth = 7\n");
        let why = read(Some("10")).map(|_| ()).expect_err("it is too large");
        assert_eq!(why.0, "--tree-depth: 10 is too large: it must be at most 9");
    }
}
