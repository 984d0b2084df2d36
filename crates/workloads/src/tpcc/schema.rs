//! The nine tables of TPC-C (clause 1.3), and their numbers of rows (clauses 1.2 and 4.3).
//!
//! Not here: rows (population). No foreign keys are declared; see the notes of the workload.

use model::{Column, ColumnType, Index, Table};

use ColumnType::{Char, Decimal, Int, SmallInt, Timestamp, VarChar};

/// Number of items, and of stock rows per warehouse, unless the parameter `shrink` reduces the
/// data.
pub(super) const ITEMS: i64 = 100_000;
/// Number of districts per warehouse (clause 1.2.1).
pub(super) const DISTRICTS: i64 = 10;
/// Number of customers per district, unless the parameter `shrink` reduces the data. Each has one
/// order when they are loaded.
pub(super) const CUSTOMERS: i64 = 3_000;
/// Number of orders per district that are undelivered when the data are loaded, unless the
/// parameter `shrink` reduces the data.
pub(super) const UNDELIVERED: i64 = 900;
/// Number of different last names that customers have, unless a district has fewer customers.
pub(super) const LAST_NAMES: i64 = 1_000;
/// Maximum number of lines of an order.
pub(super) const LINES_MAX: i64 = 15;
/// Minimum number of lines of an order.
pub(super) const LINES_MIN: i64 = 5;

/// Index of the table ITEM, which is built first.
pub(super) const ITEM: usize = 0;
pub(super) const WAREHOUSE: usize = 1;
pub(super) const DISTRICT: usize = 2;
pub(super) const CUSTOMER: usize = 3;
pub(super) const HISTORY: usize = 4;
pub(super) const STOCK: usize = 5;
pub(super) const ORDERS: usize = 6;
pub(super) const NEW_ORDER: usize = 7;
pub(super) const ORDER_LINE: usize = 8;

const MONEY: ColumnType = Decimal { precision: 12, scale: 2 };
const RATE: ColumnType = Decimal { precision: 4, scale: 4 };
/// Type of the columns W_YTD and D_YTD, which are sums of payments. Clause 1.3.1 demands at least
/// 12 digits, which a busy warehouse would overflow after about four million payments.
const TOTAL: ColumnType = Decimal { precision: 16, scale: 2 };

pub(super) fn tables() -> Vec<Table> {
    vec![
        item(),
        warehouse(),
        district(),
        customer(),
        history(),
        stock(),
        orders(),
        new_order(),
        order_line(),
    ]
}

