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

/// A database server as seen by one driver: the product, the address and the sign-in. All sessions
/// of a target share it.
pub(crate) trait Server: Send + Sync + Sized + 'static {
    /// Sign-in of the product's protocol, with TLS and authentication.
    type SignIn: SignIn + 'static;

    const PRODUCT: &'static Product;

    /// Reads facts about the server that a run records: product, version, settings in force and the
    /// connection.
    fn facts(self: &Arc<Self>) -> Result<Vec<Fact>, DbError>;

    /// Called once, with the target's first session. Looks up what later sessions need to know,
    /// such as settings. Returns whether a connection pooler is in between, so that one session may
    /// use several connections of the server.
    fn learn(self: &Arc<Self>, session: &mut NetSession<Self>) -> bool;

    /// Called with a session that is not measured, such as the first one. Looks up which settings
    /// all later sessions must change, and changes them in this one. Does nothing by default.
    fn look_around(self: &Arc<Self>, _session: &mut NetSession<Self>) {}

    fn connector(&self) -> &Connector;

    /// Starts a sign-in. The connection that results from it can execute `statements`.
    fn sign_in(self: &Arc<Self>, statements: Arc<[Statement]>) -> Self::SignIn;

    /// Returns the password, so that it can be removed from error messages.
    fn secret(&self) -> Option<&Secret>;

    /// Longest message, in bytes, that the client accepts from the server.
    fn message_bytes_max(&self) -> usize;

    /// Asks the server of the host with the index `place` to stop the work of the sessions with
    /// these `keys`. It is called on a thread that may block, repeatedly until the sessions notice,
    /// and ignores errors.
    fn end(self: &Arc<Self>, place: usize, keys: &[CancelKey]);
}

/// Number of bytes of output at which a bulk load or a long batch is sent before more is written.
pub(crate) const FLIGHT_BYTES: usize = 64 << 10;

/// The condition on which an operation of a protocol can continue. The caller first sends the
/// output.
pub(crate) enum Step<T> {
    /// More bytes must be received from the server.
    More,
    /// TLS must begin on this connection; only during sign-in.
    StartTls,
    /// The output must be sent before more is written (bulk loads and long batches). The protocol
    /// may be called before all of it is sent, if bytes were received. It must then keep the output
    /// below [`FLIGHT_BYTES`].
    Send,
    /// The operation is complete, with this result.
    Done(T),
}

/// A sign-in in progress, which results in the protocol of a signed-in connection.
pub(crate) trait SignIn {
    type Protocol: Protocol + 'static;

    /// Continues the sign-in: parses the bytes in `input` and appends its answer to `out`.
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
/// to replies. It does no I/O itself.
pub(crate) trait Protocol {
    /// Appends the bytes of a request to `out`. The previous request must be complete. After an
    /// error the caller must send nothing of it.
    fn start(&mut self, request: Request<'_>, out: &mut Vec<u8>) -> Result<(), DbError>;

    /// Continues a request: parses the bytes in `input` and passes rows to `visit`.
    /// `Ok(Done(Err(_)))` is a database error after which the connection is intact. `Err(_)` breaks
    /// the connection; during a commit its kind becomes `UnknownCommit`. It is also called before
    /// anything was received, and while a long batch is being sent.
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

    /// Returns the statements of a request as they would be sent now, to be shown to the user.
    fn sent(&mut self, request: Request<'_>) -> Vec<SentStatement>;

    /// Returns how many statements of each kind the connection has sent. Bytes and round trips are
    /// counted elsewhere.
    fn traffic(&self) -> Traffic;

    /// Whether a commit is not answered yet, so that its outcome is unknown if the connection is
    /// lost now.
    fn is_committing(&self) -> bool;

    /// Returns about how many commands of the current request are not answered yet. More than one
    /// means that commands were sent together.
    fn n_unanswered(&self) -> usize;

    /// Returns the key by which another connection can cancel this one. It never changes.
    fn cancel_key(&self) -> CancelKey;

    /// Appends the message that ends the session to `out`, so that the server logs no lost
    /// connection.
    fn say_goodbye(&mut self, out: &mut Vec<u8>);
}

/// Whether an SQL text that is sent outside of a transaction may change data, and so commit. It is
/// judged by its kind and its first word; a SELECT of a function that writes is not recognized.
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

/// Key with which another connection makes the server stop the running statement of a session.
#[derive(Clone, Debug)]
pub(crate) enum CancelKey {
    /// Connection ID for a KILL statement (MySQL family).
    KillQuery(u64),
    /// Process ID and secret key for a cancel request on a new connection (PostgreSQL).
    Secret(i32, i32),
}
