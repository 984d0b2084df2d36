//! Column definitions of a query's result, as MySQL or MariaDB sends them. Their memory is reused
//! for each result.

use super::packets::Reader;

/// Limit on the number of columns in a query's result, which is also the limit of MySQL and
/// MariaDB. A result with more columns breaks the connection.
pub(super) const COLUMNS_MAX: u64 = 4096;

/// Number of the character set `binary`, by which the MySQL protocol marks columns that contain
/// bytes.
const BINARY: u16 = 63;
/// Flag of an unsigned column in the MySQL protocol's column definitions.
const UNSIGNED: u16 = 32;

/// Numbers by which the MySQL protocol identifies types of columns and values.
pub(super) mod kind {
    pub(crate) const DECIMAL: u8 = 0x00;
    pub(crate) const TINY: u8 = 0x01;
    pub(crate) const SHORT: u8 = 0x02;
    pub(crate) const LONG: u8 = 0x03;
    pub(crate) const FLOAT: u8 = 0x04;
    pub(crate) const DOUBLE: u8 = 0x05;
    pub(crate) const NULL: u8 = 0x06;
    pub(crate) const TIMESTAMP: u8 = 0x07;
    pub(crate) const LONGLONG: u8 = 0x08;
    pub(crate) const INT24: u8 = 0x09;
    pub(crate) const DATE: u8 = 0x0a;
    pub(crate) const TIME: u8 = 0x0b;
    pub(crate) const DATETIME: u8 = 0x0c;
    pub(crate) const YEAR: u8 = 0x0d;
    pub(crate) const NEWDATE: u8 = 0x0e;
    pub(crate) const BIT: u8 = 0x10;
    pub(crate) const NEWDECIMAL: u8 = 0xf6;
    pub(crate) const BLOB: u8 = 0xfc;
    pub(crate) const VAR_STRING: u8 = 0xfd;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// Type of the column, as its number in the protocol (see [`kind`]).
    pub(super) kind: u8,
    pub(super) is_unsigned: bool,
    /// Whether the character set is `binary`, so that a string is bytes and not text.
    pub(super) is_binary: bool,
    name_start: u32,
    name_end: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    pub(super) list: Vec<Column>,
    names: Vec<u8>,
}

impl Columns {
    /// Removes all column definitions, and keeps their memory for the next result.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.names.clear();
    }

    /// Adds a column from the payload of its column definition packet; `None` if the packet is
    /// malformed.
    pub(super) fn add(&mut self, payload: &[u8]) -> Option<()> {
        let mut reader = Reader(payload);
        let [_catalog, _schema, _table, _original_table] =
            [reader.string()?, reader.string()?, reader.string()?, reader.string()?];
        let name = reader.string()?;
        let _original_name = reader.string()?;
        let mut fixed = Reader(reader.string()?);
        let character_set = fixed.u16()?;
        let _n_letters = fixed.u32()?;
        let kind = fixed.u8()?;
        let flags = fixed.u16()?;
        let name_start = self.names.len() as u32;
        self.names.extend_from_slice(name);
        self.list.push(Column {
            kind,
            is_unsigned: flags & UNSIGNED != 0,
            is_binary: character_set == BINARY,
            name_start,
            name_end: self.names.len() as u32,
        });
        Some(())
    }

    /// Returns the name of the column at `index`; empty if the name is not UTF-8, or there is no
    /// such column.
    pub(super) fn name(&self, index: usize) -> &str {
        let Some(Column { name_start, name_end, .. }) = self.list.get(index) else { return "" };
        str::from_utf8(&self.names[*name_start as usize..*name_end as usize]).unwrap_or_default()
    }
}
