//! Where the database is, seen from the generator.
//!
//! Not here: what that means for a result (environment, others_cpu).

use model::Target;

use crate::tally::Tally;

/// Place of a database that shares the machine with the generator.
pub(super) enum Place {
    /// The database runs in the generator's own process.
    WithinUs,
    /// The database runs beside the generator.
    ThisHost,
}

/// Returns the place of the database; `None` if it is on another machine, or simulated.
pub(super) fn place(tally: &Tally) -> Option<Place> {
    let target = Target::parse(&tally.description.as_ref()?.target).ok()?;
    let is_path = |name: &str| name.starts_with('/');
    let socket = ["socket", "host"].iter().any(|option| target.option(option).is_some_and(is_path));
    match target.hosts.as_slice() {
        // A simulated database has no place.
        _ if tally.fact("database", "seed").is_some() => None,
        _ if target.scheme == "managed" || socket => Some(Place::ThisHost),
        [] => Some(Place::WithinUs),
        hosts if hosts.iter().any(|host| host.is_here() || is_path(&host.name)) => {
            Some(Place::ThisHost)
        }
        _ => None,
    }
}
