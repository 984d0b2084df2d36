//! Client of `arm` (writer), which takes full buffers and writes each in one transaction. Not here:
//! the rows of a buffer (tables), and the wait for the next buffer (engine).

use std::sync::{Arc, Mutex, PoisonError};

use model::{
    Call, Client, Conversation, DbError, DbErrorKind, Done, Input, KindIndex, Number, Request, Row,
    RowSource, Session, StatementId, StatementKind, Table, TxContext, Value, execute, load,
    put_decimal, query, query_number,
};

use super::application::Shape;
use super::checksum;
use super::claim::{Claim, NO_CLASS, RANGE};
use super::measurement::Buffer;
use super::parameters::Write;
use super::pools::Pools;
use super::tables::{BUFFER, CONTEXT, Layout, MEASUREMENT, Rows};
use crate::empty_tables::EmptyTables;
use crate::tx_control::{control, end};

/// Id of the query for the last measurement id in use, which follows the ids of the INSERT
/// statements.
pub(super) const LAST_ID: StatementId = StatementId(CONTEXT as u32 + 1);
pub(super) const IS_STORED: StatementId = StatementId(CONTEXT as u32 + 2);
pub(super) const CLASSES: StatementId = StatementId(CONTEXT as u32 + 3);

/// Index of the custom metric that counts stored measurements.
pub(super) const MEASUREMENTS: u16 = 0;
pub(super) const ROWS: u16 = 1;
pub(super) const BYTES: u16 = 2;
pub(super) const AGE: u16 = 3;

/// Approximate maximum length of a statement with many rows, in bytes: further rows go into another
/// statement, since servers reject much longer ones.
const STATEMENT_BYTES: usize = 512 << 10;

/// Maximum number of rows that one DELETE removes by id; more take several. Servers execute longer
/// lists of ids by reading the whole table.
const REMOVED_IDS: usize = 4096;

/// Settings and buffers that all clients of a group share, which write measurements into the
/// database.
pub(super) struct Shared {
    pub(super) pools: Arc<Pools>,
    pub(super) layout: Layout,
    pub(super) tables: EmptyTables,
    pub(super) shape: Arc<Shape>,
    pub(super) write: Write,
    pub(super) rows_per_insert: usize,
    /// Measurement ids and class numbers reserved for this run; `None` until the first writer has
    /// reserved them.
    pub(super) claim: Mutex<Option<Arc<Claim>>>,
}

pub(super) struct Writer {
    shared: Arc<Shared>,
    buffer: Option<Buffer>,
    /// Whether the connection was lost while the current buffer was being written, so that the
    /// buffer may be stored.
    is_uncertain: bool,
    /// Whether an attempt to write the current buffer failed on a storage engine that cannot roll
    /// back, so that some rows may remain.
    has_left_rows: bool,
    sql: Vec<u8>,
}

impl Writer {
    pub(super) fn new(shared: Arc<Shared>) -> Writer {
        Writer { shared, buffer: None, is_uncertain: false, has_left_rows: false, sql: Vec::new() }
    }

