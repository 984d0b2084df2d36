//! SQL with which dbdyno builds data and reads and changes settings on MariaDB and MySQL.

use model::{
    Administration, ClientLoad, DatabaseLock, Explain, Fact, FileFormat, FlatFile, Row,
    SettingsByFile, SettingsBySql, Value,
};

use crate::modes::{RiskyMode, durability};

pub(super) const ADMINISTRATION: Administration = Administration {
    settling: super::settling::settling,
    explain: Some(Explain { begin: &["EXPLAIN "], shape: plan_line }),
    // MySQL's and MariaDB's statement.
    explain_executed: Some(Explain {
        begin: &["EXPLAIN ANALYZE ", "ANALYZE "],
        shape: executed_line,
    }),
    parallel_load: true,
    indexes_after_load: true,
    after_load: |table| vec![format!("ANALYZE TABLE {}", table.name)],
    list_tables: Some(
        "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()",
    ),
    client_load: Some(ClientLoad {
        servers: "MariaDB and MySQL",
        client: "mariadb --local-infile=1",
        run_file: |path| format!("SOURCE {path}"),
        load: load_file,
        finish: |tables| format!("ANALYZE TABLE {tables};"),
    }),
    // Lock names are shared by all databases of a server, and have at most 64 characters.
    build_lock: DatabaseLock {
        take: &["SELECT GET_LOCK(CONCAT('dbdyno ', SHA2(DATABASE(), 224)), 0)"],
        release: "DO RELEASE_LOCK(CONCAT('dbdyno ', SHA2(DATABASE(), 224)))",
    },
    run_lock: DatabaseLock {
        take: &["SELECT GET_LOCK(CONCAT('dbdyno ', SHA2(CONCAT('run ', DATABASE()), 224)), 0)"],
        release: "DO RELEASE_LOCK(CONCAT('dbdyno ', SHA2(CONCAT('run ', DATABASE()), 224)))",
    },
    alone_lock: DatabaseLock {
        take: &["SELECT GET_LOCK(CONCAT('dbdyno ', \
                 SHA2(CONCAT('alone {workload} ', DATABASE()), 224)), 0)"],
        release: "DO RELEASE_LOCK(CONCAT('dbdyno ', \
                  SHA2(CONCAT('alone {workload} ', DATABASE()), 224)))",
    },
    // Galera: reads wait until the commits of other nodes are applied here.
    sees_other_hosts: Some("SET SESSION wsrep_sync_wait = 1"),
    house_limits: &[
        "SELECT IF(@@SESSION.sql_big_selects, NULL, 'SET SESSION sql_big_selects = 1'), \
         IF(@@SESSION.sql_safe_updates, 'SET SESSION sql_safe_updates = 0', NULL), \
         IF(@@SESSION.sql_select_limit < 18446744073709551615, \
         'SET SESSION sql_select_limit = 18446744073709551615', NULL)",
        "SELECT IF(@@SESSION.max_statement_time > 0, 'SET SESSION max_statement_time = 0', NULL)",
        "SELECT IF(@@SESSION.max_execution_time > 0, 'SET SESSION max_execution_time = 0', NULL)",
        "SELECT IF(@@SESSION.idle_transaction_timeout > 0, \
         'SET SESSION idle_transaction_timeout = 0', NULL)",
    ],
    demands_keys: Some(
        "SHOW GLOBAL VARIABLES WHERE \
         Variable_name IN ('innodb_force_primary_key', 'sql_require_primary_key') AND Value = 'ON' \
         OR Variable_name = 'group_replication_group_name' AND Value <> '' \
         OR Variable_name = 'pxc_strict_mode' AND Value IN ('ENFORCING', 'MASTER') \
         OR Variable_name = 'wsrep_certify_nonPK' AND Value = 'OFF' \
         OR Variable_name = 'wsrep_mode' AND Value LIKE '%REQUIRED_PRIMARY_KEY%'",
    ),
    list_routines: "SELECT ROUTINE_NAME, ROUTINE_COMMENT FROM information_schema.ROUTINES \
                    WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_NAME LIKE 'dbdyno%'",
    list_storage_engines: Some(
        "SELECT ENGINE FROM information_schema.ENGINES WHERE SUPPORT IN ('YES', 'DEFAULT')",
    ),
    storage_engine_of: Some(|table| {
        format!(
            "SELECT LOWER(ENGINE) FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{table}'"
        )
    }),
    // The error of a Galera node that is not synchronized yet. Other servers do not listen while
    // they recover.
    is_recovering: |no| no.code == 1047,
    thread_per_session: true,
    durability: |facts| durability(facts, RISKY),
    connection_limit: Some("max_connections"),
    statement_limit: |facts| {
        const LIMIT: &str = "max_prepared_stmt_count";
        let fact = |about: &str, name: &str| {
            let is_it = |fact: &&Fact| fact.about == about && fact.name == name;
            facts.iter().find(is_it).map(|fact| fact.value.to_string())
        };
        let prepares = fact("connection", "statements")? == "binary";
        Some((LIMIT, fact("database", LIMIT)?.parse().ok()?)).filter(|_| prepares)
    },
    settings: Some(SettingsBySql {
        look: |name| match of_performance_schema(name) {
            Some((table, name)) => format!(
                "SELECT '{table}:{name}', IF(ENABLED = 'YES', 'ON', 'OFF') \
                 FROM performance_schema.setup_{table}s WHERE NAME = '{name}'"
            ),
            None => format!("SHOW GLOBAL VARIABLES WHERE Variable_name = '{}'", plain(name)),
        },
        // Fails for read-only and session-only variables, and without the privilege.
        probe: |name| match of_performance_schema(name) {
            Some((table, name)) => format!(
                "UPDATE performance_schema.setup_{table}s SET ENABLED = ENABLED WHERE NAME = '{name}'"
            ),
            None => format!("SET GLOBAL {0} = @@GLOBAL.{0}", plain(name)),
        },
        set: set_global,
        // A restarted server has lost all changes.
        unset: |_| String::new(),
        take_up: "",
        taken_up: "",
        all: "SHOW GLOBAL VARIABLES",
        base_units: &[],
        // MariaDB before 11.1 and MySQL before 5.7.20 have only the first name, MySQL from 8.0 on
        // only the second.
        other_names: &[
            ["tx_isolation", "transaction_isolation"],
            ["tx_read_only", "transaction_read_only"],
        ],
        if_denied: |_| "sign in as a user with the privilege".to_owned(),
        of_place: &[
            "basedir",
            "gtid_binlog_pos",
            "gtid_binlog_state",
            "gtid_current_pos",
            "gtid_executed",
            "gtid_purged",
            "gtid_slave_pos",
            "hostname",
            "init_file",
            "port",
            "report_host",
            "report_port",
            "server_uid",
            "server_uuid",
            "wsrep_cluster_address",
            "wsrep_node_address",
            "wsrep_node_incoming_address",
            "wsrep_node_name",
            "wsrep_sst_receive_address",
        ],
        file: SettingsByFile {
            path: None,
            lines: option_lines,
            uptime: "SHOW GLOBAL STATUS LIKE 'Uptime'",
            // The first is MariaDB's, the second that of MySQL 8 and later.
            ranges: |name| {
                let name = plain(name);
                vec![
                    format!(
                        "SELECT NUMERIC_MIN_VALUE, NUMERIC_MAX_VALUE, '1' \
                         FROM information_schema.SYSTEM_VARIABLES WHERE VARIABLE_NAME = '{name}'"
                    ),
                    format!(
                        "SELECT NULLIF(MIN_VALUE, '0'), NULLIF(MAX_VALUE, '0'), '1' \
                         FROM performance_schema.variables_info WHERE VARIABLE_NAME = '{name}'"
                    ),
                ]
            },
            check: |arguments| {
                let asked = ["--verbose".to_owned(), "--help".to_owned()];
                arguments.iter().cloned().chain(asked).collect()
            },
            dangerous: &[
                "audit_log_file",
                "basedir",
                "bind_address",
                "character_sets_dir",
                "chroot",
                "datadir",
                "early_plugin_load",
                "general_log_file",
                "init_connect",
                "init_file",
                "init_replica",
                "init_slave",
                "innodb_data_file_path",
                "innodb_data_home_dir",
                "innodb_directories",
                "innodb_log_group_home_dir",
                "innodb_temp_data_file_path",
                "innodb_tmpdir",
                "innodb_undo_directory",
                "language",
                "lc_messages_dir",
                "log_basename",
                "log_bin",
                "log_bin_basename",
                "log_bin_index",
                "log_error",
                "mandatory_roles",
                "pid_file",
                "plugin_dir",
                "plugin_load",
                "plugin_load_add",
                "relay_log",
                "relay_log_index",
                "relay_log_info_file",
                "secure_auth",
                "secure_file_priv",
                "skip_grant_tables",
                "slow_query_log_file",
                "socket",
                "ssl_ca",
                "ssl_capath",
                "ssl_cert",
                "ssl_crl",
                "ssl_crlpath",
                "ssl_key",
                "tmpdir",
                "user",
                "wsrep_data_home_dir",
                "wsrep_notify_cmd",
                "wsrep_provider",
                "wsrep_provider_options",
                "wsrep_sst_auth",
                "wsrep_sst_method",
            ],
            // ER_INCORRECT_GLOBAL_LOCAL_VAR: "is a read only variable".
            is_fixed_while_running: |no| no.code == 1238,
        },
    }),
    ..Administration::PLAIN
};

