//! Real servers for these tests: where they are, how dbdyno finds them, and those with data of
//! tpcc that several tests use in turn. Building them takes several seconds of CPU time each.

use std::sync::{Mutex, MutexGuard, PoisonError};

use model::{Secret, Target};
use serde_json::Value;
use servers::for_tests::TestServer;
use servers::{Kind, Server};

use crate::home::{Home, SMALL, at};

/// The URL of a server without its password, and the password.
pub(crate) fn url_and_password(server: &Server) -> (String, String) {
    let target = server.target();
    let password = target.password.as_ref().map_or("", Secret::reveal).to_owned();
    (target.to_string(), password)
}

/// The URL of a server with the password in it.
pub(crate) fn url(server: &Server) -> String {
    with_password(&server.target())
}

/// The same with a database of its own; building makes it.
pub(crate) fn url_of(server: &Server, database: &str) -> String {
    with_password(&Target { path: database.to_owned(), ..server.target() })
}

/// A target as somebody writes it who puts the password into the URL.
pub(crate) fn with_password(target: &Target) -> String {
    let password = target.password.as_ref().map_or("", Secret::reveal);
    target.to_string().replacen('@', &format!(":{password}@"), 1)
}

/// The checksum of each table of tpcc.
pub(crate) fn checksums_of_tpcc(home: &Home, target: &[&str]) -> Value {
    let args = [&["check", "tpcc", "--checksums", "--quiet"], target].concat();
    at(&home.json(&args), "checksums").clone()
}

/// A server with data of tpcc, which are dear to build: one of each kind, whose users take turns.
pub(crate) struct Tpcc {
    pub(crate) server: Server,
    /// The store in which the build is kept.
    pub(crate) store: Vec<u8>,
    /// What was reported of it.
    pub(crate) built: Value,
    /// Of all tables, before anybody changed a row; null where nobody asks for them.
    pub(crate) checksums: Value,
}

impl Tpcc {
    /// The URL of the server, which counts what it can count.
    pub(crate) fn url(&self) -> String {
        url(&self.server)
    }
}

/// The server of this product with data of tpcc. It ends with the process.
pub(crate) fn tpcc(test: &TestServer) -> MutexGuard<'static, Option<Tpcc>> {
    static BUILT: [Mutex<Option<Tpcc>>; 3] = [const { Mutex::new(None) }; 3];
    let counts = [("performance_schema", "ON")];
    let (index, settings, method): (usize, &[(&str, &str)], &str) = match test.kind {
        Kind::Postgres => (0, &[], "--load-method=insert"),
        Kind::MariaDb => (1, &counts, "--load-method=insert"),
        Kind::MySql => (2, &[], "--load-method=bulk"),
    };
    // A test that failed meanwhile leaves data that others can use, unless the server is gone.
    let mut built = BUILT[index].lock().unwrap_or_else(PoisonError::into_inner);
    if built.as_mut().is_some_and(|of| of.server.ended().is_some()) {
        *built = None;
    }
    built.get_or_insert_with(|| {
        let (server, home) = (test.start_with(settings), Home::new());
        let target = format!("--target={}", url(&server));
        let args = ["build", "tpcc", SMALL, &target, "-q", "--settle", method, "--output=json"];
        let built = home.run(&args).json();
        // A folder of its own would outlive the process.
        let store = std::fs::read(home.store()).expect("the build is kept");
        let checksums = match test.kind {
            Kind::Postgres => checksums_of_tpcc(&home, &[&target]),
            Kind::MariaDb | Kind::MySql => Value::Null,
        };
        Tpcc { server, store, built, checksums }
    });
    built
}
