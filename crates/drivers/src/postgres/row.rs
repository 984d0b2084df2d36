//! Reads rows directly from their DataRow messages. Nothing is copied or allocated per row.

use model::{Row, Value};

use super::db_errors::garbled;
use super::types::Type;
use super::{binary, text};

/// A column of a result, as described by a RowDescription message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Type,
}

/// The format, text or binary, of the values in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Binary,
}

/// Position of a value in the body of a DataRow message. A null has the length -1.
#[derive(Clone, Copy, Debug)]
struct Field {
    start: u32,
    n_bytes: i32,
    /// Whether the value is hexadecimal text, whose decoded bytes are in `Fields::unhexed`.
    is_unhexed: bool,
}

/// Positions of the values of the current row, and bytes decoded from hexadecimal text. The memory
/// is reused for each row.
#[derive(Default)]
pub(super) struct Fields {
    fields: Vec<Field>,
    unhexed: Vec<u8>,
}

impl Fields {
    /// Finds the positions of the values in the body of a DataRow message. Fails if their number is
    /// not that of `columns`, or the message is malformed.
    #[inline]
    pub(super) fn find(
        &mut self,
        body: &[u8],
        columns: &[Column],
        format: Format,
    ) -> Result<(), model::DbError> {
        self.fields.clear();
        let Some((count, mut rest)) = body.split_first_chunk::<2>() else {
            return Err(garbled(&"a row without a number of columns"));
        };
        if usize::from(u16::from_be_bytes(*count)) != columns.len() {
            return Err(garbled(&"a row does not match its columns"));
        }
        for _ in columns {
            let Some((length, tail)) = rest.split_first_chunk::<4>() else {
                return Err(garbled(&"a truncated row"));
            };
            let n_bytes = i32::from_be_bytes(*length);
            let start = (body.len() - tail.len()) as u32;
            let Some(tail) = tail.get(n_bytes.max(0) as usize..) else {
                return Err(garbled(&"a row with a truncated value"));
            };
            self.fields.push(Field { start, n_bytes, is_unhexed: false });
            rest = tail;
        }
        if !rest.is_empty() {
            return Err(garbled(&"a row with extra bytes after its last value"));
        }
        if format == Format::Text {
            self.unhex(body, columns);
        }
        Ok(())
    }

    /// Decodes the `bytea` values of a row in text format, which contains them as hexadecimal
    /// digits.
    fn unhex(&mut self, body: &[u8], columns: &[Column]) {
        self.unhexed.clear();
        for (field, column) in self.fields.iter_mut().zip(columns) {
            if column.kind != Type::Bytes || field.n_bytes < 0 {
                continue;
            }
            let written = &body[field.start as usize..][..field.n_bytes as usize];
            let start = self.unhexed.len();
            if text::read_bytes(written, &mut self.unhexed) {
                let n_bytes = (self.unhexed.len() - start) as i32;
                *field = Field { start: start as u32, n_bytes, is_unhexed: true };
            }
        }
    }
}

/// A row in a DataRow message, with the position of each value. Values are decoded when they are
/// read.
pub(super) struct DataRow<'r> {
    pub(super) body: &'r [u8],
    pub(super) fields: &'r Fields,
    pub(super) columns: &'r [Column],
    pub(super) format: Format,
    pub(super) result_set: usize,
}

impl Row for DataRow<'_> {
    fn width(&self) -> usize {
        self.columns.len()
    }

    #[inline]
    fn value(&self, column: usize) -> Value<'_> {
        let Some(field) = self.fields.fields.get(column).filter(|field| field.n_bytes >= 0) else {
            return Value::Null;
        };
        let from = if field.is_unhexed { &self.fields.unhexed } else { self.body };
        let bytes = &from[field.start as usize..][..field.n_bytes as usize];
        let kind = self.columns[column].kind;
        match self.format {
            Format::Binary => binary::read(kind, bytes),
            Format::Text if field.is_unhexed => Value::Bytes(bytes),
            Format::Text => text::read(kind, bytes),
        }
    }

    fn result_set(&self) -> usize {
        self.result_set
    }

    fn name(&self, column: usize) -> &str {
        self.columns.get(column).map_or("", |column| &column.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_that_the_server_has_not_sent_is_null() {
        let mut fields = Fields::default();
        fields.find(&[0, 0], &[], Format::Binary).expect("a row without columns");
        let (body, format) = (&[0, 0][..], Format::Binary);
        let row = DataRow { body, fields: &fields, columns: &[], format, result_set: 0 };
        assert_eq!((row.width(), row.value(2), row.name(2)), (0, Value::Null, ""));
    }
}
