//! Tests of targets that other programs keep (`--target-from`), on real servers.

use std::path::PathBuf;

use model::Target;
use servers::for_tests::{MARIADB, POSTGRES};

use crate::home::{Home, at};
use crate::real::url_and_password;

/// Returns host, port, user and database of a server, and its password.
fn place(target: &Target) -> (String, String, String, String) {
    let host = &target.hosts[0];
    let port = host.port.expect("a test server has a port").to_string();
    (host.name.clone(), port, target.user.clone().expect("a user"), target.path.clone())
}

/// Runs an empty workload on the target of a place, with these variables; returns its target.
fn target_of(home: &Home, from: &str, password: &str, variables: &[(&str, &str)]) -> String {
    let mut command = home.dbdyno(&[
        "run",
        "empty",
        &format!("--target-from={from}"),
        "--transactions=20",
        "--output=json",
    ]);
    command.env("DBDYNO_PASSWORD", password).envs(variables.iter().copied());
    let output = command.output().expect("it runs");
    let (out, err) = (&output.stdout, String::from_utf8_lossy(&output.stderr));
    let report = serde_json::from_slice(out).unwrap_or_else(|_| panic!("{err}"));
    at(&report, "target").as_str().expect("a URL").to_owned()
}

#[test]
fn a_service_and_the_variables_of_libpq_name_a_server() {
    let server = POSTGRES.shared();
    let (url, password) = url_and_password(server);
    let (host, port, user, database) = place(&server.target());
    let home = Home::new();
    let services = format!("[bench]\nhost={host}\nport={port}\nuser={user}\ndbname={database}\n");
    let file = home.write("services.conf", services);
    let file = [("PGSERVICEFILE", file.as_str()), ("PGSERVICE", "bench")];
    assert_eq!(target_of(&home, "service=bench", &password, &file), url);
    assert_eq!(target_of(&home, "PGSERVICE", &password, &file), url);
    let variables = [("PGHOST", &host), ("PGPORT", &port), ("PGUSER", &user)];
    let variables = variables.map(|(name, value)| (name, value.as_str()));
    let variables = [&variables[..], &[("PGDATABASE", database.as_str())]].concat();
    assert_eq!(target_of(&home, "PGHOST", &password, &variables), url);
}

#[test]
fn the_option_file_of_clients_names_a_server() {
    let server = MARIADB.shared();
    let (url, password) = url_and_password(server);
    let (host, port, user, database) = place(&server.target());
    let home = Home::new();
    let text =
        format!("[client]\nhost={host}\nport={port}\nuser={user}\n[mysql]\ndatabase={database}\n");
    home.write(".my.cnf", text);
    let folder = home.folder().to_str().expect("a plain path").to_owned();
    assert_eq!(target_of(&home, "my.cnf", &password, &[("HOME", &folder)]), url);
}

#[test]
fn a_place_that_names_no_server_is_one_sentence() {
    let home = Home::new();
    let file = home.write("services.conf", "[bench]\nhost=db\noptions=-c x=y\n");
    let refused = |from: &str, variables: &[(&str, PathBuf)], why: &str| {
        let from = format!("--target-from={from}");
        home.call_with(variables, &["run", "empty", &from]).code(2).warns(&[why]);
        home.call_with(variables, &["check", "tpcc", &from]).code(2).warns(&[why]);
    };
    let file = [("PGSERVICEFILE", PathBuf::from(file)), ("PGSYSCONFDIR", home.path("none"))];
    refused("service=shop", &file, "there is no service 'shop' in");
    refused("service=bench", &file, "dbdyno does not know 'options': name the database");
    refused("PGSERVICE", &file, "--target-from PGSERVICE: this variable is not set");
    refused("elsewhere", &file, "name PGSERVICE, service=NAME, PGHOST or my.cnf");
    refused("my.cnf", &[("HOME", home.path("none"))], ".my.cnf: No such file");
    let both = ["run", "empty", "--target-from=PGHOST", "--target=sim:"];
    home.call(&both).code(2).warns(&["cannot be used with"]);
}
