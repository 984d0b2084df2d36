//! SQL with which dbdyno builds data and reads and changes settings in PostgreSQL.

use model::{
    Administration, ClientLoad, DatabaseLock, Explain, FileFormat, FlatFile, SettingsByFile,
    SettingsBySql, Table,
};

use crate::modes::{RiskyMode, durability};

pub(super) const ADMINISTRATION: Administration = Administration {
    settling: super::settling::settling,
    explain: Some(Explain {
        begin: &["EXPLAIN (COSTS OFF) "],
        shape: |row| row.text(0).unwrap_or_default().to_owned(),
    }),
    explain_executed: Some(Explain {
        begin: &["EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) "],
        shape: |row| row.text(0).unwrap_or_default().to_owned(),
    }),
    parallel_load: true,
    indexes_after_load: true,
    tables_in_transactions: true,
    list_tables: Some(
        "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'f', 'm') \
         AND pg_table_is_visible(oid)",
    ),
    // A chunk and its mark are lost together, and the end of the build is flushed with everything
    // before it. A session setting would stay in a pooler's connection.
    begin_load: &["SET LOCAL synchronous_commit = off"],
    after_load,
    client_load: Some(ClientLoad {
        servers: "PostgreSQL",
        client: "PGTZ=UTC psql",
        run_file: |path| format!("\\i {path}"),
        load: load_file,
        finish: |tables| format!("VACUUM ANALYZE {tables};"),
    }),
    // The transaction stays open: a pooler that assigns connections by transaction would give a
    // session's lock to another client. It holds no snapshot between its statements.
    build_lock: DatabaseLock {
        take: &[
            "BEGIN ISOLATION LEVEL READ COMMITTED",
            "SELECT pg_try_advisory_xact_lock(hashtext('dbdyno'))::int",
        ],
        release: "ROLLBACK",
    },
    run_lock: DatabaseLock {
        take: &[
            "BEGIN ISOLATION LEVEL READ COMMITTED",
            "SELECT pg_try_advisory_xact_lock(hashtext('dbdyno run'))::int",
        ],
        release: "ROLLBACK",
    },
    alone_lock: DatabaseLock {
        take: &[
            "BEGIN ISOLATION LEVEL READ COMMITTED",
            "SELECT pg_try_advisory_xact_lock(hashtext('dbdyno alone {workload}'))::int",
        ],
        release: "ROLLBACK",
    },
    house_limits: &["SELECT format('SET %I = 0', name) FROM pg_settings WHERE setting <> '0' AND \
                     name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout', \
                     'idle_in_transaction_session_timeout', 'idle_session_timeout')"],
    hiding_tables: Some(
        "SELECT here.relname::text, schema.nspname::text, home.nspname::text FROM pg_class AS meta \
         JOIN pg_namespace AS home ON home.oid = meta.relnamespace \
         JOIN pg_class AS hidden ON hidden.relnamespace = home.oid AND hidden.relkind IN ('r', 'p') \
         JOIN pg_class AS here ON here.relname = hidden.relname AND here.oid <> hidden.oid \
         JOIN pg_namespace AS schema ON schema.oid = here.relnamespace \
         WHERE meta.oid = to_regclass('dbdyno_meta') AND pg_table_is_visible(here.oid) \
         AND here.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY 1",
    ),
    list_routines: "SELECT proname::text, prosrc FROM pg_proc \
                    WHERE pronamespace = current_schema()::regnamespace AND proname LIKE 'dbdyno%'",
    storage_engine_of: Some(|table| {
        format!(
            "SELECT 'unlogged'::text FROM pg_class \
             WHERE oid = to_regclass('{table}') AND relpersistence = 'u'"
        )
    }),
    // cannot_connect_now: the server starts up, recovers or is not yet consistent.
    is_recovering: |no| no.sqlstate == "57P03",
    durability: |facts| durability(facts, RISKY),
    connection_limit: Some("max_connections"),
    settings: Some(SettingsBySql {
        look: look_at_setting,
        probe: |_| String::new(),
        set: |name, value| vec![format!("ALTER SYSTEM SET {name} = {}", literal(value))],
        unset: |name| format!("ALTER SYSTEM RESET {name}"),
        take_up: "SELECT pg_reload_conf()",
        // A session sees new values when the server has reported all of them.
        taken_up: "SELECT pg_conf_load_time()::text",
        // Values set by this session apply to it only.
        all: "SELECT name, current_setting(name) FROM pg_settings \
              WHERE source NOT IN ('client', 'session')",
        // The units are kB, pages, MB and WAL segments, and s and minutes.
        other_names: &[],
        base_units: &[1024.0, 8192.0, 1024.0 * 1024.0, 16.0 * 1024.0 * 1024.0, 1e3, 60e3],
        if_denied: |name| {
            format!(
                "a superuser can allow it: GRANT SELECT ON pg_file_settings TO {{user}}; GRANT \
                 EXECUTE ON FUNCTION pg_show_all_file_settings(), pg_reload_conf() TO {{user}}; \
                 GRANT ALTER SYSTEM ON PARAMETER {name} TO {{user}} (the last from PostgreSQL 15 \
                 on)"
            )
        },
        of_place: &["cluster_name", "port", "in_hot_standby", "transaction_read_only"],
        file: SettingsByFile {
            path: Some("SELECT current_setting('data_directory') || '/postgresql.auto.conf'"),
            lines: |settings| {
                let line = |(name, value): &(String, String)| {
                    let quoted = value.replace('\\', "\\\\").replace('\'', "''");
                    format!("{name} = '{quoted}'\n")
                };
                settings.iter().map(line).collect()
            },
            uptime: "SELECT EXTRACT(EPOCH FROM clock_timestamp() - pg_postmaster_start_time())::text",
            ranges: |name| {
                vec![format!(
                    "SELECT min_val, max_val, CASE unit WHEN 'kB' THEN '1024' WHEN '8kB' THEN '8192' \
                     WHEN 'MB' THEN '1048576' WHEN '16MB' THEN '16777216' WHEN 's' THEN '1000' \
                     WHEN 'min' THEN '60000' ELSE '1' END \
                     FROM pg_settings WHERE lower(name) = lower('{name}')"
                )]
            },
            // Root may ask for a setting, but only with these as the first arguments.
            check: |arguments| {
                let asked = ["-C".to_owned(), "data_directory".to_owned()];
                asked.into_iter().chain(arguments.iter().cloned()).collect()
            },
            dangerous: &[
                "archive_cleanup_command",
                "archive_command",
                "archive_library",
                "config_file",
                "data_directory",
                "dynamic_library_path",
                "extension_control_path",
                "external_pid_file",
                "hba_file",
                "ident_file",
                "include",
                "include_dir",
                "include_if_exists",
                "jit_provider",
                "krb_server_keyfile",
                "listen_addresses",
                "local_preload_libraries",
                "log_directory",
                "log_filename",
                "oauth_validator_libraries",
                "recovery_end_command",
                "restore_command",
                "session_preload_libraries",
                "shared_preload_libraries",
                "ssl_ca_file",
                "ssl_cert_file",
                "ssl_crl_dir",
                "ssl_crl_file",
                "ssl_dh_params_file",
                "ssl_key_file",
                "ssl_passphrase_command",
                "stats_temp_directory",
                "unix_socket_directories",
            ],
            is_fixed_while_running: |_| false,
        },
    }),
    ..Administration::PLAIN
};

