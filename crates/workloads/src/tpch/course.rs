//! The tests of the standard (clause 5.3) as fixed sequences of transactions: which client executes
//! which query or refresh function, and in which order.
//!
//! Not here: how they are executed (client), and the figures of a test (metrics).

use model::{KindIndex, Number, choice};

use super::queries::QUERIES;

/// Part of the standard's performance test that a run executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    /// Only the query stream of the power test, which changes no data.
    Queries,
    /// The power test: RF1, the query stream 0 and RF2, one after the other.
    Power,
    /// The throughput test: several query streams at once, beside a stream of refresh functions.
    Throughput,
    /// The power test, and then the throughput test.
    Both,
}

choice!(Test { Queries = "queries", Power = "power", Throughput = "throughput", Both = "both" });

/// Index of the transaction type of RF1, the refresh function that inserts orders.
pub(super) const RF1: KindIndex = QUERIES as KindIndex;
/// Index of the transaction type of RF2, the refresh function that deletes orders.
pub(super) const RF2: KindIndex = RF1 + 1;

/// Largest number of query streams: Appendix A has orders for 40, and one for the power test.
pub(super) const STREAMS_MAX: u32 = 40;

/// Role of a client in a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Executes the queries of a stream, which has this number; 0 is that of the power test.
    Stream(u32),
    /// Executes RF1, the queries of stream 0, and RF2.
    Power,
    /// Executes RF1 and RF2 in turn, a pair for each query stream of the throughput test.
    Refresh,
}

/// A test with its number of query streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Course {
    pub(super) test: Test,
    /// Number of query streams of the throughput test.
    pub(super) streams: u32,
}

impl Course {
    /// Returns a test with `streams` query streams. For 0, it has the fewest that the standard
    /// demands at the scale factor.
    pub(super) fn new(test: Test, streams: u32, scale: f64) -> Course {
        Course { test, streams: if streams == 0 { streams_min(scale) } else { streams } }
    }

    /// Whether the test executes refresh functions, and so changes the data.
    pub(super) fn has_refresh(self) -> bool {
        self.test != Test::Queries
    }

    pub(super) fn has_throughput(self) -> bool {
        matches!(self.test, Test::Throughput | Test::Both)
    }

    pub(super) fn has_power(self) -> bool {
        matches!(self.test, Test::Power | Test::Both)
    }

    /// Returns the number of refresh sets that the test uses.
    pub(super) fn n_sets(self) -> i64 {
        let of_throughput = if self.has_throughput() { self.streams } else { 0 };
        i64::from(self.has_power()) + i64::from(of_throughput)
    }

    /// Returns the number of clients before the first query stream of the throughput test.
    pub(super) fn first_stream(self) -> u32 {
        u32::from(self.test != Test::Throughput)
    }

    pub(super) fn n_clients(self) -> u32 {
        let of_throughput = if self.has_throughput() { self.streams + 1 } else { 0 };
        self.first_stream() + of_throughput
    }

    /// Returns the role of the client with number `nth` in its group, from 0. Beyond the last
    /// client the roles begin again.
    pub(super) fn role(self, nth: u32) -> Role {
        match (nth % self.n_clients()).checked_sub(self.first_stream()) {
            None if self.test == Test::Queries => Role::Stream(0),
            None => Role::Power,
            Some(at) if at < self.streams => Role::Stream(at + 1),
            Some(_) => Role::Refresh,
        }
    }

    /// Returns the number of transactions of a client by its role.
    pub(super) fn length(self, role: Role) -> u64 {
        match role {
            Role::Stream(_) => QUERIES as u64,
            Role::Power => QUERIES as u64 + 2,
            Role::Refresh => 2 * u64::from(self.streams),
        }
    }

    /// Returns the type of transaction `nth` of a client, counted from 0. After the last one the
    /// sequence begins again.
    pub(super) fn kind(self, role: Role, nth: u64) -> KindIndex {
        let at = (nth % self.length(role)) as usize;
        let query = |stream: u32, at: usize| ORDERS[stream as usize][at] - 1;
        match role {
            Role::Stream(stream) => query(stream, at),
            Role::Refresh => [RF1, RF2][at % 2],
            Role::Power => match at {
                0 => RF1,
                at if at <= QUERIES => query(0, at - 1),
                _ => RF2,
            },
        }
    }

    /// Returns the type of a transaction by its number in the run, if the group's clients are the
    /// first ones of the run.
    pub(super) fn kind_of(self, number: Number) -> KindIndex {
        let client = match number {
            Number::OfClient { client, .. } => client,
            Number::Arrival { .. } => 0,
        };
        self.kind(self.role(client), number.nth())
    }
}

