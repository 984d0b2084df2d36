//! A store of many runs, to measure how quickly it is listed: copies of the last run of a store,
//! with new names, each an hour older.
//!
//! `cargo run -p store --example many_runs STORE [COUNT]`, on a store that may be lost.

use rusqlite::{Connection, params};

fn main() -> rusqlite::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        println!("name a store, and how many runs are to be added (2000)");
        return Ok(());
    };
    let count: i64 = arguments.next().and_then(|word| word.parse().ok()).unwrap_or(2000);
    let mut store = Connection::open(path)?;
    let all = store.transaction()?;
    let sql = "SELECT number FROM run ORDER BY number LIMIT 1";
    let first: i64 = all.query_row(sql, (), |row| row.get(0))?;
    for nth in 1..=count {
        copy(&all, first, nth)?;
    }
    all.commit()?;
    store.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
}

/// Lists the columns of a table except those in `but`, names that have a comma before and after
/// each.
fn columns(store: &Connection, table: &str, but: &str) -> rusqlite::Result<String> {
    let sql = "SELECT group_concat('\"' || name || '\"', ', ') FROM pragma_table_info(?)
               WHERE instr(?, ',' || name || ',') = 0";
    store.query_row(sql, [table, but], |row| row.get(0))
}

fn copy(store: &Connection, first: i64, nth: i64) -> rusqlite::Result<()> {
    let run = columns(store, "run", ",number,id,started_unix_ms,")?;
    let sql = format!(
        "INSERT INTO run (id, started_unix_ms, {run})
         SELECT ?1, started_unix_ms - 3600000 * ?2, {run} FROM run WHERE number = ?3"
    );
    let id = format!("019a0000-0000-7000-8000-{nth:012x}");
    store.execute(&sql, params![id, nth, first])?;
    let number = store.last_insert_rowid();
    for table in ["fact", "event", "second", "client", "finding", "label", "around"] {
        let rest = columns(store, table, ",run,")?;
        let sql = format!(
            "INSERT INTO {table} (run, {rest}) SELECT ?1, {rest} FROM {table} WHERE run = ?2"
        );
        store.execute(&sql, params![number, first])?;
    }
    Ok(())
}
