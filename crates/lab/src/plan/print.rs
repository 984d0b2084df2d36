//! A plan as decided, in TOML that decides to the same plan.

use model::{
    ArrivalRate, Arrivals, Axis, Condition, Deed, Disturbance, Experiment, Group, Level, Load,
    NS_PER_S, Placement, PlacementChoice, Plan, QueueFull, ServerAction, Until, Which,
    format_duration,
};
use toml::{Table, Value};

use super::server::is_same;
use super::vary::is_target;
use super::{decide_all, read_toml};

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
        ("highest", exact(plan.recording.highest_ns)),
        ("probe", exact(u64::from(plan.probe_seconds) * NS_PER_S)),
        ("around", plan.around.name().into()),
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

/// An experiment as a plan with axes, which decides to the same points; none of a search, and where
/// no such plan is found.
pub fn varied_to_toml(experiment: &Experiment) -> Option<String> {
    let first = experiment.points.first().filter(|_| experiment.seek.is_none())?;
    let mut top = first.plan.parse::<Table>().ok()?;
    let mut of = Table::new();
    repeats(&mut of, experiment);
    put(&mut of, "order", experiment.order.name());
    put(&mut of, "data", experiment.data.name());
    put(&mut of, "pause", exact(experiment.pause_ns));
    if let Some(Condition { sql, at_most_ns }) = &experiment.until {
        put(&mut of, "until", sql.as_str());
        put(&mut of, "until_at_most", exact(*at_most_ns));
    }
    // What an axis sets is not set beside it.
    for setting in experiment.axes.iter().filter_map(|axis| axis.name.strip_prefix("server.")) {
        if let Some(Value::Table(server)) = top.get_mut("server") {
            server.retain(|name, _| !is_same(name, setting));
        }
    }
    put(&mut top, "experiment", of);
    let mut beside = top.clone();
    beside.remove("server");
    let axes = axes_toml(&experiment.axes);
    written(&mut top, &axes, experiment).or_else(|| {
        written(&mut beside, &axes_toml(&with_targets_as_decided(experiment)?), experiment)
    })
}

/// The repeats of each level; that of the highest may be a rule.
fn repeats(of: &mut Table, experiment: &Experiment) {
    let model::Nesting { restarts, rebuilds } = experiment.nesting;
    let runs = experiment.repeats / (restarts.unwrap_or(1) * rebuilds.unwrap_or(1)).max(1);
    let levels = [
        ("repeat", Some(runs), Level::Run),
        ("repeat_restart", restarts, Level::Restart),
        ("repeat_rebuild", rebuilds, Level::Rebuild),
    ];
    for (key, n, level) in levels {
        let Some(n) = n else { continue };
        match experiment.stop.as_ref().filter(|_| experiment.level() == level) {
            Some(rule) => put(of, key, format!("{rule},max={n}")),
            None => put(of, key, i64::from(n)),
        }
    }
}

/// A table forgets the order of the axes.
fn axes_toml(axes: &[Axis]) -> String {
    let axis = |axis: &Axis| {
        let values: Value = axis.values.clone().into();
        format!("{} = {values}\n", Value::from(axis.name.as_str()))
    };
    axes.iter().map(axis).collect()
}

/// The axes with the targets of the points' plans: what was set of a managed server beside them is
/// in their URLs. None where settings are an axis themselves, or the target is none.
fn with_targets_as_decided(experiment: &Experiment) -> Option<Vec<Axis>> {
    let mut axes = experiment.axes.clone();
    let index = axes.iter().position(|axis| is_target(&axis.name))?;
    if axes.iter().any(|axis| axis.name.starts_with("server.")) {
        return None;
    }
    for value in &mut axes[index].values {
        let point = experiment.points.iter().find(|point| point.values[index] == *value)?;
        let plan = point.plan.parse::<Table>().ok()?;
        *value = plan.get("target")?.get("url")?.as_str()?.to_owned();
    }
    Some(axes)
}

/// The plan with these axes, without what need not be there, if it decides to the experiment.
fn written(top: &mut Table, axes: &str, experiment: &Experiment) -> Option<String> {
    let written = |top: &Table| {
        let text = toml::to_string(top).expect("a table of texts, numbers and tables is TOML");
        let text = format!("{text}\n[experiment.vary]\n{axes}");
        decides_to(&text, experiment).then_some(text)
    };
    // Other workloads have other parameters and names; those of the first are perhaps defaults.
    ["", "parameters", "name"].into_iter().find_map(|unwritten| {
        if unwritten == "name" {
            top.remove(unwritten);
        }
        let groups = top.get_mut("group").and_then(Value::as_array_mut).into_iter().flatten();
        groups.filter_map(Value::as_table_mut).for_each(|group| drop(group.remove(unwritten)));
        written(top)
    })
}

/// Whether a plan's points are those of an experiment.
fn decides_to(text: &str, experiment: &Experiment) -> bool {
    let no_default = |_: &str| Err("a decided plan names its target".to_owned());
    let decided = read_toml("", text).and_then(|draft| decide_all(&draft, &no_default));
    decided.is_ok_and(|varied| {
        let points = varied.points.iter().zip(&experiment.points);
        varied.points.len() == experiment.points.len()
            && points.into_iter().all(|((_, plan), point)| to_toml(plan) == point.plan)
    })
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
    match &disturbance.deed {
        Deed::Sql(statements) => match statements.as_slice() {
            [one] => put(&mut out, "sql", one.as_str()),
            all => put(&mut out, "sql", all.to_vec()),
        },
        Deed::Command(command) => put(&mut out, "command", command.as_str()),
        Deed::Server(action) => put(&mut out, "server", server_action(*action)),
        Deed::Node { node, action } => {
            put(&mut out, "server", server_action(*action));
            put(&mut out, "node", i64::from(*node));
        }
        Deed::Join => put(&mut out, "server", "join"),
        Deed::Hosts { change, which: Which::Node(node) } => {
            put(&mut out, "hosts", change.written());
            put(&mut out, "node", i64::from(*node));
        }
        Deed::Hosts { change, which } => {
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
fn exact(ns: u64) -> Value {
    let told = format_duration(ns);
    let is_exact = model::parse_duration(&told) == Ok(ns);
    if is_exact { told.into() } else { format!("{ns}ns").into() }
}

/// TOML's integers have 63 bits.
fn seed(seed: u64) -> Value {
    i64::try_from(seed).map_or_else(|_| seed.to_string().into(), Value::from)
}

fn put(table: &mut Table, key: &str, value: impl Into<Value>) {
    table.insert(key.to_owned(), value.into());
}

fn table<'a>(pairs: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    Value::Table(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
