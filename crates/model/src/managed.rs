//! Options of a `managed:` target, such as
//! `managed:mariadb?bin=/opt/mariadb&innodb_buffer_pool_size=4G`.
//!
//! Declared here because one crate checks them (plan) and another applies them (servers). Not here:
//! options of a URL that concern the driver (plan).

use std::path::PathBuf;
use std::time::Duration;

use crate::{
    BadParameter, Parameter, ParameterKind, Settings, Target, did_you_mean, plain_setting,
};

/// A database product whose server dbdyno can start itself, as a managed server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// MariaDB, as a single server or as a Galera cluster.
    MariaDb,
    /// MySQL from version 5.6 on. dbdyno is tested with 5.6 and 9.7; versions in between are
    /// started as their manuals say.
    MySql,
    /// PostgreSQL, always as a single server.
    Postgres,
}

impl Kind {
    /// Every product that dbdyno can start as a managed server, in display order.
    pub const ALL: &[Kind] = &[Kind::MariaDb, Kind::MySql, Kind::Postgres];

    /// Returns the name in a target, as in `managed:mariadb`. It is also the scheme of the URL of
    /// the started server.
    pub fn name(self) -> &'static str {
        match self {
            Kind::MariaDb => "mariadb",
            Kind::MySql => "mysql",
            Kind::Postgres => "postgres",
        }
    }

    /// Returns the product's name as its makers spell it.
    pub fn title(self) -> &'static str {
        match self {
            Kind::MariaDb => "MariaDB",
            Kind::MySql => "MySQL",
            Kind::Postgres => "PostgreSQL",
        }
    }

    /// Whether `name` is a server setting that dbdyno itself needs to control, such as a path or an
    /// address, so that users may not set it.
    fn is_ours(self, name: &str) -> bool {
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

/// Options with which dbdyno starts a managed server, as given in a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Path of the server's program, or of the folder into which the user unpacked the server;
    /// `None` for an installed package.
    pub bin: Option<PathBuf>,
    /// Folder in which the server gets a folder of its own for its data; `None` for /var/tmp,
    /// because /tmp may be in memory.
    pub folder: Option<PathBuf>,
    /// System account that runs the server. Only root may choose another account than its own.
    /// `None` for the default: the current account or, for root, the product's own (such as
    /// `mysql`) or else `nobody`.
    pub user: Option<String>,
    /// Time limit for each of three steps: preparing the data, starting the server and stopping it.
    pub start_limit: Duration,
    /// Number of nodes of a MariaDB Galera cluster; `None` for a single server.
    pub nodes: Option<u32>,
    /// Number of cluster nodes to which clients connect, counted from the first; `None` for all.
    pub load_on: Option<u32>,
    /// Server settings that the user gave, as pairs of name and value. If a name occurs twice, the
    /// last value applies.
    pub settings: Vec<(String, String)>,
}

/// Default time limit for preparing the data of a managed server, for starting the server and for
/// stopping it. Preparing takes 0.3 to 3 s on an idle machine; a busy disk, a shared machine or
/// crash recovery take longer. If the server exits, waiting ends at once.
const START_LIMIT: Duration = Duration::from_secs(300);

impl Default for Options {
    fn default() -> Options {
        Options {
            bin: None,
            folder: None,
            user: None,
            start_limit: START_LIMIT,
            nodes: None,
            load_on: None,
            settings: Vec::new(),
        }
    }
}

/// Options in a target's URL that dbdyno handles itself; all others are settings of the server.
pub const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "bin",
        kind: ParameterKind::Text,
        default: "",
        help: "Path of the server's program, or of the folder that the server was unpacked to",
        shapes_data: false,
    },
    Parameter {
        name: "folder",
        kind: ParameterKind::Text,
        default: "",
        help: "Parent folder of the server's data, which are removed with the server (default: \
               /var/tmp)",
        shapes_data: false,
    },
    Parameter {
        name: "user",
        kind: ParameterKind::Text,
        default: "",
        help: "System user that the server runs as, if root starts it",
        shapes_data: false,
    },
    Parameter {
        name: "start_limit",
        kind: ParameterKind::Duration,
        default: "5m",
        help: "Time limit for preparing, starting and stopping the server, each",
        shapes_data: false,
    },
    Parameter {
        name: "nodes",
        kind: NODES,
        default: "",
        help: "MariaDB: number of nodes of a Galera cluster (needs galera-4 and rsync)",
        shapes_data: false,
    },
    Parameter {
        name: "load_on",
        kind: NODES,
        default: "",
        help: "Number of nodes that get load, counted from the first (default: all)",
        shapes_data: false,
    },
];

/// Allowed range of the number of cluster nodes, which is limited because all nodes run on one
/// machine.
const NODES: ParameterKind = ParameterKind::Count { min: 1, max: 16 };

