//! Common parts of drivers for databases with a network protocol: streams, buffers, and the session
//! that connects a protocol to a stream. Not here: any protocol (mysql, postgres), any clock.
//!
//! A protocol does no I/O: it converts requests to bytes, and received bytes to replies. The
//! session sends the protocol's output and receives what it needs. On a thread that is exactly one
//! system call to send and one to receive per round trip.

mod address;
mod broken;
mod cancel;
#[cfg(feature = "tls")]
mod client_certificate;
mod connect;
mod connector;
mod deadline;
mod hosts;
mod input;
mod line;
mod options;
mod reply_lag;
mod session;
mod session_settings;
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
mod tls_options;

use std::sync::Arc;

use model::{
    DbError, Fact, Product, Reply, Request, RowSource, Secret, SentStatement, Statement,
    StatementId, StatementKind, Table, Traffic, Visit,
};

pub(crate) use connect::tell;
pub(crate) use connector::Connector;
pub(crate) use input::Input;
pub(crate) use options::{
    CLEAR_PASSWORD, CONNECT_TIMEOUT, MAX_PACKET, TLS, TLS_CA, TLS_CERT, TLS_KEY, check_clear,
    connector, open, packet_bytes_max,
};
pub(crate) use session::{NetDatabase, NetSession};
pub(crate) use session_settings::{ISOLATION, SESSION, SessionSettings};
pub(crate) use stream::Channel;
pub(crate) use tls::Tls;
pub(crate) use tls_mode::TlsMode;
pub(crate) use tls_options::TlsOptions;

/// A database server as its driver describes it: product, address and sign-in. All sessions of a
/// target share it.
pub(crate) trait Server: Send + Sync + Sized + 'static {
    /// Sign-in of the product's protocol, including TLS and authentication.
    type SignIn: SignIn + 'static;

    const PRODUCT: &'static Product;

    /// Reads the facts about the server that a run records: product, version, settings in force and
    /// the connection.
    fn facts(self: &Arc<Self>) -> Result<Vec<Fact>, DbError>;

    /// Looks up what later sessions need to know, such as settings. Called once, with the target's
    /// first session. Returns true if a connection pooler is in between, so that one session may
    /// use several connections of the server.
    fn learn(self: &Arc<Self>, session: &mut NetSession<Self>) -> bool;

    /// Looks up which settings all later sessions must change, and changes them in this one. Called
    /// with sessions that are not measured, such as the first one. Does nothing by default.
    fn look_around(self: &Arc<Self>, _session: &mut NetSession<Self>) {}

    fn connector(&self) -> &Connector;

    /// Starts a sign-in, which results in a connection that can execute `statements`.
    fn sign_in(self: &Arc<Self>, statements: Arc<[Statement]>) -> Self::SignIn;

    /// Returns the password, so that it can be removed from error messages.
    fn secret(&self) -> Option<&Secret>;

    /// Longest message, in bytes, that the client accepts from the server.
    fn message_bytes_max(&self) -> usize;

    /// Asks the server of the host with the index `place` to stop the work of the sessions with
    /// these `keys`. Called repeatedly, until the sessions notice, on a thread that may block.
    /// Errors are ignored.
    fn end(self: &Arc<Self>, place: usize, keys: &[CancelKey]);
}

/// Number of bytes of output at which a bulk load or a long batch is sent before more is written.
pub(crate) const FLIGHT_BYTES: usize = 64 << 10;

/// State of an operation of a protocol: complete, or the condition on which it can continue. The
/// caller sends the pending output first.
pub(crate) enum Step<T> {
    /// The operation needs more bytes from the server.
    More,
    /// TLS must begin on this connection. Occurs only during sign-in.
    StartTls,
    /// The output must be sent before the protocol writes more, as in bulk loads and long batches.
    /// If bytes are received earlier, the protocol may be called before all is sent; it must then
    /// keep the output below [`FLIGHT_BYTES`].
    Send,
    /// The operation is complete, with this result.
    Done(T),
}

/// A sign-in in progress, which results in the protocol of a signed-in connection.
pub(crate) trait SignIn {
    type Protocol: Protocol + 'static;

