//! Counters, session states and statement summaries of MariaDB and MySQL. Names and meanings of
//! counters are the servers' own (SHOW GLOBAL STATUS).

use model::{
    CommitCounter, ConnectionCounter, Counter, Counters, Monitoring, Reading, ReplicaPosition,
    SessionSampling, SessionsQuery, SummaryColumn, SummaryOf, SummaryQuery,
};

pub(super) const MONITORING: Monitoring = Monitoring {
    counters: Some(Counters { ask, chosen: CHOSEN, reading }),
    checkpoint_counters: &[],
    commit_counter: Some(CommitCounter {
        name: "Com_commit",
        sql: "SHOW GLOBAL STATUS LIKE 'Com_commit'",
        counts_single_statements: false,
    }),
    connection_counter: Some(ConnectionCounter {
        name: "Threads_connected",
        sql: "SHOW GLOBAL STATUS LIKE 'Threads_connected'",
    }),
    started_ago: Some("SHOW GLOBAL STATUS LIKE 'Uptime'"),
    session_states: Some(SessionSampling {
        queries: &[STATES_WITH_LOCKS, STATES_WITH_WAITS, STATES],
    }),
    summaries: SUMMARIES,
    round_trip: Some("SELECT 1"),
    replica_positions: &[
        // MariaDB.
        ReplicaPosition {
            written: "SELECT @@GLOBAL.gtid_binlog_pos",
            applied: "SELECT MASTER_GTID_WAIT('{position}', 0) = 0",
        },
        ReplicaPosition {
            written: "SELECT @@GLOBAL.gtid_executed",
            applied: "SELECT GTID_SUBSET('{position}', @@GLOBAL.gtid_executed)",
        },
    ],
    mebibyte: Some("SELECT REPEAT('x', 1048576)"),
    mebibytes: Some(
        "SELECT REPEAT('x', 1048576) FROM (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 \
         UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL \
         SELECT 8) AS eight",
    ),
    instruments: &[
        ("userstat", "ON"),
        ("instrument:wait/io/socket/sql/client_connection", "ON"),
        ("instrument:wait/io/table/sql/handler", "ON"),
        ("instrument:wait/lock/table/sql/handler", "ON"),
        ("instrument:wait/io/file/innodb/innodb_data_file", "ON"),
        ("instrument:wait/io/file/innodb/innodb_log_file", "ON"),
        ("consumer:global_instrumentation", "ON"),
        ("consumer:thread_instrumentation", "ON"),
        ("consumer:statements_digest", "ON"),
        // MariaDB counts prepared statements only with this consumer.
        ("consumer:events_statements_current", "ON"),
    ],
    instruments_of_own: "",
};

/// Expands to the query for the states of the sessions of the database (such as executing, idle or
/// waiting for a lock) and the number of sessions in each, from the process list and InnoDB. A
/// session without a statement is idle, unless it has a transaction.
macro_rules! session_states {
    ($is_waiting:literal, $is_in_transaction:literal, $lock:literal, $joins:literal) => {
        concat!(
            "SELECT CASE WHEN ",
            $is_waiting,
            " OR p.STATE LIKE 'Waiting for % lock' THEN 'lock' WHEN p.COMMAND = 'Sleep' THEN CASE \
             WHEN ",
            $is_in_transaction,
            " THEN 'client' ELSE 'idle' END WHEN p.STATE IN ('Reading from net', 'Writing to net', \
             'Sending to client', 'Receiving from client') THEN 'client' WHEN p.STATE LIKE \
             'commit%' OR p.STATE IN ('query end', 'Waiting for handler commit') OR p.INFO LIKE \
             'commit%' THEN 'commit' ELSE 'executing' END, CASE WHEN ",
            $is_waiting,
            " THEN ",
            $lock,
            " WHEN p.COMMAND = 'Sleep' THEN '' ELSE COALESCE(p.STATE, '') END, COUNT(*) FROM \
             information_schema.PROCESSLIST AS p ",
            $joins,
            "WHERE p.ID <> CONNECTION_ID() AND p.DB = DATABASE() AND p.COMMAND NOT IN ('Daemon', \
             'Binlog Dump', 'Binlog Dump GTID') GROUP BY 1, 2"
        )
    };
}