/// Parses a target such as `managed:postgres?shared_buffers=4GB`. Fails if the product is unknown,
/// an option is invalid, or the target names a host or a user.
pub fn from_target(target: &Target) -> Result<(Kind, Options), BadParameter> {
    let names = || Kind::ALL.iter().map(|kind| kind.name());
    if target.scheme != "managed" {
        let text = format!("'{}:' is not a managed server: write managed:mariadb", target.scheme);
        return Err(BadParameter::new(text));
    }
    if !target.hosts.is_empty() || target.user.is_some() {
        let text = "a managed server runs on this machine, with its own user: write \
                    managed:mariadb, without host or user";
        return Err(BadParameter::new(text));
    }
    let Some(kind) = Kind::ALL.iter().copied().find(|kind| kind.name() == target.path) else {
        let known = names().collect::<Vec<_>>().join(", ");
        let hint = did_you_mean(&target.path, names());
        let text = format!("'managed:{}' is not one of {known}{hint}", target.path);
        return Err(BadParameter::new(text));
    };
    let pairs = target.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let (own, settings): (Vec<_>, Vec<_>) =
        pairs.partition(|(name, _)| PARAMETERS.iter().any(|row| row.name == *name));
    let own = Settings::decide(&format!("managed:{}", kind.name()), PARAMETERS, own)?;
    let text = |name: &str| own.has(name).then(|| own.text(name));
    let number = |name: &str| {
        own.has(name).then(|| u32::try_from(own.count(name)).expect("the table bounds it"))
    };
    let mut options = Options {
        nodes: number("nodes"),
        load_on: number("load_on"),
        bin: text("bin").map(PathBuf::from),
        folder: text("folder").map(PathBuf::from),
        user: text("user").map(str::to_owned),
        start_limit: Duration::from_nanos(own.duration_ns("start_limit")),
        settings: Vec::new(),
    };
    check_nodes(kind, &options)?;
    for (name, value) in settings {
        check_setting(kind, name, value)?;
        options.settings.push((name.to_owned(), value.to_owned()));
    }
    Ok((kind, options))
}

fn check_nodes(kind: Kind, options: &Options) -> Result<(), BadParameter> {
    let (name, why) = match (options.nodes, options.load_on) {
        (None, None) => return Ok(()),
        (Some(_), _) if kind != Kind::MariaDb => {
            ("nodes", format!("clusters are supported for MariaDB, not for {}", kind.title()))
        }
        (None, Some(n)) => ("load_on", format!("there is only one server: write nodes={n} too")),
        (Some(nodes), Some(loaded)) if loaded > nodes => {
            let why = format!(
                "load_on={loaded} exceeds the {nodes} nodes of the cluster (nodes={nodes})"
            );
            ("load_on", why)
        }
        (Some(_), _) => return Ok(()),
    };
    Err(BadParameter::named(name, why))
}

/// Checks whether users may give a managed server this setting. Fails if name or value is
/// malformed, or if dbdyno itself controls the setting; only the server knows whether the name
/// exists.
pub fn check_setting(kind: Kind, name: &str, value: &str) -> Result<(), BadParameter> {
    let title = kind.title();
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(letters) {
        let text = format!("'{name}' cannot be a setting of {title}: letters, digits, '_', '-'");
        return Err(BadParameter::new(text));
    }
    if value.chars().any(char::is_control) {
        return Err(BadParameter::named(
            name,
            "a setting's value is one line, without control characters",
        ));
    }
    if kind.is_ours(&plain_setting(name)) {
        let why = "dbdyno sets this for a managed server; leave it out";
        return Err(BadParameter::named(name, why));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Result<(Kind, Options), BadParameter> {
        from_target(&Target::parse(url).expect("a URL"))
    }

    #[test]
    fn a_url_names_product_program_and_settings() {
        let url = "managed:mariadb?bin=/opt/m&innodb_buffer_pool_size=4G&start_limit=90s&user=me";
        let (kind, options) = read(url).expect("valid");
        assert_eq!(kind, Kind::MariaDb);
        assert_eq!(options.bin, Some(PathBuf::from("/opt/m")));
        assert_eq!(options.start_limit, Duration::from_secs(90));
        assert_eq!(options.user.as_deref(), Some("me"));
        let expect = [("innodb_buffer_pool_size".to_owned(), "4G".to_owned())];
        assert_eq!(options.settings, expect);
        assert_eq!(read("managed:postgres").expect("valid"), (Kind::Postgres, Options::default()));
    }

    #[test]
    fn a_wrong_url_is_reported_with_its_remedy() {
        let check = |url: &str, expect: &str| {
            let error = read(url).expect_err(url);
            assert!(error.to_string().contains(expect), "{url}: {error}");
        };
        check("managed:postgers", "is not one of mariadb, mysql, postgres (did you mean");
        check("managed://me@host/mariadb", "without host or user");
        check("sqlite:x", "write managed:mariadb");
        check("managed:mysql?Bind-Address=0.0.0.0", "dbdyno sets this for a managed server; leave");
        check("managed:postgres?port=5432", "dbdyno sets this");
        check("managed:postgres?start_limit=5", "start_limit: ");
        check("managed:postgres?nodes=3", "nodes: clusters are supported for MariaDB");
        check("managed:mariadb?load_on=2", "write nodes=2 too");
        check("managed:mariadb?nodes=2&load_on=3", "exceeds the 2 nodes");
        check("managed:mariadb?nodes=2&wsrep-on=0", "dbdyno sets this");
        check("managed:mysql?a%20b=1", "cannot be a setting of MySQL");
        check("managed:mysql?a=1%0A2", "a: a setting's value is one line");
    }

    #[test]
    fn the_stated_limit_is_the_limit() {
        assert_eq!(read("managed:mysql").expect("valid").1.start_limit, START_LIMIT);
    }
}
