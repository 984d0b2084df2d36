//! What PostgreSQL counts itself (its cumulative statistics system), and which of it is read unless
//! all is asked for.
//!
//! A view's row is told as names and values, whatever columns a version has; a view that it has
//! not is refused, and the others stand. Sessions tell their counts once a second at most, so a
//! single second may hold more or less than its own. Names: `database_xact_commit` is
//! `xact_commit` of `pg_stat_database` for the target's own database.

use model::{CommitCounter, ConnectionCounter, Counter, Counters, Monitoring, Reading};

pub(super) const MONITORING: Monitoring = Monitoring {
    counters: Some(Counters { ask, chosen: CHOSEN, reading }),
    // Of both views that versions have for them.
    checkpoint_counters: &[
        "checkpointer_num_timed",
        "checkpointer_num_requested",
        "bgwriter_checkpoints_timed",
        "bgwriter_checkpoints_req",
    ],
    commit_counter: Some(CommitCounter {
        name: "xact_commit",
        sql: "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()",
        counts_single_statements: true,
    }),
    // Whose sessions are not ours to look into has no backend_type.
    connection_counter: Some(ConnectionCounter {
        name: "pg_stat_activity",
        sql: "SELECT count(*) FROM pg_stat_activity WHERE datname IS NOT NULL \
              AND coalesce(backend_type, 'client backend') = 'client backend'",
    }),
    started_ago: Some(
        "SELECT floor(extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()))::bigint",
    ),
};

const fn total(name: &'static str, unit: &'static str, help: &'static str) -> Counter {
    Counter { name, reading: Reading::Total, unit, help }
}

const fn each(name: &'static str, help: &'static str) -> Counter {
    total(name, "1/s", help)
}

const fn level(name: &'static str, help: &'static str) -> Counter {
    Counter { name, reading: Reading::Level, unit: "", help }
}

const CHOSEN: &[Counter] = &[
    each("database_xact_commit", "Commits, of statements outside of transactions too."),
    each("database_xact_rollback", "Rollbacks."),
    level("sessions_active", "Sessions that carry out a statement at the instant of reading."),
    level("waits_lock", "Active sessions that wait for a lock."),
    level("waits_lwlock", "Active sessions that wait for a lock within the server's memory."),
    level("waits_io", "Active sessions that wait for a disk."),
    each("database_tup_returned", "Rows read by scans, of indexes too."),
    each("database_tup_fetched", "Rows fetched by indexes."),
    each("database_tup_inserted", "Rows inserted."),
    each("database_tup_updated", "Rows updated."),
    each("database_tup_deleted", "Rows deleted."),
    each("database_blks_read", "Blocks that were not in the server's buffers."),
    each("database_blks_hit", "Blocks that were."),
    total("wal_wal_bytes", "B/s", "Bytes of write-ahead log."),
    each("wal_wal_records", "Records of write-ahead log."),
    each("wal_wal_fpi", "Full pages in the log: the first changes after a checkpoint."),
    each("wal_wal_buffers_full", "Times that the log's buffers were full."),
    each("wal_wal_write", "Writes of the log (until version 17)."),
    each("wal_wal_sync", "Flushes of the log (until version 17)."),
    each("checkpointer_num_timed", "Checkpoints at their time (from version 17 on)."),
    each("checkpointer_num_requested", "Checkpoints that were asked for (from version 17 on)."),
    each("checkpointer_buffers_written", "Buffers written by checkpoints (from version 17 on)."),
    total("checkpointer_write_time", "ms/s", "Time that checkpoints wrote (from version 17 on)."),
    each("bgwriter_checkpoints_timed", "Checkpoints at their time (until version 16)."),
    each("bgwriter_checkpoints_req", "Checkpoints that were asked for (until version 16)."),
    each("bgwriter_buffers_checkpoint", "Buffers written by checkpoints (until version 16)."),
    each("bgwriter_buffers_backend", "Buffers that sessions had to write (until version 16)."),
    each("bgwriter_buffers_clean", "Buffers written by the background writer."),
    each("bgwriter_maxwritten_clean", "Times that the background writer stopped at its limit."),
    each("bgwriter_buffers_alloc", "Buffers taken."),
    each("io_reads", "Reads of all processes (from version 16 on)."),
    each("io_writes", "Writes of all processes (from version 16 on)."),
    each("io_extends", "Files made longer (from version 16 on)."),
    each("io_fsyncs", "Flushes to the disk (from version 16 on)."),
    each("io_evictions", "Buffers given to another block (from version 16 on)."),
    each("database_deadlocks", "Deadlocks."),
    each("database_temp_files", "Temporary files that statements needed."),
    total("database_temp_bytes", "B/s", "Bytes written to them."),
    level("database_numbackends", "Sessions in this database."),
    level("sessions_idle", "Sessions that wait for their client."),
    level("sessions_in_transaction", "Sessions that wait for their client within a transaction."),
    level("waits_client", "Active sessions that wait for their client to read or write."),
    level("waits_ipc", "Active sessions that wait for another process of the server."),
    level("waits_timeout", "Active sessions that wait for some time to pass."),
];

