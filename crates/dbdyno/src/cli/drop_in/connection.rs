//! The database that the options of another program name. For programs of PostgreSQL these are
//! options, a connection string or URL, and the environment variables of libpq.
//!
//! Not here: options of dbdyno's own targets.

use app::Error;
use model::{Host, Secret, Target};

use crate::cli::password_files::{of_pgpass, pgpass_path};
use crate::cli::target_from::{of_libpq, option_of_libpq, pairs_of_service};
use crate::shell::Shell;

/// A server and a database as a program is given them: texts as they are, and not parts of a URL.
#[derive(Clone, Debug, Default)]
pub(super) struct Place<'a> {
    scheme: &'a str,
    user: &'a str,
    database: &'a str,
    hosts: Vec<Host>,
    pub(super) socket: Option<String>,
    options: Vec<(String, String)>,
}

impl<'a> Place<'a> {
    pub(super) fn new(scheme: &'a str, user: &'a str, database: &'a str) -> Place<'a> {
        Place { scheme, user, database, ..Place::default() }
    }

    /// Takes hosts and ports with commas between them: each host has each port, and the folder of a
    /// socket may stand in place of the hosts.
    pub(super) fn set_hosts(&mut self, hosts: &str, ports: &str) -> Result<(), Error> {
        if hosts.starts_with('/') {
            self.socket = Some(format!("{}/.s.PGSQL.{ports}", hosts.trim_end_matches('/')));
            return Ok(());
        }
        for name in hosts.split(',') {
            for port in ports.split(',') {
                let port = port.parse::<u16>().ok().filter(|port| *port > 0);
                let port = port.ok_or_else(|| {
                    Error::Usage(format!("the port '{ports}' is no number from 1 to 65535"))
                })?;
                if name.is_empty() {
                    return Err(Error::Usage(format!("one of the hosts '{hosts}' is empty")));
                }
                self.hosts.push(Host { name: name.to_owned(), port: Some(port) });
            }
        }
        Ok(())
    }

    pub(super) fn option(&mut self, name: &str, value: &str) {
        self.options.push((name.to_owned(), value.to_owned()));
    }

    /// Returns the target.
    ///
    /// # Errors
    ///
    /// A host that is named twice.
    pub(super) fn target(self) -> Result<Target, Error> {
        let mut target = Target::of_parts(self.scheme, self.database);
        target.user = Some(self.user.to_owned());
        target.hosts = self.hosts;
        target.options.extend(self.socket.map(|path| ("socket".to_owned(), path)));
        target.options.extend(self.options);
        target.refuse_twice(None).map_err(|bad| Error::Usage(bad.0))?;
        Ok(target)
    }
}

/// What options say of a connection; `None` where they do not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Connection {
    pub(super) host: Option<String>,
    pub(super) port: Option<String>,
    pub(super) user: Option<String>,
    pub(super) database: Option<String>,
}

impl Connection {
    /// Returns the target that libpq would connect to.
    ///
    /// # Errors
    ///
    /// A connection string that cannot be read, or a target that no driver takes.
    pub(super) fn target(mut self, shell: &Shell) -> Result<Target, Error> {
        // A connection string or a URL may stand in place of the database's name.
        if let Some(url) = self.database.clone().filter(|text| text.contains("://")) {
            let url = url.replacen("postgresql://", "postgres://", 1);
            let mut target = Target::parse(&url).map_err(|bad| Error::Usage(bad.0))?;
            let options = std::mem::take(&mut target.options);
            let options = options.iter().filter_map(|(name, value)| option_of_libpq(name, value));
            target.options.extend(options);
            return with_password(target, shell);
        }
        let words = self.database.take_if(|text| text.contains('='));
        let mut pairs = words.map(|words| conninfo(&words)).transpose()?.unwrap_or_default();
        let flags = [
            ("host", self.host),
            ("port", self.port),
            ("user", self.user),
            ("dbname", self.database),
        ];
        pairs.extend(flags.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?))));
        let service = pairs.iter().position(|(name, _)| name == "service");
        let service = service.map(|at| pairs.remove(at).1).or_else(|| shell.variable("PGSERVICE"));
        if let Some(service) = service.filter(|name| !name.is_empty()) {
            pairs.extend(pairs_of_service(&service, shell).map_err(Error::Usage)?);
        }
        let is_named = pairs.iter().any(|(name, _)| name == "user");
        if !is_named
            && ["PGUSER", "USER"]
                .iter()
                .all(|name| shell.variable(name).is_none_or(|it| it.is_empty()))
        {
            pairs.push(("user".to_owned(), "postgres".to_owned()));
        }
        let mut target = of_libpq(&pairs, shell).map_err(Error::Usage)?;
        let password = pairs.into_iter().find(|(name, _)| name == "password");
        target.password = password.map(|(_, password)| Secret::new(password));
        with_password(target, shell)
    }
}

