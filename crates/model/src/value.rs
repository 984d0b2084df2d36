//! Values in statements and in rows of results. Not here: any wire format.

use crate::{DbError, DbErrorKind};

/// A parameter of a statement, or the value of a column in a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// SQL null, of any type.
    Null,
    /// An integer of at most 64 bits.
    Int(i64),
    /// A binary floating-point number.
    Float(f64),
    /// An exact decimal number, equal to `unscaled` / 10^`scale`. Amounts of money have a scale of
    /// 2.
    Decimal {
        /// The number without its decimal point, such as 150 for 1.50.
        unscaled: i64,
        /// Number of digits after the decimal point, such as 2 for 1.50.
        scale: u8,
    },
    /// Text, encoded as UTF-8.
    Text(&'a str),
    /// Bytes that need not be text.
    Bytes(&'a [u8]),
    /// A date and time, in microseconds since 1970-01-01T00:00:00Z.
    Timestamp(i64),
    /// A date, in days since 1970-01-01 in the Gregorian calendar. A date beyond the days that
    /// `i32` can count, such as PostgreSQL's `infinity`, is read as the smallest or largest day.
    Date(i32),
}

impl Value<'_> {
    /// Creates an amount of money, a decimal with two digits after the point, from a number of
    /// cents.
    pub fn cents(cents: i64) -> Value<'static> {
        Value::Decimal { unscaled: cents, scale: 2 }
    }

    /// Returns the name of the value's type with its article, for messages: `an integer`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Decimal { .. } => "a decimal",
            Value::Text(_) => "text",
            Value::Bytes(_) => "bytes",
            Value::Timestamp(_) => "a timestamp",
            Value::Date(_) => "a date",
        }
    }
}

macro_rules! from_integer {
    ($($integer:ty),*) => {
        $(impl From<$integer> for Value<'_> {
            fn from(value: $integer) -> Self {
                Value::Int(i64::from(value))
            }
        })*
    };
}
from_integer!(i64, i32, u32, u16, u8);

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Value::Text(value)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(value: &'a String) -> Self {
        Value::Text(value)
    }
}

/// A row of a result, read in place: a value is decoded only when a caller asks for it.
pub trait Row {
    /// Returns the number of columns of the row.
    fn width(&self) -> usize;

    /// Returns the value in `column`, counted from 0. Beyond the last column, returns null if the
    /// number of columns was reported by a server, because a faulty server must not crash dbdyno;
    /// otherwise panics.
    fn value(&self, column: usize) -> Value<'_>;

    /// Returns which of the reply's result sets the row belongs to, counted from 0.
    fn result_set(&self) -> usize {
        0
    }

    /// Returns the name of the column with this index, from 0; empty if the database does not
    /// report it.
    fn name(&self, _column: usize) -> &str {
        ""
    }

    /// Returns the column as an exact decimal number, given as an integer in units of 10^-`scale`;
    /// further digits are cut off. Fails if the value is null, not a decimal number, or out of
    /// range.
    ///
    /// Databases that store decimals as scaled integers override this, because there the stored
    /// integer is already the result.
    fn decimal(&self, column: usize, scale: u8) -> Result<i64, DbError> {
        let power = |n_digits: u8| 10i64.checked_pow(u32::from(n_digits));
        let fits = match self.value(column) {
            Value::Decimal { unscaled, scale: has } if has <= scale => {
                power(scale - has).and_then(|unit| unscaled.checked_mul(unit))
            }
            // Excess digits are cut off; of 19 or more nothing is left.
            Value::Decimal { unscaled, scale: has } => {
                Some(power(has - scale).map_or(0, |unit| unscaled / unit))
            }
            Value::Int(whole) => power(scale).and_then(|unit| whole.checked_mul(unit)),
            Value::Float(number) => match exact_decimal(number, scale) {
                Some(unscaled) => Some(unscaled),
                None => return Err(shape(column, "a decimal", Value::Float(number))),
            },
            other => return Err(shape(column, "a decimal", other)),
        };
        fits.ok_or_else(|| {
            let message = format!(
                "column {} of the result is a decimal with too many digits for {scale} fractional \
                 digits",
                column + 1
            );
            DbError::new(DbErrorKind::Shape, message)
        })
    }
}

