//! How a database says no. Not here: what becomes of it (the engine decides).

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a database error means to the one who must go on. Everything else about it is words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DbErrorKind {
    /// Chosen as the victim of a deadlock; the transaction is rolled back.
    Deadlock,
    /// Waited longer for a lock than the database allows.
    LockTimeout,
    /// A concurrent change makes this transaction impossible at its isolation level.
    Serialization,
    /// The database file is locked by another writer (SQLite).
    Busy,
    /// A key exists already.
    Duplicate,
    /// A constraint other than a key forbids the change.
    Constraint,
    /// The connection broke outside of a commit, or could not be made.
    ConnectionLost,
    /// The server has no room for another connection, of anybody or of this user.
    TooManyConnections,
    /// The connection broke while a commit was under way, or its answer cannot be read: the one
    /// who asked does not know its outcome.
    UnknownCommit,
    /// User, password or privilege are not accepted.
    Denied,
    /// The database, a table or a column is not there.
    Missing,
    /// What is to be made is there already: a database, a table, an index, a routine.
    Exists,
    /// The database or this session may only be read.
    ReadOnly,
    /// No space is left where the database lives.
    DiskFull,
    /// The file is not a database, or it is damaged.
    Corrupt,
    /// The statement took longer than its limit.
    Timeout,
    /// We cancelled the statement ourselves.
    Cancelled,
    /// The answer has another shape than the workload expects.
    Shape,
    /// The driver cannot do what is asked of it.
    Unsupported,
    /// Anything else.
    Other,
}

impl DbErrorKind {
    /// Every kind, in the order in which they are shown.
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

    /// A conflict with other transactions: the same work may succeed when tried again.
    pub fn is_conflict(self) -> bool {
        use DbErrorKind::{Busy, Deadlock, LockTimeout, Serialization};
        matches!(self, Deadlock | LockTimeout | Serialization | Busy)
    }

    /// The session, if there is one, is of no more use until it is reconnected.
    pub fn breaks_session(self) -> bool {
        use DbErrorKind::{ConnectionLost, TooManyConnections, UnknownCommit};
        matches!(self, ConnectionLost | TooManyConnections | UnknownCommit)
    }

    /// The name in reports, in JSON and in the store.
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

    /// The kind with this name, as failures on request and stored errors spell it.
    pub fn by_name(name: &str) -> Option<DbErrorKind> {
        DbErrorKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Connection timeout expired (ODBC, appendix A).
const CONNECTION_TIMEOUT: &str = "HYT01";

/// A database's no: branch on `kind`, show `message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DbError {
    /// What it means.
    pub kind: DbErrorKind,
    /// The product's own error number, 0 where it has none.
    pub code: i64,
    /// The standard's five letters, empty where the product has none.
    pub sqlstate: String,
    /// The product's own words, with what we can add to them.
    pub message: String,
}

impl DbError {
    /// A database error of ours, without a number of the product's.
    pub fn new(kind: DbErrorKind, message: impl Into<String>) -> DbError {
        DbError { kind, code: 0, sqlstate: String::new(), message: message.into() }
    }

    /// A connection that is not made, or not answered, in time. Its SQLSTATE is that of ODBC.
    pub fn silence(message: impl Into<String>) -> DbError {
        let sqlstate = CONNECTION_TIMEOUT.to_owned();
        DbError { sqlstate, ..DbError::new(DbErrorKind::ConnectionLost, message) }
    }

    /// Whether the other side said nothing in time: whoever asks again waits as long.
    pub fn is_silence(&self) -> bool {
        self.sqlstate == CONNECTION_TIMEOUT
    }

    /// What the one who reads the rows refused, of work that was committed all the same: whoever
    /// hears of it must not take the work for undone.
    pub fn of_committed(mut self) -> DbError {
        self.kind = DbErrorKind::UnknownCommit;
        self.during("the result cannot be read, but the transaction is committed")
    }

    /// The same database error with words in front that say what was being done.
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
