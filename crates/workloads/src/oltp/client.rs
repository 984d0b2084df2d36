//! Client of the `oltp` workloads, which draws the values of a transaction before it begins, and
//! sends one statement per request.
//!
//! Buffers are reused, so that a transaction allocates nothing but its future. Not here: the
//! statements (script), and their timing (engine).

use std::ops::Range;
use std::sync::Arc;

use model::{
    Client, Conversation, DbError, DbErrorKind, Done, KindIndex, Number, Request, Rng, Session,
    StatementId, TxContext, Value, execute, query_number,
};

use super::Oltp;
use super::digits::{C, PAD, fill};
use super::distribution::Sampler;
use super::script::{Begin, Step, Stmt};
use crate::tx_control::{control, end};

/// Range of ids that only one client assigns to new rows, so that no two clients assign the same
/// id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OwnIds {
    first: i64,
    last: i64,
}

impl OwnIds {
    /// Returns the range of ids for the client with the index `client`, from 0; `None` if no ids
    /// are left for it. In tables built by dbdyno (`is_ours`) each client has 2^40 ids. Ids of
    /// sysbench's tables have 32 bits, so there each of the first 1,024 clients has 2^21 negative
    /// ones.
    fn for_client(client: u32, is_ours: bool) -> Option<OwnIds> {
        let (n, first) = match is_ours {
            true => (1 << 40, (i64::from(client) + 1) << 40),
            false => (1 << 21, i64::from(i32::MIN) + (i64::from(client) << 21)),
        };
        (is_ours || first < 0).then_some(OwnIds { first, last: first + n - 1 })
    }
}

/// A statement of a transaction with the random values for its parameters.
struct DrawnCall {
    statement: StatementId,
    values: Drawn,
}

/// Random values for a statement's parameters. `c`, `text` and `List` are offsets into buffers of
/// [`User`].
enum Drawn {
    Id(i64),
    Range(i64, i64),
    /// Values for an update of `c`: the new value, and the id of the row.
    SetC {
        c: usize,
        id: i64,
    },
    /// Values of a row to be inserted again, with the id that was deleted just before.
    Again {
        id: i64,
        k: i64,
        text: usize,
    },
    /// Values of a new row whose id the database assigns.
    New {
        k: i64,
        text: usize,
    },
    /// Values of a new row with the next id of the client's own range.
    Own {
        table: usize,
        k: i64,
        text: usize,
    },
    List(Range<usize>),
}

pub(super) struct User {
    shared: Arc<Oltp>,
    own_ids: Option<OwnIds>,
    /// Last used id of the client's own range, by index of the table; `None` if it must be queried
    /// from the database.
    own_last: Vec<Option<i64>>,
    /// Sampler of the row ids that this client uses in statements.
    rows: Sampler,
    calls: Vec<DrawnCall>,
    list: Vec<Value<'static>>,
    text: Vec<u8>,
}

impl User {
    pub(super) fn new(shared: Arc<Oltp>, client: u32) -> User {
        let own_ids = OwnIds::for_client(client, shared.data.is_ours);
        let rows = shared.rows_of(client);
        let own_last = vec![None; shared.data.tables];
        let (calls, list, text) = Default::default();
        User { shared, own_ids, own_last, rows, calls, list, text }
    }

    /// Draws a table and the random values for all statements of `step`. `first` is the id of the
    /// step's first statement for the first table.
    fn draw(&mut self, rng: &mut Rng, step: Step, first: u32) {
        let n_tables = self.shared.data.tables;
        let table = match n_tables {
            1 => 0,
            n => rng.uniform(0, n as i64 - 1) as usize,
        };
        let statement = StatementId(first + table as u32);
        let second = StatementId(statement.0 + n_tables as u32);
        for _ in 0..step.times {
            let values = match step.stmt {
                Stmt::Point | Stmt::UpdateIndex | Stmt::Delete => Drawn::Id(self.rows.draw(rng)),
                Stmt::SimpleRange | Stmt::SumRange | Stmt::OrderRange | Stmt::DistinctRange => {
                    let low = self.rows.draw(rng);
                    Drawn::Range(low, low + self.shared.range_size - 1)
                }
                Stmt::UpdateNonIndex => {
                    Drawn::SetC { c: self.draw_text(rng, C), id: self.rows.draw(rng) }
                }
                Stmt::DeleteInsert | Stmt::UpdateDeleteInsert => {
                    let (id, k) = (self.rows.draw(rng), self.rows.draw(rng));
                    self.calls.push(DrawnCall { statement, values: Drawn::Id(id) });
                    let mut insert = second;
                    if step.stmt == Stmt::UpdateDeleteInsert {
                        self.calls.push(DrawnCall { statement: second, values: Drawn::Id(id) });
                        insert = StatementId(second.0 + n_tables as u32);
                    }
                    let values = Drawn::Again { id, k, text: self.draw_text(rng, C + PAD) };
                    self.calls.push(DrawnCall { statement: insert, values });
                    continue;
                }
                Stmt::Insert => {
                    let k = self.rows.draw(rng);
                    let text = self.draw_text(rng, C + PAD);
                    match self.shared.data.auto_inc {
                        true => Drawn::New { k, text },
                        false => Drawn::Own { table, k, text },
                    }
                }
                Stmt::RandomPoints { n } => {
                    let start = self.list.len();
                    self.list.extend((0..n).map(|_| Value::Int(self.rows.draw(rng))));
                    Drawn::List(start..self.list.len())
                }
                Stmt::RandomRanges { n, delta } => {
                    let start = self.list.len();
                    for _ in 0..n {
                        let low = self.rows.draw(rng);
                        self.list.extend([Value::Int(low), Value::Int(low + delta)]);
                    }
                    Drawn::List(start..self.list.len())
                }
            };
            self.calls.push(DrawnCall { statement, values });
        }
    }

