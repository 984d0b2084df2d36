//! Tests of failovers in which only writing moves: by a proxy in front of two servers, or to
//! another host of the target. The run continues, and the outage is in its seconds.
//!
//! Not here: killed servers (outage).

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use model::{Host, Secret, Target};
use serde_json::Value;
use servers::for_tests::{MARIADB, MYSQL_9_7, POSTGRES, TestServer};
use servers::{Kind, Server};

use crate::home::{Home, at, number, number_in};
use crate::journey::nothing_is_lost;
use crate::outage::wait_for_seconds;
use crate::proxies::Between;
use crate::real::with_password;
use crate::settings::ask;

const INTERRUPTED: i32 = 130;
const WORKLOAD: &str = "oltp-update-non-index";
const CLIENTS: u64 = 3;
const LOADS: [&str; 2] = ["--load=closed", "--rate=40"];

/// Pair of servers with the same data, of which one accepts writes.
struct Pair {
    servers: [Server; 2],
    /// User of the clients, who cannot write to a server that is read-only.
    user: (String, Secret),
}

impl Pair {
    fn new(product: &TestServer) -> Pair {
        let servers = [product.start(), product.start()];
        let target = servers[0].target();
        let mut user = (target.user.expect("a user"), target.password.expect("a password"));
        for server in &servers {
            let home = Home::new();
            let target = format!("--target={}", with_password(&server.target()));
            home.run(&["build", WORKLOAD, "--tables=1", "--table-size=100", &target, "-q"]).good();
            if server.kind() != Kind::Postgres {
                // An administrator could write all the same.
                let grant = format!("GRANT ALL ON {}.* TO plain", server.target().path);
                ask(server, &["CREATE USER plain IDENTIFIED BY 'plain'", &grant]);
                user = ("plain".to_owned(), Secret::new("plain"));
            }
        }
        Pair { servers, user }
    }

    /// Returns a target whose hosts are the servers at these ports of this machine.
    fn target(&self, ports: &[u16]) -> String {
        let (user, password) = self.user.clone();
        let host = |port: &u16| Host { name: "127.0.0.1".to_owned(), port: Some(*port) };
        with_password(&Target {
            user: Some(user),
            password: Some(password),
            hosts: ports.iter().map(host).collect(),
            ..self.servers[0].target()
        })
    }

    /// Switches writing on the first server `on` or `off`. Its sessions stay open.
    fn switch_writing(&self, word: &str) {
        let read_only = if word == "on" { "off" } else { "on" };
        match self.servers[0].kind() {
            Kind::Postgres => {
                let set = format!("ALTER SYSTEM SET default_transaction_read_only = {read_only}");
                // The setting applies to new transactions, and so would prevent its own reset.
                let may = "SET default_transaction_read_only = off";
                ask(&self.servers[0], &[may, &set, "SELECT pg_reload_conf()"])
            }
            Kind::MariaDb | Kind::MySql => {
                ask(&self.servers[0], &[&format!("SET GLOBAL read_only = {read_only}")])
            }
        };
    }
}

/// HAProxy in front of the pair, which sends new connections to the first server.
struct Proxy {
    between: Between,
    admin: PathBuf,
}

impl Proxy {
    fn before(pair: &Pair) -> Proxy {
        let [first, second] = pair.servers.each_ref().map(Server::port);
        let between = Between::haproxy(|port, folder| {
            format!(
                "global\n    maxconn 100\n    stats socket {folder}/admin mode 666 level admin\n\
                 defaults\n    mode tcp\n    timeout connect 5s\n    timeout client 1h\n    \
                 timeout server 1h\nfrontend here\n    bind 127.0.0.1:{port}\n    \
                 default_backend there\nbackend there\n    server first 127.0.0.1:{first}\n    \
                 server second 127.0.0.1:{second} disabled\n"
            )
        });
        let admin = between.path("admin");
        Proxy { between, admin }
    }

    fn say(&self, command: &str) -> String {
        let mut line = UnixStream::connect(&self.admin).expect("it listens");
        line.write_all(format!("{command}\n").as_bytes()).expect("it hears");
        let mut said = String::new();
        line.read_to_string(&mut said).expect("it answers");
        said
    }

    /// Makes the proxy send new connections to the second server. Existing ones stay open.
    fn switch(&self) {
        assert_eq!(self.say("set server there/second state ready").trim(), "");
        assert_eq!(self.say("set server there/first state maint").trim(), "");
    }

    /// Returns the number of connections that the proxy has made to a server so far.
    fn n_connections(&self, server: &str) -> u64 {
        let start = format!("there,{server},");
        let said = self.say("show stat");
        let row = said.lines().find(|line| line.starts_with(&start)).expect("it is listed");
        row.split(',').nth(7).and_then(|cell| cell.parse().ok()).expect("a number")
    }
}

