//! A database session over a network: runs requests on a connection, and handles the loss of the
//! connection.
//!
//! A round trip on a thread is one system call to send and one to receive. Not here: parsing
//! (protocols), and connecting (connect).

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, ready};

use model::{
    Cancel, Connecting, DbError, DbErrorKind, Host, Hosts, Place, Product, Reply, ReplyLags,
    Request, RowSource, SentStatement, Session, Statement, StatementId, StatementKind, Table,
    Traffic, Visit,
};

use super::cancel::{Canceller, Flags, Handle};
use super::connect::{ConnectSpec, ExecContext, ProtocolOf, connect, without_password};
use super::input::Input;
use super::line::{Line, cancelled, here};
use super::{CancelKey, Connector, Protocol, Server};

/// An open database with a network protocol, from which clients get their sessions.
pub(crate) struct NetDatabase<S> {
    server: Arc<S>,
    canceller: Arc<Canceller<S>>,
    product: Product,
    is_pooled: bool,
    /// Number of consecutive failed attempts to connect, for each client whose last attempt failed.
    n_refused: Mutex<BTreeMap<u32, usize>>,
    /// Handles of the clients' sessions, by which connections to a host that clients no longer use
    /// are counted and broken.
    handles: Mutex<Vec<Weak<Handle<S>>>>,
}

impl<S: Server> NetDatabase<S> {
    /// Creates the database of `server`, without connecting. If it has several hosts, it reports no
    /// counters of commits or connections, since each host counts only its own.
    pub(crate) fn new(server: S) -> NetDatabase<S> {
        let server = Arc::new(server);
        let mut product = *S::PRODUCT;
        if server.connector().n_places() > 1 {
            // Each host counts for itself, perhaps including replicated commits.
            product.monitoring.commit_counter = None;
            product.monitoring.connection_counter = None;
            product.monitoring.started_ago = None;
        }
        let canceller = Arc::new(Canceller::new(Arc::clone(&server)));
        NetDatabase {
            canceller,
            server,
            product,
            is_pooled: false,
            n_refused: Mutex::default(),
            handles: Mutex::default(),
        }
    }

    /// Finds out in the first session what later ones need, and whether a connection pooler is
    /// between dbdyno and the server. With a pooler, commits are not counted and the server's
    /// limits on statements are not lifted.
    pub(super) fn learn(&mut self, session: &mut NetSession<S>) {
        if self.server.learn(session) {
            self.is_pooled = true;
            // Pooled connections report their counts seconds later, or never while idle.
            self.product.monitoring.commit_counter = None;
            // A lifted limit would persist for the next user of the connection.
            self.product.administration.house_limits = &[];
        }
    }

    /// Whether a connection pooler between dbdyno and the server shares the server's connections.
    pub(super) fn is_pooled(&self) -> bool {
        self.is_pooled
    }

    pub(super) fn product(&self) -> &Product {
        &self.product
    }

    pub(crate) fn server(&self) -> &Arc<S> {
        &self.server
    }

    /// Creates a session for [`model::Database::connect`]. A benchmark client connects only to its
    /// assigned host, any other session to the first host that responds.
    pub(super) fn connect_client(
        &self,
        place: Place,
        statements: Arc<[Statement]>,
    ) -> Connecting<'_> {
        Box::pin(async move {
            let exec = ExecContext::for_place(&place);
            let client = place.client;
            // Sessions that build, check or query declare no statements, and stay with one server.
            let is_client = !statements.is_empty() && client != Place::NOBODY;
            let connector = self.server.connector();
            let handle = Arc::new(Handle::new(Some(Arc::clone(&self.canceller))));
            let spec = |place| ConnectSpec {
                server: Arc::clone(&self.server),
                place,
                client: is_client.then_some(client),
                exec: exec.clone(),
                statements: Arc::clone(&statements),
                handle: Arc::clone(&handle),
            };
            if !is_client {
                let made =
                    first_of(connector, async |place| NetSession::connect(spec(place)).await);
                return Ok(Box::new(made.await?) as Box<dyn Session>);
            }
            lock(&self.handles).push(Arc::downgrade(&handle));
            let place = connector.place_of(client, self.n_refused(client));
            let made = NetSession::<S>::connect(spec(place)).await;
            self.note(client, made.as_ref().err());
            Ok(Box::new(made?) as Box<dyn Session>)
        })
    }

    fn n_refused(&self, client: u32) -> usize {
        self.counts().get(&client).copied().unwrap_or(0)
    }

    /// Counts a client's consecutive failed attempts to connect, so that it tries the next host.
    /// `no` is the error of the last attempt, `None` if it succeeded. Success resets the count, and
    /// so does an error that does not break a session.
    fn note(&self, client: u32, no: Option<&DbError>) {
        let mut counts = self.counts();
        match no {
            Some(no) if no.kind.breaks_session() => {
                *counts.entry(client).or_default() += 1;
            }
            _ => drop(counts.remove(&client)),
        }
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<u32, usize>> {
        lock(&self.n_refused)
    }

    /// Calls `is_so` for each client's session with the index of `host`, which was removed from
    /// those that clients use. Returns for how many sessions it was true; 0 if the host is still in
    /// use.
    fn count_at(&self, host: &Host, is_so: fn(&Handle<S>, usize) -> bool) -> usize {
        let Some(place) = self.server.connector().place_left(host) else { return 0 };
        let mut handles = lock(&self.handles);
        handles.retain(|handle| handle.strong_count() > 0);
        handles.iter().filter_map(Weak::upgrade).filter(|handle| is_so(handle, place)).count()
    }
}

