//! What goes into a statement and comes out of it. Not here: any wire format.

use crate::{DbError, DbErrorKind};

/// One value on its way to or from a database.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// SQL's null.
    Null,
    /// A whole number.
    Int(i64),
    /// A binary floating-point number.
    Float(f64),
    /// An exact decimal number: `unscaled` / 10^`scale`. Money is this with scale 2.
    Decimal {
        /// The digits, as a whole number.
        unscaled: i64,
        /// How many of them stand behind the point.
        scale: u8,
    },
    /// Characters.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
    /// Microseconds since 1970-01-01T00:00:00Z.
    Timestamp(i64),
    /// Days since 1970-01-01, in the Gregorian calendar. A database whose dates reach beyond that
    /// (PostgreSQL's infinity) reads as the bounds.
    Date(i32),
}

impl Value<'_> {
    /// Money from cents.
    pub fn cents(cents: i64) -> Value<'static> {
        Value::Decimal { unscaled: cents, scale: 2 }
    }

    /// What kind of value it is, for messages.
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

/// A row of a result, visited where it lies: nothing is copied until asked for.
pub trait Row {
    /// How many columns it has.
    fn width(&self) -> usize;

    /// The value in `column` (from 0). Past the width it is null where the width is a server's
    /// word, since a broken server must not end us; elsewhere that is our mistake, and a panic.
    fn value(&self, column: usize) -> Value<'_>;

    /// Which result set of the reply it belongs to (from 0).
    fn result_set(&self) -> usize {
        0
    }

    /// The column's name, where the database tells.
    fn name(&self, _column: usize) -> &str {
        ""
    }

    /// The column as a decimal of `scale` digits, unscaled. A null is a database error, and so is a
    /// number that is too great for that.
    ///
    /// A database that stores scaled integers overrides this, since its integers are unscaled.
    fn decimal(&self, column: usize, scale: u8) -> Result<i64, DbError> {
        let power = |n_digits: u8| 10i64.checked_pow(u32::from(n_digits));
        let fits = match self.value(column) {
            Value::Decimal { unscaled, scale: has } if has <= scale => {
                power(scale - has).and_then(|unit| unscaled.checked_mul(unit))
            }
            // What is finer than all digits of an integer is nothing.
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
    /// The column as an integer; of another type it must be one exactly. A null is a database
    /// error.
    pub fn int(&self, column: usize) -> Result<i64, DbError> {
        match self.value(column) {
            Value::Int(value) => Ok(value),
            Value::Decimal { unscaled, scale: 0 } => Ok(unscaled),
            // Some servers have sums of another type than what was summed up.
            Value::Float(number) if exact_decimal(number, 0).is_some() => Ok(number as i64),
            other => Err(shape(column, "an integer", other)),
        }
    }

    /// The column as an integer, or nothing where it is null.
    pub fn optional_int(&self, column: usize) -> Result<Option<i64>, DbError> {
        match self.value(column) {
            Value::Null => Ok(None),
            _ => self.int(column).map(Some),
        }
    }

    /// The column as text. A null is a database error.
    pub fn text(&self, column: usize) -> Result<&str, DbError> {
        match self.value(column) {
            Value::Text(value) => Ok(value),
            Value::Bytes(bytes) => {
                std::str::from_utf8(bytes).map_err(|_| shape(column, "text", Value::Bytes(bytes)))
            }
            other => Err(shape(column, "text", other)),
        }
    }

    /// The column as cents. A null is a database error.
    pub fn cents(&self, column: usize) -> Result<i64, DbError> {
        self.decimal(column, 2)
    }
}

/// A float as the decimal of `scale` digits that it stands for, unscaled: the float that is
/// nearest to that decimal. None if there is no such one, or if there would be several.
fn exact_decimal(number: f64, scale: u8) -> Option<i64> {
    // Above this not every integer is a float of its own.
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

/// Rows, one at a time.
pub trait RowSource {
    /// Hands the next row to `emit`; false when there is none.
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
