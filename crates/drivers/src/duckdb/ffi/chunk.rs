//! Chunks of up to 2,048 rows in DuckDB's memory: those of a result are read in place, those of a
//! load are filled.
//!
//! Not here: who makes them (results, appenders).

use std::ffi::c_void;

use model::{DbError, DbErrorKind, Value};

use super::functions::{Functions, Handle};
use super::types::{Stored, Width};

/// Rows in DuckDB's memory, by columns.
pub(crate) struct Chunk {
    f: &'static Functions,
    raw: Handle,
    vectors: Vec<Vector>,
    n_rows: usize,
    n_rows_max: usize,
}

/// Values of one column of a chunk.
struct Vector {
    stored: Stored,
    raw: Handle,
    /// Values one after the other, of the size that `stored` says.
    data: *mut c_void,
    /// A bit for each row, which is 0 for a null; null if all rows have values.
    validity: *mut u64,
}

/// DuckDB's `duckdb_string_t`: the length, then the bytes of a text of up to 12 bytes, or the first
/// four bytes and the address of all.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct RawText {
    n_bytes: u32,
    rest: [u8; 12],
}

/// Number of bytes of the longest text that is stored in place.
const N_BYTES_IN_PLACE: usize = 12;

impl Chunk {
    /// Takes a chunk of a result from DuckDB, whose columns are stored as `columns` says.
    ///
    /// # Safety
    /// `raw` must be a chunk of flat vectors of these types, owned by the caller.
    pub(super) unsafe fn take(f: &'static Functions, raw: Handle, columns: &[Stored]) -> Chunk {
        // SAFETY: the caller vouches for the chunk, and each index is below its number of columns.
        let (vectors, n_rows) =
            unsafe { (vectors(f, raw, columns), (f.data_chunk_get_size)(raw) as usize) };
        Chunk { f, raw, vectors, n_rows, n_rows_max: n_rows }
    }

    /// Makes an empty chunk to be filled. `types` are logical types, which stay the caller's.
    ///
    /// # Safety
    /// `types` must be valid handles, of the types that `columns` says.
    pub(super) unsafe fn make(
        f: &'static Functions,
        types: &mut [Handle],
        columns: &[Stored],
    ) -> Chunk {
        // SAFETY: the caller vouches for the types, which DuckDB copies.
        unsafe {
            let raw = (f.create_data_chunk)(types.as_mut_ptr(), types.len() as u64);
            let vectors = vectors(f, raw, columns);
            Chunk { f, raw, vectors, n_rows: 0, n_rows_max: (f.vector_size)() as usize }
        }
    }

    pub(super) fn raw(&self) -> Handle {
        self.raw
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(crate) fn n_columns(&self) -> usize {
        self.vectors.len()
    }

    /// Whether a chunk that is filled has no room for a further row.
    pub(crate) fn is_full(&self) -> bool {
        self.n_rows == self.n_rows_max
    }

    /// Reads a value in place. Panics if the chunk has no such row or column.
    #[inline]
    pub(crate) fn value(&self, column: usize, row: usize) -> Value<'_> {
        assert!(row < self.n_rows, "row {row} of {}", self.n_rows);
        let vector = &self.vectors[column];
        // SAFETY: the row is within the vector, whose values are stored as it says; they live as
        // long as the chunk.
        unsafe { if vector.is_null(row) { Value::Null } else { vector.value(row) } }
    }