/// Locks a mutex and ignores poisoning, since a panic cannot leave the guarded values half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S: Server> Hosts for NetDatabase<S> {
    fn list(&self) -> Vec<Host> {
        let connector = self.server.connector();
        connector.hosts(connector.used())
    }

    fn add(&self, host: &Host) -> Result<usize, String> {
        self.server.connector().add(host)
    }

    fn remove(&self, host: &Host) -> Result<usize, String> {
        self.server.connector().remove(host)
    }

    fn left(&self, host: &Host) -> usize {
        self.count_at(host, Handle::is_at)
    }

    fn cut(&self, host: &Host) -> usize {
        self.count_at(host, Handle::cut)
    }

    fn silent(&self) -> Vec<Host> {
        self.server.connector().silent()
    }
}

/// Connects to the first host that responds, since some of the target's servers may be down. If
/// none responds, returns the error of the first host.
async fn first_of<S: Server>(
    connector: &Connector,
    connect: impl AsyncFn(usize) -> Result<NetSession<S>, DbError>,
) -> Result<NetSession<S>, DbError> {
    let mut first = None;
    for place in connector.admin_places() {
        let made = connect(place).await;
        let is_silent = made.as_ref().is_err_and(|no| no.kind.breaks_session());
        connector.note_answer(place, !is_silent);
        match made {
            Err(no) if is_silent => first = first.or(Some(no)),
            made => return made,
        }
    }
    Err(first.expect("a target has a place"))
}

/// Waits until the servers were asked to stop the work of cancelled sessions, up to 2 s.
impl<S> Drop for NetDatabase<S> {
    fn drop(&mut self) {
        self.canceller.wait();
    }
}

pub(crate) struct NetSession<S: Server> {
    spec: ConnectSpec<S>,
    /// Flags for cancelling the session, shared with its handle.
    flags: Arc<Flags>,
    /// Connection to the server; `None` once it is broken.
    line: Option<Line<ProtocolOf<S>>>,
    /// Address of the server with the error that broke the connection; `None` if no error has.
    why_broken: Option<String>,
    /// Reconnect that is in progress; `None` if there is none.
    connecting: Option<Reconnecting<S>>,
    under_way: UnderWay,
    /// Whether the current request was sent as several commands without waiting for replies in
    /// between.
    is_flight: bool,
    /// Receiver of the measured reply lags (times from arrival to reading); `None` if they are not
    /// measured.
    reply_lags: Option<Rc<dyn ReplyLags>>,
    /// Statements, bytes and round trips of the session's earlier connections, and the rows of all
    /// its connections.
    past: Traffic,
    /// Number of changes of the target's hosts ([`Connector::n_changes`]) that the session has
    /// already considered.
    n_changes: u64,
}

type Reconnecting<S> = Pin<Box<dyn Future<Output = Result<Line<ProtocolOf<S>>, DbError>>>>;

/// Advice appended to the error if several commands sent together are lost repeatedly and were
/// never answered.
const ONE_AT_A_TIME: &str = "; commands that were sent together were lost more than once: a proxy \
                             may take only one at a time (use --mode prepared)";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnderWay {
    Nothing,
    Reply,
    Load,
}

impl<S: Server> NetSession<S> {
    async fn connect(spec: ConnectSpec<S>) -> Result<NetSession<S>, DbError> {
        let line = connect(spec.clone()).await?;
        Ok(NetSession {
            n_changes: spec.server.connector().n_changes(),
            flags: Arc::clone(spec.handle.flags()),
            spec,
            line: Some(line),
            why_broken: None,
            connecting: None,
            under_way: UnderWay::Nothing,
            is_flight: false,
            reply_lags: None,
            past: Traffic::default(),
        })
    }

