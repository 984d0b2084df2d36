//! Real servers for tests of both network drivers: those started for the tests, and those named by
//! `DBDYNO_TEST_MARIADB_URL`, `DBDYNO_TEST_MYSQL_URL` or `DBDYNO_TEST_POSTGRES_URL`.
//!
//! Not here: the tests. Each driver lists its tests on real servers, called laws, with the servers
//! on which they must pass.

use std::sync::{Arc, mpsc};
use std::thread;

use model::{
    Column, ColumnType, Database, DbError, DbErrorKind, Fact, Reply, RowSource, Secret, Table,
    Target, Value, reconnect,
};
use servers::for_tests::{self, TestServer};
use servers::{Kind, Server};

use crate::certificates::Certificates;
use crate::conformance::{Kept, Read, TestSession, Write, block_on, refused};
use crate::{CannotOpen, Opening, open};

/// A real database server on which tests of a driver run.
pub(crate) struct Site {
    target: Target,
}

impl Site {
    /// Returns the server of this product and version that all tests share, started on first use.
    /// Panics if it is not installed; the message says how to install it.
    pub(crate) fn shared(product: &TestServer) -> Site {
        Site::at(product.shared())
    }

    /// Returns a server that the test has started for itself.
    pub(crate) fn at(server: &Server) -> Site {
        Site { target: server.target() }
    }

    /// Returns the server whose URL is in the environment variable for this product, such as
    /// `DBDYNO_TEST_MYSQL_URL`; `None` if it is not set.
    pub(crate) fn named(kind: Kind) -> Option<Site> {
        for_tests::named(kind).map(|target| Site { target })
    }

    /// Returns the connection target of the server, with a user that has all privileges.
    pub(crate) fn target(&self) -> Target {
        self.target.clone()
    }

    /// Opens a database of the test `name`, which no other test uses, with additional options in
    /// the target's URL; creates it if it does not exist.
    pub(crate) fn open(&self, name: &str, options: &[(&str, &str)]) -> Arc<dyn Database> {
        let target = with(self.target_of(name), options);
        opened(&target)
    }

    /// Returns the connection target of the database that only the test `name` uses.
    pub(crate) fn target_of(&self, name: &str) -> Target {
        let mut target = self.target();
        target.path = format!("{}_{name}", target.path);
        target
    }

    /// Returns the value of a fact that the driver reports about the server. Panics if there is
    /// none.
    pub(crate) fn fact(&self, name: &str) -> String {
        fact(&opened(&self.target).facts().expect("facts"), name)
    }
}

pub(crate) fn fact(facts: &[Fact], name: &str) -> String {
    let found = facts.iter().find(|fact| fact.name == name);
    found.unwrap_or_else(|| panic!("{name} in {facts:?}")).value.to_string()
}

/// Returns the target with these options (name and value) in addition; one of the same name is
/// replaced.
pub(crate) fn with(mut target: Target, options: &[(&str, &str)]) -> Target {
    for (name, value) in options {
        target.options.retain(|(known, _)| known != name);
        target.options.push(((*name).to_owned(), (*value).to_owned()));
    }
    target
}

/// Opens a target and creates its database if it does not exist; panics on an error. Waits up to 10
/// minutes for a server that gets no CPU, unless the target sets `connect_timeout`.
pub(crate) fn opened(target: &Target) -> Arc<dyn Database> {
    let opening = Opening { create: true, seed: 1 };
    let patient = match target.hosts.is_empty() {
        true => target.clone(),
        false => target.clone().with_default("connect_timeout", "10min"),
    };
    open(&patient, opening).unwrap_or_else(|no| panic!("{target}: {no}"))
}

/// Opens a target, without creating its database, and returns kind and text of the database error.
/// Panics if it can be opened.
pub(crate) fn cannot_open(target: &Target) -> (DbErrorKind, String) {
    match open(target, Opening { create: false, seed: 1 }) {
        Err(CannotOpen::Refused(no)) => (no.kind, no.to_string()),
        Err(CannotOpen::Bad(bad)) => panic!("{bad}"),
        Ok(_) => panic!("{target} must not open"),
    }
}

