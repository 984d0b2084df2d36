//! `tpcb`: pgbench's default transaction, derived from TPC-B. It adds an amount to an account, its
//! teller and its branch, and records the amount in a history.
//!
//! Tables, rows and statements are the same as pgbench's, so that each program can use data that
//! the other has built. Not here: pgbench's other scripts, and the rules of an official TPC result.

mod checks;
mod population;

use std::sync::Arc;

use model::numbers::count;
use model::{
    BadParameter, Check, Client, Conversation, Crosscheck, DbError, Dialect, Done, HotRows,
    Identity, Kind, KindIndex, Number, Parameter, ParameterKind, Places, Population, Request, Rng,
    ScaleInData, ScaleOf, Session, Statement, StatementId, StatementKind, TxContext, Value,
    Workload, execute,
};

use crate::storage_engine;
use crate::tx_control::{control, end};
use crate::{Entry, Make};

pub(crate) static ENTRY: Entry = Entry {
    name: "tpcb",
    data: "tpcb",
    summary: "pgbench's default transaction, derived from TPC-B: five statements over four tables",
    parameters: PARAMETERS,
    roles: &[],
    make,
    source: None,
};

static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "scale",
        kind: ParameterKind::Count { min: 1, max: 90_000 },
        default: "1",
        help: "Branches; each has 10 tellers and 100,000 accounts, about 15 MB",
        shapes_data: true,
    },
    storage_engine::PARAMETER,
];

/// Number of tellers per branch (TPC-B, clause 4.2).
const TELLERS: i64 = 10;
/// Number of accounts per branch (TPC-B, clause 4.2).
const ACCOUNTS: i64 = 100_000;
/// Largest absolute value of the amount that a transaction adds to an account.
const DELTA_MAX: i64 = 5_000;

/// Id of the statement that updates an account. Ids are in the order in which the statements are
/// declared.
const ACCOUNT_UPDATE: StatementId = StatementId(0);
const ACCOUNT_SELECT: StatementId = StatementId(1);
const TELLER_UPDATE: StatementId = StatementId(2);
const BRANCH_UPDATE: StatementId = StatementId(3);
const HISTORY_INSERT: StatementId = StatementId(4);

struct Tpcb {
    seed: u64,
    rows: population::Rows,
    /// Whether dbdyno built the data, so that the history has all transactions.
    is_built: bool,
    kinds: [Kind; 1],
}

fn make(make: &Make<'_>) -> Result<Arc<dyn Workload>, BadParameter> {
    let scale = make.settings.count("scale") as i64;
    let engine = make.settings.chosen(storage_engine::NAME);
    let kind = Kind { name: "transaction", weight: 1, keying_ns: 0, thinking_ns: 0 };
    Ok(Arc::new(Tpcb {
        seed: make.seed,
        rows: population::Rows::new(scale, engine, make.data.map_or(make.seed, |data| data.seed)),
        is_built: make.data.is_some(),
        kinds: [kind],
    }))
}

impl Workload for Tpcb {
    fn identity(&self) -> Identity {
        let scale = [("scale", self.rows.scale.to_string()), self.rows.engine.scale()];
        Identity::new(ENTRY.data, 1, scale, self.rows.seed)
    }

