//! The storage engine of the tables, a parameter of every workload that has tables.
//!
//! Not here: the guarantees of each engine and the SQL of its tables (drivers), and the
//! consequences for builds, checks and reports (app).

use model::{Choice, Parameter, ParameterKind, choice};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StorageEngine {
    /// The engine that dbdyno uses on the database if the user chooses none.
    Default,
    InnoDb,
    MyIsam,
    Aria,
    /// MyRocks, whose name in MariaDB and MySQL is `ROCKSDB`.
    RocksDb,
    /// Unlogged tables of PostgreSQL, which write nothing to the write-ahead log.
    Unlogged,
}

choice!(StorageEngine {
    Default = "default",
    InnoDb = "innodb",
    MyIsam = "myisam",
    Aria = "aria",
    RocksDb = "rocksdb",
    Unlogged = "unlogged",
});

/// Name of the workload parameter for the storage engine.
pub(crate) const NAME: &str = "engine";

/// Workload parameter for the storage engine, as every workload with tables declares it.
pub(crate) const PARAMETER: Parameter = Parameter {
    name: NAME,
    kind: ParameterKind::Choice(StorageEngine::NAMES),
    default: "default",
    help: "Storage engine of the tables, where the database has a choice (docs/reference/engines.md)",
    shapes_data: true,
};

impl StorageEngine {
    /// Returns the name of the storage engine that the user has chosen, such as `innodb`; `None`
    /// for the default engine.
    pub(crate) fn asked(self) -> Option<&'static str> {
        (self != StorageEngine::Default).then(|| self.name())
    }

    /// Whether a failed transaction leaves the rows that it has written, because the storage engine
    /// cannot roll back.
    pub(crate) fn keeps_failed_rows(self) -> bool {
        matches!(self, StorageEngine::MyIsam | StorageEngine::Aria)
    }

    /// Returns name and value of the storage engine parameter, to be stored with data that were
    /// built with it.
    pub(crate) fn scale(self) -> (&'static str, String) {
        (NAME, self.name().to_owned())
    }
}
