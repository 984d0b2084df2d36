//! The SQL dialect of a database, described by capabilities instead of product names.
//!
//! Not here: statements outside of the load (administration), and monitoring queries (monitoring).

use crate::{Column, ColumnType, Index, StorageEngine, Table};

/// Syntax of the placeholders for values in a statement, such as `?` or `$1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// `?` as a placeholder, matched to values by position.
    Question,
    /// `$1` as a placeholder, numbered from 1 (PostgreSQL).
    Dollar,
    /// `@P1` as a placeholder, numbered from 1 (SQL Server).
    At,
    /// `:1` as a placeholder, numbered from 1 (Oracle).
    Colon,
}

impl Placeholder {
    /// Returns the placeholder for value `number` of a statement, counted from 1: `?`, `$2`, `@P2`
    /// or `:2`.
    pub fn mark(self, number: usize) -> String {
        match self {
            Placeholder::Question => "?".to_owned(),
            Placeholder::Dollar => format!("${number}"),
            Placeholder::At => format!("@P{number}"),
            Placeholder::Colon => format!(":{number}"),
        }
    }
}

/// Syntax with which a SELECT locks the rows that it returns, for a later update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLock {
    /// No syntax to lock rows: a writing transaction excludes all other writers anyway.
    None,
    /// Row locks by a clause at the end of the SELECT, with a leading blank, such as ` FOR UPDATE`.
    Clause(&'static str),
    /// Row locks by a hint after the name of the table, with a leading blank, such as ` WITH
    /// (UPDLOCK)`.
    Hint(&'static str),
}

/// Syntax with which a SELECT limits the number of rows that it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLimit {
    /// Limit of rows by `LIMIT 5` at the end of the SELECT.
    Limit,
    /// Limit of rows by `FETCH FIRST 5 ROWS ONLY` at the end of the SELECT, as in the SQL standard.
    FetchFirst,
    /// Limit of rows by `TOP (5)` after the word SELECT.
    Top,
}

/// Unit of a time span that an SQL expression adds to a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateUnit {
    /// Calendar days, as in `INTERVAL 5 DAY`.
    Day,
    /// Calendar months. If the resulting month lacks the day, the result is its last day.
    Month,
    /// Calendar years. From 29 February, the result is 28 February in a year without that day.
    Year,
}

impl Decimals {
    /// Number of digits after the point of the decimals that SQL templates compute with.
    const DIGITS: usize = 2;

    /// Returns SQL for the number `sql` among decimals with two digits, as with `{decimal X}` in a
    /// template. If decimals are scaled integers, this is the number times 100: `6` for the literal
    /// `0.06`, `(x * 100)` for an expression `x`. Otherwise it is `sql` itself.
    pub(crate) fn number(self, sql: &str) -> String {
        if self == Decimals::Exact {
            return sql.to_owned();
        }
        let (whole, fraction) = sql.split_once('.').unwrap_or((sql, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_literal = !whole.is_empty()
            && is_digits(whole)
            && is_digits(fraction)
            && fraction.len() <= Decimals::DIGITS;
        if !is_literal {
            return format!("({sql} * 100)");
        }
        let digits = format!("{whole}{fraction:0<width$}", width = Decimals::DIGITS);
        let digits = digits.trim_start_matches('0');
        if digits.is_empty() { "0".to_owned() } else { digits.to_owned() }
    }

    /// Returns SQL for the quotient of two decimals with the same number of digits after the point.
    /// The quotient is not rounded to a whole number.
    pub(crate) fn quotient(self, dividend: &str, divisor: &str) -> String {
        match self {
            Decimals::Exact => format!("{dividend} / {divisor}"),
            Decimals::ScaledInteger => format!("CAST({dividend} AS REAL) / {divisor}"),
        }
    }
}

impl DateUnit {
    /// Returns the unit's keyword in SQL, such as `MONTH`.
    pub fn name(self) -> &'static str {
        match self {
            DateUnit::Day => "DAY",
            DateUnit::Month => "MONTH",
            DateUnit::Year => "YEAR",
        }
    }

    /// Returns the unit that an English word names, such as `month` or `months`; `None` for any
    /// other word.
    pub fn named(word: &str) -> Option<DateUnit> {
        match word.strip_suffix('s').unwrap_or(word) {
            "day" => Some(DateUnit::Day),
            "month" => Some(DateUnit::Month),
            "year" => Some(DateUnit::Year),
            _ => None,
        }
    }
}

/// The way in which a database stores exact decimal numbers, such as amounts of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decimals {
    /// Decimal numbers are stored exactly, in a decimal type of the database.
    Exact,
    /// Decimal numbers are stored as integers of their smallest unit, such as cents, because the
    /// database has no exact decimal type.
    ScaledInteger,
}

