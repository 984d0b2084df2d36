//! A server of the MySQL family as its sessions know it: where it is, who signs in, and how.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use model::Secret;

use crate::net::Connector;

/// A server, and how one signs in to it.
pub(super) struct MysqlServer {
    pub(super) connector: Connector,
    pub(super) user: String,
    pub(super) password: Option<Secret>,
    /// None only while it is being made.
    pub(super) database: Option<String>,
    /// Statements go as text, with their values in it.
    pub(super) as_text: bool,
    /// Packets go deflated, both ways.
    pub(super) compress: bool,
    /// The server may be asked to load what we send.
    pub(super) local_infile: bool,
    /// The password may be shown to a server that has not proven to be the right one.
    pub(super) clear_password: bool,
    pub(super) packet_bytes_max: usize,
    /// The server's own limit for a statement, in nanoseconds; 0 is none.
    pub(super) statement_timeout_ns: u64,
    /// Its commits may end the session or begin another transaction (completion_type), or nobody
    /// knows: then each session sets it back.
    pub(super) chains: AtomicBool,
    /// The modes of SQL that sessions set, since the server's change what our SQL means; none where
    /// they need not, or where nobody has looked yet.
    pub(super) sql_mode: OnceLock<Option<String>>,
    /// As its greeting tells; which of the two families it is follows from that.
    pub(super) version: Mutex<String>,
}

impl MysqlServer {
    pub(super) fn password(&self) -> &[u8] {
        self.password.as_ref().map_or(b"", |password| password.reveal().as_bytes())
    }

    /// The version that the server told last; empty before the first connection.
    pub(super) fn version(&self) -> String {
        self.version.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the greeting says of the version. MariaDB before 11.0 puts a number in front, by which
    /// old replicas took it for something that they knew.
    pub(super) fn note_version(&self, version: &str) {
        let version = version.strip_prefix("5.5.5-").unwrap_or(version);
        let mut known = self.version.lock().unwrap_or_else(PoisonError::into_inner);
        if *known != version {
            version.clone_into(&mut known);
        }
    }

    /// Whether it is MariaDB rather than MySQL.
    pub(super) fn is_mariadb(&self) -> bool {
        self.version().to_ascii_lowercase().contains("mariadb")
    }

    /// What every session begins with. Dates are UTC; a commit ends a transaction and begins no
    /// other (completion_type); the server's sql_mode stays as it is, but for modes that change
    /// what our SQL means. Proxies that share connections do not know completion_type, so it is
    /// only set where that changes something.
    pub(super) fn session_state(&self) -> String {
        let mut sql = "SET autocommit=1, time_zone='+00:00'".to_owned();
        if self.chains.load(Ordering::Relaxed) {
            sql.push_str(", completion_type=0");
        }
        match (self.statement_timeout_ns, self.is_mariadb()) {
            (0, _) => {}
            (ns, true) => {
                let (seconds, us) = (ns / 1_000_000_000, ns / 1_000 % 1_000_000);
                sql.push_str(&format!(", max_statement_time={seconds}.{us:06}"));
            }
            (ns, false) => {
                sql.push_str(&format!(", max_execution_time={}", ns.div_ceil(1_000_000)));
            }
        }
        if let Some(Some(modes)) = self.sql_mode.get() {
            sql.push_str(&format!(", sql_mode='{modes}'"));
        }
        sql
    }
}

/// Modes of SQL that change its grammar, or values that are stored and compared. Those of products
/// (`ORACLE`, `ANSI`) stand for several.
const CHANGING: &[&str] = &[
    "ANSI",
    "ANSI_QUOTES",
    "DB2",
    "EMPTY_STRING_IS_NULL",
    "HIGH_NOT_PRECEDENCE",
    "IGNORE_SPACE",
    "MAXDB",
    "MSSQL",
    "MYSQL323",
    "MYSQL40",
    "NO_BACKSLASH_ESCAPES",
    "NO_UNSIGNED_SUBTRACTION",
    "ORACLE",
    "PAD_CHAR_TO_FULL_LENGTH",
    "PIPES_AS_CONCAT",
    "POSTGRESQL",
    "REAL_AS_FLOAT",
    "SIMULTANEOUS_ASSIGNMENT",
    "TIME_ROUND_FRACTIONAL",
    "TIME_TRUNCATE_FRACTIONAL",
];

/// A sql_mode without modes that change what our SQL means; none where it has none of them.
pub(super) fn plain_modes(sql_mode: &str) -> Option<String> {
    let is_plain = |mode: &&str| !CHANGING.iter().any(|one| one.eq_ignore_ascii_case(mode));
    let all = || sql_mode.split(',').filter(|mode| !mode.is_empty());
    let kept: Vec<&str> = all().filter(is_plain).collect();
    (kept.len() < all().count()).then(|| kept.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_that_change_what_sql_means_are_left_out() {
        let check = |sql_mode: &str, expect: Option<&str>| {
            assert_eq!(plain_modes(sql_mode).as_deref(), expect, "{sql_mode}");
        };
        check("", None);
        check("STRICT_TRANS_TABLES,ONLY_FULL_GROUP_BY", None);
        check(
            "PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ORACLE,NO_KEY_OPTIONS",
            Some("NO_KEY_OPTIONS"),
        );
        check("EMPTY_STRING_IS_NULL", Some(""));
    }
}
