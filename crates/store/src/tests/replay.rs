//! Tests of replaying a run: the store returns the events that were sent.

use analysis::fixtures::Made;
use analysis::report::{Named, Report};

use super::*;

#[test]
fn a_run_is_replayed_exactly_as_it_was_sent() {
    let (_folder, store) = new_store();
    let begun = begun("0197-aaaa", 1_700_000_000_000);
    write(&store, &begun, every_event()).expect("written");
    let mut expected = vec![begun.clone()];
    expected.extend(every_event());
    let events = replay(&store, &run_of(&begun));
    assert_eq!(events.len(), expected.len());
    for (event, expected) in events.iter().zip(&expected) {
        assert_eq!(event, expected);
    }
    let profiles = store.cpu_profiles(&run_of(&begun)).expect("they are read");
    assert_eq!(profiles.len(), 1);
    assert!(expected.contains(&Event::CpuProfile(profiles[0].clone())));
}

#[test]
fn a_histogram_of_any_size_is_replayed() {
    let (_folder, store) = new_store();
    let begun = begun("0197-wide", 1);
    let mut wide = Histogram::new(Range::default());
    (0..100_000_u64).for_each(|n| wide.record(n * n * 37));
    assert!(wide.to_bytes().len() > 10_000, "wider than a reader's scratch buffer");
    let mut second = Second::new(0, 0);
    second.kind(0).response = Some(wide.clone());
    let connected =
        Event::Connected { group: 0, connected: 1, failed: 0, times: Some(wide.clone()) };
    let sent = vec![Event::Second(second), connected];
    write(&store, &begun, sent.clone()).expect("written");
    assert_eq!(replay(&store, &run_of(&begun))[1..], sent);
}

#[test]
fn the_parts_of_a_second_add_up() {
    let (_folder, store) = new_store();
    let begun = begun("0197-aaaa", 1);
    let parts = [second_of(4, 100), second_of(4, 300), second_of(4, 7)];
    let sent = parts.iter().cloned().map(Event::Second).collect();
    write(&store, &begun, sent).expect("written");
    let mut sum = Second::new(0, 4);
    seconds(&replay(&store, &run_of(&begun))).iter().for_each(|part| sum.add(part));
    let mut expected = Second::new(0, 4);
    parts.iter().for_each(|part| expected.add(part));
    assert_eq!(sum, expected);
}

#[test]
fn a_run_can_be_followed_while_it_is_written() {
    let (_folder, store) = new_store();
    let begun = begun("0197-aaaa", 1);
    let writer = store.writer_with(&begun, quick()).expect("a writer");
    let (mut last, mut n_seen) = (0, 0);
    let mut follow = |n: usize| {
        until("what was sent can be read", || {
            let seen = &mut |_| n_seen += 1;
            last = store.events_after(writer.run(), last, seen).expect("a replay");
            last as usize >= n
        });
    };
    for n in 1..=3 {
        writer.send(Event::Second(full_second(n as i64)));
        follow(n);
    }
    // An empty replay from 0 returns the first event each time; later, nothing comes twice.
    assert!(n_seen >= 4, "{n_seen}");
    assert_eq!(last, 3);
    assert_eq!(store.events_after(writer.run(), 2, &mut |_| n_seen = 0).expect("a replay"), 3);
    assert_eq!(n_seen, 0);
}

#[test]
fn a_run_that_goes_on_is_listed_with_what_it_did_so_far() {
    let (_folder, store) = new_store();
    let writer = store.writer_with(&begun("0197-aaaa", 1), quick()).expect("a writer");
    let first = only(&store);
    assert_eq!((first.tps, first.measured_ns), (None, None));
    // The ramp-up does not count.
    for second in [-1, 0, 1] {
        writer.send(Event::Second(second_of(second, 1000)));
    }
    writer.send(Event::Second(second_of(1, 500)));
    until("two seconds are reported", || only(&store).measured_ns == Some(2_000_000_000));
    until("all of them are", || only(&store).tps == Some(1250.0));
    drop(writer);
    assert_eq!(only(&store).tps, Some(1250.0), "a run that was given up keeps them");
}

