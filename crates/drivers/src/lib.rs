//! Database drivers: one folder per database product, and the list of all drivers.
//!
//! Not here: what is requested (workloads), when (engine), and the use of results.

#[cfg(test)]
mod certificates;
#[cfg(test)]
mod conformance;
#[cfg(feature = "duckdb")]
mod duckdb;
mod embedded;
mod entry;
mod environment;
pub mod for_tests;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod kept;
pub use kept::KEPT_MOST as STATEMENTS_KEPT;
mod modes;
mod mysql;
mod net;
#[cfg(test)]
mod on_servers;
mod postgres;
mod sim;
mod sqlite;

use std::path::PathBuf;
use std::sync::OnceLock;

use model::{BadParameter, Target, did_you_mean};

pub use entry::{CannotOpen, Entry, LocalServer, Opened, Opening};
pub use environment::read_environment;
pub use sim::{SimService, service_draw_ns};

/// Drivers that are built into dbdyno, in the order in which lists show them.
static ALL: &[&Entry] = &[
    &sqlite::ENTRY,
    #[cfg(feature = "duckdb")]
    &duckdb::ENTRY,
    &mysql::ENTRY,
    &postgres::ENTRY,
    &sim::ENTRY,
];

/// Drivers that a program linking dbdyno has added with [`add`].
static ADDED: OnceLock<&'static [&'static Entry]> = OnceLock::new();

/// Driver for runs that name no target: SQLite, which needs a file but no server.
pub static EMBEDDED: &Entry = &sqlite::ENTRY;

/// Driver for runs that name no target and whose workload reads large parts of its tables, as
/// chosen for this machine.
pub struct ForAnalytics {
    pub entry: &'static Entry,
    /// Reason of the choice, as a sentence without a full stop.
    pub why: String,
}

/// Chooses the embedded driver for analytics: DuckDB if its library can be loaded, otherwise
/// [`EMBEDDED`].
pub fn for_analytics() -> ForAnalytics {
    let on_embedded =
        |why: &str| ForAnalytics { entry: EMBEDDED, why: format!("on SQLite: {why}") };
    #[cfg(feature = "duckdb")]
    let chosen = match duckdb::library_found() {
        Ok(library) => ForAnalytics {
            entry: &duckdb::ENTRY,
            why: format!("on DuckDB, which suits analytics: its library is {library}"),
        },
        Err(missing) => on_embedded(&missing),
    };
    #[cfg(not(feature = "duckdb"))]
    let chosen = on_embedded("dbdyno was built without DuckDB");
    chosen
}

/// URL scheme `managed`, for private servers that dbdyno itself starts. No driver has it.
const MANAGED: &str = "managed";

/// Adds the drivers of a program that links dbdyno. It must be called before any other function of
/// this crate.
///
/// # Panics
///
/// If a URL scheme belongs to another driver already, or drivers were added before.
pub fn add(added: &'static [&'static Entry]) {
    for scheme in added.iter().flat_map(|entry| entry.schemes) {
        assert!(by_scheme(scheme).is_err(), "there is a driver for '{scheme}:' already");
    }
    assert!(ADDED.set(added).is_ok(), "databases are added once");
}

/// Returns all drivers in display order, added ones last.
pub fn all() -> impl Iterator<Item = &'static Entry> + Clone {
    ALL.iter().chain(ADDED.get().copied().unwrap_or_default()).copied()
}

/// Returns the driver for a URL scheme. If there is none, the error lists the known schemes.
pub fn by_scheme(scheme: &str) -> Result<&'static Entry, BadParameter> {
    let found = all().find(|entry| entry.schemes.contains(&scheme));
    found.ok_or_else(|| {
        let schemes = all().flat_map(|entry| entry.schemes.iter().copied());
        let known = || schemes.clone().chain([MANAGED]);
        // The name of another product is not a typo.
        let hint = did_you_mean(scheme, known().filter(|other| other.get(..2) == scheme.get(..2)));
        let all: Vec<&str> = known().collect();
        BadParameter::new(format!(
            "there is no driver for '{scheme}:'{hint}; choose one of {}",
            all.join(", ")
        ))
    })
}

