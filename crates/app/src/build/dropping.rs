//! Drops the data of a workload: its tables, its routines and its entries in `dbdyno_meta`.

use engine::Stop;
use model::{Database, DbError, DbErrorKind, Population};

use super::creating::begin_many;
use crate::admin_session::AdminSession;
use crate::build_lock::{A_MOMENT, HeldLock};
use crate::error::Error;
use crate::interruptible::run_interruptible;
use crate::meta::{self, Found};
use crate::open::{Data, Opened};
use crate::routines;
use crate::table_list::TableList;

/// Returns the names of those tables of the workload that exist in the database, whether dbdyno
/// built them or not.
pub(super) fn unmarked(
    session: &mut AdminSession,
    opened: &Opened,
) -> Result<Vec<String>, DbError> {
    let tables = opened.workload.population().map(|population| population.tables());
    let tables = tables.unwrap_or_default();
    let list = TableList::read(session, opened.database.administration(), tables.len())?;
    let mut there = Vec::new();
    for table in tables {
        if list.has(session, &table.name)? {
            there.push(table.name.to_string());
        }
    }
    Ok(there)
}

/// Returns the tables that have the names of the workload's tables but were not built by dbdyno,
/// with their numbers of rows. Empty if dbdyno built the tables, or none exists.
pub fn unmarked_tables(opened: &Opened, stop: &Stop) -> Result<Vec<(String, u64)>, Error> {
    if opened.data != Data::Unmarked {
        return Ok(Vec::new());
    }
    let opened = opened.clone();
    run_interruptible(stop, "interrupted while rows were counted; nothing was dropped", move || {
        let mut session = AdminSession::at(opened.database.as_ref())?;
        let mut counted = Vec::new();
        for table in unmarked(&mut session, &opened)? {
            let n_rows = session.number(&format!("SELECT count(*) FROM {table}"))?;
            counted.push((table, n_rows.map_or(0, |n_rows| n_rows.unsigned_abs())));
        }
        Ok(counted)
    })
}

/// Drops a workload's tables and routines, and their entries in `dbdyno_meta`. Returns the names of
/// the dropped tables. Drops tables that dbdyno did not build only with `force`; fails without it.
pub fn drop_data(opened: &Opened, force: bool) -> Result<Vec<String>, Error> {
    let mut lock = HeldLock::of_build(opened.database.as_ref(), A_MOMENT, &|| false)?;
    let (mut session, _) = lock.session_beside(opened.database.as_ref())?;
    let workload = opened.workload.identity().workload;
    let found = meta::read(&mut session, &workload)?;
    if found == Found::Nothing && !force {
        let there = unmarked(&mut session, opened)?;
        if !there.is_empty() {
            return Err(Error::Failed(format!(
                "dbdyno did not build the existing tables ({}; no dbdyno_meta), so it does not \
                 drop them",
                there.join(", ")
            )));
        }
    }
    if found != Found::Nothing {
        // If dropping is interrupted, the remaining data are known to be incomplete.
        meta::undo_complete(&mut session, &workload)?;
    }
    let population = opened.workload.population();
    let dropped = population
        .map(|population| drop_tables(&mut session, opened.database.as_ref(), population));
    let dropped = dropped.transpose()?.unwrap_or_default();
    routines::drop_all(&mut session, opened)?;
    if found != Found::Nothing {
        let tables = population.map(|population| population.tables());
        meta::forget(&mut session, &workload, tables.unwrap_or_default())?;
    }
    Ok(dropped)
}

/// Drops those tables of `population` that exist, and returns their names.
pub(super) fn drop_tables(
    session: &mut AdminSession,
    database: &dyn Database,
    population: &dyn Population,
) -> Result<Vec<String>, DbError> {
    let dialect = database.dialect();
    begin_many(session, database.administration(), population.tables().len())?;
    let mut dropped = Vec::new();
    for table in population.tables() {
        match session.write(&dialect.drop_table(table)) {
            Ok(_) => dropped.push(table.name.to_string()),
            Err(db_error) if db_error.kind == DbErrorKind::Missing => {}
            Err(db_error) => return Err(db_error),
        }
    }
    Ok(dropped)
}
