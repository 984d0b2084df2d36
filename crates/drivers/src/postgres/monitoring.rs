//! Counters, session states and summaries of PostgreSQL, from its cumulative statistics system.
//!
//! A view's row is read as names and values, so that its columns may differ between versions; a
//! missing view fails only its own query. Sessions report their counts at most once per second, so
//! the value of a second may include parts of others. The name of a counter is that of the view and
//! the column: `database_xact_commit` is `xact_commit` of `pg_stat_database` for the target's
//! database.

use model::{
    CommitCounter, ConnectionCounter, Counter, Counters, Monitoring, Reading, ReplicaPosition,
    SessionSampling, SummaryColumn, SummaryOf, SummaryQuery,
};

pub(super) const MONITORING: Monitoring = Monitoring {
    counters: Some(Counters { ask, chosen: CHOSEN, reading }),
    // The counters are in one of two views, depending on the version.
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
    // Sessions that we may not inspect have no backend_type.
    connection_counter: Some(ConnectionCounter {
        name: "pg_stat_activity",
        sql: "SELECT count(*) FROM pg_stat_activity WHERE datname IS NOT NULL \
              AND coalesce(backend_type, 'client backend') = 'client backend'",
    }),
    started_ago: Some(
        "SELECT floor(extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()))::bigint",
    ),
    session_states: Some(SessionSampling { queries: &[STATES] }),
    summaries: SUMMARIES,
    round_trip: Some("SELECT 1"),
    replica_positions: &[ReplicaPosition {
        written: "SELECT pg_current_wal_lsn()::text",
        applied: "SELECT (pg_last_wal_replay_lsn() >= '{position}'::pg_lsn)::int4",
    }],
    mebibyte: Some("SELECT repeat('x', 1048576)"),
    mebibytes: Some("SELECT repeat('x', 1048576) FROM generate_series(1, 8)"),
    instruments: &[("track_io_timing", "on"), ("track_wal_io_timing", "on")],
    instruments_of_own: "DO $$ BEGIN IF current_setting('shared_preload_libraries') \
        LIKE '%pg_stat_statements%' THEN CREATE EXTENSION IF NOT EXISTS pg_stat_statements; \
        END IF; END $$",
};

/// Query for the states of the sessions of the database (such as executing, idle or waiting for a
/// lock) and the number of sessions in each. A wait for a row's lock is reported with its table;
/// locks are searched only while a session waits for one.
const STATES: &str = "WITH a AS MATERIALIZED (SELECT pid, state, wait_event_type AS type, \
    wait_event AS event FROM pg_stat_activity WHERE datname = current_database() \
    AND pid <> pg_backend_pid() AND coalesce(backend_type, 'client backend') = 'client backend'), \
    l AS (SELECT DISTINCT ON (pid) pid, relation::regclass::text AS name FROM pg_locks \
    WHERE locktype = 'tuple' AND EXISTS (SELECT FROM a WHERE type = 'Lock')) \
    SELECT CASE WHEN state LIKE 'idle in%' THEN 'client' WHEN state LIKE 'idle%' THEN 'idle' \
    WHEN type = 'Client' THEN 'client' WHEN type = 'Lock' THEN 'lock' \
    WHEN (event LIKE 'WAL%' AND event <> 'WALInsert') OR event = 'SyncRep' THEN 'commit' \
    WHEN type IN ('LWLock', 'BufferPin') THEN 'latch' WHEN type = 'IO' THEN 'io' \
    WHEN type IS NULL THEN 'executing' ELSE 'other' END, \
    CASE WHEN state LIKE 'idle%' THEN '' ELSE coalesce(type || '/' || event, '') \
    || coalesce(' on ' || l.name, '') END, count(*) \
    FROM a LEFT JOIN l USING (pid) WHERE state IS NOT NULL GROUP BY 1, 2";

const fn column(name: &'static str, unit: &'static str, scale: f64) -> SummaryColumn {
    SummaryColumn { name, unit, scale }
}

