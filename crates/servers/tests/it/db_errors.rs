//! Tests that impossible requests fail with a message that names the remedy, and leave nothing
//! behind.

use std::path::PathBuf;
use std::time::Duration;

use servers::for_tests::MYSQL_5_6;
use servers::{Kind, Options, ServerError, ServerErrorKind};

use crate::client::{parent, small};

fn refused(kind: Kind, change: impl FnOnce(&mut Options)) -> ServerError {
    let parent = parent();
    let mut options = small(kind, parent.path());
    change(&mut options);
    let Err(error) = servers::start(kind, &options) else { panic!("{kind:?} started") };
    assert_eq!(parent.path().read_dir().expect("a folder").count(), 0, "{error}");
    error
}

#[test]
fn a_setting_that_the_server_refuses_is_shown_in_its_own_words() {
    let with = |kind: Kind, name: &str, value: &str| {
        let error = refused(kind, |options| {
            options.settings.push((name.to_owned(), value.to_owned()));
        });
        assert_eq!(error.kind, ServerErrorKind::Ended);
        error.text
    };
    let text = with(Kind::MariaDb, "inodb_x", "1");
    let ended = "MariaDB exited while starting; ";
    assert!(text.contains(ended) && text.contains("variable 'inodb_x=1'"), "{text}");
    let text = with(Kind::MariaDb, "innodb_y", "1");
    assert!(text.contains("ended with code") && text.contains("variable 'innodb_y=1'"), "{text}");
    let text = with(Kind::Postgres, "work_memory", "1MB");
    assert!(text.contains("unrecognized configuration parameter \"work_memory\""), "{text}");
    let text = with(Kind::Postgres, "shared_buffers", "lots");
    assert!(text.contains("invalid value for parameter \"shared_buffers\""), "{text}");
}

#[test]
fn a_setting_refused_at_a_restart_can_be_taken_back() {
    let parent = parent();
    let options = small(Kind::Postgres, parent.path());
    let mut server = servers::start(Kind::Postgres, &options).expect("started");
    server.set("shared_buffers", "lots").expect("the server's to say");
    let error = server.restart().expect_err("refused");
    assert!(
        error.text.starts_with("PostgreSQL exited while starting; the end of its log:\n"),
        "{error}"
    );
    assert!(server.ended().is_some());
    server.set("shared_buffers", "16MB").expect("a setting");
    server.restart().unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_place_without_a_server_is_reported_with_its_remedy() {
    for kind in Kind::ALL.iter().copied() {
        let error = refused(kind, |options| options.bin = Some(PathBuf::from("/nowhere")));
        assert_eq!(error.kind, ServerErrorKind::NotInstalled);
        assert!(error.text.contains("with ?bin="), "{error}");
    }
}

#[test]
fn another_product_is_not_taken_for_the_wanted_one() {
    let error = refused(Kind::MySql, |options| options.bin = Some(PathBuf::from("/usr/sbin")));
    assert_eq!(error.kind, ServerErrorKind::NotInstalled);
    assert!(error.text.contains("is MariaDB: write managed:mariadb"), "{error}");
    let bin = MYSQL_5_6.options().bin;
    let error = refused(Kind::MariaDb, |options| options.bin = bin);
    assert!(error.text.contains("is MySQL: write managed:mysql"), "{error}");
    let error = refused(Kind::Postgres, |options| options.bin = Some(PathBuf::from("/bin/ls")));
    assert!(error.text.contains("is not PostgreSQL"), "{error}");
}

#[test]
fn a_server_that_is_not_ready_in_time_is_reported_with_its_last_words() {
    let error = refused(Kind::MariaDb, |options| options.start_limit = Duration::from_millis(1));
    assert_eq!(error.kind, ServerErrorKind::TooSlow);
    assert!(error.text.contains("took more than 1ms"), "{error}");
    assert!(error.text.contains("raise ?start_limit="), "{error}");
}

#[test]
fn settings_of_place_and_odd_names_are_refused() {
    let with = |name: &str, value: &str| {
        let pair = (name.to_owned(), value.to_owned());
        let error = refused(Kind::MariaDb, |options| options.settings = vec![pair]);
        assert_eq!(error.kind, ServerErrorKind::BadOption);
        error.text
    };
    assert!(with("datadir", "/var/lib/mysql").contains("dbdyno sets this"));
    assert!(with("-x", "1").contains("cannot be a setting"));
}