    /// Appends `length` bytes of random text to the buffer: for the column `c`, or for `c` and
    /// `pad` together. Returns the offset at which the text starts.
    fn draw_text(&mut self, rng: &mut Rng, length: usize) -> usize {
        let start = self.text.len();
        self.text.resize(start + length, 0);
        let (c, pad) = self.text[start..].split_at_mut(C);
        fill(rng, c);
        fill(rng, pad);
        start
    }

    async fn ask_all(&mut self, session: &mut dyn Session) -> Result<(), DbError> {
        for call in &self.calls {
            let statement = call.statement;
            let text = |range: Range<usize>| -> Value<'_> {
                let text = std::str::from_utf8(&self.text[range]);
                Value::Text(text.expect("only ASCII is ever put here"))
            };
            let (c, pad) = (|at| text(at..at + C), |at| text(at + C..at + C + PAD));
            match call.values {
                Drawn::Id(id) => execute(session, statement, &[id.into()]).await?,
                Drawn::Range(low, high) => {
                    execute(session, statement, &[low.into(), high.into()]).await?
                }
                Drawn::SetC { c: at, id } => {
                    execute(session, statement, &[c(at), id.into()]).await?
                }
                Drawn::Again { id, k, text: at } => {
                    let values = [id.into(), k.into(), c(at), pad(at)];
                    let asked = execute(session, statement, &values).await;
                    asked.map_err(overtaken)?
                }
                Drawn::New { k, text: at } => {
                    execute(session, statement, &[k.into(), c(at), pad(at)]).await?
                }
                Drawn::Own { table, k, text: at } => {
                    let last = &mut self.own_last[table];
                    let second = StatementId(statement.0 + self.shared.data.tables as u32);
                    let id = next_own(session, second, self.own_ids, last).await?;
                    let values = [id.into(), k.into(), c(at), pad(at)];
                    // Left as `None` if the outcome is unknown, so that the database is asked
                    // again.
                    *last = None;
                    let reply = execute(session, statement, &values).await?;
                    *last = Some(id);
                    reply
                }
                Drawn::List(ref range) => {
                    execute(session, statement, &self.list[range.clone()]).await?
                }
            };
        }
        Ok(())
    }
}

/// Returns the next id of the client's own range in a table. If `last` is `None`, the database is
/// asked for the last id used. Fails if the range is used up.
async fn next_own(
    session: &mut dyn Session,
    statement: StatementId,
    own: Option<OwnIds>,
    last: &mut Option<i64>,
) -> Result<i64, DbError> {
    let Some(own) = own else { return Err(no_ids_left()) };
    let mut found = *last;
    if found.is_none() {
        let values = &[own.first.into(), own.last.into()];
        found = query_number(session, statement, values).await?;
    }
    let next = found.map_or(own.first, |last| last + 1);
    if next > own.last { Err(no_ids_left()) } else { Ok(next) }
}

fn no_ids_left() -> DbError {
    let message = "a client has no ids left in tables that sysbench built: build them with \
                   dbdyno, or use fewer clients";
    DbError::new(DbErrorKind::Constraint, message)
}

/// Converts a duplicate key to a serialization error, which is retried, because another client
/// inserted the same row between DELETE and INSERT. This happens if the DELETE does not see that
/// row (READ COMMITTED of PostgreSQL); sysbench treats it the same way.
fn overtaken(mut db_error: DbError) -> DbError {
    if db_error.kind == DbErrorKind::Duplicate {
        db_error.kind = DbErrorKind::Serialization;
    }
    db_error
}

impl Client for User {
    fn inputs(&mut self, number: Number) -> KindIndex {
        let mut rng = number.rng(self.shared.seed);
        self.calls.clear();
        self.list.clear();
        self.text.clear();
        let mut first = 0;
        for place in 0..self.shared.script.steps.len() {
            let step = self.shared.script.steps[place];
            self.draw(&mut rng, step, first);
            first += (step.stmt.n_statements() * self.shared.data.tables) as u32;
        }
        0
    }

    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a> {
        Box::pin(async move {
            let session = context.session();
            let begin = match self.shared.script.begin {
                None => return self.ask_all(session).await.map(|()| Done::Committed),
                Some(Begin::Plain) => Request::BeginPlain,
                Some(Begin::Write) => Request::Begin,
            };
            control(session, begin).await?;
            let said = self.ask_all(session).await;
            end(session, said.map(|()| Done::Committed)).await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_clients_are_apart_and_fit_the_tables() {
        for (is_ours, n_clients) in [(true, 5_000), (false, 1_024)] {
            let all: Vec<OwnIds> =
                (0..n_clients).filter_map(|client| OwnIds::for_client(client, is_ours)).collect();
            assert_eq!(all.len(), n_clients as usize);
            assert!(all.windows(2).all(|pair| pair[0].last + 1 == pair[1].first));
            assert!(all.iter().all(|own| is_ours || i32::try_from(own.first).is_ok()));
            assert!(all.iter().all(|own| own.last < 0 || own.first > i64::from(i32::MAX)));
        }
        assert_eq!(OwnIds::for_client(1_024, false), None);
        let largest = super::super::parameters::SHARED[0].kind;
        let model::ParameterKind::Count { max, .. } = largest else { panic!("{largest:?}") };
        let first = OwnIds::for_client(0, true).expect("there are ids").first;
        assert!((max as i64) < first, "own ids are above those of the rows");
    }
}
