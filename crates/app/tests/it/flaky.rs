//! A database whose connections are lost by a rule, for tests. Not here: the rules, and the
//! expected results.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use drivers::for_tests::{Interceptor, intercept};
use model::{Database, DbError, DbErrorKind, Reply, Request, RowSource, Session, Table, Visit};

/// Fate of a connection at a request, as a test's rule chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Lives,
    /// The connection is lost before the request reaches the database.
    LostBefore,
    /// The connection is lost after the database has executed the request.
    LostAfter,
    /// The connection is kept, but the database does not understand the request.
    Refused,
}

/// Decides the fate of a connection at a request, by the request's text. `BEGIN`, `COMMIT` and a
/// bulk `LOAD` are passed by these names.
type Rule = Arc<Mutex<dyn FnMut(&str) -> Fate + Send>>;

/// Wraps a database so that its connections are lost as `rule` says.
pub(crate) fn flaky(
    database: &Arc<dyn Database>,
    rule: impl FnMut(&str) -> Fate + Send + 'static,
) -> Arc<dyn Database> {
    let rule: Rule = Arc::new(Mutex::new(rule));
    intercept(database, move || Flaky { rule: Arc::clone(&rule), fate: Fate::Lives })
}

/// Interceptor that loses one connection as the rule says.
struct Flaky {
    rule: Rule,
    fate: Fate,
}

fn lost() -> DbError {
    DbError::new(DbErrorKind::ConnectionLost, "lost on cue")
}

/// Returns the error of servers of the MySQL family for a statement that they do not understand.
fn not_understood() -> DbError {
    let message = "You have an error in your SQL syntax near 'CHARACTER SET'".to_owned();
    DbError { kind: DbErrorKind::Other, code: 1064, sqlstate: "42000".to_owned(), message }
}

impl Interceptor for Flaky {
    fn start(&mut self, session: &mut dyn Session, request: Request<'_>) -> Result<(), DbError> {
        if self.fate == Fate::Lives {
            let text = match request {
                Request::Text { sql, .. } => sql,
                Request::Begin => "BEGIN",
                Request::Commit => "COMMIT",
                _ => "another",
            };
            self.fate = (self.rule.lock().expect("no test fails within"))(text);
        }
        match self.fate {
            Fate::LostBefore => Err(lost()),
            Fate::Refused => {
                self.fate = Fate::Lives;
                Err(not_understood())
            }
            Fate::Lives | Fate::LostAfter => session.start(request),
        }
    }

    fn poll_reply(
        &mut self,
        session: &mut dyn Session,
        context: &mut Context<'_>,
        visit: Visit<'_>,
    ) -> Poll<Result<Reply, DbError>> {
        let reply = session.poll_reply(context, visit);
        if reply.is_ready() && self.fate == Fate::LostAfter {
            self.fate = Fate::LostBefore;
            return Poll::Ready(Err(lost()));
        }
        reply
    }

    fn poll_load(
        &mut self,
        session: &mut dyn Session,
        context: &mut Context<'_>,
        table: &Table,
        source: &mut dyn RowSource,
    ) -> Poll<Result<Reply, DbError>> {
        if (self.rule.lock().expect("no test fails within"))("LOAD") == Fate::Refused {
            return Poll::Ready(Err(not_understood()));
        }
        session.poll_load(context, table, source)
    }
}
