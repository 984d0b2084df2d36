//! From a draft to a plan: every value read, every default filled in, contradictions refused.

use model::{
    ArrivalRate, Arrivals, Connect, Group, Load, MonitorScope, NS_PER_S, Phases, Placement,
    PlacementChoice, Plan, QueueFull, Recording, RefusalKind, Retry, Setting, Settings, Target,
    Until, did_you_mean, parse_count,
};

use crate::bad_plan::BadPlan;
use crate::draft::{Draft, From, GroupDraft, Written, spelled};
use crate::target::check_target;
use crate::{at, rates_file, server};

/// More groups than this are no plan that a person made.
const GROUPS_MAX: usize = 256;
/// Clients of all groups together; each costs memory even if it only thinks.
const CLIENTS_MAX: u64 = 1_000_000;

/// Decides a draft. `default_target` gives the target of a workload where none is written.
pub fn decide(
    draft: &Draft,
    default_target: &dyn Fn(&str) -> Result<Target, String>,
) -> Result<Plan, BadPlan> {
    if draft.groups.is_empty() {
        let file = draft.file.as_ref().map_or(String::new(), |file| format!("{file}: "));
        return Err(BadPlan(format!("{file}the plan has no [[group]]: nothing to do")));
    }
    let groups = draft.groups.iter().map(decide_group).collect::<Result<Vec<_>, _>>()?;
    check_groups(draft, &groups)?;
    let target = match draft.plan("target.url") {
        Some(written) => match Target::parse(&written.text) {
            Ok(target) => {
                check_target(&target).map_err(|bad| written.bad(bad))?;
                target
            }
            Err(bad) => return Err(written.bad(bad)),
        },
        None => default_target(&groups[0].workload).map_err(BadPlan)?,
    };
    let (target, settings) = server::decide(draft, target)?;
    let phases = decide_phases(draft, &groups)?;
    let disturbances = at::decide(draft, &target, phases)?;
    let first = &groups[0];
    let name = draft.plan("name").map_or_else(|| Ok(first.workload.clone()), one_line)?;
    let retry = Retry {
        attempts: count(draft, "retry.attempts")? as u32,
        on: decide_retry_on(draft)?,
        backoff_ns: duration(draft, "retry.backoff")?,
    };
    let interval_seconds = decide_report_interval(draft)?;
    let histogram_max_ns = duration(draft, "recording.histogram_max")?;
    if !(NS_PER_S..=48 * 3600 * NS_PER_S).contains(&histogram_max_ns) {
        let written = draft.plan("recording.histogram_max").expect("it has a default");
        return Err(written.bad("recording.histogram_max must lie between 1s and 48h"));
    }
    Ok(Plan {
        name,
        seed: count(draft, "seed")?,
        target,
        settings,
        phases,
        groups,
        placement: decide_placement(draft)?,
        pin: switch(draft, "pin")?,
        connect: decide_connect(draft)?,
        retry,
        recording: Recording {
            histogram_max_ns,
            window_seconds: model::window_seconds(interval_seconds),
        },
        interval_seconds,
        monitor: decide_monitor(draft)?,
        disturbances,
    })
}

/// A name, which stands in the lines of lists and tables.
fn one_line(name: Written) -> Result<String, BadPlan> {
    match name.text.contains(model::is_control_char) {
        true => Err(name.bad("a name is one line, without control or invisible characters")),
        false => Ok(name.text),
    }
}

/// Groups are told apart by their names, and all their clients must fit into one run.
fn check_groups(draft: &Draft, groups: &[Group]) -> Result<(), BadPlan> {
    let place = |index: usize| {
        let from: Option<&From> = draft.groups[index].from.as_ref();
        from.map_or(String::new(), |from| format!("{from}: "))
    };
    if groups.len() > GROUPS_MAX {
        let why = format!("{} groups are too many: at most {GROUPS_MAX}", groups.len());
        return Err(BadPlan(why));
    }
    for (index, group) in groups.iter().enumerate() {
        if groups[..index].iter().any(|other| other.name == group.name) {
            let why = format!("two groups are called '{}': give each a name", group.name);
            return Err(BadPlan(format!("{}{why}", place(index))));
        }
    }
    let clients: u64 = groups.iter().map(|group| u64::from(group.clients)).sum();
    if clients > CLIENTS_MAX {
        let why = format!("{clients} clients in all groups are too many: at most {CLIENTS_MAX}");
        return Err(BadPlan(why));
    }
    Ok(())
}

fn decide_phases(draft: &Draft, groups: &[Group]) -> Result<Phases, BadPlan> {
    let by_time = groups.iter().any(|group| group.until == Until::Time);
    let is_given = draft.values.contains_key("phases.measure");
    let measure_ns = if by_time || is_given { duration(draft, "phases.measure")? } else { 0 };
    if by_time && measure_ns == 0 {
        let written = draft.plan("phases.measure").expect("it has a default");
        return Err(written.bad("the measured phase is empty: give it a duration, such as 30s"));
    }
    Ok(Phases {
        ramp_up_ns: duration(draft, "phases.ramp_up")?,
        measure_ns,
        drain_ns: duration(draft, "phases.drain")?,
    })
}

