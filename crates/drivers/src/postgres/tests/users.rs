//! Tests of signing in to PostgreSQL: the authentication methods of pg_hba.conf, with TLS and
//! without.

use std::sync::LazyLock;

use model::{DbErrorKind, Secret, Target};
use servers::for_tests::POSTGRES;
use servers::{Server, ServerError};

use crate::certificates::Certificates;
use crate::conformance::TestSession;
use crate::on_servers::{Site, cannot_open, opened, tls_is_as_it_is_asked_for, with};

/// Test server with TLS, and with a user for each authentication method. The password of each is
/// the name of the method in Polish letters.
static SECURED: LazyLock<(Server, Certificates)> = LazyLock::new(|| {
    let mut server = POSTGRES.start();
    let site = Site::at(&server);
    let mut admin = TestSession::connect(&site.open("users", &[]), &[]);
    for method in ["md5", "scram", "plain", "trusted", "secured"] {
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
    let files = [
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
fn tls_that_the_server_has_not_is_reported_with_its_remedy() {
    let target = Site::shared(&POSTGRES).target();
    let (kind, words) = cannot_open(&with(target.clone(), &[("tls", "require")]));
    assert_eq!(kind, DbErrorKind::Denied, "{words}");
    assert!(words.contains("set ssl = on on the server, or use tls=prefer"), "{words}");
    TestSession::connect(&opened(&with(target, &[("tls", "prefer")])), &[]);
}
