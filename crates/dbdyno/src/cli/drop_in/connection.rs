//! The database that the options of a PostgreSQL program name: options, a connection string or URL,
//! and the environment variables of libpq.
//!
//! Not here: options of dbdyno's own targets.

use app::Error;
use model::{Secret, Target};

use crate::cli::password_files::{of_pgpass, pgpass_path};
use crate::shell::Shell;

/// Directories in which PostgreSQL's packages have their sockets, the most common first.
const SOCKETS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

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
            return with_password(plan_target(&url)?, shell);
        }
        let mut options = Vec::new();
        if let Some(words) = self.database.clone().filter(|text| text.contains('=')) {
            self.database = None;
            for (name, value) in conninfo(&words)? {
                match name.as_str() {
                    "host" | "hostaddr" => self.host = Some(value),
                    "port" => self.port = Some(value),
                    "user" => self.user = Some(value),
                    "dbname" => self.database = Some(value),
                    "sslmode" | "application_name" | "connect_timeout" => {
                        options.push((name, value));
                    }
                    other => {
                        return Err(Error::Usage(format!(
                            "the connection string has '{other}', which dbdyno does not know: \
                             leave it out"
                        )));
                    }
                }
            }
        }
        let variable = |name: &str| shell.variable(name).filter(|value| !value.is_empty());
        let user = self.user.or_else(|| variable("PGUSER")).or_else(|| variable("USER"));
        let user = user.unwrap_or_else(|| "postgres".to_owned());
        let port = self.port.or_else(|| variable("PGPORT")).unwrap_or_else(|| "5432".to_owned());
        let database = self.database.or_else(|| variable("PGDATABASE"));
        let database = database.unwrap_or_else(|| user.clone());
        let host = self.host.or_else(|| variable("PGHOST")).or_else(|| {
            let socket = |folder: &&&str| {
                std::path::Path::new(&format!("{folder}/.s.PGSQL.{port}")).exists()
            };
            SOCKETS.iter().find(socket).map(|folder| (**folder).to_owned())
        });
        let host = host.unwrap_or_else(|| "localhost".to_owned());
        let encoded = |text: &str| encoded(text);
        let mut url = match host.starts_with('/') {
            true => format!(
                "postgres://{}@/{}?socket={}",
                encoded(&user),
                encoded(&database),
                encoded(&format!("{host}/.s.PGSQL.{port}"))
            ),
            false => format!("postgres://{}@{host}:{port}/{}", encoded(&user), encoded(&database)),
        };
        for (name, value) in options {
            let separator = if url.contains('?') { '&' } else { '?' };
            match name.as_str() {
                "sslmode" => url += &format!("{separator}tls={}", tls_of(&value)),
                "connect_timeout" => url += &format!("{separator}connect_timeout={value}s"),
                _ => url += &format!("{separator}{name}={}", encoded(&value)),
            }
        }
        with_password(plan_target(&url)?, shell)
    }
}

fn plan_target(url: &str) -> Result<Target, Error> {
    Target::parse(url).map_err(|bad| Error::Usage(bad.0))
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

/// Returns dbdyno's name of a mode of TLS.
fn tls_of(mode: &str) -> &str {
    match mode {
        "allow" => "prefer",
        other => other,
    }
}

/// Reads a connection string: `host=localhost dbname='my db'`.
fn conninfo(text: &str) -> Result<Vec<(String, String)>, Error> {
    let bad = |why: &str| Error::Usage(format!("the connection string '{text}' {why}"));
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

/// Encodes a text for a URL.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    text.bytes().map(byte).collect()
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
}
