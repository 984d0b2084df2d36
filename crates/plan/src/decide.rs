//! From a draft to a decided plan: parses every value, applies every default, and rejects
//! contradictions.

use std::fmt::Display;
use std::sync::Arc;

use model::{
    Action, ArrivalRate, Choice, Connect, Connections, Disturbance, Group, Load, LoadModel,
    MonitorScope, NetworkConditions, Phases, Plan, Recording, Retry, Settings, Settle,
    StopCondition, Target, Workload, each_once,
};

use crate::bad_plan::BadPlan;
use crate::draft::{Draft, GroupDraft, spelled};
use crate::script::{script_of, workload_named};
use crate::table::{GroupValues, PlanValues};
use crate::target::{keeps_data, refused_engine};
use crate::written::{From, Given, Written};
use crate::{at, managed, server};

/// Largest number of groups of clients in a plan, above any plan that a person writes. A plan with
/// more is rejected.
const GROUPS_MAX: usize = 256;
/// Largest number of clients of all groups together; a plan with more is rejected. Each client
/// needs memory, even if it is idle most of the time.
const CLIENTS_MAX: u64 = 1_000_000;

/// Parses and checks a draft, and returns the plan with every value decided. If the draft names no
/// target, calls `default_target` with the name of the first group's workload. An error has the
/// source position and the remedy.
pub fn decide(
    draft: &Draft,
    default_target: &dyn Fn(&str) -> Result<Target, String>,
) -> Result<Plan, BadPlan> {
    has_groups(draft)?;
    let values = PlanValues::read(&draft.values)?;
    let n_agents = values.agents.value.as_ref().map(Vec::len);
    let of_group = |group: &GroupDraft| decide_group(group, n_agents);
    let groups = draft.groups.iter().map(of_group).collect::<Result<Vec<_>, _>>()?;
    check_groups(draft, &groups)?;
    check_duration(&values.duration, &groups)?;
    let first = &groups[0].workload;
    let target = match &values.target.value {
        Some(target) => target.clone(),
        None => default_target(first).map_err(BadPlan)?,
    };
    let (target, settings) = server::decide(draft, target)?;
    let network = NetworkConditions {
        delay_ns: values.network_delay.value,
        bytes_per_s: values.network_bandwidth.value,
    };
    if n_agents.is_some() && network != NetworkConditions::default() {
        let why = "agents connect to the server by themselves: leave network_delay and \
                   network_bandwidth out";
        return Err(BadPlan(why.to_owned()));
    }
    check_network(&values.network_delay, values.network_delay.value > 0, &target)?;
    check_network(&values.network_bandwidth, values.network_bandwidth.value.is_some(), &target)?;
    for (draft, group) in draft.groups.iter().zip(&groups) {
        check_on_target(draft, group, &target, n_agents.is_some())?;
    }
    check_group_targets(draft, &groups, &target, network)?;
    check_settle(&values.settle, &target)?;
    check_instruments(&values.instruments, values.monitor.value)?;
    check_monitor_agents(&values.monitor_agents, values.monitor.value)?;
    let phases = Phases {
        ramp_up_ns: ramp_up_ns(&values.ramp_up, &groups)?,
        measure_ns: measure_ns(&values.duration, &groups),
        drain_ns: values.drain.value,
    };
    let disturbances = at::decide(draft, &target, network, phases)?;
    check_hosts(&groups, &disturbances)?;
    Ok(put_together(values, target, settings, groups, phases, network, disturbances))
}

