//! Consistency checks of the tables of `oltp` workloads. They only count rows, since anything else
//! is expensive with 100 million rows.
//!
//! Not here: when the checks run (app).

use model::Check;

use super::parameters::Data;

/// Maximum number of tables whose rows one statement counts; for more tables there are several
/// checks.
const TABLES_AT_ONCE: usize = 100;

/// Returns the checks of the row counts in the tables of an `oltp` workload. With `loses_rows`, a
/// table may have fewer rows than were built, because the load may delete some.
pub(super) fn checks(data: &Data, loses_rows: bool) -> Vec<Check> {
    let numbers: Vec<usize> = (1..=data.tables).collect();
    let (bad, title) = match loses_rows {
        false => ("<>", "each table has as many rows with ids from 1 to table_size"),
        true => (">", "no table has more rows with ids from 1 to table_size than these"),
    };
    let check = |numbers: &[usize]| Check {
        id: "rows",
        title: title.into(),
        sql: count(data, numbers, bad),
    };
    numbers.chunks(TABLES_AT_ONCE).map(check).collect()
}

fn count(data: &Data, numbers: &[usize], bad: &str) -> String {
    let size = data.table_size;
    let select = |number: &usize| {
        format!(
            "SELECT 'sbtest{number}' AS table_name, COUNT(*) AS n_rows FROM sbtest{number} \
             WHERE id BETWEEN 1 AND {size}"
        )
    };
    let all = numbers.iter().map(select).collect::<Vec<String>>().join(" UNION ALL ");
    format!("SELECT table_name, n_rows FROM ({all}) t WHERE n_rows {bad} {size}")
}
