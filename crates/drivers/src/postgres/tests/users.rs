//! Tests of signing in to PostgreSQL: the authentication methods of pg_hba.conf, with TLS and
//! without.

use std::sync::LazyLock;

use model::{DbErrorKind, Secret, Target};
use servers::for_tests::{POSTGRES, POSTGRES_18};
use servers::{Server, ServerError};

use crate::certificates::Certificates;
use crate::conformance::TestSession;
use crate::on_servers::{
    Site, a_certificate_of_the_client_is_presented, cannot_open, opened, tls_is_as_it_is_asked_for,
    with,
};
use crate::{CannotOpen, Opening, open};

/// Test server with TLS, and with a user for each authentication method. The password of each is
/// the name of the method in Polish letters.
static SECURED: LazyLock<(Server, Certificates)> = LazyLock::new(|| {
    let mut server = POSTGRES.start();
    let site = Site::at(&server);
    let mut admin = TestSession::connect(&site.open("users", &[]), &[]);
    for method in ["md5", "scram", "plain", "trusted", "secured", "certified"] {
        let encryption = if method == "md5" { "md5" } else { "scram-sha-256" };
        admin.do_all(&[
            &format!("SET password_encryption = '{encryption}'"),
            &format!("CREATE ROLE law_{method} LOGIN PASSWORD '{}'", password(method)),
        ]);
    }
    drop(admin);
    let certificates = Certificates::make();
    let secured = secure(&mut server, &certificates);
    secured.unwrap_or_else(|error| panic!("{error}"));
    (server, certificates)
});

const RULES: &[u8] = b"\
hostssl all law_certified 127.0.0.1/32 cert
hostssl all law_secured 127.0.0.1/32 scram-sha-256
hostssl all law_secured ::1/128 scram-sha-256
host all law_secured all reject
local all law_trusted trust
host all law_trusted 127.0.0.1/32 trust
local all law_plain password
host all law_plain 127.0.0.1/32 password
local all law_md5 md5
host all law_md5 127.0.0.1/32 md5
local all all scram-sha-256
host all all all scram-sha-256
";

fn secure(server: &mut Server, certificates: &Certificates) -> Result<(), ServerError> {
    let ca = std::fs::read(certificates.ca()).expect("it was written");
    let files = [
        ("ssl_ca_file", "ca.crt", &ca[..]),
        ("hba_file", "rules.conf", RULES),
        ("ssl_cert_file", "server.crt", certificates.certificate.as_bytes()),
        ("ssl_key_file", "server.key", certificates.key.as_bytes()),
    ];
    for (setting, name, contents) in files {
        let path = server.put_file(name, contents)?;
        server.set(setting, path.to_str().expect("a plain path")).expect("a setting");
    }
    server.set("ssl", "on").expect("a setting");
    server.restart()
}

fn password(method: &str) -> String {
    format!("{method} zażółć")
}

fn target(method: &str) -> Target {
    let mut target = Site::at(&SECURED.0).target_of("users");
    target.user = Some(format!("law_{method}"));
    target.password = Some(Secret::new(password(method)));
    target
}

#[test]
fn users_sign_in_by_every_method() {
    let socket = SECURED.0.socket();
    let socket = socket.to_str().expect("a plain path");
    for method in ["md5", "scram", "plain", "trusted"] {
        for options in [[("tls", "disable")], [("tls", "require")], [("socket", socket)]] {
            let mut target = with(target(method), &options);
            if method == "plain" && options[0].0 != "socket" {
                let (kind, words) = cannot_open(&target);
                assert_eq!(kind, DbErrorKind::Denied, "{words}");
                assert!(words.contains("clear_password=true"), "{words}");
                target = with(target, &[("clear_password", "true")]);
            }
            let mut session = TestSession::connect(&opened(&target), &[]);
            assert_eq!(session.int("SELECT 1"), 1, "{method} {options:?}");
            let wrong =
                [(Some("wrong"), "check user"), (None, "use --ask-password, --password-file")];
            for (password, remedy) in wrong.into_iter().filter(|_| method != "trusted") {
                target.password = password.map(Secret::new);
                let (kind, words) = cannot_open(&target);
                assert_eq!(kind, DbErrorKind::Denied, "{words}");
                assert!(words.contains(remedy) && !words.contains("wrong"), "{words}");
            }
        }
    }
}

