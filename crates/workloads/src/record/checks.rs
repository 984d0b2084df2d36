//! Consistency checks of the tables of `record`; each is a query for violations.
//!
//! Not here: the comparison of the number of records with the commits (the workload's crosscheck).

use model::{Check, Table};

use super::parameters::Data;
use super::writer::ID_BITS;

pub(super) fn checks(data: &Data, tables: &[Table]) -> Vec<Check> {
    tables.iter().flat_map(|table| of_table(data, &table.name)).collect()
}

fn of_table(data: &Data, table: &str) -> Vec<Check> {
    let (payload, rows) = (data.payload(), data.rows);
    let numbers = match data.index.has_key() {
        // Rolled-back transactions leave gaps.
        true => Check {
            id: "numbers",
            title: format!("{table} has no more records than the last recordID").into(),
            sql: format!(
                "SELECT '{table}' AS table_name, COUNT(*) AS n_records, \
                 MAX(recordID) AS last_id FROM {table} \
                 HAVING COUNT(*) > COALESCE(MAX(recordID), 0)"
            ),
        },
        // A rejected record's number is given to the next one.
        false => Check {
            id: "numbers",
            title: format!(
                "each writer's records of {table} are numbered without gaps or duplicates"
            )
            .into(),
            sql: format!(
                "SELECT '{table}' AS table_name, COUNT(*) AS n_records, \
                 MIN(recordID) AS first_id, MAX(recordID) AS last_id FROM {table} \
                 GROUP BY recordID >> {ID_BITS} \
                 HAVING COUNT(*) <> MAX(recordID) - MIN(recordID) + 1"
            ),
        },
    };
    let size = Check {
        id: "size",
        title: format!("each record of {table} has the configured size").into(),
        sql: format!(
            "SELECT '{table}' AS table_name, COUNT(*) AS n_records FROM {table} \
             WHERE LENGTH(payload) <> {payload} HAVING COUNT(*) > 0"
        ),
    };
    let built = Check {
        id: "rows",
        title: format!("the records loaded by the build are in {table}").into(),
        sql: format!(
            "SELECT '{table}' AS table_name, COUNT(*) AS n_records FROM {table} \
             WHERE recordID BETWEEN 1 AND {rows} HAVING COUNT(*) <> {rows}"
        ),
    };
    [numbers, size].into_iter().chain((rows > 0).then_some(built)).collect()
}
