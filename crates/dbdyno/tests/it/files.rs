//! Tests of rows as flat files, loaded by the servers' own clients with the printed commands.

use std::fs;
use std::process::Command;

use model::Secret;
use serde_json::Value;
use servers::for_tests::{MARIADB, POSTGRES, TestServer};
use servers::{Kind, Server};

use crate::home::{Home, SMALL, at};
use crate::real::with_password;

/// Runs a script with the server's own client, in a new database of this name.
fn feed(home: &Home, server: &Server, database: &str, script: &str) {
    let file = home.write("script.sql", script);
    let target = server.target();
    let port = target.hosts[0].port.expect("a port").to_string();
    let user = target.user.as_deref().expect("a user");
    let password = target.password.as_ref().map_or("", Secret::reveal);
    let run = |command: &mut Command| {
        let output = command.output().expect("mariadb-client and postgresql-client are installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    if server.kind() == Kind::Postgres {
        let psql = |database: &str| {
            let mut command = home.command("psql");
            command.env("PGPASSWORD", password).env("PGTZ", "UTC");
            command.args(["-X", "-q", "-w", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1"]);
            command.args(["-p", &port, "-U", user, "-d", database]);
            command
        };
        run(psql(&target.path).args(["-c", &format!("CREATE DATABASE {database}")]));
        run(psql(database).args(["-f", &file]));
    } else {
        let script = format!("CREATE DATABASE {database}; USE {database}; SOURCE {file};");
        let mut command = home.command("mariadb");
        command.env("MYSQL_PWD", password).args(["--no-defaults", "--local-infile=1"]);
        command.args(["--protocol=tcp", "--host=127.0.0.1", "--port", &port, "-u", user]);
        run(command.args(["-e", &script]));
    }
}

/// Writes the rows of `workload` in a small size, loads them by the printed commands, and expects
/// the checksums of a build.
fn loads(test: &TestServer, name: &str, format: &str, [workload, small]: [&str; 2]) {
    let home = Home::new();
    let database = format!("{workload}_from_{format}");
    let folder = home.path("files").display().to_string();
    let args = ["datagen", workload, small, "--output-dir", &folder, "--format", format, "-q"];
    let written = home.json(&args);
    let load = at(&written, &format!("load.{name}"));
    let schema = load["schema"].as_str().expect("a path");
    let mut script = fs::read_to_string(schema).expect("it was written");
    for command in load["commands"].as_array().expect("a list") {
        script += &format!("{}\n", command.as_str().expect("a command"));
    }
    let server = test.shared();
    feed(&home, server, &database, &script);
    let mut target = server.target();
    target.path = database;
    let target = format!("--target={}", with_password(&target));
    let sums = |more: &[&str]| -> Value {
        let args = [&["check", workload, "--checksums", "--quiet"], more].concat();
        at(&home.json(&args), "checksums").clone()
    };
    match workload {
        "tpcc" => home.put_tpcc(),
        _ => drop(home.call(&["build", workload, small, "-q"]).good()),
    }
    // Files do not identify their workload.
    assert_eq!(sums(&[small, &target]), sums(&[]));
    home.run(&args).code(1).warns(&["nothing is overwritten", "--output-dir"]).is_a_sentence();
}

#[test]
fn mariadb_loads_tsv_files_as_the_printed_commands_say() {
    loads(&MARIADB, "mysql", "tsv", ["tpcc", SMALL]);
}

#[test]
fn postgres_loads_csv_files_as_the_printed_commands_say() {
    loads(&POSTGRES, "postgres", "csv", ["tpcc", SMALL]);
}

#[test]
fn mariadb_and_postgres_load_tbl_files_of_tpch_as_the_printed_commands_say() {
    loads(&MARIADB, "mysql", "tbl", ["tpch", "--scale=0.01"]);
    loads(&POSTGRES, "postgres", "tbl", ["tpch", "--scale=0.01"]);
    loads(&POSTGRES, "postgres", "csv", ["tpch", "--scale=0.01"]);
}

#[test]
fn an_interrupted_datagen_leaves_no_half_files() {
    let home = Home::new();
    let mut started = home.start(&["datagen", "tpcc", "--warehouses=20", "--output-dir=files"]);
    started.wait_until("files", |said| said.contains("building "));
    started.interrupt();
    started.end().code(130).warns(&["only complete files were kept"]);
    for entry in fs::read_dir(home.path("files")).expect("it was made") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        assert!(!name.ends_with(".part"), "{name} was left");
    }
}

#[test]
fn files_that_would_not_fit_are_not_begun() {
    let home = Home::new();
    let args = ["datagen", "tpcc", "--warehouses=100000", "--output-dir=files", "--quiet"];
    home.run(&args).code(1).warns(&["MiB free: make room"]).is_a_sentence();
    assert_eq!(fs::read_dir(home.path("files")).expect("it was made").count(), 0);
}