fn table(
    name: &'static str,
    columns: &[(&'static str, ColumnType)],
    key: &[&'static str],
) -> Table {
    let columns = columns.iter().map(|(name, column_type)| Column {
        name,
        of: *column_type,
        nullable: false,
    });
    Table {
        name: name.into(),
        columns: columns.collect(),
        primary_key: key.to_vec(),
        indexes: Vec::new(),
    }
}

/// Returns `table` with the column `name` changed to allow NULL.
fn nullable(mut table: Table, name: &str) -> Table {
    let column = table.columns.iter_mut().find(|column| column.name == name);
    column.expect("the table has the column").nullable = true;
    table
}

fn index(mut table: Table, name: &'static str, columns: &[&'static str]) -> Table {
    table.indexes.push(Index { name: name.into(), columns: columns.to_vec(), unique: false });
    table
}

fn item() -> Table {
    let columns = [
        ("i_id", Int),
        ("i_im_id", Int),
        ("i_name", VarChar(24)),
        ("i_price", Decimal { precision: 5, scale: 2 }),
        ("i_data", VarChar(50)),
    ];
    table("item", &columns, &["i_id"])
}

fn warehouse() -> Table {
    let columns = [
        ("w_id", Int),
        ("w_name", VarChar(10)),
        ("w_street_1", VarChar(20)),
        ("w_street_2", VarChar(20)),
        ("w_city", VarChar(20)),
        ("w_state", Char(2)),
        ("w_zip", Char(9)),
        ("w_tax", RATE),
        ("w_ytd", TOTAL),
    ];
    table("warehouse", &columns, &["w_id"])
}

fn district() -> Table {
    let columns = [
        ("d_id", SmallInt),
        ("d_w_id", Int),
        ("d_name", VarChar(10)),
        ("d_street_1", VarChar(20)),
        ("d_street_2", VarChar(20)),
        ("d_city", VarChar(20)),
        ("d_state", Char(2)),
        ("d_zip", Char(9)),
        ("d_tax", RATE),
        ("d_ytd", TOTAL),
        ("d_next_o_id", Int),
    ];
    table("district", &columns, &["d_w_id", "d_id"])
}

fn customer() -> Table {
    let columns = [
        ("c_id", Int),
        ("c_d_id", SmallInt),
        ("c_w_id", Int),
        ("c_first", VarChar(16)),
        ("c_middle", Char(2)),
        ("c_last", VarChar(16)),
        ("c_street_1", VarChar(20)),
        ("c_street_2", VarChar(20)),
        ("c_city", VarChar(20)),
        ("c_state", Char(2)),
        ("c_zip", Char(9)),
        ("c_phone", Char(16)),
        ("c_since", Timestamp),
        ("c_credit", Char(2)),
        ("c_credit_lim", MONEY),
        ("c_discount", RATE),
        ("c_balance", MONEY),
        ("c_ytd_payment", MONEY),
        ("c_payment_cnt", Int),
        ("c_delivery_cnt", Int),
        ("c_data", VarChar(500)),
    ];
    let customer = table("customer", &columns, &["c_w_id", "c_d_id", "c_id"]);
    index(customer, "customer_by_name", &["c_w_id", "c_d_id", "c_last", "c_first"])
}

/// Declares the table HISTORY, for which clause 1.3.1 names no key.
fn history() -> Table {
    let columns = [
        ("h_c_id", Int),
        ("h_c_d_id", SmallInt),
        ("h_c_w_id", Int),
        ("h_d_id", SmallInt),
        ("h_w_id", Int),
        ("h_date", Timestamp),
        ("h_amount", Decimal { precision: 6, scale: 2 }),
        ("h_data", VarChar(24)),
    ];
    table("history", &columns, &[])
}

fn stock() -> Table {
    let columns = [
        ("s_i_id", Int),
        ("s_w_id", Int),
        ("s_quantity", SmallInt),
        ("s_dist_01", Char(24)),
        ("s_dist_02", Char(24)),
        ("s_dist_03", Char(24)),
        ("s_dist_04", Char(24)),
        ("s_dist_05", Char(24)),
        ("s_dist_06", Char(24)),
        ("s_dist_07", Char(24)),
        ("s_dist_08", Char(24)),
        ("s_dist_09", Char(24)),
        ("s_dist_10", Char(24)),
        ("s_ytd", Int),
        ("s_order_cnt", Int),
        ("s_remote_cnt", Int),
        ("s_data", VarChar(50)),
    ];
    table("stock", &columns, &["s_w_id", "s_i_id"])
}

/// Declares the table ORDER, with the name `orders`, because `order` is a reserved word of SQL.
fn orders() -> Table {
    let columns = [
        ("o_id", Int),
        ("o_d_id", SmallInt),
        ("o_w_id", Int),
        ("o_c_id", Int),
        ("o_entry_d", Timestamp),
        ("o_carrier_id", SmallInt),
        ("o_ol_cnt", SmallInt),
        ("o_all_local", SmallInt),
    ];
    let orders = table("orders", &columns, &["o_w_id", "o_d_id", "o_id"]);
    let orders = nullable(orders, "o_carrier_id");
    index(orders, "orders_by_customer", &["o_w_id", "o_d_id", "o_c_id", "o_id"])
}

fn new_order() -> Table {
    let columns = [("no_o_id", Int), ("no_d_id", SmallInt), ("no_w_id", Int)];
    table("new_order", &columns, &["no_w_id", "no_d_id", "no_o_id"])
}

fn order_line() -> Table {
    let columns = [
        ("ol_o_id", Int),
        ("ol_d_id", SmallInt),
        ("ol_w_id", Int),
        ("ol_number", SmallInt),
        ("ol_i_id", Int),
        ("ol_supply_w_id", Int),
        ("ol_delivery_d", Timestamp),
        ("ol_quantity", SmallInt),
        ("ol_amount", Decimal { precision: 6, scale: 2 }),
        ("ol_dist_info", Char(24)),
    ];
    let key = ["ol_w_id", "ol_d_id", "ol_o_id", "ol_number"];
    nullable(table("order_line", &columns, &key), "ol_delivery_d")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_stands_in_its_place() {
        let names = [
            (ITEM, "item"),
            (WAREHOUSE, "warehouse"),
            (DISTRICT, "district"),
            (CUSTOMER, "customer"),
            (HISTORY, "history"),
            (STOCK, "stock"),
            (ORDERS, "orders"),
            (NEW_ORDER, "new_order"),
            (ORDER_LINE, "order_line"),
        ];
        let tables = tables();
        assert_eq!(tables.len(), names.len());
        for (place, name) in names {
            assert_eq!(tables[place].name, name);
        }
    }

    #[test]
    fn keys_and_indexes_name_columns_of_their_table() {
        for table in tables() {
            let has = |name: &&str| table.columns.iter().any(|column| column.name == *name);
            assert!(table.primary_key.iter().all(has), "{}", table.name);
            for index in &table.indexes {
                assert!(index.columns.iter().all(has), "{}", index.name);
            }
        }
    }
}