fn sum_of(report: &Value, name: &str) -> f64 {
    let seconds = at(report, "seconds").as_array().expect("a list");
    seconds.iter().map(|second| number(second, name)).sum()
}

/// Asserts that a run survived a failover: all clients stay to the end, and rejected transactions
/// are in the seconds and among the offered ones.
fn outlived(report: &Value) {
    nothing_is_lost(report);
    let errors = at(report, "errors").as_array().expect("a list");
    let refused = errors.iter().find(|error| error["kind"] == "read_only");
    let refused = refused.unwrap_or_else(|| panic!("nothing was refused: {errors:#?}"));
    let failed = number(report, "counts.failed");
    assert!(failed >= CLIENTS as f64, "{failed}");
    assert!(number(refused, "count") >= failed, "{errors:#?}");
    assert_eq!(sum_of(report, "failed"), failed);
    // Failed transactions have no end, so the offered ones have no maximum.
    assert_eq!(at(report, "offered_ms.max"), &Value::Null);
    let per_client = at(report, "per_client").as_array().expect("a list");
    assert_eq!(per_client.len() as u64, CLIENTS, "a client ended");
}

/// Checks a failover by a proxy, which notices the switch only after the old server has rejected
/// clients.
fn fails_over_by_a_proxy(product: &TestServer) {
    let pair = Pair::new(product);
    for load in LOADS {
        let proxy = Proxy::before(&pair);
        let home = Home::new();
        let target = format!("--target={}", pair.target(&[proxy.between.port()]));
        let clients = format!("--clients={CLIENTS}");
        let mut run = home.start(&[
            "run",
            WORKLOAD,
            "--tables=1",
            &target,
            &clients,
            load,
            "--duration=1h",
            "--ramp-up=0s",
            "--check=off",
            "--per-client",
            "--output=json",
        ]);
        wait_for_seconds(&home, &mut run, 2);
        let known = proxy.n_connections("first");
        pair.switch_writing("off");
        run.wait_until("connections made again to the first server", |_| {
            proxy.n_connections("first") >= known + 2 * CLIENTS
        });
        proxy.switch();
        run.wait_until("connections to the second server", |_| {
            proxy.n_connections("second") >= CLIENTS
        });
        let last_second = || number_in(&home.store(), "SELECT max(second) FROM second");
        let n_seconds = last_second();
        run.wait_until("seconds at the second server", |_| {
            last_second() >= n_seconds.map(|n| n + 3)
        });
        run.interrupt();
        let ran = run.end().code(INTERRUPTED);
        let report = ran.json();
        assert_eq!(report["status"], "interrupted", "{}", ran.err);
        outlived(&report);
        let seconds = at(&report, "seconds").as_array().expect("a list");
        let last = seconds.iter().rev().nth(1).expect("several seconds");
        assert!(number(last, "commits") > 0.0, "{load}: it commits again: {seconds:#?}");
        pair.switch_writing("on");
    }
}

#[test]
fn a_run_outlives_a_failover_of_mariadb_by_a_proxy() {
    fails_over_by_a_proxy(&MARIADB);
}

#[test]
fn a_run_outlives_a_failover_of_mysql_by_a_proxy() {
    fails_over_by_a_proxy(&MYSQL_9_7);
}

#[test]
fn a_run_outlives_a_failover_of_postgres_by_a_proxy() {
    fails_over_by_a_proxy(&POSTGRES);
}

#[track_caller]
fn clients_go_to_a_host_that_takes_writes(product: &TestServer) {
    let pair = Pair::new(product);
    pair.switch_writing("off");
    let home = Home::new();
    let ports = pair.servers.each_ref().map(Server::port);
    let target = format!("--target={}", pair.target(&ports));
    let report = home.report_with_code(
        0,
        &[
            "run",
            WORKLOAD,
            "--tables=1",
            &target,
            "--clients=4",
            "--load=closed",
            "--duration=2s",
            "--ramp-up=0s",
            "--check=off",
            "--per-client",
            "--quiet",
        ],
    );
    nothing_is_lost(&report);
    assert_eq!(number(&report, "counts.failed"), 2.0, "one of each client of the first host");
    // If no host accepts writes, the run ends with the reason, as with a single server.
    ask(&pair.servers[1], &["SET GLOBAL read_only = 1"]);
    let args = ["run", WORKLOAD, "--tables=1", &target, "--clients=4", "--check=off", "--quiet"];
    home.run(&args).code(1).says(&["every attempt is refused", "--read-only"]);
}

#[test]
fn clients_of_a_host_that_takes_no_writes_go_to_another_one() {
    clients_go_to_a_host_that_takes_writes(&MARIADB);
    clients_go_to_a_host_that_takes_writes(&MYSQL_9_7);
}