/// Creates the plan from the parsed values of its top level and from the parts that were checked on
/// their own, such as the groups.
fn put_together(
    values: PlanValues,
    target: Target,
    settings: Vec<(String, String)>,
    groups: Vec<Group>,
    phases: Phases,
    network: NetworkConditions,
    disturbances: Vec<Disturbance>,
) -> Plan {
    // All fields, so that one left out fails to compile.
    let PlanValues {
        name,
        seed,
        target: _,
        placement,
        agents,
        agent_loss,
        monitor_agents,
        event_loop,
        pin,
        ramp_up: _,
        duration: _,
        drain: _,
        connect_rate,
        connect_at_once,
        network_delay: _,
        network_bandwidth: _,
        retry_attempts,
        retry_backoff,
        retry_on,
        ignore_errors,
        histogram_max,
        report_interval,
        monitor,
        instruments,
        cpu_profile,
        settle,
        settle_limit,
    } = values;
    Plan {
        name: name.value.unwrap_or_else(|| workloads_of(&groups)),
        seed: seed.value,
        target,
        settings,
        phases,
        groups,
        placement: placement.value,
        agents: agents.value.unwrap_or_default(),
        agent_loss: agent_loss.value,
        monitor_agents: monitor_agents.value.unwrap_or_default(),
        event_loop: event_loop.value,
        pin: pin.value,
        connect: Connect { rate_per_s: connect_rate.value, at_once: connect_at_once.value },
        network,
        retry: Retry {
            ignored: ignore_errors.value.unwrap_or_default(),
            attempts: retry_attempts.value,
            on: retry_on.value,
            backoff_ns: retry_backoff.value,
        },
        recording: recording(histogram_max.value, report_interval.value),
        interval_seconds: report_interval.value,
        monitor: monitor.value,
        instruments: instruments.value,
        cpu_profile: cpu_profile.value,
        settle: settle.value,
        settle_limit_ns: settle_limit.value,
        disturbances,
    }
}

/// Returns the range and resolution of histograms, for a report of this interval in seconds.
fn recording(histogram_max_ns: u64, interval_s: u32) -> Recording {
    Recording { histogram_max_ns, window_seconds: model::window_seconds(interval_s) }
}

fn has_groups(draft: &Draft) -> Result<(), BadPlan> {
    if draft.groups.is_empty() {
        let file = draft.file.as_ref().map_or(String::new(), |file| format!("{file}: "));
        return Err(BadPlan(format!("{file}the plan has no [[group]]: nothing to do")));
    }
    Ok(())
}

/// Rejects `settle` (waiting until the server's background work is finished) for a target that
/// stores no data.
fn check_settle(settle: &Given<Settle>, target: &Target) -> Result<(), BadPlan> {
    if settle.value != Settle::Off && !keeps_data(target) {
        let scheme = &target.scheme;
        return Err(settle.bad(format!("{scheme}: has nothing to settle: leave it out")));
    }
    Ok(())
}

/// Rejects `instruments`, which enables additional server counters, if monitoring is off and
/// nothing reads them.
fn check_instruments(instruments: &Given<bool>, monitor: MonitorScope) -> Result<(), BadPlan> {
    if instruments.value && monitor == MonitorScope::Off {
        let why = "nothing reads them with monitor off: leave out one of the two";
        return Err(instruments.bad(why));
    }
    Ok(())
}

/// Rejects `monitor_agents` if monitoring is off.
fn check_monitor_agents(
    agents: &Given<Option<Vec<String>>>,
    monitor: MonitorScope,
) -> Result<(), BadPlan> {
    if agents.value.is_some() && monitor == MonitorScope::Off {
        let why = "their hosts are not read with monitor off: leave out one of the two";
        return Err(agents.bad(why));
    }
    Ok(())
}

/// Returns the length of the measured phase in nanoseconds; 0 for no limit, if only numbers of
/// transactions end it and no duration is written.
fn measure_ns(duration: &Given<u64>, groups: &[Group]) -> u64 {
    let is_limited = duration.is_written() || is_by_time(groups);
    if is_limited { duration.value } else { 0 }
}

/// Returns the length of the ramp-up in nanoseconds. If clients execute a fixed sequence of
/// transactions, it is 0, and any other is rejected, because a ramp-up would execute a part of the
/// sequence.
fn ramp_up_ns(ramp_up: &Given<u64>, groups: &[Group]) -> Result<u64, BadPlan> {
    let is_sequence = |group: &&Group| {
        workload_of(group, 0).is_some_and(|(_, workload)| workload.sequence().is_some())
    };
    let Some(group) = groups.iter().find(is_sequence) else { return Ok(ramp_up.value) };
    match ramp_up.is_written() && ramp_up.value > 0 {
        true => Err(ramp_up.bad(format!(
            "{} executes each of its transactions once, and a ramp-up would take some of them: \
             leave it out",
            group.workload
        ))),
        false => Ok(0),
    }
}

