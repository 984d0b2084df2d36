//! Conditions that split a history: another machine, or other settings of the same server version,
//! begin a new series.
//!
//! The version of a build is what is tested, so it begins nothing; neither do settings that change
//! with it. Not here: plans, loads and targets, which make points (condition).

use std::collections::BTreeMap;

use analysis::report::Report;
use model::FactValue;
use serde::{Deserialize, Serialize};

use crate::comparison::Difference;

/// The beginning of a new series in the history of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// Name of the first build of the new series.
    pub build: String,
    /// Position of the first build among the builds of the point, from 0.
    pub at: usize,
    /// Facts and settings in which the first build of the series differs from the build before it.
    pub changed: Vec<Difference>,
}

/// Facts about the machine that begin a new series when they change, by subject and name.
const MACHINE: [(&str, &str); 6] = [
    ("machine", "product"),
    ("cpu", "model"),
    ("cpu", "logical"),
    ("cpu", "cores"),
    ("cgroup", "cpu_limit_cores"),
    ("cgroup", "memory_limit_bytes"),
];
/// Last words in the names of settings, such as `dir`, that show a setting to be the place of a
/// server, an identity, or a time. Such settings do not begin a new series.
const OF_PLACE_OR_TIME: [&str; 17] = [
    "dir",
    "directory",
    "file",
    "filename",
    "path",
    "port",
    "socket",
    "sock",
    "host",
    "hostname",
    "pid",
    "uuid",
    "identity",
    "id",
    "timestamp",
    "basename",
    "seed",
];
/// Last words in the names of settings about global transaction ids (GTID) that begin a series.
/// Other GTID variables are positions that always move.
const OF_GTID_SET: [&str; 2] = ["mode", "consistency"];
const GIB: u64 = 1 << 30;

/// Facts and settings of a run that begin a new series when they change, by subject and name.
#[derive(Debug)]
pub(super) struct Environment {
    machine: BTreeMap<(String, String), String>,
    settings: BTreeMap<(String, String), String>,
    version: String,
}

impl Environment {
    pub(super) fn from_report(report: &Report) -> Environment {
        let known = |(about, name): (&str, &str)| {
            Some(((about.to_owned(), name.to_owned()), report.fact(about, name)?.to_string()))
        };
        let mut machine: BTreeMap<_, _> = MACHINE.into_iter().filter_map(known).collect();
        // Kernels reserve some of the memory, and versions differ in how much.
        if let Some(bytes) = report.fact("memory", "total_bytes").and_then(FactValue::bytes) {
            let about = ("memory".to_owned(), "total".to_owned());
            machine.insert(about, format!("{} GiB", bytes.div_ceil(GIB)));
        }
        let kernel = report.fact("os", "kernel_release").and_then(FactValue::text);
        let mut parts = kernel.into_iter().flat_map(|release| release.split(['.', '-']));
        if let (Some(major), Some(minor)) = (parts.next(), parts.next()) {
            machine.insert(("os".to_owned(), "kernel".to_owned()), format!("{major}.{minor}"));
        }
        let named = |about: &str, name: &str, value: &str| {
            ((about.to_owned(), name.to_owned()), value.to_owned())
        };
        let is_set = |(name, value): &(&str, &str)| is_setting(name) && !is_file(value);
        let settings = report.settings.iter().map(|(name, value)| (name, value.as_str()));
        let settings = settings.filter(is_set).map(|(name, value)| named("setting", name, value));
        let modes = report.modes.iter().filter_map(|mode| mode.split_once('='));
        let modes = modes.map(|(name, value)| named("mode", name, value));
        Environment {
            machine,
            settings: settings.chain(modes).collect(),
            version: report.database.clone(),
        }
    }

    /// Returns the differences from the environment of an earlier run. Settings count only if both
    /// runs have the same version of the database.
    fn changed(&self, before: &Environment) -> Vec<Difference> {
        let mut changed = differing(&before.machine, &self.machine);
        if self.version == before.version {
            changed.extend(differing(&before.settings, &self.settings));
        }
        changed
    }
}

/// Returns true if a user sets this server variable, judging by the last word of its name:
/// `innodb_log_file_size` is a size, `general_log_file` is only a file.
fn is_setting(name: &str) -> bool {
    let words: Vec<&str> = name.split(['_', '.']).collect();
    let last = words.last().map_or("", |last| last.trim_end_matches(|c: char| c.is_ascii_digit()));
    let is_position = words.contains(&"gtid") && !OF_GTID_SET.contains(&last);
    let is_version = words.contains(&"version") && words[0] != "tls";
    !OF_PLACE_OR_TIME.contains(&last) && !is_position && !is_version
}

