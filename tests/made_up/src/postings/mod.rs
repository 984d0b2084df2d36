//! A made-up workload on a ledger: postings are entered in batches, and balances are read.
//!
//! Not here: anything that another workload needs.

mod accounts;

use std::sync::Arc;

use model::{
    BadParameter, Check, Client, Conversation, CustomMetric, CustomMetricKind, DbError, Dialect,
    Direction, Done, Identity, Kind, KindIndex, Number, Parameter, ParameterKind, Places,
    Population, Request, Rng, Session, Statement, StatementId, StatementKind, TxContext, Value,
    Workload, execute,
};
use workloads::tx_control::{control, end};
use workloads::{Entry, Make};

use self::accounts::Accounts;

/// Entry of this workload in the program's list of workloads.
pub(crate) static ENTRY: Entry = Entry {
    name: "postings",
    data: "postings",
    summary: "A made-up ledger: postings are entered in batches, and balances are read",
    parameters: PARAMETERS,
    roles: &[],
    make,
    source: None,
};

static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "accounts",
        kind: ParameterKind::Count { min: 1, max: 1_000_000 },
        default: "100",
        help: "Accounts of the ledger",
        shapes_data: true,
    },
    Parameter {
        name: "lines",
        kind: ParameterKind::Count { min: 1, max: 1000 },
        default: "3",
        help: "Postings of a transaction",
        shapes_data: false,
    },
];

/// Index of the transaction type that enters postings.
const POST: KindIndex = 0;
const READ: KindIndex = 1;
/// Number of transactions, out of [`ALL`] on average, that enter postings; the others read a
/// balance.
const POSTS: i64 = 3;
const ALL: i64 = 4;

/// Index of the workload's only custom metric: the number of postings that a transaction entered.
const POSTED: u16 = 0;
static CUSTOM_METRICS: [CustomMetric; 1] = [CustomMetric {
    name: "posted",
    unit: "rows",
    kind: CustomMetricKind::Histogram,
    better: Direction::Higher,
}];

/// Index of the statement that enters a posting.
const ENTER: StatementId = StatementId(0);
const ADD: StatementId = StatementId(1);
const BALANCE: StatementId = StatementId(2);

struct Postings {
    seed: u64,
    accounts: Accounts,
    n_lines: i64,
    kinds: [Kind; 2],
}

fn make(make: &Make<'_>) -> Result<Arc<dyn Workload>, BadParameter> {
    let kind = |name, weight| Kind { name, weight, keying_ns: 0, thinking_ns: 0 };
    Ok(Arc::new(Postings {
        seed: make.seed,
        accounts: Accounts::new(make.settings.count("accounts") as i64),
        n_lines: make.settings.count("lines") as i64,
        kinds: [kind("post", POSTS as u64), kind("read", (ALL - POSTS) as u64)],
    }))
}

impl Workload for Postings {
    fn identity(&self) -> Identity {
        Identity {
            workload: ENTRY.data.to_owned(),
            version: 1,
            scale: vec![("accounts".to_owned(), self.accounts.n.to_string())],
            ..Identity::default()
        }
    }

    fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    fn custom_metrics(&self) -> &[CustomMetric] {
        &CUSTOM_METRICS
    }

    fn statements(&self, dialect: &Dialect) -> Vec<Statement> {
        use StatementKind::{Read, Write};
        let statement = |name, kind, sql| Statement::new(name, kind, dialect.sql(sql));
        vec![
            statement("enter", Write, "INSERT INTO posting (account, amount) VALUES (?, ?)"),
            statement("add", Write, "UPDATE account SET balance = balance + ? WHERE id = ?"),
            statement("balance", Read, "SELECT balance FROM account WHERE id = ?"),
        ]
    }

    fn places(&self) -> Places {
        Places::ALL
    }

    fn kind_of(&self, number: Number) -> KindIndex {
        Inputs::draw(&mut number.rng(self.seed), self.accounts.n).kind
    }

    fn client(&self, _client: u32) -> Box<dyn Client> {
        Box::new(User {
            seed: self.seed,
            n_accounts: self.accounts.n,
            n_lines: self.n_lines,
            inputs: Inputs::default(),
        })
    }

    fn population(&self) -> Option<&dyn Population> {
        Some(&self.accounts)
    }

    fn is_blind(&self) -> bool {
        true
    }

    fn checks(&self, _dialect: &Dialect) -> Vec<Check> {
        let sql = "SELECT account.id, account.balance, posted.amount FROM account \
                   JOIN (SELECT account, SUM(amount) AS amount FROM posting GROUP BY account) \
                   AS posted ON posted.account = account.id \
                   WHERE account.balance <> posted.amount";
        let title = "the balance of an account is the sum of its postings";
        vec![Check { id: "balance", title: title.into(), sql: sql.to_owned() }]
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Inputs {
    kind: KindIndex,
    account: i64,
    amount: i64,
}

impl Inputs {
    fn draw(rng: &mut Rng, n_accounts: i64) -> Inputs {
        Inputs {
            kind: if rng.chance(POSTS, ALL) { POST } else { READ },
            account: rng.uniform(1, n_accounts),
            amount: rng.uniform(1, 100),
        }
    }
}

struct User {
    seed: u64,
    n_accounts: i64,
    n_lines: i64,
    inputs: Inputs,
}

impl Client for User {
    fn inputs(&mut self, number: Number) -> KindIndex {
        self.inputs = Inputs::draw(&mut number.rng(self.seed), self.n_accounts);
        self.inputs.kind
    }

    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a> {
        Box::pin(async move {
            let Inputs { kind, account, amount } = self.inputs;
            let [account, amount] = [account, amount].map(Value::Int);
            let session = context.session();
            if kind == READ {
                execute(session, BALANCE, &[account]).await?;
                return Ok(Done::Committed);
            }
            control(session, Request::Begin).await?;
            let posted = post(session, account, amount, self.n_lines).await;
            let ended = end(session, posted.map(|()| Done::Committed)).await?;
            context.measured.push((POSTED, self.n_lines as u64));
            Ok(ended)
        })
    }
}

async fn post(
    session: &mut dyn Session,
    account: Value<'_>,
    amount: Value<'_>,
    n_lines: i64,
) -> Result<(), DbError> {
    for _ in 0..n_lines {
        execute(session, ENTER, &[account, amount]).await?;
        execute(session, ADD, &[amount, account]).await?;
    }
    Ok(())
}
