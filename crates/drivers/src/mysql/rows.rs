//! Reads rows directly from their packets: the columns are located first and decoded when they are
//! read.
//!
//! Locating the columns proves that the row is complete, so decoding cannot fail. Not here:
//! packets.

use model::{Civil, Row, Value};

use super::columns::{Column, Columns, kind};
use super::dates::{self, US_PER_S, read_span_us};
use super::packets::Reader;

/// Encoding of the values in a row packet: binary or text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Binary format, which servers use for results of prepared statements.
    Binary,
    /// Text format, which servers use for results of statements sent as text.
    Text,
}

/// Start and end, in bytes, of a value in the payload of a row packet; `None` if the value is
/// null.
pub(super) type Place = Option<(u32, u32)>;

/// Locates the value of each column in a row's packet, and stores their positions in `places`;
/// `None` if the packet is malformed.
#[inline]
pub(super) fn find(
    payload: &[u8],
    columns: &[Column],
    form: Form,
    places: &mut Vec<Place>,
) -> Option<()> {
    places.clear();
    // Places are 32 bits; a packet has at most 1 GiB.
    if payload.len() > u32::MAX as usize {
        return None;
    }
    match form {
        Form::Binary => find_binary(payload, columns, places),
        Form::Text => find_text(payload, columns, places),
    }
}

fn find_binary(payload: &[u8], columns: &[Column], places: &mut Vec<Place>) -> Option<()> {
    // One bit per column, the first two unused.
    let n_bitmap = (columns.len() + 9) / 8;
    let nulls = payload.get(1..1 + n_bitmap)?;
    let mut reader = Reader(&payload[1 + n_bitmap..]);
    for (index, column) in columns.iter().enumerate() {
        if nulls[(index + 2) / 8] & (1 << ((index + 2) % 8)) != 0 {
            places.push(None);
            continue;
        }
        let bytes = match column.kind {
            kind::TINY => reader.take(1)?,
            kind::SHORT | kind::YEAR => reader.take(2)?,
            kind::LONG | kind::INT24 | kind::FLOAT => reader.take(4)?,
            kind::LONGLONG | kind::DOUBLE => reader.take(8)?,
            kind::NULL => &[],
            kind::DATE | kind::NEWDATE | kind::DATETIME | kind::TIMESTAMP => {
                let bytes = reader.string()?;
                matches!(bytes.len(), 0 | 4 | 7 | 11).then_some(bytes)?
            }
            kind::TIME => {
                let bytes = reader.string()?;
                matches!(bytes.len(), 0 | 8 | 12).then_some(bytes)?
            }
            _ => reader.string()?,
        };
        let end = payload.len() - reader.0.len();
        places.push(Some(((end - bytes.len()) as u32, end as u32)));
    }
    Some(())
}

fn find_text(payload: &[u8], columns: &[Column], places: &mut Vec<Place>) -> Option<()> {
    let mut reader = Reader(payload);
    for _ in columns {
        if reader.0.first() == Some(&0xfb) {
            reader.u8()?;
            places.push(None);
            continue;
        }
        let bytes = reader.string()?;
        let end = payload.len() - reader.0.len();
        places.push(Some(((end - bytes.len()) as u32, end as u32)));
    }
    Some(())
}

/// A row in a received packet, with the position of each value. Values are decoded when they are
/// read.
pub(super) struct Found<'r> {
    pub(super) payload: &'r [u8],
    pub(super) columns: &'r Columns,
    pub(super) places: &'r [Place],
    pub(super) form: Form,
    pub(super) result_set: usize,
}

impl Row for Found<'_> {
    fn width(&self) -> usize {
        self.places.len()
    }

    #[inline]
    fn value(&self, column: usize) -> Value<'_> {
        let Some(Some((start, end))) = self.places.get(column) else { return Value::Null };
        let (start, end) = (*start, *end);
        let bytes = &self.payload[start as usize..end as usize];
        let column = self.columns.list[column];
        match self.form {
            Form::Binary => binary_value(bytes, column),
            Form::Text => text_value(bytes, column),
        }
    }

    fn result_set(&self) -> usize {
        self.result_set
    }

    fn name(&self, column: usize) -> &str {
        self.columns.name(column)
    }
}

