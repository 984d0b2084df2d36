//! Disturbances: from `[[at]]` as written to what is done in mid-run, contradictions refused.

use model::{
    Deed, Disturbance, Phases, ServerAction, Setting, Target, did_you_mean, format_duration,
    parse_duration,
};

use super::{AtDraft, BadPlan, Draft};

/// Each has a thread of its own, and those with SQL a connection.
const DISTURBANCES_MAX: usize = 64;
/// Each time is told, stored and shown.
const TIMES_MAX: u64 = 1000;
/// A run whose end only counts decide is held to this many hours for [`TIMES_MAX`].
const UNLIMITED_NS: u64 = 24 * 3600 * model::NS_PER_S;
/// The actions that stand alone.
const ACTIONS: [ServerAction; 4] =
    [ServerAction::Restart, ServerAction::Kill, ServerAction::Stop, ServerAction::Start];

pub(super) fn decide(
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
    let deed = decide_deed(draft, at, target)?;
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
        return Err(bad(
            at,
            "time",
            format!(
                "time: {} is after the end of the run: the measured phase lasts {}",
                format_duration(at_ns),
                format_duration(end_ns)
            ),
        ));
    }
    let decided = Disturbance {
        name: match at.values.get("name") {
            Some(name) => name.text.clone(),
            None => deed.told(),
        },
        at_ns,
        every_ns: positive(at, "every")?,
        until_ns: time(at, "until")?,
        limit_ns: positive(at, "for")?,
        deed,
    };
    if decided.until_ns.is_some_and(|until_ns| until_ns <= at_ns) {
        return Err(bad(at, "until", "until: that is not after its time".to_owned()));
    }
    if matches!(decided.deed, Deed::Server(_)) && decided.limit_ns.is_some() {
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

fn decide_deed(draft: &Draft, at: &AtDraft, target: &Target) -> Result<Deed, BadPlan> {
    let sql = at.sql.first();
    let command = at.values.get("command");
    let server = at.values.get("server");
    match (sql, command, server) {
        (Some(_), None, None) => {
            if let Some(empty) = at.sql.iter().find(|written| written.text.trim().is_empty()) {
                return Err(empty.bad("sql: there is no statement"));
            }
            Ok(Deed::Sql(at.sql.iter().map(|written| written.text.clone()).collect()))
        }
        (None, Some(command), None) if command.text.trim().is_empty() => {
            Err(command.bad("command: there is none"))
        }
        (None, Some(command), None) if !draft.is_local => Err(command.bad(
            "command: only a plan that is a file named on this machine's command line may run \
             commands (an experiment goes on with 'experiments resume ID --plan FILE')",
        )),
        (None, Some(command), None) => Ok(Deed::Command(command.text.clone())),
        (None, None, Some(server)) => {
            let action = action(&server.text).map_err(|why| server.bad(why))?;
            if !crate::managed::is_managed(target) {
                return Err(server.bad(format!(
                    "server: {target} is not ours to {}: name a managed server (--target \
                     managed:mariadb)",
                    server.text.split_whitespace().next().unwrap_or_default()
                )));
            }
            Ok(Deed::Server(action))
        }
        (None, None, None) => {
            Err(at.bad("the [[at]] does nothing: give it one of sql, command and server"))
        }
        _ => Err(at.bad("one [[at]] does one thing: give it one of sql, command and server")),
    }
}

fn action(text: &str) -> Result<ServerAction, String> {
    let text = text.trim();
    if let Some(action) = ACTIONS.into_iter().find(|action| action.written() == text) {
        return Ok(action);
    }
    if let Some(length) = text.strip_prefix("pause") {
        return match parse_duration(length) {
            Ok(for_ns @ 1..) => Ok(ServerAction::Pause { for_ns }),
            _ => Err("server: a pause has a length: write 'pause 5s'".to_owned()),
        };
    }
    let hint = did_you_mean(text, ["restart", "kill", "pause 5s", "stop", "start"]);
    Err(format!("server: '{text}' is not one of restart, kill, 'pause 5s', stop and start{hint}"))
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
