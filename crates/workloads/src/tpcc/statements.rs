//! All statements of the five TPC-C transactions, in SQL that every supported database understands.
//!
//! Written from the transaction profiles of clauses 2.4 to 2.8. The database only adds money and
//! counters, which is exact for decimals and scaled integers; the client multiplies rates. Not
//! here: their order (the transactions).

use model::{Dialect, Sent, Statement, StatementId, StatementKind};

use StatementKind::{Read, Write};

/// A statement of TPC-C for the modes that send one statement per round trip. Variants are in the
/// order of [`LIST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Stmt {
    DistrictTakesOrder,
    DistrictOfOrder,
    WarehouseTax,
    CustomerOfOrder,
    OrderInsert,
    NewOrderInsert,
    Item,
    StockUpdate,
    OrderLineInsert,
    WarehousePaid,
    DistrictPaid,
    WarehouseOfPayment,
    DistrictOfPayment,
    CustomersByName,
    CustomerOfPayment,
    CustomerData,
    CustomerPays,
    CustomerPaysWithData,
    HistoryInsert,
    StatusByName,
    StatusById,
    LastOrder,
    OrderLines,
    OldestNewOrder,
    NewOrderDelete,
    OrderCustomer,
    OrderCarrier,
    LinesDelivered,
    LinesAmount,
    CustomerReceives,
    DistrictNextOrder,
    LowStock,
    /// Reads stock for an order. The first of ten statements, one for each of the columns S_DIST_01
    /// to S_DIST_10.
    Stock,
}

impl Stmt {
    /// Returns the id by which a session executes the statement.
    pub(super) fn id(self) -> StatementId {
        StatementId(self as u32)
    }
}

/// Returns the id of the statement that reads stock for an order of `district`, from 1 to 10.
pub(super) fn stock_of(district: i64) -> StatementId {
    StatementId(Stmt::Stock as u32 + district as u32 - 1)
}

/// Number of statements for the modes that send one statement per round trip.
pub(super) const N_STMTS: u32 = Stmt::Stock as u32 + 10;

/// Declares the statements of TPC-C in `dialect`, to be sent as prepared statements or as text.
pub(super) fn declare(dialect: &Dialect, sent: Sent) -> Vec<Statement> {
    let one = |(_, name, kind, text): &(Stmt, &'static str, StatementKind, &str)| {
        Statement::new(name, *kind, dialect.sql(text))
    };
    let stock = STOCK_NAMES.iter().zip(1..).map(|(name, district)| {
        let sql = format!(
            "SELECT s_quantity, s_dist_{district:02}, s_data FROM stock{{lock hint}} \
             WHERE s_w_id = ? AND s_i_id = ?{{for update}}"
        );
        Statement::new(name, Read, dialect.sql(&sql))
    });
    let all = LIST.iter().map(one).chain(stock);
    all.map(|statement| Statement { sent, ..statement }).collect()
}

static STOCK_NAMES: [&str; 10] = [
    "stock for district 1",
    "stock for district 2",
    "stock for district 3",
    "stock for district 4",
    "stock for district 5",
    "stock for district 6",
    "stock for district 7",
    "stock for district 8",
    "stock for district 9",
    "stock for district 10",
];