#[test]
fn a_running_run_is_not_listed_by_another_figure_than_its_first() {
    let mut begun = begun("0197-aaaa", 1);
    let Event::Begun { description, .. } = &mut begun else { panic!("it begins") };
    let metrics = &mut description.groups[0].primary_metrics;
    let computed = PrimaryMetricDescription {
        name: "stretch_ms".to_owned(),
        is_computed: true,
        ..metrics[0].clone()
    };
    metrics.insert(0, computed);
    let (_folder, store) = new_store();
    let writer = store.writer_with(&begun, quick()).expect("a writer");
    writer.send(Event::Second(second_of(0, 1000)));
    until("a second is reported", || only(&store).tps == Some(1000.0));
    assert_eq!(only(&store).primary, None);
}

#[test]
fn a_run_that_was_given_up_is_listed_with_the_figures_of_its_report() {
    for made in [Made::closed(), Made::open_overloaded()] {
        let (_folder, store) = new_store();
        let begun = &made.events()[0];
        let writer = store.writer_with(begun, quick()).expect("a writer");
        made.seconds.iter().for_each(|second| writer.send(Event::Second(second.clone())));
        drop(writer);
        let (row, report) = (only(&store), Report::from_tally(&made.tally()));
        let offered = &report.block.offered_ms;
        let lost = offered.is_among_lost("p99").then_some(f64::INFINITY);
        let near = |listed: Option<f64>, reported: Option<f64>| match (listed, reported) {
            (Some(listed), Some(reported)) => {
                listed == reported || (listed / reported - 1.0).abs() < 1e-6
            }
            (listed, reported) => listed == reported,
        };
        let p99 = offered.p99.or(lost);
        assert!(p99.is_some() && near(row.p99_ms, p99), "{:?} {p99:?}", row.p99_ms);
        let measured_s = row.measured_ns.expect("it was measured") as f64 / 1e9;
        let scale = report.measured_seconds / measured_s;
        let rates = [
            (row.tps, report.block.tps),
            (row.primary.map(|primary| primary.value), report.block.nopm),
        ];
        for (listed, reported) in rates {
            let reported = reported.map(|rate| rate * scale);
            assert!(near(listed, reported), "{listed:?} {reported:?}");
        }
    }
    assert!(Report::from_tally(&Made::closed().tally()).block.nopm.is_some());
}

#[test]
fn a_finished_run_is_listed_with_its_figures() {
    let (_folder, store) = new_store();
    let begun = begun_with("0197-aaaa", 1_700_000_000_000, &["tpcc", "arm", "tpcc"]);
    write(&store, &begun, every_event()).expect("written");
    let row = only(&store);
    assert_eq!(row.status, Status::Completed);
    assert_eq!((row.name.as_str(), row.workload.as_str()), ("a plan", "tpcc+arm"));
    assert_eq!((row.tps, row.primary, row.p99_ms), (Some(17.5), None, Some(1.234567)));
    assert_eq!((row.clients, row.measured_ns), (24, Some(60_000_000_000)));
    assert_eq!((row.worst_finding, row.events_lost), (Some(Severity::Invalid), 0));
    assert_eq!(row.started_unix_ms, 1_700_000_000_000);
    assert!(row.ended_unix_ms > Some(1_700_000_000_000));
    let report = store.report_json(&row.run).expect("a run");
    assert_eq!(report.as_deref(), Some("{\"report\": 1}"));
    assert_eq!(store.plan(&row.run).expect("a run"), "name = 'a plan'\n");
}

#[test]
fn what_the_generator_took_itself_is_replayed() {
    let (_folder, store) = new_store();
    let begun = begun("0197-lag", 1);
    let late_replies = histogram(9, 2e7, 3);
    let second = Second { reply_lag: histogram(7, 1e4, 8), late_replies, ..full_second(3) };
    let sent = vec![
        Event::Second(second),
        Event::Heartbeats { loop_index: 1, most_delayed_at_ns: -5, lag: histogram(6, 1e6, 4) },
        Event::Heartbeats { loop_index: 2, most_delayed_at_ns: 0, lag: None },
    ];
    write(&store, &begun, sent.clone()).expect("written");
    assert_eq!(replay(&store, &run_of(&begun))[1..], sent);
}

