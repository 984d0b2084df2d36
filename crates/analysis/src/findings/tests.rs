//! Tests of findings: each has a made-up run that raises it, and an ordinary run raises only notes.

use std::sync::LazyLock;

use model::finding_catalog::CATALOG;
use model::{
    ArrivalRate, Arrivals, CUT_OFF_AT, ClientMoments, CommitRisk, Counts, DbErrorKind, Disturbed,
    ErrorCount, Event, Fact, Load, NS_PER_MS, NS_PER_S, NS_PER_US, QueueAtEnd, QueueFull,
    StopCondition, StopReason,
};
use stats::Histogram;

use super::*;
use crate::fixtures::{Made, check, second};
use crate::report::{Cause, CauseSeen, Moved, Report};

fn judge(tally: &Tally) -> Vec<Finding> {
    super::judge(tally, false)
}

fn ids(made: &Made) -> Vec<String> {
    judge(&made.tally()).into_iter().map(|finding| finding.id).collect()
}

/// Checks that a change of a plain run causes the finding `id`, and that the plain run does not
/// have it.
fn raises(id: &str, severity: Severity, change: impl FnOnce(&mut Made)) {
    static FOUND: LazyLock<Vec<String>> = LazyLock::new(|| ids(&Made::closed()));
    changed((Made::closed(), &FOUND), id, severity, change);
}

/// Checks that a change of the overloaded run causes the finding `id`, and that the overloaded run
/// itself does not have it.
fn overloaded(id: &str, severity: Severity, change: impl FnOnce(&mut Made)) {
    static FOUND: LazyLock<Vec<String>> = LazyLock::new(|| ids(&Made::open_overloaded()));
    changed((Made::open_overloaded(), &FOUND), id, severity, change);
}

fn from(made: Made, id: &str, severity: Severity, change: impl FnOnce(&mut Made)) {
    let found = ids(&made);
    changed((made, &found), id, severity, change);
}

/// Checks that a change of a run with the findings `found` causes the finding `id` too.
fn changed(
    (mut made, found): (Made, &[String]),
    id: &str,
    severity: Severity,
    change: impl FnOnce(&mut Made),
) {
    assert!(!found.iter().any(|found| found == id), "{id} without a reason");
    change(&mut made);
    let findings = judge(&made.tally());
    let found = findings.iter().find(|finding| finding.id == id);
    let found = found.unwrap_or_else(|| panic!("no {id} in {:?}", ids(&made)));
    assert_eq!(found.severity, severity, "{id}");
    assert!(found.text.ends_with(['.', ')']) && !found.text.contains("  "), "{}", found.text);
    let listed =
        catalog_entry(id).unwrap_or_else(|| panic!("{id} is not in the list of all findings"));
    let severities: Vec<&str> = listed.severity.split(", ").collect();
    assert!(severities.contains(&severity.name()), "{id} is listed as {}", listed.severity);
}

#[test]
fn the_list_of_all_findings_has_each_once_with_words_that_end() {
    for (index, one) in CATALOG.iter().enumerate() {
        assert!(CATALOG[..index].iter().all(|other| other.id != one.id), "{} twice", one.id);
        assert!(one.advice.ends_with(['.', ')']) && !one.raised.ends_with('.'), "{}", one.id);
        assert!(one.severity.split(", ").all(|name| Severity::by_name(name).is_some()));
        assert_eq!(catalog_entry(one.id), Some(one));
    }
}

/// Ids of findings that are raised outside of [`judge`], so that no made-up run raises them here.
const OF_MAKERS: [&str; 18] = [
    "few_session_samples",
    "measurements_short",
    "dropped_measurements",
    "application_behind",
    "few_buffers",
    "no_buffer_filled",
    "not_settled",
    "settings_not_advised",
    "managed_server_ended",
    "settings_lost",
    "setting_adjusted",
    "condition_not_met",
    "checks_not_run",
    "indexes_not_added",
    "crosscheck_not_run",
    "store_not_written",
    "killed",
    "points_not_interleaved",
];

#[test]
fn every_finding_of_the_list_has_a_run_in_these_tests_that_raises_it() {
    let tests = include_str!("tests.rs");
    for one in CATALOG.iter().filter(|one| !OF_MAKERS.contains(&one.id)) {
        let is_tried = tests.contains(&format!("\"{}\"", one.id));
        assert!(is_tried, "no made-up run raises {}", one.id);
    }
}

#[test]
fn trials_one_after_the_other_are_told_of_points_that_could_have_taken_turns() {
    let id =
        |order, n_points, repeats| judge_order(order, n_points, repeats).map(|finding| finding.id);
    let found = Some("points_not_interleaved".to_owned());
    assert_eq!(id(Order::Sequential, 2, 3), found);
    assert_eq!(id(Order::Interleaved, 2, 3), None);
    assert_eq!(id(Order::Random, 2, 3), None);
    assert_eq!((id(Order::Sequential, 1, 3), id(Order::Sequential, 2, 1)), (None, None));
}

