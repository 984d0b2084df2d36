//! The size of data that another program built, as values of a workload's parameters: numbered
//! tables and the rows in them.
//!
//! Not here: data of dbdyno, which say their size themselves (meta).

use model::{Database, ScaleInData, ScaleOf, Settings, Target, Workload};

use crate::admin_session::AdminSession;
use crate::error::Error;
use crate::storage_engine;
use crate::table_list::{MANY, TableList};

/// Reads the size of data that another program built, by counting rows and tables. Returns it as
/// values of the workload's parameters.
pub(crate) fn scale_found(
    session: &mut AdminSession,
    database: &dyn Database,
    workload: &dyn Workload,
) -> Result<Vec<(String, String)>, Error> {
    let mut found = Vec::new();
    for ScaleInData { parameter, of: source } in workload.scale_in_data() {
        let value = match source {
            ScaleOf::StorageEngine(table) => {
                let engine = storage_engine::of_table(session, database, table)?;
                found.extend(engine.map(|name| ((*parameter).to_owned(), name.to_owned())));
                continue;
            }
            ScaleOf::Rows(table) if session.has_table(table)? => {
                session.number(&format!("SELECT count(*) FROM {table}"))?
            }
            ScaleOf::Rows(_) => None,
            ScaleOf::Tables(stem) => Some(numbered(session, database, stem)?.len() as i64),
            ScaleOf::LastNumber(stem, column) => {
                let tables = numbered(session, database, stem)?;
                let all = last_numbers(session, tables, column)?.into_iter();
                all.fold(None, |least, (_, last)| match least {
                    None => last,
                    Some(least) => Some(last?.min(least)),
                })
            }
        };
        if let Some(value) = value.filter(|value| *value > 0) {
            found.push(((*parameter).to_owned(), value.to_string()));
        }
    }
    Ok(found)
}

/// Returns each table with the largest number in `column`; `None` for an empty one.
pub(crate) fn last_numbers(
    session: &mut AdminSession,
    tables: impl IntoIterator<Item = String>,
    column: &str,
) -> Result<Vec<(String, Option<i64>)>, Error> {
    let mut all = Vec::new();
    for table in tables {
        let last = session.number(&format!("SELECT max({column}) FROM {table}"))?;
        all.push((table, last));
    }
    Ok(all)
}

/// Number of table numbers after the first missing one that are checked too, in case the user
/// dropped some of the numbered tables.
const GAP_MAX: usize = 32;

/// Fails if a number is missing among numbered tables (such as `t1`, `t2`, `t4`), because dbdyno
/// would build the missing one among tables of another program. Tables beyond the number that the
/// user requested in `settings` do not matter.
pub(crate) fn has_no_gap(
    session: &mut AdminSession,
    database: &dyn Database,
    workload: &dyn Workload,
    settings: &Settings,
    target: &Target,
) -> Result<(), Error> {
    for ScaleInData { parameter, of: source } in workload.scale_in_data() {
        let ScaleOf::Tables(stem) = source else { continue };
        let n = numbered(session, database, stem)?.len();
        if settings.is_given(parameter) && settings.count(parameter) <= n as u64 {
            continue;
        }
        for number in n + 2..=n + 1 + GAP_MAX {
            let name = format!("{stem}{number}");
            if session.has_table(&name)? {
                return Err(Error::Failed(format!(
                    "{target} has the table {name}, but not {stem}{}: tables are used from 1 on \
                     without a gap; name another database, or give them these names",
                    n + 1
                )));
            }
        }
    }
    Ok(())
}

/// Largest number of numbered tables, such as `sbtest1`, that are looked for; further ones are
/// ignored.
const TABLES_MAX: usize = 100_000;

/// Returns the existing tables that are named `stem` and a number, from 1 up to the first missing
/// one.
pub(crate) fn numbered(
    session: &mut AdminSession,
    database: &dyn Database,
    stem: &str,
) -> Result<Vec<String>, Error> {
    let mut tables = Vec::new();
    let mut list = TableList::read(session, database.administration(), 0)?;
    while tables.len() < TABLES_MAX {
        if tables.len() == MANY {
            list = TableList::read(session, database.administration(), TABLES_MAX)?;
        }
        let next = format!("{stem}{}", tables.len() + 1);
        if !list.has(session, &next)? {
            break;
        }
        tables.push(next);
    }
    Ok(tables)
}