#[test]
fn a_run_is_stored_once() {
    let (_folder, store) = new_store();
    write(&store, &begun("0197-aaaa", 1), Vec::new()).expect("written");
    let error = store.writer(&begun("0197-aaaa", 2)).expect_err("there is one");
    assert!(error.message.contains("already has a run 0197-aaaa"), "{error}");
    let error = store.writer(&output("hello")).expect_err("no beginning");
    assert!(error.message.contains("Begun"), "{error}");
}

#[test]
fn what_was_around_a_run_is_replayed_and_takes_few_bytes() {
    let (_folder, store) = new_store();
    let begun = begun("0197-around", 1);
    let gauge = |n: u16| Gauge {
        about: "machine".to_owned(),
        name: format!("disk_written/vd{n}"),
        unit: "B/s".to_owned(),
        help: "Data written.".to_owned(),
    };
    let settings = vec![("sql_mode".to_owned(), "ANSI \u{201c}x\u{201d}".to_owned())];
    let mut sent =
        vec![Event::Settings { settings }, Event::Gauges { gauges: (0..200).map(gauge).collect() }];
    for second in -2..60_i64 {
        // With seven digits, as they are stored.
        let value = |n: u16| f64::from(f32::from(n) * 1.37 + second as f32);
        let values = (0..200).map(|n| (n, value(n))).collect();
        sent.push(Event::Readings(Readings { second, values }));
    }
    write(&store, &begun, sent.clone()).expect("written");
    assert_eq!(replay(&store, &run_of(&begun))[1..], sent);
    let sql = "SELECT sum(length(body)) FROM around WHERE kind = 'readings'";
    let bytes: i64 = raw(&store).query_row(sql, (), |row| row.get(0)).expect("a sum");
    assert!(bytes < 62 * 1_500, "{bytes} bytes for 62 seconds of 200 gauges");
    raw(&store).execute("UPDATE around SET kind = 'moved' WHERE seq = 4", ()).expect("an event");
    let error = store.events(&run_of(&begun), &mut |_| ()).expect_err("it is unknown");
    assert!(error.message.contains("'moved'"), "{error}");
}

#[test]
fn a_report_is_read_without_what_is_not_wanted() {
    let (_folder, store) = new_store();
    let mut report = Report::from_tally(&Made::closed().tally());
    report.settings.push("fsync", "on".to_owned());
    let whole = serde_json::to_string(&report).expect("JSON");
    let begun = begun("0197-aaaa", 1);
    let writer = store.writer(&begun).expect("a writer");
    writer.finish(Some(whole.clone()), Status::Completed, Summary::default()).expect("written");
    let read = |emptied: &[model::ReportField]| {
        let text = store.report_json_but(&run_of(&begun), emptied).expect("a run");
        text.expect("it has ended")
    };
    assert_eq!(read(&[]), whole);
    assert!(!report.seconds.is_empty() && !report.block.transactions.is_empty());
    report.seconds.clear();
    report.intervals.clear();
    report.commits_by_type.clear();
    report.latency_heat = None;
    report.gauges.clear();
    report.block.transactions = Named::default();
    let short = read(&Report::AT_LENGTH);
    assert!(short.len() < whole.len() / 2, "{} of {}", short.len(), whole.len());
    assert_eq!(serde_json::from_str::<Report>(&short).expect("a report"), report);
    report.settings = Named::default();
    let figures = read(&[&Report::AT_LENGTH[..], &Report::SETTINGS].concat());
    assert_eq!(serde_json::from_str::<Report>(&figures).expect("a report"), report);
    let of_many = read(&[&Report::AT_LENGTH[..], &Report::OF_ONE_RUN].concat());
    let of_many: Report = serde_json::from_str(&of_many).expect("a report");
    assert!(of_many.block.shares.below.is_empty() && of_many.notes.is_empty());
    assert_eq!(of_many.findings, report.findings);
}
