//! A database whose connections are lost on cue. Not here: when, and what must come of it.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use drivers::for_tests::{Interceptor, intercept};
use model::{Database, DbError, DbErrorKind, Reply, Request, RowSource, Session, Table, Visit};

/// What becomes of a connection at a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing.
    Lives,
    /// The request never reaches the database.
    LostBefore,
    /// The database does what is asked, and nobody hears of it.
    LostAfter,
    /// The database does not understand it.
    Refused,
}

/// Decides on a request, given its text; `BEGIN`, `COMMIT` and a bulk `LOAD` are reported by name.
type Rule = Arc<Mutex<dyn FnMut(&str) -> Fate + Send>>;

/// The database, whose connections do what the rule says.
pub(crate) fn flaky(
    database: &Arc<dyn Database>,
    rule: impl FnMut(&str) -> Fate + Send + 'static,
) -> Arc<dyn Database> {
    let rule: Rule = Arc::new(Mutex::new(rule));
    intercept(database, move || Flaky { rule: Arc::clone(&rule), fate: Fate::Lives })
}

/// What stands between one connection and whoever asks.
struct Flaky {
    rule: Rule,
    fate: Fate,
}

fn lost() -> DbError {
    DbError::new(DbErrorKind::ConnectionLost, "lost on cue")
}

/// As the MySQL family says it.
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
