//! Storage engines, for databases that have a choice.
//!
//! Not here: the engines that a server currently has (administration).

/// A storage engine for tables, described by a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageEngine {
    /// Name with which users choose it, such as `innodb`.
    pub name: &'static str,
    /// Text between CREATE and TABLE, with a blank at its end.
    pub before_table: &'static str,
    /// Text after the closing bracket of CREATE TABLE, with a blank at its start.
    pub behind_table: &'static str,
    /// Several statements are committed or rolled back as one.
    pub is_transactional: bool,
    /// A crash of the server empties its tables, though not those of other engines.
    pub is_emptied_by_crash: bool,
    /// Risk for committed rows whatever the settings are, in words; `None` if it depends on
    /// settings only.
    pub loss: Option<&'static str>,
    /// Plugin that contains it, if the server must load one first.
    pub plugin: Option<&'static str>,
}

impl StorageEngine {
    /// Makes a transactional engine, chosen by a clause after CREATE TABLE.
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

    /// Whether its rows and marks in a table of the default engine persist or vanish together.
    /// Otherwise the state of an interrupted build is unknown.
    pub const fn keeps_marks(&self) -> bool {
        self.is_transactional && !self.is_emptied_by_crash
    }
}
