//! The five transactions of TPC-C by stored routines, with one round trip per transaction (mode
//! `procedures`).
//!
//! The inputs are arguments; the output that the specification demands is returned as rows. Not
//! here: the routines' bodies (one file per language).

mod plpgsql;
mod psm;

use std::fmt::Write as _;

use model::{
    DbError, DbErrorKind, Dialect, Done, Routine, RoutineLanguage, Statement, StatementId,
    StatementKind, Value,
};

use super::inputs::{Delivery, Inputs, Line, NewOrder, OrderStatus, Payment, StockLevel, Who};
use super::inputs::{UNUSED_ITEM, last_name};
use super::tx::{Tx, wrong_count};
use super::{BRAND_LINES, DELIVERIES_SKIPPED, ORDER_LINES, ORDER_TOTAL, ORDERS_DELIVERED};

/// SQLSTATE with which a PL/pgSQL routine reports that it has rolled back an order with an unused
/// item.
const ROLLED_BACK: &str = "TR001";

/// Name of a stored routine, whether a call reads or writes, and the number of its arguments.
struct CalledRoutine {
    name: &'static str,
    kind: StatementKind,
    n_values: usize,
}

const fn called(name: &'static str, kind: StatementKind, n_values: usize) -> CalledRoutine {
    CalledRoutine { name, kind, n_values }
}

/// Stored routines of the workload, in the order of the indices of transaction types.
static ALL: [CalledRoutine; 5] = [
    called("dbdyno_tpcc_new_order", StatementKind::Write, 6),
    called("dbdyno_tpcc_payment", StatementKind::Write, 8),
    called("dbdyno_tpcc_order_status", StatementKind::Read, 4),
    called("dbdyno_tpcc_delivery", StatementKind::Write, 3),
    called("dbdyno_tpcc_stock_level", StatementKind::Read, 3),
];

const NEW_ORDER: StatementId = StatementId(0);
const PAYMENT: StatementId = StatementId(1);
const ORDER_STATUS: StatementId = StatementId(2);
const DELIVERY: StatementId = StatementId(3);
const STOCK_LEVEL: StatementId = StatementId(4);

/// Returns the definitions of the stored routines in the language of the dialect; empty if the
/// database has no routines.
pub(super) fn routines(dialect: &Dialect) -> Vec<Routine> {
    let names = ALL.each_ref().map(|routine| routine.name);
    match dialect.routines {
        None => Vec::new(),
        Some(RoutineLanguage::Psm) => psm::routines(names),
        Some(RoutineLanguage::PlPgSql) => plpgsql::routines(names),
    }
}

/// Declares the statements that call the stored routines, in the order of the transaction types.
pub(super) fn declare(dialect: &Dialect) -> Vec<Statement> {
    let call = |routine: &CalledRoutine| {
        let (name, marks) = (routine.name, vec!["?"; routine.n_values].join(", "));
        let sql = match dialect.routines {
            Some(RoutineLanguage::PlPgSql) => format!("SELECT * FROM {name}({marks})"),
            Some(RoutineLanguage::Psm) | None => format!("CALL {name}({marks})"),
        };
        Statement::new(name, routine.kind, dialect.sql(&sql))
    };
    ALL.iter().map(call).collect()
}

/// Runs a whole transaction by one call of a stored routine.
pub(super) async fn transact(tx: &mut Tx<'_>, inputs: &Inputs) -> Result<Done, DbError> {
    match inputs {
        Inputs::NewOrder(order) => new_order(tx, order).await,
        Inputs::Payment(payment) => pay(tx, payment).await,
        Inputs::OrderStatus(asked) => order_status(tx, asked).await,
        Inputs::Delivery(delivery) => deliver(tx, delivery).await,
        Inputs::StockLevel(asked) => stock_level(tx, asked).await,
    }
}

async fn new_order(tx: &mut Tx<'_>, order: &NewOrder) -> Result<Done, DbError> {
    let mut lines = std::mem::take(&mut tx.words.data);
    put_lines(&mut lines, order);
    let values = [
        order.warehouse.into(),
        order.district.into(),
        order.customer.into(),
        tx.date(),
        i64::from(order.is_local()).into(),
        Value::Text(&lines),
    ];
    let (mut is_committed, mut n_brand, mut total) = (false, 0, 0);
    let asked = tx
        .one("new order", NEW_ORDER, &values, &mut |row| {
            is_committed = row.int(0)? == 1;
            row.int(1)?;
            (2..5).try_for_each(|column| row.decimal(column, 4).map(|_| ()))?;
            (5..7).try_for_each(|column| row.text(column).map(|_| ()))?;
            total = row.cents(7)?;
            n_brand = row.int(8)?;
            row.text(9).map(|_| ())
        })
        .await;
    tx.words.data = lines;
    match asked {
        Err(no) if no.sqlstate == ROLLED_BACK => is_committed = false,
        asked => asked?,
    }
    if !is_committed {
        let has_unused = order.lines().iter().any(|line| line.item == UNUSED_ITEM);
        return match has_unused {
            true => Ok(Done::RolledBack),
            false => Err(wrong_count("item of an order", &[], 0)),
        };
    }
    tx.measured.push((ORDER_LINES, order.n_lines as u64));
    tx.measured.push((BRAND_LINES, n_brand as u64));
    tx.measured.push((ORDER_TOTAL, total as u64));
    Ok(Done::Committed)
}

