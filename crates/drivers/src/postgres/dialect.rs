//! How PostgreSQL is spelled, and what it can do.

use model::{
    ColumnType, CommitCounter, ConnectionCounter, Dialect, Partitioning, Placeholder,
    RoutineLanguage, Table,
};

pub(super) static DIALECT: Dialect = Dialect {
    name: "postgres",
    placeholder: Placeholder::Dollar,
    type_name,
    after_load,
    for_update: " FOR UPDATE",
    parallel_load: true,
    indexes_after_load: true,
    // A chunk and its mark are lost together, and the end of the build is flushed with all
    // that comes before it.
    before_load: &["SET synchronous_commit = off"],
    tables_in_transactions: true,
    // The transaction stays open: a pooler that hands out connections by transaction would give
    // a session's lock to somebody else. It holds no snapshot between its statements.
    alone: &[
        "BEGIN ISOLATION LEVEL READ COMMITTED",
        "SELECT pg_try_advisory_xact_lock(hashtext('dbdyno'))::int",
    ],
    commit_counter: Some(CommitCounter {
        name: "xact_commit",
        sql: "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()",
        counts_single_statements: true,
    }),
    // Whose sessions are not ours to look into has no backend_type.
    connection_counter: Some(ConnectionCounter {
        name: "pg_stat_activity",
        sql: "SELECT count(*) FROM pg_stat_activity WHERE datname IS NOT NULL \
              AND coalesce(backend_type, 'client backend') = 'client backend'",
    }),
    routines: Some(RoutineLanguage::PlPgSql),
    list_routines: "SELECT proname::text, prosrc FROM pg_proc \
                    WHERE pronamespace = current_schema()::regnamespace AND proname LIKE 'dbdyno%'",
    partitioning: Some(Partitioning::Tables),
    ..Dialect::PLAIN
};

fn type_name(of: ColumnType) -> String {
    match of {
        ColumnType::Decimal { precision, scale } => format!("NUMERIC({precision},{scale})"),
        ColumnType::Timestamp => "TIMESTAMPTZ".to_owned(),
        // Of `CHAR(n)` what is shorter comes back padded with blanks, as the server keeps it.
        of => of.standard_name(),
    }
}

/// Rows that are loaded with their own numbers leave the sequence where it was. Without the VACUUM
/// the first readers would write the rows' hint bits, and autovacuum would come in mid-run.
fn after_load(table: &Table) -> Vec<String> {
    let name = &table.name;
    let serial = table.columns.iter().find(|column| column.of == ColumnType::Serial);
    let moved = serial.map(|column| {
        let column = column.name;
        format!(
            "SELECT setval(pg_get_serial_sequence('{name}', '{column}'), \
             COALESCE((SELECT MAX({column}) FROM {name}), 0) + 1, false)"
        )
    });
    moved.into_iter().chain([format!("VACUUM ANALYZE {name}")]).collect()
}
