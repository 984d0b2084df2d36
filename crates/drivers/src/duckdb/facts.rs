//! Facts about a DuckDB database that a run records (version, file and settings in force), and its
//! counters: the sizes of its files.

use std::fs;

use model::{Counters, DbError, Fact, Monitoring, Reading, Row};

use super::db_errors::db_error;
use super::opening::Shared;
use super::session::read_all;
use crate::embedded::location::{FILE_SIZES, Location};
use crate::modes;

/// End of the name of the log's file, after that of the database.
pub(super) const LOG_SUFFIX: &str = ".wal";

pub(super) const MONITORING: Monitoring = Monitoring {
    counters: Some(Counters {
        ask: |_| Vec::new(),
        chosen: FILE_SIZES,
        reading: |_| (Reading::Total, "1/s"),
    }),
    ..Monitoring::NONE
};

/// Settings that every run records: those that decide speed, memory and checkpoints.
const SETTINGS: &str = "SELECT name, value FROM duckdb_settings() WHERE name IN ('threads', \
                        'memory_limit', 'checkpoint_threshold', 'preserve_insertion_order', \
                        'temp_directory') ORDER BY name";

/// Opens a further connection to the database and reads the facts that a run records about it.
pub(super) fn facts(shared: &Shared) -> Result<Vec<Fact>, DbError> {
    let fact = |name: &str, value: &dyn ToString| Fact::new("database", name, value.to_string());
    let version = shared.library.version();
    let mut facts = vec![
        fact("product", &"DuckDB"),
        fact("version", &version.trim_start_matches('v')),
        fact("path", &shared.location),
        fact("mode", &if shared.options.read_only { "ro" } else { "rw" }),
        // https://duckdb.org/docs/stable/connect/concurrency: a transaction reads a snapshot, and
        // one that changes what another has changed meanwhile is aborted.
        modes::isolation("snapshot"),
    ];
    if let Location::File(path) = &shared.location {
        facts.push(fact("size_bytes", &fs::metadata(path).map_or(0, |found| found.len())));
    }
    let mut prepared = shared.connect()?.prepare(SETTINGS).map_err(db_error)?;
    read_all(&mut prepared, &mut |row: &dyn Row| {
        facts.push(fact(row.text(0)?, &row.text(1).unwrap_or_default()));
        Ok(())
    })?;
    facts.extend((super::PRODUCT.administration.durability)(&facts));
    Ok(facts)
}
