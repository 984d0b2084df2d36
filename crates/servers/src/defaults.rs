//! What servers are told when nobody says otherwise.

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
        why: "data of a small benchmark stays in memory; taken from the system page by page",
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
        why: "two files of it: as much as MariaDB's one",
    },
    DefaultSetting {
        kinds: MYSQL_FAMILY,
        name: "max_connections",
        value: "2000",
        why: "a load of 1,500 clients finds room",
    },
    DefaultSetting {
        kinds: MYSQL_FAMILY,
        name: "max_allowed_packet",
        value: "1G",
        why: "rows of any size; it is a limit, not a reservation",
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
        why: "signing in asks no name server",
    },
    DefaultSetting {
        kinds: MARIADB,
        name: "ssl",
        value: "0",
        why: "as in all versions before 11.4, whose certificate takes up to 10 s at each start; \
              ssl_cert and ssl_key, or ssl=1, turn it on",
    },
    DefaultSetting {
        kinds: MYSQL,
        name: "loose_mysqlx",
        value: "0",
        why: "MySQL 8's second protocol would take a port that all servers share",
    },
    DefaultSetting {
        kinds: POSTGRES,
        name: "shared_buffers",
        value: "1GB",
        why: "data of a small benchmark stays in memory; taken from the system page by page",
    },
    DefaultSetting {
        kinds: POSTGRES,
        name: "max_wal_size",
        value: "4GB",
        why: "checkpoints come by time, not by a minute of writing",
    },
    DefaultSetting {
        kinds: POSTGRES,
        name: "max_connections",
        value: "2000",
        why: "a load of 1,500 clients finds room",
    },
];

/// What the server is told when nobody says otherwise.
pub fn defaults(kind: Kind) -> impl Iterator<Item = &'static DefaultSetting> {
    DEFAULTS.iter().filter(move |default| default.kinds.contains(&kind))
}
