//! The SQL dialect of DuckDB.

use model::{BeginSql, ColumnType, Dialect, Serial};

pub(super) const BEGIN: BeginSql = BeginSql {
    writes: "BEGIN TRANSACTION",
    reads: "BEGIN TRANSACTION READ ONLY",
    plain: "BEGIN TRANSACTION",
};

pub(super) const DIALECT: Dialect = Dialect {
    name: "duckdb",
    type_name,
    serial: Serial::Sequence,
    // A date and an interval are a timestamp.
    later: |date, n, unit| format!("CAST({date} + INTERVAL '{n}' {} AS DATE)", unit.name()),
    ..Dialect::PLAIN
};

fn type_name(column_type: ColumnType) -> String {
    match column_type {
        ColumnType::Serial => "INTEGER".to_owned(),
        ColumnType::BigSerial => "BIGINT".to_owned(),
        other => other.standard_name(),
    }
}
