//! Names that sysbench gives to its two drivers, by which scripts choose their SQL.

/// Name of the driver whose statements have `?` as placeholders.
pub(super) const WITH_QUESTION_MARKS: &str = "mysql";

/// Name of the driver whose statements have `$1` as placeholders.
pub(super) const WITH_DOLLARS: &str = "pgsql";
