//! Bulk loads into PostgreSQL by `COPY ... FROM STDIN` in binary format, with rows from a source,
//! in chunks.
//!
//! Columns must have the types of dbdyno's own CREATE TABLE; the server rejects a table with other
//! types, since it cannot convert binary values.

use std::borrow::Cow;

use model::{ColumnType, DbError, DbErrorKind, Reply, RowSource, Table, Value};
use postgres_protocol::message::frontend;

use super::binary;
use super::completion::{Status, n_affected, read_status};
use super::db_errors::{garbled, read_error};
use super::messages::{self, Message, is_aside, put_query};
use crate::net::{FLIGHT_BYTES, Step};

/// Number of bytes of rows that are sent together, before further rows are taken from the source.
const CHUNK_BYTES: usize = FLIGHT_BYTES;
/// Bytes before the rows of a binary COPY: signature, flags, and the length of an empty extension.
const HEAD: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// Bytes after the rows of a binary COPY: the number of columns -1, which marks the end.
const END: &[u8] = &[0xff, 0xff];

pub(super) struct Load {
    table: Cow<'static, str>,
    columns: Vec<ColumnType>,
    stage: Stage,
    reply: Reply,
    db_error: Option<DbError>,
}

/// Result of a completed bulk load, and the session's transaction status after it.
pub(super) struct Loaded {
    pub(super) status: Status,
    pub(super) result: Result<Reply, DbError>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// COPY was sent, and the server has not accepted the bulk load yet.
    Asked,
    /// Rows are being sent. `has_begun` is false before the first chunk, which begins with the
    /// header of a binary COPY.
    Sending { has_begun: bool },
    /// All rows were sent or the load has failed, and the server's last reply is awaited.
    Ended,
}

impl Load {
    pub(super) fn start(table: &Table, out: &mut Vec<u8>) -> Result<Load, DbError> {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        let (table_name, names) = (&table.name, names.join(", "));
        let sql = format!("COPY {table_name} ({names}) FROM STDIN WITH (FORMAT binary)");
        put_query(out, |out| out.extend_from_slice(sql.as_bytes()))?;
        Ok(Load {
            table: table.name.clone(),
            columns: table.columns.iter().map(|column| column.of).collect(),
            stage: Stage::Asked,
            reply: Reply::default(),
            db_error: None,
        })
    }

    /// Continues a bulk load: parses the messages in `bytes` and adds their length to `n_read`, and
    /// appends the next rows of `source` to `out` once the previous ones are sent.
    pub(super) fn advance(
        &mut self,
        bytes: &[u8],
        n_read: &mut usize,
        out: &mut Vec<u8>,
        source: &mut dyn RowSource,
    ) -> Result<Step<Loaded>, DbError> {
        while let Some(message) = Message::first(&bytes[*n_read..])? {
            *n_read += message.whole.len();
            if let Some(status) = self.take(message)? {
                let table = &self.table;
                let result = match self.db_error.take() {
                    Some(no) => Err(no.during(format_args!("loading {table}"))),
                    None => Ok(self.reply),
                };
                return Ok(Step::Done(Loaded { status, result }));
            }
        }
        match self.stage {
            // The next chunk follows when the previous one is sent, so that output is limited.
            Stage::Sending { has_begun } if out.is_empty() => {
                self.put_chunk(has_begun, out, source)?;
                Ok(if self.stage == Stage::Ended { Step::More } else { Step::Send })
            }
            Stage::Sending { .. } => Ok(Step::Send),
            Stage::Asked | Stage::Ended => Ok(Step::More),
        }
    }

    fn take(&mut self, message: Message<'_>) -> Result<Option<Status>, DbError> {
        match message.tag {
            b'G' if self.stage == Stage::Asked => {
                self.stage = Stage::Sending { has_begun: false };
            }
            b'C' => self.reply.n_affected += n_affected(message.body()),
            b'E' => {
                let error = read_error(message.whole)?;
                if error.is_fatal {
                    let no = DbError { kind: DbErrorKind::ConnectionLost, ..error.db_error };
                    return Err(no.during(format_args!("loading {}", self.table)));
                }
                // Our own reason for aborting comes back as an error of the server.
                self.db_error.get_or_insert(error.db_error);
                self.stage = Stage::Ended;
            }
            b'Z' if self.stage == Stage::Ended => return read_status(message.body()).map(Some),
            tag if is_aside(tag) => {}
            tag => {
                let tag = tag.escape_ascii();
                return Err(garbled(&format_args!("unexpected message '{tag}' during COPY")));
            }
        }
        Ok(None)
    }

    fn put_chunk(
        &mut self,
        has_begun: bool,
        out: &mut Vec<u8>,
        source: &mut dyn RowSource,
    ) -> Result<(), DbError> {
        let start = out.len();
        out.extend_from_slice(b"d\0\0\0\0");
        if !has_begun {
            out.extend_from_slice(HEAD);
        }
        self.stage = Stage::Sending { has_begun: true };
        let columns = &self.columns;
        let mut refused = None;
        let mut has_more = true;
        while has_more && refused.is_none() && out.len() - start < CHUNK_BYTES {
            has_more = source.next(&mut |row| {
                if refused.is_none() {
                    refused = put_row(out, columns, row).err();
                }
            });
        }
        if !has_more {
            out.extend_from_slice(END);
            self.stage = Stage::Ended;
        }
        if refused.is_none() && !messages::close(out, start) {
            refused = Some("a row exceeds 2 GiB, the limit of a message".to_owned());
        }
        if let Some(words) = refused {
            out.truncate(start);
            self.stage = Stage::Ended;
            messages::put(out, |buffer| frontend::copy_fail("the rows are invalid", buffer))?;
            self.db_error = Some(DbError::new(DbErrorKind::Shape, words));
        } else if !has_more {
            messages::put(out, |buffer| {
                frontend::copy_done(buffer);
                Ok(())
            })?;
        }
        Ok(())
    }
}

fn put_row(out: &mut Vec<u8>, columns: &[ColumnType], row: &[Value<'_>]) -> Result<(), String> {
    if row.len() != columns.len() {
        return Err(format!("a row has {} values for {} columns", row.len(), columns.len()));
    }
    out.extend_from_slice(&(row.len() as u16).to_be_bytes());
    for (index, (value, column_type)) in row.iter().zip(columns).enumerate() {
        if !binary::put_column(out, *column_type, value) {
            let what = value.type_name();
            let column = index + 1;
            return Err(format!("column {column} is {column_type:?}, which cannot take {what}"));
        }
    }
    Ok(())
}
