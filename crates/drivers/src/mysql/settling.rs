//! How InnoDB is brought to rest: old row versions purged, dirty pages written.
//!
//! The order, the settings and their values are those that HammerDB 4.10 uses for MariaDB
//! ("Purge and Write back for MariaDB TPROC-C"), on the advice of MariaDB's developers. Left out is
//! innodb_lru_flush_size: it is deprecated, and servers report 0 for it, which cannot be set back.

use model::{Fact, NothingLeft, Settling, SettlingLevel, SettlingStep};

use crate::modes::mode;

/// The first version whose purge threads can be set while it runs (MDEV-11024).
const DYNAMIC_FROM: (u32, u32) = (10, 7);

/// An autocommit statement is counted by its command, as one in a transaction is, and not in
/// Com_commit. Handler_commit counts statements of transactions too, those that only read among
/// them, and twice with a binary log: it would be no better (MariaDB 10.11, MySQL 5.6).
const CHANGES: &str = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_insert', \
                       'Com_insert_select', 'Com_update', 'Com_update_multi', 'Com_delete', \
                       'Com_delete_multi', 'Com_replace', 'Com_replace_select', 'Com_load')";

const WRITTEN: &[&str] = &["SHOW GLOBAL STATUS LIKE 'Innodb_data_written'"];

const OF_MARIADB: Settling = Settling {
    steps: &[
        SettlingStep {
            name: "purge",
            doing: "purging old row versions",
            settings: &[("innodb_purge_threads", "32"), ("innodb_purge_batch_size", "5000")],
            statements: &[],
            needs_settings: false,
            if_denied: "",
            passed_over: &[],
            level: Some(SettlingLevel {
                name: "history_list",
                sql: "SHOW GLOBAL STATUS LIKE 'Innodb_history_list_length'",
                column: 1,
            }),
            if_stays: PURGE_STAYS,
            nothing_left: None,
        },
        CHECKPOINT,
    ],
    written_bytes: WRITTEN,
    changes: CHANGES,
    advised: ADVISED,
};

/// For loads: purge goes on beside them, and holds up no statement.
const ADVISED: &[(&str, &str)] = &[
    ("innodb_purge_threads", "4"),
    ("innodb_purge_batch_size", "1000"),
    ("innodb_max_purge_lag", "0"),
];

const PURGE_STAYS: &str = "Open transactions of other sessions may hold old row versions: end \
                           them. Without any, the server leaves this for its next work.";

/// MySQL keeps logs of transactions that it has purged in the list: from 5.7 on until the next of
/// so many purges, 5.6 while it is idle.
const ALL_PURGED: NothingLeft = NothingLeft {
    sql: "SHOW ENGINE INNODB STATUS",
    numbers_behind: ["Trx id counter", "Purge done for trx's n:o <"],
};

/// From this version of MySQL on, a setting says after how many purges the list is shortened.
const TRUNCATES_FROM: (u32, u32) = (5, 7);

/// Of MySQL the number of purge threads is fixed at its start.
const PURGE_OF_OLD_MYSQL: SettlingStep = SettlingStep {
    name: "purge",
    doing: "purging old row versions",
    settings: &[("innodb_purge_batch_size", "5000")],
    statements: &[],
    needs_settings: false,
    if_denied: "",
    passed_over: &[],
    level: Some(SettlingLevel {
        name: "history_list",
        sql: "SELECT `COUNT` FROM information_schema.INNODB_METRICS \
              WHERE NAME = 'trx_rseg_history_len'",
        column: 0,
    }),
    if_stays: PURGE_STAYS,
    nothing_left: Some(ALL_PURGED),
};

const PURGE_OF_MYSQL: SettlingStep = SettlingStep {
    settings: &[
        ("innodb_purge_batch_size", "5000"),
        // Otherwise every 128th purge, which an idle server does not reach.
        ("innodb_purge_rseg_truncate_frequency", "1"),
    ],
    ..PURGE_OF_OLD_MYSQL
};

const OF_OLD_MYSQL: Settling = Settling {
    steps: &[PURGE_OF_OLD_MYSQL, CHECKPOINT],
    written_bytes: WRITTEN,
    changes: CHANGES,
    advised: ADVISED,
};

const OF_MYSQL: Settling = Settling { steps: &[PURGE_OF_MYSQL, CHECKPOINT], ..OF_OLD_MYSQL };

const CHECKPOINT: SettlingStep = SettlingStep {
    name: "checkpoint",
    doing: "writing dirty pages",
    settings: &[
        // The low-water mark is at most the other, and a capacity at most its maximum.
        ("innodb_max_dirty_pages_pct_lwm", "0"),
        ("innodb_max_dirty_pages_pct", "0"),
        ("innodb_lru_scan_depth", "4096"),
        ("innodb_io_capacity_max", "120000"),
        ("innodb_io_capacity", "120000"),
    ],
    statements: &[],
    // Without, a server that has nothing else to do leaves most pages where they are.
    needs_settings: true,
    if_denied: "",
    passed_over: &[],
    level: Some(SettlingLevel {
        name: "dirty_pages",
        sql: "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'",
        column: 1,
    }),
    if_stays: "The server does not write them, or other sessions change pages at the same pace: \
               end these, and look at the disk and at the server's error log.",
    nothing_left: None,
};

pub(super) fn settling(facts: &[Fact]) -> Result<Settling, String> {
    let version = mode(facts, "version").unwrap_or_default();
    let mut numbers = version.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    let version = numbers.next().zip(numbers.next());
    if mode(facts, "product").as_deref() != Some("MariaDB") {
        let is_old = version.is_some_and(|version| version < TRUNCATES_FROM);
        return Ok(if is_old { OF_OLD_MYSQL } else { OF_MYSQL });
    }
    match version {
        Some((major, minor)) if (major, minor) < DYNAMIC_FROM => Err(format!(
            "MariaDB {major}.{minor} cannot change innodb_purge_threads while it runs: settling \
             needs 10.7 or later"
        )),
        _ => Ok(OF_MARIADB),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_mariadb_cannot_be_settled_and_the_others_each_in_their_way() {
        let of = |product: &str, version: &str| {
            settling(&[
                Fact::new("database", "product", product),
                Fact::new("database", "version", version),
            ])
        };
        for old in ["10.6.19-MariaDB", "10.3.39-MariaDB-log", "5.5.68-MariaDB"] {
            assert!(of("MariaDB", old).is_err_and(|why| why.contains("10.7")), "{old}");
        }
        for new in ["10.7.0-MariaDB", "10.11.19-MariaDB-0+deb12u1", "11.4.5-MariaDB-log", "?"] {
            assert_eq!(of("MariaDB", new), Ok(OF_MARIADB), "{new}");
        }
        assert_eq!(of("MySQL", "5.6.24"), Ok(OF_OLD_MYSQL));
        assert_eq!(of("MySQL", "9.7.4-2"), Ok(OF_MYSQL));
    }
}
