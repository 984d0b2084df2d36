//! Spelling of a database's SQL: capabilities, not a list of products.
//!
//! Not here: statements outside of the load (administration), and monitoring queries (monitoring).

use crate::{Column, ColumnType, Index, StorageEngine, Table};

/// Syntax of parameter placeholders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// `?`, matched to values by position.
    Question,
    /// `$1`, numbered from 1.
    Dollar,
    /// `@P1`
    At,
    /// `:1`
    Colon,
}

impl Placeholder {
    /// The mark of a statement's value at `number`, from 1.
    pub fn mark(self, number: usize) -> String {
        match self {
            Placeholder::Question => "?".to_owned(),
            Placeholder::Dollar => format!("${number}"),
            Placeholder::At => format!("@P{number}"),
            Placeholder::Colon => format!(":{number}"),
        }
    }
}

/// The syntax with which a SELECT locks its rows for a later update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLock {
    /// Not at all: a writing transaction excludes others anyway.
    None,
    /// A clause at its end, with a leading blank: ` FOR UPDATE`.
    Clause(&'static str),
    /// A hint behind the table's name, with a leading blank: ` WITH (UPDLOCK)`.
    Hint(&'static str),
}

/// The syntax with which a SELECT limits the number of its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLimit {
    /// `LIMIT 5` at its end.
    Limit,
    /// `FETCH FIRST 5 ROWS ONLY` at its end: the SQL standard's.
    FetchFirst,
    /// `TOP (5)` behind SELECT.
    Top,
}

/// A length of time that dates are moved by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateUnit {
    /// One day of the calendar.
    Day,
    /// Calendar months; a day that the month does not have becomes its last.
    Month,
    /// Calendar years; 29 February becomes the 28th where it has to.
    Year,
}

impl DateUnit {
    /// SQL's word for it, such as `MONTH`.
    pub fn name(self) -> &'static str {
        match self {
            DateUnit::Day => "DAY",
            DateUnit::Month => "MONTH",
            DateUnit::Year => "YEAR",
        }
    }

    /// The unit of an English word: `month` or `months`.
    pub fn named(word: &str) -> Option<DateUnit> {
        match word.strip_suffix('s').unwrap_or(word) {
            "day" => Some(DateUnit::Day),
            "month" => Some(DateUnit::Month),
            "year" => Some(DateUnit::Year),
            _ => None,
        }
    }
}

/// Storage of exact decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decimals {
    /// The database has a decimal type.
    Exact,
    /// The database has none: integers of the smallest unit (cents, ten-thousandths).
    ScaledInteger,
}

/// Where an auto-increment column is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serial {
    /// In any column, without a key or index.
    Anywhere,
    /// In the first column of a key or index that is created with the table.
    Indexed,
    /// In the sole column of the primary key; elsewhere it is an ordinary integer.
    SoleKey,
}

/// Language of stored routines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoutineLanguage {
    /// SQL/PSM of the MySQL family: procedures that begin and end their transaction and return
    /// result sets.
    Psm,
    /// PL/pgSQL: functions that return rows. A call outside of a transaction is its own
    /// transaction.
    PlPgSql,
}

/// Syntax to partition a table by the hash of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partitioning {
    /// A clause of CREATE TABLE creates all partitions.
    Clause,
    /// Each partition is a table, created by its own statement.
    Tables,
}

/// Spelling of a database's SQL, filled in by its driver.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// Name, such as `sqlite`.
    pub name: &'static str,
    /// Syntax of placeholders in statements.
    pub placeholder: Placeholder,
    /// Storage of exact decimals.
    pub decimals: Decimals,
    /// Returns the name of a type in CREATE TABLE.
    pub type_name: fn(ColumnType) -> String,
    /// Where an auto-increment column is allowed.
    pub serial: Serial,
    /// Storage engines that users can choose; empty if the database has only one.
    pub storage_engines: &'static [StorageEngine],
    /// The storage engine of new tables; `None` for the default.
    pub storage_engine: Option<StorageEngine>,
    /// Text after the closing bracket of CREATE TABLE and after the storage engine.
    pub table_options: &'static str,
    /// DROP INDEX needs the name of the table.
    pub drops_index_on_table: bool,
    /// Function that returns the code of a text's first character.
    pub letter_code: &'static str,
    /// Syntax with which a SELECT locks its rows.
    pub row_lock: RowLock,
    /// Syntax with which a SELECT limits its rows.
    pub row_limit: RowLimit,
    /// Clause of a SELECT without a table in place of its FROM, with a leading blank.
    pub from_nothing: &'static str,
    /// A placeholder has the type that its place asks for, and stands only where there is one.
    pub infers_types: bool,
    /// A date, from `1995-03-15`.
    pub date: fn(&str) -> String,
    /// The year of a date, as a whole number.
    pub year_of: fn(&str) -> String,
    /// A date moved by a number of units, backwards if that is negative.
    pub later: fn(&str, i64, DateUnit) -> String,
    /// Language of stored routines; `None` if the database has none.
    pub routines: Option<RoutineLanguage>,
    /// Syntax of hash partitions; `None` if the database has none.
    pub partitioning: Option<Partitioning>,
}

