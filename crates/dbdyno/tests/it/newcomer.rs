//! Tests of mistakes that users make with their own server: each gets advice, in one sentence and
//! with the right exit code.

use std::process::Command;

use model::Secret;
use servers::for_tests::{MARIADB, POSTGRES};
use servers::{Kind, Server};

use crate::home::Home;
use crate::real::{url, with_password};

#[track_caller]
fn refused(args: &[&str], code: i32, fragments: &[&str]) {
    let home = Home::new();
    let ran = home.run(&[args, &["--quiet"]].concat()).code(code).warns(fragments);
    assert_eq!(ran.out, "");
    ran.is_a_sentence();
}

fn run_at(target: &str, code: i32, fragments: &[&str]) {
    refused(&["run", "tpcc", "--target", target], code, fragments);
}

/// Runs a statement as the owner of the server, with the server's own client.
fn say(server: &Server, sql: &str) {
    let target = server.target();
    let port = target.hosts[0].port.expect("a port").to_string();
    let user = target.user.as_deref().expect("a user");
    let password = target.password.as_ref().map_or("", Secret::reveal);
    let mut command = match server.kind() {
        Kind::Postgres => Command::new("psql"),
        Kind::MariaDb | Kind::MySql => Command::new("mariadb"),
    };
    if server.kind() == Kind::Postgres {
        command.env("PGPASSWORD", password).args(["-X", "-q", "-w", "-h", "127.0.0.1"]);
        command.args(["-p", &port, "-U", user, "-d", &target.path, "-c", sql]);
    } else {
        command.env("MYSQL_PWD", password).args(["--no-defaults", "--protocol=tcp"]);
        command.args(["-h", "127.0.0.1", "-P", &port, "-u", user, "-e", sql]);
    }
    let output = command.output().expect("mariadb-client and postgresql-client are installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the URL of a server for this user and password.
fn url_for(server: &Server, user: &str, password: &str) -> String {
    let mut target = server.target();
    (target.user, target.password) = (Some(user.to_owned()), Some(Secret::new(password)));
    with_password(&target)
}

#[test]
fn a_wrong_address_is_reported() {
    for scheme in ["mariadb", "postgres"] {
        let check = |place: &str, fragments: &[&str]| {
            run_at(&format!("{scheme}://me:you@{place}/shop"), 4, fragments);
        };
        check(
            "127.0.0.1:1",
            &["127.0.0.1:1", "nothing listens there; check that the server is running"],
        );
        let unknown = ["no-such-host.invalid", "cannot resolve", "check its spelling"];
        check("no-such-host.invalid", &unknown);
        run_at(&format!("{scheme}://127.0.0.1:1/shop"), 2, &[&format!("{scheme}://user@host")]);
    }
    run_at("marjadb://me@host/shop", 2, &["there is no driver for 'marjadb:'", "'mariadb'"]);
}

#[test]
fn a_wrong_password_is_reported() {
    for server in [MARIADB.shared(), POSTGRES.shared()] {
        let url = url_for(server, "dbdyno", "wrong");
        run_at(&url, 1, &["check user and password", "--ask-password"]);
    }
}

#[test]
fn a_setting_that_a_managed_server_refuses_is_reported() {
    let check = |target: &str, setting: &str| {
        run_at(target, 2, &["the server rejects a setting:", setting, "or leave it out"]);
    };
    check("managed:mariadb?inodb_buffer_pool_size=1G", "'inodb_buffer_pool_size=1G'");
    check("managed:postgres?shared_bufers=1G", "\"shared_bufers\"");
}

#[test]
fn a_missing_database_is_made_by_a_build_and_reported_otherwise() {
    for server in [MARIADB.shared(), POSTGRES.shared()] {
        let mut target = server.target();
        target.path = "not_yet_there".to_owned();
        let url = with_password(&target);
        let shown = ["CREATE DATABASE", "name another"];
        refused(&["check", "tpcc", "--target", &url], 1, &shown);
        refused(&["run", "tpcc", "--no-build", "--target", &url], 1, &shown);
        let home = Home::new();
        let words = ["run", "empty", "--rate=20", "--duration=1s", "--ramp-up=0s"];
        home.run(&[&words[..], &["--target", &url]].concat()).good();
    }
}

#[test]
fn a_missing_privilege_is_reported() {
    let (mariadb, postgres) = (MARIADB.shared(), POSTGRES.shared());
    // Other tests have tables in the database that all share.
    say(mariadb, "CREATE DATABASE guarded");
    say(postgres, "CREATE DATABASE guarded");
    say(mariadb, "CREATE USER reader IDENTIFIED BY 'secret'; GRANT SELECT ON guarded.* TO reader");
    say(postgres, "CREATE USER reader PASSWORD 'secret'");
    let url = |server: &Server| {
        let mut target = server.target();
        target.user = Some("reader".to_owned());
        (target.password, target.path) = (Some(Secret::new("secret")), "guarded".to_owned());
        with_password(&target)
    };
    run_at(&url(mariadb), 1, &["CREATE command denied"]);
    run_at(&url(postgres), 1, &["permission denied for schema public"]);
}

#[test]
fn tls_that_is_demanded_and_not_offered_is_reported() {
    for server in [MARIADB.shared(), POSTGRES.shared()] {
        run_at(&format!("{}?tls=require", url(server)), 1, &["TLS"]);
    }
}

#[test]
fn a_server_that_takes_no_local_files_is_loaded_by_inserts() {
    let target = "--target=managed:mariadb?local-infile=0&innodb_buffer_pool_size=64M";
    let shown = ["local_infile", "--load-method insert", "nothing was kept"];
    refused(&["build", "tpcc", target], 1, &shown);
}

#[test]
fn what_contradicts_itself_is_refused() {
    let home = Home::new();
    let args = ["run", "empty", "--target=sim:", "--store=a.sqlite", "--no-store"];
    home.run(&args).code(2).warns(&["--store", "--no-store"]);
    run_at("mariadb://me@host/shop?tls=require&tls=disable", 2, &["'tls'", "twice"]);
    let managed = ["--target", "managed:mariadb"];
    for command in ["check", "drop", "settle"] {
        refused(
            &[&[command, "tpcc"], &managed[..]].concat(),
            2,
            &["to check, to settle or to drop"],
        );
    }
}
