//! The Delivery transaction of TPC-C (clause 2.7): delivers the oldest undelivered order of each
//! district.
//!
//! It is executed at once, in one database transaction. Not here: the queue of deferred deliveries
//! of clause 2.7.2, which is a declared deviation.

use model::{DbError, DbErrorKind, Done, Value};

use super::inputs::Delivery;
use super::schema::DISTRICTS;
use super::statements::Stmt;
use super::tx::Tx;
use super::{DELIVERIES_SKIPPED, ORDERS_DELIVERED};

/// Runs the Delivery transaction as clause 2.7.4.2 describes it. Visits the districts in order, so
/// that two deliveries of one warehouse cannot deadlock.
pub(super) async fn converse(tx: &mut Tx<'_>, delivery: &Delivery) -> Result<Done, DbError> {
    let mut n_delivered = 0;
    for district in 1..=DISTRICTS {
        n_delivered += u64::from(deliver(tx, delivery, district).await?);
    }
    let n_skipped = DISTRICTS as u64 - n_delivered;
    tx.measured.push((ORDERS_DELIVERED, n_delivered));
    tx.measured.push((DELIVERIES_SKIPPED, n_skipped));
    Ok(Done::Committed)
}

/// Delivers the oldest undelivered order of a district. Returns false if there is none.
async fn deliver(tx: &mut Tx<'_>, delivery: &Delivery, district: i64) -> Result<bool, DbError> {
    let (w_id, d_id) = (Value::Int(delivery.warehouse), Value::Int(district));
    let mut oldest = None;
    tx.visit(Stmt::OldestNewOrder.id(), &[w_id, d_id], &mut |row| {
        oldest = Some(row.int(0)?);
        Ok(())
    })
    .await?;
    let Some(oldest) = oldest else {
        return Ok(false);
    };
    let order = [w_id, d_id, oldest.into()];
    let deleted = tx.ask(Stmt::NewOrderDelete.id(), &order).await?;
    if deleted.n_affected == 0 {
        return Err(DbError::new(
            DbErrorKind::Serialization,
            format!("another client delivered order {oldest} after it was read"),
        ));
    }
    let [_, _, o_id] = order;
    let carrier = delivery.carrier.into();
    // Updated before it is read: a plain read of MariaDB and MySQL uses the snapshot of the
    // transaction's first read, which lacks an order entered since, except for rows that the
    // transaction changed itself.
    tx.ask(Stmt::OrderCarrier.id(), &[carrier, w_id, d_id, o_id]).await?;
    let mut c_id = 0;
    tx.one("order", Stmt::OrderCustomer.id(), &order, &mut |row| {
        c_id = row.int(0)?;
        Ok(())
    })
    .await?;
    tx.ask(Stmt::LinesDelivered.id(), &[tx.date(), w_id, d_id, o_id]).await?;
    let mut amount = 0;
    tx.one("amount of an order", Stmt::LinesAmount.id(), &order, &mut |row| {
        amount = row.cents(0)?;
        Ok(())
    })
    .await?;
    let received = [Value::cents(amount), w_id, d_id, c_id.into()];
    tx.ask(Stmt::CustomerReceives.id(), &received).await?;
    Ok(true)
}
