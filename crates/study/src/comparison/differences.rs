//! Differences between the sides of a comparison other than their figures (plan, database, machine,
//! build), and differences between runs of one side that count as repeats.
//!
//! Not here: which values a run's condition has (condition).

use std::collections::BTreeSet;

use analysis::report::{Named, Report};
use serde::{Deserialize, Serialize};

use super::{Side, SidePoint};
use crate::condition::{Condition, Key};

/// Largest number of distinct values of one side that a difference between sides of a comparison
/// lists. If a side has more, only their number is given.
const VALUES_SHOWN_MAX: usize = 3;

/// A value of plan, target, settings or facts that differs between the sides of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The source of the value: `plan`, `target`, `setting` (of the server), or the subject of a
    /// fact such as `cpu`.
    pub about: String,
    pub name: String,
    /// Value of each side of the comparison, in the order of the sides; null if a side does not
    /// have it.
    pub values: Vec<Option<String>>,
}

impl Difference {
    /// Returns a short name for pages, such as `clients` for the plan key `group.clients`; or
    /// source and name (`plan.group.clients`) if another difference in `all` has the same short
    /// name, or the source is neither plan nor target.
    pub fn short_among<'d>(&self, mut all: impl Iterator<Item = &'d Difference>) -> String {
        let whole = format!("{}.{}", self.about, self.name);
        if !matches!(&*self.about, "plan" | "target") {
            return whole;
        }
        let short = |one: &Difference| Key::new(&one.about, &one.name).short();
        let own = short(self);
        match all.any(|other| other != self && short(other) == own) {
            true => whole,
            false => own,
        }
    }
}

/// A value of plan, settings or facts that differs between runs that count as repeats: runs of one
/// side of a comparison at one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mixed {
    pub side: String,
    /// Values of the varied parameters at the point, by parameter, such as `8` for `clients`.
    pub values: Named<String>,
    /// The source of the value: `plan`, `target`, `setting` (of the server), or the subject of a
    /// fact such as `cpu`.
    pub about: String,
    pub name: String,
    /// Distinct values that the runs of this side of the comparison have at the point.
    pub of_runs: Vec<String>,
}

/// Returns the values of plan, target, settings and facts that differ between the sides of a
/// comparison, each given by its reports. Differences in the plan come first.
pub fn between(sides: &[Vec<&Report>]) -> Vec<Difference> {
    let common = common_settings(sides.iter().flatten().copied());
    let to_condition =
        |report: &&Report| Condition::from_report(report).with_settings(report, &common);
    let seen: Vec<Vec<Condition>> =
        sides.iter().map(|side| side.iter().map(to_condition).collect()).collect();
    let keys: BTreeSet<&Key> = seen.iter().flatten().flat_map(Condition::keys).collect();
    let difference = |key: &Key| {
        let values = |side: &Vec<Condition>| -> BTreeSet<String> {
            side.iter().filter_map(|run| run.get(key)).map(str::to_owned).collect()
        };
        let of_sides: Vec<BTreeSet<String>> = seen.iter().map(values).collect();
        if of_sides.windows(2).all(|two| two[0] == two[1]) || is_equal_on_servers(&seen, key) {
            return None;
        }
        let to_text = |values: BTreeSet<String>| match values.len() {
            0 => None,
            n if n > VALUES_SHOWN_MAX => Some(format!("{n} values")),
            _ => Some(values.into_iter().collect::<Vec<_>>().join(", ")),
        };
        let values = of_sides.into_iter().map(to_text).collect();
        Some(Difference { about: key.about.clone(), name: key.name.clone(), values })
    };
    once(keys.into_iter().filter_map(difference).collect())
}

/// Returns true if `key` is a server setting of the plan, and the servers of all sides had the same
/// value of it, set by the plan or by default.
fn is_equal_on_servers(sides: &[Vec<Condition>], key: &Key) -> bool {
    let Some(name) = key.name.strip_prefix("server.").filter(|_| key.about == "plan") else {
        return false;
    };
    let had = ["mode", "setting"].map(|about| Key::new(about, name));
    let value = |run: &Condition| had.iter().find_map(|key| run.get(key).map(str::to_owned));
    let values = |side: &Vec<Condition>| side.iter().map(value).collect::<BTreeSet<_>>();
    let of_sides: Vec<BTreeSet<Option<String>>> = sides.iter().map(values).collect();
    let is_known = of_sides.iter().flatten().all(Option::is_some);
    is_known && of_sides.windows(2).all(|two| two[0] == two[1])
}

