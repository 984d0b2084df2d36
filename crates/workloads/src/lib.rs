//! The workloads: one folder per workload, and the list of them.
//!
//! Not here: when statements are sent (engine), and the protocol beyond SQL (drivers). A workload
//! knows no clock, socket, file or runtime.

mod arm;
mod empty;
mod empty_tables;
mod entry;
mod events;
#[cfg(test)]
mod for_tests;
mod oltp;
mod record;
pub mod script;
mod storage_engine;
mod tpcb;
mod tpcc;
#[cfg(feature = "tpchgen")]
mod tpch;
pub mod tx_control;

use std::sync::{Mutex, OnceLock, PoisonError};

use model::{BadParameter, Source, did_you_mean};

pub use entry::{Entry, GroupRole, Language, Make, ReadModules};

/// Built-in workloads, in the order in which lists show them.
pub static ALL: &[&Entry] = &[
    &tpcc::ENTRY,
    &tpcb::ENTRY,
    #[cfg(feature = "tpchgen")]
    &tpch::ENTRY,
    &oltp::read_only::ENTRY,
    &oltp::read_write::ENTRY,
    &oltp::complex::ENTRY,
    &oltp::write_only::ENTRY,
    &oltp::point_select::ENTRY,
    &oltp::update_index::ENTRY,
    &oltp::update_non_index::ENTRY,
    &oltp::insert::ENTRY,
    &oltp::delete::ENTRY,
    &oltp::bulk_insert::ENTRY,
    &oltp::random_points::ENTRY,
    &oltp::random_ranges::ENTRY,
    &arm::ENTRY,
    &record::ENTRY,
    &events::ENTRY,
    &empty::ENTRY,
];

/// Workloads and workload languages that a program linking dbdyno adds to the built-in ones.
#[derive(Clone, Copy, Default)]
pub struct Added {
    pub workloads: &'static [&'static Entry],
    /// Languages in which the added workload files may be written.
    pub languages: &'static [&'static Language],
}

static ADDED: OnceLock<Added> = OnceLock::new();

/// Workloads that were read from files, in the order in which they were read.
static READ: Mutex<Vec<&'static Entry>> = Mutex::new(Vec::new());

/// Registers workloads and languages of a program that links dbdyno. Must be called at most once,
/// before any workload is looked up. Panics if a name is already taken.
pub fn add(added: Added) {
    for entry in added.workloads {
        assert!(by_name(entry.name).is_err(), "there is a workload '{}' already", entry.name);
    }
    assert!(ADDED.set(added).is_ok(), "workloads are added once");
}

/// Finds the language of a workload file by the extension of its name; `None` if it is unknown.
pub fn language_of(name: &str) -> Option<&'static Language> {
    let (stem, extension) = name.rsplit_once('.')?;
    let added = ADDED.get().map_or(&[][..], |added| added.languages);
    let mut all = script::LANGUAGES.iter().chain(added).copied();
    all.find(|language| !stem.is_empty() && language.extension.eq_ignore_ascii_case(extension))
}

/// Reads a workload from a file as [`read`] does, together with the further files that it loads.
/// `open` returns the text of a file, or `None` if it does not exist.
///
/// # Errors
///
/// As those of [`read`].
pub fn read_with_modules(
    mut source: Source,
    open: fn(&str) -> Option<String>,
) -> Result<&'static Entry, BadParameter> {
    if let Some(modules) = language_of(&source.name).and_then(|language| language.modules) {
        source.modules = modules(&source, open)?;
    }
    read(source)
}

/// Reads a workload from a file. From then on [`by_name`] finds it by the file's name, until
/// another text with the same name is read.
///
/// # Errors
///
/// An error in the file, or a name with an unknown extension.
pub fn read(source: Source) -> Result<&'static Entry, BadParameter> {
    let Some(language) = language_of(&source.name) else {
        return Err(BadParameter::new(format!("'{}' is in no language known here", source.name)));
    };
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(at) = read.iter().position(|entry| entry.source == Some(&source)) {
        let known = read.remove(at);
        read.push(known);
        return Ok(known);
    }
    let source: &'static Source = Box::leak(Box::new(source));
    let entry = (language.read)(source)?;
    let entry: &'static Entry = Box::leak(Box::new(Entry { source: Some(source), ..entry }));
    read.push(entry);
    Ok(entry)
}

/// Returns the workloads that were read from files, the newest first.
fn all_read() -> Vec<&'static Entry> {
    READ.lock().unwrap_or_else(PoisonError::into_inner).iter().rev().copied().collect()
}

/// Returns all compiled-in workloads: the built-in ones, then those added by [`add`].
pub fn all() -> impl Iterator<Item = &'static Entry> + Clone {
    let added = ADDED.get().map_or(&[][..], |added| added.workloads);
    ALL.iter().chain(added).copied()
}

/// Whether a compiled-in workload has this name, so that no workload file can have it.
pub fn is_compiled_in(name: &str) -> bool {
    all().any(|entry| entry.name == name)
}

/// Returns the first workload whose data have this name; `None` if there is none.
pub fn by_data(name: &str) -> Option<&'static Entry> {
    all().chain(all_read()).find(|entry| entry.data == name)
}

/// Returns the workload with this name. If there is none, the error suggests similar names.
pub fn by_name(name: &str) -> Result<&'static Entry, BadParameter> {
    all().chain(all_read()).find(|entry| entry.name == name).ok_or_else(|| {
        // A prefix such as `oltp` names a family.
        let family = all().map(|entry| entry.name);
        let family: Vec<&str> = family
            .filter(|member| member.strip_prefix(name).is_some_and(|rest| rest.starts_with('-')))
            .collect();
        let hint = match family.is_empty() {
            true => did_you_mean(name, all().map(|entry| entry.name)),
            false => format!(" (there are {})", family.join(", ")),
        };
        BadParameter::new(format!(
            "there is no workload '{name}'{hint}; 'dbdyno list workloads' lists all"
        ))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use model::{Direction, Settings};

    use super::*;

    /// Returns the names of the custom metrics of all workloads and roles, in two sets: those for
    /// which more is better or that have no direction, and those for which less is better.
    fn custom_metrics() -> [BTreeSet<&'static str>; 2] {
        let mut found = [BTreeSet::new(), BTreeSet::new()];
        for entry in ALL {
            let of_roles = entry.roles.iter().map(|role| role.parameters);
            for written in of_roles.chain([&[][..]]) {
                let written = written.iter().copied();
                let settings = Settings::decide(entry.name, entry.parameters, written);
                let settings = settings.expect("defaults are valid");
                let make = Make { settings: &settings, seed: 42, data: None, source: None };
                let workload = (entry.make)(&make).expect("defaults are valid");
                for metric in workload.custom_metrics() {
                    let is_less = metric.better == Direction::Lower;
                    found[usize::from(is_less)].insert(metric.name);
                }
            }
        }
        found
    }

    #[test]
    fn of_faults_and_times_less_is_better_and_of_what_was_done_more() {
        let [more, less] = custom_metrics();
        let expected = [
            "age",
            "age_at_commit",
            "deliveries_skipped",
            "duplicates",
            "missed",
            "plain_query",
            "short_deliveries",
            "time_between_reads",
            "window_query",
        ];
        assert_eq!(less, BTreeSet::from(expected));
        assert!(more.contains("order_lines") && more.is_disjoint(&less), "{more:?}");
    }
}