/// Returns the name of a plan that has none: its distinct workloads, joined by `+`.
fn workloads_of(groups: &[Group]) -> String {
    each_once(groups.iter().map(|group| group.workload.as_str())).join("+")
}

/// Rejects a parameter of the simulated network if the user set it (`is_asked`) and clients do not
/// reach the target over a network.
fn check_network<T>(value: &Given<T>, is_asked: bool, target: &Target) -> Result<(), BadPlan> {
    let is_over_network = match managed::is_managed(target) {
        true => managed::read(target).map_or(true, |wanted| !wanted.by_socket),
        false => drivers::of_target(target).is_some_and(|entry| (entry.is_over_network)(target)),
    };
    match is_asked && !is_over_network {
        true => Err(value.bad(format!(
            "clients do not connect to {target} over a network: leave it out, or name a host as \
             the target"
        ))),
        false => Ok(()),
    }
}

/// Rejects separate client processes, or a storage engine, that the group's target does not
/// support.
fn check_on_target(
    draft: &GroupDraft,
    group: &Group,
    target: &Target,
    are_agents: bool,
) -> Result<(), BadPlan> {
    if group.processes > 0 && drivers::is_in_memory(target) {
        let name = if are_agents { "agents" } else { "processes" };
        let from = draft.values.get("processes").map_or(&From::Default, |written| &written.from);
        let why = format!(
            "other processes cannot see {target}, which is in the memory of one: name a file, such \
             as sqlite:bench.db, or leave {name} out"
        );
        return Err(from.bad_value(name, why));
    }
    let Some(entry) = drivers::of_target(target) else { return Ok(()) };
    let refused = workload_of(group, 0)
        .and_then(|(_, workload)| refused_engine(target, &entry.product.dialect, &*workload));
    let written = draft.parameters.iter().find(|(name, _)| name == "engine");
    match (refused, written) {
        (Some(why), Some((name, written))) => Err(written.from.bad_value(name, why)),
        _ => Ok(()),
    }
}

/// Rejects a server of a group's clients that cannot be another host of the plan's target, or that
/// the simulated network path does not lead to.
fn check_group_targets(
    draft: &Draft,
    groups: &[Group],
    main: &Target,
    network: NetworkConditions,
) -> Result<(), BadPlan> {
    for (draft, group) in draft.groups.iter().zip(groups) {
        let Some(target) = &group.target else { continue };
        let from = draft.values.get("target").map_or(&From::Default, |written| &written.from);
        let bad = |why: String| Err(from.bad_value("target", why));
        if !target.is_server() {
            return bad(format!(
                "{target} is no running server: name another host with the data of {main}, or \
                 leave it out"
            ));
        }
        let product = |target: &Target| drivers::of_target(target).map(|entry| entry.name);
        if !managed::is_managed(main) && product(target) != product(main) {
            return bad(format!(
                "{target} is another product than {main}: name a host of its data"
            ));
        }
        if network != NetworkConditions::default() {
            return bad(
                "network_delay and network_bandwidth concern the plan's target alone: leave them \
                 out"
                .to_owned(),
            );
        }
    }
    Ok(())
}

/// Rejects too many groups or clients, two groups of the same name, and two groups that use the
/// same data with different parameters.
fn check_groups(draft: &Draft, groups: &[Group]) -> Result<(), BadPlan> {
    if groups.len() > GROUPS_MAX {
        let why = format!("{} groups are too many: at most {GROUPS_MAX}", groups.len());
        return Err(BadPlan(why));
    }
    for (index, group) in groups.iter().enumerate() {
        if groups[..index].iter().any(|other| other.name == group.name) {
            let why = format!("two groups are called '{}': give each a name", group.name);
            return Err(draft.groups[index].bad(why));
        }
    }
    for (index, group) in groups.iter().enumerate() {
        for other in &groups[..index] {
            check_common_data(other, group).map_err(|why| draft.groups[index].bad(why))?;
        }
    }
    let clients: u64 = groups.iter().map(|group| u64::from(group.clients)).sum();
    if clients > CLIENTS_MAX {
        let why = format!("{clients} clients in all groups are too many: at most {CLIENTS_MAX}");
        return Err(BadPlan(why));
    }
    Ok(())
}

