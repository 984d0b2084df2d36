//! What a workload is to the engine, the builder and the checker. Not here: any workload.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;

use crate::{
    Clock, ComputedFigure, CustomMetric, DbError, Dialect, Identity, Input, Kind, KindIndex,
    KindTotals, Number, Places, PrimaryMetric, Producer, RowSource, Session, Sessions, Standard,
    Statement, Stored, Table, fnv1a,
};

/// So begins the note that says which checks of a workload are left out, and why.
pub const NOT_CHECKED: &str = "Not checked";

/// So begins the note that the storage engine of the data has no transactions.
pub const NO_TRANSACTIONS: &str = "This engine has no transactions";

/// So begins the note that the data are smaller than their specification has them.
pub const SMALLER_DATA: &str = "Smaller data";

/// A condition that the data must meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its short name, such as `3.3.2.1`.
    pub id: &'static str,
    /// What must hold, in words; of one of several tables with its name.
    pub title: Cow<'static, str>,
    /// A query that returns each row which breaks it, its columns named for the message.
    pub sql: String,
}

/// A count in the database that grows with each commit of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crosscheck {
    /// The query for the count.
    pub sql: String,
    /// The kind.
    pub kind: KindIndex,
    /// By how many it grows with each commit; at least 1.
    pub per_commit: u64,
}

/// An index that is added when a load is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaterIndex {
    /// The statement that makes it.
    pub create: String,
    /// The statement that removes it.
    pub drop: String,
}

/// A routine that lives in the database: a stored procedure or function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routine {
    /// Its name there.
    pub name: &'static str,
    /// What [`list_routines`](crate::Administration::list_routines) finds in it if it is exactly
    /// this one.
    pub mark: String,
    /// What makes it, carried out as a whole or not at all. It replaces what was there, or is
    /// refused as [existing](crate::DbErrorKind::Exists).
    pub create: String,
    /// The statement that removes it, and does nothing where it is not there.
    pub drop: String,
}

impl Routine {
    /// The mark of a routine that is made from these words.
    pub fn mark_of(words: &str) -> String {
        format!("dbdyno {:016x}", fnv1a(words.as_bytes()))
    }
}

/// How a conversation ended, if it was not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Committed.
    Committed,
    /// Rolled back, as the workload wants it in this case.
    RolledBack,
}

/// What a conversation may use. It must not spawn, join, select or keep time in any other way.
pub struct TxContext<'a> {
    /// The client's sessions.
    pub sessions: &'a mut Sessions,
    /// The run's clock.
    pub clock: &'a dyn Clock,
    /// When it was to begin, by that clock: in open load it arrived then, however long it waited.
    pub intended_ns: u64,
    /// What the transaction measured: index in the workload's list, value. Kept only if it
    /// finishes.
    pub measured: &'a mut Vec<(u16, u64)>,
}

impl TxContext<'_> {
    /// The client's own session.
    #[inline]
    pub fn session(&mut self) -> &mut dyn Session {
        self.sessions.own()
    }
}

/// A transaction under way.
pub type Conversation<'a> = Pin<Box<dyn Future<Output = Result<Done, DbError>> + 'a>>;

/// What a client does before its first transaction, under way.
pub type Beginning<'a> = Pin<Box<dyn Future<Output = Result<(), DbError>> + 'a>>;

/// One simulated user.
pub trait Client {
    /// Prepares its connection: once it is made, before the load begins, and each time that it is
    /// made again. What it sends is in no figure. None where there is nothing to prepare.
    ///
    /// A database error at first refuses the client, as a failed connection does; later the
    /// connection counts as broken, and is made again.
    fn begin<'a>(&'a mut self, _context: &'a mut TxContext<'_>) -> Option<Beginning<'a>> {
        None
    }

    /// Decides kind and inputs of transaction `number`, from seed and number alone, and keeps
    /// them for [`Client::converse`].
    fn inputs(&mut self, number: Number) -> KindIndex;

    /// Takes what it sends next from its workload's [producer](Workload::producer), if it has none
    /// left of before. Asked before each transaction; never waits.
    fn take_input(&mut self) -> Input {
        Input::Ready
    }

    /// Has the conversation with the inputs decided last. Called again for another attempt.
    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a>;
}

/// The data of a workload, in tables and chunks. A chunk is built in one transaction and marked
/// done with it, so that an interrupted build goes on where it stopped.
pub trait Population: Send + Sync {
    /// Its tables, in the order in which they are built.
    fn tables(&self) -> &[Table];

    /// How many chunks table `table` (its index) has.
    fn n_chunks(&self, table: usize) -> u64;

    /// How many rows the table has when built; exact, or close where the data decide.
    fn n_rows(&self, table: usize) -> u64;

    /// By which column table `table` is split, and into how many parts; nothing where it is whole.
    fn partitions(&self, _table: usize) -> Option<(&'static str, u64)> {
        None
    }

    /// The storage engine of its tables by the name in [`Dialect::storage_engines`]; nothing where
    /// the dialect's own will do.
    fn storage_engine(&self) -> Option<&'static str> {
        None
    }

    /// The rows of a chunk, from the seed alone.
    fn rows(&self, table: usize, chunk: u64) -> Box<dyn RowSource + Send>;
}

/// By what a parameter that shapes data is seen in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleInData {
    /// The parameter.
    pub parameter: &'static str,
    /// What it is equal to.
    pub of: ScaleOf,
}

