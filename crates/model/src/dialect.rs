//! What a database can do and how it is spelled: capabilities, not a list of products.

use crate::{Column, ColumnType, Counters, Index, Refusal, SettingsBySql, Table};

/// How a statement's values are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// `?`
    Question,
    /// `$1`
    Dollar,
}

/// How exact decimals are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decimals {
    /// The database has a decimal type.
    Exact,
    /// It has none: they are integers of the smallest unit (cents, ten-thousandths).
    ScaledInteger,
}

/// Where a column may stand that the database counts up by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serial {
    /// Anywhere.
    Anywhere,
    /// As the first column of a key or index that is made with the table.
    Indexed,
    /// As the sole column of the primary key; elsewhere it is a whole number like any other.
    SoleKey,
}

/// A server's own count of the commits of all its sessions, since it was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitCounter {
    /// Its name there, such as `Com_commit`.
    pub name: &'static str,
    /// The query that asks for it; its last column is the count.
    pub sql: &'static str,
    /// It counts statements outside of any transaction too; otherwise only COMMITs.
    pub counts_single_statements: bool,
}

/// A server's own count of the connections that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionCounter {
    /// Its name there, such as `Threads_connected`.
    pub name: &'static str,
    /// The query that asks for it; its last column is the count, the one that asks included.
    pub sql: &'static str,
}

/// In which language routines are written that live in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoutineLanguage {
    /// SQL/PSM as the MySQL family speaks it: procedures that begin and end their transaction
    /// and return result sets.
    Psm,
    /// PL/pgSQL: functions that return rows; a call outside of a transaction is one.
    PlPgSql,
}

/// How a table is split by the hash of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partitioning {
    /// A clause behind CREATE TABLE makes all partitions.
    Clause,
    /// Each partition is a table that is made by a statement of its own.
    Tables,
}

/// The capabilities of a database, filled by its driver.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// Its name, such as `sqlite`.
    pub name: &'static str,
    /// How values are marked.
    pub placeholder: Placeholder,
    /// How decimals are kept.
    pub decimals: Decimals,
    /// The type's name in CREATE TABLE.
    pub type_name: fn(ColumnType) -> String,
    /// Where a column may stand that it counts up by itself.
    pub serial: Serial,
    /// What is to be said, in order, when a table has been loaded and indexed: moves its counter
    /// behind the rows, and lets the planner know them.
    pub after_load: fn(&Table) -> Vec<String>,
    /// What stands behind the closing bracket of CREATE TABLE.
    pub table_options: &'static str,
    /// The clause that locks the rows of a SELECT, with a leading blank; empty where a writing
    /// transaction excludes others anyway.
    pub for_update: &'static str,
    /// Several sessions can load at once.
    pub parallel_load: bool,
    /// Secondary indexes are faster built after the data.
    pub indexes_after_load: bool,
    /// What a session says before it loads: it makes loads faster, and nothing is lost by it that
    /// a build cannot do again.
    pub before_load: &'static [&'static str],
    /// Tables and indexes are made within a transaction as rows are: all of it, or nothing.
    pub tables_in_transactions: bool,
    /// What a session says, in order, to be the only one that changes what stands in this database
    /// until it ends; the last is a query whose number is 1, or 0 while it is another. Empty where
    /// that cannot be had.
    pub alone: &'static [&'static str],
    /// What a session says at one of several hosts so that it sees all that was committed at the
    /// others before. A server that does not know it needs it not.
    pub sees_other_hosts: Option<&'static str>,
    /// How the server itself counts commits, where it does.
    pub commit_counter: Option<CommitCounter>,
    /// The query for how many whole seconds ago the server was started: the last column of its
    /// row. None where nobody tells.
    pub started_ago: Option<&'static str>,
    /// Whether a server that lets nobody in says by this that it starts or recovers, and will.
    pub is_recovering: fn(&Refusal) -> bool,
    /// How the server itself counts its connections, where it does.
    pub connection_counter: Option<ConnectionCounter>,
    /// Its server has a thread for each session, all in one process; others have a process each, or
    /// none. Clients that never pause are best placed by this (docs/placement.md).
    pub thread_per_session: bool,
    /// It keeps what is written: tables can be built, checked and counted in it.
    pub keeps_data: bool,
    /// In which language its routines are written; none where it has no routines.
    pub routines: Option<RoutineLanguage>,
    /// The query for the names of this database's routines, each with a text that has its
    /// [mark](crate::Routine::mark) in it; empty where it has no routines.
    pub list_routines: &'static str,
    /// How it splits tables by hash; none where it cannot.
    pub partitioning: Option<Partitioning>,
    /// How settings of its server are read and set; none where SQL cannot.
    pub settings: Option<SettingsBySql>,
    /// How the numbers that it counts itself are read; none where it tells none.
    pub counters: Option<Counters>,
}

impl Dialect {
    /// The least: `?`, exact decimals, and nothing that not every database has. Drivers and tests
    /// say what differs.
    pub const PLAIN: Dialect = Dialect {
        name: "plain",
        placeholder: Placeholder::Question,
        decimals: Decimals::Exact,
        type_name: |of| format!("{of:?}").to_uppercase(),
        serial: Serial::Anywhere,
        after_load: |_| Vec::new(),
        table_options: "",
        for_update: "",
        parallel_load: false,
        indexes_after_load: false,
        before_load: &[],
        tables_in_transactions: false,
        alone: &[],
        sees_other_hosts: None,
        commit_counter: None,
        started_ago: None,
        is_recovering: |_| false,
        connection_counter: None,
        thread_per_session: false,
        keeps_data: true,
        routines: None,
        list_routines: "",
        partitioning: None,
        settings: None,
        counters: None,
    };

