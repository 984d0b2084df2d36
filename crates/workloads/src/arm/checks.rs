//! Whether what was stored is what was generated: the tables against the note of each buffer.

use model::Check;

use super::parameters::Contexts;
use super::tables::Layout;

/// The checks for a layout.
pub(super) fn checks(layout: Layout) -> Vec<Check> {
    let noted = "SELECT class, SUM(measurements) AS n_noted, SUM(checksum) AS sum_noted \
                 FROM arm_buffer GROUP BY class";
    let stored = "SELECT class, COUNT(*) AS n_stored, \
                  SUM((id % 65521) * (1 + response_ns % 251)) AS sum_stored \
                  FROM arm_measurement GROUP BY class";
    let mut checks = vec![
        Check {
            id: "measurements",
            title: "each class has the measurements of its buffers, by count and checksum",
            sql: format!(
                "SELECT noted.class, n_noted, n_stored, sum_noted, sum_stored FROM ({noted}) noted \
                 LEFT JOIN ({stored}) stored ON stored.class = noted.class \
                 WHERE n_stored IS NULL OR n_noted <> n_stored OR sum_noted <> sum_stored"
            ),
        },
        Check {
            id: "unnoted",
            title: "no class has measurements that belong to no buffer",
            sql: format!(
                "SELECT stored.class, n_stored FROM ({stored}) stored LEFT JOIN ({noted}) noted \
                 ON noted.class = stored.class WHERE n_noted IS NULL"
            ),
        },
        count("metrics", "the number of metrics is that of the buffers", "arm_metric"),
    ];
    if layout.contexts == Contexts::Rows {
        let title = "the number of context values is that of the buffers";
        checks.push(count("contexts", title, "arm_context"));
    }
    checks
}

fn count(id: &'static str, title: &'static str, table: &str) -> Check {
    let sql = format!(
        "SELECT n_noted, n_stored FROM (SELECT COALESCE(SUM({id}), 0) AS n_noted FROM arm_buffer) \
         noted, (SELECT COUNT(*) AS n_stored FROM {table}) stored WHERE n_noted <> n_stored"
    );
    Check { id, title, sql }
}
