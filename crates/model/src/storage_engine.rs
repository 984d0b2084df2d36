//! In what tables may be kept, where a database has a choice.
//!
//! Not here: which engines a server has at the moment (administration).

/// A kind of tables, filled by a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageEngine {
    /// As it is asked for, such as `innodb`.
    pub name: &'static str,
    /// What stands between CREATE and TABLE, with a blank behind.
    pub before_table: &'static str,
    /// What stands behind the closing bracket of CREATE TABLE, with a blank before.
    pub behind_table: &'static str,
    /// Several statements are committed, or taken back, as one.
    pub is_transactional: bool,
    /// A crash of the server empties its tables, though those of other engines stay.
    pub is_emptied_by_crash: bool,
    /// What becomes of committed rows whatever the settings are, in words; none of an engine of
    /// which the settings alone decide it.
    pub loss: Option<&'static str>,
    /// The plugin that has it, where a server must load one first.
    pub plugin: Option<&'static str>,
}

impl StorageEngine {
    /// Tables as a clause behind them makes them, with transactions.
    pub const fn with_clause(name: &'static str, behind_table: &'static str) -> StorageEngine {
        StorageEngine {
            name,
            before_table: "",
            behind_table,
            is_transactional: true,
            is_emptied_by_crash: false,
            loss: None,
            plugin: None,
        }
    }

    /// Whether rows, and what a table of the database's own engine notes of them, are kept or lost
    /// together: else what an interrupted build has left cannot be reported.
    pub const fn keeps_marks(&self) -> bool {
        self.is_transactional && !self.is_emptied_by_crash
    }
}
