//! What all databases behind a wire have in common: streams, buffers, and the session that joins
//! a protocol to a stream. Not here: any protocol (mysql, postgres), any clock.
//!
//! A protocol is sans-IO: request in, bytes out, bytes in, reply out. The session writes what
//! the protocol put out, reads what it needs, and on a thread of its own that is exactly one
//! write and one read a round trip.

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

/// A server as its driver knows it: what all sessions of a target are made from.
pub(crate) trait Server: Send + Sync + Sized + 'static {
    /// How one signs in.
    type SignIn: SignIn + 'static;

    /// What is known of its product.
    const PRODUCT: &'static Product;

    /// What is in force there.
    fn facts(self: &Arc<Self>) -> Result<Vec<Fact>, DbError>;

    /// Learns from the first session what the others are to begin with; whether a pooler hands out
    /// the server's connections, so that one session of ours has several of them.
    fn learn(self: &Arc<Self>, session: &mut NetSession<Self>) -> bool;

    /// Looks, from a session that is not measured, at what the others must set for themselves, and
    /// sets it for this one.
    fn look_around(self: &Arc<Self>, _session: &mut NetSession<Self>) {}

    /// Where it is, and how one gets there.
    fn connector(&self) -> &Connector;

    /// A sign-in about to begin; the protocol it ends in knows `statements`.
    fn sign_in(self: &Arc<Self>, statements: Arc<[Statement]>) -> Self::SignIn;

    /// The password, which a server may repeat in its words.
    fn secret(&self) -> Option<&Secret>;

    /// The longest message that is accepted from the server, in bytes.
    fn message_bytes_max(&self) -> usize;

    /// Ends on the server what cancelled sessions have under way. Called on a thread of its own
    /// that may block, and again for those that go on. Nobody is there to hear of trouble.
    fn end(self: &Arc<Self>, place: usize, keys: &[CancelKey]);
}

/// No more than this is put out before it is sent: loads and long flights go piece by piece.
pub(crate) const FLIGHT_BYTES: usize = 64 << 10;

/// What a protocol needs before it can go on. What it put out is always sent first.
pub(crate) enum Step<T> {
    /// More bytes from the other side.
    More,
    /// TLS on this connection, now. Only while signing in.
    StartTls,
    /// Room in what is put out: call again once it is sent (loads and long flights). It is also
    /// called while that is on its way if bytes have come, and then puts out no more than
    /// [`FLIGHT_BYTES`] in all.
    Send,
    /// Nothing: it is done.
    Done(T),
}

/// A sign-in under way; it ends in a protocol.
pub(crate) trait SignIn {
    /// What speaks once signed in.
    type Protocol: Protocol + 'static;

    /// Goes on with what has come. A database error ends the connection.
    fn advance(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        channel: &Channel,
    ) -> Result<Step<Self::Protocol>, DbError>;
}

/// One side of a signed-in connection.
pub(crate) trait Protocol {
    /// Puts a request out. One is under way at a time. A database error puts out nothing.
    fn start(&mut self, request: Request<'_>, out: &mut Vec<u8>) -> Result<(), DbError>;

    /// Goes on with what has come. `Ok(Done(Err(_)))` is a database error after which the
    /// connection is in order; `Err(_)` breaks it, and its kind is replaced where a commit is under
    /// way. Also called before anything has come, and while a long flight is still being sent.
    fn advance(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        visit: Visit<'_>,
    ) -> Result<Step<Result<Reply, DbError>>, DbError>;

    /// Puts out the beginning of a bulk load; then [`Protocol::advance_load`] until it is done.
    fn start_load(&mut self, table: &Table, out: &mut Vec<u8>) -> Result<(), DbError>;

    /// Goes on with a load: pulls at most a chunk (64 KiB) of rows from `source` into `out`.
    fn advance_load(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        source: &mut dyn RowSource,
    ) -> Result<Step<Result<Reply, DbError>>, DbError>;

    /// Knows one more statement; it is prepared on the server when it is first asked.
    fn prepare(&mut self, statement: Statement) -> Result<StatementId, DbError>;

    /// The statements of a request as it would put them out now.
    fn sent(&mut self, request: Request<'_>) -> Vec<SentStatement>;

    /// Statements counted so far; bytes and round trips are the session's.
    fn traffic(&self) -> Traffic;

    /// Whether a commit is under way: a connection lost now leaves its outcome unknown.
    fn is_committing(&self) -> bool;

    /// How many commands of the request under way have no answer yet, about: more than one where
    /// they were sent at once.
    fn n_unanswered(&self) -> usize;

    /// What another connection must send to end what this one is doing. Fixed for its life.
    fn cancel_key(&self) -> CancelKey;

    /// Puts out a good-bye, so that the server logs no lost connection.
    fn say_goodbye(&mut self, out: &mut Vec<u8>);
}

/// Whether a text that is sent outside of a transaction may change what others see. By its first
/// word, which is enough to tell a question from a change; not so for functions that write.
pub(crate) fn may_commit(kind: StatementKind, sql: &str) -> bool {
    const ASK: [&str; 8] =
        ["select", "show", "set", "explain", "begin", "start", "rollback", "use"];
    kind != StatementKind::Read && !begins_with(sql, &ASK)
}

/// Whether a statement that is refused may have committed something before: a procedure may, and
/// so may one of several statements.
pub(crate) fn may_commit_within(sql: &str) -> bool {
    begins_with(sql, &["call", "do"]) || sql.contains(';')
}

fn begins_with(sql: &str, words: &[&str]) -> bool {
    let first = sql.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next();
    first.is_some_and(|first| words.iter().any(|word| word.eq_ignore_ascii_case(first)))
}

/// How a statement under way is ended from outside.
#[derive(Clone, Debug)]
pub(crate) enum CancelKey {
    /// `KILL QUERY id` on another connection (MySQL family).
    KillQuery(u64),
    /// A cancel request on a new connection (PostgreSQL): process and secret.
    Secret(i32, i32),
}
