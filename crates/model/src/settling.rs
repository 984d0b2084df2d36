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
    /// Whether it does not come about without these settings.
    pub needs_settings: bool,
    /// What to do if the user may not execute them: a sentence, in which `{user}` stands for the
    /// user; empty where the database says it itself.
    pub if_denied: &'static str,
    /// Queries for the names of those of the tables that the statements pass over in silence,
    /// because the user may not do it: the first of these that the server understands.
    pub passed_over: &'static [&'static str],
    /// What falls while it is done.
    pub level: Option<SettlingLevel>,
    /// What may hold a level that falls no more, and what to do about it: sentences.
    pub if_stays: &'static str,
    /// How to see that nothing is left to be done although the level is not 0.
    pub nothing_left: Option<NothingLeft>,
}

/// How a server says that nothing is left to be done, whatever the level of a step is: then the
/// step is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NothingLeft {
    /// The query for a text, in the last column of its row.
    pub sql: &'static str,
    /// Words of this text, each with a number behind it: nothing is left if the first number is at
    /// most one above the second.
    pub numbers_behind: [&'static str; 2],
}

impl NothingLeft {
    /// Whether a text says so.
    pub fn is_said(&self, text: &str) -> bool {
        let number = |words: &str| -> Option<u64> {
            let (_, behind) = text.split_once(words)?;
            let behind = behind.trim_start();
            let end = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
            behind[..end].parse().ok()
        };
        let [until, done] = self.numbers_behind.map(number);
        until.zip(done).is_some_and(|(until, done)| until <= done.saturating_add(1))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_where_the_purge_has_come_to_the_last_transaction() {
        let of = NothingLeft {
            sql: "",
            numbers_behind: ["Trx id counter", "Purge done for trx's n:o <"],
        };
        let check = |counter: &str, done: &str, expected: bool| {
            let text = format!(
                "---\nTrx id counter {counter}\nPurge done for trx's n:o < {done} undo n:o < 0 state: \
                 running but idle\nHistory list length 973\n"
            );
            assert_eq!(of.is_said(&text), expected, "{text}");
        };
        check("9185", "9184", true);
        check("41797", "41797", true);
        check("41797", "41700", false);
        check("x", "41700", false);
        assert!(!of.is_said("Trx id counter 7"));
    }
}
