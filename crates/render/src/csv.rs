//! Tables of a document as CSV (RFC 4180): bare numbers with all digits, units in the names of
//! columns.
//!
//! Not here: columns and tables that only people read, sentences and charts.

use crate::csv_rows::of_rows;
use crate::document::Document;
use crate::table::Table;

/// Returns all tables of a document as CSV, each below the names of its columns. Tables with the
/// same columns are joined; an empty line separates the others.
pub fn csv(document: &Document) -> String {
    let mut found: Vec<(Vec<String>, Vec<Vec<String>>)> = Vec::new();
    for table in document.tables() {
        let names = table.keys();
        if names.is_empty() {
            continue;
        }
        let rows = table.exact_rows();
        match found.iter_mut().find(|(known, _)| *known == names) {
            Some((_, known)) => known.extend(rows),
            None => found.push((names, rows)),
        }
    }
    let tables: Vec<String> =
        found.into_iter().map(|(names, rows)| of_rows(names, rows.into_iter())).collect();
    tables.join("\n")
}

/// Returns one table as CSV, with the names of its columns as first line.
pub fn of_table(table: &Table) -> String {
    of_rows(table.keys(), table.exact_rows().into_iter())
}
