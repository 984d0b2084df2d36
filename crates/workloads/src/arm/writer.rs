//! A writer: it takes full buffers and writes each in one transaction. Not here: what it writes
//! (tables), and how the next buffer is waited for (engine).

use std::sync::{Arc, Mutex, PoisonError};

use model::{
    Client, Conversation, Done, Input, KindIndex, Number, Refusal, RefusalKind, Request, RowSource,
    Session, StatementId, StatementKind, Table, TxContext, Value, execute, load, put_decimal,
    query, query_number,
};

use super::application::Shape;
use super::measurement::Buffer;
use super::parameters::Write;
use super::pools::Pools;
use super::tables::{BUFFER, CONTEXT, Layout, Rows, checksum};
use crate::empty_tables::EmptyTables;
use crate::tx_control::{control, end};

/// Places of the statements beside those that insert a row into a table.
pub(super) const LAST_ID: StatementId = StatementId(CONTEXT as u16 + 1);
pub(super) const IS_STORED: StatementId = StatementId(CONTEXT as u16 + 2);

/// Places of the custom metrics.
pub(super) const MEASUREMENTS: u16 = 0;
pub(super) const ROWS: u16 = 1;
pub(super) const BYTES: u16 = 2;
pub(super) const AGE: u16 = 3;

/// A statement of many rows is at most about so long: servers refuse longer ones.
const STATEMENT_BYTES: usize = 512 << 10;

/// What all writers share.
pub(super) struct Shared {
    pub(super) pools: Arc<Pools>,
    pub(super) layout: Layout,
    pub(super) tables: EmptyTables,
    pub(super) shape: Arc<Shape>,
    pub(super) write: Write,
    pub(super) rows_per_insert: usize,
    /// The last id of earlier runs, once the database was asked.
    pub(super) base: Mutex<Option<i64>>,
}

/// One writer.
pub(super) struct Writer {
    shared: Arc<Shared>,
    buffer: Option<Buffer>,
    /// The connection was lost while the buffer was written: it may be stored.
    is_uncertain: bool,
    sql: Vec<u8>,
}

impl Writer {
    pub(super) fn new(shared: Arc<Shared>) -> Writer {
        Writer { shared, buffer: None, is_uncertain: false, sql: Vec::new() }
    }

    /// The last id of earlier runs: this run's ids go on from there.
    async fn base(&self, session: &mut dyn Session) -> Result<i64, Refusal> {
        let known = || *self.shared.base.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(base) = known() {
            return Ok(base);
        }
        let last = query_number(session, LAST_ID, &[]).await?.unwrap_or(0);
        // Whoever asked first is right: nobody has written before.
        let mut base = self.shared.base.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(*base.get_or_insert(last))
    }

    /// Writes the buffer; how many rows that were.
    async fn write(
        &mut self,
        session: &mut dyn Session,
        buffer: &Buffer,
        base: i64,
    ) -> Result<u64, Refusal> {
        let shared = Arc::clone(&self.shared);
        let mut n_rows = 0;
        for &table in shared.layout.written() {
            let mut rows = Rows::new(shared.layout, table, base, buffer);
            n_rows += match shared.write {
                Write::Insert => self.insert(session, &shared.tables.all[table], &mut rows).await?,
                Write::Row => insert_each(session, table, &mut rows).await?,
                Write::Bulk => match shared.layout.n_rows(table, buffer) {
                    0 => 0,
                    n => {
                        load(session, &shared.tables.all[table], &mut rows).await?;
                        n
                    }
                },
            };
        }
        self.note(session, buffer, base).await?;
        Ok(n_rows)
    }

    /// Writes rows by as few statements as may be.
    async fn insert(
        &mut self,
        session: &mut dyn Session,
        table: &Table,
        rows: &mut Rows<'_>,
    ) -> Result<u64, Refusal> {
        let mut n_rows = 0;
        loop {
            self.sql.clear();
            self.sql.extend_from_slice(b"INSERT INTO ");
            self.sql.extend_from_slice(table.name.as_bytes());
            self.sql.extend_from_slice(b" VALUES ");
            let mut n_here = 0;
            while n_here < self.shared.rows_per_insert && self.sql.len() < STATEMENT_BYTES {
                let sql = &mut self.sql;
                if !rows.next(&mut |row| put_row(sql, n_here > 0, row)) {
                    break;
                }
                n_here += 1;
            }
            if n_here == 0 {
                return Ok(n_rows);
            }
            n_rows += n_here as u64;
            let sql = std::str::from_utf8(&self.sql).expect("it is ASCII");
            let request = Request::Text { kind: StatementKind::Write, sql };
            query(session, request, &mut |_| Ok(())).await?;
        }
    }

