//! The Order-Status transaction (clause 2.6) in one flight, two where the customer says a name.
//!
//! Not here: its inputs.

use model::{Done, Refusal, RefusalKind, Row, Value};

use super::super::inputs::{OrderStatus, Who, last_name};
use super::super::statements::Ask;
use super::super::talk::{Talk, middle, wrong_count};
use super::flight::Flight;
use super::statements::LINES_OF_LAST;
use super::{BEGIN_READ_ONLY, COMMIT};

/// The profile of clause 2.6.2.2.
pub(super) async fn converse(talk: &mut Talk<'_>, asked: &OrderStatus) -> Result<Done, Refusal> {
    let (w_id, d_id) = (Value::Int(asked.warehouse), Value::Int(asked.district));
    let mut flight = Flight::of(BEGIN_READ_ONLY, &[]);
    let mut n_sets_before = 1;
    let c_id = match asked.who {
        Who::Id(id) => {
            flight.call(Ask::StatusById.id(), &[w_id, d_id, id.into()]);
            id
        }
        Who::LastName(number) => {
            let name = last_name(number);
            let mut by_name = Flight::of(BEGIN_READ_ONLY, &[]);
            by_name.call(Ask::StatusByName.id(), &[w_id, d_id, Value::Text(name.text())]);
            let c_id = namesake(talk, by_name).await?;
            n_sets_before = 0;
            c_id
        }
    };
    let key = [w_id, d_id, Value::Int(c_id)];
    match n_sets_before {
        0 => flight = Flight::of(Ask::LastOrder.id(), &key),
        _ => flight.call(Ask::LastOrder.id(), &key),
    }
    flight.call(LINES_OF_LAST, &[w_id, d_id, w_id, d_id, c_id.into()]);
    flight.call(COMMIT, &[]);
    let mut n_seen = [0u64; 3];
    let mut see = |row: &dyn Row| {
        let what = row.result_set() + 1 - n_sets_before;
        n_seen[what] += 1;
        see(row, what)
    };
    flight.ask(talk, &mut see).await?;
    let [n_customers, n_orders, n_lines] = n_seen;
    if n_customers != n_sets_before as u64 || n_orders != 1 || n_lines == 0 {
        let message = format!("customer {key:?} has {n_orders} last orders of {n_lines} lines");
        return Err(Refusal::new(RefusalKind::Shape, message));
    }
    Ok(Done::Committed)
}

/// Looks at a customer, at its last order, or at a line of it.
fn see(row: &dyn Row, what: usize) -> Result<(), Refusal> {
    match what {
        0 => see_customer(row).map(|_| ()),
        1 => {
            row.int(0)?;
            row.value(1);
            row.optional_int(2).map(|_| ())
        }
        _ => {
            (0..3).try_for_each(|column| row.int(column).map(|_| ()))?;
            row.cents(3)?;
            row.value(4);
            Ok(())
        }
    }
}

fn see_customer(row: &dyn Row) -> Result<(i64, i64), Refusal> {
    (2..5).try_for_each(|column| row.text(column).map(|_| ()))?;
    Ok((row.int(0)?, row.cents(1)?))
}

/// The number of the middle one of a name.
async fn namesake(talk: &mut Talk<'_>, flight: Flight<'_>) -> Result<i64, Refusal> {
    let mut found = std::mem::take(&mut talk.words.namesakes);
    found.clear();
    let mut see = |row: &dyn Row| {
        found.push(see_customer(row)?);
        Ok(())
    };
    flight.ask(talk, &mut see).await?;
    let chosen = middle(found.len()).map(|at| found[at].0);
    talk.words.namesakes = found;
    chosen.ok_or_else(|| wrong_count("customer by last name", &[], 0))
}