/// Tests each TLS mode on a server at 127.0.0.1 whose certificate is for `localhost`. `is_secured`
/// must query whether a session's connection uses TLS.
pub(crate) fn tls_is_as_it_is_asked_for(
    target: &Target,
    certificates: &Certificates,
    is_secured: &dyn Fn(&mut TestSession) -> bool,
) {
    let (ca, stranger) = (certificates.ca(), certificates.stranger());
    let at = |host: &str, mode: &str, ca: &str| {
        let mut target = with(target.clone(), &[("tls", mode), ("tls_ca", ca)]);
        target.hosts[0].name = host.to_owned();
        target
    };
    let secured = |target: Target| {
        let mut session = TestSession::connect(&opened(&target), &[]);
        is_secured(&mut session)
    };
    for mode in ["prefer", "require"] {
        assert!(secured(at("127.0.0.1", mode, "")), "{mode}");
    }
    assert!(!secured(at("127.0.0.1", "disable", "")));
    assert!(secured(at("127.0.0.1", "verify-ca", ca)));
    assert!(secured(at("localhost", "verify-full", ca)));
    let refused = |target: Target, remedy: &str| {
        let (kind, words) = cannot_open(&target);
        assert_eq!(kind, DbErrorKind::Denied, "{words}");
        assert!(words.contains(remedy), "{words}");
    };
    refused(at("127.0.0.1", "verify-full", ca), "use tls=verify-ca");
    refused(at("127.0.0.1", "verify-ca", stranger), "tls_ca=");
    refused(at("localhost", "verify-full", stranger), "tls_ca=");
}

/// Tests that the server knows the client by its certificate. It must demand one of the target's
/// user, and trust the authority of `certificates`.
pub(crate) fn a_certificate_of_the_client_is_presented(
    target: &Target,
    certificates: &Certificates,
) {
    let with_files = |[cert, key]: [&str; 2]| {
        with(target.clone(), &[("tls", "require"), ("tls_cert", cert), ("tls_key", key)])
    };
    let target_with = with_files(certificates.client.files());
    assert_eq!(TestSession::connect(&opened(&target_with), &[]).int("SELECT 1"), 1);
    let refused = |target: &Target, remedy: &str| {
        let (kind, words) = cannot_open(target);
        assert_eq!(kind, DbErrorKind::Denied, "{words}");
        assert!(words.contains(remedy), "{words}");
    };
    refused(&with(target.clone(), &[("tls", "require")]), "tls_cert=FILE and tls_key=FILE");
    let strange = with_files(certificates.strange_client.files());
    refused(&strange, "does not accept the client's certificate (tls_cert)");
}

/// Returns the target with another user, whose password is `x`.
pub(crate) fn signed_in_as(mut target: Target, user: &str) -> Target {
    (target.user, target.password) = (Some(user.to_owned()), Some(Secret::new("x")));
    target
}

/// Tests that a second connection fails with `TooManyConnections` and useful advice. The server
/// must limit the target's user to one connection.
pub(crate) fn too_many_are_reported_so(target: &Target) {
    let database = opened(target);
    // The connection that checked the target may take a moment to end.
    let first = loop {
        if let Ok(first) = TestSession::try_connect(&database, &[]) {
            break first;
        }
    };
    let second = TestSession::try_connect(&database, &[]).map(|_| ());
    let words = refused(second, DbErrorKind::TooManyConnections);
    assert!(words.contains("use fewer clients"), "{words}");
    drop(first);
}

struct One(bool);