fn decide_report_interval(draft: &Draft) -> Result<u32, BadPlan> {
    let interval_ns = duration(draft, "recording.report_interval")?;
    let is_whole = interval_ns.is_multiple_of(NS_PER_S);
    match u32::try_from(interval_ns / NS_PER_S) {
        Ok(seconds) if seconds > 0 && is_whole => Ok(seconds),
        _ => {
            let written = draft.plan("recording.report_interval").expect("it has a default");
            Err(written.bad("recording.report_interval must be whole seconds, such as 10s"))
        }
    }
}

fn decide_monitor(draft: &Draft) -> Result<MonitorScope, BadPlan> {
    Ok(match text(draft, "recording.monitor")?.as_str() {
        "off" => MonitorScope::Off,
        "all" => MonitorScope::All,
        _ => MonitorScope::Default,
    })
}

fn decide_connect(draft: &Draft) -> Result<Connect, BadPlan> {
    let rate_per_s = match draft.plan_setting("connect.rate")? {
        Some(Setting::Number(rate)) if rate > 0.0 => Some(rate),
        None => None,
        Some(_) => {
            let written = draft.plan("connect.rate").expect("it was just read");
            return Err(written.bad("connect.rate: nobody connects at a rate of 0: leave it out"));
        }
    };
    Ok(Connect { rate_per_s, at_once: count(draft, "connect.at_once")? as u32 })
}

fn decide_placement(draft: &Draft) -> Result<PlacementChoice, BadPlan> {
    Ok(match text(draft, "placement")?.as_str() {
        "thread" => PlacementChoice::Fixed(Placement::Thread),
        "loop" => PlacementChoice::Fixed(Placement::Loop),
        "simulated" => PlacementChoice::Fixed(Placement::Simulated),
        _ => PlacementChoice::Auto,
    })
}

fn decide_retry_on(draft: &Draft) -> Result<Vec<RefusalKind>, BadPlan> {
    let written = draft.plan("retry.on").expect("it has a default");
    let words = written.text.split(',').map(str::trim).filter(|word| !word.is_empty());
    let kind = |word: &str| {
        let kind = RefusalKind::by_name(word);
        if let Some(kind) = kind.filter(|kind| kind.breaks_session()) {
            let why = format!("'{}' ends the session: it is not tried again, but", kind.name());
            return Err(written.bad(format!("{why} the client reconnects by itself")));
        }
        kind.ok_or_else(|| {
            let hint = did_you_mean(word, RefusalKind::ALL.map(RefusalKind::name));
            written.bad(format!("retry.on: there is no refusal '{word}'{hint}"))
        })
    };
    words.map(kind).collect()
}

fn decide_group(draft: &GroupDraft) -> Result<Group, BadPlan> {
    let Some(workload) = draft.group("workload") else {
        let place = draft.from.as_ref().map_or(String::new(), |from| format!("{from}: "));
        return Err(BadPlan(format!("{place}the [[group]] has no workload")));
    };
    let entry = workloads::by_name(&workload.text).map_err(|bad| workload.bad(bad))?;
    let until = decide_until(draft)?;
    let load = decide_load(draft)?;
    if matches!((until, &load), (Until::TransactionsPerClient(_), Load::Open { .. })) {
        let written = draft.group("until").expect("it was just read");
        let why = "arrivals of an open load belong to no client: give one count for all";
        return Err(written.bad(why));
    }
    let Some(Setting::Count(clients)) = draft.group_setting("clients")? else {
        return Err(BadPlan("a group has no clients".to_owned()));
    };
    Ok(Group {
        name: draft.group("name").map_or_else(|| Ok(entry.name.to_owned()), one_line)?,
        workload: entry.name.to_owned(),
        clients: clients as u32,
        load,
        until,
        parameters: decide_parameters(draft, entry)?,
    })
}

/// Only what was given stays in the plan; its reading is checked here, where its place is known.
fn decide_parameters(
    draft: &GroupDraft,
    entry: &'static workloads::Entry,
) -> Result<Vec<(String, String)>, BadPlan> {
    let mut parameters: Vec<(String, String)> = Vec::new();
    for (name, written) in &draft.parameters {
        let one = [(name.as_str(), written.text.as_str())];
        Settings::decide(entry.name, entry.parameters, one)
            .map_err(|bad| placed(written, bad.0))?;
        parameters.push((name.clone(), written.text.clone()));
    }
    let pairs = parameters.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let settings =
        Settings::decide(entry.name, entry.parameters, pairs).map_err(|bad| BadPlan(bad.0))?;
    // What the workload itself refuses begins with the name of the parameter.
    (entry.make)(&workloads::Make { settings: &settings, seed: 0, data: None }).map_err(|bad| {
        let named = |(name, _): &&(String, Written)| bad.0.starts_with(&format!("{name}: "));
        match draft.parameters.iter().find(named) {
            Some((_, written)) => placed(written, bad.0),
            None => BadPlan(bad.0),
        }
    })?;
    Ok(parameters)
}