    /// Returns the measurement ids and class numbers that are reserved for this run. Reserves them
    /// in the database if no writer has done so.
    async fn claim(&self, session: &mut dyn Session) -> Result<Arc<Claim>, DbError> {
        let slot = || self.shared.claim.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(claim) = slot().clone() {
                return Ok(claim);
            }
            match self.reserve(session).await {
                // The claim that is stored first is used by all; later ones stay unused.
                Ok(claim) => return Ok(Arc::clone(slot().get_or_insert(Arc::new(claim)))),
                // Another writer or process has this range; try the next one.
                Err(db_error) if db_error.kind == DbErrorKind::Duplicate => {}
                Err(db_error) => return Err(db_error),
            }
        }
    }

    /// Reserves for this run the measurement ids above all others in the database, and numbers for
    /// classes that have none yet.
    async fn reserve(&self, session: &mut dyn Session) -> Result<Claim, DbError> {
        let base = query_number(session, LAST_ID, &[]).await?.unwrap_or(0);
        control(session, Request::Begin).await?;
        let classes = self.note_claim(session, base).await;
        let ended = classes.as_ref().map(|_| Done::Committed).map_err(Clone::clone);
        end(session, ended).await?;
        Ok(Claim { base, classes: classes? })
    }

    async fn note_claim(&self, session: &mut dyn Session, base: i64) -> Result<Vec<i64>, DbError> {
        // Two claims of the same range have the same key here, so one of them is rejected.
        note(session, [base, NO_CLASS], "", [0, 0, 0, base + RANGE, 0, 0, 0]).await?;
        let mut held = Vec::new();
        let request = Request::Execute(Call { statement: CLASSES, values: &[] });
        query(session, request, &mut |row: &dyn Row| {
            // The simulated database keeps nothing, so its rows have no names.
            if !matches!(row.value(1), Value::Null) {
                held.push((row.int(0)?, row.text(1)?.to_owned()));
            }
            Ok(())
        })
        .await?;
        let names = || self.shared.shape.classes.iter().map(|class| class.name.as_str());
        let numbers = Claim::number(names(), &held);
        for (name, (class, is_new)) in names().zip(&numbers) {
            if *is_new {
                note(session, [base, *class], name, [0, 0, 0, base + RANGE, 0, 0, 0]).await?;
            }
        }
        Ok(numbers.into_iter().map(|(class, _)| class).collect())
    }

    /// Writes the measurements of a buffer, and then the rows in `arm_buffer` that describe the
    /// buffer. Returns the number of rows, without those in `arm_buffer`.
    async fn write(
        &mut self,
        session: &mut dyn Session,
        buffer: &Buffer,
        claim: &Claim,
    ) -> Result<u64, DbError> {
        let shared = Arc::clone(&self.shared);
        let mut n_rows = 0;
        for &table in shared.layout.written() {
            let mut rows = Rows::new(shared.layout, table, claim, buffer);
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
        self.note(session, buffer, claim).await?;
        Ok(n_rows)
    }

    /// Writes rows with as few INSERT statements as possible. Returns the number of rows.
    async fn insert(
        &mut self,
        session: &mut dyn Session,
        table: &Table,
        rows: &mut Rows<'_>,
    ) -> Result<u64, DbError> {
        let mut n_rows = 0;
        loop {
            self.sql.clear();
            self.sql.extend_from_slice(b"INSERT INTO ");
            self.sql.extend_from_slice(table.name.as_bytes());
            // The table may have one more column: a key that the server demanded.
            for (place, column) in table.columns.iter().enumerate() {
                self.sql.extend_from_slice(if place == 0 { &b" ("[..] } else { b"," });
                self.sql.extend_from_slice(column.name.as_bytes());
            }
            self.sql.extend_from_slice(b") VALUES ");
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

    /// Inserts a row into `arm_buffer` for each class of measurements in the buffer, with the
    /// counts and checksums of the class.
    async fn note(
        &self,
        session: &mut dyn Session,
        buffer: &Buffer,
        claim: &Claim,
    ) -> Result<(), DbError> {
        let shared = self.shared.as_ref();
        let mut sums = vec![[0i64; 6]; shared.shape.classes.len()];
        let (mut first, mut last) = (i64::MAX, 0);
        for measurement in buffer.read(usize::from(shared.layout.context_bytes)) {
            let head = &measurement.head;
            let id = claim.id(head.number);
            let parent = (head.parent > 0).then(|| claim.id(head.parent));
            (first, last) = (first.min(id), last.max(id));
            let added = [
                1,
                i64::from(head.n_metrics),
                i64::from(head.n_contexts),
                checksum::measurement(&measurement, id, parent),
                checksum::metrics(&measurement, id),
                checksum::contexts(&measurement, id, shared.layout),
            ];
            let of_class = sums[usize::from(head.class)].iter_mut();
            of_class.zip(added).for_each(|(sum, value)| *sum += value);
        }
        let of_classes = shared.shape.classes.iter().zip(&claim.classes).zip(sums);
        for ((class, number), [n, metrics, contexts, sum, of_metrics, of_contexts]) in of_classes {
            if n > 0 {
                let sums = [n, metrics, contexts, last, sum, of_metrics, of_contexts];
                note(session, [first, *number], &class.name, sums).await?;
            }
        }
        Ok(())
    }

    /// Removes rows of this buffer that failed attempts to write it have left. Deletes by exact
    /// ids, because ids of other buffers may lie between them.
    async fn remove(
        &mut self,
        session: &mut dyn Session,
        buffer: &Buffer,
        claim: &Claim,
    ) -> Result<(), DbError> {
        let shared = Arc::clone(&self.shared);
        let all = buffer.read(usize::from(shared.layout.context_bytes));
        let mut ids: Vec<i64> = all.map(|measurement| claim.id(measurement.head.number)).collect();
        ids.sort_unstable();
        // The rows of `arm_buffer` are removed first, since the checks compare the others with
        // them.
        let notes = [(BUFFER, "id", &ids[..ids.len().min(1)])];
        let of_tables = shared.layout.written().iter().flat_map(|&table| {
            let column = if table == MEASUREMENT { "id" } else { "measurement" };
            ids.chunks(REMOVED_IDS).map(move |ids| (table, column, ids))
        });
        for (table, column, ids) in notes.into_iter().chain(of_tables) {
            let name = &shared.tables.all[table].name;
            self.sql.clear();
            self.sql
                .extend_from_slice(format!("DELETE FROM {name} WHERE {column} IN (").as_bytes());
            for (index, id) in ids.iter().enumerate() {
                if index > 0 {
                    self.sql.push(b',');
                }
                put_decimal(&mut self.sql, *id, 0);
            }
            self.sql.push(b')');
            let sql = std::str::from_utf8(&self.sql).expect("it is ASCII");
            let request = Request::Text { kind: StatementKind::Write, sql };
            query(session, request, &mut |_| Ok(())).await?;
        }
        Ok(())
    }

    /// Whether the buffer was stored although the connection was lost while it was written.
    async fn is_stored(
        &self,
        session: &mut dyn Session,
        buffer: &Buffer,
        claim: &Claim,
    ) -> Result<bool, DbError> {
        let numbers = buffer.read(usize::from(self.shared.layout.context_bytes));
        let first = claim.id(numbers.map(|measurement| measurement.head.number).min().unwrap_or(0));
        let n = query_number(session, IS_STORED, &[Value::Int(first)]).await?;
        Ok(n.is_some_and(|n| n > 0))
    }

    async fn store(
        &mut self,
        context: &mut TxContext<'_>,
        buffer: &Buffer,
    ) -> Result<u64, DbError> {
        let claim = self.claim(context.session()).await?;
        if self.has_left_rows {
            self.remove(context.session(), buffer, &claim).await?;
        } else if self.is_uncertain && self.is_stored(context.session(), buffer, &claim).await? {
            return Ok(0);
        }
        control(context.session(), Request::Begin).await?;
        let written = self.write(context.session(), buffer, &claim).await;
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
                (self.is_uncertain, self.has_left_rows) = (false, false);
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
                Err(db_error) => {
                    // The buffer is written again unless it turns out to be stored.
                    self.is_uncertain |= db_error.kind == DbErrorKind::UnknownCommit
                        || db_error.kind.breaks_session();
                    self.has_left_rows |= self.shared.tables.engine.keeps_failed_rows();
                    self.buffer = Some(buffer);
                    return Err(db_error);
                }
            };
            let now_ns = context.clock.now();
            let measured = &mut *context.measured;
            measured.push((MEASUREMENTS, buffer.n));
            measured.push((ROWS, n_rows));
            measured.push((BYTES, buffer.bytes.len() as u64));
            let context_bytes = usize::from(self.shared.layout.context_bytes);
            let ages = buffer
                .read(context_bytes)
                .map(|measurement| now_ns.saturating_sub(measurement.head.stop_ns));
            measured.extend(ages.map(|age_ns| (AGE, age_ns)));
            self.shared.pools.stored(buffer, now_ns);
            Ok(Done::Committed)
        })
    }
}

