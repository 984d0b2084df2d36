//! Statements that dbdyno sends before and after the load: to build, check, drop and settle data,
//! and to change settings. Each driver fills in the capabilities of its database.
//!
//! Not here: the SQL of workloads (dialect), and queries while a load runs (monitoring).

use crate::{ClientLoad, DbError, Fact, Row, SettingsBySql, Settling, SettlingOf, Table};

/// Statements and properties by which dbdyno builds and administers data in a database, filled in
/// by the database's driver.
#[derive(Clone, Copy, Debug)]
pub struct Administration {
    /// Whether the database stores data, so that dbdyno can build, check and count tables in it;
    /// `false` for a simulated database.
    pub keeps_data: bool,
    /// Whether the database runs inside the dbdyno process, so that reopening the database restarts
    /// it.
    pub is_in_process: bool,
    /// Whether several sessions can load data at the same time.
    pub parallel_load: bool,
    /// Whether secondary indexes are created after the data are loaded, because this database is
    /// faster that way.
    pub indexes_after_load: bool,
    /// Whether DDL is transactional: CREATE TABLE and CREATE INDEX take effect only if their
    /// transaction commits.
    pub tables_in_transactions: bool,
    /// Statements at the start of each loading transaction that make loading faster. Their effect
    /// ends with the transaction, and a crash costs only data that can be built again.
    pub begin_load: &'static [&'static str],
    /// Returns the statements to execute after a table and its indexes are built, in order. They
    /// move the auto-increment counter past the loaded rows and refresh the planner's statistics.
    pub after_load: fn(&Table) -> Vec<String>,
    /// Statement that refreshes the statistics of all tables of the database at once, in place of
    /// `after_load` if there are 100 tables or more; `None` if there is no such statement, or
    /// `after_load` does more.
    pub after_all: Option<&'static str>,
    /// Statements that a session executes before it creates, indexes or drops many tables. Their
    /// effect ends with the session.
    pub begin_many: &'static [&'static str],
    /// Query for the names of all tables that a session finds by their names alone; `None` if there
    /// is no such list.
    pub list_tables: Option<&'static str>,
    /// Commands to load flat files with the server's own client; `None` if it has no such client.
    pub client_load: Option<ClientLoad>,
    /// Lock of the database that a build holds, so that no other build begins in the same database.
    pub build_lock: DatabaseLock,
    /// Lock of the database that a run holds if the table `dbdyno_meta` has no entry for the
    /// workload's tables, in which it could mark that it runs. Other machines notice the run by
    /// this lock.
    pub run_lock: DatabaseLock,
    /// Lock that a run holds while it writes into the tables of a workload that only one run may
    /// use; `{workload}` in its statements stands for the name of their data.
    pub alone_lock: DatabaseLock,
    /// Statement after which a session sees everything that was committed on other hosts of the
    /// cluster, such as Galera's `wsrep_sync_wait`. If the server does not know the statement, its
    /// error is ignored. `None` if no server of this kind needs such a statement.
    pub sees_other_hosts: Option<&'static str>,
    /// Queries for limits on statements, such as timeouts, that administrative sessions must lift.
    /// Each column of the result is a statement that lifts one limit for the session, or null if
    /// the limit is not set. If the server rejects a query, it has no such limit.
    pub house_limits: &'static [&'static str],
    /// Query that returns one row for each server setting that requires a primary key in every
    /// table; `None` if no server of this kind has such a setting.
    pub demands_keys: Option<&'static str>,
    /// Query for tables that hide others: those that a name without a schema means, while the
    /// schema of `dbdyno_meta` has a table of the same name. Each row has the table's name, its
    /// schema and that of `dbdyno_meta`. `None` if names do not depend on an order of schemas.
    pub hiding_tables: Option<&'static str>,
    /// Query for the stored routines of this database: each row has a name and a text that contains
    /// the routine's [mark](crate::Routine::mark). Empty if the database has no routines.
    pub list_routines: &'static str,
    /// Returns whether an error on connecting means that the server is still starting or
    /// recovering.
    pub is_recovering: fn(&DbError) -> bool,
    /// Query for the names of the storage engines that this server offers; `None` if the database
    /// has only one.
    pub list_storage_engines: Option<&'static str>,
    /// Returns the query for the storage engine of the table with the given name. The query returns
    /// one row with the engine's name in lower case, or no row if the table has a default engine
    /// that has no name. `None` if the database has only one engine.
    pub storage_engine_of: Option<fn(&str) -> String>,
    /// Whether the server runs each session as a thread of one process; `false` if each session is
    /// a process, or there is no server. It affects whether closed-load clients run best on threads
    /// or event loops (docs/explanation/placement.md).
    pub thread_per_session: bool,
    /// Name of the setting that limits the server's connections, such as `max_connections`, for
    /// error messages; `None` if the server has no such setting.
    pub connection_limit: Option<&'static str>,
    /// Returns name and value of the server setting that limits the number of prepared statements
    /// over all sessions, read from the [facts](crate::Fact). `None` if there is no such limit, the
    /// facts do not contain it, or the target sends statements as text.
    pub statement_limit: fn(&[Fact]) -> Option<(&'static str, u64)>,
    /// Derives from the facts about a server, such as its fsync mode, the
    /// [facts](crate::CommitRisk::facts) that tell whether acknowledged commits may be lost.
    /// Returns an empty list if the given facts do not contain the server's modes.
    pub durability: fn(&[Fact]) -> Vec<Fact>,
    /// Statements to read and change the server's settings; `None` if SQL cannot change settings.
    pub settings: Option<SettingsBySql>,
    /// Returns the steps that settle this database, that is, make it finish its background work,
    /// such as purge or a checkpoint. They are chosen by the facts about the server. Fails with the
    /// reason if the database cannot be settled.
    pub settling: SettlingOf,
    /// How the plan of a query is read without executing it; `None` if this is not supported.
    pub explain: Option<Explain>,
    /// How the plan of a query is read while it is executed, with the rows of each step and what it
    /// spilled, in the database's own words; `None` if this is not supported.
    pub explain_executed: Option<Explain>,
}