/// Query for the states of sessions (such as executing or waiting for a lock), for MariaDB and
/// MySQL up to 5.7. It names the index on whose lock a session waits.
const STATES_WITH_LOCKS: &str = session_states!(
    "t.trx_state = 'LOCK WAIT'",
    "t.trx_id IS NOT NULL",
    "COALESCE(REPLACE(CONCAT(SUBSTRING_INDEX(l.lock_table, '.', -1), '.', l.lock_index), '`', ''), '')",
    "LEFT JOIN information_schema.INNODB_TRX AS t ON t.trx_mysql_thread_id = p.ID \
     LEFT JOIN information_schema.INNODB_LOCKS AS l ON l.lock_id = t.trx_requested_lock_id "
);

/// Query for the states of sessions (such as executing or waiting for a lock), for servers without
/// `INNODB_LOCKS`, such as MySQL from 8.0 on.
const STATES_WITH_WAITS: &str = session_states!(
    "t.trx_state = 'LOCK WAIT'",
    "t.trx_id IS NOT NULL",
    "''",
    "LEFT JOIN information_schema.INNODB_TRX AS t ON t.trx_mysql_thread_id = p.ID "
);

/// Query for the states of sessions (such as executing or idle), for a user without the privilege
/// PROCESS, which InnoDB's tables need. It sees only the user's own sessions, and waits for row
/// locks count as executing.
const STATES: &str = session_states!("FALSE", "FALSE", "''", "");

const fn column(name: &'static str, unit: &'static str, scale: f64) -> SummaryColumn {
    SummaryColumn { name, unit, scale }
}

const COUNT: SummaryColumn = column("count", "", 1.0);
/// Column of a server summary with a total time, in seconds; the performance schema counts
/// picoseconds.
const TIME: SummaryColumn = column("time", "s", 1e-12);

const WITH_SCHEMA: &str = "Start the server with performance_schema=ON.";

/// Query for how often each prepared statement was executed, counted by session. MySQL has such
/// counts from 5.7 on, MariaDB only while the consumer `events_statements_current` is on. The
/// result is empty if the statement digests already include executions of prepared statements
/// (MySQL 9.7), so that none counts twice.
const PREPARED: SessionsQuery = SessionsQuery {
    source: "performance_schema.prepared_statements_instances",
    sql: "SELECT CONCAT(OWNER_THREAD_ID, '.', STATEMENT_ID), LEFT(SQL_TEXT, 1000), \
          COUNT_EXECUTE, SUM_TIMER_EXECUTE, SUM_LOCK_TIME, SUM_ROWS_EXAMINED, SUM_ROWS_SENT, \
          SUM_ROWS_AFFECTED FROM performance_schema.prepared_statements_instances \
          WHERE OWNER_THREAD_ID IN (SELECT THREAD_ID \
          FROM performance_schema.threads WHERE PROCESSLIST_DB = DATABASE()) \
          AND NOT EXISTS (SELECT 1 FROM performance_schema.events_statements_summary_by_digest \
          WHERE SCHEMA_NAME = DATABASE() AND DIGEST_TEXT LIKE 'EXECUTE %' \
          AND DIGEST_TEXT NOT LIKE 'EXECUTE `%' AND DIGEST_TEXT NOT LIKE 'EXECUTE IMMEDIATE %')",
};

