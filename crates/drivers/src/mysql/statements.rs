//! The statements that a MySQL connection knows, and the encoding of their executions.
//!
//! Parameter types are sent once; later executions contain only the values. Not here: replies.

use std::ops::Deref;
use std::sync::Arc;

use model::{DbError, DbErrorKind, Sent, SentStatement, Statement, StatementKind, Value};

use super::columns::{Columns, kind};
use super::packets::{put_command, put_packet};
use super::values::{Escapes, kind_of, put_binary, put_literal};

pub(super) const COM_QUERY: u8 = 0x03;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const COM_STMT_CLOSE: u8 = 0x19;
/// Offset of the statement's ID in a COM_STMT_EXECUTE packet, in bytes: after the header and the
/// command byte.
const ID_OFFSET: usize = 5;

/// A statement's SQL: one of those declared when the session was connected, which all connections
/// share, or one added later on this connection only.
pub(super) enum DeclaredOrOwn {
    /// A statement that was declared when the session was connected: all statements that were
    /// declared then, and the index of this one.
    Declared(Arc<[Statement]>, usize),
    /// A statement that was added later, on this connection only.
    Own(Arc<Statement>),
}

impl Deref for DeclaredOrOwn {
    type Target = Statement;

    fn deref(&self) -> &Statement {
        match self {
            DeclaredOrOwn::Declared(declared, place) => &declared[*place],
            DeclaredOrOwn::Own(statement) => statement,
        }
    }
}

/// A statement that a connection knows, whether or not the server has prepared it yet.
pub(super) struct PreparedStatement {
    pub(super) statement: DeclaredOrOwn,
    pub(super) kind: StatementKind,
    /// Whether the statement is sent as text each time, because it is declared so or the target's
    /// option demands it.
    pub(super) is_text: bool,
    /// The server's ID of the prepared statement; `None` before it is prepared.
    pub(super) id: Option<u32>,
    /// The server's ID from an earlier preparation of this statement, which is closed when the
    /// statement is prepared again; `None` if there is none.
    stale: Option<u32>,
    /// Number of the statement's parameters; 0 before it is prepared.
    n_values: usize,
    /// Parameter types that the last execution sent to the server; empty if the next one must send
    /// them.
    types: Vec<u8>,
    /// Columns of the statement's result, as the server described them last.
    pub(super) columns: Columns,
    /// SQL text between the placeholders `?`; empty until the statement is first sent as text.
    pieces: Vec<String>,
}

impl PreparedStatement {
    /// Creates a statement that the server has not prepared yet. `as_text` sends it as text each
    /// time, even if it is not declared so.
    pub(super) fn new(statement: DeclaredOrOwn, as_text: bool) -> PreparedStatement {
        PreparedStatement {
            is_text: as_text || statement.sent == Sent::Text,
            kind: statement.kind,
            statement,
            id: None,
            stale: None,
            n_values: 0,
            types: Vec::new(),
            columns: Columns::default(),
            pieces: Vec::new(),
        }
    }

    /// Stores the server's ID of the statement and its number of parameters, after the server has
    /// prepared it.
    pub(super) fn prepared(&mut self, id: u32, n_values: u16) {
        self.id = Some(id);
        self.n_values = usize::from(n_values);
        self.columns.clear();
    }

    /// Marks the parameter types as unknown to the server, so that the next execution sends them
    /// again. With `forget` the statement must also be prepared again.
    #[cold]
    pub(super) fn doubt(&mut self, forget: bool) {
        self.types.clear();
        if forget {
            self.stale = self.id.take();
        }
    }

    /// Forgets the server's IDs of the statement, which are being closed.
    pub(super) fn closed(&mut self) {
        self.types.clear();
        (self.id, self.stale) = (None, None);
    }

    /// Returns the server's IDs of the statement, which are to be closed when it is not kept.
    pub(super) fn ids(&self) -> impl Iterator<Item = u32> {
        [self.id, self.stale].into_iter().flatten()
    }

    /// Writes the command that prepares the statement. An earlier preparation is closed first,
    /// since it counts against the server's `max_prepared_stmt_count`; the server does not reply to
    /// closing.
    pub(super) fn put_prepare(&mut self, out: &mut Vec<u8>) {
        if let Some(id) = self.stale.take() {
            put_close(out, id);
        }
        put_command(out, COM_STMT_PREPARE, self.statement.sql.as_bytes());
    }

