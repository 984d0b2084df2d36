//! Client of `record` (writer), which draws the records of a transaction before it begins, and
//! inserts them.
//!
//! Not here: timing (engine), and the tables (population).

use std::sync::Arc;

use model::{
    Client, Clock, Conversation, DbError, Dialect, Done, KindIndex, Number, Request, Session,
    Statement, StatementId, StatementKind, TxContext, Value, execute, query_number,
};

use super::Record;
use super::population::{draw_column1, draw_payload, stamp};
use crate::tx_control::{control, end};

/// Number of bits of the record numbers in each writer's own range: enough for twelve days at a
/// million records per second.
pub(super) const ID_BITS: u32 = 40;

/// Returns the writers' statements, table by table: an INSERT with the full number of rows, one for
/// the remaining rows of a transaction if there are any, and a query for the last record number if
/// writers assign numbers.
pub(super) fn statements(record: &Record, dialect: &Dialect) -> Vec<Statement> {
    let mut statements = Vec::new();
    for number in 1..=record.data.tables {
        let table = format!("record{number}");
        for n_rows in [record.commit.statement, record.commit.rest()] {
            if n_rows > 0 {
                let sql = dialect.sql(&insert(record, &table, n_rows));
                statements.push(Statement::new("insert", StatementKind::Write, sql));
            }
        }
        if !record.data.index.has_key() {
            let sql = format!("SELECT MAX(recordID) FROM {table} WHERE recordID BETWEEN ? AND ?");
            let sql = dialect.sql(&sql);
            statements.push(Statement::new("last of a writer", StatementKind::Read, sql));
        }
    }
    statements
}

fn insert(record: &Record, table: &str, n_rows: usize) -> String {
    let (columns, marks) = match record.data.index.has_key() {
        true => ("stamped, column1, payload", "(?, ?, ?)"),
        false => ("recordID, stamped, column1, payload", "(?, ?, ?, ?)"),
    };
    let rows = vec![marks; n_rows].join(", ");
    format!("INSERT INTO {table} ({columns}) VALUES {rows}")
}

/// Ids of a writer's statements for one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Statements {
    full: StatementId,
    rest: StatementId,
    last: StatementId,
}

impl Statements {
    fn for_table(record: &Record, table: usize) -> Statements {
        let n_inserts = 1 + usize::from(record.commit.rest() > 0);
        let each = n_inserts + usize::from(!record.data.index.has_key());
        let id = |place: usize| StatementId((table * each + place) as u32);
        Statements { full: id(0), rest: id(n_inserts - 1), last: id(n_inserts) }
    }
}

/// Range of record numbers that only one writer assigns, in tables where the database assigns none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbers {
    first: i64,
    /// Last number that the writer assigned; `None` if it must first query the database for it.
    given: Option<i64>,
}

pub(super) struct Writer {
    record: Arc<Record>,
    statements: Statements,
    /// Record numbers that the writer assigns; `None` if the database assigns them.
    numbers: Option<Numbers>,
    /// Values of `column1` for the records of the next transaction.
    column1: Vec<i64>,
    payloads: String,
}

impl Writer {
    pub(super) fn new(record: Arc<Record>, client: u32) -> Writer {
        let table = client as usize % record.data.tables;
        let statements = Statements::for_table(&record, table);
        // Numbers below this are those of built records.
        let first = (i64::from(client) + 1) << ID_BITS;
        let own = !record.data.index.has_key();
        let numbers = own.then_some(Numbers { first, given: None });
        let (column1, payloads) = Default::default();
        Writer { record, statements, numbers, column1, payloads }
    }

    /// Returns the number of the first record in the transaction; `None` if the database assigns
    /// numbers.
    async fn first_number(&mut self, session: &mut dyn Session) -> Result<Option<i64>, DbError> {
        let Some(numbers) = &mut self.numbers else { return Ok(None) };
        // Left as `None` if the outcome is unknown, so that the database is asked again.
        let given = match numbers.given.take() {
            Some(given) => Some(given),
            None => last_number(session, self.statements.last, numbers.first).await?,
        };
        Ok(Some(given.map_or(numbers.first, |given| given + 1)))
    }

