//! What the five transactions lean on: asking, reading one row, and the buffers that are used
//! again so that no transaction allocates.
//!
//! Not here: what is asked, and how a transaction begins and ends (the client in `mod.rs`).

use model::{
    Call, DbError, DbErrorKind, Reply, Request, Row, Session, StatementId, Value, Visit, execute,
    query, shown_value,
};

/// Text and customers that a transaction keeps between two statements.
#[derive(Default)]
pub(super) struct Words {
    /// District information of a line, or what is written into a history row.
    pub(super) short: String,
    /// What stands in a customer's data, then what shall stand there.
    pub(super) data: String,
    /// What stood in a customer's data, where both are needed.
    pub(super) was: String,
    /// Customers of one last name by first name, with their balance in cents.
    pub(super) namesakes: Vec<(i64, i64)>,
}

/// One side of a conversation within a transaction.
pub(super) struct Tx<'a> {
    /// With whom.
    pub(super) session: &'a mut dyn Session,
    /// The date of the transaction, in microseconds since 1970.
    pub(super) date_us: i64,
    /// Buffers.
    pub(super) words: &'a mut Words,
    /// What it measures.
    pub(super) measured: &'a mut Vec<(u16, u64)>,
}

impl Tx<'_> {
    /// Asks, and drops what rows come.
    pub(super) async fn ask(
        &mut self,
        statement: StatementId,
        values: &[Value<'_>],
    ) -> Result<Reply, DbError> {
        execute(self.session, statement, values).await
    }

    /// Asks, and visits the rows.
    pub(super) async fn visit(
        &mut self,
        statement: StatementId,
        values: &[Value<'_>],
        visit: Visit<'_>,
    ) -> Result<Reply, DbError> {
        query(self.session, Request::Execute(Call { statement, values }), visit).await
    }

    /// Asks for exactly one row; `what` names it where it is missing.
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

    /// The date as a value.
    pub(super) fn date(&self) -> Value<'static> {
        Value::Timestamp(self.date_us)
    }
}

/// The database error of data that are not what the workload built.
pub(super) fn wrong_count(what: &str, values: &[Value<'_>], n_rows: u64) -> DbError {
    let key: Vec<String> = values.iter().map(shown_value).collect();
    let key = key.join(", ");
    let message =
        format!("the data have {n_rows} rows for the {what} with key {key}, expected one");
    DbError::new(DbErrorKind::Shape, message)
}

/// The place, from 0, of the customer who is meant among `n` of the same last name: n/2 rounded
/// up, counted from 1 (clauses 2.5.2.2 and 2.6.2.2). None if nobody bears the name.
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
