//! Tests of disclosures: for each kind of requirement, a run that meets it and one that does not.

use model::{
    CustomMetricDescription, CustomMetricKind, CustomMetricSecond, Event, Gauge, Readings, Second,
    Standard,
};
use stats::Histogram;

use super::*;
use crate::fixtures::Made;

/// Makes a run of ten minutes with key and think times, on one warehouse with ten clients: 1,000
/// new orders, of which 10 are rolled back, 450 payments and 550 others, each of 2 s. Its custom
/// metrics are, by index: 0 (order lines, 10,000), 1 (remote lines, 100) and 2 (short deliveries,
/// 0).
fn run() -> Made {
    let mut made = Made::bare();
    let described = &mut made.description.groups[0];
    described.load = Load::KeyThink { scale: 1.0 };
    described.clients = 10;
    let counter = |name: &str| CustomMetricDescription {
        name: name.to_owned(),
        unit: "rows".to_owned(),
        kind: CustomMetricKind::Counter,
        better: None,
    };
    described.custom_metrics = ["lines_entered", "remote_lines", "short"].map(counter).to_vec();
    made.measured_ns = 600 * NS_PER_S;
    made.before = None;
    made.after = None;
    made.more.clear();
    let mut second = Second::new(0, 0);
    for (kind, n) in [(0, 1000), (1, 450), (2, 550)] {
        let part = second.kind(kind);
        part.counts.committed = n;
        part.commits = n;
        let mut times = Histogram::default();
        times.record_n(2 * NS_PER_S, n);
        part.response = Some(times);
    }
    let orders = second.kind(0);
    (orders.counts.committed, orders.counts.rolled_back, orders.commits) = (990, 10, 990);
    second.custom_metrics = [10_000, 100, 0].iter().zip(0u16..).map(counted).collect();
    made.seconds = vec![second];
    made
}

fn counted((sum, metric): (&u64, u16)) -> CustomMetricSecond {
    CustomMetricSecond { metric, count: 1000, sum: *sum, histogram: None }
}

fn required_of(figure: Figure, min: Option<f64>, max: Option<f64>) -> Requirement {
    Requirement {
        clause: "1.2.3".to_owned(),
        title: "what".to_owned(),
        figure,
        min,
        max,
        is_below: false,
        or_count: 0,
        pauses_ns: Vec::new(),
        not_applicable: None,
    }
}

fn judged(made: &mut Made, requirement: Requirement) -> RequirementReport {
    let (name, note) = ("Standard 1".to_owned(), "No result.".to_owned());
    made.description.groups[0].standard =
        Some(Standard { name, note, requirements: vec![requirement] });
    let report = crate::Report::from_tally(&made.tally());
    report.disclosures[0].requirements[0].clone()
}

/// Checks that the run meets the requirement with this measured value, and that the changed run
/// fails it with the value `broken`.
fn check(
    requirement: &Requirement,
    (required, measured): (&str, f64),
    change: impl Fn(&mut Made),
    broken: f64,
) {
    let mut made = run();
    let good = judged(&mut made, requirement.clone());
    assert_eq!((good.verdict, good.required.as_str()), (Verdict::Pass, required), "{good:?}");
    assert!((good.measured.expect("known") - measured).abs() < 1e-3, "{good:?}");
    change(&mut made);
    let bad = judged(&mut made, requirement.clone());
    assert_eq!(bad.verdict, Verdict::Fail, "{bad:?}");
    assert!((bad.measured.unwrap_or(f64::INFINITY) - broken).abs() < 1e-3 || broken.is_infinite());
}

#[test]
fn nine_in_ten_response_times_are_below_their_limit() {
    let mut requirement = required_of(Figure::ResponseTimeP90 { kind: 1 }, None, Some(5.0));
    requirement.is_below = true;
    let slow = |made: &mut Made| {
        let mut times = Histogram::default();
        times.record_n(2 * NS_PER_S, 400);
        times.record_n(6 * NS_PER_S, 50);
        made.kind(1).response = Some(times);
    };
    check(&requirement, ("< 5 s", 2.0), slow, 6.0);
    // A failed transaction never ended, so it is beyond every limit.
    let fails = |made: &mut Made| made.kind(1).counts.failed = 60;
    check(&requirement, ("< 5 s", 2.0), fails, f64::INFINITY);
    let mut few = run();
    let part = few.kind(1);
    part.counts.committed = 20;
    let mut times = Histogram::default();
    times.record_n(NS_PER_S, 20);
    part.response = Some(times);
    let described = judged(&mut few, requirement);
    assert_eq!((described.verdict, described.measured), (Verdict::NotKnown, None));
    assert!(described.reason.expect("why").contains("36"), "samples for a p90");
}

