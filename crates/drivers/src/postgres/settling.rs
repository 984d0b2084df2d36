//! How PostgreSQL is brought to rest: dead rows vacuumed, everything dirty written, standbys level.

use model::{Fact, Settling, SettlingLevel, SettlingStep};

const SETTLING: Settling = Settling {
    steps: &[
        SettlingStep {
            name: "vacuum",
            doing: "vacuuming and analysing",
            settings: &[],
            statements: &["VACUUM (ANALYZE) {tables}"],
            level: Some(SettlingLevel {
                name: "dead_rows",
                sql: "SELECT coalesce(sum(n_dead_tup), 0)::int8 FROM pg_stat_user_tables \
                      WHERE relname IN ({names})",
                column: 0,
            }),
        },
        SettlingStep {
            name: "autovacuum",
            doing: "waiting for autovacuum",
            settings: &[],
            statements: &[],
            level: Some(SettlingLevel {
                name: "autovacuum_workers",
                sql: "SELECT count(*) FROM pg_stat_activity \
                      WHERE backend_type = 'autovacuum worker'",
                column: 0,
            }),
        },
        SettlingStep {
            name: "checkpoint",
            doing: "checkpointing",
            settings: &[],
            statements: &["CHECKPOINT"],
            level: None,
        },
        SettlingStep {
            name: "replication",
            doing: "waiting for replication slots",
            settings: &[],
            statements: &[],
            // A slot that nobody uses stays where it is.
            level: Some(SettlingLevel {
                name: "replication_lag_bytes",
                sql: "SELECT coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), \
                      coalesce(confirmed_flush_lsn, restart_lsn))), 0)::int8 \
                      FROM pg_replication_slots WHERE active",
                column: 0,
            }),
        },
    ],
    written_bytes: &[
        // From 18 on the log is among the objects.
        "SELECT sum(write_bytes)::int8 FROM pg_stat_io",
        "SELECT (sum(writes * op_bytes) + (SELECT wal_bytes FROM pg_stat_wal))::int8 \
         FROM pg_stat_io",
        "SELECT ((buffers_checkpoint + buffers_clean + buffers_backend) * \
         current_setting('block_size')::int8 + (SELECT wal_bytes FROM pg_stat_wal))::int8 \
         FROM pg_stat_bgwriter",
    ],
    advised: &[],
};

pub(super) fn settling(_facts: &[Fact]) -> Result<Settling, String> {
    Ok(SETTLING)
}
