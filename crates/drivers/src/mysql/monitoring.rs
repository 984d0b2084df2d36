//! What a server of the MySQL family counts itself, and which of it is read unless all is asked
//! for. The names and their meaning are the servers' own (SHOW GLOBAL STATUS).

use model::{CommitCounter, ConnectionCounter, Counter, Counters, Monitoring, Reading};

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
};

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
    total("wsrep_flow_control_paused_ns", "ns/s", "Galera: time paused by flow control."),
    each(
        "wsrep_local_cert_failures",
        "Galera: transactions aborted by a conflict with another node.",
    ),
];

/// Server and engine tell them as rows of one list.
fn ask(names: &[&str]) -> Vec<String> {
    let all = "SHOW GLOBAL STATUS";
    if names.is_empty() {
        return vec![all.to_owned()];
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    vec![format!("{all} WHERE Variable_name IN ({})", quoted.join(", "))]
}

/// What goes up and down, by how its name begins, what is in it, and how it ends; and its unit.
fn reading(name: &str) -> (Reading, &'static str) {
    const BEGINS: [&str; 11] = [
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
    const WITHIN: [&str; 9] = [
        "_current",
        "_pending",
        "_avg",
        "_max",
        "_size",
        "_list_length",
        "_queue",
        "_free_",
        "_lsn",
    ];
    const ENDS: [&str; 13] = [
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
    // Counters whose names look like levels.
    const TOTALS: [&str; 10] = [
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
    let name = name.to_ascii_lowercase();
    let is_level = BEGINS.iter().any(|begin| name.starts_with(begin))
        || WITHIN.iter().any(|part| name.contains(part))
        || ENDS.iter().any(|end| name.ends_with(end));
    let is_total = TOTALS.iter().any(|part| name.contains(part)) || name == "threads_created";
    const BYTES: [&str; 7] =
        ["bytes", "_age", "_mem_", "_lsn", "memory_used", "_free_memory", "_page_size"];
    let is_bytes = BYTES.iter().any(|part| name.contains(part));
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
