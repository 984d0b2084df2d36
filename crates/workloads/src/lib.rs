//! What is asked of databases: one folder a workload, and the list of them.
//!
//! Not here: when it is asked (engine), and in whose words beyond SQL (drivers). A workload
//! knows no clock, socket, file or runtime.

mod empty;
mod entry;
mod oltp;
mod tpcb;
mod tpcc;
mod tx_control;

use model::{BadParameter, did_you_mean};

pub use entry::{Entry, Make};

/// Every workload, in the order in which they are listed.
pub static ALL: &[&Entry] = &[
    &tpcc::ENTRY,
    &tpcb::ENTRY,
    &oltp::read_only::ENTRY,
    &oltp::read_write::ENTRY,
    &oltp::write_only::ENTRY,
    &oltp::point_select::ENTRY,
    &oltp::update_index::ENTRY,
    &oltp::update_non_index::ENTRY,
    &oltp::insert::ENTRY,
    &oltp::delete::ENTRY,
    &oltp::bulk_insert::ENTRY,
    &oltp::random_points::ENTRY,
    &oltp::random_ranges::ENTRY,
    &empty::ENTRY,
];

/// The first workload that uses data of this name; none if no workload does.
pub fn by_data(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.data == name).copied()
}

/// The workload of this name.
pub fn by_name(name: &str) -> Result<&'static Entry, BadParameter> {
    ALL.iter().find(|entry| entry.name == name).copied().ok_or_else(|| {
        let hint = did_you_mean(name, ALL.iter().map(|entry| entry.name));
        BadParameter::new(format!(
            "there is no workload '{name}'{hint}; 'dbdyno list workloads' has all"
        ))
    })
}
