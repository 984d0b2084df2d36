//! Storage engines, for databases in which users can choose one for their tables.
//!
//! Not here: which engines a server currently offers (administration).

/// A storage engine that users can choose for their tables, described by a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageEngine {
    /// Name by which users choose the engine, such as `innodb`.
    pub name: &'static str,
    /// Text that chooses the engine between CREATE and TABLE, with a blank at its end, such as
    /// `UNLOGGED `; empty if none is needed.
    pub before_table: &'static str,
    /// Text that chooses the engine after the closing bracket of CREATE TABLE, with a blank at its
    /// start, such as ` ENGINE=InnoDB`; empty if none is needed.
    pub behind_table: &'static str,
    /// Whether the engine has transactions: several statements are committed or rolled back as one.
    pub is_transactional: bool,
    /// Whether a crash of the server empties the tables of this engine.
    pub is_emptied_by_crash: bool,
    /// Loss of committed rows that is possible in this engine whatever the settings, in words;
    /// `None` if it depends only on settings.
    pub loss: Option<&'static str>,
    /// Plugin that the server must load to have this engine; `None` if the engine is built in.
    pub plugin: Option<&'static str>,
}

impl StorageEngine {
    /// Creates a transactional engine that is chosen by a clause at the end of CREATE TABLE, such
    /// as ` ENGINE=InnoDB`.
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

    /// Whether a crash or error never separates the rows in this engine from the marks, kept in
    /// another table, that tell which parts of a build are done. If it may, an interrupted build
    /// begins again with empty tables.
    pub const fn keeps_marks(&self) -> bool {
        self.is_transactional && !self.is_emptied_by_crash
    }
}
