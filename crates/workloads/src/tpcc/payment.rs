//! The Payment transaction of TPC-C (clause 2.5): books a customer's payment for the customer, the
//! warehouse and the district.
//!
//! Not here: the inputs, BEGIN and COMMIT.

use std::fmt::Write as _;

use model::{DbError, Done, Value, execute};

use super::inputs::{Payment, Who, last_name};
use super::statements::Stmt;
use super::tx::{Tx, middle, wrong_count};

/// Maximum number of characters in the column C_DATA; longer text is cut.
pub(super) const DATA_MAX: usize = 500;

/// Runs the Payment transaction as clause 2.5.2.2 describes it. Warehouse and district are both
/// updated before anything is read, so that the snapshot is taken after the wait for their locks.
pub(super) async fn converse(tx: &mut Tx<'_>, payment: &Payment) -> Result<Done, DbError> {
    let (w_id, d_id) = (Value::Int(payment.warehouse), Value::Int(payment.district));
    let amount = Value::cents(payment.cents);
    tx.ask(Stmt::WarehousePaid.id(), &[amount, w_id]).await?;
    tx.ask(Stmt::DistrictPaid.id(), &[amount, w_id, d_id]).await?;
    read_places(tx, w_id, d_id).await?;
    let c_id = customer_id(tx, payment).await?;
    pay(tx, payment, c_id).await?;
    let values = [
        c_id.into(),
        payment.customer_district.into(),
        payment.customer_warehouse.into(),
        d_id,
        w_id,
        tx.date(),
        amount,
        Value::Text(&tx.words.short),
    ];
    execute(tx.session, Stmt::HistoryInsert.id(), &values).await?;
    Ok(Done::Committed)
}

/// Reads the addresses of warehouse and district. Stores H_DATA, their two names separated by four
/// blanks, in `words.short`.
async fn read_places(tx: &mut Tx<'_>, w_id: Value<'_>, d_id: Value<'_>) -> Result<(), DbError> {
    let mut names = std::mem::take(&mut tx.words.short);
    names.clear();
    tx.one("warehouse", Stmt::WarehouseOfPayment.id(), &[w_id], &mut |row| {
        names.push_str(row.text(0)?);
        (1..6).try_for_each(|column| row.text(column).map(|_| ()))
    })
    .await?;
    names.push_str("    ");
    tx.one("district", Stmt::DistrictOfPayment.id(), &[w_id, d_id], &mut |row| {
        names.push_str(row.text(0)?);
        (1..6).try_for_each(|column| row.text(column).map(|_| ()))
    })
    .await?;
    tx.words.short = names;
    Ok(())
}

/// Returns the number of the selected customer. If several have the last name, this is the middle
/// one by first name.
async fn customer_id(tx: &mut Tx<'_>, payment: &Payment) -> Result<i64, DbError> {
    let number = match payment.who {
        Who::Id(id) => return Ok(id),
        Who::LastName(number) => number,
    };
    let name = last_name(number);
    let values = [
        payment.customer_warehouse.into(),
        payment.customer_district.into(),
        Value::Text(name.text()),
    ];
    let mut namesakes = std::mem::take(&mut tx.words.namesakes);
    namesakes.clear();
    tx.visit(Stmt::CustomersByName.id(), &values, &mut |row| {
        namesakes.push((row.int(0)?, 0));
        Ok(())
    })
    .await?;
    let chosen = middle(namesakes.len()).map(|place| namesakes[place].0);
    tx.words.namesakes = namesakes;
    chosen.ok_or_else(|| wrong_count("customer", &values, 0))
}

/// Reads the customer's row, which locks the row, and books the payment in it.
async fn pay(tx: &mut Tx<'_>, payment: &Payment, c_id: i64) -> Result<(), DbError> {
    let [w_id, d_id] = [payment.customer_warehouse, payment.customer_district].map(Value::Int);
    let key = [w_id, d_id, c_id.into()];
    let mut bad_credit = false;
    tx.one("customer", Stmt::CustomerOfPayment.id(), &key, &mut |row| {
        (0..9).try_for_each(|column| row.text(column).map(|_| ()))?;
        bad_credit = row.text(10)? == "BC";
        row.cents(11)?;
        row.decimal(12, 4)?;
        row.cents(13).map(|_| ())
    })
    .await?;
    let amount = Value::cents(payment.cents);
    if !bad_credit {
        let values = [amount, amount, w_id, d_id, c_id.into()];
        return tx.ask(Stmt::CustomerPays.id(), &values).await.map(|_| ());
    }
    let mut data = std::mem::take(&mut tx.words.data);
    begin_data(&mut data, payment, c_id);
    tx.one("data of the customer", Stmt::CustomerData.id(), &key, &mut |row| {
        data.push_str(row.text(0)?);
        Ok(())
    })
    .await?;
    data.truncate(data.floor_char_boundary(DATA_MAX));
    let values = [amount, amount, Value::Text(&data), w_id, d_id, c_id.into()];
    tx.ask(Stmt::CustomerPaysWithData.id(), &values).await?;
    tx.words.data = data;
    Ok(())
}

/// Writes the first part of the new C_DATA for a customer with bad credit: C_ID, C_D_ID, C_W_ID,
/// D_ID, W_ID and H_AMOUNT.
pub(super) fn begin_data(data: &mut String, payment: &Payment, c_id: i64) {
    let Payment { warehouse, district, customer_warehouse, customer_district, cents, .. } = payment;
    let (whole, hundredths) = (cents / 100, cents % 100);
    data.clear();
    write!(
        data,
        "{c_id} {customer_district} {customer_warehouse} {district} {warehouse} \
         {whole}.{hundredths:02}|"
    )
    .expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_of_bad_credit_begin_with_the_payment() {
        let payment = Payment {
            warehouse: 5,
            district: 4,
            customer_warehouse: 3,
            customer_district: 2,
            who: Who::Id(1),
            cents: 1_234_05,
        };
        let mut data = "old".to_owned();
        begin_data(&mut data, &payment, 1);
        assert_eq!(data, "1 2 3 4 5 1234.05|");
    }
}