/// Reader of the plan that the database's optimizer chooses for a query.
#[derive(Clone, Copy, Debug)]
pub struct Explain {
    /// Texts in front of the query, such as `EXPLAIN `. If the database refuses one, as older
    /// versions do, the next is taken.
    pub begin: &'static [&'static str],
    /// Returns the part of the plan in a row of the reply: its shape without costs and estimates,
    /// which vary with each sample of statistics. It may have several lines, or be empty.
    pub shape: fn(&dyn Row) -> String,
}

/// Statements for an advisory lock of one database, which a session holds until it releases the
/// lock or ends.
#[derive(Clone, Copy, Debug)]
pub struct DatabaseLock {
    /// Statements with which a session takes the lock, in order. The last is a query that returns 1
    /// if the session got the lock, or 0 if another session has it. Empty if the database has no
    /// advisory locks.
    pub take: &'static [&'static str],
    /// Statement that releases the lock. A proxy may give the connection to another session, so
    /// closing it is not enough.
    pub release: &'static str,
}

impl DatabaseLock {
    /// Statements of a database that has no advisory locks.
    pub const NONE: DatabaseLock = DatabaseLock { take: &[], release: "" };
}

impl Administration {
    /// Defaults for a new driver: the database stores data, loads them in one session, and has no
    /// optional capability. Drivers and tests override individual fields.
    pub const PLAIN: Administration = Administration {
        keeps_data: true,
        is_in_process: false,
        parallel_load: false,
        indexes_after_load: false,
        tables_in_transactions: false,
        begin_load: &[],
        after_load: |_| Vec::new(),
        after_all: None,
        begin_many: &[],
        list_tables: None,
        client_load: None,
        build_lock: DatabaseLock::NONE,
        run_lock: DatabaseLock::NONE,
        alone_lock: DatabaseLock::NONE,
        sees_other_hosts: None,
        house_limits: &[],
        demands_keys: None,
        hiding_tables: None,
        list_routines: "",
        list_storage_engines: None,
        storage_engine_of: None,
        is_recovering: |_| false,
        thread_per_session: false,
        connection_limit: None,
        statement_limit: |_| None,
        durability: |_| Vec::new(),
        settings: None,
        settling: |_| Ok(Settling::NOTHING),
        explain: None,
        explain_executed: None,
    };
}
