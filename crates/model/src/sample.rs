//! The record of one transaction: its number, four instants, and outcome.

use serde::{Deserialize, Serialize};

use crate::{DbErrorKind, KindIndex, Rng, Stream, Traffic};

/// Number of a transaction. Together with the seed, it determines the transaction's type and
/// inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// A transaction of a client, in closed and key/think load.
    OfClient {
        /// Index of the client over all groups and client processes.
        client: u32,
        /// Index among the transactions of the client, from 0.
        nth: u64,
    },
    /// An arrival of a group, in open load. Whichever client serves it, type and inputs are the
    /// same.
    Arrival {
        /// Index of the group.
        group: u16,
        /// Index among the arrivals of the group over all client processes, from 0.
        nth: u64,
    },
}

impl Number {
    /// Returns the random generator for the inputs of the transaction.
    pub fn rng(self, seed: u64) -> Rng {
        match self {
            Number::OfClient { client, nth } => Rng::new(seed, Stream::Client(client), nth),
            Number::Arrival { group, nth } => Rng::new(seed, Stream::Arrivals(group), nth),
        }
    }

    /// Returns the index of the transaction in the sequence of its client or group, from 0.
    pub fn nth(self) -> u64 {
        match self {
            Number::OfClient { nth, .. } | Number::Arrival { nth, .. } => nth,
        }
    }

    /// Returns the random stream that determines the order of transaction types in the sequence of
    /// its client or group.
    pub fn deck(self) -> Stream {
        match self {
            Number::OfClient { client, .. } => Stream::Deck(client),
            Number::Arrival { group, .. } => Stream::Deck(u32::MAX - u32::from(group)),
        }
    }
}

/// A transaction that a client has claimed for execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Number of the transaction.
    pub number: Number,
    /// Instant at which the transaction should start, in nanoseconds of the run's clock.
    pub intended_ns: u64,
    /// Instant at which a client claimed the transaction, in nanoseconds of the run's clock. If it
    /// waited in the queue, this is after the intended start; a free client claims it before.
    pub claimed_ns: u64,
}

/// The outcome of a transaction, after all attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Committed: its effects are permanent.
    Committed,
    /// Rolled back by design of the workload: finished, but not committed.
    RolledBack,
    /// Failed in all its attempts; the last one with this kind of error.
    Failed(DbErrorKind),
    /// The connection broke during COMMIT, so it is unknown whether the transaction was committed.
    Unknown,
}

/// The measurements of one executed transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Index of the transaction type.
    pub kind: KindIndex,
    /// Number, intended start and claim of the transaction.
    pub slot: Slot,
    /// Instant just before the first request was sent, in nanoseconds of the run's clock.
    pub started_ns: u64,
    /// Instant at which the last reply had arrived, after all attempts, in nanoseconds of the run's
    /// clock.
    pub finished_ns: u64,
    /// Outcome after all attempts.
    pub outcome: Outcome,
    /// Number of attempts after the first.
    pub retries: u32,
    /// Statements, round trips, rows and bytes of all attempts.
    pub traffic: Traffic,
}

impl Sample {
    /// Returns how long the transaction waited for a free client, from its intended start to the
    /// claim, in nanoseconds; 0 if it was claimed before.
    pub fn wait_ns(&self) -> u64 {
        self.slot.claimed_ns.saturating_sub(self.slot.intended_ns)
    }

    /// Returns the delay that the generator itself caused, in nanoseconds: from the intended start
    /// or the claim, whichever was later, to the first request.
    pub fn lag_ns(&self) -> u64 {
        self.started_ns.saturating_sub(self.slot.intended_ns.max(self.slot.claimed_ns))
    }

    /// Returns the time with the database, in nanoseconds: from the first request to the last
    /// reply, with all attempts and the pauses between them.
    pub fn service_ns(&self) -> u64 {
        self.finished_ns.saturating_sub(self.started_ns)
    }

    /// Returns the time that a user would experience, in nanoseconds: from the intended start to
    /// the last reply.
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
