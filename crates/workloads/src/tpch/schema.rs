//! The eight tables of TPC-H (clause 1.4), their numbers of rows (clause 4.2.5) and their indexes,
//! and a table of our own that counts refresh sets.
//!
//! Not here: rows (population). Foreign keys are indexed, but not declared; see the notes of the
//! workload.

use model::{Column, ColumnType, Index, Table, choice};

use ColumnType::{BigInt, Char, Date, Decimal, Int, VarChar};

/// Index of the table NATION, which is built first.
pub(super) const NATION: usize = 0;
pub(super) const REGION: usize = 1;
pub(super) const SUPPLIER: usize = 2;
pub(super) const CUSTOMER: usize = 3;
pub(super) const PART: usize = 4;
pub(super) const PARTSUPP: usize = 5;
pub(super) const ORDERS: usize = 6;
pub(super) const LINEITEM: usize = 7;
/// Index of the table with the numbers of refresh sets that were inserted and deleted, which is not
/// one of the standard's.
pub(super) const REFRESH: usize = 8;

/// Type of amounts, quantities and rates: clause 1.3.1 demands ten digits before and two after the
/// point.
const DECIMAL: ColumnType = Decimal { precision: 15, scale: 2 };

/// Keys and indexes of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// Neither primary keys nor indexes.
    None,
    /// Primary keys, and no other index.
    Primary,
    /// Primary keys, and an index on each foreign key.
    Foreign,
}

choice!(Keys { None = "none", Primary = "keys", Foreign = "foreign-keys" });

/// Returns the number of rows of a table at a scale factor. For LINEITEM, which has one to seven
/// rows per order, it is an estimate.
pub(super) fn n_rows(table: usize, scale: f64) -> u64 {
    let scaled = |base: u32| (f64::from(base) * scale) as u64;
    match table {
        NATION => 25,
        REGION => 5,
        SUPPLIER => scaled(10_000),
        CUSTOMER => scaled(150_000),
        PART => scaled(200_000),
        PARTSUPP => 4 * scaled(200_000),
        ORDERS => scaled(1_500_000),
        LINEITEM => 4 * scaled(1_500_000),
        REFRESH => 1,
        _ => unreachable!("there are nine tables"),
    }
}

/// Returns the tables with the keys and indexes that `keys` asks for.
pub(super) fn tables(keys: Keys) -> Vec<Table> {
    let mut tables = vec![
        nation(),
        region(),
        supplier(),
        customer(),
        part(),
        partsupp(),
        orders(),
        lineitem(),
        refresh(),
    ];
    for table in &mut tables {
        if keys != Keys::Foreign {
            table.indexes.clear();
        }
        if keys == Keys::None {
            table.primary_key.clear();
        }
    }
    tables
}

/// Declares a table. `indexes` has name and columns of each index; a foreign key that begins the
/// primary key needs none.
fn table(
    name: &'static str,
    columns: &[(&'static str, ColumnType)],
    key: &[&'static str],
    indexes: &[(&'static str, &[&'static str])],
) -> Table {
    let column = |(name, column_type): &(&'static str, ColumnType)| Column {
        name,
        of: *column_type,
        nullable: false,
    };
    let index = |(name, columns): &(&'static str, &[&'static str])| Index {
        name: (*name).into(),
        columns: columns.to_vec(),
        unique: false,
    };
    Table {
        name: name.into(),
        columns: columns.iter().map(column).collect(),
        primary_key: key.to_vec(),
        indexes: indexes.iter().map(index).collect(),
    }
}

fn nation() -> Table {
    let columns = [
        ("n_nationkey", Int),
        ("n_name", Char(25)),
        ("n_regionkey", Int),
        ("n_comment", VarChar(152)),
    ];
    table("nation", &columns, &["n_nationkey"], &[("nation_region", &["n_regionkey"])])
}

fn region() -> Table {
    let columns = [("r_regionkey", Int), ("r_name", Char(25)), ("r_comment", VarChar(152))];
    table("region", &columns, &["r_regionkey"], &[])
}

fn supplier() -> Table {
    let columns = [
        ("s_suppkey", Int),
        ("s_name", Char(25)),
        ("s_address", VarChar(40)),
        ("s_nationkey", Int),
        ("s_phone", Char(15)),
        ("s_acctbal", DECIMAL),
        ("s_comment", VarChar(101)),
    ];
    table("supplier", &columns, &["s_suppkey"], &[("supplier_nation", &["s_nationkey"])])
}

fn customer() -> Table {
    let columns = [
        ("c_custkey", Int),
        ("c_name", VarChar(25)),
        ("c_address", VarChar(40)),
        ("c_nationkey", Int),
        ("c_phone", Char(15)),
        ("c_acctbal", DECIMAL),
        ("c_mktsegment", Char(10)),
        ("c_comment", VarChar(117)),
    ];
    table("customer", &columns, &["c_custkey"], &[("customer_nation", &["c_nationkey"])])
}

fn part() -> Table {
    let columns = [
        ("p_partkey", Int),
        ("p_name", VarChar(55)),
        ("p_mfgr", Char(25)),
        ("p_brand", Char(10)),
        ("p_type", VarChar(25)),
        ("p_size", Int),
        ("p_container", Char(10)),
        ("p_retailprice", DECIMAL),
        ("p_comment", VarChar(23)),
    ];
    table("part", &columns, &["p_partkey"], &[])
}

fn partsupp() -> Table {
    let columns = [
        ("ps_partkey", Int),
        ("ps_suppkey", Int),
        ("ps_availqty", Int),
        ("ps_supplycost", DECIMAL),
        ("ps_comment", VarChar(199)),
    ];
    let indexes: [(_, &[_]); 1] = [("partsupp_supplier", &["ps_suppkey"])];
    table("partsupp", &columns, &["ps_partkey", "ps_suppkey"], &indexes)
}

fn orders() -> Table {
    let columns = [
        // Keys are sparse: the largest is four times the number of orders.
        ("o_orderkey", BigInt),
        ("o_custkey", Int),
        ("o_orderstatus", Char(1)),
        ("o_totalprice", DECIMAL),
        ("o_orderdate", Date),
        ("o_orderpriority", Char(15)),
        ("o_clerk", Char(15)),
        ("o_shippriority", Int),
        ("o_comment", VarChar(79)),
    ];
    table("orders", &columns, &["o_orderkey"], &[("orders_customer", &["o_custkey"])])
}

fn refresh() -> Table {
    let columns = [("id", Int), ("inserted", Int), ("deleted", Int)];
    table("tpch_refresh", &columns, &["id"], &[])
}

fn lineitem() -> Table {
    let columns = [
        ("l_orderkey", BigInt),
        ("l_partkey", Int),
        ("l_suppkey", Int),
        ("l_linenumber", Int),
        ("l_quantity", DECIMAL),
        ("l_extendedprice", DECIMAL),
        ("l_discount", DECIMAL),
        ("l_tax", DECIMAL),
        ("l_returnflag", Char(1)),
        ("l_linestatus", Char(1)),
        ("l_shipdate", Date),
        ("l_commitdate", Date),
        ("l_receiptdate", Date),
        ("l_shipinstruct", Char(25)),
        ("l_shipmode", Char(10)),
        ("l_comment", VarChar(44)),
    ];
    let indexes: [(_, &[_]); 2] = [
        ("lineitem_part_supplier", &["l_partkey", "l_suppkey"]),
        ("lineitem_supplier", &["l_suppkey"]),
    ];
    table("lineitem", &columns, &["l_orderkey", "l_linenumber"], &indexes)
}
