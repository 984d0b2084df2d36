//! Settings that dbdyno gives its private servers unless the user sets them.

use crate::Kind;

/// A server setting that dbdyno gives to its private servers unless the user sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefaultSetting {
    /// Products whose servers get this setting.
    pub kinds: &'static [Kind],
    /// Server versions that know this setting.
    versions: Versions,
    pub name: &'static str,
    pub value: &'static str,
    /// Reason for the value of this setting, in a few words for the user.
    pub why: &'static str,
}

/// Range of server versions, before a version or from it on. A version is given by its first three
/// numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Versions {
    All,
    From([u32; 3]),
    Before([u32; 3]),
}

/// First MySQL version with `innodb_redo_log_capacity`, the size of the whole redo log. Earlier
/// versions have `innodb_log_file_size`, the size of each file of the log.
const ONE_REDO_LOG: [u32; 3] = [8, 0, 30];

const MYSQL_FAMILY: &[Kind] = &[Kind::MariaDb, Kind::MySql];
const MARIADB: &[Kind] = &[Kind::MariaDb];
const MYSQL: &[Kind] = &[Kind::MySql];
const POSTGRES: &[Kind] = &[Kind::Postgres];

/// All settings that dbdyno gives to its private servers unless the user sets them. All other
/// settings keep the server's own defaults, such as those for durability (a commit is on disk when
/// it is acknowledged), isolation, checkpoints by time, autovacuum and statistics. The
/// performance_schema of MySQL 5.6 grows with max_connections: it takes 800 MiB for 2,000.
pub const DEFAULTS: &[DefaultSetting] = &[
    DefaultSetting {
        kinds: MYSQL_FAMILY,
        versions: Versions::All,
        name: "innodb_buffer_pool_size",
        value: "1G",
        why: "data of a small benchmark stays in memory, which is allocated only as it is used",
    },
    DefaultSetting {
        kinds: MARIADB,
        versions: Versions::All,
        name: "innodb_log_file_size",
        value: "512M",
        why: "checkpoints do not throttle a minute of writing",
    },
    DefaultSetting {
        kinds: MYSQL,
        versions: Versions::Before(ONE_REDO_LOG),
        name: "innodb_log_file_size",
        value: "256M",
        why: "two such files are as large as MariaDB's one",
    },
    DefaultSetting {
        kinds: MYSQL,
        versions: Versions::From(ONE_REDO_LOG),
        name: "innodb_redo_log_capacity",
        value: "512M",
        why: "as large as MariaDB's redo log",
    },
    DefaultSetting {
        kinds: MYSQL_FAMILY,
        versions: Versions::All,
        name: "max_connections",
        value: "2000",
        why: "allows loads of 1,500 clients",
    },
    DefaultSetting {
        kinds: MYSQL_FAMILY,
        versions: Versions::All,
        name: "max_allowed_packet",
        value: "1G",
        why: "allows large rows; it is a limit, not an allocation",
    },
    DefaultSetting {
        kinds: MYSQL_FAMILY,
        versions: Versions::All,
        name: "character_set_server",
        value: "utf8mb4",
        why: "text is Unicode",
    },
    DefaultSetting {
        kinds: MYSQL_FAMILY,
        versions: Versions::All,
        name: "local_infile",
        value: "1",
        why: "bulk loads are LOAD DATA LOCAL",
    },
    DefaultSetting {
        kinds: MYSQL_FAMILY,
        versions: Versions::All,
        name: "skip_name_resolve",
        value: "1",
        why: "no DNS lookup when signing in",
    },
    DefaultSetting {
        kinds: MARIADB,
        versions: Versions::All,
        name: "ssl",
        value: "0",
        why: "as in versions before 11.4; later ones spend up to 10 s on a certificate at each \
              start; ssl_cert and ssl_key, or ssl=1, enable it",
    },
    DefaultSetting {
        kinds: MYSQL,
        versions: Versions::From([5, 7, 12]),
        name: "mysqlx",
        value: "0",
        why: "the X protocol of MySQL 8 would use the same port on all servers",
    },
    DefaultSetting {
        kinds: MYSQL,
        versions: Versions::From([5, 7, 16]),
        name: "secure_file_priv",
        value: "NULL",
        why: "the folder for files that a package is built with belongs to the system's server",
    },
    DefaultSetting {
        kinds: POSTGRES,
        versions: Versions::All,
        name: "shared_buffers",
        value: "1GB",
        why: "data of a small benchmark stays in memory, which is allocated only as it is used",
    },
    DefaultSetting {
        kinds: POSTGRES,
        versions: Versions::From([9, 5, 0]),
        name: "max_wal_size",
        value: "4GB",
        why: "checkpoints start by time, not after a minute of writing",
    },
    DefaultSetting {
        kinds: POSTGRES,
        versions: Versions::All,
        name: "max_connections",
        value: "2000",
        why: "allows loads of 1,500 clients",
    },
];

/// Returns those settings in [`DEFAULTS`] that apply to a product in the given version. `version`
/// is the text that the server's program prints, such as `8.0.30-22`.
pub fn defaults(kind: Kind, version: &str) -> impl Iterator<Item = &'static DefaultSetting> {
    let version = numbers(version);
    let is_known = move |versions| match versions {
        Versions::All => true,
        Versions::From(first) => version >= first,
        Versions::Before(end) => version < end,
    };
    let is_for = move |row: &&DefaultSetting| row.kinds.contains(&kind) && is_known(row.versions);
    DEFAULTS.iter().filter(is_for)
}

/// Parses the first three numbers of a version such as `8.0.30-22`, `15.18` or `18beta1`; a missing
/// number is 0.
fn numbers(version: &str) -> [u32; 3] {
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    [(); 3].map(|()| numbers.next().and_then(Result::ok).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_gets_the_defaults_that_it_knows() {
        let has = |kind, version: &str, name: &str| {
            defaults(kind, version).any(|default| default.name == name)
        };
        for (version, is_old) in [("5.6.24", true), ("8.0.29-21", true), ("8.0.30", false)] {
            assert_eq!(has(Kind::MySql, version, "innodb_log_file_size"), is_old, "{version}");
            assert_eq!(has(Kind::MySql, version, "innodb_redo_log_capacity"), !is_old);
        }
        assert!(has(Kind::MySql, "9.7.4-2", "mysqlx") && !has(Kind::MySql, "5.6.24", "mysqlx"));
        assert!(has(Kind::MariaDb, "10.11.19-MariaDB", "innodb_log_file_size"));
        assert!(has(Kind::Postgres, "18beta1", "max_wal_size"));
    }
}
