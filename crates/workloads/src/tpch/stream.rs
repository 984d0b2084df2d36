//! The query stream of a power run (clause 5.3.6): one client executes each query once, in a fixed
//! order.
//!
//! Not here: the queries and their parameters.

use model::{
    Client, Conversation, Done, KindIndex, Number, Request, StatementKind, TxContext, query,
};

use super::Substitution;
use super::queries::{self, QUERIES};
use super::substitution::{self, Parameters};

/// Numbers of the queries in the order of stream 0 (Appendix A).
const ORDER: [KindIndex; QUERIES] =
    [14, 2, 9, 20, 6, 17, 18, 8, 21, 13, 3, 22, 16, 4, 11, 15, 1, 10, 19, 5, 7, 12];

/// Returns the query that a transaction executes. After the last query the stream begins again.
pub(super) fn kind_of(number: Number) -> KindIndex {
    ORDER[(number.nth() % QUERIES as u64) as usize] - 1
}

/// Client that executes the queries of a stream.
pub(super) struct Stream {
    seed: u64,
    scale: f64,
    substitution: Substitution,
    kind: KindIndex,
    parameters: Parameters,
}

impl Stream {
    pub(super) fn new(seed: u64, scale: f64, substitution: Substitution) -> Stream {
        Stream { seed, scale, substitution, kind: 0, parameters: Parameters::new() }
    }
}

impl Client for Stream {
    fn inputs(&mut self, number: Number) -> KindIndex {
        self.kind = kind_of(number);
        self.parameters = match self.substitution {
            Substitution::Validation => substitution::validation(self.kind, self.scale),
            Substitution::Drawn => {
                substitution::drawn(self.kind, self.scale, &mut number.rng(self.seed))
            }
        };
        self.kind
    }

    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a> {
        Box::pin(async move {
            // It takes some microseconds, and a query milliseconds.
            let sql = queries::query(self.kind).sql(&self.parameters, context.dialect);
            let request = Request::Text { kind: StatementKind::Read, sql: &sql };
            query(context.session(), request, &mut |_| Ok(())).await?;
            Ok(Done::Committed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_each_query_once() {
        let mut all = ORDER;
        all.sort_unstable();
        assert!(all.into_iter().eq(1..=22));
        let nth = |nth| kind_of(Number::OfClient { client: 0, nth });
        assert_eq!([nth(0), nth(21), nth(22)], [13, 11, 13]);
    }
}