/// What data show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleOf {
    /// How many rows a table has.
    Rows(&'static str),
    /// How many tables there are whose names begin so and end with 1, 2 and so on.
    Tables(&'static str),
    /// The largest number in the column of this name of these tables, the least of all of them:
    /// rows that were deleted since do not make the tables smaller.
    LastNumber(&'static str, &'static str),
    /// The storage engine of a table.
    StorageEngine(&'static str),
}

/// What cannot hold of data whose storage engine has no transactions, however undisturbed a load
/// is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NeedsTransactions {
    /// Checks, by id.
    pub checks: &'static [&'static str],
    /// The crosscheck.
    pub crosscheck: bool,
}

/// A workload with its parameters decided. Shared by all workers.
pub trait Workload: Send + Sync {
    /// What data it needs, or would build.
    fn identity(&self) -> Identity;

    /// Its kinds of transactions.
    fn kinds(&self) -> &[Kind];

    /// Its custom metrics.
    fn custom_metrics(&self) -> &[CustomMetric] {
        &[]
    }

    /// The figures it is known by, the most important first.
    fn primary_metrics(&self) -> Vec<PrimaryMetric> {
        Vec::new()
    }

    /// Its [computed](crate::PrimaryOf::Computed) primary metrics over a run, from what the clients
    /// of a group did in the measured phase, by kind.
    fn computed(&self, _kinds: &[KindTotals]) -> Vec<ComputedFigure> {
        Vec::new()
    }

    /// Deviations from the standard it is derived from, and what else a reader must know.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the standard that it is derived from requires of a run.
    fn standard(&self) -> Option<Standard> {
        None
    }

    /// The share of a kind, from 0 to 1, that is rolled back by design, and so in no rate.
    fn rolled_back_share(&self, _kind: KindIndex) -> f64 {
        0.0
    }

    /// What its standard allows at most, in words, for a reader of key/think load.
    fn rate_cap(&self) -> Option<&'static str> {
        None
    }

    /// Its statements in this dialect, indexed by [`crate::StatementId`].
    fn statements(&self, dialect: &Dialect) -> Vec<Statement>;

    /// What must stand in the database before its statements can be prepared, beside its data:
    /// put there before a run, and dropped with the data.
    fn routines(&self, _dialect: &Dialect) -> Vec<Routine> {
        Vec::new()
    }

    /// Every routine that it may have put there with other parameters: dropped with the data.
    fn routines_ever(&self, dialect: &Dialect) -> Vec<Routine> {
        self.routines(dialect)
    }

    /// Why it cannot be had on a database of this dialect with these parameters, and the remedy;
    /// nothing where it can. Asked before anything is built or run.
    fn refuses(&self, _dialect: &Dialect) -> Option<String> {
        None
    }

    /// How many records, of how many bytes, each of its transactions stores, where all store as
    /// many: its rate may then be given in records and in bytes.
    fn transaction_stores(&self) -> Option<Stored> {
        None
    }

    /// Why it cannot have so many clients, and the remedy; nothing where it can.
    fn refuses_clients(&self, _clients: u32) -> Option<String> {
        None
    }

    /// Bytes of memory that it may hold for itself during a run.
    fn memory_bytes(&self) -> u64 {
        0
    }

    /// Why its clients cannot be divided among several processes, and the remedy; nothing where
    /// they can.
    fn refuses_processes(&self) -> Option<String> {
        None
    }

    /// Where it can live.
    fn places(&self) -> Places;

    /// The kind of transaction `number`: the same as [`Client::inputs`] would say.
    fn kind_of(&self, number: Number) -> KindIndex;

    /// One of its users. `client` is global over all agents and groups.
    fn client(&self, client: u32) -> Box<dyn Client>;

    /// The same of a client that is the `nth` of its group, from 0, where what it reports has that
    /// number.
    fn client_of_group(&self, client: u32, _nth: u32) -> Box<dyn Client> {
        self.client(client)
    }

    /// Its data; none if it needs none.
    fn population(&self) -> Option<&dyn Population> {
        None
    }

    /// What it makes by itself for its clients to send; none where clients need nothing.
    fn producer(&self) -> Option<&dyn Producer> {
        None
    }

    /// Whether no conversation depends on what the database answers, so that it can be had without
    /// its data, at a database that keeps none.
    fn is_blind(&self) -> bool {
        false
    }

    /// Whether two runs cannot write into its tables at once: they would give out the same numbers,
    /// or count each other's rows.
    fn needs_tables_alone(&self) -> bool {
        false
    }

    /// How the scale of data is seen that others built in its tables, by parameter.
    fn scale_in_data(&self) -> &'static [ScaleInData] {
        &[]
    }

    /// What its data must meet, in this dialect.
    fn checks(&self, _dialect: &Dialect) -> Vec<Check> {
        Vec::new()
    }

    /// A count in the database that grows with each commit of a kind. Its change over a run must
    /// equal the client's own count.
    fn crosscheck(&self, _dialect: &Dialect) -> Option<Crosscheck> {
        None
    }

    /// What of its checks cannot hold in a storage engine without transactions, and is left out
    /// there.
    fn needs_transactions(&self) -> NeedsTransactions {
        NeedsTransactions::default()
    }

    /// Indexes that are added when the load is over, and dropped again: what that takes is a part
    /// of the run's result.
    fn indexes_after_load(&self, _dialect: &Dialect) -> Vec<LaterIndex> {
        Vec::new()
    }
}