impl Dialect {
    /// The minimum: `?`, exact decimals, and no optional capability. Drivers and tests override
    /// what differs.
    pub const PLAIN: Dialect = Dialect {
        name: "plain",
        placeholder: Placeholder::Question,
        decimals: Decimals::Exact,
        type_name: |of| format!("{of:?}").to_uppercase(),
        serial: Serial::Anywhere,
        storage_engines: &[],
        storage_engine: None,
        table_options: "",
        drops_index_on_table: false,
        letter_code: "ASCII",
        row_lock: RowLock::None,
        row_limit: RowLimit::Limit,
        from_nothing: "",
        infers_types: false,
        date: |day| format!("DATE '{day}'"),
        year_of: |date| format!("EXTRACT(YEAR FROM {date})"),
        later: |date, n, unit| format!("({date} + INTERVAL '{n}' {})", unit.name()),
        routines: None,
        partitioning: None,
    };

    /// Returns CREATE TABLE with the primary key, and with the indexes that [must be made with the
    /// table](Dialect::is_made_with).
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
        let clauses_of = |engine: StorageEngine| (engine.before_table, engine.behind_table);
        let (before, behind) = self.storage_engine.map_or(("", ""), clauses_of);
        let (name, lines) = (&table.name, lines.join(", "));
        format!("CREATE {before}TABLE {name} ({lines}){behind}{}", self.table_options)
    }

    /// Returns the storage engine with this name, if this database offers it.
    pub fn engine(&self, name: &str) -> Option<StorageEngine> {
        self.storage_engines.iter().find(|engine| engine.name == name).copied()
    }

    /// Whether the storage engine with this name commits and rolls back several statements as one.
    /// True for the default engine.
    pub fn is_transactional(&self, engine: Option<&str>) -> bool {
        let engine = engine.and_then(|name| self.engine(name));
        engine.is_none_or(|engine| engine.is_transactional)
    }

    /// Whether an index must be created with its table, because an auto-increment column needs it;
    /// all others are created by [`Dialect::create_index`].
    pub fn is_made_with(&self, table: &Table, index: &Index) -> bool {
        let first = index.columns.first();
        let is_serial = |column: &Column| column.of.is_serial() && Some(&column.name) == first;
        self.serial == Serial::Indexed
            && table.columns.iter().any(is_serial)
            && table.primary_key.first() != first
    }

    /// Returns one text that creates `table` in `count` partitions by the hash of `column`; plain
    /// CREATE TABLE if this database cannot partition. If it contains several statements, the
    /// database executes all of them or none.
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

    /// Returns CREATE INDEX for a secondary index of the table.
    pub fn create_index(&self, table: &Table, index: &Index) -> String {
        let unique = if index.unique { "UNIQUE " } else { "" };
        let columns = index.columns.join(", ");
        format!("CREATE {unique}INDEX {} ON {} ({columns})", index.name, table.name)
    }

    /// Returns DROP INDEX for a secondary index of the table.
    pub fn drop_index(&self, table: &Table, index: &Index) -> String {
        match self.drops_index_on_table {
            true => format!("DROP INDEX {} ON {}", index.name, table.name),
            false => format!("DROP INDEX {}", index.name),
        }
    }

    /// Returns INSERT of one row, with all columns.
    pub fn insert(&self, table: &Table) -> String {
        self.insert_rows(table, 1)
    }

    /// Returns INSERT of `n_rows` rows, with all columns.
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
    fn a_storage_engine_stands_where_there_is_a_choice() {
        const UNLOGGED: StorageEngine =
            StorageEngine { before_table: "UNLOGGED ", ..StorageEngine::with_clause("none", "") };
        const HEAP: StorageEngine = StorageEngine::with_clause("heap", " ENGINE=Heap");
        let check = |storage_engine, before: &str, behind: &str| {
            let dialect = Dialect { storage_engine, table_options: " X", ..Dialect::PLAIN };
            let sql = dialect.create_table(&table(vec!["id"]));
            assert!(sql.starts_with(&format!("CREATE {before}TABLE t (")), "{sql}");
            assert!(sql.ends_with(&format!("PRIMARY KEY (id)){behind} X")), "{sql}");
        };
        check(None, "", "");
        check(Some(HEAP), "", " ENGINE=Heap");
        check(Some(UNLOGGED), "UNLOGGED ", "");
        let dialect = Dialect { storage_engines: &[HEAP, UNLOGGED], ..Dialect::PLAIN };
        assert_eq!(dialect.engine("heap"), Some(HEAP));
        assert_eq!(dialect.engine("innodb"), None);
    }

    #[test]
    fn an_index_is_dropped_with_its_table_named_where_the_database_wants_it() {
        let check = |drops_index_on_table, expect: &str| {
            let dialect = Dialect { drops_index_on_table, ..DIALECT };
            let table = table(Vec::new());
            assert_eq!(dialect.drop_index(&table, &table.indexes[0]), expect);
        };
        check(true, "DROP INDEX xid ON t");
        check(false, "DROP INDEX xid");
    }
}
