//! Disturbances: from `[[at]]` as written to what is done in mid-run, contradictions refused.

use model::{
    Action, Disturbance, Host, HostsChange, Phases, ServerAction, Setting, Target, Which,
    did_you_mean, format_duration, parse_duration,
};

use crate::bad_plan::BadPlan;
use crate::draft::{AtDraft, Draft, Written};
use crate::managed;

/// Each has a thread of its own, and those with SQL a connection.
const DISTURBANCES_MAX: usize = 64;
/// Each time is told, stored and shown.
const TIMES_MAX: u64 = 1000;
/// A run whose end only counts decide is held to this many hours for [`TIMES_MAX`].
const UNLIMITED_NS: u64 = 24 * 3600 * model::NS_PER_S;
/// The word for a node that joins.
const JOIN: &str = "join";
/// The actions that stand alone.
const ACTIONS: [ServerAction; 4] =
    [ServerAction::Restart, ServerAction::Kill, ServerAction::Stop, ServerAction::Start];

pub(crate) fn decide(
    draft: &Draft,
    target: &Target,
    phases: Phases,
) -> Result<Vec<Disturbance>, BadPlan> {
    if let Some(first) = draft.at.get(DISTURBANCES_MAX) {
        let n = draft.at.len();
        return Err(first.bad(format!("{n} disturbances are too many: at most {DISTURBANCES_MAX}")));
    }
    draft.at.iter().map(|at| decide_one(draft, at, target, phases)).collect()
}

fn decide_one(
    draft: &Draft,
    at: &AtDraft,
    target: &Target,
    phases: Phases,
) -> Result<Disturbance, BadPlan> {
    let action = decide_action(draft, at, target)?;
    if target.scheme == "sim" {
        let why = "sim: has no database and no server, and may run in virtual time: there is \
                   nothing to disturb; name another target";
        return Err(at.bad(why));
    }
    let Some(at_ns) = time(at, "time")? else {
        return Err(at.bad("the [[at]] has no time: write time = \"30s\""));
    };
    let end_ns = phases.measure_ns;
    if end_ns > 0 && at_ns >= end_ns {
        let which = if at_ns == end_ns { "the end itself" } else { "after the end" };
        let why = format!(
            "time: {} is {which} of the run: the measured phase lasts {}",
            format_duration(at_ns),
            format_duration(end_ns)
        );
        return Err(bad(at, "time", why));
    }
    let decided = Disturbance {
        name: match at.values.get("name") {
            Some(name) => name.text.clone(),
            None => action.told(),
        },
        at_ns,
        every_ns: positive(at, "every")?,
        until_ns: time(at, "until")?,
        limit_ns: positive(at, "for")?,
        action,
    };
    if decided.until_ns.is_some_and(|until_ns| until_ns <= at_ns) {
        return Err(bad(at, "until", "until: that is not after its time".to_owned()));
    }
    let is_of_hosts =
        decided.action.is_of_server() || matches!(decided.action, Action::Hosts { .. });
    if is_of_hosts && decided.limit_ns.is_some() {
        let why = "for: what is done to a server is not cut off; leave it out".to_owned();
        return Err(bad(at, "for", why));
    }
    let times = decided.times_before(if end_ns > 0 { end_ns } else { UNLIMITED_NS });
    if times > TIMES_MAX {
        let why = format!("every: it would be done {times} times: at most {TIMES_MAX}");
        return Err(bad(at, "every", why));
    }
    Ok(decided)
}

fn decide_action(draft: &Draft, at: &AtDraft, target: &Target) -> Result<Action, BadPlan> {
    let sql = at.sql.first();
    let command = at.values.get("command");
    let server = at.values.get("server");
    let hosts = at.values.get("hosts");
    if let (Some(node), true) = (at.values.get("node"), sql.or(command).is_some()) {
        return Err(node.bad("node: is for server and hosts; leave it out"));
    }
    match (sql, command, server, hosts) {
        (Some(_), None, None, None) => {
            if let Some(empty) = at.sql.iter().find(|written| written.text.trim().is_empty()) {
                return Err(empty.bad("sql: there is no statement"));
            }
            Ok(Action::Sql(at.sql.iter().map(|written| written.text.clone()).collect()))
        }
        (None, Some(command), None, None) if command.text.trim().is_empty() => {
            Err(command.bad("command: there is none"))
        }
        (None, Some(command), None, None) if !draft.is_local => Err(command.bad(
            "command: only a plan that is a file named on this machine's command line may run \
             commands (an experiment goes on with 'experiments resume ID --plan FILE')",
        )),
        (None, Some(command), None, None) => Ok(Action::Command(command.text.clone())),
        (None, None, Some(server), None) => {
            let action = action(&server.text).map_err(|why| server.bad(why))?;
            if !managed::is_managed(target) {
                return Err(server.bad(format!(
                    "server: {target} is not ours to {}: name a managed server as the target, \
                     such as managed:mariadb",
                    server.text.split_whitespace().next().unwrap_or_default()
                )));
            }
            decide_server(draft, at, target, server, action)
        }
        (None, None, None, Some(hosts)) => decide_hosts(draft, at, target, hosts),
        (None, None, None, None) => {
            Err(at.bad("the [[at]] does nothing: give it one of sql, command, server and hosts"))
        }
        _ => Err(at.bad("one [[at]] does one thing: give it one of sql, command, server, hosts")),
    }
}

