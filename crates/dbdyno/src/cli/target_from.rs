//! Targets where other programs keep them (`--target-from`): services and environment variables of
//! libpq, and the option file of MySQL's clients. They are read only if the user asks.
//!
//! Not here: passwords, which `--password-from` reads (`password_files`).

use std::path::{Path, PathBuf};

use app::Error;
use clap::{Arg, ArgMatches, Command};
use model::{Host, Target};

use crate::shell::Shell;

/// Largest size of a file of services or options, in bytes; a longer one is taken for a mistake.
const BYTES_MAX: u64 = 1 << 20;

/// Folder of the system's file of services, unless PGSYSCONFDIR names another (that of Debian).
const SERVICES_OF_SYSTEM: &str = "/etc/postgresql-common";

/// Directories in which packages have PostgreSQL's sockets, and MySQL's and MariaDB's sockets, the
/// most common first. Clients use them if no host is named.
const POSTGRES_SOCKETS: [&str; 2] = ["/var/run/postgresql", "/tmp"];
const MYSQL_SOCKETS: [&str; 3] =
    ["/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"];

/// Parameters of libpq, their environment variables, and the options of a target that mean the
/// same.
const OPTIONS: [(&str, &str, &str); 8] = [
    ("sslmode", "PGSSLMODE", "tls"),
    ("sslrootcert", "PGSSLROOTCERT", "tls_ca"),
    ("sslcert", "PGSSLCERT", "tls_cert"),
    ("sslkey", "PGSSLKEY", "tls_key"),
    ("sslnegotiation", "PGSSLNEGOTIATION", "sslnegotiation"),
    ("channel_binding", "PGCHANNELBINDING", "channel_binding"),
    ("connect_timeout", "PGCONNECT_TIMEOUT", "connect_timeout"),
    ("application_name", "PGAPPNAME", "application_name"),
];

/// Parameters of libpq that name the place, and their environment variables.
const PLACE: [(&str, &str); 5] = [
    ("hostaddr", "PGHOSTADDR"),
    ("host", "PGHOST"),
    ("port", "PGPORT"),
    ("user", "PGUSER"),
    ("dbname", "PGDATABASE"),
];

/// Parameters of libpq that do not change to what, or how safely, dbdyno connects. Passwords are
/// read by `--password-from`.
const LEFT_OUT: [&str; 8] = [
    "password",
    "passfile",
    "client_encoding",
    "fallback_application_name",
    "gssencmode",
    "sslcompression",
    "tcp_user_timeout",
    "keepalives",
];

/// Adds the option `--target-from` to a command.
pub(crate) fn add(command: Command) -> Command {
    command.arg(
        Arg::new("target_from")
            .long("target-from")
            .value_name("PLACE")
            .conflicts_with("target")
            .help(
                "Where another program keeps the database's address: PGSERVICE, service=NAME, \
                 PGHOST or my.cnf",
            ),
    )
}

/// Returns the target that the command line names, by its URL or by a place of another program;
/// `None` if it names none.
pub(crate) fn given(matches: &ArgMatches, shell: &Shell) -> Result<Option<Target>, Error> {
    match matches.get_one::<String>("target") {
        Some(url) => {
            let target = Target::parse(url);
            target.map(Some).map_err(|bad| Error::Usage(format!("--target: {bad}")))
        }
        None => named(matches, shell),
    }
}

/// Returns the target of the place that `--target-from` names; `None` without this option.
pub(crate) fn named(matches: &ArgMatches, shell: &Shell) -> Result<Option<Target>, Error> {
    let Some(place) = matches.get_one::<String>("target_from") else { return Ok(None) };
    let bad = |why: String| Error::Usage(format!("--target-from {place}: {why}"));
    let none = "name PGSERVICE, service=NAME, PGHOST or my.cnf".to_owned();
    let target = match place.as_str() {
        "PGSERVICE" => match variable(shell, "PGSERVICE") {
            Some(name) => of_service(&name, shell),
            None => Err("this variable is not set".to_owned()),
        },
        "PGHOST" => of_libpq(&[], shell),
        "my.cnf" => of_my_cnf(shell),
        other => match other.strip_prefix("service=").filter(|name| !name.is_empty()) {
            Some(name) => of_service(name, shell),
            None => Err(none),
        },
    };
    target.map(Some).map_err(bad)
}

