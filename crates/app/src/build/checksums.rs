//! Checksums of data: whether two builds have the same rows.

use std::sync::Arc;

use engine::Stop;
use model::{ColumnType, Database, Workload, fnv1a};

use crate::admin_session::AdminSession;
use crate::check::describe_row;
use crate::error::Error;
use crate::interruptible::run_interruptible;
use crate::open::Opened;

/// Checksum of a table: the sum over its rows of a hash of their values, independent of the order
/// of rows and the load method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksum {
    pub table: String,
    pub n_rows: u64,
    /// Sum of the rows' hashes.
    pub sum: u64,
}

/// Checksums of all tables of a workload.
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

/// [`checksums`], interrupted by a stop.
pub fn checksums_interruptible(opened: &Opened, stop: &Stop) -> Result<Vec<Checksum>, Error> {
    let (database, workload) = (Arc::clone(&opened.database), Arc::clone(&opened.workload));
    run_interruptible(stop, "interrupted while checksums were computed", move || {
        checksums(database.as_ref(), workload.as_ref())
    })
}
