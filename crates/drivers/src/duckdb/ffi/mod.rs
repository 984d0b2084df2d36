//! DuckDB's C API behind types that own its handles: everything unsafe of the driver is in this
//! folder.
//!
//! A connection and what is made of it stay on one thread; only an [`Interrupter`] and an
//! [`Instance`] are shared. Errors are DuckDB's messages, which begin with their class. Not here:
//! meanings of errors, and SQL.
#![allow(unsafe_code, reason = "DuckDB's C API is called here, and nowhere else")]

mod chunk;
mod functions;
mod types;

use std::ffi::{CStr, CString, c_char};
use std::path::Path;
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use model::Value;

use crate::embedded::lock;
pub(super) use chunk::Chunk;
use functions::{Functions, Handle, RawDecimal, RawResult, SUCCESS, State};
pub(super) use types::{Stored, Width};

/// Error message of DuckDB.
pub(super) type Message = String;

/// DuckDB's library, loaded for as long as the process runs, since its threads may still use it
/// when the last database is closed.
#[derive(Clone, Copy)]
pub(super) struct Library(&'static Functions);

impl Library {
    /// Loads a library. Fails with the loader's message.
    pub(super) fn load(path: &Path) -> Result<Library, libloading::Error> {
        Functions::load(path).map(|functions| Library(Box::leak(Box::new(functions))))
    }

    /// Returns the version that the library reports, such as `v1.5.6`.
    pub(super) fn version(self) -> String {
        // SAFETY: DuckDB returns a constant.
        text(unsafe { (self.0.library_version)() })
    }
}

/// A text for C. A text with a zero byte has no place in SQL or in a path.
pub(super) fn c_text(text: &str) -> Result<CString, Message> {
    CString::new(text).map_err(|_| "Invalid Input Error: a text has a zero byte".to_owned())
}

/// Copies a text of DuckDB; empty if there is none.
fn text(raw: *const c_char) -> String {
    if raw.is_null() {
        return String::new();
    }
    // SAFETY: DuckDB's texts end with a zero byte, and are not changed meanwhile.
    unsafe { CStr::from_ptr(raw) }.to_string_lossy().into_owned()
}

/// An open database: a file, or memory.
pub(super) struct Instance {
    f: &'static Functions,
    raw: Handle,
    on_close: Box<dyn Fn() + Send + Sync>,
}

// SAFETY: DuckDB's databases may be used by several threads at once ("Concurrency" in its manual);
// the handle is only read.
unsafe impl Send for Instance {}
// SAFETY: the same.
unsafe impl Sync for Instance {}

impl Instance {
    /// Opens a database with these options (name and value). `on_close` is called when DuckDB has
    /// closed it again.
    pub(super) fn open(
        library: Library,
        path: &str,
        options: &[(&str, String)],
        on_close: impl Fn() + Send + Sync + 'static,
    ) -> Result<Arc<Instance>, Message> {
        let (f, mut raw, mut config, mut error) = (library.0, null_mut(), null_mut(), null_mut());
        let path = c_text(path)?;
        let to_c = |(name, value): &(&str, String)| Ok((c_text(name)?, c_text(value)?));
        let options: Result<Vec<(CString, CString)>, Message> = options.iter().map(to_c).collect();
        let options = options?;
        // SAFETY: each handle is written by DuckDB before it is read, and destroyed once; texts
        // outlive the calls.
        unsafe {
            if (f.create_config)(&mut config) != SUCCESS {
                return Err("Out of Memory Error: no configuration".to_owned());
            }
            for (name, value) in &options {
                if (f.set_config)(config, name.as_ptr(), value.as_ptr()) != SUCCESS {
                    (f.destroy_config)(&mut config);
                    let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
                    return Err(format!("Invalid Input Error: DuckDB has no {name}={value}"));
                }
            }
            let state = (f.open_ext)(path.as_ptr(), &mut raw, config, &mut error);
            (f.destroy_config)(&mut config);
            if state != SUCCESS {
                let message = text(error);
                (f.free)(error.cast());
                return Err(message);
            }
        }
        Ok(Arc::new(Instance { f, raw, on_close: Box::new(on_close) }))
    }

    pub(super) fn connect(self: &Arc<Instance>) -> Result<Connection, Message> {
        let (f, mut raw) = (self.f, null_mut());
        // SAFETY: the database is open as long as this object lives.
        if unsafe { (f.connect)(self.raw, &mut raw) } != SUCCESS {
            return Err("Connection Error: DuckDB refuses a connection".to_owned());
        }
        let interrupter = Arc::new(Interrupter { f, raw: Mutex::new(Some(Shared(raw))) });
        let open = Open { f, raw, interrupter, _instance: Arc::clone(self) };
        Ok(Connection(Rc::new(open)))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: every connection holds this object, so none is left.
        unsafe { (self.f.close)(&mut self.raw) }
        (self.on_close)();
    }
}

/// An address of a connection that other threads may interrupt.
struct Shared(Handle);

// SAFETY: `duckdb_interrupt` may be called by any thread while the connection is open.
unsafe impl Send for Shared {}

/// Interrupts the statement that a connection executes, from another thread.
pub(super) struct Interrupter {
    f: &'static Functions,
    /// `None` once the connection is closed.
    raw: Mutex<Option<Shared>>,
}

impl Interrupter {
    pub(super) fn interrupt(&self) {
        if let Some(Shared(raw)) = &*lock(&self.raw) {
            // SAFETY: the connection is open, since it takes this lock before it is closed.
            unsafe { (self.f.interrupt)(*raw) }
        }
    }
}

/// A connection, used by one thread.
pub(super) struct Connection(Rc<Open>);

struct Open {
    f: &'static Functions,
    raw: Handle,
    interrupter: Arc<Interrupter>,
    _instance: Arc<Instance>,
}

impl Drop for Open {
    fn drop(&mut self) {
        *lock(&self.interrupter.raw) = None;
        // SAFETY: statements and loads hold this object, so none is left; nobody interrupts it any
        // more. An open transaction is rolled back.
        unsafe { (self.f.disconnect)(&mut self.raw) }
    }
}

impl Connection {
    pub(super) fn interrupter(&self) -> Arc<Interrupter> {
        Arc::clone(&self.0.interrupter)
    }

    pub(super) fn prepare(&self, sql: &str) -> Result<Prepared, Message> {
        let (f, sql, mut raw) = (self.0.f, c_text(sql)?, null_mut());
        // SAFETY: the connection is open, and the text outlives the call.
        let state = unsafe { (f.prepare)(self.0.raw, sql.as_ptr(), &mut raw) };
        Prepared::take(&self.0, raw, state)
    }

    /// Splits a text into statements, to be prepared and executed in order.
    pub(super) fn extract(&self, sql: &str) -> Result<Extracted, Message> {
        let (f, sql, mut raw) = (self.0.f, c_text(sql)?, null_mut());
        // SAFETY: the connection is open, and the text outlives the call.
        let n = unsafe { (f.extract_statements)(self.0.raw, sql.as_ptr(), &mut raw) };
        let extracted = Extracted { open: Rc::clone(&self.0), raw, n };
        // SAFETY: the handle was written, whatever the result.
        match text(unsafe { (f.extract_statements_error)(raw) }) {
            message if message.is_empty() => Ok(extracted),
            message => Err(message),
        }
    }

    /// Begins to load rows into a table, within the current transaction.
    pub(super) fn append(&self, table: &str) -> Result<Appender, Message> {
        let (f, table, mut raw) = (self.0.f, c_text(table)?, null_mut());
        // SAFETY: the connection is open; a null stands for the usual schema.
        unsafe {
            let no_schema = std::ptr::null();
            let state = (f.appender_create)(self.0.raw, no_schema, table.as_ptr(), &mut raw);
            if state != SUCCESS {
                let message = text((f.appender_error)(raw));
                (f.appender_destroy)(&mut raw);
                return Err(message);
            }
            let n_columns = (f.appender_column_count)(raw);
            let types = (0..n_columns).map(|index| (f.appender_column_type)(raw, index)).collect();
            let mut types: Vec<Handle> = types;
            // Taking a type destroys it, so each is asked for again.
            let stored = (0..n_columns)
                .map(|index| Stored::take(f, (f.appender_column_type)(raw, index)))
                .collect::<Vec<Stored>>();
            let chunk = Chunk::make(f, &mut types, &stored);
            types.iter_mut().for_each(|one| (f.destroy_logical_type)(one));
            Ok(Appender { open: Rc::clone(&self.0), raw, chunk })
        }
    }
}

/// The statements of a text.
pub(super) struct Extracted {
    open: Rc<Open>,
    raw: Handle,
    n: u64,
}

impl Extracted {
    pub(super) fn n_statements(&self) -> u64 {
        self.n
    }

    /// Prepares the statement with this index, from 0.
    pub(super) fn prepare(&self, index: u64) -> Result<Prepared, Message> {
        let (f, mut raw) = (self.open.f, null_mut());
        // SAFETY: the connection is open, and the index is checked by DuckDB.
        let state =
            unsafe { (f.prepare_extracted_statement)(self.open.raw, self.raw, index, &mut raw) };
        Prepared::take(&self.open, raw, state)
    }
}

impl Drop for Extracted {
    fn drop(&mut self) {
        // SAFETY: the handle is ours, and destroyed once.
        unsafe { (self.open.f.destroy_extracted)(&mut self.raw) }
    }
}

/// A statement that DuckDB has planned, with the values that are bound to its parameters.
pub(super) struct Prepared {
    open: Rc<Open>,
    raw: Handle,
    /// Types that DuckDB expects of the parameters. A value of another type would make it plan the
    /// statement again at each execution.
    parameters: Vec<Stored>,
}

impl Prepared {
    fn take(open: &Rc<Open>, raw: Handle, state: State) -> Result<Prepared, Message> {
        let f = open.f;
        let mut prepared = Prepared { open: Rc::clone(open), raw, parameters: Vec::new() };
        // SAFETY: the handle was written, whatever the result.
        unsafe {
            if state != SUCCESS {
                return Err(text((f.prepare_error)(raw)));
            }
            let numbers = 1..=(f.nparams)(raw);
            let to_stored = |number| match Stored::from_id((f.param_type)(raw, number)) {
                Stored::Other(_) => Stored::take(f, (f.param_logical_type)(raw, number)),
                stored => stored,
            };
            prepared.parameters = numbers.map(to_stored).collect();
        }
        Ok(prepared)
    }

    pub(super) fn n_parameters(&self) -> usize {
        self.parameters.len()
    }

    /// Binds the value of a parameter, given by its index from 0.
    pub(super) fn bind(&mut self, index: usize, value: &Value<'_>) -> Result<(), Message> {
        let (f, raw, number) = (self.open.f, self.raw, index as u64 + 1);
        let stored = self.parameters[index];
        // SAFETY: the statement is ours; DuckDB copies texts and bytes.
        let state = unsafe {
            match (stored, *value) {
                (_, Value::Null) => (f.bind_null)(raw, number),
                (Stored::Decimal { digits, scale, .. }, Value::Int(_) | Value::Decimal { .. })
                    if fits(value, digits, scale) =>
                {
                    let unscaled = chunk::scaled(value, scale).unwrap_or_default();
                    (f.bind_decimal)(raw, number, raw_decimal(unscaled, digits, scale))
                }
                (_, Value::Decimal { unscaled, scale }) => {
                    (f.bind_decimal)(raw, number, raw_decimal(unscaled, 18.max(scale), scale))
                }
                (Stored::Double, Value::Int(value)) if value.unsigned_abs() < 1 << 53 => {
                    (f.bind_double)(raw, number, value as f64)
                }
                (Stored::Integer(Width::Two), Value::Int(value)) if narrow::<i16>(value) => {
                    (f.bind_int16)(raw, number, value as i16)
                }
                (Stored::Integer(Width::Four), Value::Int(value)) if narrow::<i32>(value) => {
                    (f.bind_int32)(raw, number, value as i32)
                }
                (_, Value::Int(value)) => (f.bind_int64)(raw, number, value),
                (_, Value::Float(value)) => (f.bind_double)(raw, number, value),
                (_, Value::Text(text)) => {
                    let (start, n_bytes) = (text.as_ptr().cast(), text.len() as u64);
                    (f.bind_varchar_length)(raw, number, start, n_bytes)
                }
                (_, Value::Bytes(bytes)) => {
                    (f.bind_blob)(raw, number, bytes.as_ptr().cast(), bytes.len() as u64)
                }
                (_, Value::Timestamp(us)) => (f.bind_timestamp)(raw, number, us),
                (_, Value::Date(days)) => (f.bind_date)(raw, number, days),
            }
        };
        match state {
            SUCCESS => Ok(()),
            // SAFETY: the statement is ours.
            _ => Err(text(unsafe { (f.prepare_error)(raw) })),
        }
    }

    /// Starts an execution with the bound values, without waiting for it. From here on an interrupt
    /// reaches it.
    pub(super) fn start(&mut self) -> Result<Pending, Message> {
        let (f, mut raw) = (self.open.f, null_mut());
        // SAFETY: the statement is ours.
        let state = unsafe { (f.pending_prepared_streaming)(self.raw, &mut raw) };
        let pending = Pending { open: Rc::clone(&self.open), raw };
        match state {
            SUCCESS => Ok(pending),
            // SAFETY: the handle was written, whatever the result.
            _ => Err(text(unsafe { (f.pending_error)(raw) })),
        }
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // SAFETY: the statement is ours, and destroyed once.
        unsafe { (self.open.f.destroy_prepare)(&mut self.raw) }
    }
}

fn fits(value: &Value<'_>, digits: u8, scale: u8) -> bool {
    chunk::scaled(value, scale).is_some_and(|unscaled| chunk::has_digits(unscaled, digits))
}

fn narrow<T: TryFrom<i64>>(value: i64) -> bool {
    T::try_from(value).is_ok()
}

fn raw_decimal(unscaled: i64, width: u8, scale: u8) -> RawDecimal {
    // Two's complement: the upper half has only bits of the sign.
    RawDecimal { width, scale, lower: unscaled as u64, upper: unscaled >> 63 }
}

/// An execution that was started.
pub(super) struct Pending {
    open: Rc<Open>,
    raw: Handle,
}

impl Pending {
    /// Executes the statement until its first rows are there.
    pub(super) fn execute(self) -> Result<Answer, Message> {
        let (f, mut raw) = (self.open.f, RawResult::EMPTY);
        // SAFETY: the execution is ours, and the result is written, whatever the state.
        let state = unsafe { (f.execute_pending)(self.raw, &mut raw) };
        let mut answer = Answer { open: Rc::clone(&self.open), raw, columns: Vec::new() };
        if state != SUCCESS {
            return Err(answer.error());
        }
        // SAFETY: the result is ours; each index is below the number of columns.
        unsafe {
            let indexes = 0..(f.column_count)(&mut answer.raw);
            let to_stored =
                |index| Stored::take(f, (f.column_logical_type)(&mut answer.raw, index));
            answer.columns = indexes.map(to_stored).collect();
        }
        Ok(answer)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // SAFETY: the execution is ours, and destroyed once.
        unsafe { (self.open.f.destroy_pending)(&mut self.raw) }
    }
}

/// What a statement answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answered {
    /// Rows of a query.
    Rows,
    /// One row with the number of rows that the statement changed.
    Changed,
    /// Neither rows nor their number, as after DDL.
    Nothing,
}

