//! Data of workloads whose tables are empty at first. Not here: the rows that their clients insert.

use model::{Population, RowSource, Table};

use crate::storage_engine::StorageEngine;

/// Tables that the build creates without rows, for workloads whose clients insert all rows.
pub(crate) struct EmptyTables {
    pub(crate) all: Vec<Table>,
    pub(crate) engine: StorageEngine,
}

impl Population for EmptyTables {
    fn tables(&self) -> &[Table] {
        &self.all
    }

    fn n_chunks(&self, _table: usize) -> u64 {
        0
    }

    fn n_rows(&self, _table: usize) -> u64 {
        0
    }

    fn storage_engine(&self) -> Option<&'static str> {
        self.engine.asked()
    }

    fn rows(&self, table: usize, chunk: u64) -> Box<dyn RowSource + Send> {
        unreachable!("table {table} has no chunk {chunk}, nor any other")
    }
}
