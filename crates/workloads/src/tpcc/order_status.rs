//! The Order-Status transaction of TPC-C (clause 2.6): reads a customer's last order and its lines.
//!
//! Not here: the inputs, BEGIN and COMMIT.

use model::{DbError, DbErrorKind, Done, Value};

use super::inputs::{OrderStatus, Who, last_name};
use super::statements::Stmt;
use super::tx::{Tx, middle, wrong_count};

/// Runs the Order-Status transaction as clause 2.6.2.2 describes it. No row is locked, since the
/// transaction changes nothing.
pub(super) async fn converse(tx: &mut Tx<'_>, asked: &OrderStatus) -> Result<Done, DbError> {
    let (w_id, d_id) = (Value::Int(asked.warehouse), Value::Int(asked.district));
    let c_id = Value::Int(customer(tx, asked).await?);
    let mut o_id = 0;
    tx.one("last order", Stmt::LastOrder.id(), &[w_id, d_id, c_id], &mut |row| {
        o_id = row.int(0)?;
        row.value(1);
        row.optional_int(2).map(|_| ())
    })
    .await?;
    let key = [w_id, d_id, o_id.into()];
    let mut n_lines = 0;
    tx.visit(Stmt::OrderLines.id(), &key, &mut |row| {
        n_lines += 1;
        (0..3).try_for_each(|column| row.int(column).map(|_| ()))?;
        row.cents(3)?;
        row.value(4);
        Ok(())
    })
    .await?;
    if n_lines == 0 {
        let message = format!("order {key:?} has no lines");
        return Err(DbError::new(DbErrorKind::Shape, message));
    }
    Ok(Done::Committed)
}

/// Returns the number of the selected customer. If several have the last name, this is the middle
/// one by first name.
async fn customer(tx: &mut Tx<'_>, asked: &OrderStatus) -> Result<i64, DbError> {
    let (w_id, d_id) = (Value::Int(asked.warehouse), Value::Int(asked.district));
    let mut found = std::mem::take(&mut tx.words.namesakes);
    found.clear();
    let mut visit = |row: &dyn model::Row| {
        found.push((row.int(0)?, row.cents(1)?));
        (2..5).try_for_each(|column| row.text(column).map(|_| ()))
    };
    match asked.who {
        Who::Id(id) => {
            let values = [w_id, d_id, id.into()];
            tx.one("customer", Stmt::StatusById.id(), &values, &mut visit).await?;
        }
        Who::LastName(number) => {
            let name = last_name(number);
            let values = [w_id, d_id, Value::Text(name.text())];
            tx.visit(Stmt::StatusByName.id(), &values, &mut visit).await?;
        }
    }
    let chosen = middle(found.len()).map(|place| found[place].0);
    tx.words.namesakes = found;
    chosen.ok_or_else(|| wrong_count("customer by last name", &[w_id, d_id], 0))
}
