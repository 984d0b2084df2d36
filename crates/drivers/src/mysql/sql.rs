//! The SQL dialect of MySQL and MariaDB.

use model::{
    BeginSql, ColumnType, Dialect, Partitioning, RoutineLanguage, RowLock, Serial, StorageEngine,
};

const INNODB: StorageEngine = StorageEngine::with_clause("innodb", " ENGINE=InnoDB");
const MYISAM: StorageEngine = StorageEngine {
    is_transactional: false,
    loss: Some("a crash may damage the tables, and a loss of power lose the last rows"),
    ..StorageEngine::with_clause("myisam", " ENGINE=MyISAM")
};
/// Storage engine Aria of MariaDB, which is crash-safe but has no transactions: a rollback does not
/// undo changes.
const ARIA: StorageEngine = StorageEngine {
    is_transactional: false,
    loss: Some("a loss of power may lose the last rows"),
    ..StorageEngine::with_clause("aria", " ENGINE=Aria")
};
/// Storage engine MyRocks, a plugin that not every server has.
const ROCKSDB: StorageEngine = StorageEngine {
    plugin: Some("ha_rocksdb"),
    ..StorageEngine::with_clause("rocksdb", " ENGINE=ROCKSDB")
};

pub(super) const BEGIN: BeginSql =
    BeginSql { writes: "START TRANSACTION", reads: "START TRANSACTION READ ONLY", plain: "BEGIN" };

pub(super) const DIALECT: Dialect = Dialect {
    name: "mysql",
    type_name,
    serial: Serial::Indexed,
    storage_engines: &[INNODB, MYISAM, ARIA, ROCKSDB],
    storage_engine: Some(INNODB),
    drops_index_on_table: true,
    table_options: " DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
    row_lock: RowLock::Clause(" FOR UPDATE"),
    later: |date, n, unit| format!("({date} + INTERVAL {n} {})", unit.name()),
    routines: Some(RoutineLanguage::Psm),
    partitioning: Some(Partitioning::Clause),
    ..Dialect::PLAIN
};

fn type_name(column_type: ColumnType) -> String {
    match column_type {
        ColumnType::Int => "INT".to_owned(),
        ColumnType::Serial => "INT AUTO_INCREMENT".to_owned(),
        ColumnType::BigSerial => "BIGINT AUTO_INCREMENT".to_owned(),
        ColumnType::Double => "DOUBLE".to_owned(),
        ColumnType::Timestamp => "DATETIME(6)".to_owned(),
        other => other.standard_name(),
    }
}
