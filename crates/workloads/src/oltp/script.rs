//! The statements of a workload's transaction, in order, with their SQL.
//!
//! The same list of steps determines which statements are declared and which values clients draw. A
//! step is a type of query, repeated on one table. Not here: the values.

use model::{Dialect, Serial, Statement, StatementKind};

use super::parameters::Data;

/// Statement with which a transaction begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    /// A plain BEGIN, even if the transaction only reads, as in sysbench.
    Plain,
    /// A BEGIN that tells the database that the transaction may write.
    Write,
}

/// Type of query in a transaction, named as in sysbench.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stmt {
    /// Selects `c` of the row with a given id.
    Point,
    /// Selects `c` of the rows in a range of ids.
    SimpleRange,
    /// Sums up `k` over the rows in a range of ids.
    SumRange,
    /// Selects `c` of the rows in a range of ids, ordered by `c`.
    OrderRange,
    /// Selects the distinct values of `c` in a range of ids, ordered.
    DistinctRange,
    /// Adds one to `k` of the row with a given id. `k` is indexed.
    UpdateIndex,
    /// Sets `c` of the row with a given id. `c` is not indexed.
    UpdateNonIndex,
    /// Deletes the row with a given id.
    Delete,
    /// Deletes a row and inserts it again.
    DeleteInsert,
    /// Adds one to `k` of a row, deletes the row and inserts it again. The update locks the row, so
    /// that no other client inserts it in between.
    UpdateDeleteInsert,
    /// Inserts a row with a new id.
    Insert,
    /// Selects the rows whose `k` has one of many values.
    RandomPoints {
        /// Number of values of `k` in the query.
        n: usize,
    },
    /// Counts the rows whose `k` is in one of many ranges.
    RandomRanges {
        /// Number of ranges of `k` in the query.
        n: usize,
        /// Length of a range: its last value minus its first.
        delta: i64,
    },
}

/// A type of query that a transaction executes `times` times on one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) stmt: Stmt,
    pub(super) times: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Script {
    /// Statement that begins the transaction; `None` if each statement is a transaction of its own.
    pub(super) begin: Option<Begin>,
    /// Queries of the transaction, in order. Each has at least one repetition.
    pub(super) steps: Vec<Step>,
}

impl Script {
    /// Creates the script of a transaction from types of queries and their repetitions. Those with
    /// zero repetitions are left out.
    pub(super) fn new(begin: Option<Begin>, steps: &[(Stmt, u64)]) -> Script {
        let steps = steps.iter().filter(|(_, times)| *times > 0);
        Script { begin, steps: steps.map(|&(stmt, times)| Step { stmt, times }).collect() }
    }

    /// Whether the transaction contains a query of this type.
    pub(super) fn asks(&self, stmt: Stmt) -> bool {
        self.steps.iter().any(|step| step.stmt == stmt)
    }

    /// Whether rows of the build may be missing after the load: if the workload deletes rows, or if
    /// the load is interrupted between DELETE and INSERT that are not in one transaction.
    /// `has_transactions` is false if the storage engine cannot roll back.
    pub(super) fn loses_rows(&self, has_transactions: bool) -> bool {
        let replaces = self.asks(Stmt::DeleteInsert) || self.asks(Stmt::UpdateDeleteInsert);
        self.asks(Stmt::Delete) || replaces && !(has_transactions && self.begin.is_some())
    }

    /// Returns the statements for all tables, ordered by step, then by statement within the step,
    /// then by table.
    pub(super) fn statements(&self, data: &Data, dialect: &Dialect) -> Vec<Statement> {
        let mut statements = Vec::new();
        for step in &self.steps {
            for nth in 0..step.stmt.n_statements() {
                for number in 1..=data.tables {
                    let words = Words { table: format!("sbtest{number}"), data, dialect };
                    let (name, kind, sql) = words.statement(step.stmt, nth);
                    statements.push(Statement::new(name, kind, dialect.sql(&sql)));
                }
            }
        }
        statements
    }
}

