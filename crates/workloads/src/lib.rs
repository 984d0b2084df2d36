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
mod storage_engine;
mod tpcb;
mod tpcc;
pub mod tx_control;

use std::sync::{Mutex, OnceLock, PoisonError};

use model::{BadParameter, Source, did_you_mean};

pub use entry::{Entry, GroupRole, Language, Make};

/// Every workload that is delivered, in the order in which they are listed.
pub static ALL: &[&Entry] = &[
    &tpcc::ENTRY,
    &tpcb::ENTRY,
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

/// What a program of somebody else's brings, which links dbdyno.
#[derive(Clone, Copy, Default)]
pub struct Added {
    /// Workloads.
    pub workloads: &'static [&'static Entry],
    /// Languages in which workloads are written.
    pub languages: &'static [&'static Language],
}

static ADDED: OnceLock<Added> = OnceLock::new();

/// Workloads that were read from files, the newest last.
static READ: Mutex<Vec<&'static Entry>> = Mutex::new(Vec::new());

/// Adds what is not delivered: once, before anything is asked for. A name that another workload has
/// is a mistake of the program.
pub fn add(added: Added) {
    for entry in added.workloads {
        assert!(by_name(entry.name).is_err(), "there is a workload '{}' already", entry.name);
    }
    assert!(ADDED.set(added).is_ok(), "workloads are added once");
}

/// The language of a file of this name; none where its name says none.
pub fn language_of(name: &str) -> Option<&'static Language> {
    let (stem, extension) = name.rsplit_once('.')?;
    let added = ADDED.get().map_or(&[][..], |added| added.languages);
    let is_it = |language: &&&Language| !stem.is_empty() && language.extension == extension;
    added.iter().copied().find(|language| is_it(&language))
}

/// Reads a workload that is written in a file. From then on [`by_name`] knows it by the name of the
/// file, until another text of that name is read.
///
/// # Errors
///
/// What is wrong with it; also where its name is that of no language.
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

/// Every workload that was read from a file.
fn all_read() -> Vec<&'static Entry> {
    READ.lock().unwrap_or_else(PoisonError::into_inner).iter().rev().copied().collect()
}

/// Every workload that is compiled in, those that were added behind the others.
pub fn all() -> impl Iterator<Item = &'static Entry> + Clone {
    let added = ADDED.get().map_or(&[][..], |added| added.workloads);
    ALL.iter().chain(added).copied()
}

/// The first workload that uses data of this name; none if no workload does.
pub fn by_data(name: &str) -> Option<&'static Entry> {
    all().chain(all_read()).find(|entry| entry.data == name)
}

/// The workload of this name.
pub fn by_name(name: &str) -> Result<&'static Entry, BadParameter> {
    all().chain(all_read()).find(|entry| entry.name == name).ok_or_else(|| {
        // A family, such as sysbench's scripts.
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

    use model::{FAULT_METRICS, Settings};

    use super::*;

    /// The custom metrics of all workloads and roles, by whether less of them is better.
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
                    let is_fault = FAULT_METRICS.contains(&metric.name);
                    found[usize::from(is_fault)].insert(metric.name);
                }
            }
        }
        found
    }

    /// Whoever adds a custom metric decides here whether less of it is better.
    #[test]
    fn every_custom_metric_is_known_to_count_what_went_wrong_or_not() {
        let [others, faults] = custom_metrics();
        assert_eq!(faults, BTreeSet::from(FAULT_METRICS));
        let reviewed = [
            "age",
            "age_at_commit",
            "brand_lines",
            "bytes",
            "lines_entered",
            "measured_bytes",
            "measurements",
            "order_lines",
            "order_statuses_by_name",
            "order_total",
            "orders_delivered",
            "payments_by_name",
            "plain_query",
            "records",
            "records_read",
            "remote_lines",
            "remote_payments",
            "rows",
            "time_between_reads",
            "window_query",
        ];
        assert_eq!(others, BTreeSet::from(reviewed));
    }
}