    /// Appends a row to a chunk that is filled. Fails if a value does not fit its column.
    pub(crate) fn push(&mut self, row: &[Value<'_>]) -> Result<(), DbError> {
        assert!(!self.is_full(), "a full chunk is appended before the next row");
        if row.len() != self.vectors.len() {
            let (wanted, got) = (self.vectors.len(), row.len());
            let message = format!("the table has {wanted} columns, a row has {got}");
            return Err(DbError::new(DbErrorKind::Shape, message));
        }
        for (index, value) in row.iter().enumerate() {
            let vector = &mut self.vectors[index];
            // SAFETY: the row is within the vector's size, and the vector's types are its own.
            let is_put = unsafe { vector.put(self.f, self.n_rows, value) };
            if !is_put {
                let (got, stored) = (value.type_name(), vector.stored);
                let message =
                    format!("value {} of the row is {got}, which is no {stored:?}", index + 1);
                return Err(DbError::new(DbErrorKind::Shape, message));
            }
        }
        self.n_rows += 1;
        Ok(())
    }

    /// Tells DuckDB how many rows were filled.
    pub(super) fn seal(&mut self) {
        // SAFETY: the chunk is ours, and has room for as many rows.
        unsafe { (self.f.data_chunk_set_size)(self.raw, self.n_rows as u64) }
    }

    /// Empties a chunk, to be filled again.
    pub(super) fn clear(&mut self) {
        self.n_rows = 0;
        let columns: Vec<Stored> = self.vectors.iter().map(|vector| vector.stored).collect();
        // SAFETY: the chunk is ours; the addresses of its vectors are read again.
        unsafe {
            (self.f.data_chunk_reset)(self.raw);
            self.vectors = vectors(self.f, self.raw, &columns);
        }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: the chunk is ours, and destroyed once.
        unsafe { (self.f.destroy_data_chunk)(&mut self.raw) }
    }
}

/// Returns the vectors of a chunk.
///
/// # Safety
/// `raw` must be a chunk whose columns are stored as `columns` says.
unsafe fn vectors(f: &Functions, raw: Handle, columns: &[Stored]) -> Vec<Vector> {
    let to_vector = |(index, stored): (usize, &Stored)| {
        // SAFETY: the caller vouches for the chunk and its number of columns.
        unsafe {
            let raw = (f.data_chunk_get_vector)(raw, index as u64);
            let (data, validity) = ((f.vector_get_data)(raw), (f.vector_get_validity)(raw));
            Vector { stored: *stored, raw, data, validity }
        }
    };
    columns.iter().enumerate().map(to_vector).collect()
}

impl Vector {
    /// Whether a row has no value.
    ///
    /// # Safety
    /// `row` must be within the vector.
    #[inline]
    unsafe fn is_null(&self, row: usize) -> bool {
        // SAFETY: the mask has a bit for each row.
        !self.validity.is_null() && unsafe { *self.validity.add(row / 64) } >> (row % 64) & 1 == 0
    }

    /// # Safety
    /// `row` must be within the vector, whose values must be of this type.
    #[inline]
    unsafe fn at<T: Copy>(&self, row: usize) -> T {
        // SAFETY: as the caller vouches.
        unsafe { self.data.cast::<T>().add(row).read_unaligned() }
    }

    /// Reads an integer with a sign.
    ///
    /// # Safety
    /// As of [`Vector::at`], for the integer of this width.
    #[inline]
    unsafe fn integer(&self, row: usize, width: Width) -> i128 {
        // SAFETY: as the caller vouches.
        unsafe {
            match width {
                Width::One => self.at::<i8>(row).into(),
                Width::Two => self.at::<i16>(row).into(),
                Width::Four => self.at::<i32>(row).into(),
                Width::Eight => self.at::<i64>(row).into(),
                Width::Sixteen => self.at::<i128>(row),
            }
        }
    }

    /// # Safety
    /// `row` must be within the vector and have a value.
    unsafe fn value(&self, row: usize) -> Value<'_> {
        // SAFETY: the values are stored as `stored` says.
        unsafe {
            match self.stored {
                Stored::Boolean => Value::Int((self.at::<u8>(row) != 0).into()),
                Stored::Integer(width) => whole(self.integer(row, width)),
                Stored::Unsigned(width) => match width {
                    Width::One => Value::Int(self.at::<u8>(row).into()),
                    Width::Two => Value::Int(self.at::<u16>(row).into()),
                    Width::Four => Value::Int(self.at::<u32>(row).into()),
                    Width::Eight => whole(self.at::<u64>(row).into()),
                    Width::Sixteen => match i128::try_from(self.at::<u128>(row)) {
                        Ok(value) => whole(value),
                        Err(_) => Value::Float(self.at::<u128>(row) as f64),
                    },
                },
                Stored::Decimal { width, scale, .. } => decimal(self.integer(row, width), scale),
                Stored::Float => Value::Float(self.at::<f32>(row).into()),
                Stored::Double => Value::Float(self.at(row)),
                Stored::Text => match std::str::from_utf8(self.bytes(row)) {
                    Ok(text) => Value::Text(text),
                    Err(_) => Value::Bytes(self.bytes(row)),
                },
                Stored::Bytes => Value::Bytes(self.bytes(row)),
                Stored::Date => Value::Date(self.at(row)),
                Stored::Timestamp { per_second } => {
                    let us = i128::from(self.at::<i64>(row)) * 1_000_000 / i128::from(per_second);
                    let far = if us < 0 { i64::MIN } else { i64::MAX };
                    Value::Timestamp(i64::try_from(us).unwrap_or(far))
                }
                // A result with a type that cannot be read was refused before.
                Stored::Unknown | Stored::Other(_) => Value::Null,
            }
        }
    }

