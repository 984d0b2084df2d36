//! Loads rows into tables, chunk by chunk: in bulk if the driver can, else by INSERT. A chunk whose
//! connection was lost is loaded again, unless its mark shows that it was committed.
//!
//! Not here: the list of chunks (build), and the contents of rows (workloads).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use model::{
    Database, DbError, DbErrorKind, Population, Request, RowSource, StatementId, Table, Value,
};

use crate::admin_session::AdminSession;
use crate::build_lock::{connect_again, connect_within};
use crate::build_log::{BuildEvent, BuildLog, ChunkDone, value_bytes};
use crate::meta;

/// Largest number of attempts to load a chunk, or to do a later step of a build, after conflicts
/// and lost connections; if the last one fails, so does the build.
pub(crate) const ATTEMPTS: u32 = 10;
/// Largest number of rows of one INSERT. More are hardly faster, and this many stay within the
/// parameter limit of any database.
const INSERT_ROWS: usize = 100;
/// Largest number of parameters of one statement: SQLite's limit, the lowest of all databases.
const PARAMETERS_MOST: usize = 32_766;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadMethod {
    /// Loads rows in the fastest way that the database has, such as `LOAD DATA LOCAL` or `COPY`.
    #[default]
    Bulk,
    /// Inserts rows by prepared INSERTs of up to 100 rows each.
    Insert,
}

model::choice!(LoadMethod { Bulk = "bulk", Insert = "insert" });

/// Work shared by all loaders of a build: the chunks that are still to be loaded, and the progress.
pub(crate) struct Work {
    /// Chunks to be loaded, in this order: index of the table, and number of the chunk in it.
    pub(crate) chunks: Vec<(usize, u64)>,
    pub(crate) next: AtomicUsize,
    pub(crate) n_rows_total: u64,
    pub(crate) n_rows_before: u64,
    pub(crate) n_rows_done: AtomicU64,
    pub(crate) n_reconnects: AtomicU64,
    /// True if a chunk's rows and the mark that it is loaded are still both there or both missing
    /// after a lost connection or a server crash. If not, the build cannot resume.
    pub(crate) keeps_marks: bool,
    /// Error with which the server first refused bulk loading; `None` if bulk loading was not
    /// refused.
    pub(crate) bulk_refused: Mutex<Option<String>>,
    /// Log in which loaders report chunks and errors, so that the build can be measured like a run.
    pub(crate) log: Arc<BuildLog>,
}

