//! The storage engine of the tables, a parameter of every workload with tables.
//!
//! Not here: the guarantees of each engine and the SQL of its tables (drivers), and the
//! consequences for builds, checks and disclosures (app).

use model::{Choice, Parameter, ParameterKind, choice};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StorageEngine {
    /// Engine that dbdyno uses on the database if the user requests none.
    Default,
    InnoDb,
    MyIsam,
    Aria,
    /// Engine of MyRocks: `ROCKSDB`.
    RocksDb,
    /// PostgreSQL tables that write nothing to the WAL.
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

/// Name of the storage engine parameter.
pub(crate) const NAME: &str = "engine";

/// The storage engine parameter, as every workload with tables declares it.
pub(crate) const PARAMETER: Parameter = Parameter {
    name: NAME,
    kind: ParameterKind::Choice(StorageEngine::NAMES),
    default: "default",
    help: "Storage engine of the tables, where the database has a choice (docs/reference/engines.md)",
    shapes_data: true,
};

impl StorageEngine {
    /// Returns the engine's name in the dialect of the database; `None` for the default engine.
    pub(crate) fn asked(self) -> Option<&'static str> {
        (self != StorageEngine::Default).then(|| self.name())
    }

    /// Whether a failed transaction leaves what it has written, because the engine cannot roll
    /// back.
    pub(crate) fn keeps_failed_rows(self) -> bool {
        matches!(self, StorageEngine::MyIsam | StorageEngine::Aria)
    }

    /// Returns name and value of the storage engine parameter, as they are stored with the data
    /// that were built with it.
    pub(crate) fn scale(self) -> (&'static str, String) {
        (NAME, self.name().to_owned())
    }
}
