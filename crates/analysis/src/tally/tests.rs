//! Tests of the tally: sums of seconds, phases and groups, whatever the order of events.

use model::{SummaryOf, SummaryRow};

use super::*;
use crate::fixtures::{self, Made};

#[test]
fn parts_may_come_in_any_order() {
    let events = Made::closed().events();
    let (mut forward, mut backward) = (Tally::new(), Tally::new());
    events.iter().for_each(|event| forward.add(event));
    events.iter().rev().for_each(|event| backward.add(event));
    let (forward, backward) = (Sum::from_tally(&forward, &[0]), Sum::from_tally(&backward, &[0]));
    assert_eq!(forward.counts, backward.counts);
    assert_eq!(forward.response.quantile(0.99), backward.response.quantile(0.99));
}

#[test]
fn the_ramp_up_is_no_part_of_the_measured_phase() {
    let tally = Made::closed().tally();
    let offered = |s: &Second| s.counts().offered();
    let group = &tally.groups[0];
    let (ramp_up, measured) = (offered(&group.ramp_up), offered(&group.measured));
    assert!(ramp_up > 0 && measured > ramp_up);
    let series: u64 = group.series.iter().map(|(_, s)| s.counts.offered()).sum();
    assert_eq!(series, ramp_up + measured);
    assert_eq!(Sum::from_tally(&tally, &[0]).counts.offered(), measured);
}

#[test]
fn a_sum_has_the_range_of_what_it_sums_up() {
    let mut narrow = Histogram::new(stats::Range { highest_ns: NS_PER_S });
    narrow.record(2 * NS_PER_S);
    let mut kind = KindSecond::new(0);
    kind.response = Some(narrow);
    let mut sum = Sum::default();
    sum.add(&kind, true);
    sum.add(&kind, true);
    assert_eq!((sum.response.overflow(), sum.response.count()), (2, 2));
}

#[test]
fn service_is_response_where_nobody_waits() {
    let sum = Sum::from_tally(&Made::closed().tally(), &[0]);
    assert_eq!(sum.service.quantile(0.5), sum.response.quantile(0.5));
    assert_eq!((sum.wait.count(), sum.wait.max()), (sum.response.count(), 0));
    let sum = Sum::from_tally(&Made::open_overloaded().tally(), &[0]);
    assert!(sum.wait.max() > sum.service.max());
}

#[test]
fn a_standstill_is_seen_within_two_seconds() {
    let mut tally = Tally::new();
    for second in 0..5 {
        tally.add(&Event::Second(fixtures::second(second, 100)));
    }
    let ns = |seconds: f64| (seconds * 1e9) as i64;
    assert_eq!(tally.shown_second(ns(4.5)), Some(3));
    assert_eq!(tally.shown_second(ns(5.1)), Some(4));
    assert_eq!(tally.shown_second(ns(6.1)), Some(4));
    assert_eq!(tally.shown_second(ns(7.1)), Some(5));
    assert_eq!(tally.second(5).commits, 0);
    assert_eq!(Tally::new().shown_second(ns(3.0)), None);
    // The latest second of the other group has not arrived yet.
    tally.add(&Event::Second(Second { group: 1, ..fixtures::second(3, 100) }));
    assert_eq!(tally.shown_second(ns(5.1)), Some(3));
}

#[test]
fn commits_beyond_the_window_are_no_slots() {
    let mut made = Made::closed();
    made.measured_ns = 2_250 * NS_PER_MS;
    made.seconds = vec![fixtures::second(0, 100), fixtures::second(2, 100)];
    let tally = made.tally();
    let slots = tally.commits_100ms(&[0]);
    assert_eq!((slots.len(), slots.iter().sum::<u64>()), (22, 120));
    assert_eq!((tally.seconds(), tally.whole_seconds()), (0..3, 0..2));
    assert_eq!(tally.commits_per_second(&[0], tally.seconds()), [100, 0, 100]);
}

#[test]
fn a_backlog_at_start_fills_the_time_of_closed_clients_and_what_is_carried_out_does_not() {
    let mut made = Made::closed();
    made.measured_ns = 3 * NS_PER_S;
    // 8 clients: each is busy from -1 s to 1.5 s and from there to 4 s.
    let times = |count, ns| {
        let mut times = Histogram::default();
        times.record_n(ns, count);
        Some(times)
    };
    let part = |second, carried_ns| {
        let mut part = Second::new(0, second);
        let kind = part.kind(0);
        kind.counts.committed = 8;
        kind.response = times(8, 2_500 * NS_PER_MS);
        (kind.carried, kind.carried_ns) = (8, 8 * carried_ns);
        kind.carried_max_ns = 2_500 * NS_PER_MS;
        part
    };
    made.seconds = vec![part(-1, 1_500 * NS_PER_MS), part(1, NS_PER_S)];
    let tally = made.tally();
    assert_eq!(tally.outside_percent(), Some(0.0));
    assert_eq!(tally.groups[0].backlog_at_start_max_ns(), 2_500 * NS_PER_MS);
    // One of eight did nothing in the first half of the window.
    made.seconds[0].kind(0).carried_ns -= 1_500 * NS_PER_MS;
    let outside = made.tally().outside_percent().expect("all are closed");
    assert!((outside - 6.25).abs() < 1e-9, "{outside}");
    assert_eq!(Made::open_overloaded().tally().outside_percent(), None);
}

#[test]
fn what_the_server_sums_up_is_of_the_last_seconds_until_the_load_has_ended() {
    let summary = |kind, what: &str| ServerSummary {
        of: kind,
        source: "view".to_owned(),
        from_ns: 0,
        to_ns: 1,
        columns: Vec::new(),
        rows: vec![SummaryRow { state: None, what: what.to_owned(), values: Vec::new() }],
        others: None,
    };
    let names = |tally: &Tally| -> Vec<String> {
        tally.server().iter().map(|known| known.rows[0].what.clone()).collect()
    };
    let mut tally = Tally::new();
    for what in ["first", "last"] {
        tally.add(&Event::SummarySoFar(summary(SummaryOf::Waits, what)));
    }
    tally.add(&Event::SummarySoFar(summary(SummaryOf::Statements, "top")));
    assert_eq!(names(&tally), ["top", "last"]);
    let nothing = ServerSummary { rows: Vec::new(), ..summary(SummaryOf::Waits, "") };
    tally.add(&Event::SummarySoFar(nothing));
    assert_eq!(names(&tally), ["top"]);
    tally.add(&Event::Ended {
        reason: StopReason::Completed,
        measured_ns: 1,
        elapsed_ns: 1,
        cpu_ns: 1,
        max_rss_bytes: 1,
    });
    assert_eq!(names(&tally), [""; 0]);
    tally.add(&Event::Summary(summary(SummaryOf::Waits, "all")));
    assert_eq!(names(&tally), ["all"]);
}

#[test]
fn a_crosscheck_allows_for_what_is_unknown() {
    let check = |change, unknown| {
        Crosscheck { group: 0, kind: 0, change, committed: 10, unknown }.matches()
    };
    assert!(check(10, 0) && check(12, 2) && check(10, 2));
    assert!(!check(9, 0) && !check(13, 2) && !check(-10, 0));
}
