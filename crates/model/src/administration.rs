//! Statements sent outside of the load, to build, check, drop and settle data, and access to
//! settings. Capabilities that a driver fills in, not a list of products.
//!
//! Not here: the SQL of workloads (dialect), and what is read while a load runs (monitoring).

use crate::{ClientLoad, DbError, Fact, SettingsBySql, Settling, SettlingOf, Table};

/// Capabilities for building and administering a database, filled in by its driver.
#[derive(Clone, Copy, Debug)]
pub struct Administration {
    /// The database keeps what is written: tables can be built, checked and counted in it.
    pub keeps_data: bool,
    /// The database runs in this process, so opening it again restarts it.
    pub is_in_process: bool,
    /// Several sessions can load data at once.
    pub parallel_load: bool,
    /// Secondary indexes are built faster after the data.
    pub indexes_after_load: bool,
    /// DDL is transactional: tables and indexes are created as part of a transaction, or not at
    /// all.
    pub tables_in_transactions: bool,
    /// Statements at the start of each loading transaction. They speed up the load, risk nothing
    /// that a rebuild cannot restore, and end with the transaction.
    pub begin_load: &'static [&'static str],
    /// Returns the statements that follow the load of a table and its indexes, in order: they
    /// advance its sequence past the loaded rows and refresh the planner's statistics.
    pub after_load: fn(&Table) -> Vec<String>,
    /// Commands to load flat files with the server's own client; `None` if there is no such client.
    pub client_load: Option<ClientLoad>,
    /// Statements that lock out other builders of this database until the session ends, in order;
    /// the last is a query that returns 1 if it got the lock, 0 if another session has it. Empty if
    /// the database has no such lock.
    pub alone: &'static [&'static str],
    /// Statement that gives up that lock explicitly, because a proxy may reuse the connection for
    /// another session. Empty if there is none.
    pub alone_ends: &'static str,
    /// Statement after which a session at one of several hosts sees everything that was committed
    /// at the others. A server that does not know the statement does not need it.
    pub sees_other_hosts: Option<&'static str>,
    /// Queries that return, in each column, a statement that lifts a server-wide limit for a
    /// session that builds, checks or drops data, or null if there is no such limit. A server that
    /// rejects a query has no such limit.
    pub house_limits: &'static [&'static str],
    /// Query that returns a row for each setting by which the server demands a primary key of every
    /// table; `None` if no server of this kind does.
    pub demands_keys: Option<&'static str>,
    /// Query for the names of the routines in this database, each with a text that contains its
    /// [mark](crate::Routine::mark); empty if the database has no routines.
    pub list_routines: &'static str,
    /// Returns whether an error of connecting means that the server is starting or recovering.
    pub is_recovering: fn(&DbError) -> bool,
    /// Query for the names of the storage engines of this server; `None` if the database has only
    /// one.
    pub list_storage_engines: Option<&'static str>,
    /// Returns the query for the storage engine of a table, in lower case. It returns no row if the
    /// engine is the only one, and a row for one without a name. `None` if the database has only
    /// one.
    pub storage_engine_of: Option<fn(&str) -> String>,
    /// The server runs its sessions as threads of one process; `false` for a process per session,
    /// or none. Decides where clients without pauses are best placed
    /// (docs/explanation/placement.md).
    pub thread_per_session: bool,
    /// The setting, among the facts, that limits the connections of the server.
    pub connection_limit: Option<&'static str>,
    /// Returns, from the [facts](crate::Fact), the setting that limits the prepared statements of
    /// all sessions together, and its value; `None` if nothing is prepared there, or without a
    /// limit.
    pub statement_limit: fn(&[Fact]) -> Option<(&'static str, u64)>,
    /// Derives [facts](crate::CommitRisk::facts) about the durability of acknowledged commits from
    /// the facts of the server; empty if those do not tell.
    pub durability: fn(&[Fact]) -> Vec<Fact>,
    /// Access to the settings of the server; `None` if SQL cannot read and set them.
    pub settings: Option<SettingsBySql>,
    /// Derives from the facts how to settle the database. Fails with the reason if it cannot be
    /// settled.
    pub settling: SettlingOf,
}

impl Administration {
    /// The minimum: keeps data, loads in one session, and has no optional capability. Drivers and
    /// tests override what differs.
    pub const PLAIN: Administration = Administration {
        keeps_data: true,
        is_in_process: false,
        parallel_load: false,
        indexes_after_load: false,
        tables_in_transactions: false,
        begin_load: &[],
        after_load: |_| Vec::new(),
        client_load: None,
        alone: &[],
        alone_ends: "",
        sees_other_hosts: None,
        house_limits: &[],
        demands_keys: None,
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
    };
}
