//! Tests of interval logs: HdrHistogram's own reader reads them back, with every sample once.

use analysis::Tally;
use analysis::fixtures::Made;
use analysis::tally::Sum;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use model::Status;

use super::*;
use crate::Summary;

/// Returns the interval log of a synthetic run, which is stored and read back first.
fn log_of(made: &Made) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(&folder.path().join("runs.sqlite")).expect("a store");
    let events = made.events();
    let writer = store.writer(&events[0]).expect("a writer");
    events.iter().cloned().for_each(|event| writer.send(event));
    let run = writer.run().clone();
    writer.finish(None, Status::Completed, Summary::default()).expect("room");
    interval_log(&store, &run).expect("a log")
}

/// A line of an interval log: tag, start and length in seconds, maximum in ms, and the histogram.
type Line = (String, f64, f64, f64, hdrhistogram::Histogram<u64>);

fn lines(log: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    for entry in IntervalLogIterator::new(log.as_bytes()) {
        if let LogEntry::Interval(interval) = entry.expect("a line of the format") {
            let bytes = STANDARD.decode(interval.encoded_histogram()).expect("base64");
            let histogram = Deserializer::new().deserialize(&mut &bytes[..]).expect("a histogram");
            let tag = interval.tag().map_or(String::new(), |tag| tag.as_str().to_owned());
            let start = interval.start_timestamp().as_secs_f64();
            lines.push((tag, start, interval.duration().as_secs_f64(), interval.max(), histogram));
        }
    }
    lines
}

#[test]
fn the_log_begins_as_its_readers_expect() {
    let mut made = Made::closed();
    // 3.25 s passed before the load started: facts, checks, connections.
    made.fact("client", "measured_from_unix_ms", "1772000008250");
    let log = log_of(&made);
    let head: Vec<&str> = log.lines().take(6).collect();
    assert!(head[5].starts_with("0.000,1.000,"), "{}", head[5]);
    insta::assert_snapshot!(head[..5].join("\n"), @r#"
    #[Logged by dbdyno 0.1.0, run 019a7d3c-5b10-7c43-9f2e-2f6d8a1b0c9d]
    #[Histogram log format version 1.3]
    #[Response times in ns on SQLite 3.54.1]
    #[StartTime: 1772000008.250 (seconds since epoch)]
    "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
    "#);
    assert_eq!(log.lines().filter(|line| line.starts_with('#')).count(), 4);
}

#[test]
fn every_measured_sample_is_in_the_log_once_without_a_tag_and_once_with_its_kind() {
    let made = Made::closed();
    let lines = lines(&log_of(&made));
    let tally: Tally = made.tally();
    let sum = Sum::from_tally(&tally, &[0]);
    let total = |tagged: bool| -> u64 {
        let intervals = lines.iter().filter(|line| line.0.is_empty() != tagged);
        intervals.map(|line| line.4.len()).sum()
    };
    assert_eq!((total(false), total(true)), (sum.response.count(), sum.response.count()));
    let mut all = hdrhistogram::Histogram::<u64>::new(3).expect("three digits");
    for line in lines.iter().filter(|line| line.0.is_empty()) {
        all.add(&line.4).expect("it grows");
    }
    let p99 = sum.response.quantile(0.99).expect("samples") as f64;
    let error = (all.value_at_quantile(0.99) as f64 - p99).abs() / p99;
    assert!(error < 0.001, "{error}");
    let max_ms = lines.iter().map(|line| line.3).fold(0.0, f64::max);
    assert!((max_ms / (sum.response.max() as f64 / 1e6) - 1.0).abs() < 0.001, "{max_ms}");
    let payments = lines.iter().filter(|line| line.0 == "payment").count();
    assert_eq!(payments, 60);
}

#[test]
fn a_standstill_is_seconds_without_samples_and_the_last_second_is_as_long_as_it_was() {
    let mut made = Made::interrupted();
    made.seconds.retain(|second| second.second != 3);
    let lines = lines(&log_of(&made));
    let plain: Vec<&Line> = lines.iter().filter(|line| line.0.is_empty()).collect();
    let starts: Vec<f64> = plain.iter().map(|line| line.1).collect();
    assert_eq!(starts, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    assert_eq!(plain[3].4.len(), 0);
    assert!((plain[7].2 - 0.4).abs() < 1e-9, "{}", plain[7].2);
}

#[test]
fn a_tag_has_neither_blanks_nor_commas() {
    let mut made = Made::closed();
    made.description.groups[0].kinds[0].name = "new, order".to_owned();
    made.description.groups.push(made.description.groups[0].clone());
    assert!(lines(&log_of(&made)).iter().any(|line| line.0 == "users.new__order"));
}

#[test]
fn the_log_of_a_run_that_did_not_say_when_it_was_measured_begins_as_planned() {
    let mut made = Made::closed();
    made.fact("client", "measured_from_unix_ms", "soon");
    assert!(log_of(&made).contains("[StartTime: 1772000005.000 "), "{}", log_of(&made));
}