impl Stmt {
    /// Returns the number of statements that a query of this type needs for each table.
    pub(super) fn n_statements(self) -> usize {
        match self {
            Stmt::UpdateDeleteInsert => 3,
            Stmt::DeleteInsert | Stmt::Insert => 2,
            _ => 1,
        }
    }
}

/// Number of the table, and the dialect, for which the SQL of statements is written.
struct Words<'a> {
    table: String,
    data: &'a Data,
    dialect: &'a Dialect,
}

impl Words<'_> {
    /// Returns name, kind and SQL of the statement with the index `nth` (from 0) of a query type.
    fn statement(&self, stmt: Stmt, nth: usize) -> (&'static str, StatementKind, String) {
        use StatementKind::{Read, Write};
        let table = &self.table;
        let range = "WHERE id BETWEEN ? AND ?";
        match stmt {
            Stmt::Point => ("point select", Read, format!("SELECT c FROM {table} WHERE id=?")),
            Stmt::SimpleRange => ("simple range", Read, format!("SELECT c FROM {table} {range}")),
            Stmt::SumRange => {
                ("sum of a range", Read, format!("SELECT SUM(k) FROM {table} {range}"))
            }
            Stmt::OrderRange => {
                ("ordered range", Read, format!("SELECT c FROM {table} {range} ORDER BY c"))
            }
            Stmt::DistinctRange => {
                let sql = format!("SELECT DISTINCT c FROM {table} {range} ORDER BY c");
                ("distinct range", Read, sql)
            }
            Stmt::UpdateDeleteInsert if nth > 0 => self.statement(Stmt::DeleteInsert, nth - 1),
            Stmt::UpdateIndex | Stmt::UpdateDeleteInsert => {
                ("update of k", Write, format!("UPDATE {table} SET k=k+1 WHERE id=?"))
            }
            Stmt::UpdateNonIndex => {
                ("update of c", Write, format!("UPDATE {table} SET c=? WHERE id=?"))
            }
            Stmt::DeleteInsert if nth == 1 => {
                ("insert of the deleted", Write, self.insert_with_id())
            }
            Stmt::Delete | Stmt::DeleteInsert => {
                ("delete", Write, format!("DELETE FROM {table} WHERE id=?"))
            }
            Stmt::Insert if nth == 1 => {
                let sql = format!("SELECT MAX(id) FROM {table} WHERE id BETWEEN ? AND ?");
                ("last id of a client", Read, sql)
            }
            Stmt::Insert => ("insert", Write, self.insert()),
            Stmt::RandomPoints { n } => {
                let marks = vec!["?"; n].join(", ");
                let sql = format!("SELECT id, k, c, pad FROM {table} WHERE k IN ({marks})");
                ("random points", Read, sql)
            }
            Stmt::RandomRanges { n, .. } => {
                let ranges = vec!["k BETWEEN ? AND ?"; n].join(" OR ");
                ("random ranges", Read, format!("SELECT count(k) FROM {table} WHERE {ranges}"))
            }
        }
    }

    fn insert_with_id(&self) -> String {
        format!("INSERT INTO {} (id, k, c, pad) VALUES (?, ?, ?, ?)", self.table)
    }

    /// Returns the INSERT of a new row, without an id if the database assigns it.
    fn insert(&self) -> String {
        let table = &self.table;
        if !self.data.auto_inc {
            return self.insert_with_id();
        }
        if self.dialect.serial == Serial::SoleKey && self.data.secondary {
            // Only the index matters here; such a database has one writer at a time.
            return format!(
                "INSERT INTO {table} (id, k, c, pad) \
                 SELECT COALESCE(MAX(id), 0) + 1, ?, ?, ? FROM {table}"
            );
        }
        format!("INSERT INTO {table} (k, c, pad) VALUES (?, ?, ?)")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use model::Settings;

    use super::super::{
        complex, delete, insert, random_points, random_ranges, read_only, read_write,
    };
    use crate::{Entry, Make};

    /// Returns the names of the statements of an `oltp` workload with two tables, for tests.
    fn declared(entry: &Entry, written: &[(&str, &str)]) -> Vec<String> {
        let written = [&[("tables", "2")], written].concat();
        let settings = Settings::decide("oltp", entry.parameters, written).expect("valid");
        let make = Make { settings: &settings, seed: 1, data: None, source: None };
        let workload = (entry.make)(&make).expect("valid");
        let dialect = crate::for_tests::DIALECT;
        workload.statements(&dialect).into_iter().map(|statement| statement.sql).collect()
    }

    #[test]
    fn statements_are_those_of_sysbench_for_each_table() {
        let sql = declared(&read_write::ENTRY, &[]);
        assert_eq!(sql.len(), 2 * 9);
        let first: BTreeSet<&str> =
            sql.iter().filter(|sql| sql.contains("sbtest1")).map(String::as_str).collect();
        let expect = [
            "DELETE FROM sbtest1 WHERE id=$1",
            "INSERT INTO sbtest1 (id, k, c, pad) VALUES ($1, $2, $3, $4)",
            "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN $1 AND $2 ORDER BY c",
            "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN $1 AND $2",
            "SELECT c FROM sbtest1 WHERE id BETWEEN $1 AND $2",
            "SELECT c FROM sbtest1 WHERE id BETWEEN $1 AND $2 ORDER BY c",
            "SELECT c FROM sbtest1 WHERE id=$1",
            "UPDATE sbtest1 SET c=$1 WHERE id=$2",
            "UPDATE sbtest1 SET k=k+1 WHERE id=$1",
        ];
        assert_eq!(first, BTreeSet::from(expect));
        // The script of 0.4 has the same statements, one of them twice.
        let sql = declared(&complex::ENTRY, &[]);
        assert_eq!(sql.len(), 2 * 10);
        let of_first = sql.iter().filter(|sql| sql.contains("sbtest1")).map(String::as_str);
        assert_eq!(of_first.clone().collect::<BTreeSet<&str>>(), BTreeSet::from(expect));
        assert_eq!(of_first.filter(|sql| sql.contains("k=k+1")).count(), 2);
    }

    #[test]
    fn what_is_not_asked_is_not_declared() {
        let check = |entry, written: &[(&str, &str)], expect: &[&str]| {
            let sql = declared(entry, written);
            let first: Vec<&String> = sql.iter().filter(|sql| sql.contains("sbtest2")).collect();
            assert_eq!(first, expect);
        };
        let point = "SELECT c FROM sbtest2 WHERE id=$1";
        check(&read_only::ENTRY, &[("range_selects", "false")], &[point]);
        check(&delete::ENTRY, &[], &["DELETE FROM sbtest2 WHERE id=$1"]);
        let last = "SELECT MAX(id) FROM sbtest2 WHERE id BETWEEN $1 AND $2";
        let insert_new = "INSERT INTO sbtest2 (k, c, pad) VALUES ($1, $2, $3)";
        check(&insert::ENTRY, &[], &[insert_new, last]);
        let own = "INSERT INTO sbtest2 (id, k, c, pad) VALUES ($1, $2, $3, $4)";
        check(&insert::ENTRY, &[("auto_inc", "false")], &[own, last]);
        let points = "SELECT id, k, c, pad FROM sbtest2 WHERE k IN ($1, $2)";
        check(&random_points::ENTRY, &[("random_points", "2")], &[points]);
        let ranges =
            "SELECT count(k) FROM sbtest2 WHERE k BETWEEN $1 AND $2 OR k BETWEEN $3 AND $4";
        check(&random_ranges::ENTRY, &[("number_of_ranges", "2")], &[ranges]);
    }
}
