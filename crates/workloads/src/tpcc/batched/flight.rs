//! A flight: calls that are sent together. Not here: the calls.

use model::{Call, DbError, Reply, Request, StatementId, Value, Visit, query};

use super::super::tx::Tx;

/// Most calls of a flight: an order's header, fifteen stocks, BEGIN and COMMIT.
const CALLS_MAX: usize = 24;
/// Most values of a flight: an order of fifteen lines has 220.
const VALUES_MAX: usize = 224;

/// A flight under construction; it allocates nothing.
pub(super) struct Flight<'v> {
    values: [Value<'v>; VALUES_MAX],
    n_values: usize,
    /// Statement, and the end of its values.
    calls: [(StatementId, usize); CALLS_MAX],
    n_calls: usize,
}

impl<'v> Flight<'v> {
    /// Creates a flight without calls.
    pub(super) fn empty() -> Flight<'v> {
        Flight {
            values: [Value::Null; VALUES_MAX],
            n_values: 0,
            calls: [(StatementId::COMMIT, 0); CALLS_MAX],
            n_calls: 0,
        }
    }

    /// Creates a flight with one call.
    pub(super) fn new(statement: StatementId, values: &[Value<'v>]) -> Flight<'v> {
        let mut flight = Flight::empty();
        flight.call(statement, values);
        flight
    }

    /// Adds a call with all its values.
    pub(super) fn call(&mut self, statement: StatementId, values: &[Value<'v>]) {
        values.iter().for_each(|value| self.value(*value));
        self.end(statement);
    }

    /// Adds a value of a call; [`Flight::end`] completes it.
    pub(super) fn value(&mut self, value: Value<'v>) {
        self.values[self.n_values] = value;
        self.n_values += 1;
    }

    /// Completes a call whose values were added one by one.
    pub(super) fn end(&mut self, statement: StatementId) {
        self.calls[self.n_calls] = (statement, self.n_values);
        self.n_calls += 1;
    }

    /// Sends the flight. The future visits the rows, and does not borrow the flight.
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
