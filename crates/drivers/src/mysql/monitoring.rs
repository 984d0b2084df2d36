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
    each("Questions", "Statements of all clients, those of our own reading too."),
    each("Com_commit", "COMMITs."),
    each("Com_rollback", "ROLLBACKs."),
    level("Threads_running", "", "Sessions that do something at the instant of reading."),
    each("Innodb_rows_read", "Rows read."),
    each("Innodb_rows_inserted", "Rows inserted."),
    each("Innodb_rows_updated", "Rows updated."),
    each("Innodb_rows_deleted", "Rows deleted."),
    each("Innodb_buffer_pool_reads", "Pages that were not in the buffer pool and were read."),
    each("Innodb_row_lock_waits", "Waits for a row's lock."),
    total("Innodb_row_lock_time", "ms/s", "Time that sessions waited for rows' locks, summed."),
    level("Innodb_history_list_length", "", "Transactions whose old rows are not purged yet."),
    total("Innodb_os_log_written", "B/s", "Bytes written to the redo log."),
    each("Innodb_log_writes", "Writes to the redo log."),
    each("Innodb_log_waits", "Waits for room in the log buffer: it is too small."),
    each("Innodb_os_log_fsyncs", "Flushes of the redo log to the disk."),
    each("Innodb_data_fsyncs", "Flushes of files to the disk, those of the log too."),
    total("Innodb_data_read", "B/s", "Bytes read from files."),
    total("Innodb_data_written", "B/s", "Bytes written to files."),
    each("Innodb_buffer_pool_read_requests", "Pages asked for."),
    each("Innodb_buffer_pool_wait_free", "Waits for a free page: pages are not flushed in time."),
    each("Innodb_buffer_pool_pages_flushed", "Pages flushed."),
    level("Innodb_buffer_pool_pages_dirty", "", "Pages that are not flushed yet."),
    level("Innodb_buffer_pool_pages_free", "", "Pages of the pool that hold nothing yet."),
    level("Innodb_checkpoint_age", "B", "Redo log since the last checkpoint (MariaDB)."),
    each("Innodb_deadlocks", "Deadlocks."),
    level("Innodb_row_lock_current_waits", "", "Sessions that wait for a row's lock now."),
    level("Threads_connected", "", "Connections."),
    each("Threads_created", "Threads made for connections, since none was left over."),
    each("Connections", "Attempts to connect."),
    each("Aborted_connects", "Attempts to connect that failed."),
    total("Bytes_received", "B/s", "Bytes from clients."),
    total("Bytes_sent", "B/s", "Bytes to clients."),
    each("Handler_read_key", "Rows looked up by a key."),
    each("Handler_read_next", "Rows read in the order of a key."),
    each("Handler_read_rnd_next", "Rows read in the order of a table: scans."),
    each("Handler_write", "Rows written, in temporary tables too."),
    each("Handler_update", "Rows changed."),
    each("Handler_delete", "Rows deleted."),
    each("Created_tmp_tables", "Temporary tables that statements needed."),
    each("Created_tmp_disk_tables", "Of these, those on disk."),
    each("Sort_merge_passes", "Merges of sorts that were too large for memory."),
    each("Select_full_join", "Joins without a key."),
    each("Table_locks_waited", "Waits for a table's lock."),
    each("Table_open_cache_misses", "Tables that were opened anew, since the cache is small."),
    each("Com_stmt_prepare", "Statements prepared."),
    total("Binlog_bytes_written", "B/s", "Bytes written to the binary log."),
    each("Binlog_commits", "Transactions in the binary log."),
    each("Binlog_group_commits", "Groups in which they were written."),
    level("wsrep_local_recv_queue", "", "Galera: write sets that wait to be applied here."),
    level("wsrep_local_send_queue", "", "Galera: write sets that wait to be sent."),
    total("wsrep_flow_control_paused_ns", "ns/s", "Galera: time in which all nodes waited."),
    each("wsrep_local_cert_failures", "Galera: transactions that lost against another node's."),
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
