//! `oltp-bulk-insert`: each client inserts many small rows per statement into its own table.
//!
//! The tables are as narrow as sysbench's (`id`, `k`), so the data differ from those of the other
//! oltp workloads, although the tables have the same names. Not here: code shared by all `oltp`
//! workloads.

use std::fmt::Write as _;
use std::sync::Arc;

use model::{
    BadParameter, Check, Client, Column, ColumnType, Conversation, CustomMetric, CustomMetricKind,
    DbError, DbErrorKind, Dialect, Direction, Done, Identity, Kind, KindIndex, Number, Parameter,
    ParameterKind, Places, Population, Request, Session, Statement, StatementId, StatementKind,
    Table, TxContext, Workload, query, query_number,
};

use super::TRANSACTION;
use super::parameters::TABLES_MAX;
use crate::empty_tables::EmptyTables;
use crate::storage_engine::{self, StorageEngine};
use crate::{Entry, Make};

pub(crate) static ENTRY: Entry = Entry {
    name: NAME,
    data: NAME,
    summary: "sysbench's bulk_insert: many rows per statement, each client into its own table",
    parameters: PARAMETERS,
    roles: &[],
    make,
    source: None,
};

const NAME: &str = "oltp-bulk-insert";

static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "tables",
        kind: ParameterKind::Count { min: 1, max: TABLES_MAX },
        default: "16",
        help: "Tables: sbtest1, sbtest2, ...; as many as clients, or more",
        shapes_data: true,
    },
    storage_engine::PARAMETER,
    Parameter {
        name: "bulk_rows",
        kind: ParameterKind::Count { min: 1, max: 1_000_000 },
        default: "10000",
        help: "Rows per statement",
        shapes_data: false,
    },
];

/// Index of the custom metric `rows`, which counts inserted rows, in [`CUSTOM_METRICS`].
const ROWS: u16 = 0;

static CUSTOM_METRICS: [CustomMetric; 1] = [CustomMetric {
    name: "rows",
    unit: "rows",
    kind: CustomMetricKind::Counter,
    better: Direction::Higher,
}];

struct BulkInsert {
    identity: Identity,
    tables: EmptyTables,
    bulk_rows: i64,
    kinds: [Kind; 1],
}

fn make(make: &Make<'_>) -> Result<Arc<dyn Workload>, BadParameter> {
    let n_tables = make.settings.count("tables");
    let seed = make.data.map_or(make.seed, |data| data.seed);
    let engine: StorageEngine = make.settings.chosen(storage_engine::NAME);
    let scale = [("tables", n_tables.to_string()), engine.scale()];
    let identity = Identity::new(NAME, 1, scale, seed);
    Ok(Arc::new(BulkInsert {
        identity,
        tables: EmptyTables { all: (1..=n_tables).map(table).collect(), engine },
        bulk_rows: make.settings.count("bulk_rows") as i64,
        kinds: [TRANSACTION],
    }))
}

fn table(number: u64) -> Table {
    let column = |name| Column { name, of: ColumnType::Int, nullable: false };
    Table {
        name: format!("sbtest{number}").into(),
        columns: vec![column("id"), column("k")],
        primary_key: vec!["id"],
        indexes: Vec::new(),
    }
}

impl Workload for BulkInsert {
    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    fn custom_metrics(&self) -> &[CustomMetric] {
        &CUSTOM_METRICS
    }

    fn notes(&self) -> Vec<String> {
        vec![format!(
            "Each client inserts {} rows per statement into its own table, as sysbench's \
             bulk_insert; a transaction is one statement.",
            self.bulk_rows
        )]
    }

    fn statements(&self, dialect: &Dialect) -> Vec<Statement> {
        let statement = |table: &Table| {
            let sql = dialect.sql(&format!("SELECT MAX(id) FROM {}", table.name));
            Statement::new("last id", StatementKind::Read, sql)
        };
        self.tables.all.iter().map(statement).collect()
    }

    fn places(&self) -> Places {
        Places::ALL
    }

    fn kind_of(&self, _number: Number) -> KindIndex {
        0
    }

