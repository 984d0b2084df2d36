//! The interface of a workload to the engine, to builds and to checks. Not here: any workload.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::{
    BadParameter, Cancel, Clock, ComputedFigure, CustomMetric, DbError, Dialect, Execution,
    HotRows, Identity, Input, Kind, KindIndex, KindTotals, Number, Places, PrimaryMetric, Producer,
    ReportFigures, ReportOf, Row, RowSource, ScriptHost, ScriptReports, Session, Sessions,
    Standard, Statement, Stored, Table, Traffic, fnv1a,
};

/// First words of the note in a report that lists the skipped consistency checks, and why.
pub const NOT_CHECKED: &str = "Not checked";

/// First words of the note in a report that explains which transactions are rolled back by design.
pub const ROLLED_BACK: &str = "Rolled back by design: ";

/// First words of the note in a report that warns that the tables' storage engine has no
/// transactions.
pub const NO_TRANSACTIONS: &str = "This engine has no transactions";

/// First words of the note in a report that warns that the data are smaller than the workload's
/// standard demands.
pub const SMALLER_DATA: &str = "Smaller data";

/// Name of the fact about a workload that says at which lines of its script clients were when the
/// end of the run cut off their transactions.
pub const CUT_OFF_AT: &str = "cut_off_at";

/// A consistency check: a condition that the data of a workload must meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Identifier of the check, usually the clause of the standard, such as `3.3.2.1`.
    pub id: &'static str,
    /// Description of the condition, with the table's name if the check applies to several tables.
    pub title: Cow<'static, str>,
    /// Query that returns the rows that violate the condition; messages about them show its column
    /// names.
    pub sql: String,
}

/// A check that fails on data which the next run repairs by itself, so that its failure refuses no
/// run and makes none invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairedCheck {
    /// Identifier of the [`Check`].
    pub id: &'static str,
    /// Sentence that a run says in place of the failure.
    pub note: &'static str,
}

/// A query whose result is compared with a known answer.
pub struct Answer {
    /// Identifier of the query, such as `q1`.
    pub id: &'static str,
    /// Description of the query in a few words.
    pub title: Cow<'static, str>,
    /// Text of the query.
    pub sql: String,
    /// Comparison of the result with the known answer.
    pub judge: Box<dyn AnswerJudge>,
}

/// A known answer, with which the rows of a query's result are compared.
pub trait AnswerJudge {
    /// Takes the next row of the result. Fails if a value has another type than in the answer.
    fn take(&mut self, row: &dyn Row) -> Result<(), DbError>;

    /// Returns the differences between the rows taken and the answer, in words; empty if there are
    /// none. Called once, after the last row.
    fn differences(&mut self) -> Vec<String>;
}

/// Function that reads a row of a query's result. Fails if a value has another type than expected.
pub type ReadAnswer = Box<dyn Fn(&dyn Row) -> Result<AnswerRow, DbError>>;

/// A query whose results in two databases are compared.
pub struct ComparedQuery {
    /// Identifier of the query, such as `q1`.
    pub id: &'static str,
    /// Description of the query in a few words.
    pub title: Cow<'static, str>,
    /// Text of the query.
    pub sql: String,
    /// Reads a row of the result into the form that is the same for every database.
    pub read: ReadAnswer,
    /// Largest difference of a ratio from that in the other database, as a share of it.
    pub ratio_share: f64,
    /// Limit of the number of rows; `None` if the query returns all of them.
    pub limit: Option<CutOff>,
}

/// Limit of the number of rows of a query. Of the last rows, those with equal sort keys may be any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutOff {
    /// Largest number of rows.
    pub rows: usize,
    /// Text of the query without the limit.
    pub sql_of_all: String,
}

/// A row of a query's result, in a form that is the same for every database.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerRow {
    /// All values that databases must return exactly, as text.
    pub exact: String,
    /// Ratios and averages, which databases round in different ways.
    pub ratios: Vec<f64>,
    /// The values by which the rows of a query with a limit are sorted, as text; empty for other
    /// queries.
    pub sort_key: String,
}

