//! The SQL dialect of PostgreSQL, and its storage options of tables.

use model::{
    BeginSql, ColumnType, Dialect, Partitioning, Placeholder, RoutineLanguage, RowLock,
    StorageEngine,
};

/// Storage option UNLOGGED of tables: their changes are not written to the write-ahead log.
const UNLOGGED: StorageEngine = StorageEngine {
    before_table: "UNLOGGED ",
    is_emptied_by_crash: true,
    loss: Some("a crash of the server empties the tables"),
    ..StorageEngine::with_clause("unlogged", "")
};

pub(super) const BEGIN: BeginSql =
    BeginSql { writes: "BEGIN", reads: "BEGIN READ ONLY", plain: "BEGIN" };

pub(super) const DIALECT: Dialect = Dialect {
    name: "postgres",
    placeholder: Placeholder::Dollar,
    type_name,
    storage_engines: &[UNLOGGED],
    row_lock: RowLock::Clause(" FOR UPDATE"),
    infers_types: true,
    year_of: |date| format!("CAST(EXTRACT(YEAR FROM {date}) AS INTEGER)"),
    // A date and an interval are a timestamp.
    later: |date, n, unit| format!("CAST({date} + INTERVAL '{n}' {} AS DATE)", unit.name()),
    routines: Some(RoutineLanguage::PlPgSql),
    partitioning: Some(Partitioning::Tables),
    ..Dialect::PLAIN
};

fn type_name(column_type: ColumnType) -> String {
    match column_type {
        ColumnType::Decimal { precision, scale } => format!("NUMERIC({precision},{scale})"),
        ColumnType::Timestamp => "TIMESTAMPTZ".to_owned(),
        // Shorter values of `CHAR(n)` are returned padded with blanks.
        other => other.standard_name(),
    }
}