    /// Our SQL, written with `?`, in this dialect's placeholders.
    pub fn sql(&self, text: &str) -> String {
        if self.placeholder == Placeholder::Question {
            return text.to_owned();
        }
        let mut parts = text.split('?');
        let mut sql = parts.next().unwrap_or_default().to_owned();
        for (index, part) in parts.enumerate() {
            sql.push_str(&format!("${}{part}", index + 1));
        }
        sql
    }

    /// CREATE TABLE for `table`, its primary key within.
    pub fn create_table(&self, table: &Table) -> String {
        let mut lines: Vec<String> = Vec::new();
        for column in &table.columns {
            let null = if column.nullable { "" } else { " NOT NULL" };
            lines.push(format!("{} {}{null}", column.name, (self.type_name)(column.of)));
        }
        if !table.primary_key.is_empty() {
            lines.push(format!("PRIMARY KEY ({})", table.primary_key.join(", ")));
        }
        for index in table.indexes.iter().filter(|index| self.is_made_with(table, index)) {
            lines.push(format!("INDEX {} ({})", index.name, index.columns.join(", ")));
        }
        format!("CREATE TABLE {} ({}){}", table.name, lines.join(", "), self.table_options)
    }

    /// Whether an index is made with its table, since a serial column stands on it; all others
    /// are made by [`Dialect::create_index`].
    pub fn is_made_with(&self, table: &Table, index: &Index) -> bool {
        let first = index.columns.first();
        let is_serial =
            |column: &Column| column.of == ColumnType::Serial && Some(&column.name) == first;
        self.serial == Serial::Indexed
            && table.columns.iter().any(is_serial)
            && table.primary_key.first() != first
    }

    /// What creates `table` split into `count` parts by the hash of `column`, as one text; only
    /// CREATE TABLE where this database cannot split tables. Where it is several statements, the
    /// database carries out all of one text or nothing.
    pub fn create_partitioned(&self, table: &Table, column: &str, count: u64) -> String {
        let create = self.create_table(table);
        match self.partitioning {
            None => create,
            Some(Partitioning::Clause) => {
                format!("{create} PARTITION BY HASH ({column}) PARTITIONS {count}")
            }
            Some(Partitioning::Tables) => {
                let name = &table.name;
                let mut sql = format!("{create} PARTITION BY HASH ({column})");
                for number in 0..count {
                    sql.push_str(&format!(
                        ";\nCREATE TABLE {name}_p{number} PARTITION OF {name} \
                         FOR VALUES WITH (MODULUS {count}, REMAINDER {number})"
                    ));
                }
                sql
            }
        }
    }

    /// CREATE INDEX for one of the table's secondary indexes.
    pub fn create_index(&self, table: &Table, index: &Index) -> String {
        let unique = if index.unique { "UNIQUE " } else { "" };
        let columns = index.columns.join(", ");
        format!("CREATE {unique}INDEX {} ON {} ({columns})", index.name, table.name)
    }

    /// INSERT of one row into `table`, all columns.
    pub fn insert(&self, table: &Table) -> String {
        self.insert_rows(table, 1)
    }

    /// INSERT of `n_rows` rows into `table`, all columns.
    pub fn insert_rows(&self, table: &Table, n_rows: usize) -> String {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        let marks = format!("({})", vec!["?"; names.len()].join(", "));
        let rows = vec![marks; n_rows].join(", ");
        self.sql(&format!("INSERT INTO {} ({}) VALUES {rows}", table.name, names.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIALECT: Dialect = Dialect {
        name: "made up",
        placeholder: Placeholder::Dollar,
        type_name: |of| format!("{of:?}").to_uppercase(),
        serial: Serial::Indexed,
        parallel_load: true,
        indexes_after_load: true,
        ..Dialect::PLAIN
    };

    fn table(primary_key: Vec<&'static str>) -> Table {
        let index = Index { name: "xid".into(), columns: vec!["id"], unique: false };
        Table {
            name: "t".into(),
            columns: vec![Column { name: "id", of: ColumnType::Serial, nullable: false }],
            primary_key,
            indexes: vec![index],
        }
    }

    #[test]
    fn an_index_that_a_serial_column_stands_on_is_made_with_the_table() {
        let check = |serial, key: &[&'static str], expect: &str| {
            let dialect = Dialect { serial, ..DIALECT };
            let sql = dialect.create_table(&table(key.to_vec()));
            assert_eq!(sql, format!("CREATE TABLE t (id SERIAL NOT NULL{expect})"));
        };
        check(Serial::Indexed, &[], ", INDEX xid (id)");
        check(Serial::Indexed, &["id"], ", PRIMARY KEY (id)");
        check(Serial::Anywhere, &[], "");
        check(Serial::SoleKey, &["id"], ", PRIMARY KEY (id)");
    }

    #[test]
    fn marks_are_numbered_where_the_database_wants_it() {
        assert_eq!(DIALECT.sql("a = ? AND b = ?"), "a = $1 AND b = $2");
        let question = Dialect { placeholder: Placeholder::Question, ..DIALECT };
        assert_eq!(question.sql("a = ?"), "a = ?");
    }
}
