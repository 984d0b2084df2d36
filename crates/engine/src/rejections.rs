//! Reactions of a client to rejections, which are errors that retries cannot heal. They end the
//! run: at once for a transaction type that was never accepted, after half a minute for others,
//! since the server may be changing.
//!
//! Not here: conflicts, which are retried, and lost connections, which are replaced until the
//! measured window ends.

use std::sync::atomic::{AtomicU64, Ordering};

use model::{DbErrorKind, KindIndex, NS_PER_S};

/// Number of consecutive rejections after which a client may give up. For each further host of its
/// target, one more is needed.
const IN_A_ROW: u32 = 10;
/// Time after which a client gives up on transactions that were accepted before, in nanoseconds.
/// Failovers take seconds, and half a minute is as long as a build waits for a server to come back.
const PATIENCE_NS: u64 = 30 * NS_PER_S;

/// State of a transaction type of which the server has not accepted any transaction yet.
const NEVER: u64 = u64::MAX;
/// State of a transaction type of which the server has accepted the last transaction.
const ACCEPTED: u64 = 0;

/// Record of whether the server has accepted transactions of each type of a group, and since when
/// it rejects them. By this record the group's clients decide whether rejections end the run.
pub(crate) struct Acceptance {
    /// State of each transaction type: [`NEVER`], [`ACCEPTED`], or the instant of the first
    /// rejection since the last success, in nanoseconds.
    kinds: Box<[AtomicU64]>,
}

impl Acceptance {
    pub(crate) fn new(n_kinds: usize) -> Acceptance {
        Acceptance { kinds: (0..n_kinds).map(|_| AtomicU64::new(NEVER)).collect() }
    }

    /// Records that a transaction of this type was accepted. Writes only if that changes the state,
    /// since all threads read it.
    pub(crate) fn accept(&self, kind: KindIndex) {
        let state = &self.kinds[usize::from(kind)];
        if state.load(Ordering::Relaxed) != ACCEPTED {
            state.store(ACCEPTED, Ordering::Relaxed);
        }
    }

    /// Whether a transaction of any type was accepted so far.
    fn is_any_accepted(&self) -> bool {
        self.kinds.iter().any(|state| state.load(Ordering::Relaxed) != NEVER)
    }

    /// Records that a transaction of this type was rejected. Returns the instant of the first
    /// rejection since the last success, in nanoseconds; `None` if the type was never accepted.
    fn refuse(&self, kind: KindIndex, now_ns: u64) -> Option<u64> {
        let state = &self.kinds[usize::from(kind)];
        match state.load(Ordering::Relaxed) {
            NEVER => None,
            ACCEPTED => {
                let since_ns = now_ns.max(ACCEPTED + 1);
                state.store(since_ns, Ordering::Relaxed);
                Some(since_ns)
            }
            since_ns => Some(since_ns),
        }
    }
}

/// Reaction of a client to a rejection by the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The client continues on the same connection, with its next transaction.
    Stay,
    /// The client reconnects before its next transaction, to another host if there is one.
    Leave,
    /// The client gives up, which ends the run as failed.
    GiveUp,
}

/// Consecutive rejections of one client since its last success.
#[derive(Default)]
pub(crate) struct Rejections {
    in_a_row: u32,
    since_ns: u64,
}

impl Rejections {
    /// Resets the number of rejections, after a success or after an error that retries can heal.
    pub(crate) fn clear(&mut self) {
        self.in_a_row = 0;
    }

