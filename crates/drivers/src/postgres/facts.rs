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
            let size = row.text(1)?;
            facts.push(modes::server_memory(name, size));
            facts.extend(bytes_of_setting(size).map(modes::cache_bytes));
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

/// Parses a size as PostgreSQL shows it, such as `128MB` or `16kB`, in units of 1024; `None` for
/// another text.
fn bytes_of_setting(text: &str) -> Option<u64> {
    let units = [("TB", 40), ("GB", 30), ("MB", 20), ("kB", 10), ("B", 0)];
    let (number, shift) =
        units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, shift)))?;
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_settings_have_units_of_1024() {
        let all = ["128MB", "1GB", "16kB", "8192", "-1"].map(bytes_of_setting);
        assert_eq!(all, [Some(128 << 20), Some(1 << 30), Some(16 << 10), None, None]);
    }
}