    async fn insert_all(
        &self,
        session: &mut dyn Session,
        clock: &dyn Clock,
        first: Option<i64>,
    ) -> Result<(), DbError> {
        let (commit, payload) = (self.record.commit, self.record.data.payload());
        let mut values: Vec<Value<'_>> = Vec::with_capacity(4 * commit.statement);
        let mut next = 0;
        while next < commit.records {
            let n_rows = commit.statement.min(commit.records - next);
            let stamped = stamp(clock.now());
            values.clear();
            for place in next..next + n_rows {
                let text = &self.payloads[place * payload..(place + 1) * payload];
                values.extend(first.map(|first| Value::Int(first + place as i64)));
                values.extend([stamped, Value::Int(self.column1[place]), Value::Text(text)]);
            }
            let is_full = n_rows == commit.statement;
            let statement = if is_full { self.statements.full } else { self.statements.rest };
            execute(session, statement, &values).await?;
            next += n_rows;
        }
        Ok(())
    }

    async fn record(&mut self, context: &mut TxContext<'_>) -> Result<Done, DbError> {
        let clock = context.clock;
        let session = context.session();
        let first = self.first_number(session).await?;
        // A single statement is its own transaction.
        let done = match self.record.commit.n_statements() {
            1 => self.insert_all(session, clock, first).await.map(|()| Done::Committed)?,
            _ => {
                control(session, Request::Begin).await?;
                let said = self.insert_all(session, clock, first).await;
                end(session, said.map(|()| Done::Committed)).await?
            }
        };
        if let (Some(numbers), Some(first)) = (&mut self.numbers, first) {
            numbers.given = Some(first + self.record.commit.records as i64 - 1);
        }
        Ok(done)
    }
}

/// Queries the last record number that a writer has assigned, in this run or before; `None` if
/// there is none.
async fn last_number(
    session: &mut dyn Session,
    statement: StatementId,
    first: i64,
) -> Result<Option<i64>, DbError> {
    let values = &[Value::Int(first), Value::Int(first + (1 << ID_BITS) - 1)];
    query_number(session, statement, values).await
}

impl Client for Writer {
    fn inputs(&mut self, number: Number) -> KindIndex {
        let mut rng = number.rng(self.record.seed);
        self.column1.clear();
        self.payloads.clear();
        for _ in 0..self.record.commit.records {
            self.column1.push(draw_column1(&mut rng));
            draw_payload(&mut rng, &mut self.payloads, self.record.data.payload());
        }
        0
    }

    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a> {
        Box::pin(self.record(context))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::made;
    use crate::for_tests::DIALECT;

    #[test]
    fn statements_have_the_rows_asked_for_and_the_rest() {
        let check = |written: &[(&str, &str)], expect: &[&str]| {
            let declared = made(written).expect("valid").statements(&DIALECT);
            let sql: Vec<String> = declared.into_iter().map(|one| one.sql).collect();
            assert_eq!(sql, expect);
        };
        let one = "INSERT INTO record1 (stamped, column1, payload) VALUES ($1, $2, $3)";
        check(&[], &[one]);
        let five = [("records_per_commit", "5"), ("rows_per_statement", "2")];
        let two = format!("{one}, ($4, $5, $6)");
        check(&five, &[&two, one]);
        let own = "INSERT INTO record2 (recordID, stamped, column1, payload) \
                   VALUES ($1, $2, $3, $4)";
        let last = "SELECT MAX(recordID) FROM record2 WHERE recordID BETWEEN $1 AND $2";
        let first = |sql: &str| sql.replace("record2", "record1");
        check(&[("index", "none"), ("tables", "2")], &[&first(own), &first(last), own, last]);
    }
}
