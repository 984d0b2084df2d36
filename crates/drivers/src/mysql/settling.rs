//! Settling of InnoDB before a measurement: makes the server purge old row versions and write
//! dirty pages.
//!
//! Order, settings and values are those of HammerDB 4.10 for MariaDB ("Purge and Write back for
//! MariaDB TPROC-C"), on the advice of MariaDB's developers. innodb_lru_flush_size is left out: it
//! is deprecated, and servers report 0 for it, which cannot be restored.

use model::{Fact, NothingLeft, Settling, SettlingLevel, SettlingStep};

use crate::modes::mode;

/// First version of MariaDB with an `innodb_purge_threads` that can be set at run time
/// (MDEV-11024).
const DYNAMIC_FROM: (u32, u32) = (10, 7);

/// Query for the server's counters of statements that change data, inside and outside of
/// transactions. `Com_commit` does not count those outside. `Handler_commit` would be no better: it
/// also counts statements within transactions, even reading ones, and counts twice with a binary
/// log (MariaDB 10.11, MySQL 5.6).
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
            level: Some(SettlingLevel {
                name: "history_list",
                sql: "SHOW GLOBAL STATUS LIKE 'Innodb_history_list_length'",
                column: 1,
            }),
            if_stays: PURGE_STAYS,
            ..SettlingStep::PLAIN
        },
        CHECKPOINT,
    ],
    written_bytes: WRITTEN,
    changes: CHANGES,
    advised: ADVISED,
};

/// Server settings that dbdyno advises: with them, purging old row versions runs beside the
/// benchmark's statements and delays none of them.
const ADVISED: &[(&str, &str)] = &[
    ("innodb_purge_threads", "4"),
    ("innodb_purge_batch_size", "1000"),
    ("innodb_max_purge_lag", "0"),
];

const PURGE_STAYS: &str = "Open transactions of other sessions may hold old row versions: end \
                           them. Without any, the server leaves this for its next work.";

/// Test whether MySQL has nothing left to purge although its history list is not empty. The list
/// also contains undo logs that are already purged: from 5.7 on until it is truncated, in 5.6
/// while the server is idle.
const ALL_PURGED: NothingLeft = NothingLeft {
    sql: "SHOW ENGINE INNODB STATUS",
    numbers_behind: ["Trx id counter", "Purge done for trx's n:o <"],
};

/// First version of MySQL with `innodb_purge_rseg_truncate_frequency`, the number of purges after
/// which the history list is truncated.
const TRUNCATES_FROM: (u32, u32) = (5, 7);

/// Settling step that waits, before a measurement, until MySQL before 5.7 has purged old row
/// versions. It leaves `innodb_purge_threads` alone, which these versions cannot change at run
/// time.
const PURGE_OF_OLD_MYSQL: SettlingStep = SettlingStep {
    name: "purge",
    doing: "purging old row versions",
    settings: &[("innodb_purge_batch_size", "5000")],
    level: Some(SettlingLevel {
        name: "history_list",
        sql: "SELECT `COUNT` FROM information_schema.INNODB_METRICS \
              WHERE NAME = 'trx_rseg_history_len'",
        column: 0,
    }),
    if_stays: PURGE_STAYS,
    nothing_left: Some(ALL_PURGED),
    ..SettlingStep::PLAIN
};

/// Settling step that makes MySQL 5.7 and later purge old row versions before a measurement.
const PURGE_OF_MYSQL: SettlingStep = SettlingStep {
    settings: &[
        ("innodb_purge_batch_size", "5000"),
        // By default the server truncates after every 128th purge, which an idle server does not
        // reach.
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
        // The order matters: the low-water mark must not exceed innodb_max_dirty_pages_pct, nor a
        // capacity its maximum.
        ("innodb_max_dirty_pages_pct_lwm", "0"),
        ("innodb_max_dirty_pages_pct", "0"),
        ("innodb_lru_scan_depth", "4096"),
        ("innodb_io_capacity_max", "120000"),
        ("innodb_io_capacity", "120000"),
    ],
    // Without these settings, an idle server leaves most pages dirty.
    needs_settings: true,
    level: Some(SettlingLevel {
        name: "dirty_pages",
        sql: "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'",
        column: 1,
    }),
    if_stays: "The server does not write them, or other sessions change pages at the same pace: \
               end these, and look at the disk and at the server's error log.",
    ..SettlingStep::PLAIN
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
        let steps_for = |product: &str, version: &str| {
            settling(&[
                Fact::new("database", "product", product),
                Fact::new("database", "version", version),
            ])
        };
        for old in ["10.6.19-MariaDB", "10.3.39-MariaDB-log", "5.5.68-MariaDB"] {
            assert!(steps_for("MariaDB", old).is_err_and(|why| why.contains("10.7")), "{old}");
        }
        for new in ["10.7.0-MariaDB", "10.11.19-MariaDB-0+deb12u1", "11.4.5-MariaDB-log", "?"] {
            assert_eq!(steps_for("MariaDB", new), Ok(OF_MARIADB), "{new}");
        }
        assert_eq!(steps_for("MySQL", "5.6.24"), Ok(OF_OLD_MYSQL));
        assert_eq!(steps_for("MySQL", "9.7.4-2"), Ok(OF_MYSQL));
    }
}