/// Returns the driver of a target's scheme or, for `managed:`, of the product that will be started.
/// `None` if there is no such driver.
pub fn of_target(target: &Target) -> Option<&'static Entry> {
    let scheme = if target.scheme == MANAGED { &target.path } else { &target.scheme };
    by_scheme(scheme).ok()
}

/// Returns the names of the server's program, such as `mariadbd`; empty for a database without a
/// server.
pub fn programs_of(target: &Target) -> Vec<String> {
    let server = of_target(target).and_then(|entry| entry.local_server);
    let programs = server.map_or(&[][..], |server| server.programs);
    programs.iter().map(|program| (*program).to_owned()).collect()
}

/// Returns the database file of a target; `None` if its database is a server or in memory.
pub fn file_of(target: &Target) -> Option<PathBuf> {
    (by_scheme(&target.scheme).ok()?.file)(target)
}

/// Returns true if a target is a database in the memory of this process, which begins empty and
/// ends with it.
pub fn is_in_memory(target: &Target) -> bool {
    target.path == embedded::location::MEMORY
        && of_target(target).is_some_and(|entry| entry.product.administration.is_in_process)
}

/// Returns a text that identifies the server of a target: the driver's name with the first host and
/// port, or with the socket. It does not depend on the user, the database, or which of the driver's
/// schemes is used.
pub fn server_of(target: &Target) -> String {
    let product = by_scheme(&target.scheme).map_or(target.scheme.as_str(), |entry| entry.name);
    if let Some(socket) = target.option("socket") {
        return format!("{product}:{socket}");
    }
    let host = target.hosts.first();
    let name = host.map_or("localhost", |host| host.name.as_str());
    let port = host.and_then(|host| host.port).map_or(String::new(), |port| format!(":{port}"));
    format!("{product}://{name}{port}")
}

/// Checks the URL of a target for missing parts and unknown options, without opening the target.
pub fn check(target: &Target) -> Result<(), BadParameter> {
    (by_scheme(&target.scheme)?.check)(target)
}

/// Opens a target with the driver of its scheme. Fails if there is no such driver, the target is
/// invalid, or the database returns an error.
pub fn open(target: &Target, opening: Opening) -> Opened {
    let entry = by_scheme(&target.scheme).map_err(CannotOpen::Bad)?;
    (entry.open)(target, opening)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_the_same_whoever_signs_in_to_whichever_database() {
        let id = |url: &str| server_of(&Target::parse(url).expect("a URL"));
        assert_eq!(id("mariadb://a:x@h:3307/d?tls=require"), id("mysql://b@h:3307/other"));
        assert_eq!(id("postgres://a@h/d"), id("postgresql://b@h/other"));
        assert_ne!(id("mysql://a@h:3307/d"), id("mysql://a@h:3308/d"));
        assert_ne!(id("mysql://a@h/d"), id("postgres://a@h/d"));
        assert_eq!(id("mysql://a@h/d?socket=/run/s"), id("mysql://b@other/d?socket=/run/s"));
    }

    #[test]
    fn another_product_is_no_misspelt_scheme() {
        let said = |scheme| by_scheme(scheme).err().expect("no driver").to_string();
        let other = said("mongodb");
        assert!(other.starts_with("there is no driver for 'mongodb:'; choose one of "), "{other}");
        assert!(said("postgers").contains("did you mean 'postgres'"), "{}", said("postgers"));
        assert!(said("manged").contains("did you mean 'managed'"), "{}", said("manged"));
    }

    #[test]
    fn a_target_of_a_server_that_is_started_has_the_driver_of_that_server() {
        let check = |url: &str, driver: Option<&str>, file: Option<&str>| {
            let target = Target::parse(url).expect("a URL");
            assert_eq!(of_target(&target).map(|entry| entry.name), driver, "{url}");
            assert_eq!(file_of(&target), file.map(PathBuf::from), "{url}");
        };
        check("managed:mariadb?nodes=3", Some("mysql"), None);
        check("managed:postgres", Some("postgres"), None);
        check("managed:oracle", None, None);
        check("postgresql://h/d", Some("postgres"), None);
        check("sim:", Some("sim"), None);
        check("sqlite:/tmp/a.db", Some("sqlite"), Some("/tmp/a.db"));
        check("sqlite::memory:", Some("sqlite"), None);
    }
}