#[inline]
fn binary_value(bytes: &[u8], column: Column) -> Value<'_> {
    match column.kind {
        kind::LONG | kind::INT24 | kind::LONGLONG | kind::TINY | kind::SHORT | kind::YEAR => {
            integer(bytes, column.is_unsigned)
        }
        kind::DOUBLE => {
            bytes.try_into().map_or(Value::Null, |b| Value::Float(f64::from_le_bytes(b)))
        }
        kind::FLOAT => {
            bytes.try_into().map_or(Value::Null, |b| Value::Float(f32::from_le_bytes(b).into()))
        }
        kind::DATETIME | kind::TIMESTAMP => binary_instant(bytes),
        kind::DATE | kind::NEWDATE => binary_day(bytes),
        kind::TIME => binary_span(bytes),
        kind::NULL => Value::Null,
        kind::DECIMAL | kind::NEWDECIMAL => decimal(bytes),
        _ => letters(bytes, column),
    }
}

/// Decodes a little-endian integer of 1, 2, 4 or 8 bytes to a [`Value`].
#[inline]
fn integer(bytes: &[u8], is_unsigned: bool) -> Value<'_> {
    let is_negative = !is_unsigned && bytes.last().is_some_and(|last| last & 0x80 != 0);
    let mut wide = [if is_negative { 0xff } else { 0 }; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let value = i64::from_le_bytes(wide);
    if is_unsigned && value < 0 { beyond(value as u64) } else { Value::Int(value) }
}

/// Converts an unsigned integer greater than `i64::MAX` to the nearest float.
#[cold]
fn beyond(value: u64) -> Value<'static> {
    Value::Float(value as f64)
}

fn binary_day(bytes: &[u8]) -> Value<'_> {
    let days = binary_civil(bytes).to_days();
    Value::Date(days.expect("a year of two bytes is near enough"))
}

fn binary_instant(bytes: &[u8]) -> Value<'_> {
    let us = binary_civil(bytes).to_us();
    Value::Timestamp(us.expect("a year of two bytes is near enough"))
}

fn binary_civil(bytes: &[u8]) -> Civil {
    let mut civil = Civil::default();
    if let [a, b, month, day, time @ ..] = bytes {
        civil.year = i64::from(u16::from_le_bytes([*a, *b]));
        (civil.month, civil.day) = (*month, *day);
        if let [hour, minute, second, us @ ..] = time {
            (civil.hour, civil.minute, civil.second) = (*hour, *minute, *second);
            civil.us = us.try_into().map_or(0, u32::from_le_bytes);
        }
    }
    civil
}

/// Decodes a TIME value in binary format to an integer number of microseconds, since [`Value`] has
/// no type for it.
fn binary_span(bytes: &[u8]) -> Value<'_> {
    let mut reader = Reader(bytes);
    let mut read = || {
        let is_negative = reader.u8()? != 0;
        let days = i64::from(reader.u32()?);
        let [hour, minute, second] = [reader.u8()?, reader.u8()?, reader.u8()?].map(i64::from);
        let us = reader.u32().map_or(0, i64::from);
        let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
        let span = seconds.checked_mul(US_PER_S)?.checked_add(us)?;
        Some(if is_negative { -span } else { span })
    };
    Value::Int(read().unwrap_or(0))
}

fn letters(bytes: &[u8], column: Column) -> Value<'_> {
    if column.is_binary || column.kind == kind::BIT {
        return Value::Bytes(bytes);
    }
    str::from_utf8(bytes).map_or(Value::Bytes(bytes), Value::Text)
}

#[inline]
fn text_value(bytes: &[u8], column: Column) -> Value<'_> {
    let value = match column.kind {
        kind::LONG | kind::INT24 | kind::LONGLONG | kind::TINY | kind::SHORT | kind::YEAR => {
            text_integer(bytes)
        }
        kind::DECIMAL | kind::NEWDECIMAL => return decimal(bytes),
        kind::DOUBLE | kind::FLOAT => {
            str::from_utf8(bytes).ok().and_then(|text| text.parse().ok()).map(Value::Float)
        }
        kind::DATE | kind::NEWDATE => dates::read(bytes).and_then(Civil::to_days).map(Value::Date),
        kind::DATETIME | kind::TIMESTAMP => {
            dates::read(bytes).and_then(Civil::to_us).map(Value::Timestamp)
        }
        kind::TIME => read_span_us(bytes).map(Value::Int),
        kind::NULL => Some(Value::Null),
        _ => None,
    };
    value.unwrap_or_else(|| letters(bytes, column))
}

fn text_integer(bytes: &[u8]) -> Option<Value<'_>> {
    let (is_negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value: u64 = 0;
    for digit in digits {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        value = value.checked_mul(10)?.checked_add(digit)?;
    }
    Some(match (is_negative, i64::try_from(value)) {
        (false, Ok(value)) => Value::Int(value),
        (false, Err(_)) => beyond(value),
        (true, _) => Value::Int(0i64.checked_sub_unsigned(value)?),
    })
}

