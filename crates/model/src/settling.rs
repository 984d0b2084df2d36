//! How a database is brought to rest: what a server still does after writes have ended (purge,
//! write-back, vacuum, checkpoint), and how it is made to do it now. Capabilities that a driver
//! fills.
//!
//! Not here: when a database is settled, for how long, and who sets its settings back (app).

use crate::{Fact, choice};

/// When a run settles its database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Settle {
    /// Never.
    #[default]
    Off,
    /// Before the load: after a build, and between the trials of an experiment.
    Before,
    /// After the load and its checks.
    After,
    /// Before and after the load.
    Both,
}

choice!(Settle { Off = "off", Before = "before", After = "after", Both = "both" });

impl Settle {
    /// Before the load.
    pub fn is_before(self) -> bool {
        matches!(self, Settle::Before | Settle::Both)
    }

    /// After the load.
    pub fn is_after(self) -> bool {
        matches!(self, Settle::After | Settle::Both)
    }
}

/// One thing that a database is made to finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettlingStep {
    /// Its name, a word for facts: `purge`.
    pub name: &'static str,
    /// What happens, for the progress line: `purging old row versions`.
    pub doing: &'static str,
    /// Settings of the server that make it faster, in the order in which they are set; they are
    /// set back in the reverse order. One that the server does not know is left out.
    pub settings: &'static [(&'static str, &'static str)],
    /// Statements that do it, each one a round trip that lasts until it is done. In these and in
    /// the query of the level, `{tables}` stands for the names of the tables of the workload, and
    /// `{names}` for the same as texts, separated by commas.
    pub statements: &'static [&'static str],
    /// What to do if the user may not execute them: a sentence, in which `{user}` stands for the
    /// user; empty where the database says it itself.
    pub if_denied: &'static str,
    /// Queries for the names of those of the tables that the statements pass over in silence,
    /// because the user may not do it: the first of these that the server understands.
    pub passed_over: &'static [&'static str],
    /// What falls while it is done.
    pub level: Option<SettlingLevel>,
}

/// A number that a database counts itself, and that is 0 when a step is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettlingLevel {
    /// Its name, a word for facts: `history_list`.
    pub name: &'static str,
    /// The query for it.
    pub sql: &'static str,
    /// The column of its row that has the number; less than 0 counts as 0.
    pub column: usize,
}

/// How a database is brought to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settling {
    /// What is done, in order.
    pub steps: &'static [SettlingStep],
    /// The query for all bytes that the server has written to its files since its start, in the
    /// last column of its row: the first of these that the server understands.
    pub written_bytes: &'static [&'static str],
    /// The query for statements that have changed rows since the server's start, in the last column
    /// of its rows: where commits outside of transactions are not counted. Else empty.
    pub changes: &'static str,
    /// Settings under which loads are best measured, as the product's makers advise: another value
    /// delays what is measured, or leaves work for later.
    pub advised: &'static [(&'static str, &'static str)],
}

impl Settling {
    /// What rests by itself: nothing is done.
    pub const NOTHING: Settling =
        Settling { steps: &[], written_bytes: &[], changes: "", advised: &[] };
}

/// Says how a database is settled, from its facts; or why it cannot be.
pub type SettlingOf = fn(&[Fact]) -> Result<Settling, String>;