fn variable(shell: &Shell, name: &str) -> Option<String> {
    shell.variable(name).filter(|value| !value.is_empty())
}

/// Pairs of name and value in a section of a file.
pub(super) type Pairs = Vec<(String, String)>;

/// Returns the pairs of the sections that `is_wanted` accepts; `None` if there is no such section.
fn sections(text: &str, is_wanted: &dyn Fn(&str) -> bool) -> Option<Pairs> {
    let mut pairs: Option<Pairs> = None;
    let mut is_within = false;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            is_within = is_wanted(section.trim_end_matches(']').trim());
            if is_within {
                pairs.get_or_insert_default();
            }
        } else if is_within && !line.starts_with(['#', ';', '!']) {
            let pair = line.split_once('=');
            let pair = pair.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
            pairs.get_or_insert_default().extend(pair);
        }
    }
    pairs
}

fn read(path: &Path) -> Result<String, String> {
    files::read_text(path, BYTES_MAX).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the target of a service of libpq.
fn of_service(name: &str, shell: &Shell) -> Result<Target, String> {
    let pairs = pairs_of_service(name, shell)?;
    of_libpq(&pairs, shell).map_err(|why| format!("the service '{name}': {why}"))
}

/// Returns the parameters of a service of libpq: in the user's file, or else in the system's.
pub(super) fn pairs_of_service(name: &str, shell: &Shell) -> Result<Pairs, String> {
    let home = variable(shell, "HOME").map(|home| Path::new(&home).join(".pg_service.conf"));
    let own = variable(shell, "PGSERVICEFILE").map(PathBuf::from).or(home);
    let system = variable(shell, "PGSYSCONFDIR").unwrap_or_else(|| SERVICES_OF_SYSTEM.to_owned());
    let system = Path::new(&system).join("pg_service.conf");
    let files: Vec<PathBuf> = own.into_iter().chain([system]).collect();
    for path in files.iter().filter(|path| path.exists()) {
        if let Some(pairs) = sections(&read(path)?, &|section| section == name) {
            return Ok(pairs);
        }
    }
    let looked: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    Err(format!("there is no service '{name}' in {}", looked.join(" or ")))
}

/// Returns dbdyno's name of a mode of TLS of libpq.
pub(super) fn tls_mode(mode: &str) -> &str {
    match mode {
        "allow" => "prefer",
        other => other,
    }
}

/// Returns a parameter of libpq as an option of a target; `None` if the option may be left out.
pub(super) fn option_of_libpq(name: &str, value: &str) -> Option<(String, String)> {
    let ours = OPTIONS.iter().find(|(known, ..)| *known == name).map_or(name, |row| row.2);
    let value = match (name, value) {
        // No limit, as libpq takes it.
        ("sslrootcert", "system") | ("connect_timeout", "0") => return None,
        ("sslmode", mode) => tls_mode(mode).to_owned(),
        ("connect_timeout", seconds) if seconds.parse::<u64>().is_ok() => format!("{seconds}s"),
        _ => value.to_owned(),
    };
    Some((ours.to_owned(), value))
}

/// Returns the target to which libpq would connect with these parameters, and with the environment
/// for those that are not given. The first one of a name counts.
pub(super) fn of_libpq(pairs: &[(String, String)], shell: &Shell) -> Result<Target, String> {
    let is_known = |name: &str| {
        let is_option = OPTIONS.iter().any(|(known, ..)| *known == name);
        is_option || PLACE.iter().any(|(known, _)| *known == name)
    };
    let is_left_out = |name: &str| LEFT_OUT.iter().any(|known| name.starts_with(known));
    if let Some((name, _)) = pairs.iter().find(|(name, _)| !is_known(name) && !is_left_out(name)) {
        return Err(format!(
            "dbdyno does not know '{name}': name the database by host, port, user and dbname alone"
        ));
    }
    if variable(shell, "PGOPTIONS").is_some() {
        let instead = "unset it, and give the session's settings by session= of a target";
        return Err(format!("PGOPTIONS is set, and dbdyno does not send it: {instead}"));
    }
    let value = |name: &str, of_environment: &str| {
        let given = pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        given.filter(|value| !value.is_empty()).or_else(|| variable(shell, of_environment))
    };
    let [address, host, port, user, database] = PLACE.map(|(name, from)| value(name, from));
    let user =
        user.or_else(|| variable(shell, "USER")).ok_or("it names no user, and USER is not set")?;
    let port = port.unwrap_or_else(|| "5432".to_owned());
    let socket = |folder: &str| format!("{}/.s.PGSQL.{port}", folder.trim_end_matches('/'));
    let host = address.or(host).or_else(|| {
        let there = POSTGRES_SOCKETS.into_iter().find(|folder| Path::new(&socket(folder)).exists());
        there.map(str::to_owned)
    });
    let host = host.unwrap_or_else(|| "localhost".to_owned());
    let mut options = Vec::new();
    let hosts = match host.starts_with('/') {
        true => {
            options.push(("socket".to_owned(), socket(&host)));
            Vec::new()
        }
        false => hosts(&host, &port)?,
    };
    for (name, of_environment, _) in OPTIONS {
        options.extend(value(name, of_environment).and_then(|it| option_of_libpq(name, &it)));
    }
    let path = database.unwrap_or_else(|| user.clone());
    let scheme = "postgres".to_owned();
    let target = Target { scheme, user: Some(user), password: None, hosts, path, options };
    target.refuse_twice(None).map_err(|bad| bad.0)?;
    Ok(target)
}

/// Parses hosts and ports as libpq lists them: one port for all, or one for each.
fn hosts(listed: &str, ports: &str) -> Result<Vec<Host>, String> {
    let (names, ports): (Vec<&str>, Vec<&str>) =
        (listed.split(',').collect(), ports.split(',').collect());
    if ports.len() != 1 && ports.len() != names.len() {
        return Err(format!("{} hosts have {} ports", names.len(), ports.len()));
    }
    let host = |(at, name): (usize, &&str)| {
        let port = ports.get(at).or(ports.first()).copied().unwrap_or_default();
        let number = port.parse::<u16>().ok().filter(|port| *port > 0);
        let port =
            number.ok_or_else(|| format!("the port '{port}' is no number from 1 to 65535"))?;
        if name.is_empty() {
            return Err(format!("one of the hosts '{listed}' is empty"));
        }
        Ok(Host { name: (*name).to_owned(), port: Some(port) })
    };
    names.iter().enumerate().map(host).collect()
}

/// Returns the target of the option file of MySQL's and MariaDB's clients.
fn of_my_cnf(shell: &Shell) -> Result<Target, String> {
    let home = variable(shell, "HOME").ok_or("HOME is not set")?;
    let path = Path::new(&home).join(".my.cnf");
    let of_clients = ["client", "client-server", "client-mariadb", "mysql", "mariadb"];
    let pairs = sections(&read(&path)?, &|section| of_clients.contains(&section));
    let pairs = pairs.unwrap_or_default();
    let target = of_clients_options(&pairs, variable(shell, "USER"));
    target.map_err(|why| format!("{}: {why}", path.display()))
}

fn of_clients_options(pairs: &Pairs, user: Option<String>) -> Result<Target, String> {
    // The last one of a name counts.
    let value = |name: &str| {
        let is_it = |pair: &&(String, String)| pair.0.replace('_', "-") == name;
        let value = pairs.iter().rev().find(is_it)?.1.trim_matches(['"', '\'']);
        (!value.is_empty()).then(|| value.to_owned())
    };
    let user = value("user").or(user).ok_or("it names no user, and USER is not set")?;
    let path = value("database")
        .ok_or("it names no database: write database=NAME in its section [mysql]")?;
    let (host, port) = (value("host"), value("port").unwrap_or_else(|| "3306".to_owned()));
    let is_here = host.as_deref().is_none_or(|host| host == "localhost");
    let usual = || MYSQL_SOCKETS.into_iter().find(|path| Path::new(path).exists());
    let socket = value("socket").or_else(|| usual().map(str::to_owned)).filter(|_| is_here);
    let hosts = match &socket {
        Some(_) => Vec::new(),
        None => hosts(host.as_deref().unwrap_or("localhost"), &port)?,
    };
    let mode = value("ssl-mode").map(|mode| match mode.to_ascii_lowercase().as_str() {
        "disabled" => "disable".to_owned(),
        "preferred" => "prefer".to_owned(),
        "required" => "require".to_owned(),
        "verify_identity" => "verify-full".to_owned(),
        other => other.replace('_', "-"),
    });
    let files =
        ["ca", "cert", "key"].map(|name| (format!("tls_{name}"), value(&format!("ssl-{name}"))));
    let named = [("socket".to_owned(), socket), ("tls".to_owned(), mode)].into_iter().chain(files);
    let options = named.filter_map(|(name, value)| Some((name, value?))).collect();
    let scheme = "mariadb".to_owned();
    Ok(Target { scheme, user: Some(user), password: None, hosts, path, options })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(variables: &[(&'static str, &'static str)]) -> Shell {
        let variables = variables.to_vec();
        let variable = move |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Shell::new(std::io::sink(), std::io::sink(), variable)
    }

    #[test]
    fn a_service_and_the_environment_name_a_target_as_libpq_reads_them() {
        let text = "# mine\n[other]\nhost=no\n[bench]\nhost=db1,db2\nport=5433\nuser=me\n\
                    sslmode=verify-full\nsslrootcert=ca.pem\npassword=x\nconnect_timeout=3\n";
        let pairs = sections(text, &|section| section == "bench").expect("it is there");
        let read = |variables: &[_]| of_libpq(&pairs, &shell(variables)).expect("a target");
        let expect = "postgres://me@db1:5433,db2:5433/me?tls=verify-full&tls_ca=ca.pem&\
                      connect_timeout=3s";
        assert_eq!(read(&[("PGHOST", "elsewhere")]).to_string(), expect);
        assert_eq!(read(&[("PGDATABASE", "shop")]).path, "shop");
        assert!(sections(text, &|section| section == "none").is_none());
        let of =
            |variables: &[_]| of_libpq(&[], &shell(variables)).map(|target| target.to_string());
        let here = [("PGHOST", "/run/x"), ("PGUSER", "me"), ("PGPORT", "5433")];
        let expect = "postgres://me@/me?socket=/run/x/.s.PGSQL.5433";
        assert_eq!(of(&here).expect("a target"), expect);
        let odd = vec![("target_session_attrs".to_owned(), "any".to_owned())];
        let why = of_libpq(&odd, &shell(&[])).expect_err("it is not known");
        assert!(why.starts_with("dbdyno does not know 'target_session_attrs'"), "{why}");
        let why = of(&[("PGHOST", "a,b"), ("PGPORT", "1,2,3"), ("PGUSER", "me")]);
        assert_eq!(why.expect_err("ports are missing"), "2 hosts have 3 ports");
    }

    #[test]
    fn an_option_file_names_a_target_as_clients_read_it() {
        let text = "[mysqld]\nport=1\n[client]\nhost = db1\nport=3307\nuser = \"me\"\n\
                    ssl_ca=ca.pem\nssl-mode=VERIFY_CA\n!include x\n[mysql]\ndatabase=shop\n";
        let wanted = |section: &str| ["client", "mysql"].contains(&section);
        let pairs = sections(text, &wanted).expect("it is there");
        let target = of_clients_options(&pairs, None).expect("a target").to_string();
        assert_eq!(target, "mariadb://me@db1:3307/shop?tls=verify-ca&tls_ca=ca.pem");
        let socket = vec![
            ("socket".to_owned(), "/x.sock".to_owned()),
            ("database".to_owned(), "shop".to_owned()),
        ];
        let target = of_clients_options(&socket, Some("os".to_owned())).expect("a target");
        assert_eq!(target.to_string(), "mariadb://os@/shop?socket=/x.sock");
        let why = of_clients_options(&Vec::new(), Some("os".to_owned())).expect_err("none");
        assert!(why.starts_with("it names no database: write database=NAME"), "{why}");
    }
}
