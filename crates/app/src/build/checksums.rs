//! Computes checksums of a workload's tables, which tell whether two builds have the same rows.

use std::sync::Arc;

use engine::Stop;
use model::{ColumnType, Database, Workload, fnv1a};

use crate::admin_session::AdminSession;
use crate::check::describe_row;
use crate::error::Error;
use crate::interruptible::run_interruptible;
use crate::open::Opened;

/// Checksum of a table, independent of the order of its rows, the load method and the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksum {
    pub table: String,
    pub n_rows: u64,
    /// Wrapping sum, over all rows of the table, of a 64-bit hash of the row's values.
    pub sum: u64,
}

/// Reads all rows of a workload's tables, and returns a checksum per table.
pub fn checksums(database: &dyn Database, workload: &dyn Workload) -> Result<Vec<Checksum>, Error> {
    let mut session = AdminSession::at(database)?;
    let tables = workload.population().map(|population| population.tables());
    let mut sums = Vec::new();
    for table in tables.unwrap_or_default() {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        let mut checksum = Checksum { table: table.name.to_string(), n_rows: 0, sum: 0 };
        let columns: Vec<ColumnType> = table.columns.iter().map(|column| column.of).collect();
        let mut text = String::new();
        session.read(&format!("SELECT {} FROM {}", names.join(", "), table.name), &mut |row| {
            text.clear();
            describe_row(row, &columns, &mut text)?;
            checksum.n_rows += 1;
            checksum.sum = checksum.sum.wrapping_add(fnv1a(text.as_bytes()));
            Ok(())
        })?;
        sums.push(checksum);
    }
    Ok(sums)
}

/// Computes checksums as [`checksums`] does, but returns early with `Error::Interrupted` when a
/// stop is requested.
pub fn checksums_interruptible(opened: &Opened, stop: &Stop) -> Result<Vec<Checksum>, Error> {
    let (database, workload) = (Arc::clone(&opened.database), Arc::clone(&opened.workload));
    run_interruptible(stop, "interrupted while checksums were computed", move || {
        checksums(database.as_ref(), workload.as_ref())
    })
}