/// A flag names its parameter already.
fn placed(written: &Written, why: String) -> BadPlan {
    match &written.from {
        From::Flag(flag) => {
            // An axis is told as `--vary group.NAME.mode`.
            let name = flag.rsplit([' ', '.']).next().unwrap_or_default().replace('-', "_");
            let short = why.strip_prefix(&format!("{name}: ")).map(str::to_owned);
            written.bad(short.unwrap_or(why))
        }
        _ => written.bad(why),
    }
}

fn decide_until(draft: &GroupDraft) -> Result<Until, BadPlan> {
    let Some(written) = draft.group("until") else {
        return Ok(Until::Time);
    };
    let text = written.text.trim();
    let (number, per_client) = match text.strip_suffix("per client") {
        Some(number) => (number, true),
        None => (text, false),
    };
    let number = number.trim().trim_end_matches("transactions").trim();
    match parse_count(number) {
        Ok(0) => Err(written.bad("no transactions are nothing to measure: give at least 1")),
        Ok(count) if per_client => Ok(Until::TransactionsPerClient(count)),
        Ok(count) => Ok(Until::Transactions(count)),
        Err(bad) => Err(written.bad(format!("{bad}; such as 100000, or '1000 per client'"))),
    }
}

fn decide_load(draft: &GroupDraft) -> Result<Load, BadPlan> {
    let model = match (draft.is_given("load.model"), draft.is_given("load.rate")) {
        // A rate is meant: nobody gives one to a load that has none.
        (false, true) => "open".to_owned(),
        (false, false) if draft.is_given("load.scale") => "keythink".to_owned(),
        _ => group_text(draft, "load.model")?,
    };
    let belongs = |path: &'static str, to: &str| match draft.group(path) {
        Some(written) if draft.is_given(path) => {
            // A flag names itself.
            let it = if matches!(written.from, From::File { .. }) { path } else { "it" };
            Err(written.bad(format!("{it} belongs to {to} load, and this is {model}")))
        }
        _ => Ok(()),
    };
    if model != "open" {
        for path in ["load.rate", "load.arrivals", "load.queue", "load.queue_full"] {
            belongs(path, "open")?;
        }
    }
    if model != "keythink" {
        belongs("load.scale", "keythink")?;
    }
    match model.as_str() {
        "open" => decide_open(draft),
        "keythink" => match draft.group_setting("load.scale")? {
            Some(Setting::Number(scale)) => Ok(Load::KeyThink { scale }),
            _ => Ok(Load::KeyThink { scale: 1.0 }),
        },
        _ => Ok(Load::Closed),
    }
}

fn decide_open(draft: &GroupDraft) -> Result<Load, BadPlan> {
    let rate = match draft.group_setting("load.rate")? {
        Some(Setting::Text(text)) => {
            let written = draft.group("load.rate").expect("it was just read");
            decide_rate(&text).map_err(|bad| written.bad(bad))?
        }
        _ => {
            let model = draft.group("load.model").expect("it was just read");
            let rate = spelled("load.rate", "500", &model.from);
            return Err(model.bad(format!("an open load needs a rate: {rate}")));
        }
    };
    let queue = match draft.group_setting("load.queue")? {
        Some(Setting::Count(queue)) => queue,
        _ => 0,
    };
    let is = |path, word: &str| group_text(draft, path).map(|text| text == word);
    Ok(Load::Open {
        arrivals: if is("load.arrivals", "uniform")? {
            Arrivals::Uniform
        } else {
            Arrivals::Poisson
        },
        rate,
        queue,
        queue_full: if is("load.queue_full", "stop")? { QueueFull::Stop } else { QueueFull::Drop },
    })
}

fn decide_rate(text: &str) -> Result<ArrivalRate, String> {
    match text.strip_prefix("file ") {
        Some(path) => rates_file::read(path.trim()),
        None => text.parse().map_err(|bad: model::BadUnit| bad.0),
    }
}

fn count(draft: &Draft, path: &'static str) -> Result<u64, BadPlan> {
    match draft.plan_setting(path)? {
        Some(Setting::Count(value)) => Ok(value),
        _ => unreachable!("{path} is a count with a default"),
    }
}

fn duration(draft: &Draft, path: &'static str) -> Result<u64, BadPlan> {
    match draft.plan_setting(path)? {
        Some(Setting::Duration(value)) => Ok(value),
        _ => unreachable!("{path} is a duration with a default"),
    }
}

fn switch(draft: &Draft, path: &'static str) -> Result<bool, BadPlan> {
    match draft.plan_setting(path)? {
        Some(Setting::Switch(value)) => Ok(value),
        _ => unreachable!("{path} is a switch with a default"),
    }
}

fn text(draft: &Draft, path: &'static str) -> Result<String, BadPlan> {
    match draft.plan_setting(path)? {
        Some(Setting::Text(value)) => Ok(value),
        _ => unreachable!("{path} is a word with a default"),
    }
}

fn group_text(draft: &GroupDraft, path: &'static str) -> Result<String, BadPlan> {
    match draft.group_setting(path)? {
        Some(Setting::Text(value)) => Ok(value),
        _ => unreachable!("{path} is a word with a default"),
    }
}
