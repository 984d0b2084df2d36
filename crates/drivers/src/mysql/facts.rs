//! Facts about a MariaDB or MySQL database that a run records: product, version, settings and
//! connection, as the server reports them.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{DbError, Fact, Row, Value, numbers};

use super::server::MysqlServer;
use crate::modes;
use crate::net::{Connector, NetSession};

/// Server variables that determine durability and isolation, which are reported as facts.
const MODES: &[&str] = &[
    "innodb_flush_log_at_trx_commit",
    "sync_binlog",
    "innodb_doublewrite",
    "rocksdb_flush_log_at_trx_commit",
    "transaction_isolation",
    "tx_isolation",
    "innodb_snapshot_isolation",
];

/// Further server variables that affect benchmark results, which are reported as facts.
const SETTINGS: &[&str] = &[
    "binlog_format",
    "binlog_row_image",
    "default_storage_engine",
    "general_log",
    "gtid_mode",
    "innodb_adaptive_hash_index",
    "innodb_buffer_pool_instances",
    "innodb_buffer_pool_size",
    "innodb_change_buffering",
    "innodb_file_per_table",
    "innodb_flush_method",
    "innodb_flush_neighbors",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_lock_wait_timeout",
    "innodb_log_buffer_size",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_page_size",
    "innodb_purge_threads",
    "innodb_read_io_threads",
    "innodb_redo_log_capacity",
    "innodb_stats_persistent",
    "innodb_thread_concurrency",
    "innodb_use_native_aio",
    "innodb_write_io_threads",
    "interactive_timeout",
    "local_infile",
    "log_bin",
    "max_allowed_packet",
    "max_connections",
    "max_prepared_stmt_count",
    "performance_schema",
    "query_cache_size",
    "query_cache_type",
    "rocksdb_block_cache_size",
    "rocksdb_lock_wait_timeout",
    "rpl_semi_sync_master_enabled",
    "slow_query_log",
    "sql_mode",
    "table_open_cache",
    "thread_cache_size",
    "thread_handling",
    "thread_pool_size",
    "tls_version",
    "wait_timeout",
    "wsrep_on",
];

/// Variable of servers that answer from statistics of tables which may be a day old.
const STATISTICS_AGE: &str = "information_schema_stats_expiry";

/// Query for the size of the files of all tables and indexes of the database, as it is now. It
/// needs the privilege PROCESS.
const SIZE_OF_FILES: &str = "SELECT 'size_bytes', CAST(SUM(file_size) AS CHAR) FROM \
                             information_schema.innodb_tablespaces WHERE \
                             LEFT(name, CHAR_LENGTH(DATABASE()) + 1) = CONCAT(DATABASE(), '/')";

/// Query for the size of all tables and indexes of the database.
const SIZE: &str = "SELECT 'size_bytes', CAST(SUM(data_length + index_length) AS CHAR) \
                    FROM information_schema.tables WHERE table_schema = DATABASE()";

/// Query for the TLS parameters and the compression of the connection on which it is executed.
const STATUS: &str = "SHOW SESSION STATUS WHERE Variable_name LIKE 'Ssl%' OR \
                      Variable_name = 'Compression'";

