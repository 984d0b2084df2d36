//! Clients of a workload that is written in a file.

use model::{Client, Conversation, Done, KindIndex, Number, StatementId, TxContext, execute};

/// Draws a transaction type by weight, and returns its index.
pub(super) fn drawn(seed: u64, weights: &[u64], number: Number) -> KindIndex {
    let all: u64 = weights.iter().sum();
    let mut left = number.rng(seed).uniform(1, all as i64) as u64;
    for (index, weight) in weights.iter().enumerate() {
        if left <= *weight {
            return index as KindIndex;
        }
        left -= weight;
    }
    unreachable!("the weights add up to {all}")
}

pub(super) struct User {
    seed: u64,
    weights: Vec<u64>,
    /// For each transaction type, the index of its first statement and the number of its
    /// statements.
    statements_of: Vec<(u16, u16)>,
    kind: KindIndex,
}

impl User {
    pub(super) fn new(seed: u64, weights: Vec<u64>, statements_of: Vec<(u16, u16)>) -> User {
        User { seed, weights, statements_of, kind: 0 }
    }
}

impl Client for User {
    fn inputs(&mut self, number: Number) -> KindIndex {
        self.kind = drawn(self.seed, &self.weights, number);
        self.kind
    }

    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a> {
        Box::pin(async move {
            let (first, n) = self.statements_of[usize::from(self.kind)];
            for place in first..first + n {
                execute(context.session(), StatementId(place.into()), &[]).await?;
            }
            context.measured.push((0, u64::from(n)));
            Ok(Done::Committed)
        })
    }
}
