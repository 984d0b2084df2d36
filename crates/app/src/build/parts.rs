//! Builds in parts: tables without rows, and rows into tables that somebody else has created.
//!
//! Not here: the tables and rows themselves (build).

use model::{DbError, Population};

use super::unmarked;
use crate::admin_session::AdminSession;
use crate::error::Error;
use crate::meta;
use crate::open::Opened;

/// Part of the data that a build makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BuildPart {
    /// Tables, rows, indexes and statistics.
    #[default]
    All,
    /// Tables with their primary keys, without rows. A later build goes on from there.
    Tables,
    /// Rows, and statistics of the planner, for tables that exist and are empty. Indexes are those
    /// that the tables have.
    Rows,
}

/// Fails if one of the workload's tables, which dbdyno did not build, has rows.
pub(super) fn are_empty(session: &mut AdminSession, opened: &Opened) -> Result<(), Error> {
    for table in unmarked(session, opened)? {
        if session.number(&format!("SELECT 1 FROM {table} LIMIT 1"))?.is_some() {
            return Err(Error::Failed(format!(
                "the table {table} has rows already: --data-only fills empty tables only"
            )));
        }
    }
    Ok(())
}

/// Marks all indexes as built, so that neither this build nor one that resumes it creates any.
pub(super) fn leave_indexes(
    session: &mut AdminSession,
    population: &dyn Population,
) -> Result<(), DbError> {
    for table in population.tables() {
        for number in 0..table.indexes.len() as u64 {
            let mark = meta::done_name(&format!("{}.index", table.name), number);
            if !meta::is_done(session, &mark)? {
                meta::mark(session, &mark, "index")?;
            }
        }
    }
    Ok(())
}
