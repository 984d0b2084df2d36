//! Encoding and decoding of values in PostgreSQL's binary format. This is the hot path.

use std::str;

use model::{ColumnType, Value};

use super::numeric;
use super::types::{EPOCH_DAYS, EPOCH_US, Type};

/// Decodes a value that the server sent in binary format. Bytes that do not fit the type `kind` are
/// returned as `Value::Bytes`.
#[inline]
pub(super) fn read(kind: Type, bytes: &[u8]) -> Value<'_> {
    let read = match kind {
        Type::Int4 => fixed(bytes).map(|four| Value::Int(i64::from(i32::from_be_bytes(four)))),
        Type::Int8 => fixed(bytes).map(|eight| Value::Int(i64::from_be_bytes(eight))),
        Type::Int2 => fixed(bytes).map(|two| Value::Int(i64::from(i16::from_be_bytes(two)))),
        Type::Text => str::from_utf8(bytes).ok().map(Value::Text),
        Type::Numeric => numeric::read(bytes),
        Type::Bool => fixed(bytes).map(|[byte]| Value::Int(i64::from(byte != 0))),
        Type::Oid => fixed(bytes).map(|four| Value::Int(i64::from(u32::from_be_bytes(four)))),
        Type::Float4 => fixed(bytes).map(|four| Value::Float(f64::from(f32::from_be_bytes(four)))),
        Type::Float8 => fixed(bytes).map(|eight| Value::Float(f64::from_be_bytes(eight))),
        Type::Date => fixed(bytes).map(|four| read_date(i32::from_be_bytes(four))),
        Type::Timestamp => fixed(bytes).map(|eight| read_timestamp(i64::from_be_bytes(eight))),
        Type::Bytes | Type::Other => None,
    };
    read.unwrap_or(Value::Bytes(bytes))
}

#[inline]
fn fixed<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

fn read_date(days: i32) -> Value<'static> {
    match days {
        // The smallest and the largest number stand for `-infinity` and `infinity`.
        i32::MIN | i32::MAX => Value::Date(days),
        // The server has no date that needs the bounds.
        days => Value::Date(days.saturating_add(EPOCH_DAYS)),
    }
}

fn read_timestamp(us: i64) -> Value<'static> {
    match us {
        i64::MIN => Value::Timestamp(i64::MIN),
        us => Value::Timestamp(us.saturating_add(EPOCH_US)),
    }
}

/// Appends a value, after its length, in the binary format of the parameter type `kind`. Returns
/// false and appends nothing if that type cannot hold the value; the caller then sends the value as
/// text, and the server decides.
#[inline]
pub(super) fn put(out: &mut Vec<u8>, kind: Type, value: &Value<'_>) -> bool {
    match (kind, *value) {
        (_, Value::Null) => out.extend_from_slice(&(-1i32).to_be_bytes()),
        (Type::Int4, Value::Int(value)) => match i32::try_from(value) {
            Ok(value) => put_fixed(out, value.to_be_bytes()),
            Err(_) => return false,
        },
        (Type::Int8, Value::Int(value)) => put_fixed(out, value.to_be_bytes()),
        (Type::Int2, Value::Int(value)) => match i16::try_from(value) {
            Ok(value) => put_fixed(out, value.to_be_bytes()),
            Err(_) => return false,
        },
        // The server treats text as bytes, so all text types accept them.
        (Type::Text, Value::Text(text)) => return put_bytes(out, text.as_bytes()),
        (Type::Text | Type::Bytes | Type::Other, Value::Bytes(bytes)) => {
            return put_bytes(out, bytes);
        }
        (Type::Numeric, Value::Decimal { unscaled, scale }) => put_numeric(out, unscaled, scale),
        (Type::Numeric, Value::Int(value)) => put_numeric(out, value, 0),
        (Type::Float8, Value::Float(value)) => put_fixed(out, value.to_be_bytes()),
        (Type::Float4, Value::Float(value)) => put_fixed(out, (value as f32).to_be_bytes()),
        (Type::Timestamp, Value::Timestamp(us)) => match us.checked_sub(EPOCH_US) {
            Some(us) => put_fixed(out, us.to_be_bytes()),
            None => return false,
        },
        (Type::Date, Value::Date(days)) => match days.checked_sub(EPOCH_DAYS) {
            Some(days) => put_fixed(out, days.to_be_bytes()),
            None => return false,
        },
        (Type::Bool, Value::Int(value @ (0 | 1))) => put_fixed(out, [value as u8]),
        _ => return false,
    }
    true
}