/// Returns the lines of an option file that give the settings these values
/// (<https://dev.mysql.com/doc/refman/8.4/en/option-files.html>).
fn option_lines(settings: &[(String, String)]) -> String {
    let line = |(name, value): &(String, String)| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.,:/+*".contains(c);
        if value.chars().all(is_plain) {
            return format!("{name} = {value}\n");
        }
        let quote = if value.contains('"') { '\'' } else { '"' };
        format!("{name} = {quote}{}{quote}\n", value.replace('\\', "\\\\"))
    };
    let lines: String = settings.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("[mysqld]\n{lines}") }
}

/// Columns of EXPLAIN that are estimates, or no part of the chosen plan.
const NOT_OF_SHAPE: [&str; 4] = ["partitions", "possible_keys", "rows", "filtered"];

/// Returns the columns of a row of EXPLAIN that are not null, separated by blanks. Columns differ
/// between MariaDB, MySQL and their versions.
fn plan_line(row: &dyn Row) -> String {
    let shown = (0..row.width()).filter(|column| !NOT_OF_SHAPE.contains(&row.name(*column)));
    columns(row, shown)
}

/// Returns the plan of an executed query: MySQL's text, or the columns of a row of MariaDB's
/// ANALYZE that are not null, of which `r_rows` and `r_filtered` have their names before them.
fn executed_line(row: &dyn Row) -> String {
    let shown = (0..row.width()).filter(|column| !NOT_OF_SHAPE.contains(&row.name(*column)));
    let is_actual = |column: &usize| row.name(*column).starts_with("r_");
    let (actual, chosen): (Vec<usize>, Vec<usize>) = shown.partition(is_actual);
    let mut line = columns(row, chosen.into_iter());
    for column in actual {
        let value = match row.value(column) {
            Value::Float(number) => number.to_string(),
            _ => columns(row, std::iter::once(column)),
        };
        if !value.is_empty() {
            line += &format!(" {}={value}", row.name(column));
        }
    }
    line
}

