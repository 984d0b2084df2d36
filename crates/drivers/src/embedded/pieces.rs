//! SQL text of a statement, split at its placeholders, to be executed with literals in their place.
//!
//! Not here: literals, which differ between databases, and execution.

use model::{DbError, Value};

use super::wrong_number;

/// Appends a value as an SQL literal.
pub(crate) type PutLiteral = fn(&mut String, &Value<'_>);

/// SQL text of a statement, split at its placeholders, to be executed with literals in their place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pieces {
    /// Text before each placeholder, with the index, from 0, of the value that replaces the
    /// placeholder.
    parts: Vec<(String, usize)>,
    rest: String,
    n_values: usize,
}

impl Pieces {
    /// Splits an SQL text at the placeholders `?` and `?1`, `?2`... outside of quotes and comments.
    pub(crate) fn parse(sql: &str) -> Pieces {
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
    pub(crate) fn fill(
        &self,
        values: &[Value<'_>],
        put_literal: PutLiteral,
    ) -> Result<String, DbError> {
        if values.len() != self.n_values {
            return Err(wrong_number(self.n_values, values.len()));
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
