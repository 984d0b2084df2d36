//! Common parts of databases behind a network protocol: streams, buffers, and the session that
//! connects a protocol to a stream. Not here: any protocol (mysql, postgres), any clock.
//!
//! A protocol does no I/O: it converts requests to bytes, and received bytes to replies. The
//! session sends the protocol's output and receives what it needs. On a thread that is exactly one
//! system call to send and one to receive per round trip.

mod address;
mod broken;
mod cancel;
mod connect;
mod connector;
mod deadline;
mod hosts;
mod input;
mod line;
mod options;
mod reply_lag;
mod session;
mod socket;
mod stream;
mod timestamping;
mod tls;
#[cfg(feature = "tls")]
mod tls_client;
#[cfg(not(feature = "tls"))]
#[path = "no_tls_client.rs"]
mod tls_client;
mod tls_mode;

use std::sync::Arc;

use model::{
    DbError, Fact, Product, Reply, Request, RowSource, Secret, SentStatement, Statement,
    StatementId, StatementKind, Table, Traffic, Visit,
};

pub(crate) use connect::tell;
pub(crate) use connector::Connector;
pub(crate) use input::Input;
pub(crate) use options::{
    CLEAR_PASSWORD, CONNECT_TIMEOUT, MAX_PACKET, TLS, TLS_CA, check_clear, connector, open,
    packet_bytes_max,
};
pub(crate) use session::{NetDatabase, NetSession};
pub(crate) use stream::Channel;
pub(crate) use tls::Tls;
pub(crate) use tls_mode::TlsMode;

/// The part of a target that depends on the product. All sessions of the target share it.
pub(crate) trait Server: Send + Sync + Sized + 'static {
    /// Sign-in procedure of the product's protocol.
    type SignIn: SignIn + 'static;

    const PRODUCT: &'static Product;

    /// Reads facts about product, version, settings in force and the connection.
    fn facts(self: &Arc<Self>) -> Result<Vec<Fact>, DbError>;

    /// Looks up in the first session what later ones need to know. Returns whether a pooler shares
    /// the server's connections, so that one session may use several.
    fn learn(self: &Arc<Self>, session: &mut NetSession<Self>) -> bool;

    /// Looks up in a session that is not measured which settings all later sessions must change,
    /// and changes them in this one.
    fn look_around(self: &Arc<Self>, _session: &mut NetSession<Self>) {}

    fn connector(&self) -> &Connector;

    /// Starts a sign-in, whose resulting protocol knows `statements`.
    fn sign_in(self: &Arc<Self>, statements: Arc<[Statement]>) -> Self::SignIn;

    /// Returns the password, to be removed from the server's messages.
    fn secret(&self) -> Option<&Secret>;

    /// Longest message that is accepted from the server, in bytes.
    fn message_bytes_max(&self) -> usize;

    /// Asks the server at `place` to stop the work of cancelled sessions. It is called on a thread
    /// that may block, again and again for sessions that continue. Errors are ignored.
    fn end(self: &Arc<Self>, place: usize, keys: &[CancelKey]);
}

/// Number of bytes of output from which a load or a long batch is sent before more is written.
pub(crate) const FLIGHT_BYTES: usize = 64 << 10;

/// Condition on which a protocol can continue. Its output is always sent first.
pub(crate) enum Step<T> {
    /// More bytes must come from the server.
    More,
    /// TLS must begin on this connection; only during sign-in.
    StartTls,
    /// The output must be sent, because more follows (loads and long batches). The protocol is also
    /// called before all of it is sent if bytes have come. It must then keep the output below
    /// [`FLIGHT_BYTES`].
    Send,
    /// The operation is complete.
    Done(T),
}

/// A running sign-in, which results in the protocol of a signed-in connection.
pub(crate) trait SignIn {
    type Protocol: Protocol + 'static;

    /// Continues with the received bytes. An error ends the connection.
    fn advance(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        channel: &Channel,
    ) -> Result<Step<Self::Protocol>, DbError>;
}

/// The protocol of a signed-in connection.
pub(crate) trait Protocol {
    /// Writes a request to `out`. The request before it must be complete. After an error nothing of
    /// it may be sent.
    fn start(&mut self, request: Request<'_>, out: &mut Vec<u8>) -> Result<(), DbError>;

    /// Continues a request with the received bytes. `Ok(Done(Err(_)))` is a database error after
    /// which the connection is intact. `Err(_)` breaks the connection; during a commit its kind
    /// becomes `UnknownCommit`. It is also called before anything was received, and while a long
    /// batch is being sent.
    fn advance(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        visit: Visit<'_>,
    ) -> Result<Step<Result<Reply, DbError>>, DbError>;

    /// Writes the start of a bulk load; then [`Protocol::advance_load`] is called until it is done.
    fn start_load(&mut self, table: &Table, out: &mut Vec<u8>) -> Result<(), DbError>;

    /// Continues a load. Writes rows of `source` to `out`, about [`FLIGHT_BYTES`] at a time.
    fn advance_load(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        source: &mut dyn RowSource,
    ) -> Result<Step<Result<Reply, DbError>>, DbError>;

    /// Adds a statement, which the server prepares at its first use, and returns its number.
    fn prepare(&mut self, statement: Statement) -> Result<StatementId, DbError>;

    /// Returns the statements of a request as they would be sent now.
    fn sent(&mut self, request: Request<'_>) -> Vec<SentStatement>;

    /// Returns the numbers of statements so far. Bytes and round trips are counted elsewhere.
    fn traffic(&self) -> Traffic;

    /// Whether a commit is not answered yet, so that its outcome is unknown if the connection is
    /// lost now.
    fn is_committing(&self) -> bool;

    /// Returns the approximate number of unanswered commands of the current request. More than one
    /// means that they were sent together.
    fn n_unanswered(&self) -> usize;

    /// Returns the key by which another connection can cancel this one. It never changes.
    fn cancel_key(&self) -> CancelKey;

    /// Writes a message that ends the session, so that the server logs no lost connection.
    fn say_goodbye(&mut self, out: &mut Vec<u8>);
}

/// Whether a text of SQL outside of a transaction may change data, judged by its first word. A
/// SELECT of a function that writes is not recognized.
pub(crate) fn may_commit(kind: StatementKind, sql: &str) -> bool {
    const ASK: [&str; 8] =
        ["select", "show", "set", "explain", "begin", "start", "rollback", "use"];
    kind != StatementKind::Read && !begins_with(sql, &ASK)
}

/// Whether a statement that fails may have committed something before: true for calls of procedures
/// and for texts of several statements.
pub(crate) fn may_commit_within(sql: &str) -> bool {
    begins_with(sql, &["call", "do"]) || sql.contains(';')
}

fn begins_with(sql: &str, words: &[&str]) -> bool {
    let first = sql.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next();
    first.is_some_and(|first| words.iter().any(|word| word.eq_ignore_ascii_case(first)))
}

/// Key by which another connection stops a session's running statement.
#[derive(Clone, Debug)]
pub(crate) enum CancelKey {
    /// Connection ID for a KILL statement (MySQL family).
    KillQuery(u64),
    /// Process ID and secret key for a cancel request on a new connection (PostgreSQL).
    Secret(i32, i32),
}
