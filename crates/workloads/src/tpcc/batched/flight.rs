//! A flight: statements that are sent to the database together, as one batch in one round trip. Not
//! here: the statements.

use model::{Call, DbError, Reply, Request, StatementId, Value, Visit, query};

use super::super::tx::Tx;

/// Maximum number of statements in a [`Flight`]. This is enough for BEGIN, an order's header,
/// fifteen stocks and COMMIT.
const CALLS_MAX: usize = 24;
/// Maximum number of parameter values in a [`Flight`]. An order of fifteen lines has 220.
const VALUES_MAX: usize = 224;

/// List of statements, with their values, that are sent together in one round trip.
pub(super) struct Flight<'v> {
    values: [Value<'v>; VALUES_MAX],
    n_values: usize,
    /// Id of each statement, and the index in `values` at which the statement's values end.
    calls: [(StatementId, usize); CALLS_MAX],
    n_calls: usize,
}

impl<'v> Flight<'v> {
    /// Creates a flight without statements.
    pub(super) fn empty() -> Flight<'v> {
        Flight {
            values: [Value::Null; VALUES_MAX],
            n_values: 0,
            calls: [(StatementId::COMMIT, 0); CALLS_MAX],
            n_calls: 0,
        }
    }

    /// Creates a flight of one statement with its values.
    pub(super) fn new(statement: StatementId, values: &[Value<'v>]) -> Flight<'v> {
        let mut flight = Flight::empty();
        flight.call(statement, values);
        flight
    }

    /// Adds a statement with all its values, which is sent in the same round trip as the others.
    pub(super) fn call(&mut self, statement: StatementId, values: &[Value<'v>]) {
        values.iter().for_each(|value| self.value(*value));
        self.end(statement);
    }

    /// Adds a value of the statement that the next [`Flight::end`] adds.
    pub(super) fn value(&mut self, value: Value<'v>) {
        self.values[self.n_values] = value;
        self.n_values += 1;
    }

    /// Adds a statement whose values were added by [`Flight::value`].
    pub(super) fn end(&mut self, statement: StatementId) {
        self.calls[self.n_calls] = (statement, self.n_values);
        self.n_calls += 1;
    }

    /// Sends all statements in one round trip, and passes each row of the replies to `visit`. The
    /// returned future does not borrow this flight.
    pub(super) fn ask<'s>(
        &self,
        tx: &'s mut Tx<'_>,
        visit: Visit<'s>,
    ) -> impl Future<Output = Result<Reply, DbError>> + use<'s> {
        let mut calls = [Call::control(StatementId::COMMIT); CALLS_MAX];
        let mut start = 0;
        for (call, (statement, end)) in calls.iter_mut().zip(&self.calls[..self.n_calls]) {
            *call = Call { statement: *statement, values: &self.values[start..*end] };
            start = *end;
        }
        query(tx.session, Request::Batch(&calls[..self.n_calls]), visit)
    }
}
