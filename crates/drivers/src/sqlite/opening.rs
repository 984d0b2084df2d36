//! Options of an SQLite target, and opening connections to it, with an error message for each way
//! in which that can fail.
//!
//! Not here: requests (the session).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::{BadParameter, DbError, DbErrorKind, Settings};
use rusqlite::{Connection, OpenFlags};

use super::cancel::Handle;
use super::db_errors::db_error;
use super::monitoring::Caches;
use super::queue::{Queue, Turn};
use crate::embedded::location::{Location, check_path};
use crate::embedded::{cancelled, lock};

/// Number of instructions of SQLite's virtual machine after which a statement checks whether its
/// session was cancelled. That many take tenths of a millisecond.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;

/// Limit on the size of a database in memory, in bytes, beyond which it counts as full. SQLite
/// allocates it as one block, which must be smaller than 2 GiB.
pub(super) const MEMORY_BYTES_MAX: i64 = 0x7fff_0000;

/// Target, options, queue and counters of an open SQLite database, which all its sessions share.
pub(super) struct Shared {
    pub(super) location: Location,
    pub(super) options: Options,
    pub(super) queue: Queue,
    /// Whether the database file may be created if it does not exist.
    pub(super) create: bool,
    pub(super) caches: Caches,
    /// Lock that a session holds while it changes the journal mode, since SQLite's busy handler
    /// does not help if several change it at once.
    changing_journal: Mutex<()>,
}

impl Shared {
    pub(super) fn new(location: Location, options: Options, create: bool) -> Shared {
        let (queue, changing_journal) = (Queue::default(), Mutex::new(()));
        let caches = Caches::default();
        Shared { location, options, queue, create, caches, changing_journal }
    }
}

/// The way in which writers wait for a locked database (option `busy`): in a queue of this process,
/// by SQLite's polling, or not at all, so that the request fails and can be retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Busy {
    Queue,
    Handler,
    Retry,
}

impl Busy {
    pub(super) fn name(self) -> &'static str {
        match self {
            Busy::Queue => "queue",
            Busy::Handler => "handler",
            Busy::Retry => "retry",
        }
    }
}

/// Options of an SQLite target, from its URL or by default.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) read_only: bool,
    pub(super) journal: String,
    pub(super) synchronous: String,
    pub(super) busy: Busy,
    pub(super) busy_timeout_ms: u64,
    cache_size_kib: i64,
    mmap_size_bytes: u64,
    /// Page size in bytes that a new database gets; `None` for SQLite's default. An existing
    /// database keeps its page size.
    page_size_bytes: Option<u64>,
    wal_autocheckpoint_pages: u64,
}

impl Options {
    pub(super) fn decide(settings: &Settings, memory: bool) -> Result<Options, BadParameter> {
        let bad = |name: &str, why: &str| Err(BadParameter::named(name, why));
        let given = settings.is_given("journal").then(|| settings.text("journal"));
        let read_only = settings.text("mode") == "ro";
        let journal = match (memory, given) {
            (false, _) => settings.text("journal"),
            (true, None | Some("memory")) => "memory",
            (true, Some("off")) => "off",
            (true, Some(_)) => {
                let why = "an in-memory database can only have journal=memory or off";
                return bad("journal", why);
            }
        };
        if memory && read_only {
            return bad("mode", "a read-only in-memory database would be empty: leave it out");
        }
        let page_size_bytes = settings.has("page_size").then(|| settings.count("page_size"));
        let fits = |size: u64| size.is_power_of_two() && (512..=65_536).contains(&size);
        if page_size_bytes.is_some_and(|size| !fits(size)) {
            return bad("page_size", "it must be a power of two from 512 to 65536 bytes");
        }
        let cache_size_kib = settings.count("cache_size") / 1024;
        if cache_size_kib > i32::MAX as u64 {
            return bad("cache_size", "it must be less than 2 TiB");
        }
        Ok(Options {
            read_only,
            journal: journal.to_owned(),
            synchronous: settings.text("synchronous").to_owned(),
            busy: match settings.text("busy") {
                "queue" => Busy::Queue,
                "handler" => Busy::Handler,
                _ => Busy::Retry,
            },
            busy_timeout_ms: settings.duration_ns("busy_timeout") / model::NS_PER_MS,
            cache_size_kib: cache_size_kib as i64,
            mmap_size_bytes: settings.count("mmap_size"),
            page_size_bytes,
            wal_autocheckpoint_pages: settings.count("wal_autocheckpoint"),
        })
    }
}