/// Queries for the statistics that the server itself sums up about statements, waits, locks, tables
/// and connections. Statements about the server, which dbdyno sends, are excluded.
const SUMMARIES: &[SummaryQuery] = &[
    SummaryQuery {
        of: SummaryOf::Statements,
        source: "performance_schema.events_statements_summary_by_digest",
        sql: "SELECT DIGEST_TEXT, COUNT_STAR, SUM_TIMER_WAIT, SUM_LOCK_TIME, SUM_ROWS_EXAMINED, \
              SUM_ROWS_SENT, SUM_ROWS_AFFECTED \
              FROM performance_schema.events_statements_summary_by_digest \
              WHERE SCHEMA_NAME = DATABASE() AND DIGEST_TEXT IS NOT NULL \
              AND DIGEST_TEXT NOT LIKE '%performance_schema%' \
              AND DIGEST_TEXT NOT LIKE '%information_schema%' AND DIGEST_TEXT NOT LIKE 'SHOW %' \
              AND DIGEST_TEXT NOT LIKE 'SET %' AND DIGEST_TEXT NOT LIKE '%@@%' \
              AND DIGEST_TEXT NOT LIKE 'SELECT REPEAT %' AND RTRIM(DIGEST_TEXT) <> 'SELECT ?'",
        columns: &[
            COUNT,
            TIME,
            column("lock_time", "s", 1e-12),
            column("rows_examined", "", 1.0),
            column("rows_sent", "", 1.0),
            column("rows_changed", "", 1.0),
        ],
        remedy: WITH_SCHEMA,
        of_sessions: Some(PREPARED),
        why_empty: "SELECT IF(@@performance_schema, CONCAT('The server counts no prepared \
                    statements: run with ', IF(EXISTS (SELECT 1 FROM information_schema.TABLES \
                    WHERE TABLE_SCHEMA = 'performance_schema' \
                    AND TABLE_NAME = 'prepared_statements_instances'), '--instruments on, or with \
                    ', ''), '?statements=text in the target.'), \
                    'Start the server with performance_schema=ON.')",
    },
    SummaryQuery {
        of: SummaryOf::Waits,
        source: "performance_schema.events_waits_summary_global_by_event_name",
        sql: "SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT \
              FROM performance_schema.events_waits_summary_global_by_event_name \
              WHERE COUNT_STAR > 0 AND EVENT_NAME <> 'idle'",
        columns: &[COUNT, TIME],
        remedy: WITH_SCHEMA,
        of_sessions: None,
        why_empty: "",
    },
    SummaryQuery {
        of: SummaryOf::Locks,
        source: "performance_schema.table_lock_waits_summary_by_table",
        sql: "SELECT OBJECT_NAME, COUNT_STAR, SUM_TIMER_WAIT \
              FROM performance_schema.table_lock_waits_summary_by_table \
              WHERE OBJECT_SCHEMA = DATABASE() AND COUNT_STAR > 0",
        columns: &[COUNT, TIME],
        remedy: WITH_SCHEMA,
        of_sessions: None,
        why_empty: "",
    },
    SummaryQuery {
        of: SummaryOf::Tables,
        source: "performance_schema.table_io_waits_summary_by_index_usage",
        sql: "SELECT CONCAT(OBJECT_NAME, '.', COALESCE(INDEX_NAME, '(no index)')), COUNT_STAR, \
              SUM_TIMER_WAIT, COUNT_FETCH, COUNT_INSERT, COUNT_UPDATE, COUNT_DELETE \
              FROM performance_schema.table_io_waits_summary_by_index_usage \
              WHERE OBJECT_SCHEMA = DATABASE() AND COUNT_STAR > 0",
        columns: &[
            COUNT,
            TIME,
            column("fetched", "", 1.0),
            column("inserted", "", 1.0),
            column("updated", "", 1.0),
            column("deleted", "", 1.0),
        ],
        remedy: WITH_SCHEMA,
        of_sessions: None,
        why_empty: "",
    },
    SummaryQuery {
        of: SummaryOf::Connections,
        source: "performance_schema.socket_summary_by_event_name",
        sql: "SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT, COUNT_READ, SUM_TIMER_READ, \
              SUM_NUMBER_OF_BYTES_READ, COUNT_WRITE, SUM_TIMER_WRITE, SUM_NUMBER_OF_BYTES_WRITE \
              FROM performance_schema.socket_summary_by_event_name \
              WHERE EVENT_NAME LIKE '%/client_connection' AND COUNT_STAR > 0",
        columns: &[
            COUNT,
            TIME,
            column("reads", "", 1.0),
            column("read_time", "s", 1e-12),
            column("bytes_read", "B", 1.0),
            column("writes", "", 1.0),
            column("write_time", "s", 1e-12),
            column("bytes_written", "B", 1.0),
        ],
        remedy: "Run with --instruments on; a server that was started without \
                 performance_schema=ON must be started with it first.",
        of_sessions: None,
        why_empty: "",
    },
    SummaryQuery {
        of: SummaryOf::Tables,
        source: "information_schema.TABLE_STATISTICS",
        sql: "SELECT TABLE_NAME, ROWS_READ, ROWS_CHANGED, ROWS_CHANGED_X_INDEXES \
              FROM information_schema.TABLE_STATISTICS WHERE TABLE_SCHEMA = DATABASE()",
        columns: &[
            column("rows_read", "", 1.0),
            column("rows_changed", "", 1.0),
            column("changed_in_indexes", "", 1.0),
        ],
        remedy: "Run with --instruments on (userstat).",
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

const fn level(name: &'static str, unit: &'static str, help: &'static str) -> Counter {
    Counter { name, reading: Reading::Level, unit, help }
}

const CHOSEN: &[Counter] = &[
    each("Questions", "Statements of all clients, including those that read these counters."),
    each("Com_commit", "COMMITs."),
    each("Com_rollback", "ROLLBACKs."),
    level("Threads_running", "", "Sessions executing a statement when the counters are read."),
    each("Innodb_rows_read", "Rows read."),
    each("Innodb_rows_inserted", "Rows inserted."),
    each("Innodb_rows_updated", "Rows updated."),
    each("Innodb_rows_deleted", "Rows deleted."),
    each("Innodb_buffer_pool_reads", "Pages read because they were not in the buffer pool."),
    each("Innodb_row_lock_waits", "Waits for row locks."),
    total("Innodb_row_lock_time", "ms/s", "Total time that sessions waited for row locks."),
    level("Innodb_history_list_length", "", "Transactions whose undo records are not purged yet."),
    total("Innodb_os_log_written", "B/s", "Bytes written to the redo log."),
    each("Innodb_log_writes", "Writes to the redo log."),
    each("Innodb_log_waits", "Waits for space in the log buffer, which is too small."),
    each("Innodb_os_log_fsyncs", "Syncs of the redo log to disk."),
    each("Innodb_data_fsyncs", "Syncs of files to disk, including the redo log."),
    total("Innodb_data_read", "B/s", "Bytes read from files."),
    total("Innodb_data_written", "B/s", "Bytes written to files."),
    each("Innodb_buffer_pool_read_requests", "Pages requested from the buffer pool."),
    each(
        "Innodb_buffer_pool_wait_free",
        "Waits for a free page, because dirty pages are flushed too slowly.",
    ),
    each("Innodb_buffer_pool_pages_flushed", "Pages flushed."),
    level("Innodb_buffer_pool_pages_dirty", "", "Dirty pages, not flushed yet."),
    level("Innodb_buffer_pool_pages_free", "", "Free pages of the buffer pool."),
    level("Innodb_checkpoint_age", "B", "Redo log written since the last checkpoint (MariaDB)."),
    each("Innodb_deadlocks", "Deadlocks."),
    level("Innodb_row_lock_current_waits", "", "Sessions waiting for a row lock."),
    level("Threads_connected", "", "Connections."),
    each("Threads_created", "Threads created for connections, because none was cached."),
    each("Connections", "Connection attempts."),
    each("Aborted_connects", "Failed connection attempts."),
    total("Bytes_received", "B/s", "Bytes from clients."),
    total("Bytes_sent", "B/s", "Bytes to clients."),
    each("Handler_read_key", "Rows read by key lookup."),
    each("Handler_read_next", "Rows read in key order."),
    each("Handler_read_rnd_next", "Rows read by table scans."),
    each("Handler_write", "Rows written, including temporary tables."),
    each("Handler_update", "Rows changed."),
    each("Handler_delete", "Rows deleted."),
    each("Created_tmp_tables", "Temporary tables created for statements."),
    each("Created_tmp_disk_tables", "Temporary tables created on disk."),
    each("Sort_merge_passes", "Merge passes of sorts that exceeded the sort buffer."),
    each("Select_full_join", "Joins without an index."),
    each("Table_locks_waited", "Waits for table locks."),
    each("Table_open_cache_misses", "Tables opened because they were not in the table cache."),
    each("Com_stmt_prepare", "Statements prepared."),
    total("Binlog_bytes_written", "B/s", "Bytes written to the binary log."),
    each("Binlog_commits", "Transactions in the binary log."),
    each("Binlog_group_commits", "Group commits in the binary log."),
    level("wsrep_local_recv_queue", "", "Galera: write sets waiting to be applied on this node."),
    level("wsrep_local_send_queue", "", "Galera: write sets waiting to be sent."),
    level("wsrep_cluster_size", "", "Galera: nodes of the cluster that this node sees."),
    total("wsrep_flow_control_paused_ns", "ns/s", "Galera: time paused by flow control."),
    each(
        "wsrep_local_cert_failures",
        "Galera: transactions aborted by a conflict with another node.",
    ),
];

/// Returns the query for the server's counters with these `names`, or for all counters if `names`
/// is empty. Counters of the server and of its storage engines come as rows of one result.
fn ask(names: &[&str]) -> Vec<String> {
    let all = "SHOW GLOBAL STATUS";
    if names.is_empty() {
        return vec![all.to_owned()];
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    vec![format!("{all} WHERE Variable_name IN ({})", quoted.join(", "))]
}

/// Prefixes of the names of counters that are current values and no totals. Names are in lower
/// case.
const LEVEL_BEGINS: [&str; 11] = [
    "delayed_insert_threads",
    "innodb_mem_",
    "threadpool_",
    "threads_",
    "open_",
    "uptime",
    "max_used",
    "memory_used",
    "slave_",
    "ssl_",
    "innodb_buffer_pool_pages_",
];
/// Substrings of the names of counters that are current values and no totals. Names are in lower
/// case.
const LEVEL_WITHIN: [&str; 9] =
    ["_current", "_pending", "_avg", "_max", "_size", "_list_length", "_queue", "_free_", "_lsn"];
/// Suffixes of the names of counters that are current values and no totals. Names are in lower
/// case.
const LEVEL_ENDS: [&str; 13] = [
    "_open_files",
    "_age",
    "_lsn",
    "_id",
    "_free",
    "_total",
    "_used",
    "_unused",
    "_not_flushed",
    "_pages_data",
    "_bytes_data",
    "_bytes_dirty",
    "_rows",
];
/// Substrings of the names of counters that are totals, although [`LEVEL_BEGINS`],
/// [`LEVEL_WITHIN`] or [`LEVEL_ENDS`] matches.
const TOTAL_WITHIN: [&str; 10] = [
    "pages_flushed",
    "pages_made",
    "pages_split",
    "_lru_",
    "sort_",
    "_accepts",
    "_connects",
    "_hits",
    "_retried_",
    "_heartbeats",
];
/// Substrings of the names of counters whose unit is bytes. Names are in lower case.
const BYTES_WITHIN: [&str; 7] =
    ["bytes", "_age", "_mem_", "_lsn", "memory_used", "_free_memory", "_page_size"];

/// Guesses from the name of a server's counter whether it is a total or a current value, and its
/// unit, such as `B`.
fn reading(name: &str) -> (Reading, &'static str) {
    let name = name.to_ascii_lowercase();
    let is_level = LEVEL_BEGINS.iter().any(|begin| name.starts_with(begin))
        || LEVEL_WITHIN.iter().any(|part| name.contains(part))
        || LEVEL_ENDS.iter().any(|end| name.ends_with(end));
    let is_total = TOTAL_WITHIN.iter().any(|part| name.contains(part)) || name == "threads_created";
    let is_bytes = BYTES_WITHIN.iter().any(|part| name.contains(part));
    match (is_level && !is_total, is_bytes) {
        (true, _) if name.starts_with("uptime") => (Reading::Level, "s"),
        (true, _) if name.contains("lock_time_") => (Reading::Level, "ms"),
        (true, true) => (Reading::Level, "B"),
        (true, false) => (Reading::Level, ""),
        (false, true) => (Reading::Total, "B/s"),
        // MariaDB counts these in seconds.
        _ if matches!(&name[..], "busy_time" | "cpu_time" | "query_time") => {
            (Reading::Total, "s/s")
        }
        _ => (Reading::Total, "1/s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_ones_are_asked_for_by_name_and_all_of_them_without() {
        assert_eq!(ask(&[]), ["SHOW GLOBAL STATUS"]);
        let asked = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions', 'Com_commit')";
        assert_eq!(ask(&["Questions", "Com_commit"]), [asked]);
        let mut names: Vec<&str> = CHOSEN.iter().map(|counter| counter.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CHOSEN.len(), "none is chosen twice");
    }

    #[test]
    fn what_goes_up_and_down_is_no_rate() {
        let check = |names: &[&str], expect: (Reading, &str)| {
            names.iter().for_each(|name| assert_eq!(reading(name), expect, "{name}"));
        };
        let levels = ["Threads_cached", "Open_tables", "Innodb_buffer_pool_pages_data"];
        check(&levels, (Reading::Level, ""));
        check(&["Uptime"], (Reading::Level, "s"));
        check(&["Innodb_row_lock_time_max"], (Reading::Level, "ms"));
        check(&["Innodb_num_open_files", "Threadpool_idle_threads"], (Reading::Level, ""));
        let bytes = ["Innodb_mem_dictionary", "Innodb_lsn_flushed", "Memory_used"];
        check(&bytes, (Reading::Level, "B"));
        let totals = ["Com_select", "Innodb_buffer_pool_pages_flushed", "Threads_created"];
        check(&totals, (Reading::Total, "1/s"));
        check(&["Sort_rows", "Innodb_buffer_pool_pages_split"], (Reading::Total, "1/s"));
        check(&["Bytes_sent"], (Reading::Total, "B/s"));
        check(&["Busy_time"], (Reading::Total, "s/s"));
    }
}
