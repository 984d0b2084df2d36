//! Frames of PostgreSQL's messages (protocol 3.0), and the messages that prepare and run
//! statements.
//!
//! Messages that are sent for each statement are encoded here, byte by byte; those of the sign-in
//! come from `postgres-protocol`. Not here: the handling of messages.

use std::io;

use bytes::BytesMut;
use model::{DbError, DbErrorKind};
use postgres_protocol::message::backend::Header;

use super::db_errors::garbled;

/// Limit on the length of a message with a row, in bytes: 1 GiB, which is the server's own limit. A
/// longer message breaks the connection.
pub(super) const ROW_BYTES_MAX: usize = 1 << 30;
/// Limit on the length of a message without a row, in bytes. A longer message breaks the
/// connection. Most are short, but an error may quote a statement.
const MESSAGE_BYTES_MAX: usize = 16 << 20;

/// Encoded Execute message for the unnamed portal, without a limit of rows.
pub(super) const EXECUTE: &[u8] = b"E\0\0\0\x09\0\0\0\0\0";
pub(super) const SYNC: &[u8] = b"S\0\0\0\x04";

/// A message that was received completely, as a slice of the received bytes.
#[derive(Clone, Copy)]
pub(super) struct Message<'b> {
    pub(super) tag: u8,
    pub(super) whole: &'b [u8],
}

impl<'b> Message<'b> {
    /// Returns the content of the message, without tag and length.
    #[inline]
    pub(super) fn body(&self) -> &'b [u8] {
        &self.whole[5..]
    }

    /// Returns the message at the start of `bytes`; `None` if it is incomplete. Fails if it is
    /// malformed or too long.
    #[inline]
    pub(super) fn first(bytes: &'b [u8]) -> Result<Option<Message<'b>>, DbError> {
        let header = match Header::parse(bytes) {
            Ok(Some(header)) => header,
            Ok(None) => return Ok(None),
            Err(error) => return Err(garbled(&error)),
        };
        let (tag, n_bytes) = (header.tag(), header.len() as usize + 1);
        let is_row = matches!(tag, b'D' | b'd');
        if n_bytes > if is_row { ROW_BYTES_MAX } else { MESSAGE_BYTES_MAX } {
            return Err(garbled(&format_args!("a message of {n_bytes} bytes is too long")));
        }
        Ok(bytes.get(..n_bytes).map(|whole| Message { tag, whole }))
    }
}

/// Whether a message with this tag is asynchronous and can be ignored: a notice, a notification, or
/// a changed setting.
#[inline]
pub(super) fn is_aside(tag: u8) -> bool {
    matches!(tag, b'N' | b'A' | b'S')
}

/// Appends a simple Query message. `write` appends its SQL. Fails, and appends nothing, if the SQL
/// contains a zero byte or is too long.
#[inline]
pub(super) fn put_query(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>),
) -> Result<(), DbError> {
    let start = out.len();
    out.extend_from_slice(b"Q\0\0\0\0");
    write(out);
    let has_nul = out[start + 5..].contains(&0);
    out.push(0);
    if !has_nul && close(out, start) {
        return Ok(());
    }
    out.truncate(start);
    Err(bad_statement())
}

/// Appends the messages Parse and Describe, which prepare `sql` under `name` and ask for its types.
/// A named statement is closed first, since an earlier attempt may have left a statement of that
/// name; closing a statement that does not exist is no error.
pub(super) fn put_prepare(out: &mut Vec<u8>, name: &str, sql: &str) -> Result<(), DbError> {
    let start = out.len();
    if !name.is_empty() {
        put_named(out, b'C', name);
    }
    let parse = out.len();
    out.extend_from_slice(b"P\0\0\0\0");
    for text in [name, sql] {
        out.extend_from_slice(text.as_bytes());
        out.push(0);
    }
    out.extend_from_slice(&[0, 0]);
    if sql.as_bytes().contains(&0) || !close(out, parse) {
        out.truncate(start);
        return Err(bad_statement());
    }
    put_named(out, b'D', name);
    Ok(())
}

/// Appends the message that closes the prepared statement `name`.
pub(super) fn put_close(out: &mut Vec<u8>, name: &str) {
    put_named(out, b'C', name);
}

/// Appends a message about the prepared statement `name`: with the tag `C` it closes the statement,
/// with `D` it asks for its types.
fn put_named(out: &mut Vec<u8>, tag: u8, name: &str) {
    let start = out.len();
    out.extend_from_slice(&[tag, 0, 0, 0, 0, b'S']);
    out.extend_from_slice(name.as_bytes());
    out.push(0);
    assert!(close(out, start), "a name of ours is short");
}

#[cold]
fn bad_statement() -> DbError {
    let message = "a statement must not contain a zero byte or exceed 2 GiB";
    DbError::new(DbErrorKind::Unsupported, message)
}

/// Completes the message from `start` to the end of `out`, by writing its length after its tag.
/// Returns false if the message is too long.
#[inline]
pub(super) fn close(out: &mut [u8], start: usize) -> bool {
    let Ok(n_bytes) = i32::try_from(out.len() - start - 1) else { return false };
    out[start + 1..start + 5].copy_from_slice(&n_bytes.to_be_bytes());
    true
}

/// Appends a message that `write` encodes with `postgres-protocol`. Fails if the protocol cannot
/// express the message.
pub(super) fn put(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut BytesMut) -> io::Result<()>,
) -> Result<(), DbError> {
    let mut buffer = BytesMut::new();
    write(&mut buffer).map_err(|error| {
        let message = format!("the PostgreSQL protocol cannot express this request: {error}");
        DbError::new(DbErrorKind::Unsupported, message)
    })?;
    out.extend_from_slice(&buffer);
    Ok(())
}
