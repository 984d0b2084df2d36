//! Where the database is, seen from the generator.
//!
//! Not here: what that means for a result (environment, others_cpu).

use model::Target;

use crate::tally::Tally;

/// A database that shares the machine with the generator.
pub(super) enum Place {
    /// It runs in the generator's own process.
    WithinUs,
    /// It runs beside the generator.
    ThisHost,
}

/// None for a database elsewhere, or nowhere.
pub(super) fn place(tally: &Tally) -> Option<Place> {
    let target = Target::parse(&tally.description.as_ref()?.target).ok()?;
    let is_path = |name: &str| name.starts_with('/');
    let socket = ["socket", "host"].iter().any(|option| target.option(option).is_some_and(is_path));
    match target.hosts.as_slice() {
        // What draws its answers is nowhere.
        _ if tally.fact("database", "seed").is_some() => None,
        _ if target.scheme == "managed" || socket => Some(Place::ThisHost),
        [] => Some(Place::WithinUs),
        hosts if hosts.iter().any(|host| host.is_here() || is_path(&host.name)) => {
            Some(Place::ThisHost)
        }
        _ => None,
    }
}
