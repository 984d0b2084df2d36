//! How a database of SQLite is built in, and what its modes promise. It has no server and so no
//! settings of one.

use model::{Administration, CommitRisk, Fact};

use crate::modes::{self, RiskyMode, has_mode};

pub(super) const ADMINISTRATION: Administration = Administration {
    is_in_process: true,
    indexes_after_load: true,
    tables_in_transactions: true,
    durability,
    ..Administration::PLAIN
};

/// Modes in which a commit that was acknowledged may be lost, and how.
const RISKY: &[RiskyMode] = &[
    ("synchronous", "off", "a loss of power may lose commits and damage the file"),
    ("journal_mode", "off", "a crash damages the file"),
    ("journal_mode", "memory", "a crash damages the file"),
];

fn durability(facts: &[Fact]) -> Vec<Fact> {
    // What lives in memory has no file to damage, and nobody expects it to last.
    if has_mode(facts, "path", ":memory:") {
        return Vec::new();
    }
    // https://www.sqlite.org/pragma.html#pragma_synchronous: WAL mode loses durability with it.
    if has_mode(facts, "journal_mode", "wal") && has_mode(facts, "synchronous", "normal") {
        return CommitRisk::facts(Some(CommitRisk {
            mode: "journal_mode=wal with synchronous=normal".to_owned(),
            loss: "a loss of power may lose the last commits".to_owned(),
        }));
    }
    modes::durability(facts, RISKY)
}
