//! The rows of the last reply on a connection, kept as text until a script fetches them.

use model::{Civil, DbError, DbErrorKind, Row, Value};

/// Most bytes of one reply's rows. A script that reads more fails instead of using up the memory.
const BYTES_MAX: usize = 256 << 20;

/// Number by which generations of replies differ, so that a generation also names a result set.
const SETS_MAX: u64 = 4096;

/// The result sets of the last reply on a connection.
#[derive(Default)]
pub(super) struct Results {
    bytes: Vec<u8>,
    /// Start and end in `bytes` of each value; `None` for null.
    values: Vec<Option<(u32, u32)>>,
    sets: Vec<ResultSet>,
    /// Number of replies before this one.
    n_before: u64,
}

/// Extent of one result set.
#[derive(Clone, Copy, Default)]
struct ResultSet {
    /// Index of the first value in [`Results::values`].
    first: usize,
    n_rows: u64,
    width: usize,
}

impl Results {
    /// Forgets the rows of the reply before. Results that a script still has of it are empty.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.values.clear();
        self.sets.clear();
        self.n_before += 1;
    }

    /// Keeps the next row of the reply.
    pub(super) fn take(&mut self, row: &dyn Row) -> Result<(), DbError> {
        while self.sets.len() <= row.result_set() {
            let first = self.values.len();
            self.sets.push(ResultSet { first, n_rows: 0, width: row.width() });
        }
        let set = self.sets.last_mut().expect("it was just made");
        set.n_rows += 1;
        // Later rows of a set have the columns of the first.
        for column in 0..set.width {
            let start = self.bytes.len();
            let value = row.value(column);
            put_text(&mut self.bytes, value);
            let place = (start as u32, self.bytes.len() as u32);
            self.values.push((value != Value::Null).then_some(place));
        }
        if self.bytes.len() > BYTES_MAX {
            let most = BYTES_MAX >> 20;
            let why = format!("the result has more than {most} MiB, and scripts get no more");
            return Err(DbError::new(DbErrorKind::Unsupported, why));
        }
        Ok(())
    }

    pub(super) fn n_sets(&self) -> usize {
        self.sets.len()
    }

    /// Returns the number of rows, the number of columns and the generation of a result set.
    pub(super) fn set(&self, index: usize) -> (u64, usize, u64) {
        let set = self.sets.get(index).copied().unwrap_or_default();
        (set.n_rows, set.width, self.n_before * SETS_MAX + index as u64)
    }

    /// Returns the values of a row of the result set with this generation, counted from 1; nothing
    /// if there is another reply by now.
    pub(super) fn row(&self, generation: u64, nth: u64) -> impl Iterator<Item = Option<&[u8]>> {
        let set = self.sets.get((generation % SETS_MAX) as usize);
        let set = set.filter(|set| generation / SETS_MAX == self.n_before && nth <= set.n_rows);
        let values = set.map_or(&[][..], |set| {
            let first = set.first + (nth as usize - 1) * set.width;
            &self.values[first..first + set.width]
        });
        let text = |place: (u32, u32)| &self.bytes[place.0 as usize..place.1 as usize];
        values.iter().map(move |value| value.map(text))
    }
}

/// Appends a value as the text that a server sends for it.
fn put_text(bytes: &mut Vec<u8>, value: Value<'_>) {
    use std::io::Write as _;
    const CANNOT_FAIL: &str = "memory takes all bytes";
    match value {
        Value::Null => {}
        Value::Int(number) => write!(bytes, "{number}").expect(CANNOT_FAIL),
        Value::Float(number) => write!(bytes, "{number}").expect(CANNOT_FAIL),
        Value::Decimal { unscaled, scale: 0 } => write!(bytes, "{unscaled}").expect(CANNOT_FAIL),
        Value::Decimal { unscaled, scale } => {
            let sign = if unscaled < 0 { "-" } else { "" };
            let width = usize::from(scale) + 1;
            let digits = format!("{:0width$}", unscaled.unsigned_abs());
            let (whole, part) = digits.split_at(digits.len() - usize::from(scale));
            write!(bytes, "{sign}{whole}.{part}").expect(CANNOT_FAIL);
        }
        Value::Text(text) => bytes.extend_from_slice(text.as_bytes()),
        Value::Bytes(plain) => bytes.extend_from_slice(plain),
        Value::Timestamp(us) => {
            let Civil { year, month, day, hour, minute, second, us } = Civil::of_us(us);
            let text = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
            bytes.extend_from_slice(text.as_bytes());
            if us > 0 {
                write!(bytes, ".{us:06}").expect(CANNOT_FAIL);
            }
        }
        Value::Date(days) => {
            let Civil { year, month, day, .. } = Civil::of_days(days);
            write!(bytes, "{year:04}-{month:02}-{day:02}").expect(CANNOT_FAIL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Made(Vec<Value<'static>>, usize);

    impl Row for Made {
        fn width(&self) -> usize {
            self.0.len()
        }

        fn value(&self, column: usize) -> Value<'_> {
            self.0[column]
        }

        fn result_set(&self) -> usize {
            self.1
        }
    }

    #[test]
    fn values_are_texts_as_a_server_sends_them() {
        let check = |value, expect: &str| {
            let mut bytes = Vec::new();
            put_text(&mut bytes, value);
            assert_eq!(String::from_utf8(bytes).unwrap(), expect);
        };
        check(Value::Int(-7), "-7");
        check(Value::Float(1.5), "1.5");
        check(Value::Decimal { unscaled: 5, scale: 2 }, "0.05");
        check(Value::Decimal { unscaled: -1234, scale: 2 }, "-12.34");
        check(Value::Decimal { unscaled: 12, scale: 0 }, "12");
        check(Value::Timestamp(1_500_000), "1970-01-01 00:00:01.500000");
        check(Value::Date(31), "1970-02-01");
    }

    #[test]
    fn rows_are_those_of_the_last_reply() {
        let texts = |results: &Results, generation, nth| -> Vec<Option<String>> {
            let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
            results.row(generation, nth).map(|value| value.map(text)).collect()
        };
        let mut results = Results::default();
        results.clear();
        results.take(&Made(vec![Value::Int(1), Value::Null], 0)).unwrap();
        results.take(&Made(vec![Value::Int(2), Value::Text("b")], 0)).unwrap();
        results.take(&Made(vec![Value::Text("second")], 1)).unwrap();
        let (n_rows, width, generation) = results.set(0);
        assert_eq!((n_rows, width, results.n_sets()), (2, 2, 2));
        assert_eq!(texts(&results, generation, 1), [Some("1".to_owned()), None]);
        assert_eq!(texts(&results, generation, 2)[1].as_deref(), Some("b"));
        assert_eq!(texts(&results, generation, 3), []);
        let (_, _, second) = results.set(1);
        assert_eq!(texts(&results, second, 1), [Some("second".to_owned())]);
        results.clear();
        assert_eq!(texts(&results, generation, 1), []);
    }
}