/// Removes repeated differences, which have the same name and values: if one is of the target, it
/// stays, and later ones go; one of the `managed` facts gives way to a later one from another
/// source.
fn once(all: Vec<Difference>) -> Vec<Difference> {
    let mut kept: Vec<Difference> = Vec::new();
    for one in all {
        let is_same = |known: &Difference| known.name == one.name && known.values == one.values;
        if kept.iter().any(|known| is_same(known) && known.about == "target") {
            continue;
        }
        kept.retain(|known| !(is_same(known) && known.about == "managed"));
        kept.push(one);
    }
    kept
}

/// Returns the load parameters that differ between the baseline and the side with this index, each
/// with the values of baseline and side. Parameters that both names state are left out, and those
/// of a workload if the sides ran different ones.
pub(super) fn of_load(
    all: &[Difference],
    side: usize,
    names: [&str; 2],
) -> Vec<(String, [String; 2])> {
    let all = of_pair(all, side);
    let workloads = all.iter().any(|(key, _)| key.name == "group.workload");
    let is_own = |key: &Key| workloads && key.name.contains("parameters.");
    let of_load = all.iter().filter(|(key, _)| key.is_of_load() && !is_own(key));
    let told = of_load.map(|(key, one)| (key.short(), [0, side].map(|at| value(one, at))));
    told.filter(|(key, values)| !are_stated(names, key, values)).collect()
}

/// Returns true if the names of baseline and compared side both state a value by which they differ,
/// as `clients=4` and `clients=8` do.
pub(super) fn are_named_by(all: &[Difference], side: usize, names: [&str; 2]) -> bool {
    of_pair(all, side)
        .iter()
        .any(|(key, one)| are_stated(names, &key.short(), &[0, side].map(|at| value(one, at))))
}

/// Returns true if the names of baseline and compared side both state the value that differs: by
/// its short key, such as `clients` in `clients=4`, or alone, such as `SQLite 3.54.1`.
pub fn are_stated(names: [&str; 2], key: &str, values: &[String; 2]) -> bool {
    let is_stated = |part: &str, value: &str| match part.split_once('=') {
        Some((name, _)) => name == key || name.strip_prefix("server.") == Some(key),
        None => part == value,
    };
    let mut all = names.iter().zip(values);
    all.all(|(name, value)| name.split(", ").any(|part| is_stated(part, value)))
}

/// Returns the differences between the baseline and the side with the index `side` (the baseline
/// has 0), each preceded by its key.
fn of_pair(all: &[Difference], side: usize) -> Vec<(Key, &Difference)> {
    let differs = all.iter().filter(|one| one.values[0] != one.values[side]);
    differs.map(|one| (Key::new(&one.about, &one.name), one)).collect()
}

fn value(one: &Difference, side: usize) -> String {
    let unknown = if matches!(&*one.about, "plan" | "target") { NOT_SET } else { NOT_KNOWN };
    one.values[side].clone().unwrap_or_else(|| unknown.to_owned())
}

/// Returns the values that differ between runs of the same side and point of a comparison, for all
/// sides and points.
pub(super) fn within(sides: &[Side]) -> Vec<Mixed> {
    let of_side = |side: &Side| {
        let points = side.points.iter().flat_map(|point| within_point(&side.name, point));
        points.collect::<Vec<Mixed>>()
    };
    sides.iter().flat_map(of_side).collect()
}

fn within_point(side: &str, point: &SidePoint) -> Vec<Mixed> {
    let common = common_settings(point.reports.iter());
    let to_condition =
        |report: &Report| Condition::from_report(report).with_settings(report, &common);
    let runs: Vec<Condition> = point.reports.iter().map(to_condition).collect();
    let keys: BTreeSet<&Key> = runs.iter().flat_map(Condition::keys).collect();
    let mixed = |key: &Key| {
        let values: BTreeSet<&str> = runs.iter().filter_map(|run| run.get(key)).collect();
        (values.len() > 1).then(|| Mixed {
            side: side.to_owned(),
            values: point.values.clone(),
            about: key.about.clone(),
            name: key.name.clone(),
            of_runs: values.into_iter().map(str::to_owned).collect(),
        })
    };
    keys.into_iter().filter_map(mixed).collect()
}