/// Name, type and SQL of each statement, except the ten that read stock.
static LIST: [(Stmt, &str, StatementKind, &str); Stmt::Stock as usize] = [
    // New-Order, clause 2.4.2.2.
    (
        Stmt::DistrictTakesOrder,
        "district takes an order",
        Write,
        "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?",
    ),
    (
        Stmt::DistrictOfOrder,
        "district of the order",
        Read,
        "SELECT d_tax, d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?",
    ),
    (
        Stmt::WarehouseTax,
        "tax of the warehouse",
        Read,
        "SELECT w_tax FROM warehouse WHERE w_id = ?",
    ),
    (
        Stmt::CustomerOfOrder,
        "customer of the order",
        Read,
        "SELECT c_discount, c_last, c_credit FROM customer \
         WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        Stmt::OrderInsert,
        "order is entered",
        Write,
        "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, \
         o_all_local) VALUES (?, ?, ?, ?, ?, NULL, ?, ?)",
    ),
    (
        Stmt::NewOrderInsert,
        "order is queued",
        Write,
        "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)",
    ),
    (Stmt::Item, "item", Read, "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?"),
    (
        Stmt::StockUpdate,
        "stock is taken",
        Write,
        "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, \
         s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?",
    ),
    (
        Stmt::OrderLineInsert,
        "order line is entered",
        Write,
        "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, \
         ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) \
         VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?, ?)",
    ),
    // Payment, clause 2.5.2.2.
    (
        Stmt::WarehousePaid,
        "warehouse is paid",
        Write,
        "UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?",
    ),
    (
        Stmt::DistrictPaid,
        "district is paid",
        Write,
        "UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?",
    ),
    (
        Stmt::WarehouseOfPayment,
        "warehouse of the payment",
        Read,
        "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse \
         WHERE w_id = ?",
    ),
    (
        Stmt::DistrictOfPayment,
        "district of the payment",
        Read,
        "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district \
         WHERE d_w_id = ? AND d_id = ?",
    ),
    (
        Stmt::CustomersByName,
        "customers by name",
        Read,
        "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? \
         ORDER BY c_first",
    ),
    (
        Stmt::CustomerOfPayment,
        "customer of the payment",
        Read,
        "SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, \
         c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance FROM customer{lock hint} \
         WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?{for update}",
    ),
    (
        Stmt::CustomerData,
        "data of a customer of bad credit",
        Read,
        "SELECT c_data FROM customer{lock hint} \
         WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?{for update}",
    ),
    (
        Stmt::CustomerPays,
        "customer pays",
        Write,
        "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, \
         c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        Stmt::CustomerPaysWithData,
        "customer of bad credit pays",
        Write,
        "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, \
         c_payment_cnt = c_payment_cnt + 1, c_data = ? \
         WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        Stmt::HistoryInsert,
        "payment is noted",
        Write,
        "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, \
         h_data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    // Order-Status, clause 2.6.2.2.
    (
        Stmt::StatusByName,
        "customers by name, with balance",
        Read,
        "SELECT c_id, c_balance, c_first, c_middle, c_last FROM customer \
         WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first",
    ),
    (
        Stmt::StatusById,
        "customer, with balance",
        Read,
        "SELECT c_id, c_balance, c_first, c_middle, c_last FROM customer \
         WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        Stmt::LastOrder,
        "last order of a customer",
        Read,
        "SELECT{top 1} o_id, o_entry_d, o_carrier_id FROM orders \
         WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC{limit 1}",
    ),
    (
        Stmt::OrderLines,
        "lines of an order",
        Read,
        "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line \
         WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
    ),
    // Delivery, clause 2.7.4.2.
    (
        Stmt::OldestNewOrder,
        "oldest undelivered order",
        Read,
        "SELECT{top 1} no_o_id FROM new_order{lock hint} WHERE no_w_id = ? AND no_d_id = ? \
         ORDER BY no_o_id{limit 1}{for update}",
    ),
    (
        Stmt::NewOrderDelete,
        "order leaves the queue",
        Write,
        "DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?",
    ),
    (
        Stmt::OrderCustomer,
        "customer of a delivered order",
        Read,
        "SELECT o_c_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?",
    ),
    (
        Stmt::OrderCarrier,
        "order gets its carrier",
        Write,
        "UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?",
    ),
    (
        Stmt::LinesDelivered,
        "lines are delivered",
        Write,
        "UPDATE order_line SET ol_delivery_d = ? \
         WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
    ),
    (
        Stmt::LinesAmount,
        "amount of an order",
        Read,
        "SELECT SUM(ol_amount) FROM order_line \
         WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
    ),
    (
        Stmt::CustomerReceives,
        "customer receives",
        Write,
        "UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 \
         WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    // Stock-Level, clause 2.8.2.2.
    (
        Stmt::DistrictNextOrder,
        "next order of a district",
        Read,
        "SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?",
    ),
    (
        Stmt::LowStock,
        "items of low stock",
        Read,
        "SELECT COUNT(DISTINCT s_i_id) FROM order_line \
         JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id \
         WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ? AND s_quantity < ?",
    ),
];

#[cfg(test)]
mod tests {
    use model::{Placeholder, RowLock};

    use super::*;

    fn dialect(placeholder: Placeholder, row_lock: RowLock) -> Dialect {
        Dialect {
            name: "test",
            placeholder,
            type_name: |column_type| format!("{column_type:?}"),
            row_lock,
            ..Dialect::PLAIN
        }
    }

    #[test]
    fn every_statement_stands_at_its_name() {
        for (place, row) in LIST.iter().enumerate() {
            assert_eq!(row.0 as usize, place, "{:?}", row.0);
        }
        let declared = declare(&dialect(Placeholder::Question, RowLock::None), Sent::Prepared);
        assert_eq!(declared.len(), LIST.len() + 10);
        assert!(declared[stock_of(1).0 as usize].sql.contains("s_dist_01,"));
        assert!(declared[stock_of(10).0 as usize].sql.contains("s_dist_10,"));
    }

    #[test]
    fn rows_are_locked_where_a_later_update_depends_on_them() {
        let clause = RowLock::Clause(" FOR UPDATE");
        let declared = declare(&dialect(Placeholder::Dollar, clause), Sent::Text);
        let locks: Vec<&str> = declared
            .iter()
            .filter(|statement| statement.sql.ends_with(" FOR UPDATE"))
            .map(|statement| statement.name)
            .collect();
        assert_eq!(locks.len(), 3 + 10, "{locks:?}");
        assert!(declared.iter().all(|statement| !statement.sql.contains(['?', '{'])));
        assert!(declared[Stmt::HistoryInsert as usize].sql.ends_with("$7, $8)"));
        let hint = RowLock::Hint(" WITH (UPDLOCK)");
        let declared = declare(&dialect(Placeholder::At, hint), Sent::Text);
        let hinted =
            declared.iter().filter(|statement| statement.sql.contains(" WITH (UPDLOCK) WHERE "));
        assert_eq!(hinted.map(|statement| statement.name).collect::<Vec<_>>(), locks);
    }
}