/// Rejects two groups that use the same data with different workload parameters. Parameters that a
/// group does not give are not compared.
fn check_common_data(a: &Group, b: &Group) -> Result<(), String> {
    let entry = |group: &Group| workloads::by_name(&group.workload).map_err(|bad| bad.to_string());
    let (of_a, of_b) = (entry(a)?, entry(b)?);
    if of_a.data != of_b.data {
        return Ok(());
    }
    let given = |group: &Group| {
        let (settings, workload) = workload_of(group, 0)?;
        let scale = workload.identity().scale;
        Some(scale.into_iter().filter(|(name, _)| settings.is_given(name)).collect::<Vec<_>>())
    };
    let (Some(of_a), Some(of_b)) = (given(a), given(b)) else { return Ok(()) };
    for (name, value) in &of_a {
        if let Some((_, other)) = of_b.iter().find(|(own, other)| own == name && other != value) {
            return Err(disagreement([&a.name, &b.name], name, [value, other]));
        }
    }
    Ok(())
}

/// Returns the error message for two groups that use the same data with different values of a
/// parameter. `groups` are the names of the groups, `values` their values in the same order.
pub fn disagreement(groups: [&str; 2], parameter: &str, values: [&dyn Display; 2]) -> String {
    let [a, b] = groups;
    let [of_a, of_b] = values;
    format!(
        "the groups '{a}' and '{b}' use the same data and disagree in {parameter}: {of_a} and \
         {of_b}; give both the same"
    )
}

/// Creates the workload of a group without access to its data, and returns it with its settings;
/// `None` if the workload cannot be made without the data.
pub fn workload_of(group: &Group, seed: u64) -> Option<(Settings, Arc<dyn Workload>)> {
    let entry = workloads::by_name(&group.workload).ok()?;
    let pairs = group.parameters.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let settings = Settings::decide(entry.name, entry.parameters, pairs).ok()?;
    let workload = entry.made(&settings, seed, None).ok()?;
    Some((settings, workload))
}

/// Returns true if the measured phase of some group ends after a time; false if numbers of
/// transactions end it in all groups.
fn is_by_time(groups: &[Group]) -> bool {
    groups.iter().any(|group| group.stop_condition == StopCondition::Time)
}

fn check_duration(duration: &Given<u64>, groups: &[Group]) -> Result<(), BadPlan> {
    match is_by_time(groups) && duration.value == 0 {
        true => Err(duration.bad("the measured phase is empty: give it a duration, such as 30s")),
        false => Ok(()),
    }
}

fn decide_group(draft: &GroupDraft, n_agents: Option<usize>) -> Result<Group, BadPlan> {
    let values = GroupValues::read(&draft.values)?;
    let entry = entry_of(draft, &values)?;
    let load = decide_load(&values)?;
    let (parameters, made) = decide_parameters(draft, entry)?;
    check_stored_rate(draft, &values.rate, entry, made.as_ref())?;
    // The parts of `load` are read separately.
    let GroupValues { name, script, target, mut clients, processes, transactions, connect, .. } =
        values;
    let mut stop_condition = transactions.value.unwrap_or(StopCondition::Time);
    if let Some(sequence) = made.sequence() {
        if !clients.is_written() {
            clients.value = u32::try_from(sequence.len()).unwrap_or(u32::MAX);
        }
        if load != Load::Closed {
            let name = entry.name;
            let why = format!("{name} executes one query after the other: its load is closed");
            return Err(values.load.bad(why));
        }
        stop_condition = transactions.value.unwrap_or(StopCondition::Sequence);
    }
    let refused = made.script().map(|script| script.refuses_load()).transpose();
    if let Some(why) = refused.map_err(|bad| BadPlan(bad.to_string()))?.flatten() {
        return Err(BadPlan(why));
    }
    let processes = by_agents(processes, n_agents)?;
    check_processes(&processes, clients.value, n_agents.is_some())?;
    if let Some(why) = made.refuses_processes().filter(|_| processes.value > 0) {
        return Err(processes.bad(why));
    }
    if let Some(why) = made.refuses_new_connections().filter(|_| connect.value != Connections::Kept)
    {
        return Err(connect.bad(why));
    }
    if matches!(
        (stop_condition, &load),
        (StopCondition::TransactionsPerClient(_), Load::Open { .. })
    ) {
        let why = "open load has no count per client: give one count for all";
        return Err(transactions.bad(why));
    }
    Ok(Group {
        name: name.value.unwrap_or_else(|| entry.name.to_owned()),
        workload: entry.name.to_owned(),
        script: script.value,
        target: target.value,
        clients: clients.value,
        processes: processes.value,
        load,
        connections: connect.value,
        stop_condition,
        parameters,
    })
}

