//! Client of `events` (writer), which prepares its records before they are due, adds time stamps,
//! and inserts them into a table of its own. Not here: timing (engine), and the tables (tables).

use std::sync::Arc;

use model::{
    Client, Conversation, DbError, Dialect, Done, KindIndex, Number, Statement, StatementId,
    StatementKind, TxContext, Value, execute, query_number,
};

use super::Shared;
use super::tables::records;
use crate::record::{draw_column1, draw_payload};

/// Index of the custom metric that counts records, in the list of those of writers.
pub(super) const RECORDS: u16 = 0;
pub(super) const BYTES: u16 = 1;

/// Number of a writer's statements per table.
const PER_TABLE: usize = 2;

/// Returns the writers' statements, table by table: the INSERT, and a query for the last record.
pub(super) fn statements(shared: &Shared, dialect: &Dialect) -> Vec<Statement> {
    let marks = vec!["(?, ?, ?, ?)"; shared.records_per_insert].join(", ");
    let table_statements = |place: usize| {
        let table = records(place);
        let insert =
            format!("INSERT INTO {table} (sequence, stamped_ns, column1, payload) VALUES {marks}");
        let last =
            format!("SELECT{{top 1}} sequence FROM {table} ORDER BY recordID DESC{{limit 1}}");
        [
            Statement::new("insert", StatementKind::Write, dialect.sql(&insert)),
            Statement::new("last record", StatementKind::Read, dialect.sql(&last)),
        ]
    };
    (0..shared.data.tables).flat_map(table_statements).collect()
}

/// A simulated sensor that writes records into its own table.
pub(super) struct Writer {
    shared: Arc<Shared>,
    /// Index of the table that belongs to this writer.
    table: usize,
    /// Last sequence number that the writer assigned; `None` if it must first query the database
    /// for it.
    given: Option<i64>,
    /// Values of `column1` for the records of the next transaction.
    column1: Vec<i64>,
    payloads: String,
}

impl Writer {
    pub(super) fn new(shared: Arc<Shared>, client: u32) -> Writer {
        let table = client as usize % shared.data.tables;
        Writer { shared, table, given: None, column1: Vec::new(), payloads: String::new() }
    }

    async fn insert(&mut self, context: &mut TxContext<'_>) -> Result<Done, DbError> {
        let TxContext { sessions, clock, intended_ns, measured, .. } = context;
        let session = sessions.own();
        let [insert, last] = [0, 1].map(|at| StatementId((PER_TABLE * self.table + at) as u32));
        // Left as `None` if the outcome is unknown, so that the database is asked again.
        let given = match self.given.take() {
            Some(given) => given,
            None => query_number(session, last, &[]).await?.unwrap_or(0),
        };
        let n_records = self.shared.records_per_insert;
        let payload = self.shared.data.payload();
        let stamped = Value::Int((clock.origin_unix_ns() + *intended_ns) as i64);
        let mut values = Vec::with_capacity(4 * n_records);
        for place in 0..n_records {
            let text = &self.payloads[place * payload..(place + 1) * payload];
            let sequence = Value::Int(given + 1 + place as i64);
            values.extend([sequence, stamped, Value::Int(self.column1[place]), Value::Text(text)]);
        }
        execute(session, insert, &values).await?;
        let sequence = given + n_records as i64;
        self.given = Some(sequence);
        let n_records = n_records as u64;
        self.shared.account.wrote(self.table, n_records, sequence);
        measured.push((RECORDS, n_records));
        measured.push((BYTES, n_records * self.shared.data.record_size));
        Ok(Done::Committed)
    }
}

impl Client for Writer {
    fn inputs(&mut self, number: Number) -> KindIndex {
        let mut rng = number.rng(self.shared.seed);
        self.column1.clear();
        self.payloads.clear();
        for _ in 0..self.shared.records_per_insert {
            self.column1.push(draw_column1(&mut rng));
            draw_payload(&mut rng, &mut self.payloads, self.shared.data.payload());
        }
        0
    }

    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a> {
        Box::pin(self.insert(context))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::made;
    use crate::for_tests::DIALECT;

    #[test]
    fn each_table_has_its_insert_and_its_last_record() {
        let declared = made(&[("tables", "2"), ("records_per_insert", "2")]).expect("valid");
        let sql: Vec<String> =
            declared.statements(&DIALECT).into_iter().map(|one| one.sql).collect();
        assert_eq!(
            sql[2..],
            [
                "INSERT INTO event2 (sequence, stamped_ns, column1, payload) \
                 VALUES ($1, $2, $3, $4), ($5, $6, $7, $8)",
                "SELECT sequence FROM event2 ORDER BY recordID DESC LIMIT 1",
            ]
        );
        assert_eq!(sql.len(), 4);
    }
}
