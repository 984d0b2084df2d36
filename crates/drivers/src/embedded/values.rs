//! Copies of values, for a statement that is executed when the caller's values may be gone.

use model::Value;

/// A copy of a [`Value`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Owned {
    Text(String),
    Bytes(Vec<u8>),
    /// Any other value, which borrows nothing.
    Plain(Value<'static>),
}

impl Owned {
    pub(crate) fn of(value: &Value<'_>) -> Owned {
        Owned::Plain(match *value {
            Value::Text(text) => return Owned::Text(text.to_owned()),
            Value::Bytes(bytes) => return Owned::Bytes(bytes.to_owned()),
            Value::Null => Value::Null,
            Value::Int(value) => Value::Int(value),
            Value::Float(value) => Value::Float(value),
            Value::Decimal { unscaled, scale } => Value::Decimal { unscaled, scale },
            Value::Timestamp(us) => Value::Timestamp(us),
            Value::Date(days) => Value::Date(days),
        })
    }

    pub(crate) fn value(&self) -> Value<'_> {
        match self {
            Owned::Text(text) => Value::Text(text),
            Owned::Bytes(bytes) => Value::Bytes(bytes),
            Owned::Plain(value) => *value,
        }
    }
}
