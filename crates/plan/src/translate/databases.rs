//! Databases by the names that other programs give them, with their defaults there.
//!
//! Not here: dbdyno's own names and options (drivers).

use model::{Host, Target};

/// A database that dbdyno measures too.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Server {
    /// Scheme of its targets.
    scheme: &'static str,
    /// Names in scripts of HammerDB and in configurations of BenchBase, in small letters.
    names: &'static [&'static str],
    /// Name of its URLs in Java, without `jdbc:`.
    jdbc: &'static str,
    /// Default user and database of HammerDB for transactions, and for analytics.
    pub(super) transactional: (&'static str, &'static str),
    pub(super) analytical: (&'static str, &'static str),
    /// Server setting for the number of processes that execute a query.
    pub(super) query_processes: Option<&'static str>,
    /// Whether a database is a file.
    pub(super) is_file: bool,
}

static SERVERS: &[Server] = &[
    Server {
        scheme: "mariadb",
        names: &["maria", "mariadb"],
        jdbc: "mariadb",
        transactional: ("root", "tpcc"),
        analytical: ("root", "tpch"),
        query_processes: None,
        is_file: false,
    },
    Server {
        scheme: "mysql",
        names: &["mysql"],
        jdbc: "mysql",
        transactional: ("root", "tpcc"),
        analytical: ("root", "tpch"),
        query_processes: None,
        is_file: false,
    },
    Server {
        scheme: "postgres",
        names: &["pg", "postgres", "postgresql"],
        jdbc: "postgresql",
        transactional: ("tpcc", "tpcc"),
        analytical: ("tpch", "tpch"),
        query_processes: Some("max_parallel_workers_per_gather"),
        is_file: false,
    },
    Server {
        scheme: "sqlite",
        names: &["sqlite"],
        jdbc: "sqlite",
        transactional: ("", ""),
        analytical: ("", ""),
        query_processes: None,
        is_file: true,
    },
];

/// Modes of TLS by the names that other programs give them.
const TLS: &[(&[&str], &str)] = &[
    (&["disable", "disabled", "false", "0", "no"], "disable"),
    (&["prefer", "preferred", "allow", "trust"], "prefer"),
    (&["require", "required", "true", "1", "yes"], "require"),
    (&["verify-ca", "verify_ca"], "verify-ca"),
    (&["verify-full", "verify_identity"], "verify-full"),
];

/// Finds a database by its name in another program.
pub(super) fn by_name(name: &str) -> Option<&'static Server> {
    let name = name.to_ascii_lowercase();
    SERVERS.iter().find(|server| server.names.contains(&name.as_str()))
}

/// Finds a database by a URL of Java.
pub(super) fn by_jdbc(url: &str) -> Option<&'static Server> {
    SERVERS.iter().find(|server| server.of_jdbc(url).is_some())
}

/// Names of the databases that HammerDB has and dbdyno measures, for sentences.
pub(super) const OF_HAMMERDB: &str = "maria, mysql or pg";

/// Returns dbdyno's mode of TLS for that of another program; `None` if it has none.
pub(super) fn tls(mode: &str) -> Option<&'static str> {
    let mode = mode.to_ascii_lowercase();
    TLS.iter().find(|(names, _)| names.contains(&mode.as_str())).map(|(_, tls)| *tls)
}

/// A place to connect to, as another program describes it.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub(super) user: String,
    pub(super) host: String,
    pub(super) port: Option<String>,
    pub(super) database: String,
    /// Options of the target, such as `tls` and `socket`.
    pub(super) options: Vec<(&'static str, String)>,
}

impl Server {
    /// Returns the target; `None` if the hosts are none.
    pub(super) fn target(&self, place: &Place) -> Option<Target> {
        let mut target = Target::of_parts(self.scheme, &place.database);
        target.options =
            place.options.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        if !self.is_file {
            target.user = Some(place.user.clone());
            target.hosts = Host::parse_list(&place.host).ok()?;
            let port = place.port.as_ref().and_then(|port| port.parse().ok());
            for host in &mut target.hosts {
                host.port = host.port.or(port);
            }
        }
        Some(target)
    }

    /// Divides a URL of Java into host, port, database, and the text of its options; `None` if it
    /// is not one of this database.
    pub(super) fn of_jdbc<'u>(&self, url: &'u str) -> Option<(Place, &'u str)> {
        let rest = url.trim().strip_prefix("jdbc:")?.strip_prefix(self.jdbc)?.strip_prefix(':')?;
        let (rest, options) = rest.split_once('?').unwrap_or((rest, ""));
        if self.is_file {
            return Some((Place { database: rest.to_owned(), ..Place::default() }, options));
        }
        let (host, database) = rest.trim_start_matches('/').split_once('/')?;
        let (host, port) = match host.rsplit_once(':') {
            Some((host, port)) if !host.contains(',') => (host, Some(port.to_owned())),
            _ => (host, None),
        };
        let (host, database) = (host.to_owned(), database.to_owned());
        Some((Place { host, port, database, ..Place::default() }, options))
    }
}
