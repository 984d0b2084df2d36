//! Disturbances: parses each `[[at]]` table of a plan, and rejects contradictions.

use model::{
    Action, Disturbance, Host, HostsChange, NetworkConditions, Phases, ServerAction, Target, Which,
    did_you_mean, format_duration, parse_duration,
};

use crate::bad_plan::BadPlan;
use crate::draft::{AtDraft, Draft};
use crate::managed;
use crate::table::{AtValues, JOIN};
use crate::target::keeps_data;
use crate::written::Given;

/// Largest number of disturbances in a plan; a plan with more is rejected. Each disturbance needs a
/// thread, and with SQL also a connection.
const DISTURBANCES_MAX: usize = 64;
/// Largest number of executions of a repeated disturbance; a plan with more is rejected. Each
/// execution is reported, stored and shown.
const TIMES_MAX: u64 = 1000;
/// Duration in nanoseconds (24 h) that is assumed for a run without a time limit, to count the
/// executions of a repeated disturbance.
const UNLIMITED_NS: u64 = 24 * 3600 * model::NS_PER_S;
const ACTION_KEYS: &str = "sql, command, server, hosts, settle and network_delay";
/// Actions on a server that are written as one word, without a parameter.
const ACTIONS: [ServerAction; 4] =
    [ServerAction::Restart, ServerAction::Kill, ServerAction::Stop, ServerAction::Start];

pub(crate) fn decide(
    draft: &Draft,
    target: &Target,
    network: NetworkConditions,
    phases: Phases,
) -> Result<Vec<Disturbance>, BadPlan> {
    if let Some(first) = draft.at.get(DISTURBANCES_MAX) {
        let n = draft.at.len();
        return Err(first.bad(format!("{n} disturbances are too many: at most {DISTURBANCES_MAX}")));
    }
    draft.at.iter().map(|at| decide_one(draft, at, target, network, phases)).collect()
}

fn decide_one(
    draft: &Draft,
    at: &AtDraft,
    target: &Target,
    network: NetworkConditions,
    phases: Phases,
) -> Result<Disturbance, BadPlan> {
    let values = AtValues::read(&at.values)?;
    let action = decide_action(draft, at, &values, target, network)?;
    if !keeps_data(target) {
        let scheme = &target.scheme;
        return Err(at.bad(format!("{scheme}: has no server to disturb: name another target")));
    }
    let AtValues { time, name, limit, every, until, .. } = values;
    let Some(at_ns) = time.value else {
        return Err(at.bad("this [[at]] has no time: write time = \"30s\""));
    };
    let end_ns = phases.measure_ns;
    if end_ns > 0 && at_ns >= end_ns {
        let which = if at_ns == end_ns { "the end itself" } else { "after the end" };
        return Err(time.bad(format!(
            "{} is {which} of the run: the measured phase lasts {}",
            format_duration(at_ns),
            format_duration(end_ns)
        )));
    }
    let decided = Disturbance {
        name: name.value.unwrap_or_else(|| action.summary()),
        at_ns,
        every_ns: every.value,
        until_ns: until.value,
        limit_ns: limit.value,
        action,
    };
    if decided.until_ns.is_some_and(|until_ns| until_ns <= at_ns) {
        return Err(until.bad("that is not after its time"));
    }
    let is_of_hosts =
        decided.action.is_of_server() || matches!(decided.action, Action::Hosts { .. });
    if is_of_hosts && decided.limit_ns.is_some() {
        return Err(limit.bad("actions on a server are not cut off; leave it out"));
    }
    let times = decided.times_before(if end_ns > 0 { end_ns } else { UNLIMITED_NS });
    if times > TIMES_MAX {
        return Err(every.bad(format!("it would be repeated {times} times: at most {TIMES_MAX}")));
    }
    Ok(decided)
}

