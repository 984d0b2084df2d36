//! Lengths of the arrival queues at the ends of seconds, until they are reported with the other
//! figures of these seconds.
//!
//! Not here: the queues (pacer), and when they are read (coordinator).

use model::Second;

/// Length of a group's arrival queue at the end of a second.
pub(crate) struct Queued {
    pub(crate) group: u16,
    pub(crate) second: i64,
    pub(crate) waiting: u64,
    /// Number of transactions that clients were executing.
    pub(crate) running: u64,
}

/// Adds lengths of arrival queues to the records in `parts` for the same
/// group and second. Adds a record if there is none.
pub(crate) fn with_queues(
    mut parts: Vec<Second>,
    queued: impl Iterator<Item = Queued>,
) -> Vec<Second> {
    for Queued { group, second, waiting, running } in queued {
        let is_it = |part: &&mut Second| (part.group, part.second) == (group, second);
        match parts.iter_mut().find(is_it) {
            Some(part) => (part.waiting, part.running) = (Some(waiting), Some(running)),
            None => {
                let (waiting, running) = (Some(waiting), Some(running));
                parts.push(Second { waiting, running, ..Second::new(group, second) });
            }
        }
    }
    parts
}
