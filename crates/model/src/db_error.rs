//! Errors of a database. Not here: reactions to them (engine).

use std::fmt;

use serde::{Deserialize, Serialize};

/// Meaning of a database error for control flow. All other details are text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DbErrorKind {
    /// Victim of a deadlock; the transaction is rolled back.
    Deadlock,
    /// Waited longer for a lock than the database allows.
    LockTimeout,
    /// A concurrent change makes this transaction impossible at its isolation level.
    Serialization,
    /// The database file is locked by another writer (SQLite).
    Busy,
    /// A key already exists.
    Duplicate,
    /// A constraint other than a key forbids the change.
    Constraint,
    /// The connection broke outside of a commit, or could not be made.
    ConnectionLost,
    /// The server has no room for another connection, in total or for this user.
    TooManyConnections,
    /// The connection broke during a commit, or the reply cannot be read: the outcome is unknown.
    UnknownCommit,
    /// User, password or privileges are not accepted.
    Denied,
    /// A database, table or column does not exist.
    Missing,
    /// The object to create already exists: a database, a table, an index, a routine.
    Exists,
    /// The database or this session is read-only.
    ReadOnly,
    /// No space is left on the disk of the database.
    DiskFull,
    /// The file is not a database, or is damaged.
    Corrupt,
    /// The statement exceeded its time limit.
    Timeout,
    /// dbdyno cancelled the statement.
    Cancelled,
    /// The reply has another shape than the workload expects.
    Shape,
    /// The driver does not support the request.
    Unsupported,
    /// An error of any other kind.
    Other,
}

impl DbErrorKind {
    /// Every kind, in display order.
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

    /// Whether this is a conflict with other transactions, so that a retry may succeed.
    pub fn is_conflict(self) -> bool {
        use DbErrorKind::{Busy, Deadlock, LockTimeout, Serialization};
        matches!(self, Deadlock | LockTimeout | Serialization | Busy)
    }

    /// Whether the session is unusable until it reconnects.
    pub fn breaks_session(self) -> bool {
        use DbErrorKind::{ConnectionLost, TooManyConnections, UnknownCommit};
        matches!(self, ConnectionLost | TooManyConnections | UnknownCommit)
    }

    /// Returns the name in reports, in JSON and in the store.
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

    /// Returns the kind with this name, as injected failures and stored errors spell it.
    pub fn by_name(name: &str) -> Option<DbErrorKind> {
        DbErrorKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// "Connection timeout expired" (ODBC, appendix A).
const CONNECTION_TIMEOUT: &str = "HYT01";

/// An error of a database: branch on `kind`, show `message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DbError {
    /// Meaning, for control flow.
    pub kind: DbErrorKind,
    /// The product's own error number; 0 if it has none.
    pub code: i64,
    /// Five characters of the SQL standard; empty if the product has none.
    pub sqlstate: String,
    /// The product's own message, with hints added by dbdyno.
    pub message: String,
}

impl DbError {
    /// Makes an error that dbdyno itself raises, without code and SQLSTATE.
    pub fn new(kind: DbErrorKind, message: impl Into<String>) -> DbError {
        DbError { kind, code: 0, sqlstate: String::new(), message: message.into() }
    }

    /// Makes the error of a connection that is not opened, or not answered, in time. Its SQLSTATE
    /// is that of ODBC.
    pub fn silence(message: impl Into<String>) -> DbError {
        let sqlstate = CONNECTION_TIMEOUT.to_owned();
        DbError { sqlstate, ..DbError::new(DbErrorKind::ConnectionLost, message) }
    }

    /// Whether the other side did not answer in time: another attempt would wait as long.
    pub fn is_silence(&self) -> bool {
        self.sqlstate == CONNECTION_TIMEOUT
    }

    /// Marks an error in reading the rows of a transaction that is committed, so that callers do
    /// not take it for rolled back.
    pub fn of_committed(mut self) -> DbError {
        self.kind = DbErrorKind::UnknownCommit;
        self.during("the result cannot be read, but the transaction is committed")
    }

    /// Prefixes the message with the activity that failed.
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
