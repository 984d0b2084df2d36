//! Tells whether the database runs in the generator's process, or on its machine.
//!
//! Not here: what that means for a result (environment, others_cpu).

use model::Target;

use crate::tally::Tally;

/// Location of a database that runs on the same machine as the generator.
pub(crate) enum Place {
    /// The database runs in the generator's own process.
    WithinUs,
    /// The database runs on the generator's machine, in a process of its own.
    ThisHost,
}

/// Returns where a run's database is on the generator's machine; `None` if it is on another
/// machine, or simulated.
pub(crate) fn place(tally: &Tally) -> Option<Place> {
    let is_simulated = tally.fact("database", "seed").is_some();
    let place = place_of(&tally.description.as_ref()?.target, is_simulated)?;
    // With all clients on other hosts, the generator is not on that of the server.
    match place {
        Place::ThisHost if are_all_elsewhere(tally) => None,
        place => Some(place),
    }
}

/// Whether agents on other hosts execute all clients.
fn are_all_elsewhere(tally: &Tally) -> bool {
    let fact = |process: u32| tally.fact("processes", &format!("process_{process}_is_here"));
    let mut all = (1..).map_while(fact).peekable();
    all.peek().is_some() && all.all(|is_here| is_here.yes_no() == Some(false))
}

/// Returns true if the database at a target runs in the generator's own process, as SQLite does;
/// false for a simulated one.
pub(crate) fn is_embedded(target: &str, is_simulated: bool) -> bool {
    matches!(place_of(target, is_simulated), Some(Place::WithinUs))
}

/// Returns where the database at a target URL is on this machine; `None` if it is on another
/// machine, or simulated.
fn place_of(target: &str, is_simulated: bool) -> Option<Place> {
    let target = Target::parse(target).ok()?;
    let is_path = |name: &str| name.starts_with('/');
    let socket = ["socket", "host"].iter().any(|option| target.option(option).is_some_and(is_path));
    match target.hosts.as_slice() {
        // A simulated database has no place.
        _ if is_simulated => None,
        _ if target.scheme == "managed" || socket => Some(Place::ThisHost),
        [] => Some(Place::WithinUs),
        hosts if hosts.iter().any(|host| host.is_here() || is_path(&host.name)) => {
            Some(Place::ThisHost)
        }
        _ => None,
    }
}
