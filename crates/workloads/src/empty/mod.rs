//! `empty`: `SELECT ?`, which measures the cost of the generator itself.
//!
//! A transaction does as little as the interface of workloads allows. Not here: tables, database
//! transactions and random numbers.

use std::sync::Arc;

use model::{
    BadParameter, Client, Conversation, Dialect, Done, Identity, Kind, KindIndex, Number,
    Parameter, ParameterKind, Places, Statement, StatementId, StatementKind, TxContext, Value,
    Workload, execute,
};

use crate::{Entry, Make};

pub(crate) static ENTRY: Entry = Entry {
    name: "empty",
    data: "empty",
    summary: "A statement without a table: measures the overhead of client and connection",
    parameters: PARAMETERS,
    roles: &[],
    make,
    source: None,
};

static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "statements",
        kind: ParameterKind::Count { min: 0, max: 1000 },
        default: "1",
        help: "Statements per transaction",
        shapes_data: false,
    },
    Parameter {
        name: "keying",
        kind: ParameterKind::Durations(1),
        default: "0s",
        help: "Keying time before a transaction, with --load keythink",
        shapes_data: false,
    },
    Parameter {
        name: "thinking",
        kind: ParameterKind::Durations(1),
        default: "0s",
        help: "Mean thinking time after a transaction, with --load keythink",
        shapes_data: false,
    },
];

const ASK: StatementId = StatementId(0);

struct Empty {
    n_statements: u64,
    kinds: [Kind; 1],
}

fn make(make: &Make<'_>) -> Result<Arc<dyn Workload>, BadParameter> {
    let kind = Kind {
        name: "empty",
        weight: 1,
        keying_ns: make.settings.durations_ns("keying")[0],
        thinking_ns: make.settings.durations_ns("thinking")[0],
    };
    let n_statements = make.settings.count("statements");
    Ok(Arc::new(Empty { n_statements, kinds: [kind] }))
}

impl Workload for Empty {
    fn identity(&self) -> Identity {
        Identity { workload: ENTRY.name.to_owned(), version: 1, ..Identity::default() }
    }

    fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    fn notes(&self) -> Vec<String> {
        vec![
            "The workload reads no table and begins no transaction: it measures the overhead of \
             client, connection and statement execution, not the work of a database."
                .to_owned(),
        ]
    }

    /// Returns the only statement, which selects its parameter. The parameter is cast to a number,
    /// because servers that infer its type would otherwise take it for text.
    fn statements(&self, dialect: &Dialect) -> Vec<Statement> {
        let sql = match dialect.infers_types {
            true => "SELECT CAST(? AS BIGINT){from nothing}",
            false => "SELECT ?{from nothing}",
        };
        vec![Statement::new("empty", StatementKind::Read, dialect.sql(sql))]
    }

    fn places(&self) -> Places {
        Places::ALL
    }

    fn kind_of(&self, _number: Number) -> KindIndex {
        0
    }

    fn client(&self, _client: u32) -> Box<dyn Client> {
        Box::new(User { n_statements: self.n_statements, nth: 0 })
    }
}

struct User {
    n_statements: u64,
    nth: i64,
}

impl Client for User {
    fn inputs(&mut self, number: Number) -> KindIndex {
        self.nth = number.nth() as i64;
        0
    }

    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a> {
        Box::pin(async move {
            let session = context.session();
            for _ in 0..self.n_statements {
                execute(session, ASK, &[Value::Int(self.nth)]).await?;
            }
            Ok(Done::Committed)
        })
    }
}
