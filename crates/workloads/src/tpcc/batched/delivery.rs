//! The Delivery transaction of TPC-C (clause 2.7) in three round trips, each for all ten districts:
//! one reads the oldest orders; one marks these orders as delivered and reads them; one updates the
//! customers.
//!
//! Not here: the inputs.

use model::{DbError, DbErrorKind, Done, Row, StatementId, Value};

use super::super::inputs::Delivery;
use super::super::schema::DISTRICTS;
use super::super::statements::Stmt;
use super::super::tx::Tx;
use super::super::{DELIVERIES_SKIPPED, ORDERS_DELIVERED};
use super::flight::Flight;
use super::statements::{
    CUSTOMERS_OF_ORDERS, LINES_AMOUNTS, LINES_DELIVERED, NEW_ORDERS_DELETE, ORDERS_CARRIER,
};
use super::{BEGIN, COMMIT};

const TEN: usize = DISTRICTS as usize;

/// Oldest undelivered order of a district. Its values are `None` while they are not read yet.
#[derive(Clone, Copy, Default)]
struct Order {
    o_id: Option<i64>,
    c_id: Option<i64>,
    cents: Option<i64>,
    n_lines: u64,
}

/// Runs a Delivery transaction from BEGIN to COMMIT, in few round trips (clause 2.7.4.2).
pub(super) async fn converse(tx: &mut Tx<'_>, delivery: &Delivery) -> Result<Done, DbError> {
    let w_id = Value::Int(delivery.warehouse);
    let mut orders = [Order::default(); TEN];
    let mut flight = Flight::new(BEGIN, &[]);
    (1..=DISTRICTS).for_each(|d_id| flight.call(Stmt::OldestNewOrder.id(), &[w_id, d_id.into()]));
    let mut see = |row: &dyn Row| {
        orders[row.result_set().min(TEN - 1)].o_id = Some(row.int(0)?);
        Ok(())
    };
    flight.ask(tx, &mut see).await?;
    let n_delivered = orders.iter().filter(|order| order.o_id.is_some()).count();
    let last = match n_delivered {
        0 => Flight::new(COMMIT, &[]),
        _ => {
            deliver(tx, delivery, &mut orders).await?;
            paying(w_id, &orders)?
        }
    };
    last.ask(tx, &mut |_| Ok(())).await?;
    tx.measured.push((ORDERS_DELIVERED, n_delivered as u64));
    tx.measured.push((DELIVERIES_SKIPPED, (TEN - n_delivered) as u64));
    Ok(Done::Committed)
}

/// Sends, in one round trip, the statements that mark ten orders as delivered and read their
/// customers and amounts. Returns a serialization error if another client has delivered one of the
/// orders.
async fn deliver(
    tx: &mut Tx<'_>,
    delivery: &Delivery,
    orders: &mut [Order; TEN],
) -> Result<(), DbError> {
    let w_id = Value::Int(delivery.warehouse);
    let keys = keys(orders);
    let mut flight = Flight::empty();
    let mut call = |statement: StatementId, values: &[Value<'static>]| {
        values.iter().chain(&keys).for_each(|value| flight.value(*value));
        flight.end(statement);
    };
    call(NEW_ORDERS_DELETE, &[w_id]);
    call(ORDERS_CARRIER, &[delivery.carrier.into(), w_id]);
    call(CUSTOMERS_OF_ORDERS, &[w_id]);
    call(LINES_DELIVERED, &[tx.date(), w_id]);
    call(LINES_AMOUNTS, &[w_id]);
    let mut see = |row: &dyn Row| {
        let district = usize::try_from(row.int(0)? - 1).unwrap_or(TEN);
        let order = orders.get_mut(district).ok_or_else(|| strange("a district"))?;
        match row.result_set() {
            0 => order.c_id = Some(row.int(1)?),
            _ => {
                order.cents = Some(row.cents(1)?);
                order.n_lines = u64::try_from(row.int(2)?).unwrap_or_default();
            }
        }
        Ok(())
    };
    let n_changed = flight.ask(tx, &mut see).await?.n_affected;
    // Each order changes its queue row, its carrier, and the date of all its lines.
    let delivered = orders.iter().filter(|order| order.o_id.is_some());
    if n_changed == delivered.map(|order| 2 + order.n_lines).sum::<u64>() {
        return Ok(());
    }
    let message = "another client delivered an order after it was read";
    Err(DbError::new(DbErrorKind::Serialization, message))
}

/// Returns the values of the key parameters for ten orders: district and order number of each. A
/// district without an order repeats the key of the first one, which changes nothing.
fn keys(orders: &[Order; TEN]) -> [Value<'static>; 2 * TEN] {
    let known = (1..).zip(orders).filter_map(|(d_id, order)| Some((d_id, order.o_id?)));
    let filler = known.clone().next().unwrap_or_default();
    let mut keys = [Value::Null; 2 * TEN];
    let all = known.chain(std::iter::repeat(filler));
    for (key, (d_id, o_id)) in keys.chunks_exact_mut(2).zip(all) {
        key.copy_from_slice(&[Value::Int(d_id), Value::Int(o_id)]);
    }
    keys
}

/// Returns the statements of the last round trip of a Delivery, which add the amount of each order
/// to its customer's balance, and commit.
fn paying(w_id: Value<'static>, orders: &[Order; TEN]) -> Result<Flight<'static>, DbError> {
    let mut flight = Flight::empty();
    for (d_id, order) in (1..=DISTRICTS).zip(orders).filter(|(_, order)| order.o_id.is_some()) {
        let c_id = order.c_id.ok_or_else(|| strange("a delivered order without a customer"))?;
        let cents = order.cents.ok_or_else(|| strange("a delivered order without lines"))?;
        let values = [Value::cents(cents), w_id, d_id.into(), c_id.into()];
        flight.call(Stmt::CustomerReceives.id(), &values);
    }
    flight.call(COMMIT, &[]);
    Ok(flight)
}

fn strange(what: &str) -> DbError {
    DbError::new(DbErrorKind::Shape, format!("the data have {what}"))
}
