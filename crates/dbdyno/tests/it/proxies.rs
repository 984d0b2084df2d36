//! Tests of clients with keying and think times behind a proxy and a pooler: all clients are
//! connected, and the report also has the server's own count.
//!
//! Not here: effects of a pooler on statements (the driver's tests).

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use model::{Host, Target};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use servers::Server;
use servers::for_tests::{MARIADB, POSTGRES};
use tempfile::TempDir;

use crate::home::{Home, at, number};
use crate::journey::nothing_is_lost;
use crate::real::with_password;

/// Number of clients, more than the connections that PgBouncer may open to the server.
const CLIENTS: u32 = 60;
/// Maximum number of connections that PgBouncer may hold to the server.
const POOL: u32 = 4;

/// Proxy or pooler between dbdyno and a server. Dropping this value ends the program and removes
/// its folder.
pub(crate) struct Between {
    child: Child,
    port: u16,
    folder: TempDir,
}

impl Between {
    /// Starts a program with `args` and the path of its settings file, which `settings` makes from
    /// port and folder. The program is ready once it has printed a line that contains `up`.
    fn start(
        program: &str,
        package: &str,
        args: &[&str],
        up: &str,
        settings: impl FnOnce(u16, &str) -> String,
    ) -> Between {
        let folder = tempfile::tempdir().expect("a folder");
        let port = free_port();
        let path = folder.path().to_str().expect("UTF-8");
        let file = folder.path().join("settings");
        fs::write(&file, settings(port, path)).expect("written");
        // The proxy does not run as root, and must read its files as another user.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).expect("opened");
        let mut command = Command::new(program);
        command.args(args).arg(&file).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| {
            panic!("{program}: {error}; this test needs it: apt-get install {package}")
        });
        let mut said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let mut heard = String::new();
        let is_up = said.by_ref().map_while(Result::ok).any(|line| {
            heard.push_str(&line);
            line.contains(up)
        });
        assert!(is_up, "{program} does not start: {heard}");
        // The proxy would block if its output were not read.
        std::thread::spawn(move || said.map_while(Result::ok).for_each(drop));
        Between { child, port, folder }
    }

    /// Starts HAProxy with settings that are made from port and folder.
    pub(crate) fn haproxy(settings: impl FnOnce(u16, &str) -> String) -> Between {
        let args = ["-W", "-db", "-f"];
        Between::start("/usr/sbin/haproxy", "haproxy", &args, "Loading success", settings)
    }

    /// Returns the port of this machine at which the program listens.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the path of a file in the program's folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the URL with password of the server behind the program.
    fn target(&self, server: Target, options: &[(&str, &str)]) -> String {
        with_password(&self.behind(server, options))
    }

    /// Returns the target of the server behind the program.
    pub(crate) fn behind(&self, server: Target, options: &[(&str, &str)]) -> Target {
        let host = Host { name: "127.0.0.1".to_owned(), port: Some(self.port) };
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let options = options.iter().map(pair).collect();
        Target { hosts: vec![host], options, ..server }
    }
}

impl Drop for Between {
    fn drop(&mut self) {
        // The proxy ends its own processes on SIGTERM. It may have ended by itself.
        let pid = Pid::from_child(&self.child);
        let _ = kill_process(pid, Signal::TERM);
        let _ = self.child.wait();
    }
}

/// Finds a TCP port that is free now.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("it is bound").port()
}

fn haproxy() -> Between {
    let server_port = MARIADB.shared().port();
    Between::haproxy(|port, _| {
        format!(
            "global\n    maxconn 1000\ndefaults\n    \
             mode tcp\n    timeout connect 5s\n    timeout client 1m\n    timeout server 1m\n\
             frontend here\n    bind 127.0.0.1:{port}\n    default_backend there\n\
             backend there\n    server only 127.0.0.1:{server_port}\n"
        )
    })
}

/// Starts PgBouncer in transaction mode with this number of connections to the server.
pub(crate) fn pgbouncer(server: &Server, pool: u32) -> Between {
    let target = server.target();
    let (user, password) = (target.user.expect("a user"), target.password.expect("a password"));
    let as_nobody: &[&str] =
        if rustix::process::geteuid().is_root() { &["-u", "nobody"] } else { &[] };
    let program = "/usr/sbin/pgbouncer";
    Between::start(program, "pgbouncer", as_nobody, "process up", |port, folder| {
        let users = format!("\"{user}\" \"{}\"\n", password.reveal());
        fs::write(format!("{folder}/users"), users).expect("written");
        format!(
            "[databases]\n* = host=127.0.0.1 port={} pool_size={pool}\n[pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = scram-sha-256\nauth_file = {folder}/users\npool_mode = transaction\n\
             max_client_conn = 1000\n",
            server.port()
        )
    })
}

/// Runs clients with keying and think times for two seconds, with a transaction every tenth of a
/// second each. All must be connected; returns the report.
fn users_at(target: &str) -> Value {
    let clients = format!("--clients={CLIENTS}");
    let home = Home::new();
    let report = home.report_with_code(
        0,
        &[
            "run",
            "empty",
            "--target",
            target,
            &clients,
            "--load=keythink",
            "--keying=50ms",
            "--thinking=50ms",
            "--placement=loop",
            "--ramp-up=0s",
            "--duration=2s",
            "--quiet",
        ],
    );
    nothing_is_lost(&report);
    assert_eq!(number(&report, "connect_ms.count"), f64::from(CLIENTS));
    assert_eq!(number(&report, "counts.failed"), 0.0);
    assert!(number(&report, "counts.committed") > f64::from(CLIENTS));
    assert_eq!(count(&report, "ours"), CLIENTS);
    report
}

fn count(report: &Value, name: &str) -> u32 {
    let fact = at(report, &format!("facts.connections.{name}"));
    fact.as_str().and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{name}: {fact}"))
}

#[test]
fn a_proxy_has_a_connection_to_the_server_for_each_of_ours() {
    let proxy = haproxy();
    let report = users_at(&proxy.target(MARIADB.shared().target(), &[]));
    // Ours, that of the query, and those of other tests.
    assert!(count(&report, "server_at_start") > CLIENTS);
    assert!(count(&report, "server_under_load") > CLIENTS);
    assert_eq!(at(&report, "facts.connections.server_counter"), "Threads_connected");
    // The server is behind the listener.
    let words = "not read: a proxy (haproxy) listens there, not the server";
    assert_eq!(at(&report, "facts.monitor.server"), words);
}

#[test]
fn a_pooler_has_fewer_connections_to_the_server_than_we_have_to_it() {
    let pooler = pgbouncer(POSTGRES.shared(), POOL);
    for way in ["unnamed", "simple"] {
        let options = [("statements", way)];
        let report = users_at(&pooler.target(POSTGRES.shared().target(), &options));
        let under_load = count(&report, "server_under_load");
        assert!((1..CLIENTS).contains(&under_load), "{way}: {under_load}");
        assert_eq!(at(&report, "facts.connections.server_counter"), "pg_stat_activity");
    }
}
