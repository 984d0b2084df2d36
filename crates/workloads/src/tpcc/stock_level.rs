//! The Stock-Level transaction of TPC-C (clause 2.8): counts recently sold items with a low stock.
//!
//! Not here: the inputs, BEGIN and COMMIT.

use model::{DbError, Done, Value};

use super::inputs::StockLevel;
use super::statements::Stmt;
use super::tx::Tx;

/// Number of a district's latest orders whose items are examined.
const ORDERS_BACK: i64 = 20;

/// Runs the Stock-Level transaction as clause 2.8.2.2 describes it.
pub(super) async fn converse(tx: &mut Tx<'_>, asked: &StockLevel) -> Result<Done, DbError> {
    let (w_id, d_id) = (Value::Int(asked.warehouse), Value::Int(asked.district));
    let mut next = 0;
    tx.one("district", Stmt::DistrictNextOrder.id(), &[w_id, d_id], &mut |row| {
        next = row.int(0)?;
        Ok(())
    })
    .await?;
    let values = [w_id, d_id, next.into(), (next - ORDERS_BACK).into(), asked.threshold.into()];
    tx.one("count of low stock", Stmt::LowStock.id(), &values, &mut |row| row.int(0).map(|_| ()))
        .await?;
    Ok(Done::Committed)
}