/// Opens a connection for a session and applies the target's options. Cancelling `handle`
/// interrupts its statements and its waits for locks.
pub(super) fn open_connection(
    shared: &Shared,
    handle: &Arc<Handle>,
) -> Result<Connection, DbError> {
    // An in-memory database cannot be read beside a writer, not even its first page.
    let needs_turn = shared.location.is_memory() && shared.options.busy == Busy::Queue;
    if needs_turn && !shared.queue.enter(Turn::Shared, handle) {
        return Err(cancelled());
    }
    let connection = connect(shared, handle);
    if needs_turn {
        shared.queue.leave(Turn::Shared);
    }
    connection
}

fn connect(shared: &Shared, handle: &Arc<Handle>) -> Result<Connection, DbError> {
    let mut connection = open(&shared.location, shared.create, shared.options.read_only)?;
    handle.watch(connection.get_interrupt_handle());
    let flag = Arc::clone(handle);
    let look = move || flag.is_cancelled();
    connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(look)).map_err(db_error)?;
    let (patient, limit_ms) = (Arc::clone(handle), shared.options.busy_timeout_ms);
    let wait = move |n_calls: i32| match patience_ms(n_calls, limit_ms) {
        Some(ms) => patient.sleep(Duration::from_millis(ms)),
        None => false,
    };
    connection.busy_handler(Some(wait)).map_err(db_error)?;
    set_up(&connection, shared).map_err(|no| explain(no, shared))?;
    if shared.options.busy == Busy::Retry {
        connection.busy_handler(None::<fn(i32) -> bool>).map_err(db_error)?;
    }
    Ok(connection)
}

/// Opens a connection to an SQLite file or a database in memory, without applying the target's
/// options. With `create` the file need not exist.
pub(super) fn open(
    location: &Location,
    create: bool,
    read_only: bool,
) -> Result<Connection, DbError> {
    let mut flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if read_only {
        flags |= OpenFlags::SQLITE_OPEN_READ_ONLY;
    } else {
        flags |= OpenFlags::SQLITE_OPEN_READ_WRITE;
    }
    let opened = match location {
        Location::Memory(number) => {
            flags |= OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_URI;
            // A name that begins with a slash is shared by all connections of the process.
            Connection::open_with_flags(format!("file:/dbdyno-{number}?vfs=memdb"), flags)
        }
        Location::File(path) => {
            check_path(path, create && !read_only)?;
            if create && !read_only {
                flags |= OpenFlags::SQLITE_OPEN_CREATE;
            }
            Connection::open_with_flags(path, flags)
        }
    };
    opened.map_err(|error| {
        let no = db_error(error);
        let what =
            format_args!("cannot open {location} (check the permissions of it and its directory)");
        no.during(what)
    })
}

/// Applies the target's options to a new connection. Fails if the file does not allow them.
fn set_up(connection: &Connection, shared: &Shared) -> Result<(), DbError> {
    let options = &shared.options;
    if let Some(bytes) = options.page_size_bytes {
        set(connection, "page_size", &bytes.to_string())?;
    }
    if !options.read_only && connection.is_readonly("main").map_err(db_error)? {
        let message = "it is read-only: make it and its directory writable, or open it with \
                       mode=ro";
        return Err(DbError::new(DbErrorKind::ReadOnly, message));
    }
    // The first read of the file, which may be no database, or locked by another process.
    ask(connection, "schema_version")?;
    check_page_size(connection, shared)?;
    if !options.read_only {
        set_journal(connection, shared)?;
    }
    set(connection, "synchronous", &options.synchronous)?;
    set(connection, "cache_size", &format!("-{}", options.cache_size_kib))?;
    set(connection, "mmap_size", &options.mmap_size_bytes.to_string())?;
    set(connection, "wal_autocheckpoint", &options.wal_autocheckpoint_pages.to_string())
}

