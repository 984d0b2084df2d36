//! Statements as text with values as literals, which SQLite compiles at each execution.
//!
//! Every value has an exact literal, so that the result is the same as with a bound value. Not
//! here: execution.

use std::fmt::Write;

use model::{DbError, DbErrorKind, Value};

/// SQL text of a statement, split at its placeholders, to be executed with literals in their place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pieces {
    /// Text before each placeholder, with the index, from 0, of the value that replaces the
    /// placeholder.
    parts: Vec<(String, usize)>,
    rest: String,
    n_values: usize,
}

impl Pieces {
    /// Splits an SQL text at the placeholders `?` and `?1`, `?2`... outside of quotes and comments.
    pub(super) fn parse(sql: &str) -> Pieces {
        let (mut parts, mut n_values, mut start, mut at) = (Vec::new(), 0, 0, 0);
        while at < sql.len() {
            let rest = &sql[at..];
            let n_bytes = length(rest);
            if let Some(number) = rest[..n_bytes].strip_prefix('?') {
                // As in SQLite: an unnumbered placeholder follows the highest number before it.
                let number: usize = number.parse().unwrap_or(n_values + 1);
                n_values = n_values.max(number);
                parts.push((sql[start..at].to_owned(), number.saturating_sub(1)));
                start = at + n_bytes;
            }
            at += n_bytes;
        }
        Pieces { parts, rest: sql[start..].to_owned(), n_values }
    }

    /// Returns the SQL text with `values` as literals in place of the placeholders. Fails if the
    /// number of values is wrong.
    pub(super) fn fill(&self, values: &[Value<'_>]) -> Result<String, DbError> {
        if values.len() != self.n_values {
            let (wanted, got) = (self.n_values, values.len());
            let message = format!("the statement takes {wanted} values, {got} were given");
            return Err(DbError::new(DbErrorKind::Shape, message));
        }
        let mut sql = String::new();
        for (before, index) in &self.parts {
            sql.push_str(before);
            // Separates it from a preceding word or minus sign.
            sql.push(' ');
            put_literal(&mut sql, &values[*index]);
        }
        sql.push_str(&self.rest);
        Ok(sql)
    }
}

fn put_literal(sql: &mut String, value: &Value<'_>) {
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

/// Returns the length in bytes of the token at the start of `rest`: a quoted text, a comment, a
/// placeholder, or one character.
fn length(rest: &str) -> usize {
    let first = rest.chars().next().expect("something is left");
    let to = |end: Option<usize>, n_bytes: usize| end.map_or(rest.len(), |at| at + n_bytes);
    match first {
        '\'' | '"' | '`' => to(rest[1..].find(first), 2),
        '[' => to(rest.find(']'), 1),
        '-' if rest.starts_with("--") => to(rest.find('\n'), 1),
        '/' if rest.starts_with("/*") => to(rest[2..].find("*/"), 4),
        '?' => 1 + rest[1..].bytes().take_while(u8::is_ascii_digit).count(),
        _ => first.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_in() {
        let check = |sql: &str, values: &[Value<'_>], expect: &str| {
            assert_eq!(Pieces::parse(sql).fill(values).expect("valid"), expect);
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
        assert!(Pieces::parse("?").fill(&[]).is_err());
    }
}