    fn client(&self, client: u32) -> Box<dyn Client> {
        Box::new(User {
            client,
            n_tables: self.tables.all.len(),
            bulk_rows: self.bulk_rows,
            last: None,
            sql: String::new(),
            first: None,
        })
    }

    fn population(&self) -> Option<&dyn Population> {
        Some(&self.tables)
    }

    /// Checks that the ids of each table count up from 1 without a gap. A rejected INSERT leaves no
    /// gap, because the client assigns the ids.
    fn checks(&self, _dialect: &Dialect) -> Vec<Check> {
        let check = |table: &Table| Check {
            id: "rows",
            title: format!("the ids of {} count up from 1 without a gap", table.name).into(),
            sql: format!(
                "SELECT COUNT(*) AS n_rows, MAX(id) AS last_id FROM {} \
                 HAVING COUNT(*) <> COALESCE(MAX(id), 0)",
                table.name
            ),
        };
        self.tables.all.iter().map(check).collect()
    }
}

struct User {
    client: u32,
    n_tables: usize,
    bulk_rows: i64,
    /// Last id in the client's table; `None` if it must be queried from the database.
    last: Option<i64>,
    /// SQL text of the INSERT statement for the current transaction.
    sql: String,
    /// First id in the INSERT of `sql`; `None` before the first statement is written.
    first: Option<i64>,
}

impl User {
    async fn insert(&mut self, session: &mut dyn Session) -> Result<(), DbError> {
        let number = self.client as usize + 1;
        if number > self.n_tables {
            let message = format!(
                "client {number} has no table: build with --tables {number} or more, or use fewer \
                 clients"
            );
            return Err(DbError::new(DbErrorKind::Missing, message));
        }
        let last = match self.last.take() {
            Some(last) => last,
            None => {
                let statement = StatementId(self.client);
                query_number(session, statement, &[]).await?.unwrap_or(0)
            }
        };
        self.write_rows(last);
        let request = Request::Text { kind: StatementKind::Write, sql: &self.sql };
        query(session, request, &mut |_| Ok(())).await?;
        self.last = Some(last + self.bulk_rows);
        Ok(())
    }

    /// Writes the INSERT for the rows that follow the id `last` into `sql`, unless `sql` already
    /// contains it.
    fn write_rows(&mut self, last: i64) {
        if self.first == Some(last + 1) {
            return;
        }
        self.first = Some(last + 1);
        self.sql.clear();
        let number = self.client + 1;
        write!(self.sql, "INSERT INTO sbtest{number} (id, k) VALUES").expect(NEVER_FULL);
        for id in last + 1..=last + self.bulk_rows {
            let comma = if id > last + 1 { "," } else { "" };
            write!(self.sql, "{comma}({id},{id})").expect(NEVER_FULL);
        }
    }
}

const NEVER_FULL: &str = "a string takes everything";

impl Client for User {
    /// Writes the INSERT of the transaction before it is due, so that the time for this is not
    /// measured. If the last id is not known yet, `converse` does so.
    fn inputs(&mut self, _number: Number) -> KindIndex {
        if let Some(last) = self.last {
            self.write_rows(last);
        }
        0
    }

    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a> {
        Box::pin(async move {
            let n_rows = self.bulk_rows as u64;
            self.insert(context.session()).await?;
            context.measured.push((ROWS, n_rows));
            Ok(Done::Committed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_written_before_it_is_timed_once_the_last_id_is_known() {
        let (sql, first) = Default::default();
        let mut user = User { client: 1, n_tables: 2, bulk_rows: 2, last: None, sql, first };
        user.inputs(Number::OfClient { client: 1, nth: 0 });
        assert_eq!(user.sql, "", "the database must be asked");
        user.last = Some(4);
        for _attempt in 0..2 {
            user.inputs(Number::OfClient { client: 1, nth: 1 });
            assert_eq!(user.sql, "INSERT INTO sbtest2 (id, k) VALUES(5,5),(6,6)");
        }
        user.last = Some(6);
        user.inputs(Number::OfClient { client: 1, nth: 2 });
        assert_eq!(user.sql, "INSERT INTO sbtest2 (id, k) VALUES(7,7),(8,8)");
    }
}