    /// # Safety
    /// `row` must be within the vector, whose values must be texts or bytes.
    unsafe fn bytes(&self, row: usize) -> &[u8] {
        // SAFETY: the text lies in the vector, or at an address that lives as long as the chunk.
        unsafe {
            let text: *const RawText = self.data.cast::<RawText>().add(row);
            let n_bytes = (*text).n_bytes as usize;
            let bytes = &raw const (*text).rest;
            let start: *const u8 = match n_bytes <= N_BYTES_IN_PLACE {
                true => bytes.cast(),
                false => bytes.cast::<u8>().add(4).cast::<*const u8>().read_unaligned(),
            };
            std::slice::from_raw_parts(start, n_bytes)
        }
    }

    /// Stores a value; returns false if it does not fit.
    ///
    /// # Safety
    /// `row` must be within the vector's size.
    unsafe fn put(&mut self, f: &Functions, row: usize, value: &Value<'_>) -> bool {
        // SAFETY: as the caller vouches; DuckDB copies texts.
        unsafe {
            match (self.stored, *value) {
                (_, Value::Null) => self.put_null(f, row),
                (Stored::Integer(width), Value::Int(value)) => {
                    return self.put_integer(row, width, value.into());
                }
                (Stored::Decimal { width, digits, scale }, value) => {
                    return match scaled(&value, scale).filter(|value| has_digits(*value, digits)) {
                        Some(unscaled) => self.put_integer(row, width, unscaled.into()),
                        None => false,
                    };
                }
                (Stored::Double, Value::Float(value)) => self.set(row, value),
                (Stored::Double, Value::Int(value)) => self.set(row, value as f64),
                (Stored::Date, Value::Date(days)) => self.set(row, days),
                (Stored::Timestamp { per_second: 1_000_000 }, Value::Timestamp(us)) => {
                    self.set(row, us);
                }
                (Stored::Text, Value::Text(text)) => self.put_bytes(f, row, text.as_bytes()),
                (Stored::Bytes, Value::Bytes(bytes)) => self.put_bytes(f, row, bytes),
                _ => return false,
            }
        }
        true
    }

    unsafe fn set<T>(&mut self, row: usize, value: T) {
        // SAFETY: the caller vouches for the row and the type.
        unsafe { self.data.cast::<T>().add(row).write_unaligned(value) }
    }

    unsafe fn put_integer(&mut self, row: usize, width: Width, value: i128) -> bool {
        // SAFETY: the caller vouches for the row and the width.
        unsafe {
            match width {
                Width::One => i8::try_from(value).map(|value| self.set(row, value)).is_ok(),
                Width::Two => i16::try_from(value).map(|value| self.set(row, value)).is_ok(),
                Width::Four => i32::try_from(value).map(|value| self.set(row, value)).is_ok(),
                Width::Eight => i64::try_from(value).map(|value| self.set(row, value)).is_ok(),
                Width::Sixteen => {
                    self.set(row, value);
                    true
                }
            }
        }
    }

    unsafe fn put_bytes(&mut self, f: &Functions, row: usize, bytes: &[u8]) {
        let (start, n_bytes) = (bytes.as_ptr().cast(), bytes.len() as u64);
        // SAFETY: the caller vouches for the row; DuckDB copies the bytes.
        unsafe { (f.vector_assign_string_element_len)(self.raw, row as u64, start, n_bytes) }
    }

    unsafe fn put_null(&mut self, f: &Functions, row: usize) {
        // SAFETY: the mask has a bit for each row once it is writable.
        unsafe {
            if self.validity.is_null() {
                (f.vector_ensure_validity_writable)(self.raw);
                self.validity = (f.vector_get_validity)(self.raw);
            }
            *self.validity.add(row / 64) &= !(1 << (row % 64));
        }
    }
}

/// Returns an integer as a value; as a float if it is too large.
fn whole(value: i128) -> Value<'static> {
    i64::try_from(value).map_or(Value::Float(value as f64), Value::Int)
}

/// Returns a decimal as a value; as a float if it has too many digits.
fn decimal(unscaled: i128, scale: u8) -> Value<'static> {
    match i64::try_from(unscaled) {
        Ok(unscaled) => Value::Decimal { unscaled, scale },
        Err(_) => Value::Float(unscaled as f64 / 10f64.powi(scale.into())),
    }
}

/// Returns a number in units of 10^-`scale`; `None` if it has more digits behind the point, is too
/// large, or is no exact number.
pub(super) fn scaled(value: &Value<'_>, scale: u8) -> Option<i64> {
    let (unscaled, has) = match *value {
        Value::Int(value) => (value, 0),
        Value::Decimal { unscaled, scale } => (unscaled, scale),
        _ => return None,
    };
    unscaled.checked_mul(10i64.checked_pow(u32::from(scale.checked_sub(has)?))?)
}

/// Whether a number has at most this many digits.
pub(super) fn has_digits(value: i64, digits: u8) -> bool {
    10u64.checked_pow(digits.into()).is_none_or(|limit| value.unsigned_abs() < limit)
}