/// A count in the database that grows by a fixed number with each commit of a transaction type.
/// After a run it is compared with dbdyno's own count of commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crosscheck {
    /// Query that returns the database's own count.
    pub sql: String,
    /// Index of the transaction type whose commits increase the count, from 0.
    pub kind: KindIndex,
    /// Number by which one commit increases the database's count; at least 1.
    pub per_commit: u64,
}

/// An index that is created after the load and dropped again, to measure how long that takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaterIndex {
    /// Statement that creates the index.
    pub create: String,
    /// Statement that drops the index.
    pub drop: String,
}

/// A stored procedure or function that a workload creates in the database and calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routine {
    /// Name of the routine in the database.
    pub name: &'static str,
    /// Text by which an existing routine is recognised as exactly this one: the query
    /// [`list_routines`](crate::Administration::list_routines) returns a text that contains it.
    pub mark: String,
    /// Statement that creates the routine. It replaces an existing one, or fails with
    /// [`Exists`](crate::DbErrorKind::Exists) and leaves it as it is.
    pub create: String,
    /// Statement that drops the routine if it exists.
    pub drop: String,
}

impl Routine {
    /// Returns a text that identifies a routine by its definition `words`, as it contains a hash of
    /// them. See [`Routine::mark`].
    pub fn mark_of(words: &str) -> String {
        format!("dbdyno {:016x}", fnv1a(words.as_bytes()))
    }
}

/// The outcome of a transaction that ended without an error: committed or rolled back by design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The transaction was committed, so its effects are permanent.
    Committed,
    /// The transaction was rolled back by design of the workload.
    RolledBack,
    /// There was no transaction: the client has ended its work. Nothing is counted, and the client
    /// executes no further transactions.
    Over,
}

/// What follows a transaction that failed, if its client decides that and not the retry policy of
/// the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterError {
    /// The transaction is executed again, as often as that is needed.
    Again,
    /// The transaction counts as failed, and its client executes no others.
    EndClient,
    /// The run ends as failed.
    EndRun,
}

/// Sessions, clock and other resources with which a client executes a transaction once. The
/// transaction may wait only on these sessions and this clock, and must not spawn, join or select
/// futures.
pub struct TxContext<'a> {
    /// Sessions of the client that executes the transaction.
    pub sessions: &'a mut Sessions,
    /// Clock of the run, by which the transaction must wait.
    pub clock: &'a dyn Clock,
    /// Intended start of the transaction, in nanoseconds of the run's clock. In open load this is
    /// the arrival, even if the transaction then waited in the queue.
    pub intended_ns: u64,
    /// Dialect of the client's database, for statements whose text is known only at run time.
    pub dialect: &'a Dialect,
    /// Values of custom metrics to be recorded, as pairs of the metric's index and the value. They
    /// are discarded if the transaction fails.
    pub measured: &'a mut Vec<(u16, u64)>,
}

impl TxContext<'_> {
    /// Returns the client's main session.
    #[inline]
    pub fn session(&mut self) -> &mut dyn Session {
        self.sessions.own()
    }
}

/// Future that executes a transaction: the result of [`Client::converse`].
pub type Conversation<'a> = Pin<Box<dyn Future<Output = Result<Done, DbError>> + 'a>>;

/// Future that prepares a client's connection: the result of [`Client::begin`].
pub type Beginning<'a> = Pin<Box<dyn Future<Output = Result<(), DbError>> + 'a>>;

/// A script that begins, reports and ends its run, in a state apart from those of the load's
/// clients.
pub trait ScriptReporter {
    /// Returns what the script does.
    fn reports(&self) -> ScriptReports;

    /// Creates the state in which the script begins and ends, and does what it does once before the
    /// load. Fails with the error of the script.
    fn begin_run<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Beginning<'a>;

    /// Does what the script does once after the load and its reports, in the state in which it
    /// began. Fails with the error of the script.
    fn end_run<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Beginning<'a>;

