//! Servers under test, and Debian's command-line clients for them, which share no code with dbdyno.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use model::{Secret, Target};
use servers::{Kind, Options, Server, for_tests};
use tempfile::TempDir;

/// Creates a parent folder for servers, which any user may enter.
pub(crate) fn parent() -> TempDir {
    let folder = tempfile::Builder::new().prefix("it").tempdir().expect("a folder");
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("opened");
    folder
}

/// Returns options for a small server in `folder`, of the version that Debian packages.
pub(crate) fn small(kind: Kind, folder: &Path) -> Options {
    let settings: &[(&str, &str)] = match kind {
        Kind::Postgres => &[("shared_buffers", "16MB"), ("max_connections", "50")],
        Kind::MariaDb | Kind::MySql => {
            &[("innodb_log_file_size", "10M"), ("innodb_buffer_pool_size", "16M")]
        }
    };
    let settings = settings.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    Options { folder: Some(folder.to_owned()), settings: settings.collect(), ..Options::default() }
}

/// Starts a small server of the version that Debian packages. Panics if it is not installed; the
/// message says how to install it.
pub(crate) fn start_small(kind: Kind, folder: &Path) -> Server {
    for_tests::start(kind, &small(kind, folder)).unwrap_or_else(|error| panic!("{error}"))
}

/// Executes a query over TCP with Debian's client, and returns the result as text.
pub(crate) fn ask(server: &Server, sql: &str) -> String {
    answer(run(server.kind(), &server.target(), sql))
}

pub(crate) fn answer(output: Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the client says: {error}");
    String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
}

/// Executes SQL on a target with Debian's client, and returns the client's output.
pub(crate) fn run(kind: Kind, target: &Target, sql: &str) -> Output {
    let output = command(kind, target, sql).output();
    output.expect("Debian's mariadb-client and postgresql-client are installed")
}

pub(crate) fn command(kind: Kind, target: &Target, sql: &str) -> Command {
    let socket = target.option("socket");
    let port = target.hosts[0].port.expect("a port").to_string();
    let user = target.user.as_deref().expect("a user");
    let password = target.password.as_ref().map_or("", Secret::reveal);
    let mut command;
    if kind == Kind::Postgres {
        let folder = socket.map(|path| Path::new(path).parent().expect("in a folder"));
        command = Command::new("psql");
        command.arg("-h").arg(folder.unwrap_or(Path::new("127.0.0.1"))).env("PGPASSWORD", password);
        command.args(["-X", "-w", "-p", &port, "-U", user, "-d", &target.path, "-Atc", sql]);
    } else {
        command = Command::new("mariadb");
        command.arg("--no-defaults").env("MYSQL_PWD", password);
        match socket {
            Some(path) => command.arg(format!("--socket={path}")),
            None => command.args(["--protocol=tcp", "--host=127.0.0.1", "--port", &port]),
        };
        command.args(["-u", user, "-D", &target.path, "-N", "-B", "-e", sql]);
    }
    command
}
