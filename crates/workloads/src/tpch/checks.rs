//! Consistency checks of the tables: their numbers of rows, and the numbers of the lines of orders.
//!
//! Not here: answers of queries, and when the checks run (app).

use model::Check;

use super::refresh::{CHANGED, HALF_DONE};
use super::schema::{CUSTOMER, LINEITEM, NATION, ORDERS, PART, PARTSUPP, REGION, SUPPLIER, n_rows};

/// Numbers of rows of LINEITEM at scale factors for which the standard has them (clause 4.2.5.1),
/// and at those of its smaller answer sets.
const LINES: [(f64, u64); 5] =
    [(0.01, 60_175), (0.1, 600_572), (1.0, 6_001_215), (10.0, 59_986_052), (100.0, 600_037_902)];

/// Largest number of lines of an order (clause 4.2.3).
const LINES_MAX: u64 = 7;

/// Returns the checks at a scale factor. `is_built` says whether dbdyno built the data, so that
/// there is a table with the number of refresh sets.
pub(super) fn checks(scale: f64, is_built: bool) -> Vec<Check> {
    let mut checks = vec![
        Check {
            id: "rows",
            title: "each table has the number of rows of its scale factor".into(),
            sql: counts(scale, is_built),
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
                n_rows(ORDERS, scale)
            ),
        },
    ];
    if is_built {
        checks.push(Check {
            id: "refresh",
            title: "no RF1 is without its RF2 (the next test with refresh functions executes it)"
                .into(),
            sql: HALF_DONE.to_owned(),
        });
    }
    checks
}

/// Returns the query that counts the rows of each table. After refresh functions, the number of
/// lines may be any that fits the number of orders.
fn counts(scale: f64, is_built: bool) -> String {
    let exact = LINES.iter().find(|(of, _)| *of == scale).map(|(_, n)| (*n, *n));
    let n_orders = n_rows(ORDERS, scale);
    let count = |(name, index): (&str, usize)| {
        let n = n_rows(index, scale);
        let any = (n_orders, LINES_MAX * n_orders);
        let (least, most) = match index {
            LINEITEM => exact.unwrap_or(any),
            _ => (n, n),
        };
        let bound = |bound: u64, any: u64| match is_built && index == LINEITEM {
            true => format!("(SELECT CASE WHEN EXISTS ({CHANGED}) THEN {any} ELSE {bound} END)"),
            false => bound.to_string(),
        };
        let (least, most) = (bound(least, any.0), bound(most, any.1));
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