/// Takes the password from PGPASSWORD or from the password file, as libpq does, if the target has
/// none.
fn with_password(mut target: Target, shell: &Shell) -> Result<Target, Error> {
    if target.password.is_none() {
        target.password = shell.variable("PGPASSWORD").map(Secret::new);
    }
    let path = pgpass_path(shell).filter(|path| path.exists());
    if let Some(path) = path.filter(|_| target.password.is_none()) {
        let found = of_pgpass(&target, &path).map_err(Error::Usage)?;
        target.password = found.map(Secret::new);
    }
    Ok(target)
}

/// Reads a connection string: `host=localhost dbname='my db'`.
fn conninfo(text: &str) -> Result<Vec<(String, String)>, Error> {
    // The text may have a password in it.
    let bad = |why: &str| Error::Usage(format!("the connection string {why}"));
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=').ok_or_else(|| bad("lacks a '='"))?;
        let after = after.trim_start();
        let mut value = String::new();
        let mut letters = after.char_indices().peekable();
        let is_quoted = after.starts_with('\'');
        if is_quoted {
            letters.next();
        }
        let mut end = after.len();
        let mut is_closed = !is_quoted;
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
                '\'' if is_quoted => {
                    (end, is_closed) = (at + 1, true);
                    break;
                }
                letter if letter.is_whitespace() && !is_quoted => {
                    end = at;
                    break;
                }
                letter => value.push(letter),
            }
        }
        if !is_closed {
            return Err(bad("has no closing quote"));
        }
        pairs.push((name.trim().to_owned(), value));
        rest = after[end..].trim_start();
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_string_has_pairs_with_quoted_values() {
        let pairs = conninfo("host=db dbname = 'my \\'db' user=me").expect("it is one");
        let expect = [("host", "db"), ("dbname", "my 'db"), ("user", "me")];
        let pairs: Vec<(&str, &str)> =
            pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(pairs, expect);
        assert!(conninfo("host='db").is_err());
        assert!(conninfo("host").is_err());
    }

    #[test]
    fn a_variable_that_would_change_the_session_is_refused() {
        let value = |name: &str| (name == "PGOPTIONS").then(|| "-c work_mem=8MB".to_owned());
        let shell = Shell::new(std::io::sink(), std::io::sink(), value);
        let refused = Connection::default().target(&shell).expect_err("it is refused");
        assert!(refused.to_string().contains("PGOPTIONS is set"), "{refused}");
    }

    #[test]
    fn a_service_gives_what_the_options_do_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("services");
        let text = "[mine]\nhost=db7\nport=7\ndbname=theirs\nuser=me\npassword=s\n";
        std::fs::write(&file, text).expect("it is written");
        let file = file.display().to_string();
        let check = |service: Option<&str>, database: Option<&str>| {
            let (file, service) = (file.clone(), service.map(str::to_owned));
            let value = move |name: &str| match name {
                "PGSERVICEFILE" => Some(file.clone()),
                "PGSERVICE" => service.clone(),
                _ => None,
            };
            let shell = Shell::new(std::io::sink(), std::io::sink(), value);
            let database = database.map(str::to_owned);
            Connection { database, ..Connection::default() }.target(&shell)
        };
        for (service, database) in [(Some("mine"), Some("ours")), (None, Some("service=mine"))] {
            let target = check(service, database).expect("a target");
            let path = if service.is_some() { "ours" } else { "theirs" };
            assert_eq!(target.to_string(), format!("postgres://me@db7:7/{path}"));
            assert_eq!(target.password.as_ref().map(Secret::reveal), Some("s"));
        }
        assert!(check(Some("yours"), None).expect_err("none").to_string().contains("'yours'"));
    }

    #[test]
    fn the_target_has_the_texts_as_they_are() {
        let check = |database: &str, expect: &str, password: Option<&str>| {
            let database = Some(database.to_owned());
            let user = Some("me@home".to_owned());
            let host = Some("db".to_owned());
            let connection = Connection { user, host, database, ..Connection::default() };
            let target = connection.target(&Shell::of_process()).expect("a target");
            assert_eq!(target.to_string(), expect);
            let known = target.password.as_ref().map(Secret::reveal);
            assert_eq!(known.filter(|_| password.is_some()), password);
        };
        check("a?b", "postgres://me%40home@db:5432/a%3Fb", None);
        let words = "host=/run/pg user=x:y dbname=d password='p/%@w' sslmode=allow";
        check(words, "postgres://x%3Ay@/d?socket=/run/pg/.s.PGSQL.5432&tls=prefer", Some("p/%@w"));
        let url = "postgresql://u:p%40w@h/d?sslmode=require&connect_timeout=3";
        check(url, "postgres://u@h/d?tls=require&connect_timeout=3s", Some("p@w"));
    }
}
