//! What messages say when something is done: the state of the transaction, and the rows changed.
//!
//! Not here: how messages are framed (messages), and which come when (protocol, load).

use model::DbError;

use super::db_errors::garbled;

/// Whether the server is in a transaction: `I`dle, in one (`T`), or in a failed one (`E`).
pub(super) type Status = u8;

/// Reads the body of a ReadyForQuery.
pub(super) fn read_status(body: &[u8]) -> Result<Status, DbError> {
    match body {
        [status @ (b'I' | b'T' | b'E')] => Ok(*status),
        _ => Err(garbled(&"an unknown transaction status")),
    }
}

/// The rows that a completed statement has changed: the last word of `INSERT 0 5`, `UPDATE 3`,
/// `DELETE 2`, `MERGE 4`, `COPY 9`. A `SELECT 7` has changed none.
#[inline]
pub(super) fn n_affected(body: &[u8]) -> u64 {
    if !matches!(body.first(), Some(b'I' | b'U' | b'D' | b'M' | b'C')) {
        return 0;
    }
    let word = body.strip_suffix(b"\0").unwrap_or(body);
    let is_digit = |byte: &&u8| byte.is_ascii_digit();
    let n_digits = word.iter().rev().take_while(is_digit).count();
    let digits = &word[word.len() - n_digits..];
    digits
        .iter()
        .fold(0u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0')))
}