impl dyn Row + '_ {
    /// Returns the column as an integer; another numeric type is converted if it is exactly an
    /// integer. Fails otherwise, and if the value is null.
    pub fn int(&self, column: usize) -> Result<i64, DbError> {
        match self.value(column) {
            Value::Int(value) => Ok(value),
            Value::Decimal { unscaled, scale: 0 } => Ok(unscaled),
            // Some servers return sums in another type than the summed column.
            Value::Float(number) if exact_decimal(number, 0).is_some() => Ok(number as i64),
            other => Err(shape(column, "an integer", other)),
        }
    }

    /// Returns the column as an integer, or `None` if the value is null. Fails if it is neither
    /// null nor exactly an integer.
    pub fn optional_int(&self, column: usize) -> Result<Option<i64>, DbError> {
        match self.value(column) {
            Value::Null => Ok(None),
            _ => self.int(column).map(Some),
        }
    }

    /// Returns the column as text. Fails if the value is null, has another type, or is not UTF-8.
    pub fn text(&self, column: usize) -> Result<&str, DbError> {
        match self.value(column) {
            Value::Text(value) => Ok(value),
            Value::Bytes(bytes) => {
                std::str::from_utf8(bytes).map_err(|_| shape(column, "text", Value::Bytes(bytes)))
            }
            other => Err(shape(column, "text", other)),
        }
    }

    /// Returns an amount of money in the column, in cents. Fails if it is null or not a decimal
    /// number.
    pub fn cents(&self, column: usize) -> Result<i64, DbError> {
        self.decimal(column, 2)
    }
}

/// Converts a float to the only decimal number with `scale` digits after the point that has this
/// float value, as an integer in units of 10^-`scale`. `None` if there is no such number, or more
/// than one.
fn exact_decimal(number: f64, scale: u8) -> Option<i64> {
    // Beyond this, not every integer has a float of its own.
    const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
    let unit = 10f64.powi(i32::from(scale));
    let unscaled = (number * unit).round();
    let is_exact = unscaled.abs() < WHOLE_MAX && unscaled / unit == number;
    is_exact.then_some(unscaled as i64)
}

fn shape(column: usize, wanted: &str, got: Value<'_>) -> DbError {
    let got = got.type_name();
    let message = format!("column {} of the result is {got}, expected {wanted}", column + 1);
    DbError::new(DbErrorKind::Shape, message)
}

/// A source of rows to load into a table, which gives one row at a time.
pub trait RowSource {
    /// Passes the next row to `emit` and returns true. Returns false, and passes nothing, if there
    /// are no more rows.
    fn next(&mut self, emit: &mut dyn FnMut(&[Value<'_>])) -> bool;
}

#[cfg(test)]
mod tests {
    use super::*;

    struct One(Value<'static>);

    impl Row for One {
        fn width(&self) -> usize {
            1
        }

        fn value(&self, _column: usize) -> Value<'_> {
            self.0
        }
    }

    #[test]
    fn a_decimal_is_read_to_a_scale_or_refused_where_it_does_not_fit() {
        let check = |value, scale, expect: Option<i64>| {
            assert_eq!(One(value).decimal(0, scale).ok(), expect, "{value:?}");
        };
        let decimal = |unscaled, scale| Value::Decimal { unscaled, scale };
        check(decimal(125, 1), 2, Some(1_250));
        check(decimal(-1_259, 3), 2, Some(-125));
        check(Value::Int(7), 2, Some(700));
        check(decimal(i64::MAX, 0), 2, None);
        check(Value::Int(i64::MIN), 1, None);
        check(Value::Int(1), 19, None);
        check(decimal(i64::MAX, 200), 2, Some(0));
        check(Value::Null, 2, None);
        check(Value::Float(1_234.56), 2, Some(123_456));
        check(Value::Float(-0.29), 2, Some(-29));
        check(Value::Float(0.1 + 0.2), 2, None);
        check(Value::Float(1.005), 2, None);
        check(Value::Float(f64::NAN), 2, None);
    }

    #[test]
    fn what_is_exactly_an_integer_is_read_as_one_whatever_its_type() {
        let check = |value, expect: Option<i64>| {
            let row: &dyn Row = &One(value);
            assert_eq!(row.int(0).ok(), expect, "{value:?}");
        };
        check(Value::Int(7), Some(7));
        check(Value::Decimal { unscaled: 7, scale: 0 }, Some(7));
        check(Value::Float(30_000.0), Some(30_000));
        check(Value::Float(-0.0), Some(0));
        check(Value::Float(9_007_199_254_740_991.0), Some(9_007_199_254_740_991));
        check(Value::Float(9_007_199_254_740_992.0), None);
        check(Value::Float(0.5), None);
        check(Value::Float(f64::INFINITY), None);
        check(Value::Text("7"), None);
    }
}