    /// Makes a report, for which the script may use sessions. Fails with the error of the script.
    fn report<'a>(
        &'a mut self,
        figures: &'a ReportFigures,
        of: ReportOf,
        context: &'a mut TxContext<'_>,
    ) -> Beginning<'a>;
}

/// A client, which executes transactions of one workload one after the other.
pub trait Client {
    /// Prepares the client's connection, before the load and after each reconnect. Its traffic is
    /// not counted. `None` if there is nothing to prepare.
    ///
    /// If it fails before the load, the client counts as not connected. If it fails later, the
    /// connection counts as broken, and the client reconnects.
    fn begin<'a>(&'a mut self, _context: &'a mut TxContext<'_>) -> Option<Beginning<'a>> {
        None
    }

    /// Ends the client's work after its last transaction, on the same connection, such as by
    /// sending what it has buffered. Not called if the connection is broken or the run was aborted.
    /// Its traffic is not counted. `None` if there is nothing to do.
    fn end<'a>(&'a mut self, _context: &'a mut TxContext<'_>) -> Option<Beginning<'a>> {
        None
    }

    /// Returns the traffic of the transaction that has just ended, with its statements counted as
    /// the workload counts them. `sent` has all that its sessions sent.
    fn counted(&mut self, sent: Traffic) -> Traffic {
        sent
    }

    /// Returns what follows the transaction that has just failed; `None` if the retry policy of the
    /// run decides.
    fn after_error(&self) -> Option<AfterError> {
        None
    }

    /// Returns a handle with which another thread ends code of the client that does not end by
    /// itself, such as an endless loop of a script; `None` if there is no such code. The client
    /// keeps a reference to the handle as long as it lives.
    fn canceller(&self) -> Option<Arc<dyn Cancel>> {
        None
    }

    /// Draws the inputs of transaction `number`, keeps them for [`Client::converse`], and returns
    /// the transaction's type. Both depend only on the seed and `number`.
    fn inputs(&mut self, number: Number) -> KindIndex;

    /// Takes the next input from the workload's [producer](Workload::producer), unless the client
    /// still has one that it did not use, and returns whether there is one. Called before each
    /// transaction; never waits.
    fn take_input(&mut self) -> Input {
        Input::Ready
    }

    /// Executes the transaction whose inputs the last call of [`Client::inputs`] drew. Called again
    /// for each retry.
    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a>;
}

/// The data that a workload needs, divided into tables and these into chunks of rows. A chunk is
/// written in one transaction together with a mark that it is done, so an interrupted build can be
/// continued.
pub trait Population: Send + Sync {
    /// Returns the tables in the order in which they are built.
    fn tables(&self) -> &[Table];

    /// Returns the number of chunks, parts that are each loaded in one transaction, of the table
    /// with index `table`.
    fn n_chunks(&self, table: usize) -> u64;

    /// Returns the number of rows in a newly built table; only an estimate if the number is random.
    fn n_rows(&self, table: usize) -> u64;

    /// Returns the column by which the table with index `table` is partitioned, and the number of
    /// partitions; `None` if it is not partitioned.
    fn partitions(&self, _table: usize) -> Option<(&'static str, u64)> {
        None
    }

    /// Returns the name of the storage engine for all tables, one of [`Dialect::storage_engines`];
    /// `None` for the server's default.
    fn storage_engine(&self) -> Option<&'static str> {
        None
    }

    /// Returns the rows of a chunk of the table with index `table`. They depend only on the seed,
    /// table and chunk.
    fn rows(&self, table: usize, chunk: u64) -> Box<dyn RowSource + Send>;
}

/// A parameter that shapes the data and whose value dbdyno can read off existing data, such as the
/// number of warehouses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleInData {
    /// Name of the parameter, such as `warehouses`.
    pub parameter: &'static str,
    /// Property of the data from which the parameter's value can be read.
    pub of: ScaleOf,
}

