//! A plan as decided, in TOML that decides to the same plan. Not here: its axes
//! (print_experiment).

use model::{
    Action, ArrivalRate, Arrivals, Disturbance, Group, Load, NS_PER_S, Placement, PlacementChoice,
    Plan, QueueFull, ServerAction, Until, Which, format_duration,
};
use toml::{Table, Value};

/// The plan in TOML, without a password.
pub fn to_toml(plan: &Plan) -> String {
    let mut top = Table::new();
    put(&mut top, "name", plan.name.as_str());
    put(&mut top, "seed", seed(plan.seed));
    put(&mut top, "placement", placement(plan.placement));
    put(&mut top, "pin", plan.pin);
    put(&mut top, "target", table([("url", plan.target.to_string().into())]));
    if !plan.settings.is_empty() {
        let settings = plan.settings.iter();
        let settings = settings.map(|(name, value)| (name.as_str(), value.as_str().into()));
        put(&mut top, "server", table(settings));
    }
    let phases = plan.phases;
    let mut lengths = vec![("ramp_up", exact(phases.ramp_up_ns))];
    if phases.measure_ns > 0 {
        lengths.push(("measure", exact(phases.measure_ns)));
    }
    lengths.push(("drain", exact(phases.drain_ns)));
    put(&mut top, "phases", table(lengths));
    let mut connect = vec![("at_once", i64::from(plan.connect.at_once).into())];
    connect.extend(plan.connect.rate_per_s.map(|rate| ("rate", rate.into())));
    put(&mut top, "connect", table(connect));
    let on = plan.retry.on.iter().map(|kind| kind.name().into()).collect();
    let retry = [
        ("attempts", i64::from(plan.retry.attempts).into()),
        ("on", Value::Array(on)),
        ("backoff", exact(plan.retry.backoff_ns)),
    ];
    put(&mut top, "retry", table(retry));
    let recording = [
        ("histogram_max", exact(plan.recording.histogram_max_ns)),
        ("report_interval", exact(u64::from(plan.interval_seconds) * NS_PER_S)),
        ("monitor", plan.monitor.name().into()),
    ];
    put(&mut top, "recording", table(recording));
    let groups = plan.groups.iter().map(|g| Value::Table(group(g))).collect();
    top.insert("group".to_owned(), Value::Array(groups));
    let at: Vec<Value> = plan.disturbances.iter().map(|d| Value::Table(at(d))).collect();
    if !at.is_empty() {
        top.insert("at".to_owned(), Value::Array(at));
    }
    toml::to_string(&top).expect("a table of texts, numbers and tables is TOML")
}

fn group(group: &Group) -> Table {
    let mut out = Table::new();
    put(&mut out, "name", group.name.as_str());
    put(&mut out, "workload", group.workload.as_str());
    put(&mut out, "clients", i64::from(group.clients));
    put(&mut out, "load", load(&group.load));
    match group.until {
        Until::Time => {}
        Until::Transactions(count) => put(&mut out, "until", format!("{count} transactions")),
        Until::TransactionsPerClient(count) => {
            put(&mut out, "until", format!("{count} per client"))
        }
    }
    let parameters = group.parameters.iter().map(|(k, v)| (k.as_str(), v.as_str().into()));
    put(&mut out, "parameters", table(parameters));
    out
}

fn at(disturbance: &Disturbance) -> Table {
    let mut out = Table::new();
    put(&mut out, "time", exact(disturbance.at_ns));
    put(&mut out, "name", disturbance.name.as_str());
    match &disturbance.action {
        Action::Sql(statements) => match statements.as_slice() {
            [one] => put(&mut out, "sql", one.as_str()),
            all => put(&mut out, "sql", all.to_vec()),
        },
        Action::Command(command) => put(&mut out, "command", command.as_str()),
        Action::Server(action) => put(&mut out, "server", server_action(*action)),
        Action::Node { node, action } => {
            put(&mut out, "server", server_action(*action));
            put(&mut out, "node", i64::from(*node));
        }
        Action::Join => put(&mut out, "server", "join"),
        Action::Hosts { change, which: Which::Node(node) } => {
            put(&mut out, "hosts", change.written());
            put(&mut out, "node", i64::from(*node));
        }
        Action::Hosts { change, which } => {
            put(&mut out, "hosts", format!("{} {which}", change.written()));
        }
    }
    let lengths = [
        ("for", disturbance.limit_ns),
        ("every", disturbance.every_ns),
        ("until", disturbance.until_ns),
    ];
    for (key, length) in lengths {
        length.into_iter().for_each(|ns| put(&mut out, key, exact(ns)));
    }
    out
}

fn load(load: &Load) -> Value {
    match load {
        Load::Closed => table([("model", "closed".into())]),
        Load::KeyThink { scale } => {
            table([("model", "keythink".into()), ("scale", (*scale).into())])
        }
        Load::Open { arrivals, rate, queue, queue_full } => {
            let arrivals = match arrivals {
                Arrivals::Poisson => "poisson",
                Arrivals::Uniform => "uniform",
            };
            let full = match queue_full {
                QueueFull::Drop => "drop",
                QueueFull::Stop => "stop",
            };
            let rate = match rate {
                ArrivalRate::Constant(per_s) => (*per_s).into(),
                changing => changing.to_string().into(),
            };
            table([
                ("model", "open".into()),
                ("rate", rate),
                ("arrivals", arrivals.into()),
                ("queue", i64::try_from(*queue).unwrap_or(i64::MAX).into()),
                ("queue_full", full.into()),
            ])
        }
    }
}

/// So that the length of a pause reads back exactly.
fn server_action(action: ServerAction) -> String {
    match action {
        ServerAction::Pause { for_ns } => {
            format!("pause {}", exact(for_ns).as_str().unwrap_or_default())
        }
        action => action.written(),
    }
}

fn placement(choice: PlacementChoice) -> &'static str {
    match choice {
        PlacementChoice::Auto => "auto",
        PlacementChoice::Fixed(Placement::Thread) => "thread",
        PlacementChoice::Fixed(Placement::Loop) => "loop",
        PlacementChoice::Fixed(Placement::Simulated) => "simulated",
    }
}

/// A duration that reads back exactly; a round one is told as people write it.
pub(crate) fn exact(ns: u64) -> Value {
    let told = format_duration(ns);
    let is_exact = model::parse_duration(&told) == Ok(ns);
    if is_exact { told.into() } else { format!("{ns}ns").into() }
}

/// TOML's integers have 63 bits.
fn seed(seed: u64) -> Value {
    i64::try_from(seed).map_or_else(|_| seed.to_string().into(), Value::from)
}

pub(crate) fn put(table: &mut Table, key: &str, value: impl Into<Value>) {
    table.insert(key.to_owned(), value.into());
}

fn table<'a>(pairs: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    Value::Table(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
