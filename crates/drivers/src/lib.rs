//! Database drivers: one folder per database, and the list of them.
//!
//! Not here: what is requested (workloads), when (engine), and the use of results.

#[cfg(test)]
mod certificates;
#[cfg(test)]
mod conformance;
mod entry;
pub mod for_tests;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
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
pub use sim::{SimService, service_draw_ns};

/// The delivered databases, in display order.
static ALL: &[&Entry] = &[&sqlite::ENTRY, &mysql::ENTRY, &postgres::ENTRY, &sim::ENTRY];

/// Databases of a program that links dbdyno.
static ADDED: OnceLock<&'static [&'static Entry]> = OnceLock::new();

/// The driver for workloads without a target: a file, which needs no server.
pub static EMBEDDED: &Entry = &sqlite::ENTRY;

/// Scheme of managed servers, which belong to the app.
const MANAGED: &str = "managed";

/// Adds databases of a program that links dbdyno: once, before any other call.
///
/// # Panics
///
/// If a scheme belongs to another database already.
pub fn add(added: &'static [&'static Entry]) {
    for scheme in added.iter().flat_map(|entry| entry.schemes) {
        assert!(by_scheme(scheme).is_err(), "there is a driver for '{scheme}:' already");
    }
    assert!(ADDED.set(added).is_ok(), "databases are added once");
}

/// Every database in display order, added ones last.
pub fn all() -> impl Iterator<Item = &'static Entry> + Clone {
    ALL.iter().chain(ADDED.get().copied().unwrap_or_default()).copied()
}

/// Returns the driver for `scheme`. Fails with a hint if there is none.
pub fn by_scheme(scheme: &str) -> Result<&'static Entry, BadParameter> {
    let found = all().find(|entry| entry.schemes.contains(&scheme));
    found.ok_or_else(|| {
        let schemes = all().flat_map(|entry| entry.schemes.iter().copied());
        let known = || schemes.clone().chain([MANAGED]);
        // The name of another product is not a typo.
        let hint = did_you_mean(scheme, known().filter(|of| of.get(..2) == scheme.get(..2)));
        let all: Vec<&str> = known().collect();
        BadParameter::new(format!(
            "there is no driver for '{scheme}:'{hint}; choose one of {}",
            all.join(", ")
        ))
    })
}

/// Returns the driver of a target; for a managed one, that of its server. `None` if there is none.
pub fn of_target(target: &Target) -> Option<&'static Entry> {
    let scheme = if target.scheme == MANAGED { &target.path } else { &target.scheme };
    by_scheme(scheme).ok()
}

/// Returns the file of a target, if it is one.
pub fn file_of(target: &Target) -> Option<PathBuf> {
    (by_scheme(&target.scheme).ok()?.file)(target)
}

/// Identifies the server of a target: by its first host and port, or its socket, whatever user,
/// database and scheme of the product it names.
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

/// Checks a URL for missing parts and unknown options, without opening it.
pub fn check(target: &Target) -> Result<(), BadParameter> {
    (by_scheme(&target.scheme)?.check)(target)
}

/// Opens a target with the driver of its scheme. Fails if there is none, or it cannot be opened.
pub fn open(target: &Target, opening: Opening) -> Opened {
    let entry = by_scheme(&target.scheme).map_err(CannotOpen::Bad)?;
    (entry.open)(target, opening)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_the_same_whoever_signs_in_to_whichever_database() {
        let of = |url: &str| server_of(&Target::parse(url).expect("a URL"));
        assert_eq!(of("mariadb://a:x@h:3307/d?tls=require"), of("mysql://b@h:3307/other"));
        assert_eq!(of("postgres://a@h/d"), of("postgresql://b@h/other"));
        assert_ne!(of("mysql://a@h:3307/d"), of("mysql://a@h:3308/d"));
        assert_ne!(of("mysql://a@h/d"), of("postgres://a@h/d"));
        assert_eq!(of("mysql://a@h/d?socket=/run/s"), of("mysql://b@other/d?socket=/run/s"));
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
