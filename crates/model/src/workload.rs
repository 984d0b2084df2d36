//! The interface of a workload to the engine, the builder and the checker. Not here: any workload.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;

use crate::{
    Clock, ComputedFigure, CustomMetric, DbError, Dialect, Identity, Input, Kind, KindIndex,
    KindTotals, Number, Places, PrimaryMetric, Producer, RowSource, Session, Sessions, Standard,
    Statement, Stored, Table, fnv1a,
};

/// First words of the note that lists the skipped checks of a workload, with the reason.
pub const NOT_CHECKED: &str = "Not checked";

/// First words of the note that says which transactions are rolled back by design, and why.
pub const ROLLED_BACK: &str = "Rolled back by design: ";

/// First words of the note that the storage engine of the data has no transactions.
pub const NO_TRANSACTIONS: &str = "This engine has no transactions";

/// First words of the note that the data are smaller than specified.
pub const SMALLER_DATA: &str = "Smaller data";

/// A consistency condition on the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Identifier, such as `3.3.2.1`, usually the clause of the standard.
    pub id: &'static str,
    /// The condition in words, with the table's name if there are several.
    pub title: Cow<'static, str>,
    /// Query that returns the rows that violate the condition, with column names for the message.
    pub sql: String,
}

/// A count in the database that grows with each commit of a transaction type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crosscheck {
    /// Query for the count.
    pub sql: String,
    /// Transaction type that is counted.
    pub kind: KindIndex,
    /// Growth per commit; at least 1.
    pub per_commit: u64,
}

/// An index that is added after the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaterIndex {
    /// Statement that creates it.
    pub create: String,
    /// Statement that drops it.
    pub drop: String,
}

/// A stored procedure or function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routine {
    /// Name in the database.
    pub name: &'static str,
    /// Text that [`list_routines`](crate::Administration::list_routines) returns if the database
    /// has exactly this routine.
    pub mark: String,
    /// Statement that creates the routine, atomically. It replaces an existing one, or fails with
    /// [`Exists`](crate::DbErrorKind::Exists).
    pub create: String,
    /// Statement that drops it if it exists.
    pub drop: String,
}

impl Routine {
    /// Returns the mark for a routine with this definition: a hash of the text.
    pub fn mark_of(words: &str) -> String {
        format!("dbdyno {:016x}", fnv1a(words.as_bytes()))
    }
}

/// The outcome of a transaction that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Committed: its effects are permanent.
    Committed,
    /// Rolled back by design of the workload.
    RolledBack,
}

/// Resources for a transaction. It must not spawn, join, select or keep time in any other way.
pub struct TxContext<'a> {
    /// Sessions of the client that executes the transaction.
    pub sessions: &'a mut Sessions,
    /// Clock of the run, for all waits.
    pub clock: &'a dyn Clock,
    /// Intended start by that clock; in open load the arrival, however long it waited in the queue.
    pub intended_ns: u64,
    /// Values of custom metrics, as pairs of index and value. Kept only if the transaction
    /// finishes.
    pub measured: &'a mut Vec<(u16, u64)>,
}

impl TxContext<'_> {
    /// Returns the client's own session.
    #[inline]
    pub fn session(&mut self) -> &mut dyn Session {
        self.sessions.own()
    }
}

/// A running transaction, polled until its outcome is known.
pub type Conversation<'a> = Pin<Box<dyn Future<Output = Result<Done, DbError>> + 'a>>;

/// A client's running preparation before its first transaction.
pub type Beginning<'a> = Pin<Box<dyn Future<Output = Result<(), DbError>> + 'a>>;

/// A simulated user, which executes transactions of one workload.
pub trait Client {
    /// Prepares the client's connection: before the load, and after each reconnect. Its traffic is
    /// not counted. `None` if nothing is to be prepared.
    ///
    /// If it fails before the load, the client counts as not connected; later the connection counts
    /// as broken, and is made again.
    fn begin<'a>(&'a mut self, _context: &'a mut TxContext<'_>) -> Option<Beginning<'a>> {
        None
    }

    /// Chooses kind and inputs of transaction `number`, as a function of seed and number, and keeps
    /// them for [`Client::converse`].
    fn inputs(&mut self, number: Number) -> KindIndex;

    /// Takes the next input from the workload's [producer](Workload::producer), unless one is left
    /// from before. Called before each transaction; never waits.
    fn take_input(&mut self) -> Input {
        Input::Ready
    }

    /// Executes the transaction with the inputs chosen last. Called again for each retry.
    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a>;
}

/// The data of a workload, in tables and chunks. A chunk is built and marked as done in one
/// transaction, so that an interrupted build can continue.
pub trait Population: Send + Sync {
    /// Returns the tables in the order in which they are built.
    fn tables(&self) -> &[Table];

    /// Returns the number of chunks of the table with index `table`.
    fn n_chunks(&self, table: usize) -> u64;

    /// Returns the number of rows when built: exact, or an estimate if the number is random.
    fn n_rows(&self, table: usize) -> u64;

    /// Returns the partitioning column of `table` and the number of partitions; `None` if
    /// unpartitioned.
    fn partitions(&self, _table: usize) -> Option<(&'static str, u64)> {
        None
    }

    /// Returns the name of the tables' storage engine in [`Dialect::storage_engines`]; `None` for
    /// the default.
    fn storage_engine(&self) -> Option<&'static str> {
        None
    }

    /// Returns the rows of a chunk, as a function of the seed.
    fn rows(&self, table: usize, chunk: u64) -> Box<dyn RowSource + Send>;
}

/// Relation of a data-shaping parameter to a property of existing data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleInData {
    /// Name of the parameter.
    pub parameter: &'static str,
    /// Property of the data that equals its value.
    pub of: ScaleOf,
}

