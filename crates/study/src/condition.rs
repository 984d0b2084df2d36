//! The condition of a run: everything that was decided or found before its load, as named values.
//!
//! Conditions decide to which points runs belong, and which differences the sides of a comparison
//! have. A condition leaves out names, seeds, measurements, and facts that change from one moment
//! to the next. Not here: what was measured (analysis), and how runs are chosen (app).

use std::collections::{BTreeMap, BTreeSet};

use analysis::report::{Named, Report};
use model::{Placement, todays_path};

/// Names of facts that are measurements, such as `free_bytes`, whatever their subject. The
/// [`Condition`] of a run leaves them out.
const MEASURED: [&str; 13] = [
    "available_bytes",
    "bandwidth",
    "busy_percent",
    "free_bytes",
    "mebibyte_s",
    "mhz_now",
    "mhz_seen",
    "round_trip_median_s",
    "round_trip_min_s",
    "size_bytes",
    "steal_percent",
    "swap_free_bytes",
    "uptime_s",
];
/// Subjects of facts about the course of a run, such as `connections`. The [`Condition`] of the run
/// leaves them out, except for the network path that the plan requests.
const OF_THE_RUN: [&str; 11] = [
    "monitor",
    "around",
    "client",
    "commits",
    "connections",
    "data_build",
    "network_path",
    "processes",
    "settle_after",
    "settle_before",
    crate::repeats::TRIAL,
];
/// Subjects of facts that a condition leaves out because they follow from its other values:
/// durability and isolation from the modes, the server's memory from its settings, checkpoints from
/// the product, first arrivals from plan and seed.
const DERIVED: [&str; 5] = ["durability", "isolation", "server_memory", "checkpoints", "arrivals"];
/// Names of plan keys and facts that are not part of a condition: labels, seeds, and copies of
/// other facts.
const NAMES: [&str; 4] = ["name", "seed", "size", "c_load"];
/// Keys of a plan that decide how a run is reported, not how it is executed. Runs that differ only
/// in these keys belong to the same point.
const REPORTING: [&str; 2] = ["report_interval", "histogram_max"];
/// Keys of a plan that sort before its other keys, because readers look for them first on pages.
const FIRST: [&str; 3] = ["group.workload", "group.clients", "group.rate"];
/// Text that stands for the value of a key that the [`Condition`] of a run lacks.
const NONE: &str = "none";

/// The key of one value in the condition of a run. Keys sort in the order of pages: plan, target,
/// all others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    rank: usize,
    /// The source of the value: `plan`, `target`, `setting` (of the server), or the subject of a
    /// fact such as `cpu`.
    pub about: String,
    /// The dotted path of a plan's key, such as `group.clients`, or the name of the option, setting
    /// or fact.
    pub name: String,
}

impl Key {
    pub(crate) fn new(about: &str, name: &str) -> Key {
        let first = FIRST.iter().position(|first| *first == name);
        let rank = match about {
            "plan" => first.unwrap_or(FIRST.len()),
            "target" => FIRST.len() + 1,
            _ => FIRST.len() + 2,
        };
        Key { rank, about: about.to_owned(), name: name.to_owned() }
    }

    /// Returns true if runs with different values of this key belong to different points
    /// (combinations of parameters at which runs are compared). This holds for plan keys that
    /// affect the execution, the target, the modes (such as how a commit is made durable), and the
    /// product and its version.
    pub(crate) fn makes_points(&self) -> bool {
        match self.about.as_str() {
            "plan" => !REPORTING.contains(&self.name.as_str()),
            "target" | "mode" => true,
            "database" => self.is_of_product(),
            _ => false,
        }
    }

    /// Returns true if the key describes the load and not its target: a plan key that affects the
    /// execution and is not a server setting.
    pub(crate) fn is_of_load(&self) -> bool {
        self.about == "plan" && self.makes_points() && !self.name.starts_with("server.")
    }

    pub(crate) fn is_of_product(&self) -> bool {
        self.about == "database" && matches!(self.name.as_str(), "product" | "version")
    }

    /// Returns true if a new build of the database may change the value: its version, modes,
    /// connection options, and server settings in the plan. Such a change need not begin a new
    /// series of a history.
    fn comes_with_a_build(&self) -> bool {
        match self.about.as_str() {
            "plan" => self.name.starts_with("server."),
            "target" => self.name != "url",
            "database" => self.name == "version",
            about => about == "mode",
        }
    }

    /// Returns the short name that users know, such as `clients` for `group.clients`.
    pub(crate) fn short(&self) -> String {
        match (self.about.as_str(), self.name.as_str()) {
            ("plan", name) => {
                let within = name.strip_prefix("group.").or_else(|| name.strip_prefix("build."));
                let within = within.unwrap_or(name);
                let within = within.replace("parameters.", "");
                within.strip_prefix("server.").unwrap_or(&within).to_owned()
            }
            ("target", "url") => "target".to_owned(),
            ("database", "product") => "database".to_owned(),
            (_, name) => name.to_owned(),
        }
    }
}

