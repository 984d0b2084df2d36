//! What a database can do and how it is spelled: capabilities, not a list of products.

use crate::{ColumnType, Index, Table};

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
    /// What stands behind the closing bracket of CREATE TABLE.
    pub table_options: &'static str,
    /// The clause that locks the rows of a SELECT, with a leading blank; empty where a writing
    /// transaction excludes others anyway.
    pub for_update: &'static str,
    /// Several sessions can load at once.
    pub parallel_load: bool,
    /// Secondary indexes are faster built after the data.
    pub indexes_after_load: bool,
    /// It keeps what is written: tables can be built, checked and counted in it.
    pub keeps_data: bool,
    /// In which language its routines are written; none where it has no routines.
    pub routines: Option<RoutineLanguage>,
    /// How it splits tables by hash; none where it cannot.
    pub partitioning: Option<Partitioning>,
}

impl Dialect {
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
        format!("CREATE TABLE {} ({}){}", table.name, lines.join(", "), self.table_options)
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
        let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        let marks = vec!["?"; names.len()].join(", ");
        self.sql(&format!("INSERT INTO {} ({}) VALUES ({marks})", table.name, names.join(", ")))
    }
}