/// Returns the statements to be executed after a table was loaded: one that moves the sequence of
/// an auto-increment column past the loaded numbers, and VACUUM ANALYZE. Without VACUUM the first
/// readers would write the rows' hint bits, and autovacuum would run during the benchmark.
fn after_load(table: &Table) -> Vec<String> {
    let name = &table.name;
    let serial = table.columns.iter().find(|column| column.of.is_serial());
    let moved = serial.map(|column| {
        let column = column.name;
        // A quoted name is case-sensitive, and tables are created without quotes.
        let folded = column.to_ascii_lowercase();
        format!(
            "SELECT setval(pg_get_serial_sequence('{name}', '{folded}'), \
             COALESCE((SELECT MAX({column}) FROM {name}), 0) + 1, false)"
        )
    });
    moved.into_iter().chain([format!("VACUUM ANALYZE {name}")]).collect()
}

/// Risky settings of PostgreSQL, with which an acknowledged commit may be lost: name, value and the
/// failure that loses it. Only the first one in force is reported.
const RISKY: &[RiskyMode] = &[
    ("fsync", "off", "a loss of power may lose commits and damage the data"),
    ("full_page_writes", "off", "a loss of power may damage the data"),
    ("synchronous_commit", "off", "a crash may lose the last commits"),
];

fn load_file(file: &FlatFile) -> String {
    let FlatFile { table, columns, path, format } = file;
    let (from, options) = match format {
        FileFormat::Tsv => (format!("'{path}'"), ""),
        FileFormat::Csv => (format!("'{path}'"), " WITH (FORMAT csv, HEADER, NULL 'NULL')"),
        // COPY takes a `|` at the end of a row for the begin of one more value.
        FileFormat::Tbl => {
            (format!("PROGRAM 'sed ''s/|$//'' ''{path}'''"), " WITH (DELIMITER '|')")
        }
    };
    format!("\\copy {table} ({columns}) FROM {from}{options}")
}

/// Returns the query for a setting: its name, its value, its value from `ALTER SYSTEM`, the reason
/// if `ALTER SYSTEM` cannot set it, and that reason again if a restart could.
///
/// A setting that is a list of names cannot be set by dbdyno: the server stores it with each name
/// in quotes, which no single text can express.
fn look_at_setting(name: &str) -> String {
    format!(
        "SELECT s.name, current_setting(s.name), \
         (SELECT f.setting FROM pg_file_settings f \
          WHERE lower(f.name) = lower(s.name) AND f.sourcefile LIKE '%/postgresql.auto.conf' \
          ORDER BY f.seqno DESC LIMIT 1), \
         CASE WHEN s.context = 'internal' THEN 'it cannot be changed' \
         WHEN s.source = 'command line' \
         THEN 'its source is ''command line'', which overrides ALTER SYSTEM' \
         WHEN s.context = 'postmaster' THEN 'it takes effect only at a server start' \
         WHEN s.name IN ('search_path', 'temp_tablespaces', 'session_preload_libraries', \
         'local_preload_libraries') THEN 'it is a list of names' \
         WHEN s.source NOT IN ('default', 'configuration file', 'override') \
         THEN 'its source is ''' || s.source || ''', which overrides ALTER SYSTEM' \
         WHEN NOT has_function_privilege('pg_reload_conf()', 'EXECUTE') \
         THEN 'this user may not call pg_reload_conf()' END, \
         CASE WHEN s.context = 'postmaster' AND s.source <> 'command line' \
         THEN 'it takes effect only at a server start' END \
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
