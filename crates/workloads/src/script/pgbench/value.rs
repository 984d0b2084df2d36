//! Values of expressions: how they are read from text and written as text.

use super::error::Error;

/// Value of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
}

impl Value {
    /// Reads the text of a variable, as is done when an expression needs its value: `null`, a
    /// prefix of `true`, `yes`, `false` or `no`, `on`, `off` or `of`, a 64-bit integer, or a
    /// number with a point or an exponent. Upper and lower case do not matter.
    ///
    /// # Errors
    ///
    /// The text is none of these, or a number is too large or too small for its type.
    pub fn of_text(text: &str) -> Result<Value, Error> {
        let is_prefix_of = |word: &str| {
            !text.is_empty() && word.get(..text.len()).is_some_and(|w| w.eq_ignore_ascii_case(text))
        };
        let is = |word: &str| text.eq_ignore_ascii_case(word);
        if is("null") {
            Ok(Value::Null)
        } else if is_prefix_of("true") || is_prefix_of("yes") || is("on") {
            Ok(Value::Bool(true))
        } else if is_prefix_of("false") || is_prefix_of("no") || is("off") || is("of") {
            Ok(Value::Bool(false))
        } else if looks_like_int(text) {
            let number = text.trim_start_matches(is_c_space).parse().map(Value::Int);
            number.map_err(|_| Error::new(format!("'{text}' is not a 64-bit integer")))
        } else {
            let number = parse_double(text.trim_start_matches(is_c_space));
            number.map(Value::Double).ok_or_else(|| Error::new(format!("'{text}' is not a number")))
        }
    }

    /// Returns the text by which the value stands in a statement: `NULL`, `true` or `false`, or a
    /// number; a double with at most 15 digits.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write_to(&mut text);
        text
    }

    /// Appends what [`Value::text`] returns.
    pub(super) fn write_to(self, out: &mut String) {
        match self {
            Value::Null => out.push_str("NULL"),
            Value::Bool(value) => out.push_str(if value { "true" } else { "false" }),
            Value::Int(value) => write_int(value, out),
            Value::Double(value) => write_double(value, out),
        }
    }

    /// Name of the type, as in error messages.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Int(_) => "int",
            Value::Double(_) => "double",
        }
    }

    /// Whether a condition with this value holds: numbers other than 0 do, null does not.
    pub fn is_true(&self) -> bool {
        match *self {
            Value::Null => false,
            Value::Bool(value) => value,
            Value::Int(value) => value != 0,
            Value::Double(value) => value != 0.0,
        }
    }

    pub(super) fn to_bool(self) -> Result<bool, Error> {
        match self {
            Value::Bool(value) => Ok(value),
            other => Err(cannot_be(other, "boolean")),
        }
    }

    /// Rounds doubles to the nearest integer, halves to the even one.
    pub(super) fn to_int(self) -> Result<i64, Error> {
        // 2^63, the least double beyond the integers.
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        match self {
            Value::Int(value) => Ok(value),
            Value::Double(value) => {
                let rounded = value.round_ties_even();
                match (-LIMIT..LIMIT).contains(&rounded) {
                    true => Ok(rounded as i64),
                    false => Err(Error::new(format!("{} is out of range for int", self.text()))),
                }
            }
            other => Err(cannot_be(other, "int")),
        }
    }

    pub(super) fn to_double(self) -> Result<f64, Error> {
        match self {
            Value::Double(value) => Ok(value),
            Value::Int(value) => Ok(value as f64),
            other => Err(cannot_be(other, "double")),
        }
    }
}

fn cannot_be(value: Value, wanted: &str) -> Error {
    Error::new(format!("a value of type {} cannot be used as {wanted}", value.type_name()))
}

/// Whether C's `isspace` holds.
pub(super) fn is_c_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