    /// Connects a session to the host with the index `place`. It blocks this thread and cannot be
    /// cancelled.
    pub(crate) fn connect_here(server: &Arc<S>, place: usize) -> Result<NetSession<S>, DbError> {
        let spec = ConnectSpec::here(server, place);
        here(|context| std::pin::pin!(NetSession::connect(spec)).poll(context))
    }

    /// Connects an auxiliary session, for loading, checking or querying, to the first host that
    /// responds. It blocks this thread and cannot be cancelled.
    pub(crate) fn connect_admin(server: &Arc<S>) -> Result<NetSession<S>, DbError> {
        let connect = async |place| NetSession::connect(ConnectSpec::here(server, place)).await;
        let mut connect = std::pin::pin!(first_of(server.connector(), connect));
        let mut session = here(|context| connect.as_mut().poll(context))?;
        server.look_around(&mut session);
        Ok(session)
    }

    /// Returns the key with which another connection can cancel this one; `None` once the
    /// connection is broken.
    pub(crate) fn cancel_key(&self) -> Option<CancelKey> {
        self.line.as_ref().map(|line| line.protocol.cancel_key())
    }

    /// Sends SQL as text, passes rows of the result to `visit`, and blocks this thread until the
    /// reply is complete.
    pub(crate) fn ask_here(&mut self, sql: &str, visit: Visit<'_>) -> Result<Reply, DbError> {
        self.start(Request::Text { kind: StatementKind::Other, sql })?;
        here(|context| self.poll_reply(context, visit))
    }

    /// Returns the connection on which a new request can be sent. Fails if the session is
    /// cancelled, or its connection is broken.
    fn line(&mut self) -> Result<&mut Line<ProtocolOf<S>>, DbError> {
        if self.flags.is_cancelled() {
            return Err(cancelled());
        }
        assert_eq!(self.under_way, UnderWay::Nothing, "one request is under way at a time");
        let why = || self.why_broken.as_deref().unwrap_or("the connection was ended");
        self.line.as_mut().ok_or_else(|| DbError::new(DbErrorKind::ConnectionLost, why()))
    }

    fn begin(&mut self, under_way: UnderWay) {
        self.under_way = under_way;
        self.flags.set_busy(true);
    }

    fn end<T>(&mut self, result: Result<T, DbError>) -> Result<T, DbError> {
        self.under_way = UnderWay::Nothing;
        self.flags.set_busy(false);
        if self.is_flight && result.is_ok() {
            self.spec.server.connector().note_flight();
        }
        result.map_err(|no| self.break_off(no))
    }

    /// Returns the result of an attempt to connect, without the password in its error. If the
    /// server is unavailable (shutting down, full, out of its cluster), selects another host for
    /// the next attempt.
    #[inline]
    fn note_failure<T>(&mut self, result: Result<T, DbError>) -> Result<T, DbError> {
        result.map_err(|no| {
            if no.kind.breaks_session() {
                self.spec.go_on();
            }
            without_password(self.spec.server.as_ref(), no)
        })
    }

    /// Closes the connection after the error `no` has broken it, and returns that error: as
    /// `Cancelled` if the session was cancelled, and as `UnknownCommit` if the reply to a commit
    /// was awaited.
    #[cold]
    fn break_off(&mut self, mut no: DbError) -> DbError {
        let is_committing =
            self.line.as_ref().is_some_and(|line| line.protocol.is_committing() && line.has_sent);
        let is_flight = self.is_flight
            || self.line.as_ref().is_some_and(|line| line.protocol.n_unanswered() > 1);
        self.hang_up();
        no = without_password(self.spec.server.as_ref(), no);
        let address = self.spec.server.connector().address(self.spec.place);
        self.why_broken = Some(format!("{address}: {no}"));
        if self.flags.is_cancelled() {
            no = cancelled();
        } else if is_flight && self.spec.server.connector().note_lost_flight() {
            no.message.push_str(ONE_AT_A_TIME);
        }
        if is_committing {
            no.kind = DbErrorKind::UnknownCommit;
            no = no.during("the connection was lost during COMMIT, whose outcome is unknown");
        }
        no
    }

    /// Continues with a new connection in place of the broken one, after a reconnect.
    fn take(&mut self, mut line: Line<ProtocolOf<S>>) {
        if let Some(lags) = &self.reply_lags {
            line.stream.measure_reply_lag(Rc::clone(lags));
        }
        self.line = Some(line);
    }

    /// Tells the server that the connection ends, unless a request is under way.
    fn say_goodbye(&mut self) {
        if let (UnderWay::Nothing, Some(line)) = (self.under_way, &mut self.line) {
            line.say_goodbye();
        }
    }

    fn hang_up(&mut self) {
        if let Some(line) = self.line.take() {
            self.past += line.traffic();
        }
        self.under_way = UnderWay::Nothing;
        self.spec.handle.forget();
    }
}

