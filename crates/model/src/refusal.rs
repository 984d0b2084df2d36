//! How a database says no. Not here: what becomes of it (the engine decides).

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a refusal means to the one who must go on. Everything else about it is words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
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

impl RefusalKind {
    /// Every kind, in the order in which they are shown.
    pub const ALL: [RefusalKind; 20] = [
        RefusalKind::Deadlock,
        RefusalKind::LockTimeout,
        RefusalKind::Serialization,
        RefusalKind::Busy,
        RefusalKind::Duplicate,
        RefusalKind::Constraint,
        RefusalKind::ConnectionLost,
        RefusalKind::TooManyConnections,
        RefusalKind::UnknownCommit,
        RefusalKind::Denied,
        RefusalKind::Missing,
        RefusalKind::Exists,
        RefusalKind::ReadOnly,
        RefusalKind::DiskFull,
        RefusalKind::Corrupt,
        RefusalKind::Timeout,
        RefusalKind::Cancelled,
        RefusalKind::Shape,
        RefusalKind::Unsupported,
        RefusalKind::Other,
    ];

    /// A conflict with other transactions: the same work may succeed when tried again.
    pub fn is_conflict(self) -> bool {
        use RefusalKind::{Busy, Deadlock, LockTimeout, Serialization};
        matches!(self, Deadlock | LockTimeout | Serialization | Busy)
    }

    /// The session, if there is one, is of no more use until it is reconnected.
    pub fn breaks_session(self) -> bool {
        use RefusalKind::{ConnectionLost, TooManyConnections, UnknownCommit};
        matches!(self, ConnectionLost | TooManyConnections | UnknownCommit)
    }

    /// The name in reports, in JSON and in the store.
    pub fn name(self) -> &'static str {
        match self {
            RefusalKind::Deadlock => "deadlock",
            RefusalKind::LockTimeout => "lock_timeout",
            RefusalKind::Serialization => "serialization",
            RefusalKind::Busy => "busy",
            RefusalKind::Duplicate => "duplicate",
            RefusalKind::Constraint => "constraint",
            RefusalKind::ConnectionLost => "connection_lost",
            RefusalKind::TooManyConnections => "too_many_connections",
            RefusalKind::UnknownCommit => "unknown_commit",
            RefusalKind::Denied => "denied",
            RefusalKind::Missing => "missing",
            RefusalKind::Exists => "exists",
            RefusalKind::ReadOnly => "read_only",
            RefusalKind::DiskFull => "disk_full",
            RefusalKind::Corrupt => "corrupt",
            RefusalKind::Timeout => "timeout",
            RefusalKind::Cancelled => "cancelled",
            RefusalKind::Shape => "shape",
            RefusalKind::Unsupported => "unsupported",
            RefusalKind::Other => "other",
        }
    }

    /// The kind with this name, as failures on request and stored errors spell it.
    pub fn by_name(name: &str) -> Option<RefusalKind> {
        RefusalKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A database's no: branch on `kind`, show `message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What it means.
    pub kind: RefusalKind,
    /// The product's own error number, 0 where it has none.
    pub code: i64,
    /// The standard's five letters, empty where the product has none.
    pub sqlstate: String,
    /// The product's own words, with what we can add to them.
    pub message: String,
}

impl Refusal {
    /// A refusal of ours, without a number of the product's.
    pub fn new(kind: RefusalKind, message: impl Into<String>) -> Refusal {
        Refusal { kind, code: 0, sqlstate: String::new(), message: message.into() }
    }

    /// What the one who reads the rows refused, of work that was committed all the same: whoever
    /// hears of it must not take the work for undone.
    pub fn of_committed(mut self) -> Refusal {
        self.kind = RefusalKind::UnknownCommit;
        self.during("the result cannot be read, but the transaction is committed")
    }

    /// The same refusal with words in front that say what was being done.
    pub fn during(mut self, what: impl fmt::Display) -> Refusal {
        self.message = format!("{what}: {}", self.message);
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.code != 0 {
            write!(f, " (error {})", self.code)?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}