/// Whether text is digits after spaces and a sign: it is an integer then, or an error.
fn looks_like_int(text: &str) -> bool {
    let text = text.trim_start_matches(is_c_space);
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Parses a number as C's `strtod` does; `None` if it is none, or cannot be told from infinity or
/// from zero with full precision.
pub(super) fn parse_double(text: &str) -> Option<f64> {
    let magnitude = text.strip_prefix(['+', '-']).unwrap_or(text);
    if let Some(hexadecimal) = magnitude.strip_prefix("0x").or(magnitude.strip_prefix("0X")) {
        let value = parse_hexadecimal(hexadecimal)?;
        return Some(if text.starts_with('-') { -value } else { value });
    }
    let value: f64 = text.parse().ok()?;
    let mantissa = magnitude.split(['e', 'E']).next().unwrap_or_default();
    let is_written_zero = !mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    let is_word = magnitude.starts_with(|c: char| c.is_ascii_alphabetic());
    match is_word || value.is_normal() || (value == 0.0 && is_written_zero) {
        true => Some(value),
        false => None,
    }
}

/// Parses what follows `0x`: hexadecimal digits with at most one point, and `p` with a power of 2.
fn parse_hexadecimal(text: &str) -> Option<f64> {
    let (digits, power) = match text.split_once(['p', 'P']) {
        Some((digits, power)) => (digits, power.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0.0;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let power = power.checked_sub(4 * i32::try_from(fraction.len()).ok()?)?;
    // In two steps, because a power that is tiny alone need not make the product tiny.
    let half = power / 2;
    let value = value * 2_f64.powi(half) * 2_f64.powi(power - half);
    value.is_finite().then_some(value)
}

/// Appends the digits of an integer without the machinery of `format!`: a client does this for
/// every variable that it sets.
fn write_int(value: i64, out: &mut String) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    let mut rest = value.unsigned_abs();
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.push('-');
    }
    out.extend(digits[first..].iter().map(|digit| char::from(*digit)));
}

/// Appends a double as PostgreSQL's programs do with the format `%.15g`.
fn write_double(value: f64, out: &mut String) {
    /// Digits that every double keeps.
    const DIGITS: i32 = 15;
    if value.is_nan() {
        out.push_str("NaN");
        return;
    }
    if value.is_infinite() {
        out.push_str(if value < 0.0 { "-Infinity" } else { "Infinity" });
        return;
    }
    let scientific = format!("{value:.*e}", DIGITS as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').expect("the format writes an exponent");
    let exponent: i32 = exponent.parse().expect("the format writes a number");
    if (-4..DIGITS).contains(&exponent) {
        let fixed = format!("{value:.*}", (DIGITS - 1 - exponent) as usize);
        out.push_str(without_zeros(&fixed));
    } else {
        out.push_str(without_zeros(mantissa));
        let sign = if exponent < 0 { '-' } else { '+' };
        out.push_str(&format!("e{sign}{:02}", exponent.abs()));
    }
}

/// Removes zeros at the end of a fraction, and the point if nothing follows it.
fn without_zeros(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_written_with_15_digits() {
        let check = |value: f64, expected: &str| {
            assert_eq!(Value::Double(value).text(), expected);
        };
        check(0.0, "0");
        check(-0.0, "-0");
        check(15.0, "15");
        check(0.1 + 0.2, "0.3");
        check(1.0 / 3.0, "0.333333333333333");
        check(123_456_789_012_345.0, "123456789012345");
        check(1e15, "1e+15");
        check(999_999_999_999_999.9, "1e+15");
        check(0.0001, "0.0001");
        check(0.000_01, "1e-05");
        check(8.507_059_173_023_462e37, "8.50705917302346e+37");
        check(-1.5e300, "-1.5e+300");
        check(f64::INFINITY, "Infinity");
        check(f64::NEG_INFINITY, "-Infinity");
        check(-f64::NAN, "NaN");
    }

    #[test]
    fn other_values_are_written_as_sql_has_them() {
        let texts = [Value::Null, Value::Bool(true), Value::Bool(false), Value::Int(i64::MIN)]
            .map(|value| value.text());
        assert_eq!(texts, ["NULL", "true", "false", "-9223372036854775808"]);
    }

    #[test]
    fn a_text_has_the_type_that_it_looks_like() {
        let check = |text: &str, expected: Option<Value>| {
            assert_eq!(Value::of_text(text).ok(), expected, "{text:?}");
        };
        check("NULL", Some(Value::Null));
        for text in ["t", "TRUE", "y", "Yes", "on"] {
            check(text, Some(Value::Bool(true)));
        }
        for text in ["f", "false", "n", "no", "OFF", "of"] {
            check(text, Some(Value::Bool(false)));
        }
        for text in ["", "o", "nu", "truest", "-", " ", "1 ", "12a", "1e999", "1e-999", "1.5.5"] {
            check(text, None);
        }
        check("+3", Some(Value::Int(3)));
        check(" -7", Some(Value::Int(-7)));
        check("-9223372036854775808", Some(Value::Int(i64::MIN)));
        check("9223372036854775808", None);
        check("-10.1", Some(Value::Double(-10.1)));
        check(".5e1", Some(Value::Double(5.0)));
        check("0e-999", Some(Value::Double(0.0)));
        check("inf", Some(Value::Double(f64::INFINITY)));
        check("0x1.8p1", Some(Value::Double(3.0)));
        check("-0X10", Some(Value::Double(-16.0)));
    }
}
