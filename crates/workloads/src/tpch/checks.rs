//! Consistency checks of the tables: their numbers of rows, and the numbers of the lines of orders.
//!
//! Not here: answers of queries, and when the checks run (app).

use model::{Check, RepairedCheck};

use super::refresh::{self, CHANGED, HALF_DONE, OVERDONE};
use super::schema::{CUSTOMER, LINEITEM, NATION, ORDERS, PART, PARTSUPP, REGION, SUPPLIER, n_rows};

/// Numbers of rows of LINEITEM at scale factors for which the standard has them (clause 4.2.5.1),
/// and at those of its smaller answer sets.
const LINES: [(f64, u64); 5] =
    [(0.01, 60_175), (0.1, 600_572), (1.0, 6_001_215), (10.0, 59_986_052), (100.0, 600_037_902)];

/// Largest number of lines of an order (clause 4.2.3).
const LINES_MAX: u64 = 7;

/// Check that an RF1 without its RF2 fails.
const REFRESH: &str = "refresh";

/// Checks that fail on data which the next run with refresh functions repairs.
pub(super) const REPAIRED: &[RepairedCheck] = &[RepairedCheck {
    id: REFRESH,
    note: "an RF1 is without its RF2, because a run ended between them or the RF2 failed: each run \
           with refresh functions first executes what is missing",
}];

/// Returns the checks at a scale factor.
pub(super) fn checks(scale: f64) -> Vec<Check> {
    vec![
        Check {
            id: "rows",
            title: "each table has the number of rows of its scale factor".into(),
            sql: counts(scale),
        },
        Check {
            id: "lines",
            title: "the lines of each order are numbered from 1 on, and are at most 7".into(),
            sql: format!(
                "SELECT l_orderkey, n_lines, last_line FROM \
                 (SELECT l_orderkey, COUNT(*) AS n_lines, MAX(l_linenumber) AS last_line \
                 FROM lineitem GROUP BY l_orderkey) t \
                 WHERE n_lines <> last_line OR n_lines > {LINES_MAX}"
            ),
        },
        Check {
            id: "orders",
            title: "each order has lines".into(),
            sql: format!(
                "SELECT n_orders, n_expected FROM \
                 (SELECT COUNT(DISTINCT l_orderkey) AS n_orders, {} AS n_expected \
                 FROM lineitem) t WHERE n_orders <> n_expected",
                n_orders(scale)
            ),
        },
        Check {
            id: REFRESH,
            title: "no RF1 is without its RF2 (the next test with refresh functions executes it)"
                .into(),
            sql: HALF_DONE.to_owned(),
        },
        Check {
            id: "sets",
            title: "no RF2 is without its RF1 (earlier versions of dbdyno executed RF2 after a \
                    failed RF1: drop the data and build them again)"
                .into(),
            sql: OVERDONE.to_owned(),
        },
    ]
}

/// Returns the SQL of the number of orders: that of the scale factor, and the orders of sets that
/// were inserted and whose RF2 was not executed yet.
fn n_orders(scale: f64) -> String {
    let (all, of_set) = (n_rows(ORDERS, scale), refresh::n_orders(scale));
    format!("(SELECT {all} + {of_set} * COALESCE(MAX(inserted - deleted), 0) FROM tpch_refresh)")
}

/// Returns the query that counts the rows of each table. After refresh functions, the number of
/// lines may be any that fits the number of orders.
fn counts(scale: f64) -> String {
    let exact = LINES.iter().find(|(of, _)| *of == scale).map(|(_, n)| *n);
    let n_orders = n_orders(scale);
    let count = |(name, index): (&str, usize)| {
        let lines = |exact: Option<u64>, per_order: u64| match exact {
            Some(n) => format!(
                "(SELECT CASE WHEN EXISTS ({CHANGED}) THEN {per_order} * {n_orders} ELSE {n} END)"
            ),
            None => format!("({per_order} * {n_orders})"),
        };
        let (least, most) = match index {
            LINEITEM => (lines(exact, 1), lines(exact, LINES_MAX)),
            ORDERS => (n_orders.clone(), n_orders.clone()),
            _ => (n_rows(index, scale).to_string(), n_rows(index, scale).to_string()),
        };
        format!(
            "SELECT '{name}' AS table_name, COUNT(*) AS n_rows, {least} AS n_least, \
             {most} AS n_most FROM {name}"
        )
    };
    let all = [
        ("nation", NATION),
        ("region", REGION),
        ("supplier", SUPPLIER),
        ("customer", CUSTOMER),
        ("part", PART),
        ("partsupp", PARTSUPP),
        ("orders", ORDERS),
        ("lineitem", LINEITEM),
    ];
    let all = all.map(count).join(" UNION ALL ");
    format!(
        "SELECT table_name, n_rows, n_least, n_most FROM ({all}) t \
         WHERE n_rows NOT BETWEEN n_least AND n_most"
    )
}