/// Inserts a row into `arm_buffer` with the counts and checksums of a class, in the order of the
/// table's columns.
async fn note(
    session: &mut dyn Session,
    key: [i64; 2],
    name: &str,
    numbers: [i64; 7],
) -> Result<(), DbError> {
    let ([id, class], [n, metrics, contexts, last, sum, of_metrics, of_contexts]) =
        (key.map(Value::Int), numbers.map(Value::Int));
    let name = Value::Text(name);
    let row = [id, class, name, n, metrics, contexts, last, sum, of_metrics, of_contexts];
    execute(session, StatementId(BUFFER as u32), &row).await.map(drop)
}

/// Appends a row such as `(1,2,'text')`, with a leading comma if `has_comma`. Texts consist of
/// letters and digits, so they need no escaping.
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

/// A value of a column that owns its text, so that it can be kept until its row is sent.
enum Owned {
    Null,
    Int(i64),
    Text(String),
}

/// Writes each row by one execution of a prepared INSERT. Returns the number of rows.
async fn insert_each(
    session: &mut dyn Session,
    table: usize,
    rows: &mut Rows<'_>,
) -> Result<u64, DbError> {
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
        execute(session, StatementId(table as u32), &values).await?;
        n_rows += 1;
    }
    Ok(n_rows)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::pin::pin;
    use std::rc::Rc;
    use std::task::{Context, Poll, Waker};

    use model::{
        Cancel, Clock, Dialect, Reply, Sessions, Settings, Statement, Traffic, Visit, Woken,
    };

    use super::super::measurement::{Head, Status};
    use super::*;
    use crate::Make;

    /// A clock that always shows the same time, for tests that wait for nothing.
    struct Still;

    impl Clock for Still {
        fn now(&self) -> u64 {
            0
        }

        fn poll_until(&self, _: u64, _: &mut Context<'_>) -> Poll<Woken> {
            Poll::Ready(Woken::Due)
        }

        fn poll_through(&self, _: u64, _: &mut Context<'_>) -> Poll<Woken> {
            Poll::Ready(Woken::Due)
        }
    }

    struct Nobody;

    impl Cancel for Nobody {
        fn cancel(&self) {}
    }

    /// A session that records requests, and rejects the first INSERT of metrics with an error of
    /// the given kind.
    struct Lossy {
        sent: Rc<RefCell<Vec<String>>>,
        refuses: Option<DbErrorKind>,
    }

    impl Session for Lossy {
        fn start(&mut self, request: Request<'_>) -> Result<(), DbError> {
            let sent = match request {
                Request::Text { sql, .. } if sql.starts_with("INSERT") => {
                    sql.split(" (").next().unwrap_or(sql).to_owned()
                }
                Request::Text { sql, .. } => sql.to_owned(),
                Request::Execute(call) => format!("statement {}", call.statement.0),
                other => format!("{other:?}"),
            };
            let is_refused = sent.starts_with("INSERT INTO arm_metric");
            self.sent.borrow_mut().push(sent);
            match self.refuses.take_if(|_| is_refused) {
                Some(kind) => Err(DbError::new(kind, "as told")),
                None => Ok(()),
            }
        }

        fn poll_reply(
            &mut self,
            _: &mut Context<'_>,
            _: Visit<'_>,
        ) -> Poll<Result<Reply, DbError>> {
            Poll::Ready(Ok(Reply::default()))
        }

        fn poll_load(
            &mut self,
            _: &mut Context<'_>,
            _: &Table,
            _: &mut dyn RowSource,
        ) -> Poll<Result<Reply, DbError>> {
            Poll::Ready(Err(<dyn Session>::unsupported("load")))
        }

        fn prepare(&mut self, _: Statement) -> Result<StatementId, DbError> {
            Err(<dyn Session>::unsupported("prepare"))
        }

        fn poll_reconnect(&mut self, _: &mut Context<'_>) -> Poll<Result<(), DbError>> {
            Poll::Ready(Ok(()))
        }

        fn traffic(&self) -> Traffic {
            Traffic::default()
        }

        fn canceller(&self) -> Arc<dyn Cancel> {
            Arc::new(Nobody)
        }
    }

    /// Returns the requests of a writer that stores a buffer after its first attempt was rejected
    /// with an error of this kind.
    fn sent_again(engine: &str, kind: DbErrorKind) -> Vec<String> {
        let given = [("engine", engine), ("scenario", "metrics=1+contexts=1")];
        let settings = Settings::decide(super::super::NAME, super::super::PARAMETERS, given);
        let make = Make { settings: &settings.expect("valid"), seed: 7, data: None, source: None };
        let arm = super::super::decided(&make).expect("valid");
        let claim = Claim { base: 100, classes: vec![0] };
        *arm.shared.claim.lock().expect("nobody panicked") = Some(Arc::new(claim));
        let mut buffer = arm.shared.pools.empty_buffer().expect("there is one");
        let text = vec![b'a'; usize::from(arm.shared.layout.context_bytes)];
        for number in [4, 1, 2] {
            let head = Head {
                number,
                class: 0,
                status: Status::Good,
                start_ns: 1,
                stop_ns: 2,
                parent: 0,
                has_correlator: false,
                n_metrics: 1,
                n_contexts: 1,
                diagnostic_bytes: 0,
            };
            buffer.put(&head, &[9], &text);
        }
        arm.shared.pools.fill(buffer, true);
        let mut writer = Writer::new(Arc::clone(&arm.shared));
        assert!(matches!(writer.take_input(), Input::Ready));
        let sent = Rc::new(RefCell::new(Vec::new()));
        let session = Lossy { sent: Rc::clone(&sent), refuses: Some(kind) };
        let mut sessions = Sessions::single(Box::new(session));
        let mut attempt = || {
            let clock = Still;
            let mut measured = Vec::new();
            let mut context = TxContext {
                sessions: &mut sessions,
                clock: &clock,
                dialect: &Dialect::PLAIN,
                intended_ns: 0,
                measured: &mut measured,
            };
            let mut context_of_task = Context::from_waker(Waker::noop());
            match pin!(writer.converse(&mut context)).poll(&mut context_of_task) {
                Poll::Ready(done) => done.map_err(|db_error| db_error.kind),
                Poll::Pending => panic!("nothing waits here"),
            }
        };
        assert_eq!(attempt(), Err(kind));
        sent.borrow_mut().clear();
        assert_eq!(attempt(), Ok(Done::Committed));
        sent.take()
    }

    #[test]
    fn rows_that_a_failed_attempt_has_left_are_removed_before_the_buffer_is_written_again() {
        let again = [
            "Begin",
            "INSERT INTO arm_measurement",
            "INSERT INTO arm_metric",
            "INSERT INTO arm_context",
            "statement 2",
            "Commit",
        ];
        let removed = [
            "DELETE FROM arm_buffer WHERE id IN (101)",
            "DELETE FROM arm_measurement WHERE id IN (101,102,104)",
            "DELETE FROM arm_metric WHERE measurement IN (101,102,104)",
            "DELETE FROM arm_context WHERE measurement IN (101,102,104)",
        ];
        for kind in [DbErrorKind::ConnectionLost, DbErrorKind::DiskFull] {
            let sent = sent_again("myisam", kind);
            assert_eq!(sent, [&removed[..], &again].concat(), "{kind:?}");
        }
        // If transactions are rolled back, there is nothing to remove.
        assert_eq!(sent_again("innodb", DbErrorKind::DiskFull), again);
        let asked = [&["statement 5"], &again[..]].concat();
        assert_eq!(sent_again("innodb", DbErrorKind::ConnectionLost), asked);
    }
}