/// What is done to a managed server, to a node of it; none is a node that joins.
fn decide_server(
    draft: &Draft,
    at: &AtDraft,
    target: &Target,
    server: &Written,
    action: Option<ServerAction>,
) -> Result<Action, BadPlan> {
    let n_nodes = managed::n_nodes(target);
    let node = node(draft, at, target)?;
    match (action, node) {
        (None, Some(_)) => Err(bad(at, "node", "node: a node that joins is none yet".to_owned())),
        (None, None) if n_nodes.is_none() => Err(server.bad(
            "server: there is no cluster to join: name one as the target, such as \
             managed:mariadb?nodes=3",
        )),
        (None, None) => Ok(Action::Join),
        (Some(action), Some(node)) => Ok(Action::Node { node, action }),
        (Some(action), None) if n_nodes.is_none() => Ok(Action::Server(action)),
        (Some(_), None) => {
            Err(server.bad("server: a cluster has several nodes: say which one, such as node = 2"))
        }
    }
}

/// The node that is meant; it is there at first, or joins in mid-run.
fn node(draft: &Draft, at: &AtDraft, target: &Target) -> Result<Option<u32>, BadPlan> {
    let Some(Setting::Count(node)) = at.setting("node")? else { return Ok(None) };
    let Some(n_nodes) = managed::n_nodes(target) else {
        let why = format!("node: {target} is no managed cluster, which has nodes; leave it out");
        return Err(bad(at, "node", why));
    };
    let joins = |at: &AtDraft| at.values.get("server").is_some_and(|it| it.text.trim() == JOIN);
    let n_joining = draft.at.iter().filter(|at| joins(at)).count() as u64;
    if node > u64::from(n_nodes) + n_joining {
        let why = format!("node: there is no node {node}: {n_nodes} at first, {n_joining} join");
        return Err(bad(at, "node", why));
    }
    Ok(u32::try_from(node).ok())
}

/// A change of the hosts that clients use.
fn decide_hosts(
    draft: &Draft,
    at: &AtDraft,
    target: &Target,
    hosts: &Written,
) -> Result<Action, BadPlan> {
    let host_of = |text: &str| Host::parse(text).map_err(|why| hosts.bad(format!("hosts: {why}")));
    if hosts.text.contains('@') {
        // Whatever else is wrong with it: it may hold a password, which nothing repeats.
        host_of(&hosts.text)?;
    }
    let (word, host) = hosts.text.trim().split_once(' ').unwrap_or((hosts.text.trim(), ""));
    let changes = [HostsChange::Add, HostsChange::Remove];
    let Some(change) = changes.into_iter().find(|change| change.written() == word) else {
        let hint = did_you_mean(word, ["add", "remove"]);
        return Err(hosts.bad(format!("hosts: '{word}' is not add or remove{hint}")));
    };
    let is_managed = managed::is_managed(target);
    if target.option("socket").is_some_and(|socket| socket != "false")
        || (!is_managed && target.hosts.is_empty())
    {
        return Err(hosts.bad(format!("hosts: {target} has no hosts, so there is none to change")));
    }
    let which = match (host.trim(), node(draft, at, target)?) {
        ("", Some(node)) => Which::Node(node),
        ("", None) if is_managed => {
            return Err(hosts.bad("hosts: say which node of the managed cluster, such as node = 2"));
        }
        ("", None) => {
            return Err(hosts.bad(format!("hosts: {word} which? write '{word} db2:3307'")));
        }
        (_, Some(_)) => return Err(hosts.bad("hosts: name a host or a node, not both")),
        (host, None) => Which::Host(host_of(host)?),
    };
    Ok(Action::Hosts { change, which })
}

/// What is done to a server; none is a node that joins.
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
            _ => Err("server: a pause has a length: write 'pause 5s'".to_owned()),
        };
    }
    let hint = did_you_mean(text, ["restart", "kill", "pause 5s", "stop", "start", JOIN]);
    Err(format!(
        "server: '{text}' is not one of restart, kill, 'pause 5s', stop, start and join{hint}"
    ))
}

fn time(at: &AtDraft, path: &'static str) -> Result<Option<u64>, BadPlan> {
    match at.setting(path)? {
        Some(Setting::Duration(ns)) => Ok(Some(ns)),
        _ => Ok(None),
    }
}

fn positive(at: &AtDraft, path: &'static str) -> Result<Option<u64>, BadPlan> {
    match time(at, path)? {
        Some(0) => Err(bad(at, path, format!("{path}: 0 is no length"))),
        length => Ok(length),
    }
}

/// An error about the value at `path`.
fn bad(at: &AtDraft, path: &str, why: String) -> BadPlan {
    at.values.get(path).map_or_else(|| at.bad(&why), |written| written.bad(&why))
}
