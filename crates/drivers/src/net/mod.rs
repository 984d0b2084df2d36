//! Common parts of databases behind a network protocol: streams, buffers, and the session that
//! connects a protocol to a stream. Not here: any protocol (mysql, postgres), any clock.
//!
//! A protocol is sans-IO: request in, bytes out, bytes in, reply out. The session writes the
//! protocol's output and reads what it needs; on a separate thread that is exactly one write and
//! one read per round trip.

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

/// A server: the source of all sessions of a target.
pub(crate) trait Server: Send + Sync + Sized + 'static {
    /// The sign-in procedure of its protocol.
    type SignIn: SignIn + 'static;

    const PRODUCT: &'static Product;

    /// Reads the facts about settings in force.
    fn facts(self: &Arc<Self>) -> Result<Vec<Fact>, DbError>;

    /// Learns parameters for later sessions from the first one; returns whether a pooler shares the
    /// server's connections, so that one session may use several.
    fn learn(self: &Arc<Self>, session: &mut NetSession<Self>) -> bool;

    /// Checks in an unmeasured session what later sessions must set, and sets it for this one.
    fn look_around(self: &Arc<Self>, _session: &mut NetSession<Self>) {}

    fn connector(&self) -> &Connector;

    /// Starts a sign-in; the resulting protocol knows `statements`.
    fn sign_in(self: &Arc<Self>, statements: Arc<[Statement]>) -> Self::SignIn;

    /// Returns the password, which a server may repeat in its messages.
    fn secret(&self) -> Option<&Secret>;

    /// Limit on the server's messages, in bytes.
    fn message_bytes_max(&self) -> usize;

    /// Stops the work of cancelled sessions on the server. Called on a separate thread that may
    /// block, repeatedly for sessions that continue. Errors are ignored.
    fn end(self: &Arc<Self>, place: usize, keys: &[CancelKey]);
}

/// Limit on output before it is sent: loads and long flights go in pieces.
pub(crate) const FLIGHT_BYTES: usize = 64 << 10;

/// The need of a protocol before it can continue. Its output is always sent first.
pub(crate) enum Step<T> {
    /// More bytes from the other side.
    More,
    /// TLS on this connection; only during sign-in.
    StartTls,
    /// Output to be sent: the protocol is called again then (loads and long flights). It is also
    /// called while that is on its way if bytes have come, and then keeps the output below
    /// [`FLIGHT_BYTES`].
    Send,
    /// Nothing: the operation is complete.
    Done(T),
}

/// A running sign-in, which results in a protocol.
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
    /// Writes a request. Only one may be in flight. After an error nothing is written.
    fn start(&mut self, request: Request<'_>, out: &mut Vec<u8>) -> Result<(), DbError>;

    /// Continues with the received bytes. `Ok(Done(Err(_)))` is a database error after which the
    /// connection is intact; `Err(_)` breaks it, and its kind is replaced during a commit. Also
    /// called before anything was received, and while a long flight is being sent.
    fn advance(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        visit: Visit<'_>,
    ) -> Result<Step<Result<Reply, DbError>>, DbError>;

    /// Writes the start of a bulk load; then [`Protocol::advance_load`] is called until it is done.
    fn start_load(&mut self, table: &Table, out: &mut Vec<u8>) -> Result<(), DbError>;

    /// Continues a load: pulls at most a chunk (64 KiB) of rows from `source` into `out`.
    fn advance_load(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        source: &mut dyn RowSource,
    ) -> Result<Step<Result<Reply, DbError>>, DbError>;

    /// Adds a statement, which is prepared on the server at its first use.
    fn prepare(&mut self, statement: Statement) -> Result<StatementId, DbError>;

    /// Returns the statements of a request as they would be sent now.
    fn sent(&mut self, request: Request<'_>) -> Vec<SentStatement>;

    /// Returns counts of statements; bytes and round trips are counted by the session.
    fn traffic(&self) -> Traffic;

    /// Whether a commit is in flight: a connection lost now leaves its outcome unknown.
    fn is_committing(&self) -> bool;

    /// Returns the approximate number of unanswered commands of the current request: more than one
    /// if they were sent together.
    fn n_unanswered(&self) -> usize;

    /// Returns the key with which another connection can cancel this one. Fixed for its life.
    fn cancel_key(&self) -> CancelKey;

    /// Writes a goodbye, so that the server logs no lost connection.
    fn say_goodbye(&mut self, out: &mut Vec<u8>);
}

/// Whether a text sent outside of a transaction may change data, judged by its first word;
/// functions that write are not recognized.
pub(crate) fn may_commit(kind: StatementKind, sql: &str) -> bool {
    const ASK: [&str; 8] =
        ["select", "show", "set", "explain", "begin", "start", "rollback", "use"];
    kind != StatementKind::Read && !begins_with(sql, &ASK)
}

/// Whether a failed statement may have committed something before: a procedure may, and so may one
/// of several statements.
pub(crate) fn may_commit_within(sql: &str) -> bool {
    begins_with(sql, &["call", "do"]) || sql.contains(';')
}

fn begins_with(sql: &str, words: &[&str]) -> bool {
    let first = sql.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next();
    first.is_some_and(|first| words.iter().any(|word| word.eq_ignore_ascii_case(first)))
}

/// The means to stop a running statement from outside.
#[derive(Clone, Debug)]
pub(crate) enum CancelKey {
    /// `KILL QUERY id` on another connection (MySQL family).
    KillQuery(u64),
    /// A cancel request on a new connection (PostgreSQL): process and secret.
    Secret(i32, i32),
}
