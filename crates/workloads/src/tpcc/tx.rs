//! Helpers of the five TPC-C transactions: executing statements, reading one row, and buffers that
//! are reused so that no transaction allocates memory.
//!
//! Not here: the statements, BEGIN and COMMIT (the client in `mod.rs`).

use model::{
    Call, DbError, DbErrorKind, Reply, Request, Row, Session, StatementId, Value, Visit, execute,
    query, shown_value,
};

/// Reusable buffers in which a transaction keeps text and customers between two statements.
#[derive(Default)]
pub(super) struct Words {
    /// S_DIST_xx of an order line, or H_DATA of a payment.
    pub(super) short: String,
    /// Text of C_DATA: the customer's old text, then the new one.
    pub(super) data: String,
    /// Copy of the old C_DATA, while `data` contains the new one.
    pub(super) was: String,
    /// Customers with the same last name, sorted by first name: each with the customer's number
    /// and, if it was read, the balance in cents.
    pub(super) namesakes: Vec<(i64, i64)>,
}

/// A running transaction, with its database session and the buffers and custom metrics of its
/// client.
pub(super) struct Tx<'a> {
    pub(super) session: &'a mut dyn Session,
    /// Date that the transaction writes into rows, in microseconds since 1970.
    pub(super) date_us: i64,
    pub(super) words: &'a mut Words,
    /// Values of custom metrics that the transaction reports, each with the index of its metric.
    pub(super) measured: &'a mut Vec<(u16, u64)>,
}

impl Tx<'_> {
    /// Executes a statement with these values, and ignores the rows of its result.
    pub(super) async fn ask(
        &mut self,
        statement: StatementId,
        values: &[Value<'_>],
    ) -> Result<Reply, DbError> {
        execute(self.session, statement, values).await
    }

    /// Executes a statement with these values, and passes each row of its result to `visit`.
    pub(super) async fn visit(
        &mut self,
        statement: StatementId,
        values: &[Value<'_>],
        visit: Visit<'_>,
    ) -> Result<Reply, DbError> {
        query(self.session, Request::Execute(Call { statement, values }), visit).await
    }

    /// Executes a statement whose result must be one row, and passes the row to `visit`. Otherwise
    /// returns an error, in which `what` names the row.
    pub(super) async fn one(
        &mut self,
        what: &str,
        statement: StatementId,
        values: &[Value<'_>],
        visit: Visit<'_>,
    ) -> Result<(), DbError> {
        let mut n_rows = 0u64;
        let mut counted = |row: &dyn Row| {
            n_rows += 1;
            visit(row)
        };
        self.visit(statement, values, &mut counted).await?;
        match n_rows {
            1 => Ok(()),
            _ => Err(wrong_count(what, values, n_rows)),
        }
    }

    pub(super) fn date(&self) -> Value<'static> {
        Value::Timestamp(self.date_us)
    }
}

/// Returns the error for data that this workload did not build: a query for `what` returned
/// `n_rows` rows instead of one.
pub(super) fn wrong_count(what: &str, values: &[Value<'_>], n_rows: u64) -> DbError {
    let key: Vec<String> = values.iter().map(shown_value).collect();
    let key = key.join(", ");
    let message =
        format!("the data have {n_rows} rows for the {what} with key {key}, expected one");
    DbError::new(DbErrorKind::Shape, message)
}

/// Returns the index, from 0, of the customer to be selected among `n` with the same last name: n/2
/// rounded up, counted from 1 (clauses 2.5.2.2 and 2.6.2.2). `None` if `n` is 0.
pub(super) fn middle(n: usize) -> Option<usize> {
    n.div_ceil(2).checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_namesake_is_half_of_them_rounded_up() {
        let from_one = |n: usize| middle(n).map(|place| place + 1);
        assert_eq!([1, 2, 3, 4, 5, 6].map(from_one), [1, 1, 2, 2, 3, 3].map(Some));
        assert_eq!(from_one(0), None);
    }
}
