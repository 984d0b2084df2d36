//! Records the reply lag of a client's sessions: the time that replies wait in the socket before
//! the client reads them.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use model::{Clock, NS_PER_MS, ReplyLags};

use crate::client_loop::Common;
use crate::clock::{coarse_ns, unix_ns};

/// Limit, in nanoseconds, on changes of the difference between wall clock and run clock. A larger
/// change means that the wall clock was set; smaller ones come from the time between the two
/// readings.
const STEP_NS: u64 = NS_PER_MS;

/// Receiver and recorder of the reply lags of one client's sessions. A reply lag is the time that a
/// reply waited in the socket before the client read it.
pub(crate) struct ClientReplyLags {
    client: u32,
    group: u16,
    clock: Rc<dyn Clock>,
    common: Arc<Common>,
    distance: Distance,
}

/// Difference between `CLOCK_REALTIME` and the run's clock when both were last read, in
/// nanoseconds. If the difference changes, somebody has set the wall clock.
struct Distance(Cell<u64>);

impl Distance {
    /// Updates the difference between `CLOCK_REALTIME` and the run's clock from new readings.
    /// Returns whether the difference changed so much that a clock was set since the last readings.
    fn has_jumped(&self, now_unix_ns: u64, now_ns: u64) -> bool {
        let ahead_ns = now_unix_ns.saturating_sub(now_ns);
        self.0.replace(ahead_ns).abs_diff(ahead_ns) > STEP_NS
    }
}

impl ClientReplyLags {
    pub(crate) fn new(
        client: u32,
        group: u16,
        clock: Rc<dyn Clock>,
        common: Arc<Common>,
    ) -> ClientReplyLags {
        let distance = Distance(Cell::new(unix_ns().saturating_sub(clock.now())));
        ClientReplyLags { client, group, clock, common, distance }
    }

    fn keep(&self, lag_ns: u64, is_sample: bool) {
        let (client, group, now_ns) = (self.client, self.group, self.clock.now());
        self.common.recorder.record_reply_lag(client, group, now_ns, lag_ns, is_sample);
    }
}

impl ReplyLags for ClientReplyLags {
    fn since_ns(&self, arrived_unix_ns: u64) -> Option<u64> {
        let now_unix_ns = unix_ns();
        let has_jumped = self.distance.has_jumped(now_unix_ns, self.clock.now());
        (!has_jumped).then(|| now_unix_ns.saturating_sub(arrived_unix_ns))
    }

    fn coarse_ns(&self) -> u64 {
        coarse_ns()
    }

    fn record(&self, lag_ns: u64) {
        self.keep(lag_ns, true);
    }

    fn record_late(&self, lag_ns: u64) {
        self.keep(lag_ns, false);
    }

    fn unavailable(&self, why: &str) {
        self.common.recorder.note_no_reply_lag(why);
    }
}

#[cfg(test)]
mod tests {
    use model::NS_PER_S;

    use super::*;

    #[test]
    fn a_clock_that_was_set_is_noticed_once_and_one_that_runs_is_not() {
        let distance = Distance(Cell::new(1_000 * NS_PER_S));
        let jumped = |ahead_s: u64, now_ns: u64, off_ns: u64| {
            distance.has_jumped(ahead_s * NS_PER_S + now_ns + off_ns, now_ns)
        };
        assert!(!jumped(1_000, 5, 0));
        // The two clocks are not read at the same instant, so small differences are no jump.
        assert!(!jumped(1_000, 3_600 * NS_PER_S, NS_PER_MS / 2));
        assert!(jumped(1_001, 3_601 * NS_PER_S, 0), "a second forwards");
        assert!(!jumped(1_001, 3_602 * NS_PER_S, 0));
        assert!(jumped(990, 3_603 * NS_PER_S, 0), "and some backwards");
    }
}
