//! Tables as a workload describes them, in no database's words.

use std::borrow::Cow;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// A whole number of at least 16 bits.
    SmallInt,
    /// A whole number of at least 32 bits.
    Int,
    /// A whole number of 64 bits.
    BigInt,
    /// A whole number of at least 32 bits that the database counts up by itself where a row gives
    /// none: auto-increment, serial.
    Serial,
    /// The same of 64 bits.
    BigSerial,
    /// An exact decimal number.
    Decimal {
        /// Digits in all.
        precision: u8,
        /// Digits behind the point.
        scale: u8,
    },
    /// Text of exactly this many characters.
    Char(u16),
    /// Text of at most this many characters.
    VarChar(u16),
    /// A binary floating-point number of 64 bits.
    Double,
    /// An instant, to the microsecond.
    Timestamp,
    /// A day of the calendar, without time and zone.
    Date,
}

impl ColumnType {
    /// Whether the database counts it up by itself where a row gives none.
    pub fn is_serial(self) -> bool {
        matches!(self, ColumnType::Serial | ColumnType::BigSerial)
    }

    /// Its name in CREATE TABLE as the SQL standard has it (and `SERIAL` and `BIGSERIAL`, which
    /// it has not).
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

/// One column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub of: ColumnType,
    /// Whether it may be null.
    pub nullable: bool,
}

/// A secondary index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its columns, in order.
    pub columns: Vec<&'static str>,
    /// Whether it forbids duplicates.
    pub unique: bool,
}

/// One table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// The columns of its primary key; none where it has no key.
    pub primary_key: Vec<&'static str>,
    /// Its secondary indexes.
    pub indexes: Vec<Index>,
}