/// The columns in which a database allows auto-increment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serial {
    /// Auto-increment is allowed in any column, even without a key or index.
    Anywhere,
    /// Auto-increment is allowed only in the first column of a key or index that is created
    /// together with the table.
    Indexed,
    /// Auto-increment is allowed only in a column that alone is the primary key. Elsewhere, the
    /// type is an ordinary integer, which is not incremented.
    SoleKey,
    /// Auto-increment is allowed in any column, by a sequence of its own, which CREATE TABLE is
    /// preceded by and which outlives the table.
    Sequence,
}

/// Language in which stored routines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoutineLanguage {
    /// SQL/PSM as in MySQL and MariaDB: procedures that begin and end their own transactions and
    /// return result sets.
    Psm,
    /// PL/pgSQL: functions that return rows. A call outside of a transaction is a transaction of
    /// its own.
    PlPgSql,
}

/// Syntax to partition a table by the hash of one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partitioning {
    /// Hash partitions are declared by a clause of CREATE TABLE, which creates all of them.
    Clause,
    /// Each hash partition is a table of its own, created by a CREATE TABLE of its own.
    Tables,
}

/// SQL dialect of a database, from which statements are generated; filled in by its driver.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// Name of the dialect, such as `sqlite`.
    pub name: &'static str,
    /// Syntax of the placeholders for values in a statement.
    pub placeholder: Placeholder,
    /// The way in which exact decimal numbers are stored.
    pub decimals: Decimals,
    /// Returns the name of a column type in this dialect, as CREATE TABLE needs it.
    pub type_name: fn(ColumnType) -> String,
    /// The columns in which the database allows auto-increment.
    pub serial: Serial,
    /// Storage engines that users can choose for their tables; empty if there is no choice.
    pub storage_engines: &'static [StorageEngine],
    /// Storage engine of the tables to be created; `None` for the server's default.
    pub storage_engine: Option<StorageEngine>,
    /// Options at the end of each CREATE TABLE, after the closing bracket and the clause of the
    /// storage engine; empty if none are needed.
    pub table_options: &'static str,
    /// Whether DROP INDEX must name the table too, as in `DROP INDEX i ON t`.
    pub drops_index_on_table: bool,
    /// Name of the SQL function that returns the character code of a text's first character, such
    /// as `ASCII`.
    pub letter_code: &'static str,
    /// Syntax with which a SELECT locks the rows that it returns.
    pub row_lock: RowLock,
    /// Syntax with which a SELECT limits the number of rows that it returns.
    pub row_limit: RowLimit,
    /// FROM clause of a SELECT that reads no table, with a leading blank, such as ` FROM DUAL`;
    /// empty if none is needed.
    pub from_nothing: &'static str,
    /// Whether the server infers the type of a placeholder from its context, so that `SELECT ?`
    /// needs a cast.
    pub infers_types: bool,
    /// Returns the SQL literal for a date, given in the form `1995-03-15`.
    pub date: fn(&str) -> String,
    /// Returns the SQL expression for the year, as an integer, of an SQL expression for a date.
    pub year_of: fn(&str) -> String,
    /// Returns the SQL expression that adds a time span to a date expression, given the expression,
    /// the number of units (which may be negative) and the unit.
    pub later: fn(&str, i64, DateUnit) -> String,
    /// Returns the SQL expression for the first characters of a text expression, given the
    /// expression and the number of characters.
    pub first_letters: fn(&str, u16) -> String,
    /// Language of stored routines; `None` if the database has no routines.
    pub routines: Option<RoutineLanguage>,
    /// Syntax of hash partitioning; `None` if the database cannot partition tables.
    pub partitioning: Option<Partitioning>,
}

impl Dialect {
    /// Defaults for a new driver: `?` as placeholder, exact decimals, and no optional capability.
    /// Drivers and tests override individual fields.
    pub const PLAIN: Dialect = Dialect {
        name: "plain",
        placeholder: Placeholder::Question,
        decimals: Decimals::Exact,
        type_name: |column_type| format!("{column_type:?}").to_uppercase(),
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
        first_letters: |text, n| format!("SUBSTRING({text} FROM 1 FOR {n})"),
        routines: None,
        partitioning: None,
    };