#[test]
fn tls_is_used_as_it_is_asked_for() {
    let sql = "SELECT count(*) FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl";
    let is_secured = |session: &mut TestSession| session.int(sql) == 1;
    tls_is_as_it_is_asked_for(&target("scram"), &SECURED.1, &is_secured);
    let target = target("secured");
    assert!(is_secured(&mut TestSession::connect(&opened(&target), &[])));
    let (kind, words) = cannot_open(&with(target, &[("tls", "disable")]));
    assert_eq!(kind, DbErrorKind::Denied, "{words}");
    assert!(words.contains("pg_hba.conf"), "{words}");
}

#[test]
fn a_certificate_of_the_client_is_presented_if_the_server_demands_one() {
    a_certificate_of_the_client_is_presented(&target("certified"), &SECURED.1);
}

#[test]
fn a_sign_in_is_bound_to_its_connection_as_it_is_asked_for() {
    let bound = |method: &str, tls: &str, binding: &str| {
        with(target(method), &[("tls", tls), ("channel_binding", binding)])
    };
    for (tls, binding) in [("require", "require"), ("require", "disable"), ("disable", "prefer")] {
        let target = bound("scram", tls, binding);
        assert_eq!(TestSession::connect(&opened(&target), &[]).int("SELECT 1"), 1, "{target}");
    }
    let refused = |target: Target, why: &str| {
        let (kind, words) = cannot_open(&target);
        assert_eq!(kind, DbErrorKind::Denied, "{words}");
        assert!(words.contains(why), "{words}");
    };
    refused(bound("trusted", "require", "require"), "accepted the user without it");
    refused(bound("md5", "require", "require"), "by another method than SCRAM");
    let socket = SECURED.0.socket();
    let socket = [("socket", socket.to_str().expect("a plain path"))];
    refused(with(bound("scram", "prefer", "require"), &socket), "does not use TLS");
    let why = bad(&bound("scram", "disable", "require"));
    assert_eq!(why, "channel_binding: require needs TLS, which tls=disable switches off");
    let why = bad(&bound("scram", "require", "sometimes"));
    assert!(why.contains("'sometimes' is not one of disable, prefer, require"), "{why}");
}

#[test]
fn a_connection_begins_with_tls_where_the_server_can() {
    let sql = "SELECT count(*) FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl";
    let direct = |target: Target, tls: &str| {
        with(target, &[("tls", tls), ("sslnegotiation", "direct"), ("tls_ca", "")])
    };
    let certificates = Certificates::make();
    let mut server = POSTGRES_18.start();
    let target = Site::at(&server).target();
    let (_, words) = cannot_open(&direct(target.clone(), "require"));
    assert!(words.contains("needs PostgreSQL 17 or later with TLS"), "{words}");
    for (setting, name, contents) in [
        ("ssl_cert_file", "server.crt", certificates.certificate.as_bytes()),
        ("ssl_key_file", "server.key", certificates.key.as_bytes()),
    ] {
        let path = server.put_file(name, contents).expect("written");
        server.set(setting, path.to_str().expect("a plain path")).expect("a setting");
    }
    server.set("ssl", "on").expect("a setting");
    server.restart().unwrap_or_else(|error| panic!("{error}"));
    let target = Site::at(&server).target();
    let mut session = TestSession::connect(&opened(&direct(target.clone(), "require")), &[]);
    assert_eq!(session.int(sql), 1);
    let verified = with(direct(target.clone(), "verify-ca"), &[("tls_ca", certificates.ca())]);
    assert_eq!(TestSession::connect(&opened(&verified), &[]).int(sql), 1);
    let why = bad(&direct(target, "prefer"));
    assert!(why.contains("sslnegotiation: direct begins with TLS"), "{why}");
    let (_, words) = cannot_open(&direct(self::target("scram"), "require"));
    assert!(words.contains("needs PostgreSQL 17 or later with TLS"), "{words}");
}

/// Returns why a target cannot be opened, because its options are wrong.
fn bad(target: &Target) -> String {
    match open(target, Opening { create: false, seed: 1 }) {
        Err(CannotOpen::Bad(bad)) => bad.to_string(),
        Err(CannotOpen::Refused(no)) => panic!("the server was asked: {no}"),
        Ok(_) => panic!("{target} must not open"),
    }
}

#[test]
fn tls_that_the_server_has_not_is_reported_with_its_remedy() {
    let target = Site::shared(&POSTGRES).target();
    let (kind, words) = cannot_open(&with(target.clone(), &[("tls", "require")]));
    assert_eq!(kind, DbErrorKind::Denied, "{words}");
    assert!(words.contains("set ssl = on on the server, or use tls=prefer"), "{words}");
    TestSession::connect(&opened(&with(target, &[("tls", "prefer")])), &[]);
}
