//! Types of columns and parameters, as far as the driver knows their values. Not here: the values
//! themselves.

use super::functions::{Functions, Handle};

/// How the values of a column or parameter are stored in DuckDB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    Boolean,
    Integer(Width),
    /// An integer without a sign.
    Unsigned(Width),
    /// Exact decimal: an integer of this many bytes in units of 10^-`scale`, of at most `digits`
    /// digits.
    Decimal {
        width: Width,
        digits: u8,
        scale: u8,
    },
    Float,
    Double,
    Text,
    Bytes,
    /// Days since 1970.
    Date,
    /// Time since 1970 in units of which a second has this many.
    Timestamp {
        per_second: i64,
    },
    /// Type of a null literal, or of a parameter whose type nothing decides.
    Unknown,
    /// Type that the driver cannot read, by DuckDB's number.
    Other(u32),
}

/// Number of bytes of a stored integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    One,
    Two,
    Four,
    Eight,
    Sixteen,
}

/// DuckDB's number of the type DECIMAL (`duckdb_type`).
const DECIMAL: u32 = 19;

impl Stored {
    /// Takes a logical type from DuckDB, which is destroyed here.
    pub(super) fn take(f: &Functions, mut logical_type: Handle) -> Stored {
        // SAFETY: DuckDB has returned the handle to be owned by us; it is destroyed once.
        unsafe {
            let id = (f.get_type_id)(logical_type);
            let stored = match id {
                DECIMAL => Stored::decimal(
                    (f.decimal_internal_type)(logical_type),
                    (f.decimal_width)(logical_type),
                    (f.decimal_scale)(logical_type),
                ),
                id => Stored::from_id(id),
            };
            (f.destroy_logical_type)(&mut logical_type);
            stored
        }
    }

    fn decimal(internal: u32, digits: u8, scale: u8) -> Stored {
        match Stored::from_id(internal) {
            Stored::Integer(width) => Stored::Decimal { width, digits, scale },
            _ => Stored::Other(DECIMAL),
        }
    }

    /// Decodes DuckDB's number of a type (`duckdb_type`), other than DECIMAL.
    pub(super) fn from_id(id: u32) -> Stored {
        match id {
            1 => Stored::Boolean,
            2 => Stored::Integer(Width::One),
            3 => Stored::Integer(Width::Two),
            4 => Stored::Integer(Width::Four),
            5 => Stored::Integer(Width::Eight),
            6 => Stored::Unsigned(Width::One),
            7 => Stored::Unsigned(Width::Two),
            8 => Stored::Unsigned(Width::Four),
            9 => Stored::Unsigned(Width::Eight),
            10 => Stored::Float,
            11 => Stored::Double,
            12 | 31 => Stored::Timestamp { per_second: 1_000_000 },
            13 => Stored::Date,
            16 => Stored::Integer(Width::Sixteen),
            17 => Stored::Text,
            18 => Stored::Bytes,
            20 => Stored::Timestamp { per_second: 1 },
            21 => Stored::Timestamp { per_second: 1_000 },
            22 => Stored::Timestamp { per_second: 1_000_000_000 },
            32 => Stored::Unsigned(Width::Sixteen),
            0 | 36 => Stored::Unknown,
            other => Stored::Other(other),
        }
    }
}
