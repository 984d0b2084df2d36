//! The New-Order transaction of TPC-C (clause 2.4): enters an order of five to fifteen lines.
//!
//! Not here: the inputs, BEGIN and COMMIT.

use model::{DbError, Done, Value, execute};

use super::inputs::{Line, NewOrder, UNUSED_ITEM};
use super::random::ORIGINAL;
use super::statements::{Stmt, stock_of};
use super::tx::{Tx, wrong_count};
use super::{BRAND_LINES, ORDER_LINES, ORDER_TOTAL};

/// Runs the New-Order transaction as clause 2.4.2.2 describes it.
///
/// The specification leaves the order of the data manipulations open. The district's row is updated
/// first, because orders of one district queue for it. The first plain read takes the transaction's
/// snapshot. If that read came before the wait, a database that compares the row to the snapshot
/// would turn every wait into a database error.
pub(super) async fn converse(tx: &mut Tx<'_>, order: &NewOrder) -> Result<Done, DbError> {
    let (w_id, d_id) = (Value::Int(order.warehouse), Value::Int(order.district));
    let c_id = Value::Int(order.customer);
    let (mut d_tax, mut o_id) = (0, 0);
    tx.ask(Stmt::DistrictTakesOrder.id(), &[w_id, d_id]).await?;
    tx.one("district", Stmt::DistrictOfOrder.id(), &[w_id, d_id], &mut |row| {
        d_tax = row.decimal(0, 4)?;
        o_id = row.int(1)? - 1;
        Ok(())
    })
    .await?;
    let mut discount = 0;
    tx.one("customer", Stmt::CustomerOfOrder.id(), &[w_id, d_id, c_id], &mut |row| {
        discount = row.decimal(0, 4)?;
        row.text(1)?;
        row.text(2).map(|_| ())
    })
    .await?;
    let mut w_tax = 0;
    tx.one("warehouse", Stmt::WarehouseTax.id(), &[w_id], &mut |row| {
        w_tax = row.decimal(0, 4)?;
        Ok(())
    })
    .await?;
    let o_id = Value::Int(o_id);
    let (n_lines, all_local) = (order.n_lines as i64, i64::from(order.is_local()));
    let head = [o_id, d_id, w_id, c_id, tx.date(), n_lines.into(), all_local.into()];
    tx.ask(Stmt::OrderInsert.id(), &head).await?;
    tx.ask(Stmt::NewOrderInsert.id(), &[o_id, d_id, w_id]).await?;
    let (mut sum, mut n_brand) = (0, 0);
    for (number, line) in (1..).zip(order.lines()) {
        let Some((amount, brand)) = order_line(tx, order, o_id, number, line).await? else {
            return Ok(Done::RolledBack);
        };
        sum += amount;
        n_brand += u64::from(brand);
    }
    let total = total(sum, discount, w_tax + d_tax);
    tx.measured.push((ORDER_LINES, order.n_lines as u64));
    tx.measured.push((BRAND_LINES, n_brand));
    tx.measured.push((ORDER_TOTAL, total as u64));
    Ok(Done::Committed)
}

/// Processes an order line. Returns its amount in cents, and whether I_DATA and S_DATA both contain
/// "ORIGINAL"; `None` if no such item exists, so that the order must roll back (clause 2.4.2.3).
async fn order_line(
    tx: &mut Tx<'_>,
    order: &NewOrder,
    o_id: Value<'_>,
    number: i64,
    line: &Line,
) -> Result<Option<(i64, bool)>, DbError> {
    let item = [Value::Int(line.item)];
    let mut found = None;
    tx.visit(Stmt::Item.id(), &item, &mut |row| {
        row.text(1)?;
        found = Some((row.cents(0)?, row.text(2)?.contains(ORIGINAL)));
        Ok(())
    })
    .await?;
    let (price, item_original) = match found {
        Some(found) => found,
        None if line.item == UNUSED_ITEM => return Ok(None),
        None => return Err(wrong_count("item", &item, 0)),
    };
    let stock_original = take_stock(tx, order, line).await?;
    let amount = line.quantity * price;
    let values = [
        o_id,
        order.district.into(),
        order.warehouse.into(),
        number.into(),
        line.item.into(),
        line.supply_warehouse.into(),
        line.quantity.into(),
        Value::cents(amount),
        Value::Text(&tx.words.short),
    ];
    execute(tx.session, Stmt::OrderLineInsert.id(), &values).await?;
    Ok(Some((amount, item_original && stock_original)))
}

/// Reads and updates the stock of an order line, and stores S_DIST_xx in `words.short`. Returns
/// whether S_DATA contains "ORIGINAL".
async fn take_stock(tx: &mut Tx<'_>, order: &NewOrder, line: &Line) -> Result<bool, DbError> {
    let key = [line.supply_warehouse.into(), line.item.into()];
    let (mut quantity, mut original) = (0, false);
    let mut info = std::mem::take(&mut tx.words.short);
    tx.one("stock", stock_of(order.district), &key, &mut |row| {
        quantity = row.int(0)?;
        info.clear();
        info.push_str(row.text(1)?);
        original = row.text(2)?.contains(ORIGINAL);
        Ok(())
    })
    .await?;
    tx.words.short = info;
    let remote = i64::from(line.supply_warehouse != order.warehouse);
    let left = quantity_left(quantity, line.quantity);
    let [supply, item] = key;
    let values = [left.into(), line.quantity.into(), remote.into(), supply, item];
    tx.ask(Stmt::StockUpdate.id(), &values).await?;
    Ok(original)
}

/// Returns S_QUANTITY after an order: the quantity less the ordered one, plus 91 if the result
/// would be below ten.
pub(super) fn quantity_left(quantity: i64, ordered: i64) -> i64 {
    match quantity - ordered {
        left @ 10.. => left,
        short => short + 91,
    }
}

/// Returns the total amount of an order in cents: sum × (1 − discount) × (1 + tax), with half a
/// cent rounded up. Discount and tax are in ten-thousandths. At most 1.5 million cents × 10^4 × 1.4
/// × 10^4 are multiplied, which cannot overflow.
pub(super) fn total(sum: i64, discount: i64, tax: i64) -> i64 {
    let scaled = sum * (10_000 - discount) * (10_000 + tax);
    (scaled + 50_000_000) / 100_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stock_is_refilled_when_fewer_than_ten_would_be_left() {
        assert_eq!(quantity_left(20, 10), 10);
        assert_eq!(quantity_left(19, 10), 100);
        assert_eq!(quantity_left(10, 1), 100);
        assert_eq!(quantity_left(100, 1), 99);
    }

    #[test]
    fn the_total_is_rounded_to_the_nearest_cent() {
        assert_eq!(total(100_00, 0, 0), 100_00);
        assert_eq!(total(100_00, 5_000, 4_000), 70_00);
        assert_eq!(total(1, 5_000, 0), 1);
        assert_eq!(total(1, 5_001, 0), 0);
        assert_eq!(total(1_500_000, 0, 4_000), 2_100_000);
    }
}