/// Opens a connection to the server and reads the facts that a run records about it: version,
/// settings and connection.
pub(super) fn facts(server: &Arc<MysqlServer>) -> Result<Vec<Fact>, DbError> {
    let mut session = NetSession::connect_admin(server)?;
    let variables = pairs(&mut session, "SHOW VARIABLES")?;
    let status = pairs(&mut session, STATUS)?;
    let product = if server.is_mariadb() { "MariaDB" } else { "MySQL" };
    let mut facts = vec![
        Fact::new("database", "product", product),
        Fact::new("database", "version", server.version()),
    ];
    let compiled = ["version_comment", "version_compile_os", "version_compile_machine"];
    let pair_of = |name: &&str| variables.get(*name).map(|value| (name.to_string(), value));
    for (name, value) in compiled.iter().filter_map(pair_of) {
        facts.push(Fact::new("database", &name, value));
    }
    // A server that knows both names of a setting keeps the old one only for old clients.
    let is_old_name =
        |name: &&&str| **name == "tx_isolation" && variables.contains_key("transaction_isolation");
    for (name, value) in MODES.iter().filter(|name| !is_old_name(name)).filter_map(pair_of) {
        facts.push(Fact::new("mode", &name, value));
    }
    for (name, value) in SETTINGS.iter().filter_map(pair_of) {
        facts.push(Fact::new("database", &name, value));
    }
    let isolation = ["transaction_isolation", "tx_isolation"];
    let isolation = isolation.iter().find_map(|name| variables.get(*name));
    facts.extend(isolation.map(|level| modes::isolation(level)));
    let buffer_pool: Option<u64> =
        variables.get("innodb_buffer_pool_size").and_then(|size| size.parse().ok());
    facts.extend(buffer_pool.map(modes::cache_bytes));
    let buffer_pool = buffer_pool.map(numbers::bytes);
    facts.extend(buffer_pool.map(|size| modes::server_memory("InnoDB buffer pool", &size)));
    let size = match variables.contains_key(STATISTICS_AGE) {
        // Nothing is set in the session, which a pooler may give to others.
        true => pairs(&mut session, SIZE_OF_FILES).unwrap_or_default(),
        false => pairs(&mut session, SIZE)?,
    };
    let size = size.get("size_bytes").cloned();
    facts.extend(size.map(|size| Fact::new("database", "size_bytes", size)));
    let variable = |name: &str| variables.get(name).map(String::as_str).unwrap_or_default();
    if let Some(settings) = query_cache(variable("query_cache_type"), variable("query_cache_size"))
    {
        facts.push(Fact::new("cache", "query_results", settings));
    }
    if let Some(Some(modes)) = server.sql_mode.get() {
        facts.push(Fact::new(
            "connection",
            "sql_mode",
            format!("set to '{modes}' by each session"),
        ));
    }
    facts.extend(connection(&server.connector, server.as_text, &status));
    Ok(facts)
}

/// Returns the state of MySQL's query cache as a fact, from the values of `query_cache_type` and
/// `query_cache_size`. `None` if it caches nothing, or only queries that ask for it.
fn query_cache(kind: &str, bytes: &str) -> Option<String> {
    let has_room = bytes.parse::<u64>().is_ok_and(|bytes| bytes > 0);
    let is_on = kind.eq_ignore_ascii_case("on") || kind == "1";
    (is_on && has_room).then(|| format!("query_cache_type={kind}, query_cache_size={bytes}"))
}

/// Returns the facts about dbdyno's connections: addresses, TLS, compression, and how statements
/// are sent. `status` has the result of [`STATUS`].
fn connection(
    connector: &Connector,
    as_text: bool,
    status: &BTreeMap<String, String>,
) -> Vec<Fact> {
    let fact = |name: &str, value: &dyn ToString| Fact::new("connection", name, value.to_string());
    let places: Vec<String> =
        connector.used().into_iter().map(|at| connector.address(at).to_string()).collect();
    let tls = match (status.get("ssl_version"), status.get("ssl_cipher")) {
        (Some(version), Some(cipher)) if !version.is_empty() => format!("{version} {cipher}"),
        _ => "none".to_owned(),
    };
    let is_deflated = status.get("compression").is_some_and(|word| word == "ON");
    vec![
        fact("address", &places.join(",")),
        fact("tls", &tls),
        fact("tls_mode", &connector.tls.mode),
        fact("compress", &if is_deflated { "zlib" } else { "none" }),
        fact("statements", &if as_text { "text" } else { "binary" }),
    ]
}

/// Executes a SHOW statement with two columns, and returns the first column, in lower case, with
/// the second.
fn pairs(
    session: &mut NetSession<MysqlServer>,
    sql: &str,
) -> Result<BTreeMap<String, String>, DbError> {
    let mut found = BTreeMap::new();
    session.ask_here(sql, &mut |row: &dyn Row| {
        if let (Value::Text(name), Value::Text(value)) = (row.value(0), row.value(1)) {
            found.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        Ok(())
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_of_answers_is_one_that_is_on_and_has_room() {
        let settings = query_cache("ON", "67108864").expect("it answers");
        assert_eq!(settings, "query_cache_type=ON, query_cache_size=67108864");
        for (kind, bytes) in [("OFF", "1048576"), ("DEMAND", "1048576"), ("ON", "0"), ("", "")] {
            assert_eq!(query_cache(kind, bytes), None, "{kind} {bytes}");
        }
    }
}
