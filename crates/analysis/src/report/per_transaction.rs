//! Mean numbers of round trips, statements, rows and bytes per transaction.
//!
//! Not here: of which groups (build, reply_lag).

use model::{KindSecond, Traffic};

use super::PerTransaction;
use super::times::known;
use crate::tally::Tally;

/// Returns mean amounts per transaction, over all types of `groups`.
pub(super) fn per_transaction(tally: &Tally, groups: &[usize]) -> PerTransaction {
    let (traffic, ended) = moved_by_all(tally, groups);
    let each = |count: u64| known(count as f64 / ended as f64);
    PerTransaction {
        round_trips: each(traffic.round_trips),
        statements: each(traffic.queries()),
        reads: each(traffic.reads),
        writes: each(traffic.writes),
        others: each(traffic.others),
        bytes: each(traffic.bytes()),
        rows: each(traffic.rows).filter(|_| traffic.rows > 0),
    }
}

/// Returns the traffic of transactions of all types that ended in the measured window, and the
/// number of these transactions.
pub(super) fn moved_by_all(tally: &Tally, groups: &[usize]) -> (Traffic, u64) {
    let (mut traffic, mut ended) = (Traffic::default(), 0);
    for group in groups.iter().filter_map(|index| tally.groups.get(*index)) {
        let kinds = [&group.ramp_up, &group.measured].map(|phase| phase.kinds.last());
        let last = kinds.into_iter().flatten().map(|kind| kind.kind).max();
        for kind in last.into_iter().flat_map(|last| 0..=last) {
            let (of_kind, ended_of_kind) = moved(group.ramp_up_kind(kind), group.kind(kind));
            traffic += of_kind;
            ended += ended_of_kind;
        }
    }
    (traffic, ended)
}

/// Returns the traffic (statements, round trips, rows, bytes) of transactions of one type that
/// ended in the measured window, and the number of these transactions. For older runs, which count
/// transactions by their intended start, both are summed over ramp-up and measured phase.
pub(super) fn moved(ramp_up: Option<&KindSecond>, measured: Option<&KindSecond>) -> (Traffic, u64) {
    if [ramp_up, measured].into_iter().flatten().any(|kind| kind.ended > 0) {
        return measured.map_or_else(Default::default, |kind| (kind.traffic, kind.ended));
    }
    let (mut traffic, mut ended) = (Traffic::default(), 0);
    for kind in [ramp_up, measured].into_iter().flatten() {
        traffic += kind.traffic;
        ended += kind.counts.finished() + kind.counts.failed;
    }
    // Carried out of the window: unfinished, or ended in the drain phase.
    let drained = measured.map_or(0, |kind| kind.carried.saturating_sub(kind.counts.unfinished));
    (traffic, ended.saturating_sub(drained))
}
