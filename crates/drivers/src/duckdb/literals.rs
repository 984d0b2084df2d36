//! Values as literals of DuckDB, for statements as text.
//!
//! Every value has an exact literal, so that the result is the same as with a bound value. Not
//! here: the text around them (pieces), and execution.

use std::fmt::Write;

use model::{Civil, Value, put_decimal};

/// Appends a value as a literal.
pub(super) fn put_literal(sql: &mut String, value: &Value<'_>) {
    match *value {
        Value::Null => sql.push_str("NULL"),
        Value::Int(value) => write!(sql, "{value}").expect("memory takes whatever is written"),
        Value::Decimal { unscaled, scale } => {
            sql.push_str(&ascii(|out| put_decimal(out, unscaled, scale)));
        }
        Value::Date(days) => put_quoted(sql, "DATE", |out| Civil::of_days(days).write_date(out)),
        Value::Timestamp(us) => put_quoted(sql, "TIMESTAMP", |out| Civil::of_us(us).write(out)),
        // The exponent makes it a float; the digits are the shortest that parse to the same number.
        Value::Float(value) if value.is_finite() => {
            write!(sql, "{value:e}").expect("memory takes whatever is written");
        }
        Value::Float(value) => {
            write!(sql, "CAST('{value}' AS DOUBLE)").expect("memory takes whatever is written");
        }
        // A zero byte would end the statement.
        Value::Text(text) if text.contains('\0') => {
            sql.push_str("decode(");
            put_bytes(sql, text.as_bytes());
            sql.push(')');
        }
        Value::Text(text) => {
            write!(sql, "'{}'", text.replace('\'', "''"))
                .expect("memory takes whatever is written");
        }
        Value::Bytes(bytes) => put_bytes(sql, bytes),
    }
}

fn put_quoted(sql: &mut String, type_name: &str, write: impl FnOnce(&mut Vec<u8>)) {
    sql.push_str(type_name);
    sql.push_str(" '");
    sql.push_str(&ascii(write));
    sql.push('\'');
}

fn ascii(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).expect("digits and signs are ASCII")
}

fn put_bytes(sql: &mut String, bytes: &[u8]) {
    sql.push_str("CAST('");
    for byte in bytes {
        write!(sql, "\\x{byte:02x}").expect("memory takes whatever is written");
    }
    sql.push_str("' AS BLOB)");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_in() {
        let check = |value: Value<'_>, expect: &str| {
            let mut sql = String::new();
            put_literal(&mut sql, &value);
            assert_eq!(sql, expect);
        };
        check(Value::Null, "NULL");
        check(Value::Int(-1), "-1");
        check(Value::cents(-5), "-0.05");
        check(Value::Float(1.5), "1.5e0");
        check(Value::Float(f64::NEG_INFINITY), "CAST('-inf' AS DOUBLE)");
        check(Value::Text("it's"), "'it''s'");
        check(Value::Text("a\0"), "decode(CAST('\\x61\\x00' AS BLOB))");
        check(Value::Bytes(&[0, 255]), "CAST('\\x00\\xff' AS BLOB)");
        check(Value::Date(9_204), "DATE '1995-03-15'");
        check(Value::Timestamp(1), "TIMESTAMP '1970-01-01 00:00:00.000001'");
    }
}
