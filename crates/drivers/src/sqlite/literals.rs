//! Values as literals of SQLite, for statements as text, which SQLite compiles at each execution.
//!
//! Every value has an exact literal, so that the result is the same as with a bound value. Not
//! here: the text around them (pieces), and execution.

use std::fmt::Write;

use model::Value;

/// Appends a value as a literal.
pub(super) fn put_literal(sql: &mut String, value: &Value<'_>) {
    let written = match *value {
        Value::Null => write!(sql, "NULL"),
        Value::Int(value) | Value::Decimal { unscaled: value, .. } | Value::Timestamp(value) => {
            write!(sql, "{value}")
        }
        Value::Date(days) => write!(sql, "{days}"),
        // A NaN that is bound becomes a null.
        Value::Float(value) if value.is_nan() => write!(sql, "NULL"),
        Value::Float(value) if value.is_infinite() => {
            write!(sql, "{}9e999", if value < 0.0 { "-" } else { "" })
        }
        // The exponent makes it a float; the digits are the shortest that parse to the same number.
        Value::Float(value) => write!(sql, "{value:e}"),
        // A zero byte would end the statement.
        Value::Text(text) if text.contains('\0') => {
            sql.push_str("CAST(");
            put_bytes(sql, text.as_bytes());
            write!(sql, " AS TEXT)")
        }
        Value::Text(text) => write!(sql, "'{}'", text.replace('\'', "''")),
        Value::Bytes(bytes) => {
            put_bytes(sql, bytes);
            Ok(())
        }
    };
    written.expect("memory takes whatever is written");
}

fn put_bytes(sql: &mut String, bytes: &[u8]) {
    sql.push_str("x'");
    for byte in bytes {
        write!(sql, "{byte:02x}").expect("memory takes whatever is written");
    }
    sql.push('\'');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::pieces::Pieces;

    #[test]
    fn values_are_written_in() {
        let check = |sql: &str, values: &[Value<'_>], expect: &str| {
            assert_eq!(Pieces::parse(sql).fill(values, put_literal).expect("valid"), expect);
        };
        check("a - ? ? ?", &[Value::Int(-1), Value::Null, Value::cents(-5)], "a -  -1  NULL  -5");
        check("LIMIT?", &[Value::Int(i64::MIN)], "LIMIT -9223372036854775808");
        check("?2, ?1, ?", &[1, 2, 3].map(Value::Int), " 2,  1,  3");
        check("v = ?", &[Value::Text("it's ?")], "v =  'it''s ?'");
        check("v = ?", &[Value::Text("a\0b")], "v =  CAST(x'610062' AS TEXT)");
        check("v = ?", &[Value::Bytes(&[0, 255])], "v =  x'00ff'");
        check(
            "?, ?",
            &[f64::MAX, f64::NEG_INFINITY].map(Value::Float),
            " 1.7976931348623157e308,  -9e999",
        );
        check("'?' \"?\" `?` [?] /* ? */ -- ?", &[], "'?' \"?\" `?` [?] /* ? */ -- ?");
        check("'it''s ?' ?", &[Value::Null], "'it''s ?'  NULL");
        assert!(Pieces::parse("?").fill(&[], put_literal).is_err());
    }
}
