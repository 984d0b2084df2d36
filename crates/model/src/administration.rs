//! What is said to a database beside its load: while data are built, checked and dropped, and of
//! its settings. Capabilities that a driver fills, not a list of products.
//!
//! Not here: the SQL of workloads (dialect), and what is read while a load runs (monitoring).

use crate::{ClientLoad, DbError, Fact, SettingsBySql, Settling, SettlingOf, Table};

/// How a database is built in and administered, filled by its driver.
#[derive(Clone, Copy, Debug)]
pub struct Administration {
    /// It keeps what is written: tables can be built, checked and counted in it.
    pub keeps_data: bool,
    /// It lives in this process: whoever opens it again has started it again.
    pub is_in_process: bool,
    /// Several sessions can load at once.
    pub parallel_load: bool,
    /// Secondary indexes are faster built after the data.
    pub indexes_after_load: bool,
    /// Tables and indexes are made within a transaction as rows are: all of it, or nothing.
    pub tables_in_transactions: bool,
    /// What is said at the beginning of each transaction that loads: it makes loads faster, nothing
    /// is lost by it that a build cannot do again, and it ends with its transaction.
    pub begin_load: &'static [&'static str],
    /// What is to be said, in order, when a table has been loaded and indexed: moves its counter
    /// behind the rows, and lets the planner know them.
    pub after_load: fn(&Table) -> Vec<String>,
    /// How people load flat files with the server's own client; none where there is no such client
    /// of a server.
    pub client_load: Option<ClientLoad>,
    /// What a session says, in order, to be the only one that changes what stands in this database
    /// until it ends; the last is a query whose number is 1, or 0 while it is another. Empty where
    /// that cannot be had.
    pub alone: &'static [&'static str],
    /// What it says when others may: its connection may go on as somebody else's, behind a proxy.
    /// Empty where there is nothing to say.
    pub alone_ends: &'static str,
    /// What a session says at one of several hosts so that it sees all that was committed at the
    /// others before. A server that does not know it needs it not.
    pub sees_other_hosts: Option<&'static str>,
    /// Queries whose rows have, in each column, a statement that lifts a limit of the house from a
    /// session that builds, checks or drops data, or null where there is no such limit. A server
    /// that refuses a query has not what it asks for.
    pub house_limits: &'static [&'static str],
    /// The query that returns a row for each setting by which the server demands a primary key of
    /// every table; none where no server does.
    pub demands_keys: Option<&'static str>,
    /// The query for the names of this database's routines, each with a text that has its
    /// [mark](crate::Routine::mark) in it; empty where it has no routines.
    pub list_routines: &'static str,
    /// Whether a server that lets nobody in says by this that it starts or recovers, and will.
    pub is_recovering: fn(&DbError) -> bool,
    /// The query for the names of the storage engines that this server has; none where a database
    /// has no choice of them.
    pub list_storage_engines: Option<&'static str>,
    /// The query for the storage engine of the table of this name, in small letters; without a row
    /// where it is the only one, or one without a name. None where a database has no choice.
    pub storage_engine_of: Option<fn(&str) -> String>,
    /// Its server has a thread for each session, all in one process; others have a process each, or
    /// none. Clients that never pause are best placed by this (docs/explanation/placement.md).
    pub thread_per_session: bool,
    /// The setting that limits how many connections its server has, which is among its facts.
    pub connection_limit: Option<&'static str>,
    /// How many statements its server keeps prepared for all sessions, by its
    /// [facts](crate::Fact), and the setting that says so; none where nothing is prepared there,
    /// or it has no limit.
    pub statement_limit: fn(&[Fact]) -> Option<(&'static str, u64)>,
    /// What its facts say of commits that it has acknowledged, as [facts](crate::CommitRisk::facts)
    /// too; nothing where they do not say it.
    pub durability: fn(&[Fact]) -> Vec<Fact>,
    /// How settings of its server are read and set; none where SQL cannot.
    pub settings: Option<SettingsBySql>,
    /// How it is brought to rest, by its facts; or why it cannot be.
    pub settling: SettlingOf,
}

impl Administration {
    /// The least: it keeps data, loads in one session, and has nothing that not every database
    /// has. Drivers and tests say what differs.
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
