//! Facts about a PostgreSQL database that a run records: product, version, settings in force and
//! TLS, as the server reports them.

use std::sync::Arc;

use model::{DbError, Fact, Row, Visit};

use super::Server;
use crate::modes;
use crate::net::NetSession;

/// Server settings that determine durability and isolation, which are reported as facts.
const MODES: &[&str] =
    &["synchronous_commit", "fsync", "full_page_writes", "default_transaction_isolation"];

const SETTINGS: &[&str] = &[
    "wal_level",
    "wal_sync_method",
    "wal_compression",
    "wal_buffers",
    "max_wal_size",
    "checkpoint_timeout",
    "checkpoint_completion_target",
    "commit_delay",
    "synchronous_standby_names",
    "archive_mode",
    "shared_buffers",
    "huge_pages",
    "effective_cache_size",
    "work_mem",
    "maintenance_work_mem",
    "io_method",
    "effective_io_concurrency",
    "random_page_cost",
    "max_connections",
    "max_worker_processes",
    "max_parallel_workers_per_gather",
    "jit",
    "autovacuum",
    "data_checksums",
    "block_size",
    "track_io_timing",
    "statement_timeout",
    "lock_timeout",
    "deadlock_timeout",
    "idle_session_timeout",
    "server_encoding",
    "TimeZone",
];

/// Opens a connection to the server and reads the facts that a run records about it: version,
/// settings and connection.
pub(super) fn facts(server: &Arc<Server>) -> Result<Vec<Fact>, DbError> {
    let mut session = NetSession::connect_admin(server)?;
    let mut ask = |sql: &str, visit: Visit<'_>| session.ask_here(sql, visit);
    let mut facts = vec![Fact::new("database", "product", "PostgreSQL")];
    let about_server = "SELECT current_setting('server_version'), version(), current_database(), \
        current_user, pg_database_size(current_database()), pg_is_in_recovery()";
    let mut tell = |row: &dyn Row| {
        facts.push(Fact::new("database", "version", row.text(0)?));
        facts.push(Fact::new("database", "build", row.text(1)?));
        facts.push(Fact::new("database", "database", row.text(2)?));
        facts.push(Fact::new("database", "user", row.text(3)?));
        facts.push(Fact::new("database", "size_bytes", row.int(4)?));
        let is_standby = row.int(5)? != 0;
        facts.push(Fact::new("database", "standby", if is_standby { "yes" } else { "no" }));
        Ok(())
    };
    ask(about_server, &mut tell)?;
    let quoted: Vec<String> =
        MODES.iter().chain(SETTINGS).map(|name| format!("'{name}'")).collect();
    let settings = format!(
        "SELECT name, current_setting(name) FROM pg_settings WHERE name IN ({}) ORDER BY name",
        quoted.join(", ")
    );
    let mut tell = |row: &dyn Row| {
        let name = row.text(0)?;
        let about = if MODES.contains(&name) { "mode" } else { "database" };
        facts.push(Fact::new(about, name, row.text(1)?));
        if name == "default_transaction_isolation" {
            facts.push(modes::isolation(row.text(1)?));
        }
        if name == "shared_buffers" {
            facts.push(modes::server_memory(name, row.text(1)?));
        }
        Ok(())
    };
    ask(&settings, &mut tell)?;
    let mut tls = String::from("none");
    let mut tell = |row: &dyn Row| {
        tls = format!("{} {}", row.text(0)?, row.text(1)?);
        Ok(())
    };
    let about_tls = "SELECT version, cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl";
    ask(about_tls, &mut tell)?;
    facts.push(Fact::new("database", "tls", tls));
    facts.push(Fact::new("mode", "statements", server.account.way.name()));
    Ok(facts)
}