/// Result of an execution, whose rows are fetched chunk by chunk.
pub(super) struct Answer {
    open: Rc<Open>,
    raw: RawResult,
    columns: Vec<Stored>,
}

impl Answer {
    pub(super) fn columns(&self) -> &[Stored] {
        &self.columns
    }

    pub(super) fn answered(&self) -> Answered {
        // SAFETY: the result is ours. The numbers are those of `duckdb_result_type`.
        match unsafe { (self.open.f.result_return_type)(self.raw) } {
            1 => Answered::Changed,
            3 => Answered::Rows,
            _ => Answered::Nothing,
        }
    }

    /// Returns the name of the column with this index, from 0.
    pub(super) fn name(&self, column: usize) -> &str {
        let mut raw = self.raw;
        // SAFETY: the name lives as long as the result, and DuckDB's texts are UTF-8.
        unsafe {
            let name = (self.open.f.column_name)(&mut raw, column as u64);
            if name.is_null() { "" } else { CStr::from_ptr(name).to_str().unwrap_or_default() }
        }
    }

    /// Returns the next chunk; `None` if there are no more rows.
    pub(super) fn fetch(&mut self) -> Result<Option<Chunk>, Message> {
        // SAFETY: the result is ours; its chunks have flat vectors of its columns, and are ours.
        unsafe {
            let raw = (self.open.f.fetch_chunk)(self.raw);
            if !raw.is_null() {
                return Ok(Some(Chunk::take(self.open.f, raw, &self.columns)));
            }
        }
        match self.error() {
            message if message.is_empty() => Ok(None),
            message => Err(message),
        }
    }

