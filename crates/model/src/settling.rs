//! Settling: a server's background work after writes have ended (purge, write-back, vacuum,
//! checkpoint), and how to make it finish now. Capabilities that a driver fills in.
//!
//! Not here: time and limit of settling, and the restoring of settings (app).

use crate::{Fact, choice};

/// The times at which a run settles its database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Settle {
    /// Never settles the database.
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
    /// Whether to settle before the load.
    pub fn is_before(self) -> bool {
        matches!(self, Settle::Before | Settle::Both)
    }

    /// Whether to settle after the load.
    pub fn is_after(self) -> bool {
        matches!(self, Settle::After | Settle::Both)
    }
}

/// One kind of background work that a database is made to finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettlingStep {
    /// Name for facts, in one word: `purge`.
    pub name: &'static str,
    /// Description for the progress line: `purging old row versions`.
    pub doing: &'static str,
    /// Settings of the server that speed it up, in the order in which they are set; they are
    /// restored in reverse order. Those that the server does not know are skipped.
    pub settings: &'static [(&'static str, &'static str)],
    /// Statements that do the work, each one a round trip that lasts until it is done. Here and in
    /// the query of the level, `{tables}` stands for the names of the workload's tables, and
    /// `{names}` for the same as string literals, separated by commas.
    pub statements: &'static [&'static str],
    /// The work is not done at all without these settings.
    pub needs_settings: bool,
    /// Remedy if the user may not execute the statements, as a sentence in which `{user}` stands
    /// for the user; empty if the database says it itself.
    pub if_denied: &'static str,
    /// Alternative queries for the names of tables that the statements skip silently because the
    /// user lacks the privilege; the first that the server accepts is used.
    pub passed_over: &'static [&'static str],
    /// A level that falls while the work is done; `None` if there is none.
    pub level: Option<SettlingLevel>,
    /// Possible reasons for a level that no longer falls, and their remedies: sentences.
    pub if_stays: &'static str,
    /// A test that nothing is left to do although the level is not 0; `None` if there is none.
    pub nothing_left: Option<NothingLeft>,
}

/// A server's report that nothing is left to do, whatever the level: the step is then done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NothingLeft {
    /// Query for a text, in the last column of its row.
    pub sql: &'static str,
    /// Two phrases in this text, each followed by a number: nothing is left if the first number is
    /// at most one above the second.
    pub numbers_behind: [&'static str; 2],
}

impl NothingLeft {
    /// Whether the text reports that nothing is left; false if a number is missing.
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

/// A counter of the database that is 0 when a step is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettlingLevel {
    /// Name for facts, in one word: `history_list`.
    pub name: &'static str,
    /// Query for the number.
    pub sql: &'static str,
    /// Column with the number, from 0; a negative number counts as 0.
    pub column: usize,
}

/// The steps and queries by which a database is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settling {
    /// Steps in the order of execution.
    pub steps: &'static [SettlingStep],
    /// Alternative queries for the total bytes that the server has written to its files since its
    /// start, in the last column; the first that the server accepts is used.
    pub written_bytes: &'static [&'static str],
    /// Query for the number of statements that have changed rows since the server's start, in the
    /// last column, if commits outside of transactions are not counted. Else empty.
    pub changes: &'static str,
    /// Settings that the product's makers advise for loads, as pairs of name and value: other
    /// values delay the measured work, or leave work for later.
    pub advised: &'static [(&'static str, &'static str)],
}

impl Settling {
    /// Nothing to do: the database has no background work.
    pub const NOTHING: Settling =
        Settling { steps: &[], written_bytes: &[], changes: "", advised: &[] };
}

/// Returns how to settle a database, from its facts. Fails with the reason if it cannot be settled.
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
