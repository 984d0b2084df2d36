//! Tests of signing in to MySQL and MariaDB: authentication methods, TLS, Unix sockets.

use model::{DbErrorKind, Request, Secret, Target};
use servers::for_tests::{MARIADB, MARIADB_11_4, MARIADB_11_8, MYSQL_5_6, MYSQL_9_7, TestServer};
use servers::{Kind, Server};

use crate::certificates::{CLIENT, Certificates};
use crate::conformance::{Kept, Read, TestSession, refused};
use crate::on_servers::{
    Site, a_certificate_of_the_client_is_presented, cannot_open, load_odd, opened,
    tls_is_as_it_is_asked_for, with,
};

/// Starts a server of this product with TLS and the given certificate.
fn secured(product: &TestServer, certificates: &Certificates) -> Server {
    let mut server = product.start();
    let ca = std::fs::read_to_string(certificates.ca()).expect("it was written");
    let files = [
        ("ssl_ca", "ca.crt", &ca),
        ("ssl_cert", "server.crt", &certificates.certificate),
        ("ssl_key", "server.key", &certificates.key),
    ];
    for (setting, name, contents) in files {
        let path = server.put_file(name, contents.as_bytes()).expect("written");
        server.set(setting, path.to_str().expect("a plain path")).expect("a setting");
    }
    // MySQL from 8.4 on has no setting `ssl`: it uses TLS whenever it has a certificate.
    server
        .set(if product.kind == Kind::MySql { "loose_ssl" } else { "ssl" }, "1")
        .expect("a setting");
    server.restart().unwrap_or_else(|error| panic!("{error}"));
    server
}

/// Creates a user with all privileges, and returns a target of the test server with this user.
fn user(site: &Site, name: &str, identified: &str, more: &str) -> Target {
    let mut admin = TestSession::connect(&site.open("users", &[]), &[]);
    for host in ["127.0.0.1", "localhost"] {
        let user = format!("'{name}'@'{host}'");
        admin.do_all(&[&format!("CREATE USER {user} IDENTIFIED {identified}")]);
        admin.do_all(&[&format!("GRANT ALL ON *.* TO {user}")]);
        if !more.is_empty() {
            admin.do_all(&[&format!("ALTER USER {user} {more}")]);
        }
    }
    let mut target = site.target_of("users");
    (target.user, target.password) = (Some(name.to_owned()), Some(Secret::new("x y")));
    target
}

fn is_secured(session: &mut TestSession) -> bool {
    let sql = "SHOW SESSION STATUS LIKE 'Ssl_cipher'";
    let rows = session.rows(Request::Text { kind: Read, sql }).expect("it tells");
    rows[0][1] != Kept::Text(String::new())
}

#[test]
fn users_sign_in_with_ed25519() {
    let server = MARIADB.shared();
    let site = Site::at(server);
    TestSession::connect(&site.open("users", &[]), &[]).do_all(&["INSTALL SONAME 'auth_ed25519'"]);
    let target = user(&site, "law_ed", "VIA ed25519 USING PASSWORD('x y')", "");
    let socket = server.socket();
    let by_socket = with(target.clone(), &[("socket", socket.to_str().expect("a plain path"))]);
    for mut target in [target, by_socket] {
        assert_eq!(TestSession::connect(&opened(&target), &[]).int("SELECT 1"), 1);
        for wrong in [Some(Secret::new("x")), None] {
            target.password = wrong;
            let (kind, words) = cannot_open(&target);
            assert_eq!(kind, DbErrorKind::Denied, "{words}");
        }
    }
}

#[test]
fn tls_is_used_as_it_is_asked_for() {
    for product in [&MARIADB, &MARIADB_11_4, &MARIADB_11_8, &MYSQL_9_7] {
        let certificates = Certificates::make();
        let server = secured(product, &certificates);
        let site = Site::at(&server);
        tls_is_as_it_is_asked_for(&site.target(), &certificates, &is_secured);
        let target = user(&site, "law_tls", "BY 'x y'", "REQUIRE SSL");
        assert!(is_secured(&mut TestSession::connect(&opened(&target), &[])));
        let certified = user(&site, CLIENT, "BY 'x y'", "REQUIRE X509");
        a_certificate_of_the_client_is_presented(
            &with(certified, &[("clear_password", "true")]),
            &certificates,
        );
        let (kind, words) = cannot_open(&with(target, &[("tls", "disable")]));
        assert_eq!(kind, DbErrorKind::Denied, "{words}");
        assert!(words.contains("if this user must use TLS, connect with tls=require"), "{words}");
        let mut admin = TestSession::connect(&opened(&site.target()), &[]);
        admin.do_all(&["SET GLOBAL require_secure_transport = 1"]);
        let (kind, words) = cannot_open(&with(site.target(), &[("tls", "disable")]));
        assert_eq!(kind, DbErrorKind::Denied, "{words}");
        assert!(words.contains("tls=require"), "{words}");
    }
}

