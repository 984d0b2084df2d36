//! Consistency checks of TPC-C: the twelve conditions of clause 3.3.2, and the numbers of rows of
//! clause 4.3.3.1, each as a query for rows that violate it.
//!
//! The queries join grouped tables on keys, without common table expressions, window functions or
//! full joins, so that every supported database runs them in less than quadratic time. Not here:
//! when they run (app).

use model::Check;

use super::parameters::Data;
use super::schema::DISTRICTS;

/// Returns the checks of all thirteen conditions of TPC-C, in the order of [`CONDITIONS`].
pub(super) fn checks(data: &Data) -> Vec<Check> {
    let delivered_at_load = (data.first_undelivered() - 1).to_string();
    let [items, customers] = [data.items(), DISTRICTS * data.customers()];
    let check = |(id, title, sql): &(&'static str, &'static str, &str)| {
        let sql = sql.replace("{delivered}", DELIVERED).replace("{paid}", PAID);
        let sql = sql.replace("{delivered_at_load}", &delivered_at_load);
        let sql = sql.replace("{items}", &items.to_string());
        let sql = sql.replace("{districts}", &DISTRICTS.to_string());
        let sql = sql.replace("{customers}", &customers.to_string());
        Check { id, title: (*title).into(), sql }
    };
    CONDITIONS.iter().map(check).collect()
}

/// Conditions that may fail on a storage engine without rollback and isolation. With such an
/// engine, a rolled-back new order remains, without its last line, and two transactions may take
/// the same order number or deliver the same order. Sums of payments remain right, since a single
/// statement updates each.
pub(super) const NEED_TRANSACTIONS: [&str; 9] = [
    "3.3.2.2", "3.3.2.3", "3.3.2.4", "3.3.2.5", "3.3.2.6", "3.3.2.7", "3.3.2.10", "3.3.2.11",
    "3.3.2.12",
];

/// Subquery for the sum of the amounts of delivered order lines, for each customer.
const DELIVERED: &str = "(SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS sum_ol_amount \
     FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
     WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id)";

/// Subquery for the sum of the payments of each customer.
const PAID: &str = "(SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS sum_h_amount \
     FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id)";

