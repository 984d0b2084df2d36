//! Tables as a workload describes them, independent of SQL dialects.

use std::borrow::Cow;

/// The type of a column, independent of any SQL dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// An integer of at least 16 bits.
    SmallInt,
    /// An integer of at least 32 bits.
    Int,
    /// An integer of 64 bits.
    BigInt,
    /// An auto-increment integer of at least 32 bits: the database assigns a value if a row has
    /// none.
    Serial,
    /// An auto-increment integer of 64 bits: the database assigns a value if a row has none.
    BigSerial,
    /// An exact decimal number.
    Decimal {
        /// Number of digits, those before and after the decimal point together.
        precision: u8,
        /// Number of digits after the decimal point.
        scale: u8,
    },
    /// Text of exactly this many characters.
    Char(u16),
    /// Text of at most this many characters.
    VarChar(u16),
    /// A binary floating-point number of 64 bits.
    Double,
    /// A date and time with microseconds.
    Timestamp,
    /// Calendar day without a time and without a time zone.
    Date,
}

impl ColumnType {
    /// Whether the column is auto-increment: the database assigns a value if a row has none.
    pub fn is_serial(self) -> bool {
        matches!(self, ColumnType::Serial | ColumnType::BigSerial)
    }

    /// Returns the type's name in CREATE TABLE by the SQL standard. For auto-increment, which has
    /// no such name, returns `SERIAL` or `BIGSERIAL`.
    pub fn standard_name(self) -> String {
        match self {
            ColumnType::SmallInt => "SMALLINT".to_owned(),
            ColumnType::Int => "INTEGER".to_owned(),
            ColumnType::Serial => "SERIAL".to_owned(),
            ColumnType::BigSerial => "BIGSERIAL".to_owned(),
            ColumnType::BigInt => "BIGINT".to_owned(),
            ColumnType::Decimal { precision, scale } => format!("DECIMAL({precision},{scale})"),
            ColumnType::Char(n) => format!("CHAR({n})"),
            ColumnType::VarChar(n) => format!("VARCHAR({n})"),
            ColumnType::Double => "DOUBLE PRECISION".to_owned(),
            ColumnType::Timestamp => "TIMESTAMP".to_owned(),
            ColumnType::Date => "DATE".to_owned(),
        }
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name of the column in SQL.
    pub name: &'static str,
    /// Type of the column's values, independent of any SQL dialect.
    pub of: ColumnType,
    /// Whether the column may contain nulls.
    pub nullable: bool,
}

/// A secondary index, one that is not the primary key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// Name of the index in SQL.
    pub name: Cow<'static, str>,
    /// Columns of the index, in their order within the index.
    pub columns: Vec<&'static str>,
    /// Whether the index rejects duplicate keys.
    pub unique: bool,
}

/// A table that a workload uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Name of the table in SQL.
    pub name: Cow<'static, str>,
    /// Columns of the table, in the order of CREATE TABLE.
    pub columns: Vec<Column>,
    /// Columns of the primary key, in order; empty if the table has none.
    pub primary_key: Vec<&'static str>,
    /// Secondary indexes of the table.
    pub indexes: Vec<Index>,
}
