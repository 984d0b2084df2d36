//! A made-up workload of questions of very different length, whose primary metric is a mean over
//! both transaction types.
//!
//! Not here: anything that another workload needs.

use std::sync::Arc;

use model::{
    BadParameter, Client, ComputedFigure, Conversation, Dialect, Direction, Done, Execution,
    Identity, Kind, KindIndex, KindTotals, Number, Places, PrimaryMetric, PrimaryOf, Statement,
    StatementId, StatementKind, TxContext, Workload, execute,
};
use workloads::{Entry, Make};

/// Entry of this workload in the program's list of workloads.
pub(crate) static ENTRY: Entry = Entry {
    name: "questions",
    data: "questions",
    summary: "Made-up questions: one statement, and three",
    parameters: &[],
    roles: &[],
    make,
    source: None,
};

/// Name of the primary metric: the geometric mean of the mean times of all types, in milliseconds.
const MEAN_MS: &str = "mean_question_ms";

struct Questions {
    kinds: [Kind; 2],
}

fn make(_make: &Make<'_>) -> Result<Arc<dyn Workload>, BadParameter> {
    let kind = |name| Kind { name, weight: 1, keying_ns: 0, thinking_ns: 0 };
    Ok(Arc::new(Questions { kinds: [kind("short"), kind("long")] }))
}

fn kind_of(number: Number) -> KindIndex {
    (number.nth() % 2) as KindIndex
}

impl Workload for Questions {
    fn identity(&self) -> Identity {
        Identity { workload: ENTRY.data.to_owned(), version: 1, ..Identity::default() }
    }

    fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    fn primary_metrics(&self) -> Vec<PrimaryMetric> {
        vec![PrimaryMetric {
            name: MEAN_MS,
            title: "ms a question",
            of: PrimaryOf::Computed,
            better: Direction::Lower,
        }]
    }

    fn computed(&self, kinds: &[KindTotals], _executions: &[Execution]) -> Vec<ComputedFigure> {
        let mean_ms = |kind: &KindTotals| kind.sum_ns as f64 / kind.finished as f64 / 1e6;
        let value = match kinds.iter().position(|kind| kind.finished == 0) {
            Some(missing) => Err(format!("no {} question ended", self.kinds[missing].name)),
            None => {
                let logs: f64 = kinds.iter().map(|kind| mean_ms(kind).ln()).sum();
                Ok((logs / kinds.len() as f64).exp())
            }
        };
        vec![ComputedFigure::new(MEAN_MS, value)]
    }

    fn statements(&self, _dialect: &Dialect) -> Vec<Statement> {
        vec![Statement::new("ask", StatementKind::Read, "SELECT 1")]
    }

    fn places(&self) -> Places {
        Places::ALL
    }

    fn kind_of(&self, number: Number) -> KindIndex {
        kind_of(number)
    }

    fn client(&self, _client: u32) -> Box<dyn Client> {
        Box::new(User { kind: 0 })
    }

    fn is_blind(&self) -> bool {
        true
    }
}

struct User {
    kind: KindIndex,
}

impl Client for User {
    fn inputs(&mut self, number: Number) -> KindIndex {
        self.kind = kind_of(number);
        self.kind
    }

    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a> {
        Box::pin(async move {
            for _ in 0..=2 * self.kind {
                execute(context.session(), StatementId(0), &[]).await?;
            }
            Ok(Done::Committed)
        })
    }
}