impl Work {
    /// Stores the error with which the server refused bulk loading, unless one is stored already.
    pub(crate) fn note_bulk_refused(&self, db_error: &DbError) {
        let mut first = self.bulk_refused.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| db_error.to_string());
    }

    /// Returns the error because of which rows were inserted instead of loaded in bulk; `None` if
    /// bulk loading was not refused.
    pub(crate) fn bulk_refused(&self) -> Option<String> {
        self.bulk_refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Loads one chunk after the other on the calling thread, until none is left or a stop is
/// requested. Meanwhile `doing` holds the largest index of a table that has been begun, to show the
/// progress.
pub(crate) fn load_chunks(
    database: &dyn Database,
    population: &dyn Population,
    method: LoadMethod,
    work: &Work,
    doing: &AtomicUsize,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Result<(), DbError> {
    let connect = &mut || Loader::new(database, population, method, work);
    let lost = || {
        work.n_reconnects.fetch_add(1, Ordering::Relaxed);
    };
    let mut loader = connect_within(work.keeps_marks, is_stopped, connect, lost)?;
    while !is_stopped() {
        let next = work.next.fetch_add(1, Ordering::Relaxed);
        let Some(&(table, chunk)) = work.chunks.get(next) else { break };
        doing.fetch_max(table, Ordering::Relaxed);
        loader.load_surely(table, chunk, is_stopped)?;
    }
    Ok(())
}

/// Returns true if the server does not understand a statement: its SQLSTATE is of class 42 (syntax
/// error) or 0A (unsupported feature; ISO/IEC 9075-2, 24.1). Settings and missing privileges have
/// other classes.
fn is_not_understood(db_error: &DbError) -> bool {
    let is_of_class = ["42", "0A"].iter().any(|class| db_error.sqlstate.starts_with(class));
    db_error.kind == DbErrorKind::Other && is_of_class
}

struct Loader<'a> {
    database: &'a dyn Database,
    population: &'a dyn Population,
    method: LoadMethod,
    work: &'a Work,
    session: AdminSession,
    mark: StatementId,
    /// INSERT statements prepared on this connection, by index of the table and number of rows.
    inserts: HashMap<(usize, usize), StatementId>,
}

impl<'a> Loader<'a> {
    fn new(
        database: &'a dyn Database,
        population: &'a dyn Population,
        method: LoadMethod,
        work: &'a Work,
    ) -> Result<Loader<'a>, DbError> {
        let mut session = AdminSession::at(database)?;
        let mark = session.prepare(database.dialect().insert(&meta::table()))?;
        let inserts = HashMap::new();
        Ok(Loader { database, population, method, work, session, mark, inserts })
    }

    /// Loads chunk `chunk` of the table with the index `table`. Repeats this after conflicts and
    /// lost connections, unless the chunk's mark shows that it was committed.
    fn load_surely(
        &mut self,
        table: usize,
        chunk: u64,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), DbError> {
        let name = meta::done_name(&self.population.tables()[table].name, chunk);
        let log = Arc::clone(&self.work.log);
        let (started_ns, before) = (log.now_ns(), self.session.traffic());
        let mut loaded = self.load(table, chunk, &name);
        for attempt in 1..ATTEMPTS {
            let Err(db_error) = loaded else {
                // A new connection counts from zero.
                let moved = self.session.traffic();
                let is_same = attempt == 1;
                let traffic = if is_same { moved - before } else { moved };
                let (finished_ns, retries) = (log.now_ns(), attempt - 1);
                let chunk = ChunkDone { table, started_ns, finished_ns, retries, traffic };
                log.note(BuildEvent::Chunk(chunk));
                return Ok(());
            };
            log.note(BuildEvent::Refused(log.now_ns(), db_error.clone()));
            if self.leaves_parts(&db_error) {
                return Err(db_error);
            }
            match db_error.kind {
                kind if kind.is_conflict() => {}
                _ if self.method == LoadMethod::Bulk && is_not_understood(&db_error) => {
                    self.method = LoadMethod::Insert;
                    self.work.note_bulk_refused(&db_error);
                }
                kind if kind.breaks_session() => self.reconnect(db_error, is_stopped)?,
                // A commit that seemed lost may have been late.
                DbErrorKind::Duplicate if attempt > 1 => {}
                DbErrorKind::Duplicate => return Err(self.overtaken(db_error, &name)),
                _ => return Err(db_error),
            }
            loaded = match meta::is_done(&mut self.session, &name) {
                Ok(true) => {
                    self.count(table);
                    Ok(())
                }
                Ok(false) => self.load(table, chunk, &name),
                Err(db_error) => Err(db_error),
            };
        }
        loaded
    }

    /// Returns true if the storage engine may have kept a part of the chunk after this error, or
    /// lost the rows of marked chunks. Then the whole build must start again.
    fn leaves_parts(&self, db_error: &DbError) -> bool {
        let engine = self.population.storage_engine();
        let Some(engine) = engine.and_then(|name| self.database.dialect().engine(name)) else {
            return false;
        };
        let is_lost = db_error.kind.breaks_session() && !engine.keeps_marks();
        is_lost || db_error.kind.is_conflict() && !engine.is_transactional
    }

    /// Returns the error for a duplicate key at the first attempt, which means that another process
    /// has loaded the chunk.
    fn overtaken(&mut self, db_error: DbError, name: &str) -> DbError {
        match meta::is_done(&mut self.session, name) {
            Ok(true) => db_error.during(
                "another dbdyno process builds the same data: wait until it \
                                        has ended",
            ),
            _ => db_error,
        }
    }

    /// Counts the rows of a chunk that was committed although its acknowledgement was lost. Their
    /// number is the mean over the chunks of the table.
    fn count(&self, table: usize) {
        let n_chunks = self.population.n_chunks(table).max(1);
        let n_rows = self.population.n_rows(table) / n_chunks;
        self.work.n_rows_done.fetch_add(n_rows, Ordering::Relaxed);
    }

    fn reconnect(
        &mut self,
        lost: DbError,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), DbError> {
        *self = connect_again(lost, is_stopped, &mut || {
            Loader::new(self.database, self.population, self.method, self.work)
        })?;
        self.work.n_reconnects.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Loads the rows of chunk `chunk` of the table with the index `table`, and writes the mark
    /// called `name`, in one transaction.
    fn load(&mut self, table: usize, chunk: u64, name: &str) -> Result<(), DbError> {
        let rows = self.population.rows(table, chunk);
        let mut counted = Counted { rows, n: 0, unsaid: 0, unsaid_bytes: 0, work: self.work };
        self.session.ask(Request::Begin)?;
        let loaded =
            self.begin_load().and_then(|()| self.put(table, &mut counted)).and_then(|()| {
                let n = counted.n.to_string();
                self.session.execute(self.mark, &[Value::Text(name), Value::Text(&n)])?;
                self.session.ask(Request::Commit)
            });
        counted.say();
        if let Err(db_error) = &loaded {
            self.work.n_rows_done.fetch_sub(counted.n, Ordering::Relaxed);
            if !db_error.kind.breaks_session() {
                // Report the first error.
                let _ = self.session.ask(Request::Rollback);
            }
        }
        loaded.map(|_| ())
    }

    fn begin_load(&mut self) -> Result<(), DbError> {
        let all = self.database.administration().begin_load;
        all.iter().try_for_each(|sql| self.session.write(sql).map(drop))
    }

    fn put(&mut self, table: usize, rows: &mut Counted<'_>) -> Result<(), DbError> {
        let layout = &self.population.tables()[table];
        match self.method {
            LoadMethod::Bulk => self.session.load(layout, rows).map(|_| ()),
            LoadMethod::Insert => self.insert(table, layout, rows),
        }
    }

    fn insert(
        &mut self,
        table: usize,
        layout: &Table,
        rows: &mut dyn RowSource,
    ) -> Result<(), DbError> {
        let n_rows_most = INSERT_ROWS.min(PARAMETERS_MOST / layout.columns.len().max(1)).max(1);
        let mut batch = Batch::default();
        loop {
            let has_more = rows.next(&mut |row| batch.push(row));
            if batch.n_rows == n_rows_most || !has_more && batch.n_rows > 0 {
                let statement = match self.inserts.get(&(table, batch.n_rows)) {
                    Some(statement) => *statement,
                    None => {
                        let sql = self.database.dialect().insert_rows(layout, batch.n_rows);
                        let statement = self.session.prepare(sql)?;
                        self.inserts.insert((table, batch.n_rows), statement);
                        statement
                    }
                };
                batch.with_values(|values| self.session.execute(statement, values))?;
                batch.clear();
            }
            if !has_more {
                return Ok(());
            }
        }
    }
}

/// Rows that are collected for one INSERT, with their values copied.
#[derive(Default)]
struct Batch {
    n_rows: usize,
    cells: Vec<Cell>,
    /// Contents of all text and byte values of the batch, one after the other, referred to by
    /// [`Cell`].
    bytes: Vec<u8>,
}

/// A value of a row in a [`Batch`]. Text and bytes are given by the start and length of their part
/// of [`Batch::bytes`].
#[derive(Clone, Copy)]
enum Cell {
    Plain(Value<'static>),
    Text(usize, usize),
    Bytes(usize, usize),
}

impl Batch {
    fn push(&mut self, row: &[Value<'_>]) {
        self.n_rows += 1;
        for value in row {
            let cell = match *value {
                Value::Null => Cell::Plain(Value::Null),
                Value::Int(number) => Cell::Plain(Value::Int(number)),
                Value::Float(number) => Cell::Plain(Value::Float(number)),
                Value::Decimal { unscaled, scale } => {
                    Cell::Plain(Value::Decimal { unscaled, scale })
                }
                Value::Timestamp(us) => Cell::Plain(Value::Timestamp(us)),
                Value::Date(days) => Cell::Plain(Value::Date(days)),
                Value::Text(text) => Cell::Text(self.bytes.len(), text.len()),
                Value::Bytes(bytes) => Cell::Bytes(self.bytes.len(), bytes.len()),
            };
            match *value {
                Value::Text(text) => self.bytes.extend_from_slice(text.as_bytes()),
                Value::Bytes(bytes) => self.bytes.extend_from_slice(bytes),
                _ => {}
            }
            self.cells.push(cell);
        }
    }

    fn with_values<T>(&self, work: impl FnOnce(&[Value<'_>]) -> T) -> T {
        let part = |start: usize, length: usize| &self.bytes[start..start + length];
        let value = |cell: &Cell| match *cell {
            Cell::Plain(value) => value,
            Cell::Text(start, length) => {
                let text = std::str::from_utf8(part(start, length));
                Value::Text(text.expect("it came as text"))
            }
            Cell::Bytes(start, length) => Value::Bytes(part(start, length)),
        };
        let values: Vec<Value<'_>> = self.cells.iter().map(value).collect();
        work(&values)
    }

    fn clear(&mut self) {
        self.n_rows = 0;
        self.cells.clear();
        self.bytes.clear();
    }
}

/// Source of rows that counts them for the progress of the build as they are read.
struct Counted<'a> {
    rows: Box<dyn RowSource + Send>,
    n: u64,
    unsaid: u64,
    unsaid_bytes: u64,
    work: &'a Work,
}

impl Counted<'_> {
    fn say(&mut self) {
        let (rows, bytes) =
            (std::mem::take(&mut self.unsaid), std::mem::take(&mut self.unsaid_bytes));
        self.work.n_rows_done.fetch_add(rows, Ordering::Relaxed);
        self.work.log.add(rows, bytes);
    }
}

impl RowSource for Counted<'_> {
    fn next(&mut self, emit: &mut dyn FnMut(&[Value<'_>])) -> bool {
        let mut bytes = 0;
        let has_next = self.rows.next(&mut |row| {
            bytes += row.iter().map(value_bytes).sum::<u64>();
            emit(row);
        });
        self.unsaid_bytes += bytes;
        self.n += u64::from(has_next);
        self.unsaid += u64::from(has_next);
        if self.unsaid >= 1000 {
            self.say();
        }
        has_next
    }
}
