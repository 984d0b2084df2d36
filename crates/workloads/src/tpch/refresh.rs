//! The refresh functions (clauses 2.6 and 2.7): RF1 inserts a set of new orders with their lines,
//! and RF2 deletes as many old ones.
//!
//! The rows of a set come from the same generator as the tables, beyond their last row, as the
//! standard's generator has it. The table `tpch_refresh` holds how many sets were inserted and
//! deleted. Not here: when a refresh function is executed (course, client).

use model::{
    DbError, DbErrorKind, Dialect, Request, Row, Session, Statement, StatementId, StatementKind,
    Table, Value, execute, query,
};
use tpchgen::generators::{LineItem, LineItemGenerator, Order, OrderGenerator};

use super::population::{line_values, order_values};
use super::queries::QUERIES;
use super::schema::{LINEITEM, ORDERS, n_rows};

/// Number of sets; a set has a thousandth of the orders (clause 4.2.5: SF * 1500). There are as
/// many orders to delete.
pub(super) const SETS: i64 = 1_000;

/// Distance of the key of an inserted order from that of the order that the same set deletes: of 32
/// keys, the standard's tables use the first eight.
const KEY_GAP: i64 = 8;

/// Error of an RF2 that must not be executed.
pub(super) const NOT_EXECUTED: &str = "rf2 was not executed, because rf1 failed";

/// Number of rows or keys of a statement; those that are left are sent one by one.
const BATCH: usize = 50;

const fn statement(nth: usize) -> StatementId {
    StatementId((QUERIES + nth) as u32)
}

/// Statement that reads how many sets were inserted and deleted. The statements of refresh
/// functions follow those of the queries, in the order in which they are declared.
const READ_SETS: StatementId = statement(0);
const SET_INSERTED: StatementId = statement(1);
const SET_DELETED: StatementId = statement(2);
/// Statements that insert one order, and [`BATCH`] orders.
const INSERT_ORDERS: [StatementId; 2] = [statement(3), statement(4)];
const INSERT_LINES: [StatementId; 2] = [statement(5), statement(6)];
/// Statements that delete the order with one key, and those with [`BATCH`] keys.
const DELETE_ORDERS: [StatementId; 2] = [statement(7), statement(8)];
const DELETE_LINES: [StatementId; 2] = [statement(9), statement(10)];

/// Returns the statements of the refresh functions.
pub(super) fn statements(tables: &[Table], dialect: &Dialect) -> Vec<Statement> {
    use StatementKind::{Read, Write};
    let write = |name, sql: String| Statement::new(name, Write, sql);
    let insert = |table: usize, n_rows| dialect.insert_rows(&tables[table], n_rows);
    let delete = |table: &str, key: &str, n_keys: usize| {
        let marks = vec!["?"; n_keys].join(", ");
        dialect.sql(&format!("DELETE FROM {table} WHERE {key} IN ({marks})"))
    };
    let set = |column: &str| dialect.sql(&format!("UPDATE tpch_refresh SET {column} = ?"));
    vec![
        Statement::new("refresh state", Read, "SELECT inserted, deleted FROM tpch_refresh"),
        write("set inserted", set("inserted")),
        write("set deleted", set("deleted")),
        write("order insert", insert(ORDERS, 1)),
        write("orders insert", insert(ORDERS, BATCH)),
        write("line insert", insert(LINEITEM, 1)),
        write("lines insert", insert(LINEITEM, BATCH)),
        write("order delete", delete("orders", "o_orderkey", 1)),
        write("orders delete", delete("orders", "o_orderkey", BATCH)),
        write("order lines delete", delete("lineitem", "l_orderkey", 1)),
        write("orders lines delete", delete("lineitem", "l_orderkey", BATCH)),
    ]
}

/// Numbers of sets that were inserted and deleted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) inserted: i64,
    pub(super) deleted: i64,
}

