//! How the MySQL family is spelled, and what it can do.

use model::{ColumnType, Decimals, Dialect, Partitioning, Placeholder, RoutineLanguage};

pub(super) static DIALECT: Dialect = Dialect {
    name: "mysql",
    placeholder: Placeholder::Question,
    decimals: Decimals::Exact,
    type_name,
    table_options: " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
    for_update: " FOR UPDATE",
    parallel_load: true,
    indexes_after_load: true,
    keeps_data: true,
    routines: Some(RoutineLanguage::Psm),
    partitioning: Some(Partitioning::Clause),
};

fn type_name(of: ColumnType) -> String {
    match of {
        ColumnType::SmallInt => "SMALLINT".to_owned(),
        ColumnType::Int => "INT".to_owned(),
        ColumnType::BigInt => "BIGINT".to_owned(),
        ColumnType::Decimal { precision, scale } => format!("DECIMAL({precision},{scale})"),
        ColumnType::Char(n) => format!("CHAR({n})"),
        ColumnType::VarChar(n) => format!("VARCHAR({n})"),
        ColumnType::Double => "DOUBLE".to_owned(),
        ColumnType::Timestamp => "DATETIME(6)".to_owned(),
    }
}
