//! What is known of one transaction: which it is, four instants, and its outcome.

use serde::{Deserialize, Serialize};

use crate::{DbErrorKind, KindIndex, Rng, Stream, Traffic};

/// Which transaction it is. Kind and inputs are a function of this and the seed alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// The client's own `nth` (from 0), in closed and key/think load.
    OfClient {
        /// The client, global over all agents.
        client: u32,
        /// Its count.
        nth: u64,
    },
    /// The group's arrival `nth` (from 0), in open load: whoever serves it, it is the same work.
    Arrival {
        /// The group.
        group: u16,
        /// Its count over all agents.
        nth: u64,
    },
}

impl Number {
    /// The random numbers that decide its inputs.
    pub fn rng(self, seed: u64) -> Rng {
        match self {
            Number::OfClient { client, nth } => Rng::new(seed, Stream::Client(client), nth),
            Number::Arrival { group, nth } => Rng::new(seed, Stream::Arrivals(group), nth),
        }
    }

    /// Its place in its own sequence, from 0.
    pub fn nth(self) -> u64 {
        match self {
            Number::OfClient { nth, .. } | Number::Arrival { nth, .. } => nth,
        }
    }

    /// Which deck of kinds it draws from.
    pub fn deck(self) -> Stream {
        match self {
            Number::OfClient { client, .. } => Stream::Deck(client),
            Number::Arrival { group, .. } => Stream::Deck(u32::MAX - u32::from(group)),
        }
    }
}

/// A transaction that was claimed by a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Which it is.
    pub number: Number,
    /// When it should start.
    pub intended_ns: u64,
    /// When a client took it on. Later than intended: it waited in the queue.
    pub claimed_ns: u64,
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Committed: its effects last.
    Committed,
    /// Rolled back by design of the workload: finished, not committed.
    RolledBack,
    /// Refused, after all attempts.
    Failed(DbErrorKind),
    /// The connection broke during COMMIT: it may have happened.
    Unknown,
}

/// One transaction, measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// What it was.
    pub kind: KindIndex,
    /// Which it was, intended and claimed.
    pub slot: Slot,
    /// When its first request was about to go out.
    pub started_ns: u64,
    /// When its last reply had come, all attempts included.
    pub finished_ns: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Attempts beyond the first.
    pub retries: u32,
    /// What it moved.
    pub traffic: Traffic,
}

impl Sample {
    /// Time in the queue: from the intended instant until a client was free.
    pub fn wait_ns(&self) -> u64 {
        self.slot.claimed_ns.saturating_sub(self.slot.intended_ns)
    }

    /// The generator's own lateness.
    pub fn lag_ns(&self) -> u64 {
        self.started_ns.saturating_sub(self.slot.intended_ns.max(self.slot.claimed_ns))
    }

    /// Time with the database, all attempts and back-offs included.
    pub fn service_ns(&self) -> u64 {
        self.finished_ns.saturating_sub(self.started_ns)
    }

    /// What a user would have seen: wait, lag and service.
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