/// Returns the workload of a group: that of its script if it has one, or the named one.
fn entry_of(
    draft: &GroupDraft,
    values: &GroupValues,
) -> Result<&'static workloads::Entry, BadPlan> {
    if let Some(text) = &values.script.value {
        return script_of(draft, text).map_err(|bad| values.script.from.bad(bad));
    }
    let Some(workload) = &values.workload.value else {
        return Err(draft.bad("this [[group]] has no workload"));
    };
    workload_named(workload).map_err(|bad| values.workload.from.bad(bad))
}

/// Returns the number of client processes: one on each agent, if there are agents.
fn by_agents(processes: Given<u32>, n_agents: Option<usize>) -> Result<Given<u32>, BadPlan> {
    match n_agents {
        Some(_) if processes.is_written() => {
            Err(processes.bad("each agent runs its clients in one process: leave processes out"))
        }
        Some(n_agents) => Ok(processes.with(n_agents as u32)),
        None => Ok(processes),
    }
}

/// Rejects more client processes than clients, because some would have none.
fn check_processes(processes: &Given<u32>, clients: u32, are_agents: bool) -> Result<(), BadPlan> {
    let n_processes = processes.value;
    match are_agents {
        _ if n_processes <= clients => Ok(()),
        true => Err(BadPlan(format!(
            "{n_processes} agents are more than there are clients ({clients}): give more clients, \
             or fewer agents"
        ))),
        false => Err(processes.bad(format!(
            "{n_processes} processes are more than there are clients ({clients}): give at most \
             {clients}"
        ))),
    }
}

/// Rejects disturbances that change the hosts of clients if some clients run in other processes,
/// which would not notice.
fn check_hosts(groups: &[Group], disturbances: &[Disturbance]) -> Result<(), BadPlan> {
    let is_of_hosts = |disturbance: &&Disturbance| {
        matches!(disturbance.action, Action::Hosts { .. } | Action::Join)
    };
    match disturbances.iter().find(is_of_hosts) {
        Some(disturbance) if groups.iter().any(|group| group.processes > 0) => {
            Err(BadPlan(format!(
                "the disturbance '{}' changes the hosts of clients, which extra processes do not \
                 support: leave out one of the two",
                disturbance.name
            )))
        }
        _ => Ok(()),
    }
}

type Parameters = Vec<(String, String)>;

/// Checks the workload parameters of a group one by one, so that each error has a source position.
/// Returns the given parameters, without defaults, and the workload.
fn decide_parameters(
    draft: &GroupDraft,
    entry: &'static workloads::Entry,
) -> Result<(Parameters, Arc<dyn Workload>), BadPlan> {
    let mut parameters = Parameters::new();
    for (name, written) in &draft.parameters {
        let one = [(name.as_str(), written.text.as_str())];
        Settings::decide(entry.name, entry.parameters, one).map_err(|bad| placed(written, bad))?;
        parameters.push((name.clone(), written.text.clone()));
    }
    let pairs = parameters.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let settings = Settings::decide(entry.name, entry.parameters, pairs)
        .map_err(|bad| BadPlan(bad.to_string()))?;
    let made = entry.made(&settings, 0, None).map_err(|bad| {
        let is_it = |(name, _): &&(String, Written)| Some(name) == bad.parameter.as_ref();
        match draft.parameters.iter().find(is_it) {
            Some((_, written)) => placed(written, bad),
            None => BadPlan(bad.to_string()),
        }
    })?;
    Ok((parameters, made))
}

