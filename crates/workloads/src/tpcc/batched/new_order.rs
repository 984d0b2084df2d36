//! The New-Order transaction of TPC-C (clause 2.4) in two round trips: all reads, then all writes.
//!
//! Not here: the arithmetic, which is that of the row-by-row mode.

use std::ops::Range;

use model::{DbError, Done, Row, Value};

use super::super::inputs::{Line, NewOrder, UNUSED_ITEM};
use super::super::new_order::{quantity_left, total};
use super::super::random::ORIGINAL;
use super::super::schema::LINES_MAX;
use super::super::statements::Stmt;
use super::super::tx::{Tx, wrong_count};
use super::super::{BRAND_LINES, ORDER_LINES, ORDER_TOTAL};
use super::flight::Flight;
use super::statements::{items, lines, stocks};
use super::{BEGIN, COMMIT};

/// A line of a new order, together with the item and the stock that were read for it.
#[derive(Clone, Default)]
struct Pick {
    number: i64,
    line: Line,
    /// Index of the stock query that reads the stock of this line, among those of the first round
    /// trip.
    list: usize,
    /// Price of the item in cents, and whether I_DATA contains "ORIGINAL"; `None` if the item is
    /// not read yet or does not exist.
    item: Option<(i64, bool)>,
    /// S_QUANTITY, the position of S_DIST_xx in `infos`, and whether S_DATA contains "ORIGINAL";
    /// `None` if the stock is not read yet.
    stock: Option<(i64, Range<usize>, bool)>,
}

impl Pick {
    fn is_unused(&self) -> bool {
        self.line.item == UNUSED_ITEM
    }

    fn amount(&self) -> i64 {
        self.item.map_or(0, |(price, _)| price) * self.line.quantity
    }
}

/// Values from the first round trip of a New-Order that the order's header and total need.
#[derive(Default)]
struct Head {
    o_id: i64,
    d_tax: i64,
    w_tax: i64,
    discount: i64,
    n_rows: usize,
}

type Picks = [Pick; LINES_MAX as usize];

/// Runs a New-Order transaction from BEGIN to the commit or rollback, in two round trips (clause
/// 2.4.2.2).
pub(super) async fn converse(tx: &mut Tx<'_>, order: &NewOrder) -> Result<Done, DbError> {
    let mut picks = Picks::default();
    let places = picks.iter_mut().zip(order.in_lock_order());
    for (pick, (number, line)) in places.take(order.n_lines) {
        *pick = Pick { number, line, ..Pick::default() };
    }
    let picks = &mut picks[..order.n_lines];
    let mut infos = std::mem::take(&mut tx.words.data);
    infos.clear();
    let head = read(tx, order, picks, &mut infos).await?;
    let rolls_back = picks.iter().any(Pick::is_unused);
    take(picks)?;
    let mut nothing = |_: &dyn Row| Ok(());
    let asked = {
        let mut flight = writing(tx, order, &head, picks, &infos);
        if !rolls_back {
            flight.call(COMMIT, &[]);
        }
        flight.ask(tx, &mut nothing)
    };
    asked.await?;
    tx.words.data = infos;
    if rolls_back {
        return Ok(Done::RolledBack);
    }
    let sum = picks.iter().map(Pick::amount).sum();
    let is_brand = |pick: &&Pick| {
        pick.item.as_ref().is_some_and(|item| item.1)
            && pick.stock.as_ref().is_some_and(|stock| stock.2)
    };
    let total = total(sum, head.discount, head.w_tax + head.d_tax);
    tx.measured.push((ORDER_LINES, order.n_lines as u64));
    tx.measured.push((BRAND_LINES, picks.iter().filter(is_brand).count() as u64));
    tx.measured.push((ORDER_TOTAL, total as u64));
    Ok(Done::Committed)
}

/// Sends the first round trip of a New-Order, which gets the district's next order number, locks
/// the stocks, and reads all values. Appends S_DIST_xx of each line to `infos`.
async fn read(
    tx: &mut Tx<'_>,
    order: &NewOrder,
    picks: &mut [Pick],
    infos: &mut String,
) -> Result<Head, DbError> {
    let mut head = Head::default();
    let (flight, n_lists) = reading(order, picks);
    let mut visit = |row: &dyn Row| {
        let set = row.result_set();
        if set < n_lists {
            return see_stock(row, set, picks, infos);
        }
        match set - n_lists {
            0 => {
                head.d_tax = row.decimal(0, 4)?;
                head.o_id = row.int(1)? - 1;
            }
            1 => {
                head.discount = row.decimal(0, 4)?;
                row.text(1)?;
                row.text(2)?;
            }
            2 => head.w_tax = row.decimal(0, 4)?,
            _ => return see_item(row, picks),
        }
        head.n_rows += 1;
        Ok(())
    };
    flight.ask(tx, &mut visit).await?;
    match head.n_rows {
        3 => Ok(head),
        n => Err(wrong_count("district, customer and warehouse of an order", &[], n as u64)),
    }
}