    /// Fails unless `n_given`, the number of values for an execution, is the number of the
    /// statement's parameters.
    pub(super) fn check_count(&self, n_given: usize) -> Result<(), DbError> {
        if n_given == self.n_values {
            return Ok(());
        }
        Err(wrong_number(self.n_values, n_given).during(self.statement.name))
    }

    /// Appends the packet that executes the statement with these values, in binary format. If the
    /// server's ID of the statement is still unknown, [`set_id`] inserts it later.
    #[inline]
    pub(super) fn put_execute(
        &mut self,
        out: &mut Vec<u8>,
        values: &[Value<'_>],
    ) -> Result<(), DbError> {
        let start = out.len();
        let mut result = Ok(());
        put_packet(out, 0, |out| {
            out.push(COM_STMT_EXECUTE);
            out.extend_from_slice(&self.id.unwrap_or(0).to_le_bytes());
            // No cursor; one iteration.
            out.extend_from_slice(&[0, 1, 0, 0, 0]);
            if !values.is_empty() {
                result = self.put_values(out, values);
            }
        });
        result.map_err(|no| {
            out.truncate(start);
            self.types.clear();
            no.during(self.statement.name)
        })
    }

    #[inline]
    fn put_values(&mut self, out: &mut Vec<u8>, values: &[Value<'_>]) -> Result<(), DbError> {
        let nulls = out.len();
        out.resize(nulls + values.len().div_ceil(8), 0);
        let is_new = self.types.len() != values.len()
            || values.iter().zip(&self.types).any(|(value, known)| {
                let kind = kind_of(value);
                kind != *known && kind != kind::NULL
            });
        out.push(u8::from(is_new));
        if is_new {
            self.put_types(out, values);
        }
        for (index, value) in values.iter().enumerate() {
            if *value == Value::Null {
                out[nulls + index / 8] |= 1 << (index % 8);
            } else {
                put_binary(out, value)?;
            }
        }
        Ok(())
    }

    #[cold]
    fn put_types(&mut self, out: &mut Vec<u8>, values: &[Value<'_>]) {
        self.types.resize(values.len(), kind::NULL);
        for (known, value) in self.types.iter_mut().zip(values) {
            let kind = kind_of(value);
            // A null keeps the type of the values before it.
            if kind != kind::NULL {
                *known = kind;
            }
            out.extend_from_slice(&[*known, 0]);
        }
    }

    /// Appends the packet that sends the statement as text, with the values as literals.
    pub(super) fn put_text(
        &mut self,
        out: &mut Vec<u8>,
        values: &[Value<'_>],
        escapes: Escapes,
    ) -> Result<(), DbError> {
        let start = out.len();
        let mut result = Ok(());
        put_packet(out, 0, |out| {
            out.push(COM_QUERY);
            result = self.fill(out, values, escapes);
        });
        result.map_err(|no| {
            out.truncate(start);
            no.during(self.statement.name)
        })
    }

    /// Appends the statement's SQL text with the values as literals. Fails if there are more or
    /// fewer values than placeholders.
    fn fill(
        &mut self,
        out: &mut Vec<u8>,
        values: &[Value<'_>],
        escapes: Escapes,
    ) -> Result<(), DbError> {
        if self.pieces.is_empty() {
            self.pieces = pieces(&self.statement.sql, escapes);
        }
        let n_marks = self.pieces.len() - 1;
        if n_marks != values.len() {
            return Err(wrong_number(n_marks, values.len()));
        }
        out.extend_from_slice(self.pieces[0].as_bytes());
        for (value, piece) in values.iter().zip(&self.pieces[1..]) {
            put_literal(out, value, escapes)?;
            out.extend_from_slice(piece.as_bytes());
        }
        Ok(())
    }

    /// Returns what would be sent for an execution with these values: the text with literals, or
    /// the prepared statement and its values.
    pub(super) fn sent(&mut self, values: &[Value<'_>], escapes: Escapes) -> SentStatement {
        let name = self.statement.name;
        let mut text = Vec::new();
        match self.is_text && self.fill(&mut text, values, escapes).is_ok() {
            true => SentStatement::text(&String::from_utf8_lossy(&text)).named(name),
            false => SentStatement::prepared(name, &self.statement.sql, values),
        }
    }
}

/// Writes the command that closes a prepared statement, to which the server does not reply.
pub(super) fn put_close(out: &mut Vec<u8>, id: u32) {
    put_command(out, COM_STMT_CLOSE, &id.to_le_bytes());
}

/// Inserts the server's statement ID into an encoded execution, whose packet begins at the offset
/// `start` of `out`.
pub(super) fn set_id(out: &mut [u8], start: usize, id: u32) {
    out[start + ID_OFFSET..start + ID_OFFSET + 4].copy_from_slice(&id.to_le_bytes());
}

#[cold]
fn wrong_number(wanted: usize, got: usize) -> DbError {
    let message = format!("the statement takes {wanted} values, {got} were given");
    DbError::new(DbErrorKind::Shape, message)
}

/// Returns the parts of an SQL text between its placeholders `?`; a `?` in quotes or comments is no
/// placeholder.
fn pieces(sql: &str, escapes: Escapes) -> Vec<String> {
    let bytes = sql.as_bytes();
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < bytes.len() {
        at += match &bytes[at..] {
            [quote @ (b'\'' | b'"' | b'`'), ..] => {
                let has_backslash = *quote != b'`' && escapes == Escapes::Backslash;
                quoted_length(&bytes[at..], *quote, has_backslash)
            }
            [b'-', b'-', b' ' | b'\t' | b'\n', ..] | [b'#', ..] => length_to(&sql[at..], "\n"),
            [b'/', b'*', ..] => length_to(&sql[at..], "*/"),
            [b'?', ..] => {
                pieces.push(sql[start..at].to_owned());
                start = at + 1;
                1
            }
            _ => 1,
        };
    }
    pieces.push(sql[start..].to_owned());
    pieces
}

fn length_to(text: &str, end: &str) -> usize {
    text.find(end).map_or(text.len(), |at| at + end.len())
}

fn quoted_length(bytes: &[u8], quote: u8, has_backslash: bool) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if has_backslash => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(sql: &str) -> PreparedStatement {
        let kind = StatementKind::Read;
        let statement = DeclaredOrOwn::Own(Arc::new(Statement::new("x", kind, sql.to_owned())));
        let mut known = PreparedStatement::new(statement, false);
        known.prepared(7, 2);
        known
    }

    #[test]
    fn marks_in_quotes_and_comments_are_no_marks() {
        let check = |sql: &str, expect: &[&str]| {
            assert_eq!(pieces(sql, Escapes::Backslash), expect, "{sql}");
        };
        check("a ? b ?", &["a ", " b ", ""]);
        check("'?' \"?\" `?` ?", &["'?' \"?\" `?` ", ""]);
        check("'it''s ?' 'x\\'?' ?", &["'it''s ?' 'x\\'?' ", ""]);
        check("/* ? */ ? -- ?\n?", &["/* ? */ ", " -- ?\n", ""]);
        check("1 - ?", &["1 - ", ""]);
        check("'open ?", &["'open ?"]);
    }

    #[test]
    fn types_go_out_once() {
        let mut known = known("?, ?");
        let mut execute = |values: &[Value<'_>]| {
            let mut out = Vec::new();
            known.put_execute(&mut out, values).expect("valid");
            // Offset of the types: after header, command, number, flags, count and one byte of null
            // bits.
            (out[14], out[15] == 1, out.len())
        };
        let int = Value::Int(1);
        assert_eq!(execute(&[int, Value::Null]), (2, true, 16 + 4 + 8));
        assert_eq!(execute(&[int, Value::Null]), (2, false, 16 + 8));
        assert_eq!(execute(&[int, Value::Text("ab")]), (0, true, 16 + 4 + 8 + 3));
        assert_eq!(execute(&[int, Value::Null]), (2, false, 16 + 8));
        assert_eq!(execute(&[Value::Null, Value::Text("")]), (1, false, 16 + 1));
        assert_eq!(execute(&[Value::Float(1.0), Value::Null]), (2, true, 16 + 4 + 8));
    }

    #[test]
    fn values_stand_in_the_text() {
        let mut known = known("SELECT ? + ?");
        let mut out = Vec::new();
        let values = [Value::cents(150), Value::Text("?'")];
        known.put_text(&mut out, &values, Escapes::Backslash).expect("valid");
        assert_eq!(&out[5..], b"SELECT 1.50 + '?'''");
        assert!(known.put_text(&mut out, &[], Escapes::Backslash).is_err());
        let nan = [Value::Float(f64::NAN), Value::Null];
        let n_before = out.len();
        assert!(known.put_text(&mut out, &nan, Escapes::Backslash).is_err());
        assert_eq!(out.len(), n_before, "a db_error puts out nothing");
    }
}
