//! What tests of several workloads share. Not here: a database.

use model::{ColumnType, Dialect, Placeholder};

/// A dialect that no database speaks: its statements show what a workload asks for.
pub(crate) const DIALECT: Dialect = Dialect {
    name: "made up",
    placeholder: Placeholder::Dollar,
    type_name: |of: ColumnType| format!("{of:?}"),
    ..Dialect::PLAIN
};
