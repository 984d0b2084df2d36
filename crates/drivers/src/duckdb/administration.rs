//! Building, settling and durability of DuckDB databases. Not here: settings of a server, since
//! there is none.

use model::{Administration, CommitRisk, Fact, Settling, SettlingStep, Table};

use super::plan;
use super::sql::DIALECT;
use crate::modes::{has_mode, mode};

pub(super) const ADMINISTRATION: Administration = Administration {
    is_in_process: true,
    parallel_load: true,
    indexes_after_load: true,
    list_tables: Some(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()",
    ),
    tables_in_transactions: true,
    after_load,
    durability,
    settling,
    explain: Some(plan::CHOSEN),
    explain_executed: Some(plan::EXECUTED),
    ..Administration::PLAIN
};

/// Returns the statements to be executed after a table was loaded: one for each auto-increment
/// column, which takes as many numbers from its sequence as were loaded, since a sequence cannot be
/// set.
fn after_load(table: &Table) -> Vec<String> {
    let moved = table.columns.iter().filter_map(|column| {
        let (sequence, name) = (DIALECT.sequence(table, column)?, &table.name);
        let column = column.name;
        Some(format!(
            "SELECT MAX(nextval('{sequence}')) \
             FROM range((SELECT CAST(COALESCE(MAX({column}), 0) AS BIGINT) FROM {name}))"
        ))
    });
    moved.collect()
}

/// Settling step that writes the changes of the log to the database file.
const CHECKPOINT: SettlingStep = SettlingStep {
    name: "checkpoint",
    doing: "checkpointing",
    statements: &["CHECKPOINT"],
    ..SettlingStep::PLAIN
};

fn settling(facts: &[Fact]) -> Result<Settling, String> {
    let is_kept = !has_mode(facts, "path", ":memory:") && !has_mode(facts, "mode", "ro");
    let steps: &[SettlingStep] = if is_kept { &[CHECKPOINT] } else { &[] };
    Ok(Settling { steps, ..Settling::NOTHING })
}

/// Returns the facts on lost commits: none is lost, since DuckDB syncs its log at each commit and
/// has no setting against it.
fn durability(facts: &[Fact]) -> Vec<Fact> {
    match mode(facts, "path") {
        // A database in memory is not expected to last.
        None => Vec::new(),
        Some(path) if path == ":memory:" => Vec::new(),
        Some(_) => CommitRisk::facts(None),
    }
}
