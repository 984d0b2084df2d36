//! Adds a primary key to tables of a workload that have none, if the server demands a primary key
//! of every table. The key is an auto-increment column that no statement names.
//!
//! Not here: the settings by which a server demands primary keys (drivers).

use std::borrow::Cow;

use model::{
    Column, ColumnType, Database, DbError, DbErrorKind, Population, Row, Table, Workload, numbers,
};

use crate::admin_session::AdminSession;

const NAME: &str = "dbdyno_key";

/// Returns true if the server demands a primary key of every table, and `population` has a table
/// without one.
pub(crate) fn is_needed(
    session: &mut AdminSession,
    database: &dyn Database,
    population: &dyn Population,
) -> Result<bool, DbError> {
    let Some(query) = database.administration().demands_keys else { return Ok(false) };
    if keyless(population).next().is_none() {
        return Ok(false);
    }
    let mut is_demanded = false;
    session.read(query, &mut |_: &dyn Row| {
        is_demanded = true;
        Ok(())
    })?;
    Ok(is_demanded)
}

/// Returns a copy of `table` with a primary key: an added auto-increment column, followed by the
/// partitioning column `split_by`, which every key must contain. A table with a primary key or an
/// auto-increment column is copied unchanged, since a table can have only one such column.
pub(crate) fn with_key(table: &Table, split_by: Option<&'static str>) -> Table {
    let mut table = table.clone();
    let has_counter = table.columns.iter().any(|column| column.of.is_serial());
    if table.primary_key.is_empty() && !has_counter {
        table.columns.push(Column { name: NAME, of: ColumnType::BigSerial, nullable: false });
        table.primary_key = [NAME].into_iter().chain(split_by).collect();
    }
    table
}

/// Returns a note, the only element of the list, that names the tables to which a build has added a
/// key. Empty if there are none, or if the database cannot be read.
pub(crate) fn notes(database: &dyn Database, workload: &dyn Workload) -> Vec<String> {
    let Some(population) = workload.population() else { return Vec::new() };
    let is_possible = database.administration().demands_keys.is_some();
    if !is_possible || keyless(population).next().is_none() {
        return Vec::new();
    }
    // Without the privilege to look, only the note is missing.
    let Ok(mut session) = AdminSession::at(database) else { return Vec::new() };
    let has_key = |table: &&Table| {
        let sql = format!("SELECT {NAME} FROM {} WHERE 1 = 0", table.name);
        match session.read(&sql, &mut |_| Ok(())) {
            Ok(_) => true,
            Err(db_error) => {
                debug_assert!(db_error.kind != DbErrorKind::Other, "{db_error}");
                false
            }
        }
    };
    let names: Vec<Cow<'static, str>> =
        keyless(population).filter(has_key).map(|table| table.name.clone()).collect();
    match names.as_slice() {
        [] => Vec::new(),
        [first, ..] => {
            let tables = match names.len() {
                1..=3 => names.join(", "),
                n => format!("{first} and {} more", numbers::count(n as u64 - 1, "table")),
            };
            vec![format!(
                "A key was added to {tables} (auto-increment column {NAME}), because the server \
                 demands a primary key of every table: inserts there do more work than in tables \
                 without a key."
            )]
        }
    }
}

fn keyless(population: &dyn Population) -> impl Iterator<Item = &Table> {
    population.tables().iter().filter(|table| table.primary_key.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_without_a_key_gets_one_that_fits_its_parts() {
        let column = |name, column_type| Column { name, of: column_type, nullable: false };
        let table = |columns: Vec<Column>, key: &[&'static str]| Table {
            name: "t".into(),
            columns,
            primary_key: key.to_vec(),
            indexes: Vec::new(),
        };
        let plain = table(vec![column("w", ColumnType::Int)], &[]);
        assert_eq!(with_key(&plain, None).primary_key, [NAME]);
        let parted = with_key(&plain, Some("w"));
        assert_eq!(parted.primary_key, [NAME, "w"]);
        assert_eq!(parted.columns.last(), Some(&column(NAME, ColumnType::BigSerial)));
        let keyed = table(vec![column("w", ColumnType::Int)], &["w"]);
        assert_eq!(with_key(&keyed, None), keyed);
        let counted = table(vec![column("id", ColumnType::Serial)], &[]);
        assert_eq!(with_key(&counted, None), counted);
    }
}
