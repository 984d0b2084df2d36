//! Tests of writes to the store that fail or are delayed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

#[test]
fn a_full_disk_stops_neither_the_run_nor_its_end() {
    let (_folder, store) = new_store();
    let options = Options { pages_max: Some(60), ..quick() };
    let begun = begun("0197-full", 1);
    let writer = store.writer_with(&begun, options).expect("a writer");
    let mut n = 0;
    until("the disk is full", || {
        n += 1;
        writer.send(Event::Second(full_second(n)));
        writer.trouble().is_some()
    });
    let trouble = writer.trouble().expect("it is full");
    assert!(trouble.contains("no disk space is left"), "{trouble}");
    assert!(trouble.contains("wait in memory"), "{trouble}");
    every_event().into_iter().for_each(|event| writer.send(event));
    let report = "x".repeat(1_000_000);
    let error = writer.finish(Some(report), Status::Completed, Summary::default());
    let error = error.expect_err("something is missing");
    assert_eq!(error.kind, StoreErrorKind::DiskFull);
    assert!(error.message.contains("and its report"), "{error}");

    let row = only(&store);
    assert_eq!(row.status, Status::Completed);
    assert!(row.events_lost > 0);
    let events = replay(&store, &row.run);
    assert!(events.len() > 10, "{}", events.len());
    let sent = n as usize + every_event().len() + 1;
    assert_eq!(events.len() + row.events_lost as usize, sent);
}

#[test]
fn what_could_not_be_written_is_written_later() {
    let (_folder, store) = new_store();
    let begun = begun("0197-late", 1);
    let writer = store.writer_with(&begun, quick()).expect("a writer");
    let other = raw(&store);
    other.execute_batch("BEGIN IMMEDIATE").expect("the only writer");
    every_event().into_iter().for_each(|event| writer.send(event));
    until("there is trouble", || writer.trouble().is_some());
    let trouble = writer.trouble().expect("it is held");
    assert!(trouble.contains("locked by another process"), "{trouble}");
    other.execute_batch("ROLLBACK").expect("a transaction");
    until("the trouble is over", || writer.trouble().is_none());
    writer.finish(None, Status::Completed, Summary::default()).expect("nothing is missing");
    assert_eq!(replay(&store, &run_of(&begun))[1..], every_event());
}

#[test]
fn what_is_lost_is_counted_and_reported() {
    let (_folder, store) = new_store();
    let begun = begun("0197-lost", 1);
    let options = Options { backlog_bytes: 20_000, ..at_the_end() };
    let writer = store.writer_with(&begun, options).expect("a writer");
    (0..100).for_each(|n| writer.send(Event::Second(full_second(n))));
    writer.send(finding(Severity::Warning));
    let trouble = writer.trouble().expect("too much waits");
    assert!(trouble.contains("events are lost"), "{trouble}");
    let error = writer.finish(None, Status::Completed, Summary::default());
    let error = error.expect_err("something is missing");
    assert!(error.message.contains("is stored without"), "{error}");
    let row = only(&store);
    let events = replay(&store, &row.run);
    assert_eq!(events.len() + row.events_lost as usize, 102);
    assert!(row.events_lost > 10 && row.events_lost < 100, "{}", row.events_lost);
    assert_eq!(events.last(), Some(&finding(Severity::Warning)));
}

#[test]
fn a_log_that_grows_too_long_is_taken_into_the_file_and_reported() {
    let (_folder, store) = new_store();
    let begun = begun("0197-long", 1);
    let options = Options { wal_bytes: 2 << 20, ..quick() };
    let writer = store.writer_with(&begun, options).expect("a writer");
    let is_about_log =
        |event: &Event| matches!(event, Event::Output { text } if text.contains("log"));
    let mut n = 0;
    until("the log was taken into the file", || {
        n += 1;
        writer.send(Event::Second(full_second(n)));
        n % 100 == 0 && replay(&store, writer.run()).iter().any(is_about_log)
    });
    writer.finish(None, Status::Completed, Summary::default()).expect("nothing is missing");
    assert_eq!(seconds(&replay(&store, &run_of(&begun))).len(), n as usize);
}

#[test]
fn sending_never_waits_for_the_file() {
    let (_folder, store) = new_store();
    // If it waited for the file, it would wait for a day.
    let options = Options { busy_timeout: Duration::from_secs(86_400), ..quick() };
    let writer = store.writer_with(&begun("0197-held", 1), options).expect("a writer");
    let other = raw(&store);
    other.execute_batch("BEGIN IMMEDIATE").expect("the only writer");
    let second = closed_second(0);
    for _ in 0..200 {
        writer.send(Event::Second(second.clone()));
    }
    other.execute_batch("ROLLBACK").expect("a transaction");
    writer.finish(None, Status::Completed, Summary::default()).expect("nothing is missing");
}

#[test]
fn a_reading_that_nobody_waits_for_ends() {
    let (_folder, mut store) = new_store();
    write(&store, &begun("0197-aaaa", 1), Vec::new()).expect("written");
    let is_gone = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&is_gone);
    store.give_up_when(move || asked.load(Ordering::Relaxed)).expect("a store");
    // Nothing is interrupted while the client waits.
    for _ in 0..1_000 {
        store.list(&Filter::default()).expect("a list");
    }
    is_gone.store(true, Ordering::Relaxed);
    while store.list(&Filter::default()).is_ok() {}
}