    /// Returns the CREATE TABLE statement of a table, with its primary key and with the indexes
    /// that [must be created with the table](Dialect::is_made_with).
    pub fn create_table(&self, table: &Table) -> String {
        let mut lines: Vec<String> = Vec::new();
        for column in &table.columns {
            let null = if column.nullable { "" } else { " NOT NULL" };
            let default = self.sequence(table, column);
            let default = default.map(|sequence| format!(" DEFAULT nextval('{sequence}')"));
            let (name, default) = (column.name, default.unwrap_or_default());
            lines.push(format!("{name} {}{default}{null}", (self.type_name)(column.of)));
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
        let sequences: String = self
            .sequences(table)
            .map(|sequence| format!("CREATE OR REPLACE SEQUENCE {sequence};\n"))
            .collect();
        format!("{sequences}CREATE {before}TABLE {name} ({lines}){behind}{}", self.table_options)
    }

    /// Returns the SQL that drops a table, and the sequences of its columns. It consists of several
    /// statements if there are any.
    pub fn drop_table(&self, table: &Table) -> String {
        let sequences = self.sequences(table);
        let sequences = sequences.map(|sequence| format!(";\nDROP SEQUENCE IF EXISTS {sequence}"));
        format!("DROP TABLE {}{}", table.name, sequences.collect::<String>())
    }

    /// Returns the names of the sequences of a table's columns.
    fn sequences<'t>(&'t self, table: &'t Table) -> impl Iterator<Item = String> + 't {
        table.columns.iter().filter_map(|column| self.sequence(table, column))
    }

    /// Returns the name of the sequence that numbers a column; `None` if the column is not numbered
    /// by a sequence.
    pub fn sequence(&self, table: &Table, column: &Column) -> Option<String> {
        let is_numbered = self.serial == Serial::Sequence && column.of.is_serial();
        is_numbered.then(|| format!("{}_{}_numbers", table.name, column.name))
    }

    /// Returns the storage engine with this name, such as `innodb`; `None` if it is not one that
    /// users of this database can choose.
    pub fn engine(&self, name: &str) -> Option<StorageEngine> {
        self.storage_engines.iter().find(|engine| engine.name == name).copied()
    }

    /// Whether tables of this storage engine support transactions: several statements commit or
    /// roll back as one. True for `None`, the default engine, and for unknown names.
    pub fn is_transactional(&self, engine: Option<&str>) -> bool {
        let engine = engine.and_then(|name| self.engine(name));
        engine.is_none_or(|engine| engine.is_transactional)
    }

    /// Whether an index must be part of CREATE TABLE, because the table's auto-increment column
    /// needs it. All other indexes are created later by [`Dialect::create_index`].
    pub fn is_made_with(&self, table: &Table, index: &Index) -> bool {
        let first = index.columns.first();
        let is_serial = |column: &Column| column.of.is_serial() && Some(&column.name) == first;
        self.serial == Serial::Indexed
            && table.columns.iter().any(is_serial)
            && table.primary_key.first() != first
    }

    /// Returns the SQL that creates `table` with `count` partitions by the hash of `column`, or
    /// without partitions if the database has none. It may consist of several statements, which the
    /// database must execute as one transaction.
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

    /// Returns the CREATE INDEX statement for a secondary index of the table.
    pub fn create_index(&self, table: &Table, index: &Index) -> String {
        let unique = if index.unique { "UNIQUE " } else { "" };
        let columns = index.columns.join(", ");
        format!("CREATE {unique}INDEX {} ON {} ({columns})", index.name, table.name)
    }

    /// Returns the DROP INDEX statement for a secondary index of the table.
    pub fn drop_index(&self, table: &Table, index: &Index) -> String {
        match self.drops_index_on_table {
            true => format!("DROP INDEX {} ON {}", index.name, table.name),
            false => format!("DROP INDEX {}", index.name),
        }
    }

    /// Returns an INSERT statement for one row of the table, with a placeholder for each column.
    pub fn insert(&self, table: &Table) -> String {
        self.insert_rows(table, 1)
    }

    /// Returns an INSERT statement for `n_rows` rows of the table, with a placeholder for each
    /// column of each row.
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
        type_name: |column_type| format!("{column_type:?}").to_uppercase(),
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
    fn a_sequence_is_made_and_dropped_with_its_table() {
        let dialect = Dialect { serial: Serial::Sequence, ..DIALECT };
        let table = table(vec!["id"]);
        assert_eq!(
            dialect.create_table(&table),
            "CREATE OR REPLACE SEQUENCE t_id_numbers;\n\
             CREATE TABLE t (id SERIAL DEFAULT nextval('t_id_numbers') NOT NULL, PRIMARY KEY (id))"
        );
        let dropped = "DROP TABLE t;\nDROP SEQUENCE IF EXISTS t_id_numbers";
        assert_eq!(dialect.drop_table(&table), dropped);
        assert_eq!(DIALECT.drop_table(&table), "DROP TABLE t");
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
