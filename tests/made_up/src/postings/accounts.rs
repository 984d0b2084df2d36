//! The tables of the ledger: accounts, and postings, which are empty at first.

use model::{Column, ColumnType, Population, RowSource, Table, Value};

const CHUNK_ROWS: i64 = 10_000;

/// Rows of the two tables of the ledger before the load.
pub(super) struct Accounts {
    /// Number of accounts in the ledger.
    pub(super) n: i64,
    tables: [Table; 2],
}

impl Accounts {
    pub(super) fn new(n: i64) -> Accounts {
        let table = |name: &'static str, columns: [&'static str; 2], primary_key| Table {
            name: name.into(),
            columns: columns
                .map(|name| Column { name, of: ColumnType::BigInt, nullable: false })
                .to_vec(),
            primary_key,
            indexes: Vec::new(),
        };
        let accounts = table("account", ["id", "balance"], vec!["id"]);
        Accounts { n, tables: [accounts, table("posting", ["account", "amount"], Vec::new())] }
    }
}

impl Population for Accounts {
    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn n_chunks(&self, table: usize) -> u64 {
        self.n_rows(table).div_ceil(CHUNK_ROWS as u64)
    }

    fn n_rows(&self, table: usize) -> u64 {
        if table == 0 { self.n as u64 } else { 0 }
    }

    fn rows(&self, _table: usize, chunk: u64) -> Box<dyn RowSource + Send> {
        let n_before = chunk as i64 * CHUNK_ROWS;
        Box::new(Chunk { next: n_before + 1, last: (n_before + CHUNK_ROWS).min(self.n) })
    }
}

/// Source of the account rows of one chunk, each with a balance of 0.
struct Chunk {
    next: i64,
    last: i64,
}

impl RowSource for Chunk {
    fn next(&mut self, emit: &mut dyn FnMut(&[Value<'_>])) -> bool {
        if self.next > self.last {
            return false;
        }
        emit(&[Value::Int(self.next), Value::Int(0)]);
        self.next += 1;
        true
    }
}