fn check_page_size(connection: &Connection, shared: &Shared) -> Result<(), DbError> {
    let has = ask(connection, "page_size")?;
    match shared.options.page_size_bytes {
        Some(wanted) if has != wanted.to_string() => {
            let message = format!(
                "its pages have {has} bytes, not {wanted}: leave page_size out, or create the \
                 database again"
            );
            Err(DbError::new(DbErrorKind::Unsupported, message))
        }
        _ => Ok(()),
    }
}

fn set_journal(connection: &Connection, shared: &Shared) -> Result<(), DbError> {
    let wanted = &shared.options.journal;
    if ask(connection, "journal_mode")? == *wanted {
        return Ok(());
    }
    let alone = lock(&shared.changing_journal);
    set(connection, "journal_mode", wanted)?;
    drop(alone);
    let has = ask(connection, "journal_mode")?;
    if has != *wanted {
        let message = format!(
            "SQLite keeps journal={has} for this database and rejects {wanted}: use \
                     journal={has}"
        );
        return Err(DbError::new(DbErrorKind::Unsupported, message));
    }
    Ok(())
}

/// Returns the value of a pragma, such as `journal_mode`, as text.
pub(super) fn ask(connection: &Connection, pragma: &str) -> Result<String, DbError> {
    use rusqlite::types::Value;
    let sql = format!("PRAGMA {pragma}");
    let value = connection.query_row(&sql, [], |row| row.get::<_, Value>(0));
    Ok(match value.map_err(db_error)? {
        Value::Integer(value) => value.to_string(),
        Value::Text(text) => text,
        other => panic!("a pragma answers with a number or a word, {pragma} with {other:?}"),
    })
}

fn set(connection: &Connection, pragma: &str, value: &str) -> Result<(), DbError> {
    let sql = format!("PRAGMA {pragma}={value}");
    connection.execute_batch(&sql).map_err(|error| db_error(error).during(sql))
}

/// Adds the database's path and advice for the user to an error that occurred when a connection was
/// opened.
fn explain(no: DbError, shared: &Shared) -> DbError {
    let remedy = match no.kind {
        DbErrorKind::Corrupt => "it is not an SQLite database, or it is damaged",
        DbErrorKind::Busy => {
            "another process has locked it: end that process, or raise busy_timeout"
        }
        DbErrorKind::Denied => {
            "SQLite must also be able to write files beside it (-wal, -shm, -journal)"
        }
        _ => "",
    };
    let sign = if remedy.is_empty() { "" } else { ": " };
    no.during(format_args!("cannot open {}{sign}{remedy}", shared.location))
}

/// Returns the time in milliseconds for which the busy handler sleeps at its call number `n_calls`,
/// from 0; `None` once all sleeps together have reached `limit_ms`. The times are SQLite's own
/// (`sqliteDefaultBusyCallback` in main.c), so that `busy=handler` measures what users of SQLite
/// experience; but these sleeps can be cancelled.
fn patience_ms(n_calls: i32, limit_ms: u64) -> Option<u64> {
    const STEPS_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];
    let n_calls = usize::try_from(n_calls).unwrap_or_default();
    let n_steps = n_calls.min(STEPS_MS.len() - 1);
    let slept_ms: u64 = STEPS_MS[..n_steps].iter().sum();
    let slept_ms = slept_ms + (n_calls - n_steps) as u64 * STEPS_MS[STEPS_MS.len() - 1];
    let ms = STEPS_MS[n_steps].min(limit_ms.saturating_sub(slept_ms));
    (ms > 0).then_some(ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_ends_at_its_limit() {
        let total = |limit_ms| (0..).map_while(|n| patience_ms(n, limit_ms)).sum::<u64>();
        assert_eq!(total(0), 0);
        assert_eq!(total(7), 7);
        assert_eq!(total(10_000), 10_000);
        assert_eq!((patience_ms(0, 100), patience_ms(3, 100)), (Some(1), Some(10)));
    }
}
