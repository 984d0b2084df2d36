//! Encoding of values for MySQL and MariaDB: in the binary format of prepared statements, as SQL
//! literals, and as fields of a bulk load. Nothing is copied except into the output.

use std::fmt;

use model::{Civil, DbError, DbErrorKind, Value, put_decimal, put_unsigned};

use super::columns::kind;
use super::dates;
use super::packets::put_length;

/// Returns the MySQL protocol's number of the type with which a value is sent.
#[inline]
pub(super) fn kind_of(value: &Value<'_>) -> u8 {
    match value {
        Value::Null => kind::NULL,
        Value::Int(_) => kind::LONGLONG,
        Value::Float(_) => kind::DOUBLE,
        Value::Decimal { .. } => kind::NEWDECIMAL,
        Value::Text(_) => kind::VAR_STRING,
        Value::Bytes(_) => kind::BLOB,
        Value::Timestamp(_) => kind::DATETIME,
        Value::Date(_) => kind::DATE,
    }
}

/// Appends a value in binary format; a null appends nothing, since it is a bit in the packet's
/// null bitmap. Fails if MySQL's type cannot hold the value.
#[inline]
pub(super) fn put_binary(out: &mut Vec<u8>, value: &Value<'_>) -> Result<(), DbError> {
    match *value {
        Value::Null => {}
        Value::Int(value) => out.extend_from_slice(&value.to_le_bytes()),
        Value::Float(value) => out.extend_from_slice(&value.to_le_bytes()),
        Value::Decimal { unscaled, scale } => {
            out.push(0);
            let start = out.len();
            put_decimal(out, unscaled, scale);
            out[start - 1] = u8::try_from(out.len() - start).map_err(|_| too_fine(scale))?;
        }
        Value::Text(text) => {
            put_length(out, text.len());
            out.extend_from_slice(text.as_bytes());
        }
        Value::Bytes(bytes) => {
            put_length(out, bytes.len());
            out.extend_from_slice(bytes);
        }
        Value::Timestamp(us) => {
            let civil = instant(us)?;
            out.push(11);
            put_day(out, civil);
            out.extend_from_slice(&[civil.hour, civil.minute, civil.second]);
            out.extend_from_slice(&civil.us.to_le_bytes());
        }
        Value::Date(days) => {
            let civil = day(days)?;
            out.push(4);
            put_day(out, civil);
        }
    }
    Ok(())
}

fn put_day(out: &mut Vec<u8>, civil: Civil) {
    out.extend_from_slice(&(civil.year as u16).to_le_bytes());
    out.extend_from_slice(&[civil.month, civil.day]);
}

/// Escaping of quotes within a quoted SQL text, which depends on the session's `sql_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escapes {
    /// Escapes with a backslash, as in `\'`.
    Backslash,
    /// Escapes by doubling quotes, as in `''`, because `sql_mode` contains `NO_BACKSLASH_ESCAPES`.
    Doubled,
}

/// Appends a value as an SQL literal. Fails if MySQL has no literal for it, such as infinity or a
/// year that its dates do not allow.
pub(super) fn put_literal(
    out: &mut Vec<u8>,
    value: &Value<'_>,
    escapes: Escapes,
) -> Result<(), DbError> {
    match *value {
        Value::Null => out.extend_from_slice(b"NULL"),
        Value::Int(value) => put_integer(out, value),
        Value::Float(value) => put_float(out, value)?,
        Value::Decimal { unscaled, scale } => put_decimal(out, unscaled, scale),
        Value::Text(text) => put_quoted(out, text.as_bytes(), escapes),
        Value::Bytes(bytes) => {
            const DIGITS: &[u8; 16] = b"0123456789abcdef";
            out.extend_from_slice(b"x'");
            for byte in bytes {
                out.push(DIGITS[usize::from(byte >> 4)]);
                out.push(DIGITS[usize::from(byte & 15)]);
            }
            out.push(b'\'');
        }
        Value::Timestamp(us) => {
            out.push(b'\'');
            instant(us)?.write(out);
            out.push(b'\'');
        }
        Value::Date(days) => {
            out.push(b'\'');
            day(days)?.write_date(out);
            out.push(b'\'');
        }
    }
    Ok(())
}

/// Appends a value as a field of a file for LOAD DATA, with tabs and the like escaped. Fails if
/// MySQL cannot store it, such as infinity.
pub(super) fn put_field(out: &mut Vec<u8>, value: &Value<'_>) -> Result<(), DbError> {
    match *value {
        Value::Null => out.extend_from_slice(b"\\N"),
        Value::Int(value) => put_integer(out, value),
        Value::Float(value) => put_float(out, value)?,
        Value::Decimal { unscaled, scale } => put_decimal(out, unscaled, scale),
        Value::Text(text) => put_escaped(out, text.as_bytes()),
        Value::Bytes(bytes) => put_escaped(out, bytes),
        Value::Timestamp(us) => instant(us)?.write(out),
        Value::Date(days) => day(days)?.write_date(out),
    }
    Ok(())
}