impl RowSource for One {
    fn next(&mut self, emit: &mut dyn FnMut(&[Value<'_>])) -> bool {
        emit(&[Value::Int(1)]);
        !std::mem::replace(&mut self.0, true)
    }
}

/// Loads one row, with the value 1, into the table `law_odd (id INT)`, which a test of an unusual
/// server or user has created.
pub(crate) fn load_odd(database: &Arc<dyn Database>) -> Result<Reply, DbError> {
    let columns = vec![Column { name: "id", of: ColumnType::Int, nullable: false }];
    let table =
        Table { name: "law_odd".into(), columns, primary_key: vec!["id"], indexes: Vec::new() };
    let mut session = TestSession::connect(database, &[]);
    block_on(model::load(&mut *session.0, &table, &mut One(true)))
}

/// SQL by which a test ends another session on the server. The tests append the connection ID of
/// that session to `under_way` and `kill`.
pub(crate) struct Killing {
    /// Query with which a session asks for its own connection ID.
    pub(crate) number: &'static str,
    /// Query, to which a connection ID is appended, whether that session is executing a statement:
    /// 0 or 1.
    pub(crate) under_way: &'static str,
    /// Statement, to which a connection ID is appended, that terminates that session.
    pub(crate) kill: &'static str,
    /// SQL text that follows the connection ID in the statement `kill`, such as `)`.
    pub(crate) end: &'static str,
}

impl Killing {
    /// Terminates a session while it executes `sql`, which changes data if `writes` is set. Checks
    /// that the session can reconnect, and returns the kind of its error.
    pub(crate) fn during(
        &self,
        database: &Arc<dyn Database>,
        sql: &str,
        writes: bool,
    ) -> DbErrorKind {
        let kind = if writes { Write } else { Read };
        let mut killer = TestSession::connect(database, &[]);
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            let victim = scope.spawn(move || {
                let mut session =
                    TestSession::connect(database, &[(kind, sql), (Read, "SELECT 7")]);
                sender.send(session.int(self.number)).expect("somebody listens");
                let no = session.call(0, &[]).expect_err("it is ended");
                refused(session.call(0, &[]), DbErrorKind::ConnectionLost);
                block_on(reconnect(&mut *session.0)).expect("made again");
                // Prepared again, since the old connection's statements are gone.
                assert_eq!(session.call_rows(1, &[]), [[Kept::Int(7)]]);
                no.kind
            });
            let number = receiver.recv().expect("its number");
            while killer.int(&format!("{}{number}", self.under_way)) == 0 {}
            killer.do_all(&[&format!("{}{number}{}", self.kill, self.end)]);
            victim.join().expect("no panic")
        })
    }

    /// Terminates an idle session on the server. Checks that the session notices this before its
    /// next request and can reconnect.
    pub(crate) fn while_idle(&self, database: &Arc<dyn Database>) {
        let mut killer = TestSession::connect(database, &[]);
        let mut session = TestSession::connect(database, &[(Read, "SELECT 7")]);
        let number = session.int(self.number);
        assert!(!session.0.has_ended(), "nobody has ended it");
        assert_eq!(session.call_rows(0, &[]), [[Kept::Int(7)]], "and looking changes nothing");
        killer.do_all(&[&format!("{}{number}{}", self.kill, self.end)]);
        // The server may take a moment.
        while !session.0.has_ended() {
            thread::yield_now();
        }
        block_on(reconnect(&mut *session.0)).expect("made again");
        assert!(!session.0.has_ended());
        assert_eq!(session.call_rows(0, &[]), [[Kept::Int(7)]]);
    }
}

/// Declares a test for each pair of a test function (called law) and a server, so that each is
/// reported separately. With `named`, also declares one test of all these functions on the servers
/// that environment variables name for these products.
///
/// ```text
/// keeps! {
///     laws [a_law, another_law];
///     on mariadb: MARIADB, mysql_5_6: MYSQL_5_6;
///     named Kind::MariaDb, Kind::MySql;
/// }
/// ```
macro_rules! keeps {
    (laws $laws:tt; on $($module:ident: $product:expr),+; $(named $($kind:expr),+;)?) => {
        $($crate::on_servers::keeps! { one $module $product, $laws })+
        $($crate::on_servers::keeps! { named [$($kind),+], $laws })?
    };
    (one $module:ident $product:expr, [$($law:ident),+ $(,)?]) => {
        mod $module {
            use super::*;
            $(#[test]
            fn $law() {
                super::$law(&$crate::on_servers::Site::shared(&$product));
            })+
        }
    };
    (named $kinds:expr, [$($law:ident),+ $(,)?]) => {
        #[test]
        fn servers_that_are_named_keep_them_too() {
            for site in $kinds.into_iter().filter_map($crate::on_servers::Site::named) {
                $(
                    eprintln!("{}: {}", site.target(), stringify!($law));
                    $law(&site);
                )+
            }
        }
    };
}
pub(crate) use keeps;
