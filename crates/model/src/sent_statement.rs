//! A statement as sent, for people to read. Not here: requests (session).

use crate::{Sent, Value};

/// Limit on characters of a statement's text: a bulk INSERT may have millions.
const SQL_MAX: usize = 4_000;
/// Limit on characters of a value.
const VALUE_MAX: usize = 200;

/// A statement as the driver sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentStatement {
    /// Name in messages; empty if it has none.
    pub name: &'static str,
    /// Text, shortened to 4,000 characters.
    pub sql: String,
    /// Prepared, or sent as text.
    pub sent: Sent,
    /// Formatted values of a prepared statement; empty for a text, which contains them.
    pub values: Vec<String>,
    /// First call of this prepared statement on the connection: it is prepared now, for which some
    /// databases need another round trip.
    pub is_first_call: bool,
}

/// A database's statements to begin a transaction.
#[derive(Clone, Copy, Debug)]
pub struct BeginSql {
    /// Begins a transaction that may write.
    pub writes: &'static str,
    /// Begins a read-only transaction.
    pub reads: &'static str,
    /// Begins a transaction without an access mode.
    pub plain: &'static str,
}

impl SentStatement {
    /// Describes a complete text.
    pub fn text(sql: &str) -> SentStatement {
        let (sql, values) = (shortened(sql, SQL_MAX), Vec::new());
        SentStatement { name: "", sql, sent: Sent::Text, values, is_first_call: false }
    }

    /// Describes a prepared statement with its values.
    pub fn prepared(name: &'static str, sql: &str, values: &[Value<'_>]) -> SentStatement {
        let values = values.iter().map(shown_value).collect();
        let (sql, sent) = (shortened(sql, SQL_MAX), Sent::Prepared);
        SentStatement { name, sql, sent, values, is_first_call: false }
    }

    /// Returns the statement with another name.
    pub fn named(self, name: &'static str) -> SentStatement {
        SentStatement { name, ..self }
    }
}

/// Formats a value: text in quotes, bytes in hexadecimal, timestamps in UTC.
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

/// Cuts a long text and appends its length in bytes.
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
