//! The Payment transaction of TPC-C (clause 2.5) in two round trips, or three if the customer is
//! selected by name.
//!
//! Not here: the new C_DATA, which is that of the row-by-row mode.

use model::{DbError, Done, Row, Value};

use super::super::inputs::{Payment, Who, last_name};
use super::super::payment::{DATA_MAX, begin_data};
use super::super::statements::Stmt;
use super::super::tx::{Tx, middle, wrong_count};
use super::flight::Flight;
use super::statements::CUSTOMER_PAID;
use super::{BEGIN, COMMIT};

/// Runs a Payment transaction from BEGIN to COMMIT, in few round trips (clause 2.5.2.2).
pub(super) async fn converse(tx: &mut Tx<'_>, payment: &Payment) -> Result<Done, DbError> {
    let mut names = std::mem::take(&mut tx.words.short);
    let mut data = std::mem::take(&mut tx.words.data);
    data.clear();
    let (mut c_id, mut bad_credit) = open(tx, payment, &mut names, &mut data).await?;
    if let Who::LastName(number) = payment.who {
        let found = middle(tx.words.namesakes.len()).map(|at| tx.words.namesakes[at].0);
        c_id = found.ok_or_else(|| wrong_count("customer by last name", &[number.into()], 0))?;
        let mut see = |row: &dyn Row| see_customer(row, &mut data, &mut bad_credit);
        let flight = Flight::new(CUSTOMER_PAID, &key(payment, c_id));
        flight.ask(tx, &mut see).await?;
    }
    let Some(bad_credit) = bad_credit else {
        return Err(wrong_count("customer", &key(payment, c_id), 0));
    };
    if bad_credit {
        let was = std::mem::take(&mut tx.words.was);
        let was = std::mem::replace(&mut data, was);
        begin_data(&mut data, payment, c_id);
        data.push_str(&was);
        data.truncate(data.floor_char_boundary(DATA_MAX));
        tx.words.was = was;
    }
    let mut nothing = |_: &dyn Row| Ok(());
    let asked = {
        let flight = writing(tx, payment, c_id, bad_credit.then_some(data.as_str()), &names);
        flight.ask(tx, &mut nothing)
    };
    asked.await?;
    (tx.words.short, tx.words.data) = (names, data);
    Ok(Done::Committed)
}

/// Sends the first round trip of a Payment, which updates and reads warehouse and district, and
/// reads the customer, or all customers with the last name. Stores H_DATA in `names` and C_DATA in
/// `data`. Returns the customer's number (0 if selected by name) and whether the customer has bad
/// credit (`None` if not read).
async fn open(
    tx: &mut Tx<'_>,
    payment: &Payment,
    names: &mut String,
    data: &mut String,
) -> Result<(i64, Option<bool>), DbError> {
    let (w_id, d_id) = (Value::Int(payment.warehouse), Value::Int(payment.district));
    let amount = Value::cents(payment.cents);
    let mut flight = Flight::new(BEGIN, &[]);
    flight.call(Stmt::WarehousePaid.id(), &[amount, w_id]);
    flight.call(Stmt::DistrictPaid.id(), &[amount, w_id, d_id]);
    let said = match payment.who {
        Who::LastName(number) => last_name(number),
        Who::Id(_) => last_name(0),
    };
    let (c_w_id, c_d_id) = (payment.customer_warehouse.into(), payment.customer_district.into());
    let c_id = match payment.who {
        Who::Id(id) => {
            flight.call(CUSTOMER_PAID, &key(payment, id));
            id
        }
        Who::LastName(_) => {
            let values = [c_w_id, c_d_id, Value::Text(said.text())];
            flight.call(Stmt::CustomersByName.id(), &values);
            0
        }
    };
    flight.call(Stmt::WarehouseOfPayment.id(), &[w_id]);
    flight.call(Stmt::DistrictOfPayment.id(), &[w_id, d_id]);
    names.clear();
    let (mut bad_credit, mut n_places) = (None, 0);
    let mut namesakes = std::mem::take(&mut tx.words.namesakes);
    namesakes.clear();
    let mut see = |row: &dyn Row| match row.result_set() {
        0 if c_id != 0 => see_customer(row, data, &mut bad_credit),
        0 => {
            namesakes.push((row.int(0)?, 0));
            Ok(())
        }
        _ => {
            n_places += 1;
            names.push_str(if names.is_empty() { "" } else { "    " });
            names.push_str(row.text(0)?);
            (1..6).try_for_each(|column| row.text(column).map(|_| ()))
        }
    };
    flight.ask(tx, &mut see).await?;
    tx.words.namesakes = namesakes;
    match n_places {
        2 => Ok((c_id, bad_credit)),
        n => Err(wrong_count("warehouse and district of a payment", &[w_id, d_id], n)),
    }
}

fn key(payment: &Payment, c_id: i64) -> [Value<'static>; 3] {
    [payment.customer_warehouse, payment.customer_district, c_id].map(Value::Int)
}

/// Reads a customer's row: appends C_DATA to `data`, and stores in `bad_credit` whether the
/// customer has bad credit.
fn see_customer(
    row: &dyn Row,
    data: &mut String,
    bad_credit: &mut Option<bool>,
) -> Result<(), DbError> {
    (0..9).try_for_each(|column| row.text(column).map(|_| ()))?;
    *bad_credit = Some(row.text(10)? == "BC");
    row.cents(11)?;
    row.decimal(12, 4)?;
    row.cents(13)?;
    data.push_str(row.text(14)?);
    Ok(())
}

/// Returns the statements of the last round trip of a Payment, which write. `data` is the new
/// C_DATA of a customer with bad credit; `None` for good credit.
fn writing<'v>(
    tx: &Tx<'_>,
    payment: &Payment,
    c_id: i64,
    data: Option<&'v str>,
    names: &'v str,
) -> Flight<'v> {
    let amount = Value::cents(payment.cents);
    let [c_w_id, c_d_id, c_id] = key(payment, c_id);
    let mut flight = match data {
        None => Flight::new(Stmt::CustomerPays.id(), &[amount, amount, c_w_id, c_d_id, c_id]),
        Some(data) => {
            let values = [amount, amount, Value::Text(data), c_w_id, c_d_id, c_id];
            Flight::new(Stmt::CustomerPaysWithData.id(), &values)
        }
    };
    let (w_id, d_id) = (payment.warehouse.into(), payment.district.into());
    let date = tx.date();
    let values = [c_id, c_d_id, c_w_id, d_id, w_id, date, amount, Value::Text(names)];
    flight.call(Stmt::HistoryInsert.id(), &values);
    flight.call(COMMIT, &[]);
    flight
}
