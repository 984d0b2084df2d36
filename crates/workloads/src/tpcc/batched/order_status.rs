//! The Order-Status transaction of TPC-C (clause 2.6) in one round trip, or two if the customer is
//! selected by name.
//!
//! Not here: the inputs.

use model::{DbError, DbErrorKind, Done, Row, Value};

use super::super::inputs::{OrderStatus, Who, last_name};
use super::super::statements::Stmt;
use super::super::tx::{Tx, middle, wrong_count};
use super::flight::Flight;
use super::statements::LAST_WITH_LINES;
use super::{BEGIN_READ_ONLY, COMMIT};

/// Runs the Order-Status transaction as clause 2.6.2.2 describes it. One statement reads both the
/// order and its lines, because clause 3.4.1 requires an Order-Status to be isolated: between two
/// statements the customer could order again if the database takes a snapshot per statement.
pub(super) async fn converse(tx: &mut Tx<'_>, asked: &OrderStatus) -> Result<Done, DbError> {
    let (w_id, d_id) = (Value::Int(asked.warehouse), Value::Int(asked.district));
    let mut flight = Flight::empty();
    let (c_id, n_customers) = match asked.who {
        Who::Id(id) => {
            flight.call(BEGIN_READ_ONLY, &[]);
            flight.call(Stmt::StatusById.id(), &[w_id, d_id, id.into()]);
            (id, 1)
        }
        Who::LastName(number) => {
            let name = last_name(number);
            let mut by_name = Flight::new(BEGIN_READ_ONLY, &[]);
            by_name.call(Stmt::StatusByName.id(), &[w_id, d_id, Value::Text(name.text())]);
            (namesake(tx, by_name).await?, 0)
        }
    };
    let c_id = Value::Int(c_id);
    flight.call(LAST_WITH_LINES, &[w_id, d_id, w_id, d_id, c_id]);
    flight.call(COMMIT, &[]);
    let (mut n_customers_seen, mut n_lines) = (0, 0);
    let mut see = |row: &dyn Row| match row.result_set() {
        0 if n_customers == 1 => {
            n_customers_seen += 1;
            see_customer(row).map(|_| ())
        }
        _ => {
            n_lines += 1;
            see_line(row)
        }
    };
    flight.ask(tx, &mut see).await?;
    if n_customers_seen != n_customers {
        return Err(wrong_count("customer", &[w_id, d_id, c_id], n_customers_seen));
    }
    if n_lines == 0 {
        let key = [w_id, d_id, c_id];
        let message = format!("customer {key:?} has no last order with lines");
        return Err(DbError::new(DbErrorKind::Shape, message));
    }
    Ok(Done::Committed)
}

/// Reads all columns of a row with an order and one of its lines, as the standard demands.
fn see_line(row: &dyn Row) -> Result<(), DbError> {
    row.int(0)?;
    row.value(1);
    row.optional_int(2)?;
    (3..6).try_for_each(|column| row.int(column).map(|_| ()))?;
    row.cents(6)?;
    row.value(7);
    Ok(())
}

fn see_customer(row: &dyn Row) -> Result<(i64, i64), DbError> {
    (2..5).try_for_each(|column| row.text(column).map(|_| ()))?;
    Ok((row.int(0)?, row.cents(1)?))
}

/// Sends `flight`, whose statements read the customers with one last name. Returns the number of
/// the middle customer.
async fn namesake(tx: &mut Tx<'_>, flight: Flight<'_>) -> Result<i64, DbError> {
    let mut found = std::mem::take(&mut tx.words.namesakes);
    found.clear();
    let mut see = |row: &dyn Row| {
        found.push(see_customer(row)?);
        Ok(())
    };
    flight.ask(tx, &mut see).await?;
    let chosen = middle(found.len()).map(|at| found[at].0);
    tx.words.namesakes = found;
    chosen.ok_or_else(|| wrong_count("customer by last name", &[], 0))
}