/// Clause, title and query of each consistency condition. The query returns the rows that violate
/// the condition.
static CONDITIONS: [(&str, &str, &str); 13] = [
    (
        "3.3.2.1",
        "w_ytd is the sum of d_ytd of the warehouse's districts",
        "SELECT w_id, w_ytd, sum_d_ytd FROM warehouse \
         LEFT JOIN (SELECT d_w_id, SUM(d_ytd) AS sum_d_ytd FROM district GROUP BY d_w_id) d \
         ON d_w_id = w_id \
         WHERE sum_d_ytd IS NULL OR w_ytd <> sum_d_ytd",
    ),
    (
        "3.3.2.2",
        "d_next_o_id - 1 is the largest o_id, and the largest no_o_id where there is any",
        "SELECT d_w_id, d_id, d_next_o_id, max_o_id, max_no_o_id FROM district \
         LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS max_o_id FROM orders \
         GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id \
         LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS max_no_o_id FROM new_order \
         GROUP BY no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id \
         WHERE max_o_id IS NULL OR d_next_o_id - 1 <> max_o_id \
         OR d_next_o_id - 1 <> max_no_o_id",
    ),
    (
        "3.3.2.3",
        "the no_o_id of a district have no gaps: largest - smallest + 1 is their count",
        "SELECT no_w_id, no_d_id, MIN(no_o_id) AS min_no_o_id, MAX(no_o_id) AS max_no_o_id, \
         COUNT(*) AS n_new_orders FROM new_order GROUP BY no_w_id, no_d_id \
         HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)",
    ),
    (
        "3.3.2.4",
        "the sum of o_ol_cnt of a district is its number of order lines",
        "SELECT d_w_id, d_id, sum_o_ol_cnt, n_order_lines FROM district \
         LEFT JOIN (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS sum_o_ol_cnt FROM orders \
         GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id \
         LEFT JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS n_order_lines FROM order_line \
         GROUP BY ol_w_id, ol_d_id) l ON ol_w_id = d_w_id AND ol_d_id = d_id \
         WHERE COALESCE(sum_o_ol_cnt, 0) <> COALESCE(n_order_lines, 0)",
    ),
    (
        "3.3.2.5",
        "o_carrier_id is null exactly where the order is in new_order",
        "SELECT o_w_id, o_d_id, o_id, o_carrier_id, no_o_id FROM orders \
         LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id \
         WHERE (o_carrier_id IS NULL AND no_o_id IS NULL) \
         OR (o_carrier_id IS NOT NULL AND no_o_id IS NOT NULL)",
    ),
    (
        "3.3.2.6",
        "o_ol_cnt is the number of the order's lines",
        "SELECT o_w_id, o_d_id, o_id, o_ol_cnt, n_order_lines FROM orders \
         LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS n_order_lines \
         FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l \
         ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
         WHERE o_ol_cnt <> COALESCE(n_order_lines, 0)",
    ),
    (
        "3.3.2.7",
        "ol_delivery_d is null exactly where the order's o_carrier_id is",
        "SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, ol_delivery_d, o_carrier_id \
         FROM order_line \
         JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id \
         WHERE (ol_delivery_d IS NULL AND o_carrier_id IS NOT NULL) \
         OR (ol_delivery_d IS NOT NULL AND o_carrier_id IS NULL)",
    ),
    (
        "3.3.2.8",
        "w_ytd is the sum of h_amount paid at the warehouse",
        "SELECT w_id, w_ytd, sum_h_amount FROM warehouse \
         LEFT JOIN (SELECT h_w_id, SUM(h_amount) AS sum_h_amount FROM history \
         GROUP BY h_w_id) h ON h_w_id = w_id \
         WHERE w_ytd <> COALESCE(sum_h_amount, 0)",
    ),
    (
        "3.3.2.9",
        "d_ytd is the sum of h_amount paid at the district",
        "SELECT d_w_id, d_id, d_ytd, sum_h_amount FROM district \
         LEFT JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) AS sum_h_amount FROM history \
         GROUP BY h_w_id, h_d_id) h ON h_w_id = d_w_id AND h_d_id = d_id \
         WHERE d_ytd <> COALESCE(sum_h_amount, 0)",
    ),
    (
        "3.3.2.10",
        "c_balance is the amount delivered to the customer minus the amount that the customer paid",
        "SELECT c_w_id, c_d_id, c_id, c_balance, sum_ol_amount, sum_h_amount FROM customer \
         LEFT JOIN {delivered} l ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
         LEFT JOIN {paid} h ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id \
         WHERE c_balance <> COALESCE(sum_ol_amount, 0) - COALESCE(sum_h_amount, 0)",
    ),
    (
        "3.3.2.11",
        "orders minus new orders of a district are those delivered when the data were loaded \
         (2100, as the clause requires, unless shrunk), plus those delivered since: the sum of \
         c_delivery_cnt",
        "SELECT d_w_id, d_id, n_orders, n_new_orders, sum_c_delivery_cnt FROM district \
         LEFT JOIN (SELECT o_w_id, o_d_id, COUNT(*) AS n_orders FROM orders \
         GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id \
         LEFT JOIN (SELECT no_w_id, no_d_id, COUNT(*) AS n_new_orders FROM new_order \
         GROUP BY no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id \
         LEFT JOIN (SELECT c_w_id, c_d_id, SUM(c_delivery_cnt) AS sum_c_delivery_cnt \
         FROM customer GROUP BY c_w_id, c_d_id) c ON c_w_id = d_w_id AND c_d_id = d_id \
         WHERE COALESCE(n_orders, 0) - COALESCE(n_new_orders, 0) \
         <> {delivered_at_load} + COALESCE(sum_c_delivery_cnt, 0)",
    ),
    (
        "3.3.2.12",
        "the sum of c_balance and c_ytd_payment is the amount delivered to the customer",
        "SELECT c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, sum_ol_amount FROM customer \
         LEFT JOIN {delivered} l ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
         WHERE c_balance + c_ytd_payment <> COALESCE(sum_ol_amount, 0)",
    ),
    (
        "4.3.3.1",
        "each warehouse has its districts, customers and stock, and there are as many items as \
         stock of a warehouse: no transaction adds or removes any",
        "SELECT w_id, n_stock, n_items, n_customers, n_districts FROM warehouse \
         LEFT JOIN (SELECT d_w_id, COUNT(*) AS n_districts FROM district GROUP BY d_w_id) d \
         ON d_w_id = w_id \
         LEFT JOIN (SELECT c_w_id, COUNT(*) AS n_customers FROM customer GROUP BY c_w_id) c \
         ON c_w_id = w_id \
         LEFT JOIN (SELECT s_w_id, COUNT(*) AS n_stock FROM stock GROUP BY s_w_id) s \
         ON s_w_id = w_id \
         CROSS JOIN (SELECT COUNT(*) AS n_items FROM item) i \
         WHERE COALESCE(n_districts, 0) <> {districts} \
         OR COALESCE(n_customers, 0) <> {customers} \
         OR COALESCE(n_stock, 0) <> {items} OR n_items <> {items}",
    ),
];
