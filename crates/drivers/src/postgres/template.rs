//! Statements as text with values as literals, for the option `statements=simple`.
//!
//! A value becomes an untyped literal (`'12'`), whose type the server derives from the context, as
//! for a parameter. A literal with a backslash is preceded by `E`, so that its meaning does not
//! depend on `standard_conforming_strings`.

use model::Value;

use super::text;

/// SQL text of a statement, split at its placeholders, to be sent with literals in their place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Template {
    /// Text before each placeholder, with the index, from 0, of the value that replaces the
    /// placeholder.
    parts: Vec<(String, usize)>,
    /// SQL text after the last placeholder; the whole text if there is none.
    rest: String,
    /// Number of values that the statement needs: the highest placeholder number, such as 3 for
    /// `$3`.
    pub(super) n_values: usize,
}

impl Template {
    /// Splits an SQL text at the placeholders `$1`, `$2`... outside of quotes and comments.
    pub(super) fn parse(sql: &str) -> Template {
        let (mut parts, mut n_values, mut start, mut at) = (Vec::new(), 0, 0, 0);
        while at < sql.len() {
            let rest = &sql[at..];
            let Some((number, n_bytes)) = placeholder(&sql[..at], rest) else {
                at += skip(&sql[..at], rest);
                continue;
            };
            parts.push((sql[start..at].to_owned(), number - 1));
            n_values = n_values.max(number);
            at += n_bytes;
            start = at;
        }
        Template { parts, rest: sql[start..].to_owned(), n_values }
    }

    /// Appends the SQL text with `values` as literals in place of the placeholders. Panics unless
    /// there are `n_values` of them.
    pub(super) fn fill(&self, values: &[Value<'_>], out: &mut Vec<u8>) {
        assert_eq!(values.len(), self.n_values, "the values were counted");
        for (before, index) in &self.parts {
            out.extend_from_slice(before.as_bytes());
            put_literal(out, &values[*index]);
        }
        out.extend_from_slice(self.rest.as_bytes());
    }
}

fn put_literal(out: &mut Vec<u8>, value: &Value<'_>) {
    if *value == Value::Null {
        out.extend_from_slice(b"NULL");
        return;
    }
    let start = out.len();
    out.push(b'\'');
    text::put(out, value);
    if out[start + 1..].iter().any(|byte| matches!(byte, b'\'' | b'\\')) {
        escape(out, start);
    }
    out.push(b'\'');
}

/// Doubles quotes and backslashes in the literal that begins at `start` and is not closed yet.
#[cold]
fn escape(out: &mut Vec<u8>, start: usize) {
    let written = out.split_off(start);
    if written.contains(&b'\\') {
        out.extend_from_slice(b" E");
    }
    out.push(b'\'');
    for byte in &written[1..] {
        if matches!(byte, b'\'' | b'\\') {
            out.push(*byte);
        }
        out.push(*byte);
    }
}

/// Returns number and length in bytes of the placeholder, such as `$7`, at the start of `rest`;
/// `None` if there is none. `before` is the text before `rest`, since a `$` within a word begins no
/// placeholder.
fn placeholder(before: &str, rest: &str) -> Option<(usize, usize)> {
    if before.ends_with(is_of_word) {
        return None;
    }
    let tail = rest.strip_prefix('$')?;
    let n_digits = tail.bytes().take_while(u8::is_ascii_digit).count();
    // A statement has at most 65,535 values.
    let number = tail[..n_digits].parse::<u16>().ok().filter(|number| *number > 0)?;
    Some((usize::from(number), n_digits + 1))
}

/// Returns the length in bytes of the token at the start of `rest`: a quoted text, a comment, or
/// one character. `before` is the text before `rest`, since an `E` before a quote changes its
/// escapes.
fn skip(before: &str, rest: &str) -> usize {
    let first = rest.chars().next().expect("something is left");
    let to = |end: Option<usize>, n_bytes: usize| end.map_or(rest.len(), |at| at + n_bytes);
    match first {
        '\'' if before.ends_with(['e', 'E']) => escaped(rest),
        '\'' | '"' => to(rest[1..].find(first), 2),
        '-' if rest.starts_with("--") => to(rest.find('\n'), 1),
        '/' if rest.starts_with("/*") => comment(rest),
        '$' if !before.ends_with(is_of_word) => match dollar_tag(rest) {
            Some(tag) => to(rest[tag.len()..].find(tag), 2 * tag.len()),
            None => 1,
        },
        _ => first.len_utf8(),
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Returns the length in bytes of the quoted text with backslash escapes, such as `'...\'...'`
/// after an `E`, at the start of `rest`.
fn escaped(rest: &str) -> usize {
    let mut bytes = rest.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'\'' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the length in bytes of the comment `/*...*/` at the start of `rest`, including nested
/// comments.
fn comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while let Some(found) = rest[at..].find(['/', '*']) {
        at += found;
        match &rest.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] if depth == 1 => return at + 2,
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    rest.len()
}

/// Returns the tag, `$$` or `$word$`, of a dollar-quoted text at the start of `rest`; `None` if
/// there is none.
fn dollar_tag(rest: &str) -> Option<&str> {
    let end = rest[1..].find('$')? + 2;
    let word = &rest[1..end - 1];
    let is_tag = word.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !word.starts_with(|c: char| c.is_ascii_digit());
    is_tag.then_some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_in() {
        let check = |sql: &str, values: &[Value<'_>], expect: &str| {
            let mut out = Vec::new();
            Template::parse(sql).fill(values, &mut out);
            assert_eq!(String::from_utf8(out).expect("characters"), expect);
        };
        let three = [Value::Int(-1), Value::Text("it's"), Value::Null];
        check("SELECT $1, $2,$3", &three, "SELECT '-1', 'it''s',NULL");
        check("a=$2 OR b-$1 AND $2", &three[..2], "a='it''s' OR b-'-1' AND 'it''s'");
        check("v = $1", &[Value::Text("a\\b'")], "v =  E'a\\\\b'''");
        check("v = $1", &[Value::Bytes(&[1])], "v =  E'\\\\x01'");
        check("v = $1", &[Value::cents(-5)], "v = '-0.05'");
        check("nothing", &[], "nothing");
    }

    #[test]
    fn what_is_quoted_is_no_place() {
        let check = |sql: &str, n_values: usize| {
            assert_eq!(Template::parse(sql).n_values, n_values, "{sql}");
        };
        check("SELECT '$1', \"$2\", 'it''s $3'", 0);
        check("SELECT E'\\'$1', $1", 1);
        check("SELECT 1 -- $1\n, $1", 1);
        check("SELECT /* $1 /* $2 */ $3 */ $1", 1);
        check("SELECT $$ $1 $$, $tag$ $2 $$ $tag$, $1", 1);
        check("SELECT a$1, ä, $12", 12);
        check("SELECT 'open $1", 0);
        check("SELECT /* open $1", 0);
        check("SELECT $0, $, $99999", 0);
    }
}
