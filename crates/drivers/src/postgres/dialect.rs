//! How PostgreSQL is spelled, and what it can do.

use model::{ColumnType, Decimals, Dialect, Partitioning, Placeholder, RoutineLanguage};

pub(super) static DIALECT: Dialect = Dialect {
    name: "postgres",
    placeholder: Placeholder::Dollar,
    decimals: Decimals::Exact,
    type_name,
    table_options: "",
    for_update: " FOR UPDATE",
    parallel_load: true,
    indexes_after_load: true,
    keeps_data: true,
    routines: Some(RoutineLanguage::PlPgSql),
    partitioning: Some(Partitioning::Tables),
};

fn type_name(of: ColumnType) -> String {
    match of {
        ColumnType::SmallInt => "SMALLINT".to_owned(),
        ColumnType::Int => "INTEGER".to_owned(),
        ColumnType::BigInt => "BIGINT".to_owned(),
        ColumnType::Decimal { precision, scale } => format!("NUMERIC({precision},{scale})"),
        // What is shorter comes back padded with blanks, as the server keeps it.
        ColumnType::Char(n) => format!("CHAR({n})"),
        ColumnType::VarChar(n) => format!("VARCHAR({n})"),
        ColumnType::Double => "DOUBLE PRECISION".to_owned(),
        ColumnType::Timestamp => "TIMESTAMPTZ".to_owned(),
    }
}
