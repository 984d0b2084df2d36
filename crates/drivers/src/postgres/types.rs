//! PostgreSQL's built-in types for which dbdyno has an encoding.

/// PostgreSQL type of a column or a parameter, by which values are encoded. Values of types without
/// a variant (`Other`) are sent as text, and received as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Bool,
    Int2,
    Int4,
    Int8,
    /// Object identifier of the server (OID): 32 bits, unsigned.
    Oid,
    Float4,
    Float8,
    Numeric,
    /// Text of any length, including `CHAR(n)`, which the server pads with blanks.
    Text,
    Bytes,
    Date,
    /// Timestamp with or without time zone; both are microseconds since 2000.
    Timestamp,
    Other,
}

impl Type {
    /// Returns the type with this object ID. The IDs in PostgreSQL's `pg_type.dat` never change.
    pub(super) fn from_oid(oid: u32) -> Type {
        match oid {
            16 => Type::Bool,
            21 => Type::Int2,
            23 => Type::Int4,
            20 => Type::Int8,
            26 => Type::Oid,
            700 => Type::Float4,
            701 => Type::Float8,
            1700 => Type::Numeric,
            // "char", name, text, json, xml, unknown, bpchar, varchar.
            18 | 19 | 25 | 114 | 142 | 705 | 1042 | 1043 => Type::Text,
            17 => Type::Bytes,
            1082 => Type::Date,
            1114 | 1184 => Type::Timestamp,
            _ => Type::Other,
        }
    }
}

/// Microseconds from 1970-01-01 to PostgreSQL's epoch, 2000-01-01.
pub(super) const EPOCH_US: i64 = EPOCH_DAYS as i64 * DAY_US;
/// Days from 1970-01-01 to PostgreSQL's epoch, 2000-01-01.
pub(super) const EPOCH_DAYS: i32 = 10_957;
pub(super) const DAY_US: i64 = 86_400_000_000;