/// The condition of a run, by key: all values that were decided or found before its load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition(BTreeMap<Key, String>);

impl Condition {
    /// Drops all values but those that decide to which point (combination of parameters) a run
    /// belongs.
    pub fn of_points(self) -> Condition {
        Condition(self.0.into_iter().filter(|(key, _)| key.makes_points()).collect())
    }

    /// Returns the condition of a run, from its decided plan and its facts. Plan keys of earlier
    /// versions get today's names.
    pub fn from_report(report: &Report) -> Condition {
        let mut all = BTreeMap::new();
        let mut put = |about: &str, name: &str, value: &str| {
            if !NAMES.contains(&name) {
                all.insert(Key::new(about, name), value.to_owned());
            }
        };
        let mut choice = "epoll".to_owned();
        if let Ok(plan) = report.plan.parse::<toml::Table>() {
            // Plans of earlier versions have the same condition.
            flatten("", &toml::Value::Table(plan), &mut |path, value| match todays_path(path) {
                path if path == "target" => of_target(&value, &mut put),
                // The placement that was used in the end.
                path if path == "placement" => put("plan", &path, &report.placement),
                path if path == "event_loop" => choice = value,
                path if path.ends_with(".name") => {}
                path => put("plan", &path, &value),
            });
        }
        if report.placement == Placement::Loop.name() {
            // How the loops waited in the end; earlier versions had only epoll.
            let used = report.facts.get("client").and_then(|facts| facts.get("event_loop"));
            put("plan", "event_loop", &used.map_or(choice, ToString::to_string));
        }
        let kept = |about: &str| !OF_THE_RUN.contains(&about) && !DERIVED.contains(&about);
        for (about, facts) in report.facts.iter().filter(|(about, _)| kept(about)) {
            for (name, value) in facts {
                let is_measured = MEASURED.contains(&name.as_str()) || name.starts_with("load_");
                let value = value.to_string();
                if !is_measured && !is_of_the_day(report, about, name, &value) {
                    put(about, name, &value);
                }
            }
        }
        Condition(all)
    }

    /// Adds the run's server settings in `names`, except those whose name the condition already
    /// has.
    pub(crate) fn with_settings(mut self, report: &Report, names: &BTreeSet<String>) -> Condition {
        let known: BTreeSet<String> = self.0.keys().map(|key| key.name.clone()).collect();
        for (name, value) in report.settings.iter() {
            if names.contains(name) && !known.contains(name) {
                self.0.insert(Key::new("setting", name), value.clone());
            }
        }
        self
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.0.keys()
    }
}

/// Passes a target's address, without its user, and each of its connection options to `put`, each
/// as source (`target`), name and value.
fn of_target(url: &str, put: &mut dyn FnMut(&str, &str, &str)) {
    let (base, options) = url.split_once('?').unwrap_or((url, ""));
    let base = match base.split_once("//") {
        Some((scheme, rest)) => {
            let host = rest.split_once('@').map_or(rest, |(_, host)| host);
            format!("{scheme}//{host}")
        }
        None => base.to_owned(),
    };
    put("target", "url", &base);
    for option in options.split('&').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        put("target", name, value);
    }
}

/// Returns true if a fact is the temporary folder or address of a managed server, which differs
/// between runs of the same condition.
fn is_of_the_day(report: &Report, about: &str, name: &str, value: &str) -> bool {
    let is_managed = report.facts.contains_key("managed");
    let is_folder = report.fact("managed", "folder").is_some_and(|folder| *folder == value);
    is_folder || is_managed && (about, name) == ("connection", "address")
}

/// Passes each value of a plan to `put`, preceded by its dotted path. The path to an entry of a
/// list has the name of the entry, or its position (from 1) if it has none; the only entry of a
/// list adds nothing to the path.
fn flatten(path: &str, value: &toml::Value, put: &mut dyn FnMut(&str, String)) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        toml::Value::Table(table) => {
            table.iter().for_each(|(key, value)| flatten(&below(key), value, put));
        }
        toml::Value::Array(list) if list.iter().all(toml::Value::is_table) => match &list[..] {
            [one] => flatten(path, one, put),
            _ => {
                for (index, value) in list.iter().enumerate() {
                    let name = value.get("name").and_then(toml::Value::as_str);
                    let name = name.map_or_else(|| (index + 1).to_string(), str::to_owned);
                    flatten(&below(&name), value, put);
                }
            }
        },
        toml::Value::String(text) => put(path, text.clone()),
        // As users write it: a rate of 400000, not 400000.0.
        toml::Value::Float(value) => put(path, value.to_string()),
        value => put(path, value.to_string()),
    }
}