/// Rejects an arrival rate in bytes or records per second, unless each transaction of the workload
/// stores the same volume.
fn check_stored_rate(
    draft: &GroupDraft,
    rate: &Given<Option<ArrivalRate>>,
    entry: &workloads::Entry,
    workload: &dyn Workload,
) -> Result<(), BadPlan> {
    let (unit, no_such) = match &rate.value {
        Some(ArrivalRate::Bytes(_)) => ("bytes", "record size"),
        Some(ArrivalRate::Records(_)) => ("records", "number of records"),
        _ => return Ok(()),
    };
    let written = draft.values.get("rate").map_or("", |written| written.text.as_str());
    if workload.transaction_stores().is_some() {
        return Ok(());
    }
    let name = entry.name;
    Err(rate.bad(match entry.roles.first() {
        None => format!(
            "'{written}' is in {unit}, and the transactions of {name} have no {no_such}: give \
             transactions per second, such as 500{}",
            application_rate(entry)
        ),
        Some(role) => format!(
            "'{written}' is in {unit}, and this group of {name} inserts none: give it to the group of \
             {}, or give transactions per second, such as 500",
            role.name
        ),
    }))
}

/// Returns the end of an error message that advises `--application-rate`, if the workload has this
/// parameter; otherwise an empty text.
fn application_rate(entry: &workloads::Entry) -> &'static str {
    match entry.parameters.iter().any(|parameter| parameter.name == model::PRODUCER_RATE) {
        true => ", or measurements per second by --application-rate",
        false => "",
    }
}

/// Creates an error about a workload's parameter, with the source position of its value.
fn placed(written: &Written, bad: model::BadParameter) -> BadPlan {
    match &bad.parameter {
        Some(parameter) => written.from.bad_value(parameter, bad.why),
        None => written.bad(bad),
    }
}

fn decide_load(values: &GroupValues) -> Result<Load, BadPlan> {
    let GroupValues { load, rate, arrivals, queue, queue_full, keythink_scale, .. } = values;
    let GroupValues { queue_wait, queue_at_end, .. } = values;
    let model = match load.is_written() {
        true => load.value,
        // Only open load has a rate.
        false if rate.is_written() => LoadModel::Open,
        false if keythink_scale.is_written() => LoadModel::KeyThink,
        false => load.value,
    };
    if model != LoadModel::Open {
        belongs(rate, LoadModel::Open, model)?;
        belongs(arrivals, LoadModel::Open, model)?;
        belongs(queue, LoadModel::Open, model)?;
        belongs(queue_full, LoadModel::Open, model)?;
        belongs(queue_wait, LoadModel::Open, model)?;
        belongs(queue_at_end, LoadModel::Open, model)?;
    }
    if model != LoadModel::KeyThink {
        belongs(keythink_scale, LoadModel::KeyThink, model)?;
    }
    match model {
        LoadModel::Closed => Ok(Load::Closed),
        LoadModel::KeyThink => Ok(Load::KeyThink { scale: keythink_scale.value }),
        LoadModel::Open => match &rate.value {
            Some(rate) => Ok(Load::Open {
                arrivals: arrivals.value,
                rate: rate.clone(),
                queue: queue.value,
                queue_full: queue_full.value,
                queue_wait_ns: queue_wait.value,
                queue_at_end: queue_at_end.value,
            }),
            None => {
                let rate = spelled("rate", "500", &load.from);
                Err(load.bad(format!("an open load needs a rate: {rate}")))
            }
        },
    }
}

/// Rejects a parameter that is only for load model `to` if the group's load model is another one.
fn belongs<T>(value: &Given<T>, to: LoadModel, model: LoadModel) -> Result<(), BadPlan> {
    match value.is_written() {
        true => {
            let (to, model) = (to.name(), model.name());
            Err(value.bad(format!("it belongs to {to} load, and this is {model}")))
        }
        false => Ok(()),
    }
}

impl GroupDraft {
    /// Creates an error about the group as a whole, with its source position.
    fn bad(&self, why: impl std::fmt::Display) -> BadPlan {
        self.from.as_ref().unwrap_or(&From::Default).bad(why)
    }
}
