//! Settling: making a server finish its background work, such as purge, write-back, vacuum or a
//! checkpoint, which otherwise continues after a load. Each driver provides the steps.
//!
//! Not here: when and how long to settle, and restoring settings (app).

use crate::{Fact, choice};

/// The times at which a run settles its database. To settle means to make the server finish its
/// background work, such as purge or a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Settle {
    /// Never settles the database.
    #[default]
    Off,
    /// Settles the database before each load: also after a build, and between the trials of an
    /// experiment.
    Before,
    /// Settles after the load and the consistency checks that follow it.
    After,
    /// Settles before the load and again after it.
    Both,
}

choice!(Settle { Off = "off", Before = "before", After = "after", Both = "both" });

impl Settle {
    /// Whether the database is settled before the load.
    pub fn is_before(self) -> bool {
        matches!(self, Settle::Before | Settle::Both)
    }

    /// Whether the database is settled after the load.
    pub fn is_after(self) -> bool {
        matches!(self, Settle::After | Settle::Both)
    }
}

/// A step of settling: one kind of background work that the server is made to finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettlingStep {
    /// Name of the step in one word, for example in facts: `purge`.
    pub name: &'static str,
    /// Description of the work for the progress line: `purging old row versions`.
    pub doing: &'static str,
    /// Server settings that speed up the work, in the order in which they are set; they are
    /// restored in reverse order. A setting that the server does not know is skipped.
    pub settings: &'static [(&'static str, &'static str)],
    /// Statements that do the work; each returns when its work is done. In them and in the query of
    /// `level`, `{tables}` stands for the names of the workload's tables, and `{names}` for the
    /// same names as string literals, both separated by commas.
    pub statements: &'static [&'static str],
    /// Whether the statements are executed again while the `level` does not fall: they do only the
    /// work that nothing holds at that moment.
    pub repeats: bool,
    /// Whether the server does this work only while the step's `settings` are set.
    pub needs_settings: bool,
    /// Advice if the user may not execute the statements, as a sentence in which `{user}` stands
    /// for the user's name; empty if the database's message suffices.
    pub if_denied: &'static str,
    /// Alternative queries for the names of tables that the statements silently skip because the
    /// user lacks a privilege. The first query that the server accepts is used.
    pub passed_over: &'static [&'static str],
    /// Number that falls to 0 as the work progresses; `None` if the server reports no such number.
    pub level: Option<SettlingLevel>,
    /// Sentences for the user if the step's `level` stops falling before it is 0: possible causes,
    /// and what to do.
    pub if_stays: &'static str,
    /// Test whether the work is done although the number in `level` is not 0; `None` if there is no
    /// such test.
    pub nothing_left: Option<NothingLeft>,
}

impl SettlingStep {
    /// A step without settings, statements, level and advice, from which other steps are made.
    pub const PLAIN: SettlingStep = SettlingStep {
        name: "",
        doing: "",
        settings: &[],
        statements: &[],
        repeats: false,
        needs_settings: false,
        if_denied: "",
        passed_over: &[],
        level: None,
        if_stays: "",
        nothing_left: None,
    };
}

/// Test whether no background work is left although the [`SettlingLevel`] is not 0, by a state that
/// the server reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NothingLeft {
    /// Query that returns a text with the server's state in the last column of its row.
    pub sql: &'static str,
    /// Two phrases in the text, each followed by a number. No work is left if the first number is
    /// at most one above the second.
    pub numbers_behind: [&'static str; 2],
}

impl NothingLeft {
    /// Whether this text reports that no work is left; false if a phrase or number is missing in
    /// it.
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

/// A number reported by the server that is 0 when a step of settling is done, such as the length of
/// InnoDB's history list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettlingLevel {
    /// Name of the level in facts, in one word: `history_list`.
    pub name: &'static str,
    /// Query that returns the level in one of its columns.
    pub sql: &'static str,
    /// Index of the column with the level, from 0; a negative level counts as 0.
    pub column: usize,
}

/// Steps with which a driver makes its database finish background work, and queries to observe the
/// progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settling {
    /// Kinds of background work to be finished, in the order of their execution.
    pub steps: &'static [SettlingStep],
    /// Alternative queries whose last column is the number of bytes that the server has written to
    /// its files since its start. The first query that the server accepts is used.
    pub written_bytes: &'static [&'static str],
    /// Query whose last column is the number of statements that have changed rows since the
    /// server's start, for servers whose count of commits excludes statements outside of explicit
    /// transactions. Empty for others.
    pub changes: &'static str,
    /// Settings that the makers of the product advise, as pairs of name and value. With other
    /// values, background work delays the measured transactions or is left for later.
    pub advised: &'static [(&'static str, &'static str)],
}

impl Settling {
    /// Settling without any step, for databases that have no background work.
    pub const NOTHING: Settling =
        Settling { steps: &[], written_bytes: &[], changes: "", advised: &[] };
}

/// Function that chooses, by the facts about a database, the steps that make it finish its
/// background work. Fails with the reason if this is not possible.
pub type SettlingOf = fn(&[Fact]) -> Result<Settling, String>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_where_the_purge_has_come_to_the_last_transaction() {
        let nothing_left = NothingLeft {
            sql: "",
            numbers_behind: ["Trx id counter", "Purge done for trx's n:o <"],
        };
        let check = |counter: &str, done: &str, expected: bool| {
            let text = format!(
                "---\nTrx id counter {counter}\nPurge done for trx's n:o < {done} undo n:o < 0 state: \
                 running but idle\nHistory list length 973\n"
            );
            assert_eq!(nothing_left.is_said(&text), expected, "{text}");
        };
        check("9185", "9184", true);
        check("41797", "41797", true);
        check("41797", "41700", false);
        check("x", "41700", false);
        assert!(!nothing_left.is_said("Trx id counter 7"));
    }
}
