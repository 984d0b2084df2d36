//! Private servers of MariaDB and MySQL: initial data, command line, readiness probe.
//!
//! The data are created as `mariadb-install-db` does, from the same scripts, but the server itself
//! reads them, which works for every package layout. Help texts, the `sys` schema and the accounts
//! of those scripts are left out, so that no anonymous user hides dbdyno's user and no root lacks a
//! password.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::plain_setting;

use crate::credentials::{DATABASE, USER};
use crate::instance::Instance;
use crate::options::Setting;
use crate::program::Program;
use crate::{Kind, ServerError, ServerErrorKind, galera};

/// Folders, relative to the server's installation folder, that may contain the server's error
/// messages and SQL scripts.
const SHARES: &[&str] = &["share", "share/mysql", "share/mariadb"];

/// Prefixes of settings that must be in force while the initial data are created, since they
/// determine the format, encryption or character set of the files.
const SHAPING: &[&str] = &[
    "aria_",
    "character_set_server",
    "collation_server",
    "early_plugin_load",
    "file_key_management",
    "innodb_",
    "keyring",
    "lower_case_table_names",
    "plugin_",
    "table_encryption",
];

/// Settings that match a prefix in [`SHAPING`] but must not be set while the initial data are
/// created, since they would restrict the statements that create system tables.
const RESTRICTING: &[&str] = &[
    "innodb_force_primary_key",
    "innodb_force_recovery",
    "innodb_read_only",
    "innodb_read_only_compressed",
    "innodb_strict_mode",
];

/// Time limit of one readiness probe, which waits for the server's greeting. A server that accepts
/// connections sends the greeting at once; otherwise the probe is repeated.
const GREETING_LIMIT: Duration = Duration::from_secs(1);

/// Parses the version from `shown`, the output of `--version`, such as `mariadbd  Ver
/// 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64`. Fails if the program belongs to
/// another product than `kind`; `exe` is its path, for the error.
pub(crate) fn version(kind: Kind, exe: &Path, shown: &str) -> Result<String, ServerError> {
    let not = |what: &str, remedy: &str| {
        let text = format!("{} is {what}: {remedy}", exe.display());
        ServerError::new(ServerErrorKind::NotInstalled, text)
    };
    let mut words = shown.split_whitespace().skip_while(|word| *word != "Ver").skip(1);
    let Some(version) = words.next() else {
        return Err(not("neither MariaDB nor MySQL", "name the server's folder with ?bin="));
    };
    match (kind, version.contains("MariaDB") || shown.contains("MariaDB")) {
        (Kind::MySql, true) => {
            Err(not("MariaDB", "write managed:mariadb, or name MySQL's folder with ?bin="))
        }
        (Kind::MariaDb, false) => {
            Err(not("MySQL", "write managed:mysql, or name MariaDB's folder with ?bin="))
        }
        _ => Ok(version.to_owned()),
    }
}

pub(crate) fn socket(dir: &Path) -> PathBuf {
    dir.join("run/mysqld.sock")
}

/// Returns the command-line arguments for the server's folders, socket, port and account, and
/// against reading option files.
fn place(server: &Instance) -> Vec<OsString> {
    let dir = server.folder();
    let path = |name: &str, path: PathBuf| {
        let mut argument = OsString::from(name);
        argument.push(path);
        argument
    };
    // `--no-defaults` must be the first argument; no file of the system is read.
    let mut arguments = vec![OsString::from("--no-defaults")];
    if !server.program.is_of_system() {
        arguments.push(path("--basedir=", server.program.base.clone()));
        arguments.extend(share(&server.program).map(|at| path("--lc-messages-dir=", at)));
    }
    arguments.push(path("--datadir=", dir.join("data")));
    arguments.push(path("--tmpdir=", dir.join("tmp")));
    arguments.push(path("--socket=", socket(dir)));
    arguments.push(path("--pid-file=", dir.join("run/mysqld.pid")));
    arguments.push(OsString::from(format!("--port={}", server.port.number())));
    arguments.push(OsString::from("--bind-address=127.0.0.1"));
    if server.runs_as_root() {
        arguments.push(OsString::from("--user=root"));
    }
    arguments
}

/// Returns the command-line arguments with which the server starts, without `--init-file`, which
/// only the first start needs.
pub(crate) fn arguments(server: &Instance) -> Vec<OsString> {
    let settings = &server.settings;
    let mut arguments = place(server);
    // A node's options come first, so that the user's override them.
    arguments
        .extend(server.member.as_ref().into_iter().flat_map(|member| member.arguments(settings)));
    let is_said = |setting: &&Setting| {
        server.member.as_ref().is_some() && galera::is_provider_options(&setting.name)
    };
    arguments.extend(settings.iter().filter(|setting| !is_said(setting)).map(argument));
    arguments
}

/// Formats a server setting as a command-line argument. A default of dbdyno gets the prefix
/// `loose_`, so that a version without this setting ignores it.
fn argument(setting: &Setting) -> OsString {
    let loose = if setting.is_default { "loose_" } else { "" };
    OsString::from(format!("--{loose}{}={}", setting.name, setting.value))
}

