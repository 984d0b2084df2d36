//! How PostgreSQL is spelled, and what it can do.

use model::{ColumnType, CommitCounter, Decimals, Dialect, Placeholder};

pub(super) static DIALECT: Dialect = Dialect {
    name: "postgres",
    placeholder: Placeholder::Dollar,
    decimals: Decimals::Exact,
    type_name,
    table_options: "",
    for_update: " FOR UPDATE",
    parallel_load: true,
    indexes_after_load: true,
    // A chunk and its mark are lost together, and the end of the build is flushed with all
    // that comes before it.
    before_load: &["SET synchronous_commit = off"],
    after_load: Some("VACUUM ANALYZE {table}"),
    commit_counter: Some(CommitCounter {
        name: "xact_commit",
        sql: "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()",
        counts_single_statements: true,
    }),
    keeps_data: true,
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