/// Returns the names of the server settings that every run has. Other settings are not compared,
/// because another product or version has other ones.
fn common_settings<'r>(all: impl Iterator<Item = &'r Report>) -> BTreeSet<String> {
    let names = |report: &Report| -> BTreeSet<String> {
        report.settings.iter().map(|(name, _)| name.to_owned()).collect()
    };
    all.map(names).reduce(|ours, theirs| &ours & &theirs).unwrap_or_default()
}

/// Text that stands for a key that the plan or target of one side of a comparison does not have, so
/// that a default holds.
const NOT_SET: &str = "not set";
/// Text that stands for a fact or setting that one side of a comparison does not have.
const NOT_KNOWN: &str = "not known";

/// Returns the most important differences, such as product or workload, between the baseline and
/// the side with the index `side` (the baseline has 0), for use in a sentence. Each has a short
/// name and the values of baseline and side.
pub fn telling(all: &[Difference], side: usize) -> Vec<(String, [String; 2])> {
    let all = of_pair(all, side);
    let has = |about: &str, name: &str| {
        all.iter().any(|(key, _)| (key.about.as_str(), key.name.as_str()) == (about, name))
    };
    let (products, workloads) = (has("database", "product"), has("plan", "group.workload"));
    let is_telling = |(key, one): &&(Key, &Difference)| match key.about.as_str() {
        "target" if products => false,
        "database" => key.is_of_product() && !(products && key.name == "version"),
        "mode" => !products && one.values[0].is_some() && one.values[side].is_some(),
        "plan" if workloads => !key.name.contains("parameters."),
        _ => key.makes_points(),
    };
    let mut chosen: Vec<&(Key, &Difference)> = all.iter().filter(is_telling).collect();
    if chosen.is_empty() {
        chosen = all.iter().collect();
    }
    // Subjects of the measurement come before its conditions.
    chosen.sort_by_key(|(key, _)| match key.about.as_str() {
        "database" => 0,
        "target" => 1,
        _ if matches!(key.name.as_str(), "group.workload" | "group.load") => 1,
        _ => 2,
    });
    let version = all.iter().find(|(key, _)| key.is_of_product() && key.name == "version");
    let printed = |(key, one): &(Key, &Difference)| {
        let value_of = |side: usize| match version {
            Some((_, version)) if key.name == "product" && key.is_of_product() => {
                let number = value(version, side);
                let number = number.split([' ', '-']).next().unwrap_or_default();
                format!("{} {number}", value(one, side))
            }
            _ => value(one, side),
        };
        (key.short(), [value_of(0), value_of(side)])
    };
    let mut told: Vec<(String, [String; 2])> = Vec::new();
    for (name, values) in chosen.into_iter().map(printed) {
        // A setting of the plan and the server's own value are one difference, if both sides have
        // the value.
        let is_known = |values: &[String; 2]| {
            values.iter().all(|value| value != NOT_KNOWN && value != NOT_SET)
        };
        match told.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(&name)) {
            Some((_, known)) if !is_known(known) && is_known(&values) => *known = values,
            Some(_) => {}
            None => told.push((name, values)),
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_a_plan_sets_and_the_server_tells_is_named_once_with_both_values() {
        let one = |about: &str, name: &str, values: [Option<&str>; 2]| Difference {
            about: about.to_owned(),
            name: name.to_owned(),
            values: values.map(|value| value.map(str::to_owned)).to_vec(),
        };
        let name = "innodb_flush_log_at_trx_commit";
        let planned = one("plan", &format!("server.{name}"), [None, Some("0")]);
        let mode = one("mode", name, [Some("1"), Some("0")]);
        let expected = [(name.to_owned(), ["1", "0"].map(str::to_owned))];
        for all in [[planned.clone(), mode.clone()], [mode.clone(), planned.clone()]] {
            assert_eq!(telling(&all, 1), expected);
        }
        assert_eq!(telling(&[planned], 1)[0].1, ["not set", "0"].map(str::to_owned));
    }
}