/// Returns true if a value is a path, or the name of a file such as `host-slow.log`.
fn is_file(value: &str) -> bool {
    let is_extension = |end: &str| {
        (2..=4).contains(&end.len()) && end.bytes().all(|letter| letter.is_ascii_lowercase())
    };
    let name = value.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
    value.contains('/') || name.is_some_and(|(_, end)| is_extension(end))
}

/// Returns the differences between an earlier run (`before`) and a later one, in the facts or
/// settings that both have.
fn differing(
    before: &BTreeMap<(String, String), String>,
    after: &BTreeMap<(String, String), String>,
) -> Vec<Difference> {
    let one = |((about, name), value): (&(String, String), &String)| {
        let before = before.get(&(about.clone(), name.clone()))?;
        (before != value).then(|| Difference {
            about: about.clone(),
            name: name.clone(),
            values: vec![Some(before.clone()), Some(value.clone())],
        })
    };
    after.iter().filter_map(one).collect()
}

/// Returns the builds that begin a new series, given each build of a point with one of its runs. A
/// setting that changes with at least every other build does not begin one.
pub(super) fn starts(builds: &[(&str, &Report)]) -> Vec<Start> {
    let all: Vec<Environment> =
        builds.iter().map(|(_, run)| Environment::from_report(run)).collect();
    let changed: Vec<Vec<Difference>> = all.windows(2).map(|two| two[1].changed(&two[0])).collect();
    let mut n_changes: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for one in changed.iter().flatten() {
        *n_changes.entry((&one.about, &one.name)).or_default() += 1;
    }
    let is_rare = |one: &&Difference| {
        let n = n_changes.get(&(one.about.as_str(), one.name.as_str())).copied().unwrap_or(0);
        n == 1 || one.about != "setting" || 2 * n < builds.len()
    };
    let start = |(index, changed): (usize, &Vec<Difference>)| {
        let changed: Vec<Difference> = changed.iter().filter(is_rare).cloned().collect();
        let build = builds[index + 1].0.to_owned();
        (!changed.is_empty()).then_some(Start { build, at: index + 1, changed })
    };
    changed.iter().enumerate().filter_map(start).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_switches_are_settings_and_ports_ids_and_files_are_not() {
        let set = [
            "innodb_log_file_size",
            "innodb_log_buffer_size",
            "innodb_file_per_table",
            "log_bin",
            "slow_query_log",
            "long_query_time",
            "innodb_old_blocks_time",
            "log_statement",
            "max_wal_size",
            "innodb_buffer_pool_size",
            "host_cache_size",
            "gtid_mode",
            "tls_version",
        ];
        for name in set {
            assert!(is_setting(name), "{name}");
        }
        let others = [
            "port",
            "report_port",
            "server_id",
            "server_uuid",
            "pseudo_thread_id",
            "last_insert_id",
            "identity",
            "rand_seed1",
            "timestamp",
            "hostname",
            "general_log_file",
            "pid_file",
            "data_directory",
            "log_filename",
            "log_bin_basename",
            "socket",
            "gtid_current_pos",
            "gtid_executed",
            "version_source_revision",
            "innodb_version",
        ];
        for name in others {
            assert!(!is_setting(name), "{name}");
        }
        for value in ["/var/lib/mysql", "host-slow.log", "postgresql.conf", "./ib"] {
            assert!(is_file(value), "{value}");
        }
        for value in ["ON", "134217728", "0.5", "", ".", "utf8mb4_general_ci", "1.25"] {
            assert!(!is_file(value), "{value}");
        }
    }

    #[test]
    fn another_log_size_begins_a_series_and_another_port_does_not() {
        let run = |size: &str, port: &str| {
            let mut report = crate::fixtures::sides::run(1000.0, 0);
            let settings = [("innodb_log_file_size", size), ("log_bin", "ON"), ("port", port)];
            report.settings = analysis::report::Named(
                settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            );
            report
        };
        let runs = [run("50331648", "1"), run("50331648", "2"), run("1073741824", "3")];
        let builds: Vec<(&str, &Report)> = ["1.0", "1.1", "1.2"].into_iter().zip(&runs).collect();
        let starts = starts(&builds);
        assert_eq!(starts.iter().map(|start| start.build.as_str()).collect::<Vec<_>>(), ["1.2"]);
        assert_eq!(starts[0].changed[0].name, "innodb_log_file_size");
    }
}