#[test]
fn trials_on_several_kernels_are_reported_with_their_names() {
    let judge_names =
        |names: &[&str]| judge_kernels(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
    assert_eq!((judge_names(&[]), judge_names(&["6.1.0"])), (None, None));
    let found = judge_names(&["2.6.18", "2.6.32"]).expect("they differ");
    assert_eq!(found.id, "kernels_differ");
    assert!(found.text.starts_with("Trials ran on 2 kernels (2.6.18, 2.6.32)"), "{}", found.text);
    assert!(found.text.ends_with("kernel=B'."), "{}", found.text);
}

#[test]
fn the_dip_that_cost_most_is_reported() {
    let moved = |gauge: &str, usual, then| Moved {
        gauge: gauge.to_owned(),
        unit: String::new(),
        usual,
        then,
    };
    let dip = |from_s, to_s, rate_ratio, p95_ratio, causes| Dip {
        from_s,
        to_s,
        rate_ratio,
        p95_ratio,
        causes,
        moved: Vec::new(),
        n_stretches: Some(40),
        deadlocks: 0,
        locked: None,
        longest_ms: None,
    };
    let seen = |cause, share, shown_by| CauseSeen { cause, shown_by, share, chance: 0.02 };
    let locks = seen(Cause::Locks, 0.9, moved("database.sessions/lock", 0.25, 4.0));
    let path = seen(Cause::Network, 0.3, moved("database.round_trip", 0.1, 5.0));
    let unknown = dip(3, 4, Some(0.5), None, Vec::new());
    assert_eq!(
        (judge_dips(&[], &[]), judge_dips(std::slice::from_ref(&unknown), &[])),
        (None, None)
    );
    let short = dip(7, 8, Some(0.0), None, vec![seen(Cause::Network, 1.0, path.shown_by.clone())]);
    let all = [unknown, dip(12, 14, Some(0.015), None, vec![locks, path.clone()]), short];
    let found = judge_dips(&all, &[]).expect("a cause is known");
    assert_eq!((found.id.as_str(), found.severity), ("dip_explained", Severity::Warning));
    let words = "Commits fell to 1.5 % from 12 s to 14 s; with it, sessions waited for \
                 locks (database.sessions/lock: 4, usually 0.250). 3 dips in all.";
    assert!(found.text.starts_with(words), "{}", found.text);
    let late = dip(7, 9, Some(0.98), None, vec![path.clone()]);
    let found = judge_dips(&[late], &[]).expect("a cause is known");
    assert!(found.text.starts_with("Transactions were slow from 7 s to 9 s;"), "{}", found.text);
    let found = judge_dips(&[dip(7, 8, None, Some(8.0), vec![path.clone()])], &[])
        .expect("a cause is known");
    assert!(
        found.text.starts_with("p95 rose 8.0-fold from 7 s to 8 s; with it, round"),
        "{}",
        found.text
    );
    let long = Dip { longest_ms: Some(2_002.0), ..dip(7, 9, Some(0.97), Some(1.1), vec![path]) };
    let found = judge_dips(std::slice::from_ref(&long), &[]).expect("a cause is known");
    let words = "A transaction took 2 s from 7 s to 9 s; with it, round";
    assert!(found.text.starts_with(words), "{}", found.text);
    assert!(found.text.contains("This coincided"), "{}", found.text);
    // A disturbance of the plan is not a finding.
    let mut made = Made::closed();
    made.disturbance(7_500, Some(8_500), Disturbed::Done);
    let planned = Report::from_tally(&made.tally()).disturbances;
    let found = judge_dips(&[long], &planned).expect("a cause is known");
    let words = format!("It is during '{}' of the plan", planned[0].name);
    assert!(found.text.contains(&words) && !found.text.contains("coincided"), "{}", found.text);
    // A summary of several runs has the observation without the advice.
    let observed = found.observed.expect("it is set apart from the advice");
    assert!(observed.contains(&words) && !observed.contains("Where the time goes"), "{observed}");
}

#[test]
fn trials_with_different_labels_are_reported_with_how_many_there_are() {
    let label = |value: &str| vec![("kernel".to_owned(), value.to_owned())];
    let (old, new, other) =
        (label("5.15"), label("6.1"), vec![("note".to_owned(), "x".to_owned())]);
    let judge_runs = |runs: &[&[(String, String)]]| judge_labels(&["kernel"], runs);
    assert_eq!(judge_runs(&[&old, &old, &other]), []);
    let [found] = &judge_runs(&[&old, &old, &new])[..] else { panic!("one label differs") };
    let words = "Trials have different labels (kernel=5.15 in 2 runs, kernel=6.1 in 1 run)";
    assert!(found.id == "labels_differ" && found.text.starts_with(words), "{}", found.text);
}

#[test]
fn a_plain_run_raises_only_notes() {
    assert_eq!(ids(&Made::closed()), ["same_host", "failed", "retried", "closed_load"]);
    let severities = judge(&Made::closed().tally()).into_iter().map(|finding| finding.severity);
    assert!(severities.into_iter().all(|severity| severity == Severity::Note));
}

/// Turns a run into one of 30 s with `n` commits per second, but `slow` commits in every tenth.
fn every_ten_seconds(made: &mut Made, n: u64, slow: u64) {
    made.measured_ns = 30 * NS_PER_S;
    let to_second =
        |index| second(index, if index % 10 == 9 { slow } else { n + index as u64 % 7 });
    made.seconds = (0..30).map(to_second).collect();
}

#[test]
fn seconds_that_stand_out_are_found_with_their_period() {
    raises("slow_seconds", Severity::Warning, |made| every_ten_seconds(made, 963, 520));
    let mut made = Made::closed();
    every_ten_seconds(&mut made, 963, 520);
    let findings = judge(&made.tally());
    let text = &findings.iter().find(|finding| finding.id == "slow_seconds").expect("raised").text;
    let expect = "3 seconds (10.0 % of the time, at 9, 19, 29 s) stand out: 520 commits/s where the \
                  median second has 965.5. They recur every 10 s.";
    assert!(text.starts_with(expect), "{text}");
    // The same number of commits, with slower replies.
    raises("slow_seconds", Severity::Warning, |made| {
        every_ten_seconds(made, 963, 963);
        for second in made.seconds.iter_mut().filter(|second| second.second % 10 == 9) {
            let mut slow = Histogram::default();
            slow.record_n(50 * NS_PER_MS, 963);
            second.kind(0).response = Some(slow);
        }
    });
}

/// Turns a run into a minute of an open load whose plan offers 400/s for eight seconds and 2,200/s
/// for two, in turn: the p95 is 4 ms, 60 to 200 ms in a burst, and 90 ms in the second after it.
fn bursts(made: &mut Made) {
    let mut steps = Vec::new();
    (0..6).for_each(|_| steps.extend([(400.0, 8 * NS_PER_S), (2_200.0, 2 * NS_PER_S)]));
    made.description.groups[0].load = Load::Open {
        arrivals: Arrivals::Poisson,
        rate: ArrivalRate::Steps(steps),
        queue: 10_000,
        queue_full: QueueFull::Drop,
        queue_wait_ns: None,
        queue_at_end: QueueAtEnd::Serve,
    };
    made.measured_ns = 60 * NS_PER_S;
    let to_second = |index: i64| {
        let (n, ms) = match index % 10 {
            8 => (2_200, 60),
            9 => (2_200, 200),
            0 if index > 0 => (400, 90),
            _ => (400, 4),
        };
        let mut one = second(index, n + index as u64 * 7 % 13);
        let mut times = Histogram::default();
        let finished = one.kind(0).counts.finished();
        times.record_n(ms * NS_PER_MS + index as u64 * 7 % 5 * NS_PER_US * 20, finished);
        one.kind(0).response = Some(times);
        one
    };
    made.seconds = (0..60).map(to_second).collect();
}

#[test]
fn a_dip_has_one_cause_in_all_findings() {
    let mut made = Made::closed();
    let n = |index: i64| if index % 10 < 5 { 500 } else { 100 };
    made.seconds = (0..60).map(|index| second(index, n(index))).collect();
    made.seconds.remove(30);
    let tally = made.tally();
    for id in ["stalled", "uneven"] {
        let text_of = |has_cause| {
            let findings = super::judge(&tally, has_cause).into_iter();
            findings.filter(|finding| finding.id == id).map(|finding| finding.text).next()
        };
        let (alone, with_dip) = (text_of(false).expect(id), text_of(true).expect(id));
        assert!(with_dip.ends_with("on the dip has what coincided with them."), "{with_dip}");
        assert!(!with_dip.contains("checkpoints") && alone != with_dip, "{alone}");
    }
}

#[test]
fn what_the_plan_offers_is_no_fault_and_no_error() {
    let mut made = Made::closed();
    bursts(&mut made);
    let found = ids(&made);
    for blames in ["slow_seconds", "drifting", "uneven", "warming_up", "stalled"] {
        assert!(!found.iter().any(|id| id == blames), "{found:?}");
    }
    let report = Report::from_tally(&made.tally());
    let ci95 = report.block.tps_ci95.as_ref().expect("a minute");
    // Poisson arrivals would give 7; the scatter of the bursts is 270.
    assert!(ci95.half_width < 15.0 && ci95.seconds_to_1_percent.is_none(), "{ci95:?}");
    assert!(report.dips.is_empty(), "{:?}", report.dips);
    // Two seconds of the same rate that take as long as a burst are not caused by one.
    for slow in [24, 45] {
        let mut times = Histogram::default();
        times.record_n(90 * NS_PER_MS, made.seconds[slow].kind(0).counts.finished());
        made.seconds[slow].kind(0).response = Some(times);
    }
    let findings = judge(&made.tally());
    let text = &findings.iter().find(|finding| finding.id == "slow_seconds").expect("raised").text;
    let expect = "2 seconds (3.3 % of the time, at 24, 45 s) stand out: p95 of 90.0 ms where as many \
                  arrivals have 4";
    assert!(text.starts_with(expect), "{text}");
}

#[test]
fn a_beginning_that_differs_is_found_with_the_ramp_up_it_takes() {
    let warm = |made: &mut Made| {
        made.measured_ns = 60 * NS_PER_S;
        let to_second =
            |index: i64| second(index, if index < 12 { 700 } else { 1000 } + index as u64 % 5);
        made.seconds = (0..60).map(to_second).collect();
    };
    raises("warming_up", Severity::Warning, warm);
    let mut made = Made::closed();
    warm(&mut made);
    let findings = judge(&made.tally());
    let text = &findings.iter().find(|finding| finding.id == "warming_up").expect("raised").text;
    let expect = "The first 12 seconds of the measured phase differ: 700.0 commits/s, 1,000 \
                  afterwards. Use --ramp-up 20s.";
    assert!(text.starts_with(expect), "{text}");
    assert!(!findings.iter().any(|finding| finding.id == "drifting"), "the rest is steady");
}

#[test]
fn a_late_generator_is_found() {
    raises("generator_lag", Severity::Warning, |made| {
        let mut lag = Histogram::default();
        lag.record_n(3 * NS_PER_MS, 100_000);
        made.seconds[5].lag = Some(lag);
    });
    raises("generator_paused", Severity::Warning, |made| {
        made.fact("client", "pauses", "1");
        made.fact("client", "longest_pause_s", "2.003");
        made.fact("client", "longest_pause_at_s", "4.100");
    });
    raises("clients_abandoned", Severity::Invalid, |made| {
        made.fact("client", "clients_abandoned", "2")
    });
    raises("client_time_outside", Severity::Warning, |made| {
        made.fact("client", "outside_percent", "61.0");
    });
    raises("generator_saturated", Severity::Warning, |made| {
        made.fact("client", "run_delay_share_percent", "23.5");
    });
    raises("connect_failed", Severity::Warning, |made| made.connect_failed = 3);
    raises("connects_retried", Severity::Note, |made| {
        made.fact("client", "connects_retried", "7");
    });
    raises("idle_clients", Severity::Warning, |made| {
        made.moments.truncate(7);
        made.moments[0].count = 0;
    });
}

#[test]
fn clients_of_a_process_that_was_lost_are_not_idle() {
    let is_found = |lost: bool| {
        let mut made = Made::closed();
        made.moments.truncate(7);
        made.moments[0].count = 0;
        for name in ["process_1_clients", "process_1_cpu_s", "process_2_clients"] {
            made.fact("processes", name, "1");
        }
        if !lost {
            made.fact("processes", "process_2_cpu_s", "1");
        }
        ids(&made).contains(&"idle_clients".to_owned())
    };
    assert!(is_found(false) && !is_found(true));
}

#[test]
fn clients_that_had_no_turn_yet_are_not_idle() {
    let mut made = Made::closed();
    made.description.groups[0].clients = 50_000;
    assert!(!ids(&made).contains(&"idle_clients".to_owned()));
}

#[test]
fn a_lag_of_a_few_microseconds_is_none_however_fast_the_database() {
    let mut made = Made::closed();
    made.seconds = (0..60).map(|index| second(index, 100)).collect();
    for second in &mut made.seconds {
        let kind = second.kind(0);
        kind.response = None;
        kind.response.get_or_insert_default().record_n(200_000, 100);
    }
    let mut lag = Histogram::default();
    lag.record_n(50_000, 1000);
    made.seconds[0].lag = Some(lag);
    assert!(!ids(&made).contains(&"generator_lag".to_owned()));
}

#[test]
fn what_was_offered_and_not_taken_is_found() {
    let found = ids(&Made::open_overloaded());
    for id in ["dropped_arrivals", "unfinished", "backlog_at_start"] {
        assert!(found.iter().any(|f| f == id), "{id} in {found:?}");
    }
    assert!(!found.contains(&"closed_load".to_owned()));
    raises("dropped_arrivals", Severity::Warning, |made| made.kind(0).counts.dropped = 1);
    raises("unfinished", Severity::Warning, |made| {
        let kind = made.kind(0);
        kind.counts.unfinished = 1;
        kind.unfinished.get_or_insert_default().record(NS_PER_S);
    });
    // Closed load has no rate to lower.
    let mut closed = Made::closed();
    closed.kind(0).counts.unfinished = 1;
    for (made, advises) in [(closed, false), (Made::open_overloaded(), true)] {
        let findings = judge(&made.tally());
        let found = findings.iter().find(|finding| finding.id == "unfinished").expect("raised");
        assert_eq!(found.text.contains("lower the rate"), advises, "{}", found.text);
        assert!(found.text.contains("--drain"), "{}", found.text);
    }
    // An interruption cuts off at most one per client.
    let is_interrupted = |unfinished: u64| {
        move |made: &mut Made| {
            made.reason = Some(StopReason::Interrupted);
            let kind = made.kind(0);
            kind.counts.unfinished = unfinished;
            kind.unfinished.get_or_insert_default().record_n(NS_PER_S, unfinished);
        }
    };
    raises("unfinished", Severity::Note, is_interrupted(8));
    raises("unfinished", Severity::Warning, is_interrupted(9));
    let mut open = Made::open_overloaded();
    open.seconds[4].kind(0).carried = 6;
    from(open, "backlog_at_start", Severity::Warning, |made| made.seconds[4].kind(0).carried = 7);
    overloaded("queue_too_small", Severity::Warning, |made| {
        for second in &mut made.seconds {
            for kind in &mut second.kinds {
                let finished = kind.counts.finished();
                kind.service = Some(Histogram::default());
                kind.service.get_or_insert_default().record_n(NS_PER_MS, finished);
            }
        }
    });
    overloaded("queue_grew", Severity::Warning, |made| {
        for second in &mut made.seconds {
            second.waiting = u64::try_from(second.second * 200).ok();
        }
    });
    overloaded("queue_grew", Severity::Warning, |made| {
        for second in &mut made.seconds {
            second.waiting = u64::try_from((second.second - 48) * 100).ok().or(Some(0));
        }
    });
    let steady = || {
        let mut made = Made::open_overloaded();
        let kinds = made.seconds.iter_mut().map(|second| (&mut second.waiting, &mut second.kinds));
        for (waiting, kinds) in kinds {
            *waiting = Some(2);
            kinds.iter_mut().for_each(|kind| kind.counts.dropped = 0);
        }
        made
    };
    from(steady(), "queue_at_end", Severity::Warning, |made| {
        made.seconds.iter_mut().rev().take(2).for_each(|second| second.waiting = Some(900));
    });
    // A window of a second began where the ramp-up ended.
    from(steady(), "queue_at_end", Severity::Warning, |made| {
        made.seconds.retain(|second| second.second < 1);
        made.measured_ns = NS_PER_S;
        made.seconds.last_mut().expect("a second").waiting = Some(400);
    });
    from(steady(), "queue_at_end", Severity::Warning, |made| {
        made.seconds.retain(|second| second.second == 0);
        made.measured_ns = NS_PER_S;
        made.description.phases.ramp_up_ns = 0;
        made.seconds.last_mut().expect("a second").waiting = Some(400);
    });
    let mut live = steady();
    live.seconds.last_mut().expect("a second").waiting = Some(900);
    live.reason = None;
    assert!(!ids(&live).contains(&"queue_at_end".to_owned()));
    overloaded("closed_load", Severity::Note, |made| {
        made.description.groups[0].load = model::Load::Closed;
    });
    // A producer offers measurements at its rate, whatever the clients can take.
    let mut made = Made::closed();
    made.description.groups[0].parameters = vec![(model::PRODUCER_RATE.to_owned(), "0".to_owned())];
    assert!(ids(&made).contains(&"closed_load".to_owned()));
    made.description.groups[0].parameters[0].1 = "1000.5".to_owned();
    assert!(!ids(&made).contains(&"closed_load".to_owned()));
}

#[test]
fn of_clients_whose_service_times_are_not_known_nobody_says_that_they_had_time_left() {
    // Clients could not have taken the dropped arrivals, idle or not, if these are many times what
    // they took.
    let mut flood = Made::open_overloaded();
    flood.seconds.iter_mut().flat_map(|second| &mut second.kinds).for_each(|kind| {
        let finished = kind.counts.finished();
        kind.service = Some(Histogram::default());
        kind.service.get_or_insert_default().record_n(NS_PER_MS, finished);
        kind.counts.dropped = 1_000 * finished;
    });
    let findings = judge(&flood.tally());
    assert!(findings.iter().all(|finding| finding.id != "queue_too_small"));
    let dropped = findings.iter().find(|finding| finding.id == "dropped_arrivals");
    let words = "the rate is higher than the system can handle";
    assert!(dropped.is_some_and(|dropped| dropped.text.contains(words)), "{dropped:?}");
    // Service times arrive later than counts: for a run in progress not yet, for a killed one
    // never.
    let late = |ended: bool| {
        let mut made = Made::open_overloaded();
        made.seconds.iter_mut().flat_map(|second| &mut second.kinds).for_each(|kind| {
            (kind.service, kind.wait) = (None, None);
        });
        made.reason = made.reason.filter(|_| ended);
        made
    };
    for made in [late(false), late(true)] {
        let findings = judge(&made.tally());
        let find_by_id = |id: &str| findings.iter().find(|finding| finding.id == id);
        assert!(find_by_id("queue_too_small").is_none(), "{:?}", find_by_id("queue_too_small"));
        let dropped = find_by_id("dropped_arrivals").expect("it drops");
        assert!(!dropped.text.contains("higher than the system"), "{}", dropped.text);
    }
    // Clients with an unfinished transaction are busy, even if it hangs.
    let mut hangs = late(true);
    hangs.seconds.iter_mut().flat_map(|second| &mut second.kinds).for_each(|kind| {
        kind.counts.dropped += kind.counts.finished();
        (kind.counts.committed, kind.counts.rolled_back, kind.response) = (0, 0, None);
        (kind.counts.unfinished, kind.unfinished) = (0, None);
    });
    let first = hangs.kind(0);
    first.counts.unfinished = 6;
    first.unfinished.get_or_insert_default().record_n(70 * NS_PER_S, 6);
    assert!(!ids(&hangs).contains(&"queue_too_small".to_owned()), "{:?}", ids(&hangs));
}

#[test]
fn failures_matter_by_their_share() {
    let fail = |made: &mut Made, n: u64| {
        let kind = made.kind(1);
        kind.counts.failed = n;
        kind.failures = Some(Histogram::default());
        kind.failures.get_or_insert_default().record_n(NS_PER_S, n);
    };
    let plain = || {
        let mut made = Made::closed();
        let second = made.seconds.iter_mut().find(|second| second.second == 17);
        let kind = second.expect("second 17").kind(1);
        (kind.counts.failed, kind.failures) = (0, None);
        made
    };
    from(plain(), "failed", Severity::Note, |made| fail(made, 1));
    from(plain(), "failed", Severity::Warning, |made| fail(made, 1_000));
    from(plain(), "failed", Severity::Invalid, |made| fail(made, 50_000));
    raises("unknown_commits", Severity::Warning, |made| {
        made.kind(1).counts.unknown = 1;
        made.kind(1).counts.failed = 1;
        made.kind(1).failures.get_or_insert_default().record(NS_PER_S);
    });
    raises("nothing_finished", Severity::Invalid, |made| made.seconds.clear());
    let endless = |made: &mut Made| {
        let kinds = made.seconds.iter_mut().flat_map(|second| &mut second.kinds);
        kinds.for_each(|kind| kind.counts = Counts::default());
        made.kind(0).counts.unfinished = 4;
        made.fact("tpcc", CUT_OFF_AT, "bank.sql:7 (4 clients)");
    };
    raises("still_running", Severity::Invalid, endless);
    let mut made = Made::closed();
    endless(&mut made);
    let all = judge(&made.tally()).into_iter();
    let text: String = all.filter(|one| one.id == "still_running").map(|one| one.text).collect();
    let said = "Nothing finished: all 4 transactions were still running at the end, at bank.sql:7";
    assert!(text.starts_with(said), "{text}");
    raises("no_statements", Severity::Invalid, |made| {
        made.description.groups[0].source = Some("\\set a 1\n".to_owned());
        let kinds = made.seconds.iter_mut().flat_map(|second| &mut second.kinds);
        kinds.for_each(|kind| kind.traffic = Default::default());
    });
    let mut calm = Made::closed();
    calm.seconds.iter_mut().flat_map(|s| &mut s.kinds).for_each(|kind| kind.counts.retried = 0);
    from(calm, "retried", Severity::Note, |made| made.kind(0).counts.retried = 1);
    raises("errors_ignored", Severity::Note, |made| made.kind(0).counts.ignored = 1);
    raises("errors_ignored", Severity::Invalid, |made| {
        for kind in made.seconds.iter_mut().flat_map(|second| &mut second.kinds) {
            kind.counts = Counts { ignored: kind.counts.finished(), ..Counts::default() };
        }
    });
}

#[test]
fn the_commonest_error_is_named_with_the_failures() {
    let mut made = Made::closed();
    let message = "Deadlock found".to_owned();
    let error = ErrorCount {
        ignored: 0,
        kind: DbErrorKind::Deadlock,
        code: 1213,
        sqlstate: String::new(),
        message,
        count: 99_999,
    };
    made.seconds[10].errors.push(error);
    let described = |made: &Made| {
        let findings = judge(&made.tally());
        let failed = findings.into_iter().find(|finding| finding.id == "failed");
        failed.expect("two failed").text
    };
    assert!(described(&made).contains(", mostly deadlock."), "{}", described(&made));
    // Conflicts that a retry overcame did not fail anything.
    made.seconds[10].kind(0).counts.retried += 99_999;
    let message = "Lost connection".to_owned();
    let error = ErrorCount {
        ignored: 0,
        kind: DbErrorKind::ConnectionLost,
        code: 2013,
        sqlstate: String::new(),
        message,
        count: 2,
    };
    made.seconds[10].errors.push(error);
    assert!(described(&made).contains(", mostly connection_lost."), "{}", described(&made));
}

#[test]
fn samples_are_enough_within_range_and_all_there() {
    raises("few_samples", Severity::Note, |made| {
        made.seconds.retain(|second| second.second < 3);
    });
    raises("overflow", Severity::Warning, |made| {
        let kind = made.kind(0);
        kind.counts.committed += 1;
        kind.response.get_or_insert_default().record(7_200 * NS_PER_S);
    });
    raises("internal_count_mismatch", Severity::Invalid, |made| made.kind(0).counts.committed += 1);
}

#[test]
fn data_that_break_their_rules_make_a_run_invalid() {
    raises("checks_failed_before", Severity::Invalid, |made| {
        made.before = Some(vec![check("3.3.2.1", 2), check("3.3.2.2", 0)]);
    });
    raises("checks_failed", Severity::Invalid, |made| {
        made.after = Some(vec![check("3.3.2.1", 1)]);
    });
    raises("crosscheck_mismatch", Severity::Invalid, |made| {
        let (change, committed) = (13_001, 13_000);
        made.more = vec![Event::Crosschecked { group: 0, kind: 0, change, committed, unknown: 0 }];
    });
    raises("commits_not_delivered", Severity::Note, |made| {
        made.fact("processes", "process_1_clients", "readers 4");
        made.fact("processes", "process_1_lost_at", "31.5 s: it has left");
        let (change, committed) = (13_001, 13_000);
        made.more.push(Event::Crosschecked { group: 0, kind: 0, change, committed, unknown: 0 });
    });
    raises("server_commit_count_low", Severity::Warning, |made| {
        made.fact("commits", "server_counter", "xact_commit");
        made.fact("commits", "server_change", "12999");
        made.fact("commits", "ours", "13000");
        made.fact("commits", "counts_single_statements", "true");
    });
    raises("server_restarted", Severity::Warning, |made| {
        made.fact("commits", "server_counter", "xact_commit");
        made.fact("commits", "server_change", "1762");
        made.fact("commits", "ours", "2945");
        made.fact("commits", "counts_single_statements", "true");
        made.seconds[9].errors.push(ErrorCount {
            ignored: 0,
            kind: DbErrorKind::ConnectionLost,
            code: 0,
            sqlstate: String::new(),
            message: "closed".to_owned(),
            count: 1,
        });
    });
    raises("server_restarted", Severity::Warning, |made| {
        made.fact("commits", "server_counter", "Com_commit");
        made.fact("commits", "server_change", "-18961");
        made.fact("commits", "ours", "6893");
    });
    raises("server_restarted", Severity::Warning, |made| {
        made.fact("server", "restarted_ago_s", "21");
    });
    raises("data_smaller", Severity::Note, |made| {
        let note = format!("{}: each warehouse has 10,000 items.", model::SMALLER_DATA);
        made.description.groups[0].notes.push(note);
    });
    raises("few_hot_rows", Severity::Note, |made| {
        let what = "branches".to_owned();
        made.description.groups[0].hot_rows = Some(model::HotRows { rows: 1, what });
    });
    raises("data_unknown", Severity::Note, |made| made.fact("data", "meta", "absent"));
}

#[test]
fn a_counter_that_never_moves_is_no_evidence_of_a_restart() {
    let with_change = |change: &str| {
        let mut made = Made::closed();
        made.fact("commits", "server_counter", "Com_commit");
        made.fact("commits", "server_change", change);
        made.fact("commits", "ours", "2945");
        made.fact("commits", "counts_single_statements", "true");
        made.seconds[9].errors.push(ErrorCount {
            ignored: 0,
            kind: DbErrorKind::ConnectionLost,
            code: 0,
            sqlstate: String::new(),
            message: "closed".to_owned(),
            count: 1,
        });
        ids(&made).contains(&"server_restarted".to_owned())
    };
    assert!(with_change("1762") && !with_change("0"));
}

#[test]
fn an_unknown_commit_may_have_happened() {
    let mut made = Made::closed();
    let (change, committed) = (13_001, 13_000);
    made.more = vec![Event::Crosschecked { group: 0, kind: 0, change, committed, unknown: 1 }];
    assert!(!ids(&made).contains(&"crosscheck_mismatch".to_owned()));
    // Counts are written in groups of three digits.
    made.more = vec![Event::Crosschecked { group: 0, kind: 0, change, committed, unknown: 0 }];
    let all = judge(&made.tally());
    let text =
        all.iter().find(|finding| finding.id == "crosscheck_mismatch").map(|finding| &finding.text);
    assert!(text.is_some_and(|text| text.contains("13,000 commits")), "{text:?}");
    assert!(text.is_some_and(|text| text.contains("changed by 13,001.")), "{text:?}");
    // Another run can only add to the count.
    made.fact("commits", "runs_meanwhile", "other, 0197-b");
    let all = judge(&made.tally());
    let shared = all.iter().find(|finding| finding.id == "crosscheck_shared");
    let words = "Another run of dbdyno (other, 0197-b) used this database meanwhile";
    assert!(shared.is_some_and(|found| found.text.contains(words)), "{all:?}");
    assert!(!ids(&made).contains(&"crosscheck_mismatch".to_owned()));
    let (change, committed) = (12_999, 13_000);
    made.more = vec![
        Event::Fact(model::Fact::new("commits", "runs_meanwhile", "other, 0197-b")),
        Event::Crosschecked { group: 0, kind: 0, change, committed, unknown: 0 },
    ];
    assert!(ids(&made).contains(&"crosscheck_mismatch".to_owned()));
}

#[test]
fn without_transactions_parts_of_those_that_failed_are_the_cause() {
    let text = |id: &str, note: &str| {
        let mut made = Made::closed();
        made.description.groups[0].notes.push(note.to_owned());
        made.after = Some(vec![check("measurements", 1)]);
        let (change, committed) = (13_001, 13_000);
        made.more = vec![Event::Crosschecked { group: 0, kind: 0, change, committed, unknown: 0 }];
        let all = judge(&made.tally());
        all.into_iter().find(|finding| finding.id == id).map(|found| found.text).expect("found")
    };
    let note = format!("{}: each statement", model::NO_TRANSACTIONS);
    for (id, wrong) in [
        ("checks_failed", "not isolated or not atomic"),
        ("crosscheck_mismatch", "Commits were lost"),
    ] {
        let (with, without) = (text(id, "Nothing."), text(id, &note));
        assert!(with.contains(wrong) && !without.contains(wrong), "{with}\n{without}");
        assert!(without.contains("parts of transactions that failed stay"), "{without}");
    }
}

#[test]
fn a_run_that_did_not_go_as_planned_says_so() {
    raises("run_failed", Severity::Invalid, |made| {
        made.reason = Some(StopReason::failed("all connections were lost"));
    });
    let mut made = Made::closed();
    made.seconds.clear();
    made.measured_ns = 0;
    made.reason = Some(StopReason::failed("the table is missing"));
    let findings = judge(&made.tally());
    let invalid = findings.iter().filter(|finding| finding.severity == Severity::Invalid);
    assert_eq!(invalid.map(|finding| &*finding.id).collect::<Vec<&str>>(), ["run_failed"]);
    raises("queue_full", Severity::Warning, |made| made.reason = Some(StopReason::QueueFull));
    raises("queue_full", Severity::Invalid, |made| {
        (made.reason, made.measured_ns) = (Some(StopReason::QueueFull), 0);
    });
    raises("interrupted", Severity::Note, |made| made.reason = Some(StopReason::Interrupted));
    raises("too_short", Severity::Invalid, |made| made.measured_ns = 900 * NS_PER_MS);
    raises("too_short", Severity::Invalid, |made| made.measured_ns = 0);
    raises("short", Severity::Note, |made| made.measured_ns = 9 * NS_PER_S);
    raises("no_ramp_up", Severity::Note, |made| made.description.phases.ramp_up_ns = 0);
    raises("short_ramp_up", Severity::Warning, |made| {
        made.description.phases.ramp_up_ns = 2 * NS_PER_S;
        made.fact("client", "connecting_s", "2.001");
    });
}

#[test]
fn a_fixed_sequence_of_transactions_is_not_judged_by_its_seconds() {
    let found = |sequence| {
        let mut made = Made::closed();
        made.seconds.retain(|second| second.second < 3);
        made.measured_ns = 900 * NS_PER_MS;
        made.description.phases.ramp_up_ns = 0;
        made.description.groups[0].sequence = sequence;
        ids(&made)
    };
    let of_seconds = ["too_short", "no_ramp_up"];
    let [rates, sequence] = [found(None), found(Some(22))];
    assert!(of_seconds.iter().all(|id| rates.iter().any(|found| found == id)), "{rates:?}");
    assert!(!of_seconds.iter().any(|id| sequence.iter().any(|found| found == id)), "{sequence:?}");
    let mut made = Made::closed();
    made.description.groups[0].sequence = Some(22);
    made.measured_ns = 0;
    assert!(ids(&made).contains(&"too_short".to_owned()), "{:?}", ids(&made));
}

#[test]
fn a_figure_that_a_sequence_lost_by_a_failure_makes_the_run_invalid() {
    let with_lost = |failed: bool, sequence: Option<u64>| {
        let mut made = Made::closed();
        made.description.groups[0].sequence = sequence;
        let lost = model::ComputedFigure::new("nopm", Err("q9 timed out after 2s".to_owned()));
        made.more.push(Event::Computed { group: 0, figures: vec![lost] });
        for kind in made.seconds.iter_mut().flat_map(|second| &mut second.kinds) {
            (kind.counts.failed, kind.failures) = (0, None);
        }
        if failed {
            made.kind(1).counts.failed = 1;
            made.kind(1).failures.get_or_insert_default().record(NS_PER_S);
        }
        let findings = judge(&made.tally());
        let lost = findings.into_iter().find(|finding| finding.id == "no_figure");
        lost.map(|finding| (finding.severity, finding.text))
    };
    let (severity, text) = with_lost(true, Some(22)).expect("it is lost");
    assert_eq!(severity, Severity::Invalid);
    assert!(text.starts_with("NOPM has no value: q9 timed out after 2s."), "{text}");
    assert_eq!(with_lost(false, Some(22)).map(|(severity, _)| severity), Some(Severity::Warning));
    assert_eq!(with_lost(true, None), None);
}

#[test]
fn of_a_count_that_is_done_early_as_much_is_wanted_as_a_minute_takes() {
    raises("count_too_small", Severity::Note, |made| {
        made.measured_ns = 9 * NS_PER_S;
        made.description.groups[0].stop_condition = StopCondition::Transactions(9_000);
    });
    let mut made = Made::closed();
    (made.measured_ns, made.description.phases.ramp_up_ns) = (0, 2 * NS_PER_S);
    made.seconds.clear();
    let group = &mut made.description.groups[0];
    group.workload = "arm".to_owned();
    group.parameters = vec![(model::PRODUCER_COUNT.to_owned(), "5000".to_owned())];
    made.fact("arm", model::PRODUCER_ELAPSED_S, "0.020");
    let findings = judge(&made.tally());
    let find_by_id = |id: &str| findings.iter().find(|finding| finding.id == id);
    let found = find_by_id("count_too_small").expect("it is");
    assert_eq!(
        (found.severity, &*found.text),
        (
            Severity::Invalid,
            "Nothing was measured: the ramp-up of 2 s took all of them, give --ramp-up 0s. The \
             load of 5,000 measurements took 20 ms. At that rate, a minute takes 16,000,000 \
             (--measurements 16000000). Give more of them, so that a minute or more is measured."
        )
    );
    assert!(
        find_by_id("nothing_finished").is_none() && find_by_id("too_short").is_none(),
        "{findings:#?}"
    );
    // The time limit ended it.
    made.description.phases.measure_ns = 0;
    made.description.groups[0].parameters[0].1 = "0".to_owned();
    assert!(ids(&made).contains(&"too_short".to_owned()));
}

#[test]
fn a_queue_that_is_full_in_the_ramp_up_is_all_that_is_said_of_the_measured_phase() {
    let mut made = Made::open_overloaded();
    (made.reason, made.measured_ns) = (Some(StopReason::QueueFull), 0);
    made.seconds.retain(|second| second.second < 0);
    made.seconds.iter_mut().flat_map(|second| &mut second.kinds).for_each(|kind| kind.carried += 9);
    let found = ids(&made);
    assert!(found.contains(&"queue_full".to_owned()), "{found:?}");
    for misleading in ["too_short", "nothing_finished", "backlog_at_start", "unfinished"] {
        assert!(!found.contains(&misleading.to_owned()), "{misleading} in {found:?}");
    }
}

#[test]
fn a_slow_beginning_is_one_warning() {
    let warnings = |made: &Made| -> Vec<String> {
        let all = judge(&made.tally()).into_iter();
        all.filter(|finding| finding.severity > Severity::Note).map(|finding| finding.id).collect()
    };
    for slow in [40, 300] {
        let mut made = Made::closed();
        made.measured_ns = 60 * NS_PER_S;
        let n = |i: i64| if i < 10 { slow + i as u64 % 5 } else { 1000 + i as u64 % 5 };
        made.seconds = (0..60).map(|i| second(i, n(i))).collect();
        // A stall, and seconds that stand out twice.
        made.seconds[1].commits_tenths.fill(0);
        made.seconds[4] = second(4, 990);
        assert_eq!(warnings(&made), ["warming_up"], "{slow}");
        // A ramp-up that was too short explains it.
        made.fact("client", "connecting_s", "9.5");
        assert_eq!(warnings(&made), ["short_ramp_up"], "{slow}");
    }
    // A stall afterwards is another one.
    let mut made = Made::closed();
    made.measured_ns = 60 * NS_PER_S;
    let n = |i: i64| if i < 12 { 700 } else { 1000 } + i as u64 % 5;
    made.seconds = (0..60).map(|i| second(i, n(i))).collect();
    made.seconds[30].commits_tenths[..9].fill(0);
    assert!(warnings(&made).contains(&"stalled".to_owned()), "{:?}", warnings(&made));
}

#[test]
fn a_run_that_is_not_steady_says_so() {
    raises("drifting", Severity::Warning, |made| {
        made.seconds = (0..60).map(|i| second(i, 400 - i.unsigned_abs() / 10 * 10)).collect();
    });
    raises("uneven", Severity::Warning, |made| {
        let n = |i: i64| if i % 10 < 5 { 500 } else { 100 };
        made.seconds = (0..60).map(|i| second(i, n(i))).collect();
    });
    raises("stalled", Severity::Note, |made| {
        made.seconds = (0..60).map(|i| second(i, 400)).collect();
        made.seconds[30].commits_tenths[3..6].fill(0);
    });
    raises("stalled", Severity::Warning, |made| {
        made.seconds = (0..60).map(|i| second(i, 400)).collect();
        made.seconds.remove(30);
    });
}

#[test]
fn a_stall_that_a_disturbance_began_names_it() {
    let stalls_with = |empty: &[(usize, std::ops::Range<usize>)],
                       disturbed: Option<(i64, Option<i64>)>| {
        let mut made = Made::closed();
        made.seconds = (0..60).map(|i| second(i, 400)).collect();
        for (second, slots) in empty {
            made.seconds[*second].commits_tenths[slots.clone()].fill(0);
        }
        if let Some((began_ms, ended_ms)) = disturbed {
            made.disturbance(began_ms, ended_ms, Disturbed::Done);
        }
        let all = judge(&made.tally()).into_iter();
        let stalls = all.filter(|finding| finding.id.starts_with("stalled"));
        stalls.map(|finding| (finding.id, finding.severity, finding.text)).collect::<Vec<_>>()
    };
    let long = (8, 0..10);
    let [(id, severity, text)] =
        &stalls_with(std::slice::from_ref(&long), Some((8_000, Some(8_500))))[..]
    else {
        panic!("one finding");
    };
    assert_eq!((id.as_str(), *severity), ("stalled_at_disturbance", Severity::Note));
    let words = "the longest took 1 s and began at 8.0 s, during 'drop' (8 s). The table";
    assert!(text.contains(words) && !text.contains("checkpoints"), "{text}");
    // A disturbance that has ended may still be the reason.
    let [(_, _, text)] = &stalls_with(&[(8, 3..8)], Some((8_000, Some(8_100))))[..] else {
        panic!("one finding");
    };
    assert!(text.contains("right after 'drop' (8 s)"), "{text}");
    // Other stalls are reported separately, with their own figures.
    let both = stalls_with(&[long.clone(), (40, 2..6)], Some((8_000, Some(8_500))));
    let ids: Vec<&str> = both.iter().map(|(id, ..)| id.as_str()).collect();
    assert!(ids.contains(&"stalled") && ids.contains(&"stalled_at_disturbance"), "{both:?}");
    let other = both.iter().find(|(id, ..)| id == "stalled").expect("it is there");
    assert!(other.2.starts_with("1 stall of commits, 400 ms in all"), "{}", other.2);
    assert!(other.2.contains("checkpoints"), "{}", other.2);
    let words = "began at 40.2 s; planned disturbances caused another 1 s, during 'drop' (8 s).";
    assert!(other.2.contains(words), "{}", other.2);
    // A long outage is more than a note: figures of the whole run then mean little.
    let outage: Vec<(usize, std::ops::Range<usize>)> = (8..36).map(|i| (i, 0..10)).collect();
    let [(id, severity, text)] = &stalls_with(&outage, Some((8_000, Some(36_000))))[..] else {
        panic!("one finding");
    };
    assert_eq!((id.as_str(), *severity), ("stalled_at_disturbance", Severity::Warning));
    assert!(text.contains("(46.7 % of the time)"), "{text}");
    // A stall that began shortly before belongs to the disturbance; a long one does not.
    let before = stalls_with(&[(7, 7..10), long.clone()], Some((8_000, Some(9_000))));
    assert_eq!(before[0].0, "stalled_at_disturbance", "{before:?}");
    let early = stalls_with(&[(6, 0..10), (7, 0..10), long.clone()], Some((8_000, Some(9_000))));
    assert_eq!(early[0].0, "stalled", "{early:?}");
    for disturbed in [None, Some((20_000, Some(21_000))), Some((2_000, Some(3_000)))] {
        assert_eq!(
            stalls_with(std::slice::from_ref(&long), disturbed)[0].0,
            "stalled",
            "{disturbed:?}"
        );
    }
}

#[test]
fn build_machine_and_durability_are_looked_at() {
    raises("settings_changed", Severity::Warning, |made| {
        made.fact("changed", "synchronous", "from full to off");
    });
    let mut made = Made::closed();
    (0..20).for_each(|n| made.fact("changed", &format!("setting_{n}"), "from 1 to 2"));
    let findings = judge(&made.tally());
    let described =
        findings.iter().find(|finding| finding.id == "settings_changed").expect("raised");
    assert!(described.text.contains("setting_7 from 1 to 2, and 12 more."), "{}", described.text);
    raises("debug_build", Severity::Warning, |made| made.fact("build", "profile", "debug"));
    raises("noisy_machine", Severity::Warning, |made| made.fact("machine", "steal_percent", "4.2"));
    raises("replica_behind", Severity::Note, |made| {
        made.gauges(&[("replica", "lag")], &|second, _| if second == 7 { 3_000.0 } else { 0.0 });
    });
    raises("pooled", Severity::Note, |made| made.fact("connection", "pooler", "true"));
    raises("idle_connections_closed", Severity::Warning, |made| {
        made.fact("client", "idle_connections_lost", "12");
        made.fact("database", "wait_timeout", "2");
    });
    raises("not_durable", Severity::Note, |made| {
        let (mode, loss) = ("fsync=off".to_owned(), "a crash may lose commits".to_owned());
        let facts = CommitRisk::facts(Some(CommitRisk { mode, loss }));
        made.more.extend(facts.into_iter().map(Event::Fact));
    });
    raises("answers_cached", Severity::Warning, |made| {
        made.fact("cache", "query_results", "query_cache_type=ON");
    });
    overloaded("same_host", Severity::Note, |made| {
        made.description.target = "mariadb://bench@127.0.0.1/bench".to_owned();
    });
    overloaded("same_host", Severity::Note, |made| {
        made.description.target = "mariadb:///bench?socket=/run/mysqld.sock".to_owned();
    });
    overloaded("same_host", Severity::Note, |made| {
        made.description.target = "sqlite:/tmp/a.sqlite".to_owned();
    });
}

/// Adds readings of CPU use by process name, in percent: 400 is all of the machine's 4 processors
/// for `machine`, and 100 is one processor for a process.
fn around(made: &mut Made, processes: &[(&str, f64)]) {
    made.fact("cpu", "logical", "4");
    let gauge = |about: &str, name: &str| model::Gauge {
        about: about.to_owned(),
        name: name.to_owned(),
        unit: "%".to_owned(),
        help: "CPU time.".to_owned(),
    };
    let all = processes.iter().map(|(about, _)| gauge(about, "cpu_user"));
    made.more.push(Event::Gauges { gauges: all.collect() });
    let values = (0..).zip(processes.iter().map(|(_, value)| *value));
    let values: Vec<(u16, f64)> = values.collect();
    let readings = |second| model::Readings { second, values: values.clone() };
    made.more.extend((0..60).map(readings).map(Event::Readings));
}

#[test]
fn programs_that_take_the_processors_from_generator_and_server_are_found() {
    let remote = Made::open_overloaded;
    let local = || {
        let mut made = Made::open_overloaded();
        made.description.target = "mariadb://bench@127.0.0.1/bench".to_owned();
        made
    };
    let other_load = |mut made: Made, processes: &[(&str, f64)]| {
        around(&mut made, processes);
        let is_other_load = |finding: &Finding| finding.id == "other_cpu_load";
        judge(&made.tally()).into_iter().find(is_other_load).map(|finding| finding.text)
    };
    from(remote(), "other_cpu_load", Severity::Warning, |made| {
        around(made, &[("machine", 40.0), ("generator", 80.0)]);
    });
    // 60 % of 4 processors less 80 % and 40 % of one.
    let all = [("machine", 60.0), ("generator", 80.0), ("server", 40.0)];
    let text = other_load(local(), &all).expect("30 %");
    assert!(
        text.contains("programs took at least 30 % of this machine's CPU time (1.2 "),
        "{text}"
    );
    let calm = [("machine", 36.0), ("generator", 80.0), ("server", 40.0)];
    assert_eq!(other_load(local(), &calm), None);
    // Nodes of a cluster are servers; a node that is not visible would count as another program.
    let nodes = [("machine", 36.0), ("generator", 80.0), ("node 1/server", 20.0)];
    assert_eq!(other_load(local(), &[&nodes[..], &[("node 2/server", 20.0)]].concat()), None);
    assert_eq!(other_load(local(), &all[..2]), None);
    assert_eq!(other_load(remote(), &[]), None);
    assert_eq!(other_load(remote(), &all[..1]), None);
    // A program that the plan starts is not another program.
    let mut planned = remote();
    planned.disturbance(0, Some(60_000), Disturbed::Done);
    assert_eq!(other_load(planned, &all[..2]), None);
}

#[test]
fn what_shifts_every_figure_comes_before_what_happened_in_some_seconds() {
    let known: Vec<&str> = CATALOG.iter().map(|entry| entry.id).collect();
    assert!(FIRST.iter().all(|id| known.contains(id)), "{FIRST:?}");
    let mut made = Made::closed();
    made.description.target = "mariadb://bench@10.0.0.1/bench".to_owned();
    made.seconds = (0..60).map(|i| second(i, 400)).collect();
    made.seconds.remove(30);
    around(&mut made, &[("machine", 60.0), ("generator", 20.0)]);
    let found = judge(&made.tally());
    assert!(found.is_sorted_by_key(|finding| std::cmp::Reverse(finding.severity)));
    let place = |id: &str| found.iter().position(|finding| finding.id == id).expect(id);
    assert!(place("other_cpu_load") < place("stalled"), "{found:?}");
}

/// Makes a run whose commits follow the CPU time of the generator, in percent of one of four
/// processors, while other programs use `others` percent of the machine.
fn beside_others(own: &dyn Fn(i64) -> f64, others: &dyn Fn(i64) -> f64, each: f64) -> Vec<Finding> {
    let mut made = Made::closed();
    made.description.target = "sqlite:/tmp/bench.db".to_owned();
    made.measured_ns = 60 * NS_PER_S;
    made.fact("cpu", "logical", "4");
    let commits = |index: i64| (each * own(index)) as u64 + index as u64 * 7 % 5;
    made.seconds = (0..60).map(|index| second(index, commits(index))).collect();
    let names = [("machine", "cpu_user"), ("generator", "cpu_user"), ("generator", "cpu_system")];
    made.gauges(&names, &|index, at| match at {
        0 => others(index) + own(index) * 0.75 / 4.0,
        1 => own(index) * 0.75,
        _ => own(index) * 0.25,
    });
    judge(&made.tally())
}

#[test]
fn a_drift_of_the_cpu_time_that_others_left_is_not_blamed_on_the_database() {
    let find = |all: Vec<Finding>, id: &str| all.into_iter().find(|finding| finding.id == id);
    let rising = |index: i64| 80.0 + 3.0 * index as f64;
    let found = beside_others(&rising, &|index| 70.0 - 0.75 * index as f64, 10.0);
    let text = find(found, "drifting").expect("it drifts").text;
    let expect = "The CPU time that the generator got went from 20.0 % to 64.2 % of this \
                  machine; commits per CPU second did not change.";
    assert!(text.contains(expect) && text.contains("measure on an idle machine"), "{text}");
    assert!(!text.contains("Lengthen the ramp-up"), "{text}");
    // Other programs with a constant load are not the reason.
    let text = find(beside_others(&rising, &|_| 20.0, 10.0), "drifting").expect("it drifts").text;
    assert!(text.contains("Lengthen the ramp-up") && !text.contains("CPU"), "{text}");
    // Other programs with little load are not the reason either.
    let little = beside_others(&rising, &|index| 8.0 - 0.1 * index as f64, 10.0);
    let text = find(little, "drifting").expect("it drifts").text;
    assert!(text.contains("Lengthen the ramp-up"), "{text}");
}

#[test]
fn slow_seconds_in_which_others_took_the_cpu_are_not_blamed_on_the_database() {
    let slow = |index: i64| index % 17 == 9;
    let own = |index: i64| if slow(index) { 60.0 } else { 150.0 + (index % 3) as f64 };
    let others = |index: i64| if slow(index) { 80.0 } else { 15.0 };
    let found = beside_others(&own, &others, 8.0);
    let text =
        &found.iter().find(|finding| finding.id == "slow_seconds").expect("some are slow").text;
    assert!(text.contains("measure on an idle machine"), "{text}");
    assert!(!text.contains("checkpoints"), "{text}");
}

#[test]
fn clocks_of_processes_that_differ_beyond_the_error_are_found() {
    let with = |made: &mut Made, of_second: [&str; 2]| {
        for (process, [ahead, error]) in [(1, ["0.0000010", "0.0000040"]), (2, of_second)] {
            made.fact("processes", &format!("process_{process}_clients"), "readers 3");
            let name = format!("process_{process}_clock_offset_first");
            made.fact("processes", &format!("{name}_s"), ahead);
            made.fact("processes", &format!("{name}_error_s"), error);
        }
    };
    raises("clocks_differ", Severity::Warning, |made| {
        with(made, ["-0.0012300", "0.0000100"]);
    });
    let text = |of_second| {
        let mut made = Made::closed();
        with(&mut made, of_second);
        let found = judge(&made.tally()).into_iter().find(|finding| finding.id == "clocks_differ");
        found.map(|finding| finding.text)
    };
    let behind = text(["-0.0012300", "0.0000100"]).expect("it is behind");
    assert!(behind.contains("process 2 was 1.23 ± 0.010 ms behind dbdyno's own"), "{behind}");
    assert_eq!(text(["0.0012000", "0.0011500"]), None);
    assert_eq!(text(["0.0000900", "0.0000010"]), None);
}

#[test]
fn an_agent_that_was_lost_is_named_and_hosts_of_agents_are_those_of_the_generator() {
    raises("agent_lost", Severity::Warning, |made| {
        made.fact("processes", "process_1_clients", "readers 4");
        made.fact("processes", "process_1_agent", "gen1");
        made.fact("processes", "process_1_lost_at", "31.5 s: it has left");
    });
    let with_agents = |are_here: [bool; 2]| {
        let mut made = Made::closed();
        made.description.target = "mariadb://bench@127.0.0.1/bench".to_owned();
        for (process, is_here) in (1..).zip(are_here) {
            made.fact("processes", &format!("process_{process}_clients"), "readers 4");
            let is_here = Fact::new("processes", &format!("process_{process}_is_here"), is_here);
            made.more.push(Event::Fact(is_here));
        }
        ids(&made).iter().any(|id| id == "same_host")
    };
    assert_eq!([[true, false], [false, false]].map(with_agents), [true, false]);
}

/// Makes a run on a server whose host the agent `db1` monitored: one of 4 processors.
fn monitored(target: &str, is_here: bool) -> Made {
    let mut made = Made::open_overloaded();
    made.description.target = target.to_owned();
    for about in ["cpu", "db1/cpu"] {
        made.fact(about, "logical", "4");
    }
    made.fact("monitor_agents", "server", "db1");
    for name in ["db1_is_here", "server_is_here"] {
        made.more.push(Event::Fact(Fact::new("monitor_agents", name, is_here)));
    }
    made
}

#[test]
fn the_host_of_the_server_is_judged_by_its_monitor_and_the_generators_by_ours() {
    let of = |id: &str, gauges: &[(&str, &str, f64)], is_here: bool| {
        let mut made = monitored("mariadb://bench@10.0.0.1/bench", is_here);
        let names: Vec<(&str, &str)> =
            gauges.iter().map(|(about, name, _)| (*about, *name)).collect();
        made.gauges(&names, &|_, at| gauges[at].2);
        let found = judge(&made.tally()).into_iter().find(|finding| finding.id == id);
        found.map(|finding| finding.text)
    };
    let server = ("server", "cpu_user", 100.0);
    // The server's 25 % of db1 are none of this machine's.
    let busy = |here: f64, there: f64| {
        [
            ("machine", "cpu_user", here),
            ("generator", "cpu_user", 20.0),
            ("db1/machine", "cpu_user", there),
            server,
        ]
    };
    assert_eq!(of("other_cpu_load", &busy(10.0, 30.0), false), None);
    let text = of("other_cpu_load", &busy(10.0, 45.0), false).expect("20 % are others'");
    assert!(text.contains("at least 20 % of db1's CPU time (0.80 of 4"), "{text}");
    let text = of("other_cpu_load", &busy(30.0, 30.0), false).expect("25 % are others'");
    assert!(text.contains("at least 25 % of this machine's CPU time"), "{text}");
    let steal = [("db1/machine", "cpu_steal", 3.0)];
    let text = of("noisy_machine", &steal, false).expect("it is stolen");
    assert!(text.contains("took 3.0 % of db1's CPU time"), "{text}");
    // One host, whatever the target calls it.
    assert_eq!(of("same_host", &busy(10.0, 30.0), false), None);
    assert!(of("same_host", &busy(10.0, 30.0), true).is_some());
}

#[test]
fn clients_on_the_host_of_the_server_share_it() {
    let mut made = monitored("mariadb://bench@10.0.0.1/bench", false);
    made.fact("processes", "process_1_agent", "db1");
    assert!(ids(&made).iter().any(|id| id == "same_host"));
    // Their CPU time is not known there, so nothing is said of other programs.
    made.gauges(&[("db1/machine", "cpu_user"), ("server", "cpu_user")], &|_, at| [90.0, 40.0][at]);
    assert!(!ids(&made).iter().any(|id| id == "other_cpu_load"));
}

#[test]
fn a_monitor_that_was_lost_is_named() {
    raises("monitor_lost", Severity::Note, |made| {
        made.fact("monitor_agents", "db1_lost_at", "31.5 s: it has left");
    });
}

#[test]
fn findings_of_the_makers_are_kept_and_ours_are_not_said_twice() {
    let mut made = Made::closed();
    let say = |id: &str| {
        let text = "As the use-case saw it.".to_owned();
        Event::Finding(Finding::new(id, Severity::Warning, text))
    };
    made.more.extend([say("settings_changed"), say("closed_load")]);
    let found = ids(&made);
    assert_eq!(found[0], "settings_changed");
    assert_eq!(found.iter().filter(|id| *id == "closed_load").count(), 1);
}

#[test]
fn with_several_groups_a_finding_says_which() {
    let mut made = Made::closed();
    made.description.groups.push(made.description.groups[0].clone());
    made.description.groups[1].name = "readers".to_owned();
    let findings = judge(&made.tally());
    let text_of =
        |id: &str| findings.iter().find(|finding| finding.id == id).map(|f| f.text.as_str());
    assert!(text_of("retried").is_some_and(|text| text.starts_with("Group users: ")));
    assert!(text_of("nothing_finished").is_some_and(|text| text.starts_with("Group readers: ")));
}

#[test]
fn a_client_counts_once_however_many_kinds_it_did() {
    let mut made = Made::closed();
    let of_client_0: Vec<ClientMoments> =
        (0..8).map(|kind| ClientMoments { kind, client: 0, ..made.moments[0].clone() }).collect();
    made.moments = of_client_0;
    assert!(ids(&made).contains(&"idle_clients".to_owned()));
}

#[test]
fn a_disturbance_that_was_not_done_as_planned_is_found() {
    let why = || "no such table".to_owned();
    let check = |id: &str, severity, outcome: Disturbed| {
        raises(id, severity, |made| made.disturbance(42_000, Some(42_300), outcome));
    };
    check("disturbed", Severity::Note, Disturbed::Done);
    check("disturbance_failed", Severity::Warning, Disturbed::Failed { why: why() });
    check("disturbance_skipped", Severity::Warning, Disturbed::Skipped { why: why() });
    check("disturbance_cut_off", Severity::Note, Disturbed::CutOff { why: why() });
}

/// Returns the text of the finding on a saturated generator, if there is one.
fn saturated(change: impl FnOnce(&mut Made)) -> Option<String> {
    let mut made = Made::closed();
    change(&mut made);
    let found = judge(&made.tally()).into_iter().find(|one| one.id == "generator_saturated");
    found.map(|finding| finding.text)
}

/// Makes the heartbeats of an event loop: one is `latest_ms` late, all others 50 µs.
fn heartbeats(latest_ms: u64) -> Event {
    let mut lag = Histogram::default();
    lag.record(latest_ms * NS_PER_MS);
    lag.record_n(50_000, 5_999);
    Event::Heartbeats {
        loop_index: 1,
        most_delayed_at_ns: 3_200 * NS_PER_MS as i64,
        lag: Some(lag),
    }
}

fn replies_lay(made: &mut Made, us: u64, n: u64) {
    made.seconds[5].reply_lag.get_or_insert_default().record_n(us * NS_PER_US, n);
}

#[test]
fn a_generator_that_limits_the_rate_is_found_on_threads_and_on_loops() {
    let said = |change: &dyn Fn(&mut Made)| saturated(change).unwrap_or_default();
    let text = said(&|made| {
        made.fact("client", "loop_busy_percent", "41.0, 97.2");
        made.fact("client", "loop_run_delay_percent", "0.3, 35.1");
    });
    assert!(text.starts_with("Event loop 1 of the generator was busy for 97 % of the time"));
    assert!(text.contains(", 35 % without a CPU. Response times include"), "{text}");
    let text = said(&|made| made.fact("client", "run_delay_share_percent", "23.5"));
    assert!(text.contains("generator waited for a CPU for 24 % of the service time"), "{text}");
    let text = said(&|made| replies_lay(made, 900, 10_000));
    assert!(text.starts_with("Replies lay in the generator's sockets for"), "{text}");
    assert!(text.contains("900 µs on average for each reply"), "{text}");
    let text = said(&|made| made.more.push(heartbeats(52)));
    assert!(
        text.contains("Event loop 1 of the generator was up to 52 ms late, at 3.2 s"),
        "{text}"
    );
    let text = said(&|made| {
        replies_lay(made, 20, 10_000);
        replies_lay(made, 50_100, 1);
    });
    assert!(text.contains("sockets for up to 50.1 ms"), "{text}");
    // The longest reply was not in the sample.
    let text = said(&|made| {
        replies_lay(made, 20, 10_000);
        let late = made.seconds[6].late_replies.get_or_insert_default();
        late.record_n(52 * NS_PER_MS, 1);
    });
    assert!(text.contains("sockets for up to 52 ms"), "{text}");
}

#[test]
fn a_saturated_server_with_an_idle_generator_is_no_saturated_generator() {
    let idle = |made: &mut Made| {
        made.fact("client", "loop_busy_percent", "41.0, 37.2");
        made.fact("client", "loop_run_delay_percent", "0.3, 1.1");
        made.more.push(heartbeats(2));
        replies_lay(made, 30, 10_000);
        replies_lay(made, 8_000, 3);
    };
    assert_eq!(saturated(idle), None);
    // Ten thousand threads that are woken in 30 µs, with a slow server.
    let threads = |made: &mut Made| {
        made.fact("client", "thread_busy_percent", "0.40");
        made.fact("client", "thread_run_delay_percent", "0.20");
        made.fact("client", "run_delay_share_percent", "0.21");
        replies_lay(made, 30, 10_000);
    };
    assert_eq!(saturated(threads), None);
    // A wake-up is a large share of a short service time, but not saturation.
    assert_eq!(saturated(|made| replies_lay(made, 95, 10_000)), None);
    let waited = |percent: &str, service_us: u64| {
        saturated(|made| {
            let kinds = made.seconds.iter_mut().flat_map(|second| &mut second.kinds);
            for times in kinds.filter_map(|kind| kind.response.as_mut()) {
                let n = times.count();
                times.clear();
                times.record_n(service_us * NS_PER_US, n);
            }
            made.fact("client", "run_delay_share_percent", percent);
        })
    };
    assert_eq!(waited("23.5", 400), None, "94 µs");
    assert!(waited("83.5", 40).is_some_and(|text| text.contains("service time, 33.4 µs on")));
    assert!(
        waited("23.5", 4_000).is_some_and(|text| text.contains("service time, 940 µs on average"))
    );
}

#[test]
fn runs_that_have_no_such_figures_are_judged_by_those_that_they_have() {
    assert_eq!(saturated(|_| {}), None);
    assert!(saturated(|made| made.fact("client", "run_delay_share_percent", "10.5")).is_some());
    assert_eq!(saturated(|made| made.fact("client", "run_delay_share_percent", "9.5")), None);
    let nonsense = |made: &mut Made| made.fact("client", "loop_busy_percent", "busy");
    assert_eq!(saturated(nonsense), None);
}

#[test]
fn a_pause_of_the_whole_generator_is_reported_once() {
    let paused = |made: &mut Made| {
        made.more.push(heartbeats(2_000));
        made.fact("client", "pauses", "1");
        made.fact("client", "longest_pause_s", "2.003");
        made.fact("client", "longest_pause_at_s", "4.100");
    };
    assert_eq!(saturated(paused), None);
}

#[test]
fn a_busy_disk_is_no_limit_of_reads_where_all_data_fit_in_memory() {
    let found = |size: &str, busy: f64| {
        let mut made = Made::closed();
        made.fact("database", "size_bytes", size);
        made.fact("server_memory", "cache_bytes", "134217728");
        made.gauges(&[("machine", "disk_busy/vda")], &|_, _| busy);
        let findings = crate::report::Report::from_tally(&made.tally()).findings;
        let found = findings.iter().find(|finding| finding.id == "data_in_memory");
        found.map(|finding| finding.observed.clone().expect("it was observed"))
    };
    let words = "All data (64.0 MiB) fit in the database's cache (128 MiB): what the disk did was \
                 to write, and reads came from memory.";
    assert_eq!(found("67108864", 97.0).as_deref(), Some(words));
    assert_eq!(found("67108864", 20.0), None, "the disk is no limit");
    assert_eq!(found("671088640", 97.0), None, "they do not fit");
}
