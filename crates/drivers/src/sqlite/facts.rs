//! Facts about an SQLite database that a run records: version, file and settings in force, as
//! SQLite reports them on a connection with the options of a session.

use std::fs;
use std::sync::Arc;

use model::numbers::bytes;
use model::{DbError, Fact};
use rusqlite::Connection;

use super::db_errors::db_error;
use super::opening::{Shared, ask, open_connection};
use crate::embedded::location::Location;
use crate::modes;

/// Opens a further connection to the database and reads the facts that a run records about it:
/// version, file and settings.
pub(super) fn facts(shared: &Shared) -> Result<Vec<Fact>, DbError> {
    let connection = open_connection(shared, &Arc::default())?;
    let page_size_bytes = number(&connection, "page_size")?;
    let cache_size_bytes = match number(&connection, "cache_size")? {
        kib if kib < 0 => -kib * 1024,
        pages => pages * page_size_bytes,
    };
    let size_bytes = match &shared.location {
        Location::File(path) => fs::metadata(path).map_or(0, |found| found.len() as i64),
        Location::Memory(_) => number(&connection, "page_count")? * page_size_bytes,
    };
    let compiled = compile_options(&connection)?;
    let threadsafe = compiled.iter().find_map(|option| option.strip_prefix("THREADSAFE="));
    let fact = |name: &str, value: &dyn ToString| Fact::new("database", name, value.to_string());
    // Modes that determine durability, which every result names.
    let mode = |name: &str, value: &dyn ToString| Fact::new("mode", name, value.to_string());
    Ok(vec![
        fact("product", &"SQLite"),
        fact("version", &rusqlite::version()),
        fact("path", &shared.location),
        fact("mode", &if shared.options.read_only { "ro" } else { "rw" }),
        mode("journal_mode", &ask(&connection, "journal_mode")?),
        mode("synchronous", &synchronous(&connection)?),
        mode("busy", &shared.options.busy.name()),
        // https://www.sqlite.org/isolation.html
        modes::isolation("serializable"),
        fact("busy_timeout_ms", &shared.options.busy_timeout_ms),
        fact("page_size_bytes", &page_size_bytes),
        fact("cache_size_bytes", &cache_size_bytes),
        modes::server_memory("page cache of each session", &bytes(cache_size_bytes as u64)),
        fact("mmap_size_bytes", &ask(&connection, "mmap_size").unwrap_or_else(|_| "0".to_owned())),
        fact("wal_autocheckpoint_pages", &ask(&connection, "wal_autocheckpoint")?),
        fact("size_bytes", &size_bytes),
        fact("threadsafe", &threadsafe.unwrap_or("unknown")),
        fact("compile_options", &compiled.join(" ")),
    ])
}

fn number(connection: &Connection, pragma: &str) -> Result<i64, DbError> {
    Ok(ask(connection, pragma)?.parse().expect("this pragma answers with a number"))
}

fn synchronous(connection: &Connection) -> Result<&'static str, DbError> {
    Ok(match number(connection, "synchronous")? {
        0 => "off",
        1 => "normal",
        2 => "full",
        _ => "extra",
    })
}

fn compile_options(connection: &Connection) -> Result<Vec<String>, DbError> {
    let mut statement = connection.prepare("PRAGMA compile_options").map_err(db_error)?;
    let options = statement.query_map([], |row| row.get(0)).map_err(db_error)?;
    options.collect::<Result<Vec<String>, _>>().map_err(db_error)
}