fn decide_action(
    draft: &Draft,
    at: &AtDraft,
    values: &AtValues,
    target: &Target,
    network: NetworkConditions,
) -> Result<Action, BadPlan> {
    let AtValues { sql, command, server, node, hosts, settle, .. } = values;
    let AtValues { network_delay, network_bandwidth, .. } = values;
    let is_of_network = network_delay.value.is_some() || network_bandwidth.value.is_some();
    let without_node = [sql.is_written(), command.is_written(), settle.is_written(), is_of_network];
    if node.is_written() && without_node.contains(&true) {
        return Err(node.bad("is for server and hosts; leave it out"));
    }
    let given = [
        sql.value.is_some(),
        command.value.is_some(),
        server.value.is_some(),
        hosts.value.is_some(),
        settle.value.is_some(),
        is_of_network,
    ];
    if given.into_iter().filter(|is_given| *is_given).count() > 1 {
        return Err(at.bad(format!("an [[at]] has one action: give it one of {ACTION_KEYS}")));
    }
    if let Some(statements) = &sql.value {
        Ok(Action::Sql(statements.clone()))
    } else if let Some(text) = &command.value {
        decide_command(draft, command, text)
    } else if let Some(text) = &server.value {
        decide_server(draft, values, target, text)
    } else if let Some(text) = &hosts.value {
        decide_hosts(draft, values, target, text)
    } else if let Some(step) = &settle.value {
        Ok(Action::Settle(step.trim().to_owned()))
    } else if is_of_network {
        decide_network(values, network)
    } else {
        Err(at.bad(format!("this [[at]] has no action: give it one of {ACTION_KEYS}")))
    }
}

fn decide_command(
    draft: &Draft,
    command: &Given<Option<String>>,
    text: &str,
) -> Result<Action, BadPlan> {
    if text.trim().is_empty() {
        return Err(command.bad("it is empty: write a shell command"));
    }
    if !draft.is_local {
        return Err(command.bad(
            "only a plan that is a file named on this machine's command line may run commands (an \
             experiment goes on with 'experiments resume ID --plan FILE')",
        ));
    }
    Ok(Action::Command(text.to_owned()))
}

/// Parses a change of the simulated network during a run. A delay or bandwidth that is not written
/// stays as in the rest of the run. Returns an error if the run has no simulated network.
fn decide_network(values: &AtValues, network: NetworkConditions) -> Result<Action, BadPlan> {
    let AtValues { network_delay, network_bandwidth, .. } = values;
    if network.is_direct() {
        let why =
            "there is no simulated network: give the plan one, such as network_delay = \"1us\"";
        return Err(match network_delay.value {
            Some(_) => network_delay.bad(why),
            None => network_bandwidth.bad(why),
        });
    }
    Ok(Action::Network(NetworkConditions {
        delay_ns: network_delay.value.unwrap_or(network.delay_ns),
        bytes_per_s: network_bandwidth.value.or(network.bytes_per_s),
    }))
}

/// Parses an action on a managed server, such as `restart`, or on a node of a managed cluster.
/// Returns an error if the target is not managed, or if a cluster is meant and no node is given.
fn decide_server(
    draft: &Draft,
    values: &AtValues,
    target: &Target,
    text: &str,
) -> Result<Action, BadPlan> {
    let AtValues { server, node, .. } = values;
    let action = action(text).map_err(|why| server.bad(why))?;
    if !managed::is_managed(target) {
        return Err(server.bad(format!(
            "cannot {} {target}: name a managed server as the target, such as managed:mariadb",
            text.split_whitespace().next().unwrap_or_default()
        )));
    }
    let n_nodes = managed::n_nodes(target);
    match (action, node_of(draft, node, target)?) {
        (None, Some(_)) => Err(node.bad("a joining node has no number yet")),
        (None, None) if n_nodes.is_none() => Err(server.bad(
            "there is no cluster to join: name one as the target, such as managed:mariadb?nodes=3",
        )),
        (None, None) => Ok(Action::Join),
        (Some(action), Some(node)) => Ok(Action::Node { node, action }),
        (Some(action), None) if n_nodes.is_none() => Ok(Action::Server(action)),
        (Some(_), None) => {
            Err(server.bad("a cluster has several nodes: name one, such as node = 2"))
        }
    }
}