impl State {
    /// Reads the state from the database.
    pub(super) async fn read(session: &mut dyn Session) -> Result<State, DbError> {
        let mut state = None;
        let request = Request::Execute(model::Call { statement: READ_SETS, values: &[] });
        query(session, request, &mut |row: &dyn Row| {
            state = Some(State { inserted: row.int(0)?, deleted: row.int(1)? });
            Ok(())
        })
        .await?;
        let why = "the table tpch_refresh is empty: build the data again";
        state.ok_or_else(|| DbError::new(DbErrorKind::Shape, why.to_owned()))
    }

    /// Fails if more sets were deleted than inserted, as by earlier versions of dbdyno.
    pub(super) fn check(self) -> Result<(), DbError> {
        let State { inserted, deleted } = self;
        let why = format!(
            "rf2 was executed {deleted} times, but rf1 only {inserted} times: drop the data and \
             build them again"
        );
        if deleted > inserted { Err(DbError::new(DbErrorKind::Other, why)) } else { Ok(()) }
    }

    /// Fails unless at least `n` sets are left to insert.
    pub(super) fn check_left(self, n: i64) -> Result<(), DbError> {
        let left = SETS - self.inserted;
        let why = format!(
            "{} of {SETS} refresh sets are used, and this run needs {n} more: drop the data and build \
             them again",
            self.inserted
        );
        if left < n { Err(DbError::new(DbErrorKind::Other, why)) } else { Ok(()) }
    }
}

/// A set of orders to insert, with their lines.
#[derive(Debug, Default)]
pub(super) struct Set {
    /// Number of the set, from 1; 0 for an empty one.
    pub(super) number: i64,
    orders: Vec<Order<'static>>,
    lines: Vec<LineItem<'static>>,
}

/// Returns the number of orders of a set.
pub(super) fn n_orders(scale: f64) -> i64 {
    n_rows(ORDERS, scale) as i64 / SETS
}

/// Returns the index of the first order that set `number` deletes. Sets are counted from 1, orders
/// too.
fn first_order(scale: f64, number: i64) -> i64 {
    (number - 1) * n_orders(scale) + 1
}

/// Returns the keys of the orders that set `number`, counted from 1, deletes.
fn deleted_keys(scale: f64, number: i64) -> impl Iterator<Item = i64> {
    let first = first_order(scale, number);
    (first..first + n_orders(scale)).map(OrderGenerator::make_order_key)
}

impl Set {
    /// Generates set `number`, counted from 1.
    pub(super) fn new(scale: f64, number: i64) -> Set {
        let (part, parts) = ((SETS + number) as i32, SETS as i32);
        let mut keys = deleted_keys(scale, number).map(|key| key + KEY_GAP);
        let mut orders = Vec::new();
        let mut generated = Vec::new();
        for (order, key) in OrderGenerator::new(scale, part, parts).into_iter().zip(&mut keys) {
            generated.push((order.o_orderkey, key));
            orders.push(Order { o_orderkey: key, ..order });
        }
        let mut lines: Vec<LineItem<'static>> = Vec::new();
        let mut at = 0;
        for line in LineItemGenerator::new(scale, part, parts) {
            while generated.get(at).is_some_and(|(key, _)| *key != line.l_orderkey) {
                at += 1;
            }
            let Some((_, key)) = generated.get(at) else { break };
            lines.push(LineItem { l_orderkey: *key, ..line });
        }
        Set { number, orders, lines }
    }

