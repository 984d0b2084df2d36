//! Data of workloads that begin with nothing. Not here: what their clients put there.

use model::{Population, RowSource, Table};

/// Tables that are built without rows.
pub(crate) struct EmptyTables(pub(crate) Vec<Table>);

impl Population for EmptyTables {
    fn tables(&self) -> &[Table] {
        &self.0
    }

    fn n_chunks(&self, _table: usize) -> u64 {
        0
    }

    fn n_rows(&self, _table: usize) -> u64 {
        0
    }

    fn rows(&self, table: usize, chunk: u64) -> Box<dyn RowSource + Send> {
        unreachable!("table {table} has no chunk {chunk}, nor any other")
    }
}