/// Returns the settings that are in force while the initial data are created: dbdyno's defaults,
/// and the user's settings that determine the format of the files. With other settings, the
/// statements that create the system tables may fail.
pub(crate) fn making_data(server: &Instance) -> impl Iterator<Item = &Setting> {
    server.settings.iter().filter(|setting| setting.is_default || shapes_data(&setting.name))
}

fn shapes_data(name: &str) -> bool {
    let name = plain_setting(name);
    let name = name.strip_prefix("loose_").unwrap_or(&name);
    SHAPING.iter().any(|start| name.starts_with(start)) && !RESTRICTING.contains(&name)
}

/// Creates the initial data with the system tables. dbdyno's database and user are created by the
/// SQL of [`first_words`] when the server first starts.
pub(crate) fn prepare(server: &Instance) -> Result<(), ServerError> {
    let scripts = share(&server.program).map(|share| scripts(&share)).unwrap_or_default();
    if scripts.is_empty() && server.kind == Kind::MariaDb {
        let text = format!(
            "there is no mysql_system_tables.sql below {}: name the folder of a complete MariaDB \
             with ?bin=",
            server.program.base.join("share").display()
        );
        return Err(ServerError::new(ServerErrorKind::NotInstalled, text));
    }
    let mut command = server.command(&server.program.exe);
    command.args(place(server));
    command.args(making_data(server).map(argument));
    if scripts.is_empty() {
        // MySQL 5.7 and later.
        command.arg("--initialize-insecure");
        return server.run_to_end("creating the data directory", command, b"");
    }
    command.arg("--bootstrap");
    if server.kind == Kind::MariaDb {
        // The scripts choose the engine of each table.
        command.arg("--enforce-storage-engine=");
    }
    let mut sql = b"create database mysql;\nuse mysql;\n".to_vec();
    for script in scripts {
        let text =
            fs::read(&script).map_err(|error| ServerError::system(script.display(), error))?;
        sql.extend(text);
        sql.push(b'\n');
    }
    server.run_to_end("creating the data directory", command, &sql)
}

/// Returns the SQL, one statement per line, that creates dbdyno's database and user when the server
/// first starts.
pub(crate) fn first_words(server: &Instance) -> String {
    let password = server.password.reveal();
    assert!(password.bytes().all(|byte| byte.is_ascii_alphanumeric()), "needs no quoting");
    let mut sql = format!(
        "CREATE DATABASE {DATABASE};\n\
         CREATE USER '{USER}'@'%' IDENTIFIED BY '{password}';\n\
         GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'%' WITH GRANT OPTION;\n"
    );
    let made_root = server.kind == Kind::MySql
        && share(&server.program).is_none_or(|share| scripts(&share).is_empty());
    if made_root {
        sql.push_str(&format!("ALTER USER 'root'@'localhost' IDENTIFIED BY '{password}';\n"));
    }
    sql
}

/// Whether the server in the folder `dir` accepts connections: it sends a greeting, a packet whose
/// first byte is the protocol version, 10 (255 would be an error).
pub(crate) fn greets(dir: &Path) -> io::Result<bool> {
    let mut stream = UnixStream::connect(socket(dir))?;
    stream.set_read_timeout(Some(GREETING_LIMIT))?;
    let mut start = [0u8; 5];
    stream.read_exact(&mut start)?;
    Ok(start[4] == 10)
}

fn share(program: &Program) -> Option<PathBuf> {
    let all = SHARES.iter().map(|share| program.base.join(share));
    all.into_iter().find(|share| share.join("english/errmsg.sys").is_file())
}

fn scripts(share: &Path) -> Vec<PathBuf> {
    for product in ["mariadb", "mysql"] {
        let tables = share.join(format!("{product}_system_tables.sql"));
        let more = share.join(format!("{product}_performance_tables.sql"));
        if tables.is_file() {
            return std::iter::once(tables).chain(more.is_file().then_some(more)).collect();
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_that_shape_the_files_are_used_to_make_them() {
        for name in ["innodb_page_size", "Lower-case-table-names", "loose_innodb-undo-tablespaces"]
        {
            assert!(shapes_data(name), "{name}");
        }
        for name in ["max_prepared_stmt_count", "innodb_force_primary_key", "sql_mode", "wsrep_on"]
        {
            assert!(!shapes_data(name), "{name}");
        }
    }

    #[test]
    fn a_program_tells_which_product_it_is() {
        let shown = "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64";
        let mysql = "/x/mysqld  Ver 5.6.24 for linux-glibc2.5 on x86_64 (MySQL Community Server)";
        let version = |kind, shown| version(kind, Path::new("/x/mysqld"), shown);
        assert_eq!(version(Kind::MariaDb, shown).as_deref(), Ok("10.11.19-MariaDB-0+deb12u1"));
        assert_eq!(version(Kind::MySql, mysql).as_deref(), Ok("5.6.24"));
        let check = |kind, shown, expect: &str| {
            let error = version(kind, shown).expect_err("another product");
            assert!(error.text.contains(expect), "{error}");
        };
        check(Kind::MySql, shown, "/x/mysqld is MariaDB: write managed:mariadb");
        check(Kind::MariaDb, mysql, "/x/mysqld is MySQL: write managed:mysql");
        check(Kind::MariaDb, "hello", "is neither MariaDB nor MySQL");
    }
}
