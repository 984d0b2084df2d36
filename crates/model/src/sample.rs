//! The record of one transaction: its number, four instants, and outcome.

use serde::{Deserialize, Serialize};

use crate::{DbErrorKind, KindIndex, Rng, Stream, Traffic};

/// Number of a transaction within the sequence of its client or group. Together with the seed, it
/// determines type and inputs of the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// A transaction of one client, in closed and key/think load.
    OfClient {
        /// Index of the client over all groups and client processes, from 0.
        client: u32,
        /// Index of the transaction among those of its client, from 0.
        nth: u64,
    },
    /// An arrival of a group, in open load. Its type and inputs are the same whichever client
    /// executes it.
    Arrival {
        /// Index of the group of clients in the plan, from 0.
        group: u16,
        /// Index of the transaction among the arrivals of its group over all client processes, from
        /// 0.
        nth: u64,
    },
}

impl Number {
    /// Returns the random number generator for the inputs of the transaction, given the seed of the
    /// plan.
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

    /// Returns the random stream from which the order of transaction types is drawn for the
    /// transaction's client or, in open load, its group.
    pub fn deck(self) -> Stream {
        match self {
            Number::OfClient { client, .. } => Stream::Deck(client),
            Number::Arrival { group, .. } => Stream::Deck(u32::MAX - u32::from(group)),
        }
    }
}

/// A transaction that a client has taken to execute, with its number and intended start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Number of the transaction, which determines its type and inputs.
    pub number: Number,
    /// Intended start of the transaction, in nanoseconds of the run's clock: in open load its
    /// arrival.
    pub intended_ns: u64,
    /// Instant at which a client took the transaction, in nanoseconds of the run's clock. After the
    /// intended start if the transaction waited in the queue; before it if a free client took it in
    /// advance.
    pub claimed_ns: u64,
}

/// The outcome of a transaction after all its attempts, as reports count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The transaction was committed, so its effects are permanent.
    Committed,
    /// The transaction was rolled back by design of the workload: it finished, but was not
    /// committed.
    RolledBack,
    /// The transaction ended with an error of this kind that the plan ignores: it finished, but was
    /// not committed.
    Ignored(DbErrorKind),
    /// The transaction failed in all its attempts, the last one with this kind of error.
    Failed(DbErrorKind),
    /// The connection broke during COMMIT, so it is unknown whether the transaction was committed.
    Unknown,
}

/// Times, outcome and traffic of one executed transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Index of the transaction type in the workload, from 0.
    pub kind: KindIndex,
    /// Number and intended start of the transaction, and the instant at which a client took it.
    pub slot: Slot,
    /// Instant just before the first request was sent, in nanoseconds of the run's clock.
    pub started_ns: u64,
    /// Instant at which the last reply had arrived, after all attempts, in nanoseconds of the run's
    /// clock.
    pub finished_ns: u64,
    /// Outcome of the transaction after all its attempts.
    pub outcome: Outcome,
    /// Number of attempts after the first one.
    pub retries: u32,
    /// Statements, round trips, rows and bytes of all attempts.
    pub traffic: Traffic,
}

impl Sample {
    /// Returns how long the transaction waited for a free client, in nanoseconds: from its intended
    /// start until a client took it; 0 if a client took it before its intended start.
    pub fn wait_ns(&self) -> u64 {
        self.slot.claimed_ns.saturating_sub(self.slot.intended_ns)
    }

    /// Returns the delay that dbdyno itself caused, in nanoseconds: from the intended start, or
    /// from the instant at which a client took the transaction if that is later, to the first
    /// request.
    pub fn lag_ns(&self) -> u64 {
        self.started_ns.saturating_sub(self.slot.intended_ns.max(self.slot.claimed_ns))
    }

    /// Returns the service time in nanoseconds: from the first request to the last reply, including
    /// all attempts and the pauses between them.
    pub fn service_ns(&self) -> u64 {
        self.finished_ns.saturating_sub(self.started_ns)
    }

    /// Returns the response time that a user would experience, in nanoseconds: from the intended
    /// start to the last reply.
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