/// A property of existing data from which the value of a parameter can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleOf {
    /// The value is the number of rows in the table with this name.
    Rows(&'static str),
    /// The value is the number of tables whose names are this prefix followed by 1, 2 and so on.
    Tables(&'static str),
    /// The value is the largest number in a column, given as table prefix and column; of several
    /// tables, the smallest such number. Unlike the number of rows, it stays the same if rows are
    /// deleted.
    LastNumber(&'static str, &'static str),
    /// The value is the storage engine of the table with this name.
    StorageEngine(&'static str),
}

/// A command that the file of a workload defines beside its load, such as one that prepares tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Name of the command, such as `prepare`.
    pub name: String,
    /// Whether the command runs in several sessions at once, each for its part of the work.
    pub is_parallel: bool,
}

/// Consistency checks to be skipped on a storage engine without transactions, where they may fail
/// although nothing went wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NeedsTransactions {
    /// Identifiers of the consistency checks to skip.
    pub checks: &'static [&'static str],
    /// Whether the comparison of commit counts, [`Workload::crosscheck`], is skipped too.
    pub crosscheck: bool,
}

/// A workload with all its parameters decided, shared by all threads of the run.
pub trait Workload: Send + Sync {
    /// Returns the workload, scale and seed of the data that the workload expects, and would build
    /// if they were missing.
    fn identity(&self) -> Identity;

    /// Returns the workload's transaction types, in the order of their indexes.
    fn kinds(&self) -> &[Kind];

    /// Returns the workload's custom metrics, in the order of their indexes.
    fn custom_metrics(&self) -> &[CustomMetric] {
        &[]
    }

    /// Returns the workload's primary metrics, the most important first.
    fn primary_metrics(&self) -> Vec<PrimaryMetric> {
        Vec::new()
    }

    /// Computes the primary metrics that are [`PrimaryOf::Computed`](crate::PrimaryOf::Computed).
    /// `kinds` has the totals of each transaction type over a group's clients in the measured
    /// phase; `executions` has each transaction that ended there, if the load is a
    /// [sequence](Self::sequence). Called after the load.
    fn computed(&self, _kinds: &[KindTotals], _executions: &[Execution]) -> Vec<ComputedFigure> {
        Vec::new()
    }

    /// Returns notes for readers of the results, such as deviations from the standard.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the requirements of the standard from which the workload is derived; `None` if there
    /// is none.
    fn standard(&self) -> Option<Standard> {
        None
    }

    /// Returns the share of a transaction type, from 0 to 1, that is rolled back by design and so
    /// counts in no rate of commits.
    fn rolled_back_share(&self, _kind: KindIndex) -> f64 {
        0.0
    }

