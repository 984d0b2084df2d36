//! Real servers for tests: their locations, their URLs, and servers with data of tpcc that several
//! tests share in turn. Building these data takes several seconds of CPU time each.

use std::sync::{Mutex, MutexGuard, PoisonError};

use model::{Secret, Target};
use serde_json::Value;
use servers::for_tests::TestServer;
use servers::{Kind, Server};

use crate::home::{Home, SMALL, at};

/// Returns the URL of a server without its password, and the password.
pub(crate) fn url_and_password(server: &Server) -> (String, String) {
    let target = server.target();
    let password = target.password.as_ref().map_or("", Secret::reveal).to_owned();
    (target.to_string(), password)
}

/// Returns the URL of a server, with the password in it.
pub(crate) fn url(server: &Server) -> String {
    with_password(&server.target())
}

/// Returns the URL of a server with another database, which a build creates.
pub(crate) fn url_of(server: &Server, database: &str) -> String {
    with_password(&Target { path: database.to_owned(), ..server.target() })
}

/// Returns the URL of a target, with the password in it.
pub(crate) fn with_password(target: &Target) -> String {
    let password = target.password.as_ref().map_or("", Secret::reveal);
    target.to_string().replacen('@', &format!(":{password}@"), 1)
}

/// Returns the checksums of the tables of tpcc in a target, by `dbdyno check`.
pub(crate) fn checksums_of_tpcc(home: &Home, target: &[&str]) -> Value {
    let args = [&["check", "tpcc", "--checksums", "--quiet"], target].concat();
    at(&home.json(&args), "checksums").clone()
}

/// Server with data of tpcc, which are slow to build. There is one server for each product, which
/// tests use in turn.
pub(crate) struct Tpcc {
    pub(crate) server: Server,
    /// Content of the store file in which the build of the data is recorded.
    pub(crate) store: Vec<u8>,
    /// JSON output of the build of the data.
    pub(crate) built: Value,
    /// Checksums of all tables before any change; null if no test needs them.
    pub(crate) checksums: Value,
}

impl Tpcc {
    /// Returns the URL of the server, with the password in it.
    pub(crate) fn url(&self) -> String {
        url(&self.server)
    }
}

/// Locks the server of this product with data of tpcc, and builds it if needed. The server ends
/// with the process.
pub(crate) fn tpcc(test: &TestServer) -> MutexGuard<'static, Option<Tpcc>> {
    static BUILT: [Mutex<Option<Tpcc>>; 3] = [const { Mutex::new(None) }; 3];
    let counts = [("performance_schema", "ON")];
    let (index, settings, method): (usize, &[(&str, &str)], &str) = match test.kind {
        Kind::Postgres => (0, &[], "--load-method=insert"),
        Kind::MariaDb => (1, &counts, "--load-method=insert"),
        Kind::MySql => (2, &[], "--load-method=bulk"),
    };
    // A failed test leaves usable data, unless the server has ended.
    let mut built = BUILT[index].lock().unwrap_or_else(PoisonError::into_inner);
    if built.as_mut().is_some_and(|built| built.server.ended().is_some()) {
        *built = None;
    }
    built.get_or_insert_with(|| {
        let (server, home) = (test.start_with(settings), Home::new());
        let target = format!("--target={}", url(&server));
        let args = ["build", "tpcc", SMALL, &target, "-q", "--settle", method, "--output=json"];
        let built = home.run(&args).json();
        // The home's folder would outlive the process.
        let store = std::fs::read(home.store()).expect("the build is kept");
        let checksums = match test.kind {
            Kind::Postgres => checksums_of_tpcc(&home, &[&target]),
            Kind::MariaDb | Kind::MySql => Value::Null,
        };
        Tpcc { server, store, built, checksums }
    });
    built
}