    /// Continues the sign-in: parses the bytes in `input` and appends the client's answer to `out`.
    /// `channel` has the properties of the connection, such as TLS. After an error the connection
    /// is closed.
    fn advance(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        channel: &Channel,
    ) -> Result<Step<Self::Protocol>, DbError>;
}

/// A product's protocol on a signed-in connection: converts requests to bytes, and received bytes
/// to replies, without any I/O.
pub(crate) trait Protocol {
    /// Appends the bytes of a request to `out`. The previous request must be complete. After an
    /// error, none of these bytes may be sent.
    fn start(&mut self, request: Request<'_>, out: &mut Vec<u8>) -> Result<(), DbError>;

    /// Continues a request: parses the bytes in `input` and passes rows to `visit`.
    /// `Ok(Done(Err(_)))` is a database error after which the connection is intact. `Err(_)` breaks
    /// the connection; during a commit its kind becomes `UnknownCommit`. Also called before
    /// anything is received, and while a long batch is being sent.
    fn advance(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        visit: Visit<'_>,
    ) -> Result<Step<Result<Reply, DbError>>, DbError>;

    /// Appends the start of a bulk load into `table` to `out`. The caller then calls
    /// [`Protocol::advance_load`] until it is done.
    fn start_load(&mut self, table: &Table, out: &mut Vec<u8>) -> Result<(), DbError>;

    /// Continues a bulk load: parses the bytes in `input`, and appends rows of `source` to `out`,
    /// about [`FLIGHT_BYTES`] at a time.
    fn advance_load(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        source: &mut dyn RowSource,
    ) -> Result<Step<Result<Reply, DbError>>, DbError>;

    /// Adds a statement, and returns its ID for requests. The server prepares it when it is first
    /// executed.
    fn prepare(&mut self, statement: Statement) -> Result<StatementId, DbError>;

    /// Closes a statement, if the server has prepared it: with the next request, or at the end.
    fn close(&mut self, statement: StatementId);

    /// Returns the statements of a request as they would be sent now, to be shown to the user.
    fn sent(&mut self, request: Request<'_>) -> Vec<SentStatement>;

    /// Returns how many statements of each kind the connection has sent. Bytes and round trips are
    /// counted outside of the protocol.
    fn traffic(&self) -> Traffic;

    /// Whether the reply to a commit is awaited, so that its outcome is unknown if the connection
    /// is lost now.
    fn is_committing(&self) -> bool;

    /// Returns about how many commands of the current request have no reply yet. More than one
    /// means that commands were sent together.
    fn n_unanswered(&self) -> usize;

    /// Returns the key by which another connection can cancel this one. The key never changes.
    fn cancel_key(&self) -> CancelKey;

    /// Appends the message that ends the session to `out`, so that the server does not log a lost
    /// connection.
    fn say_goodbye(&mut self, out: &mut Vec<u8>);
}

/// Whether an SQL text that is sent outside of a transaction may change data, and so commit.
/// Decided by `kind` and the first word of the SQL; a SELECT of a function that writes is not
/// recognized.
pub(crate) fn may_commit(kind: StatementKind, sql: &str) -> bool {
    const ASK: [&str; 8] =
        ["select", "show", "set", "explain", "begin", "start", "rollback", "use"];
    kind != StatementKind::Read && !begins_with(sql, &ASK)
}

/// Whether an SQL text may commit something although a later part fails: true for calls of
/// procedures and for several statements.
pub(crate) fn may_commit_within(sql: &str) -> bool {
    begins_with(sql, &["call", "do"]) || sql.contains(';')
}

fn begins_with(sql: &str, words: &[&str]) -> bool {
    let first = sql.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next();
    first.is_some_and(|first| words.iter().any(|word| word.eq_ignore_ascii_case(first)))
}

/// Key with which another connection makes the server stop a session's running statement.
#[derive(Clone, Debug)]
pub(crate) enum CancelKey {
    /// Connection ID for a KILL statement (MySQL family).
    KillQuery(u64),
    /// Process ID and secret key for a cancel request on a new connection (PostgreSQL).
    Secret(i32, i32),
}