    /// Counts a rejection of a transaction of type `kind`, or of a connection attempt (`None`), and
    /// returns what the client does next. `n_hosts` is the number of hosts of its target.
    pub(crate) fn note(
        &mut self,
        db_error: DbErrorKind,
        kind: Option<KindIndex>,
        acceptance: &Acceptance,
        n_hosts: usize,
        now_ns: u64,
    ) -> Next {
        if self.in_a_row == 0 {
            self.since_ns = now_ns;
        }
        self.in_a_row += 1;
        let refused_since_ns = match kind {
            // A read-only server rejects all types, including those that no client had accepted
            // yet.
            Some(kind) => acceptance.refuse(kind, now_ns).or_else(|| {
                let is_turned = db_error == DbErrorKind::ReadOnly && acceptance.is_any_accepted();
                is_turned.then_some(self.since_ns)
            }),
            None => Some(self.since_ns),
        };
        let n_others = n_hosts.saturating_sub(1) as u32;
        let is_hopeless = match refused_since_ns {
            Some(since_ns) => now_ns.saturating_sub(since_ns) >= PATIENCE_NS,
            None => true,
        };
        if is_hopeless && self.in_a_row >= IN_A_ROW + n_others {
            return Next::GiveUp;
        }
        // A server that accepted writes before and is read-only now has probably lost its role.
        let is_another =
            db_error == DbErrorKind::ReadOnly && (refused_since_ns.is_some() || n_others > 0);
        match is_another || self.in_a_row >= IN_A_ROW {
            true => Next::Leave,
            false => Next::Stay,
        }
    }
}

/// Whether an error is a rejection, which retries cannot heal unless the server changes.
pub(crate) fn is_rejection(kind: DbErrorKind) -> bool {
    use DbErrorKind::{Corrupt, Denied, DiskFull, Missing, Other, ReadOnly, Shape, Unsupported};
    matches!(kind, Corrupt | Denied | DiskFull | Missing | Other | ReadOnly | Shape | Unsupported)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Returns a client's reaction to each of `n` rejections, one every 100 ms, for tests.
    fn refused(
        n: u64,
        db_error: DbErrorKind,
        acceptance: &Acceptance,
        n_hosts: usize,
    ) -> Vec<Next> {
        let mut rejections = Rejections::default();
        let mut note =
            |nth| rejections.note(db_error, Some(0), acceptance, n_hosts, (nth + 1) * 100 * MS);
        (0..n).map(&mut note).collect()
    }

    #[test]
    fn transactions_that_were_never_accepted_are_given_up_after_ten() {
        for kind in [DbErrorKind::ReadOnly, DbErrorKind::Denied] {
            let next = refused(10, kind, &Acceptance::new(1), 1);
            assert_eq!((&next[..9], next[9]), (&[Next::Stay; 9][..], Next::GiveUp), "{kind:?}");
        }
    }

    #[test]
    fn of_several_hosts_each_is_tried() {
        let next = refused(12, DbErrorKind::ReadOnly, &Acceptance::new(1), 3);
        assert_eq!((&next[..11], next[11]), (&[Next::Leave; 11][..], Next::GiveUp));
        let next = refused(12, DbErrorKind::Denied, &Acceptance::new(1), 3);
        assert_eq!(next[8..], [Next::Stay, Next::Leave, Next::Leave, Next::GiveUp]);
    }

    #[test]
    fn transactions_that_were_accepted_are_given_up_after_half_a_minute() {
        let acceptance = Acceptance::new(1);
        acceptance.accept(0);
        let next = refused(301, DbErrorKind::ReadOnly, &acceptance, 1);
        assert!(next[..300].iter().all(|next| *next == Next::Leave));
        assert_eq!(next[300], Next::GiveUp);
        // Another client has found a server that accepts these transactions.
        acceptance.accept(0);
        assert_eq!(refused(20, DbErrorKind::ReadOnly, &acceptance, 1), [Next::Leave; 20]);
    }

    #[test]
    fn a_server_that_became_read_only_is_left_by_types_that_nobody_had_tried_yet() {
        let acceptance = Acceptance::new(2);
        acceptance.accept(1);
        let next = refused(301, DbErrorKind::ReadOnly, &acceptance, 1);
        assert!(next[..300].iter().all(|next| *next == Next::Leave));
        assert_eq!(next[300], Next::GiveUp);
        // Any other rejection is about the type itself.
        assert_eq!(refused(10, DbErrorKind::Denied, &acceptance, 1)[9], Next::GiveUp);
    }

    #[test]
    fn a_connection_that_is_refused_is_tried_for_half_a_minute() {
        let (mut rejections, acceptance) = (Rejections::default(), Acceptance::new(1));
        let mut note = |now_ns| rejections.note(DbErrorKind::Denied, None, &acceptance, 1, now_ns);
        assert!((0..100).all(|nth| note(nth * 100 * MS) != Next::GiveUp));
        assert_eq!(note(PATIENCE_NS), Next::GiveUp);
    }
}