    /// Returns the standard's limit on the rate in key/think load, in words; `None` if there is
    /// none.
    fn rate_cap(&self) -> Option<&'static str> {
        None
    }

    /// Returns the workload's statements in this dialect, in the order of their
    /// [identifiers](crate::StatementId).
    fn statements(&self, dialect: &Dialect) -> Vec<Statement>;

    /// Returns the stored routines that the workload's statements call. They are created before a
    /// run, and dropped together with the data.
    fn routines(&self, _dialect: &Dialect) -> Vec<Routine> {
        Vec::new()
    }

    /// Returns all stored routines that the workload may have created with any parameters, so that
    /// they can be dropped together with the data.
    fn routines_ever(&self, dialect: &Dialect) -> Vec<Routine> {
        self.routines(dialect)
    }

    /// Returns the reason why the workload, with these parameters, cannot run on a database of this
    /// dialect, and the remedy; `None` if it can. Called before anything is built or run.
    fn refuses(&self, _dialect: &Dialect) -> Option<String> {
        None
    }

    /// Returns the volume that each transaction stores, so that the arrival rate may also be given
    /// in records or bytes; `None` if transactions store different volumes.
    fn transaction_stores(&self) -> Option<Stored> {
        None
    }

    /// Returns the reason why the workload cannot run with this number of clients, and the remedy;
    /// `None` if it can.
    fn refuses_clients(&self, _clients: u32) -> Option<String> {
        None
    }

    /// Returns the number of transactions that each client of the group executes in a fixed order,
    /// after which its load is complete; `None` if the load has no such end. A load with an end is
    /// judged by its transactions and not by rates over time. Unless the plan says otherwise, it
    /// has as many clients as numbers are returned and no ramp-up, and ends with its last
    /// transaction.
    fn sequence(&self) -> Option<Vec<u64>> {
        None
    }

    /// Returns the reason why no [answers](Self::answers) are known for the workload's parameters;
    /// `None` if there are, or if its queries never have known answers.
    fn answers_unknown(&self) -> Option<&'static str> {
        None
    }

    /// Returns a query that returns a row if the data are no longer those whose
    /// [answers](Self::answers) are known, with a clause that says so; `None` if they always are.
    fn answers_changed(&self) -> Option<(String, &'static str)> {
        None
    }

    /// Returns an upper limit on the memory that the workload itself allocates during a run, in
    /// bytes.
    fn memory_bytes(&self) -> u64 {
        0
    }

    /// Returns the longest time that a transaction of this type may take, in nanoseconds; `None` if
    /// it has no limit. A transaction that takes longer is cancelled at the database, and has
    /// failed with [`DbErrorKind::Timeout`](crate::DbErrorKind::Timeout); its client continues on a
    /// new session.
    fn time_limit_ns(&self, _kind: KindIndex) -> Option<u64> {
        None
    }

    /// Returns the reason why the workload's clients cannot be divided among several processes, and
    /// the remedy; `None` if they can.
    fn refuses_processes(&self) -> Option<String> {
        None
    }

    /// Returns the reason why the workload's clients cannot make a connection for each transaction;
    /// `None` if they can.
    fn refuses_new_connections(&self) -> Option<String> {
        None
    }

    /// Returns the placements that the workload's clients support.
    fn places(&self) -> Places;

    /// Returns the type of transaction `number`, the same as [`Client::inputs`] returns.
    fn kind_of(&self, number: Number) -> KindIndex;

    /// Creates the client with index `client`, which is counted over all groups and client
    /// processes.
    fn client(&self, client: u32) -> Box<dyn Client>;

    /// Creates the client with index `client`, which is the `nth` of its group, from 0. Only
    /// workloads that need this number override it.
    fn client_of_group(&self, client: u32, _nth: u32) -> Box<dyn Client> {
        self.client(client)
    }

    /// Returns the data that the workload needs; `None` if it needs none.
    fn population(&self) -> Option<&dyn Population> {
        None
    }

    /// Returns the producer that generates input for the workload's clients; `None` if there is
    /// none.
    fn producer(&self) -> Option<&dyn Producer> {
        None
    }

    /// Whether the workload also runs on a database that stores no data, because none of its
    /// transactions depends on replies.
    fn is_blind(&self) -> bool {
        false
    }

    /// Returns the rows of which every transaction updates one, if there may be fewer of them than
    /// clients; `None` if there are no such rows.
    fn hot_rows(&self) -> Option<HotRows> {
        None
    }

    /// Whether transactions read large parts of the tables, so that a database for analytics suits
    /// the workload best.
    fn is_analytic(&self) -> bool {
        false
    }

    /// Whether only one run at a time may write to the workload's tables, because two runs would
    /// assign the same numbers or count each other's rows.
    fn needs_tables_alone(&self) -> bool {
        false
    }

    /// Returns the parameters that shape the data and whose values can be read off data that
    /// another program built.
    fn scale_in_data(&self) -> &'static [ScaleInData] {
        &[]
    }

    /// Returns the consistency checks for the workload's data, with queries in this dialect.
    fn checks(&self, _dialect: &Dialect) -> Vec<Check> {
        Vec::new()
    }

    /// Returns those of its [checks](Self::checks) whose failure the next run repairs.
    fn repaired_checks(&self) -> &'static [RepairedCheck] {
        &[]
    }

    /// Whether a transaction of this type is rolled back when it is executed only to be shown,
    /// because its commit would use up a part of the data.
    fn is_shown_without_commit(&self, _kind: KindIndex) -> bool {
        false
    }

    /// Returns the queries whose results are compared with known answers, in this dialect; empty if
    /// no answers are known for the workload's data. They may take long, so a run does not execute
    /// them.
    fn answers(&self, _dialect: &Dialect) -> Vec<Answer> {
        Vec::new()
    }

    /// Returns the queries whose results are compared with those in another database, in this
    /// dialect; empty if the workload has none. They may take long, so a run does not execute them.
    fn compared(&self, _dialect: &Dialect) -> Vec<ComparedQuery> {
        Vec::new()
    }

    /// Returns true if the queries of [`Workload::explained`] are also executed once after the
    /// load, to keep the rows of each step of their plans.
    fn explains_execution(&self) -> bool {
        false
    }

    /// Returns the queries whose plans are kept with a run, in this dialect, each with the index of
    /// its transaction type.
    fn explained(&self, _dialect: &Dialect) -> Vec<(KindIndex, String)> {
        Vec::new()
    }

    /// Returns a count in the database that grows with each commit of a transaction type, and so
    /// must agree with dbdyno's own count; `None` if there is none.
    fn crosscheck(&self, _dialect: &Dialect) -> Option<Crosscheck> {
        None
    }

    /// Returns the checks that are skipped if the storage engine of the tables has no transactions.
    fn needs_transactions(&self) -> NeedsTransactions {
        NeedsTransactions::default()
    }

    /// Returns the workload as a script, which creates its own tables and so has no
    /// [population](Self::population); `None` for other workloads.
    fn script(&self) -> Option<&dyn Script> {
        None
    }

    /// Returns indexes to create after the load and then drop again. The time that this takes is
    /// part of the result.
    fn indexes_after_load(&self, _dialect: &Dialect) -> Vec<LaterIndex> {
        Vec::new()
    }
}