/// Returns the values of some columns of a row that are not null, separated by blanks.
fn columns(row: &dyn Row, shown: impl Iterator<Item = usize>) -> String {
    let words = shown.filter_map(|column| match row.value(column) {
        Value::Int(number) => Some(number.to_string()),
        Value::Null => None,
        _ => row.text(column).ok().filter(|text| !text.is_empty()).map(str::to_owned),
    });
    words.collect::<Vec<String>>().join(" ")
}

/// Risky settings of MySQL and MariaDB, with which an acknowledged commit may be lost: name, value
/// and the failure that loses it. Only the first one in force is reported.
const RISKY: &[RiskyMode] = &[
    ("innodb_flush_log_at_trx_commit", "0", "a crash may lose the last second of commits"),
    ("innodb_flush_log_at_trx_commit", "2", "a loss of power may lose the last second of commits"),
    ("rocksdb_flush_log_at_trx_commit", "0", "a loss of power may lose the last commits"),
    ("rocksdb_flush_log_at_trx_commit", "2", "a loss of power may lose the last second of commits"),
];

fn load_file(file: &FlatFile) -> String {
    let FlatFile { table, columns, path, format } = file;
    let options = match format {
        FileFormat::Tsv => "",
        FileFormat::Tbl => "FIELDS TERMINATED BY '|' LINES TERMINATED BY '|\\n' ",
        FileFormat::Csv => {
            "FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' ESCAPED BY '' \
             LINES TERMINATED BY '\\n' IGNORE 1 LINES "
        }
    };
    format!(
        "LOAD DATA LOCAL INFILE '{path}' INTO TABLE {table} CHARACTER SET utf8mb4 \
         {options}({columns});"
    )
}

