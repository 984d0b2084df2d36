//! Which servers there are, and what they are told when nobody says otherwise.

/// A product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// MariaDB.
    MariaDb,
    /// MySQL. Verified with 5.6; 5.7 and later are started as their manuals say, unverified.
    MySql,
    /// PostgreSQL.
    Postgres,
}

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

impl Kind {
    /// Every product.
    pub const ALL: &[Kind] = &[Kind::MariaDb, Kind::MySql, Kind::Postgres];

    /// As it is written in `managed:mariadb`; also the scheme of the server's own URL.
    pub fn name(self) -> &'static str {
        match self {
            Kind::MariaDb => "mariadb",
            Kind::MySql => "mysql",
            Kind::Postgres => "postgres",
        }
    }

    /// As its makers write it.
    pub fn title(self) -> &'static str {
        match self {
            Kind::MariaDb => "MariaDB",
            Kind::MySql => "MySQL",
            Kind::Postgres => "PostgreSQL",
        }
    }

    /// What the server is told when nobody says otherwise.
    pub fn defaults(self) -> impl Iterator<Item = &'static DefaultSetting> {
        DEFAULTS.iter().filter(move |default| default.kinds.contains(&self))
    }

    /// Settings that decide where the server is and whose: not to be had from outside.
    pub(crate) fn is_ours(self, name: &str) -> bool {
        let ours: &[&str] = match self {
            Kind::Postgres => &[
                "cluster_name",
                "config_file",
                "data_directory",
                "external_pid_file",
                "listen_addresses",
                "port",
                "unix_socket_directories",
            ],
            Kind::MariaDb | Kind::MySql => &[
                "basedir",
                "bind_address",
                "bootstrap",
                "datadir",
                "defaults_file",
                "init_file",
                "log_error",
                "no_defaults",
                "pid_file",
                "port",
                "skip_networking",
                "socket",
                "user",
                "wsrep_cluster_address",
                "wsrep_cluster_name",
                "wsrep_new_cluster",
                "wsrep_node_address",
                "wsrep_notify_cmd",
                "wsrep_on",
                "wsrep_sst_auth",
                "wsrep_sst_method",
                "wsrep_sst_receive_address",
            ],
        };
        ours.contains(&name)
    }
}
