//! Errors of a database, classified. Not here: reactions to them (engine).

use std::fmt;

use serde::{Deserialize, Serialize};

/// Class of a database error. dbdyno acts by the class, for example retries; users see the rest of
/// the error as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DbErrorKind {
    /// The transaction was chosen as victim of a deadlock and is rolled back.
    Deadlock,
    /// A wait for a lock exceeded the limit of the database.
    LockTimeout,
    /// A concurrent change prevents this transaction from committing at its isolation level.
    Serialization,
    /// Another connection has locked the database file (SQLite).
    Busy,
    /// A row with the same unique key exists already.
    Duplicate,
    /// The change violates a constraint other than a unique key.
    Constraint,
    /// The connection broke outside of a commit, or could not be established.
    ConnectionLost,
    /// The server accepts no further connection, in total or for this user.
    TooManyConnections,
    /// The connection broke during a commit, or the reply could not be read, so that it is unknown
    /// whether the transaction was committed.
    UnknownCommit,
    /// User or password is wrong, or a privilege is missing.
    Denied,
    /// A database, table or column does not exist.
    Missing,
    /// The database, table, index or routine to be created exists already.
    Exists,
    /// The database or this session is read-only.
    ReadOnly,
    /// No space is left on the disk of the database.
    DiskFull,
    /// The database file is damaged, or is not a database.
    Corrupt,
    /// The statement exceeded a time limit.
    Timeout,
    /// dbdyno cancelled the statement.
    Cancelled,
    /// The reply does not have the rows, columns or types that the caller expects.
    Shape,
    /// The driver does not support the request.
    Unsupported,
    /// An error that belongs to none of the other kinds.
    Other,
}

impl DbErrorKind {
    /// Every kind of error, in the order in which reports list them.
    pub const ALL: [DbErrorKind; 20] = [
        DbErrorKind::Deadlock,
        DbErrorKind::LockTimeout,
        DbErrorKind::Serialization,
        DbErrorKind::Busy,
        DbErrorKind::Duplicate,
        DbErrorKind::Constraint,
        DbErrorKind::ConnectionLost,
        DbErrorKind::TooManyConnections,
        DbErrorKind::UnknownCommit,
        DbErrorKind::Denied,
        DbErrorKind::Missing,
        DbErrorKind::Exists,
        DbErrorKind::ReadOnly,
        DbErrorKind::DiskFull,
        DbErrorKind::Corrupt,
        DbErrorKind::Timeout,
        DbErrorKind::Cancelled,
        DbErrorKind::Shape,
        DbErrorKind::Unsupported,
        DbErrorKind::Other,
    ];

    /// Whether the error is a conflict with concurrent transactions, so that a retry may succeed.
    pub fn is_conflict(self) -> bool {
        use DbErrorKind::{Busy, Deadlock, LockTimeout, Serialization};
        matches!(self, Deadlock | LockTimeout | Serialization | Busy)
    }

    /// Whether the session is unusable after this error until it reconnects.
    pub fn breaks_session(self) -> bool {
        use DbErrorKind::{ConnectionLost, TooManyConnections, UnknownCommit};
        matches!(self, ConnectionLost | TooManyConnections | UnknownCommit)
    }

    /// Returns the name of the kind in reports, in JSON and in the store, such as `deadlock`.
    pub fn name(self) -> &'static str {
        match self {
            DbErrorKind::Deadlock => "deadlock",
            DbErrorKind::LockTimeout => "lock_timeout",
            DbErrorKind::Serialization => "serialization",
            DbErrorKind::Busy => "busy",
            DbErrorKind::Duplicate => "duplicate",
            DbErrorKind::Constraint => "constraint",
            DbErrorKind::ConnectionLost => "connection_lost",
            DbErrorKind::TooManyConnections => "too_many_connections",
            DbErrorKind::UnknownCommit => "unknown_commit",
            DbErrorKind::Denied => "denied",
            DbErrorKind::Missing => "missing",
            DbErrorKind::Exists => "exists",
            DbErrorKind::ReadOnly => "read_only",
            DbErrorKind::DiskFull => "disk_full",
            DbErrorKind::Corrupt => "corrupt",
            DbErrorKind::Timeout => "timeout",
            DbErrorKind::Cancelled => "cancelled",
            DbErrorKind::Shape => "shape",
            DbErrorKind::Unsupported => "unsupported",
            DbErrorKind::Other => "other",
        }
    }

    /// Returns the kind with this name, as in stored errors and in the failures that the simulated
    /// database `sim` injects; `None` if no kind has this name.
    pub fn by_name(name: &str) -> Option<DbErrorKind> {
        DbErrorKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// SQLSTATE of ODBC for "Connection timeout expired", which dbdyno uses for servers that do not
/// answer.
const CONNECTION_TIMEOUT: &str = "HYT01";

/// An error of a database: dbdyno acts by its `kind`, for example retries; users see its `message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DbError {
    /// Class of the error, by which dbdyno acts, for example retries.
    pub kind: DbErrorKind,
    /// Error number of the database product; 0 if it has none.
    pub code: i64,
    /// SQLSTATE of five characters; empty if the product does not report one.
    pub sqlstate: String,
    /// Message for users, mostly that of the database product, perhaps with hints that dbdyno
    /// added.
    pub message: String,
}

impl DbError {
    /// Creates an error that dbdyno itself raises, without error number and SQLSTATE.
    pub fn new(kind: DbErrorKind, message: impl Into<String>) -> DbError {
        DbError { kind, code: 0, sqlstate: String::new(), message: message.into() }
    }

    /// Creates the error of a transaction that was cancelled because it exceeded its time limit.
    /// `what` names the transaction, `limit` the limit in words.
    pub fn timed_out(what: &str, limit: &str) -> DbError {
        DbError::new(DbErrorKind::Timeout, format!("{what} timed out after {limit}"))
    }

    /// Creates the error for a connection attempt or a request that the server did not answer in
    /// time. Its kind is [`DbErrorKind::ConnectionLost`], its SQLSTATE `HYT01`, which ODBC uses for
    /// timeouts.
    pub fn silence(message: impl Into<String>) -> DbError {
        let sqlstate = CONNECTION_TIMEOUT.to_owned();
        DbError { sqlstate, ..DbError::new(DbErrorKind::ConnectionLost, message) }
    }

    /// Whether the error was made by [`DbError::silence`]: the server did not answer in time, so
    /// another attempt would probably wait as long.
    pub fn is_silence(&self) -> bool {
        self.sqlstate == CONNECTION_TIMEOUT
    }

    /// Marks an error that occurred when the result of a committed transaction was read. Its kind
    /// becomes [`DbErrorKind::UnknownCommit`], so that the transaction is not taken for rolled
    /// back.
    pub fn of_committed(mut self) -> DbError {
        self.kind = DbErrorKind::UnknownCommit;
        self.during("the result cannot be read, but the transaction is committed")
    }

    /// Returns the error with a prefix to its message: the activity that failed, and a colon, as in
    /// `loading the table: disk full`.
    pub fn during(mut self, what: impl fmt::Display) -> DbError {
        self.message = format!("{what}: {}", self.message);
        self
    }
}

impl fmt::Display for DbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.code != 0 {
            write!(f, " (error {})", self.code)?;
        }
        Ok(())
    }
}

impl std::error::Error for DbError {}
