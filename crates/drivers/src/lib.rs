//! Speaking to databases: one folder a database, and the list of them.
//!
//! Not here: what is asked (workloads), when (engine), and what becomes of the answers.

#[cfg(test)]
mod certificates;
#[cfg(test)]
mod conformance;
mod entry;
pub mod for_tests;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod mysql;
mod net;
#[cfg(test)]
mod on_servers;
mod postgres;
mod sim;
mod sqlite;

use model::{BadParameter, Target, did_you_mean};

pub use entry::{CannotOpen, Entry, Opened, Opening};
pub use sim::{SimService, service_draw_ns};

/// Every database, in the order in which they are listed.
pub static ALL: &[&Entry] = &[&sqlite::ENTRY, &mysql::ENTRY, &postgres::ENTRY, &sim::ENTRY];

/// The driver that serves `scheme`.
pub fn by_scheme(scheme: &str) -> Result<&'static Entry, BadParameter> {
    let found = ALL.iter().find(|entry| entry.schemes.contains(&scheme));
    found.copied().ok_or_else(|| {
        // A server that is started for a run is the app's, and a target all the same.
        let of_ours = ALL.iter().flat_map(|entry| entry.schemes.iter().copied());
        let known = || of_ours.clone().chain(["managed"]);
        let hint = did_you_mean(scheme, known());
        let all: Vec<&str> = known().collect();
        BadParameter::new(format!(
            "no driver serves '{scheme}:'{hint}; there are {}",
            all.join(", ")
        ))
    })
}

/// Opens a target with the driver that its scheme names.
pub fn open(target: &Target, opening: Opening) -> Opened {
    let entry = by_scheme(&target.scheme).map_err(CannotOpen::Bad)?;
    (entry.open)(target, opening)
}
