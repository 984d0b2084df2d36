//! The tables of a document as CSV (RFC 4180): bare numbers with all their digits, units in the
//! names of columns.
//!
//! Not here: what has no name for programs; sentences, charts and tables for people alone.

use crate::csv_rows::of_rows;
use crate::document::Document;
use crate::table::Table;

/// Writes a document's tables below the names of their columns. Tables with the same columns are
/// joined, such as those of points; others follow after an empty line.
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

/// Writes one table as CSV.
pub fn of_table(table: &Table) -> String {
    of_rows(table.keys(), table.exact_rows().into_iter())
}
