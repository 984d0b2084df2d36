//! Statements of TPC-C's mode `batched`, declared after those of the row-by-row mode.
//!
//! A statement for several rows has a list of their keys, so that every server makes one index
//! look-up per key. There is a statement for each length of a list, since a prepared statement has
//! a fixed number of placeholders. Not here: their use.

use model::{Dialect, Sent, Statement, StatementId, StatementKind};

use super::super::schema::{DISTRICTS, LINES_MAX};
use super::super::statements::{self, N_STMTS};

use StatementKind::{Read, Write};

const LINES: u32 = LINES_MAX as u32;

/// Returns the id of the statement that reads `n` items.
pub(super) fn items(n: usize) -> StatementId {
    StatementId(N_STMTS + n as u32 - 1)
}

/// Returns the id of the statement that reads `n` stocks of a warehouse.
pub(super) fn stocks(n: usize) -> StatementId {
    StatementId(N_STMTS + LINES + n as u32 - 1)
}

/// Returns the id of the statement that inserts `n` order lines.
pub(super) fn lines(n: usize) -> StatementId {
    StatementId(N_STMTS + 2 * LINES + n as u32 - 1)
}

const OTHERS: u32 = N_STMTS + 3 * LINES;
pub(super) const CUSTOMER_PAID: StatementId = StatementId(OTHERS);
pub(super) const LAST_WITH_LINES: StatementId = StatementId(OTHERS + 1);
pub(super) const LOW_STOCK: StatementId = StatementId(OTHERS + 2);
pub(super) const NEW_ORDERS_DELETE: StatementId = StatementId(OTHERS + 3);
pub(super) const CUSTOMERS_OF_ORDERS: StatementId = StatementId(OTHERS + 4);
pub(super) const ORDERS_CARRIER: StatementId = StatementId(OTHERS + 5);
pub(super) const LINES_DELIVERED: StatementId = StatementId(OTHERS + 6);
pub(super) const LINES_AMOUNTS: StatementId = StatementId(OTHERS + 7);

/// Declares the statements of the row-by-row mode, which the mode `batched` uses too, and then its
/// own.
pub(in super::super) fn declare(dialect: &Dialect) -> Vec<Statement> {
    let mut all = statements::declare(dialect, Sent::Prepared);
    assert_eq!(all.len(), N_STMTS as usize, "the numbers above begin there");
    let mut add = |name, kind, sql: &str| {
        all.push(Statement::new(name, kind, dialect.sql(sql)));
    };
    let marks = |n: usize| vec!["?"; n].join(", ");
    let lengths = 1..=LINES_MAX as usize;
    for n in lengths.clone() {
        let sql =
            format!("SELECT i_id, i_price, i_name, i_data FROM item WHERE i_id IN ({})", marks(n));
        add("items of an order", Read, &sql);
    }
    let infos =
        (1..=DISTRICTS).map(|district| format!("WHEN {district} THEN s_dist_{district:02}"));
    let infos = infos.collect::<Vec<_>>().join(" ");
    for n in lengths.clone() {
        let sql = format!(
            "SELECT s_i_id, s_quantity, s_data, CASE ? + 0 {infos} END FROM stock{{lock hint}} \
             WHERE s_w_id = ? AND s_i_id IN ({}) ORDER BY s_i_id{{for update}}",
            marks(n)
        );
        add("stocks of an order", Read, &sql);
    }
    for n in lengths {
        let rows = vec!["(?, ?, ?, ?, ?, ?, NULL, ?, ?, ?)"; n].join(", ");
        let sql = format!(
            "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, \
             ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) VALUES {rows}"
        );
        add("order lines are entered", Write, &sql);
    }
    for (name, kind, sql, prefix) in OTHER {
        let o_id = if prefix == "o" { "o_id" } else { &format!("{prefix}_o_id") };
        let key = format!("({prefix}_d_id = ? AND {o_id} = ?)");
        let orders = vec![key; DISTRICTS as usize].join(" OR ");
        add(name, kind, &sql.replace("{orders}", &orders));
    }
    all
}

/// Name, type, SQL and column prefix of those statements of the mode `batched` that have a fixed
/// number of parameters. `{orders}` in the SQL stands for the keys of ten orders, in columns with
/// that prefix.
static OTHER: [(&str, StatementKind, &str, &str); 8] = [
    (
        "customer of the payment",
        Read,
        "SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, \
         c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance, \
         CASE WHEN c_credit = 'BC' THEN c_data ELSE '' END FROM customer{lock hint} \
         WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?{for update}",
        "",
    ),
    (
        "last order of a customer with its lines",
        Read,
        "SELECT o_id, o_entry_d, o_carrier_id, \
         ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM orders \
         JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
         WHERE o_w_id = ? AND o_d_id = ? AND o_id = (SELECT MAX(o_id) FROM orders \
         WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ?)",
        "",
    ),
    (
        "items of low stock",
        Read,
        "SELECT COUNT(DISTINCT s_i_id) FROM district \
         JOIN order_line ON ol_w_id = d_w_id AND ol_d_id = d_id AND ol_o_id < d_next_o_id \
         AND ol_o_id >= d_next_o_id - 20 \
         JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id \
         WHERE d_w_id = ? AND d_id = ? AND s_quantity < ?",
        "",
    ),
    (
        "orders leave the queue",
        Write,
        "DELETE FROM new_order WHERE no_w_id = ? AND ({orders})",
        "no",
    ),
    (
        "customers of delivered orders",
        Read,
        "SELECT o_d_id, o_c_id FROM orders WHERE o_w_id = ? AND ({orders})",
        "o",
    ),
    (
        "orders get their carrier",
        Write,
        "UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND ({orders})",
        "o",
    ),
    (
        "lines of orders are delivered",
        Write,
        "UPDATE order_line SET ol_delivery_d = ? WHERE ol_w_id = ? AND ({orders})",
        "ol",
    ),
    (
        "amounts and lines of orders",
        Read,
        "SELECT ol_d_id, SUM(ol_amount), COUNT(*) FROM order_line WHERE ol_w_id = ? AND ({orders}) \
         GROUP BY ol_d_id",
        "ol",
    ),
];
