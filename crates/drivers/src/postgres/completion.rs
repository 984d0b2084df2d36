//! Parser of the messages that complete a statement or a request: the number of changed rows, and
//! the transaction status.
//!
//! Not here: framing (messages), and the order of messages (protocol, load).

use model::DbError;

use super::db_errors::garbled;

/// Transaction status of a session: idle (`I`), in a transaction (`T`), or in a failed transaction
/// (`E`).
pub(super) type Status = u8;

/// Parses the transaction status in the body of a ReadyForQuery message. Fails if it is malformed.
pub(super) fn read_status(body: &[u8]) -> Result<Status, DbError> {
    match body {
        [status @ (b'I' | b'T' | b'E')] => Ok(*status),
        _ => Err(garbled(&"an unknown transaction status")),
    }
}

/// Returns the number of rows that a completed statement changed, from its CommandComplete message:
/// the last word of `INSERT 0 5`, `UPDATE 3`, `DELETE 2`, `MERGE 4` or `COPY 9`, but 0 for `SELECT
/// 7`.
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
