//! Address, account and options of a MariaDB or MySQL server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use model::Secret;

use crate::net::{Connector, SessionSettings};

pub(super) struct MysqlServer {
    pub(super) connector: Connector,
    pub(super) user: String,
    pub(super) password: Option<Secret>,
    /// Name of the database to connect to; `None` while dbdyno connects in order to create it.
    pub(super) database: Option<String>,
    /// Whether all statements are sent as text, with their values as literals.
    pub(super) as_text: bool,
    /// Whether packets are compressed in both directions.
    pub(super) compress: bool,
    /// Whether bulk loads may use LOAD DATA LOCAL.
    pub(super) local_infile: bool,
    /// Whether the user permits sending the password unencrypted to a server whose identity is not
    /// verified.
    pub(super) clear_password: bool,
    pub(super) packet_bytes_max: usize,
    /// Server-side time limit of a statement, in nanoseconds; 0 for none.
    pub(super) statement_timeout_ns: u64,
    /// Isolation level and further settings of each session.
    pub(super) session: SessionSettings,
    /// Whether each session must reset the variable `completion_type`: the server's value would
    /// make each commit begin another transaction or end the session, or is unknown.
    pub(super) chains: AtomicBool,
    /// Value of `sql_mode` that each session must set, because some modes of the server change the
    /// meaning of dbdyno's SQL; `None` if the server has no such mode. The cell is empty until a
    /// session has looked it up.
    pub(super) sql_mode: OnceLock<Option<String>>,
    /// Version in the server's last greeting, which also tells MariaDB from MySQL; empty before the
    /// first connection.
    pub(super) version: Mutex<String>,
}

impl MysqlServer {
    pub(super) fn password(&self) -> &[u8] {
        self.password.as_ref().map_or(b"", |password| password.reveal().as_bytes())
    }

    /// Returns the version in the server's last greeting; empty before the first connection.
    pub(super) fn version(&self) -> String {
        self.version.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stores the server's version from its greeting, without the prefix `5.5.5-` that MariaDB
    /// before 11.0 adds for old replicas.
    pub(super) fn note_version(&self, version: &str) {
        let version = version.strip_prefix("5.5.5-").unwrap_or(version);
        let mut known = self.version.lock().unwrap_or_else(PoisonError::into_inner);
        if *known != version {
            version.clone_into(&mut known);
        }
    }

    /// Whether the server is MariaDB and not MySQL; false before the first connection.
    pub(super) fn is_mariadb(&self) -> bool {
        self.version().to_ascii_lowercase().contains("mariadb")
    }

    /// Returns the SET statement that every session executes first. It sets the time zone to UTC
    /// and removes modes from `sql_mode` that change the meaning of dbdyno's SQL. It resets
    /// `completion_type` only if necessary, since proxies that share connections do not know that
    /// variable.
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
        if let Some(level) = &self.session.isolation {
            let level = level.replace(' ', "-");
            sql.push_str(&format!(", {}='{level}'", self.isolation_variable()));
        }
        for (name, value) in &self.session.settings {
            let is_plain = value.parse::<f64>().is_ok() || value.starts_with('@');
            let value = match is_plain {
                true => value.clone(),
                false => format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''")),
            };
            sql.push_str(&format!(", {name}={value}"));
        }
        sql
    }

    /// Returns the name of the variable with a session's isolation level. MySQL renamed it in 5.7
    /// and removed the former name in 8.0; MariaDB has had both since 11.1.
    fn isolation_variable(&self) -> &'static str {
        let version = self.version();
        let major = version.split('.').next().and_then(|number| number.parse::<u32>().ok());
        match self.is_mariadb() || major.is_some_and(|major| major < 8) {
            true => "tx_isolation",
            false => "transaction_isolation",
        }
    }
}

/// Modes in `sql_mode` that change the grammar of SQL, or the values that are stored and compared.
/// Names of products and `ANSI` each stand for several modes.
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

/// Returns `sql_mode` without the modes that change the meaning of dbdyno's SQL; `None` if it
/// contains none of them, so that sessions need not set it.
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
