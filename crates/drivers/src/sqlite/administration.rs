//! Building, settling and durability of SQLite databases. Not here: settings of a server, since
//! there is none.

use model::{Administration, CommitRisk, Explain, Fact, Settling, SettlingLevel, SettlingStep};

use crate::modes::{self, RiskyMode, has_mode};

pub(super) const ADMINISTRATION: Administration = Administration {
    is_in_process: true,
    indexes_after_load: true,
    // Without statistics the planner guesses how many rows a value of an index has.
    after_load: |table| vec![format!("ANALYZE {}", table.name)],
    // Each ANALYZE reads the statistics of all tables again.
    after_all: Some("ANALYZE"),
    // Each change of the schema reads all of it, which then should be in the cache.
    begin_many: &["PRAGMA cache_size = -262144"],
    list_tables: Some("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')"),
    tables_in_transactions: true,
    durability,
    settling,
    // Columns: id, parent, an unused one, and the text.
    explain: Some(Explain {
        begin: &["EXPLAIN QUERY PLAN "],
        shape: |row| row.text(3).unwrap_or_default().to_owned(),
    }),
    ..Administration::PLAIN
};

/// Settling step that writes the pages of the write-ahead log back to the database file. Other
/// journal modes have no such pages.
const CHECKPOINT: SettlingStep = SettlingStep {
    name: "checkpoint",
    doing: "checkpointing",
    statements: &["PRAGMA wal_checkpoint(TRUNCATE)"],
    // A row of: busy, pages of the log, pages written back.
    level: Some(SettlingLevel { name: "log_pages", sql: "PRAGMA wal_checkpoint(NOOP)", column: 1 }),
    if_stays: "Another connection reads or writes this database: end it.",
    ..SettlingStep::PLAIN
};
const OPTIMIZE: SettlingStep = SettlingStep {
    name: "optimize",
    doing: "analysing",
    statements: &["PRAGMA optimize"],
    ..SettlingStep::PLAIN
};

fn settling(facts: &[Fact]) -> Result<Settling, String> {
    let has_log = has_mode(facts, "journal_mode", "wal");
    let steps: &[SettlingStep] = if has_log { &[OPTIMIZE, CHECKPOINT] } else { &[OPTIMIZE] };
    Ok(Settling { steps, ..Settling::NOTHING })
}

/// Risky settings of SQLite, with which an acknowledged commit may be lost: name, value and the
/// failure that loses it. Only the first one in force is reported.
const RISKY: &[RiskyMode] = &[
    ("synchronous", "off", "a loss of power may lose commits and damage the file"),
    ("journal_mode", "off", "a crash damages the file"),
    ("journal_mode", "memory", "a crash damages the file"),
];

fn durability(facts: &[Fact]) -> Vec<Fact> {
    // A database in memory has no file, and is not expected to last.
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
