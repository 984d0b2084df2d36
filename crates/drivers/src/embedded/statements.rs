//! The statements of a session: those declared when it was connected, and those added at run time.
//! Not here: statements that a database has prepared.

use std::sync::Arc;

use model::{
    BeginSql, Call, DbError, DbErrorKind, Request, Sent, SentStatement, Statement, StatementId,
    Value,
};

use super::pieces::{Pieces, PutLiteral};

/// The statements of a session, by number.
pub(crate) struct Statements {
    declared: Arc<[Statement]>,
    /// Statements that were added at run time. Their numbers follow those of the statements
    /// declared when the session was connected.
    late: Vec<Statement>,
    /// SQL of each statement that is sent as text, split at its placeholders; `None` before its
    /// first use.
    pieces: Vec<Option<Pieces>>,
    put_literal: PutLiteral,
}

impl Statements {
    /// Makes the statements of a new session. `put_literal` appends a value as SQL of the database.
    pub(crate) fn new(declared: Arc<[Statement]>, put_literal: PutLiteral) -> Statements {
        Statements { declared, late: Vec::new(), pieces: Vec::new(), put_literal }
    }

    pub(crate) fn n_declared(&self) -> usize {
        self.declared.len()
    }

    fn n_known(&self) -> usize {
        self.declared.len() + self.late.len()
    }

    /// Returns the statement with this index. Panics if there is none.
    pub(crate) fn get(&self, index: usize) -> &Statement {
        self.declared.get(index).unwrap_or_else(|| &self.late[index - self.declared.len()])
    }

    /// Returns the statement of a call. Fails if there is none.
    pub(crate) fn of_call(&self, call: &Call<'_>) -> Result<&Statement, DbError> {
        let (index, n_known) = (call.statement.index(), self.n_known());
        if index < n_known {
            return Ok(self.get(index));
        }
        let message = format!(
            "this session has {n_known} statements and no number {index}; statements prepared at \
             run time are lost when their connection ends"
        );
        Err(DbError::new(DbErrorKind::Missing, message))
    }

    /// Returns the text of a statement with `values` as literals. Fails if the number of values is
    /// wrong.
    pub(crate) fn text(&mut self, index: usize, values: &[Value<'_>]) -> Result<String, DbError> {
        let n_known = self.n_known();
        if self.pieces.len() < n_known {
            self.pieces.resize_with(n_known, || None);
        }
        let statement =
            self.declared.get(index).unwrap_or_else(|| &self.late[index - self.declared.len()]);
        let pieces = self.pieces[index].get_or_insert_with(|| Pieces::parse(&statement.sql));
        let filled = pieces.fill(values, self.put_literal);
        filled.map_err(|no| no.during(statement.name))
    }

    /// Returns the number of the next statement that is added. Fails if there are too many.
    pub(crate) fn next(&self) -> Result<StatementId, DbError> {
        StatementId::numbered(self.n_known())
    }

    /// Adds a statement at run time.
    pub(crate) fn add(&mut self, statement: Statement) {
        self.late.push(statement);
    }

    /// Forgets the statements that were added at run time, as the session is connected again.
    pub(crate) fn forget_late(&mut self) {
        self.late.clear();
        self.pieces.clear();
    }

    /// Describes the statements that a request sends, to be shown to users: as text with literals,
    /// or as prepared statements with their values.
    pub(crate) fn sent(&self, request: Request<'_>, begin: &BeginSql) -> Vec<SentStatement> {
        request.statements(begin, &mut |call| {
            let Statement { name, sql, sent, .. } = self.of_call(call).ok()?;
            let filled = match sent {
                Sent::Prepared => None,
                Sent::Text => Pieces::parse(sql).fill(call.values, self.put_literal).ok(),
            };
            Some(match filled {
                Some(text) => SentStatement::text(&text).named(name),
                None => SentStatement::prepared(name, sql, call.values),
            })
        })
    }
}