/// Names and values of a row: what is no number is passed over by whoever reads it.
const OF_DATABASE: &str = "SELECT 'database_' || e.key, e.value FROM pg_stat_database AS s, \
    LATERAL jsonb_each_text(to_jsonb(s) - 'datid' - 'datname') AS e \
    WHERE s.datname = current_database()";
const OF_WAL: &str = "SELECT 'wal_' || e.key, e.value FROM pg_stat_wal AS s, \
    LATERAL jsonb_each_text(to_jsonb(s)) AS e";
const OF_WRITER: &str = "SELECT 'bgwriter_' || e.key, e.value FROM pg_stat_bgwriter AS s, \
    LATERAL jsonb_each_text(to_jsonb(s)) AS e";
const OF_CHECKPOINTER: &str = "SELECT 'checkpointer_' || e.key, e.value \
    FROM pg_stat_checkpointer AS s, LATERAL jsonb_each_text(to_jsonb(s)) AS e";
/// Over all kinds of processes and objects.
const OF_IO: &str = "SELECT 'io_' || e.key, sum(e.value::numeric)::text FROM pg_stat_io AS s, \
    LATERAL jsonb_each_text(to_jsonb(s) - 'op_bytes') AS e \
    WHERE e.value ~ '^[0-9]+([.][0-9]+)?$' GROUP BY e.key";
/// Whose sessions are not ours to look into has no state, and is not counted.
const OF_SESSIONS: &str = "SELECT v.name, v.count::text FROM (SELECT \
    count(*) FILTER (WHERE state = 'active') AS active, \
    count(*) FILTER (WHERE state = 'idle') AS idle, \
    count(*) FILTER (WHERE state LIKE 'idle in%') AS within, \
    count(*) FILTER (WHERE state = 'active' AND wait_event_type = 'Lock') AS lock, \
    count(*) FILTER (WHERE state = 'active' AND wait_event_type = 'LWLock') AS lwlock, \
    count(*) FILTER (WHERE state = 'active' AND wait_event_type = 'IO') AS io, \
    count(*) FILTER (WHERE state = 'active' AND wait_event_type = 'Client') AS client, \
    count(*) FILTER (WHERE state = 'active' AND wait_event_type = 'IPC') AS ipc, \
    count(*) FILTER (WHERE state = 'active' AND wait_event_type = 'Timeout') AS timeout \
    FROM pg_stat_activity WHERE pid <> pg_backend_pid()) AS s, \
    LATERAL (VALUES ('sessions_active', s.active), ('sessions_idle', s.idle), \
    ('sessions_in_transaction', s.within), ('waits_lock', s.lock), ('waits_lwlock', s.lwlock), \
    ('waits_io', s.io), ('waits_client', s.client), ('waits_ipc', s.ipc), \
    ('waits_timeout', s.timeout)) AS v(name, count)";

/// Few rows either way; of the chosen ones each query leaves out the others.
fn ask(names: &[&str]) -> Vec<String> {
    let all = [OF_DATABASE, OF_WAL, OF_WRITER, OF_CHECKPOINTER, OF_IO, OF_SESSIONS];
    if names.is_empty() {
        return all.map(str::to_owned).into();
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    let chosen = |sql: &str| {
        let quoted = quoted.join(", ");
        format!("SELECT q.name, q.value FROM ({sql}) AS q(name, value) WHERE q.name IN ({quoted})")
    };
    all.map(chosen).into()
}

fn reading(name: &str) -> (Reading, &'static str) {
    let is_level = name.starts_with("sessions_")
        || name.starts_with("waits_")
        || name == "database_numbackends"
        || name == "database_checksum_failures";
    match is_level {
        true => (Reading::Level, ""),
        false if name.ends_with("_time") => (Reading::Total, "ms/s"),
        false if name.ends_with("_bytes") => (Reading::Total, "B/s"),
        false => (Reading::Total, "1/s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_view_is_asked_for_itself() {
        assert_eq!(ask(&[]).len(), 6);
        let asked = ask(&["wal_wal_bytes"]);
        assert!(asked[1].ends_with("WHERE q.name IN ('wal_wal_bytes')"), "{}", asked[1]);
        let mut names: Vec<&str> = CHOSEN.iter().map(|counter| counter.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CHOSEN.len(), "none is chosen twice");
        let counters = MONITORING.checkpoint_counters;
        assert!(counters.iter().all(|name| names.contains(name)), "checkpoints are read");
    }

    #[test]
    fn chosen_and_others_are_read_alike() {
        for counter in CHOSEN {
            assert_eq!(reading(counter.name), (counter.reading, counter.unit), "{}", counter.name);
        }
        assert_eq!(reading("database_session_time"), (Reading::Total, "ms/s"));
    }
}