#[test]
fn tls_that_the_server_has_not_is_reported_with_its_remedy() {
    for product in [&MARIADB, &MYSQL_5_6] {
        let target = Site::shared(product).target();
        let (kind, words) = cannot_open(&with(target.clone(), &[("tls", "require")]));
        assert_eq!(kind, DbErrorKind::Denied, "{words}");
        assert!(words.contains("ssl_cert") && words.contains("tls=prefer"), "{words}");
        assert!(!is_secured(&mut TestSession::connect(&opened(&target), &[])));
    }
}

#[test]
fn an_old_server_has_no_tls_that_is_safe_and_may_take_no_loads() {
    let certificates = Certificates::make_old();
    let server = secured(&MYSQL_5_6, &certificates);
    let site = Site::at(&server);
    let target =
        |tls: &str| with(site.target_of("users"), &[("tls", tls), ("tls_ca", certificates.ca())]);
    let database = opened(&target("disable"));
    let mut admin = TestSession::connect(&database, &[]);
    let sql = "SHOW VARIABLES LIKE 'have_ssl'";
    let rows = admin.rows(Request::Text { kind: Read, sql }).expect("it tells");
    assert_eq!(rows[0][1], Kept::Text("YES".to_owned()), "this server has TLS");
    for tls in ["prefer", "require", "verify-ca", "verify-full"] {
        let (kind, words) = cannot_open(&target(tls));
        assert_eq!(kind, DbErrorKind::Denied, "{words}");
        assert!(words.contains("use tls=disable"), "{tls}: {words}");
    }
    admin.do_all(&["CREATE TABLE law_odd (id INT)"]);
    load_odd(&database).expect("loaded");
    admin.do_all(&["SET GLOBAL local_infile = 0"]);
    let words = refused(load_odd(&database), DbErrorKind::Unsupported);
    assert!(words.contains("SET GLOBAL local_infile = 1"), "{words}");
}

/// Tests sign-ins after the server has emptied its password cache, so that it asks for the
/// password itself, and again when the password is cached.
fn signs_in_in_full(site: &Site, target: &Target, is_tls: bool) {
    let mut admin = TestSession::connect(&site.open("users", &[]), &[]);
    for _ in 0..2 {
        admin.do_all(&["FLUSH PRIVILEGES"]);
        let mut session = TestSession::connect(&opened(target), &[]);
        assert_eq!(is_secured(&mut session), is_tls, "{target}");
        // Now the server has the password cached, and asks only for a digest.
        assert_eq!(TestSession::connect(&opened(target), &[]).int("SELECT 1"), 1);
    }
    for wrong in [Some(Secret::new("x")), None] {
        let (kind, words) = cannot_open(&Target { password: wrong, ..target.clone() });
        assert_eq!(kind, DbErrorKind::Denied, "{words}");
    }
}

#[test]
fn users_of_a_new_mysql_sign_in_over_tls_a_socket_and_by_the_server_s_key() {
    let server = MYSQL_9_7.shared();
    let site = Site::at(server);
    let socket = server.socket();
    let socket = socket.to_str().expect("a plain path");
    let over_tls = [("tls", "require"), ("clear_password", "true")];
    let by_key = [("tls", "disable"), ("clear_password", "true")];
    for (name, method) in
        [("law_caching", "caching_sha2_password"), ("law_sha256", "sha256_password")]
    {
        let target = user(&site, name, &format!("WITH {method} BY 'x y'"), "");
        signs_in_in_full(&site, &with(target.clone(), &over_tls), true);
        signs_in_in_full(&site, &with(target.clone(), &by_key), false);
        let by_socket = [("socket", socket), ("tls", "disable")];
        signs_in_in_full(&site, &with(target, &by_socket), false);
    }
}

#[test]
fn a_new_mysql_says_why_it_lets_a_user_not_in() {
    let site = Site::shared(&MYSQL_9_7);
    let mut admin = TestSession::connect(&site.open("users", &[]), &[]);
    let target = user(&site, "law_locked", "BY 'x y'", "");
    let mut check = |sql: &str, expect: &str| {
        for host in ["127.0.0.1", "localhost"] {
            admin.do_all(&[&format!("ALTER USER 'law_locked'@'{host}' {sql}")]);
        }
        let over_tls = [("tls", "require"), ("clear_password", "true")];
        let (kind, words) = cannot_open(&with(target.clone(), &over_tls));
        assert_eq!(kind, DbErrorKind::Denied, "{words}");
        assert!(words.contains(expect), "{words}");
    };
    check("ACCOUNT LOCK", "locked");
    check("ACCOUNT UNLOCK PASSWORD EXPIRE", "set a new password for this user with ALTER USER");
    let certificate = "needs a certificate of the client: tls_cert=FILE and tls_key=FILE";
    check("IDENTIFIED BY 'x y' REQUIRE X509", certificate);
}