#[test]
fn a_share_of_the_mix_has_no_slack() {
    let share = required_of(Figure::KindShare { kind: 1 }, Some(22.5), None);
    let one_less = |made: &mut Made| {
        let part = made.kind(1);
        (part.counts.committed, part.commits) = (449, 449);
    };
    check(&share, ("≥ 22.5 %", 22.5), one_less, 449.0 / 19.99);
}

#[test]
fn rolled_back_new_orders_are_a_hundredth_or_so() {
    let share = required_of(Figure::RolledBackShare { kind: 0 }, Some(0.9), Some(1.1));
    let more = |made: &mut Made| {
        let counts = &mut made.kind(0).counts;
        (counts.committed, counts.rolled_back) = (988, 12);
    };
    let mut made = run();
    more(&mut made);
    let described = judged(&mut made, share.clone());
    assert_eq!((described.verdict, described.measured), (Verdict::NotKnown, Some(1.2)));
    let why = described.reason.expect("of 1,000 that is nothing");
    assert!(why.contains("with 1,000 of them, chance alone varies the share by ± 0.63 %"), "{why}");
    let far_more = |made: &mut Made| {
        let counts = &mut made.kind(0).counts;
        (counts.committed, counts.rolled_back) = (980, 20);
    };
    check(&share, ("0.9 to 1.1 %", 1.0), far_more, 2.0);
}

#[test]
fn counters_are_shares_and_means() {
    let set =
        |place: usize, sum| move |made: &mut Made| made.seconds[0].custom_metrics[place].sum = sum;
    let remote = Figure::CounterOfCounter { counter: 1, of: 0 };
    let remote = required_of(remote, Some(0.95), Some(1.05));
    check(&remote, ("0.95 to 1.05 %", 1.0), set(1, 130), 1.3);
    let mean = required_of(Figure::CounterMean { counter: 0, kind: 0 }, Some(9.5), Some(10.5));
    check(&mean, ("9.5 to 10.5", 10.0), set(0, 10_501), 10.501);
    let mut short = required_of(Figure::CounterOfKind { counter: 2, kind: 1 }, None, Some(1.0));
    check(&short, ("≤ 1 %", 0.0), set(2, 5), 5.0 / 4.5);
    // One in ten is one, and no more than one.
    short.or_count = 1;
    short.max = Some(0.1);
    let mut made = run();
    made.seconds[0].custom_metrics[2].sum = 1;
    let described = judged(&mut made, short.clone());
    assert_eq!(
        (described.verdict, described.required.as_str()),
        (Verdict::Pass, "≤ 0.1 %, or one")
    );
    made.seconds[0].custom_metrics[2].sum = 2;
    assert_eq!(judged(&mut made, short.clone()).verdict, Verdict::Fail);
    // A run of a version that did not count it.
    made.description.groups[0].custom_metrics.truncate(1);
    assert_eq!(judged(&mut made, short).verdict, Verdict::NotKnown);
}

#[test]
fn pacing_is_that_of_key_think_load() {
    let closed = |made: &mut Made| made.description.groups[0].load = Load::Closed;
    let halved = |made: &mut Made| {
        made.description.groups[0].load = Load::KeyThink { scale: 0.5 };
    };
    let pauses = required_of(Figure::Pauses { percent: 100.0 }, Some(100.0), None);
    check(&pauses, ("≥ 100 %", 100.0), halved, 50.0);
    check(&pauses, ("≥ 100 %", 100.0), closed, f64::INFINITY);
    let terminals = required_of(Figure::ClientsPer { scale: 1 }, Some(10.0), Some(10.0));
    let more = |made: &mut Made| made.description.groups[0].clients = 11;
    check(&terminals, ("10", 10.0), more, 11.0);
    let rate = Figure::FinishedPerMinute { kind: 0, scale: 10 };
    // 1,000 in ten minutes over ten warehouses, including those rolled back.
    let rate = required_of(rate, Some(9.0), Some(12.86));
    check(&rate, ("9 to 12.86", 10.0), |made| made.kind(0).commits = 800, 8.1);
    let minutes = required_of(Figure::MeasuredMinutes, Some(10.0), None);
    let shorter = |made: &mut Made| made.measured_ns -= 60 * NS_PER_S;
    check(&minutes, ("≥ 10 min", 10.0), shorter, 9.0);
}

