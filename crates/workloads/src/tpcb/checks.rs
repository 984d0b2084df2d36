//! Consistency checks of row counts, balances and history; each is a query for rows that violate
//! it.
//!
//! Not here: when the checks run (app).

use model::Check;

use super::{ACCOUNTS, TELLERS};

/// Returns the checks of row counts and of the sums of balances. The history is checked only in
/// data that dbdyno built, because only there it is complete.
pub(super) fn checks(scale: i64, is_built: bool) -> Vec<Check> {
    let history = is_built.then(|| Check {
        id: "history",
        title: "the history sums up to the balances (pgbench without -n empties the history)"
            .into(),
        sql: differ("SUM(delta)", "pgbench_history"),
    });
    let fixed = [
        Check {
            id: "rows",
            title: "there are as many branches as the scale, with 10 tellers and 100,000 accounts \
                    each"
                .into(),
            sql: counts(scale),
        },
        Check {
            id: "tellers",
            title: "the balances of tellers and of branches have the same sum".into(),
            sql: differ("SUM(tbalance)", "pgbench_tellers"),
        },
        Check {
            id: "accounts",
            title: "the balances of accounts and of branches have the same sum".into(),
            sql: differ("SUM(abalance)", "pgbench_accounts"),
        },
    ];
    fixed.into_iter().chain(history).collect()
}

fn counts(scale: i64) -> String {
    let count = |(table, each): (&str, i64)| {
        format!(
            "SELECT 'pgbench_{table}' AS table_name, COUNT(*) AS n_rows, {} AS n_expected \
             FROM pgbench_{table}",
            scale * each
        )
    };
    let all = [("branches", 1), ("tellers", TELLERS), ("accounts", ACCOUNTS)].map(count);
    let all = all.join(" UNION ALL ");
    format!("SELECT table_name, n_rows, n_expected FROM ({all}) t WHERE n_rows <> n_expected")
}

fn differ(sum: &str, table: &str) -> String {
    format!(
        "SELECT of_branches, of_table FROM \
         (SELECT COALESCE(SUM(bbalance), 0) AS of_branches FROM pgbench_branches) b, \
         (SELECT COALESCE({sum}, 0) AS of_table FROM {table}) o WHERE of_branches <> of_table"
    )
}