/// Parses a DECIMAL value, which is text in both formats. If its digits do not fit into `i64`,
/// returns the text.
fn decimal(bytes: &[u8]) -> Value<'_> {
    let read = || {
        let (is_negative, digits) = match bytes {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        let (mut unscaled, mut scale, mut n_digits): (i64, Option<u8>, usize) = (0, None, 0);
        for byte in digits {
            match (byte, scale) {
                (b'.', None) => scale = Some(0),
                (b'0'..=b'9', _) => {
                    let digit = i64::from(byte - b'0');
                    let signed = if is_negative { -digit } else { digit };
                    unscaled = unscaled.checked_mul(10)?.checked_add(signed)?;
                    if let Some(scale) = &mut scale {
                        *scale = scale.checked_add(1)?;
                    }
                    n_digits += 1;
                }
                _ => return None,
            }
        }
        (n_digits > 0).then_some(Value::Decimal { unscaled, scale: scale.unwrap_or(0) })
    };
    read().unwrap_or_else(|| str::from_utf8(bytes).map_or(Value::Bytes(bytes), Value::Text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: u8, is_unsigned: bool) -> Column {
        let mut columns = Columns::default();
        let mut definition = vec![0, 0, 0, 0, 1, b'c', 0, 12];
        definition.extend_from_slice(&[33, 0, 0, 0, 0, 0, kind, if is_unsigned { 32 } else { 0 }]);
        definition.extend_from_slice(&[0, 0, 0, 0]);
        columns.add(&definition).expect("a definition");
        columns.list[0]
    }

    #[test]
    fn integers_keep_sign_and_size() {
        let check = |bytes: &[u8], kind, is_unsigned, expect| {
            assert_eq!(binary_value(bytes, column(kind, is_unsigned)), expect);
        };
        check(&[0xff], kind::TINY, false, Value::Int(-1));
        check(&[0xff], kind::TINY, true, Value::Int(255));
        check(&[0, 0x80], kind::SHORT, false, Value::Int(-32_768));
        check(&i64::MIN.to_le_bytes(), kind::LONGLONG, false, Value::Int(i64::MIN));
        check(&u64::MAX.to_le_bytes(), kind::LONGLONG, true, Value::Float(u64::MAX as f64));
        let check = |text: &str, expect| {
            assert_eq!(text_value(text.as_bytes(), column(kind::LONGLONG, true)), expect);
        };
        check("-9223372036854775808", Value::Int(i64::MIN));
        check("9223372036854775807", Value::Int(i64::MAX));
        check("18446744073709551615", Value::Float(u64::MAX as f64));
        check("99999999999999999999", Value::Text("99999999999999999999"));
        check("-", Value::Text("-"));
    }

    #[test]
    fn decimals_are_digits_and_a_scale() {
        let check = |text: &str, expect| {
            assert_eq!(text_value(text.as_bytes(), column(kind::NEWDECIMAL, false)), expect);
        };
        check("12.50", Value::Decimal { unscaled: 1250, scale: 2 });
        check("-0.01", Value::Decimal { unscaled: -1, scale: 2 });
        check("7", Value::Decimal { unscaled: 7, scale: 0 });
        let fine = format!("0.{}", "0".repeat(300));
        check(&fine, Value::Text(&fine));
        check("-9223372036854775808", Value::Decimal { unscaled: i64::MIN, scale: 0 });
        check("99999999999999999999.9", Value::Text("99999999999999999999.9"));
        check("1.2.3", Value::Text("1.2.3"));
        check("", Value::Text(""));
    }

    #[test]
    fn a_column_that_the_server_has_not_sent_is_null() {
        let columns = Columns::default();
        let (payload, form) = (&[][..], Form::Text);
        let row = Found { payload, columns: &columns, places: &[], form, result_set: 0 };
        assert_eq!((row.width(), row.value(2), row.name(2)), (0, Value::Null, ""));
    }

    #[test]
    fn a_row_that_is_cut_short_is_no_row() {
        let columns = [column(kind::LONG, false), column(kind::VAR_STRING, false)];
        let whole = [0, 0, 7, 0, 0, 0, 2, b'a', b'b'];
        let mut places = Vec::new();
        assert_eq!(find(&whole, &columns, Form::Binary, &mut places), Some(()));
        assert_eq!(places, [Some((2, 6)), Some((7, 9))]);
        for end in 0..whole.len() {
            assert_eq!(find(&whole[..end], &columns, Form::Binary, &mut places), None, "{end}");
        }
    }
}
