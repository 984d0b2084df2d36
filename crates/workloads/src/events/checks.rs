//! Consistency checks of the tables of `events`; each is a query for violations.
//!
//! Together they ensure that each record between a reader's first and last read of a table was
//! either read for the first time exactly once, or missed. Not here: the comparison of the number
//! of records with the commits (the workload's crosscheck).

use model::Check;

use super::parameters::Data;
use super::tables::{ages, reads, records};

pub(super) fn checks(data: &Data) -> Vec<Check> {
    let of_records = (0..data.tables).flat_map(|place| of_records(data, &records(place)));
    let of_results = (1..=data.reader_hosts).flat_map(|host| of_results(data, host));
    of_records.chain(of_results).collect()
}

fn of_records(data: &Data, table: &str) -> [Check; 2] {
    let payload = data.payload();
    [
        Check {
            id: "numbers",
            title: format!("the records of {table} are numbered without gaps or duplicates").into(),
            sql: format!(
                "SELECT '{table}' AS table_name, COUNT(*) AS n_records, \
                 MIN(sequence) AS first_number, MAX(sequence) AS last_number FROM {table} \
                 HAVING COUNT(*) > 0 AND (COUNT(DISTINCT sequence) <> COUNT(*) \
                 OR MAX(sequence) - MIN(sequence) + 1 <> COUNT(*))"
            ),
        },
        Check {
            id: "size",
            title: format!("each record of {table} has the configured size").into(),
            sql: format!(
                "SELECT '{table}' AS table_name, COUNT(*) AS n_records FROM {table} \
                 WHERE LENGTH(payload) <> {payload} HAVING COUNT(*) > 0"
            ),
        },
    ]
}

fn of_results(data: &Data, host: usize) -> Vec<Check> {
    let (ages, reads) = (ages(host), reads(host));
    let accounting = Check {
        id: "accounting",
        title: format!(
            "between two reads of {reads}, records read first and records missed add up to the \
             growth of the table"
        )
        .into(),
        sql: format!(
            "SELECT r.run, r.reader, r.n_between, r.n_missed, COALESCE(a.n_read, 0) AS n_read \
             FROM (SELECT run, reader, MAX(last_sequence) - MIN(after_sequence) AS n_between, \
             SUM(missed) AS n_missed FROM {reads} GROUP BY run, reader) r \
             LEFT JOIN (SELECT run, reader, COUNT(*) AS n_read FROM {ages} \
             GROUP BY run, reader) a ON a.run = r.run AND a.reader = r.reader \
             WHERE r.n_between <> r.n_missed + COALESCE(a.n_read, 0)"
        ),
    };
    let of_table = |place: usize| {
        let (table, source) = (records(place), place + 1);
        Check {
            id: "ages",
            title: format!(
                "each record of {ages} that was read is in {table} with its number and time stamp"
            )
            .into(),
            sql: format!(
                "SELECT a.run, a.reader, a.source, a.record, a.sequence FROM {ages} a \
                 LEFT JOIN {table} t ON t.recordID = a.record WHERE a.source = {source} \
                 AND (t.recordID IS NULL OR t.sequence <> a.sequence \
                 OR t.stamped_ns <> a.stamped_ns)"
            ),
        }
    };
    [accounting].into_iter().chain((0..data.tables).map(of_table)).collect()
}
