//! Consistency checks of `arm`: whether the tables contain the generated measurements, by the
//! counts and checksums that writers store for each buffer in `arm_buffer`.

use model::{Check, Dialect};

use super::checksum::{contexts_sql, measurement_sql, metric_sql};
use super::claim::NO_CLASS;
use super::tables::Layout;

pub(super) fn checks(layout: Layout, dialect: &Dialect) -> Vec<Check> {
    let noted = format!(
        "SELECT class, SUM(measurements) AS n_noted, SUM(checksum) AS sum_noted FROM arm_buffer \
         WHERE class > {NO_CLASS} GROUP BY class"
    );
    let row = measurement_sql(dialect);
    let stored = format!(
        "SELECT class, COUNT(*) AS n_stored, SUM({row}) AS sum_stored FROM arm_measurement \
         GROUP BY class"
    );
    let metrics = format!(
        "SELECT COUNT(*) AS n_stored, COALESCE(SUM({}), 0) AS sum_stored FROM arm_metric",
        metric_sql()
    );
    vec![
        Check {
            id: "measurements",
            title: "each class has the measurements of its buffers, by count and checksum".into(),
            sql: format!(
                "SELECT noted.class, n_noted, n_stored, sum_noted, sum_stored FROM ({noted}) noted \
                 LEFT JOIN ({stored}) found ON found.class = noted.class \
                 WHERE n_noted <> COALESCE(n_stored, 0) OR sum_noted <> COALESCE(sum_stored, 0)"
            ),
        },
        Check {
            id: "unnoted",
            title: "no class has measurements that belong to no buffer".into(),
            sql: format!(
                "SELECT found.class, n_stored FROM ({stored}) found LEFT JOIN ({noted}) noted \
                 ON noted.class = found.class WHERE n_noted IS NULL"
            ),
        },
        sums("metrics", "metrics are those of the buffers, by number and checksum", &metrics),
        sums(
            "contexts",
            "context values are those of the buffers, by number and checksum",
            &contexts_sql(dialect, layout),
        ),
    ]
}

fn sums(id: &'static str, title: &'static str, stored: &str) -> Check {
    let sql = format!(
        "SELECT n_noted, n_stored, sum_noted, sum_stored FROM (SELECT COALESCE(SUM({id}), 0) AS \
         n_noted, COALESCE(SUM({id}_checksum), 0) AS sum_noted FROM arm_buffer) noted, ({stored}) \
         found WHERE n_noted <> n_stored OR sum_noted <> sum_stored"
    );
    Check { id, title: title.into(), sql }
}