/// Appends the order lines to `text` in the encoding that the stored routines parse, in the order
/// in which stocks are locked.
fn put_lines(text: &mut String, order: &NewOrder) {
    text.clear();
    for (number, line) in order.in_lock_order().iter().take(order.n_lines) {
        let Line { item, supply_warehouse, quantity } = line;
        write!(text, "{number:02}{item:06}{supply_warehouse:06}{quantity:02}")
            .expect("a string takes everything");
    }
}

async fn pay(tx: &mut Tx<'_>, payment: &Payment) -> Result<Done, DbError> {
    let name = name_of(payment.who);
    let values = [
        payment.warehouse.into(),
        payment.district.into(),
        payment.customer_warehouse.into(),
        payment.customer_district.into(),
        id_of(payment.who).into(),
        Value::Text(name.text()),
        Value::cents(payment.cents),
        tx.date(),
    ];
    tx.one("payment", PAYMENT, &values, &mut |row| {
        row.int(0)?;
        (1..22).try_for_each(|column| row.text(column).map(|_| ()))?;
        row.value(22);
        row.text(23)?;
        row.cents(24)?;
        row.decimal(25, 4)?;
        row.cents(26)?;
        row.text(27).map(|_| ())
    })
    .await?;
    Ok(Done::Committed)
}

async fn order_status(tx: &mut Tx<'_>, asked: &OrderStatus) -> Result<Done, DbError> {
    let name = name_of(asked.who);
    let values = [
        asked.warehouse.into(),
        asked.district.into(),
        id_of(asked.who).into(),
        Value::Text(name.text()),
    ];
    let mut n_lines = 0;
    tx.visit(ORDER_STATUS, &values, &mut |row| {
        n_lines += 1;
        row.int(0)?;
        row.cents(1)?;
        (2..5).try_for_each(|column| row.text(column).map(|_| ()))?;
        row.int(5)?;
        row.value(6);
        row.optional_int(7)?;
        (8..11).try_for_each(|column| row.int(column).map(|_| ()))?;
        row.cents(11)?;
        row.value(12);
        Ok(())
    })
    .await?;
    match n_lines {
        0 => Err(DbError::new(DbErrorKind::Shape, "the last order of a customer has no lines")),
        _ => Ok(Done::Committed),
    }
}

async fn deliver(tx: &mut Tx<'_>, delivery: &Delivery) -> Result<Done, DbError> {
    let values = [delivery.warehouse.into(), delivery.carrier.into(), tx.date()];
    let (mut n_delivered, mut n_skipped) = (0, 0);
    tx.one("delivery", DELIVERY, &values, &mut |row| {
        (n_delivered, n_skipped) = (row.int(0)?, row.int(1)?);
        row.text(2).map(|_| ())
    })
    .await?;
    tx.measured.push((ORDERS_DELIVERED, n_delivered as u64));
    tx.measured.push((DELIVERIES_SKIPPED, n_skipped as u64));
    Ok(Done::Committed)
}

async fn stock_level(tx: &mut Tx<'_>, asked: &StockLevel) -> Result<Done, DbError> {
    let values = [asked.warehouse.into(), asked.district.into(), asked.threshold.into()];
    tx.one("stock level", STOCK_LEVEL, &values, &mut |row| row.int(0).map(|_| ())).await?;
    Ok(Done::Committed)
}

/// Returns the customer's number as an argument of a routine; 0 if the customer is selected by last
/// name.
fn id_of(who: Who) -> i64 {
    match who {
        Who::Id(id) => id,
        Who::LastName(_) => 0,
    }
}

/// Returns the customer's last name as an argument of a routine; empty if the customer is selected
/// by number.
fn name_of(who: Who) -> super::random::LastName {
    match who {
        Who::LastName(number) => last_name(number),
        Who::Id(_) => super::random::LastName::default(),
    }
}
