//! Helpers shared by the tests of several workloads. Not here: a database.

use model::{ColumnType, Dialect, Placeholder};

/// Dialect of no real database, in which tests print the statements of a workload.
pub(crate) const DIALECT: Dialect = Dialect {
    name: "made up",
    placeholder: Placeholder::Dollar,
    type_name: |column_type: ColumnType| format!("{column_type:?}"),
    ..Dialect::PLAIN
};