    fn error(&mut self) -> Message {
        // SAFETY: the result is ours.
        text(unsafe { (self.open.f.result_error)(&mut self.raw) })
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        // SAFETY: the result is ours, and destroyed once.
        unsafe { (self.open.f.destroy_result)(&mut self.raw) }
    }
}

/// A load of rows into a table. Rows are appended chunk by chunk, and written at the latest by
/// [`Appender::finish`].
pub(super) struct Appender {
    open: Rc<Open>,
    raw: Handle,
    chunk: Chunk,
}

impl Appender {
    /// The chunk to be filled with the next rows.
    pub(super) fn chunk(&mut self) -> &mut Chunk {
        &mut self.chunk
    }

    /// Appends the rows of the chunk, and empties it.
    pub(super) fn append(&mut self) -> Result<(), Message> {
        self.chunk.seal();
        // SAFETY: load and chunk are ours, and the chunk has the columns of the table.
        let state = unsafe { (self.open.f.append_data_chunk)(self.raw, self.chunk.raw()) };
        self.chunk.clear();
        self.checked(state)
    }

    /// Writes all rows that were appended.
    pub(super) fn finish(mut self) -> Result<(), Message> {
        self.append()?;
        // SAFETY: the load is ours.
        let state = unsafe { (self.open.f.appender_flush)(self.raw) };
        self.checked(state)
    }

    fn checked(&self, state: State) -> Result<(), Message> {
        match state {
            SUCCESS => Ok(()),
            // SAFETY: the load is ours.
            _ => Err(text(unsafe { (self.open.f.appender_error)(self.raw) })),
        }
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        // SAFETY: the load is ours, and destroyed once. If it failed, its error was reported.
        unsafe {
            (self.open.f.appender_destroy)(&mut self.raw);
        }
    }
}