/// A workload that is a script: what it has beside its load.
pub trait Script: Send + Sync {
    /// Returns the commands that the script defines beside its load. Fails with an error in it.
    fn commands(&self) -> Result<Vec<Command>, BadParameter>;

    /// Creates a client whose only transaction is one of the [commands](Self::commands),
    /// in the session `thread` of `threads`, from 0. `None` if there is no such command.
    fn commander(&self, command: &str, thread: u32, threads: u32) -> Option<Box<dyn Client>>;

    /// Creates what lets a script begin, report and end a run of `clients` clients, in a state of
    /// its own; `None` if it does none of these. Fails with an error in the script.
    fn reporter(&self, _clients: u32) -> Result<Option<Box<dyn ScriptReporter>>, BadParameter> {
        Ok(None)
    }

    /// Returns the reason why there is nothing to run as a load, though there may be
    /// [commands](Self::commands); `None` if there is a load. Fails with an error in the script.
    fn refuses_load(&self) -> Result<Option<String>, BadParameter> {
        Ok(None)
    }

    /// Returns the line that begins the part of a script for a command of this name; `None` if it
    /// is a function of this name.
    fn section_of(&self, _command: &str) -> Option<&'static str> {
        None
    }

    /// Returns the names of the parameters on which the tables of a script depend; for a script
    /// whose text does not say that, those that its commands have read so far.
    fn shaping_parameters(&self) -> Vec<String>;

    /// Returns the names of the tables that a script creates, as far as its text says them.
    fn created_tables(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the line of a script that starts a program, such as `bank.sql:7`; `None` if none
    /// does. Such a script needs a host that allows it ([`set_host`](Self::set_host)).
    fn starts_programs(&self) -> Option<&'static str> {
        None
    }

    /// Hands the script, before it is executed, what it asks of the process. Does nothing if it was
    /// handed before.
    fn set_host(&self, _host: &Arc<dyn ScriptHost>) {}

    /// Returns the lines of a script at which clients were when the end of the run cut off their
    /// transactions, such as `bank.sql:7`, each with the number of clients.
    fn cut_off_at(&self) -> Vec<(String, u64)>;
}