/// Queries for the statistics that the server itself sums up about statements and tables.
/// Statements about the server, which dbdyno sends, are excluded.
const SUMMARIES: &[SummaryQuery] = &[
    SummaryQuery {
        of: SummaryOf::Statements,
        source: "pg_stat_statements",
        sql: "SELECT query, sum(calls), sum(total_exec_time), sum(rows), sum(shared_blks_hit), \
              sum(shared_blks_read), sum(wal_bytes) FROM pg_stat_statements \
              WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) \
              AND query NOT LIKE '%pg_%' AND query NOT LIKE '%current_setting(%' \
              AND query NOT LIKE 'SELECT repeat(%' AND query NOT LIKE 'ALTER SYSTEM %' \
              AND query NOT LIKE 'SHOW %' AND query NOT LIKE 'SET %' AND query <> 'SELECT $1' \
              GROUP BY query",
        columns: &[
            column("count", "", 1.0),
            // This view counts in milliseconds.
            column("time", "s", 1e-3),
            column("rows", "", 1.0),
            column("blocks_hit", "", 1.0),
            column("blocks_read", "", 1.0),
            column("wal_bytes", "B", 1.0),
        ],
        remedy: "Start the server with shared_preload_libraries=pg_stat_statements, and CREATE \
                 EXTENSION pg_stat_statements in the database.",
        of_sessions: None,
        why_empty: "SELECT CASE WHEN s.setting NOT LIKE '%pg_stat_statements%' THEN 'Start the \
                    server with shared_preload_libraries=pg_stat_statements, and CREATE EXTENSION \
                    pg_stat_statements in the database.' WHEN NOT EXISTS (SELECT FROM \
                    pg_extension WHERE extname = 'pg_stat_statements') THEN 'CREATE EXTENSION \
                    pg_stat_statements in the database.' END FROM pg_settings s \
                    WHERE s.name = 'shared_preload_libraries'",
    },
    SummaryQuery {
        of: SummaryOf::Tables,
        source: "pg_stat_user_tables",
        sql: "SELECT relname, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0), \
              coalesce(seq_scan, 0), coalesce(idx_scan, 0), n_tup_ins, n_tup_upd, n_tup_hot_upd, \
              n_tup_del FROM pg_stat_user_tables",
        columns: &[
            column("rows_read", "", 1.0),
            column("table_scans", "", 1.0),
            column("index_scans", "", 1.0),
            column("inserted", "", 1.0),
            column("updated", "", 1.0),
            column("updated_hot", "", 1.0),
            column("deleted", "", 1.0),
        ],
        remedy: "",
        of_sessions: None,
        why_empty: "",
    },
];

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
    each("database_xact_commit", "Commits, including statements outside of transactions."),
    each("database_xact_rollback", "Rollbacks."),
    level("sessions_active", "Sessions executing a statement when the counters are read."),
    level("waits_lock", "Active sessions waiting for a lock."),
    level("waits_lwlock", "Active sessions waiting for a lightweight lock."),
    level("waits_io", "Active sessions waiting for I/O."),
    each("database_tup_returned", "Rows read by scans, including index scans."),
    each("database_tup_fetched", "Rows fetched by index scans."),
    each("database_tup_inserted", "Rows inserted."),
    each("database_tup_updated", "Rows updated."),
    each("database_tup_deleted", "Rows deleted."),
    each("database_blks_read", "Blocks read because they were not in shared buffers."),
    each("database_blks_hit", "Blocks found in shared buffers."),
    total("wal_wal_bytes", "B/s", "WAL written."),
    each("wal_wal_records", "WAL records written."),
    each("wal_wal_fpi", "Full-page images in the WAL (first change of a page after a checkpoint)."),
    each("wal_wal_buffers_full", "Times that the WAL buffers were full."),
    each("wal_wal_write", "WAL writes (until version 17)."),
    each("wal_wal_sync", "WAL syncs (until version 17)."),
    each("checkpointer_num_timed", "Scheduled checkpoints (from version 17)."),
    each("checkpointer_num_requested", "Requested checkpoints (from version 17)."),
    each("checkpointer_buffers_written", "Buffers written by checkpoints (from version 17)."),
    total(
        "checkpointer_write_time",
        "ms/s",
        "Time that checkpoints spent writing (from version 17).",
    ),
    each("bgwriter_checkpoints_timed", "Scheduled checkpoints (until version 16)."),
    each("bgwriter_checkpoints_req", "Requested checkpoints (until version 16)."),
    each("bgwriter_buffers_checkpoint", "Buffers written by checkpoints (until version 16)."),
    each("bgwriter_buffers_backend", "Buffers written by sessions themselves (until version 16)."),
    each("bgwriter_buffers_clean", "Buffers written by the background writer."),
    each("bgwriter_maxwritten_clean", "Times that the background writer reached its limit."),
    each("bgwriter_buffers_alloc", "Buffers allocated."),
    each("io_reads", "Reads of all processes (from version 16)."),
    each("io_writes", "Writes of all processes (from version 16)."),
    each("io_extends", "File extensions (from version 16)."),
    each("io_fsyncs", "Syncs to disk (from version 16)."),
    each("io_evictions", "Buffer evictions (from version 16)."),
    each("database_deadlocks", "Deadlocks."),
    each("database_temp_files", "Temporary files created for statements."),
    total("database_temp_bytes", "B/s", "Bytes written to temporary files."),
    level("database_numbackends", "Sessions in this database."),
    level("sessions_idle", "Idle sessions."),
    level("sessions_in_transaction", "Sessions idle in a transaction."),
    level("waits_client", "Active sessions waiting for their client."),
    level("waits_ipc", "Active sessions waiting for another server process."),
    level("waits_timeout", "Active sessions waiting for a timeout."),
];

/// Query for the counters of the target's database, as rows of name and value. The caller skips
/// values that are not numbers.
const OF_DATABASE: &str = "SELECT 'database_' || e.key, e.value FROM pg_stat_database AS s, \
    LATERAL jsonb_each_text(to_jsonb(s) - 'datid' - 'datname') AS e \
    WHERE s.datname = current_database()";
const OF_WAL: &str = "SELECT 'wal_' || e.key, e.value FROM pg_stat_wal AS s, \
    LATERAL jsonb_each_text(to_jsonb(s)) AS e";
const OF_WRITER: &str = "SELECT 'bgwriter_' || e.key, e.value FROM pg_stat_bgwriter AS s, \
    LATERAL jsonb_each_text(to_jsonb(s)) AS e";
const OF_CHECKPOINTER: &str = "SELECT 'checkpointer_' || e.key, e.value \
    FROM pg_stat_checkpointer AS s, LATERAL jsonb_each_text(to_jsonb(s)) AS e";
/// Query for counters of I/O, summed over all kinds of processes and objects.
const OF_IO: &str = "SELECT 'io_' || e.key, sum(e.value::numeric)::text FROM pg_stat_io AS s, \
    LATERAL jsonb_each_text(to_jsonb(s) - 'op_bytes') AS e \
    WHERE e.value ~ '^[0-9]+([.][0-9]+)?$' GROUP BY e.key";
/// Query for the numbers of sessions by state, such as active or idle, and by kind of wait, such as
/// a lock. Sessions that this user may not inspect are not counted.
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

/// Returns the queries for the server's counters with these `names`, or for all counters if `names`
/// is empty: one per statistics view.
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