    /// Recognizes the scale of tables built by pgbench, which have the same names and columns.
    fn scale_in_data(&self) -> &'static [ScaleInData] {
        &[
            ScaleInData { parameter: "scale", of: ScaleOf::Rows("pgbench_branches") },
            ScaleInData {
                parameter: storage_engine::NAME,
                of: ScaleOf::StorageEngine("pgbench_accounts"),
            },
        ]
    }

    fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    fn notes(&self) -> Vec<String> {
        [
            "Derived from TPC-B as pgbench does it; not a TPC-B result and not comparable to one.",
            "Account, teller and branch are drawn independently and uniformly, as in pgbench; \
             TPC-B draws a teller, and 85 % of the accounts from its branch.",
            "With fewer clients than branches there is less contention: compare only at equal \
             scale and clients.",
        ]
        .map(str::to_owned)
        .into_iter()
        .chain([format!(
            "Every transaction updates one of {} of branches.",
            count(self.rows.scale as u64, "row")
        )])
        .collect()
    }

    fn hot_rows(&self) -> Option<HotRows> {
        Some(HotRows { rows: self.rows.scale as u64, what: "branches".to_owned() })
    }

    fn statements(&self, dialect: &Dialect) -> Vec<Statement> {
        use StatementKind::{Read, Write};
        let declared = [
            (
                "account update",
                Write,
                "UPDATE pgbench_accounts SET abalance = abalance + ? WHERE aid = ?",
            ),
            ("account select", Read, "SELECT abalance FROM pgbench_accounts WHERE aid = ?"),
            (
                "teller update",
                Write,
                "UPDATE pgbench_tellers SET tbalance = tbalance + ? WHERE tid = ?",
            ),
            (
                "branch update",
                Write,
                "UPDATE pgbench_branches SET bbalance = bbalance + ? WHERE bid = ?",
            ),
            (
                "history insert",
                Write,
                "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) \
                 VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP)",
            ),
        ];
        let statement =
            |(name, kind, sql): (_, _, &str)| Statement::new(name, kind, dialect.sql(sql));
        declared.map(statement).to_vec()
    }

    fn places(&self) -> Places {
        Places::ALL
    }

    fn kind_of(&self, _number: Number) -> KindIndex {
        0
    }

    fn client(&self, _client: u32) -> Box<dyn Client> {
        Box::new(User { seed: self.seed, scale: self.rows.scale, inputs: Inputs::default() })
    }

    fn population(&self) -> Option<&dyn Population> {
        Some(&self.rows)
    }

    fn checks(&self, _dialect: &Dialect) -> Vec<Check> {
        checks::checks(self.rows.scale, self.is_built)
    }

    fn crosscheck(&self, _dialect: &Dialect) -> Option<Crosscheck> {
        let sql = "SELECT COUNT(*) FROM pgbench_history".to_owned();
        Some(Crosscheck { sql, kind: 0, per_commit: 1 })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Inputs {
    account: i64,
    branch: i64,
    teller: i64,
    delta: i64,
}

impl Inputs {
    /// Draws account, teller, branch and amount of a transaction, in the order of pgbench's script.
    fn draw(rng: &mut Rng, scale: i64) -> Inputs {
        Inputs {
            account: rng.uniform(1, ACCOUNTS * scale),
            branch: rng.uniform(1, scale),
            teller: rng.uniform(1, TELLERS * scale),
            delta: rng.uniform(-DELTA_MAX, DELTA_MAX),
        }
    }
}

struct User {
    seed: u64,
    scale: i64,
    inputs: Inputs,
}

impl Client for User {
    fn inputs(&mut self, number: Number) -> KindIndex {
        self.inputs = Inputs::draw(&mut number.rng(self.seed), self.scale);
        0
    }

    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a> {
        Box::pin(async move {
            let session = context.session();
            control(session, Request::Begin).await?;
            let said = transact(session, self.inputs).await;
            end(session, said.map(|()| Done::Committed)).await
        })
    }
}

async fn transact(session: &mut dyn Session, inputs: Inputs) -> Result<(), DbError> {
    let Inputs { account, branch, teller, delta } = inputs;
    let [account, branch, teller, delta] = [account, branch, teller, delta].map(Value::Int);
    execute(session, ACCOUNT_UPDATE, &[delta, account]).await?;
    execute(session, ACCOUNT_SELECT, &[account]).await?;
    execute(session, TELLER_UPDATE, &[delta, teller]).await?;
    execute(session, BRANCH_UPDATE, &[delta, branch]).await?;
    execute(session, HISTORY_INSERT, &[teller, branch, account, delta]).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use model::Stream;

    use super::*;

    #[test]
    fn inputs_reach_every_branch_teller_and_account_and_no_other() {
        let mut rng = Rng::new(2, Stream::Client(0), 0);
        let (mut low, mut high) = ([i64::MAX; 4], [i64::MIN; 4]);
        for _ in 0..200_000 {
            let Inputs { account, branch, teller, delta } = Inputs::draw(&mut rng, 3);
            let values = [account / 1000, branch, teller, delta / 100];
            for (place, value) in values.into_iter().enumerate() {
                low[place] = low[place].min(value);
                high[place] = high[place].max(value);
            }
        }
        assert_eq!((low, high), ([0, 1, 1, -50], [300, 3, 30, 50]));
    }
}
