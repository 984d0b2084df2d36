//! How PostgreSQL is spelled, and what it can do.

use model::{
    ColumnType, CommitCounter, ConnectionCounter, Dialect, Partitioning, Placeholder,
    RoutineLanguage, SettingsBySql, Table,
};

use super::counters::COUNTERS;

pub(super) static DIALECT: Dialect = Dialect {
    name: "postgres",
    placeholder: Placeholder::Dollar,
    type_name,
    after_load,
    for_update: " FOR UPDATE",
    parallel_load: true,
    indexes_after_load: true,
    // A chunk and its mark are lost together, and the end of the build is flushed with all
    // that comes before it.
    before_load: &["SET synchronous_commit = off"],
    tables_in_transactions: true,
    // The transaction stays open: a pooler that hands out connections by transaction would give
    // a session's lock to somebody else. It holds no snapshot between its statements.
    alone: &[
        "BEGIN ISOLATION LEVEL READ COMMITTED",
        "SELECT pg_try_advisory_xact_lock(hashtext('dbdyno'))::int",
    ],
    commit_counter: Some(CommitCounter {
        name: "xact_commit",
        sql: "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()",
        counts_single_statements: true,
    }),
    started_ago: Some(
        "SELECT floor(extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()))::bigint",
    ),
    // cannot_connect_now: it starts up, recovers or is not yet consistent.
    is_recovering: |no| no.sqlstate == "57P03",
    // Whose sessions are not ours to look into has no backend_type.
    connection_counter: Some(ConnectionCounter {
        name: "pg_stat_activity",
        sql: "SELECT count(*) FROM pg_stat_activity WHERE datname IS NOT NULL \
              AND coalesce(backend_type, 'client backend') = 'client backend'",
    }),
    routines: Some(RoutineLanguage::PlPgSql),
    list_routines: "SELECT proname::text, prosrc FROM pg_proc \
                    WHERE pronamespace = current_schema()::regnamespace AND proname LIKE 'dbdyno%'",
    partitioning: Some(Partitioning::Tables),
    settings: Some(SettingsBySql {
        look: look_at_setting,
        probe: |_| String::new(),
        set: |name, value| vec![format!("ALTER SYSTEM SET {name} = {}", literal(value))],
        unset: |name| format!("ALTER SYSTEM RESET {name}"),
        take_up: "SELECT pg_reload_conf()",
        // A session sees the new one when the server has told all of them.
        taken_up: "SELECT pg_conf_load_time()::text",
        // What this session itself has said holds for it alone.
        all: "SELECT name, current_setting(name) FROM pg_settings \
              WHERE source NOT IN ('client', 'session')",
        of_place: &["cluster_name", "port", "in_hot_standby", "transaction_read_only"],
    }),
    counters: Some(COUNTERS),
    ..Dialect::PLAIN
};

fn type_name(of: ColumnType) -> String {
    match of {
        ColumnType::Decimal { precision, scale } => format!("NUMERIC({precision},{scale})"),
        ColumnType::Timestamp => "TIMESTAMPTZ".to_owned(),
        // Of `CHAR(n)` what is shorter comes back padded with blanks, as the server keeps it.
        of => of.standard_name(),
    }
}

/// Rows that are loaded with their own numbers leave the sequence where it was. Without the VACUUM
/// the first readers would write the rows' hint bits, and autovacuum would come in mid-run.
fn after_load(table: &Table) -> Vec<String> {
    let name = &table.name;
    let serial = table.columns.iter().find(|column| column.of == ColumnType::Serial);
    let moved = serial.map(|column| {
        let column = column.name;
        format!(
            "SELECT setval(pg_get_serial_sequence('{name}', '{column}'), \
             COALESCE((SELECT MAX({column}) FROM {name}), 0) + 1, false)"
        )
    });
    moved.into_iter().chain([format!("VACUUM ANALYZE {name}")]).collect()
}

/// What a setting is, what `ALTER SYSTEM` has made of it, and why it cannot be set that way.
///
/// Lists of names are kept with each name in quotes of its own, which no single text can say.
fn look_at_setting(name: &str) -> String {
    format!(
        "SELECT s.name, current_setting(s.name), \
         (SELECT f.setting FROM pg_file_settings f \
          WHERE lower(f.name) = lower(s.name) AND f.sourcefile LIKE '%/postgresql.auto.conf' \
          ORDER BY f.seqno DESC LIMIT 1), \
         CASE WHEN s.context = 'internal' THEN 'nobody can change it' \
         WHEN s.context = 'postmaster' THEN 'it holds from a start of the server on' \
         WHEN s.name IN ('search_path', 'temp_tablespaces', 'session_preload_libraries', \
         'local_preload_libraries') THEN 'it is a list of names' \
         WHEN s.source NOT IN ('default', 'configuration file', 'override') \
         THEN 'its source is ''' || s.source || ''', which goes before ALTER SYSTEM' \
         WHEN NOT has_function_privilege('pg_reload_conf()', 'EXECUTE') \
         THEN 'this user may not call pg_reload_conf()' END \
         FROM pg_settings s WHERE lower(s.name) = lower('{name}')"
    )
}

fn literal(value: &str) -> String {
    let quoted = value.replace('\'', "''");
    match quoted.contains('\\') {
        true => format!("E'{}'", quoted.replace('\\', "\\\\")),
        false => format!("'{quoted}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_quoted_whatever_is_in_it() {
        assert_eq!(literal("64MB"), "'64MB'");
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(literal("a\\'b"), "E'a\\\\''b'");
    }
}
