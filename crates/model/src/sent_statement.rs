//! A statement as a driver sends it, for people to read. Not here: requests (session).

use crate::{Sent, Value};

/// Letters of a statement's text that are kept: a bulk INSERT may have millions.
const SQL_MAX: usize = 4_000;
/// Letters of a value that are kept.
const VALUE_MAX: usize = 200;

/// A statement as it goes to the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentStatement {
    /// Its name in messages; empty where it has none.
    pub name: &'static str,
    /// Its text.
    pub sql: String,
    /// Whether that is prepared, with its values apart.
    pub sent: Sent,
    /// Its values; those of a text stand in it.
    pub values: Vec<String>,
    /// The connection has not called this prepared statement before: it is prepared with this
    /// call, for which some databases need a round trip more.
    pub is_first_call: bool,
}

/// By which words a database begins a transaction.
#[derive(Clone, Copy, Debug)]
pub struct BeginSql {
    /// One that may write.
    pub writes: &'static str,
    /// One that only reads.
    pub reads: &'static str,
    /// One that does not say.
    pub plain: &'static str,
}

impl SentStatement {
    /// A text that is complete.
    pub fn text(sql: &str) -> SentStatement {
        let (sql, values) = (shortened(sql, SQL_MAX), Vec::new());
        SentStatement { name: "", sql, sent: Sent::Text, values, is_first_call: false }
    }

    /// A prepared statement with its values.
    pub fn prepared(name: &'static str, sql: &str, values: &[Value<'_>]) -> SentStatement {
        let values = values.iter().map(shown_value).collect();
        let (sql, sent) = (shortened(sql, SQL_MAX), Sent::Prepared);
        SentStatement { name, sql, sent, values, is_first_call: false }
    }

    /// The same with a name.
    pub fn named(self, name: &'static str) -> SentStatement {
        SentStatement { name, ..self }
    }
}

/// A value as people read it: text in quotes, bytes in hexadecimal, instants in UTC.
pub fn shown_value(value: &Value<'_>) -> String {
    match *value {
        Value::Null => "NULL".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Decimal { unscaled, scale } => {
            let mut digits = Vec::new();
            crate::put_decimal(&mut digits, unscaled, scale);
            String::from_utf8(digits).expect("digits are ASCII")
        }
        Value::Text(text) => format!("'{}'", shortened(text, VALUE_MAX)),
        Value::Bytes(bytes) => {
            let digits = bytes.iter().take(VALUE_MAX).map(|byte| format!("{byte:02x}"));
            format!("x'{}'", shortened(&digits.collect::<String>(), VALUE_MAX))
        }
        Value::Timestamp(us) => in_quotes(|text| crate::Civil::of_us(us).write(text)),
        Value::Date(days) => in_quotes(|text| crate::Civil::of_days(days).write_date(text)),
    }
}

fn in_quotes(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut text = Vec::new();
    write(&mut text);
    format!("'{}'", String::from_utf8(text).expect("an instant is ASCII"))
}

/// The beginning of a long text, and how long it is.
fn shortened(text: &str, letters_max: usize) -> String {
    match text.char_indices().nth(letters_max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_as_people_read_them() {
        let check = |value: Value<'_>, expect: &str| assert_eq!(shown_value(&value), expect);
        check(Value::Null, "NULL");
        check(Value::cents(-150), "-1.50");
        check(Value::Text("it's"), "'it's'");
        check(Value::Bytes(&[0, 255]), "x'00ff'");
        check(Value::Timestamp(0), "'1970-01-01 00:00:00.000000'");
        check(Value::Date(-1), "'1969-12-31'");
        let long = "a".repeat(300);
        assert!(shown_value(&Value::Text(&long)).ends_with("a… (300 bytes)'"));
    }
}
