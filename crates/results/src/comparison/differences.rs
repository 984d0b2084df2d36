//! What differs between sides besides their figures: plan, database, machine, build.
//!
//! Not here: what was measured, in whatever fact it stands, and what changes by itself.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::report::Report;

/// A side with more values than these is said to vary.
const VALUES_SHOWN_MAX: usize = 3;
/// Facts that are measurements, not set-up, wherever they stand.
const MEASURED: [&str; 9] = [
    "available_bytes",
    "busy_percent",
    "free_bytes",
    "mhz_now",
    "mhz_seen",
    "size_bytes",
    "steal_percent",
    "swap_free_bytes",
    "uptime_s",
];
/// Facts about how a run went.
const OF_THE_RUN: [&str; 5] = ["around", "client", "commits", "connections", crate::repeats::TRIAL];
/// What names things and changes nothing, and what says again what other facts say.
const NAMES: [&str; 3] = ["name", "seed", "size"];

/// Something that is not the same on all sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// `plan`, or what the fact is about.
    pub about: String,
    /// Its name.
    pub name: String,
    /// By side; null where nothing is known of it.
    pub values: Vec<Option<String>>,
}

/// All differences, those of the plan first, then by what they are about.
pub(super) fn between(sides: &[Vec<&Report>]) -> Vec<Difference> {
    let common = common_settings(sides);
    let of = |report: &Report| set_up(report, &common);
    let seen: Vec<Vec<(String, String, String)>> =
        sides.iter().map(|side| side.iter().copied().flat_map(of).collect()).collect();
    let mut names: Vec<(&str, &str)> =
        seen.iter().flatten().map(|(about, name, _)| (about.as_str(), name.as_str())).collect();
    names.sort_by_key(|(about, name)| (*about != "plan", *about, *name));
    names.dedup();
    let difference = |(about, name): (&str, &str)| {
        let mut of_sides: Vec<Vec<&str>> = Vec::new();
        for side in &seen {
            let here = side.iter().filter(|(a, n, _)| (a.as_str(), n.as_str()) == (about, name));
            let mut values: Vec<&str> = here.map(|(_, _, value)| value.as_str()).collect();
            values.sort_unstable();
            values.dedup();
            of_sides.push(values);
        }
        if of_sides.windows(2).all(|two| two[0] == two[1]) {
            return None;
        }
        let told = |values: &Vec<&str>| match values.len() {
            0 => None,
            n if n > VALUES_SHOWN_MAX => Some(format!("{n} values")),
            _ => Some(values.join(", ")),
        };
        let values = of_sides.iter().map(told).collect();
        Some(Difference { about: about.to_owned(), name: name.to_owned(), values })
    };
    let all = names.into_iter().filter_map(difference).collect();
    once(all)
}

/// What was asked for and what the server then says are told once where they are the same.
fn once(all: Vec<Difference>) -> Vec<Difference> {
    let mut kept: Vec<Difference> = Vec::new();
    for one in all {
        kept.retain(|known| {
            let is_same = known.name == one.name && known.values == one.values;
            !(is_same && known.about == "managed")
        });
        kept.push(one);
    }
    kept
}

/// Names of the settings that every run was told of: another product or version has others, and
/// what only one of them knows is no difference in how they were set.
fn common_settings(sides: &[Vec<&Report>]) -> BTreeSet<String> {
    let names = |report: &Report| -> BTreeSet<String> {
        report.settings.iter().map(|(name, _)| name.to_owned()).collect()
    };
    let all = sides.iter().flatten().copied().map(names);
    all.reduce(|ours, theirs| &ours & &theirs).unwrap_or_default()
}

/// About, name and value of everything that was decided or found before the load.
fn set_up(report: &Report, settings: &BTreeSet<String>) -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    if let Ok(plan) = report.plan.parse::<toml::Table>() {
        flatten("", &toml::Value::Table(plan), &mut all);
    }
    all.retain(|(_, name, _)| !NAMES.contains(&name.as_str()));
    let told = |about: &str| !OF_THE_RUN.contains(&about);
    for (about, facts) in report.facts.iter().filter(|(about, _)| told(about)) {
        for (name, value) in facts {
            let is_measured = MEASURED.contains(&name.as_str()) || name.starts_with("load_");
            let is_name = NAMES.contains(&name.as_str());
            if !is_measured && !is_name && !is_of_the_day(report, about, name, value) {
                all.push((about.clone(), name.clone(), value.clone()));
            }
        }
    }
    // What a fact tells already is not told twice.
    let known: BTreeSet<String> = all.iter().map(|(_, name, _)| name.clone()).collect();
    for (name, value) in report.settings.iter() {
        if settings.contains(name) && !known.contains(name) {
            all.push(("setting".to_owned(), name.to_owned(), value.clone()));
        }
    }
    all
}

/// Whether a fact only says where a server stood that was started for its run.
fn is_of_the_day(report: &Report, about: &str, name: &str, value: &str) -> bool {
    let Some(managed) = report.facts.get("managed") else { return false };
    managed.get("folder").is_some_and(|folder| folder == value)
        || (about, name) == ("connection", "address")
}

/// The plan's values by dotted path; lists of tables by the name of each.
fn flatten(path: &str, value: &toml::Value, all: &mut Vec<(String, String, String)>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        toml::Value::Table(table) => {
            table.iter().for_each(|(key, value)| flatten(&below(key), value, all));
        }
        toml::Value::Array(list) if list.iter().all(toml::Value::is_table) => {
            for (index, value) in list.iter().enumerate() {
                let name = value.get("name").and_then(toml::Value::as_str);
                let name = name.map_or_else(|| (index + 1).to_string(), str::to_owned);
                flatten(&below(&name), value, all);
            }
        }
        toml::Value::String(text) => all.push(("plan".to_owned(), path.to_owned(), text.clone())),
        value => all.push(("plan".to_owned(), path.to_owned(), value.to_string())),
    }
}
