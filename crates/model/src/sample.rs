//! The record of one transaction: its number, four instants, and its outcome.

use serde::{Deserialize, Serialize};

use crate::{DbErrorKind, KindIndex, Rng, Stream, Traffic};

/// Number of a transaction. With the seed, it determines kind and inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// The client's transaction `nth`, from 0, in closed and key/think load.
    OfClient {
        /// The client, global over all agents.
        client: u32,
        /// Count of the client's transactions.
        nth: u64,
    },
    /// The group's arrival `nth`, from 0, in open load. The work is the same whichever client
    /// serves it.
    Arrival {
        /// Index of the group.
        group: u16,
        /// Count of arrivals over all agents.
        nth: u64,
    },
}

impl Number {
    /// Returns the generator of its inputs.
    pub fn rng(self, seed: u64) -> Rng {
        match self {
            Number::OfClient { client, nth } => Rng::new(seed, Stream::Client(client), nth),
            Number::Arrival { group, nth } => Rng::new(seed, Stream::Arrivals(group), nth),
        }
    }

    /// Returns its index in its own sequence, from 0.
    pub fn nth(self) -> u64 {
        match self {
            Number::OfClient { nth, .. } | Number::Arrival { nth, .. } => nth,
        }
    }

    /// Returns the stream that orders its transaction types.
    pub fn deck(self) -> Stream {
        match self {
            Number::OfClient { client, .. } => Stream::Deck(client),
            Number::Arrival { group, .. } => Stream::Deck(u32::MAX - u32::from(group)),
        }
    }
}

/// A transaction that a client has claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Number of the transaction.
    pub number: Number,
    /// Intended start, in nanoseconds.
    pub intended_ns: u64,
    /// Time at which a client took it, in nanoseconds. Later than intended if it waited in the
    /// queue.
    pub claimed_ns: u64,
}

/// The outcome of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Committed: its effects are permanent.
    Committed,
    /// Rolled back by design of the workload: finished, but not committed.
    RolledBack,
    /// Failed after all attempts, with the last error.
    Failed(DbErrorKind),
    /// The connection broke during COMMIT: it may or may not be committed.
    Unknown,
}

/// The measurements of one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Index of the transaction type.
    pub kind: KindIndex,
    /// Number, intended start and claim.
    pub slot: Slot,
    /// Time just before its first request was sent, in nanoseconds.
    pub started_ns: u64,
    /// Time of its last reply, after all attempts, in nanoseconds.
    pub finished_ns: u64,
    /// Outcome after all attempts.
    pub outcome: Outcome,
    /// Attempts beyond the first.
    pub retries: u32,
    /// Round trips, rows and bytes of all attempts.
    pub traffic: Traffic,
}

impl Sample {
    /// Returns the time in the queue: from the intended start until a client was free.
    pub fn wait_ns(&self) -> u64 {
        self.slot.claimed_ns.saturating_sub(self.slot.intended_ns)
    }

    /// Returns the generator's own delay: from the intended start or the claim to the first
    /// request.
    pub fn lag_ns(&self) -> u64 {
        self.started_ns.saturating_sub(self.slot.intended_ns.max(self.slot.claimed_ns))
    }

    /// Returns the time with the database, including all attempts and pauses between.
    pub fn service_ns(&self) -> u64 {
        self.finished_ns.saturating_sub(self.started_ns)
    }

    /// Returns the time that a user would experience: wait, lag and service.
    pub fn response_ns(&self) -> u64 {
        self.finished_ns.saturating_sub(self.slot.intended_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_is_wait_and_lag_and_service() {
        let number = Number::Arrival { group: 0, nth: 0 };
        for (intended_ns, claimed_ns, started_ns) in [(100, 250, 260), (100, 40, 130)] {
            let sample = Sample {
                kind: 0,
                slot: Slot { number, intended_ns, claimed_ns },
                started_ns,
                finished_ns: 900,
                outcome: Outcome::Committed,
                retries: 0,
                traffic: Traffic::default(),
            };
            let parts = sample.wait_ns() + sample.lag_ns() + sample.service_ns();
            assert_eq!(parts, sample.response_ns());
        }
    }
}
