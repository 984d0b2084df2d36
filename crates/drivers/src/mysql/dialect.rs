//! How the MySQL family is spelled, and what it can do.

use model::{
    ColumnType, CommitCounter, ConnectionCounter, Dialect, Partitioning, RoutineLanguage, Serial,
};

pub(super) static DIALECT: Dialect = Dialect {
    name: "mysql",
    type_name,
    serial: Serial::Indexed,
    after_load: |table| vec![format!("ANALYZE TABLE {}", table.name)],
    table_options: " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
    for_update: " FOR UPDATE",
    parallel_load: true,
    indexes_after_load: true,
    // A lock's name is the server's, not the database's, and has at most 64 letters.
    alone: &["SELECT GET_LOCK(CONCAT('dbdyno ', SHA1(DATABASE())), 0)"],
    commit_counter: Some(CommitCounter {
        name: "Com_commit",
        sql: "SHOW GLOBAL STATUS LIKE 'Com_commit'",
        counts_single_statements: false,
    }),
    connection_counter: Some(ConnectionCounter {
        name: "Threads_connected",
        sql: "SHOW GLOBAL STATUS LIKE 'Threads_connected'",
    }),
    routines: Some(RoutineLanguage::Psm),
    list_routines: "SELECT ROUTINE_NAME, ROUTINE_COMMENT FROM information_schema.ROUTINES \
                    WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_NAME LIKE 'dbdyno%'",
    partitioning: Some(Partitioning::Clause),
    ..Dialect::PLAIN
};

fn type_name(of: ColumnType) -> String {
    match of {
        ColumnType::Int => "INT".to_owned(),
        ColumnType::Serial => "INT AUTO_INCREMENT".to_owned(),
        ColumnType::Double => "DOUBLE".to_owned(),
        ColumnType::Timestamp => "DATETIME(6)".to_owned(),
        of => of.standard_name(),
    }
}
