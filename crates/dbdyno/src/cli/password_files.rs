//! Passwords where other programs keep them: libpq's password file and variable, and the option
//! file and variable of MySQL's clients. They are read only if the user asks.
//!
//! Not here: dbdyno's own sources (`password`).

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use app::Error;
use model::{Choice, Target, choice};

use crate::shell::Shell;

/// Maximum bytes of a file with passwords; a longer one is taken for a mistake.
const BYTES_MAX: u64 = 1 << 20;

/// A place where another program keeps the passwords of its databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PasswordFrom {
    /// libpq's password file: PGPASSFILE, or `~/.pgpass`.
    Pgpass,
    /// The environment variable PGPASSWORD.
    Pgpassword,
    /// The option file of MySQL's and MariaDB's clients, `~/.my.cnf`.
    MyCnf,
    /// The environment variable MYSQL_PWD.
    MysqlPwd,
}

choice!(PasswordFrom {
    Pgpass = "pgpass",
    Pgpassword = "PGPASSWORD",
    MyCnf = "my.cnf",
    MysqlPwd = "MYSQL_PWD",
});

impl PasswordFrom {
    /// Reads the password of a target. Fails with the remedy if there is none.
    pub(crate) fn read(self, target: &Target, shell: &Shell) -> Result<String, Error> {
        let name = self.name();
        let none = |why: &str| Error::Usage(format!("--password-from {name}: {why}"));
        match self {
            PasswordFrom::Pgpassword | PasswordFrom::MysqlPwd => {
                shell.variable(name).ok_or_else(|| none("this variable is not set"))
            }
            PasswordFrom::Pgpass => {
                let path = pgpass_path(shell).ok_or_else(|| none("HOME is not set"))?;
                of_pgpass(target, &path)
                    .map_err(|why| none(&why))?
                    .ok_or_else(|| none(&format!("{} has no line for {target}", path.display())))
            }
            PasswordFrom::MyCnf => {
                let home = shell.variable("HOME").ok_or_else(|| none("HOME is not set"))?;
                let path = Path::new(&home).join(".my.cnf");
                let text = read_private(&path).map_err(|why| none(&why))?;
                my_cnf_password(&text)
                    .ok_or_else(|| none(&format!("{} has no password in [client]", path.display())))
            }
        }
    }
}

/// Returns the path of libpq's password file; `None` if there is no home folder.
pub(crate) fn pgpass_path(shell: &Shell) -> Option<PathBuf> {
    let named = shell.variable("PGPASSFILE").map(PathBuf::from);
    named.or_else(|| shell.variable("HOME").map(|home| Path::new(&home).join(".pgpass")))
}

/// Returns the password of a target in libpq's password file; `None` if no line is about the
/// target. Fails with the reason if the file cannot be read, or others may read it.
pub(crate) fn of_pgpass(target: &Target, path: &Path) -> Result<Option<String>, String> {
    let text = read_private(path)?;
    let user = target.user.clone().unwrap_or_default();
    let database = match target.path.trim_start_matches('/') {
        "" => user.as_str(),
        name => name,
    };
    let host = target.hosts.first();
    // libpq looks up `localhost` for sockets.
    let name = host.map(|host| host.name.as_str()).filter(|name| !name.starts_with('/'));
    let port = host.and_then(|host| host.port).unwrap_or(5432).to_string();
    let asked = [name.unwrap_or("localhost"), &port, database, &user];
    Ok(text.lines().find_map(|line| password_of(line, &asked)))
}

/// Reads a file that only its owner may read.
fn read_private(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let there = std::fs::metadata(path).map_err(|error| format!("{shown}: {error}"))?;
    if there.permissions().mode() & 0o077 != 0 {
        return Err(format!("others may read {shown}: chmod 600 {shown}"));
    }
    files::read_text(path, BYTES_MAX).map_err(|error| format!("{shown}: {error}"))
}

/// Returns the password of a line `host:port:database:user:password` if it is about `asked`.
fn password_of(line: &str, asked: &[&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        // A password may have colons.
        if letter == ':' && fields.len() < 5 {
            fields.push(String::new());
            continue;
        }
        let last = fields.last_mut().expect("it begins with one");
        match letter {
            '\\' => last.extend(letters.next()),
            other => last.push(other),
        }
    }
    let [of @ .., password] = fields.as_slice() else { return None };
    let is_it = of.len() == 4 && of.iter().zip(asked).all(|(of, asked)| of == "*" || of == asked);
    (is_it && !password.is_empty()).then(|| password.clone())
}

/// Returns the password in the sections of an option file that all clients read.
fn my_cnf_password(text: &str) -> Option<String> {
    let mut is_of_clients = false;
    let mut password = None;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']').trim();
            is_of_clients = ["client", "client-server", "client-mariadb"].contains(&section);
            continue;
        }
        if !is_of_clients || line.starts_with(['#', ';']) {
            continue;
        }
        let Some((name, value)) = line.split_once('=') else { continue };
        if name.trim() != "password" {
            continue;
        }
        let value = value.trim();
        let quoted = |quote: char| value.strip_prefix(quote)?.split(quote).next();
        let plain = || value.split(" #").next().unwrap_or(value).trim_end();
        // The last one counts.
        password = Some(quoted('"').or_else(|| quoted('\'')).unwrap_or_else(plain).to_owned());
    }
    password.filter(|password| !password.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_pgpass_is_about_what_it_names() {
        let asked = ["db", "5432", "bench", "me"];
        let check = |line: &str, expect: Option<&str>| {
            assert_eq!(password_of(line, &asked).as_deref(), expect, "{line}");
        };
        check("db:5432:bench:me:secret", Some("secret"));
        check("*:*:*:me:a:b\\:c", Some("a:b:c"));
        check("# db:5432:bench:me:secret", None);
        check("db:5433:bench:me:secret", None);
        check("db:5432:bench:me:", None);
        check("db:5432", None);
    }

    #[test]
    fn an_option_file_has_the_password_in_the_sections_of_clients() {
        let text = "[mysqld]\npassword=no\n[client]\nuser = me\npassword = \"a b\" # why\n";
        assert_eq!(my_cnf_password(text).as_deref(), Some("a b"));
        let text = "[client]\npassword=plain # note\n[client-mariadb]\npassword='last'\n";
        assert_eq!(my_cnf_password(text).as_deref(), Some("last"));
        assert_eq!(my_cnf_password("[client]\nuser=me\n"), None);
        assert_eq!(my_cnf_password("[client]\npassword=x#y\n").as_deref(), Some("x#y"));
    }
}
