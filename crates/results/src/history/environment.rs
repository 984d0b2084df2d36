//! What begins a series again: another machine, or other settings of the same server.
//!
//! A build is what is tested: its version, and what the server then has by default, begin nothing.
//! Not here: plans, loads and targets, which make points (condition).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::comparison::Difference;
use crate::report::Report;

/// Where a series begins again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The first build of the new series.
    pub build: String,
    /// Its index among the builds of the point.
    pub at: usize,
    /// What differs from the builds before.
    pub changed: Vec<Difference>,
}

/// Facts of the machine that begin a series: about, name.
const MACHINE: [(&str, &str); 6] = [
    ("machine", "product"),
    ("cpu", "model"),
    ("cpu", "logical"),
    ("cpu", "cores"),
    ("cgroup", "cpu_limit_cores"),
    ("cgroup", "memory_limit_bytes"),
];
/// Words in the names of settings that are not set: they say where a server stands, or when.
const OF_THE_DAY: [&str; 18] = [
    "dir",
    "file",
    "path",
    "port",
    "socket",
    "sock",
    "host",
    "pid",
    "uuid",
    "identity",
    "id",
    "time",
    "timestamp",
    "seed",
    "gtid",
    "basename",
    "version",
    "log",
];
const GIB: f64 = (1_u64 << 30) as f64;

/// What would begin a series again, by what it is about and by name.
pub(super) struct Environment {
    machine: BTreeMap<(String, String), String>,
    settings: BTreeMap<(String, String), String>,
    version: String,
}

impl Environment {
    pub(super) fn of(report: &Report) -> Environment {
        let fact = |about: &str, name: &str| report.facts.get(about)?.get(name).cloned();
        let known = |(about, name): (&str, &str)| {
            Some(((about.to_owned(), name.to_owned()), fact(about, name)?))
        };
        let mut machine: BTreeMap<_, _> = MACHINE.into_iter().filter_map(known).collect();
        // A kernel takes some of the memory, and another one a little more.
        let memory = fact("memory", "total_bytes").and_then(|bytes| bytes.parse::<f64>().ok());
        if let Some(bytes) = memory {
            let about = ("memory".to_owned(), "total".to_owned());
            machine.insert(about, format!("{:.0} GiB", (bytes / GIB).ceil()));
        }
        let kernel = fact("os", "kernel_release");
        let mut parts = kernel.iter().flat_map(|release| release.split(['.', '-']));
        if let (Some(major), Some(minor)) = (parts.next(), parts.next()) {
            machine.insert(("os".to_owned(), "kernel".to_owned()), format!("{major}.{minor}"));
        }
        let named = |about: &str, name: &str, value: &str| {
            ((about.to_owned(), name.to_owned()), value.to_owned())
        };
        let is_set = |(name, value): &(&str, &str)| {
            let is_of_the_day = name.split(['_', '.']).any(|word| OF_THE_DAY.contains(&word));
            !is_of_the_day && !value.contains('/')
        };
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

    /// What is another here than there.
    fn changed(&self, before: &Environment) -> Vec<Difference> {
        let mut changed = differing(&before.machine, &self.machine);
        if self.version == before.version {
            changed.extend(differing(&before.settings, &self.settings));
        }
        changed
    }
}

/// What both know, and do not agree on.
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

/// Where the builds of a point, each with its first run, begin another series. What changes with
/// every other build is no setting.
pub(super) fn starts(builds: &[(&str, &Report)]) -> Vec<Start> {
    let all: Vec<Environment> = builds.iter().map(|(_, run)| Environment::of(run)).collect();
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