impl<S: Server> Session for NetSession<S> {
    fn start(&mut self, request: Request<'_>) -> Result<(), DbError> {
        let line = self.line()?;
        line.begin();
        line.protocol.start(request, &mut line.out).inspect_err(|_| line.out.clear())?;
        self.is_flight = line.protocol.n_unanswered() > 1;
        self.begin(UnderWay::Reply);
        Ok(())
    }

    fn poll_reply(
        &mut self,
        context: &mut Context<'_>,
        visit: Visit<'_>,
    ) -> Poll<Result<Reply, DbError>> {
        assert_eq!(self.under_way, UnderWay::Reply, "a reply is polled after its request");
        let line = self.line.as_mut().expect("a request was started on it");
        let advance = |protocol: &mut ProtocolOf<S>, input: &mut Input, out: &mut Vec<u8>| {
            protocol.advance(input, out, visit)
        };
        let result = ready!(line.poll(context, advance));
        let result = self.end(result).and_then(|result| self.note_failure(result));
        Poll::Ready(result.inspect(|reply| self.past.count_rows(*reply)))
    }

    fn poll_load(
        &mut self,
        context: &mut Context<'_>,
        table: &Table,
        source: &mut dyn RowSource,
    ) -> Poll<Result<Reply, DbError>> {
        if self.under_way == UnderWay::Nothing {
            let line = self.line()?;
            line.begin();
            line.protocol.start_load(table, &mut line.out).inspect_err(|_| line.out.clear())?;
            self.is_flight = false;
            self.begin(UnderWay::Load);
        }
        assert_eq!(self.under_way, UnderWay::Load, "a load goes on before anything else");
        let line = self.line.as_mut().expect("a load was started on it");
        let advance = |protocol: &mut ProtocolOf<S>, input: &mut Input, out: &mut Vec<u8>| {
            protocol.advance_load(input, out, source)
        };
        let result = ready!(line.poll(context, advance));
        let result = self.end(result).and_then(|result| self.note_failure(result));
        Poll::Ready(result.inspect(|reply| self.past.count_rows(*reply)))
    }

    fn prepare(&mut self, statement: Statement) -> Result<StatementId, DbError> {
        self.line()?.protocol.prepare(statement)
    }

    fn close(&mut self, statement: StatementId) {
        if let Some(line) = &mut self.line {
            line.protocol.close(statement);
        }
    }

    fn poll_reconnect(&mut self, context: &mut Context<'_>) -> Poll<Result<(), DbError>> {
        if self.flags.is_cancelled() {
            return Poll::Ready(Err(cancelled()));
        }
        let connecting = match &mut self.connecting {
            Some(connecting) => connecting,
            None => {
                self.disconnect();
                self.connecting.insert(Box::pin(connect(self.spec.clone())))
            }
        };
        let result = ready!(connecting.as_mut().poll(context));
        self.connecting = None;
        match result {
            Ok(line) => self.take(line),
            Err(no) => {
                // Another host may respond.
                self.spec.go_on();
                return Poll::Ready(Err(no));
            }
        }
        Poll::Ready(Ok(()))
    }

    fn disconnect(&mut self) {
        self.say_goodbye();
        self.hang_up();
    }

    fn should_move(&mut self) -> bool {
        let connector = self.spec.server.connector();
        let n_changes = connector.n_changes();
        let (true, Some(client)) = (n_changes != self.n_changes, self.spec.client) else {
            return false;
        };
        self.n_changes = n_changes;
        let home = connector.place_of(client, 0);
        std::mem::replace(&mut self.spec.place, home) != home
    }

    fn has_ended(&mut self) -> bool {
        let is_idle = self.under_way == UnderWay::Nothing && !self.flags.is_cancelled();
        is_idle && self.line.as_mut().is_some_and(Line::has_ended)
    }

    fn leave_host(&mut self) {
        self.spec.go_on();
    }

    fn sent(&mut self, request: Request<'_>) -> Vec<SentStatement> {
        self.line.as_mut().map_or(Vec::new(), |line| line.protocol.sent(request))
    }

    fn traffic(&self) -> Traffic {
        let mut traffic = self.past;
        if let Some(line) = &self.line {
            traffic += line.traffic();
        }
        traffic
    }

    fn canceller(&self) -> Arc<dyn Cancel> {
        Arc::clone(&self.spec.handle) as Arc<dyn Cancel>
    }

    fn measure_reply_lag(&mut self, lags: Rc<dyn ReplyLags>) {
        self.reply_lags = Some(lags);
        if let Some(line) = self.line.take() {
            self.take(line);
        }
    }
}

impl<S: Server> Drop for NetSession<S> {
    fn drop(&mut self) {
        self.say_goodbye();
        self.spec.handle.forget();
    }
}
