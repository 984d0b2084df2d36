//! Settling of PostgreSQL before a measurement: vacuums dead rows, writes dirty pages, and waits
//! for standbys.

use model::{Fact, Settling, SettlingLevel, SettlingStep};

use crate::modes::mode;

/// Settling step that vacuums the tables with all their indexes. By default VACUUM skips the
/// indexes of a table in which few pages have dead rows, and these rows stay.
const VACUUM_ALL: SettlingStep =
    SettlingStep { statements: &["VACUUM (INDEX_CLEANUP ON, ANALYZE) {tables}"], ..VACUUM };

/// Query for those tables that the user may not vacuum, for PostgreSQL 17 and later, which have a
/// privilege for vacuuming.
const MAY_NOT_MAINTAIN: &str = "SELECT c.relname::text FROM pg_class c, pg_database d \
    WHERE c.relname IN ({names}) AND c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid) \
    AND d.datname = current_database() AND NOT pg_has_role(d.datdba, 'USAGE') \
    AND NOT has_table_privilege(c.oid, 'MAINTAIN') ORDER BY 1";

/// Query for those tables that the user may not vacuum, for PostgreSQL before 17, where only the
/// owner of the table or of the database may.
const DOES_NOT_OWN: &str = "SELECT c.relname::text FROM pg_class c, pg_database d \
    WHERE c.relname IN ({names}) AND c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid) \
    AND d.datname = current_database() AND NOT pg_has_role(d.datdba, 'USAGE') \
    AND NOT pg_has_role(c.relowner, 'USAGE') ORDER BY 1";

/// First major version whose VACUUM has the option INDEX_CLEANUP.
const INDEX_CLEANUP_FROM: u32 = 12;

/// Settling step that vacuums the tables, for PostgreSQL before 12.
const VACUUM: SettlingStep = SettlingStep {
    name: "vacuum",
    doing: "vacuuming and analysing",
    statements: &["VACUUM (ANALYZE) {tables}"],
    // Rows stay that another transaction may see, and those of pages that another process pins;
    // and sessions report dead rows up to 10 s later, also those that are gone by then.
    repeats: true,
    if_denied: "VACUUM needs the owner of the tables (or, from PostgreSQL 17 on, GRANT pg_maintain \
                TO {user}).",
    // VACUUM only warns about these tables.
    passed_over: &[MAY_NOT_MAINTAIN, DOES_NOT_OWN],
    level: Some(SettlingLevel {
        name: "dead_rows",
        sql: "SELECT coalesce(sum(n_dead_tup), 0)::int8 FROM pg_stat_user_tables \
              WHERE relname IN ({names})",
        column: 0,
    }),
    if_stays: "Transactions, prepared transactions, replication slots or standbys that may \
               still see dead rows hold them: end those that have ended their work.",
    ..SettlingStep::PLAIN
};

const AUTOVACUUM: SettlingStep = SettlingStep {
    name: "autovacuum",
    doing: "waiting for autovacuum",
    level: Some(SettlingLevel {
        name: "autovacuum_workers",
        sql: "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'",
        column: 0,
    }),
    if_stays: "An autovacuum worker is still at work, maybe in another database: wait for \
               it, or end it (pg_terminate_backend).",
    ..SettlingStep::PLAIN
};

const CHECKPOINT: SettlingStep = SettlingStep {
    name: "checkpoint",
    doing: "checkpointing",
    statements: &["CHECKPOINT"],
    if_denied: "A superuser can allow it: GRANT pg_checkpoint TO {user} (before PostgreSQL 15, \
                sign in as a superuser).",
    ..SettlingStep::PLAIN
};

const REPLICATION: SettlingStep = SettlingStep {
    name: "replication",
    doing: "waiting for replication slots",
    // An unused replication slot never advances.
    level: Some(SettlingLevel {
        name: "replication_lag_bytes",
        sql: "SELECT coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), \
              coalesce(confirmed_flush_lsn, restart_lsn))), 0)::int8 \
              FROM pg_replication_slots WHERE active",
        column: 0,
    }),
    if_stays: "A receiver does not take what was written: see pg_stat_replication and \
               pg_replication_slots.",
    ..SettlingStep::PLAIN
};

const SETTLING: Settling = Settling {
    steps: &[VACUUM_ALL, AUTOVACUUM, CHECKPOINT, REPLICATION],
    written_bytes: &[
        // From 18 on the log is one of the objects.
        "SELECT sum(write_bytes)::int8 FROM pg_stat_io",
        "SELECT (sum(writes * op_bytes) + (SELECT wal_bytes FROM pg_stat_wal))::int8 \
         FROM pg_stat_io",
        "SELECT ((buffers_checkpoint + buffers_clean + buffers_backend) * \
         current_setting('block_size')::int8 + (SELECT wal_bytes FROM pg_stat_wal))::int8 \
         FROM pg_stat_bgwriter",
    ],
    changes: "",
    advised: &[],
};

pub(super) fn settling(facts: &[Fact]) -> Result<Settling, String> {
    let version = mode(facts, "version").unwrap_or_default();
    let digits = version.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    let is_old = digits.parse::<u32>().is_ok_and(|major| major < INDEX_CLEANUP_FROM);
    Ok(match is_old {
        true => Settling { steps: &[VACUUM, AUTOVACUUM, CHECKPOINT, REPLICATION], ..SETTLING },
        false => SETTLING,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_vacuumed_too_where_the_version_can_be_told_so() {
        let vacuum_for = |version: &str| {
            let settling = settling(&[Fact::new("database", "version", version)]);
            settling.expect("it can be settled").steps[0].statements[0]
        };
        for new in ["12.0", "15.18 (Debian 15.18-0+deb12u1)", "18devel", "?"] {
            assert!(vacuum_for(new).starts_with("VACUUM (INDEX_CLEANUP ON, ANALYZE)"), "{new}");
        }
        for old in ["11.22", "9.6.24"] {
            assert!(vacuum_for(old).starts_with("VACUUM (ANALYZE)"), "{old}");
        }
    }
}
