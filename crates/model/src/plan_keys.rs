//! Former names of the keys of a plan, so that old files and stored plans can still be read.
//!
//! Today a key is the flag's name with `_` instead of `-`, at the top level, in a `[[group]]` or in
//! `[experiment]`. Not here: the list of keys (plan).

/// A key of a plan that was renamed: the table in which earlier versions had it (empty for the top
/// level), its former name, and its name today.
pub type FormerKey = (&'static str, &'static str, &'static str);

/// Renamed keys that earlier versions had at the top level of a plan or in tables such as
/// `[phases]`, with their names today. The keys of `[[group]]` and `[experiment]` are in other
/// lists.
pub const FORMER_OF_PLAN: &[FormerKey] = &[
    ("target", "url", "target"),
    ("phases", "ramp_up", "ramp_up"),
    ("phases", "measure", "duration"),
    ("phases", "drain", "drain"),
    ("connect", "rate", "connect_rate"),
    ("connect", "at_once", "connect_at_once"),
    ("retry", "attempts", "retry_attempts"),
    ("retry", "backoff", "retry_backoff"),
    ("retry", "on", "retry_on"),
    ("recording", "histogram_max", "histogram_max"),
    ("recording", "highest", "histogram_max"),
    ("recording", "report_interval", "report_interval"),
    ("recording", "probe", "report_interval"),
    ("recording", "monitor", "monitor"),
    ("recording", "around", "monitor"),
];

/// Renamed keys within a `[[group]]` of a plan.
pub const FORMER_OF_GROUP: &[FormerKey] = &[
    ("load", "model", "load"),
    ("load", "rate", "rate"),
    ("load", "arrivals", "arrivals"),
    ("load", "queue", "queue"),
    ("load", "queue_full", "queue_full"),
    ("load", "scale", "keythink_scale"),
    ("", "until", "transactions"),
];

/// Renamed keys within `[experiment]` of a plan.
pub const FORMER_OF_EXPERIMENT: &[FormerKey] = &[
    ("", "until", "wait_until"),
    ("", "until_at_most", "wait_at_most"),
    ("", "objectives", "objective"),
];

/// Workload parameters that were renamed, with their former names and those of today.
pub const FORMER_PARAMETERS: &[FormerKey] = &[("", "calls", "mode")];

/// Returns today's name of a renamed key, given by its path in plans of earlier versions, such as
/// `phases.measure`. `former` is one of the tables of renamed keys; `None` if the key is not in it.
pub fn todays_key(former: &'static [FormerKey], path: &str) -> Option<&'static str> {
    let (table, key) = path.rsplit_once('.').unwrap_or(("", path));
    let found = former.iter().find(|(place, name, _)| (*place, *name) == (table, key));
    found.map(|(_, _, today)| *today)
}

/// Replaces a former key at the end of a dotted path into a plan by today's: `phases.measure` by
/// `duration`, `group.users.load.rate` by `group.users.rate`. The name of the group may be missing.
pub fn todays_path(path: &str) -> String {
    let Some(of_group) = path.strip_prefix("group.") else {
        return todays_key(FORMER_OF_PLAN, path).unwrap_or(path).to_owned();
    };
    let (head, former, key) = match of_group.rfind("parameters.") {
        Some(at) => {
            let at = "group.".len() + at + "parameters.".len();
            (&path[..at], FORMER_PARAMETERS, &path[at..])
        }
        None => {
            // The key may be preceded by its former table, or not.
            let at = |n: usize| path.rmatch_indices('.').nth(n).map_or(0, |(at, _)| at + 1);
            let is_former = |start: usize| todays_key(FORMER_OF_GROUP, &path[start..]).is_some();
            let start = if is_former(at(1)) { at(1) } else { at(0) };
            (&path[..start], FORMER_OF_GROUP, &path[start..])
        }
    };
    format!("{head}{}", todays_key(former, key).unwrap_or(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_path_leads_to_todays_key() {
        let check = |old: &str, today: &str| assert_eq!(todays_path(old), today);
        check("phases.measure", "duration");
        check("duration", "duration");
        check("recording.monitor", "monitor");
        check("group.load.model", "group.load");
        check("group.load.scale", "group.keythink_scale");
        check("group.writers.load.rate", "group.writers.rate");
        check("group.writers.rate", "group.writers.rate");
        check("group.until", "group.transactions");
        check("group.a.until", "group.a.transactions");
        check("group.parameters.calls", "group.parameters.mode");
        check("group.a.parameters.until", "group.a.parameters.until");
        check("server.phases.measure", "server.phases.measure");
    }
}
