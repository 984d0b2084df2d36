//! Descriptions of statements as they are sent, for people to read. Not here: requests (session).

use crate::{Sent, Value};

/// Limit on the characters of a statement's text that are shown to the user, because a bulk INSERT
/// may have millions. The rest is cut off.
const SQL_MAX: usize = 4_000;
/// Limit on the characters of a parameter's value that are shown to the user. The rest is cut off.
const VALUE_MAX: usize = 200;

/// A statement as the driver sends it to the database, kept to be shown to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentStatement {
    /// Name of the statement in messages; empty if it has none.
    pub name: &'static str,
    /// Text of the statement, cut after 4,000 characters.
    pub sql: String,
    /// Whether the statement is sent as a prepared statement or as text.
    pub sent: Sent,
    /// Values of a prepared statement, formatted for display; empty for text, which contains its
    /// values.
    pub values: Vec<String>,
    /// Whether this is the first execution of the prepared statement on the connection, so that it
    /// must be prepared now, for which some databases need another round trip.
    pub is_first_call: bool,
}

/// The statements with which a database begins a transaction.
#[derive(Clone, Copy, Debug)]
pub struct BeginSql {
    /// Statement that begins a transaction that may write.
    pub writes: &'static str,
    /// Statement that begins a read-only transaction.
    pub reads: &'static str,
    /// Statement that begins a transaction without saying whether it writes, such as `BEGIN`.
    pub plain: &'static str,
}

impl SentStatement {
    /// Describes a statement that is sent as text, with all its values.
    pub fn text(sql: &str) -> SentStatement {
        let (sql, values) = (shortened(sql, SQL_MAX), Vec::new());
        SentStatement { name: "", sql, sent: Sent::Text, values, is_first_call: false }
    }

    /// Describes a prepared statement and its values.
    pub fn prepared(name: &'static str, sql: &str, values: &[Value<'_>]) -> SentStatement {
        let values = values.iter().map(shown_value).collect();
        let (sql, sent) = (shortened(sql, SQL_MAX), Sent::Prepared);
        SentStatement { name, sql, sent, values, is_first_call: false }
    }

    /// Returns the statement's description with the name replaced.
    pub fn named(self, name: &'static str) -> SentStatement {
        SentStatement { name, ..self }
    }
}

/// Formats a value for display: text in quotes, bytes in hexadecimal, timestamps in UTC.
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

/// Cuts a text after `letters_max` characters; what is cut off is replaced by the text's length in
/// bytes.
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
