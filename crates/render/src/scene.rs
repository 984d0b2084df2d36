//! Sentences on the environment of runs: workloads, databases, load, machines and versions.

use model::Placement;
use model::numbers::{self, count};
use study::environment::Environment;

use super::wording::begun;

/// Largest number of distinct values, such as databases, that a sentence lists; if there are more,
/// it gives only their number, such as `5 different`.
pub(crate) const LISTED_MOST: usize = 4;

/// Describes the environment of several runs in sentences: workload, database, clients, load,
/// times, machine and dbdyno.
pub(crate) fn scene(scene: &Environment) -> String {
    let load = match scene.loads.is_empty() {
        true => String::new(),
        false => format!(", load: {}", several(&scene.loads)),
    };
    let when = match scene.begun.map(|(first, last)| (begun(first), begun(last))) {
        None => String::new(),
        Some((first, last)) if first == last => format!(", begun {first}"),
        Some((first, last)) => format!(", started between {first} and {last}"),
    };
    let mut printed = format!(
        "{} on {}: {}{load}; {} of {} after {} of ramp-up{when}.",
        workloads(scene),
        databases(scene),
        clients(scene),
        count(scene.runs, "run"),
        span(scene.measured_s),
        span(scene.ramp_up_s),
    );
    let machine = [&scene.machines, &scene.systems].map(|values| several(values));
    if scene.has_virtual_time() {
        printed.push_str(" In virtual time: no machine was loaded.");
    } else if !scene.machines.is_empty() {
        printed.push_str(&format!(" The generator ran on {}; {}.", machine[0], machine[1]));
    }
    if !scene.modes.is_empty() {
        printed.push_str(&format!(" On all sides: {}.", scene.modes.join(", ")));
    }
    printed.push_str(&format!(" By dbdyno {}.", several(&scene.dbdyno)));
    printed
}

/// Formats an age given in seconds: `3 h ago`, or `2 d ago` from 48 hours on.
pub fn ago(age_s: u64) -> String {
    match age_s / 3600 {
        hours if hours < 48 => format!("{hours} h ago"),
        hours => format!("{} d ago", hours / 24),
    }
}

/// Describes workloads with their data: `tpcc (warehouses 1)`.
pub(crate) fn workloads(scene: &Environment) -> String {
    several(&scene.workloads) + &in_brackets(&scene.data)
}

/// Describes databases with the memory of their servers: `PostgreSQL 18.4 (shared_buffers 128MB)`.
pub(crate) fn databases(scene: &Environment) -> String {
    several(&scene.databases) + &in_brackets(&scene.server_memory)
}

/// Lists values in brackets, after a blank; empty without values.
fn in_brackets(values: &[String]) -> String {
    if values.is_empty() { String::new() } else { format!(" ({})", several(values)) }
}

/// Describes clients with their placement, which determines the CPU time per query: `1 to 8 clients
/// on threads`.
pub(crate) fn clients(scene: &Environment) -> String {
    let number = match scene.clients {
        (low, high) if low == high => count(low.into(), "client"),
        (low, high) => format!("{low} to {}", count(high.into(), "client")),
    };
    let places: Vec<&str> =
        scene.placements.iter().filter_map(|placement| place_words(placement)).collect();
    match places.is_empty() {
        true => number,
        false => format!("{number} on {}", places.join(" and ")),
    }
}

/// Returns the word for where clients run: `threads` or `event loops`; `None` for virtual time or
/// an unknown placement.
fn place_words(placement: &str) -> Option<&'static str> {
    let known = [(Placement::Thread, "threads"), (Placement::Loop, "event loops")];
    known.into_iter().find(|(place, _)| place.name() == placement).map(|(_, words)| words)
}

/// Formats a range of seconds, such as `2 to 5 s`; one value if both ends look alike.
pub(crate) fn span((low, high): (f64, f64)) -> String {
    match numbers::seconds(low) == numbers::seconds(high) {
        true => numbers::seconds(low),
        false => format!("{} to {}", numbers::seconds(low), numbers::seconds(high)),
    }
}

pub(crate) fn several(values: &[String]) -> String {
    match values.len() {
        n if n > LISTED_MOST => format!("{n} different"),
        _ => values.join(" and "),
    }
}