/// Returns the statements of the first round trip of a New-Order, from BEGIN to the last read, and
/// how many of them query stock: one per supplying warehouse.
fn reading(order: &NewOrder, picks: &mut [Pick]) -> (Flight<'static>, usize) {
    let (w_id, d_id) = (Value::Int(order.warehouse), Value::Int(order.district));
    let mut flight = Flight::new(BEGIN, &[]);
    flight.call(Stmt::DistrictTakesOrder.id(), &[w_id, d_id]);
    let mut n_lists = 0;
    let in_use = picks.iter().filter(|pick| !pick.is_unused()).count();
    for list in
        picks[..in_use].chunk_by_mut(|a, b| a.line.supply_warehouse == b.line.supply_warehouse)
    {
        flight.value(d_id);
        flight.value(list[0].line.supply_warehouse.into());
        let (mut n, mut last) = (0, 0);
        for pick in list {
            pick.list = n_lists;
            if pick.line.item != last {
                (n, last) = (n + 1, pick.line.item);
                flight.value(last.into());
            }
        }
        flight.end(stocks(n));
        n_lists += 1;
    }
    flight.call(Stmt::DistrictOfOrder.id(), &[w_id, d_id]);
    flight.call(Stmt::CustomerOfOrder.id(), &[w_id, d_id, order.customer.into()]);
    flight.call(Stmt::WarehouseTax.id(), &[w_id]);
    picks.iter().for_each(|pick| flight.value(pick.line.item.into()));
    flight.end(items(picks.len()));
    (flight, n_lists)
}

fn see_stock(
    row: &dyn Row,
    list: usize,
    picks: &mut [Pick],
    infos: &mut String,
) -> Result<(), DbError> {
    let (item, quantity) = (row.int(0)?, row.int(1)?);
    let is_original = row.text(2)?.contains(ORIGINAL);
    let start = infos.len();
    infos.push_str(row.text(3)?);
    for pick in picks.iter_mut().filter(|pick| pick.list == list && pick.line.item == item) {
        pick.stock = Some((quantity, start..infos.len(), is_original));
    }
    Ok(())
}

fn see_item(row: &dyn Row, picks: &mut [Pick]) -> Result<(), DbError> {
    let (number, price) = (row.int(0)?, row.cents(1)?);
    row.text(2)?;
    let is_original = row.text(3)?.contains(ORIGINAL);
    for pick in picks.iter_mut().filter(|pick| pick.line.item == number) {
        pick.item = Some((price, is_original));
    }
    Ok(())
}

/// Subtracts the ordered quantities from the stocks that were read, line by line. Lines with the
/// same stock must be adjacent. Fails if an item or stock was not found.
fn take(picks: &mut [Pick]) -> Result<(), DbError> {
    let mut before: Option<(i64, i64, i64)> = None;
    for pick in picks.iter_mut().filter(|pick| !pick.is_unused()) {
        let Line { item, supply_warehouse, quantity } = pick.line;
        let missing = |what| wrong_count(what, &[supply_warehouse.into(), item.into()], 0);
        pick.item.ok_or_else(|| missing("item"))?;
        let (left, _, _) = pick.stock.as_mut().ok_or_else(|| missing("stock"))?;
        if let Some((supply_before, item_before, left_before)) = before
            && (supply_before, item_before) == (supply_warehouse, item)
        {
            *left = left_before;
        }
        *left = quantity_left(*left, quantity);
        before = Some((supply_warehouse, item, *left));
    }
    Ok(())
}

/// Returns the statements of the second round trip of a New-Order, which write, without the COMMIT.
fn writing<'v>(
    tx: &Tx<'_>,
    order: &NewOrder,
    head: &Head,
    picks: &[Pick],
    infos: &'v str,
) -> Flight<'v> {
    let (w_id, d_id) = (Value::Int(order.warehouse), Value::Int(order.district));
    let o_id = Value::Int(head.o_id);
    let (n_lines, all_local) = (order.n_lines as i64, i64::from(order.is_local()));
    let values =
        [o_id, d_id, w_id, order.customer.into(), tx.date(), n_lines.into(), all_local.into()];
    let mut flight = Flight::new(Stmt::OrderInsert.id(), &values);
    flight.call(Stmt::NewOrderInsert.id(), &[o_id, d_id, w_id]);
    let taken = || picks.iter().filter_map(|pick| Some((pick, pick.stock.as_ref()?)));
    for (pick, (left, _, _)) in taken() {
        let Line { item, supply_warehouse, quantity } = pick.line;
        let remote = i64::from(supply_warehouse != order.warehouse);
        let values = [*left, quantity, remote, supply_warehouse, item].map(Value::Int);
        flight.call(Stmt::StockUpdate.id(), &values);
    }
    for (pick, (_, info, _)) in taken() {
        let Line { item, supply_warehouse, quantity } = pick.line;
        [o_id, d_id, w_id].into_iter().for_each(|value| flight.value(value));
        let numbers = [pick.number, item, supply_warehouse, quantity];
        numbers.into_iter().for_each(|value| flight.value(value.into()));
        flight.value(Value::cents(pick.amount()));
        flight.value(Value::Text(&infos[info.clone()]));
    }
    flight.end(lines(taken().count()));
    flight
}