/// Parses the number of a cluster node; `None` if none is written. Returns an error if no node has
/// this number, neither from the start nor by joining the cluster during the run.
fn node_of(
    draft: &Draft,
    node: &Given<Option<u32>>,
    target: &Target,
) -> Result<Option<u32>, BadPlan> {
    let Some(number) = node.value else { return Ok(None) };
    let Some(n_nodes) = managed::n_nodes(target) else {
        let why = format!("{target} is not a managed cluster; only that has nodes: leave it out");
        return Err(node.bad(why));
    };
    let joins = |at: &&AtDraft| at.values.get("server").is_some_and(|it| it.text.trim() == JOIN);
    let n_joining = draft.at.iter().filter(joins).count();
    if u64::from(number) > u64::from(n_nodes) + n_joining as u64 {
        let why = format!("there is no node {number}: {n_nodes} at first, {n_joining} join");
        return Err(node.bad(why));
    }
    Ok(Some(number))
}

/// Parses `add` or `remove` with a host or a cluster node, an action that changes the hosts to
/// which clients connect. Returns an error if the target has no hosts.
fn decide_hosts(
    draft: &Draft,
    values: &AtValues,
    target: &Target,
    text: &str,
) -> Result<Action, BadPlan> {
    let AtValues { hosts, node, .. } = values;
    let host_of = |text: &str| Host::parse(text).map_err(|why| hosts.bad(why));
    if text.contains('@') {
        // The text may contain a password, so no other error may repeat it.
        host_of(text)?;
    }
    let (word, host) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let changes = [HostsChange::Add, HostsChange::Remove];
    let Some(change) = changes.into_iter().find(|change| change.written() == word) else {
        let hint = did_you_mean(word, ["add", "remove"]);
        return Err(hosts.bad(format!("'{word}' is not add or remove{hint}")));
    };
    let is_managed = managed::is_managed(target);
    if target.option("socket").is_some_and(|socket| socket != "false")
        || (!is_managed && target.hosts.is_empty())
    {
        return Err(hosts.bad(format!("{target} has no hosts")));
    }
    let which = match (host.trim(), node_of(draft, node, target)?) {
        ("", Some(node)) => Which::Node(node),
        ("", None) if is_managed => {
            return Err(hosts.bad("name a node of the managed cluster, such as node = 2"));
        }
        ("", None) => {
            return Err(hosts.bad(format!("'{word}' names no host: write '{word} db2:3307'")));
        }
        (_, Some(_)) => return Err(hosts.bad("name a host or a node, not both")),
        (host, None) => Which::Host(host_of(host)?),
    };
    Ok(Action::Hosts { change, which })
}

/// Parses the words of an action on a server, such as `pause 5s`; `None` for `join`, the action by
/// which a new node joins the cluster. Returns an error for other words, or a pause without length.
fn action(text: &str) -> Result<Option<ServerAction>, String> {
    let text = text.trim();
    if text == JOIN {
        return Ok(None);
    }
    if let Some(action) = ACTIONS.into_iter().find(|action| action.written() == text) {
        return Ok(Some(action));
    }
    if let Some(length) = text.strip_prefix("pause") {
        return match parse_duration(length) {
            Ok(for_ns @ 1..) => Ok(Some(ServerAction::Pause { for_ns })),
            _ => Err("a pause needs a length: write 'pause 5s'".to_owned()),
        };
    }
    let hint = did_you_mean(text, ["restart", "kill", "pause 5s", "stop", "start", JOIN]);
    Err(format!("'{text}' is not one of restart, kill, 'pause 5s', stop, start and join{hint}"))
}
