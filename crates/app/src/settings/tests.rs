//! Tests of changed settings: who has set a value, and whether it is restored.

use model::{DbError, DbErrorKind};

use super::*;

fn changed(asked: &str, now: Option<&str>, kept_before: Option<&str>) -> ChangedSetting {
    ChangedSetting {
        server: "postgres://h".to_owned(),
        target: "postgres://me@h/d".to_owned(),
        name: "work_mem".to_owned(),
        before: "4MB".to_owned(),
        kept_before: kept_before.map(str::to_owned),
        asked: asked.to_owned(),
        now: now.map(str::to_owned),
        since_unix_ms: 0,
        purpose: "run".to_owned(),
    }
}

fn found(value: &str, kept: Option<&str>) -> Found {
    let kept = kept.map(str::to_owned);
    Found {
        name: "work_mem".to_owned(),
        value: value.to_owned(),
        kept,
        fixed: None,
        is_for_start: false,
    }
}

#[test]
fn wherever_we_were_killed_the_setting_is_known_to_be_ours() {
    // Before any change; set but not applied; applied but not noted.
    let first = changed("5MB", None, None);
    assert!(is_back(&first, &found("4MB", None)));
    for there in [found("4MB", Some("5MB")), found("5MB", Some("5MB")), found("5MB", None)] {
        assert!(is_ours(&first, &there) && !is_back(&first, &there), "{there:?}");
    }
    // Between two values of ours.
    let second = changed("6MB", Some("5MB"), None);
    for there in [found("5MB", Some("5MB")), found("5MB", Some("6MB")), found("6144kB", None)] {
        assert!(is_ours(&second, &there), "{there:?}");
    }
}

/// Interceptor that makes a server refuse to restore a setting.
struct OneWay;

impl drivers::for_tests::Interceptor for OneWay {
    fn start(
        &mut self,
        session: &mut dyn model::Session,
        request: model::Request<'_>,
    ) -> Result<(), DbError> {
        let is_back = matches!(&request, model::Request::Text { sql, .. }
            if sql.starts_with("SET GLOBAL") && sql.contains("200"));
        if is_back {
            return Err(DbError::new(DbErrorKind::Other, "it goes one way only"));
        }
        session.start(request)
    }
}

#[test]
fn a_refused_run_leaves_no_entry_of_a_setting_that_the_server_does_not_set_back() {
    let server = servers::for_tests::MARIADB.start();
    let target = server.target();
    let database = open(&target, 0, false).expect("it answers");
    let database = drivers::for_tests::intercept(&database, || OneWay);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs.sqlite");
    let mut guard = SettingsGuard::new(&path, "experiment x".to_owned(), None);
    let wanted = [("innodb_io_capacity".to_owned(), "300".to_owned())];
    guard.put(database.as_ref(), &target, &wanted).expect("it is set");
    let store = Store::open(&path).expect("it is ours");
    let mut session = SettingsSession::at(database.as_ref(), &target).expect("it answers");
    let held = guard.held[0].clone();
    let back = give_back(&store, &mut session, &held, Ended::AfterLoad);
    assert!(back.is_err(), "{back:?}");
    assert_eq!(left(&path).expect("a journal").len(), 1);
    let note = give_back(&store, &mut session, &held, Ended::Refused).expect("it answers");
    let note = note.expect("it stays changed");
    assert!(note.contains("innodb_io_capacity") && note.contains("stays at 300"), "{note}");
    assert_eq!(left(&path).expect("a journal"), []);
}

#[test]
fn what_somebody_else_has_set_is_neither_ours_nor_back() {
    let ours = changed("6MB", Some("6MB"), Some("4MB"));
    let there = found("7MB", Some("7MB"));
    assert!(!is_ours(&ours, &there) && !is_back(&ours, &there));
    // The value is the old one, but not the value that survives a restart.
    assert!(!is_back(&ours, &found("4MB", None)));
    assert!(is_back(&ours, &found("4MB", Some("4MB"))));
}