fn put_escaped(out: &mut Vec<u8>, mut bytes: &[u8]) {
    // Nearly all text has nothing to escape, and is copied in one piece.
    while let Some(at) = bytes.iter().position(|byte| matches!(byte, 0 | b'\t' | b'\n' | b'\\')) {
        out.extend_from_slice(&bytes[..at]);
        let letter = match bytes[at] {
            0 => b'0',
            b'\t' => b't',
            b'\n' => b'n',
            _ => b'\\',
        };
        out.extend_from_slice(&[b'\\', letter]);
        bytes = &bytes[at + 1..];
    }
    out.extend_from_slice(bytes);
}

fn put_quoted(out: &mut Vec<u8>, bytes: &[u8], escapes: Escapes) {
    out.push(b'\'');
    for byte in bytes {
        match (byte, escapes) {
            (b'\'', _) => out.extend_from_slice(b"''"),
            (b'\\', Escapes::Backslash) => out.extend_from_slice(b"\\\\"),
            (0, Escapes::Backslash) => out.extend_from_slice(b"\\0"),
            (byte, _) => out.push(*byte),
        }
    }
    out.push(b'\'');
}

fn put_integer(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    put_unsigned(out, value.unsigned_abs(), 1);
}

/// Appends a float in scientific notation, so that the server does not read it as a decimal of 300
/// digits. Fails for infinity and NaN.
fn put_float(out: &mut Vec<u8>, value: f64) -> Result<(), DbError> {
    use std::io::Write;
    if !value.is_finite() {
        let message = format!("the database cannot store the float {value}");
        return Err(DbError::new(DbErrorKind::Shape, message));
    }
    write!(out, "{value:e}").expect("memory takes what is written");
    Ok(())
}

#[cold]
fn too_fine(scale: u8) -> DbError {
    let message = format!("a decimal with {scale} fractional digits is not supported");
    DbError::new(DbErrorKind::Shape, message)
}

fn instant(us: i64) -> Result<Civil, DbError> {
    dates::civil(us).ok_or_else(|| outside(format_args!("{us} us since 1970 is"), "DATETIME"))
}

fn day(days: i32) -> Result<Civil, DbError> {
    dates::day(days).ok_or_else(|| outside(format_args!("{days} days since 1970 are"), "DATE"))
}

#[cold]
fn outside(what: fmt::Arguments<'_>, type_name: &str) -> DbError {
    let message = format!("{what} outside the years 0 to 9999 of a {type_name}");
    DbError::new(DbErrorKind::Shape, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(put: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        put(&mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn decimals_are_written_with_their_point() {
        let check = |unscaled, scale, expect: &str| {
            assert_eq!(text(|out| put_decimal(out, unscaled, scale)), expect);
        };
        check(1250, 2, "12.50");
        check(-1, 2, "-0.01");
        check(7, 0, "7");
        check(0, 3, "0.000");
        check(i64::MIN, 4, "-922337203685477.5808");
        check(i64::MAX, 19, "0.9223372036854775807");
        check(12, 22, "0.0000000000000000000012");
    }

    #[test]
    fn literals_cannot_break_out_of_their_quotes() {
        let check = |value: Value<'_>, escapes, expect: &str| {
            assert_eq!(text(|out| put_literal(out, &value, escapes).expect("valid")), expect);
        };
        check(Value::Text("it's \\ ok"), Escapes::Backslash, "'it''s \\\\ ok'");
        check(Value::Text("it's \\ ok"), Escapes::Doubled, "'it''s \\ ok'");
        check(Value::Bytes(&[0, 255]), Escapes::Backslash, "x'00ff'");
        check(Value::Float(f64::MAX), Escapes::Backslash, "1.7976931348623157e308");
        check(Value::Int(i64::MIN), Escapes::Backslash, "-9223372036854775808");
        check(Value::Timestamp(-1), Escapes::Backslash, "'1969-12-31 23:59:59.999999'");
        check(Value::Null, Escapes::Backslash, "NULL");
        let mut out = Vec::new();
        assert!(put_literal(&mut out, &Value::Float(f64::NAN), Escapes::Backslash).is_err());
    }

    #[test]
    fn fields_of_a_load_are_escaped() {
        let field = |value: Value<'_>| text(|out| put_field(out, &value).expect("valid"));
        assert_eq!(field(Value::Text("a\tb\nc\\d\0e")), "a\\tb\\nc\\\\d\\0e");
        assert_eq!(field(Value::Null), "\\N");
        assert_eq!(field(Value::cents(-5)), "-0.05");
    }
}