/// Returns the name of a server variable with `_` instead of `-`, since servers accept `-` on their
/// command lines, but not in SQL.
fn plain(name: &str) -> String {
    name.replace('-', "_")
}

/// Splits the name of a performance schema setting at its colon; `None` for any other name.
/// `instrument:wait/io/file/x` is a row of `setup_instruments`, `consumer:x` one of
/// `setup_consumers`.
fn of_performance_schema(name: &str) -> Option<(&str, &str)> {
    let known =
        name.split_once(':').filter(|(table, _)| matches!(*table, "instrument" | "consumer"));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '.');
    known.filter(|(_, name)| name.chars().all(is_plain))
}

/// Returns statements that set a global server variable, to be tried in this order until one
/// succeeds: with a number, which a text variable rejects, then with a text, which a numeric
/// variable rejects. Sizes such as `64M` become bytes, since only option files and command lines
/// accept the suffix.
fn set_global(name: &str, value: &str) -> Vec<String> {
    if let Some((table, name)) = of_performance_schema(name) {
        let enabled = if value.eq_ignore_ascii_case("on") { "YES" } else { "NO" };
        let timed =
            if table == "instrument" { format!(", TIMED = '{enabled}'") } else { String::new() };
        return vec![format!(
            "UPDATE performance_schema.setup_{table}s SET ENABLED = '{enabled}'{timed} \
             WHERE NAME = '{name}'"
        )];
    }
    let name = plain(name);
    let value = value.trim();
    let size = value.ends_with(|c: char| c.is_ascii_alphabetic());
    let bytes = size.then(|| model::parse_bytes(value).ok()).flatten();
    let number = match bytes {
        Some(bytes) => Some(bytes.to_string()),
        None => value.parse::<f64>().ok().filter(|n| n.is_finite()).map(|_| value.to_owned()),
    };
    let text = value.replace('\\', "\\\\").replace('\'', "''");
    let values = number.into_iter().chain([format!("'{text}'")]);
    values.map(|value| format!("SET GLOBAL {name} = {value}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_set_as_a_number_where_it_may_be_one() {
        let check = |value: &str, expect: &[&str]| assert_eq!(set_global("a-b", value), expect);
        check("200", &["SET GLOBAL a_b = 200", "SET GLOBAL a_b = '200'"]);
        check("64M", &["SET GLOBAL a_b = 67108864", "SET GLOBAL a_b = '64M'"]);
        check("-1.5", &["SET GLOBAL a_b = -1.5", "SET GLOBAL a_b = '-1.5'"]);
        check("it's a \\", &["SET GLOBAL a_b = 'it''s a \\\\'"]);
        check("ON", &["SET GLOBAL a_b = 'ON'"]);
    }

    #[test]
    fn an_instrument_is_set_in_its_table_and_nothing_else_gets_into_it() {
        let set = set_global("instrument:wait/io/x", "ON");
        let rows = "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', \
                    TIMED = 'YES' WHERE NAME = 'wait/io/x'";
        assert_eq!(set, [rows]);
        let set = set_global("consumer:statements_digest", "OFF");
        let rows = "UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' \
                    WHERE NAME = 'statements_digest'";
        assert_eq!(set, [rows]);
        assert_eq!(of_performance_schema("instrument:x' OR '1"), None);
        assert_eq!(of_performance_schema("instruments"), None);
    }
}