/// Appends a value, after its length, for a column of a bulk load (binary COPY). Returns false if
/// the column cannot hold it. Unlike [`put`], converts numbers for float columns, since a bulk load
/// cannot fall back on text.
pub(super) fn put_column(out: &mut Vec<u8>, column_type: ColumnType, value: &Value<'_>) -> bool {
    match (column_type, *value) {
        (ColumnType::Double, Value::Int(value)) => put_fixed(out, (value as f64).to_be_bytes()),
        (ColumnType::Double, Value::Decimal { unscaled, scale }) => {
            let value = unscaled as f64 / 10f64.powi(i32::from(scale));
            put_fixed(out, value.to_be_bytes());
        }
        _ => return put(out, type_of(column_type), value),
    }
    true
}

/// Returns PostgreSQL's type of a column, as dbdyno's CREATE TABLE declares it.
fn type_of(column_type: ColumnType) -> Type {
    match column_type {
        ColumnType::SmallInt => Type::Int2,
        ColumnType::Int | ColumnType::Serial => Type::Int4,
        ColumnType::BigInt | ColumnType::BigSerial => Type::Int8,
        ColumnType::Decimal { .. } => Type::Numeric,
        ColumnType::Char(_) | ColumnType::VarChar(_) => Type::Text,
        ColumnType::Double => Type::Float8,
        ColumnType::Timestamp => Type::Timestamp,
        ColumnType::Date => Type::Date,
    }
}

#[inline]
fn put_fixed<const N: usize>(out: &mut Vec<u8>, bytes: [u8; N]) {
    out.extend_from_slice(&(N as u32).to_be_bytes());
    out.extend_from_slice(&bytes);
}

/// Appends `bytes` after their length. Returns false and appends nothing if they are longer than a
/// message can be.
#[inline]
fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) -> bool {
    let Ok(n_bytes) = i32::try_from(bytes.len()) else { return false };
    out.extend_from_slice(&n_bytes.to_be_bytes());
    out.extend_from_slice(bytes);
    true
}

fn put_numeric(out: &mut Vec<u8>, unscaled: i64, scale: u8) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    numeric::put(out, unscaled, scale);
    let n_bytes = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&n_bytes.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_went() {
        let check = |kind: Type, value: Value<'_>| {
            let mut out = Vec::new();
            assert!(put(&mut out, kind, &value));
            assert_eq!(out[..4], (out.len() as u32 - 4).to_be_bytes());
            assert_eq!(read(kind, &out[4..]), value, "{kind:?}");
        };
        for value in [i64::MIN, -1, 0, i64::MAX] {
            check(Type::Int8, Value::Int(value));
        }
        check(Type::Int4, Value::Int(i32::MIN.into()));
        check(Type::Int2, Value::Int(i16::MAX.into()));
        check(Type::Text, Value::Text("żółć"));
        check(Type::Bytes, Value::Bytes(&[0, 255]));
        check(Type::Float8, Value::Float(-0.1));
        check(Type::Timestamp, Value::Timestamp(-1));
        check(Type::Timestamp, Value::Timestamp(1_893_456_000_123_456));
        check(Type::Bool, Value::Int(1));
        check(Type::Numeric, Value::cents(-12_345));
    }

    #[test]
    fn what_does_not_go_together_goes_as_text() {
        let mut out = Vec::new();
        assert!(!put(&mut out, Type::Int2, &Value::Int(40_000)));
        assert!(!put(&mut out, Type::Int4, &Value::Text("7")));
        assert!(!put(&mut out, Type::Bool, &Value::Int(2)));
        assert!(!put(&mut out, Type::Timestamp, &Value::Timestamp(i64::MIN)));
        assert!(!put(&mut out, Type::Other, &Value::Int(1)));
        assert!(out.is_empty());
    }

    #[test]
    fn what_has_not_the_form_of_its_type_stays_bytes() {
        assert_eq!(read(Type::Int4, &[1, 2, 3]), Value::Bytes(&[1, 2, 3]));
        assert_eq!(read(Type::Text, &[255]), Value::Bytes(&[255]));
        let far = [0x7f, 0, 0, 0];
        assert_eq!(read(Type::Date, &far), Value::Date(0x7f00_0000 + EPOCH_DAYS));
        assert_eq!(read(Type::Numeric, &[1]), Value::Bytes(&[1]));
    }
}
