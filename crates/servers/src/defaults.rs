//! Options that servers start with unless others are given.

use crate::Kind;

/// One setting that a server is given unless somebody decides otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefaultSetting {
    /// Whom it is for.
    pub kinds: &'static [Kind],
    /// Its name, as the server calls it.
    pub name: &'static str,
    /// Its value, as the server reads it.
    pub value: &'static str,
    /// Why, in a few words.
    pub why: &'static str,
}

const MYSQL_FAMILY: &[Kind] = &[Kind::MariaDb, Kind::MySql];
const MARIADB: &[Kind] = &[Kind::MariaDb];
const MYSQL: &[Kind] = &[Kind::MySql];
const POSTGRES: &[Kind] = &[Kind::Postgres];

/// Every such setting. All else is as the server's makers left it: durability (a commit is on disk
/// when it is acknowledged), isolation, checkpoints by time, autovacuum, statistics. (MySQL 5.6
/// sizes its performance_schema by max_connections: 800 MiB for these 2,000.)
pub const DEFAULTS: &[DefaultSetting] = &[
    DefaultSetting {
        kinds: MYSQL_FAMILY,
        name: "innodb_buffer_pool_size",
        value: "1G",
        why: "data of a small benchmark stays in memory, which is allocated only as it is used",
    },
    DefaultSetting {
        kinds: MARIADB,
        name: "innodb_log_file_size",
        value: "512M",
        why: "checkpoints do not throttle a minute of writing",
    },
    DefaultSetting {
        kinds: MYSQL,
        name: "innodb_log_file_size",
        value: "256M",
        why: "two such files are as large as MariaDB's one",
    },
    DefaultSetting {
        kinds: MYSQL_FAMILY,
        name: "max_connections",
        value: "2000",
        why: "allows loads of 1,500 clients",
    },
    DefaultSetting {
        kinds: MYSQL_FAMILY,
        name: "max_allowed_packet",
        value: "1G",
        why: "allows large rows; it is a limit, not an allocation",
    },
    DefaultSetting {
        kinds: MYSQL_FAMILY,
        name: "character_set_server",
        value: "utf8mb4",
        why: "text is Unicode",
    },
    DefaultSetting {
        kinds: MYSQL_FAMILY,
        name: "local_infile",
        value: "1",
        why: "bulk loads are LOAD DATA LOCAL",
    },
    DefaultSetting {
        kinds: MYSQL_FAMILY,
        name: "skip_name_resolve",
        value: "1",
        why: "no DNS lookup when signing in",
    },
    DefaultSetting {
        kinds: MARIADB,
        name: "ssl",
        value: "0",
        why: "as in versions before 11.4; later ones spend up to 10 s on a certificate at each \
              start; ssl_cert and ssl_key, or ssl=1, enable it",
    },
    DefaultSetting {
        kinds: MYSQL,
        name: "loose_mysqlx",
        value: "0",
        why: "the X protocol of MySQL 8 would use the same port on all servers",
    },
    DefaultSetting {
        kinds: POSTGRES,
        name: "shared_buffers",
        value: "1GB",
        why: "data of a small benchmark stays in memory, which is allocated only as it is used",
    },
    DefaultSetting {
        kinds: POSTGRES,
        name: "max_wal_size",
        value: "4GB",
        why: "checkpoints start by time, not after a minute of writing",
    },
    DefaultSetting {
        kinds: POSTGRES,
        name: "max_connections",
        value: "2000",
        why: "allows loads of 1,500 clients",
    },
];

/// Options that the server starts with unless others are given.
pub fn defaults(kind: Kind) -> impl Iterator<Item = &'static DefaultSetting> {
    DEFAULTS.iter().filter(move |default| default.kinds.contains(&kind))
}