/// Returns the fewest query streams of a throughput test (clause 5.3.4). Between the scale factors
/// of the standard, that of the next smaller one applies.
fn streams_min(scale: f64) -> u32 {
    let table = [(1_000.0, 7), (300.0, 6), (100.0, 5), (30.0, 4), (10.0, 3)];
    table.iter().find(|(of, _)| scale >= *of).map_or(2, |(_, streams)| *streams)
}

/// Orders of the queries, by the number of the stream (Appendix A).
const ORDERS: [[KindIndex; QUERIES]; STREAMS_MAX as usize + 1] = [
    [14, 2, 9, 20, 6, 17, 18, 8, 21, 13, 3, 22, 16, 4, 11, 15, 1, 10, 19, 5, 7, 12],
    [21, 3, 18, 5, 11, 7, 6, 20, 17, 12, 16, 15, 13, 10, 2, 8, 14, 19, 9, 22, 1, 4],
    [6, 17, 14, 16, 19, 10, 9, 2, 15, 8, 5, 22, 12, 7, 13, 18, 1, 4, 20, 3, 11, 21],
    [8, 5, 4, 6, 17, 7, 1, 18, 22, 14, 9, 10, 15, 11, 20, 2, 21, 19, 13, 16, 12, 3],
    [5, 21, 14, 19, 15, 17, 12, 6, 4, 9, 8, 16, 11, 2, 10, 18, 1, 13, 7, 22, 3, 20],
    [21, 15, 4, 6, 7, 16, 19, 18, 14, 22, 11, 13, 3, 1, 2, 5, 8, 20, 12, 17, 10, 9],
    [10, 3, 15, 13, 6, 8, 9, 7, 4, 11, 22, 18, 12, 1, 5, 16, 2, 14, 19, 20, 17, 21],
    [18, 8, 20, 21, 2, 4, 22, 17, 1, 11, 9, 19, 3, 13, 5, 7, 10, 16, 6, 14, 15, 12],
    [19, 1, 15, 17, 5, 8, 9, 12, 14, 7, 4, 3, 20, 16, 6, 22, 10, 13, 2, 21, 18, 11],
    [8, 13, 2, 20, 17, 3, 6, 21, 18, 11, 19, 10, 15, 4, 22, 1, 7, 12, 9, 14, 5, 16],
    [6, 15, 18, 17, 12, 1, 7, 2, 22, 13, 21, 10, 14, 9, 3, 16, 20, 19, 11, 4, 8, 5],
    [15, 14, 18, 17, 10, 20, 16, 11, 1, 8, 4, 22, 5, 12, 3, 9, 21, 2, 13, 6, 19, 7],
    [1, 7, 16, 17, 18, 22, 12, 6, 8, 9, 11, 4, 2, 5, 20, 21, 13, 10, 19, 3, 14, 15],
    [21, 17, 7, 3, 1, 10, 12, 22, 9, 16, 6, 11, 2, 4, 5, 14, 8, 20, 13, 18, 15, 19],
    [2, 9, 5, 4, 18, 1, 20, 15, 16, 17, 7, 21, 13, 14, 19, 8, 22, 11, 10, 3, 12, 6],
    [16, 9, 17, 8, 14, 11, 10, 12, 6, 21, 7, 3, 15, 5, 22, 20, 1, 13, 19, 2, 4, 18],
    [1, 3, 6, 5, 2, 16, 14, 22, 17, 20, 4, 9, 10, 11, 15, 8, 12, 19, 18, 13, 7, 21],
    [3, 16, 5, 11, 21, 9, 2, 15, 10, 18, 17, 7, 8, 19, 14, 13, 1, 4, 22, 20, 6, 12],
    [14, 4, 13, 5, 21, 11, 8, 6, 3, 17, 2, 20, 1, 19, 10, 9, 12, 18, 15, 7, 22, 16],
    [4, 12, 22, 14, 5, 15, 16, 2, 8, 10, 17, 9, 21, 7, 3, 6, 13, 18, 11, 20, 19, 1],
    [16, 15, 14, 13, 4, 22, 18, 19, 7, 1, 12, 17, 5, 10, 20, 3, 9, 21, 11, 2, 6, 8],
    [20, 14, 21, 12, 15, 17, 4, 19, 13, 10, 11, 1, 16, 5, 18, 7, 8, 22, 9, 6, 3, 2],
    [16, 14, 13, 2, 21, 10, 11, 4, 1, 22, 18, 12, 19, 5, 7, 8, 6, 3, 15, 20, 9, 17],
    [18, 15, 9, 14, 12, 2, 8, 11, 22, 21, 16, 1, 6, 17, 5, 10, 19, 4, 20, 13, 3, 7],
    [7, 3, 10, 14, 13, 21, 18, 6, 20, 4, 9, 8, 22, 15, 2, 1, 5, 12, 19, 17, 11, 16],
    [18, 1, 13, 7, 16, 10, 14, 2, 19, 5, 21, 11, 22, 15, 8, 17, 20, 3, 4, 12, 6, 9],
    [13, 2, 22, 5, 11, 21, 20, 14, 7, 10, 4, 9, 19, 18, 6, 3, 1, 8, 15, 12, 17, 16],
    [14, 17, 21, 8, 2, 9, 6, 4, 5, 13, 22, 7, 15, 3, 1, 18, 16, 11, 10, 12, 20, 19],
    [10, 22, 1, 12, 13, 18, 21, 20, 2, 14, 16, 7, 15, 3, 4, 17, 5, 19, 6, 8, 9, 11],
    [10, 8, 9, 18, 12, 6, 1, 5, 20, 11, 17, 22, 16, 3, 13, 2, 15, 21, 14, 19, 7, 4],
    [7, 17, 22, 5, 3, 10, 13, 18, 9, 1, 14, 15, 21, 19, 16, 12, 8, 6, 11, 20, 4, 2],
    [2, 9, 21, 3, 4, 7, 1, 11, 16, 5, 20, 19, 18, 8, 17, 13, 10, 12, 15, 6, 14, 22],
    [15, 12, 8, 4, 22, 13, 16, 17, 18, 3, 7, 5, 6, 1, 9, 11, 21, 10, 14, 20, 19, 2],
    [15, 16, 2, 11, 17, 7, 5, 14, 20, 4, 21, 3, 10, 9, 12, 8, 13, 6, 18, 19, 22, 1],
    [1, 13, 11, 3, 4, 21, 6, 14, 15, 22, 18, 9, 7, 5, 10, 20, 12, 16, 17, 8, 19, 2],
    [14, 17, 22, 20, 8, 16, 5, 10, 1, 13, 2, 21, 12, 9, 4, 18, 3, 7, 6, 19, 15, 11],
    [9, 17, 7, 4, 5, 13, 21, 18, 11, 3, 22, 1, 6, 16, 20, 14, 15, 10, 8, 2, 12, 19],
    [13, 14, 5, 22, 19, 11, 9, 6, 18, 15, 8, 10, 7, 4, 17, 16, 3, 1, 12, 2, 21, 20],
    [20, 5, 4, 14, 11, 1, 6, 16, 8, 22, 7, 3, 2, 12, 21, 19, 17, 13, 10, 15, 18, 9],
    [3, 7, 14, 15, 6, 5, 21, 20, 18, 10, 4, 16, 19, 1, 13, 9, 8, 17, 11, 12, 22, 2],
    [13, 15, 17, 1, 22, 11, 3, 4, 7, 20, 14, 21, 9, 8, 2, 18, 16, 6, 10, 12, 5, 19],
];

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(course: Course, nth: u32) -> Vec<KindIndex> {
        let role = course.role(nth);
        (0..course.length(role)).map(|at| course.kind(role, at)).collect()
    }

    #[test]
    fn each_stream_has_each_query_once_and_no_two_have_the_same_order() {
        for (at, order) in ORDERS.iter().enumerate() {
            let mut all = *order;
            all.sort_unstable();
            assert!(all.into_iter().eq(1..=22), "stream {at}");
            assert!(!ORDERS[..at].contains(order), "stream {at}");
        }
    }

    #[test]
    fn clients_of_each_test_have_the_sequences_of_the_standard() {
        let of = |test| Course { test, streams: 2 };
        assert_eq!(kinds(of(Test::Queries), 0)[..2], [13, 1]);
        let power = kinds(of(Test::Power), 0);
        assert_eq!((power.len(), power[0], power[1], power[23]), (24, RF1, 13, RF2));
        let throughput = of(Test::Throughput);
        assert_eq!(throughput.n_clients(), 3);
        assert_eq!(kinds(throughput, 0)[..2], [20, 2]);
        assert_eq!(kinds(throughput, 1)[..2], [5, 16]);
        assert_eq!(kinds(throughput, 2), [RF1, RF2, RF1, RF2]);
        let both = of(Test::Both);
        assert_eq!(both.n_clients(), 4);
        assert_eq!(kinds(both, 0), power);
        assert_eq!(kinds(both, 1), kinds(throughput, 0));
        assert_eq!(kinds(both, 3), kinds(throughput, 2));
        let number = Number::OfClient { client: 3, nth: 1 };
        assert_eq!(both.kind_of(number), RF2);
        assert_eq!(
            [Test::Queries, Test::Power, throughput.test, both.test].map(|test| of(test).n_sets()),
            [0, 1, 2, 3]
        );
    }

    #[test]
    fn the_fewest_streams_are_those_of_the_standard() {
        let of = |scale| Course::new(Test::Throughput, 0, scale).streams;
        let scales = [0.01, 1.0, 9.0, 10.0, 30.0, 100.0, 300.0, 1_000.0];
        assert_eq!(scales.map(of), [2, 2, 2, 3, 4, 5, 6, 7]);
        assert_eq!(Course::new(Test::Throughput, 9, 1.0).streams, 9);
    }
}
