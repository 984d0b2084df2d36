//! Interceptors of database sessions for tests of any crate: they see each request and reply, and
//! may replace them.
//!
//! Not here: the tests that use them.

use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use model::{
    Cancel, Connecting, Database, DbError, Fact, Hosts, Place, Places, Product, Reply, ReplyLags,
    Request, RowSource, SentStatement, Session, Statement, StatementId, Table, Traffic, Visit,
};

/// Returns the lower-case words of an SQL text that some version of MariaDB or MySQL reserves. SQL
/// in tests has upper-case keywords, so such a word is a name, and a syntax error there.
pub fn reserved_names(sql: &str) -> Vec<&str> {
    crate::mysql::reserved::reserved_names(sql)
}

/// An observer of a session's requests, replies and bulk loads, for tests. It may return an error
/// or another reply; by default each method passes the call on.
pub trait Interceptor {
    /// Called instead of `Session::start`. Passes the request on to `session`, or returns an error
    /// without doing so.
    fn start(&mut self, session: &mut dyn Session, request: Request<'_>) -> Result<(), DbError> {
        session.start(request)
    }

    /// Called instead of `Session::poll_reply`. Polls `session`, and returns its reply or another
    /// one.
    fn poll_reply(
        &mut self,
        session: &mut dyn Session,
        context: &mut Context<'_>,
        visit: Visit<'_>,
    ) -> Poll<Result<Reply, DbError>> {
        session.poll_reply(context, visit)
    }

    /// Called instead of `Session::poll_load`. Passes the bulk load on to `session`, or returns an
    /// error without doing so.
    fn poll_load(
        &mut self,
        session: &mut dyn Session,
        context: &mut Context<'_>,
        table: &Table,
        source: &mut dyn RowSource,
    ) -> Poll<Result<Reply, DbError>> {
        session.poll_load(context, table, source)
    }
}

/// Wraps a session, so that `interceptor` sees its requests, replies and bulk loads.
pub fn intercept_session(
    session: Box<dyn Session>,
    interceptor: impl Interceptor + 'static,
) -> Box<dyn Session> {
    Box::new(InterceptedSession { session, interceptor })
}

/// Wraps a database, so that `interceptor` is called once for each new session and makes the
/// interceptor of that session.
pub fn intercept<I: Interceptor + 'static>(
    database: &Arc<dyn Database>,
    interceptor: impl Fn() -> I + Send + Sync + 'static,
) -> Arc<dyn Database> {
    Arc::new(InterceptedDatabase { database: Arc::clone(database), interceptor })
}

struct InterceptedSession<I> {
    session: Box<dyn Session>,
    interceptor: I,
}

impl<I: Interceptor> Session for InterceptedSession<I> {
    fn start(&mut self, request: Request<'_>) -> Result<(), DbError> {
        self.interceptor.start(self.session.as_mut(), request)
    }

    fn poll_reply(
        &mut self,
        context: &mut Context<'_>,
        visit: Visit<'_>,
    ) -> Poll<Result<Reply, DbError>> {
        self.interceptor.poll_reply(self.session.as_mut(), context, visit)
    }

    fn poll_load(
        &mut self,
        context: &mut Context<'_>,
        table: &Table,
        source: &mut dyn RowSource,
    ) -> Poll<Result<Reply, DbError>> {
        self.interceptor.poll_load(self.session.as_mut(), context, table, source)
    }

    fn prepare(&mut self, statement: Statement) -> Result<StatementId, DbError> {
        self.session.prepare(statement)
    }

    fn close(&mut self, statement: StatementId) {
        self.session.close(statement);
    }

    fn poll_reconnect(&mut self, context: &mut Context<'_>) -> Poll<Result<(), DbError>> {
        self.session.poll_reconnect(context)
    }

    fn should_move(&mut self) -> bool {
        self.session.should_move()
    }

    fn has_ended(&mut self) -> bool {
        self.session.has_ended()
    }

    fn leave_host(&mut self) {
        self.session.leave_host();
    }

    fn sent(&mut self, request: Request<'_>) -> Vec<SentStatement> {
        self.session.sent(request)
    }

    fn traffic(&self) -> Traffic {
        self.session.traffic()
    }

    fn canceller(&self) -> Arc<dyn Cancel> {
        self.session.canceller()
    }

    fn measure_reply_lag(&mut self, lags: Rc<dyn ReplyLags>) {
        self.session.measure_reply_lag(lags);
    }
}

struct InterceptedDatabase<F> {
    database: Arc<dyn Database>,
    interceptor: F,
}

impl<I, F> Database for InterceptedDatabase<F>
where
    I: Interceptor + 'static,
    F: Fn() -> I + Send + Sync,
{
    fn product(&self) -> &Product {
        self.database.product()
    }

    fn places(&self) -> Places {
        self.database.places()
    }

    fn connect<'a>(&'a self, place: Place, statements: Arc<[Statement]>) -> Connecting<'a> {
        Box::pin(async move {
            let session = self.database.connect(place, statements).await?;
            Ok(intercept_session(session, (self.interceptor)()))
        })
    }

    fn facts(&self) -> Result<Vec<Fact>, DbError> {
        self.database.facts()
    }

    fn hosts(&self) -> Option<&dyn Hosts> {
        self.database.hosts()
    }

    fn counted(&self) -> Vec<(&'static str, f64)> {
        self.database.counted()
    }
}