    /// Notes what was written, per class, in the same transaction.
    async fn note(
        &self,
        session: &mut dyn Session,
        buffer: &Buffer,
        base: i64,
    ) -> Result<(), Refusal> {
        let shared = self.shared.as_ref();
        let mut sums = vec![[0i64; 4]; shared.shape.classes.len()];
        let (mut first, mut last) = (i64::MAX, 0);
        for of in buffer.read(usize::from(shared.layout.context_bytes)) {
            let id = of.head.number as i64 + base;
            (first, last) = (first.min(id), last.max(id));
            let [n, metrics, contexts, sum] = &mut sums[usize::from(of.head.class)];
            *n += 1;
            *metrics += i64::from(of.head.n_metrics);
            *contexts += i64::from(of.head.n_contexts);
            *sum += checksum(id, (of.head.stop_ns - of.head.start_ns) as i64);
        }
        for (class, [n, metrics, contexts, sum]) in sums.into_iter().enumerate() {
            if n > 0 {
                let name = Value::Text(&shared.shape.classes[class].name);
                let [id, class, n, metrics, contexts, last, sum] =
                    [first, class as i64, n, metrics, contexts, last, sum].map(Value::Int);
                let values = [id, class, name, n, metrics, contexts, last, sum];
                execute(session, StatementId(BUFFER as u16), &values).await?;
            }
        }
        Ok(())
    }

    /// Whether the buffer was stored although the connection was lost.
    async fn is_stored(
        &self,
        session: &mut dyn Session,
        buffer: &Buffer,
        base: i64,
    ) -> Result<bool, Refusal> {
        let numbers = buffer.read(usize::from(self.shared.layout.context_bytes));
        let first = numbers.map(|of| of.head.number).min().unwrap_or(0) as i64 + base;
        let n = query_number(session, IS_STORED, &[Value::Int(first)]).await?;
        Ok(n.is_some_and(|n| n > 0))
    }

    async fn store(
        &mut self,
        context: &mut TxContext<'_>,
        buffer: &Buffer,
    ) -> Result<u64, Refusal> {
        let base = self.base(context.session()).await?;
        if self.is_uncertain && self.is_stored(context.session(), buffer, base).await? {
            return Ok(0);
        }
        control(context.session(), Request::Begin).await?;
        let written = self.write(context.session(), buffer, base).await;
        let ended = written.as_ref().map(|_| Done::Committed).map_err(Clone::clone);
        end(context.session(), ended).await?;
        written
    }
}

impl Client for Writer {
    fn inputs(&mut self, _number: Number) -> KindIndex {
        0
    }

    fn take_input(&mut self) -> Input {
        if self.buffer.is_some() {
            return Input::Ready;
        }
        match self.shared.pools.take_buffer() {
            Ok(buffer) => {
                self.buffer = Some(buffer);
                self.is_uncertain = false;
                Input::Ready
            }
            Err(true) => Input::Over,
            Err(false) => Input::Later,
        }
    }

    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a> {
        Box::pin(async move {
            let Some(buffer) = self.buffer.take() else { return Ok(Done::Committed) };
            let stored = self.store(context, &buffer).await;
            let n_rows = match stored {
                Ok(n_rows) => n_rows,
                Err(refusal) => {
                    // It is written again, unless it turns out that it was stored.
                    self.is_uncertain |=
                        refusal.kind == RefusalKind::UnknownCommit || refusal.kind.breaks_session();
                    self.buffer = Some(buffer);
                    return Err(refusal);
                }
            };
            let now_ns = context.clock.now();
            let measured = &mut *context.measured;
            measured.push((MEASUREMENTS, buffer.n));
            measured.push((ROWS, n_rows));
            measured.push((BYTES, buffer.bytes.len() as u64));
            let context_bytes = usize::from(self.shared.layout.context_bytes);
            let ages = buffer.read(context_bytes).map(|of| now_ns.saturating_sub(of.head.stop_ns));
            measured.extend(ages.map(|age_ns| (AGE, age_ns)));
            self.shared.pools.stored(buffer, now_ns);
            Ok(Done::Committed)
        })
    }
}

/// Writes `(1,2,'text')`, with a comma in front of it where it is not the first. Texts are letters
/// and digits.
fn put_row(sql: &mut Vec<u8>, has_comma: bool, row: &[Value<'_>]) {
    if has_comma {
        sql.push(b',');
    }
    for (index, value) in row.iter().enumerate() {
        sql.push(if index == 0 { b'(' } else { b',' });
        match value {
            Value::Int(value) => put_decimal(sql, *value, 0),
            Value::Text(text) => {
                sql.push(b'\'');
                sql.extend_from_slice(text.as_bytes());
                sql.push(b'\'');
            }
            _ => sql.extend_from_slice(b"NULL"),
        }
    }
    sql.push(b')');
}

/// A value of a row that is on its way.
enum Owned {
    Null,
    Int(i64),
    Text(String),
}

/// Writes rows one by one.
async fn insert_each(
    session: &mut dyn Session,
    table: usize,
    rows: &mut Rows<'_>,
) -> Result<u64, Refusal> {
    let mut n_rows = 0;
    let mut row: Vec<Owned> = Vec::new();
    let owned = |value: &Value<'_>| match value {
        Value::Int(value) => Owned::Int(*value),
        Value::Text(text) => Owned::Text((*text).to_owned()),
        _ => Owned::Null,
    };
    while rows.next(&mut |values| row = values.iter().map(owned).collect()) {
        let values: Vec<Value<'_>> = row
            .iter()
            .map(|value| match value {
                Owned::Null => Value::Null,
                Owned::Int(value) => Value::Int(*value),
                Owned::Text(text) => Value::Text(text),
            })
            .collect();
        execute(session, StatementId(table as u16), &values).await?;
        n_rows += 1;
    }
    Ok(n_rows)
}
