//! A database whose connections are lost on cue. Not here: when, and what must come of it.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use model::{
    Cancel, Connecting, Database, Dialect, Fact, Place, Places, Refusal, RefusalKind, Reply,
    Request, RowSource, Session, Statement, StatementId, Table, Traffic, Visit,
};

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

/// Decides on a request, given its text; `BEGIN`, `COMMIT` and a bulk `LOAD` are told by name.
type Rule = Arc<Mutex<dyn FnMut(&str) -> Fate + Send>>;

/// The database, whose connections do what the rule says.
pub(crate) struct Flaky {
    inner: Arc<dyn Database>,
    rule: Rule,
}

impl Flaky {
    pub(crate) fn around(
        inner: &Arc<dyn Database>,
        rule: impl FnMut(&str) -> Fate + Send + 'static,
    ) -> Arc<dyn Database> {
        Arc::new(Flaky { inner: Arc::clone(inner), rule: Arc::new(Mutex::new(rule)) })
    }
}

impl Database for Flaky {
    fn dialect(&self) -> &Dialect {
        self.inner.dialect()
    }

    fn places(&self) -> Places {
        self.inner.places()
    }

    fn connect<'a>(&'a self, place: Place, statements: Arc<[Statement]>) -> Connecting<'a> {
        Box::pin(async move {
            let inner = self.inner.connect(place, statements).await?;
            let rule = Arc::clone(&self.rule);
            Ok(Box::new(FlakySession { inner, rule, fate: Fate::Lives }) as Box<dyn Session>)
        })
    }

    fn facts(&self) -> Result<Vec<Fact>, Refusal> {
        self.inner.facts()
    }
}

struct FlakySession {
    inner: Box<dyn Session>,
    rule: Rule,
    fate: Fate,
}

fn lost() -> Refusal {
    Refusal::new(RefusalKind::ConnectionLost, "lost on cue")
}

/// As the MySQL family says it.
fn not_understood() -> Refusal {
    let message = "You have an error in your SQL syntax near 'CHARACTER SET'".to_owned();
    Refusal { kind: RefusalKind::Other, code: 1064, sqlstate: "42000".to_owned(), message }
}

impl Session for FlakySession {
    fn start(&mut self, request: Request<'_>) -> Result<(), Refusal> {
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
            Fate::Lives | Fate::LostAfter => self.inner.start(request),
        }
    }

    fn poll_reply(
        &mut self,
        context: &mut Context<'_>,
        visit: Visit<'_>,
    ) -> Poll<Result<Reply, Refusal>> {
        let reply = self.inner.poll_reply(context, visit);
        if reply.is_ready() && self.fate == Fate::LostAfter {
            self.fate = Fate::LostBefore;
            return Poll::Ready(Err(lost()));
        }
        reply
    }

    fn poll_load(
        &mut self,
        context: &mut Context<'_>,
        table: &Table,
        source: &mut dyn RowSource,
    ) -> Poll<Result<Reply, Refusal>> {
        if (self.rule.lock().expect("no test fails within"))("LOAD") == Fate::Refused {
            return Poll::Ready(Err(not_understood()));
        }
        self.inner.poll_load(context, table, source)
    }

    fn prepare(&mut self, statement: Statement) -> Result<StatementId, Refusal> {
        self.inner.prepare(statement)
    }

    fn poll_reconnect(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Refusal>> {
        self.inner.poll_reconnect(context)
    }

    fn traffic(&self) -> Traffic {
        self.inner.traffic()
    }

    fn canceller(&self) -> Arc<dyn Cancel> {
        self.inner.canceller()
    }
}