#[test]
fn pauses_are_shown_as_times_beside_the_required_ones() {
    let seconds = [18, 3, 2].map(|s| (s * NS_PER_S, s * NS_PER_S));
    let keying = Requirement {
        title: "keying times by type".to_owned(),
        pauses_ns: seconds.to_vec(),
        ..required_of(Figure::Pauses { percent: 100.0 }, Some(100.0), None)
    };
    let mut made = run();
    made.description.groups[0].load = Load::KeyThink { scale: 0.5 };
    let half = judged(&mut made, keying.clone());
    assert_eq!((half.verdict, half.measured, &*half.unit), (Verdict::Fail, Some(50.0), "%"));
    assert_eq!(half.required, "≥ 18/3/2 s");
    assert_eq!(half.measured_words().as_deref(), Some("9/1.5/1 s"));
    made.description.groups[0].load = Load::Closed;
    let closed = judged(&mut made, keying);
    assert_eq!((&*closed.required, closed.measured_words()), ("≥ 18/3/2 s", None));
    // Other figures are numbers with their unit.
    let minutes = judged(&mut run(), required_of(Figure::MeasuredMinutes, Some(1.0), None));
    assert_eq!(minutes.measured_words().as_deref(), Some("10.000 min"));
    let in_seconds = |value| {
        let times =
            RequirementReport { measured: Some(value), unit: "s".to_owned(), ..minutes.clone() };
        times.measured_words()
    };
    assert_eq!(in_seconds(0.008798).as_deref(), Some("8.80 ms"));
    assert_eq!(in_seconds(4.5).as_deref(), Some("4.5000 s"));
}

#[test]
fn checkpoints_are_counted_where_the_server_does() {
    let requirement = required_of(Figure::Checkpoints, Some(4.0), None);
    let unknown = judged(&mut run(), requirement.clone());
    assert_eq!(unknown.verdict, Verdict::NotKnown);
    let with = |n: i64| {
        let mut made = run();
        let gauge = |name: &str| Gauge {
            about: "database".to_owned(),
            name: name.to_owned(),
            unit: "1/s".to_owned(),
            help: String::new(),
        };
        let gauges = vec![gauge("xact_commit"), gauge("bgwriter_checkpoints_timed")];
        made.more.push(Event::Gauges { gauges });
        made.fact("checkpoints", "counters", "bgwriter_checkpoints_timed, num_timed");
        // A checkpoint in the ramp-up does not count.
        for second in -5..600 {
            let is_one = f64::from(u8::from(
                second == -3
                    || (0..n).contains(&(second / 100)) && second % 100 == 0 && second >= 0,
            ));
            let values = vec![(0, 50.0), (1, is_one)];
            made.more.push(Event::Readings(Readings { second, values }));
        }
        judged(&mut made, requirement.clone())
    };
    let (enough, few) = (with(4), with(3));
    assert_eq!((enough.verdict, enough.measured), (Verdict::Pass, Some(4.0)));
    assert_eq!((few.verdict, few.measured), (Verdict::Fail, Some(3.0)));
}

#[test]
fn what_does_not_apply_is_not_judged_and_the_summary_counts() {
    let mut made = run();
    let pass = required_of(Figure::MeasuredMinutes, Some(1.0), None);
    let fail = Requirement {
        clause: "5.5.2.1".to_owned(),
        title: "length".to_owned(),
        ..required_of(Figure::MeasuredMinutes, Some(120.0), None)
    };
    let without = Requirement {
        not_applicable: Some("there is none".to_owned()),
        ..required_of(Figure::Nothing, None, Some(5.0))
    };
    made.description.groups[0].standard = Some(Standard {
        name: "Standard 1".to_owned(),
        note: "No result.".to_owned(),
        requirements: vec![pass, fail, without],
    });
    let report = crate::Report::from_tally(&made.tally());
    let disclosure = &report.disclosures[0];
    let summary = "1 of 2 requirements of Standard 1 met, 1 not met; 1 not applicable";
    assert_eq!(disclosure.summary(), summary);
    assert_eq!(disclosure.requirements[2].verdict, Verdict::NotApplicable);
    let json = serde_json::to_string(&report).expect("it is JSON");
    let back: crate::Report = serde_json::from_str(&json).expect("it is read back");
    assert_eq!(back.disclosures, report.disclosures);
    // A run whose workload has no standard has no table.
    made.description.groups[0].standard = None;
    assert_eq!(crate::Report::from_tally(&made.tally()).disclosures, []);
}