/// A property of existing data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleOf {
    /// Number of rows in a table.
    Rows(&'static str),
    /// Number of tables whose names are this prefix with 1, 2 and so on.
    Tables(&'static str),
    /// Largest number in a column, as pair of table prefix and column; the minimum over the tables.
    /// Unlike a count, it does not shrink by deleted rows.
    LastNumber(&'static str, &'static str),
    /// Storage engine of a table.
    StorageEngine(&'static str),
}

/// Conditions that may fail without transactions, even if nothing goes wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NeedsTransactions {
    /// Identifiers of such checks.
    pub checks: &'static [&'static str],
    /// The crosscheck is one of them.
    pub crosscheck: bool,
}

/// A workload with its parameters decided. Shared by all workers.
pub trait Workload: Send + Sync {
    /// Returns the identity of the data that it needs, or would build.
    fn identity(&self) -> Identity;

    /// Returns its transaction types.
    fn kinds(&self) -> &[Kind];

    /// Returns its custom metrics.
    fn custom_metrics(&self) -> &[CustomMetric] {
        &[]
    }

    /// Returns its primary metrics, the most important first.
    fn primary_metrics(&self) -> Vec<PrimaryMetric> {
        Vec::new()
    }

    /// Computes its [computed](crate::PrimaryOf::Computed) primary metrics, from the totals by kind
    /// of a group's clients in the measured phase.
    fn computed(&self, _kinds: &[KindTotals]) -> Vec<ComputedFigure> {
        Vec::new()
    }

    /// Returns deviations from the standard, and other notes for readers of results.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the requirements of its standard on a run; `None` without a standard.
    fn standard(&self) -> Option<Standard> {
        None
    }

    /// Returns the share of a kind, from 0 to 1, that is rolled back by design, and so is in no
    /// rate.
    fn rolled_back_share(&self, _kind: KindIndex) -> f64 {
        0.0
    }

    /// Returns the standard's limit on the rate, in words, for key/think load; `None` if there is
    /// none.
    fn rate_cap(&self) -> Option<&'static str> {
        None
    }

    /// Returns its statements in this dialect, indexed by [`crate::StatementId`].
    fn statements(&self, dialect: &Dialect) -> Vec<Statement>;

    /// Returns the routines that its statements call. They are created before a run, and dropped
    /// with the data.
    fn routines(&self, _dialect: &Dialect) -> Vec<Routine> {
        Vec::new()
    }

    /// Returns all routines that it may have created, with any parameters, so that they can be
    /// dropped with the data.
    fn routines_ever(&self, dialect: &Dialect) -> Vec<Routine> {
        self.routines(dialect)
    }

    /// Returns the reason why this dialect is not supported with these parameters, and the remedy;
    /// `None` if it is. Called before anything is built or run.
    fn refuses(&self, _dialect: &Dialect) -> Option<String> {
        None
    }

    /// Returns the volume that each transaction stores, if all store the same: the rate may then be
    /// given in records or bytes.
    fn transaction_stores(&self) -> Option<Stored> {
        None
    }

    /// Returns the reason why this number of clients is not supported, and the remedy; `None` if it
    /// is.
    fn refuses_clients(&self, _clients: u32) -> Option<String> {
        None
    }

    /// Returns the memory that it may allocate during a run, in bytes.
    fn memory_bytes(&self) -> u64 {
        0
    }

    /// Returns the reason why its clients cannot be divided among several processes, and the
    /// remedy; `None` if they can.
    fn refuses_processes(&self) -> Option<String> {
        None
    }

    /// Returns the placements that its clients support.
    fn places(&self) -> Places;

    /// Returns the kind of transaction `number`: the same as [`Client::inputs`].
    fn kind_of(&self, number: Number) -> KindIndex;

    /// Makes a client. `client` is its index, global over all agents and groups.
    fn client(&self, client: u32) -> Box<dyn Client>;

    /// Makes a client that is the `nth` of its group, from 0, for workloads that report this
    /// number.
    fn client_of_group(&self, client: u32, _nth: u32) -> Box<dyn Client> {
        self.client(client)
    }

    /// Returns its data; `None` if it needs none.
    fn population(&self) -> Option<&dyn Population> {
        None
    }

    /// Returns the producer of its clients' input; `None` if it has none.
    fn producer(&self) -> Option<&dyn Producer> {
        None
    }

    /// Whether no transaction depends on replies, so that it can run without its data, on a
    /// database that keeps none.
    fn is_blind(&self) -> bool {
        false
    }

    /// Whether two runs must not write to its tables at once, because they would assign the same
    /// numbers, or count each other's rows.
    fn needs_tables_alone(&self) -> bool {
        false
    }

    /// Returns how to see data-shaping parameters in data that other programs built.
    fn scale_in_data(&self) -> &'static [ScaleInData] {
        &[]
    }

    /// Returns the consistency conditions on its data, in this dialect.
    fn checks(&self, _dialect: &Dialect) -> Vec<Check> {
        Vec::new()
    }

    /// Returns a count in the database that grows with each commit of a kind. Its growth over a run
    /// must equal dbdyno's own count.
    fn crosscheck(&self, _dialect: &Dialect) -> Option<Crosscheck> {
        None
    }

    /// Returns the checks that are skipped with a storage engine without transactions.
    fn needs_transactions(&self) -> NeedsTransactions {
        NeedsTransactions::default()
    }

    /// Returns the indexes to add after the load and drop again. The time that this takes is part
    /// of the result.
    fn indexes_after_load(&self, _dialect: &Dialect) -> Vec<LaterIndex> {
        Vec::new()
    }
}
