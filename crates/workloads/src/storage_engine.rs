//! The parameter of every workload with tables: in what they are kept, where a database has a
//! choice.
//!
//! Not here: what each engine promises, and how its tables are made (drivers), and what that means
//! for builds, checks and disclosures (app).

use model::{Choice, Parameter, ParameterKind, choice};

/// In what tables are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StorageEngine {
    /// As dbdyno makes all tables there.
    Default,
    /// InnoDB.
    InnoDb,
    /// MyISAM.
    MyIsam,
    /// Aria.
    Aria,
    /// MyRocks.
    RocksDb,
    /// Tables of which nothing is written to the log.
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

/// The name of the parameter.
pub(crate) const NAME: &str = "engine";

/// The row in the table of each workload.
pub(crate) const PARAMETER: Parameter = Parameter {
    name: NAME,
    kind: ParameterKind::Choice(StorageEngine::NAMES),
    default: "default",
    help: "Storage engine of the tables, where the database has a choice (docs/reference/engines.md)",
    shapes_data: true,
};

impl StorageEngine {
    /// By which name a dialect has it; nothing where its own will do.
    pub(crate) fn asked(self) -> Option<&'static str> {
        (self != StorageEngine::Default).then(|| self.name())
    }

    /// Whether a failed transaction leaves what it has written: nothing is rolled back there.
    pub(crate) fn keeps_failed_rows(self) -> bool {
        matches!(self, StorageEngine::MyIsam | StorageEngine::Aria)
    }

    /// What is kept of it beside the data.
    pub(crate) fn scale(self) -> (&'static str, String) {
        (NAME, self.name().to_owned())
    }
}
