//! The four tables of `tpcb` and their rows, as pgbench builds them. No row is random.
//!
//! Not here: how rows reach a database (drivers), and which chunks are built (app).

use model::{Column, ColumnType, Population, RowSource, Table, Value};

use super::{ACCOUNTS, TELLERS};
use crate::storage_engine::StorageEngine;

use ColumnType::{BigInt, Char, Int, Timestamp};

/// Number of accounts that the build inserts as one chunk: as many as one branch has.
const CHUNK_ROWS: i64 = ACCOUNTS;
/// Smallest number of branches (scale) at which account numbers need 64 bits, as in pgbench.
const SCALE_OF_BIG_ACCOUNTS: i64 = 20_000;
/// Text of the column `filler` of an account. pgbench leaves it to the server's padding; here it is
/// written, so that a row has the same size on every database.
const FILLER: &str =
    "                                                                                    ";

/// Index of the table of branches, which is built first.
const BRANCHES_TABLE: usize = 0;
const TELLERS_TABLE: usize = 1;
const ACCOUNTS_TABLE: usize = 2;
const HISTORY_TABLE: usize = 3;

pub(super) struct Rows {
    /// Number of branches, which pgbench calls scale.
    pub(super) scale: i64,
    pub(super) engine: StorageEngine,
    /// Seed that is stored with the data. No row depends on it.
    pub(super) seed: u64,
    tables: Vec<Table>,
}

impl Rows {
    pub(super) fn new(scale: i64, engine: StorageEngine, seed: u64) -> Rows {
        let account = if scale >= SCALE_OF_BIG_ACCOUNTS { BigInt } else { Int };
        let branches = [("bid", Int), ("bbalance", Int), ("filler", Char(88))];
        let tellers = [("tid", Int), ("bid", Int), ("tbalance", Int), ("filler", Char(84))];
        let accounts = [("aid", account), ("bid", Int), ("abalance", Int), ("filler", Char(84))];
        let history = [
            ("tid", Int),
            ("bid", Int),
            ("aid", account),
            ("delta", Int),
            ("mtime", Timestamp),
            ("filler", Char(22)),
        ];
        let tables = vec![
            table("pgbench_branches", &branches, Some("bid")),
            table("pgbench_tellers", &tellers, Some("tid")),
            table("pgbench_accounts", &accounts, Some("aid")),
            table("pgbench_history", &history, None),
        ];
        Rows { scale, engine, seed, tables }
    }
}

/// Declares a table of `tpcb`. As in pgbench, all columns except the key may be null.
fn table(
    name: &'static str,
    columns: &[(&'static str, ColumnType)],
    key: Option<&'static str>,
) -> Table {
    let column = |(name, column_type): &(&'static str, ColumnType)| Column {
        name,
        of: *column_type,
        nullable: Some(*name) != key,
    };
    Table {
        name: name.into(),
        columns: columns.iter().map(column).collect(),
        primary_key: key.into_iter().collect(),
        indexes: Vec::new(),
    }
}

impl Population for Rows {
    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn n_chunks(&self, table: usize) -> u64 {
        self.n_rows(table).div_ceil(CHUNK_ROWS as u64)
    }

    fn n_rows(&self, table: usize) -> u64 {
        let n_rows = match table {
            BRANCHES_TABLE => self.scale,
            TELLERS_TABLE => self.scale * TELLERS,
            ACCOUNTS_TABLE => self.scale * ACCOUNTS,
            HISTORY_TABLE => 0,
            _ => unreachable!("there are four tables"),
        };
        n_rows as u64
    }

    fn storage_engine(&self) -> Option<&'static str> {
        self.engine.asked()
    }

    fn rows(&self, table: usize, chunk: u64) -> Box<dyn RowSource + Send> {
        assert!(chunk < self.n_chunks(table), "table {table} has no chunk {chunk}");
        let n_before = chunk as i64 * CHUNK_ROWS;
        let last = (n_before + CHUNK_ROWS).min(self.n_rows(table) as i64);
        Box::new(Chunk { table, next: n_before + 1, last })
    }
}

/// Iterator over the rows of a chunk, a part of a table that the build inserts at once.
struct Chunk {
    table: usize,
    next: i64,
    last: i64,
}

impl RowSource for Chunk {
    fn next(&mut self, emit: &mut dyn FnMut(&[Value<'_>])) -> bool {
        if self.next > self.last {
            return false;
        }
        let key = Value::Int(self.next);
        let branch_of = |n: i64| Value::Int((self.next - 1) / n + 1);
        match self.table {
            BRANCHES_TABLE => emit(&[key, Value::Int(0), Value::Null]),
            TELLERS_TABLE => emit(&[key, branch_of(TELLERS), Value::Int(0), Value::Null]),
            _ => emit(&[key, branch_of(ACCOUNTS), Value::Int(0), Value::Text(FILLER)]),
        }
        self.next += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: &Value<'_>) -> i64 {
        match value {
            Value::Int(value) => *value,
            other => panic!("{other:?} is no number"),
        }
    }

    #[test]
    fn every_teller_and_account_belongs_to_its_branch() {
        let rows = Rows::new(3, StorageEngine::Default, 1);
        for (table, each) in [(TELLERS_TABLE, TELLERS), (ACCOUNTS_TABLE, ACCOUNTS)] {
            let mut counts = [0; 3];
            let mut expect = 1;
            for chunk in 0..rows.n_chunks(table) {
                let mut source = rows.rows(table, chunk);
                while source.next(&mut |row| {
                    assert_eq!((int(&row[0]), int(&row[2])), (expect, 0));
                    counts[int(&row[1]) as usize - 1] += 1;
                    expect += 1;
                }) {}
            }
            assert_eq!(counts, [each; 3]);
            assert_eq!(expect as u64 - 1, rows.n_rows(table));
        }
        assert_eq!((rows.n_rows(BRANCHES_TABLE), rows.n_chunks(HISTORY_TABLE)), (3, 0));
        assert_eq!(FILLER.len(), 84);
    }

    #[test]
    fn many_accounts_have_big_numbers() {
        let id_type = |scale| {
            Rows::new(scale, StorageEngine::Default, 1).tables[ACCOUNTS_TABLE].columns[0].of
        };
        assert_eq!((id_type(19_999), id_type(20_000)), (Int, BigInt));
    }
}
