//! Binding of values to SQLite statements, and reading of rows, without copies.
//!
//! Decimals are stored as integers of their smallest unit, timestamps as integer microseconds and
//! dates as integer days, since SQLite has none of these types. Not here: statements.

use model::{DbError, DbErrorKind, Row, Value};
use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

/// Adapter by which a [`Value`] can be bound to an SQLite statement.
pub(super) struct Given<'a>(pub(super) &'a Value<'a>);

impl ToSql for Given<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self.0 {
            Value::Null => ValueRef::Null,
            Value::Int(value) => ValueRef::Integer(value),
            Value::Float(value) => ValueRef::Real(value),
            Value::Decimal { unscaled, .. } => ValueRef::Integer(unscaled),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
            Value::Timestamp(us) => ValueRef::Integer(us),
            Value::Date(days) => ValueRef::Integer(days.into()),
        }))
    }
}

/// Converts a value to an owned one in SQLite's own type, since it must be kept until it is bound.
pub(super) fn owned(value: &Value<'_>) -> rusqlite::types::Value {
    use rusqlite::types::Value as Owned;
    match *value {
        Value::Null => Owned::Null,
        Value::Int(value) => Owned::Integer(value),
        Value::Float(value) => Owned::Real(value),
        Value::Decimal { unscaled, .. } => Owned::Integer(unscaled),
        Value::Text(text) => Owned::Text(text.to_owned()),
        Value::Bytes(bytes) => Owned::Blob(bytes.to_owned()),
        Value::Timestamp(us) => Owned::Integer(us),
        Value::Date(days) => Owned::Integer(days.into()),
    }
}

/// The current row of an SQLite statement, which is valid until the next row is read.
pub(super) struct Visited<'r, 's> {
    pub(super) row: &'r rusqlite::Row<'s>,
    pub(super) result_set: usize,
}

impl Row for Visited<'_, '_> {
    fn width(&self) -> usize {
        self.row.as_ref().column_count()
    }

    #[inline]
    fn value(&self, column: usize) -> Value<'_> {
        match self.row.get_ref_unwrap(column) {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(value) => Value::Int(value),
            ValueRef::Real(value) => Value::Float(value),
            ValueRef::Text(text) => match std::str::from_utf8(text) {
                Ok(text) => Value::Text(text),
                Err(_) => Value::Bytes(text),
            },
            ValueRef::Blob(bytes) => Value::Bytes(bytes),
        }
    }

    fn result_set(&self) -> usize {
        self.result_set
    }

    fn name(&self, column: usize) -> &str {
        self.row.as_ref().column_name(column).unwrap_or_default()
    }

    fn decimal(&self, column: usize, _scale: u8) -> Result<i64, DbError> {
        match self.value(column) {
            Value::Int(unscaled) => Ok(unscaled),
            other => {
                let (column, got) = (column + 1, other.type_name());
                let message = format!("column {column} of the result is {got}, expected a decimal");
                Err(DbError::new(DbErrorKind::Shape, message))
            }
        }
    }
}