    /// Inserts the set within the current transaction.
    async fn insert(&self, session: &mut dyn Session) -> Result<(), DbError> {
        let clerks: Vec<String> =
            self.orders.iter().map(|order| order.o_clerk.to_string()).collect();
        let orders = self.orders.iter().zip(&clerks);
        let orders: Vec<[Value<'_>; 9]> =
            orders.map(|(order, clerk)| order_values(order, clerk)).collect();
        send(session, INSERT_ORDERS, &orders).await?;
        let lines: Vec<[Value<'_>; 16]> = self.lines.iter().map(line_values).collect();
        send(session, INSERT_LINES, &lines).await
    }
}

/// Sends rows of values: [`BATCH`] of them with the second statement, those that are left one by
/// one with the first.
async fn send<const N: usize>(
    session: &mut dyn Session,
    [one, many]: [StatementId; 2],
    rows: &[[Value<'_>; N]],
) -> Result<(), DbError> {
    let mut batches = rows.chunks_exact(BATCH);
    for batch in &mut batches {
        execute(session, many, batch.as_flattened()).await?;
    }
    for row in batches.remainder() {
        execute(session, one, row).await?;
    }
    Ok(())
}

/// Executes RF1, which inserts new orders, within the current transaction. `set` must be the one
/// after the last that `state` counts as inserted.
pub(super) async fn insert(
    session: &mut dyn Session,
    state: State,
    set: &Set,
) -> Result<(), DbError> {
    confirm(session, state).await?;
    set.insert(session).await?;
    execute(session, SET_INSERTED, &[Value::Int(state.inserted + 1)]).await?;
    Ok(())
}

/// Executes RF2 within the current transaction: deletes the orders of the set that follows those of
/// `state`, and their lines.
pub(super) async fn delete(
    session: &mut dyn Session,
    state: State,
    scale: f64,
) -> Result<(), DbError> {
    confirm(session, state).await?;
    let number = state.deleted + 1;
    let keys: Vec<[Value<'_>; 1]> =
        deleted_keys(scale, number).map(|key| [Value::Int(key)]).collect();
    send(session, DELETE_LINES, &keys).await?;
    send(session, DELETE_ORDERS, &keys).await?;
    execute(session, SET_DELETED, &[Value::Int(number)]).await?;
    Ok(())
}

/// Fails unless the database still has the state that this client knows, since another client may
/// not use its sets.
async fn confirm(session: &mut dyn Session, known: State) -> Result<(), DbError> {
    let found = State::read(session).await?;
    if found == known {
        return Ok(());
    }
    let message = format!(
        "another program used refresh sets meanwhile: {} were inserted and {} deleted, not {} and \
         {}",
        found.inserted, found.deleted, known.inserted, known.deleted
    );
    Err(DbError::new(DbErrorKind::Other, message))
}

/// Query that returns a row if a refresh function has changed the data.
pub(super) const CHANGED: &str = "SELECT inserted, deleted FROM tpch_refresh WHERE inserted > 0 \
                                  OR deleted > 0";

/// Query that returns a row if RF1 was executed and the RF2 that belongs to it was not.
pub(super) const HALF_DONE: &str =
    "SELECT inserted, deleted FROM tpch_refresh WHERE inserted > deleted";

/// Query that returns a row if RF2 was executed more often than RF1.
pub(super) const OVERDONE: &str =
    "SELECT inserted, deleted FROM tpch_refresh WHERE inserted < deleted";

#[cfg(test)]
mod tests {
    use std::fmt::Display;

    use sha2::{Digest, Sha256};

    use super::*;

    /// Returns the first six bytes of the SHA-256 of lines of text, in hexadecimal.
    fn hash(lines: impl IntoIterator<Item = impl Display>) -> String {
        let text: String = lines.into_iter().map(|line| format!("{line}\n")).collect();
        Sha256::digest(text).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_first_set_is_that_of_the_standards_generator() {
        let set = Set::new(1.0, 1);
        assert_eq!((set.orders.len(), set.lines.len()), (1_500, 5_822));
        assert_eq!(hash(&set.orders), "9959cc8fc853");
        assert_eq!(hash(&set.lines), "bd924b1d723f");
        let keys = deleted_keys(1.0, 1).map(|key| format!("{key}|"));
        assert_eq!(hash(keys), "801d3d83fd07");
        assert_eq!(Set::new(1.0, 2).lines.len(), 6_076);
    }

    #[test]
    fn sets_use_each_key_once_and_delete_only_orders_of_the_tables() {
        let scale = 0.01;
        let mut deleted: Vec<i64> =
            (1..=SETS).flat_map(|number| deleted_keys(scale, number)).collect();
        let orders: Vec<i64> = (1..=15_000).map(OrderGenerator::make_order_key).collect();
        assert_eq!(deleted, orders);
        let inserted = deleted.clone().into_iter().map(|key| key + KEY_GAP);
        deleted.extend(inserted);
        deleted.sort_unstable();
        deleted.dedup();
        assert_eq!(deleted.len(), 30_000);
    }
}