/// The keys whose values distinguish the points of a comparison or history, each with the short
/// name by which points show it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Points(Vec<(Key, String)>);

impl Points {
    fn from_keys(keys: Vec<Key>) -> Points {
        let shorts: Vec<String> = keys.iter().map(Key::short).collect();
        let is_alone = |short: &String| shorts.iter().filter(|other| *other == short).count() == 1;
        let name = |key: &Key, short: &String| match is_alone(short) {
            true => short.clone(),
            false => format!("{}.{}", key.about, key.name),
        };
        let names: Vec<String> =
            keys.iter().zip(&shorts).map(|(k, short)| name(k, short)).collect();
        Points(keys.into_iter().zip(names).collect())
    }

    /// Returns the point of a run with this condition: the value of each key (`none` if the
    /// condition lacks it), by the short name of the key.
    pub fn at(&self, condition: &Condition) -> Named<String> {
        let value = |key: &Key| condition.get(key).unwrap_or(NONE).to_owned();
        Named(self.0.iter().map(|(key, name)| (name.clone(), value(key))).collect())
    }
}

/// The error that sides cannot be compared: runs of one side differ in a value by which the sides
/// themselves differ, so that they would count as repeats at one point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mixed {
    /// Index of the side in the comparison whose runs differ; the baseline has 0.
    pub side: usize,
    /// Short name of the parameter in which the runs of one side of the comparison differ, such as
    /// `clients`.
    pub name: String,
    /// Distinct values of the parameter in runs that would share a point.
    pub values: Vec<String>,
}

/// Returns the keys whose values make the points at which sides are compared. The first side is the
/// baseline.
///
/// A key that differs between the runs of one side makes points, so that unlike runs are not
/// pooled. A key for which a side shares no value with the baseline is the subject of the
/// comparison, and makes none. Returns an error if runs of one side that differ in such a key would
/// share a point.
pub fn points_of_sides(sides: &[Vec<Condition>]) -> Result<Points, Mixed> {
    let (mut points, mut between) = (Vec::new(), Vec::new());
    for key in varying(sides) {
        let values: Vec<BTreeSet<Option<&str>>> =
            sides.iter().map(|side| side.iter().map(|run| run.get(&key)).collect()).collect();
        let is_even = values.iter().all(|values| values.len() < 2);
        let is_apart = values.iter().skip(1).any(|of_side| of_side.is_disjoint(&values[0]));
        if is_even || is_apart {
            between.push(key);
        } else {
            points.push(key);
        }
    }
    let points = Points::from_keys(points);
    for (side, runs) in sides.iter().enumerate() {
        for key in &between {
            if let Some(values) = pooled(runs, &points, key) {
                return Err(Mixed { side, name: key.short(), values });
            }
        }
    }
    Ok(points)
}

/// Returns the keys whose values make the points of a history, given the runs of each build. A key
/// that another build may change, such as the version, makes no points if all runs of each build
/// agree on its value.
pub fn points_of_builds(builds: &[Vec<Condition>]) -> Points {
    let is_even = |key: &Key| {
        let values = |runs: &Vec<Condition>| {
            runs.iter().map(|run| run.get(key).map(str::to_owned)).collect::<BTreeSet<_>>().len()
        };
        builds.iter().all(|runs| values(runs) < 2)
    };
    let keys = varying(builds).into_iter();
    Points::from_keys(keys.filter(|key| !(key.comes_with_a_build() && is_even(key))).collect())
}

/// Returns the keys that decide to which point a run belongs and whose values differ between any
/// two runs.
fn varying(sides: &[Vec<Condition>]) -> Vec<Key> {
    let runs = || sides.iter().flatten();
    let keys: BTreeSet<&Key> =
        runs().flat_map(Condition::keys).filter(|key| key.makes_points()).collect();
    let differs = |key: &&Key| {
        let first = runs().next().and_then(|run| run.get(key));
        runs().any(|run| run.get(key) != first)
    };
    keys.into_iter().filter(differs).cloned().collect()
}

/// Returns the distinct values of `key` in runs of one side of a comparison, at the first point
/// where they differ; `None` if the runs agree at every point.
fn pooled(runs: &[Condition], points: &Points, key: &Key) -> Option<Vec<String>> {
    let mut known: Vec<(Named<String>, BTreeSet<&str>)> = Vec::new();
    for run in runs {
        let (at, value) = (points.at(run), run.get(key).unwrap_or(NONE));
        match known.iter_mut().find(|(point, _)| *point == at) {
            Some((_, values)) => drop(values.insert(value)),
            None => known.push((at, BTreeSet::from([value]))),
        }
    }
    let (_, values) = known.into_iter().find(|(_, values)| values.len() > 1)?;
    Some(values.into_iter().map(str::to_owned).collect())
}
