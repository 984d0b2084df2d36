//! Names that scripts see: those that sysbench gives to its two drivers, by which scripts choose
//! their SQL, and those of the parts of their environment.

/// Name of the driver whose statements have `?` as placeholders.
pub(super) const WITH_QUESTION_MARKS: &str = "mysql";

/// Name of the driver whose statements have `$1` as placeholders.
pub(super) const WITH_DOLLARS: &str = "pgsql";

/// Hooks for reports of some seconds, and of the whole run.
pub(super) const INTERMEDIATE: &str = "report_intermediate";
pub(super) const CUMULATIVE: &str = "report_cumulative";

/// Functions that are called once in a run, before and after its load.
pub(super) const INIT: &str = "init";
pub(super) const DONE: &str = "done";

/// Names of the parts of the environment of scripts, as messages have them.
pub(super) const PRELUDE_NAMES: [&str; 4] =
    ["sysbench", "sysbench.sql", "sysbench.report", "sysbench.old"];
